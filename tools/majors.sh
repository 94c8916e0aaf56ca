#!/bin/bash
# majors.sh [MAJOR...]: the server tests on other PostgreSQL majors (17 18 19),
# each in a chroot made from Debian's own packages.
#
# The chroots live in /var/tmp/bvhpg and are kept (about 1 GB each).  Needs root
# and debootstrap.  A major that cannot be had is skipped with a line that says
# so: mirrors carry release candidates and new suites in changing states.
# Ends with one line "N passed, N failed".
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

where=${BVH_CHROOTS:-/var/tmp/bvhpg}
logs=$build/log
mkdir -p "$logs"

# in_chroot DIR COMMAND...: private mounts, processes and network, so that
# nothing is left behind and ports do not collide; the checkout is /mnt/src
in_chroot() {
  local dir=$1
  shift
  mkdir -p "$dir/mnt/src"
  # shellcheck disable=SC2016  # the inner shell expands these
  unshare -n -m -p -f --propagation private bash -c 'set -e
    dir=$1 src=$2
    shift 2
    if command -v ip >/dev/null; then ip link set lo up; fi
    mount -t proc proc "$dir/proc"
    mount --rbind /dev "$dir/dev"
    mount -t tmpfs tmpfs "$dir/dev/shm"
    mount -t tmpfs tmpfs "$dir/run"
    mount -t tmpfs -o mode=1777 tmpfs "$dir/tmp"
    mount --bind "$src" "$dir/mnt/src"
    mount -o remount,bind,ro "$dir/mnt/src"
    exec chroot "$dir" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      LC_ALL=C.UTF-8 "$@"' - "$dir" "$root" "$@"
}

# with the machine's network, for apt
apt_chroot() {
  local dir=$1
  shift
  # shellcheck disable=SC2016
  unshare -m -p -f --propagation private bash -c 'set -e
    dir=$1
    shift
    mount -t proc proc "$dir/proc"
    mount --rbind /dev "$dir/dev"
    exec chroot "$dir" /usr/bin/env DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"' - "$dir" "$@"
}

# mirror [security]: where this machine gets its packages from
mirror() {
  local pattern=${1:-.} found=""
  found=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' |
    if [ "$pattern" = security ]; then grep security; else grep -v security; fi | head -n 1) || true
  if [ -n "$found" ]; then
    echo "$found"
  elif [ "$pattern" = security ]; then
    echo http://deb.debian.org/debian-security
  else
    echo http://deb.debian.org/debian
  fi
}

# make_chroot SUITE MAJOR DIR TARGET: a chroot of SUITE with the server MAJOR of
# the suite TARGET, its headers and pgTAP
make_chroot() {
  local suite=$1 major=$2 dir=$3 target=$4
  local -a from=()
  if [ ! -x "$dir/usr/bin/make" ]; then
    # a half-made one cannot be continued
    rm -rf --one-file-system "$dir"
    debootstrap --variant=minbase "$suite" "$dir" "$(mirror)"
    case $suite in
      sid) ;;
      *) echo "deb $(mirror security) $suite-security main" >>"$dir/etc/apt/sources.list" ;;
    esac
    # start no services, wait for no disk, leave out the manuals
    printf '#!/bin/sh\nexit 101\n' >"$dir/usr/sbin/policy-rc.d"
    chmod 755 "$dir/usr/sbin/policy-rc.d"
    echo force-unsafe-io >"$dir/etc/dpkg/dpkg.cfg.d/unsafe"
    printf 'path-exclude=/usr/share/%s/*\n' doc man locale >"$dir/etc/dpkg/dpkg.cfg.d/nodoc"
    # a mirror may lag behind the suite's own calendar
    echo 'Acquire::Check-Valid-Until "false";' >"$dir/etc/apt/apt.conf.d/99valid"
  fi
  if [ "$target" != "$suite" ]; then
    from=(-t "$target")
    echo "deb $(mirror) $target main" >"$dir/etc/apt/sources.list.d/$target.list"
  fi
  cp /etc/resolv.conf /etc/hosts "$dir/etc/"
  apt_chroot "$dir" apt-get -qq update
  apt_chroot "$dir" apt-get install -y -qq --no-install-recommends "${from[@]}" \
    "postgresql-$major" "postgresql-client-$major" libpq-dev make gcc libc6-dev \
    libipc-run-perl libtap-parser-sourcehandler-pgtap-perl
  # pgTAP is SQL: where a major has no package, its predecessor's files do
  if ! apt_chroot "$dir" apt-get install -y -qq --no-install-recommends "postgresql-$major-pgtap"; then
    cp "$dir/usr/share/postgresql/$((major - 1))/extension"/pgtap* \
      "$dir/usr/share/postgresql/$major/extension/"
  fi
  # unpacked only, since installing would bring in all of clang and llvm
  # shellcheck disable=SC2016
  apt_chroot "$dir" sh -ec 'cd /var/tmp; m=$1; shift
    rm -f postgresql-server-dev-*.deb
    apt-get download -qq "$@" "postgresql-server-dev-$m"
    dpkg -x postgresql-server-dev-"$m"_*.deb /
    rm -f postgresql-server-dev-*.deb' - "$major" "${from[@]}"
  apt_chroot "$dir" apt-get clean
}

passed=0 failed=0
# run_major SUITE MAJOR TARGET
run_major() {
  local suite=$1 major=$2 dir=$where/$1 target=$3 log=$logs/pg$2.log last
  local pg_config=/usr/lib/postgresql/$major/bin/pg_config
  local include=$dir/usr/include/postgresql/$major/server/postgres.h
  if [ ! -x "$dir$pg_config" ] || [ ! -e "$include" ] ||
    [ ! -e "$dir/usr/share/postgresql/$major/extension/pgtap.control" ]; then
    if ! have debootstrap; then
      echo "PostgreSQL $major skipped: no debootstrap"
      return
    fi
    echo "PostgreSQL $major: making a chroot of $suite in $dir"
    make_chroot "$suite" "$major" "$dir" "$target" >"$logs/chroot-$major.log" 2>&1 || true
    if [ ! -x "$dir$pg_config" ] || [ ! -e "$include" ]; then
      echo "PostgreSQL $major skipped: could not be fetched, see $logs/chroot-$major.log"
      return
    fi
  fi
  in_chroot "$dir" "$pg_config" --version
  in_chroot "$dir" env PG_CONFIG="$pg_config" BVH_BUILD=/tmp/build BVH_TIMEOUT="${BVH_TIMEOUT:-900}" \
    bash /mnt/src/test/run build-gcc regress pgtap cached isolation cached-isolation tap 2>&1 | tee "$log" | sed '$d' || true
  last=$(tail -n 1 "$log")
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1]))
    failed=$((failed + BASH_REMATCH[2]))
  else
    echo "$last"
    failed=$((failed + 1))
  fi
}

[ "$(id -u)" = 0 ] || die "chroots need root"
majors=("$@")
[ $# -gt 0 ] || majors=(17 18 19)
for major in "${majors[@]}"; do
  case $major in
    17) run_major trixie 17 trixie ;;
    18) run_major sid 18 sid ;;
    19) run_major sid 19 experimental ;;
    *) die "no recipe for PostgreSQL $major" ;;
  esac
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
