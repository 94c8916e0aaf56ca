/*-------------------------------------------------------------------------
 *
 * join_pairs.c
 *	  Pairs of rows: those the trees find, and what becomes of them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "executor/executor.h"
#include "miscadmin.h"

#include "join/join_state.h"
#include "pg/compat.h"
#include "type/box3d.h"

/* matches that are fetched at once for a row that needs but one */
#define FIRST_IDS 16

/* pairs between fetching a row into the cache and its use */
#define PREFETCH 16

/* useless pairs a row after which such rows search by themselves */
#define MAX_WASTE 8

/*
 * bvh_join_query_box --- the box that what an outer row asks for has to overlap,
 * for operators that imply overlap
 */
void
bvh_join_query_box(const BvhJoinState *state, const JoinBox *outer, Box3 *query)
{
	if (state->op != BVH_DISTANCE)
		*query = outer->box;
	else if (!isnan(outer->radius))
		box3_reach(&outer->box, outer->radius, query);
	else
		/* raises the function's own error */
		DirectFunctionCall3(box3d_dwithin,
							PointerGetDatum(&outer->box),
							PointerGetDatum(&outer->box),
							Float8GetDatum(outer->radius));
}

/* may a further match of this row matter? */
static bool
is_done(const BvhJoinState *state, size_t i)
{
	return state->single_match && is_matched(&state->outer_rows, i);
}

/* a tree over the boxes of the outer rows; false if they ask for nothing */
static bool
build_outer_tree(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	BvhBuildOptions options = {BVH_BUILD_HILBERT};
	BvhItem *items = bvh_memory_alloc(&state->memory, rows->n * sizeof(BvhItem));
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++)
	{
		if (!outer_asks(&rows->boxes[i]) || is_done(state, i))
			continue;
		bvh_join_query_box(state, &rows->boxes[i], &items[n].box);
		items[n++].id = i;
	}
	if (n > 0)
		bvh_check_status(bvh_tree_build(&state->env, items, n, &options, &rows->tree));
	bvh_memory_free(&state->memory, items);
	return n > 0;
}

/* bvh_join_begin_pairs --- start to match the outer rows with the inner ones in memory */
void
bvh_join_begin_pairs(BvhJoinState *state)
{
	const BvhTree *inner = state->inner_rows.tree;
	const BvhTree *outer;
	BvhOp op = state->op == BVH_DISTANCE ? BVH_OVERLAPS : state->op;

	state->nfound = state->next_found = 0;
	state->outer_in_slot = SIZE_MAX;
	state->pairs_are_open = false;
	state->query_is_open = false;
	state->next_row = 0;
	state->nwasted = 0;
	state->by_rows = bvh_join_is_by_rows(state);
	if (state->by_rows || state->inner_rows.n == 0 || !build_outer_tree(state))
		return;
	outer = state->outer_rows.tree;
	if (state->outer_is_left)
		bvh_pairs_begin(state->pairs, outer, inner, &state->env, op);
	else
		bvh_pairs_begin(state->pairs, inner, outer, &state->env, op);
	state->pairs_are_open = true;
}

/* search the inner tree for the next outer row that asks; false if there is none */
static bool
begin_query(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	BvhOp op = state->op == BVH_DISTANCE ? BVH_OVERLAPS : state->op;
	BoxRange range;
	Box3 box;

	if (state->inner_rows.n == 0)
		return false;
	while (state->next_row < rows->n)
	{
		size_t i = state->next_row++;

		if (!outer_asks(&rows->boxes[i]) || is_done(state, i))
			continue;
		bvh_join_query_box(state, &rows->boxes[i], &box);
		box3_range(op, state->outer_is_left, &box, &range);
		bvh_range_begin(&state->query, state->inner_rows.tree, &state->env, &range);
		state->query_is_open = true;
		state->query_row = i;
		return true;
	}
	return false;
}

/* the next pairs that two trees have; false if there are no more */
static bool
find_by_trees(BvhJoinState *state)
{
	BvhPairs *pairs = state->pairs;
	uint64 before = pairs->nnodes + pairs->nblocks;

	if (!state->pairs_are_open)
		return false;
	state->nfound = bvh_pairs_next(pairs, state->found, BVH_JOIN_PAIRS);
	state->pairs_are_open = state->nfound == BVH_JOIN_PAIRS;
	state->counters.ntests += pairs->nnodes + pairs->nblocks - before;
	return state->nfound > 0;
}

/* the next pairs of one outer row; false if there are no more */
static bool
find_by_rows(BvhJoinState *state)
{
	BvhRangeQuery *query = &state->query;
	size_t room = state->single_match ? FIRST_IDS : BVH_JOIN_PAIRS;
	uint64 before;

	while (state->nfound == 0)
	{
		if (state->query_is_open && is_done(state, state->query_row))
			state->query_is_open = false;
		if (!state->query_is_open && !begin_query(state))
			return false;
		before = query->nnodes + query->nblocks;
		state->nfound = bvh_range_next(query, state->found_ids, room);
		state->query_is_open = state->nfound == room;
		state->counters.ntests += query->nnodes + query->nblocks - before;
	}
	return true;
}

/* outer row of a pair that was found */
static inline size_t
pair_outer(const BvhJoinState *state, size_t i)
{
	if (state->by_rows)
		return state->query_row;
	return state->outer_is_left ? state->found[i].a : state->found[i].b;
}

/* and the inner one */
static inline MinimalTuple
pair_inner(const BvhJoinState *state, size_t i)
{
	uint64 id;

	if (state->by_rows)
		id = state->found_ids[i];
	else
		id = state->outer_is_left ? state->found[i].b : state->found[i].a;
	return (MinimalTuple) (uintptr_t) id;
}

/*
 * next_pair --- the next two rows that the clause matches; false at the end
 *
 * Where the two inputs have the same rows, each pair comes in the other order, too.
 */
static bool
next_pair(BvhJoinState *state, size_t *outer, MinimalTuple *inner)
{
	const OuterRows *rows = &state->outer_rows;
	size_t near;

	if (state->reads_once && state->next_found > 0 && !state->is_exchanged)
	{
		state->is_exchanged = true;
		*outer = pair_outer(state, state->next_found - 1);
		*inner = pair_inner(state, state->next_found - 1);
		return true;
	}
	state->is_exchanged = false;
	if (state->next_found == state->nfound)
	{
		state->nfound = state->next_found = 0;
		if (!(state->by_rows ? find_by_rows(state) : find_by_trees(state)))
			return false;
	}
	/*
	 * The rows lie anywhere in memory, and waiting for them would take longer than
	 * all that is done with a pair.  (In a function of its own, compilers drop this
	 * as without effect.)
	 */
	near = state->next_found + PREFETCH;
	if (near + PREFETCH < state->nfound)
	{
		size_t i = pair_outer(state, near + PREFETCH);

		__builtin_prefetch(&rows->rows[i]);
		__builtin_prefetch(&rows->boxes[i].number);
	}
	if (near < state->nfound)
	{
		__builtin_prefetch(rows->rows[pair_outer(state, near)]);
		__builtin_prefetch((char *) pair_inner(state, near) - state->prefix);
	}
	*outer = pair_outer(state, state->next_found);
	*inner = pair_inner(state, state->next_found);
	state->next_found++;
	return true;
}

/* is the distance itself small enough? */
static bool
is_within(const BvhJoinState *state, const JoinBox *outer, MinimalTuple inner)
{
	const Box3 *box = (const Box3 *) ((const char *) inner - state->prefix);

	return box3_distance(&outer->box, box) <= outer->radius;
}

/* the number of a kept inner row */
static inline int64
kept_number(MinimalTuple inner)
{
	return *(const int64 *) ((const char *) inner - sizeof(int64));
}

/* do the two numbers compare as they should? */
static inline bool
numbers_match(const BvhJoinState *state, int64 outer, int64 inner)
{
	switch (state->comparison)
	{
		case COMPARE_LESS:
			return outer < inner;
		case COMPARE_LESS_EQUAL:
			return outer <= inner;
		case COMPARE_GREATER:
			return outer > inner;
		case COMPARE_GREATER_EQUAL:
			return outer >= inner;
		default:
			Assert(state->comparison == COMPARE_NOT_EQUAL);
			return outer != inner;
	}
}

/* a joined row, if the conditions after the join let it pass; else NULL */
static TupleTableSlot *
emit(BvhJoinState *state, TupleTableSlot *inner)
{
	PlanState *ps = &state->custom.ss.ps;
	ExprContext *econtext = ps->ps_ExprContext;

	econtext->ecxt_innertuple = inner;
	if (ps->qual == NULL || ExecQual(ps->qual, econtext))
		return ExecProject(ps->ps_ProjInfo);
	InstrCountFiltered1(ps, 1);
	ResetExprContext(econtext);
	return NULL;
}

/* do the numbers of an outer and a kept inner row match, in the order of the pair? */
static inline bool
pair_numbers_match(const BvhJoinState *state, size_t i, MinimalTuple inner)
{
	int64 outer_number = state->outer_rows.boxes[i].number;

	return state->is_exchanged ? numbers_match(state, kept_number(inner), outer_number)
							   : numbers_match(state, outer_number, kept_number(inner));
}

static void
show_outer(BvhJoinState *state, size_t i)
{
	if (state->outer_in_slot != i)
		bvh_row_show(&state->outer, state->outer_rows.rows[i]);
	state->outer_in_slot = i;
	state->custom.ss.ps.ps_ExprContext->ecxt_outertuple = state->outer.slot;
}

/* put two rows that were found into the slots of either side */
static void
show_pair(BvhJoinState *state, size_t i, MinimalTuple inner)
{
	if (state->is_exchanged)
	{
		bvh_row_show(&state->outer, inner);
		bvh_row_show(&state->inner, state->outer_rows.rows[i]);
		state->outer_in_slot = SIZE_MAX;
		state->custom.ss.ps.ps_ExprContext->ecxt_outertuple = state->outer.slot;
	}
	else
	{
		show_outer(state, i);
		bvh_row_show(&state->inner, inner);
	}
	state->custom.ss.ps.ps_ExprContext->ecxt_innertuple = state->inner.slot;
}

/*
 * switch_to_rows --- from here on, each outer row searches by itself, and stops
 * at its first match
 *
 * Where rows have very many matches of which one is enough, a walk through two
 * trees finds all of them all the same.  Rows of this batch without a match
 * start afresh, so that conditions which they failed are evaluated (and counted)
 * once more; what was found for the others is of no interest.
 */
static void
switch_to_rows(BvhJoinState *state)
{
	Assert(state->single_match);
	state->by_rows = state->is_dense = true;
	state->pairs_are_open = false;
	state->nfound = state->next_found = 0;
	state->query_is_open = false;
	state->next_row = 0;
}

/* bvh_join_pairs --- the next joined row of this batch; NULL at its end */
TupleTableSlot *
bvh_join_pairs(BvhJoinState *state)
{
	PlanState *ps = &state->custom.ss.ps;
	ExprContext *econtext = ps->ps_ExprContext;
	OuterRows *rows = &state->outer_rows;
	TupleTableSlot *result;
	MinimalTuple inner;
	size_t i;

	while (next_pair(state, &i, &inner))
	{
		CHECK_FOR_INTERRUPTS();
		if (is_done(state, i))
		{
			if (!state->by_rows && ++state->nwasted > MAX_WASTE * rows->n)
				switch_to_rows(state);
			continue;
		}
		if ((state->radius != NULL && !is_within(state, &rows->boxes[i], inner)))
			continue;
		if (state->comparison != COMPARE_NOTHING && !pair_numbers_match(state, i, inner))
		{
			InstrCountFiltered2(ps, 1);
			continue;
		}
		show_pair(state, i, inner);
		if (state->joinqual != NULL && !ExecQual(state->joinqual, econtext))
		{
			InstrCountFiltered2(ps, 1);
			ResetExprContext(econtext);
			continue;
		}
		if (state->marks_matched)
			set_matched(rows, i);
		if (state->jointype == JOIN_ANTI)
		{
			ResetExprContext(econtext);
			continue;
		}
		result = emit(state, state->inner.slot);
		if (result != NULL)
			return result;
	}
	return NULL;
}

/* bvh_join_unmatched --- the next row of this batch that has no match; NULL at its end */
TupleTableSlot *
bvh_join_unmatched(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	TupleTableSlot *result;

	while (state->next_unmatched < rows->n)
	{
		size_t i = state->next_unmatched++;

		CHECK_FOR_INTERRUPTS();
		if (is_matched(rows, i))
			continue;
		if (state->spill != NULL && !bvh_spill_is_decided(state, i))
			continue;
		show_outer(state, i);
		result = emit(state, state->null_slot);
		if (result != NULL)
			return result;
	}
	return NULL;
}

/*
 * bvh_join_begin_self_pairs --- start to match the inner rows in memory with themselves
 */
void
bvh_join_begin_self_pairs(BvhJoinState *state)
{
	const BvhTree *tree = state->inner_rows.tree;
	bool is_other = state->comparison == COMPARE_LESS ||
					state->comparison == COMPARE_GREATER ||
					state->comparison == COMPARE_NOT_EQUAL;

	state->nfound = state->next_found = 0;
	if (bvh_op_self_pairs(state->op))
		bvh_self_pairs_begin(state->pairs,
							 tree,
							 &state->env,
							 state->op,
							 is_other ? BVH_SELF_BOTH : BVH_SELF_ALL);
	else
		bvh_pairs_begin(state->pairs, tree, tree, &state->env, state->op);
	state->by_rows = false;
	state->pairs_are_open = true;
}

/* bvh_join_self_pairs --- the next joined row; NULL at the end */
TupleTableSlot *
bvh_join_self_pairs(BvhJoinState *state)
{
	PlanState *ps = &state->custom.ss.ps;
	ExprContext *econtext = ps->ps_ExprContext;
	TupleTableSlot *result;

	for (;;)
	{
		MinimalTuple outer;
		MinimalTuple inner;

		if (state->next_found == state->nfound)
		{
			state->nfound = state->next_found = 0;
			if (!find_by_trees(state))
				return NULL;
		}
		if (state->next_found + PREFETCH < state->nfound)
		{
			size_t near = state->next_found + PREFETCH;

			__builtin_prefetch((char *) (uintptr_t) pair_outer(state, near) -
							   state->prefix);
			__builtin_prefetch((char *) pair_inner(state, near) - state->prefix);
		}
		outer = (MinimalTuple) (uintptr_t) pair_outer(state, state->next_found);
		inner = pair_inner(state, state->next_found);
		state->next_found++;
		CHECK_FOR_INTERRUPTS();

		if (state->comparison != COMPARE_NOTHING &&
			!numbers_match(state, kept_number(outer), kept_number(inner)))
		{
			InstrCountFiltered2(ps, 1);
			continue;
		}
		bvh_row_show(&state->outer, outer);
		bvh_row_show(&state->inner, inner);
		econtext->ecxt_outertuple = state->outer.slot;
		econtext->ecxt_innertuple = state->inner.slot;
		if (state->joinqual != NULL && !ExecQual(state->joinqual, econtext))
		{
			InstrCountFiltered2(ps, 1);
			ResetExprContext(econtext);
			continue;
		}
		result = emit(state, state->inner.slot);
		if (result != NULL)
			return result;
	}
}
