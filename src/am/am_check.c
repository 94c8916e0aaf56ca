/*-------------------------------------------------------------------------
 *
 * am_check.c
 *	  bvh_check(): is an index what it must be?
 *
 * The invariants:
 *	1. a link leads to a page that exists and is not deleted
 *	2. every key is a box: no NaN, no -0, lower bounds not above upper ones
 *	3. the parent's key contains every key of the page; a page below a NULL
 *	   union has no other keys
 *	4. all leaves are at the same depth
 *	5. no page is reached twice
 *	6. an inner page is not empty
 *	7. with heapallindexed, every row of the table that must be indexed is,
 *	   under its exact box
 *	8. a page is one of GiST's, its line pointers lead to tuples, and each of
 *	   those has room for its columns; what does not hold this is not looked at
 *	9. a leaf item points to a row that the table has room for
 *
 * Writers are held off meanwhile, as amcheck does for what it checks between
 * parents and children.  A split that a crash interrupted is no damage.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "catalog/pg_am.h"
#include "common/pg_prng.h"
#include "funcapi.h"
#include "lib/bloomfilter.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "am/am_walk.h"
#include "pg/compat.h"
#include "type/box3d.h"

BVH_FUNCTION(bvh_check);

/* a leaf item as the filter knows it; no padding */
typedef struct Fingerprint
{
	Box3 box;
	uint64 tid;
	uint64 is_null;
} Fingerprint;

typedef struct CheckContext
{
	ReturnSetInfo *rsinfo;
	Relation index;
	BlockNumber table_nblocks; /* InvalidBlockNumber: rows are not in blocks */
	int leaf_depth;            /* -1 until the first leaf */
	bloom_filter *indexed;
	double nmissing;
} CheckContext;

static void
report(CheckContext *check, int invariant, int64 blkno, const char *problem)
{
	Datum values[3];
	bool nulls[3] = {false};

	values[0] = Int32GetDatum(invariant);
	values[1] = Int64GetDatum(blkno);
	nulls[1] = blkno < 0;
	values[2] = CStringGetTextDatum(problem);
	tuplestore_putvalues(check->rsinfo->setResult, check->rsinfo->setDesc, values, nulls);
}

static void
make_fingerprint(Fingerprint *print, const Box3 *box, ItemPointer tid)
{
	memset(print, 0, sizeof(*print));
	if (box != NULL)
		print->box = *box;
	print->is_null = box == NULL;
	print->tid = (uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16 |
				 ItemPointerGetOffsetNumberNoCheck(tid);
}

static void
check_item(CheckContext *check, const BvhVisit *visit, Page page, OffsetNumber offnum)
{
	IndexTuple itup = (IndexTuple) PageGetItem(page, PageGetItemId(page, offnum));
	const Box3 *box = bvh_has_null_key(itup) ? NULL : bvh_tuple_box(itup);

	if (box != NULL && !box3_is_valid(box))
		report(check,
			   2,
			   visit->blkno,
			   psprintf("item %d is not a box: %s",
						offnum,
						box3d_to_text(box->lo, box->hi)));
	else if (box != NULL && visit->has_bounds && !box3_contains(&visit->bounds, box))
		report(check,
			   3,
			   visit->blkno,
			   psprintf("item %d, %s, is outside of the parent's key %s in block %u",
						offnum,
						box3d_to_text(box->lo, box->hi),
						box3d_to_text(visit->bounds.lo, visit->bounds.hi),
						visit->parent));
	else if (box != NULL && !visit->has_bounds && visit->parent != InvalidBlockNumber)
		report(check,
			   3,
			   visit->blkno,
			   psprintf("item %d, %s, is below a NULL key in block %u",
						offnum,
						box3d_to_text(box->lo, box->hi),
						visit->parent));

	if (GistPageIsLeaf(page) &&
		(ItemPointerGetBlockNumberNoCheck(&itup->t_tid) >= check->table_nblocks ||
		 !OffsetNumberIsValid(ItemPointerGetOffsetNumberNoCheck(&itup->t_tid))))
		report(check,
			   9,
			   visit->blkno,
			   psprintf("item %d points to row (%u,%u), which the table cannot have",
						offnum,
						ItemPointerGetBlockNumberNoCheck(&itup->t_tid),
						ItemPointerGetOffsetNumberNoCheck(&itup->t_tid)));
	if (GistPageIsLeaf(page) && check->indexed != NULL)
	{
		Fingerprint print;

		make_fingerprint(&print, box, &itup->t_tid);
		bloom_add_element(check->indexed, (unsigned char *) &print, sizeof(print));
	}
}

static void
check_page(void *context, const BvhVisit *visit, Page page)
{
	CheckContext *check = context;
	OffsetNumber last = PageGetMaxOffsetNumber(page);

	if (GistPageIsLeaf(page))
	{
		if (check->leaf_depth < 0)
			check->leaf_depth = visit->depth;
		else if (visit->depth != check->leaf_depth)
			report(check,
				   4,
				   visit->blkno,
				   psprintf("leaf is at depth %d, others at %d",
							visit->depth,
							check->leaf_depth));
	}
	else if (last < FirstOffsetNumber)
		report(check, 6, visit->blkno, "inner page is empty");
	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
		check_item(check, visit, page, offnum);
}

/* called for each page or link that cannot be followed */
static void
check_damage(void *context, BvhDamage damage, const BvhVisit *visit, const char *problem)
{
	report(context, damage, visit->blkno, problem);
}

/* called for each row of the table that the index must have */
static void
check_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool is_alive,
		  void *context)
{
	CheckContext *check = context;
	Fingerprint print;

	make_fingerprint(&print, isnull[0] ? NULL : DatumGetBox3P(values[0]), tid);
	if (bloom_lacks_element(check->indexed, (unsigned char *) &print, sizeof(print)))
	{
		const char *key = "NULL";

		if (!isnull[0])
		{
			const Box3 *box = DatumGetBox3P(values[0]);

			key = box3d_to_text(box->lo, box->hi);
		}
		report(check,
			   7,
			   -1,
			   psprintf("row (%u,%u) of the table, with key %s, is not in the index",
						ItemPointerGetBlockNumber(tid),
						ItemPointerGetOffsetNumber(tid),
						key));
	}
}

/* is every row that the table has in the index? */
static void
check_rows(CheckContext *check, Relation heap)
{
	IndexInfo *index_info = BuildIndexInfo(check->index);
	TableScanDesc scan;

	/*
	 * Not the transaction's own snapshot: an index may be newer, and need not
	 * have the rows that only older snapshots see.
	 */
	Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());

	/* a row that this snapshot does not see need not be in the index yet */
	index_info->ii_Concurrent = true;
	scan = table_beginscan_strat(heap, snapshot, 0, NULL, true, true);
	table_index_build_scan(
		heap, check->index, index_info, true, false, check_row, check, scan);
	UnregisterSnapshot(snapshot);
}

/*
 * bvh_check(regclass, boolean) --- a row for each broken invariant
 */
Datum
bvh_check(PG_FUNCTION_ARGS)
{
	Oid index_oid = PG_GETARG_OID(0);
	bool heapallindexed = PG_GETARG_BOOL(1);
	Oid heap_oid = IndexGetRelation(index_oid, true);
	CheckContext check = {0};
	BvhWalker walker = {check_page, check_damage};
	Relation heap;

	/* the table first, as everybody locks them */
	heap = OidIsValid(heap_oid) ? table_open(heap_oid, ShareLock) : NULL;
	check.index = bvh_open_index(index_oid, ShareLock, true);
	if (heap == NULL || heap_oid != IndexGetRelation(index_oid, false))
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_TABLE),
				errmsg("could not open the table of index \"%s\"",
					   RelationGetRelationName(check.index)));

	InitMaterializedSRF(fcinfo, 0);
	check.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	check.leaf_depth = -1;
	check.table_nblocks = heap->rd_rel->relam == HEAP_TABLE_AM_OID
							  ? RelationGetNumberOfBlocks(heap)
							  : InvalidBlockNumber;
	if (heapallindexed)
	{
		/* one item needs 56 bytes at least */
		int64 most = (int64) RelationGetNumberOfBlocks(check.index) * (BLCKSZ / 56);

		check.indexed = bloom_create(Max(most, 1024),
									 maintenance_work_mem,
									 pg_prng_uint64(&pg_global_prng_state));
	}
	bvh_walk(check.index, &walker, &check);
	if (heapallindexed)
	{
		check_rows(&check, heap);
		bloom_free(check.indexed);
	}
	relation_close(check.index, ShareLock);
	table_close(heap, ShareLock);
	return (Datum) 0;
}
