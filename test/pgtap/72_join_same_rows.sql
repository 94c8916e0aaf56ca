-- A join of a table with itself reads its rows once, if both sides have the same;
-- and answers as a nested loop does.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
\i test/pgtap/include/joins.sql
SELECT no_plan();
SET client_min_messages = warning;

-- one_value(query): all rows of a query as one value
CREATE FUNCTION one_value(query text) RETURNS text LANGUAGE sql AS
$$ SELECT format('SELECT count(*) || '' '' || sum(hashtextextended(s::text, 0)) FROM (%s) s', query) $$;
-- once(query, name), twice(query, name): it agrees, and reads the table once, or twice
CREATE FUNCTION once(query text, name text) RETURNS SETOF text LANGUAGE sql AS
$$ SELECT agrees(one_value(query), 'BVH Join.*Same Rows: true', name) $$;
CREATE FUNCTION twice(query text, name text) RETURNS SETOF text LANGUAGE sql AS
$$ SELECT agrees(one_value(query), '^(?!.*Same Rows).*BVH Join', name) $$;

CREATE TABLE t (id int, b box3d, k int, n bigint, s text);
CREATE FUNCTION fill(kind text, nrows int) RETURNS void LANGUAGE sql AS $$
  TRUNCATE t;
  INSERT INTO t SELECT CASE WHEN id % 50 > 0 THEN id END, b, id % 10, id / 2, repeat('s', id % 40) FROM boxes_of(kind, nrows);
  INSERT INTO t SELECT -i, NULL, i % 10, i, 'null' FROM generate_series(1, 20) i;
$$;
CREATE VIEW seen AS SELECT * FROM t WHERE k > 2;
CREATE TABLE ks AS SELECT k FROM generate_series(0, 10) k;
ANALYZE ks;

-- ---------------------------------------------------------------------------
-- what is compared, and what is given
-- ---------------------------------------------------------------------------

CREATE TABLE queries_once (query text);
INSERT INTO queries_once VALUES
  ('SELECT 1 FROM t a JOIN t c ON a.b && c.b'),
  ('SELECT 1 FROM t a JOIN t c ON a.b && c.b AND a.id < c.id'),
  ('SELECT a.id, c.id AS cid FROM t a JOIN t c ON a.b && c.b'),
  ('SELECT a.id, c.id AS cid FROM t a JOIN t c ON c.b && a.b AND a.id <> c.id'),
  ('SELECT a.id, c.id AS cid FROM t a JOIN t c ON a.b &&+ c.b AND c.id <= a.id'),
  ('SELECT a.id, c.id AS cid FROM t a JOIN t c ON a.b ~= c.b AND a.id >= c.id'),
  ('SELECT a.id, c.s FROM t a JOIN t c ON a.b @> c.b'),
  ('SELECT a.s, c.id FROM t a JOIN t c ON a.b <@ c.b AND c.n > a.n'),
  ('SELECT a.s, c.n FROM t a JOIN t c ON a.b && c.b AND a.n < c.n AND a.id <> c.id'),
  -- not the same number on both sides
  ('SELECT a.id, c.id AS cid FROM t a JOIN t c ON a.b && c.b AND a.id < c.k'),
  ('SELECT a.id, c.id AS cid FROM t a JOIN t c ON a.b && c.b AND a.k = c.k + 1'),
  ('SELECT a, c FROM t a JOIN t c ON a.b && c.b AND a.k <= c.k'),
  ('SELECT a.ctid, c.ctid AS cctid, a.tableoid FROM t a JOIN t c ON a.b && c.b AND a.ctid < c.ctid'),
  ('SELECT a.id + c.n AS sum, a.b + c.b AS both, c.s || a.s AS s FROM t a JOIN t c ON a.b && c.b AND length(a.s || c.s) > 30'),
  ('SELECT a.id, c.id AS cid FROM t a JOIN t c ON box3d_expand(a.b, 1) && box3d_expand(c.b, 1) AND a.id < c.id'),
  -- conditions on its rows
  ('SELECT a.id, c.n FROM t a JOIN t c ON a.b && c.b WHERE a.k < 7 AND c.k < 7'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON a.b && c.b WHERE c.s > ''ss'' AND a.k < 7 AND a.s > ''ss'' AND c.k < 7'),
  ('SELECT a.id, c.n FROM t a JOIN t c USING (k) WHERE a.b && c.b AND k = 3'),
  ('SELECT a.id, c.n FROM seen a JOIN seen c ON a.b && c.b AND a.id < c.id'),
  ('WITH s AS NOT MATERIALIZED (SELECT * FROM t WHERE n % 3 > 0) SELECT a.id, c.n FROM s a JOIN s c ON a.b && c.b'),
  -- inside other queries
  ('SELECT k, (SELECT count(*) || '' '' || sum(a.n - c.id) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id WHERE a.k = ks.k AND c.k = ks.k) FROM ks'),
  ('SELECT k, (SELECT count(*) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id AND a.k + c.k <> ks.k) FROM ks'),
  ('SELECT k, (SELECT count(*) FROM t a JOIN t c ON box3d_translate(a.b, ks.k, 0, 0) @> box3d_translate(c.b, ks.k, 0, 0)) FROM ks');

CREATE FUNCTION test_once(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
  RETURN QUERY SELECT once(query, format('%s: %s', kind, query)) FROM queries_once;
  PERFORM set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true);
END $$;
SELECT fill('random', 800);
ANALYZE t;
SELECT test_once('random');

-- more rows than fit into memory, when the plan was made for more memory
CREATE FUNCTION test_passes(query text, name text, fewest int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  SET LOCAL plan_cache_mode = force_generic_plan;
  EXECUTE 'PREPARE planned AS ' || one_value(query);
  EXECUTE 'EXECUTE planned' INTO answer;
  SET LOCAL work_mem = '64kB';
  EXECUTE 'EXECUTE planned' INTO answer;
  RETURN NEXT matches(plan_of('EXECUTE planned'), 'Same Rows', name || ', plan: ' || query);
  RETURN NEXT cmp_ok((passes_of('EXECUTE planned')).passes, '>=', fewest, name || ', passes: ' || query);
  SET LOCAL work_mem = '4MB';
  DEALLOCATE planned;
  RETURN NEXT is(answer, by_nested_loop(one_value(query)), name || ': ' || query);
END $$;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SELECT test_passes(query, 'in several passes', CASE WHEN query ~ 'k [<=]' THEN 1 ELSE 2 END) FROM queries_once;
RESET enable_hashjoin;
RESET enable_mergejoin;

CREATE FUNCTION test_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fill(kind, 400);
  RETURN QUERY SELECT once(query, format('%s: %s', kind, query)) FROM (VALUES
    ('SELECT a.id, c.id AS cid FROM t a JOIN t c ON a.b && c.b'),
    ('SELECT a.id, c.n FROM t a JOIN t c ON a.b @> c.b AND a.id <> c.id'),
    ('SELECT a.id, c.n FROM t a JOIN t c ON a.b ~= c.b AND a.n <= c.n')) v(query);
  -- some of all over, which have to be met in every part
  INSERT INTO t SELECT id, box3d_expand(b, 300), id % 10, id, 'large' FROM boxes_of('random', 30);
  INSERT INTO t SELECT id, b, id % 10, id, 'more' FROM boxes_of('random', 1500);
  RETURN QUERY SELECT test_passes(query, kind, 4) FROM (VALUES
    ('SELECT a.id, c.id AS cid, a.s FROM t a JOIN t c ON a.b && c.b'),
    ('SELECT a.id, c.s FROM t a JOIN t c ON a.b &&+ c.b AND a.id < c.id')) v(query);
END $$;
SELECT fill('random', 400);
ANALYZE t;
SELECT test_kind(kind) FROM kinds;
SELECT fill('random', 800);
ANALYZE t;

-- the first pair of all is one in the other order
CREATE TABLE row_of_boxes AS SELECT i AS id, 'x' AS s, box3d(2 * i, 0, 0, 2 * i + 1, 1, 1) AS b FROM generate_series(1, 1200) i;
INSERT INTO row_of_boxes VALUES (0, 'y', box3d(0, 0, 0, 3000, 1, 1));
ANALYZE row_of_boxes;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SELECT test_passes('SELECT a.id, c.id AS cid FROM row_of_boxes a JOIN row_of_boxes c ON a.b && c.b AND a.id > c.id AND a.s <> c.s', 'a visitor with a pair in the other order only', 2);
RESET enable_hashjoin;
RESET enable_mergejoin;

-- very many columns
CREATE FUNCTION test_columns(n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('CREATE TABLE wide (b box3d, %s)', (SELECT string_agg('c' || i || ' int', ', ') FROM generate_series(1, n) i));
  EXECUTE format('INSERT INTO wide SELECT b, %s FROM boxes_of(''random'', 500)', (SELECT string_agg('id + ' || i, ', ') FROM generate_series(1, n) i));
  ANALYZE wide;
  RETURN QUERY SELECT once(format('SELECT %s AS sum FROM wide a JOIN wide c ON a.b && c.b AND a.c1 < c.c1', (SELECT string_agg(format('a.c%s - %1$s * c.c%1$s', i), ' + ') FROM generate_series(1, n) i)), n || ' columns');
  DROP TABLE wide;
END $$;
SELECT test_columns(n) FROM unnest(ARRAY[62, 63, 64, 127, 128]) n;

-- rescans that end early, while rows are on their way to files
CREATE TABLE crowd AS SELECT i AS id, box3d(x, y, 0, x + 4, y + 4, 1) AS b, repeat('x', i % 50) AS s FROM (SELECT i, random() * 100 x, random() * 100 y FROM generate_series(1, 20000) i) r;
ANALYZE crowd;
CREATE FUNCTION memory_of_rescans(nrescans int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  memory int;
BEGIN
  SET LOCAL plan_cache_mode = force_generic_plan;
  EXECUTE format('PREPARE planned AS SELECT l.* FROM generate_series(1, %s) v, LATERAL (SELECT a.s, c.s AS t FROM crowd a JOIN crowd c ON a.b && c.b AND a.id < c.id WHERE a.id + c.id > v OFFSET 0 LIMIT 3) l', nrescans);
  EXECUTE 'EXECUTE planned';
  SET LOCAL work_mem = '256kB';
  SET LOCAL hash_mem_multiplier = 1;
  memory := (passes_of('EXECUTE planned')).memory;
  RESET work_mem;
  RESET hash_mem_multiplier;
  DEALLOCATE planned;
  RETURN memory;
END $$;
SET LOCAL enable_nestloop = off;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SELECT cmp_ok(memory_of_rescans(80), '<=', memory_of_rescans(4) + 8, 'rescans that end early take no more memory');
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- every instruction set
CREATE FUNCTION test_levels() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  level text;
BEGIN
  FOREACH level IN ARRAY ARRAY['scalar', 'avx2', 'avx512', 'neon', 'auto'] LOOP
    BEGIN
      PERFORM set_config('bvhindex.simd', level, true);
    EXCEPTION WHEN invalid_parameter_value THEN
      CONTINUE;
    END;
    RETURN QUERY SELECT once('SELECT a.id, c.n FROM t a JOIN t c ON a.b && c.b AND a.id < c.id', level);
  END LOOP;
END $$;
SELECT test_levels();

-- the other input is not read
CREATE FUNCTION loops_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (SELECT string_agg(DISTINCT (n ->> 'Actual Loops') || ' ' || (n ->> 'Node Type'), ', ') FROM jsonb_path_query(plan, '$.**?(@."Alias" == "a" || @."Alias" == "c")') n);
END $$;
SELECT matches(loops_of('SELECT count(*) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id'), '^0 Seq Scan, 1 Seq Scan$', 'one input is read, the other is not');

-- ---------------------------------------------------------------------------
-- where the two sides are not the same
-- ---------------------------------------------------------------------------

CREATE TABLE copy AS SELECT * FROM t;
ANALYZE copy;
SELECT twice(query, query) FROM (VALUES
  ('SELECT a.id, c.n FROM t a JOIN copy c ON a.b && c.b AND a.id < c.id'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON a.b && c.b WHERE a.k < 7'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON a.b && c.b WHERE c.k < 7'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON a.b && c.b WHERE a.k < 7 AND c.k < 8'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON a.b && c.b WHERE a.k < 7 AND c.n < 7'),
  ('SELECT a.id, c.n FROM t a JOIN seen c ON a.b && c.b'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON a.b && box3d_translate(c.b, 1, 0, 0)'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON box3d_translate(a.b, a.id, 0, 0) && box3d_translate(c.b, c.k, 0, 0)'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON a.b << c.b WHERE a.n < 100 AND c.n < 100'),
  ('SELECT a.id, c.n FROM t a JOIN t c ON box3d_dwithin(a.b, c.b, 2)'),
  ('SELECT a.id, c.n FROM t a LEFT JOIN t c ON a.b && c.b AND a.id < c.id'),
  ('SELECT a.id FROM t a WHERE EXISTS (SELECT FROM t c WHERE a.b && c.b AND a.id < c.id)'),
  ('SELECT a.id FROM t a WHERE NOT EXISTS (SELECT FROM t c WHERE a.b && c.b AND a.id < c.id)'),
  ('SELECT a.id, c.n FROM (SELECT * FROM t OFFSET 0) a JOIN (SELECT * FROM t OFFSET 0) c ON a.b && c.b'),
  ('SELECT a.id FROM t a JOIN t c ON a.b && c.b AND a.id < c.id FOR UPDATE OF a')) v(query);
-- random(): each side has rows of its own
SELECT matches(plan_of('SELECT count(*) FROM t a JOIN t c ON a.b && c.b WHERE a.k < 10 * random() AND c.k < 10 * random()'),
               '^(?!.*Same Rows).*BVH Join', 'a volatile condition');
SELECT matches(plan_of('SELECT count(*) FROM t a TABLESAMPLE BERNOULLI (50) JOIN t c TABLESAMPLE BERNOULLI (50) ON a.b && c.b'),
               '^(?!.*Same Rows).*BVH Join', 'samples of a table');
SELECT matches(plan_of('UPDATE t a SET k = c.k FROM t c WHERE a.b && c.b AND a.id < c.id'), '^(?!.*Same Rows)', 'UPDATE');
SELECT matches(plan_of('DELETE FROM t a USING t c WHERE a.b && c.b AND a.id < c.id'), '^(?!.*Same Rows)', 'DELETE');

-- what a statement inserts it does not see
CREATE TABLE doubled AS SELECT * FROM t WHERE id < 300;
ANALYZE doubled;
SELECT matches(plan_of('INSERT INTO doubled SELECT a.* FROM doubled a JOIN doubled c ON a.b && c.b AND a.id < c.id'), 'Same Rows', 'INSERT');
SELECT by_nested_loop('SELECT count(*) FROM doubled') AS before \gset
SELECT by_nested_loop('SELECT count(*) FROM doubled a JOIN doubled c ON a.b && c.b AND a.id < c.id') AS pairs \gset
INSERT INTO doubled SELECT a.* FROM doubled a JOIN doubled c ON a.b && c.b AND a.id < c.id;
SELECT is((SELECT count(*) FROM doubled), :before + :pairs::bigint, 'INSERT of the pairs');

-- with an index, and one that has not all columns
CREATE INDEX t_b ON t USING gist (b);
CREATE INDEX t_k ON t (k, id, b);
SELECT once('SELECT a.s, c.n FROM t a JOIN t c ON a.b && c.b AND a.id < c.id WHERE a.k = 3 AND c.k = 3', 'some rows by an index');
SET LOCAL enable_seqscan = off;
SET LOCAL enable_nestloop = off;
SELECT once('SELECT a.id, c.s FROM t a JOIN t c ON a.b && c.b AND a.id < c.id', 'without a sequential scan');
RESET enable_seqscan;
RESET enable_nestloop;

-- partitions
CREATE TABLE p (id int, b box3d, k int) PARTITION BY LIST (k);
CREATE TABLE p1 PARTITION OF p FOR VALUES IN (0, 1, 2, 3, 4);
CREATE TABLE p2 PARTITION OF p FOR VALUES IN (5, 6, 7, 8, 9);
INSERT INTO p SELECT id, b, k FROM t;
ANALYZE p;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SELECT twice('SELECT a.id, c.id AS cid FROM p a JOIN p c ON a.b && c.b AND a.id < c.id', 'partitions');
SET LOCAL enable_partitionwise_join = on;
SELECT once('SELECT a.id, c.id AS cid FROM p a JOIN p c ON a.k = c.k AND a.b && c.b AND a.id < c.id', 'partitionwise');
RESET enable_partitionwise_join;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- row security, and privileges on columns
CREATE ROLE bvh_same_joe;
GRANT SELECT (id, b, k) ON t TO bvh_same_joe;
ALTER TABLE t ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON t USING (k % 2 = 1);
SELECT by_nested_loop('SELECT count(*) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id WHERE a.k % 2 = 1 AND c.k % 2 = 1') AS pairs \gset
GRANT EXECUTE ON FUNCTION plan_of(text) TO bvh_same_joe;
SET LOCAL ROLE bvh_same_joe;
SELECT is((SELECT count(*) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id), :pairs::bigint, 'row security');
SELECT matches(plan_of('SELECT count(*) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id'), 'Same Rows', 'row security: plan');
SELECT throws_ok('SELECT count(a.s) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id', '42501', NULL, 'a column without privilege');
RESET ROLE;
ALTER TABLE t DISABLE ROW LEVEL SECURITY;

-- a prepared statement, with parameters on both sides
PREPARE pairs_of(int) AS SELECT count(*) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id WHERE a.k < $1 AND c.k < $1;
CREATE FUNCTION test_prepared() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  n text;
BEGIN
  FOREACH n IN ARRAY ARRAY['force_custom_plan', 'force_generic_plan'] LOOP
    PERFORM set_config('plan_cache_mode', n, true);
    FOR k IN 3 .. 7 LOOP
      EXECUTE format('EXECUTE pairs_of(%s)', k) INTO n;
      RETURN NEXT is(n, by_nested_loop(format('SELECT count(*) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id WHERE a.k < %s AND c.k < %1$s', k)), 'prepared, ' || k);
    END LOOP;
  END LOOP;
END $$;
SELECT test_prepared();
SELECT matches(plan_of('EXECUTE pairs_of(5)'), 'Same Rows', 'prepared: plan');

-- a cursor, some rows at a time; and none at all
CREATE TABLE pairs AS SELECT a.id, c.id AS cid FROM t a JOIN t c ON a.b && c.b AND a.id < c.id;
SELECT is((SELECT count(*) FROM (SELECT FROM t a JOIN t c ON a.b && c.b AND a.id < c.id LIMIT 7) s), 7::bigint, 'LIMIT');
TRUNCATE t;
SELECT is((SELECT count(*) FROM t a JOIN t c ON a.b && c.b AND a.id < c.id), 0::bigint, 'no rows');

SELECT * FROM finish();
ROLLBACK;
