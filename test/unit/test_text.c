/*-------------------------------------------------------------------------
 *
 * test_text.c
 *	  The text form of a box: what is accepted, what is refused, and why.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "boxes.h"
#include "core/box3_text.h"
#include "tap.h"

#define INF INFINITY

static const struct
{
	const char *text;
	Box3 box;
} accepted[] = {
	/* the four forms */
	{"(1,2,3),(4,5,6)", {{1, 2, 3}, {4, 5, 6}}},
	{"((1,2,3),(4,5,6))", {{1, 2, 3}, {4, 5, 6}}},
	{"[(1,2,3),(4,5,6)]", {{1, 2, 3}, {4, 5, 6}}},
	{"(1,2,3)", {{1, 2, 3}, {1, 2, 3}}},
	{"((1,2,3))", {{1, 2, 3}, {1, 2, 3}}},
	{"[(1,2,3)]", {{1, 2, 3}, {1, 2, 3}}},
	{"BOX3D(1 2 3,4 5 6)", {{1, 2, 3}, {4, 5, 6}}},
	{"box3d(1 2 3,4 5 6)", {{1, 2, 3}, {4, 5, 6}}},
	{"Box3d(1 2 3,4 5 6)", {{1, 2, 3}, {4, 5, 6}}},

	/* corners in any order, equal corners, -0 */
	{"(4,2,6),(1,5,3)", {{1, 2, 3}, {4, 5, 6}}},
	{"BOX3D(4 5 6,1 2 3)", {{1, 2, 3}, {4, 5, 6}}},
	{"(1,2,3),(1,2,3)", {{1, 2, 3}, {1, 2, 3}}},
	{"(-0,-0.0,0),(-0e5,0,-0)", {{0, 0, 0}, {0, 0, 0}}},

	/* white space anywhere between the parts */
	{"  (1,2,3),(4,5,6)  ", {{1, 2, 3}, {4, 5, 6}}},
	{" ( ( 1 , 2 , 3 ) , ( 4 , 5 , 6 ) ) ", {{1, 2, 3}, {4, 5, 6}}},
	{"\t[\n(1\r,\v2\f,3),(4,5,6)\n]\n", {{1, 2, 3}, {4, 5, 6}}},
	{" BOX3D ( 1  2\t3 , 4\n5 6 ) ", {{1, 2, 3}, {4, 5, 6}}},

	/* numbers */
	{"(.5,5.,+1),(1e2,1E+2,1e-2)", {{0.5, 5, 0.01}, {100, 100, 1}}},
	{"(0.1,0.2,0.3)", {{0.1, 0.2, 0.3}, {0.1, 0.2, 0.3}}},
	{"(16777217,9007199254740993,1)", {{16777217, 0x1p53, 1}, {16777217, 0x1p53, 1}}},
	{"(1.7976931348623157e308,0,0)", {{LARGEST, 0, 0}, {LARGEST, 0, 0}}},
	{"(4.9e-324,2.2250738585072014e-308,0)",
	 {{DENORM_MIN, 0x1p-1022, 0}, {DENORM_MIN, 0x1p-1022, 0}}},
	{"(Infinity,-Infinity,0),(-inf,INF,+infinity)", {{-INF, -INF, 0}, {INF, INF, INF}}},
	{"BOX3D(-inf -inf 0,inf inf 0)", {{-INF, -INF, 0}, {INF, INF, 0}}},
};

static const char *const refused[] = {
	/* empty, or no box at all */
	"",
	" ",
	"box",
	"1,2,3",
	"()",
	"[]",
	"(())",
	"(,,)",
	"EMPTY",
	"BOX3D",
	"BOX3D()",
	"BOX3DEMPTY",

	/* something behind the box */
	"(0,0,0),(1,1,1)xyz",
	"(0,0,0),(1,1,1),",
	"(0,0,0),(1,1,1))",
	"(0,0,0)]",
	"(0,0,0),(1,1,1),(2,2,2)",
	"(0,0,0) (1,1,1)",
	"BOX3D(0 0 0,1 1 1)xyz",
	"BOX3D(0 0 0,1 1 1),",
	"((0,0,0),(1,1,1)) 1",

	/* brackets and parentheses that do not match */
	"(0,0,0),(1,1,1",
	"((0,0,0),(1,1,1)",
	"((0,0,0),(1,1,1)]",
	"[(0,0,0),(1,1,1))",
	"[(0,0,0),(1,1,1)",
	"[[(0,0,0),(1,1,1)]]",
	"(((0,0,0),(1,1,1)))",
	"[0,0,0]",
	"{(0,0,0),(1,1,1)}",
	"(0,0,0),[1,1,1]",
	"BOX3D[0 0 0,1 1 1]",
	"BOX3D(0 0 0,1 1 1",
	"BOX3D 0 0 0,1 1 1",

	/* too few or too many numbers, commas that are missing or too many */
	"(0,0)",
	"(0,0,0,0)",
	"(0,0,0),(1,1)",
	"(0,0,0),(1,1,1,1)",
	"(0,0,0),",
	"(0,0,0),()",
	"(0 0 0)",
	"(0,0 0)",
	"(0,,0,0)",
	"(0,0,)",
	"BOX3D(0 0 0)",
	"BOX3D(0 0,1 1)",
	"BOX3D(0 0 0 0,1 1 1 1)",
	"BOX3D(0,0,0,1,1,1)",
	"BOX3D(0 0 0 1 1 1)",
	"BOX3D(0 0 0,1 1)",

	/* what is no number, or three numbers without anything in between */
	"(a,0,0)",
	"(0,-,0)",
	"(0,0,--1)",
	"(1e,0,0)",
	"(0,0,1_000)",
	"(1.5.5,0,0)",
	"BOX3D(1.5.5 0,1 1 1)",
	"BOX3D(1-2+3,1 1 1)",
	"BOX3D(1 2-3,1 1 1)",

	/* NaN */
	"(NaN,0,0)",
	"(0,0,nan),(1,1,1)",
	"(0,0,0),(1,-NaN,1)",
	"BOX3D(0 0 0,1 1 nan)",
};

static const struct
{
	const char *text;
	const char *number;
} out_of_range[] = {
	{"(1e400,0,0)", "1e400"},
	{"(0,0,0),(1,-1e400 ,1)", "-1e400"},
	{"(0, 1e-400,0)", "1e-400"},
	{"BOX3D(0 0 0,1 1 1.8e308)", "1.8e308"},
};

static void
accepts(void)
{
	for (int i = 0; i < LENGTH_OF(accepted); i++)
	{
		Box3 box;
		BvhTextError error;

		OK(box3_parse(accepted[i].text, &box, &error) == BVH_TEXT_OK &&
			   box3_equal(&box, &accepted[i].box) && box3_is_valid(&box),
		   "accepted text %d",
		   i + 1);
	}
}

static void
refuses(void)
{
	for (int i = 0; i < LENGTH_OF(refused); i++)
	{
		Box3 box;
		BvhTextError error;
		BvhTextStatus status = box3_parse(refused[i], &box, &error);

		/* a sentence for errdetail() */
		OK(status == BVH_TEXT_SYNTAX && error.reason != NULL &&
			   error.reason[strlen(error.reason) - 1] == '.',
		   "refused: '%s'",
		   refused[i]);
	}
	for (int i = 0; i < LENGTH_OF(out_of_range); i++)
	{
		Box3 box;
		BvhTextError error;
		const char *number = out_of_range[i].number;

		OK(box3_parse(out_of_range[i].text, &box, &error) == BVH_TEXT_OUT_OF_RANGE &&
			   error.number_length == (int) strlen(number) &&
			   strncmp(error.number, number, strlen(number)) == 0,
		   "out of range: %s",
		   number);
	}
}

/* the least that a reason has to get right */
static void
reasons(void)
{
	static const char *const known[][2] = {
		{"(NaN,0,0)", "NaN"},
		{"(0,0,0),(1,1,1)xyz", "behind the end"},
		{"[(0,0,0)", "bracket"},
		{"((0,0,0)", "outer parenthesis"},
		{"(0,0)", "three coordinates"},
		{"BOX3D(0 0 0)", "BOX3D"},
		{"(a,0,0)", "not a number"},
	};

	for (int i = 0; i < LENGTH_OF(known); i++)
	{
		Box3 box;
		BvhTextError error;

		box3_parse(known[i][0], &box, &error);
		OK(error.reason != NULL && strstr(error.reason, known[i][1]) != NULL,
		   "the reason for %s names %s",
		   known[i][0],
		   known[i][1]);
	}
}

/* what %.17g prints is read again bit for bit */
static void
round_trip(Rng *rng)
{
	for (int i = 0; i < 20000; i++)
	{
		Box3 box = rng_any_box(rng);
		Box3 read;
		BvhTextError error;
		char text[256];

		snprintf(text,
				 sizeof(text),
				 i % 2 ? "(%.17g,%.17g,%.17g),(%.17g,%.17g,%.17g)"
					   : "BOX3D(%.17g %.17g %.17g,%.17g %.17g %.17g)",
				 box.lo[0],
				 box.lo[1],
				 box.lo[2],
				 box.hi[0],
				 box.hi[1],
				 box.hi[2]);
		if (box3_parse(text, &read, &error) != BVH_TEXT_OK ||
			memcmp(&read, &box, sizeof(Box3)) != 0)
		{
			FAIL("printed boxes are read bit for bit");
			NOTE("%s", text);
			return;
		}
	}
	PASS("printed boxes are read bit for bit");
}

int
main(void)
{
	Rng rng = rng_start();

	accepts();
	refuses();
	reasons();
	round_trip(&rng);
	return tap_done();
}
