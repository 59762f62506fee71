# A sync that failed is told once, and what it was to make durable may be gone from the page cache: the transaction
# can't commit any more, and who comes later makes durable itself what it relies on. forget.c makes syncs fail.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $dir = build_forget();
my $node = PostgreSQL::Test::Cluster->new('failed_sync');
$node->init;
$node->append_conf('postgresql.conf', "fsync = on\nbifang.ledger_size_max = '1GB'\n");
start_forgetful($node, $dir);
$node->safe_psql('postgres', q{
	CREATE EXTENSION bifang_fdw;
	CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE t (i int, b bytea) SERVER lake;
	CREATE TABLE noise AS SELECT string_agg(decode(md5(g::text), 'hex'), '' ORDER BY g) AS b FROM generate_series(1, 300000) g;
});

# Statements that fail as such don't end the session.
sub run
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', $sql, stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($out, $err);
}

# The directory of all ledgers is made, and that name can't be synced.
append_to_file("$dir/fail", '/bifang/live');
my (undef, $complaint) = run('INSERT INTO t VALUES (1)');
like($complaint, qr/fsync directory/, 'the name of a new directory is not durable: no row');
unlink "$dir/fail";
my $before = -s "$dir/calls";
run('INSERT INTO t VALUES (1)');
like(slurp_file("$dir/calls", $before), qr{syncdir \S*/bifang/live$}m, 'who comes later syncs it');
is((run('SELECT count(*) FROM t'))[0], '1', 'and has its row');

# The end of a segment, in a savepoint.
my $many = 'DO $$ BEGIN FOR i IN 1..40 LOOP INSERT INTO t SELECT i, b FROM noise; END LOOP; END $$';
my ($out, $err) = run(qq{
	BEGIN;
	INSERT INTO t VALUES (2);
	SAVEPOINT s;
	\\! printf .log > $dir/fail
	$many;
	\\! rm $dir/fail
	ROLLBACK TO s;
	COMMIT;
	SELECT 'rows', count(*) FROM t});
like($err, qr/fsync file.*(failed to make bytes durable)/s, 'a sync that failed at the end of a segment fails COMMIT too, savepoint or not');
like($out, qr/^rows\|1$/m, 'nothing of the transaction counts');
is((run('INSERT INTO t VALUES (3); SELECT count(*) FROM t'))[0], '2', 'the next one goes on');
is((run("SELECT count(*) FROM bifang.check('t')"))[0], '0', 'check finds nothing');
$node->stop;
done_testing();
