-- Predicates over tables that are there already, whatever their columns: constants come from the twin's rows.

CREATE FUNCTION diff.one_of(VARIADIC list text[]) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT list[1 + floor(random() * cardinality(list))::int]
$$;

CREATE TABLE diff.times (t text, took interval);
CREATE TABLE diff.columns (t text, name text, type text, category "char", samples text[]);

-- Values of each column as literals: its smallest and largest ones and some between, and what lies beside them.
CREATE FUNCTION diff.sample(tab text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c record;
	found text[];
	rows text[];
	beside text;
BEGIN
	FOR c IN SELECT quote_ident(attname) AS name, format_type(atttypid, atttypmod) AS type, format_type(atttypid, NULL) AS base, typcategory
		FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
		WHERE attrelid = (tab || '_heap')::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
	LOOP
		BEGIN
			EXECUTE format('SELECT array_agg(quote_literal(v) || ''::%s'' ORDER BY v::text) FROM (SELECT v FROM (
				(SELECT DISTINCT %s AS v FROM %s_heap WHERE %2$s IS NOT NULL ORDER BY 1 LIMIT 4) UNION
				(SELECT DISTINCT %2$s FROM %3$s_heap WHERE %2$s IS NOT NULL ORDER BY 1 DESC LIMIT 4) UNION
				(SELECT %2$s FROM %3$s_heap WHERE %2$s IS NOT NULL ORDER BY hashtext(%2$s::text), 1 LIMIT 8)) x) y WHERE length(v::text) < 2000', c.base, c.name, tab) INTO found;
		EXCEPTION WHEN undefined_function THEN
			CONTINUE; -- no order
		END;
		beside := CASE
			WHEN c.typcategory = 'N' AND c.base ~ 'int' THEN 'v::numeric + 1; v::numeric - 1; v::numeric + 0.5; v::float8'
			WHEN c.base ~ 'numeric' THEN 'v + 0.001; v - 1; v::float8; round(v)'
			WHEN c.typcategory = 'N' THEN 'v::float8; v::real; v::float8 + 1'
			WHEN c.base ~ 'timestamp' THEN 'v + interval ''1 us''; v - interval ''1 us''; v::date; v::timestamp; v::timestamptz'
			WHEN c.base = 'date' THEN 'v + 1; v - 1; v::timestamp; v::timestamptz; v::timestamp + interval ''1 us'''
			WHEN c.base = 'text' THEN 'v || ''x''; left(v, -1); left(v, 2); v::name; upper(v); v || chr(1114111)'
			ELSE 'v' END;
		-- One that overflows must not take the others with it.
		rows := found;
		FOREACH beside IN ARRAY string_to_array(beside, '; ') LOOP
			BEGIN
				EXECUTE format('SELECT %s || array_agg(quote_literal(x) || ''::'' || pg_typeof(x)) FROM (SELECT %s AS x FROM unnest(ARRAY[%s]::%s[]) v) y', '$1', beside, array_to_string(rows, ','), c.base)
					INTO found USING found;
			EXCEPTION WHEN data_exception THEN
				NULL;
			END;
		END LOOP;
		INSERT INTO diff.columns VALUES (tab, 't.' || c.name, c.base, c.typcategory, coalesce(found, ARRAY['NULL::' || c.base]));
	END LOOP;
END$$;

CREATE FUNCTION diff.constant(c diff.columns) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT CASE WHEN random() < 0.02 THEN 'NULL::' || c.type ELSE diff.one_of(VARIADIC c.samples) END
$$;

CREATE FUNCTION diff.atom(c diff.columns) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	op text := diff.one_of('=', '=', '<>', '<', '<=', '>', '>=');
	a text := diff.constant(c);
	b text := diff.constant(c);
	d text := diff.constant(c);
BEGIN
	IF c.category = 'B' AND random() < 0.5 THEN
		RETURN replace(diff.one_of('%', 'NOT %', '% IS TRUE', '% IS NOT TRUE', '% IS FALSE', '% IS NOT FALSE', '% IS UNKNOWN'), '%', c.name);
	END IF;
	IF c.type = 'text' AND random() < 0.4 THEN
		RETURN c.name || diff.one_of(' LIKE ', ' LIKE ', ' NOT LIKE ', ' ILIKE ', ' ^@ ') || format('(left(%s, %s) || %L)', a, 1 + floor(random() * 4), diff.one_of('%', '%', '', '_', '%x%'));
	END IF;
	RETURN CASE floor(random() * 14)
		WHEN 0 THEN format('%s %s %s', a, op, c.name)
		WHEN 1 THEN format('%s IN (%s, %s, %s)', c.name, a, b, d)
		WHEN 2 THEN format('%s NOT IN (%s, %s)', c.name, a, b)
		WHEN 3 THEN format('%s BETWEEN %s AND %s', c.name, a, b)
		WHEN 4 THEN c.name || diff.one_of(' IS NULL', ' IS NOT NULL')
		WHEN 5 THEN format('%s IS %s DISTINCT FROM %s', c.name, diff.one_of('', 'NOT'), a)
		WHEN 6 THEN format('%s = ANY (ARRAY[%s, %s])', c.name, a, b)
		WHEN 7 THEN format('%s %s (SELECT %s)', c.name, op, a)
		WHEN 8 THEN format('NOT (%s %s %s)', c.name, op, a)
		WHEN 9 THEN format('(%s %s %s OR %1$s %s %s)', c.name, op, a, diff.one_of('=', '<', '>'), b)
		WHEN 10 THEN format('(%s >= %s AND %1$s < %s)', c.name, a, b)
		ELSE format('%s %s %s', c.name, op, a) END;
END$$;

CREATE FUNCTION diff.any_column(tab text) RETURNS diff.columns LANGUAGE sql VOLATILE AS $$
	SELECT c FROM diff.columns c WHERE t = tab ORDER BY random() LIMIT 1
$$;

-- Results regardless of order.
CREATE FUNCTION diff.projected(tab text, predicate text) RETURNS text LANGUAGE sql VOLATILE AS $$
	SELECT format('SELECT count(*) || %L || coalesce(sum(hashtextextended(%s::text, 0)::numeric), 0) FROM %%T t WHERE %s', ' ',
		diff.one_of('1', '1', 't', (diff.any_column(tab)).name, (diff.any_column(tab)).name), predicate)
$$;

CREATE FUNCTION diff.predicate(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	a text := diff.atom(diff.any_column(tab));
BEGIN
	RETURN CASE floor(random() * 6)
		WHEN 0 THEN format('(%s AND %s)', a, diff.atom(diff.any_column(tab)))
		WHEN 1 THEN format('(%s OR %s)', a, diff.atom(diff.any_column(tab)))
		WHEN 2 THEN format('NOT (%s OR %s AND %s)', a, diff.atom(diff.any_column(tab)), diff.atom(diff.any_column(tab)))
		ELSE a END;
END$$;

CREATE FUNCTION diff.generic(tab text, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c diff.columns;
	op text;
	began timestamptz := clock_timestamp();
BEGIN
	PERFORM diff.sample(tab);
	IF NOT EXISTS (SELECT FROM diff.columns WHERE t = tab) THEN
		RETURN;
	END IF;
	-- More of wide tables, fewer of large ones.
	EXECUTE format('SELECT greatest(%s / greatest(count(*) / 10000, 1), 2) FROM %s_heap',
		n * greatest((SELECT count(*) FROM diff.columns WHERE t = tab) / 5, 1), tab) INTO n;
	FOR i IN 1 .. n LOOP
		PERFORM diff.check(tab, diff.projected(tab, diff.predicate(tab)));
	END LOOP;
	FOR i IN 1 .. (n + 7) / 8 LOOP
		c := diff.any_column(tab);
		op := diff.one_of('=', '=', '<', '>=', '<>', 'IS NOT DISTINCT FROM');
		PERFORM diff.check(tab, diff.projected(tab, format('%s %s $1', c.name, op)), c.type, ARRAY(SELECT diff.constant(c) FROM generate_series(1, least(n, 7))));
		PERFORM diff.check(tab, format('SELECT string_agg(k::text || '':'' || n, '','' ORDER BY k) FROM unnest(ARRAY[%s]::%s[]) k, LATERAL (SELECT count(*) AS n FROM %%T t WHERE %s %s k) x',
			array_to_string(c.samples[1:least(n, 12)], ','), c.type, c.name, op));
	END LOOP;
	INSERT INTO diff.times VALUES (tab, clock_timestamp() - began);
END$$;

-- What cannot be read, and must not be: with the SQLSTATE that says so.
CREATE TABLE diff.refused (t text PRIMARY KEY, state text);
-- Number of rows and digest, where the rows themselves are too many to be kept.
CREATE TABLE diff.digests (t text PRIMARY KEY, digest text);

CREATE FUNCTION diff.error_of(query text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE query;
	RETURN 'none';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END$$;

CREATE FUNCTION diff.digest(tab text) RETURNS text LANGUAGE plpgsql SET TimeZone = 'UTC' AS $$
DECLARE
	r text;
BEGIN
	EXECUTE format('SELECT count(*) || '' '' || sum((''x'' || left(md5(%s), 15))::bit(60)::bigint) FROM %s',
		(SELECT string_agg(format('coalesce(%I::text, %L)', attname, ''), ' || ''|'' || ' ORDER BY attnum) FROM pg_attribute
			WHERE attrelid = tab::regclass AND attnum > 0 AND NOT attisdropped), tab) INTO r;
	RETURN r;
END$$;

-- The twin of a table is what another reader found in its files; where that is a digest only, what is read with
-- everything switched off, once it has that digest. False: there is nothing to compare, which is a failure but for
-- tables that have to be refused.
CREATE FUNCTION diff.twin(tab text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	state text := (SELECT r.state FROM diff.refused r WHERE r.t = tab);
	digest text := (SELECT d.digest FROM diff.digests d WHERE d.t = tab);
	error text;
	n record;
BEGIN
	PERFORM diff.set_mode(settings) FROM diff.modes WHERE name = 'off';
	error := diff.error_of(format('SELECT count(whole_row::text) FROM %s whole_row', tab));
	IF state IS NOT NULL OR error <> 'none' THEN
		PERFORM diff.must(left(error, 5) = state IS TRUE, 'reading', tab, coalesce(state, 'rows'), error);
		RETURN false;
	END IF;
	IF digest IS NOT NULL THEN
		PERFORM diff.must(digest = diff.digest(tab), 'digest of another reader', tab, digest, diff.digest(tab));
		EXECUTE format('CREATE TABLE %s_heap AS SELECT * FROM %1$s', tab);
	ELSIF to_regclass(tab || '_heap') IS NULL THEN
		PERFORM diff.must(false, 'values of another reader', tab, 'test/diff/values', 'none');
		RETURN false;
	END IF;
	EXECUTE format('ANALYZE %s_heap', tab);
	EXECUTE format('WITH theirs AS (SELECT whole_row::text AS r FROM %s_heap whole_row), ours AS (SELECT whole_row::text AS r FROM %1$s whole_row),
		lost AS (SELECT * FROM theirs EXCEPT ALL SELECT * FROM ours), more AS (SELECT * FROM ours EXCEPT ALL SELECT * FROM theirs)
		SELECT (SELECT count(*) || '' '' || coalesce(min(r), '''') FROM lost) AS lost, (SELECT count(*) || '' '' || coalesce(min(r), '''') FROM more) AS more', tab) INTO n;
	PERFORM diff.must(n.lost = '0 ' AND n.more = '0 ', 'rows of another reader', tab, n.lost, n.more);
	RETURN true;
END$$;

-- Every foreign table of a schema.
CREATE FUNCTION diff.generic_schema(schema text, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	tab text;
BEGIN
	FOR tab IN SELECT quote_ident(schema) || '.' || quote_ident(relname) FROM pg_class
		WHERE relnamespace = schema::regnamespace AND relkind = 'f' AND length(relname) < 50 AND relname ~ '^[a-z_][a-z0-9_]*$' ORDER BY relname COLLATE "C"
	LOOP
		PERFORM setseed(current_setting('diff.seed')::float8 / 1000);
		IF diff.twin(tab) THEN
			PERFORM diff.generic(tab, n);
		END IF;
	END LOOP;
END$$;

-- Tables of a corpus, whose values are its own affair (test/corpus): twins are what is read with everything off.
CREATE FUNCTION diff.corpus_schema(schema text, n int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	tab text;
	error text;
BEGIN
	PERFORM diff.set_mode(settings) FROM diff.modes WHERE name = 'off';
	FOR tab IN SELECT quote_ident(schema) || '.' || quote_ident(relname) FROM pg_class WHERE relnamespace = schema::regnamespace AND relkind = 'f' LOOP
		error := diff.error_of(format('CREATE TABLE %s_heap AS SELECT * FROM %1$s', tab));
		IF error <> 'none' THEN
			INSERT INTO diff.skipped VALUES (tab, 'ERROR ' || error);
		END IF;
	END LOOP;
	PERFORM diff.generic_schema(schema, n);
END$$;
