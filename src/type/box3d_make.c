/*-------------------------------------------------------------------------
 *
 * box3d_make.c
 *	  Constructors, parts and casts of box3d.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/array.h"

#include "pg/compat.h"
#include "type/box3d.h"

BVH_FUNCTION(box3d_make);
BVH_FUNCTION(box3d_point);
BVH_FUNCTION(box3d_from_arrays);
BVH_FUNCTION(box3d_from_array);
BVH_FUNCTION(box3d_to_array);
BVH_FUNCTION(box3d_lower);
BVH_FUNCTION(box3d_upper);
BVH_FUNCTION(box3d_center);
BVH_FUNCTION(box3d_size);

/*
 * box3d_from_corners --- box of two opposite corners, palloc'd; an error for
 * NaN
 */
Box3 *
box3d_from_corners(const double p[3], const double q[3])
{
	Box3 *box = palloc(sizeof(Box3));

	if (!box3_from_corners(p, q, box))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("box3d coordinates must not be NaN: %s", box3d_to_text(p, q)),
				errhint("Use Infinity for a side without end, and NULL for no box."));
	return box;
}

/*
 * box3d_get_numbers --- the n numbers of an array; an error for any other
 * number of them, or a NULL among them
 *
 * The messages speak of it as what, and hint at how it should be.
 */
void
box3d_get_numbers(ArrayType *array, int n, const char *what, const char *hint,
				  double *out)
{
	int nelems = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));

	Assert(ARR_ELEMTYPE(array) == FLOAT8OID);
	if (nelems != n)
		ereport(ERROR,
				errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("%s must have exactly %d numbers, not %d", what, n, nelems),
				errhint("%s", hint));
	if (array_contains_nulls(array))
		ereport(ERROR,
				errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				errmsg("%s must not contain NULL", what),
				errhint("%s", hint));
	memcpy(out, ARR_DATA_PTR(array), sizeof(double) * n);
}

/* box3d_make_array --- three or six numbers as float8[] */
Datum
box3d_make_array(const double *numbers, int n)
{
	Datum elems[6];

	Assert(n <= lengthof(elems));
	for (int i = 0; i < n; i++)
		elems[i] = Float8GetDatum(numbers[i]);
	return PointerGetDatum(construct_array(
		elems, n, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * box3d(x1, y1, z1, x2, y2, z2) --- box of two opposite corners
 */
Datum
box3d_make(PG_FUNCTION_ARGS)
{
	double corner[6];

	for (int i = 0; i < 6; i++)
		corner[i] = PG_GETARG_FLOAT8(i);
	PG_RETURN_BOX3_P(box3d_from_corners(&corner[0], &corner[3]));
}

/*
 * box3d(x, y, z) --- a point
 */
Datum
box3d_point(PG_FUNCTION_ARGS)
{
	double corner[3];

	for (int i = 0; i < 3; i++)
		corner[i] = PG_GETARG_FLOAT8(i);
	PG_RETURN_BOX3_P(box3d_from_corners(corner, corner));
}

/*
 * box3d(float8[], float8[]) --- box of two opposite corners
 */
Datum
box3d_from_arrays(PG_FUNCTION_ARGS)
{
	double p[3];
	double q[3];

	const char *hint = "A corner is x, y and z.";

	box3d_get_numbers(PG_GETARG_ARRAYTYPE_P(0), 3, "corner of a box3d", hint, p);
	box3d_get_numbers(PG_GETARG_ARRAYTYPE_P(1), 3, "corner of a box3d", hint, q);
	PG_RETURN_BOX3_P(box3d_from_corners(p, q));
}

/*
 * box3d(float8[]) --- six numbers, two opposite corners; or three, a point
 */
Datum
box3d_from_array(PG_FUNCTION_ARGS)
{
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(0);
	bool is_point = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 3;
	double corner[6];

	box3d_get_numbers(array,
					  is_point ? 3 : 6,
					  "array for a box3d",
					  "A box is x1, y1, z1, x2, y2 and z2; a point is x, y and z.",
					  corner);
	PG_RETURN_BOX3_P(box3d_from_corners(&corner[0], is_point ? &corner[0] : &corner[3]));
}

/*
 * box3d_to_array(box3d) --- six numbers, lower then upper corner
 */
Datum
box3d_to_array(PG_FUNCTION_ARGS)
{
	const Box3 *box = PG_GETARG_BOX3_P(0);
	double numbers[6];

	memcpy(&numbers[0], box->lo, sizeof(box->lo));
	memcpy(&numbers[3], box->hi, sizeof(box->hi));
	return box3d_make_array(numbers, 6);
}

Datum
box3d_lower(PG_FUNCTION_ARGS)
{
	return box3d_make_array(PG_GETARG_BOX3_P(0)->lo, 3);
}

Datum
box3d_upper(PG_FUNCTION_ARGS)
{
	return box3d_make_array(PG_GETARG_BOX3_P(0)->hi, 3);
}

/*
 * box3d_center(box3d) --- float8[3]; 0 on an axis without end on both sides
 */
Datum
box3d_center(PG_FUNCTION_ARGS)
{
	const Box3 *box = PG_GETARG_BOX3_P(0);
	double center[3];

	for (int d = 0; d < 3; d++)
		center[d] = box3_center(box, d);
	return box3d_make_array(center, 3);
}

/*
 * box3d_size(box3d) --- float8[3], the lengths of the sides
 */
Datum
box3d_size(PG_FUNCTION_ARGS)
{
	const Box3 *box = PG_GETARG_BOX3_P(0);
	double size[3];

	for (int d = 0; d < 3; d++)
		size[d] = box3_side(box, d);
	return box3d_make_array(size, 3);
}

/* box3d_xmin(box3d) and its five sisters */
#define BOUND_FUNCTION(name, bound, d)                                                   \
	BVH_FUNCTION(name);                                                                  \
	Datum name(PG_FUNCTION_ARGS)                                                         \
	{                                                                                    \
		PG_RETURN_FLOAT8(PG_GETARG_BOX3_P(0)->bound[d]);                                 \
	}

BOUND_FUNCTION(box3d_xmin, lo, 0)
BOUND_FUNCTION(box3d_ymin, lo, 1)
BOUND_FUNCTION(box3d_zmin, lo, 2)
BOUND_FUNCTION(box3d_xmax, hi, 0)
BOUND_FUNCTION(box3d_ymax, hi, 1)
BOUND_FUNCTION(box3d_zmax, hi, 2)
