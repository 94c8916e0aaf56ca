/*-------------------------------------------------------------------------
 *
 * dynamic_check.c
 *	  Is a dynamic tree sound, and what is it like?
 *
 * The invariants, by their numbers:
 *
 *  1  the numbers of the pool contradict neither each other nor its size
 *  2  every node and leaf in use hangs in the tree just once, and links lead
 *     back to where it hangs
 *  3  a branch contains both branches below it, and a leaf's fat box its box
 *  4  every box is valid: no NaN, no -0, no end before its beginning
 *  5  heights are those of what is below, and that of the root is within the limit
 *  6  the leaves of a branch are as many as it says
 *  7  no leaf below a branch costs less than it says
 *  8  what is above something that changed has changed
 *  9  all other slots are in the lists of free ones, just once
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/dynamic_node.h"

static bool
broken(BvhTreeFault *fault, int number, uint32_t node, const char *message)
{
	*fault = (BvhTreeFault){number, node, message};
	return false;
}

static bool
check_pool(const BvhDynamic *tree, BvhTreeFault *fault)
{
	uint32_t nnodes = tree->nleaves > 0 ? tree->nleaves - 1 : 0;

	if (tree->nslots > BVH_MOST_BOXES || tree->nfresh_leaves > tree->nslots ||
		tree->nfresh_nodes > tree->nslots)
		return broken(fault, 1, 0, "more slots are in use than there are");
	if (tree->nleaves > tree->nfresh_leaves || nnodes > tree->nfresh_nodes)
		return broken(fault, 1, 0, "there are more leaves than slots in use");
	if (tree->root.link != DYNAMIC_NONE)
		return broken(fault, 2, 0, "the root hangs somewhere");
	return true;
}

static bool
check_leaf(const BvhDynamic *tree, uint32_t link, BvhTreeFault *fault)
{
	const DynamicBranch *branch = branch_at(tree, link);
	uint32_t number = branch->ref & ~DYNAMIC_LEAF;
	const DynamicLeaf *leaf = &tree->leaves[number];

	if (number >= tree->nfresh_leaves || !leaf->is_used)
		return broken(fault, 2, number, "a branch leads to no leaf");
	if (leaf->link != link)
		return broken(fault, 2, number, "a leaf hangs elsewhere");
	if (!box3_is_valid(&leaf->box) || !box3_is_valid(&branch->box))
		return broken(fault, 4, number, "a box is not valid");
	if (!box3_contains(&branch->box, &leaf->box))
		return broken(fault, 3, number, "a leaf is not within its fat box");
	if (branch->height != 0 || branch->is_changed)
		return broken(fault, 5, number, "a leaf is not at the bottom");
	if (branch->nleaves != 1)
		return broken(fault, 6, number, "a leaf is not one");
	if (branch->least != bvh_dynamic_leaf_branch(&branch->box, branch->ref).least)
		return broken(fault, 7, number, "a leaf costs something else");
	return true;
}

static bool
check_node(const BvhDynamic *tree, uint32_t link, BvhTreeFault *fault)
{
	const DynamicBranch *branch = branch_at(tree, link);
	uint32_t number = branch->ref;
	const DynamicBranch *below = tree->nodes[number].branch;
	DynamicBranch summary;

	if (number >= tree->nfresh_nodes)
		return broken(fault, 2, number, "a branch leads to no node");
	if (below[0].link != link || below[1].link != link)
		return broken(fault, 2, number, "a node hangs elsewhere");
	if (!box3_is_valid(&below[0].box) || !box3_is_valid(&below[1].box))
		return broken(fault, 4, number, "a branch's box is not valid");
	summary = bvh_dynamic_summary(tree, number);
	if (!box3_contains(&branch->box, &summary.box))
		return broken(fault, 3, number, "a branch does not contain what is below");
	if (branch->height != summary.height)
		return broken(fault, 5, number, "a branch has another height");
	if (branch->nleaves != summary.nleaves)
		return broken(fault, 6, number, "a branch has another number of leaves");
	if (branch->least > summary.least)
		return broken(fault, 7, number, "there is a leaf that costs less");
	if (!branch->is_changed && (below[0].is_changed || below[1].is_changed))
		return broken(fault, 8, number, "a change is not known above");
	return true;
}

/* slots that are neither in the tree nor in the list are too many or too few */
static bool
check_free(const BvhDynamic *tree, BvhTreeFault *fault)
{
	uint32_t nnodes = tree->nleaves > 0 ? tree->nleaves - 1 : 0;
	uint32_t n = tree->nfresh_nodes - nnodes;
	uint32_t at = tree->free_node;

	for (; at != DYNAMIC_NONE && n > 0; n--)
	{
		if (at >= tree->nfresh_nodes)
			return broken(fault, 9, at, "a free node was never used");
		at = tree->nodes[at].branch[0].link;
	}
	if (at != DYNAMIC_NONE || n > 0)
		return broken(fault, 9, at, "the list of free nodes has another length");
	n = tree->nfresh_leaves - tree->nleaves;
	for (at = tree->free_leaf; at != DYNAMIC_NONE && n > 0; n--)
	{
		if (at >= tree->nfresh_leaves || tree->leaves[at].is_used)
			return broken(fault, 9, at, "a free leaf is in use");
		at = tree->leaves[at].link;
	}
	if (at != DYNAMIC_NONE || n > 0)
		return broken(fault, 9, at, "the list of free leaves has another length");
	return true;
}

/*
 * bvh_dynamic_check --- keep the invariants above?
 *
 * False with the first fault found.  That a node hangs in the tree once follows from
 * its link, which leads to one place.
 */
bool
bvh_dynamic_check(const BvhDynamic *tree, BvhTreeFault *fault)
{
	uint32_t stack[BVH_DYNAMIC_HEIGHT + 2];
	uint32_t nleaves = 0;
	int depth = 0;

	*fault = (BvhTreeFault){0, 0, ""};
	if (!check_pool(tree, fault))
		return false;
	if (tree->nleaves > 0)
	{
		if (!box3_is_valid(&tree->root.box))
			return broken(fault, 4, 0, "the root's box is not valid");
		if (tree->root.height > BVH_DYNAMIC_HEIGHT)
			return broken(fault, 5, 0, "the tree is too high");
		stack[depth++] = DYNAMIC_NONE;
	}
	while (depth > 0)
	{
		uint32_t link = stack[--depth];
		const DynamicBranch *branch = branch_at(tree, link);

		if (is_leaf(branch->ref))
		{
			if (!check_leaf(tree, link, fault))
				return false;
			nleaves++;
			continue;
		}
		/* heights go down by one at least, so this ends */
		if (!check_node(tree, link, fault))
			return false;
		stack[depth++] = link_to(branch->ref, 1);
		stack[depth++] = link_to(branch->ref, 0);
	}
	if (nleaves != tree->nleaves)
		return broken(fault, 6, 0, "the tree has another number of leaves");
	return check_free(tree, fault);
}

/*
 * bvh_dynamic_stats --- what the tree is like
 *
 * Sides without end count as the longest of all others do, several times.
 */
void
bvh_dynamic_stats(const BvhDynamic *tree, BvhDynamicStats *stats)
{
	const DynamicBranch *stack[BVH_DYNAMIC_HEIGHT + 2];
	double longest = 0.0;
	double sum = 0.0;

	*stats = (BvhDynamicStats){.nboxes = tree->nleaves, .size = bvh_dynamic_size(tree)};
	if (tree->nleaves == 0)
		return;
	stats->nnodes = tree->nleaves - 1;
	stats->height = tree->root.height;
	/* twice: for the unit, and for the sum */
	for (int pass = 0; pass < 2; pass++)
	{
		Unit unit = unit_for(longest);
		int depth = 0;

		stack[depth++] = &tree->root;
		while (depth > 0)
		{
			const DynamicBranch *branch = stack[--depth];

			if (is_leaf(branch->ref))
				continue;
			if (pass == 0)
			{
				longest_side(&branch->box, &longest);
				stats->nchanged += branch->is_changed;
			}
			else
				sum += cost_in(unit, &branch->box);
			for (int side = 0; side < 2; side++)
				stack[depth++] = &tree->nodes[branch->ref].branch[side];
		}
	}
	/* the root has as good as no size when all boxes are one point */
	if (cost_in(unit_for(longest), &tree->root.box) > 0.0)
		stats->cost = sum / cost_in(unit_for(longest), &tree->root.box);
	else
		stats->cost = (double) stats->nnodes;
}
