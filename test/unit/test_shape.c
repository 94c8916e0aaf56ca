/*-------------------------------------------------------------------------
 *
 * test_shape.c
 *	  Spheres, planes and distances of other kinds: against whole numbers, and
 *	  what index scans rely on.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "shapes.h"

/* the plane through a corner of the box, or just beside it, when it has room */
static void
rng_planes(Rng *rng, int n, int64_t most, const Box3 *near, Planes3 *planes)
{
	planes->n = n;
	for (int i = 0; i < n; i++)
	{
		double number[4];

		do
		{
			__int128 sum = 0;

			for (int d = 0; d < 3; d++)
			{
				number[d] = rng_below(rng, 4) ? (double) rng_whole(rng, most) : 0.0;
				sum += (__int128) number[d] *
					   (__int128) (rng_below(rng, 2) ? near->lo[d] : near->hi[d]);
			}
			sum += rng_int(rng, -1, 1);
			number[3] = (double) sum;
			/* what 53 bits hold exactly */
			if ((__int128) number[3] != sum)
				number[3] = (double) rng_whole(rng, most);
		} while (plane3_make(number, &planes->plane[i]) != NULL);
	}
}

/* all eight corners, in 128 bits: how many are outside of the plane? */
static int
corners_outside(const Plane3 *plane, const Box3 *b)
{
	int n = 0;

	for (int corner = 0; corner < 8; corner++)
	{
		__int128 sum = -(__int128) plane->offset;

		for (int d = 0; d < 3; d++)
			sum += (__int128) plane->normal[d] *
				   (__int128) (corner >> d & 1 ? b->hi[d] : b->lo[d]);
		n += sum > 0;
	}
	return n;
}

static void
planes_are_exact(Rng *rng, int64_t most)
{
	PlanesRoom room;
	Planes3 *planes = &room.planes;
	int nmet = 0;
	int ncontained = 0;
	const int n = 80000;

	for (int i = 0; i < n; i++)
	{
		Box3 box = rng_whole_box(rng, most);
		bool meet = true;
		bool contain = true;

		rng_planes(rng, rng_int(rng, 1, 4), most, &box, planes);
		for (int k = 0; k < planes->n; k++)
		{
			int outside = corners_outside(&planes->plane[k], &box);

			meet &= outside < 8;
			contain &= outside == 0;
		}
		if (planes3_meet(planes, &box) != meet ||
			planes3_contain(planes, &box) != contain)
		{
			FAIL("planes among numbers up to %" PRId64, most);
			show_planes(planes);
			show_box("box", &box);
			return;
		}
		nmet += meet;
		ncontained += contain;
	}
	OK(nmet > n / 20 && nmet < n && ncontained > n / 100,
	   "planes among numbers up to %" PRId64 " (%d meet, %d contain)",
	   most,
	   nmet,
	   ncontained);
}

/* distances of whole numbers whose squares and sums are exact */
static void
spheres_are_exact(Rng *rng)
{
	int nmet = 0;
	int ncontained = 0;
	const int n = 80000;

	for (int i = 0; i < n; i++)
	{
		Box3 box = rng_whole_box(rng, 6);
		Sphere3 sphere;
		double center[3];
		int64_t radius = rng_int(rng, 0, 9);
		int64_t nearest = 0;
		int64_t farthest = 0;

		for (int d = 0; d < 3; d++)
		{
			int64_t below;
			int64_t above;

			center[d] = (double) rng_whole(rng, 6);
			below = (int64_t) (box.lo[d] - center[d]);
			above = (int64_t) (box.hi[d] - center[d]);
			if (below > 0)
				nearest += below * below;
			if (above < 0)
				nearest += above * above;
			farthest += -below > above ? below * below : above * above;
		}
		sphere3_make(center, (double) radius, &sphere);
		if (sphere3_meets(&sphere, &box) != (nearest <= radius * radius) ||
			sphere3_contains(&sphere, &box) != (farthest <= radius * radius))
		{
			FAIL("spheres of whole numbers");
			show_box("box", &box);
			NOTE("center %g %g %g, radius %g",
				 center[0],
				 center[1],
				 center[2],
				 (double) radius);
			return;
		}
		nmet += nearest <= radius * radius;
		ncontained += farthest <= radius * radius;
	}
	OK(nmet > n / 10 && nmet < n && ncontained > n / 50,
	   "spheres of whole numbers (%d meet, %d contain)",
	   nmet,
	   ncontained);
}

/*
 * A box that matches is in the range of the shape, and nothing that contains
 * it is passed over; a distance never grows with the box.  And the boxes of a
 * page are tested like single ones.
 */
static void
never_lost(Rng *rng, BvhShapeOp op, const char *name)
{
	PlanesRoom room;
	Sphere3 sphere;
	Box3 operand;
	BvhShape shape = {op, &sphere};
	BvhShapeProbe probe;
	int nmatching = 0;

	for (int i = 0; i < 60000; i++)
	{
		Box3 pages[2];
		Box3 *box = &pages[0];
		Box3 *node = &pages[1];
		Box3 other = rng_any_box(rng);
		double center[3];
		BoxRange range;
		BoxRange node_range;

		*box = rng_below(rng, 2) ? rng_box(rng, rng_small) : rng_any_box(rng);
		*node = *box;
		box3_include(node, &other);
		for (int d = 0; d < 3; d++)
			center[d] = rng_small(rng);
		if (op == BVH_MEETS_SPHERE || op == BVH_IN_SPHERE)
			while (sphere3_make(center, fabs(rng_wild(rng)), &sphere) != NULL)
				;
		else if (op == BVH_MEETS_PLANES || op == BVH_IN_PLANES)
		{
			shape.operand = &room;
			room.planes.n = rng_int(rng, 1, 3);
			for (int k = 0; k < room.planes.n; k++)
				rng_wild_plane(rng, &room.planes.plane[k]);
		}
		else
		{
			operand = rng_any_box(rng);
			shape.operand = &operand;
		}

		if (shape_orders(op))
		{
			double distance = shape_distance(&shape, box);

			nmatching += distance > 0;
			if (!(shape_distance(&shape, node) <= distance) || !(distance >= 0))
			{
				FAIL("%s: a node is no farther than a box in it", name);
				show_box("box", box);
				show_box("node", node);
				show_box("operand", &operand);
				return;
			}
			continue;
		}

		shape_range(&shape, &range);
		box3_node_range(&range, &node_range);
		if (shape_matches(&shape, box))
		{
			nmatching++;
			if (!box3_in_range(box, &range) || !box3_in_range(node, &node_range) ||
				!shape_may_match_below(&shape, node) ||
				!shape_may_match_below(&shape, box))
			{
				FAIL("%s: what matches is never passed over", name);
				show_box("box", box);
				show_box("node", node);
				if (shape.operand == &room)
					show_planes(&room.planes);
				return;
			}
		}
		shape_probe(&shape, &probe);
		if (box3_in_range(box, &range) && box3_in_range(node, &range))
			for (int is_leaf = 0; is_leaf < 2; is_leaf++)
			{
				uint16_t offset[2] = {0, sizeof(Box3)};
				uint16_t selected[2] = {0, 1};
				bool first = is_leaf ? shape_matches(&shape, box)
									 : shape_may_match_below(&shape, box);
				bool second = is_leaf ? shape_matches(&shape, node)
									  : shape_may_match_below(&shape, node);
				int n = shape_select(&probe,
									 (const char *) pages,
									 offset,
									 is_leaf,
									 selected,
									 2);

				if (n != first + second || (n > 0 && selected[0] != (first ? 0 : 1)))
				{
					FAIL("%s: boxes of a page like single ones", name);
					return;
				}
			}
	}
	OK(nmatching > 1000, "%s: what matches is never lost (%d)", name, nmatching);
}

static void
metrics_by_hand(void)
{
	Box3 a = make_box(0, 0, 0, 1, 1, 1);
	Box3 b = make_box(3, -5, 0.5, 4, -4, 9);
	Box3 far = make_point(-INFINITY, 0, 0);
	BvhShape taxicab = {BVH_TAXICAB, &a};
	BvhShape chebyshev = {BVH_CHEBYSHEV, &a};

	OK(shape_distance(&taxicab, &b) == 6.0, "taxicab distance");
	OK(shape_distance(&chebyshev, &b) == 4.0, "Chebyshev distance");
	for (int d = 0; d < 3; d++)
	{
		Box3 c = a;

		c.lo[d] = -9.0;
		c.hi[d] = -7.0;
		OK(shape_distance(&taxicab, &c) == 7.0 && shape_distance(&chebyshev, &c) == 7.0,
		   "along axis %d",
		   d);
	}
	OK(shape_distance(&taxicab, &a) == 0.0 && shape_distance(&chebyshev, &a) == 0.0,
	   "of a box to itself");
	OK(shape_distance(&taxicab, &far) == INFINITY &&
		   shape_distance(&chebyshev, &far) == INFINITY,
	   "of a point at infinity");
}

static void
infinite_boxes(void)
{
	PlanesRoom room;
	Planes3 *planes = &room.planes;
	Box3 all = make_box(-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY);
	Box3 half = make_box(5, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY);
	Box3 slab = make_box(0, -INFINITY, -INFINITY, 1, INFINITY, INFINITY);

	planes->n = 1;
	plane3_make((const double[]){1, 0, 0, 2}, &planes->plane[0]);
	OK(planes3_meet(planes, &all) && !planes3_contain(planes, &all), "everything");
	OK(!planes3_meet(planes, &half), "a half space outside");
	OK(planes3_contain(planes, &slab), "a slab inside");
	plane3_make((const double[]){-1, 0, 0, -5}, &planes->plane[0]);
	OK(planes3_contain(planes, &half), "a half space inside, up to the border");
	plane3_make((const double[]){1, 1, 0, 2}, &planes->plane[0]);
	OK(planes3_meet(planes, &half) && !planes3_contain(planes, &slab), "a slanted plane");
}

/* a view from the origin along -z, 90 degrees wide, from 1 to 3 */
static void
frustum_of_matrix(void)
{
	static const double minus_to_plus[4][4] = {{1, 0, 0, 0},
											   {0, 1, 0, 0},
											   {0, 0, -2, -3},
											   {0, 0, -1, 0}};
	static const double zero_to_plus[4][4] = {{1, 0, 0, 0},
											  {0, 1, 0, 0},
											  {0, 0, -1.5, -1.5},
											  {0, 0, -1, 0}};
	static const double endless[4][4] = {{1, 0, 0, 0},
										 {0, 1, 0, 0},
										 {0, 0, -1, -1},
										 {0, 0, -1, 0}};
	const double(*const matrices[])[4] = {minus_to_plus, zero_to_plus, endless};

	for (int k = 0; k < LENGTH_OF(matrices); k++)
	{
		PlanesRoom room;
		Planes3 *planes = &room.planes;
		double number[6][4];
		bool is_endless = k == 2;

		planes->n = planes3_of_frustum(matrices[k], k > 0, number);
		for (int i = 0; i < planes->n; i++)
			if (plane3_make(number[i], &planes->plane[i]) != NULL)
				FAIL("a plane of the frustum");
		OK(planes->n == (is_endless ? 5 : 6), "matrix %d: planes", k);
		OK(planes3_meet(planes, &(Box3){{0, 0, -2}, {0, 0, -2}}), "in the middle, %d", k);
		OK(planes3_meet(planes, &(Box3){{0, 0, -1}, {0, 0, 5}}),
		   "up to the near one, %d",
		   k);
		OK(!planes3_meet(planes, &(Box3){{0, 0, -0.5}, {0, 0, 5}}), "before it, %d", k);
		OK(planes3_meet(planes, &(Box3){{0, 0, -9}, {0, 0, -3}}),
		   "to the far one, %d",
		   k);
		OK(planes3_meet(planes, &(Box3){{0, 0, -9}, {0, 0, -3.5}}) == is_endless,
		   "behind it, %d",
		   k);
		OK(planes3_meet(planes, &(Box3){{2, 0, -2}, {3, 0, -2}}),
		   "on the right one, %d",
		   k);
		OK(!planes3_meet(planes, &(Box3){{2.5, 0, -2}, {3, 0, -2}}),
		   "right of it, %d",
		   k);
		OK(!planes3_meet(planes, &(Box3){{-3, 0, -2}, {-2.5, 0, -2}}), "left, %d", k);
		OK(!planes3_meet(planes, &(Box3){{0, 2.5, -2}, {0, 3, -2}}), "above, %d", k);
		OK(!planes3_meet(planes, &(Box3){{0, -3, -2}, {0, -2.5, -2}}), "below, %d", k);
		OK(planes3_contain(planes, &(Box3){{-1, -1, -3}, {1, 1, -1}}), "inside, %d", k);
		OK(!planes3_contain(planes, &(Box3){{-1, -1, -3}, {1.5, 1, -1}}),
		   "partly, %d",
		   k);
	}
}

static void
what_is_refused(void)
{
	Plane3 plane;
	Sphere3 sphere;

	OK(plane3_make((const double[]){NAN, 0, 0, 1}, &plane) != NULL, "NaN in a plane");
	OK(plane3_make((const double[]){1, 0, 0, INFINITY}, &plane) != NULL, "infinity");
	OK(plane3_make((const double[]){0, 0, -0.0, 1}, &plane) != NULL, "no normal");
	OK(plane3_make((const double[]){1, -0.0, 0, -0.0}, &plane) == NULL &&
		   !signbit(plane.normal[1]) && !signbit(plane.offset),
	   "-0 becomes 0 in planes");
	OK(sphere3_make((const double[]){NAN, 0, 0}, 1, &sphere) != NULL, "NaN in a center");
	OK(sphere3_make((const double[]){0, INFINITY, 0}, 1, &sphere) != NULL, "infinite");
	OK(sphere3_make((const double[]){0, 0, 0}, NAN, &sphere) != NULL, "NaN for a radius");
	OK(sphere3_make((const double[]){0, 0, 0}, -1, &sphere) != NULL, "a negative radius");
	OK(sphere3_make((const double[]){0, -0.0, 0}, -0.0, &sphere) == NULL &&
		   !signbit(sphere.center[1]) && !signbit(sphere.radius),
	   "-0 becomes 0 in spheres");
	OK(sphere3_make((const double[]){0, 0, 0}, INFINITY, &sphere) == NULL &&
		   sphere3_contains(&sphere, &(Box3){{-INFINITY, 0, 0}, {INFINITY, 0, 0}}),
	   "an infinite radius contains everything");
}

int
main(void)
{
	Rng rng = rng_start();

	planes_are_exact(&rng, 3);
	planes_are_exact(&rng, 1000);
	planes_are_exact(&rng, INT64_C(1) << 50);
	spheres_are_exact(&rng);
	never_lost(&rng, BVH_MEETS_SPHERE, "box && sphere");
	never_lost(&rng, BVH_IN_SPHERE, "box <@ sphere");
	never_lost(&rng, BVH_MEETS_PLANES, "box && planes");
	never_lost(&rng, BVH_IN_PLANES, "box <@ planes");
	never_lost(&rng, BVH_TAXICAB, "box <#> box");
	never_lost(&rng, BVH_CHEBYSHEV, "box <=> box");
	metrics_by_hand();
	infinite_boxes();
	frustum_of_matrix();
	what_is_refused();
	return tap_done();
}
