/*-------------------------------------------------------------------------
 *
 * box3d_support.c
 *	  What the planner may know of box3d_dwithin(): how selective it is, and
 *	  that an index on a box column serves it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pg/compat.h"
#include "type/box3d.h"
#include "type/box3d_plan.h"
#include "type/box3d_stats.h"
#include "type/strategy.h"

BVH_FUNCTION(box3d_dwithin_support);

/* arguments of box3d_dwithin */
typedef enum DwithinArgument
{
	DWITHIN_A,
	DWITHIN_B,
	DWITHIN_RADIUS,
	DWITHIN_NARGS
} DwithinArgument;

/*
 * estimate_selectivity --- false when nothing is known, so that the planner's
 * own guess stands
 */
static bool
estimate_selectivity(SupportRequestSelectivity *request)
{
	BoxClause clause = {request->funcid, BVH_DISTANCE, 0.0};
	List *boxes;
	Node *radius;

	if (list_length(request->args) != DWITHIN_NARGS)
		return false;
	radius = estimate_expression_value(request->root,
									   list_nth(request->args, DWITHIN_RADIUS));
	if (!IsA(radius, Const))
		/* some distance: at least what overlaps */
		clause.op = BVH_OVERLAPS;
	else if (((Const *) radius)->constisnull)
	{
		request->selectivity = 0.0;
		return true;
	}
	else
		clause.radius = DatumGetFloat8(((Const *) radius)->constvalue);

	boxes = list_make2(list_nth(request->args, DWITHIN_A),
					   list_nth(request->args, DWITHIN_B));
	if (request->is_join)
		request->selectivity = box3d_join(request->root,
										  &clause,
										  boxes,
										  request->jointype,
										  request->sjinfo);
	else
		request->selectivity = box3d_restriction(request->root,
												 &clause,
												 boxes,
												 request->varRelid);
	return true;
}

/*
 * box3d_function_address --- where a function in C is; NULL for any other
 *
 * Whose library need not have been loaded, but is when the query runs.
 */
PGFunction
box3d_function_address(Oid function)
{
	HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
	bool is_c;
	FmgrInfo info;

	if (!HeapTupleIsValid(tuple))
		return NULL;
	is_c = ((Form_pg_proc) GETSTRUCT(tuple))->prolang == ClanguageId;
	ReleaseSysCache(tuple);
	if (!is_c)
		return NULL;
	fmgr_info(function, &info);
	return info.fn_addr;
}

/*
 * box3d_find_operator --- the operator of a family that runs this function of ours;
 * or InvalidOid, also if the user may not call it
 *
 * Strategy 3 is something else in a btree family, and a family of somebody
 * else's may hold anything; so what counts is what the operator runs.
 */
Oid
box3d_find_operator(Oid opfamily, Oid left, Oid right, int strategy, PGFunction address)
{
	Oid opno = get_opfamily_member(opfamily, left, right, (int16) strategy);

	if (!OidIsValid(opno) || !bvh_may_execute(get_opcode(opno)) ||
		box3d_function_address(get_opcode(opno)) != address)
		return InvalidOid;
	return opno;
}

/*
 * box3d_find_function --- a function of ours, with these arguments, beside another one,
 * wherever the extension is installed; or InvalidOid, also if the user may not call it
 *
 * By its exact name and place in the catalog: whoever uses a view need not
 * have any right to the schema.
 */
Oid
box3d_find_function(const char *name, const Oid *argtypes, int nargs, Oid neighbour,
					PGFunction address)
{
	Oid function;

	function = GetSysCacheOid3(PROCNAMEARGSNSP,
							   Anum_pg_proc_oid,
							   CStringGetDatum(name),
							   PointerGetDatum(buildoidvector(argtypes, nargs)),
							   ObjectIdGetDatum(get_func_namespace(neighbour)));
	if (!OidIsValid(function) || !bvh_may_execute(function) ||
		box3d_function_address(function) != address)
		return InvalidOid;
	return function;
}

/*
 * index_condition --- box3d_dwithin(a, b, r) as "a && box3d_reach(b, r)", with
 * a the indexed one; NIL when that can't be done
 */
static List *
index_condition(SupportRequestIndexCondition *request)
{
	List *args;
	Oid *argtypes;
	int nargs;
	Node *indexed;
	Node *other;
	Node *radius;
	Node *reach;
	Oid opno;
	Oid reach_function;

	if (!IsA(request->node, FuncExpr))
		return NIL;
	args = ((FuncExpr *) request->node)->args;
	if (list_length(args) != DWITHIN_NARGS ||
		(request->indexarg != DWITHIN_A && request->indexarg != DWITHIN_B))
		return NIL;
	indexed = list_nth(args, request->indexarg);
	other = list_nth(args, request->indexarg == DWITHIN_A ? DWITHIN_B : DWITHIN_A);
	radius = list_nth(args, DWITHIN_RADIUS);
	/* an error for NaN is the function's to raise, if there is a row at all */
	if (IsA(radius, Const) && !((Const *) radius)->constisnull &&
		isnan(DatumGetFloat8(((Const *) radius)->constvalue)))
		return NIL;
	if (!is_pseudo_constant_for_index(request->root, other, request->index) ||
		!is_pseudo_constant_for_index(request->root, radius, request->index))
		return NIL;

	get_func_signature(request->funcid, &argtypes, &nargs);
	opno = box3d_find_operator(request->opfamily,
							   argtypes[DWITHIN_A],
							   argtypes[DWITHIN_A],
							   BVH_OVERLAPS,
							   box3d_overlaps);
	if (!OidIsValid(opno))
		return NIL;

	reach_function = box3d_find_function("box3d_reach",
										 (Oid[]){argtypes[DWITHIN_B], FLOAT8OID},
										 2,
										 request->funcid,
										 box3d_reach);
	if (!OidIsValid(reach_function))
		return NIL;

	reach = (Node *) makeFuncExpr(reach_function,
								  argtypes[DWITHIN_B],
								  list_make2(other, radius),
								  InvalidOid,
								  InvalidOid,
								  COERCE_EXPLICIT_CALL);
	/* a constant, if it is one, lets the index's cost be estimated */
	reach = eval_const_expressions(request->root, reach);

	request->lossy = true;
	return list_make1(make_opclause(
		opno, BOOLOID, false, (Expr *) indexed, (Expr *) reach, InvalidOid, InvalidOid));
}

/*
 * box3d_dwithin_support(internal) --- planner support of box3d_dwithin()
 */
Datum
box3d_dwithin_support(PG_FUNCTION_ARGS)
{
	Node *request = (Node *) PG_GETARG_POINTER(0);
	Node *answer = NULL;

	if (IsA(request, SupportRequestSelectivity) &&
		estimate_selectivity((SupportRequestSelectivity *) request))
		answer = request;
	else if (IsA(request, SupportRequestIndexCondition))
		answer = (Node *) index_condition((SupportRequestIndexCondition *) request);

	PG_RETURN_POINTER(answer);
}
