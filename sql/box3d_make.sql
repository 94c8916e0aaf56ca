-- Constructors, parts and casts of box3d.

SELECT box3d(0, 0, 0, 1, 2, 3), box3d(1, 2, 3, 0, 0, 0), box3d(1, 2, 3);
SELECT box3d(ARRAY[0, 0, 0], ARRAY[1, 2, 3]);
SELECT box3d(2, 5, 0, 1, 3, 9) = box3d(1, 3, 0, 2, 5, 9) AS same;
SELECT box3d(ARRAY[0, 0, 0, 1, 2, 3]), ARRAY[3, 2, 1, 0, 0, 0]::float8[]::box3d;
SELECT box3d(0, 0, 0, 1, 2, 3)::float8[];

SELECT box3d_xmin(b), box3d_ymin(b), box3d_zmin(b), box3d_xmax(b), box3d_ymax(b), box3d_zmax(b)
FROM (VALUES (box3d(1, 2, 3, 4, 5, 6))) v (b);
SELECT box3d_lower(b), box3d_upper(b), box3d_center(b), box3d_size(b), box3d_is_point(b)
FROM (VALUES (box3d(1, 2, 3, 4, 6, 3)),
             (box3d(1, 2, 3)),
             (box3d('-Infinity', '-Infinity', 0, 'Infinity', 0, 'Infinity')),
             (box3d('Infinity', 0, 0))) v (b);

-- NaN has no way in
SELECT box3d('NaN', 0, 0, 1, 1, 1);
SELECT box3d(0, 'NaN', 0);
SELECT box3d(ARRAY[0, 0, 0], '{1,NaN,1}');
SELECT ARRAY[0, 0, 0, 1, 1, 'NaN']::float8[]::box3d;
-- exactly three numbers a corner, six for a box
SELECT box3d(ARRAY[0, 0], ARRAY[1, 1]);
SELECT box3d(ARRAY[0, 0, 0], ARRAY[1, 1, 1, 1]);
SELECT box3d(ARRAY[0, 0, NULL], ARRAY[1, 1, 1]);
SELECT ARRAY[0, 0, 0, 1, 1]::float8[]::box3d;
SELECT '{}'::float8[]::box3d;
-- NULL in, NULL out
SELECT box3d(0, 0, NULL) IS NULL AS point, box3d(NULL, ARRAY[1, 1, 1]) IS NULL AS corner;
-- no implicit casts (the words are PostgreSQL's)
\set VERBOSITY sqlstate
SELECT ARRAY[0, 0, 0, 1, 1, 1]::float8[] && box3d(0, 0, 0);
\set VERBOSITY default
SELECT castcontext FROM pg_cast WHERE 'box3d'::regtype IN (castsource, casttarget);
