/*-------------------------------------------------------------------------
 *
 * test_tree_shape.c
 *	  Boxes of a tree that match shapes, and in all orders, against a look at
 *	  every box.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "shapes.h"
#include "trees.h"

#define MOST_SHAPES 3

/* a filter, with room for what it consists of */
typedef struct FilterRoom
{
	ShapeRoom room[MOST_SHAPES];
	BvhShapeProbe shapes[MOST_SHAPES];
	BvhFilter filter;
} FilterRoom;

/* the items in a range and each of the shapes */
static bool
matches(const Box3 *box, const BvhFilter *filter)
{
	for (int i = 0; i < filter->nshapes; i++)
		if (!shape_matches(&filter->shapes[i].shape, box))
			return false;
	return box3_in_range(box, &filter->range);
}

static void
make_filter(Rng *rng, const BvhItem *items, size_t n, FilterRoom *out)
{
	BvhFilter *filter = &out->filter;

	for (int lane = 0; lane < 6; lane++)
	{
		filter->range.lower[lane] = -INFINITY;
		filter->range.upper[lane] = INFINITY;
	}
	if (rng_below(rng, 3) == 0)
	{
		Box3 box = make_probe(rng, items, n);

		box3_range(all_ops[rng_below(rng, LENGTH_OF(all_ops))],
				   false,
				   &box,
				   &filter->range);
	}
	filter->shapes = out->shapes;
	filter->nshapes = rng_below(rng, 8) ? 1 : rng_below(rng, MOST_SHAPES + 1);
	for (int i = 0; i < filter->nshapes; i++)
	{
		Box3 a = make_probe(rng, items, n);
		Box3 b = make_probe(rng, items, n);
		BvhShapeOp op = filter_ops[rng_below(rng, LENGTH_OF(filter_ops))];
		BvhShape shape = rng_shape(rng, op, &a, &b, &out->room[i]);
		BoxRange range;

		shape_probe(&shape, &out->shapes[i]);
		/* as a search has it: the bounds of each shape are in the range */
		shape_range(&shape, &range);
		for (int lane = 0; lane < 6; lane++)
		{
			filter->range.lower[lane] = fmax(filter->range.lower[lane],
											 range.lower[lane]);
			filter->range.upper[lane] = fmin(filter->range.upper[lane],
											 range.upper[lane]);
		}
	}
}

static void
show_filter(const BvhFilter *filter)
{
	for (int i = 0; i < filter->nshapes; i++)
		show_shape(&filter->shapes[i].shape);
	for (int lane = 0; lane < 6; lane++)
		NOTE("lane %d: %a to %a",
			 lane,
			 filter->range.lower[lane],
			 filter->range.upper[lane]);
}

static const size_t numbers[] = {0, 1, 2, 8, 9, 64, 65, 200, 1000};

/* ---------------------------------------------------------------- in no order */

static void
check_filters(Rng *rng, const char *kind, Generator generate)
{
	static const size_t rooms[] = {1, 3, 128};

	for (int round = 0; round < 4 * LENGTH_OF(numbers); round++)
	{
		size_t n = numbers[round % LENGTH_OF(numbers)];
		BvhItem *items = make_tree_items(rng, generate, n);
		bool *wanted = must_alloc(n * sizeof(bool));
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhTree *tree = must_build(&env, items, n, (BvhBuildKind) rng_below(rng, 2));

		for (int i = 0; i < 12; i++)
		{
			size_t room = rooms[rng_below(rng, LENGTH_OF(rooms))];
			FilterRoom filter;
			BvhRangeQuery query;
			uint64_t ids[128];
			size_t nwanted = 0;
			size_t ngot;
			bool fine = true;

			make_filter(rng, items, n, &filter);
			for (size_t k = 0; k < n; k++)
			{
				wanted[k] = matches(&items[k].box, &filter.filter);
				nwanted += wanted[k];
			}
			memset(&query, 0x77, sizeof(query));
			bvh_filter_begin(&query, tree, &env, &filter.filter);
			while (fine && (ngot = bvh_range_next(&query, ids, room)) > 0)
				for (size_t k = 0; fine && k < ngot; k++)
				{
					uint64_t at = ids[k] / 3;

					fine = at < n && items[at].id == ids[k] && wanted[at];
					if (fine)
						wanted[at] = false;
					nwanted--;
				}
			if (!fine || nwanted != 0)
			{
				FAIL("%s: those that match the shapes", kind);
				NOTE("%zu boxes, room %zu, %zd missed", n, room, (ssize_t) nwanted);
				show_filter(&filter.filter);
				exit(1);
			}
		}
		bvh_tree_free(&env, tree);
		free(items);
		free(wanted);
	}
	PASS("%s: those that match the shapes", kind);
}

/* ---------------------------------------------------------------- in an order */

static int
compare_neighbours(const void *p, const void *q)
{
	const BvhNeighbour *a = p;
	const BvhNeighbour *b = q;

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

/* those that match, sorted; returns how many */
static size_t
sort_matching(const BvhItem *items, size_t n, const BvhShape *order,
			  const BvhFilter *filter, BvhNeighbour *sorted)
{
	size_t nmatching = 0;

	for (size_t i = 0; i < n; i++)
		if (matches(&items[i].box, filter))
			sorted[nmatching++] = (BvhNeighbour){shape_distance(order, &items[i].box),
												 items[i].id};
	qsort(sorted, nmatching, sizeof(BvhNeighbour), compare_neighbours);
	return nmatching;
}

static void
check_orders(Rng *rng, const char *kind, Generator generate)
{
	static const size_t rooms[] = {1, 2, 10, 100};

	for (int round = 0; round < 4 * LENGTH_OF(numbers); round++)
	{
		size_t n = numbers[round % LENGTH_OF(numbers)];
		BvhItem *items = make_tree_items(rng, generate, n);
		BvhNeighbour *want = must_alloc(n * sizeof(BvhNeighbour));
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhTree *tree = must_build(&env, items, n, (BvhBuildKind) rng_below(rng, 2));

		for (int i = 0; i < 12; i++)
		{
			size_t room = rooms[rng_below(rng, LENGTH_OF(rooms))];
			Box3 a = make_probe(rng, items, n);
			Box3 b = make_probe(rng, items, n);
			BvhShapeOp op = order_ops[i % LENGTH_OF(order_ops)];
			ShapeRoom order_room;
			BvhShape order = rng_shape(rng, op, &a, &b, &order_room);
			FilterRoom filter;
			BvhNearestQuery nearest;
			BvhNeighbour got[100];
			size_t nwanted;
			size_t ngot;
			size_t at = 0;
			bool fine = true;

			make_filter(rng, items, n, &filter);
			if (rng_below(rng, 3) == 0)
				filter.filter.nshapes = 0;
			else if (op == BVH_RAY_ENTRY && rng_below(rng, 2))
			{
				/* what the order says, too */
				BvhShape same = {BVH_MEETS_RAY, &order_room};

				filter.filter.nshapes = 1;
				shape_probe(&same, &filter.shapes[0]);
				shape_range(&same, &filter.filter.range);
			}
			nwanted = sort_matching(items, n, &order, &filter.filter, want);
			memset(&nearest, 0x77, sizeof(nearest));
			bvh_tree_order_begin(&nearest, tree, &env, &order, &filter.filter);
			do
			{
				fine = bvh_tree_nearest_next(&nearest, got, room, &ngot) == BVH_OK &&
					   ngot <= room && at + ngot <= nwanted;
				for (size_t k = 0; fine && k < ngot; k++, at++)
					fine = got[k].id == want[at].id &&
						   memcmp(&got[k].distance, &want[at].distance, sizeof(double)) ==
							   0;
			} while (fine && ngot > 0);
			bvh_tree_nearest_end(&nearest);
			if (!fine || at != nwanted)
			{
				FAIL("%s: in all orders", kind);
				NOTE("%zu boxes, room %zu, %zu of %zu right", n, room, at, nwanted);
				show_shape(&order);
				show_filter(&filter.filter);
				exit(1);
			}
		}
		bvh_tree_free(&env, tree);
		if (counter.nheld != 0)
			FAIL("%s: memory is released", kind);
		free(items);
		free(want);
	}
	PASS("%s: in all orders", kind);
}

/* ---------------------------------------------------------------- memory and work */

/* a search without memory says so, holds nothing and is over */
static void
check_memory(Rng *rng)
{
	size_t n = 20000;
	BvhItem *items = make_tree_items(rng, equal_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_SAH);
	FilterRoom filter;
	BvhShape order = {BVH_RAY_ENTRY, &filter.room[0].ray};
	BvhShape shape = {BVH_MEETS_RAY, &filter.room[1].ray};
	const double start[3] = {-5, 0.5, 0.5};
	const double direction[3] = {1, 0, 0};
	int nfailed = 0;

	/* two rays, so that no filter is implied */
	ray3_make(start, start, direction, INFINITY, &filter.room[0].ray);
	ray3_make(start, start, direction, 100.0, &filter.room[1].ray);
	shape_probe(&shape, &filter.shapes[0]);
	filter.filter.shapes = filter.shapes;
	filter.filter.nshapes = 1;
	shape_range(&shape, &filter.filter.range);
	for (long failing = 1; failing < 20; failing++)
	{
		BvhNearestQuery nearest;
		BvhNeighbour got[10];
		BvhStatus status;
		size_t ngot;

		counter.failing = counter.nallocs + failing;
		bvh_tree_order_begin(&nearest, tree, &env, &order, &filter.filter);
		status = bvh_tree_nearest_next(&nearest, got, 10, &ngot);
		if (status == BVH_OK)
		{
			OK(ngot == 10 && got[0].distance == 5.0, "with memory, boxes are found");
			bvh_tree_nearest_end(&nearest);
			break;
		}
		nfailed++;
		if (status != BVH_NO_MEMORY || ngot != 0 || counter.nheld != 1 ||
			bvh_tree_nearest_next(&nearest, got, 10, &ngot) != BVH_OK || ngot != 0)
		{
			FAIL("no memory: the search says so, holds nothing and is over");
			return;
		}
		bvh_tree_nearest_end(&nearest);
	}
	OK(nfailed > 2 && counter.nheld == 1,
	   "no memory: the search says so, holds nothing and is over");
	bvh_tree_free(&env, tree);
	free(items);
}

/* a long search gives its caller a chance to stop every few hundred boxes */
static void
check_ticks(Rng *rng)
{
	const size_t n = 20000;
	const double number[4] = {1, 0, 0, 1000};
	BvhItem *items = make_tree_items(rng, world_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_SAH);
	FilterRoom filter;
	BvhShape shape = {BVH_MEETS_PLANES, &filter.room[0]};
	BvhShape order = {BVH_TAXICAB, &items[0].box};
	BvhRangeQuery query;
	BvhNearestQuery nearest;
	BvhNeighbour got[128];
	uint64_t ids[128];
	size_t ngot;

	filter.room[0].planes.planes.n = 1;
	plane3_make(number, &filter.room[0].planes.planes.plane[0]);
	shape_probe(&shape, &filter.shapes[0]);
	filter.filter.shapes = filter.shapes;
	filter.filter.nshapes = 1;
	shape_range(&shape, &filter.filter.range);
	counter.nticks = 0;
	bvh_filter_begin(&query, tree, &env, &filter.filter);
	while (bvh_range_next(&query, ids, 128) > 0)
		;
	OK(counter.nticks >= 8, "ticks in no order: %ld", counter.nticks);
	counter.nticks = 0;
	bvh_tree_order_begin(&nearest, tree, &env, &order, &filter.filter);
	while (bvh_tree_nearest_next(&nearest, got, 128, &ngot) == BVH_OK && ngot > 0)
		;
	bvh_tree_nearest_end(&nearest);
	OK(counter.nticks >= 80, "and in an order: %ld", counter.nticks);
	bvh_tree_free(&env, tree);
	free(items);
}

/* few of many are looked at */
static void
check_work(Rng *rng)
{
	size_t n = 100000;
	BvhItem *items = make_tree_items(rng, world_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_SAH);
	double all = 0.0;
	double first = 0.0;
	double corner = 0.0;

	for (int i = 0; i < 200; i++)
	{
		FilterRoom filter;
		BvhShape shape = {BVH_MEETS_RAY, &filter.room[0].ray};
		BvhShape order = {BVH_RAY_ENTRY, &filter.room[0].ray};
		BvhRangeQuery query;
		BvhNearestQuery nearest;
		BvhNeighbour got;
		uint64_t ids[128];
		size_t ngot;
		double start[3];
		double direction[3];

		for (int d = 0; d < 3; d++)
		{
			start[d] = rng_percent(rng);
			direction[d] = rng_unit(rng) - 0.5;
		}
		ray3_make(start, start, direction, INFINITY, &filter.room[0].ray);
		shape_probe(&shape, &filter.shapes[0]);
		filter.filter.shapes = filter.shapes;
		filter.filter.nshapes = 1;
		shape_range(&shape, &filter.filter.range);
		bvh_filter_begin(&query, tree, &env, &filter.filter);
		while (bvh_range_next(&query, ids, 128) > 0)
			;
		all += (double) (query.nnodes + query.nblocks) / 200;
		bvh_tree_order_begin(&nearest, tree, &env, &order, &filter.filter);
		bvh_tree_nearest_next(&nearest, &got, 1, &ngot);
		first += (double) (nearest.nnodes + nearest.nblocks) / 200;
		bvh_tree_nearest_end(&nearest);

		/* the nearest of those near a corner, from the opposite one */
		shape = (BvhShape){BVH_IN_SPHERE, &filter.room[0].sphere};
		order = (BvhShape){BVH_TAXICAB, &filter.room[1].box};
		for (int d = 0; d < 3; d++)
			start[d] = 90 + rng_unit(rng);
		sphere3_make(start, 6.0, &filter.room[0].sphere);
		filter.room[1].box = make_point(0, 0, 0);
		shape_probe(&shape, &filter.shapes[0]);
		shape_range(&shape, &filter.filter.range);
		bvh_tree_order_begin(&nearest, tree, &env, &order, &filter.filter);
		bvh_tree_nearest_next(&nearest, &got, 1, &ngot);
		corner += (double) (nearest.nnodes + nearest.nblocks) / 200;
		bvh_tree_nearest_end(&nearest);
	}
	OK(all < 400, "all that a ray meets of 100,000: %.1f nodes and blocks", all);
	OK(first < 80, "the first that it meets: %.1f nodes and blocks", first);
	OK(corner < 80, "the nearest in a sphere: %.1f nodes and blocks", corner);
	bvh_tree_free(&env, tree);
	free(items);
}

int
main(void)
{
	Rng rng = rng_start();

	for (size_t i = 0; i < bvh_kernels_count(); i++)
		if (bvh_kernels_nth(i) != NULL)
		{
			bvh_kernels_use(bvh_kernels_nth(i));
			printf("# %s\n", bvh_kernels->name);
			for (int k = 0; k < LENGTH_OF(kinds); k++)
			{
				check_filters(&rng, kinds[k].name, kinds[k].generate);
				check_orders(&rng, kinds[k].name, kinds[k].generate);
			}
		}
	check_memory(&rng);
	check_ticks(&rng);
	check_work(&rng);
	return tap_done();
}
