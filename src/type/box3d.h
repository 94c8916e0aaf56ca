/*-------------------------------------------------------------------------
 *
 * box3d.h
 *	  The SQL type box3d, as C sees it.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BOX3D_H
#define BVH_BOX3D_H

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "utils/array.h"

#include "core/box3.h"
#include "core/text.h"

/* the datum is the struct itself: fixed length, by reference */
#define DatumGetBox3P(datum)  ((const Box3 *) DatumGetPointer(datum))
#define PG_GETARG_BOX3_P(n)   DatumGetBox3P(PG_GETARG_DATUM(n))
#define PG_RETURN_BOX3_P(box) PG_RETURN_POINTER(box)

/* box3d_io.c */
extern void box3d_append_number(StringInfo text, double x);
extern void box3d_append_numbers(StringInfo text, const double *numbers, int n);
extern char *box3d_to_text(const double lo[3], const double hi[3]);
extern Datum bvh_text_error(FunctionCallInfo fcinfo, BvhTextStatus status,
							const BvhTextError *error, const char *type, const char *text,
							const char *hint);

/* box3d_make.c */
extern Box3 *box3d_from_corners(const double p[3], const double q[3]);
extern Datum box3d_make_array(const double *numbers, int n);
extern void box3d_get_numbers(ArrayType *array, int n, const char *what, const char *hint,
							  double *out);

/* box3d_calc.c */
extern double box3d_add(double a, double b);

/* gist_box3d.c; indexes of ours are recognised by it */
extern PGDLLEXPORT Datum box3d_gist_consistent(PG_FUNCTION_ARGS);

/* types, functions and operators of ours are recognised by these */
extern PGDLLEXPORT Datum box3d_in(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_dwithin(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_bound(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_distance(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_taxicab(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_chebyshev(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_expand(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_reach(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_overlaps(PG_FUNCTION_ARGS);
extern PGDLLEXPORT Datum box3d_contained_by(PG_FUNCTION_ARGS);

#endif /* BVH_BOX3D_H */
