/*-------------------------------------------------------------------------
 *
 * cache_view.c
 *	  What is cached, for SQL.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "cache/cache_state.h"
#include "pg/compat.h"
#include "pg/settings.h"

BVH_FUNCTION(bvh_cache_entries);
BVH_FUNCTION(bvh_cache_memory);

/* one row of the view */
#define COLUMNS 11

/*
 * is_shown --- is it an index of this database, as it is now, that the caller
 * may know of?
 */
static bool
is_shown(const CacheKey *key)
{
	return key->database == MyDatabaseId && !bvh_cache_is_gone(key) &&
		   (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
			bvh_owns_relation(key->index));
}

static const char *
state_of(CacheEntry *entry)
{
	bool has_tree = pg_atomic_read_u64(&entry->serial) != 0;

	if (pg_atomic_read_u64(&entry->building) != 0)
		return has_tree ? "rebuilding" : "building";
	return has_tree ? "ready" : "cold";
}

/* bvh_cache_entries() --- the rows of view bvh_cache */
Datum
bvh_cache_entries(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	CacheControl *control = bvh_cache_control();

	InitMaterializedSRF(fcinfo, 0);
	if (control != NULL && !RecoveryInProgress())
		bvh_cache_tidy(control);
	for (int slot = 0; control != NULL && slot < CACHE_ENTRIES; slot++)
	{
		CacheEntry *entry = &control->entries[slot];
		Datum values[COLUMNS];
		bool nulls[COLUMNS] = {false};
		CacheKey key;
		uint64 hits = 0;
		int i = 0;

		LWLockAcquire(&entry->lock, LW_SHARED);
		key = entry->key;
		for (int stripe = 0; stripe < CACHE_STRIPES; stripe++)
			hits += pg_atomic_read_u64(&control->stripes[slot][stripe].hits);
		values[i++] = ObjectIdGetDatum(key.index);
		values[i++] = CStringGetTextDatum(state_of(entry));
		values[i++] = Int64GetDatum((int64) pg_atomic_read_u64(&entry->serial));
		values[i++] = Int64GetDatum((int64) entry->nboxes);
		values[i++] = Int64GetDatum((int64) entry->ninserted);
		values[i++] = Int64GetDatum((int64) entry->bytes);
		values[i++] = Int64GetDatum((int64) hits);
		values[i++] = Int64GetDatum((int64) pg_atomic_read_u64(&entry->misses));
		values[i++] = Int64GetDatum((int64) entry->nbuilds);
		nulls[i] = entry->nbuilds == 0;
		values[i++] = TimestampTzGetDatum(entry->last_build);
		nulls[i] = entry->nbuilds == 0;
		values[i++] = Float8GetDatum(entry->last_build_ms);
		LWLockRelease(&entry->lock);

		if (is_shown(&key))
			tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}

/*
 * bvh_cache_memory() --- what the memory for trees is used for, in bytes
 */
Datum
bvh_cache_memory(PG_FUNCTION_ARGS)
{
	CacheControl *control = bvh_cache_control();
	enum
	{
		LIMIT,
		USED,
		HERE,
		ELSEWHERE,
		GONE,
		OLD,
		MEMORY_COLUMNS
	};
	int64 bytes[MEMORY_COLUMNS] = {0};
	Datum values[MEMORY_COLUMNS];
	bool nulls[MEMORY_COLUMNS] = {false};
	TupleDesc desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	bytes[LIMIT] = (int64) bvh_cache_size * 1024;
	for (int slot = 0; control != NULL && slot < CACHE_ENTRIES; slot++)
	{
		CacheEntry *entry = &control->entries[slot];
		CacheKey key;
		int64 size;

		LWLockAcquire(&entry->lock, LW_SHARED);
		key = entry->key;
		size = (int64) entry->bytes;
		LWLockRelease(&entry->lock);
		if (size == 0)
			continue;
		if (bvh_cache_is_gone(&key))
			bytes[GONE] += size;
		else
			bytes[key.database == MyDatabaseId ? HERE : ELSEWHERE] += size;
	}
	/* not of the same moment as the others */
	if (control != NULL)
		bytes[USED] = (int64) pg_atomic_read_u64(&control->used);
	bytes[OLD] = Max(bytes[USED] - bytes[HERE] - bytes[ELSEWHERE] - bytes[GONE], 0);
	for (int i = 0; i < MEMORY_COLUMNS; i++)
		values[i] = Int64GetDatum(bytes[i]);
	PG_RETURN_DATUM(
		HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}
