/*-------------------------------------------------------------------------
 *
 * tap.h
 *	  Results of a test program in the Test Anything Protocol.
 *
 * OK(condition, "name", ...) is one test.  A property checked over many
 * inputs is one test, too: it returns after FAIL() at the first input that
 * breaks it, with NOTE()s that show the input, and ends with PASS().
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_TEST_TAP_H
#define BVH_TEST_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_count;
static int tap_nfailed;

__attribute__((format(printf, 2, 3))) static inline bool
tap_result(bool passed, const char *format, ...)
{
	va_list args;

	printf("%s %d - ", passed ? "ok" : "not ok", ++tap_count);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	/* what a crash leaves behind says how far it came */
	fflush(stdout);
	tap_nfailed += !passed;
	return passed;
}

/* the last statement of main(): prints the plan, gives the exit status */
static inline int
tap_done(void)
{
	printf("1..%d\n", tap_count);
	return tap_nfailed > 0;
}

#define PASS(...) tap_result(true, __VA_ARGS__)
#define FAIL(...) tap_result(false, __VA_ARGS__)

/* a line about the result before it */
#define NOTE(format, ...) printf("#   " format "\n", __VA_ARGS__)

#define OK(condition, ...)                                                               \
	do                                                                                   \
	{                                                                                    \
		if (!tap_result((condition), __VA_ARGS__))                                       \
			NOTE("at %s:%d: %s", __FILE__, __LINE__, #condition);                        \
	} while (0)

#endif /* BVH_TEST_TAP_H */
