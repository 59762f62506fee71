-- What logical files say of their columns: which of them a scan leaves out, and that it is never wrong.
SET client_min_messages = warning;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
CREATE SCHEMA wb;
SET search_path = wb, public;
\i :helpers
CREATE SERVER wb FOREIGN DATA WRAPPER bifang_fdw;

-- Rows of a query with pruning by bounds and without it, and what was left out. NULL: they differ.
CREATE FUNCTION found(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	with_bounds text;
	without text;
	pruned text;
BEGIN
	EXECUTE format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query) INTO with_bounds;
	SELECT string_agg(l, ' ') INTO pruned FROM plan_lines(query, true, 'Pruned:') l;
	SET LOCAL bifang.enable_manifest_pruning = off;
	EXECUTE format('SELECT string_agg(q::text, '' '' ORDER BY q::text) FROM (%s) q', query) INTO without;
	SET LOCAL bifang.enable_manifest_pruning = on;
	IF with_bounds IS DISTINCT FROM without THEN RETURN NULL; END IF;
	RETURN coalesce(with_bounds, 'nothing') || ' | ' || coalesce(pruned, 'all files');
END$$;

-- One of 500.
SELECT bifang.create_table('wb', 'wb', 't', 'id int, s text, part int', ARRAY['part']) IS NOT NULL;
CREATE FOREIGN TABLE t (id int, s text) SERVER wb;
CREATE FOREIGN TABLE parted (id int, s text, part int) SERVER wb OPTIONS ("table" 't');
INSERT INTO parted SELECT g, 'row ' || g, g / 10 FROM generate_series(10, 5009) g;
SELECT files, rows FROM bifang.commit('t');
SELECT count(*), count(DISTINCT ranges) FROM bifang.manifest('t') WHERE form = 'logical';
SELECT found('SELECT * FROM t WHERE id = 55');
SELECT plan_lines('SELECT * FROM t WHERE id = 55', true, 'Live Ledgers|Removed');
SELECT found('SELECT id FROM t WHERE s = ''row 2509''');
SELECT found('SELECT count(*) FROM t WHERE id BETWEEN 95 AND 105');
SELECT found('SELECT * FROM t WHERE id IS NULL');
SELECT found('SELECT * FROM t WHERE id IN (11, 5009, 777777)');
-- With what the lake does not know yet, of this transaction too.
BEGIN;
INSERT INTO parted VALUES (55, 'again', 5);
SELECT found('SELECT * FROM t WHERE id = 55');
SELECT rows FROM bifang.commit('t');
SELECT found('SELECT * FROM t WHERE id = 55');
ROLLBACK;
SELECT found('SELECT * FROM t WHERE id = 55');
-- In offloaded ledgers.
SELECT bifang.roll('t');
SELECT ledgers FROM bifang.offload('t');
SELECT found('SELECT * FROM t WHERE id = 55');
SELECT count(*) FROM bifang.check('t');

-- Offload files say what their blocks have, also of rows that the lake does not name.
CREATE FOREIGN TABLE o (id int, s text, came timestamptz OPTIONS (meta 'timestamp')) SERVER wb;
INSERT INTO o SELECT g, 'row ' || g FROM generate_series(1, 200000) g;
INSERT INTO o VALUES (NULL, 'the last one');
SELECT bifang.roll('o');
SELECT ledgers FROM bifang.offload('o');
CREATE FUNCTION read_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	pruned text;
	full_read text;
BEGIN
	SELECT string_agg(substring(l FROM 'entries decoded=(\d+)'), '') INTO pruned FROM plan_lines(query, true, 'Log Read') l;
	SET LOCAL bifang.enable_row_group_pruning = off;
	SELECT string_agg(substring(l FROM 'entries decoded=(\d+)'), '') INTO full_read FROM plan_lines(query, true, 'Log Read') l;
	SET LOCAL bifang.enable_row_group_pruning = on;
	RETURN CASE WHEN coalesce(pruned, '0')::int < full_read::int / 2 THEN 'less' ELSE 'all' END;
END$$;
CREATE FUNCTION n_of(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ') q' INTO n;
	RETURN n;
END$$;
SELECT q, n_of('SELECT s FROM o WHERE ' || q), read_of('SELECT s FROM o WHERE ' || q) FROM unnest(ARRAY['id = 5', 'id > 199998', 'id IS NULL', 'id = 777777',
	's > ''s'' COLLATE "C"', 'came < ''2001-01-01''', 'came > ''2001-01-01''', 'id % 2 = 0 AND s IS NULL']) q;
-- Scans that run again for other values find what they kept.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT count(o.s) FROM (SELECT (g * 7919) % 200000 + 1 AS want FROM generate_series(0, 29) g OFFSET 0) w LEFT JOIN LATERAL (SELECT s FROM o WHERE id = want OFFSET 0) o ON true;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;
SELECT count(*) FROM bifang.check('o');

-- Every type, NULL and NaN, what was cut.
CREATE FOREIGN TABLE v (k int, b bool, i2 int2, i8 int8, f4 float4, f8 float8, n numeric(9, 2), w numeric(38, 3),
	d date, t time, ts timestamp, tz timestamptz, s text, x bytea, u uuid) SERVER wb;
DO $$
BEGIN
	FOR i IN -3 .. 4 LOOP
		INSERT INTO v SELECT i * 2 + k, i < 0, i * 2 + k, (i * 2 + k) * 10000000000, i * 2 + k, i * 2 + k, i * 2 + k, (i * 2 + k) * 10 ^ 33,
			'2000-01-01'::date + i * 2 + k, '12:00'::time + (i * 2 + k) * interval '1 hour', '2000-01-01'::timestamp + (i * 2 + k) * interval '1 day',
			'2000-01-01 UTC'::timestamptz + (i * 2 + k) * interval '1 day', 'common beginning of all é' || chr(i * 2 + k + 70),
			decode('ffffffffffffffffffffffffffffffff0' || i + 4, 'hex'), ('00000000-0000-0000-0000-0000000000' || (i * 2 + k + 20))::uuid
			FROM generate_series(0, 1) k;
		INSERT INTO v (k, f8, f4) VALUES (NULL, CASE i WHEN 1 THEN 'NaN' WHEN 2 THEN '-0' WHEN 3 THEN 'Infinity' WHEN 4 THEN '-Infinity' END::float8, i);
		PERFORM bifang.commit('v');
	END LOOP;
END$$;
SELECT q, found('SELECT k FROM v WHERE ' || q) FROM unnest(ARRAY['b', 'NOT b', 'b IS NULL', 'i2 = 3', 'i8 > 80000000000',
	'f4 < -5', 'f8 = 8', 'f8 = 0', 'f8 = ''NaN''', 'f8 > 8', 'f8 < -6', 'n = 7.00', 'n = 7.01', 'w >= 9 * 10 ^ 33', 'd = ''1999-12-26''', 't = ''05:00''',
	'ts < ''1999-12-27''', 'tz > ''2000-01-09 UTC''', 's = ''common beginning of all éK''', 's < ''b'' COLLATE "C"', 's > ''d'' COLLATE "C"', 'x = ''\xffffffffffffffffffffffffffffffff07''',
	'u = ''00000000-0000-0000-0000-000000000021''', 'k IS NOT NULL AND k > 8']) q;

SELECT count(*) FROM bifang.check('v');
-- A column declared as something wider.
ALTER FOREIGN TABLE v ALTER COLUMN k TYPE bigint;
SELECT found('SELECT k FROM v WHERE k = 5');
SELECT found('SELECT k FROM v WHERE k = 5000000005');

-- Partitions, whose entries stand between each other's.
SELECT bifang.create_table('wb', 'wb', 'p', 'part int, id int, s text', ARRAY['part']) IS NOT NULL;
CREATE FOREIGN TABLE p (part int, id int, s text) SERVER wb;
INSERT INTO p SELECT g % 5, g, 's' || g FROM generate_series(1, 1000) g;
SELECT files FROM bifang.commit('p');
INSERT INTO p SELECT g % 5, g, 's' || g FROM generate_series(1001, 2000) g;
SELECT bifang.roll('p');
SELECT ledgers FROM bifang.offload('p');
SELECT files FROM bifang.commit('p');
SELECT found('SELECT * FROM p WHERE id = 700');
SELECT found('SELECT * FROM p WHERE id = 1700');
SELECT found('SELECT count(*) FROM p WHERE id > 995 AND part = 1');
SELECT count(*) FROM bifang.check('p');

DROP FOREIGN TABLE t, parted, v, p, o;
SELECT count(bifang.drop_table('wb', 'wb', table_name, true)) FROM bifang.tables WHERE namespace = 'wb';
CALL sweep();
DROP SCHEMA wb CASCADE;
DROP SERVER wb;
