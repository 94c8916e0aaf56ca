/*-------------------------------------------------------------------------
 *
 * am_insert.c
 *	  INSERT: the way down to the leaf, all children of a page at once.
 *
 * Most rows go to a leaf that has room for them. For those, this file walks
 * down as gistdoinsert() does, with a choice of the child that looks at a
 * whole page in one pass, and lets gistplacetopage() change and log the pages.
 * Whatever is out of the ordinary (a full leaf, a split or deletion noticed on
 * the way, a NULL) is left to gistinsert(), which starts again from the root:
 * keys that were widened on the way here are wider than need be for a moment,
 * which harms nothing.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufmgr.h"
#include "storage/predicate.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "am/bvh.h"
#include "cache/cache.h"
#include "core/penalty.h"
#include "pg/pause.h"
#include "type/box3d.h"

/* the state that gistinsert() keeps for a statement, which it shares with us */
static GISTSTATE *
insert_state(Relation index, IndexInfo *index_info)
{
	if (index_info->ii_AmCache == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(index_info->ii_Context);
		GISTSTATE *giststate = initGISTstate(index);

		giststate->tempCxt = createTempGistContext();
		index_info->ii_AmCache = giststate;
		MemoryContextSwitchTo(old);
	}
	return index_info->ii_AmCache;
}

/*
 * choose_child --- which child of an inner page takes the box
 *
 * Equally good children take turns, by the row's TID, or one of them would
 * be filled and split again and again while the others stay half empty.
 */
static OffsetNumber
choose_child(Relation index, Page page, const Box3 *box, ItemPointer tid)
{
	BvhPageItems items;

	int chosen;

	bvh_page_items(index, page, false, &items);
	if (items.nboxes == 0)
		return InvalidOffsetNumber;
	chosen = box3_choose(page,
						 items.box,
						 items.nboxes,
						 box,
						 ItemPointerGetOffsetNumber(tid) % items.nboxes);
	return bvh_tuple_offnum(page, items.tuple[chosen]);
}

/* put a tuple on a page with room for it, or in place of another as long */
static void
place_tuple(Relation index, Relation heap, GISTSTATE *giststate, Buffer buffer,
			IndexTuple itup, OffsetNumber replaced)
{
	List *splits = NIL;

	CheckForSerializableConflictIn(index, NULL, BufferGetBlockNumber(buffer));
	if (gistplacetopage(index,
						0,
						giststate,
						buffer,
						&itup,
						1,
						replaced,
						NULL,
						InvalidBuffer,
						&splits,
						true,
						heap,
						false))
		elog(ERROR,
			 "unexpected split of a page with room in index \"%s\"",
			 RelationGetRelationName(index));
}

/* was the page split or deleted since its parent was read? */
static bool
has_moved(Page page, const BvhPageRef *ref)
{
	return GistFollowRight(page) || GistPageIsDeleted(page) ||
		   (ref->blkno != GIST_ROOT_BLKNO && ref->parent_lsn < GistPageGetNSN(page));
}

/* gistdoinsert()'s way to a stronger lock: others may come in between */
static void
lock_exclusively(Buffer buffer)
{
	LockBuffer(buffer, GIST_UNLOCK);
	LockBuffer(buffer, GIST_EXCLUSIVE);
}

/*
 * enter_child --- choose a child of a locked inner page, and make its key
 * contain the box
 *
 * Sets ref to the child.  False when gistinsert() has to see to the page.
 */
static bool
enter_child(Relation index, Relation heap, GISTSTATE *giststate, IndexTuple itup,
			Buffer buffer, BvhPageRef *ref)
{
	const Box3 *box = bvh_tuple_box(itup);
	Page page = BufferGetPage(buffer);
	XLogRecPtr lsn = BufferGetLSNAtomic(buffer);
	bool is_exclusive = false;

	for (;;)
	{
		OffsetNumber offnum;
		IndexTuple child;

		if (has_moved(page, ref))
			return false;
		offnum = choose_child(index, page, box, &itup->t_tid);
		if (offnum == InvalidOffsetNumber)
			return false;
		child = (IndexTuple) PageGetItem(page, PageGetItemId(page, offnum));
		if (!box3_contains(bvh_tuple_box(child), box))
		{
			if (!is_exclusive)
			{
				lock_exclusively(buffer);
				is_exclusive = true;
				if (PageGetLSN(page) != lsn)
				{
					/* it is another page now: choose again */
					lsn = PageGetLSN(page);
					continue;
				}
			}
			child = CopyIndexTuple(child);
			box3_include(bvh_tuple_box(child), box);
			place_tuple(index, heap, giststate, buffer, child, offnum);
		}

		/* the LSN from before our change: a split since then must be noticed */
		ref->blkno = ItemPointerGetBlockNumber(&child->t_tid);
		ref->parent_lsn = lsn;
		return true;
	}
}

/* put the tuple on a locked leaf; false when gistinsert() has to do it */
static bool
enter_leaf(Relation index, Relation heap, GISTSTATE *giststate, IndexTuple itup,
		   Buffer buffer, const BvhPageRef *ref)
{
	Page page = BufferGetPage(buffer);

	lock_exclusively(buffer);
	/* the root may have become an inner page while it was not locked */
	if (!GistPageIsLeaf(page) || has_moved(page, ref) ||
		gistnospace(page, &itup, 1, InvalidOffsetNumber, 0))
		return false;
	place_tuple(index, heap, giststate, buffer, itup, InvalidOffsetNumber);
	return true;
}

/* put a tuple into the index; false when gistinsert() has to do it */
static bool
insert_tuple(Relation index, Relation heap, GISTSTATE *giststate, IndexTuple itup)
{
	BvhPageRef ref = {GIST_ROOT_BLKNO, InvalidXLogRecPtr};

	for (;;)
	{
		Buffer buffer = ReadBuffer(index, ref.blkno);
		bool is_leaf;
		bool is_done;

		LockBuffer(buffer, GIST_SHARE);
		gistcheckpage(index, buffer);
		is_leaf = GistPageIsLeaf(BufferGetPage(buffer));
		is_done = is_leaf ? enter_leaf(index, heap, giststate, itup, buffer, &ref)
						  : enter_child(index, heap, giststate, itup, buffer, &ref);
		UnlockReleaseBuffer(buffer);
		if (is_leaf || !is_done)
			return is_done;
	}
}

/* bvhinsert --- insert one row */
bool
bvhinsert(Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation heap,
		  IndexUniqueCheck check_unique, bool index_unchanged, IndexInfo *index_info)
{
	BvhCacheInsert cached;
	bool is_done = false;

	bvh_cache_before_insert(index, &cached);
	if (!isnull[0])
	{
		GISTSTATE *giststate = insert_state(index, index_info);
		MemoryContext old = MemoryContextSwitchTo(giststate->tempCxt);
		IndexTuple itup = gistFormTuple(giststate, index, values, isnull, true);

		itup->t_tid = *tid;
		is_done = insert_tuple(index, heap, giststate, itup);
		MemoryContextSwitchTo(old);
		MemoryContextReset(giststate->tempCxt);
	}
	if (!is_done)
		gistinsert(
			index, values, isnull, tid, heap, check_unique, index_unchanged, index_info);
	bvh_pause("inserted");
	bvh_cache_after_insert(index,
						   &cached,
						   isnull[0] ? NULL : DatumGetBox3P(values[0]),
						   tid);
	return false;
}
