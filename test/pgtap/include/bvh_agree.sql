-- For tests of the access method, after agree.sql: the search operators are those
-- of the bvh operator class, and indexes are checked page by page.

CREATE OR REPLACE VIEW search_operators AS
  SELECT s.amopstrategy AS strategy, o.oprname AS name,
         format('OPERATOR(%I.%s)', n.nspname, o.oprname) AS op, o.oprcode AS function
  FROM pg_opclass c
  JOIN pg_am a ON a.oid = c.opcmethod AND a.amname = 'bvh'
  JOIN pg_amop s ON s.amopfamily = c.opcfamily AND s.amoppurpose = 's'
  JOIN pg_operator o ON o.oid = s.amopopr
  JOIN pg_namespace n ON n.oid = o.oprnamespace
  WHERE c.opcname = 'box3d_ops';

-- unsound(): what bvh_check() finds, in every bvh index that there is
CREATE FUNCTION unsound() RETURNS SETOF text LANGUAGE sql AS $$
  SELECT format('%s, invariant %s, block %s: %s', c.relname, k.invariant, k.block, k.problem)
  FROM pg_class c JOIN pg_am a ON a.oid = c.relam AND a.amname = 'bvh', LATERAL bvh_check(c.oid, true) k
  WHERE c.relkind = 'i'
$$;

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

-- two_condition_disagreements(tbl, index, npairs): likewise for random pairs of
-- conditions, which a scan has as two keys; every operator is in some of them.
-- (The planner itself sees that a box cannot equal two others.)
CREATE FUNCTION two_condition_disagreements(tbl regclass, index name, npairs int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  pair record;
  found text;
BEGIN
  FOR pair IN SELECT o.op AS op1, p.op AS op2, q.b AS q1, r.b AS q2
              FROM search_operators o, LATERAL (SELECT * FROM search_operators WHERE o.name <> '=' OR name <> '=' ORDER BY random() LIMIT npairs) p,
                   LATERAL (SELECT * FROM queries WHERE o.op || p.op <> '' ORDER BY random() LIMIT 1) q,
                   LATERAL (SELECT * FROM queries WHERE o.op || p.op <> '' ORDER BY random() LIMIT 1) r LOOP
    found := differs(format('SELECT id FROM %s WHERE b %s %L AND b %s %L', tbl, pair.op1, pair.q1, pair.op2, pair.q2),
                     (ARRAY['index', 'bitmap'])[1 + (random() * 1)::int], index || '.*Index Cond: \(.* AND ');
    IF found IS NOT NULL THEN
      RETURN NEXT found;
    END IF;
  END LOOP;
END $$;
