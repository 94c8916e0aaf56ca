/*-------------------------------------------------------------------------
 *
 * am_walk.h
 *	  Visiting every page of an index, to inspect it.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_AM_WALK_H
#define BVH_AM_WALK_H

#include "am/bvh.h"

typedef struct BvhVisit
{
	BlockNumber blkno;
	BlockNumber parent; /* InvalidBlockNumber for the root */
	int depth;          /* 0 for the root */
	bool has_bounds;    /* false for the root, and for a NULL union */
	Box3 bounds;        /* what the parent says is below */
	bool by_right_link; /* found through a sibling: a split not finished */
} BvhVisit;

/* visits a page, which is locked for reading */
typedef void (*BvhVisitor)(void *context, const BvhVisit *visit, Page page);

extern Relation bvh_open_index(Oid oid, LOCKMODE lockmode);
extern void bvh_walk(Relation index, BvhVisitor visitor, void *context);

#endif /* BVH_AM_WALK_H */
