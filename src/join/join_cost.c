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

#include "access/htup_details.h"
#include "catalog/pg_am.h"
#include "miscadmin.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"

#include "cache/cache.h"
#include "core/tree.h"
#include "join/join.h"
#include "join/join_state.h"

/*
 * Measured, in units of cpu_operator_cost, where a probe of an index takes what
 * the planner thinks that it does; README says how.
 */
#define START_COST 300.0 /* of the whole join */
#define INNER_COST 9.0   /* to keep an inner row, and build the tree */
#define OUTER_COST 2.0   /* to keep an outer row, and */
#define PROBE_COST 0.35  /* to search for it, for each doubling of the inner side */
#define PAIR_COST  1.0   /* a pair found, beside the conditions */
#define SPILL_COST 3.0   /* to write a row to a file, and read it */
#define SELF_COST  1.5   /* to find what overlaps a row among the others */

/*
 * The same, and a probe of an index on boxes, in microseconds when all is in
 * memory.  A probe's time grows with the table, as more of it misses the CPU's
 * caches: PROBE_TIME for each doubling beyond PROBE_FREE.
 */
#define START_TIME  20.0
#define INNER_TIME  0.3
#define OUTER_TIME  0.12
#define SEARCH_TIME 0.02
#define SELF_TIME   0.05
#define PAIR_TIME   0.07
#define PROBE_TIME  0.25
#define PROBE_FREE  6.0
#define FETCH_TIME  0.1 /* a row that a probe finds */
#define GIST_FACTOR 3.5 /* a probe of a gist index */
#define TREE_FACTOR 0.5 /* of a bvh index that has its tree in shared memory */
#define SPILL_TIME  0.1 /* a row of either side that goes to a file */

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

/* a kept row beside the tree; the box itself is hardly ever needed once more */
static double
kept_width(const Path *path)
{
	return Max(path->pathtarget->width - (int) sizeof(Box3), 0) + ROW_OVERHEAD;
}

/* do the inner rows, with their tree, outgrow the memory? */
static bool
spills(const Path *inner)
{
	double rows = Max(inner->rows, 1.0);
	double size = rows * kept_width(inner) +
				  (double) bvh_tree_expected_size((size_t) Min(rows, BVH_MOST_BOXES));

	return size > (double) get_hash_memory_limit();
}

/* are the rows of both sides the same, and read only once? */
static bool
reads_once(const Path *inner, const BvhJoinClause *clause, bool is_of_same_rows)
{
	return is_of_same_rows && (bvh_op_self_pairs(clause->op) || !spills(inner));
}

/* to write rows that do not fit into memory, and read them again */
static Cost
spill_cost(double nrows, double width)
{
	return 2.0 * ceil(nrows * width / BLCKSZ) * seq_page_cost +
		   nrows * SPILL_COST * cpu_operator_cost;
}

/* the index that a path probes; NULL if it is another kind of path, or disabled */
static const IndexPath *
probed_index(const Path *path)
{
	if (IsA(path, BitmapHeapPath))
	{
		path = ((const BitmapHeapPath *) path)->bitmapqual;
		return IsA(path, IndexPath) && enable_bitmapscan ? (const IndexPath *) path
														 : NULL;
	}
	if (!IsA(path, IndexPath))
		return NULL;
	if (!enable_indexscan || (path->pathtype == T_IndexOnlyScan && !enable_indexonlyscan))
		return NULL;
	return (const IndexPath *) path;
}

/*
 * fastest_probes --- microseconds of a nested loop whose inner side is probed by an
 * index, for each row of the outer side; Infinity if there is no such index
 */
static double
fastest_probes(const RelOptInfo *inner, const RelOptInfo *outer, double outer_rows)
{
	double fastest = INFINITY;
	ListCell *cell;

	foreach (cell, inner->pathlist)
	{
		const Path *path = lfirst(cell);
		const IndexPath *index = probed_index(path);
		double probe;

		if (index == NULL || PATH_REQ_OUTER(path) == NULL ||
			!bms_is_subset(PATH_REQ_OUTER(path), outer->relids))
			continue;
		probe = PROBE_TIME * Max(log2(inner->tuples + 1.0) - PROBE_FREE, 2.0);
		if (index->indexinfo->relam == GIST_AM_OID)
			probe *= GIST_FACTOR;
		else if (bvh_cache_would_serve(index))
			probe *= TREE_FACTOR;
		probe += FETCH_TIME * index->indexselectivity * inner->tuples;
		fastest = Min(fastest, outer_rows * probe);
	}
	return fastest;
}

/*
 * bvh_join_is_beaten --- is a nested loop with an index faster?
 *
 * Costs do not tell.  For the first few probes of an index, the planner reckons
 * with a random page of a disk for each; for very many, with hardly anything.
 * One is a hundred times what it takes when the index is in memory, the other a
 * tenth.  A join without an index has no such doubts to be compared with, so it is
 * not even offered where it would be slower than one with an index in memory.
 */
bool
bvh_join_is_beaten(const Path *outer, const Path *inner, JoinType jointype,
				   const BvhJoinClause *clause, bool is_of_same_rows)
{
	double pairs = outer->rows * inner->rows * clause->selectivity;
	double ours = START_TIME + INNER_TIME * inner->rows + PAIR_TIME * pairs;
	double theirs;

	if (reads_once(inner, clause, is_of_same_rows))
		ours += SELF_TIME * inner->rows;
	else
		ours += (OUTER_TIME + SEARCH_TIME * log2(inner->rows + 1.0)) * outer->rows;

	if (!enable_nestloop)
		return false;
	if (spills(inner))
		ours += SPILL_TIME * inner->rows;
	if (spills(inner) && !reads_once(inner, clause, is_of_same_rows))
		ours += SPILL_TIME * outer->rows;
	theirs = fastest_probes(inner->parent, outer->parent, outer->rows);
	/* the other way round */
	if (jointype == JOIN_INNER)
		theirs = Min(theirs, fastest_probes(outer->parent, inner->parent, inner->rows));
	return theirs < ours;
}

/* to evaluate an argument of the clause, for each row of its side */
static Cost
argument_cost(PlannerInfo *root, const BvhJoinClause *clause, int arg, double nrows)
{
	Node *expr = (Node *) clause->rinfo->clause;
	List *args = IsA(expr, OpExpr) ? ((OpExpr *) expr)->args : ((FuncExpr *) expr)->args;
	QualCost cost;

	cost_qual_eval_node(&cost, list_nth(args, arg), root);
	return cost.startup + cost.per_tuple * nrows;
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
	double pairs = outer_rows * inner_rows * join->clause.selectivity;
	bool is_read_once = reads_once(inner, &join->clause, join->is_of_same_rows);
	QualCost quals;
	Cost startup;
	Cost run;

	path->rows = path->parent->rows;
	if (path->parallel_workers > 0)
		path->rows = clamp_row_est(path->rows / parallel_divisor(path));

	/* the inner side is read, and its tree is built, before the first row */
	startup = inner->total_cost + outer->startup_cost;
	startup += cpu_operator_cost * (START_COST + INNER_COST * inner_rows);

	startup += argument_cost(root,
							 &join->clause,
							 join->clause.outer_is_left ? BVH_JOIN_RIGHT_ARG
														: BVH_JOIN_LEFT_ARG,
							 inner_rows);

	if (is_read_once)
		run = cpu_operator_cost * outer_rows * SELF_COST;
	else
	{
		run = outer->total_cost - outer->startup_cost;
		run += argument_cost(root,
							 &join->clause,
							 join->clause.outer_is_left ? BVH_JOIN_LEFT_ARG
														: BVH_JOIN_RIGHT_ARG,
							 outer_rows);
		run += cpu_operator_cost * outer_rows *
			   (OUTER_COST + PROBE_COST * log2(inner_rows + 1.0));
	}
	if (spills(inner))
	{
		startup += spill_cost(inner_rows, kept_width(inner));
		if (!is_read_once)
			startup += spill_cost(outer_rows, kept_width(outer));
	}

	/* as hash joins do: an outer row is done with at its first match */
	if (join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI || join->inner_unique)
	{
		double matched = rint(outer_rows * extra->semifactors.outer_match_frac);
		double each = extra->semifactors.match_count;

		pairs = Min(pairs, outer_rows - matched + matched * each * 2.0 / (each + 1.0));
	}
	/* the clause of the tree is done with */
	cost_qual_eval(&quals,
				   list_delete_ptr(list_copy(join->restrictlist), join->clause.rinfo),
				   root);
	startup += quals.startup;
	run += pairs * (PAIR_COST * cpu_operator_cost + quals.per_tuple);

	run += path->rows * cpu_tuple_cost;
	startup += path->pathtarget->cost.startup;
	run += path->rows * path->pathtarget->cost.per_tuple;

	path->startup_cost = startup;
	path->total_cost = startup + run;
}
