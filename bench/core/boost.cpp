/*-------------------------------------------------------------------------
 *
 * boost.cpp
 *	  Boost.Geometry's R-tree (R*, packed on construction) for the bench.
 *
 * SPDX-License-Identifier: PostgreSQL
 *-------------------------------------------------------------------------
 */
#include "peers.h"

#include <boost/geometry.hpp>
#include <boost/geometry/index/rtree.hpp>

#include <cmath>
#include <memory>
#include <vector>

namespace bg = boost::geometry;
namespace bgi = boost::geometry::index;

using Point = bg::model::point<double, 3, bg::cs::cartesian>;
using Box = bg::model::box<Point>;
using Value = std::pair<Box, uint32_t>;
using Tree = bgi::rtree<Value, bgi::rstar<16>>;

static std::unique_ptr<Tree> tree;

static Box
to_box(const PeerBox b)
{
	return Box(Point(b[0], b[1], b[2]), Point(b[3], b[4], b[5]));
}

void
boost_build(const PeerBox *boxes, size_t n)
{
	std::vector<Value> values;

	values.reserve(n);
	for (size_t i = 0; i < n; i++)
		values.emplace_back(to_box(boxes[i]), static_cast<uint32_t>(i));
	tree.reset(new Tree(values.begin(), values.end()));
}

uint64_t
boost_overlaps(const PeerBox *probes, size_t n)
{
	std::vector<Value> found;
	uint64_t nfound = 0;

	for (size_t i = 0; i < n; i++)
	{
		found.clear();
		tree->query(bgi::intersects(to_box(probes[i])), std::back_inserter(found));
		nfound += found.size();
	}
	return nfound;
}

uint64_t
boost_nearest(const PeerBox *probes, size_t n, int k, double *sum)
{
	std::vector<Value> found;
	uint64_t nfound = 0;

	*sum = 0.0;
	for (size_t i = 0; i < n; i++)
	{
		Point at(probes[i][0], probes[i][1], probes[i][2]);

		found.clear();
		tree->query(bgi::nearest(at, static_cast<unsigned>(k)), std::back_inserter(found));
		for (const Value &value : found)
			*sum += bg::distance(at, value.first);
		nfound += found.size();
	}
	return nfound;
}

uint64_t
boost_pairs(const PeerBox *boxes, size_t n)
{
	std::vector<Value> found;
	uint64_t nfound = 0;

	for (size_t i = 0; i < n; i++)
	{
		found.clear();
		tree->query(bgi::intersects(to_box(boxes[i])), std::back_inserter(found));
		for (const Value &value : found)
			nfound += value.second > i;
	}
	return nfound;
}

void
boost_insert(const PeerBox *boxes, size_t n)
{
	tree.reset(new Tree());
	for (size_t i = 0; i < n; i++)
		tree->insert(Value(to_box(boxes[i]), static_cast<uint32_t>(i)));
}

void
boost_move(const PeerBox *from, const PeerBox *to, const uint32_t *which, size_t n)
{
	for (size_t k = 0; k < n; k++)
	{
		uint32_t i = which[k];

		tree->remove(Value(to_box(from[i]), i));
		tree->insert(Value(to_box(to[i]), i));
	}
}

uint64_t
boost_remove(const PeerBox *boxes, size_t n)
{
	uint64_t nremoved = 0;

	for (size_t i = 0; i < n; i++)
		nremoved += tree->remove(Value(to_box(boxes[i]), static_cast<uint32_t>(i)));
	return nremoved;
}
