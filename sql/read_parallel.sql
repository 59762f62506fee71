-- One scan by several processes gives what one gives, in all tiers, again and again.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rx;
SET search_path = rx, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER rx FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
CREATE SERVER rxw FOREIGN DATA WRAPPER bifang_fdw;
IMPORT FOREIGN SCHEMA shop FROM SERVER rx INTO rx;
IMPORT FOREIGN SCHEMA lake LIMIT TO (mor2) FROM SERVER rx INTO rx;
\set topic :data '/kafka/many-*'
IMPORT FOREIGN SCHEMA x FROM SERVER rx INTO rx OPTIONS (format 'kafka_log', location :'topic');
CREATE FOREIGN TABLE own (a int, s text) SERVER rxw OPTIONS (namespace 'rx', "table" 'own');
INSERT INTO own SELECT g, 'row ' || g FROM generate_series(1, 1000) g;
SELECT bifang.roll('own') AS rolled \gset
SELECT ledgers FROM bifang.offload('own');
INSERT INTO own SELECT g, 'row ' || g FROM generate_series(1001, 3000) g;
SELECT rows FROM bifang.commit('own');
INSERT INTO own SELECT g, 'row ' || g FROM generate_series(3001, 3500) g;

-- Short scans stay with one process.
EXPLAIN (COSTS off) SELECT count(*) FROM orders;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 3;
CREATE FUNCTION plan(query text, run bool DEFAULT false) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT regexp_replace(l, '\(actual.*\)| pages.*', '')
	FROM plan_lines(query, run, 'Gather|Parallel Foreign|Parquet Read|Deletes', '^$') l
$$;
SELECT plan('SELECT count(*) FROM rx.orders');
-- The counters of all processes.
SELECT plan('SELECT count(*), sum(order_id) FROM rx.orders', true);
SELECT count(*), sum(order_id), sum(amount) FROM orders;
-- Values that do not fit as they are stored are made anew, for as long as they are needed.
ALTER FOREIGN TABLE orders ALTER COLUMN amount TYPE numeric(20,4);
SELECT sum(amount), max(amount), count(DISTINCT amount) FROM orders;
ALTER FOREIGN TABLE orders ALTER COLUMN amount TYPE numeric(12,2);
SELECT count(*), sum(id) FROM mor2;
SELECT count(*), sum("offset") FROM many;
SELECT count(*), sum(a), count(DISTINCT s) FROM own;
SET parallel_leader_participation = off;
SELECT count(*), sum(order_id) FROM orders;
SELECT count(*), sum(a) FROM own WHERE a > 900 AND a <= 3100;
RESET parallel_leader_participation;
-- Rows of this very transaction.
BEGIN;
INSERT INTO own SELECT g, 'new' FROM generate_series(1, 100) g;
SELECT count(*) FROM own;
DECLARE c CURSOR FOR SELECT count(*) FROM own;
INSERT INTO own VALUES (0, 'later');
FETCH c;
ROLLBACK;
SELECT count(*) FROM own;

-- Rescans under Gather: nested loops, LATERAL, parameters.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SET enable_memoize = off;
SELECT g, (SELECT count(*) FROM own WHERE a % 5 = g) FROM generate_series(0, 4) g;
SELECT g, x.n FROM generate_series(1, 3) g, LATERAL (SELECT count(*) AS n FROM orders WHERE order_id < g * 1000) x;
SELECT count(*) FROM own o JOIN generate_series(1, 4) g ON o.a = g * 1000;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
PREPARE p(int) AS SELECT count(*) FROM own WHERE a > $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE p(3400);
EXECUTE p(100);
EXECUTE p(NULL);
-- Joins of two parallel scans, and a limit.
SELECT count(*) FROM own a JOIN own b USING (a);
SELECT count(*) FROM (SELECT * FROM orders LIMIT 10) x;
SELECT count(*) FROM orders WHERE country = (SELECT country FROM orders WHERE order_id = 77777);

SELECT bifang.drop_table('rxw', 'rx', 'own', true);
CALL sweep();
DROP SCHEMA rx CASCADE;
DROP SERVER rx CASCADE;
DROP SERVER rxw CASCADE;
