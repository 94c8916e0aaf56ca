/*-------------------------------------------------------------------------
 *
 * am_cache.c
 *	  Loading and dropping the tree of an index, from SQL; and when the index goes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "catalog/index.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_class.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "am/am_walk.h"
#include "am/bvh.h"
#include "cache/cache.h"
#include "pg/compat.h"

BVH_FUNCTION(bvh_cache_load);
BVH_FUNCTION(bvh_cache_drop);

static object_access_hook_type previous_access;

static inline bool
is_bvh_index(Relation index)
{
	return index->rd_indam->ambeginscan == bvhbeginscan;
}

/*
 * bvh_cache_load(regclass) --- see that the index has a tree in shared memory
 *
 * For those who may read the table, whose searches would do the same.
 */
Datum
bvh_cache_load(PG_FUNCTION_ARGS)
{
	Relation index = bvh_open_index(PG_GETARG_OID(0), AccessShareLock, false);
	Oid table = index->rd_index->indrelid;
	AclResult result = pg_class_aclcheck(table, GetUserId(), ACL_SELECT);
	int64 nboxes;

	if (result != ACLCHECK_OK)
		aclcheck_error(result, OBJECT_INDEX, RelationGetRelationName(index));
	nboxes = bvh_cache_build_now(index);
	relation_close(index, AccessShareLock);
	PG_RETURN_INT64(nboxes);
}

/*
 * bvh_cache_drop(regclass) --- free the tree of an index; true if there was one
 */
Datum
bvh_cache_drop(PG_FUNCTION_ARGS)
{
	Relation index = bvh_open_index(PG_GETARG_OID(0), AccessShareLock, false);
	bool was_there;

	if (!bvh_owns_relation(RelationGetRelid(index)))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(index));
	was_there = bvh_cache_forget(index);
	relation_close(index, AccessShareLock);
	PG_RETURN_BOOL(was_there);
}

/* an index is about to be dropped: nobody else uses it now */
static void
on_access(ObjectAccessType access, Oid class_oid, Oid oid, int column, void *arg)
{
	if (previous_access != NULL)
		previous_access(access, class_oid, oid, column, arg);
	if (access == OAT_DROP && class_oid == RelationRelationId && column == 0 &&
		get_rel_relkind(oid) == RELKIND_INDEX)
	{
		Relation index = index_open(oid, AccessShareLock);

		if (is_bvh_index(index))
			bvh_cache_forget_all(oid);
		index_close(index, AccessShareLock);
	}
}

/* bvh_cache_watch_drops --- once, when the library is loaded */
void
bvh_cache_watch_drops(void)
{
	previous_access = object_access_hook;
	object_access_hook = on_access;
}
