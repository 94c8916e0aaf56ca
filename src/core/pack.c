/*-------------------------------------------------------------------------
 *
 * pack.c
 *	  Dividing many boxes among pages of a fixed capacity, top down.
 *
 * Top-down greedy split (Garcia, Lopez and Leutenegger, "A greedy algorithm
 * for bulk loading R-trees", 1998), by the surface area heuristic: a set that
 * needs k pages is cut across one axis into parts of i and k - i pages, where
 * area times pages is least, until each part is a page.  A cut is always in
 * proportion to the pages, so all pages are equally full, within one item.
 *
 * Where to cut is judged from a histogram of the centers on each axis, of at
 * about SAMPLE items; then the exact number of items is moved to the left.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/pack.h"

#include <float.h>

#define MAX_BINS 128
#define SAMPLE   4096

/*
 * Either part gets at least an eighth of the pages, so a part at depth d has
 * at most (7/8)^d of them, and 64-bit numbers of pages end before depth 333.
 */
#define LEAST_PART 8
#define MAX_DEPTH  340

/* share of the sum of sides in the cost; areas of about 1 hide it */
#define LENGTH_WEIGHT 0x1p-20

/* scaled sides longer than this count as this long: areas stay finite */
#define LONGEST 0x1p30

typedef struct PackBin
{
	Box3 bounds;
	size_t n;
} PackBin;

typedef struct PackPart
{
	BvhItem *items;
	size_t n;
	size_t npages;
} PackPart;

struct PackWork
{
	PackPart stack[MAX_DEPTH];
	PackBin bins[3][MAX_BINS];
	double right_cost[MAX_BINS];
	double scale; /* brings a typical side of the whole set to about 1 */
};

typedef struct PackCut
{
	double cost;
	size_t imbalance;
	size_t nleft_pages;
	int axis;
	double band_first; /* keys between which the cut is expected */
	double band_last;
} PackCut;

static const Box3 nothing = {{INFINITY, INFINITY, INFINITY},
							 {-INFINITY, -INFINITY, -INFINITY}};

size_t
pack_work_size(void)
{
	return sizeof(PackWork);
}

/* twice the center, finite for every box */
static inline double
center_key(const Box3 *b, int axis)
{
	double key = b->lo[axis] + b->hi[axis];

	if (key >= -DBL_MAX && key <= DBL_MAX)
		return key;
	/* NaN: without end on both sides */
	if (isnan(key))
		return 0.0;
	return key > 0 ? DBL_MAX : -DBL_MAX;
}

static inline double
scaled_side(const PackWork *work, const Box3 *b, int axis)
{
	double side = (b->hi[axis] - b->lo[axis]) * work->scale;

	/* NaN, from a box at infinity, has no size */
	if (isnan(side))
		return 0.0;
	return side < LONGEST ? side : LONGEST;
}

static double
cost(const PackWork *work, const Box3 *b)
{
	double x = scaled_side(work, b, 0);
	double y = scaled_side(work, b, 1);
	double z = scaled_side(work, b, 2);

	return x * y + y * z + z * x + LENGTH_WEIGHT * (x + y + z);
}

/*
 * choose_scale --- a power of two for the sides of this set
 *
 * From the mean distance of centers of a few items from their mean, leaving
 * out what is infinite: within a factor of the span of most.
 */
static void
choose_scale(PackWork *work, const BvhItem *items, size_t n)
{
	size_t step = n / 256 + 1;
	double typical = 0.0;
	int exponent;

	for (int axis = 0; axis < 3; axis++)
	{
		double least = INFINITY;
		double most = -INFINITY;
		double sum = 0.0;
		int nfinite = 0;
		double mean;
		double spread = 0.0;

		for (size_t i = 0; i < n; i += step)
		{
			double half = 0.25 * center_key(&items[i].box, axis);

			if (fabs(half) >= 0.25 * DBL_MAX)
				continue;
			least = half < least ? half : least;
			most = half > most ? half : most;
			sum += half / 512;
			nfinite++;
		}
		if (nfinite == 0)
			continue;
		mean = sum / nfinite * 512;
		for (size_t i = 0; i < n; i += step)
		{
			double half = 0.25 * center_key(&items[i].box, axis);

			if (fabs(half) < 0.25 * DBL_MAX)
				spread += fabs(half - mean) / nfinite;
		}
		typical = fmax(typical, spread);
	}
	work->scale = 1.0;
	if (typical > 0.0 && isfinite(typical))
	{
		frexp(typical, &exponent);
		exponent = exponent > 1000 ? 1000 : exponent < -1000 ? -1000 : exponent;
		work->scale = ldexp(1.0, -exponent - 2);
	}
}

static inline int
bin_of(double key, double first, double scale, int nbins)
{
	double place = (key - first) * scale;

	if (!(place > 0.0))
		return 0;
	return place < nbins ? (int) place : nbins - 1;
}

/* try the cuts between bins of one axis */
static void
try_axis(PackWork *work, int axis, int nbins, double first, double width, size_t nsample,
		 size_t npages, PackCut *best)
{
	PackBin *bins = work->bins[axis];
	size_t least = npages / LEAST_PART > 0 ? npages / LEAST_PART : 1;
	Box3 bounds = nothing;
	size_t n = 0;

	for (int i = nbins - 1; i > 0; i--)
	{
		box3_include(&bounds, &bins[i].bounds);
		work->right_cost[i] = cost(work, &bounds);
	}
	bounds = nothing;
	for (int i = 1; i < nbins; i++)
	{
		PackCut cut;

		box3_include(&bounds, &bins[i - 1].bounds);
		n += bins[i - 1].n;
		if (n == 0 || n == nsample)
			continue;

		/* the number of pages nearest to this boundary */
		cut.nleft_pages = (size_t) ((double) n / nsample * npages + 0.5);
		if (cut.nleft_pages < least)
			cut.nleft_pages = least;
		if (cut.nleft_pages > npages - least)
			cut.nleft_pages = npages - least;
		cut.cost = cost(work, &bounds) * cut.nleft_pages +
				   work->right_cost[i] * (npages - cut.nleft_pages);
		cut.imbalance = 2 * cut.nleft_pages > npages ? 2 * cut.nleft_pages - npages
													 : npages - 2 * cut.nleft_pages;
		cut.axis = axis;
		cut.band_first = first + (i - 1) * width;
		cut.band_last = first + (i + 1) * width;
		if (cut.cost < best->cost ||
			(cut.cost == best->cost && cut.imbalance < best->imbalance))
			*best = cut;
	}
}

/* choose axis and place of the cut of a set that needs npages >= 2 pages */
static PackCut
choose_cut(PackWork *work, const BvhItem *items, size_t n, size_t npages)
{
	size_t step = n / SAMPLE + 1;
	size_t nsample = (n + step - 1) / step;
	int nbins = nsample / 4 + 2 < MAX_BINS ? (int) (nsample / 4) + 2 : MAX_BINS;
	PackCut best = {INFINITY, 0, npages / 2, 0, 0.0, 0.0};
	double first[3] = {INFINITY, INFINITY, INFINITY};
	double last[3] = {-INFINITY, -INFINITY, -INFINITY};
	double scale[3];

	for (size_t i = 0; i < n; i += step)
		for (int axis = 0; axis < 3; axis++)
		{
			double key = center_key(&items[i].box, axis);

			/* what lies at infinity goes to the outermost bins */
			if (fabs(key) == DBL_MAX)
				continue;
			first[axis] = key < first[axis] ? key : first[axis];
			last[axis] = key > last[axis] ? key : last[axis];
		}
	for (int axis = 0; axis < 3; axis++)
	{
		if (first[axis] > last[axis])
			first[axis] = last[axis] = 0.0;
		/* as halves: a span may be longer than the largest double */
		scale[axis] = 0.5 * nbins / (0.5 * last[axis] - 0.5 * first[axis]);
		for (int i = 0; i < nbins; i++)
			work->bins[axis][i] = (PackBin){nothing, 0};
	}
	for (size_t i = 0; i < n; i += step)
		for (int axis = 0; axis < 3; axis++)
		{
			double key = center_key(&items[i].box, axis);
			/* 0 * Infinity, where there is no width, is bin 0 */
			PackBin
				*bin = &work->bins[axis][bin_of(key, first[axis], scale[axis], nbins)];

			box3_include(&bin->bounds, &items[i].box);
			bin->n++;
		}
	for (int axis = 0; axis < 3; axis++)
		try_axis(
			work, axis, nbins, first[axis], 1.0 / scale[axis], nsample, npages, &best);
	return best;
}

static inline void
swap_items(BvhItem *a, BvhItem *b)
{
	BvhItem t = *a;

	*a = *b;
	*b = t;
}

/* move the items with keys below a limit to the front; returns how many */
static int64_t
move_below(BvhItem *items, int64_t n, int axis, double limit)
{
	int64_t i = 0;
	int64_t j = n - 1;

	for (;;)
	{
		while (i <= j && center_key(&items[i].box, axis) < limit)
			i++;
		while (i <= j && !(center_key(&items[j].box, axis) < limit))
			j--;
		if (i > j)
			return i;
		swap_items(&items[i++], &items[j--]);
	}
}

/*
 * move_left --- reorder so that the nleft items with the least keys come
 * first, 0 < nleft < n
 *
 * The cut is expected within the band of keys, so that most items are moved
 * once; Hoare's FIND does the rest.  Equal keys may go to either side, so
 * identical boxes are divided as exactly as any others.
 */
static void
move_left(BvhItem *items, size_t n, size_t nleft, const PackCut *cut)
{
	int axis = cut->axis;
	int64_t k = (int64_t) nleft;
	int64_t left = 0;
	int64_t right = (int64_t) n - 1;
	int64_t band = move_below(items, right + 1, axis, cut->band_first);
	int64_t above = band;

	if (k >= band)
		above += move_below(items + band, right + 1 - band, axis, cut->band_last);
	if (k < band)
		right = band - 1;
	else if (k < above)
	{
		left = band;
		right = above - 1;
	}
	else
		left = above;

	while (left < right)
	{
		double pivot = center_key(&items[k].box, axis);
		int64_t i = left;
		int64_t j = right;

		do
		{
			while (center_key(&items[i].box, axis) < pivot)
				i++;
			while (pivot < center_key(&items[j].box, axis))
				j--;
			if (i <= j)
				swap_items(&items[i++], &items[j--]);
		} while (i <= j);
		if (j < k)
			left = i;
		if (k < i)
			right = j;
	}
}

/*
 * pack_pages --- divide n items among as few pages as their capacity allows
 *
 * Reorders the items and calls page() for each page, neighbours one after the
 * other.  work has pack_work_size() bytes.
 */
void
pack_pages(BvhItem *items, size_t n, size_t capacity, PackWork *work,
		   const PackCallbacks *callbacks)
{
	int depth = 0;
	size_t ndone = 0;

	BVH_ASSERT(capacity > 0);
	if (n == 0)
		return;
	choose_scale(work, items, n);
	work->stack[depth++] = (PackPart){items, n, (n + capacity - 1) / capacity};
	while (depth > 0)
	{
		PackPart *part = &work->stack[depth - 1];
		PackPart left = *part;
		PackCut cut;

		if (part->npages == 1)
		{
			depth--;
			callbacks->page(callbacks->context, left.items, left.n);
			continue;
		}
		if (ndone / 65536 != (ndone + left.n) / 65536)
			callbacks->tick(callbacks->context);
		ndone += left.n;

		cut = choose_cut(work, left.items, left.n, left.npages);

		/*
		 * In proportion, rounded: no part can then have more items than its
		 * pages hold, since n / npages is at most the capacity.
		 */
		left.npages = cut.nleft_pages;
		left.n = (size_t) ((unsigned __int128) part->n * cut.nleft_pages / part->npages);
		move_left(part->items, part->n, left.n, &cut);
		part->items += left.n;
		part->n -= left.n;
		part->npages -= left.npages;
		BVH_ASSERT(depth < MAX_DEPTH);
		work->stack[depth++] = left;
	}
}
