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
#include "miscadmin.h"
#include "storage/dsm_impl.h"
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
	if (mapped != NULL && (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
						   event == XACT_EVENT_PREPARE))
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
bvh_cache_adopt(CacheEntry *entry, uint64 serial, dsm_segment *delta_segment)
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
	tree->slot = (int) (entry - bvh_cache_control()->entries);
	tree->delta_segment = delta_segment;
	tree->delta = dsm_segment_address(delta_segment);
	on_dsm_detach(delta_segment, on_detach, (Datum) 0);
	pg_atomic_fetch_add_u32(&tree->delta->nusers, 1);
	dsm_pin_mapping(delta_segment);
	tree->next = mapped;
	mapped = tree;
	return tree;
}

/*
 * attach_segment --- map a segment that an entry names; NULL if it cannot be
 *
 * The server keeps it, but what it is made of may be gone all the same: the files in
 * /dev/shm are anyone's who runs as the server's user, and systemd removes them
 * (RemoveIPC) when that user logs out.
 */
static dsm_segment *
attach_segment(dsm_handle handle, int elevel)
{
	MemoryContext context = CurrentMemoryContext;
	uint32 holdoff = InterruptHoldoffCount;
	dsm_segment *volatile segment = NULL;

	PG_TRY();
	{
		segment = dsm_attach(handle);
	}
	PG_CATCH();
	{
		dsm_segment *begun = dsm_find_mapping(handle);
		ErrorData *error;

		/* an error forgets what the locks that are held count as */
		InterruptHoldoffCount = holdoff;
		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (begun != NULL)
			dsm_detach(begun);
		ereport(elevel, errmsg("could not use a cached tree: %s", error->message));
		FreeErrorData(error);
	}
	PG_END_TRY();
	return segment;
}

/*
 * replace_segment --- put an empty one in the place of a segment, if that is gone
 *
 * So who is the last to let go of it finds something to remove, and the server's slot
 * for it is free again.  Nobody may map it from now on.
 */
static void
replace_segment(dsm_handle handle)
{
	void *private = NULL;
	void *address = NULL;
	Size size = 0;

	if (dsm_impl_op(DSM_OP_CREATE, handle, 1, &private, &address, &size, DEBUG1))
		(void) dsm_impl_op(DSM_OP_DETACH, handle, 0, &private, &address, &size, DEBUG1);
}

/* map a delta, and its tree unless that is DSM_HANDLE_INVALID; NULL if one cannot be */
static CacheTree *
attach_tree(CacheEntry *entry, uint64 serial, dsm_handle delta, dsm_handle tree_handle)
{
	CacheTree *tree = find_mapped(serial);

	if (tree == NULL)
	{
		dsm_segment *segment = attach_segment(delta, LOG);

		if (segment == NULL)
			return NULL;
		tree = bvh_cache_adopt(entry, serial, segment);
	}
	if (tree->tree_segment == NULL && tree_handle != DSM_HANDLE_INVALID)
	{
		dsm_segment *segment = attach_segment(tree_handle, LOG);

		if (segment == NULL)
			return NULL;
		dsm_pin_mapping(segment);
		tree->tree_segment = segment;
		tree->tree = dsm_segment_address(segment);
	}
	return tree;
}

/*
 * bvh_cache_attach_serving --- map the tree that serves scans, or just its delta
 *
 * NULL if there is none, or if it cannot be mapped: then it serves no scan any more,
 * as what this backend does would not reach it.  The entry must be locked for oneself.
 */
CacheTree *
bvh_cache_attach_serving(CacheEntry *entry, bool with_tree)
{
	uint64 serial = pg_atomic_read_u64(&entry->serial);
	CacheTree *tree;

	if (serial == 0)
		return NULL;
	tree = attach_tree(entry,
					   serial,
					   entry->delta,
					   with_tree ? entry->tree : DSM_HANDLE_INVALID);
	if (tree == NULL)
		bvh_cache_retire(entry);
	return tree;
}

/*
 * bvh_cache_attach_building --- map the delta of the tree that is being built
 *
 * NULL if there is none of use, or if it cannot be mapped: then the tree will not be
 * used.  The entry must be locked for oneself.
 */
CacheTree *
bvh_cache_attach_building(CacheEntry *entry)
{
	uint64 serial = pg_atomic_read_u64(&entry->building);
	CacheTree *tree;

	if (serial == 0 || entry->is_doomed)
		return NULL;
	tree = attach_tree(entry, serial, entry->building_delta, DSM_HANDLE_INVALID);
	if (tree == NULL)
	{
		entry->is_doomed = true;
		replace_segment(entry->building_delta);
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
	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	if (cache_key_equals(&entry->key, key))
		tree = bvh_cache_attach_serving(entry, true);
	LWLockRelease(&entry->lock);
	current[slot] = tree;
	return tree;
}

/* ---------------------------------------------------------------- letting go */

/* the entry does not keep a segment any more; false if that is gone */
static bool
unpin_segment(dsm_handle handle, bool is_delta)
{
	dsm_segment *own = dsm_find_mapping(handle);
	dsm_segment *segment = own != NULL ? own : attach_segment(handle, DEBUG1);

	/* who has it mapped cannot tell; and what is in main memory cannot be gone */
	if (segment == NULL || min_dynamic_shared_memory == 0)
		replace_segment(handle);
	if (segment != NULL && is_delta)
		leave_delta(dsm_segment_address(segment));
	dsm_unpin_segment(handle);
	if (segment != own)
		dsm_detach(segment);
	return segment != NULL;
}

/*
 * bvh_cache_retire_delta --- let go of a delta, and of so many bytes with it
 */
void
bvh_cache_retire_delta(dsm_handle handle, uint64 bytes)
{
	/* those who have it mapped would not find that they are the last */
	if (!unpin_segment(handle, true))
		pg_atomic_fetch_sub_u64(&bvh_cache_control()->used, bytes);
}

/*
 * bvh_cache_retire --- no further scan uses the entry's tree
 *
 * The entry must be locked for oneself.  Who has the tree mapped keeps it.
 */
void
bvh_cache_retire(CacheEntry *entry)
{
	if (pg_atomic_read_u64(&entry->serial) == 0)
		return;
	pg_atomic_write_u64(&entry->serial, 0);
	pg_atomic_fetch_sub_u64(&bvh_cache_control()->serving, entry->bytes);
	bvh_cache_retire_delta(entry->delta, entry->bytes);
	(void) unpin_segment(entry->tree, false);
	entry->delta = DSM_HANDLE_INVALID;
	entry->tree = DSM_HANDLE_INVALID;
	entry->nboxes = 0;
	entry->ninserted = 0;
	entry->bytes = 0;
}
