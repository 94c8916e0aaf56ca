/*-------------------------------------------------------------------------
 *
 * planes3d.c
 *	  The SQL type planes3d: forms, constructors, parts and operators.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/array.h"

#include "core/shape_text.h"
#include "pg/compat.h"
#include "type/box3d.h"
#include "type/shapes3d.h"

BVH_FUNCTION(planes3d_in);
BVH_FUNCTION(planes3d_out);
BVH_FUNCTION(planes3d_recv);
BVH_FUNCTION(planes3d_send);
BVH_FUNCTION(planes3d_from_array);
BVH_FUNCTION(planes3d_to_array);
BVH_FUNCTION(planes3d_frustum);
BVH_FUNCTION(planes3d_eq);
BVH_FUNCTION(planes3d_ne);
BVH_FUNCTION(planes3d_hash);
BVH_FUNCTION(planes3d_hash_extended);
BVH_FUNCTION(box3d_meets_planes);
BVH_FUNCTION(planes3d_meet_box);
BVH_FUNCTION(box3d_in_planes);
BVH_FUNCTION(planes3d_contain_box);

/* a value with room for n planes, palloc'd */
static Planes3 *
alloc_planes(int n)
{
	Planes3 *planes = palloc0(PLANES3_SIZE(n));

	SET_VARSIZE(planes, PLANES3_SIZE(n));
	planes->n = n;
	return planes;
}

/* an error unless there may be so many planes */
static void
check_number(int64 n, int sqlerrcode)
{
	if (n < 1 || n > PLANES3_MOST)
		ereport(ERROR,
				errcode(sqlerrcode),
				errmsg("planes3d must have 1 to %d planes, not " INT64_FORMAT,
					   PLANES3_MOST,
					   n),
				errhint("A plane is four numbers a, b, c and d: a*x + b*y + c*z <= d."));
}

/* fill in one plane; an error with that code if there can't be such a one */
static void
set_plane(Plane3 *plane, const double number[4], int sqlerrcode)
{
	const char *problem = plane3_make(number, plane);
	StringInfoData text;

	if (problem == NULL)
		return;
	initStringInfo(&text);
	box3d_append_numbers(&text, number, 4);
	ereport(ERROR,
			errcode(sqlerrcode),
			errmsg("invalid value for type %s: {%s}", "planes3d", text.data),
			errdetail("%s", problem),
			errhint("A plane is four numbers a, b, c and d: a*x + b*y + c*z <= d."));
}

/*
 * planes3d_in(cstring) --- text to planes3d
 */
Datum
planes3d_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Plane3 plane[PLANES3_MOST];
	int n;
	Planes3 *planes;
	BvhTextError error;
	BvhTextStatus status = planes3_parse(text, plane, &n, &error);

	if (status != BVH_TEXT_OK)
		return bvh_text_error(
			fcinfo,
			status,
			&error,
			"planes3d",
			text,
			"Write planes as {(a,b,c,d),...}, for a*x + b*y + c*z <= d.");
	planes = alloc_planes(n);
	memcpy(planes->plane, plane, sizeof(Plane3) * n);
	PG_RETURN_PLANES3_P(planes);
}

/*
 * planes3d_out(planes3d) --- planes3d to text
 */
Datum
planes3d_out(PG_FUNCTION_ARGS)
{
	const Planes3 *planes = PG_GETARG_PLANES3_P(0);
	StringInfoData text;

	initStringInfo(&text);
	for (int i = 0; i < planes->n; i++)
	{
		const Plane3 *plane = &planes->plane[i];
		double number[4] = {plane->normal[0],
							plane->normal[1],
							plane->normal[2],
							plane->offset};

		appendStringInfoChar(&text, i == 0 ? '{' : ',');
		box3d_append_numbers(&text, number, 4);
	}
	appendStringInfoChar(&text, '}');
	PG_RETURN_CSTRING(text.data);
}

/*
 * planes3d_recv(internal) --- binary to planes3d: an int4, how many, and four
 * float8 for each, in network order
 */
Datum
planes3d_recv(PG_FUNCTION_ARGS)
{
	StringInfo buf = (StringInfo) PG_GETARG_POINTER(0);
	int n = pq_getmsgint(buf, 4);
	Planes3 *planes;

	check_number(n, ERRCODE_INVALID_BINARY_REPRESENTATION);
	planes = alloc_planes(n);
	for (int i = 0; i < n; i++)
	{
		double number[4];

		for (int k = 0; k < 4; k++)
			number[k] = pq_getmsgfloat8(buf);
		set_plane(&planes->plane[i], number, ERRCODE_INVALID_BINARY_REPRESENTATION);
	}
	PG_RETURN_PLANES3_P(planes);
}

/*
 * planes3d_send(planes3d) --- planes3d to binary
 */
Datum
planes3d_send(PG_FUNCTION_ARGS)
{
	const Planes3 *planes = PG_GETARG_PLANES3_P(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	pq_sendint32(&buf, planes->n);
	for (int i = 0; i < planes->n; i++)
	{
		for (int d = 0; d < 3; d++)
			pq_sendfloat8(&buf, planes->plane[i].normal[d]);
		pq_sendfloat8(&buf, planes->plane[i].offset);
	}
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * planes3d(float8[]) --- four numbers for each plane, in one dimension or two
 */
Datum
planes3d_from_array(PG_FUNCTION_ARGS)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
	int nnumbers = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const char *hint = "A plane is four numbers a, b, c and d: a*x + b*y + c*z <= d.";
	double number[PLANES3_MOST * 4];
	Planes3 *planes;

	if (ARR_NDIM(array) == 2 && ARR_DIMS(array)[1] != 4)
		ereport(ERROR,
				errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("a row of an array for planes3d must have 4 numbers, not %d",
					   ARR_DIMS(array)[1]),
				errhint("%s", hint));
	check_number((nnumbers + 3) / 4, ERRCODE_ARRAY_SUBSCRIPT_ERROR);
	box3d_get_numbers(array,
					  (nnumbers + 3) / 4 * 4,
					  "array for a planes3d",
					  hint,
					  number);
	planes = alloc_planes(nnumbers / 4);
	for (int i = 0; i < planes->n; i++)
		set_plane(&planes->plane[i], &number[i * 4], ERRCODE_INVALID_PARAMETER_VALUE);
	PG_RETURN_PLANES3_P(planes);
}

/*
 * planes3d_to_array(planes3d) --- float8[][4]
 */
Datum
planes3d_to_array(PG_FUNCTION_ARGS)
{
	const Planes3 *planes = PG_GETARG_PLANES3_P(0);
	Datum elems[PLANES3_MOST * 4];
	int dims[2] = {planes->n, 4};
	int lbs[2] = {1, 1};

	for (int i = 0; i < planes->n; i++)
	{
		for (int d = 0; d < 3; d++)
			elems[i * 4 + d] = Float8GetDatum(planes->plane[i].normal[d]);
		elems[i * 4 + 3] = Float8GetDatum(planes->plane[i].offset);
	}
	PG_RETURN_ARRAYTYPE_P(construct_md_array(elems,
											 NULL,
											 2,
											 dims,
											 lbs,
											 FLOAT8OID,
											 sizeof(float8),
											 FLOAT8PASSBYVAL,
											 TYPALIGN_DOUBLE));
}

/*
 * planes3d_frustum(float8[16], row_major, zero_to_one) --- what a clip matrix
 * shows
 */
Datum
planes3d_frustum(PG_FUNCTION_ARGS)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
	bool row_major = PG_GETARG_BOOL(1);
	double given[16];
	double m[4][4];
	double number[6][4];
	Planes3 *planes;
	int n;

	/* whoever writes rows in brackets means rows */
	if (ARR_NDIM(array) == 2 && !row_major)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("a clip matrix of two dimensions is by rows"),
				errhint("Add row_major => true, or give 16 numbers by columns."));
	box3d_get_numbers(array,
					  16,
					  "clip matrix",
					  "The matrix takes (x, y, z, 1) to clip space; by columns, as "
					  "graphics libraries keep it, unless row_major is true.",
					  given);
	for (int row = 0; row < 4; row++)
		for (int column = 0; column < 4; column++)
			m[row][column] = given[row_major ? row * 4 + column : column * 4 + row];
	n = planes3_of_frustum(m, PG_GETARG_BOOL(2), number);
	if (n == 0)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("clip matrix has no planes: it shows everything, or nothing"),
				errhint("Give the product of projection and view."));
	planes = alloc_planes(n);
	for (int i = 0; i < n; i++)
		set_plane(&planes->plane[i], number[i], ERRCODE_INVALID_PARAMETER_VALUE);
	PG_RETURN_PLANES3_P(planes);
}

static bool
is_equal(const Planes3 *a, const Planes3 *b)
{
	/* neither NaN nor -0 */
	return a->n == b->n && memcmp(a->plane, b->plane, sizeof(Plane3) * a->n) == 0;
}

Datum
planes3d_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(is_equal(PG_GETARG_PLANES3_P(0), PG_GETARG_PLANES3_P(1)));
}

Datum
planes3d_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!is_equal(PG_GETARG_PLANES3_P(0), PG_GETARG_PLANES3_P(1)));
}

/*
 * planes3d_hash(planes3d) --- equal planes are equal bytes
 */
Datum
planes3d_hash(PG_FUNCTION_ARGS)
{
	const Planes3 *planes = PG_GETARG_PLANES3_P(0);

	return hash_any((const unsigned char *) planes->plane, sizeof(Plane3) * planes->n);
}

Datum
planes3d_hash_extended(PG_FUNCTION_ARGS)
{
	const Planes3 *planes = PG_GETARG_PLANES3_P(0);

	return hash_any_extended((const unsigned char *) planes->plane,
							 sizeof(Plane3) * planes->n,
							 PG_GETARG_INT64(1));
}

/*
 * box && planes, planes && box --- is the box not wholly outside of any plane?
 */
Datum
box3d_meets_planes(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(planes3_meet(PG_GETARG_PLANES3_P(1), PG_GETARG_BOX3_P(0)));
}

Datum
planes3d_meet_box(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(planes3_meet(PG_GETARG_PLANES3_P(0), PG_GETARG_BOX3_P(1)));
}

/*
 * box <@ planes, planes @> box --- is the box wholly inside of all planes?
 */
Datum
box3d_in_planes(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(planes3_contain(PG_GETARG_PLANES3_P(1), PG_GETARG_BOX3_P(0)));
}

Datum
planes3d_contain_box(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(planes3_contain(PG_GETARG_PLANES3_P(0), PG_GETARG_BOX3_P(1)));
}
