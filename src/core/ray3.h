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
extern int ray3_select(const Ray3 *ray, const char *base, const uint16_t *offset,
					   uint16_t *selected, int n);
extern void ray3_until(const Ray3 *ray, double t, Ray3 *until);
extern void ray3_bounds(const Ray3 *ray, Box3 *bounds);

#endif /* BVH_RAY3_H */
