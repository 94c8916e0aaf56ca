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
#include "pg/pause.h"
#include "pg/settings.h"

BVH_FUNCTION(bvh_simd_available);

int bvh_cache_min_pages;
int bvh_cache_size;
bool bvh_enable_join = true;
int bvh_use_cache = BVH_CACHE_ON;
static char *bvh_simd;

/* what a boolean setting would take, too */
static const struct config_enum_entry cache_uses[] = {{"off", BVH_CACHE_OFF, false},
													  {"on", BVH_CACHE_ON, false},
													  {"always", BVH_CACHE_ALWAYS, false},
													  {"false", BVH_CACHE_OFF, true},
													  {"true", BVH_CACHE_ON, true},
													  {"no", BVH_CACHE_OFF, true},
													  {"yes", BVH_CACHE_ON, true},
													  {"0", BVH_CACHE_OFF, true},
													  {"1", BVH_CACHE_ON, true},
													  {NULL, 0, false}};

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
	DefineCustomIntVariable("bvhindex.cache_min_pages",
							"Sets the smallest bvh index that is cached by itself.",
							NULL,
							&bvh_cache_min_pages,
							64,
							0,
							INT_MAX,
							PGC_SIGHUP,
							GUC_UNIT_BLOCKS,
							NULL,
							NULL,
							NULL);
	DefineCustomIntVariable("bvhindex.cache_size",
							"Sets the shared memory for trees of bvh indexes.",
							"0 turns the cache off.",
							&bvh_cache_size,
							256 * 1024,
							0,
							MAX_KILOBYTES,
							PGC_SIGHUP,
							GUC_UNIT_KB,
							NULL,
							NULL,
							NULL);
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
#ifdef USE_ASSERT_CHECKING
	DefineCustomStringVariable(
		"bvhindex.pause_at",
		"Names a place where the session waits for an advisory lock.",
		"For tests, in builds with assertions.",
		&bvh_pause_at,
		"",
		PGC_SUSET,
		GUC_NO_SHOW_ALL | GUC_NOT_IN_SAMPLE,
		NULL,
		NULL,
		NULL);
#endif
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

	DefineCustomEnumVariable(
		"bvhindex.use_cache",
		"Lets scans of bvh indexes use their trees in shared memory.",
		"With \"always\", a scan that finds no tree builds one first.",
		&bvh_use_cache,
		BVH_CACHE_ON,
		cache_uses,
		PGC_USERSET,
		0,
		NULL,
		NULL,
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
