#!/bin/bash
# setup.sh WHAT...: install what a task needs and the machine lacks.
# WHAT: demo, test, bench, bench-core, lint, fuzz, majors.
#
# Silent when nothing is missing.  Debian and its relatives only; elsewhere it
# checks that the mandatory programs are there and leaves the rest to the reader.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

log=$(mktemp)
trap 'rm -f "$log"' EXIT

required=()
optional=()
programs=()

# pg_packages: the server that is here already, or else the distribution's default
pg_packages() {
  local v
  if v=$(find_pg_config ""); then
    # a server from elsewhere brings its own headers, and packages would not fit it
    [[ $("$v" --bindir) == /usr/lib/postgresql/* ]] || return 0
    v=$(pg_major_of "$v")
  else
    # the lists of a new machine may be empty
    [ -n "$(default_major)" ] || update_lists
    v=$(default_major)
    v=${v:-15}
  fi
  required+=("postgresql-$v" "postgresql-server-dev-$v")
  if [ "$1" = test ]; then
    required+=("postgresql-$v-pgtap")
    optional+=("postgresql-$v-postgis-3")
  elif [ "$1" = bench ]; then
    optional+=("postgresql-$v-postgis-3")
  fi
}

default_major() {
  have apt-cache || return 0
  apt-cache depends postgresql 2>/dev/null |
    sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n 1
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env DEBIAN_FRONTEND=noninteractive "$@"
  else
    sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
  fi
}

check_may_install() {
  if [ "$(id -u)" != 0 ] && ! { have sudo && sudo -n true 2>/dev/null; }; then
    die "missing packages: $*
Installing them needs root or sudo without a password. Install them first:
  apt-get install $*"
  fi
}

updated=""
update_lists() {
  local try
  [ -z "$updated" ] || return 0
  have apt-get || return 0
  check_may_install postgresql
  for try in 1 2 3; do
    if as_root apt-get -qq update >"$log" 2>&1; then
      updated=yes
      return 0
    fi
    sleep "$try"
  done
  # stale lists may still serve, so let the installation itself decide
  echo "setup: apt-get update failed:" >&2
  tail -n 3 "$log" >&2
  updated=yes
}

packages=""
installed() {
  [ -n "$packages" ] || packages=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n')
  [[ $'\n'$packages$'\n' == *$'\n'"installed $1"$'\n'* ]]
}

# apt_install PACKAGE...: one retry, since a mirror may fail for a single file
apt_install() {
  as_root apt-get install -y -qq --no-install-recommends "$@" >"$log" 2>&1 ||
    as_root apt-get install -y -qq --no-install-recommends "$@" >"$log" 2>&1
}

[ $# -gt 0 ] || die "usage: setup.sh demo|test|bench|bench-core|lint|fuzz|majors..."
for what in "$@"; do
  case $what in
    demo | test | bench)
      required+=(make gcc libc6-dev)
      programs+=(make cc)
      pg_packages "$what"
      ;;&
    test)
      required+=(perl libipc-run-perl libtap-parser-sourcehandler-pgtap-perl)
      programs+=(prove pg_prove)
      optional+=(qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross)
      optional+=(clang clang-format cppcheck shellcheck)
      ;;
    lint) optional+=(clang-format cppcheck shellcheck) ;;
    fuzz) optional+=(clang libclang-rt-dev llvm) ;;
    majors) optional+=(debootstrap) ;;
    bench-core)
      required+=(gcc libc6-dev)
      programs+=(cc)
      optional+=(g++ libboost-dev libembree-dev)
      ;;
    bench) optional+=(libembree-dev) ;;
    demo) ;;
    *) die "unknown task: $what" ;;
  esac
done

if ! have apt-get || ! have dpkg-query; then
  for p in ${programs[@]+"${programs[@]}"}; do
    have "$p" || die "$p is missing, and this machine has no apt-get to install it with"
  done
  exit 0
fi

missing=()
for p in ${required[@]+"${required[@]}"}; do
  installed "$p" || missing+=("$p")
done
wanted=()
for p in ${optional[@]+"${optional[@]}"}; do
  installed "$p" || wanted+=("$p")
done

if [ ${#missing[@]} -gt 0 ]; then
  check_may_install "${missing[@]}"
  echo "setup: installing ${missing[*]}"
  update_lists
  if ! apt_install "${missing[@]}"; then
    tail -n 20 "$log" >&2
    die "could not install ${missing[*]}"
  fi
fi

if [ ${#wanted[@]} -gt 0 ]; then
  if [ "$(id -u)" != 0 ] && ! { have sudo && sudo -n true 2>/dev/null; }; then
    echo "setup: without ${wanted[*]} (optional; installing needs root or sudo)"
    exit 0
  fi
  update_lists
  # together when that works, which is faster, else one by one
  echo "setup: installing ${wanted[*]} (optional)"
  if ! apt_install "${wanted[@]}"; then
    for p in "${wanted[@]}"; do
      apt_install "$p" || echo "setup: could not install $p (optional), going on without it"
    done
  fi
fi
