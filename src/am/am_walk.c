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
#include "access/tupmacs.h"
#include "access/xlog.h"
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
 * That is a bvh index, or, if it may be one, a GiST index with our operator class
 * and no other key column.  An error for anything else, and for an index that is
 * not valid.
 */
Relation
bvh_open_index(Oid oid, LOCKMODE lockmode, bool may_be_gist)
{
	Relation index = relation_open(oid, lockmode);
	FmgrInfo *consistent = NULL;

	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				errmsg("\"%s\" is a partitioned index", RelationGetRelationName(index)),
				errhint(
					"Name the index of a partition; pg_partition_tree() lists them."));
	if (index->rd_rel->relkind == RELKIND_INDEX &&
		((may_be_gist && index->rd_rel->relam == GIST_AM_OID) ||
		 index->rd_indam->ambeginscan == bvhbeginscan) &&
		IndexRelationGetNumberOfKeyAttributes(index) == 1)
		consistent = index_getprocinfo(index, 1, GIST_CONSISTENT_PROC);
	if (consistent == NULL || consistent->fn_addr != box3d_gist_consistent)
		ereport(ERROR,
				errcode(ERRCODE_WRONG_OBJECT_TYPE),
				may_be_gist
					? errmsg("\"%s\" is not an index on boxes",
							 RelationGetRelationName(index))
					: errmsg("\"%s\" is not a bvh index", RelationGetRelationName(index)),
				may_be_gist
					? errdetail("It must be an index with one key column, of access "
								"method bvh or gist, with operator class box3d_ops.")
					: errhint("Only indexes of access method bvh are cached."));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access temporary indexes of other sessions"));
	if (index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED && RecoveryInProgress())
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot access unlogged indexes during recovery"));
	/* left over from a failed CREATE INDEX CONCURRENTLY, or not finished yet */
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("cannot inspect index \"%s\"", RelationGetRelationName(index)),
				errdetail("Index is not valid."));
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
enqueue_children(WalkQueue *queue, const BvhVisit *visit, Page page, XLogRecPtr lsn)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
	{
		IndexTuple itup = (IndexTuple) PageGetItem(page, PageGetItemId(page, offnum));
		BvhVisit child = {0};

		child.blkno = ItemPointerGetBlockNumber(&itup->t_tid);
		child.parent = visit->blkno;
		child.parent_lsn = lsn;
		child.depth = visit->depth + 1;
		child.has_bounds = !bvh_has_null_key(itup);
		if (child.has_bounds)
			child.bounds = *bvh_tuple_box(itup);
		enqueue(queue, &child);
	}
}

/* was the page split after its downlink was read, or without one? */
static bool
has_later_sibling(const BvhVisit *visit, Page page)
{
	return visit->parent != InvalidBlockNumber &&
		   (GistFollowRight(page) || visit->parent_lsn < GistPageGetNSN(page));
}

/* do the columns of a leaf tuple end where it ends? */
static bool
columns_fit(TupleDesc desc, IndexTuple itup)
{
	Size start = IndexInfoFindDataOffset(itup->t_info);
	Size room = IndexTupleSize(itup) - start;
	const char *data = (const char *) itup + start;
	uint8 *nulls = (uint8 *) itup + sizeof(IndexTupleData);
	Size at = 0;

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (IndexTupleHasNulls(itup) && att_isnull(i, nulls))
			continue;
		if (at >= room)
			return false;
		if (att->attlen > 0)
			at = att_align_nominal(at, att->attalign) + att->attlen;
		else if (att->attlen == -2)
			at += strnlen(data + at, room - at) + 1;
		else
		{
			const char *value;

			at = att_align_pointer(at, att->attalign, -1, data + at);
			if (at >= room)
				return false;
			value = data + at;
			/* an index holds nothing that is stored elsewhere */
			if (VARATT_IS_1B_E(value))
				return false;
			if (!VARATT_IS_1B(value) &&
				(at != att_align_nominal(at, att->attalign) || room - at < VARHDRSZ ||
				 VARSIZE_4B(value) < VARHDRSZ))
				return false;
			at += VARSIZE_ANY(value);
		}
		if (at > room)
			return false;
	}
	return true;
}

/* what is wrong with an item, or NULL */
static const char *
item_problem(Relation index, Page page, OffsetNumber offnum)
{
	PageHeader header = (PageHeader) page;
	ItemId item = PageGetItemId(page, offnum);
	unsigned offset = ItemIdGetOffset(item);
	unsigned length = ItemIdGetLength(item);
	IndexTuple itup;

	/* a dead item keeps its place until it is removed */
	if (!ItemIdIsNormal(item) && !ItemIdIsDead(item))
		return psprintf("line pointer %d is unused", offnum);
	if (offset != MAXALIGN(offset) || offset < header->pd_upper ||
		offset + length > header->pd_special || length < sizeof(IndexTupleData))
		return psprintf("line pointer %d, at %u with length %u, is out of place",
						offnum,
						offset,
						length);

	itup = (IndexTuple) PageGetItem(page, item);
	if (IndexTupleSize(itup) != length)
		return psprintf("item %d has length %zu, its line pointer %u",
						offnum,
						(size_t) IndexTupleSize(itup),
						length);
	if (IndexInfoFindDataOffset(itup->t_info) > length ||
		(!bvh_has_null_key(itup) &&
		 IndexInfoFindDataOffset(itup->t_info) + sizeof(Box3) > length))
		return psprintf("item %d, of length %u, has no room for its key", offnum, length);
	if (GistPageIsLeaf(page))
	{
		if (!columns_fit(RelationGetDescr(index), itup))
			return psprintf("item %d, of length %u, has columns that do not fit",
							offnum,
							length);
	}
	/* what GiST writes there, as an inner item needs no offset */
	else if (ItemPointerGetOffsetNumberNoCheck(&itup->t_tid) != 0xFFFF)
		return psprintf("item %d is not a downlink", offnum);
	return NULL;
}

/*
 * page_problem --- why a page must not be looked at, or NULL
 *
 * ReadBuffer() has seen to it that the parts of the page are in their order
 * and within the block.
 */
static const char *
page_problem(Relation index, Page page)
{
	OffsetNumber last;

	if (PageIsNew(page))
		return "page is zeroed";
	if (PageGetPageSize(page) != BLCKSZ ||
		PageGetSpecialSize(page) != MAXALIGN(sizeof(GISTPageOpaqueData)) ||
		GistPageGetOpaque(page)->gist_page_id != GIST_PAGE_ID)
		return "page is not one of GiST's";
	/* it has the transaction that deleted it where its items were */
	if (GistPageIsDeleted(page))
		return NULL;
	last = PageGetMaxOffsetNumber(page);
	if (last > BVH_MAX_ITEMS)
		return psprintf("page has %d items, more than fit", last);
	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
	{
		const char *problem = item_problem(index, page, offnum);

		if (problem != NULL)
			return problem;
	}
	return NULL;
}

/* a bit for each block */
typedef struct BlockSet
{
	uint8 *bits;
	Size size; /* in bytes */
} BlockSet;

/* add a block; false if it was there */
static bool
add_block(BlockSet *set, BlockNumber blkno, BlockNumber nblocks)
{
	uint8 bit = 1 << blkno % 8;

	if (blkno / 8 >= set->size)
	{
		Size size = nblocks / 8 + 1;

		if (set->bits == NULL)
			set->bits = palloc_extended(size, MCXT_ALLOC_HUGE);
		else
			set->bits = repalloc_huge(set->bits, size);
		memset(set->bits + set->size, 0, size - set->size);
		set->size = size;
	}
	if (set->bits[blkno / 8] & bit)
		return false;
	set->bits[blkno / 8] |= bit;
	return true;
}

static void
report_damage(Relation index, const BvhWalker *walker, void *context, BvhDamage damage,
			  const BvhVisit *visit, const char *problem)
{
	if (walker->damage != NULL)
		walker->damage(context, damage, visit, problem);
	else
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" is damaged at block %u",
					   RelationGetRelationName(index),
					   visit->blkno),
				errdetail("%s.", problem),
				errhint("Please REINDEX it."));
}

/*
 * bvh_walk --- visit all pages that can be reached from the root, level by
 * level
 *
 * Where a page was split after its downlink was read, or a crash left a split
 * without its downlink, the right sibling is visited as well, so that nothing
 * is missed that was there at the start.  Writers are not held off, unless
 * the caller's lock does.  Only the root ever comes to be on another level,
 * and it is read once, so all leaves have the same depth in any one walk.
 *
 * No page is visited twice, so damaged links cannot keep it going for ever.
 */
void
bvh_walk(Relation index, const BvhWalker *walker, void *context)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	WalkQueue queue = {0};
	BlockSet seen = {0};
	BvhVisit root = {0};

	root.blkno = GIST_ROOT_BLKNO;
	root.parent = InvalidBlockNumber;
	enqueue(&queue, &root);
	for (size_t i = 0; i < queue.n; i++)
	{
		BvhVisit visit = queue.visits[i];
		const char *problem;
		Buffer buffer;
		Page page;

		CHECK_FOR_INTERRUPTS();
		/* the index may have grown since */
		if (visit.blkno >= nblocks)
			nblocks = RelationGetNumberOfBlocks(index);
		if (visit.blkno >= nblocks)
		{
			report_damage(index,
						  walker,
						  context,
						  BVH_LINK_DAMAGED,
						  &visit,
						  psprintf("page does not exist, but block %u leads to it",
								   visit.parent));
			continue;
		}
		if (!add_block(&seen, visit.blkno, nblocks))
		{
			if (walker->damage != NULL)
				walker->damage(context,
							   BVH_PAGE_AGAIN,
							   &visit,
							   psprintf("page is reached again, from block %u",
										visit.parent));
			continue;
		}
		buffer = ReadBuffer(index, visit.blkno);
		LockBuffer(buffer, GIST_SHARE);
		page = BufferGetPage(buffer);
		problem = page_problem(index, page);
		if (problem != NULL)
			report_damage(index, walker, context, BVH_PAGE_DAMAGED, &visit, problem);
		else if (GistPageIsDeleted(page))
		{
			if (walker->damage != NULL)
				walker->damage(context,
							   BVH_LINK_DAMAGED,
							   &visit,
							   psprintf("page is deleted, but block %u leads to it",
										visit.parent));
		}
		else
		{
			walker->visit(context, &visit, page);
			if (!GistPageIsLeaf(page))
				enqueue_children(&queue, &visit, page, BufferGetLSNAtomic(buffer));
		}
		if (problem == NULL && has_later_sibling(&visit, page))
		{
			BvhVisit right = visit;

			right.blkno = GistPageGetOpaque(page)->rightlink;
			enqueue(&queue, &right);
		}
		UnlockReleaseBuffer(buffer);
	}
	pfree(queue.visits);
	if (seen.bits != NULL)
		pfree(seen.bits);
}
