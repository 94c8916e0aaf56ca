/*-------------------------------------------------------------------------
 *
 * test_box3_distance.c
 *	  Distances of boxes: exact at any scale, and monotone, which index scans
 *	  in order of distance rely on.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "tap.h"

static const Box3 origin = {{0, 0, 0}, {0, 0, 0}};

/* ---------------------------------------------------------------- known values */

static void
known_distances(void)
{
	const double inf = INFINITY;
	const struct
	{
		Box3 a;
		Box3 b;
		double distance;
	} known[] = {
		{origin, make_point(1e200, 0, 0), 1e200},
		{origin, make_point(1e-200, 0, 0), 1e-200},
		{origin, make_point(3e200, 4e200, 0), 5e200},
		{origin, make_point(0, -4e200, 3e200), 5e200},
		{origin, make_point(3e-200, 0, 4e-200), 5e-200},
		{origin, make_point(DENORM_MIN, 0, 0), DENORM_MIN},
		{origin, make_point(3 * DENORM_MIN, 4 * DENORM_MIN, 0), 5 * DENORM_MIN},
		{origin, make_point(LARGEST, 0, 0), LARGEST},
		{origin, make_point(LARGEST, LARGEST, 0), inf},
		{origin, make_point(LARGEST, 1, DENORM_MIN), LARGEST},
		{make_point(-LARGEST, 0, 0), make_point(LARGEST, 0, 0), inf},
		/* all three axes count */
		{origin, make_box(3, 4, 12, 9, 9, 99), 13},
		{make_box(0, 0, 0, 1, 1, 1), make_box(0.5, 0.5, 4, 9, 9, 9), 3},
		{make_box(0, 0, 0, 1, 1, 1), make_box(1, 1, 1, 2, 2, 2), 0},
		{make_box(0, 0, 0, 9, 9, 9), make_box(4, 4, 4, 5, 5, 5), 0},
		/* what lies at infinity is at the same place as itself */
		{origin, make_point(inf, inf, inf), inf},
		{make_point(inf, inf, inf), make_point(inf, inf, inf), 0},
		{make_point(inf, 0, 0), make_point(-inf, 0, 0), inf},
		{make_point(inf, 0, 0), make_point(inf, 3, 4), 5},
		{make_box(-inf, -inf, 0, inf, inf, 0), make_point(0, 0, 7), 7},
		{make_box(-inf, -inf, -inf, inf, inf, inf), make_point(inf, 0, -inf), 0},
		{make_box(0, 0, 0, inf, inf, inf), make_point(-1e300, 1, 1), 1e300},
	};

	for (int i = 0; i < LENGTH_OF(known); i++)
	{
		double there = box3_distance(&known[i].a, &known[i].b);
		double back = box3_distance(&known[i].b, &known[i].a);

		OK(there == known[i].distance && back == there,
		   "known distance %d: %g",
		   i + 1,
		   known[i].distance);
	}
}

/* (2, 3, 6) is 7 away at every scale, through all seams of the computation */
static void
exact_at_all_scales(void)
{
	for (int k = -1074; k <= 1020; k++)
	{
		Box3 p = make_point(ldexp(2, k), ldexp(-3, k), ldexp(6, k));

		if (box3_distance(&origin, &p) != ldexp(7, k) ||
			box3_max_distance(&origin, &p) != ldexp(7, k))
		{
			FAIL("exact lengths are exact at every power of two");
			NOTE("2^%d: %a", k, box3_distance(&origin, &p));
			return;
		}
	}
	PASS("exact lengths are exact at every power of two");
}

/* ---------------------------------------------------------------- any values */

/* are two lengths the same up to n units in the last place? */
static bool
are_close(double x, double y, int n)
{
	for (; x != y && n > 0; n--)
		x = nextafter(x, y);
	return x == y;
}

static double
plain_gap(const Box3 *a, const Box3 *b, int d)
{
	if (a->hi[d] < b->lo[d])
		return b->lo[d] - a->hi[d];
	return b->hi[d] < a->lo[d] ? a->lo[d] - b->hi[d] : 0.0;
}

static void
accuracy(Rng *rng)
{
	for (int i = 0; i < 200000; i++)
	{
		Box3 a = rng_any_box(rng);
		Box3 b = rng_any_box(rng);
		double distance = box3_distance(&a, &b);
		double want = hypot(hypot(plain_gap(&a, &b, 0), plain_gap(&a, &b, 1)),
							plain_gap(&a, &b, 2));

		if (!are_close(distance, want, 4) || distance != box3_distance(&b, &a) ||
			(distance == 0) != box3_overlaps(&a, &b) ||
			!(box3_max_distance(&a, &b) >= distance))
		{
			FAIL("distances are accurate, mutual, and 0 for boxes that overlap only");
			NOTE("%a, want %a", distance, want);
			show_box("a", &a);
			show_box("b", &b);
			return;
		}
	}
	PASS("distances are accurate, mutual, and 0 for boxes that overlap only");
}

/* the largest distance is that of two corners */
static void
max_distance_of_corners(Rng *rng)
{
	for (int i = 0; i < 50000; i++)
	{
		Box3 a = rng_box(rng, rng_small);
		Box3 b = rng_box(rng, rng_small);
		double most = 0;

		for (int corners = 0; corners < 64; corners++)
		{
			double sum = 0;

			for (int d = 0; d < 3; d++)
			{
				double p = corners >> d & 1 ? a.hi[d] : a.lo[d];
				double q = corners >> (d + 3) & 1 ? b.hi[d] : b.lo[d];

				sum += (p - q) * (p - q);
			}
			most = fmax(most, sqrt(sum));
		}
		if (box3_max_distance(&a, &b) != most)
		{
			FAIL("the largest distance is that of the farthest corners");
			show_box("a", &a);
			show_box("b", &b);
			return;
		}
	}
	PASS("the largest distance is that of the farthest corners");
}

static void
max_distance_at_infinity(void)
{
	Box3 corner = make_point(INFINITY, INFINITY, -INFINITY);
	Box3 all = make_box(-INFINITY, 0, 0, INFINITY, 0, 0);
	Box3 wide = make_box(-LARGEST, 0, 0, LARGEST, 0, 0);

	OK(box3_max_distance(&corner, &corner) == 0.0,
	   "a point at infinity is 0 from itself");
	OK(box3_max_distance(&all, &all) == INFINITY, "an endless line has two ends");
	OK(box3_max_distance(&wide, &wide) == INFINITY,
	   "a length beyond the largest double is Infinity");
	OK(box3_max_distance(&origin, &wide) == LARGEST, "the largest double is not");
}

/* ---------------------------------------------------------------- monotone */

static bool
is_monotone(const Box3 *query, const Box3 *inner, const Box3 *outer)
{
	if (box3_distance(query, outer) <= box3_distance(query, inner) &&
		box3_max_distance(query, outer) >= box3_max_distance(query, inner))
		return true;
	FAIL("no box is nearer than one that contains it");
	NOTE("%a to the inner box", box3_distance(query, inner));
	NOTE("%a to the outer box", box3_distance(query, outer));
	show_box("query", query);
	show_box("inner", inner);
	show_box("outer", outer);
	return false;
}

/* a coordinate farther out by nothing, a bit or two, a little or a lot */
static double
farther(Rng *rng, double x, double direction)
{
	double step;

	switch (rng_below(rng, 8))
	{
		case 0:
		case 1:
			return x;
		case 2:
		case 3:
			return nextafter(x, direction) + 0.0;
		case 4:
			return nextafter(nextafter(x, direction), direction) + 0.0;
		case 5:
			step = fabs(x) * rng_octave(rng, rng_int(rng, -52, -1));
			break;
		case 6:
			step = rng_octave(rng, rng_int(rng, -1074, 1023));
			break;
		default:
			return direction;
	}
	x += direction > 0 ? step : -step;
	return (isnan(x) ? direction : x) + 0.0;
}

static void
monotone_for_any_boxes(Rng *rng)
{
	for (int i = 0; i < 400000; i++)
	{
		Box3 query = rng_any_box(rng);
		Box3 inner = rng_any_box(rng);
		Box3 outer = inner;

		for (int d = 0; d < 3; d++)
		{
			outer.lo[d] = farther(rng, inner.lo[d], -INFINITY);
			outer.hi[d] = farther(rng, inner.hi[d], INFINITY);
		}
		if (!is_monotone(&query, &inner, &outer))
			return;
	}
	PASS("no box is nearer than one that contains it");
}

/* the same for gaps that are chosen to the bit: points near the origin */
static bool
monotone_for_gaps(Rng *rng, const double gap[3])
{
	Box3 inner = make_point(gap[0], gap[1], gap[2]);

	for (int i = 0; i < 4; i++)
	{
		Box3 outer = inner;

		for (int d = 0; d < 3; d++)
			for (int steps = rng_below(rng, 4); steps > 0; steps--)
				outer.lo[d] = nextafter(outer.lo[d], 0.0);
		if (!is_monotone(&origin, &inner, &outer))
			return false;
	}
	return true;
}

/*
 * The computation changes its way where the sum of the squares is 2^1000 and
 * where it is 2^-900; sums of all kinds just on both sides of that.
 */
static void
monotone_at_the_seams(Rng *rng)
{
	for (int i = 0; i < 150000; i++)
	{
		int seam = i % 2 ? 500 : -450;
		double gap[3];
		double rest;

		/* the first two below the seam, the third what is missing, nearly */
		gap[0] = rng_octave(rng, seam - 1 - rng_below(rng, 4) * rng_below(rng, 20));
		gap[1] = rng_octave(rng, seam - 1 - rng_below(rng, 4) * rng_below(rng, 20));
		gap[0] = ldexp(gap[0], -seam);
		gap[1] = ldexp(gap[1], -seam);
		rest = 1.0 - gap[0] * gap[0] - gap[1] * gap[1];
		gap[2] = rest > 0 ? sqrt(rest) : 0.0;
		for (int d = 0; d < 3; d++)
		{
			gap[d] = ldexp(gap[d], seam);
			for (int steps = rng_below(rng, 4); steps > 0; steps--)
				gap[d] = nextafter(gap[d], INFINITY);
		}
		if (!monotone_for_gaps(rng, gap))
			return;
	}
	PASS("no box is nearer than one that contains it, at the seams");
}

/* powers of two and their neighbours, where the scale of the squares changes */
static void
monotone_at_all_exponents(Rng *rng)
{
	for (int i = 0; i < 150000; i++)
	{
		int e = -1074 + i % 2098;
		double gap[3];

		for (int d = 0; d < 3; d++)
		{
			int lower = e - rng_below(rng, 3) * rng_below(rng, 40);

			gap[d] = rng_octave(rng, lower < -1074 ? -1074 : lower);
		}
		if (!monotone_for_gaps(rng, gap))
			return;
	}
	PASS("no box is nearer than one that contains it, at every exponent");
}

/* ---------------------------------------------------------------- penetration */

static bool
parts(const Box3 *a, const Box3 *b, int d, double move)
{
	Box3 moved = *a;

	moved.lo[d] += move;
	moved.hi[d] += move;
	return !box3_overlaps_strictly(&moved, b);
}

/* the least move, in halves, that parts two small boxes */
static double
least_move(const Box3 *a, const Box3 *b)
{
	for (double move = 0.0;; move += 0.5)
		for (int d = 0; d < 3; d++)
			if (parts(a, b, d, move) || parts(a, b, d, -move))
				return move;
}

static void
penetration(Rng *rng)
{
	Box3 all = make_box(-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY);
	Box3 slab = make_box(-INFINITY, -INFINITY, 0, INFINITY, INFINITY, 4);
	Box3 cube = make_box(0, 0, 3, 2, 2, 5);

	OK(box3_penetration(&all, &all) == INFINITY, "no move parts two endless boxes");
	OK(box3_penetration(&slab, &cube) == 1.0, "an endless slab is left through its face");
	OK(box3_penetration(&origin, &all) == INFINITY,
	   "a point does not leave all of space");
	for (int i = 0; i < 20000; i++)
	{
		Box3 a = rng_box(rng, rng_small);
		Box3 b = rng_box(rng, rng_small);

		if (box3_penetration(&a, &b) != least_move(&a, &b) ||
			box3_penetration(&b, &a) != box3_penetration(&a, &b))
		{
			FAIL("penetration is the least move along an axis that parts");
			show_box("a", &a);
			show_box("b", &b);
			return;
		}
	}
	PASS("penetration is the least move along an axis that parts");
}

/* ---------------------------------------------------------------- reach */

static bool
reaches(const Box3 *b, const Box3 *other, double r)
{
	Box3 reach;

	box3_reach(b, r, &reach);
	if (box3_is_valid(&reach) && box3_contains(&reach, b) &&
		(box3_overlaps(&reach, other) || !(box3_distance(b, other) <= r)))
		return true;
	FAIL("the reach overlaps every box within the distance");
	NOTE("r %a, distance %a", r, box3_distance(b, other));
	show_box("b", b);
	show_box("other", other);
	show_box("reach", &reach);
	return false;
}

/* the distance itself is the hardest radius; its neighbours come close */
static void
reach_misses_nothing(Rng *rng)
{
	for (int i = 0; i < 300000; i++)
	{
		Box3 b = rng_any_box(rng);
		Box3 other = rng_any_box(rng);
		double r;

		/* apart along one axis only, by a gap that may round: x - y is near r */
		if (i % 2)
		{
			int d = rng_below(rng, 3);

			other = b;
			other.lo[d] = other.hi[d] = rng_wild(rng);
		}
		r = box3_distance(&b, &other);
		if (!reaches(&b, &other, r) || !reaches(&b, &other, nextafter(r, INFINITY)) ||
			!reaches(&b, &other, fabs(rng_wild(rng))))
			return;
	}
	PASS("the reach overlaps every box within the distance");
}

static void
reach_known(void)
{
	Box3 b = make_box(-1, 0, 10, 1, 2, 11);
	Box3 at_infinity = make_box(INFINITY, 0, -INFINITY, INFINITY, 0, 5);
	Box3 reach;
	Box3 slack;

	box3_reach(&b, 3, &reach);
	slack = make_box(-4 - 1e-14, -3 - 1e-14, 7 - 1e-14, 4 + 1e-14, 5 + 1e-14, 14 + 1e-14);
	OK(box3_contains(&slack, &reach), "the reach is larger by bits alone");
	box3_reach(&b, 0, &reach);
	OK(box3_contains(&reach, &b) && box3_distance(&b, &reach) == 0, "a reach of 0");
	box3_reach(&b, LARGEST, &reach);
	OK(reach.lo[0] == -INFINITY && reach.hi[0] == INFINITY, "a reach out of range");
	box3_reach(&at_infinity, 3, &reach);
	OK(reach.lo[0] == INFINITY && reach.hi[0] == INFINITY,
	   "nothing finite is in finite reach of infinity");
	OK(reach.lo[2] == -INFINITY && reach.hi[2] >= 8, "a half-endless side has one end");
	box3_reach(&at_infinity, INFINITY, &reach);
	OK(reach.lo[0] == -INFINITY && reach.hi[2] == INFINITY,
	   "everything is in infinite reach");
}

int
main(void)
{
	Rng rng = rng_start();

	known_distances();
	exact_at_all_scales();
	accuracy(&rng);
	max_distance_of_corners(&rng);
	max_distance_at_infinity();
	monotone_for_any_boxes(&rng);
	monotone_at_the_seams(&rng);
	monotone_at_all_exponents(&rng);
	penetration(&rng);
	reach_misses_nothing(&rng);
	reach_known();
	return tap_done();
}
