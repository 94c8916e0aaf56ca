/*-------------------------------------------------------------------------
 *
 * base.h
 *	  What every file of the core may use: compiler attributes and asserts.
 *
 * The core is C17 with libc alone; it knows nothing of PostgreSQL, so that it
 * can be tested, fuzzed and measured without a server.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BASE_H
#define BVH_BASE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The build is for the baseline of the architecture; a function that needs
 * more says so itself, in the object file and in JIT bitcode alike.
 */
#define BVH_TARGET(isa) __attribute__((target(isa)))

/* the server's own switch, so that one flag arms the asserts of both */
#ifdef USE_ASSERT_CHECKING
#include <assert.h>
#define BVH_ASSERT(condition) assert(condition)
#else
#define BVH_ASSERT(condition) ((void) sizeof(condition))
#endif

/* exact sums of squares need 128 bits */
#if defined(__GNUC__) && !defined(__SIZEOF_INT128__)
#error "bvhindex needs a 64-bit machine"
#endif

#endif /* BVH_BASE_H */
