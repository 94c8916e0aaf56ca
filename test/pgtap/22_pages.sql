-- What an index costs: its pages, and the pages that a query reads.  No order of
-- rows, no nesting and no scale of the numbers makes either grow out of bounds.
--
-- README: "Nested, equal, flat, infinite and sorted boxes are indexed as well as any
-- others."
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();

-- ---------------------------------------------------------------------------
-- pages of 5,000 boxes of any kind, in any order, against random ones
-- ---------------------------------------------------------------------------

CREATE FUNCTION build(kind text, n int, how text, row_order text DEFAULT 'id') RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  DROP TABLE IF EXISTS made, source;
  CREATE TEMP TABLE source AS SELECT * FROM boxes_of(kind, n);
  CREATE TABLE made (id int, b box3d);
  IF how = 'inserts' THEN
    CREATE INDEX made_b ON made USING gist (b);
  END IF;
  EXECUTE 'INSERT INTO made SELECT * FROM source ORDER BY ' || row_order;
  IF how = 'bulk' THEN
    CREATE INDEX made_b ON made USING gist (b);
  END IF;
  RETURN relation_pages('made_b');
END $$;

SET client_min_messages = warning;
CREATE TABLE sizes AS SELECT kind, way, build(kind, 5000, split_part(way, ', ', 1), split_part(way, ', ', 2)) AS pages
  FROM kinds, unnest(ARRAY['bulk, id', 'bulk, id DESC', 'inserts, id', 'inserts, id DESC', 'inserts, random()']) way;
SELECT min(pages) AS random_pages FROM sizes WHERE kind = 'random' \gset
SELECT cmp_ok(pages, '<=', (:random_pages * 1.6)::int, kind || ': pages at most 1.6 times those of random boxes') FROM (SELECT kind, max(pages) AS pages FROM sizes GROUP BY kind ORDER BY kind) s;
SELECT cmp_ok(pages, '<=', 80, kind || ': at most 80 pages') FROM (SELECT kind, max(pages) AS pages FROM sizes WHERE kind IN ('nested', 'corner') GROUP BY kind ORDER BY kind) s;

-- ---------------------------------------------------------------------------
-- pages that a small query reads in them
-- ---------------------------------------------------------------------------

-- the root, and for the rows found as many leaves as half full ones would be, times two
CREATE TABLE small_queries (kind text, condition text, nrows int);
INSERT INTO small_queries VALUES
  ('nested', 'b @> box3d(-4981, -4981, -4981, 4981, 4981, 4981)', 20),
  ('nested', 'b && box3d(4981, 0, 0)', 20),
  ('corner', 'b && box3d(4981, 4981, 4981)', 20),
  ('corner', 'b @> box3d(0, 0, 0, 4981, 0, 0)', 20),
  ('tiles', 'b &&+ box3d(30, 0, 0, 32, 10, 10)', 200),
  ('tiles', 'b << box3d(0, 0, 0)', 0),
  ('tiles', 'b @> box3d(7.5, 7.5, 7.5)', 1),
  ('z only', 'b && box3d(0, 0, 1000, 1, 1, 1010)', 11),
  ('line', 'b <@ box3d(0, 1000, 0, 0, 1099, 0)', 100),
  ('points in a plane', 'b = box3d(7, 5000, 5000)', 0),
  ('identical', 'b && box3d(2, 2, 2)', 0),
  ('identical points', 'b && box3d(7, 7, 7.000001)', 0),
  ('all but one equal', 'b && box3d(5, 5, 5)', 1),
  ('far from zero', 'b && box3d(1000000100, 1000000100, 1000000000, 1000000102, 1000000102, 1000000000)', 21),
  ('wide and near zero', 'b && box3d(1000, 4.4e15, 0, 1010, 4.4e15, 1)', 6);
CREATE FUNCTION test_small(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  way text;
  q record;
  n int;
  npages bigint;
BEGIN
  FOREACH way IN ARRAY ARRAY['bulk', 'inserts'] LOOP
    PERFORM build(kind, 5000, way);
    FOR q IN SELECT * FROM small_queries s WHERE s.kind = test_small.kind LOOP
      EXECUTE 'SELECT count(*) FROM made WHERE ' || q.condition INTO n;
      RETURN NEXT is(n, q.nrows, format('%s, %s: rows of %s', kind, way, q.condition));
      npages := index_pages('SELECT count(*) FROM made WHERE ' || q.condition);
      RETURN NEXT cmp_ok(npages, '<=', 3 + 2 * ceil(n / 67.0)::bigint, format('%s, %s: %s pages read for %s', kind, way, npages, q.condition));
    END LOOP;
  END LOOP;
END $$;
SELECT t FROM (SELECT DISTINCT kind FROM small_queries ORDER BY 1) k, LATERAL test_small(kind) t;

-- concentric boxes overlap every node, so no page is read twice is all one can ask
SELECT build('nested', 5000, 'inserts') AS pages \gset
SELECT is((SELECT count(*)::int FROM made WHERE b <@ box3d(-10, -10, -10, 10, 10, 10)), 10, 'the ten innermost boxes');
SELECT cmp_ok(index_pages('SELECT count(*) FROM made WHERE b <@ box3d(-10, -10, -10, 10, 10, 10)'), '<=', :pages::bigint, 'read each page once at most');
SELECT cmp_ok(pg_relation_size('made_b'), '<', 1200000::bigint, '5,000 nested boxes take less than 1.2 MB');

-- ---------------------------------------------------------------------------
-- the same boxes at another scale
-- ---------------------------------------------------------------------------

CREATE TABLE normal AS SELECT * FROM boxes_of('random', 5000);
INSERT INTO normal SELECT 5000 + id, b FROM boxes_of('two scales', 3000);
INSERT INTO normal SELECT 8000 + id, box3d(0, 0, 0) + b FROM boxes_of('nested', 1000);
CREATE TABLE probes AS SELECT i AS id, box3d(x, y, z, x + 30, y + 30, z + 30) AS b
  FROM (SELECT i, random() * 1000 - 500 x, random() * 1000 - 500 y, random() * 1000 - 500 z FROM generate_series(1, 50) i) s;
-- pages of the index, pages read, rows found
CREATE FUNCTION scaled(factor float8, how text) RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  result bigint[];
  matrix float8[] := ARRAY[factor, 0, 0, 0, 0, factor, 0, 0, 0, 0, factor, 0];
  query text := 'SELECT count(*) FROM scaled_probes q, LATERAL (SELECT id FROM made t WHERE t.b && q.b OFFSET 0) s';
  n bigint;
BEGIN
  DROP TABLE IF EXISTS made, scaled_probes;
  CREATE TABLE made (id int, b box3d);
  CREATE TABLE scaled_probes AS SELECT id, box3d_transform(b, matrix) AS b FROM probes;
  IF how = 'inserts' THEN
    CREATE INDEX made_b ON made USING gist (b);
  END IF;
  INSERT INTO made SELECT id, box3d_transform(b, matrix) FROM normal;
  IF how = 'bulk' THEN
    CREATE INDEX made_b ON made USING gist (b);
  END IF;
  EXECUTE query INTO n;
  RETURN ARRAY[relation_pages('made_b'), index_pages(query), n];
END $$;
CREATE TABLE plain AS SELECT how, scaled(1, how) AS cost FROM unnest(ARRAY['bulk', 'inserts']) how;
CREATE TABLE powers AS SELECT how, e, scaled(2.0::float8 ^ e, how) AS got, cost FROM plain, unnest(ARRAY[660, -660]) e;
SELECT is(got, cost, format('times 2^%s, %s: same index, same pages read, same rows', e, how)) FROM powers WHERE how = 'bulk';
-- GiST throws dice between subtrees of equal penalty
SELECT is(got[3], cost[3], format('times 2^%s, %s: same rows', e, how)) FROM powers WHERE how = 'inserts';
SELECT cmp_ok(abs(got[1] - cost[1]), '<=', 3::bigint, format('times 2^%s, %s: same index (%s, %s pages)', e, how, got[1], cost[1])) FROM powers WHERE how = 'inserts';
SELECT cmp_ok(abs(got[2] - cost[2]), '<=', cost[2] / 20, format('times 2^%s, %s: same pages read (%s, %s)', e, how, got[2], cost[2])) FROM powers WHERE how = 'inserts';
-- other factors round, and move the borders within which a sort keeps its cells
CREATE TABLE rounded AS SELECT how, s AS factor, scaled(s, how) AS got, cost FROM plain, unnest(ARRAY[1e200, 1e-200]::float8[]) s;
SELECT is(got[3], cost[3], format('times %s, %s: same rows', factor, how)) FROM rounded;
SELECT cmp_ok(abs(got[1] - cost[1]), '<=', cost[1] / 8, format('times %s, %s: about as many pages (%s, %s)', factor, how, got[1], cost[1])) FROM rounded;
SELECT cmp_ok(got[2], '<=', cost[2] * 3 / 2, format('times %s, %s: not many more pages read (%s, %s)', factor, how, got[2], cost[2])) FROM rounded;

-- ---------------------------------------------------------------------------
-- sorted input, and an index grown by inserts
-- ---------------------------------------------------------------------------

CREATE TABLE grid AS SELECT (x * 50 + y) * 10 + z AS id, box3d(x, y, z, x + 1, y + 1, z + 1) AS b
  FROM generate_series(0, 49) x, generate_series(0, 49) y, generate_series(0, 9) z;
CREATE TABLE sorted (id int, b box3d);
CREATE INDEX sorted_b ON sorted USING gist (b);
INSERT INTO sorted SELECT * FROM grid ORDER BY id;
CREATE TABLE shuffled (id int, b box3d);
CREATE INDEX shuffled_b ON shuffled USING gist (b);
INSERT INTO shuffled SELECT * FROM grid ORDER BY random();
SELECT cmp_ok(relation_pages('sorted_b'), '<=', relation_pages('shuffled_b') * 16 / 10, 'sorted inserts make at most 1.6 times the pages of shuffled ones');
TRUNCATE queries;
INSERT INTO queries SELECT i, box3d(x, y, z, x + 10, y + 12, z + 2) FROM (SELECT i, random() * 40 x, random() * 38 y, random() * 8 z FROM generate_series(1, 50) i) s;
SELECT index_pages('SELECT count(*) FROM queries q, LATERAL (SELECT 1 FROM shuffled t WHERE t.b && q.b OFFSET 0) s') AS shuffled_reads,
       index_pages('SELECT count(*) FROM queries q, LATERAL (SELECT 1 FROM sorted t WHERE t.b && q.b OFFSET 0) s') AS sorted_reads \gset
SELECT cmp_ok(:sorted_reads, '<=', 2 * :shuffled_reads, format('1%% queries read at most twice the pages (%s, %s)', :sorted_reads, :shuffled_reads));

CREATE FUNCTION test_growth(kind text, side float8) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  query text := 'SELECT count(*) FROM queries q, LATERAL (SELECT 1 FROM made t WHERE t.b && q.b OFFSET 0) s';
  bulk bigint;
  grown bigint;
BEGIN
  PERFORM build(kind, 20000, 'bulk', 'random()');
  TRUNCATE queries;
  INSERT INTO queries SELECT i, box3d(x, y, z, x + side, y + side, z + side)
    FROM (SELECT i, box3d_xmin(b) x, box3d_ymin(b) y, box3d_zmin(b) z FROM made, generate_series(1, 100) i WHERE id = i * 190) s;
  bulk := index_pages(query);
  PERFORM build(kind, 20000, 'inserts', 'random()');
  grown := index_pages(query);
  RETURN NEXT cmp_ok(grown, '<=', 3 * bulk, format('%s: an index grown by inserts reads at most 3 times the pages of a bulk-built one (%s, %s)', kind, grown, bulk));
END $$;
SELECT test_growth('random', 10);
SELECT test_growth('two scales', 10);
SELECT test_growth('tiles', 2);
SELECT test_growth('flat', 2);

-- ---------------------------------------------------------------------------
-- input on which a split could go on for ever
-- ---------------------------------------------------------------------------

SET statement_timeout = '60s';
SELECT lives_ok(format('SELECT build(%L, 20000, %L)', kind, how), format('20,000 boxes, %s, %s', kind, how))
  FROM unnest(ARRAY['identical', 'all but one equal', 'two values', 'infinite']) kind, unnest(ARRAY['bulk', 'inserts']) how;
CREATE TABLE nothing (id int, b box3d);
CREATE INDEX nothing_b ON nothing USING gist (b);
SELECT lives_ok('INSERT INTO nothing SELECT i, NULL FROM generate_series(1, 20000) i', '20,000 times NULL, inserted');
SELECT lives_ok('REINDEX INDEX nothing_b', '20,000 times NULL, bulk-built');
INSERT INTO nothing SELECT i, box3d(i, i, i) FROM generate_series(20001, 23000) i;
SELECT is((SELECT count(*)::int FROM nothing WHERE b && box3d(20001, 20001, 20001, 20100, 20100, 20100)), 100, '3,000 boxes among NULLs');
RESET statement_timeout;

SELECT build('identical', 100000, 'bulk') \g /dev/null
SELECT cmp_ok(index_pages('SELECT 1 FROM made WHERE b && box3d(2, 2, 2)'), '<=', 2::bigint, '100,000 equal boxes: a miss reads the root');
SELECT use_path('bitmap') \g /dev/null
SELECT is((SELECT count(*)::int FROM made WHERE b && box3d(1, 1, 1)), 100000, 'a hit finds them all');
SELECT use_path('any') \g /dev/null

-- boxes without end side by side: every query finds them, and what else it should
SELECT build('random', 10000, 'inserts') \g /dev/null
INSERT INTO made SELECT 10000 + i, '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)' FROM generate_series(1, 10000) i;
SELECT use_path('bitmap') \g /dev/null
SELECT is((SELECT count(*) FROM made WHERE b && box3d(0, 0, 0, 100, 100, 100)), 10000 + (SELECT count(*) FROM made WHERE id <= 10000 AND box3d_overlaps(b, box3d(0, 0, 0, 100, 100, 100))),
  '10,000 infinite boxes among 10,000 others, inserted');
REINDEX INDEX made_b;
SELECT is((SELECT count(*) FROM made WHERE b && box3d(0, 0, 0, 100, 100, 100)), 10000 + (SELECT count(*) FROM made WHERE id <= 10000 AND box3d_overlaps(b, box3d(0, 0, 0, 100, 100, 100))),
  '10,000 infinite boxes among 10,000 others, bulk-built');
SELECT use_path('any') \g /dev/null

-- three half-spaces do not make all other queries slow
CREATE FUNCTION test_giants(how text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  query text := 'SELECT count(*) FROM probes q, LATERAL (SELECT 1 FROM made t WHERE t.b && q.b OFFSET 0) s';
  without bigint;
  with_them bigint;
BEGIN
  PERFORM build('random', 10000, how);
  without := index_pages(query);
  INSERT INTO made SELECT 20000 + i, '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,0)' FROM generate_series(1, 3) i;
  IF how = 'bulk' THEN
    REINDEX INDEX made_b;
  END IF;
  with_them := index_pages(query);
  RETURN NEXT cmp_ok(with_them, '<=', 2 * without, format('%s: three half-spaces make queries read at most twice the pages (%s, %s)', how, with_them, without));
END $$;
SELECT test_giants('bulk');
SELECT test_giants('inserts');

SELECT * FROM finish();
ROLLBACK;
