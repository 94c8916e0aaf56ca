/*-------------------------------------------------------------------------
 *
 * test_page_kernels.c
 *	  Every version of the kernels for a page of boxes against the plain
 *	  definitions, bit for bit.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/simd/kernels.h"
#include "tap.h"

#define PAGE_SIZE 8192
#define MAX_ITEMS 407

/*
 * A page between guards.  Tuples are aligned to 8 bytes and not to 16, with
 * 8 or 16 bytes before the box, as a tuple without or with a null bitmap has.
 */
typedef struct TestPage
{
	char before[64];
	_Alignas(64) char bytes[PAGE_SIZE];
	char after[64];
	int n;
	uint16_t offset[MAX_ITEMS];
} TestPage;

static const Box3 *
box_at(const TestPage *page, int i)
{
	return (const Box3 *) (page->bytes + page->offset[i]);
}

/* n boxes, from the end of the page to its start, as tuples are added */
static void
fill_page(Rng *rng, TestPage *page, int n, Box3 (*choose)(Rng *))
{
	int end = PAGE_SIZE;

	/* whoever reads a neighbour's bytes gets NaN */
	memset(page, 0xFF, sizeof(*page));
	page->n = 0;
	while (page->n < n)
	{
		int header = rng_below(rng, 8) ? 8 : 16;
		Box3 box = choose(rng);

		if (end - (int) sizeof(box) - header < 0)
			break;
		end -= (int) sizeof(box) + header;
		page->offset[page->n++] = (uint16_t) (end + header);
		memcpy(page->bytes + end + header, &box, sizeof(box));
	}
	/* the order of line pointers is not that of the tuples */
	for (int i = page->n - 1; i > 0; i--)
	{
		int j = rng_below(rng, i + 1);
		uint16_t t = page->offset[i];

		page->offset[i] = page->offset[j];
		page->offset[j] = t;
	}
}

/* ---------------------------------------------------------------- select_boxes */

static Box3
small_box(Rng *rng)
{
	return rng_box(rng, rng_small);
}

static Box3
wild_box(Rng *rng)
{
	return rng_any_box(rng);
}

/* a range of an operator, or of any numbers, NaN among them */
static void
choose_range(Rng *rng, const TestPage *page, BoxRange *range)
{
	static const BvhOp ops[] = {BVH_LEFT,
								BVH_OVERLEFT,
								BVH_OVERLAPS,
								BVH_OVERRIGHT,
								BVH_SAME,
								BVH_CONTAINS,
								BVH_CONTAINED_BY,
								BVH_ABOVE,
								BVH_OVERBACK,
								BVH_BACK,
								BVH_OVERLAPS_STRICTLY};
	Box3 query = page->n > 0 && rng_below(rng, 2) ? *box_at(page, rng_below(rng, page->n))
												  : rng_any_box(rng);

	if (rng_below(rng, 4) == 0)
		query = small_box(rng);
	box3_range(ops[rng_below(rng, LENGTH_OF(ops))], false, &query, range);
	if (rng_below(rng, 2))
	{
		BoxRange leaf = *range;

		box3_node_range(&leaf, range);
	}
	if (rng_below(rng, 16) == 0)
		range->lower[rng_below(rng, 6)] = NAN;
	if (rng_below(rng, 16) == 0)
		range->upper[rng_below(rng, 6)] = rng_wild(rng);
}

/* the kernel on one page; false when it differs from box3_in_range() */
static bool
selects_rightly(const BvhKernels *kernels, const TestPage *page, int n,
				const BoxRange *range, int *nhits)
{
	uint16_t selected[MAX_ITEMS + 2];
	int nwant = 0;
	int got;

	memset(selected, 0x55, sizeof(selected));
	got = kernels->select_boxes(page->bytes, page->offset, n, range, selected);
	for (int i = 0; i < n; i++)
		if (box3_in_range(box_at(page, i), range))
		{
			if (nwant >= got || selected[nwant] != i)
				return false;
			nwant++;
		}
	*nhits += nwant;
	/* there is room for n numbers, and no more */
	return got == nwant && selected[n] == 0x5555;
}

static void
check_select(Rng *rng, const BvhKernels *kernels, const char *what, Box3 (*choose)(Rng *))
{
	static TestPage page;
	int nhits = 0;
	int nboxes = 0;

	for (int round = 0; round < 3000; round++)
	{
		BoxRange range;
		int n = round % (MAX_ITEMS + 1);

		fill_page(rng, &page, n < 140 ? n : 140, choose);
		for (int q = 0; q < 4; q++)
		{
			choose_range(rng, &page, &range);
			nboxes += page.n;
			if (!selects_rightly(kernels, &page, page.n, &range, &nhits))
			{
				FAIL("%s: select_boxes, %s", kernels->name, what);
				for (int lane = 0; lane < 6; lane++)
					NOTE("lane %d: %a .. %a", lane, range.lower[lane], range.upper[lane]);
				return;
			}
		}
	}
	OK(nhits > nboxes / 50 && nhits < nboxes / 50 * 49,
	   "%s: select_boxes, %s (%d of %d boxes)",
	   kernels->name,
	   what,
	   nhits,
	   nboxes);
}

/* every number of boxes, all of them, none, one */
static void
check_select_counts(Rng *rng, const BvhKernels *kernels)
{
	static TestPage page;
	BoxRange all;
	BoxRange none;
	int nwrong = 0;
	int nhits = 0;

	for (int lane = 0; lane < 6; lane++)
	{
		all.lower[lane] = none.lower[lane] = -INFINITY;
		all.upper[lane] = none.upper[lane] = INFINITY;
	}
	none.upper[5] = -1e9;
	fill_page(rng, &page, 140, small_box);
	for (int n = 0; n <= page.n; n++)
	{
		nhits = 0;
		nwrong += !selects_rightly(kernels, &page, n, &all, &nhits) || nhits != n;
		nhits = 0;
		nwrong += !selects_rightly(kernels, &page, n, &none, &nhits) || nhits != 0;
	}
	/* the same offset more than once: all of the numbers that a page may have */
	for (int i = 0; i < MAX_ITEMS; i++)
		page.offset[i] = page.offset[i % page.n];
	nhits = 0;
	nwrong += !selects_rightly(kernels, &page, MAX_ITEMS, &all, &nhits) ||
			  nhits != MAX_ITEMS;
	OK(nwrong == 0, "%s: select_boxes for every number of boxes", kernels->name);
}

/* each bound of each lane decides alone, and is closed */
static void
check_select_lanes(const BvhKernels *kernels)
{
	static TestPage page;
	const Box3 box = {{1, 2, 3}, {4, 5, 6}};
	int nwrong = 0;

	memset(&page, 0xFF, sizeof(page));
	page.offset[0] = 8;
	page.offset[1] = 8 + 56;
	memcpy(page.bytes + page.offset[0], &box, sizeof(box));
	memcpy(page.bytes + page.offset[1], &box, sizeof(box));
	for (int lane = 0; lane < 6; lane++)
	{
		BoxRange range;
		int nhits = 0;

		for (int i = 0; i < 6; i++)
			range.lower[i] = range.upper[i] = i + 1;
		nwrong += !selects_rightly(kernels, &page, 2, &range, &nhits);
		range.lower[lane] = range.upper[lane] = nextafter(lane + 1, INFINITY);
		nwrong += !selects_rightly(kernels, &page, 2, &range, &nhits);
		range.lower[lane] = range.upper[lane] = nextafter(lane + 1, -INFINITY);
		nwrong += !selects_rightly(kernels, &page, 2, &range, &nhits);
		range.lower[lane] = NAN;
		range.upper[lane] = INFINITY;
		nwrong += !selects_rightly(kernels, &page, 2, &range, &nhits);
		nwrong += nhits != 2;
	}
	OK(nwrong == 0,
	   "%s: every lane of select_boxes counts, and is closed",
	   kernels->name);
}

/* ---------------------------------------------------------------- distances */

/* a magnitude for the boxes of a page: where the way of computing changes */
static int page_exponent;

static Box3
scaled_box(Rng *rng)
{
	Box3 box;

	for (int d = 0; d < 3; d++)
	{
		double x = rng_octave(rng, page_exponent - rng_below(rng, 4));
		double y = rng_octave(rng, page_exponent - rng_below(rng, 60));

		box.lo[d] = rng_below(rng, 2) ? x : -x;
		box.hi[d] = box.lo[d] + y;
		/* far out, a side may overflow */
		if (!(box.hi[d] >= box.lo[d]))
			box.hi[d] = box.lo[d];
	}
	return box;
}

static bool
measures_rightly(const BvhKernels *kernels, const TestPage *page, const Box3 *query,
				 int *nfar)
{
	double got[MAX_ITEMS + 1];
	double guard;

	memset(got, 0x55, sizeof(got));
	guard = got[page->n];
	kernels->distances(page->bytes, page->offset, page->n, query, got);
	for (int i = 0; i < page->n; i++)
	{
		double want = box3_distance(box_at(page, i), query);

		*nfar += want > 0.0;
		if (memcmp(&got[i], &want, sizeof(want)) != 0)
		{
			FAIL("%s: distances are box3_distance()", kernels->name);
			NOTE("got %a, want %a", got[i], want);
			show_box("box", box_at(page, i));
			show_box("query", query);
			return false;
		}
	}
	return memcmp(&got[page->n], &guard, sizeof(guard)) == 0;
}

static void
check_distances(Rng *rng, const BvhKernels *kernels)
{
	/* of 2^e: ordinary, where squares over- and underflow, denormal, largest */
	static const int exponents[] = {0,    1,    20,   -1074, -1040, -1023, -540, -512,
									-453, -452, -451, -450,  -449,  -448,  -440, 440,
									495,  497,  498,  499,   500,   501,   502,  510,
									511,  512,  1000, 1019,  1020,  1021,  1022, 1023};
	static TestPage page;
	int nfar = 0;
	int nboxes = 0;

	for (int round = 0; round < 4000; round++)
	{
		Box3 query;

		page_exponent = exponents[rng_below(rng, LENGTH_OF(exponents))];
		switch (round % 4)
		{
			case 0:
				fill_page(rng, &page, round % 141, small_box);
				query = small_box(rng);
				break;
			case 1:
				fill_page(rng, &page, round % 141, wild_box);
				query = rng_any_box(rng);
				break;
			default:
				fill_page(rng, &page, round % 141, scaled_box);
				query = scaled_box(rng);
				break;
		}
		nboxes += page.n;
		if (!measures_rightly(kernels, &page, &query, &nfar))
			return;
	}
	OK(nfar > nboxes / 3, "%s: distances are box3_distance()", kernels->name);
}

/* distances just at the borders of the range whose squares are exact enough */
static void
check_borders(Rng *rng, const BvhKernels *kernels)
{
	static TestPage page;
	const Box3 query = {{-1, -1, -1}, {0, 0, 0}};
	int nfar = 0;

	for (int round = 0; round < 200; round++)
	{
		memset(&page, 0xFF, sizeof(page));
		page.n = 128;
		for (int i = 0; i < page.n; i++)
		{
			double x = i % 2 ? 0x1p-450 : 0x1p500;
			Box3 box;

			for (int d = 0; d < 3; d++)
			{
				double gap = x * rng_between(rng, 0.25, 2.0);

				/* often alone, and often the border itself */
				if (rng_below(rng, 3) == 0)
					gap = rng_below(rng, 2) ? 0.0 : x;
				box.lo[d] = box.hi[d] = gap;
			}
			page.offset[i] = (uint16_t) (8 + 56 * i);
			memcpy(page.bytes + page.offset[i], &box, sizeof(box));
		}
		if (!measures_rightly(kernels, &page, &query, &nfar))
			return;
	}
	PASS("%s: distances at the borders of exact squares", kernels->name);
}

/* a box around boxes is never farther than they are: ordered scans rely on it */
static void
check_union_is_nearer(Rng *rng, const BvhKernels *kernels)
{
	static TestPage page;

	for (int round = 0; round < 3000; round++)
	{
		double distance[MAX_ITEMS];
		double nearest = INFINITY;
		Box3 whole;
		Box3 query;
		uint16_t at = 0;
		double bound;

		page_exponent = rng_int(rng, -1074, 1022);
		fill_page(rng, &page, 1 + round % 50, round % 3 ? scaled_box : wild_box);
		query = round % 3 ? scaled_box(rng) : rng_any_box(rng);
		whole = *box_at(&page, 0);
		for (int i = 1; i < page.n; i++)
			box3_include(&whole, box_at(&page, i));
		kernels->distances(page.bytes, page.offset, page.n, &query, distance);
		for (int i = 0; i < page.n; i++)
			nearest = fmin(nearest, distance[i]);
		kernels->distances((const char *) &whole, &at, 1, &query, &bound);
		if (!(bound <= nearest))
		{
			FAIL("%s: a union is not farther than its boxes", kernels->name);
			NOTE("union %a, nearest %a", bound, nearest);
			return;
		}
	}
	PASS("%s: a union is not farther than its boxes", kernels->name);
}

/* ---------------------------------------------------------------- least_growth */

/* few different sizes, so that growths and areas are often equal */
static Box3
grid_box(Rng *rng)
{
	Box3 box;

	for (int d = 0; d < 3; d++)
	{
		box.lo[d] = rng_below(rng, 3);
		box.hi[d] = box.lo[d] + rng_below(rng, 3);
	}
	return box;
}

static void
check_growth(Rng *rng, const BvhKernels *kernels, const char *what, Box3 (*choose)(Rng *))
{
	static TestPage page;
	int last = 0;
	int nfinite = 0;

	for (int round = 0; round < 20000; round++)
	{
		Box3 added = choose(rng);
		BoxGrowth got;
		BoxGrowth want;

		page_exponent = rng_int(rng, -1074, 1022);
		fill_page(rng, &page, 1 + round % 140, choose);
		/* what was there before may not matter */
		memset(&got, 0x55, sizeof(got));
		kernels->least_growth(page.bytes, page.offset, page.n, &added, &got);
		bvh_kernels_scalar.least_growth(page.bytes, page.offset, page.n, &added, &want);
		if (got.number != want.number || got.is_finite != want.is_finite ||
			memcmp(&got.growth, &want.growth, sizeof(double)) != 0 ||
			memcmp(&got.area, &want.area, sizeof(double)) != 0)
		{
			FAIL("%s: least_growth, %s", kernels->name, what);
			NOTE("got %d, %a, %a, want %d, %a, %a of %d",
				 got.number,
				 got.growth,
				 got.area,
				 want.number,
				 want.growth,
				 want.area,
				 page.n);
			return;
		}
		last += got.number == page.n - 1;
		nfinite += got.is_finite;
	}
	OK(last > 0 && nfinite > 0, "%s: least_growth, %s", kernels->name, what);
}

int
main(void)
{
	Rng rng = rng_start();

	for (size_t i = 0; i < bvh_kernels_count(); i++)
	{
		const BvhKernels *kernels = bvh_kernels_nth(i);

		if (kernels == NULL)
		{
			PASS("version %zu # SKIP this machine cannot run it", i + 1);
			continue;
		}
		check_select(&rng, kernels, "whole numbers", small_box);
		check_select(&rng, kernels, "any numbers", wild_box);
		check_select_counts(&rng, kernels);
		check_select_lanes(kernels);
		check_distances(&rng, kernels);
		check_borders(&rng, kernels);
		check_union_is_nearer(&rng, kernels);
		check_growth(&rng, kernels, "whole numbers", small_box);
		check_growth(&rng, kernels, "equal growths", grid_box);
		check_growth(&rng, kernels, "any numbers", wild_box);
		check_growth(&rng, kernels, "any magnitude", scaled_box);
	}
	return tap_done();
}
