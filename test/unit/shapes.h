/*-------------------------------------------------------------------------
 *
 * shapes.h
 *	  Random operands of the operators with shapes, often ones that touch a box.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TEST_SHAPES_H
#define BVH_TEST_SHAPES_H

#include "boxes.h"
#include "core/planes3.h"
#include "core/shape.h"
#include "core/sphere3.h"
#include "tap.h"

/* room for planes */
typedef union PlanesRoom
{
	Planes3 planes;
	char room[PLANES3_SIZE(PLANES3_MOST)];
} PlanesRoom;

/* room for any operand */
typedef union ShapeRoom
{
	Ray3 ray;
	Sphere3 sphere;
	Box3 box;
	PlanesRoom planes;
} ShapeRoom;

static const BvhShapeOp filter_ops[] = {BVH_MEETS_RAY,
										BVH_MEETS_SPHERE,
										BVH_IN_SPHERE,
										BVH_MEETS_PLANES,
										BVH_IN_PLANES};

static const BvhShapeOp order_ops[] = {BVH_EUCLIDEAN,
									   BVH_RAY_ENTRY,
									   BVH_TAXICAB,
									   BVH_CHEBYSHEV};

static inline void
show_ray(const Ray3 *ray)
{
	show_box("start", &ray->box);
	NOTE("direction %a, %a, %a, tmax %a",
		 ray->direction[0],
		 ray->direction[1],
		 ray->direction[2],
		 ray->tmax);
}

static inline void
show_planes(const Planes3 *planes)
{
	for (int i = 0; i < planes->n; i++)
		NOTE("%a * x + %a * y + %a * z <= %a",
			 planes->plane[i].normal[0],
			 planes->plane[i].normal[1],
			 planes->plane[i].normal[2],
			 planes->plane[i].offset);
}

static inline void
show_shape(const BvhShape *shape)
{
	const Sphere3 *sphere = shape->operand;

	NOTE("operator %d", (int) shape->op);
	if (shape->op == BVH_MEETS_RAY || shape->op == BVH_RAY_ENTRY)
		show_ray(shape->operand);
	else if (shape->op == BVH_MEETS_PLANES || shape->op == BVH_IN_PLANES)
		show_planes(shape->operand);
	else if (shape_orders(shape->op) || shape->op == BVH_EUCLIDEAN)
		show_box("operand", shape->operand);
	else
		NOTE("center %a, %a, %a, radius %a",
			 sphere->center[0],
			 sphere->center[1],
			 sphere->center[2],
			 sphere->radius);
}

/* finite and not 0 on all axes */
static inline void
rng_wild_plane(Rng *rng, Plane3 *plane)
{
	double number[4];

	do
		for (int i = 0; i < 4; i++)
			number[i] = rng_below(rng, 2) ? rng_small(rng) : rng_wild(rng);
	while (plane3_make(number, plane) != NULL);
}

/* a bound of the box, or any number where that is infinite */
static inline double
rng_bound(Rng *rng, const Box3 *box, int d)
{
	double x = rng_below(rng, 2) ? box->lo[d] : box->hi[d];

	return isfinite(x) ? x : rng_small(rng);
}

/* from a corner of one box, or from anywhere, often to a corner of another one */
static inline void
rng_ray_between(Rng *rng, const Box3 *from, const Box3 *to, Ray3 *ray)
{
	double p[3];
	double q[3];
	double direction[3];
	double tmax;
	int kind;

	do
	{
		bool is_sweep = rng_below(rng, 4) == 0;
		int exponent = rng_below(rng, 4) ? 0 : rng_int(rng, -1060, 1020);

		kind = rng_below(rng, 6);
		for (int d = 0; d < 3; d++)
		{
			p[d] = kind < 4 ? rng_bound(rng, from, d) : rng_wild(rng);
			q[d] = is_sweep ? rng_bound(rng, from, d) : p[d];
			if (kind == 0)
				direction[d] = rng_small(rng);
			else if (kind == 1)
				direction[d] = rng_wild(rng);
			else
				direction[d] = rng_below(rng, 4)
								   ? ldexp(rng_bound(rng, to, d) - p[d], exponent)
								   : 0.0;
		}
		tmax = rng_below(rng, 3) ? INFINITY : fabs(rng_small(rng));
	} while (ray3_make(p, q, direction, tmax, ray) != RAY3_OK);
}

/* often through a corner of the box */
static inline void
rng_plane_at(Rng *rng, const Box3 *box, Plane3 *plane)
{
	double number[4];

	do
	{
		number[3] = rng_below(rng, 2) ? 0.0 : rng_small(rng);
		for (int d = 0; d < 3; d++)
		{
			number[d] = rng_below(rng, 3) ? rng_small(rng) : rng_unit(rng) - 0.5;
			number[3] += number[d] * rng_bound(rng, box, d);
		}
	} while (plane3_make(number, plane) != NULL);
}

/* an operand near two boxes */
static inline BvhShape
rng_shape(Rng *rng, BvhShapeOp op, const Box3 *a, const Box3 *b, ShapeRoom *room)
{
	double center[3];

	switch (op)
	{
		case BVH_MEETS_RAY:
		case BVH_RAY_ENTRY:
			rng_ray_between(rng, a, b, &room->ray);
			break;
		case BVH_MEETS_SPHERE:
		case BVH_IN_SPHERE:
			for (int d = 0; d < 3; d++)
				center[d] = rng_below(rng, 4) ? rng_bound(rng, a, d) : rng_small(rng);
			sphere3_make(center, 0.0, &room->sphere);
			if (rng_below(rng, 4) == 0)
				room->sphere.radius = fabs(rng_wild(rng));
			else
			{
				Box3 point = sphere3_center(&room->sphere);

				room->sphere.radius = rng_below(rng, 2) ? box3_distance(&point, b)
														: box3_max_distance(&point, b);
			}
			break;
		case BVH_MEETS_PLANES:
		case BVH_IN_PLANES:
			room->planes.planes.n = rng_int(rng, 1, rng_below(rng, 8) ? 4 : PLANES3_MOST);
			for (int i = 0; i < room->planes.planes.n; i++)
				if (rng_below(rng, 6) == 0)
					rng_wild_plane(rng, &room->planes.planes.plane[i]);
				else
					rng_plane_at(rng,
								 rng_below(rng, 2) ? a : b,
								 &room->planes.planes.plane[i]);
			break;
		default:
			room->box = rng_below(rng, 2) ? *a : rng_any_box(rng);
			break;
	}
	return (BvhShape){op, room};
}

#endif /* BVH_TEST_SHAPES_H */
