/*-------------------------------------------------------------------------
 *
 * tree_nearest.c
 *	  Boxes in the order of their distance (Hjaltason and Samet, "Distance
 *	  browsing in spatial databases", 1999).
 *
 * A queue holds nodes and blocks by the distance to their bounds, and runs: blocks
 * whose boxes have been measured, by the nearest box not given yet.  A run says which
 * boxes are left, and measures them again when one has been given; that is
 * cheaper than eight entries of the queue, or than keeping the distances.
 *
 * The distance to bounds is computed by the steps of the operator itself,
 * each of them monotone, from bounds that are rounded outward; so it never
 * exceeds the distance to a box inside.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/nearest_queue.h"
#include "core/simd/kernels.h"

/* put the children of a node into the queue; there is room for them */
static void
open_node(BvhNearestQuery *nearest, const BvhNode *node)
{
	double distance[BVH_WIDTH];

	nearest->nnodes++;
	bvh_kernels->tree->node_distances(nearest->tree, node, &nearest->query, distance);
	for (uint32_t live = node->live; live != 0; live &= live - 1)
	{
		int lane = __builtin_ctz(live);

		if (distance[lane] <= nearest->most)
			queue_push(&nearest->queue,
					   (BvhNearestEntry){distance[lane], 0, node->child[lane], 0, 0});
	}
}

/*
 * nearest_of_run --- the entry of a run with these boxes left
 *
 * False when none of them is near enough.
 */
static bool
nearest_of_run(BvhNearestQuery *nearest, uint32_t ref, uint32_t mask,
			   BvhNearestEntry *entry)
{
	const BvhBlock *block = &tree_blocks(nearest->tree)[ref_block(ref)];
	double distance[BVH_WIDTH];

	*entry = (BvhNearestEntry){INFINITY, UINT64_MAX, ref, 0, 0};
	if (mask == 0)
		return false;
	bvh_kernels->tree->block_distances(block, &nearest->query, distance);
	for (uint32_t left = mask; left != 0; left &= left - 1)
	{
		int place = __builtin_ctz(left);

		if (!(distance[place] <= nearest->most))
		{
			mask &= ~(UINT32_C(1) << place);
			continue;
		}
		if (entry->mask == 0 || distance[place] < entry->distance ||
			(distance[place] == entry->distance && block->id[place] < entry->id))
		{
			entry->distance = distance[place];
			entry->id = block->id[place];
			entry->lane = (uint8_t) place;
			entry->mask = 1;
		}
	}
	entry->mask = (uint8_t) mask;
	return mask != 0;
}

/*
 * bvh_nearest_begin --- search boxes by their distance from the query box,
 * which is at most so much
 */
void
bvh_nearest_begin(BvhNearestQuery *nearest, const BvhTree *tree, const BvhEnv *env,
				  const Box3 *query, double most)
{
	nearest->tree = tree;
	nearest->query = *query;
	nearest->most = most;
	nearest->nsteps = 0;
	nearest->nnodes = 0;
	nearest->nblocks = 0;
	queue_begin(&nearest->queue, env);
	if (tree->nnodes > 0)
		queue_push(&nearest->queue, (BvhNearestEntry){0.0, 0, 0, 0, 0});
}

/*
 * bvh_nearest_next --- the next boxes, up to room >= 1 of them; none at the end
 *
 * Gives as many as there is room for, unless there are no more.  Neither
 * alloc nor the tick need return.  After BVH_NO_MEMORY the search is over.
 */
BvhStatus
bvh_nearest_next(BvhNearestQuery *nearest, BvhNeighbour *out, size_t room, size_t *nout)
{
	const BvhNode *nodes = tree_nodes(nearest->tree);
	BvhNearestQueue *queue = &nearest->queue;

	*nout = 0;
	while (queue->n > 0 && *nout < room)
	{
		BvhNearestEntry top;
		BvhNearestEntry run;

		if (++nearest->nsteps % BVH_TICK_STEPS == 0)
			queue->env->tick(queue->env->context);
		if (!ref_is_block(queue->entries[0].ref))
		{
			BvhStatus status = queue_make_room(queue, BVH_WIDTH);

			if (status != BVH_OK)
				return status;
			top = queue_pop(queue);
			open_node(nearest, &nodes[top.ref]);
			continue;
		}

		/* a run or a block stays where it is, with its next box */
		top = queue->entries[0];
		if (top.mask != 0)
		{
			out[*nout].distance = top.distance;
			out[(*nout)++].id = top.id;
			top.mask &= (uint8_t) ~(1 << top.lane);
		}
		else
		{
			nearest->nblocks++;
			top.mask = (uint8_t) ref_live(top.ref);
		}
		if (nearest_of_run(nearest, top.ref, top.mask, &run))
			queue_sift_down(queue, 0, run);
		else
			queue_pop(queue);
	}
	return BVH_OK;
}

/* bvh_nearest_end --- release what the search holds; harmless when it holds nothing */
void
bvh_nearest_end(BvhNearestQuery *nearest)
{
	queue_end(&nearest->queue);
}
