/*-------------------------------------------------------------------------
 *
 * embree.c
 *	  Embree 3 for the bench: boxes as user geometry, one thread, the default
 *	  quality of a build, which is binned SAH.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "peers.h"

#include <embree3/rtcore.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static RTCDevice device;
static RTCScene scene;

static void
bounds_of(const struct RTCBoundsFunctionArguments *args)
{
	const double *b = ((const PeerBox *) args->geometryUserPtr)[args->primID];
	struct RTCBounds *bounds = args->bounds_o;

	/* rounded to nearest: the exact test comes later, and no more is asked here */
	bounds->lower_x = (float) b[0];
	bounds->lower_y = (float) b[1];
	bounds->lower_z = (float) b[2];
	bounds->upper_x = (float) b[3];
	bounds->upper_y = (float) b[4];
	bounds->upper_z = (float) b[5];
}

void
embree_build(const PeerBox *boxes, size_t n)
{
	RTCGeometry geometry;

	if (device == NULL)
		device = rtcNewDevice("threads=1,set_affinity=0");
	if (device == NULL)
	{
		fprintf(stderr, "Embree does not start\n");
		exit(1);
	}
	if (scene != NULL)
		rtcReleaseScene(scene);
	scene = rtcNewScene(device);
	geometry = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_USER);
	rtcSetGeometryUserPrimitiveCount(geometry, (unsigned) n);
	rtcSetGeometryUserData(geometry, (void *) boxes);
	rtcSetGeometryBoundsFunction(geometry, bounds_of, NULL);
	rtcCommitGeometry(geometry);
	rtcAttachGeometry(scene, geometry);
	rtcReleaseGeometry(geometry);
	rtcCommitScene(scene);
}

typedef struct Count
{
	const PeerBox *boxes;
	uint64_t n;
} Count;

/* collisions come as candidates, and both ways round */
static void
count_pairs(void *context, struct RTCCollision *collisions, unsigned n)
{
	Count *count = context;

	for (unsigned i = 0; i < n; i++)
	{
		const double *a = count->boxes[collisions[i].primID0];
		const double *b = count->boxes[collisions[i].primID1];
		bool hit = collisions[i].primID0 < collisions[i].primID1;

		for (int d = 0; d < 3; d++)
			hit &= (a[d] <= b[d + 3]) & (b[d] <= a[d + 3]);
		count->n += hit;
	}
}

uint64_t
embree_pairs(const PeerBox *boxes)
{
	Count count = {boxes, 0};

	rtcCollide(scene, scene, count_pairs, &count);
	return count.n;
}
