/*-------------------------------------------------------------------------
 *
 * tree_check.c
 *	  Is a tree in memory sound, and what is it like?
 *
 * The invariants, by their numbers:
 *
 *  1  the header is one of ours, and its sizes add up
 *  2  the lanes in use are the first ones, at least one
 *  3  nodes are numbered in the order of a walk, depth first and lane by
 *     lane, blocks as their nodes are met; so each is met once
 *  4  no path from the root is longer than the height
 *  5  a lane's bounds are, in the tree's frame, the union of what is below
 *  6  every box is valid: no NaN, no -0, no end before its beginning
 *  7  lanes and places not in use repeat the first
 *  8  the boxes are as many as the header says, and their union is the same
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/tree_node.h"

typedef struct Visit
{
	uint32_t node;
	uint32_t level;
} Visit;

static bool
broken(BvhTreeFault *fault, int number, uint32_t node, const char *message)
{
	*fault = (BvhTreeFault){number, node, message};
	return false;
}

static bool
check_header(const BvhTree *tree, size_t size, BvhTreeFault *fault)
{
	if ((uintptr_t) tree % BVH_TREE_ALIGNMENT != 0)
		return broken(fault, 1, 0, "the tree is not aligned");
	if (size < sizeof(BvhTree) || tree->magic != BVH_TREE_MAGIC)
		return broken(fault, 1, 0, "there is no tree of this layout");
	if (tree->size > size ||
		tree->size != sizeof(BvhTree) + tree->nnodes * (uint64_t) sizeof(BvhNode) +
						  tree->nblocks * (uint64_t) sizeof(BvhBlock))
		return broken(fault, 1, 0, "the size is not that of the nodes and blocks");
	if (tree->nnodes > BVH_REF_BLOCK >> 3 || tree->nblocks > BVH_REF_BLOCK >> 3)
		return broken(fault, 1, 0, "there are too many nodes or blocks");
	for (int d = 0; d < 3; d++)
		if (!isfinite(tree->origin[d]))
			return broken(fault, 1, 0, "the frame has no origin");
	if (!(tree->scale > 0.0) || tree->scale * tree->unscale != 1.0)
		return broken(fault, 1, 0, "the frame has no scale");
	if (tree->height > BVH_MAX_HEIGHT)
		return broken(fault, 1, 0, "the height is over the limit");
	if ((tree->nboxes == 0) != (tree->nnodes == 0) ||
		(tree->nboxes == 0) != (tree->nblocks == 0) || tree->ngiants > tree->nboxes)
		return broken(fault, 1, 0, "the numbers in the header contradict each other");
	return true;
}

static bool
check_bounds(const BvhTree *tree, const BvhNode *node, int lane, const Box3 *bounds)
{
	for (int d = 0; d < 3; d++)
		if (node->bound[d][lane] != tree_bound(tree, d, bounds->lo[d]) ||
			node->bound[d + 3][lane] != tree_bound(tree, d + 3, bounds->hi[d]))
			return false;
	return true;
}

static bool
check_block(const BvhTree *tree, const BvhNode *node, uint32_t at, int lane, Box3 *all,
			BvhTreeFault *fault)
{
	const BvhBlock *block = &tree_blocks(tree)[ref_block(node->child[lane])];
	uint32_t live = ref_live(node->child[lane]);
	Box3 bounds;
	Box3 first;

	block_box(block, 0, &first);
	bounds = first;
	for (int place = 0; place < BVH_WIDTH; place++)
	{
		Box3 box;

		block_box(block, place, &box);
		if (!(live >> place & 1))
		{
			if (!box3_equal(&box, &first) || block->id[place] != block->id[0])
				return broken(fault, 7, at, "a place not in use is not the first");
			continue;
		}
		if (!box3_is_valid(&box))
			return broken(fault, 6, at, "a box is not valid");
		box3_include(&bounds, &box);
	}
	if (!check_bounds(tree, node, lane, &bounds))
		return broken(fault, 5, at, "a lane's bounds are not those of its block");
	box3_include(all, &bounds);
	return true;
}

/* the bounds of a node are the least of its lanes', already rounded */
static bool
check_node_bounds(const BvhNode *node, int lane, const BvhNode *child)
{
	for (int k = 0; k < 6; k++)
	{
		float least = child->bound[k][0];

		for (int i = 1; i < BVH_WIDTH; i++)
			if ((child->live >> i & 1) && child->bound[k][i] < least)
				least = child->bound[k][i];
		if (node->bound[k][lane] != least)
			return false;
	}
	return true;
}

static bool
check_spare_lanes(const BvhNode *node)
{
	for (int lane = 0; lane < BVH_WIDTH; lane++)
		if (!(node->live >> lane & 1))
		{
			for (int k = 0; k < 6; k++)
				if (node->bound[k][lane] != node->bound[k][0])
					return false;
			if (node->child[lane] != node->child[0])
				return false;
		}
	return true;
}

/*
 * bvh_tree_check --- keep the invariants above?
 *
 * memory holds size bytes, of which the tree may take fewer.  False with the
 * first fault found.  Reads nothing outside of the memory, whatever is there.
 */
bool
bvh_tree_check(const void *memory, size_t size, BvhTreeFault *fault)
{
	const BvhTree *tree = memory;
	const BvhNode *nodes;
	Visit stack[(BVH_WIDTH - 1) * BVH_MAX_HEIGHT + 1];
	int depth = 0;
	uint32_t nnodes = 0;
	uint32_t nblocks = 0;
	uint32_t height = 0;
	uint64_t nboxes = 0;
	Box3 all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

	*fault = (BvhTreeFault){0, 0, ""};
	if (!check_header(tree, size, fault))
		return false;
	nodes = tree_nodes(tree);
	if (tree->nnodes > 0)
		stack[depth++] = (Visit){0, 1};
	while (depth > 0)
	{
		Visit visit = stack[--depth];
		const BvhNode *node = &nodes[visit.node];
		uint32_t first_child = depth;
		uint32_t last_number = nnodes;

		if (visit.node != nnodes++)
			return broken(fault, 3, visit.node, "a node is not the next of the walk");
		if (node->live == 0 || node->live > 0xFF || (node->live & (node->live + 1)) != 0)
			return broken(fault, 2, visit.node, "not the first lanes are in use");
		if (visit.level > tree->height)
			return broken(fault, 4, visit.node, "a path is longer than the height");
		height = visit.level > height ? visit.level : height;
		if (!check_spare_lanes(node))
			return broken(fault, 7, visit.node, "a lane not in use is not the first");
		for (int lane = BVH_WIDTH - 1; lane >= 0; lane--)
		{
			uint32_t child = node->child[lane];

			if (!(node->live >> lane & 1) || ref_is_block(child))
				continue;
			if (child <= last_number || child >= tree->nnodes)
				return broken(fault, 3, visit.node, "a lane leads to no node below");
			if (!check_node_bounds(node, lane, &nodes[child]))
				return broken(fault,
							  5,
							  visit.node,
							  "a lane's bounds are not those of its node");
			stack[depth++] = (Visit){child, visit.level + 1};
		}
		/* every second lane of a damaged node may lead to the same one */
		for (int i = (int) first_child; i + 1 < depth; i++)
			if (stack[i].node <= stack[i + 1].node)
				return broken(fault, 3, visit.node, "lanes are not in order");
		for (int lane = 0; lane < BVH_WIDTH; lane++)
		{
			uint32_t child = node->child[lane];

			if (!(node->live >> lane & 1) || !ref_is_block(child))
				continue;
			if (ref_block(child) != nblocks++ || nblocks > tree->nblocks)
				return broken(fault,
							  3,
							  visit.node,
							  "a block is not the next of the walk");
			nboxes += (uint64_t) __builtin_popcount(ref_live(child));
			if (!check_block(tree, node, visit.node, lane, &all, fault))
				return false;
		}
	}
	if (nnodes != tree->nnodes || nblocks != tree->nblocks)
		return broken(fault, 3, 0, "there are nodes or blocks that no lane leads to");
	if (height != tree->height)
		return broken(fault, 4, 0, "no path is as long as the height");
	if (nboxes != tree->nboxes)
		return broken(fault, 8, 0, "the header has another number of boxes");
	if (nboxes > 0 && !box3_equal(&all, &tree->bounds))
		return broken(fault, 8, 0, "the header has another union");
	return true;
}

/*
 * area_of --- of a lane, or of all of a node for -1; finite, in units of scale
 */
static double
area_of(const BvhNode *node, int lane, double scale)
{
	double length[3];

	for (int d = 0; d < 3; d++)
	{
		double lo = INFINITY;
		double neg_hi = INFINITY;

		for (int i = 0; i < BVH_WIDTH; i++)
			if ((lane < 0 && (node->live >> i & 1)) || i == lane)
			{
				lo = fmin(lo, node->bound[d][i]);
				neg_hi = fmin(neg_hi, node->bound[d + 3][i]);
			}
		/* what is infinite, or goes far beyond the scale, counts as that long */
		length[d] = fmin(-(lo + neg_hi) / scale, 1.0);
		if (!(length[d] > 0.0))
			length[d] = 0.0;
	}
	return length[0] * length[1] + length[1] * length[2] + length[2] * length[0];
}

/*
 * bvh_tree_stats --- what the tree is like
 *
 * The cost is that of the subtree below the root without the giants, if there
 * are any.
 */
void
bvh_tree_stats(const BvhTree *tree, BvhTreeStats *stats)
{
	const BvhNode *nodes = tree_nodes(tree);
	double scale = 0.0;
	double whole;
	double sum = 0.0;

	*stats = (BvhTreeStats){.nboxes = tree->nboxes,
							.ngiants = tree->ngiants,
							.nnodes = tree->nnodes,
							.nblocks = tree->nblocks,
							.height = (int) tree->height,
							.size = tree->size};
	if (tree->nnodes == 0)
		return;
	stats->fill = (double) tree->nboxes / ((double) tree->nblocks * BVH_WIDTH);

	/* the longest finite side of a lane of the root is the unit */
	for (int lane = 0; lane < BVH_WIDTH; lane++)
		for (int d = 0; d < 3; d++)
		{
			double length = -((double) nodes->bound[d][lane] + nodes->bound[d + 3][lane]);

			if (isfinite(length) && length > scale)
				scale = length;
		}
	for (int lane = 0; lane < BVH_WIDTH; lane++)
		for (int d = 0; d < 3; d++)
			for (int i = 0; i < BVH_WIDTH; i++)
			{
				double length = -((double) nodes->bound[d][lane] +
								  nodes->bound[d + 3][i]);

				if (isfinite(length) && length > scale)
					scale = length;
			}
	if (scale == 0.0)
		return;
	whole = area_of(nodes, -1, scale);
	if (whole == 0.0)
		return;
	sum = whole;
	for (uint32_t at = 0; at < tree->nnodes; at++)
		for (uint32_t live = nodes[at].live; live != 0; live &= live - 1)
			sum += area_of(&nodes[at], __builtin_ctz(live), scale);
	stats->cost = sum / whole;
}
