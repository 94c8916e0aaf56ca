/*-------------------------------------------------------------------------
 *
 * test_tree_kernels.c
 *	  Every version of the tree's kernels against the plain definitions, bit for
 *	  bit.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"
#include "shapes.h"

static const BvhTreeKernels *const plain = &bvh_tree_kernels_scalar;

/* any float but NaN and +Infinity, or, now and then, also these */
static float
wild_float(Rng *rng)
{
	static const float edges[] =
		{0.0f, -0.0f, FLT_MAX, -FLT_MAX, -INFINITY, 0x1p-149f, 1.0f};

	switch (rng_below(rng, 4))
	{
		case 0:
			return edges[rng_below(rng, LENGTH_OF(edges))];
		case 1:
			return (float) rng_int(rng, -3, 3);
		case 2:
			return (float) rng_wild(rng) < FLT_MAX ? (float) rng_wild(rng) : 1.0f;
		default:
			return (float) rng_between(rng, -1.0, 1.0);
	}
}

static void
make_node(Rng *rng, BvhNode *node)
{
	int kind = rng_below(rng, 3);

	memset(node, 0, sizeof(*node));
	for (int lane = 0; lane < BVH_WIDTH; lane++)
	{
		for (int d = 0; d < 3; d++)
		{
			float x = kind == 0 ? wild_float(rng) : (float) rng_int(rng, -4, 4);
			float y = kind == 0 ? wild_float(rng) : (float) rng_int(rng, -4, 4);

			x = x < FLT_MAX ? x : FLT_MAX;
			y = y < FLT_MAX ? y : FLT_MAX;
			node->bound[d][lane] = x < y ? x : y;
			node->bound[d + 3][lane] = -(x < y ? y : x);
		}
		node->child[lane] = (uint32_t) rng_next(rng);
	}
	node->live = (uint32_t) rng_below(rng, 256);
}

static void
make_block(Rng *rng, BvhBlock *block, double (*coordinate)(Rng *))
{
	for (int place = 0; place < BVH_WIDTH; place++)
	{
		Box3 box = rng_box(rng, coordinate);

		for (int d = 0; d < 3; d++)
		{
			block->bound[d][place] = box.lo[d];
			block->bound[d + 3][place] = box.hi[d];
		}
		block->id[place] = rng_next(rng);
	}
}

static void
make_frame(Rng *rng, BvhTree *tree)
{
	int e = rng_below(rng, 2) ? 0 : rng_int(rng, -1000, 1000);

	memset(tree, 0, sizeof(*tree));
	for (int d = 0; d < 3; d++)
		tree->origin[d] = rng_below(rng, 2) ? 0.0
											: rng_octave(rng, e + rng_int(rng, -20, 20));
	if (rng_below(rng, 4) == 0)
		for (int d = 0; d < 3; d++)
			tree->origin[d] = LARGEST * rng_between(rng, -1.0, 1.0);
	tree->scale = ldexp(1.0, -e);
	tree->unscale = ldexp(1.0, e);
}

/* ---------------------------------------------------------------- nodes */

static void
check_node_hits(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	int nhits = 0;

	for (int round = 0; round < 30000; round++)
	{
		_Alignas(64) BvhNode node;
		float limit[6];
		uint32_t want = 0;

		make_node(rng, &node);
		for (int k = 0; k < 6; k++)
			limit[k] = rng_below(rng, 3) ? wild_float(rng)
										 : node.bound[k][rng_below(rng, BVH_WIDTH)];
		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			bool hit = true;

			for (int k = 0; k < 6; k++)
				hit &= node.bound[k][lane] <= limit[k];
			want |= (uint32_t) hit << lane;
		}
		nhits += __builtin_popcount(want);
		if (kernels->node_hits(&node, limit) != want)
		{
			FAIL("%s: node_hits", name);
			NOTE("got %x, want %x", kernels->node_hits(&node, limit), want);
			return;
		}
	}
	OK(nhits > 1000, "%s: node_hits", name);
}

static void
check_node_pairs(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	int nhits = 0;

	for (int round = 0; round < 10000; round++)
	{
		_Alignas(64) BvhNode a;
		_Alignas(64) BvhNode b;
		uint64_t want = 0;

		make_node(rng, &a);
		make_node(rng, &b);
		for (int i = 0; i < BVH_WIDTH; i++)
			for (int j = 0; j < BVH_WIDTH; j++)
			{
				bool hit = true;

				for (int d = 0; d < 3; d++)
				{
					hit &= a.bound[d][i] <= -b.bound[d + 3][j];
					hit &= b.bound[d][j] <= -a.bound[d + 3][i];
				}
				want |= (uint64_t) hit << (8 * i + j);
			}
		nhits += __builtin_popcountll(want);
		if (kernels->node_pairs(&a, &b) != want)
		{
			FAIL("%s: node_pairs", name);
			return;
		}
	}
	OK(nhits > 1000, "%s: node_pairs", name);
}

/* ---------------------------------------------------------------- blocks */

static void
check_block_hits(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	int nhits = 0;

	for (int round = 0; round < 30000; round++)
	{
		double (*coordinate)(Rng *) = round % 2 ? rng_wild : rng_small;
		_Alignas(64) BvhBlock block;
		BoxRange range;
		uint32_t want = 0;

		make_block(rng, &block, coordinate);
		if (round % 5 == 0)
			for (int lane = 0; lane < 6; lane++)
			{
				range.lower[lane] = rng_below(rng, 2) ? -INFINITY : coordinate(rng);
				range.upper[lane] = rng_below(rng, 2) ? INFINITY : coordinate(rng);
			}
		else
		{
			Box3 query = rng_box(rng, coordinate);

			box3_range((BvhOp) rng_below(rng, 36), rng_below(rng, 2), &query, &range);
		}
		for (int place = 0; place < BVH_WIDTH; place++)
		{
			Box3 box;

			block_box(&block, place, &box);
			want |= (uint32_t) box3_in_range(&box, &range) << place;
		}
		nhits += __builtin_popcount(want);
		if (kernels->block_hits(&block, &range) != want)
		{
			FAIL("%s: block_hits", name);
			return;
		}
	}
	OK(nhits > 1000, "%s: block_hits", name);
}

static void
check_block_pairs(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	static const BvhOp ops[] = {BVH_OVERLAPS,
								BVH_OVERLAPS_STRICTLY,
								BVH_CONTAINS,
								BVH_CONTAINED_BY,
								BVH_SAME,
								BVH_EQUAL};

	for (int k = 0; k < LENGTH_OF(ops); k++)
	{
		int nhits = 0;

		for (int round = 0; round < 2000; round++)
		{
			double (*coordinate)(Rng *) = round % 2 ? rng_wild : rng_small;
			_Alignas(64) BvhBlock a;
			_Alignas(64) BvhBlock b;
			uint64_t want = 0;

			make_block(rng, &a, coordinate);
			make_block(rng, &b, coordinate);
			for (int lane = 0; lane < 6; lane++)
				b.bound[lane][3] = a.bound[lane][5];
			for (int i = 0; i < BVH_WIDTH; i++)
				for (int j = 0; j < BVH_WIDTH; j++)
				{
					Box3 x;
					Box3 y;

					block_box(&a, i, &x);
					block_box(&b, j, &y);
					want |= (uint64_t) box3_matches(&x, ops[k], &y) << (8 * i + j);
				}
			nhits += __builtin_popcountll(want);
			if (kernels->block_pairs(&a, &b, ops[k]) != want)
			{
				FAIL("%s: block_pairs, operator %d", name, (int) ops[k]);
				return;
			}
		}
		OK(nhits >= 1000, "%s: block_pairs, operator %d", name, (int) ops[k]);
	}
}

/* ---------------------------------------------------------------- distances */

static int exponent;

static double
scaled(Rng *rng)
{
	double x = rng_octave(rng, exponent - rng_below(rng, 10));

	return rng_below(rng, 2) ? x : -x;
}

static void
check_distances(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	/* of 2^e: ordinary, where squares over- and underflow, denormal, largest */
	static const int exponents[] =
		{0, 20, -1060, -540, -450, -448, 440, 499, 501, 1000, 1023};

	for (int round = 0; round < 20000; round++)
	{
		double (*coordinate)(Rng *) = round % 3 == 0   ? rng_wild
									  : round % 3 == 1 ? rng_small
													   : scaled;
		_Alignas(64) BvhBlock block;
		_Alignas(64) BvhNode node;
		_Alignas(64) BvhTree tree;
		double got[9];
		double want[8];
		Box3 query;
		int nwrong = 0;

		exponent = exponents[rng_below(rng, LENGTH_OF(exponents))];
		query = rng_box(rng, coordinate);
		make_block(rng, &block, coordinate);
		got[8] = 42.0;
		kernels->block_distances(&block, &query, got);
		for (int place = 0; place < BVH_WIDTH; place++)
		{
			Box3 box;
			double d;

			block_box(&block, place, &box);
			d = box3_distance(&box, &query);
			nwrong += memcmp(&d, &got[place], sizeof(d)) != 0;
		}
		if (nwrong > 0 || got[8] != 42.0)
		{
			FAIL("%s: block_distances", name);
			return;
		}
		make_node(rng, &node);
		make_frame(rng, &tree);
		kernels->node_distances(&tree, &node, &query, got);
		plain->node_distances(&tree, &node, &query, want);
		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			Box3 box;
			double d;

			node_box(&tree, &node, lane, &box);
			d = box3_distance(&box, &query);
			nwrong += memcmp(&d, &got[lane], sizeof(d)) != 0;
			nwrong += memcmp(&d, &want[lane], sizeof(d)) != 0;
		}
		if (nwrong > 0 || got[8] != 42.0)
		{
			FAIL("%s: node_distances", name);
			return;
		}
	}
	PASS("%s: block_distances and node_distances", name);
}

/* ---------------------------------------------------------------- shapes */

static void
check_shapes(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	for (int k = 0; k < LENGTH_OF(filter_ops); k++)
	{
		int nhits = 0;
		int nmisses = 0;

		for (int round = 0; round < 8000; round++)
		{
			_Alignas(64) BvhBlock block;
			_Alignas(64) BvhNode node;
			_Alignas(64) BvhTree tree;
			uint32_t mask = round % 2 ? 0xFF : (uint32_t) rng_below(rng, 256);
			uint32_t want = 0;
			uint32_t least = 0;
			uint32_t got;
			ShapeRoom room;
			BvhShapeProbe probe;
			BvhShape shape;
			Box3 box[2];

			make_block(rng, &block, round % 3 ? rng_small : rng_wild);
			make_node(rng, &node);
			make_frame(rng, &tree);
			block_box(&block, rng_below(rng, BVH_WIDTH), &box[0]);
			if (round % 4 < 2)
				block_box(&block, rng_below(rng, BVH_WIDTH), &box[1]);
			else
				node_box(&tree, &node, rng_below(rng, BVH_WIDTH), &box[1]);
			shape = rng_shape(rng, filter_ops[k], &box[0], &box[1], &room);
			shape_probe(&shape, &probe);
			for (int lane = 0; lane < BVH_WIDTH; lane++)
			{
				block_box(&block, lane, &box[0]);
				want |= (uint32_t) shape_matches(&shape, &box[0]) << lane;
				node_box(&tree, &node, lane, &box[0]);
				least |= (uint32_t) shape_may_match_below(&shape, &box[0]) << lane;
			}
			got = kernels->node_shape(&tree, &node, mask, &probe);
			if (kernels->block_shape(&block, mask, &probe) != (want & mask) ||
				got != plain->node_shape(&tree, &node, mask, &probe) ||
				(got & ~mask) != 0 || (least & mask & ~got) != 0)
			{
				FAIL("%s: block_shape and node_shape", name);
				NOTE("boxes: got %x, want %x",
					 kernels->block_shape(&block, mask, &probe),
					 want & mask);
				NOTE("lanes: got %x, at least %x", got, least & mask);
				show_shape(&shape);
				return;
			}
			nhits += __builtin_popcount(want & mask);
			nmisses += __builtin_popcount(mask & ~got);
		}
		OK(nhits > 1000 && nmisses > 1000,
		   "%s: block_shape and node_shape, operator %d (%d boxes match, %d lanes "
		   "cannot)",
		   name,
		   (int) filter_ops[k],
		   nhits,
		   nmisses);
	}
}

static void
check_entries(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	int nmisses = 0;
	int nmet = 0;

	for (int round = 0; round < 30000; round++)
	{
		_Alignas(64) BvhBlock block;
		_Alignas(64) BvhNode node;
		_Alignas(64) BvhTree tree;
		uint32_t mask = round % 2 ? 0xFF : (uint32_t) rng_below(rng, 256);
		double got[9];
		double want[8];
		Ray3 ray;
		RayProbe probe;
		Box3 box[2];
		int nwrong = 0;

		make_block(rng, &block, round % 3 ? rng_small : rng_wild);
		make_node(rng, &node);
		make_frame(rng, &tree);
		block_box(&block, rng_below(rng, BVH_WIDTH), &box[0]);
		node_box(&tree, &node, rng_below(rng, BVH_WIDTH), &box[1]);
		if (round % 4 < 2)
			block_box(&block, rng_below(rng, BVH_WIDTH), &box[1]);
		rng_ray_between(rng, &box[0], &box[1], &ray);
		ray3_probe(&ray, &probe);
		got[8] = 42.0;
		kernels->block_entries(&block, mask, &ray, &probe, got);
		for (int place = 0; place < BVH_WIDTH; place++)
		{
			double entry;

			block_box(&block, place, &box[0]);
			entry = ray3_entry(&ray, &box[0]);
			nwrong += (mask >> place & 1) != 0 &&
					  memcmp(&entry, &got[place], sizeof(entry)) != 0;
			nmet += entry <= DBL_MAX;
		}
		kernels->node_entries(&tree, &node, &probe, got);
		plain->node_entries(&tree, &node, &probe, want);
		nwrong += memcmp(got, want, sizeof(want)) != 0;
		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			node_box(&tree, &node, lane, &box[1]);
			nwrong += !(got[lane] >= 0.0 && got[lane] <= ray3_entry(&ray, &box[1]));
			nmisses += got[lane] > DBL_MAX;
		}
		if (nwrong > 0 || got[8] != 42.0)
		{
			FAIL("%s: block_entries and node_entries", name);
			show_ray(&ray);
			return;
		}
	}
	OK(nmet > 10000 && nmisses > 10000, "%s: block_entries and node_entries", name);
}

static void
check_gaps(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	int napart = 0;

	for (int round = 0; round < 20000; round++)
	{
		_Alignas(64) BvhBlock block;
		_Alignas(64) BvhNode node;
		_Alignas(64) BvhTree tree;
		Box3 query = rng_any_box(rng);
		BvhShape order = {round % 2 ? BVH_TAXICAB : BVH_CHEBYSHEV, &query};
		double of_boxes[9];
		double of_lanes[9];
		int nwrong = 0;

		make_block(rng, &block, round % 3 ? rng_small : rng_wild);
		make_node(rng, &node);
		make_frame(rng, &tree);
		of_boxes[8] = of_lanes[8] = 42.0;
		kernels->block_gaps(&block, &order, of_boxes);
		kernels->node_gaps(&tree, &node, &order, of_lanes);
		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			Box3 box;
			double distance;

			block_box(&block, lane, &box);
			distance = shape_distance(&order, &box);
			nwrong += memcmp(&distance, &of_boxes[lane], sizeof(distance)) != 0;
			napart += distance > 0.0;
			node_box(&tree, &node, lane, &box);
			distance = shape_distance(&order, &box);
			nwrong += memcmp(&distance, &of_lanes[lane], sizeof(distance)) != 0;
		}
		if (nwrong > 0 || of_boxes[8] != 42.0 || of_lanes[8] != 42.0)
		{
			FAIL("%s: block_gaps and node_gaps", name);
			show_shape(&order);
			return;
		}
	}
	OK(napart > 10000, "%s: block_gaps and node_gaps", name);
}

/* what a bound stands for is never inside of what was rounded to it */
static void
check_frame(Rng *rng)
{
	for (int round = 0; round < 200000; round++)
	{
		BvhTree tree;
		BvhNode node;
		Box3 box;
		Box3 around;
		Box3 other;

		make_frame(rng, &tree);
		exponent = (int) log2(tree.unscale) + rng_int(rng, -30, 3);
		exponent = exponent > 1023 ? 1023 : exponent < -1074 ? -1074 : exponent;
		box = rng_box(rng, round % 3 ? scaled : rng_wild);
		if (round % 2)
			for (int d = 0; d < 3; d++)
			{
				double x = tree.origin[d] + box.lo[d];
				double y = tree.origin[d] + box.hi[d];

				if (x <= y)
				{
					box.lo[d] = x;
					box.hi[d] = y;
				}
			}
		other = rng_box(rng, scaled);
		for (int k = 0; k < 6; k++)
		{
			node.bound[k][0] = tree_bound(&tree, k, k < 3 ? box.lo[k] : box.hi[k - 3]);
			node.bound[k][1] = tree_bound(&tree,
										  k,
										  k < 3 ? other.lo[k] : other.hi[k - 3]);
		}
		node_box(&tree, &node, 0, &around);
		for (int d = 0; d < 3; d++)
			if (!(around.lo[d] <= box.lo[d]) || !(around.hi[d] >= box.hi[d]) ||
				(box.lo[d] <= other.lo[d] && node.bound[d][0] > node.bound[d][1]) ||
				(box.hi[d] >= other.hi[d] &&
				 node.bound[d + 3][0] > node.bound[d + 3][1]) ||
				!(node.bound[d][0] <= FLT_MAX) || !(node.bound[d + 3][0] <= FLT_MAX))
			{
				FAIL("bounds in a frame are around the box, and in the order of "
					 "coordinates");
				show_box("box", &box);
				show_box("around", &around);
				NOTE("origin %a, scale %a", tree.origin[d], tree.scale);
				return;
			}
	}
	PASS("bounds in a frame are around the box, and in the order of coordinates");
}

/* ---------------------------------------------------------------- build */

static void
make_prims(Rng *rng, BvhPrim *prims, int n)
{
	for (int i = 0; i < n; i++)
	{
		for (int d = 0; d < 3; d++)
		{
			float x = rng_below(rng, 3) ? (float) rng_unit(rng)
										: (float) rng_int(rng, 0, 3) / 2;
			float y = rng_below(rng, 3) ? (float) rng_unit(rng) : x;

			prims[i].lo[d] = x < y ? x : y;
			prims[i].neg_hi[d] = -(x < y ? y : x);
		}
		prims[i].item = 0x40000000 | (uint32_t) i;
		prims[i].spare = 0;
	}
}

/* lanes 3 and 7 hold anything */
static bool
same_lanes(const float *a, const float *b)
{
	for (int i = 0; i < 8; i++)
		if (i % 4 != 3 && memcmp(&a[i], &b[i], sizeof(float)) != 0)
			return false;
	return true;
}

static BvhPrimBounds
nothing_yet(void)
{
	BvhPrimBounds bounds;

	for (int i = 0; i < 8; i++)
		bounds.box[i] = bounds.center[i] = INFINITY;
	return bounds;
}

/* each on its side, and each still there */
static bool
is_divided(const BvhPartition *part, size_t n)
{
	static bool seen[2000];

	memset(seen, 0, sizeof(seen));
	for (size_t i = 0; i < n; i++)
	{
		const BvhPrim *prim = &part->prims[i];
		float center = prim->lo[part->axis] - prim->neg_hi[part->axis];
		float place = (center - part->map->first[part->axis]) *
					  part->map->scale[part->axis];
		uint32_t item = prim->item & 0x3FFFFFFF;

		if (item >= n || seen[item] || (place < part->cut) != (i < part->left))
			return false;
		seen[item] = true;
	}
	return true;
}

static void
check_sort(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	for (int round = 0; round < 5000; round++)
	{
		float key[BVH_FEW];
		uint8_t sorted[BVH_FEW];
		int n = round % (BVH_FEW + 1);
		bool fine = true;

		for (int i = 0; i < BVH_FEW; i++)
			key[i] = rng_below(rng, 2) ? (float) rng_unit(rng)
									   : (float) rng_int(rng, 0, 5);
		memset(sorted, 0xFF, sizeof(sorted));
		kernels->sort(key, n, sorted);
		for (int i = 0; i < n; i++)
			fine = fine && sorted[i] < n &&
				   (i == 0 || key[sorted[i - 1]] < key[sorted[i]] ||
					(key[sorted[i - 1]] == key[sorted[i]] && sorted[i - 1] < sorted[i]));
		if (!fine)
		{
			FAIL("%s: sort", name);
			NOTE("%d keys", n);
			return;
		}
	}
	PASS("%s: sort", name);
}

static void
check_build(Rng *rng, const BvhTreeKernels *kernels, const char *name)
{
	static BvhBins got_bins;
	static BvhBins want_bins;
	_Alignas(64) static BvhPrim got[2000];
	_Alignas(64) static BvhPrim want[2000];

	for (int round = 0; round < 3000; round++)
	{
		int n = rng_below(rng, round % 4 ? 300 : 2000);
		BvhPrimBounds got_bounds = nothing_yet();
		BvhPrimBounds want_bounds = nothing_yet();
		BvhBinMap map = {{0}, {0}, {0}};
		BvhPartition a;
		BvhPartition b;
		bool same;

		make_prims(rng, got, n);
		memcpy(want, got, sizeof(got));
		kernels->measure(got, (size_t) n, &got_bounds);
		plain->measure(want, (size_t) n, &want_bounds);
		same = same_lanes(got_bounds.box, want_bounds.box) &&
			   same_lanes(got_bounds.center, want_bounds.center);

		for (int d = 0; d < 3; d++)
		{
			map.first[d] = rng_below(rng, 2) ? 0.0f : (float) rng_unit(rng);
			map.scale[d] = rng_below(rng, 4) ? 16.0f : (float) rng_unit(rng) * 100;
			map.last_bin[d] = BVH_BINS - 1;
		}
		for (int axis = 0; axis < 3; axis++)
			for (int i = 0; i < BVH_BINS; i++)
			{
				BvhPrimBounds none = nothing_yet();

				got_bins.n[axis][i] = want_bins.n[axis][i] = 0;
				memcpy(got_bins.box[axis][i], none.box, sizeof(none.box));
				memcpy(want_bins.box[axis][i], none.box, sizeof(none.box));
			}
		kernels->bin(got, (size_t) n, &map, &got_bins);
		plain->bin(want, (size_t) n, &map, &want_bins);
		same = same && memcmp(got_bins.n, want_bins.n, sizeof(got_bins.n)) == 0;
		for (int axis = 0; axis < 3; axis++)
			for (int i = 0; i < BVH_BINS; i++)
				same = same && same_lanes(got_bins.box[axis][i], want_bins.box[axis][i]);

		a = (BvhPartition){got,
						   0,
						   (size_t) n,
						   round % 3,
						   (float) rng_int(rng, 1, BVH_BINS - 1),
						   &map,
						   {nothing_yet(), nothing_yet()}};
		b = a;
		b.prims = want;
		while (a.left < a.right)
		{
			size_t most = (size_t) rng_int(rng, 1, 500);

			kernels->partition(&a, most);
			plain->partition(&b, most);
		}
		same = same && is_divided(&a, (size_t) n);
		same = same && a.left == b.left && memcmp(got, want, sizeof(BvhPrim) * n) == 0;
		for (int side = 0; side < 2; side++)
			same = same && same_lanes(a.bounds[side].box, b.bounds[side].box) &&
				   same_lanes(a.bounds[side].center, b.bounds[side].center);
		if (!same)
		{
			FAIL("%s: measure, bin and partition", name);
			return;
		}
	}
	PASS("%s: measure, bin and partition", name);
}

int
main(void)
{
	Rng rng = rng_start();

	check_frame(&rng);
	for (size_t i = 0; i < bvh_kernels_count(); i++)
	{
		const BvhKernels *kernels = bvh_kernels_nth(i);

		if (kernels == NULL)
		{
			PASS("version %zu # SKIP this machine cannot run it", i + 1);
			continue;
		}
		check_node_hits(&rng, kernels->tree, kernels->name);
		check_node_pairs(&rng, kernels->tree, kernels->name);
		check_block_hits(&rng, kernels->tree, kernels->name);
		check_block_pairs(&rng, kernels->tree, kernels->name);
		check_distances(&rng, kernels->tree, kernels->name);
		check_shapes(&rng, kernels->tree, kernels->name);
		check_entries(&rng, kernels->tree, kernels->name);
		check_gaps(&rng, kernels->tree, kernels->name);
		check_build(&rng, kernels->tree, kernels->name);
		check_sort(&rng, kernels->tree, kernels->name);
	}
	return tap_done();
}
