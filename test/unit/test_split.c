/*-------------------------------------------------------------------------
 *
 * test_split.c
 *	  Dividing a set of boxes: fill, determinism and quality for sets of every
 *	  kind.
 *
 * A split that may leave one box alone makes an index a page for each box of
 * nested or sorted input.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/split.h"
#include "tap.h"

/* about two pages of boxes; and a large one, where the bins are full */
#define PAGE_FULL 136
#define MOST      1000

/* a set, and how it was cut: numbers of the boxes, the left half first */
typedef struct Division
{
	int order[MOST];
	int nleft;
} Division;

static SplitItem items[MOST];

/* size keys are looked at afterwards, see size_keys_are_monotone() */
static void
divide(const Box3 *boxes, int n, double min_fill, Division *division)
{
	for (int i = 0; i < n; i++)
	{
		items[i].box = boxes[i];
		items[i].number = i;
	}
	division->nleft = bvh_split(items, n, min_fill);
	for (int i = 0; i < n; i++)
		division->order[i] = items[i].number;
}

static bool
is_same(const Division *a, const Division *b, int n)
{
	return a->nleft == b->nleft &&
		   memcmp(a->order, b->order, n * sizeof(a->order[0])) == 0;
}

static bool
is_permutation(const Division *division, int n)
{
	bool seen[MOST] = {false};

	for (int i = 0; i < n; i++)
	{
		int number = division->order[i];

		if (number < 0 || number >= n || seen[number])
			return false;
		seen[number] = true;
	}
	return true;
}

/* what each half holds at least */
static int
least_fill(int n, double min_fill)
{
	int least = (int) floor(min_fill * n);

	return least < 1 ? 1 : least;
}

static Box3
bounds_of(const Box3 *boxes, const int *order, int n)
{
	Box3 bounds = boxes[order[0]];

	for (int i = 1; i < n; i++)
		box3_include(&bounds, &boxes[order[i]]);
	return bounds;
}

/* ---------------------------------------------------------------- sets */

typedef Box3 (*Nth)(Rng *rng, int i);

static Box3
uniform(Rng *rng, int i)
{
	(void) i;
	return rng_world_box(rng, 5.0);
}

static Box3
wild(Rng *rng, int i)
{
	(void) i;
	return rng_any_box(rng);
}

static Box3
identical(Rng *rng, int i)
{
	(void) rng;
	(void) i;
	return make_box(1, 2, 3, 4, 5, 6);
}

static Box3
concentric(Rng *rng, int i)
{
	(void) rng;
	return make_box(-i - 1, -i - 1, -i - 1, i + 1, i + 1, i + 1);
}

static Box3
concentric_shuffled(Rng *rng, int i)
{
	return concentric(rng, i * 53 % PAGE_FULL);
}

static Box3
corner_sharing(Rng *rng, int i)
{
	(void) rng;
	return make_box(0, 0, 0, i + 1, i + 1, i + 1);
}

static Box3
collinear(Rng *rng, int i)
{
	(void) rng;
	return make_point(3, i * 7 % 100, 3);
}

static Box3
sorted(Rng *rng, int i)
{
	(void) rng;
	return make_box(i, 0, 0, i + 1, 1, 1);
}

static Box3
growing(Rng *rng, int i)
{
	double size = ldexp(1.0, i % 1000);

	(void) rng;
	return make_box(size, size, size, 2 * size, 2 * size, 2 * size);
}

static Box3
two_scales(Rng *rng, int i)
{
	return rng_world_box(rng, i % 2 ? 1e-3 : 80.0);
}

static Box3
flat(Rng *rng, int i)
{
	Box3 box = rng_world_box(rng, 5.0);

	(void) i;
	box.lo[2] = box.hi[2] = 4;
	return box;
}

static Box3
infinite_sides(Rng *rng, int i)
{
	Box3 box = rng_world_box(rng, 5.0);

	for (int d = 0; d < 3; d++)
	{
		box.lo[d] = rng_below(rng, 3) ? box.lo[d] : -INFINITY;
		box.hi[d] = rng_below(rng, 3) ? box.hi[d] : INFINITY;
	}
	return i % 4 ? box : rng_world_box(rng, 5.0);
}

static Box3
half_spaces(Rng *rng, int i)
{
	(void) rng;
	return make_box(-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, i % 3);
}

static Box3
all_infinite(Rng *rng, int i)
{
	double x = i % 2 ? INFINITY : -INFINITY;

	(void) rng;
	return i % 3
			   ? make_point(x, x, x)
			   : make_box(-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY);
}

static Box3
huge_and_tiny(Rng *rng, int i)
{
	static const double scale[] = {1e300, 1e-300, 1.7e308};
	Box3 box = rng_world_box(rng, 50.0);
	double factor = scale[i % 3] / 150.0;

	for (int d = 0; d < 3; d++)
	{
		box.lo[d] = (box.lo[d] - 50.0) * factor;
		box.hi[d] = (box.hi[d] - 50.0) * factor;
	}
	return box;
}

static Box3
tiny(Rng *rng, int i)
{
	Box3 box = rng_world_box(rng, 50.0);

	(void) i;
	for (int d = 0; d < 3; d++)
	{
		box.lo[d] *= 1e-300;
		box.hi[d] *= 1e-300;
	}
	return box;
}

static Box3
denormal(Rng *rng, int i)
{
	Box3 box = rng_box(rng, rng_small);

	(void) i;
	return scale_box(&box, -1074);
}

static Box3
two_values(Rng *rng, int i)
{
	(void) rng;
	return i % 2 ? make_box(0, 0, 0, 1, 1, 1) : make_box(5, 5, 5, 6, 6, 6);
}

static Box3
one_outlier(Rng *rng, int i)
{
	(void) rng;
	return i == 5 ? make_point(1000, 1000, 1000) : make_box(0, 0, 0, 1, 1, 1);
}

static const struct Set
{
	const char *name;
	Nth nth;
} sets[] = {
	{"uniform boxes", uniform},
	{"wild boxes", wild},
	{"identical boxes", identical},
	{"concentric boxes", concentric},
	{"concentric boxes, shuffled", concentric_shuffled},
	{"boxes that share a corner", corner_sharing},
	{"points of a line", collinear},
	{"a row of boxes", sorted},
	{"boxes that double in size", growing},
	{"boxes of two scales", two_scales},
	{"flat boxes", flat},
	{"boxes with infinite sides", infinite_sides},
	{"half spaces", half_spaces},
	{"boxes at infinity and of all space", all_infinite},
	{"boxes of sizes 1e300 and 1e-300", huge_and_tiny},
	{"boxes of size 1e-300", tiny},
	{"denormal boxes", denormal},
	{"two boxes by turns", two_values},
	{"equal boxes and an outlier", one_outlier},
};

/* ---------------------------------------------------------------- any set */

static bool
is_sound(const Box3 *boxes, int n, double min_fill)
{
	Division division;
	Division again;
	int least = least_fill(n, min_fill);

	divide(boxes, n, min_fill, &division);
	divide(boxes, n, min_fill, &again);
	return division.nleft >= least && n - division.nleft >= least &&
		   is_permutation(&division, n) && is_same(&division, &again, n);
}

static void
every_set(Rng *rng, const struct Set *set)
{
	static const double fills[] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.49};
	static const int sizes[] = {2, 3, 4, 5, 7, 16, 31, 100, PAGE_FULL, MOST};
	static Box3 boxes[MOST];

	for (int s = 0; s < LENGTH_OF(sizes); s++)
		for (int f = 0; f < LENGTH_OF(fills); f++)
			for (int round = 0; round < (sizes[s] == MOST ? 1 : 12); round++)
			{
				for (int i = 0; i < sizes[s]; i++)
					boxes[i] = set->nth(rng, i);
				if (!is_sound(boxes, sizes[s], fills[f]))
				{
					FAIL("%s: halves are full enough and always the same", set->name);
					NOTE("%d boxes, fill %g", sizes[s], fills[f]);
					return;
				}
			}
	PASS("%s: halves are full enough and always the same", set->name);
}

/* a half that keeps nearly all would pass a check of the least fill alone */
static void
size_of_two_and_three(Rng *rng)
{
	for (int i = 0; i < 10000; i++)
	{
		Box3 boxes[3];
		Division division;

		for (int k = 0; k < 3; k++)
			boxes[k] = rng_any_box(rng);
		divide(boxes, 2, rng_between(rng, 0.0, 0.5), &division);
		if (division.nleft != 1)
		{
			FAIL("two boxes go apart");
			return;
		}
		divide(boxes, 3, rng_between(rng, 0.0, 0.5), &division);
		if (division.nleft != 1 && division.nleft != 2)
		{
			FAIL("three boxes are divided");
			return;
		}
	}
	PASS("two boxes go apart, three are divided");
}

/* ---------------------------------------------------------------- scale */

static void
is_scale_free(Rng *rng, const struct Set *set)
{
	Box3 boxes[PAGE_FULL];
	Box3 scaled[PAGE_FULL];
	Division division;
	Division at_scale;

	for (int k = -600; k <= 600; k += 1 + rng_below(rng, 40))
	{
		for (int i = 0; i < PAGE_FULL; i++)
		{
			boxes[i] = set->nth(rng, i);
			scaled[i] = scale_box(&boxes[i], k);
		}
		divide(boxes, PAGE_FULL, 0.3, &division);
		divide(scaled, PAGE_FULL, 0.3, &at_scale);
		if (!is_same(&division, &at_scale, PAGE_FULL))
		{
			FAIL("%s: cut alike at another scale", set->name);
			NOTE("2^%d", k);
			return;
		}
	}
	PASS("%s: cut alike at another scale", set->name);
}

static void
sets_without_extremes_are_scale_free(Rng *rng)
{
	for (int i = 0; i < LENGTH_OF(sets); i++)
	{
		Nth nth = sets[i].nth;

		/* those use up the range of double */
		if (nth != wild && nth != growing && nth != huge_and_tiny && nth != tiny &&
			nth != denormal)
			is_scale_free(rng, &sets[i]);
	}
}

/* ---------------------------------------------------------------- quality */

static double
cost_of(const Box3 *boxes, const int *order, int n, int nleft)
{
	Box3 left = bounds_of(boxes, order, nleft);
	Box3 right = bounds_of(boxes, order + nleft, n - nleft);

	return box3_surface_area(&left) * nleft + box3_surface_area(&right) * (n - nleft);
}

static const Box3 *sorted_boxes;
static int sorted_axis;

static int
by_center(const void *a, const void *b)
{
	double x = box3_center(&sorted_boxes[*(const int *) a], sorted_axis);
	double y = box3_center(&sorted_boxes[*(const int *) b], sorted_axis);

	return (x > y) - (x < y);
}

/* the least cost of all cuts between centers in order, on every axis */
static double
best_sweep(const Box3 *boxes, int n, double min_fill)
{
	double best = INFINITY;
	int order[MOST];
	int least = least_fill(n, min_fill);

	sorted_boxes = boxes;
	for (sorted_axis = 0; sorted_axis < 3; sorted_axis++)
	{
		for (int i = 0; i < n; i++)
			order[i] = i;
		qsort(order, n, sizeof(int), by_center);
		for (int nleft = least; nleft <= n - least; nleft++)
			best = fmin(best, cost_of(boxes, order, n, nleft));
	}
	return best;
}

static void
nearly_the_best(Rng *rng, const char *name, Nth nth, double limit)
{
	static const double fills[] = {0.1, 0.2, 0.3, 0.4};
	double worst = 0.0;

	for (int round = 0; round < 200; round++)
	{
		Box3 boxes[PAGE_FULL];
		Division division;
		int n = rng_int(rng, 40, PAGE_FULL);
		double fill = fills[round % LENGTH_OF(fills)];
		double ratio;

		for (int i = 0; i < n; i++)
			boxes[i] = nth(rng, i);
		divide(boxes, n, fill, &division);
		ratio = cost_of(boxes, division.order, n, division.nleft) /
				best_sweep(boxes, n, fill);
		worst = fmax(worst, ratio);
	}
	OK(worst <= limit, "%s: at most %g of the best cost (%.3f)", name, limit, worst);
}

/*
 * Two clouds with nothing between them, of about 3 boxes to 2: the cut has to
 * go through the gap, though the limit of the fill is not far.
 */
static void
finds_the_gap(Rng *rng)
{
	int nmissed = 0;

	for (int round = 0; round < 400; round++)
	{
		Box3 boxes[PAGE_FULL];
		Division division;
		Box3 left;
		Box3 right;

		for (int i = 0; i < PAGE_FULL; i++)
		{
			double far = rng_below(rng, 100) < 42 ? 1000.0 : 0.0;

			boxes[i] = rng_world_box(rng, 5.0);
			boxes[i].lo[1] += far;
			boxes[i].hi[1] += far;
		}
		divide(boxes, PAGE_FULL, 0.3, &division);
		left = bounds_of(boxes, division.order, division.nleft);
		right = bounds_of(boxes,
						  division.order + division.nleft,
						  PAGE_FULL - division.nleft);
		nmissed += box3_distance(&left, &right) < 800;
	}
	OK(nmissed < 12, "two clouds are cut between them (%d of 400 are not)", nmissed);
}

/* nested boxes differ in nothing but size: the small ones go together */
static void
separates_sizes(Nth nth, const char *name)
{
	Box3 boxes[PAGE_FULL];
	Division division;
	double last_of_left;
	double least_of_right = INFINITY;
	Rng unused = {0};

	for (int i = 0; i < PAGE_FULL; i++)
		boxes[i] = nth(&unused, i);
	divide(boxes, PAGE_FULL, 0.3, &division);
	last_of_left = 0.0;
	for (int i = 0; i < PAGE_FULL; i++)
	{
		double size = box3_side(&boxes[division.order[i]], 0);

		if (i < division.nleft)
			last_of_left = fmax(last_of_left, size);
		else
			least_of_right = fmin(least_of_right, size);
	}
	OK(last_of_left < least_of_right, "%s: small ones apart from large ones", name);
}

/* are the first so many boxes one half, and the others the other? */
static bool
separates_first(const Division *division, int nfirst)
{
	bool first_are_left = division->order[0] < nfirst;

	if (division->nleft != (first_are_left ? nfirst : PAGE_FULL - nfirst))
		return false;
	for (int i = 0; i < division->nleft; i++)
		if ((division->order[i] < nfirst) != first_are_left)
			return false;
	return true;
}

/* nested boxes of two sizes, many alike: cut between the sizes, not in the middle */
static void
cuts_between_sizes(void)
{
	Box3 boxes[PAGE_FULL];
	Division division;
	const int nsmall = PAGE_FULL * 6 / 10;

	for (int i = 0; i < PAGE_FULL; i++)
	{
		double size = i < nsmall ? 1 + i / 100.0 : 1000 + i;

		boxes[i] = make_box(-size, -size, -size, size, size, size);
	}
	divide(boxes, PAGE_FULL, 0.3, &division);
	OK(separates_first(&division, nsmall),
	   "nested boxes of two sizes are cut between them");
}

/* without any area, the lengths decide: here, too, the cut goes through the gap */
static void
cuts_a_line_in_its_gap(void)
{
	Box3 boxes[PAGE_FULL];
	Division division;
	const int nfirst = PAGE_FULL * 4 / 10;

	for (int i = 0; i < PAGE_FULL; i++)
		boxes[i] = make_point(i < nfirst ? i : 1000 + i, 7, 7);
	divide(boxes, PAGE_FULL, 0.3, &division);
	OK(separates_first(&division, nfirst), "points of a line are cut where it has a gap");
}

/* infinite sides must not hide what the others say */
static void
cuts_infinite_boxes(Rng *rng)
{
	Box3 boxes[PAGE_FULL];
	Division division;
	const int nfirst = PAGE_FULL * 4 / 10;

	for (int i = 0; i < PAGE_FULL; i++)
	{
		boxes[i] = rng_world_box(rng, 5.0);
		boxes[i].lo[0] += i < nfirst ? 0 : 1000;
		boxes[i].hi[0] += i < nfirst ? 0 : 1000;
		boxes[i].lo[1] = -INFINITY;
		boxes[i].hi[2] = INFINITY;
	}
	divide(boxes, PAGE_FULL, 0.3, &division);
	OK(separates_first(&division, nfirst),
	   "boxes with infinite sides are cut in their gap");

	for (int i = 0; i < PAGE_FULL; i++)
	{
		boxes[i] = rng_world_box(rng, 5.0);
		if (i >= nfirst)
		{
			boxes[i].lo[1] = -INFINITY;
			boxes[i].hi[1] = INFINITY;
		}
	}
	divide(boxes, PAGE_FULL, 0.3, &division);
	/* either may be the left half: their centers are at 0, and sizes at the end */
	OK(division.nleft == nfirst || division.nleft == PAGE_FULL - nfirst,
	   "boxes with infinite sides go apart from the others");
}

/* most of the boxes equal: the others stay together, with no more than needed */
static void
gathers_the_others(void)
{
	Box3 boxes[PAGE_FULL];
	Division division;
	int least = least_fill(PAGE_FULL, 0.3);
	int nothers[2] = {0, 0};

	for (int i = 0; i < PAGE_FULL; i++)
		boxes[i] = make_box(0, 0, 0, 1, 1, 1);
	for (int i = 5; i < PAGE_FULL; i += 40)
		boxes[i] = make_box(50, i, 0, 51, i + 1, 1);
	divide(boxes, PAGE_FULL, 0.3, &division);
	for (int i = 0; i < PAGE_FULL; i++)
		nothers[i < division.nleft] += division.order[i] % 40 == 5;
	OK(nothers[0] == 0 || nothers[1] == 0, "boxes unlike most go together");
	OK((nothers[1] > 0 ? division.nleft : PAGE_FULL - division.nleft) == least,
	   "with as few of the equal ones as the fill allows");
}

/* the key by which sizes are cut must not fall where sizes rise */
static void
size_keys_are_monotone(void)
{
	Box3 boxes[200];
	Division division;
	double key[200];

	boxes[0] = make_point(0, 0, 0);
	for (int i = 1; i < 200; i++)
		boxes[i] = make_box(0, 0, 0, ldexp(i % 2 ? 1.0 : 1.5, -i / 2), 0, 0);
	divide(boxes, 200, 0.3, &division);
	for (int i = 0; i < 200; i++)
		key[items[i].number] = items[i].key[3];
	for (int i = 2; i < 200; i++)
	{
		/* 1, 1.5/2, 1/2, 1.5/4 ...: descending by number */
		double size = box3_side(&boxes[i], 0);
		double before = box3_side(&boxes[i - 1], 0);

		if ((size < before && key[i] > key[i - 1]) || key[0] > key[i])
		{
			FAIL("a larger box has no smaller key of size");
			NOTE("size %a has key %g, size %a key %g, a point %g",
				 size,
				 key[i],
				 before,
				 key[i - 1],
				 key[0]);
			return;
		}
	}
	PASS("a larger box has no smaller key of size");
}

int
main(void)
{
	Rng rng = rng_start();

	for (int i = 0; i < LENGTH_OF(sets); i++)
		every_set(&rng, &sets[i]);
	size_of_two_and_three(&rng);
	sets_without_extremes_are_scale_free(&rng);
	nearly_the_best(&rng, "uniform boxes", uniform, 1.5);
	nearly_the_best(&rng, "flat boxes", flat, 1.5);
	nearly_the_best(&rng, "boxes of two scales", two_scales, 1.5);
	finds_the_gap(&rng);
	separates_sizes(concentric, "concentric boxes");
	separates_sizes(concentric_shuffled, "concentric boxes, shuffled");
	separates_sizes(corner_sharing, "boxes that share a corner");
	cuts_between_sizes();
	cuts_a_line_in_its_gap();
	cuts_infinite_boxes(&rng);
	gathers_the_others();
	size_keys_are_monotone();
	return tap_done();
}
