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
#include "access/parallel.h"
#include "executor/tuptable.h"
#include "nodes/execnodes.h"
#include "storage/buffile.h"

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
	uint64 *copies; /* of rows from a file; see join_spill.c */
	size_t n;
	size_t size;
	RowArena arena;
	BvhTree *tree;
} OuterRows;

/* a place in a temporary file */
typedef struct SpillPlace
{
	int fileno;
	off_t offset;
} SpillPlace;

/* a temporary file of many streams of rows; see join_file.c */
typedef struct SpillFile
{
	BufFile *file;
	SpillPlace end;
	Size block_size; /* of the buffer of a stream that is being written */
} SpillFile;

/* rows in a spill file, in no particular order */
typedef struct SpillStream
{
	uint64 nrows;
	Size nbytes;     /* of the rows as they will be in memory */
	SpillPlace last; /* block, from which the others are found */
	bool has_blocks;
	char *buffer;
	Size used;
} SpillStream;

typedef struct SpillReader
{
	SpillFile *file;
	SpillPlace next; /* row of the block */
	SpillPlace previous;
	bool has_previous;
	Size left; /* bytes of the block */
} SpillReader;

/* what is known of a row in a file, before the row itself */
typedef struct SpillRow
{
	JoinBox box;
	uint64 copy; /* of an outer row: 0 if there is no other, else see join_spill.c */
	Size size;   /* of the kept row, which may be none */
} SpillRow;

/* inner rows that fit into memory, and the outer rows that may match them */
typedef struct SpillPart
{
	Box3 bounds; /* of the inner rows */
	SpillStream inner;
	SpillStream outer;
} SpillPart;

/* both inputs, when the inner one does not fit into memory */
typedef struct JoinSpill
{
	SpillFile inner;
	SpillFile outer;
	SpillPart *parts;
	int nparts;
	int max_parts;
	BvhTree *tree;        /* over the bounds of the parts; ids are their numbers */
	SpillStream everyone; /* outer rows that may match rows of very many parts */
	SpillStream visiting; /* those of them that the present part has not itself */
	uint64 ncopied;       /* outer rows in more than one part */
	uint8 *matched;       /* a bit for each of them */
	uint64 matched_size;

	int part; /* whose inner rows are in memory; -1 before the first */
	bool reads_everyone;
	SpillReader reader;
	uint64 nleft; /* rows of the stream that are to be read */
} JoinSpill;

typedef enum JoinPhase
{
	JOIN_START,
	JOIN_NEXT_BATCH,
	JOIN_PAIRS,
	JOIN_UNMATCHED,
	JOIN_NEXT_PART,
	JOIN_SELF_PAIRS,
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

/* the counters of workers, in shared memory */
typedef struct JoinShared
{
	int nworkers;
	JoinCounters workers[FLEXIBLE_ARRAY_MEMBER];
} JoinShared;

typedef struct BvhJoinState
{
	CustomScanState custom; /* must be first */

	JoinType jointype;
	BvhOp op;
	bool outer_is_left;
	bool inner_unique;
	bool is_of_same_rows; /* does the outer input give the inner rows once more? */
	bool reads_once;      /* and is it not read then, not even when there are files? */
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
	bool is_exchanged;    /* was the last pair the one before in the other order? */
	uint64 nwasted;       /* pairs of outer rows that had their match, in this batch */
	size_t outer_in_slot; /* which row the slot holds */
	size_t next_unmatched;

	JoinCounters counters;
	JoinShared *shared;   /* NULL without workers */
	JoinCounters workers; /* of all of them */
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
extern bool bvh_join_fits(const BvhJoinState *state, uint64 nrows, Size bytes);
extern bool bvh_join_is_full(const BvhJoinState *state);
extern bool bvh_join_read_inner(BvhJoinState *state);
extern void bvh_join_build(BvhJoinState *state);
extern bool bvh_join_is_by_rows(const BvhJoinState *state);
extern size_t bvh_join_outer_room(const BvhJoinState *state, Size *bytes);
extern bool bvh_join_read_outer(BvhJoinState *state);

/* join_pairs.c */
extern void bvh_join_query_box(const BvhJoinState *state, const JoinBox *outer,
							   Box3 *query);
extern void bvh_join_begin_pairs(BvhJoinState *state);
extern TupleTableSlot *bvh_join_pairs(BvhJoinState *state);
extern TupleTableSlot *bvh_join_unmatched(BvhJoinState *state);
extern void bvh_join_begin_self_pairs(BvhJoinState *state);
extern TupleTableSlot *bvh_join_self_pairs(BvhJoinState *state);

/* join_file.c */
extern void bvh_file_create(SpillFile *file, const BvhMemory *memory, Size block_size);
extern void bvh_file_close(SpillFile *file);
extern void bvh_stream_put(SpillFile *file, SpillStream *stream, BvhMemory *memory,
						   const SpillRow *row, const void *bytes);
extern void bvh_stream_finish(SpillFile *file, SpillStream *stream, BvhMemory *memory);
extern void bvh_reader_begin(SpillReader *reader, SpillFile *file,
							 const SpillStream *stream);
extern bool bvh_reader_next(SpillReader *reader, SpillRow *row);
extern void bvh_reader_take(SpillReader *reader, void *bytes, Size size);

/* join_spill.c */
extern void bvh_spill_inner(BvhJoinState *state);
extern void bvh_spill_outer(BvhJoinState *state);
extern bool bvh_spill_next_batch(BvhJoinState *state);
extern void bvh_spill_begin_parts(BvhJoinState *state);
extern bool bvh_spill_next_part(BvhJoinState *state);
extern void bvh_spill_keep_matched(BvhJoinState *state);
extern bool bvh_spill_is_decided(const BvhJoinState *state, size_t row);
extern void bvh_spill_end(BvhJoinState *state);

/* join_explain.c */
extern Size bvh_join_estimate_shared(CustomScanState *node, ParallelContext *pcxt);
extern void bvh_join_init_shared(CustomScanState *node, ParallelContext *pcxt,
								 void *coordinate);
extern void bvh_join_reinit_shared(CustomScanState *node, ParallelContext *pcxt,
								   void *coordinate);
extern void bvh_join_find_shared(CustomScanState *node, shm_toc *toc, void *coordinate);
extern void bvh_join_share(CustomScanState *node);
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
