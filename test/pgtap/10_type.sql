-- The type box3d: what goes in comes out, equality and order agree everywhere,
-- functions give what they say, and the catalog says what is true.
--
-- README: "NaN is refused everywhere.  There is no empty box: what would be one is
-- NULL."  "Text comes out [...] with the shortest digits that read back to the same
-- number."  "There are [...] no implicit casts."
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
SELECT no_plan();

-- ---------------------------------------------------------------------------
-- in and out
-- ---------------------------------------------------------------------------

-- a number of random bits: any finite double, one in ten denormal
CREATE FUNCTION random_bits() RETURNS float8 LANGUAGE sql VOLATILE AS $$
  SELECT sign(random() - 0.5) * CASE WHEN random() < 0.1
    THEN floor(random() * 2.0::float8 ^ 52) * 4.94065645841247e-324
    ELSE (1 + random()) * 2.0::float8 ^ floor(random() * 2045 - 1022) END
$$;
CREATE TABLE bits AS SELECT i AS id, box3d(random_bits(), random_bits(), random_bits(), random_bits(), random_bits(), random_bits()) AS b
  FROM generate_series(1, 10000) i;
INSERT INTO bits VALUES (0, box3d('-Infinity', '-Infinity', '-Infinity', 'Infinity', 'Infinity', 'Infinity')),
  (-1, box3d('Infinity', 'Infinity', 'Infinity')), (-2, box3d(0, 0, 0)), (-3, box3d(1.7976931348623157e308, -1.7976931348623157e308, 5e-324));

SET extra_float_digits = 1;
SELECT is((SELECT count(*)::int FROM bits WHERE box3d_send(b::text::box3d) <> box3d_send(b)), 0, '10,000 random bit patterns through text');
SET extra_float_digits = 3;
SELECT is((SELECT count(*)::int FROM bits WHERE box3d_send(b::text::box3d) <> box3d_send(b)), 0, 'with all digits, as pg_dump asks for');
SET extra_float_digits = -10;
SELECT is(box3d(1.23456789, 0, 0)::text, '(1.2346,0,0),(1.2346,0,0)', 'fewer digits when asked for');
RESET extra_float_digits;
SELECT is((SELECT count(*)::int FROM bits WHERE box3d_send(b::float8[]::box3d) <> box3d_send(b)), 0, 'through float8[]');
SELECT is((SELECT count(*)::int FROM bits WHERE box3d_send(box3d(box3d_upper(b), box3d_lower(b))) <> box3d_send(b)), 0, 'through its corners, swapped');
SELECT is((SELECT count(*)::int FROM bits WHERE box3d_send(box3d(
    box3d_xmin(b), box3d_ymax(b), box3d_zmin(b), box3d_xmax(b), box3d_ymin(b), box3d_zmax(b))) <> box3d_send(b)), 0, 'through two other opposite corners');
SELECT is((SELECT count(*)::int FROM (SELECT b, ARRAY[b, NULL, b]::text::box3d[] AS a FROM bits) s WHERE a[1] <> b OR a[2] IS NOT NULL OR a[3] <> b), 0, 'through the text of an array');

-- binary, by way of a file; the server runs as the same user here
\set file `mktemp`
\setenv BOX3D_FILE :file
COPY bits TO :'file' (FORMAT binary);
CREATE TABLE copied (LIKE bits);
COPY copied FROM :'file' (FORMAT binary);
\! rm -f "$BOX3D_FILE"
SELECT is((SELECT count(*)::int FROM bits JOIN copied c USING (id) WHERE box3d_send(c.b) = box3d_send(bits.b)), 10004, 'through binary COPY');
SELECT is(box3d_send(box3d(1, -2, 3, -4, 5, -6)),
  (SELECT string_agg(float8send(x), '' ORDER BY i) FROM unnest(ARRAY[-4, -2, -6, 1, 5, 3]::float8[]) WITH ORDINALITY u(x, i)), 'binary is six float8, lower then upper corner');

-- binary rows made by hand: one column of so many bytes
CREATE TABLE hand (b box3d);
CREATE FUNCTION copy_bytes(VARIADIC octets text[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('COPY hand FROM PROGRAM %L (FORMAT binary)',
    format($sh$printf 'PGCOPY\n\377\r\n\000\000\000\000\000\000\000\000\000\000\001\000\000\000\%s%s\377\377'$sh$,
           lpad(to_octal((cardinality(octets) * 8)::text), 3, '0'), array_to_string(octets, '')));
END $$;
CREATE FUNCTION to_octal(n text) RETURNS text LANGUAGE sql AS
$$ SELECT (n::int / 64)::text || (n::int / 8 % 8)::text || (n::int % 8)::text $$;
\set one '\\077\\360\\000\\000\\000\\000\\000\\000'
\set zero '\\000\\000\\000\\000\\000\\000\\000\\000'
\set minus_zero '\\200\\000\\000\\000\\000\\000\\000\\000'
\set nan '\\177\\370\\000\\000\\000\\000\\000\\000'
\set infinity '\\177\\360\\000\\000\\000\\000\\000\\000'
SELECT copy_bytes(:'one', :'one', :'minus_zero', :'zero', :'zero', :'infinity') \g /dev/null
SELECT is(b, '(0,0,0),(1,1,Infinity)', 'binary input takes any two opposite corners') FROM hand;
SELECT is(box3d_send(b), box3d_send('(0,0,0),(1,1,Infinity)'), 'and makes -0 0') FROM hand;
SELECT throws_ok(format('SELECT copy_bytes(%L, %L, %L, %L, %L, %L)', :'zero', :'zero', :'zero', :'one', :'nan', :'one'), '22P03', NULL, 'NaN in binary is an error');
SELECT throws_ok(format('SELECT copy_bytes(%L, %L, %L, %L, %L)', :'zero', :'zero', :'zero', :'one', :'one'), NULL, NULL, 'five numbers in binary are an error');
SELECT throws_ok(format('SELECT copy_bytes(%L, %L, %L, %L, %L, %L, %L)', :'zero', :'zero', :'zero', :'one', :'one', :'one', :'one'), '22P03', NULL, 'seven numbers in binary are an error');
SELECT is((SELECT count(*)::int FROM hand), 1, 'none of those was stored');

-- every door is closed to NaN
SELECT throws_ok($$SELECT '(0,0,NaN),(1,1,1)'::box3d$$, '22P02', NULL, 'NaN in text');
SELECT throws_ok($$SELECT 'BOX3D(nan 0 0,1 1 1)'::box3d$$, '22P02', NULL, 'NaN in PostGIS text');
SELECT throws_ok($$SELECT box3d('NaN', 0, 0, 1, 1, 1)$$, '22023', NULL, 'NaN to the constructor');
SELECT throws_ok($$SELECT box3d(0, 0, 'NaN')$$, '22023', NULL, 'NaN to the point constructor');
SELECT throws_ok($$SELECT box3d(ARRAY[0, 'NaN', 0]::float8[], ARRAY[1, 1, 1]::float8[])$$, '22023', NULL, 'NaN in a corner array');
SELECT throws_ok($$SELECT ARRAY[0, 0, 0, 1, 1, 'NaN']::float8[]::box3d$$, '22023', NULL, 'NaN in an array');
SELECT throws_ok($$SELECT box3d_translate(box3d('-Infinity', 0, 0, 0, 1, 1), 'Infinity', 0, 0)$$, '22023', NULL, '-Infinity + Infinity');
SELECT throws_ok($$SELECT box3d_expand(box3d(0, 0, 0, 1, 1, 1), 'NaN')$$, '22023', NULL, 'expand by NaN');
SELECT throws_ok($$SELECT box3d_reach(box3d(0, 0, 0), 'NaN')$$, '22023', NULL, 'reach of NaN');
SELECT throws_ok($$SELECT box3d_expand('(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)', '-Infinity')$$, '22023', NULL, 'expand an infinite side by -Infinity');
SELECT throws_ok($$SELECT box3d_transform(box3d('-Infinity', '-Infinity', 0, 'Infinity', 'Infinity', 0), '{1,1,0,0, 0,1,0,0, 0,0,1,NaN}')$$, '22023', NULL, 'NaN in a matrix');

SELECT throws_ok($$SELECT '(1e400,0,0),(1,1,1)'::box3d$$, '22003', NULL, 'a number too large is not Infinity');
SELECT throws_ok($$SELECT '(1e-400,0,0),(1,1,1)'::box3d$$, '22003', NULL, 'nor one too small 0');
SELECT lives_ok($$SELECT '(Infinity,0,0),(Infinity,1,1)'::box3d$$, 'Infinity is a number');
SELECT throws_ok($$SELECT '(0,0,0),(1,1,1)xyz'::box3d$$, '22P02', NULL, 'something behind the end');
SELECT throws_ok($$SELECT 'BOX3D(0 0 0,1 1 1)xyz'::box3d$$, '22P02', NULL, 'something behind the end of PostGIS text');
SELECT throws_ok($$SELECT ''::box3d$$, '22P02', NULL, 'nothing');
SELECT is(t::box3d, box3d(1, 2, 3, 4, 5, 6), t) FROM unnest(ARRAY['(1,2,3),(4,5,6)', '((1,2,3),(4,5,6))', '[(1,2,3),(4,5,6)]',
  '( 4 , 5 , 6 ) , ( 1 , 2 , 3 )', 'BOX3D(1 2 3,4 5 6)', 'box3d ( 4 2 6 , 1 5 3 )', '(4,2,3),(1,5,6)']) t;
SELECT is('(1,2,3)'::box3d, box3d(1, 2, 3), 'the text of a point');
SELECT is(box3d(1.23456789012345, 0, 0, 1, 0, 0)::text, '(1,0,0),(1.23456789012345,0,0)', 'swapping corners loses no digits');
SELECT is(box3d(2, 5, 0, 1, 3, 9), box3d(1, 3, 0, 2, 5, 9), 'corners in any order');
SELECT current_setting('server_version_num')::int >= 160000 AS soft \gset
\if :soft
SELECT is(pg_input_is_valid(t, 'box3d'), false, 'softly refused: ' || t) FROM unnest(ARRAY['(0,0,0),(1,1,1)xyz', '(NaN,0,0)', '(1e400,0,0)']) t;
SELECT is(pg_input_is_valid('(0,0,0),(1,1,1)', 'box3d'), true, 'softly accepted');
\endif

-- ---------------------------------------------------------------------------
-- equality, order, hash
-- ---------------------------------------------------------------------------

SELECT is(box3d(0, 0, 0) = box3d(-0.0, -0.0, -0.0), true, '-0 equals 0');
CREATE TABLE zeros (b box3d);
INSERT INTO zeros VALUES (box3d(0, 0, 0, 1, 1, 1)), (box3d(-0.0, 0, 0, 1, 1, 1)), ('(0,-0,-0),(1,1,1)'), (ARRAY[0, 0, '-0', 1, 1, 1]::float8[]::box3d),
  (box3d_translate(box3d(-1, -1, -1, 0, 0, 0), 1, 1, 1)), (box3d_transform(box3d(0, 0, 0, 1, 1, 1), '{1,0,0,-0, 0,1,0,-0, 0,0,1,-0}')),
  (box3d_expand(box3d(0.5, 0.5, 0.5), 0.5)), (box3d(-0.0, -0.0, -0.0, 9, 9, 9) * box3d(-9, -9, -9, 1, 1, 1));
SELECT is((SELECT count(DISTINCT box3d_send(b))::int FROM zeros), 1, 'no -0 is kept, from wherever it comes');
SET enable_sort = off;
SELECT matches(plan_of('SELECT DISTINCT b FROM zeros'), 'HashAggregate', 'DISTINCT can hash');
SELECT is((SELECT count(*)::int FROM (SELECT DISTINCT b FROM zeros) s), 1, 'and finds one');
RESET enable_sort;
SET enable_hashagg = off;
SELECT matches(plan_of('SELECT DISTINCT b FROM zeros'), 'Sort', 'DISTINCT can sort');
SELECT is((SELECT count(*)::int FROM (SELECT DISTINCT b FROM zeros) s), 1, 'and finds one');
RESET enable_hashagg;

-- few different numbers, so that many bounds are equal
CREATE TABLE few (id int, b box3d);
CREATE FUNCTION few_numbers() RETURNS float8 LANGUAGE sql VOLATILE AS
$$ SELECT ('{-Infinity,Infinity,-0,0,1,-1,5e-324}'::float8[])[1 + floor(random() * 7)::int] $$;
INSERT INTO few SELECT i, box3d(few_numbers(), few_numbers(), few_numbers(), few_numbers(), few_numbers(), few_numbers()) FROM generate_series(1, 3000) i;
CREATE VIEW triples AS SELECT f.b AS a, g.b AS b, h.b AS c FROM few f JOIN few g ON g.id = f.id % 3000 + 1 JOIN few h ON h.id = (f.id + 76) % 3000 + 1;
-- equal pairs are rare by chance
INSERT INTO few SELECT 3000 + id, b FROM few WHERE id <= 300;
CREATE TABLE couples AS SELECT a, b FROM triples UNION ALL SELECT b, b FROM few WHERE id > 3000;

SELECT is((SELECT count(*)::int FROM couples WHERE box3d_cmp(a, b) <> - box3d_cmp(b, a)), 0, 'the order is antisymmetric');
SELECT is((SELECT count(*)::int FROM triples WHERE a <= b AND b <= c AND NOT a <= c), 0, 'and transitive');
SELECT is((SELECT count(*)::int FROM couples WHERE (box3d_cmp(a, b) = 0) <> (box3d_send(a) = box3d_send(b))), 0, 'equal in order are the same bytes');
SELECT is((SELECT count(*)::int FROM couples WHERE (a = b) <> (box3d_cmp(a, b) = 0) OR (a ~= b) <> (a = b) OR (a <> b) = (a = b)), 0, '= ~= <> agree with the order');
SELECT is((SELECT count(*)::int FROM couples WHERE (a < b) <> (box3d_cmp(a, b) < 0) OR (a <= b) <> (box3d_cmp(a, b) <= 0)
  OR (a > b) <> (box3d_cmp(a, b) > 0) OR (a >= b) <> (box3d_cmp(a, b) >= 0)), 0, '< <= > >= agree with the order');
SELECT is((SELECT count(*)::int FROM couples WHERE (box3d_to_array(a) < box3d_to_array(b)) <> (a < b)), 0, 'it is the order of the six numbers');
SELECT is((SELECT count(*)::int FROM couples WHERE a = b AND (box3d_hash(a) <> box3d_hash(b) OR box3d_hash_extended(a, 7) <> box3d_hash_extended(b, 7))), 0, 'equal boxes have equal hashes');
SELECT is((SELECT count(*)::int FROM couples WHERE a <> b AND (box3d_hash(a) = box3d_hash(b) OR box3d_hash_extended(a, 7) = box3d_hash_extended(b, 7))), 0, 'others hardly ever');
SELECT is((SELECT count(*)::int FROM bits WHERE (box3d_hash_extended(b, 0) & 4294967295) <> (box3d_hash(b)::bigint & 4294967295)), 0, 'seed 0 gives the plain hash in its low half');
SELECT isnt(box3d_hash_extended(box3d(1, 2, 3), 1), box3d_hash_extended(box3d(1, 2, 3), 2), 'another seed gives another hash');

SELECT count(DISTINCT box3d_send(b)) AS ndistinct FROM few \gset
SELECT is((SELECT count(*) FROM (SELECT b, count(*) FROM few GROUP BY b) s), :ndistinct::bigint, 'GROUP BY');
SELECT is((SELECT count(*) FROM (SELECT b FROM few INTERSECT SELECT b FROM few) s), :ndistinct::bigint, 'INTERSECT');
SELECT is((SELECT count(*) FROM (SELECT b FROM few EXCEPT SELECT b FROM few WHERE id > 10) s) <= 10, true, 'EXCEPT');
SELECT sum(n * n) AS npairs FROM (SELECT count(*) AS n FROM few GROUP BY box3d_send(b)) s \gset
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT matches(plan_of('SELECT count(*) FROM few f JOIN few g ON f.b = g.b'), 'Hash Join', 'hash join');
SELECT is((SELECT count(*) FROM few f JOIN few g ON f.b = g.b), :npairs::bigint, 'hash join finds all pairs');
RESET enable_mergejoin;
SET enable_hashjoin = off;
SELECT matches(plan_of('SELECT count(*) FROM few f JOIN few g ON f.b = g.b'), 'Merge Join', 'merge join');
SELECT is((SELECT count(*) FROM few f JOIN few g ON f.b = g.b), :npairs::bigint, 'merge join finds all pairs');
RESET enable_nestloop;
RESET enable_hashjoin;

CREATE TABLE parts (b box3d, id int) PARTITION BY HASH (b);
CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE parts2 PARTITION OF parts FOR VALUES WITH (MODULUS 3, REMAINDER 2);
INSERT INTO parts SELECT b, id FROM few;
SELECT is((SELECT count(*)::int FROM parts WHERE b = '(0,0,0),(1,1,1)'), (SELECT count(*)::int FROM few WHERE b = '(0,0,0),(1,1,1)'), 'PARTITION BY HASH');
SELECT cmp_ok((SELECT min(n) FROM (SELECT count(*) AS n FROM parts GROUP BY tableoid) s), '>', 800::bigint, 'spreads the rows');
CREATE TABLE ranges (b box3d) PARTITION BY RANGE (b);
CREATE TABLE ranges_low PARTITION OF ranges FOR VALUES FROM (MINVALUE) TO ('(0,0,0)');
CREATE TABLE ranges_high PARTITION OF ranges FOR VALUES FROM ('(0,0,0)') TO (MAXVALUE);
INSERT INTO ranges SELECT b FROM few;
SELECT is((SELECT count(*)::int FROM ranges_low), (SELECT count(*)::int FROM few WHERE b < box3d(0, 0, 0)), 'PARTITION BY RANGE');
CREATE TABLE keyed (b box3d PRIMARY KEY);
INSERT INTO keyed SELECT b FROM few ON CONFLICT DO NOTHING;
SELECT is((SELECT count(*) FROM keyed), :ndistinct::bigint, 'PRIMARY KEY');
SELECT throws_ok('INSERT INTO keyed SELECT b FROM few LIMIT 1', '23505', NULL, 'which refuses an equal box');
CREATE INDEX few_hash ON few USING hash (b);
SELECT use_path('index') \g /dev/null
SELECT is((SELECT count(*) FROM keyed k, LATERAL (SELECT id FROM few WHERE few.b = k.b OFFSET 0) s), (SELECT count(*) FROM few), 'hash index');
SELECT use_path('any') \g /dev/null
SELECT is((SELECT array_agg(b ORDER BY b) FROM few), (SELECT array_agg(b ORDER BY box3d_xmin(b), box3d_ymin(b), box3d_zmin(b), box3d_xmax(b), box3d_ymax(b), box3d_zmax(b)) FROM few),
  'ORDER BY');

-- ---------------------------------------------------------------------------
-- what the operators mean
-- ---------------------------------------------------------------------------

-- each operator again, from the six numbers
CREATE TABLE meaning (name text, formula text);
INSERT INTO meaning VALUES
  ('&&', 'axmin <= bxmax AND bxmin <= axmax AND aymin <= bymax AND bymin <= aymax AND azmin <= bzmax AND bzmin <= azmax'),
  ('&&+', 'axmin < bxmax AND bxmin < axmax AND aymin < bymax AND bymin < aymax AND azmin < bzmax AND bzmin < azmax'),
  ('@>', 'axmin <= bxmin AND bxmax <= axmax AND aymin <= bymin AND bymax <= aymax AND azmin <= bzmin AND bzmax <= azmax'),
  ('<@', 'bxmin <= axmin AND axmax <= bxmax AND bymin <= aymin AND aymax <= bymax AND bzmin <= azmin AND azmax <= bzmax'),
  ('~=', 'axmin = bxmin AND aymin = bymin AND azmin = bzmin AND axmax = bxmax AND aymax = bymax AND azmax = bzmax'),
  ('=', 'axmin = bxmin AND aymin = bymin AND azmin = bzmin AND axmax = bxmax AND aymax = bymax AND azmax = bzmax'),
  ('<<', 'axmax < bxmin'), ('&<', 'axmax <= bxmax'), ('&>', 'axmin >= bxmin'), ('>>', 'axmin > bxmax'),
  ('<<|', 'aymax < bymin'), ('&<|', 'aymax <= bymax'), ('|&>', 'aymin >= bymin'), ('|>>', 'aymin > bymax'),
  ('<</', 'azmax < bzmin'), ('&</', 'azmax <= bzmax'), ('/&>', 'azmin >= bzmin'), ('/>>', 'azmin > bzmax');
CREATE TABLE numbers AS SELECT a, b,
  box3d_xmin(a) axmin, box3d_ymin(a) aymin, box3d_zmin(a) azmin, box3d_xmax(a) axmax, box3d_ymax(a) aymax, box3d_zmax(a) azmax,
  box3d_xmin(b) bxmin, box3d_ymin(b) bymin, box3d_zmin(b) bzmin, box3d_xmax(b) bxmax, box3d_ymax(b) bymax, box3d_zmax(b) bzmax
  FROM couples;
SELECT set_eq('SELECT name FROM search_operators', 'SELECT name FROM meaning', 'a formula for every operator of the index');
CREATE FUNCTION test_meaning(name text, formula text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  n record;
BEGIN
  EXECUTE format('SELECT count(*) FILTER (WHERE (a %s b) <> (%s)) AS wrong, count(*) FILTER (WHERE a %1$s b) AS yes FROM numbers', name, formula) INTO n;
  RETURN NEXT is(n.wrong::int, 0, format('meaning of %s (%s times true)', name, n.yes));
  RETURN NEXT cmp_ok(n.yes, '>', 10::bigint, name || ' is true sometimes');
END $$;
SELECT t FROM meaning, LATERAL test_meaning(name, formula) t;

-- the axes one by one: a and b touch, c is apart from a
CREATE FUNCTION on_axis(axis int, lo float8, hi float8) RETURNS box3d LANGUAGE sql AS $$
  SELECT CASE axis WHEN 1 THEN box3d(lo, 0, 0, hi, 1, 1) WHEN 2 THEN box3d(0, lo, 0, 1, hi, 1) ELSE box3d(0, 0, lo, 1, 1, hi) END
$$;
CREATE FUNCTION test_side(axis int, before text, not_after text, not_before text, after text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  o text;
  got text := '';
  hit bool;
BEGIN
  FOREACH o IN ARRAY ARRAY['a ' || before || ' b', 'a ' || before || ' c', 'c ' || before || ' a', 'a ' || not_after || ' b', 'b ' || not_after || ' a', 'a ' || not_after || ' a',
                           'b ' || not_before || ' a', 'a ' || not_before || ' b', 'b ' || not_before || ' b', 'b ' || after || ' a', 'c ' || after || ' a', 'a ' || after || ' c'] LOOP
    EXECUTE format('SELECT %s FROM (SELECT on_axis($1, 0, 1) a, on_axis($1, 1, 2) b, on_axis($1, 1.5, 3) c) s', o) INTO hit USING axis;
    got := got || left(hit::text, 1);
  END LOOP;
  RETURN NEXT is(got, 'ftftfttftftf', format('%s %s %s %s on axis %s', before, not_after, not_before, after, axis));
END $$;
SELECT test_side(1, '<<', '&<', '&>', '>>') UNION ALL SELECT test_side(2, '<<|', '&<|', '|&>', '|>>') UNION ALL SELECT test_side(3, '<</', '&</', '/&>', '/>>');

SELECT is(box3d(16777217, 0, 0) && box3d(16777216, 0, 0), false, 'float4 would take these for one');
SELECT is(box3d(0.1, 0, 0) && box3d(0.1000000001, 0, 0), false, 'and these');
SELECT is(box3d(0, 0, 0, 1, 1, 1) @> box3d(0, 0, 5, 1, 1, 6), false, 'apart in z alone: not contained');
SELECT is(box3d(0, 0, 0, 1, 1, 1) && box3d(0, 0, 5, 1, 1, 6), false, 'and not overlapping');

-- commutators and negators do what their names promise, for every operator
CREATE FUNCTION wrong_links() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  o record;
  n bigint;
BEGIN
  FOR o IN SELECT oprname, oprcom, oprnegate, oprresult, (SELECT oprname FROM pg_operator c WHERE c.oid = p.oprcom) AS com,
                  (SELECT oprname FROM pg_operator c WHERE c.oid = p.oprnegate) AS neg
           FROM pg_operator p WHERE oprleft = 'box3d'::regtype AND oprright = 'box3d'::regtype LOOP
    IF o.oprcom <> 0 THEN
      EXECUTE format('SELECT count(*) FROM couples WHERE (a %s b) IS DISTINCT FROM (b %s a)', o.oprname, o.com) INTO n;
      IF n > 0 THEN
        RETURN NEXT format('%s is not the commutator of %s', o.com, o.oprname);
      END IF;
    END IF;
    IF o.oprnegate <> 0 THEN
      EXECUTE format('SELECT count(*) FROM couples WHERE (a %s b) = (a %s b)', o.oprname, o.neg) INTO n;
      IF n > 0 THEN
        RETURN NEXT format('%s is not the negator of %s', o.neg, o.oprname);
      END IF;
    END IF;
  END LOOP;
END $$;
SELECT is_empty('SELECT wrong_links()', 'commutators and negators');
SELECT set_eq($$SELECT oprname::text FROM pg_operator WHERE oprleft = 'box3d'::regtype AND oprcom = 0$$,
  ARRAY['&<', '&>', '&<|', '|&>', '&</', '/&>'], 'operators without a commutator: those that have none');
SELECT is_empty($$SELECT oprname FROM pg_operator WHERE 'box3d'::regtype IN (oprleft, oprright) AND oprresult = 'bool'::regtype AND (oprrest = 0 OR oprjoin = 0)$$,
  'every operator that filters has both estimators');

-- ---------------------------------------------------------------------------
-- what the functions give
-- ---------------------------------------------------------------------------

SELECT is(box3d_volume(p) || ' ' || box3d_surface_area(p) || ' ' || (p <-> box3d(0, 0, 7)) || ' ' || (p @> box3d(3, 4, 0)) || ' ' || (p @> box3d(3, 4, 0.1)),
  '0 Infinity 7 true false', 'a plane without end') FROM (SELECT box3d('-Infinity', '-Infinity', 0, 'Infinity', 'Infinity', 0) p) s;
SELECT is(box3d_volume(box3d(1, 2, 3, 3, 5, 7)), 24::float8, 'volume');
SELECT is(box3d_surface_area(box3d(1, 2, 3, 3, 5, 7)), 52::float8, 'surface area');
SELECT is(box3d_volume(box3d(0, 0, 0, 1e200, 1e-200, 5)), 5::float8, 'volume whose parts are out of range');
SELECT is(box3d_volume(box3d(0, 0, 0, 1e200, 1e200, 1)), 'Infinity'::float8, 'volume out of range');
SELECT is(box3d_volume(box3d(0, 0, 0, 'Infinity', 'Infinity', 1)), 'Infinity'::float8, 'infinite volume');
SELECT is(box3d_volume(box3d('Infinity', 0, 0, 'Infinity', 1, 1)), 0::float8, 'a plate at infinity');
SELECT is(box3d_surface_area(box3d(0, 0, 0, 1e-200, 1e200, 0)), 2::float8, 'area of a plate');
SELECT is(box3d_center(box3d(1, 2, 3, 3, 5, 7)), '{2,3.5,5}', 'center');
SELECT is(box3d_center(box3d('-Infinity', 5, -1.7e308, 'Infinity', 'Infinity', 1.7e308)), '{0,Infinity,0}', 'center of infinite and of huge sides');
SELECT is(box3d_center(box3d(1.5e308, 0, 0, 1.7e308, 0, 0)), '{1.6e308,0,0}', 'center beyond half the range');
SELECT is(box3d_size(box3d(1, 2, 3, 3, 5, 7)), '{2,3,4}', 'size');
SELECT is(box3d_size(box3d('Infinity', 0, -1.7e308, 'Infinity', 'Infinity', 1.7e308)), '{0,Infinity,Infinity}', 'infinite size');
SELECT is((SELECT ARRAY[box3d_xmin(b), box3d_ymin(b), box3d_zmin(b), box3d_xmax(b), box3d_ymax(b), box3d_zmax(b)] FROM (VALUES (box3d(1, 2, 3, 4, 5, 6))) v(b)), '{1,2,3,4,5,6}', 'bounds');
SELECT is((SELECT box3d_lower(b) || box3d_upper(b) FROM (VALUES (box3d(1, 2, 3, 4, 5, 6))) v(b)), '{1,2,3,4,5,6}', 'corners');
SELECT is(box3d(1, 2, 3, 4, 5, 6)::float8[], '{1,2,3,4,5,6}', 'array');
SELECT is(box3d_is_point(box3d(1, 2, 3)), true, 'a point is one');
SELECT is(box3d_is_point(box3d(1, 2, 3, 1, 2, 3.5)), false, 'a segment is none');
SELECT is(box3d_max_distance(box3d(0, 0, 0, 1, 1, 1), box3d(2, 0, 0, 3, 4, 12)), 13::float8, 'largest distance');
SELECT is(box3d_max_distance(box3d(0, 0, 0), box3d(3e200, 4e200, 0)), 5e200::float8, 'largest distance whose square is out of range');
SELECT is(box3d_max_distance(box3d('Infinity', 0, 0), box3d('Infinity', 3, 4)), 5::float8, 'largest distance of two points at infinity');
SELECT is(box3d_penetration(box3d(0, 0, 0, 4, 4, 4), box3d(1, 3, 2, 9, 9, 9)), 1::float8, 'penetration: the shortest way out');
SELECT is(box3d_penetration(box3d(0, 0, 0, 9, 9, 9), box3d(1, 2, 3, 2, 3, 4)), 2::float8, 'penetration of a box inside another');
SELECT is(box3d_penetration(box3d(0, 0, 0, 1, 1, 1), box3d(1, 0, 0, 2, 1, 1)), 0::float8, 'penetration of boxes that touch');
SELECT is((SELECT count(*)::int FROM couples WHERE (box3d_penetration(a, b) > 0) <> (a &&+ b)), 0, 'penetration is positive where the insides overlap');
SELECT is(box3d_overlap_volume(box3d(0, 0, 0, 4, 4, 4), box3d(1, 3, 2, 9, 9, 9)), 6::float8, 'common volume');
SELECT is(box3d_overlap_volume(box3d(0, 0, 0, 1, 1, 1), box3d(2, 2, 2, 3, 3, 3)), 0::float8, 'no common volume');

SELECT is(box3d(0, 0, 0, 1, 1, 1) + box3d(5, -1, 0.5), '(0,-1,0),(5,1,1)', 'union');
SELECT is(box3d(0, 0, 0, 4, 4, 4) * box3d(1, 3, 2, 9, 9, 9), '(1,3,2),(4,4,4)', 'intersection');
SELECT is(box3d(0, 0, 0, 1, 1, 1) * box3d(1, 0, 0, 2, 1, 1), '(1,0,0),(1,1,1)', 'intersection of boxes that touch: their border');
SELECT is(box3d(0, 0, 0, 1, 1, 1) * box3d(5, 5, 5, 6, 6, 6), NULL, 'intersection of boxes apart: NULL');
SELECT is((SELECT count(*)::int FROM couples WHERE (a * b IS NOT NULL) <> (a && b) OR NOT a + b @> a OR NOT a + b @> b OR a * b <@ a IS FALSE OR a * b <@ b IS FALSE), 0, 'union and intersection contain and are contained');
SELECT is(box3d_expand(box3d(0, 0, 0, 1, 10, 10), 2), '(-2,-2,-2),(3,12,12)', 'expand');
SELECT is(box3d_expand(box3d(0, 0, 0, 1, 10, 10), -0.5), '(0.5,0.5,0.5),(0.5,9.5,9.5)', 'expand by less than nothing: to a plate');
SELECT is(box3d_expand(box3d(0, 0, 0, 1, 10, 10), -1), NULL, 'shrunk past nothing: NULL');
SELECT is(box3d_expand(box3d(0, 0, 0, 1, 10, 10), 1, 0, -1), '(-1,0,1),(2,10,9)', 'expand by axis');
SELECT is(box3d_expand(box3d(0, 0, 0, 1, 10, 10), 5, 5, -6), NULL, 'shrunk past nothing on one axis: NULL');
SELECT throws_ok('SELECT box3d_expand(box3d(-1.7e308, 0, 0, 1, 1, 1), 1e308)', '22003', NULL, 'expand out of range');
SELECT is(box3d_expand(box3d(0, 0, 0), 'Infinity'), '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)', 'expand by Infinity');
SELECT is(box3d_translate(box3d(0, 0, 0, 1, 1, 1), 1, -2, 0.5), '(1,-2,0.5),(2,-1,1.5)', 'translate');
SELECT is(box3d_translate(box3d('-Infinity', 0, 0, 'Infinity', 1, 1), 5, 5, 5), '(-Infinity,5,5),(Infinity,6,6)', 'translate an infinite box');
SELECT throws_ok('SELECT box3d_translate(box3d(1.7e308, 0, 0), 1.7e308, 0, 0)', '22003', NULL, 'translate out of range');

SELECT is(box3d_transform(box3d(1, 2, 3, 4, 5, 6), '{1,0,0,0, 0,1,0,0, 0,0,1,0}'), '(1,2,3),(4,5,6)', 'transform by the identity');
SELECT is(box3d_transform(box3d(1, 2, 3, 4, 5, 6), '{0,-1,0,10, 1,0,0,20, 0,0,2,30, 0,0,0,1}'), '(5,21,36),(8,24,42)', 'turn, scale and move');
SELECT is(box3d_transform(box3d(0, 0, 0, 1, 1, 1), '{1,1,1,0, -1,1,0,0, 0,0,0,7}'), '(0,-1,7),(3,1,7)', 'the box around a slanted one');
SELECT is(box3d_transform(box3d('-Infinity', 0, 0, 'Infinity', 1, 1), '{0,1,0,0, 1,0,0,0, 0,0,1,0}'), '(0,-Infinity,0),(1,Infinity,1)', 'an infinite side times 0 is nothing');
SELECT throws_ok($$SELECT box3d_transform(box3d(0, 0, 0), '{1,2,3}')$$, '2202E', NULL, 'a matrix of 3 numbers');
SELECT throws_ok($$SELECT box3d_transform(box3d(0, 0, 0), '{}')$$, '2202E', NULL, 'a matrix of none');
SELECT throws_ok($$SELECT box3d_transform(box3d(0, 0, 0), '{1,0,0,0, 0,1,0,0, 0,0,1,NULL}')$$, '22004', NULL, 'a matrix with a NULL');
SELECT throws_ok($$SELECT box3d_transform(box3d(0, 0, 0), '{1,0,0,0, 0,1,0,0, 0,0,1,Infinity}')$$, '22023', NULL, 'a matrix with an infinite number');
SELECT throws_ok($$SELECT box3d_transform(box3d(0, 0, 0), '{1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,2}')$$, '22023', NULL, 'a matrix that is not affine');
SELECT throws_ok($$SELECT box3d_transform(box3d(1e200, 0, 0), '{1e200,0,0,0, 0,1,0,0, 0,0,1,0}')$$, '22003', NULL, 'transform out of range');

SELECT throws_ok($$SELECT box3d('{1,2}'::float8[])$$, '2202E', NULL, 'a box of 2 numbers');
SELECT throws_ok($$SELECT box3d('{1,2,3,4,5,NULL}'::float8[])$$, '22004', NULL, 'a box with a NULL');
SELECT throws_ok($$SELECT box3d('{1,2,3}', '{1,2,3,4}')$$, '2202E', NULL, 'a corner of 4 numbers');
SELECT is(box3d('{1,2,3}', '{0,5,3}'), '(0,2,3),(1,5,3)', 'corners as arrays');

SELECT is(box3d_extent(b), NULL, 'extent of nothing') FROM few WHERE false;
SELECT is((SELECT box3d_extent(b) FROM (VALUES (NULL::box3d), (box3d(1, 1, 1, 2, 2, 2))) v(b)), '(1,1,1),(2,2,2)', 'extent passes over NULL');
SELECT is((SELECT box3d_extent(b) FROM bits WHERE id > 0),
  (SELECT box3d(min(box3d_xmin(b)), min(box3d_ymin(b)), min(box3d_zmin(b)), max(box3d_xmax(b)), max(box3d_ymax(b)), max(box3d_zmax(b))) FROM bits WHERE id > 0), 'extent');

-- neighbours along the curve are neighbours in space
CREATE TABLE grid AS SELECT x, y, z, box3d_hilbert(box3d(x, y, z, x + 1, y + 1, z + 1), box3d(0, 0, 0, 8, 8, 8)) AS place
  FROM generate_series(0, 7) x, generate_series(0, 7) y, generate_series(0, 7) z;
SELECT is((SELECT count(*)::int FROM (SELECT abs(x - lag(x) OVER w) + abs(y - lag(y) OVER w) + abs(z - lag(z) OVER w) AS step FROM grid WINDOW w AS (ORDER BY place)) s WHERE step <> 1), 0,
  'a step along the Hilbert curve goes to the next cell');
SELECT is((SELECT count(*)::int FROM grid WHERE place < 0), 0, 'places are not negative');
SELECT throws_ok($$SELECT box3d_hilbert(box3d(0, 0, 0), box3d(0, 0, 0, 1, 1, 'Infinity'))$$, '22023', NULL, 'a curve needs a finite world');
SELECT is(box3d_hilbert(box3d(0, 0, 0), box3d(5, 5, 5)), 0::bigint, 'a world without size has one place');
SELECT is(box3d_hilbert(box3d(-99, -99, -99), box3d(0, 0, 0, 8, 8, 8)), box3d_hilbert(box3d(0, 0, 0), box3d(0, 0, 0, 8, 8, 8)), 'outside of the world: the nearest place');

-- every function with every strange argument: no NaN, no crash, and no error but
-- those of a bad argument
CREATE TABLE strange (type text, value text);
INSERT INTO strange
  SELECT 'box3d', unnest(ARRAY['(0,0,0)', '(0,0,0),(1,1,1)', '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)', '(Infinity,Infinity,Infinity)',
    '(-Infinity,0,Infinity)', '(-Infinity,0,0),(0,0,Infinity)', '(-1.7976931348623157e308,-1.7976931348623157e308,-1.7976931348623157e308),(1.7976931348623157e308,1.7976931348623157e308,1.7976931348623157e308)',
    '(5e-324,5e-324,5e-324)', '(-5e-324,0,0),(5e-324,1e-320,0)', '(1e300,-1e300,0),(1.1e300,1e300,1e-300)', '(16777216,16777217,0.1)'])
  UNION ALL SELECT 'float8', unnest(ARRAY['0', '-0', '1', '-1', 'Infinity', '-Infinity', 'NaN', '1.7976931348623157e308', '-1.7976931348623157e308', '5e-324', '-1e-320'])
  UNION ALL SELECT 'float8[]', unnest(ARRAY['{}', '{1,2,3}', '{1,2,3,4,5,6}', '{Infinity,-Infinity,0}', '{NaN,0,0}', '{NULL,0,0}', '{{1,2,3},{4,5,6}}', '[5:10]={1,2,3,4,5,6}',
    '{1,0,0,0,0,1,0,0,0,0,1,0}', '{1,1,1,0,1,1,1,0,1,1,1,0,0,0,0,1}', '{1e300,-1e300,1,0,1e300,0,0,1e308,0,0,0,0}', '{-0,-0,-0,-0,-0,-0,-0,-0,-0,-0,-0,-0}'])
  UNION ALL SELECT 'bigint', unnest(ARRAY['0', '-1', '9223372036854775807']);
CREATE VIEW members AS SELECT classid, objid FROM pg_depend
  WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bvhindex');
CREATE VIEW functions AS SELECT p.* FROM pg_proc p JOIN members ON classid = 'pg_proc'::regclass AND objid = p.oid;

CREATE FUNCTION strange_results(f oid, ntries int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  call text;
  result text;
  ntypes int := (SELECT pronargs FROM pg_proc WHERE oid = f);
BEGIN
  FOR i IN 1 .. ntries LOOP
    SELECT format('SELECT (%s(%s))::text', f::regproc, string_agg(format('%L::%s', v, t), ', ' ORDER BY n)) INTO call
    FROM (SELECT n, t, (SELECT value FROM strange WHERE type = regexp_replace(replace(t::regtype::text, 'double precision', 'float8'), '.*\.', '') AND n + i > 0
                        ORDER BY random() LIMIT 1) AS v
          FROM pg_proc, unnest(proargtypes::oid[]::regtype[]) WITH ORDINALITY u(t, n) WHERE oid = f) s;
    BEGIN
      EXECUTE call INTO result;
      IF result ~* 'nan' OR result ~ '-0[,)}]|^-0$' THEN
        RETURN NEXT call || ' gives ' || result;
      END IF;
    EXCEPTION
      WHEN numeric_value_out_of_range OR invalid_parameter_value OR array_subscript_error OR null_value_not_allowed THEN
        NULL;
      WHEN OTHERS THEN
        RETURN NEXT call || ': ' || sqlerrm;
    END;
  END LOOP;
END $$;
CREATE TABLE garden AS SELECT oid FROM functions f
  WHERE prokind = 'f' AND pronargs > 0 AND NOT EXISTS (SELECT 1 FROM unnest(proargtypes::oid[]::regtype[]) t
    WHERE NOT EXISTS (SELECT 1 FROM strange WHERE type = regexp_replace(replace(t::text, 'double precision', 'float8'), '.*\.', '')));
SELECT cmp_ok((SELECT count(*)::int FROM garden), '>', 50, 'functions to call with strange arguments');
SELECT is_empty('SELECT strange_results(oid, 100) FROM garden', 'strange arguments give no NaN, no -0 and no odd error');

-- ---------------------------------------------------------------------------
-- the catalog
-- ---------------------------------------------------------------------------

SELECT results_eq($$SELECT typlen::int, typalign::text, typstorage::text, typbyval, typdelim::text FROM pg_type WHERE oid = 'box3d'::regtype$$,
  $$VALUES (48, 'd', 'p', false, ',')$$, '48 bytes, aligned as double, plain');
CREATE TABLE plain (b box3d);
SELECT throws_ok('ALTER TABLE plain ALTER b SET STORAGE EXTERNAL', '0A000', NULL, 'it cannot be stored elsewhere');
SELECT set_eq($$SELECT castsource::regtype::text, casttarget::regtype::text, castcontext::text FROM pg_cast
    WHERE 'box3d'::regtype IN (castsource, casttarget)$$,
  $$VALUES ('box3d', 'double precision[]', 'e'), ('double precision[]', 'box3d', 'e')$$, 'casts, and none that is applied unasked');

SELECT results_eq($$SELECT amname COLLATE "C", opcname COLLATE "C", opcdefault, amvalidate(c.oid) FROM pg_opclass c
    JOIN members ON classid = 'pg_opclass'::regclass AND objid = c.oid JOIN pg_am a ON a.oid = opcmethod ORDER BY 1, 2$$,
  $$VALUES ('btree'::name, 'box3d_btree_ops'::name, true, true), ('bvh', 'box3d_ops', true, true), ('gist', 'box3d_ops', true, true), ('hash', 'box3d_hash_ops', true, true), ('hash', 'planes3d_hash_ops', true, true), ('hash', 'ray3d_hash_ops', true, true), ('hash', 'sphere3d_hash_ops', true, true)$$, 'operator classes are complete');
SELECT is_empty($$SELECT pg_describe_object(classid, objid, 0) FROM members
    WHERE obj_description(objid, (SELECT relname FROM pg_class WHERE oid = classid)) IS NULL
      -- types of arrays and rows come by themselves
      AND NOT (classid = 'pg_type'::regclass AND EXISTS (SELECT 1 FROM pg_type WHERE oid = objid AND (typelem <> 0 OR typrelid <> 0)))$$,
  'every member of the extension has a comment');
SELECT is_empty($$SELECT attrelid::regclass, attname FROM members JOIN pg_attribute ON attrelid = objid AND attnum > 0
    WHERE classid = 'pg_class'::regclass AND col_description(attrelid, attnum) IS NULL$$,
  'and every column of a view has one');
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE prokind = 'f' AND NOT proisstrict AND proname NOT IN ('box3d_fatten', 'bvh_fatten')$$, 'all functions are strict, but those of fat boxes');
-- but those that look at an index, which may change, and what only the server calls
SELECT set_eq($$SELECT proname::text FROM functions WHERE proparallel <> 's'$$,
  ARRAY['bvhhandler', 'bvh_stats', 'bvh_nodes', 'bvh_check', 'bvh_fatten', 'bvh_cache_load', 'bvh_cache_drop', 'bvh_cache_entries', 'bvh_cache_memory'], 'and parallel safe, but for the inspection of indexes, their trees and a trigger');
SELECT is_empty($$SELECT oid::regprocedure FROM functions WHERE prosecdef OR proleakproof$$, 'none runs with another''s rights or promises not to leak');
SELECT set_eq($$SELECT proname::text FROM functions WHERE provolatile <> 'i'$$,
  ARRAY['box3d_typanalyze', 'box3d_sel', 'box3d_joinsel', 'bvh_simd_available', 'bvhhandler', 'bvh_stats', 'bvh_nodes', 'bvh_check', 'bvh_fatten', 'bvh_cache_load', 'bvh_cache_drop', 'bvh_cache_entries', 'bvh_cache_memory'], 'functions that are not immutable');
SELECT set_eq($$SELECT proname::text FROM functions WHERE provolatile = 'v'$$,
  ARRAY['bvhhandler', 'bvh_stats', 'bvh_nodes', 'bvh_check', 'bvh_fatten', 'bvh_cache_load', 'bvh_cache_drop', 'bvh_cache_entries', 'bvh_cache_memory'], 'and those that are volatile');
SELECT is_empty($$SELECT o.oid::regoperator FROM pg_operator o JOIN members ON classid = 'pg_operator'::regclass AND objid = o.oid
    JOIN pg_proc p ON p.oid = oprcode WHERE provolatile <> 'i'$$, 'operators are immutable');
SELECT set_eq($$SELECT oprname::text FROM pg_operator o WHERE oprleft = 'box3d'::regtype AND (oprcanhash OR oprcanmerge)$$, ARRAY['='], 'only = hashes and merges');

-- ---------------------------------------------------------------------------
-- settings
-- ---------------------------------------------------------------------------

SELECT cmp_ok((SELECT count(*)::int FROM bvh_simd_available()), '>=', 1, 'some instruction set is available');
SELECT ok('scalar' IN (SELECT bvh_simd_available()), 'plain code always');
SELECT lives_ok(format('SET bvhindex.simd = %L', s), 'bvhindex.simd can be ' || s) FROM bvh_simd_available() s;
SELECT throws_ok($$SET bvhindex.simd = 'mmx'$$, '22023', NULL, 'but nothing else');
SELECT throws_ok($$SET bvhindex.smid = 'auto'$$, '42602', NULL, 'a setting that does not exist');
RESET bvhindex.simd;

SELECT * FROM finish();
ROLLBACK;
