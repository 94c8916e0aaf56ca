-- Boxes and rays through an index of :method.  After agree.sql, kinds.sql and shapes.sql.

-- rays_for(tbl, n): rays, segments and moving boxes that are likely to graze
-- something in tbl(id, b)
CREATE TABLE rays (id int, r ray3d);
CREATE FUNCTION rays_for(tbl regclass, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE rays;
  EXECUTE format($sql$
    INSERT INTO rays
    WITH boxes AS (SELECT b, row_number() OVER (ORDER BY md5(id::text)) AS i FROM %s
                   WHERE b <@ box3d('-3e307', '-3e307', '-3e307', '3e307', '3e307', '3e307')),
         pairs AS (SELECT a.i, a.b AS a, c.b, box3d_xmin(a.b) AS ax, box3d_ymin(a.b) AS ay, box3d_zmin(a.b) AS az,
                          box3d_xmax(c.b) - box3d_xmin(a.b) AS dx, box3d_ymax(c.b) - box3d_ymin(a.b) AS dy, box3d_zmin(c.b) - box3d_zmin(a.b) AS dz
                   FROM boxes a JOIN boxes c ON c.i = a.i + 1 WHERE a.i <= $1)
    SELECT row_number() OVER (), r FROM (
      SELECT ray3d(ax, ay, az, dx, dy, dz) AS r FROM pairs WHERE dx <> 0 OR dy <> 0 OR dz <> 0
      UNION ALL SELECT ray3d(ax - dx, ay - dy, az - dz, dx, dy, dz, 1.5) FROM pairs WHERE dx <> 0 OR dy <> 0 OR dz <> 0
      UNION ALL SELECT ray3d(ax, ay, az, dx, 0, 0) FROM pairs WHERE dx <> 0
      UNION ALL SELECT ray3d(ax, ay, az, '-0', dy, 0) FROM pairs WHERE dy <> 0
      UNION ALL SELECT ray3d(ax, ay, az, 0, '-0', CASE WHEN i %% 2 = 0 THEN 1 ELSE -1 END) FROM pairs
      UNION ALL SELECT ray3d_segment(ax, ay, az, ax + dx, ay + dy, az + dz) FROM pairs
      UNION ALL SELECT ray3d_segment(ax, ay, az, ax, ay, az) FROM pairs
      UNION ALL SELECT ray3d_sweep(a, dx, dy, dz) FROM pairs
      UNION ALL SELECT ray3d_sweep(b, 0, dy, 0) FROM pairs) s$sql$, tbl) USING n;
  TRUNCATE conditions, orders;
  INSERT INTO conditions SELECT format('b && %L::ray3d', r) FROM rays;
  INSERT INTO conditions SELECT format('%L::ray3d && b AND b |&> %L::box3d', r, ray3d_box(r)) FROM rays WHERE id % 7 = 0;
  INSERT INTO conditions SELECT format('b && %L::ray3d AND b && %L::ray3d', r, ray3d_segment(1, 2, 3, ray3d_box(r) <-> box3d(0, 0, 0), 3, 4)) FROM rays WHERE id % 7 = 1;
  INSERT INTO orders SELECT format('b <-> %L::ray3d', r) FROM rays WHERE id % 3 = 0;
  INSERT INTO orders SELECT format('%L::ray3d <-> b', r) FROM rays WHERE id % 7 = 0;
END $$;

CREATE FUNCTION test_rays(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of(kind, 400);
  INSERT INTO bulk VALUES (-1, NULL), (-2, NULL);
  PERFORM rays_for('bulk', 3);
  RETURN NEXT is_empty('SELECT r, b FROM rays, bulk WHERE (b && r) IS DISTINCT FROM (b <-> r < ''Infinity'')
    OR (b && r) IS DISTINCT FROM (r && b) OR float8send(b <-> r) IS DISTINCT FROM float8send(r <-> b)
    OR b && r AND (b <-> r < 0 OR b <-> r > ray3d_tmax(r) OR NOT b && ray3d_bounds(r))', kind || ': the operators say the same');
  EXECUTE format('CREATE INDEX bulk_b ON bulk USING %s (b)', method());
  RETURN NEXT is_empty('SELECT * FROM shape_disagreements(''bulk'', ''bulk_b'')', kind || ': bulk-built');
  RETURN NEXT is_empty('SELECT * FROM order_disagreements(''bulk'', ''bulk_b'')', kind || ': all rows in order');

  -- the padding makes a tree of many levels
  CREATE TABLE grown (id int, b box3d, pad text);
  EXECUTE format('CREATE INDEX grown_b ON grown USING %s (b) INCLUDE (pad)', method());
  INSERT INTO grown SELECT id, b, repeat(chr(33 + id % 90), 700) FROM bulk;
  RETURN NEXT is_empty('SELECT * FROM shape_disagreements(''grown'', ''grown_b'', ''{bitmap}'')', kind || ': grown by inserts');
  RETURN NEXT is_empty('SELECT * FROM order_disagreements(''grown'', ''grown_b'', true, 20)', kind || ': the first that are met');
  DROP TABLE bulk, grown;
END $$;

SELECT t FROM kinds, LATERAL test_rays(kind) t;

-- ---------------------------------------------------------------------------
-- first hit, any hit, for each of many rays
-- ---------------------------------------------------------------------------

CREATE TABLE scene AS SELECT id, b FROM boxes_of('random', 5000);
INSERT INTO scene SELECT 10000 + id, b FROM boxes_of('tiles', 1000);
CREATE INDEX scene_b ON scene USING :method (b);
ANALYZE scene;
SELECT rays_for('scene', 12);
SELECT use_path('seq');
CREATE TABLE want AS SELECT rays.id, min(b <-> r) AS t, count(b) AS n FROM rays LEFT JOIN scene ON b && r GROUP BY 1;
SELECT use_path('index');
SELECT matches(plan_of('SELECT * FROM rays, LATERAL (SELECT b <-> r AS t FROM scene WHERE b && r ORDER BY b <-> r LIMIT 1) hit'),
  'Limit\n *->  Index Scan using scene_b[^\n]*\n *Index Cond: \(b && rays.r\)\n *Order By: \(b <-> rays.r\)', 'first hits: plan');
SELECT set_eq('SELECT id, t FROM rays, LATERAL (SELECT b <-> r AS t FROM scene WHERE b && r ORDER BY b <-> r LIMIT 1) hit',
  'SELECT id, t FROM want WHERE n > 0', 'first hits');
SELECT set_eq('SELECT id FROM rays WHERE EXISTS (SELECT FROM scene WHERE b && r)', 'SELECT id FROM want WHERE n > 0', 'any hits');
SELECT set_eq('SELECT id FROM rays WHERE NOT EXISTS (SELECT FROM scene WHERE r && b)', 'SELECT id FROM want WHERE n = 0', 'none, with the operands the other way round');
SELECT set_eq('SELECT rays.id, count(*) FROM rays JOIN scene ON b && r GROUP BY 1', 'SELECT id, n FROM want WHERE n > 0', 'all hits, by a nested loop over the index');
SELECT matches(plan_of('SELECT * FROM rays JOIN scene ON b && r'), 'Nested Loop.*Index Scan using scene_b[^\n]*\n *Index Cond: \(b && rays.r\)', 'its plan');
SELECT use_path('any');

-- in a parallel plan
SET LOCAL parallel_setup_cost = 0;
SET LOCAL parallel_tuple_cost = 0;
SET LOCAL min_parallel_table_scan_size = 0;
SET LOCAL max_parallel_workers_per_gather = 2;
SELECT use_path('seq');
SELECT matches(plan_of('SELECT rays.id, count(*) FROM scene JOIN rays ON b && r GROUP BY 1'), 'Gather', 'in parallel: plan');
SELECT set_eq('SELECT rays.id, count(*) FROM scene JOIN rays ON b && r GROUP BY 1', 'SELECT id, n FROM want WHERE n > 0', 'in parallel');
SELECT use_path('any');
RESET max_parallel_workers_per_gather;

-- ---------------------------------------------------------------------------
-- beside other keys, and NULL
-- ---------------------------------------------------------------------------

SELECT r AS ray FROM rays JOIN want USING (id) WHERE n > 5 LIMIT 1 \gset
SELECT use_path('index');
SELECT is((SELECT count(*)::int FROM (SELECT id FROM scene WHERE b && :'ray'::ray3d ORDER BY b <-> :'ray'::ray3d) s),
  (SELECT count(*)::int FROM scene WHERE box3d_meets_ray(b, :'ray')), 'with &&, what is missed is not returned');
SELECT is((SELECT count(*)::int FROM (SELECT b <-> :'ray'::ray3d AS t FROM scene ORDER BY b <-> :'ray'::ray3d) s WHERE t < 'Infinity'),
  (SELECT count(*)::int FROM scene WHERE box3d_meets_ray(b, :'ray')), 'without, it is at Infinity');
SELECT is_empty('SELECT FROM scene WHERE b && NULL::ray3d', 'no ray meets nothing');
SELECT is((SELECT count(b <-> NULL::ray3d)::int FROM (SELECT b FROM scene ORDER BY b <-> NULL::ray3d) s), 0, 'nor is nothing ordered by it');
-- a second order among what is entered at once
SELECT results_eq(format('SELECT b <-> %1$L::ray3d, b <-> box3d(1, 2, 3) FROM scene WHERE b && %1$L::ray3d ORDER BY 1, 2', r),
  format('SELECT box3d_ray_entry(b, %1$L), box3d_distance(b, box3d(1, 2, 3)) FROM scene WHERE box3d_meets_ray(b, %1$L) ORDER BY 1, 2', r), 'and then by distance')
FROM (VALUES (ray3d(5, 5, 5, 1, 1, 1)), (ray3d(0, 0, 0, 0, 1, 0))) v(r);
SELECT use_path('any');
