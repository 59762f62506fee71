-- Snapshots, times, branches and tags; what a table's metadata tells.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET datestyle = 'ISO, YMD';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rt;
SET search_path = rt, public;
CREATE SERVER rt FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
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
SET bifang.as_of_timestamp = '-infinity';
SELECT failure('SELECT count(*) FROM rt.mor2');
SET bifang.as_of_timestamp = 'infinity';
SELECT count(*) FROM mor2;
SET bifang.ref = 'main';
SELECT failure('SELECT count(*) FROM rt.mor2');
RESET bifang.as_of_timestamp;
SELECT count(*) FROM mor2;
SET bifang.ref = 'nowhere';
SELECT failure('SELECT count(*) FROM rt.mor2');
RESET bifang.ref;

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

-- A table that was evolved: the snapshot's schema is read, columns of other times are found by their
-- ids. Of evolve: a is b_old now, b was dropped and another b came, c and b came later, id is wider.
\set evolve :data '/lake/evolve'
CREATE FUNCTION explained(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	what text;
	why text;
	tip text;
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS what = MESSAGE_TEXT, why = PG_EXCEPTION_DETAIL, tip = PG_EXCEPTION_HINT;
	RETURN format('%s %s | %s | %s', sqlstate, what, regexp_replace(why, '\d{10,}', 'N'), tip);
END$$;
IMPORT FOREIGN SCHEMA lake LIMIT TO (evolve) FROM SERVER rt INTO rt;
SELECT array_agg(snapshot_id ORDER BY committed_at) AS evolved FROM bifang.snapshots('evolve') \gset
SELECT (:'evolved'::bigint[])[1] AS one, (:'evolved'::bigint[])[2] AS two,
	array_length(:'evolved'::bigint[], 1) AS snapshots \gset
SELECT :snapshots AS snapshots;
SELECT id, c, b_old, f, "dec", st, b FROM evolve ORDER BY id;
-- By the ids that IMPORT wrote.
SET bifang.as_of_snapshot = :two;
SELECT id, c, b_old, f, "dec", st, b FROM evolve ORDER BY id;
SET bifang.as_of_snapshot = :one;
SELECT id, c, b_old, f, "dec", st, b FROM evolve ORDER BY id;
-- What is NULL everywhere answers predicates, joins and counts.
SELECT count(*) FROM evolve WHERE c IS NULL;
SELECT count(*) FROM evolve WHERE c IS NOT NULL OR c > '1900-01-01';
SELECT count(c), count(*) FROM evolve;
SELECT count(*) FROM evolve WHERE b = 'x' OR id = 1;
SELECT count(*) FROM evolve e JOIN (VALUES (NULL::date)) v(c) ON e.c IS NOT DISTINCT FROM v.c;
PREPARE later(date) AS SELECT count(*) FROM evolve WHERE c = $1;
EXECUTE later('2024-01-01');
SET plan_cache_mode = force_generic_plan;
EXECUTE later('2024-01-01');
RESET bifang.as_of_snapshot;
EXECUTE later('2024-01-01');
RESET plan_cache_mode;
-- By names alone: those of then, before those of now.
CREATE FOREIGN TABLE names (id bigint, a text, b_old text, b int, c date) SERVER rt
	OPTIONS (location :'evolve', as_of_snapshot :'one');
SELECT * FROM names ORDER BY id;
ALTER FOREIGN TABLE names OPTIONS (SET as_of_snapshot :'two');
SELECT * FROM names ORDER BY id;
-- The columns of both times by their ids, dropped ones too; at present those are no columns.
CREATE FOREIGN TABLE ids (id bigint, one text OPTIONS (field_id '2'), b int OPTIONS (field_id '3'),
	b2 text OPTIONS (field_id '9'), c date OPTIONS (field_id '8')) SERVER rt
	OPTIONS (location :'evolve', as_of_snapshot :'one');
SELECT * FROM ids ORDER BY id;
ALTER FOREIGN TABLE ids OPTIONS (SET as_of_snapshot :'two');
SELECT * FROM ids ORDER BY id;
ALTER FOREIGN TABLE ids OPTIONS (DROP as_of_snapshot);
SELECT count(*), count(one), count(b2) FROM ids;
SELECT explained('SELECT b FROM rt.ids');
-- Unknown columns stay errors.
ALTER FOREIGN TABLE names ADD COLUMN b_odl text, ADD COLUMN nothing_like_it int,
	ADD COLUMN z int OPTIONS (field_id '77');
SELECT explained('SELECT b_odl FROM rt.names');
SELECT explained('SELECT nothing_like_it FROM rt.names');
SELECT explained('SELECT z FROM rt.names');
ALTER FOREIGN TABLE names OPTIONS (DROP as_of_snapshot);
SELECT explained('SELECT a FROM rt.names');
SELECT explained('SELECT b_odl FROM rt.names');

-- Paths that only the user knows.
\set map 'file:///srv/lake/t/mor2=' :mor2
ALTER FOREIGN TABLE past OPTIONS (DROP ref, DROP as_of_timestamp, ADD location_map :'map');
SELECT count(*) FROM past;
\set ON_ERROR_STOP 0
ALTER FOREIGN TABLE past OPTIONS (SET location_map 'nonsense');
\set ON_ERROR_STOP 1

SELECT bifang.drop_table('rtw', 'rt', 'own', true);
CALL sweep();
DROP SCHEMA rt CASCADE;
DROP SERVER rt CASCADE;
DROP SERVER rtw CASCADE;
