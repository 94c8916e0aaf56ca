/*-------------------------------------------------------------------------
 *
 * bvhindex.c
 *	  Entry point of the library.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "am/bvh.h"
#include "cache/cache.h"
#include "join/join.h"
#include "pg/settings.h"
#include "type/box3d_plan.h"

PG_MODULE_MAGIC;

extern PGDLLEXPORT void _PG_init(void);

void
_PG_init(void)
{
	bvh_define_settings();
	bvh_define_options();
	box3d_bound_install();
	bvh_join_install();
	bvh_page_init();
	bvh_cache_install();
	bvh_cached_install();
	bvh_cache_watch_drops();
}
