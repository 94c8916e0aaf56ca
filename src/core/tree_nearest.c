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
#include "core/simd/kernels.h"

/* children of an entry of the queue: four are a cache line and a half */
#define FANOUT 4

/* nearer first; then what may hide something as near; then by id */
static inline bool
comes_first(const BvhNearestEntry *a, const BvhNearestEntry *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance;
	if (ref_is_block(a->ref) != ref_is_block(b->ref))
		return !ref_is_block(a->ref);
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
static void
pop(BvhNearestQuery *nearest)
{
	nearest->n--;
	if (nearest->n > 0)
		sift_down(nearest, 0, nearest->queue[nearest->n]);
}

/* room for one more entry */
static BvhStatus
make_room(BvhNearestQuery *nearest)
{
	const BvhEnv *env = nearest->env;
	BvhNearestEntry *larger;

	if (nearest->n < nearest->size)
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
	{
		nearest->nnodes++;
		nearest->n = measure_run(nearest, 0, tree_nodes(tree)->live, &nearest->queue[0]);
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

	*nout = 0;
	while (nearest->n > 0 && *nout < room)
	{
		BvhNearestEntry top = nearest->queue[0];
		BvhNearestEntry run;
		bool is_block = ref_is_block(top.ref);

		if (++nearest->nsteps % BVH_TICK_STEPS == 0)
			nearest->env->tick(nearest->env->context);
		if (is_block)
		{
			out[*nout].distance = top.distance;
			out[(*nout)++].id = top.id;
		}
		else if (make_room(nearest) != BVH_OK)
		{
			*nout = 0;
			return BVH_NO_MEMORY;
		}

		/* what is left of the run stays in the queue */
		top.mask &= (uint8_t) ~(1 << top.lane);
		if (measure_run(nearest, top.ref, top.mask, &run))
			sift_down(nearest, 0, run);
		else
			pop(nearest);
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
				push(nearest, run);
		}
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
