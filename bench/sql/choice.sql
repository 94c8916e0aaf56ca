-- Does the planner choose well?  Joins of some rows with some others, for each pair of :sizes, each by BVH
-- Join, by a nested loop over an index, and by one over a sequential scan: prints the milliseconds of each,
-- which of them the planner chooses, and how many times the fastest that takes.
--
--   tools/server.sh -o shared_buffers=2GB -- psql -X -v sizes='{1,10,100,1000,10000,100000,1000000}' -f bench/sql/choice.sql
--
-- With -v memory=4MB, the large ones go to files. Differences below a tenth of a millisecond are noise, and no mistake.  test/t/031_join_choice.pl runs this, too.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bvhindex;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
\if :{?memory}
\else
\set memory 512MB
\endif
SET work_mem = :'memory';
SELECT setseed(0.25) \g /dev/null
CREATE TEMP TABLE boxes AS SELECT i AS id, box3d(x, y, z, x + random() * 4, y + random() * 4, z + random() * 4) AS b
FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, (SELECT max(s) FROM unnest(:'sizes'::int[]) s)) i) s;
SELECT format('CREATE TEMP TABLE boxes_%1$s AS SELECT * FROM boxes WHERE id <= %1$s', s), format('CREATE INDEX ON boxes_%s USING bvh (b)', s),
  format('VACUUM ANALYZE boxes_%s', s) FROM unnest(:'sizes'::int[]) s \gexec

CREATE TEMP TABLE joins (name text, query text);
INSERT INTO joins VALUES
  ('overlap', 'SELECT count(*) FROM boxes_%s a JOIN boxes_%s c ON a.b && c.b AND a.id <> c.id'),
  ('self-join', 'SELECT count(*) FROM boxes_%s a JOIN boxes_%1$s c ON a.b && c.b AND a.id < c.id'),
  ('distance', 'SELECT count(*) FROM boxes_%s a JOIN boxes_%s c ON box3d_dwithin(a.b, c.b, 1) AND a.id <> c.id'),
  ('left join', 'SELECT count(*) FROM boxes_%s a LEFT JOIN boxes_%s c ON a.b && c.b AND a.id <> c.id'),
  ('not exists', 'SELECT count(*) FROM boxes_%s a WHERE NOT EXISTS (SELECT FROM boxes_%s c WHERE a.b && c.b AND a.id <> c.id)');

-- the fastest of three runs, in milliseconds; one, if it is long
CREATE FUNCTION pg_temp.run(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  fastest float8 := 'Infinity';
  start timestamptz;
BEGIN
  FOR i IN 1 .. 3 LOOP
    start := clock_timestamp();
    EXECUTE query;
    fastest := least(fastest, extract(epoch FROM clock_timestamp() - start) * 1000);
    EXIT WHEN fastest > 500;
  END LOOP;
  RETURN fastest;
END $$;

-- the plan's kind of join
CREATE FUNCTION pg_temp.kind_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  kind text := 'scan loop';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    IF line ~ 'BVH Join' THEN
      kind := 'BVH Join';
    ELSIF line ~ '(Index|Bitmap Index|Index Only) Scan' THEN
      kind := 'index loop';
    END IF;
  END LOOP;
  RETURN kind;
END $$;

CREATE FUNCTION pg_temp.times(query text, with_scan boolean, OUT bvh_join float8, OUT index_loop float8, OUT scan_loop float8, OUT chosen text) LANGUAGE plpgsql AS $$
BEGIN
  chosen := pg_temp.kind_of(query);
  SET LOCAL enable_nestloop = off;
  bvh_join := pg_temp.run(query);
  SET LOCAL enable_nestloop = on;
  SET LOCAL bvhindex.enable_join = off;
  index_loop := pg_temp.run(query);
  IF with_scan THEN
    SET LOCAL enable_indexscan = off;
    SET LOCAL enable_indexonlyscan = off;
    SET LOCAL enable_bitmapscan = off;
    scan_loop := pg_temp.run(query);
    SET LOCAL enable_indexscan = on;
    SET LOCAL enable_indexonlyscan = on;
    SET LOCAL enable_bitmapscan = on;
  END IF;
  SET LOCAL bvhindex.enable_join = on;
END $$;

SELECT name, n, m, round(bvh_join::numeric, 2) AS bvh_join, round(index_loop::numeric, 2) AS index_loop, round(scan_loop::numeric, 2) AS scan_loop, chosen,
  round((CASE chosen WHEN 'BVH Join' THEN bvh_join WHEN 'index loop' THEN index_loop ELSE scan_loop END / least(bvh_join, index_loop, scan_loop))::numeric, 2) AS times_the_fastest
FROM joins, unnest(:'sizes'::int[]) n, unnest(:'sizes'::int[]) m,
  LATERAL pg_temp.times(format(query, n, m), n::float8 * m <= 1e7) WHERE CASE WHEN name = 'self-join' THEN n = m WHEN name IN ('overlap', 'distance') THEN n <= m ELSE true END
ORDER BY joins.ctid, n, m;
