/*-------------------------------------------------------------------------
 *
 * cache_build.c
 *	  Building the tree of an index beside its readers and writers.
 *
 * The README has the argument; the order of steps in build_tree() is its heart.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "portability/instr_time.h"
#include "storage/bufmgr.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "cache/cache_state.h"
#include "pg/bridge.h"
#include "pg/compat.h"
#include "pg/pause.h"
#include "pg/settings.h"

/* items of a page, by which those of an index are guessed */
#define ITEMS_PER_PAGE 100

/* a delta of fewer rows is never many */
#define FEW_ROWS 4096

static BvhCacheCollect collect_items;

void
bvh_cache_set_collect(BvhCacheCollect collect)
{
	collect_items = collect;
}

/* a build under way, in memory that outlives an error */
typedef struct Build
{
	CacheControl *control;
	CacheEntry *entry;
	int slot;
	CacheTree *tree; /* delta and, later, tree */
	uint64 counted;  /* bytes that it has taken of what there is for all */
	uint64 wanted;   /* bytes that it would have taken, had there been room */
	Relation index;
	CacheBuildResult result;
} Build;

/* ---------------------------------------------------------------- items */

static bool
add_row(BvhCacheItems *items, const BvhItem *item)
{
	if (items->n == items->most)
		return false;
	if (items->n == items->room)
	{
		items->room = Min(2 * items->room, items->most);
		items->items = repalloc_huge(items->items, items->room * sizeof(BvhItem));
	}
	items->items[items->n++] = *item;
	return true;
}

/* bvh_cache_add_item --- one more; false when there are too many */
bool
bvh_cache_add_item(BvhCacheItems *items, const Box3 *box, ItemPointer tid)
{
	BvhItem item = {*box, bvh_cache_id(tid)};

	return add_row(items, &item);
}

/* bvh_cache_end_run --- the items since the last call, if any, are near each other */
void
bvh_cache_end_run(BvhCacheItems *items)
{
	size_t start = items->nruns > 0 ? items->run_ends[items->nruns - 1] : 0;

	if (items->n == start)
		return;
	if (items->nruns == items->runs_room)
	{
		items->runs_room *= 2;
		items->run_ends = repalloc_huge(items->run_ends,
										items->runs_room * sizeof(uint32));
	}
	items->run_ends[items->nruns++] = (uint32) items->n;
}

/* which ids there are: a table with open addressing, half empty at least */
typedef struct IdSet
{
	uint64 *ids;
	uint64 mask;
} IdSet;

/* false if it was there before; no id is 0 */
static bool
add_to_set(IdSet *set, uint64 id)
{
	uint64 at = (id * UINT64_C(0x9E3779B97F4A7C15)) >> 20 & set->mask;

	while (set->ids[at] != 0)
	{
		if (set->ids[at] == id)
			return false;
		at = (at + 1) & set->mask;
	}
	set->ids[at] = id;
	return true;
}

/* a set of all items, which it leaves without those that are there twice */
static void
make_set(BvhCacheItems *items, uint64 more, IdSet *set)
{
	size_t nruns = items->nruns;
	size_t all = items->n;
	size_t run = 0;

	set->mask = pg_nextpower2_64(2 * (items->n + more) + 2) - 1;
	set->ids = MemoryContextAllocHuge(CurrentMemoryContext,
									  (set->mask + 1) * sizeof(uint64));
	memset(set->ids, 0, (set->mask + 1) * sizeof(uint64));
	items->n = 0;
	items->nruns = 0;
	for (size_t i = 0; i < all; i++)
	{
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		if (add_to_set(set, items->items[i].id))
			items->items[items->n++] = items->items[i];
		if (run < nruns && i + 1 == items->run_ends[run])
		{
			run++;
			bvh_cache_end_run(items);
		}
	}
}

/* ---------------------------------------------------------------- one build */

/* undo what a build has left, whatever became of it */
static void
clean_up(int code, Datum arg)
{
	Build *build = (Build *) DatumGetPointer(arg);
	CacheEntry *entry = build->entry;

	if (build->tree != NULL)
	{
		Delta *delta = build->tree->delta;

		/* the error may have come up under it */
		if (!LWLockHeldByMe(&entry->lock))
			LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
		if (pg_atomic_read_u64(&entry->building) == delta->serial)
		{
			pg_atomic_write_u64(&entry->building, 0);
			delta->bytes = build->counted;
			build->counted = 0;
			bvh_cache_retire_delta(entry->building_delta, delta->bytes);
			entry->building_delta = DSM_HANDLE_INVALID;
		}
		LWLockRelease(&entry->lock);
	}
	pg_atomic_fetch_sub_u64(&build->control->used, build->counted);
	build->counted = 0;
	pg_atomic_write_u64(&entry->requested, 0);
}

/* take more of the memory that all trees share */
static bool
count_bytes(Build *build, uint64 bytes)
{
	if (!bvh_cache_make_room(build->control, bytes, build->slot))
	{
		build->result = CACHE_FULL;
		build->wanted = build->counted + bytes;
		return false;
	}
	build->counted += bytes;
	return true;
}

static dsm_segment *
create_segment(Build *build, uint64 bytes)
{
	dsm_segment *segment = dsm_create(bytes, DSM_CREATE_NULL_IF_MAXSEGMENTS);

	if (segment == NULL)
		build->result = CACHE_FULL;
	return segment;
}

/*
 * begin_build --- from here on, whoever inserts tells the new delta
 *
 * False if there is nothing to go on with.
 */
static bool
begin_build(Build *build, uint32 capacity, uint32 many)
{
	CacheEntry *entry = build->entry;
	uint64 bytes = bvh_cache_delta_size(capacity);
	uint64 serial = pg_atomic_add_fetch_u64(&build->control->last_serial, 1);
	dsm_segment *segment;
	CacheKey key;

	if (!count_bytes(build, bytes))
		return false;
	segment = create_segment(build, bytes);
	if (segment == NULL)
		return false;
	bvh_cache_delta_init(dsm_segment_address(segment), serial, capacity);
	((Delta *) dsm_segment_address(segment))->many = many;

	bvh_cache_key(build->index, &key);
	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	if (pg_atomic_read_u64(&entry->building) != 0 || !cache_key_equals(&entry->key, &key))
	{
		LWLockRelease(&entry->lock);
		dsm_detach(segment);
		build->result = CACHE_BUSY;
		return false;
	}
	build->tree = bvh_cache_adopt(entry, serial, segment);
	dsm_pin_segment(segment);
	entry->building_delta = dsm_segment_handle(segment);
	entry->is_doomed = false;
	pg_atomic_write_u64(&entry->building, serial);
	LWLockRelease(&entry->lock);

	/* who inserts and does not see this yet has its row on a page that we will read */
	pg_memory_barrier();
	return true;
}

/* the memory of the tree: a segment of its own */
static void *
alloc_tree(void *context, size_t size)
{
	Build *build = context;
	dsm_segment *segment;

	if (!count_bytes(build, size))
		return NULL;
	segment = create_segment(build, size);
	if (segment == NULL)
		return NULL;
	build->tree->tree_segment = segment;
	build->tree->tree = dsm_segment_address(segment);
	dsm_pin_mapping(segment);
	return build->tree->tree;
}

/*
 * add_inserted --- take rows of the delta among the items; up to which one goes to
 * first
 */
static bool
add_inserted(Delta *delta, BvhCacheItems *items, IdSet *set, uint32 *first)
{
	uint32 count = pg_atomic_read_u32(&delta->count);

	pg_read_barrier();
	if (count > 0 && set->ids == NULL)
		make_set(items, delta->capacity, set);
	for (uint32 row = 0; row < count; row++)
	{
		const BvhItem *item = &delta_items(delta)[row];

		if (!add_to_set(set, item->id))
			continue;
		if (!add_row(items, item))
			return false;
		/* it is nowhere near the last one */
		if (items->nruns > 0)
			bvh_cache_end_run(items);
	}
	*first = count;
	return true;
}

/*
 * publish --- scans that start from now on use the new tree
 *
 * Rows that the delta got after first, and that a page had all the same, are in the
 * tree: the delta forgets them.  False, and nothing done, if that needs a set.
 */
static bool
publish(Build *build, uint32 first, IdSet *set, bool has_nulls, double ms)
{
	CacheEntry *entry = build->entry;
	CacheTree *tree = build->tree;
	Delta *delta = tree->delta;
	uint32 count;

	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	count = pg_atomic_read_u32(&delta->count);
	if (entry->is_doomed || delta->has_overflowed)
	{
		LWLockRelease(&entry->lock);
		build->result = CACHE_DISTURBED;
		return true;
	}
	if (count > first && set->ids == NULL)
	{
		LWLockRelease(&entry->lock);
		return false;
	}
	for (uint32 row = first; row < count; row++)
		if (!add_to_set(set, delta_items(delta)[row].id))
			delta_forget(delta, row);
	delta->first = first;
	delta_runs(delta, 0)->end = first;
	delta->bytes = build->counted;
	if (has_nulls)
		pg_atomic_write_u32(&delta->has_nulls, 1);

	bvh_cache_retire(entry);
	dsm_pin_segment(tree->tree_segment);
	entry->delta = dsm_segment_handle(tree->delta_segment);
	entry->tree = dsm_segment_handle(tree->tree_segment);
	entry->bytes = build->counted;
	pg_atomic_fetch_add_u64(&build->control->serving, entry->bytes);
	entry->nboxes = bvh_tree_nboxes(tree->tree);
	entry->ninserted = count - first;
	entry->building_delta = DSM_HANDLE_INVALID;
	entry->was_too_large = false;
	entry->nbuilds++;
	entry->last_build = GetCurrentTimestamp();
	entry->last_build_ms = ms;
	build->counted = 0;
	pg_atomic_write_u64(&entry->last_used, bvh_cache_now());
	pg_atomic_write_u64(&entry->misses, 0);
	pg_atomic_write_u64(&entry->next_check, 0);
	pg_write_barrier();
	pg_atomic_write_u64(&entry->serial, delta->serial);
	/* who inserts looks at them without the lock, in the other order: see has_reader() */
	pg_write_barrier();
	pg_atomic_write_u64(&entry->building, 0);
	LWLockRelease(&entry->lock);
	build->result = CACHE_BUILT;
	return true;
}

/* private memory that a build may take */
static uint64
most_memory(void)
{
	return (uint64) Max(maintenance_work_mem, bvh_cache_size) * 1024;
}

static void
build_tree(Build *build)
{
	BlockNumber npages = RelationGetNumberOfBlocks(build->index);
	uint64 guess = (uint64) npages * ITEMS_PER_PAGE;
	uint32 many = (uint32) Min(Max(FEW_ROWS, guess / 20), PG_INT32_MAX / 2);
	uint64 per_item = sizeof(BvhItem) + sizeof(uint64) * 4 +
					  bvh_tree_work_size(1 << 20) / (1 << 20) + 1;
	BvhBuildOptions options = {.kind = BVH_BUILD_SAH};
	BvhMemory memory = {CurrentMemoryContext, 0, 0};
	BvhCacheItems items = {0};
	IdSet set = {0};
	BvhEnv env;
	BvhEnv home;
	BvhTree *tree;
	uint32 first;
	instr_time start;
	instr_time duration;

	INSTR_TIME_SET_CURRENT(start);
	if (guess / 4 * per_item > most_memory() ||
		!begin_build(build, many + many / 2, many))
		return;

	items.most = most_memory() / per_item;
	items.room = Min(guess + ITEMS_PER_PAGE, items.most);
	items.items = bvh_memory_alloc(&memory, items.room * sizeof(BvhItem));
	items.runs_room = npages + 1;
	items.run_ends = bvh_memory_alloc(&memory, items.runs_room * sizeof(uint32));
	if (!collect_items(build->index, &items))
		return;
	bvh_pause("collected");
	if (items.is_stirred)
		make_set(&items, build->tree->delta->capacity, &set);
	if (!add_inserted(build->tree->delta, &items, &set, &first))
		return;

	bvh_env_init(&env, &memory);
	home = env;
	home.alloc = alloc_tree;
	home.context = build;
	options.home = &home;
	options.run_ends = items.run_ends;
	options.nruns = items.nruns;
	if (bvh_tree_build(&env, items.items, items.n, &options, &tree) != BVH_OK)
		return;
	bvh_pause("built");
	INSTR_TIME_SET_CURRENT(duration);
	INSTR_TIME_SUBTRACT(duration, start);
	while (
		!publish(build, first, &set, items.has_nulls, INSTR_TIME_GET_MILLISEC(duration)))
		make_set(&items, build->tree->delta->capacity, &set);
}

/* what to say of an index for which there is no memory */
static void
complain_of_memory(int elevel, Relation index, uint64 wanted)
{
	ereport(elevel,
			errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			errmsg("no memory to cache index \"%s\"", RelationGetRelationName(index)),
			wanted > 0
				? errdetail("Its tree takes at least %llu kB, and all trees together "
							"may take %d kB.",
							(unsigned long long) (wanted / 1024 + 1),
							bvh_cache_size)
				: 0,
			errhint("You might need to increase bvhindex.cache_size."));
}

/* build the tree; wanted is how much it takes, if there is no memory and that is known */
static CacheBuildResult
build_index(Relation index, uint64 *wanted)
{
	MemoryContext old = CurrentMemoryContext;
	MemoryContext context;
	CacheKey key;
	Build build = {.control = bvh_cache_control(), .index = index, .result = CACHE_FULL};

	*wanted = 0;
	if (build.control == NULL || RecoveryInProgress())
		return CACHE_OFF;
	bvh_cache_tidy(build.control);
	if (bvh_cache_size == 0)
		return CACHE_OFF;
	bvh_cache_key(index, &key);
	build.slot = bvh_cache_find_or_add(build.control, &key);
	if (build.slot < 0)
		return CACHE_BUSY;
	build.entry = &build.control->entries[build.slot];

	context = AllocSetContextCreate(old, "bvh cache build", ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(context);
	PG_ENSURE_ERROR_CLEANUP(clean_up, PointerGetDatum(&build));
	{
		build_tree(&build);
	}
	PG_END_ENSURE_ERROR_CLEANUP(clean_up, PointerGetDatum(&build));
	clean_up(0, PointerGetDatum(&build));
	MemoryContextSwitchTo(old);
	MemoryContextDelete(context);
	bvh_cache_detach_stale();

	if (build.result == CACHE_FULL && !build.entry->was_too_large)
	{
		build.entry->was_too_large = true;
		complain_of_memory(LOG, index, build.wanted);
	}
	*wanted = build.wanted;
	return build.result;
}

/* bvh_cache_build --- build the tree of an index, unless someone else does */
CacheBuildResult
bvh_cache_build(Relation index)
{
	uint64 wanted;

	return build_index(index, &wanted);
}

/*
 * bvh_cache_forget --- drop the tree of an index; false if there was none
 *
 * What is being built is not used either.
 */
bool
bvh_cache_forget(Relation index)
{
	CacheKey key;
	CacheEntry *entry = bvh_cache_entry(index, &key);
	bool was_there = false;

	if (entry == NULL)
		return false;
	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	if (cache_key_equals(&entry->key, &key))
	{
		was_there = pg_atomic_read_u64(&entry->serial) != 0;
		entry->is_doomed = true;
		bvh_cache_retire(entry);
	}
	LWLockRelease(&entry->lock);
	bvh_cache_detach_stale();
	return was_there;
}

/* what is being built elsewhere is looked at so often, in ms */
#define BUSY_WAIT 10

/* wait until another backend has built the tree, or not */
static void
wait_for_other(Relation index)
{
	CacheKey key;
	CacheEntry *entry = bvh_cache_entry(index, &key);

	while (entry != NULL && pg_atomic_read_u64(&entry->building) != 0)
	{
		CHECK_FOR_INTERRUPTS();
		pg_usleep(BUSY_WAIT * 1000L);
	}
}

/*
 * bvh_cache_build_now --- see that the index has a tree; an error if it cannot
 *
 * Returns its boxes.
 */
int64
bvh_cache_build_now(Relation index)
{
	CacheControl *control = bvh_cache_control();
	const char *name = RelationGetRelationName(index);
	uint64 wanted;

	if (control == NULL)
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("bvhindex has no shared memory"),
				errhint(
					"Add bvhindex to shared_preload_libraries and restart the server."));
	if (RecoveryInProgress())
		ereport(ERROR,
				errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("cannot cache index \"%s\" during recovery", name),
				errhint("Searches on a standby read the pages of the index."));
	if (index->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				errmsg("cannot cache temporary index \"%s\"", name),
				errhint("Searches read its pages, which are in memory of the session."));

	/* what it has is worth nothing if there may not be so much any more */
	bvh_cache_trim(control);
	for (;;)
	{
		CacheKey key;
		CacheTree *tree = NULL;
		int slot;

		bvh_cache_key(index, &key);
		slot = bvh_cache_find(control, &key);
		if (slot >= 0)
			tree = bvh_cache_attach(control, slot, &key);
		if (tree != NULL)
			return (int64) bvh_tree_nboxes(tree->tree);

		switch (build_index(index, &wanted))
		{
			case CACHE_BUILT:
			case CACHE_DISTURBED:
				break;
			case CACHE_BUSY:
				wait_for_other(index);
				break;
			case CACHE_FULL:
				complain_of_memory(ERROR, index, wanted);
				break;
			case CACHE_OFF:
				ereport(ERROR,
						errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
						errmsg("cannot cache index \"%s\" while bvhindex.cache_size is 0",
							   name),
						errhint(
							"Set bvhindex.cache_size in the configuration, and reload "
							"it."));
		}
		CHECK_FOR_INTERRUPTS();
	}
}
