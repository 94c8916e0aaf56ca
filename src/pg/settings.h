/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  The settings (GUCs) of the extension.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_SETTINGS_H
#define BVH_SETTINGS_H

typedef enum BvhUseCache
{
	BVH_CACHE_OFF,
	BVH_CACHE_ON,
	BVH_CACHE_ALWAYS /* scans build what they miss */
} BvhUseCache;

extern int bvh_cache_min_pages; /* of an index that is cached by itself */
extern int bvh_cache_size;      /* in kB, 0: no cache */
extern bool bvh_enable_join;
extern int bvh_use_cache;

extern void bvh_define_settings(void);

#endif /* BVH_SETTINGS_H */
