/*-------------------------------------------------------------------------
 *
 * tree_avx.h
 *	  What the builds of the tree for AVX2 and AVX-512 have in common: boxes in
 *	  vectors of eight floats.
 *
 * Included by a file with kernels, which has the intrinsics, and defines
 * TREE_TARGET first.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TREE_AVX_H
#define BVH_TREE_AVX_H

#include "core/simd/tree_kernels.h"

#ifdef TREE_TARGET

typedef __m256 Vec8;

TREE_TARGET
static inline Vec8
vec_load(const float *from)
{
	return _mm256_loadu_ps(from);
}

TREE_TARGET
static inline void
vec_store(float *to, Vec8 v)
{
	_mm256_storeu_ps(to, v);
}

TREE_TARGET
static inline Vec8
vec_min(Vec8 a, Vec8 b)
{
	return _mm256_min_ps(a, b);
}

/* the minimum if so, else acc: all ones are a NaN, and minps gives its second operand */
TREE_TARGET
static inline Vec8
vec_min_if(bool condition, Vec8 a, Vec8 acc)
{
	__m256 unless = _mm256_castsi256_ps(_mm256_set1_epi32((int) condition - 1));

	return _mm256_min_ps(_mm256_or_ps(a, unless), acc);
}

/* lo - -hi, and -hi - lo */
TREE_TARGET
static inline Vec8
vec_centers(Vec8 box)
{
	return _mm256_sub_ps(box, _mm256_permute2f128_ps(box, box, 1));
}

typedef struct MapProbe
{
	__m128 first;
	__m128 scale;
	__m128 last_bin;
} MapProbe;

TREE_TARGET
static inline MapProbe
map_probe(const BvhBinMap *map)
{
	return (MapProbe){_mm_loadu_ps(map->first),
					  _mm_loadu_ps(map->scale),
					  _mm_loadu_ps(map->last_bin)};
}

TREE_TARGET
static inline void
vec_bins(Vec8 centers, const MapProbe *probe, int32_t bin[4])
{
	__m128 place = _mm_sub_ps(_mm256_castps256_ps128(centers), probe->first);

	place = _mm_mul_ps(place, probe->scale);
	place = _mm_max_ps(place, _mm_setzero_ps());
	place = _mm_min_ps(place, probe->last_bin);
	_mm_storeu_si128((__m128i *) bin, _mm_cvttps_epi32(place));
}

#endif

#endif /* BVH_TREE_AVX_H */
