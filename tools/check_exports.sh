#!/bin/bash
# check_exports.sh LIBRARY: what the library exports, and what SQL asks of it.
#
# PostgreSQL opens modules with global symbols, so a name of ours could meet
# another library's.  And a C function that any install script ever named must
# stay: after a package update the new library serves the old catalog.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

library=${1:?which library}
exported=$(nm -D --defined-only "$library" | awk '{ print $NF }' | sort)
status=0

for name in $exported; do
  case $name in
    _PG_init | Pg_magic_func | pg_finfo_*) ;;
    bvh_cache_worker_main) ;; # the server calls it by name
    bvh* | box3d* | ray3d* | sphere3d* | planes3d* | gist_box3d*)
      # whatever is not for SQL should be hidden
      if ! grep -qx "pg_finfo_$name" <<<"$exported"; then
        echo "exported, but not a function for SQL: $name"
        status=1
      fi
      ;;
    *)
      echo "exported without a prefix of ours: $name"
      status=1
      ;;
  esac
done

wanted=$(awk '
{ sub(/--.*/, "") }
match(tolower($0), /create[ \t]+function[ \t]+[a-z0-9_]+/) {
	name = substr($0, RSTART, RLENGTH)
	sub(/.*[ \t]/, "", name)
}
match($0, /\047MODULE_PATHNAME\047[ \t]*,[ \t]*\047[A-Za-z0-9_]+\047/) {
	name = substr($0, RSTART, RLENGTH)
	sub(/\047$/, "", name)
	sub(/.*\047/, "", name)
	print name
	next
}
/\047MODULE_PATHNAME\047/ { print name }
' sql/*--*.sql | sort -u)
for name in $wanted; do
  for symbol in "$name" "pg_finfo_$name"; do
    if ! grep -qx "$symbol" <<<"$exported"; then
      echo "an install script needs a symbol that the library does not export: $symbol"
      status=1
    fi
  done
done
exit $status
