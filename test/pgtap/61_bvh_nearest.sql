-- ORDER BY b <-> query through a bvh index gives the same distances, bit for bit,
-- in the same order as a sort; NULL comes last, whatever is asked for besides.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/bvh_agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();
SET client_min_messages = warning;

\set bulk_paths '{index,only}'
\i test/pgtap/include/nearest.sql

-- ---------------------------------------------------------------------------
-- many rows
-- ---------------------------------------------------------------------------

CREATE TABLE many AS SELECT i AS id, box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5) AS b
  FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 60000) i) s;
INSERT INTO many SELECT -i FROM generate_series(1, 3000) i;
SET maintenance_work_mem = '1MB';
CREATE INDEX many_b ON many USING bvh (b);
RESET maintenance_work_mem;
TRUNCATE queries;
INSERT INTO queries SELECT i, box3d(random() * 1000, random() * 1000, random() * 1000) FROM generate_series(1, 2) i;
SELECT is_empty(format($$SELECT * FROM nearest_disagreements('many', 'many_b', '{index,only}', %L)$$, simd_levels()),
  '63,000 rows, those without a box last');
INSERT INTO queries SELECT i, box3d(x, y, z, x + 20, y + 20, z + 20) FROM
  (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(3, 14) i) s;
SELECT is_empty(format($$SELECT * FROM nearest_disagreements('many', 'many_b', row_limit => %s)$$, n), format('the first %s', n))
  FROM unnest(ARRAY[1, 10, 1000]) n;

-- with conditions: on other columns, on the box, on both, on whether there is one
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', '{index}', filter => 'id % 1000 = 7', row_limit => 5)$$,
  'with a condition: as many as asked for');
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', filter => 'b && box3d(100,100,100,300,300,300)')$$,
  'with a condition on the box');
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', filter => 'b && box3d(100,100,100,300,300,300) AND b << box3d(200,0,0) AND b |&> box3d(0,150,0)')$$,
  'with three conditions on the box');
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', '{index}', filter => 'b <@ box3d(100,100,100,500,500,500) AND id % 7 = 0', row_limit => 20)$$,
  'with conditions on both');
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', filter => 'b IS NOT NULL', row_limit => 2000)$$, 'with IS NOT NULL');
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', filter => 'b IS NULL')$$, 'with IS NULL');
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', filter => 'b && box3d(-9,-9,-9)')$$, 'with a condition that nothing meets');

-- rows inserted, moved and deleted since the build
UPDATE many SET b = box3d_translate(b, 3, 3, 3) WHERE id % 50 = 0;
DELETE FROM many WHERE id % 3 = 0;
INSERT INTO many SELECT 100000 + id, box3d_translate(b, 500, 500, 500) FROM boxes_of('random', 5000);
INSERT INTO many SELECT 200000 + id, b FROM boxes_of('infinite', 300);
SELECT is_empty(format($$SELECT * FROM nearest_disagreements('many', 'many_b', '{index,only}', %L, row_limit => 500)$$, simd_levels()),
  'after updates, deletes, inserts');

-- ---------------------------------------------------------------------------
-- several distances
-- ---------------------------------------------------------------------------

-- many rows at the same distance to the first, so that the second decides
CREATE TABLE shells AS SELECT i AS id, box3d(x, y, z, x + i % 3, y + i % 2, z) AS b
  FROM (SELECT i, (random() * 6)::int x, (random() * 6)::int y, (random() * 6)::int z FROM generate_series(1, 3000) i) s;
INSERT INTO shells SELECT -i FROM generate_series(1, 200) i;
INSERT INTO shells SELECT 5000 + id, b FROM boxes_of('infinite', 200);
INSERT INTO shells SELECT 6000 + i, CASE WHEN i % 2 = 0 THEN box3d('Infinity', 'Infinity', 'Infinity') END FROM generate_series(1, 100) i;
CREATE TABLE orders (columns text, plan text);
INSERT INTO orders VALUES
  ('b <-> box3d(3, 3, 3), b <-> box3d(0, 0, 9)', 'Index( Only)? Scan using shells_b[^\n]*\n *Order By: \(\(b <-> [^\n]*\) AND \(b <-> '),
  ('b <-> box3d(1, 1, 1, 5, 5, 5), b <-> box3d(0, 0, 0)', 'Index( Only)? Scan using shells_b'),
  ('b <-> box3d(1, 1, 1, 5, 5, 5), b <-> box3d(3, 3, 3), b <-> box3d(-1, 2, 9)', 'Index( Only)? Scan using shells_b'),
  ('b <-> ''(Infinity,Infinity,Infinity)''::box3d, b <-> box3d(3, 3, 3)', 'Index( Only)? Scan using shells_b'),
  ('b <-> box3d(3, 3, 3), b <-> box3d(3, 3, 3)', 'Index( Only)? Scan using shells_b'),
  ('b <-> box3d(3, 3, 3), b <-> box3d(0, 0, 9) DESC', 'Sort'),
  ('b <-> box3d(3, 3, 3) NULLS FIRST', 'Sort'),
  ('b <-> box3d(3, 3, 3), id', 'Sort');
CREATE FUNCTION ordered(columns text, where_clause text DEFAULT 'true') RETURNS text LANGUAGE sql AS $$
  SELECT format('SELECT %s AS d FROM (SELECT b, id FROM shells WHERE %s ORDER BY %s) s',
                'concat_ws('','', ' || regexp_replace(regexp_replace(columns, ' (DESC|NULLS FIRST)', '', 'g'), '(b <-> \S+box3d|b <-> box3d\([^)]*\)|\yid\y)', 'coalesce((\1)::text, ''null'')', 'g') || ')', where_clause, columns) $$;
CREATE FUNCTION test_orders(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  o record;
  level text;
BEGIN
  FOR o IN SELECT * FROM orders LOOP
    FOREACH level IN ARRAY simd_levels() LOOP
      PERFORM set_config('bvhindex.simd', level, false);
      PERFORM use_path('seq');
      CREATE TEMP TABLE want AS SELECT 0 AS n, ''::text AS d;
      EXECUTE 'INSERT INTO want SELECT row_number() OVER (), d FROM (' || ordered(o.columns) || ') s';
      PERFORM use_path('index');
      RETURN NEXT matches(plan_of(ordered(o.columns)), o.plan, format('%s, ORDER BY %s: plan', what, o.columns));
      RETURN NEXT results_eq('SELECT d FROM (SELECT row_number() OVER (), d FROM (' || ordered(o.columns) || ') s) t', 'SELECT d FROM want WHERE n > 0 ORDER BY n',
                             format('%s, ORDER BY %s, %s', what, o.columns, level));
      PERFORM use_path('any');
      DROP TABLE want;
    END LOOP;
  END LOOP;
  PERFORM set_config('bvhindex.simd', 'auto', false);
END $$;
CREATE INDEX shells_b ON shells USING bvh (b) WITH (fillfactor = 20);
SELECT t FROM test_orders('built') t;
DROP INDEX shells_b;
CREATE TABLE filled AS SELECT * FROM shells ORDER BY random();
TRUNCATE shells;
CREATE INDEX shells_b ON shells USING bvh (b) INCLUDE (id);
INSERT INTO shells SELECT * FROM filled;
SELECT t FROM test_orders('inserted') t;

-- a distance to NULL is NULL for all rows, so the other one decides
PREPARE by_two(box3d, box3d) AS SELECT b <-> $1, b <-> $2 FROM shells ORDER BY b <-> $1, b <-> $2;
SET plan_cache_mode = force_generic_plan;
SELECT use_path('index');
SELECT matches(plan_of('EXECUTE by_two(NULL, ''(0,0,0)'')'), 'Order By: \(\(b <-> \$1\) AND \(b <-> \$2\)\)', 'two distances to parameters');
CREATE TEMP TABLE want AS SELECT NULL::float8 AS d1, b <-> box3d(0, 0, 0) AS d2, row_number() OVER (ORDER BY b <-> box3d(0, 0, 0)) AS place FROM shells OFFSET 0;
SELECT results_eq('EXECUTE by_two(NULL, ''(0,0,0)'')', 'SELECT d1, d2 FROM want ORDER BY place', 'the first distance is NULL');
SELECT results_eq('EXECUTE by_two(''(0,0,0)'', NULL)', 'SELECT d2, d1 FROM want ORDER BY place', 'the second distance is NULL');
SELECT results_eq('EXECUTE by_two(NULL, NULL)', 'SELECT d1, d1 FROM want', 'both are');
SELECT results_eq('EXECUTE by_two(''(0,0,0)'', ''(0,0,0)'')', 'SELECT d2, d2 FROM want ORDER BY place', 'none is');

-- then, too, an infinite distance comes before one that does not exist
CREATE TABLE last (b box3d);
CREATE INDEX last_b ON last USING bvh (b);
PREPARE by_the_second(box3d, box3d) AS SELECT b <-> $2 AS d FROM last ORDER BY b <-> $1, b <-> $2;
CREATE FUNCTION nulls_before_infinity() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  r record;
  nnulls int := 0;
  nwrong bigint := 0;
BEGIN
  FOR round IN 1 .. 20 LOOP
    TRUNCATE last;
    INSERT INTO last SELECT CASE WHEN i % 2 = 0 THEN box3d('Infinity', 'Infinity', 'Infinity') END FROM generate_series(1, 10 * round * round) i ORDER BY random();
    nnulls := 0;
    FOR r IN EXECUTE 'EXECUTE by_the_second(NULL, ''(0,0,0)'')' LOOP
      nnulls := nnulls + (r.d IS NULL)::int;
      nwrong := nwrong + (r.d IS NOT NULL AND nnulls > 0)::int;
    END LOOP;
  END LOOP;
  RETURN nwrong;
END $$;
SELECT is(nulls_before_infinity(), 0::bigint, 'no row without a box before one at infinity');
RESET plan_cache_mode;
SELECT use_path('any');

-- ---------------------------------------------------------------------------
-- other forms
-- ---------------------------------------------------------------------------

SELECT use_path('index');
\i test/pgtap/include/nearest_then_id.sql

-- each outer row starts the scan again; some leave it early, some have no box
CREATE FUNCTION nearest_of_each(operator text, nrows int) RETURNS text LANGUAGE sql AS $$
  SELECT format('SELECT q.id, l.d FROM (SELECT id, CASE WHEN id %% 4 > 0 THEN b END AS b FROM queries) q,
    LATERAL (SELECT %s AS d FROM many t ORDER BY %1$s LIMIT %s) l ORDER BY 1, 2', operator, nrows) $$;
SELECT matches(plan_of(nearest_of_each('t.b <-> q.b', 3)), 'Nested Loop.*Index (Only )?Scan using many_b.*Order By', 'rescans use the index');
SELECT results_eq(nearest_of_each('t.b <-> q.b', n), nearest_of_each('box3d_distance(t.b, q.b)', n), format('rescans, %s rows', n)) FROM unnest(ARRAY[1, 3, 700]) n;
SELECT results_eq('SELECT (SELECT t.id FROM many t ORDER BY t.b <-> q.b, id LIMIT 1) FROM queries q ORDER BY q.id',
  'SELECT (SELECT t.id FROM many t ORDER BY box3d_distance(t.b, q.b), id LIMIT 1) FROM queries q ORDER BY q.id', 'as a subquery');
SELECT results_eq('SELECT d FROM (SELECT b <-> box3d(9, 9, 9) AS d FROM many WHERE b && box3d(0, 0, 0, 50, 50, 50) ORDER BY b <-> box3d(9, 9, 9)) s',
  'SELECT d FROM (SELECT box3d_distance(b, box3d(9, 9, 9)) AS d FROM many WHERE box3d_overlaps(b, box3d(0, 0, 0, 50, 50, 50)) ORDER BY 1) s', 'inside a box');
SELECT results_eq('SELECT box3d(9, 9, 9) <-> b FROM many ORDER BY box3d(9, 9, 9) <-> b LIMIT 99',
  'SELECT box3d_distance(b, box3d(9, 9, 9)) FROM many ORDER BY 1 LIMIT 99', 'with the column on the right');

-- a cursor, while its transaction changes the rows
CREATE TABLE before AS SELECT row_number() OVER () AS place, d FROM (SELECT box3d_distance(b, box3d(500, 500, 500)) AS d FROM many ORDER BY 1 LIMIT 2000) s;
DECLARE c NO SCROLL CURSOR FOR SELECT b <-> box3d(500, 500, 500) AS d FROM many ORDER BY b <-> box3d(500, 500, 500) LIMIT 2000;
CREATE TABLE fetched (place serial, d float8);
CREATE FUNCTION fetch_into(c refcursor, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  d float8;
BEGIN
  FOR i IN 1 .. n LOOP
    FETCH c INTO d;
    EXIT WHEN NOT FOUND;
    INSERT INTO fetched (d) VALUES (d);
  END LOOP;
END $$;
SELECT fetch_into('c', 10);
DELETE FROM many WHERE id % 2 = 0;
INSERT INTO many SELECT 300000 + i, box3d(500, 500, 500) FROM generate_series(1, 3000) i;
SELECT fetch_into('c', 5000);
SELECT results_eq('SELECT place::bigint, d FROM fetched ORDER BY place', 'SELECT place, d FROM before ORDER BY place', 'a cursor keeps to the rows that there were');
CLOSE c;

SELECT matches(plan_of('SELECT id FROM many ORDER BY b <-> NULL LIMIT 3'), '', 'nearest to NULL: any plan');
SELECT lives_ok('SELECT id FROM many ORDER BY b <-> NULL LIMIT 3', 'nearest to NULL: no particular rows');
PREPARE to_one(box3d) AS SELECT id, b <-> $1 FROM many ORDER BY b <-> $1;
SET plan_cache_mode = force_generic_plan;
SELECT matches(plan_of('EXECUTE to_one(NULL)'), 'Index Scan using many_b.*Order By', 'nearest to a NULL parameter uses the index');
SELECT set_eq('EXECUTE to_one(NULL)', 'SELECT id, NULL::float8 FROM many', 'and gives all rows, without a distance');
RESET plan_cache_mode;
SELECT use_path('any');
SELECT is((SELECT b <-> box3d(0, 0, 0) FROM many WHERE b <@ box3d(-1e6, -1e6, -1e6, 1e6, 1e6, 1e6) ORDER BY b <-> box3d(0, 0, 0) DESC LIMIT 1),
  (SELECT max(box3d_distance(b, box3d(0, 0, 0))) FROM many WHERE box3d_contains(box3d(-1e6, -1e6, -1e6, 1e6, 1e6, 1e6), b)), 'the farthest row');
SELECT use_path('index');
SELECT matches(plan_of('SELECT id FROM many ORDER BY b <-> box3d(0, 0, 0) DESC LIMIT 1'), 'Sort', 'DESC is a sort');
SELECT use_path('any');

-- the ring "cached" forces it: then this file is about trees in shared memory
SELECT is(coalesce((SELECT sum(hits) > 0 FROM bvh_cache), false), current_setting('bvhindex.use_cache') = 'always', 'the cache answers where it is forced to');

-- ---------------------------------------------------------------------------
-- what it costs
-- ---------------------------------------------------------------------------

SET LOCAL bvhindex.use_cache = off;

-- pages_of(query): index pages that an index-only scan reads, with all rows visible to all
CREATE FUNCTION buffers_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END $$;
SELECT use_path('index');
CREATE TABLE line AS SELECT * FROM boxes_of('line', 50000);
CREATE INDEX line_b ON line USING bvh (b);
-- the table is of this transaction, so each row that is read is looked up
SELECT cmp_ok(buffers_of('SELECT id FROM line ORDER BY b <-> box3d(0, 777, 0) LIMIT 10'), '<', 30::bigint, 'ten neighbours of a point on a line');
SELECT cmp_ok(buffers_of('SELECT id FROM tied ORDER BY b <-> box3d(2, 3, 4) LIMIT 5'), '<', 60::bigint, 'five of equal boxes do not read them all');
-- a condition that leaves nothing ends the scan at the root
SELECT cmp_ok(buffers_of('SELECT id FROM line WHERE b && box3d(5, 5, 5) ORDER BY b <-> box3d(0, 777, 0) LIMIT 10'), '<', 10::bigint, 'a condition prunes');
SELECT use_path('any');
SELECT is_empty('SELECT unsound()', 'all indexes are sound');

SELECT * FROM finish();
ROLLBACK;
