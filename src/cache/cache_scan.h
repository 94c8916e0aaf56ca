/*-------------------------------------------------------------------------
 *
 * cache_scan.h
 *	  A scan that a tree answers: what its two kinds share.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_CACHE_SCAN_H
#define BVH_CACHE_SCAN_H

#include "utils/palloc.h"

#include "cache/cache_state.h"
#include "pg/bridge.h"

/* one of the trees that a search by distance goes through at once */
typedef struct NearestStream
{
	enum
	{
		STREAM_CLOSED, /* distance is a lower bound */
		STREAM_OPEN,
		STREAM_OVER
	} state;
	double distance; /* of the next row */
	uint64 place;
	const DeltaRun *run; /* NULL: the tree */
	BvhNearestQuery query;
} NearestStream;

struct BvhCacheScan
{
	MemoryContext context;
	MemoryContextCallback callback;
	BvhMemory memory;
	BvhEnv env;

	/* as of the start */
	CacheEntry *entry;
	CacheTree *tree; /* NULL between scans */
	const DeltaRuns *runs;
	uint32 count; /* of rows in the delta, with those in the tree */
	bool has_nulls;
	uint64 vacuums;

	/* what is searched for */
	BvhFilter filter;

	/* in no order: which tree, and which row when it is through with trees */
	uint32 part;
	uint32 next_row;
	BvhRangeQuery query;

	/* by distance */
	BvhShape order;
	int nstreams;
	int streams_size;
	NearestStream *streams;
	NearestStream *taken; /* the last row was from there */
	int nrows;
	int rows_size;
	BvhNeighbour *rows; /* of the delta in no run */
};

extern bool bvh_cache_match(const BvhCacheScan *scan, const BvhTree *tree, uint64 place,
							BvhCacheMatch *match);

extern int bvh_cache_select_rows(const BvhCacheScan *scan, uint32 first, int n,
								 uint16 *selected);

extern void bvh_cache_nearest_end(BvhCacheScan *scan);

#endif /* BVH_CACHE_SCAN_H */
