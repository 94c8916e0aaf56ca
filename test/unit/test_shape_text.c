/*-------------------------------------------------------------------------
 *
 * test_shape_text.c
 *	  The text forms of spheres and planes: what is accepted, what is refused,
 *	  and why.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/shape_text.h"
#include "tap.h"

static const struct
{
	const char *text;
	Sphere3 sphere;
} spheres[] = {
	{"<(1,2,3),4>", {{1, 2, 3}, 4}},
	{"(1,2,3),4", {{1, 2, 3}, 4}},
	{" < ( 1 , 2 , 3 ) , 4 > ", {{1, 2, 3}, 4}},
	{"<(-0,1e308,-5e-324),Infinity>", {{0, 1e308, -DENORM_MIN}, INFINITY}},
	{"<(0,0,0),-0>", {{0, 0, 0}, 0}},
};

static const struct
{
	const char *text;
	const char *reason; /* how it begins */
} no_spheres[] = {
	{"", "The center"},
	{"1,2,3,4", "The center"},
	{"<(1,2,3)>", "A comma and the radius"},
	{"<(1,2,3,4),5>", "A center has three"},
	{"<(1,2),3>", "A corner has three"},
	{"<(1,2,3),4", "The angle bracket"},
	{"(1,2,3),4>", "There is something"},
	{"<(1,2,3),4>5", "There is something"},
	{"<(1,2,3),r>", "A coordinate is missing"},
	{"<(1,2,NaN),4>", "A coordinate must not be NaN"},
	{"<(1,2,Infinity),4>", "The center of a sphere must be finite"},
	{"<(1,2,3),-4>", "The radius"},
};

static const struct
{
	const char *text;
	const char *reason;
} no_planes[] = {
	{"", "Planes must be written"},
	{"(1,2,3,4)", "Planes must be written"},
	{"{}", "Each plane"},
	{"{(1,2,3)}", "A plane has four numbers with"},
	{"{(1,2,3,4,5)}", "A plane has four numbers and"},
	{"{(1,2,3,4),}", "Each plane"},
	{"{(1,2,3,4)(1,2,3,4)}", "Planes have commas"},
	{"{(1,2,3,4)", "Planes have commas"},
	{"{(1,2,3,4)}x", "There is something"},
	{"{(1,2,3,NaN)}", "A coordinate must not be NaN"},
	{"{(1,2,3,Infinity)}", "The numbers of a plane"},
	{"{(1,2,3,4),(0,0,-0,1)}", "The normal"},
};

static void
many_planes(int wanted)
{
	char text[1024] = "{";
	Plane3 plane[PLANES3_MOST];
	int n;
	BvhTextError error;
	BvhTextStatus status;

	for (int i = 0; i < wanted; i++)
		snprintf(text + strlen(text),
				 sizeof(text) - strlen(text),
				 "%s(%d,2,3,4)",
				 i == 0 ? "" : ",",
				 i);
	strcat(text, "}");
	status = planes3_parse(text, plane, &n, &error);
	if (wanted <= PLANES3_MOST)
		OK(status == BVH_TEXT_OK && n == wanted &&
			   plane[wanted - 1].normal[0] == wanted - 1 && plane[0].offset == 4,
		   "%d planes",
		   wanted);
	else
		OK(status == BVH_TEXT_SYNTAX && strstr(error.reason, "more than 32") != NULL,
		   "%d planes are too many",
		   wanted);
}

int
main(void)
{
	Sphere3 sphere;
	Plane3 plane[PLANES3_MOST];
	int n;
	BvhTextError error;

	for (int i = 0; i < LENGTH_OF(spheres); i++)
		OK(sphere3_parse(spheres[i].text, &sphere, &error) == BVH_TEXT_OK &&
			   memcmp(&sphere, &spheres[i].sphere, sizeof(Sphere3)) == 0,
		   "%s",
		   spheres[i].text);
	for (int i = 0; i < LENGTH_OF(no_spheres); i++)
	{
		const char *reason = no_spheres[i].reason;

		OK(sphere3_parse(no_spheres[i].text, &sphere, &error) == BVH_TEXT_SYNTAX &&
			   strncmp(error.reason, reason, strlen(reason)) == 0,
		   "no sphere: %s",
		   no_spheres[i].text);
		NOTE("%s", error.reason != NULL ? error.reason : "accepted");
	}
	OK(sphere3_parse("<(1,2,3),1e400>", &sphere, &error) == BVH_TEXT_OUT_OF_RANGE,
	   "a number that is out of range");

	many_planes(1);
	many_planes(2);
	many_planes(32);
	many_planes(33);
	OK(planes3_parse(" { ( 1 , -0 , 3 , -0 ) , (4,5,6,7)\n} ", plane, &n, &error) ==
			   BVH_TEXT_OK &&
		   n == 2 && !signbit(plane[0].normal[1]) && !signbit(plane[0].offset),
	   "white space, and -0");
	for (int i = 0; i < LENGTH_OF(no_planes); i++)
	{
		const char *reason = no_planes[i].reason;

		OK(planes3_parse(no_planes[i].text, plane, &n, &error) == BVH_TEXT_SYNTAX &&
			   strncmp(error.reason, reason, strlen(reason)) == 0,
		   "no planes: %s",
		   no_planes[i].text);
		NOTE("%s", error.reason != NULL ? error.reason : "accepted");
	}
	return tap_done();
}
