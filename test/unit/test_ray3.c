/*-------------------------------------------------------------------------
 *
 * test_ray3.c
 *	  Which boxes a moving box meets, and when: against fractions of whole
 *	  numbers, and what index scans rely on.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "shapes.h"

/* numerator / denominator, denominator >= 0; (1, 0) is endless */
typedef struct Fraction
{
	__int128 over;
	__int128 under;
} Fraction;

static bool
is_less(Fraction a, Fraction b)
{
	return a.over * b.under < b.over * a.under;
}

/*
 * The definition, on whole numbers: the largest of the starts is not after the
 * least of the ends.  Sets entry to the start.
 */
static bool
meets_in_fractions(const Ray3 *ray, const Box3 *b, Fraction *entry)
{
	Fraction start = {0, 1};
	Fraction end = {1, 0};

	if (isfinite(ray->tmax))
		end = (Fraction){(__int128) ray->tmax, 1};
	for (int d = 0; d < 3; d++)
	{
		__int128 speed = (__int128) ray->direction[d];
		/* what is added to the moving box must be in [least, most] */
		__int128 least = (__int128) b->lo[d] - (__int128) ray->box.hi[d];
		__int128 most = (__int128) b->hi[d] - (__int128) ray->box.lo[d];
		Fraction from = {speed > 0 ? least : -most, speed > 0 ? speed : -speed};
		Fraction to = {speed > 0 ? most : -least, speed > 0 ? speed : -speed};

		if (speed == 0)
		{
			if (least > 0 || most < 0)
				return false;
			continue;
		}
		if (is_less(start, from))
			start = from;
		if (is_less(to, end))
			end = to;
	}
	*entry = start;
	return !is_less(end, start);
}

/* whole numbers up to most; a ray through small ones grazes all the time */
static Ray3
rng_whole_ray(Rng *rng, int64_t most, bool is_sweep)
{
	double p[3];
	double q[3];
	double direction[3];
	double tmax = rng_below(rng, 3) ? INFINITY : rng_int(rng, 0, 3);
	Ray3 ray;

	do
		for (int d = 0; d < 3; d++)
		{
			p[d] = (double) rng_whole(rng, most);
			q[d] = is_sweep ? (double) rng_whole(rng, most) : p[d];
			direction[d] = rng_below(rng, 4) ? (double) rng_whole(rng, most) : 0.0;
			if (rng_below(rng, 8) == 0)
				direction[d] = -0.0;
		}
	while (ray3_make(p, q, direction, tmax, &ray) != RAY3_OK);
	return ray;
}

/* the same ray with places times 2^k, directions times 2^m; false out of range */
static bool
scale_ray(const Ray3 *ray, int k, int m, Ray3 *scaled)
{
	Box3 start = scale_box(&ray->box, k);
	double direction[3];

	for (int d = 0; d < 3; d++)
		direction[d] = ldexp(ray->direction[d], m);
	return ray3_make(start.lo, start.hi, direction, ldexp(ray->tmax, k - m), scaled) ==
		   RAY3_OK;
}

/*
 * Small numbers graze; large ones need all 53 bits of theirs, and a hundred of
 * the products.
 */
static void
is_exact(Rng *rng, int64_t most, bool is_sweep)
{
	int nhits = 0;
	int ntouching = 0;
	const int n = 40000;

	for (int i = 0; i < n; i++)
	{
		Ray3 ray = rng_whole_ray(rng, most, is_sweep);
		Box3 box = rng_whole_box(rng, most);
		Box3 thinner = box;
		Fraction entry;
		Fraction unused;
		bool want;
		double t = ray3_entry(&ray, &box);

		if (rng_below(rng, 2))
		{
			/* aimed at a corner of the box, from somewhere */
			for (int d = 0; d < 3; d++)
				ray.direction[d] = (rng_below(rng, 2) ? box.lo[d] : box.hi[d]) -
								   ray.box.lo[d] + 0.0;
			if (ray.direction[0] == 0 && ray.direction[1] == 0 && ray.direction[2] == 0)
				continue;
			t = ray3_entry(&ray, &box);
		}
		want = meets_in_fractions(&ray, &box, &entry);
		if (ray3_meets(&ray, &box) != want || isfinite(t) != want)
		{
			FAIL("%s among numbers up to %" PRId64, is_sweep ? "sweep" : "ray", most);
			show_ray(&ray);
			show_box("box", &box);
			NOTE("should %smeet, at %g", want ? "" : "not ", t);
			return;
		}
		nhits += want;
		if (want)
		{
			long double exact = (long double) entry.over / (long double) entry.under;

			if (fabsl((long double) t - exact) > exact * 0x1p-51L || t > ray.tmax ||
				t < 0)
			{
				FAIL("time of entry, among numbers up to %" PRId64, most);
				show_ray(&ray);
				show_box("box", &box);
				NOTE("%a, not %La", t, exact);
				return;
			}
		}

		/* how often did only a border meet? */
		for (int d = 0; d < 3; d++)
			if (thinner.hi[d] - thinner.lo[d] > 0)
			{
				thinner = box;
				thinner.hi[d] -= 1;
				ntouching += want && !meets_in_fractions(&ray, &thinner, &unused);
			}

		/* at any scale, where double can hold all of it */
		for (int k = 0; k < 3 && most < 100; k++)
		{
			int up = rng_int(rng, -1074, most <= 3 ? 1022 : 1015);
			int along = rng_int(rng, -1074, 1015);
			Ray3 scaled;
			Box3 scaled_box = scale_box(&box, up);

			if (isfinite(ray.tmax) && abs(up - along) > 1000)
				continue;
			if (scale_ray(&ray, up, along, &scaled) &&
				ray3_meets(&scaled, &scaled_box) != want)
			{
				FAIL("scaled by 2^%d and 2^%d", up, along);
				show_ray(&scaled);
				show_box("box", &scaled_box);
				return;
			}
		}
	}
	OK(nhits > n / 50 && nhits < n * 49 / 50,
	   "%s among numbers up to %" PRId64 " (%d meet, %d of them touching)",
	   is_sweep ? "sweep" : "ray",
	   most,
	   nhits,
	   ntouching);
}

/* a finite coordinate of any kind */
static double
rng_finite(Rng *rng)
{
	double x;

	do
		x = rng_wild(rng);
	while (isinf(x));
	return x;
}

static Ray3
rng_any_ray(Rng *rng)
{
	double (*coordinate)(Rng *) = rng_below(rng, 3) ? rng_small : rng_finite;
	double (*slope)(Rng *) = rng_below(rng, 3) ? rng_small : rng_finite;
	Ray3 ray;
	double p[3];
	double q[3];
	double direction[3];
	bool is_ray = rng_below(rng, 2);

	do
		for (int d = 0; d < 3; d++)
		{
			p[d] = coordinate(rng);
			q[d] = is_ray ? p[d] : coordinate(rng);
			direction[d] = slope(rng);
		}
	while (ray3_make(p,
					 q,
					 direction,
					 rng_below(rng, 2) ? INFINITY : fabs(rng_wild(rng)),
					 &ray) != RAY3_OK);
	return ray;
}

/*
 * What scans rely on: a box that is met has a time of entry, it is in the range
 * of the shape, and nothing that contains it is passed over or entered later.
 */
static void
never_lost(Rng *rng)
{
	int nmet = 0;

	for (int i = 0; i < 300000; i++)
	{
		Ray3 ray = rng_any_ray(rng);
		BvhShape filter = {BVH_MEETS_RAY, &ray};
		BvhShape order = {BVH_RAY_ENTRY, &ray};
		Box3 box = rng_below(rng, 2) ? rng_any_box(rng) : rng_box(rng, rng_small);
		Box3 other = rng_any_box(rng);
		Box3 node = box;
		bool meets = shape_matches(&filter, &box);
		double t = shape_distance(&order, &box);
		BoxRange range;
		BoxRange node_range;

		/* a node that only just contains it, now and then */
		if (rng_below(rng, 2))
			box3_include(&node, &other);
		else
			for (int d = 0; d < 3; d++)
			{
				if (rng_below(rng, 2))
					node.lo[d] = nextafter(node.lo[d], -INFINITY) + 0.0;
				if (rng_below(rng, 2))
					node.hi[d] = nextafter(node.hi[d], INFINITY) + 0.0;
			}
		shape_range(&filter, &range);
		box3_node_range(&range, &node_range);
		if (meets != isfinite(t) || (meets && (t < 0 || t > ray.tmax || signbit(t))))
		{
			FAIL("box && ray says what box <-> ray does");
			show_ray(&ray);
			show_box("box", &box);
			NOTE("%d, %a", meets, t);
			return;
		}
		nmet += meets;
		if (!meets)
			continue;
		if (!box3_in_range(&box, &range) || !box3_in_range(&node, &node_range) ||
			!shape_may_match_below(&filter, &node))
		{
			FAIL("what is met is never passed over");
			show_ray(&ray);
			show_box("box", &box);
			show_box("node", &node);
			return;
		}
		if (shape_distance(&order, &node) > t)
		{
			FAIL("a node is entered no later than a box in it");
			show_ray(&ray);
			show_box("box", &box);
			show_box("node", &node);
			NOTE("%a, %a", shape_distance(&order, &node), t);
			return;
		}
	}
	OK(nmet > 20000, "what is met is never lost (%d)", nmet);
}

/* a corner of it lies on the ray, if that has whole numbers */
static Box3
box_touched_by(Rng *rng, const Ray3 *ray)
{
	int t = rng_int(rng, 0, 40);
	Box3 box;
	double p[3];
	double q[3];

	for (int d = 0; d < 3; d++)
	{
		p[d] = ray->box.lo[d] + t * ray->direction[d];
		q[d] = p[d] + rng_int(rng, -40, 40);
	}
	box3_from_corners(p, q, &box);
	return box;
}

/* the boxes of a page that are met, among those that overlap the bounds */
static void
selects_what_it_meets(Rng *rng)
{
	Box3 page[40];
	uint16_t offset[LENGTH_OF(page)];
	int nmet = 0;
	int nmissed = 0;

	for (int i = 0; i < 15000; i++)
	{
		/* of whole numbers, many corners are just touched, after much rounding */
		bool is_whole = rng_below(rng, 2);
		Ray3 ray = is_whole ? rng_whole_ray(rng, 1000, false) : rng_any_ray(rng);
		BvhShape shape = {BVH_MEETS_RAY, &ray};
		BvhShapeProbe probe;
		uint16_t selected[LENGTH_OF(page)];
		uint16_t want[LENGTH_OF(page)];
		BoxRange range;
		int n = 0;
		int nwanted = 0;

		shape_range(&shape, &range);
		for (int k = 0; k < LENGTH_OF(page); k++)
		{
			page[k] = rng_below(rng, 3) ? rng_box(rng, rng_small) : rng_any_box(rng);
			if (is_whole)
				page[k] = box_touched_by(rng, &ray);
			offset[k] = (uint16_t) (k * sizeof(Box3));
			if (!box3_in_range(&page[k], &range))
				continue;
			selected[n++] = (uint16_t) k;
			if (ray3_meets(&ray, &page[k]))
				want[nwanted++] = (uint16_t) k;
		}
		nmet += nwanted;
		nmissed += n - nwanted;
		shape_probe(&shape, &probe);
		n = shape_select(&probe, (const char *) page, offset, i % 2 == 0, selected, n);
		if (n != nwanted || memcmp(selected, want, sizeof(uint16_t) * n) != 0)
		{
			FAIL("the boxes of a page that are met");
			show_ray(&ray);
			NOTE("%d selected, %d met", n, nwanted);
			return;
		}
	}
	OK(nmet > 5000 && nmissed > 5000,
	   "the boxes of a page that are met (%d, and %d that are not)",
	   nmet,
	   nmissed);
}

/* small numbers: a moving box is a ray through boxes grown by its size */
static void
sweep_is_growth(Rng *rng)
{
	for (int i = 0; i < 60000; i++)
	{
		Ray3 sweep = rng_whole_ray(rng, 5, true);
		Ray3 ray = sweep;
		Box3 box = rng_whole_box(rng, 5);
		Box3 grown = box;

		ray.box.hi[0] = ray.box.lo[0];
		ray.box.hi[1] = ray.box.lo[1];
		ray.box.hi[2] = ray.box.lo[2];
		for (int d = 0; d < 3; d++)
			grown.lo[d] -= sweep.box.hi[d] - sweep.box.lo[d];
		if (ray3_entry(&sweep, &box) != ray3_entry(&ray, &grown))
		{
			FAIL("a moving box is a ray through grown boxes");
			show_ray(&sweep);
			show_box("box", &box);
			return;
		}
	}
	PASS("a moving box is a ray through grown boxes");
}

static Ray3
make_ray(double ox, double oy, double oz, double dx, double dy, double dz, double tmax)
{
	Ray3 ray;

	ray3_make((const double[]){ox, oy, oz},
			  (const double[]){ox, oy, oz},
			  (const double[]){dx, dy, dz},
			  tmax,
			  &ray);
	return ray;
}

static void
by_hand(void)
{
	Box3 unit = make_box(0, 0, 0, 1, 1, 1);
	Box3 flat = make_box(0, 0, 1, 1, 1, 1);
	Box3 all = make_box(-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY);
	Box3 half = make_box(5, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY);
	Box3 nowhere = make_point(INFINITY, 0, 0);
	Ray3 ray;

	for (int k = 0; k < 8; k++)
	{
		/* -0 must not change sides */
		double zero = k & 1 ? -0.0 : 0.0;
		double away = k & 2 ? -0.0 : 0.0;
		double face = k & 4 ? 1.0 : 0.0;

		ray = make_ray(-1, face, zero, 1, zero, away, INFINITY);
		OK(ray3_entry(&ray, &unit) == 1.0, "along an edge, %d", k);
		ray = make_ray(2, face, 0.5, -1, zero, away, INFINITY);
		OK(ray3_entry(&ray, &unit) == 1.0, "in a face, the other way, %d", k);
	}
	ray = make_ray(-1, 0.5, 1, 1, 0, 0, INFINITY);
	OK(ray3_entry(&ray, &flat) == 1.0, "in the plane of a flat box");
	ray = make_ray(-1, 0.5, nextafter(1, 2), 1, 0, 0, INFINITY);
	OK(!ray3_meets(&ray, &flat), "beside the plane of a flat box");
	ray = make_ray(0.5, 0.5, 0.5, 1, 2, 3, INFINITY);
	OK(ray3_entry(&ray, &unit) == 0.0, "from inside");
	ray = make_ray(1, 1, 1, 1, 2, 3, INFINITY);
	OK(ray3_entry(&ray, &unit) == 0.0, "away from a corner");
	ray = make_ray(-1, 0.5, 0.5, -1, 0, 0, INFINITY);
	OK(ray3_entry(&ray, &unit) == INFINITY, "away");
	ray = make_ray(-1.5, 0.5, 0.5, 1, 0, 0, 1);
	OK(!ray3_meets(&ray, &unit), "ends before");
	ray = make_ray(-1.5, 0.5, 0.5, 1, 0, 0, 1.5);
	OK(ray3_entry(&ray, &unit) == 1.5, "ends there");
	ray = make_ray(-1.5, 0.5, 0.5, 1, 0, 0, 0x1.7ffffffffffffp0);
	OK(!ray3_meets(&ray, &unit), "ends just before");
	ray = make_ray(-1, 0.5, 0.5, 0x1p-900, 0, 0, INFINITY);
	OK(ray3_entry(&ray, &unit) == 0x1p900, "slow");
	ray = make_ray(-1, 0.5, 0.5, DENORM_MIN, 0, 0, INFINITY);
	OK(ray3_entry(&ray, &unit) == LARGEST, "later than a double can say");
	ray = make_ray(-LARGEST, 0.5, 0.5, LARGEST, 0, 0, INFINITY);
	OK(ray3_entry(&ray, &unit) == 1.0, "from afar");
	ray = make_ray(-LARGEST, 0, 0, LARGEST, 0, 0, INFINITY);
	OK(ray3_entry(&ray, &(Box3){{LARGEST, 0, 0}, {LARGEST, 0, 0}}) == 2.0,
	   "across the range of double");
	OK(ray3_entry(&ray, &all) == 0.0, "everything");
	/* past the box on x at time 2, which overflows on the way; there on y at 3 */
	ray = make_ray(-LARGEST, -3, 0, LARGEST, 1, 0, INFINITY);
	OK(!ray3_meets(&ray, &(Box3){{0, 0, 0}, {LARGEST, 1, 0}}),
	   "past it, if one looks closely");
	ray = make_ray(-LARGEST, -1.5, 0, LARGEST, 1, 0, INFINITY);
	OK(ray3_entry(&ray, &(Box3){{0, 0, 0}, {LARGEST, 1, 0}}) == 1.5, "not past it yet");
	ray = make_ray(-LARGEST, 0, 0, LARGEST, 1, 0, INFINITY);
	OK(!ray3_meets(&ray, &nowhere), "a point at infinity");
	ray = make_ray(0, 0, 0, 2, 1, 1, INFINITY);
	OK(ray3_entry(&ray, &half) == 2.5, "a half space");
	ray = make_ray(0, 0, 0, -2, 1, 1, INFINITY);
	OK(!ray3_meets(&ray, &half), "away from a half space");
	ray = make_ray(1, 1, 1, 0, 0, 0, 5);
	OK(ray3_entry(&ray, &unit) == 0.0, "standing there");
	ray = make_ray(2, 1, 1, 0, 0, 0, 5);
	OK(!ray3_meets(&ray, &unit), "standing elsewhere");
	/* 0.1 + 0.2: what a rounded product would decide */
	ray = make_ray(0, 0, 0, 0.1, 0.3, 0, INFINITY);
	OK(!ray3_meets(&ray, &(Box3){{1, 3, 0}, {1, 3, 0}}),
	   "0.3 is not three times 0.1, as numbers of two");
	OK(ray3_meets(&ray, &(Box3){{0.1, 0.3, 0}, {0.1, 0.3, 0}}), "but itself it is");
}

/*
 * A box that is just reached at the end, though the time of entry, as rounded,
 * would be later: what the product of speed and time loses to rounding is put
 * into the origin.
 */
static void
reached_at_the_end(Rng *rng)
{
	int nlater = 0;

	for (int i = 0; i < 20000; i++)
	{
		double speed = rng_between(rng, 1, 2);
		double end = rng_between(rng, 1, 2);
		double lo = speed * end;
		double origin = -fma(speed, end, -lo);
		Ray3 ray = make_ray(origin, 0, 0, speed, 0, 0, end);
		Box3 box = make_box(lo, 0, 0, 9, 0, 0);
		Box3 beyond = make_box(nextafter(lo, 9), 0, 0, 9, 0, 0);

		/* the same, arriving near zero, where little is left of the product */
		Ray3 near_zero = make_ray(-lo, 0, 0, speed, 0, 0, end);
		Box3 arrival = make_point(-origin, 0, 0);
		Box3 bounds;

		nlater += (lo - origin) / speed > end;
		ray3_bounds(&near_zero, &bounds);
		if (!ray3_meets(&near_zero, &arrival) || !box3_overlaps(&bounds, &arrival))
		{
			FAIL("just reached near zero");
			show_ray(&near_zero);
			show_box("box", &arrival);
			return;
		}
		if (!(ray3_entry(&ray, &box) <= end) || ray3_meets(&ray, &beyond))
		{
			FAIL("just reached at the end");
			show_ray(&ray);
			show_box("box", &box);
			return;
		}
	}
	OK(nlater > 100, "just reached at the end (%d would be later)", nlater);
}

static void
what_is_refused(void)
{
	static const double zero[3] = {0, 0, 0};
	static const double one[3] = {1, 0, 0};
	static const double nan[3] = {0, NAN, 0};
	static const double inf[3] = {0, 0, -INFINITY};
	static const double minus[3] = {-0.0, 1, -0.0};
	Ray3 ray;

	OK(ray3_make(nan, zero, one, 1, &ray) == RAY3_NAN, "NaN in the start");
	OK(ray3_make(zero, nan, one, 1, &ray) == RAY3_NAN, "NaN in the other corner");
	OK(ray3_make(zero, zero, nan, 1, &ray) == RAY3_NAN, "NaN in the direction");
	OK(ray3_make(zero, zero, one, NAN, &ray) == RAY3_NAN, "NaN for the end");
	OK(ray3_make(inf, inf, one, 1, &ray) == RAY3_INFINITE_START, "an infinite start");
	OK(ray3_make(zero, zero, inf, 1, &ray) == RAY3_INFINITE_DIRECTION,
	   "an infinite direction");
	OK(ray3_make(zero, zero, one, -1, &ray) == RAY3_NEGATIVE_TMAX, "a negative end");
	OK(ray3_make(zero, zero, zero, INFINITY, &ray) == RAY3_STANDS_STILL,
	   "standing still for ever");
	OK(ray3_make(zero, zero, zero, 1, &ray) == RAY3_OK, "but not for a while");
	OK(ray3_make(minus, minus, minus, -0.0, &ray) == RAY3_OK && !signbit(ray.tmax) &&
		   !signbit(ray.direction[0]) && !signbit(ray.box.lo[0]),
	   "-0 becomes 0");
	for (int i = RAY3_NAN; i <= RAY3_STANDS_STILL; i++)
		OK(ray3_problem_text((Ray3Problem) i)[0] == 'A' ||
			   ray3_problem_text((Ray3Problem) i)[0] == 'T',
		   "a sentence for it, %d",
		   i);
}

int
main(void)
{
	Rng rng = rng_start();

	is_exact(&rng, 3, false);
	is_exact(&rng, 3, true);
	is_exact(&rng, 40, false);
	is_exact(&rng, 40, true);
	is_exact(&rng, INT64_C(1) << 51, false);
	is_exact(&rng, INT64_C(1) << 51, true);
	never_lost(&rng);
	selects_what_it_meets(&rng);
	sweep_is_growth(&rng);
	reached_at_the_end(&rng);
	by_hand();
	what_is_refused();
	return tap_done();
}
