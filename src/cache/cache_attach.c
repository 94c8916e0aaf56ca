/*-------------------------------------------------------------------------
 *
 * cache_attach.c
 *	  Trees that this backend has mapped.
 *
 * A mapping stays until the backend finds that the tree serves scans no more
 * and none of its own scans uses it.  The server counts who has a segment
 * mapped, and takes those off who die; so an old tree goes with its last user.
 * Each tree's bytes are counted until then.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "cache/cache_state.h"

/* all that is mapped; and for each slot, what served scans last time */
static CacheTree *mapped;
static CacheTree *current[CACHE_ENTRIES];

/* one user less; the last one gives the bytes back */
static void
leave_delta(Delta *delta)
{
	if (pg_atomic_sub_fetch_u32(&delta->nusers, 1) == 0)
		pg_atomic_fetch_sub_u64(&bvh_cache_control()->used, delta->bytes);
}

static void
on_detach(dsm_segment *segment, Datum arg)
{
	leave_delta(dsm_segment_address(segment));
}

static void
detach(CacheTree *tree)
{
	CacheTree **at = &mapped;

	while (*at != tree)
		at = &(*at)->next;
	*at = tree->next;
	if (current[tree->slot] == tree)
		current[tree->slot] = NULL;
	if (tree->tree_segment != NULL)
		dsm_detach(tree->tree_segment);
	dsm_detach(tree->delta_segment);
	pfree(tree);
}

/* of use to scans or inserts, as far as is known without a lock? */
static bool
is_stale(CacheControl *control, const CacheTree *tree)
{
	const CacheEntry *entry = &control->entries[tree->slot];

	return pg_atomic_read_u64((pg_atomic_uint64 *) &entry->serial) != tree->serial &&
		   pg_atomic_read_u64((pg_atomic_uint64 *) &entry->building) != tree->serial;
}

/* bvh_cache_detach_stale --- let go of what serves no scan any more */
void
bvh_cache_detach_stale(void)
{
	CacheControl *control = bvh_cache_control();
	CacheTree *next;

	for (CacheTree *tree = mapped; tree != NULL; tree = next)
	{
		next = tree->next;
		if (tree->nusers == 0 && is_stale(control, tree))
			detach(tree);
	}
}

static void
at_transaction_end(XactEvent event, void *arg)
{
	if (mapped != NULL && (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT))
		bvh_cache_detach_stale();
}

static CacheTree *
find_mapped(uint64 serial)
{
	CacheTree *tree = mapped;

	while (tree != NULL && tree->serial != serial)
		tree = tree->next;
	return tree;
}

/*
 * bvh_cache_adopt --- remember a delta's segment, which stays mapped
 */
CacheTree *
bvh_cache_adopt(CacheEntry *entry, int slot, uint64 serial, dsm_segment *delta_segment)
{
	static bool is_registered = false;
	CacheTree *tree;

	if (!is_registered)
	{
		RegisterXactCallback(at_transaction_end, NULL);
		is_registered = true;
	}
	tree = MemoryContextAllocZero(TopMemoryContext, sizeof(CacheTree));
	tree->serial = serial;
	tree->key = entry->key;
	tree->slot = slot;
	tree->delta_segment = delta_segment;
	tree->delta = dsm_segment_address(delta_segment);
	on_dsm_detach(delta_segment, on_detach, (Datum) 0);
	pg_atomic_fetch_add_u32(&tree->delta->nusers, 1);
	dsm_pin_mapping(delta_segment);
	tree->next = mapped;
	mapped = tree;
	return tree;
}

static dsm_segment *
attach_segment(dsm_handle handle)
{
	dsm_segment *segment = dsm_attach(handle);

	/* it is pinned, and the entry that says so is locked */
	if (segment == NULL)
		elog(ERROR, "a cached tree has lost its memory");
	return segment;
}

/*
 * bvh_cache_attach_locked --- map a delta, and its tree unless that is
 * DSM_HANDLE_INVALID
 *
 * The entry must be locked, and be what these handles are from.
 */
CacheTree *
bvh_cache_attach_locked(CacheEntry *entry, int slot, uint64 serial, dsm_handle delta,
						dsm_handle tree_handle)
{
	CacheTree *tree = find_mapped(serial);

	if (tree == NULL)
		tree = bvh_cache_adopt(entry, slot, serial, attach_segment(delta));
	if (tree->tree_segment == NULL && tree_handle != DSM_HANDLE_INVALID)
	{
		dsm_segment *segment = attach_segment(tree_handle);

		dsm_pin_mapping(segment);
		tree->tree_segment = segment;
		tree->tree = dsm_segment_address(segment);
	}
	return tree;
}

/*
 * bvh_cache_attach --- the tree that serves scans of an index, or NULL
 */
CacheTree *
bvh_cache_attach(CacheControl *control, int slot, const CacheKey *key)
{
	CacheEntry *entry = &control->entries[slot];
	uint64 serial = pg_atomic_read_u64(&entry->serial);
	CacheTree *tree = current[slot];

	/* a serial belongs to one tree, and that to one index */
	if (likely(tree != NULL && tree->serial == serial &&
			   cache_key_equals(&tree->key, key)))
		return tree;
	if (serial == 0)
		return NULL;

	bvh_cache_detach_stale();
	tree = NULL;
	LWLockAcquire(&entry->lock, LW_SHARED);
	serial = pg_atomic_read_u64(&entry->serial);
	if (serial != 0 && cache_key_equals(&entry->key, key))
		tree = bvh_cache_attach_locked(entry, slot, serial, entry->delta, entry->tree);
	LWLockRelease(&entry->lock);
	current[slot] = tree;
	return tree;
}

/* ---------------------------------------------------------------- letting go */

/*
 * bvh_cache_retire_delta --- let go of a delta that this backend has mapped
 */
void
bvh_cache_retire_delta(dsm_handle handle)
{
	dsm_segment *segment = dsm_find_mapping(handle);

	leave_delta(dsm_segment_address(segment));
	dsm_unpin_segment(handle);
}

/*
 * bvh_cache_retire --- no further scan uses the entry's tree
 *
 * The entry must be locked for oneself.  Who has the tree mapped keeps it.
 */
void
bvh_cache_retire(CacheEntry *entry)
{
	dsm_segment *borrowed = NULL;

	if (pg_atomic_read_u64(&entry->serial) == 0)
		return;
	/* before anything is changed, as it may fail */
	if (dsm_find_mapping(entry->delta) == NULL)
		borrowed = attach_segment(entry->delta);
	pg_atomic_write_u64(&entry->serial, 0);
	bvh_cache_retire_delta(entry->delta);
	dsm_unpin_segment(entry->tree);
	if (borrowed != NULL)
		dsm_detach(borrowed);
	entry->delta = DSM_HANDLE_INVALID;
	entry->tree = DSM_HANDLE_INVALID;
	entry->nboxes = 0;
	entry->ninserted = 0;
	entry->bytes = 0;
}
