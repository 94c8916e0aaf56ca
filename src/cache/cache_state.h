/*-------------------------------------------------------------------------
 *
 * cache_state.h
 *	  What the files of the cache share: the tables in shared memory, and what
 *	  a backend has mapped of it.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_CACHE_STATE_H
#define BVH_CACHE_STATE_H

#include "access/xact.h"
#include "datatype/timestamp.h"
#include "port/atomics.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"

#include "cache/cache.h"
#include "core/tree.h"

/* ---------------------------------------------------------------- entries */

/* indexes that can have an entry */
#define CACHE_ENTRIES 256

/* counters of an entry, so that few backends meet on one */
#define CACHE_STRIPES 8

/*
 * Which file of which index.  All zero: never used; without an index, but with a
 * folder: free again.
 */
typedef struct CacheKey
{
	Oid database;
	Oid tablespace;
	Oid file;
	Oid index;
	uint64 folder; /* of the database, which may be another one of that number */
} CacheKey;

/*
 * An index and its tree.  What is atomic may be read without the lock; all
 * else, and all changes but those of counters, need it.
 */
typedef struct CacheEntry
{
	/* a cache line that scans read and that is seldom written */
	pg_atomic_uint64 serial;    /* of the tree that serves scans, 0: none */
	pg_atomic_uint64 building;  /* of the tree being built, 0: none */
	pg_atomic_uint64 vacuums;   /* calls of bulk deletion */
	pg_atomic_uint64 last_used; /* in seconds */
	pg_atomic_uint64 requested; /* when a build was asked for, in seconds; 0: not */
	char pad[64 - 5 * sizeof(pg_atomic_uint64)];

	LWLock lock;
	CacheKey key;
	bool is_doomed; /* what is being built may have rows that are dead, or lack some */
	bool was_too_large; /* the log says so already */
	dsm_handle delta;   /* of the tree that serves scans */
	dsm_handle tree;
	dsm_handle building_delta;
	uint64 bytes; /* of both, as is counted */
	uint64 nboxes;
	uint64 ninserted; /* rows of the delta that are not in the tree */

	pg_atomic_uint64 misses;     /* scans that would have used a tree */
	pg_atomic_uint64 next_check; /* at so many of them, see whether to build one */
	uint64 nbuilds;
	TimestampTz last_build;
	double last_build_ms;
	char pad_end[8];
} CacheEntry;

StaticAssertDecl(sizeof(CacheEntry) % 64 == 0, "entries share no cache line");

typedef struct CacheStripe
{
	pg_atomic_uint64 hits;
	char pad[64 - sizeof(pg_atomic_uint64)];
} CacheStripe;

typedef struct CacheControl
{
	LWLock lock; /* of the table of keys; taken before that of an entry */
	int tranche;
	pg_atomic_uint64 last_serial;
	pg_atomic_uint64 used;    /* bytes, of old trees that someone has mapped, too */
	pg_atomic_uint64 serving; /* bytes of the trees that serve scans */
	char pad[64 - 4 * sizeof(uint64) - sizeof(LWLock)];
	CacheKey keys[CACHE_ENTRIES];
	CacheEntry entries[CACHE_ENTRIES];
	CacheStripe stripes[CACHE_ENTRIES][CACHE_STRIPES];
} CacheControl;

StaticAssertDecl(offsetof(CacheControl, entries) % 64 == 0, "nor with what is before");

/* ---------------------------------------------------------------- the delta */

/*
 * The last rows of a delta are looked at one by one, up to so many.  Then they
 * get a tree of their own, a run; and so many runs of a size make one of the next.
 */
#define DELTA_CHUNK 128
#define DELTA_RADIX 4

/* 128 * 4^12 is more than there can be */
#define DELTA_MOST_RUNS ((DELTA_RADIX - 1) * 12 + 1)

/* rows of a delta with a tree; its ids are numbers of rows */
typedef struct DeltaRun
{
	uint32 first;
	uint32 n;
	uint64 at; /* the tree, in bytes from the begin of the delta */
} DeltaRun;

/* which runs there are: made once, then only read */
typedef struct DeltaRuns
{
	uint32 nruns;
	uint32 end; /* rows from here on are in no run */
	DeltaRun runs[DELTA_MOST_RUNS];
} DeltaRuns;

/*
 * What was inserted since the build of a tree began: a segment of shared memory.
 *
 *     Delta
 *     BvhItem[capacity]      rows in the order of insertion
 *     DeltaRuns[nversions]
 *     the trees of runs
 *
 * It only ever grows, and ids become BVH_FORGOTTEN.  So who reads it takes
 * version, then count, once, and needs no lock for what they lead to.
 */
typedef struct Delta
{
	uint64 serial; /* of the tree that it belongs to */
	uint64 bytes;  /* what is counted of delta and tree; set before it serves scans */

	/* processes that have it mapped, and one more until the entry lets it go */
	pg_atomic_uint32 nusers;

	pg_atomic_uint32 has_nulls; /* rows without a box, in the tree's place or here */
	uint32 capacity;
	uint32 many;  /* with so many rows, it is time for another tree */
	uint32 first; /* rows before this one are in the tree; set before it serves scans */
	pg_atomic_uint32 count;
	bool has_overflowed; /* there was no room for a row; under the entry's lock */
	bool is_merging;     /* some backend makes a run; under the entry's lock */

	/* of the one that is merging */
	uint32 nversions;
	uint64 items; /* where things are, in bytes from here */
	uint64 versions;
	uint64 trees;
	uint64 trees_used;
	uint64 trees_size;

	pg_atomic_uint32 version; /* the newest */
} Delta;

static inline BvhItem *
delta_items(const Delta *delta)
{
	return (BvhItem *) ((char *) delta + delta->items);
}

static inline DeltaRuns *
delta_runs(const Delta *delta, uint32 version)
{
	return (DeltaRuns *) ((char *) delta + delta->versions) + version;
}

static inline const BvhTree *
delta_run_tree(const Delta *delta, const DeltaRun *run)
{
	return (const BvhTree *) ((const char *) delta + run->at);
}

static inline uint64
delta_id(const Delta *delta, uint32 row)
{
	return __atomic_load_n(&delta_items(delta)[row].id, __ATOMIC_RELAXED);
}

/* for whoever finds a row dead to all */
static inline void
delta_forget(Delta *delta, uint32 row)
{
	__atomic_store_n(&delta_items(delta)[row].id, BVH_FORGOTTEN, __ATOMIC_RELAXED);
}

/* ---------------------------------------------------------------- this backend's */

/* a tree and its delta as this backend has them mapped */
typedef struct CacheTree
{
	uint64 serial;
	CacheKey key;
	int slot;
	int nusers; /* scans under way */
	dsm_segment *delta_segment;
	dsm_segment *tree_segment; /* NULL while it is not needed */
	Delta *delta;
	BvhTree *tree;
	struct CacheTree *next;
} CacheTree;

/* ---------------------------------------------------------------- cache_control.c */

extern CacheControl *bvh_cache_control(void);
extern uint64 bvh_cache_folder(void);
extern void bvh_cache_key(Relation index, CacheKey *key);
extern int bvh_cache_find(CacheControl *control, const CacheKey *key);
extern int bvh_cache_find_or_add(CacheControl *control, const CacheKey *key);
extern CacheEntry *bvh_cache_entry(Relation index, CacheKey *key);
extern void bvh_cache_free_entry(CacheControl *control, const CacheKey *key);
extern bool bvh_cache_make_room(CacheControl *control, uint64 bytes, int slot);
extern void bvh_cache_trim(CacheControl *control);

/* seconds are fine enough to tell what was used long ago, and seldom change */
static inline uint64
bvh_cache_now(void)
{
	return (uint64) GetCurrentStatementStartTimestamp() / USECS_PER_SEC;
}

static inline bool
cache_key_equals(const CacheKey *a, const CacheKey *b)
{
	return a->file == b->file && a->index == b->index && a->database == b->database &&
		   a->tablespace == b->tablespace && a->folder == b->folder;
}

/* ---------------------------------------------------------------- cache_attach.c */

extern CacheTree *bvh_cache_attach(CacheControl *control, int slot, const CacheKey *key);
extern CacheTree *bvh_cache_attach_serving(CacheEntry *entry, bool with_tree);
extern CacheTree *bvh_cache_attach_building(CacheEntry *entry);
extern CacheTree *bvh_cache_adopt(CacheEntry *entry, uint64 serial,
								  dsm_segment *delta_segment);
extern void bvh_cache_detach_stale(void);
extern void bvh_cache_retire(CacheEntry *entry);
extern void bvh_cache_retire_delta(dsm_handle handle, uint64 bytes);

/* ---------------------------------------------------------------- cache_tidy.c */

extern bool bvh_cache_is_gone(const CacheKey *key);
extern void bvh_cache_tidy(CacheControl *control);

/* ---------------------------------------------------------------- cache_build.c */

typedef enum CacheBuildResult
{
	CACHE_BUILT,
	CACHE_BUSY,      /* someone else is building it */
	CACHE_FULL,      /* there is no memory for it */
	CACHE_DISTURBED, /* by vacuum or by too many inserts */
	CACHE_OFF
} CacheBuildResult;

extern CacheBuildResult bvh_cache_build(Relation index);

/* ---------------------------------------------------------------- cache_worker.c */

extern void bvh_cache_want(CacheControl *control, int slot, Relation index);
extern void bvh_cache_build_here(Relation index);

/* ---------------------------------------------------------------- cache_delta.c */

extern uint64 bvh_cache_delta_size(uint32 capacity);
extern void bvh_cache_delta_init(Delta *delta, uint64 serial, uint32 capacity);

#endif /* BVH_CACHE_STATE_H */
