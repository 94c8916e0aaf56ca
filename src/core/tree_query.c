/*-------------------------------------------------------------------------
 *
 * tree_query.c
 *	  All boxes in a range.
 *
 * A stack of what is still to be visited, nodes and blocks alike.  A node takes
 * one entry off and puts at most eight on, so the stack holds at most seven
 * for each level, and one; besides, up to eight blocks may come back, and the
 * kernels may write 16 entries at once.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"

_Static_assert(BVH_RANGE_STACK >= (BVH_WIDTH - 1) * BVH_MAX_HEIGHT + 1 + 8 + 16,
			   "the stack of a search cannot overflow");

/*
 * node_limits --- what the bounds of a lane are at most, when something below
 * may be in range
 */
static void
node_limits(const BvhTree *tree, const BoxRange *range, float limit[6])
{
	for (int d = 0; d < 3; d++)
	{
		/* box3_node_range(), without its calls of fmin() and fmax() */
		double upper = range->upper[d] < range->upper[d + 3] ? range->upper[d]
															 : range->upper[d + 3];
		double lower = range->lower[d] > range->lower[d + 3] ? range->lower[d]
															 : range->lower[d + 3];

		limit[d] = tree_bound(tree, d, upper);
		limit[d + 3] = tree_bound(tree, d + 3, lower);
	}
}

/*
 * bvh_range_begin --- search the boxes of a range
 */
void
bvh_range_begin(BvhRangeQuery *query, const BvhTree *tree, const BvhEnv *env,
				const BoxRange *range)
{
	query->tree = tree;
	query->env = env;
	query->range = *range;
	query->is_half = range_is_half(range);
	query->gives_places = false;
	node_limits(tree, range, query->limit);
	query->pending_mask = 0;
	query->nsteps = 0;
	query->nnodes = 0;
	query->nblocks = 0;
	query->stack[0] = 0;
	query->depth = tree->nnodes > 0 ? 1 : 0;
}

/*
 * bvh_range_next --- ids of further boxes, up to room >= 1 of them
 *
 * Gives as many as there is room for, unless there are no more; 0 at the end.
 * To know whether there is any, ask for one.  The tick may not return.
 */
size_t
bvh_range_next(BvhRangeQuery *query, uint64_t *ids, size_t room)
{
	return bvh_kernels->tree->range_next(query, ids, room);
}
