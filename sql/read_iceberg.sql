-- Iceberg tables found by their directory: values, plans, restarts, refusals.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
\getenv data BIFANG_TEST_DATA
\set orders :data '/shop/orders'
\set types :data '/types'
CREATE SCHEMA ri;
SET search_path = ri, public;
CREATE SERVER ri FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');

\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE FUNCTION plan(query text, run bool DEFAULT true) RETURNS SETOF text LANGUAGE sql AS 'SELECT plan_lines(query, run)';

-- By namespace, from the warehouse directory.
IMPORT FOREIGN SCHEMA shop FROM SERVER ri INTO ri;
SELECT attname, format_type(atttypid, atttypmod), attnotnull, attfdwoptions FROM pg_attribute
WHERE attrelid = 'orders'::regclass AND attnum > 0 ORDER BY attnum;
SELECT count(*), sum(order_id), sum(customer_id), sum(amount), sum(items), count(note) FROM orders;
SELECT min(ordered_at), max(ordered_at), min(country COLLATE "C"), max(status COLLATE "C") FROM orders;
SELECT country, count(*), sum(amount) FROM orders GROUP BY country ORDER BY country COLLATE "C" LIMIT 3;
SELECT * FROM orders WHERE order_id IN (0, 77777, 119999) ORDER BY order_id;

-- Plans: manifests only, until rows are wanted.
SELECT plan('SELECT * FROM orders', false);
SELECT plan('SELECT count(*) FROM orders');
SELECT plan('SELECT * FROM orders LIMIT 5');
SELECT plan('SELECT * FROM orders WHERE 1 <> 1');
SELECT plan('SELECT * FROM orders LIMIT 0');

-- Restarts at any time, from the first row.
SELECT g, x.n, x.s FROM generate_series(1, 3) g,
	LATERAL (SELECT count(*) AS n, sum(order_id) + g AS s FROM orders WHERE customer_id = g) x;
SELECT g, (SELECT order_id FROM orders WHERE order_id > g ORDER BY order_id LIMIT 1) FROM generate_series(1, 3) g;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT count(*), sum(b.order_id) FROM (SELECT order_id FROM orders WHERE order_id < 5) a
	JOIN orders b USING (order_id);
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- Cursors, prepared statements, views, whole rows, tableoid.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT order_id FROM orders WHERE order_id < 10 ORDER BY order_id;
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
CLOSE c;
DECLARE h CURSOR WITH HOLD FOR SELECT order_id FROM orders WHERE order_id < 3 ORDER BY 1;
COMMIT;
FETCH ALL FROM h;
CLOSE h;
PREPARE q(bigint) AS SELECT count(*) FROM orders WHERE order_id < $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE q(10);
EXECUTE q(100);
EXECUTE q(NULL);
RESET plan_cache_mode;
CREATE VIEW v WITH (security_barrier) AS SELECT country, amount FROM orders WHERE country = 'DE';
SELECT count(*) FROM v WHERE amount > 500;
SELECT o FROM orders o WHERE order_id = 42;
SELECT count(o), count(o.*) FROM orders o WHERE order_id < 4;
SELECT tableoid::regclass, count(*) FROM orders GROUP BY 1;
SELECT ctid FROM orders LIMIT 1;
SELECT failure('SELECT xmin FROM ri.orders');

-- Columns dropped, renamed, added; only a field id or a name binds.
ALTER FOREIGN TABLE orders DROP COLUMN note;
ALTER FOREIGN TABLE orders RENAME COLUMN items TO pieces;
ALTER FOREIGN TABLE orders ADD COLUMN tier text OPTIONS (meta 'tier');
ALTER FOREIGN TABLE orders ADD COLUMN file text OPTIONS (meta 'file');
ALTER FOREIGN TABLE orders ADD COLUMN pos bigint OPTIONS (meta 'pos');
ALTER FOREIGN TABLE orders ADD COLUMN ledger bigint OPTIONS (meta 'ledger');
SELECT sum(pieces), tier, count(DISTINCT file), max(pos), count(ledger) FROM orders GROUP BY tier;
SELECT pieces, tier, regexp_replace(file, '.*/', ''), pos FROM orders WHERE order_id = 42;
SELECT (o).order_id FROM orders o WHERE order_id = 42;
ALTER FOREIGN TABLE orders ADD COLUMN extra int;
SELECT failure('SELECT extra FROM ri.orders');
SELECT count(*) FROM orders;
ALTER FOREIGN TABLE orders DROP COLUMN extra;
ALTER FOREIGN TABLE orders ADD COLUMN extra int OPTIONS (field_id '99');
SELECT failure('SELECT extra FROM ri.orders');
ALTER FOREIGN TABLE orders DROP COLUMN extra;

-- Declared types: what fits is read, what does not is refused by name.
CREATE FOREIGN TABLE narrow (order_id int, amount numeric(10,1), items smallint, country varchar(2),
	"ORDERED_AT" timestamp) SERVER ri OPTIONS (location :'orders');
SELECT sum(order_id), sum(items), max(country COLLATE "C"), max("ORDERED_AT") FROM narrow;
SELECT failure('SELECT sum(amount) FROM ri.narrow');
ALTER FOREIGN TABLE narrow ALTER COLUMN amount TYPE numeric(20,4), ALTER COLUMN country TYPE char(4);
SELECT sum(amount), min(length(country::text)) FROM narrow;
SELECT country || '|', octet_length(country) FROM narrow LIMIT 1;
ALTER FOREIGN TABLE narrow ALTER COLUMN amount TYPE numeric, ALTER COLUMN order_id TYPE smallint,
	ALTER COLUMN country TYPE varchar(1);
SELECT sum(amount) FROM narrow;
SELECT failure('SELECT sum(order_id) FROM ri.narrow');
SELECT failure('SELECT max(country) FROM ri.narrow');
ALTER FOREIGN TABLE narrow ALTER COLUMN amount TYPE date, ALTER COLUMN "ORDERED_AT" TYPE date;
SELECT failure('SELECT amount FROM ri.narrow');
SELECT failure('SELECT "ORDERED_AT" FROM ri.narrow');

-- Every type that Iceberg has for us.
IMPORT FOREIGN SCHEMA types LIMIT TO (all_types) FROM SERVER ri INTO ri;
SELECT attname, format_type(atttypid, atttypmod), attfdwoptions FROM pg_attribute
WHERE attrelid = 'all_types'::regclass AND attnum > 0 ORDER BY attnum;
\x on
SELECT * FROM all_types ORDER BY 1;
\x off

-- What cannot be declared is left out and named; LIMIT TO and EXCEPT choose before that.
SET client_min_messages = notice;
IMPORT FOREIGN SCHEMA types EXCEPT (all_types) FROM SERVER ri INTO ri;
IMPORT FOREIGN SCHEMA types EXCEPT (all_types, nested) FROM SERVER ri INTO ri;
SELECT failure('IMPORT FOREIGN SCHEMA nothing FROM SERVER ri INTO ri');
SET client_min_messages = warning;

-- Read-only, and what is not there.
SELECT failure('INSERT INTO ri.narrow (order_id) VALUES (1)');
SELECT failure('UPDATE ri.narrow SET order_id = 1');
SELECT failure('DELETE FROM ri.narrow');
SELECT failure('TRUNCATE ri.narrow');
CREATE FOREIGN TABLE missing () SERVER ri OPTIONS (location '/nonexistent/table');
SELECT failure('SELECT * FROM ri.missing');
SELECT failure('EXPLAIN SELECT * FROM ri.missing');

-- Files without the columns that they are partitioned by: partitions have their values, also of members of structs.
IMPORT FOREIGN SCHEMA odd LIMIT TO (partition_values_missing) FROM SERVER ri INTO ri;
SELECT id, region, a FROM partition_values_missing ORDER BY id;
SELECT id FROM partition_values_missing WHERE region = 'eu' AND a->>'country' = 'fr' AND (a->'z'->>'code')::int = 7 ORDER BY id;

-- A table of version 1 that took over files of Hive: no ids, other names, a type of before, columns added since.
IMPORT FOREIGN SCHEMA odd LIMIT TO (migrated) FROM SERVER ri INTO ri;
SELECT id, renamed, n, p, added FROM migrated ORDER BY id;
SELECT id FROM migrated WHERE n = 20 AND p = 'a';
SELECT l FROM plan('SELECT n FROM migrated') l WHERE l ~ 'by Position';

-- What can't be read is told of all the same.
\set path :data '/dels/orc_deletes'
CREATE FOREIGN TABLE orc_deletes (id int) SERVER ri OPTIONS (location :'path');
SELECT failure('SELECT * FROM orc_deletes') ~ 'format ORC' AS refused;
SELECT count(*) > 0 AS files, sum(delete_files) > 0 AS deletes FROM bifang.files('orc_deletes');
SELECT sum(files) > 0 AS files FROM bifang.partitions('orc_deletes');
SELECT count(*) > 0 AS files FROM bifang.manifest('orc_deletes');

-- ANALYZE: totals are exact, statistics are there.
ANALYZE orders;
SELECT reltuples, relpages > 0 AS pages FROM pg_class WHERE oid = 'orders'::regclass;
SELECT attname, null_frac, n_distinct FROM pg_stats WHERE tablename = 'orders' AND schemaname = 'ri'
	AND attname IN ('country', 'order_id', 'tier') ORDER BY 1;

-- Snapshots and manifest.
SELECT sequence_number, operation, refs, summary->>'total-records' AS total FROM bifang.snapshots('orders');
SELECT form, count(*), sum(rows) FROM bifang.manifest('orders') GROUP BY form;

DROP SCHEMA ri CASCADE;
DROP SERVER ri CASCADE;
