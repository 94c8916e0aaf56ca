/*-------------------------------------------------------------------------
 *
 * am_walk.c
 *	  Visiting every page of an index, to inspect it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_am.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "am/am_walk.h"
#include "pg/compat.h"
#include "type/box3d.h"

/*
 * bvh_open_index --- open an index whose pages hold boxes as we know them
 *
 * That is a bvh index, or a GiST index with our operator class and no other
 * key column.  An error for anything else.
 */
Relation
bvh_open_index(Oid oid, LOCKMODE lockmode)
{
	Relation index = relation_open(oid, lockmode);
	FmgrInfo *consistent = NULL;

	if (index->rd_rel->relkind == RELKIND_INDEX &&
		(index->rd_rel->relam == GIST_AM_OID ||
		 index->rd_indam->ambeginscan == bvhbeginscan) &&
		IndexRelationGetNumberOfKeyAttributes(index) == 1)
		consistent = index_getprocinfo(index, 1, GIST_CONSISTENT_PROC);
	if (consistent == NULL || consistent->fn_addr != box3d_gist_consistent)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is not an index on boxes", RelationGetRelationName(index)),
				errdetail("It must be an index with one key column, of access method bvh "
						  "or gist, with operator class box3d_ops."));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary indexes of other sessions"));
	return index;
}

/* pages still to be visited, first in, first out */
typedef struct WalkQueue
{
	BvhVisit *visits;
	size_t n;
	size_t size;
} WalkQueue;

static void
enqueue(WalkQueue *queue, const BvhVisit *visit)
{
	if (queue->n == queue->size)
	{
		queue->size = Max(1024, 2 * queue->size);
		if (queue->visits == NULL)
			queue->visits = palloc(sizeof(BvhVisit) * queue->size);
		else
			queue->visits = repalloc_huge(queue->visits, sizeof(BvhVisit) * queue->size);
	}
	queue->visits[queue->n++] = *visit;
}

static void
enqueue_children(WalkQueue *queue, const BvhVisit *visit, Page page)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
	{
		IndexTuple itup = (IndexTuple) PageGetItem(page, PageGetItemId(page, offnum));
		BvhVisit child = {0};

		child.blkno = ItemPointerGetBlockNumber(&itup->t_tid);
		child.parent = visit->blkno;
		child.depth = visit->depth + 1;
		child.has_bounds = !bvh_has_null_key(itup);
		if (child.has_bounds)
			child.bounds = *bvh_tuple_box(itup);
		enqueue(queue, &child);
	}
}

/*
 * bvh_walk --- visit all pages that can be reached from the root, level by
 * level
 *
 * Where a crash left a split without its downlink, the right sibling is
 * visited as well.  Writers are not held off, unless the caller's lock does.
 * The number of visits is bounded by the number of blocks, so damaged links
 * cannot keep it going for ever.
 */
void
bvh_walk(Relation index, BvhVisitor visitor, void *context)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	WalkQueue queue = {0};
	BvhVisit root = {0};

	root.blkno = GIST_ROOT_BLKNO;
	root.parent = InvalidBlockNumber;
	enqueue(&queue, &root);
	for (size_t i = 0; i < queue.n && i <= nblocks; i++)
	{
		BvhVisit visit = queue.visits[i];
		Buffer buffer;
		Page page;

		CHECK_FOR_INTERRUPTS();
		/* the index may have grown since */
		if (visit.blkno >= nblocks)
			nblocks = RelationGetNumberOfBlocks(index);
		if (visit.blkno >= nblocks)
			ereport(ERROR,
					errcode(ERRCODE_INDEX_CORRUPTED),
					errmsg("index \"%s\" has a link from block %u to block %u, which "
						   "does not exist",
						   RelationGetRelationName(index),
						   visit.parent,
						   visit.blkno),
					errhint("Please REINDEX it."));
		buffer = ReadBuffer(index, visit.blkno);
		LockBuffer(buffer, GIST_SHARE);
		gistcheckpage(index, buffer);
		page = BufferGetPage(buffer);
		visitor(context, &visit, page);
		if (!GistPageIsLeaf(page) && !GistPageIsDeleted(page))
			enqueue_children(&queue, &visit, page);
		if (GistFollowRight(page))
		{
			BvhVisit right = visit;

			right.blkno = GistPageGetOpaque(page)->rightlink;
			right.by_right_link = true;
			enqueue(&queue, &right);
		}
		UnlockReleaseBuffer(buffer);
	}
	if (queue.visits != NULL)
		pfree(queue.visits);
}
