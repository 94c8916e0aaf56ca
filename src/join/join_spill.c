/*-------------------------------------------------------------------------
 *
 * join_spill.c
 *	  A BVH Join whose inner rows do not fit into memory.
 *
 * Both inputs are sorted along a Hilbert curve and go to files.  The inner rows
 * are then taken in chunks that fit, each of which fills a compact part of space;
 * and outer rows in blocks, which do, too.  For each chunk, only those blocks are
 * read again that its bounds meet, so that most rows are read once or twice,
 * however many chunks there are.
 *
 * Whether an outer row had a match is kept in its block, in the file.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_operator_d.h"
#include "catalog/pg_type.h"
#include "commands/tablespace.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "join/join_state.h"
#include "pg/compat.h"

/* columns of a sort */
#define SORT_KEY      1
#define SORT_ROW      2
#define SORT_NCOLUMNS 2

/* part of the memory that a sort may have */
#define SORT_PART 0.7

/* rows of a block, at most, and what part of the memory it may take */
#define MAX_BLOCK_ROWS 4096
#define BLOCK_PART     16

/* bytes of a row of a block beside its columns, a tree over the block included */
#define BLOCK_ROW_SIZE (sizeof(JoinBox) + sizeof(BvhItem) + 128)

/* part of the memory for the list of extents */
#define EXTENTS_PART 32

/* a row of either side on its way through a sort: its box, then the kept row */
typedef struct RowSort
{
	Tuplesortstate *sort;
	TupleDesc desc;
	TupleTableSlot *in;
	TupleTableSlot *out;
	CurveFrame curve;
	bytea *buffer;
	Size buffer_size;
} RowSort;

static void
write_file(BufFile *file, const void *data, Size size)
{
	/* before 16 it is not const, and never written to all the same */
	BufFileWrite(file, unconstify(void *, data), size);
}

static void
read_file(BufFile *file, void *data, Size size)
{
	if (BufFileRead(file, data, size) != size)
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not read from temporary file of a join"));
}

static void
seek_file(BufFile *file, int fileno, off_t offset)
{
	if (BufFileSeek(file, fileno, offset, SEEK_SET) != 0)
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not seek in temporary file of a join"));
}

static BufFile *
create_file(BvhJoinState *state)
{
	MemoryContext old = MemoryContextSwitchTo(state->memory.cxt);
	BufFile *file;

	PrepareTempTablespaces();
	file = BufFileCreateTemp(false);
	MemoryContextSwitchTo(old);
	return file;
}

/*
 * Sorting rows along the curve
 */

static void
sort_begin(BvhJoinState *state, RowSort *sort)
{
	MemoryContext old = MemoryContextSwitchTo(state->memory.cxt);
	AttrNumber column = SORT_KEY;
	Oid less = Int8LessOperator;
	Oid collation = InvalidOid;
	bool nulls_first = false;
	double sort_kb;

	memset(sort, 0, sizeof(*sort));
	sort->desc = CreateTemplateTupleDesc(SORT_NCOLUMNS);
	TupleDescInitEntry(sort->desc, SORT_KEY, "key", INT8OID, -1, 0);
	TupleDescInitEntry(sort->desc, SORT_ROW, "row", BYTEAOID, -1, 0);
	bvh_finalize_tuple_desc(sort->desc);
	sort->in = MakeSingleTupleTableSlot(sort->desc, &TTSOpsVirtual);
	sort->out = MakeSingleTupleTableSlot(sort->desc, &TTSOpsMinimalTuple);
	/* its own arrays come on top of what it counts */
	sort_kb = state->limit / 1024 * SORT_PART;
	sort->sort = tuplesort_begin_heap(sort->desc,
									  1,
									  &column,
									  &less,
									  &collation,
									  &nulls_first,
									  (int) Min(Max(sort_kb, 64), INT_MAX),
									  NULL,
									  TUPLESORT_NONE);
	MemoryContextSwitchTo(old);
}

static void
sort_put(BvhJoinState *state, RowSort *sort, const JoinBox *box, MinimalTuple row)
{
	Size row_size = row == NULL ? 0 : row->t_len;
	Size size = VARHDRSZ + sizeof(JoinBox) + row_size;
	int64 key = PG_INT64_MAX; /* what has no box is out of the way at the end */

	if (size > sort->buffer_size)
	{
		sort->buffer_size = size + size / 2;
		sort->buffer = bvh_memory_grow(&state->memory,
									   sort->buffer,
									   0,
									   sort->buffer_size);
	}
	SET_VARSIZE(sort->buffer, size);
	memcpy(VARDATA(sort->buffer), box, sizeof(JoinBox));
	if (row != NULL)
		memcpy(VARDATA(sort->buffer) + sizeof(JoinBox), row, row_size);

	if (outer_asks(box))
	{
		if (!sort->curve.is_set)
			box3_curve_begin(&sort->curve, &box->box);
		key = (int64) box3_curve_key(&sort->curve, &box->box);
	}
	ExecClearTuple(sort->in);
	sort->in->tts_values[SORT_KEY - 1] = Int64GetDatum(key);
	sort->in->tts_values[SORT_ROW - 1] = PointerGetDatum(sort->buffer);
	sort->in->tts_isnull[SORT_KEY - 1] = false;
	sort->in->tts_isnull[SORT_ROW - 1] = false;
	ExecStoreVirtualTuple(sort->in);
	tuplesort_puttupleslot(sort->sort, sort->in);
}

/*
 * sort_get --- the next row's box, and the bytes of the kept row, which may be
 * none; false at the end
 */
static bool
sort_get(RowSort *sort, JoinBox *box, const char **row, Size *size)
{
	bool isnull;
	bytea *bytes;

	CHECK_FOR_INTERRUPTS();
	if (!tuplesort_gettupleslot(sort->sort, true, false, sort->out, NULL))
		return false;
	bytes = DatumGetByteaPP(slot_getattr(sort->out, SORT_ROW, &isnull));
	memcpy(box, VARDATA_ANY(bytes), sizeof(JoinBox));
	*row = VARDATA_ANY(bytes) + sizeof(JoinBox);
	*size = VARSIZE_ANY_EXHDR(bytes) - sizeof(JoinBox);
	return true;
}

static void
sort_end(BvhJoinState *state, RowSort *sort)
{
	ExecDropSingleTupleTableSlot(sort->in);
	ExecDropSingleTupleTableSlot(sort->out);
	tuplesort_end(sort->sort);
	if (sort->buffer != NULL)
		bvh_memory_free(&state->memory, sort->buffer);
}

/*
 * The inner side
 *
 * Its file has for each row: the size of what follows, the box, the kept row.
 */

static void
write_inner(BufFile *file, const JoinBox *box, const void *row, Size row_size)
{
	Size size = sizeof(JoinBox) + row_size;

	write_file(file, &size, sizeof(size));
	write_file(file, box, sizeof(JoinBox));
	if (row_size > 0)
		write_file(file, row, row_size);
}

/* add the next row of the file to those in memory; false at the end */
static bool
read_inner_row(BvhJoinState *state, BufFile *file)
{
	InnerRows *rows = &state->inner_rows;
	char *row = NULL;
	JoinBox box;
	Size size;
	Size got = BufFileRead(file, &size, sizeof(size));

	if (got == 0)
		return false;
	if (got != sizeof(size))
		elog(ERROR, "temporary file of a join ends within a row");
	read_file(file, &box, sizeof(box));
	size -= sizeof(box);
	if (state->prefix + size > 0)
		row = (char *) bvh_arena_alloc(&rows->arena, state->prefix + size) +
			  state->prefix;
	bvh_join_put_prefix(state, row, &box);
	if (size > 0)
		read_file(file, row, size);
	bvh_inner_add(rows, &state->memory, &box.box, row);
	return true;
}

/* what was read with an inner row in memory */
static void
kept_box(const BvhJoinState *state, size_t i, JoinBox *box)
{
	const BvhItem *item = &state->inner_rows.items[i];

	box->box = item->box;
	box->radius = 0.0;
	box->number = 0;
	if (state->comparison != COMPARE_NOTHING)
		memcpy(&box->number,
			   (const char *) (uintptr_t) item->id - sizeof(int64),
			   sizeof(int64));
}

/* rows in memory, to a file in their order, so that the sort can have the memory */
static BufFile *
dump_inner(BvhJoinState *state)
{
	InnerRows *rows = &state->inner_rows;
	BufFile *file = create_file(state);

	for (size_t i = 0; i < rows->n; i++)
	{
		MinimalTuple row = (MinimalTuple) (uintptr_t) rows->items[i].id;
		JoinBox box;

		if (i % 1024 == 0)
			CHECK_FOR_INTERRUPTS();
		kept_box(state, i, &box);
		write_inner(file, &box, row, state->inner.ncolumns == 0 ? 0 : row->t_len);
	}
	bvh_inner_reset(rows, &state->env, &state->memory);
	seek_file(file, 0, 0);
	return file;
}

/*
 * bvh_spill_inner --- the inner rows read so far, and all that follow, to a
 * file in the order of the curve
 */
void
bvh_spill_inner(BvhJoinState *state)
{
	InnerRows *rows = &state->inner_rows;
	BufFile *first = dump_inner(state);
	JoinBox box;
	TupleTableSlot *slot;
	const char *row;
	RowSort sort;
	Size size;

	state->spill = MemoryContextAllocZero(state->memory.cxt, sizeof(JoinSpill));
	sort_begin(state, &sort);
	while (read_inner_row(state, first))
	{
		CHECK_FOR_INTERRUPTS();
		kept_box(state, 0, &box);
		sort_put(state,
				 &sort,
				 &box,
				 state->inner.ncolumns == 0
					 ? NULL
					 : (MinimalTuple) (uintptr_t) rows->items[0].id);
		rows->n = 0;
		bvh_arena_rewind(&rows->arena);
	}
	BufFileClose(first);
	while ((slot = bvh_join_next_inner(state, &box)) != NULL)
	{
		sort_put(state, &sort, &box, bvh_row_keep(&state->inner, slot, &rows->arena, 0));
		bvh_arena_rewind(&rows->arena);
	}
	bvh_inner_reset(rows, &state->env, &state->memory);

	tuplesort_performsort(sort.sort);
	state->spill->inner = create_file(state);
	while (sort_get(&sort, &box, &row, &size))
		write_inner(state->spill->inner, &box, row, size);
	sort_end(state, &sort);
}

/*
 * bvh_spill_next_chunk --- as many inner rows of the file as fit, to memory;
 * false at its end
 */
bool
bvh_spill_next_chunk(BvhJoinState *state)
{
	InnerRows *rows = &state->inner_rows;

	bvh_outer_reset(&state->outer_rows, &state->env);
	bvh_inner_reset(rows, &state->env, &state->memory);
	seek_file(state->spill->inner,
			  state->spill->inner_fileno,
			  state->spill->inner_offset);
	while (!bvh_join_is_full(state) && read_inner_row(state, state->spill->inner))
		CHECK_FOR_INTERRUPTS();
	BufFileTell(state->spill->inner,
				&state->spill->inner_fileno,
				&state->spill->inner_offset);
	if (rows->n == 0)
		return false;
	bvh_join_build(state);
	return true;
}

/*
 * The outer side
 *
 * Its file is a sequence of blocks: the number of rows, a bit for each whether it
 * had a match, their boxes, and the kept rows.
 */

static Size
matched_size(size_t n)
{
	return (n + 7) / 8;
}

/* merge extents by twos, so that there is room for more */
static void
halve_extents(JoinSpill *spill)
{
	for (int64 i = 0; i < spill->nextents / 2; i++)
	{
		OuterExtent *merged = &spill->extents[i];
		const OuterExtent *second = &spill->extents[2 * i + 1];

		*merged = spill->extents[2 * i];
		if (second->has_box && merged->has_box)
			box3_include(&merged->bounds, &second->bounds);
		else if (second->has_box)
			merged->bounds = second->bounds;
		merged->has_box |= second->has_box;
		merged->nblocks += second->nblocks;
	}
	spill->nextents /= 2;
	spill->blocks_per_extent *= 2;
}

/* the extent that the next block belongs to */
static OuterExtent *
extent_for_block(JoinSpill *spill)
{
	OuterExtent *extent;

	if (spill->nextents > 0)
	{
		extent = &spill->extents[spill->nextents - 1];
		if (extent->nblocks < spill->blocks_per_extent)
			return extent;
		/* the number is even, so that all have the same number of blocks then */
		if (spill->nextents == spill->max_extents)
		{
			halve_extents(spill);
			return extent_for_block(spill);
		}
	}
	extent = &spill->extents[spill->nextents++];
	memset(extent, 0, sizeof(*extent));
	BufFileTell(spill->outer, &extent->fileno, &extent->offset);
	return extent;
}

/* write the outer rows in memory as a block, and forget them */
static void
write_block(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	JoinSpill *spill = state->spill;
	OuterExtent *extent = extent_for_block(spill);

	write_file(spill->outer, &rows->n, sizeof(rows->n));
	write_file(spill->outer, rows->matched, matched_size(rows->n));
	write_file(spill->outer, rows->boxes, rows->n * sizeof(JoinBox));
	for (size_t i = 0; i < rows->n; i++)
	{
		Box3 query;

		if (state->outer.ncolumns > 0)
			write_file(spill->outer, rows->rows[i], rows->rows[i]->t_len);
		if (!outer_asks(&rows->boxes[i]))
			continue;
		bvh_join_query_box(state, &rows->boxes[i], &query);
		if (extent->has_box)
			box3_include(&extent->bounds, &query);
		else
			extent->bounds = query;
		extent->has_box = true;
	}
	extent->nblocks++;
	bvh_outer_reset(rows, &state->env);
}

/* read the block where the file stands */
static void
read_block(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	JoinSpill *spill = state->spill;
	size_t n;

	bvh_outer_reset(rows, &state->env);
	read_file(spill->outer, &n, sizeof(n));
	BufFileTell(spill->outer, &spill->matched_fileno, &spill->matched_offset);
	bvh_outer_reserve(rows, &state->memory, n);
	read_file(spill->outer, rows->matched, matched_size(n));
	read_file(spill->outer, rows->boxes, n * sizeof(JoinBox));
	rows->n = n;
	for (size_t i = 0; i < n && state->outer.ncolumns > 0; i++)
	{
		uint32 size;
		MinimalTuple row;

		read_file(spill->outer, &size, sizeof(size));
		row = bvh_arena_alloc(&rows->arena, size);
		row->t_len = size;
		read_file(spill->outer, (char *) row + sizeof(size), size - sizeof(size));
		rows->rows[i] = row;
	}
	BufFileTell(spill->outer, &spill->fileno, &spill->offset);
}

/*
 * bvh_spill_outer --- the outer rows in memory, and all that follow, to a file of
 * blocks in the order of the curve
 */
void
bvh_spill_outer(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	JoinSpill *spill = state->spill;
	RowArena scratch;
	TupleTableSlot *slot;
	const char *bytes;
	JoinBox box;
	RowSort sort;
	Size size;
	Size block_bytes;
	size_t block_rows;

	sort_begin(state, &sort);
	for (size_t i = 0; i < rows->n; i++)
		sort_put(state, &sort, &rows->boxes[i], rows->rows[i]);
	bvh_outer_reset(rows, &state->env);

	bvh_arena_init(&scratch, &state->memory, 0);
	while ((slot = bvh_join_next_outer(state, &box)) != NULL)
	{
		sort_put(state, &sort, &box, bvh_row_keep(&state->outer, slot, &scratch, 0));
		bvh_arena_rewind(&scratch);
	}
	bvh_arena_reset(&scratch);
	tuplesort_performsort(sort.sort);

	if (spill->outer != NULL)
		BufFileClose(spill->outer);
	spill->outer = create_file(state);
	if (spill->extents == NULL)
	{
		spill->max_extents = (int64) (state->limit / EXTENTS_PART / sizeof(OuterExtent));
		spill->max_extents = Max(spill->max_extents, 16) / 2 * 2;
		spill->extents = bvh_memory_alloc(&state->memory,
										  spill->max_extents * sizeof(OuterExtent));
	}
	spill->nextents = 0;
	spill->blocks_per_extent = 1;

	block_bytes = state->limit / BLOCK_PART;
	block_rows = Min(block_bytes / BLOCK_ROW_SIZE, MAX_BLOCK_ROWS);
	block_rows = Max(block_rows, 16);
	while (sort_get(&sort, &box, &bytes, &size))
	{
		MinimalTuple row = NULL;

		if (size > 0)
		{
			row = bvh_arena_alloc(&rows->arena, size);
			memcpy(row, bytes, size);
		}
		bvh_outer_add(rows, &state->memory, &box, row);
		if (rows->n >= block_rows || rows->arena.size > block_bytes)
			write_block(state);
	}
	if (rows->n > 0)
		write_block(state);
	sort_end(state, &sort);

	/* the first chunk is read when the blocks have come to their end */
	spill->inner_fileno = 0;
	spill->inner_offset = 0;
	spill->extent = spill->nextents;
	spill->block = 0;
}

/* bvh_spill_rewind --- read the outer rows from the first on */
void
bvh_spill_rewind(BvhJoinState *state)
{
	state->spill->extent = 0;
	state->spill->block = 0;
}

/* may any row of the extent match an inner row in memory? */
static bool
may_match(const BvhJoinState *state, const OuterExtent *extent)
{
	Box3 bounds;

	if (!extent->has_box)
		return false;
	/* a row may be left of anything, however far away */
	if (!state->implies_overlap || !bvh_tree_bounds(state->inner_rows.tree, &bounds))
		return true;
	return box3_overlaps(&extent->bounds, &bounds);
}

/*
 * bvh_spill_next_block --- outer rows that may match those in memory, or all in
 * the last pass; false at the end
 */
bool
bvh_spill_next_block(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;

	for (; spill->extent < spill->nextents; spill->extent++, spill->block = 0)
	{
		const OuterExtent *extent = &spill->extents[spill->extent];

		CHECK_FOR_INTERRUPTS();
		if (spill->block == 0)
		{
			if (!state->last_pass && !may_match(state, extent))
				continue;
			spill->fileno = extent->fileno;
			spill->offset = extent->offset;
		}
		if (spill->block < extent->nblocks)
		{
			seek_file(spill->outer, spill->fileno, spill->offset);
			read_block(state);
			spill->block++;
			return true;
		}
	}
	return false;
}

/* bvh_spill_keep_matched --- note in the file which rows of the block had a match */
void
bvh_spill_keep_matched(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;

	seek_file(spill->outer, spill->matched_fileno, spill->matched_offset);
	write_file(spill->outer,
			   state->outer_rows.matched,
			   matched_size(state->outer_rows.n));
}

void
bvh_spill_end(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;

	if (spill == NULL)
		return;
	if (spill->inner != NULL)
		BufFileClose(spill->inner);
	if (spill->outer != NULL)
		BufFileClose(spill->outer);
	if (spill->extents != NULL)
		bvh_memory_free(&state->memory, spill->extents);
	pfree(spill);
	state->spill = NULL;
}
