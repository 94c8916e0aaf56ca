-- Shared by the pgTAP files about BVH joins: compares them with nested loops.
-- Use it after agree.sql.

-- by_nested_loop(query): one value, without any BVH join
CREATE FUNCTION by_nested_loop(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  SET LOCAL bvhindex.enable_join = off;
  EXECUTE query INTO answer;
  SET LOCAL bvhindex.enable_join = on;
  RETURN answer;
END $$;
-- agrees(query, plan, name): a query of one value gives that by a plan that matches
CREATE FUNCTION agrees(query text, plan text, name text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
  answer text;
BEGIN
  EXECUTE query INTO answer;
  RETURN NEXT is(answer, by_nested_loop(query), name);
  RETURN NEXT matches(plan_of(query), plan, name || ': plan');
END $$;
