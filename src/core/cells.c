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

typedef struct Center
{
	double at[3];
} Center;

typedef struct CellBuild
{
	SpaceCells *cells;
	double side[3];   /* mean of all boxes */
	double extent[3]; /* sums over the cells made so far */
	bool is_cut[3];
} CellBuild;

/* a center as a number that can be subtracted */
static double
clamp_center(double x)
{
	return fmin(fmax(x, -0.25 * DBL_MAX), 0.25 * DBL_MAX);
}

static int
compare_centers(const void *a, const void *b, int axis)
{
	double x = ((const Center *) a)->at[axis];
	double y = ((const Center *) b)->at[axis];

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

/* how far the centers reach */
static void
measure(const Center *centers, size_t n, double extent[3])
{
	for (int d = 0; d < 3; d++)
	{
		double lo = INFINITY;
		double hi = -INFINITY;

		for (size_t i = 0; i < n; i++)
		{
			lo = fmin(lo, centers[i].at[d]);
			hi = fmax(hi, centers[i].at[d]);
		}
		extent[d] = n > 0 ? hi - lo : 0.0;
	}
}

/* part of the boxes that lie across a cut on this axis, about */
static double
part_across(double side, double extent)
{
	return extent > 0.0 ? fmin(side, extent) / extent : INFINITY;
}

/*
 * divide --- make so many cells of these centers, if they can be told apart
 *
 * Returns the reference to them.  Recursive, to a depth of log2(ncells).
 */
static int32_t
divide(CellBuild *build, Center *centers, size_t n, int ncells)
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

	measure(centers, n, extent);
	for (int d = 0; d < 3; d++)
		across[d] = part_across(build->side[d], extent[d]);
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

	qsort(centers, n, sizeof(Center), compare[axis]);
	nbelow = n * (size_t) (ncells / 2) / (size_t) ncells;
	at = centers[nbelow > 0 ? nbelow - 1 : 0].at[axis];
	/* equal centers stay together, and some go to either side */
	if (at == centers[n - 1].at[axis])
	{
		while (centers[nbelow - 1].at[axis] == at)
			nbelow--;
		at = centers[nbelow - 1].at[axis];
	}
	else
		while (nbelow < 1 || centers[nbelow].at[axis] == at)
			nbelow++;

	cut = cells->ncuts++;
	build->is_cut[axis] = true;
	cells->cuts[cut].axis = axis;
	cells->cuts[cut].at = at;
	cells->cuts[cut].below = divide(build, centers, nbelow, ncells / 2);
	cells->cuts[cut].above = divide(build,
									centers + nbelow,
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
	size_t ncenters = n < wanted ? n : wanted;
	CellBuild build = {NULL, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {false, false, false}};
	Center *centers;

	*cells = NULL;
	build.cells = env->alloc(env->context, sizeof(SpaceCells) + most * sizeof(SpaceCut));
	centers = env->alloc(env->context, (ncenters + 1) * sizeof(Center));
	if (build.cells == NULL || centers == NULL)
	{
		if (build.cells != NULL)
			env->release(env->context, build.cells);
		if (centers != NULL)
			env->release(env->context, centers);
		return BVH_NO_MEMORY;
	}
	for (size_t i = 0; i < ncenters; i++)
	{
		/* from everywhere, as the sample may have an order */
		const Box3 *box = &sample[(size_t) ((double) i / ncenters * n)].box;

		for (int d = 0; d < 3; d++)
		{
			centers[i].at[d] = clamp_center(box3_center(box, d));
			/* NaN is that of a box at an infinity, which has none */
			build.side[d] += fmax(box->hi[d] - box->lo[d], 0.0) / ncenters;
		}
	}

	build.cells->ncells = build.cells->ncuts = 0;
	/* a lone cell has no cut, and a reference to none */
	if (divide(&build, centers, ncenters, most) < 0)
		build.cells->ncuts = 0;
	for (int d = 0; d < 3; d++)
		build.cells->large[d] = build.is_cut[d] ? build.extent[d] / build.cells->ncells
												: INFINITY;
	env->release(env->context, centers);
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
		/* of a box from -Infinity to Infinity it is NaN, which is as good as any */
		double center = 0.5 * box->lo[cut->axis] + 0.5 * box->hi[cut->axis];

		at = center <= cut->at ? cut->below : cut->above;
	}
	return ~at;
}
