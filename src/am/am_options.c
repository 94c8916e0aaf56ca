/*-------------------------------------------------------------------------
 *
 * am_options.c
 *	  Storage parameters of a bvh index.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/reloptions.h"

#include "am/bvh.h"

static relopt_kind bvh_relopt_kind;

/* bvh_define_options --- once, when the library is loaded */
void
bvh_define_options(void)
{
	bvh_relopt_kind = add_reloption_kind();
	add_int_reloption(bvh_relopt_kind,
					  "fillfactor",
					  "Packs bvh index pages only to this percentage",
					  BVH_DEFAULT_FILLFACTOR,
					  GIST_MIN_FILLFACTOR,
					  100,
					  ShareUpdateExclusiveLock);
}

bytea *
bvhoptions(Datum reloptions, bool validate)
{
	static const relopt_parse_elt options[] = {
		{"fillfactor", RELOPT_TYPE_INT, offsetof(BvhOptions, fillfactor)}};

	return (bytea *) build_reloptions(reloptions,
									  validate,
									  bvh_relopt_kind,
									  sizeof(BvhOptions),
									  options,
									  lengthof(options));
}
