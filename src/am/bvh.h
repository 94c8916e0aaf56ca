/*-------------------------------------------------------------------------
 *
 * bvh.h
 *	  The bvh access method: what its files share.
 *
 * Include after postgres.h.  The README in this folder explains the whole.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BVH_H
#define BVH_BVH_H

#include "access/amapi.h"
#include "access/genam.h"
#include "access/gist_private.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "nodes/execnodes.h"

#include "core/box3.h"
#include "core/range.h"
#include "core/shape.h"

/* items that fit on a page: a null key is the shortest tuple */
#define BVH_MAX_ITEMS MaxIndexTuplesPerPage

/* a tuple of a box and nothing else: 56 bytes, and 60 with its line pointer */
#define BVH_PLAIN_TUPLE_SIZE (sizeof(IndexTupleData) + sizeof(Box3))

/*
 * Room for 19 more rows on a leaf of 117: a table can grow by a tenth before
 * pages split.  At GiST's 90, a third of them would.
 */
#define BVH_DEFAULT_FILLFACTOR 86

/* phases of a build, for pg_stat_progress_create_index; 1 is PostgreSQL's */
#define BVH_PHASE_SCAN  2
#define BVH_PHASE_SORT  3
#define BVH_PHASE_PACK  4
#define BVH_PHASE_UPPER 5

/* reloptions of a bvh index */
typedef struct BvhOptions
{
	int32 vl_len_; /* varlena header, not to be touched directly */
	int fillfactor;
} BvhOptions;

/* a page that a scan still has to read */
typedef struct BvhPageRef
{
	BlockNumber blkno;
	GistNSN parent_lsn; /* LSN of the parent when its downlink was read */
} BvhPageRef;

/* a matching item of a leaf page */
typedef struct BvhMatch
{
	ItemPointerData tid;
	uint16 place; /* of its tuple on the page */
	uint16 tuple; /* place of the copy, in an index-only scan */
} BvhMatch;

/* the items of one page, sorted by whether their keys are NULL */
typedef struct BvhPageItems
{
	int nboxes;
	int nnulls;
	const uint16 *box;   /* where in the page the boxes are, */
	const uint16 *tuple; /* and the tuples around them */
	uint16 null_tuple[BVH_MAX_ITEMS];
	uint16 box_room[BVH_MAX_ITEMS]; /* what box and tuple may point to */
	uint16 tuple_room[BVH_MAX_ITEMS];
} BvhPageItems;

/* see am_write.c */
typedef struct BvhWriter BvhWriter;

/* see am_nearest.c */
typedef struct BvhNearest BvhNearest;

/* see am_cached.c */
typedef struct BvhCached BvhCached;

typedef struct BvhScanOpaqueData
{
	/* what the scan keys ask for, as of the last rescan */
	bool is_started;
	bool match_boxes; /* may items with a box match? */
	bool match_nulls; /* may items with a NULL key match? */
	BoxRange leaf_range;
	BoxRange node_range;
	BvhShapeProbe *shapes; /* what boxes in range are tested for besides */
	int nshapes;

	/* pages to read, last in, first out */
	BvhPageRef *stack;
	int nstack;
	int stack_size;

	/* matches of the page being returned, and which comes next */
	BvhMatch matches[BVH_MAX_ITEMS];
	int nmatches;
	int next_match;
	char *tuples; /* copies for an index-only scan, a page of room */

	/* to mark killed items: that page, as it was read */
	BlockNumber page_blkno;
	XLogRecPtr page_lsn;
	uint16 killed[BVH_MAX_ITEMS]; /* places of their tuples */
	int nkilled;

	/* scratch of reading a page */
	BvhPageItems items;
	uint16 selected[BVH_MAX_ITEMS];

	/* visibility, for index-only scans */
	Buffer vm_buffer;
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;

	/* does the tree in shared memory answer for the pages? */
	bool is_cached;
	BvhCached *cached; /* NULL until there was one */

	/* an ordered scan */
	BvhNearest *nearest;
	MemoryContext context; /* lives from begin to end */
} BvhScanOpaqueData;

typedef BvhScanOpaqueData *BvhScanOpaque;

/* am_build.c */
extern IndexBuildResult *bvhbuild(Relation heap, Relation index, IndexInfo *index_info);
extern char *bvhbuildphasename(int64 phase);

/* am_cache.c */
extern void bvh_cache_watch_drops(void);

/* am_cached.c */
extern void bvh_cached_install(void);
extern bool bvh_cached_begin(IndexScanDesc scan);
extern bool bvh_cached_next(IndexScanDesc scan);
extern int64 bvh_cached_bitmap(BvhCached *cached, TIDBitmap *bitmap);
extern bool bvh_cached_has_nulls(const BvhCached *cached);
extern void bvh_cached_end(BvhCached *cached);

/* am_cost.c */
extern void bvhcostestimate(struct PlannerInfo *root, struct IndexPath *path,
							double loop_count, Cost *startup_cost, Cost *total_cost,
							Selectivity *selectivity, double *correlation, double *pages);

/* am_insert.c */
extern bool bvhinsert(Relation index, Datum *values, bool *isnull, ItemPointer tid,
					  Relation heap, IndexUniqueCheck check_unique, bool index_unchanged,
					  IndexInfo *index_info);

/* am_nearest.c */
extern BvhNearest *bvh_nearest_begin(IndexScanDesc scan);
extern void bvh_nearest_rescan(IndexScanDesc scan);
extern bool bvh_nearest_next(IndexScanDesc scan);

/* an operator with its operand, which is not NULL */
static inline BvhShape
bvh_key_shape(const ScanKeyData *key)
{
	return (BvhShape){(BvhShapeOp) key->sk_strategy, DatumGetPointer(key->sk_argument)};
}

/* am_options.c */
extern void bvh_define_options(void);
extern bytea *bvhoptions(Datum reloptions, bool validate);

/* am_page.c */
extern bool bvh_read_page(IndexScanDesc scan, BlockNumber blkno, GistNSN parent_lsn,
						  Buffer *buffer, BlockNumber *right);
extern void bvh_page_items(Relation index, Page page, bool skip_dead,
						   BvhPageItems *items);
extern void bvh_page_init(void);
extern OffsetNumber bvh_tuple_offnum(Page page, uint16 tuple);
extern Box3 *bvh_tuple_box(IndexTuple itup);
extern bool bvh_has_null_key(IndexTuple itup);

/* am_scan.c */
extern IndexScanDesc bvhbeginscan(Relation index, int nkeys, int norderbys);
extern void bvhrescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys,
					  int norderbys);
extern void bvhendscan(IndexScanDesc scan);
extern bool bvhgettuple(IndexScanDesc scan, ScanDirection direction);
extern int64 bvhgetbitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern int bvh_select(BvhScanOpaque so, Page page, bool is_leaf);

/* am_vacuum.c */
extern IndexBulkDeleteResult *bvhbulkdelete(IndexVacuumInfo *info,
											IndexBulkDeleteResult *stats,
											IndexBulkDeleteCallback callback,
											void *callback_state);

/* am_visible.c */
extern bool bvh_is_visible(IndexScanDesc scan, ItemPointer tid);
extern bool bvh_is_all_visible(IndexScanDesc scan, ItemPointer tid);
extern bool bvh_sees_row(IndexScanDesc scan, ItemPointer tid);
extern void bvh_visibility_end(IndexScanDesc scan);

/* does this scan return values from the index alone? */
static inline bool
bvh_needs_visibility(IndexScanDesc scan)
{
	return scan->xs_want_itup && IsMVCCSnapshot(scan->xs_snapshot);
}

/* am_write.c */
extern BvhWriter *bvh_write_begin(Relation index);
extern Page bvh_write_page(BvhWriter *writer, BlockNumber *blkno);
extern Page bvh_write_root(BvhWriter *writer);
extern void bvh_write_end(BvhWriter *writer);

#endif /* BVH_BVH_H */
