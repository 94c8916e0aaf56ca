/*-------------------------------------------------------------------------
 *
 * strategy.h
 *	  The core's operator numbers are the strategy numbers of pg_amop.
 *
 * Frozen: every install script stores them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_STRATEGY_H
#define BVH_STRATEGY_H

#include "access/stratnum.h"

#include "core/shape.h"

StaticAssertDecl(BVH_LEFT == RTLeftStrategyNumber, "<<");
StaticAssertDecl(BVH_OVERLEFT == RTOverLeftStrategyNumber, "&<");
StaticAssertDecl(BVH_OVERLAPS == RTOverlapStrategyNumber, "&&");
StaticAssertDecl(BVH_OVERRIGHT == RTOverRightStrategyNumber, "&>");
StaticAssertDecl(BVH_RIGHT == RTRightStrategyNumber, ">>");
StaticAssertDecl(BVH_SAME == RTSameStrategyNumber, "~=");
StaticAssertDecl(BVH_CONTAINS == RTContainsStrategyNumber, "@>");
StaticAssertDecl(BVH_CONTAINED_BY == RTContainedByStrategyNumber, "<@");
StaticAssertDecl(BVH_OVERBELOW == RTOverBelowStrategyNumber, "&<|");
StaticAssertDecl(BVH_BELOW == RTBelowStrategyNumber, "<<|");
StaticAssertDecl(BVH_ABOVE == RTAboveStrategyNumber, "|>>");
StaticAssertDecl(BVH_OVERABOVE == RTOverAboveStrategyNumber, "|&>");
StaticAssertDecl(BVH_DISTANCE == RTKNNSearchStrategyNumber, "<->");
StaticAssertDecl(BVH_EQUAL == RTEqualStrategyNumber, "=");
StaticAssertDecl((int) BVH_FRONT > (int) RTMaxStrategyNumber,
				 "numbers of our own must not meet those of PostgreSQL");
StaticAssertDecl((int) BVH_MEETS_RAY > (int) BVH_OVERLAPS_STRICTLY,
				 "numbers of shapes must not meet those of boxes");

#endif /* BVH_STRATEGY_H */
