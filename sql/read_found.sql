-- Small inputs that were once read wrongly; their README tells what is special about each.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET datestyle = 'ISO, YMD';
\getenv data BIFANG_TEST_DATA
\set found :data '/found'
CREATE SCHEMA rf;
SET search_path = rf, public;
CREATE SERVER rf FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');

-- Bounds of several row groups, put together in another order.
\set path :found '/uuid_sorted'
CREATE FOREIGN TABLE uuids (id int, u uuid) SERVER rf OPTIONS (location :'path');
SELECT id FROM uuids WHERE u = '33000000-0000-0000-0000-000000000000';
SELECT count(*) FROM uuids WHERE u < 'bc000000-0000-0000-0000-000000000000';

-- A partition of hours beyond 32 bits.
\set path :found '/hour_big'
CREATE FOREIGN TABLE hours (id int, x timestamptz) SERVER rf OPTIONS (location :'path');
SELECT id FROM hours WHERE x > '2020-01-01' ORDER BY id;
SELECT id, extract(year FROM x) FROM hours WHERE x > '240000-01-01' ORDER BY id;
SELECT id FROM hours WHERE x < '2000-01-01' ORDER BY id;

-- A time of a record in nanoseconds, where milliseconds should be.
\set path :found '/tsn-0'
CREATE FOREIGN TABLE times ("offset" bigint, "timestamp" timestamptz, key bytea)
	SERVER rf OPTIONS (format 'kafka_log', location :'path');
CREATE FOREIGN TABLE times_text ("offset" bigint, "timestamp" text)
	SERVER rf OPTIONS (format 'kafka_log', location :'path', out_of_range 'null');
\set VERBOSITY sqlstate
SELECT "offset", "timestamp" FROM times ORDER BY 1;
\set VERBOSITY default
SELECT "offset" FROM times ORDER BY 1;
ALTER FOREIGN TABLE times OPTIONS (ADD out_of_range 'null');
SELECT "offset", "timestamp" FROM times ORDER BY 1;
ALTER FOREIGN TABLE times ALTER "timestamp" TYPE bigint;
SELECT "offset", "timestamp" FROM times ORDER BY 1;
SELECT "offset" FROM times WHERE "timestamp" = 1700000000000000;
ALTER FOREIGN TABLE times ALTER "timestamp" TYPE timestamptz;
SELECT * FROM times_text ORDER BY 1;
SELECT "offset" FROM times WHERE "timestamp" IS NULL ORDER BY 1;
SELECT "offset" FROM times WHERE "timestamp" > '2020-01-01' ORDER BY 1;
SELECT "offset" FROM times WHERE "timestamp" IS NULL OR "timestamp" < '2000-01-01' ORDER BY 1;

-- Parquet files as others write them.
\set path :found '/offset_index_no_header.parquet'
CREATE FOREIGN TABLE sizes (a bigint) SERVER rf OPTIONS (format 'parquet', location :'path');
SELECT count(*), min(a), max(a) FROM sizes;
SELECT count(*), min(a), max(a) FROM sizes WHERE a > 50;
SELECT count(*), min(a), max(a) FROM sizes WHERE a % 7 = 3;
\set path :found '/v2_num_nulls_0.parquet'
CREATE FOREIGN TABLE levels (a bigint) SERVER rf OPTIONS (format 'parquet', location :'path');
SELECT * FROM levels;
\set path :found '/bloom_filter_short_numbytes.parquet'
CREATE FOREIGN TABLE filtered (r bigint) SERVER rf OPTIONS (format 'parquet', location :'path');
SELECT count(*) FROM filtered WHERE r = 200;
\set path :found '/corrupt_stats.parquet'
CREATE FOREIGN TABLE bounds ("A" timestamp, "B" timestamp) SERVER rf OPTIONS (format 'parquet', location :'path');
SELECT count(*) FROM bounds WHERE "A" = '2021-01-01 12:00';
SELECT count("B") FROM bounds WHERE "B" > '2021-01-01 05:00';
\set path :found '/broken_structure.parquet'
CREATE FOREIGN TABLE claims (b bigint) SERVER rf OPTIONS (format 'parquet', location :'path');
\set VERBOSITY sqlstate
SELECT count(*) FROM claims;
\set VERBOSITY default

-- Integers beyond 2^53 that a double has exactly.
\set path :found '/int64_min.parquet'
CREATE FOREIGN TABLE doubles (a double precision) SERVER rf OPTIONS (format 'parquet', location :'path');
SELECT a, a = -2::float8 ^ 63 AS least FROM doubles ORDER BY a;
SELECT count(*) FROM doubles WHERE a = 2::float8 ^ 62;
SELECT count(*) FROM doubles WHERE a <= -2::float8 ^ 63;

DROP SERVER rf CASCADE;
DROP SCHEMA rf;
