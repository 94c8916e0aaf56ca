/*-------------------------------------------------------------------------
 *
 * box3d_sample.c
 *	  The samples of box columns that this session plans with.
 *
 * A sample of 10,000 boxes takes 240 kB, and up to 250 us to be fetched from
 * pg_statistic and decompressed: more than all the rest of planning a small
 * query.  So the last few stay open.  A row of pg_statistic is never changed
 * in place, so a row of the same column at the same place by the same
 * transaction and command is the same row.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_statistic.h"
#include "nodes/pathnodes.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"

#include "core/sample.h"
#include "type/box3d_stats.h"

/* a join needs two at a time, and most queries no more than these */
#define MAX_OPEN_SAMPLES 8

typedef struct OpenSample
{
	MemoryContext context; /* NULL: this place is free */
	uint64 last_use;

	/* which row of pg_statistic */
	Oid starelid;
	int16 staattnum;
	bool stainherit;
	ItemPointerData tid;
	TransactionId xmin;
	CommandId cmin;

	BoxSample boxes;
} OpenSample;

static OpenSample open_samples[MAX_OPEN_SAMPLES];
static uint64 nuses = 0;

/* which row of pg_statistic is it? fills in all but the sample */
static void
identify(HeapTuple row, OpenSample *open)
{
	Form_pg_statistic form = (Form_pg_statistic) GETSTRUCT(row);

	open->starelid = form->starelid;
	open->staattnum = form->staattnum;
	open->stainherit = form->stainherit;
	open->tid = row->t_self;
	open->xmin = HeapTupleHeaderGetRawXmin(row->t_data);
	open->cmin = HeapTupleHeaderGetRawCommandId(row->t_data);
}

static bool
is_same_row(const OpenSample *a, const OpenSample *b)
{
	return a->starelid == b->starelid && a->staattnum == b->staattnum &&
		   a->stainherit == b->stainherit &&
		   ItemPointerEquals((ItemPointer) &a->tid, (ItemPointer) &b->tid) &&
		   a->xmin == b->xmin && a->cmin == b->cmin;
}

/* the sample of a row, in memory of the current context */
static bool
fetch_sample(HeapTuple row, BoxSample *boxes)
{
	AttStatsSlot slot;

	if (!get_attstatsslot(&slot,
						  row,
						  BVH_STATISTIC_KIND_SAMPLE,
						  InvalidOid,
						  ATTSTATSSLOT_NUMBERS))
		return false;
	if (sample_open(slot.numbers, slot.nnumbers, boxes))
		return true;
	free_attstatsslot(&slot);
	return false;
}

/* the place of the row if it is open, else the place to open it at */
static OpenSample *
find_place(const OpenSample *wanted)
{
	OpenSample *oldest = &open_samples[0];

	for (int i = 0; i < MAX_OPEN_SAMPLES; i++)
	{
		OpenSample *open = &open_samples[i];

		if (open->context != NULL && is_same_row(open, wanted))
			return open;
		/* an older version of the row is of no more use */
		if (open->starelid == wanted->starelid && open->staattnum == wanted->staattnum &&
			open->stainherit == wanted->stainherit)
			open->last_use = 0;
		if (open->last_use < oldest->last_use)
			oldest = open;
	}
	return oldest;
}

/*
 * box3d_open_sample --- the sample of a column's boxes, or NULL if ANALYZE
 * left none
 *
 * Stays valid until samples of several other columns have been opened, or the
 * end of the statement's planning.  The caller checks the right to see it.
 */
const BoxSample *
box3d_open_sample(VariableStatData *column)
{
	HeapTuple row = column->statsTuple;
	OpenSample wanted;
	OpenSample *open;
	MemoryContext context;
	MemoryContext old_context;
	bool found;

	if (!HeapTupleIsValid(row))
		return NULL;

	/* a row that a hook made up has no identity */
	if (column->freefunc != ReleaseSysCache)
	{
		BoxSample *boxes = palloc(sizeof(BoxSample));

		return fetch_sample(row, boxes) ? boxes : NULL;
	}

	identify(row, &wanted);
	open = find_place(&wanted);
	wanted.last_use = ++nuses;
	if (open->context != NULL && is_same_row(open, &wanted))
	{
		open->last_use = wanted.last_use;
		return &open->boxes;
	}

	/* not under CacheMemoryContext until nothing can fail any more */
	context = AllocSetContextCreate(CurrentMemoryContext,
									"box3d sample",
									ALLOCSET_SMALL_SIZES);
	old_context = MemoryContextSwitchTo(context);
	found = fetch_sample(row, &wanted.boxes);
	MemoryContextSwitchTo(old_context);
	if (!found)
	{
		MemoryContextDelete(context);
		return NULL;
	}
	if (open->context != NULL)
		MemoryContextDelete(open->context);
	MemoryContextSetParent(context, CacheMemoryContext);
	wanted.context = context;
	/* never used before, so nothing is remembered of another one */
	wanted.boxes.id = wanted.last_use;
	*open = wanted;
	return &open->boxes;
}
