/*-------------------------------------------------------------------------
 *
 * am_scan.c
 *	  Scans of a bvh index: by range, all items of a page at once, and by
 *	  shapes, those that are in range one by one.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "am/bvh.h"
#include "core/simd/kernels.h"
#include "pg/compat.h"
#include "type/box3d.h"
#include "type/strategy.h"

IndexScanDesc
bvhbeginscan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	BvhScanOpaque so = palloc0(sizeof(BvhScanOpaqueData));

	so->context = CurrentMemoryContext;
	so->vm_buffer = InvalidBuffer;
	so->page_blkno = InvalidBlockNumber;
	scan->opaque = so;
	scan->xs_itupdesc = RelationGetDescr(index);
	so->shapes = palloc(sizeof(BvhShapeProbe) * nkeys);
	if (norderbys > 0)
		so->nearest = bvh_nearest_begin(scan);
	return scan;
}

/* the range of an operator with its operand, which may be a shape to test for */
static void
add_operator(BvhScanOpaque so, const ScanKeyData *key, BoxRange *range)
{
	if (shape_filters(key->sk_strategy))
	{
		BvhShape shape = bvh_key_shape(key);

		shape_probe(&shape, &so->shapes[so->nshapes++]);
		shape_range(&shape, range);
	}
	else if (!box3_range((BvhOp) key->sk_strategy,
						 false,
						 DatumGetBox3P(key->sk_argument),
						 range))
		elog(ERROR, "unrecognized box3d strategy number: %d", (int) key->sk_strategy);
}

/* the scan keys as one range and shapes, and which keys can match at all */
static void
set_ranges(IndexScanDesc scan)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;

	so->match_boxes = true;
	so->match_nulls = true;
	so->nshapes = 0;
	for (int lane = 0; lane < 6; lane++)
	{
		so->leaf_range.lower[lane] = -INFINITY;
		so->leaf_range.upper[lane] = INFINITY;
	}
	for (int i = 0; i < scan->numberOfKeys; i++)
	{
		ScanKey key = &scan->keyData[i];
		BoxRange range;

		if (key->sk_flags & SK_SEARCHNULL)
			so->match_boxes = false;
		else if (key->sk_flags & SK_SEARCHNOTNULL)
			so->match_nulls = false;
		else if (key->sk_flags & SK_ISNULL)
		{
			/* all operators are strict */
			so->match_boxes = false;
			so->match_nulls = false;
		}
		else
		{
			so->match_nulls = false;
			add_operator(so, key, &range);
			for (int lane = 0; lane < 6; lane++)
			{
				so->leaf_range.lower[lane] = Max(so->leaf_range.lower[lane],
												 range.lower[lane]);
				so->leaf_range.upper[lane] = Min(so->leaf_range.upper[lane],
												 range.upper[lane]);
			}
		}
	}
	box3_node_range(&so->leaf_range, &so->node_range);
}

void
bvhrescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, scan->numberOfKeys * sizeof(ScanKeyData));
	if (orderbys != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData,
				orderbys,
				scan->numberOfOrderBys * sizeof(ScanKeyData));

	set_ranges(scan);
	bvh_cached_end(so->cached);
	so->is_cached = false;
	so->is_started = false;
	so->nstack = 0;
	so->nmatches = 0;
	so->next_match = 0;
	so->nkilled = 0;
	so->page_blkno = InvalidBlockNumber;
	scan->xs_itup = NULL;
	if (so->nearest != NULL)
		bvh_nearest_rescan(scan);
}

void
bvhendscan(IndexScanDesc scan)
{
	/* memory goes with the context that the scan was begun in */
	bvh_cached_end(((BvhScanOpaque) scan->opaque)->cached);
	bvh_visibility_end(scan);
}

static void
push_page(BvhScanOpaque so, BlockNumber blkno, GistNSN parent_lsn)
{
	if (so->nstack == so->stack_size)
	{
		so->stack_size = Max(64, 2 * so->stack_size);
		if (so->stack == NULL)
			so->stack = MemoryContextAlloc(so->context,
										   so->stack_size * sizeof(BvhPageRef));
		else
			so->stack = repalloc_huge(so->stack, so->stack_size * sizeof(BvhPageRef));
	}
	so->stack[so->nstack].blkno = blkno;
	so->stack[so->nstack].parent_lsn = parent_lsn;
	so->nstack++;
}

static void
push_child(BvhScanOpaque so, Page page, uint16 tuple, XLogRecPtr lsn)
{
	IndexTuple itup = (IndexTuple) (page + tuple);

	push_page(so, ItemPointerGetBlockNumber(&itup->t_tid), lsn);
}

/*
 * bvh_select --- which boxes of the page at hand match, or may match below
 *
 * Their numbers among the page's items go to so->selected, ascending.
 */
int
bvh_select(BvhScanOpaque so, Page page, bool is_leaf)
{
	const BvhPageItems *items = &so->items;
	int n = bvh_kernels->select_boxes(page,
									  items->box,
									  items->nboxes,
									  is_leaf ? &so->leaf_range : &so->node_range,
									  so->selected);

	for (int i = 0; i < so->nshapes; i++)
		n = shape_select(&so->shapes[i], page, items->box, is_leaf, so->selected, n);
	return n;
}

/* push the children of an inner page that may hold matches */
static void
push_children(BvhScanOpaque so, Page page, XLogRecPtr lsn)
{
	const BvhPageItems *items = &so->items;

	/*
	 * All of them where NULLs are searched, since a box may hide NULLs below
	 * it: no operator has narrowed the range then.
	 */
	int n = bvh_select(so, page, false);

	/* backwards, so that the first one is read next */
	if (so->match_nulls)
		for (int i = items->nnulls - 1; i >= 0; i--)
			push_child(so, page, items->null_tuple[i], lsn);
	for (int i = n - 1; i >= 0; i--)
		push_child(so, page, items->tuple[so->selected[i]], lsn);
}

/* take an item of a locked leaf page among the matches */
static void
add_match(IndexScanDesc scan, Page page, uint16 tuple, int *tuples_length)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	IndexTuple itup = (IndexTuple) (page + tuple);
	BvhMatch *match = &so->matches[so->nmatches];

	if (bvh_needs_visibility(scan) && !bvh_is_visible(scan, &itup->t_tid))
		return;
	match->tid = itup->t_tid;
	match->place = tuple;
	if (scan->xs_want_itup)
	{
		match->tuple = *tuples_length;
		memcpy(so->tuples + *tuples_length, itup, IndexTupleSize(itup));
		*tuples_length += MAXALIGN(IndexTupleSize(itup));
	}
	so->nmatches++;
}

static void
collect_matches(IndexScanDesc scan, Page page)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	const BvhPageItems *items = &so->items;
	int tuples_length = 0;

	if (scan->xs_want_itup && so->tuples == NULL)
		so->tuples = MemoryContextAlloc(so->context, BLCKSZ);

	if (so->match_boxes)
	{
		int n = bvh_select(so, page, true);

		for (int i = 0; i < n; i++)
			add_match(scan, page, items->tuple[so->selected[i]], &tuples_length);
	}
	if (so->match_nulls)
		for (int i = 0; i < items->nnulls; i++)
			add_match(scan, page, items->null_tuple[i], &tuples_length);
}

/* read one page: push its children, or collect its matches */
static void
scan_page(IndexScanDesc scan, const BvhPageRef *ref)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	BlockNumber blkno = ref->blkno;
	GistNSN parent_lsn = ref->parent_lsn;
	BlockNumber right;
	Buffer buffer;
	Page page;
	XLogRecPtr lsn;
	bool has_items;

	so->nmatches = 0;
	so->next_match = 0;
	so->page_blkno = blkno;

	has_items = bvh_read_page(scan, blkno, parent_lsn, &buffer, &right);
	if (right != InvalidBlockNumber)
		push_page(so, right, parent_lsn);
	if (!has_items)
		return;

	page = BufferGetPage(buffer);
	lsn = BufferGetLSNAtomic(buffer);
	so->page_lsn = lsn;
	bvh_page_items(scan->indexRelation, page, scan->ignore_killed_tuples, &so->items);
	if (GistPageIsLeaf(page))
		collect_matches(scan, page);
	else
		push_children(so, page, lsn);
	UnlockReleaseBuffer(buffer);
}

static void
start_pages(BvhScanOpaque so)
{
	if (so->match_boxes || so->match_nulls)
		push_page(so, GIST_ROOT_BLKNO, InvalidXLogRecPtr);
}

static void
start_scan(IndexScanDesc scan)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;

	pgstat_count_index_scan(scan->indexRelation);
	bvh_count_search(scan);
	so->is_started = true;
	so->is_cached = bvh_cached_begin(scan);
	if (!so->is_cached)
		start_pages(so);
}

/*
 * end_cached --- the tree has given all that it has; false when that is all there is
 */
static bool
end_cached(BvhScanOpaque so)
{
	so->is_cached = false;
	/* rows without a box are on pages only */
	so->match_boxes = false;
	if (!so->match_nulls || !bvh_cached_has_nulls(so->cached))
		return false;
	start_pages(so);
	return true;
}

/*
 * mark_killed --- hint to other scans that items of the last page are dead
 *
 * Only if the page is as it was when it was read: else VACUUM may have removed
 * the items and others stand in their place.
 */
static void
mark_killed(IndexScanDesc scan)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	Buffer buffer;
	Page page;

	buffer = ReadBuffer(scan->indexRelation, so->page_blkno);
	LockBuffer(buffer, GIST_SHARE);
	gistcheckpage(scan->indexRelation, buffer);
	page = BufferGetPage(buffer);
	if (BufferGetLSNAtomic(buffer) == so->page_lsn)
	{
		for (int i = 0; i < so->nkilled; i++)
			ItemIdMarkDead(PageGetItemId(page, bvh_tuple_offnum(page, so->killed[i])));
		GistMarkPageHasGarbage(page);
		MarkBufferDirtyHint(buffer, true);
	}
	UnlockReleaseBuffer(buffer);
	so->nkilled = 0;
}

/* fetch the next match of an unordered scan */
static bool
next_match(IndexScanDesc scan)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	BvhMatch *match;

	if (scan->kill_prior_tuple && so->next_match > 0)
		so->killed[so->nkilled++] = so->matches[so->next_match - 1].place;

	while (so->next_match == so->nmatches)
	{
		BvhPageRef ref;

		if (so->nkilled > 0)
			mark_killed(scan);
		if (so->nstack == 0)
		{
			so->nmatches = so->next_match = 0;
			return false;
		}
		CHECK_FOR_INTERRUPTS();
		ref = so->stack[--so->nstack];
		scan_page(scan, &ref);
	}

	match = &so->matches[so->next_match++];
	scan->xs_heaptid = match->tid;
	scan->xs_recheck = false;
	if (scan->xs_want_itup)
		scan->xs_itup = (IndexTuple) (so->tuples + match->tuple);
	return true;
}

bool
bvhgettuple(IndexScanDesc scan, ScanDirection direction)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;

	if (direction != ForwardScanDirection)
		elog(ERROR, "bvh only supports forward scan direction");
	if (!so->is_started)
		start_scan(scan);
	if (so->is_cached && (bvh_cached_next(scan) || !end_cached(so)))
		return so->is_cached;
	return so->nearest != NULL ? bvh_nearest_next(scan) : next_match(scan);
}

int64
bvhgetbitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	ItemPointerData tids[BVH_MAX_ITEMS];
	int64 ntids = 0;

	start_scan(scan);
	if (so->is_cached)
	{
		ntids = bvh_cached_bitmap(so->cached, bitmap);
		(void) end_cached(so);
	}
	while (so->nstack > 0)
	{
		BvhPageRef ref = so->stack[--so->nstack];

		CHECK_FOR_INTERRUPTS();
		scan_page(scan, &ref);
		for (int i = 0; i < so->nmatches; i++)
			tids[i] = so->matches[i].tid;
		if (so->nmatches > 0)
			tbm_add_tuples(bitmap, tids, so->nmatches, false);
		ntids += so->nmatches;
	}
	return ntids;
}
