/*-------------------------------------------------------------------------
 *
 * kernels.h
 *	  The inner loops that have a version for each instruction set.
 *
 * kernels_scalar.c is their meaning; every other version returns the same
 * bits, and test/kernels compares them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_KERNELS_H
#define BVH_KERNELS_H

#include "core/range.h"
#include "core/simd/tree_kernels.h"

/* boxes of a block: one AVX-512 register of float for each lane */
#define BVH_BLOCK 16

/* 384 bytes; lanes are lo.x, lo.y, lo.z, hi.x, hi.y, hi.z */
typedef struct BoxBlock
{
	float lane[6][BVH_BLOCK];
} BoxBlock;

/* a range in float, and what a unit of excess is worth on each lane */
typedef struct BlockProbe
{
	float lower[6];
	float upper[6];
	float weight[6]; /* finite, > 0 */
} BlockProbe;

/*
 * A box that takes another one in.  Areas are halves of surface areas, plain
 * numbers: they may overflow to Infinity and NaN, or underflow to 0.
 */
typedef struct BoxGrowth
{
	int number;     /* of the box */
	double growth;  /* of the area */
	double area;    /* before that */
	bool is_finite; /* are both, of all boxes looked at? */
} BoxGrowth;

typedef struct BvhKernels
{
	const char *name;     /* as spelled in bvhindex.simd */
	bool (*usable)(void); /* can this CPU and OS run it? */

	/* is one box in range?  box3_in_range() is the definition */
	bool (*in_range)(const Box3 *b, const BoxRange *range);

	/*
	 * How far is each box of the block out of range: the largest of
	 * weight * (lower - x) and weight * (x - upper) over the lanes, where
	 * Infinity - Infinity counts as in range.  At most 0 for boxes in range.
	 * Returns which boxes are out by no more than the limit, a bit for each.
	 */
	uint32_t (*excess)(const BoxBlock *block, const BlockProbe *probe, float limit,
					   float out[BVH_BLOCK]);

	/*
	 * Which of the n boxes of a page are in range: their numbers, ascending,
	 * go to selected, which has room for n; returns how many.  Box i is at
	 * base + offset[i], aligned to 8 bytes.
	 */
	int (*select_boxes)(const char *base, const uint16_t *offset, int n,
						const BoxRange *range, uint16_t *selected);

	/* box3_distance() of each of the n boxes of a page to the query */
	void (*distances)(const char *base, const uint16_t *offset, int n, const Box3 *query,
					  double *distance);

	/* those of the tree in memory */
	const BvhTreeKernels *tree;

	/*
	 * Which of the n > 0 boxes of a page, and how, takes the added box in with
	 * the least growth of its surface area, and among those which has the
	 * least area; the first where that is equal, too.
	 */
	void (*least_growth)(const char *base, const uint16_t *offset, int n,
						 const Box3 *added, BoxGrowth *least);
} BvhKernels;

extern const BvhKernels bvh_kernels_scalar;
#if defined(__x86_64__)
extern const BvhKernels bvh_kernels_avx2;
extern const BvhKernels bvh_kernels_avx512;
#elif defined(__aarch64__)
extern const BvhKernels bvh_kernels_neon;
#endif

/* versions that serve more than one table */
extern void bvh_least_growth_scalar(const char *base, const uint16_t *offset, int n,
									const Box3 *added, BoxGrowth *least);
extern void bvh_distances_scalar(const char *base, const uint16_t *offset, int n,
								 const Box3 *query, double *distance);
#if defined(__x86_64__)
extern void bvh_distances_avx2(const char *base, const uint16_t *offset, int n,
							   const Box3 *query, double *distance);
extern void bvh_least_growth_avx2(const char *base, const uint16_t *offset, int n,
								  const Box3 *added, BoxGrowth *least);
#endif

/* the one in use; scalar until bvh_kernels_use() */
extern const BvhKernels *bvh_kernels;

extern size_t bvh_kernels_count(void);
extern const BvhKernels *bvh_kernels_nth(size_t i);
extern const BvhKernels *bvh_kernels_find(const char *name);
extern void bvh_kernels_use(const BvhKernels *kernels);

#endif /* BVH_KERNELS_H */
