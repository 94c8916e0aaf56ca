-- Shared by the pgTAP files: forces access paths and compares their answers.
-- Use it between BEGIN and ROLLBACK:  \i test/pgtap/include/agree.sql
-- The access method under test is gist, or what the variable "method" says before.
--
-- Random tests print their seed; SEED=... in the environment repeats a run.

\if :{?method}
\else
\set method gist
\endif
SELECT set_config('test.method', :'method', false) \g /dev/null

\set seed `echo "${SEED:-$$}"`
SELECT diag('SEED=' || :seed);
SELECT setseed((:seed % 1000003) / 1000003.0) \g /dev/null

-- a forced plan has a huge cost, for which every statement would be compiled
SET jit = off;
SET max_parallel_workers_per_gather = 0;

-- method(): the access method, for where variables of psql do not reach
CREATE FUNCTION method() RETURNS text LANGUAGE sql STABLE AS
$$ SELECT current_setting('test.method') $$;

-- use_path(path): let the planner choose nothing else.  seq, index, only
-- (index-only scan), bitmap; any is the default.
CREATE FUNCTION use_path(path text) RETURNS void LANGUAGE sql AS $$
  SELECT set_config('enable_' || s, CASE WHEN path = 'any' OR path = ANY (p) THEN 'on' ELSE 'off' END, false)
  FROM (VALUES ('seqscan', ARRAY['seq']),
               ('indexscan', ARRAY['index', 'only']),
               ('indexonlyscan', ARRAY['only']),
               ('bitmapscan', ARRAY['bitmap'])) v(s, p)
$$;

-- plan_of(query): the text of EXPLAIN
CREATE FUNCTION plan_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  line text;
  plan text := '';
BEGIN
  FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
    plan := plan || line || E'\n';
  END LOOP;
  RETURN plan;
END $$;

-- differs(query, path, plan): NULL if the query gives the same rows, in any order,
-- as a sequential scan, by a plan that the regular expression matches
CREATE FUNCTION differs(query text, path text, plan text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  digest text := 'SELECT count(*) || '' rows, '' || coalesce(sum(hashtextextended(s::text, 0)), 0) FROM (' || query || ') s';
  want text;
  got text;
  used text;
BEGIN
  PERFORM use_path('seq');
  EXECUTE digest INTO want;
  PERFORM use_path(path);
  EXECUTE digest INTO got;
  used := plan_of(query);
  PERFORM use_path('any');
  IF used !~ plan THEN
    RETURN format('%s: plan %s', query, used);
  ELSIF got <> want THEN
    RETURN format('%s: %s; sequentially %s', query, got, want);
  END IF;
  RETURN NULL;
END $$;

-- estimate_of(query): the planner's number of rows
CREATE FUNCTION estimate_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  plan json;
BEGIN
  EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
  RETURN plan #>> '{0,Plan,Plan Rows}';
END $$;

-- index_pages(query): pages of the index that a query reads, with a bitmap scan,
-- whose node counts nothing else
CREATE FUNCTION index_pages(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  plan json;
  pages bigint;
BEGIN
  PERFORM use_path('bitmap');
  EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
  PERFORM use_path('any');
  WITH RECURSIVE node(n) AS (
    SELECT plan #> '{0,Plan}'
    UNION ALL
    SELECT json_array_elements(n -> 'Plans') FROM node)
  SELECT sum((n ->> 'Shared Hit Blocks')::bigint + (n ->> 'Shared Read Blocks')::bigint +
             (n ->> 'Local Hit Blocks')::bigint + (n ->> 'Local Read Blocks')::bigint)
    INTO pages FROM node WHERE n ->> 'Node Type' = 'Bitmap Index Scan';
  IF pages IS NULL THEN
    RAISE EXCEPTION 'no bitmap index scan: %', plan;
  END IF;
  RETURN pages;
END $$;

-- relation_pages(rel): size in pages
CREATE FUNCTION relation_pages(rel regclass) RETURNS int LANGUAGE sql AS
$$ SELECT (pg_relation_size(rel) / current_setting('block_size')::int)::int $$;

-- the search operators between boxes of the operator class; read, so that none is
-- forgotten
CREATE VIEW search_operators AS
  SELECT s.amopstrategy AS strategy, o.oprname AS name,
         format('OPERATOR(%I.%s)', n.nspname, o.oprname) AS op, o.oprcode AS function
  FROM pg_opclass c
  JOIN pg_am a ON a.oid = c.opcmethod AND a.amname = method()
  JOIN pg_amop s ON s.amopfamily = c.opcfamily AND s.amoppurpose = 's' AND s.amoprighttype = c.opcintype
  JOIN pg_operator o ON o.oid = s.amopopr
  JOIN pg_namespace n ON n.oid = o.oprnamespace
  WHERE c.opcname = 'box3d_ops';

-- unsound(): what bvh_check() finds, in every index that it can check
CREATE FUNCTION unsound() RETURNS SETOF text LANGUAGE sql AS $$
  SELECT format('%s, invariant %s, block %s: %s', c.relname, k.invariant, k.block, k.problem)
  FROM pg_class c
  JOIN pg_index i ON i.indexrelid = c.oid AND i.indnkeyatts = 1
  JOIN pg_opclass o ON o.oid = i.indclass[0] AND o.opcname = 'box3d_ops'
  JOIN pg_am a ON a.oid = o.opcmethod AND a.amname = method(), LATERAL bvh_check(c.oid, true) k
  WHERE c.relkind = 'i'
$$;

-- queries_for(tbl): fills the table "queries" with boxes that are likely to be
-- on a border of something in tbl: its own boxes, their corners, boxes between
-- two of them, and what reaches to infinity
CREATE TABLE queries (id int, b box3d NOT NULL);
CREATE FUNCTION queries_for(tbl regclass, nrows int DEFAULT 3) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE queries;
  EXECUTE format($sql$
    INSERT INTO queries
    WITH n AS (SELECT count(b) AS n FROM %1$s),
         r AS (SELECT b, lead(b) OVER (ORDER BY id) AS c
               FROM (SELECT id, b, row_number() OVER (ORDER BY id) AS i FROM %1$s WHERE b IS NOT NULL) s, n
               WHERE i %% greatest(n / $1, 1) = 1 OR n < $1 LIMIT $1)
    SELECT row_number() OVER (), q FROM (
      SELECT b AS q FROM r
      UNION ALL SELECT box3d(box3d_lower(b), box3d_lower(b)) FROM r
      UNION ALL SELECT b + c FROM r
      UNION ALL SELECT box3d(box3d_upper(b), box3d_upper(c)) FROM r
      UNION ALL SELECT box3d(box3d_center(b), box3d_center(c)) FROM r
      UNION ALL SELECT b * c FROM r
      UNION ALL VALUES
        ('(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)'::box3d),
        ('(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,0)'),
        ('(5,-Infinity,-Infinity),(Infinity,Infinity,Infinity)'),
        ('(0,0,0)'), ('(1e6,0.5,0.5),(2e6,0.6,0.6)'),
        ('(Infinity,Infinity,Infinity)'), ('(-Infinity,0,0)')) s
    WHERE q IS NOT NULL$sql$, tbl) USING nrows;
END $$;

-- disagreements(tbl, index, paths, simd): where an index and a sequential scan
-- of tbl(id, b) answer differently, or where the index was not used.  All
-- queries of the table "queries", all operators, each of the paths and
-- instruction sets.
CREATE FUNCTION disagreements(tbl regclass, index name, paths text[] DEFAULT '{index,bitmap,only}',
                              simd text[] DEFAULT '{auto}', filter text DEFAULT 'true')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  o record;
  path text;
  level text;
  query text;
  plan text;
  want record;
  got record;
  wrong box3d;
  expected_plan text;
BEGIN
  FOR o IN SELECT * FROM search_operators ORDER BY strategy LOOP
    -- the boxes show what an index-only scan returns; the ids tell equal boxes apart
    PERFORM use_path('seq');
    EXECUTE format('SELECT count(*) AS n, sum(s.h) AS ids, sum(s.g) AS boxes FROM queries q,
      LATERAL (SELECT hashint8extended(t.id, q.id) AS h, box3d_hash_extended(t.b, q.id) AS g
               FROM %s t WHERE t.b %s q.b AND (%s) OFFSET 0) s', tbl, o.op, filter) INTO want;
    FOREACH path IN ARRAY paths LOOP
      PERFORM use_path(path);
      query := format('SELECT count(*) AS n, sum(s.h) AS hash FROM queries q,
        LATERAL (SELECT %s AS h FROM %s t WHERE t.b %s q.b AND (%s) OFFSET 0) s',
        CASE path WHEN 'only' THEN 'box3d_hash_extended(t.b, q.id)' ELSE 'hashint8extended(t.id, q.id)' END,
        tbl, o.op, filter);
      expected_plan := CASE path WHEN 'index' THEN 'Index Scan using ' WHEN 'only' THEN 'Index Only Scan using '
                                 ELSE 'Bitmap Index Scan on ' END || index;
      FOREACH level IN ARRAY simd LOOP
        PERFORM set_config('bvhindex.simd', level, false);
        EXECUTE query INTO got;
        IF (got.n, got.hash) IS DISTINCT FROM
           (want.n, CASE path WHEN 'only' THEN want.boxes ELSE want.ids END) THEN
          -- the function itself never uses an index
          EXECUTE format('SELECT q.b FROM queries q WHERE
            (SELECT count(*) FROM %1$s t WHERE t.b %2$s q.b AND (%3$s)) <>
            (SELECT count(*) FROM %1$s t WHERE %4$s(t.b, q.b) AND (%3$s)) ORDER BY q.id LIMIT 1',
            tbl, o.op, filter, o.function) INTO wrong;
          RETURN NEXT format('%s, %s, simd %s: %s rows, sequential %s; first for %s', o.name, path, level, got.n, want.n, wrong);
        END IF;
      END LOOP;
      plan := plan_of(query);
      IF strpos(plan, expected_plan) = 0 OR strpos(plan, 'Index Cond: (b ' || o.name || ' q.b)') = 0 THEN
        RETURN NEXT format('%s, %s: the index is not used: %s', o.name, path, plan);
      END IF;
    END LOOP;
  END LOOP;
  PERFORM set_config('bvhindex.simd', 'auto', false), use_path('any');
END $$;

-- every level of bvhindex.simd on this machine
CREATE FUNCTION simd_levels() RETURNS text[] LANGUAGE sql AS
$$ SELECT array_agg(l) FROM bvh_simd_available() l $$;

CREATE FUNCTION sorted(int[]) RETURNS int[] LANGUAGE sql AS
$$ SELECT array_agg(i ORDER BY i) FROM unnest($1) i $$;

-- nearest_disagreements(tbl, index, ...): likewise for ORDER BY b <-> query.
-- Distances must be the same bits in the same order, rows without a box last;
-- with a limit, the rows nearer than the last must be the same too.
CREATE FUNCTION nearest_disagreements(tbl regclass, index name, paths text[] DEFAULT '{index,only}',
                                      simd text[] DEFAULT '{auto}', filter text DEFAULT 'true',
                                      row_limit int DEFAULT NULL)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  q record;
  path text;
  level text;
  query text;
  plan text;
  want record;
  got record;
  -- each with an order of its own: since 16 the input is sorted for one of them
  bytes text := 'array_agg(coalesce(float8send(d), ''\x'') ORDER BY place) AS d';
  -- not sorted here: the planner would sort the input, for the other aggregate too
  ids text := 'array_agg(id) FILTER (WHERE d < last) AS ids';
BEGIN
  FOR q IN SELECT * FROM queries ORDER BY id LOOP
    query := format('SELECT %5$s, %6$s FROM (SELECT *, row_number() OVER () AS place, max(d) OVER () AS last FROM (
        SELECT <id> AS id, t.b <-> %1$L::box3d AS d FROM %2$s t WHERE %3$s ORDER BY t.b <-> %1$L::box3d LIMIT %4$s) r) s',
      q.b, tbl, filter, coalesce(row_limit::text, 'ALL'), bytes, ids);
    PERFORM use_path('seq');
    EXECUTE replace(query, '<id>', 't.id') INTO want;
    FOREACH path IN ARRAY paths LOOP
      PERFORM use_path(path);
      FOREACH level IN ARRAY simd LOOP
        PERFORM set_config('bvhindex.simd', level, false);
        EXECUTE replace(query, '<id>', CASE path WHEN 'only' THEN '0' ELSE 't.id' END) INTO got;
        IF got.d IS DISTINCT FROM want.d OR (path = 'index' AND sorted(got.ids) IS DISTINCT FROM sorted(want.ids)) THEN
          RETURN NEXT format('%s, %s, simd %s: %s rows, sorted %s rows', q.b, path, level,
                             cardinality(got.d), cardinality(want.d));
        END IF;
      END LOOP;
    END LOOP;
  END LOOP;
  FOREACH path IN ARRAY paths LOOP
    PERFORM use_path(path);
    plan := plan_of(replace(query, '<id>', CASE path WHEN 'only' THEN '0' ELSE 't.id' END));
    IF strpos(plan, CASE path WHEN 'only' THEN 'Index Only Scan using ' ELSE 'Index Scan using ' END || index) = 0
       OR strpos(plan, 'Order By: (b <-> ') = 0 OR plan ~ 'Sort Key: \(*(t\.)?b <->' THEN
      RETURN NEXT format('%s: the index is not used: %s', path, plan);
    END IF;
  END LOOP;
  PERFORM set_config('bvhindex.simd', 'auto', false), use_path('any');
END $$;
