/*-------------------------------------------------------------------------
 *
 * tree_query.c
 *	  All boxes in a range, or that match a filter.
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
	query->nshapes = 0;
	node_limits(tree, range, query->limit);
	query->pending_mask = 0;
	query->nsteps = 0;
	query->nnodes = 0;
	query->nblocks = 0;
	query->stack[0] = 0;
	query->depth = tree->nnodes > 0 ? 1 : 0;
}

/*
 * bvh_filter_begin --- search the boxes that match a filter
 */
void
bvh_filter_begin(BvhRangeQuery *query, const BvhTree *tree, const BvhEnv *env,
				 const BvhFilter *filter)
{
	bvh_range_begin(query, tree, env, &filter->range);
	query->nshapes = filter->nshapes;
	query->shapes = filter->shapes;
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
	if (query->nshapes > 0)
		return bvh_kernels->tree->filter_next(query, ids, room);
	return bvh_kernels->tree->range_next(query, ids, room);
}
