-- ALTER of a foreign table's columns is one of the lake table's: in the same transaction, by field
-- ids, over rows in every tier, and what Iceberg can't do fails there.
SET client_min_messages = warning;
CREATE SCHEMA evolve;
SET search_path = evolve, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER evolve FOREIGN DATA WRAPPER bifang_fdw;
CREATE FUNCTION evolve.lake_columns(t regclass) RETURNS TABLE (id int, name text, type text, required boolean) LANGUAGE sql AS $$
	SELECT (f->>'id')::int, f->>'name', f->>'type', (f->>'required')::boolean
	FROM bifang.tables b, pg_read_file(regexp_replace(b.metadata_location, '^file:/*', '/')) m, jsonb_array_elements(m::jsonb->'schemas') s, jsonb_array_elements(s->'fields') f
	WHERE b.foreign_table = t AND s->'schema-id' = m::jsonb->'current-schema-id' $$;

-- Rows of each schema in each tier: Avro in an offload file, in closed and open ledgers, in the tail.
CREATE FOREIGN TABLE t (id int NOT NULL, a text, f real, n numeric(6,2), gone int) SERVER evolve;
INSERT INTO t VALUES (1, 'one', 1.5, 2.25, 7), (2, NULL, 2.5, 3, 8);
SELECT snapshot_id AS first FROM bifang.commit('t') \gset
SELECT bifang.roll('t'), (bifang.offload('t')).ledgers;
SET client_min_messages = notice;
ALTER FOREIGN TABLE t ADD COLUMN c bigint, DROP COLUMN gone, ALTER id TYPE bigint, ALTER f TYPE double precision, ALTER n TYPE numeric(12,2);
SET client_min_messages = warning;
INSERT INTO t VALUES (30000000000, 'three', 1e300, 1234567890.25, 30);
SELECT bifang.roll('t');
ALTER TABLE t RENAME COLUMN a TO b;
INSERT INTO t VALUES (4, 'four', 4, 4, 40);
SELECT * FROM t ORDER BY id;
SELECT * FROM lake_columns('t');

-- A name that comes back is another column: no old values.
ALTER FOREIGN TABLE t ADD gone int;
SELECT id, gone FROM t ORDER BY id;
-- A schema that the table had is taken up again.
ALTER FOREIGN TABLE t DROP gone;
SELECT count(DISTINCT s->'schema-id') AS schemas, count(*) FILTER (WHERE s->'schema-id' = m::jsonb->'current-schema-id') AS current, (m::jsonb->>'last-column-id')::int AS last_id
FROM bifang.tables b, pg_read_file(regexp_replace(b.metadata_location, '^file:/*', '/')) m, jsonb_array_elements(m::jsonb->'schemas') s WHERE foreign_table = 't'::regclass GROUP BY m;

-- NOT NULL counts for all rows, and only what is said now counts.
SELECT failure('ALTER FOREIGN TABLE evolve.t ALTER b SET NOT NULL') AS nulls;
SET bifang.as_of_timestamp = '1971-01-01';
SELECT failure('ALTER FOREIGN TABLE evolve.t ALTER b SET NOT NULL') AS nulls_now;
RESET bifang.as_of_timestamp;
SELECT failure('ALTER FOREIGN TABLE evolve.t ADD d int NOT NULL') AS rows;
ALTER FOREIGN TABLE t ALTER f SET NOT NULL, ALTER id DROP NOT NULL;
SELECT name, required FROM lake_columns('t');
SELECT failure('INSERT INTO evolve.t VALUES (5, NULL, NULL, 1, 1)') AS required;
INSERT INTO t VALUES (NULL, 'no id', 5, 5, 50);
CREATE FOREIGN TABLE empty (a int) SERVER evolve;
ALTER FOREIGN TABLE empty ADD d int NOT NULL, ALTER a SET NOT NULL;
SELECT name, required FROM lake_columns('empty');

-- What Iceberg can't do.
SELECT what, failure('ALTER FOREIGN TABLE evolve.t ' || what) FROM (VALUES ('ALTER id TYPE int'), ('ALTER b TYPE bigint'), ('ALTER n TYPE numeric(12,3)'),
	('ALTER n TYPE numeric(11,2)'), ('ALTER f TYPE real'), ('ADD x point'), ('ADD x int[]'), ('ADD x numeric'), ('ALTER c TYPE numeric(30,2)')) AS s (what);
SELECT failure('ALTER FOREIGN TABLE evolve.empty DROP a, DROP d') AS last_column;
ALTER FOREIGN TABLE t ALTER b TYPE varchar(10);
SELECT name, type FROM lake_columns('t');

-- Partitions are told by columns.
CREATE FOREIGN TABLE p (k int, day date, v int) SERVER evolve OPTIONS (partition_by 'day, bucket(4, k)');
INSERT INTO p VALUES (1, '2026-01-01', 1), (2, '2026-01-02', 2);
SELECT rows FROM bifang.commit('p');
SELECT failure('ALTER FOREIGN TABLE evolve.p DROP day') AS partitions;
SELECT failure('ALTER FOREIGN TABLE evolve.p RENAME day TO d') AS option;
ALTER FOREIGN TABLE p OPTIONS (DROP partition_by);
ALTER FOREIGN TABLE p RENAME day TO d;
ALTER FOREIGN TABLE p ALTER k TYPE bigint;
INSERT INTO p VALUES (1, '2026-01-01', 3), (3000000000, '2026-01-03', 4);
SELECT rows FROM bifang.commit('p');
SELECT * FROM p WHERE d = '2026-01-01' AND k = 1 ORDER BY v;
SELECT * FROM p WHERE k = 3000000000;
SELECT * FROM bifang.check('p');

-- Undone with the transaction, and visible in it.
BEGIN;
ALTER FOREIGN TABLE t DROP c, ADD c date;
INSERT INTO t (id, f, c) VALUES (6, 6, '2026-06-06');
SELECT id, c FROM t WHERE f = 6;
SAVEPOINT s;
ALTER FOREIGN TABLE t RENAME c TO c2;
ROLLBACK TO s;
ALTER FOREIGN TABLE t ADD e int;
SELECT name FROM lake_columns('t');
ROLLBACK;
SELECT name FROM lake_columns('t');
SELECT id, c FROM t ORDER BY id;

-- Back in time the columns are those of then, whatever they were called.
SELECT rows FROM bifang.commit('t');
SET bifang.as_of_snapshot = :'first';
SELECT * FROM t;
RESET bifang.as_of_snapshot;

-- Another foreign table of the same lake table; a column that the lake has already is bound.
CREATE FOREIGN TABLE other (id bigint) SERVER evolve OPTIONS ("table" 't');
SET client_min_messages = notice;
ALTER FOREIGN TABLE other ADD c int;
ALTER FOREIGN TABLE other ADD twice bigint OPTIONS (column_name 'c');
ALTER FOREIGN TABLE other DROP twice;
SET client_min_messages = warning;
SELECT name FROM lake_columns('t');
SELECT id, c FROM other WHERE id = 4;
SELECT failure('ALTER FOREIGN TABLE evolve.other ADD b int') AS type;
SELECT failure($$ALTER FOREIGN TABLE evolve.other ADD z int OPTIONS (field_id '77')$$) AS id;
-- The name in the lake is the option's: the column's own is nobody's matter.
ALTER FOREIGN TABLE other ADD named text OPTIONS (column_name 'in the lake');
ALTER FOREIGN TABLE other RENAME named TO unnamed;
SELECT name FROM lake_columns('t');
ALTER FOREIGN TABLE other DROP unnamed;
SELECT name FROM lake_columns('t');

-- Not with bifang.create_on_ddl off, nor of tables that are only read.
SET bifang.create_on_ddl = off;
ALTER FOREIGN TABLE other DROP c;
RESET bifang.create_on_ddl;
SELECT name FROM lake_columns('t');
SELECT metadata_location AS place FROM bifang.tables WHERE foreign_table = 'p'::regclass \gset
CREATE FOREIGN TABLE by_place (k bigint, v int) SERVER evolve OPTIONS (location :'place');
ALTER FOREIGN TABLE by_place DROP v, ADD d date;
SELECT * FROM by_place ORDER BY k, d;
SELECT name FROM lake_columns('p');

-- Parents reach their partitions.
CREATE TABLE parent (id int NOT NULL, v text) PARTITION BY LIST (id);
CREATE FOREIGN TABLE one PARTITION OF parent FOR VALUES IN (1) SERVER evolve;
CREATE FOREIGN TABLE two PARTITION OF parent FOR VALUES IN (2) SERVER evolve;
CREATE TABLE three PARTITION OF parent FOR VALUES IN (3);
INSERT INTO parent VALUES (1, 'a'), (2, 'b'), (3, 'c');
ALTER TABLE parent ADD w int;
ALTER TABLE parent RENAME v TO u;
INSERT INTO parent VALUES (1, 'aa', 11), (2, 'bb', 22), (3, 'cc', 33);
SELECT * FROM parent ORDER BY id, u;
SELECT string_agg(name, ' ' ORDER BY id) AS one FROM lake_columns('one');
ALTER TABLE parent DROP w;
SELECT string_agg(name, ' ' ORDER BY id) AS two FROM lake_columns('two');

-- A command that fails leaves nothing behind, nor does one inside of another.
CREATE TABLE heap (id int);
DO $$ BEGIN
	FOR i IN 1..3 LOOP
		BEGIN ALTER FOREIGN TABLE evolve.t ADD bad point; EXCEPTION WHEN OTHERS THEN NULL; END;
		ALTER TABLE evolve.heap ADD x int;
		ALTER TABLE evolve.heap DROP x;
	END LOOP;
END $$;
SELECT name FROM lake_columns('t');
SELECT * FROM bifang.check('t');

-- For its owner alone.
CREATE ROLE evolve_other;
GRANT USAGE ON SCHEMA evolve TO evolve_other;
GRANT ALL ON t TO evolve_other;
SET ROLE evolve_other;
ALTER FOREIGN TABLE evolve.t ADD stolen int;
RESET ROLE;
SELECT name FROM lake_columns('t');
DROP OWNED BY evolve_other;
DROP ROLE evolve_other;
SET client_min_messages = error;
DROP SCHEMA evolve CASCADE;
DROP SERVER evolve CASCADE;
