/*-------------------------------------------------------------------------
 *
 * cache_worker.c
 *	  When a tree is built, and by whom.
 *
 * A tree pays off when there are many searches, so scans that walk pages are
 * counted, and the first one after enough of them asks for a background worker.
 * Where there is none to be had, that scan builds the tree itself.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/parallel.h"
#include "access/relation.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/bufmgr.h"
#include "tcop/tcopprot.h"
#include "utils/rel.h"

#include "cache/cache_state.h"
#include "pg/compat.h"
#include "pg/settings.h"

/* scans before the first look at the size of an index */
#define FIRST_CHECK 16

/*
 * A build takes some 0.7 us a box, or 70 us a page; and a scan gains about 3 us,
 * more if it is a large one.  With a scan for each so many pages, the gain is near.
 */
#define PAGES_PER_SCAN 8

/* a worker that has not begun by then never will */
#define PATIENCE 60

/* after a build that came to nothing, so many scans before the next */
#define SCANS_PER_FAILURE 1024

/* builds that vacuum may disturb until we leave it */
#define MOST_TRIES 3

StaticAssertDecl(sizeof(CacheKey) <= BGW_EXTRALEN, "a key goes along with a worker");

extern PGDLLEXPORT void bvh_cache_worker_main(Datum arg);

/* can others see the index? */
static bool
is_local(Relation index)
{
	return index->rd_createSubid != InvalidSubTransactionId ||
		   bvh_relation_new_file_subid(index) != InvalidSubTransactionId;
}

static bool
start_worker(const CacheKey *key)
{
	BackgroundWorker worker = {0};

	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = BGW_NEVER_RESTART;
	strlcpy(worker.bgw_library_name, "bvhindex", sizeof(worker.bgw_library_name));
	strlcpy(worker.bgw_function_name,
			"bvh_cache_worker_main",
			sizeof(worker.bgw_function_name));
	strlcpy(worker.bgw_name, "bvhindex cache builder", sizeof(worker.bgw_name));
	strlcpy(worker.bgw_type, "bvhindex cache builder", sizeof(worker.bgw_type));
	memcpy(worker.bgw_extra, key, sizeof(CacheKey));
	return RegisterDynamicBackgroundWorker(&worker, NULL);
}

/* build, and again when vacuum came in between */
static void
build_with_patience(Relation index)
{
	for (int i = 0; i < MOST_TRIES && bvh_cache_build(index) == CACHE_DISTURBED; i++)
		CHECK_FOR_INTERRUPTS();
}

/*
 * bvh_cache_worker_main --- the background worker
 */
void
bvh_cache_worker_main(Datum arg)
{
	CacheKey wanted;
	CacheKey found;
	Relation index;

	memcpy(&wanted, MyBgworkerEntry->bgw_extra, sizeof(CacheKey));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnectionByOid(wanted.database,
											  InvalidOid,
											  BGWORKER_BYPASS_ALLOWCONN);
	StartTransactionCommand();
	index = try_relation_open(wanted.index, AccessShareLock);
	if (index != NULL)
	{
		bvh_cache_key(index, &found);
		if (cache_key_equals(&wanted, &found))
			build_with_patience(index);
		relation_close(index, AccessShareLock);
	}
	CommitTransactionCommand();
}

/*
 * bvh_cache_build_here --- build in this backend, during a scan
 *
 * What goes wrong is the scan's error only if it is meant for it.
 */
void
bvh_cache_build_here(Relation index)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	if (IsInParallelMode())
		return;
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(context);
	PG_TRY();
	{
		build_with_patience(index);
		ReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
	}
	PG_CATCH();
	{
		ErrorData *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		if (ERRCODE_TO_CATEGORY(error->sqlerrcode) ==
				ERRCODE_TO_CATEGORY(ERRCODE_OPERATOR_INTERVENTION) ||
			ERRCODE_TO_CATEGORY(error->sqlerrcode) ==
				ERRCODE_TO_CATEGORY(ERRCODE_DATA_CORRUPTED))
			ReThrowError(error);
		ereport(LOG,
				errmsg("could not cache index \"%s\": %s",
					   RelationGetRelationName(index),
					   error->message));
		FreeErrorData(error);
	}
	PG_END_TRY();
}

/*
 * bvh_cache_want --- a scan would have liked a tree, or another one
 */
void
bvh_cache_want(CacheControl *control, int slot, Relation index)
{
	CacheEntry *entry = &control->entries[slot];
	uint64 misses = pg_atomic_add_fetch_u64(&entry->misses, 1);
	uint64 check = pg_atomic_read_u64(&entry->next_check);
	uint64 requested;
	uint64 now;
	BlockNumber npages;
	CacheKey key;

	if (pg_atomic_read_u64(&entry->building) != 0 || misses < FIRST_CHECK ||
		misses < check)
		return;
	npages = RelationGetNumberOfBlocks(index);
	if (npages < (BlockNumber) bvh_cache_min_pages || misses < npages / PAGES_PER_SCAN ||
		is_local(index))
	{
		/* at a time when it may have grown */
		pg_atomic_write_u64(&entry->next_check,
							misses + Max(npages / PAGES_PER_SCAN, FIRST_CHECK));
		return;
	}

	now = bvh_cache_now();
	requested = pg_atomic_read_u64(&entry->requested);
	if ((requested != 0 && now < requested + PATIENCE) ||
		!pg_atomic_compare_exchange_u64(&entry->requested, &requested, now))
		return;

	/* when it comes to nothing, not so soon again */
	pg_atomic_write_u64(&entry->next_check,
						misses + Max(npages / PAGES_PER_SCAN, SCANS_PER_FAILURE));
	bvh_cache_key(index, &key);
	if (!start_worker(&key))
	{
		bvh_cache_build_here(index);
		pg_atomic_write_u64(&entry->requested, 0);
	}
}
