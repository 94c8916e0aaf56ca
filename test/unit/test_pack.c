/*-------------------------------------------------------------------------
 *
 * test_pack.c
 *	  Dividing boxes among pages: every box on one page, pages equally full,
 *	  in time, and near each other.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/pack.h"
#include "kinds.h"
#include "tap.h"

/* what the pages of one run look like */
typedef struct Result
{
	const BvhItem *items; /* the whole array, to see that pages are parts of it */
	size_t n;
	uint8_t *seen; /* by id */
	size_t npages;
	size_t least;
	size_t most;
	size_t nitems;
	size_t nticks;
	bool is_broken; /* a page out of order, or an item twice */
	double area;    /* of all pages */
	double step;    /* distance from each page to the next, in all */
	Box3 last;
} Result;

static double
area_of(const Box3 *b)
{
	double x = b->hi[0] - b->lo[0];
	double y = b->hi[1] - b->lo[1];
	double z = b->hi[2] - b->lo[2];

	return x * y + y * z + z * x;
}

static void
take_page(void *context, BvhItem *items, size_t n)
{
	Result *result = context;
	Box3 bounds = items[0].box;

	/* pages come in the order of the array */
	if (items != result->items + result->nitems)
		result->is_broken = true;
	for (size_t i = 0; i < n; i++)
	{
		if (items[i].id >= result->n || result->seen[items[i].id]++ != 0)
			result->is_broken = true;
		box3_include(&bounds, &items[i].box);
	}
	result->area += area_of(&bounds);
	if (result->npages > 0)
		result->step += box3_distance(&bounds, &result->last);
	result->last = bounds;
	result->least = n < result->least ? n : result->least;
	result->most = n > result->most ? n : result->most;
	result->nitems += n;
	result->npages++;
}

static void
count_tick(void *context)
{
	((Result *) context)->nticks++;
}

static void *
must_alloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
		abort();
	return p;
}

/* pack items; ids are set here */
static Result
run(BvhItem *items, size_t n, size_t capacity)
{
	PackWork *work = must_alloc(pack_work_size());
	Result result = {.items = items, .n = n, .least = SIZE_MAX};
	PackCallbacks callbacks = {take_page, count_tick, &result};

	/* whatever was there before is no matter */
	memset(work, 0x55, pack_work_size());
	result.seen = must_alloc(n);
	memset(result.seen, 0, n);
	for (size_t i = 0; i < n; i++)
		items[i].id = i;
	pack_pages(items, n, capacity, work, &callbacks);
	free(result.seen);
	free(work);
	return result;
}

/* every item once; as few pages as hold them; all of them equally full */
static bool
is_exact(const Result *result, size_t n, size_t capacity)
{
	size_t npages = (n + capacity - 1) / capacity;

	if (result->is_broken || result->nitems != n || result->npages != npages)
		return false;
	return n == 0 || (result->most <= capacity && result->least >= n / npages &&
					  result->most <= (n + npages - 1) / npages);
}

static BvhItem *
make_items(Rng *rng, Generator generate, size_t n)
{
	BvhItem *items = must_alloc(n * sizeof(BvhItem));

	for (size_t i = 0; i < n; i++)
		items[i].box = generate(rng, i, n);
	return items;
}

static void
check_kind(Rng *rng, const char *name, Generator generate)
{
	static const size_t numbers[] =
		{1, 2, 3, 8, 60, 121, 122, 123, 244, 245, 1000, 1021, 9362, 20000};
	static const size_t capacities[] = {1, 2, 3, 13, 122, 135, 100000};

	for (int i = 0; i < LENGTH_OF(numbers); i++)
		for (int k = 0; k < LENGTH_OF(capacities); k++)
		{
			size_t n = numbers[i];
			BvhItem *items = make_items(rng, generate, n);
			Box3 before = items[n / 2].box;
			Result result = run(items, n, capacities[k]);
			bool is_kept = false;

			/* a box keeps its id */
			for (size_t at = 0; at < n; at++)
				if (items[at].id == n / 2)
					is_kept = memcmp(&items[at].box, &before, sizeof(before)) == 0;
			free(items);
			if (!is_exact(&result, n, capacities[k]) || !is_kept)
			{
				FAIL("%s: each box on one of equally full pages", name);
				NOTE("%zu boxes, capacity %zu: %zu on %zu pages of %zu to %zu",
					 n,
					 capacities[k],
					 result.nitems,
					 result.npages,
					 result.least,
					 result.most);
				return;
			}
		}
	PASS("%s: each box on one of equally full pages", name);
}

/* all small numbers and capacities */
static void
check_numbers(Rng *rng)
{
	for (size_t n = 0; n <= 130; n++)
		for (size_t capacity = 1; capacity <= 40; capacity++)
		{
			BvhItem *items = make_items(rng, n % 2 ? wild : world_boxes, n);
			Result result = run(items, n, capacity);

			free(items);
			if (!is_exact(&result, n, capacity))
			{
				FAIL("as few pages as there can be, equally full");
				NOTE("%zu boxes, capacity %zu: %zu pages of %zu to %zu",
					 n,
					 capacity,
					 result.npages,
					 result.least,
					 result.most);
				return;
			}
		}
	PASS("as few pages as there can be, equally full");
}

/* ---------------------------------------------------------------- time */

static double
seconds_since(clock_t start)
{
	return (double) (clock() - start) / CLOCKS_PER_SEC;
}

/*
 * Many boxes of any kind take no more than a few times what random ones take:
 * nothing is quadratic.  Relative, so that an emulator may run it, too.
 */
static void
check_time(Rng *rng)
{
	const size_t n = 100000;
	double random_time = 0.0;

	for (int k = 0; k < LENGTH_OF(kinds); k++)
	{
		BvhItem *items = make_items(rng, kinds[k].generate, n);
		clock_t start = clock();
		Result result;
		double time;

		result = run(items, n, 122);
		time = seconds_since(start);
		free(items);
		if (k == 0)
			random_time = time;
		OK(is_exact(&result, n, 122) && result.nticks > 0 &&
			   time <= 5 * random_time + 0.2,
		   "%zu boxes, %s: %.2f s",
		   n,
		   kinds[k].name,
		   time);
	}
}

static void
check_million_equal(Rng *rng)
{
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
	const double slowness = 1.0;
#else
	const double slowness = 20.0;
#endif
	const size_t n = 1000000;
	BvhItem *items = make_items(rng, equal_boxes, n);
	clock_t start = clock();
	Result result;
	double time;

	result = run(items, n, 122);
	time = seconds_since(start);
	free(items);
	OK(is_exact(&result, n, 122), "a million equal boxes");
	/* an emulator or a sanitizer is slower by far, but not quadratic either */
	OK(time < 2.0 * slowness, "in less than %.0f seconds (%.2f)", 2.0 * slowness, time);
	/* ticks are what lets a build be cancelled */
	OK(result.nticks >= n / 65536, "%zu ticks", result.nticks);
}

/* ---------------------------------------------------------------- places */

/*
 * Random boxes in a world of 100: pages are about cubes.  122 of 100,000 take
 * a cube of side 10.7, so at best the area of a page is 3 * (10.7 + 2)^2.
 */
static void
check_quality(Rng *rng)
{
	const size_t n = 100000;
	BvhItem *items = make_items(rng, world_boxes, n);
	Result result = run(items, n, 122);
	double side = cbrt(122.0 * 1e6 / (double) n) + 2;
	double page = result.area / (double) result.npages;

	OK(page < 1.15 * 3 * side * side,
	   "random boxes: pages of area %.0f, cubes would have %.0f",
	   page,
	   3 * side * side);
	OK(result.step / (double) result.npages < 0.3 * side,
	   "random boxes: %.2f from a page to the next, side %.1f",
	   result.step / (double) result.npages,
	   side);
	free(items);
}

/* crowds far apart, each of whole pages, are not put together on any page */
static void
check_crowds(Rng *rng)
{
	const size_t n = 122 * 40;

	for (int axis = 0; axis < 3; axis++)
	{
		BvhItem *items = must_alloc(n * sizeof(BvhItem));
		Result result;

		for (size_t i = 0; i < n; i++)
		{
			items[i].box = rng_world_box(rng, 2.0);
			items[i].box.lo[axis] += i % 4 == 0 ? 1e6 : 0.0;
			items[i].box.hi[axis] += i % 4 == 0 ? 1e6 : 0.0;
		}
		result = run(items, n, 122);
		free(items);
		OK(result.area < 1e6, "crowds far apart: pages of area %.0f", result.area);
	}
}

/* the choice does not depend on the unit of length */
static void
check_scale(Rng *rng)
{
	const size_t n = 5000;
	static const int exponents[] = {1, 30, -30, 400, -400, 900, -900};
	BvhItem *items = make_items(rng, world_boxes, n);
	BvhItem *scaled = must_alloc(n * sizeof(BvhItem));
	int ndifferent = 0;

	for (int k = 0; k < LENGTH_OF(exponents); k++)
	{
		BvhItem *copy = must_alloc(n * sizeof(BvhItem));

		memcpy(copy, items, n * sizeof(BvhItem));
		for (size_t i = 0; i < n; i++)
			scaled[i].box = scale_box(&items[i].box, exponents[k]);
		run(copy, n, 122);
		run(scaled, n, 122);
		for (size_t i = 0; i < n; i++)
			ndifferent += copy[i].id != scaled[i].id;
		free(copy);
	}
	OK(ndifferent == 0, "the same pages at every scale");
	free(items);
	free(scaled);
}

/* axes are alike: an order of x, y and z is no better than another */
static void
check_axes(Rng *rng)
{
	const size_t n = 20000;
	double area[3];

	for (int axis = 0; axis < 3; axis++)
	{
		BvhItem *items = must_alloc(n * sizeof(BvhItem));
		Result result;

		/* a long world */
		for (size_t i = 0; i < n; i++)
		{
			items[i].box = rng_world_box(rng, 2.0);
			items[i].box.lo[axis] *= 50;
			items[i].box.hi[axis] = items[i].box.lo[axis] + 1;
		}
		result = run(items, n, 122);
		area[axis] = result.area;
		free(items);
	}
	OK(fmax(fmax(area[0], area[1]), area[2]) <
		   1.1 * fmin(fmin(area[0], area[1]), area[2]),
	   "worlds long in x, y, z: pages of area %.0f, %.0f, %.0f",
	   area[0],
	   area[1],
	   area[2]);
}

int
main(void)
{
	Rng rng = rng_start();

	check_numbers(&rng);
	for (int k = 0; k < LENGTH_OF(kinds); k++)
		check_kind(&rng, kinds[k].name, kinds[k].generate);
	check_time(&rng);
	check_million_equal(&rng);
	check_quality(&rng);
	check_crowds(&rng);
	check_scale(&rng);
	check_axes(&rng);
	return tap_done();
}
