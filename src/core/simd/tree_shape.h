/*-------------------------------------------------------------------------
 *
 * tree_shape.h
 *	  The tests of nodes and blocks by shapes, the times at which a ray enters
 *	  them, and distances of other kinds: written once and compiled for each
 *	  instruction set.
 *
 * Plain loops over the lanes, whose steps compilers know to do for all lanes at
 * once; each gives the same bits however that is done.  What they leave in doubt is
 * kept in a node, and decided by the plain definitions in a block.
 *
 * Part of tree_walk.h, which says what has to be defined first.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TREE_SHAPE_H
#define BVH_TREE_SHAPE_H

#include "core/planes3.h"
#include "core/simd/tree_kernels.h"
#include "core/sphere3.h"

#ifdef TREE_TARGET

/* node_box() of all lanes, as the bounds of a block */
TREE_TARGET static inline void
node_bounds(const BvhTree *tree, const BvhNode *node, double bound[6][BVH_WIDTH])
{
	const double unscale = tree->unscale;

	for (int d = 0; d < 3; d++)
	{
		const double origin = tree->origin[d];

		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			double lo = node->bound[d][lane];

			lo = lo - fabs(lo) * BVH_ROUNDED - BVH_UNDERRUN;
			lo = lo * unscale;
			lo = origin + (lo < BVH_OVERFLOW ? lo : BVH_OVERFLOW);
			bound[d][lane] = lo < DBL_MAX ? lo : DBL_MAX;
		}
		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			double hi = node->bound[d + 3][lane];

			hi = hi - fabs(hi) * BVH_ROUNDED - BVH_UNDERRUN;
			hi = hi * unscale;
			hi = origin - (hi < BVH_OVERFLOW ? hi : BVH_OVERFLOW);
			bound[d + 3][lane] = hi > -DBL_MAX ? hi : -DBL_MAX;
		}
	}
}

/* ---------------------------------------------------------------- rays */

/* the latest start and the earliest end of the times that a probe tells */
TREE_TARGET static inline void
ray_times(const double bound[6][BVH_WIDTH], const RayProbe *probe,
		  double start[BVH_WIDTH], double end[BVH_WIDTH])
{
	for (int lane = 0; lane < BVH_WIDTH; lane++)
	{
		start[lane] = 0.0;
		end[lane] = probe->tmax;
	}
	for (int i = 0; i < 3; i++)
	{
		const double *near = bound[probe->near_lane[i]];
		const double *far = bound[probe->far_lane[i]];
		const double near_at = probe->near_at[i];
		const double far_at = probe->far_at[i];
		const double pace = probe->pace[i];

		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			double enter = (near[lane] - near_at) * pace;
			double leave = (far[lane] - far_at) * pace;

			start[lane] = enter > start[lane] ? enter : start[lane];
			end[lane] = leave < end[lane] ? leave : end[lane];
		}
	}
}

TREE_TARGET static inline uint32_t
ray_lanes(const double start[BVH_WIDTH], const double end[BVH_WIDTH])
{
	uint32_t mask = 0;

	for (int lane = 0; lane < BVH_WIDTH; lane++)
		mask |= (uint32_t) ray3_may_meet(start[lane], end[lane]) << lane;
	return mask;
}

/*
 * node_entries --- for each lane, no more than ray3_entry() of a box below
 *
 * A start is above the quotient that ray3_entry() computes from the same gap by
 * five halves of an ulp at most, at denormal paces, or half the least double.  One
 * that overflowed becomes NaN here, and then 0.
 */
TREE_TARGET static void
node_entries(const BvhTree *tree, const BvhNode *node, const RayProbe *probe,
			 double out[8])
{
	double bound[6][BVH_WIDTH];
	double start[BVH_WIDTH];
	double end[BVH_WIDTH];
	const double most = probe->tmax < DBL_MAX ? probe->tmax : DBL_MAX;

	node_bounds(tree, node, bound);
	ray_times(bound, probe, start, end);
	for (int lane = 0; lane < BVH_WIDTH; lane++)
	{
		double entry = start[lane] - (start[lane] * 0x1p-50 + 0x1p-1070);

		entry = entry > 0.0 ? entry : 0.0;
		entry = entry < most ? entry : most;
		out[lane] = ray3_may_meet(start[lane], end[lane]) ? entry : INFINITY;
	}
}

/* of the boxes in mask */
TREE_TARGET static void
block_entries(const BvhBlock *block, uint32_t mask, const Ray3 *ray,
			  const RayProbe *probe, double out[8])
{
	double start[BVH_WIDTH];
	double end[BVH_WIDTH];

	ray_times(block->bound, probe, start, end);
	for (int place = 0; place < BVH_WIDTH; place++)
		out[place] = INFINITY;
	for (mask &= ray_lanes(start, end); mask != 0; mask &= mask - 1)
	{
		int place = __builtin_ctz(mask);
		Box3 box;

		block_box(block, place, &box);
		out[place] = ray3_entry(ray, &box);
	}
}

/* ---------------------------------------------------------------- planes */

/*
 * plane_lanes --- lanes whose corner that is farthest inward is not outside beyond
 * doubt; see exact_sign() for that
 */
TREE_TARGET static inline uint32_t
plane_lanes(const double bound[6][BVH_WIDTH], const Plane3 *plane)
{
	double sum[BVH_WIDTH] = {0.0};
	double size[BVH_WIDTH] = {0.0};
	uint32_t outside = 0;

	for (int d = 0; d < 3; d++)
	{
		const double normal = plane->normal[d];
		const double *inner = bound[normal > 0.0 ? d : d + 3];

		/* 0 times a side without end would be NaN */
		if (normal == 0.0)
			continue;
		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			double product = normal * inner[lane];

			sum[lane] += product;
			size[lane] += fabs(product);
		}
	}
	for (int lane = 0; lane < BVH_WIDTH; lane++)
	{
		double doubt = (size[lane] + fabs(plane->offset)) * 0x1p-50 + 0x1p-1070;

		outside |= (uint32_t) (sum[lane] - plane->offset > doubt) << lane;
	}
	return ~outside;
}

TREE_TARGET static inline uint32_t
planes_lanes(const double bound[6][BVH_WIDTH], uint32_t mask, const Planes3 *planes)
{
	for (int i = 0; i < planes->n && mask != 0; i++)
		mask &= plane_lanes(bound, &planes->plane[i]);
	return mask;
}

/* ---------------------------------------------------------------- other distances */

/* the steps of box3_taxicab(), or of box3_chebyshev() */
TREE_TARGET static inline void
lane_gaps(const double bound[6][BVH_WIDTH], const Box3 *query, bool is_taxicab,
		  double out[8])
{
	for (int lane = 0; lane < BVH_WIDTH; lane++)
		out[lane] = 0.0;
	for (int d = 0; d < 3; d++)
	{
		const double query_lo = query->lo[d];
		const double query_hi = query->hi[d];

		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			double lo = bound[d][lane];
			double hi = bound[d + 3][lane];
			double above = lo - query_hi;
			double below = query_lo - hi;
			double gap = lo > query_hi ? above : 0.0;

			gap = query_lo > hi ? below : gap;
			if (is_taxicab)
				out[lane] += gap;
			else
				out[lane] = gap > out[lane] ? gap : out[lane];
		}
	}
}

TREE_TARGET static inline void
any_gaps(const double bound[6][BVH_WIDTH], const BvhShape *order, double out[8])
{
	if (order->op == BVH_TAXICAB)
		lane_gaps(bound, order->operand, true, out);
	else
		lane_gaps(bound, order->operand, false, out);
}

TREE_TARGET static void
node_gaps(const BvhTree *tree, const BvhNode *node, const BvhShape *order, double out[8])
{
	double bound[6][BVH_WIDTH];

	node_bounds(tree, node, bound);
	any_gaps(bound, order, out);
}

TREE_TARGET static void
block_gaps(const BvhBlock *block, const BvhShape *order, double out[8])
{
	any_gaps(block->bound, order, out);
}

/* ---------------------------------------------------------------- all of them */

/* what is within the radius, by box3_distance() */
static inline uint32_t
near_lanes(const double distance[BVH_WIDTH], double radius)
{
	uint32_t mask = 0;

	for (int lane = 0; lane < BVH_WIDTH; lane++)
		mask |= (uint32_t) (distance[lane] <= radius) << lane;
	return mask;
}

/* lanes of those in mask that something below may match */
TREE_TARGET static uint32_t
node_shape(const BvhTree *tree, const BvhNode *node, uint32_t mask,
		   const BvhShapeProbe *probe)
{
	const BvhShape *shape = &probe->shape;
	double bound[6][BVH_WIDTH];
	double start[BVH_WIDTH];
	double end[BVH_WIDTH];

	if (shape->op == BVH_MEETS_SPHERE || shape->op == BVH_IN_SPHERE)
	{
		const Sphere3 *sphere = shape->operand;
		Box3 center = sphere3_center(sphere);

		node_distances(tree, node, &center, start);
		return mask & near_lanes(start, sphere->radius);
	}
	node_bounds(tree, node, bound);
	if (shape->op != BVH_MEETS_RAY)
		return planes_lanes(bound, mask, shape->operand);
	ray_times(bound, &probe->ray, start, end);
	return mask & ray_lanes(start, end);
}

/* boxes of those in mask that match */
TREE_TARGET static uint32_t
block_shape(const BvhBlock *block, uint32_t mask, const BvhShapeProbe *probe)
{
	const BvhShape *shape = &probe->shape;
	double start[BVH_WIDTH];
	double end[BVH_WIDTH];
	uint32_t matching = 0;

	if (shape->op == BVH_MEETS_SPHERE)
	{
		const Sphere3 *sphere = shape->operand;
		Box3 center = sphere3_center(sphere);

		block_distances(block, &center, start);
		return mask & near_lanes(start, sphere->radius);
	}
	if (shape->op == BVH_MEETS_RAY)
	{
		ray_times(block->bound, &probe->ray, start, end);
		mask &= ray_lanes(start, end);
	}
	else if (shape->op != BVH_IN_SPHERE)
		mask = planes_lanes(block->bound, mask, shape->operand);
	for (; mask != 0; mask &= mask - 1)
	{
		int place = __builtin_ctz(mask);
		Box3 box;

		block_box(block, place, &box);
		matching |= (uint32_t) shape_matches(shape, &box) << place;
	}
	return matching;
}

#endif

#endif /* BVH_TREE_SHAPE_H */
