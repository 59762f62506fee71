-- Columns declared as something else than they are, types that have an order or an equality of their own, and
-- operators that only look like those of the order.
CREATE SCHEMA hostile;
CREATE COLLATION hostile.natural (provider = icu, locale = 'en-u-kn-true');
CREATE COLLATION hostile.blind (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
CREATE DOMAIN hostile.word AS text COLLATE hostile.blind;
CREATE DOMAIN hostile.small AS numeric(9,2) CHECK (value IS NULL OR value > -1e12);
CREATE TYPE hostile.letters AS ENUM ('abc', 'b', 'a', 'B');
-- A text with an equality of its own, when the server has it.
SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'citext') AS has_citext \gset
\if :has_citext
CREATE EXTENSION citext SCHEMA hostile;
\endif
\getenv data BIFANG_TEST_DATA
\set where :data '/boundaries/sorted.parquet'
\set tables :data '/boundaries/random.parquet'
-- Numbers wider than they are, or in another form.
CREATE FOREIGN TABLE hostile.wide (id bigint, i8 integer, u8 numeric, i16 bigint, u32 numeric(20,0), i32 numeric, i64 numeric(30,5), f32 double precision, n9_2 numeric(20,5), n18_4 numeric)
	SERVER diff OPTIONS (format 'parquet', location :'where');
CREATE FOREIGN TABLE hostile.floats (id double precision, i8 double precision, i16 double precision, i32 double precision, f64 double precision)
	SERVER diff OPTIONS (format 'parquet', location :'tables');
-- What does not fit is NULL here: IS NULL must not be decided by the file.
CREATE FOREIGN TABLE hostile.narrow (id smallint, i16 smallint, u32 integer, i32 smallint, i64 integer, u64 bigint, n9_2 integer, n18_4 numeric(9,2), f64 real, d date, ts timestamp)
	SERVER diff OPTIONS (format 'parquet', location :'where', out_of_range 'null');
CREATE FOREIGN TABLE hostile.texts (id int, s text COLLATE hostile.blind, y bytea, u uuid) SERVER diff OPTIONS (format 'parquet', location :'where');
CREATE FOREIGN TABLE hostile.words (id int, s hostile.word, n9_2 hostile.small) SERVER diff OPTIONS (format 'parquet', location :'tables');
CREATE FOREIGN TABLE hostile.numbered (id int, s text COLLATE hostile.natural) SERVER diff OPTIONS (format 'parquet', location :'where');
CREATE FOREIGN TABLE hostile.bytes (id int, s bytea, u bytea) SERVER diff OPTIONS (format 'parquet', location :'where');
CREATE FOREIGN TABLE hostile.replaced (id int, y text, s text) SERVER diff OPTIONS (format 'parquet', location :'where', invalid_text 'replace');
CREATE FOREIGN TABLE hostile.times (id int, d timestamp, tz timestamp, ts timestamp(3), ts_ms timestamp(0)) SERVER diff OPTIONS (format 'parquet', location :'where', out_of_range 'null');
-- Twins: the values of files.sorted and files.random, as another reader found them, cast by the server.
CREATE TABLE hostile.wide_heap AS SELECT id::bigint, i8::integer, u8::numeric, i16::bigint, u32::numeric(20,0), i32::numeric, i64::numeric(30,5),
	f32::double precision, n9_2::numeric(20,5), n18_4::numeric FROM files.sorted_heap;
CREATE TABLE hostile.floats_heap AS SELECT id::float8, i8::float8, i16::float8, i32::float8, f64 FROM files.random_heap;
CREATE FUNCTION hostile.fits(v numeric, low numeric, high numeric) RETURNS numeric LANGUAGE sql IMMUTABLE AS 'SELECT v WHERE v BETWEEN low AND high AND v = trunc(v)';
CREATE TABLE hostile.narrow_heap AS SELECT id::smallint, i16, hostile.fits(u32, 0, 2147483647)::integer AS u32, hostile.fits(i32, -32768, 32767)::smallint AS i32,
	hostile.fits(i64, -2147483648, 2147483647)::integer AS i64, hostile.fits(u64, 0, 9223372036854775807)::bigint AS u64,
	hostile.fits(n9_2, -2147483648, 2147483647)::integer AS n9_2, (SELECT n18_4 WHERE n18_4 = round(n18_4, 2) AND abs(n18_4) < 10000000)::numeric(9,2) AS n18_4,
	(CASE WHEN f64 IN ('NaN', 'Infinity', '-Infinity', 0) THEN f64::real WHEN abs(f64) BETWEEN 1e-37 AND 3e38 AND f64::real::float8 = f64 THEN f64::real END) AS f64, d, ts FROM files.sorted_heap;
CREATE TABLE hostile.texts_heap AS SELECT id, s COLLATE hostile.blind AS s, y, encode(u, 'hex')::uuid AS u FROM files.sorted_heap;
CREATE TABLE hostile.words_heap AS SELECT id, s::hostile.word, n9_2::hostile.small FROM files.random_heap;
CREATE TABLE hostile.numbered_heap AS SELECT id, s COLLATE hostile.natural AS s FROM files.sorted_heap;
CREATE TABLE hostile.bytes_heap AS SELECT id, convert_to(s, 'UTF8') AS s, u FROM files.sorted_heap;
CREATE TABLE hostile.replaced_heap AS SELECT id, (SELECT coalesce(string_agg(CASE WHEN get_byte(y, i) BETWEEN 1 AND 127 THEN chr(get_byte(y, i)) ELSE U&'\FFFD' END, '' ORDER BY i), '')
	FROM generate_series(0, length(y) - 1) i WHERE y IS NOT NULL) AS y, s FROM files.sorted_heap;
UPDATE hostile.replaced_heap r SET y = NULL FROM files.sorted_heap f WHERE f.id = r.id AND f.y IS NULL;
CREATE TABLE hostile.times_heap AS SELECT id, d::timestamp, tz AT TIME ZONE 'UTC' AS tz, ts, ts_ms FROM files.sorted_heap;
SELECT diff.generic_schema('hostile', :n);

-- Operators that look like those of the order, and are none; and others that lie between.
CREATE FUNCTION hostile.same(text, text) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT lower($1) COLLATE "C" = lower($2) COLLATE "C"';
CREATE FUNCTION hostile.less(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT $1 % 10 < $2 % 10';
CREATE OPERATOR hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = hostile.same, COMMUTATOR = OPERATOR(hostile.=));
CREATE OPERATOR hostile.< (LEFTARG = integer, RIGHTARG = integer, FUNCTION = hostile.less);
CREATE FUNCTION hostile.now_and_then(integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION hostile.known(anyelement) RETURNS anyelement LANGUAGE plpgsql STABLE AS 'BEGIN RETURN $1; END';
CREATE FUNCTION hostile.try(tab text, predicates text[]) RETURNS void LANGUAGE sql AS $$
	SELECT count(diff.check(tab, 'SELECT count(*) || '' '' || coalesce(sum(id), 0) || '' '' || coalesce(min(id), -1) FROM %T t WHERE ' || p)) FROM unnest(predicates) p
$$;
SELECT hostile.try('hostile.texts', ARRAY[
	's = ''ABC''', 's = ''ABC'' COLLATE "C"', 's <> ''é''', 's IN (''ABC'', ''E'')', 's IS DISTINCT FROM ''ABC''', 's IS NOT DISTINCT FROM ''É''', 's NOT IN (''ABC'', NULL)',
	's < ''B''', 's COLLATE "C" < ''B''', 's COLLATE "C" BETWEEN ''A'' AND ''a''', '(s, id) < (''B'', 20)', '(s COLLATE "C", id) < (''B'', 20)', 's COLLATE "C" LIKE ''a\%%''', 's COLLATE "C" LIKE ''é%''',
	's COLLATE "C" LIKE ''_bc%''', 's COLLATE "C" LIKE E''a\\_b''', 's COLLATE "C" LIKE ''abc'' || chr(1114111) || ''%''', 's COLLATE "C" LIKE ''a!%%'' ESCAPE ''!''', 's COLLATE "C" LIKE ''%'' ESCAPE ''''',
	's COLLATE "C" NOT LIKE ''a%'' OR s IS NULL', 'id OPERATOR(hostile.<) 7', 's OPERATOR(hostile.=) ''ABC''', '''ABC'' OPERATOR(hostile.=) s', 's OPERATOR(hostile.=) ANY (ARRAY[''ABC'', ''B''])', 'lower(s) = ''abc''', 's::bytea = ''\x616263''',
	's::name = ''abc''', 's::char(4) = ''a''', 's::varchar(2) = ''ab''', 's::varchar = ''abc''', 's || '''' = ''abc''', 's > ALL (ARRAY[''a'', NULL])', 's = ANY (ARRAY[NULL]::text[])', 's <> ALL (''{}'')',
	'y = ''\x''', 'y < ''\x00''', 'y >= ''\xff''', 'y BETWEEN ''\x61'' AND ''\x6162''', 'y <> ALL (ARRAY[''\xff'', ''\x'']::bytea[])', 'y LIKE ''a%''::bytea', 'substr(y, 1, 1) = ''\x61''', 'u > ''80000000-0000-0000-0000-000000000000''',
	'u = ANY (ARRAY[''00000000-0000-0000-0000-000000000000'', NULL]::uuid[])', 'u < ALL (ARRAY[''ffffffff-ffff-ffff-ffff-ffffffffffff'']::uuid[])', '(u, id) >= (''7fffffff-ffff-ffff-ffff-ffffffffffff'', 100)']);
SELECT hostile.try('hostile.numbered', ARRAY['s < ''b''', 's >= ''a'' AND s < ''b''', 's = ''abc''', 's BETWEEN ''a'' AND ''abd''', '(s, id) > (''a'', 7)', 's ~<~ ''b''', 's ~>=~ ''a'' AND s ~<~ ''b''', 's LIKE ''a%'' AND s > ''ab''']);
SELECT hostile.try('hostile.wide', ARRAY[
	'i32 = hostile.now_and_then(7)', 'i32 = hostile.known(7)', 'i32 > hostile.known(NULL::int)', 'i32 < random() * 0 - 1', 'f32 = ''-0''', 'f32 < ''NaN''', 'f32 >= ''NaN''', 'f32 <> ''NaN''', 'f32 > ''Infinity''',
	'f32 IN (''NaN'', ''-0'', 0.1)', 'f32 NOT IN (''NaN'', ''Infinity'')', 'f32 = 0.1::real', 'f32 = 0.1::float8', 'f32 = 0.1', 'i64 = ''NaN''', 'i64 < ''Infinity''', 'i64 > ''-Infinity''', 'i64 = 9223372036854775807', 'i64 > 9223372036854775806.5',
	'i64 = 9223372036854775807::float8', 'i32 = 2147483648', 'i32 < 1e30', 'i32 > -1e30', 'i32 = 7.0000000000000000000001', 'i16 = 32768', 'i16 BETWEEN -1e9 AND 0.5', 'i8 = 1.5::float8', 'i8 < ''NaN''::float8', 'u8 > 254.5', 'u32 = 4294967295::float8',
	'n9_2 = 0.01', 'n9_2 = 0.010000001', 'n9_2 <> 1.5', 'n9_2 < 0.005', 'n9_2 IN (1.50, 10, NULL)', 'n9_2 > ALL (ARRAY[-10, ''-Infinity'']::numeric[])', 'n18_4 BETWEEN SYMMETRIC 1 AND -1', '(i32, i64) < (0, 5)', '(i32, i64) <= (7, NULL)', '(i32, i64) = (0, 0)',
	'(i32, i64) <> (0, 0)', 'NOT ((i32, i64) > (0, 0))', '((i32, i64) < (0, 5)) IS NOT TRUE', '(i32 < 5) IS UNKNOWN', 'NOT (i32 < 5 AND i64 > 0)', 'i32 BETWEEN i8 AND i64', 'i32 = i8', 'i32 + 0 = 7', '-i32 = 7', 'i32::text = ''7''', 'i32 = ANY (SELECT generate_series(0, 10))',
	'i32 < ALL (SELECT unnest(ARRAY[5, NULL]))', 'i32 = 7 OR i64 = (SELECT 10)', 'coalesce(i32, 7) = 7', 'nullif(i32, 7) IS NULL', 'i32 IS DISTINCT FROM NULL', 't IS NOT NULL', 't.* IS NULL', 'id = id', 'NOT id <> id', 'i32 IN (VALUES (7), (10))']);
SELECT hostile.try('hostile.times', ARRAY[
	'd = ''1970-01-01''::date', 'd < ''1970-01-01''::timestamptz', 'd > ''infinity''::date', 'd <= ''infinity''::timestamptz', 'd <> ''-infinity''', 'tz = ''1970-01-01 00:00:00''', 'tz < ''2024-03-10 07:00:00+00''::timestamptz', 'tz >= ''2024-03-10''::date', 'tz::date = ''2024-03-10''',
	'ts::date = ''1969-12-31''', 'ts::date < ''1970-01-01''', 'ts::date IN (''1969-12-31'', ''2024-02-29'')', 'ts::date IS DISTINCT FROM ''1969-12-31''', 'ts::time = ''00:00''', 'ts > ''0044-03-15 BC''', 'ts = ANY (ARRAY[''infinity'', ''1970-01-01'']::timestamp[])', 'ts - interval ''1 day'' < ''1970-01-01''',
	'ts >= now() - interval ''60 years''', 'ts < current_date', 'ts AT TIME ZONE ''UTC'' < ''1970-01-01''', 'ts BETWEEN ''1969-12-31 23:59:59.9999995'' AND ''1970-01-01 00:00:00.0000004''', 'date_trunc(''month'', ts) = ''1969-12-01''', 'extract(epoch FROM ts) < 0', '(ts, id) < (''1970-01-01'', 5)', 'ts_ms = ''1969-12-31 23:59:59.999''']);
SELECT hostile.try('hostile.narrow', ARRAY['i32 IS NULL', 'i32 IS NOT NULL', 'i32 IS DISTINCT FROM 7', 'NOT (i32 = 7)', 'i32 <> 7 OR i32 IS NULL', 'i64 IS NULL AND u32 IS NOT NULL', 'n18_4 IS NULL', 'coalesce(i32, 0) = 0', '(i32 > 5) IS NOT TRUE', 'n9_2 = 1', 'n9_2 > 1.25', 'f64 = 0.1', 'f64 IS NULL', 'u64 < 0 OR u64 IS NULL']);
SELECT hostile.try('hostile.replaced', ARRAY['y = ''?''', 'y <> ''abc''', 'y LIKE ''a%''', 'y IS NULL', 'y IN (''a'', ''ab'')', 'y COLLATE "C" < ''b''', 's = ''abc''', 's LIKE ''a%'' AND y LIKE ''a%''']);
\if :has_citext
SELECT hostile.try('hostile.texts', ARRAY['s::hostile.citext = ''ABC''', 's::hostile.citext IN (''ABC'', ''B'')', 's::hostile.citext < ''B''', 's = ''ABC''::hostile.citext', 's::hostile.citext <> ''abc''', 's::hostile.citext LIKE ''A%''']);
\endif
