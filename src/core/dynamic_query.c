/*-------------------------------------------------------------------------
 *
 * dynamic_query.c
 *	  All boxes of a dynamic tree in a range, and boxes by their distance.
 *
 * A walk down a binary tree takes one node off its stack and puts at most two
 * on, so the stack holds at most one for each level, and one.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/dynamic_node.h"
#include "core/nearest_queue.h"
#include "core/simd/kernels.h"

/* ---------------------------------------------------------------- range */

/*
 * bvh_dynamic_range_begin --- search the boxes of a range
 */
void
bvh_dynamic_range_begin(BvhDynamicRange *query, const BvhDynamic *tree, const BvhEnv *env,
						const BoxRange *range)
{
	query->tree = tree;
	query->env = env;
	query->range = *range;
	box3_node_range(range, &query->node_range);
	query->nsteps = 0;
	query->nnodes = 0;
	query->depth = 0;
	if (tree->nleaves > 0)
		query->stack[query->depth++] = tree->root.ref;
}

/* bvh_dynamic_range_leaves --- as below, the proxies */
size_t
bvh_dynamic_range_leaves(BvhDynamicRange *query, uint32_t *proxies, size_t room)
{
	const BvhDynamic *tree = query->tree;
	const BvhKernels *kernels = bvh_kernels;
	size_t n = 0;

	while (query->depth > 0 && n < room)
	{
		uint32_t ref = query->stack[--query->depth];
		const DynamicNode *node;

		if (++query->nsteps % BVH_TICK_STEPS == 0)
			query->env->tick(query->env->context);
		if (is_leaf(ref))
		{
			if (kernels->in_range(&leaf_of(tree, ref)->box, &query->range))
				proxies[n++] = ref & ~DYNAMIC_LEAF;
			continue;
		}
		query->nnodes++;
		node = &tree->nodes[ref];
		BVH_ASSERT(query->depth + 2 <= BVH_DYNAMIC_HEIGHT + 2);
		for (int side = 1; side >= 0; side--)
			if (kernels->in_range(&node->branch[side].box, &query->node_range))
			{
				fetch_ahead(tree, node->branch[side].ref);
				query->stack[query->depth++] = node->branch[side].ref;
			}
	}
	return n;
}

/*
 * bvh_dynamic_range_next --- ids of further boxes, up to room >= 1 of them
 *
 * Gives as many as there is room for, unless there are no more; 0 at the end.
 * The tick may not return.
 */
size_t
bvh_dynamic_range_next(BvhDynamicRange *query, uint64_t *ids, size_t room)
{
	uint32_t proxies[64];
	size_t n = 0;

	while (n < room)
	{
		size_t most = room - n < 64 ? room - n : 64;
		size_t nfound = bvh_dynamic_range_leaves(query, proxies, most);

		for (size_t i = 0; i < nfound; i++)
			ids[n++] = query->tree->leaves[proxies[i]].id;
		if (nfound < most)
			break;
	}
	return n;
}

/* ---------------------------------------------------------------- nearest */

/* put what hangs on a branch into the queue; there is room for it */
static void
push_branch(BvhDynamicNearest *nearest, const DynamicBranch *branch)
{
	BvhNearestEntry entry = {.ref = branch->ref};

	entry.distance = box3_distance(&branch->box, &nearest->query);
	if (is_leaf(branch->ref) && entry.distance <= nearest->most)
	{
		const DynamicLeaf *leaf = leaf_of(nearest->tree, branch->ref);

		entry.distance = box3_distance(&leaf->box, &nearest->query);
		entry.id = leaf->id;
	}
	if (entry.distance <= nearest->most)
		queue_push(&nearest->queue, entry);
}

/*
 * bvh_dynamic_nearest_begin --- search boxes by their distance from the query
 * box, which is at most so much
 */
void
bvh_dynamic_nearest_begin(BvhDynamicNearest *nearest, const BvhDynamic *tree,
						  const BvhEnv *env, const Box3 *query, double most)
{
	nearest->tree = tree;
	nearest->query = *query;
	nearest->most = most;
	nearest->nsteps = 0;
	nearest->nnodes = 0;
	queue_begin(&nearest->queue, env);
	if (tree->nleaves > 0)
		push_branch(nearest, &tree->root);
}

/*
 * bvh_dynamic_nearest_next --- the next boxes, up to room >= 1 of them; none at
 * the end
 *
 * Gives as many as there is room for, unless there are no more.  Neither
 * alloc nor the tick need return.  After BVH_NO_MEMORY the search is over.
 */
BvhStatus
bvh_dynamic_nearest_next(BvhDynamicNearest *nearest, BvhNeighbour *out, size_t room,
						 size_t *nout)
{
	BvhNearestQueue *queue = &nearest->queue;

	*nout = 0;
	while (queue->n > 0 && *nout < room)
	{
		BvhStatus status = queue_make_room(queue, 2);
		BvhNearestEntry top;

		if (status != BVH_OK)
			return status;
		if (++nearest->nsteps % BVH_TICK_STEPS == 0)
			queue->env->tick(queue->env->context);
		top = queue->entries[0];
		queue_pop(queue);
		if (queue_is_box(&top))
		{
			out[(*nout)++] = (BvhNeighbour){top.distance, top.id};
			continue;
		}
		nearest->nnodes++;
		for (int side = 0; side < 2; side++)
			push_branch(nearest, &nearest->tree->nodes[top.ref].branch[side]);
	}
	return BVH_OK;
}

/* bvh_dynamic_nearest_end --- release what the search holds; harmless when it holds
 * nothing */
void
bvh_dynamic_nearest_end(BvhDynamicNearest *nearest)
{
	queue_end(&nearest->queue);
}
