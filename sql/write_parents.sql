-- commit, roll, offload and check of a partitioned table: of all its partitions that are lake tables.
SET client_min_messages = warning;
CREATE SCHEMA parents;
SET search_path = parents, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
\set ECHO all
CREATE ROLE bifang_parents_owner;
CREATE ROLE bifang_parents_other;
GRANT USAGE, CREATE ON SCHEMA parents TO bifang_parents_owner, bifang_parents_other;
CREATE SERVER parents FOREIGN DATA WRAPPER bifang_fdw;
GRANT USAGE ON FOREIGN SERVER parents TO bifang_parents_owner, bifang_parents_other;

SET ROLE bifang_parents_owner;
CREATE TABLE p (id int, s text) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100) SERVER parents;
CREATE TABLE heap PARTITION OF p FOR VALUES FROM (100) TO (200);
CREATE TABLE sub PARTITION OF p FOR VALUES FROM (200) TO (400) PARTITION BY RANGE (id);
CREATE FOREIGN TABLE sub1 PARTITION OF sub FOR VALUES FROM (200) TO (300) SERVER parents;
CREATE FOREIGN TABLE "Sub 2" PARTITION OF sub FOR VALUES FROM (300) TO (400) SERVER parents;

-- Nothing to do.
SELECT * FROM bifang.commit('p');
SELECT bifang.roll('p');
SELECT * FROM bifang.offload('p');
SELECT * FROM bifang.check('p');

-- One partition has rows: its snapshot.
INSERT INTO p SELECT g, 'x' FROM generate_series(0, 99) g;
INSERT INTO p VALUES (100, 'heap');
SELECT * FROM bifang.commit('p') \gset
SELECT :files AS files, :rows AS rows, snapshot_id = :snapshot_id AS of_p1 FROM bifang.refs('p1') WHERE name = 'bifang';
-- Several: sums.
INSERT INTO p SELECT g, 'x' FROM generate_series(100, 399) g;
INSERT INTO p SELECT g, 'y' FROM generate_series(0, 9) g;
SELECT * FROM bifang.commit('p');
SELECT * FROM bifang.commit('p');
BEGIN;
SELECT bifang.roll('p');
SELECT bifang.roll('p');
ROLLBACK;
-- A part of it alone.
SELECT bifang.roll('sub', true);
SELECT ledgers, entries, bytes > 0 AS bytes FROM bifang.offload('sub');
SELECT bifang.roll('p', wait => true);
SELECT ledgers, entries, bytes > 0 AS bytes FROM bifang.offload('p');
SELECT * FROM bifang.check('p');
SELECT count(*), sum(id), count(DISTINCT tableoid) AS tables FROM p;
SELECT kind, table_name, rows, files FROM bifang.jobs WHERE table_name IN ('p1', 'sub1', 'Sub 2') AND namespace = 'parents' ORDER BY started_at, table_name COLLATE "C";

-- The subject says which partition; that of a single table stays as it was.
RESET ROLE;
UPDATE bifang.ledger SET offload_path = offload_path || '.gone' WHERE table_namespace = 'parents' AND table_name IN ('Sub 2', 'p1');
SELECT severity, regexp_replace(subject, '\d+$', 'N') AS subject, split_part(what, ':', 1) AS what FROM bifang.check('p') WHERE severity = 'error' ORDER BY subject COLLATE "C";
SELECT severity, regexp_replace(subject, '\d+$', 'N') AS subject FROM bifang.check('p1') WHERE severity = 'error';
SET search_path = public;
SELECT regexp_replace(subject, '\d+$', 'N') AS subject FROM bifang.check('parents.p') WHERE severity = 'error' ORDER BY subject COLLATE "C";
SET search_path = parents, public;
UPDATE bifang.ledger SET offload_path = replace(offload_path, '.gone', '') WHERE table_namespace = 'parents';
SELECT * FROM bifang.check('p');

-- Who owns the parent alone does nothing, nor who owns a partition alone; superusers do.
ALTER FOREIGN TABLE sub1 OWNER TO bifang_parents_other;
INSERT INTO p SELECT g, 'z' FROM generate_series(0, 399, 10) g;
SET ROLE bifang_parents_owner;
SELECT failure(format(q, 'p')) FROM unnest('{SELECT bifang.commit(%L),SELECT bifang.roll(%L),SELECT bifang.offload(%L),SELECT bifang.check(%L)}'::text[]) q;
SET ROLE bifang_parents_other;
SELECT failure(format(q, 'p')) FROM unnest('{SELECT bifang.commit(%L),SELECT bifang.roll(%L),SELECT bifang.offload(%L),SELECT bifang.check(%L)}'::text[]) q;
SELECT rows FROM bifang.commit('sub1');
RESET ROLE;
SELECT * FROM bifang.commit('p');

-- What is only read is passed over too.
SELECT replace(metadata_location, 'file://', '') AS path FROM bifang.iceberg_tables WHERE table_namespace = 'parents' AND table_name = 'p1' \gset
CREATE FOREIGN TABLE by_path PARTITION OF p FOR VALUES FROM (1000) TO (2000) SERVER parents OPTIONS (location :'path');
CREATE SERVER parents_files FOREIGN DATA WRAPPER bifang_fdw OPTIONS (format 'parquet');
CREATE FOREIGN TABLE files PARTITION OF p FOR VALUES FROM (2000) TO (3000) SERVER parents_files OPTIONS (location '/nowhere/*.parquet');
CREATE FOREIGN DATA WRAPPER parents_wrapper;
CREATE SERVER parents_strange FOREIGN DATA WRAPPER parents_wrapper;
CREATE FOREIGN TABLE strange PARTITION OF p FOR VALUES FROM (3000) TO (4000) SERVER parents_strange;
SELECT * FROM bifang.commit('p');
SELECT * FROM bifang.check('p');

-- All or none.
INSERT INTO p VALUES (1, 'all or none'), (301, 'all or none');
SELECT table_name, metadata_location FROM bifang.iceberg_tables WHERE table_namespace = 'parents' AND table_name = 'Sub 2' \gset
UPDATE bifang.iceberg_tables SET metadata_location = metadata_location || '.gone' WHERE table_namespace = 'parents' AND table_name = 'Sub 2';
\set VERBOSITY sqlstate
SELECT * FROM bifang.commit('p');
\set VERBOSITY default
SELECT count(*) AS live FROM bifang.manifest('p1') WHERE form = 'live';
UPDATE bifang.iceberg_tables SET metadata_location = :'metadata_location' WHERE table_namespace = 'parents' AND table_name = :'table_name';
SELECT * FROM bifang.commit('p');

-- What it is otherwise is said.
CREATE TABLE none (id int) PARTITION BY RANGE (id);
CREATE TABLE none1 PARTITION OF none DEFAULT;
CREATE VIEW v AS SELECT 1 AS a;
CREATE MATERIALIZED VIEW mv AS SELECT 1 AS a;
CREATE INDEX heap_id ON heap (id);
CREATE SEQUENCE seq;
SELECT failure(format('SELECT bifang.commit(%L)', t)) FROM unnest('{heap,none,v,mv,heap_id,seq,strange,by_path,files}'::text[]) t;
SELECT failure(format('SELECT bifang.commit(%s)', max(oid::int8) + 1000000)) FROM pg_class;
SELECT failure('SELECT bifang.check(''none'')'), failure('SELECT bifang.roll(''v'', true)'), failure('SELECT bifang.offload(''none1'')');
SELECT failure('SELECT bifang.repair(''p'')');

DROP SCHEMA parents CASCADE;
DROP SERVER parents, parents_files, parents_strange;
DROP FOREIGN DATA WRAPPER parents_wrapper;
DROP ROLE bifang_parents_owner, bifang_parents_other;
