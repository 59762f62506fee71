-- Snapshots expire: rows as they are stay, what is gone is an error, and properties say when.
CREATE SCHEMA expire;
SET search_path = expire;
CREATE SERVER expire FOREIGN DATA WRAPPER bifang_fdw;
CREATE FOREIGN TABLE t (i int, s text) SERVER expire;
CREATE TABLE twin (i int, s text);
CREATE FUNCTION differences() RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM ((TABLE t EXCEPT ALL TABLE twin) UNION ALL (TABLE twin EXCEPT ALL TABLE t)) d
$$;
CREATE FUNCTION add_and_commit(n int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	FOR k IN 1 .. n LOOP
		INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 10) g;
		INSERT INTO twin SELECT g, 'row ' || g FROM generate_series(1, 10) g;
		PERFORM bifang.commit('t');
		PERFORM pg_sleep(0.003);
	END LOOP;
END $$;

SELECT bifang.expire('t'), count(*) FROM t;
SELECT add_and_commit(6);
-- Main's empty snapshot, and one for each commit. None is five days old.
SELECT count(*) FROM bifang.snapshots('t');
SELECT * FROM bifang.expire('t');
SELECT min(snapshot_id) FILTER (WHERE n = 3) AS old, min(snapshot_id) FILTER (WHERE n = 6) AS young,
	min(committed_at) FILTER (WHERE n = 3) AS old_time, min(committed_at) FILTER (WHERE n = 7) AS young_time
FROM (SELECT *, row_number() OVER (ORDER BY committed_at, snapshot_id <> -1, parent_id IS NOT NULL) n FROM bifang.snapshots('t')) s \gset
SET bifang.as_of_timestamp = :'old_time';
SELECT count(*) > 0 AS then FROM t;
RESET bifang.as_of_timestamp;
SELECT * FROM bifang.expire('t', interval '0', 3);
SELECT count(*) FROM bifang.snapshots('t');
SELECT differences();
SET bifang.as_of_timestamp = :'old_time';
\set VERBOSITY sqlstate
SELECT count(*) FROM t;
SET bifang.as_of_timestamp = :'young_time';
SELECT count(*) FROM t;
RESET bifang.as_of_timestamp;
SET bifang.as_of_snapshot = :'old';
SELECT count(*) FROM t;
RESET bifang.as_of_snapshot;
\set VERBOSITY default
SELECT * FROM bifang.check('t');
-- Nothing more to do: no metadata is written.
SELECT metadata_location AS before FROM bifang.tables WHERE foreign_table = 't'::regclass \gset
SELECT * FROM bifang.expire('t', interval '0', 3);
SELECT metadata_location = :'before' AS same FROM bifang.tables WHERE foreign_table = 't'::regclass;
-- What is rolled back has not expired.
BEGIN;
SELECT * FROM bifang.expire('t', '0');
ROLLBACK;
SELECT count(*) FROM bifang.snapshots('t');

-- With each commit, where the table says so.
SELECT bifang.set_property('t', 'history.expire.max-snapshot-age-ms', '1');
SELECT bifang.set_property('t', 'history.expire.min-snapshots-to-keep', '2');
SELECT add_and_commit(5);
SELECT count(*) FROM bifang.snapshots('t');
SELECT differences();
SELECT bifang.set_property('t', 'history.expire.max-snapshot-age-ms', NULL);
SELECT add_and_commit(3);
SELECT count(*) FROM bifang.snapshots('t');
-- Older metadata files are not needed for it.
SELECT bifang.optimize('t') IS NOT NULL AS optimized;
SELECT * FROM bifang.expire('t', '0');
SELECT differences();
SELECT add_and_commit(1);
SELECT differences();
SELECT kind, rows, files > 0 AS some, error FROM bifang.jobs WHERE table_name = 't' AND namespace = 'expire' AND kind = 'expire' ORDER BY job_id;

-- What is refused.
SELECT bifang.expire('t', '-1 second');
SELECT bifang.expire('t', '100000000 years');
SELECT bifang.expire('t', NULL, 0);
SELECT bifang.set_property('t', 'bifang.covered', '');
SELECT bifang.set_property('t', '', 'x');
\set VERBOSITY sqlstate
SELECT bifang.set_property('t', 'schema.name-mapping.default', 'no JSON');
SELECT bifang.expire('twin');
\set VERBOSITY default
SELECT bifang.expire(NULL) IS NULL AS e, bifang.set_property(NULL, 'a', 'b') IS NULL AS p, bifang.set_property('t', NULL, 'b') IS NULL AS k;
SELECT differences();

-- A partitioned table stands for its partitions.
CREATE TABLE parent (i int) PARTITION BY LIST (i);
CREATE FOREIGN TABLE one PARTITION OF parent FOR VALUES IN (1) SERVER expire;
CREATE FOREIGN TABLE two PARTITION OF parent FOR VALUES IN (2) SERVER expire;
INSERT INTO parent VALUES (1), (2);
SELECT files, rows FROM bifang.commit('parent');
SELECT pg_sleep(0.003);
INSERT INTO parent VALUES (1), (2);
SELECT files, rows FROM bifang.commit('parent');
SELECT pg_sleep(0.003);
SELECT * FROM bifang.expire('parent', '0');
SELECT count(*) FROM parent;

SET client_min_messages = warning;
DROP SCHEMA expire CASCADE;
SELECT count(bifang.drop_table('expire', namespace, table_name, true)) FROM bifang.tables WHERE foreign_table IS NULL AND namespace = 'expire';
DROP SERVER expire;
