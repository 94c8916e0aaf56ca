#!/bin/bash
# lint.sh [--format]: every rule of the house that a program can check; with
# --format, lay the C code out instead.
#
# BVH_SO names a built library; else one is built when PostgreSQL's headers are here.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

c_files() {
  local dir
  for dir in src test bench demo; do
    [ ! -d "$dir" ] || find "$dir" -name '*.[ch]'
  done | sort
}

if [ "${1:-}" = --format ]; then
  have clang-format || die "clang-format is missing; run tools/setup.sh lint"
  c_files | xargs -r clang-format -i
  exit 0
fi

status=0
# check NAME COMMAND...: run one check, its output only when it finds something
check() {
  local name=$1 found
  shift
  if found=$("$@" 2>&1); then
    [ -z "$found" ] || echo "$found"
    echo "$name: ok"
  else
    [ -z "$found" ] || echo "$found"
    echo "$name: FAILED"
    status=1
  fi
}

# shellcheck disable=SC2317  # called through check
{
  # the file and the first line, since one shift makes a page of messages
  format() {
    local file first bad=0
    while read -r file; do
      if ! first=$(clang-format --dry-run -Werror "$file" 2>&1); then
        echo "${first%%: error*}: not as make format would lay it out"
        bad=1
      fi
    done < <(c_files)
    return "$bad"
  }

  core_cppcheck() {
    [ -d src/core ] || return 0
    cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 -j "$(nproc)" \
      --enable=warning,portability,performance -I src src/core
  }

  # PostgreSQL's macros are unknown to it, so only what survives that
  glue_cppcheck() {
    local files
    mapfile -t files < <(find src -name '*.c' ! -path 'src/core/*')
    [ ${#files[@]} -gt 0 ] || return 0
    cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 -j "$(nproc)" \
      --enable=portability --suppress=unknownMacro --suppress=internalAstError \
      -DPG_VERSION_NUM=150000 -D'PG_FUNCTION_INFO_V1(x)=' -D'PG_MODULE_MAGIC=' -D'BVH_FUNCTION(x)=Datum x(PG_FUNCTION_ARGS)' \
      -I src "${files[@]}"
  }

  scripts() {
    {
      grep -rlE '^#!.*\b(ba)?sh$' tools test bench demo .ci 2>/dev/null || true
      echo tools/lib.sh
    } | sort -u | xargs -r shellcheck -x
  }

  meta() { perl -MJSON::PP -0ne 'JSON::PP->new->decode($_)' META.json; }
}

if have clang-format; then check format format; else echo "format skipped: no clang-format"; fi
check layers tools/check_layers.sh
check versions tools/check_versions.sh
check "META.json" meta
check "install scripts" tools/check_sql.sh

library=${BVH_SO:-}
if [ -z "$library" ] && stage=$(tools/build.sh 2>/dev/null); then
  library=$(dirname "$stage")/bvhindex.so
fi
if [ -n "$library" ]; then
  check exports tools/check_exports.sh "$library"
else
  echo "exports skipped: the extension was not built here"
fi

if have cppcheck; then
  check "cppcheck, core" core_cppcheck
  check "cppcheck, the rest" glue_cppcheck
else
  echo "cppcheck skipped: not installed"
fi
if have shellcheck; then check shellcheck scripts; else echo "shellcheck skipped: not installed"; fi
exit $status
