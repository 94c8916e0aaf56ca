-- Spheres, planes and distances of other kinds through a bvh index: as sequentially.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/bvh_agree.sql
\i test/pgtap/include/kinds.sql
\i test/pgtap/include/shapes.sql
SELECT no_plan();
SET client_min_messages = warning;

\i test/pgtap/include/spheres_planes.sql

-- ---------------------------------------------------------------------------
-- a bound for a search of the nearest
-- ---------------------------------------------------------------------------

-- fewer are as near as the limit asks for: does the walk end there?
CREATE TABLE dust AS SELECT i AS id, box3d(random() * 100, random() * 100, random() * 100) AS b FROM generate_series(1, 50000) i;
CREATE INDEX dust_b ON dust USING bvh (b);
CREATE FUNCTION pages_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::float8 + (plan #>> '{0,Plan,Shared Read Blocks}')::float8;
END $$;
SELECT use_path('index');
SELECT cmp_ok(20 * pages_of(format('SELECT id FROM dust WHERE %s ORDER BY b <-> box3d(50, 50, 50) LIMIT 1000', condition)), '<',
    pages_of('SELECT id FROM dust WHERE (b <-> box3d(50, 50, 50) <= 3) IS TRUE ORDER BY b <-> box3d(50, 50, 50) LIMIT 1000'), condition || ' bounds the walk')
  FROM unnest(ARRAY['box3d_dwithin(b, box3d(50, 50, 50), 3)', 'b && sphere3d(50, 50, 50, 3)', 'b <-> box3d(50, 50, 50) <= 3']) condition;
SELECT results_eq(format('SELECT id FROM dust WHERE %s ORDER BY b <-> box3d(50, 50, 50) LIMIT 1000', condition),
    'SELECT id FROM dust WHERE (b <-> box3d(50, 50, 50) <= 3) IS TRUE ORDER BY box3d_distance(b, box3d(50, 50, 50))', 'and gives the same, by ' || condition)
  FROM unnest(ARRAY['box3d_dwithin(b, box3d(50, 50, 50), 3)', 'b && sphere3d(50, 50, 50, 3)']) condition;
SELECT use_path('any');

-- ---------------------------------------------------------------------------
-- trees in shared memory
-- ---------------------------------------------------------------------------

CREATE TABLE growing AS SELECT id, b FROM boxes_of('random', 2000);
INSERT INTO growing VALUES (-1, NULL);
CREATE INDEX growing_b ON growing USING bvh (b);
CREATE FUNCTION hits(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  before bigint := (SELECT hits FROM bvh_cache WHERE index = 'growing_b'::regclass);
BEGIN
  PERFORM use_path('index');
  EXECUTE query;
  PERFORM use_path('any');
  RETURN coalesce((SELECT hits FROM bvh_cache WHERE index = 'growing_b'::regclass), 0) - coalesce(before, 0);
END $$;
TRUNCATE conditions, orders;
INSERT INTO conditions VALUES ('b && ray3d(-500, -500, -500, 1, 1, 1)'), ('b && ray3d_sweep(box3d(-50, -50, -50, 50, 50, 50), 200, 100, 50)'), ('b && sphere3d(0, 0, 0, 150)'), ('b <@ sphere3d(0, 0, 0, 250)'),
  ($$b && planes3d(ARRAY[[1, 1, 1, -200], [-1, 0, 0, 400]]::float8[])$$), ($$b <@ planes3d(ARRAY[[1, 1, 1, -200], [-1, 0, 0, 400]]::float8[])$$), ('b && box3d(-100, -100, -100, 200, 200, 200)'),
  ($$b && sphere3d(0, 0, 0, 300) AND b && planes3d(ARRAY[[1, 2, 3, 0]]::float8[]) AND b |&> box3d(0, -100, 0)$$), ('b && sphere3d(9999, 0, 0, 1)');
INSERT INTO orders VALUES ('b <-> ray3d(-500, -500, -500, 1, 1, 1)'), ('b <-> ray3d_sweep(box3d(-50, -50, -50, 50, 50, 50), 200, 100, 50)'), ('b <-> box3d(9, 9, 9)'), ('b <#> box3d(9, 9, 9)'), ('b <=> box3d(0, 0, 0, 50, 60, 70)');
-- the ring "cached" forces a tree: this makes it, and what is inserted then goes to its delta
SELECT hits('SELECT FROM growing WHERE b && box3d(0, 0, 0)') \g /dev/null
INSERT INTO growing SELECT 10000 + id, b FROM boxes_of('random', 900);
DELETE FROM growing WHERE id % 9 = 0;
SELECT is_empty($$SELECT * FROM shape_disagreements('growing', 'growing_b')$$, 'with rows inserted since: conditions');
SELECT is_empty($$SELECT * FROM order_disagreements('growing', 'growing_b')$$, 'orders');
SELECT is_empty($$SELECT expression, condition, d FROM orders, conditions,
    LATERAL differs(format('SELECT float8send(d), row_number() OVER () FROM (SELECT %1$s AS d FROM growing WHERE %2$s ORDER BY %1$s) s', expression, condition), 'index', 'Index Scan using growing_b.*Index Cond.*Order By') d WHERE d IS NOT NULL$$, 'and both');
CREATE FUNCTION forced() RETURNS bigint LANGUAGE sql AS $$ SELECT (current_setting('bvhindex.use_cache') = 'always')::int $$;
SELECT is(hits('SELECT id FROM growing WHERE ' || condition), forced(), condition || ': a tree answers where it is forced to') FROM conditions;
SELECT is(hits('SELECT id FROM growing ORDER BY ' || expression || ' LIMIT 3'), forced(), expression || ', too') FROM orders;
SELECT is(hits(format('SELECT id FROM growing WHERE %s ORDER BY %s LIMIT 3', condition, expression)), forced(), expression || ' of ' || condition) FROM orders, conditions;
SELECT is(hits('SELECT id FROM growing ORDER BY b <-> box3d(1, 2, 3), b <#> box3d(4, 5, 6) LIMIT 3'), 0::bigint, 'but not in two orders');

-- ---------------------------------------------------------------------------
-- the types
-- ---------------------------------------------------------------------------

CREATE TABLE copied (s sphere3d, p planes3d);
CREATE TABLE shapes AS SELECT s, p FROM lamps LEFT JOIN views USING (id);
SELECT '/tmp/bvh_shapes_' || pg_backend_pid() AS file \gset
COPY shapes TO :'file' (FORMAT binary);
COPY copied FROM :'file' (FORMAT binary);
\setenv BVH_FILE :file
\! rm -f "$BVH_FILE"
SELECT bag_eq('SELECT sphere3d_send(s), planes3d_send(p) FROM copied', 'SELECT sphere3d_send(s), planes3d_send(p) FROM shapes', 'through binary COPY');
SELECT is_empty('SELECT FROM shapes WHERE s::text::sphere3d <> s OR p::text::planes3d <> p OR planes3d(planes3d_to_array(p)) <> p', 'through text and arrays');
SELECT is((SELECT count(*) FROM (SELECT DISTINCT s, p FROM shapes) s), 60::bigint, 'distinct');
SELECT throws_ok('ALTER TABLE copied ALTER p SET STORAGE EXTERNAL', '0A000', NULL, 'planes cannot be stored elsewhere');
SELECT results_eq('SELECT sphere3d_center(s), sphere3d_radius(s), sphere3d_bounds(s) @> box3d(0, 1, 2, 2, 3, 4), box3d_expand(box3d(1, 2, 3), 1.0000001) @> sphere3d_bounds(s) FROM (SELECT sphere3d(1, 2, 3, 1) AS s) s',
  $$VALUES ('{1,2,3}'::float8[], 1::float8, true, true)$$, 'parts of a sphere');

-- ---------------------------------------------------------------------------
-- estimates
-- ---------------------------------------------------------------------------

CREATE TABLE cloud AS SELECT * FROM boxes_of('random', 50000);
ANALYZE cloud, lamps;
CREATE TABLE guesses (kind text, guess float8, n float8);
INSERT INTO guesses SELECT CASE WHEN i % 2 = 0 THEN 'meets sphere' ELSE 'in sphere' END, estimate_of(format('SELECT FROM cloud WHERE b %s %L::sphere3d', CASE WHEN i % 2 = 0 THEN '&&' ELSE '<@' END, s)),
    (SELECT count(*) FROM cloud WHERE CASE WHEN i % 2 = 0 THEN b && s ELSE b <@ s END)
  FROM (SELECT i, sphere3d(random() * 1000 - 500, random() * 1000 - 500, random() * 1000 - 500, random() * 300) AS s FROM generate_series(1, 60) i) s;
INSERT INTO guesses SELECT CASE WHEN id % 2 = 0 THEN 'meets planes' ELSE 'in planes' END, estimate_of(format('SELECT FROM cloud WHERE b %s %L::planes3d', CASE WHEN id % 2 = 0 THEN '&&' ELSE '<@' END, p)),
    (SELECT count(*) FROM cloud WHERE CASE WHEN id % 2 = 0 THEN b && p ELSE b <@ p END) FROM views;
SELECT cmp_ok((percentile_cont(0.5) WITHIN GROUP (ORDER BY greatest((guess + 10) / (n + 10), (n + 10) / (guess + 10))))::numeric, '<', 1.6, kind || ': half of the estimates are off by less than 1.6') FROM guesses GROUP BY kind;
SELECT cmp_ok(estimate_of('SELECT FROM cloud, lamps WHERE b && s') / 50000 / 60, '<', 0.1::float8, 'spheres that are not known: few of the rows');

SELECT * FROM finish();
ROLLBACK;
