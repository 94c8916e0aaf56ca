/*-------------------------------------------------------------------------
 *
 * test_range.c
 *	  Operators as ranges: a box is in range when it matches, and a node's
 *	  range never loses a box below it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/range.h"
#include "tap.h"

static const struct Operator
{
	BvhOp op;
	const char *name;
} operators[] = {
	{BVH_LEFT, "<<"},
	{BVH_OVERLEFT, "&<"},
	{BVH_OVERLAPS, "&&"},
	{BVH_OVERRIGHT, "&>"},
	{BVH_RIGHT, ">>"},
	{BVH_SAME, "~="},
	{BVH_CONTAINS, "@>"},
	{BVH_CONTAINED_BY, "<@"},
	{BVH_OVERBELOW, "&<|"},
	{BVH_BELOW, "<<|"},
	{BVH_ABOVE, "|>>"},
	{BVH_OVERABOVE, "|&>"},
	{BVH_EQUAL, "="},
	{BVH_FRONT, "<</"},
	{BVH_OVERFRONT, "&</"},
	{BVH_OVERBACK, "/&>"},
	{BVH_BACK, "/>>"},
	{BVH_OVERLAPS_STRICTLY, "&&+"},
};

static bool
matches(const Box3 *b, BvhOp op, bool reversed, const Box3 *query)
{
	return reversed ? box3_matches(query, op, b) : box3_matches(b, op, query);
}

/*
 * Both answers must be common, or the agreement would say little: equal boxes
 * and such come from the few whole coordinates.
 */
static void
range_is_the_operator(Rng *rng, const struct Operator *o, bool reversed)
{
	const char *side = reversed ? "query op box" : "box op query";
	int nmatching = 0;
	int ndiffering = 0;

	for (int i = 0; i < 30000; i++)
	{
		Box3 query = rng_any_box(rng);
		Box3 box = rng_below(rng, 16) ? rng_any_box(rng) : query;
		bool want = matches(&box, o->op, reversed, &query);
		BoxRange range;

		if (!box3_range(o->op, reversed, &query, &range) ||
			box3_in_range(&box, &range) != want)
		{
			FAIL("%s as a range, %s", o->name, side);
			show_box("box", &box);
			show_box("query", &query);
			return;
		}
		nmatching += want;
		ndiffering += !want;
	}
	OK(nmatching > 500 && ndiffering > 500, "%s as a range, %s", o->name, side);
}

/* every pair of sides out of few values: all ways to touch, on one axis */
static void
range_on_each_axis(const struct Operator *o, bool reversed)
{
	static const double bound[] =
		{-INFINITY, -LARGEST, -DENORM_MIN, 0.0, DENORM_MIN, LARGEST, INFINITY};
	const int n = LENGTH_OF(bound);

	for (int d = 0; d < 3; d++)
		for (int i = 0; i < n * n * n * n; i++)
		{
			Box3 box = make_box(0, 0, 0, 1, 1, 1);
			Box3 query = box;
			BoxRange range;

			box.lo[d] = bound[i % n];
			box.hi[d] = bound[i / n % n];
			query.lo[d] = bound[i / n / n % n];
			query.hi[d] = bound[i / n / n / n];
			if (box.lo[d] > box.hi[d] || query.lo[d] > query.hi[d])
				continue;
			box3_range(o->op, reversed, &query, &range);
			if (box3_in_range(&box, &range) != matches(&box, o->op, reversed, &query))
			{
				FAIL("%s%s with sides that touch", o->name, reversed ? " reversed" : "");
				show_box("box", &box);
				show_box("query", &query);
				return;
			}
		}
	PASS("%s%s with sides that touch", o->name, reversed ? " reversed" : "");
}

static void
node_never_loses(Rng *rng, const struct Operator *o, bool reversed)
{
	const char *side = reversed ? "query op box" : "box op query";
	int nreached = 0;

	for (int i = 0; i < 10000; i++)
	{
		Box3 query = rng_any_box(rng);
		Box3 boxes[6];
		Box3 node;
		BoxRange range;
		BoxRange node_range;
		bool any = false;
		int n = rng_int(rng, 1, LENGTH_OF(boxes));

		box3_range(o->op, reversed, &query, &range);
		box3_node_range(&range, &node_range);
		for (int k = 0; k < n; k++)
		{
			boxes[k] = rng_below(rng, 16) ? rng_any_box(rng) : query;
			if (k == 0)
				node = boxes[k];
			box3_include(&node, &boxes[k]);
			any |= box3_in_range(&boxes[k], &range);
		}
		if (any && !box3_in_range(&node, &node_range))
		{
			FAIL("%s loses nothing below a node, %s", o->name, side);
			show_box("node", &node);
			show_box("query", &query);
			return;
		}
		nreached += any;
	}
	OK(nreached > 500, "%s loses nothing below a node, %s", o->name, side);
}

/*
 * Nodes with sides of 10 and a query in the middle of a world of 100, with
 * sides of 10, too.  Containing more than the node holds, and overlapping or
 * being inside of what it does not reach, rule out nearly all of them; a side
 * operator about half.  A node range that said yes to all would prune none.
 */
static void
node_prunes(Rng *rng, const struct Operator *o, bool reversed)
{
	Box3 query = make_box(45, 45, 45, 55, 55, 55);
	BoxRange range;
	BoxRange node_range;
	bool is_local = true;
	int npruned = 0;

	switch (o->op)
	{
		case BVH_OVERLAPS:
		case BVH_OVERLAPS_STRICTLY:
		case BVH_SAME:
		case BVH_EQUAL:
		case BVH_CONTAINS:
		case BVH_CONTAINED_BY:
			break;
		default:
			is_local = false;
	}
	box3_range(o->op, reversed, &query, &range);
	box3_node_range(&range, &node_range);
	for (int i = 0; i < 1000; i++)
	{
		Box3 node = rng_world_box(rng, 0.0);

		for (int d = 0; d < 3; d++)
			node.hi[d] += 10.0;
		npruned += !box3_in_range(&node, &node_range);
	}
	OK(is_local ? npruned > 950 : npruned > 250 && npruned < 750,
	   "%s%s prunes nodes",
	   o->name,
	   reversed ? " reversed" : "");
}

static void
distance_does_not_filter(Rng *rng)
{
	Box3 query = rng_any_box(rng);
	BoxRange range;
	BoxRange node_range;

	OK(!box3_range(BVH_DISTANCE, false, &query, &range) &&
		   !box3_range(BVH_DISTANCE, true, &query, &range),
	   "<-> is no filter");
	OK(!box3_range((BvhOp) 0, false, &query, &range), "nor is what is no operator");
	OK(!box3_matches(&query, BVH_DISTANCE, &query), "and matches nothing");
	box3_node_range(&range, &node_range);
	for (int i = 0; i < 10000; i++)
	{
		Box3 box = rng_any_box(rng);

		if (!box3_in_range(&box, &range) || !box3_in_range(&box, &node_range))
		{
			FAIL("the range of what does not filter holds everything");
			show_box("box", &box);
			return;
		}
	}
	PASS("the range of what does not filter holds everything");
}

/* the search of several operators at once is the intersection of their ranges */
static void
ranges_intersect(Rng *rng)
{
	for (int i = 0; i < 50000; i++)
	{
		const struct Operator *o = &operators[rng_below(rng, LENGTH_OF(operators))];
		const struct Operator *p = &operators[rng_below(rng, LENGTH_OF(operators))];
		Box3 box = rng_any_box(rng);
		Box3 first = rng_any_box(rng);
		Box3 second = rng_any_box(rng);
		BoxRange range;
		BoxRange other;

		box3_range(o->op, false, &first, &range);
		box3_range(p->op, false, &second, &other);
		for (int lane = 0; lane < 6; lane++)
		{
			range.lower[lane] = fmax(range.lower[lane], other.lower[lane]);
			range.upper[lane] = fmin(range.upper[lane], other.upper[lane]);
		}
		if (box3_in_range(&box, &range) !=
			(box3_matches(&box, o->op, &first) && box3_matches(&box, p->op, &second)))
		{
			FAIL("two operators are the intersection of two ranges");
			NOTE("%s and %s", o->name, p->name);
			show_box("box", &box);
			show_box("first", &first);
			show_box("second", &second);
			return;
		}
	}
	PASS("two operators are the intersection of two ranges");
}

static void
nan_misses(void)
{
	Box3 all = make_box(-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY);
	BoxRange range;
	int nhits = 0;

	box3_range(BVH_OVERLAPS, false, &all, &range);
	for (int i = 0; i < 6; i++)
	{
		Box3 box = make_box(0, 0, 0, 1, 1, 1);

		*(i < 3 ? &box.lo[i] : &box.hi[i - 3]) = NAN;
		nhits += box3_in_range(&box, &range);
	}
	OK(nhits == 0, "a box with NaN, from a damaged page, is in no range");
}

int
main(void)
{
	Rng rng = rng_start();

	for (int i = 0; i < LENGTH_OF(operators); i++)
		for (int reversed = 0; reversed < 2; reversed++)
		{
			range_is_the_operator(&rng, &operators[i], reversed);
			range_on_each_axis(&operators[i], reversed);
			node_never_loses(&rng, &operators[i], reversed);
			node_prunes(&rng, &operators[i], reversed);
		}
	distance_does_not_filter(&rng);
	ranges_intersect(&rng);
	nan_misses();
	return tap_done();
}
