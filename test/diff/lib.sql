-- Runs a query on a foreign table and on its heap twin, with every way of reading switched on and off, and keeps
-- what differs in diff.failed.
\set ON_ERROR_STOP 1
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS bifang_fdw;
CREATE SCHEMA diff;
CREATE TABLE diff.passed (n bigint);
CREATE TABLE diff.skipped (query text, why text);
CREATE TABLE diff.failed (mode text, query text, expected text, got text);
CREATE TABLE diff.rewrites (from_text text, to_text text);

-- A way of reading is settings. "on" is as delivered.
CREATE TABLE diff.modes (name text PRIMARY KEY, settings text[], always boolean);
INSERT INTO diff.modes SELECT 'on', '{}', true;
INSERT INTO diff.modes SELECT 'off', array_agg(name || '=off'), true FROM pg_settings
	WHERE name LIKE 'bifang.enable\_%' AND vartype = 'bool' HAVING count(*) > 0;
INSERT INTO diff.modes SELECT 'without ' || substr(name, 15), ARRAY[name || '=off'], false FROM pg_settings
	WHERE name LIKE 'bifang.enable\_%' AND vartype = 'bool';
INSERT INTO diff.modes VALUES ('parallel', '{min_parallel_table_scan_size=0,parallel_setup_cost=0,parallel_tuple_cost=0,max_parallel_workers_per_gather=2}', false);
-- SQLSTATEs say more than texts here: messages name files.
CREATE FUNCTION diff.run(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	r text;
BEGIN
	EXECUTE query INTO r;
	RETURN r;
EXCEPTION WHEN OTHERS THEN
	RETURN 'ERROR ' || SQLSTATE || ' ' || SQLERRM;
END$$;

CREATE FUNCTION diff.set_mode(settings text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	s text;
BEGIN
	FOREACH s IN ARRAY settings LOOP
		PERFORM set_config(split_part(s, '=', 1), split_part(s, '=', 2), true);
	END LOOP;
END$$;

-- PREPARE, then EXECUTE once for each list of arguments, as a generic plan. Of all results the digest.
CREATE FUNCTION diff.execute(statement text, types text, arguments text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a text;
	r text;
	all_of_them text := '';
BEGIN
	EXECUTE format('PREPARE diff_statement (%s) AS %s', types, statement);
	FOREACH a IN ARRAY arguments LOOP
		EXECUTE format('EXECUTE diff_statement (%s)', a) INTO r;
		all_of_them := all_of_them || a || ': ' || r || E'\n';
	END LOOP;
	DEALLOCATE diff_statement;
	RETURN all_of_them;
EXCEPTION WHEN OTHERS THEN
	IF EXISTS (SELECT FROM pg_prepared_statements WHERE name = 'diff_statement') THEN
		DEALLOCATE diff_statement;
	END IF;
	RETURN 'ERROR ' || SQLSTATE || ' ' || SQLERRM;
END$$;

CREATE SEQUENCE diff.turn;

-- The modes that a query is run in: the same two always, and one of the others in turn, or all of them.
CREATE FUNCTION diff.modes_now() RETURNS SETOF diff.modes LANGUAGE plpgsql AS $$
DECLARE
	turn bigint := nextval('diff.turn');
	others int := (SELECT count(*) FROM diff.modes WHERE NOT always AND name <> 'parallel');
BEGIN
	RETURN QUERY SELECT * FROM diff.modes WHERE always
		UNION ALL SELECT * FROM (SELECT * FROM diff.modes WHERE NOT always AND name <> 'parallel' ORDER BY name
			OFFSET CASE WHEN current_setting('diff.all_modes') = 'on' THEN 0 ELSE turn % greatest(others, 1) END
			LIMIT CASE WHEN current_setting('diff.all_modes') = 'on' THEN others ELSE 1 END) x
		UNION ALL SELECT * FROM diff.modes WHERE name = 'parallel' AND (turn % 16 = 0 OR current_setting('diff.all_modes') = 'on');
END$$;

-- A test that is no query in several modes.
CREATE FUNCTION diff.must(ok boolean, what text, query text, expected text, got text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	IF ok THEN
		INSERT INTO diff.passed VALUES (1);
	ELSE
		INSERT INTO diff.failed VALUES (what, query, expected, got);
	END IF;
END$$;

-- One test, in however many modes. `query` has %T where the table's name goes: t names the foreign table and its twin t_heap. `arguments`: of a
-- prepared statement with parameters of `types`, else NULL.
CREATE FUNCTION diff.check(t text, query text, types text = NULL, arguments text[] = NULL, extra text[] = '{}')
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	expected text;
	got text;
	m record;
	same boolean := true;
BEGIN
	PERFORM diff.set_mode(extra || CASE WHEN types IS NULL THEN '{}' ELSE '{plan_cache_mode=force_generic_plan}' END::text[]);
	expected := CASE WHEN types IS NULL THEN diff.run(replace(query, '%T', t || '_heap'))
		ELSE diff.execute(replace(query, '%T', t || '_heap'), types, arguments) END;
	-- What the twin refuses says nothing: rows that would raise may be skipped.
	IF expected LIKE 'ERROR %' THEN
		INSERT INTO diff.skipped VALUES (query, expected);
		RETURN;
	END IF;
	FOR m IN SELECT * FROM diff.modes_now() LOOP
		PERFORM set_config(split_part(s, '=', 1), r.reset_val, true) FROM diff.modes d, unnest(d.settings) s
			JOIN pg_settings r ON r.name = split_part(s, '=', 1);
		PERFORM diff.set_mode(m.settings);
		got := CASE WHEN types IS NULL THEN diff.run(replace(query, '%T', t)) ELSE diff.execute(replace(query, '%T', t), types, arguments) END;
		IF got IS DISTINCT FROM expected THEN
			INSERT INTO diff.failed VALUES (m.name || extra::text,
				CASE WHEN types IS NULL THEN '' ELSE format('PREPARE (%s): ', types) END || replace(query, '%T', t), expected, got);
			same := false;
		END IF;
	END LOOP;
	IF same THEN
		INSERT INTO diff.passed VALUES (1);
	END IF;
END$$;
