-- ORDER BY b <-> query through a bvh index gives the same distances, bit for bit,
-- in the same order as a sort; NULL comes last, whatever is asked for besides.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
\i test/pgtap/include/bvh_agree.sql
SELECT no_plan();
SET client_min_messages = warning;

-- ---------------------------------------------------------------------------
-- all kinds
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of(kind, 400);
  INSERT INTO bulk VALUES (-1, NULL), (-2, NULL);
  PERFORM queries_for('bulk');
  CREATE INDEX bulk_b ON bulk USING bvh (b);
  RETURN NEXT is_empty(format('SELECT * FROM nearest_disagreements(''bulk'', ''bulk_b'', ''{index,only}'', %L)', simd_levels()),
                       kind || ': all rows in order, bulk-built');

  -- the padding makes a tree of many levels
  CREATE TABLE grown (id int, b box3d, pad text);
  CREATE INDEX grown_b ON grown USING bvh (b) INCLUDE (pad);
  INSERT INTO grown SELECT id, b, repeat(chr(33 + id % 90), 700) FROM bulk;
  RETURN NEXT is_empty('SELECT * FROM nearest_disagreements(''grown'', ''grown_b'', ''{index,only}'', row_limit => 20)',
                       kind || ': the first rows, grown by inserts');
  DROP TABLE bulk, grown;
END $$;

SELECT t FROM kinds, LATERAL test_kind(kind) t;

-- ---------------------------------------------------------------------------
-- many rows
-- ---------------------------------------------------------------------------

-- large coordinates: a bound one bit above a distance would change the order
CREATE TABLE far AS SELECT * FROM boxes_of('far from zero', 20000);
CREATE INDEX far_b ON far USING bvh (b);
TRUNCATE queries;
INSERT INTO queries VALUES (1, box3d(1e9 + 777.77, 1e9 + 3, 1e9 - 5)), (2, box3d(1e9 + 1234.5678, 1e9 + 1234.5678, 1e9));
SELECT is_empty(format($$SELECT * FROM nearest_disagreements('far', 'far_b', '{index,only}', %L)$$, simd_levels()),
  '20,000 rows far from zero');

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
PREPARE nearest(box3d, int) AS SELECT id FROM many ORDER BY b <-> $1, id LIMIT $2;
SELECT current_setting('server_version_num')::int >= 170000 AS sorts_more \gset
\if :sorts_more
SELECT matches(plan_of($$EXECUTE nearest('(500,500,500)', 5)$$), 'Incremental Sort.*Presorted Key.*Index Scan using many_b',
  'a second sort key is sorted on top of the index order');
\else
SELECT skip('PostgreSQL 17 and later use the index then', 1);
\endif
SELECT results_eq($$EXECUTE nearest('(500,500,500)', 50)$$,
  'SELECT id FROM many ORDER BY box3d_distance(b, box3d(500, 500, 500)), id LIMIT 50', 'and the order is right');

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

-- ---------------------------------------------------------------------------
-- ties, inside, infinite
-- ---------------------------------------------------------------------------

CREATE TABLE tied AS SELECT i AS id, box3d(1, 2, 3, 4, 5, 6) AS b FROM generate_series(1, 5000) i;
CREATE INDEX tied_b ON tied USING bvh (b);
SELECT use_path('only');
SELECT results_eq('SELECT b::text, b <-> box3d(2, 3, 4) FROM tied ORDER BY b <-> box3d(2, 3, 4) LIMIT 5',
  $$SELECT '(1,2,3),(4,5,6)', 0::float8 FROM generate_series(1, 5)$$, '5 of 5,000 equal boxes');
SELECT is((SELECT count(*)::int FROM (SELECT b FROM tied ORDER BY b <-> box3d(0, 0, 0)) s), 5000, 'all of them');

CREATE TABLE around AS SELECT * FROM boxes_of('nested', 2000);
CREATE INDEX around_b ON around USING bvh (b);
SELECT use_path('index');
SELECT is((SELECT count(*)::int FROM (SELECT b <-> box3d(100.5, 0, 0) AS d FROM around ORDER BY b <-> box3d(100.5, 0, 0) LIMIT 1950) s WHERE d = 0),
  1900, 'rows around the point come first, at distance 0');
SELECT results_eq('SELECT id FROM around ORDER BY b <-> box3d(100.5, 0, 0) OFFSET 1900 LIMIT 3', ARRAY[100, 99, 98], 'then the nearest');

CREATE TABLE s AS SELECT i AS id, box3d(i, i, i, i + 1, i + 1, i + 1) AS b FROM generate_series(1, 1000) i;
INSERT INTO s VALUES (5001, box3d('-Infinity', 0, 0, 'Infinity', 1, 1)), (5002, box3d(0, 0, 0, 'Infinity', 'Infinity', 'Infinity')),
  (6001, NULL), (6002, box3d('Infinity', 'Infinity', 'Infinity'));
CREATE INDEX s_b ON s USING bvh (b);
SELECT results_eq('SELECT id, b <-> box3d(0, 0, 0) FROM s ORDER BY b <-> box3d(0, 0, 0) OFFSET 1001',
  $$VALUES (1000, box3d_distance(box3d(0, 0, 0), box3d(1000, 1000, 1000))), (6002, 'Infinity'::float8), (6001, NULL)$$,
  'a box at infinity comes after all others, and no box after it');
SELECT results_eq($$SELECT b <-> '(Infinity,Infinity,Infinity)'::box3d FROM s ORDER BY b <-> '(Infinity,Infinity,Infinity)'::box3d LIMIT 3$$,
  $$VALUES (0::float8), (0), ('Infinity')$$, 'at infinity, that box is at distance 0');

CREATE TABLE extreme (id int, b box3d);
CREATE INDEX extreme_b ON extreme USING bvh (b);
INSERT INTO extreme VALUES (3, box3d(3e200, 0, 0)), (1, box3d(1e200, 0, 0)), (2, box3d(2e200, 0, 0)),
  (13, box3d(0, 3e-200, 0)), (11, box3d(0, 1e-200, 0)), (12, box3d(0, 2e-200, 0));
SELECT results_eq('SELECT id FROM extreme ORDER BY b <-> box3d(0, 0, 0)', ARRAY[11, 12, 13, 1, 2, 3], 'distances whose squares are out of range are told apart');

-- ---------------------------------------------------------------------------
-- what it costs
-- ---------------------------------------------------------------------------

-- pages_of(query): index pages that an index-only scan reads, with all rows visible to all
CREATE FUNCTION buffers_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END $$;
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
