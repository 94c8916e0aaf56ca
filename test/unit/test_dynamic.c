/*-------------------------------------------------------------------------
 *
 * test_dynamic.c
 *	  The dynamic tree: after any history it is sound and as good as promised,
 *	  and a search finds what a look at every box finds.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include <setjmp.h>

#include "core/dynamic_node.h"
#include "tap.h"
#include "trees.h"

#define MOST 400

/* what should be in the tree, by proxy */
typedef struct Model
{
	BvhDynamic *tree;
	Box3 box[MOST];
	bool is_in[MOST];
	bool is_moved[MOST];
	uint32_t n;
} Model;

static uint64_t
id_of(uint32_t proxy)
{
	return UINT64_C(3) * proxy + 1;
}

static uint32_t
random_proxy(Rng *rng, const Model *model)
{
	for (;;)
	{
		uint32_t proxy = (uint32_t) rng_below(rng, MOST);

		if (model->is_in[proxy])
			return proxy;
	}
}

/* ---------------------------------------------------------------- searches */

static bool
finds_range(const Model *model, const BvhEnv *env, const BoxRange *range, size_t room)
{
	bool seen[MOST] = {false};
	BvhDynamicRange query;
	uint64_t ids[64];
	bool is_last = false;
	size_t n;

	memset(&query, 0x77, sizeof(query));
	bvh_dynamic_range_begin(&query, model->tree, env, range);
	while ((n = bvh_dynamic_range_next(&query, ids, room)) > 0)
	{
		if (n > room || is_last)
			return false;
		is_last = n < room;
		for (size_t i = 0; i < n; i++)
		{
			if (ids[i] % 3 != 1 || ids[i] / 3 >= MOST || seen[ids[i] / 3])
				return false;
			seen[ids[i] / 3] = true;
		}
	}
	for (uint32_t proxy = 0; proxy < MOST; proxy++)
		if (seen[proxy] !=
			(model->is_in[proxy] && box3_in_range(&model->box[proxy], range)))
			return false;
	return true;
}

static int
compare_neighbours(const void *va, const void *vb)
{
	const BvhNeighbour *a = va;
	const BvhNeighbour *b = vb;

	if (a->distance != b->distance)
		return a->distance < b->distance ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

static bool
finds_nearest(const Model *model, const BvhEnv *env, const Box3 *query, double most,
			  size_t room)
{
	static BvhNeighbour want[MOST];
	static BvhNeighbour got[MOST + 64];
	BvhDynamicNearest nearest;
	size_t nwant = 0;
	size_t ngot = 0;
	size_t n;

	for (uint32_t proxy = 0; proxy < MOST; proxy++)
		if (model->is_in[proxy])
		{
			double distance = box3_distance(&model->box[proxy], query);

			if (distance <= most)
				want[nwant++] = (BvhNeighbour){distance, id_of(proxy)};
		}
	qsort(want, nwant, sizeof(want[0]), compare_neighbours);
	memset(&nearest, 0x77, sizeof(nearest));
	bvh_dynamic_nearest_begin(&nearest, model->tree, env, query, most);
	do
	{
		if (bvh_dynamic_nearest_next(&nearest, got + ngot, room, &n) != BVH_OK)
			return false;
		ngot += n;
	} while (n == room && ngot <= MOST);
	bvh_dynamic_nearest_end(&nearest);
	if (ngot != nwant)
		return false;
	for (size_t i = 0; i < nwant; i++)
		if (got[i].distance != want[i].distance || got[i].id != want[i].id)
			return false;
	return true;
}

/* how often each pair was given, by the proxies of both */
static uint8_t given[MOST][MOST];

static bool
take_pairs(const BvhPair *pairs, size_t n, bool is_once)
{
	for (size_t i = 0; i < n; i++)
	{
		uint64_t a = pairs[i].a / 3;
		uint64_t b = pairs[i].b / 3;

		if (pairs[i].a % 3 != 1 || pairs[i].b % 3 != 1 || a >= MOST || b >= MOST)
			return false;
		if (is_once && a > b)
		{
			uint64_t t = a;

			a = b;
			b = t;
		}
		if (given[a][b]++)
			return false;
	}
	return true;
}

static bool
finds_self_pairs(const Model *model, const BvhEnv *env, BvhOp op, BvhSelfMode mode,
				 size_t room)
{
	BvhDynamicPairs pairs;
	BvhPair out[64];
	size_t n;

	memset(&pairs, 0x77, sizeof(pairs));
	memset(given, 0, sizeof(given));
	bvh_dynamic_self_pairs_begin(&pairs, model->tree, env, op, mode);
	while ((n = bvh_dynamic_pairs_next(&pairs, out, room)) > 0)
		if (n > room || !take_pairs(out, n, mode == BVH_SELF_ONCE))
			return false;
	for (uint32_t a = 0; a < MOST; a++)
		for (uint32_t b = 0; b < MOST; b++)
		{
			bool want = model->is_in[a] && model->is_in[b] &&
						box3_matches(&model->box[a], op, &model->box[b]) &&
						(mode == BVH_SELF_ALL || a != b) &&
						(mode != BVH_SELF_ONCE || a < b);

			if (given[a][b] != want)
				return false;
		}
	return true;
}

static bool
finds_moved_pairs(const Model *model, const BvhEnv *env, BvhOp op, size_t room)
{
	static uint32_t moved[MOST];
	static BvhProbes probes;
	BvhPair out[64];
	size_t nmoved = 0;
	size_t n;

	for (uint32_t proxy = 0; proxy < MOST; proxy++)
		if (model->is_in[proxy] && model->is_moved[proxy])
			moved[nmoved++] = proxy;
	memset(&probes, 0x77, sizeof(probes));
	memset(given, 0, sizeof(given));
	bvh_moved_pairs_begin(&probes, model->tree, moved, nmoved, env, op);
	while ((n = bvh_probes_next(&probes, out, room)) > 0)
		if (n > room || !take_pairs(out, n, true))
			return false;
	for (uint32_t a = 0; a < MOST; a++)
		for (uint32_t b = 0; b < MOST; b++)
		{
			bool want = a < b && model->is_in[a] && model->is_in[b] &&
						(model->is_moved[a] || model->is_moved[b]) &&
						box3_matches(&model->box[a], op, &model->box[b]);

			if (given[a][b] != want)
				return false;
		}
	return true;
}

/* with another tree: dynamic, and static */
static bool
finds_pairs(const Model *a, const Model *b, const BvhEnv *env, BvhOp op, size_t room)
{
	static BvhItem items[MOST];
	static BvhProbes probes;
	BvhDynamicPairs pairs;
	BvhPair out[64];
	BvhTree *tree;
	size_t nitems = 0;
	size_t n;

	for (uint32_t proxy = 0; proxy < MOST; proxy++)
		if (b->is_in[proxy])
			items[nitems++] = (BvhItem){b->box[proxy], id_of(proxy)};
	tree = must_build(env, items, nitems, BVH_BUILD_SAH);
	for (int way = 0; way < 2; way++)
	{
		memset(&pairs, 0x77, sizeof(pairs));
		memset(&probes, 0x77, sizeof(probes));
		memset(given, 0, sizeof(given));
		bvh_dynamic_pairs_begin(&pairs, a->tree, b->tree, env, op);
		bvh_probes_begin(&probes, a->tree, NULL, 0, tree, env, op);
		while ((n = way == 0 ? bvh_dynamic_pairs_next(&pairs, out, room)
							 : bvh_probes_next(&probes, out, room)) > 0)
			if (n > room || !take_pairs(out, n, false))
				return false;
		for (uint32_t i = 0; i < MOST; i++)
			for (uint32_t j = 0; j < MOST; j++)
				if (given[i][j] != (a->is_in[i] && b->is_in[j] &&
									box3_matches(&a->box[i], op, &b->box[j])))
					return false;
	}
	bvh_tree_free(env, tree);
	return true;
}

/* ---------------------------------------------------------------- histories */

static bool
is_sound(const Model *model)
{
	BvhTreeFault fault;

	if (!bvh_dynamic_check(model->tree, &fault))
	{
		NOTE("invariant %d, node %u: %s", fault.number, fault.node, fault.message);
		return false;
	}
	if (bvh_dynamic_nboxes(model->tree) != model->n)
		return false;
	for (uint32_t proxy = 0; proxy < MOST; proxy++)
	{
		Box3 box;

		if (bvh_dynamic_has(model->tree, proxy) != model->is_in[proxy])
			return false;
		if (!model->is_in[proxy])
			continue;
		bvh_dynamic_box(model->tree, proxy, &box);
		if (!box3_equal(&box, &model->box[proxy]) ||
			bvh_dynamic_id(model->tree, proxy) != id_of(proxy))
			return false;
	}
	return true;
}

/* ids are made of proxies, and the next of those is known */
static bool
insert(Model *model, const Box3 *box)
{
	uint32_t next = model->tree->free_leaf != DYNAMIC_NONE ? model->tree->free_leaf
														   : model->tree->nfresh_leaves;
	uint32_t proxy;

	if (bvh_dynamic_insert(model->tree, box, id_of(next), &proxy) != BVH_OK ||
		proxy != next || model->is_in[proxy])
		return false;
	model->is_in[proxy] = true;
	model->is_moved[proxy] = true;
	model->box[proxy] = *box;
	model->n++;
	return true;
}

/* a movement by up to so much, which may be none; or to anywhere */
static Box3
moved_box(Rng *rng, const Box3 *box, const Box3 *anywhere, double displacement[3])
{
	Box3 moved = *box;

	for (int d = 0; d < 3; d++)
	{
		displacement[d] = rng_between(rng, -1, 1);
		moved.lo[d] += displacement[d];
		moved.hi[d] += displacement[d];
	}
	return rng_below(rng, 3) && box3_is_valid(&moved) ? moved : *anywhere;
}

static bool
step(Rng *rng, Model *model, Generator generate, size_t i, size_t nsteps)
{
	Box3 box = generate(rng, i, nsteps);
	double displacement[3];
	Box3 fat;
	Box3 moved;
	uint32_t proxy;
	bool was_within;
	bool has_changed;
	int what = rng_below(rng, 100);

	/* it fills, and empties again */
	if (model->n == 0 || (model->n < MOST && what < (i % 1000 < 700 ? 45 : 20)))
		return insert(model, &box);
	proxy = random_proxy(rng, model);
	bvh_dynamic_fat_box(model->tree, proxy, &fat);
	if (what < 60)
	{
		bvh_dynamic_remove(model->tree, proxy);
		model->is_in[proxy] = false;
		model->n--;
	}
	else if (what < 98)
	{
		moved = moved_box(rng, &model->box[proxy], &box, displacement);
		was_within = box3_contains(&fat, &moved);
		has_changed = (what < 85 ? bvh_dynamic_move
								 : bvh_dynamic_enlarge)(model->tree,
														proxy,
														&moved,
														what % 2 ? displacement : NULL);
		model->box[proxy] = moved;
		model->is_moved[proxy] = true;
		return has_changed == !was_within;
	}
	else if (what == 98)
	{
		for (proxy = 0; proxy < MOST; proxy++)
			if (model->is_in[proxy] && rng_below(rng, 2))
				model->box[proxy] = generate(rng, proxy, MOST);
		bvh_dynamic_refit(model->tree, model->box);
	}
	else if (bvh_dynamic_rebuild(model->tree,
								 rng_below(rng, 4) ? BVH_REBUILD_CHANGED
												   : BVH_REBUILD_ALL) != BVH_OK)
		return false;
	return true;
}

static bool
searches_agree(Rng *rng, const Model *model, const Model *other, const BvhEnv *env)
{
	static const BvhOp pair_ops[] = {BVH_OVERLAPS,
									 BVH_OVERLAPS_STRICTLY,
									 BVH_SAME,
									 BVH_EQUAL,
									 BVH_CONTAINS,
									 BVH_CONTAINED_BY};
	static const size_t rooms[] = {1, 2, 3, 7, 64};
	size_t room = rooms[rng_below(rng, LENGTH_OF(rooms))];
	BvhOp op = pair_ops[rng_below(rng, LENGTH_OF(pair_ops))];
	BvhOp symmetric = pair_ops[rng_below(rng, 4)];

	for (int i = 0; i < LENGTH_OF(all_ops); i++)
	{
		Box3 probe = rng_any_box(rng);
		BoxRange range;

		if (model->n > 0 && rng_below(rng, 3))
			probe = model->box[random_proxy(rng, model)];
		box3_range(all_ops[i], rng_below(rng, 2), &probe, &range);
		if (!finds_range(model, env, &range, room))
			return false;
		if (i % 6 == 0 && !finds_nearest(model, env, &probe, INFINITY, room))
			return false;
		if (i % 6 == 1 && !finds_nearest(model, env, &probe, rng_percent(rng), room))
			return false;
	}
	return finds_self_pairs(model,
							env,
							symmetric,
							(BvhSelfMode) rng_below(rng, 3),
							room) &&
		   finds_moved_pairs(model, env, symmetric, room) &&
		   finds_pairs(model, other, env, op, room);
}

static void
test_histories(Rng *rng)
{
	static Model model;
	static Model other;

	for (int k = 0; k < LENGTH_OF(kinds); k++)
	{
		const size_t nsteps = 2800;
		Counter counter;
		BvhEnv env = counter_env(&counter);
		double margin = rng_below(rng, 3) * 0.5;
		bool passed = true;
		int highest = 0;

		memset(&model, 0, sizeof(model));
		memset(&other, 0, sizeof(other));
		bvh_dynamic_create(&env, margin, &model.tree);
		bvh_dynamic_create(&env, margin, &other.tree);
		for (int i = 0; i < 100; i++)
		{
			Box3 box = kinds[k].generate(rng, (size_t) i, 100);

			passed &= insert(&other, &box);
		}
		for (size_t i = 0; i < nsteps && passed; i++)
		{
			BvhDynamicStats stats;

			passed = step(rng, &model, kinds[k].generate, i, nsteps);
			if (passed && (i < 50 || i % 40 == 0))
				passed = is_sound(&model);
			if (passed && (i < 6 || i % 400 == 399))
			{
				passed = searches_agree(rng, &model, &other, &env);
				memset(model.is_moved, 0, sizeof(model.is_moved));
				bvh_dynamic_stats(model.tree, &stats);
				highest = stats.height > highest ? stats.height : highest;
			}
			if (!passed)
				NOTE("at step %zu of %s", i, kinds[k].name);
		}
		bvh_dynamic_free(model.tree);
		bvh_dynamic_free(other.tree);
		OK(passed && counter.nheld == 0,
		   "a history of boxes, %s: sound, and searches agree (height %d)",
		   kinds[k].name,
		   highest);
	}
}

/* ---------------------------------------------------------------- fat boxes */

static void
test_fat_boxes(void)
{
	Counter counter;
	BvhEnv env = counter_env(&counter);
	Box3 box = make_box(0, 0, 0, 1, 1, 1);
	Box3 moved = make_box(2, 0, 0, 3, 1, 1);
	Box3 fat;
	Box3 want = make_box(1.5, -0.5, -4.5, 7.5, 1.5, 1.5);
	Box3 nan_moved = make_box(100, 0, 0, 101, 1, 1);
	BvhDynamic *tree;
	uint32_t proxy[2];

	bvh_dynamic_create(&env, 0.5, &tree);
	bvh_dynamic_insert(tree, &box, 1, &proxy[0]);
	bvh_dynamic_insert(tree, &box, 2, &proxy[1]);
	bvh_dynamic_fat_box(tree, proxy[0], &fat);
	OK(fat.lo[0] == -0.5 && fat.hi[2] == 1.5, "a fat box is larger by the margin");
	OK(bvh_dynamic_move(tree, proxy[0], &moved, (const double[]){1, 0, -1}),
	   "a box that leaves its fat box changes the tree");
	bvh_dynamic_fat_box(tree, proxy[0], &fat);
	OK(box3_equal(&fat, &want), "a fat box reaches ahead, four times the displacement");
	moved = make_box(5, 0, -3, 6, 1, -2);
	OK(!bvh_dynamic_move(tree, proxy[0], &moved, NULL),
	   "a box within its fat box changes nothing");
	OK(bvh_dynamic_move(tree,
						proxy[0],
						&nan_moved,
						(const double[]){NAN, INFINITY, -INFINITY}),
	   "a displacement may be anything");
	bvh_dynamic_fat_box(tree, proxy[0], &fat);
	OK(box3_is_valid(&fat) && fat.lo[0] == 99.5 && fat.hi[0] == 101.5 &&
		   fat.hi[1] == INFINITY && fat.lo[2] == -INFINITY,
	   "what is NaN of it counts as none");
	bvh_dynamic_free(tree);
}

/* ---------------------------------------------------------------- memory */

static jmp_buf escape;
static long until_escape;

/* chunks of an environment that is left by a jump */
static void *held[64];
static int nheld;

static void
jump_when_due(void)
{
	if (--until_escape == 0)
		longjmp(escape, 1);
}

static void *
jumping_alloc(void *context, size_t size)
{
	jump_when_due();
	held[nheld] = counter_alloc(context, size);
	return held[nheld++];
}

static void
jumping_release(void *context, void *chunk)
{
	int i = 0;

	while (held[i] != chunk)
		i++;
	held[i] = held[--nheld];
	counter_release(context, chunk);
}

static void
jumping_tick(void *context)
{
	(void) context;
	jump_when_due();
}

static BvhStatus
try_insert(BvhDynamic *tree, const Box3 *box, uint32_t *proxy)
{
	if (setjmp(escape) != 0)
		return BVH_NO_MEMORY;
	return bvh_dynamic_insert(tree, box, 0, proxy);
}

static BvhStatus
try_rebuild(BvhDynamic *tree, BvhRebuildKind kind)
{
	if (setjmp(escape) != 0)
		return BVH_NO_MEMORY;
	return bvh_dynamic_rebuild(tree, kind);
}

/* every node and leaf, byte by byte */
static uint64_t
hash_of(const BvhDynamic *tree)
{
	uint64_t hash = 1;

	for (uint32_t i = 0; i < tree->nfresh_leaves; i++)
		if (tree->leaves[i].is_used)
			hash = hash * 31 + tree->leaves[i].link + 7 * (tree->leaves[i].id + 1);
	for (uint32_t i = 0; i < tree->nfresh_nodes; i++)
		for (int side = 0; side < 2; side++)
		{
			const DynamicBranch *branch = &tree->nodes[i].branch[side];
			uint64_t bits[6];

			memcpy(bits, &branch->box, sizeof(bits));
			for (int k = 0; k < 6; k++)
				hash = (hash ^ bits[k]) * UINT64_C(0x9E3779B97F4A7C15);
			hash = hash * 31 + branch->ref * 7 + branch->link + branch->nleaves;
		}
	return hash;
}

/*
 * An insert that grows the pool, and a rebuild, with every allocation failing
 * in turn; or every callback not returning.
 */
static void
test_failures(Rng *rng, bool jumps)
{
	static Model model;
	static BvhNeighbour out[MOST];
	BvhDynamicNearest nearest;
	Box3 at = make_point(50, 50, 50);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	bool passed = true;
	long nfailed = 0;
	long before;
	size_t nfound;

	memset(&model, 0, sizeof(model));
	nheld = 0;
	until_escape = 0;
	if (jumps)
		env = (BvhEnv){jumping_alloc, jumping_release, jumping_tick, &counter};
	if (bvh_dynamic_create(&env, 0.0, &model.tree) != BVH_OK)
		abort();
	for (int step = 0; step < MOST && passed; step++)
	{
		bool is_insert = step % 60 < 58;
		BvhRebuildKind kind = step % 2 ? BVH_REBUILD_ALL : BVH_REBUILD_CHANGED;
		Box3 box = rng_world_box(rng, 5.0);
		uint64_t hash = hash_of(model.tree);
		uint32_t proxy = 0;

		before = counter.nheld;
		for (long failing = 1;; failing++)
		{
			BvhStatus status;

			counter.failing = jumps ? 0 : counter.nallocs + failing;
			until_escape = jumps ? failing : 0;
			status = is_insert ? try_insert(model.tree, &box, &proxy)
							   : try_rebuild(model.tree, kind);
			counter.failing = until_escape = 0;
			if (status == BVH_OK)
				break;
			nfailed++;
			/* what the caller does after a jump; the tree has the oldest */
			while (jumps && nheld > before)
				jumping_release(&counter, held[nheld - 1]);
			passed &= counter.nheld == before && hash_of(model.tree) == hash &&
					  is_sound(&model);
		}
		if (is_insert)
		{
			model.is_in[proxy] = true;
			model.box[proxy] = box;
			model.n++;
			model.tree->leaves[proxy].id = id_of(proxy);
		}
		passed &= is_sound(&model);
	}
	before = counter.nheld;
	counter.failing = jumps ? 0 : counter.nallocs + 1;
	bvh_dynamic_nearest_begin(&nearest, model.tree, &env, &at, INFINITY);
	passed &= bvh_dynamic_nearest_next(&nearest, out, MOST, &nfound) == BVH_NO_MEMORY ||
			  jumps;
	bvh_dynamic_nearest_end(&nearest);
	passed &= counter.nheld == before;
	bvh_dynamic_free(model.tree);
	OK(passed && nfailed > 50 && counter.nheld == 0,
	   "%s leaves the tree as it was (%ld times)",
	   jumps ? "a callback that does not return" : "a failed allocation",
	   nfailed);
}

/* ---------------------------------------------------------------- quality */

static BvhDynamic *
new_tree(const BvhEnv *env)
{
	BvhDynamic *tree;

	if (bvh_dynamic_create(env, 0.0, &tree) != BVH_OK)
		abort();
	return tree;
}

/* cost relative to that of a tree that is built from the same fat boxes */
static double
quality_of(const BvhDynamic *tree, const BvhEnv *env, int *height)
{
	BvhDynamic *fresh = new_tree(env);
	BvhDynamicStats stats;
	BvhDynamicStats fresh_stats;

	for (uint32_t proxy = 0; proxy < bvh_dynamic_nproxies(tree); proxy++)
		if (bvh_dynamic_has(tree, proxy))
		{
			uint32_t its;
			Box3 fat;

			bvh_dynamic_fat_box(tree, proxy, &fat);
			if (bvh_dynamic_insert(fresh, &fat, 0, &its) != BVH_OK)
				abort();
		}
	if (bvh_dynamic_rebuild(fresh, BVH_REBUILD_ALL) != BVH_OK)
		abort();
	bvh_dynamic_stats(tree, &stats);
	bvh_dynamic_stats(fresh, &fresh_stats);
	bvh_dynamic_free(fresh);
	*height = stats.height;
	return stats.cost / fresh_stats.cost;
}

static Box3
sorted_along_x(Rng *rng, size_t i, size_t n)
{
	Box3 b = rng_world_box(rng, 2.0);
	double length = b.hi[0] - b.lo[0];

	b.lo[0] = 100.0 * (double) i / (double) n;
	b.hi[0] = b.lo[0] + length;
	return b;
}

/* nested ones, each half as large as the one before */
static Box3
halves(Rng *rng, size_t i, size_t n)
{
	double s = ldexp(1.0, -(int) (i % 1000));

	(void) rng;
	(void) n;
	return make_box(0, 0, 0, s, s, s);
}

static Box3
point_of_halves(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	(void) n;
	return make_point(ldexp(1.0, -(int) (i % 1000)), 0, 0);
}

static Box3
diagonal(Rng *rng, size_t i, size_t n)
{
	(void) rng;
	(void) n;
	return make_point((double) i, (double) i, (double) i);
}

static Box3
grid(Rng *rng, size_t i, size_t n)
{
	double x = (double) (i % 20);
	double y = (double) (i / 20 % 20);
	double z = (double) (i / 400);

	(void) rng;
	(void) n;
	return make_box(x, y, z, x + 1, y + 1, z + 1);
}

static void
test_inserted(Rng *rng)
{
	static const struct
	{
		const char *name;
		Generator generate;
		double most;
		int height;
	} cases[] = {
		{"random", world_boxes, 1.6, 40},
		{"sorted", sorted_along_x, 1.8, 40},
		{"a grid, row by row", grid, 1.7, 50},
		{"equal", equal_boxes, 1.01, 14},
		{"on a line", collinear, 1.2, 25},
		{"on a line, downwards", collinear_down, 1.2, 25},
		{"on a diagonal", diagonal, 1.2, 25},
		{"2^-i, nested", halves, 1.2, BVH_DYNAMIC_HEIGHT},
		{"2^-i, points", point_of_halves, 1.2, BVH_DYNAMIC_HEIGHT},
		{"nested, growing", nested, 1.2, BVH_DYNAMIC_HEIGHT},
		{"with a common corner, growing", corner, 1.2, BVH_DYNAMIC_HEIGHT},
		{"some infinite", infinite, 1.8, 60},
		{"some giants", some_giants, 1.4, 60},
		{"all sizes", all_sizes, 1.5, BVH_DYNAMIC_HEIGHT},
		{"clusters far apart", far_clusters, 1.5, 50},
	};

	for (int k = 0; k < LENGTH_OF(cases); k++)
	{
		const size_t n = 8000;
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhDynamic *tree = new_tree(&env);
		BvhTreeFault fault;
		double quality;
		int height;

		for (size_t i = 0; i < n; i++)
		{
			Box3 box = cases[k].generate(rng, i, n);
			uint32_t proxy;

			if (bvh_dynamic_insert(tree, &box, i, &proxy) != BVH_OK)
				abort();
		}
		quality = quality_of(tree, &env, &height);
		OK(bvh_dynamic_check(tree, &fault) && quality <= cases[k].most &&
			   height <= cases[k].height,
		   "inserted, %s: cost %.3f of a fresh build's (at most %.2f), height %d (%d)",
		   cases[k].name,
		   quality,
		   cases[k].most,
		   height,
		   cases[k].height);
		bvh_dynamic_free(tree);
	}
}

/* boxes come and go and move, for as many steps as there are boxes, several times */
static void
test_aged(Rng *rng)
{
	enum
	{
		N = 8000
	};
	static uint32_t proxies[N];
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhDynamic *tree = new_tree(&env);
	BvhDynamicStats stats;
	double quality;
	double worst = 0.0;
	int height;

	for (int i = 0; i < N; i++)
	{
		Box3 box = rng_world_box(rng, 2.0);

		if (bvh_dynamic_insert(tree, &box, i, &proxies[i]) != BVH_OK)
			abort();
	}
	for (int round = 0; round < 5; round++)
	{
		for (int i = 0; i < N; i++)
		{
			int which = rng_below(rng, N);
			Box3 box = rng_world_box(rng, 2.0);

			bvh_dynamic_remove(tree, proxies[which]);
			if (bvh_dynamic_insert(tree, &box, which, &proxies[which]) != BVH_OK)
				abort();
		}
		quality = quality_of(tree, &env, &height);
		worst = quality > worst ? quality : worst;
	}
	OK(worst <= 1.6, "after random inserts and removals: cost %.3f (at most 1.6)", worst);

	worst = 0.0;
	for (int round = 0; round < 5; round++)
	{
		for (int i = 0; i < N; i++)
		{
			Box3 box = rng_world_box(rng, 2.0);

			bvh_dynamic_move(tree, proxies[rng_below(rng, N)], &box, NULL);
		}
		quality = quality_of(tree, &env, &height);
		worst = quality > worst ? quality : worst;
	}
	OK(worst <= 2.0,
	   "after random moves, without rotations: cost %.3f (at most 2)",
	   worst);

	bvh_dynamic_rebuild(tree, BVH_REBUILD_ALL);
	quality = quality_of(tree, &env, &height);
	OK(quality == 1.0, "a whole rebuild is a fresh build: cost %.3f", quality);

	/* a twentieth moves, here and there */
	worst = 0.0;
	for (int round = 0; round < 20; round++)
	{
		for (int i = 0; i < N / 20; i++)
		{
			uint32_t proxy = proxies[rng_below(rng, N)];
			double displacement[3];
			Box3 box;

			bvh_dynamic_box(tree, proxy, &box);
			for (int d = 0; d < 3; d++)
			{
				displacement[d] = rng_between(rng, -2, 2);
				box.lo[d] += displacement[d];
				box.hi[d] += displacement[d];
			}
			if (round % 2)
				bvh_dynamic_enlarge(tree, proxy, &box, NULL);
			else
				bvh_dynamic_move(tree, proxy, &box, NULL);
		}
		bvh_dynamic_stats(tree, &stats);
		if (bvh_dynamic_rebuild(tree, BVH_REBUILD_CHANGED) != BVH_OK)
			abort();
		quality = quality_of(tree, &env, &height);
		worst = quality > worst ? quality : worst;
		if (round == 0)
			OK(quality <= 1.15,
			   "after a rebuild of what changed, %.0f%% of the nodes: cost %.3f (at most "
			   "1.15)",
			   100.0 * (double) stats.nchanged / (double) stats.nnodes,
			   quality);
	}
	OK(worst <= 1.25, "after twenty of them: cost %.3f (at most 1.25)", worst);

	/* a corner of the world only: most of the tree is kept */
	bvh_dynamic_rebuild(tree, BVH_REBUILD_ALL);
	for (int i = 0; i < N; i++)
	{
		Box3 box;

		bvh_dynamic_box(tree, proxies[i], &box);
		if (box.lo[0] > 20 || box.lo[1] > 20 || box.lo[2] > 20)
			continue;
		for (int d = 0; d < 3; d++)
		{
			box.lo[d] += 1;
			box.hi[d] += 1;
		}
		bvh_dynamic_enlarge(tree, proxies[i], &box, NULL);
	}
	bvh_dynamic_stats(tree, &stats);
	bvh_dynamic_rebuild(tree, BVH_REBUILD_CHANGED);
	quality = quality_of(tree, &env, &height);
	OK(quality <= 1.15 && stats.nchanged * 10 < stats.nnodes && stats.nchanged > 0,
	   "after a rebuild of what changed in a corner, %.1f%% of the nodes: cost %.3f",
	   100.0 * (double) stats.nchanged / (double) stats.nnodes,
	   quality);

	for (int i = 0; i < N; i++)
		bvh_dynamic_remove(tree, proxies[i]);
	bvh_dynamic_stats(tree, &stats);
	OK(stats.nboxes == 0 && stats.height == 0, "all boxes can leave");
	bvh_dynamic_free(tree);
	OK(counter.nheld == 0, "and all memory is released");
}

/*
 * Ever larger boxes around those that are there: each rebuild puts a tall part
 * on top of what it keeps.
 */
static void
test_stacked(void)
{
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhDynamic *tree = new_tree(&env);
	bool passed = true;
	int highest = 0;

	for (int round = 0; round < 20; round++)
	{
		BvhDynamicStats stats;
		BvhTreeFault fault;

		for (int i = 0; i < 100; i++)
		{
			double s = ldexp(1.0, 100 * round + i - 1000);
			Box3 box = make_box(0, 0, 0, s, s, s);
			uint32_t proxy;

			passed &= bvh_dynamic_insert(tree, &box, 0, &proxy) == BVH_OK;
		}
		passed &= bvh_dynamic_rebuild(tree, BVH_REBUILD_CHANGED) == BVH_OK;
		passed &= bvh_dynamic_check(tree, &fault);
		bvh_dynamic_stats(tree, &stats);
		passed &= stats.nchanged == 0;
		highest = stats.height > highest ? stats.height : highest;
	}
	bvh_dynamic_free(tree);
	OK(passed,
	   "rebuilds that stack tall parts stay within the limit (height %d)",
	   highest);
}

/* ---------------------------------------------------------------- scale */

/* data times a power of two gives the same tree */
static void
test_scale(Rng *rng)
{
	static const int powers_of_scale[] = {-900, -300, 300, 900};
	bool passed = true;

	for (int k = 0; k < LENGTH_OF(powers_of_scale); k++)
	{
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhDynamic *tree = new_tree(&env);
		BvhDynamic *scaled = new_tree(&env);

		for (int i = 0; i < 1000; i++)
		{
			Box3 box = rng_world_box(rng, 9.0);
			Box3 other = scale_box(&box, powers_of_scale[k]);
			uint32_t proxy;

			bvh_dynamic_insert(tree, &box, i, &proxy);
			bvh_dynamic_insert(scaled, &other, i, &proxy);
		}
		for (uint32_t i = 0; i < tree->nfresh_nodes; i++)
			for (int side = 0; side < 2; side++)
				passed &= tree->nodes[i].branch[side].ref ==
						  scaled->nodes[i].branch[side].ref;
		bvh_dynamic_free(tree);
		bvh_dynamic_free(scaled);
	}
	OK(passed, "boxes times a power of two give the same tree");
}

/* ---------------------------------------------------------------- the check */

static void
test_check(Rng *rng)
{
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhDynamic *tree = new_tree(&env);
	DynamicBranch *branch;
	BvhTreeFault fault;
	uint32_t proxy;
	uint32_t inner = 0;
	bool is_detected;

	for (int i = 0; i < 200; i++)
	{
		Box3 box = rng_world_box(rng, 9.0);

		bvh_dynamic_insert(tree, &box, i, &proxy);
	}
	for (int i = 0; i < 20; i++)
		bvh_dynamic_remove(tree, (uint32_t) (3 * i));
	bvh_dynamic_rebuild(tree, BVH_REBUILD_CHANGED);
	/* now only what is near, which leaves a free node */
	bvh_dynamic_remove(tree, 2);
	bvh_dynamic_rebuild(tree, BVH_REBUILD_CHANGED);
	/* a node two levels below the root */
	for (uint32_t i = 1; i < tree->nfresh_nodes; i++)
		if (tree->nodes[i].branch[0].height > 2)
			inner = i;
	branch = &tree->nodes[inner].branch[0];

#define DETECTS(number_of_it, damage)                                                    \
	do                                                                                   \
	{                                                                                    \
		DynamicBranch whole_branch = *branch;                                            \
		DynamicLeaf whole_leaf = tree->leaves[1];                                        \
		BvhDynamic whole_tree = *tree;                                                   \
                                                                                         \
		damage;                                                                          \
		is_detected = !bvh_dynamic_check(tree, &fault);                                  \
		OK(is_detected &&fault.number == (number_of_it),                                 \
		   "the check detects: %s",                                                      \
		   fault.message);                                                               \
		*branch = whole_branch;                                                          \
		tree->leaves[1] = whole_leaf;                                                    \
		*tree = whole_tree;                                                              \
	} while (0)

	OK(bvh_dynamic_check(tree, &fault) && fault.number == 0, "the check accepts a tree");
	DETECTS(1, tree->nfresh_leaves = tree->nslots + 1);
	DETECTS(1, tree->nleaves = tree->nfresh_leaves + 1);
	DETECTS(2, tree->root.link = 0);
	DETECTS(2, branch->ref = tree->nfresh_nodes);
	DETECTS(2, branch->link ^= 1);
	DETECTS(2, branch->ref = tree->root.ref);
	DETECTS(2, tree->leaves[1].link ^= 1);
	DETECTS(2, tree->leaves[1].is_used = false);
	DETECTS(3, branch->box.lo[1] = branch->box.hi[1]);
	DETECTS(3, tree->leaves[1].box.hi[2] = 1e6);
	DETECTS(4, tree->leaves[1].box.hi[2] = NAN);
	DETECTS(4, tree->leaves[1].box.lo[2] = -0.0);
	DETECTS(4, branch->box.lo[2] = NAN);
	DETECTS(5, branch->height++);
	DETECTS(5, tree->root.height = BVH_DYNAMIC_HEIGHT + 1);
	DETECTS(6, branch->nleaves++);
	DETECTS(7, branch->least += 50);
	DETECTS(8, branch->is_changed = true);
	DETECTS(9, tree->free_node = DYNAMIC_NONE);
	DETECTS(9, tree->free_leaf = tree->leaves[tree->free_leaf].link);
	DETECTS(9, tree->free_leaf = 1);
	OK(bvh_dynamic_check(tree, &fault), "and accepts it again");
	bvh_dynamic_free(tree);
}

int
main(void)
{
	Rng rng = rng_start();

	test_fat_boxes();
	test_check(&rng);
	test_scale(&rng);
	test_failures(&rng, false);
	test_failures(&rng, true);
	test_inserted(&rng);
	test_aged(&rng);
	test_stacked();
	test_histories(&rng);
	return tap_done();
}
