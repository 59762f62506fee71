# Ledgers whose bytes are gone: an error until bifang.repair() was called, then exactly the rest. Among them those that a
# base backup has copied before rows came that its catalog acknowledges.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('repair', wal_level => 'replica', max_wal_senders => 4);

sub sql { return $node->safe_psql('postgres', $_[0]); }

# Rows of a table and of its twin, and how many entries repair() called gone.
sub counts
{
	my ($where, $table, $twin) = @_;

	return $where->safe_psql('postgres', qq{
		SELECT (SELECT count(*) FROM (TABLE $twin EXCEPT ALL TABLE $table) x),
			(SELECT count(*) FROM (TABLE $table EXCEPT ALL TABLE $twin) x)});
}

# ---- a base backup during inserts ----

my $writer = q{
	DO $$
	BEGIN
		FOR k IN 1 .. 100000 LOOP
			EXIT WHEN EXISTS (SELECT FROM stop);
			INSERT INTO t SELECT %1$s, k, k, repeat('x', k %% 50), now() FROM generate_series(1, 1 + k %% 7);
			INSERT INTO twin SELECT %1$s, k, k, repeat('x', k %% 50), now() FROM generate_series(1, 1 + k %% 7);
			COMMIT;
			INSERT INTO t SELECT -%1$s, k FROM generate_series(1, 1 + k %% 5);
			INSERT INTO p SELECT -%1$s, k FROM generate_series(1, 1 + k %% 5);
			ROLLBACK;
			INSERT INTO p VALUES (%1$s, k, 'p');
			INSERT INTO ptwin VALUES (%1$s, k, 'p');
			COMMIT;
		END LOOP;
	END $$;
};
sql('CREATE TABLE stop ()');
sql('ALTER TABLE stop ADD x int');
my @scripts = map { start_script($node, sprintf($writer, $_)) } 1 .. 3;
$node->poll_query_until('postgres', 'SELECT count(*) > 300 FROM t') or die 'no rows come';
sql(q{SELECT bifang.commit('t')});
$node->backup('base', backup_options => ['--max-rate', '8M']);
sql('INSERT INTO stop VALUES (1)');
for (@scripts)
{
	my ($out, $err) = finish_script($_);
	is($err, '', 'a writer');
}
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'the original');

my $copy = PostgreSQL::Test::Cluster->new('copy');
$copy->init_from_backup($node, 'base');
$copy->start;
cmp_ok($copy->safe_psql('postgres', 'SELECT count(*) FROM twin'), '>', 300, 'the backup has rows');
my $damaged = 0;
for my $pair ([ 't', 'twin' ], [ 'p', 'ptwin' ])
{
	my ($table, $twin) = @$pair;
	my ($rc, $out, $err) = outcome($copy, "SELECT count(*) FROM $table");

	# Without an error nothing is missing; aborted rows at the places of others can't be seen yet.
	$damaged++ if $rc != 0;
	like($err, qr/entry \d+ is missing|damaged|cut off|No such file/, "reading $table is an error") if $rc != 0;
	my $gone = $copy->safe_psql('postgres', "SELECT coalesce(sum(last_entry - first_entry + 1), 0) FROM bifang.repair('$table')");
	is(counts($copy, $table, $twin), "$gone|0", "$table has all but the $gone rows that repair() told of");
	cmp_ok($gone, '>', 0, 'some') if $rc != 0;
	is($copy->safe_psql('postgres', "SELECT * FROM bifang.check('$table')"), '', 'and check is content');
	is($copy->safe_psql('postgres', "SELECT * FROM bifang.repair('$table')"), '', 'nothing more to repair');
	$copy->safe_psql('postgres', "DELETE FROM $twin; INSERT INTO $twin TABLE $table");
	$copy->safe_psql('postgres', "INSERT INTO $table (w, i) VALUES (9, 9); INSERT INTO $twin (w, i) VALUES (9, 9)");
	$copy->safe_psql('postgres', "SELECT bifang.commit('$table'), bifang.roll('$table', true), bifang.offload('$table')");
	is(counts($copy, $table, $twin), '0|0', "$table goes on");
	is($copy->safe_psql('postgres', "SELECT count(*) FROM bifang.ledger l WHERE state IN ('o', 'c') AND l.table_name = '$table'"),
		'0', 'and its ledgers are offloaded');
	$copy->safe_psql('postgres', 'SELECT bifang.remove_garbage()');
	is(counts($copy, $table, $twin), '0|0', "all of $table is there afterwards");
	is($copy->safe_psql('postgres', "SELECT * FROM bifang.check('$table')"), '', 'check');
	is($copy->safe_psql('postgres', "SELECT sum(rows) = (SELECT count(*) FROM $table) FROM bifang.manifest('$table')"), 't',
		'the manifest has what is there');
}
cmp_ok($damaged, '>', 0, 'the backup was taken while rows came');
$copy->stop;

# ---- damage of every kind ----

my $live = $node->data_dir . '/bifang/live/' . sql("SELECT oid FROM pg_database WHERE datname = 'postgres'");
sql(q{
	CREATE FOREIGN TABLE d (i int, l bigint OPTIONS (meta 'ledger'), e bigint OPTIONS (meta 'entry')) SERVER lake;
	CREATE ROLE owner;
	CREATE FOREIGN TABLE o (i int) SERVER lake});
for my $part (0 .. 5)
{
	# Several batches, so that there are places to go on from.
	sql('BEGIN; ' . join(';', map { 'INSERT INTO d SELECT g FROM generate_series(' . ($part * 10000 + $_ * 1000 + 1) . ', ' .
		($part * 10000 + $_ * 1000 + 1000) . ') g' } 0 .. 9) . '; COMMIT');
	sql(q{SELECT bifang.commit('d')}) if $part == 2;
	sql(q{SELECT bifang.roll('d')}) if $part < 5;
	sql(q{SELECT bifang.offload('d')}) if $part == 0;
}
my @ledgers = split /\n/, sql('SELECT DISTINCT l FROM d ORDER BY 1');
is(scalar @ledgers, 6, 'six ledgers');
sql(q{CREATE TABLE dtwin AS SELECT i, l, e FROM d});
my $offload = sql("SELECT offload_path FROM bifang.ledger WHERE ledger_id = $ledgers[0]");
my $log = sub { return "$live/$ledgers[$_[0]]/00000000000000000000.log"; };

sub overwrite
{
	my ($path, $at, $bytes) = @_;

	open my $f, '+<', $path or die "$path: $!";
	seek $f, $at, 0;
	print $f $bytes;
	close $f;
	return;
}
overwrite($node->data_dir . "/$offload", 5000, 'junk');
truncate $log->(1), int((-s $log->(1)) / 2) or die $!;
overwrite($log->(2), int((-s $log->(2)) / 2), 'junk');
unlink "$live/$ledgers[3]/schema.json" or die $!;
system('rm', '-rf', "$live/$ledgers[4]") == 0 or die 'rm';
my ($rc, $out, $err) = outcome($node, 'SELECT count(*) FROM d');
is($rc, 3, 'reading all is an error');
is(sql("SELECT count(*) FROM d WHERE l = $ledgers[5]"), '10000', 'a ledger that is whole is read');
(undef, undef, $err) = outcome($node, "SELECT count(*) FROM d WHERE l = $ledgers[1]");
like($err, qr/cut off|is missing/, 'one that is not is an error');
sql('INSERT INTO d VALUES (0); INSERT INTO dtwin SELECT 0, l, e FROM d WHERE l >= ' . $ledgers[5] . ' AND i = 0');
(undef, undef, $err) = outcome($node, q{SET ROLE owner; SELECT * FROM bifang.repair('d')});
like($err, qr/permission denied for function repair/, 'not for everybody');

# Rolled back it never was.
sql(q{BEGIN; SELECT * FROM bifang.repair('d'); ROLLBACK});
($rc) = outcome($node, 'SELECT count(*) FROM d');
is($rc, 3, 'rolled back');
sql(q{CREATE TABLE gone AS SELECT * FROM bifang.repair('d')});
is(counts($node, 'd', 'dtwin'), sql('SELECT sum(last_entry - first_entry + 1) FROM gone') . '|0', 'as many rows are missing as it says');
is(sql(q{
		SELECT count(*) FROM (SELECT i, l, e FROM dtwin WHERE NOT EXISTS (
			SELECT FROM gone WHERE l = ledger_id AND e BETWEEN first_entry AND last_entry) EXCEPT ALL TABLE d) x}),
	'0', 'and these very rows');
is(sql("SELECT string_agg(DISTINCT (ledger_id - $ledgers[0])::text, ',') FROM gone"), '0,1,2,3,4', 'of five ledgers');
cmp_ok(sql("SELECT sum(last_entry - first_entry + 1) FROM gone WHERE ledger_id IN ($ledgers[0], $ledgers[2])"), '<', 6000,
	'a damaged place does not take what is behind it');
is(sql("SELECT count(*) FROM gone WHERE ledger_id = $ledgers[4] AND first_entry = 0 AND last_entry = 9999"), '1', 'a ledger as a whole');
is(sql("SELECT count(*) FROM gone WHERE why = ''"), '0', 'each with its reason');
is(sql(q{SELECT count(*) FROM bifang.jobs WHERE kind = 'repair' AND table_name = 'd' AND files = 5}), '1', 'written down');
is(sql("SELECT * FROM bifang.repair('d')"), '', 'once');
is(sql("SELECT * FROM bifang.check('d')"), '', 'check is content');
is(sql(q{
		SET max_parallel_workers_per_gather = 2; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0;
		SELECT count(*) = (SELECT count(*) FROM (SELECT * FROM d OFFSET 0) x) FROM d}),
	't', 'in parallel too');
is(sql("SELECT sum(rows) = (SELECT count(*) FROM d) FROM bifang.manifest('d')"), 't', 'the manifest');
sql(q{DROP TABLE dtwin; CREATE TABLE dtwin AS SELECT i, l, e FROM d; SELECT bifang.commit('d'), bifang.roll('d'), bifang.offload('d');
	SELECT bifang.remove_garbage()});
is(counts($node, 'd', 'dtwin'), '0|0', 'commit and offload keep it');
is(sql("SELECT * FROM bifang.check('d')"), '', 'check again');
is(sql("SELECT state FROM bifang.ledger WHERE ledger_id = $ledgers[2]"), 'c', 'what has a hole is not offloaded');
is(sql("SELECT state FROM bifang.ledger WHERE ledger_id = $ledgers[1]"), 'f', 'what ends early is');
is(sql("SELECT state FROM bifang.ledger WHERE ledger_id = $ledgers[4]"), 't', 'of what is gone nothing is left');
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'other tables');

# What can be mended is no loss.
SKIP:
{
	skip 'root may read everything', 2 if $> == 0;
	sql(q{INSERT INTO o SELECT generate_series(1, 100)});
	my $id = sql(q{SELECT ledger_id FROM bifang.ledgers WHERE table_name = 'o'});
	chmod 0, "$live/$id/00000000000000000000.log" or die $!;
	($rc, $out, $err) = outcome($node, q{SELECT * FROM bifang.repair('o')});
	like($err, qr/Permission denied/, 'a file that may not be read is an error');
	chmod 0600, "$live/$id/00000000000000000000.log" or die $!;
	is(sql('SELECT count(*) FROM o'), '100', 'and nothing is lost');
}

# A logical file of whose entries none is left is no part of the table any more.
sql(q{CREATE FOREIGN TABLE m (i int) SERVER lake; INSERT INTO m SELECT generate_series(1, 10)});
sql(q{SELECT bifang.roll('m'), bifang.commit('m')});
is(sql(q{SELECT form, ranges, rows FROM bifang.manifest('m')}), 'logical|0-9|10', 'a logical file');
unlink "$live/" . sql(q{SELECT ledger_id FROM bifang.ledgers WHERE table_name = 'm'}) . '/00000000000000000000.log' or die $!;
is(sql(q{SELECT first_entry, last_entry FROM bifang.repair('m')}), '0|9', 'whose entries are gone');
is(sql(q{SELECT * FROM bifang.manifest('m')}), '', 'is not told of');
is(sql('SELECT count(*) FROM m'), '0', 'the table has none');

# A ledger that is open for writers is closed: nobody appends behind a hole.
sql(q{CREATE FOREIGN TABLE open (i int) SERVER lake; INSERT INTO open SELECT generate_series(1, 10000)});
my $open = sql(q{SELECT ledger_id FROM bifang.ledger WHERE table_name = 'open'});
is(sql("SELECT state FROM bifang.ledger WHERE ledger_id = $open"), 'o', 'an open ledger');
overwrite("$live/$open/00000000000000000000.log", int((-s "$live/$open/00000000000000000000.log") / 2), 'junk');
is(sql(q{SELECT count(*) > 0 FROM bifang.repair('open')}), 't', 'whose bytes are not what they should be');
is(sql("SELECT state FROM bifang.ledger WHERE ledger_id = $open"), 'c', 'is closed with what is left');

# What a backup copied while a transaction was there that was rolled back then. Where others ended in its place is known as
# long as nobody has read their bytes, whatever is called before repair().
sql(q{CREATE FOREIGN TABLE back (i int, s text) SERVER lake; INSERT INTO back SELECT g, 'good' FROM generate_series(1, 100) g});
my $back = sql(q{SELECT ledger_id FROM bifang.ledger WHERE table_name = 'back'});
my $bytes = "$live/$back/00000000000000000000.log";
my $copied = PostgreSQL::Test::Utils::tempdir() . '/copied';
$node->psql('postgres', qq{BEGIN; INSERT INTO back SELECT g, 'rolled back' FROM generate_series(1, 21) g;
	\\! cp $bytes $copied
	ROLLBACK});
sql(q{INSERT INTO back SELECT g, 'good' FROM generate_series(1, 7) g});
sql(q{INSERT INTO back SELECT g, 'good' FROM generate_series(1, 50) g});
cmp_ok(-s $copied, '>', 0, 'its bytes were copied');
system('cp', $copied, $bytes) == 0 or die 'cp';
is(sql(q{SELECT files, rows FROM bifang.commit('back')}), '1|157', 'commit names what was acknowledged');
($rc, $out, $err) = outcome($node, q{SELECT bifang.roll('back'), bifang.offload('back')});
like($err, qr/WARNING:  ledger $back of table "back" is damaged and is not offloaded/, 'offload passes it over');
is(sql(q{SELECT sum(last_entry - first_entry + 1) FROM bifang.repair('back')}), '57', 'repair tells what is gone');
is(sql(q{SELECT count(*), count(*) FILTER (WHERE s = 'good') FROM back}), '100|100', 'and nothing comes that was rolled back');
is(sql(q{SELECT * FROM bifang.check('back')}), '', 'check is content');
$node->stop;
done_testing();
