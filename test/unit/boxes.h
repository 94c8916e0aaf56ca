/*-------------------------------------------------------------------------
 *
 * boxes.h
 *	  Random numbers and boxes for the tests.
 *
 * Every run has a new seed, which it prints; SEED=n in the environment runs
 * the same again.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TEST_BOXES_H
#define BVH_TEST_BOXES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/box3.h"
#include "core/range.h"

#define DENORM_MIN   0x1p-1074
#define LARGEST      0x1.fffffffffffffp1023
#define LENGTH_OF(a) ((int) (sizeof(a) / sizeof((a)[0])))

typedef struct Rng
{
	uint64_t state;
} Rng;

static inline Rng
rng_start(void)
{
	const char *wish = getenv("SEED");
	uint64_t seed;

	if (wish != NULL)
		seed = strtoull(wish, NULL, 10);
	else
	{
		struct timespec now;

		timespec_get(&now, TIME_UTC);
		seed = (uint64_t) now.tv_sec * 1000000 + (uint64_t) now.tv_nsec / 1000;
	}
	printf("# SEED=%" PRIu64 "\n", seed);
	return (Rng){seed};
}

/* SplitMix64 */
static inline uint64_t
rng_next(Rng *rng)
{
	uint64_t z = rng->state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/* 0 .. n - 1 */
static inline int
rng_below(Rng *rng, int n)
{
	return (int) ((rng_next(rng) >> 32) * (uint64_t) n >> 32);
}

/* lo .. hi, both included */
static inline int
rng_int(Rng *rng, int lo, int hi)
{
	return lo + rng_below(rng, hi - lo + 1);
}

/* [0, 1) */
static inline double
rng_unit(Rng *rng)
{
	return (double) (rng_next(rng) >> 11) * 0x1p-53;
}

static inline double
rng_between(Rng *rng, double lo, double hi)
{
	return lo + (hi - lo) * rng_unit(rng);
}

/* in [2^e, 2^(e+1)), often a power of two or its neighbour */
static inline double
rng_octave(Rng *rng, int e)
{
	double mantissa = 1.0 + rng_unit(rng);

	switch (rng_below(rng, 8))
	{
		case 0:
			mantissa = 1.0;
			break;
		case 1:
			mantissa = 0x1.fffffffffffffp0;
			break;
		case 2:
			mantissa = 0x1.0000000000001p0;
			break;
	}
	return ldexp(mantissa, e);
}

/* a coordinate of any kind but NaN and -0; ties and infinities are common */
static inline double
rng_wild(Rng *rng)
{
	static const double edges[] = {
		0.0,
		DENORM_MIN,
		2 * DENORM_MIN,
		0x1.ffffffffffffep-1023,
		0x1p-1022,
		0x1p-450,
		1.0,
		0x1.0000000000001p0,
		0x1p500,
		0x1p1023,
		LARGEST,
		INFINITY,
	};
	double x;

	switch (rng_below(rng, 4))
	{
		case 0:
			x = edges[rng_below(rng, LENGTH_OF(edges))];
			break;
		case 1:
			x = rng_int(rng, 0, 4);
			break;
		case 2:
			x = rng_octave(rng, rng_int(rng, -1074, 1023));
			break;
		default:
			x = rng_octave(rng, rng_int(rng, -3, 3));
			break;
	}
	return rng_below(rng, 2) ? -x + 0.0 : x;
}

/* a few whole numbers, so that boxes touch, nest and coincide */
static inline double
rng_small(Rng *rng)
{
	return rng_int(rng, -3, 3);
}

static inline double
rng_percent(Rng *rng)
{
	return rng_between(rng, 0.0, 100.0);
}

/* now and then a point, or flat */
static inline Box3
rng_box(Rng *rng, double (*coordinate)(Rng *))
{
	Box3 box;
	double p[3];
	double q[3];
	int kind = rng_below(rng, 8);

	for (int d = 0; d < 3; d++)
	{
		p[d] = coordinate(rng);
		q[d] = kind == 0 || kind == d + 1 ? p[d] : coordinate(rng);
	}
	box3_from_corners(p, q, &box);
	return box;
}

/* -most .. most */
static inline int64_t
rng_whole(Rng *rng, int64_t most)
{
	return (int64_t) (rng_next(rng) % (2 * (uint64_t) most + 1)) - most;
}

/* of whole numbers, a side zero now and then */
static inline Box3
rng_whole_box(Rng *rng, int64_t most)
{
	Box3 box;
	double p[3];
	double q[3];

	for (int d = 0; d < 3; d++)
	{
		p[d] = (double) rng_whole(rng, most);
		q[d] = rng_below(rng, 4) ? (double) rng_whole(rng, most) : p[d];
	}
	box3_from_corners(p, q, &box);
	return box;
}

/* mostly wild, else small */
static inline Box3
rng_any_box(Rng *rng)
{
	return rng_box(rng, rng_below(rng, 4) ? rng_wild : rng_small);
}

/* sides up to a length, in a world of 100 an axis */
static inline Box3
rng_world_box(Rng *rng, double longest)
{
	Box3 box;

	for (int d = 0; d < 3; d++)
	{
		box.lo[d] = rng_percent(rng);
		box.hi[d] = box.lo[d] + rng_unit(rng) * longest;
	}
	return box;
}

static inline Box3
make_box(double x1, double y1, double z1, double x2, double y2, double z2)
{
	Box3 box;

	box3_from_corners((const double[]){x1, y1, z1}, (const double[]){x2, y2, z2}, &box);
	return box;
}

static inline Box3
make_point(double x, double y, double z)
{
	return make_box(x, y, z, x, y, z);
}

/* times 2^k; exact where neither end leaves the range */
static inline Box3
scale_box(const Box3 *b, int k)
{
	Box3 scaled;

	for (int d = 0; d < 3; d++)
	{
		scaled.lo[d] = ldexp(b->lo[d], k);
		scaled.hi[d] = ldexp(b->hi[d], k);
	}
	return scaled;
}

/* for use behind FAIL(): every bit, as C reads it */
static inline void
show_box(const char *name, const Box3 *b)
{
	printf("#   %s = (%a, %a, %a), (%a, %a, %a)\n",
		   name,
		   b->lo[0],
		   b->lo[1],
		   b->lo[2],
		   b->hi[0],
		   b->hi[1],
		   b->hi[2]);
}

/* every operator that filters */
static const BvhOp all_ops[] = {
	BVH_LEFT,
	BVH_OVERLEFT,
	BVH_OVERLAPS,
	BVH_OVERRIGHT,
	BVH_RIGHT,
	BVH_SAME,
	BVH_CONTAINS,
	BVH_CONTAINED_BY,
	BVH_OVERBELOW,
	BVH_BELOW,
	BVH_ABOVE,
	BVH_OVERABOVE,
	BVH_EQUAL,
	BVH_FRONT,
	BVH_OVERFRONT,
	BVH_OVERBACK,
	BVH_BACK,
	BVH_OVERLAPS_STRICTLY,
};

#endif /* BVH_TEST_BOXES_H */
