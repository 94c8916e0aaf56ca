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
 * Numbers are read by strtod(), which follows LC_NUMERIC; the caller keeps
 * that at "C", as PostgreSQL does.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/box3_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct Cursor
{
	const char *at;
	Box3TextError *error;
	Box3TextStatus status;
} Cursor;

/* isspace() of the C locale */
static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void
skip_space(Cursor *c)
{
	while (is_space(*c->at))
		c->at++;
}

static bool
fail(Cursor *c, const char *reason)
{
	c->status = BOX3_TEXT_SYNTAX;
	c->error->reason = reason;
	return false;
}

static bool
expect(Cursor *c, char wanted, const char *reason)
{
	skip_space(c);
	if (*c->at != wanted)
		return fail(c, reason);
	c->at++;
	return true;
}

static bool
parse_number(Cursor *c, double *number)
{
	char *end;

	skip_space(c);
	errno = 0;
	*number = strtod(c->at, &end);
	if (end == c->at)
		return fail(c, "A coordinate is missing or is not a number.");

	/* ERANGE is also set for denormal results, which are fine */
	if (errno == ERANGE && (*number == 0.0 || isinf(*number)))
	{
		c->status = BOX3_TEXT_OUT_OF_RANGE;
		c->error->number = c->at;
		c->error->number_length = (int) (end - c->at);
		return false;
	}
	if (isnan(*number))
		return fail(c, "A coordinate must not be NaN.");
	c->at = end;
	return true;
}

/* three numbers, with commas or with white space between them */
static bool
parse_triple(Cursor *c, bool with_commas, double p[3])
{
	for (int d = 0; d < 3; d++)
	{
		if (d > 0 && with_commas &&
			!expect(c, ',', "A corner has three coordinates with commas between them."))
			return false;
		if (d > 0 && !with_commas && !is_space(*c->at))
			return fail(c,
						"A corner of BOX3D has three coordinates with spaces between.");
		if (!parse_number(c, &p[d]))
			return false;
	}
	return true;
}

static bool
parse_corner(Cursor *c, double p[3])
{
	return expect(c, '(', "Each corner must be written in parentheses.") &&
		   parse_triple(c, true, p) &&
		   expect(c, ')', "A corner has three coordinates and a closing parenthesis.");
}

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

/* is this "(" around the whole box, not around a corner? */
static bool
is_outer(const Cursor *c)
{
	Cursor inside = *c;

	inside.at++;
	skip_space(&inside);
	return *inside.at == '(';
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
 * The box is undefined unless the status is BOX3_TEXT_OK.
 */
Box3TextStatus
box3_parse(const char *text, Box3 *box, Box3TextError *error)
{
	Cursor c = {text, error, BOX3_TEXT_OK};
	double p[3];
	double q[3];
	bool ok;

	*error = (Box3TextError){NULL, NULL, 0};
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

	skip_space(&c);
	if (*c.at != '\0')
	{
		fail(&c,
			 *c.at == '(' ? "Corners must be separated by a comma."
						  : "There is something behind the end of the box.");
		return c.status;
	}
	box3_from_corners(p, q, box);
	return BOX3_TEXT_OK;
}
