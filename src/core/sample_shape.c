/*-------------------------------------------------------------------------
 *
 * sample_shape.c
 *	  How many boxes match a shape, judging by a sample.
 *
 * The operator is evaluated on boxes of the sample.  Where too few match to be
 * counted, the boxes are grown until some do.  How the number of matches grows
 * from there to boxes twice as large says with which power of their size it
 * does (2 for a ray through boxes that fill the space, less where they lie on
 * surfaces), and that power leads back to boxes as large as they are.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/sample_shape.h"

#include <float.h>

#include "core/ray3.h"

/* boxes of the sample to look at, of which so many matches are enough */
#define LOOK_AT 2048
#define ENOUGH  8

/* rays that stand for one that is not known, and boxes to look at for each */
#define MEAN_RAYS    8
#define MEAN_LOOK_AT 512

/* the most that boxes are grown, in sides */
#define MOST_GROWTH 1024.0

/* matches among every so many boxes, each grown by a multiple of the mean sides */
static int
count_matches(const BoxSample *sample, const BvhShape *shape, int step, double growth)
{
	/* ldexp() would take most of the time; of 2^1024, there are only halves */
	double unit[2] = {ldexp(1.0, sample->scale / 2),
					  ldexp(1.0, sample->scale - sample->scale / 2)};
	double margin[3];
	int n = 0;

	for (int d = 0; d < 3; d++)
	{
		double side = sample->mean_side[d];
		double span = (double) sample->last_center[d] - sample->first_center[d];

		/* points and flat boxes grow, too */
		side = side > span / 1024.0 ? side : span / 1024.0;
		margin[d] = fmin(ldexp(side * growth, sample->scale), DBL_MAX);
	}
	for (int i = 0; i < sample->nboxes; i += step)
	{
		const BoxBlock *block = &sample->blocks[i / BVH_BLOCK];
		Box3 box;

		for (int d = 0; d < 3; d++)
		{
			double lo = block->lane[d][i % BVH_BLOCK] * unit[0] * unit[1];
			double hi = block->lane[d + 3][i % BVH_BLOCK] * unit[0] * unit[1];

			box.lo[d] = lo + sample->origin[d] - margin[d];
			box.hi[d] = hi + sample->origin[d] + margin[d];
		}
		n += shape_matches(shape, &box);
	}
	return n;
}

/* part of the boxes that match, judging by about so many of the sample */
static double
selectivity_by(const BoxSample *sample, const BvhShape *shape, int look_at)
{
	int step = sample->nboxes > look_at ? sample->nboxes / look_at : 1;
	double nboxes = (sample->nboxes + step - 1) / step;
	int ninside = count_matches(sample, shape, step, 0.0);
	double growth = 0.25;
	int n = ninside;
	int nlarger;
	double power;
	double by_spread;
	double by_count;

	if (ninside >= ENOUGH || nboxes < ENOUGH)
		return ninside / nboxes;
	/* what contains boxes contains fewer of larger ones; some fraction of one */
	if (shape_is_containment(shape->op))
		return (ninside + 0.3) / nboxes;
	while (n < ENOUGH && growth < MOST_GROWTH)
	{
		growth *= 2.0;
		n = count_matches(sample, shape, step, growth);
	}
	/* far from everything */
	if (n < ENOUGH)
		return ninside / nboxes;

	nlarger = count_matches(sample, shape, step, 2.0 * growth + 0.5);
	/* which makes the sides twice as long again */
	power = fmin(fmax(log2((double) nlarger / n), 0.0), 3.0);
	by_spread = n / nboxes * pow(1.0 + 2.0 * growth, -power);

	/* between 0 and 1 match is not 0; see sample_selectivity() */
	by_count = (ninside + 0.7) / nboxes;
	return fmin(by_count < by_spread ? sqrt(by_count * by_spread) : by_spread, 1.0);
}

/*
 * sample_shape_selectivity --- part of the boxes that match the shape; in [0, 1]
 */
double
sample_shape_selectivity(const BoxSample *sample, const BvhShape *shape)
{
	return selectivity_by(sample, shape, LOOK_AT);
}

/*
 * sample_ray_mean --- part of the boxes that a ray meets which is not known:
 * one without end through where boxes are, on average
 */
double
sample_ray_mean(const BoxSample *sample)
{
	double sum = 0.0;
	int nrays = 0;

	for (int i = 0; i < MEAN_RAYS; i++)
	{
		double origin[3];
		double direction[3];
		Box3 box[4];
		Ray3 ray;
		BvhShape shape = {BVH_MEETS_RAY, &ray};

		for (int k = 0; k < 4; k++)
			sample_box(sample,
					   (int) ((int64_t) (5 * i + 7 * k) % (4 * MEAN_RAYS) *
							  sample->nboxes / (4 * MEAN_RAYS)),
					   &box[k]);
		/* not at one of the boxes, which it would meet however small they are */
		for (int d = 0; d < 3; d++)
		{
			origin[d] = 0.5 * box3_center(&box[0], d) + 0.5 * box3_center(&box[1], d);
			direction[d] = box3_center(&box[2], d) - box3_center(&box[3], d);
		}
		/* boxes without end, or in one place, give none */
		if (ray3_make(origin, origin, direction, INFINITY, &ray) != RAY3_OK)
			continue;
		sum += selectivity_by(sample, &shape, MEAN_LOOK_AT);
		nrays++;
	}
	return nrays > 0 ? sum / nrays : 1.0;
}
