/*-------------------------------------------------------------------------
 *
 * join_path.c
 *	  When the planner is offered a BVH Join.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "access/gist.h"
#include "access/htup_details.h"
#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "join/join.h"
#include "pg/compat.h"
#include "pg/settings.h"
#include "type/box3d.h"
#include "type/box3d_plan.h"
#include "type/strategy.h"

static set_join_pathlist_hook_type previous_hook = NULL;

static const CustomPathMethods path_methods = {
	.CustomName = BVH_JOIN_NAME,
	.PlanCustomPath = bvh_join_plan,
};

/* is this an operator family of ours: does its support function run our code? */
static bool
is_our_family(Oid opfamily, Oid type)
{
	Oid function;
	FmgrInfo consistent;

	if (get_typlen(type) != sizeof(Box3) || get_typbyval(type))
		return false;
	function = get_opfamily_proc(opfamily, type, type, GIST_CONSISTENT_PROC);
	if (!OidIsValid(function))
		return false;
	fmgr_info(function, &consistent);
	return consistent.fn_addr == box3d_gist_consistent;
}

/*
 * box_operator --- which of our operators this is; 0 for any other
 *
 * By membership in the GiST operator family, whatever its and the operator's
 * names and schemas are.  "=" does not count: hash and merge joins are better.
 */
static int
box_operator(Oid opno)
{
	CatCList *list;
	int op = 0;

	if (opno < FirstNormalObjectId)
		return 0;
	list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(opno));
	for (int i = 0; i < list->n_members && op == 0; i++)
	{
		Form_pg_amop amop = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);

		if (amop->amopmethod == GIST_AM_OID && amop->amoppurpose == AMOP_SEARCH &&
			amop->amoplefttype == amop->amoprighttype &&
			is_our_family(amop->amopfamily, amop->amoplefttype))
			op = amop->amopstrategy;
	}
	ReleaseSysCacheList(list);
	return op == BVH_EQUAL ? 0 : op;
}

static bool
is_dwithin(const FuncExpr *call)
{
	/* somebody else's library need not be loaded to see that it is not ours */
	return call->funcid >= FirstNormalObjectId && list_length(call->args) == 3 &&
		   get_typlen(exprType(linitial(call->args))) == sizeof(Box3) &&
		   box3d_function_address(call->funcid) == box3d_dwithin;
}

/* is every relation that the expression needs, and at least one, of this side? */
static bool
is_of_side(PlannerInfo *root, Node *expr, const RelOptInfo *side)
{
	Relids relids = pull_varnos(root, expr);

	return !bms_is_empty(relids) && bms_is_subset(relids, side->relids);
}

/*
 * match_clause --- is it a clause that a tree over the inner side answers?
 */
static bool
match_clause(PlannerInfo *root, RestrictInfo *rinfo, RelOptInfo *outer, RelOptInfo *inner,
			 BvhJoinClause *found)
{
	List *args;
	Node *left;
	Node *right;

	found->rinfo = rinfo;
	if (IsA(rinfo->clause, OpExpr) && list_length(((OpExpr *) rinfo->clause)->args) == 2)
	{
		found->op = box_operator(((OpExpr *) rinfo->clause)->opno);
		if (found->op == 0)
			rinfo = bvh_join_derive(root, rinfo, &found->op);
		if (rinfo == NULL)
			return false;
		found->rinfo = rinfo;
		args = ((OpExpr *) rinfo->clause)->args;
	}
	else if (IsA(rinfo->clause, FuncExpr) && is_dwithin((FuncExpr *) rinfo->clause))
	{
		args = ((FuncExpr *) rinfo->clause)->args;
		found->op = BVH_DISTANCE;
		/* the radius is part of the query, which comes from the outer side */
		if (bms_overlap(pull_varnos(root, list_nth(args, BVH_JOIN_RADIUS_ARG)),
						inner->relids))
			return false;
	}
	else
		return false;

	left = list_nth(args, BVH_JOIN_LEFT_ARG);
	right = list_nth(args, BVH_JOIN_RIGHT_ARG);
	if (is_of_side(root, left, outer) && is_of_side(root, right, inner))
		found->outer_is_left = true;
	else if (is_of_side(root, right, outer) && is_of_side(root, left, inner))
		found->outer_is_left = false;
	else
		return false;

	/* each argument is evaluated once a row, not once a pair */
	return !contain_volatile_functions((Node *) rinfo->clause);
}

/*
 * find_clause --- the most selective clause that a tree can answer
 */
static bool
find_clause(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outer, RelOptInfo *inner,
			JoinType jointype, List *restrictlist, BvhJoinClause *best)
{
	Index min_security = UINT_MAX;
	bool is_found = false;
	ListCell *cell;

	foreach (cell, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);

		if (rinfo->pseudoconstant && !BVH_CUSTOM_JOINS_ARE_GATED)
			return false;
		min_security = Min(min_security, rinfo->security_level);
	}
	foreach (cell, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		BvhJoinClause clause;

		/* a condition on the joined rows of an outer join is no join clause */
		if (IS_OUTER_JOIN(jointype) && RINFO_IS_PUSHED_DOWN(rinfo, joinrel->relids))
			continue;
		/* it will be tested first */
		if (rinfo->security_level > min_security)
			continue;
		if (!match_clause(root, rinfo, outer, inner, &clause))
			continue;
		clause.selectivity = bvh_join_selectivity(root, clause.rinfo, outer, inner);
		if (!is_found || clause.selectivity < best->selectivity)
			*best = clause;
		is_found = true;
	}
	return is_found;
}

/*
 * make_path --- a join of these two paths
 *
 * Each worker of a parallel join has a tree over all inner rows, and its share
 * of the outer ones.
 */
static Path *
make_path(PlannerInfo *root, RelOptInfo *joinrel, Path *outer, Path *inner,
		  JoinType jointype, const JoinPathExtraData *extra, const BvhJoinClause *clause,
		  bool is_of_same_rows)
{
	BvhJoinPath *join = palloc0(sizeof(BvhJoinPath));
	Path *path = &join->custom.path;

	path->type = T_CustomPath;
	path->pathtype = T_CustomScan;
	path->parent = joinrel;
	path->pathtarget = joinrel->reltarget;
	path->parallel_safe = joinrel->consider_parallel && outer->parallel_safe &&
						  inner->parallel_safe;
	path->parallel_workers = outer->parallel_workers;
	/* workers share nothing but what they have counted */
	path->parallel_aware = path->parallel_workers > 0;
	bvh_add_disabled_nodes(path, outer, inner);

	join->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
	join->custom.custom_paths = list_make2(outer, inner);
	join->custom.methods = &path_methods;
	bvh_set_restrictinfo(&join->custom, extra->restrictlist);
	join->jointype = jointype;
	join->inner_unique = extra->inner_unique;
	join->is_of_same_rows = is_of_same_rows;
	join->restrictlist = extra->restrictlist;
	join->clause = *clause;
	bvh_join_cost(root, join, extra);
	return path;
}

/*
 * add_join_paths --- set_join_pathlist_hook
 *
 * Called for either order of the two sides, and for each partition of a
 * partitionwise join.  Inputs that need values of the other side, or of a
 * third, are left to nested loops.
 */
static void
add_join_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	Path *outer = outerrel->cheapest_total_path;
	Path *inner = innerrel->cheapest_total_path;
	BvhJoinClause clause;

	if (previous_hook)
		previous_hook(root, joinrel, outerrel, innerrel, jointype, extra);

	if (!bvh_enable_join)
		return;
	if (jointype != JOIN_INNER && jointype != JOIN_LEFT && jointype != JOIN_SEMI &&
		jointype != JOIN_ANTI)
		return;
	if (!find_clause(
			root, joinrel, outerrel, innerrel, jointype, extra->restrictlist, &clause))
		return;

	if (PATH_REQ_OUTER(outer) == NULL && PATH_REQ_OUTER(inner) == NULL &&
		!bvh_join_is_beaten(outer, inner, jointype, &clause, false))
		add_path(joinrel,
				 make_path(root, joinrel, outer, inner, jointype, extra, &clause, false));
	if (jointype == JOIN_INNER && !extra->inner_unique &&
		bvh_join_is_of_same_rows(root, outerrel, innerrel, &clause) &&
		bvh_join_same_columns(root, outerrel, innerrel, &outer, &inner) &&
		!bvh_join_is_beaten(outer, inner, jointype, &clause, true))
		add_path(joinrel,
				 make_path(root, joinrel, outer, inner, jointype, extra, &clause, true));

	if (!joinrel->consider_parallel || !bms_is_empty(joinrel->lateral_relids) ||
		outerrel->partial_pathlist == NIL)
		return;
	outer = linitial(outerrel->partial_pathlist);
	inner = innerrel->cheapest_total_path;
	if (!inner->parallel_safe || PATH_REQ_OUTER(inner) != NULL)
		inner = get_cheapest_parallel_safe_total_inner(innerrel->pathlist);
	if (inner != NULL && !bvh_join_is_beaten(outer, inner, jointype, &clause, false))
		add_partial_path(
			joinrel,
			make_path(root, joinrel, outer, inner, jointype, extra, &clause, false));
}

/*
 * bvh_join_install --- make the planner ask us, and the executor know us
 *
 * In time for the first query of a session, too: the library is loaded while
 * that is being planned, at the latest by the join estimator, which every
 * operator that can be a join clause has in here; and a join's size is estimated
 * before its paths are made.
 */
void
bvh_join_install(void)
{
	RegisterCustomScanMethods(&bvh_join_scan_methods);
	previous_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = add_join_paths;
}
