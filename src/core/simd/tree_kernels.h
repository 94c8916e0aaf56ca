/*-------------------------------------------------------------------------
 *
 * tree_kernels.h
 *	  The inner loops of the tree in memory, for each instruction set.
 *
 * The walks are made from simd/tree_walk.h once for each, so that the tests of
 * nodes and blocks are inlined into them.  The tests alone are here for those
 * who test them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TREE_KERNELS_H
#define BVH_TREE_KERNELS_H

#include "core/tree_node.h"

#define BVH_BINS 32

/*
 * A box during the build, 32 bytes: in float, in a frame that spans about 1.
 * Upper bounds are negated, so that one minimum of eight lanes is the union;
 * what the lanes between hold then is no matter.
 */
typedef union BvhPrim
{
	float lane[8];
	struct
	{
		float lo[3];
		uint32_t item;
		float neg_hi[3];
		uint32_t spare;
	};
} BvhPrim;

/* what a cut is chosen from; centers are lo + hi, twice the middle */
typedef struct BvhPrimBounds
{
	float box[8];    /* as BvhPrim */
	float center[8]; /* least of the centers, and of the negated ones */
} BvhPrimBounds;

/*
 * The bin of a center: (center - first) * scale, cut to 0 .. nbins - 1 and
 * truncated; the same expression decides costs and sides.
 */
typedef struct BvhBinMap
{
	float first[4]; /* the last is 0 */
	float scale[4]; /* 0 for an axis that cannot be cut */
	float last_bin[4];
} BvhBinMap;

typedef struct BvhBins
{
	float box[3][BVH_BINS][8];
	uint32_t n[3][BVH_BINS];
} BvhBins;

/* a partition under way: prims[0 .. left) and prims[right .. n) are done */
typedef struct BvhPartition
{
	BvhPrim *prims;
	size_t left;
	size_t right;
	int axis;
	float cut; /* 1 to the last bin; bins below go to the left */
	const BvhBinMap *map;
	BvhPrimBounds bounds[2];
} BvhPartition;

/* where every cut is tried, for up to so many boxes */
#define BVH_FEW 64

typedef struct BvhTreeKernels
{
	/* lanes whose bounds are all at most the limits; live or not */
	uint32_t (*node_hits)(const BvhNode *node, const float limit[6]);

	/* boxes in range, live or not; box3_in_range() is the definition */
	uint32_t (*block_hits)(const BvhBlock *block, const BoxRange *range);

	/* bit 8 * i + j: lane i of a overlaps lane j of b */
	uint64_t (*node_pairs)(const BvhNode *a, const BvhNode *b);

	/* bit 8 * i + j: box i of a, op, box j of b; box3_matches() is the definition */
	uint64_t (*block_pairs)(const BvhBlock *a, const BvhBlock *b, BvhOp op);

	/* box3_distance() of each lane, as node_box() has it, of each box, to the query */
	void (*node_distances)(const BvhTree *tree, const BvhNode *node, const Box3 *query,
						   double out[8]);
	void (*block_distances)(const BvhBlock *block, const Box3 *query, double out[8]);

	/*
	 * Lanes of a node, of those in mask, that something below may match; those of
	 * shape_may_match_below(), and a few more.  Boxes that match: shape_matches()
	 * is the definition.
	 */
	uint32_t (*node_shape)(const BvhTree *tree, const BvhNode *node, uint32_t mask,
						   const BvhShapeProbe *probe);
	uint32_t (*block_shape)(const BvhBlock *block, uint32_t mask,
							const BvhShapeProbe *probe);

	/*
	 * ray3_entry() of each lane, or a little less; Infinity only if the ray misses
	 * it.  And of each box, exactly.
	 */
	void (*node_entries)(const BvhTree *tree, const BvhNode *node, const RayProbe *probe,
						 double out[8]);
	void (*block_entries)(const BvhBlock *block, uint32_t mask, const Ray3 *ray,
						  const RayProbe *probe, double out[8]);

	/* box3_taxicab() or box3_chebyshev() of each lane, as node_box() has it, of each box
	 */
	void (*node_gaps)(const BvhTree *tree, const BvhNode *node, const BvhShape *order,
					  double out[8]);
	void (*block_gaps)(const BvhBlock *block, const BvhShape *order, double out[8]);

	/* the walks; see tree_query.c and tree_pairs.c */
	size_t (*range_next)(BvhRangeQuery *query, uint64_t *ids, size_t room);
	size_t (*filter_next)(BvhRangeQuery *query, uint64_t *ids, size_t room);
	size_t (*pairs_next)(BvhPairs *pairs, BvhPair *out, size_t room);

	/*
	 * The build: include prims in bounds and in bins; take about most of them to
	 * a side; the places of up to BVH_FEW keys in ascending order, equal ones as
	 * they were.
	 */
	void (*measure)(const BvhPrim *prims, size_t n, BvhPrimBounds *bounds);
	void (*bin)(const BvhPrim *prims, size_t n, const BvhBinMap *map, BvhBins *bins);
	void (*partition)(BvhPartition *partition, size_t most);
	void (*sort)(const float key[BVH_FEW], int n, uint8_t sorted[BVH_FEW]);
} BvhTreeKernels;

extern const BvhTreeKernels bvh_tree_kernels_scalar;
#if defined(__x86_64__)
extern const BvhTreeKernels bvh_tree_kernels_avx2;
extern const BvhTreeKernels bvh_tree_kernels_avx512;
#elif defined(__aarch64__)
extern const BvhTreeKernels bvh_tree_kernels_neon;
#endif

/* steps between two ticks: each is some 10 ns, and some of them miss the cache */
#define BVH_TICK_STEPS 16384
/* likewise, where each may take a look at eight boxes from 32 planes, without rounding */
#define BVH_SHAPE_TICK_STEPS 256

/* distances of the lanes in mask alone: of those that a vector of doubles cannot hold */
static inline void
node_distances_of(const BvhTree *tree, const BvhNode *node, uint32_t mask,
				  const Box3 *query, double out[8])
{
	for (; mask != 0; mask &= mask - 1)
	{
		int lane = __builtin_ctz(mask);
		Box3 box;

		node_box(tree, node, lane, &box);
		out[lane] = box3_distance(&box, query);
	}
}

static inline void
block_distances_of(const BvhBlock *block, uint32_t mask, const Box3 *query, double out[8])
{
	for (; mask != 0; mask &= mask - 1)
	{
		int place = __builtin_ctz(mask);
		Box3 box;

		block_box(block, place, &box);
		out[place] = box3_distance(&box, query);
	}
}

#endif /* BVH_TREE_KERNELS_H */
