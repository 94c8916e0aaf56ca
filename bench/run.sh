#!/bin/bash
# run.sh: bvhindex beside the other index types for 3D boxes, in one run on one
# throw-away server.  Prints a table; leaves it, a CSV and a plot in build/bench/.
#
# Settings, all from the environment:
#
#   ROWS=1000000         random boxes
#   PROBES=10000         overlap probes
#   CENTRES=1000         searches for the 10 nearest
#   INSERTS=ROWS/10      rows inserted into the indexed table
#   OUTER_ROWS=20000     rows of a self-join by index that are timed
#   RAYS=10000           rays whose first hit is searched
#   NESTED=5000          nested boxes
#   ROUNDS=3             how often each is timed; the fastest counts
#   TIMEOUT=300          seconds that a statement may take
#   DATA=test/data       folder with the real sets
#   CONTESTANTS="gist bvh cached cube postgis_nd postgis_sp3d"
#   SECTIONS="build overlap knn insert join rays frustum prepared cache grown tenfold real nested"
#   SECONDS_PREPARED=5   for how long a prepared statement is run
#   NESTED_SKIP=""       contestants left out of the nested boxes ("cube" saves minutes)
#
# Exit status: 0 also when a target is missed; 1 when something could not be
# measured or two contestants disagree on an answer.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=tools/lib.sh
. tools/lib.sh

# measure.sh runs in another folder
if [ -n "${DATA:-}" ]; then
  DATA=$(cd "$DATA" && pwd)
  export DATA
fi

tools/setup.sh bench
stage=$(tools/build.sh)

stamp=$(date +%Y-%m-%d-%H%M%S)
results=$build/bench/$stamp
mkdir -p "$results"

# a peer for rays; without the library, they are measured alone
if echo '#include <embree3/rtcore.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
  EMBREE_RAYS=$build/bench/embree_rays
  ${CC:-cc} -O2 -DNDEBUG -DHAVE_EMBREE -Ibench/core -o "$EMBREE_RAYS" bench/core/embree_rays.c bench/core/embree.c -lembree3 -lm
  export EMBREE_RAYS
else
  echo "left out: Embree 3 is not installed"
fi

# Fixed, so that runs can be compared: everything fits into memory, nothing
# happens in the background, one process does all the work.  A checkpoint comes
# only when measure.sh asks for it.
tools/server.sh -s "$stage" -k "$results" \
  -o shared_buffers=2GB -o maintenance_work_mem=1GB -o work_mem=64MB \
  -o max_wal_size=8GB -o checkpoint_timeout=1h -o fsync=off -o jit=off -o autovacuum=off \
  -o max_parallel_workers=0 -o max_parallel_workers_per_gather=0 \
  -o max_parallel_maintenance_workers=0 \
  -o shared_preload_libraries=bvhindex -o bvhindex.cache_size=1GB -o bvhindex.use_cache=off \
  -- bench/measure.sh

status=0
bench/report.pl "$results" bench/targets.txt >"$results/report.txt" || status=$?
echo
cat "$results/report.txt"
echo
echo "$results: report.txt, results.csv, results.svg, rounds.csv (every round)"
exit $status
