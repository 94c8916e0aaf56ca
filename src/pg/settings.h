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

extern bool bvh_enable_join;

extern void bvh_define_settings(void);

#endif /* BVH_SETTINGS_H */
