# Version 0.1 of the extension, with what it has of tables, becomes the newest one.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('update');

sub in { return $node->safe_psql('postgres', $_[0]); }

# What the tables of 0.1 hold is what those of today hold without the newer columns.
my %columns = (
	iceberg_tables => 'catalog_name, table_namespace, table_name, metadata_location, previous_metadata_location, iceberg_type',
	ledger => 'ledger_id, table_uuid, table_namespace, table_name, state, schema_id, origin, directory, offload_path, created_at, closed_at, offloaded_at',
	append => 'ledger_id, end_entry, segment_base, end_position, written_at',
	job => 'job_id, kind, table_uuid, table_namespace, table_name, started_at, ended_at, rows, files, bytes, snapshot_id, error');
my $location = in(q{
	CREATE FOREIGN TABLE gone (i int) SERVER lake;
	CREATE SERVER other FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE o (i int) SERVER other;
	INSERT INTO o VALUES (7);
	SELECT substring(metadata_location FROM '(.*)/metadata/') FROM bifang.iceberg_tables WHERE table_name = 'gone';
});
in("INSERT INTO t SELECT 1, g FROM generate_series(1, 1000) g; SELECT bifang.commit('t'), bifang.roll('t'), bifang.offload('t'); INSERT INTO t SELECT 2, g FROM generate_series(1, 1000) g");
in("INSERT INTO p SELECT g, g FROM generate_series(1, 100) g; INSERT INTO gone VALUES (1), (2); SELECT bifang.commit('gone'); SELECT bifang.drop_table('lake', 'public', 'gone')");
in("CREATE TABLE kept_$_ AS SELECT $columns{$_} FROM bifang.$_") for keys %columns;
in('CREATE TABLE kept_id AS SELECT l.last_value, j.last_value AS job FROM bifang.ledger_id_seq l, bifang.job_id_seq j');
in('DROP EXTENSION bifang_fdw CASCADE');
in("CREATE EXTENSION bifang_fdw VERSION '0.1'");
in("INSERT INTO bifang.$_ ($columns{$_}) SELECT $columns{$_} FROM kept_$_") for keys %columns;
in(q{
	SELECT setval('bifang.ledger_id_seq', last_value), setval('bifang.job_id_seq', job) FROM kept_id;
	SET bifang.create_on_ddl = off;
	CREATE SERVER aaa FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name 'lake');
	CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
	CREATE SERVER second FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name 'other');
	CREATE SERVER third FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name 'other');
	CREATE FOREIGN TABLE t (w int, i int, n numeric(12,3), s text, ts timestamptz) SERVER lake;
	CREATE FOREIGN TABLE p (w int, i int, s text) SERVER lake;
	CREATE FOREIGN TABLE o (i int) SERVER second;
	CREATE FOREIGN TABLE thirds (i int) SERVER third OPTIONS ("table" 'o');
});
my ($rc, $out, $err) = outcome($node, 'SELECT count(*) FROM t');
like($err, qr/HINT:  .*ALTER EXTENSION bifang_fdw UPDATE/, 'before: what to do is said');
isnt($rc, 0, 'not read before');
# Marks of directories had three lines.
for my $mark (glob($node->data_dir . '/bifang/l*/*/table ' . $node->data_dir . '/bifang/live/*/*/table'))
{
	my @lines = split /^/, slurp_file($mark);

	open my $f, '>', $mark or die;
	print $f @lines[0 .. 2];
	close $f;
}
in('ALTER EXTENSION bifang_fdw UPDATE');
is(in('SELECT count(*), sum(i) FROM t'), '2000|1001000', 'all rows of all tiers');
is(in('SELECT count(*), sum(i) FROM p'), '100|5050', 'of the other table');
is(in("SELECT count(*) FROM bifang.check('t')"), '0', 'check has nothing to say');
in("INSERT INTO t SELECT 3, g FROM generate_series(1, 10) g; SELECT bifang.commit('t')");
is(in('SELECT count(*) FROM t'), '2010', 'written');
is(in("SELECT count(*) FROM bifang.ledgers WHERE table_name = 't'"), '2', 'its old ledgers are its own, the open one goes on');
is(in("SELECT string_agg(DISTINCT kind, ',' ORDER BY kind) FROM bifang.jobs WHERE table_name = 't'"), 'commit,offload,roll', 'its jobs, too');
is(in('SELECT string_agg(catalog_name, \',\' ORDER BY catalog_name) FROM bifang.catalog'), 'lake,other', 'each catalog has an owner');
is(in("SELECT string_agg(server_name, ',' ORDER BY catalog_name) FROM bifang.catalog"), 'lake,second', 'the one of its name, else the oldest that says it');
is(in('SELECT * FROM o'), '7', 'which reads it');
($rc, $out, $err) = outcome($node, 'SELECT * FROM thirds');
like($err, qr/catalog "other" belongs to server "second"/, 'another does not');
is(in("SELECT bifang.register_table('lake', 'public', 'back', '$location') IS NOT NULL; CREATE FOREIGN TABLE back (i int) SERVER lake; SELECT count(*) FROM back"), "t\n2", 'a table that had been dropped comes back with its rows');

# Both ways lead to the same objects.
my $objects = q{SELECT string_agg(pg_describe_object(classid, objid, 0), E'\n' ORDER BY pg_describe_object(classid, objid, 0)) FROM pg_depend
	WHERE deptype = 'e' AND refclassid = 'pg_extension'::regclass AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'bifang_fdw')};
my $updated = in($objects);
in('CREATE DATABASE fresh');
$node->safe_psql('fresh', 'CREATE EXTENSION bifang_fdw');
is($node->safe_psql('fresh', $objects), $updated, 'the objects of a fresh extension');
$node->stop;
done_testing();
