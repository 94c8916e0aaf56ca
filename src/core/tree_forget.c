/*-------------------------------------------------------------------------
 *
 * tree_forget.c
 *	  Boxes that leave a tree which others are searching.
 *
 * A box stays where it is; only its id goes, in one store.  So a search beside
 * it gives the id or BVH_FORGOTTEN, and one that begins later gives the latter.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/tree_kernels.h"

static inline uint64_t *
id_at(const BvhTree *tree, uint64_t place)
{
	return &tree_blocks(tree)[place >> 3].id[place & 7];
}

/* bvh_tree_id --- the id at a place, BVH_FORGOTTEN if it was forgotten */
uint64_t
bvh_tree_id(const BvhTree *tree, uint64_t place)
{
	return __atomic_load_n(id_at(tree, place), __ATOMIC_RELAXED);
}

/* bvh_tree_box --- the box at a place, forgotten or not */
void
bvh_tree_box(const BvhTree *tree, uint64_t place, Box3 *box)
{
	block_box(&tree_blocks(tree)[place >> 3], (int) (place & 7), box);
}

void
bvh_tree_forget(BvhTree *tree, uint64_t place)
{
	__atomic_store_n(id_at(tree, place), BVH_FORGOTTEN, __ATOMIC_RELAXED);
}

/*
 * bvh_tree_forget_if --- forget each box whose id is said to be dead; returns how
 * many
 *
 * Asks once for each box.  Neither is_dead nor the tick need return; what was
 * forgotten until then stays so.
 */
uint64_t
bvh_tree_forget_if(BvhTree *tree, const BvhEnv *env,
				   bool (*is_dead)(void *context, uint64_t id), void *context)
{
	const BvhNode *nodes = tree_nodes(tree);
	uint64_t nforgotten = 0;
	uint32_t nsteps = 0;

	for (uint32_t i = 0; i < tree->nnodes; i++)
		for (uint32_t lanes = nodes[i].live; lanes != 0; lanes &= lanes - 1)
		{
			uint32_t ref = nodes[i].child[__builtin_ctz(lanes)];
			uint32_t live;

			if (++nsteps % (BVH_TICK_STEPS / BVH_WIDTH) == 0)
				env->tick(env->context);
			if (!ref_is_block(ref))
				continue;
			for (live = ref_live(ref); live != 0; live &= live - 1)
			{
				uint64_t place = tree_place(ref, (uint32_t) __builtin_ctz(live));
				uint64_t id = bvh_tree_id(tree, place);

				if (id == BVH_FORGOTTEN || !is_dead(context, id))
					continue;
				bvh_tree_forget(tree, place);
				nforgotten++;
			}
		}
	return nforgotten;
}
