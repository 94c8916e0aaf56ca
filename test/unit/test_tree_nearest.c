/*-------------------------------------------------------------------------
 *
 * test_tree_nearest.c
 *	  Boxes in the order of their distance, against a sort of all.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "tap.h"
#include "trees.h"

static int
compare_neighbours(const void *p, const void *q)
{
	const BvhNeighbour *a = p;
	const BvhNeighbour *b = q;

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static BvhNeighbour *
sort_all(const BvhItem *items, size_t n, const Box3 *query)
{
	BvhNeighbour *all = must_alloc(n * sizeof(BvhNeighbour));

	for (size_t i = 0; i < n; i++)
		all[i] = (BvhNeighbour){box3_distance(&items[i].box, query), items[i].id};
	qsort(all, n, sizeof(BvhNeighbour), compare_neighbours);
	return all;
}

static void
check_kind(Rng *rng, const char *kind, Generator generate)
{
	static const size_t numbers[] = {0, 1, 2, 8, 9, 64, 65, 200, 1000};
	static const size_t rooms[] = {1, 2, 10, 100};

	for (int round = 0; round < 8 * LENGTH_OF(numbers); round++)
	{
		size_t n = numbers[round % LENGTH_OF(numbers)];
		size_t room = rooms[rng_below(rng, LENGTH_OF(rooms))];
		BvhItem *items = make_tree_items(rng, generate, n);
		Box3 query = make_probe(rng, items, n);
		BvhNeighbour *want = sort_all(items, n, &query);
		double most = n > 0 && rng_below(rng, 2) ? want[rng_below(rng, (int) n)].distance
												 : INFINITY;
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhTree *tree = must_build(&env, items, n, (BvhBuildKind) rng_below(rng, 2));
		BvhNearestQuery nearest;
		BvhNeighbour got[100];
		size_t nwant = 0;
		size_t at = 0;
		size_t ngot;
		bool fine = true;

		while (nwant < n && want[nwant].distance <= most)
			nwant++;
		memset(&nearest, 0x77, sizeof(nearest));
		bvh_tree_nearest_begin(&nearest, tree, &env, &query, most);
		do
		{
			fine = bvh_tree_nearest_next(&nearest, got, room, &ngot) == BVH_OK &&
				   ngot <= room && at + ngot <= nwant;
			for (size_t i = 0; fine && i < ngot; i++, at++)
				fine = got[i].id == want[at].id &&
					   memcmp(&got[i].distance, &want[at].distance, sizeof(double)) == 0;
		} while (fine && ngot > 0);
		fine = fine && at == nwant;
		bvh_tree_nearest_end(&nearest);
		bvh_tree_free(&env, tree);
		free(items);
		free(want);
		if (!fine || counter.nheld != 0)
		{
			FAIL("%s: in the order of the distance, then of the id", kind);
			NOTE("%zu boxes, room %zu, %zu of %zu right", n, room, at, nwant);
			show_box("query", &query);
			return;
		}
	}
	PASS("%s: in the order of the distance, then of the id", kind);
}

/* a search that is given up, and one without memory, hold nothing afterwards */
static void
check_memory(Rng *rng)
{
	size_t n = 20000;
	BvhItem *items = make_tree_items(rng, equal_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_SAH);
	Box3 query = make_point(5, 5, 5);
	BvhNearestQuery nearest;
	BvhNeighbour got[10];
	size_t ngot;
	int nfailed = 0;

	bvh_tree_nearest_begin(&nearest, tree, &env, &query, INFINITY);
	OK(bvh_tree_nearest_next(&nearest, got, 10, &ngot) == BVH_OK && ngot == 10 &&
		   counter.nheld == 2,
	   "equal distances make a long queue");
	bvh_tree_nearest_end(&nearest);
	bvh_tree_nearest_end(&nearest);
	OK(counter.nheld == 1, "which is released at the end");

	for (long failing = 1; failing < 20; failing++)
	{
		BvhStatus status;

		counter.failing = counter.nallocs + failing;
		bvh_tree_nearest_begin(&nearest, tree, &env, &query, INFINITY);
		status = bvh_tree_nearest_next(&nearest, got, 10, &ngot);
		if (status == BVH_OK)
		{
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

/* few of many are looked at, and none beyond the bound */
static void
check_work(Rng *rng)
{
	size_t n = 100000;
	BvhItem *items = make_tree_items(rng, far_from_zero, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_SAH);
	double work = 0.0;
	double bounded = 0.0;

	for (int i = 0; i < 200; i++)
	{
		Box3 query = items[rng_below(rng, (int) n)].box;
		BvhNearestQuery nearest;
		BvhNeighbour got[10];
		size_t ngot;

		bvh_tree_nearest_begin(&nearest, tree, &env, &query, INFINITY);
		bvh_tree_nearest_next(&nearest, got, 10, &ngot);
		work += (double) (nearest.nnodes + nearest.nblocks) / 200;
		bvh_tree_nearest_end(&nearest);
		bvh_tree_nearest_begin(&nearest, tree, &env, &query, 0.0);
		while (bvh_tree_nearest_next(&nearest, got, 10, &ngot) == BVH_OK && ngot > 0)
			;
		bounded += (double) (nearest.nnodes + nearest.nblocks) / 200;
		bvh_tree_nearest_end(&nearest);
	}
	OK(work < 40, "10 of 100,000: %.1f nodes and blocks", work);
	OK(bounded < 25, "those at no distance: %.1f nodes and blocks", bounded);
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
				check_kind(&rng, kinds[k].name, kinds[k].generate);
		}
	check_memory(&rng);
	check_work(&rng);
	return tap_done();
}
