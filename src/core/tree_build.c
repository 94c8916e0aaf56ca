/*-------------------------------------------------------------------------
 *
 * tree_build.c
 *	  Building the tree in memory.
 *
 * In three steps.  The boxes, as floats in a frame that spans about 1, are put
 * in an order and divided into blocks, by the surface area heuristic
 * (tree_skeleton.c) or along a curve (tree_curve.c).  That settles which nodes
 * there will be.  So at last the tree is allocated, of just the right size, and
 * filled.
 *
 * Two things are particular.  Boxes with an infinite side, or so large that
 * everything near meets them, are put apart first.  They become a subtree of
 * their own below the root, which a search prunes like any other, and do not
 * spoil the bounds of the rest.
 *
 * And floats are for choosing only.  A part that is too small for its frame
 * gets a new one, from the exact boxes; so what is in millimetres at one end
 * of a world of light years is divided as well as the rest.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/tree_build.h"

#include <float.h>
#include <stdlib.h>

/* a box of so much of the area of all is a giant, if these are few */
#define GIANT_SHARE  0.25f
#define GIANT_ROUNDS 4

/* log2 of what the boxes span as floats; twice that must not overflow */
#define SPAN_BITS 120

/* log2 of half the span, beyond which differences may overflow */
#define LARGEST_SPAN 1000

/* boxes whose centers say where most are */
#define MIDDLE_SAMPLE 127

/* log2 of the boxes of a block */
#define BLOCK_BITS 3

_Static_assert(BVH_WIDTH == 1 << BLOCK_BITS, "a block is a leaf of the skeleton");

/* items on their way from memory while blocks are filled */
#define AHEAD 64

/* ---------------------------------------------------------------- frames */

/* bvh_include_finite_part --- grow the bounds by what is finite of a box */
void
bvh_include_finite_part(Box3 *bounds, const Box3 *b)
{
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
}

void
bvh_make_frame(Frame *frame, const Box3 *bounds)
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
	frame->is_point = longest == 0.0;
	if (longest > 0.0)
		frexp(longest, &frame->exponent);
	frame->plain = frame->exponent > -1000 && frame->exponent < 1000;
	frame->factor = frame->plain ? ldexp(1.0, -frame->exponent) : 0.0;
}

/* ---------------------------------------------------------------- the tree */

static int
lanes_of(const Build *build, Branch branch, Lane lanes[BVH_WIDTH])
{
	return branch.n > 0 ? bvh_run_lanes(build, branch, lanes)
						: bvh_twig_lanes(build, branch.first, lanes);
}

static Branch
root_branch(const Build *build)
{
	return (Branch){0, build->curve[0] != NULL ? build->nblocks : 0};
}

/* entries of the order, which the build may change */
static inline uint32_t *
order_at(const Build *build, size_t i)
{
	return (uint32_t *) (build->order + i * build->order_stride);
}

static inline uint32_t
ordered_item(const Build *build, size_t i)
{
	return *order_at(build, i) & ~ITEM_TAG;
}

static void
fill_block(const Build *build, BvhTree *tree, const Lane *from, BvhBlock *block,
		   BvhNode *node, int lane)
{
	Box3 bounds = build->items[ordered_item(build, from->first)].box;

	/* blocks come in much the order of the items, so these are next */
	for (size_t i = from->first + AHEAD; i < from->first + AHEAD + from->n; i++)
		if (i < build->n)
		{
			const BvhItem *item = &build->items[ordered_item(build, i)];

			__builtin_prefetch(item);
			__builtin_prefetch((const char *) (item + 1) - 1);
		}
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
		node->bound[d][lane] = tree_bound(tree, d, bounds.lo[d]);
		node->bound[d + 3][lane] = tree_bound(tree, d + 3, bounds.hi[d]);
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

/*
 * walk_branches --- visit every node to be, parents first, depth first
 *
 * Without a tree only counts them; else fills them, all but the bounds of
 * lanes with a node.
 */
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
				build->unfilled[depth++] = (Unfilled){lanes[i].branch,
													  number,
													  i,
													  next.level + 1};
			}
	}
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
	tree->scale = tree->unscale = 1.0;
	return tree;
}

/*
 * set_frame --- the frame of the nodes: what is not giant spans up to 2^SPAN_BITS
 *
 * So that float, which ends at 2^127 and 2^-149, has room for boxes of all sizes
 * near the origin.  A power of two that double can divide by; beyond, the span
 * is another.
 */
static void
set_frame(Build *build, BvhTree *tree, const BvhTree *like)
{
	if (like != NULL)
	{
		memcpy(tree->origin, like->origin, sizeof(tree->origin));
		tree->scale = like->scale;
		tree->unscale = like->unscale;
	}
	else
	{
		int exponent = build->frame.exponent;

		exponent -= SPAN_BITS;
		exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
		memcpy(tree->origin, build->middle, sizeof(tree->origin));
		tree->scale = ldexp(1.0, -exponent);
		tree->unscale = ldexp(1.0, exponent);
	}
}

static int
compare_numbers(const void *a, const void *b)
{
	double x = *(const double *) a;
	double y = *(const double *) b;

	return (x > y) - (x < y);
}

/* where sorted numbers are densest: the narrowest half of them, again and again */
static double
densest_of(const double *numbers, size_t n)
{
	while (n > 2)
	{
		size_t half = (n + 1) / 2;
		size_t best = 0;

		for (size_t i = 1; i + half <= n; i++)
			if (numbers[i + half - 1] - numbers[i] <
				numbers[best + half - 1] - numbers[best])
				best = i;
		numbers += best;
		n = half;
	}
	return numbers[0];
}

/*
 * set_middle --- the origin of the nodes' frame: where centers are densest
 *
 * Floats are exact near their origin.  In the middle of the bounds, a single
 * box far away would move that to where nothing is; and boxes that get smaller and
 * smaller towards a point would lie far from it.
 */
static void
set_middle(Build *build, size_t n, const Box3 *bounds)
{
	double centers[MIDDLE_SAMPLE];
	size_t nsampled = n < MIDDLE_SAMPLE ? n : MIDDLE_SAMPLE;

	for (int d = 0; d < 3; d++)
	{
		size_t nfinite = 0;

		/* a distance to anywhere else might overflow */
		if (build->frame.exponent > LARGEST_SPAN && bounds->lo[d] <= bounds->hi[d])
		{
			build->middle[d] = 0.5 * bounds->lo[d] + 0.5 * bounds->hi[d];
			continue;
		}
		for (size_t i = 0; i < nsampled; i++)
		{
			size_t at = (size_t) ((uint64_t) i * n / nsampled);
			double center = box3_center(&build->items[ordered_item(build, at)].box, d);

			if (isfinite(center))
				centers[nfinite++] = center;
		}
		build->middle[d] = 0.0;
		if (nfinite > 0)
		{
			qsort(centers, nfinite, sizeof(double), compare_numbers);
			build->middle[d] = densest_of(centers, nfinite);
		}
	}
}

/* ---------------------------------------------------------------- all together */

/* union of what is finite of the first n items of the order; is that all of them? */
static bool
finite_bounds(Build *build, size_t n, Box3 *finite)
{
	Box3 bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
	bool is_all = true;

	for (size_t i = 0; i < n; i++)
	{
		is_all &= bvh_include_finite(&bounds, &build->items[ordered_item(build, i)].box);
		if (i % 1024 == 1023)
			count_steps(build, 1024);
	}
	*finite = bounds;
	return is_all;
}

/* an infinite side, or a cost in the frame over the limit? */
static inline bool
is_giant(const Build *build, const Box3 *b, float limit)
{
	bool finite = is_finite(b);
	BvhPrim prim;

	if (!finite || limit == INFINITY)
		return !finite;
	make_prim(&build->frame, b, &prim);
	return cost_of(prim.lane) > limit;
}

/*
 * put_apart --- move giants among the first n items of the order behind the
 * others; returns how many others there are
 *
 * Moves none when there are more than so many.
 */
static size_t
put_apart(Build *build, size_t n, float limit, size_t most)
{
	size_t ngiants = 0;
	size_t nothers = 0;

	for (size_t i = 0; i < n; i++)
	{
		ngiants += is_giant(build, &build->items[ordered_item(build, i)].box, limit);
		if (i % 1024 == 1023)
			count_steps(build, 1024);
	}
	if (ngiants == 0 || ngiants > most)
		return n;
	for (size_t i = 0; i < n; i++)
	{
		uint32_t *at = order_at(build, i);
		uint32_t *to = order_at(build, nothers);
		uint32_t item = *at;

		if (is_giant(build, &build->items[item & ~ITEM_TAG].box, limit))
			continue;
		*at = *to;
		*to = item;
		nothers++;
	}
	return nothers;
}

/*
 * set_giants_apart --- order the items: giants come last
 *
 * First what has an infinite side; then what has much of the area of all that
 * is left, several times over, as long as they are few.  Leaves the frame of
 * the others.
 */
static void
set_giants_apart(Build *build)
{
	size_t most = build->n / 64 > 16 ? build->n / 64 : 16;
	size_t nfinite = build->n;
	size_t nothers;
	Box3 bounds;
	bool is_known;

	is_known = finite_bounds(build, build->n, &bounds);
	if (!is_known)
		nfinite = put_apart(build, build->n, INFINITY, build->n);
	nothers = nfinite;
	for (int round = 0;; round++)
	{
		size_t before = nothers;
		BvhPrim whole;

		if (!is_known)
			finite_bounds(build, nothers > 0 ? nothers : build->n, &bounds);
		is_known = false;
		bvh_make_frame(&build->frame, &bounds);
		if (round == GIANT_ROUNDS || nothers <= BVH_WIDTH)
			break;
		make_prim(&build->frame, &bounds, &whole);
		nothers = put_apart(build,
							before,
							GIANT_SHARE * cost_of(whole.lane),
							most - (nfinite - before));
		if (nothers == before)
			break;
	}
	/* a tree of giants only has none */
	build->ngiants = nothers > 0 ? build->n - nothers : 0;
	set_middle(build, build->n - build->ngiants, &bounds);
}

/*
 * bvh_frame_runs --- the frame of all boxes, by the bounds of runs of them
 *
 * Ids of the runs are where they start.  False, and nothing is settled, if some box
 * is a giant.
 */
bool
bvh_frame_runs(Build *build, const BvhItem *runs, size_t nruns)
{
	Box3 bounds = runs[0].box;
	BvhPrim whole;

	for (size_t i = 0; i < nruns; i++)
		if (!bvh_include_finite(&bounds, &runs[i].box))
			return false;
	bvh_make_frame(&build->frame, &bounds);
	make_prim(&build->frame, &bounds, &whole);
	for (size_t i = 0; i < nruns; i++)
	{
		float limit = GIANT_SHARE * cost_of(whole.lane);

		if (!is_giant(build, &runs[i].box, limit))
			continue;
		for (size_t at = runs[i].id; at < (i + 1 < nruns ? runs[i + 1].id : build->n);
			 at++)
			if (is_giant(build, &build->items[at].box, limit))
				return false;
	}
	build->ngiants = 0;
	set_middle(build, build->n, &bounds);
	return true;
}

static BvhStatus
grow_all(Build *build, const BvhBuildOptions *options)
{
	size_t nothers;

	for (size_t i = 0; i < build->n; i++)
		build->prims[i].item = (uint32_t) i | ITEM_TAG;
	if (bvh_runs_fit(build, options))
	{
		bool is_grown;
		BvhStatus status = bvh_grow_runs(build, options, &is_grown);

		if (status != BVH_OK || is_grown)
			return status;
	}
	set_giants_apart(build);
	nothers = build->n - build->ngiants;
	if (build->ngiants > 0)
	{
		/* a root above both */
		build->ntwigs = 1;
		build->twigs[0] = (Twig){0, 0, (uint32_t) build->n, 1.0f};
		bvh_grow_skeleton(build, 0, nothers, NO_TWIG, &build->frame, 0);
		bvh_grow_skeleton(build, nothers, build->ngiants, 0, NULL, 0);
	}
	else
		bvh_grow_skeleton(build, 0, build->n, NO_TWIG, &build->frame, 0);
	return BVH_OK;
}

/*
 * bvh_build_twigs --- the skeleton of all boxes, with the root first
 *
 * Only the runs of the options matter; they may be NULL.
 */
BvhStatus
bvh_build_twigs(Build *build, const BvhBuildOptions *options)
{
	const BvhEnv *env = build->env;
	uint64_t most_twigs = 2 * most_leaves(build->n, build->leaf_bits) + 1;

	if (bvh_runs_fit(build, options))
		most_twigs += bvh_runs_more_twigs(options);
	build->prims = env->alloc(env->context, build->n * sizeof(BvhPrim));
	if (build->prims == NULL)
		return BVH_NO_MEMORY;
	build->twigs = env->alloc(env->context, most_twigs * sizeof(Twig));
	if (build->twigs == NULL)
		return BVH_NO_MEMORY;
	build->order = (char *) &build->prims[0].item;
	build->order_stride = sizeof(BvhPrim);
	return grow_all(build, options);
}

static BvhStatus
build_sah(Build *build, const BvhBuildOptions *options)
{
	const BvhEnv *env = build->env;
	BvhStatus status = bvh_build_twigs(build, options);

	if (status != BVH_OK)
		return status;
	build->plans = env->alloc(env->context, build->ntwigs * sizeof(Plan));
	if (build->plans == NULL)
		return BVH_NO_MEMORY;
	bvh_make_plans(build);
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
	build->start = env->alloc(env->context, bvh_curve_start_size(build->n));
	if (build->start == NULL)
		return BVH_NO_MEMORY;
	for (size_t i = 0; i < build->n; i++)
		build->curve[0][i].item = (uint32_t) i;
	build->order = (char *) &build->curve[0][0].item;
	build->order_stride = sizeof(CurveItem);
	set_giants_apart(build);
	bvh_follow_curve(build, 0, build->n - build->ngiants, &build->frame);
	if (build->ngiants > 0)
		bvh_follow_curve(build, build->n - build->ngiants, build->ngiants, NULL);
	build->nblocks = blocks_of(build->n - build->ngiants) + blocks_of(build->ngiants);
	return BVH_OK;
}

/* bvh_build_begin --- what all of a build of n >= 1 boxes shares */
BvhStatus
bvh_build_begin(const BvhEnv *env, const BvhItem *items, size_t n, int leaf_bits,
				Build **build)
{
	*build = env->alloc(env->context, sizeof(Build));
	if (*build == NULL)
		return BVH_NO_MEMORY;
	(*build)->env = env;
	(*build)->kernels = bvh_kernels->tree;
	(*build)->items = items;
	(*build)->n = n;
	(*build)->leaf_bits = leaf_bits;
	(*build)->leaf_size = (size_t) 1 << leaf_bits;
	(*build)->ngiants = 0;
	(*build)->nsteps = 0;
	(*build)->prims = NULL;
	(*build)->twigs = NULL;
	(*build)->plans = NULL;
	(*build)->curve[0] = (*build)->curve[1] = NULL;
	(*build)->start = NULL;
	(*build)->few = BVH_FEW;
	(*build)->ntwigs = 0;
	(*build)->nblocks = 0;
	return BVH_OK;
}

/* bvh_build_end --- release all that the build took */
void
bvh_build_end(Build *build)
{
	const BvhEnv *env = build->env;
	void *chunks[] = {build->prims,
					  build->twigs,
					  build->plans,
					  build->curve[0],
					  build->curve[1],
					  build->start,
					  build};

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++)
		if (chunks[i] != NULL)
			env->release(env->context, chunks[i]);
}

/*
 * bvh_tree_build --- a tree of n boxes
 *
 * The items are read only, and not needed afterwards.  The tree is the
 * caller's, to be released by bvh_tree_free() with the environment that its memory
 * is from.
 */
BvhStatus
bvh_tree_build(const BvhEnv *env, const BvhItem *items, size_t n,
			   const BvhBuildOptions *options, BvhTree **tree)
{
	const BvhEnv *home = options->home != NULL ? options->home : env;
	BvhStatus status;
	Build *build;

	*tree = NULL;
	if (n > BVH_MOST_BOXES)
		return BVH_TOO_MANY;
	if (n == 0)
	{
		*tree = new_tree(home, 0, 0);
		return *tree != NULL ? BVH_OK : BVH_NO_MEMORY;
	}
	status = bvh_build_begin(env, items, n, BLOCK_BITS, &build);
	if (status != BVH_OK)
		return status;
	status = options->kind == BVH_BUILD_HILBERT ? build_along_curve(build)
												: build_sah(build, options);
	if (status == BVH_OK)
	{
		walk_branches(build, NULL);
		*tree = new_tree(home, build->nnodes, build->nblocks);
		status = *tree != NULL ? BVH_OK : BVH_NO_MEMORY;
	}
	if (status == BVH_OK)
	{
		(*tree)->nboxes = n;
		(*tree)->ngiants = build->ngiants;
		(*tree)->bounds = items[0].box;
		set_frame(build, *tree, options->like);
		walk_branches(build, *tree);
		fill_bounds(build, *tree);
	}
	bvh_build_end(build);
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
 * Every node but that of a single block has two lanes at least; so there are
 * fewer nodes than blocks.
 */
size_t
bvh_tree_largest_size(size_t n)
{
	uint64_t nblocks = most_leaves(n, BLOCK_BITS);

	return size_of(nblocks, nblocks) + BVH_TREE_ALIGNMENT;
}

/* bvh_tree_expected_size --- bytes of a tree of n boxes that are nothing special */
size_t
bvh_tree_expected_size(size_t n)
{
	return sizeof(BvhTree) + 512 + n * 80;
}

/*
 * bvh_tree_work_size --- bytes that a build takes at most, besides items and tree
 *
 * Of boxes in runs: with the most runs for which that is done.
 */
size_t
bvh_tree_work_size(size_t n)
{
	size_t nruns = n / BVH_LEAST_RUN;
	BvhBuildOptions options = {.nruns = nruns};

	return 2 * sizeof(Build) + n * sizeof(BvhPrim) +
		   (2 * most_leaves(n, BLOCK_BITS) + 1 + bvh_runs_more_twigs(&options)) *
			   (sizeof(Twig) + sizeof(Plan)) +
		   nruns * (sizeof(BvhItem) + sizeof(BvhPrim) + 4 * sizeof(Twig));
}
