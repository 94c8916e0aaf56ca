-- Measures of box3d, and boxes made from boxes.

-- a zero side wins over an infinite one, and nothing is NaN
SELECT box3d_volume(p), box3d_surface_area(p), p <-> box3d(0, 0, 7) AS distance,
       p @> box3d(3, 4, 0) AS on_it, p @> box3d(3, 4, 0.1) AS above_it
FROM (SELECT box3d('-Infinity', '-Infinity', 0, 'Infinity', 'Infinity', 0) p) s;
SELECT box3d_volume(box3d(0, 0, 0, 2, 3, 4)), box3d_surface_area(box3d(0, 0, 0, 2, 3, 4));
-- only the result counts, not what comes between
SELECT box3d_volume(box3d(0, 0, 0, 1e200, 1e200, 1e-300)) BETWEEN 0.99e100 AND 1.01e100 AS in_range;

-- distance: smallest, largest
SELECT box3d(0, 0, 0) <-> box3d(3, 4, 12, 9, 9, 99) AS point_box,
       box3d(0, 0, 0, 1, 1, 1) <-> box3d(0.5, 0.5, 4, 9, 9, 9) AS above,
       box3d(0, 0, 0, 1, 1, 1) <-> box3d(1, 1, 1, 2, 2, 2) AS touching,
       box3d_max_distance(box3d(0, 0, 0, 1, 1, 1), box3d(1, 2, 2)) AS largest;
SELECT box3d(0, 0, 0) <-> box3d(1e200, 0, 0), box3d(0, 0, 0) <-> box3d(1e-200, 0, 0),
       box3d(0, 0, 0) <-> box3d(3e200, 4e200, 0);
SELECT box3d('Infinity', 'Infinity', 'Infinity') <-> box3d(0, 0, 0) AS far,
       box3d('Infinity', 'Infinity', 'Infinity') <-> box3d('Infinity', 'Infinity', 'Infinity') AS same,
       box3d_max_distance(box3d('Infinity', 0, 0), box3d('Infinity', 3, 4)) AS largest;
SELECT r, box3d_dwithin(box3d(0, 0, 0), box3d(3, 4, 0), r)
FROM (VALUES (4.5), (5), ('Infinity'), (-1)) v (r);
SELECT box3d_dwithin(box3d(0, 0, 0), box3d(3, 4, 0), 'NaN');
SELECT box3d_reach(box3d(0, 0, 0), 1) @> box3d(-1, -1, -1, 1, 1, 1) AS covers,
       box3d_reach(box3d(0, 0, 0), -1) IS NULL AS negative;

-- clash: how deep, and how much
SELECT box3d_penetration(a, b), box3d_overlap_volume(a, b), a * b AS both, a + b AS around
FROM (VALUES (box3d(0, 0, 0, 4, 4, 4), box3d(3, 2, 1, 5, 5, 5)),
             (box3d(0, 0, 0, 4, 4, 4), box3d(1, 1, 1, 2, 2, 2)),
             (box3d(0, 0, 0, 1, 1, 1), box3d(1, 0, 0, 2, 1, 1)),
             (box3d(0, 0, 0, 1, 1, 1), box3d(5, 5, 5, 6, 6, 6))) v (a, b);

-- expand: shrinking past nothing is NULL, to nothing is a flat box
SELECT box3d_expand(b, 1), box3d_expand(b, -0.5), box3d_expand(b, -1), box3d_expand(b, 1, 0, -5)
FROM (VALUES (box3d(0, 0, 0, 1, 10, 10))) v (b);
SELECT box3d_expand(box3d(0, 0, 0, 1, 1, 1), 'Infinity');
SELECT box3d_expand(box3d(0, 0, 0, 1, 1, 1), 'NaN');
SELECT box3d_expand(box3d('Infinity', 0, 0), 'Infinity');
SELECT box3d_expand(box3d(0, 0, 0, 1e308, 1, 1), 1e308);

SELECT box3d_translate(box3d(0, 0, 0, 1, 1, 1), 1, -2, 0.5);
SELECT box3d_translate(box3d('-Infinity', 0, 0, 0, 1, 1), 'Infinity', 0, 0);
SELECT box3d_translate(box3d(1e308, 0, 0), 1e308, 0, 0);

-- transform: by rows; the fourth of each row moves
SELECT box3d_transform(box3d(0, 0, 0, 1, 2, 3), ARRAY[1, 0, 0, 10, 0, 1, 0, 20, 0, 0, 1, 30]) AS moved,
       box3d_transform(box3d(0, 0, 0, 1, 2, 3), ARRAY[0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]) AS turned,
       box3d_transform(box3d(0, 0, 0, 1, 2, 3), ARRAY[[-1, 0, 0, 0], [0, 2, 0, 0], [0, 0, 0.5, 0], [0, 0, 0, 1]]) AS mirrored;
SELECT box3d_transform(box3d('-Infinity', 0, 0, 'Infinity', 1, 1), ARRAY[1, 0, 0, 5, 0, 1, 0, 0, 0, 0, 1, 0]);
SELECT box3d_transform(box3d(0, 0, 0, 1, 1, 1), ARRAY[1, 0, 0]);
SELECT box3d_transform(box3d(0, 0, 0, 1, 1, 1), ARRAY[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 1]);
SELECT box3d_transform(box3d(0, 0, 0, 1, 1, 1), '{1,0,0,0,0,NaN,0,0,0,0,1,0}');
SELECT box3d_transform(box3d(0, 0, 0, 1, 1, 1), ARRAY[1, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 1, 0]);
SELECT box3d_transform(box3d(0, 0, 0, 1e300, 1, 1), ARRAY[1e300, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0]);

-- extent
SELECT box3d_extent(b) FROM (VALUES (NULL::box3d), (box3d(1, 1, 1, 2, 2, 2)), (box3d(0, 5, 1))) v (b);
SELECT box3d_extent(b) FROM (VALUES (NULL::box3d)) v (b);

-- Hilbert keys: neighbours along the curve are neighbours in space
SELECT box3d_hilbert(box3d(x, y, z), box3d(0, 0, 0, 1, 1, 1)) >> 60 AS octant, x, y, z
FROM (VALUES (0), (1)) a (x), (VALUES (0), (1)) b (y), (VALUES (0), (1)) c (z) ORDER BY 1;
SELECT box3d_hilbert(box3d(-5, -5, -5), w) = 0 AS outside,
       box3d_hilbert(box3d(7, 7, 7), box3d(7, 7, 7)) AS no_extent
FROM (SELECT box3d(0, 0, 0, 1, 1, 1) w) s;
SELECT box3d_hilbert(box3d(0, 0, 0), box3d(0, 0, 0, 'Infinity', 1, 1));
