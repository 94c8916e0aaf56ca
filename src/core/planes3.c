/*-------------------------------------------------------------------------
 *
 * planes3.c
 *	  What is on the inner side of several planes.
 *
 * A box is outside of a plane when the corner that is farthest inward is, and
 * inside when the opposite corner is.  Which side a corner lies on is decided
 * without rounding (core/exact.c).  A box that contains another one reaches at
 * least as far inward, so the test of boxes serves inner nodes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/planes3.h"

#include "core/exact.h"

/*
 * plane3_make --- NULL, or a sentence that says why there is no such plane
 */
const char *
plane3_make(const double number[4], Plane3 *plane)
{
	for (int i = 0; i < 4; i++)
		if (!isfinite(number[i]))
			return "The numbers of a plane must be finite.";
	if (number[0] == 0.0 && number[1] == 0.0 && number[2] == 0.0)
		return "The normal of a plane must not be zero.";
	/* in round-to-nearest, -0 + 0 is +0 and every other value stays */
	for (int d = 0; d < 3; d++)
		plane->normal[d] = number[d] + 0.0;
	plane->offset = number[3] + 0.0;
	return NULL;
}

/*
 * planes3_of_frustum --- the planes of what a matrix maps into the clip volume
 *
 * clip = m * (x, y, z, 1), and what is seen has -w <= x, y, z <= w, or for z
 * from 0 to w.  A plane without a normal that is nowhere in the way, such as the
 * far one of an endless view, is left out.  Returns how many there are.
 */
int
planes3_of_frustum(const double m[4][4], bool zero_to_one, double number[6][4])
{
	int n = 0;

	for (int axis = 0; axis < 3; axis++)
		for (int side = -1; side <= 1; side += 2)
		{
			/* w + side * axis >= 0, or axis >= 0 */
			double w = zero_to_one && axis == 2 && side == 1 ? 0.0 : 1.0;

			for (int i = 0; i < 3; i++)
				number[n][i] = -(w * m[3][i] + side * m[axis][i]);
			number[n][3] = w * m[3][3] + side * m[axis][3];
			if (number[n][0] != 0.0 || number[n][1] != 0.0 || number[n][2] != 0.0 ||
				!(number[n][3] >= 0.0))
				n++;
		}
	return n;
}

/*
 * side_of_corner --- -1 inside, 0 on the plane, 1 outside: the corner that is
 * farthest inward, or farthest outward
 *
 * A side without end decides alone, and between two of them the one that goes
 * inward.
 */
static int
side_of_corner(const Plane3 *plane, const Box3 *b, bool inward)
{
	double x[4] = {0.0, 0.0, 0.0, -plane->offset};
	double normal[4] = {plane->normal[0], plane->normal[1], plane->normal[2], 1.0};
	bool is_inside = false;
	bool is_outside = false;

	for (int d = 0; d < 3; d++)
	{
		if (normal[d] == 0.0)
			continue;
		x[d] = (normal[d] > 0.0) == inward ? b->lo[d] : b->hi[d];
		if (isinf(x[d]))
		{
			is_inside |= (x[d] < 0.0) == (normal[d] > 0.0);
			is_outside |= (x[d] < 0.0) != (normal[d] > 0.0);
		}
	}
	if (is_inside && is_outside)
		return inward ? -1 : 1;
	if (is_inside || is_outside)
		return is_inside ? -1 : 1;
	return exact_sign(normal, x);
}

/*
 * planes3_meet --- is the box not wholly outside of any plane?
 *
 * It may still be outside of all of them together, near an edge.
 */
bool
planes3_meet(const Planes3 *planes, const Box3 *b)
{
	for (int i = 0; i < planes->n; i++)
		if (side_of_corner(&planes->plane[i], b, true) > 0)
			return false;
	return true;
}

/* planes3_contain --- is the box wholly inside of every plane? */
bool
planes3_contain(const Planes3 *planes, const Box3 *b)
{
	for (int i = 0; i < planes->n; i++)
		if (side_of_corner(&planes->plane[i], b, false) > 0)
			return false;
	return true;
}
