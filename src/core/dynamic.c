/*-------------------------------------------------------------------------
 *
 * dynamic.c
 *	  Boxes enter, leave and move in a tree.
 *
 * A box is put beside the node or leaf where that adds least to the cost of the
 * tree, which a greedy descent finds that follows the smaller of two lower
 * bounds; on the way back nodes are rotated where that is cheaper (Bittner,
 * Hapala and Havran, "Fast insertion-based optimization of bounding volume
 * hierarchies", 2013; Catto, "Dynamic bounding volume hierarchies", 2019).
 *
 * What is particular here:
 *
 * 1. Only differences of costs along one path are ever compared.  So the unit
 *    of length can change on the way down, and boxes of any size are placed as
 *    well as others.
 * 2. A branch knows how small its leaves are at least.  Nothing can be put below
 *    for less; so where all are giants, which contain every new box at no
 *    cost, they do not attract it.  (Elsewhere that bound is tighter, too, but the
 *    greedy descent does worse by it.)
 * 3. Where costs are equal, as with equal boxes, the smaller side wins.
 *
 * Height: a branch at depth d is entered only if d + log2(its leaves) + 1 is at
 * most the limit.  For the smaller of two children, which has at most half
 * of the leaves, that follows from the same of their parent; so one of them can
 * always be entered, down to a leaf that a sibling may be put to.  The root can be:
 * log2 of the most boxes is 30.
 *
 * Nothing is changed before all memory is there.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/dynamic_node.h"

_Static_assert(BVH_MOST_BOXES <= UINT64_C(1) << 30 && BVH_DYNAMIC_HEIGHT > 31,
			   "the proof above");

#define SLOT_SIZE (sizeof(DynamicNode) + sizeof(DynamicLeaf))

/* shorter than so much of the unit: time for another */
#define SMALL_FOR_UNIT 0x1p-64

/* a leaf that costs so much of all that it is part of is a giant there */
#define GIANT_SHARE 0.0625

/* what is predicted of a movement, times the last */
#define AHEAD 4.0

/* where a new node goes */
typedef struct Place
{
	uint32_t link;
	int depth;
} Place;

/* ---------------------------------------------------------------- the pool */

/* bvh_dynamic_create --- an empty tree; fat boxes are larger by the margin */
BvhStatus
bvh_dynamic_create(const BvhEnv *env, double margin, BvhDynamic **tree)
{
	*tree = env->alloc(env->context, sizeof(BvhDynamic));
	if (*tree == NULL)
		return BVH_NO_MEMORY;
	memset(*tree, 0, sizeof(BvhDynamic));
	(*tree)->env = env;
	(*tree)->margin = margin > 0.0 ? margin : 0.0;
	(*tree)->free_node = DYNAMIC_NONE;
	(*tree)->free_leaf = DYNAMIC_NONE;
	(*tree)->root.link = DYNAMIC_NONE;
	return BVH_OK;
}

void
bvh_dynamic_free(BvhDynamic *tree)
{
	const BvhEnv *env = tree->env;

	if (tree->chunk != NULL)
		env->release(env->context, tree->chunk);
	env->release(env->context, tree);
}

/* room for one more box */
static BvhStatus
make_room(BvhDynamic *tree)
{
	const BvhEnv *env = tree->env;
	uint64_t nslots = tree->nslots + tree->nslots / 2 + 16;
	DynamicNode *nodes;
	DynamicLeaf *leaves;
	char *chunk;

	/* there are fewer nodes than leaves */
	if (tree->nleaves < tree->nslots)
		return BVH_OK;
	if (tree->nleaves >= BVH_MOST_BOXES)
		return BVH_TOO_MANY;
	if (nslots > BVH_MOST_BOXES)
		nslots = BVH_MOST_BOXES;
	chunk = env->alloc(env->context, nslots * SLOT_SIZE + BVH_TREE_ALIGNMENT - 1);
	if (chunk == NULL)
		return BVH_NO_MEMORY;
	nodes = (DynamicNode *) (chunk + -(uintptr_t) chunk % BVH_TREE_ALIGNMENT);
	leaves = (DynamicLeaf *) (nodes + nslots);
	if (tree->chunk != NULL)
	{
		memcpy(nodes, tree->nodes, tree->nfresh_nodes * sizeof(DynamicNode));
		memcpy(leaves, tree->leaves, tree->nfresh_leaves * sizeof(DynamicLeaf));
		env->release(env->context, tree->chunk);
	}
	tree->chunk = chunk;
	tree->nodes = nodes;
	tree->leaves = leaves;
	tree->nslots = (uint32_t) nslots;
	return BVH_OK;
}

static uint32_t
take_node(BvhDynamic *tree)
{
	uint32_t node = tree->free_node;

	if (node == DYNAMIC_NONE)
		return tree->nfresh_nodes++;
	tree->free_node = tree->nodes[node].branch[0].link;
	return node;
}

static void
give_node(BvhDynamic *tree, uint32_t node)
{
	tree->nodes[node].branch[0].link = tree->free_node;
	tree->free_node = node;
}

static uint32_t
take_leaf(BvhDynamic *tree)
{
	uint32_t leaf = tree->free_leaf;

	if (leaf == DYNAMIC_NONE)
		return tree->nfresh_leaves++;
	tree->free_leaf = tree->leaves[leaf].link;
	return leaf;
}

/* ---------------------------------------------------------------- branches */

/* bvh_dynamic_set_branch --- hang a node or leaf where the link says */
void
bvh_dynamic_set_branch(BvhDynamic *tree, uint32_t link, const DynamicBranch *branch)
{
	DynamicBranch *at = (DynamicBranch *) branch_at(tree, link);
	uint32_t up = at->link;

	*at = *branch;
	at->link = up;
	if (is_leaf(branch->ref))
		leaf_of(tree, branch->ref)->link = link;
	else
		for (int side = 0; side < 2; side++)
			tree->nodes[branch->ref].branch[side].link = link;
}

/* bvh_dynamic_leaf_branch --- the branch that a leaf hangs on */
DynamicBranch
bvh_dynamic_leaf_branch(const Box3 *fat, uint32_t ref)
{
	DynamicBranch branch = {.box = *fat, .ref = ref, .nleaves = 1};
	double longest = -1.0;
	Unit unit;
	double cost;

	longest_side(fat, &longest);
	unit = unit_for(longest);
	cost = cost_in(unit, fat);
	if (longest < 0.0)
		branch.least = LEAST_OF_ALL;
	else if (cost < 0x1p-900)
		branch.least = LEAST_OF_POINT;
	else
		branch.least = (int16_t) (exponent_of(cost) - 1 + 2 * unit.exponent);
	return branch;
}

/* all of a branch but its link, from those below its node */
static inline void
summarize(const BvhDynamic *tree, uint32_t node, DynamicBranch *to)
{
	const DynamicBranch *a = &tree->nodes[node].branch[0];
	const DynamicBranch *b = &tree->nodes[node].branch[1];

	for (int d = 0; d < 3; d++)
	{
		to->box.lo[d] = a->box.lo[d] < b->box.lo[d] ? a->box.lo[d] : b->box.lo[d];
		to->box.hi[d] = a->box.hi[d] > b->box.hi[d] ? a->box.hi[d] : b->box.hi[d];
	}
	to->ref = node;
	to->nleaves = a->nleaves + b->nleaves;
	to->least = a->least < b->least ? a->least : b->least;
	to->height = (uint8_t) (1 + (a->height > b->height ? a->height : b->height));
	to->is_changed = true;
}

/* bvh_dynamic_summary --- the branch that a node hangs on, from those below */
DynamicBranch
bvh_dynamic_summary(const BvhDynamic *tree, uint32_t node)
{
	DynamicBranch branch;

	summarize(tree, node, &branch);
	branch.link = DYNAMIC_NONE;
	return branch;
}

/* ---------------------------------------------------------------- the place of a box */

/* may what hangs at this depth go one down? */
static inline bool
can_sink(const DynamicBranch *branch, int depth)
{
	return depth + 1 + branch->height <= BVH_DYNAMIC_HEIGHT;
}

static inline bool
can_enter(const DynamicBranch *branch, int depth)
{
	int log2 = 31 - __builtin_clz(branch->nleaves);

	return !is_leaf(branch->ref) && depth + log2 + 1 <= BVH_DYNAMIC_HEIGHT;
}

/* what leaves cost that cost 2^least at least */
static inline double
cost_of_least(Unit unit, int least)
{
	int exponent = least - 2 * unit.exponent;
	double cost = exponent < -1000 ? 0.0
				  : exponent > 5   ? MOST_COST
								   : power_of_two(exponent);

	return cost < MOST_COST ? cost : MOST_COST;
}

/* the unit for a choice between two children */
static Unit
unit_of_choice(const DynamicNode *node, const Box3 *box)
{
	double longest = 0.0;
	Box3 both = union_of(&node->branch[0].box, &node->branch[1].box);

	box3_include(&both, box);
	if (!longest_side(&both, &longest))
	{
		/* where the union has no end, something else may */
		longest_side(box, &longest);
		for (int side = 0; side < 2; side++)
		{
			both = union_of(&node->branch[side].box, box);
			longest_side(&both, &longest);
			longest_side(&node->branch[side].box, &longest);
		}
	}
	return unit_for(longest);
}

/*
 * find_place --- the link where a new node, with the box and what hangs there
 * now, costs least, or nearly so
 *
 * A place costs what the union with the box costs, and what all above it grow
 * by.  What they grow by is the same for all places below; so the cost of the
 * best so far is kept less that.
 */
static Place
find_place(const BvhDynamic *tree, const DynamicBranch *leaf)
{
	const Box3 *box = &leaf->box;
	const DynamicBranch *at = &tree->root;
	Box3 grown = union_of(&at->box, box);
	Place place = {DYNAMIC_NONE, 0};
	bool is_found = can_sink(at, 0);
	double longest = 0.0;
	Unit unit;
	double allowance;
	double own_cost;

	if (is_leaf(at->ref))
		return place;
	unit = unit_of_choice(&tree->nodes[at->ref], box);
	own_cost = cost_in(unit, box);
	allowance = cost_in(unit, &at->box);
	for (int depth = 1;; depth++)
	{
		const DynamicNode *node = &tree->nodes[at->ref];
		double cost[2];
		double growth[2];
		double bound[2];
		Box3 both[2];
		double limit;
		int best;
		int next;

		/* both: on the way up, rotations look at the other one, too */
		fetch_ahead(tree, node->branch[0].ref);
		fetch_ahead(tree, node->branch[1].ref);

		longest = 0.0;
		if (!longest_side(&grown, &longest) || longest * unit.factor < SMALL_FOR_UNIT)
		{
			Unit finer = unit_of_choice(node, box);
			double ratio = finer.factor / unit.factor;

			if (allowance > 0.0)
				allowance = allowance * ratio * ratio;
			unit = finer;
			own_cost = cost_in(unit, box);
		}
		limit = GIANT_SHARE * cost_in(unit, &grown);
		for (int side = 0; side < 2; side++)
		{
			const DynamicBranch *branch = &node->branch[side];
			double least;

			both[side] = union_of(&branch->box, box);
			cost[side] = cost_in(unit, &both[side]);
			growth[side] = cost[side] - cost_in(unit, &branch->box);
			least = cost_of_least(unit, branch->least);
			bound[side] = growth[side] + (least > limit ? least : own_cost);
			if (!can_sink(branch, depth))
				cost[side] = INFINITY;
			if (!can_enter(branch, depth))
				bound[side] = INFINITY;
		}

		/* deeper is better where it costs the same: that is what balances */
		best = cost[1] < cost[0] ||
			   (cost[1] == cost[0] && node->branch[1].nleaves < node->branch[0].nleaves);
		if (cost[best] < INFINITY && (cost[best] <= allowance || !is_found))
		{
			place = (Place){link_to(at->ref, best), depth};
			allowance = cost[best];
			is_found = true;
		}

		next = bound[1] < bound[0] ||
			   (bound[1] == bound[0] &&
				(cost[1] < cost[0] ||
				 (cost[1] == cost[0] &&
				  node->branch[1].nleaves < node->branch[0].nleaves)));
		if (bound[next] == INFINITY || (bound[next] > allowance && is_found))
		{
			BVH_ASSERT(is_found);
			return place;
		}
		allowance -= growth[next];
		at = &node->branch[next];
		grown = both[next];
	}
}

/* ---------------------------------------------------------------- the way up */

/* two branches that may change places, and what that is good for */
typedef struct Exchange
{
	double gain;
	int height;
	uint32_t a;
	uint32_t b;
} Exchange;

static inline int
height_above(int a, int b)
{
	return 1 + (a > b ? a : b);
}

static inline void
consider(Exchange *best, double gain, int height, int depth, uint32_t a, uint32_t b)
{
	if (gain >= best->gain && (gain > best->gain || height < best->height) &&
		depth + height <= BVH_DYNAMIC_HEIGHT)
		*best = (Exchange){gain, height, a, b};
}

/*
 * rotate --- let a child and a grandchild below the other child, or two
 * grandchildren, change places, if that is cheaper, or else as cheap and flatter
 */
static void
rotate(BvhDynamic *tree, uint32_t node, int depth)
{
	DynamicBranch *child = tree->nodes[node].branch;
	Unit unit = unit_of_choice(&tree->nodes[node], &child[0].box);
	Exchange best = {0.0, height_above(child[0].height, child[1].height), 0, 0};
	const DynamicBranch *below[2] = {NULL, NULL};
	double cost[2] = {0.0, 0.0};
	DynamicBranch a;
	DynamicBranch b;

	for (int side = 0; side < 2; side++)
		if (!is_leaf(child[side].ref))
		{
			below[side] = tree->nodes[child[side].ref].branch;
			cost[side] = cost_in(unit, &child[side].box);
		}
	for (int side = 0; side < 2; side++)
	{
		const DynamicBranch *other = &child[1 - side];

		for (int i = 0; i < 2 && below[side] != NULL; i++)
		{
			const DynamicBranch *moves = &below[side][i];
			const DynamicBranch *stays = &below[side][1 - i];
			Box3 both = union_of(&other->box, &stays->box);

			consider(&best,
					 cost[side] - cost_in(unit, &both),
					 height_above(height_above(other->height, stays->height),
								  moves->height),
					 depth,
					 link_to(node, 1 - side),
					 link_to(child[side].ref, i));
		}
	}
	for (int i = 0; i < 2 && below[0] != NULL && below[1] != NULL; i++)
	{
		/* the first on the left and i on the right */
		Box3 left = union_of(&below[1][i].box, &below[0][1].box);
		Box3 right = union_of(&below[0][0].box, &below[1][1 - i].box);

		consider(&best,
				 cost[0] + cost[1] - cost_in(unit, &left) - cost_in(unit, &right),
				 height_above(height_above(below[1][i].height, below[0][1].height),
							  height_above(below[0][0].height, below[1][1 - i].height)),
				 depth,
				 link_to(child[0].ref, 0),
				 link_to(child[1].ref, i));
	}
	if (best.a == best.b)
		return;
	a = *branch_at(tree, best.a);
	b = *branch_at(tree, best.b);
	bvh_dynamic_set_branch(tree, best.a, &b);
	bvh_dynamic_set_branch(tree, best.b, &a);
	for (int side = 0; side < 2; side++)
		if (!is_leaf(child[side].ref) &&
			(child[side].ref == best.a >> 1 || child[side].ref == best.b >> 1))
			summarize(tree, child[side].ref, &child[side]);
}

/* bring all branches above a node, which has this depth, up to date */
static void
update_upward(BvhDynamic *tree, uint32_t node, int depth, bool rotates)
{
	for (;; depth--)
	{
		uint32_t link = tree->nodes[node].branch[0].link;

		if (rotates)
			rotate(tree, node, depth);
		summarize(tree, node, (DynamicBranch *) branch_at(tree, link));
		if (link == DYNAMIC_NONE)
			return;
		node = link >> 1;
	}
}

/* hang a leaf into the tree; there is room for a node */
static void
hang_leaf(BvhDynamic *tree, uint32_t ref, const Box3 *fat, bool rotates)
{
	DynamicBranch leaf = bvh_dynamic_leaf_branch(fat, ref);
	DynamicBranch sibling;
	Place place;
	uint32_t node;

	if (tree->nleaves++ == 0)
	{
		bvh_dynamic_set_branch(tree, DYNAMIC_NONE, &leaf);
		return;
	}
	place = find_place(tree, &leaf);
	sibling = *branch_at(tree, place.link);
	node = take_node(tree);
	tree->nodes[node].branch[0].link = tree->nodes[node].branch[1].link = place.link;
	bvh_dynamic_set_branch(tree, link_to(node, 0), &sibling);
	bvh_dynamic_set_branch(tree, link_to(node, 1), &leaf);
	/* before the way up, for what it finds there must be a node of this link */
	((DynamicBranch *) branch_at(tree, place.link))->ref = node;
	update_upward(tree, node, place.depth, rotates);
}

/* take a leaf, and the node above it, out of the tree */
static void
unhang_leaf(BvhDynamic *tree, const DynamicLeaf *leaf)
{
	uint32_t link = leaf->link;
	uint32_t node = link >> 1;
	uint32_t up;
	DynamicBranch sibling;

	tree->nleaves--;
	if (link == DYNAMIC_NONE)
		return;
	sibling = tree->nodes[node].branch[1 - (link & 1)];
	up = tree->nodes[node].branch[0].link;
	bvh_dynamic_set_branch(tree, up, &sibling);
	give_node(tree, node);
	if (up != DYNAMIC_NONE)
		update_upward(tree, up >> 1, 0, false);
}

/* ---------------------------------------------------------------- what callers do */

/* the box with a margin, and where it may go next */
static Box3
fatten(const BvhDynamic *tree, const Box3 *box, const double displacement[3])
{
	Box3 fat = *box;

	for (int d = 0; d < 3; d++)
	{
		double ahead = displacement != NULL ? AHEAD * displacement[d] : 0.0;
		double lo = box->lo[d] - tree->margin + (ahead < 0.0 ? ahead : 0.0) + 0.0;
		double hi = box->hi[d] + tree->margin + (ahead > 0.0 ? ahead : 0.0) + 0.0;

		/* ordered comparisons: NaN changes nothing */
		fat.lo[d] = lo < box->lo[d] ? lo : box->lo[d];
		fat.hi[d] = hi > box->hi[d] ? hi : box->hi[d];
	}
	return fat;
}

/*
 * bvh_dynamic_insert --- a box enters the tree
 *
 * id is the caller's.  When it fails, nothing has changed.
 */
BvhStatus
bvh_dynamic_insert(BvhDynamic *tree, const Box3 *box, uint64_t id, uint32_t *proxy)
{
	BvhStatus status = make_room(tree);
	Box3 fat = fatten(tree, box, NULL);
	DynamicLeaf *leaf;

	BVH_ASSERT(box3_is_valid(box));
	if (status != BVH_OK)
		return status;
	*proxy = take_leaf(tree);
	leaf = &tree->leaves[*proxy];
	leaf->box = *box;
	leaf->id = id;
	leaf->is_used = true;
	hang_leaf(tree, *proxy | DYNAMIC_LEAF, &fat, true);
	return BVH_OK;
}

void
bvh_dynamic_remove(BvhDynamic *tree, uint32_t proxy)
{
	DynamicLeaf *leaf = &tree->leaves[proxy];

	BVH_ASSERT(bvh_dynamic_has(tree, proxy));
	unhang_leaf(tree, leaf);
	leaf->is_used = false;
	leaf->link = tree->free_leaf;
	tree->free_leaf = proxy;
}

/*
 * bvh_dynamic_move --- a box is elsewhere now
 *
 * Has the tree changed?  It does not as long as the fat box contains the box.
 * Else the leaf is put where a new one would be, though without rotations,
 * with a fat box that reaches farther in the direction of the displacement, the
 * last movement; NULL when there is none.
 */
bool
bvh_dynamic_move(BvhDynamic *tree, uint32_t proxy, const Box3 *box,
				 const double displacement[3])
{
	DynamicLeaf *leaf = &tree->leaves[proxy];
	Box3 fat;

	BVH_ASSERT(bvh_dynamic_has(tree, proxy) && box3_is_valid(box));
	leaf->box = *box;
	if (box3_contains(&branch_at(tree, leaf->link)->box, box))
		return false;
	fat = fatten(tree, box, displacement);
	unhang_leaf(tree, leaf);
	hang_leaf(tree, proxy | DYNAMIC_LEAF, &fat, false);
	return true;
}

/*
 * bvh_dynamic_enlarge --- as bvh_dynamic_move(), but the leaf stays where it is
 *
 * All above it grow as they must.  Faster, and worse for searches until the next
 * rebuild; the way to go when much moves a little.
 */
bool
bvh_dynamic_enlarge(BvhDynamic *tree, uint32_t proxy, const Box3 *box,
					const double displacement[3])
{
	DynamicLeaf *leaf = &tree->leaves[proxy];
	DynamicBranch branch;
	uint32_t link = leaf->link;
	Box3 fat;

	BVH_ASSERT(bvh_dynamic_has(tree, proxy) && box3_is_valid(box));
	leaf->box = *box;
	if (box3_contains(&branch_at(tree, link)->box, box))
		return false;
	fat = fatten(tree, box, displacement);
	branch = bvh_dynamic_leaf_branch(&fat, proxy | DYNAMIC_LEAF);
	bvh_dynamic_set_branch(tree, link, &branch);
	while (link != DYNAMIC_NONE)
	{
		DynamicBranch *at;

		link = tree->nodes[link >> 1].branch[0].link;
		at = (DynamicBranch *) branch_at(tree, link);
		if (at->is_changed && at->least <= branch.least && box3_contains(&at->box, &fat))
			break;
		box3_include(&at->box, &fat);
		at->least = at->least < branch.least ? at->least : branch.least;
		at->is_changed = true;
	}
	return true;
}

/* the node to begin with, so that each comes after those below it */
static uint32_t
first_node(const BvhDynamic *tree, uint32_t node)
{
	for (;;)
	{
		const DynamicBranch *branch = tree->nodes[node].branch;

		if (!is_leaf(branch[0].ref))
			node = branch[0].ref;
		else if (!is_leaf(branch[1].ref))
			node = branch[1].ref;
		else
			return node;
	}
}

static void
refit_leaf(BvhDynamic *tree, DynamicBranch *at, const Box3 *boxes)
{
	DynamicLeaf *leaf = leaf_of(tree, at->ref);
	DynamicBranch branch;
	Box3 fat;

	if (boxes != NULL)
	{
		leaf->box = boxes[at->ref & ~DYNAMIC_LEAF];
		BVH_ASSERT(box3_is_valid(&leaf->box));
	}
	fat = fatten(tree, &leaf->box, NULL);
	branch = bvh_dynamic_leaf_branch(&fat, at->ref);
	branch.link = at->link;
	*at = branch;
}

/*
 * bvh_dynamic_refit --- new boxes for all, the tree as it is
 *
 * Boxes by their proxies, or NULL for those that are there.  Fat boxes are
 * made anew, and no node is larger than it need be afterwards.  Does not tick:
 * it could not be given up half way.
 */
void
bvh_dynamic_refit(BvhDynamic *tree, const Box3 *boxes)
{
	uint32_t node;

	if (tree->nleaves == 0)
		return;
	if (is_leaf(tree->root.ref))
	{
		refit_leaf(tree, &tree->root, boxes);
		return;
	}
	node = first_node(tree, tree->root.ref);
	for (;;)
	{
		uint32_t link = tree->nodes[node].branch[0].link;

		for (int side = 0; side < 2; side++)
			if (is_leaf(tree->nodes[node].branch[side].ref))
				refit_leaf(tree, &tree->nodes[node].branch[side], boxes);
		summarize(tree, node, (DynamicBranch *) branch_at(tree, link));
		if (link == DYNAMIC_NONE)
			return;
		node = link >> 1;
		if ((link & 1) == 0 && !is_leaf(tree->nodes[node].branch[1].ref))
			node = first_node(tree, tree->nodes[node].branch[1].ref);
	}
}

/* ---------------------------------------------------------------- what callers ask */

uint64_t
bvh_dynamic_nboxes(const BvhDynamic *tree)
{
	return tree->nleaves;
}

/* bvh_dynamic_nproxies --- every proxy is below */
uint32_t
bvh_dynamic_nproxies(const BvhDynamic *tree)
{
	return tree->nfresh_leaves;
}

bool
bvh_dynamic_has(const BvhDynamic *tree, uint32_t proxy)
{
	return proxy < tree->nfresh_leaves && tree->leaves[proxy].is_used;
}

uint64_t
bvh_dynamic_id(const BvhDynamic *tree, uint32_t proxy)
{
	return tree->leaves[proxy].id;
}

void
bvh_dynamic_box(const BvhDynamic *tree, uint32_t proxy, Box3 *box)
{
	*box = tree->leaves[proxy].box;
}

void
bvh_dynamic_fat_box(const BvhDynamic *tree, uint32_t proxy, Box3 *box)
{
	*box = branch_at(tree, tree->leaves[proxy].link)->box;
}

/* bvh_dynamic_bounds --- a box that contains all; false when there is none */
bool
bvh_dynamic_bounds(const BvhDynamic *tree, Box3 *bounds)
{
	*bounds = tree->root.box;
	return tree->nleaves > 0;
}

/* bvh_dynamic_size --- bytes of memory that the tree takes */
size_t
bvh_dynamic_size(const BvhDynamic *tree)
{
	return sizeof(BvhDynamic) +
		   (tree->chunk != NULL ? tree->nslots * SLOT_SIZE + BVH_TREE_ALIGNMENT - 1 : 0);
}
