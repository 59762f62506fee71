-- INSERT and COPY into a lake table: values, errors, constraints, visibility.
SET client_min_messages = warning;
CREATE SERVER wi FOREIGN DATA WRAPPER bifang_fdw;
CREATE SCHEMA wi;
SET search_path = wi, public;

-- Every type that can be stored comes back as it was; a heap twin is the oracle.
CREATE TABLE twin (
	b boolean, i2 smallint, i4 int, i8 bigint, f4 real, f8 double precision,
	n numeric(12,2), n38 numeric(38,10), d date, t time, ts timestamp, tz timestamptz,
	s text, v varchar(20), c char(5), j json, jb jsonb, y bytea, u uuid);
CREATE FOREIGN TABLE all_types (
	b boolean, i2 smallint, i4 int, i8 bigint, f4 real, f8 double precision,
	n numeric(12,2), n38 numeric(38,10), d date, t time, ts timestamp, tz timestamptz,
	s text, v varchar(20), c char(5), j json, jb jsonb, y bytea, u uuid) SERVER wi;
INSERT INTO twin VALUES
	(true, 1, 2, 3, 1.5, 2.5, 1.25, 12345678901234567890.0123456789, '2024-02-29', '12:34:56.789012',
	'2024-02-29 12:34:56.789012', '2024-02-29 12:34:56.789012+02', 'text', 'varchar', 'char',
	'{"a": 1}', '{"b":  2}', '\x00ff', 'f79c3e09-677c-4bbd-a479-3f349cb785e7'),
	(false, -32768, -2147483648, -9223372036854775808, 'NaN', '-Infinity', -9999999999.99,
	-9999999999999999999999999999.9999999999, '4713-01-01 BC', '00:00', '4713-01-01 BC',
	'4713-01-02 00:00:00+00 BC', '', '', '', 'null', 'null', '', '00000000-0000-0000-0000-000000000000'),
	(true, 32767, 2147483647, 9223372036854775807, '-0', 'Infinity', 9999999999.99,
	9999999999999999999999999999.9999999999, '1969-12-31', '23:59:59.999999', '1969-12-31 23:59:59.999999',
	'1970-01-01 00:00:00+00', repeat('ü€😀', 10000), 'ü€😀', 'ü', '[]', '[]',
	decode(repeat('00ff', 10000), 'hex'), 'ffffffff-ffff-ffff-ffff-ffffffffffff'),
	(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, NULL),
	(true, 0, 0, 0, 0, 0, 0, 0.0000000001, '2000-01-01', '00:00:00.000001', '2000-01-01', '2000-01-01',
	E'back\\slash \\N', 'tab	x', 'a b', '"\\u0000x"', '{}', 'a', gen_random_uuid());
INSERT INTO all_types SELECT * FROM twin;
SELECT count(*) FROM (SELECT tw::text FROM twin tw EXCEPT ALL SELECT la::text FROM all_types la) x;
SELECT count(*) FROM (SELECT la::text FROM all_types la EXCEPT ALL SELECT tw::text FROM twin tw) x;

-- numeric digit by digit against the server's own arithmetic.
CREATE TABLE numbers (n numeric(38,7));
CREATE FOREIGN TABLE lake_numbers (n numeric(38,7)) SERVER wi;
INSERT INTO numbers SELECT sign * (10::numeric ^ e) * m
	FROM generate_series(-7, 30) e, unnest('{1,-1}'::int[]) sign, unnest('{1,9,5.0000001,1.2345678}'::numeric[]) m
	WHERE abs((10::numeric ^ e) * m) < 1e31;
INSERT INTO lake_numbers SELECT * FROM numbers;
SELECT count(*) > 200 AS enough,
	count(*) FILTER (WHERE NOT EXISTS (SELECT FROM numbers x WHERE x.n::text = l.n::text)) AS wrong
FROM lake_numbers l;

-- What the lake cannot hold exactly is refused, with the column's name.
CREATE FOREIGN TABLE strict (id int NOT NULL, d date, ts timestamp, t time, n numeric(4,2), u uuid,
	CONSTRAINT small CHECK (id < 1000)) SERVER wi;
INSERT INTO strict (id, d) VALUES (1, 'infinity');
INSERT INTO strict (id, ts) VALUES (1, '-infinity');
INSERT INTO strict (id, t) VALUES (1, '24:00:00');
INSERT INTO strict (id, n) VALUES (1, 'NaN');
INSERT INTO strict (id, n) VALUES (1, 123.45);
INSERT INTO strict (id) VALUES (NULL);
INSERT INTO strict (id) VALUES (5000);
SELECT count(*) FROM strict;
CREATE FOREIGN TABLE no_typmod (n numeric) SERVER wi;
CREATE FOREIGN TABLE bad_type (a int[]) SERVER wi;
CREATE FOREIGN TABLE no_columns () SERVER wi;
-- A foreign table may declare less precision than it gets: the lake's type decides.
SELECT bifang.create_table('wi', 'wi', 'narrow', 'i int, n numeric(5,2)') IS NOT NULL AS made;
CREATE FOREIGN TABLE narrow (i bigint, n numeric) SERVER wi;
INSERT INTO narrow VALUES (1, 1.5), (NULL, 999.99);
INSERT INTO narrow VALUES (4000000000, 0);
INSERT INTO narrow VALUES (0, 1.234);
INSERT INTO narrow VALUES (0, 1000);
INSERT INTO narrow VALUES (0, 1e100);
INSERT INTO narrow VALUES (0, 'infinity');
SELECT * FROM narrow ORDER BY i;

-- An error in the middle leaves nothing.
COPY strict (id, d) FROM stdin;
1	2024-01-01
2	2024-01-02
3	not a date
\.
COPY strict (id, n) FROM stdin;
1	1.5
2	NaN
\.
INSERT INTO strict (id) SELECT g FROM generate_series(1, 20000) g;
SELECT count(*) FROM strict;
COPY strict (id, d) FROM stdin;
1	2024-01-01
2	\N
\.
SELECT id, d FROM strict ORDER BY id;

-- Defaults, generated columns, identity by default, RETURNING.
CREATE FOREIGN TABLE defaults (id int DEFAULT 7, twice int GENERATED ALWAYS AS (id * 2) STORED, s text DEFAULT 'x')
	SERVER wi;
INSERT INTO defaults DEFAULT VALUES;
INSERT INTO defaults (id) VALUES (1), (2) RETURNING id, twice, s, tableoid::regclass;
INSERT INTO defaults (twice) VALUES (1);
SELECT * FROM defaults ORDER BY id;

-- A statement does not see its own rows, the next one does; functions that it calls see what was
-- inserted before them, as in an ordinary table.
CREATE FOREIGN TABLE seen (id int, n bigint) SERVER wi;
CREATE TABLE seen_heap (id int, n bigint);
CREATE FUNCTION count_rows(rel regclass) RETURNS bigint LANGUAGE plpgsql VOLATILE AS
	$$ DECLARE n bigint; BEGIN EXECUTE 'SELECT count(*) FROM ' || rel INTO n; RETURN n; END $$;
INSERT INTO seen VALUES (0, 0);
INSERT INTO seen_heap VALUES (0, 0);
INSERT INTO seen SELECT id + 1, n FROM seen;
INSERT INTO seen_heap SELECT id + 1, n FROM seen_heap;
INSERT INTO seen SELECT g, count_rows('seen') FROM generate_series(10, 14) g;
INSERT INTO seen_heap SELECT g, count_rows('seen_heap') FROM generate_series(10, 14) g;
SELECT * FROM seen ORDER BY id;
SELECT count(*) FROM (SELECT * FROM seen EXCEPT ALL SELECT * FROM seen_heap) x;
WITH w AS (INSERT INTO seen VALUES (20, -1), (21, -1) RETURNING id)
SELECT (SELECT count(*) FROM w) AS inserted, (SELECT count(*) FROM seen) AS before;
SELECT count(*) FROM seen;
-- Nor does one that comes after others in its transaction.
BEGIN;
INSERT INTO seen VALUES (22, -1);
WITH w AS (INSERT INTO seen VALUES (23, -1), (24, -1) RETURNING id)
SELECT (SELECT count(*) FROM w) AS inserted, (SELECT count(*) FROM seen) AS before;
ROLLBACK;

-- Triggers read the table that they are fired for, before and after, also inside subtransactions.
CREATE TABLE log (what text, id int, n bigint);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		INSERT INTO log SELECT TG_WHEN || ' ' || TG_LEVEL, NEW.id, count_rows(TG_RELID);
		IF NEW.id = 101 AND TG_WHEN = 'BEFORE' THEN
			EXECUTE format('INSERT INTO %s VALUES (900, 0)', TG_RELID::regclass);
			RAISE division_by_zero;
		ELSIF NEW.id = 102 AND TG_WHEN = 'BEFORE' THEN
			EXECUTE format('INSERT INTO %s VALUES (901, 0)', TG_RELID::regclass);
		END IF;
	EXCEPTION WHEN division_by_zero THEN
		INSERT INTO log SELECT 'caught', NEW.id, count_rows(TG_RELID);
	END;
	RETURN NEW;
END $$;
CREATE TRIGGER before BEFORE INSERT ON seen FOR EACH ROW WHEN (NEW.id < 900) EXECUTE FUNCTION note();
CREATE TRIGGER after AFTER INSERT ON seen FOR EACH ROW WHEN (NEW.id < 900) EXECUTE FUNCTION note();
CREATE TRIGGER before BEFORE INSERT ON seen_heap FOR EACH ROW WHEN (NEW.id < 900) EXECUTE FUNCTION note();
CREATE TRIGGER after AFTER INSERT ON seen_heap FOR EACH ROW WHEN (NEW.id < 900) EXECUTE FUNCTION note();
INSERT INTO seen_heap VALUES (20, -1), (21, -1);
TRUNCATE log;
INSERT INTO seen VALUES (100, 0), (101, 0), (102, 0), (103, 0);
CREATE TABLE log_of_lake AS SELECT * FROM log;
TRUNCATE log;
INSERT INTO seen_heap VALUES (100, 0), (101, 0), (102, 0), (103, 0);
SELECT count(*) FROM (SELECT * FROM log EXCEPT ALL SELECT * FROM log_of_lake) x;
SELECT count(*) FROM (SELECT * FROM log_of_lake EXCEPT ALL SELECT * FROM log) x;
SELECT * FROM log_of_lake ORDER BY id, what, n;
SELECT id, n FROM seen WHERE id >= 100 ORDER BY 1;
SELECT severity, what FROM bifang.check('seen');

-- WITH CHECK OPTION through a view.
CREATE VIEW low AS SELECT * FROM seen WHERE id < 10 WITH CHECK OPTION;
INSERT INTO low VALUES (5, 0);
INSERT INTO low VALUES (50, 0);

-- Refused: everything that is not adding rows.
UPDATE seen SET n = 0;
DELETE FROM seen WHERE id = 0;
TRUNCATE seen;
INSERT INTO seen VALUES (1, 1) ON CONFLICT DO NOTHING;
MERGE INTO seen USING seen_heap h ON seen.id = h.id WHEN NOT MATCHED THEN INSERT VALUES (1, 1);
EXPLAIN (COSTS OFF) INSERT INTO seen_heap SELECT 1, 1;
EXPLAIN (COSTS OFF) INSERT INTO seen SELECT 1, 1;
BEGIN READ ONLY;
INSERT INTO seen VALUES (1, 1);
ROLLBACK;

-- Columns that are facts about rows take no value.
ALTER FOREIGN TABLE strict ADD COLUMN l bigint OPTIONS (meta 'ledger');
INSERT INTO strict (id) VALUES (10) RETURNING id, l;
INSERT INTO strict (id, l) VALUES (10, 1);
SELECT id, l IS NOT NULL AS known FROM strict WHERE id = 10;

-- Renames on the SQL side alone change nothing underneath: field ids and options bind.
SET bifang.create_on_ddl = off;
ALTER FOREIGN TABLE seen RENAME COLUMN n TO m;
ALTER FOREIGN TABLE seen RENAME TO seen2;
DROP TRIGGER before ON seen2;
DROP TRIGGER after ON seen2;
INSERT INTO seen2 (m, id) VALUES (1, 300);
SELECT id, m FROM seen2 WHERE id = 300;
SELECT namespace, table_name, foreign_table FROM bifang.tables WHERE table_name = 'seen';

-- A cursor keeps what it saw when it was opened.
BEGIN;
DECLARE c CURSOR FOR SELECT count(*) FROM seen2;
INSERT INTO seen2 VALUES (400, 0);
FETCH c;
SELECT count(*) FROM seen2;
ROLLBACK;

-- Two foreign tables over one lake table: one log.
CREATE FOREIGN TABLE twice (id int) SERVER wi OPTIONS ("table" 'seen');
BEGIN;
INSERT INTO twice VALUES (500);
INSERT INTO seen2 VALUES (501, 1);
SELECT id, m FROM seen2 WHERE id >= 500 ORDER BY id;
ROLLBACK;

-- A column that the lake does not have.
ALTER FOREIGN TABLE twice ADD COLUMN extra text;
INSERT INTO twice VALUES (502, 'x');
-- Dropped columns are in nobody's way.
ALTER FOREIGN TABLE twice DROP COLUMN extra, ADD COLUMN n bigint;
INSERT INTO twice VALUES (503, 3);
SELECT * FROM twice WHERE id = 503;
RESET bifang.create_on_ddl;
DROP FOREIGN TABLE twice;

-- The columns of another relation.
SELECT bifang.create_table('wi', 'wi', 'like_heap', 'twin'::regclass) IS NOT NULL AS made;
CREATE FOREIGN TABLE like_heap (s text, i8 bigint) SERVER wi;
INSERT INTO like_heap SELECT s, i8 FROM twin;
SELECT count(*), count(s), sum(i8) FROM like_heap;

-- DROP removes the binding only.
DROP FOREIGN TABLE seen2 CASCADE;
CREATE FOREIGN TABLE seen3 (n bigint, id int) SERVER wi OPTIONS ("table" 'seen');
SELECT count(*) FROM seen3;
CREATE FOREIGN TABLE seen4 (other int) SERVER wi OPTIONS ("table" 'seen');
CREATE FOREIGN TABLE seen4 (id text) SERVER wi OPTIONS ("table" 'seen');

DROP SCHEMA wi CASCADE;
DROP SERVER wi;
