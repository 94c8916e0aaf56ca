/*-------------------------------------------------------------------------
 *
 * tree.h
 *	  A bounding volume hierarchy in memory: build, search, pairs, check.
 *
 * A tree is one chunk of memory without pointers.  It may be copied elsewhere,
 * into shared memory too, as bvh_tree_size() bytes to an address that is a
 * multiple of BVH_TREE_ALIGNMENT, and read there by any number of readers.  What
 * may happen to a tree beside them is that boxes are forgotten.
 *
 * A search is a struct of the caller's, which needs no clearing: begin, then
 * next until it gives nothing.  A search holds no memory but what its comment
 * says, so most may be given up at any time.  Its tree and environment must stay
 * until then.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TREE_H
#define BVH_TREE_H

#include "core/env.h"
#include "core/item.h"
#include "core/range.h"
#include "core/shape.h"

typedef struct BvhTree BvhTree;

#define BVH_TREE_ALIGNMENT 64
#define BVH_MOST_BOXES     (UINT64_C(1) << 30)

/* nodes from the root to a block of boxes; see tree_build.c for the proof */
#define BVH_MAX_HEIGHT 64

typedef enum BvhBuildKind
{
	BVH_BUILD_SAH,    /* by the surface area heuristic: fast to search */
	BVH_BUILD_HILBERT /* along the Hilbert curve: several times faster to build */
} BvhBuildKind;

typedef struct BvhBuildOptions
{
	BvhBuildKind kind;

	/*
	 * If not NULL, a tree whose frame this one gets, too: its nodes are then as
	 * exact near that tree's boxes as that tree is.  Pairs of trees with one
	 * frame are found in less time; see tree_node.h.
	 */
	const BvhTree *like;

	/* where the memory of the tree itself comes from; NULL: from where all does */
	const BvhEnv *home;

	/*
	 * If not NULL, the items are in runs of near ones, and this is where each run
	 * ends; the last one at n.  The heuristic then divides the runs first, which
	 * saves it most of its way.
	 */
	const uint32_t *run_ends;
	size_t nruns;
} BvhBuildOptions;

/* ---------------------------------------------------------------- tree_build.c */

extern BvhStatus bvh_tree_build(const BvhEnv *env, const BvhItem *items, size_t n,
								const BvhBuildOptions *options, BvhTree **tree);
extern void bvh_tree_free(const BvhEnv *env, BvhTree *tree);
extern size_t bvh_tree_size(const BvhTree *tree);
extern uint64_t bvh_tree_nboxes(const BvhTree *tree);
extern bool bvh_tree_bounds(const BvhTree *tree, Box3 *bounds);

/* bytes of a tree of n boxes: what to expect, and the most it can be */
extern size_t bvh_tree_expected_size(size_t n);
extern size_t bvh_tree_largest_size(size_t n);
/* bytes that the build takes besides the items and the tree itself, at most */
extern size_t bvh_tree_work_size(size_t n);

/* ---------------------------------------------------------------- tree_forget.c */

/* in the place of a forgotten id */
#define BVH_FORGOTTEN UINT64_MAX

/*
 * A place is where the tree keeps a box: searches can give places in the stead
 * of ids.  They stay as they are, the ids in them may become BVH_FORGOTTEN.
 */
extern uint64_t bvh_tree_id(const BvhTree *tree, uint64_t place);
extern void bvh_tree_box(const BvhTree *tree, uint64_t place, Box3 *box);
extern void bvh_tree_forget(BvhTree *tree, uint64_t place);
extern uint64_t bvh_tree_forget_if(BvhTree *tree, const BvhEnv *env,
								   bool (*is_dead)(void *context, uint64_t id),
								   void *context);

/* ---------------------------------------------------------------- tree_query.c */

#define BVH_RANGE_STACK (7 * BVH_MAX_HEIGHT + 32)

/*
 * All boxes in a range, or that match a filter, in no particular order.  Holds no
 * memory; nothing of it needs to be initialized before it begins.
 */
typedef struct BvhRangeQuery
{
	const BvhTree *tree;
	const BvhEnv *env;
	BoxRange range;
	float limit[6]; /* of a node: see tree_node.h */
	int nshapes;    /* what boxes in range are tested for besides */
	const BvhShapeProbe *shapes;
	bool is_half;          /* only upper[0..2] and lower[3..5] say anything */
	bool gives_places;     /* in the stead of ids; false unless set after begin */
	uint32_t pending_ref;  /* a block that did not fit into the room */
	uint32_t pending_mask; /* which of its boxes are left */
	uint32_t nsteps;       /* for the tick */
	uint64_t nnodes;       /* seen so far, for EXPLAIN and tests */
	uint64_t nblocks;
	int depth;
	uint32_t stack[BVH_RANGE_STACK];
} BvhRangeQuery;

extern void bvh_range_begin(BvhRangeQuery *query, const BvhTree *tree, const BvhEnv *env,
							const BoxRange *range);
extern void bvh_filter_begin(BvhRangeQuery *query, const BvhTree *tree, const BvhEnv *env,
							 const BvhFilter *filter);
extern size_t bvh_range_next(BvhRangeQuery *query, uint64_t *ids, size_t room);

/* ---------------------------------------------------------------- tree_nearest.c */

#define BVH_NEAREST_INLINE 64

/* 24 bytes */
typedef struct BvhNearestEntry
{
	double distance;
	uint64_t id; /* of the nearest, in a block */
	uint32_t ref;
	uint8_t mask; /* lanes that are left */
	uint8_t lane; /* the nearest of them */
} BvhNearestEntry;

typedef struct BvhNeighbour
{
	double distance; /* shape_distance(), bit for bit */
	uint64_t id;
} BvhNeighbour;

/* a heap, in inline_entries or in memory of the environment */
typedef struct BvhNearestQueue
{
	const BvhEnv *env;
	size_t n;
	size_t size;
	BvhNearestEntry *entries;
	BvhNearestEntry inline_entries[BVH_NEAREST_INLINE];
} BvhNearestQueue;

/*
 * Boxes by their distance from the query box, or what else orders them, equal
 * distances by id; all of them, or those that match a filter.  Grows
 * memory from the environment when the queue outgrows its inline part, which
 * bvh_tree_nearest_end() releases.
 */
typedef struct BvhNearestQuery
{
	const BvhTree *tree;
	BvhShape order;
	union
	{
		Box3 box;     /* the operand, but of BVH_RAY_ENTRY */
		RayProbe ray; /* made of that */
	} query;
	double most; /* distances beyond are of no interest */
	bool is_filtered;
	BvhFilter filter;
	float limit[6];    /* of a node: see tree_node.h */
	bool gives_places; /* in the stead of ids; false unless set after begin */
	uint32_t nsteps;
	uint64_t nnodes;
	uint64_t nblocks;
	BvhNearestQueue queue;
} BvhNearestQuery;

extern void bvh_tree_nearest_begin(BvhNearestQuery *nearest, const BvhTree *tree,
								   const BvhEnv *env, const Box3 *query, double most);
extern void bvh_tree_order_begin(BvhNearestQuery *nearest, const BvhTree *tree,
								 const BvhEnv *env, const BvhShape *order,
								 const BvhFilter *filter);
extern BvhStatus bvh_tree_nearest_next(BvhNearestQuery *nearest, BvhNeighbour *out,
									   size_t room, size_t *nout);
extern void bvh_tree_nearest_end(BvhNearestQuery *nearest);

/* ---------------------------------------------------------------- tree_pairs.c */

typedef struct BvhPair
{
	uint64_t a;
	uint64_t b;
} BvhPair;

typedef enum BvhSelfMode
{
	BVH_SELF_ONCE, /* each two boxes once, in either order; none with itself */
	BVH_SELF_BOTH, /* (a, b) and (b, a); none with itself */
	BVH_SELF_ALL   /* and (a, a) */
} BvhSelfMode;

#define BVH_PAIRS_STACK (63 * BVH_MAX_HEIGHT + 64 + 64)

/* 8 bytes: a lane of a node, or a box of a block, of each; see tree_pairs.c */
typedef struct BvhPairsEntry
{
	uint32_t a;
	uint32_t b;
} BvhPairsEntry;

/*
 * All pairs of boxes with "a op b", for the operators that imply overlap.
 * Holds no memory; 33 kB, of which only what is used is ever touched.
 */
typedef struct BvhPairs
{
	const BvhTree *a;
	const BvhTree *b;
	const BvhEnv *env;
	BvhOp op;
	BvhSelfMode mode;
	bool is_self;
	bool is_one_frame;
	uint32_t nsteps;
	uint64_t nnodes; /* pairs of nodes, and of blocks, compared so far */
	uint64_t nblocks;

	/* pairs of two blocks that did not fit into the room */
	uint32_t pending_a;
	uint32_t pending_b;
	uint64_t pending_mask; /* bit 8 * lane of a + lane of b */
	bool is_half_given;    /* of the first of them, (a, b) is given, (b, a) is not */

	int depth;
	BvhPairsEntry stack[BVH_PAIRS_STACK];
} BvhPairs;

extern bool bvh_op_pairs(BvhOp op);
extern bool bvh_op_self_pairs(BvhOp op);
extern void bvh_pairs_begin(BvhPairs *pairs, const BvhTree *a, const BvhTree *b,
							const BvhEnv *env, BvhOp op);
extern void bvh_self_pairs_begin(BvhPairs *pairs, const BvhTree *tree, const BvhEnv *env,
								 BvhOp op, BvhSelfMode mode);
extern size_t bvh_pairs_next(BvhPairs *pairs, BvhPair *out, size_t room);

/* ---------------------------------------------------------------- tree_check.c */

typedef struct BvhTreeStats
{
	uint64_t nboxes;
	uint64_t ngiants; /* boxes kept apart for their size */
	uint64_t nnodes;
	uint64_t nblocks;
	int height;  /* nodes from the root to a block of boxes; 0 for no box */
	double fill; /* boxes a place in the blocks */
	double cost; /* surface area heuristic: nodes and blocks that a ray visits */
	size_t size;
} BvhTreeStats;

/* the first broken invariant; number 0 and "" when the tree is sound */
typedef struct BvhTreeFault
{
	int number;
	uint32_t node;
	const char *message;
} BvhTreeFault;

extern bool bvh_tree_check(const void *memory, size_t size, BvhTreeFault *fault);
extern void bvh_tree_stats(const BvhTree *tree, BvhTreeStats *stats);

#endif /* BVH_TREE_H */
