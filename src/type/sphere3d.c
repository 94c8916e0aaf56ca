/*-------------------------------------------------------------------------
 *
 * sphere3d.c
 *	  The SQL type sphere3d: forms, constructors, parts and operators.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"

#include "core/shape_text.h"
#include "pg/compat.h"
#include "type/box3d.h"
#include "type/shapes3d.h"

BVH_FUNCTION(sphere3d_in);
BVH_FUNCTION(sphere3d_out);
BVH_FUNCTION(sphere3d_recv);
BVH_FUNCTION(sphere3d_send);
BVH_FUNCTION(sphere3d_make);
BVH_FUNCTION(sphere3d_center);
BVH_FUNCTION(sphere3d_radius);
BVH_FUNCTION(sphere3d_bounds);
BVH_FUNCTION(sphere3d_eq);
BVH_FUNCTION(sphere3d_ne);
BVH_FUNCTION(sphere3d_hash);
BVH_FUNCTION(sphere3d_hash_extended);
BVH_FUNCTION(box3d_meets_sphere);
BVH_FUNCTION(sphere3d_meets_box);
BVH_FUNCTION(box3d_in_sphere);
BVH_FUNCTION(sphere3d_contains_box);

static char *
sphere_to_text(const double center[3], double radius)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoChar(&text, '<');
	box3d_append_numbers(&text, center, 3);
	appendStringInfoChar(&text, ',');
	box3d_append_number(&text, radius);
	appendStringInfoChar(&text, '>');
	return text.data;
}

/* a sphere, palloc'd; an error with that code if there can't be such a one */
static Sphere3 *
make_sphere(const double center[3], double radius, int sqlerrcode)
{
	Sphere3 *sphere = palloc(sizeof(Sphere3));
	const char *problem = sphere3_make(center, radius, sphere);

	if (problem != NULL)
		ereport(ERROR,
				errcode(sqlerrcode),
				errmsg("invalid value for type %s: %s",
					   "sphere3d",
					   sphere_to_text(center, radius)),
				errdetail("%s", problem),
				errhint("The center is finite, and the radius at least 0 or Infinity."));
	return sphere;
}

/*
 * sphere3d_in(cstring) --- text to sphere3d
 */
Datum
sphere3d_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Sphere3 *sphere = palloc(sizeof(Sphere3));
	BvhTextError error;
	BvhTextStatus status = sphere3_parse(text, sphere, &error);

	if (status != BVH_TEXT_OK)
		return bvh_text_error(fcinfo,
							  status,
							  &error,
							  "sphere3d",
							  text,
							  "Write a sphere as <(x,y,z),r>.");
	PG_RETURN_SPHERE3_P(sphere);
}

/*
 * sphere3d_out(sphere3d) --- sphere3d to text
 */
Datum
sphere3d_out(PG_FUNCTION_ARGS)
{
	const Sphere3 *sphere = PG_GETARG_SPHERE3_P(0);

	PG_RETURN_CSTRING(sphere_to_text(sphere->center, sphere->radius));
}

/*
 * sphere3d_recv(internal) --- binary to sphere3d: four float8 in network order,
 * center and radius
 */
Datum
sphere3d_recv(PG_FUNCTION_ARGS)
{
	StringInfo buf = (StringInfo) PG_GETARG_POINTER(0);
	double number[4];

	for (int i = 0; i < lengthof(number); i++)
		number[i] = pq_getmsgfloat8(buf);
	PG_RETURN_SPHERE3_P(
		make_sphere(number, number[3], ERRCODE_INVALID_BINARY_REPRESENTATION));
}

/*
 * sphere3d_send(sphere3d) --- sphere3d to binary: four float8
 */
Datum
sphere3d_send(PG_FUNCTION_ARGS)
{
	const Sphere3 *sphere = PG_GETARG_SPHERE3_P(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	for (int d = 0; d < 3; d++)
		pq_sendfloat8(&buf, sphere->center[d]);
	pq_sendfloat8(&buf, sphere->radius);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * sphere3d(x, y, z, r)
 */
Datum
sphere3d_make(PG_FUNCTION_ARGS)
{
	double center[3];

	for (int d = 0; d < 3; d++)
		center[d] = PG_GETARG_FLOAT8(d);
	PG_RETURN_SPHERE3_P(
		make_sphere(center, PG_GETARG_FLOAT8(3), ERRCODE_INVALID_PARAMETER_VALUE));
}

Datum
sphere3d_center(PG_FUNCTION_ARGS)
{
	return box3d_make_array(PG_GETARG_SPHERE3_P(0)->center, 3);
}

Datum
sphere3d_radius(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(PG_GETARG_SPHERE3_P(0)->radius);
}

/*
 * sphere3d_bounds(sphere3d) --- box around it, rounded outward
 */
Datum
sphere3d_bounds(PG_FUNCTION_ARGS)
{
	const Sphere3 *sphere = PG_GETARG_SPHERE3_P(0);
	Box3 center = sphere3_center(sphere);
	Box3 *bounds = palloc(sizeof(Box3));

	box3_reach(&center, sphere->radius, bounds);
	PG_RETURN_BOX3_P(bounds);
}

static bool
is_equal(const Sphere3 *a, const Sphere3 *b)
{
	/* neither NaN nor -0 */
	return memcmp(a, b, sizeof(Sphere3)) == 0;
}

Datum
sphere3d_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(is_equal(PG_GETARG_SPHERE3_P(0), PG_GETARG_SPHERE3_P(1)));
}

Datum
sphere3d_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!is_equal(PG_GETARG_SPHERE3_P(0), PG_GETARG_SPHERE3_P(1)));
}

/*
 * sphere3d_hash(sphere3d) --- equal spheres are equal bytes
 */
Datum
sphere3d_hash(PG_FUNCTION_ARGS)
{
	return hash_any((const unsigned char *) PG_GETARG_SPHERE3_P(0), sizeof(Sphere3));
}

Datum
sphere3d_hash_extended(PG_FUNCTION_ARGS)
{
	return hash_any_extended((const unsigned char *) PG_GETARG_SPHERE3_P(0),
							 sizeof(Sphere3),
							 PG_GETARG_INT64(1));
}

/*
 * box && sphere, sphere && box --- is a point of the box within the radius?
 */
Datum
box3d_meets_sphere(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(sphere3_meets(PG_GETARG_SPHERE3_P(1), PG_GETARG_BOX3_P(0)));
}

Datum
sphere3d_meets_box(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(sphere3_meets(PG_GETARG_SPHERE3_P(0), PG_GETARG_BOX3_P(1)));
}

/*
 * box <@ sphere, sphere @> box --- is all of the box within the radius?
 */
Datum
box3d_in_sphere(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(sphere3_contains(PG_GETARG_SPHERE3_P(1), PG_GETARG_BOX3_P(0)));
}

Datum
sphere3d_contains_box(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(sphere3_contains(PG_GETARG_SPHERE3_P(0), PG_GETARG_BOX3_P(1)));
}
