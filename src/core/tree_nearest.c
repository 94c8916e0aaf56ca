/*-------------------------------------------------------------------------
 *
 * tree_nearest.c
 *	  Boxes in the order of their distance (Hjaltason and Samet, "Distance
 *	  browsing in spatial databases", 1999).
 *
 * A queue holds runs: nodes and blocks that have been opened, by the distance of
 * their nearest lane that is left.  When that has been taken, the lanes are
 * measured again, which costs less than eight entries of the queue would, or
 * the memory to keep their distances.
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

/*
 * measure_run --- the entry of a node or block with these lanes left
 *
 * False when none of them is near enough.
 */
static bool
measure_run(BvhNearestQuery *nearest, uint32_t ref, uint32_t mask, BvhNearestEntry *entry)
{
	const BvhTree *tree = nearest->tree;
	const BvhBlock *block = NULL;
	double distance[BVH_WIDTH];
	uint32_t near = 0;

	if (mask == 0)
		return false;
	if (ref_is_block(ref))
	{
		block = &tree_blocks(tree)[ref_block(ref)];
		bvh_kernels->tree->block_distances(block, &nearest->query, distance);
	}
	else
		bvh_kernels->tree->node_distances(tree,
										  &tree_nodes(tree)[ref],
										  &nearest->query,
										  distance);

	*entry = (BvhNearestEntry){0.0, 0, ref, 0, 0};
	for (; mask != 0; mask &= mask - 1)
	{
		int lane = __builtin_ctz(mask);
		uint64_t id = block != NULL ? block->id[lane] : 0;

		if (!(distance[lane] <= nearest->most))
			continue;
		if (near == 0 || distance[lane] < entry->distance ||
			(distance[lane] == entry->distance && id < entry->id))
		{
			entry->distance = distance[lane];
			entry->id = id;
			entry->lane = (uint8_t) lane;
		}
		near |= UINT32_C(1) << lane;
	}
	entry->mask = (uint8_t) near;
	return near != 0;
}

/*
 * bvh_tree_nearest_begin --- search boxes by their distance from the query box,
 * which is at most so much
 */
void
bvh_tree_nearest_begin(BvhNearestQuery *nearest, const BvhTree *tree, const BvhEnv *env,
					   const Box3 *query, double most)
{
	nearest->tree = tree;
	nearest->query = *query;
	nearest->most = most;
	nearest->gives_places = false;
	nearest->nsteps = 0;
	nearest->nnodes = 0;
	nearest->nblocks = 0;
	queue_begin(&nearest->queue, env);
	if (tree->nnodes > 0)
	{
		nearest->nnodes++;
		nearest->queue.n = measure_run(nearest,
									   0,
									   tree_nodes(tree)->live,
									   &nearest->queue.entries[0]);
	}
}

/*
 * bvh_tree_nearest_next --- the next boxes, up to room >= 1 of them; none at the end
 *
 * Gives as many as there is room for, unless there are no more.  Neither
 * alloc nor the tick need return.  After BVH_NO_MEMORY the search is over.
 */
BvhStatus
bvh_tree_nearest_next(BvhNearestQuery *nearest, BvhNeighbour *out, size_t room,
					  size_t *nout)
{
	const BvhNode *nodes = tree_nodes(nearest->tree);
	BvhNearestQueue *queue = &nearest->queue;

	*nout = 0;
	while (queue->n > 0 && *nout < room)
	{
		BvhNearestEntry top = queue->entries[0];
		BvhNearestEntry run;
		bool is_block = ref_is_block(top.ref);

		if (++nearest->nsteps % BVH_TICK_STEPS == 0)
			queue->env->tick(queue->env->context);
		if (is_block)
		{
			out[*nout].distance = top.distance;
			out[(*nout)++].id = nearest->gives_places ? tree_place(top.ref, top.lane)
													  : top.id;
		}
		else if (queue_make_room(queue, 1) != BVH_OK)
		{
			*nout = 0;
			return BVH_NO_MEMORY;
		}

		/* what is left of the run stays in the queue */
		top.mask &= (uint8_t) ~(1 << top.lane);
		if (measure_run(nearest, top.ref, top.mask, &run))
			queue_sift_down(queue, 0, run);
		else
			queue_pop(queue);
		if (!is_block)
		{
			uint32_t child = nodes[top.ref].child[top.lane];
			uint32_t live;

			if (ref_is_block(child))
			{
				nearest->nblocks++;
				live = ref_live(child);
			}
			else
			{
				nearest->nnodes++;
				live = nodes[child].live;
			}
			if (measure_run(nearest, child, live, &run))
				queue_push(queue, run);
		}
	}
	return BVH_OK;
}

/* bvh_tree_nearest_end --- release what the search holds; harmless when it holds nothing
 */
void
bvh_tree_nearest_end(BvhNearestQuery *nearest)
{
	queue_end(&nearest->queue);
}
