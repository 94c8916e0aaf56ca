/*-------------------------------------------------------------------------
 *
 * cpu.c
 *	  What this machine can run; the only place that asks.
 *
 * The compiler's run-time library looks at the registers that the operating
 * system saves, too, not at the CPU alone.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/cpu.h"

#if defined(__x86_64__)

bool
cpu_has_avx2(void)
{
	return __builtin_cpu_supports("avx2");
}

bool
cpu_has_avx512(void)
{
	return __builtin_cpu_supports("avx512f");
}

#else

bool
cpu_has_avx2(void)
{
	return false;
}

bool
cpu_has_avx512(void)
{
	return false;
}

#endif
