/*-------------------------------------------------------------------------
 *
 * am_build.c
 *	  CREATE INDEX: a packed tree, bottom up.
 *
 * As many rows as maintenance_work_mem holds are gathered and divided among
 * leaf pages by core/pack.c.  With more rows than that, all of them are sorted
 * along a Hilbert curve first, and then divided in runs of that size; only
 * the seams between the runs are worse.  Each upper level divides the pages
 * below it in the same way, until they fit on the root.
 *
 * Pages go past shared buffers, see am_write.c.  Nothing refers to them before
 * the transaction commits, so a crash or cancel leaves nothing but a file that
 * is removed.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/tuplesort.h"

#include "am/bvh.h"
#include "cache/cache.h"
#include "core/hilbert.h"
#include "core/pack.h"
#include "pg/bridge.h"
#include "pg/compat.h"
#include "type/box3d.h"

/* columns of the sort beyond maintenance_work_mem */
#define SORT_KEY      1
#define SORT_TUPLE    2
#define SORT_NCOLUMNS 2

/* a growing array of items */
typedef struct ItemArray
{
	BvhItem *items;
	size_t n;
	size_t size;
} ItemArray;

typedef struct BuildState
{
	Relation index;
	GISTSTATE *giststate;
	bool is_plain;  /* no INCLUDE columns: a tuple is a box and a TID */
	Size page_room; /* bytes for tuples and line pointers, by fillfactor */

	/* rows gathered so far; the id is a TID or points to an IndexTuple */
	ItemArray rows;
	Size tuples_size;         /* of the tuples that rows point to */
	Size memory_limit;        /* for rows and tuples */
	MemoryContext tuples_cxt; /* of those tuples */
	IndexTuple *nulls;        /* tuples with a NULL key */
	size_t nnulls;
	size_t nulls_size;
	double nindexed;

	/* beyond the limit */
	Tuplesortstate *sort;
	TupleDesc sort_desc;
	TupleTableSlot *sort_slot;
	CurveFrame curve;

	PackWork *work;
	BvhWriter *writer;
	bool is_leaf_level;
	ItemArray above;         /* pages of the level being written, for the next */
	int64 ndone;             /* rows on leaf pages */
	BlockNumber *null_pages; /* of the level being written, with a NULL union */
	size_t nnull_pages;
	size_t null_pages_size;
} BuildState;

/* bvhbuildphasename --- for pg_stat_progress_create_index */
char *
bvhbuildphasename(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case BVH_PHASE_SCAN:
			return "scanning table";
		case BVH_PHASE_SORT:
			return "sorting boxes";
		case BVH_PHASE_PACK:
			return "packing leaf pages";
		case BVH_PHASE_UPPER:
			return "packing upper levels";
		default:
			return NULL;
	}
}

static void
enter_phase(int phase)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

/*
 * Make room for so many items.  Much of the time that filling a large array
 * takes goes into page faults; large pages make few of them.
 */
static void
reserve_items(ItemArray *array, size_t size)
{
	Size bytes = size * sizeof(BvhItem);

	array->items = array->items == NULL
					   ? MemoryContextAllocHuge(CurrentMemoryContext, bytes)
					   : repalloc_huge(array->items, bytes);
	array->size = size;
	bvh_prefer_huge_pages(array->items, bytes);
}

static void
append_item(ItemArray *array, const Box3 *box, uint64 ref)
{
	if (array->n == array->size)
		reserve_items(array, Max(1024, array->size + array->size / 2));
	array->items[array->n].box = *box;
	array->items[array->n].id = ref;
	array->n++;
}

static uint64
tid_to_ref(ItemPointer tid)
{
	return (uint64) ItemPointerGetBlockNumber(tid) << 16 |
		   ItemPointerGetOffsetNumber(tid);
}

static void
ref_to_tid(uint64 ref, ItemPointer tid)
{
	ItemPointerSet(tid, (BlockNumber) (ref >> 16), (OffsetNumber) (ref & 0xFFFF));
}

/* a tuple of a box and nothing else, in a buffer of BVH_PLAIN_TUPLE_SIZE */
static IndexTuple
form_plain_tuple(char *buffer, const Box3 *box)
{
	IndexTuple itup = (IndexTuple) buffer;

	itup->t_info = BVH_PLAIN_TUPLE_SIZE;
	memcpy(bvh_tuple_box(itup), box, sizeof(Box3));
	return itup;
}

/*
 * Filling pages
 */

/* a page being filled */
typedef struct PageFiller
{
	Page page;
	BlockNumber blkno;
	OffsetNumber noffsets;
	Size room;
} PageFiller;

static void
init_page(BuildState *state, PageFiller *filler, Page page, bool is_leaf)
{
	filler->page = page;
	filler->noffsets = 0;
	filler->room = state->page_room;
	gistinitpage(page, is_leaf ? F_LEAF : 0);
}

static void
begin_page(BuildState *state, PageFiller *filler, bool is_leaf)
{
	init_page(state, filler, bvh_write_page(state->writer, &filler->blkno), is_leaf);
}

/* begin the root, the last page of all */
static void
begin_root(BuildState *state, PageFiller *filler, bool is_leaf)
{
	filler->blkno = GIST_ROOT_BLKNO;
	init_page(state, filler, bvh_write_root(state->writer), is_leaf);
}

static Size
size_on_page(IndexTuple itup)
{
	return MAXALIGN(IndexTupleSize(itup)) + sizeof(ItemIdData);
}

/* every page takes one tuple at least, whatever the fillfactor */
static bool
has_room(const PageFiller *filler, IndexTuple itup)
{
	return filler->noffsets == 0 || size_on_page(itup) <= filler->room;
}

static void
add_tuple(BuildState *state, PageFiller *filler, IndexTuple itup)
{
	OffsetNumber offnum = filler->noffsets + 1;
	Size size = size_on_page(itup);

	/* as in gistSplit() */
	if (size > GiSTPageSize)
		ereport(ERROR,
				errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				errmsg("index row size %zu exceeds maximum %zu for index \"%s\"",
					   IndexTupleSize(itup),
					   GiSTPageSize - sizeof(ItemIdData),
					   RelationGetRelationName(state->index)),
				errhint("Leave long columns out of INCLUDE."));
	if (PageAddItem(filler->page,
					(void *) itup,
					IndexTupleSize(itup),
					offnum,
					false,
					false) != offnum)
		elog(ERROR,
			 "failed to add item to a page of index \"%s\"",
			 RelationGetRelationName(state->index));
	filler->noffsets = offnum;
	filler->room = size < filler->room ? filler->room - size : 0;
}

/* the tuple for an item of the level being written */
static IndexTuple
item_tuple(BuildState *state, const BvhItem *item, char *buffer)
{
	IndexTuple itup;

	if (state->is_leaf_level && !state->is_plain)
		return (IndexTuple) (uintptr_t) item->id;

	itup = form_plain_tuple(buffer, &item->box);
	if (state->is_leaf_level)
		ref_to_tid(item->id, &itup->t_tid);
	else
	{
		ItemPointerSetBlockNumber(&itup->t_tid, (BlockNumber) item->id);
		GistTupleSetValid(itup);
	}
	return itup;
}

/* report the rows of a leaf page as done */
static void
count_rows(BuildState *state, const PageFiller *filler)
{
	state->ndone += filler->noffsets;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, state->ndone);
}

/*
 * write_pages --- put items on one page, or on more where tuples of unequal
 * size do not fit
 */
static void
write_pages(void *context, BvhItem *items, size_t n)
{
	BuildState *state = context;
	pg_attribute_aligned(MAXIMUM_ALIGNOF) char buffer[BVH_PLAIN_TUPLE_SIZE];

	CHECK_FOR_INTERRUPTS();
	for (size_t i = 0; i < n;)
	{
		PageFiller filler;
		Box3 bounds = items[i].box;

		begin_page(state, &filler, state->is_leaf_level);
		for (; i < n; i++)
		{
			IndexTuple itup = item_tuple(state, &items[i], buffer);

			if (!has_room(&filler, itup))
				break;
			add_tuple(state, &filler, itup);
			box3_include(&bounds, &items[i].box);
		}
		append_item(&state->above, &bounds, filler.blkno);
		if (state->is_leaf_level)
			count_rows(state, &filler);
	}
}

static void
tick(void *context)
{
	CHECK_FOR_INTERRUPTS();
}

static void
pack(BuildState *state, ItemArray *array, Size tuple_size)
{
	PackCallbacks callbacks = {write_pages, tick, state};

	pack_pages(array->items,
			   array->n,
			   Max(state->page_room / tuple_size, 2),
			   state->work,
			   &callbacks);
}

static void
append_null_page(BuildState *state, BlockNumber blkno)
{
	if (state->nnull_pages == state->null_pages_size)
	{
		state->null_pages_size = Max(64, 2 * state->null_pages_size);
		if (state->null_pages == NULL)
			state->null_pages = palloc(sizeof(BlockNumber) * state->null_pages_size);
		else
			state->null_pages = repalloc_huge(state->null_pages,
											  sizeof(BlockNumber) *
												  state->null_pages_size);
	}
	state->null_pages[state->nnull_pages++] = blkno;
}

/* a downlink to a page with nothing but NULL keys below it */
static IndexTuple
form_null_downlink(BuildState *state, BlockNumber blkno)
{
	Datum values[INDEX_MAX_KEYS] = {0};
	bool isnull[INDEX_MAX_KEYS];
	IndexTuple itup;

	memset(isnull, true, sizeof(isnull));
	itup = index_form_tuple(state->giststate->nonLeafTupdesc, values, isnull);
	ItemPointerSetBlockNumber(&itup->t_tid, blkno);
	GistTupleSetValid(itup);
	return itup;
}

/* write tuples in their order, page after page, and note the pages */
static void
write_null_pages(BuildState *state, IndexTuple *tuples, size_t n, bool is_leaf)
{
	for (size_t i = 0; i < n;)
	{
		PageFiller filler;

		CHECK_FOR_INTERRUPTS();
		begin_page(state, &filler, is_leaf);
		for (; i < n && has_room(&filler, tuples[i]); i++)
			add_tuple(state, &filler, tuples[i]);
		append_null_page(state, filler.blkno);
		if (is_leaf)
			count_rows(state, &filler);
	}
}

/*
 * Gathering rows
 */

/* rows hold as much as they may: from here on all goes through a sort */
static void
start_sort(BuildState *state)
{
	AttrNumber column = SORT_KEY;
	Oid less = Int8LessOperator;
	Oid collation = InvalidOid;
	bool nulls_first = false;

	state->sort_desc = CreateTemplateTupleDesc(SORT_NCOLUMNS);
	TupleDescInitEntry(state->sort_desc, SORT_KEY, "key", INT8OID, -1, 0);
	TupleDescInitEntry(state->sort_desc, SORT_TUPLE, "tuple", BYTEAOID, -1, 0);
	bvh_finalize_tuple_desc(state->sort_desc);
	state->sort_slot = MakeSingleTupleTableSlot(state->sort_desc, &TTSOpsVirtual);
	state->sort = tuplesort_begin_heap(state->sort_desc,
									   1,
									   &column,
									   &less,
									   &collation,
									   &nulls_first,
									   Max(maintenance_work_mem / 2, 64),
									   NULL,
									   TUPLESORT_NONE);
}

/* put one row into the sort: its key, and its tuple as bytes */
static void
sort_row(BuildState *state, const BvhItem *item)
{
	pg_attribute_aligned(MAXIMUM_ALIGNOF) char buffer[BVH_PLAIN_TUPLE_SIZE];
	IndexTuple itup = item_tuple(state, item, buffer);
	Size size = IndexTupleSize(itup);
	bytea *bytes = palloc(VARHDRSZ + size);

	if (!state->curve.is_set)
		box3_curve_begin(&state->curve, &item->box);
	SET_VARSIZE(bytes, VARHDRSZ + size);
	memcpy(VARDATA(bytes), itup, size);

	ExecClearTuple(state->sort_slot);
	state->sort_slot->tts_values[SORT_KEY - 1] = Int64GetDatum(
		(int64) box3_curve_key(&state->curve, &item->box));
	state->sort_slot->tts_values[SORT_TUPLE - 1] = PointerGetDatum(bytes);
	state->sort_slot->tts_isnull[SORT_KEY - 1] = false;
	state->sort_slot->tts_isnull[SORT_TUPLE - 1] = false;
	ExecStoreVirtualTuple(state->sort_slot);
	tuplesort_puttupleslot(state->sort, state->sort_slot);
	ExecClearTuple(state->sort_slot);
	pfree(bytes);
}

/* move what was gathered into the sort */
static void
spill_rows(BuildState *state)
{
	for (size_t i = 0; i < state->rows.n; i++)
	{
		if (i % 4096 == 0)
			CHECK_FOR_INTERRUPTS();
		sort_row(state, &state->rows.items[i]);
	}
	state->tuples_size = 0;
	MemoryContextReset(state->tuples_cxt);
	pfree(state->rows.items);
	memset(&state->rows, 0, sizeof(state->rows));

	/* the sort has the other half */
	state->memory_limit /= 2;
}

static bool
is_over_limit(const BuildState *state)
{
	return state->rows.n * sizeof(BvhItem) + state->tuples_size > state->memory_limit;
}

/* keep a row in memory; the tuple, if there is one, is copied */
static void
keep_row(BuildState *state, const Box3 *box, ItemPointer tid, IndexTuple itup)
{
	uint64 ref;

	if (state->is_plain)
		ref = tid_to_ref(tid);
	else
	{
		IndexTuple copy = MemoryContextAlloc(state->tuples_cxt, IndexTupleSize(itup));

		memcpy(copy, itup, IndexTupleSize(itup));
		ref = (uint64) (uintptr_t) copy;
		state->tuples_size += GetMemoryChunkSpace(copy);
	}
	append_item(&state->rows, box, ref);
}

static void
keep_null(BuildState *state, IndexTuple itup)
{
	if (state->nnulls == state->nulls_size)
	{
		state->nulls_size = Max(64, 2 * state->nulls_size);
		if (state->nulls == NULL)
			state->nulls = palloc(sizeof(IndexTuple) * state->nulls_size);
		else
			state->nulls = repalloc_huge(state->nulls,
										 sizeof(IndexTuple) * state->nulls_size);
	}
	state->nulls[state->nnulls++] = itup;
}

/* called for each row of the table */
static void
gather_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool is_alive,
		   void *context)
{
	BuildState *state = context;
	MemoryContext old = MemoryContextSwitchTo(state->giststate->tempCxt);
	IndexTuple itup = NULL;

	if (isnull[0] || !state->is_plain)
	{
		itup = gistFormTuple(state->giststate, index, values, isnull, true);
		itup->t_tid = *tid;
	}
	if (isnull[0])
	{
		IndexTuple copy;

		MemoryContextSwitchTo(old);
		copy = palloc(IndexTupleSize(itup));
		memcpy(copy, itup, IndexTupleSize(itup));
		keep_null(state, copy);
	}
	else
	{
		BvhItem item = {*DatumGetBox3P(values[0]), 0};

		if (state->sort == NULL && is_over_limit(state))
		{
			MemoryContextSwitchTo(old);
			start_sort(state);
			spill_rows(state);
			MemoryContextSwitchTo(state->giststate->tempCxt);
		}
		if (state->sort != NULL)
		{
			item.id = state->is_plain ? tid_to_ref(tid) : (uint64) (uintptr_t) itup;
			sort_row(state, &item);
		}
		else
		{
			MemoryContextSwitchTo(old);
			keep_row(state, &item.box, tid, itup);
		}
	}
	state->nindexed += 1;
	MemoryContextSwitchTo(old);
	MemoryContextReset(state->giststate->tempCxt);
}

/* average space of the tuples to be packed */
static Size
mean_tuple_size(const BuildState *state)
{
	Size total = 0;

	if (state->is_plain || state->rows.n == 0)
		return BVH_PLAIN_TUPLE_SIZE + sizeof(ItemIdData);
	for (size_t i = 0; i < state->rows.n; i++)
		total += size_on_page((IndexTuple) (uintptr_t) state->rows.items[i].id);
	return (total + state->rows.n - 1) / state->rows.n;
}

/* divide the gathered rows among leaf pages, and forget them */
static void
pack_rows(BuildState *state)
{
	pack(state, &state->rows, mean_tuple_size(state));
	state->rows.n = 0;
	state->tuples_size = 0;
	MemoryContextReset(state->tuples_cxt);
}

/* read the sorted rows back in runs that memory holds, and pack each */
static void
pack_sorted_rows(BuildState *state)
{
	Size rows_per_page = Max(state->page_room /
								 (BVH_PLAIN_TUPLE_SIZE + sizeof(ItemIdData)),
							 2);
	TupleTableSlot *slot = MakeSingleTupleTableSlot(state->sort_desc,
													&TTSOpsMinimalTuple);

	enter_phase(BVH_PHASE_SORT);
	tuplesort_performsort(state->sort);
	enter_phase(BVH_PHASE_PACK);
	while (tuplesort_gettupleslot(state->sort, true, false, slot, NULL))
	{
		bool isnull;
		bytea *bytes = (bytea *) DatumGetPointer(slot_getattr(slot, SORT_TUPLE, &isnull));
		IndexTuple itup = (IndexTuple) palloc(VARSIZE_ANY_EXHDR(bytes));

		/* out of the sort, it need not be aligned */
		memcpy(itup, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
		keep_row(state, bvh_tuple_box(itup), &itup->t_tid, itup);
		pfree(itup);

		/* whole pages: the last one of a run is then as full as the others */
		if (is_over_limit(state) &&
			(!state->is_plain || state->rows.n % rows_per_page == 0))
			pack_rows(state);
	}
	pack_rows(state);
	ExecDropSingleTupleTableSlot(slot);
	tuplesort_end(state->sort);
}

/* write the level above the pages of the last one */
static void
pack_upper_level(BuildState *state)
{
	ItemArray below = state->above;
	size_t nnulls = state->nnull_pages;
	IndexTuple *null_downlinks = palloc(sizeof(IndexTuple) * Max(nnulls, 1));

	for (size_t i = 0; i < nnulls; i++)
		null_downlinks[i] = form_null_downlink(state, state->null_pages[i]);
	memset(&state->above, 0, sizeof(state->above));
	state->nnull_pages = 0;

	pack(state, &below, BVH_PLAIN_TUPLE_SIZE + sizeof(ItemIdData));
	write_null_pages(state, null_downlinks, nnulls, false);
	if (below.items != NULL)
		pfree(below.items);
	pfree(null_downlinks);
}

/* do the downlinks to these pages fit on the root? */
static bool
fits_on_root(const BuildState *state)
{
	return (state->above.n + state->nnull_pages) *
			   (BVH_PLAIN_TUPLE_SIZE + sizeof(ItemIdData)) <=
		   state->page_room;
}

/* write the root over the last level */
static void
write_root(BuildState *state)
{
	pg_attribute_aligned(MAXIMUM_ALIGNOF) char buffer[BVH_PLAIN_TUPLE_SIZE];
	PageFiller filler;

	/* without any row, the root is an empty leaf */
	begin_root(state, &filler, state->above.n + state->nnull_pages == 0);
	for (size_t i = 0; i < state->above.n; i++)
		add_tuple(state, &filler, item_tuple(state, &state->above.items[i], buffer));
	for (size_t i = 0; i < state->nnull_pages; i++)
		add_tuple(state, &filler, form_null_downlink(state, state->null_pages[i]));
}

/* all rows on one page: that page is the root */
static bool
write_small_index(BuildState *state)
{
	pg_attribute_aligned(MAXIMUM_ALIGNOF) char buffer[BVH_PLAIN_TUPLE_SIZE];
	PageFiller filler;
	Size needed = 0;

	if (state->sort != NULL || state->rows.n + state->nnulls > BVH_MAX_ITEMS)
		return false;
	for (size_t i = 0; i < state->rows.n; i++)
		needed += size_on_page(item_tuple(state, &state->rows.items[i], buffer));
	for (size_t i = 0; i < state->nnulls; i++)
		needed += size_on_page(state->nulls[i]);
	if (needed > state->page_room)
		return false;

	begin_root(state, &filler, true);
	for (size_t i = 0; i < state->rows.n; i++)
		add_tuple(state, &filler, item_tuple(state, &state->rows.items[i], buffer));
	for (size_t i = 0; i < state->nnulls; i++)
		add_tuple(state, &filler, state->nulls[i]);
	return true;
}

/*
 * bvhbuild --- build a new index
 */
IndexBuildResult *
bvhbuild(Relation heap, Relation index, IndexInfo *index_info)
{
	IndexBuildResult *result = palloc(sizeof(IndexBuildResult));
	BvhOptions *options = (BvhOptions *) index->rd_options;
	int fillfactor = options != NULL ? options->fillfactor : BVH_DEFAULT_FILLFACTOR;
	BuildState state = {0};

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
	/* a file that was truncated, or has the number of one long gone, is another index */
	bvh_cache_forget_all(RelationGetRelid(index));

	state.index = index;
	state.giststate = initGISTstate(index);
	state.giststate->tempCxt = createTempGistContext();
	state.is_plain = IndexRelationGetNumberOfAttributes(index) == 1;
	state.page_room = GiSTPageSize - BLCKSZ * (100 - fillfactor) / 100;
	state.memory_limit = (Size) maintenance_work_mem * 1024;
	state.tuples_cxt = AllocSetContextCreate(CurrentMemoryContext,
											 "bvh build tuples",
											 ALLOCSET_DEFAULT_SIZES);
	state.work = palloc(pack_work_size());
	state.writer = bvh_write_begin(index);
	state.is_leaf_level = true;

	/* so that the array need not grow; a partial index leaves most untouched */
	if (heap->rd_rel->reltuples > 0)
		reserve_items(&state.rows,
					  Min(1.05 * heap->rd_rel->reltuples + 64,
						  state.memory_limit / sizeof(BvhItem) + 1));

	enter_phase(BVH_PHASE_SCAN);
	result->heap_tuples = table_index_build_scan(
		heap, index, index_info, true, true, gather_row, &state, NULL);
	result->index_tuples = state.nindexed;

	if (!write_small_index(&state))
	{
		enter_phase(BVH_PHASE_PACK);
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL,
									 (int64) state.nindexed);
		if (state.sort != NULL)
			pack_sorted_rows(&state);
		else
			pack_rows(&state);
		write_null_pages(&state, state.nulls, state.nnulls, true);

		enter_phase(BVH_PHASE_UPPER);
		state.is_leaf_level = false;
		while (!fits_on_root(&state))
			pack_upper_level(&state);
		write_root(&state);
	}
	bvh_write_end(state.writer);

	MemoryContextDelete(state.giststate->tempCxt);
	freeGISTstate(state.giststate);
	return result;
}
