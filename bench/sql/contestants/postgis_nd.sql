-- A box is the line between two opposite corners: the shortest geometry with that bounding box.
CREATE SCHEMA IF NOT EXISTS postgis;
CREATE EXTENSION IF NOT EXISTS postgis SCHEMA postgis;

-- Hits: the index and &&& see float4 bounds, rounded outward.  Distances: <<->> walks the index by
-- box, but then measures to the geometry itself, the line, and no geometry is a box that is as cheap.
INSERT INTO bench.contestant
	(name, title, extension, hits_tolerance, distance_tolerance, path, method, opclass, box, point, overlap_op, distance_op)
VALUES ('postgis_nd', 'geometry USING gist, n-D', 'postgis', 0.001, 0.1, 'postgis', 'gist', 'gist_geometry_ops_nd',
	'ST_MakeLine(ST_MakePoint(x1, y1, z1), ST_MakePoint(x2, y2, z2))', 'ST_MakePoint(x, y, z)',
	'&&&', '<<->>');
