/*-------------------------------------------------------------------------
 *
 * test_sample_shape.c
 *	  How many boxes match a shape, judging by a sample, against counting.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/ray3.h"
#include "core/sample_shape.h"
#include "tap.h"

#define NBOXES  20000
#define NSAMPLE 4000

static Box3 boxes[NBOXES];
static float encoded[SAMPLE_HEADER + (NSAMPLE + BVH_BLOCK) * 6];

/* a sample of the boxes, which are in no order */
static void
take_sample(BoxSample *sample)
{
	static const Box3 *chosen[NSAMPLE];
	static double scratch[NSAMPLE];

	for (int i = 0; i < NSAMPLE; i++)
		chosen[i] = &boxes[i * (NBOXES / NSAMPLE)];
	sample_encode(chosen, NSAMPLE, scratch, encoded);
	if (!sample_open(encoded, sample_length(NSAMPLE), sample))
		FAIL("the sample opens");
}

static int
count(const BvhShape *shape)
{
	int n = 0;

	for (int i = 0; i < NBOXES; i++)
		n += shape_matches(shape, &boxes[i]);
	return n;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

static Ray3
rng_world_ray(Rng *rng, int scale)
{
	double origin[3];
	double direction[3];
	Ray3 ray;

	for (int d = 0; d < 3; d++)
	{
		origin[d] = ldexp(rng_percent(rng), scale);
		direction[d] = rng_between(rng, -1, 1);
	}
	ray3_make(origin, origin, direction, INFINITY, &ray);
	return ray;
}

/* by what factor are estimates off: few boxes match, or enough to be counted */
static void
rays_are_estimated(Rng *rng, double longest, int scale, double median, double worst)
{
	double off[100];
	double total = 0.0;
	double mean;
	BoxSample sample;

	for (int i = 0; i < NBOXES; i++)
	{
		Box3 box = rng_world_box(rng, longest);

		boxes[i] = scale_box(&box, scale);
	}
	take_sample(&sample);
	for (int i = 0; i < LENGTH_OF(off); i++)
	{
		Ray3 ray = rng_world_ray(rng, scale);
		BvhShape shape = {BVH_MEETS_RAY, &ray};
		double n = count(&shape);
		double guess = sample_shape_selectivity(&sample, &shape) * NBOXES;

		/* 5 or none do not matter to a planner */
		off[i] = (guess + 5.0) / (n + 5.0);
		off[i] = off[i] < 1.0 ? 1.0 / off[i] : off[i];
		total += n;
	}
	qsort(off, LENGTH_OF(off), sizeof(double), compare);
	OK(off[LENGTH_OF(off) / 2] < median && off[LENGTH_OF(off) - 1] < worst,
	   "sides up to %g, times 2^%d: half of the estimates are off by less than %.2f, all "
	   "by "
	   "less than %.2f",
	   longest,
	   scale,
	   off[LENGTH_OF(off) / 2],
	   off[LENGTH_OF(off) - 1]);
	mean = sample_ray_mean(&sample) * NBOXES / (total / LENGTH_OF(off));
	OK(mean > 0.05 && mean < 60.0, "a ray that is not known, off by %.2f", mean);
}

static void
odd_rays(void)
{
	Ray3 ray;
	BvhShape shape = {BVH_MEETS_RAY, &ray};
	BoxSample sample;

	take_sample(&sample);
	ray3_make((const double[]){1e9, 0, 0},
			  (const double[]){1e9, 0, 0},
			  (const double[]){1, 0, 0},
			  INFINITY,
			  &ray);
	OK(sample_shape_selectivity(&sample, &shape) < 0.001, "far away");
	ray3_make((const double[]){-1e9, -1e9, -1e9},
			  (const double[]){1e9, 1e9, 1e9},
			  (const double[]){0, 0, 0},
			  1,
			  &ray);
	OK(sample_shape_selectivity(&sample, &shape) == 1.0, "all of it");

	for (int i = 0; i < NBOXES; i++)
		boxes[i] = make_point(7, 7, 7);
	take_sample(&sample);
	OK(sample_shape_selectivity(&sample, &shape) == 1.0, "one point");
	OK(sample_ray_mean(&sample) == 1.0, "and no ray from it to itself");
	for (int i = 0; i < NBOXES; i++)
		boxes[i] = make_box(-INFINITY, -INFINITY, 0, INFINITY, INFINITY, i);
	take_sample(&sample);
	OK(sample_shape_selectivity(&sample, &shape) == 1.0, "boxes without end");
}

int
main(void)
{
	Rng rng = rng_start();

	rays_are_estimated(&rng, 20, 0, 1.5, 8);
	rays_are_estimated(&rng, 1, 0, 1.7, 10);
	rays_are_estimated(&rng, 1, 900, 1.7, 10);
	rays_are_estimated(&rng, 1, -900, 1.7, 10);
	odd_rays();
	return tap_done();
}
