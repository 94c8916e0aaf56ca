/*-------------------------------------------------------------------------
 *
 * gist_box3d.c
 *	  Support functions of the GiST operator class: unwrap, call core, wrap.
 *
 * Keys are the boxes themselves, on leaves and inside: there is no compress
 * function, no scan needs a recheck, and index-only scans work.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/gist.h"
#include "utils/sortsupport.h"

#include "core/hilbert.h"
#include "core/penalty.h"
#include "core/shape.h"
#include "core/simd/kernels.h"
#include "core/split.h"
#include "pg/compat.h"
#include "type/box3d.h"
#include "type/strategy.h"

BVH_FUNCTION(box3d_gist_consistent);
BVH_FUNCTION(box3d_gist_union);
BVH_FUNCTION(box3d_gist_penalty);
BVH_FUNCTION(box3d_gist_picksplit);
BVH_FUNCTION(box3d_gist_same);
BVH_FUNCTION(box3d_gist_distance);
BVH_FUNCTION(box3d_gist_sortsupport);

/*
 * Least share of the boxes that either page of a split gets.  More makes fewer
 * pages, less makes better ones.
 */
#define MIN_FILL 0.3

/* the ranges of the last query, kept with the scan key */
typedef struct ConsistentCache
{
	Box3 query;
	StrategyNumber strategy;
	BoxRange leaf;
	BoxRange node;
} ConsistentCache;

static const ConsistentCache *
get_ranges(FmgrInfo *flinfo, StrategyNumber strategy, const Box3 *query)
{
	ConsistentCache *cache = flinfo->fn_extra;

	if (cache != NULL && cache->strategy == strategy && box3_equal(&cache->query, query))
		return cache;

	if (cache == NULL)
		cache = MemoryContextAlloc(flinfo->fn_mcxt, sizeof(ConsistentCache));
	/* until all of it is filled in */
	cache->strategy = InvalidStrategy;
	flinfo->fn_extra = cache;
	if (!box3_range((BvhOp) strategy, false, query, &cache->leaf))
		elog(ERROR, "unrecognized box3d strategy number: %d", (int) strategy);
	box3_node_range(&cache->leaf, &cache->node);
	cache->query = *query;
	cache->strategy = strategy;
	return cache;
}

/*
 * box3d_gist_consistent(internal, box3d, int2, oid, internal) --- does the key
 * match, or may something below it?
 *
 * The second argument is what the strategy says: a box, or a shape.
 */
Datum
box3d_gist_consistent(PG_FUNCTION_ARGS)
{
	GISTENTRY *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	const Box3 *query = PG_GETARG_BOX3_P(1);
	StrategyNumber strategy = (StrategyNumber) PG_GETARG_UINT16(2);
	bool *recheck = (bool *) PG_GETARG_POINTER(4);
	const Box3 *key = DatumGetBox3P(entry->key);
	const ConsistentCache *ranges;

	*recheck = false;

	/* the most frequent one, alike on leaves and nodes, needs no range */
	if (strategy == BVH_OVERLAPS)
		PG_RETURN_BOOL(box3_overlaps(key, query));

	if (shape_filters(strategy))
	{
		BvhShape shape = {(BvhShapeOp) strategy, PG_GETARG_POINTER(1)};

		PG_RETURN_BOOL(GIST_LEAF(entry) ? shape_matches(&shape, key)
										: shape_may_match_below(&shape, key));
	}

	ranges = get_ranges(fcinfo->flinfo, strategy, query);
	PG_RETURN_BOOL(
		bvh_kernels->in_range(key, GIST_LEAF(entry) ? &ranges->leaf : &ranges->node));
}

/*
 * box3d_gist_union(internal, internal) --- box around all keys
 */
Datum
box3d_gist_union(PG_FUNCTION_ARGS)
{
	GistEntryVector *entries = (GistEntryVector *) PG_GETARG_POINTER(0);
	int *size = (int *) PG_GETARG_POINTER(1);
	Box3 *box = palloc(sizeof(Box3));

	*box = *DatumGetBox3P(entries->vector[0].key);
	for (int i = 1; i < entries->n; i++)
		box3_include(box, DatumGetBox3P(entries->vector[i].key));
	*size = sizeof(Box3);
	PG_RETURN_BOX3_P(box);
}

/*
 * box3d_gist_penalty(internal, internal, internal) --- see core/penalty.c
 */
Datum
box3d_gist_penalty(PG_FUNCTION_ARGS)
{
	GISTENTRY *child = (GISTENTRY *) PG_GETARG_POINTER(0);
	GISTENTRY *added = (GISTENTRY *) PG_GETARG_POINTER(1);
	float *penalty = (float *) PG_GETARG_POINTER(2);

	*penalty = box3_penalty(DatumGetBox3P(child->key), DatumGetBox3P(added->key));
	PG_RETURN_POINTER(penalty);
}

/* entries of a half, and the box around them */
static OffsetNumber *
collect_half(const GistEntryVector *entries, const SplitItem *items, int n, Datum *around)
{
	OffsetNumber *offsets = palloc(sizeof(OffsetNumber) * n);
	Box3 *box = palloc(sizeof(Box3));

	*box = *DatumGetBox3P(entries->vector[items[0].number].key);
	for (int i = 0; i < n; i++)
	{
		offsets[i] = (OffsetNumber) items[i].number;
		box3_include(box, DatumGetBox3P(entries->vector[items[i].number].key));
	}
	*around = PointerGetDatum(box);
	return offsets;
}

/*
 * box3d_gist_picksplit(internal, internal) --- see core/split.c
 */
Datum
box3d_gist_picksplit(PG_FUNCTION_ARGS)
{
	GistEntryVector *entries = (GistEntryVector *) PG_GETARG_POINTER(0);
	GIST_SPLITVEC *split = (GIST_SPLITVEC *) PG_GETARG_POINTER(1);
	int n = entries->n - FirstOffsetNumber;
	SplitItem *items = palloc(sizeof(SplitItem) * n);

	for (int i = 0; i < n; i++)
	{
		items[i].box = *DatumGetBox3P(entries->vector[i + FirstOffsetNumber].key);
		items[i].number = i + FirstOffsetNumber;
	}
	split->spl_nleft = bvh_split(items, n, MIN_FILL);
	split->spl_nright = n - split->spl_nleft;
	split->spl_left = collect_half(entries, items, split->spl_nleft, &split->spl_ldatum);
	split->spl_right = collect_half(entries,
									items + split->spl_nleft,
									split->spl_nright,
									&split->spl_rdatum);
	PG_RETURN_POINTER(split);
}

/*
 * box3d_gist_same(box3d, box3d, internal)
 */
Datum
box3d_gist_same(PG_FUNCTION_ARGS)
{
	bool *same = (bool *) PG_GETARG_POINTER(2);

	*same = box3_equal(PG_GETARG_BOX3_P(0), PG_GETARG_BOX3_P(1));
	PG_RETURN_POINTER(same);
}

/*
 * box3d_gist_distance(internal, box3d, int2, oid, internal) --- value of <->,
 * for nodes a lower bound of it by the very same steps; to a box, or a shape
 */
Datum
box3d_gist_distance(PG_FUNCTION_ARGS)
{
	GISTENTRY *entry = (GISTENTRY *) PG_GETARG_POINTER(0);
	StrategyNumber strategy = (StrategyNumber) PG_GETARG_UINT16(2);
	bool *recheck = (bool *) PG_GETARG_POINTER(4);

	*recheck = false;
	if (shape_orders(strategy))
	{
		BvhShape shape = {(BvhShapeOp) strategy, PG_GETARG_POINTER(1)};

		PG_RETURN_FLOAT8(shape_distance(&shape, DatumGetBox3P(entry->key)));
	}
	if (strategy != BVH_DISTANCE)
		elog(ERROR, "unrecognized box3d strategy number: %d", (int) strategy);
	PG_RETURN_FLOAT8(box3_distance(DatumGetBox3P(entry->key), PG_GETARG_BOX3_P(1)));
}

/* the frame of a sort starts at the first box that it sees */
static const CurveFrame *
get_frame(SortSupport ssup, Datum first)
{
	CurveFrame *frame = ssup->ssup_extra;

	if (!frame->is_set)
		box3_curve_begin(frame, DatumGetBox3P(first));
	return frame;
}

static int
compare_whole(Datum a, Datum b, SortSupport ssup)
{
	return box3_curve_compare(get_frame(ssup, a), DatumGetBox3P(a), DatumGetBox3P(b));
}

static Datum
abbreviate(Datum original, SortSupport ssup)
{
	return UInt64GetDatum(
		box3_curve_key(get_frame(ssup, original), DatumGetBox3P(original)));
}

static bool
abort_abbreviation(int memtupcount, SortSupport ssup)
{
	/* keys that are all equal still cost less than whole comparisons */
	return false;
}

/*
 * box3d_gist_sortsupport(internal) --- order for building the index: along a
 * Hilbert curve, see core/hilbert.c
 */
Datum
box3d_gist_sortsupport(PG_FUNCTION_ARGS)
{
	SortSupport ssup = (SortSupport) PG_GETARG_POINTER(0);

	ssup->ssup_extra = MemoryContextAllocZero(ssup->ssup_cxt, sizeof(CurveFrame));
	ssup->comparator = compare_whole;
#if SIZEOF_DATUM >= 8
	/* a key needs 63 bits */
	if (ssup->abbreviate)
	{
		ssup->comparator = ssup_datum_unsigned_cmp;
		ssup->abbrev_converter = abbreviate;
		ssup->abbrev_abort = abort_abbreviation;
		ssup->abbrev_full_comparator = compare_whole;
	}
#endif
	PG_RETURN_VOID();
}
