/*-------------------------------------------------------------------------
 *
 * tree_build.h
 *	  What the files of the build share.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TREE_BUILD_H
#define BVH_TREE_BUILD_H

#include "core/simd/kernels.h"

/* depth of a binary part from which on it is halved; see tree_skeleton.c */
#define DEPTH_LIMIT 32

/*
 * What BvhPrim.item has besides the number: as a float, it is then an ordinary
 * number, and not a denormal that costs some machines a hundred cycles.
 */
#define ITEM_TAG UINT32_C(0x40000000)

/* share of the sum of sides in the cost; areas of about 1 hide it */
#define LENGTH_WEIGHT 0x1p-20f

/* steps between ticks, in boxes */
#define TICK_BOXES 32768

#define NO_TWIG UINT32_MAX

/* boxes of a run, on average, so that it pays to divide runs first */
#define BVH_LEAST_RUN 16

/* where boxes are in float: x becomes (x - origin) * 2^-exponent / 2 */
typedef struct Frame
{
	double half_origin[3];
	double factor; /* 2^-exponent, if plain */
	int exponent;
	bool plain;
	bool is_point; /* it spans nothing that double can tell */
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
	uint32_t budget;  /* leaves that they may take */
	uint32_t left_of; /* the twig whose right child this is, or NO_TWIG */
	int depth;
	int exponent;  /* of the frame that the prims are in */
	bool is_point; /* no frame can tell them apart */
	BvhPrimBounds bounds;
} Part;

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
	size_t ngiants;   /* at the end of the order */
	int leaf_bits;    /* log2 of leaf_size */
	size_t leaf_size; /* most boxes of a leaf of the skeleton */
	size_t few;       /* where every cut is tried; at most BVH_FEW */
	Frame frame;      /* of the others */
	double middle[3];
	size_t nsteps;

	BvhPrim *prims; /* the chunks of the build */
	Twig *twigs;
	Plan *plans;
	CurveItem *curve[2];
	uint32_t *start; /* of each digit of the keys along the curve */
	uint32_t ntwigs;

	/* the order of the items that was found: a uint32_t every so many bytes */
	char *order;
	size_t order_stride;
	uint32_t nblocks;
	uint32_t nnodes;

	Part stack[DEPTH_LIMIT + 32];
	BvhBins bins;
	float right_cost[BVH_FEW];
	float key[BVH_FEW];
	BvhPrim few_prims[BVH_FEW];
	uint8_t sorted[3][BVH_FEW];
	Unfilled unfilled[7 * BVH_MAX_HEIGHT + 8];
} Build;

static inline uint32_t
blocks_of(size_t n)
{
	return (uint32_t) ((n + BVH_WIDTH - 1) / BVH_WIDTH);
}

/* leaves of the skeleton that a set of n needs: blocks, or boxes */
static inline uint32_t
leaves_of(const Build *build, size_t n)
{
	return (uint32_t) ((n + build->leaf_size - 1) >> build->leaf_bits);
}

/* leaves that a set of n may take: some more than it needs */
static inline uint32_t
budget_of(const Build *build, size_t n)
{
	return leaves_of(build, n) + (uint32_t) (n / 16) + 4;
}

/* both parts of the set have a budget of their own; no leaf is empty */
static inline uint64_t
most_leaves(size_t n, int leaf_bits)
{
	uint64_t most = (uint64_t) (n >> leaf_bits) + n / 16 + 10;

	return most < n ? most : n;
}

static inline void
count_steps(Build *build, size_t n)
{
	build->nsteps += n;
	if (build->nsteps >= TICK_BOXES)
	{
		build->nsteps = 0;
		build->env->tick(build->env->context);
	}
}

static const BvhPrimBounds no_bounds =
	{{INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY},
	 {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY}};

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

/* twice the middle of a side */
static inline float
center_of(const BvhPrim *prim, int axis)
{
	return prim->lo[axis] - prim->neg_hi[axis];
}

/* tree_build.c */
extern BvhStatus bvh_build_begin(const BvhEnv *env, const BvhItem *items, size_t n,
								 int leaf_bits, Build **build);
extern BvhStatus bvh_build_twigs(Build *build, const BvhBuildOptions *options);
extern void bvh_build_end(Build *build);
extern bool bvh_frame_runs(Build *build, const BvhItem *runs, size_t nruns);
extern void bvh_include_finite_part(Box3 *bounds, const Box3 *b);
extern void bvh_make_frame(Frame *frame, const Box3 *bounds);

/* tree_runs.c */
extern bool bvh_runs_fit(const Build *build, const BvhBuildOptions *options);
extern uint64_t bvh_runs_more_twigs(const BvhBuildOptions *options);
extern BvhStatus bvh_grow_runs(Build *build, const BvhBuildOptions *options,
							   bool *is_grown);

/* tree_skeleton.c */
extern void bvh_grow_skeleton(Build *build, size_t first, size_t n, uint32_t left_of,
							  const Frame *frame, int level);
extern void bvh_make_plans(Build *build);
extern int bvh_twig_lanes(const Build *build, uint32_t twig, Lane lanes[BVH_WIDTH]);

/* tree_curve.c */
extern size_t bvh_curve_start_size(size_t n);
extern void bvh_follow_curve(Build *build, size_t first, size_t n, const Frame *frame);
extern int bvh_run_lanes(const Build *build, Branch run, Lane lanes[BVH_WIDTH]);

static inline bool
is_finite(const Box3 *b)
{
	bool finite = true;

	for (int d = 0; d < 3; d++)
		finite &= (b->lo[d] >= -DBL_MAX) & (b->hi[d] <= DBL_MAX);
	return finite;
}

/* grow the bounds by what is finite of a box; false if something is not */
static inline bool
bvh_include_finite(Box3 *bounds, const Box3 *b)
{
	bool finite = is_finite(b);

	if (finite)
		box3_include(bounds, b);
	else
		bvh_include_finite_part(bounds, b);
	return finite;
}

#endif /* BVH_TREE_BUILD_H */
