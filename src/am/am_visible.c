/*-------------------------------------------------------------------------
 *
 * am_visible.c
 *	  Index-only scans beside VACUUM: is the row of an item really there?
 *
 * The executor takes an item's values for a row's when the visibility map
 * says that all rows of its heap page are visible.  It asks later, when the
 * leaf is long unlocked; meanwhile VACUUM may have removed the item and the
 * row, and set that bit.  So we ask here, while the leaf is still locked and
 * VACUUM cannot have removed the item; see the README for the proof.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/visibilitymap.h"
#include "utils/snapmgr.h"

#include "am/bvh.h"
#include "pg/compat.h"

/* bvh_is_all_visible --- is all of the row's page visible to everybody? */
bool
bvh_is_all_visible(IndexScanDesc scan, ItemPointer tid)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;

	return VM_ALL_VISIBLE(scan->heapRelation,
						  ItemPointerGetBlockNumber(tid),
						  &so->vm_buffer);
}

/* bvh_sees_row --- ask the table itself */
bool
bvh_sees_row(IndexScanDesc scan, ItemPointer tid)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	Relation heap = scan->heapRelation;
	ItemPointerData row = *tid;
	bool call_again = false;
	bool visible;

	if (so->fetch == NULL)
	{
		MemoryContext old = MemoryContextSwitchTo(so->context);

		so->fetch = bvh_index_fetch_begin(heap);
		so->slot = table_slot_create(heap, NULL);
		MemoryContextSwitchTo(old);
	}
	visible = table_index_fetch_tuple(so->fetch,
									  &row,
									  scan->xs_snapshot,
									  so->slot,
									  &call_again,
									  NULL);
	/* a pin on the heap page must not outlive the leaf's lock for long */
	ExecClearTuple(so->slot);
	table_index_fetch_reset(so->fetch);
	return visible;
}

/*
 * bvh_is_visible --- is the row at tid visible to the scan?
 *
 * The leaf that has the item must be locked.
 */
bool
bvh_is_visible(IndexScanDesc scan, ItemPointer tid)
{
	return bvh_is_all_visible(scan, tid) || bvh_sees_row(scan, tid);
}

/* bvh_visibility_end --- let go of pins, which a scan keeps over rescans */
void
bvh_visibility_end(IndexScanDesc scan)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;

	if (BufferIsValid(so->vm_buffer))
		ReleaseBuffer(so->vm_buffer);
	if (so->fetch != NULL)
	{
		table_index_fetch_end(so->fetch);
		ExecDropSingleTupleTableSlot(so->slot);
	}
}
