-- plans and EXPLAIN of the BVH join
CREATE TABLE parts (id int PRIMARY KEY, kind text, box box3d);
INSERT INTO parts SELECT i, CASE WHEN i % 3 = 0 THEN 'pipe' ELSE 'wall' END, box3d(i % 20, i / 20 % 20, i / 400, i % 20 + 0.5, i / 20 % 20 + 0.75, i / 400 + 1)
FROM generate_series(0, 999) i;
ANALYZE parts;

-- the first query of a session has it, too
\c -
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM parts a JOIN parts b ON a.box && b.box AND a.id < b.id;
\c -
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts a JOIN parts b ON a.box ~= b.box;
\c -
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts a JOIN parts b ON box3d_dwithin(a.box, b.box, 0.25);

-- kinds of joins
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM parts a LEFT JOIN parts b ON b.box @> a.box AND a.kind <> b.kind WHERE b.id IS NULL OR b.kind = 'pipe';
EXPLAIN (COSTS OFF) SELECT id FROM parts a WHERE EXISTS (SELECT FROM parts b WHERE a.box &&+ b.box AND a.id <> b.id);
EXPLAIN (COSTS OFF) SELECT id FROM parts a WHERE NOT EXISTS (SELECT FROM parts b WHERE box3d_expand(a.box, 0.125) && b.box AND a.id <> b.id);

-- not for equality, which hash joins serve, nor for full joins
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts a JOIN parts b ON a.box = b.box;
SELECT count(*) FROM parts a FULL JOIN parts b ON a.box && b.box;

-- nor for other people's operators of the same name
SELECT count(*) FROM (VALUES (ARRAY[1, 2])) a(t) JOIN (VALUES (ARRAY[2, 3])) c(t) ON a.t && c.t;

-- nor when it is switched off
SET bvhindex.enable_join = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts a JOIN parts b ON a.box && b.box;
RESET bvhindex.enable_join;

-- whatever the names are, and wherever the operators are found
CREATE SCHEMA elsewhere;
ALTER OPERATOR FAMILY box3d_ops USING gist RENAME TO other_ops;
ALTER OPERATOR &&+ (box3d, box3d) SET SCHEMA elsewhere;
EXPLAIN (COSTS OFF) SELECT count(*) FROM parts a JOIN parts b ON a.box OPERATOR(elsewhere.&&+) b.box;
ALTER OPERATOR elsewhere.&&+ (box3d, box3d) SET SCHEMA public;
ALTER OPERATOR FAMILY other_ops USING gist RENAME TO box3d_ops;
DROP SCHEMA elsewhere;

-- values of another table of the query: left to nested loops
EXPLAIN (COSTS OFF) SELECT a.id, n FROM parts a, LATERAL (SELECT count(*) AS n FROM parts b WHERE b.box && box3d_expand(a.box, 1)) l WHERE a.id < 3;

-- EXPLAIN ANALYZE, in every format
CREATE FUNCTION explain(options text, query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  line text;
BEGIN
  FOR line IN EXECUTE format('EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF, TIMING OFF, SUMMARY OFF, %s) %s', options, query) LOOP
    line := regexp_replace(line, '((Memory.Usage|Nodes|Height|Node.Tests)"?(: |>))\d+', '\1N', 'g');
    line := regexp_replace(line, '((rows=|Rows"?[:>] ?)\d+)\.00', '\1', 'g');
    line := regexp_replace(line, '(^|\n)[^\n]*(Disabled|Storage|Maximum)[^\n]*', '', 'g');
    RETURN NEXT line;
  END LOOP;
END $$;
SELECT explain('FORMAT TEXT', 'SELECT a.id, b.id FROM parts a LEFT JOIN parts b ON a.box && b.box AND a.id < b.id WHERE b.kind IS DISTINCT FROM ''pipe''');
SELECT (regexp_matches(line, 'Custom Plan Provider.*?Peak Memory Usage[^\n]*'))[1] FROM explain('FORMAT JSON', 'SELECT count(*) FROM parts a JOIN parts b ON a.box && b.box') line;
SELECT (regexp_matches(line, '<Join-Type>.*?</Peak-Memory-Usage>'))[1] FROM explain('FORMAT XML', 'SELECT count(*) FROM parts a JOIN parts b ON a.box && b.box') line;
SELECT (regexp_matches(line, 'Join Type.*?Peak Memory Usage[^\n]*'))[1] FROM explain('FORMAT YAML', 'SELECT count(*) FROM parts a JOIN parts b ON a.box && b.box') line;

DROP FUNCTION explain;
DROP TABLE parts;
