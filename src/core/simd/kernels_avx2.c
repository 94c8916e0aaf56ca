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

/* the same lane of four boxes in each of the six */
BVH_TARGET("avx2")
static inline void
load_lanes(const char *base, const uint16_t offset[4], __m256d lane[6])
{
	__m256d first[4];
	__m256d last[4];
	__m256d even;
	__m256d odd;

	for (int i = 0; i < 4; i++)
	{
		const Box3 *b = (const Box3 *) (base + offset[i]);

		first[i] = _mm256_loadu_pd(&b->lo[0]);
		last[i] = _mm256_loadu_pd(&b->lo[2]);
	}
	even = _mm256_permute2f128_pd(first[0], first[2], 0x20);
	odd = _mm256_permute2f128_pd(first[1], first[3], 0x20);
	lane[0] = _mm256_unpacklo_pd(even, odd);
	lane[1] = _mm256_unpackhi_pd(even, odd);
	even = _mm256_permute2f128_pd(first[0], first[2], 0x31);
	odd = _mm256_permute2f128_pd(first[1], first[3], 0x31);
	lane[2] = _mm256_unpacklo_pd(even, odd);
	lane[3] = _mm256_unpackhi_pd(even, odd);
	even = _mm256_permute2f128_pd(last[0], last[2], 0x31);
	odd = _mm256_permute2f128_pd(last[1], last[3], 0x31);
	lane[4] = _mm256_unpacklo_pd(even, odd);
	lane[5] = _mm256_unpackhi_pd(even, odd);
}

/* four boxes at a time, each of which keeps the best of every fourth */
BVH_TARGET("avx2")
void
bvh_least_growth_avx2(const char *base, const uint16_t *offset, int n, const Box3 *added,
					  BoxGrowth *least)
{
	const __m256d zero = _mm256_setzero_pd();
	const __m256d infinity = _mm256_set1_pd(INFINITY);
	__m256d least_growth = infinity;
	__m256d least_area = infinity;
	__m256d least_number = zero;
	__m256d number = _mm256_setr_pd(0, 1, 2, 3);
	__m256d is_finite = _mm256_cmp_pd(zero, zero, _CMP_EQ_OQ);
	double growths[4];
	double areas[4];
	double numbers[4];

	for (int i = 0; i < n; i += 4)
	{
		uint16_t last[4];
		const uint16_t *next = &offset[i];
		__m256d lane[6];
		__m256d side[3];
		__m256d more[3];
		__m256d area;
		__m256d growth = zero;
		__m256d better;

		/* the last box again where there are none: later ones never win */
		if (i + 4 > n)
		{
			for (int k = 0; k < 4; k++)
				last[k] = offset[i + k < n ? i + k : n - 1];
			next = last;
		}
		load_lanes(base, next, lane);
		for (int d = 0; d < 3; d++)
		{
			__m256d below = _mm256_sub_pd(lane[d], _mm256_set1_pd(added->lo[d]));
			__m256d above = _mm256_sub_pd(_mm256_set1_pd(added->hi[d]), lane[d + 3]);

			side[d] = _mm256_sub_pd(lane[d + 3], lane[d]);
			/* maxpd gives its second operand when either is NaN */
			more[d] = _mm256_add_pd(_mm256_max_pd(below, zero),
									_mm256_max_pd(above, zero));
		}
		area = _mm256_add_pd(_mm256_mul_pd(side[0], side[1]),
							 _mm256_mul_pd(side[1], side[2]));
		area = _mm256_add_pd(area, _mm256_mul_pd(side[2], side[0]));
		for (int d = 0; d < 3; d++)
		{
			__m256d sides = _mm256_add_pd(side[(d + 1) % 3], side[(d + 2) % 3]);

			sides = _mm256_add_pd(sides, more[(d + 1) % 3]);
			growth = _mm256_add_pd(growth, _mm256_mul_pd(more[d], sides));
		}

		is_finite =
			_mm256_and_pd(is_finite,
						  _mm256_and_pd(_mm256_cmp_pd(growth, infinity, _CMP_LT_OQ),
										_mm256_cmp_pd(area, infinity, _CMP_LT_OQ)));
		better = _mm256_and_pd(_mm256_cmp_pd(growth, least_growth, _CMP_EQ_OQ),
							   _mm256_cmp_pd(area, least_area, _CMP_LT_OQ));
		better = _mm256_or_pd(better, _mm256_cmp_pd(growth, least_growth, _CMP_LT_OQ));
		least_growth = _mm256_blendv_pd(least_growth, growth, better);
		least_area = _mm256_blendv_pd(least_area, area, better);
		least_number = _mm256_blendv_pd(least_number, number, better);
		number = _mm256_add_pd(number, _mm256_set1_pd(4));
	}

	_mm256_storeu_pd(growths, least_growth);
	_mm256_storeu_pd(areas, least_area);
	_mm256_storeu_pd(numbers, least_number);
	*least = (BoxGrowth){0, INFINITY, INFINITY, _mm256_movemask_pd(is_finite) == 0xF};
	for (int k = 0; k < 4; k++)
		if (growths[k] < least->growth ||
			(growths[k] == least->growth &&
			 (areas[k] < least->area ||
			  (areas[k] == least->area && numbers[k] < least->number))))
		{
			least->number = (int) numbers[k];
			least->growth = growths[k];
			least->area = areas[k];
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
	.least_growth = bvh_least_growth_avx2,
};

#endif
