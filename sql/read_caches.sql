-- What a backend keeps between queries, and what the planner knows before anybody has analysed.
SET client_min_messages = warning;
\getenv data BIFANG_TEST_DATA
CREATE SERVER caches FOREIGN DATA WRAPPER bifang_fdw;
CREATE SCHEMA caches;
SET search_path = caches;
\set orders :data '/shop/orders'

-- How many files a query opened whose footers were known.
CREATE FUNCTION footers(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; found text := 'none';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) ' || query LOOP
		IF line LIKE '%I/O:%' THEN
			found := (regexp_match(line, 'files=\d+'))[1] || coalesce(' ' || (regexp_match(line, 'footers cached=\d+'))[1], '');
		END IF;
	END LOOP;
	RETURN found;
END $$;
CREATE FUNCTION failure(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'no failure';
EXCEPTION WHEN OTHERS THEN
	RETURN regexp_replace(sqlerrm, '"/[^"]*/', '"', 'g');
END $$;
CREATE FUNCTION put(which text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format($c$COPY (SELECT 1) TO PROGRAM $p$cat > /dev/null; cp '%s/parquet/%s.parquet' copy-for-caches.new && touch -d 2020-01-01 copy-for-caches.new && mv copy-for-caches.new copy-for-caches.parquet$p$ $c$,
		current_setting('caches.data'), which);
END $$;
SELECT set_config('caches.data', :'data', false) IS NOT NULL AS set;
SELECT put('alpha');
SELECT current_setting('data_directory') || '/copy-for-caches.parquet' AS path \gset
CREATE FOREIGN TABLE alpha (id text) SERVER caches OPTIONS (format 'parquet', location :'path');
SELECT count(*) AS alpha FROM alpha \gset
SELECT footers('SELECT id FROM alpha');
SELECT footers('SELECT id FROM alpha');
-- Off, and on again.
SET bifang.footer_cache = 0;
SELECT footers('SELECT id FROM alpha');
RESET bifang.footer_cache;
SELECT footers('SELECT id FROM alpha'), footers('SELECT id FROM alpha');
-- Every rescan opens the file and knows its footer; here nothing else is kept for it.
SET bifang.rescan_memory = 0;
SELECT footers('SELECT * FROM generate_series(1, 20) g, LATERAL (SELECT id || g FROM alpha OFFSET 0) x');
-- Another file of that name is another file.
SELECT put('uuid');
SELECT failure('SELECT count(id) FROM alpha');
SELECT put('alpha');
SELECT count(*) = :alpha AS same FROM alpha;
COPY (SELECT) TO PROGRAM 'cat >/dev/null; : > copy-for-caches.parquet';
SELECT failure('SELECT count(*) FROM alpha');
COPY (SELECT) TO PROGRAM 'cat >/dev/null; rm copy-for-caches.parquet';
SELECT failure('SELECT count(*) FROM alpha');

-- Data files of lake tables likewise. Before ANALYZE, manifests and ledgers tell how many rows there are.
IMPORT FOREIGN SCHEMA shop FROM SERVER caches INTO caches OPTIONS (location :'orders');
SELECT footers('SELECT count(order_id) FROM orders WHERE order_id = 77777'),
	footers('SELECT count(order_id) FROM orders WHERE order_id = 77777');
-- A scan that stops early leaves its pages for the next one, one that reads to the end does not, and neither the rows nor
-- what else is counted depend on it.
CREATE FUNCTION kept(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; found text := 'none';
BEGIN
	SET LOCAL max_parallel_workers_per_gather = 0;
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) ' || query LOOP
		IF line LIKE '%Parquet Read:%' THEN
			found := coalesce((regexp_match(line, 'pages decompressed'))[1], 'nothing decompressed') ||
				coalesce(', ' || (regexp_match(line, 'pages kept'))[1], '');
		END IF;
	END LOOP;
	RETURN found;
END $$;
CREATE FUNCTION first_rows() RETURNS text LANGUAGE sql AS
	'SELECT string_agg(md5(o::text), '''') FROM (SELECT * FROM caches.orders LIMIT 10) o';
SET bifang.page_cache = 0;
SELECT kept('SELECT * FROM orders LIMIT 1'), kept('SELECT * FROM orders LIMIT 1');
SELECT first_rows() AS first_rows, md5(string_agg(o::text, '' ORDER BY o::text)) AS all_rows FROM orders o \gset
RESET bifang.page_cache;
SELECT kept('SELECT max(customer_id) FROM orders'), kept('SELECT max(customer_id) FROM orders');
SELECT kept('SELECT * FROM orders LIMIT 1'), kept('SELECT * FROM orders LIMIT 1');
SELECT first_rows() = :'first_rows' AS same_first, md5(string_agg(o::text, '' ORDER BY o::text)) = :'all_rows' AS same
FROM orders o;
SET bifang.page_cache = 0;
SELECT kept('SELECT * FROM orders LIMIT 1');
-- A cursor that is open while it is switched off.
RESET bifang.page_cache;
BEGIN;
DECLARE c CURSOR FOR SELECT order_id FROM orders;
MOVE 10 FROM c;
SET LOCAL bifang.page_cache = 0;
SET LOCAL bifang.footer_cache = 0;
SELECT kept('SELECT * FROM orders LIMIT 1');
CLOSE c;
COMMIT;
SELECT kept('SELECT * FROM orders LIMIT 1'), kept('SELECT * FROM orders LIMIT 1');

CREATE FUNCTION estimate(query text, OUT rows numeric, OUT width int) LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	SET LOCAL max_parallel_workers_per_gather = 0;
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	rows := plan->0->'Plan'->>'Plan Rows';
	width := plan->0->'Plan'->>'Plan Width';
END $$;
SELECT reltuples FROM pg_class WHERE oid = 'orders'::regclass;
SELECT (estimate('SELECT * FROM orders')).rows = count(*) AS exact, (estimate('SELECT order_id FROM orders')).width FROM orders;
-- What predicates leave out of files is no part of the estimate.
SELECT (estimate('SELECT * FROM orders WHERE order_id = 77777')).rows BETWEEN 1 AND count(*) * 0.006 AS few,
	(estimate('SELECT * FROM orders WHERE order_id < 0')).rows AS none FROM orders;

-- Rows of all tiers, exactly; the sample has seen all of them.
CREATE SERVER tiers FOREIGN DATA WRAPPER bifang_fdw;
CREATE FOREIGN TABLE tiered (i int, s text) SERVER tiers;
INSERT INTO tiered SELECT g, 'offloaded' FROM generate_series(1, 400) g;
SELECT bifang.roll('tiered') IS NOT NULL AS rolled;
SELECT bifang.offload('tiered') IS NOT NULL AS offloaded;
SELECT count(*) FROM bifang.commit('tiered');
INSERT INTO tiered SELECT g, 'named' FROM generate_series(401, 500) g;
SELECT count(*) FROM bifang.commit('tiered');
INSERT INTO tiered SELECT g, 'live' FROM generate_series(501, 520) g;
SELECT (estimate('SELECT * FROM tiered')).rows;
ANALYZE tiered;
SELECT reltuples, relpages > 0 AS pages FROM pg_class WHERE oid = 'tiered'::regclass;
SELECT attname, null_frac, n_distinct, most_common_vals, avg_width FROM pg_stats WHERE schemaname = 'caches' AND tablename = 'tiered' ORDER BY 1;

-- The small one of two tables is hashed, analysed or not.
CREATE FUNCTION hashed(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE line text; below boolean := false;
BEGIN
	SET LOCAL max_parallel_workers_per_gather = 0;
	FOR line IN EXECUTE 'EXPLAIN (COSTS off) ' || query LOOP
		IF below THEN
			RETURN (regexp_match(line, 'Scan on (\w+)'))[1];
		END IF;
		below := line ~ '->  (Parallel )?Hash$';
	END LOOP;
	RETURN 'nothing';
END $$;
CREATE FOREIGN TABLE small (order_id int, note text) SERVER tiers;
INSERT INTO small SELECT g * 100, 'note' FROM generate_series(1, 20) g;
SELECT hashed('SELECT count(*) FROM orders o JOIN small s USING (order_id)'),
	hashed('SELECT count(*) FROM small s JOIN orders o USING (order_id)');
ANALYZE small;
ANALYZE orders;
SELECT hashed('SELECT count(*) FROM orders o JOIN small s USING (order_id)'),
	hashed('SELECT count(*) FROM small s JOIN orders o USING (order_id)');
SELECT reltuples = count(*) AS exact FROM orders, pg_class c WHERE c.oid = 'orders'::regclass GROUP BY reltuples;

SET client_min_messages = error;
DROP SCHEMA caches CASCADE;
DROP SERVER caches CASCADE;
DROP SERVER tiers CASCADE;
