-- ORDER BY b <-> query through an index of :method: the same distances, bit for bit,
-- in the same order as a sort.  After agree.sql and kinds.sql.

-- ---------------------------------------------------------------------------
-- all kinds
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_kind(kind text, paths text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of(kind, 400);
  INSERT INTO bulk VALUES (-1, NULL), (-2, NULL);
  PERFORM queries_for('bulk');
  EXECUTE format('CREATE INDEX bulk_b ON bulk USING %s (b)', method());
  RETURN NEXT is_empty(format('SELECT * FROM nearest_disagreements(''bulk'', ''bulk_b'', %L, %L)', paths, simd_levels()),
                       kind || ': all rows in order, bulk-built');

  -- the padding makes a tree of many levels
  CREATE TABLE grown (id int, b box3d, pad text);
  EXECUTE format('CREATE INDEX grown_b ON grown USING %s (b) INCLUDE (pad)', method());
  INSERT INTO grown SELECT id, b, repeat(chr(33 + id % 90), 700) FROM bulk;
  RETURN NEXT is_empty('SELECT * FROM nearest_disagreements(''grown'', ''grown_b'', ''{index,only}'', row_limit => 20)',
                       kind || ': the first rows, grown by inserts');
  DROP TABLE bulk, grown;
END $$;

SELECT t FROM kinds, LATERAL test_kind(kind, :'bulk_paths') t;

-- ---------------------------------------------------------------------------
-- large coordinates
-- ---------------------------------------------------------------------------

-- a bound one bit above a distance would change the order, or be an error of gist's
CREATE TABLE far AS SELECT * FROM boxes_of('far from zero', 20000);
CREATE INDEX far_b ON far USING :method (b);
TRUNCATE queries;
INSERT INTO queries VALUES (1, box3d(1e9 + 777.77, 1e9 + 3, 1e9 - 5)), (2, box3d(1e9 + 1234.5678, 1e9 + 1234.5678, 1e9));
SELECT is_empty(format($$SELECT * FROM nearest_disagreements('far', 'far_b', '{index,only}', %L)$$, simd_levels()),
  '20,000 rows far from zero');
SELECT is_empty($$SELECT * FROM nearest_disagreements('far', 'far_b', row_limit => 200)$$, 'and 200 of them');

-- ---------------------------------------------------------------------------
-- ties, inside, infinite
-- ---------------------------------------------------------------------------

CREATE TABLE tied AS SELECT i AS id, box3d(1, 2, 3, 4, 5, 6) AS b FROM generate_series(1, 5000) i;
CREATE INDEX tied_b ON tied USING :method (b);
SELECT use_path('only');
SELECT results_eq('SELECT b::text, b <-> box3d(2, 3, 4) FROM tied ORDER BY b <-> box3d(2, 3, 4) LIMIT 5',
  $$SELECT '(1,2,3),(4,5,6)', 0::float8 FROM generate_series(1, 5)$$, '5 of 5,000 equal boxes');
SELECT is((SELECT count(*)::int FROM (SELECT b FROM tied ORDER BY b <-> box3d(0, 0, 0)) s), 5000, 'all of them');

CREATE TABLE around AS SELECT * FROM boxes_of('nested', 2000);
CREATE INDEX around_b ON around USING :method (b);
SELECT use_path('index');
SELECT is((SELECT count(*)::int FROM (SELECT b <-> box3d(100.5, 0, 0) AS d FROM around ORDER BY b <-> box3d(100.5, 0, 0) LIMIT 1950) s WHERE d = 0),
  1900, 'rows around the point come first, at distance 0');
SELECT results_eq('SELECT id FROM around ORDER BY b <-> box3d(100.5, 0, 0) OFFSET 1900 LIMIT 3', ARRAY[100, 99, 98], 'then the nearest');

CREATE TABLE s AS SELECT i AS id, box3d(i, i, i, i + 1, i + 1, i + 1) AS b FROM generate_series(1, 1000) i;
INSERT INTO s VALUES (5001, box3d('-Infinity', 0, 0, 'Infinity', 1, 1)), (5002, box3d(0, 0, 0, 'Infinity', 'Infinity', 'Infinity')),
  (6001, NULL), (6002, box3d('Infinity', 'Infinity', 'Infinity'));
CREATE INDEX s_b ON s USING :method (b);
SELECT results_eq('SELECT id, b <-> box3d(0, 0, 0) FROM s ORDER BY b <-> box3d(0, 0, 0) OFFSET 1001',
  $$VALUES (1000, box3d_distance(box3d(0, 0, 0), box3d(1000, 1000, 1000))), (6002, 'Infinity'::float8), (6001, NULL)$$,
  'a box at infinity comes after all others, and no box after it');
SELECT results_eq($$SELECT b <-> '(Infinity,Infinity,Infinity)'::box3d FROM s ORDER BY b <-> '(Infinity,Infinity,Infinity)'::box3d LIMIT 3$$,
  $$VALUES (0::float8), (0), ('Infinity')$$, 'at infinity, that box is at distance 0');

CREATE TABLE extreme (id int, b box3d);
CREATE INDEX extreme_b ON extreme USING :method (b);
INSERT INTO extreme VALUES (3, box3d(3e200, 0, 0)), (1, box3d(1e200, 0, 0)), (2, box3d(2e200, 0, 0)),
  (13, box3d(0, 3e-200, 0)), (11, box3d(0, 1e-200, 0)), (12, box3d(0, 2e-200, 0));
SELECT results_eq('SELECT id FROM extreme ORDER BY b <-> box3d(0, 0, 0)', ARRAY[11, 12, 13, 1, 2, 3], 'distances whose squares are out of range are told apart');
SELECT use_path('any');
