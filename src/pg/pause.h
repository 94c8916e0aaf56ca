/*-------------------------------------------------------------------------
 *
 * pause.h
 *	  Places where tests can stop a backend, in builds with assertions.
 *
 * A session with bvhindex.pause_at = 'place' waits there for an advisory lock, which
 * is the place's (see pause.c); so a test says in which order two sessions do what
 * takes them no time.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_PAUSE_H
#define BVH_PAUSE_H

#ifdef USE_ASSERT_CHECKING
extern char *bvh_pause_at;
extern void bvh_pause(const char *place);
#else
#define bvh_pause(place) ((void) 0)
#endif

#endif /* BVH_PAUSE_H */
