/*-------------------------------------------------------------------------
 *
 * penalty.h
 *	  What it costs an inner node's child to take one more box.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_PENALTY_H
#define BVH_PENALTY_H

#include "core/box3.h"

extern float box3_penalty(const Box3 *child, const Box3 *added);
extern int box3_choose(const char *base, const uint16_t *offset, int n, const Box3 *added,
					   int start);

#endif /* BVH_PENALTY_H */
