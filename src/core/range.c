/*-------------------------------------------------------------------------
 *
 * range.c
 *	  From an operator and a query box to ranges over six lanes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/range.h"

/*
 * box3_matches --- the plain definition of "b op query"
 *
 * False for an operator that does not filter.
 */
bool
box3_matches(const Box3 *b, BvhOp op, const Box3 *query)
{
	switch (op)
	{
		case BVH_LEFT:
			return box3_before(b, query, 0);
		case BVH_OVERLEFT:
			return box3_not_after(b, query, 0);
		case BVH_OVERLAPS:
			return box3_overlaps(b, query);
		case BVH_OVERRIGHT:
			return box3_not_before(b, query, 0);
		case BVH_RIGHT:
			return box3_after(b, query, 0);
		case BVH_SAME:
		case BVH_EQUAL:
			return box3_equal(b, query);
		case BVH_CONTAINS:
			return box3_contains(b, query);
		case BVH_CONTAINED_BY:
			return box3_contains(query, b);
		case BVH_OVERBELOW:
			return box3_not_after(b, query, 1);
		case BVH_BELOW:
			return box3_before(b, query, 1);
		case BVH_ABOVE:
			return box3_after(b, query, 1);
		case BVH_OVERABOVE:
			return box3_not_before(b, query, 1);
		case BVH_FRONT:
			return box3_before(b, query, 2);
		case BVH_OVERFRONT:
			return box3_not_after(b, query, 2);
		case BVH_OVERBACK:
			return box3_not_before(b, query, 2);
		case BVH_BACK:
			return box3_after(b, query, 2);
		case BVH_OVERLAPS_STRICTLY:
			return box3_overlaps_strictly(b, query);
		case BVH_DISTANCE:
			return false;
	}
	return false;
}

static void
at_most(BoxRange *range, int lane, double limit)
{
	range->upper[lane] = limit;
}

static void
at_least(BoxRange *range, int lane, double limit)
{
	range->lower[lane] = limit;
}

/* nothing is below -Infinity: that lane matches no value at all */
static void
less_than(BoxRange *range, int lane, double limit)
{
	if (limit == -INFINITY)
		range->lower[lane] = INFINITY;
	range->upper[lane] = nextafter(limit, -INFINITY);
}

static void
more_than(BoxRange *range, int lane, double limit)
{
	if (limit == INFINITY)
		range->upper[lane] = -INFINITY;
	range->lower[lane] = nextafter(limit, INFINITY);
}

/* one side operator along axis d; lanes d and d + 3 are lo and hi */
static void
side_range(BoxRange *range, BvhOp op, bool reversed, const Box3 *query, int d)
{
	switch (op)
	{
		case BVH_LEFT: /* box.hi < q.lo; reversed q.hi < box.lo */
			if (reversed)
				more_than(range, d, query->hi[d]);
			else
				less_than(range, d + 3, query->lo[d]);
			break;
		case BVH_OVERLEFT: /* box.hi <= q.hi; reversed q.hi <= box.hi */
			if (reversed)
				at_least(range, d + 3, query->hi[d]);
			else
				at_most(range, d + 3, query->hi[d]);
			break;
		case BVH_OVERRIGHT: /* box.lo >= q.lo; reversed q.lo >= box.lo */
			if (reversed)
				at_most(range, d, query->lo[d]);
			else
				at_least(range, d, query->lo[d]);
			break;
		default: /* box.lo > q.hi; reversed q.lo > box.hi */
			BVH_ASSERT(op == BVH_RIGHT);
			if (reversed)
				less_than(range, d + 3, query->lo[d]);
			else
				more_than(range, d, query->hi[d]);
			break;
	}
}

/*
 * box3_range --- the boxes b with "b op query", or "query op b" if reversed
 *
 * False when the operator is none that filters; the range then holds
 * everything.
 */
bool
box3_range(BvhOp op, bool reversed, const Box3 *query, BoxRange *range)
{
	for (int lane = 0; lane < 6; lane++)
	{
		range->lower[lane] = -INFINITY;
		range->upper[lane] = INFINITY;
	}
	if (reversed && op == BVH_CONTAINS)
		op = BVH_CONTAINED_BY;
	else if (reversed && op == BVH_CONTAINED_BY)
		op = BVH_CONTAINS;

	switch (op)
	{
		case BVH_OVERLAPS:
			for (int d = 0; d < 3; d++)
			{
				at_most(range, d, query->hi[d]);
				at_least(range, d + 3, query->lo[d]);
			}
			return true;
		case BVH_OVERLAPS_STRICTLY:
			for (int d = 0; d < 3; d++)
			{
				less_than(range, d, query->hi[d]);
				more_than(range, d + 3, query->lo[d]);
			}
			return true;
		case BVH_SAME:
		case BVH_EQUAL:
			for (int d = 0; d < 3; d++)
			{
				range->lower[d] = range->upper[d] = query->lo[d];
				range->lower[d + 3] = range->upper[d + 3] = query->hi[d];
			}
			return true;
		case BVH_CONTAINS:
			for (int d = 0; d < 3; d++)
			{
				at_most(range, d, query->lo[d]);
				at_least(range, d + 3, query->hi[d]);
			}
			return true;
		case BVH_CONTAINED_BY:
			for (int d = 0; d < 3; d++)
			{
				at_least(range, d, query->lo[d]);
				at_most(range, d + 3, query->hi[d]);
			}
			return true;
		case BVH_LEFT:
		case BVH_OVERLEFT:
		case BVH_OVERRIGHT:
		case BVH_RIGHT:
			side_range(range, op, reversed, query, 0);
			return true;
		case BVH_BELOW:
			side_range(range, BVH_LEFT, reversed, query, 1);
			return true;
		case BVH_OVERBELOW:
			side_range(range, BVH_OVERLEFT, reversed, query, 1);
			return true;
		case BVH_OVERABOVE:
			side_range(range, BVH_OVERRIGHT, reversed, query, 1);
			return true;
		case BVH_ABOVE:
			side_range(range, BVH_RIGHT, reversed, query, 1);
			return true;
		case BVH_FRONT:
			side_range(range, BVH_LEFT, reversed, query, 2);
			return true;
		case BVH_OVERFRONT:
			side_range(range, BVH_OVERLEFT, reversed, query, 2);
			return true;
		case BVH_OVERBACK:
			side_range(range, BVH_OVERRIGHT, reversed, query, 2);
			return true;
		case BVH_BACK:
			side_range(range, BVH_RIGHT, reversed, query, 2);
			return true;
		case BVH_DISTANCE:
			return false;
	}
	return false;
}

/*
 * box3_node_range --- the union boxes below which a box in range may lie
 *
 * A box in range has lo <= upper[d] and lo <= hi <= upper[d + 3], and a union
 * box starts no later than any of its boxes; the other end likewise.  Never
 * misses; may let pass a node that holds nothing.
 */
void
box3_node_range(const BoxRange *range, BoxRange *node)
{
	for (int d = 0; d < 3; d++)
	{
		node->lower[d] = -INFINITY;
		node->upper[d] = fmin(range->upper[d], range->upper[d + 3]);
		node->lower[d + 3] = fmax(range->lower[d], range->lower[d + 3]);
		node->upper[d + 3] = INFINITY;
	}
}
