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
