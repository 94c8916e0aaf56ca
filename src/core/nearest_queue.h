/*-------------------------------------------------------------------------
 *
 * nearest_queue.h
 *	  The queue of a search by distance: a heap that grows.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_NEAREST_QUEUE_H
#define BVH_NEAREST_QUEUE_H

#include <string.h>

#include "core/tree.h"

/* children of an entry of the queue: four are a cache line and a half */
#define QUEUE_FANOUT 4

/* does an entry stand for a box?  So the uppermost bit of its ref says. */
static inline bool
queue_is_box(const BvhNearestEntry *entry)
{
	return entry->ref >> 31 != 0;
}

/* nearer first; then what may hide something as near; then by id */
static inline bool
queue_comes_first(const BvhNearestEntry *a, const BvhNearestEntry *b)
{
	if (a->distance != b->distance)
		return a->distance < b->distance;
	if (queue_is_box(a) != queue_is_box(b))
		return queue_is_box(b);
	return a->id < b->id;
}

/* put an entry where the hole is, or further down */
static inline void
queue_sift_down(BvhNearestQueue *queue, size_t hole, BvhNearestEntry entry)
{
	BvhNearestEntry *entries = queue->entries;

	for (;;)
	{
		size_t child = QUEUE_FANOUT * hole + 1;
		size_t end = child + QUEUE_FANOUT < queue->n ? child + QUEUE_FANOUT : queue->n;
		size_t first = child;

		if (child >= queue->n)
			break;
		for (size_t i = child + 1; i < end; i++)
			if (queue_comes_first(&entries[i], &entries[first]))
				first = i;
		if (!queue_comes_first(&entries[first], &entry))
			break;
		entries[hole] = entries[first];
		hole = first;
	}
	entries[hole] = entry;
}

/* there is room for it */
static inline void
queue_push(BvhNearestQueue *queue, BvhNearestEntry entry)
{
	BvhNearestEntry *entries = queue->entries;
	size_t hole = queue->n++;

	while (hole > 0)
	{
		size_t parent = (hole - 1) / QUEUE_FANOUT;

		if (!queue_comes_first(&entry, &entries[parent]))
			break;
		entries[hole] = entries[parent];
		hole = parent;
	}
	entries[hole] = entry;
}

/* take the first entry off */
static inline void
queue_pop(BvhNearestQueue *queue)
{
	queue->n--;
	if (queue->n > 0)
		queue_sift_down(queue, 0, queue->entries[queue->n]);
}

static inline void
queue_begin(BvhNearestQueue *queue, const BvhEnv *env)
{
	queue->env = env;
	queue->entries = queue->inline_entries;
	queue->size = BVH_NEAREST_INLINE;
	queue->n = 0;
}

/* release what the queue holds; harmless when it holds nothing */
static inline void
queue_end(BvhNearestQueue *queue)
{
	if (queue->entries != queue->inline_entries)
		queue->env->release(queue->env->context, queue->entries);
	queue_begin(queue, queue->env);
}

/* room for so many more; without memory, the search is over */
static inline BvhStatus
queue_make_room(BvhNearestQueue *queue, size_t most)
{
	const BvhEnv *env = queue->env;
	BvhNearestEntry *larger;

	if (queue->n + most <= queue->size)
		return BVH_OK;
	larger = env->alloc(env->context, 2 * queue->size * sizeof(BvhNearestEntry));
	if (larger == NULL)
	{
		queue_end(queue);
		return BVH_NO_MEMORY;
	}
	memcpy(larger, queue->entries, queue->n * sizeof(BvhNearestEntry));
	if (queue->entries != queue->inline_entries)
		env->release(env->context, queue->entries);
	queue->entries = larger;
	queue->size *= 2;
	return BVH_OK;
}

#endif /* BVH_NEAREST_QUEUE_H */
