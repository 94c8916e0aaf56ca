/*-------------------------------------------------------------------------
 *
 * range.h
 *	  A box operator with its query box, as one closed range over six lanes.
 *
 * A box is the six numbers (lo.x, lo.y, lo.z, hi.x, hi.y, hi.z).  Each search
 * operator, and any AND of several, is: lower[i] <= box[i] <= upper[i] for all
 * six.  What may match below an inner node is a range over the node's union
 * box again.  So one test serves every operator, on leaves and on nodes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_RANGE_H
#define BVH_RANGE_H

#include "core/box3.h"

/*
 * The operators.  The values are the strategy numbers in pg_amop (R-tree's of
 * access/stratnum.h where it has one), frozen by every install script;
 * type/strategy.h asserts that they agree.
 */
typedef enum BvhOp
{
	BVH_LEFT = 1,              /* << */
	BVH_OVERLEFT = 2,          /* &< */
	BVH_OVERLAPS = 3,          /* && */
	BVH_OVERRIGHT = 4,         /* &> */
	BVH_RIGHT = 5,             /* >> */
	BVH_SAME = 6,              /* ~= */
	BVH_CONTAINS = 7,          /* @> */
	BVH_CONTAINED_BY = 8,      /* <@ */
	BVH_OVERBELOW = 9,         /* &<| */
	BVH_BELOW = 10,            /* <<| */
	BVH_ABOVE = 11,            /* |>> */
	BVH_OVERABOVE = 12,        /* |&> */
	BVH_DISTANCE = 15,         /* <->, orders and never filters */
	BVH_EQUAL = 18,            /* = */
	BVH_FRONT = 31,            /* <</ */
	BVH_OVERFRONT = 32,        /* &</ */
	BVH_OVERBACK = 33,         /* /&> */
	BVH_BACK = 34,             /* />> */
	BVH_OVERLAPS_STRICTLY = 35 /* &&+ */
} BvhOp;

typedef struct BoxRange
{
	double lower[6];
	double upper[6];
} BoxRange;

/* the reference for the kernels of simd/; ordered comparisons, so NaN misses */
static inline bool
box3_in_range(const Box3 *b, const BoxRange *range)
{
	bool hit = true;

	for (int d = 0; d < 3; d++)
	{
		hit &= (range->lower[d] <= b->lo[d]) & (b->lo[d] <= range->upper[d]);
		hit &= (range->lower[d + 3] <= b->hi[d]) & (b->hi[d] <= range->upper[d + 3]);
	}
	return hit;
}

extern bool box3_matches(const Box3 *b, BvhOp op, const Box3 *query);
extern bool box3_range(BvhOp op, bool reversed, const Box3 *query, BoxRange *range);
extern void box3_node_range(const BoxRange *range, BoxRange *node);

#endif /* BVH_RANGE_H */
