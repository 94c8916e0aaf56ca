#!/bin/bash
# check_sql.sh: what an install script must not do.
#
# It runs as a superuser, in a schema that somebody else may have prepared.
# Anything that adopts an object which exists already, or that runs code with
# another's rights, is a way in.
set -euo pipefail
# shellcheck source=tools/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

status=0
for script in sql/*--*.sql; do
  [ -e "$script" ] || continue
  awk '
function problem(text) { print FILENAME ":" FNR ": " text; bad = 1 }
{
	line = $0
	sub(/--.*/, "", line)
	if (line ~ /^[ \t]*$/) next
	if (!nlines++ && line !~ /^\\echo Use "(CREATE|ALTER) EXTENSION bvhindex.*\\quit$/)
		problem("the first line must be the \\echo ... \\quit guard")
	upper = toupper(line)
	if (upper ~ /OR +REPLACE/) problem("no OR REPLACE: it would adopt an object of somebody else")
	if (upper ~ /IF +NOT +EXISTS/) problem("no IF NOT EXISTS: it would adopt an object of somebody else")
	if (upper ~ /^ *DO +(\$|LANGUAGE)/) problem("no DO blocks")
	if (upper ~ /SECURITY +DEFINER/) problem("no SECURITY DEFINER")
	if (upper ~ /SEARCH_PATH/) problem("do not touch search_path")
}
END { exit bad }' "$script" || status=1
done
exit $status
