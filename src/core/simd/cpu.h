/*-------------------------------------------------------------------------
 *
 * cpu.h
 *	  What this machine can run; the only place that asks.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_CPU_H
#define BVH_CPU_H

#include "core/base.h"

extern bool cpu_has_avx2(void);
extern bool cpu_has_avx512(void);

#endif /* BVH_CPU_H */
