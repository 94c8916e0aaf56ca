-- A bound of a distance, "b <-> q < r", bounds the walk of a gist index.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();
SET client_min_messages = warning;

\i test/pgtap/include/bounds.sql

SELECT * FROM finish();
ROLLBACK;
