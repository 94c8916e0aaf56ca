/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  Fuzz target: any boxes as a tree in memory.
 *
 * A byte says how to build it and with which kernels, the next the operator; a
 * query box follows, and the boxes.  The tree is sound, and gives what a look
 * at every box gives: what is in range, what is nearest, what matches shapes that
 * are made of the query box, in every order, and all pairs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/planes3.h"
#include "core/simd/kernels.h"
#include "core/sphere3.h"
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

/* by a shape, in no order and in each, where it is one */
static void
search_shape(const BvhTree *tree, const BvhItem *items, int n, const BvhShape *shape,
			 const BvhShape *orders, int norders)
{
	BvhShapeProbe probe;
	BvhFilter filter = {.shapes = &probe, .nshapes = 1};
	BvhRangeQuery query;
	bool matches[MOST];
	uint64_t ids[7];
	size_t nfound;
	int nmatching = 0;
	int nseen = 0;

	shape_probe(shape, &probe);
	shape_range(shape, &filter.range);
	for (int i = 0; i < n; i++)
	{
		matches[i] = shape_matches(shape, &items[i].box);
		nmatching += matches[i];
	}
	bvh_filter_begin(&query, tree, &env, &filter);
	while ((nfound = bvh_range_next(&query, ids, 7)) > 0)
		for (size_t i = 0; i < nfound; i++, nseen++)
			promise(ids[i] < (uint64_t) n && matches[ids[i]]);
	promise(nseen == nmatching);
	for (int k = 0; k < norders; k++)
	{
		BvhNearestQuery nearest;
		BvhNeighbour last = {-1.0, 0};
		BvhNeighbour got;
		size_t ngot;

		bvh_tree_order_begin(&nearest, tree, &env, &orders[k], &filter);
		for (int i = 0; i < nmatching; i++)
		{
			promise(bvh_tree_nearest_next(&nearest, &got, 1, &ngot) == BVH_OK &&
					ngot == 1);
			promise(got.id < (uint64_t) n && matches[got.id]);
			promise(got.distance == shape_distance(&orders[k], &items[got.id].box));
			promise(got.distance > last.distance ||
					(got.distance == last.distance && got.id > last.id));
			last = got;
		}
		promise(bvh_tree_nearest_next(&nearest, &got, 1, &ngot) == BVH_OK && ngot == 0);
		bvh_tree_nearest_end(&nearest);
	}
}

static void
search_shapes(const BvhTree *tree, const BvhItem *items, int n, const Box3 *query)
{
	union
	{
		Planes3 planes;
		char room[PLANES3_SIZE(1)];
	} plane;
	const double number[4] = {query->lo[0], query->lo[1], query->lo[2], query->hi[0]};
	double direction[3];
	Box3 target;
	Sphere3 sphere;
	Ray3 ray;
	BvhShape orders[] = {{BVH_EUCLIDEAN, query},
						 {BVH_TAXICAB, query},
						 {BVH_CHEBYSHEV, query},
						 {BVH_RAY_ENTRY, &ray}};

	if (sphere3_make(query->lo, fabs(query->hi[0]), &sphere) == NULL)
		for (int op = BVH_MEETS_SPHERE; op <= BVH_IN_SPHERE; op++)
			search_shape(tree,
						 items,
						 n,
						 &(BvhShape){(BvhShapeOp) op, &sphere},
						 orders,
						 3);
	plane.planes.n = 1;
	if (plane3_make(number, &plane.planes.plane[0]) == NULL)
		for (int op = BVH_MEETS_PLANES; op <= BVH_IN_PLANES; op++)
			search_shape(tree, items, n, &(BvhShape){(BvhShapeOp) op, &plane}, orders, 3);
	/* towards the first box */
	target = n > 0 ? items[0].box : *query;
	for (int d = 0; d < 3; d++)
		direction[d] = target.lo[d] - query->lo[d];
	if (ray3_make(query->lo, query->lo, direction, INFINITY, &ray) == RAY3_OK)
		search_shape(tree, items, n, &(BvhShape){BVH_MEETS_RAY, &ray}, orders, 4);
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
	search_shapes(tree, items, n, &query);
	search_pairs(tree, items, n);
	bvh_tree_free(&env, tree);
	return 0;
}
