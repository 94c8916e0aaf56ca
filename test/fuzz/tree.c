/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  Fuzz target: any boxes as a tree in memory.
 *
 * A byte says how to build it and with which kernels, the next the operator; a
 * query box follows, and the boxes.  The tree is sound, and gives what a look
 * at every box gives: what is in range, what is nearest, and all pairs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"
#include "input.h"

#define MOST 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *
take_memory(void *context, size_t size)
{
	(void) context;
	return malloc(size);
}

static void
give_memory(void *context, void *chunk)
{
	(void) context;
	free(chunk);
}

static void
no_tick(void *context)
{
	(void) context;
}

static const BvhEnv env = {take_memory, give_memory, no_tick, NULL};

static void
search_range(const BvhTree *tree, const BvhItem *items, int n, const BoxRange *range)
{
	BvhRangeQuery query;
	bool seen[MOST] = {false};
	uint64_t ids[7];
	size_t nfound;

	bvh_range_begin(&query, tree, &env, range);
	while ((nfound = bvh_range_next(&query, ids, 7)) > 0)
		for (size_t i = 0; i < nfound; i++)
		{
			promise(ids[i] < (uint64_t) n && !seen[ids[i]]);
			seen[ids[i]] = true;
		}
	for (int i = 0; i < n; i++)
		promise(seen[i] == box3_in_range(&items[i].box, range));
}

static void
search_nearest(const BvhTree *tree, const BvhItem *items, int n, const Box3 *query)
{
	BvhNearestQuery nearest;
	BvhNeighbour last = {-1.0, 0};
	bool seen[MOST] = {false};
	BvhNeighbour got;
	size_t ngot;

	bvh_tree_nearest_begin(&nearest, tree, &env, query, INFINITY);
	for (int i = 0; i < n; i++)
	{
		promise(bvh_tree_nearest_next(&nearest, &got, 1, &ngot) == BVH_OK && ngot == 1);
		promise(got.id < (uint64_t) n && !seen[got.id]);
		seen[got.id] = true;
		promise(got.distance == box3_distance(&items[got.id].box, query));
		promise(got.distance > last.distance ||
				(got.distance == last.distance && got.id > last.id));
		last = got;
	}
	promise(bvh_tree_nearest_next(&nearest, &got, 1, &ngot) == BVH_OK && ngot == 0);
	bvh_tree_nearest_end(&nearest);
}

static void
search_pairs(const BvhTree *tree, const BvhItem *items, int n)
{
	static BvhPairs pairs;
	static uint8_t seen[MOST][MOST];
	BvhPair out[5];
	size_t nfound;

	memset(seen, 0, sizeof(seen));
	bvh_self_pairs_begin(&pairs, tree, &env, BVH_OVERLAPS, BVH_SELF_ONCE);
	while ((nfound = bvh_pairs_next(&pairs, out, 5)) > 0)
		for (size_t i = 0; i < nfound; i++)
		{
			promise(out[i].a < (uint64_t) n && out[i].b < (uint64_t) n);
			promise(!seen[out[i].a][out[i].b] && !seen[out[i].b][out[i].a]);
			seen[out[i].a][out[i].b] = 1;
		}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			promise((seen[i][j] | seen[j][i]) ==
					box3_overlaps(&items[i].box, &items[j].box));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input input = {data, size};
	uint8_t how = take_byte(&input);
	BvhOp op = (BvhOp) (take_byte(&input) % 40);
	BvhBuildOptions options = {.kind = how & 1 ? BVH_BUILD_HILBERT : BVH_BUILD_SAH};
	const BvhKernels *kernels = bvh_kernels_nth((how >> 1) % bvh_kernels_count());
	static BvhItem items[MOST];
	BvhTreeFault fault;
	BvhTreeStats stats;
	BvhTree *tree;
	BoxRange range;
	Box3 query;
	int n = 0;

	if (!take_box(&input, &query))
		return 0;
	for (; n < MOST && take_box(&input, &items[n].box); n++)
		items[n].id = (uint64_t) n;
	if (kernels != NULL)
		bvh_kernels_use(kernels);

	promise(bvh_tree_build(&env, items, (size_t) n, &options, &tree) == BVH_OK);
	promise(bvh_tree_check(tree, bvh_tree_size(tree), &fault));
	promise(bvh_tree_size(tree) <= bvh_tree_largest_size((size_t) n));
	bvh_tree_stats(tree, &stats);
	promise(stats.cost >= 0.0);
	box3_range(op, false, &query, &range);
	search_range(tree, items, n, &range);
	search_nearest(tree, items, n, &query);
	search_pairs(tree, items, n);
	bvh_tree_free(&env, tree);
	return 0;
}
