/*-------------------------------------------------------------------------
 *
 * bench.h
 *	  What the benches of the core share: numbers, time and memory.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BENCH_H
#define BVH_BENCH_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "core/simd/kernels.h"

static uint64_t random_state = 42;

/* SplitMix64 */
static inline double
unit(void)
{
	uint64_t z = random_state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return (double) ((z ^ z >> 31) >> 11) * 0x1p-53;
}

static inline double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static inline void *
must_alloc(size_t size)
{
	void *p = malloc(size);

	if (p == NULL)
		abort();
	return p;
}

static inline void *
env_alloc(void *context, size_t size)
{
	(void) context;
	return malloc(size);
}

static inline void
env_release(void *context, void *chunk)
{
	(void) context;
	free(chunk);
}

static inline void
env_tick(void *context)
{
	++*(uint64_t *) context;
}

static uint64_t nticks;
static const BvhEnv env = {env_alloc, env_release, env_tick, &nticks};

#endif /* BVH_BENCH_H */
