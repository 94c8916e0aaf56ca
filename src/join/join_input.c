/*-------------------------------------------------------------------------
 *
 * join_input.c
 *	  The two inputs of a BVH Join: reading rows, and the tree over the inner ones.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "executor/executor.h"
#include "miscadmin.h"

#include "join/join_state.h"
#include "type/box3d.h"

/* what each batch of outer rows is larger by, and where that ends */
#define BATCH_GROWTH 4
#define MAX_BATCH    262144
#define ROWS_BATCH   4096 /* when each searches by itself */

/* part of the memory that is for outer rows, if inner rows leave no more */
#define OUTER_PART 8
#define MIN_OTHERS ((Size) 64 * 1024)

/* inner rows from which all others are divided, if these can't fit into memory */
#define SAMPLE_ROWS 65536

/* boxes of an inner tree that outer rows search one by one */
#define SMALL_TREE 16384

/* a box expression; false for NULL */
static bool
eval_box(ExprState *key, ExprContext *econtext, Box3 *box)
{
	bool isnull;
	Datum value = ExecEvalExprSwitchContext(key, econtext, &isnull);

	if (isnull)
		return false;
	*box = *DatumGetBox3P(value);
	return true;
}

/* the number to compare, if there is a comparison; false for NULL */
static bool
get_number(const BvhJoinState *state, TupleTableSlot *slot, int column, int64 *number)
{
	bool isnull;
	Datum value;

	*number = 0;
	if (state->comparison == COMPARE_NOTHING)
		return true;
	value = slot_getattr(slot, column, &isnull);
	if (isnull)
		return false;
	*number = state->is_bigint ? DatumGetInt64(value) : DatumGetInt32(value);
	return true;
}

/*
 * bvh_join_next_inner --- the next inner row that may match; NULL at the end
 *
 * One without a box, or without a number to compare, never does.
 */
TupleTableSlot *
bvh_join_next_inner(BvhJoinState *state, JoinBox *box)
{
	PlanState *plan = innerPlanState(state);
	ExprContext *econtext = state->custom.ss.ps.ps_ExprContext;

	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(plan);

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
			return NULL;
		ResetExprContext(econtext);
		econtext->ecxt_innertuple = slot;
		box->radius = 0.0;
		if (eval_box(state->inner_key, econtext, &box->box) &&
			get_number(state, slot, state->inner_number, &box->number))
			return slot;
	}
}

/* what an outer row asks for; false for nothing */
static bool
eval_outer(BvhJoinState *state, TupleTableSlot *slot, JoinBox *box)
{
	ExprContext *econtext = state->custom.ss.ps.ps_ExprContext;
	bool isnull;

	box->radius = 0.0;
	econtext->ecxt_outertuple = slot;
	if (!eval_box(state->outer_key, econtext, &box->box) ||
		!get_number(state, slot, state->outer_number, &box->number))
		return false;
	if (state->radius == NULL)
		return true;
	box->radius = DatumGetFloat8(
		ExecEvalExprSwitchContext(state->radius, econtext, &isnull));
	/* NaN is an error, if there is something to compare it with */
	return !isnull && !(box->radius < 0.0);
}

/*
 * bvh_join_next_outer --- the next outer row that matters; NULL at the end
 *
 * Rows without a match do when the join extends them with NULL.
 */
TupleTableSlot *
bvh_join_next_outer(BvhJoinState *state, JoinBox *box)
{
	PlanState *plan = outerPlanState(state);
	ExprContext *econtext = state->custom.ss.ps.ps_ExprContext;

	while (!state->outer_done)
	{
		TupleTableSlot *slot = ExecProcNode(plan);

		CHECK_FOR_INTERRUPTS();
		if (TupIsNull(slot))
		{
			/* some plans would start again */
			state->outer_done = true;
			break;
		}
		ResetExprContext(econtext);
		if (eval_outer(state, slot, box))
			return slot;
		if (state->null_extends)
		{
			box->box.lo[0] = NAN;
			return slot;
		}
	}
	return NULL;
}

/*
 * bvh_join_put_prefix --- what lies before a kept inner row: its box, if a distance
 * is to be compared, and its number, if there is one
 */
void
bvh_join_put_prefix(const BvhJoinState *state, char *row, const JoinBox *box)
{
	if (state->comparison != COMPARE_NOTHING)
		memcpy(row - sizeof(int64), &box->number, sizeof(int64));
	if (state->radius != NULL)
		memcpy(row - state->prefix, &box->box, sizeof(Box3));
}

/* bvh_join_keep_inner --- add a row to the inner rows in memory */
void
bvh_join_keep_inner(BvhJoinState *state, TupleTableSlot *slot, const JoinBox *box)
{
	InnerRows *rows = &state->inner_rows;
	MinimalTuple row = bvh_row_keep(&state->inner, slot, &rows->arena, state->prefix);

	bvh_join_put_prefix(state, (char *) row, box);
	bvh_inner_add(rows, &state->memory, &box->box, row);
}

/*
 * Memory that inner rows may take, with their tree.  What they leave is for outer
 * rows, or to divide them into parts, which takes some even if there is little.
 */
static Size
inner_room(const BvhJoinState *state)
{
	Size others = Max(state->limit / OUTER_PART, Min(MIN_OTHERS, state->limit / 4));

	return state->limit - others;
}

static Size
tree_size(uint64 nrows)
{
	return bvh_tree_expected_size(nrows) + bvh_tree_work_size(nrows);
}

/*
 * bvh_join_fits --- do so many inner rows, of so many bytes beside their boxes, fit
 * into memory?
 */
bool
bvh_join_fits(const BvhJoinState *state, uint64 nrows, Size bytes)
{
	/* the last chunk may be nearly empty */
	Size size = bytes + state->inner_rows.arena.max_chunk_size + nrows * sizeof(BvhItem) +
				tree_size(nrows);

	return size <= inner_room(state) && nrows < BVH_MOST_BOXES;
}

/*
 * bvh_join_is_full --- do the inner rows, with their tree and what its build
 * takes, fill the memory?
 */
bool
bvh_join_is_full(const BvhJoinState *state)
{
	const InnerRows *rows = &state->inner_rows;
	Size size = rows->arena.size + rows->size * sizeof(BvhItem);

	/* the rest need not be asked for each row */
	if (rows->n % 64 == 0)
		size += tree_size(rows->n);
	return rows->n > 0 && (size > inner_room(state) || rows->n >= BVH_MOST_BOXES);
}

/*
 * enough_rows --- how many inner rows to read before they are divided into parts
 *
 * A sample, if the planner is right that they can't all fit: then nothing is won by
 * filling the memory first.
 */
static size_t
enough_rows(const BvhJoinState *state)
{
	const Plan *plan = innerPlanState(state)->plan;

	if (plan->plan_rows < BVH_MOST_BOXES &&
		bvh_join_fits(state, (uint64) plan->plan_rows, 0))
		return SIZE_MAX;
	return SAMPLE_ROWS;
}

/*
 * bvh_join_read_inner --- all inner rows; false if there are more than fit, or than
 * are expected to
 */
bool
bvh_join_read_inner(BvhJoinState *state)
{
	TupleTableSlot *slot;
	JoinBox box;

	size_t enough = enough_rows(state);

	bvh_inner_reserve(&state->inner_rows,
					  &state->memory,
					  Min(state->expected_rows, enough));
	while (!bvh_join_is_full(state) && state->inner_rows.n < enough)
	{
		slot = bvh_join_next_inner(state, &box);
		if (slot == NULL)
			return true;
		bvh_join_keep_inner(state, slot, &box);
	}
	return false;
}

/* bvh_join_is_by_rows --- does each outer row search by itself? */
bool
bvh_join_is_by_rows(const BvhJoinState *state)
{
	/* so small a tree is searched from the CPU's caches, in any order */
	return !state->implies_overlap || state->is_dense ||
		   state->inner_rows.n <= SMALL_TREE;
}

/*
 * bvh_join_build --- the tree over the inner rows in memory
 */
void
bvh_join_build(BvhJoinState *state)
{
	InnerRows *rows = &state->inner_rows;
	BvhBuildOptions options = {BVH_BUILD_HILBERT};
	BvhTreeStats stats;

	bvh_check_status(
		bvh_tree_build(&state->env, rows->items, rows->n, &options, &rows->tree));
	if (rows->items != NULL)
		bvh_memory_free(&state->memory, rows->items);
	rows->items = NULL;
	rows->size = 0;

	state->by_rows = bvh_join_is_by_rows(state);
	state->counters.npasses++;
	state->counters.nboxes += rows->n;
	if (state->custom.ss.ps.instrument != NULL)
	{
		bvh_tree_stats(rows->tree, &stats);
		state->counters.nnodes += stats.nnodes;
		state->counters.height = Max(state->counters.height, stats.height);
	}
}

/*
 * bvh_join_outer_room --- how many outer rows a batch may have, and how many
 * bytes they may take beside their boxes
 */
size_t
bvh_join_outer_room(const BvhJoinState *state, Size *bytes)
{
	size_t most = state->by_rows ? ROWS_BATCH : MAX_BATCH;
	Size room = state->limit / OUTER_PART;
	Size each = sizeof(JoinBox) + sizeof(MinimalTuple) + 1;

	/* as long as the inner rows are not there, nobody knows what they leave */
	if (state->inner_ready && state->memory.used < state->limit)
		room = Max(room, state->limit - state->memory.used);
	if (!state->by_rows)
		each += sizeof(BvhItem) +
				(bvh_tree_expected_size(MAX_BATCH) + bvh_tree_work_size(MAX_BATCH)) /
					MAX_BATCH;
	*bytes = room / 2;
	return Max(Min(room / 2 / each, most), 16);
}

/* bvh_join_read_outer --- the next outer rows, to memory; false if there are none */
bool
bvh_join_read_outer(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	TupleTableSlot *slot;
	JoinBox box;
	Size bytes;
	size_t most;

	bvh_outer_reset(rows, &state->env);
	most = Min(bvh_join_outer_room(state, &bytes), state->batch_rows);
	state->batch_rows = Min(state->batch_rows * BATCH_GROWTH, MAX_BATCH);
	while (rows->n < most && rows->arena.size <= bytes)
	{
		slot = bvh_join_next_outer(state, &box);
		if (slot == NULL)
			break;
		bvh_outer_add(rows,
					  &state->memory,
					  &box,
					  bvh_row_keep(&state->outer, slot, &rows->arena, 0));
	}
	return rows->n > 0;
}
