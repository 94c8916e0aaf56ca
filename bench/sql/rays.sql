-- :rays rays from anywhere in a cube of side :world, half of them as many again along an axis.
SET search_path = bench;
TRUNCATE raw_rays;

SELECT setseed(0.5) \g /dev/null

INSERT INTO raw_rays
SELECT id, 'slanted', :world * random(), :world * random(), :world * random(), random() - 0.5, random() - 0.5, random() - 0.5
FROM generate_series(1, :rays) id;

INSERT INTO raw_rays
SELECT id, 'straight', :world * random(), :world * random(), :world * random(),
	CASE id % 3 WHEN 0 THEN way ELSE 0 END, CASE id % 3 WHEN 1 THEN way ELSE 0 END, CASE id % 3 WHEN 2 THEN way ELSE 0 END
FROM (SELECT id, sign(random() - 0.5) AS way FROM generate_series(1, :rays) id) s;
