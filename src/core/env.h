/*-------------------------------------------------------------------------
 *
 * env.h
 *	  What the core asks of whoever calls it: memory and a chance to stop.
 *
 * Either callback may not return, because PostgreSQL's jump out of them; so
 * the core holds nothing across a call but memory of this very allocator,
 * which is the caller's to release as a whole.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_ENV_H
#define BVH_ENV_H

#include "core/base.h"

typedef enum BvhStatus
{
	BVH_OK,
	BVH_NO_MEMORY, /* alloc() gave NULL; all memory of that call is released */
	BVH_TOO_MANY   /* more boxes than BVH_MOST_BOXES */
} BvhStatus;

typedef struct BvhEnv
{
	/* aligned to 8 bytes at least; NULL when there is no memory */
	void *(*alloc)(void *context, size_t size);
	void (*release)(void *context, void *chunk);
	/* called every millisecond or so */
	void (*tick)(void *context);
	void *context;
} BvhEnv;

#endif /* BVH_ENV_H */
