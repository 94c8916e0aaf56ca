/*-------------------------------------------------------------------------
 *
 * tree_nearest.c
 *	  Boxes in the order of their distance, or of the time at which a ray enters
 *	  them (Hjaltason and Samet, "Distance browsing in spatial databases", 1999).
 *
 * A queue holds runs: nodes and blocks that have been opened, by the distance of
 * their nearest lane that is left.  When that has been taken, the lanes are
 * measured again, which costs less than eight entries of the queue would, or
 * the memory to keep their distances.
 *
 * The distance to bounds is computed by the steps of the operator itself,
 * each of them monotone, from bounds that are rounded outward; so it never
 * exceeds the distance to a box inside.  Times of entry are a little less, see
 * simd/tree_shape.h.
 *
 * What does not match a filter is left out when a node or block is opened.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/nearest_queue.h"
#include "core/simd/kernels.h"

/* the distances of these boxes, if it is a block, or lanes */
static void
measure_lanes(const BvhNearestQuery *nearest, const BvhNode *node, const BvhBlock *block,
			  uint32_t mask, double distance[BVH_WIDTH])
{
	const BvhTreeKernels *kernels = bvh_kernels->tree;
	const BvhShape *order = &nearest->order;

	switch (order->op)
	{
		case BVH_EUCLIDEAN:
			if (block != NULL)
				kernels->block_distances(block, &nearest->query.box, distance);
			else
				kernels->node_distances(nearest->tree,
										node,
										&nearest->query.box,
										distance);
			break;
		case BVH_RAY_ENTRY:
			if (block != NULL)
				kernels->block_entries(block,
									   mask,
									   order->operand,
									   &nearest->query.ray,
									   distance);
			else
				kernels->node_entries(nearest->tree, node, &nearest->query.ray, distance);
			break;
		default:
			if (block != NULL)
				kernels->block_gaps(block, order, distance);
			else
				kernels->node_gaps(nearest->tree, node, order, distance);
			break;
	}
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
	const BvhNode *node = NULL;
	const BvhBlock *block = NULL;
	double distance[BVH_WIDTH];
	uint32_t near = 0;

	if (mask == 0)
		return false;
	if (ref_is_block(ref))
		block = &tree_blocks(tree)[ref_block(ref)];
	else
		node = &tree_nodes(tree)[ref];
	measure_lanes(nearest, node, block, mask, distance);

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
 * open_run --- the entry of a node or block seen for the first time
 *
 * False when nothing in it is wanted.
 */
static bool
open_run(BvhNearestQuery *nearest, uint32_t ref, BvhNearestEntry *entry)
{
	const BvhTreeKernels *kernels = bvh_kernels->tree;
	const BvhFilter *filter = &nearest->filter;
	const BvhTree *tree = nearest->tree;
	uint32_t mask;

	if (ref_is_block(ref))
	{
		const BvhBlock *block = &tree_blocks(tree)[ref_block(ref)];

		nearest->nblocks++;
		mask = ref_live(ref);
		if (nearest->is_filtered)
		{
			mask &= kernels->block_hits(block, &filter->range);
			for (int i = 0; i < filter->nshapes && mask != 0; i++)
				mask = kernels->block_shape(block, mask, &filter->shapes[i]);
		}
	}
	else
	{
		const BvhNode *node = &tree_nodes(tree)[ref];

		nearest->nnodes++;
		mask = node->live;
		if (nearest->is_filtered)
		{
			mask &= kernels->node_hits(node, nearest->limit);
			for (int i = 0; i < filter->nshapes && mask != 0; i++)
				mask = kernels->node_shape(tree, node, mask, &filter->shapes[i]);
		}
	}
	return measure_run(nearest, ref, mask, entry);
}

/* begin with the root; all else has been set */
static void
begin(BvhNearestQuery *nearest, const BvhTree *tree, const BvhEnv *env)
{
	nearest->tree = tree;
	nearest->gives_places = false;
	nearest->nsteps = 0;
	nearest->nnodes = 0;
	nearest->nblocks = 0;
	queue_begin(&nearest->queue, env);
	if (tree->nnodes > 0)
		nearest->queue.n = open_run(nearest, 0, &nearest->queue.entries[0]);
}

/*
 * bvh_tree_nearest_begin --- search boxes by their distance from the query box,
 * which is at most so much
 */
void
bvh_tree_nearest_begin(BvhNearestQuery *nearest, const BvhTree *tree, const BvhEnv *env,
					   const Box3 *query, double most)
{
	nearest->order.op = BVH_EUCLIDEAN;
	nearest->query.box = *query;
	nearest->most = most;
	nearest->is_filtered = false;
	begin(nearest, tree, env);
}

/* is that one filter, and no more than what the order says anyway? */
static bool
is_implied(const BvhShape *order, const BvhFilter *filter)
{
	return order->op == BVH_RAY_ENTRY && filter->nshapes == 1 &&
		   filter->shapes[0].shape.op == BVH_MEETS_RAY &&
		   ray3_equal(order->operand, filter->shapes[0].shape.operand);
}

/* is anything left out? */
static bool
is_filter(const BvhFilter *filter)
{
	bool is_bounded = false;

	for (int lane = 0; lane < 6; lane++)
		is_bounded |= filter->range.lower[lane] != -INFINITY ||
					  filter->range.upper[lane] != INFINITY;
	return is_bounded || filter->nshapes > 0;
}

/*
 * bvh_tree_order_begin --- search boxes in an order, those that match the filter
 *
 * The order's operand must stay until the search is over.
 */
void
bvh_tree_order_begin(BvhNearestQuery *nearest, const BvhTree *tree, const BvhEnv *env,
					 const BvhShape *order, const BvhFilter *filter)
{
	nearest->order = *order;
	if (order->op == BVH_RAY_ENTRY)
		ray3_probe(order->operand, &nearest->query.ray);
	else
		nearest->query.box = *(const Box3 *) order->operand;
	nearest->most = INFINITY;
	nearest->filter = *filter;
	if (is_implied(order, filter))
	{
		/* times of entry are finite, and Infinity is for boxes that are not met */
		nearest->most = DBL_MAX;
		nearest->filter.nshapes = 0;
	}
	nearest->is_filtered = is_filter(&nearest->filter);
	node_limits(tree, &filter->range, nearest->limit);
	begin(nearest, tree, env);
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
	uint32_t tick_steps = nearest->is_filtered ? BVH_SHAPE_TICK_STEPS : BVH_TICK_STEPS;

	*nout = 0;
	while (queue->n > 0 && *nout < room)
	{
		BvhNearestEntry top = queue->entries[0];
		BvhNearestEntry run;
		bool is_block = ref_is_block(top.ref);

		if (++nearest->nsteps % tick_steps == 0)
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
			if (open_run(nearest, nodes[top.ref].child[top.lane], &run))
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
