-- An index of :method answers as the sequential scan does after deletes, updates,
-- VACUUM and everything else that rewrites a table or its index.  After agree.sql,
-- and outside of a transaction, in a schema of its own.

-- ---------------------------------------------------------------------------
-- pages that empty and fill again
-- ---------------------------------------------------------------------------

CREATE TABLE z (id int, b box3d) WITH (autovacuum_enabled = off);
CREATE INDEX z_b ON z USING :method (b);
INSERT INTO z SELECT id, b FROM boxes_of('random', 12000) ORDER BY box3d_hilbert(b, box3d(-500, -500, -500, 550, 550, 550));
SELECT queries_for('z', 1);
DELETE FROM z WHERE id % 3 = 0;
VACUUM z;
SELECT is_empty($$SELECT * FROM disagreements('z', 'z_b', '{bitmap,only}')$$, 'every third row deleted');
INSERT INTO z SELECT 12000 + id, b FROM boxes_of('random', 4000);
SELECT is_empty($$SELECT * FROM disagreements('z', 'z_b', '{bitmap}')$$, 'and filled again');

-- whole leaves vanish, and their pages serve elsewhere once the transactions that
-- were running then are over
SELECT relation_pages('z_b') AS pages_before \gset
DELETE FROM z WHERE b << box3d(400, 0, 0);
VACUUM z;
SELECT txid_current() \g /dev/null
VACUUM z;
SELECT is_empty($$SELECT * FROM disagreements('z', 'z_b', '{bitmap,only}')$$, 'most of space emptied');
INSERT INTO z SELECT 20000 + id, box3d_translate(b, 5000, 0, 0) FROM boxes_of('random', 8000);
SELECT queries_for('z', 2);
SELECT is_empty($$SELECT * FROM disagreements('z', 'z_b', '{bitmap,only}')$$, 'rows inserted elsewhere');
SELECT cmp_ok(relation_pages('z_b'), '<=', :pages_before * 5 / 4, 'use the pages that became free');
SELECT is_empty($$SELECT * FROM nearest_disagreements('z', 'z_b', row_limit => 100)$$, 'nearest among them');

-- everything goes
DELETE FROM z;
VACUUM z;
SELECT use_path('index');
SELECT is((SELECT count(*)::int FROM z WHERE b && '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)'), 0, 'all rows deleted');
INSERT INTO z VALUES (1, box3d(1, 1, 1));
SELECT results_eq('SELECT id FROM z WHERE b && box3d(0, 0, 0, 2, 2, 2)', ARRAY[1], 'and one inserted');
SELECT results_eq('SELECT id FROM z ORDER BY b <-> box3d(9, 9, 9) LIMIT 2', ARRAY[1], 'is the nearest');

-- a row's place is used again by another box
TRUNCATE z;
INSERT INTO z SELECT i, box3d(i, 0, 0) FROM generate_series(1, 100) i;
SELECT is((SELECT count(*)::int FROM z WHERE b && box3d(50, 0, 0)), 1, 'a row before it is deleted');
DELETE FROM z WHERE id = 50;
VACUUM z;
INSERT INTO z VALUES (999, box3d(1e6, 0, 0));
SELECT is_empty('SELECT id FROM z WHERE b && box3d(50, 0, 0)', 'the old box finds nothing');
SELECT results_eq('SELECT id FROM z WHERE b && box3d(1e6, 0, 0)', ARRAY[999], 'the new box finds the new row');
SELECT use_path('any');
SELECT is_empty('SELECT unsound()', 'sound');

-- ---------------------------------------------------------------------------
-- a few rows updated over and over
-- ---------------------------------------------------------------------------

CREATE TABLE moving (id int, b box3d) WITH (autovacuum_enabled = off, fillfactor = 50);
CREATE INDEX moving_b ON moving USING :method (b);
INSERT INTO moving SELECT * FROM boxes_of('random', 500);
CREATE PROCEDURE move_all(times int) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. times LOOP
    UPDATE moving SET b = box3d_translate(b, random() - 0.5, random() - 0.5, random() - 0.5);
    COMMIT;
  END LOOP;
END $$;
CALL move_all(20);
SELECT queries_for('moving', 2);
SELECT is_empty($$SELECT * FROM disagreements('moving', 'moving_b')$$, '10,000 updates without a vacuum');
VACUUM moving;
SELECT is_empty($$SELECT * FROM disagreements('moving', 'moving_b', '{bitmap,only}')$$, 'and with one');
SELECT relation_pages('moving_b') AS pages_before \gset
CALL move_all(10);
VACUUM moving;
CALL move_all(10);
VACUUM moving;
SELECT cmp_ok(relation_pages('moving_b'), '<=', :pages_before * 3 / 2, 'vacuum keeps the index from growing');

-- ---------------------------------------------------------------------------
-- commands that write the index anew
-- ---------------------------------------------------------------------------

CREATE TABLE t (id int, b box3d);
CREATE INDEX t_b ON t USING :method (b);
INSERT INTO t SELECT * FROM boxes_of('random', 3000);
INSERT INTO t SELECT 10000 + id, b FROM boxes_of('infinite', 100);
INSERT INTO t SELECT -i, NULL FROM generate_series(1, 100) i;
DELETE FROM t WHERE id % 5 = 0;
SELECT queries_for('t', 1);
VACUUM FULL t;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'VACUUM FULL');
CLUSTER t USING t_b;
SELECT is((SELECT count(*)::int FROM t), 2560, 'CLUSTER keeps all rows');
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'CLUSTER');
REINDEX INDEX t_b;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'REINDEX');
REINDEX INDEX CONCURRENTLY t_b;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'REINDEX CONCURRENTLY');
DROP INDEX CONCURRENTLY t_b;
CREATE INDEX CONCURRENTLY t_b ON t USING :method (b);
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'CREATE INDEX CONCURRENTLY');
CREATE INDEX IF NOT EXISTS t_b ON t USING :method (b);
ALTER INDEX t_b SET (fillfactor = 50);
REINDEX INDEX t_b;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'another fillfactor');

BEGIN;
TRUNCATE t;
INSERT INTO t SELECT * FROM boxes_of('tiles', 1000);
SAVEPOINT s;
DELETE FROM t WHERE id % 2 = 0;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap,only}')$$, 'within a transaction that truncated and deleted');
ROLLBACK TO s;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap,only}')$$, 'after its savepoint is rolled back');
ROLLBACK;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap,only}')$$, 'after all of it is rolled back');

BEGIN;
CREATE INDEX t_gone ON t USING :method (b);
DROP INDEX t_b;
ROLLBACK;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{bitmap}')$$, 'CREATE INDEX rolled back');

SELECT is_empty('SELECT unsound()', 'sound');

-- ---------------------------------------------------------------------------
-- a build that is stopped
-- ---------------------------------------------------------------------------

CREATE TABLE big AS SELECT i AS id, box3d(i % 1000, i / 1000, 0, i % 1000 + 1, i / 1000 + 1, 1) AS b FROM generate_series(1, 200000) i;
CREATE FUNCTION is_cancelled(command text) RETURNS bool LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE command;
  RETURN false;
EXCEPTION WHEN query_canceled THEN
  RETURN true;
END $$;
SET statement_timeout = '20ms';
SELECT ok(is_cancelled('CREATE INDEX big_b ON big USING ' || method() || ' (b)'), 'CREATE INDEX can be cancelled');
RESET statement_timeout;
SELECT hasnt_index(current_schema(), 'big', 'big_b', 'and leaves no index');
