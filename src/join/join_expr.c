/*-------------------------------------------------------------------------
 *
 * join_expr.c
 *	  Expressions of a BVH Join, as the executor evaluates them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "join/join.h"
#include "join/join_state.h"
#include "pg/compat.h"

/*
 * The planner left variables of custom_scan_tlist in them, and a list that says
 * of which column of which input each is.
 */

typedef struct ResolveContext
{
	List *sources;
	Bitmapset *columns[2]; /* kept ones of each side; NULL: all of the input's */
	bool is_kept;
	Bitmapset *used[2]; /* of the input's, gathered on the way */
} ResolveContext;

/* variables of the join, as columns of the row of either side */
static Node *
resolve_columns(Node *node, void *context)
{
	ResolveContext *resolve = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == INDEX_VAR)
	{
		Var *var = copyObject((Var *) node);
		int source = intVal(list_nth(resolve->sources, var->varattno - 1));
		int side = source % 2;
		int column = source / 2;

		resolve->used[side] = bms_add_member(resolve->used[side], column);
		var->varno = side == 0 ? OUTER_VAR : INNER_VAR;
		var->varattno = resolve->is_kept
							? (AttrNumber) (bms_member_index(resolve->columns[side],
															 column) +
											1)
							: (AttrNumber) column;
		return (Node *) var;
	}
	return expression_tree_mutator(node, resolve_columns, context);
}

typedef struct ParamsContext
{
	const List *subplans; /* of the whole statement */
	Bitmapset *params;
} ParamsContext;

/* numbers of the executor's parameters in an expression, and in subplans of it */
static bool
find_params(Node *node, void *context)
{
	ParamsContext *found = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		found->params = bms_add_member(found->params, ((Param *) node)->paramid);
	else if (IsA(node, SubPlan))
	{
		const SubPlan *subplan = (SubPlan *) node;
		const Plan *plan = list_nth(found->subplans, subplan->plan_id - 1);
		ListCell *cell;

		foreach (cell, subplan->parParam)
			found->params = bms_add_member(found->params, lfirst_int(cell));
		found->params = bms_add_members(found->params, plan->extParam);
	}
	return expression_tree_walker(node, find_params, context);
}

/* the clause itself is never evaluated, so nobody else asks */
static void
check_privileges(Node *clause)
{
	Oid function = IsA(clause, OpExpr) ? ((OpExpr *) clause)->opfuncid
									   : castNode(FuncExpr, clause)->funcid;

	if (!bvh_may_execute(function))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_FUNCTION, get_func_name(function));
	InvokeFunctionExecuteHook(function);
}

/* the comparison that one of these functions of PostgreSQL's is */
static JoinComparison
comparison_of(Oid function)
{
	switch (function)
	{
		case F_INT4LT:
		case F_INT8LT:
			return COMPARE_LESS;
		case F_INT4LE:
		case F_INT8LE:
			return COMPARE_LESS_EQUAL;
		case F_INT4GT:
		case F_INT8GT:
			return COMPARE_GREATER;
		case F_INT4GE:
		case F_INT8GE:
			return COMPARE_GREATER_EQUAL;
		case F_INT4NE:
		case F_INT8NE:
			return COMPARE_NOT_EQUAL;
		default:
			return COMPARE_NOTHING;
	}
}

/* the same with its arguments exchanged */
static JoinComparison
exchanged(JoinComparison comparison)
{
	switch (comparison)
	{
		case COMPARE_LESS:
			return COMPARE_GREATER;
		case COMPARE_LESS_EQUAL:
			return COMPARE_GREATER_EQUAL;
		case COMPARE_GREATER:
			return COMPARE_LESS;
		case COMPARE_GREATER_EQUAL:
			return COMPARE_LESS_EQUAL;
		default:
			return comparison;
	}
}

/*
 * take_comparison --- the conditions without the first that compares an integer of
 * one side with one of the other
 *
 * Such as "a.id < b.id", which nearly every self-join has.  The numbers are kept
 * with the boxes, so that it takes a few nanoseconds a pair instead of fifty.
 */
static List *
take_comparison(BvhJoinState *state, List *quals, const List *sources)
{
	ListCell *cell;

	foreach (cell, quals)
	{
		OpExpr *qual = lfirst(cell);
		int source[2];
		int outer;

		if (!IsA(qual, OpExpr) || list_length(qual->args) != 2)
			continue;
		state->comparison = comparison_of(qual->opfuncid);
		if (state->comparison == COMPARE_NOTHING || !bvh_may_execute(qual->opfuncid))
			continue;
		for (int i = 0; i < 2; i++)
		{
			Var *var = list_nth(qual->args, i);

			if (!IsA(var, Var) || var->varno != INDEX_VAR)
				break;
			source[i] = intVal(list_nth(sources, var->varattno - 1));
			if (i == 0 || source[0] % 2 == source[1] % 2)
				continue;
			outer = source[0] % 2 == 0 ? 0 : 1;
			if (outer == 1)
				state->comparison = exchanged(state->comparison);
			state->outer_number = source[outer] / 2;
			state->inner_number = source[1 - outer] / 2;
			/* a row of both sides has one number */
			if (state->is_of_same_rows && state->outer_number != state->inner_number)
				continue;
			state->is_bigint = exprType((Node *) var) == INT8OID;
			return foreach_delete_current(quals, cell);
		}
	}
	state->comparison = COMPARE_NOTHING;
	return quals;
}

/*
 * bvh_join_init_expressions --- all expressions, and which columns of the inputs those
 * for pairs need
 */
void
bvh_join_init_expressions(BvhJoinState *state, EState *estate)
{
	PlanState *ps = &state->custom.ss.ps;
	CustomScan *scan = (CustomScan *) ps->plan;
	Node *clause = list_nth(scan->custom_exprs, BVH_JOIN_CLAUSE);
	List *joinquals = list_copy(list_nth(scan->custom_exprs, BVH_JOIN_QUALS));
	List *filter = list_nth(scan->custom_exprs, BVH_JOIN_FILTER);
	List *args = IsA(clause, OpExpr) ? ((OpExpr *) clause)->args
									 : castNode(FuncExpr, clause)->args;
	ResolveContext used = {0};
	ResolveContext kept = {0};
	ParamsContext params = {estate->es_plannedstmt->subplans, NULL};
	Node *inner_key;
	List *tlist;

	check_privileges(clause);
	used.sources = list_copy_tail(scan->custom_private, BVH_JOIN_COLUMNS);
	joinquals = take_comparison(state, joinquals, used.sources);
	resolve_columns((Node *) scan->scan.plan.targetlist, &used);
	resolve_columns((Node *) filter, &used);
	resolve_columns((Node *) joinquals, &used);
	/* the same columns, too: see join_same.c */
	if (state->is_of_same_rows)
	{
		used.used[0] = bms_union(used.used[0], used.used[1]);
		used.used[1] = bms_copy(used.used[0]);
	}
	bvh_side_init(&state->outer,
				  estate,
				  ExecGetResultType(outerPlanState(state)),
				  used.used[0]);
	bvh_side_init(&state->inner,
				  estate,
				  ExecGetResultType(innerPlanState(state)),
				  used.used[1]);
	if (state->null_extends)
		state->null_slot = ExecInitNullTupleSlot(estate,
												 state->inner.desc,
												 &TTSOpsVirtual);

	/* rows of two kinds come by: those of the inputs, and kept ones */
	ps->outeropsset = ps->inneropsset = true;
	ps->outeropsfixed = ps->inneropsfixed = false;

	kept.sources = used.sources;
	kept.is_kept = true;
	kept.columns[0] = used.used[0];
	kept.columns[1] = used.used[1];
	tlist = (List *) resolve_columns((Node *) scan->scan.plan.targetlist, &kept);
	ps->ps_ProjInfo = ExecBuildProjectionInfo(tlist,
											  ps->ps_ExprContext,
											  ps->ps_ResultTupleSlot,
											  ps,
											  NULL);
	state->joinqual = ExecInitQual((List *) resolve_columns((Node *) joinquals, &kept),
								   ps);
	ps->qual = ExecInitQual((List *) resolve_columns((Node *) filter, &kept), ps);

	args = (List *) resolve_columns((Node *) args, &used);
	inner_key = list_nth(args,
						 state->outer_is_left ? BVH_JOIN_RIGHT_ARG : BVH_JOIN_LEFT_ARG);
	state->inner_key = ExecInitExpr((Expr *) inner_key, ps);
	find_params(inner_key, &params);
	state->inner_params = params.params;
	state->outer_key = ExecInitExpr(list_nth(args,
											 state->outer_is_left ? BVH_JOIN_LEFT_ARG
																  : BVH_JOIN_RIGHT_ARG),
									ps);
	if (state->op == BVH_DISTANCE)
		state->radius = ExecInitExpr(list_nth(args, BVH_JOIN_RADIUS_ARG), ps);
}
