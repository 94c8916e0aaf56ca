/*-------------------------------------------------------------------------
 *
 * dynamic.c
 *	  Fuzz target: any history of a dynamic tree.
 *
 * The first two bytes are the margin.  Then each step is a byte for what to do, one for
 *the proxy to do it to, and a box where one is needed.  After each step the tree is
 * sound; and now and then, and at the end, searches find what a look at every box
 * finds.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/dynamic.h"
#include "input.h"

#define MOST 200

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* the boxes by proxy */
static Box3 boxes[MOST];
static bool is_in[MOST];

static void *
env_alloc(void *context, size_t size)
{
	(void) context;
	return malloc(size);
}

static void
env_release(void *context, void *chunk)
{
	(void) context;
	free(chunk);
}

static void
env_tick(void *context)
{
	(void) context;
}

static const BvhEnv env = {env_alloc, env_release, env_tick, NULL};

static void
promise_sound(const BvhDynamic *tree)
{
	BvhTreeFault fault;
	uint64_t n = 0;

	promise(bvh_dynamic_check(tree, &fault));
	for (uint32_t proxy = 0; proxy < MOST; proxy++)
	{
		promise(bvh_dynamic_has(tree, proxy) == is_in[proxy]);
		n += is_in[proxy];
	}
	promise(bvh_dynamic_nboxes(tree) == n);
}

/* ids are proxies */
static void
promise_range(const BvhDynamic *tree, BvhOp op, const Box3 *query, size_t room)
{
	bool seen[MOST] = {false};
	BvhDynamicRange search;
	BoxRange range;
	uint64_t ids[16];
	size_t n;

	box3_range(op, false, query, &range);
	bvh_dynamic_range_begin(&search, tree, &env, &range);
	while ((n = bvh_dynamic_range_next(&search, ids, room)) > 0)
		for (size_t i = 0; i < n; i++)
		{
			promise(ids[i] < MOST && !seen[ids[i]]);
			seen[ids[i]] = true;
		}
	for (uint32_t proxy = 0; proxy < MOST; proxy++)
		promise(seen[proxy] == (is_in[proxy] && box3_in_range(&boxes[proxy], &range)));
}

static void
promise_nearest(const BvhDynamic *tree, const Box3 *query)
{
	BvhDynamicNearest nearest;
	BvhNeighbour found[MOST + 1];
	size_t n;

	bvh_dynamic_nearest_begin(&nearest, tree, &env, query, INFINITY);
	promise(bvh_dynamic_nearest_next(&nearest, found, MOST + 1, &n) == BVH_OK);
	bvh_dynamic_nearest_end(&nearest);
	promise(n == bvh_dynamic_nboxes(tree));
	for (size_t i = 0; i < n; i++)
	{
		promise(found[i].id < MOST && is_in[found[i].id] &&
				found[i].distance == box3_distance(&boxes[found[i].id], query));
		promise(i == 0 || found[i - 1].distance < found[i].distance ||
				(found[i - 1].distance == found[i].distance &&
				 found[i - 1].id < found[i].id));
	}
}

/* counted only: each pair once follows from the walk, if the number is right */
static void
promise_pairs(const BvhDynamic *tree, size_t room)
{
	BvhDynamicPairs pairs;
	BvhPair out[16];
	uint64_t nfound = 0;
	uint64_t nwant = 0;
	size_t n;

	bvh_dynamic_self_pairs_begin(&pairs, tree, &env, BVH_OVERLAPS, BVH_SELF_ONCE);
	while ((n = bvh_dynamic_pairs_next(&pairs, out, room)) > 0)
		for (size_t i = 0; i < n; i++, nfound++)
			promise(out[i].a != out[i].b &&
					box3_overlaps(&boxes[out[i].a], &boxes[out[i].b]));
	for (uint32_t a = 0; a < MOST; a++)
		for (uint32_t b = 0; b < a && is_in[a]; b++)
			nwant += is_in[b] && box3_overlaps(&boxes[a], &boxes[b]);
	promise(nfound == nwant);
}

/* one step; false at the end of the input */
static bool
step(BvhDynamic *tree, Input *input)
{
	uint8_t what = take_byte(input);
	uint32_t proxy = take_byte(input) % MOST;
	double displacement[3];
	uint32_t got;
	Box3 box;
	Box3 fat;
	bool is_needed;

	if (input->left == 0)
		return false;
	switch (what % 8)
	{
		case 0:
		case 1:
			/* the caller's id is the proxy, which is known only afterwards */
			if (!take_box(input, &box) || bvh_dynamic_nboxes(tree) == MOST)
				return input->left > 0;
			promise(bvh_dynamic_insert(tree, &box, 0, &got) == BVH_OK);
			promise(got < MOST && !is_in[got]);
			/* again with that id: the slot that is freed last is taken first */
			bvh_dynamic_remove(tree, got);
			proxy = got;
			promise(bvh_dynamic_insert(tree, &box, proxy, &got) == BVH_OK &&
					got == proxy);
			is_in[proxy] = true;
			boxes[proxy] = box;
			break;
		case 2:
			if (is_in[proxy])
				bvh_dynamic_remove(tree, proxy);
			is_in[proxy] = false;
			break;
		case 3:
		case 4:
			if (!take_box(input, &box) || !is_in[proxy])
				return input->left > 0;
			for (int d = 0; d < 3; d++)
				displacement[d] = take_coordinate(input);
			bvh_dynamic_fat_box(tree, proxy, &fat);
			is_needed = !box3_contains(&fat, &box);
			if (what % 8 == 3)
				promise(bvh_dynamic_move(tree, proxy, &box, displacement) == is_needed);
			else
				promise(bvh_dynamic_enlarge(tree, proxy, &box, displacement) ==
						is_needed);
			boxes[proxy] = box;
			break;
		case 5:
			if (take_box(input, &box) && is_in[proxy])
				boxes[proxy] = box;
			bvh_dynamic_refit(tree, boxes);
			break;
		case 6:
			promise(bvh_dynamic_rebuild(tree,
										what & 8 ? BVH_REBUILD_ALL
												 : BVH_REBUILD_CHANGED) == BVH_OK);
			break;
		default:
			if (!take_box(input, &box))
				return false;
			promise_range(tree, (BvhOp) (what / 8), &box, 1 + proxy % 16);
			promise_nearest(tree, &box);
	}
	return true;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input input = {data, size};
	double margin = take_coordinate(&input);
	Box3 everything = {{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
	BvhDynamic *tree;

	memset(boxes, 0, sizeof(boxes));
	memset(is_in, 0, sizeof(is_in));
	promise(bvh_dynamic_create(&env, margin, &tree) == BVH_OK);
	while (step(tree, &input))
		promise_sound(tree);
	promise_sound(tree);
	promise_range(tree, BVH_OVERLAPS, &everything, 3);
	promise_nearest(tree, &everything);
	promise_pairs(tree, 5);
	bvh_dynamic_free(tree);
	return 0;
}
