/*-------------------------------------------------------------------------
 *
 * item.h
 *	  A box with the caller's name for it: the input of every bulk build.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_ITEM_H
#define BVH_ITEM_H

#include "core/box3.h"

/* 56 bytes */
typedef struct BvhItem
{
	Box3 box;
	uint64_t id; /* the caller's */
} BvhItem;

#endif /* BVH_ITEM_H */
