-- Each function of the schema, called by a role that was granted nothing: what it may do is said
-- here, or it is not done. A function without a row, and a row without a function, show up below.
SET client_min_messages = warning;
\getenv data BIFANG_TEST_DATA
\set orders :data '/shop/orders'
CREATE SCHEMA rights;
SET search_path = rights, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER rights FOREIGN DATA WRAPPER bifang_fdw;
CREATE SERVER rights_too FOREIGN DATA WRAPPER bifang_fdw;
CREATE SERVER rights_of_others FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name 'rights');
CREATE FOREIGN TABLE t (i int) SERVER rights;
INSERT INTO t VALUES (1), (2);
SELECT rows FROM bifang.commit('t');
CREATE ROLE rights_nobody;
GRANT USAGE ON SCHEMA rights TO rights_nobody;

CREATE TABLE calls (function text PRIMARY KEY, arguments text, outcome text);
GRANT SELECT ON calls TO rights_nobody;
INSERT INTO calls VALUES
	-- Permission denied: 42501.
	('adopt(boolean)', '', '42501'),
	('adopt_catalog(text,name)', $$'rights', 'rights_too'$$, '42501'),
	('"check"()', '', '42501'),
	('"check"(regclass)', $$'rights.t'$$, '42501'),
	('commit(regclass)', $$'rights.t'$$, '42501'),
	('create_table(name,text,text,regclass,text[])', $$'rights', 'a', 'b', 'rights.calls'::regclass$$, '42501'),
	('create_table(name,text,text,text,text[])', $$'rights', 'a', 'b', 'i int'$$, '42501'),
	('drop_table(name,text,text,boolean)', $$'rights', 'rights', 't'$$, '42501'),
	('expire(regclass,interval,integer)', $$'rights.t'$$, '42501'),
	('files(regclass)', $$'rights.t'$$, '42501'),
	('history(regclass)', $$'rights.t'$$, '42501'),
	('leftovers()', '', '42501'),
	('log_segment(text)', $$'/etc'$$, '42501'),
	('manifest(regclass)', $$'rights.t'$$, '42501'),
	('manifests(regclass)', $$'rights.t'$$, '42501'),
	('offload(regclass)', $$'rights.t'$$, '42501'),
	('optimize(regclass,bigint)', $$'rights.t'$$, '42501'),
	('offload_file(text)', $$'/etc/passwd'$$, '42501'),
	('parquet_metadata(text)', $$'/etc/passwd'$$, '42501'),
	('partitions(regclass)', $$'rights.t'$$, '42501'),
	('recover(name)', $$'rights'$$, '42501'),
	('refs(regclass)', $$'rights.t'$$, '42501'),
	('register_table(name,text,text,text)', $$'rights', 'a', 'b', '/etc'$$, '42501'),
	('remove_garbage()', '', '42501'),
	('repair(regclass)', $$'rights.t'$$, '42501'),
	('roll(regclass,boolean)', $$'rights.t'$$, '42501'),
	('set_property(regclass,text,text)', $$'rights.t', 'a', 'b'$$, '42501'),
	('settle(regclass)', $$'rights.t'$$, '42501'),
	('share_catalog(name,name)', $$'rights', 'rights_too'$$, '42501'),
	('snapshots(regclass)', $$'rights.t'$$, '42501'),
	('start_worker()', '', '42501'),
	('table_lag(regclass)', $$'rights.t'$$, '42501'),
	('unshare_catalog(name,name)', $$'rights', 'rights_of_others'$$, '42501'),
	-- For PostgreSQL to call: not as an event trigger is 39P01, and an option that names a file needs a right.
	('fdw_handler()', '', 'no error'),
	('fdw_validator(text[],oid)', $$'{location=/etc/passwd}', 'pg_foreign_table'::regclass$$, '42501'),
	('on_alter_columns()', '', '39P01'),
	('on_alter_foreign_table()', '', '39P01'),
	('on_alter_server()', '', '39P01'),
	('on_create_foreign_table()', '', '39P01'),
	('on_drop_extension()', '', '39P01'),
	('on_drop_server()', '', '39P01'),
	('on_import_foreign_schema()', '', '39P01'),
	-- Nothing that is not in the documentation, and the catalog's name as pg_foreign_server tells it to everyone.
	('catalog_of(oid)', $$(SELECT oid FROM pg_foreign_server WHERE srvname = 'rights')$$, 'no error'),
	('options()', '', 'no error'),
	('progress_rows()', '', 'no error');

CREATE VIEW functions AS
	SELECT replace(p.oid::regprocedure::text, 'bifang.', '') AS function, quote_ident(p.proname) AS name
	FROM pg_proc p WHERE p.pronamespace = 'bifang'::regnamespace;
GRANT SELECT ON functions TO rights_nobody;
SELECT function, c.function IS NULL AS no_row, f.function IS NULL AS no_function
	FROM functions f FULL JOIN calls c USING (function)
	WHERE c.function IS NULL OR f.function IS NULL ORDER BY function;

SET ROLE rights_nobody;
SELECT function, c.outcome, failure(format('SELECT bifang.%s(%s)', f.name, c.arguments)) AS instead
	FROM calls c JOIN functions f USING (function)
	WHERE left(failure(format('SELECT bifang.%s(%s)', f.name, c.arguments)), length(c.outcome)) <> c.outcome
	ORDER BY function;
-- What stands in the schema otherwise.
SELECT c.oid::regclass AS relation, c.relkind FROM pg_class c
	WHERE c.relnamespace = 'bifang'::regnamespace AND c.relkind IN ('r', 'v', 'm', 'S', 'p', 'f')
		AND (has_table_privilege(c.oid, 'SELECT') OR has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
	ORDER BY c.relname;
SELECT (SELECT count(*) FROM bifang.tables) AS tables, (SELECT count(*) FROM bifang.ledgers) AS ledgers, (SELECT count(*) FROM bifang.jobs) AS jobs;
RESET ROLE;
-- Nothing of it was done.
SELECT count(*) FROM t;
SELECT count(*) FROM bifang.tables WHERE catalog_name = 'rights';

SELECT bifang.drop_table('rights', 'rights', 't');
CALL sweep();
DROP SERVER rights CASCADE;
DROP SERVER rights_too, rights_of_others;
DROP SCHEMA rights CASCADE;
DROP ROLE rights_nobody;
