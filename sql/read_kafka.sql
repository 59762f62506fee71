-- Partition directories of a Kafka broker, and predicates that its indexes answer.
SET client_min_messages = warning;
SET TimeZone = 'UTC';
SET datestyle = 'ISO, YMD';
SET intervalstyle = 'postgres';
\getenv data BIFANG_TEST_DATA
\set dir :data '/kafka/*'
\set disorder :data '/kafka/disorder-0'
CREATE SCHEMA rk;
SET search_path = rk, public;
CREATE SERVER rk FOREIGN DATA WRAPPER bifang_fdw OPTIONS (format 'kafka_log');
\getenv root PG_ABS_SRCDIR
\set helpers :root '/test/regress/helpers.sql'
\i :helpers
-- What was searched for, and how many batches that took.
CREATE FUNCTION searched(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT regexp_replace(l, 'index probes.*', 'index probes')
	FROM plan_lines(query, true, 'Foreign Scan|Index Search|Log Read|Filter', '^$') l
$$;

IMPORT FOREIGN SCHEMA x FROM SERVER rk INTO rk OPTIONS (format 'kafka_log', location :'dir');
SELECT relname FROM pg_class WHERE relnamespace = 'rk'::regnamespace AND relkind = 'f' ORDER BY 1;
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'tiny'::regclass AND attnum > 0;
SELECT count(*), count(value), min("offset"), max("offset"), sum("offset") FROM tiny;
SELECT partition, count(*), min("offset"), max("offset"), sum("offset") FROM many GROUP BY 1 ORDER BY 1;
SELECT partition, "offset", "timestamp", convert_from(key, 'UTF8') AS key, convert_from(value, 'UTF8') AS value,
	headers FROM many WHERE "offset" = 7 ORDER BY 1;

-- Values as text or JSON, by declaration.
ALTER FOREIGN TABLE many ALTER COLUMN value TYPE jsonb, ALTER COLUMN key TYPE text;
SELECT key, value->>'name' AS name FROM many WHERE partition = 0 AND "offset" < 3 ORDER BY "offset";

-- Aborted transactions are not shown unless asked for.
SELECT count(*), max("offset") FROM txn;
ALTER FOREIGN TABLE txn OPTIONS (ADD isolation 'read_uncommitted');
SELECT count(*), max("offset") FROM txn;

-- Constants, expressions, parameters; both ends; nothing at all.
SELECT searched('SELECT * FROM rk.many WHERE partition = 1 AND "offset" = 700');
SELECT searched('SELECT * FROM rk.many WHERE partition = 1 AND 700 < "offset" AND "offset" <= 710');
SELECT searched('SELECT * FROM rk.many WHERE partition IN (0) AND "offset" IN (10, 20)');
SELECT searched('SELECT * FROM rk.many WHERE partition = 1 AND "offset" >= (SELECT 1400)');
SELECT searched('SELECT * FROM rk.many WHERE "offset" < 0');
SELECT searched('SELECT * FROM rk.many WHERE "offset" = NULL::bigint AND random() >= 0');
SELECT searched('SELECT * FROM rk.many WHERE "offset" % 500 = 0 AND partition = 0');
SELECT searched('SELECT * FROM rk.disorder WHERE "timestamp" >= ''2100-01-01''');
SELECT searched('SELECT * FROM rk.disorder WHERE "timestamp" < now() - interval ''100 years''');
-- Of a list only what it names, of alternatives each, of a partition only its own.
SELECT count(*) AS batches, max(last_offset) FROM bifang.log_segment(:'disorder');
SELECT searched('SELECT * FROM rk.disorder WHERE "offset" IN (1, 5, 23000)');
SELECT searched('SELECT * FROM rk.disorder WHERE "offset" IN (1, 5, 2300)');
SELECT searched('SELECT * FROM rk.disorder WHERE "offset" < 3 OR "offset" BETWEEN 1200 AND 1202 OR "offset" > 2490');
SELECT searched('SELECT * FROM rk.disorder WHERE ("offset" < 3 OR "offset" > 2490) AND "offset" <> 1 AND "offset" NOT IN (0, 2)');
SELECT searched('SELECT * FROM rk.many WHERE partition = 0 AND "offset" < 3 OR partition = 1 AND "offset" > 1400');
SELECT searched('SELECT * FROM rk.many WHERE partition = 5 OR "offset" < 0');
SELECT searched('SELECT * FROM rk.disorder WHERE "timestamp" > ''infinity''');
SELECT searched('SELECT * FROM rk.disorder WHERE "timestamp" >= ''infinity'' OR "timestamp" < ''-infinity'' OR "timestamp" = ''infinity''');
PREPARE by_list(bigint[]) AS SELECT array_agg("offset" ORDER BY "offset") FROM disorder WHERE "offset" = ANY ($1);
SET plan_cache_mode = force_generic_plan;
EXECUTE by_list('{1,5,2300,99999,-1,NULL}');
EXECUTE by_list('{}');
EXECUTE by_list(NULL);
SELECT searched('EXECUTE by_list(''{7,2300}'')');
RESET plan_cache_mode;
PREPARE by_offset(bigint) AS SELECT partition, "offset" FROM many WHERE "offset" = $1 ORDER BY 1;
SET plan_cache_mode = force_generic_plan;
EXECUTE by_offset(3);
EXECUTE by_offset(1000);
EXECUTE by_offset(NULL);
RESET plan_cache_mode;
SELECT g, x.* FROM generate_series(0, 1400, 700) g,
	LATERAL (SELECT partition, "offset" FROM many WHERE "offset" >= g ORDER BY "offset", partition LIMIT 1) x;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
SELECT searched('SELECT * FROM generate_series(1, 1401, 700) g LEFT JOIN rk.many m ON m."offset" = g AND m.partition = 1');
SELECT m."offset" FROM generate_series(1, 2101, 700) g LEFT JOIN many m ON m."offset" = g AND m.partition = 1 ORDER BY 1;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- Every search agrees with the plain filter.
CREATE TABLE plain AS SELECT partition, "offset", "timestamp" FROM many UNION ALL SELECT 100 + partition, "offset", "timestamp" FROM disorder;
CREATE VIEW both_ways AS SELECT partition, "offset", "timestamp" FROM many UNION ALL SELECT 100 + partition, "offset", "timestamp" FROM disorder;
SELECT o.op, count(*) FILTER (WHERE a.n <> b.n) AS wrong FROM unnest('{<,<=,=,>=,>}'::text[]) o(op),
	generate_series(0, 20) i,
	LATERAL (SELECT min("timestamp") + (max("timestamp") - min("timestamp")) * (i / 20.0) + (i % 3) * interval '1 us' AS t FROM plain) m,
	LATERAL (SELECT (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM rk.plain WHERE "timestamp" %s %L', o.op, m.t), false, true, '')))[1]::text AS n) a,
	LATERAL (SELECT (xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM rk.both_ways WHERE "timestamp" %s %L', o.op, m.t), false, true, '')))[1]::text AS n) b
GROUP BY 1 ORDER BY 1;
-- So do searches for many places at once.
CREATE FUNCTION agree(condition text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	a text;
	b text;
BEGIN
	EXECUTE 'SELECT string_agg(partition || '':'' || "offset", '','' ORDER BY partition, "offset") FROM rk.plain WHERE ' || condition INTO a;
	EXECUTE 'SELECT string_agg(partition || '':'' || "offset", '','' ORDER BY partition, "offset") FROM rk.both_ways WHERE ' || condition INTO b;
	RETURN a IS NOT DISTINCT FROM b;
END$$;
SELECT count(*), count(*) FILTER (WHERE NOT agree(c)) AS wrong FROM (
	SELECT string_agg(CASE g % 5
		WHEN 0 THEN format('"offset" IN (%s, %s, %s)', o, o + 1, 2600 - o)
		WHEN 1 THEN format('("offset" BETWEEN %s AND %s AND partition %s 100)', o, o + 30, (ARRAY['<', '>='])[1 + g % 2])
		WHEN 2 THEN format('"offset" > %s', 2600 - o / 10)
		WHEN 3 THEN format('("offset" < %s AND "offset" <> ALL (ARRAY[3, 17]))', o / 20)
		ELSE format('("timestamp" = (SELECT min("timestamp") FROM rk.plain WHERE "offset" = %s) AND "offset" %% 7 = 0)', o) END, ' OR ') AS c
	FROM generate_series(1, 200) g, LATERAL (SELECT g * 7919 % 2600 AS o) r GROUP BY g % 61) x;

-- Refusals.
CREATE FOREIGN TABLE mixed ("offset" bigint) SERVER rk OPTIONS (location :'dir');
SELECT failure('SELECT * FROM rk.mixed');
ALTER FOREIGN TABLE mixed OPTIONS (ADD topic 'none');
SELECT failure('SELECT * FROM rk.mixed');
ALTER FOREIGN TABLE mixed OPTIONS (SET topic 'tiny');
SELECT count(*) FROM mixed;
ALTER FOREIGN TABLE mixed ADD COLUMN payload text;
SELECT failure('SELECT payload FROM rk.mixed');
SELECT failure('INSERT INTO rk.mixed VALUES (1)');
ALTER FOREIGN TABLE mixed OPTIONS (DROP topic, SET location '/etc');
SELECT failure('SELECT * FROM rk.mixed');

-- The segment's batches.
\set seg :data '/kafka/txn-0'
SELECT count(*), sum(records), count(*) FILTER (WHERE control) AS control, bool_and(transactional) AS all_txn,
	string_agg(DISTINCT codec, ',' ORDER BY codec) AS codecs FROM bifang.log_segment(:'seg');

DROP SCHEMA rk CASCADE;
DROP SERVER rk CASCADE;
