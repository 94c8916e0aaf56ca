-- Comparisons of a distance, "b <-> q < r", as conditions of an index of :method: the
-- same rows as sequentially, in the same order, and few pages.  After agree.sql, kinds.sql.

-- ---------------------------------------------------------------------------
-- an index answers as the sequential scan does
-- ---------------------------------------------------------------------------

-- the numbers are distances of rows, so that many are exactly on the border
CREATE TABLE limits (id int, b box3d, r float8,
  s real GENERATED ALWAYS AS (CASE WHEN abs(r) = 0 OR abs(r) BETWEEN 1e-30 AND 1e30 OR r IN ('NaN', 'Infinity', '-Infinity') THEN r END::real) STORED);
CREATE TABLE forms (form text, cond text);
INSERT INTO forms SELECT format(f, d), 'Index Cond: \(b && box3d_bound\(q.b, q.r\)\)' FROM unnest('{<->,<#>,<=>}'::text[]) d,
  unnest('{t.b %s q.b < q.r,t.b %s q.b <= q.r,q.r > q.b %s t.b,q.r >= t.b %s q.b}'::text[]) f;
INSERT INTO forms VALUES ('box3d_distance(t.b, q.b) <= q.r', 'Index Cond: \(b && box3d_bound\(q.b, q.r\)\)'),
  ('t.b <-> q.b < q.s', 'Index Cond: \(b && box3d_bound\(q.b, \(q.s\)::double precision\)\)'),
  ('q.s >= t.b <-> q.b', 'Index Cond: \(b && box3d_bound\(q.b, \(q.s\)::double precision\)\)'),
  ('t.b <-> q.b <= q.r AND t.b <-> q.b <= abs(q.r)', 'Index Cond: \(\(b && box3d_bound\(q.b, q.r\)\) AND \(b && box3d_bound\(q.b, abs\(q.r\)\)\)\)');

-- bound_disagreements(tbl): no index is between the function, and IS TRUE
CREATE FUNCTION bound_disagreements(tbl regclass) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  f record;
  path text;
  query text;
  want record;
  got record;
BEGIN
  FOR f IN SELECT * FROM forms ORDER BY random() LIMIT 4 LOOP
    query := format('SELECT count(*) AS n, sum(hashint8extended(s.id, q.id)) AS ids FROM limits q,
      LATERAL (SELECT t.id FROM %s t WHERE %s OFFSET 0) s', tbl, f.form);
    EXECUTE replace(query, f.form, '(' || f.form || ') IS TRUE') INTO want;
    FOREACH path IN ARRAY '{index,bitmap}'::text[] LOOP
      PERFORM use_path(path);
      EXECUTE query INTO got;
      IF got IS DISTINCT FROM want THEN
        RETURN NEXT format('%s, %s: %s rows, want %s', f.form, path, got.n, want.n);
      END IF;
      IF plan_of(query) !~ f.cond THEN
        RETURN NEXT format('%s, %s: the index is not used: %s', f.form, path, plan_of(query));
      END IF;
    END LOOP;
    PERFORM use_path('any');
  END LOOP;
END $$;

CREATE FUNCTION test_bounds(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of(kind, 300);
  INSERT INTO bulk VALUES (-1, NULL);
  PERFORM queries_for('bulk', 2);
  TRUNCATE limits;
  INSERT INTO limits SELECT row_number() OVER () AS id, q.b, CASE n WHEN 1 THEN t.b <-> q.b WHEN 2 THEN t.b <#> q.b WHEN 3 THEN t.b <=> q.b END
    FROM queries q, (SELECT b FROM bulk WHERE b IS NOT NULL ORDER BY random() LIMIT 2) t, generate_series(1, 3) n;
  INSERT INTO limits SELECT 1000 + row_number() OVER (), b, r FROM queries, unnest('{NULL,-0,-1,NaN,Infinity,-Infinity,5e-324,1.7e308}'::float8[]) r;
  DELETE FROM limits WHERE id NOT IN (SELECT id FROM limits ORDER BY random() LIMIT 60);
  EXECUTE format('CREATE INDEX bulk_b ON bulk USING %s (b)', method());
  RETURN NEXT is_empty('SELECT * FROM bound_disagreements(''bulk'')', kind || ': bounds');
  DROP TABLE bulk;
END $$;
SELECT t FROM kinds, LATERAL test_bounds(kind) t;

-- ---------------------------------------------------------------------------
-- few pages where few rows are that near
-- ---------------------------------------------------------------------------

CREATE TABLE many AS SELECT i AS id, i % 7 AS kind, box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5) AS b
  FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 30000) i) s;
CREATE INDEX many_b ON many USING :method (b) INCLUDE (id);
ANALYZE many;

-- pages_of(query): pages that all of its plan touches
CREATE FUNCTION pages_of(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::bigint + (plan #>> '{0,Plan,Shared Read Blocks}')::bigint;
END $$;

-- where a tree in shared memory is forced, the first scan that it could answer reads all pages
SELECT use_path('index');
SELECT kind FROM many WHERE b && box3d(1, 1, 1) \g /dev/null
SELECT use_path('any');
\set near 'b <-> box3d(500, 500, 500) < 15'
SELECT cmp_ok((SELECT count(*) FROM many WHERE (:near) IS TRUE), '<', 20::bigint, 'so few rows are there');
SELECT matches(plan_of('SELECT id FROM many WHERE ' || :'near' || ' ORDER BY b <-> box3d(500, 500, 500) LIMIT 100'),
  '^Limit\n  ->  Index (Only )?Scan using many_b[^\n]*\n *Index Cond: \(b && ''[^\n]*\n *Order By: [^\n]*\n *Filter: \(\(b <-> [^\n]*\n$',
  'nearest with a bound: an index condition, the order, and the filter');
SELECT cmp_ok(pages_of('SELECT id FROM many WHERE ' || :'near' || ' ORDER BY b <-> box3d(500, 500, 500) LIMIT 100'), '<', 60::bigint, 'stops at the bound');
SELECT cmp_ok(pages_of('SELECT id FROM many WHERE ' || :'near' || ' AND kind = 9 ORDER BY b <-> box3d(500, 500, 500) LIMIT 1'), '<', 60::bigint, 'and so it does where another condition leaves nothing');
SELECT cmp_ok(pages_of('SELECT id FROM many WHERE ' || :'near'), '<', 60::bigint, 'and without an order');
SELECT results_eq('SELECT id FROM many WHERE ' || :'near' || ' ORDER BY b <-> box3d(500, 500, 500) LIMIT 5',
  'SELECT id FROM many WHERE (' || :'near' || ') IS TRUE ORDER BY box3d_distance(b, box3d(500, 500, 500)) LIMIT 5', 'the nearest');
SELECT matches(plan_of(format('SELECT id FROM many WHERE %s', c)), 'Index Cond: \(b && ''', c) FROM unnest(ARRAY[
  'b <-> box3d(500, 500, 500) < 15::real', 'b <-> box3d(500, 500, 500) <= 15::real', '15::real > b <#> box3d(500, 500, 500)', '15::real >= b <=> box3d(500, 500, 500)']) c;
SELECT unalike(plan_of(format('SELECT id FROM many WHERE %s', c)), '%Index Cond%', c || ': bounds nothing') FROM unnest(ARRAY['b <-> box3d(0, 0, 0) > 5::real',
  '5::real <= b <-> box3d(0, 0, 0)', 'b <-> box3d(0, 0, 0) = 5::real', 'b <-> box3d(0, 0, 0) < ''NaN''::real', 'b <-> box3d(0, 0, 0) <= ''Infinity''::real', 'b <-> box3d(0, 0, 0) < NULL::real']) c;
SELECT set_eq('SELECT id FROM many WHERE b <-> box3d(500, 500, 500) <= 15.1::real', 'SELECT id FROM many WHERE (b <-> box3d(500, 500, 500) <= 15.1::real) IS TRUE', 'a number of type real: the same rows');
SELECT unalike(plan_of('SELECT id FROM many WHERE b <-> box3d(0, 0, 0) < ''NaN'''), '%Index Cond%', 'NaN is above all distances');
SELECT is((SELECT count(*)::int FROM many WHERE b <-> box3d(0, 0, 0) < 'NaN'), 30000, 'so all rows are nearer');
SELECT unalike(plan_of(format('SELECT id FROM many WHERE %s', c)), '%Index Cond%', c || ': bounds nothing') FROM unnest(ARRAY[
  'b <-> box3d(0, 0, 0) > 5', '5 <= b <-> box3d(0, 0, 0)', 'b <-> box3d(0, 0, 0) = 5', 'b <-> box3d(0, 0, 0) <= ''Infinity''',
  'b <-> box3d_expand(b, 1) < 5', 'b <-> box3d(0, 0, 0) < id', 'b <-> box3d(0, 0, 0) < 1000 * random()', '(b <-> box3d(0, 0, 0) < 5) IS NOT FALSE',
  'box3d_max_distance(b, box3d(0, 0, 0)) < 5']) c;

-- the row count is that of the clause: no condition is counted twice
SELECT is(estimate_of('SELECT FROM many WHERE b <-> box3d(500, 500, 500) < 15'), 10000::float8, 'the estimate is PostgreSQL''s for "<"');

-- the radius known only when the query runs
PREPARE nearest(box3d, float8) AS SELECT id FROM many WHERE b <-> $1 < $2 ORDER BY b <-> $1 LIMIT 100;
SET plan_cache_mode = force_generic_plan;
SELECT matches(plan_of('EXECUTE nearest(box3d(500, 500, 500), 15)'), 'Index Cond: \(b && box3d_bound\(\$1, \$2\)\)', 'a generic plan');
SELECT cmp_ok(pages_of('EXECUTE nearest(box3d(500, 500, 500), 15)'), '<', 60::bigint, 'reads few pages, too');
SELECT results_eq('EXECUTE nearest(box3d(500, 500, 500), 15)', 'SELECT id FROM many WHERE (' || :'near' || ') IS TRUE ORDER BY box3d_distance(b, box3d(500, 500, 500))', 'and finds the same rows');
SELECT is_empty('EXECUTE nearest(box3d(500, 500, 500), NULL)', 'NULL: nothing');
SELECT is_empty('EXECUTE nearest(NULL, 1)', 'near to NULL: nothing');
SELECT is_empty('EXECUTE nearest(box3d(500, 500, 500), -1)', 'negative: nothing');
SELECT results_eq('EXECUTE nearest(box3d(500, 500, 500), ''NaN'')', 'SELECT id FROM many ORDER BY box3d_distance(b, box3d(500, 500, 500)) LIMIT 100', 'NaN: the nearest of all');
RESET plan_cache_mode;
DEALLOCATE nearest;

-- of an outer row, and of another query
SELECT matches(plan_of('SELECT a.id, s.id FROM many a, LATERAL (SELECT id FROM many m WHERE m.b <-> a.b < a.kind ORDER BY m.b <-> a.b LIMIT 3) s WHERE a.id < 50'),
  'Index Cond: \(b && box3d_bound\(a.b, \(a.kind\)::double precision\)\)', 'LATERAL');
SELECT set_eq('SELECT a.id AS a, s.id AS m FROM many a, LATERAL (SELECT id FROM many m WHERE m.b <-> a.b < a.kind ORDER BY m.b <-> a.b LIMIT 1000) s WHERE a.id < 50',
  'SELECT a.id AS a, m.id AS m FROM many a, many m WHERE a.id < 50 AND (m.b <-> a.b < a.kind) IS TRUE', 'the same rows');
SELECT matches(plan_of('SELECT id FROM many WHERE b <-> (SELECT b FROM many WHERE id = 5) <= (SELECT 1.5::float8)'), 'Index Cond: \(b && box3d_bound\(\$\d|Index Cond: \(b && box3d_bound\(\(InitPlan', 'subqueries');

-- joins: a probe of the index for each row, whichever side the number is of
SET bvhindex.enable_join = off;
CREATE TABLE seeds AS SELECT id AS n, b AS q, (id % 4)::float8 AS r FROM many WHERE id <= 30;
INSERT INTO seeds VALUES (-1, NULL, 3), (-2, box3d(500, 500, 500), NULL), (-3, box3d(500, 500, 500), 'NaN'), (-4, box3d(500, 500, 500), -1);
CREATE TABLE radii AS SELECT r, r * 3 AS r3 FROM (SELECT g::float8 AS r FROM generate_series(0, 3) g) s;
ANALYZE seeds, radii;
CREATE FUNCTION test_probes(query text, condition text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  RETURN NEXT set_eq(replace(query, '@', condition), replace(query, '@', '(' || condition || ') IS TRUE'), query || ', ' || condition);
  RETURN NEXT matches(plan_of(replace(query, '@', condition)), 'Nested Loop.*Index Cond: \(b && box3d_bound\(seeds.q, ', condition || ': plan');
END $$;
SELECT test_probes('SELECT n, id FROM seeds JOIN many ON @', c) FROM unnest('{seeds.q <-> many.b < r,r * 2 >= many.b <#> seeds.q,b <=> q <= 3}'::text[]) c;
SELECT test_probes('SELECT n, id FROM seeds LEFT JOIN many ON @ AND kind > 2', 'b <-> q < r');
SELECT test_probes('SELECT n FROM seeds WHERE EXISTS (SELECT FROM many WHERE @ AND id <> n)', 'b <-> q < r');
SELECT test_probes('SELECT n FROM seeds WHERE NOT EXISTS (SELECT FROM many WHERE @ AND id <> n)', 'b <-> q < r');
SELECT test_probes('SELECT n, id, r3 FROM seeds JOIN radii USING (r) JOIN many ON @', 'b <-> q < r3');
SELECT test_probes('SELECT n, l.id FROM seeds, LATERAL (SELECT id, b FROM many WHERE id > n) l WHERE @', 'b <-> q < r');
-- what is lent to an index is taken back: the other condition is a filter as it is
SELECT use_path('index');
SELECT matches(plan_of('SELECT n, id FROM seeds LEFT JOIN many ON b <-> q < r AND b <-> box3d(500, 500, 500) < 400'),
  'Index Cond: \(b && box3d_bound\(seeds.q, seeds.r\)\)\n *Filter: \(\(\(b <-> [^&]*$', 'a probe beside a bound');
SELECT use_path('any');
RESET bvhindex.enable_join;

-- changed rows
SELECT matches(plan_of('UPDATE many SET kind = 0 WHERE ' || :'near'), 'Update on many.*Index Scan using many_b[^\n]*\n *Index Cond', 'UPDATE');
SELECT matches(plan_of('DELETE FROM many WHERE ' || :'near'), 'Delete on many.*Index Scan using many_b[^\n]*\n *Index Cond', 'DELETE');
SELECT matches(plan_of('SELECT id FROM many WHERE ' || :'near' || ' FOR UPDATE'), 'LockRows.*Index Cond', 'FOR UPDATE');

-- with other conditions, of this index and of others
SELECT use_path('bitmap') \g /dev/null
SELECT matches(plan_of('SELECT id FROM many WHERE b && box3d(490, 490, 490, 600, 600, 600) AND ' || :'near'), 'Index Cond: \(\(b && [^\n]* AND \(b && ', 'beside a condition of the same index');
SELECT matches(plan_of('SELECT id FROM many WHERE ' || :'near'), 'Recheck Cond: \(b && [^\n]*\n *Filter: \(\(b <-> ', 'by bitmap: rechecked and tested');
CREATE INDEX many_kind ON many (kind);
SELECT set_eq('SELECT id FROM many WHERE b <-> box3d(500, 500, 500) < 200 AND kind = 3', 'SELECT id FROM many WHERE (b <-> box3d(500, 500, 500) < 200) IS TRUE AND kind = 3', 'with another index');
DROP INDEX many_kind;
SELECT use_path('any') \g /dev/null
SELECT unalike(plan_of('SELECT id FROM many TABLESAMPLE SYSTEM (1) WHERE ' || :'near'), '%Index%', 'a sample is not read by an index');
SELECT is_empty('SELECT id FROM many WHERE false AND ' || :'near', 'no rows for a false condition');

-- ---------------------------------------------------------------------------
-- rays
-- ---------------------------------------------------------------------------

\set ray 'ray3d(-10, 500, 500, 1, 0.01, 0)'
CREATE TABLE times AS SELECT format(t, :'ray') AS c FROM unnest(ARRAY['b <-> %s < 500', 'b <-> %s < ''Infinity''', '300 >= %s <-> b', 'b <-> %s <= 0']) t;
SELECT set_eq(format('SELECT id FROM many WHERE %s', c), format('SELECT id FROM many WHERE (%s) IS TRUE', c), c) FROM times;
SELECT matches(plan_of(format('SELECT id FROM many WHERE %s', c)), 'Index Cond: \(b && [^\n]*::ray3d', c || ': plan') FROM times;
SELECT is((SELECT count(*)::int FROM many WHERE b <-> :ray < -1), 0, 'not before the start');
SELECT is((SELECT count(*)::int FROM many WHERE b <-> :ray <= 'Infinity'), 30000, 'what is never met is met at Infinity');
SELECT unalike(plan_of(format('SELECT id FROM many WHERE b <-> %s <= ''Infinity''', :'ray')), '%Index%', 'so that bounds nothing');
PREPARE hits(float8) AS SELECT id FROM many WHERE b <-> ray3d(-10, 500, 500, 1, 0.01, 0) <= $1;
SET plan_cache_mode = force_generic_plan;
SELECT unalike(plan_of('EXECUTE hits(5)'), '%Index Cond%', 'nor does a time that is not known, which may be that');
RESET plan_cache_mode;
SELECT cmp_ok(pages_of(format('SELECT id FROM many WHERE b <-> %1$s < 900 ORDER BY b <-> %1$s LIMIT 10000', :'ray')), '<', 150::bigint, 'all hits of a ray: few pages');
SELECT matches(plan_of('SELECT * FROM (VALUES (ray3d(-10, 500, 500, 1, 0, 0))) v(r), LATERAL (SELECT id FROM many WHERE b <-> r < 100 ORDER BY b <-> r LIMIT 1 OFFSET 0) s'), 'Index Cond: \(b && ''', 'rays of rows');
-- times of entry are rounded; at each of them, and the numbers beside it, all are found
CREATE TABLE entries AS SELECT m.id, r, m.b <-> r AS t FROM many m, (SELECT ray3d_sweep(box3d(x, y, z, x + 30, y + 20, z + 10), 500 - x, 500 - y, 500 - z) AS r
  FROM (SELECT random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 30)) s) q WHERE m.b && r;
SELECT cmp_ok((SELECT count(*) FROM entries), '>', 100::bigint, 'rays meet boxes');
SELECT is_empty('SELECT * FROM entries e WHERE NOT (SELECT b FROM many WHERE id = e.id) && ray3d_until(r, t)', 'ray3d_until() meets what is met by then');
SELECT is((SELECT count(*) FROM entries e JOIN entries f ON f.r = e.r AND f.t <= e.t), (SELECT sum((SELECT count(*) FROM many WHERE b && ray3d_until(r, t) AND b <-> r <= t))::bigint FROM entries), 'at times of entry');
SELECT is(ray3d_until(:ray, 5) && box3d(-5, 0, 0, -4.9, 1000, 1000), true, 'ray3d_until: to the end');
SELECT is(ray3d_until(:ray, 5) && box3d(-4.99, 0, 0, 0, 1000, 1000), false, 'ray3d_until: no farther');
SELECT is(ray3d_tmax(ray3d_until(ray3d(0, 0, 0, 1, 0, 0, 3), 5)), 3::float8, 'ray3d_until: nor farther than before');
SELECT is(ray3d_until(:ray, 'Infinity'), :ray, 'ray3d_until: for ever');
SELECT is(ray3d_until(:ray, -1), NULL, 'ray3d_until: before the start');
SELECT throws_ok($$SELECT ray3d_until(ray3d(0, 0, 0, 1, 0, 0), 'NaN')$$, '22023', 'time must not be NaN', 'ray3d_until: NaN');
SELECT is(box3d_bound(box3d(0, 0, 0), 1), box3d_reach(box3d(0, 0, 0), 1), 'box3d_bound() is box3d_reach()');
SELECT is(box3d_bound(box3d(0, 0, 0), 'NaN'), box3d_reach(box3d(0, 0, 0), 'Infinity'), 'but for NaN, it is everything');
SELECT is(box3d_bound(box3d(0, 0, 0), -1), NULL, 'and nothing for a negative number');

-- ---------------------------------------------------------------------------
-- tables of many parts, views, indexes of other kinds
-- ---------------------------------------------------------------------------

CREATE TABLE parts (id int, kind int, b box3d) PARTITION BY HASH (id);
SELECT format('CREATE TABLE parts%s PARTITION OF parts FOR VALUES WITH (MODULUS 4, REMAINDER %1$s)', i) FROM generate_series(0, 3) i \gexec
-- a partition with its columns in another order, and one without an index
ALTER TABLE parts DETACH PARTITION parts1;
DROP TABLE parts1;
CREATE TABLE parts1 (b box3d, gone int, kind int, id int);
ALTER TABLE parts1 DROP COLUMN gone;
ALTER TABLE parts ATTACH PARTITION parts1 FOR VALUES WITH (MODULUS 4, REMAINDER 1);
SELECT format('CREATE INDEX parts%s_b ON parts%1$s USING %s (b)', i, method()) FROM generate_series(0, 2) i \gexec
INSERT INTO parts SELECT id, kind, b FROM many;
ANALYZE parts;
SELECT is((SELECT count(*)::int FROM regexp_matches(plan_of('SELECT id FROM parts WHERE ' || :'near'), 'Index Cond: \(b && ', 'g')), 3, 'each partition that has an index');
SELECT set_eq('SELECT id FROM parts WHERE ' || :'near', 'SELECT id FROM many WHERE (' || :'near' || ') IS TRUE', 'partitions: the same rows');
CREATE INDEX parts3_b ON parts3 USING :method (b);
SELECT matches(plan_of('SELECT id FROM parts WHERE ' || :'near' || ' ORDER BY b <-> box3d(500, 500, 500) LIMIT 100'), 'Merge Append.*Index Cond', 'partitions in order');
SELECT results_eq('SELECT id FROM parts WHERE ' || :'near' || ' ORDER BY b <-> box3d(500, 500, 500) LIMIT 100', 'SELECT id FROM many WHERE (' || :'near' || ') IS TRUE ORDER BY box3d_distance(b, box3d(500, 500, 500))', 'and their rows');
CREATE TABLE child () INHERITS (many);
INSERT INTO child VALUES (-5, 0, box3d(500, 500, 500));
CREATE INDEX child_b ON child USING :method (b);
SELECT set_eq('SELECT id FROM many WHERE ' || :'near', 'SELECT id FROM many WHERE (' || :'near' || ') IS TRUE', 'inheritance');
SET bvhindex.enable_join = off;
SELECT test_probes('SELECT n, id FROM seeds JOIN many ON @', 'b <-> q < r');
SELECT test_probes('SELECT n, id FROM seeds JOIN parts ON @', 'b <-> q < r');
RESET bvhindex.enable_join;
SELECT set_has('SELECT id FROM many WHERE ' || :'near', 'VALUES (-5)', 'with the child');
DROP TABLE child;
SELECT set_eq('SELECT id FROM (SELECT * FROM many UNION ALL SELECT * FROM parts) u WHERE ' || :'near', 'SELECT id FROM many WHERE (' || :'near' || ') IS TRUE', 'UNION ALL');
SELECT matches(plan_of('SELECT id FROM (SELECT * FROM many UNION ALL SELECT * FROM parts) u WHERE ' || :'near'), 'Append.*Index Cond: \(b && ', 'and its plan');

CREATE INDEX many_grown ON many USING :method (box3d_expand(b, 1));
SELECT matches(plan_of('SELECT id FROM many WHERE box3d_expand(b, 1) <-> box3d(500, 500, 500) < 10'), 'Index Cond: \(box3d_expand\(b, ''1''::double precision\) && ', 'an index on an expression');
DROP INDEX many_grown;
CREATE INDEX many_distance ON many ((b <-> box3d(500, 500, 500)));
ANALYZE many;
SELECT cmp_ok(estimate_of('SELECT id FROM many WHERE ' || :'near'), '<', 100::float8, 'an index on the distance itself has statistics that count');
DROP INDEX many_distance, many_b;
CREATE INDEX many_b ON many USING :method (b) WHERE b <-> box3d(500, 500, 500) < 100;
SELECT matches(plan_of('SELECT id FROM many WHERE ' || :'near'), 'Index Cond: \(b && ', 'a partial index');
SELECT set_eq('SELECT id FROM many WHERE ' || :'near', 'SELECT id FROM many WHERE (' || :'near' || ') IS TRUE', 'and its rows');
SELECT set_eq('SELECT n, id FROM seeds JOIN many ON b <-> q < 3', 'SELECT n, id FROM seeds JOIN many ON (b <-> q < 3) IS TRUE', 'a partial index does not serve a join that needs the rest');
DROP INDEX many_b;
CREATE INDEX many_b ON many USING :method (b);

-- ---------------------------------------------------------------------------
-- rights
-- ---------------------------------------------------------------------------

-- what a barrier hides is tested first
CREATE VIEW guarded WITH (security_barrier) AS SELECT * FROM many WHERE id <> 7;
SELECT unalike(plan_of('SELECT id FROM guarded WHERE ' || :'near'), '%Index Cond%', 'not before the conditions of a security barrier');
SELECT set_eq('SELECT id FROM guarded WHERE ' || :'near', 'SELECT id FROM many WHERE id <> 7 AND (' || :'near' || ') IS TRUE', 'whose rows are right');
CREATE VIEW guarding WITH (security_barrier) AS SELECT * FROM many WHERE b <-> box3d(500, 500, 500) < 15;
SELECT matches(plan_of('SELECT id FROM guarding WHERE kind = 3'), 'Index Cond: \(b && ', 'the condition of the barrier itself');
CREATE ROLE bvh_bound_joe;
GRANT SELECT ON many, seeds TO bvh_bound_joe;
ALTER TABLE many ENABLE ROW LEVEL SECURITY;
CREATE POLICY near ON many USING (b <-> box3d(500, 500, 500) < 15);
SET LOCAL ROLE bvh_bound_joe;
SELECT use_path('index');
SELECT matches(plan_of('SELECT id FROM many WHERE b <-> box3d(0, 0, 0) < 1'), 'Index Cond: \(b && ''\(48[^\n]*\n *Filter: \(\(\(b <-> ''\(500[^\n]* AND \(\(b <-> ''\(0', 'row security: its condition is the index''s, the user''s is tested after it');
SET bvhindex.enable_join = off;
SELECT unalike(plan_of('SELECT n, id FROM seeds JOIN many ON b <-> q < r'), '%box3d_bound%', 'nor by a probe');
RESET bvhindex.enable_join;
SELECT use_path('any');
RESET ROLE;
ALTER TABLE many DISABLE ROW LEVEL SECURITY;

-- without the right to call what is derived, there is no derived condition
REVOKE EXECUTE ON FUNCTION box3d_overlaps(box3d, box3d) FROM PUBLIC;
SET LOCAL ROLE bvh_bound_joe;
SELECT lives_ok('SELECT id FROM many WHERE ' || :'near', 'no right to &&: without an index condition');
RESET ROLE;
GRANT EXECUTE ON FUNCTION box3d_overlaps(box3d, box3d) TO PUBLIC;
REVOKE EXECUTE ON FUNCTION box3d_bound(box3d, float8) FROM PUBLIC;
SET LOCAL ROLE bvh_bound_joe;
SELECT lives_ok('SELECT id FROM many m, LATERAL (SELECT count(*) FROM many WHERE b <-> m.b < 1) s WHERE id = 1', 'nor to box3d_bound()');
RESET ROLE;

-- in another schema, under other names
GRANT EXECUTE ON FUNCTION box3d_bound(box3d, float8) TO PUBLIC;
CREATE SCHEMA elsewhere;
ALTER EXTENSION bvhindex SET SCHEMA elsewhere;
SELECT matches(plan_of('SELECT id FROM many WHERE b OPERATOR(elsewhere.<->) elsewhere.box3d(500, 500, 500) < 15'), 'Index Cond: \(b OPERATOR\(elsewhere.&&\) ', 'the extension in another schema');
ALTER EXTENSION bvhindex SET SCHEMA public;
