#!/bin/bash
# coverage.sh: which lines of the core the programs of "make check" reach, by
# clang's source coverage; a table for each file, and HTML in build/coverage/html.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

clang=$(find_clang) || die "clang is missing; run tools/setup.sh fuzz"
profdata=$(llvm_tool llvm-profdata) || die "llvm-profdata is missing; run tools/setup.sh fuzz"
cov=$(llvm_tool llvm-cov) || die "llvm-cov is missing; run tools/setup.sh fuzz"

dir=$build/coverage
unset MAKEFLAGS MAKELEVEL MFLAGS
make -s -f test/check.mk -j"$(nproc)" B="$dir/programs" CC="$clang" \
  XFLAGS="-fprofile-instr-generate -fcoverage-mapping -O1" programs
rm -f "$dir"/*.profraw

objects=()
while read -r program; do
  name=$(basename "$program")
  args=()
  case $program in
    */fuzz/*)
      mapfile -t args < <(find "test/fuzz/corpus/$name" -type f 2>/dev/null)
      ;;
  esac
  LLVM_PROFILE_FILE=$dir/$name.profraw "$program" ${args[@]+"${args[@]}"} >/dev/null ||
    echo "coverage: $name failed, see make check" >&2
  # the first is an argument, the others are options
  [ ${#objects[@]} = 0 ] || objects+=(-object)
  objects+=("$program")
done < <(find "$dir/programs/unit" "$dir/programs/kernels" "$dir/programs/fuzz" -type f -perm -u+x 2>/dev/null)
[ ${#objects[@]} -gt 0 ] || die "no test programs"
# so that a file which no program needs counts as well
echo 'int main(void) { return 0; }' |
  "$clang" -fprofile-instr-generate -x c - -x none -o "$dir/everything" \
    -Wl,--whole-archive "$dir/programs/core.a" -Wl,--no-whole-archive -lm
objects+=(-object "$dir/everything")

"$profdata" merge -sparse -o "$dir/all.profdata" "$dir"/*.profraw
only=(-ignore-filename-regex="(^|/)test/" -instr-profile="$dir/all.profdata")
"$cov" report "${objects[@]}" "${only[@]}"
"$cov" show "${objects[@]}" "${only[@]}" -format=html -output-dir="$dir/html"
