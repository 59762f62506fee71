-- What is outside of PostgreSQL is looked at once per snapshot: all scans of a statement see one end
-- of a log, one list of files, one version of a lake table, and in REPEATABLE READ all statements.
SET client_min_messages = warning;
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA ro;
SET search_path = ro, public;
CREATE SERVER ro FOREIGN DATA WRAPPER bifang_fdw;
SELECT current_setting('data_directory') || '/read_once' AS dir \gset
-- Runs a command on the server, for what another program does there.
CREATE FUNCTION shell(command text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('COPY (SELECT) TO PROGRAM %L', 'cat >/dev/null; ' || command);
	RETURN 0;
END$$;

-- A log of which there is at first only a part: its first batch, then all.
\set source :data '/kafka/many-0'
SELECT 12 + ('x' || encode(substr(pg_read_binary_file(:'source' || '/00000000000000000000.log', 8, 4), 1, 4),
	'hex'))::bit(32)::int AS first_batch \gset
SELECT shell(format('mkdir -p %1$s/k/many-0 && head -c %3$s %2$s/00000000000000000000.log > %1$s/k/many-0/00000000000000000000.log',
	:'dir', :'source', :'first_batch'));
\set grow 'cp ' :source '/00000000000000000000.log ' :dir '/k/many-0/'
\set shrink 'truncate -s ' :first_batch ' ' :dir '/k/many-0/00000000000000000000.log'
\set location :dir '/k/many-0'
CREATE FOREIGN TABLE k (partition int, "offset" bigint, value bytea) SERVER ro
	OPTIONS (format 'kafka_log', location :'location');
CREATE FOREIGN TABLE uncommitted ("offset" bigint) SERVER ro
	OPTIONS (format 'kafka_log', location :'location', isolation 'read_uncommitted');
SELECT count(*) AS first FROM k \gset
SELECT :first > 0 AS some;
-- Two scans of one statement, the log growing between them.
SELECT (SELECT count(*) FROM k) - :first AS before, shell(:'grow'), (SELECT count(*) FROM k) - :first AS grown,
	(SELECT count(*) FROM uncommitted) - :first AS grown_too;
-- The next statement sees it.
SELECT count(*) > :first AS grown FROM k;
SELECT shell(:'shrink');
-- A join, a function, a cursor that is read on.
CREATE FUNCTION rows_of_k() RETURNS bigint STABLE LANGUAGE plpgsql AS 'BEGIN RETURN (SELECT count(*) FROM ro.k); END';
SELECT (SELECT count(*) FROM k) - :first AS scan, shell(:'grow'), rows_of_k() - :first AS in_function;
SELECT shell(:'shrink');
SELECT rows_of_k() - :first AS in_function, shell(:'grow'), (SELECT count(*) FROM k) - :first AS scan;
SELECT shell(:'shrink');
BEGIN;
DECLARE c CURSOR FOR SELECT 1 AS scan, count(*) - :first AS grown FROM k UNION ALL SELECT 2, count(*) - :first FROM k;
FETCH 1 FROM c;
SELECT shell(:'grow');
SELECT count(*) > :first AS grown FROM k;
FETCH ALL FROM c;
CLOSE c;
COMMIT;
SELECT shell(:'shrink');
-- A loop in a function is many statements.
CREATE FUNCTION poll(grow text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	seen bigint;
	now bigint;
BEGIN
	SELECT count(*) INTO seen FROM ro.k;
	PERFORM ro.shell(grow);
	FOR i IN 1 .. 3 LOOP
		SELECT count(*) INTO now FROM ro.k;
	END LOOP;
	RETURN now - seen;
END$$;
SELECT poll(:'grow') > 0 AS grown;
SELECT shell(:'shrink');
-- One snapshot for all statements.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) - :first AS rows FROM k;
SELECT shell(:'grow');
SELECT count(*) - :first AS rows FROM k;
SELECT poll(:'grow');
COMMIT;
SELECT count(*) > :first AS rows FROM k;
SELECT shell(:'shrink');

-- Parallel processes: none scans the whole log on its own.
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT (SELECT count(*) FROM k) - :first AS before, shell(:'grow'), (SELECT count(*) FROM k) - :first AS grown;
SELECT shell(:'shrink');
CREATE TABLE heap AS SELECT i FROM generate_series(1, 20000) i;
ANALYZE heap;
EXPLAIN (COSTS off) SELECT count(*) FROM (SELECT i FROM heap UNION ALL SELECT "offset" FROM k) x;
RESET max_parallel_workers_per_gather;

-- Files of a directory.
\set copy 'mkdir -p ' :dir '/p && cp ' :data '/parquet_encodings/field_ids.parquet ' :dir '/p/a.parquet'
\set more 'cp ' :dir '/p/a.parquet ' :dir '/p/b.parquet'
SELECT shell(:'copy');
\set location :dir '/p'
CREATE FOREIGN TABLE p (a int) SERVER ro OPTIONS (format 'parquet', location :'location');
SELECT (SELECT count(*) FROM p) AS before, shell(:'more'), (SELECT count(*) FROM p) AS after;
SELECT count(*) FROM p;

-- A lake table by its location: another program commits.
\set copy 'mkdir -p ' :dir '/t && cp -r ' :data '/lake/mor2/data ' :dir '/t/ && mkdir ' :dir '/t/metadata && cd ' :data '/lake/mor2/metadata && cp *.avro v1.* v2.* ' :dir '/t/metadata/'
\set more 'cp ' :data '/lake/mor2/metadata/v*.json ' :dir '/t/metadata/'
SELECT shell(:'copy');
\set location :dir '/t'
CREATE FOREIGN TABLE t (id bigint) SERVER ro OPTIONS (location :'location');
SELECT (SELECT count(*) FROM t) AS before, shell(:'more'), (SELECT count(*) FROM t) AS after;
SELECT count(*) FROM t;

\set remove 'rm -r ' :dir
SELECT shell(:'remove');
DROP SCHEMA ro CASCADE;
DROP SERVER ro;
