/*-------------------------------------------------------------------------
 *
 * dynamic.h
 *	  A bounding volume hierarchy in memory that boxes enter, leave and move in.
 *
 * A binary tree with one box a leaf, beside the static tree of core/tree.h,
 * which is several times faster to search and never changes.  A box is known by its
 * proxy, a small number that stays the same until the box is removed.
 *
 * A leaf has two boxes: that of the caller, by which every search answers, and
 * a fat one around it, by which the tree is built.  As long as the first stays
 * within the second, moving it costs nothing.
 *
 * Searches are structs of the caller's, as in core/tree.h.  While one is
 * under way the tree must not change.
 *
 * Boxes are valid by box3_is_valid(), so never NaN.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_DYNAMIC_H
#define BVH_DYNAMIC_H

#include "core/tree.h"

typedef struct BvhDynamic BvhDynamic;

/* nodes from the root to a leaf; see dynamic.c for the proof */
#define BVH_DYNAMIC_HEIGHT 96

/* ---------------------------------------------------------------- dynamic.c */

extern BvhStatus bvh_dynamic_create(const BvhEnv *env, double margin, BvhDynamic **tree);
extern void bvh_dynamic_free(BvhDynamic *tree);

extern BvhStatus bvh_dynamic_insert(BvhDynamic *tree, const Box3 *box, uint64_t id,
									uint32_t *proxy);
extern void bvh_dynamic_remove(BvhDynamic *tree, uint32_t proxy);
extern bool bvh_dynamic_move(BvhDynamic *tree, uint32_t proxy, const Box3 *box,
							 const double displacement[3]);
extern bool bvh_dynamic_enlarge(BvhDynamic *tree, uint32_t proxy, const Box3 *box,
								const double displacement[3]);
extern void bvh_dynamic_refit(BvhDynamic *tree, const Box3 *boxes);

extern uint64_t bvh_dynamic_nboxes(const BvhDynamic *tree);
extern uint32_t bvh_dynamic_nproxies(const BvhDynamic *tree);
extern bool bvh_dynamic_has(const BvhDynamic *tree, uint32_t proxy);
extern uint64_t bvh_dynamic_id(const BvhDynamic *tree, uint32_t proxy);
extern void bvh_dynamic_box(const BvhDynamic *tree, uint32_t proxy, Box3 *box);
extern void bvh_dynamic_fat_box(const BvhDynamic *tree, uint32_t proxy, Box3 *box);
extern bool bvh_dynamic_bounds(const BvhDynamic *tree, Box3 *bounds);
extern size_t bvh_dynamic_size(const BvhDynamic *tree);

/* ---------------------------------------------------------------- dynamic_rebuild.c */

typedef enum BvhRebuildKind
{
	BVH_REBUILD_CHANGED, /* what nothing happened to stays as it is */
	BVH_REBUILD_ALL
} BvhRebuildKind;

extern BvhStatus bvh_dynamic_rebuild(BvhDynamic *tree, BvhRebuildKind kind);

/* ---------------------------------------------------------------- dynamic_query.c */

/* All boxes in a range, in no particular order.  Holds no memory. */
typedef struct BvhDynamicRange
{
	const BvhDynamic *tree;
	const BvhEnv *env;
	BoxRange range;
	BoxRange node_range;
	uint32_t nsteps;
	uint64_t nnodes;
	int depth;
	uint32_t stack[BVH_DYNAMIC_HEIGHT + 2];
} BvhDynamicRange;

extern void bvh_dynamic_range_begin(BvhDynamicRange *query, const BvhDynamic *tree,
									const BvhEnv *env, const BoxRange *range);
extern size_t bvh_dynamic_range_next(BvhDynamicRange *query, uint64_t *ids, size_t room);

/*
 * Boxes by their distance from the query box, equal distances by id.  Grows
 * memory as BvhNearestQuery does, which bvh_dynamic_nearest_end() releases.
 */
typedef struct BvhDynamicNearest
{
	const BvhDynamic *tree;
	Box3 query;
	double most;
	uint32_t nsteps;
	uint64_t nnodes;
	BvhNearestQueue queue;
} BvhDynamicNearest;

extern void bvh_dynamic_nearest_begin(BvhDynamicNearest *nearest, const BvhDynamic *tree,
									  const BvhEnv *env, const Box3 *query, double most);
extern BvhStatus bvh_dynamic_nearest_next(BvhDynamicNearest *nearest, BvhNeighbour *out,
										  size_t room, size_t *nout);
extern void bvh_dynamic_nearest_end(BvhDynamicNearest *nearest);

/* ---------------------------------------------------------------- dynamic_pairs.c */

#define BVH_DYNAMIC_PAIRS_STACK (4 * BVH_DYNAMIC_HEIGHT + 1)

/*
 * All pairs of boxes with "a op b" of two dynamic trees, or of one, for the
 * operators of bvh_op_pairs().  Holds no memory.
 */
typedef struct BvhDynamicPairs
{
	const BvhDynamic *a;
	const BvhDynamic *b;
	const BvhEnv *env;
	BvhOp op;
	BvhSelfMode mode;
	bool is_self;
	bool is_half_given; /* (a, b) is given, pending is (b, a) */
	BvhPair pending;
	uint32_t nsteps;
	uint64_t nnodes;
	int depth;
	BvhPairsEntry stack[BVH_DYNAMIC_PAIRS_STACK];
} BvhDynamicPairs;

extern void bvh_dynamic_pairs_begin(BvhDynamicPairs *pairs, const BvhDynamic *a,
									const BvhDynamic *b, const BvhEnv *env, BvhOp op);
extern void bvh_dynamic_self_pairs_begin(BvhDynamicPairs *pairs, const BvhDynamic *tree,
										 const BvhEnv *env, BvhOp op, BvhSelfMode mode);
extern size_t bvh_dynamic_pairs_next(BvhDynamicPairs *pairs, BvhPair *out, size_t room);

#define BVH_PROBES_ROOM 64

/*
 * Boxes of a dynamic tree, each of them a search of its own, in a static tree
 * or in the same dynamic one.  Holds no memory; the proxies are the caller's and
 * must stay.
 */
typedef struct BvhProbes
{
	const BvhDynamic *tree;
	const BvhTree *target; /* NULL for the same tree */
	const BvhEnv *env;
	BvhOp op;
	const uint32_t *proxies; /* ascending; NULL for all */
	size_t n;
	size_t next;
	bool is_open;   /* a search is under way, */
	uint32_t proxy; /* of this one */
	uint32_t nsteps;
	size_t nfound; /* by the search, and given on of those */
	size_t ngiven;
	uint64_t ids[BVH_PROBES_ROOM];           /* in a static tree */
	uint32_t proxies_found[BVH_PROBES_ROOM]; /* in the same tree */
	union
	{
		BvhRangeQuery in_static;
		BvhDynamicRange in_dynamic;
	} search;
} BvhProbes;

extern void bvh_probes_begin(BvhProbes *probes, const BvhDynamic *tree,
							 const uint32_t *proxies, size_t n, const BvhTree *target,
							 const BvhEnv *env, BvhOp op);
extern void bvh_moved_pairs_begin(BvhProbes *probes, const BvhDynamic *tree,
								  const uint32_t *proxies, size_t n, const BvhEnv *env,
								  BvhOp op);
extern size_t bvh_probes_next(BvhProbes *probes, BvhPair *out, size_t room);

/* ---------------------------------------------------------------- dynamic_check.c */

typedef struct BvhDynamicStats
{
	uint64_t nboxes;
	uint64_t nnodes;
	uint64_t nchanged; /* nodes that a rebuild of what changed makes anew */
	int height;        /* nodes from the root to a leaf */
	double cost;       /* surface area heuristic: nodes that a ray visits */
	size_t size;
} BvhDynamicStats;

extern bool bvh_dynamic_check(const BvhDynamic *tree, BvhTreeFault *fault);
extern void bvh_dynamic_stats(const BvhDynamic *tree, BvhDynamicStats *stats);

#endif /* BVH_DYNAMIC_H */
