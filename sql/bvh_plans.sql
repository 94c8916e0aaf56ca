-- Shapes of plans.

CREATE TABLE p (id int, b box3d) WITH (autovacuum_enabled = off);
INSERT INTO p SELECT i, box3d(x, y, z, x + 1, y + 1, z + 1)
FROM (SELECT i, i % 20 * 5 x, i / 20 % 20 * 5 y, i / 400 * 5 z FROM generate_series(0, 19999) i) s;
CREATE INDEX p_b ON p USING gist (b);
VACUUM ANALYZE p;
SET max_parallel_workers_per_gather = 0;

-- few rows: the index; all of them: no index
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE b && box3d(1, 1, 1, 2, 2, 2);
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE b && box3d(0, 0, 0, 1000, 1000, 1000);
-- the index has all that is asked for
EXPLAIN (COSTS OFF) SELECT b FROM p WHERE b @> box3d(1, 1, 1);
-- nearest neighbours in order of the index
EXPLAIN (COSTS OFF) SELECT id FROM p ORDER BY b <-> box3d(3, 4, 5) LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE b && box3d(0, 0, 0, 9, 9, 9) ORDER BY b <-> box3d(3, 4, 5) LIMIT 1;
EXPLAIN (COSTS OFF) SELECT id FROM p ORDER BY b <-> box3d(3, 4, 5) DESC LIMIT 1;
-- a distance as a condition of the index, whichever argument is the column
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE box3d_dwithin(b, box3d(0, 0, 0), 0.5);
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE box3d_dwithin(box3d(0, 0, 0), b, 0.5);
-- the same written as a comparison, which the first query of a session has, too
\c -
SET max_parallel_workers_per_gather = 0;
SET plan_cache_mode = force_generic_plan;
PREPARE near(box3d, float8) AS SELECT id FROM p WHERE b <-> $1 < $2 ORDER BY b <-> $1 LIMIT 5;
EXPLAIN (COSTS OFF) EXECUTE near(NULL, NULL);
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE 0.5 >= box3d(0, 0, 0) <=> b;
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE b <-> ray3d(0, 0, 0, 1, 0, 0) < 5 ORDER BY b <-> ray3d(0, 0, 0, 1, 0, 0) LIMIT 5;
-- a btree index must not answer it: there, strategy 3 is equality
CREATE INDEX p_btree ON p (b);
EXPLAIN (COSTS OFF) SELECT id FROM p WHERE box3d_dwithin(b, box3d(0, 0, 0), 0.5);
DROP INDEX p_btree;
-- joins: one probe of the index for each row
EXPLAIN (COSTS OFF) SELECT count(*) FROM p a JOIN p c ON a.b && c.b WHERE a.id < 50;
EXPLAIN (COSTS OFF) SELECT count(*) FROM p a JOIN p c ON box3d_dwithin(a.b, c.b, 0.75) WHERE a.id < 50;
EXPLAIN (COSTS OFF) SELECT * FROM (VALUES (box3d(1, 1, 1))) v (q), LATERAL (SELECT id FROM p ORDER BY b <-> q LIMIT 3) s;
-- equality of boxes joins by hash
EXPLAIN (COSTS OFF) SELECT count(*) FROM p a JOIN p c ON a.b = c.b;
DROP TABLE p;
