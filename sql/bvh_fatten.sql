-- fat boxes around moving ones

-- the fat box itself while it contains the tight one, on its border too
SELECT box3d_fatten(fat, tight, 1)
FROM (VALUES (box3d(0, 0, 0, 10, 10, 10), box3d(1, 1, 1, 2, 2, 2)),
             (box3d(0, 0, 0, 10, 10, 10), box3d(0, 0, 0, 10, 10, 10)),
             (box3d(0, 0, 0, 10, 10, 10), box3d(5, 5, 5, 6, 6, 10.5)),
             (NULL, box3d(5, 5, 5, 6, 6, 6)),
             (box3d(0, 0, 0, 10, 10, 10), NULL)) v(fat, tight);
-- four steps ahead, on the side of the movement alone
SELECT box3d_fatten(NULL, box3d(0, 0, 0, 1, 1, 1), 0.5, ARRAY[1, -2, 0]);
SELECT box3d_fatten(NULL, box3d(0, 0, 0, 1, 1, 1), 0, NULL) AS no_margin,
       box3d_fatten(box3d(0, 0, 0, 1, 1, 1), box3d(0, 0, 0, 2, 1, 1), NULL) AS not_known,
       box3d_fatten(NULL, box3d(0, 0, 0, 1, 1, 1), 'Infinity') AS everything;
SELECT box3d_fatten(NULL, box3d(0, 0, 0, 1, 1, 1), -1);
SELECT box3d_fatten(NULL, box3d(0, 0, 0, 1, 1, 1), 'NaN');
SELECT box3d_fatten(NULL, box3d(0, 0, 0, 1, 1, 1), 1, ARRAY[1, 2]);
SELECT box3d_fatten(NULL, box3d(0, 0, 0, 1, 1, 1), 1, '{1,NaN,0}');
SELECT box3d_fatten(NULL, box3d(0, 0, 0, 1, 1, 1), 1, '{1,NULL,0}');
SELECT box3d_fatten(NULL, box3d(0, 0, 0, 1e308, 1, 1), 1e308);

-- the trigger
CREATE TABLE drones (id int PRIMARY KEY, tight box3d, fat box3d, step float8[]);
CREATE TRIGGER fatten BEFORE INSERT OR UPDATE ON drones FOR EACH ROW EXECUTE FUNCTION bvh_fatten('fat', 'tight', '2', 'step');
INSERT INTO drones (id, tight, step) VALUES (1, box3d(0, 0, 0, 1, 1, 1), '{1,0,0}'), (2, box3d(5, 5, 5), NULL), (3, NULL, NULL);
SELECT * FROM drones ORDER BY id;
UPDATE drones SET tight = box3d_translate(tight, 2, 2, 0);
SELECT * FROM drones ORDER BY id;
UPDATE drones SET tight = box3d_translate(tight, 0, 1, 0), step = NULL WHERE id = 1;
UPDATE drones SET tight = NULL WHERE id = 2;
-- a fat box that does not contain the tight one is not taken
UPDATE drones SET tight = box3d(0, 0, 0), fat = box3d(1, 1, 1) WHERE id = 3;
SELECT * FROM drones ORDER BY id;

-- columns may move, and the tight one may be of a domain, whose checks the fat one would escape
CREATE DOMAIN hull AS box3d;
CREATE TABLE ships (gone int, hull hull, fat box3d, taut hull);
ALTER TABLE ships DROP COLUMN gone;
CREATE TRIGGER fatten BEFORE INSERT OR UPDATE OF hull ON ships FOR EACH ROW EXECUTE FUNCTION bvh_fatten(fat, hull, 1);
INSERT INTO ships VALUES (box3d(0, 0, 0)) RETURNING fat;
CREATE TRIGGER again BEFORE INSERT ON ships FOR EACH ROW EXECUTE FUNCTION bvh_fatten(taut, hull, 1);
INSERT INTO ships VALUES (box3d(0, 0, 0));

\set SHOW_CONTEXT never
-- what is wrong with a trigger shows at its first row
CREATE FUNCTION try_trigger(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'CREATE TRIGGER fatten BEFORE INSERT ON tried FOR EACH ROW EXECUTE FUNCTION ' || what;
  INSERT INTO tried VALUES (1, box3d(0, 0, 0), NULL);
END $$;
CREATE TABLE tried (id int, tight box3d, fat box3d);
SELECT try_trigger('bvh_fatten()');
SELECT try_trigger('bvh_fatten(fat, tight)');
SELECT try_trigger('bvh_fatten(fat, tigth, 1)');
SELECT try_trigger('bvh_fatten(fat, ctid, 1)');
SELECT try_trigger('bvh_fatten(fat, id, 1)');
SELECT try_trigger('bvh_fatten(fat, tight, wide)');
SELECT try_trigger('bvh_fatten(fat, tight, ''1e400'')');
SELECT try_trigger('bvh_fatten(fat, tight, ''2 m'')');
SELECT try_trigger('bvh_fatten(fat, tight, '' '')');
SELECT try_trigger('bvh_fatten(fat, tight, ''-1'')');
SELECT try_trigger('bvh_fatten(fat, tight, 1, id)');
SELECT try_trigger('bvh_fatten(fat, fat, 1)');
ALTER TABLE tried ADD made box3d GENERATED ALWAYS AS (box3d(id, 0, 0)) STORED;
SELECT try_trigger('bvh_fatten(fat, made, 1)');
SELECT try_trigger('bvh_fatten(made, tight, 1)');
CREATE TRIGGER late AFTER INSERT ON tried FOR EACH ROW EXECUTE FUNCTION bvh_fatten(fat, tight, 1);
INSERT INTO tried VALUES (1, box3d(0, 0, 0), NULL);
SELECT bvh_fatten();

DROP TABLE drones, ships, tried;
DROP DOMAIN hull;
DROP FUNCTION try_trigger;
