/*-------------------------------------------------------------------------
 *
 * shapes3d.h
 *	  The SQL types sphere3d and planes3d, as C sees them.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_SHAPES3D_H
#define BVH_SHAPES3D_H

#include "fmgr.h"

#include "core/planes3.h"
#include "core/sphere3.h"

/* the datum is the struct itself: fixed length, by reference */
#define DatumGetSphere3P(datum)  ((const Sphere3 *) DatumGetPointer(datum))
#define PG_GETARG_SPHERE3_P(n)   DatumGetSphere3P(PG_GETARG_DATUM(n))
#define PG_RETURN_SPHERE3_P(ptr) PG_RETURN_POINTER(ptr)

/*
 * Of variable length, but stored plain, and so never compressed, moved
 * elsewhere, or with a short length word.
 */
#define DatumGetPlanes3P(datum)  ((const Planes3 *) DatumGetPointer(datum))
#define PG_GETARG_PLANES3_P(n)   DatumGetPlanes3P(PG_GETARG_DATUM(n))
#define PG_RETURN_PLANES3_P(ptr) PG_RETURN_POINTER(ptr)

/* functions of ours are recognised by these */
extern PGDLLEXPORT Datum box3d_meets_sphere(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sphere3d_meets_box(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_in_sphere(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sphere3d_contains_box(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum sphere3d_bounds(PG_FUNCTION_ARGS);

#endif /* BVH_SHAPES3D_H */
