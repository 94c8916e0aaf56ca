/*-------------------------------------------------------------------------
 *
 * tree_runs.c
 *	  Dividing boxes that come in runs of near ones, as those of a page are.
 *
 * The heuristic divides the runs by their bounds, as if they were boxes, and then
 * the boxes of each run.  There are a hundred times fewer runs, so nearly all of the
 * way is in parts that the CPU's caches hold.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/tree_build.h"

/* with these, the proof of the height in tree_skeleton.c holds */
#define MOST_RUNS     (1 << 20)
#define MOST_OF_A_RUN (1 << 10)

/*
 * Where all cuts are tried in a run: with more, a build takes a fifth longer, and
 * its searches are no faster.
 */
#define FEW_OF_A_RUN 16

/* a twig over runs whose place in the skeleton is known */
typedef struct Pending
{
	uint32_t twig;
	uint32_t left_of;
	int level;
} Pending;

/* bvh_runs_fit --- are there runs that this can divide? */
bool
bvh_runs_fit(const Build *build, const BvhBuildOptions *options)
{
	uint32_t start = 0;

	if (options == NULL || options->run_ends == NULL || options->nruns < 2 ||
		options->nruns > MOST_RUNS || options->nruns > build->n / BVH_LEAST_RUN)
		return false;
	for (size_t i = 0; i < options->nruns; i++)
	{
		if (options->run_ends[i] <= start || options->run_ends[i] - start > MOST_OF_A_RUN)
			return false;
		start = options->run_ends[i];
	}
	return start == build->n;
}

/*
 * bvh_runs_more_twigs --- twigs more than without runs
 *
 * Each run has a budget of its own, rounded up, and a twig above it.
 */
uint64_t
bvh_runs_more_twigs(const BvhBuildOptions *options)
{
	return 12 * (uint64_t) options->nruns;
}

static uint32_t
run_start(const BvhBuildOptions *options, uint32_t run)
{
	return run > 0 ? options->run_ends[run - 1] : 0;
}

/* the runs, as boxes; their ids are where they start */
static void
measure_runs(Build *build, const BvhBuildOptions *options, BvhItem *runs)
{
	for (uint32_t run = 0; run < options->nruns; run++)
	{
		uint32_t at = run_start(options, run);

		runs[run].box = build->items[at].box;
		runs[run].id = at;
		while (++at < options->run_ends[run])
			box3_include(&runs[run].box, &build->items[at].box);
		count_steps(build, MOST_OF_A_RUN / 8);
	}
}

/* the skeleton of the runs, and the items in its order */
static BvhStatus
divide_runs(Build *build, const BvhBuildOptions *options, Build *upper)
{
	const BvhEnv *env = build->env;
	uint64_t most_twigs = 2 * most_leaves(options->nruns, 0) + 1;
	size_t n = 0;

	upper->prims = env->alloc(env->context, options->nruns * sizeof(BvhPrim));
	if (upper->prims == NULL)
		return BVH_NO_MEMORY;
	upper->twigs = env->alloc(env->context, most_twigs * sizeof(Twig));
	if (upper->twigs == NULL)
		return BVH_NO_MEMORY;
	for (uint32_t run = 0; run < options->nruns; run++)
		upper->prims[run].item = run | ITEM_TAG;
	bvh_grow_skeleton(upper, 0, options->nruns, NO_TWIG, &build->frame, 0);

	for (size_t i = 0; i < options->nruns; i++)
	{
		uint32_t run = upper->prims[i].item & ~ITEM_TAG;

		for (uint32_t at = run_start(options, run); at < options->run_ends[run]; at++)
			build->prims[n++].item = at | ITEM_TAG;
	}
	return BVH_OK;
}

/*
 * graft --- the skeleton of the runs, with one of its boxes for each
 *
 * Depth first, so the next boxes of the order are those of the next run.
 */
static void
graft(Build *build, const BvhBuildOptions *options, const Build *upper)
{
	Pending stack[2 * BVH_MAX_HEIGHT];
	size_t first = 0;
	int depth = 0;

	stack[depth++] = (Pending){0, NO_TWIG, 0};
	while (depth > 0)
	{
		Pending next = stack[--depth];
		const Twig *twig = &upper->twigs[next.twig];
		uint32_t number = build->ntwigs;

		if (twig->right == 0)
		{
			uint32_t run = upper->prims[twig->first].item & ~ITEM_TAG;
			size_t n = options->run_ends[run] - run_start(options, run);

			bvh_grow_skeleton(build, first, n, next.left_of, &build->frame, next.level);
			first += n;
			continue;
		}
		if (next.left_of != NO_TWIG)
			build->twigs[next.left_of].right = number;
		build->twigs[number] = (Twig){0, 0, 0, twig->cost};
		build->ntwigs++;
		stack[depth++] = (Pending){twig->right, number, next.level + 1};
		stack[depth++] = (Pending){next.twig + 1, NO_TWIG, next.level + 1};
	}
}

/*
 * bvh_grow_runs --- the skeleton of all boxes, which are in runs
 *
 * Does nothing if one of them has to be put apart.
 */
BvhStatus
bvh_grow_runs(Build *build, const BvhBuildOptions *options, bool *is_grown)
{
	const BvhEnv *env = build->env;
	BvhItem *runs = env->alloc(env->context, options->nruns * sizeof(BvhItem));
	BvhStatus status = BVH_OK;
	Build *upper;

	*is_grown = false;
	if (runs == NULL)
		return BVH_NO_MEMORY;
	measure_runs(build, options, runs);
	if (bvh_frame_runs(build, runs, options->nruns))
		status = bvh_build_begin(env, runs, options->nruns, 0, &upper);
	else
		upper = NULL;
	if (status == BVH_OK && upper != NULL)
	{
		status = divide_runs(build, options, upper);
		if (status == BVH_OK)
		{
			build->few = FEW_OF_A_RUN;
			graft(build, options, upper);
			*is_grown = true;
		}
		bvh_build_end(upper);
	}
	env->release(env->context, runs);
	return status;
}
