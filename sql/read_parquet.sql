-- Plain Parquet files.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
\getenv data BIFANG_TEST_DATA
\set dir :data '/parquet'
CREATE SCHEMA rp;
SET search_path = rp, public;
CREATE SERVER rp FOREIGN DATA WRAPPER bifang_fdw OPTIONS (format 'parquet');
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers

-- One table per file. Nested columns are not read yet, which a WARNING says.
\set glob :dir '/*.parquet'
SET client_min_messages = notice;
IMPORT FOREIGN SCHEMA x FROM SERVER rp INTO rp OPTIONS (format 'parquet', location :'glob');
SET client_min_messages = warning;
SELECT relname FROM pg_class WHERE relnamespace = 'rp'::regnamespace AND relkind = 'f' ORDER BY relname COLLATE "C";
SELECT * FROM alltypes_plain;
SELECT count(*) FROM "odd name 100% [a-b]='x'" o WHERE o.int_col IS NOT NULL;
SELECT * FROM signs;
SELECT * FROM uuid;
SELECT * FROM float16_nonzeros_and_nans;
SELECT count(*), sum(value), pg_typeof(sum(value)) FROM byte_array_decimal;
SELECT count(*), sum(value) FROM int64_decimal;
SELECT count(*), sum(value) FROM fixed_length_decimal;
SELECT count(*), min(id COLLATE "C"), max(id COLLATE "C") FROM alpha;

-- Several row groups and files; a rescan starts from the first row of the first file.
\set two :dir '/al*.parquet'
CREATE FOREIGN TABLE several (id text, file text OPTIONS (meta 'file'), pos bigint OPTIONS (meta 'pos'))
	SERVER rp OPTIONS (location :'glob');
SELECT failure('SELECT id FROM rp.several');
CREATE FOREIGN TABLE alphas (id text, pos bigint OPTIONS (meta 'pos')) SERVER rp OPTIONS (location :'glob');
\set alpha :dir '/alpha*'
ALTER FOREIGN TABLE alphas OPTIONS (SET location :'alpha');
SELECT count(*), count(DISTINCT pos), max(pos) FROM alphas;
SELECT g, (SELECT count(*) FROM alphas WHERE pos >= g) FROM generate_series(0, 600, 300) g;
SELECT count(*) FROM alphas a JOIN alphas b USING (id);

-- A directory means its *.parquet files; no columns are needed for counting.
CREATE FOREIGN TABLE everything () SERVER rp OPTIONS (location :'dir');
SELECT count(*) > 700 AS many FROM everything;

-- Bytes as text, where they are text; more digits than declared; other declared types.
CREATE FOREIGN TABLE other (string_col text, date_string_col varchar(8), timestamp_col timestamptz,
	bigint_col numeric, double_col real, float_col float8, id bigint, bool_col bool)
	SERVER rp OPTIONS (location :'glob');
\set plain :dir '/alltypes_plain.parquet'
ALTER FOREIGN TABLE other OPTIONS (SET location :'plain');
SELECT string_col, date_string_col, timestamp_col, bigint_col, id FROM other LIMIT 2;
SELECT failure('SELECT double_col FROM rp.other');
ALTER FOREIGN TABLE other ALTER COLUMN date_string_col TYPE varchar(7), ALTER COLUMN id TYPE boolean;
SELECT failure('SELECT date_string_col FROM rp.other');
SELECT failure('SELECT id FROM rp.other');
CREATE FOREIGN TABLE tight (unsigned_int64 bigint, unsigned_int32 int, value numeric(3,1))
	SERVER rp OPTIONS (location :'glob');
\set signs :dir '/signs.parquet'
ALTER FOREIGN TABLE tight OPTIONS (SET location :'signs');
SELECT failure('SELECT unsigned_int64 FROM rp.tight');
SELECT failure('SELECT unsigned_int32 FROM rp.tight');
\set decimals :dir '/int64_decimal.parquet'
ALTER FOREIGN TABLE tight OPTIONS (SET location :'decimals');
SELECT failure('SELECT count(value) FROM rp.tight');

-- Domains are checked.
CREATE DOMAIN small AS int CHECK (VALUE < 5);
CREATE FOREIGN TABLE domains (id small) SERVER rp OPTIONS (location :'plain');
SELECT failure('SELECT count(id) FROM rp.domains');

-- Out of range, damaged, nested, missing: the error says where. EXPLAIN does not open the file.
SELECT failure('SELECT * FROM rp.int96_from_spark');
SELECT failure('SELECT * FROM rp.damaged');
ALTER FOREIGN TABLE damaged OPTIONS (ADD verify_checksums 'off');
SELECT count(*), count(d::text) FROM damaged d;
ALTER FOREIGN TABLE damaged OPTIONS (SET verify_checksums 'true');
SELECT left(failure('SELECT * FROM rp.damaged'), 5);
ALTER FOREIGN TABLE damaged OPTIONS (SET verify_checksums 'perhaps');
-- The same of a lake table, and by the server's option.
\set checksum :data '/checksum/damaged'
CREATE FOREIGN TABLE lake (id int, v bigint) SERVER rp OPTIONS (format 'iceberg', location :'checksum');
SELECT sum(id) FROM lake;
SELECT failure('SELECT sum(v) FROM rp.lake');
ALTER SERVER rp OPTIONS (ADD verify_checksums 'false');
SELECT sum(id), sum(v) FROM lake;
ALTER FOREIGN TABLE lake OPTIONS (ADD verify_checksums 'true');
SELECT left(failure('SELECT sum(v) FROM rp.lake'), 5);
ALTER SERVER rp OPTIONS (DROP verify_checksums);
CREATE FOREIGN TABLE nested (a text) SERVER rp OPTIONS (location :'glob');
\set nested :dir '/nested_lists.snappy.parquet'
ALTER FOREIGN TABLE nested OPTIONS (SET location :'nested');
SELECT failure('SELECT a FROM rp.nested');
SELECT count(*) FROM nested;
\set log :data '/kafka/tiny-0/00000000000000000000.log'
ALTER FOREIGN TABLE nested OPTIONS (SET location :'log');
EXPLAIN (COSTS off) SELECT a FROM nested;
SELECT failure('SELECT a FROM rp.nested');
ALTER FOREIGN TABLE nested OPTIONS (SET location '/nonexistent/*.parquet');
SELECT failure('SELECT a FROM rp.nested');
ALTER FOREIGN TABLE nested OPTIONS (SET location '/dev/null');
SELECT failure('SELECT a FROM rp.nested');
SELECT failure('INSERT INTO rp.nested VALUES (1)');

-- Geometry is well-known binary; its bounds say nothing of the bytes.
\set geometry :data '/parquet_encodings/geometry.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER rp INTO rp OPTIONS (format 'parquet', location :'geometry');
SELECT i, g FROM geometry ORDER BY i;
SELECT i FROM geometry WHERE g = '\x010100000000000000000000000000000000000040';
SELECT count(*) FROM geometry WHERE g > '\x';

-- Rows so wide that only some of a batch become values at a time: all of them, and those that count.
\set wide :data '/wide/rows.parquet'
CREATE FOREIGN TABLE wide (id int, t text, pos bigint OPTIONS (meta 'pos')) SERVER rp OPTIONS (location :'wide');
SELECT array_agg(id) AS ids, bool_and(t = repeat(chr(64 + id), 1500000) AND pos = id - 1) AS same FROM wide;
SELECT array_agg(id) AS ids, bool_and(t = repeat(chr(64 + id), 1500000) AND pos = id - 1) AS same FROM wide WHERE id NOT IN (2, 7);

-- After an error the session goes on.
SELECT count(*) FROM alpha;

-- Footer functions.
SELECT row_group, rows, column_path, physical_type, codec, value_count, null_count, min_value, max_value
FROM bifang.parquet_metadata(:'signs');
SELECT count(*) FROM bifang.parquet_metadata(:'alpha');
-- A bound that its type cannot hold is NULL, the others are shown.
\set bounds :data '/odd/bounds.parquet'
SELECT column_path, min_value, max_value FROM bifang.parquet_metadata(:'bounds');

-- Estimates: from the file's size at first, then from what was seen.
CREATE FUNCTION estimate(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	j json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) ' || query INTO j;
	RETURN (j->0->'Plan'->>'Plan Rows')::float8;
END$$;
SELECT count(*) FROM alpha;
SELECT estimate('SELECT * FROM rp.alpha');
ANALYZE alpha;
SELECT reltuples FROM pg_class WHERE oid = 'alpha'::regclass;

DROP SCHEMA rp CASCADE;
DROP SERVER rp CASCADE;
