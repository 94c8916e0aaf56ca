/*-------------------------------------------------------------------------
 *
 * box3d_plan.h
 *	  What the planner makes of our functions, and how it finds them.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BOX3D_PLAN_H
#define BVH_BOX3D_PLAN_H

#include "fmgr.h"
#include "nodes/pathnodes.h"

/* a comparison that bounds a distance from above */
typedef struct BoxBound
{
	Oid function;  /* of the distance */
	List *args;    /* its two arguments */
	bool is_ray;   /* is it the time of a ray? */
	bool is_equal; /* "<=" */
	Node *limit;
} BoxBound;

/* box3d_support.c */
extern PGFunction box3d_function_address(Oid function);
extern Oid box3d_find_operator(Oid opfamily, Oid left, Oid right, int strategy,
							   PGFunction address);
extern Oid box3d_find_function(const char *name, const Oid *argtypes, int nargs,
							   Oid neighbour, PGFunction address);

/* box3d_bound.c */
extern bool box3d_match_bound(Node *clause, BoxBound *bound);
extern Node *box3d_limited_query(const BoxBound *bound, Node *query);
extern void box3d_bound_install(void);

#endif /* BVH_BOX3D_PLAN_H */
