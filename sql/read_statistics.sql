-- What files say of columns, as the planner's statistics.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rs;
SET search_path = rs, public;
SET max_parallel_workers_per_gather = 0;
CREATE SERVER rs FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
IMPORT FOREIGN SCHEMA shop LIMIT TO (orders) FROM SERVER rs INTO rs;

-- Rows that the planner expects.
CREATE FUNCTION expected(query text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Plan Rows';
END$$;
-- Is that so many, give or take a part?
CREATE FUNCTION about(query text, rows float8, part float8 = 0.1) RETURNS text LANGUAGE plpgsql AS $$
DECLARE n bigint := expected(query);
BEGIN
	RETURN CASE WHEN abs(n - rows) <= rows * part THEN 'about ' || rows ELSE n::text END;
END$$;

-- A lake table that nobody has analyzed or read: what manifests say. 5000 customers, orders 0 to 119999.
SELECT about('SELECT * FROM orders WHERE customer_id = 5', 24);
SELECT about('SELECT * FROM orders WHERE order_id < 60000', 60000);
SELECT about('SELECT * FROM orders WHERE order_id BETWEEN 50000 AND 51000', 1000);
SELECT about('SELECT * FROM orders WHERE ordered_at < ''2026-03-04''', 36000);
SELECT about('SELECT * FROM orders WHERE note IS NULL', 17343);
SELECT about('SELECT DISTINCT items FROM orders', 9);
SELECT about('SELECT DISTINCT customer_id FROM orders', 5000);
SELECT about('SELECT * FROM orders a JOIN orders b USING (order_id)', 120000);
SELECT about('SELECT * FROM orders a JOIN orders b USING (customer_id)', 2880000);
-- Of texts they know nothing.
SELECT about('SELECT DISTINCT country FROM orders', 200), about('SELECT * FROM orders WHERE country = ''DE''', 600);

-- Whoever reads knows the dictionaries afterwards.
SELECT count(country), count(status) FROM orders;
SELECT about('SELECT DISTINCT country FROM orders', 10, 0), about('SELECT * FROM orders WHERE country = ''DE''', 12000);
SELECT about('SELECT DISTINCT status FROM orders', 4, 0), about('SELECT 1 FROM orders GROUP BY country, status, items', 360);

-- Without them the planner guesses as it does of any foreign table; rows are the same.
SET bifang.planner_statistics = off;
SELECT about('SELECT DISTINCT country FROM orders', 200), about('SELECT * FROM orders WHERE customer_id = 5', 600);
CREATE TEMP TABLE without AS SELECT a.country, count(*), sum(a.items) FROM orders a JOIN orders b USING (order_id) WHERE a.customer_id < 500 GROUP BY a.country;
RESET bifang.planner_statistics;
CREATE TEMP TABLE with_them AS SELECT a.country, count(*), sum(a.items) FROM orders a JOIN orders b USING (order_id) WHERE a.customer_id < 500 GROUP BY a.country;
SELECT count(*) FROM (TABLE without EXCEPT ALL TABLE with_them) d;
SELECT count(*) FROM (TABLE with_them EXCEPT ALL TABLE without) d;

-- What ANALYZE finds counts instead, column by column.
ANALYZE orders (items);
UPDATE pg_statistic SET stadistinct = 3, stakind1 = 0, stakind2 = 0, stakind3 = 0 WHERE starelid = 'orders'::regclass;
SELECT about('SELECT DISTINCT items FROM orders', 3, 0), about('SELECT DISTINCT country FROM orders', 10, 0);
DELETE FROM pg_statistic WHERE starelid = 'orders'::regclass;

-- A column that is declared as something else, under another name, or not there at all.
\set orders :data '/shop/orders'
CREATE FOREIGN TABLE other (nr numeric OPTIONS (column_name 'order_id'), customer_id numeric, items smallint, amount float8, t timestamptz OPTIONS (meta 'timestamp'))
	SERVER rs OPTIONS (location :'orders');
SELECT about('SELECT * FROM other WHERE nr < 60000', 60000), about('SELECT DISTINCT items FROM other', 9), about('SELECT DISTINCT t FROM other', 200);
-- Bounds of before the column had that type don't count.
ALTER FOREIGN TABLE other ALTER COLUMN nr TYPE bigint;
SELECT about('SELECT * FROM other WHERE nr < 60000', 60000);

-- Plain files: footers of a few are read to plan, dictionaries count once one was read; of one value it is known to be the only one.
\set rowgroups :data '/parquet/rowgroups.parquet'
\set dictionary :data '/parquet_prune/dictionary.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER rs INTO rs OPTIONS (format 'parquet', location :'rowgroups');
IMPORT FOREIGN SCHEMA x FROM SERVER rs INTO rs OPTIONS (format 'parquet', location :'dictionary');
SELECT expected('SELECT DISTINCT i16 FROM dictionary') AS unread;
SELECT count(*), count(DISTINCT i16), count(DISTINCT numbers) FROM dictionary, rowgroups;
SELECT expected('SELECT DISTINCT i16 FROM dictionary'), expected('SELECT * FROM dictionary WHERE i16 IS NULL') = (SELECT count(*) FROM dictionary WHERE i16 IS NULL) AS nulls,
	about('SELECT * FROM dictionary WHERE sorted > 257', (SELECT count(*) FROM dictionary WHERE sorted > 257)), expected('SELECT DISTINCT numbers FROM rowgroups'),
	expected('SELECT * FROM rowgroups WHERE numbers <= 3');
-- EXPLAIN says "about" of what is a guess only, analyzed or not.
CREATE FUNCTION guessed(tab text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE plan text;
BEGIN
	FOR plan IN EXECUTE 'EXPLAIN (FORMAT text) SELECT * FROM ' || tab LOOP
		IF plan LIKE '%Parquet Files:%' THEN RETURN plan LIKE '%about%'; END IF;
	END LOOP;
END$$;
SELECT guessed('dictionary'), guessed('orders');
ANALYZE dictionary, orders;
SELECT guessed('dictionary'), guessed('orders');
DELETE FROM pg_statistic WHERE starelid IN ('orders'::regclass, 'dictionary'::regclass);
\c -
SET client_min_messages = warning;
SET search_path = rs, public;
SET max_parallel_workers_per_gather = 0;

-- Of many files planning reads no footers: then what ANALYZE found counts, for what EXPLAIN says, for rows and for costs, and not their size.
\getenv data BIFANG_TEST_DATA
\set command 'COPY (SELECT) TO PROGRAM \'rm -rf alphas && mkdir alphas && for i in 0 1 2 3 4 5 6 7 8 9; do cp "' :data '/parquet/alpha.parquet" alphas/$i.parquet; done\''
:command;
SELECT current_setting('data_directory') || '/alphas' AS alphas \gset
CREATE FOREIGN TABLE alphas (id text) SERVER rs OPTIONS (format 'parquet', location :'alphas');
CREATE FUNCTION said(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT * FROM ' || tab INTO plan;
	plan := plan -> 0 -> 'Plan';
	RETURN concat_ws(' ', plan ->> 'Parquet Files', plan ->> 'Parquet Rows', plan ->> 'Plan Rows', plan ->> 'Total Cost');
END$$;
SELECT guessed('alphas'), said('alphas') LIKE '10 6760 6760 %' AS as_if_read;
ANALYZE alphas;
\c -
SET client_min_messages = warning;
SET search_path = rs, public;
SET max_parallel_workers_per_gather = 0;
SELECT said('alphas') AS unread \gset
SELECT guessed('alphas'), :'unread' LIKE '10 6760 6760 %' AS as_if_read;
SELECT count(*) FROM alphas;
SELECT guessed('alphas'), :'unread' = said('alphas') AS as_before;

-- A statistics file's counts are in the metadata; those of a snapshot before count, too, those of none that is one's own don't.
\getenv data BIFANG_TEST_DATA
SELECT set_config('rs.data', :'data', false) IS NOT NULL AS set;
CREATE FUNCTION counted(snapshot text, ndv text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE dir text := 'copy-of-orders-' || abs(hashtext(snapshot || ndv));
BEGIN
	EXECUTE format($c$COPY (SELECT 1) TO PROGRAM $p$cat > /dev/null; rm -rf %1$s; cp -r '%2$s/shop/orders' %1$s; sed -i 's/"statistics":\[\]/"statistics":[{"snapshot-id":%3$s,"statistics-path":"x","blob-metadata":[{"type":"apache-datasketches-theta-v1","fields":[4],"properties":{"ndv":"%4$s"}}]}]/' %1$s/metadata/v4.metadata.json$p$ $c$,
		dir, current_setting('rs.data'), snapshot, ndv);
	EXECUTE format('CREATE FOREIGN TABLE counted (country text) SERVER rs OPTIONS (location %L)', current_setting('data_directory') || '/' || dir);
	RETURN expected('SELECT DISTINCT country FROM counted');
END $$;
SELECT counted('7526608189512459993', '12') AS this_one;
SELECT count(*) FROM counted;
DROP FOREIGN TABLE counted;
SELECT counted('4261992526327421253', '14') AS the_one_before;
DROP FOREIGN TABLE counted;
SELECT counted('251830665833297935', '13') AS of_a_third;
DROP FOREIGN TABLE counted;
SELECT counted('1', '13') AS of_no_snapshot;
DROP FOREIGN TABLE counted;
SELECT counted('7526608189512459993', '-12') AS less_than_none;
DROP FOREIGN TABLE counted;
SELECT counted('7526608189512459993', '99999999999999999999') AS no_number;
DROP FOREIGN TABLE counted;

-- A partitioned table that nobody has analyzed: what its partitions know, put together. Values of the key (items), of columns whose
-- bounds are apart (order_id) and of those without repetitions are added up; of others (customer_id) the most that a partition has counts.
\set orders :data '/shop/orders'
CREATE TABLE parent (order_id bigint, customer_id bigint, items int, nr bigint) PARTITION BY LIST (items);
CREATE FOREIGN TABLE from_files (order_id bigint, customer_id bigint, items int, nr bigint OPTIONS (column_name 'order_id')) SERVER rs OPTIONS (location :'orders');
ALTER TABLE parent ATTACH PARTITION from_files FOR VALUES IN (1, 2, 3, 4, 5, 6, 7, 8, 9);
CREATE TABLE heap PARTITION OF parent FOR VALUES IN (0, 10, 11, 12, 13, 14);
INSERT INTO heap SELECT 120000 + g / 2, g % 2500, (ARRAY[0, 10, 11, 12, 13, 14])[g % 6 + 1], g FROM generate_series(0, 39999) g;
ANALYZE heap;
SELECT about('SELECT DISTINCT items FROM parent', 15, 0) AS key, about('SELECT DISTINCT order_id FROM parent', 140000, 0.05) AS apart,
	about('SELECT DISTINCT nr FROM parent', 160000) AS unique, about('SELECT DISTINCT customer_id FROM parent', 5000) AS others;
SELECT about('SELECT * FROM parent a JOIN parent b USING (customer_id)', 160000 * 32), about('SELECT DISTINCT items FROM parent WHERE items BETWEEN 1 AND 9', 9) AS left_over;
SET bifang.planner_statistics = off;
SELECT about('SELECT DISTINCT items FROM parent', 200);
RESET bifang.planner_statistics;
-- Without files it is none of ours; analyzed, that counts.
ALTER TABLE parent DETACH PARTITION from_files;
SELECT about('SELECT DISTINCT items FROM parent', 200);
ALTER TABLE parent ATTACH PARTITION from_files FOR VALUES IN (1, 2, 3, 4, 5, 6, 7, 8, 9);
ANALYZE parent;
DELETE FROM pg_statistic WHERE starelid = 'from_files'::regclass;
UPDATE pg_statistic SET stadistinct = 3, stakind1 = 0, stakind2 = 0, stakind3 = 0 WHERE starelid = 'parent'::regclass AND stainherit;
SELECT about('SELECT DISTINCT items FROM parent', 3, 0);

-- Bounds are values of rows: functions that may tell them see none where the role may not see all rows.
CREATE ROLE regress_statistics;
GRANT USAGE ON SCHEMA rs TO regress_statistics;
CREATE SEQUENCE told;
CREATE FUNCTION tells(a bigint, b bigint) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
	PERFORM nextval('rs.told');
	RETURN a < b;
END$$;
CREATE OPERATOR <<< (PROCEDURE = tells, LEFTARG = bigint, RIGHTARG = bigint, RESTRICT = scalarltsel);
-- Plans alone: a role that may not read the table learns so only when the plan is to run.
CREATE FUNCTION told_by(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RETURN expected(query) > 0;
EXCEPTION WHEN insufficient_privilege THEN
	RETURN 'permission denied';
END$$;
SELECT told_by('SELECT * FROM orders WHERE customer_id <<< 100::bigint'), (SELECT is_called FROM told) AS told;
ALTER SEQUENCE told RESTART;
SET ROLE regress_statistics;
SELECT told_by('SELECT * FROM orders WHERE customer_id <<< 100::bigint');
RESET ROLE;
SELECT is_called AS told FROM told;

COPY (SELECT 1) TO PROGRAM 'cat > /dev/null; rm -rf copy-of-orders-*';
DROP SCHEMA rs CASCADE;
DROP SERVER rs CASCADE;
DROP ROLE regress_statistics;
