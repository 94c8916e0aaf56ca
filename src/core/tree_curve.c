/*-------------------------------------------------------------------------
 *
 * tree_curve.c
 *	  A tree along the Hilbert curve: no choices, so it is built in little time.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/hilbert.h"
#include "core/tree_build.h"

/*
 * More boxes than this in one cell are put in order among themselves, in a frame
 * that is smaller than theirs by so many powers of two.
 */
#define CROWD         16
#define LESS_OF_FRAME 4

/* keys have so many digits of so many bits, each a step of an LSD radix sort */
#define DIGITS       3
#define MOST_BITS    11
#define SMALL_BITS   8
#define SMALL_NUMBER 4096

static inline int
digit_bits(size_t n)
{
	/* where many share a cell, they get cells of their own */
	return n <= SMALL_NUMBER ? SMALL_BITS : MOST_BITS;
}

/* bvh_curve_start_size --- bytes to be had for build->start, to order n items */
size_t
bvh_curve_start_size(size_t n)
{
	return DIGITS * sizeof(uint32_t) << digit_bits(n);
}

/* order items by their keys */
static void
sort_curve(Build *build, size_t first, size_t n, int bits)
{
	CurveItem *from = build->curve[0] + first;
	CurveItem *to = build->curve[1] + first;
	/* not on the stack, as cells within cells are sorted by recursion */
	uint32_t *start = build->start;
	uint64_t mask = (UINT64_C(1) << bits) - 1;

	memset(start, 0, DIGITS * sizeof(uint32_t) << bits);
	for (size_t at = 0; at < n; at += TICK_BOXES)
	{
		size_t end = n - at < TICK_BOXES ? n : at + TICK_BOXES;

		for (size_t i = at; i < end; i++)
			for (int digit = 0; digit < DIGITS; digit++)
				start[(size_t) digit << bits | (from[i].key >> digit * bits & mask)]++;
		count_steps(build, end - at);
	}
	for (int digit = 0; digit < DIGITS; digit++, start += (size_t) 1 << bits)
	{
		CurveItem *t = from;
		uint32_t sum = 0;

		for (int i = 0; i < 1 << bits; i++)
		{
			uint32_t count = start[i];

			start[i] = sum;
			sum += count;
		}
		for (size_t at = 0; at < n; at += TICK_BOXES)
		{
			size_t end = n - at < TICK_BOXES ? n : at + TICK_BOXES;

			for (size_t i = at; i < end; i++)
				to[start[from[i].key >> digit * bits & mask]++] = from[i];
			count_steps(build, end - at);
		}
		from = to;
		to = t;
	}
	memcpy(build->curve[0] + first, from, n * sizeof(CurveItem));
}

/* the frame of what is finite of these items */
static void
make_curve_frame(Build *build, const CurveItem *curve, size_t n, Frame *frame)
{
	Box3 bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

	for (size_t at = 0; at < n; at += TICK_BOXES)
	{
		size_t end = n - at < TICK_BOXES ? n : at + TICK_BOXES;

		for (size_t i = at; i < end; i++)
			bvh_include_finite(&bounds, &build->items[curve[i].item].box);
		count_steps(build, end - at);
	}
	bvh_make_frame(frame, &bounds);
}

static void sort_crowds(Build *build, size_t first, size_t n, int exponent);

/* order the items of curve[0] from first on along the curve, in a frame */
static void
follow_curve(Build *build, size_t first, size_t n, const Frame *frame)
{
	CurveItem *curve = build->curve[0] + first;
	int bits = digit_bits(n);
	float ncells = (float) (1 << bits);

	for (size_t at = 0; at < n; at += TICK_BOXES)
	{
		size_t end = n - at < TICK_BOXES ? n : at + TICK_BOXES;

		for (size_t i = at; i < end; i++)
		{
			uint64_t cell[3];
			BvhPrim prim;

			make_prim(frame, &build->items[curve[i].item].box, &prim);
			for (int d = 0; d < 3; d++)
			{
				float place = 0.5f * center_of(&prim, d) * ncells;

				place = place > 0.0f ? place : 0.0f;
				cell[d] = (uint64_t) (place < ncells - 1.0f ? place : ncells - 1.0f);
			}
			curve[i].key = hilbert_key(cell, bits);
		}
		count_steps(build, end - at);
	}
	sort_curve(build, first, n, bits);
	sort_crowds(build, first, n, frame->exponent);
}

/*
 * sort_crowds --- where many items share a cell, order them in a frame of their own
 *
 * A single box far away is enough to have all others in one cell; and data of all
 * sizes has such cells within such cells.  Recursive; as each frame is smaller than
 * the one before by LESS_OF_FRAME, and double has 2,100 powers of two, the depth is
 * 525 at most.
 */
static void
sort_crowds(Build *build, size_t first, size_t n, int exponent)
{
	const CurveItem *curve = build->curve[0] + first;
	size_t end;

	for (size_t at = 0; at < n; at = end)
	{
		Frame frame;

		for (end = at + 1; end < n && curve[end].key == curve[at].key; end++)
			;
		count_steps(build, end - at);
		if (end - at <= CROWD)
			continue;
		make_curve_frame(build, curve + at, end - at, &frame);
		/* no smaller when they are as large as the cell, and then no order is better */
		if (!frame.is_point && frame.exponent <= exponent - LESS_OF_FRAME)
			follow_curve(build, first + at, end - at, &frame);
	}
}

/*
 * bvh_follow_curve --- order the items of curve[0] from first on along the curve
 *
 * In their frame, unless it is NULL: then that is to be found.
 */
void
bvh_follow_curve(Build *build, size_t first, size_t n, const Frame *frame)
{
	Frame own;

	if (frame == NULL)
	{
		make_curve_frame(build, build->curve[0] + first, n, &own);
		frame = &own;
	}
	follow_curve(build, first, n, frame);
}

/* the places of block number so many of the order along the curve */
static void
block_along_curve(const Build *build, uint32_t block, Lane *lane)
{
	size_t nothers = build->n - build->ngiants;
	uint32_t nbefore = blocks_of(nothers);
	bool is_giant = block >= nbefore;
	size_t first = is_giant ? nothers + (size_t) BVH_WIDTH * (block - nbefore)
							: (size_t) BVH_WIDTH * block;
	size_t end = is_giant ? build->n : nothers;

	lane->is_block = true;
	lane->first = (uint32_t) first;
	lane->n = (uint32_t) (end - first < BVH_WIDTH ? end - first : BVH_WIDTH);
}

/* the lanes of the node that a run of blocks becomes: full subtrees but the last */
int
bvh_run_lanes(const Build *build, Branch run, Lane lanes[BVH_WIDTH])
{
	uint32_t nothers = blocks_of(build->n - build->ngiants);
	uint32_t end = run.first + run.n;
	uint32_t size = 1;
	int n = 0;

	/* the root of a tree with giants */
	if (run.first < nothers && end > nothers && run.first == 0)
	{
		lanes[0].branch = (Branch){0, nothers};
		lanes[1].branch = (Branch){nothers, end - nothers};
		for (int i = 0; i < 2; i++)
		{
			lanes[i].is_block = false;
			if (lanes[i].branch.n == 1)
				block_along_curve(build, lanes[i].branch.first, &lanes[i]);
		}
		return 2;
	}
	while ((uint64_t) size * BVH_WIDTH < run.n)
		size *= BVH_WIDTH;
	for (uint32_t at = run.first; at < end; at += size, n++)
	{
		uint32_t rest = end - at;

		lanes[n].is_block = false;
		lanes[n].branch = (Branch){at, rest < size ? rest : size};
		if (lanes[n].branch.n == 1)
			block_along_curve(build, at, &lanes[n]);
	}
	return n;
}
