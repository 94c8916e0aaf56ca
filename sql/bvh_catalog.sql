-- What the extension consists of; every object has a comment.

CREATE VIEW members AS
SELECT classid, objid, pg_describe_object(classid, objid, objsubid) COLLATE "C" AS member
FROM pg_depend
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
  AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bvhindex')
  -- newer versions of PostgreSQL count types that come by themselves as members
  AND NOT (classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type WHERE oid = objid AND (typelem <> 0 OR typrelid <> 0)));
SELECT member FROM members ORDER BY member;
SELECT member AS without_comment FROM members
WHERE obj_description(objid, classid::regclass::name) IS NULL;
DROP VIEW members;
