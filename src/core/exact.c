/*-------------------------------------------------------------------------
 *
 * exact.c
 *	  The sign of a small sum of products, without any rounding.
 *
 * Whether a ray meets a box, and on which side of a plane it lies, is the
 * sign of a[0]*b[0] + ... + a[3]*b[3].  In floating point it is nearly always
 * beyond doubt; where it is not, the sum is taken in whole numbers that are
 * as long as need be.  (Shewchuk's expansions would do, too, but for what
 * leaves the range of double on the way.)
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/exact.h"

#include <limits.h>
#include <string.h>

/*
 * A product of two doubles is a whole number below 2^106 times a power of two
 * between 2^-2148 and 2^1942.  So the sum of four has at most 4,198 bits.
 */
#define MAX_LIMBS 68

/* x = *mantissa * 2^result, exactly; x is finite */
static int
whole_parts(double x, int64_t *mantissa)
{
	int exponent;

	*mantissa = (int64_t) ldexp(frexp(x, &exponent), 53);
	return exponent - 53;
}

/* add value * 2^shift to a number in two's complement */
static void
add_shifted(uint64_t *limbs, int nlimbs, __int128 value, int shift)
{
	uint64_t sign = value < 0 ? UINT64_MAX : 0;
	uint64_t low = (uint64_t) value;
	uint64_t high = (uint64_t) (value >> 64);
	int bits = shift % 64;
	uint64_t part[3] = {low, high, sign};
	unsigned __int128 carry = 0;

	if (bits > 0)
	{
		part[0] = low << bits;
		part[1] = high << bits | low >> (64 - bits);
		part[2] = sign << bits | high >> (64 - bits);
	}
	for (int i = shift / 64, k = 0; i < nlimbs; i++, k++)
	{
		carry += (unsigned __int128) limbs[i] + (k < 3 ? part[k] : sign);
		limbs[i] = (uint64_t) carry;
		carry >>= 64;
	}
}

static int
sign_in_whole_numbers(const double a[4], const double b[4])
{
	__int128 product[4];
	int exponent[4];
	int least = INT_MAX;
	int most = INT_MIN;
	uint64_t limbs[MAX_LIMBS];
	int nlimbs;

	for (int i = 0; i < 4; i++)
	{
		int64_t x;
		int64_t y;

		exponent[i] = whole_parts(a[i], &x) + whole_parts(b[i], &y);
		product[i] = (__int128) x * y;
		if (product[i] == 0)
			continue;
		least = exponent[i] < least ? exponent[i] : least;
		most = exponent[i] > most ? exponent[i] : most;
	}
	if (least == INT_MAX)
		return 0;

	/* two bits for the sum of four, and one for the sign */
	nlimbs = (most - least + 106 + 3 + 63) / 64;
	BVH_ASSERT(nlimbs <= MAX_LIMBS);
	memset(limbs, 0, sizeof(uint64_t) * nlimbs);
	for (int i = 0; i < 4; i++)
		if (product[i] != 0)
			add_shifted(limbs, nlimbs, product[i], exponent[i] - least);
	if (limbs[nlimbs - 1] >> 63 != 0)
		return -1;
	for (int i = 0; i < nlimbs; i++)
		if (limbs[i] != 0)
			return 1;
	return 0;
}

/*
 * exact_sign --- -1, 0 or 1: the sign of a[0]*b[0] + ... + a[3]*b[3], of
 * finite numbers
 */
int
exact_sign(const double a[4], const double b[4])
{
	double sum = 0.0;
	double size = 0.0;
	double doubt;

	for (int i = 0; i < 4; i++)
	{
		double product = a[i] * b[i];

		sum += product;
		size += fabs(product);
	}

	/*
	 * Each product is off by half an ulp of itself, or half the least double,
	 * and each of the three sums by half an ulp of at most their size.  After
	 * an overflow this is Infinity or NaN, and nothing is beyond doubt.
	 */
	doubt = size * 0x1p-50 + 0x1p-1070;
	if (sum > doubt)
		return 1;
	if (sum < -doubt)
		return -1;
	return sign_in_whole_numbers(a, b);
}
