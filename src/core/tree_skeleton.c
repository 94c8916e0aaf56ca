/*-------------------------------------------------------------------------
 *
 * tree_skeleton.c
 *	  Dividing boxes in two, again and again, by the surface area heuristic.
 *
 * Binned SAH (Wald, "On fast construction of SAH-based bounding volume
 * hierarchies", 2007); where few boxes are left, every cut is tried.  A leaf is
 * a block of up to 8 boxes, and a block costs the same however full it is: so
 * the cost of a part is its area times the blocks that it needs, which cuts at
 * multiples of 8 where it can.  No part may take more blocks than its budget.
 * For a dynamic tree, a leaf is one box.
 *
 * Then it is settled which twigs of this skeleton become nodes of eight (Ylitie,
 * Karras and Laine, "Efficient incoherent ray traversal on GPUs through
 * compressed wide BVHs", 2017, section 3.1).
 *
 * Height: from depth DEPTH_LIMIT on, a part is halved at a multiple of 8.  So
 * below there are at most 27 levels of at most 2^27 blocks, above one for the
 * giants, and a node of eight spans at least one level.  With one box a leaf
 * there are 30 levels below.  Where runs are divided first, there are at most 2^20
 * of them, of 2^10 boxes or fewer; so below the limit there are 21 levels of
 * runs, and 8 in a run.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/tree_build.h"

#include <float.h>

_Static_assert(DEPTH_LIMIT + 27 + 2 <= BVH_MAX_HEIGHT, "the proof above");

/* a part smaller than this gets a new frame */
#define SMALL_FOR_FRAME 0x1p-10f

typedef struct Cut
{
	double cost;
	size_t imbalance;
	size_t nleft;
	int axis; /* -1: none */
	int bin;
} Cut;

static inline void
include(float acc[8], const float box[8])
{
	for (int i = 0; i < 8; i++)
		acc[i] = box[i] < acc[i] ? box[i] : acc[i];
}

/*
 * try_cut --- is this cut allowed, and the best so far?
 *
 * Equal costs are the rule where boxes are collinear or equal: then the halves
 * that differ least.
 */
static inline void
try_cut(const Build *build, Cut *best, float left_cost, size_t nleft, float right_cost,
		size_t nright, uint32_t budget, int axis, int bin)
{
	uint32_t left_leaves = leaves_of(build, nleft);
	uint32_t right_leaves = leaves_of(build, nright);
	double cost = (double) left_cost * left_leaves + (double) right_cost * right_leaves;
	size_t imbalance = nleft > nright ? nleft - nright : nright - nleft;

	if (left_leaves + right_leaves > budget)
		return;
	if (best->axis < 0 || cost < best->cost ||
		(cost == best->cost && imbalance < best->imbalance))
		*best = (Cut){cost, imbalance, nleft, axis, bin};
}

/* ---------------------------------------------------------------- binned cuts */

static void
make_map(BvhBinMap *map, const BvhPrimBounds *bounds, int nbins)
{
	memset(map, 0, sizeof(*map));
	for (int axis = 0; axis < 3; axis++)
	{
		float first = bounds->center[axis];
		float extent = -bounds->center[axis + 4] - first;
		float scale = (float) nbins * (1.0f - 0x1p-20f) / extent;

		map->first[axis] = first;
		map->last_bin[axis] = (float) (nbins - 1);
		/* a denormal extent leaves no room for bins */
		if (extent > 0.0f && scale <= FLT_MAX)
			map->scale[axis] = scale;
	}
}

static void
try_bins(Build *build, const Part *part, int axis, Cut *best)
{
	BvhPrimBounds acc = no_bounds;
	size_t nleft = 0;

	for (int i = BVH_BINS - 1; i > 0; i--)
	{
		include(acc.box, build->bins.box[axis][i]);
		build->right_cost[i] = cost_of(acc.box);
	}
	acc = no_bounds;
	for (int i = 1; i < BVH_BINS; i++)
	{
		include(acc.box, build->bins.box[axis][i - 1]);
		nleft += build->bins.n[axis][i - 1];
		if (nleft == 0)
			continue;
		if (nleft == part->n)
			break;
		try_cut(build,
				best,
				cost_of(acc.box),
				nleft,
				build->right_cost[i],
				part->n - nleft,
				part->budget,
				axis,
				i);
	}
}

/* cut at a border of bins; false when there is none to cut at */
static bool
cut_binned(Build *build, const Part *part, BvhPrimBounds bounds[2], size_t *nleft)
{
	BvhPrim *prims = build->prims + part->first;
	Cut best = {0.0, 0, 0, -1, 0};
	BvhPartition todo;
	BvhBinMap map;

	make_map(&map, &part->bounds, BVH_BINS);
	memset(build->bins.n, 0, sizeof(build->bins.n));
	for (int axis = 0; axis < 3; axis++)
		for (int i = 0; i < BVH_BINS; i++)
			memcpy(build->bins.box[axis][i], no_bounds.box, sizeof(no_bounds.box));

	for (size_t at = 0; at < part->n; at += TICK_BOXES)
	{
		size_t n = part->n - at < TICK_BOXES ? part->n - at : TICK_BOXES;

		build->kernels->bin(prims + at, n, &map, &build->bins);
		count_steps(build, n);
	}
	for (int axis = 0; axis < 3; axis++)
		if (map.scale[axis] > 0.0f)
			try_bins(build, part, axis, &best);
	if (best.axis < 0)
		return false;

	todo = (BvhPartition){
		prims, 0, part->n, best.axis, (float) best.bin, &map, {no_bounds, no_bounds}};
	while (todo.left < todo.right)
	{
		size_t left = todo.right - todo.left;

		build->kernels->partition(&todo, TICK_BOXES);
		count_steps(build, left < TICK_BOXES ? left : TICK_BOXES);
	}
	BVH_ASSERT(todo.left == best.nleft);
	memcpy(bounds, todo.bounds, sizeof(todo.bounds));
	*nleft = todo.left;
	return true;
}

/* ---------------------------------------------------------------- halves */

/* axis 3 is the size: all that nested boxes differ in */
static inline float
key_of(const BvhPrim *prim, int axis)
{
	return axis < 3 ? center_of(prim, axis) : cost_of(prim->lane);
}

static inline void
swap_prims(BvhPrim *a, BvhPrim *b)
{
	BvhPrim t = *a;

	*a = *b;
	*b = t;
}

/*
 * cut_halves --- the way out: as exact a half as whole leaves allow
 *
 * Hoare's FIND; equal keys go to either side.
 */
static void
cut_halves(Build *build, const Part *part, BvhPrimBounds bounds[2], size_t *nleft)
{
	BvhPrim *prims = build->prims + part->first;
	int64_t k = (int64_t) (leaves_of(build, part->n) / 2) << build->leaf_bits;
	int64_t left = 0;
	int64_t right = (int64_t) part->n - 1;
	float longest = 0.0f;
	int axis = 3;

	for (int d = 0; d < 3; d++)
	{
		float extent = -part->bounds.center[d + 4] - part->bounds.center[d];

		if (extent > longest)
		{
			longest = extent;
			axis = d;
		}
	}
	while (left < right)
	{
		float pivot = key_of(&prims[k], axis);
		int64_t i = left;
		int64_t j = right;

		do
		{
			while (key_of(&prims[i], axis) < pivot)
				i++;
			while (pivot < key_of(&prims[j], axis))
				j--;
			if (i <= j)
				swap_prims(&prims[i++], &prims[j--]);
		} while (i <= j);
		count_steps(build, (size_t) (right - left + 1));
		if (j < k)
			left = i;
		if (k < i)
			right = j;
	}
	*nleft = (size_t) k;
	bounds[0] = bounds[1] = no_bounds;
	build->kernels->measure(prims, *nleft, &bounds[0]);
	build->kernels->measure(prims + *nleft, part->n - *nleft, &bounds[1]);
}

/* ---------------------------------------------------------------- few boxes */

/* try every cut on every axis; one between whole leaves is always allowed */
static void
cut_few(Build *build, const Part *part, BvhPrimBounds bounds[2], size_t *nleft)
{
	BvhPrim *prims = build->prims + part->first;
	int n = (int) part->n;
	Cut best = {0.0, 0, 0, -1, 0};
	bool goes_left[BVH_FEW] = {false};
	int left = 0;
	int right;

	memcpy(build->few_prims, prims, sizeof(BvhPrim) * n);
	for (int axis = 0; axis < 3; axis++)
	{
		uint8_t *sorted = build->sorted[axis];
		BvhPrimBounds acc = no_bounds;

		for (int i = 0; i < n; i++)
			build->key[i] = center_of(&build->few_prims[i], axis);
		build->kernels->sort(build->key, n, sorted);
		for (int i = n - 1; i > 0; i--)
		{
			include(acc.box, build->few_prims[sorted[i]].lane);
			build->right_cost[i] = cost_of(acc.box);
		}
		acc = no_bounds;
		for (int i = 1; i < n; i++)
		{
			include(acc.box, build->few_prims[sorted[i - 1]].lane);
			try_cut(build,
					&best,
					cost_of(acc.box),
					i,
					build->right_cost[i],
					n - i,
					part->budget,
					axis,
					0);
		}
	}
	*nleft = best.nleft;
	for (size_t i = 0; i < best.nleft; i++)
		goes_left[build->sorted[best.axis][i]] = true;
	right = (int) best.nleft;
	for (int i = 0; i < n; i++)
		prims[goes_left[i] ? left++ : right++] = build->few_prims[i];
	bounds[0] = bounds[1] = no_bounds;
	build->kernels->measure(prims, *nleft, &bounds[0]);
	build->kernels->measure(prims + *nleft, part->n - *nleft, &bounds[1]);
	count_steps(build, part->n);
}

/* ---------------------------------------------------------------- the skeleton */

/* the frame that suits a part best */
static Frame
best_frame(Build *build, const Part *part)
{
	const BvhPrim *prims = build->prims + part->first;
	Box3 bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	Frame frame;

	for (size_t i = 0; i < part->n; i++)
	{
		bvh_include_finite(&bounds, &build->items[prims[i].item & ~ITEM_TAG].box);
		if (i % 1024 == 1023)
			count_steps(build, 1024);
	}
	bvh_make_frame(&frame, &bounds);
	return frame;
}

static void
put_in_frame(Build *build, Part *part, const Frame *frame)
{
	BvhPrim *prims = build->prims + part->first;

	part->exponent = frame->exponent;
	part->is_point = frame->is_point;
	part->bounds = no_bounds;
	for (size_t at = 0; at < part->n; at += TICK_BOXES)
	{
		size_t n = part->n - at < TICK_BOXES ? part->n - at : TICK_BOXES;

		for (size_t i = at; i < at + n; i++)
			make_prim(frame, &build->items[prims[i].item & ~ITEM_TAG].box, &prims[i]);
		build->kernels->measure(prims + at, n, &part->bounds);
		count_steps(build, n);
	}
}

static bool
is_small_for_frame(const Part *part)
{
	float longest = 0.0f;

	for (int d = 0; d < 3; d++)
		longest = fmaxf(longest, side(part->bounds.box, d));
	return longest < SMALL_FOR_FRAME && !part->is_point;
}

/*
 * bvh_grow_skeleton --- twigs for n boxes of the order, depth first
 *
 * left_of is the twig whose right child they are, or NO_TWIG.  Costs are in the
 * frame, or in the best one for these boxes if that is NULL.  The level is how many
 * twigs there are above.
 */
void
bvh_grow_skeleton(Build *build, size_t first, size_t n, uint32_t left_of,
				  const Frame *root_frame, int level)
{
	int depth = 0;
	Part *root = &build->stack[depth++];
	int root_exponent;
	Frame frame;

	*root = (Part){first, n, budget_of(build, n), left_of, level, 0, false, no_bounds};
	frame = root_frame != NULL ? *root_frame : best_frame(build, root);
	put_in_frame(build, root, &frame);
	root_exponent = root->exponent;
	while (depth > 0)
	{
		Part part = build->stack[--depth];
		uint32_t number = build->ntwigs++;
		Twig *twig = &build->twigs[number];
		BvhPrimBounds bounds[2];
		uint32_t spare;
		size_t nleft;

		if (part.left_of != NO_TWIG)
			build->twigs[part.left_of].right = number;
		*twig = (Twig){0, (uint32_t) part.first, (uint32_t) part.n, 0.0f};
		twig->cost = cost_of(part.bounds.box);
		if (part.exponent != root_exponent)
			twig->cost = ldexpf(twig->cost, 2 * (part.exponent - root_exponent));
		if (part.n <= build->leaf_size)
		{
			build->nblocks++;
			continue;
		}
		if (is_small_for_frame(&part))
		{
			frame = best_frame(build, &part);
			put_in_frame(build, &part, &frame);
		}

		if (part.depth >= DEPTH_LIMIT)
			cut_halves(build, &part, bounds, &nleft);
		else if (part.n <= build->few)
			cut_few(build, &part, bounds, &nleft);
		else if (!cut_binned(build, &part, bounds, &nleft))
			cut_halves(build, &part, bounds, &nleft);

		/* both get what they need, and their share of what is left */
		spare = part.budget - leaves_of(build, nleft) - leaves_of(build, part.n - nleft);
		BVH_ASSERT(depth + 2 <= DEPTH_LIMIT + 32);
		build->stack[depth] = part;
		build->stack[depth].first += nleft;
		build->stack[depth].n -= nleft;
		build->stack[depth].left_of = number;
		build->stack[depth].depth++;
		build->stack[depth].bounds = bounds[1];
		build->stack[depth + 1] = build->stack[depth];
		build->stack[depth + 1].first = part.first;
		build->stack[depth + 1].n = nleft;
		build->stack[depth + 1].left_of = NO_TWIG;
		build->stack[depth + 1].bounds = bounds[0];
		build->stack[depth + 1].budget = leaves_of(build, nleft) +
										 (uint32_t) ((uint64_t) spare * nleft / part.n);
		build->stack[depth].budget = part.budget - build->stack[depth + 1].budget;
		depth += 2;
	}
}

/* settle which twigs become nodes: children come after their parents */
void
bvh_make_plans(Build *build)
{
	for (uint32_t at = build->ntwigs; at-- > 0;)
	{
		const Twig *twig = &build->twigs[at];
		Plan *plan = &build->plans[at];
		const Plan *left = &build->plans[at + 1];
		const Plan *right = &build->plans[twig->right];

		if (at % TICK_BOXES == 0)
			build->env->tick(build->env->context);
		memset(plan->go_left, 0, sizeof(plan->go_left));
		if (twig->right == 0)
		{
			for (int i = 0; i < 7; i++)
				plan->least[i] = 0.0f;
			continue;
		}
		for (int lanes = 8; lanes >= 2; lanes--)
		{
			float least = INFINITY;
			int best = 1;

			for (int k = 1; k < lanes; k++)
			{
				float cost = left->least[k - 1] + right->least[lanes - k - 1];

				if (cost < least)
				{
					least = cost;
					best = k;
				}
			}
			plan->go_left[lanes - 1] = (uint8_t) best;
			if (lanes == 8)
				/* a little even where there is no area: fewer nodes are better */
				plan->least[0] = least + twig->cost + FLT_MIN;
			else
				plan->least[lanes - 1] = least;
		}
		for (int i = 1; i < 7; i++)
			if (plan->least[i] >= plan->least[i - 1])
			{
				plan->least[i] = plan->least[i - 1];
				plan->go_left[i] = 0;
			}
	}
}

/* the lanes of the node that a twig becomes */
int
bvh_twig_lanes(const Build *build, uint32_t twig, Lane lanes[BVH_WIDTH])
{
	struct
	{
		uint32_t twig;
		int nlanes;
	} stack[BVH_WIDTH + 1];
	int depth = 0;
	int n = 0;

	/* a tree that is one block */
	if (build->twigs[twig].right == 0)
	{
		lanes[0].is_block = true;
		lanes[0].first = build->twigs[twig].first;
		lanes[0].n = build->twigs[twig].n;
		return 1;
	}
	stack[depth].twig = twig;
	stack[depth++].nlanes = BVH_WIDTH;
	while (depth > 0)
	{
		uint32_t at = stack[--depth].twig;
		int nlanes = stack[depth].nlanes;
		const Twig *t = &build->twigs[at];
		int go_left;

		while (nlanes > 1 && build->plans[at].go_left[nlanes - 1] == 0)
			nlanes--;
		go_left = nlanes > 1 ? build->plans[at].go_left[nlanes - 1] : 0;
		if (go_left == 0)
		{
			lanes[n].is_block = t->right == 0;
			lanes[n].first = t->first;
			lanes[n].n = t->n;
			lanes[n].branch = (Branch){at, 0};
			n++;
			continue;
		}
		stack[depth].twig = t->right;
		stack[depth++].nlanes = nlanes - go_left;
		stack[depth].twig = at + 1;
		stack[depth++].nlanes = go_left;
	}
	return n;
}
