-- Snapshots, times, branches and tags; what a table's metadata tells.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET datestyle = 'ISO, YMD';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rt;
SET search_path = rt, public;
CREATE SERVER rt FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
CREATE FUNCTION failure(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN regexp_replace(sqlstate || ' ' || sqlerrm, '"/[^"]*/', '"…/', 'g');
END$$;
IMPORT FOREIGN SCHEMA shop FROM SERVER rt INTO rt;
IMPORT FOREIGN SCHEMA lake LIMIT TO (mor2) FROM SERVER rt INTO rt;

SELECT operation, refs, parent_id IS NULL AS first FROM bifang.snapshots('mor2');
SELECT name, kind, snapshot_id FROM bifang.refs('mor2');
SELECT count(*), bool_and(is_current_ancestor), count(parent_id) FROM bifang.history('mor2');
SELECT content, count(*), sum(added_rows) FROM bifang.manifests('mor2') GROUP BY content ORDER BY content;
SELECT format, partition, count(*), sum(rows), sum(delete_files) FROM bifang.files('mor2') GROUP BY 1, 2 ORDER BY 1, 2;
SELECT partition, files, rows, files_with_deletes FROM bifang.partitions('mor2');

-- By setting, for tables that say nothing themselves.
SELECT snapshot_id AS first, committed_at AS first_at FROM bifang.snapshots('mor2') WHERE parent_id IS NULL \gset
SELECT count(*) FROM mor2;
SET bifang.as_of_snapshot = :first;
SELECT count(*), sum(id) FROM mor2;
SELECT sum(rows), sum(delete_files) FROM bifang.files('mor2');
SELECT failure('SELECT count(*) FROM rt.orders');
SET bifang.as_of_timestamp = '2026-11-30';
SELECT failure('SELECT count(*) FROM rt.mor2');
RESET bifang.as_of_snapshot;
SELECT failure('SELECT count(*) FROM rt.mor2');
SET bifang.as_of_timestamp = :'first_at';
SELECT count(*), sum(id) FROM mor2;
SET bifang.as_of_timestamp = 'infinity';
SELECT count(*) FROM mor2;
RESET bifang.as_of_timestamp;

-- By option.
\set mor2 :data '/lake/mor2'
CREATE FOREIGN TABLE past (id bigint, s text) SERVER rt OPTIONS (location :'mor2', as_of_snapshot :'first');
SELECT count(*), sum(id) FROM past;
SET bifang.as_of_timestamp = '2000-01-01';
SELECT count(*) FROM past;
RESET bifang.as_of_timestamp;
ALTER FOREIGN TABLE past OPTIONS (DROP as_of_snapshot, ADD ref 'main');
SELECT count(*) FROM past;
ALTER FOREIGN TABLE past OPTIONS (SET ref 'nowhere');
SELECT failure('SELECT count(*) FROM rt.past');
ALTER FOREIGN TABLE past OPTIONS (DROP ref, ADD as_of_timestamp '2026-11-30 02:07:28.5+00');
SELECT count(*) FROM past;
\set ON_ERROR_STOP 0
ALTER FOREIGN TABLE past OPTIONS (SET as_of_timestamp 'yesterdayish');
ALTER FOREIGN TABLE past OPTIONS (ADD as_of_snapshot 'x');
\set ON_ERROR_STOP 1
ALTER FOREIGN TABLE past OPTIONS (ADD ref 'main');
SELECT failure('SELECT count(*) FROM rt.past');

-- A table of our own: rows that the lake does not have yet belong to now alone.
CREATE SERVER rtw FOREIGN DATA WRAPPER bifang_fdw;
CREATE FOREIGN TABLE own (a int) SERVER rtw OPTIONS (namespace 'rt', "table" 'own');
INSERT INTO own SELECT generate_series(1, 10);
SELECT snapshot_id AS ten FROM bifang.commit('own') \gset
INSERT INTO own SELECT generate_series(11, 15);
SELECT count(*) FROM own;
SET bifang.as_of_snapshot = :ten;
SELECT count(*) FROM own;
RESET bifang.as_of_snapshot;
CREATE FOREIGN TABLE own_past (a int) SERVER rtw OPTIONS (namespace 'rt', "table" 'own', as_of_snapshot :'ten');
SELECT count(*) FROM own_past;
SELECT failure('INSERT INTO rt.own_past VALUES (1)');
SELECT name, kind FROM bifang.refs('own') ORDER BY name;

-- Paths that only the user knows.
\set map 'file:///srv/lake/t/mor2=' :mor2
ALTER FOREIGN TABLE past OPTIONS (DROP ref, DROP as_of_timestamp, ADD location_map :'map');
SELECT count(*) FROM past;
\set ON_ERROR_STOP 0
ALTER FOREIGN TABLE past OPTIONS (SET location_map 'nonsense');
\set ON_ERROR_STOP 1

SELECT bifang.drop_table('rtw', 'rt', 'own', true);
-- Nothing is left for other tests to see.
CREATE PROCEDURE sweep() LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 600 LOOP
		EXIT WHEN NOT EXISTS (SELECT FROM bifang.garbage);
		PERFORM bifang.remove_garbage();
		COMMIT;
		PERFORM pg_sleep(0.05);
		COMMIT;
	END LOOP;
END$$;
CALL sweep();
DROP SCHEMA rt CASCADE;
DROP SERVER rt CASCADE;
DROP SERVER rtw CASCADE;
