/*-------------------------------------------------------------------------
 *
 * box3.c
 *	  Measures of boxes, exact in the face of overflow, underflow and
 *	  infinity.
 *
 * Two rules run through the file.  Compare before subtracting, so that
 * Infinity - Infinity never happens.  Where a product or a square could leave
 * the range of double, scale by exact powers of two, which changes no bit of
 * a result that was in range.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/box3.h"

#include <limits.h>

/*
 * box3_from_corners --- box spanned by two opposite corners, in any order
 *
 * -0 becomes 0, so that equal boxes are equal bytes.  False when a number is
 * NaN; the box is then undefined.
 */
bool
box3_from_corners(const double p[3], const double q[3], Box3 *box)
{
	for (int d = 0; d < 3; d++)
	{
		if (isnan(p[d]) || isnan(q[d]))
			return false;
		/* in round-to-nearest, -0 + 0 is +0 and every other value stays */
		box->lo[d] = (p[d] < q[d] ? p[d] : q[d]) + 0.0;
		box->hi[d] = (p[d] < q[d] ? q[d] : p[d]) + 0.0;
	}
	return true;
}

/* box3_is_valid --- does it keep the rules of the type? */
bool
box3_is_valid(const Box3 *b)
{
	for (int d = 0; d < 3; d++)
	{
		/* ordered comparison: false for NaN */
		if (!(b->lo[d] <= b->hi[d]))
			return false;
		if ((b->lo[d] == 0 && signbit(b->lo[d])) || (b->hi[d] == 0 && signbit(b->hi[d])))
			return false;
	}
	return true;
}

bool
box3_is_point(const Box3 *b)
{
	return b->lo[0] == b->hi[0] && b->lo[1] == b->hi[1] && b->lo[2] == b->hi[2];
}

/* box3_compare --- a total order: lower corner first, then upper corner */
int
box3_compare(const Box3 *a, const Box3 *b)
{
	for (int d = 0; d < 3; d++)
		if (a->lo[d] != b->lo[d])
			return a->lo[d] < b->lo[d] ? -1 : 1;
	for (int d = 0; d < 3; d++)
		if (a->hi[d] != b->hi[d])
			return a->hi[d] < b->hi[d] ? -1 : 1;
	return 0;
}

/* box3_intersect --- false when they are apart; a shared border is a box */
bool
box3_intersect(const Box3 *a, const Box3 *b, Box3 *common)
{
	for (int d = 0; d < 3; d++)
	{
		common->lo[d] = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d];
		common->hi[d] = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
		if (common->lo[d] > common->hi[d])
			return false;
	}
	return true;
}

/*
 * box3_center --- middle of one side
 *
 * Always within the side.  A side without end on both sides has its middle
 * at 0; one without end on one side, at that infinity.
 */
double
box3_center(const Box3 *b, int d)
{
	double lo = b->lo[d];
	double hi = b->hi[d];
	double sum = lo + hi;

	if (lo == hi)
		return lo;
	if (isfinite(sum))
		return 0.5 * sum + 0.0;
	if (isinf(lo) && isinf(hi))
		return 0.0;
	return 0.5 * lo + 0.5 * hi;
}

/*
 * split_sides --- each side as mantissa[d] * 2^exponent[d]; the mantissa is 0,
 * in [0.5, 1), or Infinity
 */
static void
split_sides(const Box3 *b, double mantissa[3], int exponent[3])
{
	for (int d = 0; d < 3; d++)
	{
		double side = box3_side(b, d);
		int doubled = 0;

		/* a side may be longer than the largest double */
		if (isinf(side))
		{
			side = 0.5 * b->hi[d] - 0.5 * b->lo[d];
			doubled = 1;
		}
		exponent[d] = 0;
		mantissa[d] = isinf(side) ? side : frexp(side, &exponent[d]);
		exponent[d] += doubled;
	}
}

/*
 * box3_volume --- product of the sides; out of range only when the result is,
 * and 0 when a side is, whatever the others are
 */
double
box3_volume(const Box3 *b)
{
	double mantissa[3];
	int exponent[3];

	split_sides(b, mantissa, exponent);
	if (mantissa[0] == 0.0 || mantissa[1] == 0.0 || mantissa[2] == 0.0)
		return 0.0;
	return ldexp(mantissa[0] * mantissa[1] * mantissa[2],
				 exponent[0] + exponent[1] + exponent[2]);
}

/*
 * box3_surface_area --- of the six faces; a face with a zero side has none,
 * whatever the other is
 */
double
box3_surface_area(const Box3 *b)
{
	double mantissa[3];
	int exponent[3];
	double face[3];
	double sum = 0.0;
	int top = INT_MIN;

	split_sides(b, mantissa, exponent);
	for (int d = 0; d < 3; d++)
	{
		int e = (d + 1) % 3;
		bool is_flat = mantissa[d] == 0.0 || mantissa[e] == 0.0;

		face[d] = is_flat ? 0.0 : mantissa[d] * mantissa[e];
		if (!is_flat && exponent[d] + exponent[e] > top)
			top = exponent[d] + exponent[e];
	}
	for (int d = 0; d < 3; d++)
		if (face[d] > 0.0)
			sum += ldexp(face[d], exponent[d] + exponent[(d + 1) % 3] - top);
	return sum > 0.0 ? ldexp(sum, top + 1) : 0.0;
}

/* a length in whole units, the longest of them below 2^62 */
static uint64_t
whole(double x, int exponent)
{
	return (uint64_t) ldexp(x, 62 - exponent);
}

/* the largest integer whose square is at most n, for n < 2^126 */
static uint64_t
integer_sqrt(unsigned __int128 n)
{
	uint64_t root = (uint64_t) sqrt((double) n);

	/* sqrt() is off by 2^10 here at most; Newton's step leaves less than 2 */
	if (root > 0)
		root = (uint64_t) ((root + n / root) / 2);
	while ((unsigned __int128) root * root > n)
		root--;
	while ((unsigned __int128) (root + 1) * (root + 1) <= n)
		root++;
	return root;
}

/*
 * norm --- Euclidean length of (x, y, z), each >= 0 and perhaps infinite
 *
 * In the range where no square can be lost, the squares are summed in the
 * order x, y, z and one root is taken.  Outside, the three are scaled by one
 * power of two to whole numbers of 62 bits; their squares and sum are exact,
 * and the root is rounded once, ties upward (so 3e200 and 4e200 give 5e200).
 *
 * It is monotone in each argument, so the distance to a box that contains
 * another is never above the distance to the other.  Index scans rely on
 * that.  Each rounding of the first way is monotone.  So is cutting to whole
 * numbers: where a larger top makes them coarser, its own growth outweighs
 * what the others lose.  At the seams the limits keep the second way beyond
 * the first.
 */
static double
norm(double x, double y, double z)
{
	double sum = x * x + y * y + z * z;
	double top;
	double length;
	uint64_t a;
	uint64_t b;
	uint64_t c;
	uint64_t root;
	int spare;
	int e;

	if (sum >= BOX3_LEAST_SQUARE && sum <= BOX3_MOST_SQUARE)
		return sqrt(sum);

	top = x > y ? x : y;
	top = top > z ? top : z;
	if (top == 0.0 || isinf(top))
		return top;

	frexp(top, &e);
	a = whole(x, e);
	b = whole(y, e);
	c = whole(z, e);
	root = integer_sqrt((unsigned __int128) a * a + (unsigned __int128) b * b +
						(unsigned __int128) c * c);

	/* 62 or 63 bits, of which a double keeps 53 */
	spare = 11 - __builtin_clzll(root);
	root = (root + (UINT64_C(1) << (spare - 1))) >> spare;
	length = ldexp((double) root, spare + e - 62);
	return sum > 1.0 ? fmax(length, 0x1p500) : fmin(length, 0x1p-450);
}

/* gap --- how far two boxes are apart along one axis; 0 when they meet */
static inline double
gap(const Box3 *a, const Box3 *b, int d)
{
	if (a->lo[d] > b->hi[d])
		return a->lo[d] - b->hi[d];
	if (b->lo[d] > a->hi[d])
		return b->lo[d] - a->hi[d];
	return 0.0;
}

/* box3_distance --- smallest Euclidean distance; 0 when they overlap */
double
box3_distance(const Box3 *a, const Box3 *b)
{
	return norm(gap(a, b, 0), gap(a, b, 1), gap(a, b, 2));
}

/*
 * box3_taxicab --- sum of the gaps along the axes; monotone, as each rounding is
 */
double
box3_taxicab(const Box3 *a, const Box3 *b)
{
	return gap(a, b, 0) + gap(a, b, 1) + gap(a, b, 2);
}

/* box3_chebyshev --- the longest of the gaps along the axes */
double
box3_chebyshev(const Box3 *a, const Box3 *b)
{
	return fmax(fmax(gap(a, b, 0), gap(a, b, 1)), gap(a, b, 2));
}

/* box3_max_distance --- largest distance between a point of a and one of b */
double
box3_max_distance(const Box3 *a, const Box3 *b)
{
	double span[3];

	for (int d = 0; d < 3; d++)
	{
		/* equal infinities are at the same place */
		double up = b->hi[d] == a->lo[d] ? 0.0 : b->hi[d] - a->lo[d];
		double down = a->hi[d] == b->lo[d] ? 0.0 : a->hi[d] - b->lo[d];

		span[d] = up > down ? up : down;
	}
	return norm(span[0], span[1], span[2]);
}

/*
 * box3_penetration --- length of the smallest move along one axis that parts
 * the boxes; 0 when they are apart or touch
 */
double
box3_penetration(const Box3 *a, const Box3 *b)
{
	double depth = INFINITY;

	if (!box3_overlaps_strictly(a, b))
		return 0.0;
	for (int d = 0; d < 3; d++)
	{
		double up = b->hi[d] - a->lo[d];
		double down = a->hi[d] - b->lo[d];

		depth = up < depth ? up : depth;
		depth = down < depth ? down : depth;
	}
	return depth;
}

double
box3_overlap_volume(const Box3 *a, const Box3 *b)
{
	Box3 common;

	return box3_intersect(a, b, &common) ? box3_volume(&common) : 0.0;
}

/*
 * box3_reach --- a box that overlaps every box within distance r >= 0 of b
 *
 * Rounded outward.  A distance of at most r means a gap of at most r on each
 * axis.  The rounded gap is at most r, so the true one is at most r + ulp(r):
 * stepping r up once, and the rounded sum once more, covers it.
 */
void
box3_reach(const Box3 *b, double r, Box3 *reach)
{
	double up = nextafter(r, INFINITY);

	BVH_ASSERT(r >= 0);
	for (int d = 0; d < 3; d++)
	{
		/* a side at infinity stays there whatever is subtracted */
		reach->lo[d] = isinf(b->lo[d]) ? b->lo[d] : nextafter(b->lo[d] - up, -INFINITY);
		reach->hi[d] = isinf(b->hi[d]) ? b->hi[d] : nextafter(b->hi[d] + up, INFINITY);
		/* everything is within infinite distance, boxes at infinity too */
		if (isinf(r))
		{
			reach->lo[d] = -INFINITY;
			reach->hi[d] = INFINITY;
		}
		reach->lo[d] += 0.0;
		reach->hi[d] += 0.0;
	}
}

/*
 * box3_transform --- bounds of the box after an affine map
 *
 * m is three rows of four numbers, all finite; the fourth of each row is the
 * translation.  Each bound takes the end of every side that makes it extreme,
 * which needs no corners.  A zero coefficient wins over an infinite side.
 * The caller checks the bounds for NaN, which opposite infinities give.
 */
void
box3_transform(const Box3 *b, const double m[12], double lo[3], double hi[3])
{
	for (int row = 0; row < 3; row++)
	{
		const double *coef = &m[row * 4];

		lo[row] = coef[3];
		hi[row] = coef[3];
		for (int d = 0; d < 3; d++)
		{
			if (coef[d] == 0.0)
				continue;
			lo[row] += coef[d] * (coef[d] > 0 ? b->lo[d] : b->hi[d]);
			hi[row] += coef[d] * (coef[d] > 0 ? b->hi[d] : b->lo[d]);
		}
	}
}
