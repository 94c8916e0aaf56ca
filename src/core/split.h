/*-------------------------------------------------------------------------
 *
 * split.h
 *	  Dividing the boxes of a full node in two, by binned SAH.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_SPLIT_H
#define BVH_SPLIT_H

#include "core/box3.h"

/* keys by which a set may be cut: the center on three axes, and the size */
#define BVH_SPLIT_KEYS 4

typedef struct SplitItem
{
	Box3 box;                   /* bvh_split() overwrites it with scaled coordinates */
	int number;                 /* the caller's, kept with the box */
	double key[BVH_SPLIT_KEYS]; /* used by bvh_split() */
} SplitItem;

extern int bvh_split(SplitItem *items, int n, double min_fill);

#endif /* BVH_SPLIT_H */
