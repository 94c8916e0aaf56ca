-- What every contestant is measured with: one set of numbers, one row per contestant that says how
-- to spell a box and its operators, and functions that time the same statement for each of them.

CREATE SCHEMA bench;
SET search_path = bench;

-- plain numbers, from which each contestant makes its own boxes
CREATE UNLOGGED TABLE raw (id int, x1 float8, y1 float8, z1 float8, x2 float8, y2 float8, z2 float8);
CREATE UNLOGGED TABLE raw_probes (LIKE raw);
CREATE UNLOGGED TABLE raw_more (LIKE raw);
CREATE UNLOGGED TABLE raw_rays (id int, kind text, ox float8, oy float8, oz float8, dx float8, dy float8, dz float8);

CREATE TABLE contestant (
	name text PRIMARY KEY, -- also the name of the schema that holds its tables
	title text NOT NULL,
	extension text NOT NULL,
	ours bool NOT NULL DEFAULT false,
	hits_tolerance float8 NOT NULL DEFAULT 0, -- how many more hits its rounding may make, as a fraction
	distance_tolerance float8 NOT NULL DEFAULT 1e-9, -- the same for the sum of nearest distances
	path text NOT NULL, -- where its type lives: PostGIS has a box3d, too
	settings text[] NOT NULL DEFAULT '{}', -- name=value, on top of those in search_with_index()
	method text NOT NULL,
	opclass text NOT NULL DEFAULT '',
	box text NOT NULL, -- of x1, y1, z1, x2, y2, z2
	point text NOT NULL, -- of x, y, z
	overlap_op text NOT NULL,
	distance_op text -- NULL: no nearest-neighbour search in three dimensions
);

CREATE TYPE figure AS (metric text, value text);

CREATE FUNCTION row_of(metric text, value anyelement) RETURNS figure LANGUAGE sql AS $$
	SELECT (metric, value::text)::bench.figure;
$$;

-- apply_settings(settings) --- applies name=value pairs until the transaction ends
CREATE FUNCTION apply_settings(settings text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	setting text;
BEGIN
	FOREACH setting IN ARRAY settings LOOP
		PERFORM set_config(split_part(setting, '=', 1), split_part(setting, '=', 2), true);
	END LOOP;
END $$;

-- enter(contestant) --- its row, with the search path set for the rest of the transaction
CREATE FUNCTION enter(who text) RETURNS contestant LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant;
BEGIN
	SELECT * INTO STRICT c FROM bench.contestant WHERE name = who;
	PERFORM set_config('search_path', c.path || ', pg_catalog', true);
	PERFORM bench.apply_settings(c.settings);
	RETURN c;
END $$;

-- Leaves the planner one way only: a nested loop with an index scan inside.  Its choice is not what
-- is measured here, and contestants with constant estimates would choose badly.
CREATE FUNCTION search_with_index() RETURNS void LANGUAGE sql AS $$
	SELECT bench.apply_settings('{enable_seqscan=off,enable_bitmapscan=off,enable_hashjoin=off,'
		'enable_mergejoin=off,enable_material=off,enable_memoize=off}');
$$;

-- scan_of(query, index) --- the kind of scan that the plan makes of the index; an error if it makes
-- none, or if the rows must be sorted after it
CREATE FUNCTION scan_of(query text, index_name text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	plan text := '';
	scan text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		scan := coalesce(scan, substring(line FROM '(Index(?: Only)? Scan) using ' || index_name));
		plan := plan || E'\n' || line;
	END LOOP;
	IF scan IS NULL OR plan ~ 'Sort' THEN
		RAISE EXCEPTION 'index "%" is not used as it should be', index_name USING DETAIL = plan;
	END IF;
	RETURN scan;
END $$;

CREATE FUNCTION seconds_since(start timestamptz) RETURNS float8 LANGUAGE sql AS $$
	SELECT extract(epoch FROM clock_timestamp() - start)::float8;
$$;

-- try(contestant) --- fails with the server's own words unless type, operators and index exist
CREATE FUNCTION try(who text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
BEGIN
	EXECUTE format('CREATE TEMP TABLE trial AS SELECT %s AS b
		FROM (VALUES (0.0::float8, 0.0::float8, 0.0::float8, 1.0::float8, 1.0::float8, 1.0::float8))
			v (x1, y1, z1, x2, y2, z2)', c.box);
	EXECUTE format('CREATE INDEX ON trial USING %I (b %s)', c.method, c.opclass);
	EXECUTE format('SELECT b %s b FROM trial', c.overlap_op);
	DROP TABLE trial;
END $$;

-- load(contestant, centres) --- its tables, made of the plain numbers; replaces those of the last data set
CREATE FUNCTION load(who text, centres int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
BEGIN
	EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', 'of_' || who);
	EXECUTE format('CREATE SCHEMA %I', 'of_' || who);
	EXECUTE format('CREATE TABLE %I.boxes AS SELECT id, %s AS b FROM bench.raw', 'of_' || who, c.box);
	EXECUTE format('CREATE TABLE %I.more AS SELECT id, %s AS b FROM bench.raw_more', 'of_' || who, c.box);
	EXECUTE format('CREATE TABLE %I.probes AS SELECT id, %s AS b FROM bench.raw_probes', 'of_' || who, c.box);
	EXECUTE format('CREATE TABLE %I.centres AS SELECT id, %s AS c FROM (SELECT id,
			(x1 + x2) / 2 AS x, (y1 + y2) / 2 AS y, (z1 + z2) / 2 AS z
			FROM bench.raw_probes ORDER BY id LIMIT %s) p', 'of_' || who, c.point, centres);
END $$;

-- is_cached(contestant) --- does it answer from shared memory?
CREATE FUNCTION is_cached(c contestant) RETURNS bool LANGUAGE sql AS $$
	SELECT 'bvhindex.use_cache=on' = ANY (c.settings);
$$;

-- build(contestant) --- seconds and bytes of a new index, and of its tree in shared memory
CREATE FUNCTION build(who text) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	start timestamptz;
	build float8;
	cached float8;
	nboxes bigint;
BEGIN
	EXECUTE format('DROP INDEX IF EXISTS %I.boxes_b', 'of_' || who);
	start := clock_timestamp();
	EXECUTE format('CREATE INDEX boxes_b ON %I.boxes USING %I (b %s)', 'of_' || who, c.method, c.opclass);
	build := bench.seconds_since(start);
	RETURN NEXT bench.row_of('build', build);
	IF bench.is_cached(c) THEN
		-- the first one maps memory that the server has not had before
		FOR i IN 1 .. 2 LOOP
			PERFORM bvh_cache_drop(format('%I.boxes_b', 'of_' || who));
			start := clock_timestamp();
			nboxes := bvh_cache_load(format('%I.boxes_b', 'of_' || who));
			cached := bench.seconds_since(start);
		END LOOP;
		RETURN NEXT bench.row_of('cache_build', cached / build);
		RETURN NEXT bench.row_of('cache_bytes', (SELECT bytes::float8 / greatest(nboxes, 1) FROM bvh_cache
			WHERE index = format('%I.boxes_b', 'of_' || who)::regclass));
	END IF;
	RETURN NEXT bench.row_of('size', pg_relation_size(format('%I.boxes_b', 'of_' || who)));
END $$;

-- overlap(contestant) --- microseconds a probe, and the hits of all probes
CREATE FUNCTION overlap(who text) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	query text := format('SELECT count(*) FROM %1$I.probes p JOIN %1$I.boxes b ON b.b %2$s p.b',
		'of_' || who, c.overlap_op);
	probes float8;
	hits int8;
	start timestamptz;
BEGIN
	PERFORM bench.search_with_index();
	RETURN NEXT bench.row_of('overlap_scan', bench.scan_of(query, 'boxes_b'));
	EXECUTE format('SELECT count(*) FROM %I.probes', 'of_' || who) INTO probes;
	-- The first run warms caches, loads libraries, sets hint bits.  In one of over ten seconds that
	-- makes no difference, and it counts.
	start := clock_timestamp();
	EXECUTE query INTO hits;
	IF bench.seconds_since(start) < 10 THEN
		start := clock_timestamp();
		EXECUTE query INTO hits;
	END IF;
	RETURN NEXT bench.row_of('overlap', bench.seconds_since(start) * 1e6 / probes);
	RETURN NEXT bench.row_of('overlap_hits', hits);
END $$;

-- nearest(contestant, k) --- microseconds a search for the k nearest, and the sum of their distances
CREATE FUNCTION nearest(who text, k int) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	query text := format('SELECT count(*), sum(n.d) FROM %1$I.centres c,
		LATERAL (SELECT b.b %2$s c.c AS d FROM %1$I.boxes b ORDER BY b.b %2$s c.c LIMIT %3$s) n',
		'of_' || who, c.distance_op, k);
	centres float8;
	found int8;
	total float8;
	start timestamptz;
BEGIN
	IF c.distance_op IS NULL THEN
		RETURN;
	END IF;
	PERFORM bench.search_with_index();
	RETURN NEXT bench.row_of('knn_scan', bench.scan_of(query, 'boxes_b'));
	EXECUTE format('SELECT count(*) FROM %I.centres', 'of_' || who) INTO centres;
	EXECUTE query INTO found, total;
	start := clock_timestamp();
	EXECUTE query INTO found, total;
	RETURN NEXT bench.row_of('knn', bench.seconds_since(start) * 1e6 / centres);
	RETURN NEXT bench.row_of('knn_found', found);
	RETURN NEXT bench.row_of('knn_total', total);
END $$;

-- insert_more(contestant) --- microseconds a row, heap and index together
CREATE FUNCTION insert_more(who text) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	inserted float8;
	start timestamptz := clock_timestamp();
BEGIN
	EXECUTE format('INSERT INTO %1$I.boxes SELECT id, b FROM %1$I.more', 'of_' || who);
	GET DIAGNOSTICS inserted = ROW_COUNT;
	RETURN NEXT bench.row_of('insert', bench.seconds_since(start) * 1e6 / inserted);
END $$;

-- leaf_pages(contestant) --- leaf pages whose box a probe overlaps, on average; ours alone can tell
CREATE FUNCTION leaf_pages(who text) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	pages float8;
BEGIN
	IF NOT c.ours OR bench.is_cached(c) THEN
		RETURN;
	END IF;
	EXECUTE format('CREATE TEMP TABLE leaves ON COMMIT DROP AS
		SELECT box AS b FROM bvh_nodes(%L) WHERE level = 0', format('%I.boxes_b', 'of_' || who));
	CREATE INDEX ON pg_temp.leaves USING gist (b);
	EXECUTE format('SELECT count(*)::float8 / (SELECT count(*) FROM %1$I.probes)
		FROM %1$I.probes p JOIN pg_temp.leaves l ON l.b && p.b', 'of_' || who) INTO pages;
	RETURN NEXT bench.row_of('leaf_pages', pages);
END $$;

-- grow(contestant) --- its index anew, empty first and then grown row by row
CREATE FUNCTION grow(who text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
BEGIN
	EXECUTE format('CREATE TABLE %1$I.grown AS SELECT * FROM %1$I.boxes', 'of_' || who);
	EXECUTE format('TRUNCATE %1$I.boxes', 'of_' || who);
	PERFORM bench.build(who);
	EXECUTE format('INSERT INTO %1$I.boxes SELECT * FROM %1$I.grown', 'of_' || who);
	IF bench.is_cached(c) THEN
		PERFORM bvh_cache_load(format('%I.boxes_b', 'of_' || who));
	END IF;
END $$;

-- small_query(contestant) --- one overlap query for pgbench, with numbers as parameters
CREATE FUNCTION small_query(who text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT id FROM %I.boxes WHERE b %s %s;', 'of_' || name, overlap_op,
		regexp_replace(box, '\m([xyz][12])\M', ':\1::float8', 'g'))
	FROM bench.contestant WHERE name = who;
$$;

-- joined(contestant, outer_rows) --- microseconds an outer row of a self-join that counts each pair once, by
-- a nested loop over the index.  Only for some outer rows, which are in no order of place: all of them
-- would take minutes, and the time of a row does not depend on how many there are.
CREATE FUNCTION joined(who text, outer_rows bigint) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	query text := format('SELECT count(*) FROM pg_temp.outer_rows a JOIN %I.boxes b ON b.b %s a.b AND a.id < b.id',
		'of_' || who, c.overlap_op);
	nrows float8;
	pairs int8;
	start timestamptz;
BEGIN
	EXECUTE format('CREATE TEMP TABLE outer_rows ON COMMIT DROP AS SELECT * FROM %I.boxes ORDER BY id LIMIT %s',
		'of_' || who, outer_rows);
	ANALYZE pg_temp.outer_rows;
	SELECT count(*) INTO nrows FROM pg_temp.outer_rows;
	IF c.ours THEN
		SET LOCAL bvhindex.enable_join = off;
	END IF;
	PERFORM bench.search_with_index();
	PERFORM bench.scan_of(query, 'boxes_b');
	EXECUTE query INTO pairs;
	start := clock_timestamp();
	EXECUTE query INTO pairs;
	RETURN NEXT bench.row_of('joined', bench.seconds_since(start) * 1e6 / nrows);
	RETURN NEXT bench.row_of('joined_pairs', pairs);
END $$;

-- best_join(contestant) --- the same by BVH Join, for all rows; ours alone can
CREATE FUNCTION best_join(who text) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	query text := format('SELECT count(*) FROM %1$I.boxes a JOIN %1$I.boxes b ON b.b %2$s a.b AND a.id < b.id',
		'of_' || who, c.overlap_op);
	line text;
	plan text := '';
	nrows float8;
	pairs int8;
	start timestamptz;
BEGIN
	IF NOT c.ours OR bench.is_cached(c) THEN
		RETURN;
	END IF;
	-- so that it is a single pass; a nested loop needs no memory
	SET LOCAL work_mem = '256MB';
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		plan := plan || E'\n' || line;
	END LOOP;
	IF plan !~ 'BVH Join' THEN
		RAISE EXCEPTION 'the planner did not choose BVH Join' USING DETAIL = plan;
	END IF;
	EXECUTE format('SELECT count(*) FROM %I.boxes', 'of_' || who) INTO nrows;
	EXECUTE query INTO pairs;
	start := clock_timestamp();
	EXECUTE query INTO pairs;
	RETURN NEXT bench.row_of('best_join', bench.seconds_since(start) * 1e6 / nrows);
	RETURN NEXT bench.row_of('best_join_pairs', pairs);
END $$;

-- pages_of(query) --- pages that it reads, of tables and indexes
CREATE FUNCTION pages_of(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	RETURN (plan #>> '{0,Plan,Shared Hit Blocks}')::float8 + (plan #>> '{0,Plan,Shared Read Blocks}')::float8;
END $$;

-- rays(contestant) --- microseconds for the first hit of a ray, how many rays hit anything, and how many pages
-- rays along an axis read, relative to slanted ones; ours alone can
CREATE FUNCTION rays(who text) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	query text := format('SELECT count(*) FROM pg_temp.%%s r,
		LATERAL (SELECT b.b <-> r.r AS t FROM %I.boxes b WHERE b.b && r.r ORDER BY b.b <-> r.r LIMIT 1) h', 'of_' || who);
	nrays float8;
	hits int8;
	start timestamptz;
BEGIN
	IF NOT c.ours THEN
		RETURN;
	END IF;
	CREATE TEMP TABLE slanted ON COMMIT DROP AS
		SELECT ray3d(ox, oy, oz, dx, dy, dz) AS r FROM bench.raw_rays WHERE kind = 'slanted' ORDER BY id;
	CREATE TEMP TABLE straight ON COMMIT DROP AS
		SELECT ray3d(ox, oy, oz, dx, dy, dz) AS r FROM bench.raw_rays WHERE kind = 'straight' ORDER BY id;
	ANALYZE pg_temp.slanted, pg_temp.straight;
	PERFORM bench.search_with_index();
	RETURN NEXT bench.row_of('rays_scan', bench.scan_of(format(query, 'slanted'), 'boxes_b'));
	SELECT count(*) INTO nrays FROM pg_temp.slanted;
	EXECUTE format(query, 'slanted') INTO hits;
	start := clock_timestamp();
	EXECUTE format(query, 'slanted') INTO hits;
	RETURN NEXT bench.row_of('rays', bench.seconds_since(start) * 1e6 / nrays);
	RETURN NEXT bench.row_of('rays_hits', hits);
	IF bench.is_cached(c) THEN
		RETURN;
	END IF;
	RETURN NEXT bench.row_of('ray_pages', bench.pages_of(format(query, 'straight')) / bench.pages_of(format(query, 'slanted')));
END $$;

-- frustum(contestant) --- milliseconds for what is in a frustum of a hundredth of the world, and how many times
-- longer a sequential scan with the same operator takes; ours alone can
CREATE FUNCTION frustum(who text) RETURNS SETOF figure LANGUAGE plpgsql AS $$
DECLARE
	c bench.contestant := bench.enter(who);
	-- from (500, 500, 500) towards greater x
	query text := format('SELECT count(*) FROM %I.boxes WHERE b && planes3d(ARRAY[[-0.245, 1, 0, 377.5], [-0.245, -1, 0, -622.5],
		[-0.245, 0, 1, 377.5], [-0.245, 0, -1, -622.5], [1, 0, 0, 1000]])', 'of_' || who);
	by_index int8;
	by_table int8;
	seconds float8;
	start timestamptz;
BEGIN
	IF NOT c.ours THEN
		RETURN;
	END IF;
	PERFORM bench.search_with_index();
	PERFORM bench.scan_of(query, 'boxes_b');
	EXECUTE query INTO by_index;
	start := clock_timestamp();
	EXECUTE query INTO by_index;
	seconds := bench.seconds_since(start);
	PERFORM bench.apply_settings('{enable_seqscan=on,enable_indexscan=off,enable_indexonlyscan=off}');
	EXECUTE query INTO by_table;
	start := clock_timestamp();
	EXECUTE query INTO by_table;
	IF by_index <> by_table THEN
		RAISE EXCEPTION '% rows by the index, % by the table', by_index, by_table;
	END IF;
	RETURN NEXT bench.row_of('frustum', seconds * 1e3);
	RETURN NEXT bench.row_of('frustum_hits', by_index);
	RETURN NEXT bench.row_of('frustum_gain', bench.seconds_since(start) / seconds);
END $$;
