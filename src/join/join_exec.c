/*-------------------------------------------------------------------------
 *
 * join_exec.c
 *	  The BVH Join at work.
 *
 * A first few outer rows are read, so that nothing is built for none.  Then all
 * inner rows are read, and a tree is built over their boxes.  Outer rows follow
 * in batches; the boxes of each become a tree, too, and a walk through both
 * gives the pairs.  For operators that do not imply overlap, such as "left of",
 * each outer row searches the inner tree by itself.
 *
 * When the inner rows outgrow the memory, join_spill.c puts both inputs into
 * files, sorted along a curve, and what follows is done for each part of the
 * inner rows that fits.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "join/join.h"
#include "join/join_state.h"
#include "pg/compat.h"
#include "type/box3d.h"

/* outer rows of the first batch, and what each next one is larger by */
#define FIRST_BATCH  256
#define BATCH_GROWTH 4
#define MAX_BATCH    262144
#define ROWS_BATCH   4096 /* when each searches by itself */

/* part of the memory that is for outer rows, if inner rows leave no more */
#define OUTER_PART 8

/* matches that are fetched at once for a row that needs but one */
#define FIRST_IDS 16

/* boxes of an inner tree that outer rows search one by one */
#define SMALL_TREE 16384

/* pairs between fetching a row into the cache and its use */
#define PREFETCH 16

/* useless pairs a row after which such rows search by themselves */
#define MAX_WASTE 8

/*
 * Expressions
 *
 * The planner left variables of custom_scan_tlist in them, and a list that says
 * of which column of which input each is.
 */

typedef struct ResolveContext
{
	List *sources;
	Bitmapset *columns[2]; /* kept ones of each side; NULL: all of the input's */
	bool is_kept;
	Bitmapset *used[2]; /* of the input's, gathered on the way */
} ResolveContext;

/* variables of the join, as columns of the row of either side */
static Node *
resolve_columns(Node *node, void *context)
{
	ResolveContext *resolve = context;

	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == INDEX_VAR)
	{
		Var *var = copyObject((Var *) node);
		int source = intVal(list_nth(resolve->sources, var->varattno - 1));
		int side = source % 2;
		int column = source / 2;

		resolve->used[side] = bms_add_member(resolve->used[side], column);
		var->varno = side == 0 ? OUTER_VAR : INNER_VAR;
		var->varattno = resolve->is_kept
							? (AttrNumber) (bms_member_index(resolve->columns[side],
															 column) +
											1)
							: (AttrNumber) column;
		return (Node *) var;
	}
	return expression_tree_mutator(node, resolve_columns, context);
}

/* numbers of the executor's parameters in an expression */
static bool
find_params(Node *node, void *context)
{
	Bitmapset **params = context;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	else if (IsA(node, SubPlan))
	{
		ListCell *cell;

		foreach (cell, ((SubPlan *) node)->parParam)
			*params = bms_add_member(*params, lfirst_int(cell));
	}
	return expression_tree_walker(node, find_params, context);
}

/*
 * Reading the inputs
 */

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

/*
 * bvh_join_next_inner --- the next inner row that has a box; NULL at the end
 *
 * Others never match.
 */
TupleTableSlot *
bvh_join_next_inner(BvhJoinState *state, Box3 *box)
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
		if (eval_box(state->inner_key, econtext, box))
			return slot;
	}
}

/* what an outer row asks for; false for nothing */
static bool
eval_outer(BvhJoinState *state, ExprContext *econtext, OuterBox *box)
{
	bool isnull;

	box->radius = 0.0;
	if (!eval_box(state->outer_key, econtext, &box->box))
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
bvh_join_next_outer(BvhJoinState *state, OuterBox *box)
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
		econtext->ecxt_outertuple = slot;
		if (eval_outer(state, econtext, box))
			return slot;
		if (state->null_extends)
		{
			box->box.lo[0] = NAN;
			return slot;
		}
	}
	return NULL;
}

/* bvh_join_keep_inner --- add a row to the inner rows in memory */
void
bvh_join_keep_inner(BvhJoinState *state, TupleTableSlot *slot, const Box3 *box)
{
	InnerRows *rows = &state->inner_rows;
	Size room = state->op == BVH_DISTANCE ? sizeof(Box3) : 0;
	MinimalTuple row = bvh_row_keep(&state->inner, slot, &rows->arena, room);

	if (room > 0)
		memcpy((char *) row - room, box, sizeof(Box3));
	bvh_inner_add(rows, &state->memory, box, row);
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
		size += bvh_tree_expected_size(rows->n) + bvh_tree_work_size(rows->n);
	return rows->n > 0 &&
		   (size > state->limit - state->limit / OUTER_PART || rows->n >= BVH_MOST_BOXES);
}

/* all inner rows; false if the memory is full before their end */
static bool
read_inner(BvhJoinState *state)
{
	TupleTableSlot *slot;
	Box3 box;

	bvh_inner_reserve(&state->inner_rows, &state->memory, state->expected_rows);
	while (!bvh_join_is_full(state))
	{
		slot = bvh_join_next_inner(state, &box);
		if (slot == NULL)
			return true;
		bvh_join_keep_inner(state, slot, &box);
	}
	return false;
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

	/* so small a tree is searched from the CPU's caches, in any order */
	state->by_rows = !state->implies_overlap || state->is_dense || rows->n <= SMALL_TREE;

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
	Size each = sizeof(OuterBox) + sizeof(MinimalTuple) + 1;

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

/* the next outer rows, to memory; false if there are none */
static bool
read_outer(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	TupleTableSlot *slot;
	OuterBox box;
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

/*
 * Pairs
 */

/*
 * bvh_join_query_box --- the box that what an outer row asks for has to overlap,
 * for operators that imply overlap
 */
void
bvh_join_query_box(const BvhJoinState *state, const OuterBox *outer, Box3 *query)
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

/* begin_pairs --- start to match the outer rows with the inner ones in memory */
static void
begin_pairs(BvhJoinState *state)
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

/* next_pair --- the next two rows that the clause matches; false at the end */
static bool
next_pair(BvhJoinState *state, size_t *outer, MinimalTuple *inner)
{
	const OuterRows *rows = &state->outer_rows;
	size_t near;

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
		__builtin_prefetch(&rows->rows[pair_outer(state, near + PREFETCH)]);
	if (near < state->nfound)
	{
		__builtin_prefetch(rows->rows[pair_outer(state, near)]);
		__builtin_prefetch(pair_inner(state, near));
	}
	*outer = pair_outer(state, state->next_found);
	*inner = pair_inner(state, state->next_found);
	state->next_found++;
	return true;
}

/* is the distance itself small enough? */
static bool
is_within(const OuterBox *outer, MinimalTuple inner)
{
	const Box3 *box = (const Box3 *) ((const char *) inner - sizeof(Box3));

	return box3_distance(&outer->box, box) <= outer->radius;
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

static void
show_outer(BvhJoinState *state, size_t i)
{
	if (state->outer_in_slot != i)
		bvh_row_show(&state->outer, state->outer_rows.rows[i]);
	state->outer_in_slot = i;
	state->custom.ss.ps.ps_ExprContext->ecxt_outertuple = state->outer.slot;
}

/*
 * switch_to_rows --- from here on, each outer row searches by itself, and stops
 * at its first match
 *
 * Where rows have very many matches of which one is enough, a walk through two
 * trees finds all of them all the same.  Rows of this batch without a match
 * start afresh; what was found for the others is of no interest.
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

/* join_pairs --- the next joined row of this batch; NULL at its end */
static TupleTableSlot *
join_pairs(BvhJoinState *state)
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
		if ((state->radius != NULL && !is_within(&rows->boxes[i], inner)))
			continue;
		show_outer(state, i);
		bvh_row_show(&state->inner, inner);
		econtext->ecxt_innertuple = state->inner.slot;
		if (state->joinqual != NULL && !ExecQual(state->joinqual, econtext))
		{
			InstrCountFiltered2(ps, 1);
			ResetExprContext(econtext);
			continue;
		}
		if (state->marks_matched)
			set_matched(rows, i);
		if (state->jointype == JOIN_ANTI)
			continue;
		result = emit(state, state->inner.slot);
		if (result != NULL)
			return result;
	}
	return NULL;
}

/* join_unmatched --- the next row of this batch that has no match; NULL at its end */
static TupleTableSlot *
join_unmatched(BvhJoinState *state)
{
	OuterRows *rows = &state->outer_rows;
	TupleTableSlot *result;

	while (state->next_unmatched < rows->n)
	{
		size_t i = state->next_unmatched++;

		CHECK_FOR_INTERRUPTS();
		if (is_matched(rows, i))
			continue;
		show_outer(state, i);
		result = emit(state, state->null_slot);
		if (result != NULL)
			return result;
	}
	return NULL;
}

/*
 * The phases
 */

/* start --- make the inner side ready, and a first batch; false for no rows at all */
static bool
start(BvhJoinState *state)
{
	state->batch_rows = FIRST_BATCH;
	if (!read_outer(state))
		return false;
	if (!state->inner_ready)
	{
		memset(&state->counters, 0, sizeof(state->counters));
		if (read_inner(state))
			bvh_join_build(state);
		else
			bvh_spill_inner(state);
		state->inner_ready = true;
	}
	if (state->spill != NULL)
	{
		/* each part of it is built again */
		memset(&state->counters, 0, sizeof(state->counters));
		bvh_spill_outer(state);
	}
	else if (state->inner_rows.n == 0 && !state->null_extends)
		return false;
	return true;
}

/*
 * next_batch --- the next outer rows to be joined with the inner rows in memory;
 * false if all is done
 */
static bool
next_batch(BvhJoinState *state)
{
	if (state->spill == NULL)
		return read_outer(state);

	for (;;)
	{
		if (bvh_spill_next_block(state))
			return true;
		if (state->last_pass)
			return false;
		if (!bvh_spill_next_chunk(state))
		{
			if (!state->null_extends)
				return false;
			state->last_pass = true;
		}
		bvh_spill_rewind(state);
	}
}

static TupleTableSlot *
bvh_join_exec(CustomScanState *node)
{
	BvhJoinState *state = (BvhJoinState *) node;
	TupleTableSlot *result;

	ResetExprContext(node->ss.ps.ps_ExprContext);
	for (;;)
	{
		switch (state->phase)
		{
			case JOIN_START:
				if (!start(state))
				{
					state->phase = JOIN_DONE;
					break;
				}
				/* the first batch is there already, unless it went to a file */
				if (state->spill != NULL)
				{
					state->phase = JOIN_NEXT_BATCH;
					break;
				}
				begin_pairs(state);
				state->phase = JOIN_PAIRS;
				break;

			case JOIN_NEXT_BATCH:
				if (!next_batch(state))
				{
					state->phase = JOIN_DONE;
					break;
				}
				state->next_unmatched = 0;
				state->outer_in_slot = SIZE_MAX;
				state->phase = state->last_pass ? JOIN_UNMATCHED : JOIN_PAIRS;
				if (state->phase == JOIN_PAIRS)
					begin_pairs(state);
				break;

			case JOIN_PAIRS:
				result = join_pairs(state);
				if (result != NULL)
					return result;
				if (state->spill != NULL)
				{
					if (state->marks_matched)
						bvh_spill_keep_matched(state);
					state->phase = JOIN_NEXT_BATCH;
				}
				else
				{
					state->next_unmatched = 0;
					state->phase = state->null_extends ? JOIN_UNMATCHED : JOIN_NEXT_BATCH;
				}
				break;

			case JOIN_UNMATCHED:
				result = join_unmatched(state);
				if (result != NULL)
					return result;
				state->phase = JOIN_NEXT_BATCH;
				break;

			case JOIN_DONE:
				return NULL;
		}
	}
}

/*
 * Begin, end, and again
 */

/* which columns of the inputs the expressions after the pairs need */
static void
init_expressions(BvhJoinState *state, EState *estate)
{
	PlanState *ps = &state->custom.ss.ps;
	CustomScan *scan = (CustomScan *) ps->plan;
	Node *clause = list_nth(scan->custom_exprs, BVH_JOIN_CLAUSE);
	List *joinquals = list_nth(scan->custom_exprs, BVH_JOIN_QUALS);
	List *filter = list_nth(scan->custom_exprs, BVH_JOIN_FILTER);
	List *args = IsA(clause, OpExpr) ? ((OpExpr *) clause)->args
									 : castNode(FuncExpr, clause)->args;
	ResolveContext used = {0};
	ResolveContext kept = {0};
	Node *inner_key;
	List *tlist;

	used.sources = list_copy_tail(scan->custom_private, BVH_JOIN_COLUMNS);
	resolve_columns((Node *) scan->scan.plan.targetlist, &used);
	resolve_columns((Node *) filter, &used);
	resolve_columns((Node *) joinquals, &used);
	bvh_side_init(&state->outer,
				  estate,
				  ExecGetResultType(outerPlanState(state)),
				  used.used[0]);
	bvh_side_init(&state->inner,
				  estate,
				  ExecGetResultType(innerPlanState(state)),
				  used.used[1]);
	if (state->null_extends)
		state->null_slot = ExecInitNullTupleSlot(estate,
												 state->inner.desc,
												 &TTSOpsVirtual);

	/* rows of two kinds come by: those of the inputs, and kept ones */
	ps->outeropsset = ps->inneropsset = true;
	ps->outeropsfixed = ps->inneropsfixed = false;

	kept.sources = used.sources;
	kept.is_kept = true;
	kept.columns[0] = used.used[0];
	kept.columns[1] = used.used[1];
	tlist = (List *) resolve_columns((Node *) scan->scan.plan.targetlist, &kept);
	ps->ps_ProjInfo = ExecBuildProjectionInfo(tlist,
											  ps->ps_ExprContext,
											  ps->ps_ResultTupleSlot,
											  ps,
											  NULL);
	state->joinqual = ExecInitQual((List *) resolve_columns((Node *) joinquals, &kept),
								   ps);
	ps->qual = ExecInitQual((List *) resolve_columns((Node *) filter, &kept), ps);

	args = (List *) resolve_columns((Node *) args, &used);
	inner_key = list_nth(args,
						 state->outer_is_left ? BVH_JOIN_RIGHT_ARG : BVH_JOIN_LEFT_ARG);
	state->inner_key = ExecInitExpr((Expr *) inner_key, ps);
	find_params(inner_key, &state->inner_params);
	state->outer_key = ExecInitExpr(list_nth(args,
											 state->outer_is_left ? BVH_JOIN_LEFT_ARG
																  : BVH_JOIN_RIGHT_ARG),
									ps);
	if (state->op == BVH_DISTANCE)
		state->radius = ExecInitExpr(list_nth(args, BVH_JOIN_RADIUS_ARG), ps);
}

/*
 * expected_inner_rows --- for how many to reserve room at first: as many as the
 * planner expects, if they can fit at all
 */
static size_t
expected_inner_rows(const BvhJoinState *state)
{
	const Plan *plan = innerPlanState(state)->plan;
	size_t most = state->limit / (3 * sizeof(BvhItem));

	return (size_t) Min(plan->plan_rows * 1.01 + 16.0, (double) most);
}

static void
bvh_join_begin(CustomScanState *node, EState *estate, int eflags)
{
	BvhJoinState *state = (BvhJoinState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	List *settings = scan->custom_private;

	state->jointype = (JoinType) intVal(list_nth(settings, BVH_JOIN_TYPE));
	state->op = (BvhOp) intVal(list_nth(settings, BVH_JOIN_OP));
	state->outer_is_left = intVal(list_nth(settings, BVH_JOIN_OUTER_IS_LEFT)) != 0;
	state->inner_unique = intVal(list_nth(settings, BVH_JOIN_INNER_UNIQUE)) != 0;
	state->null_extends = state->jointype == JOIN_LEFT || state->jointype == JOIN_ANTI;
	state->single_match = state->jointype == JOIN_SEMI || state->jointype == JOIN_ANTI ||
						  state->inner_unique;
	state->marks_matched = state->null_extends || state->single_match;
	state->implies_overlap = state->op == BVH_DISTANCE || bvh_op_pairs(state->op);
	state->by_rows = !state->implies_overlap;

	outerPlanState(state) = ExecInitNode(outerPlan(scan), estate, eflags);
	innerPlanState(state) = ExecInitNode(innerPlan(scan), estate, eflags);
	init_expressions(state, estate);

	state->limit = get_hash_memory_limit();
	state->memory.cxt = AllocSetContextCreate(estate->es_query_cxt,
											  BVH_JOIN_NAME,
											  ALLOCSET_DEFAULT_SIZES);
	bvh_env_init(&state->env, &state->memory);
	state->expected_rows = expected_inner_rows(state);
	bvh_arena_init(&state->inner_rows.arena, &state->memory, state->limit);
	bvh_arena_init(&state->outer_rows.arena, &state->memory, state->limit / OUTER_PART);
	if (state->implies_overlap)
	{
		state->pairs = palloc(sizeof(BvhPairs));
		state->found = palloc(sizeof(BvhPair) * BVH_JOIN_PAIRS);
	}
	state->found_ids = palloc(sizeof(uint64) * BVH_JOIN_PAIRS);
	state->phase = JOIN_START;
}

static void
bvh_join_end(CustomScanState *node)
{
	BvhJoinState *state = (BvhJoinState *) node;

	bvh_spill_end(state);
	MemoryContextDelete(state->memory.cxt);
	ExecEndNode(outerPlanState(state));
	ExecEndNode(innerPlanState(state));
}

/*
 * bvh_join_rescan --- start again; with the same inner rows, if nothing that they
 * depend on has changed
 */
static void
bvh_join_rescan(CustomScanState *node)
{
	BvhJoinState *state = (BvhJoinState *) node;
	PlanState *outer = outerPlanState(state);
	PlanState *inner = innerPlanState(state);

	bvh_outer_reset(&state->outer_rows, &state->env);
	if (!state->inner_ready || inner->chgParam != NULL ||
		bms_overlap(node->ss.ps.chgParam, state->inner_params))
	{
		bvh_inner_reset(&state->inner_rows, &state->env, &state->memory);
		bvh_spill_end(state);
		state->inner_ready = false;
		/* otherwise, its first row sees to that */
		if (inner->chgParam == NULL)
			ExecReScan(inner);
	}
	if (outer->chgParam == NULL)
		ExecReScan(outer);
	state->outer_done = false;
	state->last_pass = false;
	state->phase = JOIN_START;
}

static const CustomExecMethods exec_methods = {
	.CustomName = BVH_JOIN_NAME,
	.BeginCustomScan = bvh_join_begin,
	.ExecCustomScan = bvh_join_exec,
	.EndCustomScan = bvh_join_end,
	.ReScanCustomScan = bvh_join_rescan,
	.ExplainCustomScan = bvh_join_explain,
};

static Node *
create_state(CustomScan *scan)
{
	BvhJoinState *state = (BvhJoinState *) newNode(sizeof(BvhJoinState),
												   T_CustomScanState);

	state->custom.methods = &exec_methods;
	return (Node *) state;
}

const CustomScanMethods bvh_join_scan_methods = {
	.CustomName = BVH_JOIN_NAME,
	.CreateCustomScanState = create_state,
};
