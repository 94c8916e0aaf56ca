/*-------------------------------------------------------------------------
 *
 * am_write.c
 *	  Writing the pages of a new index, in the order of their blocks.
 *
 * Pages go to the file directly, past shared buffers: each is written once,
 * and nobody else can read the index yet.  A batch is logged as full pages,
 * which gives the pages their LSN, so that the first change to one after the
 * build need not log all of it again.  Then it is written, which asks the next
 * checkpoint to sync the file.  A checkpoint that starts between the two would
 * neither replay the batch nor sync it; so if one has started meanwhile, the
 * file is synced in the end.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "access/xlogrecord.h"
#include "storage/bufpage.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "am/bvh.h"
#include "pg/compat.h"

/* as many as one WAL record takes */
#define BATCH XLR_MAX_BLOCK_ID

/* as direct I/O wants it */
#define IO_ALIGNMENT 4096

struct BvhWriter
{
	Relation index;
	char *pages;             /* BATCH of them, then the root */
	int npages;              /* handed out since the last flush */
	BlockNumber first_blkno; /* of those */
	XLogRecPtr redo_at_start;
};

BvhWriter *
bvh_write_begin(Relation index)
{
	BvhWriter *writer = palloc(sizeof(BvhWriter));

	writer->index = index;
	writer->pages = (char *) TYPEALIGN(IO_ALIGNMENT,
									   palloc((BATCH + 1) * BLCKSZ + IO_ALIGNMENT));
	writer->npages = 0;
	writer->first_blkno = GIST_ROOT_BLKNO + 1;
	writer->redo_at_start = GetRedoRecPtr();
	return writer;
}

static Page
batch_page(const BvhWriter *writer, int i)
{
	return (Page) (writer->pages + (Size) i * BLCKSZ);
}

/* log some of the pages, and make them ready to be written */
static void
log_pages(BvhWriter *writer, int first, int n, BlockNumber blkno)
{
	BlockNumber blknos[BATCH];
	Page pages[BATCH];

	for (int i = 0; i < n; i++)
	{
		blknos[i] = blkno + i;
		pages[i] = batch_page(writer, first + i);
		/* of a build, until it is logged */
		PageSetLSN(pages[i], GistBuildLSN);
	}
	if (RelationNeedsWAL(writer->index))
		log_newpages(&bvh_relation_locator(writer->index),
					 MAIN_FORKNUM,
					 n,
					 blknos,
					 pages,
					 true);
	for (int i = 0; i < n; i++)
		bvh_set_checksum(pages[i], blknos[i]);
}

static void
flush_pages(BvhWriter *writer)
{
	SMgrRelation smgr = RelationGetSmgr(writer->index);

	if (writer->npages == 0)
		return;
	if (writer->first_blkno == GIST_ROOT_BLKNO + 1)
	{
		/* the root comes last; until then an empty page holds its place */
		Page root = batch_page(writer, BATCH);

		memset(root, 0, BLCKSZ);
		smgrextend(smgr, MAIN_FORKNUM, GIST_ROOT_BLKNO, (char *) root, false);
	}
	log_pages(writer, 0, writer->npages, writer->first_blkno);
	for (int i = 0; i < writer->npages; i++)
		smgrextend(smgr,
				   MAIN_FORKNUM,
				   writer->first_blkno + i,
				   (char *) batch_page(writer, i),
				   false);
	writer->first_blkno += writer->npages;
	writer->npages = 0;
}

/*
 * bvh_write_page --- room for the next page, which the caller fills
 *
 * It is good until the next call.
 */
Page
bvh_write_page(BvhWriter *writer, BlockNumber *blkno)
{
	if (writer->npages == BATCH)
		flush_pages(writer);
	*blkno = writer->first_blkno + writer->npages;
	return batch_page(writer, writer->npages++);
}

/* bvh_write_root --- room for the root, after all other pages */
Page
bvh_write_root(BvhWriter *writer)
{
	flush_pages(writer);
	return batch_page(writer, BATCH);
}

/* bvh_write_end --- the root is filled: the index is complete */
void
bvh_write_end(BvhWriter *writer)
{
	SMgrRelation smgr = RelationGetSmgr(writer->index);
	Page root = batch_page(writer, BATCH);

	log_pages(writer, BATCH, 1, GIST_ROOT_BLKNO);
	if (writer->first_blkno == GIST_ROOT_BLKNO + 1)
		smgrextend(smgr, MAIN_FORKNUM, GIST_ROOT_BLKNO, (char *) root, false);
	else
		smgrwrite(smgr, MAIN_FORKNUM, GIST_ROOT_BLKNO, (char *) root, false);
	if (RelationNeedsWAL(writer->index) && GetRedoRecPtr() != writer->redo_at_start)
		smgrimmedsync(smgr, MAIN_FORKNUM);
}
