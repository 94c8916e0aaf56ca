-- Boxes, spheres, planes and distances of other kinds through an index of :method.
-- After agree.sql, kinds.sql and shapes.sql.

CREATE FUNCTION conditions_for(tbl regclass, n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE conditions, orders;
  EXECUTE format($sql$
    CREATE TEMP TABLE pairs ON COMMIT DROP AS
    WITH boxes AS (SELECT b, row_number() OVER (ORDER BY md5(id::text)) AS i FROM %s
                   WHERE b <@ box3d('-3e307', '-3e307', '-3e307', '3e307', '3e307', '3e307'))
    SELECT a.i, box3d_xmin(a.b) AS x, box3d_ymin(a.b) AS y, box3d_zmax(a.b) AS z, c.b,
           box3d(box3d_xmin(a.b), box3d_ymin(a.b), box3d_zmax(a.b)) <-> c.b AS near,
           box3d_max_distance(box3d(box3d_xmin(a.b), box3d_ymin(a.b), box3d_zmax(a.b)), c.b) AS far
    FROM boxes a JOIN boxes c ON c.i = a.i + 1 WHERE a.i <= $1$sql$, tbl) USING n;
  INSERT INTO conditions
    SELECT format(c, s) FROM pairs, LATERAL (VALUES (sphere3d(x, y, z, near)), (sphere3d(x, y, z, far)), (sphere3d(x, y, z, 0)), (sphere3d(x, y, z, 'Infinity'))) v(s),
      unnest(ARRAY['b && %L::sphere3d', 'b <@ %L::sphere3d']) c
    UNION ALL SELECT format('%L::sphere3d @> b AND %L::sphere3d && b AND b |&> box3d(0, 0, 0)', sphere3d(x, y, z, far), sphere3d(x, y, z, near)) FROM pairs;
  -- planes through a corner, along the axes and slanted
  INSERT INTO conditions
    SELECT format(c, planes3d(p)) FROM pairs, LATERAL (VALUES
        (ARRAY[[1, 0, 0, x]]::float8[]), (ARRAY[[0, -1, 0, -y]]::float8[]), (ARRAY[[1, 0, 0, x], [0, -2, 0, -2 * y], [0, 0, 1, z]]::float8[]),
        (ARRAY[[1, 2, 3, x + 2 * y + 3 * z], [-1, 1, 0, y - x]]::float8[]), (ARRAY[[1, 1, 0, x + y], [-1, -1, 0, 50 - x - y]]::float8[])) v(p),
      unnest(ARRAY['b && %L::planes3d', 'b <@ %L::planes3d', '%L::planes3d && b', '%L::planes3d @> b AND b && box3d(-1000, -1000, -1000, 300, 300, 300)']) c;
  INSERT INTO orders SELECT format(o, b) FROM pairs, unnest(ARRAY['b <#> %L::box3d', 'b <=> %L::box3d', '%L::box3d <=> b']) o;
  DROP TABLE pairs;
END $$;

CREATE FUNCTION test_shapes(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of(kind, 400);
  INSERT INTO bulk VALUES (-1, NULL), (-2, NULL);
  PERFORM conditions_for('bulk', 3);
  EXECUTE format('CREATE INDEX bulk_b ON bulk USING %s (b)', method());
  RETURN NEXT is_empty('SELECT * FROM shape_disagreements(''bulk'', ''bulk_b'')', kind || ': bulk-built');
  RETURN NEXT is_empty('SELECT * FROM order_disagreements(''bulk'', ''bulk_b'')', kind || ': all rows in order');

  -- the padding makes a tree of many levels
  CREATE TABLE grown (id int, b box3d, pad text);
  EXECUTE format('CREATE INDEX grown_b ON grown USING %s (b) INCLUDE (pad)', method());
  INSERT INTO grown SELECT id, b, repeat(chr(33 + id % 90), 700) FROM bulk;
  RETURN NEXT is_empty('SELECT * FROM shape_disagreements(''grown'', ''grown_b'', ''{bitmap}'')', kind || ': grown by inserts');
  RETURN NEXT is_empty('SELECT * FROM order_disagreements(''grown'', ''grown_b'', row_limit => 20)', kind || ': the nearest');
  DROP TABLE bulk, grown;
END $$;

SELECT t FROM kinds, LATERAL test_shapes(kind) t;

-- ---------------------------------------------------------------------------
-- joined with tables of shapes
-- ---------------------------------------------------------------------------

CREATE TABLE scene AS SELECT id, b FROM boxes_of('random', 5000);
CREATE INDEX scene_b ON scene USING :method (b);
ANALYZE scene;
-- a radius for each row
CREATE TABLE lamps AS SELECT i AS id, sphere3d(random() * 1000 - 500, random() * 1000 - 500, random() * 1000 - 500, random() * 100) AS s FROM generate_series(1, 60) i;
CREATE TABLE views AS SELECT i AS id, planes3d(ARRAY[[random() - 0.5, random() - 0.5, 1, random() * 200], [random() - 0.5, -1, random() - 0.5, random() * 200], [-1, random() - 0.5, random() - 0.5, random() * 200]]) AS p FROM generate_series(1, 20) i;
SELECT use_path('index');
SELECT matches(plan_of('SELECT * FROM lamps, scene WHERE b && s'), 'Index Scan using scene_b[^\n]*\n *Index Cond: \(b && lamps.s\)', 'lamps: plan');
SELECT set_eq('SELECT l.id AS shape, c.id FROM lamps l, scene c WHERE b && s', 'SELECT l.id AS shape, c.id FROM lamps l, scene c WHERE box3d_meets_sphere(b, s)', 'what lamps reach');
SELECT set_eq('SELECT l.id AS shape, c.id FROM lamps l, scene c WHERE box3d_dwithin(b, sphere3d_center(s)::box3d, sphere3d_radius(s))', 'SELECT l.id AS shape, c.id FROM lamps l, scene c WHERE box3d_meets_sphere(b, s)', 'which box3d_dwithin() says, too');
SELECT set_eq('SELECT l.id AS shape, c.id FROM lamps l, scene c WHERE s @> b', 'SELECT l.id AS shape, c.id FROM lamps l, scene c WHERE box3d_max_distance(b, sphere3d_center(s)::box3d) <= sphere3d_radius(s)', 'what is in their light wholly');
SELECT set_eq('SELECT v.id AS shape, c.id FROM views v, scene c WHERE b && p', 'SELECT v.id AS shape, c.id FROM views v, scene c WHERE box3d_meets_planes(b, p)', 'what views show');
SELECT set_eq('SELECT v.id AS shape, c.id FROM views v, scene c WHERE p @> b', 'SELECT v.id AS shape, c.id FROM views v, scene c WHERE box3d_in_planes(b, p)', 'what they show wholly');
SELECT is_empty('SELECT FROM scene WHERE b && NULL::sphere3d OR b <@ NULL::planes3d', 'no shape');
SELECT use_path('any');

-- of several orders, the second decides among what is equal in the first
SELECT use_path('index');
SELECT results_eq('SELECT b <=> box3d(0, 0, 0), b <#> box3d(9, 9, 9), b <-> box3d(0, 0, 9) FROM scene ORDER BY 1, 2, 3 LIMIT 200',
  'SELECT box3d_chebyshev(b, box3d(0, 0, 0)), box3d_taxicab(b, box3d(9, 9, 9)), box3d_distance(b, box3d(0, 0, 9)) FROM scene ORDER BY 1, 2, 3 LIMIT 200', 'three metrics');
SELECT use_path('any');
SELECT is_empty('SELECT FROM scene a JOIN scene c ON a.id + 1 = c.id WHERE (a.b <=> c.b) > (a.b <-> c.b) * 1.0000001 OR (a.b <-> c.b) > (a.b <#> c.b) * 1.0000001', 'Chebyshev is least, taxicab greatest');
