/*-------------------------------------------------------------------------
 *
 * cache_scan.c
 *	  Scans that a tree answers in the stead of pages, in no order.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "cache/cache_scan.h"
#include "core/simd/kernels.h"
#include "pg/compat.h"
#include "pg/settings.h"

/* places of rows of a delta have this bit; the others are the tree's */
#define IN_DELTA (UINT64_C(1) << 63)

/* where the boxes of a chunk of rows are */
static uint16 row_boxes[DELTA_CHUNK];

/* the scan's memory is going away, because it ended or failed */
static void
on_reset(void *arg)
{
	bvh_cache_release(arg);
}

/* bvh_cache_scan_create --- for scans, one after the other, until the context is gone */
BvhCacheScan *
bvh_cache_scan_create(MemoryContext context)
{
	BvhCacheScan *scan = MemoryContextAllocZero(context, sizeof(BvhCacheScan));

	if (row_boxes[1] == 0)
		for (int i = 0; i < DELTA_CHUNK; i++)
			row_boxes[i] = (uint16) (i * sizeof(BvhItem));
	scan->context = context;
	scan->memory.cxt = context;
	bvh_env_init(&scan->env, &scan->memory);
	scan->callback.func = on_reset;
	scan->callback.arg = scan;
	MemoryContextRegisterResetCallback(context, &scan->callback);
	return scan;
}

/* bvh_cache_release --- the scan is over */
void
bvh_cache_release(BvhCacheScan *scan)
{
	if (scan->tree == NULL)
		return;
	scan->tree->nusers--;
	scan->tree = NULL;
}

/*
 * may_serve --- does such a scan see the same rows through a tree?
 */
static bool
may_serve(Relation index, Snapshot snapshot)
{
	return bvh_use_cache != BVH_CACHE_OFF && bvh_cache_size > 0 &&
		   IsMVCCSnapshot(snapshot) &&
		   index->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
		   /* pages are what serializable transactions lock */
		   XactIsoLevel != XACT_SERIALIZABLE && !RecoveryInProgress() &&
		   /* of a standby: what its primary found dead may be alive to it */
		   !TransactionStartedDuringRecovery() && !bvh_old_snapshots_may_fail();
}

/*
 * bvh_cache_take --- begin a scan with the tree of an index; false: walk the pages
 *
 * The snapshot must have been taken before.  What the scan takes here, it keeps.
 */
bool
bvh_cache_take(BvhCacheScan *scan, Relation index, Snapshot snapshot)
{
	CacheControl *control;
	CacheEntry *entry;
	CacheTree *tree;
	CacheKey key;
	uint64 now;
	int slot;

	bvh_cache_release(scan);
	control = bvh_cache_control();
	if (control == NULL)
		return false;
	/* somebody has to notice that there may be less than before, or none */
	bvh_cache_trim(control);
	if (!may_serve(index, snapshot))
		return false;
	bvh_cache_key(index, &key);
	slot = bvh_cache_find(control, &key);
	if (unlikely(slot < 0))
	{
		slot = bvh_cache_find_or_add(control, &key);
		if (slot < 0)
			return false;
	}
	entry = &control->entries[slot];
	scan->entry = entry;
	/* before the tree, so that a vacuum of which it knows nothing is noticed */
	scan->vacuums = pg_atomic_read_u64(&entry->vacuums);
	pg_read_barrier();
	tree = bvh_cache_attach(control, slot, &key);
	if (unlikely(tree == NULL))
	{
		if (bvh_use_cache == BVH_CACHE_ALWAYS)
		{
			bvh_cache_build_here(index);
			scan->vacuums = pg_atomic_read_u64(&entry->vacuums);
			pg_read_barrier();
			tree = bvh_cache_attach(control, slot, &key);
		}
		else
			bvh_cache_want(control, slot, index);
		if (tree == NULL)
			return false;
	}

	scan->tree = tree;
	tree->nusers++;
	scan->runs = delta_runs(tree->delta, pg_atomic_read_u32(&tree->delta->version));
	pg_read_barrier();
	scan->count = pg_atomic_read_u32(&tree->delta->count);
	scan->has_nulls = pg_atomic_read_u32(&tree->delta->has_nulls) != 0;
	pg_read_barrier();

	now = bvh_cache_now();
	if (pg_atomic_read_u64(&entry->last_used) != now)
		pg_atomic_write_u64(&entry->last_used, now);
	pg_atomic_fetch_add_u64(&control->stripes[slot][MyProcPid % CACHE_STRIPES].hits, 1);
	if (unlikely(scan->count - tree->delta->first > tree->delta->many))
		bvh_cache_want(control, slot, index);
	return true;
}

/* does a tree serve scans of the index? */
static bool
is_warm(Relation index)
{
	CacheControl *control = bvh_cache_control();
	CacheKey key;
	int slot;

	if (control == NULL || bvh_use_cache == BVH_CACHE_OFF || bvh_cache_size == 0 ||
		XactIsoLevel == XACT_SERIALIZABLE)
		return false;
	bvh_cache_key(index, &key);
	slot = bvh_cache_find(control, &key);
	return slot >= 0 && pg_atomic_read_u64(&control->entries[slot].serial) != 0;
}

/*
 * bvh_cache_would_serve --- would a scan by this path find a tree?
 *
 * Only what is there now counts: nobody knows whether there will be one.
 */
bool
bvh_cache_would_serve(const IndexPath *path)
{
	const IndexOptInfo *info = path->indexinfo;
	Relation index;
	bool would;

	/* a tree has boxes and one order */
	if (info->hypothetical || list_length(path->indexorderbys) > 1 ||
		(path->path.pathtype == T_IndexOnlyScan && info->ncolumns > 1))
		return false;
	/* the planner has it locked */
	index = index_open(info->indexoid, NoLock);
	would = is_warm(index);
	index_close(index, NoLock);
	return would;
}

/* ---------------------------------------------------------------- rows of a scan */

bool
bvh_cache_has_nulls(const BvhCacheScan *scan)
{
	return scan->has_nulls;
}

/*
 * bvh_cache_is_unvacuumed --- has no row been removed since the scan began?
 *
 * Call after a look at the visibility map, to know whether to believe it.
 */
bool
bvh_cache_is_unvacuumed(const BvhCacheScan *scan)
{
	pg_read_barrier();
	return pg_atomic_read_u64(&scan->entry->vacuums) == scan->vacuums;
}

void
bvh_cache_box(const BvhCacheScan *scan, uint64 place, Box3 *box)
{
	if (place & IN_DELTA)
		*box = delta_items(scan->tree->delta)[place & ~IN_DELTA].box;
	else
		bvh_tree_box(scan->tree->tree, place, box);
}

/* bvh_cache_kill --- the row there is dead to all */
void
bvh_cache_kill(BvhCacheScan *scan, uint64 place)
{
	if (place & IN_DELTA)
		delta_forget(scan->tree->delta, (uint32) (place & ~IN_DELTA));
	else
		bvh_tree_forget(scan->tree->tree, place);
}

/*
 * bvh_cache_match --- the row at a place of the tree, of a run, or, without either,
 * with that number; false if it is dead
 */
bool
bvh_cache_match(const BvhCacheScan *scan, const BvhTree *tree, uint64 place,
				BvhCacheMatch *match)
{
	uint64 id;

	match->place = place;
	if (tree == scan->tree->tree)
		id = bvh_tree_id(tree, place);
	else
	{
		if (tree != NULL)
			match->place = bvh_tree_id(tree, place);
		id = delta_id(scan->tree->delta, (uint32) match->place);
		match->place |= IN_DELTA;
	}
	if (unlikely(id == BVH_FORGOTTEN))
		return false;
	ItemPointerSet(&match->tid, (BlockNumber) (id >> 16), (OffsetNumber) (id & 0xFFFF));
	return true;
}

/* ---------------------------------------------------------------- in no order */

/* begin the search of the next tree: of the static one, of runs, and then of none */
static void
begin_part(BvhCacheScan *scan)
{
	const DeltaRuns *runs = scan->runs;
	const BvhTree *tree = scan->tree->tree;

	if (scan->part > runs->nruns)
		return;
	if (scan->part > 0)
		tree = delta_run_tree(scan->tree->delta, &runs->runs[scan->part - 1]);
	bvh_filter_begin(&scan->query, tree, &scan->env, &scan->filter);
	scan->query.gives_places = true;
}

/*
 * bvh_cache_filter_begin --- search the rows that match
 *
 * Shapes and their operands must stay until the scan is over.
 */
void
bvh_cache_filter_begin(BvhCacheScan *scan, const BvhFilter *filter)
{
	scan->filter = *filter;
	scan->part = 0;
	scan->next_row = scan->runs->end;
	begin_part(scan);
}

/*
 * bvh_cache_select_rows --- which of up to DELTA_CHUNK rows of the delta match, counted
 * from the first
 */
int
bvh_cache_select_rows(const BvhCacheScan *scan, uint32 first, int n, uint16 *selected)
{
	const char *items = (const char *) (delta_items(scan->tree->delta) + first);
	const BvhFilter *filter = &scan->filter;

	n = bvh_kernels->select_boxes(items, row_boxes, n, &filter->range, selected);
	for (int i = 0; i < filter->nshapes; i++)
		n = shape_select(&filter->shapes[i], items, row_boxes, true, selected, n);
	return n;
}

/* rows of the delta that are in no run, up to a chunk of them */
static int
next_rows(BvhCacheScan *scan, BvhCacheMatch *matches)
{
	int n = (int) Min(DELTA_CHUNK, scan->count - scan->next_row);
	uint16 selected[DELTA_CHUNK];
	int nselected = bvh_cache_select_rows(scan, scan->next_row, n, selected);
	int nmatches = 0;

	for (int i = 0; i < nselected; i++)
		nmatches += bvh_cache_match(scan,
									NULL,
									scan->next_row + selected[i],
									&matches[nmatches]);
	scan->next_row += n;
	return nmatches;
}

/*
 * bvh_cache_filter_next --- further rows; 0 at the end
 *
 * There must be room for BVH_CACHE_MOST_MATCHES.
 */
int
bvh_cache_filter_next(BvhCacheScan *scan, BvhCacheMatch *matches)
{
	uint64_t places[BVH_CACHE_MOST_MATCHES];
	int nmatches = 0;

	while (nmatches == 0 && scan->part <= scan->runs->nruns)
	{
		size_t n = bvh_range_next(&scan->query, places, lengthof(places));

		for (size_t i = 0; i < n; i++)
			nmatches += bvh_cache_match(scan,
										scan->query.tree,
										places[i],
										&matches[nmatches]);
		if (n < lengthof(places))
		{
			scan->part++;
			begin_part(scan);
		}
	}
	while (nmatches == 0 && scan->next_row < scan->count)
	{
		CHECK_FOR_INTERRUPTS();
		nmatches = next_rows(scan, matches);
	}
	return nmatches;
}
