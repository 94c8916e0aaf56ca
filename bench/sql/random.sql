-- :rows random boxes of side 0 to 4 per axis in a cube of side :world, :inserts more of the same kind, and
-- :probes boxes of side 10.  random() is called row by row in one session, so that the seed fixes all.
SET search_path = bench;
TRUNCATE raw, raw_probes, raw_more;

SELECT setseed(0.25) \g /dev/null

INSERT INTO raw
SELECT id, x, y, z, x + 4 * random(), y + 4 * random(), z + 4 * random()
FROM (SELECT id, :world * random() AS x, :world * random() AS y, :world * random() AS z
	FROM generate_series(1, :rows) id OFFSET 0) corner;

INSERT INTO raw_more
SELECT :rows + id, x, y, z, x + 4 * random(), y + 4 * random(), z + 4 * random()
FROM (SELECT id, :world * random() AS x, :world * random() AS y, :world * random() AS z
	FROM generate_series(1, :inserts) id OFFSET 0) corner;

INSERT INTO raw_probes
SELECT id, x, y, z, x + 10, y + 10, z + 10
FROM (SELECT id, (:world - 10) * random() AS x, (:world - 10) * random() AS y, (:world - 10) * random() AS z
	FROM generate_series(1, :probes) id OFFSET 0) corner;
