/*-------------------------------------------------------------------------
 *
 * am_stats.c
 *	  What an index looks like: bvh_nodes() and bvh_stats().
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_type.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/rel.h"
#include "utils/tuplestore.h"

#include "am/am_walk.h"
#include "pg/compat.h"
#include "type/box3d.h"

BVH_FUNCTION(bvh_nodes);
BVH_FUNCTION(bvh_stats);

/* levels of a tree are 5 or 6 at most: each has 30 times the pages above it */
#define MAX_LEVELS 32

/* a row of bvh_nodes() */
typedef struct NodeRow
{
	BlockNumber blkno;
	BlockNumber parent;
	int depth;
	int ntuples;
	bool has_bounds;
	Box3 bounds;
} NodeRow;

typedef struct NodesContext
{
	ReturnSetInfo *rsinfo;
	int leaf_depth; /* -1 until the first leaf */
	NodeRow *inner; /* pages above it, which wait for their level */
	size_t ninner;
	size_t inner_size;
} NodesContext;

typedef struct StatsContext
{
	int64 pages[MAX_LEVELS]; /* by depth */
	int64 tuples[MAX_LEVELS];
	int depth; /* of the leaves, so far */
	int64 dead_tuples;
	Size leaf_bytes; /* taken by tuples and line pointers */
	Box3 root;
	bool has_root;
	double sah_cost;
	int64 pairs;             /* of boxes on one inner page */
	int64 overlapping_pairs; /* those whose insides overlap */
	double page_volume;      /* of leaf pages, and of the boxes on them */
	double box_volume;
} StatsContext;

/* the box around all keys of a page; false when there is none */
static bool
page_bounds(Page page, Box3 *bounds)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	bool found = false;

	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
	{
		IndexTuple itup = (IndexTuple) PageGetItem(page, PageGetItemId(page, offnum));

		if (bvh_has_null_key(itup))
			continue;
		if (found)
			box3_include(bounds, bvh_tuple_box(itup));
		else
			*bounds = *bvh_tuple_box(itup);
		found = true;
	}
	return found;
}

static void
emit_node(const NodesContext *nodes, const NodeRow *node, int level)
{
	Datum values[5];
	bool nulls[5] = {false};

	values[0] = Int32GetDatum(level);
	values[1] = Int64GetDatum(node->blkno);
	values[2] = Int64GetDatum(node->parent);
	nulls[2] = node->parent == InvalidBlockNumber;
	values[3] = Int32GetDatum(node->ntuples);
	values[4] = PointerGetDatum(&node->bounds);
	nulls[4] = !node->has_bounds;
	tuplestore_putvalues(nodes->rsinfo->setResult, nodes->rsinfo->setDesc, values, nulls);
}

static void
emit_inner(const NodesContext *nodes, const NodeRow *node)
{
	/* only a damaged tree has inner pages beside or below a leaf */
	emit_node(nodes, node, Max(nodes->leaf_depth - node->depth, 1));
}

static void
emit_waiting(NodesContext *nodes)
{
	for (size_t i = 0; i < nodes->ninner; i++)
		emit_inner(nodes, &nodes->inner[i]);
	nodes->ninner = 0;
}

static void
add_waiting(NodesContext *nodes, const NodeRow *node)
{
	if (nodes->ninner == nodes->inner_size)
	{
		nodes->inner_size = Max(64, 2 * nodes->inner_size);
		if (nodes->inner == NULL)
			nodes->inner = palloc(sizeof(NodeRow) * nodes->inner_size);
		else
			nodes->inner = repalloc_huge(nodes->inner,
										 sizeof(NodeRow) * nodes->inner_size);
	}
	nodes->inner[nodes->ninner++] = *node;
}

/*
 * add_node --- a page for bvh_nodes()
 *
 * Levels count from the leaves, and a walk comes to these last, so the pages
 * above them wait for the first one.
 */
static void
add_node(void *context, const BvhVisit *visit, Page page)
{
	NodesContext *nodes = context;
	NodeRow node = {0};

	node.blkno = visit->blkno;
	node.parent = visit->parent;
	node.depth = visit->depth;
	node.ntuples = PageGetMaxOffsetNumber(page);
	node.has_bounds = page_bounds(page, &node.bounds);
	if (GistPageIsLeaf(page))
	{
		if (nodes->leaf_depth < 0)
		{
			nodes->leaf_depth = visit->depth;
			emit_waiting(nodes);
		}
		emit_node(nodes, &node, 0);
	}
	else if (nodes->leaf_depth < 0)
		add_waiting(nodes, &node);
	else
		emit_inner(nodes, &node);
}

/*
 * bvh_nodes(regclass) --- a row for each page: level (0 for leaves), block,
 * parent's block, tuples, and the box around them
 */
Datum
bvh_nodes(PG_FUNCTION_ARGS)
{
	Relation index = bvh_open_index(PG_GETARG_OID(0), AccessShareLock, true);
	BvhWalker walker = {add_node, NULL};
	NodesContext nodes = {0};

	InitMaterializedSRF(fcinfo, 0);
	nodes.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	nodes.leaf_depth = -1;
	bvh_walk(index, &walker, &nodes);
	emit_waiting(&nodes);
	relation_close(index, AccessShareLock);
	return (Datum) 0;
}

/*
 * part_of --- area of a page as part of the root's, which is the chance that
 * a small query that meets the root meets the page, too
 *
 * Never NaN.  Without any area, by the sum of sides.
 */
static double
part_of(const Box3 *page, const Box3 *root)
{
	double whole = box3_surface_area(root);
	double part = box3_surface_area(page);

	if (whole == 0.0)
		for (int d = 0; d < 3; d++)
		{
			whole += box3_side(root, d);
			part += box3_side(page, d);
		}
	if (isinf(whole))
		return isinf(part) ? 1.0 : 0.0;
	return whole > 0.0 ? part / whole : 1.0;
}

/* pairs of siblings on an inner page, and those that overlap */
static void
count_overlaps(StatsContext *stats, Page page)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	const Box3 *boxes[BVH_MAX_ITEMS];
	int n = 0;

	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
	{
		IndexTuple itup = (IndexTuple) PageGetItem(page, PageGetItemId(page, offnum));

		if (!bvh_has_null_key(itup))
			boxes[n++] = bvh_tuple_box(itup);
	}
	for (int i = 0; i < n; i++)
		for (int j = i + 1; j < n; j++)
		{
			stats->pairs++;
			stats->overlapping_pairs += box3_overlaps_strictly(boxes[i], boxes[j]);
		}
}

static void
add_leaf(StatsContext *stats, Page page, const Box3 *bounds)
{
	OffsetNumber last = PageGetMaxOffsetNumber(page);
	double volume = 0.0;

	stats->leaf_bytes += GiSTPageSize - PageGetExactFreeSpace(page);
	for (OffsetNumber offnum = FirstOffsetNumber; offnum <= last; offnum++)
	{
		ItemId item = PageGetItemId(page, offnum);
		IndexTuple itup = (IndexTuple) PageGetItem(page, item);

		stats->dead_tuples += ItemIdIsDead(item);
		if (!bvh_has_null_key(itup))
			volume += box3_volume(bvh_tuple_box(itup));
	}
	if (bounds != NULL && isfinite(box3_volume(bounds)))
	{
		/* boxes that overlap fill a page at most once */
		stats->page_volume += box3_volume(bounds);
		stats->box_volume += Min(volume, box3_volume(bounds));
	}
}

static void
add_page(void *context, const BvhVisit *visit, Page page)
{
	StatsContext *stats = context;
	Box3 bounds;
	bool has_bounds = page_bounds(page, &bounds);

	if (visit->depth >= MAX_LEVELS)
		return;
	stats->depth = Max(stats->depth, visit->depth);
	stats->pages[visit->depth]++;
	stats->tuples[visit->depth] += PageGetMaxOffsetNumber(page);
	if (visit->depth == 0)
	{
		stats->has_root = has_bounds;
		stats->root = bounds;
	}
	if (has_bounds && stats->has_root)
		stats->sah_cost += part_of(&bounds, &stats->root);
	if (GistPageIsLeaf(page))
		add_leaf(stats, page, has_bounds ? &bounds : NULL);
	else
		count_overlaps(stats, page);
}

/* numbers by depth as an array from the leaves up */
static Datum
level_array(const int64 *numbers, int height)
{
	Datum elems[MAX_LEVELS];

	for (int i = 0; i < height; i++)
		elems[i] = Int64GetDatum(numbers[height - 1 - i]);
	return PointerGetDatum(construct_array(
		elems, height, INT8OID, sizeof(int64), FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

/*
 * bvh_stats(regclass) --- one row of figures about an index
 */
Datum
bvh_stats(PG_FUNCTION_ARGS)
{
	Relation index = bvh_open_index(PG_GETARG_OID(0), AccessShareLock, true);
	BvhWalker walker = {add_page, NULL};
	StatsContext stats = {0};
	Datum values[10];
	bool nulls[10] = {false};
	TupleDesc desc;
	int height;
	int64 npages = 0;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	bvh_walk(index, &walker, &stats);
	relation_close(index, AccessShareLock);

	height = stats.depth + 1;
	for (int i = 0; i < height; i++)
		npages += stats.pages[i];

	/* an empty index is a root without tuples */
	values[0] = Int32GetDatum(stats.tuples[0] == 0 ? 0 : height);
	values[1] = Int64GetDatum(npages);
	values[2] = Int64GetDatum(stats.tuples[height - 1]);
	values[3] = Int64GetDatum(stats.dead_tuples);
	values[4] = Float8GetDatum((double) stats.leaf_bytes /
							   ((double) stats.pages[height - 1] * GiSTPageSize));
	values[5] = Float8GetDatum(stats.sah_cost);
	values[6] = Float8GetDatum(
		stats.pairs > 0 ? (double) stats.overlapping_pairs / stats.pairs : 0.0);
	values[7] = Float8GetDatum(
		stats.page_volume > 0.0 ? 1.0 - stats.box_volume / stats.page_volume : 0.0);
	values[8] = level_array(stats.pages, height);
	values[9] = level_array(stats.tuples, height);
	PG_RETURN_DATUM(
		HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
