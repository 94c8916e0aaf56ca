/*-------------------------------------------------------------------------
 *
 * hilbert.h
 *	  The three-dimensional Hilbert curve: keys in a known world, and an order
 *	  for boxes whose world is not known.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_HILBERT_H
#define BVH_HILBERT_H

#include "core/box3.h"

/*
 * Where the order of box3_curve_key() starts.  All boxes of one sort must be
 * ordered from the same origin.
 */
typedef struct CurveFrame
{
	double origin[3];
	bool is_set;
} CurveFrame;

extern uint64_t hilbert_key(const uint64_t cell[3], int bits);
extern bool box3_hilbert(const Box3 *b, const Box3 *world, uint64_t *key);
extern void box3_curve_begin(CurveFrame *frame, const Box3 *first);
extern uint64_t box3_curve_key(const CurveFrame *frame, const Box3 *b);
extern int box3_curve_compare(const CurveFrame *frame, const Box3 *a, const Box3 *b);

#endif /* BVH_HILBERT_H */
