#!/bin/bash
# run.sh: the trees in memory beside Boost.Geometry's R-tree and Embree 3, in one
# run.  A library that is not installed is left out.
#
# Settings, from the environment: BOXES=1000000 ROUNDS=5 KERNELS=best
#
# Exit status: 0 also when a target is missed; 1 when two find different answers.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=tools/lib.sh
. tools/lib.sh

out=$build/bench-core
mkdir -p "$out"

# as PostgreSQL is built, and as anyone builds a program with Boost
flags=(-O2 -DNDEBUG -Isrc -Ibench/core)
have_header() { echo "#include <$1>" | "${CXX:-g++}" -x c++ -fsyntax-only - 2>/dev/null; }

libraries=(-lm)
objects=()
if have_header boost/geometry/index/rtree.hpp; then
  flags+=(-DHAVE_BOOST)
  "${CXX:-g++}" "${flags[@]}" -c -o "$out/boost.o" bench/core/boost.cpp
  objects+=("$out/boost.o")
  libraries+=(-lstdc++)
else
  echo "left out: Boost.Geometry is not installed"
fi
if have_header embree3/rtcore.h; then
  flags+=(-DHAVE_EMBREE)
  ${CC:-cc} "${flags[@]}" -c -o "$out/embree.o" bench/core/embree.c
  objects+=("$out/embree.o")
  libraries+=(-lembree3)
else
  echo "left out: Embree 3 is not installed"
fi
for bench in bench_tree bench_dynamic; do
  ${CC:-cc} -std=gnu17 -ffp-contract=off "${flags[@]}" -o "$out/$bench" \
    "bench/core/$bench.c" src/core/*.c src/core/simd/*.c "${objects[@]}" "${libraries[@]}"
done
status=0
"$out/bench_tree" "${BOXES:-1000000}" "${ROUNDS:-5}" ${KERNELS:+"$KERNELS"} || status=$?
echo
"$out/bench_dynamic" $((${BOXES:-1000000} / 5)) "${ROUNDS:-5}" ${KERNELS:+"$KERNELS"} || status=$?
exit $status
