/*-------------------------------------------------------------------------
 *
 * tree_node.h
 *	  How a tree lies in memory.
 *
 *     BvhTree             256 bytes
 *     BvhNode[nnodes]     256 bytes each, depth first, the root first
 *     BvhBlock[nblocks]   448 bytes each, in the order of their nodes
 *
 * Everything is aligned to cache lines, and nothing is a pointer.
 *
 * Bounds of nodes are floats in a frame of the tree: (x - origin) * scale, with
 * an origin where boxes are densest and a power of two from their span, so
 * that float serves data far from zero, and data of any size.  It rounds to
 * nearest, which is monotone: x <= y for doubles means no more than the same
 * for their floats.  So a test of floats never misses; and what a float
 * stands for, where that is needed, is taken a little further out.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TREE_NODE_H
#define BVH_TREE_NODE_H

#include <float.h>
#include <string.h>

#include "core/tree.h"

/* children of a node, and boxes of a block */
#define BVH_WIDTH 8

/*
 * In BvhPairsEntry, node << 3 | lane, or BVH_REF_BLOCK | block << 3 | place;
 * or the root, which is in no lane.
 */
#define BVH_PAIRS_ROOT UINT32_MAX

#define BVH_TREE_MAGIC UINT32_C(0x42564831) /* layout 1 */

/*
 * What a lane of a node leads to: a node by its number, or a block by its
 * number and how many of its places are taken, at least one.
 */
#define BVH_REF_BLOCK UINT32_C(0x80000000)

static inline uint32_t
block_ref(uint32_t block, uint32_t n)
{
	return BVH_REF_BLOCK | block << 3 | (n - 1);
}

static inline bool
ref_is_block(uint32_t ref)
{
	return (ref & BVH_REF_BLOCK) != 0;
}

static inline uint32_t
ref_block(uint32_t ref)
{
	return (ref & ~BVH_REF_BLOCK) >> 3;
}

/* the place of a box, by the ref of its block and which of it */
static inline uint64_t
tree_place(uint32_t ref, uint32_t which)
{
	return (uint64_t) ref_block(ref) << 3 | which;
}

/* a bit for each box of the block */
static inline uint32_t
ref_live(uint32_t ref)
{
	return UINT32_C(0xFF) >> (7 - (ref & 7));
}

/*
 * 256 bytes, four cache lines.  Bounds are in the tree's frame, and the upper
 * ones negated, so that a union is the least of each, and a test is six times
 * "at most".  None is +Infinity or NaN.  Lanes without a child repeat the first,
 * so that they hold ordinary numbers; live says that they do not count.
 */
typedef struct BvhNode
{
	float bound[6][BVH_WIDTH]; /* lo.x, lo.y, lo.z, -hi.x, -hi.y, -hi.z */
	uint32_t child[BVH_WIDTH];
	uint32_t live; /* a bit for each lane in use */
	uint8_t spare[28];
} BvhNode;

/* 448 bytes, seven cache lines; places not taken repeat the first */
typedef struct BvhBlock
{
	double bound[6][BVH_WIDTH]; /* lo.x, lo.y, lo.z, hi.x, hi.y, hi.z; exact */
	uint64_t id[BVH_WIDTH];
} BvhBlock;

struct BvhTree
{
	uint32_t magic;
	uint32_t skipped; /* bytes between the chunk of the allocator and this */
	uint64_t size;    /* in bytes, with this */
	uint64_t nboxes;
	uint64_t ngiants;
	uint32_t nnodes;
	uint32_t nblocks;
	uint32_t height;
	uint32_t spare;
	Box3 bounds;      /* of all boxes */
	double origin[3]; /* the frame */
	double scale;
	double unscale; /* 1 / scale */
	uint8_t spare_bytes[256 - 136];
};

_Static_assert(sizeof(BvhNode) == 256, "a node is four cache lines");
_Static_assert(sizeof(BvhBlock) == 448, "a block is seven cache lines");
_Static_assert(sizeof(BvhTree) == 256, "what follows the header is aligned like it");

static inline BvhNode *
tree_nodes(const BvhTree *tree)
{
	return (BvhNode *) ((char *) tree + sizeof(BvhTree));
}

static inline BvhBlock *
tree_blocks(const BvhTree *tree)
{
	return (BvhBlock *) (tree_nodes(tree) + tree->nnodes);
}

/*
 * tree_bound --- a coordinate as a bound k of a node: lo.x, ..., -hi.z
 *
 * Each step is monotone.
 */
static inline float
tree_bound(const BvhTree *tree, int k, double x)
{
	double offset = (x - tree->origin[k % 3]) * tree->scale;
	float bound = (float) (k < 3 ? offset : -offset);

	return bound < FLT_MAX ? bound : FLT_MAX;
}

/*
 * node_limits --- what the bounds of a lane are at most, when something below
 * may be in range
 */
static inline void
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

/* is nothing asked of lower[0..2] and upper[3..5]?  So it is for overlap. */
static inline bool
range_is_half(const BoxRange *range)
{
	bool is_half = true;

	for (int d = 0; d < 3; d++)
		is_half &= range->lower[d] == -INFINITY && range->upper[d + 3] == INFINITY;
	return is_half;
}

/* far enough out for all that a float may have been rounded from */
#define BVH_ROUNDED  0x1p-22
#define BVH_UNDERRUN 0x1p-140

/* an offset from the origin that overflowed, a little less far out */
#define BVH_OVERFLOW 0x1.fffffp1023

/*
 * node_box --- a box around all that is below a lane
 *
 * When x was rounded to a bound, (x - origin) * scale is at least the float
 * below that, which is more than the number here by more than what the steps
 * of double could have lost; unless x - origin was too large for a double, so that
 * the bound says no more than that.
 */
static inline void
node_box(const BvhTree *tree, const BvhNode *node, int lane, Box3 *box)
{
	for (int d = 0; d < 3; d++)
	{
		double lo = node->bound[d][lane];
		double neg_hi = node->bound[d + 3][lane];
		double hi;

		lo = lo - fabs(lo) * BVH_ROUNDED - BVH_UNDERRUN;
		neg_hi = neg_hi - fabs(neg_hi) * BVH_ROUNDED - BVH_UNDERRUN;
		lo = lo * tree->unscale;
		neg_hi = neg_hi * tree->unscale;
		lo = tree->origin[d] + (lo < BVH_OVERFLOW ? lo : BVH_OVERFLOW);
		hi = tree->origin[d] - (neg_hi < BVH_OVERFLOW ? neg_hi : BVH_OVERFLOW);
		/* an infinity at the wrong end is but a sum that was too large */
		box->lo[d] = lo < DBL_MAX ? lo : DBL_MAX;
		box->hi[d] = hi > -DBL_MAX ? hi : -DBL_MAX;
	}
}

static inline void
block_box(const BvhBlock *block, int place, Box3 *box)
{
	for (int d = 0; d < 3; d++)
	{
		box->lo[d] = block->bound[d][place];
		box->hi[d] = block->bound[d + 3][place];
	}
}

#endif /* BVH_TREE_NODE_H */
