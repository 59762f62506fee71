-- IMPORT FOREIGN SCHEMA in a warehouse where not everything is well.
SET client_min_messages = notice;
\set VERBOSITY terse
CREATE SCHEMA rim;
SET search_path = rim, public;
\getenv data BIFANG_TEST_DATA
SELECT current_setting('data_directory') || '/rim' AS lake \gset
\set make 'cat >/dev/null; rm -rf ' :lake '; mkdir -p ' :lake '/sales/broken/metadata ' :lake '/sales/empty ' :lake '/long; cp -r ' :data '/shop/orders ' :lake '/sales/good; cp ' :data '/shop/orders/data/*/*-00001.parquet ' :lake '/long/ 2>/dev/null; for f in ' :lake '/long/*.parquet; do mv $f ' :lake '/long/a_name_of_more_bytes_than_an_identifier_can_have_in_postgresql_tables.parquet; done; echo { > ' :lake '/sales/broken/metadata/v1.metadata.json'
COPY (SELECT) TO PROGRAM :'make';
CREATE SERVER rim FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'lake');

-- One broken table does not keep the others out, and a file beside them is none. (The WARNING names
-- a path of the machine.)
\set stray 'cat >/dev/null; cp ' :lake '/sales/good/metadata/v3.metadata.json ' :lake '/sales/stray.metadata.json'
COPY (SELECT) TO PROGRAM :'stray';
SET client_min_messages = error;
DO $$ BEGIN
	IMPORT FOREIGN SCHEMA sales FROM SERVER rim INTO rim;
END $$;
SELECT relname FROM pg_class WHERE relnamespace = 'rim'::regnamespace ORDER BY relname;
SELECT count(*) FROM good;
SET client_min_messages = notice;

-- A metadata file is imported under its table's name.
DROP FOREIGN TABLE good;
\set ECHO none
SELECT format('IMPORT FOREIGN SCHEMA "any" FROM SERVER rim INTO rim OPTIONS (location %L)',
	:'lake' || '/sales/good/metadata/v3.metadata.json') \gexec
\set ECHO all
SELECT relname FROM pg_class WHERE relnamespace = 'rim'::regnamespace ORDER BY relname;

-- A file whose name is too long for a table.
\set ECHO none
SELECT format('IMPORT FOREIGN SCHEMA "any" FROM SERVER rim INTO rim OPTIONS (format %L, location %L)',
	'parquet', :'lake' || '/long/*.parquet') \gexec
\set ECHO all
SELECT relname FROM pg_class WHERE relnamespace = 'rim'::regnamespace ORDER BY relname;

-- A directory's files are a table; a directory that is called like one of them is not.
\set files 'cat >/dev/null; cd ' :lake '; mkdir -p files/sub.parquet; cp long/*.parquet files/one.parquet; cp long/*.parquet files/two.parquet'
COPY (SELECT) TO PROGRAM :'files';
\set ECHO none
SELECT format('CREATE FOREIGN TABLE files () SERVER rim OPTIONS (format %L, location %L)',
	'parquet', :'lake' || '/files') \gexec
\set ECHO all
SELECT count(*) > 0 AS rows, count(*) % 2 AS odd FROM files;
DROP FOREIGN TABLE files;

-- Tables whose names are alike when cut: one of them, and it is said that there is another.
\set long a_name_of_more_bytes_than_an_identifier_can_have_in_postgresql_
\set two 'cat >/dev/null; cd ' :lake '; mkdir twins; for t in one two; do cp -r sales/good twins/' :long '$t; done'
COPY (SELECT) TO PROGRAM :'two';
DROP FOREIGN TABLE :long;
IMPORT FOREIGN SCHEMA twins FROM SERVER rim INTO rim;

-- Columns that PostgreSQL cannot have under their names: too long, alike when cut, system columns.
\set ECHO none
SELECT format('IMPORT FOREIGN SCHEMA "any" FROM SERVER rim INTO rim OPTIONS (location %L)', :'data' || '/odd/names_odd') \gexec
\set ECHO all
SELECT attname, attfdwoptions FROM pg_attribute WHERE attrelid = 'names_odd'::regclass AND attnum > 0 ORDER BY attnum;
SELECT * FROM names_odd WHERE ctid_ = 5 AND xmin_ = 'x';
SELECT count(*) FROM names_odd WHERE ctid_ = 2;

-- Files whose columns only options can name: too long, empty, several of one name.
\set ECHO none
SELECT format('IMPORT FOREIGN SCHEMA "any" FROM SERVER rim INTO rim OPTIONS (format %L, location %L)', 'parquet', :'data' || '/odd/names*.parquet') \gexec
\set ECHO all
SELECT attrelid::regclass, attname, attfdwoptions FROM pg_attribute WHERE attrelid IN ('names'::regclass, 'names_ids'::regclass) AND attnum > 0 ORDER BY attrelid, attnum;
\x on
SELECT * FROM names;
\x off
SELECT * FROM names_ids;
SELECT a_4, column_4_2 FROM names WHERE a_3 = 1011 AND ctid_ = 1016;
SELECT count(*) FROM names WHERE a = 11 OR a_4 = 'none';
-- By hand, and with another name in SQL.
SET client_min_messages = warning;
SELECT format('CREATE FOREIGN TABLE by_hand (nameless bigint OPTIONS (column_name %L), fourth bigint OPTIONS (column_name %L, occurrence %L), a text OPTIONS (occurrence %L)) SERVER rim OPTIONS (format %L, location %L)',
	'', 'a', 4, 3, 'parquet', :'data' || '/odd/names.parquet') AS command \gset
:command;
SELECT nameless, a FROM by_hand;
\set VERBOSITY sqlstate
SELECT fourth FROM by_hand;
\set VERBOSITY default
ALTER FOREIGN TABLE by_hand RENAME nameless TO called;
ALTER FOREIGN TABLE by_hand ALTER fourth OPTIONS (SET occurrence '2');
SELECT called, fourth FROM by_hand WHERE fourth > 500;
-- A lake table with such a name, made and written.
CREATE FOREIGN TABLE lake_names (id int, n text OPTIONS (column_name 'a name that has more than sixty-three bytes and so can''t be one in SQL')) SERVER rim;
INSERT INTO lake_names VALUES (1, 'one');
SELECT * FROM lake_names WHERE n = 'one';
CREATE FOREIGN TABLE lake_names_too (other text OPTIONS (column_name 'a name that has more than sixty-three bytes and so can''t be one in SQL')) SERVER rim OPTIONS ("table" 'lake_names');
SELECT * FROM lake_names_too;
SET client_min_messages = notice;

-- One that has more columns than a table can have, a directory among the files, one that nobody may
-- read: the others are imported all the same.
\set mixed 'cat >/dev/null; mkdir -p ' :lake '/mixed/dir.parquet ' :lake '/mixed/closed; cp ' :data '/odd/wide.parquet ' :data '/found/uml.parquet ' :lake '/mixed; cp ' :data '/found/uml.parquet ' :lake '/mixed/closed; chmod 0 ' :lake '/mixed/closed'
COPY (SELECT) TO PROGRAM :'mixed';
\set ECHO none
SELECT format('IMPORT FOREIGN SCHEMA "any" FROM SERVER rim INTO rim OPTIONS (format %L, location %L)', 'parquet', :'data' || '/odd/wide.parquet') \gexec
SET client_min_messages = error;
SELECT format('IMPORT FOREIGN SCHEMA "any" FROM SERVER rim INTO rim OPTIONS (format %L, location %L)', 'parquet', :'lake' || '/mixed/*') \gexec
SELECT format('CREATE FOREIGN TABLE closed (a bigint) SERVER rim OPTIONS (format %L, location %L)', 'parquet', :'lake' || '/mixed/*/*.parquet') \gexec
\set ECHO all
SELECT relname FROM pg_class WHERE relnamespace = 'rim'::regnamespace AND relname IN ('wide', 'dir', 'closed', 'uml') ORDER BY relname;
\set VERBOSITY sqlstate
SELECT count(*) FROM closed;
\set VERBOSITY default
\set mixed 'cat >/dev/null; chmod 700 ' :lake '/mixed/closed'
COPY (SELECT) TO PROGRAM :'mixed';

-- What a table and its columns say of themselves: comments. One that is there already stays.
\set said 'cat >/dev/null; mkdir ' :lake '/said; cp -r ' :lake '/sales/good ' :lake '/said/orders; sed -i ''s/"name":"order_id",/&"doc":"number of the order",/; s/"name":"amount",/&"doc":"in euro, gross",/; s/"name":"note",/&"doc":"",/; s/"properties":{/&"comment":"what was ordered",/'' ' :lake '/said/orders/metadata/'*.json
COPY (SELECT) TO PROGRAM :'said';
CREATE VIEW comments AS SELECT c.relname, a.attname, coalesce(col_description(c.oid, a.attnum), obj_description(c.oid, 'pg_class')) AS comment
	FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND col_description(c.oid, a.attnum) IS NOT NULL
	WHERE c.relnamespace = 'rim'::regnamespace AND c.relkind = 'f' AND c.relname LIKE 'orders%' ORDER BY 1, a.attnum NULLS FIRST;
IMPORT FOREIGN SCHEMA said FROM SERVER rim INTO rim;
SELECT obj_description('orders'::regclass, 'pg_class'), (SELECT count(*) FROM orders) > 0 AS rows;
SELECT * FROM comments;
SELECT bifang.register_table('rim', 'registered', 'orders_too', 'file://' || :'lake' || '/said/orders/metadata/v4.metadata.json') IS NOT NULL AS registered;
CREATE FUNCTION mine() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
	COMMENT ON COLUMN orders_too.amount IS 'mine';
	COMMENT ON FOREIGN TABLE orders_too IS 'mine too';
END $$;
CREATE EVENT TRIGGER a_first ON ddl_command_end WHEN TAG IN ('IMPORT FOREIGN SCHEMA') EXECUTE FUNCTION mine();
IMPORT FOREIGN SCHEMA registered FROM SERVER rim INTO rim;
DROP EVENT TRIGGER a_first;
SELECT obj_description('orders_too'::regclass, 'pg_class');
SELECT * FROM comments WHERE relname = 'orders_too';
-- Files have none.
SELECT count(*) FROM pg_description WHERE objoid = 'names_ids'::regclass;

SET client_min_messages = error;
DELETE FROM bifang.iceberg_tables WHERE catalog_name = 'rim' AND table_namespace = 'registered';
DROP SCHEMA rim CASCADE;
DROP SERVER rim;
