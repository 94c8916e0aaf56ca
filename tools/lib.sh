# shellcheck shell=bash
# Shared by the scripts of tools/ and test/.  Source it; it changes nothing but
# variables.
#
#   root        the checkout
#   build       where outputs go: build/ in the checkout, or a private folder
#               in /tmp when the checkout cannot be written

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # used by those who source this
if [ -n "${BVH_BUILD:-}" ]; then
  build=$BVH_BUILD
elif [ -w "$root" ]; then
  build=$root/build
else
  build=/tmp/bvhindex-build-$(id -u)
fi

die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# find_pg_config [MAJOR]: the pg_config of a server with headers.  PG_CONFIG
# wins; else the newest of Debian's, so that a stray libpq-dev is no answer.
find_pg_config() {
  local major=${1:-} found
  if [ -n "${PG_CONFIG:-}" ] && [ -z "$major" ]; then
    echo "$PG_CONFIG"
    return
  fi
  found=$(find /usr/lib/postgresql -maxdepth 3 -path "*/${major:-*}/bin/pg_config" 2>/dev/null |
    sort -V | while read -r p; do
    if [ -x "${p%pg_config}initdb" ] && [ -e "$("$p" --pgxs)" ]; then echo "$p"; fi
  done | tail -n 1)
  if [ -z "$found" ] && [ -z "$major" ] && have pg_config && [ -e "$(pg_config --pgxs)" ]; then
    found=pg_config
  fi
  [ -n "$found" ] || return 1
  echo "$found"
}

# the major version behind a pg_config
pg_major_of() { "$1" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/'; }

# find_clang: Debian's server headers bring a versioned clang without a plain one
find_clang() {
  local c
  for c in clang clang-{20,19,18,17,16,15,14}; do
    if have "$c"; then
      echo "$c"
      return
    fi
  done
  return 1
}

# llvm_tool NAME: the tool of the clang that find_clang gives
llvm_tool() {
  local dir
  dir=$(dirname "$(readlink -f "$(command -v "$(find_clang)")")")
  if [ -x "$dir/$1" ]; then
    echo "$dir/$1"
  elif have "$1"; then
    echo "$1"
  else
    return 1
  fi
}
