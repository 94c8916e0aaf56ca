/*-------------------------------------------------------------------------
 *
 * box3_text.h
 *	  The text form of a box.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BOX3_TEXT_H
#define BVH_BOX3_TEXT_H

#include "core/box3.h"

typedef enum Box3TextStatus
{
	BOX3_TEXT_OK,
	BOX3_TEXT_SYNTAX,      /* not the text of a box; see reason */
	BOX3_TEXT_OUT_OF_RANGE /* number is one that double cannot hold */
} Box3TextStatus;

typedef struct Box3TextError
{
	const char *reason; /* a sentence */
	const char *number; /* into the text, not terminated */
	int number_length;
} Box3TextError;

extern Box3TextStatus box3_parse(const char *text, Box3 *box, Box3TextError *error);

#endif /* BVH_BOX3_TEXT_H */
