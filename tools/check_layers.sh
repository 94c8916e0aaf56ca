#!/bin/bash
# check_layers.sh: the rules of who may include whom, see tools/layers.txt, and
# of where a few dangerous things may be used.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

mapfile -t sources < <(find src -name '*.[ch]' | sort)
[ ${#sources[@]} -gt 0 ] || exit 0

status=0
complain() {
  echo "$*"
  status=1
}

# Includes.  Ours are written relative to src/, and exist there; any other
# quoted name is PostgreSQL's.
awk -v all="${sources[*]}" '
function problem(text) { print FILENAME ":" FNR ": " text; bad = 1 }
BEGIN {
	n = split(all, files, " ")
	for (i = 1; i <= n; i++)
	{
		ours[substr(files[i], 5)] = 1
		base = files[i]
		sub(/.*\//, "", base)
		if (base in folder && base != "README")
		{
			print files[i] ": the name is taken by " folder[base]
			bad = 1
		}
		folder[base] = files[i]
	}
}
FILENAME == "tools/layers.txt" {
	if ($0 !~ /^#/ && NF > 1)
	{
		layer = $1
		$1 = ""
		allowed[layer] = $0
	}
	next
}
FNR == 1 {
	layer = FILENAME
	sub(/^src\//, "", layer)
	if (layer ~ /\//) sub(/\/.*/, "", layer); else layer = "."
	if (!(layer in allowed)) problem("no such layer in tools/layers.txt: " layer)
	nincludes = 0
}
/^[ \t]*#[ \t]*include/ {
	name = $0
	sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
	quoted = name ~ /^"/
	sub(/^["<]/, "", name)
	sub(/[">].*/, "", name)
	nincludes++

	if (name == "postgres.h")
	{
		if (layer == "core") problem("core must not know PostgreSQL: " name)
		if (FILENAME ~ /\.h$/) problem("postgres.h belongs into .c files")
	}
	if (FILENAME ~ /\.c$/ && layer != "core" && nincludes == 1 && name != "postgres.h")
		problem("postgres.h must come first, not " name)

	if (quoted && name in ours)
	{
		fine = 0
		m = split(allowed[layer], prefix, " ")
		for (i = 1; i <= m; i++)
			if (index(name, prefix[i]) == 1) fine = 1
		if (!fine) problem(layer " must not include " name)
	}
	else if (quoted)
	{
		base = name
		sub(/.*\//, "", base)
		if (base in folder && folder[base] ~ ("/" name "$") && name !~ /\//)
			problem("write it relative to src/: " substr(folder[base], 5))
		else if (layer == "core")
			problem("core includes only core and the C library: " name)
	}
	if (name ~ /^(.*intrin|arm_neon|arm_sve)\.h$/ && FILENAME !~ /^src\/core\/simd\/kernels_[a-z0-9_]*\.c$/)
		problem(name " belongs into core/simd/kernels_*.c")
	if (name ~ /^(cpuid|sys\/auxv|asm\/hwcap)\.h$/ && FILENAME != "src/core/simd/cpu.c")
		problem(name " belongs into core/simd/cpu.c")
}
/__builtin_cpu_(supports|init|is)|__get_cpuid|__cpuid|getauxval/ {
	if (FILENAME != "src/core/simd/cpu.c") problem("only core/simd/cpu.c asks what the CPU can do")
}
/PG_VERSION_NUM/ {
	if (FILENAME != "src/pg/compat.h") problem("PG_VERSION_NUM belongs into pg/compat.h")
}
END { exit bad }
' tools/layers.txt "${sources[@]}" || status=1

# Each header stands alone.
server=""
if pg_config=$(find_pg_config ""); then server=$("$pg_config" --includedir-server); fi
# shellcheck disable=SC2317  # xargs calls it
header_alone() {
  local flags=(-std=gnu17 -Wall -Werror -Isrc)
  case $1 in
    src/core/*) flags[0]=-std=c17 ;;
    *)
      [ -n "$server" ] || return 0
      flags+=(-I"$server" -D_GNU_SOURCE -include postgres.h)
      ;;
  esac
  echo "#include \"${1#src/}\"" |
    cc "${flags[@]}" -fsyntax-only -x c - 2>&1 || {
    echo "$1: does not compile alone"
    return 1
  }
}
export -f header_alone
export server
[ -n "$server" ] || echo "layers: headers outside of core skipped: no PostgreSQL headers"
# shellcheck disable=SC2016  # the inner shell expands it
if ! printf '%s\n' "${sources[@]}" | grep '\.h$' |
  xargs -r -P "$(nproc)" -n 1 bash -c 'header_alone "$1"' -; then
  complain "layers: some header does not compile alone"
fi
exit $status
