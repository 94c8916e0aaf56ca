/*-------------------------------------------------------------------------
 *
 * kernels.c
 *	  The versions of the kernels that this build has, and the one in use.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "core/simd/kernels.h"

#include <string.h>

/* best first */
static const BvhKernels *const built_in[] = {
#if defined(__x86_64__)
	&bvh_kernels_avx512,
	&bvh_kernels_avx2,
#elif defined(__aarch64__)
	&bvh_kernels_neon,
#endif
	&bvh_kernels_scalar,
};

const BvhKernels *bvh_kernels = &bvh_kernels_scalar;

size_t
bvh_kernels_count(void)
{
	return sizeof(built_in) / sizeof(built_in[0]);
}

/* bvh_kernels_nth --- NULL for a version that cannot run on this machine */
const BvhKernels *
bvh_kernels_nth(size_t i)
{
	return i < bvh_kernels_count() && built_in[i]->usable() ? built_in[i] : NULL;
}

/*
 * bvh_kernels_find --- the version of that name, or the best for NULL
 *
 * NULL when it is not built or cannot run on this machine.
 */
const BvhKernels *
bvh_kernels_find(const char *name)
{
	for (size_t i = 0; i < bvh_kernels_count(); i++)
	{
		const BvhKernels *kernels = bvh_kernels_nth(i);

		if (kernels != NULL && (name == NULL || strcmp(name, kernels->name) == 0))
			return kernels;
	}
	return NULL;
}

void
bvh_kernels_use(const BvhKernels *kernels)
{
	bvh_kernels = kernels;
}
