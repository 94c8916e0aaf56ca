/*-------------------------------------------------------------------------
 *
 * shape.c
 *	  Operators between a box and what is no box, and distances of other kinds.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/shape.h"

#include "core/planes3.h"
#include "core/sphere3.h"

/* shape_filters --- is it an operator that a box matches or not? */
bool
shape_filters(int op)
{
	return op == BVH_MEETS_RAY || (op >= BVH_MEETS_SPHERE && op <= BVH_IN_PLANES);
}

/* shape_is_containment --- is it one that a smaller box matches more easily? */
bool
shape_is_containment(int op)
{
	return op == BVH_IN_SPHERE || op == BVH_IN_PLANES;
}

/* shape_orders --- is it one by which boxes are ordered? */
bool
shape_orders(int op)
{
	return op == BVH_RAY_ENTRY || op == BVH_TAXICAB || op == BVH_CHEBYSHEV;
}

/*
 * shape_range --- a range that holds every box that matches a filter
 */
void
shape_range(const BvhShape *shape, BoxRange *range)
{
	Box3 bounds = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
	BvhOp op = shape_is_containment(shape->op) ? BVH_CONTAINED_BY : BVH_OVERLAPS;

	if (shape->op == BVH_MEETS_RAY)
		ray3_bounds(shape->operand, &bounds);
	else if (shape->op == BVH_MEETS_SPHERE || shape->op == BVH_IN_SPHERE)
	{
		const Sphere3 *sphere = shape->operand;
		Box3 center = sphere3_center(sphere);

		box3_reach(&center, sphere->radius, &bounds);
	}
	box3_range(op, false, &bounds, range);
}

/*
 * shape_matches --- does the box match a filter?
 */
bool
shape_matches(const BvhShape *shape, const Box3 *b)
{
	switch (shape->op)
	{
		case BVH_MEETS_RAY:
			return ray3_meets(shape->operand, b);
		case BVH_MEETS_SPHERE:
			return sphere3_meets(shape->operand, b);
		case BVH_IN_SPHERE:
			return sphere3_contains(shape->operand, b);
		case BVH_MEETS_PLANES:
			return planes3_meet(shape->operand, b);
		case BVH_IN_PLANES:
			return planes3_contain(shape->operand, b);
		case BVH_EUCLIDEAN:
		case BVH_RAY_ENTRY:
		case BVH_TAXICAB:
		case BVH_CHEBYSHEV:
			break;
	}
	return false;
}

/*
 * shape_may_match_below --- may a box match that the node contains?
 *
 * Never misses: what meets a box meets every box around it, and so does what
 * contains it.
 */
bool
shape_may_match_below(const BvhShape *shape, const Box3 *node)
{
	switch (shape->op)
	{
		case BVH_IN_SPHERE:
			return sphere3_meets(shape->operand, node);
		case BVH_IN_PLANES:
			return planes3_meet(shape->operand, node);
		default:
			return shape_matches(shape, node);
	}
}

/* shape_probe --- make a filter ready to be tested for often */
void
shape_probe(const BvhShape *shape, BvhShapeProbe *probe)
{
	probe->shape = *shape;
	if (shape->op == BVH_MEETS_RAY)
		ray3_probe(shape->operand, &probe->ray);
}

/*
 * shape_select --- which of the n selected boxes of a page match, or may match
 * below
 *
 * Box i is at base + offset[i], aligned to 8 bytes; all are in shape_range(),
 * or for nodes in the node range of that.  Their numbers are in selected, and
 * those of the boxes that match stay in it, in the same order; returns how many.
 */
int
shape_select(const BvhShapeProbe *probe, const char *base, const uint16_t *offset,
			 bool is_leaf, uint16_t *selected, int n)
{
	const BvhShape *shape = &probe->shape;
	int nmatching = 0;

	if (shape->op == BVH_MEETS_RAY)
		return ray3_select(shape->operand, &probe->ray, base, offset, selected, n);
	for (int i = 0; i < n; i++)
	{
		const Box3 *b = (const Box3 *) (base + offset[selected[i]]);

		selected[nmatching] = selected[i];
		nmatching += is_leaf ? shape_matches(shape, b) : shape_may_match_below(shape, b);
	}
	return nmatching;
}

/*
 * shape_distance --- the value of an operator that orders, which for a node is
 * never above that of a box that it contains
 */
double
shape_distance(const BvhShape *shape, const Box3 *b)
{
	switch (shape->op)
	{
		case BVH_EUCLIDEAN:
			return box3_distance(b, shape->operand);
		case BVH_RAY_ENTRY:
			return ray3_entry(shape->operand, b);
		case BVH_TAXICAB:
			return box3_taxicab(b, shape->operand);
		default:
			BVH_ASSERT(shape->op == BVH_CHEBYSHEV);
			return box3_chebyshev(b, shape->operand);
	}
}
