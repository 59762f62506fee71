-- What predicates leave out is counted, and compared with what they must leave out: that is calculated from the rows
-- themselves, by the server's own operators, over what a file (or row group, or page) has of the column. Units of a
-- table are in <table>_units:
--
--   n, nulls         rows, and those without a value
--   blo, bhi         the smallest and largest value, as far as bounds tell them (texts are cut, decimals are rounded)
--   pkind            what its partition says: none, null (no row has a value), range (plo to phi), bucket (b), unknown
--   ilo, ihi         of column id
--
-- counters.pl writes conditions over these columns that hold for all units which a predicate has to read. So
--   units with a row that matches  <=  units read  <=  units for which the condition holds
CREATE SCHEMA cnt;
CREATE TABLE cnt.constants (kind text, type text, what text, literal text, b int);
CREATE TABLE cnt.totals (what text, expected bigint, got bigint);
CREATE TABLE cnt.seen (t text, what text);

-- What PyArrow found in the tables of every transform: table, columns, file.
CREATE TABLE cnt.theirs (t text, id text, v text, w text, s text, file text);
CREATE FUNCTION cnt.twin(tab text, dir text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('TimeZone', 'UTC', true);
	EXECUTE format('CREATE TABLE cnt.%1$s_heap (LIKE cnt.%1$s); INSERT INTO cnt.%1$s_heap SELECT %2$s FROM cnt.theirs WHERE t = %3$L', tab,
		(SELECT string_agg(CASE WHEN attname = 'file' THEN format('%L || file', dir || '/' || tab || '/') ELSE format('%I::%s', attname, format_type(atttypid, atttypmod)) END, ', ' ORDER BY attnum)
			FROM pg_attribute WHERE attrelid = ('cnt.' || tab)::regclass AND attnum > 0 AND NOT attisdropped), tab);
	PERFORM diff.twin('cnt.' || tab);
END$$;

-- Counters of the scan in a plan that has run; NULL when there is no scan, or none is needed. What was never counted is not there.
CREATE FUNCTION cnt.explain(statement text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	scan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON, COSTS off, TIMING off, SUMMARY off) ' || statement INTO plan;
	scan := jsonb_path_query_first(plan::jsonb, '$.** ? (@."Node Type" == "Foreign Scan")');
	RETURN (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(scan)
		WHERE key ~ '^(Parquet|Row Groups|Files|Units|Rows Removed|Actual Rows|Kafka|Log Read batches|I/O files)' AND key <> 'Parquet Rows')
		WHERE scan IS NOT NULL AND plan::text !~ 'One-Time Filter';
END$$;

-- PostgreSQL 18 has Actual Rows with two digits behind the point.
CREATE FUNCTION cnt.get(counters jsonb, name text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce((counters->>name)::numeric::bigint, 0)
$$;

-- One level is on, all others are off.
CREATE FUNCTION cnt.only(level text) RETURNS void LANGUAGE sql AS $$
	SELECT set_config(name, CASE WHEN substr(name, 15) = level THEN 'on' ELSE 'off' END, true) FROM pg_settings
	WHERE name LIKE 'bifang.enable\_%' AND vartype = 'bool'
$$;
CREATE FUNCTION cnt.all_levels() RETURNS void LANGUAGE sql AS $$
	SELECT set_config(name, 'on', true) FROM pg_settings WHERE name LIKE 'bifang.enable\_%' AND vartype = 'bool'
$$;

CREATE FUNCTION cnt.must(ok boolean, mode text, query text, expected text, got text) RETURNS void LANGUAGE sql AS $$
	SELECT diff.must(ok, 'counters: ' || mode, query, expected, got)
$$;

-- A prepared statement in its generic plan, after all those custom ones, counts what the plain one counted.
CREATE FUNCTION cnt.prepared(t text, statement text, types text, arguments text, expected jsonb, often boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	ignored text := 'Parquet Read pages decompressed';
	got jsonb;
BEGIN
	EXECUTE format('PREPARE cnt_statement (%s) AS %s', types, statement);
	IF often THEN
		PERFORM set_config('plan_cache_mode', 'auto', true);
		FOR i IN 1 .. 6 LOOP
			EXECUTE format('EXECUTE cnt_statement (%s)', arguments);
		END LOOP;
	ELSE
		PERFORM set_config('plan_cache_mode', 'force_generic_plan', true);
	END IF;
	got := cnt.explain(format('EXECUTE cnt_statement (%s)', arguments));
	PERFORM set_config('plan_cache_mode', 'auto', true);
	DEALLOCATE cnt_statement;
	-- Of `v = 1 AND v = 2` the server has made a condition without columns. Which dictionary is asked first depends on
	-- what the server thinks that a condition costs.
	PERFORM cnt.must(got - ignored = expected - ignored OR got IS NULL, CASE WHEN often THEN 'seventh execution' ELSE 'generic plan' END,
		statement || ' -- ' || arguments, expected::text, got::text);
END$$;

-- Files of a lake table. `bounds`, `part`, `either`: conditions over its units.
CREATE FUNCTION cnt.files(t text, predicate text, bounds text, part text, either text, generic text = NULL, types text = NULL, arguments text = NULL, often boolean = false)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id FROM %s t WHERE %s', t, predicate);
	units record;
	matched bigint;
	c jsonb;
	k bigint;
	never bigint;
	said text;
BEGIN
	EXECUTE format('SELECT count(*) AS n, count(*) FILTER (WHERE %s) AS bounds, count(*) FILTER (WHERE %s) AS part, count(*) FILTER (WHERE %s) AS both_of_them FROM %s_units', bounds, part, either, t) INTO units;
	EXECUTE format('SELECT count(DISTINCT file) FROM %s_heap t WHERE %s', t, predicate) INTO matched;
	said := format('%s files, %s match, at most %s by partition, %s by bounds, %s by both', units.n, matched, units.part, units.bounds, units.both_of_them);
	PERFORM cnt.all_levels();
	c := cnt.explain(query);
	IF c IS NULL THEN
		PERFORM cnt.must(matched = 0, 'no scan', query, said, 'no scan');
		RETURN;
	END IF;
	k := cnt.get(c, 'Parquet Files');
	PERFORM cnt.must(k BETWEEN matched AND units.both_of_them AND (cnt.get(c, 'Files Pruned manifests') > 0
		OR k + cnt.get(c, 'Files Pruned by partition') + cnt.get(c, 'Files Pruned by bounds') + cnt.get(c, 'Units Pruned') = units.n)
		AND cnt.get(c, 'I/O files') = k, 'all levels', query, said, c::text);
	IF generic IS NOT NULL THEN
		PERFORM cnt.prepared(t, format('SELECT id FROM %s t WHERE %s', t, generic), types, arguments, c, often);
	END IF;
	PERFORM cnt.only('partition_pruning');
	c := cnt.explain(query);
	-- What can't be true of any row is left out at once.
	never := cnt.get(c, 'Units Pruned');
	k := cnt.get(c, 'Parquet Files');
	PERFORM cnt.must(k BETWEEN matched AND units.part AND cnt.get(c, 'Files Pruned by partition') = units.n - k - never
		AND cnt.get(c, 'Files Pruned by bounds') + cnt.get(c, 'Files Pruned manifests') = 0, 'partitions only', query, said, c::text);
	INSERT INTO cnt.totals VALUES ('files by partition', units.n - units.part, units.n - k);
	IF cnt.get(c, 'Files Pruned by partition') > 0 THEN INSERT INTO cnt.seen VALUES (t, 'partition'); END IF;
	PERFORM cnt.only('manifest_pruning');
	c := cnt.explain(query);
	k := cnt.get(c, 'Parquet Files');
	PERFORM cnt.must(k BETWEEN matched AND units.bounds AND cnt.get(c, 'Files Pruned by partition') = 0
		AND (cnt.get(c, 'Files Pruned manifests') > 0 OR cnt.get(c, 'Files Pruned by bounds') = units.n - k - never), 'bounds only', query, said, c::text);
	INSERT INTO cnt.totals VALUES ('files by bounds', units.n - units.bounds, units.n - k);
	IF cnt.get(c, 'Files Pruned by bounds') + cnt.get(c, 'Files Pruned manifests') > 0 THEN INSERT INTO cnt.seen VALUES (t, 'bounds'); END IF;
	PERFORM cnt.only('none');
	c := cnt.explain(query);
	PERFORM cnt.must(cnt.get(c, 'Parquet Files') + cnt.get(c, 'Units Pruned') = units.n AND NOT c::text ~ 'Files Pruned', 'no level', query, said, c::text);
	PERFORM cnt.all_levels();
END$$;

-- Rows of ledgers, whose partitions are not files: `part`, a condition over rows, and what the lake does not name yet.
CREATE FUNCTION cnt.ledgers(t text, twin text, predicate text, part text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id FROM %s t WHERE %s', t, predicate);
	n record;
	scan jsonb;
	plan json;
	kept bigint;
	level text;
BEGIN
	EXECUTE format('SELECT count(*) AS rows, count(*) FILTER (WHERE %s) AS part, (SELECT count(*) FROM %s t WHERE %s) AS matched FROM %s_units', part, twin, predicate, t) INTO n;
	FOREACH level IN ARRAY '{partition_pruning,none}'::text[] LOOP
		PERFORM cnt.only(level);
		EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
		scan := jsonb_path_query_first(plan::jsonb, '$.** ? (@."Node Type" == "Foreign Scan")');
		CONTINUE WHEN scan IS NULL OR plan::text ~ 'One-Time Filter';
		kept := cnt.get(scan, 'Offloaded Rows') + cnt.get(scan, 'Live Rows');
		PERFORM cnt.must(CASE WHEN cnt.get(scan, 'Units Pruned') > 0 THEN kept >= n.matched
			WHEN level = 'none' THEN kept = n.rows AND NOT scan::text ~ 'Files Pruned'
			ELSE kept BETWEEN n.matched AND n.part + cnt.get(scan, 'Rows Not In Lake') AND (kept = n.rows OR cnt.get(scan, 'Files Pruned by partition') + cnt.get(scan, 'Files Pruned manifests') > 0) END,
			'ledgers, ' || level, query, n::text, scan::text);
		IF level = 'partition_pruning' AND kept < n.rows THEN INSERT INTO cnt.seen VALUES (t, 'ledgers'); END IF;
	END LOOP;
	PERFORM cnt.all_levels();
END$$;

-- At most so many files, in all rescans together, in a plan that is made of nested loops.
CREATE FUNCTION cnt.opens(t text, query text, most bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	c jsonb;
BEGIN
	PERFORM diff.set_mode('{enable_hashjoin=off,enable_mergejoin=off,enable_memoize=off,enable_material=off}');
	c := cnt.explain(query);
	PERFORM cnt.must(c IS NULL OR cnt.get(c, 'I/O files') <= most, 'at run time', query, most::text, c::text);
END$$;

-- Row groups, pages and rows of a file. `bounds`, `contain`, `dict`: conditions over row groups (and pages).
CREATE FUNCTION cnt.levels(t text, col text, predicate text, bounds text, contain text, dict text, generic text = NULL, types text = NULL, arguments text = NULL, often boolean = false)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id FROM %s t WHERE %s', t, predicate);
	groups record;
	pages record;
	matched record;
	c jsonb;
	said text;
	level text;
BEGIN
	EXECUTE format('SELECT count(*) AS n, count(*) FILTER (WHERE %s) AS bounds, count(*) FILTER (WHERE NOT %s) AS absent, count(*) FILTER (WHERE NOT %s) AS no_entry FROM %s_%s_160', bounds, contain, dict, t, col) INTO groups;
	EXECUTE format('SELECT sum(n) AS n, coalesce(sum(n) FILTER (WHERE NOT (%s OR blind IS TRUE)), 0) AS out FROM %s_%s_16', bounds, t, col) INTO pages;
	EXECUTE format('SELECT count(*) AS rows, count(DISTINCT pos / 160) AS groups, count(DISTINCT pos / 16) AS pages FROM %s_heap t WHERE %s', t, predicate) INTO matched;
	said := format('%s of %s rows and %s of %s groups match; %s groups by bounds, %s have no value, %s no entry; %s rows are in other pages', matched.rows, pages.n, matched.groups, groups.n, groups.bounds, groups.absent, groups.no_entry, pages.out);
	PERFORM cnt.all_levels();
	c := cnt.explain(query);
	IF c IS NULL OR cnt.get(c, 'Units Pruned') > 0 THEN
		PERFORM cnt.must(matched.rows = 0, 'no scan', query, said, c::text);
		RETURN;
	END IF;
	PERFORM cnt.must(cnt.get(c, 'Row Groups Pruned by statistics') + cnt.get(c, 'Row Groups Pruned by bloom filter') <= groups.n - matched.groups
		AND cnt.get(c, 'Row Groups Pruned by statistics') BETWEEN groups.n - groups.bounds AND groups.n - matched.groups
		AND cnt.get(c, 'Actual Rows') = matched.rows AND cnt.get(c, 'Rows Removed by Filter') = 0, 'all levels', query, said, c::text);
	IF generic IS NOT NULL THEN
		PERFORM cnt.prepared(t, format('SELECT id FROM %s t WHERE %s', t, generic), types, arguments, c, often);
	END IF;
	FOREACH level IN ARRAY '{row_group_pruning,page_pruning,bloom_pruning,dictionary_pruning,late_materialization,none}'::text[] LOOP
		PERFORM cnt.only(level);
		c := cnt.explain(query);
		PERFORM cnt.must(CASE level
			WHEN 'row_group_pruning' THEN cnt.get(c, 'Row Groups Pruned by statistics') BETWEEN groups.n - groups.bounds AND groups.n - matched.groups
				AND cnt.get(c, 'Parquet Read row groups') = groups.n - cnt.get(c, 'Row Groups Pruned by statistics')
			WHEN 'page_pruning' THEN cnt.get(c, 'Parquet Skipped rows by page index') BETWEEN pages.out AND pages.n - matched.rows
				AND (cnt.get(c, 'Parquet Skipped rows by page index') > 0 OR cnt.get(c, 'Parquet Skipped pages') = 0)
			WHEN 'bloom_pruning' THEN cnt.get(c, 'Row Groups Pruned by bloom filter') <= groups.n - matched.groups
				AND cnt.get(c, 'Parquet Read row groups') = groups.n - cnt.get(c, 'Row Groups Pruned by bloom filter')
			WHEN 'dictionary_pruning' THEN cnt.get(c, 'Row Groups Pruned by dictionary') BETWEEN CASE t WHEN 'cnt.random' THEN groups.no_entry ELSE 0 END AND groups.n - matched.groups
			WHEN 'late_materialization' THEN cnt.get(c, 'Rows Removed by Pushed Filter') = pages.n - matched.rows
			ELSE cnt.get(c, 'Rows Removed by Filter') = pages.n - matched.rows END
			-- Nothing else counts.
			AND (level = 'row_group_pruning' OR cnt.get(c, 'Row Groups Pruned by statistics') = 0)
			AND (level = 'page_pruning' OR cnt.get(c, 'Parquet Skipped rows by page index') = 0)
			AND (level = 'bloom_pruning' OR cnt.get(c, 'Row Groups Pruned by bloom filter') = 0)
			AND (level = 'dictionary_pruning' OR cnt.get(c, 'Row Groups Pruned by dictionary') = 0)
			AND (level = 'late_materialization' OR cnt.get(c, 'Rows Removed by Pushed Filter') = 0)
			AND cnt.get(c, 'Actual Rows') = matched.rows, level || ' only', query, said, c::text);
		INSERT INTO cnt.totals SELECT level || ' ' || t, x.* FROM (SELECT groups.n - groups.bounds, cnt.get(c, 'Row Groups Pruned by statistics') WHERE level = 'row_group_pruning'
			UNION ALL SELECT pages.out, cnt.get(c, 'Parquet Skipped rows by page index') WHERE level = 'page_pruning'
			UNION ALL SELECT groups.absent, cnt.get(c, 'Row Groups Pruned by bloom filter') WHERE level = 'bloom_pruning'
			UNION ALL SELECT groups.no_entry, cnt.get(c, 'Row Groups Pruned by dictionary') WHERE level = 'dictionary_pruning' AND t = 'cnt.random'
			UNION ALL SELECT pages.n - matched.rows, cnt.get(c, 'Rows Removed by Pushed Filter') WHERE level = 'late_materialization') x;
	END LOOP;
	PERFORM cnt.all_levels();
END$$;

-- Bloom filters may err, one time in a hundred; all else is at least what must be.
CREATE FUNCTION cnt.close() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
	x record;
BEGIN
	FOR x IN SELECT what, sum(expected) AS expected, sum(got) AS got FROM cnt.totals GROUP BY what LOOP
		PERFORM cnt.must(x.got > 0 AND x.got >= x.expected * CASE WHEN x.what ~ 'bloom' THEN 0.95 ELSE 1 END, 'in all', x.what, x.expected::text, x.got::text);
	END LOOP;
	FOR x IN SELECT t.transform, w.what, (SELECT count(*) FROM cnt.seen s WHERE s.t ~ ('_' || t.transform) AND s.what = w.what) AS n
		FROM unnest('{none,identity,bucket,truncate,year,month,day,hour,evolved}'::text[]) t(transform), unnest('{partition,bounds}'::text[]) w(what)
	LOOP
		PERFORM cnt.must((x.n > 0) = (x.what = 'bounds' OR x.transform <> 'none'), 'seen', x.transform, x.what, x.n::text);
	END LOOP;
	PERFORM cnt.must(count(DISTINCT t) >= 15, 'seen', 'tables of ledgers', '15', count(DISTINCT t)::text) FROM cnt.seen WHERE what = 'ledgers' HAVING EXISTS (SELECT FROM pg_tables WHERE tablename = 'integer_v_units');
END$$;
