/*-------------------------------------------------------------------------
 *
 * compat.h
 *	  Every difference between PostgreSQL versions; the only place that looks
 *	  at PG_VERSION_NUM.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_COMPAT_H
#define BVH_COMPAT_H

#include "fmgr.h"
#include "nodes/nodes.h"

#if PG_VERSION_NUM < 150000
#error "bvhindex needs PostgreSQL 15 or later"
#endif

/*
 * Soft errors of input functions came with PostgreSQL 16 (ereturn in
 * nodes/miscnodes.h); before, every error is thrown.
 */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#define bvh_soft_error(fcinfo, ...) ereturn((fcinfo)->context, (Datum) 0, __VA_ARGS__)
#else
#define bvh_soft_error(fcinfo, ...) ereport(ERROR, __VA_ARGS__)
#endif

/*
 * VacAttrStats.attrtypmod and friends stay; what moved in 17 is the per-column
 * statistics target, from VacAttrStats.attr (the catalog row) to
 * VacAttrStats.attstattarget.
 */
#if PG_VERSION_NUM >= 170000
#define bvh_statistics_target(stats) ((stats)->attstattarget)
#else
#define bvh_statistics_target(stats) ((stats)->attr->attstattarget)
#endif

/* 16 made one privilege check of those for each kind of object */
#if PG_VERSION_NUM >= 160000
#define bvh_may_execute(function)                                                        \
	(object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) ==         \
	 ACLCHECK_OK)
#else
#define bvh_may_execute(function)                                                        \
	(pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK)
#endif

/*
 * A function callable from SQL.  PG_FUNCTION_INFO_V1 declares it with
 * PGDLLEXPORT since 16; in 15 that macro is empty unless the Makefile fills it,
 * and the declaration lacks it.
 */
#define BVH_FUNCTION(name)                                                               \
	extern PGDLLEXPORT Datum name(PG_FUNCTION_ARGS);                                     \
	PG_FUNCTION_INFO_V1(name)

#endif /* BVH_COMPAT_H */
