/*-------------------------------------------------------------------------
 *
 * join_plan.c
 *	  From the chosen path to a plan node.
 *
 * The two inputs become the node's outer and inner plan.  Every expression of
 * the node refers to custom_scan_tlist, which lists what it needs of the inputs;
 * where each of its columns comes from is told to the executor, which reads them
 * from the two rows at hand and never makes one row of both.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/value.h"
#include "optimizer/cost.h"
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"

#include "join/join.h"

/* what the expressions of the node need of its inputs */
typedef struct JoinColumns
{
	List *tlists[2]; /* of the outer and the inner plan */
	List *exprs;     /* the columns of custom_scan_tlist */
	List *sources;   /* of Integer: an encoded place for each */
} JoinColumns;

static int
encode_source(int side, AttrNumber resno)
{
	return resno * 2 + side;
}

/*
 * is_same_value --- is this the same variable, in an expression above and below
 * an outer join?
 *
 * From PostgreSQL 16 on, a variable is marked with the outer joins that may make
 * it NULL, so that it looks different above and below such a join.
 */
static bool
is_same_value(const Node *a, const Node *b)
{
	if (IsA(a, Var) && IsA(b, Var))
		return ((const Var *) a)->varno == ((const Var *) b)->varno &&
			   ((const Var *) a)->varattno == ((const Var *) b)->varattno &&
			   ((const Var *) a)->varlevelsup == ((const Var *) b)->varlevelsup;
	if (IsA(a, PlaceHolderVar) && IsA(b, PlaceHolderVar))
		return ((const PlaceHolderVar *) a)->phid == ((const PlaceHolderVar *) b)->phid &&
			   ((const PlaceHolderVar *) a)->phlevelsup ==
				   ((const PlaceHolderVar *) b)->phlevelsup;
	return equal(a, b);
}

/* where an input has this value; 0 if neither does */
static int
find_source(const JoinColumns *columns, const Node *node)
{
	ListCell *cell;

	for (int side = 0; side < 2; side++)
		foreach (cell, columns->tlists[side])
		{
			const TargetEntry *entry = lfirst_node(TargetEntry, cell);

			if (is_same_value((Node *) entry->expr, node))
				return encode_source(side, entry->resno);
		}
	return 0;
}

/* the column that holds this value; NULL if there is none yet */
static Node *
find_column(const JoinColumns *columns, const Node *node)
{
	ListCell *cell;

	foreach (cell, columns->exprs)
		if (is_same_value(lfirst(cell), node))
			return lfirst(cell);
	return NULL;
}

/*
 * gather_columns --- an expression with each value of an input replaced by the
 * column for it, which is added if it is new
 *
 * A value that comes twice, marked differently, takes the form that it had when
 * it came first; so what must match a target list exactly has to come first.
 */
static Node *
gather_columns(Node *node, void *context)
{
	JoinColumns *columns = context;
	Node *column;
	int source;

	if (node == NULL)
		return NULL;
	if (IsA(node, List) || IsA(node, TargetEntry))
		return expression_tree_mutator(node, gather_columns, context);

	column = find_column(columns, node);
	if (column != NULL)
		return copyObject(column);
	if (IsA(node, Const) || IsA(node, Param))
		return copyObject(node);
	source = find_source(columns, node);
	if (source != 0)
	{
		columns->exprs = lappend(columns->exprs, copyObject(node));
		columns->sources = lappend(columns->sources, makeInteger(source));
		return copyObject(node);
	}
	return expression_tree_mutator(node, gather_columns, context);
}

/*
 * order_clauses --- cheap conditions first, but none before one that guards
 * what it could leak; as order_qual_clauses()
 */
static List *
order_clauses(PlannerInfo *root, List *rinfos)
{
	List *ordered = NIL;
	ListCell *cell;

	foreach (cell, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		QualCost cost;
		int place;

		cost_qual_eval_node(&cost, (Node *) rinfo, root);
		for (place = list_length(ordered); place > 0; place--)
		{
			RestrictInfo *before = list_nth(ordered, place - 1);
			QualCost cost_before;

			cost_qual_eval_node(&cost_before, (Node *) before, root);
			if (before->security_level < rinfo->security_level ||
				(before->security_level == rinfo->security_level &&
				 cost_before.per_tuple <= cost.per_tuple))
				break;
		}
		ordered = list_insert_nth(ordered, place, rinfo);
	}
	return ordered;
}

/*
 * bvh_join_plan --- PlanCustomPath
 */
Plan *
bvh_join_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path, List *tlist,
			  List *clauses, List *custom_plans)
{
	BvhJoinPath *path = (BvhJoinPath *) best_path;
	CustomScan *scan = makeNode(CustomScan);
	JoinColumns columns = {0};
	List *rinfos;
	List *joinquals;
	List *otherquals = NIL;
	Node *clause;
	ListCell *cell;

	outerPlan(scan) = linitial(custom_plans);
	innerPlan(scan) = lsecond(custom_plans);
	columns.tlists[0] = outerPlan(scan)->targetlist;
	columns.tlists[1] = innerPlan(scan)->targetlist;

	rinfos = list_delete_ptr(list_copy(path->restrictlist), path->clause.rinfo);
	rinfos = order_clauses(root, rinfos);
	if (IS_OUTER_JOIN(path->jointype))
		extract_actual_join_clauses(rinfos, rel->relids, &joinquals, &otherquals);
	else
		joinquals = extract_actual_clauses(rinfos, false);

	/*
	 * Target lists first: plans above compare with them what they expect of us,
	 * be it the present one or, when it is replaced, that of the relation.
	 */
	gather_columns((Node *) tlist, &columns);
	gather_columns((Node *) rel->reltarget->exprs, &columns);
	otherquals = (List *) gather_columns((Node *) otherquals, &columns);
	clause = gather_columns((Node *) path->clause.rinfo->clause, &columns);
	joinquals = (List *) gather_columns((Node *) joinquals, &columns);

	scan->scan.plan.targetlist = tlist;
	scan->flags = best_path->flags;
	scan->custom_exprs = list_make3(clause, joinquals, otherquals);
	scan->custom_private = list_make5(makeInteger(path->jointype),
									  makeInteger(path->clause.op),
									  makeInteger(path->clause.outer_is_left),
									  makeInteger(path->inner_unique),
									  makeInteger(path->is_of_same_rows));
	Assert(list_length(scan->custom_private) == BVH_JOIN_NPRIVATE_INTS);
	scan->custom_private = list_concat(scan->custom_private, columns.sources);
	foreach (cell, columns.exprs)
		scan->custom_scan_tlist = lappend(scan->custom_scan_tlist,
										  makeTargetEntry(lfirst(cell),
														  list_length(
															  scan->custom_scan_tlist) +
															  1,
														  NULL,
														  false));
	scan->methods = &bvh_join_scan_methods;
	return &scan->scan.plan;
}
