/*-------------------------------------------------------------------------
 *
 * am_vacuum.c
 *	  VACUUM, which is core's; the cache is told of it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "am/bvh.h"
#include "cache/cache.h"
#include "pg/pause.h"

IndexBulkDeleteResult *
bvhbulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			  IndexBulkDeleteCallback callback, void *callback_state)
{
	stats = gistbulkdelete(info, stats, callback, callback_state);
	bvh_pause("deleted");
	bvh_cache_after_bulk_delete(info->index, callback, callback_state);
	return stats;
}
