/*-------------------------------------------------------------------------
 *
 * box3d_bound.c
 *	  Index conditions from comparisons of a distance, "box <-> q < r".
 *
 * Such a clause is one of PostgreSQL's, between two numbers: none of our functions is
 * asked what an index could do with it.  So once a table has its index paths, they are
 * made again with what follows from the clause, "box && box3d_bound(q, r)", as one more
 * condition of the indexes.  The clause itself stays, and is tested for each row; the
 * derived one never leaves the index, and counts nowhere but in what the scan costs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/transam.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "pg/compat.h"
#include "type/box3d.h"
#include "type/box3d_plan.h"
#include "type/ray3d.h"
#include "type/strategy.h"

BVH_FUNCTION(box3d_distance_support);

static set_rel_pathlist_hook_type previous_hook = NULL;

/* the function of a call or an operator with two arguments; else InvalidOid */
static Oid
called_function(Node *node, List **args)
{
	Oid function = InvalidOid;

	*args = NIL;
	if (IsA(node, OpExpr))
	{
		function = get_opcode(((OpExpr *) node)->opno);
		*args = ((OpExpr *) node)->args;
	}
	else if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		*args = ((FuncExpr *) node)->args;
	}
	return list_length(*args) == 2 ? function : InvalidOid;
}

/* is it one of our distances? */
static bool
match_distance(Node *node, BoxBound *bound)
{
	PGFunction address;

	bound->function = called_function(node, &bound->args);
	if (bound->function < FirstNormalObjectId || exprType(node) != FLOAT8OID)
		return false;
	address = box3d_function_address(bound->function);
	bound->is_ray = address == box3d_ray_entry || address == ray3d_box_entry;
	return bound->is_ray || address == box3d_distance || address == box3d_taxicab ||
		   address == box3d_chebyshev;
}

/* does the number leave anything out, whatever it is if it is not known yet? */
static bool
may_bound(const BoxBound *bound)
{
	const Const *limit = (const Const *) bound->limit;
	double number;

	if (!IsA(limit, Const))
		/* what a ray does not meet has a distance, too: Infinity */
		return !bound->is_ray;
	if (limit->constisnull)
		return false;
	number = DatumGetFloat8(limit->constvalue);
	/* by SQL's order, NaN is above Infinity */
	if (isnan(number))
		return false;
	return number < INFINITY || (bound->is_ray && !bound->is_equal);
}

/* as a float8; the planner has made constants of what it could */
static Node *
widen(Node *number)
{
	const Const *constant = (const Const *) number;

	if (exprType(number) != FLOAT4OID)
		return number;
	if (IsA(number, Const))
		return (Node *) makeConst(FLOAT8OID,
								  -1,
								  InvalidOid,
								  sizeof(float8),
								  constant->constisnull ? (Datum) 0
														: Float8GetDatum(DatumGetFloat4(
															  constant->constvalue)),
								  constant->constisnull,
								  FLOAT8PASSBYVAL);
	return (Node *) makeFuncExpr(F_FLOAT8_FLOAT4,
								 FLOAT8OID,
								 list_make1(number),
								 InvalidOid,
								 InvalidOid,
								 COERCE_IMPLICIT_CAST);
}

/*
 * box3d_match_bound --- is it a comparison that bounds a distance from above?
 */
bool
box3d_match_bound(Node *clause, BoxBound *bound)
{
	List *args;
	Oid compare = IsA(clause, OpExpr) ? called_function(clause, &args) : InvalidOid;
	Node *distance;
	Node *limit;

	switch (compare)
	{
		case F_FLOAT8LT:
		case F_FLOAT8LE:
		case F_FLOAT84LT:
		case F_FLOAT84LE:
			distance = linitial(args);
			limit = lsecond(args);
			break;
		case F_FLOAT8GT:
		case F_FLOAT8GE:
		case F_FLOAT48GT:
		case F_FLOAT48GE:
			distance = lsecond(args);
			limit = linitial(args);
			break;
		default:
			return false;
	}
	if (!match_distance(distance, bound))
		return false;
	bound->is_equal = compare == F_FLOAT8LE || compare == F_FLOAT84LE ||
					  compare == F_FLOAT8GE || compare == F_FLOAT48GE;
	bound->limit = widen(limit);
	return may_bound(bound);
}

/*
 * box3d_limited_query --- a box that all overlap which are nearer to the query than the
 * bound, or a ray that all meet; NULL without the right to make it
 */
Node *
box3d_limited_query(const BoxBound *bound, Node *query)
{
	Oid argtypes[2] = {exprType(query), FLOAT8OID};
	Oid function = bound->is_ray ? box3d_find_function("ray3d_until",
													   argtypes,
													   2,
													   bound->function,
													   ray3d_until)
								 : box3d_find_function("box3d_bound",
													   argtypes,
													   2,
													   bound->function,
													   box3d_bound);

	if (!OidIsValid(function))
		return NULL;
	return (Node *) makeFuncExpr(function,
								 argtypes[0],
								 list_make2(query, bound->limit),
								 InvalidOid,
								 InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/*
 * derive_condition --- what a column of an index can do with it; NULL: nothing
 */
static Expr *
derive_condition(PlannerInfo *root, IndexOptInfo *index, int column,
				 const BoxBound *bound)
{
	Node *key = NULL;
	Node *query = NULL;
	Oid opno;
	Node *limited;

	for (int i = 0; i < 2 && key == NULL; i++)
	{
		key = list_nth(bound->args, i);
		query = list_nth(bound->args, 1 - i);
		if (!match_index_to_operand(key, column, index) ||
			exprType(key) != index->opcintype[column])
			key = NULL;
	}
	if (key == NULL || !is_pseudo_constant_for_index(root, query, index) ||
		!is_pseudo_constant_for_index(root, bound->limit, index))
		return NULL;

	opno = box3d_find_operator(index->opfamily[column],
							   exprType(key),
							   exprType(query),
							   bound->is_ray ? (int) BVH_MEETS_RAY : (int) BVH_OVERLAPS,
							   bound->is_ray ? box3d_meets_ray : box3d_overlaps);
	limited = box3d_limited_query(bound, query);
	if (!OidIsValid(opno) || limited == NULL)
		return NULL;
	/* a constant, if it is one, lets the index's cost be estimated */
	limited = eval_const_expressions(root, limited);
	return make_opclause(
		opno, BOOLOID, false, (Expr *) key, (Expr *) limited, InvalidOid, InvalidOid);
}

/* the condition of a column of an index that follows from a clause; NULL if none does */
static RestrictInfo *
derive_rinfo(PlannerInfo *root, IndexOptInfo *index, int column, RestrictInfo *rinfo)
{
	BoxBound bound;
	Expr *condition;
	RestrictInfo *derived;

	/* would it be one that guards it, the clause could be no index condition */
	if (!restriction_is_securely_promotable(rinfo, index->rel) ||
		!box3d_match_bound((Node *) rinfo->clause, &bound))
		return NULL;
	condition = derive_condition(root, index, column, &bound);
	if (condition == NULL)
		return NULL;
	derived = make_simple_restrictinfo(root, condition);
	derived->security_level = rinfo->security_level;
	return derived;
}

/* conditions of the index that follow from those of its table */
static List *
derived_conditions(PlannerInfo *root, IndexOptInfo *index)
{
	List *derived = NIL;
	ListCell *cell;

	foreach (cell, index->indrestrictinfo)
		for (int column = 0; column < index->nkeycolumns; column++)
		{
			RestrictInfo *one = derive_rinfo(root, index, column, lfirst(cell));

			if (one != NULL)
				derived = lappend(derived, one);
		}
	return derived;
}

/* how often the inner side of a nested loop is scanned; as get_loop_count() */
static double
loop_count(PlannerInfo *root, Relids outer)
{
	double least = 0.0;
	int relid = -1;

	while ((relid = bms_next_member(outer, relid)) >= 0)
	{
		RelOptInfo *rel = relid < root->simple_rel_array_size
							  ? root->simple_rel_array[relid]
							  : NULL;

		if (rel != NULL && !IS_DUMMY_REL(rel) && (least == 0.0 || rel->rows < least))
			least = rel->rows;
	}
	return Max(least, 1.0);
}

/*
 * add_probes --- paths for the inner side of a nested loop, from clauses with boxes or
 * limits of other tables
 *
 * By themselves, and not by lending the clauses to the table: what is known of a row
 * count with parameters would count them, too, and is kept.
 */
static void
add_probes(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index)
{
	ListCell *cell;

	if (index->indpred != NIL && !index->predOK)
		return;
	foreach (cell, rel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, cell);
		IndexClause *clause;
		Relids outer;
		IndexPath *path;
		double count;

		if (!join_clause_is_movable_to(rinfo, rel))
			continue;
		clause = makeNode(IndexClause);
		clause->rinfo = derive_rinfo(root, index, 0, rinfo);
		if (clause->rinfo == NULL)
			continue;
		clause->indexquals = list_make1(clause->rinfo);
		outer = bms_union(clause->rinfo->clause_relids, rel->lateral_relids);
		outer = bms_del_members(outer, rel->relids);
		count = loop_count(root, outer);
		path = create_index_path(root,
								 index,
								 list_make1(clause),
								 NIL,
								 NIL,
								 NIL,
								 ForwardScanDirection,
								 false,
								 outer,
								 count,
								 false);
		if (index->amhasgetbitmap)
			add_path(rel,
					 (Path *) create_bitmap_heap_path(
						 root, rel, (Path *) path, outer, count, 0));
		add_path(rel, (Path *) path);
	}
}

/*
 * add_bounded_paths --- set_rel_pathlist_hook
 *
 * The conditions are taken from the indexes again when the paths have been made, so
 * that no plan tests them as filters.
 */
static void
add_bounded_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	List *kept = NIL;
	bool is_bounded = false;
	ListCell *cell;
	ListCell *kept_cell;

	if (previous_hook)
		previous_hook(root, rel, rti, rte);

	/* as set_rel_pathlist(), which makes index paths for these only */
	if (!IS_SIMPLE_REL(rel) || rte->rtekind != RTE_RELATION || rte->inh ||
		rte->tablesample != NULL || IS_DUMMY_REL(rel))
		return;

	foreach (cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);
		List *derived = derived_conditions(root, index);

		kept = lappend(kept, index->indrestrictinfo);
		if (derived == NIL)
			continue;
		index->indrestrictinfo = list_concat_copy(index->indrestrictinfo, derived);
		is_bounded = true;
	}
	if (is_bounded)
		create_index_paths(root, rel);
	forboth (cell, rel->indexlist, kept_cell, kept)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		index->indrestrictinfo = lfirst(kept_cell);
		add_probes(root, rel, index);
	}
}

/*
 * box3d_distance_support(internal) --- planner support of distances
 *
 * It knows nothing; but the planner asks, and so has the library loaded, before it
 * makes the paths of a session's first query.
 */
Datum
box3d_distance_support(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(NULL);
}

/* box3d_bound_install --- make the planner call us */
void
box3d_bound_install(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = add_bounded_paths;
}
