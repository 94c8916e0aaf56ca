/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Dividing the boxes of a full node in two, by binned SAH.
 *
 * The surface area heuristic: the cost of a half is its area times its number
 * of boxes.  Cuts are tried between equal bins of the center on each axis and
 * of the size (large boxes of a set with many sizes belong together, and
 * nested boxes differ in nothing else).
 *
 * Three departures from the textbook.  No cut leaves a half less full than
 * min_fill; an index without such a limit takes a page for each box of nested
 * or sorted input.  So the bins of a key span what lies between about its
 * min_fill and 1 - min_fill quantiles, however far off the rest is.
 *
 * Coordinates are first brought to a span of about 1 by a power of two, and
 * infinite bounds to a few spans away, so no area is infinite, none of use
 * underflows, and the same boxes at another scale are cut alike.
 *
 * A little of the sum of sides is added to the area, or sets without any
 * (collinear boxes) would cost 0 however they are cut.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/split.h"

#define MAX_BINS 32

/* items whose keys say where the middle of all is */
#define MAX_SAMPLE 32

/* share of the sum of sides in the cost; areas of about 1 hide it */
#define LENGTH_WEIGHT 0x1p-20

/* where infinite bounds go, in spans of the finite ones */
#define FAR 16.0

/* sizes below 2^-60 of the span are all the same */
#define SMALLEST_SIZE (-60.0)

typedef struct Cut
{
	double cost;
	int imbalance;
	int key;
	double boundary; /* left: key < boundary */
} Cut;

typedef struct Bin
{
	Box3 bounds;
	int n;
} Bin;

static const Box3 nothing = {{INFINITY, INFINITY, INFINITY},
							 {-INFINITY, -INFINITY, -INFINITY}};

static double
cost(const Box3 *b)
{
	double x = b->hi[0] - b->lo[0];
	double y = b->hi[1] - b->lo[1];
	double z = b->hi[2] - b->lo[2];

	return x * y + y * z + z * x + LENGTH_WEIGHT * (x + y + z);
}

/* log2 of the sum of sides, linear between powers of two */
static double
size_key(const Box3 *b)
{
	double sum = (b->hi[0] - b->lo[0]) + (b->hi[1] - b->lo[1]) + (b->hi[2] - b->lo[2]);
	double mantissa;
	int e;

	mantissa = frexp(sum, &e);
	if (sum == 0.0)
		return SMALLEST_SIZE;
	return fmax(e + 2.0 * mantissa - 2.0, SMALLEST_SIZE);
}

/* scale the boxes to a span of about 1 and fill in their keys */
static void
prepare(SplitItem *items, int n)
{
	double first[3];
	double longest = 0.0;
	double factor;
	int exponent = 0;
	bool plain;

	for (int d = 0; d < 3; d++)
	{
		double least = INFINITY;
		double most = -INFINITY;

		for (int i = 0; i < n; i++)
		{
			double lo = items[i].box.lo[d];
			double hi = items[i].box.hi[d];

			least = isfinite(lo) && lo < least ? lo : least;
			least = isfinite(hi) && hi < least ? hi : least;
			most = isfinite(lo) && lo > most ? lo : most;
			most = isfinite(hi) && hi > most ? hi : most;
		}
		if (least > most)
			least = most = 0.0;
		/* halves: a span may be longer than the largest double */
		first[d] = 0.5 * least;
		longest = fmax(longest, 0.5 * most - 0.5 * least);
	}
	if (longest > 0.0)
		frexp(longest, &exponent);

	/* one multiplication where the power of two is an ordinary number */
	plain = exponent > -1000 && exponent < 1000;
	factor = ldexp(1.0, plain ? -exponent : 0);

	for (int i = 0; i < n; i++)
	{
		Box3 *b = &items[i].box;

		for (int d = 0; d < 3; d++)
		{
			double *bound[2] = {&b->lo[d], &b->hi[d]};

			for (int k = 0; k < 2; k++)
			{
				double x = *bound[k];

				if (isinf(x))
					*bound[k] = x > 0 ? FAR : -FAR;
				else if (plain)
					*bound[k] = (0.5 * x - first[d]) * factor;
				else
					*bound[k] = ldexp(0.5 * x - first[d], -exponent);
			}
			items[i].key[d] = b->lo[d] + b->hi[d];
		}
		items[i].key[3] = size_key(b);
	}
}

/*
 * middle_of_keys --- about the quantiles min_fill and 1 - min_fill of a key,
 * from an even choice of the items
 *
 * Rather too far out than too far in: that costs bins, not cuts.
 */
static void
middle_of_keys(const SplitItem *items, int n, int key, double min_fill, double *low,
			   double *high)
{
	double sorted[MAX_SAMPLE] = {0};
	int nsample = n < MAX_SAMPLE ? n : MAX_SAMPLE;
	int skip = (int) (0.6 * min_fill * nsample);

	for (int i = 0; i < nsample; i++)
	{
		double x = items[(int) ((int64_t) i * n / nsample)].key[key];
		int j = i;

		for (; j > 0 && x < sorted[j - 1]; j--)
			sorted[j] = sorted[j - 1];
		sorted[j] = x;
	}
	*low = sorted[skip];
	*high = sorted[nsample - 1 - skip];
}

static bool
better(const Cut *a, const Cut *b)
{
	if (a->cost != b->cost)
		return a->cost < b->cost;
	return a->imbalance < b->imbalance;
}

/* bin of a key; the same expression decides costs and sides */
static inline int
bin_of(double key, double low, double scale, int nbins)
{
	double place = (key - low) * scale;

	if (!(place > 0.0))
		return 0;
	return place < nbins ? (int) place : nbins - 1;
}

/* try the cuts between bins of one key that leave min_n on both sides */
static void
try_bins(const SplitItem *items, int n, int min_n, int key, double low, double high,
		 Cut *best)
{
	Bin bins[MAX_BINS];
	double right_cost[MAX_BINS];
	int right_n[MAX_BINS];
	int nbins = n / 4 + 4 < MAX_BINS ? n / 4 + 4 : MAX_BINS;
	double scale = nbins / (high - low);
	Bin acc = {nothing, 0};

	/* a denormal width: no room for bins */
	if (!isfinite(scale))
		return;

	for (int i = 0; i < nbins; i++)
		bins[i] = acc;
	for (int i = 0; i < n; i++)
	{
		Bin *bin = &bins[bin_of(items[i].key[key], low, scale, nbins)];

		box3_include(&bin->bounds, &items[i].box);
		bin->n++;
	}
	for (int i = nbins - 1; i > 0; i--)
	{
		box3_include(&acc.bounds, &bins[i].bounds);
		acc.n += bins[i].n;
		right_cost[i] = acc.n > 0 ? cost(&acc.bounds) * acc.n : 0.0;
		right_n[i] = acc.n;
	}
	acc = (Bin){nothing, 0};
	for (int i = 1; i < nbins; i++)
	{
		Cut cut;

		box3_include(&acc.bounds, &bins[i - 1].bounds);
		acc.n += bins[i - 1].n;
		if (acc.n < min_n || right_n[i] < min_n)
			continue;
		cut.cost = cost(&acc.bounds) * acc.n + right_cost[i];
		cut.imbalance = acc.n > right_n[i] ? acc.n - right_n[i] : right_n[i] - acc.n;
		cut.key = key;
		cut.boundary = i;
		if (better(&cut, best))
			*best = cut;
	}
}

/* order by one key, equal keys by place, so that the order is total */
static bool
comes_before(const SplitItem *a, const SplitItem *b, int key)
{
	if (a->key[key] != b->key[key])
		return a->key[key] < b->key[key];
	return a->number < b->number;
}

/* heap sort by one key: bounded for every input, and needs no memory */
static void
sort_items(SplitItem *items, int n, int key)
{
	for (int end = n, start = n / 2; end > 1;)
	{
		SplitItem sift;
		int hole;

		if (start > 0)
			hole = --start;
		else
		{
			SplitItem top = items[0];

			items[0] = items[--end];
			items[end] = top;
			hole = 0;
		}
		sift = items[hole];
		for (;;)
		{
			int child = 2 * hole + 1;

			if (child >= end)
				break;
			if (child + 1 < end && comes_before(&items[child], &items[child + 1], key))
				child++;
			if (!comes_before(&sift, &items[child], key))
				break;
			items[hole] = items[child];
			hole = child;
		}
		items[hole] = sift;
	}
}

/*
 * cut_sorted --- the way out when no key has such a cut: most of the set is
 * equal in each
 *
 * Orders by each key and tries the three exact places: the two limits of the
 * fill, and the middle.
 */
static int
cut_sorted(SplitItem *items, int n, int min_n)
{
	const int places[3] = {n / 2, min_n, n - min_n};
	Cut best = {INFINITY, 0, 0, 0};
	int nleft = n / 2;

	for (int key = 0; key < BVH_SPLIT_KEYS; key++)
	{
		sort_items(items, n, key);
		for (int p = 0; p < 3; p++)
		{
			Box3 left = nothing;
			Box3 right = nothing;
			Cut cut;

			for (int i = 0; i < n; i++)
				box3_include(i < places[p] ? &left : &right, &items[i].box);
			cut.cost = cost(&left) * places[p] + cost(&right) * (n - places[p]);
			cut.imbalance = 2 * places[p] > n ? 2 * places[p] - n : n - 2 * places[p];
			cut.key = key;
			cut.boundary = 0;
			if (better(&cut, &best))
			{
				best = cut;
				nleft = places[p];
			}
		}
	}
	sort_items(items, n, best.key);
	return nleft;
}

/*
 * bvh_split --- divide n >= 2 boxes in two
 *
 * Reorders the items and returns how many of them are the left half.  Each
 * half gets at least min_fill * n of them, rounded down, and at least one;
 * 0 <= min_fill < 0.5.  Equal input gives equal output.
 */
int
bvh_split(SplitItem *items, int n, double min_fill)
{
	Cut best = {INFINITY, 0, -1, 0};
	int min_n = (int) (min_fill * n);
	double low[BVH_SPLIT_KEYS];
	double high[BVH_SPLIT_KEYS];
	double scale;
	int nbins;
	int nleft = 0;

	BVH_ASSERT(n >= 2 && min_fill >= 0.0 && min_fill < 0.5);
	min_n = min_n < 1 ? 1 : min_n;
	prepare(items, n);

	for (int key = 0; key < BVH_SPLIT_KEYS; key++)
	{
		middle_of_keys(items, n, key, min_fill, &low[key], &high[key]);
		if (low[key] < high[key])
			try_bins(items, n, min_n, key, low[key], high[key], &best);
	}
	if (best.key < 0)
		return cut_sorted(items, n, min_n);

	nbins = n / 4 + 4 < MAX_BINS ? n / 4 + 4 : MAX_BINS;
	scale = nbins / (high[best.key] - low[best.key]);
	for (int j = n - 1; nleft <= j;)
	{
		if (bin_of(items[nleft].key[best.key], low[best.key], scale, nbins) <
			best.boundary)
			nleft++;
		else
		{
			SplitItem t = items[nleft];

			items[nleft] = items[j];
			items[j--] = t;
		}
	}
	BVH_ASSERT(nleft >= min_n && n - nleft >= min_n);
	return nleft;
}
