/*-------------------------------------------------------------------------
 *
 * kernels_tree_avx2.c
 *	  The walks through the tree for AVX2.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/tree_kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TREE_TARGET BVH_TARGET("avx2")
#define TREE_TABLE  bvh_tree_kernels_avx2

/* ---------------------------------------------------------------- nodes */

typedef struct NodeProbe
{
	__m256 limit[6];
} NodeProbe;

TREE_TARGET
static inline NodeProbe
node_probe(const float limit[6])
{
	NodeProbe probe;

	for (int k = 0; k < 6; k++)
		probe.limit[k] = _mm256_set1_ps(limit[k]);
	return probe;
}

/* ordered comparisons here and below: NaN misses, as in C */
TREE_TARGET
static inline uint32_t
node_hits(const BvhNode *node, const NodeProbe *probe)
{
	__m256 hit = _mm256_cmp_ps(_mm256_load_ps(node->bound[0]),
							   probe->limit[0],
							   _CMP_LE_OQ);

	for (int k = 1; k < 6; k++)
		hit = _mm256_and_ps(hit,
							_mm256_cmp_ps(_mm256_load_ps(node->bound[k]),
										  probe->limit[k],
										  _CMP_LE_OQ));
	return (uint32_t) _mm256_movemask_ps(hit);
}

TREE_TARGET
static inline uint64_t
node_pairs(const BvhNode *a, const BvhNode *b)
{
	const __m256 sign = _mm256_set1_ps(-0.0f);
	NodeProbe negated;
	uint64_t mask = 0;

	for (int k = 0; k < 6; k++)
		negated.limit[k] = _mm256_xor_ps(_mm256_load_ps(b->bound[(k + 3) % 6]), sign);
	for (int i = 0; i < BVH_WIDTH; i++)
	{
		__m256 hit = _mm256_cmp_ps(_mm256_set1_ps(a->bound[0][i]),
								   negated.limit[0],
								   _CMP_LE_OQ);

		for (int k = 1; k < 6; k++)
			hit = _mm256_and_ps(hit,
								_mm256_cmp_ps(_mm256_set1_ps(a->bound[k][i]),
											  negated.limit[k],
											  _CMP_LE_OQ));
		mask |= (uint64_t) (uint32_t) _mm256_movemask_ps(hit) << 8 * i;
	}
	return mask;
}

/* ---------------------------------------------------------------- blocks */

typedef struct RangeProbe
{
	__m256d lower[6];
	__m256d upper[6];
} RangeProbe;

TREE_TARGET
static inline RangeProbe
range_probe(const BoxRange *range)
{
	RangeProbe probe;

	for (int k = 0; k < 6; k++)
	{
		probe.lower[k] = _mm256_set1_pd(range->lower[k]);
		probe.upper[k] = _mm256_set1_pd(range->upper[k]);
	}
	return probe;
}

TREE_TARGET
static inline uint32_t
block_hits(const BvhBlock *block, const RangeProbe *probe, bool is_half)
{
	uint32_t mask = 0;

	for (int part = 0; part < 2; part++)
	{
		__m256d hit = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));

		for (int d = 0; d < 3; d++)
		{
			__m256d lo = _mm256_load_pd(&block->bound[d][4 * part]);
			__m256d hi = _mm256_load_pd(&block->bound[d + 3][4 * part]);

			hit = _mm256_and_pd(hit, _mm256_cmp_pd(lo, probe->upper[d], _CMP_LE_OQ));
			hit = _mm256_and_pd(hit, _mm256_cmp_pd(probe->lower[d + 3], hi, _CMP_LE_OQ));
			if (is_half)
				continue;
			hit = _mm256_and_pd(hit, _mm256_cmp_pd(probe->lower[d], lo, _CMP_LE_OQ));
			hit = _mm256_and_pd(hit, _mm256_cmp_pd(hi, probe->upper[d + 3], _CMP_LE_OQ));
		}
		mask |= (uint32_t) _mm256_movemask_pd(hit) << 4 * part;
	}
	return mask;
}

TREE_TARGET
static inline uint32_t
block_overlaps(const BvhBlock *block, const Box3 *box)
{
	RangeProbe probe;

	for (int d = 0; d < 3; d++)
	{
		probe.upper[d] = _mm256_set1_pd(box->hi[d]);
		probe.lower[d + 3] = _mm256_set1_pd(box->lo[d]);
	}
	return block_hits(block, &probe, true);
}

TREE_TARGET
static inline __attribute__((always_inline)) uint32_t
block_matches(const BvhBlock *a, int place, const BvhBlock *b, BvhOp op)
{
	uint32_t mask = 0;

	for (int part = 0; part < 2; part++)
	{
		__m256d hit = _mm256_castsi256_pd(_mm256_set1_epi64x(-1));

		for (int d = 0; d < 3; d++)
		{
			__m256d a_lo = _mm256_set1_pd(a->bound[d][place]);
			__m256d a_hi = _mm256_set1_pd(a->bound[d + 3][place]);
			__m256d lo = _mm256_load_pd(&b->bound[d][4 * part]);
			__m256d hi = _mm256_load_pd(&b->bound[d + 3][4 * part]);
			__m256d first;
			__m256d second;

			switch (op)
			{
				case BVH_OVERLAPS:
					first = _mm256_cmp_pd(lo, a_hi, _CMP_LE_OQ);
					second = _mm256_cmp_pd(a_lo, hi, _CMP_LE_OQ);
					break;
				case BVH_OVERLAPS_STRICTLY:
					first = _mm256_cmp_pd(lo, a_hi, _CMP_LT_OQ);
					second = _mm256_cmp_pd(a_lo, hi, _CMP_LT_OQ);
					break;
				case BVH_CONTAINS:
					first = _mm256_cmp_pd(a_lo, lo, _CMP_LE_OQ);
					second = _mm256_cmp_pd(hi, a_hi, _CMP_LE_OQ);
					break;
				case BVH_CONTAINED_BY:
					first = _mm256_cmp_pd(lo, a_lo, _CMP_LE_OQ);
					second = _mm256_cmp_pd(a_hi, hi, _CMP_LE_OQ);
					break;
				default:
					first = _mm256_cmp_pd(lo, a_lo, _CMP_EQ_OQ);
					second = _mm256_cmp_pd(hi, a_hi, _CMP_EQ_OQ);
					break;
			}
			hit = _mm256_and_pd(hit, _mm256_and_pd(first, second));
		}
		mask |= (uint32_t) _mm256_movemask_pd(hit) << 4 * part;
	}
	return mask;
}

/* ---------------------------------------------------------------- distances */

/*
 * The steps of box3_distance(): each gap, where Infinity - Infinity counts as
 * none, then the squares in the order x, y, z.  Returns the boxes for which it
 * would go its careful way.
 */
TREE_TARGET
static inline uint32_t
distances(const __m256d lo[3], const __m256d hi[3], const Box3 *query, double *out)
{
	__m256d sum = _mm256_setzero_pd();
	__m256d any = _mm256_setzero_pd();
	__m256d careful;

	for (int d = 0; d < 3; d++)
	{
		__m256d above = _mm256_sub_pd(lo[d], _mm256_set1_pd(query->hi[d]));
		__m256d below = _mm256_sub_pd(_mm256_set1_pd(query->lo[d]), hi[d]);
		__m256d gap;

		/* maxpd gives its second operand when either is NaN */
		gap = _mm256_max_pd(above, _mm256_setzero_pd());
		gap = _mm256_max_pd(below, gap);
		any = _mm256_or_pd(any, _mm256_cmp_pd(gap, _mm256_setzero_pd(), _CMP_GT_OQ));
		/* 0 + x is x for the first */
		sum = _mm256_add_pd(sum, _mm256_mul_pd(gap, gap));
	}
	_mm256_storeu_pd(out, _mm256_sqrt_pd(sum));
	careful =
		_mm256_or_pd(_mm256_cmp_pd(sum, _mm256_set1_pd(BOX3_LEAST_SQUARE), _CMP_LT_OQ),
					 _mm256_cmp_pd(sum, _mm256_set1_pd(BOX3_MOST_SQUARE), _CMP_GT_OQ));
	return (uint32_t) _mm256_movemask_pd(_mm256_and_pd(careful, any));
}

/* further out than the bounds were rounded, as node_box() has it; not yet placed */
TREE_TARGET
static inline __m256d
unrounded(__m256d bound)
{
	__m256d size = _mm256_andnot_pd(_mm256_set1_pd(-0.0), bound);

	size = _mm256_mul_pd(size, _mm256_set1_pd(BVH_ROUNDED));
	bound = _mm256_sub_pd(bound, size);
	return _mm256_sub_pd(bound, _mm256_set1_pd(BVH_UNDERRUN));
}

/* from the origin, or as far as is known of what overflowed */
TREE_TARGET
static inline __m256d
placed(__m256d bound, __m256d unscale)
{
	return _mm256_min_pd(_mm256_mul_pd(bound, unscale), _mm256_set1_pd(BVH_OVERFLOW));
}

TREE_TARGET
static inline void
node_distances(const BvhTree *tree, const BvhNode *node, const Box3 *query, double out[8])
{
	uint32_t careful = 0;

	for (int part = 0; part < 2; part++)
	{
		__m256d lo[3];
		__m256d hi[3];

		for (int d = 0; d < 3; d++)
		{
			__m256d unscale = _mm256_set1_pd(tree->unscale);
			__m256d origin = _mm256_set1_pd(tree->origin[d]);
			__m128 bound = _mm_load_ps(&node->bound[d][4 * part]);

			lo[d] = unrounded(_mm256_cvtps_pd(bound));
			lo[d] = _mm256_add_pd(origin, placed(lo[d], unscale));
			lo[d] = _mm256_min_pd(lo[d], _mm256_set1_pd(DBL_MAX));
			bound = _mm_load_ps(&node->bound[d + 3][4 * part]);
			hi[d] = unrounded(_mm256_cvtps_pd(bound));
			hi[d] = _mm256_sub_pd(origin, placed(hi[d], unscale));
			hi[d] = _mm256_max_pd(hi[d], _mm256_set1_pd(-DBL_MAX));
		}
		careful |= distances(lo, hi, query, &out[4 * part]) << 4 * part;
	}
	node_distances_of(tree, node, careful, query, out);
}

TREE_TARGET
static inline void
block_distances(const BvhBlock *block, const Box3 *query, double out[8])
{
	uint32_t careful = 0;

	for (int part = 0; part < 2; part++)
	{
		__m256d lo[3];
		__m256d hi[3];

		for (int d = 0; d < 3; d++)
		{
			lo[d] = _mm256_load_pd(&block->bound[d][4 * part]);
			hi[d] = _mm256_load_pd(&block->bound[d + 3][4 * part]);
		}
		careful |= distances(lo, hi, query, &out[4 * part]) << 4 * part;
	}
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
		__m256 x = _mm256_set1_ps(key[i]);
		uint64_t less = 0;
		uint64_t equal = 0;

		for (int j = 0; j < n; j += 8)
		{
			__m256 keys = _mm256_loadu_ps(&key[j]);

			less |= (uint64_t) (uint32_t) _mm256_movemask_ps(
						_mm256_cmp_ps(keys, x, _CMP_LT_OQ))
					<< j;
			equal |= (uint64_t) (uint32_t) _mm256_movemask_ps(
						 _mm256_cmp_ps(keys, x, _CMP_EQ_OQ))
					 << j;
		}
		less |= equal & ((UINT64_C(1) << i) - 1);
		/* what lies behind the keys does not count */
		less &= ~UINT64_C(0) >> (BVH_FEW - n);
		sorted[__builtin_popcountll(less)] = (uint8_t) i;
	}
}

#include "core/simd/tree_walk.h"

#endif
