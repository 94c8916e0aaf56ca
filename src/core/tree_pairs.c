/*-------------------------------------------------------------------------
 *
 * tree_pairs.c
 *	  Pairs of boxes of two trees, or of one, that overlap.
 *
 * Both trees are walked at once: two nodes whose bounds overlap are opened
 * together, and 8 by 8 lanes compared.  An entry of the stack names lanes, not
 * what they lead to, so that the bounds are at hand; in a walk of one tree with
 * itself, an entry of twice the same lane stands for the pairs below it.  Where
 * one side has come to a block, and the other has not, an entry may name one box
 * of it.
 *
 * Stack: an entry is replaced by at most 64 of the next level, so it holds at
 * most 63 for each level, and one.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"

_Static_assert(BVH_PAIRS_STACK >= 63 * BVH_MAX_HEIGHT + 64,
			   "the stack of a search for pairs cannot overflow");

/* bvh_op_pairs --- can pairs with this operator be searched? */
bool
bvh_op_pairs(BvhOp op)
{
	switch (op)
	{
		case BVH_OVERLAPS:
		case BVH_OVERLAPS_STRICTLY:
		case BVH_CONTAINS:
		case BVH_CONTAINED_BY:
		case BVH_SAME:
		case BVH_EQUAL:
			return true;
		default:
			return false;
	}
}

/* bvh_op_self_pairs --- and those within one tree: does it not care which box comes
 * first? */
bool
bvh_op_self_pairs(BvhOp op)
{
	return bvh_op_pairs(op) && op != BVH_CONTAINS && op != BVH_CONTAINED_BY;
}

/*
 * bvh_pairs_begin --- search the pairs with "box of a, op, box of b"
 *
 * For operators with bvh_op_pairs().
 */
void
bvh_pairs_begin(BvhPairs *pairs, const BvhTree *a, const BvhTree *b, const BvhEnv *env,
				BvhOp op)
{
	BVH_ASSERT(bvh_op_pairs(op));
	pairs->a = a;
	pairs->b = b;
	pairs->env = env;
	pairs->op = op;
	pairs->mode = BVH_SELF_ONCE;
	pairs->is_self = false;
	pairs->is_one_frame = a->scale == b->scale &&
						  memcmp(a->origin, b->origin, sizeof(a->origin)) == 0;
	pairs->nsteps = 0;
	pairs->nnodes = 0;
	pairs->nblocks = 0;
	pairs->pending_mask = 0;
	pairs->is_half_given = false;
	pairs->stack[0] = (BvhPairsEntry){BVH_PAIRS_ROOT, BVH_PAIRS_ROOT};
	pairs->depth = a->nnodes > 0 && b->nnodes > 0 ? 1 : 0;
}

/*
 * bvh_self_pairs_begin --- search the pairs within one tree
 *
 * For operators with bvh_op_self_pairs().
 */
void
bvh_self_pairs_begin(BvhPairs *pairs, const BvhTree *tree, const BvhEnv *env, BvhOp op,
					 BvhSelfMode mode)
{
	BVH_ASSERT(bvh_op_self_pairs(op));
	bvh_pairs_begin(pairs, tree, tree, env, op);
	pairs->mode = mode;
	pairs->is_self = true;
}

/*
 * bvh_pairs_next --- further pairs, up to room >= 1 of them
 *
 * Gives as many as there is room for, unless there are no more; 0 at the end.
 * In no particular order.  The tick may not return.
 */
size_t
bvh_pairs_next(BvhPairs *pairs, BvhPair *out, size_t room)
{
	return bvh_kernels->tree->pairs_next(pairs, out, room);
}
