/*-------------------------------------------------------------------------
 *
 * join_state.h
 *	  What a running BVH Join holds.
 *
 * Include after postgres.h.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_JOIN_STATE_H
#define BVH_JOIN_STATE_H

#include "access/htup.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "storage/buffile.h"
#include "utils/tuplesort.h"

#include "core/hilbert.h"
#include "core/tree.h"
#include "join/join.h"
#include "pg/bridge.h"

/* pairs taken from the tree at once */
#define BVH_JOIN_PAIRS 1024

/* the columns of one input that are needed after its row has been read */
typedef struct JoinSide
{
	int ncolumns;
	AttrNumber *columns; /* of the input's row */
	AttrNumber last;     /* the largest of them */
	Datum *values;
	bool *isnull;
	TupleDesc desc;
	TupleTableSlot *slot; /* holds a kept row while it is looked at */
} JoinSide;

/* memory for rows, given back as a whole */
typedef struct RowArena
{
	BvhMemory *memory;
	Size chunk_size; /* of the next one */
	Size max_chunk_size;
	struct RowChunk *chunks;
	char *next;
	char *end;
	Size size; /* of all chunks */
} RowArena;

/* inner rows in memory, and the tree over their boxes */
typedef struct InnerRows
{
	BvhItem *items; /* the id is the address of the row */
	size_t n;
	size_t size;
	RowArena arena;
	BvhTree *tree;
} InnerRows;

/* what is read of a row, beside columns; 64 bytes */
typedef struct JoinBox
{
	Box3 box;      /* NaN in the first bound of an outer row asks for nothing */
	double radius; /* of an outer row, for box3d_dwithin() */
	int64 number;  /* to be compared */
} JoinBox;

/* a condition between two integers, with that of the outer side on the left */
typedef enum JoinComparison
{
	COMPARE_NOTHING,
	COMPARE_LESS,
	COMPARE_LESS_EQUAL,
	COMPARE_GREATER,
	COMPARE_GREATER_EQUAL,
	COMPARE_NOT_EQUAL
} JoinComparison;

/* outer rows in memory */
typedef struct OuterRows
{
	JoinBox *boxes;
	MinimalTuple *rows;
	uint8 *matched; /* a bit for each */
	size_t n;
	size_t size;
	RowArena arena;
	BvhTree *tree;
} OuterRows;

/* consecutive blocks of the file of outer rows */
typedef struct OuterExtent
{
	Box3 bounds; /* of what their rows ask for */
	bool has_box;
	int fileno;
	off_t offset;
	int64 nblocks;
} OuterExtent;

/* both inputs, when the inner one does not fit into memory */
typedef struct JoinSpill
{
	BufFile *inner;
	int inner_fileno; /* where the next chunk starts */
	off_t inner_offset;

	BufFile *outer;
	OuterExtent *extents;
	int64 nextents;
	int64 max_extents; /* even */
	int64 blocks_per_extent;
	int64 extent; /* being read, and */
	int64 block;  /* the next one of it, which is at */
	int fileno;
	off_t offset;
	int matched_fileno; /* of the matched bits of the block in memory */
	off_t matched_offset;
} JoinSpill;

typedef enum JoinPhase
{
	JOIN_START,
	JOIN_NEXT_BATCH,
	JOIN_PAIRS,
	JOIN_UNMATCHED,
	JOIN_DONE
} JoinPhase;

/* for EXPLAIN ANALYZE */
typedef struct JoinCounters
{
	uint64 nboxes;
	uint64 nnodes;
	int height;
	Size memory;
	uint64 npasses;
	uint64 ntests; /* of nodes and blocks */
} JoinCounters;

typedef struct BvhJoinState
{
	CustomScanState custom; /* must be first */

	JoinType jointype;
	BvhOp op;
	bool outer_is_left;
	bool inner_unique;
	bool single_match;    /* an outer row is done with at its first match */
	bool null_extends;    /* LEFT and ANTI: rows without a match come out, too */
	bool marks_matched;   /* is it of interest whether a row had a match? */
	bool implies_overlap; /* do two rows that match overlap, or what they ask for? */
	bool is_dense; /* has a row so many matches that one search finds one soonest? */
	bool by_rows;  /* each outer row searches by itself, else a tree over all of them */

	ExprState *outer_key;
	ExprState *inner_key;
	ExprState *radius; /* only for box3d_dwithin() */
	ExprState *joinqual;
	JoinComparison comparison; /* a join condition that is not in joinqual */
	int outer_number;          /* columns of the inputs that it compares */
	int inner_number;
	bool is_bigint;
	Size prefix;             /* bytes before each kept inner row */
	Bitmapset *inner_params; /* that inner_key depends on */
	JoinSide outer;
	JoinSide inner;
	TupleTableSlot *null_slot; /* in place of an inner row */

	BvhMemory memory;
	BvhEnv env;
	Size limit;

	JoinPhase phase;
	bool inner_ready;     /* is the inner input in memory, or in a file? */
	bool outer_done;      /* has the outer plan ended? */
	bool last_pass;       /* through the file of outer rows, for those unmatched */
	size_t expected_rows; /* of the inner side, by the planner's estimate */
	size_t batch_rows;
	InnerRows inner_rows;
	OuterRows outer_rows;
	JoinSpill *spill;

	/* pairs by a walk through two trees */
	BvhPairs *pairs;
	bool pairs_are_open; /* are there more? */
	BvhPair *found;      /* BVH_JOIN_PAIRS */

	/* or by searches, one for each outer row */
	BvhRangeQuery query;
	bool query_is_open;
	size_t query_row; /* whose search it is, and was last */
	size_t next_row;
	uint64 *found_ids; /* BVH_JOIN_PAIRS */

	size_t nfound;
	size_t next_found;
	uint64 nwasted;       /* pairs of outer rows that had their match, in this batch */
	size_t outer_in_slot; /* which row the slot holds */
	size_t next_unmatched;

	JoinCounters counters;
} BvhJoinState;

/* join_rows.c */
extern void bvh_arena_init(RowArena *arena, BvhMemory *memory, Size limit);
extern void *bvh_arena_alloc(RowArena *arena, Size size);
extern void bvh_arena_rewind(RowArena *arena);
extern void bvh_arena_reset(RowArena *arena);
extern void bvh_side_init(JoinSide *side, EState *estate, TupleDesc input,
						  const Bitmapset *columns);
extern MinimalTuple bvh_row_keep(JoinSide *side, TupleTableSlot *input, RowArena *arena,
								 Size room_before);
extern void bvh_row_show(JoinSide *side, MinimalTuple row);
extern void bvh_inner_reserve(InnerRows *rows, BvhMemory *memory, size_t n);
extern void bvh_inner_add(InnerRows *rows, BvhMemory *memory, const Box3 *box, void *row);
extern void bvh_inner_reset(InnerRows *rows, BvhEnv *env, BvhMemory *memory);
extern void bvh_outer_reserve(OuterRows *rows, BvhMemory *memory, size_t n);
extern void bvh_outer_add(OuterRows *rows, BvhMemory *memory, const JoinBox *box,
						  MinimalTuple row);
extern void bvh_outer_reset(OuterRows *rows, BvhEnv *env);
extern void bvh_outer_free(OuterRows *rows, BvhEnv *env, BvhMemory *memory);

/* join_expr.c */
extern void bvh_join_init_expressions(BvhJoinState *state, EState *estate);

/* join_input.c */
extern TupleTableSlot *bvh_join_next_inner(BvhJoinState *state, JoinBox *box);
extern TupleTableSlot *bvh_join_next_outer(BvhJoinState *state, JoinBox *box);
extern void bvh_join_put_prefix(const BvhJoinState *state, char *row, const JoinBox *box);
extern void bvh_join_keep_inner(BvhJoinState *state, TupleTableSlot *slot,
								const JoinBox *box);
extern bool bvh_join_is_full(const BvhJoinState *state);
extern bool bvh_join_read_inner(BvhJoinState *state);
extern void bvh_join_build(BvhJoinState *state);
extern size_t bvh_join_outer_room(const BvhJoinState *state, Size *bytes);
extern bool bvh_join_read_outer(BvhJoinState *state);

/* join_pairs.c */
extern void bvh_join_query_box(const BvhJoinState *state, const JoinBox *outer,
							   Box3 *query);
extern void bvh_join_begin_pairs(BvhJoinState *state);
extern TupleTableSlot *bvh_join_pairs(BvhJoinState *state);
extern TupleTableSlot *bvh_join_unmatched(BvhJoinState *state);

/* join_spill.c */
extern void bvh_spill_inner(BvhJoinState *state);
extern void bvh_spill_outer(BvhJoinState *state);
extern bool bvh_spill_next_chunk(BvhJoinState *state);
extern void bvh_spill_rewind(BvhJoinState *state);
extern bool bvh_spill_next_block(BvhJoinState *state);
extern void bvh_spill_keep_matched(BvhJoinState *state);
extern void bvh_spill_end(BvhJoinState *state);

/* join_explain.c */
extern void bvh_join_explain(CustomScanState *node, List *ancestors, ExplainState *es);

static inline bool
outer_asks(const JoinBox *box)
{
	return box->box.lo[0] == box->box.lo[0];
}

static inline bool
is_matched(const OuterRows *rows, size_t i)
{
	return (rows->matched[i / 8] >> (i % 8)) & 1;
}

static inline void
set_matched(OuterRows *rows, size_t i)
{
	rows->matched[i / 8] |= (uint8) (1 << (i % 8));
}

#endif /* BVH_JOIN_STATE_H */
