/*-------------------------------------------------------------------------
 *
 * join_cost.c
 *	  What a BVH Join costs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"

#include "core/tree.h"
#include "join/join.h"
#include "join/join_state.h"

/*
 * Measured, in units of cpu_operator_cost: 1,000,000 random boxes on the machine
 * that reads them from a table in 11 million of that unit (see README).
 */
#define READ_COST  8.0 /* a row kept, of either side */
#define BUILD_COST 2.0 /* a row in the tree of the inner side, for each doubling */
#define PROBE_COST 1.5 /* an outer row that looks, for each doubling of the inner side */
#define PAIR_COST  2.0 /* a pair found */

/* bytes of a row beside its columns: a tuple header, an item of the build */
#define ROW_OVERHEAD (SizeofMinimalTupleHeader + sizeof(BvhItem))

/*
 * bvh_join_selectivity --- part of all pairs of rows that the clause keeps,
 * whatever the join makes of it
 */
Selectivity
bvh_join_selectivity(PlannerInfo *root, RestrictInfo *rinfo, RelOptInfo *outer,
					 RelOptInfo *inner)
{
	SpecialJoinInfo sjinfo;

	/* as approx_tuple_count() */
	memset(&sjinfo, 0, sizeof(sjinfo));
	sjinfo.type = T_SpecialJoinInfo;
	sjinfo.min_lefthand = outer->relids;
	sjinfo.min_righthand = inner->relids;
	sjinfo.syn_lefthand = outer->relids;
	sjinfo.syn_righthand = inner->relids;
	sjinfo.jointype = JOIN_INNER;
	return clause_selectivity(root, (Node *) rinfo, 0, JOIN_INNER, &sjinfo);
}

/* outer rows of one process, and so of what a parallel join gives */
static double
parallel_divisor(const Path *path)
{
	double divisor = path->parallel_workers;
	double leader;

	/* as get_parallel_divisor() */
	if (parallel_leader_participation)
	{
		leader = 1.0 - 0.3 * path->parallel_workers;
		if (leader > 0)
			divisor += leader;
	}
	return divisor;
}

/* pages that a sort of so many rows writes, and reads again, twice */
static Cost
spill_cost(double nrows, int width)
{
	double bytes = nrows * (width + ROW_OVERHEAD);

	return 4.0 * ceil(bytes / BLCKSZ) * seq_page_cost +
		   nrows * 2.0 * cpu_operator_cost * log2(Max(nrows, 2.0));
}

/*
 * bvh_join_cost --- fill in rows and costs of a path that is otherwise done
 */
void
bvh_join_cost(PlannerInfo *root, BvhJoinPath *join, const JoinPathExtraData *extra)
{
	Path *path = &join->custom.path;
	Path *outer = linitial(join->custom.custom_paths);
	Path *inner = lsecond(join->custom.custom_paths);
	double inner_rows = Max(inner->rows, 1.0);
	double outer_rows = Max(outer->rows, 1.0);
	double doublings = log2(inner_rows + 1.0);
	double pairs = outer_rows * inner_rows * join->clause.selectivity;
	double memory;
	QualCost quals;
	Cost startup;
	Cost run;

	path->rows = path->parent->rows;
	if (path->parallel_workers > 0)
		path->rows = clamp_row_est(path->rows / parallel_divisor(path));

	/* the inner side is read, and its tree is built, before the first row */
	startup = inner->total_cost + outer->startup_cost;
	startup += inner_rows * cpu_operator_cost * (READ_COST + BUILD_COST * doublings);

	run = outer->total_cost - outer->startup_cost;
	run += outer_rows * cpu_operator_cost * (READ_COST + PROBE_COST * doublings);

	memory = inner_rows * (inner->pathtarget->width + ROW_OVERHEAD) +
			 (double) bvh_tree_expected_size((size_t) Min(inner_rows, BVH_MOST_BOXES));
	if (memory > (double) get_hash_memory_limit())
	{
		startup += spill_cost(inner_rows, inner->pathtarget->width);
		startup += spill_cost(outer_rows, outer->pathtarget->width);
	}

	/* as hash joins do: an outer row is done with at its first match */
	if (join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI || join->inner_unique)
	{
		double matched = rint(outer_rows * extra->semifactors.outer_match_frac);
		double each = extra->semifactors.match_count;

		pairs = Min(pairs, outer_rows - matched + matched * each * 2.0 / (each + 1.0));
	}
	cost_qual_eval(&quals, join->restrictlist, root);
	startup += quals.startup;
	run += pairs * (PAIR_COST * cpu_operator_cost + quals.per_tuple);

	run += path->rows * cpu_tuple_cost;
	startup += path->pathtarget->cost.startup;
	run += path->rows * path->pathtarget->cost.per_tuple;

	path->startup_cost = startup;
	path->total_cost = startup + run;
}
