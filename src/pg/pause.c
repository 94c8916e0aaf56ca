/*-------------------------------------------------------------------------
 *
 * pause.c
 *	  Places where tests can stop a backend, in builds with assertions.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"

#include "pg/pause.h"

#ifdef USE_ASSERT_CHECKING

/* the place's lock is its number here, and 70 */
static const char *const places[] =
	{"inserted", "collected", "built", "deleted", "doomed", "forgotten"};

char *bvh_pause_at;

/* bvh_pause --- wait if the session is to; no lock of the server's own may be held */
void
bvh_pause(const char *place)
{
	int64 lock = 70;

	if (bvh_pause_at == NULL || strcmp(bvh_pause_at, place) != 0)
		return;
	while (strcmp(places[lock - 70], place) != 0)
		lock++;
	(void) DirectFunctionCall1(pg_advisory_lock_shared_int8, Int64GetDatum(lock));
	(void) DirectFunctionCall1(pg_advisory_unlock_shared_int8, Int64GetDatum(lock));
}

#endif
