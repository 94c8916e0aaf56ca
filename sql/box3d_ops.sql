-- Operators of box3d: truth tables.

-- along each axis, a = 0..1, b = 1..2 (touching), c = 1.5..3
CREATE TABLE axis (name text, box box3d, d text);
INSERT INTO axis
SELECT n, CASE d WHEN 'x' THEN box3d(lo, 0, 0, hi, 9, 9)
                 WHEN 'y' THEN box3d(0, lo, 0, 9, hi, 9)
                 ELSE box3d(0, 0, lo, 9, 9, hi) END, d
FROM (VALUES ('a', 0, 1), ('b', 1, 2), ('c', 1.5, 3)) v (n, lo, hi), (VALUES ('x'), ('y'), ('z')) w (d);
SELECT l.name AS l, r.name AS r, l.box << r.box AS "<<", l.box &< r.box AS "&<", l.box &> r.box AS "&>", l.box >> r.box AS ">>"
FROM axis l JOIN axis r USING (d) WHERE d = 'x' ORDER BY 1, 2;
SELECT l.name AS l, r.name AS r, l.box <<| r.box AS "<<|", l.box &<| r.box AS "&<|", l.box |&> r.box AS "|&>", l.box |>> r.box AS "|>>"
FROM axis l JOIN axis r USING (d) WHERE d = 'y' ORDER BY 1, 2;
SELECT l.name AS l, r.name AS r, l.box <</ r.box AS "<</", l.box &</ r.box AS "&</", l.box /&> r.box AS "/&>", l.box />> r.box AS "/>>"
FROM axis l JOIN axis r USING (d) WHERE d = 'z' ORDER BY 1, 2;
DROP TABLE axis;

-- overlap, strict overlap, containment, equality
SELECT what, a && b AS "&&", a &&+ b AS "&&+", a @> b AS "@>", a <@ b AS "<@", a ~= b AS "~=", a = b AS "="
FROM (VALUES
  ('apart in z', box3d(0, 0, 0, 1, 1, 1), box3d(0, 0, 5, 1, 1, 6)),
  ('shared face', box3d(0, 0, 0, 1, 1, 1), box3d(1, 0, 0, 2, 1, 1)),
  ('shared corner', box3d(0, 0, 0, 1, 1, 1), box3d(1, 1, 1, 2, 2, 2)),
  ('overlap', box3d(0, 0, 0, 2, 2, 2), box3d(1, 1, 1, 3, 3, 3)),
  ('inside', box3d(0, 0, 0, 3, 3, 3), box3d(1, 1, 1, 2, 2, 2)),
  ('inside, on the border', box3d(0, 0, 0, 3, 3, 3), box3d(0, 1, 1, 0, 2, 2)),
  ('equal', box3d(0, 0, 0, 1, 1, 1), box3d(0, 0, 0, 1, 1, 1)),
  ('same point', box3d(1, 2, 3), box3d(1, 2, 3)),
  ('flat through a box', box3d(0, 0, 0, 2, 2, 2), box3d(1, -1, -1, 1, 3, 3)),
  ('infinite', box3d('-Infinity', 0, 0, 'Infinity', 1, 1), box3d(1e300, 1, 1, 2e300, 2, 2))) v (what, a, b);
-- exact where float4 is not
SELECT box3d(16777217, 0, 0) && box3d(16777216, 0, 0) AS integers, box3d(0.1, 0, 0) && box3d(0.1000000001, 0, 0) AS fractions;

-- sorting: lower corner, then upper corner
SELECT b FROM (VALUES (box3d(0, 0, 1)), (box3d(0, 0, 0, 5, 5, 5)), (box3d(-1, 9, 9)), (box3d(0, 0, 0)), (NULL),
                      (box3d('-Infinity', 0, 0, 0, 0, 0))) v (b) ORDER BY b;
SELECT a < b AS "<", a <= b AS "<=", a = b AS "=", a <> b AS "<>", a >= b AS ">=", a > b AS ">"
FROM (VALUES (box3d(0, 0, 0), box3d(0, 0, 0, 1, 1, 1)), (box3d(0, 0, 0), box3d(0, 0, 0)), (box3d(1, 0, 0), box3d(0, 9, 9))) v (a, b);
SELECT box3d_cmp(box3d(0, 0, 0), box3d(0, 0, 1)), box3d_cmp(box3d(0, 0, 0), box3d(0, 0, 0)), box3d_cmp(box3d(0, 1, 0), box3d(0, 0, 0));
-- -0 is 0, for every way to group
SELECT box3d(0, 0, 0) = box3d(-0.0::float8, -0.0::float8, -0.0::float8) AS equal,
       box3d_hash(box3d(0, 0, 0)) = box3d_hash(box3d(-0.0::float8, 0, 0)) AS hash_equal;
SELECT b, count(*) FROM (VALUES (box3d(0, 0, 0)), (box3d('-0', 0, 0)), (box3d(1, 1, 1))) v (b) GROUP BY b ORDER BY b;
