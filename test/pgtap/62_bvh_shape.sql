-- What a bvh index looks like: how full its pages are, how many of them a query
-- reads, what bvh_stats(), bvh_nodes() and bvh_check() say of it, and when the
-- planner takes it.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/bvh_agree.sql
\i test/pgtap/include/kinds.sql
\i test/data/load.sql
SELECT no_plan();
-- these plans are about indexes; whether a join needs one is tested with the join
SET bvhindex.enable_join = off;
SET client_min_messages = warning;

-- ---------------------------------------------------------------------------
-- leaf pages that a small query reads after a build
-- ---------------------------------------------------------------------------

-- leaf_reads(tbl): leaf pages a query on average, for the boxes of "queries"; from
-- the pages read, less the inner ones whose box a query meets, and the root
CREATE FUNCTION leaf_reads(tbl name) RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
  inner_pages bigint;
  all_pages bigint;
BEGIN
  CREATE TEMP TABLE inner_nodes AS SELECT box, parent IS NULL AS is_root FROM bvh_nodes((tbl || '_b')::regclass) WHERE level > 0;
  SELECT count(*) INTO inner_pages FROM queries q, inner_nodes n WHERE box3d_overlaps(n.box, q.b) OR is_root;
  DROP TABLE inner_nodes;
  all_pages := index_pages(format('SELECT count(*) FROM queries q, LATERAL (SELECT FROM %I t WHERE t.b && q.b OFFSET 0) s', tbl));
  RETURN (all_pages - inner_pages)::numeric / (SELECT count(*) FROM queries);
END $$;

-- the bounds are what core/pack.c reaches by itself, with a page of the same size,
-- and 5 % for the choice of the probes
CREATE FUNCTION test_reads(tbl name, bound numeric) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  reads numeric;
BEGIN
  TRUNCATE queries;
  EXECUTE format('INSERT INTO queries SELECT id, b FROM (SELECT id, b, row_number() OVER () AS i, count(*) OVER () AS n FROM %I) s WHERE i %% (n / 2000) = 0', tbl);
  EXECUTE format('CREATE INDEX %s_b ON %1$I USING bvh (b)', tbl);
  reads := leaf_reads(tbl);
  RETURN NEXT cmp_ok(reads, '<=', 1.05 * bound, format('%s: %s leaf pages for its own boxes', tbl, round(reads, 3)));

  -- in many small runs, the seams cost something
  SET LOCAL maintenance_work_mem = '1MB';
  EXECUTE format('REINDEX INDEX %s_b', tbl);
  SET LOCAL maintenance_work_mem = '64MB';
  reads := leaf_reads(tbl);
  RETURN NEXT cmp_ok(reads, '<=', 1.5 * bound, format('%s, sorted: %s leaf pages', tbl, round(reads, 3)));
END $$;
SELECT test_reads('freedoom2_maps', 3.25);
SELECT test_reads('octomap_geb079_occ', 2.15);
SELECT test_reads('ifc_house_triangles', 7.89);

CREATE TABLE million AS SELECT i AS id, box3d(x, y, z, x + random() * 4, y + random() * 4, z + random() * 4) AS b
  FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 1000000) i) s;
CREATE INDEX million_b ON million USING bvh (b);
TRUNCATE queries;
INSERT INTO queries SELECT i, box3d(x, y, z, x + 10, y + 10, z + 10)
  FROM (SELECT i, random() * 990 x, random() * 990 y, random() * 990 z FROM generate_series(1, 2000) i) s;
SELECT cmp_ok(reads, '<=', 1.05 * 1.92, format('a million random boxes: %s leaf pages for boxes of side 10', round(reads, 3))) FROM leaf_reads('million') reads;
SELECT is((SELECT height FROM bvh_stats('million_b')), 3, 'a million boxes are three levels');
SELECT cmp_ok((SELECT sibling_overlap FROM bvh_stats('million_b')), '<', 0.2::float8, 'few of its pages overlap their siblings');
DROP TABLE million;

-- a scan reads the pages whose boxes it meets, and no other
CREATE FUNCTION test_exact_reads(operator text, meets text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  want bigint;
BEGIN
  CREATE TEMP TABLE all_nodes AS SELECT * FROM bvh_nodes('ifc_house_triangles_b');
  EXECUTE format('SELECT count(*) FROM queries q, all_nodes n WHERE %s OR parent IS NULL', meets) INTO want;
  DROP TABLE all_nodes;
  RETURN NEXT is(index_pages(format('SELECT count(*) FROM queries q, LATERAL (SELECT FROM ifc_house_triangles t WHERE t.b %s q.b OFFSET 0) s', operator)), want,
                 operator || ' reads the pages that it must');
END $$;
TRUNCATE queries;
INSERT INTO queries SELECT id, b FROM ifc_house_triangles WHERE id % 100 = 0;
SELECT t FROM (VALUES ('&&', 'n.box && q.b'), ('@>', 'n.box @> q.b'), ('<@', 'n.box && q.b'), ('=', 'n.box @> q.b'), ('&&+', 'box3d_overlaps_strictly(n.box, q.b)'),
  ('<<', 'box3d_xmin(n.box) < box3d_xmin(q.b)'), ('/>>', 'box3d_zmax(n.box) > box3d_zmax(q.b)')) v(operator, meets), LATERAL test_exact_reads(operator, meets) t;

-- ---------------------------------------------------------------------------
-- how full pages are, and what is said of them
-- ---------------------------------------------------------------------------

CREATE FUNCTION capacity(fillfactor int) RETURNS int LANGUAGE sql AS
$$ SELECT (current_setting('block_size')::int - 40 - current_setting('block_size')::int * (100 - fillfactor) / 100) / 60 $$;

-- as few pages as the boxes need, all alike, on every level but the root
CREATE FUNCTION test_full(kind text, n int, fillfactor int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  what text := format('%s %s, fillfactor %s', n, kind, fillfactor);
BEGIN
  CREATE TABLE made AS SELECT * FROM boxes_of(kind, n);
  EXECUTE format('CREATE INDEX made_b ON made USING bvh (b) WITH (fillfactor = %s)', fillfactor);
  RETURN NEXT results_eq('SELECT level, count(*)::int AS pages FROM bvh_nodes(''made_b'') GROUP BY level ORDER BY level',
    format('WITH RECURSIVE levels(level, pages) AS (
        SELECT 0, ceil((SELECT count(*) FROM made)::numeric / %1$s)::int
        UNION ALL SELECT level + 1, ceil(pages::numeric / %1$s)::int FROM levels WHERE pages > 1)
      SELECT * FROM levels', capacity(fillfactor)), what || ': pages of each level');
  RETURN NEXT is_empty('SELECT level, min(tuples), max(tuples) FROM bvh_nodes(''made_b'') GROUP BY level HAVING max(tuples) > min(tuples) + 1', what || ': pages of a level differ by one item at most');
  RETURN NEXT is_empty('SELECT * FROM bvh_check(''made_b'', true)', what || ': sound');
  DROP TABLE made;
END $$;
SELECT t FROM kinds, LATERAL test_full(kind, 3000, 90) t;
SELECT t FROM unnest(ARRAY[1, 2, 122, 123, 244, 245, 1000, 14884, 14885, 20000]) n, LATERAL test_full('random', n, 90) t;
SELECT t FROM unnest(ARRAY[10, 37, 100]) f, LATERAL test_full('two scales', 5000, f) t;
SELECT t FROM test_full('identical', 100000, 90) t;
SELECT t FROM test_full('nested', 20000, 100) t;

-- bvh_nodes() is a tree, bvh_stats() its sums
CREATE FUNCTION test_stats(index regclass, what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  s record;
  area float8;
BEGIN
  SELECT * INTO s FROM bvh_stats(index);
  CREATE TEMP TABLE n AS SELECT * FROM bvh_nodes(index);
  RETURN NEXT is((SELECT array_agg(p ORDER BY level) FROM (SELECT level, count(*) AS p FROM n GROUP BY level) v), s.level_pages, what || ': pages of the levels');
  RETURN NEXT is((SELECT array_agg(p ORDER BY level) FROM (SELECT level, sum(tuples) AS p FROM n GROUP BY level) v)::bigint[], s.level_tuples, what || ': tuples of the levels');
  RETURN NEXT is(s.level_tuples[2:], s.level_pages[:cardinality(s.level_pages) - 1], what || ': a downlink for each page');
  RETURN NEXT is(ARRAY[s.pages, s.tuples, s.height], ARRAY[(SELECT sum(p) FROM unnest(s.level_pages) p), s.level_tuples[1], CASE WHEN s.level_tuples[1] > 0 THEN cardinality(s.level_pages) ELSE 0 END]::bigint[],
                 what || ': the totals');
  RETURN NEXT ok((SELECT count(*) = 1 FROM n WHERE parent IS NULL) AND (SELECT block = 0 AND level = cardinality(s.level_pages) - 1 FROM n WHERE parent IS NULL), what || ': block 0 is the root');
  RETURN NEXT is((SELECT count(DISTINCT block) FROM n), s.pages, what || ': each page once');
  RETURN NEXT is_empty('SELECT c.block FROM n c LEFT JOIN n p ON p.block = c.parent AND p.level = c.level + 1 WHERE c.parent IS NOT NULL AND p.block IS NULL', what || ': parents are one level up');
  RETURN NEXT is_empty('SELECT c.block FROM n c JOIN n p ON p.block = c.parent WHERE NOT p.box @> c.box', what || ': and contain their children');
  RETURN NEXT is_empty('SELECT p.block FROM n p LEFT JOIN n c ON c.parent = p.block WHERE p.level > 0 GROUP BY p.block, p.tuples HAVING count(c.block) <> p.tuples', what || ': as many children as tuples');
  RETURN NEXT ok(s.leaf_fill BETWEEN 0 AND 1 AND s.sibling_overlap BETWEEN 0 AND 1 AND s.dead_space BETWEEN 0 AND 1, format('%s: parts of 1 (%s, %s, %s)', what, s.leaf_fill, s.sibling_overlap, s.dead_space));
  RETURN NEXT ok(s.sah_cost >= 0 AND s.sah_cost < 'NaN', what || ': the cost is a number');
  area := (SELECT box3d_surface_area(box) FROM n WHERE parent IS NULL);
  IF area > 1e-300 AND area < 'Infinity' THEN
    RETURN NEXT ok(abs(s.sah_cost / (SELECT sum(box3d_surface_area(box) / area) FROM n) - 1) < 1e-9, format('%s: the cost is the area of all pages in root areas (%s)', what, s.sah_cost));
  END IF;
  DROP TABLE n;
END $$;
CREATE FUNCTION test_stats_of_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE made AS SELECT * FROM boxes_of(kind, 1500);
  CREATE INDEX made_b ON made USING bvh (b);
  RETURN QUERY SELECT test_stats('made_b', kind || ', built');
  INSERT INTO made SELECT * FROM boxes_of(kind, 1500);
  INSERT INTO made SELECT -i FROM generate_series(1, 500) i;
  RETURN QUERY SELECT test_stats('made_b', kind || ', inserted');
  DROP TABLE made;
END $$;
SELECT t FROM kinds, LATERAL test_stats_of_kind(kind) t;
CREATE TABLE empty (id int, b box3d);
CREATE INDEX empty_b ON empty USING bvh (b);
SELECT test_stats('empty_b', 'no rows');
SELECT results_eq($$SELECT height, pages, tuples, dead_tuples, leaf_fill, sah_cost, sibling_overlap, dead_space, level_pages, level_tuples FROM bvh_stats('empty_b')$$,
  $$VALUES (0, 1::bigint, 0::bigint, 0::bigint, 0::float8, 0::float8, 0::float8, 0::float8, '{1}'::bigint[], '{0}'::bigint[])$$, 'no rows: all figures');
INSERT INTO empty SELECT i, '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)' FROM generate_series(1, 1000) i;
SELECT test_stats('empty_b', 'all of space');
TRUNCATE empty;
INSERT INTO empty SELECT -i FROM generate_series(1, 2000) i;
SELECT test_stats('empty_b', 'only NULL keys');
SELECT is((SELECT count(*)::int FROM bvh_nodes('empty_b') WHERE box IS NOT NULL), 0, 'only NULL keys: no boxes');
CREATE TABLE tiles AS SELECT * FROM boxes_of('tiles', 20000);
CREATE INDEX tiles_b ON tiles USING bvh (b);
SELECT cmp_ok((SELECT sibling_overlap FROM bvh_stats('tiles_b')), '<', 0.1::float8, 'pages of tiles hardly overlap');
SELECT cmp_ok((SELECT dead_space FROM bvh_stats('tiles_b')), '<', 0.4::float8, 'and are mostly full of them');

-- inserts one by one, in order, make a tree that is no higher, nor much larger
CREATE TABLE in_order (id int, b box3d);
CREATE INDEX in_order_b ON in_order USING bvh (b);
INSERT INTO in_order SELECT * FROM tiles ORDER BY id;
SELECT cmp_ok((SELECT height FROM bvh_stats('in_order_b')), '<=', (SELECT height FROM bvh_stats('tiles_b')) + 1, 'tiles inserted in order: height');
SELECT cmp_ok((SELECT sah_cost FROM bvh_stats('in_order_b')), '<=', (SELECT 2 * sah_cost FROM bvh_stats('tiles_b')), 'tiles inserted in order: area');
SELECT is_empty('SELECT unsound()', 'sound');

-- ---------------------------------------------------------------------------
-- of other indexes
-- ---------------------------------------------------------------------------

CREATE INDEX tiles_gist ON tiles USING gist (b);
CREATE INDEX tiles_gist2 ON tiles USING gist (b) INCLUDE (id) WITH (fillfactor = 50);
SELECT test_stats('tiles_gist', 'gist');
SELECT is_empty($$SELECT * FROM bvh_check('tiles_gist', true)$$, 'bvh_check() of a gist index');
INSERT INTO tiles SELECT -id, b FROM boxes_of('random', 3000);
SELECT test_stats('tiles_gist2', 'gist, after inserts');
SELECT is_empty($$SELECT * FROM bvh_check('tiles_gist2', true)$$, 'bvh_check() of a gist index, after inserts');
-- the parameter is optional
SELECT is_empty($$SELECT * FROM bvh_check('tiles_b')$$, 'bvh_check() without the rows of the table');

CREATE INDEX tiles_btree ON tiles (b);
CREATE TABLE words (r int4range, p point);
CREATE INDEX words_gist ON words USING gist (r);
CREATE INDEX words_both ON words USING gist (r, p);
CREATE TABLE parts (b box3d) PARTITION BY HASH (b);
CREATE INDEX parts_b ON parts USING bvh (b);
CREATE VIEW one AS SELECT 1 AS one;
SELECT throws_ok(format('SELECT %s(%L)', f, r), '42809', format('"%s" is not an index on boxes', r), format('%s: %s', f, r))
  FROM unnest(ARRAY['bvh_check', 'bvh_stats', 'bvh_nodes']) f, unnest(ARRAY['tiles', 'tiles_btree', 'words_gist', 'words_both', 'one', 'kinds']) r;
SELECT throws_ok(format('SELECT %s(%L)', f, 'parts_b'), '42809', '"parts_b" is a partitioned index', f || ': a partitioned index')
  FROM unnest(ARRAY['bvh_check', 'bvh_stats', 'bvh_nodes', 'bvh_cache_load', 'bvh_cache_drop']) f;
SELECT throws_ok(format('SELECT %s(%L)', f, r), '42809', format('"%s" is not a bvh index', r), format('%s: %s', f, r))
  FROM unnest(ARRAY['bvh_cache_load', 'bvh_cache_drop']) f, unnest(ARRAY['tiles', 'tiles_btree', 'words_gist', 'tiles_gist2', 'one']) r;
SELECT throws_ok(format('SELECT %s(1)', f), 'XX000', NULL, f || ': no relation') FROM unnest(ARRAY['bvh_check', 'bvh_stats', 'bvh_nodes']) f;
SELECT is_empty('SELECT * FROM bvh_check(NULL)', 'bvh_check(NULL)');

-- ---------------------------------------------------------------------------
-- who may ask
-- ---------------------------------------------------------------------------

CREATE ROLE bvh_anybody;
CREATE ROLE bvh_monitor;
GRANT pg_stat_scan_tables TO bvh_monitor;
CREATE FUNCTION test_privilege(call text, role name, may bool) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'SET LOCAL ROLE ' || role;
  IF may THEN
    RETURN NEXT lives_ok('SELECT * FROM ' || call, format('%s may call %s', role, call));
  ELSE
    RETURN NEXT throws_ok('SELECT * FROM ' || call, '42501', NULL, format('%s may not call %s', role, call));
  END IF;
  RESET ROLE;
END $$;
GRANT ALL ON ALL TABLES IN SCHEMA public TO bvh_anybody, bvh_monitor;
-- pgTAP keeps its count in tables and sequences of the session
SELECT format('GRANT ALL ON ALL TABLES IN SCHEMA %s TO bvh_anybody, bvh_monitor; GRANT ALL ON ALL SEQUENCES IN SCHEMA %1$s TO bvh_anybody, bvh_monitor', nspname)
  FROM pg_namespace WHERE oid = pg_my_temp_schema() \gexec
SELECT t FROM unnest(ARRAY['bvh_check(''tiles_b'')', 'bvh_check(''tiles_b'', true)', 'bvh_stats(''tiles_b'')', 'bvh_nodes(''tiles_b'')']) call,
  (VALUES ('bvh_anybody', false), ('bvh_monitor', true)) r(role, may), LATERAL test_privilege(call, role, may) t;
SELECT is_empty($$SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'bvhindex' WHERE p.proname ~ '^bvh' AND obj_description(p.oid, 'pg_proc') IS NULL$$, 'all functions have a description');

-- ---------------------------------------------------------------------------
-- plans, with no setting changed
-- ---------------------------------------------------------------------------

CREATE TABLE rnd (id int PRIMARY KEY, name text, b box3d);
INSERT INTO rnd SELECT i, 'box ' || i, box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5)
  FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 20000) i) s;
CREATE INDEX rnd_bvh ON rnd USING bvh (b);
CREATE INDEX rnd_gist ON rnd USING gist (b);
ANALYZE rnd;
SELECT matches(plan_of('SELECT * FROM rnd WHERE b && box3d(0, 0, 0, 1005, 1005, 1005)'), '^Seq Scan on rnd', 'all rows: a sequential scan');
SELECT matches(plan_of('SELECT * FROM rnd WHERE b && box3d(0, 0, 0, 1000, 1000, 500)'), '^Seq Scan on rnd', 'half of them: a sequential scan');
SELECT matches(plan_of('SELECT * FROM rnd WHERE b << box3d(900, 0, 0)'), '^Seq Scan on rnd', 'most of them on one side: a sequential scan');
SELECT matches(plan_of('SELECT * FROM rnd WHERE b && box3d(0, 0, 0, 300, 300, 300)'), '^Bitmap Heap Scan on rnd.*Bitmap Index Scan on rnd_bvh', 'some hundreds: a bitmap');
SELECT matches(plan_of('SELECT * FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2)'), '^Index Scan using rnd_bvh', 'one: an index scan');
CREATE FUNCTION test_preferred(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RETURN ok(plan_of(query) ~ 'rnd_bvh' AND plan_of(query) !~ 'rnd_gist', 'bvh rather than gist: ' || query);
END $$;
CREATE TABLE forms (query text);
INSERT INTO forms VALUES
  ('SELECT * FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2)'),
  ('SELECT * FROM rnd WHERE b && box3d(1, 1, 1, 200, 200, 200)'),
  ('SELECT name FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2) AND id > 5'),
  ('SELECT b FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2)'),
  ('SELECT * FROM rnd WHERE b <@ box3d(1, 1, 1, 60, 60, 60)'),
  ('SELECT * FROM rnd WHERE b @> box3d(1, 1, 1)'),
  ('SELECT * FROM rnd WHERE b ~= box3d(1, 1, 1, 2, 2, 2)'),
  ('SELECT * FROM rnd WHERE b &&+ box3d(1, 1, 1, 2, 2, 2)'),
  ('SELECT * FROM rnd WHERE b << box3d(3, 0, 0)'),
  ('SELECT * FROM rnd WHERE box3d(0, 0, 997) <</ b'),
  ('SELECT * FROM rnd WHERE b && box3d(1, 1, 1, 9, 9, 9) AND b |>> box3d(0, 3, 0)'),
  ('SELECT * FROM rnd WHERE box3d_dwithin(b, box3d(500, 500, 500), 20)'),
  ('SELECT * FROM rnd WHERE box3d_dwithin(b, box3d(500, 500, 500), 200)'),
  ('SELECT * FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2) OR b && box3d(500, 500, 500, 501, 501, 501)'),
  ('SELECT * FROM rnd WHERE b && ANY (ARRAY[box3d(1, 1, 1, 2, 2, 2), box3d(500, 500, 500, 501, 501, 501)])'),
  ('SELECT * FROM rnd ORDER BY b <-> box3d(1, 1, 1) LIMIT 5'),
  ('SELECT * FROM rnd ORDER BY b <-> box3d(1, 1, 1) LIMIT 2000'),
  ('SELECT * FROM rnd WHERE b && box3d(1, 1, 1, 200, 200, 200) ORDER BY b <-> box3d(1, 1, 1) LIMIT 5'),
  ('SELECT a.id, c.id FROM rnd a JOIN rnd c ON a.b && c.b AND a.id < c.id'),
  ('SELECT a.id, c.id FROM rnd a, LATERAL (SELECT id FROM rnd WHERE b && a.b) c'),
  ('SELECT a.id, (SELECT c.id FROM rnd c ORDER BY c.b <-> a.b LIMIT 1) FROM rnd a WHERE a.id < 50'),
  ('DELETE FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2)');
SELECT test_preferred(query) FROM forms;
-- also when it was made last
DROP INDEX rnd_bvh;
CREATE INDEX rnd_bvh ON rnd USING bvh (b);
SELECT test_preferred(query) FROM forms;
-- names and schemas do not matter
ALTER OPERATOR FAMILY box3d_ops USING bvh RENAME TO renamed;
SELECT test_preferred('SELECT * FROM rnd WHERE box3d_dwithin(b, box3d(500, 500, 500), 20)');
ALTER OPERATOR FAMILY renamed USING bvh RENAME TO box3d_ops;
-- an estimate is a number, whatever the index
CREATE INDEX ON empty USING bvh (b);
SELECT lives_ok('EXPLAIN SELECT * FROM empty WHERE b && box3d(1, 1, 1)', 'a plan without statistics');

SELECT * FROM finish();
ROLLBACK;
