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

	/* outward by one: the exact test comes later */
	bounds->lower_x = nextafterf((float) b[0], -INFINITY);
	bounds->lower_y = nextafterf((float) b[1], -INFINITY);
	bounds->lower_z = nextafterf((float) b[2], -INFINITY);
	bounds->upper_x = nextafterf((float) b[3], INFINITY);
	bounds->upper_y = nextafterf((float) b[4], INFINITY);
	bounds->upper_z = nextafterf((float) b[5], INFINITY);
}

/* what a ray is for the exact test */
typedef struct RayQuery
{
	struct RTCIntersectContext context; /* first */
	const double *origin;
	double inverse[3]; /* of the direction, which has no zero */
} RayQuery;

static void
intersect(const struct RTCIntersectFunctionNArguments *args)
{
	const RayQuery *query = (const RayQuery *) args->context;
	struct RTCRayHit *rayhit = (struct RTCRayHit *) args->rayhit;
	const double *b = ((const PeerBox *) args->geometryUserPtr)[args->primID];
	double start = 0.0;
	double end = INFINITY;

	for (int d = 0; d < 3; d++)
	{
		double s = (b[d] - query->origin[d]) * query->inverse[d];
		double t = (b[d + 3] - query->origin[d]) * query->inverse[d];

		start = fmax(start, fmin(s, t));
		end = fmin(end, fmax(s, t));
	}
	if (start <= end && (float) start < rayhit->ray.tfar)
	{
		rayhit->ray.tfar = (float) start;
		rayhit->hit.geomID = args->geomID;
		rayhit->hit.primID = args->primID;
	}
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
	rtcSetGeometryIntersectFunction(geometry, intersect);
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

uint64_t
embree_first_hits(const PeerBox *rays, size_t n)
{
	uint64_t nhits = 0;

	for (size_t i = 0; i < n; i++)
	{
		RayQuery query = {.origin = rays[i]};
		struct RTCRayHit rayhit = {.ray = {.org_x = (float) rays[i][0],
										   .org_y = (float) rays[i][1],
										   .org_z = (float) rays[i][2],
										   .dir_x = (float) rays[i][3],
										   .dir_y = (float) rays[i][4],
										   .dir_z = (float) rays[i][5],
										   .tfar = INFINITY,
										   .mask = ~0u},
								   .hit = {.geomID = RTC_INVALID_GEOMETRY_ID}};

		rtcInitIntersectContext(&query.context);
		for (int d = 0; d < 3; d++)
			query.inverse[d] = 1.0 / rays[i][d + 3];
		rtcIntersect1(scene, &query.context, &rayhit);
		nhits += rayhit.hit.geomID != RTC_INVALID_GEOMETRY_ID;
	}
	return nhits;
}
