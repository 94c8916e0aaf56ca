-- A BVH join of boxes with spheres and rays, and by comparisons of distances, answers as a
-- nested loop does.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();
SET client_min_messages = warning;

\i test/pgtap/include/joins.sql

CREATE TABLE a (id int, b box3d, k int, s text);
CREATE TABLE c (id int, b box3d, k int, t text, ball sphere3d, r ray3d);

-- fill(kind, na, nc): balls around boxes that end exactly where another box begins, rays
-- from box to box, with an end and without; NULLs
CREATE FUNCTION fill(kind text, na int, nc int) RETURNS void LANGUAGE sql AS $$
  TRUNCATE a, c;
  INSERT INTO a SELECT id, b, id % 7, repeat('a', id % 50) FROM boxes_of(kind, na);
  INSERT INTO a SELECT -i, NULL, i % 7, 'null' FROM generate_series(1, 5) i;
  INSERT INTO c
    WITH boxes AS (SELECT id, b, box3d(box3d_center(b), box3d_center(b)) AS p, lead(b) OVER (ORDER BY md5(id::text)) AS next
                   FROM boxes_of(kind, nc) WHERE b <@ box3d('-3e307', '-3e307', '-3e307', '3e307', '3e307', '3e307')),
         ways AS (SELECT *, box3d_xmin(p) AS x, box3d_ymin(p) AS y, box3d_zmin(p) AS z, box3d_xmax(next) - box3d_xmin(p) AS dx,
                  box3d_ymin(next) - box3d_ymin(p) AS dy, box3d_zmax(next) - box3d_zmin(p) AS dz FROM boxes WHERE next IS NOT NULL)
    SELECT id, b, id % 5, CASE WHEN id % 3 > 0 THEN repeat('c', id % 300) END,
      sphere3d(x, y, z, CASE id % 4 WHEN 0 THEN 0 WHEN 1 THEN p <-> next WHEN 2 THEN box3d_max_distance(p, next) ELSE box3d_max_distance(p, b) END),
      CASE WHEN dx = 0 AND dy = 0 AND dz = 0 THEN ray3d_segment(x, y, z, x, y, z) WHEN id % 3 = 0 THEN ray3d(x, y, z, dx, dy, dz)
           WHEN id % 3 = 1 THEN ray3d(x, y, z, dx, dy, dz, 1) ELSE ray3d_sweep(b, dx, 0, dz) END
    FROM ways;
  INSERT INTO c SELECT -i, b, i % 5, NULL, NULL, NULL FROM c, generate_series(1, 5) i WHERE id = 7;
$$;

CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES ('a.b && c.ball'), ('c.ball && a.b'), ('a.b <@ c.ball'), ('c.ball @> a.b'), ('a.b && c.r'), ('c.r && a.b'),
  ('a.b <-> c.b < 20'), ('20 >= c.b <=> a.b'), ('a.b <#> c.b <= a.k * 5'), ('c.k * 5 > a.b <-> c.b'), ('box3d_distance(a.b, c.b) <= 10');

-- every shape of a join, in memory and in files
SELECT fill('random', 300, 200);
ANALYZE a, c;
SELECT is_empty(format('SELECT join_disagreements(%L, ''{4MB,64kB}'', %L)', condition, simd_levels()), condition) FROM conditions;
SELECT cmp_ok(count(*), '>', 100::bigint, 'spheres meet boxes') FROM a JOIN c ON a.b && c.ball;
SELECT cmp_ok(count(*), '>', 20::bigint, 'spheres contain boxes') FROM a JOIN c ON a.b <@ c.ball;
SELECT cmp_ok(count(*), '>', 20::bigint, 'rays meet boxes') FROM a JOIN c ON a.b && c.r;
SELECT is(join_differs(query, type, '{4MB,64kB}'), NULL, query) FROM (VALUES
  ('Inner', 'SELECT a.id, c.id AS cid FROM a JOIN c ON box3d_expand(a.b, 5) && sphere3d(box3d_xmin(c.b), 0, 0, 10 + c.k)'),
  ('Inner', 'SELECT a.id, c.id AS cid FROM a JOIN c ON a.b && c.ball AND a.b <@ c.ball AND a.b << box3d_translate(c.b, 30, 0, 0)'),
  ('Inner', 'SELECT a.id, c.id AS cid FROM a JOIN c ON a.b <-> c.b < 20 AND a.b <-> c.b > 5'),
  ('Inner', 'SELECT a.id, c.id AS cid FROM a JOIN c ON a.b <-> c.b BETWEEN 5 AND 20 AND a.id < c.id'),
  -- all are nearer than NaN, none than NULL
  ('Left', 'SELECT a.id, c.id AS cid FROM a LEFT JOIN c ON a.b <-> c.b < CASE a.k WHEN 3 THEN ''NaN'' WHEN 4 THEN NULL ELSE a.k - 1.0::float8 END'),
  ('Left', 'SELECT a.id, c.id AS cid FROM a LEFT JOIN c ON a.b <-> c.b < CASE c.k WHEN 3 THEN ''Infinity'' WHEN 4 THEN NULL ELSE c.k - 1.0::float8 END'),
  ('Semi', 'SELECT a.id FROM a WHERE EXISTS (SELECT FROM c WHERE a.b && c.r AND a.k = c.k)'),
  ('Anti', 'SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM c WHERE c.ball && a.b AND a.k <> c.k)')) v(type, query);

-- boxes of every kind
CREATE FUNCTION test_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM fill(kind, 100, 100);
  RETURN NEXT is_empty('SELECT join_disagreements(condition, ''{4MB,64kB}'') FROM (SELECT * FROM conditions ORDER BY random() LIMIT 3) s', kind);
END $$;
SELECT t FROM kinds, LATERAL test_kind(kind) t;

-- in many passes, and by workers
SELECT fill('random', 6000, 6000);
ANALYZE a, c;
SET work_mem = '64kB';
SELECT use_join('bvh') \g /dev/null
SELECT cmp_ok((passes_of('SELECT a.id, c.id AS cid, c.t FROM a JOIN c ON a.b <@ c.ball AND a.b && c.ball')).passes, '>', 3, 'many passes');
SELECT is(join_differs(query, 'Inner', '{64kB}'), NULL, 'many passes: ' || query) FROM (VALUES
  ('SELECT a.id, c.id AS cid, c.t FROM a JOIN c ON a.b <@ c.ball AND c.k < 2'),
  ('SELECT a.id, c.id AS cid, c.t FROM a JOIN c ON a.b <-> c.b < 3')) v(query);
RESET work_mem;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SELECT matches(plan_of('SELECT count(*) FROM a JOIN c ON a.b <-> c.b < 3'), 'Gather.*Parallel Custom Scan \(BVH Join\)', 'workers');
SELECT is(digest_of('SELECT a.id, c.id AS cid FROM a JOIN c ON a.b <-> c.b < 3'), digest_of('SELECT a.id, c.id AS cid FROM a JOIN (SELECT * FROM c OFFSET 0) c ON box3d_dwithin(a.b, c.b, 3) AND a.b <-> c.b < 3'), 'workers: rows');
SET LOCAL max_parallel_workers_per_gather = 0;

-- the plan: bounds in the tree, the condition itself for each pair
SELECT matches(plan_of('SELECT count(*) FROM a JOIN c ON a.b && c.ball'), 'BVH Cond: \(a.b && sphere3d_bounds\(c.ball\)\)\n *Join Filter: \(a.b && c.ball\)', 'sphere: plan');
SELECT matches(plan_of('SELECT count(*) FROM a JOIN c ON c.ball @> a.b'), 'BVH Cond: \(a.b <@ sphere3d_bounds\(c.ball\)\)\n *Join Filter: \(c.ball @> a.b\)', 'in a sphere: plan');
SELECT matches(plan_of('SELECT count(*) FROM a JOIN c ON a.b && c.r'), 'BVH Cond: \(a.b && ray3d_bounds\(c.r\)\)\n *Join Filter: \(a.b && c.r\)', 'ray: plan');
SELECT matches(plan_of('SELECT count(*) FROM a JOIN c ON a.b <-> c.b < c.k'), 'BVH Cond: \(a.b && box3d_bound\(c.b, \(c.k\)::double precision\)\)\n *Join Filter: \(\(a.b <-> c.b\) < ', 'distance: plan');
-- what has no bounds, and what does not bound
SELECT unalike(plan_of('SELECT count(*) FROM a JOIN c ON ' || condition), '%BVH Join%', 'not offered: ' || condition) FROM unnest(ARRAY[
  'a.b <-> c.b > 3', 'a.b && planes3d(ARRAY[[c.k, 1, 0, 5]]::float8[])', 'a.b <-> c.b < a.k + c.k', 'a.b <-> c.r < 3', 'a.b && sphere3d(c.k, a.k, 0, 1)',
  'a.b <-> c.b < 3 * random()']) condition;
RESET ALL;
SET jit = off;
SET client_min_messages = warning;
SET max_parallel_workers_per_gather = 0;

-- few rays and a large table that has an index: that is faster
CREATE TABLE big AS SELECT id, b FROM boxes_of('tiles', 30000);
CREATE INDEX ON big USING bvh (b);
CREATE TABLE few AS SELECT * FROM c WHERE id BETWEEN 1 AND 10;
ANALYZE big, few;
SELECT matches(plan_of('SELECT count(*) FROM big JOIN few ON big.b && few.r'), 'Nested Loop.*Index[^\n]*big_b_idx[^\n]*\n *Index Cond: \(b && few.r\)', 'few rays, many boxes with an index');

-- rights
CREATE ROLE bvh_join_joe;
GRANT SELECT ON a, c TO bvh_join_joe;
REVOKE EXECUTE ON FUNCTION sphere3d_bounds(sphere3d) FROM PUBLIC;
SET LOCAL ROLE bvh_join_joe;
SELECT unalike(plan_of('SELECT count(*) FROM a JOIN c ON a.b && c.ball'), '%BVH Join%', 'no right to the bounds');
SELECT lives_ok('SELECT count(*) FROM a JOIN c ON a.b && c.ball WHERE a.id < 9', 'which nobody has asked for');
RESET ROLE;

SELECT * FROM finish();
ROLLBACK;
