/*-------------------------------------------------------------------------
 *
 * kernels_tree_avx512.c
 *	  The walks through the tree for AVX-512 (F).
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/tree_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TREE_TARGET BVH_TARGET("avx512f")
#define TREE_TABLE  bvh_tree_kernels_avx512

/* ---------------------------------------------------------------- nodes */

/* two lanes of bounds to a register; the upper half is the second of them */
typedef struct NodeProbe
{
	__m512 limit[3];
} NodeProbe;

TREE_TARGET
static inline __m512
twice(__m256 lower, __m256 upper)
{
	__m512d both = _mm512_castpd256_pd512(_mm256_castps_pd(lower));

	return _mm512_castpd_ps(_mm512_insertf64x4(both, _mm256_castps_pd(upper), 1));
}

TREE_TARGET
static inline NodeProbe
node_probe(const float limit[6])
{
	NodeProbe probe;

	for (int k = 0; k < 3; k++)
		probe.limit[k] = twice(_mm256_set1_ps(limit[2 * k]),
							   _mm256_set1_ps(limit[2 * k + 1]));
	return probe;
}

/* ordered comparisons here and below: NaN misses, as in C */
TREE_TARGET
static inline uint32_t
node_hits(const BvhNode *node, const NodeProbe *probe)
{
	uint32_t hit = 0xFFFF;

	for (int k = 0; k < 3; k++)
		hit &= _mm512_cmp_ps_mask(_mm512_load_ps(node->bound[2 * k]),
								  probe->limit[k],
								  _CMP_LE_OQ);
	return hit & hit >> 8;
}

TREE_TARGET
static inline uint64_t
node_pairs(const BvhNode *a, const BvhNode *b)
{
	const __m512i sign = _mm512_set1_epi32(INT32_MIN);
	__m512i which = _mm512_castps_si512(
		twice(_mm256_setzero_ps(), _mm256_castsi256_ps(_mm256_set1_epi32(1))));
	__m512 negated[6];
	uint64_t mask = 0;

	for (int k = 0; k < 6; k++)
	{
		__m512d both = _mm512_broadcast_f64x4(
			_mm256_castps_pd(_mm256_load_ps(b->bound[(k + 3) % 6])));

		negated[k] = _mm512_castsi512_ps(
			_mm512_xor_si512(_mm512_castpd_si512(both), sign));
	}
	/* two lanes of a at once */
	for (int i = 0; i < BVH_WIDTH; i += 2)
	{
		uint64_t hit = 0xFFFF;

		for (int k = 0; k < 6; k++)
		{
			__m512 lanes = _mm512_castps256_ps512(_mm256_load_ps(a->bound[k]));

			hit &= _mm512_cmp_ps_mask(_mm512_permutexvar_ps(which, lanes),
									  negated[k],
									  _CMP_LE_OQ);
		}
		mask |= hit << 8 * i;
		which = _mm512_add_epi32(which, _mm512_set1_epi32(2));
	}
	return mask;
}

#define TREE_PUSHES_CHILDREN

/* writes all 16 */
TREE_TARGET
static inline int
push_children(uint32_t *stack, const BvhNode *node, uint32_t mask)
{
	__m512i child = _mm512_castsi256_si512(
		_mm256_load_si256((const __m256i *) node->child));

	_mm512_storeu_si512(stack, _mm512_maskz_compress_epi32((__mmask16) mask, child));
	return __builtin_popcount(mask);
}

/* ---------------------------------------------------------------- blocks */

typedef struct RangeProbe
{
	__m512d lower[6];
	__m512d upper[6];
} RangeProbe;

TREE_TARGET
static inline RangeProbe
range_probe(const BoxRange *range)
{
	RangeProbe probe;

	for (int k = 0; k < 6; k++)
	{
		probe.lower[k] = _mm512_set1_pd(range->lower[k]);
		probe.upper[k] = _mm512_set1_pd(range->upper[k]);
	}
	return probe;
}

TREE_TARGET
static inline uint32_t
block_hits(const BvhBlock *block, const RangeProbe *probe, bool is_half)
{
	uint32_t hit = 0xFF;

	for (int d = 0; d < 3; d++)
	{
		__m512d lo = _mm512_load_pd(block->bound[d]);
		__m512d hi = _mm512_load_pd(block->bound[d + 3]);

		hit &= _mm512_cmp_pd_mask(lo, probe->upper[d], _CMP_LE_OQ);
		hit &= _mm512_cmp_pd_mask(probe->lower[d + 3], hi, _CMP_LE_OQ);
		if (is_half)
			continue;
		hit &= _mm512_cmp_pd_mask(probe->lower[d], lo, _CMP_LE_OQ);
		hit &= _mm512_cmp_pd_mask(hi, probe->upper[d + 3], _CMP_LE_OQ);
	}
	return hit;
}

TREE_TARGET
static inline uint32_t
block_overlaps(const BvhBlock *block, const Box3 *box)
{
	uint32_t hit = 0xFF;

	for (int d = 0; d < 3; d++)
	{
		hit &= _mm512_cmp_pd_mask(_mm512_load_pd(block->bound[d]),
								  _mm512_set1_pd(box->hi[d]),
								  _CMP_LE_OQ);
		hit &= _mm512_cmp_pd_mask(_mm512_set1_pd(box->lo[d]),
								  _mm512_load_pd(block->bound[d + 3]),
								  _CMP_LE_OQ);
	}
	return hit;
}

TREE_TARGET
static inline __attribute__((always_inline)) uint32_t
block_matches(const BvhBlock *a, int place, const BvhBlock *b, BvhOp op)
{
	uint32_t hit = 0xFF;

	for (int d = 0; d < 3; d++)
	{
		__m512d a_lo = _mm512_set1_pd(a->bound[d][place]);
		__m512d a_hi = _mm512_set1_pd(a->bound[d + 3][place]);
		__m512d lo = _mm512_load_pd(b->bound[d]);
		__m512d hi = _mm512_load_pd(b->bound[d + 3]);

		switch (op)
		{
			case BVH_OVERLAPS:
				hit &= _mm512_cmp_pd_mask(lo, a_hi, _CMP_LE_OQ);
				hit &= _mm512_cmp_pd_mask(a_lo, hi, _CMP_LE_OQ);
				break;
			case BVH_OVERLAPS_STRICTLY:
				hit &= _mm512_cmp_pd_mask(lo, a_hi, _CMP_LT_OQ);
				hit &= _mm512_cmp_pd_mask(a_lo, hi, _CMP_LT_OQ);
				break;
			case BVH_CONTAINS:
				hit &= _mm512_cmp_pd_mask(a_lo, lo, _CMP_LE_OQ);
				hit &= _mm512_cmp_pd_mask(hi, a_hi, _CMP_LE_OQ);
				break;
			case BVH_CONTAINED_BY:
				hit &= _mm512_cmp_pd_mask(lo, a_lo, _CMP_LE_OQ);
				hit &= _mm512_cmp_pd_mask(a_hi, hi, _CMP_LE_OQ);
				break;
			default:
				hit &= _mm512_cmp_pd_mask(lo, a_lo, _CMP_EQ_OQ);
				hit &= _mm512_cmp_pd_mask(hi, a_hi, _CMP_EQ_OQ);
				break;
		}
	}
	return hit;
}

/* ---------------------------------------------------------------- distances */

/*
 * The steps of box3_distance(): each gap, where Infinity - Infinity counts as
 * none, then the squares in the order x, y, z.  Returns the boxes for which it
 * would go its careful way.
 */
TREE_TARGET
static inline uint32_t
distances(const __m512d lo[3], const __m512d hi[3], const Box3 *query, double out[8])
{
	__m512d sum = _mm512_setzero_pd();
	uint32_t any = 0;
	uint32_t careful;

	for (int d = 0; d < 3; d++)
	{
		__m512d above = _mm512_sub_pd(lo[d], _mm512_set1_pd(query->hi[d]));
		__m512d below = _mm512_sub_pd(_mm512_set1_pd(query->lo[d]), hi[d]);
		__m512d gap;

		/* maxpd gives its second operand when either is NaN */
		gap = _mm512_max_pd(above, _mm512_setzero_pd());
		gap = _mm512_max_pd(below, gap);
		any |= _mm512_cmp_pd_mask(gap, _mm512_setzero_pd(), _CMP_GT_OQ);
		/* 0 + x is x for the first */
		sum = _mm512_add_pd(sum, _mm512_mul_pd(gap, gap));
	}
	_mm512_storeu_pd(out, _mm512_sqrt_pd(sum));
	careful = _mm512_cmp_pd_mask(sum, _mm512_set1_pd(BOX3_LEAST_SQUARE), _CMP_LT_OQ);
	careful |= _mm512_cmp_pd_mask(sum, _mm512_set1_pd(BOX3_MOST_SQUARE), _CMP_GT_OQ);
	return careful & any;
}

/* further out than the bounds were rounded, as node_box() has it; not yet placed */
TREE_TARGET
static inline __m512d
unrounded(__m512d bound)
{
	__m512d size = _mm512_abs_pd(bound);

	size = _mm512_mul_pd(size, _mm512_set1_pd(BVH_ROUNDED));
	bound = _mm512_sub_pd(bound, size);
	return _mm512_sub_pd(bound, _mm512_set1_pd(BVH_UNDERRUN));
}

/* from the origin, or as far as is known of what overflowed */
TREE_TARGET
static inline __m512d
placed(__m512d bound, __m512d unscale)
{
	return _mm512_min_pd(_mm512_mul_pd(bound, unscale), _mm512_set1_pd(BVH_OVERFLOW));
}

TREE_TARGET
static inline void
node_distances(const BvhTree *tree, const BvhNode *node, const Box3 *query, double out[8])
{
	__m512d lo[3];
	__m512d hi[3];
	uint32_t careful;

	for (int d = 0; d < 3; d++)
	{
		__m512d unscale = _mm512_set1_pd(tree->unscale);
		__m512d origin = _mm512_set1_pd(tree->origin[d]);

		lo[d] = unrounded(_mm512_cvtps_pd(_mm256_load_ps(node->bound[d])));
		lo[d] = _mm512_add_pd(origin, placed(lo[d], unscale));
		lo[d] = _mm512_min_pd(lo[d], _mm512_set1_pd(DBL_MAX));
		hi[d] = unrounded(_mm512_cvtps_pd(_mm256_load_ps(node->bound[d + 3])));
		hi[d] = _mm512_sub_pd(origin, placed(hi[d], unscale));
		hi[d] = _mm512_max_pd(hi[d], _mm512_set1_pd(-DBL_MAX));
	}
	careful = distances(lo, hi, query, out);
	node_distances_of(tree, node, careful, query, out);
}

TREE_TARGET
static inline void
block_distances(const BvhBlock *block, const Box3 *query, double out[8])
{
	__m512d lo[3];
	__m512d hi[3];
	uint32_t careful;

	for (int d = 0; d < 3; d++)
	{
		lo[d] = _mm512_load_pd(block->bound[d]);
		hi[d] = _mm512_load_pd(block->bound[d + 3]);
	}
	careful = distances(lo, hi, query, out);
	block_distances_of(block, careful, query, out);
}

/* ---------------------------------------------------------------- build */

#include "core/simd/tree_avx.h"

#define TREE_SORTS_FEW

/* the rank of each key: those less, and those equal before it */
TREE_TARGET
static void
sort_few(const float key[BVH_FEW], int n, uint8_t sorted[BVH_FEW])
{
	for (int i = 0; i < n; i++)
	{
		__m512 x = _mm512_set1_ps(key[i]);
		uint64_t less = 0;
		uint64_t equal = 0;

		for (int j = 0; j < n; j += 16)
		{
			__m512 keys = _mm512_loadu_ps(&key[j]);

			less |= (uint64_t) _mm512_cmp_ps_mask(keys, x, _CMP_LT_OQ) << j;
			equal |= (uint64_t) _mm512_cmp_ps_mask(keys, x, _CMP_EQ_OQ) << j;
		}
		less |= equal & ((UINT64_C(1) << i) - 1);
		/* what lies behind the keys does not count */
		less &= ~UINT64_C(0) >> (BVH_FEW - n);
		sorted[__builtin_popcountll(less)] = (uint8_t) i;
	}
}

#include "core/simd/tree_walk.h"

#endif
