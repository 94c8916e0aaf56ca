/*-------------------------------------------------------------------------
 *
 * sample_shape.h
 *	  How many boxes match a shape, judging by a sample.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_SAMPLE_SHAPE_H
#define BVH_SAMPLE_SHAPE_H

#include "core/sample.h"
#include "core/shape.h"

extern double sample_shape_selectivity(const BoxSample *sample, const BvhShape *shape);
extern double sample_ray_mean(const BoxSample *sample);

#endif /* BVH_SAMPLE_SHAPE_H */
