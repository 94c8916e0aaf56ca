/*-------------------------------------------------------------------------
 *
 * tree_scalar.h
 *	  The tests of the tree in plain C: their meaning, and the fallback.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TREE_SCALAR_H
#define BVH_TREE_SCALAR_H

#include "core/simd/tree_kernels.h"

#define TREE_TARGET
#define TREE_TABLE bvh_tree_kernels_scalar

/* ---------------------------------------------------------------- nodes */

typedef struct NodeProbe
{
	float limit[6];
} NodeProbe;

static inline NodeProbe
node_probe(const float limit[6])
{
	NodeProbe probe;

	memcpy(probe.limit, limit, sizeof(probe.limit));
	return probe;
}

static inline uint32_t
node_hits(const BvhNode *node, const NodeProbe *probe)
{
	uint32_t mask = 0;

	for (int lane = 0; lane < BVH_WIDTH; lane++)
	{
		bool hit = true;

		for (int k = 0; k < 6; k++)
			hit &= node->bound[k][lane] <= probe->limit[k];
		mask |= (uint32_t) hit << lane;
	}
	return mask;
}

/* lanes of a node that overlap one lane of another */
static inline uint32_t
node_hits_lane(const BvhNode *node, const BvhNode *other, int lane)
{
	NodeProbe probe;

	for (int d = 0; d < 3; d++)
	{
		probe.limit[d] = -other->bound[d + 3][lane];
		probe.limit[d + 3] = -other->bound[d][lane];
	}
	return node_hits(node, &probe);
}

static inline uint64_t
node_pairs(const BvhNode *a, const BvhNode *b)
{
	uint64_t mask = 0;

	for (int i = 0; i < BVH_WIDTH; i++)
		mask |= (uint64_t) node_hits_lane(b, a, i) << 8 * i;
	return mask;
}

/* ---------------------------------------------------------------- blocks */

typedef struct RangeProbe
{
	const BoxRange *range;
} RangeProbe;

static inline RangeProbe
range_probe(const BoxRange *range)
{
	return (RangeProbe){range};
}

/* is_half: nothing is asked of lower[0..2] and upper[3..5] */
static inline uint32_t
block_hits(const BvhBlock *block, const RangeProbe *probe, bool is_half)
{
	uint32_t mask = 0;

	for (int place = 0; place < BVH_WIDTH; place++)
	{
		bool hit = true;

		for (int d = 0; d < 3; d++)
		{
			hit &= block->bound[d][place] <= probe->range->upper[d];
			hit &= probe->range->lower[d + 3] <= block->bound[d + 3][place];
			if (is_half)
				continue;
			hit &= probe->range->lower[d] <= block->bound[d][place];
			hit &= block->bound[d + 3][place] <= probe->range->upper[d + 3];
		}
		mask |= (uint32_t) hit << place;
	}
	return mask;
}

/* which boxes of a block overlap another box? */
static inline uint32_t
block_overlaps(const BvhBlock *block, const Box3 *box)
{
	uint32_t mask = 0;

	for (int place = 0; place < BVH_WIDTH; place++)
	{
		Box3 own;

		block_box(block, place, &own);
		mask |= (uint32_t) box3_overlaps(&own, box) << place;
	}
	return mask;
}

/* boxes j of b with "box of a, op, box j of b"; op is a constant at each call */
static inline uint32_t
block_matches(const BvhBlock *a, int place, const BvhBlock *b, BvhOp op)
{
	uint32_t mask = 0;
	Box3 box;

	block_box(a, place, &box);
	for (int j = 0; j < BVH_WIDTH; j++)
	{
		Box3 other;

		block_box(b, j, &other);
		mask |= (uint32_t) box3_matches(&box, op, &other) << j;
	}
	return mask;
}

/* ---------------------------------------------------------------- distances */

static inline void
node_distances(const BvhTree *tree, const BvhNode *node, const Box3 *query, double out[8])
{
	node_distances_of(tree, node, 0xFF, query, out);
}

static inline void
block_distances(const BvhBlock *block, const Box3 *query, double out[8])
{
	block_distances_of(block, 0xFF, query, out);
}

/* ---------------------------------------------------------------- build */

typedef struct Vec8
{
	float lane[8];
} Vec8;

static inline Vec8
vec_load(const float *from)
{
	Vec8 v;

	memcpy(&v, from, sizeof(v));
	return v;
}

static inline void
vec_store(float *to, Vec8 v)
{
	memcpy(to, &v, sizeof(v));
}

static inline Vec8
vec_min(Vec8 a, Vec8 b)
{
	for (int i = 0; i < 8; i++)
		a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
	return a;
}

/* the minimum if so, else acc */
static inline Vec8
vec_min_if(bool condition, Vec8 a, Vec8 acc)
{
	return condition ? vec_min(a, acc) : acc;
}

/* centers, and negated centers, of a box */
static inline Vec8
vec_centers(Vec8 box)
{
	Vec8 v;

	for (int d = 0; d < 4; d++)
	{
		v.lane[d] = box.lane[d] - box.lane[d + 4];
		v.lane[d + 4] = -v.lane[d];
	}
	return v;
}

typedef struct MapProbe
{
	BvhBinMap map;
} MapProbe;

static inline MapProbe
map_probe(const BvhBinMap *map)
{
	return (MapProbe){*map};
}

static inline void
vec_bins(Vec8 centers, const MapProbe *probe, int32_t bin[4])
{
	for (int d = 0; d < 3; d++)
	{
		float place = (centers.lane[d] - probe->map.first[d]) * probe->map.scale[d];

		place = place > 0.0f ? place : 0.0f;
		place = place < probe->map.last_bin[d] ? place : probe->map.last_bin[d];
		bin[d] = (int32_t) place;
	}
}

#endif /* BVH_TREE_SCALAR_H */
