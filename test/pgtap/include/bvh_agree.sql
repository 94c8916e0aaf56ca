-- For tests of the access method bvh, instead of agree.sql.
\set method bvh
\i test/pgtap/include/agree.sql

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
