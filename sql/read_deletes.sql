-- Deleted rows, evolved tables, Avro data files, row lineage.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET datestyle = 'ISO, YMD';
\getenv data BIFANG_TEST_DATA
CREATE SCHEMA rd;
SET search_path = rd, public;
CREATE SERVER rd FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'data');
IMPORT FOREIGN SCHEMA lake FROM SERVER rd INTO rd;
SELECT relname FROM pg_class WHERE relnamespace = 'rd'::regnamespace AND relkind = 'f' ORDER BY relname COLLATE "C";

-- What a plan says of deletes, without what depends on the machine.
CREATE FUNCTION deletes(query text, run bool DEFAULT true) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE %s, COSTS off%s) %s', run::int,
		CASE WHEN run THEN ', TIMING off, SUMMARY off, BUFFERS off' END, query)
	LOOP
		IF line ~ 'Delete' THEN
			RETURN NEXT line;
		END IF;
	END LOOP;
END$$;

-- Position deletes over several row groups and updates: as Spark reads it.
SELECT count(*), sum(id), sum(g), min(s COLLATE "C"), max(s COLLATE "C") FROM mor2;
SELECT count(*) FROM mor2 WHERE g = 1 AND id % 2 = 0;
SELECT deletes('SELECT * FROM rd.mor2', false);
SELECT deletes('SELECT count(*) FROM rd.mor2');
-- No column is asked for, or only some; LIMIT; a rescan.
SELECT count(*) = (SELECT count(*) FROM (SELECT * FROM mor2 OFFSET 0) x) AS same FROM mor2;
SELECT count(*) FROM (SELECT 1 FROM mor2 LIMIT 100) x;
SELECT g, (SELECT count(*) FROM mor2 m WHERE m.g = g.g AND m.id < 100) FROM generate_series(0, 2) AS g(g);
-- ANALYZE counts what is there.
ANALYZE mor2;
SELECT reltuples FROM pg_class WHERE oid = 'mor2'::regclass;

-- Equality deletes: NULL equals NULL; keys that nobody asks for; together with position deletes.
SELECT * FROM iceberg_v2_delete_equality_nulls ORDER BY i, s;
SELECT count(*) FROM iceberg_v2_delete_equality_nulls;
SELECT * FROM iceberg_v2_delete_pos_and_multi_eq_ids ORDER BY i;
SELECT i FROM iceberg_v2_delete_pos_and_multi_eq_ids ORDER BY i;
SELECT deletes('SELECT d FROM rd.iceberg_v2_delete_pos_and_multi_eq_ids');
-- Every row that a predicate lets through is as deleted as without one.
SELECT count(*) FROM iceberg_v2_delete_pos_and_multi_eq_ids WHERE s IS NULL OR s IS NOT NULL;

-- Deletion vectors, and where rows were: row lineage of version 3.
SELECT * FROM iceberg_v3_deletion_vectors ORDER BY i;
SELECT deletes('SELECT i FROM rd.iceberg_v3_deletion_vectors');
ALTER FOREIGN TABLE iceberg_v3_deletion_vectors ADD COLUMN row_id bigint OPTIONS (meta 'row_id'),
	ADD COLUMN seq bigint OPTIONS (meta 'last_updated_sequence_number'),
	ADD COLUMN pos bigint OPTIONS (meta 'pos'), ADD COLUMN tier text OPTIONS (meta 'tier');
SELECT * FROM iceberg_v3_deletion_vectors ORDER BY i;
SELECT count(*) FROM iceberg_v3_deletion_vectors WHERE tier = 'live';
ALTER FOREIGN TABLE mor2 ADD COLUMN row_id bigint OPTIONS (meta 'row_id');
SELECT count(row_id) FROM mor2;

-- Delete files in Avro, over data files of both formats; by NULLs and text; as Spark reads them.
IMPORT FOREIGN SCHEMA dels FROM SERVER rd INTO rd;
SELECT array_agg(id ORDER BY id) FROM avro_deletes;
SELECT deletes('SELECT id FROM rd.avro_deletes');
SELECT array_agg(id ORDER BY id) FROM avro_all;
SELECT deletes('SELECT id FROM rd.avro_all');
SELECT count(*) FROM avro_all WHERE s = 's2' OR s IS NULL;
-- Others are refused by their names, whatever is asked for.
CREATE FUNCTION failure(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN sqlstate || regexp_replace(sqlerrm, '^"[^"]*":|/\S*/[^/]*$', '', 'g');
END$$;
SELECT failure('SELECT id FROM rd.orc_deletes');
SELECT failure('SELECT count(*) FROM rd.orc_deletes');
-- Keys that are members of structs: {x: 2}, {NULL}, then {s: s1, x: 1}.
SELECT array_agg(id ORDER BY id) FROM nested_keys;
SELECT count(*), count(st), count(st->>'x') FROM nested_keys;
SELECT deletes('SELECT id FROM rd.nested_keys');
-- Deletes of rows and of files that are not there: no error, but counted.
SELECT count(*), array_agg(id ORDER BY id) = array(SELECT generate_series(0, 19)::bigint EXCEPT SELECT 3 ORDER BY 1) AS right FROM dangling;
SELECT deletes('SELECT id FROM rd.dangling');

-- Columns of other times.
SELECT id, c, b_old, f, "dec", st, b FROM evolve ORDER BY id;
-- Avro data files, columns that they lack with initial defaults.
SELECT * FROM iceberg_v3_default_value_avro ORDER BY 1;
SELECT count(*) FROM iceberg_v3_default_value_avro;

DROP SCHEMA rd CASCADE;
DROP SERVER rd;
