/* sql/bifang_fdw--0.1.sql: stays as it is; what is new since goes into bifang_fdw--0.1--0.2.sql */

\echo Use "CREATE EXTENSION bifang_fdw" to load this file. \quit

-- The wrapper -----------------------------------------------------------------------------------

CREATE FUNCTION bifang.fdw_handler() RETURNS fdw_handler
	LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'bifang_fdw_handler';
COMMENT ON FUNCTION bifang.fdw_handler() IS 'handler of the foreign data wrapper bifang_fdw';

CREATE FUNCTION bifang.fdw_validator(text[], oid) RETURNS void
	LANGUAGE C STRICT AS 'MODULE_PATHNAME', 'bifang_fdw_validator';
COMMENT ON FUNCTION bifang.fdw_validator(text[], oid) IS 'option validator of bifang_fdw';

CREATE FOREIGN DATA WRAPPER bifang_fdw
	HANDLER bifang.fdw_handler VALIDATOR bifang.fdw_validator;
COMMENT ON FOREIGN DATA WRAPPER bifang_fdw IS
	'lake-stream tables: Iceberg, Parquet and a live log as one SQL table';

-- The catalog -----------------------------------------------------------------------------------
-- Written by the extension's C code only; a role that runs PyIceberg or another engine against the
-- two standard tables needs explicit grants on those.

CREATE TABLE bifang.iceberg_tables (
	catalog_name varchar(255) NOT NULL,
	table_namespace varchar(255) NOT NULL,
	table_name varchar(255) NOT NULL,
	metadata_location varchar(1000),
	previous_metadata_location varchar(1000),
	iceberg_type varchar(5),
	PRIMARY KEY (catalog_name, table_namespace, table_name)
) USING heap;
COMMENT ON TABLE bifang.iceberg_tables IS
	'where the metadata of each Iceberg table stands; layout of the Iceberg SQL catalog, version V1';

CREATE TABLE bifang.iceberg_namespace_properties (
	catalog_name varchar(255) NOT NULL,
	namespace varchar(255) NOT NULL,
	property_key varchar(255) NOT NULL,
	property_value varchar(1000),
	PRIMARY KEY (catalog_name, namespace, property_key)
) USING heap;
COMMENT ON TABLE bifang.iceberg_namespace_properties IS
	'namespaces of the Iceberg SQL catalog';

CREATE SEQUENCE bifang.ledger_id_seq AS bigint;
COMMENT ON SEQUENCE bifang.ledger_id_seq IS 'numbers of ledgers, unique within the database';

CREATE TABLE bifang.ledger (
	ledger_id bigint PRIMARY KEY,
	table_uuid text NOT NULL,
	table_namespace text NOT NULL,
	table_name text NOT NULL,
	state "char" NOT NULL CHECK (state IN ('o', 'c', 'f', 't')),
	schema_id integer NOT NULL,
	origin text NOT NULL,
	directory text NOT NULL,
	offload_path text,
	created_at timestamptz NOT NULL,
	closed_at timestamptz,
	offloaded_at timestamptz
) USING heap;
CREATE INDEX ledger_table_idx ON bifang.ledger (table_uuid, ledger_id);
CREATE INDEX ledger_state_idx ON bifang.ledger (table_uuid, state);
COMMENT ON TABLE bifang.ledger IS 'append-only sequences of rows, the log of each table';
COMMENT ON COLUMN bifang.ledger.table_name IS 'name of the table when the ledger was made';
COMMENT ON COLUMN bifang.ledger.state IS 'o open, c closed, f offloaded, t trimmed';
COMMENT ON COLUMN bifang.ledger.origin IS
	'cluster and database that may write it: <system identifier>/<database oid>';

CREATE TABLE bifang.append (
	ledger_id bigint NOT NULL,
	end_entry bigint NOT NULL,
	segment_base bigint NOT NULL,
	end_position bigint NOT NULL,
	written_at timestamptz NOT NULL,
	PRIMARY KEY (ledger_id, end_entry)
) USING heap;
COMMENT ON TABLE bifang.append IS
	'acknowledged ends of ledgers; the largest visible one counts, smaller ones are pruned';

CREATE TABLE bifang.garbage (
	path text NOT NULL,
	is_dir boolean NOT NULL,
	xid xid8 NOT NULL,
	reason text NOT NULL,
	queued_at timestamptz NOT NULL
) USING heap;
COMMENT ON TABLE bifang.garbage IS
	'files that no row names any more, to be removed once xid is older than every snapshot';

CREATE SEQUENCE bifang.job_id_seq AS bigint;
COMMENT ON SEQUENCE bifang.job_id_seq IS 'numbers of jobs';

CREATE TABLE bifang.job (
	job_id bigint PRIMARY KEY,
	kind text NOT NULL,
	table_uuid text NOT NULL,
	table_namespace text NOT NULL,
	table_name text NOT NULL,
	started_at timestamptz NOT NULL,
	ended_at timestamptz NOT NULL,
	rows bigint NOT NULL,
	files bigint NOT NULL,
	bytes bigint NOT NULL,
	snapshot_id bigint,
	error text
) USING heap;
COMMENT ON TABLE bifang.job IS 'what commit, roll, offload and clean-up did';

SELECT pg_catalog.pg_extension_config_dump('bifang.iceberg_tables', '');
SELECT pg_catalog.pg_extension_config_dump('bifang.iceberg_namespace_properties', '');
SELECT pg_catalog.pg_extension_config_dump('bifang.ledger_id_seq', '');
SELECT pg_catalog.pg_extension_config_dump('bifang.ledger', '');
SELECT pg_catalog.pg_extension_config_dump('bifang.append', '');
SELECT pg_catalog.pg_extension_config_dump('bifang.job', '');
SELECT pg_catalog.pg_extension_config_dump('bifang.job_id_seq', '');
-- garbage is not dumped: its transaction ids mean nothing in another cluster.

-- Views -----------------------------------------------------------------------------------------

CREATE VIEW bifang.tables AS
SELECT t.catalog_name,
	t.table_namespace AS namespace,
	t.table_name,
	f.relid AS foreign_table,
	CASE WHEN pg_catalog.pg_has_role(current_user, 'pg_read_server_files', 'MEMBER')
		THEN t.metadata_location END AS metadata_location
FROM bifang.iceberg_tables t
LEFT JOIN (
	SELECT ft.ftrelid::regclass AS relid,
		coalesce((SELECT o.option_value FROM pg_catalog.pg_options_to_table(s.srvoptions) o
			WHERE o.option_name = 'catalog_name'), s.srvname) AS catalog_name,
		(SELECT o.option_value FROM pg_catalog.pg_options_to_table(ft.ftoptions) o
			WHERE o.option_name = 'namespace') AS namespace,
		(SELECT o.option_value FROM pg_catalog.pg_options_to_table(ft.ftoptions) o
			WHERE o.option_name = 'table') AS table_name
	FROM pg_catalog.pg_foreign_table ft
	JOIN pg_catalog.pg_foreign_server s ON s.oid = ft.ftserver
	JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw
	WHERE w.fdwname = 'bifang_fdw'
) f ON f.catalog_name = t.catalog_name AND f.namespace = t.table_namespace
	AND f.table_name = t.table_name
WHERE t.iceberg_type IS NULL OR t.iceberg_type = 'TABLE';
COMMENT ON VIEW bifang.tables IS
	'lake tables of the catalog and the foreign tables bound to them, if any';

CREATE VIEW bifang.ledgers AS
SELECT l.ledger_id,
	l.table_namespace AS namespace,
	l.table_name,
	l.table_uuid,
	CASE l.state WHEN 'o' THEN 'open' WHEN 'c' THEN 'closed' WHEN 'f' THEN 'offloaded'
		ELSE 'trimmed' END AS state,
	l.schema_id,
	coalesce(a.end_entry, 0) AS entries,
	l.created_at,
	a.written_at AS last_written_at,
	l.closed_at,
	l.offloaded_at
FROM bifang.ledger l
LEFT JOIN LATERAL (
	SELECT p.end_entry, p.written_at FROM bifang.append p
	WHERE p.ledger_id = l.ledger_id ORDER BY p.end_entry DESC LIMIT 1
) a ON true;
COMMENT ON VIEW bifang.ledgers IS 'ledgers and how many entries of each are acknowledged';

CREATE VIEW bifang.jobs AS
SELECT job_id, kind, table_namespace AS namespace, table_name, started_at, ended_at,
	rows, files, bytes, snapshot_id, error
FROM bifang.job;
COMMENT ON VIEW bifang.jobs IS 'what commit, roll, offload and clean-up did';

-- Functions that write --------------------------------------------------------------------------

CREATE FUNCTION bifang.create_table(server name, namespace text, table_name text,
	columns regclass, partition_by text[] DEFAULT '{}') RETURNS text
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'bifang_create_table_like';
COMMENT ON FUNCTION bifang.create_table(name, text, text, regclass, text[]) IS
	'makes a lake table with the columns of a relation; returns its uuid';

CREATE FUNCTION bifang.create_table(server name, namespace text, table_name text,
	columns text, partition_by text[] DEFAULT '{}') RETURNS text
	LANGUAGE C VOLATILE AS 'MODULE_PATHNAME', 'bifang_create_table_text';
COMMENT ON FUNCTION bifang.create_table(name, text, text, text, text[]) IS
	'makes a lake table from a column list such as ''id bigint not null, ts timestamptz''; returns its uuid';

CREATE FUNCTION bifang.register_table(server name, namespace text, table_name text, location text)
	RETURNS text
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_register_table';
COMMENT ON FUNCTION bifang.register_table(name, text, text, text) IS
	'adopts an existing Iceberg table (directory or metadata file) into the catalog; returns its uuid';

CREATE FUNCTION bifang.drop_table(server name, namespace text, table_name text,
	purge boolean DEFAULT false) RETURNS void
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_drop_table';
COMMENT ON FUNCTION bifang.drop_table(name, text, text, boolean) IS
	'removes a lake table from the catalog; with purge its files go as well, once nobody can see them';

CREATE FUNCTION bifang.commit("table" regclass, OUT snapshot_id bigint, OUT files integer,
	OUT rows bigint)
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_commit';
COMMENT ON FUNCTION bifang.commit(regclass) IS
	'names all acknowledged rows of the log in the lake (branch bifang of the Iceberg table)';

CREATE FUNCTION bifang.roll("table" regclass, wait boolean DEFAULT false) RETURNS integer
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_roll';
COMMENT ON FUNCTION bifang.roll(regclass, boolean) IS
	'closes the open ledgers that hold rows and that nobody writes (wait: waits for writers); returns how many';

CREATE FUNCTION bifang.offload("table" regclass, OUT ledgers integer, OUT entries bigint,
	OUT bytes bigint)
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_offload';
COMMENT ON FUNCTION bifang.offload(regclass) IS
	'copies closed ledgers to offload files in the lake; their live files become garbage';

CREATE FUNCTION bifang.remove_garbage() RETURNS integer
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_remove_garbage';
COMMENT ON FUNCTION bifang.remove_garbage() IS
	'removes files that nothing names and that no running snapshot can see; returns how many paths';

CREATE FUNCTION bifang.check("table" regclass, OUT severity text, OUT subject text, OUT what text)
	RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_check';
COMMENT ON FUNCTION bifang.check(regclass) IS
	'verifies coverage and files of a table; no rows = all is well';

CREATE FUNCTION bifang.on_create_foreign_table() RETURNS event_trigger
	LANGUAGE C AS 'MODULE_PATHNAME', 'bifang_on_create_foreign_table';
COMMENT ON FUNCTION bifang.on_create_foreign_table() IS
	'binds a new foreign table to its lake table and makes that when there is none';

CREATE EVENT TRIGGER bifang_on_create_foreign_table ON ddl_command_end
	WHEN TAG IN ('CREATE FOREIGN TABLE')
	EXECUTE FUNCTION bifang.on_create_foreign_table();
COMMENT ON EVENT TRIGGER bifang_on_create_foreign_table IS
	'binds new foreign tables of bifang_fdw to their lake tables';

-- Who may do what: functions on a table check that the caller owns the foreign table, functions on
-- a server that the caller has USAGE on it; remove_garbage is for superusers and whom they grant it.

GRANT USAGE ON SCHEMA bifang TO PUBLIC;
REVOKE ALL ON bifang.iceberg_tables, bifang.iceberg_namespace_properties, bifang.ledger,
	bifang.append, bifang.garbage, bifang.job FROM PUBLIC;
REVOKE ALL ON SEQUENCE bifang.ledger_id_seq, bifang.job_id_seq FROM PUBLIC;
GRANT SELECT ON bifang.tables, bifang.ledgers, bifang.jobs TO PUBLIC;
REVOKE ALL ON FUNCTION bifang.remove_garbage() FROM PUBLIC;

-- Functions that read ---------------------------------------------------------------------------
-- READ-SECTION-BEGIN

CREATE FUNCTION bifang.options(OUT name text, OUT applies_to text, OUT kind text,
	OUT default_value text, OUT role text, OUT description text) RETURNS SETOF record
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'bifang_options';
COMMENT ON FUNCTION bifang.options() IS
	'options of servers, foreign tables, columns and IMPORT FOREIGN SCHEMA';

CREATE FUNCTION bifang.parquet_metadata(path text, OUT file text, OUT row_group integer,
	OUT rows bigint, OUT column_path text, OUT physical_type text, OUT codec text,
	OUT encodings text, OUT value_count bigint, OUT null_count bigint, OUT compressed_bytes bigint,
	OUT uncompressed_bytes bigint, OUT min_value text, OUT max_value text, OUT created_by text)
	RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_parquet_metadata';
COMMENT ON FUNCTION bifang.parquet_metadata(text) IS
	'row groups and columns of Parquet files, by path or glob';

CREATE FUNCTION bifang.log_segment(path text, OUT file text, OUT "position" bigint,
	OUT bytes integer, OUT base_offset bigint, OUT last_offset bigint, OUT records integer,
	OUT codec text, OUT base_timestamp timestamptz, OUT max_timestamp timestamptz,
	OUT producer_id bigint, OUT transactional boolean, OUT control boolean) RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_log_segment';
COMMENT ON FUNCTION bifang.log_segment(text) IS
	'batches of a log segment, or of all segments of a Kafka partition or live ledger';

CREATE FUNCTION bifang.offload_file(path text, OUT entries bigint, OUT batches bigint,
	OUT index_blocks bigint, OUT bytes bigint, OUT min_timestamp timestamptz,
	OUT max_timestamp timestamptz, OUT avro_schema text) RETURNS SETOF record
	LANGUAGE C VOLATILE STRICT AS 'MODULE_PATHNAME', 'bifang_offload_file';
COMMENT ON FUNCTION bifang.offload_file(text) IS 'what an offload file holds';

CREATE FUNCTION bifang.manifest("table" regclass, OUT form text, OUT file text,
	OUT ledger_id bigint, OUT ranges text, OUT rows bigint, OUT bytes bigint, OUT spec_id integer,
	OUT sequence_number bigint) RETURNS SETOF record
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'bifang_manifest';
COMMENT ON FUNCTION bifang.manifest(regclass) IS
	'Parquet files, logical ranges and live ranges that make up a table now';

CREATE FUNCTION bifang.snapshots("table" regclass, OUT snapshot_id bigint, OUT parent_id bigint,
	OUT sequence_number bigint, OUT committed_at timestamptz, OUT operation text, OUT refs text,
	OUT summary jsonb) RETURNS SETOF record
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'bifang_snapshots';
COMMENT ON FUNCTION bifang.snapshots(regclass) IS 'snapshots of a lake table''s metadata';

CREATE FUNCTION bifang.refs("table" regclass, OUT name text, OUT kind text, OUT snapshot_id bigint,
	OUT committed_at timestamptz) RETURNS SETOF record
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'bifang_refs';
COMMENT ON FUNCTION bifang.refs(regclass) IS 'branches and tags of a lake table';

CREATE FUNCTION bifang.history("table" regclass, OUT made_current_at timestamptz,
	OUT snapshot_id bigint, OUT parent_id bigint, OUT is_current_ancestor boolean)
	RETURNS SETOF record
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'bifang_history';
COMMENT ON FUNCTION bifang.history(regclass) IS
	'when which snapshot became the current one of a lake table';

CREATE FUNCTION bifang.files("table" regclass, OUT file text, OUT format text, OUT partition text,
	OUT spec_id integer, OUT rows bigint, OUT bytes bigint, OUT delete_files integer,
	OUT sequence_number bigint, OUT snapshot_id bigint, OUT first_row_id bigint)
	RETURNS SETOF record
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'bifang_files';
COMMENT ON FUNCTION bifang.files(regclass) IS
	'data files of a lake table at the point in time that it is read at';

CREATE FUNCTION bifang.manifests("table" regclass, OUT file text, OUT content text,
	OUT bytes bigint, OUT spec_id bigint, OUT sequence_number bigint, OUT snapshot_id bigint,
	OUT added_files bigint, OUT existing_files bigint, OUT deleted_files bigint,
	OUT added_rows bigint, OUT existing_rows bigint, OUT deleted_rows bigint) RETURNS SETOF record
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'bifang_manifests';
COMMENT ON FUNCTION bifang.manifests(regclass) IS
	'manifests of the snapshot that a lake table is read at';

CREATE FUNCTION bifang.partitions("table" regclass, OUT partition text, OUT spec_id integer,
	OUT files bigint, OUT rows bigint, OUT bytes bigint, OUT files_with_deletes bigint)
	RETURNS SETOF record
	LANGUAGE C STABLE STRICT AS 'MODULE_PATHNAME', 'bifang_partitions';
COMMENT ON FUNCTION bifang.partitions(regclass) IS
	'partitions of a lake table, with what is in them';

-- READ-SECTION-END
