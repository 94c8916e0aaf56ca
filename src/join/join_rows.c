/*-------------------------------------------------------------------------
 *
 * join_rows.c
 *	  Rows that a BVH Join keeps in memory.
 *
 * Of a row only the columns are kept that are needed beside its box, often none
 * or an id; so kept rows are narrower than those of the plan below.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "executor/executor.h"
#include "utils/memutils.h"

#include "join/join_state.h"
#include "pg/compat.h"

#define MIN_CHUNK ((Size) 8 * 1024)
#define MAX_CHUNK ((Size) 8 * 1024 * 1024)

/* rows follow the header; 16 bytes */
typedef struct RowChunk
{
	struct RowChunk *next;
	Size size;
} RowChunk;

/*
 * Memory for rows
 */

void
bvh_arena_init(RowArena *arena, BvhMemory *memory, Size limit)
{
	memset(arena, 0, sizeof(*arena));
	arena->memory = memory;
	arena->chunk_size = MIN_CHUNK;
	arena->max_chunk_size = Min(Max(limit / 32, MIN_CHUNK), MAX_CHUNK);
}

/* aligned for anything; stays until the whole arena is reset */
void *
bvh_arena_alloc(RowArena *arena, Size size)
{
	void *place;

	size = MAXALIGN(size);
	if (size > (Size) (arena->end - arena->next))
	{
		Size chunk_size = Max(arena->chunk_size, size + sizeof(RowChunk));
		RowChunk *chunk = bvh_memory_alloc(arena->memory, chunk_size);

		arena->chunk_size = Min(arena->chunk_size * 2, arena->max_chunk_size);
		chunk->next = arena->chunks;
		chunk->size = chunk_size;
		arena->chunks = chunk;
		arena->size += chunk_size;
		arena->next = (char *) (chunk + 1);
		arena->end = (char *) chunk + chunk_size;
	}
	place = arena->next;
	arena->next += size;
	return place;
}

/* bvh_arena_rewind --- forget what is there, and keep some memory for more */
void
bvh_arena_rewind(RowArena *arena)
{
	if (arena->chunks == NULL || arena->chunks->next != NULL ||
		arena->chunks->size > arena->max_chunk_size)
		bvh_arena_reset(arena);
	else
		arena->next = (char *) (arena->chunks + 1);
}

void
bvh_arena_reset(RowArena *arena)
{
	while (arena->chunks != NULL)
	{
		RowChunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		bvh_memory_free(arena->memory, chunk);
	}
	arena->next = arena->end = NULL;
	arena->size = 0;
}

/*
 * Columns of a side
 */

/* bvh_side_init --- keep these columns (numbers from 1) of the input's rows */
void
bvh_side_init(JoinSide *side, EState *estate, TupleDesc input, const Bitmapset *columns)
{
	int column = -1;

	side->ncolumns = bms_num_members(columns);
	side->columns = palloc(sizeof(AttrNumber) * (side->ncolumns + 1));
	side->values = palloc(sizeof(Datum) * (side->ncolumns + 1));
	side->isnull = palloc(sizeof(bool) * (side->ncolumns + 1));
	side->desc = CreateTemplateTupleDesc(side->ncolumns);
	side->last = 0;
	for (int i = 0; (column = bms_next_member(columns, column)) >= 0; i++)
	{
		side->columns[i] = (AttrNumber) column;
		side->last = (AttrNumber) column;
		TupleDescCopyEntry(side->desc, (AttrNumber) (i + 1), input, (AttrNumber) column);
	}
	bvh_finalize_tuple_desc(side->desc);
	side->slot = ExecInitExtraTupleSlot(estate,
										side->desc,
										side->ncolumns > 0 ? &TTSOpsMinimalTuple
														   : &TTSOpsVirtual);
	if (side->ncolumns == 0)
		ExecStoreVirtualTuple(side->slot);
}

/*
 * bvh_row_keep --- copy a row, or what is needed of it
 *
 * With room before it for the caller to use.  As heap_form_minimal_tuple(), but
 * in our memory and without a detour.  NULL when nothing is to be kept.
 */
MinimalTuple
bvh_row_keep(JoinSide *side, TupleTableSlot *input, RowArena *arena, Size room_before)
{
	bool has_null = false;
	MinimalTuple row;
	Size data_size;
	Size header;
	char *place;

	if (side->ncolumns == 0)
	{
		if (room_before == 0)
			return NULL;
		return (MinimalTuple) ((char *) bvh_arena_alloc(arena, room_before) +
							   room_before);
	}

	slot_getsomeattrs(input, side->last);
	for (int i = 0; i < side->ncolumns; i++)
	{
		side->values[i] = input->tts_values[side->columns[i] - 1];
		side->isnull[i] = input->tts_isnull[side->columns[i] - 1];
		has_null |= side->isnull[i];
	}
	header = SizeofMinimalTupleHeader;
	if (has_null)
		header += BITMAPLEN(side->ncolumns);
	header = MAXALIGN(header);
	data_size = heap_compute_data_size(side->desc, side->values, side->isnull);

	place = bvh_arena_alloc(arena, room_before + header + data_size);
	row = (MinimalTuple) (place + room_before);
	/* padding, too: it may go to a file */
	memset(row, 0, header + data_size);
	row->t_len = (uint32) (header + data_size);
	HeapTupleHeaderSetNatts(row, side->ncolumns);
	row->t_hoff = (uint8) (header + MINIMAL_TUPLE_OFFSET);
	heap_fill_tuple(side->desc,
					side->values,
					side->isnull,
					(char *) row + header,
					data_size,
					&row->t_infomask,
					has_null ? row->t_bits : NULL);
	return row;
}

/* bvh_row_show --- put a kept row into the slot of its side */
void
bvh_row_show(JoinSide *side, MinimalTuple row)
{
	if (side->ncolumns > 0)
		ExecStoreMinimalTuple(row, side->slot, false);
}

/*
 * Arrays of rows
 */

/* make the array long enough for n rows */
void
bvh_inner_reserve(InnerRows *rows, BvhMemory *memory, size_t n)
{
	if (n <= rows->size)
		return;
	rows->size = n;
	rows->items = bvh_memory_grow(memory,
								  rows->items,
								  rows->n * sizeof(BvhItem),
								  rows->size * sizeof(BvhItem));
}

void
bvh_inner_add(InnerRows *rows, BvhMemory *memory, const Box3 *box, void *row)
{
	if (rows->n == rows->size)
		bvh_inner_reserve(rows, memory, Max(64, rows->size + rows->size / 2));
	rows->items[rows->n].box = *box;
	rows->items[rows->n].id = (uint64) (uintptr_t) row;
	rows->n++;
}

/* forget all rows and the tree */
void
bvh_inner_reset(InnerRows *rows, BvhEnv *env, BvhMemory *memory)
{
	bvh_arena_reset(&rows->arena);
	if (rows->items != NULL)
		bvh_memory_free(memory, rows->items);
	if (rows->tree != NULL)
		bvh_tree_free(env, rows->tree);
	rows->items = NULL;
	rows->tree = NULL;
	rows->n = rows->size = 0;
}

/* make the arrays long enough for n rows */
void
bvh_outer_reserve(OuterRows *rows, BvhMemory *memory, size_t n)
{
	size_t size = TYPEALIGN(8, n);

	if (n <= rows->size)
		return;
	rows->boxes = bvh_memory_grow(memory,
								  rows->boxes,
								  rows->n * sizeof(JoinBox),
								  size * sizeof(JoinBox));
	rows->rows = bvh_memory_grow(memory,
								 rows->rows,
								 rows->n * sizeof(MinimalTuple),
								 size * sizeof(MinimalTuple));
	rows->matched = bvh_memory_grow(memory, rows->matched, rows->size / 8, size / 8);
	memset(rows->matched + rows->size / 8, 0, (size - rows->size) / 8);
	if (rows->copies != NULL)
		rows->copies = bvh_memory_grow(memory,
									   rows->copies,
									   rows->n * sizeof(uint64),
									   size * sizeof(uint64));
	rows->size = size;
}

void
bvh_outer_add(OuterRows *rows, BvhMemory *memory, const JoinBox *box, MinimalTuple row)
{
	if (rows->n == rows->size)
		bvh_outer_reserve(rows, memory, Max(64, rows->size * 2));
	rows->boxes[rows->n] = *box;
	rows->rows[rows->n] = row;
	rows->n++;
}

/* forget the rows, and keep the arrays for the next */
void
bvh_outer_reset(OuterRows *rows, BvhEnv *env)
{
	bvh_arena_reset(&rows->arena);
	if (rows->tree != NULL)
		bvh_tree_free(env, rows->tree);
	if (rows->matched != NULL)
		memset(rows->matched, 0, (rows->n + 7) / 8);
	rows->tree = NULL;
	rows->n = 0;
}

/* forget the rows, and give the memory of the arrays back */
void
bvh_outer_free(OuterRows *rows, BvhEnv *env, BvhMemory *memory)
{
	bvh_outer_reset(rows, env);
	if (rows->boxes != NULL)
	{
		bvh_memory_free(memory, rows->boxes);
		bvh_memory_free(memory, rows->rows);
		bvh_memory_free(memory, rows->matched);
	}
	if (rows->copies != NULL)
		bvh_memory_free(memory, rows->copies);
	rows->boxes = NULL;
	rows->rows = NULL;
	rows->matched = NULL;
	rows->copies = NULL;
	rows->size = 0;
}
