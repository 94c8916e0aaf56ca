/*-------------------------------------------------------------------------
 *
 * kernels_avx2.c
 *	  The kernels for AVX2.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "core/simd/cpu.h"

_Static_assert(sizeof(Box3) == 6 * sizeof(double), "a box is six lanes in a row");

BVH_TARGET("avx2")
static bool
in_range(const Box3 *b, const BoxRange *range)
{
	/* lanes 0..3 and 2..5: two loads within the box, two of them twice */
	__m256d first = _mm256_loadu_pd(&b->lo[0]);
	__m256d last = _mm256_loadu_pd(&b->lo[2]);
	__m256d hit;

	/* ordered comparisons: NaN misses, as in C */
	hit = _mm256_cmp_pd(_mm256_loadu_pd(&range->lower[0]), first, _CMP_LE_OQ);
	hit = _mm256_and_pd(hit,
						_mm256_cmp_pd(first,
									  _mm256_loadu_pd(&range->upper[0]),
									  _CMP_LE_OQ));
	hit = _mm256_and_pd(hit,
						_mm256_cmp_pd(_mm256_loadu_pd(&range->lower[2]),
									  last,
									  _CMP_LE_OQ));
	hit = _mm256_and_pd(hit,
						_mm256_cmp_pd(last,
									  _mm256_loadu_pd(&range->upper[2]),
									  _CMP_LE_OQ));
	return _mm256_movemask_pd(hit) == 0xF;
}

BVH_TARGET("avx2")
static uint32_t
excess(const BoxBlock *block, const BlockProbe *probe, float limit, float out[BVH_BLOCK])
{
	uint32_t mask = 0;

	for (int i = 0; i < BVH_BLOCK; i += 8)
	{
		__m256 acc = _mm256_set1_ps(-INFINITY);

		for (int lane = 0; lane < 6; lane++)
		{
			__m256 x = _mm256_loadu_ps(&block->lane[lane][i]);
			__m256 weight = _mm256_set1_ps(probe->weight[lane]);
			__m256 below = _mm256_sub_ps(_mm256_set1_ps(probe->lower[lane]), x);
			__m256 above = _mm256_sub_ps(x, _mm256_set1_ps(probe->upper[lane]));

			/* maxps gives its second operand when either is NaN */
			acc = _mm256_max_ps(_mm256_mul_ps(weight, below), acc);
			acc = _mm256_max_ps(_mm256_mul_ps(weight, above), acc);
		}
		_mm256_storeu_ps(&out[i], acc);
		acc = _mm256_cmp_ps(acc, _mm256_set1_ps(limit), _CMP_LE_OQ);
		mask |= (uint32_t) _mm256_movemask_ps(acc) << i;
	}
	return mask;
}

BVH_TARGET("avx2")
static int
select_boxes(const char *base, const uint16_t *offset, int n, const BoxRange *range,
			 uint16_t *selected)
{
	int nselected = 0;

	for (int i = 0; i < n; i++)
	{
		selected[nselected] = (uint16_t) i;
		nselected += in_range((const Box3 *) (base + offset[i]), range);
	}
	return nselected;
}

/*
 * The steps of box3_distance(): each gap, where Infinity - Infinity counts as
 * none, then the squares in the order x, y, z.  What its careful way would
 * compute is left to it.
 */
BVH_TARGET("avx2")
void
bvh_distances_avx2(const char *base, const uint16_t *offset, int n, const Box3 *query,
				   double *distance)
{
	const __m256i three = _mm256_setr_epi64x(-1, -1, -1, 0);
	const __m256d query_lo = _mm256_maskload_pd(query->lo, three);
	const __m256d query_hi = _mm256_maskload_pd(query->hi, three);

	for (int i = 0; i < n; i++)
	{
		const Box3 *b = (const Box3 *) (base + offset[i]);
		__m256d above = _mm256_sub_pd(_mm256_maskload_pd(b->lo, three), query_hi);
		__m256d below = _mm256_sub_pd(query_lo, _mm256_maskload_pd(b->hi, three));
		__m256d gap;
		__m128d sum;

		/* maxpd gives its second operand when either is NaN */
		gap = _mm256_max_pd(above, _mm256_setzero_pd());
		gap = _mm256_max_pd(below, gap);
		gap = _mm256_mul_pd(gap, gap);
		sum = _mm256_castpd256_pd128(gap);
		sum = _mm_add_sd(sum, _mm_unpackhi_pd(sum, sum));
		sum = _mm_add_sd(sum, _mm256_extractf128_pd(gap, 1));
		if (_mm_comige_sd(sum, _mm_set_sd(BOX3_LEAST_SQUARE)) &&
			_mm_comile_sd(sum, _mm_set_sd(BOX3_MOST_SQUARE)))
			distance[i] = _mm_cvtsd_f64(_mm_sqrt_sd(sum, sum));
		else
			distance[i] = box3_distance(b, query);
	}
}

const BvhKernels bvh_kernels_avx2 = {
	.name = "avx2",
	.usable = cpu_has_avx2,
	.in_range = in_range,
	.excess = excess,
	.select_boxes = select_boxes,
	.distances = bvh_distances_avx2,
	.tree = &bvh_tree_kernels_avx2,
};

#endif
