-- Text forms of box3d, and what is refused.

-- two corners, in any order, come out as lower and upper
SELECT '(0,0,0),(1,2,3)'::box3d;
SELECT '(1,0,3),(0,2,0)'::box3d;
-- outer parentheses and brackets, a point, white space
SELECT '((0,0,0),(1,2,3))'::box3d AS parentheses,
       '[(0,0,0),(1,2,3)]'::box3d AS brackets,
       '(1,2,3)'::box3d AS point,
       E' ( 0 ,\t0 , 0 )\n, ( 1 , 2 , 3 ) '::box3d AS spaces;
-- as PostGIS writes it
SELECT 'BOX3D(0 0 0,1 2 3)'::box3d, 'box3d ( 1 2 3 , 0 0 0 )'::box3d;
-- no digit of a corner is lost when corners change places
SELECT '(1.23456789012345,0,0),(1,0,0)'::box3d;
SELECT 'BOX3D(1.23456789012345 0 0,1 0 0)'::box3d;
-- infinite sides, denormals, -0
SELECT '(-Infinity,-inf,0),(Infinity,inf,5e-324)'::box3d;
SELECT '(-0,-0.0,0),(-0,0,-0e5)'::box3d;
-- shortest exact digits, and fewer when asked for
SELECT '(0.1,0.30000000000000004,1e300)'::box3d;
SET extra_float_digits = 0;
SELECT '(0.1,0.30000000000000004,1e300)'::box3d;
RESET extra_float_digits;
-- arrays have the ordinary delimiter
SELECT ARRAY['(0,0,0),(1,1,1)', '(1,2,3)']::box3d[];
SELECT '{"(0,0,0),(1,1,1)","(1,2,3)"}'::box3d[];

-- not the text of a box
SELECT ''::box3d;
SELECT '(0,0,0),(1,1,1)xyz'::box3d;
SELECT '(0,0),(1,1)'::box3d;
SELECT '(0,0,0,0),(1,1,1,1)'::box3d;
SELECT '(0,0,0)(1,1,1)'::box3d;
SELECT '(0,0,0),(1,1,1),(2,2,2)'::box3d;
SELECT '(0,0,zero),(1,1,1)'::box3d;
SELECT '((0,0,0),(1,1,1)'::box3d;
SELECT '[(0,0,0),(1,1,1))'::box3d;
SELECT '0,0,0'::box3d;
SELECT 'BOX3D(0 0,1 1)'::box3d;
SELECT 'BOX3D(0 0 0,1 1 1)xyz'::box3d;
SELECT 'LINESTRING Z(0 0 0,1 1 1)'::box3d;
-- not a number, by any spelling
SELECT '(NaN,0,0),(1,1,1)'::box3d;
SELECT '(0,0,-nan(7))'::box3d;
-- more than float8 can hold
SELECT '(1e400,0,0),(1,1,1)'::box3d;
SELECT '(0,1e-400,0)'::box3d;

-- nothing of a refused row is stored
CREATE TABLE io (b box3d);
INSERT INTO io VALUES ('(0,0,0)'), ('(0,0,nan)');
SELECT count(*) FROM io;
-- COPY names the line and the column
COPY io FROM STDIN;
(0,0,0),(1,1,1)
(0,0,0),(1,1
\.
SELECT count(*) FROM io;
DROP TABLE io;
