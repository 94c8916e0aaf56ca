/*-------------------------------------------------------------------------
 *
 * bridge.c
 *	  What the core asks of its caller, given by PostgreSQL.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>

#include "miscadmin.h"
#include "utils/memutils.h"

#include "pg/bridge.h"

/* chunks from this size on are asked for in huge pages, which are this large */
#define HUGE_CHUNK ((Size) 4 * 1024 * 1024)
#define HUGE_PAGE  ((Size) 2 * 1024 * 1024)

/*
 * bvh_prefer_huge_pages --- hint for a chunk that will be walked through at random
 *
 * Without it, a large tree costs as much time in page faults as in the build.
 */
void
bvh_prefer_huge_pages(void *chunk, Size size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t start = TYPEALIGN(HUGE_PAGE, (uintptr_t) chunk);
	uintptr_t end = TYPEALIGN_DOWN(HUGE_PAGE, (uintptr_t) chunk + size);

	/* a hint: where it is not followed, nothing is lost */
	if (size >= HUGE_CHUNK && start < end)
		(void) madvise((void *) start, end - start, MADV_HUGEPAGE);
#endif
}

/* does not return when there is no memory; may be larger than 1 GB */
void *
bvh_memory_alloc(BvhMemory *memory, Size size)
{
	void *chunk = MemoryContextAllocHuge(memory->cxt, size);

	bvh_prefer_huge_pages(chunk, size);
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

/*
 * bvh_memory_grow --- a larger chunk with the same first bytes; a first one, if
 * there is none yet
 *
 * Copied, as a reallocation that moves pages breaks huge ones.
 */
void *
bvh_memory_grow(BvhMemory *memory, void *chunk, Size used, Size size)
{
	void *larger = bvh_memory_alloc(memory, size);

	if (chunk != NULL)
	{
		memcpy(larger, chunk, used);
		bvh_memory_free(memory, chunk);
	}
	return larger;
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
