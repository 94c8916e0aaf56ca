/*-------------------------------------------------------------------------
 *
 * bench_dynamic.c
 *	  The dynamic tree beside Boost.Geometry's R-tree: boxes enter one by one, move
 *	  and leave.
 *
 * Random boxes of side 0 to 4, as dense as a million in a cube of 1000.  All
 * move a little, then a tenth of them to anywhere; the fat boxes of ours are larger
 * by a margin of 0.5, and what it finds is exact all the same.  Boost's values do
 * not move: they are removed and inserted.  The contestants take turns, round
 * by round; the fastest round counts.
 *
 *   bench_dynamic [BOXES [ROUNDS [KERNELS]]]
 *
 * Exit status 1 when the two find different answers.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "bench.h"
#include "core/dynamic.h"
#include "peers.h"

#define NPROBES 100000
#define MARGIN  0.5
#define STEP    0.3

enum What
{
	INSERT,
	OVERLAP,
	STEP_ALL,
	MOVE_ANYWHERE,
	OVERLAP_MOVED,
	REBUILD_CHANGED,
	REBUILD_ALL,
	OVERLAP_REBUILT,
	REMOVE,
	NWHAT
};

enum Who
{
	OURS,
	BOOST,
	NWHO
};

static const char *const what_name[NWHAT] = {
	"insert",
	"overlap, a probe",
	"move a little",
	"move anywhere",
	"overlap, after moves",
	"rebuild what changed, a box",
	"rebuild all, a box",
	"overlap, after the rebuild",
	"remove",
};

/* seconds, and how many it was done to; what searches found */
static double best[NWHAT][NWHO];
static size_t ndone[NWHAT];
static uint64_t found[NWHAT][NWHO];

static PeerBox *start_boxes;
static PeerBox *stepped_boxes;
static PeerBox *moved_boxes;
static PeerBox *probes;
static uint32_t *all;
static uint32_t *some;
static size_t nboxes;
static size_t nsome;

static void
took(enum What what, enum Who who, double start, size_t n, uint64_t nfound)
{
	double t = now() - start;

	if (best[what][who] == 0.0 || t < best[what][who])
		best[what][who] = t;
	ndone[what] = n;
	found[what][who] = nfound;
}

static Box3
to_box(const PeerBox b)
{
	return (Box3){{b[0], b[1], b[2]}, {b[3], b[4], b[5]}};
}

static uint64_t
tree_overlaps(const BvhDynamic *tree)
{
	uint64_t ids[256];
	uint64_t nfound = 0;

	for (size_t i = 0; i < NPROBES; i++)
	{
		Box3 probe = to_box(probes[i]);
		BvhDynamicRange query;
		BoxRange range;
		size_t n;

		box3_range(BVH_OVERLAPS, false, &probe, &range);
		bvh_dynamic_range_begin(&query, tree, &env, &range);
		while ((n = bvh_dynamic_range_next(&query, ids, 256)) > 0)
			nfound += n;
	}
	return nfound;
}

static void
tree_move(BvhDynamic *tree, const PeerBox *to, const uint32_t *which, size_t n)
{
	for (size_t k = 0; k < n; k++)
	{
		Box3 box = to_box(to[which[k]]);

		/* boxes came in order, so proxies are their numbers */
		bvh_dynamic_move(tree, which[k], &box, NULL);
	}
}

static void
measure_ours(BvhDynamicStats stats[3])
{
	BvhDynamic *tree;
	double start;

	if (bvh_dynamic_create(&env, MARGIN, &tree) != BVH_OK)
		abort();
	start = now();
	for (size_t i = 0; i < nboxes; i++)
	{
		Box3 box = to_box(start_boxes[i]);
		uint32_t proxy;

		if (bvh_dynamic_insert(tree, &box, i, &proxy) != BVH_OK || proxy != i)
			abort();
	}
	took(INSERT, OURS, start, nboxes, nboxes);
	bvh_dynamic_stats(tree, &stats[0]);
	start = now();
	took(OVERLAP, OURS, start, NPROBES, tree_overlaps(tree));
	start = now();
	tree_move(tree, stepped_boxes, all, nboxes);
	took(STEP_ALL, OURS, start, nboxes, nboxes);
	/* so that it is the next moves that changed it */
	if (bvh_dynamic_rebuild(tree, BVH_REBUILD_ALL) != BVH_OK)
		abort();
	start = now();
	tree_move(tree, moved_boxes, some, nsome);
	took(MOVE_ANYWHERE, OURS, start, nsome, nsome);
	bvh_dynamic_stats(tree, &stats[1]);
	start = now();
	took(OVERLAP_MOVED, OURS, start, NPROBES, tree_overlaps(tree));
	start = now();
	if (bvh_dynamic_rebuild(tree, BVH_REBUILD_CHANGED) != BVH_OK)
		abort();
	took(REBUILD_CHANGED, OURS, start, nboxes, nboxes);
	start = now();
	if (bvh_dynamic_rebuild(tree, BVH_REBUILD_ALL) != BVH_OK)
		abort();
	took(REBUILD_ALL, OURS, start, nboxes, nboxes);
	bvh_dynamic_stats(tree, &stats[2]);
	start = now();
	took(OVERLAP_REBUILT, OURS, start, NPROBES, tree_overlaps(tree));
	start = now();
	for (size_t i = 0; i < nboxes; i++)
		bvh_dynamic_remove(tree, (uint32_t) i);
	took(REMOVE, OURS, start, nboxes, nboxes);
	bvh_dynamic_free(tree);
}

static void
measure_boost(void)
{
#ifdef HAVE_BOOST
	double start = now();

	boost_insert(start_boxes, nboxes);
	took(INSERT, BOOST, start, nboxes, nboxes);
	start = now();
	took(OVERLAP, BOOST, start, NPROBES, boost_overlaps(probes, NPROBES));
	start = now();
	boost_move(start_boxes, stepped_boxes, all, nboxes);
	took(STEP_ALL, BOOST, start, nboxes, nboxes);
	start = now();
	boost_move(stepped_boxes, moved_boxes, some, nsome);
	took(MOVE_ANYWHERE, BOOST, start, nsome, nsome);
	start = now();
	took(OVERLAP_MOVED, BOOST, start, NPROBES, boost_overlaps(probes, NPROBES));
	start = now();
	took(REMOVE, BOOST, start, nboxes, boost_remove(moved_boxes, nboxes));
#endif
}

static void
random_box(PeerBox box, double world, double side, bool is_fixed)
{
	for (int d = 0; d < 3; d++)
	{
		box[d] = unit() * world;
		box[d + 3] = box[d] + (is_fixed ? side : unit() * side);
	}
}

static void
make_boxes(void)
{
	double world = 10.0 * cbrt((double) nboxes);

	for (size_t i = 0; i < NPROBES; i++)
		random_box(probes[i], world, 10.0, true);
	for (size_t i = 0; i < nboxes; i++)
	{
		random_box(start_boxes[i], world, 4.0, false);
		for (int d = 0; d < 3; d++)
		{
			double step = (2.0 * unit() - 1.0) * STEP;

			stepped_boxes[i][d] = start_boxes[i][d] + step;
			stepped_boxes[i][d + 3] = start_boxes[i][d + 3] + step;
		}
		memcpy(moved_boxes[i], stepped_boxes[i], sizeof(PeerBox));
		all[i] = (uint32_t) i;
	}
	/* every tenth, in no order of space */
	for (size_t i = 0; i < nboxes; i += 10)
	{
		random_box(moved_boxes[i], world, 4.0, false);
		some[nsome++] = (uint32_t) i;
	}
}

int
main(int argc, char **argv)
{
	int nrounds = argc > 2 ? atoi(argv[2]) : 3;
	const BvhKernels *kernels = bvh_kernels_find(argc > 3 ? argv[3] : NULL);
	BvhDynamicStats stats[3];
	bool agree = true;

	nboxes = argc > 1 ? (size_t) atol(argv[1]) : 200000;
	if (nboxes < 1 || nrounds < 1 || kernels == NULL)
	{
		fprintf(stderr, "usage: bench_dynamic [BOXES [ROUNDS [KERNELS]]]\n");
		return 2;
	}
	bvh_kernels_use(kernels);
	start_boxes = must_alloc(nboxes * sizeof(PeerBox));
	stepped_boxes = must_alloc(nboxes * sizeof(PeerBox));
	moved_boxes = must_alloc(nboxes * sizeof(PeerBox));
	probes = must_alloc(NPROBES * sizeof(PeerBox));
	all = must_alloc(nboxes * sizeof(uint32_t));
	some = must_alloc(nboxes * sizeof(uint32_t));
	make_boxes();
	for (int round = 0; round < nrounds; round++)
	{
		measure_ours(stats);
		measure_boost();
	}

	printf("%zu boxes that enter, move and leave, %s, best of %d rounds\n\n",
		   nboxes,
		   kernels->name,
		   nrounds);
	printf("%-31s%17s%17s\n", "", "bvhindex, us", "Boost R*, us");
	for (int what = 0; what < NWHAT; what++)
	{
		printf("%-31s%17.3f",
			   what_name[what],
			   best[what][OURS] / (double) ndone[what] * 1e6);
		if (best[what][BOOST] > 0.0)
			printf("%9.3f (%5.2f)\n",
				   best[what][BOOST] / (double) ndone[what] * 1e6,
				   best[what][BOOST] / best[what][OURS]);
		else
			printf("%17s\n", "-");
		if (best[what][BOOST] > 0.0 && found[what][BOOST] != found[what][OURS])
		{
			printf("they found %" PRIu64 " and %" PRIu64 "\n",
				   found[what][OURS],
				   found[what][BOOST]);
			agree = false;
		}
	}
	printf("in parentheses: times ours\n\n");
	printf("cost %.1f after inserts, %.1f after moves, %.1f rebuilt; heights %d, %d, %d; "
		   "%.0f bytes a box\n",
		   stats[0].cost,
		   stats[1].cost,
		   stats[2].cost,
		   stats[0].height,
		   stats[1].height,
		   stats[2].height,
		   (double) stats[2].size / (double) nboxes);
	return agree ? 0 : 1;
}
