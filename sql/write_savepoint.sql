-- Savepoints: what is rolled back is gone from the ledger, and the next rows take its place there.
SET client_min_messages = warning;
CREATE SCHEMA ws;
SET search_path = ws, public;
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
CREATE SERVER ws FOREIGN DATA WRAPPER bifang_fdw;
CREATE FOREIGN TABLE t (i int, s text) SERVER ws;
-- What the table has, and whether its ledger is whole.
CREATE FUNCTION has() RETURNS text LANGUAGE sql AS $$
	SELECT (SELECT string_agg(i::text, ' ' ORDER BY i) FROM t) || coalesce((SELECT string_agg(': ' || what, '') FROM bifang.check('t')), '')
$$;
INSERT INTO t VALUES (1, 'x');

-- The row after the rollback is as long as the one that was rolled back: it ends at the same byte.
BEGIN;
INSERT INTO t VALUES (2, 'x');
SAVEPOINT s;
INSERT INTO t VALUES (3, 'x');
SELECT has();
ROLLBACK TO s;
INSERT INTO t VALUES (4, 'x');
COMMIT;
SELECT has();
-- The same with a look between, and nothing written out before.
BEGIN;
SAVEPOINT s;
INSERT INTO t VALUES (5, 'x');
ROLLBACK TO s;
INSERT INTO t VALUES (6, 'x');
SELECT has();
ROLLBACK TO s;
SELECT has();
INSERT INTO t VALUES (7, 'x');
COMMIT;
SELECT has();

-- Levels: what was released goes with the outer one, or stays with it.
BEGIN;
INSERT INTO t VALUES (10, 'x');
SAVEPOINT a;
INSERT INTO t VALUES (11, 'x');
SAVEPOINT b;
INSERT INTO t VALUES (12, 'x');
RELEASE b;
SELECT has();
ROLLBACK TO a;
INSERT INTO t VALUES (13, 'x');
SAVEPOINT b;
INSERT INTO t VALUES (14, 'x');
RELEASE b;
SAVEPOINT c;
INSERT INTO t VALUES (15, 'x');
SELECT count(*) FROM t;
ROLLBACK TO c;
COMMIT;
SELECT has();

-- The outer level has written nothing itself.
BEGIN;
INSERT INTO t VALUES (16, 'x');
SAVEPOINT a;
SAVEPOINT b;
INSERT INTO t VALUES (17, 'x');
RELEASE b;
SELECT count(*) FROM t;
ROLLBACK TO a;
INSERT INTO t VALUES (18, 'x');
COMMIT;
SELECT has();

-- A subtransaction that opens the ledger takes it along when it goes.
SELECT bifang.roll('t');
BEGIN;
SAVEPOINT s;
INSERT INTO t VALUES (20, 'x');
SELECT has();
ROLLBACK TO s;
SELECT count(*) FROM bifang.ledgers WHERE state = 'open' AND namespace = 'ws' AND table_name = 't';
INSERT INTO t VALUES (21, 'x');
COMMIT;
SELECT has();
-- One that stays is the outer one's.
SELECT bifang.roll('t');
BEGIN;
SAVEPOINT s;
INSERT INTO t VALUES (22, 'x');
RELEASE s;
SAVEPOINT s;
INSERT INTO t VALUES (23, 'x');
ROLLBACK TO s;
INSERT INTO t VALUES (24, 'x');
COMMIT;
SELECT has();

-- And goes with that one.
SELECT bifang.roll('t');
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
INSERT INTO t VALUES (25, 'x');
RELEASE b;
ROLLBACK TO a;
INSERT INTO t VALUES (26, 'x');
COMMIT;
SELECT has();

-- Blocks of PL/pgSQL, some of which fail.
DO $$
BEGIN
	FOR g IN 30 .. 39 LOOP
		BEGIN
			INSERT INTO t VALUES (g, 'x');
			IF g % 3 = 0 THEN
				RAISE EXCEPTION 'no';
			END IF;
		EXCEPTION WHEN raise_exception THEN
			NULL;
		END;
	END LOOP;
END$$;
SELECT has();
-- A statement of the outer level whose trigger's block fails keeps its own rows.
CREATE FUNCTION noise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	BEGIN
		INSERT INTO t VALUES (new.i + 100, 'noise');
		PERFORM count(*) FROM t;
		RAISE EXCEPTION 'no';
	EXCEPTION WHEN raise_exception THEN
		RETURN new;
	END;
END$$;
CREATE TABLE source (i int);
CREATE TRIGGER noise BEFORE INSERT ON source FOR EACH ROW EXECUTE FUNCTION noise();
BEGIN;
INSERT INTO t VALUES (40, 'x');
WITH x AS (INSERT INTO source VALUES (41), (42) RETURNING i) INSERT INTO t SELECT i, 'x' FROM x;
INSERT INTO t VALUES (43, 'x');
COMMIT;
SELECT has();
-- What is in the lake is not shaken by a rollback after it.
BEGIN;
INSERT INTO t VALUES (50, 'x');
SAVEPOINT s;
SELECT rows > 0 AS committed FROM bifang.commit('t');
INSERT INTO t VALUES (51, 'x');
ROLLBACK TO s;
INSERT INTO t VALUES (52, 'x');
SELECT rows > 0 AS committed FROM bifang.commit('t');
COMMIT;
SELECT has();

SELECT bifang.drop_table('ws', 'ws', 't', true);
CALL sweep();
DROP SCHEMA ws CASCADE;
DROP SERVER ws CASCADE;
