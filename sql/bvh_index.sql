-- The bvh access method: what can be declared, and what is refused.

CREATE TABLE v (id int, note text, b box3d);
INSERT INTO v SELECT i, repeat('x', i % 50), box3d(i, 0, 0, i + 0.5, 1, 1) FROM generate_series(1, 500) i;

CREATE INDEX v_b ON v USING bvh (b);
CREATE INDEX v_include ON v USING bvh (b) INCLUDE (id, note);
CREATE INDEX v_part ON v USING bvh (b) WITH (fillfactor = 50) WHERE id > 100;
CREATE INDEX v_expr ON v USING bvh (box3d_expand(b, 1));
\d v
ALTER INDEX v_part SET (fillfactor = 70);

-- one key column, of a type with an operator class (the words are PostgreSQL's)
\set VERBOSITY sqlstate
CREATE INDEX ON v USING bvh (b, b);
CREATE INDEX ON v USING bvh (id);
CREATE UNIQUE INDEX ON v USING bvh (b);
CREATE INDEX ON v USING bvh (b DESC);
\set VERBOSITY default
-- options that exist
CREATE INDEX ON v USING bvh (b) WITH (fillfactor = 9);
CREATE INDEX ON v USING bvh (b) WITH (buffering = on);

-- inspection
SELECT height, pages, tuples, level_pages, level_tuples FROM bvh_stats('v_b');
SELECT level, parent, tuples FROM bvh_nodes('v_b') ORDER BY level DESC, block;
SELECT * FROM bvh_check('v_b', true);
SELECT * FROM bvh_check('v_include', true);
-- anything else is refused, and not everybody may ask
SELECT * FROM bvh_stats('v');
CREATE INDEX v_id ON v (id);
SELECT * FROM bvh_nodes('v_id');
SELECT * FROM bvh_check('v');
CREATE ROLE regress_bvh_reader;
SET ROLE regress_bvh_reader;
SELECT * FROM bvh_stats('v_b');
SELECT * FROM bvh_nodes('v_b');
SELECT * FROM bvh_check('v_b');
RESET ROLE;
GRANT pg_stat_scan_tables TO regress_bvh_reader;
SET ROLE regress_bvh_reader;
SELECT height FROM bvh_stats('v_b');
RESET ROLE;
DROP ROLE regress_bvh_reader;
DROP TABLE v;

-- exclusion constraints, as with gist
CREATE TABLE room (b box3d, EXCLUDE USING bvh (b WITH &&+));
INSERT INTO room VALUES (box3d(0, 0, 0, 1, 1, 1)), (box3d(1, 0, 0, 2, 1, 1)), (NULL);
INSERT INTO room VALUES (box3d(0.5, 0, 0, 1.5, 1, 1));
DROP TABLE room;

-- plans: the access method is preferred to gist on the same column
CREATE TABLE p (id int, b box3d) WITH (autovacuum_enabled = off);
INSERT INTO p SELECT i, box3d(x, y, z, x + 1, y + 1, z + 1)
FROM (SELECT i, i % 20 * 5 x, i / 20 % 20 * 5 y, i / 400 * 5 z FROM generate_series(0, 19999) i) s;
CREATE INDEX p_gist ON p USING gist (b);
CREATE INDEX p_bvh ON p USING bvh (b);
VACUUM ANALYZE p;
SET max_parallel_workers_per_gather = 0;
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE b && box3d(1, 1, 1, 2, 2, 2);
EXPLAIN (COSTS OFF) SELECT b FROM p WHERE b && box3d(1, 1, 1, 2, 2, 2);
EXPLAIN (COSTS OFF) SELECT id FROM p ORDER BY b <-> box3d(3, 4, 5) LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE b && box3d(1, 1, 1, 30, 30, 90);
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE b && box3d(0, 0, 0, 100, 100, 125);
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE box3d_dwithin(b, box3d(0, 0, 0), 0.5);
DROP TABLE p;

SELECT opcname, opcdefault, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'bvh';
