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
SELECT plan(3 * (SELECT count(*) FROM kinds)::int + 54);

SELECT set_eq('SELECT strategy::int, name::text FROM search_operators',
  $$VALUES (1,'<<'), (2,'&<'), (3,'&&'), (4,'&>'), (5,'>>'), (6,'~='), (7,'@>'), (8,'<@'), (9,'&<|'), (10,'<<|'),
    (11,'|>>'), (12,'|&>'), (18,'='), (31,'<</'), (32,'&</'), (33,'/&>'), (34,'/>>'), (35,'&&+')$$,
  'the operators of the class and their strategy numbers');

-- ---------------------------------------------------------------------------
-- all kinds, built three ways
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of(kind, 400);
  PERFORM queries_for('bulk', 2);
  CREATE INDEX bulk_b ON bulk USING gist (b) INCLUDE (id);
  RETURN NEXT is_empty(format('SELECT * FROM disagreements(''bulk'', ''bulk_b'', ''{only}'', %L)', simd_levels()),
                       kind || ': bulk-built');

  -- the padding makes few entries fit on a page, and so a tree of many levels
  CREATE TABLE grown (id int, b box3d, pad text);
  CREATE INDEX grown_b ON grown USING gist (b) INCLUDE (pad);
  INSERT INTO grown SELECT id, b, repeat(chr(33 + id % 90), 700) FROM bulk;
  RETURN NEXT is_empty('SELECT * FROM disagreements(''grown'', ''grown_b'')',
                       kind || ': grown by inserts');

  DROP INDEX bulk_b;
  CREATE INDEX bulk_b ON bulk USING gist (b) WITH (buffering = on, fillfactor = 50);
  RETURN NEXT is_empty('SELECT * FROM disagreements(''bulk'', ''bulk_b'', ''{bitmap}'')',
                       kind || ': built with buffering');
  DROP TABLE bulk, grown;
END $$;

SELECT t FROM kinds, LATERAL test_kind(kind) t;

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

-- ---------------------------------------------------------------------------
-- rows that must be found among infinite ones, whenever those came
-- ---------------------------------------------------------------------------

CREATE TABLE s (id int, b box3d);
CREATE INDEX s_b ON s USING gist (b);
INSERT INTO s VALUES (5001, box3d('-Infinity', 0, 0, 'Infinity', 1, 1)), (5002, box3d(0, 0, 0, 'Infinity', 'Infinity', 'Infinity'));
INSERT INTO s SELECT i, box3d(i, i, i, i + 1, i + 1, i + 1) FROM generate_series(1, 1000) i;
SELECT use_path('index');
SELECT set_eq($$SELECT id FROM s WHERE b && box3d(1e6, 0.5, 0.5, 2e6, 0.6, 0.6)$$, ARRAY[5001, 5002], 'infinite rows inserted first');
DELETE FROM s WHERE id > 5000;
INSERT INTO s VALUES (5001, box3d('-Infinity', 0, 0, 'Infinity', 1, 1)), (5002, box3d(0, 0, 0, 'Infinity', 'Infinity', 'Infinity'));
SELECT set_eq($$SELECT id FROM s WHERE b && box3d(1e6, 0.5, 0.5, 2e6, 0.6, 0.6)$$, ARRAY[5001, 5002], 'infinite rows inserted last');
REINDEX INDEX s_b;
SELECT set_eq($$SELECT id FROM s WHERE b && box3d(1e6, 0.5, 0.5, 2e6, 0.6, 0.6)$$, ARRAY[5001, 5002], 'infinite rows before the index');

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
-- kinds of indexes
-- ---------------------------------------------------------------------------

CREATE TABLE t AS SELECT * FROM boxes_of('random', 2000);
INSERT INTO t SELECT -id, NULL FROM generate_series(1, 500) id;
INSERT INTO t SELECT 10000 + id, b FROM boxes_of('infinite', 100);
SELECT queries_for('t', 2);

CREATE INDEX t_b ON t USING gist (b);
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b')$$, 'with rows without a box');

SELECT use_path('index');
SELECT matches(plan_of('SELECT id FROM t WHERE b IS NULL'), 'Index Scan using t_b.*Index Cond: \(b IS NULL\)', 'IS NULL uses the index');
SELECT set_eq('SELECT id FROM t WHERE b IS NULL', 'SELECT -i FROM generate_series(1, 500) i', 'IS NULL');
SELECT is((SELECT count(*)::int FROM t WHERE b IS NOT NULL), 2100, 'IS NOT NULL');
SELECT is((SELECT count(*)::int FROM t WHERE b && NULL), 0, 'nothing overlaps NULL');
PREPARE overlapping(box3d) AS SELECT count(*)::int FROM t WHERE b && $1;
SET plan_cache_mode = force_generic_plan;
SELECT is_empty('SELECT 1 FROM t WHERE b && (SELECT NULL::box3d)', 'nor a NULL known only while running');
SELECT results_eq('EXECUTE overlapping(NULL)', 'VALUES (0)', 'nor a NULL parameter');
SELECT results_eq($$EXECUTE overlapping('(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)')$$, 'VALUES (2100)',
  'a prepared statement runs again with another box');
RESET plan_cache_mode;
DROP INDEX t_b;

-- one scan node, started again for every outer row, with other boxes and with NULL
CREATE INDEX t_b ON t USING gist (b);
SELECT set_eq(
  $$SELECT q.id, l.n FROM (SELECT id, CASE WHEN id % 3 > 0 THEN b END AS b FROM queries) q,
      LATERAL (SELECT count(*) AS n FROM t WHERE t.b && q.b OR t.b <@ q.b) l$$,
  $$SELECT q.id, count(t.id) FROM (SELECT id, CASE WHEN id % 3 > 0 THEN b END AS b FROM queries) q
      LEFT JOIN t ON box3d_overlaps(t.b, q.b) GROUP BY q.id$$, 'rescans');
DROP INDEX t_b;

CREATE INDEX t_b ON t USING gist (b) WHERE id % 3 = 0;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{index,bitmap}', filter => 'id % 3 = 0')$$, 'partial index');
DROP INDEX t_b;

CREATE INDEX t_b ON t USING gist (box3d_expand(b, 1)) WHERE id % 3 = 0;
SELECT use_path('index');
SELECT matches(plan_of('SELECT id FROM t WHERE box3d_expand(b, 1) && box3d(0, 0, 0, 9, 9, 9) AND id % 3 = 0'), 'Index Scan using t_b', 'an expression is found');
SELECT set_eq('SELECT id FROM t WHERE box3d_expand(b, 1) && box3d(0, 0, 0, 99, 99, 99) AND id % 3 = 0',
  'SELECT id FROM t WHERE box3d_overlaps(box3d_expand(b, 1), box3d(0, 0, 0, 99, 99, 99)) AND id % 3 = 0', 'index on an expression, with NULL among its values');
SELECT use_path('any');
DROP INDEX t_b;

CREATE TEMP TABLE gone AS SELECT * FROM t;
CREATE INDEX gone_b ON gone USING gist (b);
SELECT is_empty($$SELECT * FROM disagreements('gone', 'gone_b')$$, 'temporary table');

CREATE UNLOGGED TABLE unlogged AS SELECT * FROM t;
CREATE INDEX unlogged_b ON unlogged USING gist (b);
INSERT INTO unlogged SELECT * FROM boxes_of('tiles', 500);
SELECT is_empty($$SELECT * FROM disagreements('unlogged', 'unlogged_b')$$, 'unlogged table');

-- two indexes on one column, one of them dropped
CREATE INDEX t_b ON t USING gist (b);
CREATE INDEX t_b2 ON t USING gist (b);
DROP INDEX t_b;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b2', '{bitmap}')$$, 'the second of two equal indexes');

-- payloads of very different length
CREATE TABLE wide (id int, b box3d, payload text);
CREATE INDEX wide_b ON wide USING gist (b) INCLUDE (payload);
ALTER TABLE wide ALTER payload SET STORAGE PLAIN;
INSERT INTO wide SELECT id, b, repeat('x', (random() * 2000)::int) FROM boxes_of('random', 1000);
SELECT queries_for('wide', 2);
SELECT is_empty($$SELECT * FROM disagreements('wide', 'wide_b')$$, 'INCLUDE of up to 2,000 bytes');

-- ---------------------------------------------------------------------------
-- exclusion constraints
-- ---------------------------------------------------------------------------

CREATE TABLE ex (b box3d, CONSTRAINT apart EXCLUDE USING gist (b WITH &&));
INSERT INTO ex VALUES (box3d(0, 0, 0, 1, 1, 1)), (NULL), (NULL);
SELECT throws_ok('INSERT INTO ex VALUES (box3d(1, 1, 1, 2, 2, 2))', '23P01', NULL, '&& excludes boxes that touch');
SELECT lives_ok('INSERT INTO ex VALUES (box3d(1.5, 1, 1, 2, 2, 2))', 'but not boxes apart');
SELECT throws_ok('UPDATE ex SET b = box3d_translate(b, -0.5, 0, 0) WHERE box3d_xmin(b) = 1.5', '23P01', NULL, 'an update into a conflict');
SELECT lives_ok('INSERT INTO ex VALUES (box3d(0.5, 0.5, 0.5)), (box3d(9, 9, 9)) ON CONFLICT DO NOTHING', 'ON CONFLICT DO NOTHING');
SELECT is((SELECT count(*)::int FROM ex WHERE b && box3d(9, 9, 9)), 1, 'kept the row without a conflict');
SELECT is((SELECT count(*)::int FROM ex), 5, 'and only that');

CREATE TABLE bricks (b box3d, CONSTRAINT no_clash EXCLUDE USING gist (b WITH &&+));
SELECT lives_ok('INSERT INTO bricks SELECT b FROM boxes_of(''tiles'', 1000)', '&&+ lets boxes share faces, edges and corners');
SELECT throws_ok('INSERT INTO bricks VALUES (box3d(5.5, 5.5, 5.5, 6, 6, 6))', '23P01', NULL, 'but not overlap');
SELECT throws_ok('INSERT INTO bricks VALUES (box3d(5, 5, 5, 6, 6, 6))', '23P01', NULL, 'nor be equal');

CREATE TABLE once (b box3d, CONSTRAINT unequal EXCLUDE USING gist (b WITH =));
SELECT throws_ok('INSERT INTO once VALUES (box3d(-0.0, 0, 0, 1, 1, 1)), (box3d(0, 0, 0, 1, 1, 1))', '23P01', NULL, '= excludes equal boxes');

CREATE TABLE later (id int, b box3d, CONSTRAINT apart_later EXCLUDE USING gist (b WITH &&) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO later VALUES (1, box3d(0, 0, 0, 1, 1, 1)), (2, box3d(0.5, 0, 0, 2, 1, 1));
UPDATE later SET b = box3d_translate(b, 5, 0, 0) WHERE id = 2;
SELECT lives_ok('SET CONSTRAINTS apart_later IMMEDIATE', 'a conflict that is gone when the constraint is checked');
SET CONSTRAINTS apart_later DEFERRED;
INSERT INTO later VALUES (3, box3d(0.5, 0, 0));
SELECT throws_ok('SET CONSTRAINTS apart_later IMMEDIATE', '23P01', NULL, 'one that is not');

SELECT throws_ok('ALTER TABLE t ADD EXCLUDE USING gist (b WITH &&)', '23P01', NULL, 'rows in conflict prevent a constraint');

-- ---------------------------------------------------------------------------
-- together with another column
-- ---------------------------------------------------------------------------

SELECT count(*) > 0 AS has_btree_gist FROM pg_available_extensions WHERE name = 'btree_gist' \gset
\if :has_btree_gist
CREATE EXTENSION btree_gist;
DROP INDEX t_b2;
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
