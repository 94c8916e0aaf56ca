-- boxes_of(kind, n): n boxes of a kind that has broken an index somewhere
CREATE FUNCTION boxes_of(kind text, n int) RETURNS TABLE (id int, b box3d)
LANGUAGE plpgsql AS $$
DECLARE
  inf CONSTANT float8 := 'Infinity';
BEGIN
  IF kind = 'random' THEN
    RETURN QUERY SELECT i, box3d(x, y, z, x + random() * 50, y + random() * 50, z + random() * 50)
      FROM (SELECT i, random() * 1000 - 500 x, random() * 1000 - 500 y, random() * 1000 - 500 z
            FROM generate_series(1, n) i) s;
  ELSIF kind = 'identical' THEN
    RETURN QUERY SELECT i, box3d(0, 0, 0, 1, 1, 1) FROM generate_series(1, n) i;
  ELSIF kind = 'identical points' THEN
    RETURN QUERY SELECT i, box3d(7, 7, 7) FROM generate_series(1, n) i;
  ELSIF kind = 'two values' THEN
    RETURN QUERY SELECT i, box3d(i % 2, 0, 0, i % 2 + 1, 1, 1) FROM generate_series(1, n) i;
  ELSIF kind = 'all but one equal' THEN
    RETURN QUERY SELECT i, CASE i WHEN n / 2 THEN box3d(5, 5, 5) ELSE box3d(0, 0, 0, 1, 1, 1) END
      FROM generate_series(1, n) i;
  ELSIF kind = 'nested' THEN
    RETURN QUERY SELECT i, box3d(-i, -i, -i, i, i, i) FROM generate_series(1, n) i;
  ELSIF kind = 'corner' THEN
    RETURN QUERY SELECT i, box3d(0, 0, 0, i, i, i) FROM generate_series(1, n) i;
  ELSIF kind = 'tiles' THEN
    RETURN QUERY SELECT i, box3d(i / 100, i / 10 % 10, i % 10, i / 100 + 1, i / 10 % 10 + 1, i % 10 + 1)
      FROM generate_series(0, n - 1) i;
  ELSIF kind = 'two scales' THEN
    RETURN QUERY SELECT i, CASE WHEN i % 10 = 0 THEN box3d(x, y, z, x + 300, y + 300, z + 300)
                                ELSE box3d(x, y, z, x + 0.001, y + 0.001, z + 0.001) END
      FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, n) i) s;
  ELSIF kind = 'z only' THEN
    RETURN QUERY SELECT i, box3d(0, 0, i, 1, 1, i + 0.5) FROM generate_series(1, n) i;
  ELSIF kind = 'line' THEN
    RETURN QUERY SELECT i, box3d(0, i, 0) FROM generate_series(1, n) i;
  ELSIF kind = 'points in a plane' THEN
    RETURN QUERY SELECT i, box3d(7, random() * 100, random() * 100) FROM generate_series(1, n) i;
  ELSIF kind = 'powers of two' THEN
    RETURN QUERY SELECT i, CASE WHEN i % 2 = 0 THEN box3d(0, 0, 0, s, s, s)
                                ELSE box3d(s, s, s, s * 2, s * 2, s * 2) END
      FROM (SELECT i, 2.0::float8 ^ (- (i % 1070)) s FROM generate_series(1, n) i) v;
  ELSIF kind = 'flat' THEN
    RETURN QUERY SELECT i, box3d(x, y, z, x + 20 * (i % 3 <> 0)::int, y + 20 * (i % 3 <> 1)::int, z + 20 * (i % 3 <> 2)::int)
      FROM (SELECT i, (random() * 100)::int x, (random() * 100)::int y, (random() * 100)::int z FROM generate_series(1, n) i) s;
  ELSIF kind = 'infinite' THEN
    RETURN QUERY SELECT i, CASE i % 11
        WHEN 0 THEN box3d(-inf, -inf, -inf, inf, inf, inf)
        WHEN 1 THEN box3d(-inf, 0, 0, inf, 1, 1)
        WHEN 2 THEN box3d(0, 0, 0, inf, inf, inf)
        WHEN 3 THEN box3d(-inf, -inf, -inf, inf, inf, 0)
        WHEN 4 THEN box3d(x, y, -inf, x + 50, y + 50, inf)
        WHEN 5 THEN CASE i % 3 WHEN 0 THEN box3d(inf, inf, inf) WHEN 1 THEN box3d(-inf, x, inf) ELSE box3d(x, -inf, -inf, y, -inf, inf) END
        ELSE box3d(x, y, z, x + 50, y + 50, z + 50) END
      FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z FROM generate_series(1, n) i) s;
  ELSIF kind = 'tiny numbers' THEN
    RETURN QUERY SELECT r.id, box3d_transform(r.b, ARRAY[1e-200, 0, 0, 0, 0, 1e-200, 0, 0, 0, 0, 1e-200, 0])
      FROM boxes_of('random', n) r;
  ELSIF kind = 'large numbers' THEN
    RETURN QUERY SELECT r.id, box3d_transform(r.b, ARRAY[1e200, 0, 0, 0, 0, 1e200, 0, 0, 0, 0, 1e200, 0])
      FROM boxes_of('random', n) r;
  ELSIF kind = 'denormal numbers' THEN
    RETURN QUERY SELECT i, box3d(i * d, i % 7 * d, i % 13 * d, (i + 3) * d, (i % 7 + 2) * d, i % 13 * d)
      FROM generate_series(1, n) i, (VALUES (4.94065645841247e-324::float8)) v(d);
  ELSIF kind = 'one ulp apart' THEN
    RETURN QUERY SELECT i, box3d(16777216 + i * u, 16777216 + (i % 17) * u, 16777216)
      FROM generate_series(1, n) i, (VALUES (2.0::float8 ^ (-28))) v(u);
  ELSIF kind = 'huge' THEN
    RETURN QUERY SELECT i, CASE i % 4
        WHEN 0 THEN box3d(-1.7e308, -1.7e308, -1.7e308, 1.7e308, 1.7e308, 1.7e308)
        WHEN 1 THEN box3d(1e300 * x, 1e300 * y, 1e300, 1e300 * x + 1e299, 1e300 * y + 1e299, 1e301)
        WHEN 2 THEN box3d(-1e308, y, z, 1e308 * x, y + 1, z + 1)
        ELSE box3d(x, y, z, x + 1, y + 1, z + 1) END
      FROM (SELECT i, random() * 1000 - 500 x, random() * 1000 - 500 y, random() * 1000 - 500 z FROM generate_series(1, n) i) s
      WHERE abs(x) < 1e8 AND i % 4 <> 2 OR x BETWEEN -1 AND 1 OR i % 4 = 0;
  ELSIF kind = 'all sizes' THEN
    RETURN QUERY SELECT i, box3d(x, y, z, x + s, y + s, z + s)
      FROM (SELECT i, random() x, random() y, random() z, 10.0::float8 ^ (i % 600 - 300) s FROM generate_series(1, n) i) v;
  ELSIF kind = 'far from zero' THEN
    RETURN QUERY SELECT i, box3d(1e9 + i * 0.1, 1e9 + i * 0.1, 1e9, 1e9 + i * 0.1 + 0.01, 1e9 + i * 0.1 + 0.01, 1e9 + 0.01)
      FROM generate_series(1, n) i;
  ELSIF kind = 'wide and near zero' THEN
    RETURN QUERY SELECT i, CASE WHEN i % 2 = 0 THEN box3d(i, -4.5e14, 0, i + 1, 4.4e15, 1)
                                ELSE box3d(i, -4.5e14 - 1 - i % 3, 0, i + 1, -4.5e14 - 0.5, 1) END
      FROM generate_series(1, n) i;
  ELSE
    RAISE EXCEPTION 'no kind %', kind;
  END IF;
END $$;

CREATE VIEW kinds AS SELECT unnest(ARRAY['random', 'identical', 'identical points', 'two values',
  'all but one equal', 'nested', 'corner', 'tiles', 'two scales', 'z only', 'line', 'points in a plane',
  'powers of two', 'flat', 'infinite', 'tiny numbers', 'large numbers', 'denormal numbers',
  'one ulp apart', 'huge', 'all sizes', 'far from zero', 'wide and near zero']) AS kind;
