#!/bin/bash
# check_versions.sh: bvhindex.control has the version; the others must agree.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" bvhindex.control)
status=0
agree() {
  if [ "$2" != "$version" ]; then
    echo "$1 says ${2:-nothing}, bvhindex.control says $version"
    status=1
  fi
}

[[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || {
  echo "bvhindex.control: not a three-part version: $version"
  status=1
}
while read -r v; do
  agree META.json "$v"
done < <(sed '/"meta-spec"/,/}/d; /"prereqs"/,/^  }/d' META.json | sed -n 's/.*"version": *"\([^"]*\)".*/\1/p')

script=$(sed -n 's/.*"file": *"\([^"]*\)".*/\1/p' META.json)
[ -e "$script" ] || {
  echo "META.json names $script, which does not exist"
  status=1
}
agree CHANGELOG.md "$(sed -n 's/^## *\([0-9][0-9.]*\).*/\1/p' CHANGELOG.md 2>/dev/null | head -n 1)"
agree "the newest script in sql/" \
  "$(find sql -name 'bvhindex--*.sql' | sed 's/.*--\(.*\)\.sql$/\1/' | sort -V | tail -n 1)"
exit $status
