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

const BvhKernels bvh_kernels_avx2 = {
	.name = "avx2",
	.usable = cpu_has_avx2,
	.in_range = in_range,
	.excess = excess,
};

#endif
