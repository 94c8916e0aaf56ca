-- Plans: the index where it pays, whatever the form of the query; and plans of
-- many parts give the answers of simple ones.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();
-- these plans are about indexes; whether a join needs one is tested with the join
SET bvhindex.enable_join = off;

CREATE TABLE rnd (id int PRIMARY KEY, name text, b box3d);
INSERT INTO rnd SELECT i, 'box ' || i, box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5)
  FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, 20000) i) s;
CREATE INDEX rnd_b ON rnd USING gist (b);
ANALYZE rnd;

-- ---------------------------------------------------------------------------
-- chosen by cost, with no setting changed
-- ---------------------------------------------------------------------------

SELECT matches(plan_of('SELECT * FROM rnd WHERE b && box3d(0, 0, 0, 1005, 1005, 1005)'), '^Seq Scan on rnd', 'all rows: a sequential scan');
SELECT matches(plan_of('SELECT * FROM rnd WHERE b && box3d(0, 0, 0, 1000, 1000, 500)'), '^Seq Scan on rnd', 'half of them: a sequential scan');
SELECT matches(plan_of('SELECT * FROM rnd WHERE b << box3d(900, 0, 0)'), '^Seq Scan on rnd', 'most of them on one side: a sequential scan');
SELECT matches(plan_of(query), 'rnd_b', 'the index: ' || query) FROM unnest(ARRAY[
  'SELECT * FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2)',
  'SELECT name FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2) AND id > 5',
  'SELECT count(*) FROM rnd WHERE box3d(1, 1, 1, 2, 2, 2) && b',
  'SELECT * FROM rnd WHERE b <@ box3d(1, 1, 1, 60, 60, 60)',
  'SELECT * FROM rnd WHERE box3d(1, 1, 1, 60, 60, 60) @> b',
  'SELECT * FROM rnd WHERE b @> box3d(1, 1, 1)',
  'SELECT * FROM rnd WHERE b = box3d(1, 1, 1, 2, 2, 2)',
  'SELECT * FROM rnd WHERE b ~= box3d(1, 1, 1, 2, 2, 2)',
  'SELECT * FROM rnd WHERE b &&+ box3d(1, 1, 1, 2, 2, 2)',
  'SELECT * FROM rnd WHERE b << box3d(3, 0, 0)',
  'SELECT * FROM rnd WHERE box3d(0, 0, 997) <</ b',
  'SELECT * FROM rnd WHERE box3d_dwithin(b, box3d(500, 500, 500), 20)',
  'SELECT * FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2) OR b && box3d(500, 500, 500, 501, 501, 501)',
  'SELECT * FROM rnd WHERE b && ANY (ARRAY[box3d(1, 1, 1, 2, 2, 2), box3d(500, 500, 500, 501, 501, 501)])',
  'SELECT * FROM rnd WHERE b && (SELECT b FROM rnd WHERE id = 777)',
  'SELECT * FROM rnd WHERE b && ''(1,1,1),(2,2,2)''',
  'SELECT * FROM rnd WHERE b && box3d_expand(box3d(1, 1, 1), 2)',
  'SELECT * FROM rnd ORDER BY b <-> box3d(1, 1, 1) LIMIT 5',
  'SELECT * FROM rnd ORDER BY box3d(1, 1, 1) <-> b LIMIT 5',
  'SELECT * FROM rnd WHERE name <> '''' ORDER BY b <-> box3d(1, 1, 1) LIMIT 5',
  'SELECT a.id, c.id FROM rnd a JOIN rnd c ON a.b && c.b AND a.id < c.id',
  'SELECT a.id, c.id FROM rnd a, LATERAL (SELECT id FROM rnd WHERE b && a.b) c',
  'SELECT a.id FROM rnd a WHERE a.id < 50 AND EXISTS (SELECT FROM rnd c WHERE a.b && c.b AND a.id <> c.id)',
  'SELECT a.id, c.id FROM rnd a LEFT JOIN rnd c ON a.b && c.b WHERE a.id < 50',
  'SELECT a.id, c.id FROM rnd a JOIN rnd c ON box3d_dwithin(a.b, c.b, 2) WHERE a.id < 50',
  'SELECT a.id, (SELECT c.id FROM rnd c ORDER BY c.b <-> a.b LIMIT 1) FROM rnd a WHERE a.id < 50',
  'WITH q AS (SELECT * FROM rnd WHERE id = 5) SELECT r.id FROM q JOIN rnd r ON q.b && r.b',
  'SELECT id FROM (SELECT * FROM rnd UNION ALL SELECT * FROM rnd) u WHERE b && box3d(1, 1, 1, 2, 2, 2)',
  'DELETE FROM rnd WHERE b && box3d(1, 1, 1, 2, 2, 2)',
  'UPDATE rnd SET name = '''' WHERE b && box3d(1, 1, 1, 2, 2, 2)']) query;

-- an operator of the same name on another type
SELECT is((SELECT count(*)::int FROM (VALUES (ARRAY[1, 2])) a(t) JOIN (VALUES (ARRAY[2, 3])) c(t) ON a.t && c.t), 1, '&& of arrays');

-- names do not matter: the operator family, the schema
ALTER OPERATOR FAMILY box3d_ops USING gist RENAME TO renamed;
SELECT matches(plan_of('SELECT * FROM rnd WHERE box3d_dwithin(b, box3d(500, 500, 500), 20)'), 'Index.*rnd_b', 'box3d_dwithin with the operator family renamed');
ALTER OPERATOR FAMILY renamed USING gist RENAME TO box3d_ops;
CREATE SCHEMA elsewhere;
ALTER EXTENSION bvhindex SET SCHEMA elsewhere;
SELECT matches(plan_of('SELECT * FROM rnd WHERE elsewhere.box3d_dwithin(b, elsewhere.box3d(500, 500, 500), 20)'), 'Index.*rnd_b', 'box3d_dwithin in another schema');
SELECT matches(plan_of('SELECT * FROM rnd WHERE b OPERATOR(elsewhere.&&) elsewhere.box3d(1, 1, 1, 2, 2, 2)'), 'rnd_b', '&& in another schema');
SELECT cmp_ok(estimate_of('SELECT FROM rnd WHERE b OPERATOR(elsewhere.&&) elsewhere.box3d(0, 0, 0, 1005, 1005, 1005)'), '>', 19000::float8, 'and its estimate');
ALTER EXTENSION bvhindex SET SCHEMA public;

-- ---------------------------------------------------------------------------
-- merge join over the order by distance; containment both ways
-- ---------------------------------------------------------------------------

CREATE TABLE line AS SELECT * FROM boxes_of('line', 20000);
CREATE INDEX line_b ON line USING gist (b);
ANALYZE line;
SET enable_hashjoin = off;
SET enable_nestloop = off;
SET enable_seqscan = off;
SET enable_sort = off;
SELECT matches(plan_of('SELECT count(*) FROM (SELECT b <-> box3d(0, 0, 0) AS d FROM line ORDER BY b <-> box3d(0, 0, 0) OFFSET 0) x JOIN (SELECT g::float8 AS d FROM generate_series(1, 20000) g) y USING (d)'),
  'Merge Join.*Index (Only )?Scan using line_b', 'a merge join over the order of an index');
SELECT is((SELECT count(*)::int FROM (SELECT b <-> box3d(0, 0, 0) AS d FROM line ORDER BY b <-> box3d(0, 0, 0) OFFSET 0) x JOIN (SELECT g::float8 AS d FROM generate_series(1, 20000) g) y USING (d)), 20000, 'finds all pairs');
SELECT is((SELECT count(*)::int FROM (SELECT floor((b <-> box3d(0, 0, 0)) / 2) AS d FROM line ORDER BY b <-> box3d(0, 0, 0) OFFSET 0) x
  JOIN (SELECT floor((b <-> box3d(0, 0, 0)) / 2) AS d FROM line WHERE id < 1000 ORDER BY b <-> box3d(0, 0, 0) OFFSET 0) y USING (d)), 1997, 'and goes back where rows are equal');
RESET enable_hashjoin;
RESET enable_nestloop;
RESET enable_seqscan;
RESET enable_sort;

CREATE TABLE nest AS SELECT * FROM boxes_of('all sizes', 900) UNION ALL SELECT 900 + id, b FROM boxes_of('nested', 300);
CREATE INDEX ON nest USING gist (b);
SELECT use_path('index') \g /dev/null
SELECT matches(plan_of('SELECT count(*) FROM nest a JOIN nest c ON a.b @> c.b'), 'Nested Loop.*Index Scan', 'containment join');
SELECT is((SELECT count(*) FROM nest a JOIN nest c ON a.b @> c.b), (SELECT sum((SELECT count(*) FROM nest c WHERE c.b <@ a.b))::bigint FROM nest a), 'a.b @> c.b finds what c.b <@ a.b finds');
SELECT is((SELECT count(*) FROM nest a JOIN nest c ON a.b @> c.b), (SELECT count(*) FROM nest a JOIN nest c ON box3d_contains(a.b, c.b)), 'and what the function finds');
SELECT is((SELECT count(*)::int FROM nest a JOIN nest c ON a.b @> c.b WHERE a.id = c.id), (SELECT count(*)::int FROM nest), 'each box contains itself');
SELECT is((SELECT count(*)::int FROM rnd WHERE b = (SELECT b FROM rnd WHERE id = 777)), 1, 'a box equals itself');
SELECT use_path('any') \g /dev/null

-- outer joins with NULL on either side
CREATE TABLE a AS SELECT * FROM (VALUES (1, box3d(0, 0, 0, 1, 1, 1)), (2, box3d(90, 90, 90, 91, 91, 91)), (3, NULL)) v(id, b);
CREATE TABLE c AS SELECT * FROM (VALUES (10, box3d(0.5, 0.5, 0.5, 2, 2, 2)), (11, box3d(1, 1, 1, 3, 3, 3)), (12, NULL), (13, box3d(50, 50, 50, 51, 51, 51))) v(id, b);
CREATE INDEX ON c USING gist (b);
SELECT use_path('index') \g /dev/null
SELECT set_eq('SELECT a.id AS a, c.id AS c FROM a LEFT JOIN c ON a.b && c.b', $$VALUES (1, 10), (1, 11), (2, NULL), (3, NULL)$$, 'left join');
SELECT set_eq('SELECT a.id AS a, c.id AS c FROM a JOIN c ON a.b && c.b', $$VALUES (1, 10), (1, 11)$$, 'inner join');
SELECT set_eq('SELECT id FROM a WHERE NOT EXISTS (SELECT FROM c WHERE a.b && c.b)', ARRAY[2, 3], 'anti join');
SELECT set_eq('SELECT id FROM a WHERE EXISTS (SELECT FROM c WHERE a.b && c.b)', ARRAY[1], 'semi join');
SELECT use_path('any') \g /dev/null

-- ---------------------------------------------------------------------------
-- partitions
-- ---------------------------------------------------------------------------

CREATE TABLE p (id int, b box3d) PARTITION BY HASH (id);
SELECT format('CREATE TABLE p%s PARTITION OF p FOR VALUES WITH (MODULUS 8, REMAINDER %1$s)', i) FROM generate_series(0, 7) i \gexec
CREATE INDEX p_b ON p USING gist (b);
INSERT INTO p SELECT id, b FROM rnd;
ANALYZE p;
SELECT queries_for('rnd', 2);
SELECT use_path('index') \g /dev/null
SELECT matches(plan_of('SELECT id FROM p ORDER BY b <-> box3d(500, 500, 500) LIMIT 10'), '^Limit\s+->  Merge Append\s+Sort Key: [^\n]*\n(\s+->  Index Scan using p\d_b_idx on p\d p_\d\n\s+Order By: [^\n]*\n){8}$', 'nearest in partitions: Merge Append of index scans, no sort');
SELECT use_path('any') \g /dev/null
SELECT matches(plan_of('SELECT id FROM p ORDER BY b <-> box3d(500, 500, 500) LIMIT 10'), 'Merge Append.*Index Scan', 'without any setting, too');
SELECT results_eq('SELECT b <-> box3d(500, 500, 500) FROM p ORDER BY b <-> box3d(500, 500, 500) LIMIT 100',
  'SELECT box3d_distance(b, box3d(500, 500, 500)) FROM rnd ORDER BY 1 LIMIT 100', 'the same rows as in one table');
SELECT set_eq('SELECT q.id AS q, p.id AS p FROM queries q JOIN p ON p.b && q.b', 'SELECT q.id AS q, p.id AS p FROM queries q JOIN rnd p ON box3d_overlaps(p.b, q.b)', 'a join with partitions');
SELECT cmp_ok(estimate_of('SELECT FROM p WHERE b && box3d(0, 0, 0, 500, 500, 1000)'), '>', 4000::float8, 'statistics of the partitions');
-- a join of the whole needs statistics of the whole
SELECT cmp_ok(estimate_of('SELECT FROM p a JOIN p c ON a.b && c.b'), '<', 200000::float8, 'statistics of the parent');

-- ---------------------------------------------------------------------------
-- parallel plans
-- ---------------------------------------------------------------------------

SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET min_parallel_index_scan_size = 0;
SET parallel_leader_participation = off;
CREATE FUNCTION test_parallel(what text, plan text, query text, serial text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  got text;
  want text;
BEGIN
  RETURN NEXT matches(plan_of(query), plan, what || ': a parallel plan');
  EXECUTE query INTO got;
  EXECUTE serial INTO want;
  RETURN NEXT is(got, want, what || ': the same answer');
END $$;
SET enable_indexscan = off;
SET enable_seqscan = off;
SELECT test_parallel('overlap by bitmap', 'Gather.*Parallel Bitmap Heap Scan on rnd.*Bitmap Index Scan on rnd_b',
  'SELECT sum(id)::text || count(*) FROM rnd WHERE b && box3d(100, 100, 100, 600, 600, 600)',
  'SELECT sum(id)::text || count(*) FROM (SELECT * FROM rnd OFFSET 0) r WHERE b && box3d(100, 100, 100, 600, 600, 600)');
RESET enable_indexscan;
SET enable_bitmapscan = off;
RESET enable_seqscan;
SELECT test_parallel('overlap by sequential scan', 'Gather.*Parallel Seq Scan on rnd',
  'SELECT sum(id)::text || count(*) FROM rnd WHERE box3d_overlaps(b, box3d(100, 100, 100, 600, 600, 600))',
  'SELECT sum(id)::text || count(*) FROM (SELECT * FROM rnd OFFSET 0) r WHERE b && box3d(100, 100, 100, 600, 600, 600)');
SELECT test_parallel('extent', 'Finalize Aggregate.*Gather.*Partial Aggregate', 'SELECT box3d_extent(b)::text FROM rnd', 'SELECT box3d_extent(b)::text FROM (SELECT * FROM rnd OFFSET 0) r');
SELECT test_parallel('extent of nothing', 'Finalize Aggregate.*Gather.*Partial Aggregate', 'SELECT box3d_extent(b)::text FROM rnd WHERE length(name) < 0', 'SELECT NULL');
SELECT test_parallel('join', 'Gather.*Nested Loop.*Parallel Seq Scan on rnd a.*Index Scan using rnd_b',
  'SELECT sum(a.id + c.id)::text || count(*) FROM rnd a JOIN rnd c ON a.b && c.b',
  'SELECT sum(a.id + c.id)::text || count(*) FROM (SELECT * FROM rnd OFFSET 0) a JOIN rnd c ON a.b && c.b');
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT test_parallel('hash join', 'Gather.*Hash Join', 'SELECT sum(a.id)::text || count(*) FROM rnd a JOIN rnd c ON a.b = c.b', 'SELECT sum(id)::text || count(*) FROM (SELECT * FROM rnd OFFSET 0) r');
RESET enable_nestloop;
RESET enable_mergejoin;
RESET enable_bitmapscan;

SELECT * FROM finish();
ROLLBACK;
