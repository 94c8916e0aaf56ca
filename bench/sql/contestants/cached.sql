CREATE SCHEMA IF NOT EXISTS bvh;
CREATE EXTENSION IF NOT EXISTS bvhindex SCHEMA bvh;

INSERT INTO bench.contestant (name, title, extension, ours, path, settings, method, box, point, overlap_op, distance_op)
VALUES ('cached', 'the same with its tree in shared memory', 'bvhindex', true, 'bvh', '{bvhindex.use_cache=on}', 'bvh',
	'box3d(x1, y1, z1, x2, y2, z2)', 'box3d(x, y, z)', '&&', '<->');
