/*-------------------------------------------------------------------------
 *
 * kernels_neon.c
 *	  The kernels for NEON, which every aarch64 has.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"

#if defined(__aarch64__)

#include <arm_neon.h>

static bool
usable(void)
{
	return true;
}

static bool
in_range(const Box3 *b, const BoxRange *range)
{
	uint64x2_t hit = vdupq_n_u64(~UINT64_C(0));

	/* comparisons are false for NaN, as in C */
	for (int lane = 0; lane < 6; lane += 2)
	{
		float64x2_t x = vld1q_f64(&b->lo[0] + lane);

		hit = vandq_u64(hit, vcleq_f64(vld1q_f64(&range->lower[lane]), x));
		hit = vandq_u64(hit, vcleq_f64(x, vld1q_f64(&range->upper[lane])));
	}
	return (vgetq_lane_u64(hit, 0) & vgetq_lane_u64(hit, 1)) != 0;
}

/* the greater one; acc when x is NaN or they are equal: vmaxq would give NaN */
static inline float32x4_t
max_of(float32x4_t x, float32x4_t acc)
{
	return vbslq_f32(vcgtq_f32(x, acc), x, acc);
}

static uint32_t
excess(const BoxBlock *block, const BlockProbe *probe, float limit, float out[BVH_BLOCK])
{
	const uint32x4_t bit = {1, 2, 4, 8};
	uint32_t mask = 0;

	for (int i = 0; i < BVH_BLOCK; i += 4)
	{
		float32x4_t acc = vdupq_n_f32(-INFINITY);

		for (int lane = 0; lane < 6; lane++)
		{
			float32x4_t x = vld1q_f32(&block->lane[lane][i]);
			float32x4_t weight = vdupq_n_f32(probe->weight[lane]);
			float32x4_t below = vsubq_f32(vdupq_n_f32(probe->lower[lane]), x);
			float32x4_t above = vsubq_f32(x, vdupq_n_f32(probe->upper[lane]));

			acc = max_of(vmulq_f32(weight, below), acc);
			acc = max_of(vmulq_f32(weight, above), acc);
		}
		vst1q_f32(&out[i], acc);
		mask |= vaddvq_u32(vandq_u32(vcleq_f32(acc, vdupq_n_f32(limit)), bit)) << i;
	}
	return mask;
}

static int
select_boxes(const char *base, const uint16_t *offset, int n, const BoxRange *range,
			 uint16_t *selected)
{
	int nselected = 0;

	for (int i = 0; i < n; i++)
	{
		selected[nselected] = (uint16_t) i;
		nselected += in_range((const Box3 *) (base + offset[i]), range);
	}
	return nselected;
}

const BvhKernels bvh_kernels_neon = {
	.name = "neon",
	.usable = usable,
	.in_range = in_range,
	.excess = excess,
	.select_boxes = select_boxes,
	.distances = bvh_distances_scalar,
	.tree = &bvh_tree_kernels_neon,
};

#endif
