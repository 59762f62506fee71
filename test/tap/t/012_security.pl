# Who may read which file: the owner of a table needs the right to name files, whoever queries it needs
# SELECT. Roles, views, functions, cached plans, and metadata that names what it should not.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $data = $ENV{BIFANG_TEST_DATA};
my $node = new_lake('security');
my $dir = PostgreSQL::Test::Utils::tempdir();
my $orders = "$data/shop/orders";
my $pq = "$data/parquet/alpha.parquet";

mkdir "$dir/lake";
$node->safe_psql('postgres', qq{
	CREATE ROLE reader LOGIN; CREATE ROLE files LOGIN; CREATE ROLE plain LOGIN;
	GRANT pg_read_server_files TO files;
	CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '$dir/lake');
	GRANT USAGE ON FOREIGN SERVER s, lake TO reader, files, plain;
	GRANT USAGE ON FOREIGN DATA WRAPPER bifang_fdw TO reader, files, plain;
	GRANT CREATE ON SCHEMA public TO reader, files, plain;
	IMPORT FOREIGN SCHEMA shop FROM SERVER s INTO public OPTIONS (location '$orders');
	IMPORT FOREIGN SCHEMA x FROM SERVER s INTO public OPTIONS (format 'parquet', location '$pq');
	INSERT INTO t VALUES (1, 1);
});

# Runs statements as a role; says what came out, or the error.
sub as
{
	my ($role, $sql) = @_;
	my ($out, $err);

	return $out if $node->psql('postgres', $sql, stdout => \$out, stderr => \$err, extra_params => [ '-U', $role ]) == 0;
	return $err =~ s/.*?ERROR:\s+//sr =~ s/\n.*//sr;
}

sub denied
{
	my ($role, $sql, $what) = @_;

	like(as($role, $sql), qr/permission denied|must be owner/, $what);
	return;
}

# A path in an option, in each place where one can be given.
for my $role ('reader', 'plain')
{
	denied($role, "CREATE FOREIGN TABLE x (a text) SERVER s OPTIONS (location '/etc/passwd')", "$role: location of a table");
	denied($role, "CREATE FOREIGN TABLE x (a text) SERVER s OPTIONS (format 'parquet', location '$pq')", "$role: location of a file");
	denied($role, "CREATE FOREIGN TABLE x (a text) SERVER s OPTIONS (format 'kafka_log', location '/var')", "$role: location of a log");
	denied($role, "CREATE SERVER mine FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '/etc')", "$role: warehouse");
	denied($role, "CREATE SERVER mine FOREIGN DATA WRAPPER bifang_fdw OPTIONS (live_dir '/etc')", "$role: live_dir");
	denied($role, "IMPORT FOREIGN SCHEMA x FROM SERVER s INTO public OPTIONS (format 'parquet', location '/etc/*')", "$role: IMPORT");
	denied($role, "SELECT * FROM bifang.$_", "$role: $_")
		for "parquet_metadata('$pq')", "log_segment('/etc')", "offload_file('/etc/passwd')", "register_table('s', 'a', 'b', '/etc')", 'remove_garbage()';
	denied($role, "SELECT * FROM bifang.$_", "$role: bifang.$_")
		for 'iceberg_tables', 'iceberg_namespace_properties', 'ledger', 'append', 'garbage', 'job';
	denied($role, "$_", "$role: $_")
		for "INSERT INTO bifang.garbage VALUES ('/etc', true, '1', '', now())", "UPDATE bifang.iceberg_tables SET metadata_location = '/etc/passwd'",
		"SELECT nextval('bifang.ledger_id_seq')";
	denied($role, "SELECT * FROM bifang.$_", "$role: bifang.$_ of a table that is not theirs")
		for "check('t')", "commit('t')", "roll('t')", "offload('t')";
	denied($role, "SELECT * FROM $_", "$role: SELECT without a grant") for 't', 'orders', 'alpha';
	denied($role, "SELECT * FROM bifang.$_", "$role: bifang.$_ without a grant") for "manifest('orders')", "snapshots('orders')", "manifest('t')";
}
is(as('plain', q{SELECT count(*), count(metadata_location) FROM bifang.tables}), '2|0', 'paths are not shown to everyone');

# A server of one's own has no directories of one's choice, and works.
is(as('plain', q{SET client_min_messages = error; CREATE SERVER own FOREIGN DATA WRAPPER bifang_fdw; CREATE FOREIGN TABLE own (i int) SERVER own;
	INSERT INTO own VALUES (1), (2); SELECT rows FROM bifang.commit('own'); SELECT sum(i) FROM own}), "2\n3", 'a table without any path');
denied('reader', 'SELECT * FROM own', 'which others do not see');

# Reading is enough to make a table of files, not to write below a path.
is(as('files', "CREATE FOREIGN TABLE theirs (id text) SERVER s OPTIONS (format 'parquet', location '$pq'); SELECT count(*) FROM theirs"), 
	$node->safe_psql('postgres', 'SELECT count(*) FROM alpha'), 'with pg_read_server_files');
$node->safe_psql('postgres', 'ALTER SERVER s OWNER TO files');
denied('files', 'CREATE FOREIGN TABLE w (i int) SERVER s', 'no lake table below a path without pg_write_server_files');
$node->safe_psql('postgres', 'GRANT pg_write_server_files TO files');
is(as('files', 'CREATE FOREIGN TABLE w (i int) SERVER s; INSERT INTO w VALUES (7); SELECT * FROM w'), '7', 'with it');
$node->safe_psql('postgres', 'REVOKE pg_write_server_files FROM files');
denied('files', 'INSERT INTO w VALUES (8)', 'nor a row');
denied('files', "SELECT bifang.$_('w')", "nor $_") for 'commit', 'roll', 'offload';
is(as('files', 'SELECT * FROM w'), '7', 'but reading goes on');
$node->safe_psql('postgres', 'ALTER SERVER s OWNER TO postgres');

# Views and functions: the view's owner needs SELECT, the table's owner the right to its files.
$node->safe_psql('postgres', q{
	CREATE VIEW v AS SELECT count(*) FROM orders;
	GRANT SELECT ON v TO plain;
	CREATE FUNCTION f() RETURNS bigint LANGUAGE sql SECURITY DEFINER AS 'SELECT count(*) FROM orders';
	GRANT SELECT ON theirs TO plain;
	GRANT SELECT ON orders TO files;
});
is(as('plain', 'SELECT * FROM v'), '120000', 'through a view of someone who may');
is(as('plain', 'SELECT f()'), '120000', 'through a function of someone who may');
$node->safe_psql('postgres', 'ALTER VIEW v SET (security_invoker = on)');
denied('plain', 'SELECT * FROM v', 'not with the rights of the caller');
$node->safe_psql('postgres', 'ALTER VIEW v SET (security_invoker = off); ALTER VIEW v OWNER TO files');
is(as('plain', 'SELECT * FROM v'), '120000', 'through a view of someone with SELECT');
$node->safe_psql('postgres', 'ALTER VIEW v OWNER TO reader');
denied('plain', 'SELECT * FROM v', 'not through one of someone without');
is(as('plain', 'SELECT count(*) > 0 FROM theirs'), 't', 'SELECT on a table is enough');

# The owner's right is looked at when the table is used, in plans made before, too.
is(as('postgres', q{PREPARE q AS SELECT count(*) > 0 FROM theirs; EXECUTE q; SET ROLE plain; EXECUTE q; RESET ROLE}), "t\nt", 'a cached plan');
like(as('postgres', q{PREPARE q AS SELECT count(*) > 0 FROM theirs; EXECUTE q; REVOKE pg_read_server_files FROM files; EXECUTE q}), qr/permission denied for option "location"/, 'which does not outlive the right');
denied('plain', 'SELECT count(*) FROM theirs', 'for nobody');
denied('postgres', 'SELECT count(*) FROM theirs', 'not even a superuser');
denied('postgres', 'ANALYZE theirs', 'ANALYZE');

# SET ROLE and SESSION AUTHORIZATION count, in both directions.
denied('postgres', "SET ROLE plain; CREATE FOREIGN TABLE x (a text) SERVER s OPTIONS (location '/etc/passwd')", 'SET ROLE takes the right away');
denied('postgres', "SET SESSION AUTHORIZATION plain; SELECT * FROM bifang.offload_file('/etc/passwd')", 'SET SESSION AUTHORIZATION as well');
denied('plain', 'SET ROLE files', 'nobody becomes someone else');
denied('plain', 'ALTER FOREIGN TABLE theirs OPTIONS (SET location $$/etc/passwd$$)', 'an option of a table of others');
denied('plain', "ALTER FOREIGN TABLE own OPTIONS (ADD location '/etc/passwd')", 'an option of a table of one\'s own');
denied('plain', "ALTER SERVER own OPTIONS (ADD warehouse '/etc')", 'and of a server of one\'s own');

# Credentials are taken in user mappings only; a connection with another's identity is refused.
like(as('postgres', "CREATE $_ OPTIONS (password 'secret')"), qr/invalid option "password"/, "no password: $_")
	for 'SERVER x FOREIGN DATA WRAPPER bifang_fdw', 'FOREIGN TABLE x (a int) SERVER s';
my ($host, $port) = ($node->host, $node->port);
$node->safe_psql('postgres', qq{
	CREATE SERVER remote FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_host '$host', catalog_port '$port', catalog_dbname 'postgres', catalog_schema 'bifang', catalog_name 'lake');
	GRANT USAGE ON FOREIGN SERVER remote TO plain, reader;
	CREATE USER MAPPING FOR plain SERVER remote OPTIONS (user 'postgres', password 'very-secret');
	CREATE USER MAPPING FOR postgres SERVER remote OPTIONS (user 'postgres', password 'very-secret');
	SET bifang.create_on_ddl = off;
	CREATE FOREIGN TABLE far (w int, i int) SERVER remote OPTIONS (namespace 'public', "table" 't');
	GRANT SELECT ON far TO plain, reader;
});
is(as('reader', 'SELECT count(*) FROM pg_user_mappings WHERE umoptions IS NOT NULL'), '0', 'credentials of others do not show');
denied('plain', "ALTER USER MAPPING FOR plain SERVER remote OPTIONS (ADD password_required 'false')", 'only a superuser lets go of passwords');
denied('plain', "ALTER USER MAPPING FOR plain SERVER remote OPTIONS (ADD sslkey '/etc/passwd')", 'or names files');
my $answers = join("\n", map { as($_, 'SELECT count(*) FROM far'), as($_, 'EXPLAIN VERBOSE SELECT * FROM far') } 'plain', 'reader', 'postgres');
unlike($answers, qr/very-secret/, 'no answer has the password');
unlike(as('plain', 'SELECT count(*) FROM far'), qr/^\d+$/, 'the server lets them in by itself, so the connection is refused');
unlike(slurp_file($node->logfile) =~ s/CREATE USER MAPPING.*//gr, qr/very-secret/, 'nor has the log');

# None of the files that are no tables shows, whether they look like JSON or not.
append_to_file("$dir/secret", "top secret line\n" x 100);
append_to_file("$dir/secret.metadata.json", q({"password": top secret}));
for my $option ("format 'parquet', location '$dir/secret'", "location '$dir/secret'", "format 'kafka_log', location '$dir'",
	"location '$dir/secret.metadata.json'")
{
	my $message = as('postgres', "DROP FOREIGN TABLE IF EXISTS x; CREATE FOREIGN TABLE x (value bytea) SERVER s OPTIONS ($option); SELECT * FROM x");

	unlike($message, qr/top secret/, 'an error shows nothing of a file\'s content');
}

# Event trigger and functions cannot be led astray by what a schema in front of pg_catalog has.
is(as('plain', q{SET client_min_messages = error;
	CREATE SCHEMA IF NOT EXISTS evil_plain;}), 'permission denied for database postgres', 'no schema without a grant');
$node->safe_psql('postgres', 'CREATE SCHEMA evil AUTHORIZATION plain');
as('plain', q{CREATE FUNCTION evil.lower(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE plain SUPERUSER'; RETURN $1; END $$;
	CREATE FUNCTION evil.eq(text, text) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN EXECUTE 'ALTER ROLE plain SUPERUSER'; RETURN true; END $$;
	CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.eq)});
$node->safe_psql('postgres', q{SET search_path = evil, pg_catalog, public; CREATE FOREIGN TABLE evil.x2 (i int) SERVER lake; INSERT INTO evil.x2 VALUES (1);
	SELECT bifang.commit('evil.x2'); SELECT * FROM bifang.check('evil.x2'); SELECT * FROM bifang.tables; SELECT * FROM bifang.ledgers});
is($node->safe_psql('postgres', q{SELECT rolsuper FROM pg_roles WHERE rolname = 'plain'}), 'f', 'operators of others are not called');
$node->stop;
done_testing();
