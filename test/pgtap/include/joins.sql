-- A BVH join answers as a nested loop does: what tests of that have in common.  After
-- agree.sql; the caller makes the tables a(id, b, k, s) and c(id, b, k, t).

-- by_nested_loop(query): one value, without any BVH join
CREATE FUNCTION by_nested_loop(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  SET LOCAL bvhindex.enable_join = off;
  EXECUTE query INTO answer;
  SET LOCAL bvhindex.enable_join = on;
  RETURN answer;
END $$;
-- agrees(query, plan, name): a query of one value gives that by a plan that matches
CREATE FUNCTION agrees(query text, plan text, name text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE query INTO answer;
  RETURN NEXT is(answer, by_nested_loop(query), name);
  RETURN NEXT matches(plan_of(query), plan, name || ': plan');
END $$;

-- use_join(join): bvh, nested (a plain nested loop), or any
CREATE FUNCTION use_join(how text) RETURNS void LANGUAGE sql AS $$
  SELECT set_config('bvhindex.enable_join', CASE WHEN how = 'nested' THEN 'off' ELSE 'on' END, false),
         set_config('enable_nestloop', CASE WHEN how = 'bvh' THEN 'off' ELSE 'on' END, false),
         set_config('enable_hashjoin', CASE WHEN how = 'any' THEN 'on' ELSE 'off' END, false),
         set_config('enable_mergejoin', CASE WHEN how = 'any' THEN 'on' ELSE 'off' END, false)
$$;

CREATE FUNCTION digest_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  digest text;
BEGIN
  EXECUTE 'SELECT count(*) || '' rows, '' || coalesce(sum(hashtextextended(s::text, 0)), 0) FROM (' || query || ') s' INTO digest;
  RETURN digest;
END $$;

-- join_differs(query, type, memories, levels): NULL if a BVH join of that type gives
-- the same rows as a nested loop
CREATE FUNCTION join_differs(query text, type text, memories text[] DEFAULT '{4MB}', levels text[] DEFAULT '{auto}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  want text;
  got text;
  used text;
  memory text;
  level text;
BEGIN
  PERFORM use_join('nested');
  want := digest_of(query);
  PERFORM use_join('bvh');
  used := plan_of(query);
  IF used !~ ('Custom Scan \(BVH Join\)\s+(Disabled: true\s+)?Join Type: ' || type) THEN
    RETURN format('%s: plan %s', query, used);
  END IF;
  FOREACH memory IN ARRAY memories LOOP
    PERFORM set_config('work_mem', memory, true);
    FOREACH level IN ARRAY levels LOOP
      PERFORM set_config('bvhindex.simd', level, true);
      got := digest_of(query);
      IF got <> want THEN
        RETURN format('%s, work_mem %s, %s: %s; by a nested loop %s', query, memory, level, got, want);
      END IF;
    END LOOP;
  END LOOP;
  PERFORM set_config('work_mem', '4MB', true), set_config('bvhindex.simd', 'auto', true), use_join('any');
  RETURN NULL;
END $$;

-- passes_of(query): of its BVH join, and with it kB of memory
CREATE FUNCTION passes_of(query text, OUT passes int, OUT memory int) LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  WITH RECURSIVE node(n) AS (
    SELECT plan #> '{0,Plan}'
    UNION ALL
    SELECT json_array_elements(n -> 'Plans') FROM node)
  SELECT (n ->> 'Passes')::int, (n ->> 'Peak Memory Usage')::int INTO passes, memory FROM node WHERE n ->> 'Custom Plan Provider' = 'BVH Join';
END $$;

CREATE TABLE join_shapes (type text, query text);
INSERT INTO join_shapes VALUES
  ('Inner', 'SELECT a.id, c.id AS cid, a.s FROM a JOIN c ON %s'),
  ('Inner', 'SELECT a.id, c.id AS cid, a.b, c.t FROM a JOIN c ON %s AND a.k <= c.k'),
  ('Inner', 'SELECT 1 FROM a JOIN c ON %s'),
  ('Left', 'SELECT a.id, a.s, c.id AS cid, c.t FROM a LEFT JOIN c ON %s'),
  ('Left', 'SELECT a.id, c.id AS cid FROM a LEFT JOIN c ON %s AND a.k < c.k WHERE c.id IS NULL OR a.id %% 2 = 0'),
  ('Left', 'SELECT a.id, c.id AS cid, a.b FROM c LEFT JOIN a ON %s AND a.k > 1'),
  ('Semi', 'SELECT a.id, a.b FROM a WHERE EXISTS (SELECT FROM c WHERE %s)'),
  ('Semi', 'SELECT c.id, c.t FROM c WHERE EXISTS (SELECT FROM a WHERE %s AND a.k < c.k)'),
  ('Anti', 'SELECT a.id, a.s FROM a WHERE NOT EXISTS (SELECT FROM c WHERE %s)'),
  ('Anti', 'SELECT c.id FROM c WHERE NOT EXISTS (SELECT FROM a WHERE %s AND a.k < c.k)');

-- join_disagreements(condition, memories): what differs for any of these shapes
CREATE FUNCTION join_disagreements(condition text, memories text[] DEFAULT '{4MB}', levels text[] DEFAULT '{auto}') RETURNS SETOF text LANGUAGE sql AS $$
  SELECT d FROM join_shapes, LATERAL join_differs(format(query, condition), type, memories, levels) d WHERE d IS NOT NULL
$$;
