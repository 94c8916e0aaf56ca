-- Spheres, planes and distances of other kinds through a gist index: as sequentially.
\set ON_ERROR_STOP 1
BEGIN;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
\i test/pgtap/include/shapes.sql
SELECT no_plan();
SET client_min_messages = warning;

\i test/pgtap/include/spheres_planes.sql

SELECT * FROM finish();
ROLLBACK;
