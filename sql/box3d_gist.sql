-- The GiST operator class: what can be declared, and what is refused.

CREATE TABLE g (id int, model int, b box3d);
INSERT INTO g SELECT i, i % 3, box3d(i, 0, 0, i + 0.5, 1, 1) FROM generate_series(1, 500) i;

-- the default for USING gist; INCLUDE, partial, expression, fillfactor
CREATE INDEX g_b ON g USING gist (b) INCLUDE (id);
CREATE INDEX g_part ON g USING gist (b) WITH (fillfactor = 50) WHERE model = 1;
CREATE INDEX g_expr ON g USING gist (box3d_expand(b, 1));
\d g
-- not an opclass of core's storage options
CREATE INDEX ON g USING gist (b) WITH (fillfactor = 5);
-- a unique GiST index does not exist; a unique btree does
CREATE UNIQUE INDEX ON g USING gist (b);
CREATE UNIQUE INDEX g_unique ON g (b);
INSERT INTO g VALUES (501, 0, box3d(1, 0, 0, 1.5, 1, 1));
DROP TABLE g;

-- no two boxes may clash; with &&+ they may touch
CREATE TABLE room (b box3d, EXCLUDE USING gist (b WITH &&));
INSERT INTO room VALUES (box3d(0, 0, 0, 1, 1, 1));
INSERT INTO room VALUES (box3d(1, 1, 1, 2, 2, 2));
INSERT INTO room VALUES (box3d(1, 1, 1, 2, 2, 2)) ON CONFLICT DO NOTHING;
INSERT INTO room VALUES (box3d(1.5, 1, 1, 2, 2, 2)), (NULL), (NULL);
DROP TABLE room;
CREATE TABLE room (b box3d, EXCLUDE USING gist (b WITH &&+));
INSERT INTO room VALUES (box3d(0, 0, 0, 1, 1, 1)), (box3d(1, 0, 0, 2, 1, 1));
INSERT INTO room VALUES (box3d(0.5, 0, 0, 1.5, 1, 1));
SELECT count(*) FROM room;
DROP TABLE room;
-- operators without a commutator cannot exclude (the words are PostgreSQL's)
\set VERBOSITY sqlstate
CREATE TABLE room (b box3d, EXCLUDE USING gist (b WITH &<));
\set VERBOSITY default

SELECT opcname, amname, opcdefault, amvalidate(c.oid)
FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE opcintype = 'box3d'::regtype AND amname <> 'bvh' ORDER BY 1, 2;
