/*-------------------------------------------------------------------------
 *
 * test_hilbert.c
 *	  The Hilbert curve against the formulas it is made from, and the order of
 *	  boxes along it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/hilbert.h"
#include "tap.h"

/* ---------------------------------------------------------------- the curve */

/*
 * Skilling's "AxestoTranspose", and the interleaving of what it leaves: the
 * curve by bit tricks, where the core looks its steps up.
 */
static uint64_t
skilling_key(const uint64_t cell[3], int bits)
{
	uint64_t x[3] = {cell[0], cell[1], cell[2]};
	uint64_t key = 0;
	uint64_t t = 0;

	for (uint64_t q = UINT64_C(1) << (bits - 1); q > 1; q >>= 1)
		for (int i = 0; i < 3; i++)
			if (x[i] & q)
				x[0] ^= q - 1;
			else
			{
				t = (x[0] ^ x[i]) & (q - 1);
				x[0] ^= t;
				x[i] ^= t;
			}
	x[1] ^= x[0];
	x[2] ^= x[1];
	t = 0;
	for (uint64_t q = UINT64_C(1) << (bits - 1); q > 1; q >>= 1)
		if (x[2] & q)
			t ^= q - 1;
	for (int level = bits - 1; level >= 0; level--)
		for (int i = 0; i < 3; i++)
			key = key << 1 | ((x[i] ^ t) >> level & 1);
	return key;
}

static void
equals_skilling(Rng *rng)
{
	for (int i = 0; i < 200000; i++)
	{
		int bits = i < 4096 ? 4 : rng_int(rng, 1, 21);
		uint64_t mask = (UINT64_C(1) << bits) - 1;
		uint64_t cell[3] = {i >> 8 & 15, i >> 4 & 15, i & 15};

		/* first all cells of a 16^3 grid, then any */
		for (int d = 0; d < 3; d++)
			cell[d] = i < 4096 ? cell[d] : rng_next(rng) & mask;
		if (hilbert_key(cell, bits) != skilling_key(cell, bits))
		{
			FAIL("keys are those of Skilling's formulas");
			NOTE("%d bits, cell %" PRIu64 " %" PRIu64 " %" PRIu64,
				 bits,
				 cell[0],
				 cell[1],
				 cell[2]);
			return;
		}
	}
	PASS("keys are those of Skilling's formulas");
}

static void
visits_neighbours(void)
{
	static int at[4096][3];
	static bool seen[4096];
	int nseen = 0;
	int nsteps = 0;

	for (int i = 0; i < 4096; i++)
	{
		uint64_t cell[3] = {i >> 8, i >> 4 & 15, i & 15};
		uint64_t key = hilbert_key(cell, 4);

		if (key >= 4096)
			continue;
		nseen += !seen[key];
		seen[key] = true;
		for (int d = 0; d < 3; d++)
			at[key][d] = (int) cell[d];
	}
	OK(nseen == 4096, "every cell of a 16^3 grid has its own key below 4096");
	for (int i = 1; i < 4096; i++)
		nsteps += abs(at[i][0] - at[i - 1][0]) + abs(at[i][1] - at[i - 1][1]) +
				  abs(at[i][2] - at[i - 1][2]);
	OK(nsteps == 4095, "consecutive keys are neighbouring cells");
}

/* ---------------------------------------------------------------- a known world */

static uint64_t
key_in(const Box3 *world, const Box3 *box)
{
	uint64_t key = 0;

	box3_hilbert(box, world, &key);
	return key;
}

static void
known_world(void)
{
	const Box3 world = make_box(0, 0, 0, 1 << 21, 1 << 20, 0);
	const Box3 endless = make_box(0, 0, 0, 1, INFINITY, 1);
	const Box3 at_infinity = make_box(0, 0, INFINITY, 1, 1, INFINITY);
	const Box3 widest = make_box(-LARGEST, 0, 0, LARGEST, 1, 1);
	const Box3 nowhere = make_point(5, 5, 5);
	const uint64_t last = (1 << 21) - 1;
	Box3 box = make_box(2, 6, -8, 5, 7, 8);
	uint64_t key;

	OK(key_in(&world, &box) == skilling_key((const uint64_t[]){3, 6, 0}, 21),
	   "the cell is that of the center, cubic");
	box = make_point(1 << 21, -5, 3);
	OK(key_in(&world, &box) == skilling_key((const uint64_t[]){last, 0, 3}, 21),
	   "a center outside counts as the nearest cell");
	box = make_box(-INFINITY, INFINITY, -INFINITY, 7, INFINITY, INFINITY);
	OK(key_in(&world, &box) == skilling_key((const uint64_t[]){0, last, 0}, 21),
	   "and so does one at infinity");

	OK(!box3_hilbert(&box, &endless, &key) && !box3_hilbert(&box, &at_infinity, &key),
	   "a world with an infinite side has no cells");
	box = make_point(-LARGEST, 0, 0);
	OK(key_in(&widest, &box) == 0, "a world wider than the largest double has a first");
	box = make_point(LARGEST, 0, 0);
	OK(key_in(&widest, &box) == skilling_key((const uint64_t[]){last, 0, 0}, 21),
	   "and a last cell");
	OK(key_in(&nowhere, &nowhere) == 0, "a world without a side has one cell");
	OK(key_in(&nowhere, &box) == skilling_key((const uint64_t[]){last, 0, 0}, 21),
	   "with the others around it");
}

static void
any_world(Rng *rng)
{
	for (int i = 0; i < 100000; i++)
	{
		Box3 world = rng_any_box(rng);
		Box3 box = rng_any_box(rng);
		bool has_end = true;
		uint64_t key = 0;

		for (int d = 0; d < 3; d++)
			has_end &= isfinite(world.lo[d]) && isfinite(world.hi[d]);
		if (box3_hilbert(&box, &world, &key) != has_end || key >> 63)
		{
			FAIL("any box has a key of 63 bits in any world that has an end");
			show_box("box", &box);
			show_box("world", &world);
			return;
		}
	}
	PASS("any box has a key of 63 bits in any world that has an end");
}

/* ---------------------------------------------------------------- an unknown one */

/* -1, 0 or 1 by the keys alone */
static int
compare_keys(const CurveFrame *frame, const Box3 *a, const Box3 *b)
{
	uint64_t key_a = box3_curve_key(frame, a);
	uint64_t key_b = box3_curve_key(frame, b);

	return (key_a > key_b) - (key_a < key_b);
}

/* boxes that are often close to each other, since far ones are told apart early */
static Box3
box_near(Rng *rng, const Box3 *other)
{
	Box3 box = *other;

	if (rng_below(rng, 2))
		return rng_any_box(rng);
	for (int d = 0; d < 3; d++)
		if (isfinite(box.lo[d]) && isfinite(box.hi[d]))
		{
			double step = fabs(box.lo[d]) * rng_octave(rng, rng_int(rng, -53, -1));

			box.lo[d] += rng_below(rng, 2) ? step : 0.0;
			box.hi[d] = fmax(box.lo[d], box.hi[d]);
		}
	return box;
}

static void
is_total_order(Rng *rng)
{
	int nties = 0;

	for (int i = 0; i < 150000; i++)
	{
		CurveFrame frame = {{0}, false};
		Box3 first = rng_any_box(rng);
		Box3 a = rng_any_box(rng);
		Box3 b = box_near(rng, &a);
		Box3 c = box_near(rng, &b);
		int ab;
		int bc;
		int ac;
		int keys;

		box3_curve_begin(&frame, &first);
		ab = box3_curve_compare(&frame, &a, &b);
		bc = box3_curve_compare(&frame, &b, &c);
		ac = box3_curve_compare(&frame, &a, &c);
		keys = compare_keys(&frame, &a, &b);
		nties += keys == 0 && ab != 0;
		if (!frame.is_set || box3_curve_compare(&frame, &b, &a) != -ab ||
			box3_curve_compare(&frame, &a, &a) != 0 || (ab <= 0 && bc <= 0 && ac > 0) ||
			(ab == 0 && bc == 0 && ac != 0) || (ab < 0 && bc <= 0 && ac == 0) ||
			(keys != 0 && ab != keys) || box3_curve_key(&frame, &a) >> 63)
		{
			FAIL("boxes have a total order, and keys agree with it");
			NOTE("ab %d, bc %d, ac %d, keys of a and b %d", ab, bc, ac, keys);
			show_box("first", &first);
			show_box("a", &a);
			show_box("b", &b);
			show_box("c", &c);
			return;
		}
	}
	OK(nties > 100, "boxes have a total order, and keys agree with it");
}

/* the order and the keys' order of the same boxes at another scale */
static void
is_scale_free(Rng *rng)
{
	enum
	{
		N = 24
	};

	for (int k = -600; k <= 600; k++)
	{
		CurveFrame frame;
		CurveFrame scaled_frame;
		Box3 boxes[N];
		Box3 scaled[N];

		for (int i = 0; i < N; i++)
		{
			boxes[i] = rng_world_box(rng, 1.0);
			if (i % 6 == 4)
			{
				boxes[i] = boxes[i - 1];
				boxes[i].lo[i % 3] = nextafter(boxes[i].lo[i % 3], 0.0);
			}
			if (i % 6 == 5)
				boxes[i].hi[i % 3] = INFINITY;
			scaled[i] = scale_box(&boxes[i], k);
		}
		box3_curve_begin(&frame, &boxes[0]);
		box3_curve_begin(&scaled_frame, &scaled[0]);
		for (int i = 1; i < N; i++)
			if (box3_curve_compare(&frame, &boxes[i - 1], &boxes[i]) !=
					box3_curve_compare(&scaled_frame, &scaled[i - 1], &scaled[i]) ||
				compare_keys(&frame, &boxes[i - 1], &boxes[i]) !=
					compare_keys(&scaled_frame, &scaled[i - 1], &scaled[i]))
			{
				FAIL("the order is the same at another scale");
				NOTE("2^%d", k);
				show_box("first", &boxes[0]);
				show_box("a", &boxes[i - 1]);
				show_box("b", &boxes[i]);
				return;
			}
	}
	PASS("the order is the same at another scale");
}

/* boxes one bit apart sort apart, however far from zero they are */
static void
tells_neighbours_apart(void)
{
	for (int k = -1000; k <= 1000; k++)
	{
		Box3 first = make_point(ldexp(1.0, k), 0, 0);
		Box3 a = make_point(ldexp(0x1.0000000000001p0, k), 0, 0);
		Box3 b = make_point(ldexp(0x1.0000000000002p0, k), 0, 0);
		CurveFrame frame;

		box3_curve_begin(&frame, &first);
		if (box3_curve_compare(&frame, &first, &a) == 0 ||
			box3_curve_compare(&frame, &a, &b) == 0 || compare_keys(&frame, &a, &b) == 0)
		{
			FAIL("neighbouring numbers sort apart");
			NOTE("2^%d", k);
			return;
		}
	}
	PASS("neighbouring numbers sort apart");
}

/* to the last of 52 levels, and at the very end of a shell's cube */
static void
uses_all_levels(void)
{
	const CurveFrame frame = {{0, 0, 0}, true};
	Box3 a = make_point(1, 1, 1);
	Box3 b = make_point(1, 1, 1 + 0x1p-50);
	Box3 last = make_point(0x1.fffffffffffffp-1, 0, 0);
	Box3 near_last = make_point(0x1.ffffffffffp-1, 0, 0);

	OK(compare_keys(&frame, &a, &b) == 0 && box3_curve_compare(&frame, &a, &b) != 0,
	   "boxes with equal keys are compared further");
	OK(compare_keys(&frame, &last, &near_last) == 0,
	   "what rounds to the end of the cube is in the last cell");
}

static int
by_curve(const void *a, const void *b)
{
	static const CurveFrame frame = {{0, 0, 0}, true};

	return box3_curve_compare(&frame, a, b);
}

/*
 * What the order is for: boxes that follow each other make pages with small
 * bounds.  4096 points of a cube, 64 to a page.
 */
static void
packs_well(Rng *rng)
{
	static Box3 boxes[4096];
	double volume = 0.0;

	for (int i = 0; i < 4096; i++)
		boxes[i] = rng_world_box(rng, 0.0);
	qsort(boxes, 4096, sizeof(Box3), by_curve);
	for (int page = 0; page < 64; page++)
	{
		Box3 node = boxes[page * 64];

		for (int i = 1; i < 64; i++)
			box3_include(&node, &boxes[page * 64 + i]);
		volume += box3_volume(&node);
	}
	/* perfect pages fill the world of 10^6 about once; unsorted ones 58 times */
	OK(volume < 2.5e6, "pages in this order are compact: %.2g of 1e6", volume);
}

int
main(void)
{
	Rng rng = rng_start();

	equals_skilling(&rng);
	visits_neighbours();
	known_world();
	any_world(&rng);
	is_total_order(&rng);
	is_scale_free(&rng);
	tells_neighbours_apart();
	uses_all_levels();
	packs_well(&rng);
	return tap_done();
}
