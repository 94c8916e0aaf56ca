-- The index answers as the sequential scan does after deletes, updates, VACUUM
-- and everything else that rewrites a table or its index.
--
-- VACUUM does not run in a transaction, so this file works in a schema of its own.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
DROP SCHEMA IF EXISTS vacuumed CASCADE;
CREATE SCHEMA vacuumed;
SET search_path = vacuumed, public;
\i test/pgtap/include/agree.sql
\i test/pgtap/include/kinds.sql
SELECT no_plan();

\i test/pgtap/include/vacuum.sql
SELECT is_empty('SELECT unsound()', 'all indexes are sound');

SELECT * FROM finish();
DROP SCHEMA vacuumed CASCADE;
