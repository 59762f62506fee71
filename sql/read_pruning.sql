-- What predicates leave out, at every level, and that nothing else is left out.
SET client_min_messages = warning;
SET TimeZone = 'America/New_York';
SET datestyle = 'ISO, YMD';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rq;
SET search_path = rq, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER rq FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
IMPORT FOREIGN SCHEMA shop FROM SERVER rq INTO rq;
IMPORT FOREIGN SCHEMA spark FROM SERVER rq INTO rq;
\set dictionary :data '/parquet_prune/dictionary.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER rq INTO rq OPTIONS (format 'parquet', location :'dictionary');
CREATE TABLE heap AS SELECT * FROM orders;
-- The lines of a plan that say what was used and left out.
CREATE FUNCTION pruned(query text, run bool DEFAULT true) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT regexp_replace(trim(l), 'Parquet Files: (\d+) \(.*', 'Parquet Files: \1')
	FROM plan_lines(query, run, 'Pushed Filter|Pruned|Skipped|Parquet Files|One-Time|Units', '^$') l
$$;

-- Without running: partitions and bounds, for constants and for what is known when the plan is shown.
SELECT pruned('SELECT * FROM rq.orders', false);
SELECT min(ordered_at) + interval '1 day' AS day FROM orders \gset
SELECT pruned(format('SELECT * FROM rq.orders WHERE ordered_at < %L', :'day'), false);
SELECT pruned('SELECT * FROM rq.orders WHERE order_id = 77777', false);
SELECT pruned('SELECT * FROM rq.orders WHERE ordered_at > now()', false);
SELECT pruned('SELECT * FROM rq.orders WHERE order_id = (SELECT 77777)', false);
SELECT pruned('SELECT * FROM rq.orders WHERE order_id = (SELECT 77777)');
SELECT pruned('SELECT * FROM rq.orders WHERE false', false);
-- Each level can be switched off.
SET bifang.enable_manifest_pruning = off;
SELECT pruned('SELECT * FROM rq.orders WHERE order_id = 77777', false);
RESET bifang.enable_manifest_pruning;
SET bifang.enable_partition_pruning = off;
SELECT pruned('SELECT * FROM rq.bucket_string WHERE v = ''abc''', false);
RESET bifang.enable_partition_pruning;
SELECT pruned('SELECT * FROM rq.bucket_string WHERE v = ''abc''', false);

-- Forms of predicates: what is pushed, and that the answer is the heap's.
CREATE FUNCTION same(condition text) RETURNS TABLE (condition_ text, pushed bool, rows bigint, same bool)
LANGUAGE plpgsql AS $$
DECLARE
	heap_rows bigint;
	sum numeric;
	heap_sum numeric;
BEGIN
	condition_ := condition;
	EXECUTE format('SELECT count(*), sum(hash_record_extended(x, 0)::numeric) FROM rq.orders x WHERE %s', condition) INTO rows, sum;
	EXECUTE format('SELECT count(*), sum(hash_record_extended(x, 0)::numeric) FROM rq.heap x WHERE %s', condition) INTO heap_rows, heap_sum;
	same := rows = heap_rows AND sum IS NOT DISTINCT FROM heap_sum;
	EXECUTE format('SELECT count(*) > 0 FROM rq.pruned(%L, false) p WHERE p ~ ''Pushed''',
		'SELECT * FROM rq.orders WHERE ' || condition) INTO pushed;
	RETURN NEXT;
END$$;
SELECT s.* FROM unnest(ARRAY[
	'order_id < 100', '100 > order_id', 'order_id <= 99.5', 'order_id = 99.5', 'order_id <> 99.5',
	'order_id < 1e30', 'order_id > 1e30', 'order_id BETWEEN 5 AND 7.9', 'order_id IN (1, 2, NULL, 3)',
	'order_id NOT IN (1, 2, 3)', 'order_id = ANY (ARRAY[1.5, 2, 3]::numeric[])', 'order_id = NULL',
	'order_id < ALL (ARRAY[100, 50])', 'order_id > ANY (ARRAY[119990, 200000])',
	'items::float8 < 2.5', 'items = 3::smallint', 'items = 3000000000', 'items > -3000000000',
	'amount < 10.005', 'amount = 10.005', 'amount >= 499.999', 'amount = ''NaN''', 'amount < ''Infinity''',
	'note IS NULL', 'note IS NOT NULL AND order_id < 50', 'note IS DISTINCT FROM NULL', 'note IS NOT DISTINCT FROM ''x''',
	'country = ''DE''', 'country < ''C'' COLLATE "C"', 'country < ''C''', 'country LIKE ''D%''', 'country LIKE ''D_''',
	'country LIKE ''DE''', 'country NOT LIKE ''D%''', 'country LIKE ''\D%''', 'country ^@ ''D''', 'country ILIKE ''d%''',
	'country::varchar = ''DE''', 'upper(country) = ''DE''',
	'NOT (order_id > 10)', 'NOT (order_id > 10 OR country = ''DE'')', 'order_id < 5 OR order_id > 119995',
	'order_id < 5 OR random() > 2', 'order_id < 5 AND random() < 2', '(order_id, items) < (5, 2)', 'true', 'NULL::bool',
	'ordered_at < ''2026-03-05''', 'ordered_at::date = ''2026-03-03''', 'ordered_at >= ''infinity''',
	'ordered_at < date ''2026-03-05''', 'ordered_at < timestamp ''2026-03-05''', 'ordered_at > ''-infinity''',
	'ordered_at > now() - interval ''100 years'' AND order_id = 5', 'order_id = order_id', 'order_id < customer_id'])
	AS c(c), same(c) s;

-- The sixth execution prunes as the first did, whatever the parameters are.
PREPARE p(bigint, text) AS SELECT count(*) FROM orders WHERE order_id = $1 AND ($2 IS NULL OR country = $2);
SELECT pruned('EXECUTE p(77777, NULL)');
SET plan_cache_mode = force_generic_plan;
SELECT pruned('EXECUTE p(77777, NULL)');
SELECT pruned('EXECUTE p(NULL, NULL)');
RESET plan_cache_mode;
-- What guards a value that can't be had goes before it, in a generic plan too.
PREPARE guarded(text) AS SELECT count(*) FROM orders WHERE ($1 = '' OR order_id = $1::bigint);
PREPARE guarded_and(int) AS SELECT count(*) FROM orders WHERE order_id = 5 OR ($1 <> 0 AND order_id = 10 / $1);
PREPARE guarded_by_column(int) AS SELECT count(*) FROM orders WHERE order_id >= 0 OR order_id = 10 / $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE guarded('');
EXECUTE guarded('77777');
SELECT pruned('EXECUTE guarded(''77777'')');
EXECUTE guarded_and(0);
EXECUTE guarded_and(2);
EXECUTE guarded_by_column(0);
SELECT failure('EXECUTE guarded(''x'')');
RESET plan_cache_mode;
-- At each rescan.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT g, (SELECT count(*) FROM orders WHERE order_id < g) FROM generate_series(0, 120000, 60000) g;
SELECT pruned('SELECT g, (SELECT count(*) FROM rq.orders WHERE order_id = g) FROM generate_series(1, 1) g');
RESET enable_hashjoin;
RESET enable_mergejoin;

-- Row groups by statistics, page index, bloom filters, dictionaries; each by itself.
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'dictionary'::regclass AND attnum > 0
ORDER BY attnum LIMIT 4;
SELECT min(sorted), max(sorted), count(*) FROM dictionary;
SELECT pruned('SELECT * FROM rq.dictionary WHERE sorted < 50');
SET bifang.enable_row_group_pruning = off;
SELECT pruned('SELECT * FROM rq.dictionary WHERE sorted < 50');
SET bifang.enable_page_pruning = off;
SET bifang.enable_bloom_pruning = off;
SET bifang.enable_dictionary_pruning = off;
SET bifang.enable_late_materialization = off;
SELECT pruned('SELECT * FROM rq.dictionary WHERE sorted < 50');
RESET bifang.enable_row_group_pruning;
RESET bifang.enable_page_pruning;
RESET bifang.enable_bloom_pruning;
RESET bifang.enable_dictionary_pruning;
RESET bifang.enable_late_materialization;

-- Security barriers: a function that tells what it sees sees only rows that it may.
CREATE FUNCTION tell(bigint) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	IF $1 > 10 THEN RAISE EXCEPTION 'saw %', $1; END IF;
	RETURN true;
END$$;
CREATE VIEW few WITH (security_barrier) AS SELECT * FROM orders WHERE order_id < 10;
SELECT count(*) FROM few WHERE tell(order_id);
SELECT pruned('SELECT * FROM rq.few WHERE order_id = 3 AND country LIKE ''D%''', false);

-- Facts about rows leave out files and ledgers.
ALTER FOREIGN TABLE orders ADD COLUMN tier text OPTIONS (meta 'tier'), ADD COLUMN pos bigint OPTIONS (meta 'pos'),
	ADD COLUMN ledger bigint OPTIONS (meta 'ledger'), ADD COLUMN file text OPTIONS (meta 'file');
SELECT pruned('SELECT * FROM rq.orders WHERE tier = ''live''');
SELECT pruned('SELECT * FROM rq.orders WHERE ledger IS NOT NULL');
SELECT count(*) FROM orders WHERE tier = 'parquet' AND pos = 0;
SELECT count(*) = 1 AS one_file FROM (SELECT file FROM orders WHERE file = (SELECT max(file) FROM orders) GROUP BY 1) x;
CREATE SERVER rqw FOREIGN DATA WRAPPER bifang_fdw;
CREATE FOREIGN TABLE own (a int, entry bigint OPTIONS (meta 'entry'), tier text OPTIONS (meta 'tier')) SERVER rqw
	OPTIONS (namespace 'rq', "table" 'own');
INSERT INTO own SELECT generate_series(1, 1000);
SELECT a, entry, tier FROM own WHERE entry BETWEEN 500 AND 502 ORDER BY 1;
SELECT pruned('SELECT * FROM rq.own WHERE entry > 5000');
SELECT pruned('SELECT * FROM rq.own WHERE tier = ''parquet''');

SELECT bifang.drop_table('rqw', 'rq', 'own', true);
CALL sweep();
DROP SCHEMA rq CASCADE;
DROP SERVER rq CASCADE;
DROP SERVER rqw CASCADE;
