/*-------------------------------------------------------------------------
 *
 * bridge.c
 *	  What the core asks of its caller, given by PostgreSQL.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/bridge.h"

/* does not return when there is no memory; may be larger than 1 GB */
void *
bvh_memory_alloc(BvhMemory *memory, Size size)
{
	void *chunk = MemoryContextAllocHuge(memory->cxt, size);

	memory->used += GetMemoryChunkSpace(chunk);
	memory->peak = Max(memory->peak, memory->used);
	return chunk;
}

/*
 * bvh_memory_grow --- the chunk with more room; the first one if it is NULL
 *
 * Large ones are moved by the kernel, not copied, and so are never there twice.
 */
void *
bvh_memory_grow(BvhMemory *memory, void *chunk, Size size)
{
	if (chunk == NULL)
		return bvh_memory_alloc(memory, size);
	memory->used -= GetMemoryChunkSpace(chunk);
	chunk = repalloc_huge(chunk, size);
	memory->used += GetMemoryChunkSpace(chunk);
	memory->peak = Max(memory->peak, memory->used);
	return chunk;
}

void
bvh_memory_free(BvhMemory *memory, void *chunk)
{
	memory->used -= GetMemoryChunkSpace(chunk);
	pfree(chunk);
}

static void *
env_alloc(void *context, size_t size)
{
	return bvh_memory_alloc(context, size);
}

static void
env_release(void *context, void *chunk)
{
	if (chunk != NULL)
		bvh_memory_free(context, chunk);
}

static void
env_tick(void *context)
{
	CHECK_FOR_INTERRUPTS();
}

void
bvh_env_init(BvhEnv *env, BvhMemory *memory)
{
	env->alloc = env_alloc;
	env->release = env_release;
	env->tick = env_tick;
	env->context = memory;
}

/* the error for a status; nothing for BVH_OK */
void
bvh_check_status(BvhStatus status)
{
	switch (status)
	{
		case BVH_OK:
			break;
		case BVH_NO_MEMORY:
			ereport(ERROR, errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory"));
			break;
		case BVH_TOO_MANY:
			ereport(ERROR,
					errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					errmsg("too many boxes in memory"));
			break;
	}
}
