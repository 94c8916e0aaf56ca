-- A BVH join answers as a nested loop does: every operator and distance, every kind
-- of join, boxes of every kind, any memory, every instruction set, on either side.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();
SET client_min_messages = warning;

\i test/pgtap/include/joins.sql

CREATE TABLE a (id int, b box3d, k int, s text);
CREATE TABLE c (id int, b box3d, k int, t text);

-- fill(): boxes of two kinds, NULLs among them; some rows long
CREATE FUNCTION fill(a_kind text, na int, c_kind text, nc int, nnulls int) RETURNS void LANGUAGE sql AS $$
  TRUNCATE a, c;
  INSERT INTO a SELECT id, b, id % 7, repeat('a', id % 50) FROM boxes_of(a_kind, na);
  INSERT INTO a SELECT -i, NULL, i % 7, 'null' FROM generate_series(1, nnulls) i;
  INSERT INTO c SELECT id, b, id % 5, CASE WHEN id % 3 > 0 THEN repeat('c', id % 300) END FROM boxes_of(c_kind, nc);
  INSERT INTO c SELECT -i, NULL, i % 5, NULL FROM generate_series(1, nnulls) i;
$$;

-- ---------------------------------------------------------------------------
-- every operator, either argument on either side
-- ---------------------------------------------------------------------------

SELECT fill('random', 300, 'random', 200, 20);
INSERT INTO c SELECT id + 1000, b, k, s FROM a WHERE id % 10 = 0;
ANALYZE a, c;
SELECT is_empty(format('SELECT join_disagreements(%L, ''{4MB,64kB}'', %L)', condition, simd_levels()), condition)
FROM search_operators, LATERAL (VALUES (format('a.b %s c.b', op)), (format('c.b %s a.b', op))) v(condition) WHERE name <> '=';
SELECT is_empty(format('SELECT join_disagreements(%L, ''{4MB,64kB}'', %L)', condition, simd_levels()), condition)
FROM (VALUES ('box3d_dwithin(a.b, c.b, 20)'), ('box3d_dwithin(c.b, a.b, 0)'), ('box3d_dwithin(a.b, c.b, -1)'),
             ('box3d_dwithin(a.b, c.b, ''Infinity'')')) v(condition);
SELECT is_empty($$SELECT join_differs('SELECT a.id, c.id AS cid FROM a LEFT JOIN c ON box3d_dwithin(c.b, a.b, CASE WHEN a.k < 6 THEN 4 * a.k - 4 END)', 'Left')
                  EXCEPT SELECT NULL$$, 'a distance of the outer row, NULL too');

-- expressions of either side, and conditions of each kind beside
SELECT is(join_differs(query, type, '{4MB,64kB}'), NULL, query) FROM (VALUES
  ('Inner', 'SELECT a.id, c.id AS cid FROM a JOIN c ON box3d_expand(a.b, 5) && box3d_translate(c.b, 10, 10, c.k)'),
  ('Inner', 'SELECT a.id, c.id AS cid FROM a JOIN c ON a.b && c.b AND a.b << box3d_translate(c.b, 30, 0, 0)'),
  ('Inner', 'SELECT a.id, c.id AS cid FROM a JOIN c ON a.b && c.b AND (a.b << c.b OR a.k = c.k)'),
  ('Inner', 'SELECT a.id, c.id AS cid FROM a JOIN c ON a.b && c.b WHERE a.k > 2 AND c.k > 2 AND a.k + c.k <> 7'),
  ('Inner', 'SELECT a.ctid, c.tableoid, a, (c).id + 1 AS next FROM a JOIN c USING (k) WHERE a.b && c.b AND a.id <> c.id'),
  ('Inner', 'SELECT a.id, c.id AS cid, a.b * c.b AS common FROM a JOIN (SELECT id, box3d_expand(b, 1) AS b FROM c WHERE k > 1) c ON a.b && c.b'),
  ('Inner', 'WITH w AS MATERIALIZED (SELECT * FROM a) SELECT x.id, y.id AS yid FROM w x JOIN w y ON x.b && y.b AND x.id < y.id'),
  ('Inner', 'SELECT x.id, y.id AS yid FROM a x JOIN a y ON x.b && y.b'),
  ('Inner', 'SELECT x.id, y.id AS yid FROM a x JOIN a y ON x.b && y.b AND x.id < y.id'),
  ('Left', 'SELECT a.id, v.w FROM a LEFT JOIN (SELECT *, coalesce(t, ''none'') AS w FROM c) v ON a.b && v.b'),
  ('Left', 'SELECT a.id, v.id AS vid, v.w FROM a LEFT JOIN (SELECT c.*, 1 AS w FROM c) v ON a.b && v.b AND v.k > a.k WHERE coalesce(v.w, 2) > 0'),
  ('Left', 'SELECT x.id, v.n FROM a x LEFT JOIN (SELECT k, box3d_extent(b) AS b, count(*) AS n FROM c GROUP BY k, id % 9) v ON x.b && v.b'),
  ('Inner', 'SELECT x.id, y.id AS yid, z.id AS zid FROM a x JOIN (a y LEFT JOIN c z ON y.b && z.b AND y.k < z.k) ON x.b && y.b AND x.k = z.k'),
  ('(Left|Inner)', 'SELECT x.id, y.id AS yid, z.id AS zid FROM a x LEFT JOIN a y ON x.b && y.b AND x.id < y.id LEFT JOIN c z ON y.b && z.b'),
  ('Semi', 'SELECT id FROM a WHERE EXISTS (SELECT FROM c JOIN a x USING (k) WHERE a.b && c.b AND x.id = c.id - 1000)'),
  ('Inner', 'SELECT a.id, (SELECT count(*) FROM c WHERE c.k = x.k) AS n FROM a JOIN a x ON a.b && x.b'),
  ('Inner', 'SELECT a.id, x.id AS xid FROM a JOIN a x ON a.b && x.b AND a.k > (SELECT min(k) FROM c WHERE c.id = x.id + 1000)')) v(type, query);

-- sides of all sizes
CREATE FUNCTION test_sizes(na int, nc int, nnulls int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fill('random', na, 'random', nc, nnulls);
  RETURN NEXT is_empty(format('SELECT join_disagreements(''a.b && c.b'', %L)', '{4MB,64kB}'), format('%s rows and %s, %s NULLs each', na, nc, nnulls));
END $$;
SELECT test_sizes(na, nc, nnulls) FROM (VALUES (0, 0, 0), (0, 50, 0), (50, 0, 0), (0, 50, 9), (50, 0, 9), (1, 3000, 0), (3000, 1, 5), (108, 10, 0), (0, 0, 3)) v(na, nc, nnulls);

-- ---------------------------------------------------------------------------
-- boxes of every kind
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fill(kind, 130, kind, 130, 5);
  RETURN NEXT is_empty($q$SELECT join_disagreements(condition, '{4MB,64kB}') FROM (VALUES ('a.b && c.b'), ('a.b &&+ c.b'), ('a.b @> c.b'), ('c.b ~= a.b'),
                          ('a.b <</ c.b'), ('box3d_dwithin(a.b, c.b, 1)')) v(condition)$q$, kind);
  PERFORM fill(kind, 900, 'random', 30, 5);
  RETURN NEXT is_empty($q$SELECT join_disagreements('a.b && c.b', '{4MB,64kB}')$q$, kind || ' and random');
END $$;
SELECT t FROM kinds, LATERAL test_kind(kind) t;

-- in several passes, an operator for which boxes may be anywhere
SELECT fill('random', 1500, 'random', 1500, 20);
ANALYZE a, c;
SELECT is(join_differs(query, type, '{4MB,64kB}'), NULL, 'several passes: ' || query) FROM (VALUES
  ('Inner', 'SELECT a.id, c.id AS cid, a.s FROM a JOIN c ON a.b << c.b AND a.k + c.k = 10'),
  ('Left', 'SELECT a.id, c.id AS cid, a.s FROM a LEFT JOIN c ON a.b <</ c.b AND a.k + c.k = 10'),
  ('Semi', 'SELECT a.id, a.s FROM a WHERE EXISTS (SELECT FROM c WHERE a.b << c.b AND a.k + c.k = 10)'),
  ('Anti', 'SELECT a.id, a.s FROM a WHERE NOT EXISTS (SELECT FROM c WHERE a.b |>> c.b)')) v(type, query);

-- ---------------------------------------------------------------------------
-- memory
-- ---------------------------------------------------------------------------

SELECT fill('random', 20000, 'random', 6000, 100);
INSERT INTO a SELECT 100000 + id, b, 1, repeat('long', 5000) FROM boxes_of('random', 50);
ANALYZE a, c;
SELECT use_join('bvh');
SET work_mem = '64kB';
SELECT cmp_ok((p).passes, '>', 10, format('%s: many passes', type)) FROM join_shapes, LATERAL passes_of(format(query, 'a.b && c.b')) p WHERE query ~ 'a\.s' OR query ~ 'c\.t';
SELECT cmp_ok((p).memory, '<=', 141, format('%s: memory', type)) FROM join_shapes, LATERAL passes_of(format(query, 'a.b && c.b')) p WHERE query ~ '1 FROM';
RESET work_mem;
SELECT use_join('any');
CREATE INDEX ON c USING bvh (b);
ANALYZE c;
SELECT is_empty($$SELECT join_disagreements('a.b && c.b', '{64kB,256kB,1MB,64MB}')$$, 'from 64 kB on');

-- as many matches as can be
SELECT fill('identical', 300, 'identical', 9000, 0);
SELECT is_empty($$SELECT join_disagreements('a.b && c.b', '{64kB,4MB}')$$, 'all boxes equal');
TRUNCATE a;
INSERT INTO a SELECT i, box3d(-i, -i, -i, i, i, i), i, NULL FROM generate_series(1, 5000) i;
ANALYZE a;
SELECT use_join('bvh');
SELECT is((SELECT count(*) FROM a x JOIN a y ON x.b && y.b AND x.id < y.id), 5000 * 4999 / 2::bigint, '5,000 boxes that all overlap: each pair once');
SELECT is((SELECT count(*) FROM a x JOIN a y ON x.b @> y.b), 5000 * 5001 / 2::bigint, '5,000 nested boxes');
SET LOCAL work_mem = '64kB';
SELECT is((SELECT count(*) FROM a x JOIN a y ON x.b && y.b AND x.id < y.id), 5000 * 4999 / 2::bigint, 'likewise, in many passes');
RESET work_mem;
SELECT use_join('any');

-- ---------------------------------------------------------------------------
-- the real sets
-- ---------------------------------------------------------------------------

\i test/data/load.sql
CREATE TABLE oracle_join (name text PRIMARY KEY, pairs bigint);
\copy oracle_join FROM 'test/data/oracle_join.csv' WITH (FORMAT csv, HEADER)
CREATE VIEW maps AS SELECT * FROM freedoom2_maps JOIN freedoom2_maps_attr USING (id);
CREATE VIEW triangles AS SELECT * FROM ifc_house_triangles JOIN ifc_house_triangles_attr USING (id);
CREATE VIEW bones AS SELECT * FROM mocap_bones JOIN mocap_bones_attr USING (id);
ANALYZE;
CREATE TABLE joins (name text, query text);
INSERT INTO joins VALUES
  ('freedoom things and walls', 'FROM maps t JOIN maps w ON t.b && w.b WHERE t.kind = ''thing'' AND w.kind = ''wall'''),
  ('freedoom things and spaces', 'FROM maps t JOIN maps s ON t.b && s.b WHERE t.kind = ''thing'' AND s.kind = ''space'''),
  ('ifc elements', 'FROM ifc_house_elements a JOIN ifc_house_elements c ON a.b && c.b AND a.id < c.id'),
  ('ifc furniture and walls', 'FROM triangles s JOIN triangles f ON s.b && f.b WHERE s.kind IN (''IfcWallStandardCase'', ''IfcSlab'') AND f.kind = ''IfcFurnishingElement'''),
  ('mocap bones of a frame', 'FROM bones a JOIN bones c ON a.take = c.take AND a.frame = c.frame AND a.id < c.id AND a.b && c.b');
CREATE FUNCTION test_join(name text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  PERFORM use_join('bvh');
  -- for the joins of boxes and their labels
  SET LOCAL enable_hashjoin = on;
  FOR i IN 1 .. 2 LOOP
    PERFORM set_config('work_mem', (ARRAY['64MB', '256kB'])[i], true);
    EXECUTE 'SELECT count(*) ' || query INTO n;
    RETURN NEXT is(n, (SELECT pairs FROM oracle_join o WHERE o.name = test_join.name), format('%s, work_mem %s', name, current_setting('work_mem')));
  END LOOP;
  IF name !~ 'mocap' THEN
    RETURN NEXT alike(plan_of('SELECT count(*) ' || query), '%BVH Join%', name || ': plan');
  END IF;
  PERFORM use_join('any');
END $$;
SELECT t FROM joins, LATERAL test_join(name, query) t;

SELECT * FROM finish();
ROLLBACK;
