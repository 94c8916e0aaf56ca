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
#include "core/simd/kernels.h"

/* children of an entry of the queue: four are a cache line and a half */
#define FANOUT 4

/* nearer first; then what may hide something as near; then by id */
static inline bool
comes_first(const BvhNearestEntry *a, const BvhNearestEntry *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance;
	if ((a->mask == 0) != (b->mask == 0))
		return a->mask == 0;
	return a->id < b->id;
}

/* put an entry where the hole is, or further down */
static void
sift_down(BvhNearestQuery *nearest, size_t hole, BvhNearestEntry entry)
{
	BvhNearestEntry *queue = nearest->queue;

	for (;;)
	{
		size_t child = FANOUT * hole + 1;
		size_t end = child + FANOUT < nearest->n ? child + FANOUT : nearest->n;
		size_t first = child;

		if (child >= nearest->n)
			break;
		for (size_t i = child + 1; i < end; i++)
			if (comes_first(&queue[i], &queue[first]))
				first = i;
		if (!comes_first(&queue[first], &entry))
			break;
		queue[hole] = queue[first];
		hole = first;
	}
	queue[hole] = entry;
}

/* there is room for it */
static void
push(BvhNearestQuery *nearest, BvhNearestEntry entry)
{
	BvhNearestEntry *queue = nearest->queue;
	size_t hole = nearest->n++;

	while (hole > 0)
	{
		size_t parent = (hole - 1) / FANOUT;

		if (!comes_first(&entry, &queue[parent]))
			break;
		queue[hole] = queue[parent];
		hole = parent;
	}
	queue[hole] = entry;
}

/* take the first entry off */
static BvhNearestEntry
pop(BvhNearestQuery *nearest)
{
	BvhNearestEntry top = nearest->queue[0];

	nearest->n--;
	if (nearest->n > 0)
		sift_down(nearest, 0, nearest->queue[nearest->n]);
	return top;
}

/* room for the children of a node */
static BvhStatus
make_room(BvhNearestQuery *nearest)
{
	const BvhEnv *env = nearest->env;
	BvhNearestEntry *larger;

	if (nearest->n + BVH_WIDTH <= nearest->size)
		return BVH_OK;
	larger = env->alloc(env->context, 2 * nearest->size * sizeof(BvhNearestEntry));
	if (larger == NULL)
	{
		bvh_tree_nearest_end(nearest);
		return BVH_NO_MEMORY;
	}
	memcpy(larger, nearest->queue, nearest->n * sizeof(BvhNearestEntry));
	if (nearest->queue != nearest->inline_queue)
		env->release(env->context, nearest->queue);
	nearest->queue = larger;
	nearest->size *= 2;
	return BVH_OK;
}

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
			push(nearest, (BvhNearestEntry){distance[lane], 0, node->child[lane], 0, 0});
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
 * bvh_tree_nearest_begin --- search boxes by their distance from the query box,
 * which is at most so much
 */
void
bvh_tree_nearest_begin(BvhNearestQuery *nearest, const BvhTree *tree, const BvhEnv *env,
					   const Box3 *query, double most)
{
	nearest->tree = tree;
	nearest->env = env;
	nearest->query = *query;
	nearest->most = most;
	nearest->nsteps = 0;
	nearest->nnodes = 0;
	nearest->nblocks = 0;
	nearest->queue = nearest->inline_queue;
	nearest->size = BVH_NEAREST_INLINE;
	nearest->n = 0;
	if (tree->nnodes > 0)
		nearest->queue[nearest->n++] = (BvhNearestEntry){0.0, 0, 0, 0, 0};
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

	*nout = 0;
	while (nearest->n > 0 && *nout < room)
	{
		BvhNearestEntry top;
		BvhNearestEntry run;

		if (++nearest->nsteps % BVH_TICK_STEPS == 0)
			nearest->env->tick(nearest->env->context);
		if (!ref_is_block(nearest->queue[0].ref))
		{
			BvhStatus status = make_room(nearest);

			if (status != BVH_OK)
				return status;
			top = pop(nearest);
			open_node(nearest, &nodes[top.ref]);
			continue;
		}

		/* a run or a block stays where it is, with its next box */
		top = nearest->queue[0];
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
			sift_down(nearest, 0, run);
		else
			pop(nearest);
	}
	return BVH_OK;
}

/* bvh_tree_nearest_end --- release what the search holds; harmless when it holds nothing
 */
void
bvh_tree_nearest_end(BvhNearestQuery *nearest)
{
	if (nearest->queue != nearest->inline_queue)
		nearest->env->release(nearest->env->context, nearest->queue);
	nearest->queue = nearest->inline_queue;
	nearest->n = 0;
}
