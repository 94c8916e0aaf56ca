/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Fuzz target: any boxes divided in two.
 *
 * The first byte is the least fill, the others are boxes.  Both halves are
 * full enough, none is lost, and the same boxes are divided alike again.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/split.h"
#include "input.h"

#define MOST 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int
divide(const Box3 *boxes, int n, double min_fill, SplitItem *items)
{
	for (int i = 0; i < n; i++)
	{
		items[i].box = boxes[i];
		items[i].number = i;
	}
	return bvh_split(items, n, min_fill);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input input = {data, size};
	double min_fill = take_byte(&input) % 50 / 100.0;
	static Box3 boxes[MOST];
	bool seen[MOST] = {false};
	SplitItem *items;
	SplitItem *again;
	int n = 0;
	int nleft;

	while (n < MOST && take_box(&input, &boxes[n]))
		n++;
	if (n < 2)
		return 0;

	/* just as many as there are, so that a sanitizer sees one more */
	items = malloc(n * sizeof(SplitItem));
	again = malloc(n * sizeof(SplitItem));
	promise(items != NULL && again != NULL);

	nleft = divide(boxes, n, min_fill, items);
	promise(nleft >= 1 && nleft <= n - 1);
	promise(nleft >= (int) (min_fill * n) && n - nleft >= (int) (min_fill * n));
	promise(divide(boxes, n, min_fill, again) == nleft);
	for (int i = 0; i < n; i++)
	{
		int number = items[i].number;

		promise(number >= 0 && number < n && !seen[number]);
		seen[number] = true;
		promise(again[i].number == number);
	}
	free(items);
	free(again);
	return 0;
}
