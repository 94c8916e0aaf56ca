/*-------------------------------------------------------------------------
 *
 * join.h
 *	  BVH Join: all pairs of two inputs that a box operator matches.
 *
 * README says when it is offered, what it costs and what it holds.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_JOIN_H
#define BVH_JOIN_H

#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"

#include "core/tree.h"

/* as EXPLAIN shows it; also the name in a plan that goes to a worker */
#define BVH_JOIN_NAME "BVH Join"

/*
 * The join clause that the tree answers: an operator, or box3d_dwithin().  It may be
 * derived from one of the join's conditions, which then stays among them.
 */
typedef struct BvhJoinClause
{
	RestrictInfo *rinfo;
	BvhOp op;                /* BVH_DISTANCE for box3d_dwithin() */
	bool outer_is_left;      /* which argument comes from the outer side */
	Selectivity selectivity; /* of all pairs */
} BvhJoinClause;

typedef struct BvhJoinPath
{
	CustomPath custom;
	JoinType jointype;
	bool inner_unique;
	bool is_of_same_rows; /* see join_same.c */
	List *restrictlist;
	BvhJoinClause clause;
} BvhJoinPath;

/* members of CustomScan.custom_private */
typedef enum BvhJoinPrivate
{
	BVH_JOIN_TYPE,          /* JoinType */
	BVH_JOIN_OP,            /* BvhOp */
	BVH_JOIN_OUTER_IS_LEFT, /* bool */
	BVH_JOIN_INNER_UNIQUE,  /* bool */
	BVH_JOIN_OF_SAME_ROWS,  /* bool */
	BVH_JOIN_NPRIVATE_INTS,
	/* then, for each column of custom_scan_tlist, where it comes from */
	BVH_JOIN_COLUMNS = BVH_JOIN_NPRIVATE_INTS
} BvhJoinPrivate;

/* members of CustomScan.custom_exprs */
typedef enum BvhJoinExprs
{
	BVH_JOIN_CLAUSE, /* an OpExpr or a FuncExpr */
	BVH_JOIN_QUALS,  /* List: further join conditions */
	BVH_JOIN_FILTER  /* List: conditions on the rows of an outer join */
} BvhJoinExprs;

/* arguments of the clause */
enum
{
	BVH_JOIN_LEFT_ARG,
	BVH_JOIN_RIGHT_ARG,
	BVH_JOIN_RADIUS_ARG /* of box3d_dwithin() */
};

/* join_path.c */
extern void bvh_join_install(void);

/* join_same.c */
extern bool bvh_join_is_of_same_rows(PlannerInfo *root, const RelOptInfo *outer,
									 const RelOptInfo *inner,
									 const BvhJoinClause *clause);
extern bool bvh_join_same_columns(PlannerInfo *root, RelOptInfo *outer, RelOptInfo *inner,
								  Path **outer_path, Path **inner_path);

/* join_derive.c */
extern RestrictInfo *bvh_join_derive(PlannerInfo *root, RestrictInfo *rinfo, BvhOp *op);

/* join_cost.c */
extern Selectivity bvh_join_selectivity(PlannerInfo *root, RestrictInfo *rinfo,
										RelOptInfo *outer, RelOptInfo *inner);
extern bool bvh_join_is_beaten(const Path *outer, const Path *inner, JoinType jointype,
							   const BvhJoinClause *clause, bool is_of_same_rows);
extern void bvh_join_cost(PlannerInfo *root, BvhJoinPath *path,
						  const JoinPathExtraData *extra);

/* join_plan.c */
extern Plan *bvh_join_plan(PlannerInfo *root, RelOptInfo *rel, CustomPath *best_path,
						   List *tlist, List *clauses, List *custom_plans);

/* join_exec.c */
extern const CustomScanMethods bvh_join_scan_methods;

#endif /* BVH_JOIN_H */
