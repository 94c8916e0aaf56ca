/*-------------------------------------------------------------------------
 *
 * cache_delta.c
 *	  Rows inserted since a tree was built.
 *
 * They are kept in the order of insertion.  So that a search need not look at
 * each, every DELTA_CHUNK of them get a tree of their own, and every DELTA_RADIX
 * trees of a size are replaced by one of all their rows (the logarithmic method
 * of Bentley and Saxe, "Decomposable searching problems", 1980).  Memory is never
 * used twice, as searches may be under way in it: each row is in as many trees,
 * one after the other, as there are sizes, at some 60 bytes each.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cache/cache_state.h"
#include "pg/bridge.h"

/* ---------------------------------------------------------------- memory */

/* chunks of memory in a delta start at cache lines, as trees must */
#define delta_align(size) TYPEALIGN(BVH_TREE_ALIGNMENT, size)

static uint32
versions_of(uint32 capacity)
{
	return capacity / DELTA_CHUNK + 1;
}

/*
 * A tree along a curve has full blocks.  A delta that needs more than this, for
 * giants, is full earlier.
 */
#define RUN_BYTES_PER_ROW 68

/* the trees that all rows of a full delta were ever in */
static uint64
trees_size_of(uint32 capacity)
{
	uint64 size = 0;

	for (uint64 n = DELTA_CHUNK; n <= capacity; n *= DELTA_RADIX)
		size += capacity / n * delta_align(n * RUN_BYTES_PER_ROW);
	return size;
}

static uint64
delta_size(Delta *delta, uint32 capacity)
{
	delta->items = delta_align(sizeof(Delta));
	delta->versions = delta_align(delta->items + capacity * sizeof(BvhItem));
	delta->trees = delta_align(delta->versions +
							   versions_of(capacity) * sizeof(DeltaRuns));
	return delta->trees + trees_size_of(capacity);
}

uint64
bvh_cache_delta_size(uint32 capacity)
{
	Delta delta;

	return delta_size(&delta, capacity);
}

void
bvh_cache_delta_init(Delta *delta, uint64 serial, uint32 capacity)
{
	memset(delta, 0, sizeof(Delta));
	delta->serial = serial;
	delta->trees_size = delta_size(delta, capacity) - delta->trees;
	delta->capacity = capacity;
	pg_atomic_init_u32(&delta->nusers, 1);
	pg_atomic_init_u32(&delta->has_nulls, 0);
	pg_atomic_init_u32(&delta->count, 0);
	pg_atomic_init_u32(&delta->version, 0);
	delta->nversions = 1;
	delta_runs(delta, 0)->nruns = 0;
	delta_runs(delta, 0)->end = 0;
}

/* ---------------------------------------------------------------- runs */

/*
 * plan_merge --- the rows of the next run: the last chunk, and all runs before it
 * that it completes
 *
 * Returns how many of the runs stay.
 */
static uint32
plan_merge(const DeltaRuns *runs, DeltaRun *next)
{
	uint32 nruns = runs->nruns;

	next->first = runs->end;
	next->n = DELTA_CHUNK;
	while (nruns >= DELTA_RADIX - 1 && runs->runs[nruns - (DELTA_RADIX - 1)].n == next->n)
	{
		nruns -= DELTA_RADIX - 1;
		next->first = runs->runs[nruns].first;
		next->n *= DELTA_RADIX;
	}
	return nruns;
}

static bool
build_run(Delta *delta, DeltaRun *run, BvhMemory *memory)
{
	BvhBuildOptions options = {.kind = BVH_BUILD_HILBERT};
	BvhItem *items = bvh_memory_alloc(memory, run->n * sizeof(BvhItem));
	BvhTree *tree;
	BvhEnv env;
	uint64 size;

	memcpy(items, delta_items(delta) + run->first, run->n * sizeof(BvhItem));
	for (uint32 i = 0; i < run->n; i++)
		items[i].id = run->first + i;
	bvh_env_init(&env, memory);
	bvh_check_status(bvh_tree_build(&env, items, run->n, &options, &tree));

	size = delta_align(bvh_tree_size(tree));
	if (delta->trees_used + size > delta->trees_size)
		return false;
	run->at = delta->trees + delta->trees_used;
	memcpy((char *) delta + run->at, tree, bvh_tree_size(tree));
	delta->trees_used += size;
	return true;
}

/* are there so many rows in no run that they should get one? */
static bool
is_merge_due(const Delta *delta)
{
	uint32 version = pg_atomic_read_u32((pg_atomic_uint32 *) &delta->version);
	uint32 count = pg_atomic_read_u32((pg_atomic_uint32 *) &delta->count);

	return count - delta_runs(delta, version)->end >= DELTA_CHUNK;
}

/* make one run; false when there is no memory for it */
static bool
merge_once(Delta *delta, BvhMemory *memory)
{
	uint32 version = pg_atomic_read_u32(&delta->version);
	const DeltaRuns *before = delta_runs(delta, version);
	DeltaRuns *after = delta_runs(delta, version + 1);
	DeltaRun next;
	uint32 nkept;

	if (version + 1 >= versions_of(delta->capacity))
		return false;
	nkept = plan_merge(before, &next);
	if (!build_run(delta, &next, memory))
		return false;
	memcpy(after->runs, before->runs, nkept * sizeof(DeltaRun));
	after->runs[nkept] = next;
	after->nruns = nkept + 1;
	after->end = next.first + next.n;
	pg_write_barrier();
	pg_atomic_write_u32(&delta->version, version + 1);
	return true;
}

static void
end_merge(CacheEntry *entry, Delta *delta, bool is_full)
{
	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	/* without room for further runs, it is time for another tree */
	if (is_full)
		delta->many = 0;
	else
		delta->is_merging = false;
	LWLockRelease(&entry->lock);
}

/*
 * merge --- make the runs that are due, as the only one who does
 */
static void
merge(CacheEntry *entry, Delta *delta)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext,
												  "bvh cache run",
												  ALLOCSET_DEFAULT_SIZES);
	BvhMemory memory = {context, 0, 0};
	bool is_full = false;

	/* some milliseconds at most; a FATAL error would leave it without one who merges */
	HOLD_INTERRUPTS();
	PG_TRY();
	{
		while (!is_full && is_merge_due(delta))
		{
			is_full = !merge_once(delta, &memory);
			MemoryContextReset(context);
		}
	}
	PG_CATCH();
	{
		end_merge(entry, delta, false);
		PG_RE_THROW();
	}
	PG_END_TRY();
	RESUME_INTERRUPTS();
	end_merge(entry, delta, is_full);
	MemoryContextDelete(context);
}

/* ---------------------------------------------------------------- inserts */

/* is the row in the tree already, because its builder came by between our two steps? */
static bool
is_in_tree(const BvhTree *tree, const Box3 *box, uint64 id)
{
	BvhRangeQuery query;
	BvhMemory memory = {CurrentMemoryContext, 0, 0};
	BvhEnv env;
	BoxRange range;
	uint64_t found[16];
	size_t n;

	bvh_env_init(&env, &memory);
	box3_range(BVH_SAME, false, box, &range);
	bvh_range_begin(&query, tree, &env, &range);
	while ((n = bvh_range_next(&query, found, lengthof(found))) > 0)
		for (size_t i = 0; i < n; i++)
			if (found[i] == id)
				return true;
	return false;
}

/* the entry must be locked */
static void
append(Delta *delta, const Box3 *box, uint64 id)
{
	uint32 count = pg_atomic_read_u32(&delta->count);
	BvhItem *item = &delta_items(delta)[count];

	if (count == delta->capacity)
	{
		delta->has_overflowed = true;
		return;
	}
	item->box = *box;
	item->id = id;
	pg_write_barrier();
	pg_atomic_write_u32(&delta->count, count + 1);
}

/* tell a delta of a row; box is NULL for a row without */
static void
tell_delta(Delta *delta, const Box3 *box, uint64 id)
{
	if (box == NULL)
		pg_atomic_write_u32(&delta->has_nulls, 1);
	else
		append(delta, box, id);
}

/*
 * bvh_cache_before_insert --- call before a row goes to the pages
 */
void
bvh_cache_before_insert(Relation index, BvhCacheInsert *insert)
{
	CacheKey key;
	CacheEntry *entry = bvh_cache_entry(index, &key);

	insert->serial = entry != NULL ? pg_atomic_read_u64(&entry->serial) : 0;
	pg_memory_barrier();
}

/*
 * has_reader --- is there a tree, or is one being built, that must know of a row?
 *
 * A build that ends sets the one before it clears the other.  Read the other way
 * round, there is no moment at which both seem to be none.
 */
static bool
has_reader(CacheEntry *entry)
{
	if (pg_atomic_read_u64(&entry->building) != 0)
		return true;
	pg_read_barrier();
	return pg_atomic_read_u64(&entry->serial) != 0;
}

/*
 * tell_serving --- tell the tree that serves scans of a row
 *
 * Returns its delta if this backend is to make runs of it.  The entry must be locked.
 */
static Delta *
tell_serving(CacheEntry *entry, const BvhCacheInsert *insert, const Box3 *box, uint64 id)
{
	/* the tree itself is looked at if it was made since the first call */
	bool is_same = pg_atomic_read_u64(&entry->serial) == insert->serial;
	CacheTree *tree = bvh_cache_attach_serving(entry, !is_same);
	Delta *delta;

	if (tree == NULL)
		return NULL;
	delta = tree->delta;
	if (box == NULL || is_same || !is_in_tree(tree->tree, box, id))
		tell_delta(delta, box, id);
	entry->ninserted = pg_atomic_read_u32(&delta->count) - delta->first;
	if (delta->has_overflowed)
	{
		bvh_cache_retire(entry);
		return NULL;
	}
	if (delta->is_merging || !is_merge_due(delta))
		return NULL;
	delta->is_merging = true;
	return delta;
}

/*
 * bvh_cache_after_insert --- call when the row is on a page; box is NULL for a
 * row without
 */
void
bvh_cache_after_insert(Relation index, const BvhCacheInsert *insert, const Box3 *box,
					   ItemPointer tid)
{
	Delta *to_merge = NULL;
	CacheEntry *entry;
	CacheKey key;

	/* a builder that we do not see here will see the page as it is now */
	pg_memory_barrier();
	entry = bvh_cache_entry(index, &key);
	if (entry == NULL || !has_reader(entry))
		return;

	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	if (cache_key_equals(&entry->key, &key))
	{
		CacheTree *next;

		to_merge = tell_serving(entry, insert, box, bvh_cache_id(tid));
		next = bvh_cache_attach_building(entry);
		if (next != NULL)
			tell_delta(next->delta, box, bvh_cache_id(tid));
	}
	LWLockRelease(&entry->lock);
	if (to_merge != NULL)
		merge(entry, to_merge);
}
