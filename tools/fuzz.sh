#!/bin/bash
# fuzz.sh TARGET SECONDS: hunt with clang's libFuzzer, starting from the corpus.
# What it learns stays in build/fuzz/TARGET/; add what is worth replaying to
# test/fuzz/corpus/TARGET/ by hand.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

target=${1:?which target} seconds=${2:-60}
[ -e "test/fuzz/$target.c" ] || die "no such target: $target; there are $(
  find test/fuzz -name '*.c' ! -name replay.c -printf '%f\n' | sed 's/\.c$//' | sort | tr '\n' ' '
)"
clang=$(find_clang) || die "clang is missing; run tools/setup.sh fuzz"

dir=$build/fuzz/$target
mkdir -p "$dir/corpus"
seeds=()
[ ! -d "test/fuzz/corpus/$target" ] || seeds=("test/fuzz/corpus/$target")
"$clang" -g -O1 -std=gnu17 -ffp-contract=off -fno-omit-frame-pointer -DUSE_ASSERT_CHECKING \
  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -Isrc -Itest/unit \
  -o "$dir/$target" "test/fuzz/$target.c" src/core/*.c src/core/simd/*.c -lm
exec "$dir/$target" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$dir/" \
  "$dir/corpus" ${seeds[@]+"${seeds[@]}"}
