/*-------------------------------------------------------------------------
 *
 * bench_tree.c
 *	  The tree in memory beside Boost.Geometry's R-tree and Embree.
 *
 * Random boxes of side 0 to 4 in a cube of 1000 for a million of them; probes
 * of side 10.  The contestants take turns, round by round, so that a slow
 * minute of the machine hits all of them; the fastest round counts.
 *
 *   bench_tree [BOXES [ROUNDS [KERNELS]]]
 *
 * Exit status 1 when two of them find different answers; a missed target is
 * printed only.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "bench.h"
#include "peers.h"

#define NPROBES   100000
#define NCENTRES  20000
#define NEAREST   10
#define MOST_PAIR 4096

typedef struct Figure
{
	const char *name;
	const char *unit;
	double factor; /* seconds of a round to the unit */
	double best[8];
	uint64_t found[8];
} Figure;

enum Who
{
	OURS,
	OURS_CURVE,
	BOOST,
	EMBREE,
	NWHO
};

static const char *const who_name[NWHO] = {"bvhindex, SAH",
										   "bvhindex, curve",
										   "Boost R*",
										   "Embree"};

enum What
{
	BUILD,
	OVERLAP,
	ANY,
	NEAREST_TEN,
	PAIRS,
	JOIN,
	NWHAT
};

static Figure figures[NWHAT] = {
	{"build", "s", 1.0, {0}, {0}},
	{"overlap, a probe", "us", 1e6 / NPROBES, {0}, {0}},
	{"any overlap, a probe", "us", 1e6 / NPROBES, {0}, {0}},
	{"10 nearest, a search", "us", 1e6 / NCENTRES, {0}, {0}},
	{"all pairs", "s", 1.0, {0}, {0}},
	{"probes as a tree, a probe", "us", 1e6 / NPROBES, {0}, {0}},
};

/* ours / theirs at most */
static const struct
{
	enum What what;
	enum Who peer;
	double most;
} targets[] = {{BUILD, EMBREE, 1.3}, {OVERLAP, BOOST, 0.7}, {PAIRS, EMBREE, 3.0}};

static BvhItem *items;
static PeerBox *boxes;
static size_t nboxes;
static BvhItem *probe_items;
static PeerBox *probes;
static double sum_of_distances[NWHO];

static BvhTree *
build_tree(const BvhItem *from, size_t n, BvhBuildKind kind)
{
	BvhBuildOptions options = {.kind = kind};
	BvhTree *tree;

	if (bvh_tree_build(&env, from, n, &options, &tree) != BVH_OK)
		abort();
	return tree;
}

static uint64_t
tree_overlaps(const BvhTree *tree, size_t room)
{
	uint64_t ids[256];
	uint64_t nfound = 0;

	for (size_t i = 0; i < NPROBES; i++)
	{
		BvhRangeQuery query;
		BoxRange range;
		size_t n;

		box3_range(BVH_OVERLAPS, false, &probe_items[i].box, &range);
		bvh_range_begin(&query, tree, &env, &range);
		while ((n = bvh_range_next(&query, ids, room)) > 0)
		{
			nfound += n;
			if (room == 1)
				break;
		}
	}
	return nfound;
}

static uint64_t
tree_nearest(const BvhTree *tree, double *sum)
{
	uint64_t nfound = 0;

	*sum = 0.0;
	for (size_t i = 0; i < NCENTRES; i++)
	{
		BvhNearestQuery nearest;
		BvhNeighbour found[NEAREST];
		Box3 at = probe_items[i].box;
		size_t n;

		memcpy(at.hi, at.lo, sizeof(at.lo));
		bvh_tree_nearest_begin(&nearest, tree, &env, &at, INFINITY);
		if (bvh_tree_nearest_next(&nearest, found, NEAREST, &n) != BVH_OK)
			abort();
		bvh_tree_nearest_end(&nearest);
		for (size_t k = 0; k < n; k++)
			*sum += found[k].distance;
		nfound += n;
	}
	return nfound;
}

static uint64_t
tree_pairs(const BvhTree *a, const BvhTree *b)
{
	static BvhPair out[MOST_PAIR];
	static BvhPairs pairs;
	uint64_t nfound = 0;
	size_t n;

	if (a == b)
		bvh_self_pairs_begin(&pairs, a, &env, BVH_OVERLAPS, BVH_SELF_ONCE);
	else
		bvh_pairs_begin(&pairs, a, b, &env, BVH_OVERLAPS);
	while ((n = bvh_pairs_next(&pairs, out, MOST_PAIR)) > 0)
		nfound += n;
	return nfound;
}

static void
took(enum What what, enum Who who, double start, uint64_t found)
{
	double t = now() - start;
	Figure *figure = &figures[what];

	if (figure->best[who] == 0.0 || t < figure->best[who])
		figure->best[who] = t;
	figure->found[who] = found;
}

static void
measure_ours(enum Who who, BvhTreeStats *stats)
{
	BvhBuildKind kind = who == OURS ? BVH_BUILD_SAH : BVH_BUILD_HILBERT;
	double start = now();
	BvhTree *tree = build_tree(items, nboxes, kind);
	uint64_t nfound = 0;

	took(BUILD, who, start, nboxes);
	/* once to warm up, as any peer */
	tree_overlaps(tree, 256);
	start = now();
	took(OVERLAP, who, start, tree_overlaps(tree, 256));
	start = now();
	took(ANY, who, start, tree_overlaps(tree, 1));
	start = now();
	took(NEAREST_TEN, who, start, tree_nearest(tree, &sum_of_distances[who]));
	start = now();
	took(PAIRS, who, start, tree_pairs(tree, tree));

	/* packets of the probes, in the order that they come */
	start = now();
	for (size_t i = 0; i < NPROBES; i += 4096)
	{
		size_t n = NPROBES - i < 4096 ? NPROBES - i : 4096;
		BvhTree *packet = build_tree(probe_items + i, n, BVH_BUILD_HILBERT);

		nfound += tree_pairs(packet, tree);
		bvh_tree_free(&env, packet);
	}
	took(JOIN, who, start, nfound);
	bvh_tree_stats(tree, stats);
	bvh_tree_free(&env, tree);
}

static void
measure_boost(void)
{
#ifdef HAVE_BOOST
	double start = now();

	boost_build(boxes, nboxes);
	took(BUILD, BOOST, start, nboxes);
	boost_overlaps(probes, NPROBES);
	start = now();
	took(OVERLAP, BOOST, start, boost_overlaps(probes, NPROBES));
	start = now();
	took(NEAREST_TEN,
		 BOOST,
		 start,
		 boost_nearest(probes, NCENTRES, NEAREST, &sum_of_distances[BOOST]));
	start = now();
	took(PAIRS, BOOST, start, boost_pairs(boxes, nboxes));
#endif
}

static void
measure_embree(void)
{
#ifdef HAVE_EMBREE
	double start = now();

	embree_build(boxes, nboxes);
	took(BUILD, EMBREE, start, nboxes);
	start = now();
	took(PAIRS, EMBREE, start, embree_pairs(boxes));
#endif
}

static void
make_boxes(BvhItem *to, PeerBox *peer, size_t n, double world, double side, bool is_fixed)
{
	for (size_t i = 0; i < n; i++)
	{
		to[i].id = i;
		for (int d = 0; d < 3; d++)
		{
			to[i].box.lo[d] = unit() * world;
			to[i].box.hi[d] = to[i].box.lo[d] + (is_fixed ? side : unit() * side);
			peer[i][d] = to[i].box.lo[d];
			peer[i][d + 3] = to[i].box.hi[d];
		}
	}
}

static void
print_figures(void)
{
	printf("%-28s", "");
	for (int who = 0; who < NWHO; who++)
		printf("%17s", who_name[who]);
	printf("\n");
	for (int what = 0; what < NWHAT; what++)
	{
		const Figure *figure = &figures[what];

		printf("%-25s %-2s", figure->name, figure->unit);
		for (int who = 0; who < NWHO; who++)
			if (figure->best[who] > 0.0)
				printf("%9.3f (%5.2f)",
					   figure->best[who] * figure->factor,
					   figure->best[who] / figure->best[OURS]);
			else
				printf("%17s", "-");
		printf("\n");
	}
	printf("in parentheses: times ours\n");
}

static bool
print_agreement(void)
{
	bool agree = true;

	for (int what = 0; what < NWHAT; what++)
		for (int who = 1; who < NWHO; who++)
			if (figures[what].best[who] > 0.0 &&
				figures[what].found[who] != figures[what].found[OURS])
			{
				printf("%s: %s found %" PRIu64 ", not %" PRIu64 "\n",
					   figures[what].name,
					   who_name[who],
					   figures[what].found[who],
					   figures[what].found[OURS]);
				agree = false;
			}
	for (int who = 1; who < NWHO; who++)
		if (figures[NEAREST_TEN].best[who] > 0.0 &&
			fabs(sum_of_distances[who] / sum_of_distances[OURS] - 1.0) > 1e-9)
		{
			printf("%s has other neighbours\n", who_name[who]);
			agree = false;
		}
	return agree;
}

int
main(int argc, char **argv)
{
	int nrounds = argc > 2 ? atoi(argv[2]) : 5;
	const BvhKernels *kernels = bvh_kernels_find(argc > 3 ? argv[3] : NULL);
	BvhTreeStats stats = {0};
	BvhTreeStats curve_stats = {0};
	double world;

	nboxes = argc > 1 ? (size_t) atol(argv[1]) : 1000000;
	if (nboxes < NEAREST || nrounds < 1 || kernels == NULL)
	{
		fprintf(stderr, "usage: bench_tree [BOXES [ROUNDS [KERNELS]]]\n");
		return 2;
	}
	bvh_kernels_use(kernels);
	items = must_alloc(nboxes * sizeof(BvhItem));
	boxes = must_alloc(nboxes * sizeof(PeerBox));
	probe_items = must_alloc(NPROBES * sizeof(BvhItem));
	probes = must_alloc(NPROBES * sizeof(PeerBox));
	/* as dense as a million in 1000 */
	world = 10.0 * cbrt((double) nboxes);
	make_boxes(items, boxes, nboxes, world, 4.0, false);
	make_boxes(probe_items, probes, NPROBES, world, 10.0, true);

	for (int round = 0; round < nrounds; round++)
	{
		measure_ours(OURS, &stats);
		measure_boost();
		measure_embree();
		measure_ours(OURS_CURVE, &curve_stats);
	}

	printf("%zu boxes, %s, best of %d rounds\n\n", nboxes, kernels->name, nrounds);
	print_figures();
	printf("\nours: %.1f bytes a box, height %d, fill %.3f, cost %.1f; "
		   "along the curve %.1f bytes, height %d, cost %.1f\n",
		   (double) stats.size / (double) nboxes,
		   stats.height,
		   stats.fill,
		   stats.cost,
		   (double) curve_stats.size / (double) nboxes,
		   curve_stats.height,
		   curve_stats.cost);
	printf("hits a probe %.2f, pairs %" PRIu64 "\n\n",
		   (double) figures[OVERLAP].found[OURS] / NPROBES,
		   figures[PAIRS].found[OURS]);
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
	{
		const Figure *figure = &figures[targets[i].what];
		double ratio = figure->best[OURS] / figure->best[targets[i].peer];

		if (figure->best[targets[i].peer] == 0.0)
			printf("not measured: %s beside %s\n",
				   figure->name,
				   who_name[targets[i].peer]);
		else
			printf("%s: %s at most %.1f times %s: %.2f\n",
				   ratio <= targets[i].most ? "met" : "MISSED",
				   figure->name,
				   targets[i].most,
				   who_name[targets[i].peer],
				   ratio);
	}
	printf("%s: at most 110 bytes a box: %.1f\n",
		   stats.size <= 110 * nboxes ? "met" : "MISSED",
		   (double) stats.size / (double) nboxes);
	return print_agreement() ? 0 : 1;
}
