/*-------------------------------------------------------------------------
 *
 * test_tree_forget.c
 *	  Boxes that leave a tree, and places in the stead of ids.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "tap.h"
#include "trees.h"

static bool
every_third(void *context, uint64_t id)
{
	(*(size_t *) context)++;
	return id % 9 == 1;
}

/* is that what the item's id says? */
static bool
is_at(const BvhTree *tree, uint64_t place, const BvhItem *items, size_t n)
{
	uint64_t id = bvh_tree_id(tree, place);
	Box3 box;

	bvh_tree_box(tree, place, &box);
	return id % 3 == 1 && id / 3 < n &&
		   memcmp(&box, &items[id / 3].box, sizeof(Box3)) == 0;
}

/* all places are found once by a range, and in order by distance */
static void
check_places(const BvhTree *tree, const BvhEnv *env, const BvhItem *items, size_t n)
{
	BoxRange all;
	BvhRangeQuery range;
	BvhNearestQuery nearest;
	BvhNeighbour next;
	Box3 center = make_point(1, 2, 3);
	uint8_t *seen = must_alloc(n + 1);
	uint64_t places[7];
	size_t nfound = 0;
	size_t ngot;
	bool fine = true;

	memset(seen, 0, n + 1);
	for (int lane = 0; lane < 6; lane++)
	{
		all.lower[lane] = -INFINITY;
		all.upper[lane] = INFINITY;
	}
	bvh_range_begin(&range, tree, env, &all);
	range.gives_places = true;
	while ((ngot = bvh_range_next(&range, places, LENGTH_OF(places))) > 0)
		for (size_t i = 0; i < ngot; i++, nfound++)
		{
			fine &= is_at(tree, places[i], items, n);
			fine &= seen[bvh_tree_id(tree, places[i]) / 3]++ == 0;
		}
	OK(fine && nfound == n, "a search by range gives places");

	fine = true;
	bvh_tree_nearest_begin(&nearest, tree, env, &center, INFINITY);
	nearest.gives_places = true;
	for (nfound = 0;
		 bvh_tree_nearest_next(&nearest, &next, 1, &ngot) == BVH_OK && ngot > 0;
		 nfound++)
	{
		Box3 box;

		bvh_tree_box(tree, next.id, &box);
		fine &= is_at(tree, next.id, items, n);
		fine &= next.distance == box3_distance(&box, &center);
	}
	bvh_tree_nearest_end(&nearest);
	OK(fine && nfound == n, "so does one by distance");
	free(seen);
}

static void
check_forget(BvhTree *tree, const BvhEnv *env, size_t n)
{
	BvhRangeQuery range;
	BoxRange all;
	uint64_t ids[64];
	size_t nasked = 0;
	size_t want = 0;
	size_t nalive = 0;
	size_t ngot;
	bool fine = true;

	for (size_t i = 0; i < n; i++)
		want += (3 * i + 1) % 9 == 1;
	OK(bvh_tree_forget_if(tree, env, every_third, &nasked) == want,
	   "the dead are forgotten");
	OK(nasked == n, "each box is asked for once");
	nasked = 0;
	OK(bvh_tree_forget_if(tree, env, every_third, &nasked) == 0 && nasked == n - want,
	   "and not again");

	for (int lane = 0; lane < 6; lane++)
	{
		all.lower[lane] = -INFINITY;
		all.upper[lane] = INFINITY;
	}
	bvh_range_begin(&range, tree, env, &all);
	while ((ngot = bvh_range_next(&range, ids, LENGTH_OF(ids))) > 0)
		for (size_t i = 0; i < ngot; i++)
		{
			nalive += ids[i] != BVH_FORGOTTEN;
			fine &= ids[i] == BVH_FORGOTTEN || ids[i] % 9 != 1;
		}
	OK(fine && nalive == n - want, "the others are there");
}

int
main(void)
{
	static const size_t numbers[] = {0, 1, 8, 9, 100, 3000};
	Rng rng = rng_start();

	for (size_t i = 0; i < LENGTH_OF(numbers); i++)
		for (int kind = 0; kind < 2; kind++)
		{
			size_t n = numbers[i];
			BvhItem *items = make_tree_items(&rng, world_boxes, n);
			Counter work_counter;
			Counter home_counter;
			BvhEnv env = counter_env(&work_counter);
			BvhEnv home = counter_env(&home_counter);
			BvhBuildOptions options = {.kind = (BvhBuildKind) kind, .home = &home};
			BvhTree *tree;

			if (bvh_tree_build(&env, items, n, &options, &tree) != BVH_OK)
				abort();
			OK(work_counter.nheld == 0 && home_counter.nheld == 1,
			   "the tree has a home of its own");
			check_places(tree, &env, items, n);
			check_forget(tree, &env, n);
			bvh_tree_free(&home, tree);
			OK(home_counter.nheld == 0, "and leaves nothing there");
			free(items);
		}
	return tap_done();
}
