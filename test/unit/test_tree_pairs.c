/*-------------------------------------------------------------------------
 *
 * test_tree_pairs.c
 *	  Pairs of boxes of two trees, and of one: each that there is, once.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "tap.h"
#include "trees.h"

static const BvhOp pair_ops[] = {BVH_OVERLAPS,
								 BVH_OVERLAPS_STRICTLY,
								 BVH_CONTAINS,
								 BVH_CONTAINED_BY,
								 BVH_SAME,
								 BVH_EQUAL};

static const size_t rooms[] = {1, 2, 3, 5, 64};

/*
 * The pairs that a search gives, as a matrix.  False when one comes twice, or
 * is none.
 */
static bool
take_pairs(BvhPairs *pairs, size_t room, size_t na, size_t nb, uint8_t *seen)
{
	BvhPair out[64];
	bool is_last = false;
	size_t n;

	memset(seen, 0, na * nb);
	while ((n = bvh_pairs_next(pairs, out, room)) > 0)
	{
		if (n > room || is_last)
			return false;
		is_last = n < room;
		for (size_t i = 0; i < n; i++)
		{
			size_t a = out[i].a / 3;
			size_t b = out[i].b / 3;

			if (out[i].a % 3 != 1 || out[i].b % 3 != 1 || a >= na || b >= nb ||
				seen[a * nb + b]++)
				return false;
		}
	}
	return bvh_pairs_next(pairs, out, room) == 0;
}

static void
check_two(Rng *rng, const char *kind, Generator generate, Generator other)
{
	static const size_t numbers[] = {0, 1, 3, 8, 9, 20, 65, 200};
	static BvhPairs pairs;
	long npairs = 0;

	for (int round = 0; round < 48; round++)
	{
		size_t na = numbers[rng_below(rng, LENGTH_OF(numbers))];
		size_t nb = numbers[rng_below(rng, LENGTH_OF(numbers))];
		BvhOp op = pair_ops[round % LENGTH_OF(pair_ops)];
		BvhItem *a = make_tree_items(rng, generate, na);
		BvhItem *b = make_tree_items(rng, other, nb);
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhTree *tree_a;
		BvhTree *tree_b;
		BvhBuildOptions options = {.kind = (BvhBuildKind) rng_below(rng, 2)};
		uint8_t *seen = must_alloc(na * nb);
		bool fine;

		/* so that equal boxes are there */
		for (size_t i = 0; i < nb && i < na; i += 3)
			b[i].box = a[rng_below(rng, (int) na)].box;
		tree_a = must_build(&env, a, na, (BvhBuildKind) rng_below(rng, 2));
		if (round % 2)
			options.like = tree_a;
		if (bvh_tree_build(&env, b, nb, &options, &tree_b) != BVH_OK)
			abort();
		memset(&pairs, 0x77, sizeof(pairs));
		bvh_pairs_begin(&pairs, tree_a, tree_b, &env, op);
		fine = take_pairs(&pairs, rooms[rng_below(rng, LENGTH_OF(rooms))], na, nb, seen);
		for (size_t i = 0; fine && i < na; i++)
			for (size_t j = 0; j < nb; j++)
			{
				fine = fine && seen[i * nb + j] == box3_matches(&a[i].box, op, &b[j].box);
				npairs += seen[i * nb + j];
			}
		bvh_tree_free(&env, tree_a);
		bvh_tree_free(&env, tree_b);
		free(a);
		free(b);
		free(seen);
		if (!fine || counter.nheld != 0)
		{
			FAIL("%s: pairs of two trees", kind);
			NOTE("%zu and %zu boxes, operator %d, round %d", na, nb, (int) op, round);
			return;
		}
	}
	OK(npairs > 10, "%s: pairs of two trees", kind);
}

static void
check_one(Rng *rng, const char *kind, Generator generate)
{
	static const size_t numbers[] = {0, 1, 2, 8, 9, 17, 64, 130, 300};
	static const BvhOp ops[] = {BVH_OVERLAPS, BVH_OVERLAPS_STRICTLY, BVH_EQUAL};
	static BvhPairs pairs;
	long npairs = 0;

	for (int round = 0; round < 3 * 3 * LENGTH_OF(numbers); round++)
	{
		size_t n = numbers[round % LENGTH_OF(numbers)];
		BvhSelfMode mode = (BvhSelfMode) (round / LENGTH_OF(numbers) % 3);
		BvhOp op = ops[round / LENGTH_OF(numbers) / 3];
		BvhItem *items = make_tree_items(rng, generate, n);
		Counter counter;
		BvhEnv env = counter_env(&counter);
		BvhTree *tree = must_build(&env, items, n, (BvhBuildKind) rng_below(rng, 2));
		uint8_t *seen = must_alloc(n * n);
		bool fine;

		memset(&pairs, 0x77, sizeof(pairs));
		bvh_self_pairs_begin(&pairs, tree, &env, op, mode);
		fine = take_pairs(&pairs, rooms[rng_below(rng, LENGTH_OF(rooms))], n, n, seen);
		for (size_t i = 0; fine && i < n; i++)
			for (size_t j = 0; j <= i; j++)
			{
				int match = box3_matches(&items[i].box, op, &items[j].box);
				int one = seen[i * n + j];
				int other = seen[j * n + i];

				npairs += one;
				if (i == j)
					fine = fine && one == (mode == BVH_SELF_ALL && match);
				else if (mode == BVH_SELF_ONCE)
					fine = fine && one + other == match;
				else
					fine = fine && one == match && other == match;
			}
		bvh_tree_free(&env, tree);
		free(items);
		free(seen);
		if (!fine || counter.nheld != 0)
		{
			FAIL("%s: pairs of one tree", kind);
			NOTE("%zu boxes, operator %d, mode %d", n, (int) op, (int) mode);
			return;
		}
	}
	OK(npairs > 10, "%s: pairs of one tree", kind);
}

static size_t
count_pairs(BvhPairs *pairs)
{
	static BvhPair out[1000];
	size_t sum = 0;
	size_t n;

	while ((n = bvh_pairs_next(pairs, out, 1000)) > 0)
		sum += n;
	return sum;
}

/* every two of them: no limit cuts the answer short */
static void
check_all_overlap(Rng *rng, Generator generate, BvhBuildKind build, size_t n)
{
	static BvhPairs pairs;
	BvhItem *items = make_tree_items(rng, generate, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree = must_build(&env, items, n, build);
	size_t once;

	counter.nticks = 0;
	bvh_self_pairs_begin(&pairs, tree, &env, BVH_OVERLAPS, BVH_SELF_ONCE);
	once = count_pairs(&pairs);
	OK(once == n * (n - 1) / 2 && (n < 5000 || counter.nticks > 5),
	   "%zu boxes that all overlap are %zu pairs; ticks %ld",
	   n,
	   once,
	   counter.nticks);
	if (n <= 1000)
	{
		bvh_self_pairs_begin(&pairs, tree, &env, BVH_OVERLAPS, BVH_SELF_ALL);
		OK(count_pairs(&pairs) == n * n, "and with both ways and themselves, all");
		bvh_pairs_begin(&pairs, tree, tree, &env, BVH_OVERLAPS);
		OK(count_pairs(&pairs) == n * n, "as of a tree with the same tree");
	}
	bvh_tree_free(&env, tree);
	free(items);
}

/* the work is in proportion to the answer, not to all pairs; storeys of one plan, too */
static void
check_work(Rng *rng)
{
	static BvhPairs pairs;
	size_t n = 20000;
	BvhItem *items = make_tree_items(rng, world_boxes, n);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	BvhTree *tree;

	for (size_t i = 0; i < n; i++)
	{
		items[i].box.lo[2] = (double) (i % 20) * 3;
		items[i].box.hi[2] = items[i].box.lo[2] + 0.1;
	}
	tree = must_build(&env, items, n, BVH_BUILD_SAH);
	bvh_self_pairs_begin(&pairs, tree, &env, BVH_OVERLAPS, BVH_SELF_ONCE);
	(void) count_pairs(&pairs);
	OK(pairs.nnodes + pairs.nblocks < 3 * n,
	   "20 storeys of 1000 boxes: %zu pairs of nodes and blocks looked at",
	   (size_t) (pairs.nnodes + pairs.nblocks));
	bvh_tree_free(&env, tree);
	free(items);
}

static void
check_ops(void)
{
	int nallowed = 0;

	for (int op = 0; op < 64; op++)
		nallowed += bvh_op_pairs((BvhOp) op);
	OK(nallowed == LENGTH_OF(pair_ops) && bvh_op_pairs(BVH_CONTAINS) &&
		   !bvh_op_pairs(BVH_LEFT),
	   "pairs are for the operators that imply overlap");
}

int
main(void)
{
	Rng rng = rng_start();

	check_ops();
	for (size_t i = 0; i < bvh_kernels_count(); i++)
		if (bvh_kernels_nth(i) != NULL)
		{
			bvh_kernels_use(bvh_kernels_nth(i));
			printf("# %s\n", bvh_kernels->name);
			for (int k = 0; k < LENGTH_OF(kinds); k++)
			{
				check_one(&rng, kinds[k].name, kinds[k].generate);
				check_two(&rng, kinds[k].name, kinds[k].generate, kinds[k].generate);
				check_two(&rng,
						  kinds[k].name,
						  kinds[k].generate,
						  kinds[rng_below(&rng, LENGTH_OF(kinds))].generate);
			}
			check_all_overlap(&rng, nested, BVH_BUILD_SAH, 1000);
			check_all_overlap(&rng, equal_boxes, BVH_BUILD_HILBERT, 1000);
		}
	bvh_kernels_use(bvh_kernels_find(NULL));
	check_all_overlap(&rng, nested, BVH_BUILD_SAH, 5000);
	check_all_overlap(&rng, corner, BVH_BUILD_HILBERT, 5000);
	check_all_overlap(&rng, equal_boxes, BVH_BUILD_SAH, 5000);
	check_work(&rng);
	return tap_done();
}
