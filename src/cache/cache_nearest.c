/*-------------------------------------------------------------------------
 *
 * cache_nearest.c
 *	  Scans that a tree answers: by distance, or time of entry of a ray.
 *
 * The tree, the runs of the delta, and its rows in no run give their boxes by
 * distance each; the nearest of their heads is next.  A run is searched only
 * when no other is nearer than all that is in it can be.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "cache/cache_scan.h"

/* the next row of a stream */
static void
advance(NearestStream *stream)
{
	BvhNeighbour next;
	size_t n;

	bvh_check_status(bvh_tree_nearest_next(&stream->query, &next, 1, &n));
	if (n == 0)
	{
		bvh_tree_nearest_end(&stream->query);
		stream->state = STREAM_OVER;
		return;
	}
	stream->state = STREAM_OPEN;
	stream->distance = next.distance;
	stream->place = next.id;
}

static void
open_stream(BvhCacheScan *scan, NearestStream *stream)
{
	const BvhTree *tree = stream->run == NULL
							  ? scan->tree->tree
							  : delta_run_tree(scan->tree->delta, stream->run);

	bvh_tree_order_begin(&stream->query, tree, &scan->env, &scan->order, &scan->filter);
	stream->query.gives_places = true;
	advance(stream);
}

static void
add_stream(BvhCacheScan *scan, const BvhTree *tree, const DeltaRun *run)
{
	NearestStream *stream = &scan->streams[scan->nstreams];
	Box3 bounds;

	if (!bvh_tree_bounds(tree, &bounds))
		return;
	stream->state = STREAM_CLOSED;
	stream->distance = shape_distance(&scan->order, &bounds);
	stream->run = run;
	scan->nstreams++;
}

/* measure the rows of the delta that are in no run */
static void
measure_rows(BvhCacheScan *scan)
{
	const BvhItem *items = delta_items(scan->tree->delta);
	int n = (int) (scan->count - scan->runs->end);
	uint16 selected[DELTA_CHUNK];

	if (n > scan->rows_size)
	{
		if (scan->rows != NULL)
			pfree(scan->rows);
		scan->rows = MemoryContextAllocHuge(scan->context, n * sizeof(BvhNeighbour));
		scan->rows_size = n;
	}
	for (uint32 first = scan->runs->end; first < scan->count; first += DELTA_CHUNK)
	{
		int nselected = bvh_cache_select_rows(scan,
											  first,
											  (int) Min(DELTA_CHUNK, scan->count - first),
											  selected);

		for (int i = 0; i < nselected; i++)
		{
			BvhNeighbour *row = &scan->rows[scan->nrows++];

			row->id = first + selected[i];
			row->distance = shape_distance(&scan->order, &items[row->id].box);
		}
	}
}

/*
 * bvh_cache_nearest_begin --- search the rows that match, in an order
 *
 * Shapes and operands must stay until the scan is over.
 */
void
bvh_cache_nearest_begin(BvhCacheScan *scan, const BvhShape *order,
						const BvhFilter *filter)
{
	const DeltaRuns *runs = scan->runs;

	bvh_cache_nearest_end(scan);
	scan->order = *order;
	scan->filter = *filter;
	if (scan->streams_size < (int) runs->nruns + 1)
	{
		if (scan->streams != NULL)
			pfree(scan->streams);
		scan->streams_size = runs->nruns + 1;
		scan->streams = MemoryContextAlloc(scan->context,
										   scan->streams_size * sizeof(NearestStream));
	}
	add_stream(scan, scan->tree->tree, NULL);
	for (uint32 i = 0; i < runs->nruns; i++)
		add_stream(scan,
				   delta_run_tree(scan->tree->delta, &runs->runs[i]),
				   &runs->runs[i]);
	measure_rows(scan);
}

/* bvh_cache_nearest_end --- release the memory of a search, if there is one */
void
bvh_cache_nearest_end(BvhCacheScan *scan)
{
	for (int i = 0; i < scan->nstreams; i++)
		if (scan->streams[i].state == STREAM_OPEN)
			bvh_tree_nearest_end(&scan->streams[i].query);
	scan->nstreams = 0;
	scan->nrows = 0;
	scan->taken = NULL;
}

/* the stream with the nearest head; at equal distances one that is not open yet */
static NearestStream *
nearest_stream(BvhCacheScan *scan)
{
	NearestStream *best = NULL;

	for (int i = 0; i < scan->nstreams; i++)
	{
		NearestStream *stream = &scan->streams[i];

		if (stream->state != STREAM_OVER &&
			(best == NULL || stream->distance < best->distance ||
			 (stream->distance == best->distance && stream->state == STREAM_CLOSED)))
			best = stream;
	}
	return best;
}

static BvhNeighbour *
nearest_row(BvhCacheScan *scan)
{
	BvhNeighbour *best = NULL;

	for (int i = 0; i < scan->nrows; i++)
		if (best == NULL || scan->rows[i].distance < best->distance)
			best = &scan->rows[i];
	return best;
}

/*
 * bvh_cache_nearest_next --- the next row by distance; false at the end
 */
bool
bvh_cache_nearest_next(BvhCacheScan *scan, BvhCacheMatch *match, double *distance)
{
	for (;;)
	{
		NearestStream *stream;
		BvhNeighbour *row;
		bool is_alive;

		/* not before it is asked for: most searches end early */
		if (scan->taken != NULL)
			advance(scan->taken);
		scan->taken = NULL;

		stream = nearest_stream(scan);
		row = nearest_row(scan);
		if (stream == NULL && row == NULL)
			return false;
		if (row == NULL || (stream != NULL && stream->distance <= row->distance))
		{
			if (stream->state == STREAM_CLOSED)
			{
				open_stream(scan, stream);
				continue;
			}
			*distance = stream->distance;
			is_alive = bvh_cache_match(scan, stream->query.tree, stream->place, match);
			scan->taken = stream;
		}
		else
		{
			*distance = row->distance;
			is_alive = bvh_cache_match(scan, NULL, row->id, match);
			*row = scan->rows[--scan->nrows];
		}
		if (is_alive)
			return true;
		CHECK_FOR_INTERRUPTS();
	}
}
