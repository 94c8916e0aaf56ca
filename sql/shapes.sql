-- Text forms of sphere3d and planes3d, what is refused, and plans.

SELECT '<(1,2,3),4>'::sphere3d, '(1,2,3),4'::sphere3d, sphere3d(1,2,3, 'Infinity');
SELECT E' < ( -0 ,\t0.1 , 1e300 ) , 5e-324 > '::sphere3d AS spaces;
SELECT '<(1,2),3>'::sphere3d;
SELECT '<(1,2,3),4'::sphere3d;
SELECT '<(1,2,3),4>5'::sphere3d;
SELECT '<(1,2,3),NaN>'::sphere3d;
SELECT '<(1,2,3),-1>'::sphere3d;
SELECT '<(1,2,3),1e400>'::sphere3d;
SELECT sphere3d(1,2,'Infinity', 4);
SELECT sphere3d(1,2,3, 'NaN');
SELECT sphere3d(1,2,3, -4);

SELECT '{(1,2,3,4)}'::planes3d, ' { (1,0,0,5) , (-1,-0,0,-0) } '::planes3d;
SELECT planes3d(ARRAY[[1,0,0,5],[0,1,0,6]]), planes3d('{1,0,0,5}'::float8[]);
SELECT planes3d_to_array('{(1,0,0,5),(0,1,0,6)}');
SELECT '{}'::planes3d;
SELECT '{(1,2,3)}'::planes3d;
SELECT '{(0,0,0,1)}'::planes3d;
SELECT '{(1,0,0,Infinity)}'::planes3d;
SELECT ('{' || repeat('(1,2,3,4),', 32) || '(1,2,3,4)}')::planes3d;
SELECT planes3d('{}'::float8[]);
SELECT planes3d('{1,2,3,4,5}'::float8[]);
SELECT planes3d('{1,2,3,NULL}'::float8[]);
SELECT planes3d(ARRAY[[1,2],[3,4]]);
SELECT planes3d('{0,0,0,1}'::float8[]);
SELECT planes3d(array_fill(1::float8, ARRAY[33, 4]));

-- a view from the origin along -z, 90 degrees wide, from 1 to 3
SELECT planes3d_frustum('{1,0,0,0, 0,1,0,0, 0,0,-2,-1, 0,0,-3,0}');
SELECT planes3d_frustum('{1,0,0,0, 0,1,0,0, 0,0,-2,-3, 0,0,-1,0}', row_major => true)
     = planes3d_frustum('{1,0,0,0, 0,1,0,0, 0,0,-2,-1, 0,0,-3,0}') AS same;
-- endless
SELECT planes3d_frustum('{1,0,0,0, 0,1,0,0, 0,0,-1,-1, 0,0,-1,0}', zero_to_one => true);
SELECT planes3d_frustum('{1,2,3}');
SELECT planes3d_frustum(array_fill(0::float8, ARRAY[16]));
SELECT planes3d_frustum('{NaN,0,0,0, 0,1,0,0, 0,0,-2,-1, 0,0,-3,0}');

SELECT b && sphere3d(0,0,0, 5) AS meets, b <@ sphere3d(0,0,0, 5) AS within, b && p AS seen, b <@ p AS wholly
FROM (VALUES ('(3,4,0),(9,9,9)'::box3d), ('(-3,-4,0),(3,4,0)'), ('(3,4,0.1),(9,9,9)'), ('(0,0,0),(4,4,4)')) v(b),
  (SELECT planes3d(ARRAY[[1,1,0,7],[0,0,-1,0]]) AS p) s;
SELECT box3d(0,0,0) <-> box3d(1,2,2) AS euclidean, box3d(0,0,0) <#> box3d(1,2,2) AS taxicab, box3d(0,0,0) <=> box3d(1,2,2) AS chebyshev;

CREATE TABLE seen AS SELECT i AS id, box3d(i, 0, 0, i + 0.5, 1, 1) AS b FROM generate_series(1, 2000) i;
CREATE INDEX ON seen USING bvh (b);
ANALYZE seen;
EXPLAIN (COSTS OFF) SELECT id FROM seen WHERE b && sphere3d(7,0,0, 2);
EXPLAIN (COSTS OFF) SELECT id FROM seen WHERE planes3d(ARRAY[[1,0,0,7]]) @> b;
EXPLAIN (COSTS OFF) SELECT id FROM seen ORDER BY b <#> box3d(7,2,0) LIMIT 3;
SELECT id, b <#> box3d(7,2,0) AS d FROM seen ORDER BY b <#> box3d(7,2,0) LIMIT 2;
SELECT id FROM seen WHERE b && sphere3d(7,0,0, 2) ORDER BY id;
SELECT id FROM seen WHERE planes3d(ARRAY[[1,0,0,4]]) @> b ORDER BY id;
DROP TABLE seen;

-- rows in brackets are rows
SELECT planes3d_frustum(ARRAY[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]);
SELECT planes3d_frustum(ARRAY[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], row_major => true)
  = planes3d_frustum(ARRAY[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]) AS same;
