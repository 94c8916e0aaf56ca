/*-------------------------------------------------------------------------
 *
 * shape.c
 *	  Operators between a box and what is no box.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/shape.h"

#include "core/ray3.h"

/* shape_filters --- is it an operator that a box matches or not? */
bool
shape_filters(int op)
{
	return op == BVH_MEETS_RAY;
}

/* shape_orders --- is it one by which boxes are ordered? */
bool
shape_orders(int op)
{
	return op == BVH_RAY_ENTRY;
}

/*
 * shape_range --- a range that holds every box that matches
 */
void
shape_range(const BvhShape *shape, BoxRange *range)
{
	Box3 bounds;

	ray3_bounds(shape->operand, &bounds);
	box3_range(BVH_OVERLAPS, false, &bounds, range);
}

/*
 * shape_matches --- does the box match the operator?
 */
bool
shape_matches(const BvhShape *shape, const Box3 *b)
{
	return ray3_meets(shape->operand, b);
}

/*
 * shape_may_match_below --- may a box match that the node contains?
 *
 * Never misses.
 */
bool
shape_may_match_below(const BvhShape *shape, const Box3 *node)
{
	return ray3_meets(shape->operand, node);
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
shape_select(const BvhShape *shape, const char *base, const uint16_t *offset,
			 bool is_leaf, uint16_t *selected, int n)
{
	/* nodes are met like boxes */
	(void) is_leaf;
	return ray3_select(shape->operand, base, offset, selected, n);
}

/*
 * shape_distance --- the value of an operator that orders, which for a node is
 * never above that of a box that it contains
 */
double
shape_distance(const BvhShape *shape, const Box3 *b)
{
	return ray3_entry(shape->operand, b);
}
