/*-------------------------------------------------------------------------
 *
 * penalty.c
 *	  Surface-area growth as a float that keeps its order at any scale.
 *
 * An index compares the penalties of siblings and takes the least.  GiST
 * passes them as float4 and takes NaN for 0, the best; a growth of area would
 * overflow float4 at boxes of side 1e19, vanish at 1e-23, and be lost to
 * rounding beside a large area.  So the penalty is a rank, a whole number
 * that float4 holds exactly: first a class, and within the class the
 * magnitude on a piecewise linear logarithmic scale with 10 bits of mantissa.
 * Multiplying all coordinates by a power of two shifts the ranks of a class
 * alike and changes no comparison.
 *
 * The classes, best first:
 *	1. the box is inside already: the child with the smallest area
 *	2. it grows, but has no area to grow (collinear boxes): the growth of the
 *	   sum of its sides
 *	3. its area grows: by how much
 *	4. the area is infinite already: the growth of the finite sides, first for
 *	   children with one infinite side, then for those with two
 *	5. sides become infinite: the fewest of them
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/penalty.h"

#include <float.h>
#include <string.h>

#include "core/simd/kernels.h"

/* sides are in 2^-1074 .. 2^1025, so products are in 2^-2148 .. 2^2051 */
#define MANTISSA_BITS 10
#define LENGTH_RANKS  ((1025 + 1075 + 1) << MANTISSA_BITS)
#define AREA_RANKS    ((2052 + 2149 + 1) << MANTISSA_BITS)

/* 1 to 4 of the first class with an infinite area: ranks above every area */
#define CLASS_INSIDE       0
#define CLASS_LENGTH       (CLASS_INSIDE + AREA_RANKS + 4)
#define CLASS_AREA         (CLASS_LENGTH + LENGTH_RANKS)
#define CLASS_ONE_INFINITE (CLASS_AREA + AREA_RANKS)
#define CLASS_TWO_INFINITE (CLASS_ONE_INFINITE + LENGTH_RANKS)
#define CLASS_NEW_INFINITE (CLASS_TWO_INFINITE + LENGTH_RANKS)

/* products of sides above this have lost nothing to underflow */
#define LEAST_AREA 0x1p-900

_Static_assert(CLASS_NEW_INFINITE + 3 < 1 << 24, "float4 must hold every rank exactly");

/*
 * rank --- value * 2^exponent >= 0 on the logarithmic scale; 0 for 0
 *
 * lowest is the exponent below which nothing lies.  The bits of a double are
 * such a scale already; a denormal value only needs its exponent.
 */
static inline int
rank(double value, int exponent, int lowest)
{
	uint64_t bits;

	if (value < DBL_MIN)
	{
		if (value == 0.0)
			return 0;
		value *= 0x1p100;
		exponent -= 100;
	}
	memcpy(&bits, &value, sizeof(bits));
	exponent += (int) (bits >> 52) - 1022 - lowest;
	exponent = exponent < 0 ? 0 : exponent;
	return (exponent << MANTISSA_BITS) +
		   (int) (bits >> (52 - MANTISSA_BITS) & ((1 << MANTISSA_BITS) - 1)) + 1;
}

static inline int
rank_area(double value, int exponent)
{
	int r = rank(value, exponent, -2148);

	return r < AREA_RANKS ? r : AREA_RANKS - 1;
}

static inline int
rank_length(double value, int exponent)
{
	int r = rank(value, exponent, -1074);

	return r < LENGTH_RANKS ? r : LENGTH_RANKS - 1;
}

/*
 * rank_finite --- rank for a child and a box without infinite sides
 *
 * Sides and growths are in units of 2^exponent, so that no product overflows.
 */
static inline float
rank_finite(const double side[3], const double growth[3], bool inside, int exponent)
{
	double length = growth[0] + growth[1] + growth[2];
	double area = 0.0;

	if (inside)
	{
		area = side[0] * side[1] + side[1] * side[2] + side[2] * side[0];
		return (float) (CLASS_INSIDE + rank_area(area, 2 * exponent));
	}

	/*
	 * Growth of the area as a sum of what is added; the difference of two
	 * areas would cancel.
	 */
	for (int d = 0; d < 3; d++)
	{
		int e = (d + 1) % 3;

		area += growth[d] * side[e] + side[d] * growth[e] + growth[d] * growth[e];
	}
	if (area > 0.0)
		return (float) (CLASS_AREA + rank_area(area, 2 * exponent));
	return (float) (CLASS_LENGTH + rank_length(length, exponent));
}

/* rank for boxes of any kind */
static float
rank_any(const Box3 *child, const Box3 *added)
{
	double side[3];
	double growth[3];
	double longest = 0.0;
	int ninfinite = 0;
	int nnew_infinite = 0;
	bool inside = true;
	int exponent;

	/* halves of sides from here on: the sum of two may not overflow */
	for (int d = 0; d < 3; d++)
	{
		side[d] = child->lo[d] < child->hi[d] ? 0.5 * child->hi[d] - 0.5 * child->lo[d]
											  : 0.0;
		growth[d] = 0.0;
		if (added->lo[d] < child->lo[d])
		{
			growth[d] += 0.5 * child->lo[d] - 0.5 * added->lo[d];
			inside = false;
		}
		if (added->hi[d] > child->hi[d])
		{
			growth[d] += 0.5 * added->hi[d] - 0.5 * child->hi[d];
			inside = false;
		}

		if (isinf(growth[d]))
			nnew_infinite++;
		else if (isinf(side[d]))
		{
			ninfinite++;
			side[d] = 0.0;
		}
		longest = fmax(longest, side[d] + growth[d]);
	}
	if (nnew_infinite > 0)
		return (float) (CLASS_NEW_INFINITE + nnew_infinite - 1);

	/* bring the longest side to about 1 */
	frexp(longest, &exponent);
	for (int d = 0; d < 3; d++)
	{
		side[d] = ldexp(side[d], -exponent);
		growth[d] = ldexp(growth[d], -exponent);
	}
	exponent += 1;

	if (ninfinite > 0)
	{
		double length = growth[0] + growth[1] + growth[2];

		if (inside)
			return (float) (CLASS_INSIDE + AREA_RANKS + ninfinite - 1);
		return (float) ((ninfinite == 1 ? CLASS_ONE_INFINITE : CLASS_TWO_INFINITE) +
						rank_length(length, exponent));
	}
	return rank_finite(side, growth, inside, exponent);
}

/*
 * box3_penalty --- rank of adding a box to a child; less is better
 *
 * Never NaN, never negative.
 */
float
box3_penalty(const Box3 *child, const Box3 *added)
{
	double side[3];
	double growth[3];
	double sum = 0.0;
	bool inside = true;

	for (int d = 0; d < 3; d++)
	{
		double below = child->lo[d] - added->lo[d];
		double above = added->hi[d] - child->hi[d];

		side[d] = child->hi[d] - child->lo[d];
		growth[d] = (below > 0.0 ? below : 0.0) + (above > 0.0 ? above : 0.0);
		sum += side[d] + growth[d];
		inside &= !(below > 0.0) & !(above > 0.0);
	}

	/*
	 * Ordinary numbers need no care.  An infinite side gives Infinity or NaN,
	 * which the sum hands on and which are not below the limit.
	 */
	if (sum > 0x1p-100 && sum < 0x1p100)
		return rank_finite(side, growth, inside, 0);
	return rank_any(child, added);
}

/* box3_choose() where areas are not ordinary numbers */
static int
choose_by_penalty(const char *base, const uint16_t *offset, int n, const Box3 *added,
				  int start)
{
	float least = INFINITY;
	int best = start;

	for (int k = 0; k < n; k++)
	{
		int i = start + k < n ? start + k : start + k - n;
		float penalty = box3_penalty((const Box3 *) (base + offset[i]), added);

		if (penalty < least)
		{
			least = penalty;
			best = i;
		}
	}
	return best;
}

/*
 * box3_choose --- which of n > 0 children takes one more box
 *
 * The one whose surface area grows least, and among those the smallest; the
 * first one from start on, in a circle, where that is equal, too.  Child i is
 * at base + offset[i], aligned to 8 bytes.
 */
int
box3_choose(const char *base, const uint16_t *offset, int n, const Box3 *added, int start)
{
	BoxGrowth best;
	BoxGrowth before;
	int number;

	bvh_kernels->least_growth(base, offset + start, n - start, added, &best);
	number = start + best.number;
	if (start > 0)
	{
		bvh_kernels->least_growth(base, offset, start, added, &before);
		best.is_finite &= before.is_finite;
		if (before.growth < best.growth ||
			(before.growth == best.growth && before.area < best.area))
		{
			best.growth = before.growth;
			best.area = before.area;
			number = before.number;
		}
	}

	/* what looks like 0 may be too small for a double: a growth, or an area */
	if (best.is_finite &&
		(best.growth > LEAST_AREA ||
		 (best.growth == 0.0 && best.area > LEAST_AREA &&
		  box3_contains((const Box3 *) (base + offset[number]), added))))
		return number;
	return choose_by_penalty(base, offset, n, added, start);
}
