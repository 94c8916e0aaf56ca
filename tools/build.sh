#!/bin/bash
# build.sh [-n NAME] [-v MAJOR] [MAKE-ARGUMENT...]: build the extension in build/NAME,
# from a copy of the sources, stage it, and print the stage's folder.
#
#   -n NAME   the folder below build/ (default: release-MAJOR)
#   -v MAJOR  the PostgreSQL to build for (default: PG_CONFIG, or the newest)
#
# A copy, so that several builds with different flags and servers live side by
# side, and the checkout stays as it was (it may be read-only).
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"

name="" major=""
while getopts n:v: opt; do
  case $opt in
    n) name=$OPTARG ;;
    v) major=$OPTARG ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

pg_config=$(find_pg_config "$major") ||
  die "no PostgreSQL server headers found${major:+ for $major}; run tools/setup.sh test"
major=$(pg_major_of "$pg_config")
dir=$build/${name:-release-$major}
mkdir -p "$dir/src" "$dir/sql"
# two callers may want the same build
if have flock; then
  exec 9>"$dir/.lock"
  flock 9
fi

# Times are kept, so make rebuilds what changed; the sources are removed first,
# so a deleted file does not linger.
find "$dir/src" -name '*.[ch]' -delete
rm -f "$dir"/sql/*.sql
cp -p "$root/Makefile" "$root/bvhindex.control" "$dir/"
cp -p "$root"/sql/*--*.sql "$dir/sql/"
(cd "$root" && find src -name '*.[ch]' -print0 | tar -c --null -T - -f -) | tar -x -f - -C "$dir"

args=(PG_CONFIG="$pg_config" "$@")
# bitcode needs the very clang that the server was built with
clang=$(sed -n 's/^CLANG[[:space:]]*=[[:space:]]*//p' "$(dirname "$("$pg_config" --pgxs)")/../Makefile.global")
if ! have "${clang:-no-clang}"; then args+=(with_llvm=no); fi

# other flags, or a file gone: start afresh
list=$(cd "$dir" && find src -name '*.[ch]' | sort)
if [ "$(cat "$dir/.built-with" 2>/dev/null)" != "${args[*]} $list" ]; then
  find "$dir/src" \( -name '*.o' -o -name '*.bc' -o -name '*.d' \) -delete
  rm -f "$dir/bvhindex.so"
fi
echo "${args[*]} $list" >"$dir/.built-with"

unset MAKEFLAGS MAKELEVEL MFLAGS
rm -rf "$dir/stage"
make -s -C "$dir" -j"$(nproc)" "${args[@]}" all >&2
make -s -C "$dir" "${args[@]}" DESTDIR="$dir/stage" install >/dev/null
echo "$dir/stage"
