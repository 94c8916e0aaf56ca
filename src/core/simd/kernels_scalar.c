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

static int
select_boxes(const char *base, const uint16_t *offset, int n, const BoxRange *range,
			 uint16_t *selected)
{
	int nselected = 0;

	for (int i = 0; i < n; i++)
	{
		selected[nselected] = (uint16_t) i;
		nselected += box3_in_range((const Box3 *) (base + offset[i]), range);
	}
	return nselected;
}

void
bvh_distances_scalar(const char *base, const uint16_t *offset, int n, const Box3 *query,
					 double *distance)
{
	for (int i = 0; i < n; i++)
		distance[i] = box3_distance((const Box3 *) (base + offset[i]), query);
}

/*
 * The growth of the area is the sum of what is added: the difference of two
 * areas would cancel.
 */
void
bvh_least_growth_scalar(const char *base, const uint16_t *offset, int n,
						const Box3 *added, BoxGrowth *least)
{
	*least = (BoxGrowth){0, INFINITY, INFINITY, true};
	for (int i = 0; i < n; i++)
	{
		const Box3 *b = (const Box3 *) (base + offset[i]);
		double side[3];
		double more[3];
		double growth = 0.0;
		double area;

		for (int d = 0; d < 3; d++)
		{
			double below = b->lo[d] - added->lo[d];
			double above = added->hi[d] - b->hi[d];

			side[d] = b->hi[d] - b->lo[d];
			more[d] = (below > 0.0 ? below : 0.0) + (above > 0.0 ? above : 0.0);
		}
		area = side[0] * side[1] + side[1] * side[2] + side[2] * side[0];
		for (int d = 0; d < 3; d++)
			growth += more[d] *
					  (side[(d + 1) % 3] + side[(d + 2) % 3] + more[(d + 1) % 3]);

		/* false for NaN, too */
		least->is_finite &= growth < INFINITY && area < INFINITY;
		if (growth < least->growth || (growth == least->growth && area < least->area))
		{
			least->number = i;
			least->growth = growth;
			least->area = area;
		}
	}
}

const BvhKernels bvh_kernels_scalar = {
	.name = "scalar",
	.usable = usable,
	.in_range = in_range,
	.excess = excess,
	.select_boxes = select_boxes,
	.distances = bvh_distances_scalar,
	.tree = &bvh_tree_kernels_scalar,
	.least_growth = bvh_least_growth_scalar,
};
