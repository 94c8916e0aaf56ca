/*-------------------------------------------------------------------------
 *
 * sample.c
 *	  A sample of a column's boxes, and how many boxes match an operator
 *	  judging by it.
 *
 * The estimate evaluates the operator, as a range over six lanes, on the
 * sample.  A query that matches a thousandth of the boxes matches three of
 * 3,000, too few to count.  So each sample box then stands for boxes of its
 * size spread evenly around its center (a density estimate with a box
 * kernel), just wide enough that a handful of them reach the query, and what
 * counts of each is the part of that spread that matches.  One mechanism
 * serves every operator.
 *
 * Boxes of real things lie along surfaces and lines, not evenly in space:
 * twice as far is then four times as many, not eight.  So the set of centers is
 * given a dimension d (that of correlation, Grassberger and Procaccia 1983),
 * and the part of the spread is taken to the power d / 3.
 *
 * With 10,000 boxes, the median of the factor by which the estimate is off,
 * for overlap with queries of varied shape around a box of the data (or
 * anywhere in its extent) that match 0.1%, is 1.2 (1.2) on uniform boxes, 1.3
 * (1.2) on game maps, 1.3 (1.2) on voxels and 1.2 (1.2) on moving bodies; for
 * those that match 0.01%, 1.5 (1.5), 1.6 (2.3), 1.5 (1.5) and 1.4 (1.9).
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/sample.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* neighbours by which the dimension is judged, and boxes whose they are */
#define DIMENSION_NEAR   8
#define DIMENSION_FAR    64
#define DIMENSION_PROBES 64

/* M_PI is not in the C standard */
#define PI 3.14159265358979323846

/* sample boxes that have to reach the query */
#define ENOUGH 8

static double
to_scale(const BoxSample *sample, int d, double x)
{
	return ldexp(x - sample->origin[d], -sample->scale);
}

/* a bound as a float: lower bounds of boxes go down, upper ones up */
static float
round_lane(const BoxSample *sample, int lane, double x)
{
	double scaled = to_scale(sample, lane % 3, x);
	float f = (float) scaled;

	if (lane < 3)
		return (double) f > scaled ? nextafterf(f, -INFINITY) : f;
	return (double) f < scaled ? nextafterf(f, INFINITY) : f;
}

static inline float
center_of(const BoxSample *sample, int i, int d)
{
	const BoxBlock *block = &sample->blocks[i / BVH_BLOCK];

	return 0.5f * block->lane[d][i % BVH_BLOCK] +
		   0.5f * block->lane[d + 3][i % BVH_BLOCK];
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

/* the median of n numbers, which it sorts; 0 when there is none */
static double
median(double *numbers, int n)
{
	if (n == 0)
		return 0.0;
	qsort(numbers, n, sizeof(double), compare_doubles);
	return numbers[n / 2];
}

/* medians: a few boxes of another size or far away must not matter */
static void
choose_origin_and_scale(const Box3 *const *boxes, int nboxes, double *scratch,
						BoxSample *sample)
{
	double typical;
	int n;

	for (int d = 0; d < 3; d++)
	{
		double center;
		int e;

		n = 0;
		for (int i = 0; i < nboxes; i++)
			if (isfinite(box3_center(boxes[i], d)))
				scratch[n++] = box3_center(boxes[i], d);
		/* a float and an exponent hold it */
		center = frexp(median(scratch, n), &e);
		sample->origin[d] = ldexp((float) center, e);
		if (!isfinite(sample->origin[d]))
			sample->origin[d] = 0.0;
	}

	n = 0;
	for (int i = 0; i < nboxes; i++)
	{
		double farthest = 0.0;

		for (int d = 0; d < 3; d++)
		{
			farthest = fmax(farthest, fabs(boxes[i]->lo[d] - sample->origin[d]));
			farthest = fmax(farthest, fabs(boxes[i]->hi[d] - sample->origin[d]));
		}
		if (isfinite(farthest) && farthest > 0.0)
			scratch[n++] = farthest;
	}
	typical = median(scratch, n);
	sample->scale = 0;
	if (typical > 0.0)
		frexp(typical, &sample->scale);
}

/*
 * find_dimension --- how the number of neighbours grows with the distance
 *
 * From the distances of the 8th and the 64th neighbour of some boxes.  Without
 * enough of them that differ, 2: things are mostly surface.
 */
static float
find_dimension(const BoxSample *sample, double *scratch)
{
	int nprobes = 0;

	for (int probe = 0; probe < DIMENSION_PROBES; probe++)
	{
		int which = (int) ((int64_t) probe * sample->nboxes / DIMENSION_PROBES);
		float nearest[DIMENSION_FAR] = {0};
		float center[3];
		int n = 0;

		for (int d = 0; d < 3; d++)
			center[d] = center_of(sample, which, d);
		for (int i = 0; i < sample->nboxes; i++)
		{
			float distance = 0.0f;
			int j;

			for (int d = 0; d < 3; d++)
			{
				float span = sample->last_center[d] - sample->first_center[d];

				if (span > 0.0f)
					distance = fmaxf(distance,
									 fabsf(center_of(sample, i, d) - center[d]) / span);
			}
			/* false for NaN, too; the first one of 64 is the box itself */
			if (!isfinite(distance) ||
				(n == DIMENSION_FAR && !(distance < nearest[n - 1])))
				continue;
			if (n < DIMENSION_FAR)
				n++;
			for (j = n - 1; j > 0 && distance < nearest[j - 1]; j--)
				nearest[j] = nearest[j - 1];
			nearest[j] = distance;
		}
		if (n == DIMENSION_FAR && nearest[DIMENSION_NEAR - 1] > 0.0f &&
			nearest[DIMENSION_FAR - 1] > nearest[DIMENSION_NEAR - 1])
			scratch[nprobes++] = log((double) DIMENSION_FAR / DIMENSION_NEAR) /
								 log((double) nearest[DIMENSION_FAR - 1] /
									 nearest[DIMENSION_NEAR - 1]);
	}
	if (nprobes < DIMENSION_PROBES / 4)
		return 2.0f;
	return fminf(fmaxf((float) median(scratch, nprobes), 0.5f), 3.0f);
}

/*
 * sample_encode --- pack boxes as floats, rounded outward
 *
 * out has room for sample_length(nboxes), scratch for nboxes or 64.  Lanes
 * behind the last box hold zeros; nboxes says which they are.
 */
void
sample_encode(const Box3 *const *boxes, int nboxes, double *scratch, float *out)
{
	BoxBlock *blocks = (BoxBlock *) (out + SAMPLE_HEADER);
	BoxSample sample;
	double sum[3] = {0, 0, 0};
	double first[3] = {INFINITY, INFINITY, INFINITY};
	double last[3] = {-INFINITY, -INFINITY, -INFINITY};
	int n[3] = {0, 0, 0};

	choose_origin_and_scale(boxes, nboxes, scratch, &sample);
	memset(out, 0, sizeof(float) * sample_length(nboxes));
	for (int i = 0; i < nboxes; i++)
	{
		BoxBlock *block = &blocks[i / BVH_BLOCK];

		for (int d = 0; d < 3; d++)
		{
			float lo = round_lane(&sample, d, boxes[i]->lo[d]);
			float hi = round_lane(&sample, d + 3, boxes[i]->hi[d]);

			block->lane[d][i % BVH_BLOCK] = lo;
			block->lane[d + 3][i % BVH_BLOCK] = hi;
			if (isfinite(lo) && isfinite(hi))
			{
				double center = 0.5 * lo + 0.5 * hi;

				/* the true side: rounding would make flat boxes thick */
				sum[d] += fmin(ldexp(box3_side(boxes[i], d), -sample.scale), FLT_MAX);
				first[d] = fmin(first[d], center);
				last[d] = fmax(last[d], center);
				n[d]++;
			}
		}
	}
	out[0] = SAMPLE_FORMAT;
	out[1] = (float) nboxes;
	out[2] = (float) sample.scale;
	for (int d = 0; d < 3; d++)
	{
		int e;

		out[3 + d] = (float) frexp(sample.origin[d], &e);
		out[6 + d] = (float) e;
		out[9 + d] = n[d] > 0 ? (float) (sum[d] / n[d]) : 0.0f;
		out[12 + d] = n[d] > 0 ? (float) first[d] : 0.0f;
		out[15 + d] = n[d] > 0 ? (float) last[d] : 0.0f;
		sample.first_center[d] = out[12 + d];
		sample.last_center[d] = out[15 + d];
	}
	sample.nboxes = nboxes;
	sample.blocks = blocks;
	out[18] = find_dimension(&sample, scratch);
}

/* a float from outside as an exponent of double */
static int
exponent_of(float f)
{
	return f >= -2000.0f && f <= 2000.0f ? (int) f : 0;
}

/* sample_open --- false when the numbers are no encoded sample */
bool
sample_open(const float *numbers, int length, BoxSample *sample)
{
	if (length < SAMPLE_HEADER || numbers[0] != SAMPLE_FORMAT ||
		!(numbers[1] >= 1.0f && numbers[1] <= (float) length))
		return false;
	sample->id = 0;
	sample->stride = 1;
	sample->nboxes = (int) numbers[1];
	if (sample_length(sample->nboxes) != length)
		return false;
	sample->scale = exponent_of(numbers[2]);
	for (int d = 0; d < 3; d++)
		sample->origin[d] = ldexp(numbers[3 + d], exponent_of(numbers[6 + d]));
	/* written so that NaN counts as 0 */
	for (int d = 0; d < 3; d++)
		sample->mean_side[d] = numbers[9 + d] > 0.0f ? fminf(numbers[9 + d], FLT_MAX)
													 : 0.0f;
	memcpy(sample->first_center, &numbers[12], sizeof(sample->first_center));
	memcpy(sample->last_center, &numbers[15], sizeof(sample->last_center));
	sample->dimension = numbers[18] >= 0.5f && numbers[18] <= 3.0f ? numbers[18] : 2.0f;
	sample->blocks = (const BoxBlock *) (numbers + SAMPLE_HEADER);
	return true;
}

/* sample_box --- a box of the sample, as large as rounding made it */
void
sample_box(const BoxSample *sample, int i, Box3 *box)
{
	const BoxBlock *block = &sample->blocks[i / BVH_BLOCK];

	for (int d = 0; d < 3; d++)
	{
		double lo = ldexp(block->lane[d][i % BVH_BLOCK], sample->scale);
		double hi = ldexp(block->lane[d + 3][i % BVH_BLOCK], sample->scale);

		box->lo[d] = lo + sample->origin[d];
		box->hi[d] = hi + sample->origin[d];
	}
}

/*
 * center_range --- where the center of a box of this side may be, so that the
 * box is in range on this axis; empty when last < first
 */
static void
center_range(const BlockProbe *probe, int d, float side, float *first, float *last)
{
	float half = 0.5f * side;

	*first = fmaxf(probe->lower[d] + half, probe->lower[d + 3] - half);
	*last = fminf(probe->upper[d] + half, probe->upper[d + 3] - half);
}

/* share of an even spread of +-spread around the center that is in range */
static double
share_in_range(const BlockProbe *probe, int d, float lo, float hi, double spread)
{
	float first_center;
	float last_center;
	double first;
	double last;
	double center = 0.5 * lo + 0.5 * hi;

	/* an infinite side does not spread; nor does anything without a width */
	if (!(spread > 0.0) || isinf(lo) || isinf(hi))
		return (probe->lower[d] <= lo) & (lo <= probe->upper[d]) &
			   (probe->lower[d + 3] <= hi) & (hi <= probe->upper[d + 3]);

	center_range(probe, d, hi - lo, &first_center, &last_center);
	first = fmax(first_center, center - spread);
	last = fmin(last_center, center + spread);
	return last > first ? (last - first) / (2.0 * spread) : 0.0;
}

/* what a pass over the sample finds */
typedef struct Nearest
{
	int nboxes;           /* looked at */
	int ninside;          /* of them in range */
	int n;                /* of the arrays below */
	float excess[ENOUGH]; /* of the boxes least out of range, ascending */
	int which[ENOUGH];
} Nearest;

static void
keep_nearest(Nearest *nearest, float excess, int which)
{
	int i;

	if (nearest->n == ENOUGH && !(excess < nearest->excess[ENOUGH - 1]))
		return;
	if (nearest->n < ENOUGH)
		nearest->n++;
	for (i = nearest->n - 1; i > 0 && excess < nearest->excess[i - 1]; i--)
	{
		nearest->excess[i] = nearest->excess[i - 1];
		nearest->which[i] = nearest->which[i - 1];
	}
	nearest->excess[i] = excess;
	nearest->which[i] = which;
}

/* bits of the boxes that count: not behind the last one, not the one left out */
static uint32_t
live_boxes(const BoxSample *sample, int block, int left_out)
{
	int first = block * BVH_BLOCK;
	uint32_t live = (UINT32_C(1) << BVH_BLOCK) - 1;

	if (sample->nboxes - first < BVH_BLOCK)
		live = (UINT32_C(1) << (sample->nboxes - first)) - 1;
	if (left_out >= first && left_out < first + BVH_BLOCK)
		live &= ~(UINT32_C(1) << (left_out - first));
	return live;
}

/* count what is in range; until that is enough, remember what is nearest */
static void
find_nearest(const BoxSample *sample, const BlockProbe *probe, int left_out,
			 Nearest *nearest)
{
	float limit = INFINITY;

	nearest->nboxes = 0;
	nearest->ninside = 0;
	nearest->n = 0;
	for (int block = 0; block < sample_nblocks(sample->nboxes); block += sample->stride)
	{
		float excess[BVH_BLOCK];
		uint32_t live = live_boxes(sample, block, left_out);
		uint32_t mask = bvh_kernels->excess(&sample->blocks[block], probe, limit, excess);

		mask &= live;
		nearest->nboxes += __builtin_popcount(live);
		if (nearest->ninside >= ENOUGH)
		{
			nearest->ninside += __builtin_popcount(mask);
			continue;
		}
		for (; mask != 0; mask &= mask - 1)
		{
			int lane = __builtin_ctz(mask);

			nearest->ninside += excess[lane] <= 0.0f;
			keep_nearest(nearest, excess[lane], block * BVH_BLOCK + lane);
		}
		/* once enough are inside, the eighth nearest is, and the limit 0 */
		if (nearest->n == ENOUGH)
			limit = fmaxf(nearest->excess[ENOUGH - 1], 0.0f);
	}
}

/* is the range of the operator without its ends? */
static bool
is_open_range(BvhOp op)
{
	switch (op)
	{
		case BVH_LEFT:
		case BVH_RIGHT:
		case BVH_BELOW:
		case BVH_ABOVE:
		case BVH_FRONT:
		case BVH_BACK:
		case BVH_OVERLAPS_STRICTLY:
			return true;
		default:
			return false;
	}
}

/*
 * float_limit --- an end of a range as a float
 *
 * Rounded like the bounds of boxes on that lane, so that what is equal stays
 * equal.  Of an open end, given as the next double inside, the next float
 * inside: grids and stacked things touch each other all over.
 */
static float
float_limit(const BoxSample *sample, int lane, double x, bool is_open, double inside)
{
	if (!is_open || isinf(x))
		return round_lane(sample, lane, x);
	return nextafterf(round_lane(sample, lane, nextafter(x, -inside)), (float) inside);
}

/* the range in float, and on each axis what the query takes of it */
static void
make_probe(const BoxSample *sample, const BoxRange *range, bool is_open,
		   BlockProbe *probe, float width[3])
{
	for (int lane = 0; lane < 6; lane++)
	{
		probe->lower[lane] = float_limit(sample,
										 lane,
										 range->lower[lane],
										 is_open,
										 INFINITY);
		probe->upper[lane] = float_limit(sample,
										 lane,
										 range->upper[lane],
										 is_open,
										 -INFINITY);
	}
	for (int d = 0; d < 3; d++)
	{
		float span = sample->last_center[d] - sample->first_center[d];
		float first;
		float last;

		center_range(probe, d, sample->mean_side[d], &first, &last);
		width[d] = fabsf(last - first);
		/* written so that NaN, from two infinite ends, counts as wide */
		if (!(width[d] < span))
			width[d] = span;
		if (!(width[d] < FLT_MAX))
			width[d] = FLT_MAX;
		/* weights must be finite, and their excesses comparable */
		probe->weight[d] = width[d] > FLT_MIN ? 1.0f / width[d] : 1.0f / FLT_MIN;
		probe->weight[d + 3] = probe->weight[d];
	}
}

static inline void
set_counted(double *counted, double value)
{
	if (counted != NULL)
		*counted = value;
}

/*
 * sample_selectivity --- part of the boxes b with "b op query", or
 * "query op b" if reversed; in [0, 1]
 *
 * left_out is a box of the sample not to count, or -1: the query itself, when
 * it was taken from there.  counted, if it is not NULL, gets the part of the sample that
 * matches, which is coarse, but right on average over many queries.
 */
double
sample_selectivity(const BoxSample *sample, BvhOp op, bool reversed, const Box3 *query,
				   int left_out, double *counted)
{
	Nearest nearest;
	BoxRange range;
	BlockProbe probe;
	float width[3];
	float factor;
	double sum = 0.0;
	double by_spread;
	double by_count;

	set_counted(counted, 1.0);
	if (!box3_range(op, reversed, query, &range))
		return 1.0;
	make_probe(sample, &range, is_open_range(op), &probe, width);
	find_nearest(sample, &probe, left_out, &nearest);
	if (nearest.nboxes == 0)
		return 1.0;
	by_count = (double) nearest.ninside / nearest.nboxes;
	set_counted(counted, by_count);
	if (nearest.ninside >= ENOUGH || nearest.n < ENOUGH)
		return by_count;

	/* the farthest just touches the range with its spread, and adds nothing */
	factor = nearest.excess[ENOUGH - 1];
	if (!isfinite(factor))
		return by_count;
	for (int i = 0; i < nearest.n; i++)
	{
		const BoxBlock *block = &sample->blocks[nearest.which[i] / BVH_BLOCK];
		int lane = nearest.which[i] % BVH_BLOCK;
		double share = 1.0;

		for (int d = 0; d < 3; d++)
			share *= share_in_range(&probe,
									d,
									block->lane[d][lane],
									block->lane[d + 3][lane],
									(double) factor * width[d]);
		sum += pow(share, sample->dimension / 3.0);
	}
	by_spread = sum / nearest.nboxes;

	/*
	 * A spread reaches into empty space, where there is less than it says: then
	 * those in range count as well.  Between 0 and 1 of them is not 0.
	 */
	by_count = (nearest.ninside + 0.7) / nearest.nboxes;
	return fmin(by_count < by_spread ? sqrt(by_count * by_spread) : by_spread, 1.0);
}

/*
 * part_of_reach --- how much of the boxes that overlap the box around the
 * reach is within the distance itself, were they of mean size and evenly
 * spread: the reach is a box with rounded edges and corners
 */
static double
part_of_reach(const BoxSample *sample, const Box3 *query, double radius)
{
	double side[3];
	double longest;
	double rounded;
	double boxed;

	radius = ldexp(radius, -sample->scale);
	longest = radius;
	for (int d = 0; d < 3; d++)
	{
		side[d] = ldexp(box3_side(query, d), -sample->scale) + sample->mean_side[d];
		side[d] = fmin(side[d], DBL_MAX);
		longest = fmax(longest, side[d]);
	}
	if (!(radius > 0.0) || isinf(radius))
		return 1.0;

	/* relative to the longest, so that no product overflows */
	for (int d = 0; d < 3; d++)
		side[d] /= longest;
	radius /= longest;
	boxed = (side[0] + 2 * radius) * (side[1] + 2 * radius) * (side[2] + 2 * radius);
	rounded = side[0] * side[1] * side[2] +
			  2 * radius * (side[0] * side[1] + side[1] * side[2] + side[2] * side[0]) +
			  PI * radius * radius * (side[0] + side[1] + side[2]) +
			  PI * 4 / 3 * radius * radius * radius;
	return boxed > 0.0 ? fmin(rounded / boxed, 1.0) : 1.0;
}

/*
 * sample_dwithin --- part of the boxes within a distance of the query; in
 * [0, 1].  left_out and counted as for sample_selectivity().
 */
double
sample_dwithin(const BoxSample *sample, const Box3 *query, double radius, int left_out,
			   double *counted)
{
	double nearest[ENOUGH]; /* distances, ascending */
	int nnearest = 0;
	int nboxes = 0;
	int noverlapping = 0;
	int within = 0;
	BoxRange range;
	BlockProbe probe;
	float width[3];
	double by_count;
	Box3 reach;

	/* false for NaN, too */
	set_counted(counted, 0.0);
	if (!(radius >= 0.0))
		return 0.0;
	box3_reach(query, radius, &reach);
	box3_range(BVH_OVERLAPS, false, &reach, &range);
	make_probe(sample, &range, false, &probe, width);
	for (int block = 0; block < sample_nblocks(sample->nboxes); block += sample->stride)
	{
		float excess[BVH_BLOCK];
		uint32_t live = live_boxes(sample, block, left_out);
		uint32_t mask = bvh_kernels->excess(&sample->blocks[block], &probe, 0.0f, excess);

		nboxes += __builtin_popcount(live);
		for (mask &= live; mask != 0; mask &= mask - 1)
		{
			double distance;
			Box3 box;

			sample_box(sample, block * BVH_BLOCK + __builtin_ctz(mask), &box);
			distance = box3_distance(&box, query);
			within += distance <= radius;
			noverlapping++;
			if (nnearest < ENOUGH)
				nearest[nnearest++] = INFINITY;
			for (int i = 0; i < nnearest; i++)
				if (distance < nearest[i])
				{
					double t = nearest[i];

					nearest[i] = distance;
					distance = t;
				}
		}
	}
	by_count = nboxes > 0 ? (double) within / nboxes : 1.0;
	set_counted(counted, by_count);
	if (within >= ENOUGH || nboxes < ENOUGH)
		return by_count;

	/*
	 * The corners of the reach may hold much of the data, and the ball nothing:
	 * go by the distances then, with the exponent of sample_selectivity().
	 */
	if (noverlapping >= ENOUGH && isfinite(nearest[ENOUGH - 1]))
	{
		double side = sample->mean_side[0] + sample->mean_side[1] + sample->mean_side[2];
		double reach_of_box = ldexp(side / 6.0, sample->scale);
		double part = (radius + reach_of_box) / (nearest[ENOUGH - 1] + reach_of_box);

		return fmin((double) ENOUGH / nboxes * pow(part, sample->dimension),
					(double) noverlapping / nboxes);
	}
	return sample_selectivity(sample, BVH_OVERLAPS, false, &reach, left_out, NULL) *
		   part_of_reach(sample, query, radius);
}
