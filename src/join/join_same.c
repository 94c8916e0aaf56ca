/*-------------------------------------------------------------------------
 *
 * join_same.c
 *	  Is it a join of a table with itself, with the same rows on either side?
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"

#include "join/join.h"

/* an expression on one table, as one on the other */
static Node *
translated(const void *expr, const RelOptInfo *from, const RelOptInfo *to)
{
	Node *copy = copyObject((Node *) expr);

	ChangeVarNodes(copy, (int) from->relid, (int) to->relid, 0);
	return copy;
}

static bool
is_same_table(PlannerInfo *root, const RelOptInfo *outer, const RelOptInfo *inner)
{
	return IS_SIMPLE_REL(outer) && IS_SIMPLE_REL(inner) &&
		   outer->rtekind == RTE_RELATION && inner->rtekind == RTE_RELATION &&
		   planner_rt_fetch(outer->relid, root)->relid ==
			   planner_rt_fetch(inner->relid, root)->relid;
}

/* does every condition on the rows of one table hold for those of the other, too? */
static bool
includes_conditions(const RelOptInfo *rel, const RelOptInfo *other)
{
	ListCell *cell;

	foreach (cell, other->baserestrictinfo)
	{
		const RestrictInfo *theirs = lfirst_node(RestrictInfo, cell);
		Node *wanted = translated(theirs->clause, other, rel);
		bool is_found = false;
		ListCell *mine;

		/* each scan would evaluate it anew */
		if (contain_volatile_functions(wanted))
			return false;
		foreach (mine, rel->baserestrictinfo)
			is_found |= equal(lfirst_node(RestrictInfo, mine)->clause, wanted);
		if (!is_found)
			return false;
	}
	return true;
}

/*
 * bvh_join_is_of_same_rows --- do both sides have the same rows, with the same boxes?
 *
 * Not if rows are locked or changed: when one was changed by somebody else meanwhile,
 * the plan is run again with a single row on one of the sides.
 */
bool
bvh_join_is_of_same_rows(PlannerInfo *root, const RelOptInfo *outer,
						 const RelOptInfo *inner, const BvhJoinClause *clause)
{
	const List *args;
	Node *outer_key;
	Node *inner_key;

	if (!bvh_op_pairs(clause->op) || !IsA(clause->rinfo->clause, OpExpr))
		return false;
	if (root->rowMarks != NIL || (root->parse->commandType != CMD_SELECT &&
								  root->parse->commandType != CMD_INSERT))
		return false;
	if (!is_same_table(root, outer, inner) || !includes_conditions(outer, inner) ||
		!includes_conditions(inner, outer))
		return false;

	args = ((OpExpr *) clause->rinfo->clause)->args;
	outer_key = list_nth(args,
						 clause->outer_is_left ? BVH_JOIN_LEFT_ARG : BVH_JOIN_RIGHT_ARG);
	inner_key = list_nth(args,
						 clause->outer_is_left ? BVH_JOIN_RIGHT_ARG : BVH_JOIN_LEFT_ARG);
	return equal(translated(outer_key, outer, inner), inner_key);
}

/* does it give all rows of the table that meet its conditions, with any column? */
static bool
gives_any_column(const Path *path)
{
	return PATH_REQ_OUTER(path) == NULL &&
		   (path->pathtype == T_SeqScan || path->pathtype == T_IndexScan ||
			path->pathtype == T_BitmapHeapScan);
}

static Path *
cheapest_of_table(const RelOptInfo *rel)
{
	Path *cheapest = NULL;
	ListCell *cell;

	foreach (cell, rel->pathlist)
	{
		Path *path = lfirst(cell);

		if (gives_any_column(path) &&
			(cheapest == NULL || compare_path_costs(path, cheapest, TOTAL_COST) < 0))
			cheapest = path;
	}
	return cheapest;
}

/*
 * bvh_join_same_columns --- paths of the two sides whose rows have the same columns in
 * the same order: all that are needed of either; false if there are none
 */
bool
bvh_join_same_columns(PlannerInfo *root, RelOptInfo *outer, RelOptInfo *inner,
					  Path **outer_path, Path **inner_path)
{
	PathTarget *outer_target = create_empty_pathtarget();
	PathTarget *inner_target = create_empty_pathtarget();
	List *columns;
	ListCell *cell;

	*outer_path = cheapest_of_table(outer);
	*inner_path = cheapest_of_table(inner);
	if (*outer_path == NULL || *inner_path == NULL)
		return false;
	columns = list_union(inner->reltarget->exprs,
						 (List *) translated(outer->reltarget->exprs, outer, inner));
	foreach (cell, columns)
	{
		if (!IsA(lfirst(cell), Var))
			return false;
		add_column_to_pathtarget(inner_target, lfirst(cell), 0);
		add_column_to_pathtarget(outer_target,
								 (Expr *) translated(lfirst(cell), inner, outer),
								 0);
	}
	set_pathtarget_cost_width(root, outer_target);
	set_pathtarget_cost_width(root, inner_target);
	*outer_path = (Path *) create_projection_path(root, outer, *outer_path, outer_target);
	*inner_path = (Path *) create_projection_path(root, inner, *inner_path, inner_target);
	return true;
}
