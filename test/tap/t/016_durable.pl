# What COMMIT says is on disk: kill -9 alone proves nothing, for the page cache survives it. Here a library between the
# server and its system calls (forget.c) keeps what a power failure would leave of the lake's files: bytes as of their
# last sync, names as of their directory's. WAL is all there, so whatever a committed row names must be there too.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $dir = build_forget();
my $log = "$dir/calls";
my $shadow = "$dir/shadow";
my $node = PostgreSQL::Test::Cluster->new('durable');
my $root = $node->data_dir . '/bifang';

$node->init;
# Nobody but the session itself writes WAL out, so that the last sync of WAL is its COMMIT's.
$node->append_conf('postgresql.conf', "fsync = on\nmax_prepared_transactions = 10\nwal_sync_method = fdatasync\n" .
	"wal_writer_delay = 10s\nautovacuum = off\ncheckpoint_timeout = 1h\nbifang.ledger_size_max = '256kB'\n");
start_forgetful($node, $dir);
$node->safe_psql('postgres', q{
	CREATE EXTENSION bifang_fdw;
	CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE t (w int, i int, n numeric(12,3), s text, ts timestamptz) SERVER lake;
	CREATE FOREIGN TABLE p (w int, i int, s text) SERVER lake OPTIONS (partition_by 'bucket(3, w), truncate(10, i)');
	CREATE TABLE twin (w int, i int, n numeric(12,3), s text, ts timestamptz);
	CREATE TABLE ptwin (w int, i int, s text);
});

# The calls that statements made, as [what, path] in order.
sub calls_of
{
	my ($sql) = @_;
	my $from = -s $log // 0;

	$node->safe_psql('postgres', $sql);
	my @calls = map { [ (split / /, $_, 3)[ 1, 2 ] ] } split /\n/, slurp_file($log, $from);
	note join "\n", map { "@$_" =~ s/\Q$root\E\///r } @calls;
	return @calls;
}

# The number of the first (or the last) such call, or -1.
sub first_call
{
	my ($what, $path, @calls) = @_;
	my ($i) = grep { $calls[$_][0] eq $what && $calls[$_][1] =~ $path } 0 .. $#calls;
	return $i // -1;
}

sub last_call
{
	my ($what, $path, @calls) = @_;
	my $i = first_call($what, $path, reverse @calls);
	return $i < 0 ? -1 : $#calls - $i;
}

# Every file that got its name was synced before it and its directory after it, and all before the last sync of WAL.
sub published_well
{
	my ($what, @calls) = @_;
	my $wal = last_call('wal', qr/./, @calls);
	my @bad;
	my @renames = grep { $calls[$_][0] eq 'rename' } 0 .. $#calls;

	for my $i (@renames)
	{
		my ($dir) = $calls[$i][1] =~ m{^(.*)/};
		my $synced = first_call('sync', qr/^\Q$calls[$i][1]\E\.tmp/, @calls);
		my $named = last_call('syncdir', qr/^\Q$dir\E$/, @calls);

		push @bad, $calls[$i][1] unless $synced >= 0 && $synced < $i && $i < $named && $named < $wal;
	}
	cmp_ok(scalar(@renames), '>', 0, "$what: files are published");
	is("@bad", '', "$what: each synced, named, its name synced, and only then committed");
	return;
}

my $rows = "INSERT INTO %s SELECT 1, g, g * 1.5, repeat('s', g %% 50), '2024-01-01' FROM generate_series(1, 1000) g";
my $insert = join '; ', map { sprintf $rows, $_ } qw(t twin);

# COMMIT of a new ledger, then of one that exists; PREPARE TRANSACTION.
my @calls = calls_of("BEGIN; $insert; COMMIT");
my $bytes = last_call('sync', qr{/live/.*\.log$}, @calls);
my $names = last_call('syncdir', qr{/live/\d+/\d+$}, @calls);
my $wal = last_call('wal', qr/./, @calls);
cmp_ok($bytes, '>=', 0, "COMMIT syncs the ledger's bytes");
cmp_ok($names, '>', $bytes, 'and then the directory of its new files');
cmp_ok($wal, '>', $names, 'before its own record');
published_well('new ledger', @calls);
@calls = calls_of("BEGIN; $insert; COMMIT");
$bytes = last_call('sync', qr{/live/.*\.log$}, @calls);
cmp_ok($bytes, '>=', 0, "COMMIT syncs a known ledger's bytes");
cmp_ok(last_call('wal', qr/./, @calls), '>', $bytes, 'before its own record');
@calls = calls_of("BEGIN; $insert; PREPARE TRANSACTION 'x'");
$bytes = last_call('sync', qr{/live/.*\.log$}, @calls);
cmp_ok($bytes, '>=', 0, "PREPARE TRANSACTION syncs the ledger's bytes");
cmp_ok(last_call('wal', qr/./, @calls), '>', $bytes, 'before its own record');
$node->safe_psql('postgres', "COMMIT PREPARED 'x'");
# The ledger's bytes don't wait for WAL that is written later.
@calls = calls_of("SET synchronous_commit = off; BEGIN; $insert; COMMIT");
cmp_ok(last_call('sync', qr{/live/.*\.log$}, @calls), '>=', 0, 'COMMIT syncs them with synchronous_commit = off too');

# The lake's metadata, and offload files.
published_well('lake commit', calls_of("SELECT bifang.commit('t')"));
published_well('offload', calls_of("SELECT bifang.roll('t'), bifang.offload('t')"));

# What offload makes unreachable goes only when its reason is durable.
$node->safe_psql('postgres', "BEGIN; $insert; COMMIT; SELECT bifang.roll('t')");
@calls = calls_of("SET synchronous_commit = off; SELECT bifang.offload('t'); SELECT bifang.remove_garbage()");
my $offloaded = last_call('rename', qr/\.bfo$/, @calls);
my $removed = first_call('unlink', qr{/live/}, @calls);
cmp_ok($offloaded, '>=', 0, 'offloaded');
cmp_ok($removed, '>', $offloaded, "and the ledger's files removed");
is(scalar(grep { $calls[$_][0] eq 'wal' } $offloaded .. $removed) > 0, 1, 'but not before WAL is written out that says why');

# Power fails ------------------------------------------------------------------------------------------------------

# What is left of a directory: names as of its last sync, files' bytes as of theirs.
sub restore
{
	my ($to, $inode) = @_;

	mkdir $to or die "$to: $!";
	return unless -e "$shadow/$inode";
	for (split /\n/, slurp_file("$shadow/$inode"))
	{
		my ($kind, $i, $name) = split / /, $_, 3;

		if ($kind eq 'd') { restore("$to/$name", $i); next; }
		open my $f, '>:raw', "$to/$name" or die "$to/$name: $!";
		print $f slurp_file("$shadow/$i") if -e "$shadow/$i";
		close $f or die "$to/$name: $!";
	}
	return;
}

# The directory itself is made (durably) once and not again.
sub power_failure
{
	my $inode = (stat $root)[1];

	$node->stop('immediate');
	rename $root, "$dir/lost." . time . rand or die "$root: $!";
	restore($root, $inode);
	# Inodes are new; everything that is there is durable.
	unlink glob "$shadow/*";
	keep_all($root);
	start_forgetful($node, $dir);
	return;
}

# The shadow of a tree that is durable as it is.
sub keep_all
{
	my ($path) = @_;
	my $inode = (stat $path)[1];
	my $text = '';

	opendir my $d, $path or die "$path: $!";
	for my $name (grep { !/^\.\.?$/ } readdir $d)
	{
		my $is_dir = -d "$path/$name";

		$text .= ($is_dir ? 'd ' : 'f ') . (stat "$path/$name")[1] . " $name\n";
		if ($is_dir) { keep_all("$path/$name"); }
		else { append_to_file("$shadow/" . (stat "$path/$name")[1], slurp_file("$path/$name")); }
	}
	append_to_file("$shadow/$inode", $text);
	return;
}

my $partitioned = "INSERT INTO p SELECT g %% 5, g, 's' FROM generate_series(1, 200) g";
my $both = "$insert; " . join '; ', map { $_ =~ s/%%/%/r } $partitioned, $partitioned =~ s/INTO p/INTO ptwin/r;
for my $round (1 .. 3)
{
	# A savepoint that is rolled back, a transaction that fails, a ledger that gets full, each stage of its life.
	$node->safe_psql('postgres', "BEGIN; $both; SAVEPOINT s; " . sprintf($rows, 't') . "; ROLLBACK TO s; $both; COMMIT");
	$node->psql('postgres', "BEGIN; $both; SELECT 1/0; COMMIT");
	$node->safe_psql('postgres', "SELECT bifang.commit('t'), bifang.commit('p')") if $round != 2;
	$node->safe_psql('postgres', "WITH x AS (INSERT INTO twin SELECT 2, g, g, md5(g::text), '2024-01-01' FROM generate_series(1, 12000) g RETURNING *)
		INSERT INTO t SELECT * FROM x");
	$node->safe_psql('postgres', "SELECT bifang.roll('t'), bifang.offload('t'), bifang.roll('p')") if $round != 1;
	$node->safe_psql('postgres', "SELECT bifang.remove_garbage(); BEGIN; $both; COMMIT");
	power_failure();
	is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', "round $round: power fails, and nothing is lost");
	is(troubles($node), '', "round $round: check finds nothing");
}
$node->stop;
done_testing();
