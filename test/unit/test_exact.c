/*-------------------------------------------------------------------------
 *
 * test_exact.c
 *	  The sign of a sum of products, against whole numbers of 128 bits.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/exact.h"
#include "tap.h"

static int
sign_of(__int128 x)
{
	return (x > 0) - (x < 0);
}

static void
show(const double a[4], const double b[4])
{
	for (int i = 0; i < 4; i++)
		NOTE("%a * %a", a[i], b[i]);
}

/* a whole number of so many bits, often a power of two or near one */
static int64_t
rng_bits(Rng *rng, int bits)
{
	int64_t x = (int64_t) (rng_next(rng) >> (64 - rng_int(rng, 1, bits)));

	if (rng_below(rng, 4) == 0)
		x = (INT64_C(1) << rng_int(rng, 0, bits - 1)) + rng_int(rng, -1, 1);
	return rng_below(rng, 2) ? -x : x;
}

/*
 * Of numbers that cancel: the last product is chosen to leave the sum of the
 * others near zero.  The same sign at any scale, the ends of double too.
 */
static void
sums_that_cancel(Rng *rng)
{
	int nseen[3] = {0, 0, 0};

	for (int i = 0; i < 150000; i++)
	{
		double a[4];
		double b[4];
		__int128 sum = 0;
		int want;
		int up = rng_int(rng, -1074, 970);
		int down = rng_int(rng, -1074, 970);

		for (int k = 0; k < 3; k++)
		{
			int64_t x = rng_bits(rng, 52);
			int64_t y = rng_bits(rng, 52);

			/* x * y - x * (y + 1) + ... leaves little */
			if (k == 1 && rng_below(rng, 2))
			{
				x = -(int64_t) a[0];
				y = (int64_t) b[0] + rng_int(rng, -1, 1);
			}
			a[k] = (double) x;
			b[k] = (double) y;
			sum += (__int128) x * y;
		}
		a[3] = 1.0;
		b[3] = 0.0;
		if (sum < INT64_C(0x10000000000000) && sum > -INT64_C(0x10000000000000))
			b[3] = (double) (-(int64_t) sum + rng_int(rng, -1, 1));
		sum += (__int128) b[3];
		want = sign_of(sum);
		nseen[want + 1]++;
		if (exact_sign(a, b) != want)
		{
			FAIL("whole numbers");
			show(a, b);
			return;
		}
		for (int k = 0; k < 4; k++)
		{
			a[k] = ldexp(a[k], up);
			b[k] = ldexp(b[k], down);
		}
		if (exact_sign(a, b) != want)
		{
			FAIL("whole numbers, scaled by 2^%d and 2^%d", up, down);
			show(a, b);
			return;
		}
	}
	OK(nseen[0] > 1000 && nseen[1] > 1000 && nseen[2] > 1000,
	   "whole numbers, at any scale (%d, %d, %d)",
	   nseen[0],
	   nseen[1],
	   nseen[2]);
}

static void
ends_of_the_range(void)
{
	OK(exact_sign((const double[]){LARGEST, -LARGEST, DENORM_MIN, 0},
				  (const double[]){LARGEST, LARGEST, DENORM_MIN, 0}) == 1,
	   "the least product decides between the largest");
	OK(exact_sign((const double[]){LARGEST, -LARGEST, -DENORM_MIN, 1},
				  (const double[]){LARGEST, LARGEST, DENORM_MIN, 0}) == -1,
	   "on either side");
	OK(exact_sign((const double[]){LARGEST, LARGEST, LARGEST, LARGEST},
				  (const double[]){LARGEST, LARGEST, LARGEST, LARGEST}) == 1,
	   "the largest sum");
	OK(exact_sign((const double[]){LARGEST, LARGEST, LARGEST, LARGEST},
				  (const double[]){-LARGEST, -LARGEST, -LARGEST, -LARGEST}) == -1,
	   "the most negative sum");
	OK(exact_sign((const double[]){DENORM_MIN, -DENORM_MIN, 0, 0},
				  (const double[]){DENORM_MIN, DENORM_MIN, 0, 0}) == 0,
	   "the least sum that cancels");
	OK(exact_sign((const double[]){0, 0, 0, 0},
				  (const double[]){1, LARGEST, DENORM_MIN, 0}) == 0,
	   "nothing");
}

int
main(void)
{
	Rng rng = rng_start();

	sums_that_cancel(&rng);
	ends_of_the_range();
	return tap_done();
}
