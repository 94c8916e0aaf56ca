/*-------------------------------------------------------------------------
 *
 * dynamic_node.h
 *	  How a dynamic tree lies in memory.
 *
 * One chunk, a pool of slots: first all nodes, then all leaves.  A node holds
 * the boxes and all that is to be known of both its children, so that a walk
 * touches no child that it does not enter.  A tree of n leaves has n - 1 nodes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_DYNAMIC_NODE_H
#define BVH_DYNAMIC_NODE_H

#include <string.h>

#include "core/dynamic.h"

/* a leaf, by its number, and not a node */
#define DYNAMIC_LEAF UINT32_C(0x80000000)

/* where the root hangs; the end of a list of free slots */
#define DYNAMIC_NONE UINT32_MAX

/* of a leaf without any size, and of one without any end */
#define LEAST_OF_POINT INT16_MIN
#define LEAST_OF_ALL   4096

/*
 * A child, with what is below it; 64 bytes.  A link names a branch: the number
 * of its node << 1 | side, or DYNAMIC_NONE for the root.
 */
typedef struct DynamicBranch
{
	Box3 box; /* contains all below; of a leaf, the fat one */
	uint32_t ref;
	uint32_t nleaves;
	int16_t least; /* no leaf below costs less than 2^least; of cost */
	uint8_t height;
	bool is_changed; /* since the last rebuild, a node below */
	uint32_t link;   /* of the node that this is a branch of; the next free one */
} DynamicBranch;

/* 128 bytes, two cache lines */
typedef struct DynamicNode
{
	DynamicBranch branch[2];
} DynamicNode;

/* 64 bytes */
typedef struct DynamicLeaf
{
	Box3 box; /* the caller's */
	uint64_t id;
	uint32_t link; /* of its branch; the next free one */
	bool is_used;
} DynamicLeaf;

_Static_assert(sizeof(DynamicNode) == 128, "a node is two cache lines");
_Static_assert(sizeof(DynamicLeaf) == 64, "a leaf is a cache line");

struct BvhDynamic
{
	const BvhEnv *env;
	double margin;
	char *chunk; /* the pool, with what aligns it */
	DynamicNode *nodes;
	DynamicLeaf *leaves;
	uint32_t nslots;
	uint32_t nleaves;
	uint32_t nfresh_nodes; /* slots behind were never used */
	uint32_t nfresh_leaves;
	uint32_t free_node;
	uint32_t free_leaf;
	DynamicBranch root; /* nothing of it is valid without a leaf */
};

static inline bool
is_leaf(uint32_t ref)
{
	return (ref & DYNAMIC_LEAF) != 0;
}

static inline DynamicLeaf *
leaf_of(const BvhDynamic *tree, uint32_t ref)
{
	return &tree->leaves[ref & ~DYNAMIC_LEAF];
}

/* have what a ref names on its way from memory: a walk is mostly waiting for it */
static inline void
fetch_ahead(const BvhDynamic *tree, uint32_t ref)
{
	if (is_leaf(ref))
		__builtin_prefetch(leaf_of(tree, ref));
	else
	{
		__builtin_prefetch(&tree->nodes[ref].branch[0]);
		__builtin_prefetch(&tree->nodes[ref].branch[1]);
	}
}

static inline uint32_t
link_to(uint32_t node, int side)
{
	return node << 1 | (uint32_t) side;
}

static inline const DynamicBranch *
branch_at(const BvhDynamic *tree, uint32_t link)
{
	return link == DYNAMIC_NONE ? &tree->root : &tree->nodes[link >> 1].branch[link & 1];
}

/* ---------------------------------------------------------------- costs */

/*
 * Sides are measured in a unit, a power of two that the longest is about one
 * of, so that no product leaves the range of double.  What is much longer, or
 * without end, counts as a few units: then it costs the same wherever it goes.
 */
#define MOST_SIDE 4.0

/* share of the sum of sides in the cost; areas of about 1 hide it */
#define LENGTH_SHARE 0x1p-20

#define MOST_COST (3.0 * MOST_SIDE * MOST_SIDE + LENGTH_SHARE * 3.0 * MOST_SIDE)

typedef struct Unit
{
	int exponent;
	double factor; /* 2^-exponent */
} Unit;

static inline double
power_of_two(int exponent)
{
	uint64_t bits = (uint64_t) (exponent + 1023) << 52;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* the least exponent with |x| < 2^exponent, within what a unit may be */
static inline int
exponent_of(double x)
{
	uint64_t bits;
	int exponent;

	memcpy(&bits, &x, sizeof(bits));
	exponent = (int) (bits >> 52 & 0x7FF) - 1022;
	exponent = exponent > -1000 ? exponent : -1000;
	return exponent < 1000 ? exponent : 1000;
}

static inline Unit
unit_for(double longest)
{
	int exponent = exponent_of(longest);

	return (Unit){exponent, power_of_two(-exponent)};
}

/* the longest side of those that end; false if some do not */
static inline bool
longest_side(const Box3 *box, double *longest)
{
	bool is_finite = true;

	for (int d = 0; d < 3; d++)
	{
		double side = box->hi[d] - box->lo[d];

		/* NaN, of a side that lies at infinity, is not finite either */
		if (!(side <= 0x1.fffffffffffffp1023))
			is_finite = false;
		else if (side > *longest)
			*longest = side;
	}
	return is_finite;
}

static inline double
side_in(Unit unit, const Box3 *box, int d)
{
	double side = (box->hi[d] - box->lo[d]) * unit.factor;

	return side < MOST_SIDE ? side : MOST_SIDE;
}

/* half of the surface, and a little of the edges for what has none */
static inline double
cost_in(Unit unit, const Box3 *box)
{
	double x = side_in(unit, box, 0);
	double y = side_in(unit, box, 1);
	double z = side_in(unit, box, 2);

	return x * y + y * z + z * x + LENGTH_SHARE * (x + y + z);
}

static inline Box3
union_of(const Box3 *a, const Box3 *b)
{
	Box3 both = *a;

	box3_include(&both, b);
	return both;
}

/* dynamic.c */
extern DynamicBranch bvh_dynamic_summary(const BvhDynamic *tree, uint32_t node);
extern DynamicBranch bvh_dynamic_leaf_branch(const Box3 *fat, uint32_t ref);
extern void bvh_dynamic_set_branch(BvhDynamic *tree, uint32_t link,
								   const DynamicBranch *branch);

/* dynamic_query.c */
extern size_t bvh_dynamic_range_leaves(BvhDynamicRange *query, uint32_t *proxies,
									   size_t room);

#endif /* BVH_DYNAMIC_NODE_H */
