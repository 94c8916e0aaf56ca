/*-------------------------------------------------------------------------
 *
 * box3d_fatten.c
 *	  Boxes of moving objects: a fat box around the tight one, which stays as it
 *	  is while the object moves inside it.
 *
 * An index on the fat box sees no change then, and the update can be a heap-only
 * one.  docs/moving-objects.md is the recipe.  The rule for the size is Box2D's
 * (b2DynamicTree): a margin on all sides, and four steps ahead.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <ctype.h>
#include <math.h>

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "commands/trigger.h"
#include "executor/spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "pg/compat.h"
#include "type/box3d.h"

BVH_FUNCTION(box3d_fatten);
BVH_FUNCTION(bvh_fatten);

#define ARGUMENTS_HINT                                                                   \
	"The arguments of bvh_fatten() are the fat column, the tight column, the margin, "   \
	"and optionally a column with the displacement."

/* steps ahead that a new fat box has room for */
#define STEPS_AHEAD 4.0

/* arguments of the trigger */
enum
{
	FAT_COLUMN,
	TIGHT_COLUMN,
	MARGIN,
	DISPLACEMENT_COLUMN, /* may be left out */
	MAX_ARGS
};

/* what they say, once a query; columns by their number */
typedef struct Fattening
{
	int fat;
	int tight;
	int displacement; /* 0 for none */
	double margin;
} Fattening;

static double
check_margin(double margin)
{
	if (!(margin >= 0.0))
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("margin must be 0 or more, not %s", float8out_internal(margin)),
				errhint("A few times what an object moves between two updates is a good "
						"margin."));
	return margin;
}

/* tight, grown by the margin, and ahead where there is a displacement */
static Box3 *
new_fat_box(const Box3 *tight, double margin, ArrayType *displacement)
{
	double step[3] = {0.0, 0.0, 0.0};
	double lo[3];
	double hi[3];

	if (displacement != NULL)
		box3d_get_numbers(
			displacement,
			3,
			"displacement",
			"Give what the object moves by until the next update, along x, y and z.",
			step);
	for (int d = 0; d < 3; d++)
	{
		if (isnan(step[d]))
			ereport(ERROR,
					errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					errmsg("displacement must not be NaN"),
					errhint("Use NULL for a displacement that is not known."));
		lo[d] = box3d_add(tight->lo[d], -margin);
		hi[d] = box3d_add(tight->hi[d], margin);
		if (step[d] < 0.0)
			lo[d] = box3d_add(lo[d], STEPS_AHEAD * step[d]);
		else
			hi[d] = box3d_add(hi[d], STEPS_AHEAD * step[d]);
	}
	return box3d_from_corners(lo, hi);
}

/*
 * box3d_fatten(fat, tight, margin, displacement) --- the fat box itself, while it
 * contains the tight one; else a new one
 */
Datum
box3d_fatten(PG_FUNCTION_ARGS)
{
	const Box3 *tight;
	double margin;

	if (PG_ARGISNULL(1) || PG_ARGISNULL(2))
		PG_RETURN_NULL();
	tight = PG_GETARG_BOX3_P(1);
	margin = check_margin(PG_GETARG_FLOAT8(2));
	if (!PG_ARGISNULL(0) && box3_contains(PG_GETARG_BOX3_P(0), tight))
		PG_RETURN_DATUM(PG_GETARG_DATUM(0));
	PG_RETURN_BOX3_P(
		new_fat_box(tight, margin, PG_ARGISNULL(3) ? NULL : PG_GETARG_ARRAYTYPE_P(3)));
}

/* is it box3d, whatever its name and schema? */
static bool
is_box3d(Oid type)
{
	FmgrInfo function;
	Oid input;
	Oid param;

	if (get_typlen(type) != sizeof(Box3))
		return false;
	getTypeInputInfo(type, &input, &param);
	fmgr_info(input, &function);
	return function.fn_addr == box3d_in;
}

/* the column that an argument names */
static int
find_column(Relation rel, const char *name)
{
	int column = SPI_fnumber(RelationGetDescr(rel), name);

	if (column <= 0)
		ereport(ERROR,
				errcode(ERRCODE_UNDEFINED_COLUMN),
				errmsg("column \"%s\" of relation \"%s\" does not exist",
					   name,
					   RelationGetRelationName(rel)),
				errhint(ARGUMENTS_HINT));
	return column;
}

static void
check_column(Relation rel, int column, bool is_right, const char *wanted)
{
	if (!is_right)
		ereport(ERROR,
				errcode(ERRCODE_DATATYPE_MISMATCH),
				errmsg("column \"%s\" of relation \"%s\" is of type %s, not %s",
					   NameStr(TupleDescAttr(RelationGetDescr(rel), column - 1)->attname),
					   RelationGetRelationName(rel),
					   format_type_be(SPI_gettypeid(RelationGetDescr(rel), column)),
					   wanted),
				errhint(ARGUMENTS_HINT));
}

/* what a BEFORE trigger sees of a generated column is of the row before, or nothing */
static void
check_not_generated(Relation rel, int column)
{
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(rel), column - 1);

	if (attribute->attgenerated != '\0')
		ereport(
			ERROR,
			errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			errmsg("column \"%s\" of relation \"%s\" is a generated column",
				   NameStr(attribute->attname),
				   RelationGetRelationName(rel)),
			errdetail(
				"Generated columns are computed after all triggers BEFORE the change."),
			errhint(
				"Let the application set an ordinary column, or call box3d_fatten()."));
}

static void
check_call(FunctionCallInfo fcinfo)
{
	const TriggerData *trigger = (TriggerData *) fcinfo->context;
	TriggerEvent event;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				errmsg("bvh_fatten() must be called as a trigger"),
				errhint("box3d_fatten() is the function to call in a query."));
	event = trigger->tg_event;
	if (!TRIGGER_FIRED_BEFORE(event) || !TRIGGER_FIRED_FOR_ROW(event) ||
		!(TRIGGER_FIRED_BY_INSERT(event) || TRIGGER_FIRED_BY_UPDATE(event)))
		ereport(
			ERROR,
			errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
			errmsg("trigger \"%s\" of table \"%s\" calls bvh_fatten(), but not BEFORE "
				   "INSERT OR UPDATE ... FOR EACH ROW",
				   trigger->tg_trigger->tgname,
				   RelationGetRelationName(trigger->tg_relation)),
			errhint("It can only change rows that are about to be written."));
}

/* the number that an argument is; as float8in() reads it */
static double
read_margin(const Trigger *trigger, const char *text)
{
	char *end;
	double margin;

	errno = 0;
	margin = strtod(text, &end);
	if (errno == ERANGE && margin != 0.0 && !isinf(margin))
		errno = 0; /* a very small number */
	while (end != text && isspace((unsigned char) *end))
		end++;
	if (errno != 0 || end == text || *end != '\0')
		ereport(ERROR,
				errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				errmsg("margin of trigger \"%s\" is not a float8: \"%s\"",
					   trigger->tgname,
					   text),
				errhint(ARGUMENTS_HINT));
	return check_margin(margin);
}

static Fattening *
read_arguments(const TriggerData *trigger, MemoryContext cxt)
{
	char **args = trigger->tg_trigger->tgargs;
	int nargs = trigger->tg_trigger->tgnargs;
	Relation rel = trigger->tg_relation;
	Fattening *fattening = MemoryContextAllocZero(cxt, sizeof(Fattening));

	if (nargs != MAX_ARGS && nargs != MAX_ARGS - 1)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("trigger \"%s\" gives bvh_fatten() %d arguments, not 3 or 4",
					   trigger->tg_trigger->tgname,
					   nargs),
				errhint(ARGUMENTS_HINT));
	fattening->fat = find_column(rel, args[FAT_COLUMN]);
	fattening->tight = find_column(rel, args[TIGHT_COLUMN]);
	fattening->margin = read_margin(trigger->tg_trigger, args[MARGIN]);
	/* a domain might refuse what we put there, and nobody would ask it */
	check_column(rel,
				 fattening->fat,
				 is_box3d(SPI_gettypeid(RelationGetDescr(rel), fattening->fat)),
				 "box3d");
	check_column(rel,
				 fattening->tight,
				 is_box3d(
					 getBaseType(SPI_gettypeid(RelationGetDescr(rel), fattening->tight))),
				 "box3d");
	if (fattening->fat == fattening->tight)
		ereport(ERROR,
				errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				errmsg("trigger \"%s\" gives bvh_fatten() one column for both boxes",
					   trigger->tg_trigger->tgname));
	check_not_generated(rel, fattening->fat);
	check_not_generated(rel, fattening->tight);
	if (nargs == MAX_ARGS)
	{
		fattening->displacement = find_column(rel, args[DISPLACEMENT_COLUMN]);
		check_column(rel,
					 fattening->displacement,
					 getBaseType(
						 SPI_gettypeid(RelationGetDescr(rel), fattening->displacement)) ==
						 FLOAT8ARRAYOID,
					 "double precision[]");
		check_not_generated(rel, fattening->displacement);
	}
	return fattening;
}

/*
 * bvh_fatten() --- trigger: sees to it that the fat box of a row contains the
 * tight one
 */
Datum
bvh_fatten(PG_FUNCTION_ARGS)
{
	TriggerData *trigger;
	const Fattening *fattening;
	TupleDesc desc;
	HeapTuple row;
	Datum fat;
	Datum tight;
	Datum displacement = (Datum) 0;
	bool no_fat;
	bool no_tight;
	bool no_displacement = true;

	check_call(fcinfo);
	trigger = (TriggerData *) fcinfo->context;
	if (fcinfo->flinfo->fn_extra == NULL)
		fcinfo->flinfo->fn_extra = read_arguments(trigger, fcinfo->flinfo->fn_mcxt);
	fattening = fcinfo->flinfo->fn_extra;

	desc = RelationGetDescr(trigger->tg_relation);
	row = TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple
													 : trigger->tg_trigtuple;
	fat = heap_getattr(row, fattening->fat, desc, &no_fat);
	tight = heap_getattr(row, fattening->tight, desc, &no_tight);
	if (no_tight ? no_fat
				 : !no_fat && box3_contains(DatumGetBox3P(fat), DatumGetBox3P(tight)))
		return PointerGetDatum(row);

	if (!no_tight)
	{
		if (fattening->displacement > 0)
			displacement = heap_getattr(row,
										fattening->displacement,
										desc,
										&no_displacement);
		fat = PointerGetDatum(
			new_fat_box(DatumGetBox3P(tight),
						fattening->margin,
						no_displacement ? NULL : DatumGetArrayTypeP(displacement)));
	}
	row = heap_modify_tuple_by_cols(row,
									desc,
									1,
									(int[]){fattening->fat},
									&fat,
									&no_tight);
	return PointerGetDatum(row);
}
