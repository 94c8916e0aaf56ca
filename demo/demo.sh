#!/bin/bash
# demo.sh: the main job on a real data set, on the server that PGHOST and PGPORT
# name (tools/server.sh starts a throw-away one).  Leaves a picture in $BVH_OUT.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n%s\n\n' "$*"; }
run() { psql -X -q -v ON_ERROR_STOP=1 "$@"; }
# one value
ask() { run -At -c "$1"; }

createdb demo
export PGDATABASE=demo

say 'The data: every wall, room and thing of the 32 maps of Freedoom, a free game
(BSD licence, see test/data). Each is a box; maps lie side by side, far apart.'
run <<'SQL'
CREATE EXTENSION bvhindex;
CREATE TABLE raw (id int, x1 float8, y1 float8, z1 float8, x2 float8, y2 float8, z2 float8);
CREATE TABLE attr (id int, map text, kind text, what text);
\copy raw FROM PROGRAM 'gzip -dc test/data/freedoom2_maps.csv.gz' WITH (FORMAT csv, HEADER)
\copy attr FROM PROGRAM 'gzip -dc test/data/freedoom2_maps.attr.csv.gz' WITH (FORMAT csv, HEADER)
CREATE TABLE parts AS
  SELECT id, map, kind, what, box3d(x1, y1, z1, x2, y2, z2) AS box
  FROM raw JOIN attr USING (id);
DROP TABLE raw, attr;
SELECT kind, count(*), box3d_extent(box) AS extent FROM parts GROUP BY kind ORDER BY kind;
SQL

say 'CREATE INDEX ON parts USING bvh (box);'
run <<'SQL'
\timing on
CREATE INDEX parts_box ON parts USING bvh (box) INCLUDE (id);
\timing off
VACUUM ANALYZE parts;
SELECT count(*) AS boxes, pg_size_pretty(pg_relation_size('parts_box')) AS index_size FROM parts;
SQL

say 'Overlap. The player starts here (thing 1 of MAP01); what is in the room around?'
run <<'SQL'
SELECT box AS here, box3d_expand(box, 128) AS room FROM parts
WHERE map = 'MAP01' AND kind = 'thing' AND what = '1' \gset
EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF)
  SELECT id FROM parts WHERE box && :'room';
SELECT kind, count(*), box3d_extent(box) AS extent FROM parts
WHERE box && :'room' GROUP BY kind ORDER BY kind;
SQL
found=$(ask "SELECT count(*) FROM parts p, parts me
  WHERE me.map = 'MAP01' AND me.kind = 'thing' AND me.what = '1' AND p.box && box3d_expand(me.box, 128)")
say "So: the index finds the $found boxes that meet the room, out of all 139,348, without reading the table."

say 'Nearest. Which five things are closest to the start, besides itself?'
run <<'SQL'
SELECT box AS here FROM parts WHERE map = 'MAP01' AND kind = 'thing' AND what = '1' \gset
EXPLAIN (COSTS OFF)
  SELECT id FROM parts WHERE kind = 'thing' ORDER BY box <-> :'here' OFFSET 1 LIMIT 5;
SELECT id, what, round((box <-> :'here')::numeric, 2) AS distance
FROM parts WHERE kind = 'thing' ORDER BY box <-> :'here' OFFSET 1 LIMIT 5;
SQL
say 'So: the index gives boxes in order of their exact distance, and the LIMIT stops it.'

say 'Clash. Which things stick deepest into a wall?'
run <<'SQL'
CREATE TABLE clash AS
SELECT t.map, t.id AS thing, w.id AS wall, box3d_penetration(t.box, w.box) AS depth, t.box * w.box AS common
FROM parts t JOIN parts w ON t.box && w.box
WHERE t.kind = 'thing' AND w.kind = 'wall' AND w.map = t.map;
EXPLAIN (COSTS OFF)
  SELECT t.id, w.id FROM parts t JOIN parts w ON t.box && w.box
  WHERE t.kind = 'thing' AND w.kind = 'wall' AND w.map = t.map;
SELECT * FROM clash ORDER BY depth DESC, thing, wall LIMIT 3;
SQL
say "So: $(ask 'SELECT count(*) FROM clash') pairs of a thing and a wall overlap, found with one probe of the index for each thing."

say 'Distance. What is within 2,000 units of the start, and does the planner know how much that is?'
run <<'SQL'
SELECT box AS here FROM parts WHERE map = 'MAP01' AND kind = 'thing' AND what = '1' \gset
EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF)
  SELECT id FROM parts WHERE box3d_dwithin(box, :'here', 2000);
SQL
say 'So: the planner expects about as many rows as there are, because ANALYZE keeps a sample of the boxes.'

# a plan of the first map from above: walls as lines, clashing things in red
picture=${BVH_OUT:-.}/map01.svg
run -At >"$picture" <<'SQL'
WITH m AS (SELECT * FROM parts WHERE map = 'MAP01'),
     e AS (SELECT box3d_expand(box3d_extent(box), 64) AS e FROM m WHERE kind = 'wall')
SELECT format('<svg xmlns="http://www.w3.org/2000/svg" viewBox="%s %s %s %s" width="800">' ||
              '<rect x="%1$s" y="%2$s" width="%3$s" height="%4$s" fill="white"/>',
              box3d_xmin(e), -box3d_ymax(e), (box3d_size(e))[1], (box3d_size(e))[2]) FROM e
UNION ALL
SELECT format('<line x1="%s" y1="%s" x2="%s" y2="%s" stroke="#456" stroke-width="4"/>',
              box3d_xmin(box), -box3d_ymin(box), box3d_xmax(box), -box3d_ymax(box))
FROM m WHERE kind = 'wall' AND (box3d_xmin(box) = box3d_xmax(box) OR box3d_ymin(box) = box3d_ymax(box))
UNION ALL
SELECT format('<rect x="%s" y="%s" width="%s" height="%s" fill="%s" fill-opacity="0.6"/>',
              box3d_xmin(box), -box3d_ymax(box), (box3d_size(box))[1], (box3d_size(box))[2],
              CASE WHEN id IN (SELECT thing FROM clash) THEN '#c22' ELSE '#2a6' END)
FROM m WHERE kind = 'thing'
UNION ALL SELECT '</svg>';
SQL
say "Done. A plan of the first map, clashing things in red, is in build/demo/map01.svg."
