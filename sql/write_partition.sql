-- Partitions: of the lake table (transforms) and of PostgreSQL (routing into foreign tables).
SET client_min_messages = warning;
CREATE SERVER wp FOREIGN DATA WRAPPER bifang_fdw;
CREATE SCHEMA wp;
SET search_path = wp, public;

CREATE FOREIGN TABLE events (ts timestamptz, user_id bigint, kind text, d date, n numeric(10,2)) SERVER wp
	OPTIONS (partition_by 'day(ts), bucket(4, user_id), kind');
INSERT INTO events SELECT '2024-01-01'::timestamptz + g * interval '1 hour', g, (ARRAY['a', 'b', NULL])[1 + g % 3],
	'2024-01-01'::date + g % 7, g FROM generate_series(1, 1000) g;
SELECT files > 100 AS many, rows FROM bifang.commit('events');
SELECT count(*), sum(user_id), count(DISTINCT kind) FROM events;
SELECT * FROM bifang.check('events');
-- More rows, some of them before 1970, and NULL everywhere.
INSERT INTO events SELECT '1969-12-30'::timestamptz + g * interval '1 hour', -g, 'c', NULL, NULL FROM generate_series(1, 100) g;
INSERT INTO events VALUES (NULL, NULL, NULL, NULL, NULL);
SELECT rows FROM bifang.commit('events');
SELECT count(*), sum(user_id), count(*) FILTER (WHERE ts IS NULL) AS nulls FROM events;
SELECT * FROM bifang.check('events');

-- All transforms and types.
SELECT bifang.create_table('wp', 'wp', 'all_transforms',
	'i int, l bigint, s text, d date, ts timestamp, n numeric(20,4), u uuid, y bytea',
	ARRAY['truncate(10, i)', 'bucket(l, 8)', 'truncate(3, s)', 'year(d)', 'hours(ts)', 'bucket(2, n)', 'bucket(16, u)', 'void(y)']) IS NOT NULL;
CREATE FOREIGN TABLE all_transforms (i int, l bigint, s text, d date, ts timestamp, n numeric(20,4), u uuid, y bytea)
	SERVER wp;
INSERT INTO all_transforms SELECT g - 50, g, 's' || g, '2020-01-01'::date - g * 100, '2020-01-01'::timestamp - g * interval '7 h',
	g * 1.5, md5(g::text)::uuid, decode(md5(g::text), 'hex') FROM generate_series(1, 100) g;
SELECT rows FROM bifang.commit('all_transforms');
SELECT count(*), sum(l) FROM all_transforms;
SELECT * FROM bifang.check('all_transforms');

-- Mistakes.
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int', '{day(i)}');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int', '{bucket(i)}');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int', '{week(i)}');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int', '{j}');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int', '{"bucket(4, i"}');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int', '{NULL}');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int', '{i, i}');
SELECT bifang.create_table('wp', 'wp', 'bad', 'ts timestamp', '{day(ts), hour(ts)}');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int); DROP TABLE x; CREATE TABLE y (i int');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int primary key');
SELECT bifang.create_table('wp', 'wp', 'bad', 'i int, i text');
-- Another engine gives the table a new spec while rows wait: each gets the partition that it has by that one.
CREATE FOREIGN TABLE respec (id int, day date) SERVER wp;
INSERT INTO respec SELECT g, '2026-01-01'::date + g % 5 FROM generate_series(1, 1000) g;
SET bifang.tail_limit = '8kB';
INSERT INTO respec VALUES (0, '2026-01-09'), (-1, '2026-01-08');
RESET bifang.tail_limit;
SELECT metadata_location AS old, regexp_replace(metadata_location, '^file:/*', '/') AS path, regexp_replace(metadata_location, '^file:/*(.*)/[^/]*$', '/\1/00050-01234567-0123-0123-0123-0123456789ab.metadata.json') AS new
	FROM bifang.iceberg_tables WHERE table_name = 'respec' \gset
COPY (SELECT m || jsonb_build_object('partition-specs', m->'partition-specs' ||
		'[{"spec-id": 1, "fields": [{"name": "day", "transform": "identity", "source-id": 2, "field-id": 1000}]}]', 'default-spec-id', 1, 'last-partition-id', 1000)
	FROM (SELECT pg_read_file(:'path')::jsonb AS m) x) TO :'new';
UPDATE bifang.iceberg_tables SET metadata_location = :'new', previous_metadata_location = :'old' WHERE table_name = 'respec';
INSERT INTO respec SELECT g, '2026-01-01'::date + g % 5 FROM generate_series(1001, 1100) g;
SELECT rows FROM bifang.commit('respec');
SELECT partition, sum(rows) FROM bifang.files('respec') GROUP BY 1 ORDER BY 1;
SELECT count(*) FROM respec WHERE day = '2026-01-03';
SELECT files, rows FROM bifang.optimize('respec');
SELECT count(*) FROM respec WHERE day = '2026-01-03';
SELECT * FROM bifang.check('respec');

SELECT bifang.create_table('wp', 'wp', 'events', 'i int');
SELECT bifang.create_table('wp', 'wp', NULL, 'i int');
CREATE FOREIGN TABLE bad (i int) SERVER wp OPTIONS (partition_by 'hour(i)');
SELECT count(*) FROM bifang.tables WHERE table_name = 'bad';

-- Routing: a partitioned parent with foreign and ordinary partitions, several Begin and End.
CREATE TABLE parent (id int, region text NOT NULL, v text) PARTITION BY LIST (region);
CREATE FOREIGN TABLE eu PARTITION OF parent FOR VALUES IN ('eu') SERVER wp;
CREATE FOREIGN TABLE us PARTITION OF parent FOR VALUES IN ('us') SERVER wp;
CREATE TABLE other PARTITION OF parent DEFAULT;
INSERT INTO parent SELECT g, (ARRAY['eu', 'us', 'jp'])[1 + g % 3], 'v' FROM generate_series(1, 9000) g;
SELECT tableoid::regclass, count(*) FROM parent GROUP BY 1 ORDER BY 1;
COPY parent FROM stdin;
1	eu	x
2	us	y
3	jp	z
4	eu	x
\.
SELECT tableoid::regclass, count(*) FROM parent GROUP BY 1 ORDER BY 1;
EXPLAIN (COSTS OFF) INSERT INTO parent VALUES (1, 'eu', 'x');
INSERT INTO eu VALUES (1, 'us', 'wrong');
INSERT INTO parent VALUES (1, NULL, 'wrong');
INSERT INTO parent VALUES (1, 'eu', 'x') ON CONFLICT DO NOTHING;
UPDATE other SET region = 'eu' WHERE id = 3;
UPDATE parent SET region = 'eu' WHERE id = 3;
SELECT tableoid::regclass, count(*) FROM parent GROUP BY 1 ORDER BY 1;
CREATE FUNCTION move_row() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.region := 'jp'; RETURN NEW; END $$;
CREATE TRIGGER t BEFORE INSERT ON eu FOR EACH ROW EXECUTE FUNCTION move_row();
INSERT INTO parent VALUES (1, 'eu', 'x');

-- One statement, two tables, and the same table twice.
CREATE FOREIGN TABLE one (a int) SERVER wp;
CREATE FOREIGN TABLE two (a int) SERVER wp;
WITH x AS (INSERT INTO one SELECT generate_series(1, 3) RETURNING a), y AS (INSERT INTO one SELECT a + 10 FROM x RETURNING a)
INSERT INTO two SELECT a FROM x UNION ALL SELECT a FROM y RETURNING a;
SELECT array_agg(a ORDER BY a) FROM one;
SELECT array_agg(a ORDER BY a) FROM two;
SELECT * FROM bifang.check('one');

DROP SCHEMA wp CASCADE;
DROP SERVER wp;
