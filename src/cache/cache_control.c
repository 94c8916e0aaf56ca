/*-------------------------------------------------------------------------
 *
 * cache_control.c
 *	  The table of cached indexes, and the memory that all trees share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/rel.h"

#include "cache/cache_state.h"
#include "pg/compat.h"
#include "pg/settings.h"

#define CONTROL_NAME "bvhindex cache"

static CacheControl *control;

/* ---------------------------------------------------------------- where it is */

static void
init_control(CacheControl *fresh)
{
	memset(fresh, 0, sizeof(CacheControl));
	fresh->tranche = bvh_new_tranche(CONTROL_NAME);
	LWLockInitialize(&fresh->lock, fresh->tranche);
	pg_atomic_init_u64(&fresh->last_serial, 0);
	pg_atomic_init_u64(&fresh->used, 0);
	pg_atomic_init_u64(&fresh->serving, 0);
	for (int i = 0; i < CACHE_ENTRIES; i++)
	{
		CacheEntry *entry = &fresh->entries[i];

		pg_atomic_init_u64(&entry->serial, 0);
		pg_atomic_init_u64(&entry->building, 0);
		pg_atomic_init_u64(&entry->vacuums, 0);
		pg_atomic_init_u64(&entry->last_used, 0);
		pg_atomic_init_u64(&entry->requested, 0);
		LWLockInitialize(&entry->lock, fresh->tranche);
		pg_atomic_init_u64(&entry->misses, 0);
		pg_atomic_init_u64(&entry->next_check, 0);
		for (int stripe = 0; stripe < CACHE_STRIPES; stripe++)
			pg_atomic_init_u64(&fresh->stripes[i][stripe].hits, 0);
	}
}

#ifdef BVH_NAMED_SEGMENTS

static void
init_segment(BVH_NAMED_SEGMENT_ARGS)
{
	init_control(memory);
}

/*
 * bvh_cache_control --- the tables, or NULL where there are none
 *
 * Every backend that writes to an index must come here, even if it never scans
 * one, so it must not depend on a setting.
 */
CacheControl *
bvh_cache_control(void)
{
	bool found;

	if (likely(control != NULL) || !IsUnderPostmaster)
		return control;
	control = bvh_named_segment(CONTROL_NAME, sizeof(CacheControl), init_segment, &found);
	bvh_register_tranche(control->tranche, CONTROL_NAME);
	return control;
}

void
bvh_cache_install(void)
{
}

#else /* the server must be started with the library */

static shmem_request_hook_type previous_request;
static shmem_startup_hook_type previous_startup;

static void
request_memory(void)
{
	if (previous_request != NULL)
		previous_request();
	RequestAddinShmemSpace(sizeof(CacheControl));
}

static void
start_up(void)
{
	bool found;

	if (previous_startup != NULL)
		previous_startup();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	control = ShmemInitStruct(CONTROL_NAME, sizeof(CacheControl), &found);
	if (!found)
		init_control(control);
	LWLockRelease(AddinShmemInitLock);
	bvh_register_tranche(control->tranche, CONTROL_NAME);
}

CacheControl *
bvh_cache_control(void)
{
	return IsUnderPostmaster ? control : NULL;
}

void
bvh_cache_install(void)
{
	if (!process_shared_preload_libraries_in_progress)
		return;
	previous_request = shmem_request_hook;
	shmem_request_hook = request_memory;
	previous_startup = shmem_startup_hook;
	shmem_startup_hook = start_up;
}

#endif

/* ---------------------------------------------------------------- the table */

/*
 * bvh_cache_folder --- what tells the database's folder from one before it of the
 * same path
 *
 * A database may be moved away and back again, or dropped and made anew under its
 * number, and then its indexes have the files of before with other contents.
 * Nobody is connected meanwhile, so all who are agree on this.
 */
uint64
bvh_cache_folder(void)
{
	static uint64 folder = 0;
	struct stat status;
	char path[MAXPGPATH];

	if (folder != 0)
		return folder;
	snprintf(path, sizeof(path), "%s/PG_VERSION", DatabasePath);
	if (stat(path, &status) != 0)
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not stat file \"%s\": %m", path));
	folder = (uint64) status.st_ino;
#ifdef STATX_BTIME
	{
		struct statx more;

		/* numbers of inodes are used again; it does not matter where this is unknown */
		if (statx(AT_FDCWD, path, 0, STATX_BTIME, &more) == 0 &&
			(more.stx_mask & STATX_BTIME) != 0)
			folder = hash_combine64(folder,
									(uint64) more.stx_btime.tv_sec *
											UINT64CONST(1000000000) +
										more.stx_btime.tv_nsec);
	}
#endif
	folder = Max(folder, 1);
	return folder;
}

void
bvh_cache_key(Relation index, CacheKey *key)
{
	key->folder = bvh_cache_folder();
	key->database = MyDatabaseId;
	key->tablespace = bvh_relation_tablespace(index);
	key->file = bvh_relation_file(index);
	key->index = RelationGetRelid(index);
}

static inline uint32
first_slot(const CacheKey *key)
{
	return (key->file * UINT32_C(0x9E3779B1)) >> 24;
}

StaticAssertDecl(CACHE_ENTRIES == 256, "a slot is the first 8 bits of a hash");

/*
 * bvh_cache_find --- the slot of an index, or -1
 *
 * Without a lock: a key may be changing hands.  Whoever acts on the answer checks
 * the key again, under the entry's lock or by what it has mapped.
 */
int
bvh_cache_find(CacheControl *shared, const CacheKey *key)
{
	uint32 slot = first_slot(key);

	for (int i = 0; i < CACHE_ENTRIES; i++)
	{
		const CacheKey *at = &shared->keys[slot];

		if (cache_key_equals(at, key))
			return (int) slot;
		/* beyond one that is free again there may be more */
		if (at->index == InvalidOid && at->folder == 0)
			return -1;
		slot = (slot + 1) % CACHE_ENTRIES;
	}
	return -1;
}

/*
 * bvh_cache_entry --- the entry of an index, or NULL
 *
 * Gives the key, too, which is to be checked again under the entry's lock.
 */
CacheEntry *
bvh_cache_entry(Relation index, CacheKey *key)
{
	CacheControl *shared = bvh_cache_control();
	int slot;

	if (shared == NULL)
		return NULL;
	bvh_cache_key(index, key);
	slot = bvh_cache_find(shared, key);
	return slot >= 0 ? &shared->entries[slot] : NULL;
}

/* the entry used longest ago, of those with a tree or of all; none that is busy */
static int
oldest_entry(CacheControl *shared, bool with_tree, int except)
{
	uint64 least = UINT64_MAX;
	int oldest = -1;

	for (int i = 0; i < CACHE_ENTRIES; i++)
	{
		CacheEntry *entry = &shared->entries[i];
		bool has_tree = pg_atomic_read_u64(&entry->serial) != 0;
		uint64 used = pg_atomic_read_u64(&entry->last_used);

		if (i == except || (with_tree && !has_tree) ||
			pg_atomic_read_u64(&entry->building) != 0)
			continue;
		/* who has no tree goes before all that have one */
		if (!with_tree && has_tree)
			used |= UINT64_C(1) << 63;
		if (used < least)
		{
			least = used;
			oldest = i;
		}
	}
	return oldest;
}

/* give an entry to another index, or to none; false if it is being built */
static bool
reuse_entry(CacheControl *shared, int slot, const CacheKey *key)
{
	CacheEntry *entry = &shared->entries[slot];
	bool is_free;

	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	is_free = pg_atomic_read_u64(&entry->building) == 0;
	if (is_free)
	{
		bvh_cache_retire(entry);
		/* scans under way will not hear of vacuums any more */
		pg_atomic_fetch_add_u64(&entry->vacuums, 1);
		entry->key = *key;
		entry->was_too_large = false;
		entry->nbuilds = 0;
		entry->last_build = 0;
		entry->last_build_ms = 0.0;
		pg_atomic_write_u64(&entry->requested, 0);
		pg_atomic_write_u64(&entry->last_used, 0);
		pg_atomic_write_u64(&entry->misses, 0);
		pg_atomic_write_u64(&entry->next_check, 0);
		for (int i = 0; i < CACHE_STRIPES; i++)
			pg_atomic_write_u64(&shared->stripes[slot][i].hits, 0);
		shared->keys[slot] = *key;
	}
	LWLockRelease(&entry->lock);
	return is_free;
}

/* bvh_cache_find_or_add --- the slot of an index, -1 if all others are being built */
int
bvh_cache_find_or_add(CacheControl *shared, const CacheKey *key)
{
	int slot = bvh_cache_find(shared, key);
	uint32 free_slot = first_slot(key);

	if (slot >= 0)
		return slot;
	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	slot = bvh_cache_find(shared, key);
	if (slot < 0)
	{
		int ntried = 0;

		while (shared->keys[free_slot].index != InvalidOid && ++ntried < CACHE_ENTRIES)
			free_slot = (free_slot + 1) % CACHE_ENTRIES;
		slot = shared->keys[free_slot].index == InvalidOid
				   ? (int) free_slot
				   : oldest_entry(shared, false, -1);
		if (slot >= 0 && !reuse_entry(shared, slot, key))
			slot = -1;
	}
	LWLockRelease(&shared->lock);
	return slot;
}

/*
 * bvh_cache_free_entry --- let go of an index, and of its place in the table
 *
 * Where a tree is being built, that comes to nothing, and the place is kept.
 */
void
bvh_cache_free_entry(CacheControl *shared, const CacheKey *key)
{
	static const CacheKey nobody = {.folder = 1};
	int slot;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	slot = bvh_cache_find(shared, key);
	if (slot >= 0 && !reuse_entry(shared, slot, &nobody))
	{
		CacheEntry *entry = &shared->entries[slot];

		LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
		entry->is_doomed = true;
		bvh_cache_retire(entry);
		LWLockRelease(&entry->lock);
	}
	LWLockRelease(&shared->lock);
}

/* ---------------------------------------------------------------- memory */

/*
 * Each tree takes two of the server's segments, of which there are 64 and five
 * for each backend; parallel queries need them, too.
 */
static int
most_trees(void)
{
	return 16 + MaxBackends;
}

static int
count_trees(CacheControl *shared)
{
	int n = 0;

	for (int i = 0; i < CACHE_ENTRIES; i++)
		n += (pg_atomic_read_u64(&shared->entries[i].serial) != 0) +
			 (pg_atomic_read_u64(&shared->entries[i].building) != 0);
	return n;
}

/* the bytes that it had */
static uint64
retire_entry(CacheControl *shared, int slot)
{
	CacheEntry *entry = &shared->entries[slot];
	uint64 bytes;

	LWLockAcquire(&entry->lock, LW_EXCLUSIVE);
	bytes = entry->bytes;
	bvh_cache_retire(entry);
	LWLockRelease(&entry->lock);
	return bytes;
}

/*
 * bvh_cache_make_room --- count so many bytes as used
 *
 * Drops trees for it, those used longest ago first, and that of the slot at
 * last.  False when there is no room even so, as trees that are dropped take
 * memory until the last backend has noticed.
 */
bool
bvh_cache_make_room(CacheControl *shared, uint64 bytes, int slot)
{
	uint64 limit = (uint64) bvh_cache_size * 1024;
	uint64 promised = 0;
	bool is_room = false;

	LWLockAcquire(&shared->lock, LW_EXCLUSIVE);
	while (bytes <= limit)
	{
		uint64 used = pg_atomic_read_u64(&shared->used);
		bool has_slots = count_trees(shared) <= most_trees();
		int oldest;

		is_room = has_slots && used + bytes <= limit;
		/* to drop more would not help where others still have it mapped */
		if (is_room || (has_slots && used + bytes <= limit + promised))
			break;
		oldest = oldest_entry(shared, true, slot);
		/* what the index itself had may be enough for its next tree */
		if (oldest < 0 && pg_atomic_read_u64(&shared->entries[slot].serial) != 0)
			oldest = slot;
		if (oldest < 0)
			break;
		promised += retire_entry(shared, oldest);
		promised -= Min(promised, used - pg_atomic_read_u64(&shared->used));
	}
	if (is_room)
		pg_atomic_fetch_add_u64(&shared->used, bytes);
	LWLockRelease(&shared->lock);
	return is_room;
}

/*
 * bvh_cache_trim --- drop what is more than there may be, if that was made less
 *
 * Trees that were used longest ago go first.  One that is being built again waits.
 */
void
bvh_cache_trim(CacheControl *shared)
{
	uint64 limit = (uint64) bvh_cache_size * 1024;
	int oldest = 0;

	/* who holds the lock will see to it, or the next scan does */
	if (likely(pg_atomic_read_u64(&shared->serving) <= limit) ||
		!LWLockConditionalAcquire(&shared->lock, LW_EXCLUSIVE))
		return;
	while (oldest >= 0 && pg_atomic_read_u64(&shared->serving) > limit)
	{
		oldest = oldest_entry(shared, true, -1);
		if (oldest >= 0)
			retire_entry(shared, oldest);
	}
	LWLockRelease(&shared->lock);
}
