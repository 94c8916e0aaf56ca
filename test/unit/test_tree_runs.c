/*-------------------------------------------------------------------------
 *
 * test_tree_runs.c
 *	  A tree of boxes that come in runs, against one look at each.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "tap.h"
#include "trees.h"

/* ends of runs of 1 to twice so many items */
static size_t
make_runs(Rng *rng, size_t n, int length, uint32_t *ends)
{
	size_t nruns = 0;
	size_t at = 0;

	while (at < n)
	{
		at += 1 + (size_t) rng_below(rng, 2 * length);
		at = at < n ? at : n;
		ends[nruns++] = (uint32_t) at;
	}
	return nruns;
}

static int
compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *) a;
	uint64_t y = *(const uint64_t *) b;

	return x < y ? -1 : x > y;
}

/* does the tree find what one look at each box does? */
static bool
is_right(Rng *rng, const BvhTree *tree, const BvhEnv *env, const BvhItem *items, size_t n)
{
	uint64_t *got = must_alloc((n + 1) * sizeof(uint64_t));
	bool fine = true;

	for (int i = 0; i < 20 && fine; i++)
	{
		Box3 probe = make_probe(rng, items, n);
		BoxRange range;
		BvhRangeQuery query;
		size_t ngot;
		size_t nwant = 0;

		box3_range(all_ops[rng_below(rng, LENGTH_OF(all_ops))], false, &probe, &range);
		bvh_range_begin(&query, tree, env, &range);
		ngot = bvh_range_next(&query, got, n + 1);
		qsort(got, ngot, sizeof(uint64_t), compare_ids);
		for (size_t at = 0; at < n && fine; at++)
			if (box3_in_range(&items[at].box, &range))
			{
				fine = nwant < ngot && got[nwant] == items[at].id;
				nwant++;
			}
		fine &= nwant == ngot;
	}
	free(got);
	return fine;
}

static void
check_kind(Rng *rng, const char *kind, Generator generate)
{
	static const size_t numbers[] = {2, 100, 1000, 5000};
	static const int lengths[] = {1, 20, 120, 600};

	for (int i = 0; i < LENGTH_OF(numbers); i++)
		for (int j = 0; j < LENGTH_OF(lengths); j++)
		{
			size_t n = numbers[i];
			BvhItem *items = make_tree_items(rng, generate, n);
			uint32_t *ends = must_alloc(n * sizeof(uint32_t));
			Counter counter;
			BvhEnv env = counter_env(&counter);
			BvhBuildOptions options = {.kind = BVH_BUILD_SAH, .run_ends = ends};
			BvhTreeFault fault;
			BvhTree *tree;
			long nallocs;

			options.nruns = make_runs(rng, n, lengths[j], ends);
			if (bvh_tree_build(&env, items, n, &options, &tree) != BVH_OK)
				abort();
			nallocs = counter.nallocs;
			OK(bvh_tree_check(tree, bvh_tree_size(tree), &fault) &&
				   bvh_tree_nboxes(tree) == n && is_right(rng, tree, &env, items, n),
			   "%s, %zu in runs of %d: the tree is right",
			   kind,
			   n,
			   lengths[j]);
			OK(counter.nheld == 1 &&
				   counter.most_bytes <= bvh_tree_work_size(n) + bvh_tree_largest_size(n),
			   "%s, %zu in runs of %d: within bounds of memory",
			   kind,
			   n,
			   lengths[j]);
			bvh_tree_free(&env, tree);

			for (long failing = 1; failing <= nallocs && n == 1000; failing++)
			{
				env = counter_env(&counter);
				counter.failing = failing;
				if (bvh_tree_build(&env, items, n, &options, &tree) != BVH_NO_MEMORY ||
					counter.nheld != 0)
					FAIL("%s: allocation %ld fails", kind, failing);
			}
			free(ends);
			free(items);
		}
}

int
main(void)
{
	Rng rng = rng_start();

	for (size_t i = 0; i < LENGTH_OF(kinds); i++)
		check_kind(&rng, kinds[i].name, kinds[i].generate);
	return tap_done();
}
