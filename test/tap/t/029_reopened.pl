# A write and its sync go through one opening of the file, however few descriptors a session has: bytes that could
# not be written back are told to who has the file open then, and to nobody else. forget.c tells when a file is
# closed for the last time with bytes that were not synced, and makes syncs fail.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $dir = build_forget();
my $parts = 60;

my $node = PostgreSQL::Test::Cluster->new('reopened');
$node->init;
$node->append_conf('postgresql.conf', "fsync = on\nmax_files_per_process = 64\nmax_locks_per_transaction = 200\n");
start_forgetful($node, $dir);

# Statements that fail as such don't end the session.
sub run
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');

	$node->psql('postgres', $sql, stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($out, $err);
}

run(qq{
	CREATE EXTENSION bifang_fdw;
	CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
	CREATE TABLE parent (k int, v text) PARTITION BY LIST (k);
	DO \$\$
	BEGIN
		FOR k IN 1 .. $parts LOOP
			EXECUTE format('CREATE FOREIGN TABLE part_%1\$s PARTITION OF parent FOR VALUES IN (%1\$s) SERVER lake', k);
			COMMIT;
		END LOOP;
	END\$\$});

# Several statements write each file again and again, while the server closes and opens them.
my $insert = "INSERT INTO parent SELECT 1 + g % $parts, g::text FROM generate_series(1, 600) g;";
my ($out, $err) = run("BEGIN; $insert $insert $insert COMMIT; SELECT count(*) FROM parent");
is($err, '', 'many files, few descriptors');
is($out, '1800', 'all rows');
my $calls = slurp_file("$dir/calls");
is(join(' ', $calls =~ m{^\d+ untold .*/(\d+/\w+\.\w+)$}mg), '', 'each file stayed open until it was synced');
cmp_ok(scalar(() = $calls =~ m{^\d+ sync .*\.log$}mg), '>=', $parts, 'and it was');
($out) = run("$insert SELECT count(*) FROM parent");
is($out, '2400', 'a transaction later');

# A file that is synced before its time, since others need descriptors, and can't be.
my ($first) = $calls =~ m{^\d+ sync (\S*/\d+/\d+\.log)$}m;
my ($end) = $first =~ m{(/\d+/\d+\.log)$};
(undef, $err) = run(qq{
	BEGIN;
	\\! printf $end > $dir/fail
	$insert
	$insert
	\\! rm $dir/fail
	COMMIT;});
like($err, qr/fsync file/, 'its failure is not forgotten: COMMIT fails when syncs succeed again');
is((run('SELECT count(*) FROM parent'))[0], '2400', 'nothing of the transaction counts');
is((run("$insert SELECT count(*) FROM parent"))[0], '3000', 'the next one goes on');
is((run("SELECT count(*) FROM bifang.check('parent')"))[0], '0', 'check finds nothing');

$node->stop;
done_testing();
