/*-------------------------------------------------------------------------
 *
 * test_box3.c
 *	  Boxes: predicates, construction, order, measures, affine maps.
 *
 * Distances have test_box3_distance.c.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "tap.h"

/* ---------------------------------------------------------------- predicates */

/* [lo, hi] on axis d, [0, 9] on the others */
static Box3
slab(int d, double lo, double hi)
{
	Box3 box = make_box(0, 0, 0, 9, 9, 9);

	box.lo[d] = lo;
	box.hi[d] = hi;
	return box;
}

/* touching is neither before nor after; equal ends are "not after" both ways */
static void
side_predicates(void)
{
	for (int d = 0; d < 3; d++)
	{
		Box3 a = slab(d, 0, 1);
		Box3 b = slab(d, 1, 2);
		Box3 c = slab(d, 1.5, 3);

		OK(!box3_before(&a, &b, d), "axis %d: a box is not before one it touches", d);
		OK(box3_before(&a, &c, d), "axis %d: before one it does not reach", d);
		OK(!box3_before(&c, &a, d), "axis %d: before is no mutual relation", d);
		OK(box3_not_after(&a, &b, d), "axis %d: not after one that ends later", d);
		OK(!box3_not_after(&b, &a, d), "axis %d: after one that ends earlier", d);
		OK(!box3_after(&b, &a, d), "axis %d: not after one it touches", d);
		OK(box3_after(&c, &a, d), "axis %d: after one that does not reach it", d);
		OK(box3_not_before(&b, &a, d), "axis %d: not before one that starts earlier", d);
		OK(!box3_not_before(&a, &b, d), "axis %d: before one that starts later", d);
		OK(box3_not_after(&a, &a, d) && box3_not_before(&a, &a, d),
		   "axis %d: neither before nor after itself",
		   d);
		OK(!box3_overlaps(&a, &c) && !box3_contains(&a, &c),
		   "axis %d counts: boxes apart on it do not overlap",
		   d);
		OK(box3_overlaps(&a, &b) && !box3_overlaps_strictly(&a, &b),
		   "axis %d: touching is an overlap, but no strict one",
		   d);
	}
}

/* points 2 * lo .. 2 * hi of a line of half units, a bit for each */
static unsigned
covered(const Box3 *b, int d)
{
	return (2u << (int) (2 * b->hi[d])) - (1u << (int) (2 * b->lo[d]));
}

/* the points without the ends; a flat side counts as inside of itself */
static unsigned
interior(const Box3 *b, int d)
{
	unsigned all = covered(b, d);

	return (all & all << 1 & all >> 1) != 0 ? all & all << 1 & all >> 1 : all;
}

/* what the predicates say about two boxes, from sets of points */
static bool
agrees_with_points(const Box3 *a, const Box3 *b)
{
	bool overlaps = true;
	bool strictly = true;
	bool contains = true;
	bool equal = true;

	for (int d = 0; d < 3; d++)
	{
		bool both_flat = a->lo[d] == a->hi[d] && b->lo[d] == b->hi[d];

		overlaps &= (covered(a, d) & covered(b, d)) != 0;
		strictly &= !both_flat && (interior(a, d) & interior(b, d)) != 0;
		contains &= (covered(b, d) & ~covered(a, d)) == 0;
		equal &= covered(a, d) == covered(b, d);
	}
	return box3_overlaps(a, b) == overlaps && box3_overlaps_strictly(a, b) == strictly &&
		   box3_contains(a, b) == contains && box3_equal(a, b) == equal &&
		   (box3_compare(a, b) == 0) == equal;
}

/* is "common" what both boxes cover, and "either" the least that covers both? */
static bool
is_lattice(const Box3 *a, const Box3 *b)
{
	Box3 common;
	Box3 either = *a;
	bool meet = box3_intersect(a, b, &common);

	box3_include(&either, b);
	if (meet != box3_overlaps(a, b))
		return false;
	for (int d = 0; d < 3; d++)
	{
		if (meet && covered(&common, d) != (covered(a, d) & covered(b, d)))
			return false;
		if (either.lo[d] != fmin(a->lo[d], b->lo[d]) ||
			either.hi[d] != fmax(a->hi[d], b->hi[d]))
			return false;
	}
	return true;
}

/* the n-th box with whole coordinates 0 .. 2: 216 of them */
static Box3
nth_box(int n)
{
	static const double lo[6] = {0, 0, 0, 1, 1, 2};
	static const double hi[6] = {0, 1, 2, 1, 2, 2};
	Box3 box;

	for (int d = 0; d < 3; d++, n /= 6)
	{
		box.lo[d] = lo[n % 6];
		box.hi[d] = hi[n % 6];
	}
	return box;
}

static void
all_small_pairs(void)
{
	for (int i = 0; i < 216; i++)
		for (int j = 0; j < 216; j++)
		{
			Box3 a = nth_box(i);
			Box3 b = nth_box(j);

			if (!agrees_with_points(&a, &b) || !is_lattice(&a, &b))
			{
				FAIL("predicates, intersection and union are those of sets of points");
				show_box("a", &a);
				show_box("b", &b);
				return;
			}
		}
	PASS("predicates, intersection and union are those of sets of points");
}

/* ---------------------------------------------------------------- construction */

static void
corners(void)
{
	Box3 box;
	Box3 want = make_box(1, 3, 0, 2, 5, 9);
	const double zeros[3] = {-0.0, 0.0, -0.0};
	const double ones[3] = {1, -0.0, -1};

	OK(box3_from_corners((const double[]){2, 5, 0}, (const double[]){1, 3, 9}, &box) &&
		   box3_equal(&box, &want),
	   "corners in any order give the same box");
	box3_from_corners((const double[]){1.23456789012345, 0, 0},
					  (const double[]){1, 0, 0},
					  &box);
	OK(box.lo[0] == 1.0 && box.hi[0] == 1.23456789012345, "ordering loses no digits");

	OK(box3_from_corners(zeros, ones, &box) && box3_is_valid(&box),
	   "negative zeros become zeros");
	OK(!signbit(box.lo[0]) && !signbit(box.lo[1]) && !signbit(box.hi[1]) &&
		   !signbit(box.hi[2]),
	   "equal boxes are equal bytes");

	for (int i = 0; i < 6; i++)
	{
		double p[6] = {1, 2, 3, 4, 5, 6};

		p[i] = i % 2 ? NAN : -NAN;
		OK(!box3_from_corners(&p[0], &p[3], &box), "NaN as number %d is refused", i + 1);
	}
	OK(box3_from_corners((const double[]){INFINITY, -INFINITY, 0},
						 (const double[]){-INFINITY, -INFINITY, INFINITY},
						 &box) &&
		   box3_is_valid(&box),
	   "infinite corners are accepted");
}

static void
validity(void)
{
	for (int i = 0; i < 6; i++)
	{
		Box3 box = make_box(0, 0, 0, 1, 1, 1);
		double *bound = i < 3 ? &box.lo[i] : &box.hi[i - 3];

		*bound = NAN;
		OK(!box3_is_valid(&box), "NaN as bound %d is invalid", i + 1);
		*bound = -0.0;
		OK(!box3_is_valid(&box), "-0 as bound %d is invalid", i + 1);
		*bound = i < 3 ? 2 : -1;
		OK(!box3_is_valid(&box), "bound %d beyond the other is invalid", i + 1);
		*bound = i < 3 ? -INFINITY : INFINITY;
		OK(box3_is_valid(&box), "an infinite bound %d is valid", i + 1);
	}
	for (int d = 0; d < 3; d++)
	{
		Box3 point = make_point(1, INFINITY, -INFINITY);

		OK(box3_is_point(&point), "equal bounds are a point, at infinity too");
		point.lo[d] = d == 1 ? 7 : -INFINITY;
		point.hi[d] = d == 2 ? 7 : point.hi[d];
		OK(!box3_is_point(&point), "not with a side along axis %d", d);
	}
}

static void
order(Rng *rng)
{
	for (int i = 0; i < 200000; i++)
	{
		Box3 a = rng_any_box(rng);
		Box3 b = rng_any_box(rng);
		Box3 c = rng_any_box(rng);
		int ab = box3_compare(&a, &b);
		int bc = box3_compare(&b, &c);
		int ac = box3_compare(&a, &c);

		if (ab != -box3_compare(&b, &a) || (ab == 0) != box3_equal(&a, &b) ||
			box3_compare(&a, &a) != 0 || (ab <= 0 && bc <= 0 && ac > 0) ||
			(ab < 0 && bc <= 0 && ac == 0))
		{
			FAIL("box3_compare is a total order, and 0 means equal");
			show_box("a", &a);
			show_box("b", &b);
			show_box("c", &c);
			return;
		}
	}
	PASS("box3_compare is a total order, and 0 means equal");
}

/* ---------------------------------------------------------------- measures */

static void
centers(Rng *rng)
{
	static const struct
	{
		double lo;
		double hi;
		double center;
	} known[] = {
		{1, 4, 2.5},
		{-2, 2, 0},
		{-INFINITY, INFINITY, 0},
		{INFINITY, INFINITY, INFINITY},
		{-INFINITY, -INFINITY, -INFINITY},
		{5, INFINITY, INFINITY},
		{-INFINITY, 5, -INFINITY},
		{LARGEST, LARGEST, LARGEST},
		{0x1p1023, LARGEST, 0x1.8p1023},
		{-LARGEST, -0x1p1023, -0x1.8p1023},
		{-LARGEST, LARGEST, 0},
		{DENORM_MIN, DENORM_MIN, DENORM_MIN},
		{DENORM_MIN, 3 * DENORM_MIN, 2 * DENORM_MIN},
		{-DENORM_MIN, 0, 0},
	};

	for (int i = 0; i < LENGTH_OF(known); i++)
	{
		Box3 box = slab(i % 3, known[i].lo, known[i].hi);
		double center = box3_center(&box, i % 3);

		OK(center == known[i].center && !(center == 0 && signbit(center)),
		   "the center of %g .. %g is %g",
		   known[i].lo,
		   known[i].hi,
		   known[i].center);
	}
	for (int i = 0; i < 300000; i++)
	{
		Box3 box = rng_any_box(rng);
		int d = rng_below(rng, 3);
		double center = box3_center(&box, d);

		if (!(box.lo[d] <= center && center <= box.hi[d]) ||
			(center == 0 && signbit(center)))
		{
			FAIL("a center lies within its side, and is not -0");
			show_box("box", &box);
			return;
		}
	}
	PASS("a center lies within its side, and is not -0");
}

/* a box with these sides at the origin */
static Box3
box_of_sides(double x, double y, double z)
{
	return make_box(0, 0, 0, x, y, z);
}

static void
known_measures(void)
{
	static const struct
	{
		double side[3];
		double volume;
		double area;
	} known[] = {
		{{1, 2, 3}, 6, 22},
		{{0, 0, 0}, 0, 0},
		{{0, 2, 3}, 0, 12},
		{{0, 0, 3}, 0, 0},
		{{INFINITY, 2, 3}, INFINITY, INFINITY},
		/* a zero side wins over an infinite one */
		{{INFINITY, 0, 3}, 0, INFINITY},
		{{INFINITY, INFINITY, 0}, 0, INFINITY},
		{{INFINITY, 0, 0}, 0, 0},
		/* only the result may leave the range */
		{{0x1p700, 0x1p700, 0x1p-900}, 0x1p500, INFINITY},
		{{0x1p-700, 0x1p-700, 0x1p900}, 0x1p-500, 0x1p202},
		{{0x1p-700, 0x1p1000, 0x1p-300}, 1, 0x1p701},
		{{0x1p511, 0x1p511, 0x1p-1022}, 1, 0x1p1023},
		{{0x1p-540, 0x1p-540, 0x1p540}, 0x1p-540, 4},
		{{0x1p400, 0x1p400, 0x1p400}, INFINITY, 0x1.8p802},
		{{0x1p-400, 0x1p-400, 0x1p-400}, 0, 0x1.8p-798},
		{{DENORM_MIN, 0x1p1000, 0x1p74}, 1, INFINITY},
	};

	for (int i = 0; i < LENGTH_OF(known); i++)
	{
		const double *side = known[i].side;
		Box3 box = box_of_sides(side[0], side[1], side[2]);
		Box3 turned = box_of_sides(side[2], side[0], side[1]);

		OK(box3_volume(&box) == known[i].volume &&
			   box3_volume(&turned) == known[i].volume,
		   "volume of %g x %g x %g",
		   side[0],
		   side[1],
		   side[2]);
		/* beside the largest area the others round away */
		OK(fabs(box3_surface_area(&box) / known[i].area - 1.0) < 0x1p-50 ||
			   box3_surface_area(&box) == known[i].area,
		   "surface area of %g x %g x %g",
		   side[0],
		   side[1],
		   side[2]);
	}
}

static void
extreme_measures(void)
{
	Box3 longer = make_box(-0x1p1023, 0, 0, 0x1p1023, 0x1p-1000, 1);
	Box3 tiny = box_of_sides(0x1.4p-538, 0x1.4p-538, 0x1.4p-538);
	Box3 far = make_box(INFINITY, 0, 0, INFINITY, 2, 3);

	OK(box3_volume(&longer) == 0x1p24,
	   "volume with a side longer than the largest double");
	OK(box3_surface_area(&longer) == INFINITY, "and its area, which is out of range");
	longer.hi[2] = 0x1p-1000;
	OK(box3_surface_area(&longer) == 0x1p26, "area with such a side");

	/* 6 * 1.25^2 * 2^-1076, of which no face alone is half of the least double */
	OK(box3_surface_area(&tiny) == 2 * DENORM_MIN,
	   "area whose faces underflow one by one");

	OK(box3_volume(&far) == 0.0, "a flat box at infinity has volume 0");
	OK(box3_surface_area(&far) == 12.0, "and its area is finite");
}

/* unit cells that both boxes cover */
static int
common_cells(const Box3 *a, const Box3 *b)
{
	int n = 0;

	for (int x = -3; x < 3; x++)
		for (int y = -3; y < 3; y++)
			for (int z = -3; z < 3; z++)
			{
				Box3 cell = make_box(x, y, z, x + 1, y + 1, z + 1);

				n += box3_contains(a, &cell) && box3_contains(b, &cell);
			}
	return n;
}

static void
measures_of_small_boxes(Rng *rng)
{
	for (int i = 0; i < 2000; i++)
	{
		Box3 a = rng_box(rng, rng_small);
		Box3 b = rng_box(rng, rng_small);
		double s[3];

		for (int d = 0; d < 3; d++)
			s[d] = a.hi[d] - a.lo[d];
		if (box3_volume(&a) != common_cells(&a, &a) ||
			box3_overlap_volume(&a, &b) != common_cells(&a, &b) ||
			box3_surface_area(&a) != 2 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0]))
		{
			FAIL("volumes count unit cells, areas unit squares");
			show_box("a", &a);
			show_box("b", &b);
			return;
		}
	}
	PASS("volumes count unit cells, areas unit squares");
}

static void
measures_of_wild_boxes(Rng *rng)
{
	for (int i = 0; i < 200000; i++)
	{
		Box3 a = rng_any_box(rng);
		Box3 b = rng_any_box(rng);
		Box3 both = a;

		/* never NaN, and no box measures more than one that contains it */
		box3_include(&both, &b);
		if (!(box3_volume(&a) >= 0 && box3_surface_area(&a) >= 0) ||
			!(box3_volume(&both) >= box3_volume(&a)) ||
			!(box3_surface_area(&both) >= box3_surface_area(&a) * (1 - 0x1p-50)) ||
			!(box3_overlap_volume(&a, &b) <= box3_volume(&a)))
		{
			FAIL("measures are numbers, and grow with the box");
			show_box("a", &a);
			show_box("b", &b);
			return;
		}
	}
	PASS("measures are numbers, and grow with the box");
}

/* ---------------------------------------------------------------- affine maps */

/* bounds of the eight mapped corners; exact for small whole numbers */
static void
map_corners(const Box3 *b, const double m[12], double lo[3], double hi[3])
{
	for (int row = 0; row < 3; row++)
	{
		lo[row] = INFINITY;
		hi[row] = -INFINITY;
		for (int corner = 0; corner < 8; corner++)
		{
			double x = m[row * 4 + 3];

			for (int d = 0; d < 3; d++)
				x += m[row * 4 + d] * (corner >> d & 1 ? b->hi[d] : b->lo[d]);
			lo[row] = fmin(lo[row], x);
			hi[row] = fmax(hi[row], x);
		}
	}
}

static void
transform_equals_corners(Rng *rng)
{
	for (int i = 0; i < 20000; i++)
	{
		Box3 box = rng_box(rng, rng_small);
		double m[12];
		double lo[3];
		double hi[3];
		double want_lo[3];
		double want_hi[3];

		for (int k = 0; k < 12; k++)
			m[k] = rng_int(rng, -5, 5) * 0.25;
		box3_transform(&box, m, lo, hi);
		map_corners(&box, m, want_lo, want_hi);
		for (int d = 0; d < 3; d++)
			if (lo[d] != want_lo[d] || hi[d] != want_hi[d])
			{
				FAIL("a mapped box bounds its mapped corners exactly");
				show_box("box", &box);
				return;
			}
	}
	PASS("a mapped box bounds its mapped corners exactly");
}

static void
transform_infinite(void)
{
	Box3 plate = make_box(-INFINITY, -INFINITY, 1, INFINITY, 5, 2);
	const double moved[12] = {1, 0, 0, 7, 0, 1, 0, 7, 0, 0, 1, 7};
	const double flat[12] = {0, 0, 0, 7, 0, -1, 0, 7, 0, 0, -2, 0};
	const double mixed[12] = {1, 1, 0, 0, 1, -1, 0, 0, 0, -0.0, 0, 3};
	double lo[3];
	double hi[3];

	box3_transform(&plate, moved, lo, hi);
	OK(lo[0] == -INFINITY && hi[0] == INFINITY && lo[1] == -INFINITY && hi[1] == 12 &&
		   lo[2] == 8 && hi[2] == 9,
	   "moving keeps infinite sides infinite");
	box3_transform(&plate, flat, lo, hi);
	OK(lo[0] == 7 && hi[0] == 7, "a zero coefficient wins over an infinite side");
	OK(lo[1] == 2 && hi[1] == INFINITY && lo[2] == -4 && hi[2] == -2,
	   "a negative one swaps the ends");
	box3_transform(&plate, mixed, lo, hi);
	OK(lo[0] == -INFINITY && hi[0] == INFINITY && lo[1] == -INFINITY && hi[1] == INFINITY,
	   "infinite sides add up");
	OK(lo[2] == 3 && hi[2] == 3, "-0 is a zero coefficient");

	plate = make_box(INFINITY, -INFINITY, 0, INFINITY, -INFINITY, 0);
	box3_transform(&plate, mixed, lo, hi);
	OK(isnan(lo[0]) && isnan(hi[0]),
	   "opposite infinities give NaN, for the caller to find");
}

static void
transform_rounds_alike(Rng *rng)
{
	for (int i = 0; i < 100000; i++)
	{
		Box3 box = rng_box(rng, rng_percent);
		double m[12];
		double lo[3];
		double hi[3];

		for (int k = 0; k < 12; k++)
			m[k] = rng_between(rng, -2, 2);
		box3_transform(&box, m, lo, hi);
		if (!(lo[0] <= hi[0] && lo[1] <= hi[1] && lo[2] <= hi[2]))
		{
			FAIL("a mapped box is never inverted");
			show_box("box", &box);
			return;
		}
	}
	PASS("a mapped box is never inverted");
}

int
main(void)
{
	Rng rng = rng_start();

	side_predicates();
	all_small_pairs();
	corners();
	validity();
	order(&rng);
	centers(&rng);
	known_measures();
	extreme_measures();
	measures_of_small_boxes(&rng);
	measures_of_wild_boxes(&rng);
	transform_equals_corners(&rng);
	transform_infinite();
	transform_rounds_alike(&rng);
	return tap_done();
}
