/*-------------------------------------------------------------------------
 *
 * sample.h
 *	  A sample of a column's boxes, and how many boxes match an operator
 *	  judging by it.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_SAMPLE_H
#define BVH_SAMPLE_H

#include "core/simd/kernels.h"

/* numbers in front of the blocks of an encoded sample */
#define SAMPLE_HEADER 19
#define SAMPLE_FORMAT 1.0f

/*
 * An encoded sample is an array of floats: SAMPLE_HEADER of them, then the
 * blocks.  Opened, it points into that array.
 *
 * Coordinates are (x - origin) * 2^-scale, with an origin and a scale in the
 * middle of the data, so that float serves data far from zero, too, and data
 * of any size.
 */
typedef struct BoxSample
{
	uint64_t id; /* the caller's; sample_open() sets it to 0 */
	int stride;  /* look at every so many blocks only; sample_open() sets 1 */
	int nboxes;
	int scale;
	double origin[3];
	float mean_side[3];    /* of the boxes without infinite sides, scaled */
	float first_center[3]; /* span of the centers of those, scaled */
	float last_center[3];
	float dimension; /* of the set of centers, 0.5 to 3 */
	const BoxBlock *blocks;
} BoxSample;

static inline int
sample_nblocks(int nboxes)
{
	return (nboxes + BVH_BLOCK - 1) / BVH_BLOCK;
}

/* floats in an encoded sample of so many boxes */
static inline int
sample_length(int nboxes)
{
	return SAMPLE_HEADER + sample_nblocks(nboxes) * 6 * BVH_BLOCK;
}

extern void sample_encode(const Box3 *const *boxes, int nboxes, double *scratch,
						  float *out);
extern bool sample_open(const float *numbers, int length, BoxSample *sample);
extern void sample_box(const BoxSample *sample, int i, Box3 *box);
extern double sample_selectivity(const BoxSample *sample, BvhOp op, bool reversed,
								 const Box3 *query, int left_out, double *counted);
extern double sample_dwithin(const BoxSample *sample, const Box3 *query, double radius,
							 int left_out, double *counted);

#endif /* BVH_SAMPLE_H */
