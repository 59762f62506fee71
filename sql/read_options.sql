-- Options: the table of them, what the validator says, roles.
SET client_min_messages = warning;
\getenv data BIFANG_TEST_DATA
\set orders :data '/shop/orders'
CREATE SCHEMA ro;
SET search_path = ro, public;

SELECT name, applies_to, kind, role FROM bifang.options() ORDER BY name;

-- Misspelt, in the wrong place, of the wrong kind.
\set ON_ERROR_STOP 0
CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehose '/x');
CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (location '/x');
CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (zzz '/x');
CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse 'relative/dir');
CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse 'file://host/dir');
CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (format 'orc');
CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name '');
CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (format 'parquet');
CREATE USER MAPPING FOR CURRENT_USER SERVER s OPTIONS (pasword 'x');
CREATE USER MAPPING FOR CURRENT_USER SERVER s OPTIONS (password_required 'maybe');
CREATE SERVER r FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_host 'h', catalog_port '0');
CREATE SERVER r FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_host 'h', catalog_port '65536');
CREATE SERVER r FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_host 'h', catalog_sslmode 'on');
CREATE SERVER r FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_dbname 'd');
CREATE SERVER r FOREIGN DATA WRAPPER bifang_fdw OPTIONS (password 'x');
CREATE FOREIGN TABLE t (a int OPTIONS (field_id '0')) SERVER s OPTIONS (location '/x');
CREATE FOREIGN TABLE t (a int OPTIONS (meta 'tear')) SERVER s OPTIONS (location '/x');
CREATE FOREIGN TABLE t (a int OPTIONS (fieldid '1')) SERVER s OPTIONS (location '/x');
CREATE FOREIGN TABLE t (a int) SERVER s OPTIONS (locaton '/x');
ALTER FOREIGN DATA WRAPPER bifang_fdw OPTIONS (ADD debug '1');

-- Options that contradict each other or leave out what is needed are found when a table is made.
CREATE FOREIGN TABLE nowhere (a int) SERVER s;
CREATE FOREIGN TABLE contradiction (a int) SERVER s
	OPTIONS (format 'iceberg', location '/x', namespace 'a', "table" 'b');
SELECT count(*) FROM pg_class WHERE relname IN ('nowhere', 'contradiction');
-- So is what an ALTER makes contradict; what it leaves out, when the table is used.
CREATE FOREIGN TABLE changed (a int) SERVER s OPTIONS (format 'iceberg', location '/x');
ALTER FOREIGN TABLE changed OPTIONS (ADD namespace 'a', ADD "table" 'b');
ALTER FOREIGN TABLE changed OPTIONS (DROP location);
SELECT * FROM changed;

-- All spellings of a local path, and what is none.
\set p1 'file://' :orders '/'
\set p2 'file:' :orders
\set p3 :data '//shop///orders//'
CREATE FOREIGN TABLE p1 () SERVER s OPTIONS (format 'iceberg', location :'p1');
CREATE FOREIGN TABLE p2 () SERVER s OPTIONS (format 'iceberg', location :'p2');
CREATE FOREIGN TABLE p3 () SERVER s OPTIONS (format 'iceberg', location :'p3');
SELECT (SELECT count(*) FROM p1), (SELECT count(*) FROM p2), (SELECT count(*) FROM p3);
CREATE FOREIGN TABLE p4 () SERVER s OPTIONS (format 'iceberg', location 'shop/orders');
CREATE FOREIGN TABLE p4 () SERVER s OPTIONS (format 'iceberg', location 'file://host/shop/orders');
CREATE FOREIGN TABLE p4 () SERVER s OPTIONS (format 'iceberg', location 'ftp:///shop/orders');

-- A role that may use the server may not read files of its choice, neither by an option nor by a
-- function, nor through a table that was made over to it. What it may read through a table of somebody
-- who has the right is that owner's affair.
CREATE ROLE ro_user;
GRANT USAGE ON FOREIGN SERVER s TO ro_user;
GRANT ALL ON SCHEMA ro TO ro_user;
GRANT SELECT ON p1, p2 TO ro_user;
SET ROLE ro_user;
SELECT count(*) FROM p1;
CREATE FOREIGN TABLE secret (a text) SERVER s OPTIONS (location '/etc/passwd');
CREATE USER MAPPING FOR CURRENT_USER SERVER s OPTIONS (user 'u', password_required 'false');
CREATE USER MAPPING FOR CURRENT_USER SERVER s OPTIONS (user 'u', sslkey '/etc/passwd');
IMPORT FOREIGN SCHEMA x FROM SERVER s INTO ro OPTIONS (format 'parquet', location '/etc/*');
SELECT * FROM bifang.parquet_metadata('/etc/passwd');
SELECT * FROM bifang.log_segment('/etc');
SELECT * FROM bifang.offload_file('/etc/passwd');
SELECT count(*) FROM bifang.snapshots('ro.p1');
SELECT count(*) FROM bifang.snapshots('ro.p3');
ALTER FOREIGN TABLE p2 OPTIONS (SET location '/etc/passwd');
RESET ROLE;
ALTER FOREIGN TABLE p1 OWNER TO ro_user;
SELECT count(*) FROM p1;
SET ROLE ro_user;
SELECT count(*) FROM p1;
SELECT count(*) FROM bifang.snapshots('ro.p1');
ALTER FOREIGN TABLE p1 OPTIONS (SET location '/etc/passwd');
SELECT count(*) FROM p2;
RESET ROLE;
GRANT pg_read_server_files TO ro_user;
SELECT count(*) FROM p1;
SET ROLE ro_user;
SELECT count(*) FROM p1;
RESET ROLE;
REVOKE pg_read_server_files FROM ro_user;
SELECT count(*) FROM p1;

-- Options of tables of another format.
\set file :data '/found/uml.parquet'
\set log :data '/found/tsn-0'
CREATE FOREIGN TABLE foreign_to (a bigint) SERVER s OPTIONS (format 'parquet', location :'file', topic 'x');
CREATE FOREIGN TABLE foreign_to (a bigint) SERVER s OPTIONS (format 'parquet', location :'file', partition_by 'a');
CREATE FOREIGN TABLE foreign_to ("offset" bigint) SERVER s OPTIONS (format 'kafka_log', location :'log', as_of_snapshot '1');
CREATE FOREIGN TABLE foreign_to ("offset" bigint) SERVER s OPTIONS (format 'kafka_log', location :'log');
ALTER FOREIGN TABLE foreign_to OPTIONS (ADD ref 'main');
SELECT count(*) FROM foreign_to;
\set ON_ERROR_STOP 1

DROP SERVER s CASCADE;
DROP SCHEMA ro CASCADE;
DROP ROLE ro_user;
