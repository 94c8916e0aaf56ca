/*-------------------------------------------------------------------------
 *
 * hilbert.c
 *	  The three-dimensional Hilbert curve.
 *
 * The curve is Skilling's ("Programming the Hilbert curve", AIP Conference
 * Proceedings 707, 2004), walked from the top with its 24 orientations in a
 * table, one look-up for each level; the unit test derives every key from
 * Skilling's own formulas again.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/hilbert.h"

#include <string.h>

/*
 * step[orientation][octant] = next orientation << 3 | place along the curve,
 * with octant = x << 2 | y << 1 | z.
 */
/* clang-format off */
static const uint8_t step[24][8] = {
	{0x08, 0x11, 0x1b, 0x02, 0x27, 0x2e, 0x34, 0x05},
	{0x38, 0x47, 0x49, 0x56, 0x5b, 0x14, 0x0a, 0x0d},
	{0x30, 0x01, 0x67, 0x6e, 0x73, 0x12, 0x0c, 0x15},
	{0x7e, 0x81, 0x1d, 0x1a, 0x4f, 0x50, 0x8c, 0x03},
	{0x94, 0x2b, 0x25, 0x22, 0x7f, 0x80, 0x4e, 0x51},
	{0x9c, 0x2d, 0x23, 0x2a, 0x1f, 0x06, 0xa0, 0x69},
	{0x48, 0x57, 0x8b, 0x04, 0x39, 0x46, 0x32, 0x35},
	{0x00, 0xab, 0x6f, 0x4c, 0x31, 0x3a, 0x66, 0x3d},
	{0xb4, 0x8f, 0x53, 0xb8, 0x45, 0x36, 0x42, 0x61},
	{0x10, 0x7b, 0x09, 0x4a, 0x2f, 0x3c, 0x26, 0x4d},
	{0x84, 0x5f, 0x55, 0x0e, 0x43, 0x90, 0x52, 0x21},
	{0x8e, 0x37, 0xb9, 0x60, 0x5d, 0x74, 0x5a, 0x0b},
	{0xbc, 0x6b, 0xaf, 0xb0, 0x65, 0x62, 0x3e, 0x41},
	{0xa4, 0x6d, 0x77, 0x16, 0x63, 0x6a, 0x98, 0x29},
	{0xae, 0xb1, 0x3f, 0x40, 0x75, 0x72, 0x5c, 0x13},
	{0x1e, 0x7d, 0xa1, 0x7a, 0x07, 0xac, 0x68, 0x4b},
	{0x82, 0x19, 0x85, 0xa6, 0xb3, 0x88, 0x54, 0xbf},
	{0x5e, 0x0f, 0x8d, 0x1c, 0x91, 0x20, 0x8a, 0x33},
	{0x92, 0x9b, 0x95, 0x24, 0x89, 0x18, 0xbe, 0xa7},
	{0x9a, 0x9d, 0x93, 0x2c, 0xa9, 0xb6, 0x78, 0x87},
	{0xa2, 0xa5, 0x79, 0x86, 0xbb, 0x6c, 0xa8, 0xb7},
	{0x76, 0xad, 0x17, 0x7c, 0x99, 0xaa, 0x28, 0x3b},
	{0xb2, 0x71, 0x83, 0x58, 0xb5, 0x9e, 0x44, 0x97},
	{0xba, 0xa3, 0x59, 0x70, 0xbd, 0x64, 0x96, 0x9f},
};
/* clang-format on */

/* levels below a shell's cube: in the key, and in the whole comparison */
#define KEY_LEVELS 17
#define ALL_LEVELS 52

/* exponents of double, with a step below the smallest for zero */
#define MIN_EXPONENT (-1075)

static inline int
octant_of(const uint64_t cell[3], int level)
{
	return (int) ((cell[0] >> level & 1) << 2 | (cell[1] >> level & 1) << 1 |
				  (cell[2] >> level & 1));
}

/*
 * hilbert_key --- place of a cell along the curve through a grid of
 * 2^bits cells an axis
 */
uint64_t
hilbert_key(const uint64_t cell[3], int bits)
{
	uint64_t key = 0;
	int orientation = 0;

	BVH_ASSERT(bits >= 1 && bits <= 21);
	for (int level = bits - 1; level >= 0; level--)
	{
		int next = step[orientation][octant_of(cell, level)];

		key = key << 3 | (next & 7);
		orientation = next >> 3;
	}
	return key;
}

/*
 * box3_hilbert --- place of a box's center along the curve through the world
 *
 * 2^21 cubic cells along the longest side of the world.  A center outside
 * counts as the nearest cell.  False when the world has an infinite side.
 */
bool
box3_hilbert(const Box3 *b, const Box3 *world, uint64_t *key)
{
	uint64_t cell[3];
	double longest = 0.0;

	for (int d = 0; d < 3; d++)
	{
		/* halves, because a side may be longer than the largest double */
		double half = 0.5 * world->hi[d] - 0.5 * world->lo[d];

		if (!isfinite(half))
			return false;
		longest = half > longest ? half : longest;
	}
	for (int d = 0; d < 3; d++)
	{
		double center = box3_center(b, d);
		double part = (0.5 * center - 0.5 * world->lo[d]) / longest;

		/* written so that 0/0 counts as the first cell */
		if (!(part > 0.0))
			cell[d] = 0;
		else if (part >= 1.0)
			cell[d] = (1 << 21) - 1;
		else
			cell[d] = (uint64_t) (part * (1 << 21));
	}
	*key = hilbert_key(cell, 21);
	return true;
}

/*
 * The order for an unknown world
 * ---
 * A sort sees one box at a time and is never told the extent of the data, so
 * no fixed grid will do: one that spans all of double cannot tell neighbours
 * apart.  Instead, boxes are taken shell by shell around the first one: the
 * shell of a box is the power of two above its center's largest offset from
 * the origin, and within a shell the order is a Hilbert curve through the
 * cube that bounds it.  All but an eighth of that cube belongs to the shell,
 * so each curve spends its cells where its boxes are, at any scale and at any
 * distance from zero, and data times a power of two sorts alike.
 */

/* box3_curve_begin --- start the order at this box */
void
box3_curve_begin(CurveFrame *frame, const Box3 *first)
{
	for (int d = 0; d < 3; d++)
	{
		double center = box3_center(first, d);

		frame->origin[d] = isfinite(center) ? center : 0.0;
	}
	frame->is_set = true;
}

/* 2^e where that is an ordinary number; the caller uses ldexp elsewhere */
static inline double
power_of_two(int e)
{
	uint64_t bits = (uint64_t) (e + 1023) << 52;
	double power;

	memcpy(&power, &bits, sizeof(power));
	return power;
}

/*
 * curve_cell --- shell of a box, and its cell within the shell's cube
 *
 * Cells have ALL_LEVELS bits an axis.  The shell counts from 0.
 */
static int
curve_cell(const CurveFrame *frame, const Box3 *b, uint64_t cell[3])
{
	double offset[3];
	double largest = 0.0;
	int exponent;

	for (int d = 0; d < 3; d++)
	{
		double u = box3_center(b, d) - frame->origin[d];

		/* what lies at infinity sorts with the farthest of the finite */
		u = u > 0x1.fffffffffffffp1023 ? 0x1.fffffffffffffp1023 : u;
		u = u < -0x1.fffffffffffffp1023 ? -0x1.fffffffffffffp1023 : u;
		offset[d] = u;
		largest = fabs(u) > largest ? fabs(u) : largest;
	}

	if (largest == 0.0)
		exponent = MIN_EXPONENT;
	else
		frexp(largest, &exponent);

	for (int d = 0; d < 3; d++)
	{
		double part;

		if (exponent > -1000 && exponent < 1000)
			part = offset[d] * power_of_two(-exponent);
		else
			part = ldexp(offset[d], -exponent);

		/* part is within (-1, 1); 1 + part may still round up to 2 */
		part = (1.0 + part) * (double) (UINT64_C(1) << (ALL_LEVELS - 1));
		cell[d] = (uint64_t) part;
		if (cell[d] >> ALL_LEVELS)
			cell[d] = (UINT64_C(1) << ALL_LEVELS) - 1;
	}
	return exponent - MIN_EXPONENT;
}

/*
 * box3_curve_key --- first 63 bits of the order
 *
 * Keys that differ order their boxes; boxes with equal keys are compared by
 * box3_curve_compare().
 */
uint64_t
box3_curve_key(const CurveFrame *frame, const Box3 *b)
{
	uint64_t cell[3];
	uint64_t shell = (uint64_t) curve_cell(frame, b, cell);

	for (int d = 0; d < 3; d++)
		cell[d] >>= ALL_LEVELS - KEY_LEVELS;
	return shell << (3 * KEY_LEVELS) | hilbert_key(cell, KEY_LEVELS);
}

/*
 * box3_curve_compare --- the whole order: -1, 0 or 1
 *
 * Walks down while both are in the same cell, so the cost is the number of
 * levels that they share.  0 for centers that even the finest cells hold
 * together.
 */
int
box3_curve_compare(const CurveFrame *frame, const Box3 *a, const Box3 *b)
{
	uint64_t cell_a[3];
	uint64_t cell_b[3];
	int shell_a = curve_cell(frame, a, cell_a);
	int shell_b = curve_cell(frame, b, cell_b);
	int orientation = 0;

	if (shell_a != shell_b)
		return shell_a < shell_b ? -1 : 1;

	for (int level = ALL_LEVELS - 1; level >= 0; level--)
	{
		int next_a = step[orientation][octant_of(cell_a, level)];
		int next_b = step[orientation][octant_of(cell_b, level)];

		if (next_a != next_b)
			return (next_a & 7) < (next_b & 7) ? -1 : 1;
		orientation = next_a >> 3;
	}
	return 0;
}
