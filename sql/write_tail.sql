-- Small transactions: their rows are in bifang.tail until a larger one, roll or commit settles them.
SET client_min_messages = warning;
CREATE SCHEMA tail;
SET search_path = tail, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER tail FOREIGN DATA WRAPPER bifang_fdw;
CREATE FOREIGN TABLE t (i int, s text, at timestamptz OPTIONS (meta 'timestamp'), entry bigint OPTIONS (meta 'entry'), tier text OPTIONS (meta 'tier'), ledger bigint OPTIONS (meta 'ledger')) SERVER tail;
CREATE TABLE heap (i int, s text);
-- Rows of the tail, entries in files, and whether all is well.
CREATE FUNCTION has(OUT tail_rows bigint, OUT tail bigint, OUT ends bigint, OUT live bigint, OUT trouble text) LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM bifang.tail WHERE ledger_id IN (SELECT ledger_id FROM bifang.ledgers WHERE namespace = 'tail')),
		(SELECT coalesce(sum(end_entry - first_entry), 0) FROM bifang.tail WHERE ledger_id IN (SELECT ledger_id FROM bifang.ledgers WHERE namespace = 'tail')),
		(SELECT sum(entries) FROM bifang.ledgers WHERE namespace = 'tail' AND table_name = 't'),
		(SELECT coalesce(sum(rows), 0) FROM bifang.manifest('t') WHERE form = 'live'),
		(SELECT string_agg(what, '; ') FROM bifang.check('t'))
$$;
CREATE FUNCTION same() RETURNS boolean LANGUAGE sql AS $$
	SELECT NOT EXISTS (SELECT i, s FROM t EXCEPT ALL SELECT i, s FROM heap) AND NOT EXISTS (SELECT i, s FROM heap EXCEPT ALL SELECT i, s FROM t)
$$;
-- Off: everything is in files.
SET bifang.tail_limit = 0;
INSERT INTO t VALUES (1, 'a');
INSERT INTO heap VALUES (1, 'a');
SELECT * FROM has();
-- On.
SET bifang.tail_limit = '8kB';
INSERT INTO t VALUES (2, 'b');
INSERT INTO t VALUES (3, 'c'), (4, NULL);
COPY t (i, s) FROM stdin;
5	e
6	f
\.
INSERT INTO heap VALUES (2, 'b'), (3, 'c'), (4, NULL), (5, 'e'), (6, 'f');
SELECT * FROM has();
SELECT i, s, entry, tier FROM t ORDER BY entry;
SELECT same(), count(*), sum(i), count(s), count(DISTINCT tier) FROM t;
SELECT i FROM t WHERE entry BETWEEN 2 AND 3 ORDER BY i;
SELECT i FROM t WHERE tier = 'offload';
-- A batch has a row for each statement, numbered from where the tail began.
SELECT first_entry, end_entry, total_bytes = sum(length(batches)) OVER (ORDER BY end_entry) AS adds_up
	FROM bifang.tail WHERE ledger_id = (SELECT ledger_id FROM bifang.ledgers WHERE namespace = 'tail') ORDER BY end_entry;
-- Undone.
BEGIN;
INSERT INTO t VALUES (100, 'x');
SELECT count(*) FROM t;
ROLLBACK;
SELECT * FROM has();

-- A larger transaction settles what is there, with its own small rows, and keeps numbers and times.
SELECT i, at, entry FROM t ORDER BY entry \g /dev/null
CREATE TABLE before AS SELECT i, at, entry FROM t;
BEGIN;
INSERT INTO t VALUES (7, 'g');
SELECT * FROM has();
INSERT INTO t SELECT g, 'large ' || md5(g::text) FROM generate_series(10, 600) g;
SELECT * FROM has();
ROLLBACK;
SELECT * FROM has();
SELECT same();
INSERT INTO t SELECT g, 'large ' || md5(g::text) FROM generate_series(10, 600) g;
INSERT INTO heap SELECT g, 'large ' || md5(g::text) FROM generate_series(10, 600) g;
SELECT * FROM has();
SELECT same(), count(*) FROM (SELECT i, at, entry FROM t WHERE i < 10 INTERSECT SELECT * FROM before) x;
-- Many small statements of one transaction, too.
DO $$ BEGIN FOR g IN 1 .. 500 LOOP INSERT INTO t VALUES (g + 1000, repeat('x', 20)); END LOOP; END $$;
INSERT INTO heap SELECT g + 1000, repeat('x', 20) FROM generate_series(1, 500) g;
SELECT * FROM has();
SELECT same();

-- Savepoints: with and without settling on either side.
CREATE PROCEDURE levels(first text, second text, third text) LANGUAGE plpgsql AS $$
DECLARE
	sizes jsonb := '{"none": 0, "small": 2, "large": 400}';
	n int := (SELECT coalesce(max(i), 0) FROM heap WHERE i < 900000) + 1;
BEGIN
	INSERT INTO t SELECT n + g, md5(g::text) FROM generate_series(1, (sizes->>first)::int) g;
	INSERT INTO heap SELECT n + g, md5(g::text) FROM generate_series(1, (sizes->>first)::int) g;
	BEGIN
		INSERT INTO t SELECT 900000 + g, md5(g::text) FROM generate_series(1, (sizes->>second)::int) g;
		INSERT INTO heap SELECT 900000 + g, md5(g::text) FROM generate_series(1, (sizes->>second)::int) g;
		IF NOT same() THEN RAISE WARNING 'inside of % % %', first, second, third; END IF;
		RAISE EXCEPTION 'no' USING ERRCODE = 'P0099';
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
	END;
	IF NOT same() THEN RAISE WARNING 'after % % %', first, second, third; END IF;
	BEGIN
		INSERT INTO t SELECT n + 1000 + g, md5(g::text) FROM generate_series(1, (sizes->>third)::int) g;
		INSERT INTO heap SELECT n + 1000 + g, md5(g::text) FROM generate_series(1, (sizes->>third)::int) g;
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
	END;
	IF NOT same() THEN RAISE WARNING 'at the end of % % %', first, second, third; END IF;
END$$;
SELECT format('CALL levels(%L, %L, %L)', a, b, c) FROM unnest('{none,small,large}'::text[]) a, unnest('{small,large}'::text[]) b, unnest('{none,small,large}'::text[]) c \gexec
SELECT same(), trouble FROM has();
-- Rows of an outer statement that an inner level writes out.
CREATE FUNCTION noise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		INSERT INTO t SELECT 900000, 'noise' FROM generate_series(1, tg_argv[0]::int);
		PERFORM count(*) FROM t;
		RAISE EXCEPTION 'no' USING ERRCODE = 'P0099';
	EXCEPTION WHEN SQLSTATE 'P0099' THEN
		RETURN new;
	END;
END$$;
CREATE TABLE few (i int);
CREATE TABLE many (i int);
CREATE TRIGGER noise BEFORE INSERT ON few FOR EACH ROW EXECUTE FUNCTION noise(1);
CREATE TRIGGER noise BEFORE INSERT ON many FOR EACH ROW EXECUTE FUNCTION noise(2000);
SELECT bifang.roll('t');
BEGIN;
INSERT INTO t VALUES (20001, 'x');
WITH x AS (INSERT INTO few VALUES (20002), (20003) RETURNING i) INSERT INTO t SELECT i, 'x' FROM x;
WITH x AS (INSERT INTO many VALUES (20004), (20005) RETURNING i) INSERT INTO t SELECT i, 'x' FROM x;
INSERT INTO t VALUES (20006, 'x');
COMMIT;
INSERT INTO heap SELECT g, 'x' FROM generate_series(20001, 20006) g;
SELECT same(), tail_rows > 0 AS tail, trouble FROM has();
-- Two parts of one statement.
WITH x AS (INSERT INTO t VALUES (20010, 'x')), y AS (INSERT INTO t SELECT g, 'x' FROM generate_series(20011, 22000) g) INSERT INTO t VALUES (20009, 'x');
INSERT INTO heap SELECT g, 'x' FROM generate_series(20009, 22000) g;
SELECT same(), trouble FROM has();

-- A cursor reads what was there when it was opened, wherever that is meanwhile.
SELECT bifang.roll('t');
INSERT INTO t VALUES (30001, 'x'), (30002, 'x');
INSERT INTO heap VALUES (30001, 'x'), (30002, 'x');
BEGIN;
INSERT INTO t VALUES (30003, 'x');
DECLARE c CURSOR FOR SELECT i FROM t WHERE i >= 30000 ORDER BY i;
DECLARE d SCROLL CURSOR FOR SELECT i FROM t WHERE i >= 30000;
FETCH 1 FROM d;
INSERT INTO t SELECT g, 'x' FROM generate_series(40001, 42000) g;
SELECT tail_rows FROM has();
FETCH ALL FROM c;
FETCH ALL FROM d;
ROLLBACK;
SELECT same();

-- Commit names what is in the tail, and settles it; so does roll; offload takes what is left.
SELECT tail_rows FROM has();
SELECT rows > 0 AS committed FROM bifang.commit('t');
SELECT * FROM has();
INSERT INTO t VALUES (50001, 'x');
INSERT INTO heap VALUES (50001, 'x');
SELECT tail_rows FROM has();
SELECT bifang.roll('t');
SELECT tail_rows, live FROM has();
INSERT INTO t VALUES (50002, 'x');
INSERT INTO heap VALUES (50002, 'x');
-- Closed by hand with a tail, as by adopt().
SET client_min_messages = error;
UPDATE bifang.ledger SET state = 'c', closed_at = now() WHERE table_namespace = 'tail' AND table_name = 't' AND state = 'o';
SET client_min_messages = warning;
SELECT tail_rows, same() FROM has();
SELECT ledgers FROM bifang.offload('t');
SELECT * FROM has();
SELECT same(), count(DISTINCT tier) FROM t;
SELECT rows FROM bifang.commit('t');
SELECT same(), trouble FROM has();

-- Parallel scans and scans that run again.
INSERT INTO t VALUES (60001, 'x'), (60002, 'x');
INSERT INTO heap VALUES (60001, 'x'), (60002, 'x');
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SET max_parallel_workers_per_gather = 2;
SELECT count(*), sum(i) = (SELECT sum(i) FROM heap) AS all_rows FROM t;
RESET max_parallel_workers_per_gather;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*) FROM (VALUES (60001), (60002), (60003)) v (i), LATERAL (SELECT i FROM t WHERE t.i = v.i OFFSET 0) x;
RESET ALL;
SET client_min_messages = warning;
SET search_path = tail, public;
SET bifang.tail_limit = '8kB';

-- A partitioned table: batches of partitions, settled or not.
CREATE FOREIGN TABLE parts (i int, p text) SERVER tail OPTIONS (partition_by 'p');
INSERT INTO parts VALUES (1, 'a'), (2, 'b'), (3, 'a'), (4, NULL);
INSERT INTO parts VALUES (5, 'b');
SELECT count(*) FROM bifang.tail WHERE ledger_id IN (SELECT ledger_id FROM bifang.ledgers WHERE table_name = 'parts');
BEGIN;
SELECT files, rows FROM bifang.commit('parts');
SELECT p, count(*), sum(i) FROM parts GROUP BY p ORDER BY p;
SELECT i FROM parts WHERE p = 'b' ORDER BY i;
ROLLBACK;
INSERT INTO parts SELECT g, chr(97 + g % 3) FROM generate_series(6, 3000) g;
SELECT count(*) FROM bifang.tail WHERE ledger_id IN (SELECT ledger_id FROM bifang.ledgers WHERE table_name = 'parts');
SELECT files, rows FROM bifang.commit('parts');
SELECT p, count(*), sum(i) FROM parts GROUP BY p ORDER BY p;
SELECT * FROM bifang.check('parts');

-- One that is dropped and made again is another table, for who has written the first one.
CREATE FOREIGN TABLE again (i int) SERVER tail;
INSERT INTO again VALUES (1);
SELECT bifang.drop_table('tail', 'tail', 'again', true), bifang.create_table('tail', 'tail', 'again', 'i int') IS NOT NULL AS made;
BEGIN;
INSERT INTO again VALUES (2);
SELECT count(*) AS locked FROM pg_locks l JOIN bifang.iceberg_tables t ON l.objid::bigint = t.table_id
	WHERE l.locktype = 'advisory' AND l.objsubid = -16638 AND l.pid = pg_backend_pid() AND t.table_name = 'again' AND t.table_namespace = 'tail';
COMMIT;
SELECT * FROM again;
SELECT * FROM bifang.check('again');
SELECT bifang.drop_table('tail', 'tail', 'again', true);

-- Rows too large for a page, and a limit that lets them in.
SET bifang.tail_limit = '1MB';
INSERT INTO t SELECT 70001, string_agg(md5(g::text), '') FROM generate_series(1, 3000) g;
SELECT tail_rows, trouble FROM has();
SELECT length(s), md5(s) = (SELECT md5(string_agg(md5(g::text), '')) FROM generate_series(1, 3000) g) FROM t WHERE i = 70001;
SET bifang.tail_limit = '8kB';

-- Nobody reads or writes it but through the table.
CREATE ROLE bifang_tail_role;
GRANT USAGE ON SCHEMA tail TO bifang_tail_role;
SET ROLE bifang_tail_role;
SELECT failure(q) FROM unnest('{SELECT * FROM bifang.tail,DELETE FROM bifang.tail,INSERT INTO bifang.tail VALUES (1)}'::text[]) q;
RESET ROLE;
DROP OWNED BY bifang_tail_role;
DROP ROLE bifang_tail_role;

-- Damage is told, never passed over, in what no checksum covers too; repair leaves out what is gone.
INSERT INTO t VALUES (80001, 'x');
INSERT INTO t VALUES (80002, 'x');
INSERT INTO t VALUES (80003, 'x');
SELECT ledger_id FROM bifang.ledgers WHERE namespace = 'tail' AND table_name = 't' AND state = 'open' \gset
SELECT max(end_entry) - 1 AS damaged FROM bifang.tail WHERE ledger_id = :ledger_id \gset
UPDATE bifang.tail SET batches = set_byte(batches, length(batches) - 3, get_byte(batches, length(batches) - 3) # 1) WHERE ledger_id = :ledger_id AND end_entry = :damaged;
SELECT count(*) > 0 AS told FROM bifang.check('t');
UPDATE bifang.tail SET batches = set_byte(batches, 7, get_byte(batches, 7) # 1) WHERE ledger_id = :ledger_id AND end_entry = :damaged + 1;
SELECT substring(failure(format('SELECT i FROM t WHERE ledger = %s AND entry = %s', :ledger_id, :damaged)) FROM 'a row .* entry');
UPDATE bifang.tail SET batches = set_byte(batches, 7, get_byte(batches, 7) # 1) WHERE ledger_id = :ledger_id AND end_entry = :damaged + 1;
SELECT i FROM t WHERE ledger = :ledger_id AND entry = :damaged;
SELECT regexp_replace(what, '\m[0-9a-f]{8}\M|[0-9a-f]*\d[0-9a-f]*', 'N', 'g') FROM bifang.check('t');
SELECT regexp_replace(failure('SELECT count(s) FROM t'), '\m[0-9a-f]{8}\M|[0-9a-f]*\d[0-9a-f]*', 'N', 'g');
INSERT INTO t SELECT g, 'x' FROM generate_series(81000, 83000) g;
SELECT last_entry - first_entry AS more FROM bifang.repair('t');
SELECT count(*) FROM t WHERE i > 80000;
SELECT * FROM bifang.check('t');
SELECT bifang.offload('t') IS NOT NULL;
SELECT count(*) FROM t WHERE i > 80000;

-- Gone with the table.
SELECT bifang.drop_table('tail', 'tail', 't', true), bifang.drop_table('tail', 'tail', 'parts', true);
SELECT count(*) FROM bifang.tail WHERE ledger_id NOT IN (SELECT ledger_id FROM bifang.ledger);
CALL sweep();
DROP SCHEMA tail CASCADE;
DROP SERVER tail CASCADE;
