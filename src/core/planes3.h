/*-------------------------------------------------------------------------
 *
 * planes3.h
 *	  What is on the inner side of several planes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_PLANES3_H
#define BVH_PLANES3_H

#include "core/box3.h"

#define PLANES3_MOST 32

/* all p with a * p.x + b * p.y + c * p.z <= d; finite, a, b and c not all 0 */
typedef struct Plane3
{
	double normal[3];
	double offset;
} Plane3;

/*
 * The on-disk form of the SQL type, which begins with PostgreSQL's length word;
 * never NaN, never -0.
 */
typedef struct Planes3
{
	uint32_t length_word;
	int32_t n; /* 1 to PLANES3_MOST */
	Plane3 plane[];
} Planes3;

#define PLANES3_SIZE(n) (offsetof(Planes3, plane) + sizeof(Plane3) * (n))

extern const char *plane3_make(const double number[4], Plane3 *plane);
extern int planes3_of_frustum(const double m[4][4], bool zero_to_one,
							  double number[6][4]);
extern bool planes3_meet(const Planes3 *planes, const Box3 *b);
extern bool planes3_contain(const Planes3 *planes, const Box3 *b);

#endif /* BVH_PLANES3_H */
