/*-------------------------------------------------------------------------
 *
 * box3d_sel.c
 *	  How many rows an operator keeps: estimators for restrictions and joins.
 *
 * Every estimate comes from the sample that ANALYZE keeps (core/sample.c). A
 * join is the mean of restrictions by boxes of the other side's sample.
 * Without a sample, or without the right to see it, the estimate is one of
 * PostgreSQL's constants for operators on shapes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_statistic.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/catcache.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "core/ray3.h"
#include "core/sample_shape.h"
#include "core/sphere3.h"
#include "pg/compat.h"
#include "type/box3d.h"
#include "type/box3d_plan.h"
#include "type/box3d_stats.h"
#include "type/ray3d.h"
#include "type/shapes3d.h"
#include "type/strategy.h"

BVH_FUNCTION(box3d_sel);
BVH_FUNCTION(box3d_joinsel);

/* boxes of one sample that probe the other in a join */
#define JOIN_PROBES 100

/* and blocks of the other that they probe */
#define MEAN_BLOCKS 640

/* matches between probes and sample that are enough to be counted */
#define ENOUGH_HITS 16

/* boxes that stand for that around a ray which is not known */
#define MEAN_SPANS 16

/* spheres that stand for one that is not known */
#define MEAN_SPHERES 32

/* means that are remembered; planning a join asks for each several times */
#define MAX_MEANS 32

/* a column's sample, and what part of the rows it stands for */
typedef struct ColumnSample
{
	const BoxSample *boxes;
	double not_null;
} ColumnSample;

/* the constants of geo_selfuncs.c: area, position, containment */
static double
default_selectivity(int op)
{
	switch (op)
	{
		case BVH_OVERLAPS:
		case BVH_OVERLAPS_STRICTLY:
		case BVH_DISTANCE:
		case BVH_MEETS_RAY:
		case BVH_MEETS_SPHERE:
		case BVH_MEETS_PLANES:
			return 0.005;
		case BVH_CONTAINS:
		case BVH_CONTAINED_BY:
		case BVH_IN_SPHERE:
		case BVH_IN_PLANES:
			return 0.001;
		default:
			return 0.1;
	}
}

/* the operator's strategy in a family of that access method; 0 if in none */
static int
operator_strategy(Oid opno, Oid access_method)
{
	CatCList *list = SearchSysCacheList1(AMOPOPID, ObjectIdGetDatum(opno));
	int strategy = 0;

	for (int i = 0; i < list->n_members && strategy == 0; i++)
	{
		Form_pg_amop amop = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);

		if (amop->amopmethod == access_method)
			strategy = amop->amopstrategy;
	}
	ReleaseSysCacheList(list);
	return strategy;
}

/*
 * box_operator --- what the operator is to a box: its strategy in a GiST
 * family, or of "box op shape" for "shape op box"; 0 if it is none of those
 */
static int
box_operator(Oid opno)
{
	int strategy = operator_strategy(opno, GIST_AM_OID);

	if (strategy == 0 && OidIsValid(get_commutator(opno)))
	{
		strategy = operator_strategy(get_commutator(opno), GIST_AM_OID);
		if (!shape_filters(strategy))
			strategy = 0;
	}
	return strategy;
}

/* part of the rows that have a box, as far as the user may know */
static double
part_not_null(VariableStatData *column, Oid function)
{
	if (!HeapTupleIsValid(column->statsTuple) ||
		!statistic_proc_security_check(column, function))
		return 1.0;
	return 1.0 - ((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac;
}

/*
 * open_sample --- the sample of a column, if there is one that the user of
 * the function may learn from
 */
static bool
open_sample(VariableStatData *column, Oid function, ColumnSample *sample)
{
	if (!HeapTupleIsValid(column->statsTuple) ||
		!statistic_proc_security_check(column, function))
		return false;
	sample->boxes = box3d_open_sample(column);
	if (sample->boxes == NULL)
		return false;
	sample->not_null = 1.0 -
					   ((Form_pg_statistic) GETSTRUCT(column->statsTuple))->stanullfrac;
	return true;
}

/* part of the sampled boxes that match one box; left_out as in core/sample.h */
static double
match(const ColumnSample *sample, const BoxClause *clause, bool reversed,
	  const Box3 *query, int left_out, double *counted)
{
	Box3 grown;

	if (clause->op == BVH_DISTANCE)
		return sample_dwithin(sample->boxes, query, clause->radius, left_out, counted);
	if (clause->radius > 0.0)
	{
		box3_reach(query, clause->radius, &grown);
		query = &grown;
	}
	return sample_selectivity(sample->boxes,
							  clause->op,
							  reversed,
							  query,
							  left_out,
							  counted);
}

/* do two boxes with the same bounds match? */
static bool
matches_itself(const BoxClause *clause, const Box3 *box)
{
	return clause->op == BVH_DISTANCE ? clause->radius >= 0
									  : box3_matches(box, clause->op, box);
}

/*
 * compute_mean --- the average of match() over boxes of another sample
 *
 * is_self says that both are the same column of one table, where a sampled
 * box meets itself; the true number of such meetings is one a row, or none
 * when table_rows is 0, because another clause keeps a row from meeting
 * itself.  nrows, when positive, turns the parts into the chance that at least
 * one of that many rows matches.
 */
static double
compute_mean(const ColumnSample *sample, const ColumnSample *probes,
			 const BoxClause *clause, bool reversed, bool is_self, double table_rows,
			 double nrows)
{
	int nprobes = Min(probes->boxes->nboxes, JOIN_PROBES);
	BoxSample some = *sample->boxes;
	ColumnSample view = {&some, sample->not_null};
	double sum = 0.0;
	double hits = 0.0; /* parts of the sample that match, added up */
	double selves = 0.0;

	/* a mean needs fewer boxes than one query does */
	some.stride = Max(sample_nblocks(some.nboxes) / MEAN_BLOCKS, 1);
	for (int i = 0; i < nprobes; i++)
	{
		int which = (int) ((int64) i * probes->boxes->nboxes / nprobes);
		double part;
		double counted;
		double self;
		Box3 box;

		CHECK_FOR_INTERRUPTS();
		sample_box(probes->boxes, which, &box);
		part = match(&view, clause, reversed, &box, is_self ? which : -1, &counted);
		hits += counted;
		self = 0.0;
		if (is_self && table_rows > 0.0 && matches_itself(clause, &box))
			self = 1.0 / table_rows;
		if (nrows > 0.0)
			sum += 1.0 - (1.0 - Min(self * nrows, 1.0)) * exp(-part * nrows);
		else
			sum += Min(part + self, 1.0);
		selves += self;
	}
	/* what is coarse for one query is right for all of them, if it is enough */
	if (nrows == 0.0 && hits * some.nboxes / some.stride >= ENOUGH_HITS)
		sum = hits + selves;
	return Min(sum / nprobes, 1.0);
}

/* compute_mean() with memory */
static double
mean_match(const ColumnSample *sample, const ColumnSample *probes,
		   const BoxClause *clause, bool reversed, bool is_self, double table_rows,
		   double nrows)
{
	typedef struct Mean
	{
		uint64 sample_id;
		uint64 probes_id;
		int op;
		int flags;
		double radius;
		double table_rows;
		double nrows;
		double value;
	} Mean;
	static Mean means[MAX_MEANS];
	static int oldest = 0;
	Mean wanted = {sample->boxes->id,
				   probes->boxes->id,
				   clause->op,
				   (reversed ? 1 : 0) | (is_self ? 2 : 0),
				   clause->radius,
				   is_self ? table_rows : 0.0,
				   nrows,
				   0.0};

	for (int i = 0; i < MAX_MEANS; i++)
		if (wanted.sample_id != 0 && wanted.probes_id != 0 &&
			memcmp(&means[i], &wanted, offsetof(Mean, value)) == 0)
			return means[i].value;
	wanted.value =
		compute_mean(sample, probes, clause, reversed, is_self, table_rows, nrows);
	means[oldest] = wanted;
	oldest = (oldest + 1) % MAX_MEANS;
	return wanted.value;
}

/* the table of a plain column, or InvalidOid */
static Oid
table_of(PlannerInfo *root, const VariableStatData *column)
{
	if (column->var == NULL || !IsA(column->var, Var) || column->rel == NULL)
		return InvalidOid;
	return planner_rt_fetch(column->rel->relid, root)->relid;
}

/* are both the same column of the same table? */
static bool
is_same_column(PlannerInfo *root, const VariableStatData *a, const VariableStatData *b)
{
	return OidIsValid(table_of(root, a)) && table_of(root, a) == table_of(root, b) &&
		   ((Var *) a->var)->varattno == ((Var *) b->var)->varattno;
}

/*
 * look_through_growth --- what box3d_expand(x, r), or box3d_reach() or box3d_bound(),
 * grows
 *
 * For an overlap it does not matter which side is grown, so r is added to the
 * clause's radius, and x stands for the expression.
 */
static Node *
look_through_growth(PlannerInfo *root, BoxClause *clause, Node *node)
{
	FuncExpr *call = (FuncExpr *) node;
	FmgrInfo function;
	Node *amount;

	if (!IsA(node, FuncExpr) || list_length(call->args) != 2 ||
		(clause->op != BVH_OVERLAPS && clause->op != BVH_OVERLAPS_STRICTLY))
		return node;
	fmgr_info(call->funcid, &function);
	if (function.fn_addr != box3d_expand && function.fn_addr != box3d_reach &&
		function.fn_addr != box3d_bound)
		return node;
	amount = estimate_expression_value(root, lsecond(call->args));
	if (!IsA(amount, Const) || ((Const *) amount)->constisnull ||
		!(DatumGetFloat8(((Const *) amount)->constvalue) >= 0.0))
		return node;
	clause->radius += DatumGetFloat8(((Const *) amount)->constvalue);
	return linitial(call->args);
}

/*
 * mean_of_unknown --- for a query box of which there is no sample: it is taken to be like
 * the boxes of the column, or as large as from one of them to another if it is around a
 * ray
 */
static double
mean_of_unknown(const ColumnSample *sample, const VariableStatData *column,
				const BoxClause *clause, bool reversed, const Node *query)
{
	double table_rows = column->rel != NULL ? column->rel->tuples : 0.0;
	int nboxes = sample->boxes->nboxes;
	double sum = 0.0;

	if (!IsA(query, FuncExpr) ||
		box3d_function_address(((const FuncExpr *) query)->funcid) != ray3d_bounds)
		return mean_match(sample, sample, clause, reversed, true, table_rows, 0.0);
	for (int i = 0; i < MEAN_SPANS; i++)
	{
		double counted;
		Box3 box[2];

		sample_box(sample->boxes, (int) ((int64) i * nboxes / MEAN_SPANS), &box[0]);
		sample_box(sample->boxes,
				   (int) ((int64) (5 * i + 3) % MEAN_SPANS * nboxes / MEAN_SPANS),
				   &box[1]);
		box3_include(&box[0], &box[1]);
		sum += match(sample, clause, reversed, &box[0], -1, &counted);
	}
	return sum / MEAN_SPANS;
}

/*
 * restriction_by_variable --- for a query box that is not known while planning:
 * it is taken to be like the boxes of its own column, or else of this one
 */
static double
restriction_by_variable(PlannerInfo *root, const ColumnSample *sample,
						VariableStatData *column, const BoxClause *clause, bool reversed,
						Node *other)
{
	double table_rows = column->rel != NULL ? column->rel->tuples : 0.0;
	BoxClause grown = *clause;
	VariableStatData other_column;
	ColumnSample other_sample;
	double selectivity;

	other = look_through_growth(root, &grown, other);
	examine_variable(root, other, 0, &other_column);
	if (open_sample(&other_column, clause->function, &other_sample))
		selectivity = mean_match(sample,
								 &other_sample,
								 &grown,
								 reversed,
								 is_same_column(root, column, &other_column),
								 table_rows,
								 0.0);
	else
		selectivity = mean_of_unknown(sample, column, &grown, reversed, other);
	ReleaseVariableStats(other_column);
	return selectivity;
}

/* length of the type of an operand; -1 for a varlena */
static int
operand_length(int op)
{
	switch (op)
	{
		case BVH_MEETS_RAY:
			return sizeof(Ray3);
		case BVH_MEETS_SPHERE:
		case BVH_IN_SPHERE:
			return sizeof(Sphere3);
		case BVH_MEETS_PLANES:
		case BVH_IN_PLANES:
			return -1;
		default:
			return sizeof(Box3);
	}
}

/* for a shape that is known */
static double
match_shape(const ColumnSample *sample, int op, Datum operand)
{
	BvhShape shape = {(BvhShapeOp) op, DatumGetPointer(operand)};

	if (op == BVH_MEETS_SPHERE)
	{
		const Sphere3 *sphere = shape.operand;
		Box3 center = sphere3_center(sphere);

		return sample_dwithin(sample->boxes, &center, sphere->radius, -1, NULL);
	}
	return sample_shape_selectivity(sample->boxes, &shape);
}

/*
 * sphere_mean --- part of the boxes that match a sphere, on average over those that fit
 * into boxes of another sample
 */
static double
sphere_mean(const ColumnSample *sample, const BoxSample *bounds, int op)
{
	int nspheres = Min(bounds->nboxes, MEAN_SPHERES);
	double sum = 0.0;
	int n = 0;

	for (int i = 0; i < nspheres; i++)
	{
		Sphere3 sphere;
		double center[3];
		double radius = 0.0;
		Box3 box;

		CHECK_FOR_INTERRUPTS();
		sample_box(bounds, (int) ((int64) i * bounds->nboxes / nspheres), &box);
		for (int d = 0; d < 3; d++)
		{
			center[d] = box3_center(&box, d);
			radius = Max(radius, 0.5 * box.hi[d] - 0.5 * box.lo[d]);
		}
		/* a box without end */
		if (sphere3_make(center, radius, &sphere) != NULL)
			continue;
		sum += match_shape(sample, op, PointerGetDatum(&sphere));
		n++;
	}
	return n > 0 ? sum / n : default_selectivity(op);
}

/*
 * typical_sphere --- for a sphere that is not known while planning: its bounds may have
 * statistics, of an index on them or extended ones; else it is taken to be about as large
 * as the boxes
 */
static double
typical_sphere(PlannerInfo *root, const ColumnSample *sample, const BoxClause *clause,
			   Node *sphere)
{
	Oid type = exprType(sphere);
	Oid function = box3d_find_function("sphere3d_bounds",
									   &type,
									   1,
									   clause->function,
									   sphere3d_bounds);
	VariableStatData column;
	ColumnSample bounds;
	double selectivity;

	if (!OidIsValid(function))
		return default_selectivity(clause->op);
	examine_variable(root,
					 (Node *) makeFuncExpr(function,
										   get_func_rettype(function),
										   list_make1(sphere),
										   InvalidOid,
										   InvalidOid,
										   COERCE_EXPLICIT_CALL),
					 0,
					 &column);
	if (open_sample(&column, clause->function, &bounds))
		selectivity = sphere_mean(sample, bounds.boxes, clause->op);
	/* points tell of no size */
	else if (sample->boxes->mean_side[0] > 0 || sample->boxes->mean_side[1] > 0 ||
			 sample->boxes->mean_side[2] > 0)
		selectivity = sphere_mean(sample, sample->boxes, clause->op);
	else
		selectivity = default_selectivity(clause->op);
	ReleaseVariableStats(column);
	return selectivity;
}

/* for a shape that is not known while planning; of planes, nothing is typical */
static double
typical_shape(PlannerInfo *root, const ColumnSample *sample, const BoxClause *clause,
			  Node *shape)
{
	switch (clause->op)
	{
		case BVH_MEETS_RAY:
			return sample_ray_mean(sample->boxes);
		case BVH_MEETS_SPHERE:
		case BVH_IN_SPHERE:
			return typical_sphere(root, sample, clause, shape);
		default:
			return default_selectivity(clause->op);
	}
}

/*
 * box3d_restriction --- part of a table's rows that a clause with one of its
 * columns keeps
 */
double
box3d_restriction(PlannerInfo *root, const BoxClause *clause, List *args, int varRelid)
{
	double selectivity = default_selectivity(clause->op);
	VariableStatData column;
	ColumnSample sample;
	Node *other;
	bool column_is_left;
	double counted;

	/* 0: an operator of somebody else's, which is in no GiST operator family */
	if (clause->op == 0 ||
		!get_restriction_variable(root, args, varRelid, &column, &other, &column_is_left))
		return selectivity;

	/* all our operators are strict */
	if (IsA(other, Const) && ((Const *) other)->constisnull)
		selectivity = 0.0;
	else if (IsA(other, Const) &&
			 (((Const *) other)->constbyval ||
			  ((Const *) other)->constlen != operand_length(clause->op)))
		/* an operator that somebody gave our family, on another type */
		;
	else if (open_sample(&column, clause->function, &sample))
	{
		if (shape_filters(clause->op) && IsA(other, Const))
			selectivity = match_shape(&sample, clause->op, ((Const *) other)->constvalue);
		else if (shape_filters(clause->op))
			selectivity = typical_shape(root, &sample, clause, other);
		else if (IsA(other, Const))
			selectivity = match(&sample,
								clause,
								!column_is_left,
								DatumGetBox3P(((Const *) other)->constvalue),
								-1,
								&counted);
		else
			selectivity = restriction_by_variable(root,
												  &sample,
												  &column,
												  clause,
												  !column_is_left,
												  other);
		selectivity *= sample.not_null;
	}
	else
		selectivity *= part_not_null(&column, clause->function);
	ReleaseVariableStats(column);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/* is it an operator that no value has with itself: <, > or <> of a btree? */
static bool
is_irreflexive(Oid opno)
{
	int strategy = operator_strategy(opno, BTREE_AM_OID);

	if (strategy == BTLessStrategyNumber || strategy == BTGreaterStrategyNumber)
		return true;
	opno = get_negator(opno);
	return OidIsValid(opno) &&
		   operator_strategy(opno, BTREE_AM_OID) == BTEqualStrategyNumber;
}

/*
 * keeps_rows_apart --- does another clause, such as a.id < b.id, keep a row of
 * a self-join from meeting itself?
 */
static bool
keeps_rows_apart(RelOptInfo *a, RelOptInfo *b)
{
	ListCell *cell;

	if (a == NULL || b == NULL)
		return false;
	foreach (cell, a->joininfo)
	{
		OpExpr *clause = (OpExpr *) lfirst_node(RestrictInfo, cell)->clause;
		Var *left;
		Var *right;

		if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
			continue;
		left = linitial(clause->args);
		right = lsecond(clause->args);
		if (IsA(left, Var) && IsA(right, Var) && left->varattno == right->varattno &&
			bms_is_member(left->varno, bms_union(a->relids, b->relids)) &&
			bms_is_member(right->varno, bms_union(a->relids, b->relids)) &&
			left->varno != right->varno && is_irreflexive(clause->opno))
			return true;
	}
	return false;
}

/* the chance that at least one of a table's rows matches, if each does with this one */
static double
chance_of_any(double selectivity, const RelOptInfo *rel)
{
	return 1.0 - exp(-selectivity * (rel != NULL ? Max(rel->rows, 1.0) : 1.0));
}

/*
 * box3d_join --- part of all pairs of rows that a clause between two tables
 * keeps; for semi and anti joins, of the left side's rows
 */
double
box3d_join(PlannerInfo *root, const BoxClause *clause, List *args, JoinType jointype,
		   SpecialJoinInfo *sjinfo)
{
	double selectivity = default_selectivity(clause->op);
	bool is_semi = jointype == JOIN_SEMI || jointype == JOIN_ANTI;
	BoxClause grown = *clause;
	VariableStatData column[2];
	ColumnSample sample[2];
	bool is_open[2];
	bool is_reversed;

	if (clause->op == 0)
		return selectivity;
	args = list_make2(look_through_growth(root, &grown, linitial(args)),
					  look_through_growth(root, &grown, lsecond(args)));
	get_join_variables(root, args, sjinfo, &column[0], &column[1], &is_reversed);
	for (int i = 0; i < 2; i++)
		is_open[i] = open_sample(&column[i], clause->function, &sample[i]);

	if (shape_filters(clause->op))
	{
		/* only boxes have samples, so that is the side of the boxes */
		int boxes = is_open[0] ? 0 : 1;

		if (is_open[boxes])
			selectivity = typical_shape(root,
										&sample[boxes],
										clause,
										list_nth(args, 1 - boxes)) *
						  sample[boxes].not_null;
		if (is_semi)
			selectivity = chance_of_any(selectivity, column[is_reversed ? 0 : 1].rel);
	}
	else if (is_open[0] && is_open[1])
	{
		/* the argument whose sample probes: the left side of a semi join */
		int probe = is_semi && is_reversed ? 1 : 0;
		int built = 1 - probe;
		RelOptInfo *rel = column[built].rel;
		double nrows = is_semi && rel != NULL ? Max(rel->rows, 1.0) : 0.0;

		selectivity = mean_match(&sample[built],
								 &sample[probe],
								 &grown,
								 built == 1,
								 is_same_column(root, &column[0], &column[1]),
								 rel != NULL &&
										 !keeps_rows_apart(column[0].rel, column[1].rel)
									 ? rel->tuples
									 : 0.0,
								 nrows);
		selectivity *= sample[probe].not_null;
		if (nrows == 0.0)
			selectivity *= sample[built].not_null;
	}
	else if (is_open[0] || is_open[1])
	{
		int known = is_open[0] ? 0 : 1;
		RelOptInfo *rel = column[is_reversed ? 0 : 1].rel;

		selectivity = mean_of_unknown(&sample[known],
									  &column[known],
									  &grown,
									  known == 1,
									  list_nth(args, 1 - known)) *
					  sample[known].not_null;
		if (is_semi)
			selectivity = chance_of_any(selectivity, rel);
	}
	for (int i = 0; i < 2; i++)
		ReleaseVariableStats(column[i]);
	CLAMP_PROBABILITY(selectivity);
	return selectivity;
}

/*
 * box3d_sel(internal, oid, internal, int4) --- restriction estimator
 */
Datum
box3d_sel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid opno = PG_GETARG_OID(1);
	List *args = (List *) PG_GETARG_POINTER(2);
	int varRelid = PG_GETARG_INT32(3);
	BoxClause clause = {get_opcode(opno), box_operator(opno), 0.0};

	PG_RETURN_FLOAT8(box3d_restriction(root, &clause, args, varRelid));
}

/*
 * box3d_joinsel(internal, oid, internal, int2, internal) --- join estimator
 *
 * Of "~=", too, though it leaves the estimate to that of any equality: planning
 * a join by one of our operators has to load this library, see join_path.c.
 */
Datum
box3d_joinsel(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	Oid opno = PG_GETARG_OID(1);
	List *args = (List *) PG_GETARG_POINTER(2);
	JoinType jointype = (JoinType) PG_GETARG_INT16(3);
	SpecialJoinInfo *sjinfo = (SpecialJoinInfo *) PG_GETARG_POINTER(4);
	BoxClause clause = {get_opcode(opno), box_operator(opno), 0.0};

	if (clause.op == BVH_SAME)
		return DirectFunctionCall5Coll(eqjoinsel,
									   PG_GET_COLLATION(),
									   PG_GETARG_DATUM(0),
									   PG_GETARG_DATUM(1),
									   PG_GETARG_DATUM(2),
									   PG_GETARG_DATUM(3),
									   PG_GETARG_DATUM(4));
	PG_RETURN_FLOAT8(box3d_join(root, &clause, args, jointype, sjinfo));
}
