/*-------------------------------------------------------------------------
 *
 * shape.h
 *	  Operators between a box and what is no box, and distances of other kinds.
 *
 * A search by such an operator is a range over six lanes (core/range.h), which
 * is cheap and leaves out nothing, and a test of each box that is in it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_SHAPE_H
#define BVH_SHAPE_H

#include "core/range.h"
#include "core/ray3.h"

/*
 * The values are strategy numbers in pg_amop, as those of BvhOp are, and apart
 * from them: so the number tells the type of the operand.
 */
typedef enum BvhShapeOp
{
	BVH_EUCLIDEAN = BVH_DISTANCE, /* <-> box3d, which is BvhOp's, among the distances */

	BVH_MEETS_RAY = 41,    /* && ray3d */
	BVH_RAY_ENTRY = 42,    /* <-> ray3d, orders and never filters */
	BVH_MEETS_SPHERE = 43, /* && sphere3d */
	BVH_IN_SPHERE = 44,    /* <@ sphere3d */
	BVH_MEETS_PLANES = 45, /* && planes3d */
	BVH_IN_PLANES = 46,    /* <@ planes3d */
	BVH_TAXICAB = 47,      /* <#> box3d, orders and never filters */
	BVH_CHEBYSHEV = 48     /* <=> box3d, orders and never filters */
} BvhShapeOp;

/* an operator and its operand: a Ray3, Sphere3, Planes3 or Box3 */
typedef struct BvhShape
{
	BvhShapeOp op;
	const void *operand;
} BvhShape;

/* one made ready to be tested for often; the operand must stay */
typedef struct BvhShapeProbe
{
	BvhShape shape;
	RayProbe ray; /* of BVH_MEETS_RAY */
} BvhShapeProbe;

/* what a search is for: boxes in a range that match all of the shapes, which must stay */
typedef struct BvhFilter
{
	BoxRange range;
	const BvhShapeProbe *shapes;
	int nshapes;
} BvhFilter;

extern bool shape_filters(int op);
extern bool shape_is_containment(int op);
extern void shape_range(const BvhShape *shape, BoxRange *range);
extern bool shape_matches(const BvhShape *shape, const Box3 *b);
extern bool shape_may_match_below(const BvhShape *shape, const Box3 *node);
extern void shape_probe(const BvhShape *shape, BvhShapeProbe *probe);
extern int shape_select(const BvhShapeProbe *probe, const char *base,
						const uint16_t *offset, bool is_leaf, uint16_t *selected, int n);
extern bool shape_orders(int op);
extern double shape_distance(const BvhShape *shape, const Box3 *b);

#endif /* BVH_SHAPE_H */
