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
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "cache/cache_state.h"
#include "pg/compat.h"

BVH_FUNCTION(bvh_cache_entries);

/* one row of the view */
#define COLUMNS 11

/*
 * is_shown --- is it an index of this database, as it is now, that the caller
 * may know of?
 */
static bool
is_shown(const CacheKey *key)
{
	HeapTuple tuple;
	bool is_same;

	if (key->database != MyDatabaseId)
		return false;
	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(key->index));
	if (!HeapTupleIsValid(tuple))
		return false;
	is_same = ((Form_pg_class) GETSTRUCT(tuple))->relfilenode == key->file;
	ReleaseSysCache(tuple);
	return is_same && (has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS) ||
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
