/*-------------------------------------------------------------------------
 *
 * ray3_text.h
 *	  The text form of a ray.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_RAY3_TEXT_H
#define BVH_RAY3_TEXT_H

#include "core/ray3.h"
#include "core/text.h"

extern BvhTextStatus ray3_parse(const char *text, Ray3 *ray, BvhTextError *error);

#endif /* BVH_RAY3_TEXT_H */
