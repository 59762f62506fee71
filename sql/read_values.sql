-- Values of a lake table as the server itself would have made them.
SET client_min_messages = warning;
CREATE SCHEMA rv;
SET search_path = rv, public;
CREATE SERVER rv FOREIGN DATA WRAPPER bifang_fdw;

-- numeric is built by hand: every byte, header and size must be what numeric_in makes.
CREATE FOREIGN TABLE numbers (p9_2 numeric(9,2), p18_0 numeric(18,0), p18_2 numeric(18,2), p18_4 numeric(18,4),
	p18_7 numeric(18,7), p18_16 numeric(18,16), p18_18 numeric(18,18), p38_0 numeric(38,0),
	p38_10 numeric(38,10), p38_38 numeric(38,38), p5_5 numeric(5,5)) SERVER rv;
INSERT INTO numbers
SELECT t % 1000000000 / 100, t, t / 100, t / 10000, t / 1e7, t / 1e16, t / 1e18, w, w / 1e10, w / 1e38, t % 100000 / 1e5
FROM (SELECT s * (10::numeric ^ p * m + o) AS t, s * (10::numeric ^ (2 * p) * m + o) AS w
	FROM generate_series(0, 17) p, unnest('{1,-1}'::int[]) s, unnest('{1,3,9}'::int[]) m,
		unnest('{0,1,-1,37,9999,10000}'::int[]) o) x;
CREATE FUNCTION wrong(col text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE format('SELECT count(*) FROM (SELECT %I AS x FROM rv.numbers) y
		WHERE numeric_send(x) <> numeric_send(x::text::numeric) OR pg_column_size(x) <> pg_column_size(x::text::numeric)', col)
		INTO n;
	RETURN n;
END$$;
SELECT count(*), count(DISTINCT p38_0) FROM numbers;
SELECT attname, wrong(attname) FROM pg_attribute WHERE attrelid = 'numbers'::regclass AND attnum > 0 ORDER BY attnum;

-- Long and short, plain and not; a dictionary's worth of repeated ones; NULLs between.
CREATE FOREIGN TABLE words (id int, t text, b bytea, u uuid, j jsonb) SERVER rv;
CREATE TABLE heap (id int, t text, b bytea, u uuid, j jsonb);
INSERT INTO heap SELECT i, CASE WHEN i % 7 = 0 THEN NULL WHEN i % 5 = 0 THEN repeat('ä€😀', i % 60) ELSE repeat(chr(97 + i % 26), i % 300) END,
	CASE WHEN i % 3 = 0 THEN NULL ELSE decode(repeat(to_hex(i % 16) || '0', i % 200), 'hex') END,
	CASE WHEN i % 4 > 0 THEN md5(i::text)::uuid END,
	CASE WHEN i % 6 > 0 THEN jsonb_build_object('i', i, 't', repeat('x', i % 100)) END
FROM generate_series(1, 10000) i;
INSERT INTO words SELECT * FROM heap;
SELECT count(*) FROM (SELECT * FROM heap EXCEPT ALL SELECT * FROM words) x;
SELECT count(*) FROM (SELECT * FROM words EXCEPT ALL SELECT * FROM heap) x;
SELECT count(*), count(t), count(b), count(u), count(j) FROM words;
-- Rows stay whole when they are kept: sorted, joined, aggregated.
SELECT md5(string_agg(t, '' ORDER BY id)) = (SELECT md5(string_agg(t, '' ORDER BY id)) FROM heap) FROM words;
SELECT count(*) FROM words w JOIN heap h USING (id, t);
-- Wide rows make short slices.
INSERT INTO words (id, t) SELECT -i, repeat('wide', 500000) FROM generate_series(1, 12) i;
SELECT count(*), sum(length(t)) FROM words WHERE id < 0;

-- Where rows come from.
ALTER FOREIGN TABLE words ADD COLUMN ledger bigint OPTIONS (meta 'ledger'),
	ADD COLUMN entry bigint OPTIONS (meta 'entry'), ADD COLUMN at timestamptz OPTIONS (meta 'timestamp'),
	ADD COLUMN tier text OPTIONS (meta 'tier'), ADD COLUMN pos bigint OPTIONS (meta 'pos');
SELECT tier, count(DISTINCT ledger), count(DISTINCT entry), min(entry), max(entry), count(pos),
	bool_and(at BETWEEN now() - interval '1 day' AND now() + interval '1 day') FROM words GROUP BY tier;
ALTER FOREIGN TABLE words ALTER COLUMN entry TYPE int;
SELECT entry FROM words LIMIT 1;

-- What does not fit the declared type, in every way of conversion: the error names column and file.
CREATE FUNCTION failure(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	context text;
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS context = PG_EXCEPTION_CONTEXT;
	RETURN regexp_replace(sqlstate || ' ' || sqlerrm || coalesce(' CONTEXT: ' ||
		substring(context FROM 'column "[^\n]*'), ''), '"/[^"]*"', '"…"', 'g');
END$$;
CREATE FOREIGN TABLE source (i2 smallint, i4 int, i8 bigint, f8 float8, n18 numeric(18,4), n38 numeric(38,4), d date, t text,
	j text, tz timestamptz, u uuid, tm time, ts timestamp) SERVER rv;
INSERT INTO source VALUES (300, 70000, 5000000000, 0.1, 123456.789, 1234567890123456789012345.5, '5000-01-01',
	'sixteen letters ', '{"a":', '2024-02-29 12:00+00', '00112233-4455-6677-8899-aabbccddeeff', '23:59:59.5',
	'0044-03-15 BC');
SELECT bifang.commit('source') IS NOT NULL;
CREATE TYPE colour AS ENUM ('red', 'green');
CREATE DOMAIN small AS numeric CHECK (VALUE < 10);
CREATE FUNCTION declare(field text, type text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL bifang.create_on_ddl = off;
	EXECUTE format('ALTER FOREIGN TABLE rv.narrow DROP COLUMN IF EXISTS %1$I, ADD COLUMN %1$I %2$s', field, type);
	RETURN rv.failure(format('SELECT %I FROM rv.narrow', field));
END$$;
CREATE FOREIGN TABLE narrow () SERVER rv OPTIONS ("table" 'source');
SELECT field, type, declare(field, type) FROM (VALUES ('i4', 'smallint'), ('i8', 'int'), ('i8', 'smallint'), ('f8', 'real'),
	('n18', 'numeric(5,4)'), ('n18', 'numeric(18,2)'), ('n18', 'numeric(5,-2)'), ('n38', 'numeric(10,4)'), ('n38', 'bigint'),
	('n18', 'int'), ('i4', 'numeric(4)'), ('i8', 'numeric(9,2)'), ('i8', 'numeric(20,12)'), ('t', 'varchar(5)'),
	('t', 'char(5)'), ('t', 'rv.colour'), ('j', 'json'), ('j', 'jsonb'), ('i2', 'rv.small'), ('n18', 'rv.small')) x(field, type);

-- The last value that a declared type takes, and the first that it doesn't, in either direction.
CREATE FUNCTION edge(value numeric, stored text, type text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	out text;
BEGIN
	EXECUTE format('CREATE FOREIGN TABLE rv.edge (v %s) SERVER rv; INSERT INTO rv.edge VALUES (%s);
		CREATE FOREIGN TABLE rv.edge_as (v %s) SERVER rv OPTIONS ("table" %L)', stored, value, type, 'edge');
	out = rv.failure('SELECT max(v) FROM rv.edge_as');
	DROP FOREIGN TABLE rv.edge_as, rv.edge;
	PERFORM bifang.drop_table('rv', 'rv', 'edge', true);
	RETURN out;
END$$;
SELECT value, stored, type, edge(value, stored, type) AS positive, edge(-value, stored, type) AS negative
FROM (VALUES (9007199254740992, 'bigint', 'float8'), (9007199254740993, 'bigint', 'float8'), (9999, 'int', 'numeric(4)'),
	(10000, 'int', 'numeric(4)'), (99999, 'bigint', 'numeric(7,2)'), (100000, 'bigint', 'numeric(7,2)')) x(value, stored, type);

-- As text or numeric: every digit, whatever is compared with them.
CREATE FOREIGN TABLE texts (f8 numeric, d text, tz text, u text, tm text, ts text) SERVER rv OPTIONS ("table" 'source');
SELECT * FROM texts;
SELECT count(*) FILTER (WHERE f8 = 0.1), count(*) FILTER (WHERE d = '5000-01-01') FROM texts;
SELECT count(*) FROM texts WHERE f8 = 0.1 AND f8::float8 = 0.1 AND f8 <> 0.1000000000000000055 AND d = '5000-01-01'
	AND tz >= '2024-02-29T12:00:00+00:00' AND u = '00112233-4455-6677-8899-aabbccddeeff' AND u LIKE '0011%'
	AND tm IN ('23:59:59.5', 'x') AND ts <> '' AND u COLLATE "C" BETWEEN '0' AND '1';
SELECT count(*) FROM texts WHERE u = '0' OR d = '' OR f8 = 1 OR tm < '0';

-- Each format of EXPLAIN.
EXPLAIN (COSTS off) SELECT id FROM words;
DO $$
DECLARE
	j json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) SELECT id FROM rv.words' INTO j;
	RAISE WARNING '% live rows, % entries', j->0->'Plan'->'Live Rows', j->0->'Plan'->'Log Read entries decoded';
END$$;

DROP SCHEMA rv CASCADE;
DROP SERVER rv CASCADE;
