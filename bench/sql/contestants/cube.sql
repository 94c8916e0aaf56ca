CREATE SCHEMA IF NOT EXISTS cube;
CREATE EXTENSION IF NOT EXISTS cube SCHEMA cube;

INSERT INTO bench.contestant (name, title, extension, path, method, box, point, overlap_op, distance_op)
VALUES ('cube', 'cube USING gist', 'cube', 'cube', 'gist',
	'cube(ARRAY[x1, y1, z1], ARRAY[x2, y2, z2])', 'cube(ARRAY[x, y, z])', '&&', '<->');
