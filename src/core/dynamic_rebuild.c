/*-------------------------------------------------------------------------
 *
 * dynamic_rebuild.c
 *	  Making the nodes of a dynamic tree anew.
 *
 * Leaves, and subtrees that nothing happened to since the last time, are the
 * items of a build by the surface area heuristic, that of the static tree; the
 * nodes above them are replaced by its skeleton.  There are just as many of those, so
 * the pool does not grow.
 *
 * Everything that asks for memory or ticks comes before the first change, and
 * what is left takes some 20 ns a node.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/dynamic_node.h"
#include "core/tree_build.h"

typedef struct Rebuild
{
	BvhDynamic *tree;
	BvhRebuildKind kind;
	uint32_t nitems;
	BvhItem *items;  /* their id is the ref */
	uint32_t *nodes; /* nitems - 1 that become free, as they are met */
	Build *build;
} Rebuild;

/* does a rebuild keep what hangs there? */
static inline bool
is_item(const Rebuild *rebuild, const DynamicBranch *branch)
{
	return is_leaf(branch->ref) ||
		   (rebuild->kind == BVH_REBUILD_CHANGED && !branch->is_changed);
}

/* meet all items; puts them down when there is room, and counts them */
static void
meet_items(Rebuild *rebuild)
{
	const BvhDynamic *tree = rebuild->tree;
	const DynamicBranch *stack[BVH_DYNAMIC_HEIGHT + 1];
	uint32_t nnodes = 0;
	int depth = 0;

	rebuild->nitems = 0;
	stack[depth++] = &tree->root;
	while (depth > 0)
	{
		const DynamicBranch *branch = stack[--depth];

		if ((rebuild->nitems + nnodes) % BVH_TICK_STEPS == 0)
			tree->env->tick(tree->env->context);
		if (is_item(rebuild, branch))
		{
			if (rebuild->items != NULL)
				rebuild->items[rebuild->nitems] = (BvhItem){branch->box, branch->ref};
			rebuild->nitems++;
			continue;
		}
		if (rebuild->nodes != NULL)
			rebuild->nodes[nnodes] = branch->ref;
		nnodes++;
		BVH_ASSERT(depth + 2 <= BVH_DYNAMIC_HEIGHT + 1);
		stack[depth++] = &tree->nodes[branch->ref].branch[1];
		stack[depth++] = &tree->nodes[branch->ref].branch[0];
	}
}

static inline const BvhItem *
item_of(const Rebuild *rebuild, const Twig *leaf)
{
	return &rebuild->items[rebuild->build->prims[leaf->first].item & ~ITEM_TAG];
}

/* the height that the tree will have; of each twig it is kept in n */
static uint32_t
measure_height(const Rebuild *rebuild)
{
	const DynamicNode *nodes = rebuild->tree->nodes;
	Twig *twigs = rebuild->build->twigs;

	for (uint32_t at = rebuild->build->ntwigs; at-- > 0;)
	{
		uint32_t height = 0;

		if (at % BVH_TICK_STEPS == 0)
			rebuild->tree->env->tick(rebuild->tree->env->context);
		if (twigs[at].right != 0)
		{
			uint32_t left = twigs[at + 1].n;
			uint32_t right = twigs[twigs[at].right].n;

			height = 1 + (left > right ? left : right);
		}
		else
		{
			uint32_t ref = (uint32_t) item_of(rebuild, &twigs[at])->id;

			if (!is_leaf(ref))
			{
				const DynamicBranch *branch = nodes[ref].branch;

				height = 1u + (branch[0].height > branch[1].height ? branch[0].height
																   : branch[1].height);
			}
		}
		twigs[at].n = height;
	}
	return twigs[0].n;
}

/* the branch that a twig becomes, all below it being done */
static DynamicBranch
twig_branch(const Rebuild *rebuild, const Twig *twig)
{
	const BvhItem *item;
	DynamicBranch branch;

	/* of a twig that is no leaf, first is its node */
	if (twig->right != 0)
		branch = bvh_dynamic_summary(rebuild->tree, twig->first);
	else
	{
		item = item_of(rebuild, twig);
		if (is_leaf((uint32_t) item->id))
			return bvh_dynamic_leaf_branch(&item->box, (uint32_t) item->id);
		branch = bvh_dynamic_summary(rebuild->tree, (uint32_t) item->id);
	}
	branch.is_changed = false;
	return branch;
}

/* put the skeleton in the place of the nodes */
static void
replace_nodes(const Rebuild *rebuild)
{
	BvhDynamic *tree = rebuild->tree;
	Twig *twigs = rebuild->build->twigs;
	uint32_t nnodes = rebuild->nitems - 1;
	DynamicBranch branch;

	for (uint32_t at = rebuild->build->ntwigs; at-- > 0;)
	{
		uint32_t node;

		if (twigs[at].right == 0)
			continue;
		/* parents before children in memory, too */
		node = rebuild->nodes != NULL ? rebuild->nodes[--nnodes] : --nnodes;
		for (int side = 0; side < 2; side++)
		{
			branch = twig_branch(rebuild, &twigs[side == 0 ? at + 1 : twigs[at].right]);
			bvh_dynamic_set_branch(tree, link_to(node, side), &branch);
		}
		twigs[at].first = node;
	}
	branch = twig_branch(rebuild, &twigs[0]);
	bvh_dynamic_set_branch(tree, DYNAMIC_NONE, &branch);
	if (rebuild->nodes == NULL)
	{
		tree->nfresh_nodes = rebuild->nitems - 1;
		tree->free_node = DYNAMIC_NONE;
	}
}

static BvhStatus
rebuild_items(Rebuild *rebuild)
{
	const BvhEnv *env = rebuild->tree->env;
	BvhStatus status;

	rebuild->items = env->alloc(env->context, rebuild->nitems * sizeof(BvhItem));
	if (rebuild->items == NULL)
		return BVH_NO_MEMORY;
	if (rebuild->kind == BVH_REBUILD_CHANGED)
	{
		rebuild->nodes = env->alloc(env->context, rebuild->nitems * sizeof(uint32_t));
		if (rebuild->nodes == NULL)
			return BVH_NO_MEMORY;
	}
	meet_items(rebuild);
	status = bvh_build_begin(env, rebuild->items, rebuild->nitems, 0, &rebuild->build);
	if (status != BVH_OK)
		return status;
	status = bvh_build_twigs(rebuild->build, NULL);
	if (status == BVH_OK && measure_height(rebuild) > BVH_DYNAMIC_HEIGHT)
		return BVH_TOO_MANY;
	if (status == BVH_OK)
		replace_nodes(rebuild);
	return status;
}

/*
 * bvh_dynamic_rebuild --- make the tree as good to search as when it is built
 * from its boxes
 *
 * Proxies stay as they are.  With BVH_REBUILD_CHANGED, subtrees that nothing has
 * happened to since the last time are kept whole, which costs as much as there
 * were changes.  When it fails, or a callback does not return, nothing has
 * changed.
 */
BvhStatus
bvh_dynamic_rebuild(BvhDynamic *tree, BvhRebuildKind kind)
{
	const BvhEnv *env = tree->env;
	Rebuild rebuild = {.tree = tree, .kind = kind};
	BvhStatus status = BVH_OK;

	if (tree->nleaves == 0)
		return BVH_OK;
	meet_items(&rebuild);
	if (rebuild.nitems < 2)
		return BVH_OK;
	if (rebuild.nitems == tree->nleaves)
		rebuild.kind = BVH_REBUILD_ALL;
	status = rebuild_items(&rebuild);
	if (rebuild.build != NULL)
		bvh_build_end(rebuild.build);
	if (rebuild.nodes != NULL)
		env->release(env->context, rebuild.nodes);
	if (rebuild.items != NULL)
		env->release(env->context, rebuild.items);
	/* only subtrees that are tall already can be too tall for it together */
	if (status == BVH_TOO_MANY)
		return bvh_dynamic_rebuild(tree, BVH_REBUILD_ALL);
	return status;
}
