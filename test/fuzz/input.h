/*-------------------------------------------------------------------------
 *
 * input.h
 *	  Boxes from the bytes of a fuzzer.
 *
 * A coordinate is two bytes, the upper ones of a double: sign, exponent and
 * four bits of mantissa.  That reaches every magnitude, infinities, denormals
 * and ties, with inputs that stay small.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TEST_INPUT_H
#define BVH_TEST_INPUT_H

#include <stdlib.h>
#include <string.h>

#include "core/box3.h"

#define BYTES_PER_BOX 12

typedef struct Input
{
	const uint8_t *at;
	size_t left;
} Input;

static inline void
promise(bool kept)
{
	if (!kept)
		abort();
}

/* 0 behind the end */
static inline uint8_t
take_byte(Input *input)
{
	if (input->left == 0)
		return 0;
	input->left--;
	return *input->at++;
}

static inline double
take_coordinate(Input *input)
{
	uint64_t bits = take_byte(input);
	double x;

	bits = (bits << 8 | take_byte(input)) << 48;
	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* false behind the end, and for NaN */
static inline bool
take_box(Input *input, Box3 *box)
{
	double p[3];
	double q[3];

	if (input->left < BYTES_PER_BOX)
		return false;
	for (int d = 0; d < 3; d++)
		p[d] = take_coordinate(input);
	for (int d = 0; d < 3; d++)
		q[d] = take_coordinate(input);
	return box3_from_corners(p, q, box);
}

#endif /* BVH_TEST_INPUT_H */
