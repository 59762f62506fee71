-- A parallel scan that runs again starts again: the same Gather for each outer row, with the
-- processes that it has.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rr;
SET search_path = rr, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER rr FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
CREATE SERVER rrw FOREIGN DATA WRAPPER bifang_fdw;
IMPORT FOREIGN SCHEMA shop LIMIT TO (orders) FROM SERVER rr INTO rr;
\set topic :data '/kafka/many-*'
IMPORT FOREIGN SCHEMA x FROM SERVER rr INTO rr OPTIONS (format 'kafka_log', location :'topic');
CREATE FOREIGN TABLE own (a int) SERVER rrw OPTIONS (namespace 'rr', "table" 'own');
INSERT INTO own SELECT g FROM generate_series(1, 1000) g;
SELECT bifang.roll('own') AS rolled, ledgers FROM bifang.offload('own');
INSERT INTO own SELECT g FROM generate_series(1001, 1500) g;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SET enable_material = off;
SET enable_memoize = off;
-- A correlated subquery above Gather: what is below it does not depend on the outer row, and yet it
-- runs for each.
CREATE FUNCTION again(relation text, value text) RETURNS TABLE (line text) LANGUAGE sql AS $$
	SELECT regexp_replace(l, '^[ >-]*|\(.*\)', '', 'g')
	FROM plan_lines(format('SELECT g, (SELECT %s + g FROM %s) FROM generate_series(1, 4) g', value, relation), false, 'SubPlan|Gather|Parallel Foreign') l
$$;
SELECT again('own', 'count(*)');
SELECT g, (SELECT count(*) + g FROM own) AS n FROM generate_series(1, 4) g;
SELECT g, (SELECT sum(a) + g FROM own WHERE a > 900) AS n FROM generate_series(1, 3) g;
SELECT g, (SELECT count(*) + g FROM orders) AS n FROM generate_series(1, 3) g;
SELECT g, (SELECT count(*) + g FROM many) AS n FROM generate_series(1, 3) g;
-- The workers alone, and in turns with rows of this transaction.
SET parallel_leader_participation = off;
SELECT g, (SELECT count(*) + g FROM own) AS n FROM generate_series(1, 3) g;
SELECT g, (SELECT count(*) + g FROM orders) AS n FROM generate_series(1, 3) g;
RESET parallel_leader_participation;
BEGIN;
INSERT INTO own VALUES (0);
SELECT g, (SELECT count(*) + g FROM own) AS n FROM generate_series(1, 3) g;
ROLLBACK;
-- The inner side of a nested loop, with a limit that ends it early.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT g, x.n FROM generate_series(1, 3) g CROSS JOIN LATERAL (SELECT count(*) + g AS n FROM own) x;
SELECT g, x.n FROM generate_series(1, 3) g CROSS JOIN LATERAL (SELECT count(*) + g AS n FROM (SELECT * FROM orders LIMIT 50) y) x;

RESET enable_hashjoin;
RESET enable_mergejoin;

-- Processes whose lists of units differ don't share one: rows would be read twice or not at all. Here
-- it is a function that claims to be stable and isn't.
ALTER FOREIGN TABLE own ADD COLUMN l bigint OPTIONS (meta 'ledger');
SELECT set_config('rr.leader', pg_backend_pid()::text, false) <> '' AS known;
CREATE FUNCTION here() RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$
BEGIN
	RETURN CASE WHEN pg_backend_pid() = current_setting('rr.leader')::int THEN 0 ELSE 2147483647 END;
END$$;
SELECT failure('SELECT count(*) FROM own WHERE l > here()');

SELECT bifang.drop_table('rrw', 'rr', 'own', true);
CALL sweep();
DROP SCHEMA rr CASCADE;
DROP SERVER rr CASCADE;
DROP SERVER rrw CASCADE;
