/*-------------------------------------------------------------------------
 *
 * box3d_stats.h
 *	  What ANALYZE keeps of a box3d column, and who reads it.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BOX3D_STATS_H
#define BVH_BOX3D_STATS_H

#include "nodes/pathnodes.h"
#include "utils/selfuncs.h"

#include "core/sample.h"

/*
 * stakind of our slot of pg_statistic; 10000 to 30000 are for private use.
 * stanumbers is an encoded sample of core/sample.h.
 */
#define BVH_STATISTIC_KIND_SAMPLE 17283

/* boxes of the sample for each unit of the column's statistics target */
#define BVH_SAMPLE_PER_TARGET 100
/* and at most this many: 1.4 MB */
#define BVH_SAMPLE_LIMIT 60000

/* what an operator or function asks, and in which place it comes */
typedef struct BoxClause
{
	Oid function;  /* may its caller see statistics? */
	int op;        /* BvhOp or BvhShapeOp; BVH_DISTANCE stands for box3d_dwithin */
	double radius; /* of box3d_dwithin; for &&, by how much a side is grown */
} BoxClause;

/* box3d_sample.c */
extern const BoxSample *box3d_open_sample(VariableStatData *column);

/* box3d_sel.c */
extern double box3d_restriction(PlannerInfo *root, const BoxClause *clause, List *args,
								int varRelid);
extern double box3d_join(PlannerInfo *root, const BoxClause *clause, List *args,
						 JoinType jointype, SpecialJoinInfo *sjinfo);

#endif /* BVH_BOX3D_STATS_H */
