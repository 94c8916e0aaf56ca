/*-------------------------------------------------------------------------
 *
 * replay.c
 *	  Runs one fuzz target over the files named on the command line.
 *
 * Every file is one TAP test.  That it returns at all is the test: a target
 * aborts when a promise is broken, and prove(1) reports the missing rest.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* a copy of exactly the file's size, so that a sanitizer sees the first byte past it */
static uint8_t *
read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long length;

	if (file == NULL)
		return NULL;
	if (fseek(file, 0, SEEK_END) == 0 && (length = ftell(file)) >= 0 &&
		fseek(file, 0, SEEK_SET) == 0)
	{
		data = malloc(length > 0 ? (size_t) length : 1);
		*size = (size_t) length;
		if (data != NULL && fread(data, 1, *size, file) != *size)
		{
			free(data);
			data = NULL;
		}
	}
	fclose(file);
	return data;
}

int
main(int argc, char **argv)
{
	int nfailed = 0;

	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++)
	{
		const char *name = strrchr(argv[i], '/');
		size_t size = 0;
		uint8_t *data = read_file(argv[i], &size);

		name = name != NULL ? name + 1 : argv[i];

		/* printed before the run: what was tried last is what crashed */
		printf("# %s\n", name);
		fflush(stdout);
		if (data == NULL)
			nfailed++;
		else
			LLVMFuzzerTestOneInput(data, size);
		printf("%s %d - %s\n", data != NULL ? "ok" : "not ok", i, name);
		free(data);
	}
	return nfailed > 0;
}
