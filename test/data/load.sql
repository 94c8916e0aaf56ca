-- The real sets as tables (id int, b box3d), and the labels of some as SET_attr.
-- Run with \i from the root of the checkout: the paths are relative to it.

CREATE TABLE raw_boxes (id int, x1 float8, y1 float8, z1 float8, x2 float8, y2 float8, z2 float8);

\copy raw_boxes FROM PROGRAM 'gzip -dc test/data/freedoom2_maps.csv.gz' WITH (FORMAT csv, HEADER)
CREATE TABLE freedoom2_maps AS SELECT id, box3d(x1, y1, z1, x2, y2, z2) b FROM raw_boxes;
CREATE TABLE freedoom2_maps_attr (id int, map text, kind text, what text);
\copy freedoom2_maps_attr FROM PROGRAM 'gzip -dc test/data/freedoom2_maps.attr.csv.gz' WITH (FORMAT csv, HEADER)

TRUNCATE raw_boxes;
\copy raw_boxes FROM PROGRAM 'gzip -dc test/data/octomap_geb079_occ.csv.gz' WITH (FORMAT csv, HEADER)
CREATE TABLE octomap_geb079_occ AS SELECT id, box3d(x1, y1, z1, x2, y2, z2) b FROM raw_boxes;

TRUNCATE raw_boxes;
\copy raw_boxes FROM PROGRAM 'gzip -dc test/data/mocap_bones.csv.gz' WITH (FORMAT csv, HEADER)
CREATE TABLE mocap_bones AS SELECT id, box3d(x1, y1, z1, x2, y2, z2) b FROM raw_boxes;
CREATE TABLE mocap_bones_attr (id int, take text, frame int, seconds float8, bone text);
\copy mocap_bones_attr FROM PROGRAM 'gzip -dc test/data/mocap_bones.attr.csv.gz' WITH (FORMAT csv, HEADER)

TRUNCATE raw_boxes;
\copy raw_boxes FROM PROGRAM 'gzip -dc test/data/ifc_house_triangles.csv.gz' WITH (FORMAT csv, HEADER)
CREATE TABLE ifc_house_triangles AS SELECT id, box3d(x1, y1, z1, x2, y2, z2) b FROM raw_boxes;
CREATE TABLE ifc_house_triangles_attr (id int, building int, kind text, owner int);
\copy ifc_house_triangles_attr FROM PROGRAM 'gzip -dc test/data/ifc_house_triangles.attr.csv.gz' WITH (FORMAT csv, HEADER)

TRUNCATE raw_boxes;
\copy raw_boxes FROM PROGRAM 'gzip -dc test/data/ifc_house_elements.csv.gz' WITH (FORMAT csv, HEADER)
CREATE TABLE ifc_house_elements AS SELECT id, box3d(x1, y1, z1, x2, y2, z2) b FROM raw_boxes;

DROP TABLE raw_boxes;
