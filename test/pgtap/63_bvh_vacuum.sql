-- A bvh index answers as the sequential scan does after deletes, updates, VACUUM
-- and everything else that rewrites a table or its index.
--
-- VACUUM does not run in a transaction, so this file works in a schema of its own.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS bvh_vacuumed CASCADE;
CREATE SCHEMA bvh_vacuumed;
SET search_path = bvh_vacuumed, public;
\i test/pgtap/include/bvh_agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();

\i test/pgtap/include/vacuum.sql

-- ---------------------------------------------------------------------------
-- random work: inserts, updates, deletes, vacuum
-- ---------------------------------------------------------------------------

CREATE TABLE mix (id serial, b box3d, s text) WITH (autovacuum_enabled = off);
CREATE INDEX mix_b ON mix USING bvh (b) INCLUDE (s);
CREATE INDEX mix_half ON mix USING bvh (box3d_expand(b, 1)) WHERE id % 2 = 0;
INSERT INTO mix (b, s) SELECT b, md5(id::text) FROM boxes_of('random', 3000);
-- one step of it; a few kinds, NULL keys, other columns only (which is HOT), a region at once
CREATE FUNCTION mix_step() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  q box3d := (SELECT box3d_expand(box3d(random() * 1000 - 500, random() * 1000 - 500, random() * 1000 - 500), random() * 300));
BEGIN
  CASE (random() * 7)::int
    WHEN 0 THEN INSERT INTO mix (b, s) SELECT b, repeat('y', id % 200) FROM boxes_of('random', 300);
    WHEN 1 THEN INSERT INTO mix (b) SELECT b FROM boxes_of((SELECT kind FROM kinds ORDER BY random() LIMIT 1), 100);
    WHEN 2 THEN UPDATE mix SET b = box3d_translate(b, 5, 5, 5) WHERE id % 10 = (random() * 10)::int;
    WHEN 3 THEN UPDATE mix SET s = 'z' WHERE id % 10 = (random() * 10)::int;
    WHEN 4 THEN DELETE FROM mix WHERE b && q;
    WHEN 5 THEN DELETE FROM mix WHERE id % 20 = (random() * 20)::int;
    WHEN 6 THEN UPDATE mix SET b = NULL WHERE b <@ q;
    ELSE INSERT INTO mix (b, s) SELECT CASE WHEN i % 3 = 0 THEN q END, 'one place' FROM generate_series(1, 150) i;
  END CASE;
END $$;
CREATE PROCEDURE mix_steps(n int) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. n LOOP
    PERFORM mix_step();
    COMMIT;
  END LOOP;
END $$;
CREATE FUNCTION test_round(i int) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM queries_for('mix', 1);
  RETURN NEXT is_empty(format('SELECT * FROM disagreements(''mix'', ''mix_b'', ARRAY[%L])', (ARRAY['index', 'bitmap', 'only'])[1 + i % 3]), format('round %s: operators', i));
  RETURN NEXT is_empty(format('SELECT * FROM nearest_disagreements(''mix'', ''mix_b'', ARRAY[%L], row_limit => 200)', (ARRAY['only', 'index'])[1 + i % 2]), format('round %s: nearest', i));
  RETURN NEXT is(differs('SELECT b, s FROM mix WHERE b && box3d(-200, -200, -200, 300, 300, 300)', 'only', 'Index Only Scan using mix_b'), NULL, format('round %s: with another column', i));
  RETURN NEXT is(differs('SELECT id FROM mix WHERE box3d_expand(b, 1) && box3d(-200, -200, -200, 200, 200, 200) AND id % 2 = 0', 'index', 'mix_half'), NULL,
                 format('round %s: partial index on an expression', i));
  RETURN NEXT is(differs('SELECT b, s FROM mix WHERE b IS NULL', 'only', 'Index Only Scan using mix_b'), NULL, format('round %s: NULL keys', i));
  RETURN NEXT is_empty('SELECT unsound()', format('round %s: sound', i));
END $$;
-- before and after VACUUM
SELECT command FROM generate_series(1, 6) i, unnest(ARRAY['CALL mix_steps(8)', format('SELECT test_round(%s)', i), 'VACUUM mix', format('SELECT test_round(%s)', i)]) WITH ORDINALITY c(command, place)
  WHERE i % 2 = 0 OR place < 3 ORDER BY i, place \gexec

-- what no one can see any more is marked by the scan that found it so, and gone after VACUUM
SET bvhindex.use_cache = off;
CREATE TABLE killed AS SELECT i AS id, box3d(i, 0, 0) AS b FROM generate_series(1, 1000) i;
CREATE INDEX killed_b ON killed USING bvh (b);
ALTER TABLE killed SET (autovacuum_enabled = off);
DELETE FROM killed WHERE id <= 300;
SELECT use_path('index');
SELECT is((SELECT count(*)::int FROM killed WHERE b <@ box3d(0, 0, 0, 400, 0, 0)), 100, 'rows that are left');
SELECT is((SELECT dead_tuples FROM bvh_stats('killed_b')), 300::bigint, 'the scan marks the items of the others');
SELECT is((SELECT count(*)::int FROM killed WHERE b <@ box3d(0, 0, 0, 400, 0, 0)), 100, 'the next scan skips them');
SELECT results_eq('SELECT id FROM killed ORDER BY b <-> box3d(0, 0, 0) LIMIT 2', ARRAY[301, 302], 'and so does an ordered scan');
INSERT INTO killed SELECT i, box3d(i, 0, 0) FROM generate_series(1, 300) i;
SELECT is((SELECT count(*)::int FROM killed WHERE b <@ box3d(0, 0, 0, 400, 0, 0)), 400, 'rows in their place');
SELECT is_empty('SELECT unsound()', 'sound');
VACUUM killed;
SELECT is((SELECT dead_tuples FROM bvh_stats('killed_b')), 0::bigint, 'VACUUM removes them');
SELECT is((SELECT tuples FROM bvh_stats('killed_b')), 1000::bigint, 'and nothing else');
SELECT use_path('any');
DROP TABLE killed, mix;

SELECT is_empty('SELECT unsound()', 'all indexes are sound');

SELECT * FROM finish();
DROP SCHEMA bvh_vacuumed CASCADE;
