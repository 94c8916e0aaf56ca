/*-------------------------------------------------------------------------
 *
 * ray3d.c
 *	  The SQL type ray3d: forms, constructors, parts and operators.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/float.h"

#include "core/ray3_text.h"
#include "pg/compat.h"
#include "type/box3d.h"
#include "type/ray3d.h"

BVH_FUNCTION(ray3d_in);
BVH_FUNCTION(ray3d_out);
BVH_FUNCTION(ray3d_recv);
BVH_FUNCTION(ray3d_send);
BVH_FUNCTION(ray3d_make);
BVH_FUNCTION(ray3d_segment);
BVH_FUNCTION(ray3d_sweep);
BVH_FUNCTION(ray3d_box);
BVH_FUNCTION(ray3d_origin);
BVH_FUNCTION(ray3d_direction);
BVH_FUNCTION(ray3d_tmax);
BVH_FUNCTION(ray3d_at);
BVH_FUNCTION(ray3d_bounds);
BVH_FUNCTION(ray3d_until);
BVH_FUNCTION(ray3d_eq);
BVH_FUNCTION(ray3d_ne);
BVH_FUNCTION(ray3d_hash);
BVH_FUNCTION(ray3d_hash_extended);
BVH_FUNCTION(box3d_meets_ray);
BVH_FUNCTION(ray3d_meets_box);
BVH_FUNCTION(box3d_ray_entry);
BVH_FUNCTION(ray3d_box_entry);

static char *
ray_to_text(const double p[3], const double q[3], const double direction[3], double tmax)
{
	StringInfoData text;

	initStringInfo(&text);
	if (memcmp(p, q, sizeof(double[3])) == 0)
		box3d_append_numbers(&text, p, 3);
	else
		appendStringInfo(&text, "(%s)", box3d_to_text(p, q));
	appendStringInfoChar(&text, ',');
	box3d_append_numbers(&text, direction, 3);
	appendStringInfoChar(&text, ',');
	box3d_append_number(&text, tmax);
	return text.data;
}

/* a ray, palloc'd; an error with that code if there can't be such a one */
static Ray3 *
make_ray(const double p[3], const double q[3], const double direction[3], double tmax,
		 int sqlerrcode)
{
	Ray3 *ray = palloc(sizeof(Ray3));
	Ray3Problem problem = ray3_make(p, q, direction, tmax, ray);

	if (problem != RAY3_OK)
		ereport(ERROR,
				errcode(sqlerrcode),
				errmsg("invalid value for type %s: %s",
					   "ray3d",
					   ray_to_text(p, q, direction, tmax)),
				errdetail("%s", ray3_problem_text(problem)),
				errhint("Start and direction are finite numbers; tmax is at least 0, and "
						"Infinity for a ray without end."));
	return ray;
}

/*
 * ray3d_in(cstring) --- text to ray3d
 */
Datum
ray3d_in(PG_FUNCTION_ARGS)
{
	const char *text = PG_GETARG_CSTRING(0);
	Ray3 *ray = palloc(sizeof(Ray3));
	BvhTextError error;
	BvhTextStatus status = ray3_parse(text, ray, &error);

	if (status != BVH_TEXT_OK)
		return bvh_text_error(
			fcinfo,
			status,
			&error,
			"ray3d",
			text,
			"Write a ray as (ox,oy,oz),(dx,dy,dz) or with ,tmax behind "
			"it, a moving box as ((x1,y1,z1),(x2,y2,z2)),(dx,dy,dz),tmax.");
	PG_RETURN_RAY3_P(ray);
}

/*
 * ray3d_out(ray3d) --- ray3d to text
 */
Datum
ray3d_out(PG_FUNCTION_ARGS)
{
	const Ray3 *ray = PG_GETARG_RAY3_P(0);

	PG_RETURN_CSTRING(ray_to_text(ray->box.lo, ray->box.hi, ray->direction, ray->tmax));
}

/*
 * ray3d_recv(internal) --- binary to ray3d: ten float8 in network order: two
 * opposite corners, direction, tmax
 */
Datum
ray3d_recv(PG_FUNCTION_ARGS)
{
	StringInfo buf = (StringInfo) PG_GETARG_POINTER(0);
	double number[10];

	for (int i = 0; i < lengthof(number); i++)
		number[i] = pq_getmsgfloat8(buf);
	PG_RETURN_RAY3_P(make_ray(&number[0],
							  &number[3],
							  &number[6],
							  number[9],
							  ERRCODE_INVALID_BINARY_REPRESENTATION));
}

/*
 * ray3d_send(ray3d) --- ray3d to binary: ten float8
 */
Datum
ray3d_send(PG_FUNCTION_ARGS)
{
	const Ray3 *ray = PG_GETARG_RAY3_P(0);
	StringInfoData buf;

	pq_begintypsend(&buf);
	for (int d = 0; d < 3; d++)
		pq_sendfloat8(&buf, ray->box.lo[d]);
	for (int d = 0; d < 3; d++)
		pq_sendfloat8(&buf, ray->box.hi[d]);
	for (int d = 0; d < 3; d++)
		pq_sendfloat8(&buf, ray->direction[d]);
	pq_sendfloat8(&buf, ray->tmax);
	PG_RETURN_BYTEA_P(pq_endtypsend(&buf));
}

/*
 * ray3d(ox, oy, oz, dx, dy, dz, tmax) --- a ray from a point
 */
Datum
ray3d_make(PG_FUNCTION_ARGS)
{
	double origin[3];
	double direction[3];

	for (int d = 0; d < 3; d++)
	{
		origin[d] = PG_GETARG_FLOAT8(d);
		direction[d] = PG_GETARG_FLOAT8(d + 3);
	}
	if (direction[0] == 0.0 && direction[1] == 0.0 && direction[2] == 0.0)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("the direction of a ray must not be zero"),
				errhint("A segment may have no length, and a swept box may stand still: "
						"ray3d_segment() and ray3d_sweep() make them."));
	PG_RETURN_RAY3_P(make_ray(origin,
							  origin,
							  direction,
							  PG_GETARG_FLOAT8(6),
							  ERRCODE_INVALID_PARAMETER_VALUE));
}

/*
 * to - from, rounded away from zero, so that a segment ends no sooner than it should
 */
static double
way_between(double from, double to)
{
	double way = to - from;
	double back = way - to;
	double error = (to - (way - back)) - (from + back);

	if (isinf(way) && isfinite(from) && isfinite(to))
		ereport(ERROR,
				errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("direction of a segment is out of range: %s - %s",
					   float8out_internal(to),
					   float8out_internal(from)),
				errhint("float8 holds numbers up to 1.8e308."));
	/* Knuth's two-sum: way + error is what the difference is */
	if (way > 0.0 && error > 0.0)
		return nextafter(way, INFINITY);
	if (way < 0.0 && error < 0.0)
		return nextafter(way, -INFINITY);
	return way;
}

/*
 * ray3d_segment(ax, ay, az, bx, by, bz) --- from a at time 0 to b at time 1, or the
 * least bit farther
 */
Datum
ray3d_segment(PG_FUNCTION_ARGS)
{
	double from[3];
	double way[3];

	for (int d = 0; d < 3; d++)
	{
		from[d] = PG_GETARG_FLOAT8(d);
		way[d] = way_between(from[d], PG_GETARG_FLOAT8(d + 3));
	}
	PG_RETURN_RAY3_P(make_ray(from, from, way, 1.0, ERRCODE_INVALID_PARAMETER_VALUE));
}

/*
 * ray3d_sweep(box3d, dx, dy, dz) --- a box that moves so far from time 0 to 1
 */
Datum
ray3d_sweep(PG_FUNCTION_ARGS)
{
	const Box3 *box = PG_GETARG_BOX3_P(0);
	double way[3];

	for (int d = 0; d < 3; d++)
		way[d] = PG_GETARG_FLOAT8(d + 1);
	PG_RETURN_RAY3_P(
		make_ray(box->lo, box->hi, way, 1.0, ERRCODE_INVALID_PARAMETER_VALUE));
}

/*
 * ray3d_box(ray3d) --- where it starts
 */
Datum
ray3d_box(PG_FUNCTION_ARGS)
{
	Box3 *box = palloc(sizeof(Box3));

	*box = PG_GETARG_RAY3_P(0)->box;
	PG_RETURN_BOX3_P(box);
}

/*
 * ray3d_origin(ray3d) --- float8[3]: where the middle of it starts
 */
Datum
ray3d_origin(PG_FUNCTION_ARGS)
{
	const Ray3 *ray = PG_GETARG_RAY3_P(0);
	double center[3];

	for (int d = 0; d < 3; d++)
		center[d] = box3_center(&ray->box, d);
	return box3d_make_array(center, 3);
}

Datum
ray3d_direction(PG_FUNCTION_ARGS)
{
	return box3d_make_array(PG_GETARG_RAY3_P(0)->direction, 3);
}

Datum
ray3d_tmax(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(PG_GETARG_RAY3_P(0)->tmax);
}

/*
 * ray3d_at(ray3d, t) --- the box where it is at time t, which need not be
 * between 0 and tmax
 */
Datum
ray3d_at(PG_FUNCTION_ARGS)
{
	const Ray3 *ray = PG_GETARG_RAY3_P(0);
	double t = PG_GETARG_FLOAT8(1);
	double p[3];
	double q[3];

	for (int d = 0; d < 3; d++)
	{
		/* no way at all, however long it takes */
		double way = ray->direction[d] == 0.0 ? 0.0 : ray->direction[d] * t;

		p[d] = ray->box.lo[d] + way;
		q[d] = ray->box.hi[d] + way;
		if (isinf(p[d]) || isinf(q[d]))
			ereport(
				ERROR,
				errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				errmsg("ray3d %s is at infinity at time %g",
					   ray_to_text(ray->box.lo, ray->box.hi, ray->direction, ray->tmax),
					   t),
				errhint("Ask for a finite time, such as one that <-> gave for a box "
						"that is met."));
	}
	PG_RETURN_BOX3_P(box3d_from_corners(p, q));
}

/*
 * ray3d_bounds(ray3d) --- box around all that it passes through
 */
Datum
ray3d_bounds(PG_FUNCTION_ARGS)
{
	Box3 *bounds = palloc(sizeof(Box3));

	ray3_bounds(PG_GETARG_RAY3_P(0), bounds);
	PG_RETURN_BOX3_P(bounds);
}

/*
 * ray3d_until(ray3d, t) --- a ray that meets every box for which "<->" gives at most
 * t; NULL when there is none, because t is negative
 */
Datum
ray3d_until(PG_FUNCTION_ARGS)
{
	double t = PG_GETARG_FLOAT8(1);
	Ray3 *until;

	if (isnan(t))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("time must not be NaN"),
				errhint("Use NULL for a time that is not known."));
	if (t < 0.0)
		PG_RETURN_NULL();
	until = palloc(sizeof(Ray3));
	ray3_until(PG_GETARG_RAY3_P(0), t, until);
	PG_RETURN_RAY3_P(until);
}

Datum
ray3d_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ray3_equal(PG_GETARG_RAY3_P(0), PG_GETARG_RAY3_P(1)));
}

Datum
ray3d_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(!ray3_equal(PG_GETARG_RAY3_P(0), PG_GETARG_RAY3_P(1)));
}

/*
 * ray3d_hash(ray3d) --- equal rays are equal bytes
 */
Datum
ray3d_hash(PG_FUNCTION_ARGS)
{
	return hash_any((const unsigned char *) PG_GETARG_RAY3_P(0), sizeof(Ray3));
}

Datum
ray3d_hash_extended(PG_FUNCTION_ARGS)
{
	return hash_any_extended((const unsigned char *) PG_GETARG_RAY3_P(0),
							 sizeof(Ray3),
							 PG_GETARG_INT64(1));
}

/*
 * box && ray, ray && box --- do they meet by tmax?
 */
Datum
box3d_meets_ray(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ray3_meets(PG_GETARG_RAY3_P(1), PG_GETARG_BOX3_P(0)));
}

Datum
ray3d_meets_box(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(ray3_meets(PG_GETARG_RAY3_P(0), PG_GETARG_BOX3_P(1)));
}

/*
 * box <-> ray, ray <-> box --- when they first meet; Infinity if never
 */
Datum
box3d_ray_entry(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(ray3_entry(PG_GETARG_RAY3_P(1), PG_GETARG_BOX3_P(0)));
}

Datum
ray3d_box_entry(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(ray3_entry(PG_GETARG_RAY3_P(0), PG_GETARG_BOX3_P(1)));
}
