/*-------------------------------------------------------------------------
 *
 * kernels_tree_scalar.c
 *	  The walks through the tree in plain C.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/tree_walk.h"
