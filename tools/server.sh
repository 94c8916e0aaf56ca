#!/bin/bash
# server.sh [OPTION...] -- COMMAND [ARGUMENT...]: run a command against a
# throw-away PostgreSQL server that can create the extension.
#
#   -v MAJOR       which PostgreSQL (default: PG_CONFIG, or the newest with headers)
#   -o NAME=VALUE  a server setting; may be repeated
#   -s STAGE       an installation made with DESTDIR=STAGE (default: tools/build.sh)
#   -k DIR         afterwards, copy what the command left in $BVH_OUT to DIR
#   -n             start no server: for tests that start their own
#
# The command runs in a copy of the checkout, in a folder that is removed at the
# end, as the user that owns the server: postgres when the caller is root, since
# PostgreSQL refuses root, else the caller.  It sees
#
#   PGHOST PGPORT PGUSER PGDATABASE   how to connect (libpq reads them itself)
#   PG_CONFIG, PATH                   that server's programs first
#   TEMP_CONFIG                       settings that make the extension visible;
#                                     PostgreSQL::Test::Cluster reads it
#   BVH_OUT                           a folder for results, see -k
#   BVH_LOG                           the server's log
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

major="" stage="" keep="" with_server=yes
settings=()
while getopts v:o:s:k:n opt; do
  case $opt in
    v) major=$OPTARG ;;
    o) settings+=("$OPTARG") ;;
    s) stage=$OPTARG ;;
    k) keep=$OPTARG ;;
    n) with_server="" ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || die "no command; see the head of $0"

pg_config=$(find_pg_config "$major") ||
  die "no PostgreSQL server found${major:+ for $major}; run tools/setup.sh test"
major=$(pg_major_of "$pg_config")
bindir=$("$pg_config" --bindir)
if [ -z "$stage" ]; then
  stage=$(PG_CONFIG=$pg_config "$root/tools/build.sh")
fi

# Short, because a socket's path may have only 107 bytes.
work=$(mktemp -d /tmp/bvh.XXXXXX)
out=$work/out
log=$work/server.log

if [ "$(id -u)" = 0 ]; then
  id -u postgres >/dev/null 2>&1 || die "the server cannot run as root, and there is no user postgres"
  as_owner() { (cd "$work" && exec runuser -u postgres -- "$@"); }
else
  as_owner() { (cd "$work" && exec "$@"); }
fi

# shellcheck disable=SC2317  # called by the trap
clean_up() {
  trap '' INT TERM HUP
  if [ -e "$work/data/postmaster.pid" ]; then
    as_owner "$bindir/pg_ctl" -D "$work/data" -m immediate -w stop >/dev/null 2>&1 || true
  fi
  if [ -n "$keep" ] && [ -d "$out" ]; then
    # a checkout may be read-only; the temporary folder must go all the same
    mkdir -p "$keep" || true
    cp -r "$out/." "$keep/" || true
  fi
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

mkdir "$out" "$work/tree" "$work/stage" "$work/socket"
tar -C "$root" --exclude=./.git --exclude=./build --exclude='*.o' --exclude='*.bc' \
  --exclude='*.so' -cf - . | tar -xf - -C "$work/tree"
cp -r "$stage/." "$work/stage/"

# The staged extension is found without installing it: by Debian's own setting
# before 18, by PostgreSQL's from then on.
share=$work/stage$("$pg_config" --sharedir)
lib=$work/stage$("$pg_config" --pkglibdir)
{
  # with it, shared_preload_libraries = 'bvhindex' finds the library too
  echo "dynamic_library_path = '$lib:\$libdir'"
  if [ "$major" -ge 18 ]; then
    echo "extension_control_path = '$share:\$system'"
  else
    echo "extension_destdir = '$work/stage'"
  fi
} >"$work/extension.conf"
touch "$log"
if [ "$(id -u)" = 0 ]; then chown -R postgres "$work"; fi
chmod -R u+rwX "$work/tree" "$work/stage"
chmod 755 "$work"

# nothing of the caller's may reach the server or its clients
unset "${!PG@}" MAKEFLAGS MAKELEVEL MFLAGS
export PGHOST=$work/socket PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
export PG_CONFIG=$pg_config PATH=$bindir:$PATH HOME=$work TMPDIR=$work LC_ALL=C.UTF-8
export BVH_OUT=$out BVH_LOG=$log TEMP_CONFIG=$work/extension.conf

if [ -n "$with_server" ]; then
  as_owner "$bindir/initdb" -D "$work/data" -U postgres -A trust --no-sync \
    --locale=C.UTF-8 --encoding=UTF8 >"$log" 2>&1 ||
    as_owner "$bindir/initdb" -D "$work/data" -U postgres -A trust --no-sync \
      --locale=C --encoding=UTF8 >"$log" 2>&1 || {
    tail -n 20 "$log" >&2
    die "initdb failed"
  }
  {
    echo "listen_addresses = ''"
    echo "unix_socket_directories = '$work/socket'"
    echo "fsync = off"
    echo "log_min_messages = warning"
    echo "max_parallel_workers_per_gather = 2"
    cat "$work/extension.conf"
    for s in ${settings[@]+"${settings[@]}"}; do
      value=${s#*=}
      echo "${s%%=*} = '${value//\'/\'\'}'"
    done
  } >>"$work/data/postgresql.conf"
  : >"$log"
  as_owner "$bindir/pg_ctl" -D "$work/data" -l "$log" -w -s -t 60 start || {
    tail -n 20 "$log" >&2
    die "the server did not start"
  }
fi

status=0
(cd "$work/tree" && if [ "$(id -u)" = 0 ]; then
  exec runuser -u postgres -- "$@"
else
  exec "$@"
fi) || status=$?
if [ $status -ne 0 ] && [ -s "$log" ]; then
  echo "--- end of the server's log" >&2
  tail -n "${BVH_LOG_LINES:-20}" "$log" >&2
fi
exit $status
