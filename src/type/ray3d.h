/*-------------------------------------------------------------------------
 *
 * ray3d.h
 *	  The SQL type ray3d, as C sees it.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_RAY3D_H
#define BVH_RAY3D_H

#include "fmgr.h"

#include "core/ray3.h"

/* the datum is the struct itself: fixed length, by reference */
#define DatumGetRay3P(datum)  ((const Ray3 *) DatumGetPointer(datum))
#define PG_GETARG_RAY3_P(n)   DatumGetRay3P(PG_GETARG_DATUM(n))
#define PG_RETURN_RAY3_P(ray) PG_RETURN_POINTER(ray)

/* functions of ours are recognised by these */
extern PGDLLEXPORT Datum box3d_ray_entry(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum ray3d_box_entry(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_meets_ray(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum ray3d_meets_box(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum ray3d_bounds(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum ray3d_until(PG_FUNCTION_ARGS);

#endif /* BVH_RAY3D_H */
