/*-------------------------------------------------------------------------
 *
 * cache_vacuum.c
 *	  Rows that VACUUM is about to remove leave the trees first.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"

#include "cache/cache_state.h"
#include "pg/bridge.h"
#include "pg/pause.h"

typedef struct Callback
{
	IndexBulkDeleteCallback function;
	void *state;
} Callback;

static bool
is_dead(void *context, uint64_t id)
{
	Callback *callback = context;
	ItemPointerData tid;

	ItemPointerSet(&tid, (BlockNumber) (id >> 16), (OffsetNumber) (id & 0xFFFF));
	return callback->function(&tid, callback->state);
}

static void
sift_delta(Delta *delta, Callback *callback)
{
	uint32 count = pg_atomic_read_u32(&delta->count);

	pg_read_barrier();
	for (uint32 row = delta->first; row < count; row++)
	{
		uint64 id = delta_id(delta, row);

		if (row % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		if (id != BVH_FORGOTTEN && is_dead(callback, id))
			delta_forget(delta, row);
	}
}

/* forget the dead rows of a tree and its delta, which stay mapped meanwhile */
static void
sift(CacheTree *tree, Callback *callback)
{
	BvhMemory memory = {CurrentMemoryContext, 0, 0};
	BvhEnv env;

	bvh_env_init(&env, &memory);
	tree->nusers++;
	PG_TRY();
	{
		(void) bvh_tree_forget_if(tree->tree, &env, is_dead, callback);
		sift_delta(tree->delta, callback);
	}
	PG_FINALLY();
	{
		tree->nusers--;
	}
	PG_END_TRY();
}

/*
 * bvh_cache_after_bulk_delete --- call at the end of bulk deletion, before the table
 * frees the rows
 *
 * Asks for every row of the tree, since the pages may have lost dead ones before.
 * See the README.
 */
void
bvh_cache_after_bulk_delete(Relation index, IndexBulkDeleteCallback callback,
							void *callback_state)
{
	Callback what = {callback, callback_state};
	CacheTree *tree = NULL;
	CacheEntry *entry;
	CacheKey key;

	/* as after an insert: a builder that we do not see reads pages without these rows */
	pg_memory_barrier();
	entry = bvh_cache_entry(index, &key);
	if (entry == NULL)
		return;
	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	if (cache_key_equals(&entry->key, &key))
	{
		entry->is_doomed = true;
		tree = bvh_cache_attach_serving(entry, true);
	}
	LWLockRelease(&entry->lock);
	bvh_pause("doomed");
	if (tree != NULL)
		sift(tree, &what);
	bvh_pause("forgotten");

	/*
	 * Scans that began before this no longer believe the visibility map; those
	 * that begin after it find none of the rows.  Only now, or one that began in
	 * between would do neither.
	 */
	pg_memory_barrier();
	pg_atomic_fetch_add_u64(&entry->vacuums, 1);
}
