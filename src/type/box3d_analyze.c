/*-------------------------------------------------------------------------
 *
 * box3d_analyze.c
 *	  What ANALYZE gathers of a box3d column: all that it gathers of any
 *	  sortable type, and a sample of the boxes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/vacuum.h"
#include "common/pg_prng.h"
#include "miscadmin.h"

#include "core/sample.h"
#include "pg/compat.h"
#include "type/box3d.h"
#include "type/box3d_stats.h"

BVH_FUNCTION(box3d_typanalyze);

/* what std_typanalyze() set up, which runs first */
typedef struct StandardAnalysis
{
	AnalyzeAttrComputeStatsFunc compute_stats;
	void *extra_data;
} StandardAnalysis;

/* the first slot that is free, or -1 */
static int
find_free_slot(const VacAttrStats *stats)
{
	for (int slot = 0; slot < STATISTIC_NUM_SLOTS; slot++)
		if (stats->stakind[slot] == 0)
			return slot;
	return -1;
}

static void
compute_stats(VacAttrStats *stats, AnalyzeAttrFetchFunc fetchfunc, int samplerows,
			  double totalrows)
{
	StandardAnalysis *standard = stats->extra_data;
	int limit = bvh_statistics_target(stats) * BVH_SAMPLE_PER_TARGET;
	const Box3 **boxes;
	int nboxes = 0;
	int slot;

	stats->extra_data = standard->extra_data;
	standard->compute_stats(stats, fetchfunc, samplerows, totalrows);
	stats->extra_data = standard;

	boxes = palloc(sizeof(Box3 *) * Max(samplerows, 1));
	for (int row = 0; row < samplerows; row++)
	{
		bool isnull;
		Datum value = fetchfunc(stats, row, &isnull);

		if (!isnull)
			boxes[nboxes++] = DatumGetBox3P(value);
	}

	/*
	 * The rows are a random sample, but in the order of the table, and tables
	 * are often filled layer by layer.  Shuffled, any part of them is a random
	 * sample, too: the first ones, and every n-th.
	 */
	limit = Min(Min(limit, BVH_SAMPLE_LIMIT), nboxes);
	for (int i = 0; i < limit; i++)
	{
		int other = pg_prng_uint64_range(&pg_global_prng_state, i, nboxes - 1);
		const Box3 *box = boxes[other];

		boxes[other] = boxes[i];
		boxes[i] = box;
	}
	nboxes = limit;

	slot = find_free_slot(stats);
	if (nboxes > 0 && slot >= 0)
	{
		int length = sample_length(nboxes);
		float4 *numbers = MemoryContextAlloc(stats->anl_context, sizeof(float4) * length);
		double *scratch = palloc(sizeof(double) * Max(nboxes, 64));

		sample_encode(boxes, nboxes, scratch, numbers);
		pfree(scratch);
		stats->stakind[slot] = BVH_STATISTIC_KIND_SAMPLE;
		stats->staop[slot] = InvalidOid;
		stats->stacoll[slot] = InvalidOid;
		stats->stanumbers[slot] = numbers;
		stats->numnumbers[slot] = length;
		stats->stats_valid = true;
	}
	pfree(boxes);
}

/*
 * box3d_typanalyze(internal) --- set ANALYZE up for a box3d column
 */
Datum
box3d_typanalyze(PG_FUNCTION_ARGS)
{
	VacAttrStats *stats = (VacAttrStats *) PG_GETARG_POINTER(0);
	StandardAnalysis *standard;

	if (!std_typanalyze(stats))
		PG_RETURN_BOOL(false);

	standard = palloc(sizeof(StandardAnalysis));
	standard->compute_stats = stats->compute_stats;
	standard->extra_data = stats->extra_data;
	stats->compute_stats = compute_stats;
	stats->extra_data = standard;
	PG_RETURN_BOOL(true);
}
