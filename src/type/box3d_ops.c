/*-------------------------------------------------------------------------
 *
 * box3d_ops.c
 *	  Operators of box3d that compare two boxes, and the support functions of
 *	  its btree and hash operator classes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "pg/compat.h"
#include "type/box3d.h"

BVH_FUNCTION(box3d_cmp);
BVH_FUNCTION(box3d_hash);
BVH_FUNCTION(box3d_hash_extended);

/* a function of boxes a and b that gives a boolean */
#define PREDICATE(name, condition)                                                       \
	BVH_FUNCTION(name);                                                                  \
	Datum name(PG_FUNCTION_ARGS)                                                         \
	{                                                                                    \
		const Box3 *a = PG_GETARG_BOX3_P(0);                                             \
		const Box3 *b = PG_GETARG_BOX3_P(1);                                             \
                                                                                         \
		PG_RETURN_BOOL(condition);                                                       \
	}

PREDICATE(box3d_overlaps, box3_overlaps(a, b))
PREDICATE(box3d_overlaps_strictly, box3_overlaps_strictly(a, b))
PREDICATE(box3d_contains, box3_contains(a, b))
PREDICATE(box3d_contained_by, box3_contains(b, a))
PREDICATE(box3d_same, box3_equal(a, b))

PREDICATE(box3d_left, box3_before(a, b, 0))
PREDICATE(box3d_overleft, box3_not_after(a, b, 0))
PREDICATE(box3d_overright, box3_not_before(a, b, 0))
PREDICATE(box3d_right, box3_after(a, b, 0))
PREDICATE(box3d_below, box3_before(a, b, 1))
PREDICATE(box3d_overbelow, box3_not_after(a, b, 1))
PREDICATE(box3d_overabove, box3_not_before(a, b, 1))
PREDICATE(box3d_above, box3_after(a, b, 1))
PREDICATE(box3d_front, box3_before(a, b, 2))
PREDICATE(box3d_overfront, box3_not_after(a, b, 2))
PREDICATE(box3d_overback, box3_not_before(a, b, 2))
PREDICATE(box3d_back, box3_after(a, b, 2))

PREDICATE(box3d_eq, box3_equal(a, b))
PREDICATE(box3d_ne, !box3_equal(a, b))
PREDICATE(box3d_lt, box3_compare(a, b) < 0)
PREDICATE(box3d_le, box3_compare(a, b) <= 0)
PREDICATE(box3d_ge, box3_compare(a, b) >= 0)
PREDICATE(box3d_gt, box3_compare(a, b) > 0)

/*
 * box3d_cmp(box3d, box3d) --- order of btree: lower corner, then upper corner
 */
Datum
box3d_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(box3_compare(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1)));
}

/*
 * box3d_hash(box3d) --- equal boxes are equal bytes (no -0, no NaN), so the
 * bytes can be hashed
 */
Datum
box3d_hash(PG_FUNCTION_ARGS)
{
	return hash_any((const unsigned char *) PG_GETARG_BOX3_P(0), sizeof(Box3));
}

Datum
box3d_hash_extended(PG_FUNCTION_ARGS)
{
	return hash_any_extended((const unsigned char *) PG_GETARG_BOX3_P(0),
							 sizeof(Box3),
							 PG_GETARG_INT64(1));
}
