# Work of any size with what a small server has: few locks, few descriptors; and a ledger that is damaged is in
# nobody's way but its readers'.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

# Room for some hundred locks altogether.
my $node = new_lake('scale', fsync => 'off', max_connections => 10, max_locks_per_transaction => 10, max_worker_processes => 1,
	max_wal_senders => 0, autovacuum => 'off', max_prepared_transactions => 0);
my $ledgers = 1500;

sub sql { return $node->safe_psql('postgres', shift) }

sql(qq{DO \$\$
	BEGIN
		FOR k IN 1 .. $ledgers LOOP
			INSERT INTO t (w, i) VALUES (1, k);
			PERFORM bifang.roll('t');
			COMMIT;
		END LOOP;
	END\$\$});
is(sql(q{SELECT count(*) FROM bifang.ledgers WHERE state = 'closed'}), $ledgers, 'closed ledgers');
is(sql(q{BEGIN; SELECT ledgers, entries FROM bifang.offload('t'); SELECT count(*) < 20 FROM pg_locks WHERE pid = pg_backend_pid(); ROLLBACK}),
	"$ledgers|$ledgers\nt", 'are offloaded in one transaction with few locks, which rolls back');
is(sql(q{SELECT count(*), sum(i) FROM t}), "$ledgers|" . $ledgers * ($ledgers + 1) / 2, 'nothing has happened');
is(sql(q{SELECT count(*) FROM bifang.check('t')}), 0, 'check finds nothing');
is(sql(q{SELECT ledgers FROM bifang.offload('t')}), $ledgers, 'offloaded');
is(sql(q{SELECT files FROM bifang.commit('t')}), $ledgers, 'and committed');
is(sql(q{SELECT bifang.remove_garbage()}), $ledgers, 'their directories are removed');
is(sql(q{SELECT count(*) FROM bifang.check('t')}), 0, 'check finds nothing');
is(sql(q{SELECT count(*), sum(i) FROM t}), "$ledgers|" . $ledgers * ($ledgers + 1) / 2, 'all rows are there');
is(sql(q{BEGIN; SELECT bifang.drop_table('lake', 'public', 't', true); SELECT count(*) < 20 FROM pg_locks WHERE pid = pg_backend_pid(); COMMIT}),
	"\nt", 'purged in one transaction');
is(sql(q{SELECT count(*) FROM bifang.ledgers}), 0, 'no ledger is left');

# A session that may have few files open writes many ledgers at once.
$node->append_conf('postgresql.conf', "max_files_per_process = 64\nmax_locks_per_transaction = 100\n");
$node->restart;
sql(q{
	CREATE TABLE parent (k int, v text) PARTITION BY LIST (k);
	DO $$
	BEGIN
		FOR k IN 1 .. 120 LOOP
			EXECUTE format('CREATE FOREIGN TABLE part_%1$s PARTITION OF parent FOR VALUES IN (%1$s) SERVER lake', k);
			COMMIT;
		END LOOP;
	END$$});
my ($rc, $out, $err) = outcome($node, q{
	INSERT INTO parent SELECT 1 + g % 120, g::text FROM generate_series(1, 1200) g;
	SELECT count(*), sum(v::int), count(DISTINCT k) FROM parent;
	BEGIN;
	INSERT INTO parent SELECT 1 + g % 120, g::text FROM generate_series(1, 240) g;
	SAVEPOINT s;
	INSERT INTO parent SELECT 1 + g % 120, g::text FROM generate_series(1, 240) g;
	ROLLBACK TO s;
	SELECT count(*) FROM parent;
	COMMIT;
	INSERT INTO parent SELECT 1 + g % 120, 'x' FROM generate_series(1, 120) g;
	SELECT count(*), count(DISTINCT k) FROM parent;
	SELECT count(*) < 64 FROM pg_ls_dir('/proc/self/fd');
});
is($err, '', '120 partitions in an INSERT');
is($out, "1200|720600|120\n1440\n1560|120\nt", 'all rows, with few descriptors');

# Damage.
sql(q{CREATE FOREIGN TABLE d (i int) SERVER lake});
for my $part (1 .. 3)
{
	sql("INSERT INTO d SELECT g FROM generate_series($part * 100 + 1, $part * 100 + 10) g");
	sql(q{SELECT bifang.roll('d')}) if $part < 3;
}
my @dirs = split /\n/, sql(q{SELECT directory FROM bifang.ledger WHERE table_name = 'd' ORDER BY ledger_id});
my $log = '00000000000000000000.log';

truncate($node->data_dir . "/$dirs[0]/$log", 20) or die "truncate: $!";
($rc, $out, $err) = outcome($node, q{SELECT ledgers, entries FROM bifang.offload('d')});
is($out, '1|10', 'a damaged ledger stays where it is, the other one is offloaded');
like($err, qr/WARNING: .*ledger \d+ of table "d" is damaged and is not offloaded.*\Q$log\E.*HINT: .*bifang.repair/s, 'and is told of');
truncate($node->data_dir . "/$dirs[2]/$log", 20) or die "truncate: $!";
($rc, $out, $err) = outcome($node, q{INSERT INTO d VALUES (1); INSERT INTO d VALUES (2); SELECT count(*) FROM bifang.ledgers WHERE table_name = 'd'});
is($rc, 0, 'rows go on coming');
is($out, 4, 'into a ledger of their own');
is(sql(q{SELECT count(*) FROM bifang.check('d') WHERE what LIKE 'lost%'}), 2, 'check tells of both');
# What their columns lie between can't be known, and is not needed.
($rc, $out, $err) = outcome($node, q{SELECT files, rows FROM bifang.commit('d')});
is("$rc $out", '0 4|32', 'a commit names the rows of damaged ledgers, too');
($rc, $out, $err) = outcome($node, q{SELECT count(*) FROM d WHERE i = 205});
like($err, qr/entry \d+ is missing|damaged|cut off/, 'and no condition leaves them out');

# A commit looks into ledgers for partitions; those that it can't read are left where they are. Of four ledgers the
# first is damaged as a directory, the second as an offload file.
sql(q{
	CREATE TABLE years (y int, i int) PARTITION BY LIST (y);
	CREATE FOREIGN TABLE y1 PARTITION OF years FOR VALUES IN (1) SERVER lake OPTIONS (partition_by 'truncate(10, i)');
	CREATE FOREIGN TABLE y2 PARTITION OF years FOR VALUES IN (2) SERVER lake OPTIONS (partition_by 'truncate(10, i)')});
for my $part (1 .. 4)
{
	sql("INSERT INTO y1 SELECT 1, $part * 100 + g FROM generate_series(1, 30) g");
	sql(q{SELECT bifang.offload('y1')}) if $part == 3;
	sql(q{SELECT bifang.roll('y1')}) if $part < 4;
}
sql('INSERT INTO y2 SELECT 2, g FROM generate_series(1, 30) g');
my @ids = split /\n/, sql(q{SELECT ledger_id FROM bifang.ledger WHERE table_name = 'y1' ORDER BY ledger_id});
@dirs = split /\n/, sql(q{SELECT coalesce(offload_path, directory) FROM bifang.ledger WHERE table_name = 'y1' ORDER BY ledger_id});
is(scalar(grep { /\.bfo$/ } @dirs), 2, 'two ledgers are offloaded');
truncate($node->data_dir . "/$dirs[1]", 500) or die "truncate: $!";
truncate($node->data_dir . "/$dirs[3]/$log", 100) or die "truncate: $!";
($rc, $out, $err) = outcome($node, q{SELECT rows FROM bifang.commit('years')});
is($out, '90', 'two of four are committed, and the other partition');
like($err, qr/WARNING: .*ledger $_ of table "y1" is damaged and is not committed.*HINT: .*bifang.repair\(\)/s, 'a damaged one is told of') for @ids[1, 3];
is(sql(q{SELECT string_agg(subject, '; ' ORDER BY subject) FROM bifang.check('years')}), "y1: ledger $ids[1]; y1: ledger $ids[3]", 'check names both');
like((outcome($node, 'SELECT count(*) FROM y1'))[2], qr/ERROR/, 'nobody reads less than there was');
($rc, $out, $err) = outcome($node, q{SELECT bifang.roll('years'); SELECT ledgers FROM bifang.offload('years'); SELECT count(*) FROM bifang.manifest('y1'); SELECT bifang.remove_garbage() > 0});
is($rc, 0, 'nor does it stop other work');
is($out, "2\n2\n10\nt", 'which is done for the others');
is(sql(q{SELECT count(*), sum(last_entry - first_entry + 1) FROM bifang.repair('y1')}), '2|60', 'repair ends them');
is(sql(q{SELECT count(*) FROM y1}), 60, 'then the rest can be read');
is(sql(q{SELECT rows FROM bifang.commit('years')}), 0, 'nothing else is left to commit');
is(sql(q{SELECT count(*) FROM bifang.check('years')}), 0, 'check is content');

# A directory of ledgers that can't be looked into: of others all goes that may.
SKIP:
{
	skip 'the superuser of the system looks into everything', 3 if $> == 0;
	my $outside = PostgreSQL::Test::Utils::tempdir() . '/live';

	mkdir $outside or die $!;
	sql("CREATE SERVER outside FOREIGN DATA WRAPPER bifang_fdw OPTIONS (live_dir '$outside'); CREATE FOREIGN TABLE o (i int) SERVER outside");
	sql(q{INSERT INTO o VALUES (1); INSERT INTO d VALUES (9)});
	sql(q{SELECT bifang.roll('d'), bifang.offload('d')});
	chmod 0, $outside or die $!;
	($rc, $out, $err) = outcome($node, 'SELECT bifang.remove_garbage() > 0; SELECT count(*) FROM bifang.leftovers()');
	is($rc, 0, 'garbage elsewhere is removed');
	is($out, "t\n0", 'really');
	like($err, qr/WARNING: .*\Q$outside\E.*Permission denied/, 'and the directory is told of');
	chmod 0700, $outside or die $!;
}

# Very many tables: what is looked at of one is given back before the next.
sql(q{DO $$BEGIN FOR i IN 1..400 LOOP EXECUTE format('CREATE FOREIGN TABLE many_%s (i int) SERVER lake', i); END LOOP; END$$});
my $used = '(SELECT sum(used_bytes) FROM pg_backend_memory_contexts)';
cmp_ok(sql("SET client_min_messages = error; LOAD 'bifang_fdw'; CREATE TEMP TABLE before AS SELECT $used AS n FROM bifang.ledgers LIMIT 1; CREATE TEMP TABLE after AS SELECT bifang.remove_garbage(), $used AS n; SELECT a.n - b.n FROM before b, after a"),
	'<', 400 * 4000, 'remove_garbage keeps little of each of 400 tables');

$node->stop;
done_testing();
