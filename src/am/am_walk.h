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
	GistNSN parent_lsn; /* of the parent when its downlink was read */
	int depth;          /* 0 for the root */
	bool has_bounds;    /* false for the root, and for a NULL union */
	Box3 bounds;        /* what the parent says is below */
} BvhVisit;

/* what a walk itself finds wrong; the numbers are those of bvh_check() */
typedef enum BvhDamage
{
	BVH_LINK_DAMAGED = 1, /* to a deleted page, or to one that does not exist */
	BVH_PAGE_AGAIN = 5,   /* reached a second time */
	BVH_PAGE_DAMAGED = 8  /* what it holds must not be looked at */
} BvhDamage;

typedef struct BvhWalker
{
	/*
	 * Visits a page, which is locked for reading.  Its items may be used as
	 * they are: pages whose items cannot be are not visited.
	 */
	void (*visit)(void *context, const BvhVisit *visit, Page page);

	/*
	 * Hears of pages that are not visited.  If NULL, a damaged page and a
	 * link to nowhere are errors, and others are passed over: beside VACUUM,
	 * a page may be deleted after its downlink was read.
	 */
	void (*damage)(void *context, BvhDamage damage, const BvhVisit *visit,
				   const char *problem);
} BvhWalker;

extern Relation bvh_open_index(Oid oid, LOCKMODE lockmode, bool may_be_gist);
extern void bvh_walk(Relation index, const BvhWalker *walker, void *context);

#endif /* BVH_AM_WALK_H */
