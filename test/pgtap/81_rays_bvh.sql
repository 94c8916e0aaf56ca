-- Rays, segments and moving boxes through a bvh index: as sequentially; and what a
-- ray is.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/bvh_agree.sql
\i test/pgtap/include/kinds.sql
\i test/pgtap/include/shapes.sql
SELECT no_plan();
SET client_min_messages = warning;

\i test/pgtap/include/rays.sql

-- ---------------------------------------------------------------------------
-- how many pages are read
-- ---------------------------------------------------------------------------

-- rays along an axis, over and between tiles, read no more than slanted ones
CREATE TABLE floor AS SELECT i AS id, box3d(i % 300, i / 300, 0, i % 300 + 1, i / 300 + 1, 0) AS b FROM generate_series(0, 89999) i;
CREATE INDEX floor_b ON floor USING bvh (b);
CREATE TABLE lines (kind text, r ray3d);
INSERT INTO lines SELECT 'vertical', ray3d(x, y, 1, 0, 0, -1) FROM (SELECT random() * 300 AS x, (random() * 300)::int AS y FROM generate_series(1, 300)) s;
INSERT INTO lines SELECT 'slanted', ray3d(x, y, 1, 0.001, 0.002, -1) FROM (SELECT random() * 300 AS x, (random() * 300)::int AS y FROM generate_series(1, 300)) s;
SET bvhindex.use_cache = off;
CREATE FUNCTION pages_for(kind text) RETURNS bigint LANGUAGE sql AS
$$ SELECT index_pages(format('SELECT count(*) FROM lines, LATERAL (SELECT 1 FROM floor WHERE b && r OFFSET 0) s WHERE kind = %L', kind)) $$;
SELECT cmp_ok(pages_for('vertical'), '<=', pages_for('slanted') * 3 / 2, format('vertical rays read %s pages, slanted ones %s', pages_for('vertical'), pages_for('slanted')));
RESET bvhindex.use_cache;
SELECT is((SELECT array_agg(DISTINCT n) FROM (SELECT count(*) AS n FROM lines JOIN floor ON b && r WHERE kind = 'vertical' AND box3d_ymin(ray3d_box(r)) BETWEEN 1 AND 299 GROUP BY r) s),
  '{2}'::bigint[], 'a ray through the border of two tiles meets both');

-- ---------------------------------------------------------------------------
-- the type
-- ---------------------------------------------------------------------------

SELECT rays_for('scene', 40);
CREATE TABLE copied (r ray3d);
SELECT '/tmp/bvh_rays_' || pg_backend_pid() AS file \gset
COPY (SELECT r FROM rays ORDER BY id) TO :'file' (FORMAT binary);
COPY copied FROM :'file' (FORMAT binary);
\setenv BVH_FILE :file
\! rm -f "$BVH_FILE"
SELECT set_eq('SELECT ray3d_send(r) FROM copied', 'SELECT ray3d_send(r) FROM rays', 'through binary COPY');
SELECT is_empty('SELECT r FROM rays WHERE r::text::ray3d <> r', 'through text');
SELECT is(ray3d_send('((1,2,3),(4,5,6)),(7,8,9),10'), (SELECT string_agg(float8send(i), '' ORDER BY i) FROM generate_series(1, 10) i), 'binary is ten float8');
SELECT is((SELECT count(*) FROM (SELECT DISTINCT r FROM rays) s), (SELECT count(DISTINCT r::text) FROM rays), 'equal rays are those of the same text');
SELECT ok(ray3d(0, 0, 0, 1, '-0', 0) = ray3d(0, '-0', 0, 1, 0, 0) AND ray3d(0, 0, 0, 1, 0, 0) <> ray3d(0, 0, 0, 2, 0, 0), 'equality');
SELECT results_eq('SELECT ray3d_box(r), ray3d_origin(r), ray3d_direction(r), ray3d_tmax(r), ray3d_at(r, 2), ray3d_bounds(r) @> box3d(0, 0, 0, 6, 7, 8) FROM (SELECT ray3d_sweep(box3d(0, 0, 0, 2, 2, 2), 4, 5, 6) AS r) s',
  $$VALUES (box3d(0, 0, 0, 2, 2, 2), '{1,1,1}'::float8[], '{4,5,6}'::float8[], 1::float8, box3d(8, 10, 12, 10, 12, 14), true)$$, 'its parts');
SELECT is(ray3d_bounds(ray3d(1, 2, 3, 1, 0, -1)), '(1,2,-Infinity),(Infinity,2,3)', 'bounds of a ray without end');
-- what was entered is where the ray is
SELECT is_empty('SELECT r, b FROM rays JOIN scene ON b && r WHERE NOT ray3d_at(r, b <-> r) && box3d_expand(b, 1e-9)', 'at the time of entry the ray is at the box');

-- ---------------------------------------------------------------------------
-- estimates
-- ---------------------------------------------------------------------------

SET default_statistics_target = 100;
CREATE TABLE cloud AS SELECT * FROM boxes_of('random', 50000);
ANALYZE cloud, rays;
CREATE TABLE guesses AS SELECT r, estimate_of(format('SELECT FROM cloud WHERE b && %L::ray3d', r)) AS guess, (SELECT count(*) FROM cloud WHERE b && r) AS n
  FROM (SELECT ray3d(random() * 1000 - 500, random() * 1000 - 500, random() * 1000 - 500, random() - 0.5, random() - 0.5, random() - 0.5, CASE WHEN i % 2 = 0 THEN 'Infinity' ELSE random() * 500 END) AS r FROM generate_series(1, 100) i) s;
SELECT cmp_ok((SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY greatest(guess / greatest(n, 1), greatest(n, 1) / guess)) FROM guesses)::numeric, '<', 2.5, 'half of the estimates are off by less than 2.5');
SELECT cmp_ok((SELECT percentile_cont(0.9) WITHIN GROUP (ORDER BY greatest(guess / greatest(n, 1), greatest(n, 1) / guess)) FROM guesses)::numeric, '<', 8.0, 'and 90% by less than 8');
SELECT cmp_ok(estimate_of('SELECT FROM cloud, rays WHERE b && r') / 50000 / (SELECT count(*) FROM rays), '<', 0.01::float8, 'rays that are not known: few of the rows');
SELECT cmp_ok(estimate_of('SELECT FROM cloud WHERE b && NULL::ray3d'), '<=', 1::float8, 'no ray');

SELECT * FROM finish();
ROLLBACK;
