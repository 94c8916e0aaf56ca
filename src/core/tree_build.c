/*-------------------------------------------------------------------------
 *
 * tree_build.c
 *	  Building the tree in memory.
 *
 * In three steps.  The boxes, as floats in a frame that spans about 1, are
 * divided in two again and again, by binned SAH (Wald, "On fast construction of
 * SAH-based bounding volume hierarchies", 2007) and, where few are left, by
 * trying every cut; that gives a skeleton of binary nodes.  Then it is settled which
 * of them become nodes of eight (Ylitie, Karras and Laine, "Efficient
 * incoherent ray traversal on GPUs through compressed wide BVHs", 2017, section
 * 3.1).  At last the tree is allocated, of just the right size, and filled.
 *
 * What is particular here:
 *
 * 1. A leaf is a block of up to 8 boxes, and a block costs the same however
 *    full it is.  So the cost of a part is its area times the blocks that it
 *    needs, which cuts at multiples of 8 where it can; and no part may take
 *    more blocks than its budget, so the size of a tree is bounded.
 * 2. Boxes with an infinite side, or so large that everything near meets them,
 *    are divided from the others first.  They become a subtree of their own
 *    below the root, which a search prunes like any other.
 * 3. Floats are for choosing only.  A part that is too small for its frame gets
 *    a new one, from the exact boxes; so what is in millimetres at one end of
 *    a world of light years is divided as well as the rest.
 *
 * Height: from depth DEPTH_LIMIT on, a binary part is halved at a multiple of
 * 8, so there are at most DEPTH_LIMIT and 27 more levels of at most 2^27
 * blocks, one for the giants, and a node of eight spans at least one.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"

#include <float.h>

#include "core/hilbert.h"

#define DEPTH_LIMIT 32

_Static_assert(DEPTH_LIMIT + 27 + 2 <= BVH_MAX_HEIGHT, "the proof above");

/* up to here every cut is tried */
#define FEW 64

/*
 * What BvhPrim.item has besides the number: as a float, it is then an ordinary
 * number, and not a denormal that costs some machines a hundred cycles.
 */
#define ITEM_TAG UINT32_C(0x40000000)

/* share of the sum of sides in the cost; areas of about 1 hide it */
#define LENGTH_WEIGHT 0x1p-20f

/* a box of so much of the area of all is a giant, if these are few */
#define GIANT_SHARE  0.25
#define GIANT_ROUNDS 4

/* a part smaller than this gets a new frame */
#define SMALL_FOR_FRAME 0x1p-10f

/* steps between ticks, in boxes */
#define TICK_BOXES 32768

#define NO_TWIG UINT32_MAX

/* where boxes are in float: x becomes (x - origin) * 2^-exponent / 2 */
typedef struct Frame
{
	double half_origin[3];
	double factor; /* 2^-exponent, if plain */
	int exponent;
	bool plain;
} Frame;

/* a binary node; its left child is the next one; 16 bytes */
typedef struct Twig
{
	uint32_t right; /* 0 for a leaf */
	uint32_t first; /* its boxes, if a leaf */
	uint32_t n;
	float cost;
} Twig;

/*
 * How a twig becomes part of nodes of eight; 32 + 8 bytes.  least[i - 1] is the
 * least cost of it as up to i lanes of one node, and go_left[i - 1] how many
 * of them go to its left child; 0 when fewer lanes are as good.  go_left[7]
 * is for a node of its own.
 */
typedef struct Plan
{
	float least[7];
	uint32_t spare;
	uint8_t go_left[8];
} Plan;

/* boxes that are still to be divided */
typedef struct Part
{
	size_t first;
	size_t n;
	uint32_t budget;  /* blocks that they may take */
	uint32_t left_of; /* the twig whose right child this is, or NO_TWIG */
	int depth;
	int exponent; /* of the frame that the prims are in */
	BvhPrimBounds bounds;
} Part;

typedef struct Cut
{
	double cost;
	size_t imbalance;
	size_t nleft;
	int axis; /* -1: none */
	int bin;
} Cut;

/* an entry of the sort along the curve; 16 bytes */
typedef struct CurveItem
{
	uint64_t key;
	uint32_t item;
	uint32_t spare;
} CurveItem;

/* what becomes a node: a twig, or a run of blocks along the curve */
typedef struct Branch
{
	uint32_t first; /* twig, or block */
	uint32_t n;     /* blocks; 0 for a twig */
} Branch;

typedef struct Lane
{
	bool is_block;
	uint32_t first; /* place of the boxes in the order */
	uint32_t n;
	Branch branch;
} Lane;

typedef struct Unfilled
{
	Branch branch;
	uint32_t parent;
	int lane;
	uint32_t level;
} Unfilled;

typedef struct Build
{
	const BvhEnv *env;
	const BvhTreeKernels *kernels;
	const BvhItem *items;
	size_t n;
	size_t ngiants; /* at the end of the order */
	Frame frame;    /* of the others */
	size_t nsteps;

	BvhPrim *prims; /* the chunks of the build */
	Twig *twigs;
	Plan *plans;
	CurveItem *curve[2];
	uint32_t ntwigs;

	/* the order of the items that was found: a uint32_t every so many bytes */
	const char *order;
	size_t order_stride;
	uint32_t nblocks;
	uint32_t nnodes;

	Part stack[DEPTH_LIMIT + 32];
	BvhBins bins;
	float right_cost[FEW];
	BvhPrim few[FEW];
	uint8_t sorted[3][FEW];
	Unfilled unfilled[7 * BVH_MAX_HEIGHT + 8];
} Build;

static inline uint32_t
blocks_of(size_t n)
{
	return (uint32_t) ((n + BVH_WIDTH - 1) / BVH_WIDTH);
}

/* blocks that a set of n may take: some more than it needs */
static inline uint32_t
budget_of(size_t n)
{
	return blocks_of(n) + (uint32_t) (n / 16) + 4;
}

/* both parts of the set have a budget of their own */
static inline uint64_t
most_blocks(size_t n)
{
	return (uint64_t) blocks_of(n) + n / 16 + 9;
}

static void
count_steps(Build *build, size_t n)
{
	build->nsteps += n;
	if (build->nsteps >= TICK_BOXES)
	{
		build->nsteps = 0;
		build->env->tick(build->env->context);
	}
}

/* ---------------------------------------------------------------- frames */

static const BvhPrimBounds nothing = {
	{INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY},
	{INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}};

/* grow the bounds by what is finite of a box; false if something is not */
static inline bool
include_finite(Box3 *bounds, const Box3 *b)
{
	bool finite = true;

	for (int d = 0; d < 3; d++)
		finite &= (b->lo[d] >= -DBL_MAX) & (b->hi[d] <= DBL_MAX);
	if (finite)
	{
		box3_include(bounds, b);
		return true;
	}
	for (int d = 0; d < 3; d++)
	{
		double bound[2] = {b->lo[d], b->hi[d]};

		for (int k = 0; k < 2; k++)
			if (isfinite(bound[k]))
			{
				bounds->lo[d] = fmin(bounds->lo[d], bound[k]);
				bounds->hi[d] = fmax(bounds->hi[d], bound[k]);
			}
	}
	return false;
}

static void
make_frame(Frame *frame, const Box3 *bounds)
{
	double longest = 0.0;

	for (int d = 0; d < 3; d++)
	{
		bool any = bounds->lo[d] <= bounds->hi[d];

		/* halves: a side may be longer than the largest double */
		frame->half_origin[d] = any ? 0.5 * bounds->lo[d] : 0.0;
		if (any)
			longest = fmax(longest, 0.5 * bounds->hi[d] - 0.5 * bounds->lo[d]);
	}
	frame->exponent = 0;
	if (longest > 0.0)
		frexp(longest, &frame->exponent);
	frame->plain = frame->exponent > -1000 && frame->exponent < 1000;
	frame->factor = frame->plain ? ldexp(1.0, -frame->exponent) : 0.0;
}

/* a coordinate in the frame: 0 to 1 for what the frame is made for */
static inline float
in_frame(const Frame *frame, double x, int d)
{
	double offset = 0.5 * x - frame->half_origin[d];

	offset = frame->plain ? offset * frame->factor : ldexp(offset, -frame->exponent);
	/* what lies at infinity is a span away */
	offset = offset > -1.0 ? offset : -1.0;
	return (float) (offset < 2.0 ? offset : 2.0);
}

static inline void
make_prim(const Frame *frame, const Box3 *b, BvhPrim *prim)
{
	for (int d = 0; d < 3; d++)
	{
		prim->lo[d] = in_frame(frame, b->lo[d], d);
		prim->neg_hi[d] = -in_frame(frame, b->hi[d], d);
	}
	prim->spare = 0;
}

/* ---------------------------------------------------------------- costs */

static inline float
side(const float box[8], int d)
{
	return -(box[d + 4] + box[d]);
}

static inline float
cost_of(const float box[8])
{
	float x = side(box, 0);
	float y = side(box, 1);
	float z = side(box, 2);

	return x * y + y * z + z * x + LENGTH_WEIGHT * (x + y + z);
}

static inline void
include(float acc[8], const float box[8])
{
	for (int i = 0; i < 8; i++)
		acc[i] = box[i] < acc[i] ? box[i] : acc[i];
}

static inline float
center_of(const BvhPrim *prim, int axis)
{
	return prim->lo[axis] - prim->neg_hi[axis];
}

/*
 * try_cut --- is this cut allowed, and the best so far?
 *
 * Equal costs are the rule where boxes are collinear or equal: then the halves
 * that differ least.
 */
static inline void
try_cut(Cut *best, float left_cost, size_t nleft, float right_cost, size_t nright,
		uint32_t budget, int axis, int bin)
{
	uint32_t left_blocks = blocks_of(nleft);
	uint32_t right_blocks = blocks_of(nright);
	double cost = (double) left_cost * left_blocks + (double) right_cost * right_blocks;
	size_t imbalance = nleft > nright ? nleft - nright : nright - nleft;

	if (left_blocks + right_blocks > budget)
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
	BvhPrimBounds acc = nothing;
	size_t nleft = 0;

	for (int i = BVH_BINS - 1; i > 0; i--)
	{
		include(acc.box, build->bins.box[axis][i]);
		build->right_cost[i] = cost_of(acc.box);
	}
	acc = nothing;
	for (int i = 1; i < BVH_BINS; i++)
	{
		include(acc.box, build->bins.box[axis][i - 1]);
		nleft += build->bins.n[axis][i - 1];
		if (nleft == 0)
			continue;
		if (nleft == part->n)
			break;
		try_cut(best,
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
			memcpy(build->bins.box[axis][i], nothing.box, sizeof(nothing.box));

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

	todo = (BvhPartition){prims, 0, part->n, best.axis, (float) best.bin, &map, {nothing, nothing}};
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
 * cut_halves --- the way out: as exact a half as multiples of 8 allow
 *
 * Hoare's FIND; equal keys go to either side.
 */
static void
cut_halves(Build *build, const Part *part, BvhPrimBounds bounds[2], size_t *nleft)
{
	BvhPrim *prims = build->prims + part->first;
	int64_t k = (int64_t) BVH_WIDTH * (blocks_of(part->n) / 2);
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
	bounds[0] = bounds[1] = nothing;
	build->kernels->measure(prims, *nleft, &bounds[0]);
	build->kernels->measure(prims + *nleft, part->n - *nleft, &bounds[1]);
}

/* ---------------------------------------------------------------- few boxes */

static void
sort_few(const BvhPrim *prims, int n, int axis, uint8_t *sorted)
{
	float key[FEW];

	for (int i = 0; i < n; i++)
	{
		float x = center_of(&prims[i], axis);
		int j = i;

		for (; j > 0 && x < key[j - 1]; j--)
		{
			key[j] = key[j - 1];
			sorted[j] = sorted[j - 1];
		}
		key[j] = x;
		sorted[j] = (uint8_t) i;
	}
}

/* try every cut on every axis; one at a multiple of 8 is always allowed */
static void
cut_few(Build *build, const Part *part, BvhPrimBounds bounds[2], size_t *nleft)
{
	BvhPrim *prims = build->prims + part->first;
	int n = (int) part->n;
	Cut best = {0.0, 0, 0, -1, 0};
	bool goes_left[FEW] = {false};
	int left = 0;
	int right;

	memcpy(build->few, prims, sizeof(BvhPrim) * n);
	for (int axis = 0; axis < 3; axis++)
	{
		uint8_t *sorted = build->sorted[axis];
		BvhPrimBounds acc = nothing;

		sort_few(build->few, n, axis, sorted);
		for (int i = n - 1; i > 0; i--)
		{
			include(acc.box, build->few[sorted[i]].lane);
			build->right_cost[i] = cost_of(acc.box);
		}
		acc = nothing;
		for (int i = 1; i < n; i++)
		{
			include(acc.box, build->few[sorted[i - 1]].lane);
			try_cut(&best,
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
		prims[goes_left[i] ? left++ : right++] = build->few[i];
	bounds[0] = bounds[1] = nothing;
	build->kernels->measure(prims, *nleft, &bounds[0]);
	build->kernels->measure(prims + *nleft, part->n - *nleft, &bounds[1]);
	count_steps(build, part->n);
}

/* ---------------------------------------------------------------- the skeleton */

/* put the boxes of a part into a frame of their own */
static void
frame_part(Build *build, Part *part)
{
	BvhPrim *prims = build->prims + part->first;
	Box3 bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	Frame frame;

	for (size_t i = 0; i < part->n; i++)
	{
		include_finite(&bounds, &build->items[prims[i].item & ~ITEM_TAG].box);
		if (i % 1024 == 1023)
			count_steps(build, 1024);
	}
	make_frame(&frame, &bounds);
	part->exponent = frame.exponent;
	part->bounds = nothing;
	for (size_t at = 0; at < part->n; at += TICK_BOXES)
	{
		size_t n = part->n - at < TICK_BOXES ? part->n - at : TICK_BOXES;

		for (size_t i = at; i < at + n; i++)
			make_prim(&frame, &build->items[prims[i].item & ~ITEM_TAG].box, &prims[i]);
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
	return longest < SMALL_FOR_FRAME;
}

static void
grow_skeleton(Build *build, size_t first, size_t n, uint32_t left_of)
{
	int depth = 0;
	Part *root = &build->stack[depth++];

	*root = (Part){first, n, budget_of(n), left_of, 0, 0, nothing};
	frame_part(build, root);
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
		if (part.exponent != build->frame.exponent)
			twig->cost = ldexpf(twig->cost, 2 * (part.exponent - build->frame.exponent));
		if (part.n <= BVH_WIDTH)
		{
			build->nblocks++;
			continue;
		}
		/* only once: what is small in its own frame is smaller than double can tell */
		if (is_small_for_frame(&part))
			frame_part(build, &part);

		if (part.depth >= DEPTH_LIMIT)
			cut_halves(build, &part, bounds, &nleft);
		else if (part.n <= FEW)
			cut_few(build, &part, bounds, &nleft);
		else if (!cut_binned(build, &part, bounds, &nleft))
			cut_halves(build, &part, bounds, &nleft);

		/* both get what they need, and their share of what is left */
		spare = part.budget - blocks_of(nleft) - blocks_of(part.n - nleft);
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
		build->stack[depth + 1].budget =
			blocks_of(nleft) + (uint32_t) ((uint64_t) spare * nleft / part.n);
		build->stack[depth].budget = part.budget - build->stack[depth + 1].budget;
		depth += 2;
	}
}

/* settle which twigs become nodes: children come after their parents */
static void
make_plans(Build *build)
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

/* ---------------------------------------------------------------- the curve */

/* order items by the lowest bits of their keys; LSD radix sort */
static void
sort_curve(Build *build, size_t first, size_t n, int bits)
{
	CurveItem *from = build->curve[0] + first;
	CurveItem *to = build->curve[1] + first;

	for (int shift = 0; shift < bits; shift += 8)
	{
		CurveItem *t = from;
		size_t start[256] = {0};
		size_t sum = 0;

		for (size_t i = 0; i < n; i++)
			start[from[i].key >> shift & 0xFF]++;
		for (int i = 0; i < 256; i++)
		{
			size_t count = start[i];

			start[i] = sum;
			sum += count;
		}
		for (size_t at = 0; at < n; at += TICK_BOXES)
		{
			size_t end = n - at < TICK_BOXES ? n : at + TICK_BOXES;

			for (size_t i = at; i < end; i++)
				to[start[from[i].key >> shift & 0xFF]++] = from[i];
			count_steps(build, end - at);
		}
		from = to;
		to = t;
	}
	if (from != build->curve[0] + first)
		memcpy(build->curve[0] + first, from, n * sizeof(CurveItem));
}

/* order the items of curve[0] from first on along the curve */
static void
follow_curve(Build *build, size_t first, size_t n)
{
	CurveItem *curve = build->curve[0] + first;
	Box3 bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	/* cells enough to tell neighbours apart where they are far from evenly spread */
	int bits = n <= 4096 ? 8 : n <= 65536 ? 13 : 21;
	float ncells = (float) (1 << bits);
	Frame frame;

	for (size_t i = 0; i < n; i++)
		include_finite(&bounds, &build->items[curve[i].item].box);
	make_frame(&frame, &bounds);
	for (size_t at = 0; at < n; at += TICK_BOXES)
	{
		size_t end = n - at < TICK_BOXES ? n : at + TICK_BOXES;

		for (size_t i = at; i < end; i++)
		{
			uint64_t cell[3];
			BvhPrim prim;

			make_prim(&frame, &build->items[curve[i].item].box, &prim);
			for (int d = 0; d < 3; d++)
			{
				float place = 0.5f * center_of(&prim, d) * ncells;

				place = place > 0.0f ? place : 0.0f;
				cell[d] = (uint64_t) (place < ncells - 1.0f ? place : ncells - 1.0f);
			}
			curve[i].key = hilbert_key(cell, bits);
		}
		count_steps(build, end - at);
	}
	sort_curve(build, first, n, 3 * bits);
}

/* ---------------------------------------------------------------- the tree */

/* the places of block number so many of the order along the curve */
static void
block_along_curve(const Build *build, uint32_t block, Lane *lane)
{
	size_t nothers = build->n - build->ngiants;
	uint32_t nbefore = blocks_of(nothers);
	bool is_giant = block >= nbefore;
	size_t first = is_giant ? nothers + (size_t) BVH_WIDTH * (block - nbefore)
							: (size_t) BVH_WIDTH * block;
	size_t end = is_giant ? build->n : nothers;

	lane->is_block = true;
	lane->first = (uint32_t) first;
	lane->n = (uint32_t) (end - first < BVH_WIDTH ? end - first : BVH_WIDTH);
}

/* the lanes of the node that a run of blocks becomes: full subtrees but the last */
static int
run_lanes(const Build *build, Branch run, Lane lanes[BVH_WIDTH])
{
	uint32_t nothers = blocks_of(build->n - build->ngiants);
	uint32_t end = run.first + run.n;
	uint32_t size = 1;
	int n = 0;

	/* the root of a tree with giants */
	if (run.first < nothers && end > nothers && run.first == 0)
	{
		lanes[0].branch = (Branch){0, nothers};
		lanes[1].branch = (Branch){nothers, end - nothers};
		for (int i = 0; i < 2; i++)
		{
			lanes[i].is_block = false;
			if (lanes[i].branch.n == 1)
				block_along_curve(build, lanes[i].branch.first, &lanes[i]);
		}
		return 2;
	}
	while ((uint64_t) size * BVH_WIDTH < run.n)
		size *= BVH_WIDTH;
	for (uint32_t at = run.first; at < end; at += size, n++)
	{
		uint32_t rest = end - at;

		lanes[n].is_block = false;
		lanes[n].branch = (Branch){at, rest < size ? rest : size};
		if (lanes[n].branch.n == 1)
			block_along_curve(build, at, &lanes[n]);
	}
	return n;
}

/* the lanes of the node that a twig becomes */
static int
twig_lanes(const Build *build, uint32_t twig, Lane lanes[BVH_WIDTH])
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

static int
lanes_of(const Build *build, Branch branch, Lane lanes[BVH_WIDTH])
{
	return branch.n > 0 ? run_lanes(build, branch, lanes)
						: twig_lanes(build, branch.first, lanes);
}

static Branch
root_branch(const Build *build)
{
	return (Branch){0, build->curve[0] != NULL ? build->nblocks : 0};
}

/*
 * walk_branches --- visit every node to be, parents first, depth first
 *
 * Without a tree only counts them; else fills them, all but the bounds of
 * lanes with a node.
 */
static void fill_lanes(Build *build, BvhTree *tree, uint32_t number, const Lane *lanes,
					   int n);

static void
walk_branches(Build *build, BvhTree *tree)
{
	int depth = 0;

	build->nnodes = 0;
	build->unfilled[depth++] = (Unfilled){root_branch(build), 0, 0, 1};
	while (depth > 0)
	{
		Unfilled next = build->unfilled[--depth];
		uint32_t number = build->nnodes++;
		Lane lanes[BVH_WIDTH];
		int n = lanes_of(build, next.branch, lanes);

		if (tree != NULL)
		{
			if (number > 0)
				tree_nodes(tree)[next.parent].child[next.lane] = number;
			if (next.level > tree->height)
				tree->height = next.level;
			fill_lanes(build, tree, number, lanes, n);
		}
		/* the first lane is the next node */
		for (int i = n - 1; i >= 0; i--)
			if (!lanes[i].is_block)
			{
				BVH_ASSERT(depth < 7 * BVH_MAX_HEIGHT + 8);
				build->unfilled[depth++] =
					(Unfilled){lanes[i].branch, number, i, next.level + 1};
			}
	}
}

static inline uint32_t
ordered_item(const Build *build, size_t i)
{
	uint32_t item;

	memcpy(&item, build->order + i * build->order_stride, sizeof(item));
	return item & ~ITEM_TAG;
}

static void
fill_block(const Build *build, BvhTree *tree, const Lane *from, BvhBlock *block,
		   BvhNode *node, int lane)
{
	Box3 bounds = build->items[ordered_item(build, from->first)].box;

	for (uint32_t place = 0; place < BVH_WIDTH; place++)
	{
		size_t i = from->first + (place < from->n ? place : 0);
		const BvhItem *item = &build->items[ordered_item(build, i)];

		for (int d = 0; d < 3; d++)
		{
			block->bound[d][place] = item->box.lo[d];
			block->bound[d + 3][place] = item->box.hi[d];
		}
		block->id[place] = item->id;
		box3_include(&bounds, &item->box);
	}
	for (int d = 0; d < 3; d++)
	{
		node->bound[d][lane] = float_below(bounds.lo[d]);
		node->bound[d + 3][lane] = float_below(-bounds.hi[d]);
	}
	box3_include(&tree->bounds, &bounds);
}

static void
fill_lanes(Build *build, BvhTree *tree, uint32_t number, const Lane *lanes, int n)
{
	BvhNode *node = &tree_nodes(tree)[number];

	memset(node->spare, 0, sizeof(node->spare));
	node->live = (UINT32_C(1) << n) - 1;
	for (int i = 0; i < n; i++)
	{
		node->child[i] = 0;
		if (!lanes[i].is_block)
			continue;
		node->child[i] = block_ref(tree->nblocks, lanes[i].n);
		fill_block(build, tree, &lanes[i], &tree_blocks(tree)[tree->nblocks++], node, i);
	}
	count_steps(build, 4 * BVH_WIDTH);
}

/* bounds of the lanes with a node, from the last node to the first */
static void
fill_bounds(Build *build, BvhTree *tree)
{
	BvhNode *nodes = tree_nodes(tree);

	for (uint32_t at = tree->nnodes; at-- > 0;)
	{
		BvhNode *node = &nodes[at];

		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			if (!(node->live >> lane & 1))
			{
				for (int k = 0; k < 6; k++)
					node->bound[k][lane] = node->bound[k][0];
				node->child[lane] = node->child[0];
				continue;
			}
			if (ref_is_block(node->child[lane]))
				continue;
			for (int k = 0; k < 6; k++)
			{
				const float *of_child = nodes[node->child[lane]].bound[k];
				float least = of_child[0];

				for (int i = 1; i < BVH_WIDTH; i++)
					least = of_child[i] < least ? of_child[i] : least;
				node->bound[k][lane] = least;
			}
		}
		count_steps(build, 1);
	}
}

static size_t
size_of(uint64_t nnodes, uint64_t nblocks)
{
	return sizeof(BvhTree) + nnodes * sizeof(BvhNode) + nblocks * sizeof(BvhBlock);
}

/* an empty tree for so many nodes and blocks, or NULL */
static BvhTree *
new_tree(const BvhEnv *env, uint32_t nnodes, uint32_t nblocks)
{
	size_t size = size_of(nnodes, nblocks);
	char *chunk = env->alloc(env->context, size + BVH_TREE_ALIGNMENT - 1);
	uint32_t skipped;
	BvhTree *tree;

	if (chunk == NULL)
		return NULL;
	skipped = (uint32_t) (-(uintptr_t) chunk % BVH_TREE_ALIGNMENT);
	tree = (BvhTree *) (chunk + skipped);
	memset(tree, 0, sizeof(*tree));
	tree->magic = BVH_TREE_MAGIC;
	tree->skipped = skipped;
	tree->size = size;
	tree->nnodes = nnodes;
	return tree;
}

/* ---------------------------------------------------------------- all together */

static bool
is_infinite(const Box3 *b)
{
	bool finite = true;

	for (int d = 0; d < 3; d++)
		finite &= (b->lo[d] >= -DBL_MAX) & (b->hi[d] <= DBL_MAX);
	return !finite;
}

static uint32_t *
order_at(const Build *build, size_t i)
{
	return (uint32_t *) (build->order + i * build->order_stride);
}

/*
 * set_giants_apart --- move them to the end of the order
 *
 * First what has an infinite side; then what has much of the area of all that
 * is left, several times over, as long as they are few.
 */
static void
set_giants_apart(Build *build)
{
	size_t most = build->n / 64 > 16 ? build->n / 64 : 16;
	size_t nothers = build->n;

	for (int round = 0; round <= GIANT_ROUNDS; round++)
	{
		Box3 bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
		BvhPrim whole;
		float limit;
		size_t n = 0;
		size_t ngiants = 0;

		for (size_t i = 0; i < nothers; i++)
		{
			const Box3 *b = &build->items[ordered_item(build, i)].box;

			ngiants += !include_finite(&bounds, b);
			if (i % 1024 == 1023)
				count_steps(build, 1024);
		}
		make_frame(&build->frame, &bounds);
		if (round > 0)
		{
			make_prim(&build->frame, &bounds, &whole);
			limit = (float) GIANT_SHARE * cost_of(whole.lane);
			if (nothers <= BVH_WIDTH)
				break;
			ngiants = 0;
			for (size_t i = 0; i < nothers; i++)
			{
				BvhPrim prim;

				make_prim(&build->frame,
						  &build->items[ordered_item(build, i)].box,
						  &prim);
				ngiants += cost_of(prim.lane) > limit;
			}
			if (ngiants == 0 || ngiants + build->n - nothers > most)
				break;
		}
		else if (ngiants == 0)
			continue;
		for (size_t i = 0; i < nothers; i++)
		{
			uint32_t *item = order_at(build, i);
			const Box3 *b = &build->items[*item & ~ITEM_TAG].box;
			bool is_giant = is_infinite(b);
			BvhPrim prim;

			if (round > 0)
			{
				make_prim(&build->frame, b, &prim);
				is_giant = cost_of(prim.lane) > limit;
			}
			if (!is_giant)
			{
				uint32_t *to = order_at(build, n++);
				uint32_t t = *to;

				*to = *item;
				*item = t;
			}
		}
		nothers = n;
	}
	build->ngiants = build->n - nothers;
	/* a tree of giants only has none */
	if (nothers == 0)
		build->ngiants = 0;
}

static void
grow_all(Build *build)
{
	size_t nothers = build->n - build->ngiants;

	for (size_t i = 0; i < build->n; i++)
		build->prims[i].item = (uint32_t) i | ITEM_TAG;
	set_giants_apart(build);
	nothers = build->n - build->ngiants;
	if (build->ngiants == 0)
		grow_skeleton(build, 0, build->n, NO_TWIG);
	else
	{
		build->ntwigs = 1;
		build->twigs[0] = (Twig){0, 0, (uint32_t) build->n, 1.0f};
		grow_skeleton(build, 0, nothers, NO_TWIG);
		grow_skeleton(build, nothers, build->ngiants, 0);
	}
}

static BvhStatus
build_sah(Build *build)
{
	const BvhEnv *env = build->env;
	uint64_t most_twigs = 2 * most_blocks(build->n) + 1;

	build->prims = env->alloc(env->context, build->n * sizeof(BvhPrim));
	if (build->prims == NULL)
		return BVH_NO_MEMORY;
	build->twigs = env->alloc(env->context, most_twigs * sizeof(Twig));
	if (build->twigs == NULL)
		return BVH_NO_MEMORY;
	build->order = (const char *) &build->prims[0].item;
	build->order_stride = sizeof(BvhPrim);
	grow_all(build);

	build->plans = env->alloc(env->context, build->ntwigs * sizeof(Plan));
	if (build->plans == NULL)
		return BVH_NO_MEMORY;
	make_plans(build);
	return BVH_OK;
}

static BvhStatus
build_along_curve(Build *build)
{
	const BvhEnv *env = build->env;

	for (int i = 0; i < 2; i++)
	{
		build->curve[i] = env->alloc(env->context, build->n * sizeof(CurveItem));
		if (build->curve[i] == NULL)
			return BVH_NO_MEMORY;
	}
	for (size_t i = 0; i < build->n; i++)
		build->curve[0][i].item = (uint32_t) i;
	build->order = (const char *) &build->curve[0][0].item;
	build->order_stride = sizeof(CurveItem);
	set_giants_apart(build);
	follow_curve(build, 0, build->n - build->ngiants);
	if (build->ngiants > 0)
		follow_curve(build, build->n - build->ngiants, build->ngiants);
	build->nblocks =
		blocks_of(build->n - build->ngiants) + blocks_of(build->ngiants);
	return BVH_OK;
}

static void
release_all(const Build *build)
{
	void *chunks[] = {
		build->prims, build->twigs, build->plans, build->curve[0], build->curve[1]};

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++)
		if (chunks[i] != NULL)
			build->env->release(build->env->context, chunks[i]);
}

/*
 * bvh_tree_build --- a tree of n boxes
 *
 * The items are read only, and not needed afterwards.  The tree is the
 * caller's, to be released by bvh_tree_free().
 */
BvhStatus
bvh_tree_build(const BvhEnv *env, const BvhItem *items, size_t n,
			   const BvhBuildOptions *options, BvhTree **tree)
{
	BvhStatus status;
	Build *build;

	*tree = NULL;
	if (n > BVH_MOST_BOXES)
		return BVH_TOO_MANY;
	if (n == 0)
	{
		*tree = new_tree(env, 0, 0);
		return *tree != NULL ? BVH_OK : BVH_NO_MEMORY;
	}
	build = env->alloc(env->context, sizeof(Build));
	if (build == NULL)
		return BVH_NO_MEMORY;
	build->env = env;
	build->kernels = bvh_kernels->tree;
	build->items = items;
	build->n = n;
	build->ngiants = 0;
	build->nsteps = 0;
	build->prims = NULL;
	build->twigs = NULL;
	build->plans = NULL;
	build->curve[0] = build->curve[1] = NULL;
	build->ntwigs = 0;
	build->nblocks = 0;

	status = options->kind == BVH_BUILD_HILBERT ? build_along_curve(build)
												: build_sah(build);
	if (status == BVH_OK)
	{
		walk_branches(build, NULL);
		*tree = new_tree(env, build->nnodes, build->nblocks);
		status = *tree != NULL ? BVH_OK : BVH_NO_MEMORY;
	}
	if (status == BVH_OK)
	{
		(*tree)->nboxes = n;
		(*tree)->ngiants = build->ngiants;
		(*tree)->bounds = items[0].box;
		walk_branches(build, *tree);
		fill_bounds(build, *tree);
	}
	release_all(build);
	env->release(env->context, build);
	return status;
}

void
bvh_tree_free(const BvhEnv *env, BvhTree *tree)
{
	env->release(env->context, (char *) tree - tree->skipped);
}

size_t
bvh_tree_size(const BvhTree *tree)
{
	return tree->size;
}

uint64_t
bvh_tree_nboxes(const BvhTree *tree)
{
	return tree->nboxes;
}

/* bvh_tree_bounds --- the union of all boxes; false when there is none */
bool
bvh_tree_bounds(const BvhTree *tree, Box3 *bounds)
{
	*bounds = tree->bounds;
	return tree->nboxes > 0;
}

/*
 * bvh_tree_largest_size --- bytes that no tree of n boxes exceeds
 *
 * Each node but those whose lanes are all blocks, at least two, has all of its
 * eight lanes taken.  With b blocks, m nodes and k of the latter kind, there are
 * b + m - 1 lanes, at least 8 (m - k) + 2 k; and k is at most b / 2.  So 7 m
 * is at most 4 b.
 */
size_t
bvh_tree_largest_size(size_t n)
{
	uint64_t nblocks = most_blocks(n);

	return size_of(nblocks * 4 / 7 + 2, nblocks) + BVH_TREE_ALIGNMENT;
}

/* bvh_tree_expected_size --- bytes of a tree of n boxes that are nothing special */
size_t
bvh_tree_expected_size(size_t n)
{
	return sizeof(BvhTree) + 512 + n * 80;
}

/* bvh_tree_work_size --- bytes that a build takes at most, besides items and tree */
size_t
bvh_tree_work_size(size_t n)
{
	return sizeof(Build) + n * sizeof(BvhPrim) +
		   (2 * most_blocks(n) + 1) * (sizeof(Twig) + sizeof(Plan));
}
