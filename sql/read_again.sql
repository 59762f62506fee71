-- Scans that run again, with other values: what they decoded before is kept in memory, within a limit,
-- and they give the rows that they give without it.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA ra;
SET search_path = ra, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER ra FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
CREATE SERVER raw FOREIGN DATA WRAPPER bifang_fdw;
SET max_parallel_workers_per_gather = 0;
SET enable_material = off;
SET enable_memoize = off;

-- Every tier: eleven ledgers, of which some are offloaded; files of a lake table, with and without
-- deletes; plain files; a log.
CREATE FOREIGN TABLE own (id int, v text, l bigint OPTIONS (meta 'ledger'), e bigint OPTIONS (meta 'entry')) SERVER raw OPTIONS (namespace 'ra', "table" 'own');
DO $$
BEGIN
	FOR i IN 1 .. 11 LOOP
		INSERT INTO own (id, v) SELECT g, repeat(chr(97 + g % 26), g % 7) FROM generate_series(i * 100, i * 100 + 99) g;
		PERFORM bifang.roll('own');
		IF i = 4 THEN PERFORM bifang.offload('own'); END IF;
	END LOOP;
END$$;
INSERT INTO own (id, v) VALUES (5000, NULL);
IMPORT FOREIGN SCHEMA shop LIMIT TO (orders) FROM SERVER ra INTO ra;
IMPORT FOREIGN SCHEMA lake LIMIT TO (mor2) FROM SERVER ra INTO ra;
\set many :data '/kafka/many-*'
IMPORT FOREIGN SCHEMA x FROM SERVER ra INTO ra OPTIONS (format 'kafka_log', location :'many');
\set pruned :data '/parquet_prune/no_index.parquet'
IMPORT FOREIGN SCHEMA x LIMIT TO (no_index) FROM SERVER ra INTO ra OPTIONS (format 'parquet', location :'pruned');
\set nested :data '/parquet_nested/v1_dict.parquet'
IMPORT FOREIGN SCHEMA x LIMIT TO (v1_dict) FROM SERVER ra INTO ra OPTIONS (format 'parquet', location :'nested');

-- A query's rows without memory, with enough and with little; is anything kept?
CREATE FUNCTION again(query text, OUT rows bigint, OUT same boolean, OUT kept boolean) LANGUAGE plpgsql AS $$
DECLARE
	how text;
	sums text[];
BEGIN
	EXECUTE format('SELECT count(*) FROM (%s) q', query) INTO rows;
	FOREACH how IN ARRAY ARRAY['0', '64MB', '40kB', '300kB'] LOOP
		PERFORM set_config('bifang.rescan_memory', how, true);
		EXECUTE format('SELECT sums || md5(string_agg(q::text, '','' ORDER BY q::text)) FROM (%s) q, (SELECT $1 AS sums) s GROUP BY sums', query)
			INTO sums USING coalesce(sums, '{}'::text[]);
	END LOOP;
	PERFORM set_config('bifang.rescan_memory', '64MB', true);
	same := (SELECT count(DISTINCT s) = 1 AND array_length(sums, 1) = 4 FROM unnest(sums) s);
	kept := EXISTS (SELECT FROM plan_lines(query, true, 'Kept for Rescans: rows=[1-9]'));
END$$;
SELECT * FROM again('SELECT g, (SELECT v FROM own WHERE id = g) AS v FROM generate_series(90, 1210, 7) g');
SELECT * FROM again('SELECT g, (SELECT count(*) || max(v) || min(l) FROM own WHERE id BETWEEN g AND g + 150) AS v FROM generate_series(90, 1210, 40) g');
-- Another range of entries or offsets is another unit.
SELECT * FROM again('SELECT g, x.* FROM generate_series(0, 9) g, LATERAL (SELECT id, e FROM own WHERE e = g * 11 OFFSET 0) x');
SELECT * FROM again('SELECT g, (SELECT string_agg(v, '','' ORDER BY id) FROM own WHERE v LIKE g || ''%'') AS v FROM unnest(ARRAY[''a'', ''b'', '''', NULL]) g, generate_series(1, 4)');
SELECT * FROM again('SELECT g, (SELECT note FROM orders WHERE order_id = g) AS v FROM generate_series(1, 120000, 4321) g, generate_series(1, 4)');
SELECT * FROM again('SELECT g, (SELECT sum(amount) FROM orders WHERE country = g) AS v FROM unnest(ARRAY[''DE'', ''FR'', ''xx'', NULL]) g, generate_series(1, 3)');
SELECT * FROM again('SELECT x, (SELECT md5(string_agg(m::text || x, '','' ORDER BY m::text)) FROM mor2 m) AS v FROM generate_series(1, 5) x');
SELECT * FROM again('SELECT g, (SELECT count(*) FROM many WHERE length(value) > g) AS v FROM generate_series(0, 60, 5) g');
SELECT * FROM again('SELECT g, x.* FROM generate_series(1, 4) g, LATERAL (SELECT n, g AS h FROM no_index n WHERE sorted > g * 300 OFFSET 0) x');
SELECT * FROM again('SELECT g, x.* FROM generate_series(1, 4) g, LATERAL (SELECT n, g AS h FROM v1_dict n OFFSET 0) x');

-- A scan that runs once keeps nothing; one that is ended early keeps what it has paid for; what the
-- transaction itself has inserted counts at once.
SELECT count(*) AS kept FROM plan_lines('SELECT * FROM own', true, 'Kept');
SELECT * FROM again('SELECT g, EXISTS (SELECT FROM own WHERE id > g) AS v FROM generate_series(1, 40) g');
BEGIN;
INSERT INTO own (id, v) SELECT g, 'new' FROM generate_series(6000, 6010) g;
SELECT * FROM again('SELECT g, (SELECT v FROM own WHERE id = g) AS v FROM generate_series(5995, 6015) g');
ROLLBACK;
-- The memory is given back.
SET bifang.rescan_memory = '100kB';
SELECT count(*) FROM generate_series(1, 30) i, LATERAL (SELECT kept FROM again('SELECT g, (SELECT v FROM own WHERE id = g) AS v FROM generate_series(90, 700, 50) g') WHERE i > 0) x WHERE kept;

SELECT bifang.drop_table('raw', 'ra', 'own', true);
CALL sweep();
DROP SCHEMA ra CASCADE;
DROP SERVER ra CASCADE;
DROP SERVER raw CASCADE;
