-- Nearest neighbours with a second sort key, of many(id, b) with the index many_b.

PREPARE nearest(box3d, int) AS SELECT id FROM many ORDER BY b <-> $1, id LIMIT $2;
SELECT current_setting('server_version_num')::int >= 170000 AS sorts_more \gset
\if :sorts_more
SELECT matches(plan_of($$EXECUTE nearest('(500,500,500)', 5)$$), 'Incremental Sort.*Presorted Key.*Index Scan using many_b',
  'a second sort key is sorted on top of the index order');
\else
SELECT skip('PostgreSQL 17 and later use the index then', 1);
\endif
SELECT results_eq($$EXECUTE nearest('(500,500,500)', 50)$$,
  'SELECT id FROM many ORDER BY box3d_distance(b, box3d(500, 500, 500)), id LIMIT 50', 'and the order is right');
