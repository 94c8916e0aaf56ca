/*-------------------------------------------------------------------------
 *
 * shape_text.c
 *	  Fuzz target: any bytes as the text of a sphere and of planes.
 *
 * What is accepted keeps the rules of the type, and what it prints reads as
 * the same one; what is refused says why.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/shape_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
promise(bool kept)
{
	if (!kept)
		abort();
}

static void
says_why(BvhTextStatus status, const BvhTextError *error, const char *text)
{
	if (status == BVH_TEXT_SYNTAX)
		promise(error->reason != NULL && error->reason[0] != '\0');
	else
	{
		promise(error->number >= text && error->number_length > 0);
		promise(error->number + error->number_length <= text + strlen(text));
	}
}

static void
sphere(const char *text)
{
	Sphere3 value;
	Sphere3 again;
	BvhTextError error;
	BvhTextStatus status = sphere3_parse(text, &value, &error);
	char printed[256];

	if (status != BVH_TEXT_OK)
	{
		says_why(status, &error, text);
		return;
	}
	promise(sphere3_make(value.center, value.radius, &again) == NULL);
	promise(memcmp(&again, &value, sizeof(value)) == 0);
	snprintf(printed,
			 sizeof(printed),
			 "<(%.17g,%.17g,%.17g),%.17g>",
			 value.center[0],
			 value.center[1],
			 value.center[2],
			 value.radius);
	promise(sphere3_parse(printed, &again, &error) == BVH_TEXT_OK);
	promise(memcmp(&again, &value, sizeof(value)) == 0);
}

static void
planes(const char *text)
{
	Plane3 value[PLANES3_MOST];
	Plane3 again[PLANES3_MOST];
	int n;
	int nagain;
	BvhTextError error;
	BvhTextStatus status = planes3_parse(text, value, &n, &error);
	char printed[PLANES3_MOST * 128];
	size_t length = 0;

	if (status != BVH_TEXT_OK)
	{
		says_why(status, &error, text);
		return;
	}
	promise(n >= 1 && n <= PLANES3_MOST);
	for (int i = 0; i < n; i++)
	{
		const double number[4] = {value[i].normal[0],
								  value[i].normal[1],
								  value[i].normal[2],
								  value[i].offset};

		promise(plane3_make(number, &again[i]) == NULL);
		length += (size_t) snprintf(printed + length,
									sizeof(printed) - length,
									"%c(%.17g,%.17g,%.17g,%.17g)",
									i == 0 ? '{' : ',',
									number[0],
									number[1],
									number[2],
									number[3]);
	}
	promise(memcmp(again, value, sizeof(Plane3) * n) == 0);
	snprintf(printed + length, sizeof(printed) - length, "}");
	promise(planes3_parse(printed, again, &nagain, &error) == BVH_TEXT_OK);
	promise(nagain == n && memcmp(again, value, sizeof(Plane3) * n) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a terminated copy of just that size, so that a sanitizer sees more read */
	char *text = malloc(size + 1);

	promise(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	sphere(text);
	planes(text);
	free(text);
	return 0;
}
