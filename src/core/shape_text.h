/*-------------------------------------------------------------------------
 *
 * shape_text.h
 *	  The text forms of spheres and planes.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_SHAPE_TEXT_H
#define BVH_SHAPE_TEXT_H

#include "core/planes3.h"
#include "core/sphere3.h"
#include "core/text.h"

extern BvhTextStatus sphere3_parse(const char *text, Sphere3 *sphere,
								   BvhTextError *error);
extern BvhTextStatus planes3_parse(const char *text, Plane3 plane[PLANES3_MOST], int *n,
								   BvhTextError *error);

#endif /* BVH_SHAPE_TEXT_H */
