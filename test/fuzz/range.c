/*-------------------------------------------------------------------------
 *
 * range.c
 *	  Fuzz target: any operator and boxes.
 *
 * A byte names the operator, the next its direction; a query box follows, and
 * boxes below one node.  A box is in range when it matches, at every kernel;
 * and when one is, the node is.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool
in_range(const Box3 *box, const BoxRange *range)
{
	bool hit = box3_in_range(box, range);

	for (size_t i = 0; i < bvh_kernels_count(); i++)
	{
		const BvhKernels *kernels = bvh_kernels_nth(i);

		promise(kernels == NULL || kernels->in_range(box, range) == hit);
	}
	return hit;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	Input input = {data, size};
	BvhOp op = (BvhOp) (take_byte(&input) % 40);
	bool reversed = take_byte(&input) & 1;
	Box3 query;
	Box3 box;
	Box3 node;
	BoxRange range;
	BoxRange node_range;
	bool filters;
	bool any = false;
	int n = 0;

	if (!take_box(&input, &query))
		return 0;
	filters = box3_range(op, reversed, &query, &range);
	box3_node_range(&range, &node_range);
	for (; take_box(&input, &box); n++)
	{
		bool hit = in_range(&box, &range);

		if (filters)
			promise(hit == (reversed ? box3_matches(&query, op, &box)
									 : box3_matches(&box, op, &query)));
		else
			promise(hit);
		any |= hit;
		if (n == 0)
			node = box;
		box3_include(&node, &box);
	}
	if (n > 0)
		promise(!any || in_range(&node, &node_range));
	return 0;
}
