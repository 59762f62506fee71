-- What other programs get to see: tables made, filled and committed to the lake through SQL.
--   psql -v lake=DIRECTORY -f fill.sql
CREATE EXTENSION bifang_fdw;
CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse :'lake');
CREATE SCHEMA sales;
-- Whom PyIceberg connects as: the two standard tables and nothing else.
CREATE ROLE engine LOGIN;
GRANT USAGE ON SCHEMA bifang TO engine;
GRANT SELECT, INSERT, UPDATE, DELETE ON bifang.iceberg_tables, bifang.iceberg_namespace_properties TO engine;
SET search_path = sales;

-- Every type, with NULLs, and the columns that tell where a row is.
CREATE FOREIGN TABLE every (
	id bigint NOT NULL, b boolean, i2 smallint, i int, f real, d double precision, n numeric(12,2),
	n38 numeric(38,10), day date, t time, ts timestamp, tz timestamptz, s text, y bytea, u uuid) SERVER lake;
ALTER FOREIGN TABLE every ADD COLUMN tier text OPTIONS (meta 'tier');
INSERT INTO every (id, b, i2, i, f, d, n, n38, day, t, ts, tz, s, y, u)
SELECT g, g % 2 = 0, g % 100, g, g / 2.0, g / 4.0, g / 100.0, g / 1e10, date '1969-12-25' + g,
	time '00:00:00.000001' + g * interval '1 s', timestamp '1969-12-31 23:59:59.999999' + g * interval '1 h',
	timestamptz '1969-12-31 23:59:59.999999+00' + g * interval '1 h', 'row ' || g, decode('00ff', 'hex'), md5(g::text)::uuid
FROM generate_series(1, 100) g;
INSERT INTO every (id) VALUES (0);

-- Partitions of each kind.
CREATE FOREIGN TABLE parts (id int, day date, ts timestamptz, name text, amount numeric(10,2)) SERVER lake
	OPTIONS (partition_by 'bucket(4, id), month(day), truncate(2, name)');
INSERT INTO parts SELECT g, date '2026-01-01' + g % 60, '2026-01-01 12:00+00', chr(65 + g % 3) || g, g / 100.0
FROM generate_series(1, 1000) g;
INSERT INTO parts VALUES (NULL, NULL, NULL, NULL, NULL);

-- Logs in all states. A large one has an index of more than its warm 8192 bytes.
CREATE FOREIGN TABLE large (id int, s text) SERVER lake;
BEGIN;
INSERT INTO large SELECT g, md5(g::text) || md5((-g)::text) || md5((g * 7)::text) FROM generate_series(1, 150000) g;
SAVEPOINT s;
INSERT INTO large SELECT g, md5(g::text) FROM generate_series(1, 5000) g;
ROLLBACK TO s;
INSERT INTO large VALUES (0, 'after a savepoint');
COMMIT;
BEGIN;
INSERT INTO large SELECT g, 'gone' FROM generate_series(1, 5000) g;
ROLLBACK;
INSERT INTO large VALUES (-1, 'after an abort');
CREATE FOREIGN TABLE small (id int) SERVER lake;
INSERT INTO small VALUES (1);
INSERT INTO small VALUES (NULL);
SELECT bifang.roll('small');
INSERT INTO small VALUES (2);
CREATE FOREIGN TABLE many (id int, s text) SERVER lake;
DO $$ BEGIN FOR i IN 1 .. 2000 LOOP INSERT INTO many VALUES (i, repeat('x', i)); END LOOP; END $$;
CREATE FOREIGN TABLE rolled (id int, s text) SERVER lake;
SET bifang.ledger_size_max = '64kB';
INSERT INTO rolled SELECT g, md5(g::text) FROM generate_series(1, 5000) g;
INSERT INTO rolled SELECT g, md5(g::text) FROM generate_series(1, 5000) g;
INSERT INTO rolled VALUES (1, 'x');
RESET bifang.ledger_size_max;

SELECT bifang.commit(t) FROM unnest('{every,parts,small}'::regclass[]) t;
SELECT count(*) = 0 AS well FROM unnest('{every,parts,large,small,many,rolled}'::regclass[]) t, bifang.check(t) \gset
\if :well
\else
\echo bifang.check has findings
SELECT 1 / 0;
\endif
