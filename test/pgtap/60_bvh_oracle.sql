-- A bvh index answers as the sequential scan does: every operator of the class,
-- every access path, every instruction set, boxes of every kind, however it was
-- built.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/bvh_agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();
SET client_min_messages = warning;

\i test/pgtap/include/oracle.sql

CREATE FUNCTION class_of(method name) RETURNS SETOF text LANGUAGE sql AS $$
  SELECT concat_ws(' ', s.amopstrategy, s.amopopr::regoperator, s.amoppurpose, s.amopsortfamily)
  FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod AND a.amname = method JOIN pg_amop s ON s.amopfamily = c.opcfamily
  WHERE c.opcname = 'box3d_ops' $$;
SELECT set_eq($$SELECT class_of('bvh')$$, $$SELECT class_of('gist')$$, 'they are those of the gist class');
SELECT ok(amvalidate(c.oid), 'the class is valid') FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod WHERE a.amname = 'bvh';

-- ---------------------------------------------------------------------------
-- all kinds, built four ways
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_bvh_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT test_kind(kind);

  -- full pages that are split, and NULL keys among the others
  DROP INDEX bulk_b;
  INSERT INTO bulk SELECT -i, NULL FROM generate_series(1, 300) i;
  CREATE INDEX bulk_b ON bulk USING bvh (b) WITH (fillfactor = 100);
  INSERT INTO bulk SELECT 1000 + id, b FROM bulk;
  RETURN NEXT is_empty('SELECT * FROM disagreements(''bulk'', ''bulk_b'', ''{bitmap}'')', kind || ': bulk-built, then as many inserts');

  DROP INDEX bulk_b;
  CREATE INDEX bulk_b ON bulk USING bvh (b) WITH (fillfactor = 10);
  RETURN NEXT is_empty('SELECT * FROM disagreements(''bulk'', ''bulk_b'', ''{index}'')', kind || ': bulk-built on pages of 13 boxes');
  RETURN NEXT is_empty('SELECT unsound()', kind || ': sound');
  DROP TABLE bulk, grown;
END $$;

SELECT t FROM kinds, LATERAL test_bvh_kind(kind) t;

-- ---------------------------------------------------------------------------
-- more rows than maintenance_work_mem holds: sorted, then packed in runs
-- ---------------------------------------------------------------------------

CREATE TABLE many AS SELECT id, b, CASE WHEN id % 5 > 0 THEN repeat('x', id % 60) END AS s FROM boxes_of('random', 14000);
INSERT INTO many SELECT 100000 + id, b, 'two scales' FROM boxes_of('two scales', 9000);
INSERT INTO many SELECT 200000 + id, b FROM boxes_of('infinite', 1000);
INSERT INTO many SELECT 300000 + id, b FROM boxes_of('all sizes', 2000);
INSERT INTO many SELECT -i FROM generate_series(1, 1000) i;
SELECT queries_for('many', 1);
SET maintenance_work_mem = '1MB';
CREATE INDEX many_b ON many USING bvh (b);
-- each row that a path finds is the same at every instruction set, see above
SELECT is_empty($$SELECT * FROM disagreements('many', 'many_b', '{bitmap,only}')$$, '27,000 rows in 1 MB');
SELECT is_empty('SELECT unsound()', 'sound');
DROP INDEX many_b;
CREATE INDEX many_s ON many USING bvh (b) INCLUDE (s, id);
SELECT is(differs(format('SELECT * FROM many WHERE b && %L', b), 'only', 'Index Only Scan using many_s'), NULL, 'with further columns: ' || b)
  FROM queries WHERE id % 3 = 1;
SELECT is(differs('SELECT * FROM many WHERE b IS NULL', 'only', 'Index Only Scan using many_s'), NULL, 'NULL keys with further columns');
SELECT is_empty('SELECT unsound()', 'sound');
DROP INDEX many_s;
-- all of it once more in memory: the same answers
RESET maintenance_work_mem;
CREATE INDEX many_b ON many USING bvh (b) INCLUDE (s, id);
SELECT is(differs(format('SELECT * FROM many WHERE b && %L', b), 'only', 'Index Only Scan using many_b'), NULL, 'in memory: ' || b)
  FROM queries WHERE id % 3 = 1;

-- rows that come and go, without a vacuum between
DELETE FROM many WHERE id % 3 = 0;
UPDATE many SET b = box3d_translate(b, random() * 100, 0, 0) WHERE id % 70 = 0;
INSERT INTO many SELECT -1000 - id, b FROM boxes_of('infinite', 300);
SELECT queries_for('many', 1);
SELECT is_empty($$SELECT * FROM disagreements('many', 'many_b', '{only}')$$, 'after deletes, updates, inserts');
SELECT is_empty($$SELECT * FROM two_condition_disagreements('many', 'many_b', 4)$$, 'two conditions');
SELECT is_empty('SELECT unsound()', 'sound');
DROP TABLE many;

-- ---------------------------------------------------------------------------
-- few rows
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_few(nrows int, nnulls int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  what text := format('%s rows and %s NULL keys', nrows, nnulls);
BEGIN
  CREATE TABLE few AS SELECT i AS id, box3d(i, i, i, i + 1, i + 1, i + 1) AS b FROM generate_series(1, nrows) i;
  INSERT INTO few SELECT -i FROM generate_series(1, nnulls) i;
  TRUNCATE queries;
  INSERT INTO queries VALUES (1, box3d(1, 1, 1, 1.5, 1.5, 1.5)), (2, box3d(2, 2, 2)), (3, box3d(9, 9, 9)), (4, '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)');
  CREATE INDEX few_b ON few USING bvh (b);
  RETURN NEXT is_empty('SELECT * FROM disagreements(''few'', ''few_b'')', what || ': built');
  RETURN NEXT is_empty('SELECT * FROM nearest_disagreements(''few'', ''few_b'')', what || ': built, nearest');
  RETURN NEXT is(differs('SELECT id FROM few WHERE b IS NULL', 'index', 'Index Scan'), NULL, what || ': IS NULL');
  RETURN NEXT is((SELECT height FROM bvh_stats('few_b')), CASE WHEN nrows + nnulls = 0 THEN 0 ELSE 1 END, what || ': height');
  DELETE FROM few;
  RETURN NEXT is_empty('SELECT * FROM disagreements(''few'', ''few_b'')', what || ': deleted');
  INSERT INTO few VALUES (7, box3d(1, 1, 1)), (8, NULL);
  RETURN NEXT is_empty('SELECT * FROM disagreements(''few'', ''few_b'')', what || ': and others inserted');
  RETURN NEXT is_empty('SELECT unsound()', what || ': sound');
  DROP TABLE few;
END $$;
SELECT test_few(n, m) FROM (VALUES (0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (0, 2)) v(n, m);

-- as many as fit on one page, and one more
CREATE FUNCTION test_one_page(fillfactor int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  capacity int := (current_setting('block_size')::int - 40 - current_setting('block_size')::int * (100 - fillfactor) / 100) / 60;
BEGIN
  FOR n IN capacity - 1 .. capacity + 1 LOOP
    CREATE TABLE page AS SELECT * FROM boxes_of('random', n);
    PERFORM queries_for('page', 1);
    EXECUTE format('CREATE INDEX page_b ON page USING bvh (b) WITH (fillfactor = %s)', fillfactor);
    RETURN NEXT is((SELECT level_pages FROM bvh_stats('page_b')), CASE WHEN n <= capacity THEN '{1}'::bigint[] ELSE '{2,1}' END,
                   format('%s rows, fillfactor %s: pages', n, fillfactor));
    RETURN NEXT is_empty('SELECT * FROM disagreements(''page'', ''page_b'', ''{bitmap}'')', format('%s rows, fillfactor %s', n, fillfactor));
    DROP TABLE page;
  END LOOP;
END $$;
SELECT test_one_page(f) FROM unnest(ARRAY[10, 90, 100]) f;

-- ---------------------------------------------------------------------------
-- NULL keys
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_nulls(what text, nrows int, nnulls int, how text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  q text;
  path text;
BEGIN
  CREATE TABLE mixed (id int, b box3d);
  IF how = 'inserted' THEN
    CREATE INDEX mixed_b ON mixed USING bvh (b);
  END IF;
  IF how = 'inserted last' THEN
    -- to pages of boxes, and not to one of their own
    INSERT INTO mixed SELECT * FROM boxes_of('random', nrows);
    CREATE INDEX mixed_b ON mixed USING bvh (b);
    INSERT INTO mixed SELECT -i FROM generate_series(1, nnulls) i;
  ELSE
    INSERT INTO mixed SELECT * FROM (SELECT * FROM boxes_of('random', nrows) UNION ALL SELECT -i, NULL FROM generate_series(1, nnulls) i) s ORDER BY random();
  END IF;
  IF how = 'built' THEN
    CREATE INDEX mixed_b ON mixed USING bvh (b);
  END IF;
  PERFORM queries_for('mixed', 1);
  RETURN NEXT is_empty('SELECT * FROM disagreements(''mixed'', ''mixed_b'', ''{bitmap}'')', format('%s, %s: operators', what, how));
  FOREACH path IN ARRAY ARRAY['index', 'bitmap', 'only'] LOOP
    FOREACH q IN ARRAY ARRAY['b IS NULL', 'b IS NOT NULL', 'b IS NULL AND b && box3d(0, 0, 0, 100, 100, 100)',
        'b IS NOT NULL AND b && box3d(0, 0, 0, 100, 100, 100)', 'b IS NOT NULL AND b << box3d(0, 0, 0) AND b /&> box3d(0, 0, 0)'] LOOP
      RETURN NEXT is(differs('SELECT b FROM mixed WHERE ' || q, path, 'mixed_b'), NULL, format('%s, %s, %s: %s', what, how, path, q));
    END LOOP;
  END LOOP;
  RETURN NEXT is(differs('SELECT b FROM mixed WHERE b IS NULL AND b IS NOT NULL', 'index', '.'), NULL, format('%s, %s: nothing is both', what, how));
  RETURN NEXT is_empty('SELECT unsound()', format('%s, %s: sound', what, how));
  DROP TABLE mixed;
END $$;
SELECT t FROM (VALUES ('a few NULL keys', 500, 5), ('pages of NULL keys', 500, 3000), ('only NULL keys', 0, 3000)) v(what, n, m),
  unnest(ARRAY['built', 'inserted', 'inserted last']) how, LATERAL test_nulls(what, n, m, how) t;
-- so many that pages above pages have no other key
SELECT t FROM test_nulls('levels of NULL keys', 300, 60000, 'built') t;

-- ---------------------------------------------------------------------------
-- kinds of indexes
-- ---------------------------------------------------------------------------

SELECT queries_for('t', 2);
CREATE INDEX t_b ON t USING bvh (b);
SELECT is_empty($$SELECT * FROM two_condition_disagreements('t', 't_b', 6)$$, 'two conditions');
SELECT is(differs(format('SELECT id FROM t WHERE b && %L AND b &< %L AND b |>> %L AND b @> %L AND b IS NOT NULL', a.b, c.b, box3d(0, -1000, 0), box3d(box3d_lower(a.b), box3d_lower(a.b))),
    'bitmap', 't_b'), NULL, 'five conditions') FROM queries a, queries c WHERE a.id < 4 AND c.id = a.id + 1;

-- one scan node, started again for every outer row
SELECT use_path('only');
SELECT set_eq('SELECT q.id, l.b FROM queries q, LATERAL (SELECT b FROM t WHERE t.b && q.b LIMIT 100000) l',
  'SELECT q.id, t.b FROM queries q JOIN t ON box3d_overlaps(t.b, q.b)', 'rescans of an index-only scan');
SELECT set_eq('SELECT q.id, EXISTS (SELECT FROM t WHERE t.b && q.b) AS found FROM queries q',
  'SELECT q.id, EXISTS (SELECT FROM t WHERE box3d_overlaps(t.b, q.b)) FROM queries q', 'scans that are left after the first row');
-- what one scan left unread is not of the next
CREATE FUNCTION left_early(condition text) RETURNS text LANGUAGE sql AS $$
  SELECT format('SELECT q.id, count(*), count(DISTINCT l.id) FROM (SELECT * FROM queries ORDER BY id) q,
    LATERAL (SELECT t.id FROM t WHERE %s LIMIT CASE WHEN q.id %% 2 = 1 THEN 2 END) l GROUP BY 1 ORDER BY 1', condition) $$;
SELECT use_path('index');
SELECT matches(plan_of(left_early('t.b && q.b')), 'Nested Loop.*Limit.*Index Scan using t_b', 'scans that are left after two rows: plan');
SELECT results_eq(left_early('t.b && q.b'), left_early('box3d_overlaps(t.b, q.b)'), 'scans that are left after two rows, and others');
SELECT results_eq('SELECT q.id, l.d FROM (SELECT * FROM queries ORDER BY id) q, LATERAL (SELECT t.b <-> q.b AS d FROM t ORDER BY t.b <-> q.b LIMIT CASE WHEN q.id % 2 = 1 THEN 2 ELSE 300 END) l',
  'SELECT q.id, l.d FROM (SELECT * FROM queries ORDER BY id) q, LATERAL (SELECT box3d_distance(t.b, q.b) AS d FROM t ORDER BY 1 LIMIT CASE WHEN q.id % 2 = 1 THEN 2 ELSE 300 END) l',
  'ordered scans that are left after two rows, and others');
SELECT use_path('any');

-- a cursor, while its transaction changes the rows
SELECT use_path('index');
CREATE TABLE fetched (id int);
CREATE FUNCTION fetch_into(c refcursor, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  id int;
BEGIN
  FOR i IN 1 .. n LOOP
    FETCH c INTO id;
    IF NOT FOUND THEN
      RETURN i - 1;
    END IF;
    INSERT INTO fetched VALUES (id);
  END LOOP;
  RETURN n;
END $$;
CREATE TABLE before AS SELECT id FROM t WHERE b && box3d(0, 0, 0, 300, 300, 300);
DECLARE c NO SCROLL CURSOR FOR SELECT id FROM t WHERE b && box3d(0, 0, 0, 300, 300, 300);
SELECT is(fetch_into('c', 3), 3, 'the first three rows of a cursor');
SAVEPOINT a;
DELETE FROM t WHERE id % 2 = 0;
INSERT INTO t SELECT 5000 + id, box3d_translate(b, 50, 50, 50) FROM boxes_of('random', 2000);
SELECT cmp_ok(fetch_into('c', 10000), '>', 10, 'the rest');
CLOSE c;
SELECT set_eq('SELECT id FROM fetched', 'SELECT id FROM before', 'are the rows that there were when it was opened');
SELECT is((SELECT count(*) FROM fetched), (SELECT count(*) FROM before), 'each once');
ROLLBACK TO a;
DECLARE c SCROLL CURSOR FOR SELECT id FROM t WHERE b && box3d(0, 0, 0, 300, 300, 300);
MOVE ABSOLUTE 20 IN c;
SELECT lives_ok('FETCH BACKWARD 5 FROM c', 'a scrolling cursor goes backwards, over what it kept');
CLOSE c;
SELECT use_path('any');
DROP INDEX t_b;

CREATE INDEX t_b ON t USING bvh (b) WHERE id % 3 = 0;
INSERT INTO t SELECT 30000 + id, b FROM boxes_of('random', 300);
UPDATE t SET id = id + 1 WHERE id BETWEEN 100 AND 900;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{index,bitmap}', filter => 'id % 3 = 0')$$, 'partial index, rows in and out of it');
SELECT is_empty('SELECT unsound()', 'partial index: sound');
DROP INDEX t_b;

CREATE INDEX t_b ON t USING bvh (box3d_expand(b, 1)) WHERE id % 3 = 0;
SELECT is(differs('SELECT id FROM t WHERE box3d_expand(b, 1) && box3d(0, 0, 0, 99, 99, 99) AND id % 3 = 0', 'index', 'Index Scan using t_b'), NULL, 'index on an expression');
INSERT INTO t SELECT 31000 + id, b FROM boxes_of('infinite', 30);
INSERT INTO t VALUES (70002, NULL);
SELECT is(differs('SELECT id FROM t WHERE box3d_expand(b, 1) && box3d(0, 0, 0, 99, 99, 99) AND id % 3 = 0', 'bitmap', 't_b'), NULL, 'index on an expression, after inserts');
SELECT is(differs('SELECT id FROM t WHERE box3d_expand(b, 1) IS NULL AND id % 3 = 0', 'index', 'Index Scan using t_b'), NULL, 'index on an expression: NULL');
SELECT is_empty('SELECT unsound()', 'index on an expression: sound');
DROP INDEX t_b;

CREATE DOMAIN room AS box3d CHECK (VALUE && '(-1e9,-1e9,-1e9),(1e9,1e9,1e9)');
CREATE TABLE rooms AS SELECT id, b::room AS b FROM boxes_of('random', 500);
CREATE INDEX rooms_b ON rooms USING bvh (b);
SELECT is(differs('SELECT id FROM rooms WHERE b && box3d(0, 0, 0, 100, 100, 100)', 'index', 'Index Scan using rooms_b'), NULL, 'a column of a domain');

CREATE TABLE p (id int, b box3d) PARTITION BY HASH (id);
SELECT format('CREATE TABLE p%s PARTITION OF p FOR VALUES WITH (MODULUS 3, REMAINDER %1$s)', i) FROM generate_series(0, 2) i \gexec
CREATE INDEX p_b ON p USING bvh (b);
INSERT INTO p SELECT * FROM t;
SELECT is(differs('SELECT id FROM p WHERE b && box3d(0, 0, 0, 100, 100, 100)', 'index', 'Index Scan using p0_b_idx.*p1_b_idx.*p2_b_idx'), NULL, 'partitions');
DROP TABLE p;

-- ---------------------------------------------------------------------------
-- INCLUDE
-- ---------------------------------------------------------------------------

CREATE TABLE wide (id int, b box3d, flag bool, n numeric, payload text, pair point, list int[]);
CREATE FUNCTION fill_wide(first int, n int, longest int) RETURNS void LANGUAGE sql AS $$
  INSERT INTO wide SELECT first + id, CASE WHEN id % 11 > 0 THEN b END, CASE WHEN id % 4 > 0 THEN id % 3 = 0 END, nullif(id % 5, 0) / 3.0,
      CASE WHEN id % 6 > 0 THEN repeat(chr(65 + id % 26), (random() * longest)::int) END, CASE WHEN id % 7 > 0 THEN point(id, -id) END,
      CASE WHEN id % 9 > 0 THEN ARRAY[id, NULL, first] END
  FROM boxes_of('random', n) $$;
CREATE FUNCTION test_wide(what text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  q record;
BEGIN
  PERFORM queries_for('wide', 1);
  FOR q IN SELECT * FROM queries WHERE id % 2 = 1 LOOP
    RETURN NEXT is(differs(format('SELECT * FROM wide WHERE b && %L', q.b), 'only', 'Index Only Scan using wide_b'), NULL, what || ': all columns, ' || q.b);
    RETURN NEXT is(differs(format('SELECT * FROM wide ORDER BY b <-> %L', q.b), 'only', 'Index Only Scan using wide_b'), NULL,
                   what || ': all columns in order of distance to ' || q.b);
  END LOOP;
  RETURN NEXT is(differs('SELECT * FROM wide WHERE b IS NULL', 'only', 'Index Only Scan using wide_b'), NULL, what || ': all columns of NULL keys');
  RETURN NEXT is(differs('SELECT payload FROM wide WHERE b && box3d(0, 0, 0, 300, 300, 300) AND flag AND n > 1', 'only', 'Index Only Scan using wide_b'), NULL, what || ': a filter on them');
  RETURN NEXT is_empty('SELECT * FROM disagreements(''wide'', ''wide_b'', ''{only}'')', what || ': operators');
  RETURN NEXT is_empty('SELECT unsound()', what || ': sound');
END $$;
SELECT fill_wide(0, 3000, 100);
CREATE INDEX wide_b ON wide USING bvh (b) INCLUDE (flag, n, payload, pair, list, id);
SELECT t FROM test_wide('INCLUDE, built') t;
SELECT fill_wide(10000, 3000, 300);
SELECT t FROM test_wide('INCLUDE, inserted') t;
SET maintenance_work_mem = '1MB';
SELECT fill_wide(20000, 8000, 100);
REINDEX INDEX wide_b;
SELECT t FROM test_wide('INCLUDE, sorted') t;
RESET maintenance_work_mem;

-- payloads of very different length, some longer than a page has room for by fillfactor
TRUNCATE wide;
DROP INDEX wide_b;
ALTER TABLE wide ALTER payload SET STORAGE EXTERNAL;
CREATE INDEX wide_b ON wide USING bvh (b) INCLUDE (payload) WITH (fillfactor = 30);
INSERT INTO wide (id, b, payload) SELECT id, b, repeat('x', (random() * 7000)::int) FROM boxes_of('random', 400);
SELECT queries_for('wide', 2);
SELECT is_empty($$SELECT * FROM disagreements('wide', 'wide_b')$$, 'INCLUDE of up to 7,000 bytes, inserted');
REINDEX INDEX wide_b;
SELECT is_empty($$SELECT * FROM disagreements('wide', 'wide_b')$$, 'INCLUDE of up to 7,000 bytes, built');
SELECT is_empty('SELECT unsound()', 'INCLUDE of up to 7,000 bytes: sound');
-- too wide: an error of the user's, from a build as from an insert
CREATE TABLE too_wide (b box3d, payload text);
ALTER TABLE too_wide ALTER payload SET STORAGE EXTERNAL;
CREATE FUNCTION test_too_wide(b box3d, length int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  DROP INDEX IF EXISTS too_wide_b;
  TRUNCATE too_wide;
  INSERT INTO too_wide VALUES (b, repeat('x', length));
  RETURN NEXT throws_ok('CREATE INDEX too_wide_b ON too_wide USING bvh (b) INCLUDE (payload)', '54000', NULL, format('INCLUDE of %s bytes with %s: build', length, b));
  TRUNCATE too_wide;
  CREATE INDEX too_wide_b ON too_wide USING bvh (b) INCLUDE (payload);
  RETURN NEXT throws_ok(format('INSERT INTO too_wide VALUES (%L, repeat(''x'', %s))', b, length), '54000', NULL, format('INCLUDE of %s bytes with %s: insert', length, b));
END $$;
SELECT t FROM unnest(ARRAY[8090, 8110, 8130, 9000]) length, LATERAL test_too_wide(box3d(1, 1, 1), length) t;
SELECT t FROM unnest(ARRAY[8140, 8160, 9000]) length, LATERAL test_too_wide(NULL, length) t;

-- ---------------------------------------------------------------------------
-- fillfactor
-- ---------------------------------------------------------------------------

CREATE TABLE packed AS SELECT * FROM boxes_of('random', 20000);
CREATE INDEX packed_b ON packed USING bvh (b) WITH (fillfactor = 100);
CREATE INDEX half_b ON packed USING bvh (b) WITH (fillfactor = 50);
SELECT ok(relation_pages('half_b') BETWEEN 1.8 * relation_pages('packed_b') AND 2.1 * relation_pages('packed_b'),
  format('fillfactor 50 makes twice the pages of 100 (%s, %s)', relation_pages('half_b'), relation_pages('packed_b')));
SELECT lives_ok('ALTER INDEX packed_b SET (fillfactor = 50)', 'ALTER INDEX SET (fillfactor)');
REINDEX INDEX packed_b;
SELECT is(relation_pages('packed_b'), relation_pages('half_b'), 'holds from the next build on');
ALTER INDEX packed_b RESET (fillfactor);
REINDEX INDEX packed_b;
SELECT ok((SELECT leaf_fill BETWEEN 0.84 AND 0.87 FROM bvh_stats('packed_b')), 'the default is 86');
SELECT throws_ok(format('ALTER INDEX packed_b SET (fillfactor = %s)', f), '22023', NULL, 'fillfactor = ' || f) FROM unnest(ARRAY[9, 101, 0, -1]) f;
SELECT throws_ok('ALTER INDEX packed_b SET (fillfactor = wide)', '22023', NULL, 'fillfactor = wide');
SELECT throws_ok('CREATE INDEX ON packed USING bvh (b) WITH (buffering = on)', '22023', NULL, 'buffering is not an option of bvh');

-- ---------------------------------------------------------------------------
-- what the access method does not do
-- ---------------------------------------------------------------------------

SELECT throws_ok('CREATE INDEX ON packed USING bvh (b, b)', '0A000', NULL, 'several key columns');
SELECT throws_ok('CREATE UNIQUE INDEX ON packed USING bvh (b)', '0A000', NULL, 'UNIQUE');
SELECT throws_ok('CREATE INDEX ON packed USING bvh (b DESC)', '0A000', NULL, 'DESC');
SELECT throws_ok('CREATE INDEX ON packed USING bvh (id)', '42704', NULL, 'other types');

-- ---------------------------------------------------------------------------
-- transactions
-- ---------------------------------------------------------------------------

CREATE INDEX t_b ON t USING bvh (b);
SELECT queries_for('t', 1);
SAVEPOINT whole;
TRUNCATE t;
INSERT INTO t SELECT * FROM boxes_of('tiles', 1000);
SAVEPOINT s;
DELETE FROM t WHERE id % 2 = 0;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap,only}')$$, 'truncated, filled, deleted');
ROLLBACK TO s;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap,only}')$$, 'the delete rolled back');
ROLLBACK TO whole;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap,only}')$$, 'all of it rolled back');
SAVEPOINT s;
REINDEX INDEX t_b;
INSERT INTO t SELECT * FROM boxes_of('tiles', 3000);
ROLLBACK TO s;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'a REINDEX rolled back');
SAVEPOINT s;
DROP INDEX t_b;
CREATE INDEX t_gone ON t USING bvh (b);
ROLLBACK TO s;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'DROP and CREATE INDEX rolled back');
SELECT is_empty('SELECT unsound()', 'all indexes are sound');

-- ---------------------------------------------------------------------------
-- parallel plans
-- ---------------------------------------------------------------------------

ANALYZE packed;
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET parallel_leader_participation = off;
SELECT is(differs('SELECT sum(id), count(*) FROM packed WHERE b && box3d(-400, -400, -400, 400, 400, 400)', 'bitmap', 'Gather.*Parallel Bitmap Heap Scan on packed.*Bitmap Index Scan on (packed|half)_b'), NULL, 'a parallel bitmap heap scan');

-- the ring "cached" forces it: then this file is about trees in shared memory
SELECT is(coalesce((SELECT sum(hits) > 0 FROM bvh_cache), false), current_setting('bvhindex.use_cache') = 'always', 'the cache answers where it is forced to');

SELECT * FROM finish();
ROLLBACK;
