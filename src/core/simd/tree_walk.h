/*-------------------------------------------------------------------------
 *
 * tree_walk.h
 *	  The walks through the tree, and the passes of its build, written once
 *	  and compiled for each instruction set.
 *
 * A file that wants them for an instruction set defines first what is in
 * tree_scalar.h: the tests, TREE_TARGET, and TREE_TABLE, the table to make.
 * All of it is inlined here, so that a walk calls through a pointer once, and
 * keeps its query in registers.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TREE_WALK_H
#define BVH_TREE_WALK_H

#ifndef TREE_TABLE
#include "core/simd/tree_scalar.h"
#endif

#include "core/simd/tree_shape.h"

/* ---------------------------------------------------------------- range */

#ifndef TREE_PUSHES_CHILDREN
/* put the children of the lanes in mask on a stack with room for 16 more */
static inline int
push_children(uint32_t *stack, const BvhNode *node, uint32_t mask)
{
	int n = 0;

	for (; mask != 0; mask &= mask - 1)
		stack[n++] = node->child[__builtin_ctz(mask)];
	return n;
}
#endif

/* put the ids of boxes, or their places, out until there is no room; returns which are
 * left */
static inline uint32_t
give_ids(const BvhRangeQuery *query, uint32_t ref, uint32_t mask, uint64_t *ids,
		 size_t room, size_t *n)
{
	const BvhBlock *block = &tree_blocks(query->tree)[ref_block(ref)];

	if (query->gives_places)
		for (; mask != 0 && *n < room; mask &= mask - 1)
			ids[(*n)++] = tree_place(ref, (uint32_t) __builtin_ctz(mask));
	else
		for (; mask != 0 && *n < room; mask &= mask - 1)
			ids[(*n)++] = block->id[__builtin_ctz(mask)];
	return mask;
}

/* lanes that something below may match, of those in mask */
TREE_TARGET static inline uint32_t
node_shapes(const BvhRangeQuery *query, const BvhNode *node, uint32_t mask)
{
	for (int i = 0; i < query->nshapes && mask != 0; i++)
		mask = node_shape(query->tree, node, mask, &query->shapes[i]);
	return mask;
}

/* boxes that match all of the shapes, of those in mask */
TREE_TARGET static inline uint32_t
block_shapes(const BvhRangeQuery *query, const BvhBlock *block, uint32_t mask)
{
	for (int i = 0; i < query->nshapes && mask != 0; i++)
		mask = block_shape(block, mask, &query->shapes[i]);
	return mask;
}

/*
 * Blocks that are looked at together: while the walk goes on, their memory is on
 * its way, which takes a fifth of the time off a search of a million boxes.
 */
#define LATER 8

static inline __attribute__((always_inline)) TREE_TARGET size_t
walk_range(BvhRangeQuery *query, uint64_t *ids, size_t room, bool has_shapes)
{
	const BvhNode *nodes = tree_nodes(query->tree);
	const BvhBlock *blocks = tree_blocks(query->tree);
	const NodeProbe probe = node_probe(query->limit);
	const RangeProbe range = range_probe(&query->range);
	const bool is_half = query->is_half;
	const uint32_t tick_steps = has_shapes ? BVH_SHAPE_TICK_STEPS : BVH_TICK_STEPS;
	/* who asks for one wants it at once */
	const int most_later = room < LATER ? (int) room : LATER;
	uint32_t later[LATER];
	int nlater = 0;
	size_t n = 0;

	if (query->pending_mask != 0)
	{
		query->pending_mask = give_ids(query,
									   query->pending_ref,
									   query->pending_mask,
									   ids,
									   room,
									   &n);
		if (n == room)
			return n;
	}
	for (;;)
	{
		/* blocks wait until their memory has come */
		while (query->depth > 0 && nlater < most_later)
		{
			uint32_t ref = query->stack[--query->depth];

			if (++query->nsteps % tick_steps == 0)
				query->env->tick(query->env->context);
			if (ref_is_block(ref))
			{
				const BvhBlock *block = &blocks[ref_block(ref)];

				for (int k = 0; k < 6; k++)
					__builtin_prefetch(block->bound[k]);
				later[nlater++] = ref;
			}
			else
			{
				const BvhNode *node = &nodes[ref];
				uint32_t mask = node_hits(node, &probe) & node->live;

				if (has_shapes)
					mask = node_shapes(query, node, mask);
				query->nnodes++;
				query->depth += push_children(&query->stack[query->depth], node, mask);
			}
		}
		if (nlater == 0)
			return n;
		for (int i = 0; i < nlater; i++)
		{
			const BvhBlock *block = &blocks[ref_block(later[i])];
			uint32_t mask = block_hits(block, &range, is_half) & ref_live(later[i]);

			if (has_shapes)
				mask = block_shapes(query, block, mask);
			query->nblocks++;
			if (mask == 0)
				continue;
			query->pending_mask = give_ids(query, later[i], mask, ids, room, &n);
			if (n == room)
			{
				query->pending_ref = later[i];
				while (++i < nlater)
					query->stack[query->depth++] = later[i];
				return n;
			}
		}
		nlater = 0;
	}
}

TREE_TARGET static size_t
range_next(BvhRangeQuery *query, uint64_t *ids, size_t room)
{
	return walk_range(query, ids, room, false);
}

TREE_TARGET static size_t
filter_next(BvhRangeQuery *query, uint64_t *ids, size_t room)
{
	return walk_range(query, ids, room, true);
}

/* ---------------------------------------------------------------- pairs */

/* bits 8 * i to 8 * i + 7 for each bit i */
static inline uint64_t
rows(uint32_t mask)
{
	uint64_t spread = (mask & 0x7F) * UINT64_C(0x0002040810204081);

	spread = (spread & UINT64_C(0x0101010101010101)) | (uint64_t) (mask >> 7) << 56;
	return spread * 0xFF;
}

/* bits i, 8 + i, and so on for each bit i */
static inline uint64_t
columns(uint32_t mask)
{
	return mask * UINT64_C(0x0101010101010101);
}

/* bit 8 * i + j for i < j */
#define ABOVE_DIAGONAL UINT64_C(0x0080C0E0F0F8FCFE)
#define DIAGONAL       UINT64_C(0x8040201008040201)

/* the loop of a pair of blocks; op is a constant where it is inlined */
static inline __attribute__((always_inline)) TREE_TARGET uint64_t
match_rows(const BvhBlock *a, uint32_t which, const BvhBlock *b, BvhOp op)
{
	uint64_t mask = 0;

	for (; which != 0; which &= which - 1)
	{
		int i = __builtin_ctz(which);

		mask |= (uint64_t) block_matches(a, i, b, op) << 8 * i;
	}
	return mask;
}

/* bit 8 * i + j: box i of a, of those in which, op, box j of b */
TREE_TARGET static inline uint64_t
match_blocks(const BvhBlock *a, uint32_t which, const BvhBlock *b, BvhOp op)
{
	switch (op)
	{
		case BVH_OVERLAPS:
			return match_rows(a, which, b, BVH_OVERLAPS);
		case BVH_OVERLAPS_STRICTLY:
			return match_rows(a, which, b, BVH_OVERLAPS_STRICTLY);
		case BVH_CONTAINS:
			return match_rows(a, which, b, BVH_CONTAINS);
		case BVH_CONTAINED_BY:
			return match_rows(a, which, b, BVH_CONTAINED_BY);
		default:
			return match_rows(a, which, b, BVH_EQUAL);
	}
}

/* put pairs of the pending blocks out until there is no room */
TREE_TARGET static size_t
give_pairs(BvhPairs *pairs, BvhPair *out, size_t n, size_t room)
{
	const BvhBlock *a = &tree_blocks(pairs->a)[pairs->pending_a];
	const BvhBlock *b = &tree_blocks(pairs->b)[pairs->pending_b];
	const bool both = pairs->is_self && pairs->mode != BVH_SELF_ONCE;
	uint64_t mask = pairs->pending_mask;

	for (; mask != 0 && n < room; mask &= mask - 1)
	{
		int bit = __builtin_ctzll(mask);
		uint64_t id_a = a->id[bit / 8];
		uint64_t id_b = b->id[bit % 8];

		if (!pairs->is_half_given)
			out[n++] = (BvhPair){id_a, id_b};
		if (!both || (pairs->pending_a == pairs->pending_b && bit / 8 == bit % 8))
			continue;
		pairs->is_half_given = n == room;
		if (n == room)
			break;
		out[n++] = (BvhPair){id_b, id_a};
	}
	pairs->pending_mask = mask;
	return n;
}

/* put pairs of lanes on the stack */
static inline int
push_pairs(BvhPairsEntry *stack, uint32_t a, uint32_t b, uint64_t mask)
{
	int n = 0;

	for (; mask != 0; mask &= mask - 1)
	{
		uint32_t bit = (uint32_t) __builtin_ctzll(mask);

		stack[n++] = (BvhPairsEntry){a << 3 | bit / 8, b << 3 | bit % 8};
	}
	return n;
}

/* the bounds of a node in the frame of another tree */
static inline void
reframe_node(const BvhTree *from, const BvhNode *node, const BvhTree *to,
			 BvhNode *reframed)
{
	for (int lane = 0; lane < BVH_WIDTH; lane++)
	{
		Box3 box;

		node_box(from, node, lane, &box);
		for (int d = 0; d < 3; d++)
		{
			reframed->bound[d][lane] = tree_bound(to, d, box.lo[d]);
			reframed->bound[d + 3][lane] = tree_bound(to, d + 3, box.hi[d]);
		}
	}
}

/* bit 8 * i + j: box i of a block overlaps lane j of a node, as far as floats can tell */
TREE_TARGET static inline uint64_t
block_lanes(const BvhBlock *block, uint32_t which, const BvhTree *tree,
			const BvhNode *node)
{
	_Alignas(BVH_TREE_ALIGNMENT) BvhNode boxes;

	for (int k = 0; k < 6; k++)
		for (int place = 0; place < BVH_WIDTH; place++)
			boxes.bound[k][place] = tree_bound(tree, k, block->bound[k][place]);
	return node_pairs(&boxes, node) & rows(which) & columns(node->live);
}

/* lanes of a node that one box overlaps, as far as floats can tell */
TREE_TARGET static inline uint32_t
box_lanes(const Box3 *box, const BvhTree *tree, const BvhNode *node)
{
	float limit[6];
	NodeProbe probe;

	for (int d = 0; d < 3; d++)
	{
		limit[d] = tree_bound(tree, d, box->hi[d]);
		limit[d + 3] = tree_bound(tree, d + 3, box->lo[d]);
	}
	probe = node_probe(limit);
	return node_hits(node, &probe) & node->live;
}

/*
 * open_beside_block --- a node of one tree, beside a block, or one box, of the other
 *
 * The boxes of a block may be far apart, measured by the lanes of the node, as
 * those of a small tree beside a large one.  Where few of them meet a lane, they
 * go on alone.
 */
TREE_TARGET static void
open_beside_block(BvhPairs *pairs, BvhPairsEntry entry, bool block_is_a, uint32_t node,
				  uint32_t block, uint32_t which)
{
	const BvhTree *tree = block_is_a ? pairs->b : pairs->a;
	const BvhNode *opened = &tree_nodes(tree)[node];
	const BvhBlock *boxes = &tree_blocks(block_is_a ? pairs->a : pairs->b)[block];
	uint32_t from = block_is_a ? entry.a : entry.b;
	BvhPairsEntry *stack = &pairs->stack[pairs->depth];
	uint32_t lanes = 0;
	int n = 0;

	if (ref_is_block(from))
	{
		Box3 box;

		block_box(boxes, (int) (from & 7), &box);
		lanes = box_lanes(&box, tree, opened);
	}
	else
	{
		uint64_t mask = block_lanes(boxes, which, tree, opened);

		for (int i = 0; i < BVH_WIDTH; i++)
			lanes |= (mask >> 8 * i) & 0xFF;
		if (__builtin_popcountll(mask) <= 2 * __builtin_popcount(lanes))
		{
			for (; mask != 0; mask &= mask - 1)
			{
				uint32_t bit = (uint32_t) __builtin_ctzll(mask);
				uint32_t box = BVH_REF_BLOCK | block << 3 | bit / 8;
				uint32_t lane = node << 3 | bit % 8;

				stack[n++] = block_is_a ? (BvhPairsEntry){box, lane}
										: (BvhPairsEntry){lane, box};
			}
			lanes = 0;
		}
	}
	for (; lanes != 0; lanes &= lanes - 1)
	{
		uint32_t lane = node << 3 | (uint32_t) __builtin_ctz(lanes);

		stack[n++] = block_is_a ? (BvhPairsEntry){from, lane}
								: (BvhPairsEntry){lane, from};
	}
	pairs->depth += n;
}

/* the box around what an entry of the stack names; none of the root's */
static inline void
slot_box(const BvhTree *tree, uint32_t slot, Box3 *box)
{
	if (ref_is_block(slot))
		block_box(&tree_blocks(tree)[ref_block(slot)], (int) (slot & 7), box);
	else
		node_box(tree, &tree_nodes(tree)[slot >> 3], (int) (slot & 7), box);
}

/* the node or block that an entry names, and which boxes of the block */
static inline uint32_t
slot_ref(const BvhNode *nodes, uint32_t slot, uint32_t *which)
{
	uint32_t ref = slot;

	*which = UINT32_C(1) << (slot & 7);
	if (slot == BVH_PAIRS_ROOT)
		return 0;
	if (ref_is_block(slot))
		return ref;
	ref = nodes[slot >> 3].child[slot & 7];
	*which = ref_live(ref);
	return ref;
}

/* a node with itself: each two lanes that overlap, and each lane with itself */
TREE_TARGET static inline void
open_self(BvhPairs *pairs, const BvhNode *nodes, uint32_t a)
{
	const BvhNode *node = &nodes[a];
	uint64_t mask = node_pairs(node, node) & ABOVE_DIAGONAL;

	mask |= DIAGONAL;
	mask &= rows(node->live) & columns(node->live);
	pairs->depth += push_pairs(&pairs->stack[pairs->depth], a, a, mask);
}

/* two nodes: each lane of one with each of the other */
TREE_TARGET static inline void
open_both(BvhPairs *pairs, uint32_t a, uint32_t b)
{
	const BvhNode *node_a = &tree_nodes(pairs->a)[a];
	const BvhNode *node_b = &tree_nodes(pairs->b)[b];
	uint64_t live = rows(node_a->live) & columns(node_b->live);
	_Alignas(BVH_TREE_ALIGNMENT) BvhNode reframed;

	if (!pairs->is_one_frame)
	{
		reframe_node(pairs->a, node_a, pairs->b, &reframed);
		node_a = &reframed;
	}
	pairs->depth += push_pairs(&pairs->stack[pairs->depth],
							   a,
							   b,
							   node_pairs(node_a, node_b) & live);
}

TREE_TARGET static size_t
pairs_next(BvhPairs *pairs, BvhPair *out, size_t room)
{
	const BvhNode *nodes_a = tree_nodes(pairs->a);
	const BvhNode *nodes_b = tree_nodes(pairs->b);
	size_t n = 0;

	if (pairs->pending_mask != 0)
	{
		n = give_pairs(pairs, out, n, room);
		if (n == room)
			return n;
	}
	while (pairs->depth > 0)
	{
		BvhPairsEntry entry = pairs->stack[--pairs->depth];
		bool is_same = pairs->is_self && entry.a == entry.b;
		uint32_t which_a;
		uint32_t which_b;
		uint32_t a = slot_ref(nodes_a, entry.a, &which_a);
		uint32_t b = slot_ref(nodes_b, entry.b, &which_b);
		const BvhBlock *block_a;
		const BvhBlock *block_b;
		uint64_t mask;

		if (++pairs->nsteps % BVH_TICK_STEPS == 0)
			pairs->env->tick(pairs->env->context);
		if (!ref_is_block(a) || !ref_is_block(b))
		{
			pairs->nnodes++;
			if (is_same)
				open_self(pairs, nodes_a, a);
			else if (ref_is_block(a))
				open_beside_block(pairs, entry, true, b, ref_block(a), which_a);
			else if (ref_is_block(b))
				open_beside_block(pairs, entry, false, a, ref_block(b), which_b);
			else
				open_both(pairs, a, b);
			continue;
		}

		pairs->nblocks++;
		block_a = &tree_blocks(pairs->a)[ref_block(a)];
		block_b = &tree_blocks(pairs->b)[ref_block(b)];
		/* few boxes of a block reach what is beside it */
		if (!is_same && !ref_is_block(entry.a))
		{
			Box3 box;

			slot_box(pairs->b, entry.b, &box);
			which_a &= block_overlaps(block_a, &box);
		}
		mask = match_blocks(block_a, which_a, block_b, pairs->op) & columns(which_b);
		if (is_same)
			mask &= ABOVE_DIAGONAL | (pairs->mode == BVH_SELF_ALL ? DIAGONAL : 0);
		if (mask == 0)
			continue;
		pairs->pending_a = ref_block(a);
		pairs->pending_b = ref_block(b);
		pairs->pending_mask = mask;
		n = give_pairs(pairs, out, n, room);
		if (n == room)
			return n;
	}
	return n;
}

/* ---------------------------------------------------------------- build */

TREE_TARGET static void
measure(const BvhPrim *prims, size_t n, BvhPrimBounds *bounds)
{
	Vec8 box = vec_load(bounds->box);
	Vec8 center = vec_load(bounds->center);

	for (size_t i = 0; i < n; i++)
	{
		Vec8 prim = vec_load(prims[i].lane);

		box = vec_min(prim, box);
		center = vec_min(vec_centers(prim), center);
	}
	vec_store(bounds->box, box);
	vec_store(bounds->center, center);
}

TREE_TARGET static void
bin(const BvhPrim *prims, size_t n, const BvhBinMap *map, BvhBins *bins)
{
	const MapProbe probe = map_probe(map);

	for (size_t i = 0; i < n; i++)
	{
		Vec8 prim = vec_load(prims[i].lane);
		int32_t place[4];

		vec_bins(vec_centers(prim), &probe, place);
		for (int axis = 0; axis < 3; axis++)
		{
			float *box = bins->box[axis][place[axis]];

			vec_store(box, vec_min(prim, vec_load(box)));
			bins->n[axis][place[axis]]++;
		}
	}
}

/* does it go to the left?  The same steps as for its bin, which are then below the cut.
 */
static inline bool
goes_left(const BvhPrim *prim, const BvhPartition *part)
{
	float center = prim->lo[part->axis] - prim->neg_hi[part->axis];

	return (center - part->map->first[part->axis]) * part->map->scale[part->axis] <
		   part->cut;
}

/* prims whose sides are looked at together */
#define GROUP 64

/*
 * Two ends that meet.  A group of boxes at either end is looked at as a whole:
 * which of them are on the wrong side is written down without a branch, since
 * none could be foreseen, and then as many as both ends have change places (after
 * Edelkamp and Weiss, "BlockQuicksort", 2016).  What is left in the middle, and
 * what was looked at there without being moved, is done one by one; to include
 * a box twice does no harm.
 */
TREE_TARGET static void
partition(BvhPartition *part, size_t most)
{
	Vec8 box[2] = {vec_load(part->bounds[0].box), vec_load(part->bounds[1].box)};
	Vec8 center[2] = {vec_load(part->bounds[0].center), vec_load(part->bounds[1].center)};
	BvhPrim *left = part->prims + part->left;
	BvhPrim *right = part->prims + part->right;
	uint8_t wrong_left[GROUP];
	uint8_t wrong_right[GROUP];
	int nleft = 0;
	int nright = 0;
	int at_left = 0;
	int at_right = 0;
	size_t nseen = 0;

	while (right - left >= 2 * GROUP && nseen < most)
	{
		int nswaps;

		if (nleft == 0)
		{
			at_left = 0;
			nseen += GROUP;
			for (int i = 0; i < GROUP; i++)
			{
				bool is_left = goes_left(&left[i], part);
				Vec8 prim = vec_load(left[i].lane);
				Vec8 c = vec_centers(prim);

				for (int side = 0; side < 2; side++)
				{
					box[side] = vec_min_if(is_left != side, prim, box[side]);
					center[side] = vec_min_if(is_left != side, c, center[side]);
				}
				wrong_left[nleft] = (uint8_t) i;
				nleft += !is_left;
			}
		}
		if (nright == 0)
		{
			at_right = 0;
			nseen += GROUP;
			for (int i = 0; i < GROUP; i++)
			{
				bool is_left = goes_left(&right[-1 - i], part);
				Vec8 prim = vec_load(right[-1 - i].lane);
				Vec8 c = vec_centers(prim);

				for (int side = 0; side < 2; side++)
				{
					box[side] = vec_min_if(is_left != side, prim, box[side]);
					center[side] = vec_min_if(is_left != side, c, center[side]);
				}
				wrong_right[nright] = (uint8_t) i;
				nright += is_left;
			}
		}
		nswaps = nleft < nright ? nleft : nright;
		for (int i = 0; i < nswaps; i++)
		{
			BvhPrim *a = &left[wrong_left[at_left + i]];
			BvhPrim *b = &right[-1 - wrong_right[at_right + i]];
			Vec8 prim = vec_load(a->lane);

			vec_store(a->lane, vec_load(b->lane));
			vec_store(b->lane, prim);
		}
		at_left += nswaps;
		at_right += nswaps;
		nleft -= nswaps;
		nright -= nswaps;
		left += nleft == 0 ? GROUP : 0;
		right -= nright == 0 ? GROUP : 0;
	}
	if (right - left < 2 * GROUP)
		while (left < right)
		{
			Vec8 prim = vec_load(left->lane);
			int side = !goes_left(left, part);

			box[side] = vec_min(prim, box[side]);
			center[side] = vec_min(vec_centers(prim), center[side]);
			if (side == 0)
				left++;
			else
			{
				right--;
				vec_store(left->lane, vec_load(right->lane));
				vec_store(right->lane, prim);
			}
		}
	for (int side = 0; side < 2; side++)
	{
		vec_store(part->bounds[side].box, box[side]);
		vec_store(part->bounds[side].center, center[side]);
	}
	part->left = (size_t) (left - part->prims);
	part->right = (size_t) (right - part->prims);
}

#ifndef TREE_SORTS_FEW
static void
sort_few(const float key[BVH_FEW], int n, uint8_t sorted[BVH_FEW])
{
	for (int i = 0; i < n; i++)
	{
		int j = i;

		for (; j > 0 && key[i] < key[sorted[j - 1]]; j--)
			sorted[j] = sorted[j - 1];
		sorted[j] = (uint8_t) i;
	}
}
#endif

/* ---------------------------------------------------------------- the tests alone */

TREE_TARGET static uint32_t
one_node_hits(const BvhNode *node, const float limit[6])
{
	const NodeProbe probe = node_probe(limit);

	return node_hits(node, &probe);
}

TREE_TARGET static uint32_t
one_block_hits(const BvhBlock *block, const BoxRange *range)
{
	const RangeProbe probe = range_probe(range);

	return block_hits(block, &probe, range_is_half(range));
}

TREE_TARGET static uint64_t
one_node_pairs(const BvhNode *a, const BvhNode *b)
{
	return node_pairs(a, b);
}

TREE_TARGET static uint64_t
one_block_pairs(const BvhBlock *a, const BvhBlock *b, BvhOp op)
{
	return match_blocks(a, 0xFF, b, op);
}

TREE_TARGET static void
one_node_distances(const BvhTree *tree, const BvhNode *node, const Box3 *query,
				   double out[8])
{
	node_distances(tree, node, query, out);
}

TREE_TARGET static void
one_block_distances(const BvhBlock *block, const Box3 *query, double out[8])
{
	block_distances(block, query, out);
}

const BvhTreeKernels TREE_TABLE = {
	.node_hits = one_node_hits,
	.block_hits = one_block_hits,
	.node_pairs = one_node_pairs,
	.block_pairs = one_block_pairs,
	.node_distances = one_node_distances,
	.block_distances = one_block_distances,
	.node_shape = node_shape,
	.block_shape = block_shape,
	.node_entries = node_entries,
	.block_entries = block_entries,
	.node_gaps = node_gaps,
	.block_gaps = block_gaps,
	.range_next = range_next,
	.filter_next = filter_next,
	.pairs_next = pairs_next,
	.measure = measure,
	.bin = bin,
	.partition = partition,
	.sort = sort_few,
};

#endif /* BVH_TREE_WALK_H */
