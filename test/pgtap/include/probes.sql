-- probes(set, target, query, truth): for each set, boxes of varied shape and place
-- that overlap about the target part of its rows.  Needs agree.sql.
CREATE TABLE probes (set text, target float8, query box3d, truth bigint);

-- one box around a random row's center, its sides in random proportion, its size
-- found by bisection; the set needs an index
CREATE FUNCTION add_probe(set text, target float8, nrows bigint, extent box3d) RETURNS bool LANGUAGE plpgsql AS $$
DECLARE
  center float8[];
  size float8[] := box3d_size(extent);
  low float8 := -20;
  high float8 := 2;
  log_size float8;
  query box3d;
  n bigint;
BEGIN
  EXECUTE format('SELECT box3d_center(b) FROM %I OFFSET %s LIMIT 1', set, floor(random() * nrows)) INTO center;
  -- proportions from 1:1:1 to 1:16:256
  FOR d IN 1 .. 3 LOOP
    size[d] := greatest(size[d], 1e-300) * 2.0::float8 ^ (random() * 8);
  END LOOP;
  FOR i IN 1 .. 14 LOOP
    log_size := (low + high) / 2;
    query := box3d_expand(box3d(center, center), size[1] * 2 ^ log_size, size[2] * 2 ^ log_size, size[3] * 2 ^ log_size);
    EXECUTE format('SELECT count(*) FROM (SELECT FROM %I WHERE b && $1 LIMIT %s) s', set, ceil(nrows * target * 3)) INTO n USING query;
    IF n BETWEEN nrows * target / 1.3 AND nrows * target * 1.3 THEN
      INSERT INTO probes VALUES (set, target, query, n);
      RETURN true;
    ELSIF n < nrows * target THEN
      low := log_size;
    ELSE
      high := log_size;
    END IF;
  END LOOP;
  RETURN false;
END $$;

-- add_probes(set, target, n): n of them; a set of few different boxes may not
-- have so many, so the search ends after twice as many attempts
CREATE FUNCTION add_probes(set text, target float8, n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  nrows bigint;
  extent box3d;
  found int := 0;
BEGIN
  EXECUTE format('SELECT count(*), box3d_extent(b) FROM %I', set) INTO nrows, extent;
  FOR i IN 1 .. 2 * n LOOP
    EXIT WHEN found = n;
    found := found + add_probe(set, target, nrows, extent)::int;
  END LOOP;
  RETURN found;
END $$;

-- q-error: how many times too high or too low
CREATE FUNCTION q_error(estimate float8, truth float8) RETURNS float8 LANGUAGE sql IMMUTABLE AS
$$ SELECT greatest(greatest(estimate, 1) / greatest(truth, 1), greatest(truth, 1) / greatest(estimate, 1)) $$;
