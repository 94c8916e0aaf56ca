-- What is the same for indexes of gist and of :method: answers as those of the
-- sequential scan.  After agree.sql and kinds.sql; leaves the table t(id, b), with
-- rows without a box, and no index on it.

SELECT set_eq('SELECT strategy::int, name::text FROM search_operators',
  $$VALUES (1,'<<'), (2,'&<'), (3,'&&'), (4,'&>'), (5,'>>'), (6,'~='), (7,'@>'), (8,'<@'), (9,'&<|'), (10,'<<|'),
    (11,'|>>'), (12,'|&>'), (18,'='), (31,'<</'), (32,'&</'), (33,'/&>'), (34,'/>>'), (35,'&&+')$$,
  'the operators of the class and their strategy numbers');

-- ---------------------------------------------------------------------------
-- all kinds
-- ---------------------------------------------------------------------------

-- test_kind(kind): leaves the tables bulk, with an index, and grown
CREATE FUNCTION test_kind(kind text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE bulk AS SELECT * FROM boxes_of(kind, 400);
  PERFORM queries_for('bulk', 2);
  EXECUTE format('CREATE INDEX bulk_b ON bulk USING %s (b) INCLUDE (id)', method());
  RETURN NEXT is_empty(format('SELECT * FROM disagreements(''bulk'', ''bulk_b'', ''{only}'', %L)', simd_levels()),
                       kind || ': bulk-built');

  -- the padding makes few entries fit on a page, and so a tree of many levels
  CREATE TABLE grown (id int, b box3d, pad text);
  EXECUTE format('CREATE INDEX grown_b ON grown USING %s (b) INCLUDE (pad)', method());
  INSERT INTO grown SELECT id, b, repeat(chr(33 + id % 90), 700) FROM bulk;
  RETURN NEXT is_empty('SELECT * FROM disagreements(''grown'', ''grown_b'')', kind || ': grown by inserts');
END $$;

-- ---------------------------------------------------------------------------
-- rows that must be found among infinite ones, whenever those came
-- ---------------------------------------------------------------------------

CREATE TABLE s (id int, b box3d);
CREATE INDEX s_b ON s USING :method (b);
INSERT INTO s VALUES (5001, box3d('-Infinity', 0, 0, 'Infinity', 1, 1)), (5002, box3d(0, 0, 0, 'Infinity', 'Infinity', 'Infinity'));
INSERT INTO s SELECT i, box3d(i, i, i, i + 1, i + 1, i + 1) FROM generate_series(1, 1000) i;
SELECT use_path('index');
SELECT set_eq($$SELECT id FROM s WHERE b && box3d(1e6, 0.5, 0.5, 2e6, 0.6, 0.6)$$, ARRAY[5001, 5002], 'infinite rows inserted first');
DELETE FROM s WHERE id > 5000;
INSERT INTO s VALUES (5001, box3d('-Infinity', 0, 0, 'Infinity', 1, 1)), (5002, box3d(0, 0, 0, 'Infinity', 'Infinity', 'Infinity'));
SELECT set_eq($$SELECT id FROM s WHERE b && box3d(1e6, 0.5, 0.5, 2e6, 0.6, 0.6)$$, ARRAY[5001, 5002], 'infinite rows inserted last');
REINDEX INDEX s_b;
SELECT set_eq($$SELECT id FROM s WHERE b && box3d(1e6, 0.5, 0.5, 2e6, 0.6, 0.6)$$, ARRAY[5001, 5002], 'infinite rows before the index');
SELECT use_path('any');

-- ---------------------------------------------------------------------------
-- kinds of indexes
-- ---------------------------------------------------------------------------

CREATE TABLE t AS SELECT * FROM boxes_of('random', 2000);
INSERT INTO t SELECT -id, NULL FROM generate_series(1, 500) id;
INSERT INTO t SELECT 10000 + id, b FROM boxes_of('infinite', 100);
SELECT queries_for('t', 2);

CREATE INDEX t_b ON t USING :method (b);
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b')$$, 'with rows without a box');
SELECT is((SELECT count(*)::int FROM t WHERE b && NULL), 0, 'nothing overlaps NULL');
SELECT use_path('index');
SELECT matches(plan_of('SELECT id FROM t WHERE b IS NULL'), 'Index Scan using t_b.*Index Cond: \(b IS NULL\)', 'IS NULL uses the index');
SELECT set_eq('SELECT id FROM t WHERE b IS NULL', 'SELECT -i FROM generate_series(1, 500) i', 'IS NULL');
SELECT is((SELECT count(*)::int FROM t WHERE b IS NOT NULL), 2100, 'IS NOT NULL');

PREPARE overlapping(box3d) AS SELECT count(*)::int FROM t WHERE b && $1;
SET plan_cache_mode = force_generic_plan;
SELECT matches(plan_of('EXECUTE overlapping(NULL)'), 'Index Scan using t_b', 'a prepared statement uses the index');
SELECT is_empty('SELECT 1 FROM t WHERE b && (SELECT NULL::box3d)', 'a NULL known only while running');
SELECT results_eq('EXECUTE overlapping(NULL)', 'VALUES (0)', 'a NULL parameter');
SELECT results_eq($$EXECUTE overlapping('(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)')$$, 'VALUES (2100)', 'and then another');
SELECT results_eq('EXECUTE overlapping(NULL)', 'VALUES (0)', 'and NULL again');
RESET plan_cache_mode;

-- one scan node, started again for every outer row, with other boxes and with NULL
CREATE FUNCTION rescan_query(first text, second text) RETURNS text LANGUAGE sql AS $$
  SELECT format($q$SELECT q.id, l.n FROM (SELECT id, CASE WHEN id %% 3 > 0 THEN b END AS b FROM queries) q,
    LATERAL (SELECT count(*)::int AS n FROM t WHERE %s OR %s) l$q$, first, second) $$;
SELECT use_path('bitmap');
SELECT matches(plan_of(rescan_query('t.b && q.b', 't.b <@ q.b')), 'BitmapOr', 'two bitmaps');
SELECT set_eq(rescan_query('t.b && q.b', 't.b <@ q.b'), rescan_query('box3d_overlaps(t.b, q.b)', 'false'), 'rescans of a bitmap scan');
SELECT use_path('any');
DROP INDEX t_b;

CREATE INDEX t_b ON t USING :method (b) WHERE id % 3 = 0;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b', '{index,bitmap}', filter => 'id % 3 = 0')$$, 'partial index');
DROP INDEX t_b;

CREATE INDEX t_b ON t USING :method (box3d_expand(b, 1)) WHERE id % 3 = 0;
SELECT use_path('index');
SELECT matches(plan_of('SELECT id FROM t WHERE box3d_expand(b, 1) && box3d(0, 0, 0, 9, 9, 9) AND id % 3 = 0'), 'Index Scan using t_b', 'an expression is found');
SELECT set_eq('SELECT id FROM t WHERE box3d_expand(b, 1) && box3d(0, 0, 0, 99, 99, 99) AND id % 3 = 0',
  'SELECT id FROM t WHERE box3d_overlaps(box3d_expand(b, 1), box3d(0, 0, 0, 99, 99, 99)) AND id % 3 = 0', 'index on an expression, with NULL among its values');
SELECT use_path('any');
DROP INDEX t_b;

CREATE TEMP TABLE gone AS SELECT * FROM t;
CREATE INDEX gone_b ON gone USING :method (b);
SELECT is_empty($$SELECT * FROM disagreements('gone', 'gone_b')$$, 'temporary table');
INSERT INTO gone SELECT * FROM boxes_of('tiles', 2000);
SELECT is_empty($$SELECT * FROM disagreements('gone', 'gone_b', '{bitmap}')$$, 'temporary table, after inserts');

CREATE UNLOGGED TABLE unlogged AS SELECT * FROM t;
CREATE INDEX unlogged_b ON unlogged USING :method (b);
INSERT INTO unlogged SELECT * FROM boxes_of('tiles', 500);
SELECT is_empty($$SELECT * FROM disagreements('unlogged', 'unlogged_b')$$, 'unlogged table');

-- two indexes on one column, one of them dropped
CREATE INDEX t_b ON t USING :method (b);
CREATE INDEX t_b2 ON t USING :method (b);
DROP INDEX t_b;
SELECT is_empty($$SELECT * FROM disagreements('t', 't_b2', '{bitmap}')$$, 'the second of two equal indexes');
DROP INDEX t_b2;

-- ---------------------------------------------------------------------------
-- exclusion constraints
-- ---------------------------------------------------------------------------

CREATE TABLE ex (b box3d, CONSTRAINT apart EXCLUDE USING :method (b WITH &&));
INSERT INTO ex VALUES (box3d(0, 0, 0, 1, 1, 1)), (NULL), (NULL);
SELECT throws_ok('INSERT INTO ex VALUES (box3d(1, 1, 1, 2, 2, 2))', '23P01', NULL, '&& excludes boxes that touch');
SELECT lives_ok('INSERT INTO ex VALUES (box3d(1.5, 1, 1, 2, 2, 2))', 'but not boxes apart');
SELECT throws_ok('UPDATE ex SET b = box3d_translate(b, -0.5, 0, 0) WHERE box3d_xmin(b) = 1.5', '23P01', NULL, 'an update into a conflict');
SELECT lives_ok('INSERT INTO ex VALUES (box3d(0.5, 0.5, 0.5)), (box3d(9, 9, 9)) ON CONFLICT DO NOTHING', 'ON CONFLICT DO NOTHING');
SELECT lives_ok('INSERT INTO ex VALUES (box3d(0.5, 0.5, 0.5)), (box3d(8, 8, 8)) ON CONFLICT ON CONSTRAINT apart DO NOTHING', 'ON CONFLICT ON CONSTRAINT');
SELECT is((SELECT count(*)::int FROM ex WHERE b && box3d(8, 8, 8, 9, 9, 9)), 2, 'kept the rows without a conflict');
SELECT is((SELECT count(*)::int FROM ex), 6, 'and only those');
DELETE FROM ex WHERE b && box3d(0, 0, 0);
SELECT lives_ok('INSERT INTO ex VALUES (box3d(1, 1, 1))', 'a deleted row excludes nothing');

CREATE TABLE bricks (b box3d, CONSTRAINT no_clash EXCLUDE USING :method (b WITH &&+) WITH (fillfactor = 60));
SELECT lives_ok('INSERT INTO bricks SELECT b FROM boxes_of(''tiles'', 3000)', '&&+ lets boxes share faces, edges and corners');
SELECT throws_ok('INSERT INTO bricks VALUES (box3d(5.5, 5.5, 5.5, 6, 6, 6))', '23P01', NULL, 'but not overlap');
SELECT throws_ok('INSERT INTO bricks VALUES (box3d(5, 5, 5, 6, 6, 6))', '23P01', NULL, 'nor be equal');
SELECT is((SELECT count(*)::int FROM bricks WHERE b && box3d(5, 5, 5)), 8, 'the neighbours are found');

CREATE TABLE later (id int, b box3d, CONSTRAINT apart_later EXCLUDE USING :method (b WITH &&) WHERE (id > 0) DEFERRABLE INITIALLY DEFERRED);
INSERT INTO later VALUES (1, box3d(0, 0, 0, 1, 1, 1)), (2, box3d(0.5, 0, 0, 2, 1, 1)), (-3, box3d(0, 0, 0));
UPDATE later SET b = box3d_translate(b, 5, 0, 0) WHERE id = 2;
SELECT lives_ok('SET CONSTRAINTS apart_later IMMEDIATE', 'a conflict that is gone when the constraint is checked');
SET CONSTRAINTS apart_later DEFERRED;
INSERT INTO later VALUES (3, box3d(0.5, 0, 0));
SELECT throws_ok('SET CONSTRAINTS apart_later IMMEDIATE', '23P01', NULL, 'one that is not');
SELECT throws_ok('ALTER TABLE t ADD EXCLUDE USING ' || method() || ' (b WITH &&)', '23P01', NULL, 'rows in conflict prevent a constraint');
CREATE TABLE once (b box3d, EXCLUDE USING :method (b WITH =));
SELECT throws_ok('INSERT INTO once VALUES (box3d(-0.0, 0, 0, 1, 1, 1)), (box3d(0, 0, 0, 1, 1, 1))', '23P01', NULL, '= excludes equal boxes');

SELECT is_empty('SELECT unsound()', 'all indexes are sound');
