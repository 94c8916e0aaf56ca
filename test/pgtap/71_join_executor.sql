-- The BVH join in the company of the rest of the executor: rescans, cursors, LIMIT,
-- prepared statements, partitions, workers, row locks; and where the planner offers it.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
\i test/pgtap/include/joins.sql
SELECT no_plan();
SET client_min_messages = warning;

CREATE TABLE a AS SELECT id, b, id % 10 AS k FROM boxes_of('random', 1500);
CREATE TABLE c AS SELECT id, b, id % 10 AS k FROM boxes_of('random', 1500);
CREATE TABLE ks AS SELECT k FROM generate_series(0, 10) k;
ANALYZE a, c, ks;

-- ---------------------------------------------------------------------------
-- rescans
-- ---------------------------------------------------------------------------

-- the outer rows change, the tree stays; the inner rows change; both; an expression
-- of the inner side changes; NULL
SELECT agrees(format('SELECT string_agg(n::text, '' '' ORDER BY k) FROM (SELECT k, (SELECT count(*) FROM a JOIN c ON a.b && c.b %s) AS n FROM ks) s', condition),
              'SubPlan.*BVH Join', 'rescans: ' || condition)
FROM (VALUES ('WHERE a.k = ks.k'), ('WHERE c.k = ks.k'), ('WHERE a.k = ks.k AND c.k < ks.k'), ('AND a.id < c.id + ks.k * 100'),
             ('WHERE a.k < ks.k AND a.b << box3d_translate(c.b, 0, 0, 1) AND c.k = 3')) v(condition);
SELECT agrees('SELECT string_agg(n::text, '' '' ORDER BY k) FROM (SELECT k, (SELECT count(*) FROM a JOIN c ON a.b && box3d_expand(c.b, ks.k)) AS n FROM ks) s',
              'SubPlan.*BVH Join', 'rescans: box of the inner side');
SELECT agrees('SELECT string_agg(n::text, '' '' ORDER BY k) FROM (SELECT k, (SELECT count(*) FROM a JOIN c ON a.b && box3d_translate(c.b, nullif(ks.k, 3), 0, 0)) AS n FROM ks) s',
              'SubPlan.*BVH Join', 'rescans: box of the inner side, NULL once');
SELECT agrees('SELECT string_agg(n::text, '' '' ORDER BY k) FROM (SELECT k, (SELECT count(*) FROM a JOIN c ON box3d_dwithin(a.b, c.b, ks.k * 3)) AS n FROM ks) s',
              'SubPlan.*BVH Join', 'rescans: distance');
CREATE TABLE d AS SELECT id, box3d_expand(b, 2) AS b FROM c WHERE id % 10 = 0;
ANALYZE d;
-- (of a left join, the inner side is the right one)
SELECT agrees('SELECT string_agg(n::text, '' '' ORDER BY k) FROM (SELECT k, (SELECT count(c.id) FROM a LEFT JOIN c ON a.b && (SELECT d.b FROM d WHERE d.id = (c.id + ks.k) / 10 * 10) AND c.id < 100 WHERE a.id < 400) AS n FROM ks) s',
              'SubPlan.*BVH Join', 'rescans: a subquery in the box of the inner side');
SELECT agrees('SELECT string_agg(n::text, '' '' ORDER BY k) FROM (SELECT k, (SELECT count(c.id) FROM a LEFT JOIN c ON a.b && box3d_expand(c.b, (SELECT d.id FROM d WHERE d.id <= ks.k * 10 ORDER BY d.id DESC LIMIT 1)) AND c.id < 100 WHERE a.id < 400) AS n FROM ks) s',
              'SubPlan.*BVH Join', 'rescans: a subquery of its own');
SELECT agrees('SELECT sum(l.n) FROM ks, LATERAL (SELECT a.id AS n FROM a JOIN c ON a.b && c.b AND a.k = ks.k LIMIT 5 + 0 * ks.k) l WHERE l.n < 0',
              'BVH Join', 'rescans: after a LIMIT');
SET LOCAL work_mem = '64kB';
SELECT agrees(format('SELECT string_agg(n::text, '' '' ORDER BY k) FROM (SELECT k, (SELECT count(*) FROM a LEFT JOIN c ON a.b && c.b AND a.id < c.id %s) AS n FROM ks) s', condition),
              'SubPlan.*BVH Join', 'rescans in several passes: ' || condition)
FROM (VALUES ('WHERE a.k = ks.k'), ('WHERE a.k = ks.k AND c.k < ks.k'), ('AND c.k = ks.k')) v(condition);
RESET work_mem;

-- memory of a session after few and after many rescans
CREATE FUNCTION rescan_memory(nrescans int, condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
  bytes bigint;
  rows refcursor;
BEGIN
  OPEN rows FOR EXECUTE format('SELECT (SELECT count(*) FROM a JOIN c ON a.b && c.b AND a.id < c.id WHERE a.k < 3 AND c.k < 3 AND a.id < 200 %s) FROM generate_series(1, %s) i OFFSET %s',
                               condition, nrescans + 1, nrescans);
  FETCH rows INTO n;
  SELECT sum(total_bytes) INTO bytes FROM pg_backend_memory_contexts;
  CLOSE rows;
  RETURN bytes;
END $$;
CREATE FUNCTION rescan_growth(condition text) RETURNS bigint LANGUAGE sql AS
$$ SELECT rescan_memory(10, condition) * 0 + rescan_memory(1000, condition) - rescan_memory(10, condition) $$;
-- PostgreSQL itself forgets some 70 bytes for each value of a parameter
CREATE FUNCTION rescan_growth_of_others(condition text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  bytes bigint;
BEGIN
  SET LOCAL bvhindex.enable_join = off;
  bytes := rescan_growth(condition);
  SET LOCAL bvhindex.enable_join = on;
  RETURN bytes;
END $$;
SELECT cmp_ok(rescan_growth(condition), '<=', rescan_growth_of_others(condition) + 32768, '1,000 rescans do not grow memory: ' || condition)
FROM (VALUES ('AND a.k <> i'), ('AND c.k <> i')) v(condition);
-- both sides too large for the memory, for which a nested loop would take too long
CREATE FUNCTION spilled_memory(nrescans int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  n bigint;
  bytes bigint;
  rows refcursor;
BEGIN
  SET LOCAL work_mem = '64kB';
  OPEN rows FOR EXECUTE format('SELECT (SELECT count(*) FROM a JOIN c ON a.b && c.b AND a.id < c.id AND a.k <> i) FROM generate_series(1, %s) i OFFSET %s', nrescans + 1, nrescans);
  FETCH rows INTO n;
  SELECT sum(total_bytes) INTO bytes FROM pg_backend_memory_contexts;
  CLOSE rows;
  SET LOCAL work_mem = '4MB';
  RETURN bytes;
END $$;
SELECT spilled_memory(10) > 0 AS warm;
SELECT cmp_ok(spilled_memory(500) - spilled_memory(10), '<=', 500 * 100::bigint + 32768, '500 rescans in several passes do not grow memory');

-- ---------------------------------------------------------------------------
-- parts of answers
-- ---------------------------------------------------------------------------

CREATE TABLE pairs AS SELECT a.id, c.id AS cid FROM a JOIN c ON box3d_overlaps(a.b, c.b);
SELECT is((SELECT count(*) FROM (SELECT a.id, c.id AS cid FROM a JOIN c ON a.b && c.b LIMIT n) s JOIN pairs USING (id, cid)), least(n, (SELECT count(*) FROM pairs)), 'LIMIT ' || n)
FROM (VALUES (0), (1), (10), (1000)) v(n);

DECLARE forward CURSOR FOR SELECT a.id, c.id AS cid FROM a JOIN c ON a.b && c.b;
CREATE TABLE fetched (id int, cid int);
CREATE FUNCTION fetch_some(source refcursor, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  pair record;
BEGIN
  FOR i IN 1 .. n LOOP
    FETCH source INTO pair;
    IF NOT FOUND THEN
      RETURN i - 1;
    END IF;
    INSERT INTO fetched VALUES (pair.id, pair.cid);
  END LOOP;
  RETURN n;
END $$;
SELECT is(fetch_some('forward', 7), 7, 'a cursor: some rows');
SELECT is(fetch_some('forward', 1000000), (SELECT count(*)::int - 7 FROM pairs), 'the rest');
SELECT bag_eq('SELECT * FROM fetched', 'SELECT * FROM pairs', 'all of them together');
CLOSE forward;
-- a scrollable one has its rows materialized
DECLARE back SCROLL CURSOR FOR SELECT a.id, c.id AS cid FROM a JOIN c ON a.b && c.b;
MOVE FORWARD ALL IN back;
TRUNCATE fetched;
MOVE BACKWARD ALL IN back;
SELECT is(fetch_some('back', 1000000), (SELECT count(*)::int FROM pairs), 'a scrollable cursor, again from its start');
SELECT bag_eq('SELECT * FROM fetched', 'SELECT * FROM pairs', 'the same rows');
CLOSE back;

PREPARE near(int, float8) AS SELECT count(*) FROM a JOIN c ON box3d_dwithin(a.b, c.b, $2) AND a.k = $1;
CREATE FUNCTION test_prepared() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  n text;
BEGIN
  FOREACH n IN ARRAY ARRAY['force_custom_plan', 'force_generic_plan'] LOOP
    PERFORM set_config('plan_cache_mode', n, true);
    FOR i IN 1 .. 7 LOOP
      EXECUTE format('EXECUTE near(%s, %s)', i, i * 2) INTO n;
      RETURN NEXT is(n, by_nested_loop(format('SELECT count(*) FROM a JOIN c ON box3d_dwithin(a.b, c.b, %s) AND a.k = %s', i * 2, i)), 'prepared, run ' || i);
    END LOOP;
  END LOOP;
  EXECUTE 'EXECUTE near(1, NULL)' INTO n;
  RETURN NEXT is(n, '0', 'prepared, for no distance');
END $$;
SELECT test_prepared();
SELECT matches(plan_of('EXECUTE near(1, 2)'), 'BVH Join', 'a prepared statement has it');

-- a distance that is an error is one only if there is something to compare
SELECT throws_ok('SELECT count(*) FROM a JOIN c ON box3d_dwithin(a.b, c.b, ''NaN'')', '22023', NULL, 'a distance of NaN');
SELECT lives_ok('SELECT count(*) FROM a JOIN (SELECT * FROM c WHERE k > 100) c ON box3d_dwithin(a.b, c.b, ''NaN'')', 'but not without rows');

-- ---------------------------------------------------------------------------
-- partitions, views, locks, plans with workers
-- ---------------------------------------------------------------------------

CREATE TABLE pa (id int, b box3d, k int) PARTITION BY RANGE (k);
CREATE TABLE pc (k int, b box3d, id int) PARTITION BY RANGE (k);
CREATE TABLE pa1 PARTITION OF pa FOR VALUES FROM (0) TO (5);
CREATE TABLE pa2 (k int, extra text, id int, b box3d);
ALTER TABLE pa2 DROP COLUMN extra;
ALTER TABLE pa ATTACH PARTITION pa2 FOR VALUES FROM (5) TO (10);
CREATE TABLE pc1 PARTITION OF pc FOR VALUES FROM (0) TO (5);
CREATE TABLE pc2 PARTITION OF pc FOR VALUES FROM (5) TO (10);
INSERT INTO pa SELECT * FROM a;
INSERT INTO pc SELECT k, b, id FROM c;
ANALYZE pa, pc;
SET LOCAL enable_hashjoin = off;
SET LOCAL enable_mergejoin = off;
SELECT agrees('SELECT sum(hashtextextended(s::text, 0)) FROM (SELECT pa, pc, pa.id FROM pa JOIN pc USING (k) WHERE pa.b && pc.b) s', 'BVH Join.*Append', 'partitions');
SET LOCAL enable_partitionwise_join = on;
SELECT agrees('SELECT sum(hashtextextended(s::text, 0)) FROM (SELECT k, pa.b, pc.id, pa.id AS aid FROM pa JOIN pc USING (k) WHERE pa.b && pc.b) s', 'Append.*BVH Join.*BVH Join', 'partitionwise');
SELECT agrees('SELECT sum(hashtextextended(s::text, 0)) FROM (SELECT pa.id, pc.b, pc.id AS cid FROM pa LEFT JOIN pc ON pa.k = pc.k AND pa.b && pc.b AND pc.id % 2 = 0) s', 'Append.*BVH Join.*BVH Join', 'partitionwise, left');
RESET enable_partitionwise_join;
RESET enable_hashjoin;
RESET enable_mergejoin;

SELECT agrees('SELECT sum(id) FROM (SELECT a.id FROM a JOIN c ON a.b && c.b FOR UPDATE OF a) s', 'LockRows.*BVH Join', 'FOR UPDATE');

SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
CREATE FUNCTION test_workers(workers int, memory text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  query text;
BEGIN
  PERFORM set_config('max_parallel_workers_per_gather', workers::text, true);
  PERFORM set_config('work_mem', memory, true);
  FOREACH query IN ARRAY ARRAY['SELECT a.id, c.id AS cid FROM a JOIN c ON a.b && c.b AND a.id < c.id', 'SELECT a.id, c.id AS cid FROM a LEFT JOIN c ON a.b && c.b',
                               'SELECT a.id FROM a WHERE EXISTS (SELECT FROM c WHERE a.b && c.b AND a.id < c.id)', 'SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM c WHERE a.b &&+ c.b)',
                               'SELECT a.id, c.id AS cid FROM a JOIN c ON box3d_dwithin(a.b, c.b, 3)'] LOOP
    RETURN QUERY SELECT agrees(format('SELECT count(*) || '' '' || sum(hashtextextended(s::text, 0)) FROM (%s) s', query), CASE WHEN workers > 0 THEN 'Gather.*' ELSE '' END || 'BVH Join',
                               format('%s workers, %s: %s', workers, memory, query));
  END LOOP;
END $$;
SELECT test_workers(workers, memory) FROM (VALUES (0), (1), (2), (4)) v(workers), (VALUES ('4MB'), ('64kB')) w(memory);
RESET work_mem;

-- what workers did is shown, whether or not the leader did anything
CREATE FUNCTION shown(query text, OUT boxes int, OUT nodes int, OUT tests int, OUT passes int, OUT memory int) LANGUAGE plpgsql AS $$
DECLARE
  plan jsonb;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  plan := jsonb_path_query_first(plan, '$.**?(@."Custom Plan Provider" == "BVH Join")');
  boxes := plan ->> 'Boxes';
  nodes := plan ->> 'Nodes';
  tests := plan ->> 'Node Tests';
  passes := plan ->> 'Passes';
  memory := plan ->> 'Peak Memory Usage';
END $$;
SET LOCAL max_parallel_workers_per_gather = 2;
SET LOCAL parallel_leader_participation = off;
SELECT is((SELECT boxes FROM shown('SELECT count(*) FROM a JOIN c ON a.b && c.b')), 1500, 'EXPLAIN: boxes of workers');
SELECT ok(nodes > 10 AND tests > 100 AND passes = 1 AND memory > 100, 'EXPLAIN: nodes, tests, passes and memory of workers')
FROM shown('SELECT count(*) FROM a JOIN c ON a.b && c.b');
RESET parallel_leader_participation;
SET LOCAL max_parallel_workers_per_gather = 0;

-- the function of the operator needs its privilege
CREATE ROLE bvh_join_joe;
GRANT SELECT ON a, c, pairs TO bvh_join_joe;
REVOKE EXECUTE ON FUNCTION box3d_overlaps(box3d, box3d), box3d_dwithin(box3d, box3d, float8) FROM PUBLIC;
SET LOCAL ROLE bvh_join_joe;
SELECT throws_ok('SELECT count(*) FROM a JOIN c ON a.b && c.b', '42501', 'permission denied for function box3d_overlaps', 'no privilege on the operator');
SELECT throws_ok('SELECT count(*) FROM a JOIN c ON box3d_dwithin(a.b, c.b, 1)', '42501', 'permission denied for function box3d_dwithin', 'no privilege on the function');
RESET ROLE;
GRANT EXECUTE ON FUNCTION box3d_overlaps(box3d, box3d), box3d_dwithin(box3d, box3d, float8) TO PUBLIC;

-- and company of other kinds
SELECT agrees('WITH RECURSIVE r(id, n) AS (SELECT 1, 0 UNION SELECT c.id, n + 1 FROM r JOIN a USING (id) JOIN c ON a.b && c.b WHERE n < 4) SELECT count(*) || '' '' || sum(id) FROM r', 'BVH Join', 'recursive');
ALTER TABLE c ENABLE ROW LEVEL SECURITY;
CREATE POLICY odd ON c USING (id % 2 = 1);
SET LOCAL ROLE bvh_join_joe;
SELECT is((SELECT count(*) FROM a JOIN c ON a.b && c.b), (SELECT count(*) FROM pairs WHERE cid % 2 = 1), 'row security');
RESET ROLE;
ALTER TABLE c DISABLE ROW LEVEL SECURITY;
CREATE TABLE merged AS SELECT id, 0 AS n FROM a;
MERGE INTO merged USING (SELECT a.id, count(*) AS n FROM a JOIN c ON a.b && c.b GROUP BY a.id) s ON merged.id = s.id
WHEN MATCHED THEN UPDATE SET n = s.n WHEN NOT MATCHED THEN DO NOTHING;
SELECT is((SELECT sum(n) FROM merged), (SELECT count(*) FROM pairs), 'MERGE');

-- ---------------------------------------------------------------------------
-- what the planner chooses
-- ---------------------------------------------------------------------------

CREATE TABLE big AS SELECT id, b FROM boxes_of('tiles', 100000);
CREATE TABLE few AS SELECT id, b FROM boxes_of('tiles', 20);
ANALYZE big, few;
SELECT matches(plan_of('SELECT count(*) FROM big x JOIN big y ON x.b && y.b AND x.id < y.id'), 'BVH Join', 'two large tables, no index');
SELECT matches(plan_of('SELECT count(*) FROM big x JOIN few y ON x.b && y.b'), 'BVH Join.*Seq Scan on big x.*Seq Scan on few y', 'the tree is that of the smaller side');
SELECT matches(plan_of('SELECT count(*) FROM few x JOIN big y ON x.b && y.b'), 'BVH Join.*Seq Scan on big y.*Seq Scan on few x', 'whichever is written first');
CREATE INDEX big_b ON big USING bvh (b);
SELECT matches(plan_of('SELECT count(*) FROM big x JOIN big y ON x.b && y.b AND x.id < y.id'), 'BVH Join', 'two large tables with an index');
SELECT matches(plan_of('SELECT count(*) FROM big x JOIN few y ON x.b && y.b'), 'Nested Loop.*big_b', 'a few probes of an index');
SELECT matches(plan_of('SELECT * FROM few x LEFT JOIN big y ON x.b && y.b'), 'Nested Loop.*big_b', 'likewise for a left join');
SELECT matches(plan_of('SELECT * FROM few x WHERE NOT EXISTS (SELECT FROM big y WHERE x.b &&+ y.b)'), 'Nested Loop.*big_b', 'and an anti join');
DROP INDEX big_b;
CREATE INDEX big_g ON big USING gist (b);
SELECT matches(plan_of('SELECT count(*) FROM big x JOIN few y ON x.b && y.b'), 'Nested Loop.*big_g', 'a few probes of a gist index');
SELECT matches(plan_of('SELECT count(*) FROM big x JOIN (SELECT * FROM big WHERE id < 10000) y ON x.b && y.b'), 'BVH Join', 'many probes of a gist index');

SELECT * FROM finish();
ROLLBACK;
