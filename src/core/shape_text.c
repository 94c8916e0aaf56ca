/*-------------------------------------------------------------------------
 *
 * shape_text.c
 *	  The text forms of spheres and planes.
 *
 * Accepted, with white space anywhere between the parts:
 *
 *		<(x,y,z),r>					a sphere, as PostgreSQL writes circles
 *		(x,y,z),r					also without < >
 *		{(a,b,c,d),(a,b,c,d)}		planes, up to 32
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/shape_text.h"

#include "core/text_cursor.h"

/* behind the parsed part, nothing but white space */
static bool
expect_end(Cursor *c, const char *reason)
{
	return at_end(c) || fail(c, reason);
}

/*
 * sphere3_parse --- read a sphere; undefined unless the status is BVH_TEXT_OK
 */
BvhTextStatus
sphere3_parse(const char *text, Sphere3 *sphere, BvhTextError *error)
{
	Cursor c = {text, error, BVH_TEXT_OK};
	bool is_angled;
	double center[3];
	double radius;
	const char *problem;

	*error = (BvhTextError){NULL, NULL, 0};
	skip_space(&c);
	is_angled = *c.at == '<';
	c.at += is_angled;
	if (!expect(&c, '(', "The center of a sphere must be written in parentheses.") ||
		!parse_triple(&c, true, center) ||
		!expect(&c, ')', "A center has three coordinates and a closing parenthesis.") ||
		!expect(&c, ',', "A comma and the radius must follow the center.") ||
		!parse_number(&c, &radius) ||
		(is_angled && !expect(&c, '>', "The angle bracket is not closed.")) ||
		!expect_end(&c, "There is something behind the end of the sphere."))
		return c.status;
	problem = sphere3_make(center, radius, sphere);
	if (problem != NULL)
		fail(&c, problem);
	return c.status;
}

/* (a,b,c,d) */
static bool
parse_plane(Cursor *c, Plane3 *plane)
{
	double number[4];
	const char *problem;

	if (!expect(c, '(', "Each plane must be written in parentheses."))
		return false;
	for (int i = 0; i < 4; i++)
		if ((i > 0 && !expect(c, ',', "A plane has four numbers with commas between.")) ||
			!parse_number(c, &number[i]))
			return false;
	if (!expect(c, ')', "A plane has four numbers and a closing parenthesis."))
		return false;
	problem = plane3_make(number, plane);
	return problem == NULL || fail(c, problem);
}

/*
 * planes3_parse --- read planes; undefined unless the status is BVH_TEXT_OK
 */
BvhTextStatus
planes3_parse(const char *text, Plane3 plane[PLANES3_MOST], int *n, BvhTextError *error)
{
	Cursor c = {text, error, BVH_TEXT_OK};

	*error = (BvhTextError){NULL, NULL, 0};
	*n = 0;
	if (!expect(&c, '{', "Planes must be written in braces."))
		return c.status;
	do
	{
		if (*n == PLANES3_MOST)
		{
			fail(&c, "There are more than 32 planes.");
			return c.status;
		}
		if (!parse_plane(&c, &plane[*n]))
			return c.status;
		(*n)++;
		skip_space(&c);
	} while (*c.at++ == ',');
	c.at--;
	if (expect(&c, '}', "Planes have commas between and a closing brace behind."))
		expect_end(&c, "There is something behind the closing brace.");
	return c.status;
}
