# Two paths may lead to one file: what is in use stays by whatever name it is reached, what is reached through a link is
# not ours, and a copy of the cluster doesn't touch what the first one has.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('same');
my $dir = PostgreSQL::Test::Utils::tempdir();
my $data = $node->data_dir;

sub sql { return $node->safe_psql('postgres', $_[0]); }

# Of a server: (output, complaints); statements that fail don't end it.
sub run
{
	my ($where, $sql) = @_;
	my ($out, $err) = ('', '');

	$where->psql('postgres', $sql, stdout => \$out, stderr => \$err, on_error_stop => 0);
	return ($out, $err);
}

sub rows { return sql("SELECT count(*) || ' ' || sum(i) FROM $_[0]"); }

# The default live directory by other names: those of its ledgers are not what a look into it shows.
my $live = "$data/bifang/live/" . sql("SELECT oid FROM pg_database WHERE datname = 'postgres'");
sql('INSERT INTO t SELECT 0, g FROM generate_series(1, 10) g');
symlink($live, "$dir/alias") or die $!;
sql(qq{
	CREATE SERVER linked FOREIGN DATA WRAPPER bifang_fdw OPTIONS (live_dir '$dir/alias');
	CREATE SERVER rooted FOREIGN DATA WRAPPER bifang_fdw OPTIONS (live_dir '/proc/self/root$live');
	CREATE FOREIGN TABLE tl (i int) SERVER linked;
	CREATE FOREIGN TABLE tr (i int) SERVER rooted;
	INSERT INTO tl SELECT generate_series(1, 100);
	INSERT INTO tr SELECT generate_series(1, 100)});
is(sql('SELECT bifang.remove_garbage()'), '0', 'nothing is garbage in a directory that has another name');
is(rows('tl'), '100 5050', 'all rows through a link');
is(rows('tr'), '100 5050', 'and through /proc');
is(sql("SELECT (SELECT count(*) FROM bifang.check('tl')) + (SELECT count(*) FROM bifang.check('tr'))"), '0', 'check agrees');

# A warehouse that moved, a link left behind; and the catalog says its new place, or the old one.
mkdir "$dir/first" or die $!;
sql(qq{
	CREATE SERVER moving FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '$dir/first');
	CREATE FOREIGN TABLE tm (i int) SERVER moving;
	INSERT INTO tm SELECT generate_series(1, 100);
	SELECT bifang.commit('tm'), bifang.roll('tm'), bifang.offload('tm')});
rename "$dir/first", "$dir/second" or die $!;
symlink("$dir/second", "$dir/first") or die $!;
is(sql('SELECT bifang.remove_garbage() > 0'), 't', 'live files of an offloaded ledger go');
is(rows('tm'), '100 5050', 'a warehouse behind a link');
sql("UPDATE bifang.iceberg_tables SET metadata_location = replace(metadata_location, '$dir/first', '$dir/second')");
is(sql('SELECT bifang.remove_garbage()'), '0', 'its offload files have two names');
is(rows('tm'), '100 5050', 'and are there');
is(sql("SELECT count(*) FROM bifang.check('tm')"), '0', 'check agrees');

# Links among a table's files, and files of nobody's: neither goes, nor keeps others.
my $table = (glob "$dir/second/*/*")[0];
mkdir "$dir/precious" or die $!;
append_to_file("$dir/precious/1.parquet", 'x');
mkdir "$table/data";
symlink("$dir/precious", "$table/data/link") or die $!;
append_to_file("$table/data/00000-0.parquet", 'x');
append_to_file("$table/data/letter.txt", 'x');
sql("SELECT bifang.drop_table('moving', 'public', 'tm', true)");
my ($out, $err) = run($node, 'SELECT bifang.remove_garbage()');
ok(-e "$dir/precious/1.parquet", 'what a link points to stays');
ok(-l "$table/data/link" && -e "$table/data/letter.txt", 'with the link, and what is not of a table');
like($err, qr/NOTICE: .*is not removed/, 'a NOTICE tells of them');
ok(!-e "$table/data/00000-0.parquet" && !-e "$table/metadata" && !-e "$table/offload", 'the rest is gone');

# Metadata that says another directory is no reason to purge that one.
my $victim = "$dir/victim";
mkdir $victim; mkdir "$victim/data";
append_to_file("$victim/data/1.parquet", 'x');
sql("CREATE FOREIGN TABLE tv (i int) SERVER moving");
my $metadata = sql("SELECT metadata_location FROM bifang.tables WHERE foreign_table = 'tv'::regclass") =~ s{^file://}{}r;
my $text = slurp_file($metadata);
$text =~ s{("location"\s*:\s*")[^"]*}{$1$victim};
unlink $metadata;
append_to_file($metadata, $text);
(undef, $err) = run($node, "SELECT bifang.drop_table('moving', 'public', 'tv', true); SELECT bifang.remove_garbage()");
ok(-e "$victim/data/1.parquet", 'another directory is not purged because metadata says so');

# One directory that can't be emptied doesn't keep the others.
sql(q{INSERT INTO t SELECT 1, g FROM generate_series(1, 10) g; INSERT INTO p SELECT 1, g FROM generate_series(1, 10) g;
	SELECT bifang.roll('t'), bifang.roll('p')});
my ($first, $second) = map { sql("SELECT max(ledger_id) FROM bifang.ledger WHERE table_name = '$_'") } qw(t p);
sql("SELECT bifang.offload('t'), bifang.offload('p')");
chmod 0500, "$live/$first" or die $!;
(undef, $err) = run($node, 'SELECT bifang.remove_garbage()');
like($err, qr/WARNING: .*Permission denied/s, 'a directory that keeps its files is told');
ok(-e "$live/$first" && !-e "$live/$second", 'and another one goes all the same');
chmod 0700, "$live/$first" or die $!;
sql('SELECT bifang.remove_garbage()');
ok(!-e "$live/$first", 'the first one later');
is(sql('SELECT count(*) FROM bifang.garbage'), '0', 'nothing waits');

# A ledger's directory that does not say whose it is.
mkdir "$live/777777" or die $!;
append_to_file("$live/777777/00000000000000000000.log", 'x');
($out, $err) = run($node, 'SELECT bifang.remove_garbage()');
like($err, qr/NOTICE: .*777777" is not removed/, 'a directory of rows that nobody claims is told');
is($out, '0', 'and not removed');
ok(-e "$live/777777/00000000000000000000.log", 'with what is in it');

# A copy of the cluster, and ledgers outside of both.
mkdir "$dir/live" or die $!;
sql(qq{
	CREATE SERVER outside FOREIGN DATA WRAPPER bifang_fdw OPTIONS (live_dir '$dir/live');
	CREATE FOREIGN TABLE o (i int) SERVER outside;
	INSERT INTO o SELECT generate_series(1, 30)});
$node->stop;
my $copy = PostgreSQL::Test::Cluster->new('copy');
system('cp', '-a', $data, $copy->data_dir) == 0 or die 'copying';
$copy->append_conf('postgresql.conf', 'port = ' . $copy->port);
$node->start;
$copy->start;
sql('INSERT INTO o SELECT generate_series(31, 100)');
($out, $err) = run($copy, 'INSERT INTO o VALUES (0)');
like($err, qr/belongs to another copy of this cluster.*HINT:.*bifang\.adopt/s, 'a copy does not write into ledgers of the first');
is(rows('o'), '100 5050', 'what that one acknowledged is there');
run($copy, "SELECT bifang.roll('o'), bifang.offload('o')");
(undef, $err) = run($copy, 'SELECT bifang.remove_garbage()');
like($err, qr/not marked as a directory of this database/, 'nor does its clean-up take them');
is(rows('o'), '100 5050', 'all is there');
sql('INSERT INTO o VALUES (101)');
is(rows('o'), '101 5151', 'and the first goes on');
$copy->safe_psql('postgres', 'INSERT INTO t SELECT 9, 9');
is(sql("SELECT count(*) FROM bifang.check('o')"), '0', 'check agrees');
$copy->stop;

# What is mounted into the data directory is not a part of it: here all that the first one has.
SKIP:
{
	my @mounts = qw(unshare --user --map-current-user --keep-caps --mount);
	my $lake = "$data/bifang";
	my $mounted = $copy->data_dir . '/bifang';

	skip 'nothing can be mounted here', 4 if system("@mounts mount --bind '$lake' '$mounted' 2>/dev/null") != 0;
	sql('INSERT INTO t SELECT 2, g FROM generate_series(1, 70) g');
	my ($n, $sum) = split / /, rows('t');
	system(@mounts, 'sh', '-c', "mount --bind '$lake' '$mounted' && exec pg_ctl -w -s -D '" . $copy->data_dir . "' -l '" . $copy->logfile . "' start") == 0
		or die 'starting the copy';
	$copy->_update_pid(1);
	($out, $err) = run($copy, 'INSERT INTO t VALUES (0, 0)');
	like($err, qr/belongs to another copy of this cluster/, 'a copy does not write into what is mounted into both');
	run($copy, "SELECT bifang.commit('t'), bifang.roll('t'), bifang.offload('t')");
	run($copy, 'SELECT bifang.remove_garbage()');
	is(rows('t'), "$n $sum", 'what the first one acknowledged is there');
	sql('INSERT INTO t VALUES (2, 71)');
	is(rows('t'), join(' ', $n + 1, $sum + 71), 'and the first goes on');
	is(sql("SELECT count(*) FROM bifang.check('t') WHERE severity = 'error'"), '0', 'check agrees');
	$copy->stop;
}
$node->stop;
done_testing();
