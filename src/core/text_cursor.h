/*-------------------------------------------------------------------------
 *
 * text_cursor.h
 *	  Reading the text forms of the types: what they have in common.
 *
 * White space is allowed anywhere between the parts.  Numbers are read by
 * strtod(), which follows LC_NUMERIC; the caller keeps that at "C", as
 * PostgreSQL does.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TEXT_CURSOR_H
#define BVH_TEXT_CURSOR_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/text.h"

typedef struct Cursor
{
	const char *at;
	BvhTextError *error;
	BvhTextStatus status;
} Cursor;

/* isspace() of the C locale */
static inline bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static inline void
skip_space(Cursor *c)
{
	while (is_space(*c->at))
		c->at++;
}

static inline bool
fail(Cursor *c, const char *reason)
{
	c->status = BVH_TEXT_SYNTAX;
	c->error->reason = reason;
	return false;
}

static inline bool
expect(Cursor *c, char wanted, const char *reason)
{
	skip_space(c);
	if (*c->at != wanted)
		return fail(c, reason);
	c->at++;
	return true;
}

static inline bool
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
		c->status = BVH_TEXT_OUT_OF_RANGE;
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
static inline bool
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

static inline bool
parse_corner(Cursor *c, double p[3])
{
	return expect(c, '(', "Each corner must be written in parentheses.") &&
		   parse_triple(c, true, p) &&
		   expect(c, ')', "A corner has three coordinates and a closing parenthesis.");
}

/* is this "(" around the whole, not around its first part? */
static inline bool
is_outer(const Cursor *c)
{
	Cursor inside = *c;

	inside.at++;
	skip_space(&inside);
	return *inside.at == '(';
}

/* is that all of it, but white space? */
static inline bool
at_end(Cursor *c)
{
	skip_space(c);
	return *c->at == '\0';
}

#endif /* BVH_TEXT_CURSOR_H */
