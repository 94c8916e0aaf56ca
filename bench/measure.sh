#!/bin/bash
# measure.sh: time every contestant on the server that PGHOST and PGPORT name.
#
# Creates a database named bench there.  Leaves in $BVH_OUT, for report.pl:
#
#   rounds.csv   section,data,contestant,round,metric,value
#   about.txt    contestants, data sets, server, machine; separated by |
#
# The settings are those of run.sh and come from the environment.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
out=$BVH_OUT

rows=${ROWS:-1000000}
probes=${PROBES:-10000}
centres=${CENTRES:-1000}
inserts=${INSERTS:-$((rows / 10))}
outer_rows=${OUTER_ROWS:-20000}
rays=${RAYS:-10000}
nested=${NESTED:-5000}
rounds=${ROUNDS:-3}
timeout=${TIMEOUT:-300}
seconds=${SECONDS_PREPARED:-5}
data=${DATA:-$here/../test/data}
read -r -a wanted <<<"${CONTESTANTS:-gist bvh cached cube postgis_nd postgis_sp3d}"
sections=" ${SECTIONS:-build overlap knn insert join rays frustum prepared cache grown tenfold real nested} "
nested_skip=" ${NESTED_SKIP:-} "

# a misspelt name would silently measure less
for who in "${wanted[@]}" ${NESTED_SKIP:-}; do
  [[ -f $here/sql/contestants/$who.sql ]] || {
    echo "measure.sh: there is no contestant \"$who\"" >&2
    exit 2
  }
done
for section in $sections; do
  [[ " build overlap knn insert join rays frustum prepared cache grown tenfold real nested " == *" $section "* ]] || {
    echo "measure.sh: there is no section \"$section\"" >&2
    exit 2
  }
done

mkdir -p "$out"
csv=$out/rounds.csv
err=$out/error.txt
echo "section,data,contestant,round,metric,value" >"$csv"

export PGDATABASE=bench
export PGOPTIONS="${PGOPTIONS:-} -c client_min_messages=warning -c statement_timeout=${timeout}s"

sql() {
  psql -X -q -A -t -v ON_ERROR_STOP=1 -v VERBOSITY=verbose "$@"
}

wants() {
  [[ $sections == *" $1 "* ]]
}

# a contestant that could not be measured is left alone until the next data set
declare -A lost

# measure SECTION DATA CONTESTANT ROUND SQL... --- runs the statements in one session and notes the
# figures that they return; an error is a result, too
measure() {
  local section=$1 set=$2 who=$3 round=$4
  local prefix="$section,$set,$who,$round" result statement line
  local -a commands=()
  shift 4
  [[ -z ${lost[$who]:-} ]] || return 0
  for statement in "$@"; do
    commands+=(-c "$statement")
  done
  if result=$(sql -F, "${commands[@]}" 2>"$err"); then
    while read -r line; do
      [[ -z $line ]] || echo "$prefix,$line" >>"$csv"
    done <<<"$result"
  else
    lost[$who]=yes
    # 57014: query_canceled, here by statement_timeout
    if grep -q '57014' "$err"; then
      echo "$prefix,timeout,$timeout" >>"$csv"
      echo "   $who: stopped after $timeout s"
    else
      echo "$prefix,failed,1" >>"$csv"
      echo "   $who: FAILED"
      sed 's/^/      /' "$err"
    fi
  fi
}

# take_turns SECTION DATA ROUND SQL... --- measures the contestants one after the other, so that a slow
# minute of the machine does not hit one of them alone; %s in the SQL is the contestant's name
take_turns() {
  local section=$1 set=$2 round=$3 who
  shift 3
  for who in "${contestants[@]}"; do
    measure "$section" "$set" "$who" "$round" "${@//%s/$who}"
  done
}

# small_query WHO --- for pgbench: a box of side 10 at random
small_query() {
  cat <<SQL
\set x1 random(0, 990)
\set y1 random(0, 990)
\set z1 random(0, 990)
\set x2 :x1 + 10
\set y2 :y1 + 10
\set z2 :z1 + 10
$(sql -c "SELECT bench.small_query('$1')")
SQL
}

# run_clients WHO CLIENTS SCRIPT --- transactions a second of as many clients, with prepared statements
run_clients() {
  local who=$1 settings
  settings=$(sql -c "SELECT '-c search_path=' || path || ',pg_catalog' || coalesce(' -c ' || array_to_string(settings, ' -c '), '')
    FROM bench.contestant WHERE name = '$who'")
  # shellcheck disable=SC2001
  settings=$(sed 's/ -c $//' <<<"$settings")
  PGOPTIONS="$PGOPTIONS $settings -c enable_seqscan=off -c enable_bitmapscan=off" \
    pgbench -n -M prepared -c "$2" -j "$2" -T "$seconds" -f "$3" --random-seed=1 2>"$err" | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}

# note_failure SECTION SET WHO
note_failure() {
  echo "$1,$2,$3,1,failed,1" >>"$csv"
  echo "   $3: FAILED"
  sed 's/^/      /' "$err"
}

# prepare_queries SET WHO --- one client that runs a small query through a prepared statement
prepare_queries() {
  local set=$1 who=$2 script=$out/prepared.sql tps
  [[ -z ${lost[$who]:-} ]] || return 0
  small_query "$who" >"$script"
  if tps=$(run_clients "$who" 1 "$script") && [[ -n $tps ]]; then
    echo "prepared,$set,$who,1,prepared,$(awk "BEGIN { print 1e6 / $tps }")" >>"$csv"
  else
    note_failure prepared "$set" "$who"
  fi
  rm -f "$script"
}

# compare_clients SET WHO --- how many times the rate of one client two have
compare_clients() {
  local set=$1 who=$2 script=$out/prepared.sql one two
  [[ -z ${lost[$who]:-} ]] || return 0
  small_query "$who" >"$script"
  if one=$(run_clients "$who" 1 "$script") && two=$(run_clients "$who" 2 "$script") && [[ -n $one && -n $two ]]; then
    echo "cache,$set,$who,1,clients,$(awk "BEGIN { print $two / $one }")" >>"$csv"
  else
    note_failure cache "$set" "$who"
  fi
  rm -f "$script"
}

# mix_inserts SET WHO --- nine small queries and an insert, by one client
mix_inserts() {
  local set=$1 who=$2 script=$out/mix.sql tps i=0
  [[ -z ${lost[$who]:-} ]] || return 0
  : >"$script"
  while ((i++ < 9)); do
    small_query "$who" >>"$script"
  done
  echo "INSERT INTO of_$who.boxes SELECT id, $(sql -c "SELECT regexp_replace(box, '\m([xyz][12])\M', ':\1::float8', 'g') FROM bench.contestant WHERE name = '$who'") FROM (SELECT -1 AS id) s;" >>"$script"
  if tps=$(run_clients "$who" 1 "$script") && [[ -n $tps ]]; then
    echo "cache,$set,$who,$3,mix,$(awk "BEGIN { print 1e5 / $tps }")" >>"$csv"
  else
    note_failure cache "$set" "$who"
  fi
  rm -f "$script"
}

# trace_with_embree --- the same rays among the same boxes by a library, if run.sh could build it
trace_with_embree() {
  [[ -n ${EMBREE_RAYS:-} ]] || return 0
  sql -c "\\copy (SELECT x1, y1, z1, x2, y2, z2 FROM bench.raw ORDER BY id) TO '$out/boxes.csv' (FORMAT csv)" \
    -c "\\copy (SELECT ox, oy, oz, dx, dy, dz FROM bench.raw_rays WHERE kind = 'slanted' ORDER BY id) TO '$out/rays.csv' (FORMAT csv)"
  # float may take a ray past an edge on either side
  echo 'contestant|embree|Embree 3, rays only, without a database|f|0.001|0' >>"$out/about.txt"
  "$EMBREE_RAYS" "$out/boxes.csv" "$out/rays.csv" "$rounds" | sed 's/^/rays,random,embree,/' >>"$csv"
  rm -f "$out/boxes.csv" "$out/rays.csv"
}

load() {
  local set=$1 who
  lost=()
  echo "data|$set|$(sql -c "SELECT count(*) FROM bench.raw")" >>"$out/about.txt"
  for who in "${contestants[@]}"; do
    measure load "$set" "$who" 1 "SELECT FROM bench.load('$who', $centres)"
    # marks all rows visible, as in any table that has been at rest for a while
    measure load "$set" "$who" 1 "VACUUM ANALYZE of_$who.boxes" "VACUUM ANALYZE of_$who.probes" \
      "VACUUM ANALYZE of_$who.centres"
  done
}

say() {
  printf '%4d s  %s\n' $((SECONDS)) "$*"
}

sql -d postgres -c "CREATE DATABASE bench TEMPLATE template0"
sql -f "$here/sql/harness.sql"

: >"$out/about.txt"
contestants=()
for who in "${wanted[@]}"; do
  # one transaction: what cannot be set up leaves nothing behind
  if sql -1 -f "$here/sql/contestants/$who.sql" -c "SELECT FROM bench.try('$who')" 2>"$err"; then
    contestants+=("$who")
  else
    reason=$(sed -n 's/^.*ERROR:  [0-9A-Z]*: //p' "$err" | head -n 1)
    echo "left out: $who: $reason"
    echo "left out|$who|$reason" >>"$out/about.txt"
  fi
done
((${#contestants[@]} > 0)) || {
  echo "nobody to measure" >&2
  exit 1
}

sql -F '|' >>"$out/about.txt" <<SQL
SELECT 'contestant', name, title || ', ' || extension || ' ' || extversion, ours,
  hits_tolerance, distance_tolerance
FROM bench.contestant JOIN pg_extension ON extname = extension;
SELECT 'server', split_part(version(), ' (', 1);
SELECT 'settings', string_agg(name || ' = ' || current_setting(name), ', ' ORDER BY name) FROM pg_settings
WHERE name IN ('shared_buffers', 'maintenance_work_mem', 'work_mem', 'max_wal_size', 'fsync', 'jit',
  'autovacuum', 'max_parallel_workers_per_gather', 'max_parallel_maintenance_workers', 'debug_assertions');
SQL
# the model of an Arm CPU is not named there
model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
echo "cpu|${model:-$(uname -m)}, $(nproc) cores" >>"$out/about.txt"

if wants build || wants overlap || wants knn || wants insert || wants join || wants rays || wants frustum ||
  wants prepared || wants cache || wants grown; then
  say "random boxes: $rows rows, $probes probes, $centres searches, $inserts inserts"
  sql -f "$here/sql/random.sql" -v rows="$rows" -v probes="$probes" -v inserts="$inserts" -v world=1000
  load random
  if wants rays; then
    sql -f "$here/sql/rays.sql" -v rays="$rays" -v world=1000
    trace_with_embree
  fi
  for ((round = 1; round <= rounds; round++)); do
    say "random boxes: round $round of $rounds"
    sql -c "CHECKPOINT"
    # A new index for each round: where two children are equally good, GiST chooses at random, so
    # two indexes of the same boxes differ.  It also makes good for the inserts of the last round.
    take_turns build random "$round" "SELECT * FROM bench.build('%s')"
    if wants overlap; then
      take_turns overlap random "$round" "SELECT * FROM bench.overlap('%s')"
      take_turns overlap random "$round" "SELECT * FROM bench.leaf_pages('%s')"
    fi
    if wants knn; then
      take_turns knn random "$round" "SELECT * FROM bench.nearest('%s', 10)"
    fi
    if wants join; then
      take_turns join random "$round" "SELECT * FROM bench.joined('%s', $outer_rows)"
      take_turns join random "$round" "SELECT * FROM bench.best_join('%s')"
    fi
    if wants rays; then
      take_turns rays random "$round" "SELECT * FROM bench.rays('%s')"
    fi
    if wants frustum; then
      take_turns frustum random "$round" "SELECT * FROM bench.frustum('%s')"
    fi
    if wants insert; then
      take_turns insert random "$round" "BEGIN" "SELECT * FROM bench.insert_more('%s')" "ROLLBACK"
      take_turns insert random "$round" "VACUUM of_%s.boxes"
    fi
  done
  if wants prepared; then
    say "random boxes: prepared statements, $seconds s each"
    take_turns build random "$rounds" "SELECT FROM bench.build('%s')" "VACUUM of_%s.boxes"
    for who in "${contestants[@]}"; do
      prepare_queries random "$who"
    done
  fi
  if wants cache; then
    say "random boxes: two clients, and inserts among queries, $seconds s each"
    ours=$(sql -c "SELECT name FROM bench.contestant WHERE ours AND method = 'bvh' ORDER BY name")
    for who in $ours; do
      compare_clients random "$who"
    done
    for ((round = 1; round <= rounds; round++)); do
      for who in $ours; do
        measure build random "$who" "$round" "SELECT FROM bench.build('$who')" "VACUUM of_$who.boxes"
        mix_inserts random "$who" "$round"
      done
    done
  fi
  if wants grown; then
    say "random boxes: indexes grown row by row"
    take_turns grown random 1 "SELECT FROM bench.grow('%s')" "VACUUM ANALYZE of_%s.boxes" \
      "SELECT 'grown', value FROM bench.overlap('%s') WHERE metric = 'overlap'"
  fi
fi

if wants tenfold; then
  say "ten times as many random boxes: $((10 * rows))"
  everybody=("${contestants[@]}")
  contestants=()
  for who in "${everybody[@]}"; do
    [[ $(sql -c "SELECT ours AND NOT bench.is_cached(c) FROM bench.contestant c WHERE name = '$who'") == f ]] || contestants+=("$who")
  done
  # as dense as before, so a probe has as many hits
  sql -f "$here/sql/random.sql" -v rows=$((10 * rows)) -v probes="$probes" -v inserts=0 -v world=2154.43469
  load tenfold
  take_turns build tenfold 1 "SELECT * FROM bench.build('%s')"
  for ((round = 1; round <= rounds; round++)); do
    take_turns overlap tenfold "$round" "SELECT * FROM bench.overlap('%s')"
  done
  contestants=("${everybody[@]}")
fi

if wants real; then
  for file in "$data"/*.csv.gz; do
    [[ -f $file && $file != *.attr.csv.gz ]] || continue
    set=$(basename "$file" .csv.gz)
    sql -c "TRUNCATE bench.raw" -c "\\copy bench.raw FROM PROGRAM 'gzip -dc ''$file''' (FORMAT csv, HEADER)"
    n=$(sql -c "SELECT count(*) FROM bench.raw")
    if ((n < probes)); then
      say "$set: left out: its $n boxes are fewer than the $probes probes"
      continue
    fi
    say "$set: $n boxes"
    sql -f "$here/sql/real.sql" -v probes="$probes"
    load "$set"
    for ((round = 1; round <= rounds && round <= 2; round++)); do
      take_turns build "$set" "$round" "SELECT * FROM bench.build('%s')"
      take_turns overlap "$set" "$round" "SELECT * FROM bench.overlap('%s')"
    done
    take_turns overlap "$set" 1 "SELECT * FROM bench.leaf_pages('%s')"
    if wants join; then
      take_turns join "$set" 1 "SELECT * FROM bench.joined('%s', $outer_rows)"
      take_turns join "$set" 1 "SELECT * FROM bench.best_join('%s')"
    fi
  done
fi

if wants nested; then
  say "nested boxes: $nested"
  sql -f "$here/sql/nested.sql" -v nested="$nested"
  load nested
  for who in "${contestants[@]}"; do
    if [[ $nested_skip == *" $who "* ]]; then
      echo "build,nested,$who,1,skipped,1" >>"$csv"
    else
      measure build nested "$who" 1 "SELECT * FROM bench.build('$who')"
    fi
  done
fi

rm -f "$err"
say "done"
