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
 * bvh_page_items --- the items of a locked page that the scan may see
 */
void
bvh_page_items(IndexScanDesc scan, Page page, BvhPageItems *items)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	items->nboxes = 0;
	items->nnulls = 0;
	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
	{
		ItemId item = PageGetItemId(page, offnum);
		IndexTuple itup;

		if (scan->ignore_killed_tuples && ItemIdIsDead(item))
			continue;
		itup = (IndexTuple) PageGetItem(page, item);
		if (unlikely(bvh_has_null_key(itup)))
			items->null_offnum[items->nnulls++] = offnum;
		else
		{
			items->box[items->nboxes] = (uint16) ((char *) bvh_tuple_box(itup) - page);
			items->offnum[items->nboxes++] = offnum;
		}
	}
}
