/*-------------------------------------------------------------------------
 *
 * dynamic_pairs.c
 *	  Pairs of boxes that overlap, where a dynamic tree has one of them.
 *
 * Two dynamic trees, or one with itself, are walked at once.  An entry of the stack
 * names two branches that overlap, the taller of which is opened; twice the same branch
 * stands for the pairs below it.
 *
 * Stack: an entry becomes at most two that are a level lower on one side, or, if
 * it is twice the same, at most three; so there are at most 2 for each level of
 * the latter, then one for each level of either side, and one.
 *
 * Where few boxes meet many, each of them is a search of its own.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/dynamic_node.h"
#include "core/simd/kernels.h"

_Static_assert(BVH_DYNAMIC_PAIRS_STACK >= 4 * BVH_DYNAMIC_HEIGHT + 1,
			   "the stack of a search for pairs cannot overflow");

/* ---------------------------------------------------------------- two trees */

/*
 * bvh_dynamic_pairs_begin --- search the pairs with "box of a, op, box of b"
 *
 * For operators with bvh_op_pairs().
 */
void
bvh_dynamic_pairs_begin(BvhDynamicPairs *pairs, const BvhDynamic *a, const BvhDynamic *b,
						const BvhEnv *env, BvhOp op)
{
	BVH_ASSERT(bvh_op_pairs(op));
	pairs->a = a;
	pairs->b = b;
	pairs->env = env;
	pairs->op = op;
	pairs->mode = BVH_SELF_ONCE;
	pairs->is_self = false;
	pairs->is_half_given = false;
	pairs->nsteps = 0;
	pairs->nnodes = 0;
	pairs->depth = 0;
	if (a->nleaves > 0 && b->nleaves > 0 && box3_overlaps(&a->root.box, &b->root.box))
		pairs->stack[pairs->depth++] = (BvhPairsEntry){DYNAMIC_NONE, DYNAMIC_NONE};
}

/*
 * bvh_dynamic_self_pairs_begin --- search the pairs within one tree
 *
 * For the operators that do not care which box comes first: overlap, strict
 * overlap, and equality.
 */
void
bvh_dynamic_self_pairs_begin(BvhDynamicPairs *pairs, const BvhDynamic *tree,
							 const BvhEnv *env, BvhOp op, BvhSelfMode mode)
{
	BVH_ASSERT(op != BVH_CONTAINS && op != BVH_CONTAINED_BY);
	bvh_dynamic_pairs_begin(pairs, tree, tree, env, op);
	pairs->mode = mode;
	pairs->is_self = true;
}

static inline void
push_pair(BvhDynamicPairs *pairs, uint32_t a, uint32_t b)
{
	BVH_ASSERT(pairs->depth < BVH_DYNAMIC_PAIRS_STACK);
	pairs->stack[pairs->depth++] = (BvhPairsEntry){a, b};
}

/* the pairs below a node: of each side, and of both */
static void
open_same(BvhDynamicPairs *pairs, uint32_t node)
{
	const DynamicBranch *branch = pairs->a->nodes[node].branch;

	if (box3_overlaps(&branch[0].box, &branch[1].box))
		push_pair(pairs, link_to(node, 0), link_to(node, 1));
	for (int side = 0; side < 2; side++)
		if (!is_leaf(branch[side].ref) || pairs->mode == BVH_SELF_ALL)
			push_pair(pairs, link_to(node, side), link_to(node, side));
}

/* the taller of two branches that are not both leaves, with the other */
static void
open_taller(BvhDynamicPairs *pairs, BvhPairsEntry entry, const DynamicBranch *a,
			const DynamicBranch *b)
{
	bool is_a = a->height > b->height ||
				(a->height == b->height && a->nleaves > b->nleaves);
	const DynamicBranch *shorter = is_a ? b : a;
	uint32_t node = is_a ? a->ref : b->ref;
	const DynamicBranch *branch = is_a ? pairs->a->nodes[node].branch
									   : pairs->b->nodes[node].branch;

	for (int side = 0; side < 2; side++)
		if (box3_overlaps(&branch[side].box, &shorter->box))
			push_pair(pairs,
					  is_a ? link_to(node, side) : entry.a,
					  is_a ? entry.b : link_to(node, side));
}

/*
 * bvh_dynamic_pairs_next --- further pairs, up to room >= 1 of them
 *
 * Gives as many as there is room for, unless there are no more; 0 at the end.
 * In no particular order.  The tick may not return.
 */
size_t
bvh_dynamic_pairs_next(BvhDynamicPairs *pairs, BvhPair *out, size_t room)
{
	size_t n = 0;

	if (pairs->is_half_given)
	{
		out[n++] = pairs->pending;
		pairs->is_half_given = false;
	}
	while (pairs->depth > 0 && n < room)
	{
		BvhPairsEntry entry = pairs->stack[--pairs->depth];
		const DynamicBranch *a = branch_at(pairs->a, entry.a);
		const DynamicBranch *b = branch_at(pairs->b, entry.b);
		bool is_same = pairs->is_self && entry.a == entry.b;
		const DynamicLeaf *leaf_a;
		const DynamicLeaf *leaf_b;

		if (++pairs->nsteps % BVH_TICK_STEPS == 0)
			pairs->env->tick(pairs->env->context);
		if (!is_leaf(a->ref) || !is_leaf(b->ref))
		{
			pairs->nnodes++;
			if (is_same)
				open_same(pairs, a->ref);
			else
				open_taller(pairs, entry, a, b);
			continue;
		}
		if (is_same && pairs->mode != BVH_SELF_ALL)
			continue;
		leaf_a = leaf_of(pairs->a, a->ref);
		leaf_b = leaf_of(pairs->b, b->ref);
		if (!box3_matches(&leaf_a->box, pairs->op, &leaf_b->box))
			continue;
		out[n++] = (BvhPair){leaf_a->id, leaf_b->id};
		if (!pairs->is_self || pairs->mode == BVH_SELF_ONCE || is_same)
			continue;
		pairs->pending = (BvhPair){leaf_b->id, leaf_a->id};
		pairs->is_half_given = n == room;
		if (n < room)
			out[n++] = pairs->pending;
	}
	return n;
}

/* ---------------------------------------------------------------- box by box */

/*
 * bvh_probes_begin --- search the pairs with "box of the proxies, op, box of
 * the static tree"
 *
 * The proxies are ascending, none twice; or NULL for all.  For any operator that
 * box3_range() knows.
 */
void
bvh_probes_begin(BvhProbes *probes, const BvhDynamic *tree, const uint32_t *proxies,
				 size_t n, const BvhTree *target, const BvhEnv *env, BvhOp op)
{
	probes->tree = tree;
	probes->target = target;
	probes->env = env;
	probes->op = op;
	probes->proxies = proxies;
	probes->n = proxies != NULL ? n : tree->nfresh_leaves;
	probes->next = 0;
	probes->is_open = false;
	probes->nsteps = 0;
	probes->nfound = 0;
	probes->ngiven = 0;
}

/*
 * bvh_moved_pairs_begin --- search the pairs within one tree of which at least
 * one box is of the proxies, each of them once
 *
 * For the operators of bvh_dynamic_self_pairs_begin().
 */
void
bvh_moved_pairs_begin(BvhProbes *probes, const BvhDynamic *tree, const uint32_t *proxies,
					  size_t n, const BvhEnv *env, BvhOp op)
{
	BVH_ASSERT(bvh_op_self_pairs(op));
	bvh_probes_begin(probes, tree, proxies, n, NULL, env, op);
}

/* begin the search of the next proxy; false at the end */
static bool
open_probe(BvhProbes *probes)
{
	const BvhDynamic *tree = probes->tree;
	BoxRange range;

	do
	{
		if (probes->next == probes->n)
			return false;
		if (++probes->nsteps % BVH_TICK_STEPS == 0)
			probes->env->tick(probes->env->context);
		probes->proxy = probes->proxies != NULL ? probes->proxies[probes->next]
												: (uint32_t) probes->next;
		probes->next++;
	} while (!bvh_dynamic_has(tree, probes->proxy));

	/* the box that is found comes second */
	box3_range(probes->op, true, &tree->leaves[probes->proxy].box, &range);
	if (probes->target != NULL)
		bvh_range_begin(&probes->search.in_static, probes->target, probes->env, &range);
	else
		bvh_dynamic_range_begin(&probes->search.in_dynamic, tree, probes->env, &range);
	return true;
}

/* is the pair of this proxy and one that was found for the other of them to give? */
static bool
is_given_elsewhere(const BvhProbes *probes, uint32_t found)
{
	size_t first = 0;
	size_t end = probes->n;

	if (found >= probes->proxy)
		return found == probes->proxy;
	if (probes->proxies == NULL)
		return true;
	while (first < end)
	{
		size_t middle = first + (end - first) / 2;

		if (probes->proxies[middle] < found)
			first = middle + 1;
		else
			end = middle;
	}
	return first < probes->n && probes->proxies[first] == found;
}

/*
 * bvh_probes_next --- further pairs, up to room >= 1 of them
 *
 * Gives as many as there is room for, unless there are no more; 0 at the end.
 * The tick may not return.
 */
size_t
bvh_probes_next(BvhProbes *probes, BvhPair *out, size_t room)
{
	const BvhDynamic *tree = probes->tree;
	size_t n = 0;

	while (n < room)
	{
		uint64_t id;

		if (probes->ngiven < probes->nfound)
		{
			id = tree->leaves[probes->proxy].id;
			if (probes->target != NULL)
				out[n++] = (BvhPair){id, probes->ids[probes->ngiven]};
			else if (!is_given_elsewhere(probes, probes->proxies_found[probes->ngiven]))
				out[n++] =
					(BvhPair){id, tree->leaves[probes->proxies_found[probes->ngiven]].id};
			probes->ngiven++;
			continue;
		}
		if (!probes->is_open)
		{
			probes->is_open = open_probe(probes);
			if (!probes->is_open)
				break;
		}
		probes->ngiven = 0;
		if (probes->target != NULL)
			probes->nfound = bvh_range_next(&probes->search.in_static,
											probes->ids,
											BVH_PROBES_ROOM);
		else
			probes->nfound = bvh_dynamic_range_leaves(&probes->search.in_dynamic,
													  probes->proxies_found,
													  BVH_PROBES_ROOM);
		probes->is_open = probes->nfound > 0;
	}
	return n;
}
