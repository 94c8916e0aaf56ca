/*-------------------------------------------------------------------------
 *
 * peers.h
 *	  What the libraries that the core is measured against can do.
 *
 * Each function does the work once and returns how many were found; the caller
 * takes the time.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#ifndef BVH_BENCH_PEERS_H
#define BVH_BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C"
{
#endif

	/* lo.x, lo.y, lo.z, hi.x, hi.y, hi.z */
	typedef double PeerBox[6];

#ifdef HAVE_BOOST
	extern void boost_build(const PeerBox *boxes, size_t n);
	extern uint64_t boost_overlaps(const PeerBox *probes, size_t n);
	extern uint64_t boost_nearest(const PeerBox *probes, size_t n, int k, double *sum);
	extern uint64_t boost_pairs(const PeerBox *boxes, size_t n);

	/* one by one: box i is value i */
	extern void boost_insert(const PeerBox *boxes, size_t n);
	extern void boost_move(const PeerBox *from, const PeerBox *to, const uint32_t *which,
						   size_t n);
	extern uint64_t boost_remove(const PeerBox *boxes, size_t n);
#endif

#ifdef HAVE_EMBREE
	extern void embree_build(const PeerBox *boxes, size_t n);
	extern uint64_t embree_pairs(const PeerBox *boxes);
	/* origin and direction; how many hit anything */
	extern uint64_t embree_first_hits(const PeerBox *rays, size_t n);
#endif

#ifdef __cplusplus
}
#endif

#endif /* BVH_BENCH_PEERS_H */
