/*-------------------------------------------------------------------------
 *
 * box3_text.c
 *	  The text form of a box.
 *
 * Accepted, with white space anywhere between the parts:
 *
 *		(x1,y1,z1),(x2,y2,z2)		two opposite corners
 *		((x1,y1,z1),(x2,y2,z2))		also with [ ] outside
 *		(x,y,z)						a point
 *		BOX3D(x1 y1 z1,x2 y2 z2)	as PostGIS writes it, in any case
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/box3_text.h"

#include <strings.h>

#include "core/text_cursor.h"

/* BOX3D(x1 y1 z1,x2 y2 z2), behind the word */
static bool
parse_postgis(Cursor *c, double p[3], double q[3])
{
	return expect(c, '(', "BOX3D must be followed by a parenthesis.") &&
		   parse_triple(c, false, p) &&
		   expect(c, ',', "A corner of BOX3D has exactly three coordinates.") &&
		   parse_triple(c, false, q) &&
		   expect(c, ')', "BOX3D has exactly two corners of three coordinates.");
}

static bool
parse_corners(Cursor *c, double p[3], double q[3])
{
	char outer = '\0';

	skip_space(c);
	if (*c->at == '[' || (*c->at == '(' && is_outer(c)))
		outer = *c->at++;

	if (!parse_corner(c, p))
		return false;
	skip_space(c);
	if (*c->at == ',')
	{
		c->at++;
		if (!parse_corner(c, q))
			return false;
	}
	else
		memcpy(q, p, 3 * sizeof(double));

	if (outer == '(')
		return expect(c, ')', "The outer parenthesis is not closed.");
	if (outer == '[')
		return expect(c, ']', "The outer bracket is not closed.");
	return true;
}

/*
 * box3_parse --- read a box; anything behind it but white space is an error
 *
 * The box is undefined unless the status is BVH_TEXT_OK.
 */
BvhTextStatus
box3_parse(const char *text, Box3 *box, BvhTextError *error)
{
	Cursor c = {text, error, BVH_TEXT_OK};
	double p[3];
	double q[3];
	bool ok;

	*error = (BvhTextError){NULL, NULL, 0};
	skip_space(&c);
	if (strncasecmp(c.at, "box3d", strlen("box3d")) == 0)
	{
		c.at += strlen("box3d");
		ok = parse_postgis(&c, p, q);
	}
	else
		ok = parse_corners(&c, p, q);
	if (!ok)
		return c.status;

	if (!at_end(&c))
	{
		fail(&c,
			 *c.at == '(' ? "Corners must be separated by a comma."
						  : "There is something behind the end of the box.");
		return c.status;
	}
	box3_from_corners(p, q, box);
	return BVH_TEXT_OK;
}
