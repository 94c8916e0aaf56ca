/*-------------------------------------------------------------------------
 *
 * ray3_text.c
 *	  Fuzz target: any bytes as the text of a ray.
 *
 * What is accepted keeps the rules of the type, and what it prints reads as
 * the same one; what is refused says why.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/ray3_text.h"

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
reads_back(const Ray3 *ray)
{
	Ray3 again;
	BvhTextError error;
	char text[512];

	snprintf(text,
			 sizeof(text),
			 "((%.17g,%.17g,%.17g),(%.17g,%.17g,%.17g)),(%.17g,%.17g,%.17g),%.17g",
			 ray->box.lo[0],
			 ray->box.lo[1],
			 ray->box.lo[2],
			 ray->box.hi[0],
			 ray->box.hi[1],
			 ray->box.hi[2],
			 ray->direction[0],
			 ray->direction[1],
			 ray->direction[2],
			 ray->tmax);
	promise(ray3_parse(text, &again, &error) == BVH_TEXT_OK);
	promise(ray3_equal(&again, ray));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a terminated copy of just that size, so that a sanitizer sees more read */
	char *text = malloc(size + 1);
	Ray3 ray;
	Ray3 made;
	BvhTextError error;

	promise(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';

	switch (ray3_parse(text, &ray, &error))
	{
		case BVH_TEXT_OK:
			promise(box3_is_valid(&ray.box));
			promise(ray3_make(ray.box.lo, ray.box.hi, ray.direction, ray.tmax, &made) ==
					RAY3_OK);
			promise(ray3_equal(&made, &ray));
			reads_back(&ray);
			break;
		case BVH_TEXT_SYNTAX:
			promise(error.reason != NULL && error.reason[0] != '\0');
			break;
		case BVH_TEXT_OUT_OF_RANGE:
			promise(error.number >= text && error.number_length > 0);
			promise(error.number + error.number_length <= text + strlen(text));
			break;
	}
	free(text);
	return 0;
}
