/*-------------------------------------------------------------------------
 *
 * test_sample.c
 *	  Samples: what goes in comes out, and estimates are close to the truth.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/sample.h"
#include "tap.h"

/* boxes of a column, and of the sample of it: every tenth */
#define POPULATION 75000
#define SAMPLED    7500

static Box3 population[POPULATION];
static float numbers[SAMPLE_HEADER + (SAMPLED / BVH_BLOCK + 1) * 6 * BVH_BLOCK];

/* every step-th of n boxes as an opened sample, valid until the next call */
static BoxSample
sample_of(const Box3 *boxes, int n, int step)
{
	static const Box3 *chosen[SAMPLED];
	double *scratch;
	BoxSample sample;
	int nchosen = 0;

	for (int i = 0; i < n; i += step)
		chosen[nchosen++] = &boxes[i];
	/* no more than is asked for, so that a sanitizer sees it */
	scratch = malloc(sizeof(double) * (nchosen < 64 ? 64 : nchosen));
	if (scratch == NULL)
		abort();
	sample_encode(chosen, nchosen, scratch, numbers);
	free(scratch);
	if (!sample_open(numbers, sample_length(nchosen), &sample))
		abort();
	return sample;
}

static bool
matches(const Box3 *b, BvhOp op, bool reversed, const Box3 *query)
{
	return reversed ? box3_matches(query, op, b) : box3_matches(b, op, query);
}

static int
count(const Box3 *boxes, int n, BvhOp op, bool reversed, const Box3 *query)
{
	int nmatching = 0;

	for (int i = 0; i < n; i++)
		nmatching += matches(&boxes[i], op, reversed, query);
	return nmatching;
}

static int
count_within(const Box3 *boxes, int n, const Box3 *query, double radius)
{
	int nwithin = 0;

	for (int i = 0; i < n; i++)
		nwithin += box3_distance(&boxes[i], query) <= radius;
	return nwithin;
}

/* ---------------------------------------------------------------- encoding */

/* whole coordinates below 2^16, which survive the encoding exactly */
static double
whole(Rng *rng)
{
	return rng_below(rng, 1 << 16);
}

static void
round_trip(Rng *rng)
{
	for (int n = 1; n < 100; n++)
	{
		BoxSample sample;

		for (int i = 0; i < n; i++)
		{
			population[i] = rng_box(rng, whole);
			if (rng_below(rng, 8) == 0)
				population[i].hi[i % 3] = INFINITY;
			if (rng_below(rng, 8) == 0)
				population[i].lo[i % 3] = -INFINITY;
		}
		sample = sample_of(population, n, 1);
		for (int i = 0; i < n; i++)
		{
			Box3 box;

			sample_box(&sample, i, &box);
			if (sample.nboxes != n || !box3_equal(&box, &population[i]))
			{
				FAIL("whole coordinates are encoded exactly");
				NOTE("box %d of %d", i, n);
				show_box("stored", &population[i]);
				show_box("read", &box);
				return;
			}
		}
	}
	PASS("whole coordinates are encoded exactly");
}

/* what is left when float is too short: the box is inside of the one encoded */
static void
rounds_outward(Rng *rng)
{
	BoxSample sample;

	for (int i = 0; i < 1000; i++)
		population[i] = rng_world_box(rng, 1.0);
	sample = sample_of(population, 1000, 1);
	for (int i = 0; i < 1000; i++)
	{
		Box3 box;

		sample_box(&sample, i, &box);
		for (int d = 0; d < 3; d++)
			/* but for the last bits of double, lost with the origin */
			if (box.lo[d] > population[i].lo[d] + 1e-12 ||
				box.hi[d] < population[i].hi[d] - 1e-12)
			{
				FAIL("boxes are rounded outward");
				show_box("stored", &population[i]);
				show_box("read", &box);
				return;
			}
	}
	PASS("boxes are rounded outward");
}

/* the error is that of float relative to the span, not to the distance from 0 */
static void
far_from_zero(Rng *rng)
{
	BoxSample sample;
	double most = 0.0;

	for (int i = 0; i < 1000; i++)
	{
		population[i] = rng_world_box(rng, 1.0);
		for (int d = 0; d < 3; d++)
		{
			population[i].lo[d] += 1e9;
			population[i].hi[d] += 1e9;
		}
	}
	sample = sample_of(population, 1000, 1);
	for (int i = 0; i < 1000; i++)
	{
		Box3 box;

		sample_box(&sample, i, &box);
		for (int d = 0; d < 3; d++)
		{
			most = fmax(most, fabs(box.lo[d] - population[i].lo[d]));
			most = fmax(most, fabs(box.hi[d] - population[i].hi[d]));
		}
	}
	OK(most < 1e-4, "boxes of a small world far from zero are kept apart (%g)", most);
}

static void
refuses_malformed(Rng *rng)
{
	static const float counts[] = {0.0f, -1.0f, 0.5f, NAN, INFINITY, -INFINITY, 1e9f};
	BoxSample sample;
	const int length = sample_length(20);

	for (int i = 0; i < 20; i++)
		population[i] = rng_world_box(rng, 1.0);
	sample_of(population, 20, 1);
	OK(sample_open(numbers, length, &sample), "20 boxes are a sample");
	OK(!sample_open(numbers, length - 1, &sample), "not when a number is missing");
	OK(!sample_open(numbers, length + 1, &sample), "nor with one more");
	OK(!sample_open(numbers, length + 6 * BVH_BLOCK, &sample), "nor with another block");
	OK(!sample_open(numbers, SAMPLE_HEADER, &sample), "nor without any block");
	OK(!sample_open(numbers, 1, &sample), "nor with a single number");
	OK(!sample_open(numbers, 0, &sample), "nor without any");
	for (int i = 0; i < LENGTH_OF(counts); i++)
	{
		numbers[1] = counts[i];
		OK(!sample_open(numbers, length, &sample), "nor with %g boxes", counts[i]);
	}
	numbers[1] = 33.0f;
	OK(!sample_open(numbers, length, &sample), "nor with more boxes than fit");
	numbers[1] = 20.0f;
	numbers[0] = SAMPLE_FORMAT + 1;
	OK(!sample_open(numbers, length, &sample), "nor in another format");
	numbers[0] = NAN;
	OK(!sample_open(numbers, length, &sample), "nor in none");
}

/* points of so many dimensions, in a world of 100 an axis */
static float
dimension_of_points(Rng *rng, int ndimensions)
{
	for (int i = 0; i < SAMPLED; i++)
	{
		population[i] = make_point(7, 7, 7);
		for (int d = 0; d < ndimensions; d++)
			population[i].lo[d] = population[i].hi[d] = rng_percent(rng);
	}
	return sample_of(population, SAMPLED, 1).dimension;
}

static void
finds_dimension(Rng *rng)
{
	for (int n = 1; n <= 3; n++)
	{
		float dimension = dimension_of_points(rng, n);

		OK(fabsf(dimension - (float) n) < 0.6f,
		   "points of %d dimensions seem to have %.2f",
		   n,
		   dimension);
	}
	OK(dimension_of_points(rng, 0) == 2.0f, "equal points say nothing");
}

/* ---------------------------------------------------------------- any input */

static bool
is_part(double selectivity)
{
	/* comparisons are false for NaN */
	return selectivity >= 0.0 && selectivity <= 1.0;
}

/* is every estimate of this sample for this query a part of 1? */
static bool
estimates_are_parts(const BoxSample *sample, const Box3 *query, double radius,
					int left_out)
{
	for (int i = 0; i < LENGTH_OF(all_ops); i++)
		if (!is_part(
				sample_selectivity(sample, all_ops[i], false, query, left_out, NULL)) ||
			!is_part(sample_selectivity(sample, all_ops[i], true, query, left_out, NULL)))
			return false;
	return is_part(sample_dwithin(sample, query, radius, left_out, NULL));
}

static void
wild_boxes(Rng *rng)
{
	for (int i = 0; i < 1500; i++)
	{
		int n = rng_int(rng, 1, 40);
		int kind = rng_below(rng, 4);
		BoxSample sample;
		Box3 query;
		double radius = rng_below(rng, 8) ? fabs(rng_wild(rng)) : NAN;

		for (int k = 0; k < n; k++)
		{
			population[k] = rng_any_box(rng);
			/* all equal; or all but one */
			if (kind == 0 || (kind == 1 && k < n - 1))
				population[k] = population[0];
		}
		query = rng_below(rng, 2) ? rng_any_box(rng) : population[rng_below(rng, n)];
		sample = sample_of(population, n, 1);
		if (!estimates_are_parts(&sample, &query, radius, rng_below(rng, n + 1) - 1))
		{
			FAIL("estimates are in [0, 1] for wild boxes");
			show_box("query", &query);
			for (int k = 0; k < n; k++)
				show_box("box", &population[k]);
			return;
		}
	}
	PASS("estimates are in [0, 1] for wild boxes");
}

/* any bits, but often a number of ordinary size */
static float
any_float(Rng *rng)
{
	uint32_t bits = (uint32_t) rng_next(rng);
	float f;

	if (bits % 2)
		return (float) rng_between(rng, -4, 4);
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* statistics can be restored from anywhere */
static void
any_bits(Rng *rng)
{
	for (int i = 0; i < 3000; i++)
	{
		int n = rng_int(rng, 1, 40);
		int length = sample_length(n);
		Box3 query = rng_any_box(rng);
		BoxSample sample;

		for (int k = 2; k < length; k++)
			numbers[k] = any_float(rng);
		numbers[0] = SAMPLE_FORMAT;
		numbers[1] = (float) n;
		if (!sample_open(numbers, length, &sample) ||
			!estimates_are_parts(&sample,
								 &query,
								 fabs(rng_wild(rng)),
								 rng_below(rng, n + 1) - 1))
		{
			FAIL("estimates are in [0, 1] for samples of any bits");
			show_box("query", &query);
			return;
		}
	}
	PASS("estimates are in [0, 1] for samples of any bits");
}

static void
small_samples(void)
{
	Box3 unit = make_box(0, 0, 0, 1, 1, 1);
	Box3 aside = make_box(5, 5, 5, 6, 6, 6);
	BoxSample sample;

	population[0] = unit;
	sample = sample_of(population, 1, 1);
	OK(sample_selectivity(&sample, BVH_OVERLAPS, false, &unit, -1, NULL) == 1.0,
	   "one box that matches is all");
	OK(sample_selectivity(&sample, BVH_OVERLAPS, false, &aside, -1, NULL) == 0.0,
	   "one that does not is none");
	OK(is_part(sample_selectivity(&sample, BVH_OVERLAPS, false, &unit, 0, NULL)),
	   "without it nothing is known");
	OK(sample_dwithin(&sample, &aside, 10.0, -1, NULL) == 1.0 &&
		   sample_dwithin(&sample, &aside, 1.0, -1, NULL) == 0.0,
	   "one box is within the distance or is not");
	OK(sample_dwithin(&sample, &unit, -1.0, -1, NULL) == 0.0 &&
		   sample_dwithin(&sample, &unit, NAN, -1, NULL) == 0.0,
	   "nothing is within a negative distance, or NaN");
	OK(sample_dwithin(&sample, &aside, INFINITY, -1, NULL) == 1.0,
	   "everything is within infinity");
	OK(sample_selectivity(&sample, BVH_DISTANCE, false, &unit, -1, NULL) == 1.0,
	   "what does not filter keeps all");

	for (int i = 0; i < 1000; i++)
		population[i] = unit;
	sample = sample_of(population, 1000, 1);
	OK(sample_selectivity(&sample, BVH_EQUAL, false, &unit, -1, NULL) == 1.0 &&
		   sample_selectivity(&sample, BVH_OVERLAPS, false, &unit, -1, NULL) == 1.0,
	   "equal boxes match all");
	OK(sample_selectivity(&sample, BVH_EQUAL, false, &aside, -1, NULL) < 0.01 &&
		   sample_selectivity(&sample, BVH_OVERLAPS, false, &aside, -1, NULL) < 0.01,
	   "or next to none");
}

/* ---------------------------------------------------------------- plenty match */

/* few whole numbers: everything touches something */
static double
coarse(Rng *rng)
{
	return rng_below(rng, 8);
}

/*
 * Whole coordinates, so that no bound is in doubt.  The part that matches is
 * counted exactly, and is the estimate when it is large enough.
 */
static void
counts_plenty(Rng *rng)
{
	int nplenty = 0;

	for (int i = 0; i < 200; i++)
	{
		double (*coordinate)(Rng *) = i % 2 ? whole : coarse;
		const int n = rng_int(rng, 50, 500);
		Box3 query = rng_box(rng, coordinate);
		int left_out = rng_below(rng, n + 1) - 1;
		BoxSample sample;

		for (int k = 0; k < n; k++)
			population[k] = rng_box(rng, coordinate);
		sample = sample_of(population, n, 1);
		for (int k = 0; k < 2 * LENGTH_OF(all_ops); k++)
		{
			BvhOp op = all_ops[k / 2];
			bool reversed = k % 2;
			int nmatching = count(population, n, op, reversed, &query);
			double counted;
			double estimate;
			double want;

			if (left_out >= 0 && matches(&population[left_out], op, reversed, &query))
				nmatching--;
			want = (double) nmatching / (left_out >= 0 ? n - 1 : n);
			estimate = sample_selectivity(&sample,
										  op,
										  reversed,
										  &query,
										  left_out,
										  &counted);
			nplenty += nmatching >= 8;
			if (counted != want || (nmatching >= 8 && estimate != want))
			{
				FAIL("what matches is counted, and the estimate if it is plenty");
				NOTE("operator %d of %d boxes, without %d", op, n, left_out);
				NOTE("%g, counted %g, want %g", estimate, counted, want);
				show_box("query", &query);
				return;
			}
		}
	}
	OK(nplenty > 2000, "what matches is counted, and the estimate if it is plenty");
}

/* of every third block only: the same as a sample of those */
static void
strides(Rng *rng)
{
	static Box3 looked_at[SAMPLED];
	BoxSample sample;
	Box3 query = make_box(0.25, 0.25, 0.25, 30000.25, 30000.25, 30000.25);
	int n = 0;
	int nmatching;
	int nwithin;

	for (int i = 0; i < 1000; i++)
	{
		population[i] = rng_box(rng, whole);
		if (i / BVH_BLOCK % 3 == 0)
			looked_at[n++] = population[i];
	}
	sample = sample_of(population, 1000, 1);
	sample.stride = 3;
	nmatching = count(looked_at, n, BVH_OVERLAPS, false, &query);
	nwithin = count_within(looked_at, n, &query, 1000.0);
	OK(sample_selectivity(&sample, BVH_OVERLAPS, false, &query, -1, NULL) ==
		   (double) nmatching / n,
	   "a stride looks at some blocks only");
	OK(sample_selectivity(&sample, BVH_OVERLAPS, false, &query, BVH_BLOCK, NULL) ==
		   (double) nmatching / n,
	   "a box left out elsewhere does not count");
	OK(sample_dwithin(&sample, &query, 1000.0, -1, NULL) == (double) nwithin / n,
	   "nor do others for the distance");
}

static void
counts_plenty_within(Rng *rng)
{
	int nplenty = 0;

	for (int i = 0; i < 400; i++)
	{
		const int n = rng_int(rng, 50, 300);
		Box3 query = rng_box(rng, whole);
		double radius = rng_int(rng, 0, 1 << 15);
		BoxSample sample;
		double estimate;
		double counted;
		double want;
		int nwithin;

		for (int k = 0; k < n; k++)
			population[k] = rng_box(rng, whole);
		sample = sample_of(population, n, 1);
		nwithin = count_within(population, n, &query, radius);
		want = (double) nwithin / n;
		estimate = sample_dwithin(&sample, &query, radius, -1, &counted);
		nplenty += nwithin >= 8;
		if (counted != want || (nwithin >= 8 && estimate != want))
		{
			FAIL("what is within the distance is counted, too");
			NOTE("radius %g, %d boxes", radius, n);
			NOTE("%g, counted %g, want %g", estimate, counted, want);
			show_box("query", &query);
			return;
		}
	}
	OK(nplenty > 100, "what is within the distance is counted, too");
}

/* ---------------------------------------------------------------- all alike */

static void
equal_at_every_kernel(Rng *rng)
{
	for (int i = 0; i < 400; i++)
	{
		BoxSample sample;
		Box3 query = rng_world_box(rng, 30.0);
		int n = rng_int(rng, 1, 200);
		BvhOp op = all_ops[rng_below(rng, LENGTH_OF(all_ops))];
		double radius = rng_percent(rng) / 5;
		double want;
		double want_within;

		for (int k = 0; k < n; k++)
			population[k] = i % 8 ? rng_world_box(rng, 5.0) : rng_any_box(rng);
		sample = sample_of(population, n, 1);
		bvh_kernels_use(&bvh_kernels_scalar);
		want = sample_selectivity(&sample, op, i % 2, &query, -1, NULL);
		want_within = sample_dwithin(&sample, &query, radius, -1, NULL);
		for (size_t k = 0; k < bvh_kernels_count(); k++)
		{
			const BvhKernels *kernels = bvh_kernels_nth(k);

			if (kernels == NULL)
				continue;
			bvh_kernels_use(kernels);
			if (sample_selectivity(&sample, op, i % 2, &query, -1, NULL) != want ||
				sample_dwithin(&sample, &query, radius, -1, NULL) != want_within)
			{
				FAIL("estimates do not depend on the kernels");
				NOTE("operator %d, %s", op, kernels->name);
				show_box("query", &query);
				return;
			}
		}
	}
	bvh_kernels_use(&bvh_kernels_scalar);
	PASS("estimates do not depend on the kernels");
}

static void
scale_free(Rng *rng)
{
	static Box3 scaled[300];

	for (int i = 0; i < 150; i++)
	{
		int k = rng_int(rng, -500, 500);
		Box3 query = rng_world_box(rng, 20.0);
		Box3 scaled_query = scale_box(&query, k);
		BvhOp op = all_ops[rng_below(rng, LENGTH_OF(all_ops))];
		double radius = rng_percent(rng) / 5;
		double selectivity;
		double within;
		BoxSample sample;

		for (int j = 0; j < LENGTH_OF(scaled); j++)
		{
			population[j] = rng_world_box(rng, 5.0);
			scaled[j] = scale_box(&population[j], k);
		}
		sample = sample_of(population, LENGTH_OF(scaled), 1);
		selectivity = sample_selectivity(&sample, op, i % 2, &query, -1, NULL);
		within = sample_dwithin(&sample, &query, radius, -1, NULL);
		sample = sample_of(scaled, LENGTH_OF(scaled), 1);
		if (sample_selectivity(&sample, op, i % 2, &scaled_query, -1, NULL) !=
				selectivity ||
			/* lengths are rounded in another way far from 1 */
			fabs(sample_dwithin(&sample, &scaled_query, ldexp(radius, k), -1, NULL) -
				 within) > 1e-12)
		{
			FAIL("estimates are the same at another scale");
			NOTE("operator %d, 2^%d", op, k);
			show_box("query", &query);
			return;
		}
	}
	PASS("estimates are the same at another scale");
}

/* ---------------------------------------------------------------- few match */

/* a box that about this part of the world matches, of any shape */
static Box3
window(Rng *rng, double part, double box_side)
{
	double volume = part * 1e6;
	double side[3];
	Box3 query;

	side[0] = cbrt(volume) * exp2(rng_between(rng, -1, 1));
	side[1] = sqrt(volume / side[0]) * exp2(rng_between(rng, -1, 1));
	side[2] = volume / side[0] / side[1];
	for (int d = 0; d < 3; d++)
	{
		query.lo[d] = rng_between(rng, 0, 100 - side[d]);
		query.hi[d] = query.lo[d] + fmax(side[d] + box_side, 0.0);
	}
	return query;
}

static int
compare_doubles(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

#define QUERIES 201

/* the factor by which an estimate is off; something matches every query here */
static double
factor_off(double estimate, double truth)
{
	if (estimate <= 0.0)
		return INFINITY;
	return estimate > truth ? estimate / truth : truth / estimate;
}

static double
median_off(Rng *rng, const BoxSample *sample, BvhOp op, double part)
{
	double off[QUERIES];

	for (int i = 0; i < QUERIES;)
	{
		/* boxes are 0.5 an axis on average, and count when they overlap or fit */
		Box3 query = window(rng, part, op == BVH_OVERLAPS ? -0.5 : 0.5);
		int truth = count(population, POPULATION, op, false, &query);

		if (truth > 0)
			off[i++] = factor_off(sample_selectivity(sample, op, false, &query, -1, NULL),
								  (double) truth / POPULATION);
	}
	qsort(off, QUERIES, sizeof(double), compare_doubles);
	return off[QUERIES / 2];
}

static double
median_off_within(Rng *rng, const BoxSample *sample, double part)
{
	double radius = cbrt(part * 1e6 * 3 / 4 / 3.14159);
	double off[QUERIES];

	for (int i = 0; i < QUERIES;)
	{
		Box3 query = make_point(rng_percent(rng), rng_percent(rng), rng_percent(rng));
		int truth = count_within(population, POPULATION, &query, radius);

		if (truth > 0)
			off[i++] = factor_off(sample_dwithin(sample, &query, radius, -1, NULL),
								  (double) truth / POPULATION);
	}
	qsort(off, QUERIES, sizeof(double), compare_doubles);
	return off[QUERIES / 2];
}

static void
close_to_the_truth(Rng *rng)
{
	BoxSample sample;
	double off;

	bvh_kernels_use(bvh_kernels_find(NULL));
	for (int i = 0; i < POPULATION; i++)
		population[i] = rng_world_box(rng, 1.0);
	sample = sample_of(population, POPULATION, POPULATION / SAMPLED);

	off = median_off(rng, &sample, BVH_OVERLAPS, 0.01);
	OK(off < 1.2, "&& for 1%% is off by %.2f", off);
	off = median_off(rng, &sample, BVH_OVERLAPS, 0.001);
	OK(off < 1.5, "&& for 0.1%% is off by %.2f", off);
	off = median_off(rng, &sample, BVH_OVERLAPS, 0.0001);
	OK(off < 2.5, "&& for 0.01%% is off by %.2f", off);
	off = median_off(rng, &sample, BVH_CONTAINED_BY, 0.001);
	OK(off < 1.5, "<@ for 0.1%% is off by %.2f", off);
	off = median_off_within(rng, &sample, 0.001);
	OK(off < 1.5, "the distance for 0.1%% is off by %.2f", off);
	/* too few to count: the corners of the box around the reach must not count */
	off = median_off_within(rng, &sample, 0.0003);
	OK(off < 1.45, "the distance for 0.03%% is off by %.2f", off);
}

/* the box around the reach is full, the ball in it empty */
static void
knows_empty_balls(Rng *rng)
{
	const Box3 center = make_point(50, 50, 50);
	BoxSample sample;
	double part;

	for (int i = 0; i < SAMPLED; i++)
	{
		double p[3];

		for (int d = 0; d < 3; d++)
			p[d] = 50 + (rng_below(rng, 2) ? -9.5 : 9.5) + rng_unit(rng) / 4;
		population[i] = make_point(p[0], p[1], p[2]);
	}
	sample = sample_of(population, SAMPLED, 1);
	part = sample_dwithin(&sample, &center, 10.0, -1, NULL);
	OK(part < 0.02, "nothing within the distance, all in the corners: %.4f", part);
}

int
main(void)
{
	Rng rng = rng_start();

	round_trip(&rng);
	rounds_outward(&rng);
	far_from_zero(&rng);
	finds_dimension(&rng);
	refuses_malformed(&rng);
	wild_boxes(&rng);
	any_bits(&rng);
	small_samples();
	counts_plenty(&rng);
	counts_plenty_within(&rng);
	strides(&rng);
	equal_at_every_kernel(&rng);
	scale_free(&rng);
	close_to_the_truth(&rng);
	knows_empty_balls(&rng);
	return tap_done();
}
