/*-------------------------------------------------------------------------
 *
 * test_kernels.c
 *	  Every version of the kernels against the scalar one, bit for bit.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/simd/kernels.h"
#include "tap.h"

/* a number that comparisons and subtractions treat in a way of its own */
static float
special(Rng *rng)
{
	static const float values[] = {
		0.0f,
		-0.0f,
		0x1p-149f,
		-0x1p-149f,
		0x1.fffffcp-127f,
		0x1p-126f,
		-0x1p-126f,
		0x1.fffffep127f,
		-0x1.fffffep127f,
		INFINITY,
		-INFINITY,
		NAN,
		-NAN,
	};

	return values[rng_below(rng, LENGTH_OF(values))];
}

/* small whole numbers for ties, ordinary ones, any bits, and the special ones */
static float
any_float(Rng *rng)
{
	uint32_t bits = (uint32_t) rng_next(rng);
	float f;

	switch (rng_below(rng, 4))
	{
		case 0:
			return (float) rng_small(rng);
		case 1:
			return (float) rng_between(rng, -10, 10);
		case 2:
			return special(rng);
		default:
			memcpy(&f, &bits, sizeof(f));
			return f;
	}
}

static double
any_double(Rng *rng)
{
	uint64_t bits = rng_next(rng);
	double x;

	switch (rng_below(rng, 4))
	{
		case 0:
			return rng_small(rng);
		case 1:
			return rng_wild(rng);
		case 2:
			return special(rng);
		default:
			memcpy(&x, &bits, sizeof(x));
			return x;
	}
}

/* ---------------------------------------------------------------- in_range */

/*
 * A range around the box, so that it often is in range; then one lane or none
 * gets another number.
 */
static void
choose_range(Rng *rng, Box3 *box, BoxRange *range)
{
	int odd = rng_below(rng, 24);

	*box = rng_any_box(rng);
	for (int i = 0; i < 6; i++)
	{
		double *lane = i < 3 ? &box->lo[i] : &box->hi[i - 3];
		range->lower[i] = rng_below(rng, 2) ? *lane : nextafter(*lane, -INFINITY);
		range->upper[i] = rng_below(rng, 2) ? *lane : nextafter(*lane, INFINITY);
		if (odd == i)
			*lane = any_double(rng);
		else if (odd == i + 6)
			range->lower[i] = any_double(rng);
		else if (odd == i + 12)
			range->upper[i] = any_double(rng);
	}
}

static void
check_in_range(Rng *rng, const BvhKernels *kernels)
{
	int nhits = 0;

	for (int i = 0; i < 300000; i++)
	{
		Box3 box;
		BoxRange range;
		bool want;

		choose_range(rng, &box, &range);
		want = bvh_kernels_scalar.in_range(&box, &range);
		nhits += want;
		if (kernels->in_range(&box, &range) != want ||
			box3_in_range(&box, &range) != want)
		{
			FAIL("%s: in_range is that of scalar", kernels->name);
			NOTE("want %d", want);
			show_box("box", &box);
			for (int lane = 0; lane < 6; lane++)
				NOTE("lane %d: %a .. %a", lane, range.lower[lane], range.upper[lane]);
			return;
		}
	}
	OK(nhits > 50000 && nhits < 250000, "%s: in_range is that of scalar", kernels->name);
}

/* each of the twelve comparisons alone decides */
static void
check_each_lane(const BvhKernels *kernels)
{
	const Box3 box = {{1, 2, 3}, {4, 5, 6}};
	int nwrong = 0;

	for (int lane = 0; lane < 6; lane++)
	{
		const double x = lane + 1;
		BoxRange range;

		for (int i = 0; i < 6; i++)
			range.lower[i] = range.upper[i] = i + 1;
		nwrong += !kernels->in_range(&box, &range);
		range.lower[lane] = nextafter(x, INFINITY);
		range.upper[lane] = INFINITY;
		nwrong += kernels->in_range(&box, &range);
		range.lower[lane] = -INFINITY;
		range.upper[lane] = nextafter(x, -INFINITY);
		nwrong += kernels->in_range(&box, &range);
		range.upper[lane] = NAN;
		nwrong += kernels->in_range(&box, &range);
	}
	OK(nwrong == 0, "%s: every lane of in_range counts, and is closed", kernels->name);
}

/* ---------------------------------------------------------------- excess */

static void
choose_block(Rng *rng, BoxBlock *block, BlockProbe *probe)
{
	bool is_plain = rng_below(rng, 2);

	for (int lane = 0; lane < 6; lane++)
	{
		for (int i = 0; i < BVH_BLOCK; i++)
			block->lane[lane][i] = is_plain ? (float) rng_small(rng) : any_float(rng);
		probe->lower[lane] = is_plain ? (float) rng_small(rng) : any_float(rng);
		probe->upper[lane] = is_plain ? (float) rng_small(rng) : any_float(rng);
		/* finite, > 0 is the rule; all alike keeps ties */
		probe->weight[lane] = is_plain ? 1.0f
									   : (float) rng_octave(rng, rng_int(rng, -126, 126));
	}
}

static void
check_excess(Rng *rng, const BvhKernels *kernels)
{
	for (int i = 0; i < 100000; i++)
	{
		BoxBlock block;
		BlockProbe probe;
		float want[BVH_BLOCK];
		float got[BVH_BLOCK];
		float limit;
		uint32_t want_mask;
		uint32_t got_mask;

		choose_block(rng, &block, &probe);
		limit = rng_below(rng, 2) ? (float) rng_int(rng, 0, 3) : any_float(rng);
		memset(got, 0x55, sizeof(got));
		want_mask = bvh_kernels_scalar.excess(&block, &probe, limit, want);
		got_mask = kernels->excess(&block, &probe, limit, got);
		if (got_mask != want_mask || memcmp(got, want, sizeof(want)) != 0)
		{
			FAIL("%s: excess is that of scalar", kernels->name);
			NOTE("limit %a, mask %04x, want %04x", limit, got_mask, want_mask);
			for (int k = 0; k < BVH_BLOCK; k++)
				NOTE("box %d: %a, want %a", k, got[k], want[k]);
			return;
		}
	}
	PASS("%s: excess is that of scalar", kernels->name);
}

/* the scalar one against its own description */
static void
check_meaning(Rng *rng)
{
	for (int i = 0; i < 20000; i++)
	{
		BoxBlock block;
		BlockProbe probe;
		float excess[BVH_BLOCK];
		float limit = (float) rng_int(rng, 0, 3);
		uint32_t mask;

		choose_block(rng, &block, &probe);
		mask = bvh_kernels_scalar.excess(&block, &probe, limit, excess);
		for (int k = 0; k < BVH_BLOCK; k++)
		{
			bool is_out = false;
			bool is_far = false;

			for (int lane = 0; lane < 6; lane++)
			{
				float x = block.lane[lane][k];
				float below = probe.weight[lane] * (probe.lower[lane] - x);
				float above = probe.weight[lane] * (x - probe.upper[lane]);

				is_out |= below > 0.0f || above > 0.0f;
				is_far |= below > limit || above > limit;
			}
			if (isnan(excess[k]) || (excess[k] > 0.0f) != is_out ||
				(mask >> k & 1) == is_far || mask >> BVH_BLOCK != 0)
			{
				FAIL("excess says who is out of range, and who by more than the limit");
				return;
			}
		}
	}
	PASS("excess says who is out of range, and who by more than the limit");
}

/* ---------------------------------------------------------------- choice */

static void
check_choice(void)
{
	int nusable = 0;

	OK(bvh_kernels == &bvh_kernels_scalar, "scalar is in use until another is chosen");
	OK(bvh_kernels_find("scalar") == &bvh_kernels_scalar, "scalar is always there");
	OK(bvh_kernels_find("Scalar") == NULL && bvh_kernels_find("") == NULL,
	   "other names are not");
	OK(bvh_kernels_nth(bvh_kernels_count()) == NULL, "there are as many as counted");
	for (size_t i = 0; i < bvh_kernels_count(); i++)
	{
		const BvhKernels *kernels = bvh_kernels_nth(i);

		if (kernels == NULL)
			continue;
		OK(bvh_kernels_find(kernels->name) == kernels, "%s has its name", kernels->name);
		if (nusable++ == 0)
			OK(bvh_kernels_find(NULL) == kernels, "%s is the best here", kernels->name);
		bvh_kernels_use(kernels);
		OK(bvh_kernels == kernels, "%s can be chosen", kernels->name);
	}
	bvh_kernels_use(&bvh_kernels_scalar);
}

int
main(void)
{
	Rng rng = rng_start();

	check_choice();
	check_meaning(&rng);
	for (size_t i = 0; i < bvh_kernels_count(); i++)
	{
		const BvhKernels *kernels = bvh_kernels_nth(i);

		if (kernels == NULL)
		{
			PASS("version %zu # SKIP this machine cannot run it", i + 1);
			continue;
		}
		check_in_range(&rng, kernels);
		check_each_lane(kernels);
		check_excess(&rng, kernels);
	}
	return tap_done();
}
