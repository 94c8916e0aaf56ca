-- Operators between boxes and shapes: an index answers as the sequential scan does.
-- After agree.sql.

-- conditions on the column b, and expressions to order by
CREATE TABLE conditions (condition text);
CREATE TABLE orders (expression text);

-- shape_disagreements(tbl, index, paths): where an index and a sequential scan of
-- tbl(id, b) differ by one of the conditions, or where the index was not used
CREATE FUNCTION shape_disagreements(tbl regclass, index name, paths text[] DEFAULT '{index,bitmap,only}') RETURNS SETOF text LANGUAGE sql AS $$
  SELECT d FROM conditions, unnest(paths) path,
    LATERAL differs(format('SELECT %s FROM %s WHERE %s', CASE path WHEN 'only' THEN 'b' ELSE 'id, b' END, tbl, condition), path,
      CASE path WHEN 'index' THEN 'Index Scan using ' WHEN 'only' THEN 'Index Only Scan using ' ELSE 'Bitmap Index Scan on ' END || index || '[^\n]*\n *Index Cond') d
  WHERE d IS NOT NULL $$;

-- order_disagreements(tbl, index, filter, row_limit): likewise in order, by the
-- bits of what is ordered by; of all rows, or of those that the shape meets
CREATE FUNCTION order_disagreements(tbl regclass, index name, hits_only boolean DEFAULT false, row_limit int DEFAULT NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  o record;
  path text;
  query text;
  plan text;
  want bytea[];
  got bytea[];
BEGIN
  FOR o IN SELECT expression AS e, CASE WHEN hits_only THEN replace(expression, '<->', '&&') ELSE 'true' END AS f FROM orders LOOP
    query := format('SELECT array_agg(coalesce(float8send(d), ''\x'') ORDER BY place) FROM (SELECT d, row_number() OVER () AS place FROM (
      SELECT %1$s AS d FROM %2$s WHERE %3$s ORDER BY %1$s LIMIT %4$s) r) s', o.e, tbl, o.f, coalesce(row_limit::text, 'ALL'));
    PERFORM use_path('seq');
    EXECUTE query INTO want;
    FOREACH path IN ARRAY ARRAY['index', 'only'] LOOP
      PERFORM use_path(path);
      EXECUTE query INTO got;
      plan := plan_of(query);
      IF got IS DISTINCT FROM want THEN
        RETURN NEXT format('%s, %s: %s rows, sorted %s rows, %s of them in place', o.e, path, cardinality(got), cardinality(want),
          (SELECT count(*) FROM unnest(got, want) v(x, y) WHERE x = y));
      END IF;
      IF plan !~ ('Index (Only )?Scan using ' || index) OR plan !~ 'Order By: ' OR plan ~ 'Sort Key: \(*(t\.)?b ' THEN
        RETURN NEXT format('%s, %s: plan %s', o.e, path, plan);
      END IF;
    END LOOP;
  END LOOP;
  PERFORM use_path('any');
END $$;
