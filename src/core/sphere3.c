/*-------------------------------------------------------------------------
 *
 * sphere3.c
 *	  Balls: what is within a distance of a point.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/sphere3.h"

/*
 * sphere3_make --- NULL, or a sentence that says why there is no such sphere
 */
const char *
sphere3_make(const double center[3], double radius, Sphere3 *sphere)
{
	for (int d = 0; d < 3; d++)
	{
		if (isnan(center[d]))
			return "A number of a sphere must not be NaN.";
		if (isinf(center[d]))
			return "The center of a sphere must be finite.";
		/* in round-to-nearest, -0 + 0 is +0 and every other value stays */
		sphere->center[d] = center[d] + 0.0;
	}
	if (isnan(radius))
		return "A number of a sphere must not be NaN.";
	if (radius < 0.0)
		return "The radius of a sphere must not be negative.";
	sphere->radius = radius + 0.0;
	return NULL;
}
