CREATE SCHEMA IF NOT EXISTS postgis;
CREATE EXTENSION IF NOT EXISTS postgis SCHEMA postgis;

-- no distance: the operator class has search operators only
INSERT INTO bench.contestant (name, title, extension, path, method, opclass, box, point, overlap_op)
VALUES ('postgis_sp3d', 'geometry USING spgist, 3-D', 'postgis', 'postgis', 'spgist', 'spgist_geometry_ops_3d',
	'ST_MakeLine(ST_MakePoint(x1, y1, z1), ST_MakePoint(x2, y2, z2))', 'ST_MakePoint(x, y, z)',
	'&/&');
