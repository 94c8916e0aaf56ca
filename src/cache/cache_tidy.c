/*-------------------------------------------------------------------------
 *
 * cache_tidy.c
 *	  Trees of indexes that are gone.
 *
 * Nobody asks for them again, so they would stay until others need their memory.
 * To drop a tree can only cost time; so it does not matter that a transaction that
 * dropped or rewrote an index may yet be undone, or is not seen yet.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/syscache.h"

#include "cache/cache_state.h"
#include "pg/compat.h"

/* has the index that file? */
static bool
has_file(const CacheKey *key)
{
	HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(key->index));
	Form_pg_class form;
	bool is_same;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_class) GETSTRUCT(tuple);
	is_same = form->relfilenode == key->file &&
			  (OidIsValid(form->reltablespace) ? form->reltablespace
											   : MyDatabaseTableSpace) == key->tablespace;
	ReleaseSysCache(tuple);
	return is_same;
}

/*
 * bvh_cache_is_gone --- is there no such file of such an index any more, as far as we
 * see?
 *
 * Of another database, that is not to be seen while it exists.
 */
bool
bvh_cache_is_gone(const CacheKey *key)
{
	if (key->database != MyDatabaseId)
		return !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(key->database));
	return key->folder != bvh_cache_folder() || !has_file(key);
}

/* free the entries of an index; of all that are gone, if that is InvalidOid */
static void
sweep(CacheControl *control, Oid index)
{
	for (int slot = 0; slot < CACHE_ENTRIES; slot++)
	{
		CacheEntry *entry = &control->entries[slot];
		CacheKey key;

		LWLockAcquire(&entry->lock, LW_SHARED);
		key = entry->key;
		LWLockRelease(&entry->lock);
		if (OidIsValid(index) ? key.index == index && key.database == MyDatabaseId
							  : OidIsValid(key.index) && bvh_cache_is_gone(&key))
			bvh_cache_free_entry(control, &key);
	}
	bvh_cache_detach_stale();
}

/* bvh_cache_tidy --- drop the trees of indexes that are gone, and those beyond the limit
 */
void
bvh_cache_tidy(CacheControl *control)
{
	sweep(control, InvalidOid);
	bvh_cache_trim(control);
}

/*
 * bvh_cache_forget_all --- drop the trees of an index, whatever files it has or had
 */
void
bvh_cache_forget_all(Oid index)
{
	CacheControl *control = bvh_cache_control();

	if (control != NULL)
		sweep(control, index);
}
