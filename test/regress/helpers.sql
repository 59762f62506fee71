\set ECHO none
-- What several SQL tests need; created in the first schema of the search path. A test begins with
--   \getenv root PG_ABS_SRCDIR
--   \set helpers :root '/test/regress/helpers.sql'
--   \i :helpers

-- A statement that fails: SQLSTATE, message, detail and hint, without the machine's paths.
CREATE FUNCTION failure(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
	detail text;
BEGIN
	EXECUTE query;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
	RETURN regexp_replace(concat_ws(' ', sqlstate, sqlerrm, 'DETAIL: ' || nullif(detail, ''),
		'HINT: ' || nullif(hint, '')), '"/[^"]*/', '"…/', 'g');
END$$;

-- A line of a plan without what depends on the server's version: the names of values that are known
-- when the query runs, decimals of row counts, how deep a node lies.
CREATE FUNCTION plan_line(line text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(regexp_replace(ltrim(line), '\$\d+|\(InitPlan \d+\)\.col\d+', '$n', 'g'),
		'(rows=\d+)\.00\M', '\1', 'g')
$$;

-- A plan's lines that match, without what depends on the machine.
CREATE FUNCTION plan_lines(query text, run boolean, wanted text = '', unwanted text = 'I/O:|Planning|Memory|Execution|decompressed')
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (ANALYZE %s, COSTS off%s) %s', run::int,
		CASE WHEN run THEN ', TIMING off, SUMMARY off, BUFFERS off' END, query)
	LOOP
		CONTINUE WHEN line !~ wanted OR line ~ unwanted;
		RETURN NEXT plan_line(line);
	END LOOP;
END$$;

-- Files that nobody needs any more go, so that nothing is left for other tests to see.
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
\set ECHO all
