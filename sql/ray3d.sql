-- Text forms of ray3d, what is refused, and plans.

-- a ray without end, one that ends, and a box that moves
SELECT '(1,2,3),(4,5,6)'::ray3d, '(1,2,3),(4,5,6),7'::ray3d;
SELECT '((4,2,6),(1,5,3)),(0,0,1),2'::ray3d;
SELECT E' ( 1 ,\t2 , 3 )\n, ( 4 , 5 , 6 ) , 7 '::ray3d AS spaces;
SELECT '(-0,0.1,1e300),(-0,5e-324,0.30000000000000004),-0'::ray3d;
SET extra_float_digits = 0;
SELECT '(0.1,0.30000000000000004,1e300),(1,0,0)'::ray3d;
RESET extra_float_digits;
SELECT ray3d(1,2,3, 0,0,1), ray3d(1,2,3, 0,0,1, 5);
SELECT ray3d_segment(1,2,3, 2,2,5), ray3d_sweep(box3d(0,0,0, 1,1,1), 0,5,0);
-- it may stand still for a while
SELECT ray3d_segment(1,2,3, 1,2,3), '((0,0,0),(1,1,1)),(0,0,0),1'::ray3d;

-- not the text of a ray
SELECT ''::ray3d;
SELECT '(1,2,3)'::ray3d;
SELECT '(1,2),(3,4)'::ray3d;
SELECT '(1,2,3),(1,2,3) 5'::ray3d;
SELECT '(1,2,3),(1,2,3),5,6'::ray3d;
SELECT '((1,2,3)),(1,2,3)'::ray3d;
SELECT '(1,2,3),(1,2,three)'::ray3d;
SELECT '(1e400,2,3),(1,2,3)'::ray3d;
-- no such ray
SELECT '(NaN,2,3),(1,2,3)'::ray3d;
SELECT '(Infinity,2,3),(1,2,3)'::ray3d;
SELECT '(1,2,3),(1,2,Infinity)'::ray3d;
SELECT '(1,2,3),(1,2,3),-1'::ray3d;
SELECT '(1,2,3),(0,0,0)'::ray3d;
SELECT ray3d(1,2,3, 0,0,0, 5);
SELECT ray3d('NaN',2,3, 0,0,1);
SELECT ray3d(1,2,3, 0,0,1, 'NaN');
SELECT ray3d_segment(-1e308,0,0, 1e308,0,0);
SELECT ray3d_sweep('(0,0,0),(1,1,Infinity)', 1,0,0);
SELECT ray3d_at(ray3d(0,0,0, 1,1,1), 'Infinity');
SELECT ray3d_at(ray3d(0,0,0, 1,1,1), 'NaN');

-- what is met, and when
SELECT b && ray3d(0,0,0, 2,1,0) AS meets, b <-> ray3d(0,0,0, 2,1,0) AS t, ray3d(0,0,0, 2,1,0) <-> b AS same
FROM (VALUES ('(2,0,0),(4,2,1)'::box3d), ('(-1,-1,-1),(1,1,1)'), ('(3,0,0),(4,1,1)'), ('(2,2,0),(4,4,0)')) v(b);

CREATE TABLE seen AS SELECT i AS id, box3d(i, 0, 0, i + 0.5, 1, 1) AS b FROM generate_series(1, 1000) i;
CREATE INDEX ON seen USING bvh (b);
ANALYZE seen;
EXPLAIN (COSTS OFF) SELECT id FROM seen WHERE b && ray3d(0,0.5,0.5, 1,0,0) ORDER BY b <-> ray3d(0,0.5,0.5, 1,0,0) LIMIT 1;
SELECT id, b <-> ray3d(10.7,0.5,0.5, 1,0,0) AS t FROM seen
WHERE b && ray3d(10.7,0.5,0.5, 1,0,0) ORDER BY b <-> ray3d(10.7,0.5,0.5, 1,0,0) LIMIT 3;
DROP TABLE seen;

-- a segment reaches what it ends at, whatever the difference of its points is rounded to
SELECT ray3d_segment(0.1, 0, 0, 1.1, 0, 0) && box3d(1.1, -1, -1, 5, 1, 1) AS reaches,
       ray3d_segment(1.1, 0, 0, 0.1, 0, 0) && box3d(1.1, -1, -1, 5, 1, 1) AS starts_there;
SELECT setseed(0.5) \g /dev/null
SELECT count(*) FILTER (WHERE ray3d_segment(p[1], p[2], p[3], p[4], p[5], p[6]) && box3d(p[4], '-Infinity', '-Infinity', p[4], 'Infinity', 'Infinity')) AS walls,
       count(*) FILTER (WHERE ray3d_segment(p[1], p[2], p[3], p[4], p[5], p[6]) && box3d(p[4], p[5], p[6], 1e6, 1e6, 1e6) OR p[4] < p[1] OR p[5] < p[2] OR p[6] < p[3]) AS corners
FROM (SELECT array_agg(round(random() * 2000) / 100.0::float8) AS p FROM generate_series(0, 35999) i GROUP BY i / 6) s;
