-- The index answers as the sequential scan does: every operator of the operator
-- class, every access path, every instruction set, on boxes of every kind,
-- however the index was built.
--
-- README: "Whatever plan runs, on whatever CPU, the rows are the same as without an
-- index."
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();

\i test/pgtap/include/oracle.sql

-- ---------------------------------------------------------------------------
-- all kinds, built three ways
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_gist_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT test_kind(kind);
  DROP INDEX bulk_b;
  CREATE INDEX bulk_b ON bulk USING gist (b) WITH (buffering = on, fillfactor = 50);
  RETURN NEXT is_empty('SELECT * FROM disagreements(''bulk'', ''bulk_b'', ''{bitmap}'')',
                       kind || ': built with buffering');
  DROP TABLE bulk, grown;
END $$;

SELECT t FROM kinds, LATERAL test_gist_kind(kind) t;

-- hardly any rows
CREATE FUNCTION test_few(n int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of('nested', n);
  PERFORM queries_for('bulk');
  CREATE INDEX bulk_b ON bulk USING gist (b);
  RETURN NEXT is_empty('SELECT * FROM disagreements(''bulk'', ''bulk_b'', ''{bitmap}'')', n || ' rows, bulk-built');
  TRUNCATE bulk;
  INSERT INTO bulk SELECT * FROM boxes_of('random', n);
  RETURN NEXT is_empty('SELECT * FROM disagreements(''bulk'', ''bulk_b'', ''{bitmap}'')', n || ' rows, inserted');
  RETURN NEXT is_empty('SELECT * FROM nearest_disagreements(''bulk'', ''bulk_b'', ''{index}'')', n || ' rows, by distance');
  DROP TABLE bulk;
END $$;
SELECT t FROM generate_series(0, 3) n, LATERAL test_few(n) t;

-- ---------------------------------------------------------------------------
-- a tree of three levels of full pages
-- ---------------------------------------------------------------------------

CREATE TABLE deep AS SELECT * FROM boxes_of('random', 16000);
INSERT INTO deep SELECT 16000 + id, b FROM boxes_of('infinite', 500);
CREATE INDEX deep_b ON deep USING gist (b);
SELECT queries_for('deep', 1);
SELECT is_empty($$SELECT * FROM disagreements('deep', 'deep_b', '{bitmap,only}')$$, '16,500 boxes, bulk-built');

TRUNCATE deep;
INSERT INTO deep SELECT * FROM boxes_of('two scales', 12000);
SELECT queries_for('deep', 1);
SELECT is_empty($$SELECT * FROM disagreements('deep', 'deep_b', '{bitmap,only}')$$, '12,000 boxes, inserted');

-- rows that go and come, without a vacuum between
DELETE FROM deep WHERE id % 3 = 0;
UPDATE deep SET b = box3d_translate(b, random() * 100, 0, 0) WHERE id % 7 = 0;
INSERT INTO deep SELECT -id, b FROM boxes_of('infinite', 300);
SELECT queries_for('deep', 1);
SELECT is_empty($$SELECT * FROM disagreements('deep', 'deep_b', '{index,only}')$$, 'after deletes, updates, inserts');

-- every other box infinite in z, in another order each time: one and the same count
CREATE TABLE m AS SELECT id, CASE WHEN id % 2 = 0 THEN b
    ELSE box3d(box3d_xmin(b), box3d_ymin(b), '-Infinity', box3d_xmax(b), box3d_ymax(b), 'Infinity') END AS b
  FROM boxes_of('random', 3000);
CREATE TABLE shuffled (id int, b box3d);
CREATE INDEX shuffled_b ON shuffled USING gist (b);
CREATE FUNCTION counts_of_rebuilds() RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. 5 LOOP
    TRUNCATE shuffled;
    INSERT INTO shuffled SELECT * FROM m ORDER BY random();
    RETURN QUERY SELECT count(*) FROM shuffled WHERE b && box3d(0, 0, 400, 500, 500, 410);
    REINDEX INDEX shuffled_b;
    RETURN QUERY SELECT count(*) FROM shuffled WHERE b && box3d(0, 0, 400, 500, 500, 410);
  END LOOP;
END $$;
SELECT set_eq('SELECT * FROM counts_of_rebuilds()',
  'SELECT count(*) FROM m WHERE b && box3d(0, 0, 400, 500, 500, 410)', 'the count does not depend on the build');
SELECT use_path('any');

-- ---------------------------------------------------------------------------
-- INCLUDE
-- ---------------------------------------------------------------------------

-- payloads of very different length
CREATE TABLE wide (id int, b box3d, payload text);
CREATE INDEX wide_b ON wide USING gist (b) INCLUDE (payload);
ALTER TABLE wide ALTER payload SET STORAGE PLAIN;
INSERT INTO wide SELECT id, b, repeat('x', (random() * 2000)::int) FROM boxes_of('random', 1000);
SELECT queries_for('wide', 2);
SELECT is_empty($$SELECT * FROM disagreements('wide', 'wide_b')$$, 'INCLUDE of up to 2,000 bytes');

-- ---------------------------------------------------------------------------
-- together with another column
-- ---------------------------------------------------------------------------

SELECT count(*) > 0 AS has_btree_gist FROM pg_available_extensions WHERE name = 'btree_gist' \gset
\if :has_btree_gist
CREATE EXTENSION btree_gist;
SELECT queries_for('t', 2);
CREATE INDEX t_id_b ON t USING gist (id, b);
SELECT is_empty($$SELECT * FROM disagreements('t', 't_id_b')$$, 'second column of an index');
DROP INDEX t_id_b;
CREATE INDEX t_b_id ON t USING gist (b, id);
INSERT INTO t SELECT 20000 + id, b FROM boxes_of('nested', 500);
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b_id')$$, 'first column of an index');
SELECT use_path('index');
SELECT matches(plan_of('SELECT id FROM t WHERE b && box3d(0, 0, 0, 99, 99, 99) AND id < 900'), 'Index Cond: \(\(b && .* AND \(id < 900\)\)', 'conditions on both columns');
SELECT set_eq('SELECT id FROM t WHERE b && box3d(0, 0, 0, 99, 99, 99) AND id < 900',
  'SELECT id FROM t WHERE box3d_overlaps(b, box3d(0, 0, 0, 99, 99, 99)) AND id + 0 < 900', 'are both tested');
SELECT use_path('any');
CREATE TABLE storeys (storey int, b box3d, EXCLUDE USING gist (storey WITH =, b WITH &&));
INSERT INTO storeys SELECT s, box3d(0, 0, 0, 1, 1, 1) FROM generate_series(1, 200) s;
SELECT throws_ok('INSERT INTO storeys VALUES (77, box3d(1, 1, 1))', '23P01', NULL, 'exclusion within a group');
\else
SELECT skip('no btree_gist', 5);
\endif

SELECT * FROM finish();
ROLLBACK;
