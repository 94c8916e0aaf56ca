-- Real boxes: every answer that brute force gave beforehand (test/data/README.md),
-- through the index and sequentially.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/data/load.sql
SELECT no_plan();

CREATE TABLE oracle_box (set text, query box3d, overlap int, overlap_ids bigint, inside int, inside_ids bigint, contains int, contains_ids bigint);
\copy oracle_box FROM 'test/data/oracle_box.csv' WITH (FORMAT csv, HEADER)
CREATE TABLE oracle_nearest (set text, point box3d, rank int, squared_distance float8, id int);
\copy oracle_nearest FROM 'test/data/oracle_nearest.csv' WITH (FORMAT csv, HEADER)
CREATE TABLE oracle_join (name text PRIMARY KEY, pairs bigint);
\copy oracle_join FROM 'test/data/oracle_join.csv' WITH (FORMAT csv, HEADER)

CREATE TABLE oracle_ray (set text, origin box3d, direction box3d, hits int, hit_ids bigint, first_t float8, first_id int);
\copy oracle_ray FROM 'test/data/oracle_ray.csv' WITH (FORMAT csv, HEADER)

CREATE TABLE sets (set text, nboxes int);
INSERT INTO sets VALUES ('freedoom2_maps', 139348), ('octomap_geb079_occ', 143729), ('mocap_bones', 48978), ('ifc_house_triangles', 35792), ('ifc_house_elements', 110);
-- half of them bulk-built, half grown by inserts
CREATE INDEX freedoom2_maps_b ON freedoom2_maps USING gist (b) INCLUDE (id);
CREATE INDEX octomap_geb079_occ_b ON octomap_geb079_occ USING gist (b) INCLUDE (id);
ALTER TABLE mocap_bones RENAME TO filled;
CREATE TABLE mocap_bones (LIKE filled);
CREATE INDEX mocap_bones_b ON mocap_bones USING gist (b) INCLUDE (id);
INSERT INTO mocap_bones SELECT * FROM filled;
DROP TABLE filled;
ALTER TABLE ifc_house_triangles RENAME TO filled;
CREATE TABLE ifc_house_triangles (LIKE filled);
CREATE INDEX ifc_house_triangles_b ON ifc_house_triangles USING gist (b) INCLUDE (id);
INSERT INTO ifc_house_triangles SELECT * FROM filled;
CREATE INDEX ifc_house_elements_b ON ifc_house_elements USING gist (b) INCLUDE (id);

CREATE FUNCTION test_set(set text, nboxes int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  path text;
  plan text;
  query text := format($sql$
    SELECT o.query,
           (SELECT count(*) FROM %1$I WHERE b && o.query)::int AS overlap, (SELECT coalesce(sum(id), 0) FROM %1$I WHERE b && o.query)::bigint AS overlap_ids,
           (SELECT count(*) FROM %1$I WHERE b <@ o.query)::int AS inside, (SELECT coalesce(sum(id), 0) FROM %1$I WHERE b <@ o.query)::bigint AS inside_ids,
           (SELECT count(*) FROM %1$I WHERE b @> o.query)::int AS contains, (SELECT coalesce(sum(id), 0) FROM %1$I WHERE b @> o.query)::bigint AS contains_ids
    FROM oracle_box o WHERE set = %1$L$sql$, set);
  nearest text := format($sql$
    SELECT p.point, n.d, n.id FROM (SELECT DISTINCT point FROM oracle_nearest WHERE set = %1$L) p,
      LATERAL (SELECT b <-> p.point AS d, id FROM %1$I ORDER BY b <-> p.point LIMIT 40) n$sql$, set);
BEGIN
  EXECUTE format('SELECT count(*) FROM %I', set) INTO plan;
  RETURN NEXT is(plan::int, nboxes, set || ': all boxes loaded');
  FOREACH path IN ARRAY ARRAY['seq', 'index', 'bitmap', 'only'] LOOP
    PERFORM use_path(path);
    plan := plan_of(query);
    IF path <> 'seq' THEN
      RETURN NEXT ok(plan ~ CASE path WHEN 'index' THEN 'Index Scan using .*b && .*b <@ .*b @>' WHEN 'bitmap' THEN 'Bitmap Index Scan .*b && .*b <@ .*b @>'
                                 ELSE 'Index Only Scan .*b && .*b <@ .*b @>' END, format('%s, %s: the index is used', set, path));
    END IF;
    RETURN NEXT set_eq(query, format('SELECT query, overlap, overlap_ids, inside, inside_ids, contains, contains_ids FROM oracle_box WHERE set = %L', set),
                       format('%s, %s: overlap, inside, contains', set, path));
    IF path <> 'bitmap' THEN
      -- boxes as near as the fifth may follow it, so more are read than compared
      RETURN NEXT set_eq(format('SELECT point, d, id FROM (SELECT *, row_number() OVER (PARTITION BY point ORDER BY d, id) AS rank FROM (%s) s) t WHERE rank <= 5', nearest),
                         format('SELECT point, sqrt(squared_distance), id FROM oracle_nearest WHERE set = %L', set),
                         format('%s, %s: nearest', set, path));
    END IF;
  END LOOP;
  PERFORM use_path('any');
END $$;
SELECT t FROM sets, LATERAL test_set(set, nboxes) t;

-- ---------------------------------------------------------------------------
-- rays: what they hit, and first
-- ---------------------------------------------------------------------------

CREATE FUNCTION test_rays(set text, paths text[], index text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  path text;
  ray text := 'ray3d(box3d_xmin(origin), box3d_ymin(origin), box3d_zmin(origin), box3d_xmin(direction), box3d_ymin(direction), box3d_zmin(direction))';
  hits text := format('SELECT origin, count(*)::int, sum(id)::bigint FROM oracle_ray JOIN %1$I ON b && %2$s WHERE set = %1$L GROUP BY 1', set, ray);
  -- several may be entered at once, and the oracle divided in another way
  firsts text := format('SELECT origin, abs(t - first_t) < 1e-15 AS is_time, (SELECT b <-> %2$s = t FROM %1$I WHERE id = first_id) AS is_first
    FROM oracle_ray, LATERAL (SELECT b <-> %2$s AS t FROM %1$I WHERE b && %2$s ORDER BY b <-> %2$s LIMIT 1) l WHERE set = %1$L', set, ray);
BEGIN
  FOREACH path IN ARRAY paths LOOP
    PERFORM use_path(path);
    IF path <> 'seq' THEN
      RETURN NEXT ok(plan_of(firsts) ~ (index || '[^\n]*\n *Index Cond[^\n]*\n *Order By'), format('%s, %s: the index is used for rays', index, path));
    END IF;
    RETURN NEXT set_eq(hits, format('SELECT origin, hits, hit_ids FROM oracle_ray WHERE set = %L', set), format('%s, %s: hits', index, path));
    RETURN NEXT set_eq(firsts, format('SELECT origin, true AS is_time, true AS is_first FROM oracle_ray WHERE set = %L', set), format('%s, %s: first hits', index, path));
  END LOOP;
  PERFORM use_path('any');
END $$;
SELECT t FROM sets, LATERAL test_rays(set, '{seq,index,only}', set || '_b') t;
CREATE INDEX freedoom2_maps_bvh ON freedoom2_maps USING bvh (b) INCLUDE (id);
CREATE INDEX octomap_geb079_occ_bvh ON octomap_geb079_occ USING bvh (b) INCLUDE (id);
CREATE INDEX mocap_bones_bvh ON mocap_bones USING bvh (b) INCLUDE (id);
CREATE INDEX ifc_house_triangles_bvh ON ifc_house_triangles USING bvh (b) INCLUDE (id);
CREATE INDEX ifc_house_elements_bvh ON ifc_house_elements USING bvh (b) INCLUDE (id);
UPDATE pg_index SET indisvalid = false WHERE indexrelid::regclass::text ~ '(maps|occ|bones|triangles|elements)_b$';
SELECT t FROM sets, LATERAL test_rays(set, '{index,only}', set || '_bvh') t;
UPDATE pg_index SET indisvalid = true WHERE NOT indisvalid;
DROP INDEX freedoom2_maps_bvh, octomap_geb079_occ_bvh, mocap_bones_bvh, ifc_house_triangles_bvh, ifc_house_elements_bvh;

-- ---------------------------------------------------------------------------
-- joins: pairs that overlap
-- ---------------------------------------------------------------------------

CREATE TABLE walls AS SELECT map, b FROM freedoom2_maps JOIN freedoom2_maps_attr USING (id) WHERE kind = 'wall';
CREATE TABLE spaces AS SELECT map, b FROM freedoom2_maps JOIN freedoom2_maps_attr USING (id) WHERE kind = 'space';
CREATE TABLE things AS SELECT map, b FROM freedoom2_maps JOIN freedoom2_maps_attr USING (id) WHERE kind = 'thing';
CREATE TABLE solid AS SELECT b FROM ifc_house_triangles JOIN ifc_house_triangles_attr USING (id) WHERE kind IN ('IfcWallStandardCase', 'IfcSlab');
CREATE TABLE furniture AS SELECT b FROM ifc_house_triangles JOIN ifc_house_triangles_attr USING (id) WHERE kind = 'IfcFurnishingElement';
CREATE TABLE bones AS SELECT id, b, take, frame FROM mocap_bones JOIN mocap_bones_attr USING (id);
CREATE INDEX ON walls USING gist (b);
CREATE INDEX ON spaces USING gist (b);
CREATE INDEX ON furniture USING gist (b);
CREATE INDEX ON bones (take, frame);
ANALYZE;

CREATE TABLE joins (name text, query text, by_nested_loop text);
INSERT INTO joins VALUES
  ('freedoom things and walls', 'FROM things t JOIN walls w ON t.b && w.b', NULL),
  ('freedoom things and spaces', 'FROM things t JOIN spaces s ON t.b && s.b', NULL),
  ('ifc elements', 'FROM ifc_house_elements a JOIN ifc_house_elements c ON a.b && c.b AND a.id < c.id', 'box3d_overlaps(a.b, c.b)'),
  ('ifc furniture and walls', 'FROM solid s JOIN furniture f ON s.b && f.b', 'box3d_overlaps(s.b, f.b)'),
  ('mocap bones of a frame', 'FROM bones a JOIN bones c ON a.take = c.take AND a.frame = c.frame AND a.id < c.id AND a.b && c.b', 'box3d_overlaps(a.b, c.b)');
CREATE FUNCTION test_join(name text, query text, by_nested_loop text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  want bigint := (SELECT pairs FROM oracle_join o WHERE o.name = test_join.name);
  n bigint;
BEGIN
  EXECUTE 'SELECT count(*) ' || query INTO n;
  RETURN NEXT is(n, want, name || ': pairs, as planned');
  PERFORM use_path('index');
  SET LOCAL bvhindex.enable_join = off;
  EXECUTE 'SELECT count(*) ' || query INTO n;
  RETURN NEXT is(n, want, name || ': pairs, with an index');
  SET LOCAL bvhindex.enable_join = on;
  PERFORM use_path('any');
  IF by_nested_loop IS NOT NULL THEN
    EXECUTE 'SELECT count(*) ' || regexp_replace(query, '\w+\.b && \w+\.b', by_nested_loop) INTO n;
    RETURN NEXT is(n, want, name || ': pairs, with the function alone');
  END IF;
END $$;
SELECT t FROM joins, LATERAL test_join(name, query, by_nested_loop) t;

-- each pair once, and none with itself; without the condition on the ids, all of it
SELECT is((SELECT count(*) FROM ifc_house_elements a JOIN ifc_house_elements c ON a.b && c.b), 2 * 418 + 110::bigint, 'a self join without a condition on the ids');

-- every pair of 1,000 boxes that all overlap
CREATE TABLE pile AS SELECT i AS id, box3d(-i, 0, 0, 1, i, i) AS b FROM generate_series(1, 1000) i;
CREATE INDEX ON pile USING gist (b);
ANALYZE pile;
SELECT is((SELECT count(*) FROM pile a JOIN pile c ON a.b && c.b AND a.id < c.id), 499500::bigint, 'all pairs of 1,000 boxes');

-- ---------------------------------------------------------------------------
-- all operators, the whole order by distance, and growth
-- ---------------------------------------------------------------------------

SELECT queries_for('ifc_house_triangles', 1);
SELECT is_empty($$SELECT * FROM disagreements('ifc_house_triangles', 'ifc_house_triangles_b', '{only}')$$, 'all operators on the building');
SELECT is_empty(format($$SELECT * FROM nearest_disagreements('ifc_house_triangles', 'ifc_house_triangles_b', '{index}', %L, row_limit => 1000)$$, simd_levels()), 'order by distance on the building');
TRUNCATE queries;
INSERT INTO queries SELECT 1, b FROM mocap_bones WHERE id = 20000;
SELECT is_empty($$SELECT * FROM nearest_disagreements('mocap_bones', 'mocap_bones_b', '{index,only}')$$, 'all bones by distance');

CREATE INDEX bulk ON ifc_house_triangles USING gist (b);
TRUNCATE queries;
INSERT INTO queries SELECT id, b FROM ifc_house_triangles WHERE id % 350 = 0;
CREATE FUNCTION reads_of(tbl regclass) RETURNS bigint LANGUAGE sql AS
$$ SELECT index_pages(format('SELECT count(*) FROM queries q, LATERAL (SELECT 1 FROM %s t WHERE t.b && q.b OFFSET 0) s', tbl)) $$;
DROP INDEX ifc_house_triangles_b;
SELECT reads_of('ifc_house_triangles') AS bulk_reads \gset
DROP INDEX bulk;
CREATE TABLE grown (LIKE ifc_house_triangles);
CREATE INDEX grown_b ON grown USING gist (b);
INSERT INTO grown SELECT * FROM ifc_house_triangles;
SELECT cmp_ok(reads_of('grown'), '<=', (3 * :bulk_reads)::bigint, format('the building grown by inserts: at most 3 times the pages of the bulk-built index (%s, %s)', reads_of('grown'), :bulk_reads));

SELECT * FROM finish();
ROLLBACK;
