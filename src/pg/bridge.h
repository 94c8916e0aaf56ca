/*-------------------------------------------------------------------------
 *
 * bridge.h
 *	  What the core asks of its caller, given by PostgreSQL: memory of a
 *	  context, errors for statuses, interrupts.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BRIDGE_H
#define BVH_BRIDGE_H

#include "nodes/memnodes.h"

#include "core/env.h"

/* memory of one context, counted */
typedef struct BvhMemory
{
	MemoryContext cxt;
	Size used;
	Size peak;
} BvhMemory;

extern void bvh_prefer_huge_pages(void *chunk, Size size);
extern void *bvh_memory_alloc(BvhMemory *memory, Size size);
extern void *bvh_memory_grow(BvhMemory *memory, void *chunk, Size used, Size size);
extern void bvh_memory_free(BvhMemory *memory, void *chunk);
extern void bvh_env_init(BvhEnv *env, BvhMemory *memory);
extern void bvh_check_status(BvhStatus status);

#endif /* BVH_BRIDGE_H */
