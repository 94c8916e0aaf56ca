-- How many rows the planner expects, against how many there are.
--
-- README: "ANALYZE keeps a sample of the boxes, and every box operator, in a condition
-- or a join, is estimated by it."
--
-- ANALYZE takes other rows each time, so bounds are on medians and 90th
-- percentiles of many queries, and wide enough that chance does not break them.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/probes.sql
\i test/data/load.sql
SELECT no_plan();

-- ---------------------------------------------------------------------------
-- overlap, on real boxes and on uniform ones
-- ---------------------------------------------------------------------------

CREATE TABLE uniform AS SELECT i AS id, box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5) AS b
  FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 100000) i) s;
CREATE TABLE sets AS SELECT unnest(ARRAY['uniform', 'freedoom2_maps', 'octomap_geb079_occ', 'mocap_bones', 'ifc_house_triangles']) AS set;
SELECT format('CREATE INDEX ON %I USING gist (b)', set) FROM sets \gexec
SELECT format('ANALYZE %I', set) FROM sets \gexec

SELECT use_path('bitmap') \g /dev/null
SELECT cmp_ok(add_probes(set, target, n), '>=', n / 6, format('%s: boxes that overlap %s of it', set, target))
  FROM sets, (VALUES (0.0001, 24), (0.001, 30), (0.01, 16), (0.1, 8)) v(target, n);
SELECT use_path('any') \g /dev/null
-- three samples, so that one unlucky choice of rows does not decide
CREATE TABLE estimates AS SELECT *, estimate_of(format('SELECT FROM %I WHERE b && %L', set, query)) AS estimate FROM probes;
SELECT format('ANALYZE %I', set) FROM sets \gexec
INSERT INTO estimates SELECT *, estimate_of(format('SELECT FROM %I WHERE b && %L', set, query)) AS estimate FROM probes;
SELECT format('ANALYZE %I', set) FROM sets \gexec
INSERT INTO estimates SELECT *, estimate_of(format('SELECT FROM %I WHERE b && %L', set, query)) AS estimate FROM probes;
CREATE VIEW errors AS
  SELECT set, target, count(*) AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY q_error(estimate, truth)) AS median,
         percentile_cont(0.9) WITHIN GROUP (ORDER BY q_error(estimate, truth)) AS p90, max(q_error(estimate, truth)) AS worst
  FROM estimates GROUP BY set, target;
SELECT diag(format('%s of %s: q-error median %s, 90%% %s, worst %s', target, set, round(median::numeric, 2), round(p90::numeric, 2), round(worst::numeric, 2))) FROM errors ORDER BY target, set;
SELECT cmp_ok(median, '<=', 1.5::float8, format('%s, %s: median q-error at most 1.5', set, target)) FROM (SELECT * FROM errors WHERE target >= 0.001 ORDER BY set, target) e;
SELECT cmp_ok(p90, '<=', 2.6::float8, format('%s, %s: 90th percentile of the q-error at most 2.6', set, target)) FROM (SELECT * FROM errors WHERE target >= 0.001 ORDER BY set, target) e;
SELECT cmp_ok(median, '<=', 3.0::float8, format('%s, %s: median q-error at most 3', set, target)) FROM (SELECT * FROM errors WHERE target < 0.001 ORDER BY set) e;

CREATE FUNCTION test_ends(set text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
  extent box3d;
  size float8[];
BEGIN
  EXECUTE format('SELECT count(*), box3d_extent(b) FROM %I', set) INTO n, extent;
  size := box3d_size(extent);
  RETURN NEXT cmp_ok(q_error(estimate_of(format('SELECT FROM %I WHERE b && %L', set, extent)), n), '<=', 1.01::float8, set || ': everything');
  RETURN NEXT cmp_ok(q_error(estimate_of(format($q$SELECT FROM %I WHERE b && '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)'$q$, set)), n), '<=', 1.01::float8, set || ': everything, by an infinite box');
  RETURN NEXT is(estimate_of(format('SELECT FROM %I WHERE b && %L', set, box3d_translate(extent, 2 * size[1], 2 * size[2], 2 * size[3]))), 1::float8, set || ': nothing');
  RETURN NEXT cmp_ok(estimate_of(format('SELECT FROM %I WHERE b IS NOT NULL', set)), '>=', n * 0.99::float8, set || ': IS NOT NULL');
END $$;
SELECT t FROM sets, LATERAL test_ends(set) t;

CREATE TABLE rnd AS SELECT i AS id, box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5) AS b
  FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 20000) i) s;
CREATE INDEX rnd_b ON rnd USING gist (b);
ANALYZE rnd;
SELECT cmp_ok(q_error(estimate_of('SELECT FROM rnd WHERE b && box3d(0, 0, 0, 1000, 1000, 500)'), (SELECT count(*) FROM rnd WHERE b && box3d(0, 0, 0, 1000, 1000, 500))),
  '<=', 1.2::float8, 'half of the space');
SELECT is(estimate_of('SELECT FROM rnd WHERE b && box3d(2000, 2000, 2000, 3000, 3000, 3000)'), 1::float8, 'outside of it');
-- beyond the range of the sample's float4
SELECT is(estimate_of('SELECT FROM rnd WHERE b && box3d(1e300, 1e300, 1e300, 2e300, 2e300, 2e300)'), 1::float8, 'far outside of it');
SELECT is(estimate_of('SELECT FROM rnd WHERE b >> box3d(1e300, 1e300, 1e300)'), 1::float8, 'to the right of everything');
SELECT is(estimate_of('SELECT FROM rnd WHERE b << box3d(1e300, 1e300, 1e300)'), 20000::float8, 'to the left of everything');

-- ---------------------------------------------------------------------------
-- the other operators, and distance
-- ---------------------------------------------------------------------------

-- a condition with the number of rows that it keeps
CREATE TABLE conditions (set text, what text, condition text, truth bigint, estimate float8);
INSERT INTO conditions (set, what, condition)
  SELECT set, op, format('b %s %L', op, query) FROM probes, unnest(ARRAY['<@', '&&+']) op WHERE target IN (0.01, 0.1);
INSERT INTO conditions (set, what, condition)
  SELECT set, 'box3d_dwithin', format('box3d_dwithin(b, %L, %s)', query, (box3d_size(query))[1] / 4) FROM probes WHERE target IN (0.001, 0.01);
-- in the middle and near the end of the data along each axis
CREATE FUNCTION add_sides(set text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  axis text;
BEGIN
  FOREACH axis IN ARRAY ARRAY['x', 'y', 'z'] LOOP
    EXECUTE format($sql$
      INSERT INTO conditions (set, what, condition)
      SELECT %1$L, 'side', format('b %%s %%L', op, b)
      FROM (SELECT DISTINCT ON (tenth) b
            FROM (SELECT b, ntile(10) OVER (ORDER BY box3d_%2$smin(b)) AS tenth FROM %1$I TABLESAMPLE BERNOULLI (1)) r
            WHERE tenth IN (5, 9)) s, unnest($1) op$sql$, set, axis)
    USING CASE axis WHEN 'x' THEN ARRAY['<<', '&<', '&>', '>>'] WHEN 'y' THEN ARRAY['<<|', '&<|', '|&>', '|>>'] ELSE ARRAY['<</', '&</', '/&>', '/>>'] END;
  END LOOP;
END $$;
SELECT add_sides(set) FROM sets \g /dev/null
CREATE FUNCTION rows_of(set text, condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE format('SELECT count(*) FROM %I WHERE %s', set, condition) INTO n;
  RETURN n;
END $$;
UPDATE conditions SET truth = rows_of(set, condition), estimate = estimate_of(format('SELECT FROM %I WHERE %s', set, condition));
CREATE VIEW condition_errors AS
  SELECT set, what, count(*) AS n, percentile_cont(0.5) WITHIN GROUP (ORDER BY q_error(estimate, truth)) AS median, max(q_error(estimate, truth)) AS worst
  FROM conditions WHERE truth >= 20 GROUP BY set, what;
SELECT diag(format('%s, %s: q-error median %s, worst %s of %s', set, what, round(median::numeric, 2), round(worst::numeric, 2), n)) FROM condition_errors ORDER BY what, set;
SELECT cmp_ok(median, '<=', CASE what WHEN 'side' THEN 1.15 WHEN '&&+' THEN 1.5 ELSE 2 END::float8, format('%s, %s: median q-error', set, what)) FROM (SELECT * FROM condition_errors ORDER BY set, what) e;
SELECT cmp_ok(estimate, '<=', greatest(20, 0.002 * (SELECT reltuples FROM pg_class WHERE oid = set::regclass))::float8, format('%s: %s rows %s', set, truth, condition))
  FROM conditions WHERE truth = 0 AND estimate > greatest(20, 0.002 * (SELECT reltuples FROM pg_class WHERE oid = set::regclass));

-- boxes on a grid share faces with the query, where < and <= differ most
CREATE TABLE tiles AS SELECT box3d(x, y, z, x + 1, y + 1, z + 1) AS b FROM generate_series(0, 49) x, generate_series(0, 49) y, generate_series(0, 9) z;
CREATE TABLE tenths AS SELECT box3d(x / 10.0, y / 10.0, z / 10.0, (x + 1) / 10.0, (y + 1) / 10.0, (z + 1) / 10.0) AS b FROM generate_series(0, 49) x, generate_series(0, 49) y, generate_series(0, 9) z;
ANALYZE tiles;
ANALYZE tenths;
CREATE TABLE layers (tbl text, condition text);
INSERT INTO layers VALUES ('tiles', 'b &&+ box3d(10, 0, 0, 12, 50, 10)'), ('tiles', 'b && box3d(10, 0, 0, 12, 50, 10)'), ('tiles', 'b << box3d(2, 0, 0)'), ('tiles', 'b />> box3d(0, 0, 8)'),
  ('tenths', 'b &&+ box3d(1.1, 0, 0, 1.3, 5, 1)'), ('tenths', 'b && box3d(1.1, 0, 0, 1.3, 5, 1)'), ('tenths', 'b << box3d(0.2, 0, 0)'), ('tenths', 'b />> box3d(0, 0, 0.8)');
SELECT cmp_ok(q_error(estimate_of(format('SELECT FROM %I WHERE %s', tbl, condition)), rows_of(tbl, condition)), '<=', 1.5::float8, format('%s: %s rows %s', tbl, rows_of(tbl, condition), condition)) FROM layers;

-- points: contained in few boxes, and the estimate says so
CREATE TABLE points AS SELECT set, box3d(box3d_center(query), box3d_center(query)) AS p FROM probes WHERE target = 0.001;
SELECT cmp_ok(max(estimate_of(format('SELECT FROM %I WHERE b @> %L', set, p))), '<=', greatest(0.01 * (SELECT reltuples FROM pg_class WHERE oid = set::regclass), 5 * max(rows_of(set, format('b @> %L', p))))::float8,
  set || ': boxes around a point') FROM points GROUP BY set;
-- the query on the left is the same condition turned round
SELECT is(estimate_of($$SELECT FROM uniform WHERE box3d(100, 100, 100, 300, 300, 300) @> b$$), estimate_of($$SELECT FROM uniform WHERE b <@ box3d(100, 100, 100, 300, 300, 300)$$), 'query @> column as column <@ query');
SELECT is(estimate_of($$SELECT FROM uniform WHERE box3d(100, 100, 100, 300, 300, 300) << b$$), estimate_of($$SELECT FROM uniform WHERE b >> box3d(100, 100, 100, 300, 300, 300)$$), 'query << column as column >> query');
SELECT cmp_ok(q_error(estimate_of($$SELECT FROM uniform WHERE box3d(100, 100, 100, 300, 300, 300) &< b$$), rows_of('uniform', 'box3d(100, 100, 100, 300, 300, 300) &< b')), '<=', 1.2::float8, 'query &< column');
SELECT is(estimate_of($$SELECT FROM uniform WHERE box3d_dwithin(box3d(500, 500, 500), b, 100)$$), estimate_of($$SELECT FROM uniform WHERE box3d_dwithin(b, box3d(500, 500, 500), 100)$$), 'box3d_dwithin either way round');
SELECT cmp_ok(estimate_of($$SELECT FROM uniform WHERE box3d_dwithin(b, box3d(500, 500, 500), -1)$$), '<=', 1::float8, 'box3d_dwithin: a negative radius');
SELECT is(estimate_of($$SELECT FROM uniform WHERE box3d_dwithin(b, box3d(500, 500, 500), 'Infinity')$$), 100000::float8, 'box3d_dwithin: an infinite radius');

-- a query known only while running is taken to be like the column's own boxes
PREPARE unknown(box3d) AS SELECT FROM uniform WHERE b && $1;
SET plan_cache_mode = force_generic_plan;
SELECT cmp_ok(estimate_of('EXECUTE unknown(box3d(0, 0, 0, 9, 9, 9))'), '<=', 100::float8, 'an unknown query box');
RESET plan_cache_mode;

-- expressions: an index on one has its statistics
CREATE INDEX ON rnd USING gist (box3d_expand(b, 20));
ANALYZE rnd;
SELECT cmp_ok(q_error(estimate_of('SELECT FROM rnd WHERE box3d_expand(b, 20) && box3d(100, 100, 100, 300, 300, 300)'),
  rows_of('rnd', 'box3d_expand(b, 20) && box3d(100, 100, 100, 300, 300, 300)')), '<=', 1.5::float8, 'an indexed expression');

-- ---------------------------------------------------------------------------
-- joins
-- ---------------------------------------------------------------------------

CREATE TABLE j1 AS SELECT box3d(x, y, z, x + random() * 50, y + random() * 50, z + random() * 50) AS b
  FROM (SELECT random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 20000)) s;
CREATE TABLE j2 AS SELECT box3d(x, y, z, x + random() * 50, y + random() * 50, z + random() * 50) AS b
  FROM (SELECT random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 20000)) s;
CREATE INDEX ON j2 USING gist (b);
ANALYZE j1;
ANALYZE j2;
CREATE TABLE join_estimates (what text, query text, bound float8, truth bigint, estimate float8);
INSERT INTO join_estimates VALUES
  ('two tables of boxes up to 50', 'FROM j1 JOIN j2 ON j1.b && j2.b', 2),
  ('the same, strictly', 'FROM j1 JOIN j2 ON j1.b &&+ j2.b', 2),
  ('contained', 'FROM j1 JOIN j2 ON j1.b <@ j2.b', 10),
  ('containing', 'FROM j2 JOIN j1 ON j2.b @> j1.b', 10),
  ('within 10', 'FROM j1 JOIN j2 ON box3d_dwithin(j2.b, j1.b, 10)', 2),
  ('left of', 'FROM (SELECT * FROM j1 LIMIT 100) j1 JOIN j2 ON j1.b << j2.b', 2),
  ('rows with a partner', 'FROM j1 WHERE EXISTS (SELECT FROM j2 WHERE j1.b && j2.b)', 1.5),
  ('rows without a partner', 'FROM j1 WHERE NOT EXISTS (SELECT FROM j2 WHERE j1.b && j2.b)', 4);
CREATE FUNCTION add_joins(set text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- a part of each set, so that the truth is soon counted; no row is in both
  EXECUTE format('CREATE TABLE %1$I AS SELECT id, b FROM %2$I WHERE id %% 2 = 0 ORDER BY random() LIMIT 8000', 'a_' || set, set);
  EXECUTE format('CREATE TABLE %1$I AS SELECT id, b FROM %2$I WHERE id %% 2 = 1 ORDER BY random() LIMIT 8000', 'c_' || set, set);
  EXECUTE format('CREATE INDEX ON %1$I USING gist (b)', 'c_' || set);
  EXECUTE format('ANALYZE %1$I', 'a_' || set);
  EXECUTE format('ANALYZE %1$I', 'c_' || set);
  INSERT INTO join_estimates VALUES
    (set || ' with itself', format('FROM %1$I a JOIN %1$I c ON a.b && c.b', 'c_' || set), 3),
    (set || ', two parts', format('FROM %I a JOIN %I c ON a.b && c.b', 'a_' || set, 'c_' || set), 3);
END $$;
SELECT add_joins(set) FROM sets \g /dev/null
CREATE FUNCTION rows_of_join(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
BEGIN
  EXECUTE 'SELECT count(*) ' || query INTO n;
  RETURN n;
END $$;
UPDATE join_estimates SET truth = rows_of_join(query), estimate = estimate_of('SELECT ' || query);
SELECT diag(format('%s: %s rows, estimate %s', what, truth, estimate)) FROM join_estimates;
-- fewer than a hundred of 64 million pairs are too few to tell from a sample
SELECT cmp_ok(q_error(greatest(estimate, 100), greatest(truth, 100)), '<=', bound, format('join: %s within %s times', what, bound)) FROM join_estimates;

-- ---------------------------------------------------------------------------
-- odd columns
-- ---------------------------------------------------------------------------

CREATE TABLE odd (what text PRIMARY KEY, tbl regclass);
CREATE TABLE empty (b box3d);
CREATE TABLE single AS SELECT box3d(1, 2, 3, 4, 5, 6) AS b;
CREATE TABLE all_null AS SELECT NULL::box3d AS b FROM generate_series(1, 10000);
CREATE TABLE all_equal AS SELECT box3d(1, 2, 3, 4, 5, 6) AS b FROM generate_series(1, 10000);
CREATE TABLE largest AS SELECT CASE i % 3 WHEN 0 THEN box3d(-1.7e308, -1.7e308, -1.7e308, 1.7e308, 1.7e308, 1.7e308)
  WHEN 1 THEN box3d(-1.7e308, i, i) ELSE box3d(i, i, 1.7e308) END AS b FROM generate_series(1, 3000) i;
CREATE TABLE infinite AS SELECT CASE i % 3 WHEN 0 THEN box3d('-Infinity', i, i, 'Infinity', i + 1, i + 1) WHEN 1 THEN box3d('Infinity', i, '-Infinity')
  ELSE box3d(i, i, i, i + 1, i + 1, i + 1) END AS b FROM generate_series(1, 3000) i;
CREATE TABLE smallest AS SELECT box3d(i * 5e-324, 0, 0, (i + 2) * 5e-324, 1e-310, 0) AS b FROM generate_series(1, 3000) i;
CREATE TABLE half_null AS SELECT CASE WHEN id % 2 = 0 THEN b END AS b FROM rnd;
CREATE TABLE target_1 AS SELECT b FROM rnd;
ALTER TABLE target_1 ALTER b SET STATISTICS 1;
CREATE TABLE target_10000 AS SELECT b FROM uniform;
ALTER TABLE target_10000 ALTER b SET STATISTICS 10000;
CREATE TABLE target_0 AS SELECT b FROM rnd;
ALTER TABLE target_0 ALTER b SET STATISTICS 0;
CREATE TABLE unknown_yet AS SELECT b FROM rnd;
INSERT INTO odd SELECT replace(t, '_', ' '), t::regclass FROM unnest(ARRAY['empty', 'single', 'all_null', 'all_equal', 'largest', 'infinite', 'smallest', 'half_null', 'target_1', 'target_10000', 'target_0', 'unknown_yet']) t;
SELECT lives_ok(format('ANALYZE %s', tbl), 'ANALYZE: ' || what) FROM odd WHERE what <> 'unknown yet';

-- whatever the column and the query, a part of the rows
CREATE TABLE odd_queries AS SELECT unnest(ARRAY['(1,2,3),(4,5,6)', '(0,0,0)', '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)', '(Infinity,Infinity,Infinity)',
  '(-1.7e308,-1.7e308,-1.7e308),(1.7e308,1.7e308,1.7e308)', '(1e-310,0,0),(5e-324,0,0)', '(100,100,100),(300,300,300)', '(-Infinity,0,0),(0,0,Infinity)', '(1e300,1e300,1e300),(2e300,2e300,2e300)']) AS q
  UNION ALL SELECT box3d(random() * 1000, random() * 1000, random() * 1000, random() * 1000, random() * 1000, random() * 1000)::text FROM generate_series(1, 6);
CREATE TABLE bounds AS
  SELECT what, condition, estimate_of(format('SELECT FROM %s WHERE %s', tbl, condition)) AS estimate, greatest(reltuples, 1) AS nrows
  FROM odd JOIN pg_class c ON c.oid = tbl,
    LATERAL (SELECT format('b %s %L', op, q) AS condition FROM search_operators, odd_queries
             UNION ALL SELECT format('box3d_dwithin(b, %L, %L)', q, r) FROM odd_queries, unnest('{0,1,1e300,1e-300,Infinity,-1}'::float8[]) r) s
  WHERE what <> 'unknown yet' AND what <> 'target 10000';
-- the planner expects ten pages in a table that it has not seen a row of
SELECT is_empty($$SELECT what, condition, estimate, nrows FROM bounds WHERE NOT estimate BETWEEN 0 AND CASE what WHEN 'empty' THEN 10000 ELSE nrows END$$, 'estimates are between 0 and all rows');
SELECT cmp_ok(count(*), '>', 2500::bigint, 'of many conditions') FROM bounds;
CREATE TABLE pair_bounds AS SELECT a.what, c.what AS other, op, estimate_of(format('SELECT FROM %s a JOIN %s c ON a.b %s c.b', a.tbl, c.tbl, op)) AS estimate,
    greatest(x.reltuples, 1)::float8 * greatest(y.reltuples, 1) AS npairs
  FROM odd a JOIN pg_class x ON x.oid = a.tbl, odd c JOIN pg_class y ON y.oid = c.tbl, search_operators o
  WHERE a.what IN ('single', 'all equal', 'largest', 'infinite') AND c.what IN ('single', 'all null', 'infinite', 'smallest', 'half null') AND strategy IN (1, 3, 7, 35);
SELECT is_empty('SELECT * FROM pair_bounds WHERE NOT estimate BETWEEN 0 AND npairs', 'and of joins between 0 and all pairs');

SELECT is(estimate_of('SELECT FROM all_equal WHERE b && box3d(4, 5, 6, 9, 9, 9)'), 10000::float8, 'equal boxes: a hit');
SELECT is(estimate_of('SELECT FROM all_equal WHERE b && box3d(5, 5, 6, 9, 9, 9)'), 1::float8, 'equal boxes: a miss');
SELECT is(estimate_of('SELECT FROM all_equal WHERE b = box3d(1, 2, 3, 4, 5, 6)'), 10000::float8, 'equal boxes: =');
SELECT is(estimate_of('SELECT FROM all_equal WHERE b ~= box3d(1, 2, 3, 4, 5, 6)'), 10000::float8, 'equal boxes: ~=');
SELECT cmp_ok(estimate_of('SELECT FROM all_null WHERE b && box3d(0, 0, 0, 9, 9, 9)'), '<=', 1::float8, 'only NULL');
SELECT is(estimate_of('SELECT FROM single WHERE b && box3d(0, 0, 0, 9, 9, 9)'), 1::float8, 'one row');
SELECT cmp_ok(q_error(estimate_of($$SELECT FROM half_null WHERE b && '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)'$$), 10000), '<=', 1.1::float8, 'NULL does not overlap');
SELECT cmp_ok(q_error(estimate_of('SELECT FROM half_null WHERE b IS NULL'), 10000), '<=', 1.1::float8, 'IS NULL');
SELECT cmp_ok(q_error(estimate_of('SELECT FROM infinite WHERE b && box3d(1e6, 0, 0, 2e6, 4000, 4000)'), 1000), '<=', 1.1::float8, 'sides without end reach everywhere');
SELECT cmp_ok(q_error(estimate_of('SELECT FROM largest WHERE b && box3d(5000, 5000, 5000, 1e300, 1e300, 1e300)'), 1000), '<=', 1.1::float8, 'extents beyond the range of float8');
SELECT cmp_ok(q_error(estimate_of('SELECT FROM target_1 WHERE b && box3d(0, 0, 0, 1000, 1000, 500)'), 10000), '<=', 1.6::float8, 'statistics target 1 tells half from all');
SELECT cmp_ok(percentile_cont(0.5) WITHIN GROUP (ORDER BY q_error(estimate_of(format('SELECT FROM target_10000 WHERE b && %L', query)), truth)), '<=', 1.3::float8, 'statistics target 10000 is more exact')
  FROM probes WHERE set = 'uniform' AND target = 0.001;
SELECT cmp_ok(q_error(estimate_of('SELECT FROM target_0 WHERE b && box3d(0, 0, 0, 1000, 1000, 1000)'), 100), '<=', 1.05::float8, 'no statistics: a constant');

-- ---------------------------------------------------------------------------
-- spheres and rays that are not known while planning
-- ---------------------------------------------------------------------------

CREATE TABLE cubes AS SELECT i AS id, box3d(x, y, z, x + 4, y + 4, z + 4) AS b, sphere3d(x, y, z, 6 + 4 * random()) AS s
  FROM (SELECT i, random() * 100 x, random() * 100 y, random() * 100 z FROM generate_series(1, 4000) i) v;
CREATE TABLE dots AS SELECT id, box3d(box3d_lower(b), box3d_lower(b)) AS b, s FROM cubes;
ANALYZE cubes, dots;
SET plan_cache_mode = force_generic_plan;
PREPARE meets(sphere3d) AS SELECT FROM cubes WHERE b && $1;
PREPARE lies_in(sphere3d) AS SELECT FROM cubes WHERE b <@ $1;
PREPARE meets_dots(sphere3d) AS SELECT FROM dots WHERE b && $1;
SELECT cmp_ok(q_error(estimate_of('EXECUTE meets(NULL)'), (SELECT avg(n)::float8 FROM (SELECT (SELECT count(*) FROM cubes WHERE box3d_dwithin(b, box3d(box3d_center(c.b), box3d_center(c.b)), 2)) AS n FROM cubes c LIMIT 200) s)),
  '<=', 2.0::float8, 'a sphere is taken to be as large as the boxes');
SELECT cmp_ok(estimate_of('EXECUTE lies_in(NULL)'), '<', 10::float8, 'which contains few of them');
SELECT is(estimate_of('EXECUTE meets_dots(NULL)'), 20::float8, 'beside points, nothing is known of its size');
RESET plan_cache_mode;
SELECT is(estimate_of('SELECT FROM cubes WHERE b && (SELECT s FROM cubes LIMIT 1)'), estimate_of('SELECT FROM cubes c WHERE (SELECT s FROM cubes LIMIT 1) && c.b'), 'on either side of the operator');
CREATE STATISTICS cube_balls ON (sphere3d_bounds(s)) FROM cubes;
ANALYZE cubes;
SELECT cmp_ok(q_error(estimate_of('SELECT FROM cubes a JOIN cubes c ON a.b && c.s'), (SELECT count(*) FROM cubes a JOIN cubes c ON a.b && c.s)), '<=', 1.5::float8, 'spheres of a column whose bounds have statistics');
SELECT cmp_ok(q_error(estimate_of('SELECT FROM cubes a JOIN cubes c ON c.s @> a.b'), (SELECT count(*) FROM cubes a JOIN cubes c ON a.b <@ c.s)), '<=', 2.0::float8, 'and what they contain');
SELECT cmp_ok(q_error(estimate_of('SELECT FROM cubes a WHERE EXISTS (SELECT FROM cubes c WHERE a.b && c.s AND c.id < 400)'), (SELECT count(*) FROM cubes a WHERE EXISTS (SELECT FROM cubes c WHERE a.b && c.s AND c.id < 400))), '<=', 2.0::float8, 'in a semi join');
SELECT cmp_ok(q_error(estimate_of('SELECT FROM cubes a JOIN cubes c ON a.b && sphere3d_bounds(c.s)'), (SELECT count(*) FROM cubes a JOIN cubes c ON a.b && sphere3d_bounds(c.s))), '<=', 1.5::float8, 'and their bounds');
-- one side without statistics: its boxes are taken to be like the other's
SELECT cmp_ok(q_error(estimate_of('SELECT FROM cubes a JOIN (SELECT box3d_translate(b, 1, 1, 1) AS b FROM cubes OFFSET 0) c ON a.b && c.b'), (SELECT count(*) FROM cubes a JOIN cubes c ON a.b && c.b)), '<=', 1.5::float8, 'boxes of no column');

-- ---------------------------------------------------------------------------
-- statistics are not shown to those who may not read the column
-- ---------------------------------------------------------------------------

CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM rnd WHERE id >= 0;
CREATE TABLE rows_guarded AS SELECT * FROM rnd;
ALTER TABLE rows_guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON rows_guarded USING (id >= 0);
ANALYZE rows_guarded;
CREATE ROLE box3d_nobody;
GRANT SELECT ON guarded, rows_guarded TO box3d_nobody;
GRANT SELECT (id) ON rnd TO box3d_nobody;
SET ROLE box3d_nobody;
SELECT is(estimate_of('SELECT FROM guarded WHERE b && box3d(0, 0, 0, 1000, 1000, 1000)'), estimate_of('SELECT FROM guarded WHERE b && box3d(5000, 5000, 5000)'), 'through a security barrier: a constant');
SELECT is(estimate_of('SELECT FROM guarded WHERE box3d_dwithin(b, box3d(0, 0, 0), 9999)'), estimate_of('SELECT FROM guarded WHERE box3d_dwithin(b, box3d(9999, 0, 0), 1)'), 'for box3d_dwithin too');
SELECT is(estimate_of('SELECT FROM rows_guarded WHERE b && box3d(0, 0, 0, 1000, 1000, 1000)'), estimate_of('SELECT FROM rows_guarded WHERE b && box3d(5000, 5000, 5000)'), 'under row security: a constant');
SELECT is(estimate_of('SELECT FROM guarded a JOIN guarded c ON a.b && c.b'), estimate_of('SELECT FROM guarded a JOIN guarded c ON a.b &&+ c.b'), 'for joins: a constant');
SELECT throws_ok('EXPLAIN SELECT id FROM rnd WHERE b && box3d(0, 0, 0, 1000, 1000, 1000)', '42501', NULL, 'without the right to read the column: not even a plan');
RESET ROLE;

-- ---------------------------------------------------------------------------
-- what planning costs
-- ---------------------------------------------------------------------------

CREATE TABLE unseen AS SELECT * FROM freedoom2_maps;
-- microseconds, the best of some rounds
CREATE FUNCTION planning_time(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  started timestamptz;
  best float8 := 'Infinity';
  line text;
BEGIN
  FOR round IN 1 .. 10 LOOP
    started := clock_timestamp();
    FOR i IN 1 .. 50 LOOP
      EXECUTE 'EXPLAIN ' || query INTO line;
    END LOOP;
    best := least(best, extract(epoch FROM clock_timestamp() - started) * 1e6 / 50);
  END LOOP;
  RETURN best;
END $$;
SELECT planning_time(format('SELECT FROM unseen WHERE b && %L', query)) AS constant, planning_time(format('SELECT FROM freedoom2_maps WHERE b && %L', query)) AS sampled
  FROM probes WHERE set = 'freedoom2_maps' AND target = 0.001 LIMIT 1 \gset
SELECT diag(format('planning: %s us without statistics, %s us with', round(:constant), round(:sampled)));
-- 100 us is the aim on a quiet machine
SELECT cmp_ok((:sampled - :constant)::float8, '<', 400::float8, 'planning a query does not take much longer than without statistics');

SELECT * FROM finish();
ROLLBACK;
