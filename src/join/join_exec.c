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
 * If both inputs have the same rows, the inner ones are joined with themselves,
 * and the outer plan is hardly ever run.
 *
 * When the inner rows outgrow the memory, join_spill.c puts both inputs into
 * files, in parts that fit, and what follows is done for each part.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "join/join.h"
#include "join/join_state.h"

/* outer rows of the first batch */
#define FIRST_BATCH 256

/*
 * start --- make the inner side ready, and a first batch of the outer one, if it is
 * needed; false for no rows at all
 */
static bool
start(BvhJoinState *state)
{
	state->batch_rows = FIRST_BATCH;
	if (!state->is_of_same_rows && !bvh_join_read_outer(state))
		return false;
	if (!state->inner_ready)
	{
		memset(&state->counters, 0, sizeof(state->counters));
		if (bvh_join_read_inner(state))
			bvh_join_build(state);
		else
			bvh_spill_inner(state);
		state->inner_ready = true;
	}
	if (state->spill != NULL)
	{
		/* each part of it is built again */
		memset(&state->counters, 0, sizeof(state->counters));
		if (state->reads_once)
			bvh_spill_begin_parts(state);
		else
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
		return bvh_join_read_outer(state);
	return bvh_spill_next_batch(state);
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
					state->phase = state->reads_once ? JOIN_NEXT_PART : JOIN_NEXT_BATCH;
					break;
				}
				if (state->is_of_same_rows)
				{
					bvh_join_begin_self_pairs(state);
					state->phase = JOIN_SELF_PAIRS;
					break;
				}
				bvh_join_begin_pairs(state);
				state->phase = JOIN_PAIRS;
				break;

			case JOIN_NEXT_BATCH:
				if (!next_batch(state))
				{
					state->phase = state->reads_once ? JOIN_NEXT_PART : JOIN_DONE;
					break;
				}
				bvh_join_begin_pairs(state);
				state->phase = JOIN_PAIRS;
				break;

			case JOIN_PAIRS:
				result = bvh_join_pairs(state);
				if (result != NULL)
					return result;
				if (state->spill != NULL && state->marks_matched)
					bvh_spill_keep_matched(state);
				state->next_unmatched = 0;
				state->phase = state->null_extends ? JOIN_UNMATCHED : JOIN_NEXT_BATCH;
				break;

			case JOIN_UNMATCHED:
				result = bvh_join_unmatched(state);
				if (result != NULL)
					return result;
				state->phase = JOIN_NEXT_BATCH;
				break;

			case JOIN_NEXT_PART:
				if (!bvh_spill_next_part(state))
				{
					state->phase = JOIN_DONE;
					break;
				}
				bvh_join_begin_self_pairs(state);
				state->phase = JOIN_SELF_PAIRS;
				break;

			case JOIN_SELF_PAIRS:
				result = bvh_join_self_pairs(state);
				if (result != NULL)
					return result;
				/* the part may have visitors */
				state->phase = state->spill != NULL ? JOIN_NEXT_BATCH : JOIN_DONE;
				break;

			case JOIN_DONE:
				return NULL;
		}
	}
}

/*
 * Begin, end, and again
 */

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
	/* a row that was locked is checked once more without the others of its table */
	state->is_of_same_rows = intVal(list_nth(settings, BVH_JOIN_OF_SAME_ROWS)) != 0 &&
							 estate->es_epq_active == NULL;
	state->reads_once = state->is_of_same_rows && bvh_op_self_pairs(state->op);
	state->null_extends = state->jointype == JOIN_LEFT || state->jointype == JOIN_ANTI;
	state->single_match = state->jointype == JOIN_SEMI || state->jointype == JOIN_ANTI ||
						  state->inner_unique;
	state->marks_matched = state->null_extends || state->single_match;
	state->implies_overlap = state->op == BVH_DISTANCE || bvh_op_pairs(state->op);
	state->by_rows = !state->implies_overlap;

	outerPlanState(state) = ExecInitNode(outerPlan(scan), estate, eflags);
	innerPlanState(state) = ExecInitNode(innerPlan(scan), estate, eflags);
	bvh_join_init_expressions(state, estate);

	state->prefix = (state->radius != NULL ? sizeof(Box3) : 0) +
					(state->comparison != COMPARE_NOTHING ? sizeof(int64) : 0);

	state->limit = get_hash_memory_limit();
	state->memory.cxt = AllocSetContextCreate(estate->es_query_cxt,
											  BVH_JOIN_NAME,
											  ALLOCSET_DEFAULT_SIZES);
	bvh_env_init(&state->env, &state->memory);
	state->expected_rows = expected_inner_rows(state);
	bvh_arena_init(&state->inner_rows.arena, &state->memory, state->limit);
	bvh_arena_init(&state->outer_rows.arena, &state->memory, state->limit / 8);
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
	/* they are in a file, and memory is for outer rows first */
	if (state->spill != NULL)
		bvh_inner_reset(&state->inner_rows, &state->env, &state->memory);
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
	state->phase = JOIN_START;
}

static const CustomExecMethods exec_methods = {
	.CustomName = BVH_JOIN_NAME,
	.BeginCustomScan = bvh_join_begin,
	.ExecCustomScan = bvh_join_exec,
	.EndCustomScan = bvh_join_end,
	.ReScanCustomScan = bvh_join_rescan,
	.EstimateDSMCustomScan = bvh_join_estimate_shared,
	.InitializeDSMCustomScan = bvh_join_init_shared,
	.ReInitializeDSMCustomScan = bvh_join_reinit_shared,
	.InitializeWorkerCustomScan = bvh_join_find_shared,
	.ShutdownCustomScan = bvh_join_share,
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
