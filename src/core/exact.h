/*-------------------------------------------------------------------------
 *
 * exact.h
 *	  The sign of a small sum of products, without any rounding.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_EXACT_H
#define BVH_EXACT_H

#include "core/base.h"

extern int exact_sign(const double a[4], const double b[4]);

#endif /* BVH_EXACT_H */
