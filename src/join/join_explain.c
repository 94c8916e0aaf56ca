/*-------------------------------------------------------------------------
 *
 * join_explain.c
 *	  What EXPLAIN says of a BVH Join.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/explain.h"
#include "nodes/makefuncs.h"
#include "utils/ruleutils.h"

#include "join/join.h"
#include "join/join_state.h"
#include "pg/compat.h"

static const char *
join_type_name(JoinType jointype)
{
	switch (jointype)
	{
		case JOIN_INNER:
			return "Inner";
		case JOIN_LEFT:
			return "Left";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
		default:
			return "???";
	}
}

static void
explain_condition(const char *label, Node *condition, CustomScanState *node,
				  List *ancestors, ExplainState *es)
{
	List *context = set_deparse_context_plan(es->deparse_cxt,
											 node->ss.ps.plan,
											 ancestors);

	ExplainPropertyText(label, deparse_expression(condition, context, true, false), es);
}

/* conditions beside the one of the tree, and how many rows did not pass */
static void
explain_filter(const char *label, const char *removed_label, List *conditions,
			   double nremoved, CustomScanState *node, List *ancestors, ExplainState *es)
{
	const BvhNodeInstrumentation *instrument = node->ss.ps.instrument;

	if (conditions == NIL)
		return;
	explain_condition(label,
					  (Node *) make_ands_explicit(conditions),
					  node,
					  ancestors,
					  es);
	if (!es->analyze || instrument == NULL)
		return;
	if (nremoved > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyFloat(removed_label,
							 NULL,
							 instrument->nloops > 0 ? nremoved / instrument->nloops : 0.0,
							 0,
							 es);
}

/*
 * Workers
 *
 * Each has a tree of its own.  What is shown are the boxes, nodes, passes and
 * memory of the process that had most of each, and the tests of all together.
 */

Size
bvh_join_estimate_shared(CustomScanState *node, ParallelContext *pcxt)
{
	return offsetof(JoinShared, workers) + pcxt->nworkers * sizeof(JoinCounters);
}

void
bvh_join_init_shared(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	JoinShared *shared = coordinate;

	memset(shared, 0, bvh_join_estimate_shared(node, pcxt));
	shared->nworkers = pcxt->nworkers;
	((BvhJoinState *) node)->shared = shared;
}

void
bvh_join_reinit_shared(CustomScanState *node, ParallelContext *pcxt, void *coordinate)
{
	bvh_join_init_shared(node, pcxt, coordinate);
}

void
bvh_join_find_shared(CustomScanState *node, shm_toc *toc, void *coordinate)
{
	((BvhJoinState *) node)->shared = coordinate;
}

static void
add_counters(JoinCounters *sum, const JoinCounters *counters)
{
	sum->nboxes = Max(sum->nboxes, counters->nboxes);
	sum->nnodes = Max(sum->nnodes, counters->nnodes);
	sum->height = Max(sum->height, counters->height);
	sum->memory = Max(sum->memory, counters->memory);
	sum->npasses = Max(sum->npasses, counters->npasses);
	sum->ntests += counters->ntests;
}

/*
 * bvh_join_share --- ShutdownCustomScan: a worker leaves its counters, the leader
 * takes them while they are there
 */
void
bvh_join_share(CustomScanState *node)
{
	BvhJoinState *state = (BvhJoinState *) node;

	if (state->shared == NULL)
		return;
	if (IsParallelWorker())
	{
		JoinCounters *mine = &state->shared->workers[ParallelWorkerNumber];

		*mine = state->counters;
		mine->memory = state->memory.peak;
	}
	else
	{
		for (int i = 0; i < state->shared->nworkers; i++)
			add_counters(&state->workers, &state->shared->workers[i]);
		state->shared = NULL;
	}
}

/*
 * bvh_join_explain --- ExplainCustomScan
 */
void
bvh_join_explain(CustomScanState *node, List *ancestors, ExplainState *es)
{
	BvhJoinState *state = (BvhJoinState *) node;
	CustomScan *scan = (CustomScan *) node->ss.ps.plan;
	JoinCounters counters = state->counters;
	const BvhNodeInstrumentation *instrument = node->ss.ps.instrument;

	ExplainPropertyText("Join Type", join_type_name(state->jointype), es);
	if (es->verbose && state->inner_unique)
		ExplainPropertyBool("Inner Unique", true, es);
	if (intVal(list_nth(scan->custom_private, BVH_JOIN_OF_SAME_ROWS)) != 0)
		ExplainPropertyBool("Same Rows", true, es);
	explain_condition("BVH Cond",
					  list_nth(scan->custom_exprs, BVH_JOIN_CLAUSE),
					  node,
					  ancestors,
					  es);
	explain_filter("Join Filter",
				   "Rows Removed by Join Filter",
				   list_nth(scan->custom_exprs, BVH_JOIN_QUALS),
				   instrument != NULL ? instrument->nfiltered2 : 0.0,
				   node,
				   ancestors,
				   es);
	explain_filter("Filter",
				   "Rows Removed by Filter",
				   list_nth(scan->custom_exprs, BVH_JOIN_FILTER),
				   instrument != NULL ? instrument->nfiltered1 : 0.0,
				   node,
				   ancestors,
				   es);
	if (!es->analyze)
		return;

	counters.memory = state->memory.peak;
	add_counters(&counters, &state->workers);
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyUInteger("Boxes", NULL, counters.nboxes, es);
		ExplainPropertyUInteger("Nodes", NULL, counters.nnodes, es);
		ExplainPropertyInteger("Height", NULL, counters.height, es);
		ExplainPropertyUInteger("Node Tests", NULL, counters.ntests, es);
		ExplainPropertyUInteger("Passes", NULL, counters.npasses, es);
		ExplainPropertyUInteger("Peak Memory Usage",
								"kB",
								(counters.memory + 1023) / 1024,
								es);
	}
	else if (counters.npasses > 0)
	{
		appendStringInfoSpaces(es->str, es->indent * 2);
		appendStringInfo(es->str,
						 "Boxes: " UINT64_FORMAT "  Nodes: " UINT64_FORMAT
						 "  Height: %d  Node Tests: " UINT64_FORMAT
						 "  Passes: " UINT64_FORMAT "  Memory Usage: %zukB\n",
						 counters.nboxes,
						 counters.nnodes,
						 counters.height,
						 counters.ntests,
						 counters.npasses,
						 (counters.memory + 1023) / 1024);
	}
}
