/*-------------------------------------------------------------------------
 *
 * kinds.h
 *	  Sets of boxes of many kinds, most of them hard on something.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TEST_KINDS_H
#define BVH_TEST_KINDS_H

#include "boxes.h"

/* the box at place i of n */
typedef Box3 (*Generator)(Rng *rng, size_t i, size_t n);

static inline Box3
world_boxes(Rng *rng, size_t i, size_t n)
{
	(void) i;
	(void) n;
	return rng_world_box(rng, 2.0);
}

static inline Box3
equal_boxes(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	(void) i;
	(void) n;
	return make_box(0, 0, 0, 1, 1, 1);
}

static inline Box3
two_values(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	(void) n;
	return i % 2 ? make_point(1, 1, 1) : make_box(2, 2, 2, 3, 3, 3);
}

static inline Box3
one_apart(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	return i == n / 3 ? make_point(1e9, 0, 0) : make_box(0, 0, 0, 1, 1, 1);
}

static inline Box3
collinear(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	(void) n;
	return make_point(7, (double) i, 7);
}

static inline Box3
collinear_down(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	return make_point(7, 7, (double) (n - i));
}

/* up and down again, which is bad for some choices of a pivot */
static inline Box3
organ_pipe(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	return make_point((double) (i < n / 2 ? i : n - i), 0, 0);
}

static inline Box3
nested(Rng *rng, size_t i, size_t n)
{
	double r = (double) i + 1;

	(void) rng;
	(void) n;
	return make_box(-r, -r, -r, r, r, r);
}

static inline Box3
corner(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	(void) n;
	return make_box(0, 0, 0, (double) i, (double) i, (double) i);
}

static inline Box3
powers(Rng *rng, size_t i, size_t n)
{
	double s = ldexp(1.0, (int) (i % 2000) - 1000);

	(void) rng;
	(void) n;
	return make_box(s, s, s, 2 * s, 2 * s, 2 * s);
}

static inline Box3
infinite(Rng *rng, size_t i, size_t n)
{
	(void) n;
	switch (i % 7)
	{
		case 0:
			return make_box(-INFINITY,
							-INFINITY,
							-INFINITY,
							INFINITY,
							INFINITY,
							INFINITY);
		case 1:
			return make_point(INFINITY, INFINITY, INFINITY);
		case 2:
			return make_point(-INFINITY, -INFINITY, rng_percent(rng));
		case 3:
			return make_box(-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, 0);
		default:
			return rng_world_box(rng, 2.0);
	}
}

static inline Box3
only_infinite(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	(void) n;
	return i % 2
			   ? make_point(INFINITY, -INFINITY, INFINITY)
			   : make_box(-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY);
}

static inline Box3
wild(Rng *rng, size_t i, size_t n)
{
	(void) i;
	(void) n;
	return rng_any_box(rng);
}

static inline Box3
large(Rng *rng, size_t i, size_t n)
{
	Box3 b = rng_world_box(rng, 2.0);

	(void) i;
	(void) n;
	for (int d = 0; d < 3; d++)
	{
		b.lo[d] = (b.lo[d] - 50) * 3e306;
		b.hi[d] = (b.hi[d] - 50) * 3e306;
	}
	return b;
}

static inline Box3
tiny(Rng *rng, size_t i, size_t n)
{
	Box3 b = rng_world_box(rng, 2.0);

	(void) i;
	(void) n;
	for (int d = 0; d < 3; d++)
	{
		b.lo[d] *= 1e-300;
		b.hi[d] *= 1e-300;
	}
	return b;
}

static inline Box3
denormal(Rng *rng, size_t i, size_t n)
{
	(void) n;
	return make_box((double) i * DENORM_MIN,
					rng_int(rng, 0, 9) * DENORM_MIN,
					0,
					(double) (i + 2) * DENORM_MIN,
					rng_int(rng, 0, 9) * DENORM_MIN,
					0);
}

static inline Box3
largest(Rng *rng, size_t i, size_t n)
{
	double x = LARGEST * rng_between(rng, -1, 1);

	(void) n;
	return i % 2 ? make_box(-LARGEST, -LARGEST, -LARGEST, LARGEST, LARGEST, LARGEST)
				 : make_point(x, -x, LARGEST);
}

static inline Box3
all_sizes(Rng *rng, size_t i, size_t n)
{
	double s = ldexp(rng_unit(rng), (int) (i % 2040) - 1020);

	(void) n;
	return make_box(0, s, -s, s, 2 * s, s);
}

/* far apart, and each no larger than a few thousand floats at that distance */
static inline Box3
far_clusters(Rng *rng, size_t i, size_t n)
{
	double at = (double) (i % 5) * 1e6;
	double size = 10.0 * (double) (1 + i % 5);
	Box3 b;

	(void) n;
	for (int d = 0; d < 3; d++)
	{
		b.lo[d] = at + rng_unit(rng) * size * 10;
		b.hi[d] = b.lo[d] + rng_unit(rng) * size;
	}
	return b;
}

/* as in a grid of a country: float does not tell neighbours apart */
static inline Box3
far_from_zero(Rng *rng, size_t i, size_t n)
{
	Box3 b = rng_world_box(rng, 2.0);

	(void) i;
	(void) n;
	for (int d = 0; d < 3; d++)
	{
		b.lo[d] = 5e6 + b.lo[d] * 1e-3;
		b.hi[d] = 5e6 + b.hi[d] * 1e-3;
	}
	return b;
}

/* mostly small, some so large that everything meets them */
static inline Box3
some_giants(Rng *rng, size_t i, size_t n)
{
	double r = i % 3 ? 60 : 1e9;
	Box3 b = rng_world_box(rng, 2.0);

	(void) n;
	return i % 97 ? b : make_box(-r, -r, b.lo[2], r, r, b.hi[2]);
}

/* all but one within 0 .. 100 */
static inline Box3
one_far_away(Rng *rng, size_t i, size_t n)
{
	Box3 b = rng_world_box(rng, 2.0);

	return i == n / 2 ? make_point(1e12, 0, 0) : b;
}

/* each box about as far from zero as it is large, from 1 down to 2^-250 */
static inline Box3
all_scales(Rng *rng, size_t i, size_t n)
{
	double scale = ldexp(1.0, -rng_below(rng, 250));
	Box3 b = rng_world_box(rng, 2.0);

	(void) i;
	(void) n;
	for (int d = 0; d < 3; d++)
	{
		b.lo[d] *= scale;
		b.hi[d] *= scale;
	}
	return b;
}

/* cells within cells, 16 times smaller each, as deep as double goes; a crowd at the end
 */
static inline Box3
scale_in_scale(Rng *rng, size_t i, size_t n)
{
	double s = i < 523 ? ldexp(1.0, 1020 - 4 * (int) i) : 0.0;

	(void) rng;
	(void) n;
	return make_box(s / 100 - s / 2,
					s / 100 - s / 2,
					s / 100 - s / 2,
					s / 2 + s / 100,
					s / 2 + s / 100,
					s / 2 + s / 100);
}

static const struct
{
	const char *name;
	Generator generate;
} kinds[] = {
	{"random", world_boxes},
	{"equal", equal_boxes},
	{"two values", two_values},
	{"all but one equal", one_apart},
	{"collinear", collinear},
	{"collinear, downwards", collinear_down},
	{"up and down", organ_pipe},
	{"nested", nested},
	{"with a common corner", corner},
	{"powers of two", powers},
	{"some infinite", infinite},
	{"all infinite", only_infinite},
	{"any numbers", wild},
	{"times 3e306", large},
	{"times 1e-300", tiny},
	{"denormal", denormal},
	{"to the largest number", largest},
	{"all sizes", all_sizes},
	{"clusters far apart", far_clusters},
	{"far from zero", far_from_zero},
	{"some giants", some_giants},
	{"one far away", one_far_away},
	{"all scales", all_scales},
	{"scale in scale", scale_in_scale},
};

#endif /* BVH_TEST_KINDS_H */
