/*-------------------------------------------------------------------------
 *
 * box3.h
 *	  Axis-aligned boxes: what every box3d operator and function means.
 *
 * These are the plain definitions.  core/range.h repeats the operators as
 * ranges over six lanes, and simd/ repeats those faster; tests hold all of
 * them against this file.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BOX3_H
#define BVH_BOX3_H

#include "core/base.h"

/*
 * A closed box.  48 bytes, and the on-disk form of the SQL type: never NaN,
 * never -0, lo <= hi on every axis; either bound may be infinite.
 */
typedef struct Box3
{
	double lo[3];
	double hi[3];
} Box3;

/* sums of squares between these have lost nothing to overflow or underflow */
#define BOX3_LEAST_SQUARE 0x1p-900
#define BOX3_MOST_SQUARE  0x1p1000

/* touching counts: boxes are closed */
static inline bool
box3_overlaps(const Box3 *a, const Box3 *b)
{
	bool hit = true;

	for (int d = 0; d < 3; d++)
		hit &= (a->lo[d] <= b->hi[d]) & (b->lo[d] <= a->hi[d]);
	return hit;
}

/* overlap of the insides: touching does not count */
static inline bool
box3_overlaps_strictly(const Box3 *a, const Box3 *b)
{
	bool hit = true;

	for (int d = 0; d < 3; d++)
		hit &= (a->lo[d] < b->hi[d]) & (b->lo[d] < a->hi[d]);
	return hit;
}

/* is b inside a, borders included? */
static inline bool
box3_contains(const Box3 *a, const Box3 *b)
{
	bool hit = true;

	for (int d = 0; d < 3; d++)
		hit &= (a->lo[d] <= b->lo[d]) & (b->hi[d] <= a->hi[d]);
	return hit;
}

static inline bool
box3_equal(const Box3 *a, const Box3 *b)
{
	bool same = true;

	for (int d = 0; d < 3; d++)
		same &= (a->lo[d] == b->lo[d]) & (a->hi[d] == b->hi[d]);
	return same;
}

/* the four relations along one axis; the operators are these on x, y and z */
static inline bool
box3_before(const Box3 *a, const Box3 *b, int d)
{
	return a->hi[d] < b->lo[d];
}

static inline bool
box3_not_after(const Box3 *a, const Box3 *b, int d)
{
	return a->hi[d] <= b->hi[d];
}

static inline bool
box3_not_before(const Box3 *a, const Box3 *b, int d)
{
	return a->lo[d] >= b->lo[d];
}

static inline bool
box3_after(const Box3 *a, const Box3 *b, int d)
{
	return a->lo[d] > b->hi[d];
}

/* grow acc so that it contains b */
static inline void
box3_include(Box3 *acc, const Box3 *b)
{
	for (int d = 0; d < 3; d++)
	{
		acc->lo[d] = b->lo[d] < acc->lo[d] ? b->lo[d] : acc->lo[d];
		acc->hi[d] = b->hi[d] > acc->hi[d] ? b->hi[d] : acc->hi[d];
	}
}

/*
 * Length of one side.  Equal bounds are compared first: a side that lies at
 * infinity has length 0, not NaN.  May be Infinity for finite bounds.
 */
static inline double
box3_side(const Box3 *b, int d)
{
	return b->lo[d] == b->hi[d] ? 0.0 : b->hi[d] - b->lo[d];
}

extern bool box3_from_corners(const double p[3], const double q[3], Box3 *box);
extern bool box3_is_valid(const Box3 *b);
extern bool box3_is_point(const Box3 *b);
extern int box3_compare(const Box3 *a, const Box3 *b);
extern bool box3_intersect(const Box3 *a, const Box3 *b, Box3 *common);
extern double box3_center(const Box3 *b, int d);
extern double box3_volume(const Box3 *b);
extern double box3_surface_area(const Box3 *b);
extern double box3_distance(const Box3 *a, const Box3 *b);
extern double box3_taxicab(const Box3 *a, const Box3 *b);
extern double box3_chebyshev(const Box3 *a, const Box3 *b);
extern double box3_max_distance(const Box3 *a, const Box3 *b);
extern double box3_penetration(const Box3 *a, const Box3 *b);
extern double box3_overlap_volume(const Box3 *a, const Box3 *b);
extern void box3_reach(const Box3 *b, double r, Box3 *reach);
extern void box3_transform(const Box3 *b, const double m[12], double lo[3], double hi[3]);

#endif /* BVH_BOX3_H */
