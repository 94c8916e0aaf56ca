#!/bin/bash
# dist.sh: the release archive that PGXN takes, from what is committed.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

tools/check_versions.sh
version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" bvhindex.control)
mkdir -p "$build"
git archive --format=zip --prefix="bvhindex-$version/" -o "$build/bvhindex-$version.zip" HEAD
echo "$build/bvhindex-$version.zip"
