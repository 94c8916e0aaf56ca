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
#include "core/text.h"

extern BvhTextStatus box3_parse(const char *text, Box3 *box, BvhTextError *error);

#endif /* BVH_BOX3_TEXT_H */
