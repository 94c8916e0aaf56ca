/*-------------------------------------------------------------------------
 *
 * kernels_tree_neon.c
 *	  The walks through the tree for NEON.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/tree_kernels.h"

#if defined(__aarch64__)

#include <arm_neon.h>

#define TREE_TARGET
#define TREE_TABLE bvh_tree_kernels_neon

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

/* a bit for each lane that is all ones */
static inline uint32_t
mask_of(uint32x4_t low, uint32x4_t high)
{
	const uint32x4_t bit = {1, 2, 4, 8};

	return vaddvq_u32(vandq_u32(low, bit)) | vaddvq_u32(vandq_u32(high, bit)) << 4;
}

/* comparisons here and below are false for NaN, as in C */
static inline uint32_t
node_hits(const BvhNode *node, const NodeProbe *probe)
{
	uint32x4_t hit[2] = {vdupq_n_u32(~0u), vdupq_n_u32(~0u)};

	for (int k = 0; k < 6; k++)
	{
		float32x4_t limit = vdupq_n_f32(probe->limit[k]);

		for (int part = 0; part < 2; part++)
			hit[part] = vandq_u32(hit[part],
								  vcleq_f32(vld1q_f32(&node->bound[k][4 * part]), limit));
	}
	return mask_of(hit[0], hit[1]);
}

static inline uint32_t
node_hits_lane(const BvhNode *node, const BvhNode *other, int lane)
{
	NodeProbe probe;

	for (int k = 0; k < 6; k++)
		probe.limit[k] = -other->bound[(k + 3) % 6][lane];
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

/* a bit for each of the two boxes that is all ones, for the pair at place 2 * part */
static inline uint32_t
pair_mask(uint64x2_t hit, int part)
{
	const uint64x2_t bit = {1, 2};

	return (uint32_t) vaddvq_u64(vandq_u64(hit, bit)) << 2 * part;
}

static inline uint32_t
block_hits(const BvhBlock *block, const RangeProbe *probe, bool is_half)
{
	const BoxRange *range = probe->range;
	uint32_t mask = 0;

	for (int part = 0; part < 4; part++)
	{
		uint64x2_t hit = vdupq_n_u64(~UINT64_C(0));

		for (int d = 0; d < 3; d++)
		{
			float64x2_t lo = vld1q_f64(&block->bound[d][2 * part]);
			float64x2_t hi = vld1q_f64(&block->bound[d + 3][2 * part]);

			hit = vandq_u64(hit, vcleq_f64(lo, vdupq_n_f64(range->upper[d])));
			hit = vandq_u64(hit, vcleq_f64(vdupq_n_f64(range->lower[d + 3]), hi));
			if (is_half)
				continue;
			hit = vandq_u64(hit, vcleq_f64(vdupq_n_f64(range->lower[d]), lo));
			hit = vandq_u64(hit, vcleq_f64(hi, vdupq_n_f64(range->upper[d + 3])));
		}
		mask |= pair_mask(hit, part);
	}
	return mask;
}

static inline __attribute__((always_inline)) uint32_t
matches(const Box3 *box, const BvhBlock *b, BvhOp op)
{
	uint32_t mask = 0;

	for (int part = 0; part < 4; part++)
	{
		uint64x2_t hit = vdupq_n_u64(~UINT64_C(0));

		for (int d = 0; d < 3; d++)
		{
			float64x2_t a_lo = vdupq_n_f64(box->lo[d]);
			float64x2_t a_hi = vdupq_n_f64(box->hi[d]);
			float64x2_t lo = vld1q_f64(&b->bound[d][2 * part]);
			float64x2_t hi = vld1q_f64(&b->bound[d + 3][2 * part]);

			switch (op)
			{
				case BVH_OVERLAPS:
					hit = vandq_u64(hit, vcleq_f64(lo, a_hi));
					hit = vandq_u64(hit, vcleq_f64(a_lo, hi));
					break;
				case BVH_OVERLAPS_STRICTLY:
					hit = vandq_u64(hit, vcltq_f64(lo, a_hi));
					hit = vandq_u64(hit, vcltq_f64(a_lo, hi));
					break;
				case BVH_CONTAINS:
					hit = vandq_u64(hit, vcleq_f64(a_lo, lo));
					hit = vandq_u64(hit, vcleq_f64(hi, a_hi));
					break;
				case BVH_CONTAINED_BY:
					hit = vandq_u64(hit, vcleq_f64(lo, a_lo));
					hit = vandq_u64(hit, vcleq_f64(a_hi, hi));
					break;
				default:
					hit = vandq_u64(hit, vceqq_f64(lo, a_lo));
					hit = vandq_u64(hit, vceqq_f64(hi, a_hi));
					break;
			}
		}
		mask |= pair_mask(hit, part);
	}
	return mask;
}

static inline uint32_t
block_overlaps(const BvhBlock *block, const Box3 *box)
{
	return matches(box, block, BVH_OVERLAPS);
}

static inline __attribute__((always_inline)) uint32_t
block_matches(const BvhBlock *a, int place, const BvhBlock *b, BvhOp op)
{
	Box3 box;

	block_box(a, place, &box);
	return matches(&box, b, op);
}

/* ---------------------------------------------------------------- distances */

/* the greater one; acc when x is NaN: Infinity - Infinity counts as no gap */
static inline float64x2_t
max_of(float64x2_t x, float64x2_t acc)
{
	return vbslq_f64(vcgtq_f64(x, acc), x, acc);
}

/*
 * The steps of box3_distance(): each gap, then the squares in the order x, y,
 * z.  Returns the boxes for which it would go its careful way.
 */
static inline uint32_t
distances(const float64x2_t lo[3], const float64x2_t hi[3], const Box3 *query,
		  double *out, int part)
{
	float64x2_t sum = vdupq_n_f64(0.0);
	uint64x2_t any = vdupq_n_u64(0);
	uint64x2_t careful;

	for (int d = 0; d < 3; d++)
	{
		float64x2_t above = vsubq_f64(lo[d], vdupq_n_f64(query->hi[d]));
		float64x2_t below = vsubq_f64(vdupq_n_f64(query->lo[d]), hi[d]);
		float64x2_t gap = max_of(below, max_of(above, vdupq_n_f64(0.0)));

		any = vorrq_u64(any, vcgtq_f64(gap, vdupq_n_f64(0.0)));
		/* 0 + x is x for the first */
		sum = vaddq_f64(sum, vmulq_f64(gap, gap));
	}
	vst1q_f64(&out[2 * part], vsqrtq_f64(sum));
	careful = vorrq_u64(vcltq_f64(sum, vdupq_n_f64(BOX3_LEAST_SQUARE)),
						vcgtq_f64(sum, vdupq_n_f64(BOX3_MOST_SQUARE)));
	return pair_mask(vandq_u64(careful, any), part);
}

/* further out than the bounds were rounded, as node_box() has it; not yet placed */
static inline float64x2_t
unrounded(float64x2_t bound)
{
	float64x2_t size = vmulq_f64(vabsq_f64(bound), vdupq_n_f64(BVH_ROUNDED));

	return vsubq_f64(vsubq_f64(bound, size), vdupq_n_f64(BVH_UNDERRUN));
}

/* from the origin, or as far as is known of what overflowed */
static inline float64x2_t
placed(float64x2_t bound, float64x2_t unscale)
{
	return vminnmq_f64(vmulq_f64(bound, unscale), vdupq_n_f64(BVH_OVERFLOW));
}

static inline void
node_distances(const BvhTree *tree, const BvhNode *node, const Box3 *query, double out[8])
{
	uint32_t careful = 0;

	for (int part = 0; part < 4; part++)
	{
		float64x2_t lo[3];
		float64x2_t hi[3];

		for (int d = 0; d < 3; d++)
		{
			float64x2_t unscale = vdupq_n_f64(tree->unscale);
			float64x2_t origin = vdupq_n_f64(tree->origin[d]);

			lo[d] = unrounded(vcvt_f64_f32(vld1_f32(&node->bound[d][2 * part])));
			lo[d] = vaddq_f64(origin, placed(lo[d], unscale));
			lo[d] = vminnmq_f64(lo[d], vdupq_n_f64(DBL_MAX));
			hi[d] = unrounded(vcvt_f64_f32(vld1_f32(&node->bound[d + 3][2 * part])));
			hi[d] = vsubq_f64(origin, placed(hi[d], unscale));
			hi[d] = vmaxnmq_f64(hi[d], vdupq_n_f64(-DBL_MAX));
		}
		careful |= distances(lo, hi, query, out, part);
	}
	node_distances_of(tree, node, careful, query, out);
}

static inline void
block_distances(const BvhBlock *block, const Box3 *query, double out[8])
{
	uint32_t careful = 0;

	for (int part = 0; part < 4; part++)
	{
		float64x2_t lo[3];
		float64x2_t hi[3];

		for (int d = 0; d < 3; d++)
		{
			lo[d] = vld1q_f64(&block->bound[d][2 * part]);
			hi[d] = vld1q_f64(&block->bound[d + 3][2 * part]);
		}
		careful |= distances(lo, hi, query, out, part);
	}
	block_distances_of(block, careful, query, out);
}

/* ---------------------------------------------------------------- build */

typedef float32x4x2_t Vec8;

static inline Vec8
vec_load(const float *from)
{
	return (Vec8){{vld1q_f32(from), vld1q_f32(from + 4)}};
}

static inline void
vec_store(float *to, Vec8 v)
{
	vst1q_f32(to, v.val[0]);
	vst1q_f32(to + 4, v.val[1]);
}

/* as the others: b where they are equal, or either is NaN */
static inline Vec8
vec_min(Vec8 a, Vec8 b)
{
	for (int i = 0; i < 2; i++)
		a.val[i] = vbslq_f32(vcltq_f32(a.val[i], b.val[i]), a.val[i], b.val[i]);
	return a;
}

/* the minimum if so, else acc */
static inline Vec8
vec_min_if(bool condition, Vec8 a, Vec8 acc)
{
	uint32x4_t so = vdupq_n_u32(0u - condition);

	for (int i = 0; i < 2; i++)
		acc.val[i] = vbslq_f32(vandq_u32(so, vcltq_f32(a.val[i], acc.val[i])),
							   a.val[i],
							   acc.val[i]);
	return acc;
}

/* centers, and negated centers, of a box */
static inline Vec8
vec_centers(Vec8 box)
{
	return (Vec8){{vsubq_f32(box.val[0], box.val[1]), vsubq_f32(box.val[1], box.val[0])}};
}

typedef struct MapProbe
{
	float32x4_t first;
	float32x4_t scale;
	float32x4_t last_bin;
} MapProbe;

static inline MapProbe
map_probe(const BvhBinMap *map)
{
	return (
		MapProbe){vld1q_f32(map->first), vld1q_f32(map->scale), vld1q_f32(map->last_bin)};
}

static inline void
vec_bins(Vec8 centers, const MapProbe *probe, int32_t bin[4])
{
	float32x4_t place = vmulq_f32(vsubq_f32(centers.val[0], probe->first), probe->scale);

	place = vmaxq_f32(place, vdupq_n_f32(0.0f));
	place = vminq_f32(place, probe->last_bin);
	vst1q_s32(bin, vcvtq_s32_f32(place));
}

#include "core/simd/tree_walk.h"

#endif
