/*-------------------------------------------------------------------------
 *
 * box3d_io.c
 *	  Text and binary forms of box3d.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/float.h"

#include "core/box3_text.h"
#include "pg/compat.h"
#include "type/box3d.h"

BVH_FUNCTION(box3d_in);
BVH_FUNCTION(box3d_out);
BVH_FUNCTION(box3d_recv);
BVH_FUNCTION(box3d_send);

/*
 * box3d_append_number --- with the digits of extra_float_digits
 */
void
box3d_append_number(StringInfo text, double x)
{
	char *number = float8out_internal(x);

	appendStringInfoString(text, number);
	pfree(number);
}

/*
 * box3d_append_numbers --- "(x,y,z)", or as many as there are
 */
void
box3d_append_numbers(StringInfo text, const double *numbers, int n)
{
	for (int i = 0; i < n; i++)
	{
		appendStringInfoChar(text, i == 0 ? '(' : ',');
		box3d_append_number(text, numbers[i]);
	}
	appendStringInfoChar(text, ')');
}

/*
 * box3d_to_text --- "(x1,y1,z1),(x2,y2,z2)", palloc'd
 */
char *
box3d_to_text(const double lo[3], const double hi[3])
{
	StringInfoData text;

	initStringInfo(&text);
	box3d_append_numbers(&text, lo, 3);
	appendStringInfoChar(&text, ',');
	box3d_append_numbers(&text, hi, 3);
	return text.data;
}

/*
 * bvh_text_error --- report, softly where possible, why a text is no value of
 * the type
 *
 * The input function returns what this does.
 */
Datum
bvh_text_error(FunctionCallInfo fcinfo, BvhTextStatus status, const BvhTextError *error,
			   const char *type, const char *text, const char *hint)
{
	if (status == BVH_TEXT_OUT_OF_RANGE)
		bvh_soft_error(fcinfo,
					   errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					   errmsg("\"%.*s\" is out of range for type double precision",
							  error->number_length,
							  error->number),
					   errhint("float8 holds numbers from 5e-324 to 1.8e308; a side "
							   "without end is written with Infinity."));
	else
		bvh_soft_error(fcinfo,
					   errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
					   errmsg("invalid input syntax for type %s: \"%s\"", type, text),
					   errdetail("%s", error->reason),
					   errhint("%s", hint));
	return (Datum) 0;
}

/*
 * box3d_in(cstring) --- text to box3d
 */
Datum
box3d_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Box3 *box = palloc(sizeof(Box3));
	BvhTextError error;
	BvhTextStatus status = box3_parse(text, box, &error);

	if (status != BVH_TEXT_OK)
		return bvh_text_error(fcinfo,
							  status,
							  &error,
							  "box3d",
							  text,
							  "Write a box as (x1,y1,z1),(x2,y2,z2) or BOX3D(x1 y1 z1,x2 "
							  "y2 z2), a point as (x,y,z).");
	PG_RETURN_BOX3_P(box);
}

/*
 * box3d_out(box3d) --- box3d to text
 */
Datum
box3d_out(PG_FUNCTION_ARGS)
{
	const Box3 *box = PG_GETARG_BOX3_P(0);

	PG_RETURN_CSTRING(box3d_to_text(box->lo, box->hi));
}

/*
 * box3d_recv(internal) --- binary to box3d: six float8 in network order, two
 * opposite corners
 */
Datum
box3d_recv(PG_FUNCTION_ARGS)
{
	StringInfo buf = (StringInfo) PG_GETARG_POINTER(0);
	Box3 *box = palloc(sizeof(Box3));
	double corner[6];

	for (int d = 0; d < 6; d++)
		corner[d] = pq_getmsgfloat8(buf);
	if (!box3_from_corners(&corner[0], &corner[3], box))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				errmsg("invalid binary value for type %s: %s",
					   "box3d",
					   box3d_to_text(&corner[0], &corner[3])),
				errdetail("A coordinate must not be NaN."));
	PG_RETURN_BOX3_P(box);
}

/*
 * box3d_send(box3d) --- box3d to binary: six float8, lower then upper corner
 */
Datum
box3d_send(PG_FUNCTION_ARGS)
{
	const Box3 *box = PG_GETARG_BOX3_P(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	for (int d = 0; d < 3; d++)
		pq_sendfloat8(&buf, box->lo[d]);
	for (int d = 0; d < 3; d++)
		pq_sendfloat8(&buf, box->hi[d]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}
