-- Lists, maps and structs; texts and dates that PostgreSQL cannot hold.
SET client_min_messages = warning;
SET TimeZone = 'America/New_York';
SET datestyle = 'ISO, YMD';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rn;
SET search_path = rn, public;
CREATE SERVER rn FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers

-- As IMPORT declares them.
IMPORT FOREIGN SCHEMA types LIMIT TO (nested) FROM SERVER rn INTO rn;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
WHERE attrelid = 'nested'::regclass AND attnum > 0 ORDER BY attnum;
SELECT id, a, aa FROM nested ORDER BY id;
SELECT id, m, st, am FROM nested ORDER BY id;
SELECT id, unnest(a) FROM nested ORDER BY id;
SELECT id, key, value FROM nested, jsonb_each(m) ORDER BY id, key;
SELECT id FROM nested WHERE a IS NULL OR m IS NULL;
SELECT count(*) FROM nested WHERE st IS NOT NULL;

-- As somebody else may.
CREATE TYPE y AS (z text, w float8[]);
CREATE TYPE st AS (y y, x bigint);
CREATE TYPE am AS (k text, v jsonb);
\set nested :data '/types/nested'
CREATE FOREIGN TABLE other (id int, a jsonb, aa jsonb, m json, st st, am am[]) SERVER rn OPTIONS (location :'nested');
SELECT id, a, aa, m FROM other ORDER BY id;
SELECT id, st, am FROM other ORDER BY id;
SELECT id, (st).y.w[1], (am[1]).v FROM other ORDER BY id;
-- What cannot be.
CREATE FOREIGN TABLE wrong (id int, aa text[]) SERVER rn OPTIONS (location :'nested');
SELECT failure('SELECT * FROM rn.wrong');
ALTER FOREIGN TABLE wrong DROP COLUMN aa;
ALTER FOREIGN TABLE wrong ADD COLUMN m text[];
SELECT failure('SELECT * FROM rn.wrong');
ALTER FOREIGN TABLE wrong DROP COLUMN m;
CREATE TYPE lacks AS (x int, nope int);
ALTER FOREIGN TABLE wrong ADD COLUMN st lacks;
SELECT failure('SELECT * FROM rn.wrong');
CREATE TYPE y_of_int AS (w int[]);
ALTER TYPE lacks DROP ATTRIBUTE nope, ADD ATTRIBUTE y y_of_int;
SELECT failure('SELECT * FROM rn.wrong');
ALTER FOREIGN TABLE wrong DROP COLUMN st;
ALTER FOREIGN TABLE wrong ADD COLUMN a text[];
SELECT failure('SELECT * FROM rn.wrong');
ALTER FOREIGN TABLE wrong ALTER COLUMN a TYPE numeric(3,2)[];
SELECT id, a FROM wrong ORDER BY id;
ALTER FOREIGN TABLE wrong ALTER COLUMN a TYPE numeric(3,3)[];
SELECT failure('SELECT * FROM rn.wrong');
-- Of a plain file, too.
\set lists :data '/parquet/list_columns.parquet'
CREATE FOREIGN TABLE plain (int64_list text[]) SERVER rn OPTIONS (format 'parquet', location :'lists');
SELECT failure('SELECT * FROM rn.plain');
ALTER FOREIGN TABLE plain RENAME COLUMN int64_list TO nope;
SELECT failure('SELECT * FROM rn.plain');

-- Many rows, NULLs on all levels, a row of 40,000 items: every encoding gives the same.
\set plain :data '/parquet_nested/v1_plain.parquet'
\set dict :data '/parquet_nested/v1_dict.parquet'
\set delta :data '/parquet_nested/v2_delta.parquet'
IMPORT FOREIGN SCHEMA x FROM SERVER rn INTO rn OPTIONS (format 'parquet', location :'plain');
IMPORT FOREIGN SCHEMA x FROM SERVER rn INTO rn OPTIONS (format 'parquet', location :'dict');
IMPORT FOREIGN SCHEMA x FROM SERVER rn INTO rn OPTIONS (format 'parquet', location :'delta');
SELECT count(*) FROM v1_plain;
SELECT count(*) FROM (SELECT to_jsonb(p) FROM v1_plain p EXCEPT ALL SELECT to_jsonb(d) FROM v1_dict d) x;
SELECT count(*) FROM (SELECT to_jsonb(p) FROM v2_delta p EXCEPT ALL SELECT to_jsonb(d) FROM v1_dict d) x;

-- Policies. The file's text is not UTF-8 in one row, its date and numbers too large for what is declared.
\set types :data '/types/all_types'
CREATE FOREIGN TABLE tight (id int, l int, dt date, bin text) SERVER rn OPTIONS (location :'types');
SELECT failure('SELECT l FROM rn.tight');
SELECT failure('SELECT bin FROM rn.tight');
ALTER FOREIGN TABLE tight OPTIONS (ADD out_of_range 'null', ADD invalid_text 'null');
SELECT id, l, bin FROM tight ORDER BY id;
SELECT count(*) FROM tight WHERE l IS NULL;
SELECT count(*) FROM tight WHERE bin IS NULL;
ALTER FOREIGN TABLE tight OPTIONS (SET invalid_text 'replace');
SELECT id, bin = replace(bin, U&'\FFFD', '') AS unchanged FROM tight ORDER BY id;
SELECT count(*) FROM tight t WHERE bin IN (SELECT bin FROM tight u WHERE u.id = t.id);

-- JSON escapes that stand for no character of jsonb. The type json keeps them.
\set escapes :data '/parquet_nested/json_escapes.parquet'
CREATE FOREIGN TABLE escapes (id int, j jsonb) SERVER rn OPTIONS (format 'parquet', location :'escapes');
SELECT failure('SELECT j FROM rn.escapes WHERE id = 0');
SELECT failure('SELECT j FROM rn.escapes WHERE id = 1');
SELECT j FROM escapes WHERE id IN (2, 3, 5) ORDER BY id;
ALTER FOREIGN TABLE escapes OPTIONS (ADD invalid_text 'null');
SELECT id, j FROM escapes ORDER BY id;
ALTER FOREIGN TABLE escapes OPTIONS (SET invalid_text 'replace');
SELECT id, replace(j::text, U&'\FFFD', '?') FROM escapes ORDER BY id;
ALTER FOREIGN TABLE escapes ALTER COLUMN j TYPE json;
SELECT j FROM escapes ORDER BY id;

DROP SCHEMA rn CASCADE;
DROP SERVER rn;
