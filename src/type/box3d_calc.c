/*-------------------------------------------------------------------------
 *
 * box3d_calc.c
 *	  Measures of box3d, and boxes made from boxes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/array.h"
#include "utils/float.h"

#include "core/hilbert.h"
#include "pg/compat.h"
#include "type/box3d.h"

BVH_FUNCTION(box3d_volume);
BVH_FUNCTION(box3d_surface_area);
BVH_FUNCTION(box3d_is_point);
BVH_FUNCTION(box3d_distance);
BVH_FUNCTION(box3d_taxicab);
BVH_FUNCTION(box3d_chebyshev);
BVH_FUNCTION(box3d_max_distance);
BVH_FUNCTION(box3d_dwithin);
BVH_FUNCTION(box3d_reach);
BVH_FUNCTION(box3d_bound);
BVH_FUNCTION(box3d_penetration);
BVH_FUNCTION(box3d_overlap_volume);
BVH_FUNCTION(box3d_union);
BVH_FUNCTION(box3d_intersection);
BVH_FUNCTION(box3d_expand);
BVH_FUNCTION(box3d_expand_axes);
BVH_FUNCTION(box3d_translate);
BVH_FUNCTION(box3d_transform);
BVH_FUNCTION(box3d_hilbert);

Datum
box3d_volume(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(box3_volume(PG_GETARG_BOX3_P(0)));
}

Datum
box3d_surface_area(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(box3_surface_area(PG_GETARG_BOX3_P(0)));
}

Datum
box3d_is_point(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(box3_is_point(PG_GETARG_BOX3_P(0)));
}

Datum
box3d_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(box3_distance(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1)));
}

Datum
box3d_taxicab(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(box3_taxicab(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1)));
}

Datum
box3d_chebyshev(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(box3_chebyshev(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1)));
}

Datum
box3d_max_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(box3_max_distance(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1)));
}

static double
get_radius(double r)
{
	if (isnan(r))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("distance must not be NaN"),
				errhint("Use NULL for a distance that is not known."));
	return r;
}

/*
 * box3d_dwithin(a, b, r) --- a <-> b <= r
 */
Datum
box3d_dwithin(PG_FUNCTION_ARGS)
{
	double r = get_radius(PG_GETARG_FLOAT8(2));

	PG_RETURN_BOOL(box3_distance(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1)) <= r);
}

/*
 * box3d_reach(b, r) --- a box that overlaps every box within distance r of b,
 * and few others; NULL when nothing is, because r is negative
 */
Datum
box3d_reach(PG_FUNCTION_ARGS)
{
	double r = get_radius(PG_GETARG_FLOAT8(1));
	Box3 *reach;

	if (r < 0)
		PG_RETURN_NULL();
	reach = palloc(sizeof(Box3));
	box3_reach(PG_GETARG_BOX3_P(0), r, reach);
	PG_RETURN_BOX3_P(reach);
}

/*
 * box3d_bound(b, r) --- as box3d_reach(), but for what is "<= r" by SQL's order of
 * numbers, in which NaN is above all others: then everything
 *
 * The planner derives it from comparisons, which raise no errors; see box3d_bound.c.
 */
Datum
box3d_bound(PG_FUNCTION_ARGS)
{
	double r = PG_GETARG_FLOAT8(1);
	Box3 *bound;

	if (r < 0)
		PG_RETURN_NULL();
	bound = palloc(sizeof(Box3));
	box3_reach(PG_GETARG_BOX3_P(0), isnan(r) ? INFINITY : r, bound);
	PG_RETURN_BOX3_P(bound);
}

Datum
box3d_penetration(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(box3_penetration(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1)));
}

Datum
box3d_overlap_volume(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(box3_overlap_volume(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1)));
}

/*
 * box3d_union(a, b) --- smallest box that contains both; also the transition
 * of box3d_extent()
 */
Datum
box3d_union(PG_FUNCTION_ARGS)
{
	Box3 *box = palloc(sizeof(Box3));

	*box = *PG_GETARG_BOX3_P(0);
	box3_include(box, PG_GETARG_BOX3_P(1));
	PG_RETURN_BOX3_P(box);
}

/*
 * box3d_intersection(a, b) --- what both contain; NULL when they are apart
 */
Datum
box3d_intersection(PG_FUNCTION_ARGS)
{
	Box3 *box = palloc(sizeof(Box3));

	if (!box3_intersect(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1), box))
		PG_RETURN_NULL();
	PG_RETURN_BOX3_P(box);
}

/* the error for finite bounds that no float8 can hold */
static void
out_of_range(const char *what)
{
	ereport(ERROR,
			errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			errmsg("bound of a box is out of range: %s", what),
			errhint("float8 holds numbers up to 1.8e308; use Infinity for a side without "
					"end."));
}

/*
 * box3d_add --- a + b, where the sum of finite numbers must be finite, and that of
 * infinite ones a number
 */
double
box3d_add(double a, double b)
{
	double sum = a + b;

	if (isinf(sum) && isfinite(a) && isfinite(b))
		out_of_range(psprintf("%s + %s", float8out_internal(a), float8out_internal(b)));
	if (isnan(sum) && !isnan(a) && !isnan(b))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("bound of a box would not be a number: %s + %s",
					   float8out_internal(a),
					   float8out_internal(b)),
				errhint("A bound at infinity cannot be moved back by Infinity."));
	return sum;
}

/* each side moved outward by r on both ends; NULL when a side vanishes */
static Datum
expand(FunctionCallInfo fcinfo, const Box3 *box, const double r[3])
{
	double lo[3];
	double hi[3];
	bool is_empty = false;

	for (int d = 0; d < 3; d++)
	{
		if (isnan(r[d]))
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("a box cannot be expanded by NaN"),
					errhint("Use NULL for an amount that is not known."));
		lo[d] = box3d_add(box->lo[d], -r[d]);
		hi[d] = box3d_add(box->hi[d], r[d]);
		is_empty |= lo[d] > hi[d];
	}
	if (is_empty)
		PG_RETURN_NULL();
	PG_RETURN_BOX3_P(box3d_from_corners(lo, hi));
}

/*
 * box3d_expand(b, r) --- grown, or for r < 0 shrunk, by r on all six sides
 */
Datum
box3d_expand(PG_FUNCTION_ARGS)
{
	double r = PG_GETARG_FLOAT8(1);

	return expand(fcinfo, PG_GETARG_BOX3_P(0), (const double[]){r, r, r});
}

/*
 * box3d_expand(b, rx, ry, rz) --- the same with an amount for each axis
 */
Datum
box3d_expand_axes(PG_FUNCTION_ARGS)
{
	const double r[3] = {PG_GETARG_FLOAT8(1), PG_GETARG_FLOAT8(2), PG_GETARG_FLOAT8(3)};

	return expand(fcinfo, PG_GETARG_BOX3_P(0), r);
}

/*
 * box3d_translate(b, dx, dy, dz)
 */
Datum
box3d_translate(PG_FUNCTION_ARGS)
{
	const Box3 *box = PG_GETARG_BOX3_P(0);
	double lo[3];
	double hi[3];

	for (int d = 0; d < 3; d++)
	{
		double by = PG_GETARG_FLOAT8(d + 1);

		lo[d] = box3d_add(box->lo[d], by);
		hi[d] = box3d_add(box->hi[d], by);
	}
	PG_RETURN_BOX3_P(box3d_from_corners(lo, hi));
}

/* does an infinite side have a part in this row of the map? */
static bool
takes_infinity(const Box3 *box, const double row[4])
{
	for (int d = 0; d < 3; d++)
		if (row[d] != 0.0 && (isinf(box->lo[d]) || isinf(box->hi[d])))
			return true;
	return false;
}

/*
 * box3d_transform(b, m) --- the box around the box mapped by a matrix of 12 or
 * 16 numbers, by rows
 */
Datum
box3d_transform(PG_FUNCTION_ARGS)
{
	const Box3 *box = PG_GETARG_BOX3_P(0);
	ArrayType *array = PG_GETARG_ARRAYTYPE_P(1);
	int n = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	const char *hint = "Give three rows of four numbers; a fourth must be 0 0 0 1.";
	double m[16];
	double lo[3];
	double hi[3];

	if (n != 12 && n != 16)
		ereport(ERROR,
				errcode(ERRCODE_ARRAY_SUBSCRIPT_ERROR),
				errmsg("matrix must have 12 or 16 numbers, not %d", n),
				errhint("%s", hint));
	box3d_get_numbers(array, n, "matrix", hint, m);
	for (int i = 0; i < 12; i++)
		if (!isfinite(m[i]))
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("matrix element %d is not finite: %s",
						   i + 1,
						   float8out_internal(m[i])),
					errhint("%s", hint));
	if (n == 16 && !(m[12] == 0 && m[13] == 0 && m[14] == 0 && m[15] == 1))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("last row of the matrix must be 0 0 0 1, not %s %s %s %s",
					   float8out_internal(m[12]),
					   float8out_internal(m[13]),
					   float8out_internal(m[14]),
					   float8out_internal(m[15])),
				errdetail("Only affine maps can be applied to a box."),
				errhint("%s", hint));

	box3_transform(box, m, lo, hi);
	for (int d = 0; d < 3; d++)
		if (!(isfinite(lo[d]) && isfinite(hi[d])) && !takes_infinity(box, &m[d * 4]))
			out_of_range(
				psprintf("%s mapped by the matrix", box3d_to_text(box->lo, box->hi)));
	PG_RETURN_BOX3_P(box3d_from_corners(lo, hi));
}

/*
 * box3d_hilbert(b, world) --- place of the center along the Hilbert curve
 * through the world, 63 bits
 */
Datum
box3d_hilbert(PG_FUNCTION_ARGS)
{
	const Box3 *world = PG_GETARG_BOX3_P(1);
	uint64_t key;

	if (!box3_hilbert(PG_GETARG_BOX3_P(0), world, &key))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("world of a Hilbert key must be finite: %s",
					   box3d_to_text(world->lo, world->hi)),
				errhint("box3d_extent() gives the box around all boxes of a table."));
	PG_RETURN_INT64((int64) key);
}
