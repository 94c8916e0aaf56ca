/*-------------------------------------------------------------------------
 *
 * ray3.h
 *	  Rays, segments, and boxes that move along a line.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_RAY3_H
#define BVH_RAY3_H

#include "core/box3.h"

/*
 * A box that moves: at time t, for 0 <= t <= tmax, it is where it started plus
 * t times the direction.  A ray is one whose box is a point.  80 bytes, and the
 * on-disk form of the SQL type: box and direction are finite, tmax may be
 * Infinity unless the direction is zero; never NaN, never -0.
 */
typedef struct Ray3
{
	Box3 box;
	double direction[3];
	double tmax;
} Ray3;

/*
 * What tells quickly of most boxes that they are not met.  For each axis, the
 * time at which the ray passes a lane of the box is (lane - at) * pace.  An
 * axis along which it does not move is another one once more: whether it is in
 * such a slab is for a range to say.
 */
typedef struct RayProbe
{
	int near_lane[3];
	int far_lane[3];
	double near_at[3];
	double far_at[3];
	double pace[3];
	double tmax;
} RayProbe;

/*
 * ray3_may_meet --- false only if ray3_meets() is, by the latest start and the
 * earliest end of the times that a probe tells
 *
 * Each time is off by at most three halves of an ulp, or half the least double;
 * where the pace is denormal, by four times that.  What overflows makes the
 * doubt infinite, NaN (at a plane that is passed at an infinite pace) changes
 * nothing, and both are kept.
 */
static inline bool
ray3_may_meet(double start, double end)
{
	return !(start - end > (start + fabs(end)) * 0x1p-50 + 0x1p-1070);
}

typedef enum Ray3Problem
{
	RAY3_OK,
	RAY3_NAN,
	RAY3_INFINITE_START,
	RAY3_INFINITE_DIRECTION,
	RAY3_NEGATIVE_TMAX,
	RAY3_STANDS_STILL /* for ever */
} Ray3Problem;

extern Ray3Problem ray3_make(const double p[3], const double q[3],
							 const double direction[3], double tmax, Ray3 *ray);
extern const char *ray3_problem_text(Ray3Problem problem);
extern bool ray3_equal(const Ray3 *a, const Ray3 *b);
extern bool ray3_meets(const Ray3 *ray, const Box3 *b);
extern double ray3_entry(const Ray3 *ray, const Box3 *b);
extern void ray3_probe(const Ray3 *ray, RayProbe *probe);
extern int ray3_select(const Ray3 *ray, const RayProbe *probe, const char *base,
					   const uint16_t *offset, uint16_t *selected, int n);
extern void ray3_until(const Ray3 *ray, double t, Ray3 *until);
extern void ray3_bounds(const Ray3 *ray, Box3 *bounds);

#endif /* BVH_RAY3_H */
