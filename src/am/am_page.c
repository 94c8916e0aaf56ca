/*-------------------------------------------------------------------------
 *
 * am_page.c
 *	  Reading the pages of a bvh index, which are GiST's.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/predicate.h"
#include "utils/rel.h"

#include "am/bvh.h"
#include "pg/compat.h"

/* of the CPUs that there are, or a half of it */
#define CACHE_LINE 64

/*
 * The key is the first attribute, so it lies behind the header, and behind
 * the null bitmap where there is one.
 */
Box3 *
bvh_tuple_box(IndexTuple itup)
{
	return (Box3 *) ((char *) itup + IndexInfoFindDataOffset(itup->t_info));
}

bool
bvh_has_null_key(IndexTuple itup)
{
	const uint8 *nulls = (uint8 *) itup + sizeof(IndexTupleData);

	return IndexTupleHasNulls(itup) && att_isnull(0, nulls);
}

/*
 * bvh_read_page --- pin a page and lock it for reading
 *
 * Sets right to a sibling that must be read, too: the page was split after
 * its parent was read (or the split's downlink was never inserted because of
 * a crash), and what moved there has no downlink that the scan saw.  The order
 * of steps is that of gistScanPage().
 *
 * False when the page holds nothing, because it was deleted; it is then
 * neither locked nor pinned.
 */
bool
bvh_read_page(IndexScanDesc scan, BlockNumber blkno, GistNSN parent_lsn, Buffer *buffer,
			  BlockNumber *right)
{
	Relation index = scan->indexRelation;
	Page page;

	/* to ReadBuffer(), it would mean a new page */
	if (unlikely(blkno == P_NEW))
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("index \"%s\" has a link to no page",
					   RelationGetRelationName(index)),
				errhint("Please REINDEX it."));
	*buffer = ReadBuffer(index, blkno);
	LockBuffer(*buffer, GIST_SHARE);
	PredicateLockPage(index, blkno, scan->xs_snapshot);
	gistcheckpage(index, *buffer);
	page = BufferGetPage(*buffer);
	bvh_test_for_old_snapshot(scan->xs_snapshot, index, page);

	*right = InvalidBlockNumber;
	if (!XLogRecPtrIsInvalid(parent_lsn) &&
		(GistFollowRight(page) || parent_lsn < GistPageGetNSN(page)))
		*right = GistPageGetOpaque(page)->rightlink;

	/* can only be found through a downlink read before it was deleted */
	if (GistPageIsDeleted(page))
	{
		UnlockReleaseBuffer(*buffer);
		return false;
	}
	return true;
}

/*
 * A page of nothing but plain tuples has them all in a row, the first at the
 * end: here is where, for every such page.
 */
static uint16 row_of_boxes[BVH_MAX_ITEMS];
static uint16 row_of_tuples[BVH_MAX_ITEMS];

/* bvh_page_init --- once, when the library is loaded */
void
bvh_page_init(void)
{
	unsigned offset = BLCKSZ - MAXALIGN(sizeof(GISTPageOpaqueData));

	for (int i = 0; i < BVH_MAX_ITEMS && offset >= BVH_PLAIN_TUPLE_SIZE; i++)
	{
		offset -= BVH_PLAIN_TUPLE_SIZE;
		row_of_tuples[i] = (uint16) offset;
		row_of_boxes[i] = (uint16) (offset + sizeof(IndexTupleData));
	}
}

/*
 * prefetch_tuples --- fetch the tuples of a page into the CPU's caches, all at once
 *
 * They will be looked at from the end of the page to its start.  The CPU sees
 * that, too, but has to learn it again for each half of the page: with an index
 * larger than its caches, this takes a sixth off a probe.
 */
static inline void
prefetch_tuples(PageHeader header)
{
	const char *page = (const char *) header;

	for (int at = header->pd_special - 1; at >= header->pd_upper; at -= CACHE_LINE)
		__builtin_prefetch(page + at);
}

/*
 * bvh_page_items --- the items of a locked page, without the dead if so asked
 */
void
bvh_page_items(Relation index, Page page, bool skip_dead, BvhPageItems *items)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	PageHeader header = (PageHeader) page;

	items->nnulls = 0;
	prefetch_tuples(header);

	/*
	 * Without INCLUDE columns, a tuple with a box has 56 bytes and one with
	 * NULL fewer, so the space that is used tells that there are only boxes.
	 * Core keeps tuples without gaps, if not always in the order of their
	 * numbers.
	 */
	if (IndexRelationGetNumberOfAttributes(index) == 1 &&
		header->pd_special - header->pd_upper == last * BVH_PLAIN_TUPLE_SIZE &&
		!(skip_dead && GistPageHasGarbage(page)))
	{
		items->nboxes = last;
		items->box = row_of_boxes;
		items->tuple = row_of_tuples;
		return;
	}

	if (unlikely(last > BVH_MAX_ITEMS))
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("a page of index \"%s\" has %d items, which do not fit on it",
					   RelationGetRelationName(index),
					   last),
				errhint("Please REINDEX it."));
	items->nboxes = 0;
	items->box = items->box_room;
	items->tuple = items->tuple_room;
	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
	{
		ItemId item = PageGetItemId(page, offnum);
		IndexTuple itup;

		if (skip_dead && ItemIdIsDead(item))
			continue;
		itup = (IndexTuple) PageGetItem(page, item);
		if (unlikely(bvh_has_null_key(itup)))
			items->null_tuple[items->nnulls++] = ItemIdGetOffset(item);
		else
		{
			items->box_room[items->nboxes] = (uint16) ((char *) bvh_tuple_box(itup) -
													   page);
			items->tuple_room[items->nboxes++] = ItemIdGetOffset(item);
		}
	}
}

/* bvh_tuple_offnum --- the number of the item whose tuple is there */
OffsetNumber
bvh_tuple_offnum(Page page, uint16 tuple)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	OffsetNumber guess = (((PageHeader) page)->pd_special - tuple) / BVH_PLAIN_TUPLE_SIZE;

	if (guess >= FirstOffsetNumber && guess <= last &&
		ItemIdGetOffset(PageGetItemId(page, guess)) == tuple)
		return guess;
	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
		if (ItemIdGetOffset(PageGetItemId(page, offnum)) == tuple)
			return offnum;
	elog(ERROR, "no index tuple at offset %u of a page", tuple);
}
