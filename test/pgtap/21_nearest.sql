-- ORDER BY b <-> query through the index gives the same distances, bit for bit,
-- in the same order as a sort; box3d_dwithin() keeps what <-> says.
--
-- README: "nearest neighbours come in exact order."  "Distances, areas and volumes
-- neither overflow nor underflow on the way."  "box3d_dwithin(a, b, r): is a <-> b at
-- most r?"
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();

\set bulk_paths '{index}'
\i test/pgtap/include/nearest.sql

-- ---------------------------------------------------------------------------
-- many rows
-- ---------------------------------------------------------------------------

CREATE TABLE many AS SELECT i AS id, box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5) AS b
  FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 30000) i) s;
CREATE INDEX many_b ON many USING gist (b);
TRUNCATE queries;
INSERT INTO queries SELECT i, box3d(random() * 1000, random() * 1000, random() * 1000) FROM generate_series(1, 2) i;
SELECT is_empty(format($$SELECT * FROM nearest_disagreements('many', 'many_b', '{index}', %L)$$, simd_levels()),
  '30,000 rows');
INSERT INTO queries SELECT i, box3d(x, y, z, x + 20, y + 20, z + 20) FROM
  (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(3, 20) i) s;
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', row_limit => 50)$$, 'the first 50');
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', '{index}', filter => 'id % 1000 = 7', row_limit => 5)$$,
  'with a condition: as many as asked for');
SELECT is_empty($$SELECT * FROM nearest_disagreements('many', 'many_b', filter => 'b && box3d(100,100,100,300,300,300)', row_limit => 5)$$,
  'with a condition on the box');

SELECT use_path('index');
\i test/pgtap/include/nearest_then_id.sql

-- each outer row starts the scan again
SELECT results_eq(
  'SELECT q.id, l.d FROM queries q, LATERAL (SELECT t.b <-> q.b AS d FROM many t ORDER BY t.b <-> q.b LIMIT 3) l ORDER BY 1, 2',
  $$SELECT id, d FROM (SELECT q.id, box3d_distance(t.b, q.b) AS d,
                              row_number() OVER (PARTITION BY q.id ORDER BY box3d_distance(t.b, q.b)) AS place
                       FROM queries q, many t WHERE q.id <= 20) s WHERE place <= 3 ORDER BY 1, 2$$, 'rescans');
SELECT lives_ok('SELECT id FROM many ORDER BY b <-> NULL LIMIT 3', 'nearest to NULL: no particular rows');
SELECT is((SELECT count(b <-> NULL)::int FROM (SELECT b FROM many ORDER BY b <-> NULL LIMIT 3) s), 0, 'and no distance');

SELECT use_path('any');
SELECT is((SELECT id FROM many ORDER BY b <-> box3d(0, 0, 0) DESC LIMIT 1),
  (SELECT id FROM many ORDER BY box3d_distance(b, box3d(0, 0, 0)) DESC LIMIT 1), 'the farthest row');
SELECT doesnt_match(plan_of('SELECT id FROM many ORDER BY b <-> box3d(0, 0, 0) DESC LIMIT 1'), 'Index', 'does not come from the index');

-- ---------------------------------------------------------------------------
-- the distance
-- ---------------------------------------------------------------------------

SELECT is(box3d(0, 0, 0) <-> box3d(1e200, 0, 0), 1e200::float8, '1e200');
SELECT is(box3d(0, 0, 0) <-> box3d(1e-200, 0, 0), 1e-200::float8, '1e-200');
SELECT is(box3d(0, 0, 0) <-> box3d(3e200, 4e200, 0), 5e200::float8, '3e200, 4e200');
SELECT is(box3d(0, 0, 0) <-> box3d(3e-200, 0, 4e-200), 5e-200::float8, '3e-200, 4e-200');
SELECT is(box3d(0, 0, 0) <-> box3d(3, 4, 12, 9, 9, 99), 13::float8, 'three axes');
SELECT is(box3d(0, 0, 0, 1, 1, 1) <-> box3d(0.5, 0.5, 4, 9, 9, 9), 3::float8, 'z alone');
SELECT is(box3d(0, 0, 0, 1, 1, 1) <-> box3d(1, 1, 1, 2, 2, 2), 0::float8, 'touching');
SELECT is(box3d(-1.7e308, 0, 0) <-> box3d(1.7e308, 0, 0), 'Infinity'::float8, 'more than the largest number');
SELECT is(box3d('-Infinity', 0, 0, 'Infinity', 0, 0) <-> box3d(5, 3, 4), 5::float8, 'to a line without end');

-- pairs of every size, above all at the sizes where the way of computing changes
CREATE TABLE pairs AS
  SELECT box3d(s * (random() - 0.5), s * (random() - 0.5), s * (random() - 0.5), s * (random() - 0.5), s * (random() - 0.5), s * (random() - 0.5)) AS a,
         box3d(s * (random() - 0.5), s * (random() - 0.5), s * (random() - 0.5), s * random(), s * random(), s * random()) AS c,
         box3d(s * (random() + 1), t * (random() + 1), t * (random() + 0.5), s * (random() + 1), t * (random() + 1), t * (random() + 1.5)) AS q
  FROM (SELECT 2.0::float8 ^ e AS s, 2.0::float8 ^ (e - (random() * 4)::int) AS t
        FROM unnest(ARRAY[0, 9, -1040, -1020, -453, -452, -451, -450, -449, -448, 497, 498, 499, 500, 501, 502, 1019, 1022]) e, generate_series(1, 600)) v;
SELECT is((SELECT count(*)::int FROM pairs WHERE a + c <-> q > a <-> q OR a + c <-> q > c <-> q), 0, 'a box around a box is not farther');
SELECT is((SELECT count(*)::int FROM pairs WHERE float8send(a <-> q) <> float8send(q <-> a)), 0, 'distances are symmetric');
SELECT is((SELECT count(*)::int FROM pairs WHERE (a <-> q = 0) <> a && q), 0, 'boxes at distance 0 overlap, and only those');
SELECT is((SELECT count(*)::int FROM pairs WHERE a <-> q > box3d_max_distance(a, q)), 0, 'the smallest distance is not above the largest');
-- where numeric can tell: off by less than one unit in the last place
SELECT is((SELECT count(*)::int FROM (
    SELECT a <-> q AS d, sqrt(power(greatest(box3d_xmin(q)::numeric - box3d_xmax(a)::numeric, box3d_xmin(a)::numeric - box3d_xmax(q)::numeric, 0), 2) +
      power(greatest(box3d_ymin(q)::numeric - box3d_ymax(a)::numeric, box3d_ymin(a)::numeric - box3d_ymax(q)::numeric, 0), 2) +
      power(greatest(box3d_zmin(q)::numeric - box3d_zmax(a)::numeric, box3d_zmin(a)::numeric - box3d_zmax(q)::numeric, 0), 2)) AS n
    FROM pairs WHERE box3d_xmax(q) BETWEEN 1e-3 AND 1e3) s WHERE abs(d::numeric - n) > 1e-14 * n), 0, 'and right');

SET jit = on;
SELECT pg_jit_available() AS has_jit \gset
SET jit = off;
\if :has_jit
CREATE VIEW all_bits AS SELECT md5(string_agg((a <-> q)::text || box3d_max_distance(a, q)::text || box3d_volume(a)::text ||
  box3d_surface_area(q)::text || box3d_transform(a, '{0.3,0.1,0.7,0.1,0.3,0.7,0.1,0.2,0.3,0.3,0.3,0.1}')::text, ',' ORDER BY a, q, c)) AS bits
  FROM pairs WHERE box3d_xmax(q) BETWEEN 1e-150 AND 1e150;
SELECT bits AS plain_bits FROM all_bits \gset
SET jit = on;
SET jit_above_cost = 0;
SET jit_inline_above_cost = 0;
SET jit_optimize_above_cost = 0;
SELECT is((SELECT bits FROM all_bits), :'plain_bits', 'the same bits with JIT compilation');
SET jit = off;
\else
SELECT skip('no JIT', 1);
\endif

-- ---------------------------------------------------------------------------
-- within a distance
-- ---------------------------------------------------------------------------

-- the radii are distances of rows, so that many are exactly on the border
CREATE TABLE radii (id int, b box3d, r float8);
CREATE FUNCTION within_disagreements(tbl regclass, index name) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  query text := format('SELECT count(*) AS n, sum(hashint8extended(s.id, q.id)) AS ids FROM radii q,
    LATERAL (SELECT t.id FROM %s t WHERE box3d_dwithin(t.b, q.b, q.r) OFFSET 0) s', tbl);
  want record;
  also record;
  got record;
  path text;
BEGIN
  TRUNCATE radii;
  EXECUTE format('INSERT INTO radii SELECT row_number() OVER (), q.b, t.b <-> q.b FROM queries q,
                    (SELECT b FROM %s WHERE b IS NOT NULL ORDER BY random() LIMIT 4) t', tbl);
  INSERT INTO radii SELECT 1000 + id, b, r FROM queries, unnest('{0,-1,Infinity,-Infinity,5e-324,1.7e308}'::float8[]) r;
  EXECUTE format('SELECT count(*) AS n, sum(hashint8extended(s.id, q.id)) AS ids FROM radii q,
    LATERAL (SELECT t.id FROM %s t WHERE (t.b <-> q.b) <= q.r OFFSET 0) s', tbl) INTO want;
  FOREACH path IN ARRAY '{seq,index,bitmap}'::text[] LOOP
    PERFORM use_path(path);
    EXECUTE query INTO got;
    IF got IS DISTINCT FROM want THEN
      RETURN NEXT format('%s: %s rows, want %s', path, got.n, want.n);
    END IF;
    IF path <> 'seq' AND plan_of(query) !~ ('Index Cond: \(b && box3d_reach') THEN
      RETURN NEXT format('%s: the index is not used: %s', path, plan_of(query));
    END IF;
  END LOOP;
  PERFORM use_path('any');
END $$;

CREATE FUNCTION test_within(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of(kind, 400);
  INSERT INTO bulk VALUES (-1, NULL);
  PERFORM queries_for('bulk');
  CREATE INDEX bulk_b ON bulk USING gist (b);
  RETURN NEXT is_empty('SELECT * FROM within_disagreements(''bulk'', ''bulk_b'')', kind || ': within a distance');
  DROP TABLE bulk;
END $$;
SELECT t FROM kinds, LATERAL test_within(kind) t;

SELECT use_path('index');
SELECT matches(plan_of('SELECT id FROM many WHERE box3d_dwithin(b, box3d(500, 500, 500), 20)'),
  'Index Scan using many_b .*Index Cond: \(b && .*Filter: box3d_dwithin', 'box3d_dwithin(column, box, radius) uses the index');
SELECT matches(plan_of('SELECT id FROM many WHERE box3d_dwithin(box3d(500, 500, 500), b, 20)'),
  'Index Scan using many_b .*Index Cond: \(b && .*Filter: box3d_dwithin', 'and so does box3d_dwithin(box, column, radius)');
SELECT set_eq('SELECT id FROM many WHERE box3d_dwithin(b, box3d(500, 500, 500), 50)',
  'SELECT id FROM many WHERE (b <-> box3d(500, 500, 500)) <= 50', 'same rows as <->');
SELECT set_eq('SELECT id FROM many WHERE box3d_dwithin(box3d(100, 100, 100, 200, 200, 200), b, 0)',
  'SELECT id FROM many WHERE b && box3d(100, 100, 100, 200, 200, 200)', 'radius 0: what overlaps');
SELECT is_empty('SELECT id FROM many WHERE box3d_dwithin(b, box3d(500, 500, 500, 600, 600, 600), -1e-300)', 'negative radius: nothing');
SELECT is((SELECT count(*)::int FROM many WHERE box3d_dwithin(b, box3d(500, 500, 500), 'Infinity')), 30000, 'infinite radius: all');
SELECT is((SELECT count(*)::int FROM s WHERE box3d_dwithin(b, box3d(0, 0, 0), 'Infinity')), 1003, 'boxes at infinity too, but not NULL');
SELECT is_empty('SELECT id FROM many WHERE box3d_dwithin(b, NULL, 1) OR box3d_dwithin(b, box3d(0, 0, 0), NULL)', 'NULL: nothing');
SELECT throws_ok($$SELECT id FROM many WHERE box3d_dwithin(b, box3d(0, 0, 0), 'NaN')$$, '22023', NULL, 'NaN: an error');
SELECT throws_ok($$SELECT box3d_dwithin(box3d(0, 0, 0), box3d(0, 0, 0), 'NaN')$$, '22023', NULL, 'without an index too');
SELECT use_path('any');

-- the border is included, and the next smaller radius excludes it
SELECT is(box3d_dwithin(box3d(0, 0, 0), box3d(3, 4, 12), 13), true, 'distance 13 is within 13');
SELECT is(box3d_dwithin(box3d(0, 0, 0), box3d(3, 4, 12), 12.999999999999998), false, 'but not within the number before 13');

CREATE TABLE line AS SELECT * FROM boxes_of('line', 100000);
CREATE INDEX line_b ON line USING gist (b);
SELECT is((SELECT count(*)::int FROM line WHERE box3d_dwithin(b, box3d(0, 0, 0), 2)), 2, 'two points of a line');
SELECT cmp_ok(index_pages('SELECT count(*) FROM line WHERE box3d_dwithin(b, box3d(0, 0, 0), 2)'), '<', 20::bigint, 'are found in a few pages');

-- joins: the margin counts in every node, and 0 gives the overlapping pairs
CREATE TABLE a AS SELECT id, b FROM boxes_of('random', 600);
CREATE TABLE c AS SELECT id, b FROM boxes_of('random', 600);
CREATE INDEX ON c USING gist (b);
SELECT use_path('index');
SELECT matches(plan_of('SELECT count(*) FROM a JOIN c ON box3d_dwithin(a.b, c.b, 7.5)'), 'Nested Loop.*Index Scan using c_b_idx.*Index Cond', 'a join by distance uses the index');
SELECT set_eq('SELECT a.id AS a, c.id AS c FROM a JOIN c ON box3d_dwithin(a.b, c.b, 7.5)',
  'SELECT a.id AS a, c.id AS c FROM a JOIN c ON box3d_distance(a.b, c.b) <= 7.5', 'and gives the right pairs');
SELECT set_eq('SELECT a.id AS a, c.id AS c FROM a JOIN c ON box3d_dwithin(a.b, c.b, 0)',
  'SELECT a.id AS a, c.id AS c FROM a JOIN c ON box3d_overlaps(a.b, c.b)', 'by distance 0: the pairs that overlap');

SELECT * FROM finish();
ROLLBACK;
