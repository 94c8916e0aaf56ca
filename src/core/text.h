/*-------------------------------------------------------------------------
 *
 * text.h
 *	  What reading the text of a value may come to.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TEXT_H
#define BVH_TEXT_H

#include "core/base.h"

typedef enum BvhTextStatus
{
	BVH_TEXT_OK,
	BVH_TEXT_SYNTAX,      /* not the text of such a value; see reason */
	BVH_TEXT_OUT_OF_RANGE /* number is one that double cannot hold */
} BvhTextStatus;

typedef struct BvhTextError
{
	const char *reason; /* a sentence */
	const char *number; /* into the text, not terminated */
	int number_length;
} BvhTextError;

#endif /* BVH_TEXT_H */
