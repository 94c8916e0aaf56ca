/*-------------------------------------------------------------------------
 *
 * cache.h
 *	  Trees in shared memory that answer for the pages of an index.
 *
 * Include after postgres.h.  The README in this folder says why a scan may
 * trust them, and what an access method has to do for that.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_CACHE_H
#define BVH_CACHE_H

#include "access/genam.h"
#include "nodes/pathnodes.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "core/item.h"
#include "core/shape.h"

/* ---------------------------------------------------------------- cache_control.c */

extern void bvh_cache_install(void);

/* ---------------------------------------------------------------- cache_build.c */

/* what an index has, for a build */
typedef struct BvhCacheItems
{
	BvhItem *items; /* ids are from bvh_cache_id() */
	size_t n;
	size_t room;
	size_t most;     /* no more than this can be had */
	bool has_nulls;  /* some rows have no box */
	bool is_stirred; /* the index changed meanwhile, items may be there twice */

	/* where runs of near items end; of use if all of them are */
	uint32 *run_ends;
	size_t nruns;
	size_t runs_room;
} BvhCacheItems;

/*
 * Read the items of the index from its pages.  Whatever is on a page from begin
 * to end must be found; what comes or goes meanwhile may be, once or twice.
 * False when there are too many.
 */
typedef bool (*BvhCacheCollect)(Relation index, BvhCacheItems *items);

extern void bvh_cache_set_collect(BvhCacheCollect collect);
extern bool bvh_cache_add_item(BvhCacheItems *items, const Box3 *box, ItemPointer tid);
extern void bvh_cache_end_run(BvhCacheItems *items);
extern bool bvh_cache_forget(Relation index);
extern int64 bvh_cache_build_now(Relation index);

static inline uint64
bvh_cache_id(ItemPointer tid)
{
	return (uint64) ItemPointerGetBlockNumber(tid) << 16 |
		   ItemPointerGetOffsetNumber(tid);
}

/* ---------------------------------------------------------------- cache_tidy.c */

extern void bvh_cache_forget_all(Oid index);

/* ---------------------------------------------------------------- cache_delta.c */

/* what an insert has to remember between its two calls */
typedef struct BvhCacheInsert
{
	uint64 serial; /* of the tree that served scans at the first call */
} BvhCacheInsert;

extern void bvh_cache_before_insert(Relation index, BvhCacheInsert *insert);
extern void bvh_cache_after_insert(Relation index, const BvhCacheInsert *insert,
								   const Box3 *box, ItemPointer tid);

/* ---------------------------------------------------------------- cache_vacuum.c */

extern void bvh_cache_after_bulk_delete(Relation index, IndexBulkDeleteCallback callback,
										void *callback_state);

/* ---------------------------------------------------------------- cache_scan.c */

typedef struct BvhCacheScan BvhCacheScan;

/* rows that an unordered scan gives at once */
#define BVH_CACHE_MOST_MATCHES 128

typedef struct BvhCacheMatch
{
	ItemPointerData tid;
	uint64 place; /* for bvh_cache_box() and bvh_cache_kill() */
} BvhCacheMatch;

extern BvhCacheScan *bvh_cache_scan_create(MemoryContext context);
extern bool bvh_cache_take(BvhCacheScan *scan, Relation index, Snapshot snapshot);
extern void bvh_cache_release(BvhCacheScan *scan);
extern bool bvh_cache_would_serve(const IndexPath *path);

/* of a scan that was taken */
extern bool bvh_cache_has_nulls(const BvhCacheScan *scan);
extern bool bvh_cache_is_unvacuumed(const BvhCacheScan *scan);
extern void bvh_cache_box(const BvhCacheScan *scan, uint64 place, Box3 *box);
extern void bvh_cache_kill(BvhCacheScan *scan, uint64 place);

extern void bvh_cache_filter_begin(BvhCacheScan *scan, const BvhFilter *filter);
extern int bvh_cache_filter_next(BvhCacheScan *scan, BvhCacheMatch *matches);

/* ---------------------------------------------------------------- cache_nearest.c */

extern void bvh_cache_nearest_begin(BvhCacheScan *scan, const BvhShape *order,
									const BvhFilter *filter);
extern bool bvh_cache_nearest_next(BvhCacheScan *scan, BvhCacheMatch *match,
								   double *distance);

#endif /* BVH_CACHE_H */
