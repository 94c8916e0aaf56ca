/*-------------------------------------------------------------------------
 *
 * kernels_avx512.c
 *	  The kernels for AVX-512 (F).
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include "core/simd/cpu.h"

BVH_TARGET("avx512f")
static bool
in_range(const Box3 *b, const BoxRange *range)
{
	/* masked loads: the two lanes behind the six are not touched */
	const __mmask8 six = 0x3F;
	__m512d x = _mm512_maskz_loadu_pd(six, b->lo);
	__mmask8 hit;

	/* ordered comparisons: NaN misses, as in C */
	hit = _mm512_mask_cmp_pd_mask(six,
								  _mm512_maskz_loadu_pd(six, range->lower),
								  x,
								  _CMP_LE_OQ);
	hit = _mm512_mask_cmp_pd_mask(hit,
								  x,
								  _mm512_maskz_loadu_pd(six, range->upper),
								  _CMP_LE_OQ);
	return hit == six;
}

BVH_TARGET("avx512f")
static uint32_t
excess(const BoxBlock *block, const BlockProbe *probe, float limit, float out[BVH_BLOCK])
{
	__m512 acc = _mm512_set1_ps(-INFINITY);

	for (int lane = 0; lane < 6; lane++)
	{
		__m512 x = _mm512_loadu_ps(block->lane[lane]);
		__m512 weight = _mm512_set1_ps(probe->weight[lane]);
		__m512 below = _mm512_sub_ps(_mm512_set1_ps(probe->lower[lane]), x);
		__m512 above = _mm512_sub_ps(x, _mm512_set1_ps(probe->upper[lane]));

		/* maxps gives its second operand when either is NaN */
		acc = _mm512_max_ps(_mm512_mul_ps(weight, below), acc);
		acc = _mm512_max_ps(_mm512_mul_ps(weight, above), acc);
	}
	_mm512_storeu_ps(out, acc);
	return _mm512_cmp_ps_mask(acc, _mm512_set1_ps(limit), _CMP_LE_OQ);
}

BVH_TARGET("avx512f")
static int
select_boxes(const char *base, const uint16_t *offset, int n, const BoxRange *range,
			 uint16_t *selected)
{
	const __mmask8 six = 0x3F;
	const __m512d lower = _mm512_maskz_loadu_pd(six, range->lower);
	const __m512d upper = _mm512_maskz_loadu_pd(six, range->upper);
	int nselected = 0;

	for (int i = 0; i < n; i++)
	{
		__m512d x = _mm512_maskz_loadu_pd(six, base + offset[i]);
		__mmask8 hit = _mm512_mask_cmp_pd_mask(six, lower, x, _CMP_LE_OQ);

		hit = _mm512_mask_cmp_pd_mask(hit, x, upper, _CMP_LE_OQ);
		selected[nselected] = (uint16_t) i;
		nselected += hit == six;
	}
	return nselected;
}

const BvhKernels bvh_kernels_avx512 = {
	.name = "avx512",
	.usable = cpu_has_avx512,
	.in_range = in_range,
	.excess = excess,
	.select_boxes = select_boxes,
	.distances = bvh_distances_avx2, /* every AVX-512 machine has AVX2 */
	.tree = &bvh_tree_kernels_avx512,
	.least_growth = bvh_least_growth_avx2,
};

#endif
