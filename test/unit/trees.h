/*-------------------------------------------------------------------------
 *
 * trees.h
 *	  An environment that counts, and may fail, for the tests of the tree.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TEST_TREES_H
#define BVH_TEST_TREES_H

#include "core/simd/kernels.h"
#include "kinds.h"

typedef struct Counter
{
	long nheld;   /* chunks not released */
	long nallocs; /* so far */
	long failing; /* the allocation that fails, counted from 1; 0 for none */
	size_t bytes; /* held */
	size_t most_bytes;
	long nticks;
} Counter;

static inline void *
must_alloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
		abort();
	return p;
}

/* an address that is a multiple of 8, but not of 16, and bytes that are not 0 */
static inline void *
counter_alloc(void *context, size_t size)
{
	Counter *counter = context;
	char *chunk;

	if (++counter->nallocs == counter->failing)
		return NULL;
	chunk = must_alloc(size + 24);
	memcpy(chunk, &size, sizeof(size));
	memset(chunk + 24, 0x55, size);
	counter->nheld++;
	counter->bytes += size;
	if (counter->bytes > counter->most_bytes)
		counter->most_bytes = counter->bytes;
	return chunk + 24;
}

static inline void
counter_release(void *context, void *p)
{
	Counter *counter = context;
	char *chunk = (char *) p - 24;
	size_t size;

	memcpy(&size, chunk, sizeof(size));
	memset(p, 0x66, size);
	counter->bytes -= size;
	counter->nheld--;
	free(chunk);
}

static inline void
counter_tick(void *context)
{
	((Counter *) context)->nticks++;
}

static inline BvhEnv
counter_env(Counter *counter)
{
	*counter = (Counter){0};
	return (BvhEnv){counter_alloc, counter_release, counter_tick, counter};
}

/* ids are 3 i + 1, so that no place passes for one */
static inline BvhItem *
make_tree_items(Rng *rng, Generator generate, size_t n)
{
	BvhItem *items = must_alloc(n * sizeof(BvhItem));

	for (size_t i = 0; i < n; i++)
	{
		items[i].box = generate(rng, i, n);
		items[i].id = 3 * i + 1;
	}
	return items;
}

static inline BvhTree *
must_build(const BvhEnv *env, const BvhItem *items, size_t n, BvhBuildKind kind)
{
	BvhBuildOptions options = {.kind = kind};
	BvhTree *tree;

	if (bvh_tree_build(env, items, n, &options, &tree) != BVH_OK)
		abort();
	return tree;
}

static const char *const build_names[] = {"SAH", "curve"};

/* for boxes that hold many others, now and then one of the set itself */
static inline Box3
make_probe(Rng *rng, const BvhItem *items, size_t n)
{
	Box3 box;

	if (n == 0 || rng_below(rng, 4) == 0)
		return rng_any_box(rng);
	box = items[rng_below(rng, (int) n)].box;
	if (rng_below(rng, 2))
		box3_include(&box, &items[rng_below(rng, (int) n)].box);
	return box;
}

#endif /* BVH_TEST_TREES_H */
