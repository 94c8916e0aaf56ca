-- Does the planner choose well?  Joins of :'sizes' rows with as many others, each by BVH Join, by a nested
-- loop over an index, by one over a sequential scan, and as the planner would have it; prints the
-- milliseconds of each, and how many times the fastest its choice took.
--
--   tools/server.sh -o shared_buffers=2GB -- psql -X -v sizes='{1,10,100,1000,10000,100000,1000000}' -f bench/sql/choice.sql
--
-- Times below a tenth of a millisecond are noise, and no mistake.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bvhindex;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
SET work_mem = '512MB';
SELECT setseed(0.25) \g /dev/null
CREATE TABLE boxes AS SELECT i AS id, box3d(x, y, z, x + random() * 4, y + random() * 4, z + random() * 4) AS b
FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, (SELECT max(s) FROM unnest(:'sizes'::int[]) s)) i) s;
SELECT format('CREATE TABLE boxes_%1$s AS SELECT * FROM boxes WHERE id <= %1$s', s), format('CREATE INDEX ON boxes_%s USING bvh (b)', s),
  format('VACUUM ANALYZE boxes_%s', s) FROM unnest(:'sizes'::int[]) s \gexec

-- the fastest of three runs, in milliseconds
CREATE FUNCTION run(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  fastest float8 := 'Infinity';
  start timestamptz;
BEGIN
  FOR i IN 1 .. 3 LOOP
    start := clock_timestamp();
    EXECUTE query;
    fastest := least(fastest, extract(epoch FROM clock_timestamp() - start) * 1000);
    EXIT WHEN fastest > 3000;
  END LOOP;
  RETURN fastest;
END $$;
CREATE FUNCTION choices(n int, m int, OUT bvh_join float8, OUT index_loop float8, OUT scan_loop float8, OUT choice float8, OUT plan text) LANGUAGE plpgsql AS $$
DECLARE
  query text := format('SELECT count(*) FROM boxes_%s a JOIN boxes_%s c ON a.b && c.b AND a.id <> c.id', n, m);
  line text;
BEGIN
  SET LOCAL enable_nestloop = off;
  bvh_join := run(query);
  SET LOCAL enable_nestloop = on;
  choice := run(query);
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    plan := coalesce(plan, substring(line FROM '(BVH Join|Nested Loop)'));
  END LOOP;
  SET LOCAL bvhindex.enable_join = off;
  index_loop := run(query);
  SET LOCAL enable_indexscan = off;
  SET LOCAL enable_indexonlyscan = off;
  SET LOCAL enable_bitmapscan = off;
  IF n::float8 * m < 1e8 THEN
    scan_loop := run(query);
  END IF;
  SET LOCAL enable_indexscan = on;
  SET LOCAL enable_indexonlyscan = on;
  SET LOCAL enable_bitmapscan = on;
  SET LOCAL bvhindex.enable_join = on;
END $$;
SELECT n, m, round(bvh_join::numeric, 2) AS bvh_join, round(index_loop::numeric, 2) AS index_loop, round(scan_loop::numeric, 2) AS scan_loop,
  plan, round(choice::numeric, 2) AS choice, round((choice / least(bvh_join, index_loop, scan_loop))::numeric, 2) AS times_the_fastest
FROM unnest(:'sizes'::int[]) n, unnest(:'sizes'::int[]) m, LATERAL choices(n, m) WHERE n <= m ORDER BY n, m;
