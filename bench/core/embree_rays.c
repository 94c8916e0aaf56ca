/*-------------------------------------------------------------------------
 *
 * embree_rays.c
 *	  First hits of rays among boxes by Embree 3, for bench/measure.sh.
 *
 *	  embree_rays BOXES RAYS ROUNDS
 *
 * Both files have six numbers a line: two corners; origin and direction.  Prints
 * figures as the harness does: microseconds a ray of each round, and hits.
 *
 * Embree walks in float, one ray at a time (rtcIntersect1), and each box that it
 * proposes is then tested in double.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "peers.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

static PeerBox *
read_file(const char *name, size_t *n)
{
	FILE *file = fopen(name, "r");
	size_t room = 1024;
	PeerBox *rows = malloc(room * sizeof(PeerBox));

	if (file == NULL || rows == NULL)
	{
		perror(name);
		exit(1);
	}
	for (*n = 0;; (*n)++)
	{
		double *x;

		if (*n == room)
		{
			room *= 2;
			rows = realloc(rows, room * sizeof(PeerBox));
			if (rows == NULL)
			{
				perror(name);
				exit(1);
			}
		}
		x = rows[*n];
		if (fscanf(file,
				   "%lf,%lf,%lf,%lf,%lf,%lf",
				   &x[0],
				   &x[1],
				   &x[2],
				   &x[3],
				   &x[4],
				   &x[5]) != 6)
			break;
	}
	fclose(file);
	return rows;
}

int
main(int argc, char **argv)
{
	PeerBox *boxes;
	PeerBox *rays;
	size_t nboxes;
	size_t nrays;

	if (argc != 4)
	{
		fprintf(stderr, "usage: embree_rays BOXES RAYS ROUNDS\n");
		return 2;
	}
	boxes = read_file(argv[1], &nboxes);
	rays = read_file(argv[2], &nrays);
	embree_build(boxes, nboxes);
	for (int round = 1; round <= atoi(argv[3]); round++)
	{
		double start = seconds();
		uint64_t hits = embree_first_hits(rays, nrays);

		printf("%d,rays,%.6f\n", round, (seconds() - start) * 1e6 / (double) nrays);
		printf("%d,rays_hits,%llu\n", round, (unsigned long long) hits);
	}
	return 0;
}
