/*-------------------------------------------------------------------------
 *
 * pack.h
 *	  Dividing many boxes among pages of a fixed capacity.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_PACK_H
#define BVH_PACK_H

#include "core/item.h"

typedef struct PackWork PackWork;

typedef struct PackCallbacks
{
	/* takes a page of 1 to capacity items; may not return */
	void (*page)(void *context, BvhItem *items, size_t n);
	/* called every few milliseconds; may not return */
	void (*tick)(void *context);
	void *context;
} PackCallbacks;

extern size_t pack_work_size(void);
extern void pack_pages(BvhItem *items, size_t n, size_t capacity, PackWork *work,
					   const PackCallbacks *callbacks);

#endif /* BVH_PACK_H */
