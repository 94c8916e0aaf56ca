/*-------------------------------------------------------------------------
 *
 * kernels_scalar.c
 *	  The kernels in plain C: their meaning, and the fallback.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"

static bool
usable(void)
{
	return true;
}

static bool
in_range(const Box3 *b, const BoxRange *range)
{
	return box3_in_range(b, range);
}

/* the greater one; acc when x is NaN, and when they are equal */
static inline float
max_of(float x, float acc)
{
	return x > acc ? x : acc;
}

static uint32_t
excess(const BoxBlock *block, const BlockProbe *probe, float limit, float out[BVH_BLOCK])
{
	uint32_t mask = 0;

	for (int i = 0; i < BVH_BLOCK; i++)
	{
		float acc = -INFINITY;

		for (int lane = 0; lane < 6; lane++)
		{
			float x = block->lane[lane][i];

			acc = max_of(probe->weight[lane] * (probe->lower[lane] - x), acc);
			acc = max_of(probe->weight[lane] * (x - probe->upper[lane]), acc);
		}
		out[i] = acc;
		mask |= (uint32_t) (acc <= limit) << i;
	}
	return mask;
}

const BvhKernels bvh_kernels_scalar = {
	.name = "scalar",
	.usable = usable,
	.in_range = in_range,
	.excess = excess,
};
