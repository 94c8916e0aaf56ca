/*-------------------------------------------------------------------------
 *
 * sphere3.h
 *	  Balls: what is within a distance of a point.
 *
 * By the distances of box3.h, which are rounded, monotone, and never overflow
 * on the way.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_SPHERE3_H
#define BVH_SPHERE3_H

#include "core/box3.h"

/*
 * 32 bytes, and the on-disk form of the SQL type: the center is finite, the
 * radius at least 0 and perhaps Infinity; never NaN, never -0.
 */
typedef struct Sphere3
{
	double center[3];
	double radius;
} Sphere3;

/* the center as a box */
static inline Box3
sphere3_center(const Sphere3 *sphere)
{
	Box3 point;

	for (int d = 0; d < 3; d++)
		point.lo[d] = point.hi[d] = sphere->center[d];
	return point;
}

/* is a point of the box within the radius? */
static inline bool
sphere3_meets(const Sphere3 *sphere, const Box3 *b)
{
	Box3 center = sphere3_center(sphere);

	return box3_distance(&center, b) <= sphere->radius;
}

/* is all of the box? */
static inline bool
sphere3_contains(const Sphere3 *sphere, const Box3 *b)
{
	Box3 center = sphere3_center(sphere);

	return box3_max_distance(&center, b) <= sphere->radius;
}

extern const char *sphere3_make(const double center[3], double radius, Sphere3 *sphere);

#endif /* BVH_SPHERE3_H */
