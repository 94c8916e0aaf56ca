/*-------------------------------------------------------------------------
 *
 * ray3_text.c
 *	  The text form of a ray.
 *
 * Accepted, with white space anywhere between the parts:
 *
 *		(ox,oy,oz),(dx,dy,dz)					a ray without end
 *		(ox,oy,oz),(dx,dy,dz),tmax				one that ends
 *		((x1,y1,z1),(x2,y2,z2)),(dx,dy,dz),tmax	a box that moves
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/ray3_text.h"

#include "core/text_cursor.h"

static bool
parse_vector(Cursor *c, double v[3])
{
	if (!expect(c, '(', "An origin or direction must be written in parentheses."))
		return false;
	for (int d = 0; d < 3; d++)
		if ((d > 0 &&
			 !expect(c, ',', "A vector has three numbers with commas between.")) ||
			!parse_number(c, &v[d]))
			return false;
	return expect(c, ')', "A vector has three numbers and a closing parenthesis.");
}

/* ((x1,y1,z1),(x2,y2,z2)) or (x,y,z) */
static bool
parse_start(Cursor *c, double p[3], double q[3])
{
	skip_space(c);
	if (*c->at == '(' && is_outer(c))
	{
		c->at++;
		return parse_corner(c, p) &&
			   expect(c, ',', "A moving box has two corners with a comma between.") &&
			   parse_corner(c, q) &&
			   expect(c, ')', "The parenthesis around a moving box is not closed.");
	}
	if (!parse_vector(c, p))
		return false;
	memcpy(q, p, 3 * sizeof(double));
	return true;
}

/*
 * ray3_parse --- read a ray; anything behind it but white space is an error
 *
 * The ray is undefined unless the status is BVH_TEXT_OK.
 */
BvhTextStatus
ray3_parse(const char *text, Ray3 *ray, BvhTextError *error)
{
	Cursor c = {text, error, BVH_TEXT_OK};
	double p[3];
	double q[3];
	double direction[3];
	double tmax = INFINITY;
	Ray3Problem problem;

	*error = (BvhTextError){NULL, NULL, 0};
	if (!parse_start(&c, p, q) ||
		!expect(&c, ',', "A comma and the direction must follow the start of a ray.") ||
		!parse_vector(&c, direction))
		return c.status;
	if (!at_end(&c))
	{
		if (!expect(&c, ',', "There is something behind the direction of the ray.") ||
			!parse_number(&c, &tmax))
			return c.status;
		if (!at_end(&c))
		{
			fail(&c, "There is something behind the end of the ray.");
			return c.status;
		}
	}
	problem = ray3_make(p, q, direction, tmax, ray);
	if (problem != RAY3_OK)
		fail(&c, ray3_problem_text(problem));
	return c.status;
}
