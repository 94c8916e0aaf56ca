/*-------------------------------------------------------------------------
 *
 * am_cached.c
 *	  Scans of a bvh index that its tree in shared memory answers, and what the
 *	  cache asks of the access method.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/tidbitmap.h"
#include "utils/rel.h"

#include "am/bvh.h"
#include "cache/cache.h"
#include "pg/compat.h"
#include "type/box3d.h"

struct BvhCached
{
	BvhCacheScan *scan;
	BvhCacheMatch matches[BVH_CACHE_MOST_MATCHES];
	int nmatches;
	int next;

	/* an index-only scan's tuple, which has a box and nothing else */
	union
	{
		IndexTupleData header;
		char bytes[BVH_PLAIN_TUPLE_SIZE];
	} tuple;

	/* an ordered scan's */
	Oid type;
	IndexOrderByDistance value;
};

/*
 * can_serve --- is that a scan for which the tree has all that it needs?
 *
 * It has boxes, neither NULLs nor other columns, and gives them in one order.
 */
static bool
can_serve(IndexScanDesc scan)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;

	if (!so->match_boxes || scan->numberOfOrderBys > 1)
		return false;
	if (scan->xs_want_itup && IndexRelationGetNumberOfAttributes(scan->indexRelation) > 1)
		return false;
	return scan->numberOfOrderBys == 0 ||
		   (scan->orderByData[0].sk_flags & SK_ISNULL) == 0;
}

/*
 * bvh_cached_begin --- start the scan with the tree of the index; false: without
 *
 * Where NULLs match, too, and there may be some, pages give those afterwards.
 */
bool
bvh_cached_begin(IndexScanDesc scan)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	BvhCached *cached = so->cached;
	BvhFilter filter;

	if (!can_serve(scan))
		return false;
	if (cached == NULL)
	{
		cached = MemoryContextAlloc(so->context, sizeof(BvhCached));
		cached->scan = bvh_cache_scan_create(so->context);
		cached->type = FLOAT8OID;
		so->cached = cached;
	}
	cached->nmatches = 0;
	cached->next = 0;
	if (!bvh_cache_take(cached->scan, scan->indexRelation, scan->xs_snapshot))
		return false;
	filter.range = so->leaf_range;
	filter.shapes = so->shapes;
	filter.nshapes = so->nshapes;
	if (scan->numberOfOrderBys > 0)
	{
		BvhShape order = bvh_key_shape(&scan->orderByData[0]);

		bvh_cache_nearest_begin(cached->scan, &order, &filter);
	}
	else
		bvh_cache_filter_begin(cached->scan, &filter);
	return true;
}

/* bvh_cached_end --- the scan is over; harmless if there is none */
void
bvh_cached_end(BvhCached *cached)
{
	if (cached != NULL)
		bvh_cache_release(cached->scan);
}

/* is the row of a match there?  Only asked by an index-only scan */
static bool
is_visible(IndexScanDesc scan, BvhCached *cached, BvhCacheMatch *match)
{
	bool is_all_visible;

	if (!bvh_needs_visibility(scan))
		return true;
	/* in this order; see the README of the cache */
	is_all_visible = bvh_is_all_visible(scan, &match->tid);
	if (is_all_visible && bvh_cache_is_unvacuumed(cached->scan))
		return true;
	return bvh_sees_row(scan, &match->tid);
}

static void
return_match(IndexScanDesc scan, BvhCached *cached, const BvhCacheMatch *match)
{
	scan->xs_heaptid = match->tid;
	scan->xs_recheck = false;
	if (scan->xs_want_itup)
	{
		IndexTuple itup = &cached->tuple.header;

		itup->t_tid = match->tid;
		itup->t_info = BVH_PLAIN_TUPLE_SIZE;
		bvh_cache_box(cached->scan, match->place, bvh_tuple_box(itup));
		scan->xs_itup = itup;
	}
}

static bool
next_match(IndexScanDesc scan, BvhCached *cached)
{
	for (;;)
	{
		BvhCacheMatch *match;

		if (cached->next == cached->nmatches)
		{
			cached->nmatches = bvh_cache_filter_next(cached->scan, cached->matches);
			cached->next = 0;
			if (cached->nmatches == 0)
				return false;
		}
		match = &cached->matches[cached->next++];
		if (!is_visible(scan, cached, match))
			continue;
		return_match(scan, cached, match);
		return true;
	}
}

static bool
next_nearest(IndexScanDesc scan, BvhCached *cached)
{
	BvhCacheMatch *match = &cached->matches[0];

	do
	{
		if (!bvh_cache_nearest_next(cached->scan, match, &cached->value.value))
		{
			cached->next = 0;
			return false;
		}
	} while (!is_visible(scan, cached, match));
	cached->next = 1;
	return_match(scan, cached, match);
	cached->value.isnull = false;
	index_store_float8_orderby_distances(scan, &cached->type, &cached->value, false);
	return true;
}

/*
 * bvh_cached_next --- fetch the next row; false when the tree has no more
 */
bool
bvh_cached_next(IndexScanDesc scan)
{
	BvhCached *cached = ((BvhScanOpaque) scan->opaque)->cached;

	if (scan->kill_prior_tuple && cached->next > 0)
		bvh_cache_kill(cached->scan, cached->matches[cached->next - 1].place);
	return scan->numberOfOrderBys > 0 ? next_nearest(scan, cached)
									  : next_match(scan, cached);
}

/* bvh_cached_has_nulls --- may the index have rows that the tree has not? */
bool
bvh_cached_has_nulls(const BvhCached *cached)
{
	return bvh_cache_has_nulls(cached->scan);
}

/* bvh_cached_bitmap --- all rows at once */
int64
bvh_cached_bitmap(BvhCached *cached, TIDBitmap *bitmap)
{
	ItemPointerData tids[BVH_CACHE_MOST_MATCHES];
	int64 ntids = 0;
	int n;

	while ((n = bvh_cache_filter_next(cached->scan, cached->matches)) > 0)
	{
		for (int i = 0; i < n; i++)
			tids[i] = cached->matches[i].tid;
		tbm_add_tuples(bitmap, tids, n, false);
		ntids += n;
		CHECK_FOR_INTERRUPTS();
	}
	return ntids;
}

/* ---------------------------------------------------------------- for the cache */

/* a build takes pages as they are grouped if no more than a fourth was split since */
#define MOST_SPLIT 4

/* take the items of a locked leaf */
static bool
collect_leaf(Relation index, Page page, BvhPageItems *on_page, BvhCacheItems *items)
{
	bvh_page_items(index, page, true, on_page);
	items->has_nulls |= on_page->nnulls > 0;
	for (int i = 0; i < on_page->nboxes; i++)
	{
		IndexTuple itup = (IndexTuple) (page + on_page->tuple[i]);

		if (!bvh_cache_add_item(items,
								(const Box3 *) (page + on_page->box[i]),
								&itup->t_tid))
			return false;
	}
	bvh_cache_end_run(items);
	return true;
}

/*
 * collect --- all items, page by page as they lie in the file, as gistvacuumscan()
 * does
 *
 * A split that began after us may have moved items from a page that we have not
 * read to one that we have: we follow its right link there.
 */
static bool
collect(Relation index, BvhCacheItems *items)
{
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	BvhPageItems *on_page = palloc(sizeof(BvhPageItems));
	GistNSN start = RelationNeedsWAL(index) ? GetInsertRecPtr() : bvh_fake_lsn(index);
	BlockNumber npages = 0;
	BlockNumber nleaves = 0;
	BlockNumber nsplit = 0;
	bool is_complete = true;

	for (BlockNumber at = GIST_ROOT_BLKNO; is_complete; at++)
	{
		BlockNumber blkno = at;

		/* it may have grown */
		if (at == npages)
			npages = RelationGetNumberOfBlocks(index);
		if (at >= npages)
			break;

		while (is_complete && blkno != InvalidBlockNumber)
		{
			Buffer buffer;
			Page page;

			CHECK_FOR_INTERRUPTS();
			buffer = ReadBufferExtended(index, MAIN_FORKNUM, blkno, RBM_NORMAL, strategy);
			LockBuffer(buffer, GIST_SHARE);
			page = BufferGetPage(buffer);
			blkno = InvalidBlockNumber;
			if (!PageIsNew(page))
			{
				BlockNumber right = GistPageGetOpaque(page)->rightlink;

				gistcheckpage(index, buffer);
				items->is_stirred |= BufferGetLSNAtomic(buffer) > start;
				if (GistPageIsLeaf(page) && !GistPageIsDeleted(page))
				{
					if ((GistFollowRight(page) || start < GistPageGetNSN(page)) &&
						right < at)
					{
						/* a split that a crash left half done has been read already */
						items->is_stirred = true;
						blkno = right;
					}
					nleaves++;
					nsplit += !XLogRecPtrIsInvalid(GistPageGetNSN(page));
					is_complete = collect_leaf(index, page, on_page, items);
				}
			}
			UnlockReleaseBuffer(buffer);
		}
	}
	/* pages that inserts have split overlap more than those of a build */
	if (nsplit > nleaves / MOST_SPLIT)
		items->nruns = 0;
	return is_complete;
}

/* bvh_cached_install --- once, when the library is loaded */
void
bvh_cached_install(void)
{
	bvh_cache_set_collect(collect);
}
