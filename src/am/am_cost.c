/*-------------------------------------------------------------------------
 *
 * am_cost.c
 *	  What a scan of a bvh index costs.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <math.h>

#include "nodes/pathnodes.h"
#include "optimizer/optimizer.h"
#include "utils/selfuncs.h"

#include "am/bvh.h"
#include "cache/cache.h"

/*
 * A page's boxes are tested in one pass, at about a tenth of what GiST spends
 * on calling a support function for each.
 */
#define TEST_COST_FACTOR 0.1

/* boxes on an inner page, by which a tree's height is guessed */
#define FANOUT 100.0

/*
 * bvhcostestimate --- GiST's estimate with our price for testing a box
 */
void
bvhcostestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup_cost,
				Cost *total_cost, Selectivity *selectivity, double *correlation,
				double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	GenericCosts costs = {0};
	double height = 1.0;
	Cost test_cost;
	Cost descent_cost;

	genericcostestimate(root, path, loop_count, &costs);

	/*
	 * genericcostestimate() charges cpu_index_tuple_cost and the operators for
	 * each index tuple of the pages that it expects to be read.
	 */
	test_cost = costs.numIndexTuples * costs.num_sa_scans *
				(cpu_index_tuple_cost +
				 cpu_operator_cost * (list_length(path->indexclauses) +
									  list_length(path->indexorderbys)));
	costs.indexTotalCost -= Min(test_cost * (1.0 - TEST_COST_FACTOR),
								costs.indexTotalCost - costs.indexStartupCost);

	/* what else it charges is for pages, and a tree in memory has none */
	if (bvh_cache_would_serve(path))
		costs.indexTotalCost = Min(costs.indexTotalCost,
								   costs.indexStartupCost + test_cost * TEST_COST_FACTOR);

	if (index->pages > 1)
		height += floor(log((double) index->pages) / log(FANOUT));

	/* an inner page on each level, and a few more that overlap the query */
	descent_cost = (height + 1) * FANOUT * cpu_operator_cost * TEST_COST_FACTOR +
				   (height + 1) * 0.5 * cpu_operator_cost;
	costs.indexStartupCost += descent_cost;
	costs.indexTotalCost += costs.num_sa_scans * descent_cost;

	*startup_cost = costs.indexStartupCost;
	*total_cost = costs.indexTotalCost;
	*selectivity = costs.indexSelectivity;
	*correlation = costs.indexCorrelation;
	*pages = costs.numIndexPages;
}
