/*-------------------------------------------------------------------------
 *
 * join_spill.c
 *	  A BVH Join whose inner rows do not fit into memory.
 *
 * The inner rows are divided into parts that fit, each of which fills a compact
 * piece of space; by a sample, namely those that are in memory when it is full.  A
 * part that turns out to be too large is divided once more.  Each inner row is in
 * one part.  An outer row goes to each part whose bounds it meets, mostly one.  So a
 * pair is found once, and most rows of either side are written once and read once.
 *
 * If both inputs have the same rows, the outer ones are not read again.  A part is joined
 * with itself, and its rows that meet other parts visit those that follow; a pair of
 * a visitor and a row is one in either order.
 *
 * An outer row with several copies has a number, by which the copies know whether
 * another one had a match; the one in the last part decides what becomes of the
 * row when none had.  "copy" is twice that number, plus one for the last.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "access/htup_details.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "core/cells.h"
#include "join/join_state.h"

/* part of the memory for the buffers of streams, and how large these may be */
#define BUFFERS_PART 16
#define MIN_BLOCK    ((Size) 256)
#define MAX_BLOCK    ((Size) 64 * 1024)

/* parts that rows are divided into at once */
#define MOST_CELLS 512

/*
 * How full a part is meant to be, since not all get as many rows; and how many rows
 * are enough, as a larger tree outgrows the CPU's caches, and takes a quarter longer.
 */
#define PART_FILL 0.7
#define PART_ROWS 65536.0

/*
 * A part that got more than this of the rows that were divided, or that comes from
 * so many divisions, has too many boxes at one place; it is cut by the order of
 * its rows then.
 */
#define MOST_SHARE     0.9
#define MOST_DIVISIONS 4

/* an outer row that meets more parts than this is kept once, for all of them */
#define MOST_COPIES 8

static Size
block_size(const BvhJoinState *state, int nstreams)
{
	Size size = state->limit / BUFFERS_PART / nstreams;

	return Min(Max(size, MIN_BLOCK), MAX_BLOCK);
}

/*
 * The inner side
 */

/* where the inner rows come from: first those in memory, then a stream, or the plan */
typedef struct RowSource
{
	const SpillStream *stream; /* NULL: the plan */
	SpillReader reader;
	size_t next; /* of those in memory */
	RowArena scratch;
} RowSource;

/* where they go */
typedef struct RowSink
{
	SpillPart *parts;
	int nparts;
	const SpaceCells *cells; /* NULL: in their order, to one part after the other */
} RowSink;

/* the row in memory, as for a file; its bytes follow */
static const void *
row_in_memory(const BvhJoinState *state, size_t i, SpillRow *row)
{
	const BvhItem *item = &state->inner_rows.items[i];
	const char *kept = (const char *) (uintptr_t) item->id;

	row->box.box = item->box;
	if (state->comparison != COMPARE_NOTHING)
		memcpy(&row->box.number, kept - sizeof(int64), sizeof(int64));
	if (state->inner.ncolumns > 0)
		row->size = ((MinimalTuple) kept)->t_len;
	return kept;
}

/* read a row's bytes to memory, with room before it */
static char *
take_row(SpillReader *reader, RowArena *arena, Size room_before, Size size)
{
	char *place;

	if (room_before + size == 0)
		return NULL;
	place = (char *) bvh_arena_alloc(arena, room_before + size) + room_before;
	if (size > 0)
		bvh_reader_take(reader, place, size);
	return place;
}

/* the next inner row, with its bytes; false at the end */
static bool
next_row(BvhJoinState *state, RowSource *source, SpillRow *row, const void **bytes)
{
	memset(row, 0, sizeof(*row));
	if (source->next < state->inner_rows.n)
	{
		*bytes = row_in_memory(state, source->next++, row);
		if (source->next == state->inner_rows.n)
			source->next = SIZE_MAX;
		return true;
	}
	/* those in memory have been written */
	if (state->inner_rows.n > 0 && source->next == SIZE_MAX)
		bvh_inner_reset(&state->inner_rows, &state->env, &state->memory);
	bvh_arena_rewind(&source->scratch);
	if (source->stream != NULL)
	{
		if (!bvh_reader_next(&source->reader, row))
			return false;
		*bytes = take_row(&source->reader, &source->scratch, 0, row->size);
	}
	else
	{
		TupleTableSlot *slot = bvh_join_next_inner(state, &row->box);
		MinimalTuple kept;

		if (slot == NULL)
			return false;
		kept = bvh_row_keep(&state->inner, slot, &source->scratch, 0);
		row->size = kept == NULL ? 0 : kept->t_len;
		*bytes = kept;
	}
	return true;
}

/* bytes of a row in memory, beside its box */
static Size
memory_size(const BvhJoinState *state, const SpillRow *row)
{
	return MAXALIGN(state->prefix + row->size);
}

static void
put_row(BvhJoinState *state, SpillPart *part, const SpillRow *row, const void *bytes)
{
	if (part->inner.nrows == 0)
		part->bounds = row->box.box;
	else
		box3_include(&part->bounds, &row->box.box);
	part->inner.nbytes += memory_size(state, row);
	bvh_stream_put(&state->spill->inner, &part->inner, &state->memory, row, bytes);
}

static SpillPart *
add_part(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;

	if (spill->nparts == spill->max_parts)
	{
		int larger = Max(spill->max_parts * 2, 16);

		spill->parts = bvh_memory_grow(&state->memory,
									   spill->parts,
									   spill->nparts * sizeof(SpillPart),
									   larger * sizeof(SpillPart));
		spill->max_parts = larger;
	}
	memset(&spill->parts[spill->nparts], 0, sizeof(SpillPart));
	return &spill->parts[spill->nparts++];
}

/* cut what the source has into parts that fit, by its order */
static void
cut(BvhJoinState *state, RowSource *source)
{
	SpillPart *part = NULL;
	const void *bytes;
	SpillRow row;

	while (next_row(state, source, &row, &bytes))
	{
		if (part != NULL && !bvh_join_fits(state,
										   part->inner.nrows + 1,
										   part->inner.nbytes + memory_size(state, &row)))
		{
			bvh_stream_finish(&state->spill->inner, &part->inner, &state->memory);
			part = NULL;
		}
		if (part == NULL)
			part = add_part(state);
		put_row(state, part, &row, bytes);
	}
	if (part != NULL)
		bvh_stream_finish(&state->spill->inner, &part->inner, &state->memory);
}

static void divide_part(BvhJoinState *state, const SpillPart *part, int ndivisions);

/* rows of a part, when so many fill the memory */
static double
part_rows(size_t nrows)
{
	return Min(PART_FILL * nrows, PART_ROWS);
}

/*
 * divide --- what the source has, among cells of space
 *
 * The rows in memory are the first of them, and the sample.  Recursive, to a
 * depth of MOST_DIVISIONS.
 */
static void
divide(BvhJoinState *state, RowSource *source, double expected_rows, int ndivisions)
{
	InnerRows *rows = &state->inner_rows;
	double wanted = ceil(expected_rows / part_rows(rows->n));
	int ncells = (int) Min(Max(wanted, 2.0), MOST_CELLS);
	uint64 nrows = 0;
	SpaceCells *cells;
	SpillPart *parts;
	const void *bytes;
	SpillRow row;

	bvh_check_status(space_cells_make(&state->env, rows->items, rows->n, ncells, &cells));
	/* the last is for boxes that are too large for a cell */
	ncells = cells->ncells;
	parts = bvh_memory_alloc(&state->memory, (ncells + 1) * sizeof(SpillPart));
	memset(parts, 0, (ncells + 1) * sizeof(SpillPart));
	while (next_row(state, source, &row, &bytes))
	{
		put_row(state, &parts[space_cells_find(cells, &row.box.box)], &row, bytes);
		nrows++;
	}
	bvh_memory_free(&state->memory, cells);
	for (int i = 0; i <= ncells; i++)
		bvh_stream_finish(&state->spill->inner, &parts[i].inner, &state->memory);

	for (int i = 0; i <= ncells; i++)
	{
		const SpillStream *inner = &parts[i].inner;

		if (inner->nrows == 0)
			continue;
		if (bvh_join_fits(state, inner->nrows, inner->nbytes))
			*add_part(state) = parts[i];
		else
			divide_part(state,
						&parts[i],
						inner->nrows > MOST_SHARE * nrows ? MOST_DIVISIONS
														  : ndivisions + 1);
	}
	bvh_memory_free(&state->memory, parts);
}

/* one row of a part, to memory */
static void
keep_row(BvhJoinState *state, SpillReader *reader, const SpillRow *row)
{
	char *place = take_row(reader, &state->inner_rows.arena, state->prefix, row->size);

	bvh_join_put_prefix(state, place, &row->box);
	bvh_inner_add(&state->inner_rows, &state->memory, &row->box.box, place);
}

/* a part that does not fit into memory becomes several */
static void
divide_part(BvhJoinState *state, const SpillPart *part, int ndivisions)
{
	RowSource source = {.stream = &part->inner};
	SpillRow row;

	bvh_arena_init(&source.scratch, &state->memory, 0);
	bvh_reader_begin(&source.reader, &state->spill->inner, &part->inner);
	if (ndivisions >= MOST_DIVISIONS)
		cut(state, &source);
	else
	{
		while (!bvh_join_is_full(state) && bvh_reader_next(&source.reader, &row))
			keep_row(state, &source.reader, &row);
		divide(state, &source, (double) part->inner.nrows, ndivisions);
	}
	bvh_arena_reset(&source.scratch);
}

/* a tree over the bounds of the parts */
static void
build_parts_tree(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;
	BvhBuildOptions options = {BVH_BUILD_SAH, NULL};
	BvhItem *items = bvh_memory_alloc(&state->memory,
									  Max(spill->nparts, 1) * sizeof(BvhItem));

	for (int i = 0; i < spill->nparts; i++)
	{
		items[i].box = spill->parts[i].bounds;
		items[i].id = i;
	}
	bvh_check_status(
		bvh_tree_build(&state->env, items, spill->nparts, &options, &spill->tree));
	bvh_memory_free(&state->memory, items);
}

/*
 * bvh_spill_inner --- the inner rows read so far, and all that follow, to parts in a
 * file
 */
void
bvh_spill_inner(BvhJoinState *state)
{
	RowSource source = {NULL};
	/* the planner's estimate has just proved too low, or it is believed */
	double expected_rows = Max(innerPlanState(state)->plan->plan_rows,
							   2.0 * state->inner_rows.n);

	state->spill = MemoryContextAllocZero(state->memory.cxt, sizeof(JoinSpill));
	bvh_file_create(&state->spill->inner,
					&state->memory,
					block_size(state,
							   (int) Min(expected_rows / part_rows(state->inner_rows.n) +
											 2.0,
										 MOST_CELLS)));
	bvh_arena_init(&source.scratch, &state->memory, 0);
	divide(state, &source, expected_rows, 0);
	bvh_arena_reset(&source.scratch);
	build_parts_tree(state);
}

/* the inner rows of a part, to memory; the tree is yet to be built */
static void
read_part(BvhJoinState *state, const SpillPart *part)
{
	SpillReader reader;
	SpillRow row;

	/* a part may need what the one before it left for outer rows */
	bvh_outer_free(&state->outer_rows, &state->env, &state->memory);
	bvh_inner_reset(&state->inner_rows, &state->env, &state->memory);
	bvh_inner_reserve(&state->inner_rows, &state->memory, part->inner.nrows);
	bvh_reader_begin(&reader, &state->spill->inner, &part->inner);
	while (bvh_reader_next(&reader, &row))
		keep_row(state, &reader, &row);
}

/*
 * The outer side
 */

/* the parts that an outer row may match, of which there are at most MOST_COPIES + 1 */
static int
find_parts(BvhJoinState *state, const JoinBox *box, uint64_t found[MOST_COPIES + 1])
{
	BvhRangeQuery query;
	BoxRange range;
	Box3 asked;

	if (!outer_asks(box))
		return 0;
	/* a row may be left of anything, however far away */
	if (!state->implies_overlap)
		return MOST_COPIES + 1;
	bvh_join_query_box(state, box, &asked);
	box3_range(BVH_OVERLAPS, false, &asked, &range);
	bvh_range_begin(&query, state->spill->tree, &state->env, &range);
	return (int) bvh_range_next(&query, found, MOST_COPIES + 1);
}

/* an outer row, to the parts that it may match */
static void
put_outer(BvhJoinState *state, const JoinBox *box, MinimalTuple kept)
{
	JoinSpill *spill = state->spill;
	uint64_t found[MOST_COPIES + 1];
	int n = find_parts(state, box, found);
	SpillRow row;
	uint64 last = 0;

	memset(&row, 0, sizeof(row));
	row.box = *box;
	row.size = kept == NULL ? 0 : kept->t_len;
	if (n == 0)
	{
		/* any part will do to find that it has no match */
		if (!state->null_extends)
			return;
		found[n++] = 0;
	}
	if (n > 1 && state->marks_matched)
		row.copy = 2 * ++spill->ncopied;
	if (n > MOST_COPIES)
	{
		bvh_stream_put(&spill->outer, &spill->everyone, &state->memory, &row, kept);
		return;
	}
	for (int i = 0; i < n; i++)
		last = Max(last, found[i]);
	for (int i = 0; i < n; i++)
	{
		SpillRow copy = row;

		if (row.copy != 0 && found[i] == last)
			copy.copy |= 1;
		bvh_stream_put(&spill->outer,
					   &spill->parts[found[i]].outer,
					   &state->memory,
					   &copy,
					   kept);
	}
}

static void
forget_stream(BvhJoinState *state, SpillStream *stream)
{
	/* it is being written if the scan ended early */
	if (stream->buffer != NULL)
		bvh_memory_free(&state->memory, stream->buffer);
	memset(stream, 0, sizeof(*stream));
}

/* forget what was written of the outer rows of a scan before */
static void
forget_outer(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;

	bvh_file_close(&spill->outer);
	for (int i = 0; i < spill->nparts; i++)
		forget_stream(state, &spill->parts[i].outer);
	forget_stream(state, &spill->everyone);
	if (spill->matched != NULL)
		bvh_memory_free(&state->memory, spill->matched);
	spill->matched = NULL;
	spill->ncopied = 0;
}

/*
 * bvh_spill_outer --- the outer rows in memory, and all that follow, to a file
 */
void
bvh_spill_outer(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	JoinSpill *spill = state->spill;
	RowArena scratch;
	TupleTableSlot *slot;
	JoinBox box;

	forget_outer(state);
	bvh_inner_reset(&state->inner_rows, &state->env, &state->memory);
	bvh_file_create(&spill->outer, &state->memory, block_size(state, spill->nparts + 1));
	for (size_t i = 0; i < rows->n; i++)
		put_outer(state, &rows->boxes[i], rows->rows[i]);
	bvh_outer_reset(rows, &state->env);

	bvh_arena_init(&scratch, &state->memory, 0);
	while ((slot = bvh_join_next_outer(state, &box)) != NULL)
	{
		put_outer(state, &box, bvh_row_keep(&state->outer, slot, &scratch, 0));
		bvh_arena_rewind(&scratch);
	}
	bvh_arena_reset(&scratch);
	for (int i = 0; i < spill->nparts; i++)
		bvh_stream_finish(&spill->outer, &spill->parts[i].outer, &state->memory);
	bvh_stream_finish(&spill->outer, &spill->everyone, &state->memory);

	spill->matched_size = (spill->ncopied + 8) / 8;
	spill->matched = bvh_memory_alloc(&state->memory, spill->matched_size);
	memset(spill->matched, 0, spill->matched_size);
	spill->part = -1;
	spill->reads_everyone = true;
	spill->nleft = 0;
}

/* go on to the next stream of outer rows that is not empty; false at the end */
static bool
next_stream(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;
	const SpillStream *stream = NULL;

	while (stream == NULL || stream->nrows == 0)
	{
		if (spill->reads_everyone)
		{
			if (++spill->part >= spill->nparts)
				return false;
			spill->reads_everyone = false;
			stream = &spill->parts[spill->part].outer;
			/* who has no outer rows at all is not read */
			if (stream->nrows > 0 || spill->everyone.nrows > 0)
			{
				read_part(state, &spill->parts[spill->part]);
				bvh_join_build(state);
			}
		}
		else
		{
			spill->reads_everyone = true;
			stream = &spill->everyone;
		}
	}
	bvh_reader_begin(&spill->reader, &spill->outer, stream);
	spill->nleft = stream->nrows;
	return true;
}

/*
 * Parts that are joined with themselves
 *
 * From the last to the first, since large boxes, which meet many parts, are in the
 * last: so they visit the others, not the others them.
 */

/* bvh_spill_begin_parts --- start with the inner rows in files, without outer ones */
void
bvh_spill_begin_parts(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;

	forget_outer(state);
	bvh_inner_reset(&state->inner_rows, &state->env, &state->memory);
	bvh_file_create(&spill->outer, &state->memory, block_size(state, spill->nparts + 1));
	spill->part = spill->nparts;
}

/* the rows in memory, to the other parts that they may match, of those that follow */
static void
send_visitors(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;
	uint64_t found[MOST_COPIES + 1];

	for (size_t i = 0; i < state->inner_rows.n; i++)
	{
		SpillRow row;
		const void *bytes;
		int n;

		memset(&row, 0, sizeof(row));
		bytes = row_in_memory(state, i, &row);
		n = find_parts(state, &row.box, found);
		if (n > MOST_COPIES)
			bvh_stream_put(&spill->outer, &spill->everyone, &state->memory, &row, bytes);
		else
			for (int k = 0; k < n; k++)
				if (found[k] < (uint64) spill->part)
					bvh_stream_put(&spill->outer,
								   &spill->parts[found[k]].outer,
								   &state->memory,
								   &row,
								   bytes);
	}
}

static void
read_visitors(JoinSpill *spill, const SpillStream *visitors)
{
	bvh_reader_begin(&spill->reader, &spill->outer, visitors);
	spill->nleft = visitors->nrows;
}

/* bvh_spill_next_part --- the next part to memory, to be joined with itself and then with
 * its visitors; false if all are done
 */
bool
bvh_spill_next_part(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;
	SpillPart *part;

	if (spill->part == 0)
		return false;
	part = &spill->parts[--spill->part];
	bvh_stream_finish(&spill->outer, &part->outer, &state->memory);
	bvh_stream_finish(&spill->outer, &spill->everyone, &state->memory);
	/* without the rows of this part */
	spill->visiting = spill->everyone;
	read_part(state, part);
	send_visitors(state);
	bvh_join_build(state);
	spill->reads_everyone = false;
	read_visitors(spill, &part->outer);
	return true;
}

/* visitors of any part come after those of this one; false at the end */
static bool
next_visitors(JoinSpill *spill)
{
	if (spill->reads_everyone)
		return false;
	spill->reads_everyone = true;
	read_visitors(spill, &spill->visiting);
	return spill->nleft > 0;
}

static bool
is_copy_matched(const JoinSpill *spill, uint64 copy)
{
	uint64 number = copy / 2 - 1;

	return (spill->matched[number / 8] >> (number % 8)) & 1;
}

/*
 * bvh_spill_next_batch --- outer rows that may match the inner rows in memory, these
 * changing when all outer rows of a part are done with; false at the end
 */
bool
bvh_spill_next_batch(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	JoinSpill *spill = state->spill;
	size_t most;
	Size bytes;

	bvh_outer_reset(rows, &state->env);
	if (spill->nleft == 0 &&
		!(state->reads_once ? next_visitors(spill) : next_stream(state)))
		return false;
	most = Min(bvh_join_outer_room(state, &bytes), spill->nleft);
	bvh_outer_reserve(rows, &state->memory, most);
	if (rows->copies == NULL)
		rows->copies = bvh_memory_alloc(&state->memory, rows->size * sizeof(uint64));
	while (rows->n < most && rows->arena.size <= bytes)
	{
		SpillRow row;
		char *kept;

		if (!bvh_reader_next(&spill->reader, &row))
			elog(ERROR, "temporary file of a join ends too early");
		kept = take_row(&spill->reader, &rows->arena, 0, row.size);
		rows->copies[rows->n] = row.copy;
		bvh_outer_add(rows, &state->memory, &row.box, (MinimalTuple) kept);
		if (row.copy != 0 && is_copy_matched(spill, row.copy))
			set_matched(rows, rows->n - 1);
		spill->nleft--;
	}
	return true;
}

/* bvh_spill_keep_matched --- let other copies know which rows of the batch had a match */
void
bvh_spill_keep_matched(BvhJoinState *state)
{
	const OuterRows *rows = &state->outer_rows;

	for (size_t i = 0; i < rows->n; i++)
		if (rows->copies[i] != 0 && is_matched(rows, i))
		{
			uint64 number = rows->copies[i] / 2 - 1;

			state->spill->matched[number / 8] |= (uint8) (1 << (number % 8));
		}
}

/* bvh_spill_is_decided --- is there no further copy of the row that could find a match?
 */
bool
bvh_spill_is_decided(const BvhJoinState *state, size_t row)
{
	const JoinSpill *spill = state->spill;
	uint64 copy = state->outer_rows.copies[row];

	if (spill->reads_everyone)
		return spill->part == spill->nparts - 1;
	return copy == 0 || (copy & 1) != 0;
}

void
bvh_spill_end(BvhJoinState *state)
{
	JoinSpill *spill = state->spill;

	if (spill == NULL)
		return;
	forget_outer(state);
	bvh_file_close(&spill->inner);
	if (spill->tree != NULL)
		bvh_tree_free(&state->env, spill->tree);
	if (spill->parts != NULL)
		bvh_memory_free(&state->memory, spill->parts);
	pfree(spill);
	state->spill = NULL;
}
