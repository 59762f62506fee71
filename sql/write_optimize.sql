-- Rows that the lake names in the log become Parquet: the same rows before and after, in main.
SET client_min_messages = warning;
CREATE SCHEMA op;
SET search_path = op, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER op FOREIGN DATA WRAPPER bifang_fdw;
CREATE FUNCTION op.rows_of(t regclass, OUT n bigint, OUT sum text) LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE format('SELECT count(*), md5(string_agg(t::text, chr(10) ORDER BY t::text COLLATE "C")) FROM %s t', t) INTO n, sum; END $$;
CREATE FUNCTION op.formats(t regclass) RETURNS TABLE (format text, files bigint, rows numeric) LANGUAGE sql AS
	$$ SELECT format, count(*), sum(rows) FROM bifang.files(t) GROUP BY 1 ORDER BY 1 $$;

-- Every type, NULLs and extremes, out of offload files, closed and open ledgers and the tail.
CREATE TABLE heap (id bigint NOT NULL, b boolean, i2 smallint, i4 int, r real, f double precision, n9 numeric(9,3), n38 numeric(38,5), d date, t time,
	ts timestamp, tz timestamptz, s text, v varchar(20), c char(4), bin bytea, u uuid, j json);
CREATE FOREIGN TABLE lake (id bigint NOT NULL, b boolean, i2 smallint, i4 int, r real, f double precision, n9 numeric(9,3), n38 numeric(38,5), d date, t time,
	ts timestamp, tz timestamptz, s text, v varchar(20), c char(4), bin bytea, u uuid, j json) SERVER op;
INSERT INTO heap VALUES (1, true, 32767, 2147483647, 3.4e38, 1.7e308, 999999.999, 123456789012345678901234567890123.12345, '9999-12-31', '23:59:59.999999',
	'9999-12-31 23:59:59.999999', '0001-01-01 00:00+00', repeat('long ', 500), 'vär', 'c', '\x00ff', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '{"a": [1, null]}'),
	(2, false, -32768, -2147483648, 'NaN', '-Infinity', -999999.999, -1, '0001-01-01', '00:00', '0001-01-01', '9999-12-31 12:00+00', '', '', '', '', '00000000-0000-0000-0000-000000000000', 'null'),
	(3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
	(4, true, 0, 0, '-0', 0, 0, 0, '1970-01-01', '12:00', '1970-01-01', '1970-01-01 00:00+00', 'a', 'b', 'cccc', '\x61', '12345678-9abc-def0-1234-56789abcdef0', '1');
INSERT INTO lake SELECT * FROM heap;
SELECT rows FROM bifang.commit('lake');
SELECT bifang.roll('lake'), (bifang.offload('lake')).ledgers;
INSERT INTO lake SELECT id + 10, b, i2, i4, r, f, n9, n38, d, t, ts, tz, s, v, c, bin, u, j FROM heap;
SELECT bifang.roll('lake');
INSERT INTO lake SELECT id + 20, b, i2, i4, r, f, n9, n38, d, t, ts, tz, s, v, c, bin, u, j FROM heap;
SELECT rows FROM bifang.commit('lake');
SET bifang.tail_limit = '8kB';
INSERT INTO lake SELECT id + 30, b, i2, i4, r, f, n9, n38, d, t, ts, tz, s, v, c, bin, u, j FROM heap;
RESET bifang.tail_limit;
SELECT * FROM rows_of('lake') \gset before_
SELECT * FROM formats('lake');
SELECT snapshot_id IS NOT NULL AS snapshot, files, rows, bytes > 0 AS bytes FROM bifang.optimize('lake');
SELECT n, sum = :'before_sum' AS same FROM rows_of('lake');
SELECT * FROM formats('lake');
SELECT * FROM bifang.check('lake');
-- As often as you like; what came since goes, too.
SELECT * FROM bifang.optimize('lake');
SELECT rows FROM bifang.commit('lake');
SELECT files, rows FROM bifang.optimize('lake');
SELECT n, sum = :'before_sum' AS same FROM rows_of('lake');
SELECT * FROM formats('lake');
SELECT count(*), count(*) FILTER (WHERE s = 'a') FROM lake WHERE id IN (4, 24, 34) AND f = 0 AND tz = '1970-01-01 00:00+00';
SELECT kind, rows, files, snapshot_id IS NOT NULL AS snapshot, error FROM bifang.jobs WHERE table_name = 'lake' AND kind = 'optimize' ORDER BY job_id;
-- Main alone has all of them.
SET bifang.ref = 'main';
SELECT n, sum = :'before_sum' AS same FROM rows_of('lake');
RESET bifang.ref;

-- Partitions are files of their own, under the spec that their rows were committed with; bounds rule them out.
CREATE FOREIGN TABLE p (id int, day date, note text) SERVER op OPTIONS (partition_by 'day, truncate(2, note)');
INSERT INTO p SELECT g, '2026-01-01'::date + g % 3, CASE g % 4 WHEN 3 THEN NULL ELSE chr(97 + g % 4) || 'x' || g % 7 END FROM generate_series(1, 1200) g;
INSERT INTO p VALUES (0, NULL, NULL);
SELECT rows FROM bifang.commit('p');
SELECT * FROM rows_of('p') \gset before_
SELECT files, rows FROM bifang.optimize('p');
SELECT n, sum = :'before_sum' AS same FROM rows_of('p');
SELECT partition, rows FROM bifang.files('p') ORDER BY partition LIMIT 5;
SELECT count(*) FROM p WHERE day = '2026-01-02' AND note = 'ax0';
SELECT plan_lines($$SELECT * FROM op.p WHERE day = '2026-01-02' AND note = 'ax0'$$, true, 'Pruned|Parquet Files') AS pruned;
SELECT plan_lines($$SELECT * FROM op.p WHERE id = 1000000$$, true, 'Pruned') AS by_bounds;
SELECT * FROM bifang.check('p');

-- About as large as is asked for.
CREATE FOREIGN TABLE sized (id bigint, s text) SERVER op;
INSERT INTO sized SELECT g, md5(g::text) FROM generate_series(1, 200000) g;
SELECT rows FROM bifang.commit('sized');
SELECT files > 2 AS several, rows FROM bifang.optimize('sized', 1000000);
SELECT max(bytes) < 2500000 AS none_large, sum(rows) FROM bifang.files('sized');
SELECT count(*), count(DISTINCT s), sum(id) FROM sized;
SELECT failure($$SELECT bifang.optimize('op.sized', 0)$$) AS zero;
SELECT bifang.optimize(NULL) IS NULL AS nothing;

-- Columns of then and of now.
CREATE FOREIGN TABLE columns (id int, gone text, f real) SERVER op;
INSERT INTO columns VALUES (1, 'x', 1.5);
SELECT rows FROM bifang.commit('columns');
ALTER FOREIGN TABLE columns DROP gone, ADD gone int, ALTER f TYPE double precision, ALTER id TYPE bigint;
INSERT INTO columns VALUES (5000000000, 1e300, 7);
SELECT rows FROM bifang.commit('columns');
SELECT files, rows FROM bifang.optimize('columns');
SELECT * FROM columns ORDER BY id;
ALTER FOREIGN TABLE columns RENAME gone TO there;
SELECT * FROM columns WHERE there = 7 OR id = 1 ORDER BY id;

-- Undone with the transaction; in it, it is there.
BEGIN;
INSERT INTO sized VALUES (-1, 'mine');
SELECT rows FROM bifang.commit('sized');
SAVEPOINT s;
SELECT files, rows FROM bifang.optimize('sized');
SELECT count(*) FROM sized;
ROLLBACK TO s;
SELECT count(*) FROM sized;
SELECT files, rows FROM bifang.optimize('sized');
ROLLBACK;
SELECT count(*) FROM sized;
SELECT * FROM bifang.check('sized');

-- Back in time the rows are those of then, wherever they are now.
CREATE FOREIGN TABLE past (id int) SERVER op;
INSERT INTO past VALUES (1), (2);
SELECT snapshot_id AS first FROM bifang.commit('past') \gset
INSERT INTO past VALUES (3);
SELECT rows FROM bifang.commit('past');
SELECT rows FROM bifang.optimize('past');
SET bifang.as_of_snapshot = :'first';
SELECT count(*), sum(id) FROM past;
RESET bifang.as_of_snapshot;
SELECT count(*), sum(id) FROM past;

-- A partitioned table stands for its partitions.
CREATE TABLE parent (id int NOT NULL, v text) PARTITION BY LIST (id);
CREATE FOREIGN TABLE one PARTITION OF parent FOR VALUES IN (1) SERVER op;
CREATE FOREIGN TABLE two PARTITION OF parent FOR VALUES IN (2) SERVER op;
INSERT INTO parent SELECT 1 + g % 2, g::text FROM generate_series(1, 10) g;
SELECT rows FROM bifang.commit('parent');
SELECT snapshot_id, files, rows FROM bifang.optimize('parent');
SELECT id, count(*) FROM parent GROUP BY 1 ORDER BY 1;

-- Not of what is only read, nor by others.
SELECT metadata_location AS place FROM bifang.tables WHERE foreign_table = 'p'::regclass \gset
CREATE FOREIGN TABLE by_place (id int) SERVER op OPTIONS (location :'place');
SELECT failure($$SELECT bifang.optimize('op.by_place')$$) AS read_only;
SELECT failure($$SELECT bifang.optimize('op.heap')$$) AS no_lake_table;
CREATE ROLE op_other;
GRANT USAGE ON SCHEMA op TO op_other;
GRANT ALL ON p TO op_other;
SET ROLE op_other;
SELECT failure($$SELECT bifang.optimize('op.p')$$) AS others;
RESET ROLE;
BEGIN READ ONLY;
SELECT failure($$SELECT bifang.optimize('op.p')$$) AS read_only;
ROLLBACK;
DROP OWNED BY op_other;
DROP ROLE op_other;
SET client_min_messages = error;
DROP SCHEMA op CASCADE;
SELECT count(bifang.drop_table('op', namespace, table_name, true)) FROM bifang.tables WHERE namespace = 'op';
DROP SERVER op CASCADE;
