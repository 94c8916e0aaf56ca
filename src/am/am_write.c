/*-------------------------------------------------------------------------
 *
 * am_write.c
 *	  Writing the pages of a new index, in the order of their blocks.
 *
 * Pages go to the file directly, past shared buffers: each is written once,
 * and nobody else can read the index yet.  A batch is first written, which
 * also asks the next checkpoint to sync the file, and then logged as full
 * pages.  So a checkpoint that starts between the two replays the pages, and
 * one that starts later has synced them.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

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
	return writer;
}

static Page
batch_page(const BvhWriter *writer, int i)
{
	return (Page) (writer->pages + (Size) i * BLCKSZ);
}

/* log pages that are in the file already */
static void
log_pages(BvhWriter *writer, int first, int n, BlockNumber blkno)
{
	BlockNumber blknos[BATCH];
	Page pages[BATCH];

	if (!RelationNeedsWAL(writer->index))
		return;
	for (int i = 0; i < n; i++)
	{
		blknos[i] = blkno + i;
		pages[i] = batch_page(writer, first + i);
	}
	log_newpages(&bvh_relation_locator(writer->index),
				 MAIN_FORKNUM,
				 n,
				 blknos,
				 pages,
				 true);
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
	for (int i = 0; i < writer->npages; i++)
	{
		Page page = batch_page(writer, i);

		/* as for all pages of a build, see GistBuildLSN */
		PageSetLSN(page, GistBuildLSN);
		bvh_set_checksum(page, writer->first_blkno + i);
		smgrextend(smgr, MAIN_FORKNUM, writer->first_blkno + i, (char *) page, false);
	}
	log_pages(writer, 0, writer->npages, writer->first_blkno);
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

	PageSetLSN(root, GistBuildLSN);
	bvh_set_checksum(root, GIST_ROOT_BLKNO);
	if (writer->first_blkno == GIST_ROOT_BLKNO + 1)
		smgrextend(smgr, MAIN_FORKNUM, GIST_ROOT_BLKNO, (char *) root, false);
	else
		smgrwrite(smgr, MAIN_FORKNUM, GIST_ROOT_BLKNO, (char *) root, false);
	log_pages(writer, BATCH, 1, GIST_ROOT_BLKNO);
}
