/*-------------------------------------------------------------------------
 *
 * join_file.c
 *	  Temporary files of a BVH Join.
 *
 * A file has many streams of rows, in blocks.  A block is written at the end of
 * the file when its stream's buffer is full, with the place of the stream's block
 * before it; so a stream is read from its last block to its first, and needs to
 * be remembered by that one alone.  A row is in one block.
 *
 *     block:  BlockHeader, rows
 *     row:    SpillRow, the kept row
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "commands/tablespace.h"
#include "miscadmin.h"

#include "join/join_state.h"

typedef struct BlockHeader
{
	SpillPlace previous;
	bool has_previous;
	Size size; /* of the rows */
} BlockHeader;

static void
seek(BufFile *file, const SpillPlace *place)
{
	if (BufFileSeek(file, place->fileno, place->offset, SEEK_SET) != 0)
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not seek in temporary file of a join"));
}

static void
read_bytes(BufFile *file, void *bytes, Size size)
{
	if (BufFileRead(file, bytes, size) != size)
		ereport(ERROR,
				errcode_for_file_access(),
				errmsg("could not read from temporary file of a join"));
}

void
bvh_file_create(SpillFile *file, const BvhMemory *memory, Size block_size)
{
	MemoryContext old = MemoryContextSwitchTo(memory->cxt);

	PrepareTempTablespaces();
	memset(file, 0, sizeof(*file));
	file->file = BufFileCreateTemp(false);
	file->block_size = block_size;
	MemoryContextSwitchTo(old);
}

void
bvh_file_close(SpillFile *file)
{
	if (file->file != NULL)
		BufFileClose(file->file);
	file->file = NULL;
}

/* write what is in the stream's buffer, and a row of any size after that */
static void
write_block(SpillFile *file, SpillStream *stream, const SpillRow *row, const void *bytes)
{
	BlockHeader header;

	/* with all bytes, as it goes to a file */
	memset(&header, 0, sizeof(header));
	header.previous.fileno = stream->last.fileno;
	header.previous.offset = stream->last.offset;
	header.has_previous = stream->has_blocks;
	header.size = stream->used + (row != NULL ? sizeof(SpillRow) + row->size : 0);

	seek(file->file, &file->end);
	stream->last = file->end;
	stream->has_blocks = true;
	BufFileWrite(file->file, &header, sizeof(header));
	if (stream->used > 0)
		BufFileWrite(file->file, stream->buffer, stream->used);
	if (row != NULL)
	{
		/* before 16 it is not const, and never written to all the same */
		BufFileWrite(file->file, unconstify(SpillRow *, row), sizeof(SpillRow));
		if (row->size > 0)
			BufFileWrite(file->file, unconstify(void *, bytes), row->size);
	}
	BufFileTell(file->file, &file->end.fileno, &file->end.offset);
	stream->used = 0;
}

/*
 * bvh_stream_put --- add a row, whose size says how many bytes there are
 */
void
bvh_stream_put(SpillFile *file, SpillStream *stream, BvhMemory *memory,
			   const SpillRow *row, const void *bytes)
{
	Size size = sizeof(SpillRow) + row->size;

	if (stream->buffer == NULL)
		stream->buffer = bvh_memory_alloc(memory, file->block_size);
	stream->nrows++;
	if (stream->used + size > file->block_size)
	{
		write_block(file, stream, row, bytes);
		return;
	}
	memcpy(stream->buffer + stream->used, row, sizeof(SpillRow));
	if (row->size > 0)
		memcpy(stream->buffer + stream->used + sizeof(SpillRow), bytes, row->size);
	stream->used += size;
}

/* bvh_stream_finish --- no further rows */
void
bvh_stream_finish(SpillFile *file, SpillStream *stream, BvhMemory *memory)
{
	if (stream->used > 0)
		write_block(file, stream, NULL, NULL);
	if (stream->buffer != NULL)
		bvh_memory_free(memory, stream->buffer);
	stream->buffer = NULL;
}

/* bvh_reader_begin --- read a stream that is finished */
void
bvh_reader_begin(SpillReader *reader, SpillFile *file, const SpillStream *stream)
{
	memset(reader, 0, sizeof(*reader));
	reader->file = file;
	reader->previous = stream->last;
	reader->has_previous = stream->has_blocks;
}

/*
 * bvh_reader_next --- what is known of the next row; false at the end
 *
 * The row itself, if it has any bytes, must be taken next.  Several readers of a
 * file may take turns.
 */
bool
bvh_reader_next(SpillReader *reader, SpillRow *row)
{
	BufFile *file = reader->file->file;

	if (reader->left == 0)
	{
		BlockHeader header;

		if (!reader->has_previous)
			return false;
		CHECK_FOR_INTERRUPTS();
		seek(file, &reader->previous);
		read_bytes(file, &header, sizeof(header));
		reader->previous = header.previous;
		reader->has_previous = header.has_previous;
		reader->left = header.size;
	}
	else
		seek(file, &reader->next);
	read_bytes(file, row, sizeof(SpillRow));
	reader->left -= sizeof(SpillRow);
	if (row->size == 0)
		BufFileTell(file, &reader->next.fileno, &reader->next.offset);
	return true;
}

void
bvh_reader_take(SpillReader *reader, void *bytes, Size size)
{
	BufFile *file = reader->file->file;

	read_bytes(file, bytes, size);
	reader->left -= size;
	BufFileTell(file, &reader->next.fileno, &reader->next.offset);
}
