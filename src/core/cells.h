/*-------------------------------------------------------------------------
 *
 * cells.h
 *	  Dividing space into cells that hold about as many boxes each.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_CELLS_H
#define BVH_CELLS_H

#include "core/env.h"
#include "core/item.h"

/* where a center beyond "at" goes above: another cut, or a cell as ~cell */
typedef struct SpaceCut
{
	double at;
	int32_t axis;
	int32_t below;
	int32_t above;
} SpaceCut;

/* a k-d tree over the centers of boxes */
typedef struct SpaceCells
{
	int ncells;
	int ncuts;
	double large[3]; /* a box with a longer side is too large for any cell */
	SpaceCut cuts[];
} SpaceCells;

extern BvhStatus space_cells_make(const BvhEnv *env, const BvhItem *sample, size_t n,
								  int most, SpaceCells **cells);
extern int space_cells_find(const SpaceCells *cells, const Box3 *box);

#endif /* BVH_CELLS_H */
