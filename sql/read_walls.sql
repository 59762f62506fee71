-- Walls: what one program, role or session wrote or set does not reach further than its own tables.
SET client_min_messages = warning;
\getenv data BIFANG_TEST_DATA
\set orders :data '/shop/orders'
CREATE SCHEMA walls;
SET search_path = walls, public;
CREATE SERVER walls FOREIGN DATA WRAPPER bifang_fdw;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers

-- Rows of the catalog that other engines may write. One that names no file of this machine is an
-- error for whoever reads that table, and nothing for all others.
CREATE FOREIGN TABLE t (i int) SERVER walls;
INSERT INTO t VALUES (1), (2);
SELECT rows FROM bifang.commit('t');
SELECT regexp_replace(metadata_location, 'file://(.*)/metadata/.*', '\1') AS location
	FROM bifang.iceberg_tables WHERE catalog_name = 'walls' \gset
CREATE FOREIGN TABLE t_here (i int) SERVER walls OPTIONS (location :'location');
CREATE FOREIGN TABLE adopted () SERVER walls OPTIONS (location :'orders');
INSERT INTO bifang.iceberg_tables (catalog_name, table_namespace, table_name, metadata_location)
	SELECT 'walls', 'walls', 'bad' || n, location
	FROM unnest(ARRAY['file://host/a', 'file:a', 'file://', 'file:', '/' || repeat('a/', 490), '/', 'a', 's3://b/a', '', NULL])
		WITH ORDINALITY AS b (location, n);
SET bifang.create_on_ddl = off;
CREATE FOREIGN TABLE bad1 (i int) SERVER walls;
RESET bifang.create_on_ddl;
SELECT failure('SELECT * FROM bad1');
SELECT * FROM t ORDER BY i;
SELECT * FROM t_here ORDER BY i;
SELECT count(*) FROM adopted;
SELECT bifang.remove_garbage() >= 0 AS removed;
SELECT left(failure(format('SELECT bifang.register_table(%L, %L, %L, %L)', 'walls', 'walls', 't2', :'location')), 44) AS same;
SELECT bifang.register_table('walls', 'walls', 'orders', :'orders') IS NOT NULL AS registered;
INSERT INTO t VALUES (3);
SELECT rows FROM bifang.commit('t');
CREATE SCHEMA walls_imported;
IMPORT FOREIGN SCHEMA walls FROM SERVER walls INTO walls_imported;
SELECT relname FROM pg_class WHERE relnamespace = 'walls_imported'::regnamespace ORDER BY 1;
DELETE FROM bifang.iceberg_tables WHERE catalog_name = 'walls' AND table_name LIKE 'bad%';
DELETE FROM bifang.iceberg_tables WHERE catalog_name = 'walls' AND table_name = 'orders';
DROP FOREIGN TABLE bad1;

-- What a caller sets says what a table is read at, in functions of others too, unless the table or
-- the server has time_travel 'off'.
SELECT snapshot_id AS first FROM bifang.snapshots('t') WHERE parent_id IS NULL \gset
CREATE ROLE walls_caller;
GRANT USAGE ON SCHEMA walls TO walls_caller;
CREATE FUNCTION rows_of_t() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = walls AS 'SELECT count(*) FROM t';
SET ROLE walls_caller;
SELECT rows_of_t();
SET bifang.as_of_snapshot = :first;
SELECT rows_of_t();
RESET ROLE;
ALTER FOREIGN TABLE t OPTIONS (ADD time_travel 'off');
SET ROLE walls_caller;
SELECT rows_of_t();
RESET bifang.as_of_snapshot;
SET bifang.ref = 'nowhere';
SELECT rows_of_t();
SET bifang.as_of_timestamp = '2000-01-01';
SELECT rows_of_t();
RESET bifang.ref;
RESET bifang.as_of_timestamp;
RESET ROLE;
-- Its own options count, and so does what a function sets for itself.
ALTER FOREIGN TABLE t OPTIONS (ADD as_of_snapshot :'first');
SELECT rows_of_t();
ALTER FOREIGN TABLE t OPTIONS (DROP as_of_snapshot, DROP time_travel);
ALTER FUNCTION rows_of_t() SET bifang.as_of_snapshot = '';
SET bifang.as_of_snapshot = :first;
SELECT rows_of_t();
ALTER SERVER walls OPTIONS (ADD time_travel 'off');
SELECT count(*) FROM t;
ALTER FOREIGN TABLE t OPTIONS (ADD time_travel 'on');
SELECT count(*) FROM t;
ALTER FOREIGN TABLE t OPTIONS (DROP time_travel);
ALTER SERVER walls OPTIONS (DROP time_travel);
RESET bifang.as_of_snapshot;

-- A setting that means nothing is refused where it is set.
SELECT name, left(value, 40) AS value, left(failure(format('SET bifang.%s = %L', name, value)), 57) FROM (VALUES ('as_of_snapshot', 'x'),
	('as_of_snapshot', '1.5'), ('as_of_snapshot', '9223372036854775808'), ('as_of_snapshot', ' -9223372036854775808 '),
	('as_of_timestamp', 'yesterdayish'), ('as_of_timestamp', '2026-13-01'), ('as_of_timestamp', '2026-11-30 02:07:28.5+00'),
	('as_of_timestamp', '999999-01-01'), ('as_of_timestamp', 'yesterday'), ('as_of_timestamp', '-infinity'),
	('as_of_timestamp', repeat('2026-', 200)), ('ref', 'any'), ('as_of_snapshot', ''), ('as_of_timestamp', '')) AS s (name, value);
\set ON_ERROR_STOP 0
ALTER ROLE walls_caller SET bifang.as_of_timestamp = 'never';
\set ON_ERROR_STOP 1
RESET bifang.ref;
RESET bifang.as_of_snapshot;
RESET bifang.as_of_timestamp;
REVOKE USAGE ON SCHEMA walls FROM walls_caller;
DROP ROLE walls_caller;

-- Options that mean nothing for the table's format are refused, however they come together.
\set pq :data '/parquet/alpha.parquet'
CREATE SERVER walls_log FOREIGN DATA WRAPPER bifang_fdw OPTIONS (format 'kafka_log', time_travel 'off');
SELECT option, failure(format($$CREATE FOREIGN TABLE walls.no (a int) SERVER walls OPTIONS (format 'parquet', location '/x', %s)$$, option))
	FROM unnest(ARRAY[$$topic 'x'$$, $$isolation 'read_committed'$$, $$ref 'main'$$, $$as_of_snapshot '1'$$, $$as_of_timestamp 'now'$$,
		$$time_travel 'off'$$, $$partition_by 'a'$$, $$namespace 'x'$$, $$"table" 'x'$$]) AS option;
SELECT failure($$CREATE FOREIGN TABLE walls.no (a int) SERVER walls OPTIONS (location '/x', topic 'x')$$) AS format_by_default;
SELECT failure($$CREATE FOREIGN TABLE walls.no (a int) SERVER walls_log OPTIONS (location '/x', ref 'x')$$) AS format_of_server;
SELECT failure($$IMPORT FOREIGN SCHEMA x FROM SERVER walls INTO walls OPTIONS (format 'parquet', location '/x', isolation 'read_uncommitted')$$);
CREATE FOREIGN TABLE options_of_log (a int) SERVER walls_log OPTIONS (location '/x', topic 'x');
CREATE FOREIGN TABLE file (id bigint) SERVER walls OPTIONS (format 'parquet', location :'pq', out_of_range 'null');
SELECT failure($$ALTER FOREIGN TABLE file OPTIONS (ADD ref 'main')$$);
CREATE FOREIGN TABLE past (id bigint) SERVER walls OPTIONS (format 'iceberg', location :'orders', ref 'main');
SELECT failure(format($$ALTER FOREIGN TABLE past OPTIONS (SET format 'parquet', SET location %L)$$, :'pq'));
ALTER FOREIGN TABLE past OPTIONS (SET format 'parquet', SET location :'pq', DROP ref);
SELECT (SELECT count(*) FROM past) = (SELECT count(*) FROM file) AS same;
SELECT option, failure(format($$CREATE FOREIGN TABLE walls.no (a int %s) SERVER walls OPTIONS (format 'kafka_log', location '/x' %s)$$, "column", option))
	FROM (VALUES ('', $$, location_map 's3://a=/b'$$), ('', $$, verify_checksums 'off'$$), ($$OPTIONS (field_id '1')$$, '')) AS o ("column", option);
SELECT failure($$CREATE FOREIGN TABLE walls.no (a int OPTIONS (field_id '1')) SERVER walls OPTIONS (format 'parquet', location '/x')$$) AS field_id;
SELECT failure($$CREATE FOREIGN TABLE walls.no (a int) SERVER walls OPTIONS (format 'parquet', location '/x', location_map 's3://a=/b')$$) AS location_map;
CREATE FOREIGN TABLE sums (id bigint) SERVER walls OPTIONS (format 'parquet', location :'pq', verify_checksums 'off');
SELECT failure($$ALTER FOREIGN TABLE sums ALTER COLUMN id OPTIONS (ADD field_id '1')$$) AS of_column;
SELECT failure($$ALTER FOREIGN TABLE sums ADD COLUMN more int OPTIONS (field_id '1')$$) AS of_new_column;
-- ALTER TABLE takes foreign tables, too.
SELECT failure($$ALTER TABLE sums ALTER COLUMN id OPTIONS (ADD field_id '1')$$) AS of_column;
SELECT failure($$ALTER TABLE sums ADD COLUMN more int OPTIONS (field_id '1')$$) AS of_new_column;
SELECT failure($$ALTER TABLE sums OPTIONS (ADD ref 'main')$$) AS of_table;
DROP FOREIGN TABLE sums;
SELECT failure($$ALTER FOREIGN TABLE options_of_log OPTIONS (ADD ref 'main')$$) AS format_of_server;
SELECT failure($$ALTER SERVER walls_log OPTIONS (SET format 'parquet')$$) AS of_tables;
SELECT failure($$ALTER SERVER walls_log OPTIONS (DROP format)$$) AS of_tables;
ALTER FOREIGN TABLE options_of_log OPTIONS (ADD format 'kafka_log');
ALTER SERVER walls_log OPTIONS (SET format 'parquet');
ALTER SERVER walls_log OPTIONS (SET format 'kafka_log');
-- What is there already is let be, and what a dump brings.
BEGIN;
SET LOCAL check_function_bodies = off;
SET LOCAL row_security = off;
SET LOCAL search_path = '';
CREATE FOREIGN TABLE walls.old (id bigint) SERVER walls OPTIONS (format 'parquet', location :'pq', ref 'main');
COMMIT;
SELECT (SELECT count(*) FROM old) = (SELECT count(*) FROM file) AS same;
SELECT failure($$ALTER FOREIGN TABLE old OPTIONS (ADD invalid_text 'null')$$);
ALTER FOREIGN TABLE old OPTIONS (ADD invalid_text 'null', DROP ref);
DROP FOREIGN TABLE old, past, file, options_of_log;

-- Who writes a ledger, and its table, shows in pg_locks: objsubid is a smallint, where 0xBF01 is -16639.
BEGIN;
INSERT INTO t VALUES (4);
SELECT count(*) AS mine, count(*) FILTER (WHERE objsubid = -16639 AND mode = 'ExclusiveLock' AND granted) AS ledger FROM pg_locks
	WHERE locktype = 'advisory' AND pid = pg_backend_pid();
ROLLBACK;
-- Rows of a foreign table are not locked by SELECT ... FOR UPDATE.
BEGIN;
SELECT count(*) FROM (SELECT * FROM t FOR UPDATE) AS locked;
SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND (locktype = 'tuple' OR locktype = 'advisory');
ROLLBACK;
