/*-------------------------------------------------------------------------
 *
 * cells.c
 *	  Dividing space into cells that hold about as many boxes each.
 *
 * For work on more boxes than memory holds, cell by cell.  The cells come from
 * a sample: its centers are divided at a quantile, again and again (a k-d tree,
 * Bentley 1975), each time along the axis on which the fewest boxes lie across
 * the cut.  A box is in the cell of its center.  So the bounds of a cell's
 * boxes reach beyond the cell by half of the largest box; boxes larger than a
 * cell are to be kept apart, lest one of them make its cell meet everything.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/cells.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* boxes of the sample that are looked at, for each cell */
#define SAMPLE_PER_CELL 128

typedef struct SampleBox
{
	double center[3];
	double side[3];
} SampleBox;

typedef struct CellBuild
{
	SpaceCells *cells;
	double extent[3]; /* sums over the cells made so far */
	bool is_cut[3];
} CellBuild;

/* a center as a number that can be subtracted */
static double
finite(double x)
{
	return fmin(fmax(x, -0.25 * DBL_MAX), 0.25 * DBL_MAX);
}

static int
compare_centers(const void *a, const void *b, int axis)
{
	double x = ((const SampleBox *) a)->center[axis];
	double y = ((const SampleBox *) b)->center[axis];

	return (x > y) - (x < y);
}

static int
compare_x(const void *a, const void *b)
{
	return compare_centers(a, b, 0);
}

static int
compare_y(const void *a, const void *b)
{
	return compare_centers(a, b, 1);
}

static int
compare_z(const void *a, const void *b)
{
	return compare_centers(a, b, 2);
}

/* extents of the centers, and the mean side in units of them */
static void
measure(const SampleBox *boxes, size_t n, double extent[3], double across[3])
{
	for (int d = 0; d < 3; d++)
	{
		double lo = INFINITY;
		double hi = -INFINITY;
		double sides = 0.0;

		for (size_t i = 0; i < n; i++)
		{
			lo = fmin(lo, boxes[i].center[d]);
			hi = fmax(hi, boxes[i].center[d]);
		}
		extent[d] = n > 0 ? hi - lo : 0.0;
		for (size_t i = 0; i < n; i++)
			sides += fmin(boxes[i].side[d], extent[d]) / n;
		across[d] = extent[d] > 0.0 ? sides / extent[d] : INFINITY;
	}
}

/*
 * divide --- make so many cells of these boxes, if they can be told apart
 *
 * Returns the reference to them.  Recursive, to a depth of log2(ncells).
 */
static int32_t
divide(CellBuild *build, SampleBox *boxes, size_t n, int ncells)
{
	static int (*const compare[])(const void *,
								  const void *) = {compare_x, compare_y, compare_z};
	SpaceCells *cells = build->cells;
	double extent[3];
	double across[3];
	int axis = 0;
	size_t nbelow;
	int32_t cut;
	double at;

	measure(boxes, n, extent, across);
	for (int d = 1; d < 3; d++)
		if (across[d] < across[axis] ||
			(across[d] == across[axis] && extent[d] > extent[axis]))
			axis = d;
	if (ncells < 2 || n < 2 || !(extent[axis] > 0.0))
	{
		for (int d = 0; d < 3; d++)
			build->extent[d] += extent[d];
		return ~cells->ncells++;
	}

	qsort(boxes, n, sizeof(SampleBox), compare[axis]);
	nbelow = n * (size_t) (ncells / 2) / (size_t) ncells;
	at = boxes[nbelow > 0 ? nbelow - 1 : 0].center[axis];
	/* equal centers stay together, and some go to either side */
	if (at == boxes[n - 1].center[axis])
	{
		while (boxes[nbelow - 1].center[axis] == at)
			nbelow--;
		at = boxes[nbelow - 1].center[axis];
	}
	else
		while (nbelow < 1 || boxes[nbelow].center[axis] == at)
			nbelow++;

	cut = cells->ncuts++;
	build->is_cut[axis] = true;
	cells->cuts[cut].axis = axis;
	cells->cuts[cut].at = at;
	cells->cuts[cut].below = divide(build, boxes, nbelow, ncells / 2);
	cells->cuts[cut].above = divide(build,
									boxes + nbelow,
									n - nbelow,
									ncells - ncells / 2);
	return cut;
}

/*
 * space_cells_make --- at most so many cells, from a sample of the boxes
 *
 * Fewer, when their centers are equal.  The caller releases them.
 */
BvhStatus
space_cells_make(const BvhEnv *env, const BvhItem *sample, size_t n, int most,
				 SpaceCells **cells)
{
	size_t wanted = (size_t) most * SAMPLE_PER_CELL;
	size_t nboxes = n < wanted ? n : wanted;
	CellBuild build = {NULL, {0.0, 0.0, 0.0}, {false, false, false}};
	SampleBox *boxes;

	*cells = NULL;
	build.cells = env->alloc(env->context, sizeof(SpaceCells) + most * sizeof(SpaceCut));
	boxes = env->alloc(env->context, (nboxes + 1) * sizeof(SampleBox));
	if (build.cells == NULL || boxes == NULL)
	{
		if (build.cells != NULL)
			env->release(env->context, build.cells);
		if (boxes != NULL)
			env->release(env->context, boxes);
		return BVH_NO_MEMORY;
	}
	for (size_t i = 0; i < nboxes; i++)
	{
		/* from everywhere, as the sample may have an order */
		const Box3 *box = &sample[(size_t) ((double) i / nboxes * n)].box;

		for (int d = 0; d < 3; d++)
		{
			boxes[i].center[d] = finite(box3_center(box, d));
			boxes[i].side[d] = box->hi[d] - box->lo[d];
		}
	}

	build.cells->ncells = build.cells->ncuts = 0;
	/* a lone cell has no cut, and a reference to none */
	if (divide(&build, boxes, nboxes, most) < 0)
		build.cells->ncuts = 0;
	for (int d = 0; d < 3; d++)
		build.cells->large[d] = build.is_cut[d] ? build.extent[d] / build.cells->ncells
												: INFINITY;
	env->release(env->context, boxes);
	*cells = build.cells;
	return BVH_OK;
}

/*
 * space_cells_find --- the cell of a box; ncells when it is too large for one
 */
int
space_cells_find(const SpaceCells *cells, const Box3 *box)
{
	int32_t at = cells->ncuts > 0 ? 0 : ~0;

	for (int d = 0; d < 3; d++)
		if (box->hi[d] - box->lo[d] > cells->large[d])
			return cells->ncells;
	while (at >= 0)
	{
		const SpaceCut *cut = &cells->cuts[at];

		at = finite(box3_center(box, cut->axis)) <= cut->at ? cut->below : cut->above;
	}
	return ~at;
}
