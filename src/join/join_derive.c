/*-------------------------------------------------------------------------
 *
 * join_derive.c
 *	  Conditions between boxes that follow from others.
 *
 * A tree has boxes only.  What a box has in common with a sphere or a ray is a
 * question of their bounds first: the tree answers that, and the condition itself
 * is evaluated for each pair that it gives, as any other is.  The same goes for
 * distances that are compared with a number.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "join/join.h"
#include "type/box3d.h"
#include "type/box3d_plan.h"
#include "type/ray3d.h"
#include "type/shapes3d.h"

/* an operator between a box and a shape that has bounds */
typedef struct ShapeOperator
{
	PGFunction function;
	int box_arg;
	BvhOp op; /* between the box and the bounds */
	const char *bounds_name;
	PGFunction bounds;
} ShapeOperator;

static const ShapeOperator shape_operators[] = {
	{box3d_meets_sphere, 0, BVH_OVERLAPS, "sphere3d_bounds", sphere3d_bounds},
	{sphere3d_meets_box, 1, BVH_OVERLAPS, "sphere3d_bounds", sphere3d_bounds},
	{box3d_in_sphere, 0, BVH_CONTAINED_BY, "sphere3d_bounds", sphere3d_bounds},
	{sphere3d_contains_box, 1, BVH_CONTAINED_BY, "sphere3d_bounds", sphere3d_bounds},
	{box3d_meets_ray, 0, BVH_OVERLAPS, "ray3d_bounds", ray3d_bounds},
	{ray3d_meets_box, 1, BVH_OVERLAPS, "ray3d_bounds", ray3d_bounds},
};

/* the operator between two boxes; NULL if there is none that the user may call */
static Expr *
compare_boxes(BvhOp op, Node *left, Node *right)
{
	Oid type = exprType(left);
	Oid opclass = GetDefaultOpClass(type, GIST_AM_OID);
	Oid opno;

	if (!OidIsValid(opclass))
		return NULL;
	opno = box3d_find_operator(get_opclass_family(opclass),
							   type,
							   type,
							   op,
							   op == BVH_OVERLAPS ? box3d_overlaps : box3d_contained_by);
	if (!OidIsValid(opno))
		return NULL;
	return make_opclause(
		opno, BOOLOID, false, (Expr *) left, (Expr *) right, InvalidOid, InvalidOid);
}

/* box && sphere, box <@ sphere, box && ray, and the other way round */
static Expr *
derive_from_shape(const OpExpr *clause, BvhOp *op)
{
	PGFunction address;

	if (clause->opno < FirstNormalObjectId || list_length(clause->args) != 2)
		return NULL;
	address = box3d_function_address(get_opcode(clause->opno));
	for (int i = 0; address != NULL && i < (int) lengthof(shape_operators); i++)
	{
		const ShapeOperator *shape = &shape_operators[i];
		Node *box = list_nth(clause->args, shape->box_arg);
		Node *other = list_nth(clause->args, 1 - shape->box_arg);
		Oid type = exprType(other);
		Oid bounds;

		if (shape->function != address)
			continue;
		bounds = box3d_find_function(shape->bounds_name,
									 &type,
									 1,
									 get_opcode(clause->opno),
									 shape->bounds);
		if (!OidIsValid(bounds))
			return NULL;
		*op = shape->op;
		return compare_boxes(shape->op,
							 box,
							 (Node *) makeFuncExpr(bounds,
												   exprType(box),
												   list_make1(other),
												   InvalidOid,
												   InvalidOid,
												   COERCE_EXPLICIT_CALL));
	}
	return NULL;
}

/* box <-> box < number; the number belongs to the side of either, or to both */
static Expr *
derive_from_distance(PlannerInfo *root, Node *clause, BvhOp *op)
{
	BoxBound bound;
	Node *box;
	Node *query;

	if (!box3d_match_bound(clause, &bound) || bound.is_ray)
		return NULL;
	box = linitial(bound.args);
	query = lsecond(bound.args);
	if (bms_overlap(pull_varnos(root, bound.limit), pull_varnos(root, box)))
	{
		query = linitial(bound.args);
		box = lsecond(bound.args);
	}
	query = box3d_limited_query(&bound, query);
	if (query == NULL)
		return NULL;
	*op = BVH_OVERLAPS;
	return compare_boxes(BVH_OVERLAPS, box, query);
}

/*
 * bvh_join_derive --- a condition between two boxes that holds whenever this one does,
 * and its operator; NULL if there is none
 */
RestrictInfo *
bvh_join_derive(PlannerInfo *root, RestrictInfo *rinfo, BvhOp *op)
{
	Expr *derived;
	RestrictInfo *result;

	if (!IsA(rinfo->clause, OpExpr))
		return NULL;
	derived = derive_from_shape((OpExpr *) rinfo->clause, op);
	if (derived == NULL)
		derived = derive_from_distance(root, (Node *) rinfo->clause, op);
	if (derived == NULL)
		return NULL;
	result = make_simple_restrictinfo(root, derived);
	result->security_level = rinfo->security_level;
	return result;
}
