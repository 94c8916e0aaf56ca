/*-------------------------------------------------------------------------
 *
 * test_cells.c
 *	  Cells of space: about as many boxes in each, and few boxes across.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/cells.h"
#include "tap.h"
#include "trees.h"

#define NBOXES 20000
#define NCELLS 24

typedef struct Cell
{
	size_t n;
	Box3 bounds;
} Cell;

/* the boxes in each cell, those too large for any in the last */
static int
fill_cells(const SpaceCells *cells, const BvhItem *items, Cell *filled)
{
	int nwrong = 0;

	memset(filled, 0, sizeof(Cell) * (NCELLS + 1));
	for (size_t i = 0; i < NBOXES; i++)
	{
		int at = space_cells_find(cells, &items[i].box);

		if (at < 0 || at > cells->ncells)
		{
			nwrong++;
			continue;
		}
		if (filled[at].n++ == 0)
			filled[at].bounds = items[i].box;
		else
			box3_include(&filled[at].bounds, &items[i].box);
	}
	return nwrong;
}

static void
check_kind(Rng *rng, const char *name, Generator generator, int least_cells,
		   double most_share)
{
	BvhItem *items = make_tree_items(rng, generator, NBOXES);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	Cell filled[NCELLS + 1];
	SpaceCells *cells;
	size_t most = 0;
	int nwrong;

	/* the sample is the first quarter, as when memory was full */
	if (space_cells_make(&env, items, NBOXES / 4, NCELLS, &cells) != BVH_OK)
		abort();
	nwrong = fill_cells(cells, items, filled);
	for (int i = 0; i <= cells->ncells; i++)
		most = filled[i].n > most ? filled[i].n : most;
	OK(nwrong == 0 && cells->ncells >= least_cells && cells->ncells <= NCELLS &&
		   most <= most_share * NBOXES && counter.nheld == 1,
	   "%s: %d cells, at most %.2f of the boxes in one",
	   name,
	   cells->ncells,
	   (double) most / NBOXES);
	env.release(env.context, cells);
	free(items);
}

/* a box of the world meets hardly more cells than one, though some boxes are huge */
static void
check_crossings(Rng *rng)
{
	BvhItem *items = make_tree_items(rng, world_boxes, NBOXES);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	Cell filled[NCELLS + 1];
	SpaceCells *cells;
	double nmet = 0.0;

	for (size_t i = 0; i < NBOXES; i += 100)
		items[i].box = make_box(-1000, -1000, -1000, 1000, 1000, 1000);
	if (space_cells_make(&env, items, NBOXES, NCELLS, &cells) != BVH_OK)
		abort();
	fill_cells(cells, items, filled);
	for (size_t i = 0; i < NBOXES; i++)
		for (int c = 0; c < cells->ncells && i % 100 != 0; c++)
			nmet += filled[c].n > 0 && box3_overlaps(&items[i].box, &filled[c].bounds);
	OK(filled[cells->ncells].n == NBOXES / 100,
	   "boxes larger than a cell are apart: %zu",
	   filled[cells->ncells].n);
	OK(nmet / NBOXES < 2.0, "a box meets %.2f cells", nmet / NBOXES);
	env.release(env.context, cells);
	free(items);
}

static void
check_no_memory(Rng *rng)
{
	BvhItem *items = make_tree_items(rng, world_boxes, NBOXES);
	Counter counter;
	BvhEnv env = counter_env(&counter);
	SpaceCells *cells;
	bool is_right = true;

	for (int failing = 1; failing <= 2; failing++)
	{
		env = counter_env(&counter);
		counter.failing = failing;
		is_right &= space_cells_make(&env, items, NBOXES, NCELLS, &cells) ==
						BVH_NO_MEMORY &&
					cells == NULL && counter.nheld == 0;
	}
	OK(is_right, "no memory: says so, and holds nothing");
	free(items);
}

int
main(void)
{
	Rng rng = rng_start();

	/* of some kinds, no two cells can be told apart */
	for (int k = 0; k < LENGTH_OF(kinds); k++)
		check_kind(&rng, kinds[k].name, kinds[k].generate, 1, 1.0);
	check_kind(&rng, "random", world_boxes, NCELLS, 2.0 / NCELLS);
	check_kind(&rng, "far from zero", far_from_zero, NCELLS, 2.0 / NCELLS);
	check_kind(&rng, "in clusters", far_clusters, NCELLS, 2.5 / NCELLS);
	check_kind(&rng, "of two values", two_values, 2, 0.6);
	check_crossings(&rng);
	check_no_memory(&rng);
	return tap_done();
}
