/*-------------------------------------------------------------------------
 *
 * box3_text.c
 *	  Fuzz target: any bytes as the text of a box.
 *
 * What is accepted is a valid box, and what it prints reads as the same one;
 * what is refused says why.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/box3_text.h"

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
reads_back(const Box3 *box)
{
	Box3 again;
	BvhTextError error;
	char text[256];

	snprintf(text,
			 sizeof(text),
			 "(%.17g,%.17g,%.17g),(%.17g,%.17g,%.17g)",
			 box->lo[0],
			 box->lo[1],
			 box->lo[2],
			 box->hi[0],
			 box->hi[1],
			 box->hi[2]);
	promise(box3_parse(text, &again, &error) == BVH_TEXT_OK);
	promise(memcmp(&again, box, sizeof(Box3)) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* a terminated copy of just that size, so that a sanitizer sees more read */
	char *text = malloc(size + 1);
	Box3 box;
	BvhTextError error;

	promise(text != NULL);
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';

	switch (box3_parse(text, &box, &error))
	{
		case BVH_TEXT_OK:
			promise(box3_is_valid(&box));
			reads_back(&box);
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
