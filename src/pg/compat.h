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

#include "executor/instrument.h"
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
#define bvh_owns_relation(relation)                                                      \
	object_ownercheck(RelationRelationId, relation, GetUserId())
#define bvh_may_execute(function)                                                        \
	(object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) ==         \
	 ACLCHECK_OK)
#else
#define bvh_owns_relation(relation) pg_class_ownercheck(relation, GetUserId())
#define bvh_may_execute(function)                                                        \
	(pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK)
#endif

/* 16 calls the name of a relation's file its locator */
#if PG_VERSION_NUM >= 160000
#define bvh_relation_locator(relation)        ((relation)->rd_locator)
#define bvh_relation_tablespace(relation)     ((relation)->rd_locator.spcOid)
#define bvh_relation_file(relation)           ((relation)->rd_locator.relNumber)
#define bvh_relation_new_file_subid(relation) ((relation)->rd_newRelfilelocatorSubid)
#else
#define bvh_relation_locator(relation)        ((relation)->rd_node)
#define bvh_relation_tablespace(relation)     ((relation)->rd_node.spcNode)
#define bvh_relation_file(relation)           ((relation)->rd_node.relNode)
#define bvh_relation_new_file_subid(relation) ((relation)->rd_newRelfilenodeSubid)
#endif

/* 19 lets other access methods have GiST's stand-in for an LSN */
#if PG_VERSION_NUM >= 190000
#include "access/xloginsert.h"
#define bvh_fake_lsn(relation) XLogGetFakeLSN(relation)
#else
#define bvh_fake_lsn(relation) gistGetFakeLSN(relation)
#endif

/* 19 has dropped the suffix */
#if PG_VERSION_NUM >= 190000
#define bvh_set_checksum(page, blkno) PageSetChecksum(page, blkno)
#else
#define bvh_set_checksum(page, blkno) PageSetChecksumInplace(page, blkno)
#endif

/* old_snapshot_threshold, and with it the check of each page, went in 17 */
#if PG_VERSION_NUM >= 170000
#define bvh_old_snapshots_may_fail()                     false
#define bvh_test_for_old_snapshot(snapshot, index, page) ((void) (page))
#else
#include "utils/snapmgr.h"
#define bvh_old_snapshots_may_fail() (old_snapshot_threshold >= 0)
#define bvh_test_for_old_snapshot(snapshot, index, page)                                 \
	TestForOldSnapshot(snapshot, index, page)
#endif

/*
 * 17 makes shared memory by name for whoever asks first; before, a library has to
 * ask while the server starts.  19 gives the function that fills it an argument.
 */
#if PG_VERSION_NUM >= 170000
#include "storage/dsm_registry.h"
#define BVH_NAMED_SEGMENTS
#endif
#if PG_VERSION_NUM >= 190000
#define BVH_NAMED_SEGMENT_ARGS void *memory, void *arg
#define bvh_named_segment(name, size, init, found)                                       \
	GetNamedDSMSegment(name, size, init, found, NULL)
#elif PG_VERSION_NUM >= 170000
#define BVH_NAMED_SEGMENT_ARGS void *memory
#define bvh_named_segment(name, size, init, found)                                       \
	GetNamedDSMSegment(name, size, init, found)
#endif

/* in 19, a tranche of locks gets its name with its number, for all */
#if PG_VERSION_NUM >= 190000
#define bvh_new_tranche(name)               LWLockNewTrancheId(name)
#define bvh_register_tranche(tranche, name) ((void) (tranche))
#else
#define bvh_new_tranche(name)               LWLockNewTrancheId()
#define bvh_register_tranche(tranche, name) LWLockRegisterTranche(tranche, name)
#endif

/* 18 counts searches itself for EXPLAIN ANALYZE, if the scan is instrumented */
#if PG_VERSION_NUM >= 180000
#define bvh_count_search(scan)                                                           \
	do                                                                                   \
	{                                                                                    \
		if ((scan)->instrument)                                                          \
			(scan)->instrument->nsearches++;                                             \
	} while (0)
#else
#define bvh_count_search(scan) ((void) (scan))
#endif

/* 18 counts the disabled nodes of a path; before, each costs disable_cost */
#if PG_VERSION_NUM >= 180000
#define bvh_add_disabled_nodes(path, outer, inner)                                       \
	((path)->disabled_nodes = (outer)->disabled_nodes + (inner)->disabled_nodes)
#else
#define bvh_add_disabled_nodes(path, outer, inner) ((void) 0)
#endif

/* before 17, a custom join would lose a one-time filter among its conditions */
#if PG_VERSION_NUM >= 170000
#define BVH_CUSTOM_JOINS_ARE_GATED         true
#define bvh_set_restrictinfo(custom, list) ((custom)->custom_restrictinfo = (list))
#else
#define BVH_CUSTOM_JOINS_ARE_GATED         false
#define bvh_set_restrictinfo(custom, list) ((void) 0)
#endif

/* 18 gave the functions that print a property a header of their own */
#if PG_VERSION_NUM >= 180000
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#endif

/* 19 split what is measured of a plan node from what is of anything */
#if PG_VERSION_NUM >= 190000
typedef NodeInstrumentation BvhNodeInstrumentation;
#else
typedef Instrumentation BvhNodeInstrumentation;
#endif

/* 19 gave table scans flags, and tuple descriptors a finishing step */
#if PG_VERSION_NUM >= 190000
#define bvh_index_fetch_begin(heap)   table_index_fetch_begin(heap, 0)
#define bvh_finalize_tuple_desc(desc) TupleDescFinalize(desc)
#else
#define bvh_index_fetch_begin(heap)   table_index_fetch_begin(heap)
#define bvh_finalize_tuple_desc(desc) ((void) (desc))
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
