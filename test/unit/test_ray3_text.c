/*-------------------------------------------------------------------------
 *
 * test_ray3_text.c
 *	  The text form of a ray: what is accepted, what is refused, and why.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/ray3_text.h"
#include "tap.h"

static const struct
{
	const char *text;
	Ray3 ray;
} accepted[] = {
	{"(1,2,3),(4,5,6)", {{{1, 2, 3}, {1, 2, 3}}, {4, 5, 6}, INFINITY}},
	{"(1,2,3),(4,5,6),7", {{{1, 2, 3}, {1, 2, 3}}, {4, 5, 6}, 7}},
	{"(1,2,3),(0,0,-6),Infinity", {{{1, 2, 3}, {1, 2, 3}}, {0, 0, -6}, INFINITY}},
	{"((1,2,3),(4,5,6)),(0,0,1),2", {{{1, 2, 3}, {4, 5, 6}}, {0, 0, 1}, 2}},
	{"((4,5,6),(1,2,3)),(0,0,1)", {{{1, 2, 3}, {4, 5, 6}}, {0, 0, 1}, INFINITY}},
	{"((4,2,6),(1,5,3)),(0,0,0),1", {{{1, 2, 3}, {4, 5, 6}}, {0, 0, 0}, 1}},
	{" ( 1 ,\t2 , 3 )\n, ( 4 , 5 , 6 ) , 7 ", {{{1, 2, 3}, {1, 2, 3}}, {4, 5, 6}, 7}},
	{" ( ( 1 , 2 , 3 ) , ( 4 , 5 , 6 ) ) , ( 0 , 0 , 1 ) , 2 ",
	 {{{1, 2, 3}, {4, 5, 6}}, {0, 0, 1}, 2}},
	{"(-0,0x10,1e3),(-0,-0,1),-0", {{{0, 16, 1000}, {0, 16, 1000}}, {0, 0, 1}, 0}},
	{"(0,0,0),(0,0,0),1", {{{0, 0, 0}, {0, 0, 0}}, {0, 0, 0}, 1}},
	{"(0,0,0),(5e-324,1.7976931348623157e308,0),5e-324",
	 {{{0, 0, 0}, {0, 0, 0}}, {DENORM_MIN, LARGEST, 0}, DENORM_MIN}},
};

static const struct
{
	const char *text;
	const char *reason; /* how it begins */
} refused[] = {
	{"", "An origin"},
	{"1,2,3", "An origin"},
	{"(1,2,3)", "A comma and the direction"},
	{"(1,2),(3,4)", "A vector has three numbers with commas"},
	{"(1,2,3,4),(1,2,3)", "A vector has three numbers and"},
	{"(1,2,3)(1,2,3)", "A comma and the direction"},
	{"(1,2,3),1,2,3", "An origin or direction"},
	{"(1,2,x),(1,2,3)", "A coordinate is missing"},
	{"(1,2,3),(1,2,3),", "A coordinate is missing"},
	{"(1,2,3),(1,2,3) 5", "There is something behind the direction"},
	{"(1,2,3),(1,2,3),5 6", "There is something behind the end"},
	{"((1,2,3)),(1,2,3)", "A moving box has two corners"},
	{"((1,2,3),(4,5,6),(1,2,3)", "The parenthesis around"},
	{"((1,2,3),4,5,6),(1,2,3)", "Each corner"},
	{"(NaN,2,3),(1,2,3)", "A coordinate must not be NaN"},
	{"(1,2,3),(1,2,3),NaN", "A coordinate must not be NaN"},
	{"(Infinity,2,3),(1,2,3)", "A ray must start"},
	{"((0,0,0),(0,Infinity,0)),(1,2,3)", "A ray must start"},
	{"(1,2,3),(1,-Infinity,3)", "The direction of a ray must be finite"},
	{"(1,2,3),(1,2,3),-1", "The end of a ray"},
	{"(1,2,3),(1,2,3),-Infinity", "The end of a ray"},
	{"(1,2,3),(0,0,0)", "The direction of a ray without end"},
};

int
main(void)
{
	Ray3 ray;
	BvhTextError error;

	for (int i = 0; i < LENGTH_OF(accepted); i++)
		OK(ray3_parse(accepted[i].text, &ray, &error) == BVH_TEXT_OK &&
			   memcmp(&ray, &accepted[i].ray, sizeof(Ray3)) == 0,
		   "%s",
		   accepted[i].text);
	for (int i = 0; i < LENGTH_OF(refused); i++)
	{
		OK(ray3_parse(refused[i].text, &ray, &error) == BVH_TEXT_SYNTAX &&
			   strncmp(error.reason, refused[i].reason, strlen(refused[i].reason)) == 0,
		   "no ray: %s",
		   refused[i].text);
		NOTE("%s", error.reason != NULL ? error.reason : "accepted");
	}
	OK(ray3_parse("(1,2,3),(1e400,2,3)", &ray, &error) == BVH_TEXT_OUT_OF_RANGE &&
		   error.number_length == 5,
	   "a number that is out of range");
	return tap_done();
}
