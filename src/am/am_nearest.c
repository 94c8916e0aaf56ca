/*-------------------------------------------------------------------------
 *
 * am_nearest.c
 *	  Ordered scans of a bvh index: nearest first.
 *
 * Best first search (Hjaltason and Samet, "Distance browsing in spatial
 * databases", 1999).  A page that has been read is a run: its items, as a
 * binary heap by distance.  The queue is a heap of runs by their nearest
 * item, so a page enters it once, not once for each of its items, and items
 * that are never reached are never sorted.
 *
 * Distances, or times of entry, are those of the operator, computed by the same
 * steps for boxes and for the unions above them, so a union is never farther than
 * what is below it and rows leave in exact order.  At equal distances, rows come
 * before pages, and NULL comes after all numbers.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "am/bvh.h"
#include "core/simd/kernels.h"
#include "pg/compat.h"
#include "type/box3d.h"

/* 16 bytes */
typedef struct Candidate
{
	uint64 key;          /* by the first of the ordering operators: distance_key() */
	ItemPointerData tid; /* of a row, or whose block is a page */
	uint16 number;       /* which of the run: for what else is known of it */
} Candidate;

/* no distance: after all others */
#define NULL_KEY PG_UINT64_MAX

typedef struct Run
{
	bool is_leaf;
	GistNSN lsn; /* of the page, for the children */
	int n;
	char *tuples;    /* of a leaf, copied for an index-only scan; or NULL */
	uint16 *places;  /* where each candidate is among them */
	double *further; /* distances of the other operators, or NULL */
	Candidate heap[FLEXIBLE_ARRAY_MEMBER];
} Run;

struct BvhNearest
{
	MemoryContext context; /* of runs; reset by rescan */
	int nfurther;          /* ordering operators beyond the first */

	Run **queue; /* binary heap by the runs' first candidates */
	int nqueue;
	int queue_size;

	Run *returned; /* run of the last row, which may point into it */

	/* scratch of reading a page */
	double distance[BVH_MAX_ITEMS];
	Oid *types;
	IndexOrderByDistance *values;
};

BvhNearest *
bvh_nearest_begin(IndexScanDesc scan)
{
	int norderbys = scan->numberOfOrderBys;
	BvhNearest *nearest = palloc0(sizeof(BvhNearest));

	nearest->context = AllocSetContextCreate(CurrentMemoryContext,
											 "bvh nearest",
											 ALLOCSET_DEFAULT_SIZES);
	nearest->nfurther = norderbys - 1;
	nearest->queue_size = 64;
	nearest->queue = palloc(sizeof(Run *) * nearest->queue_size);
	nearest->types = palloc(sizeof(Oid) * norderbys);
	nearest->values = palloc(sizeof(IndexOrderByDistance) * norderbys);
	for (int i = 0; i < norderbys; i++)
		nearest->types[i] = FLOAT8OID;
	scan->xs_orderbyvals = palloc0(sizeof(Datum) * norderbys);
	scan->xs_orderbynulls = palloc(sizeof(bool) * norderbys);
	memset(scan->xs_orderbynulls, true, sizeof(bool) * norderbys);
	return nearest;
}

void
bvh_nearest_rescan(IndexScanDesc scan)
{
	BvhNearest *nearest = ((BvhScanOpaque) scan->opaque)->nearest;

	MemoryContextReset(nearest->context);
	nearest->nqueue = 0;
	nearest->returned = NULL;
}

/* a number that orders distances, which are not negative */
static inline uint64
distance_key(double distance)
{
	uint64 key;

	/* not -0.0 */
	distance += 0.0;
	memcpy(&key, &distance, sizeof(key));
	return key;
}

static inline double
key_distance(uint64 key)
{
	double distance;

	memcpy(&distance, &key, sizeof(distance));
	return distance;
}

/* does candidate a of run ra come before b of rb, which is as near? */
static pg_noinline bool
breaks_tie(const BvhNearest *nearest, const Run *ra, const Candidate *a, const Run *rb,
		   const Candidate *b)
{
	for (int i = 0; i < nearest->nfurther; i++)
	{
		double da = ra->further[a->number * nearest->nfurther + i];
		double db = rb->further[b->number * nearest->nfurther + i];

		/* NaN stands for NULL, which is after all numbers */
		if (isnan(da) != isnan(db))
			return isnan(db);
		if (da != db && !isnan(da))
			return da < db;
	}
	return ra->is_leaf && !rb->is_leaf;
}

/* does candidate a of run ra come before b of rb? */
static inline bool
comes_before(const BvhNearest *nearest, const Run *ra, const Candidate *a, const Run *rb,
			 const Candidate *b)
{
	if (a->key != b->key)
		return a->key < b->key;
	return breaks_tie(nearest, ra, a, rb, b);
}

/* move the candidate at the top of a run's heap down to its place */
static void
sift_candidate(const BvhNearest *nearest, Run *run, int hole)
{
	Candidate moving = run->heap[hole];

	for (;;)
	{
		int child = 2 * hole + 1;

		if (child >= run->n)
			break;
		if (child + 1 < run->n &&
			comes_before(nearest, run, &run->heap[child + 1], run, &run->heap[child]))
			child++;
		if (!comes_before(nearest, run, &run->heap[child], run, &moving))
			break;
		run->heap[hole] = run->heap[child];
		hole = child;
	}
	run->heap[hole] = moving;
}

static bool
run_before(const BvhNearest *nearest, const Run *a, const Run *b)
{
	return comes_before(nearest, a, &a->heap[0], b, &b->heap[0]);
}

/* move the run at a place of the queue down to where it belongs */
static void
sift_run(BvhNearest *nearest, int hole)
{
	Run *moving = nearest->queue[hole];

	for (;;)
	{
		int child = 2 * hole + 1;

		if (child >= nearest->nqueue)
			break;
		if (child + 1 < nearest->nqueue &&
			run_before(nearest, nearest->queue[child + 1], nearest->queue[child]))
			child++;
		if (!run_before(nearest, nearest->queue[child], moving))
			break;
		nearest->queue[hole] = nearest->queue[child];
		hole = child;
	}
	nearest->queue[hole] = moving;
}

static void
free_run(Run *run)
{
	if (run->tuples != NULL)
	{
		pfree(run->tuples);
		pfree(run->places);
	}
	if (run->further != NULL)
		pfree(run->further);
	pfree(run);
}

/* put a run with candidates into the queue; an empty one is freed */
static void
add_run(BvhNearest *nearest, Run *run)
{
	int hole;

	if (run->n == 0)
	{
		free_run(run);
		return;
	}
	for (int i = run->n / 2 - 1; i >= 0; i--)
		sift_candidate(nearest, run, i);

	if (nearest->nqueue == nearest->queue_size)
	{
		nearest->queue_size *= 2;
		nearest->queue = repalloc_huge(nearest->queue,
									   sizeof(Run *) * nearest->queue_size);
	}
	hole = nearest->nqueue++;
	while (hole > 0 && run_before(nearest, run, nearest->queue[(hole - 1) / 2]))
	{
		nearest->queue[hole] = nearest->queue[(hole - 1) / 2];
		hole = (hole - 1) / 2;
	}
	nearest->queue[hole] = run;
}

static Run *
new_run(BvhNearest *nearest, bool is_leaf, GistNSN lsn, int room)
{
	Run *run = MemoryContextAlloc(nearest->context,
								  offsetof(Run, heap) + sizeof(Candidate) * room);

	run->is_leaf = is_leaf;
	run->lsn = lsn;
	run->n = 0;
	run->tuples = NULL;
	run->places = NULL;
	run->further = NULL;
	if (nearest->nfurther > 0)
		run->further = MemoryContextAlloc(nearest->context,
										  sizeof(double) * nearest->nfurther *
											  Max(room, 1));
	return run;
}

/* a page by itself, as far away as what led to it */
static void
add_page(BvhNearest *nearest, BlockNumber blkno, GistNSN parent_lsn, const Run *from,
		 const Candidate *like)
{
	Run *run = new_run(nearest, false, parent_lsn, 1);

	run->heap[0].key = like != NULL ? like->key : distance_key(0.0);
	run->heap[0].number = 0;
	ItemPointerSet(&run->heap[0].tid, blkno, FirstOffsetNumber);
	for (int i = 0; i < nearest->nfurther; i++)
		run->further[i] = like != NULL
							  ? from->further[like->number * nearest->nfurther + i]
							  : 0.0;
	run->n = 1;
	add_run(nearest, run);
}

/* where a tuple of a page is among the copies of them; see copy_tuples() */
static inline uint16
place_of(IndexScanDesc scan, Page page, uint16 tuple)
{
	const PageHeaderData *header = (PageHeader) page;

	if (unlikely(tuple < header->pd_upper || tuple >= header->pd_special))
		ereport(ERROR,
				errcode(ERRCODE_INDEX_CORRUPTED),
				errmsg("a page of index \"%s\" has an item outside of its tuples",
					   RelationGetRelationName(scan->indexRelation)),
				errhint("Please REINDEX it."));
	return tuple - header->pd_upper;
}

/* take an item of a locked page into a run, unless its row cannot be seen */
static inline void
add_candidate(IndexScanDesc scan, Run *run, Page page, uint16 tuple, uint64 key)
{
	IndexTuple itup = (IndexTuple) (page + tuple);
	Candidate *candidate = &run->heap[run->n];

	if (run->is_leaf && bvh_needs_visibility(scan) && !bvh_is_visible(scan, &itup->t_tid))
		return;
	candidate->key = key;
	candidate->tid = itup->t_tid;
	candidate->number = run->n;
	if (run->tuples != NULL)
		run->places[run->n] = place_of(scan, page, tuple);
	run->n++;
}

/* copy the items of a locked leaf, all at once, as an index-only scan needs some */
static void
copy_tuples(BvhNearest *nearest, Run *run, Page page, int room)
{
	const PageHeaderData *header = (PageHeader) page;
	Size size = header->pd_special - header->pd_upper;

	run->tuples = MemoryContextAlloc(nearest->context, size);
	run->places = MemoryContextAlloc(nearest->context, sizeof(uint16) * Max(room, 1));
	memcpy(run->tuples, page + header->pd_upper, size);
}

/* the value of one ordering operator */
static double
distance_of(const ScanKeyData *key, const Box3 *box)
{
	BvhShape shape = bvh_key_shape(key);

	return shape_distance(&shape, box);
}

/* distances of the further ordering operators for the run's last candidate */
static void
add_further(IndexScanDesc scan, Run *run, const Box3 *box)
{
	int nfurther = ((BvhScanOpaque) scan->opaque)->nearest->nfurther;

	for (int i = 0; i < nfurther; i++)
	{
		ScanKey key = &scan->orderByData[i + 1];
		bool is_null = box == NULL || (key->sk_flags & SK_ISNULL);

		run->further[(run->n - 1) * nfurther + i] = is_null ? NAN : distance_of(key, box);
	}
}

/* the items of a locked page that may match, as a run */
static Run *
read_run(IndexScanDesc scan, Page page, GistNSN lsn)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	BvhNearest *nearest = so->nearest;
	BvhPageItems *items = &so->items;
	ScanKey order = &scan->orderByData[0];
	bool is_leaf = GistPageIsLeaf(page);
	bool is_null = (order->sk_flags & SK_ISNULL) != 0;
	int n = 0;
	Run *run;

	bvh_page_items(scan->indexRelation, page, scan->ignore_killed_tuples, items);

	/* where NULLs are searched, no operator has narrowed the range */
	if (!is_leaf || so->match_boxes)
	{
		n = items->nboxes;
		if (scan->numberOfKeys > 0)
		{
			n = bvh_select(so, page, is_leaf);
			for (int i = 0; i < n; i++)
			{
				items->box_room[i] = items->box[so->selected[i]];
				items->tuple_room[i] = items->tuple[so->selected[i]];
			}
			items->box = items->box_room;
			items->tuple = items->tuple_room;
		}
		if (!is_null && order->sk_strategy == BVH_DISTANCE)
			bvh_kernels->distances(page,
								   items->box,
								   n,
								   DatumGetBox3P(order->sk_argument),
								   nearest->distance);
		else if (!is_null)
			for (int i = 0; i < n; i++)
				nearest->distance[i] = distance_of(order,
												   (const Box3 *) (page + items->box[i]));
	}

	run = new_run(nearest, is_leaf, lsn, n + items->nnulls);
	if (is_leaf && scan->xs_want_itup)
		copy_tuples(nearest, run, page, n + items->nnulls);
	for (int i = 0; i < n; i++)
	{
		int before = run->n;

		add_candidate(scan,
					  run,
					  page,
					  items->tuple[i],
					  is_null ? NULL_KEY : distance_key(nearest->distance[i]));
		if (run->n > before && nearest->nfurther > 0)
			add_further(scan, run, (const Box3 *) (page + items->box[i]));
	}
	if (so->match_nulls)
		for (int i = 0; i < items->nnulls; i++)
		{
			int before = run->n;

			add_candidate(scan, run, page, items->null_tuple[i], NULL_KEY);
			if (run->n > before && nearest->nfurther > 0)
				add_further(scan, run, NULL);
		}
	return run;
}

/* read a page into the queue */
static void
open_page(IndexScanDesc scan, const Run *from, const Candidate *page_ref,
		  GistNSN parent_lsn)
{
	BvhNearest *nearest = ((BvhScanOpaque) scan->opaque)->nearest;
	BlockNumber blkno = page_ref != NULL ? ItemPointerGetBlockNumber(&page_ref->tid)
										 : GIST_ROOT_BLKNO;
	BlockNumber right;
	Buffer buffer;
	bool has_items;
	Run *run = NULL;

	has_items = bvh_read_page(scan, blkno, parent_lsn, &buffer, &right);
	if (has_items)
	{
		run = read_run(scan, BufferGetPage(buffer), BufferGetLSNAtomic(buffer));
		UnlockReleaseBuffer(buffer);
	}
	if (right != InvalidBlockNumber)
		add_page(nearest, right, parent_lsn, from, page_ref);
	if (has_items)
		add_run(nearest, run);
}

/* remove the nearest candidate of all; its run stays valid */
static Candidate
take_nearest(BvhNearest *nearest, Run **from)
{
	Run *run = nearest->queue[0];
	Candidate top = run->heap[0];

	run->heap[0] = run->heap[--run->n];
	if (run->n > 0)
		sift_candidate(nearest, run, 0);
	else
		nearest->queue[0] = nearest->queue[--nearest->nqueue];
	if (nearest->nqueue > 0)
		sift_run(nearest, 0);
	*from = run;
	return top;
}

/* hand a row to the executor */
static void
return_row(IndexScanDesc scan, const Run *run, const Candidate *row)
{
	BvhNearest *nearest = ((BvhScanOpaque) scan->opaque)->nearest;

	scan->xs_heaptid = row->tid;
	scan->xs_recheck = false;
	if (scan->xs_want_itup)
		scan->xs_itup = (IndexTuple) (run->tuples + run->places[row->number]);

	nearest->values[0].value = key_distance(row->key);
	nearest->values[0].isnull = row->key == NULL_KEY;
	for (int i = 0; i < nearest->nfurther; i++)
	{
		nearest->values[i + 1].value = run->further[row->number * nearest->nfurther + i];
		nearest->values[i + 1].isnull = isnan(nearest->values[i + 1].value);
	}
	index_store_float8_orderby_distances(scan, nearest->types, nearest->values, false);
}

/*
 * bvh_nearest_next --- fetch the next row of an ordered scan
 */
bool
bvh_nearest_next(IndexScanDesc scan)
{
	BvhScanOpaque so = (BvhScanOpaque) scan->opaque;
	BvhNearest *nearest = so->nearest;

	/* the root is on the stack of a scan that has just started */
	if (so->nstack > 0)
	{
		so->nstack = 0;
		open_page(scan, NULL, NULL, InvalidXLogRecPtr);
	}
	if (nearest->returned != NULL)
	{
		if (nearest->returned->n == 0)
			free_run(nearest->returned);
		nearest->returned = NULL;
	}

	while (nearest->nqueue > 0)
	{
		Run *run;
		Candidate top = take_nearest(nearest, &run);

		if (run->is_leaf)
		{
			return_row(scan, run, &top);
			nearest->returned = run;
			return true;
		}
		CHECK_FOR_INTERRUPTS();
		open_page(scan, run, &top, run->lsn);
		if (run->n == 0)
			free_run(run);
	}
	return false;
}
