-- From the log into the lake: commit, roll, offload, check, garbage; rollback of each.
SET client_min_messages = warning;
CREATE SERVER wl FOREIGN DATA WRAPPER bifang_fdw;
CREATE SCHEMA wl;
SET search_path = wl, public;
CREATE FOREIGN TABLE t (id int, s text) SERVER wl;
CREATE VIEW state AS SELECT (SELECT count(*) FROM t) AS n, (SELECT sum(id) FROM t) AS sum,
	(SELECT string_agg(state || ':' || entries, ' ' ORDER BY ledger_id) FROM bifang.ledgers WHERE namespace = 'wl' AND table_name = 't') AS ledgers,
	(SELECT count(*) FROM bifang.check('t')) AS troubles;
-- What other tests have left to remove.
SELECT count(*) AS others FROM bifang.garbage \gset

-- Nothing to do.
SELECT * FROM bifang.commit('t');
SELECT bifang.roll('t');
SELECT * FROM bifang.offload('t');
SELECT * FROM state;

INSERT INTO t SELECT g, 'row ' || g FROM generate_series(1, 10000) g;
SELECT * FROM state;
SELECT snapshot_id > 0 AS has_snapshot, files, rows FROM bifang.commit('t');
SELECT * FROM bifang.commit('t');
SELECT * FROM state;

-- Commit and insert in one transaction, rolled back.
BEGIN;
INSERT INTO t SELECT g, 'row ' || g FROM generate_series(10001, 11000) g;
SELECT files, rows FROM bifang.commit('t');
SELECT * FROM state;
INSERT INTO t VALUES (11001, 'more');
SAVEPOINT s;
SELECT files, rows FROM bifang.commit('t');
ROLLBACK TO s;
SELECT * FROM state;
ROLLBACK;
SELECT * FROM state;

-- The same, committed.
BEGIN;
INSERT INTO t SELECT g, 'row ' || g FROM generate_series(10001, 11000) g;
SELECT files, rows FROM bifang.commit('t');
INSERT INTO t VALUES (11001, 'more');
COMMIT;
SELECT * FROM state;

-- Roll, with rows after it; rolled back, then for good.
BEGIN;
SELECT bifang.roll('t');
INSERT INTO t VALUES (11002, 'next ledger');
SELECT * FROM state;
SELECT ledgers, entries, bytes > 0 AS some FROM bifang.offload('t');
SELECT * FROM state;
ROLLBACK;
SELECT * FROM state;
SELECT bifang.roll('t');
INSERT INTO t VALUES (11002, 'next ledger');
SELECT * FROM state;
SELECT ledgers, entries, bytes > 0 AS some FROM bifang.offload('t');
SELECT * FROM state;
-- Committing rows that were offloaded before the lake named them.
SELECT files, rows FROM bifang.commit('t');
SELECT * FROM state;

-- Everything in one transaction.
BEGIN;
INSERT INTO t SELECT g, 'x' FROM generate_series(11003, 12000) g;
SELECT bifang.roll('t');
SELECT ledgers, entries FROM bifang.offload('t');
SELECT files, rows FROM bifang.commit('t');
SELECT * FROM state;
COMMIT;
SELECT * FROM state;

-- Live files of offloaded ledgers go once nobody can see them: autovacuum may still look.
CREATE PROCEDURE sweep() LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1..2400 LOOP
		PERFORM bifang.remove_garbage();
		EXIT WHEN NOT EXISTS (SELECT FROM bifang.garbage);
		PERFORM pg_sleep(0.05);
	END LOOP;
END $$;
SELECT count(*) - :others AS count FROM bifang.garbage;
CALL sweep();
SELECT count(*) FROM bifang.garbage;
SELECT * FROM state;

-- A ledger closes by itself when it is full.
SET bifang.ledger_size_max = '64kB';
INSERT INTO t SELECT g, md5(g::text) FROM generate_series(12001, 20000) g;
INSERT INTO t VALUES (20001, 'x');
SELECT * FROM state;
RESET bifang.ledger_size_max;
SELECT bifang.roll('t');
SELECT ledgers, entries FROM bifang.offload('t');
SELECT files, rows FROM bifang.commit('t');
SELECT * FROM state;

-- What was done is on record.
SELECT kind, sum(rows) AS rows FROM bifang.jobs WHERE namespace = 'wl' GROUP BY 1 ORDER BY 1;
SELECT count(*) = count(DISTINCT ledger_id) AS pruned FROM bifang.append
	WHERE ledger_id IN (SELECT ledger_id FROM bifang.ledger WHERE table_namespace = 'wl' AND state <> 'o');

-- Partitioned, offloaded before commit: partitions are found in the offload file.
CREATE FOREIGN TABLE p (id int, s text) SERVER wl OPTIONS (partition_by 'bucket(3, id)');
INSERT INTO p SELECT g, 'x' FROM generate_series(1, 100) g;
SELECT bifang.roll('p');
SELECT ledgers, entries FROM bifang.offload('p');
SELECT files, rows FROM bifang.commit('p');
SELECT count(*), sum(id) FROM p;
SELECT * FROM bifang.check('p');

-- A transaction that must not write does none of it; looking is allowed.
BEGIN READ ONLY;
SELECT * FROM bifang.check('p');
SAVEPOINT s;
SELECT bifang.commit('p');
ROLLBACK TO s;
SELECT bifang.roll('p');
ROLLBACK TO s;
SELECT bifang.offload('p');
ROLLBACK TO s;
SELECT bifang.remove_garbage();
ROLLBACK TO s;
SELECT bifang.create_table('wl', 'wl', 'x', 'i int');
ROLLBACK TO s;
SELECT bifang.drop_table('wl', 'wl', 'p');
ROLLBACK TO s;
SELECT bifang.register_table('wl', 'wl', 'x', '/x');
ROLLBACK;

-- Only the owner works on a table; anyone who may insert inserts, anyone who may read reads.
CREATE ROLE bifang_wl_owner;
CREATE ROLE bifang_wl_user;
GRANT USAGE ON SCHEMA wl TO bifang_wl_owner, bifang_wl_user;
GRANT CREATE ON SCHEMA wl TO bifang_wl_owner;
GRANT USAGE ON FOREIGN SERVER wl TO bifang_wl_owner;
SET ROLE bifang_wl_owner;
CREATE FOREIGN TABLE owned (id int) SERVER wl;
GRANT SELECT, INSERT ON owned TO bifang_wl_user;
SET ROLE bifang_wl_user;
INSERT INTO owned VALUES (1), (2);
SELECT * FROM owned ORDER BY 1;
SELECT bifang.commit('owned');
SELECT bifang.roll('owned');
SELECT bifang.offload('owned');
SELECT bifang.check('owned');
SELECT bifang.remove_garbage();
SELECT bifang.drop_table('wl', 'wl', 'owned');
SELECT bifang.create_table('wl', 'wl', 'other', 'id int');
SELECT bifang.register_table('wl', 'wl', 'other', '/etc');
SELECT count(*) FROM bifang.append;
INSERT INTO bifang.iceberg_tables VALUES ('x', 'y', 'z');
SELECT metadata_location IS NULL AS hidden FROM bifang.tables WHERE table_name = 'owned';
SET ROLE bifang_wl_owner;
SELECT files, rows FROM bifang.commit('owned');
SELECT * FROM bifang.check('owned');
SELECT bifang.drop_table('wl', 'wl', 'owned');
RESET ROLE;

-- Dropping a lake table: the files stay, or go; the foreign table then has nothing to show.
SELECT bifang.drop_table('wl', 'wl', 'owned');
SELECT * FROM owned;
SELECT regexp_replace(metadata_location, 'file://(.*)/metadata/.*', '\1') AS dir FROM bifang.tables
	WHERE namespace = 'wl' AND table_name = 'p' \gset
SELECT bifang.drop_table('wl', 'wl', 'p', true);
SELECT count(*) FROM bifang.ledgers WHERE table_name = 'p' AND namespace = 'wl';
CALL sweep();
SELECT count(*) FROM bifang.garbage;
SELECT pg_stat_file(:'dir', true) IS NULL AS gone;
SELECT bifang.drop_table('wl', 'wl', 'p');
-- The name is free again; another table gets it.
DROP FOREIGN TABLE p;
CREATE FOREIGN TABLE p (other text) SERVER wl;
INSERT INTO p VALUES ('x');
SELECT * FROM p;
SELECT * FROM bifang.check('p');

-- A table taken out of the catalog and adopted again has its log, too.
SELECT metadata_location AS location FROM bifang.tables WHERE namespace = 'wl' AND table_name = 't' \gset
\set VERBOSITY terse
SELECT bifang.register_table('wl', 'wl', 't2', :'location');
\set VERBOSITY default
SELECT bifang.drop_table('wl', 'wl', 't');
SELECT bifang.register_table('wl', 'wl', 't', :'location') IS NOT NULL AS registered;
SELECT * FROM state;
INSERT INTO t VALUES (0, 'x');
SELECT files, rows FROM bifang.commit('t');
SELECT * FROM state;

-- Without any commit: one row of a ledger's ends is left once its bytes were read, which closing does
-- not, and its offload file is found by what the catalog has of it.
CREATE FOREIGN TABLE ends (id int) SERVER wl;
INSERT INTO ends VALUES (1);
INSERT INTO ends VALUES (2);
INSERT INTO ends VALUES (3);
CREATE VIEW end_rows AS SELECT count(*) FROM bifang.append a JOIN bifang.ledger l USING (ledger_id) WHERE l.table_namespace = 'wl' AND l.table_name = 'ends';
SELECT * FROM end_rows;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT bifang.roll('ends');
SELECT count(*) FROM ends;
COMMIT;
SELECT * FROM end_rows;
SELECT count(*) FROM ends;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT ledgers FROM bifang.offload('ends');
SELECT count(*) FROM ends;
COMMIT;
SELECT * FROM end_rows;
SELECT count(*) FROM ends;
SELECT f.entries FROM bifang.ledger l, bifang.offload_file(l.offload_path) f WHERE l.table_namespace = 'wl' AND l.table_name = 'ends';

-- Rows that no commit could take are refused when they come.
\getenv data BIFANG_TEST_DATA
SELECT bifang.register_table('wl', 'wl', 'v3', 'file://' || :'data' || '/lake/iceberg_v3_deletion_vectors/metadata/v3.metadata.json') IS NOT NULL AS registered;
IMPORT FOREIGN SCHEMA wl LIMIT TO (v3) FROM SERVER wl INTO wl;
SELECT count(*) > 0 AS rows FROM v3;
INSERT INTO v3 DEFAULT VALUES;
SELECT count(*) AS ledgers FROM bifang.ledgers WHERE namespace = 'wl' AND table_name = 'v3';
DROP FOREIGN TABLE v3;
SELECT bifang.drop_table('wl', 'wl', 'v3', false);

-- Found by its location it is read only.
SELECT replace(:'location', 'file://', '') AS path \gset
CREATE FOREIGN TABLE by_path (id int, s text) SERVER wl OPTIONS (location :'path');
INSERT INTO by_path VALUES (1, 'x');
SELECT bifang.commit('by_path');
-- It shows what that metadata file names: the log belongs to the catalog's current one only.
INSERT INTO t VALUES (99, 'live');
SELECT (SELECT count(*) FROM t) - (SELECT count(*) FROM by_path) AS younger_rows,
	(SELECT count(*) FROM bifang.manifest('by_path') WHERE form = 'live') AS live_ranges;
SELECT bifang.commit('t') IS NOT NULL AS committed;
SELECT bifang.commit('state');

-- A table outside of the warehouse: whoever writes it to the lake needs the role for that.
CREATE SERVER wl2 FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '/nowhere');
SELECT bifang.drop_table('wl', 'wl', 't');
SELECT bifang.register_table('wl2', 'wl', 't', :'location') IS NOT NULL AS registered;
CREATE FOREIGN TABLE outside (id int, s text) SERVER wl2 OPTIONS ("table" 't');
GRANT pg_read_server_files TO bifang_wl_owner;
ALTER FOREIGN TABLE outside OWNER TO bifang_wl_owner;
\set VERBOSITY sqlstate
SELECT bifang.commit('outside');
INSERT INTO outside VALUES (1, 'x');
GRANT pg_write_server_files TO bifang_wl_owner;
INSERT INTO outside VALUES (1, 'x');
SELECT rows > 0 AS some FROM bifang.commit('outside');
\set VERBOSITY default

-- A creation that is rolled back leaves no row, and its name free.
BEGIN;
CREATE FOREIGN TABLE undone (id int) SERVER wl;
INSERT INTO undone VALUES (1);
SELECT * FROM undone;
ROLLBACK;
CREATE FOREIGN TABLE undone (id int) SERVER wl;
SELECT * FROM undone;
SET bifang.create_on_ddl = off;
CREATE FOREIGN TABLE unmade (id int) SERVER wl;
SELECT * FROM unmade;
INSERT INTO unmade VALUES (1);
RESET bifang.create_on_ddl;

DROP SCHEMA wl CASCADE;
DROP SERVER wl, wl2;
DROP ROLE bifang_wl_owner, bifang_wl_user;
