-- Binding: which lake table a foreign table is, and that it is no accident.
SET client_min_messages = warning;
\getenv data BIFANG_TEST_DATA
\set orders :data '/shop/orders'
CREATE SCHEMA bind;
SET search_path = bind, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER bind FOREIGN DATA WRAPPER bifang_fdw;
CREATE SERVER bind_too FOREIGN DATA WRAPPER bifang_fdw;
SET client_min_messages = notice;

-- Made or found, it is said.
CREATE FOREIGN TABLE events (id bigint, ts timestamptz) SERVER bind OPTIONS (partition_by 'day(ts), bucket(4, id)');
CREATE FOREIGN TABLE again (id bigint) SERVER bind OPTIONS ("table" 'events');
CREATE FOREIGN TABLE elsewhere (id bigint) SERVER bind_too OPTIONS ("table" 'events');
CREATE FOREIGN TABLE typo (id bigint) SERVER bind OPTIONS ("table" 'event');
CREATE FOREIGN TABLE other_name (id bigint) SERVER bind OPTIONS ("table" 'quite_another');
CREATE FOREIGN TABLE evnts (id bigint) SERVER bind;
-- How a table is partitioned is decided when it is made.
CREATE FOREIGN TABLE same (id bigint, ts timestamptz) SERVER bind OPTIONS ("table" 'events', partition_by 'day(ts), bucket(4, id)');
SET client_min_messages = warning;
SELECT option, failure(format($$CREATE FOREIGN TABLE bind.no (id bigint) SERVER bind OPTIONS ("table" 'events', partition_by %L)$$, option))
	FROM unnest(ARRAY['day(ts)', 'bucket(4, id), day(ts)', 'day(ts), bucket(5, id)', 'hour(ts), bucket(4, id)', 'day(ts), bucket(4, id), id']) AS option;
SELECT failure($$CREATE FOREIGN TABLE bind.no (id bigint) SERVER bind OPTIONS ("table" 'evnts', partition_by 'id')$$) AS of_none;

-- A table of the catalog does not become one of a path on the way.
INSERT INTO events VALUES (1, '2026-01-01');
SELECT failure(format($$ALTER FOREIGN TABLE events OPTIONS (ADD location %L)$$, :'orders'));
SELECT failure($$ALTER FOREIGN TABLE events OPTIONS (DROP namespace, ADD location '/x')$$);
SELECT count(*) FROM events;
SELECT count(*) FROM again;

-- Registered, what was imported is the registered table: for its owner.
CREATE ROLE bind_other;
GRANT USAGE ON FOREIGN SERVER bind TO bind_other;
GRANT ALL ON SCHEMA bind TO bind_other;
GRANT pg_read_server_files TO bind_other;
CREATE FOREIGN TABLE imported () SERVER bind OPTIONS (location :'orders');
CREATE FOREIGN TABLE imported_too () SERVER bind_too OPTIONS (location :'orders');
SET ROLE bind_other;
CREATE FOREIGN TABLE imported_by_other () SERVER bind OPTIONS (location :'orders');
RESET ROLE;
SELECT count(*) > 0 AS rows FROM imported;
SET client_min_messages = notice;
SELECT bifang.register_table('bind', 'shop', 'orders', :'orders') IS NOT NULL AS registered;
SELECT foreign_table, namespace, table_name FROM bifang.tables WHERE catalog_name = 'bind' AND namespace = 'shop' ORDER BY 1;
SELECT ftrelid::regclass, array_to_string(ftoptions, ' ') LIKE '%location=%' AS by_location FROM pg_foreign_table
	WHERE ftrelid::regclass::text LIKE 'imported%' ORDER BY 1;
SET client_min_messages = warning;
SELECT (SELECT count(*) FROM imported) = (SELECT count(*) FROM imported_too) AS same;
SELECT bifang.drop_table('bind', 'shop', 'orders');
DROP FOREIGN TABLE imported, imported_too, imported_by_other;
CREATE FOREIGN TABLE admins () SERVER bind OPTIONS (location :'orders');
SET ROLE bind_other;
CREATE FOREIGN TABLE mine () SERVER bind OPTIONS (location :'orders');
CREATE FOREIGN TABLE mine_file () SERVER bind OPTIONS (location :'orders', ref 'main');
SET client_min_messages = notice;
SELECT bifang.register_table('bind', 'shop', 'orders', :'orders') IS NOT NULL AS registered;
RESET ROLE;
SET client_min_messages = warning;
SELECT bifang.drop_table('bind', 'shop', 'orders');
REVOKE ALL ON SCHEMA bind FROM bind_other;
DROP FOREIGN TABLE mine, mine_file, admins;
DROP SERVER bind CASCADE;
DROP SERVER bind_too CASCADE;
DROP SCHEMA bind CASCADE;
DROP ROLE bind_other;
