/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  The settings (GUCs) of the extension, and what they choose from.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/tuplestore.h"

#include "core/simd/kernels.h"
#include "pg/compat.h"
#include "pg/settings.h"

BVH_FUNCTION(bvh_simd_available);

bool bvh_enable_join = true;
static char *bvh_simd;

static const BvhKernels *
find_simd(const char *name)
{
	return bvh_kernels_find(strcmp(name, "auto") == 0 ? NULL : name);
}

static bool
check_simd(char **newval, void **extra, GucSource source)
{
	if (find_simd(*newval) != NULL)
		return true;

	GUC_check_errdetail("This machine or build has no \"%s\" kernels.", *newval);
	GUC_check_errhint("Use \"auto\", or a name listed by bvh_simd_available().");
	return false;
}

static void
assign_simd(const char *newval, void *extra)
{
	bvh_kernels_use(find_simd(newval));
}

void
bvh_define_settings(void)
{
	/* alphabetical; README.md has the same table */
	DefineCustomBoolVariable("bvhindex.enable_join",
							 "Enables the planner's use of BVH joins.",
							 NULL,
							 &bvh_enable_join,
							 true,
							 PGC_USERSET,
							 GUC_EXPLAIN,
							 NULL,
							 NULL,
							 NULL);
	DefineCustomStringVariable("bvhindex.simd",
							   "Chooses the instruction set used to test boxes.",
							   "All choices give the same answers.",
							   &bvh_simd,
							   "auto",
							   PGC_USERSET,
							   0,
							   check_simd,
							   assign_simd,
							   NULL);

	MarkGUCPrefixReserved("bvhindex");
}

/*
 * bvh_simd_available() --- instruction sets that this machine and build can
 * use, best first
 */
Datum
bvh_simd_available(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
	for (size_t i = 0; i < bvh_kernels_count(); i++)
	{
		const BvhKernels *kernels = bvh_kernels_nth(i);
		Datum value;
		bool isnull = false;

		if (kernels == NULL)
			continue;
		value = CStringGetTextDatum(kernels->name);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, &value, &isnull);
	}
	return (Datum) 0;
}
