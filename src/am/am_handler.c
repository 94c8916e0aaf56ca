/*-------------------------------------------------------------------------
 *
 * am_handler.c
 *	  The handler of the bvh access method.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"

#include "am/bvh.h"
#include "pg/compat.h"

BVH_FUNCTION(bvhhandler);

/*
 * bvhhandler(internal) --- GiST's routine, with what is ours in its place
 *
 * Pages, splits, vacuum, WAL and recovery stay GiST's.
 */
Datum
bvhhandler(PG_FUNCTION_ARGS)
{
	const IndexAmRoutine *gist = (const IndexAmRoutine *) DatumGetPointer(
		DirectFunctionCall1(gisthandler, 0));
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	*routine = *gist;

	/* one key: its place in a tuple is then fixed */
	routine->amcanmulticol = false;
	routine->amstorage = false;

	routine->ambuild = bvhbuild;
	routine->aminsert = bvhinsert;
	routine->ambuildphasename = bvhbuildphasename;
	routine->ambulkdelete = bvhbulkdelete;
	routine->amcostestimate = bvhcostestimate;
	routine->amoptions = bvhoptions;
	routine->ambeginscan = bvhbeginscan;
	routine->amrescan = bvhrescan;
	routine->amgettuple = bvhgettuple;
	routine->amgetbitmap = bvhgetbitmap;
	routine->amendscan = bvhendscan;

	PG_RETURN_POINTER(routine);
}
