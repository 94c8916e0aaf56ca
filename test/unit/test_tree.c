/*-------------------------------------------------------------------------
 *
 * test_tree.c
 *	  The tree in memory: it is sound, and a search finds what a look at every
 *	  box finds.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "tap.h"
#include "trees.h"

static const size_t numbers[] =
	{0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 66, 127, 129, 500, 1000};

/* all ids of a range, each once, as many at a time as there is room for */
static bool
finds_all(const BvhTree *tree, const BvhEnv *env, const BvhItem *items, size_t n,
		  const BoxRange *range, size_t room, uint8_t *seen)
{
	uint64_t ids[64];
	BvhRangeQuery query;
	size_t nfound;
	bool is_last = false;

	memset(&query, 0x77, sizeof(query));
	memset(seen, 0, n);
	bvh_range_begin(&query, tree, env, range);
	while ((nfound = bvh_range_next(&query, ids, room)) > 0)
	{
		if (nfound > room || is_last)
			return false;
		is_last = nfound < room;
		for (size_t i = 0; i < nfound; i++)
			if (ids[i] % 3 != 1 || ids[i] / 3 >= n || seen[ids[i] / 3]++)
				return false;
	}
	if (bvh_range_next(&query, ids, room) != 0)
		return false;
	for (size_t i = 0; i < n; i++)
		if (seen[i] != box3_in_range(&items[i].box, range))
			return false;
	return true;
}

/* both ends of an AND */
static void
intersect(BoxRange *a, const BoxRange *b)
{
	for (int lane = 0; lane < 6; lane++)
	{
		a->lower[lane] = fmax(a->lower[lane], b->lower[lane]);
		a->upper[lane] = fmin(a->upper[lane], b->upper[lane]);
	}
}

static bool
check_queries(Rng *rng, const char *name, const BvhTree *tree, const BvhEnv *env,
			  const BvhItem *items, size_t n, long *nhits)
{
	static const size_t rooms[] = {1, 2, 3, 7, 8, 64};
	uint8_t *seen = must_alloc(n);

	for (int round = 0; round < 3 * LENGTH_OF(all_ops); round++)
	{
		BvhOp op = all_ops[round % LENGTH_OF(all_ops)];
		Box3 probe = make_probe(rng, items, n);
		BoxRange range;
		BoxRange more;

		box3_range(op, rng_below(rng, 2), &probe, &range);
		if (round >= 2 * LENGTH_OF(all_ops))
		{
			probe = make_probe(rng, items, n);
			box3_range(all_ops[rng_below(rng, LENGTH_OF(all_ops))], false, &probe, &more);
			intersect(&range, &more);
		}
		if (!finds_all(tree,
					   env,
					   items,
					   n,
					   &range,
					   rooms[rng_below(rng, LENGTH_OF(rooms))],
					   seen))
		{
			FAIL("%s: a search finds what is there", name);
			NOTE("%zu boxes, operator %d", n, (int) op);
			show_box("probe", &probe);
			free(seen);
			return false;
		}
		for (size_t i = 0; i < n; i++)
			*nhits += seen[i];
	}
	free(seen);
	return true;
}

static bool
check_sound(const char *name, const BvhTree *tree, size_t n)
{
	BvhTreeFault fault;
	BvhTreeStats stats;

	bvh_tree_stats(tree, &stats);
	if (!bvh_tree_check(tree, bvh_tree_size(tree), &fault))
	{
		FAIL("%s: the tree is sound", name);
		NOTE("%zu boxes: %d: %s (node %u)", n, fault.number, fault.message, fault.node);
		return false;
	}
	if (stats.size > bvh_tree_largest_size(n) || stats.height > BVH_MAX_HEIGHT ||
		stats.nboxes != n || bvh_tree_nboxes(tree) != n || !(stats.fill <= 1.0) ||
		!(stats.cost >= 0.0))
	{
		FAIL("%s: the tree is of the size that was promised", name);
		NOTE("%zu boxes, %zu bytes, height %d, fill %g, cost %g",
			 n,
			 stats.size,
			 stats.height,
			 stats.fill,
			 stats.cost);
		return false;
	}
	return true;
}

static void
check_kind(Rng *rng, const char *kind, Generator generate, BvhBuildKind build)
{
	char name[100];
	long nhits = 0;

	snprintf(name, sizeof(name), "%s, %s", kind, build_names[build]);
	for (int i = 0; i < LENGTH_OF(numbers); i++)
	{
		size_t n = numbers[i];
		BvhItem *items = make_tree_items(rng, generate, n);
		BvhItem *before = must_alloc(n * sizeof(BvhItem));
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhTree *tree;
		bool fine;

		memcpy(before, items, n * sizeof(BvhItem));
		tree = must_build(&env, items, n, build);
		fine = check_sound(name, tree, n);
		if (fine &&
			(counter.nheld != 1 ||
			 counter.most_bytes > bvh_tree_work_size(n) + bvh_tree_largest_size(n) ||
			 memcmp(before, items, n * sizeof(BvhItem)) != 0))
		{
			FAIL("%s: a build leaves the tree, and the items as they were", name);
			fine = false;
		}
		fine = fine && check_queries(rng, name, tree, &env, items, n, &nhits);
		bvh_tree_free(&env, tree);
		free(items);
		free(before);
		if (!fine)
			return;
		if (counter.nheld != 0)
		{
			FAIL("%s: nothing is held at the end", name);
			return;
		}
	}
	OK(nhits > 100, "%s: a sound tree, and a search finds what is there", name);
}

/* every number up to some: edges of blocks and of the way of cutting */
static void
check_numbers(Rng *rng)
{
	for (size_t n = 0; n <= 300; n++)
		for (int build = 0; build < 2; build++)
		{
			BvhItem *items = make_tree_items(rng, n % 2 ? wild : world_boxes, n);
			Counter counter;
			BvhEnv env = counter_env(&counter);
			BvhTree *tree = must_build(&env, items, n, (BvhBuildKind) build);
			Box3 everything = make_box(-INFINITY,
									   -INFINITY,
									   -INFINITY,
									   INFINITY,
									   INFINITY,
									   INFINITY);
			uint8_t *seen = must_alloc(n);
			BoxRange range;
			bool fine = check_sound("all numbers of boxes", tree, n);

			box3_range(BVH_OVERLAPS, false, &everything, &range);
			fine = fine && finds_all(tree, &env, items, n, &range, 5, seen);
			bvh_tree_free(&env, tree);
			free(items);
			free(seen);
			if (!fine)
			{
				FAIL("%zu boxes, %s", n, build_names[build]);
				return;
			}
		}
	PASS("all numbers of boxes up to 300");
}

static void
check_large(Rng *rng)
{
	static const size_t large_numbers[] = {4000, 50000};

	for (int k = 0; k < LENGTH_OF(kinds); k++)
		for (int build = 0; build < 2; build++)
		{
			size_t n = large_numbers[(k + build) % 2];
			BvhItem *items = make_tree_items(rng, kinds[k].generate, n);
			Counter counter;
			BvhEnv env = counter_env(&counter);
			BvhTree *tree = must_build(&env, items, n, (BvhBuildKind) build);
			uint8_t *seen = must_alloc(n);
			bool fine = check_sound(kinds[k].name, tree, n);

			for (int i = 0; fine && i < 10; i++)
			{
				Box3 probe = make_probe(rng, items, n);
				BoxRange range;

				box3_range(BVH_OVERLAPS, false, &probe, &range);
				fine = finds_all(tree, &env, items, n, &range, 64, seen);
			}
			/* a tick for each millisecond is about this many */
			fine = fine && counter.nticks >= (long) (n / 40000);
			bvh_tree_free(&env, tree);
			free(items);
			free(seen);
			if (!fine)
			{
				FAIL("%s, %s, many boxes", kinds[k].name, build_names[build]);
				return;
			}
		}
	PASS("many boxes of every kind");
}

/* what is random is full, low, and no larger than it need be */
static void
check_shape(Rng *rng)
{
	size_t n = 100000;
	BvhItem *items = make_tree_items(rng, world_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);

	for (int build = 0; build < 2; build++)
	{
		BvhTree *tree = must_build(&env, items, n, (BvhBuildKind) build);
		BvhTreeStats stats;

		bvh_tree_stats(tree, &stats);
		OK(stats.fill > 0.9 && stats.size < 80 * n && stats.height <= 8 &&
			   stats.ngiants == 0 && stats.size <= bvh_tree_expected_size(n),
		   "%s: full blocks, %.1f bytes a box, height %d",
		   build_names[build],
		   (double) stats.size / (double) n,
		   stats.height);
		bvh_tree_free(&env, tree);
	}
	free(items);
}

/* how far it is from the work of a good tree to the work of this one */
static void
check_work(Rng *rng)
{
	const struct
	{
		const char *name;
		Generator generate;
		double most; /* nodes and blocks a search for one of the boxes */
	} cases[] = {{"clusters far apart", far_clusters, 60},
				 {"far from zero", far_from_zero, 20},
				 {"times 3e306", large, 20},
				 {"times 1e-300", tiny, 20},
				 {"collinear", collinear, 20},
				 {"one far away", one_far_away, 20},
				 {"all scales", all_scales, 40},
				 {"some giants", some_giants, 120}};
	size_t n = 20000;

	for (int i = 0; i < 2 * LENGTH_OF(cases); i++)
	{
		int k = i / 2;
		BvhBuildKind build = (BvhBuildKind) (i % 2);
		/* along a curve, clusters of clusters and large boxes are searched less well */
		double most = build == BVH_BUILD_SAH ? cases[k].most : 3.0 * cases[k].most;
		BvhItem *items = make_tree_items(rng, cases[k].generate, n);
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhTree *tree = must_build(&env, items, n, build);
		double work = 0.0;
		int nprobes = 500;

		for (int p = 0; p < nprobes; p++)
		{
			Box3 probe = items[1 + rng_below(rng, (int) n - 1)].box;
			BvhRangeQuery query;
			BoxRange range;
			uint64_t ids[64];

			probe.hi[0] = probe.lo[0];
			probe.hi[1] = probe.lo[1];
			probe.hi[2] = probe.lo[2];
			box3_range(BVH_OVERLAPS, false, &probe, &range);
			bvh_range_begin(&query, tree, &env, &range);
			while (bvh_range_next(&query, ids, 64) > 0)
				;
			work += (double) (query.nnodes + query.nblocks) / nprobes;
		}
		OK(work < most,
		   "%s, %s: %.1f nodes and blocks a search",
		   cases[k].name,
		   build_names[build],
		   work);
		bvh_tree_free(&env, tree);
		free(items);
	}
}

/* a copy anywhere answers alike; so it has no pointers */
static void
check_copy(Rng *rng)
{
	size_t n = 3000;
	BvhItem *items = make_tree_items(rng, world_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_SAH);
	size_t size = bvh_tree_size(tree);
	char *memory = must_alloc(size + 2 * BVH_TREE_ALIGNMENT);
	BvhTree *copy = (BvhTree *) (memory + BVH_TREE_ALIGNMENT -
								 (uintptr_t) memory % BVH_TREE_ALIGNMENT);
	uint8_t *seen = must_alloc(n);
	Box3 probe = make_box(20, 20, 20, 60, 60, 60);
	Box3 bounds;
	Box3 all = items[0].box;
	BvhTreeFault fault;
	BoxRange range;

	for (size_t i = 0; i < n; i++)
		box3_include(&all, &items[i].box);
	memcpy(copy, tree, size);
	bvh_tree_free(&env, tree);
	box3_range(BVH_OVERLAPS, false, &probe, &range);
	OK(bvh_tree_check(copy, size, &fault) &&
		   finds_all(copy, &env, items, n, &range, 64, seen),
	   "a copy of a tree answers when the tree is gone");
	OK(bvh_tree_bounds(copy, &bounds) && box3_equal(&bounds, &all),
	   "the bounds are the union of all boxes");
	free(items);
	free(memory);
	free(seen);
}

/* the same boxes times a power of two make the same tree */
static void
check_scale(Rng *rng)
{
	static const int shifts[] = {664, -664, 1, 950, -950};
	size_t n = 5000;
	BvhItem *items = make_tree_items(rng, world_boxes, n);
	BvhItem *scaled = must_alloc(n * sizeof(BvhItem));
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_SAH);
	int nwrong = 0;

	for (int k = 0; k < LENGTH_OF(shifts); k++)
	{
		BvhTree *other;

		for (size_t i = 0; i < n; i++)
			scaled[i] = (BvhItem){scale_box(&items[i].box, shifts[k]), items[i].id};
		other = must_build(&env, scaled, n, BVH_BUILD_SAH);
		nwrong += other->nnodes != tree->nnodes || other->nblocks != tree->nblocks;
		for (uint32_t i = 0; nwrong == 0 && i < tree->nblocks; i++)
			nwrong += memcmp(tree_blocks(tree)[i].id,
							 tree_blocks(other)[i].id,
							 sizeof(tree_blocks(tree)[i].id)) != 0;
		bvh_tree_free(&env, other);
	}
	OK(nwrong == 0, "boxes times 2^664 and 2^-664 make the same tree");
	bvh_tree_free(&env, tree);
	free(items);
	free(scaled);
}

/* whichever allocation fails: the right status, and nothing held */
static void
check_no_memory(Rng *rng)
{
	static const size_t some[] = {0, 1, 100, 3000};
	int nfailed = 0;

	for (int k = 0; k < LENGTH_OF(some); k++)
		for (int build = 0; build < 2; build++)
		{
			BvhItem *items = make_tree_items(rng, world_boxes, some[k]);
			BvhBuildOptions options = {.kind = (BvhBuildKind) build};

			for (long failing = 1;; failing++)
			{
				Counter counter;
				BvhEnv env = counter_env(&counter);
				BvhTree *tree = (BvhTree *) items;
				BvhStatus status;

				counter.failing = failing;
				status = bvh_tree_build(&env, items, some[k], &options, &tree);
				if (status == BVH_OK)
				{
					bvh_tree_free(&env, tree);
					if (counter.nheld != 0 || counter.nallocs >= failing)
					{
						FAIL("no memory: a build that goes well needed all of it");
						return;
					}
					break;
				}
				nfailed++;
				if (status != BVH_NO_MEMORY || tree != NULL || counter.nheld != 0)
				{
					FAIL("no memory: the build says so and holds nothing");
					NOTE("%zu boxes, allocation %ld, held %ld",
						 some[k],
						 failing,
						 counter.nheld);
					return;
				}
			}
			free(items);
		}
	OK(nfailed > 20, "no memory: the build says so and holds nothing");
}

/* a long search ticks */
static void
check_ticks(Rng *rng)
{
	size_t n = 400000;
	BvhItem *items = make_tree_items(rng, world_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_HILBERT);
	Box3 probe = make_box(-1, -1, -1, 200, 200, 200);
	BoxRange range;
	BvhRangeQuery query;
	uint64_t ids[64];
	size_t nfound = 0;
	size_t got;

	OK(counter.nticks > 20, "a build of 400,000 boxes ticks: %ld", counter.nticks);
	counter.nticks = 0;
	box3_range(BVH_OVERLAPS, false, &probe, &range);
	bvh_range_begin(&query, tree, &env, &range);
	while ((got = bvh_range_next(&query, ids, 64)) > 0)
		nfound += got;
	OK(nfound == n && counter.nticks >= 3, "a search of them ticks: %ld", counter.nticks);
	bvh_tree_free(&env, tree);
	free(items);
}

static BvhBlock *
full_block(BvhTree *tree)
{
	for (uint32_t at = 0; at < tree->nnodes; at++)
		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			uint32_t ref = tree_nodes(tree)[at].child[lane];

			if (ref_is_block(ref) && ref_live(ref) == 0xFF)
				return &tree_blocks(tree)[ref_block(ref)];
		}
	return NULL;
}

/* each kind of damage, and what the check says of it */
static void
check_faults(Rng *rng)
{
	size_t n = 2000;
	BvhItem *items = make_tree_items(rng, world_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, BVH_BUILD_SAH);
	size_t size = bvh_tree_size(tree);
	char *memory = must_alloc(size + 2 * BVH_TREE_ALIGNMENT);
	BvhTree *copy = (BvhTree *) (memory + BVH_TREE_ALIGNMENT -
								 (uintptr_t) memory % BVH_TREE_ALIGNMENT);
	int wanted[] = {1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 8, 8};
	int nwrong = 0;

	for (int damage = 0; damage < LENGTH_OF(wanted); damage++)
	{
		BvhTreeFault fault;
		BvhNode *node;
		BvhBlock *block;
		int inner = 0;

		memcpy(copy, tree, size);
		node = &tree_nodes(copy)[0];
		block = full_block(copy);
		while (ref_is_block(node->child[inner]))
			inner++;
		switch (damage)
		{
			case 0:
				copy->magic ^= 1;
				break;
			case 1:
				copy->size += 64;
				break;
			case 2:
				node->live ^= 1;
				break;
			case 3:
				node->child[inner] = 0;
				break;
			case 4:
				/* blocks the other way round */
				node = &tree_nodes(copy)[copy->nnodes - 1];
				for (int k = 0; k < 6; k++)
				{
					float bound = node->bound[k][0];

					node->bound[k][0] = node->bound[k][1];
					node->bound[k][1] = bound;
				}
				node->child[0] ^= node->child[1];
				node->child[1] ^= node->child[0];
				node->child[0] ^= node->child[1];
				for (int lane = 2; lane < BVH_WIDTH; lane++)
				{
					if (node->live >> lane & 1)
						continue;
					node->child[lane] = node->child[0];
					for (int k = 0; k < 6; k++)
						node->bound[k][lane] = node->bound[k][0];
				}
				break;
			case 5:
				copy->height++;
				break;
			case 6:
				node->bound[4][inner] = nextafterf(node->bound[4][inner], INFINITY);
				break;
			case 7:
				block->bound[1][0] -= 1000;
				break;
			case 8:
				block->bound[3][0] = NAN;
				break;
			case 9:
				/* one whose last place is not taken, if only the last of them */
				for (uint32_t at = 0; at < copy->nnodes; at++)
					for (int lane = 0; lane < BVH_WIDTH; lane++)
					{
						uint32_t ref = tree_nodes(copy)[at].child[lane];

						if (ref_is_block(ref) && !(ref_live(ref) >> 7 & 1))
							tree_blocks(copy)[ref_block(ref)].bound[0][7] += 1e-3;
					}
				break;
			case 10:
				copy->nboxes++;
				break;
			default:
				copy->bounds.hi[2] += 1;
				break;
		}
		if (bvh_tree_check(copy, size, &fault) || fault.number != wanted[damage])
		{
			NOTE("damage %d: fault %d, %s", damage, fault.number, fault.message);
			nwrong++;
		}
	}
	OK(nwrong == 0, "the check finds every kind of damage");
	bvh_tree_free(&env, tree);
	free(items);
	free(memory);
}

static void
check_all(Rng *rng)
{
	for (int build = 0; build < 2; build++)
		for (int k = 0; k < LENGTH_OF(kinds); k++)
			check_kind(rng, kinds[k].name, kinds[k].generate, (BvhBuildKind) build);
	check_numbers(rng);
}

int
main(void)
{
	Rng rng = rng_start();

	/* with all kernels that there are; the last is plain C */
	for (size_t i = 0; i < bvh_kernels_count(); i++)
		if (bvh_kernels_nth(i) != NULL)
		{
			bvh_kernels_use(bvh_kernels_nth(i));
			printf("# %s\n", bvh_kernels->name);
			check_all(&rng);
		}
	bvh_kernels_use(bvh_kernels_find(NULL));
	check_large(&rng);
	check_shape(&rng);
	check_work(&rng);
	check_copy(&rng);
	check_scale(&rng);
	check_no_memory(&rng);
	check_ticks(&rng);
	check_faults(&rng);
	return tap_done();
}
