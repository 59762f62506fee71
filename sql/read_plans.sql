-- What the planner makes of tables: joins cost what they read.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rp;
SET search_path = rp, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER rp FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
CREATE SERVER rpw FOREIGN DATA WRAPPER bifang_fdw;
IMPORT FOREIGN SCHEMA shop LIMIT TO (orders) FROM SERVER rp INTO rp;
CREATE FOREIGN TABLE own (id int, v text) SERVER rpw OPTIONS (namespace 'rp', "table" 'own');
INSERT INTO own SELECT g, 'row ' || g FROM generate_series(1, 20000) g;
CREATE TABLE keys AS SELECT g * 500 AS id FROM generate_series(1, 30) g;
ANALYZE own, orders, keys;
SET max_parallel_workers_per_gather = 0;
SET bifang.rescan_memory = 0;

-- A rescan decodes all that bounds and indexes can't rule out: everything of a log that has no index on
-- the column, and of files as much as the order of the rows says, in whole row groups.
SELECT plan_lines('SELECT * FROM keys JOIN own USING (id) WHERE id <= 2500', false, 'Join|Loop');
SELECT plan_lines('SELECT * FROM keys JOIN orders ON order_id = id', false, 'Join|Loop');
-- One key is another matter. (Servers write the condition either way round.)
SELECT replace(plan_lines, '($n = order_id)', '(order_id = $n)') AS plan_lines FROM plan_lines('SELECT * FROM keys JOIN orders ON order_id = id WHERE id < 1000', false, 'Join|Loop|Pushed');

-- Where rows are kept, a rescan is no more than looking at them.
RESET bifang.rescan_memory;
SELECT replace(plan_lines, '($n = order_id)', '(order_id = $n)') AS plan_lines FROM plan_lines('SELECT * FROM keys JOIN own USING (id) WHERE id <= 2500', false, 'Join|Loop|Pushed');
SELECT replace(plan_lines, '($n = order_id)', '(order_id = $n)') AS plan_lines FROM plan_lines('SELECT * FROM keys JOIN orders ON order_id = id', false, 'Join|Loop|Pushed');

-- How many rows a plain file has is no guess: planning reads its footer.
\set no_index :data '/parquet_prune/no_index.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER rp INTO rp OPTIONS (format 'parquet', location :'no_index');
SELECT plan_lines('SELECT * FROM no_index', false, 'Parquet Files') ~ 'about' AS guessed;
SELECT count(*) FROM no_index;
SELECT plan_lines('SELECT * FROM no_index', false, 'Parquet Files');
ANALYZE no_index;
SELECT plan_lines('SELECT * FROM no_index', false, 'Parquet Files');

SELECT bifang.drop_table('rpw', 'rp', 'own', true);
CALL sweep();
DROP SCHEMA rp CASCADE;
DROP SERVER rp CASCADE;
DROP SERVER rpw CASCADE;
