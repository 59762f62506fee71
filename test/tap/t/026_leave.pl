# DROP EXTENSION says what stays; after CREATE EXTENSION nobody takes it for left-overs, and bifang.recover() makes tables of
# it again, with all rows in all tiers and none that was not committed. Also without the farewell, and in another database.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('leave');
my $dir = PostgreSQL::Test::Utils::tempdir();
mkdir "$dir/$_" or die $! for qw(live wh);

sub sql { return $node->safe_psql('postgres', $_[0]); }

my @tables = ([ 't', 'lake' ], [ 'x', 'apart' ], [ 'Odd % name', 'apart' ], [ 'z', 'lake' ]);

sub each_table { return map { [ "\"$_->[0]\"", $_->[1], '"' . $_->[0] . '_was"' ] } @tables; }

sub wrong
{
	my ($where, $database) = @_;

	return join '; ', map { $where->safe_psql($database // 'postgres', qq{
		SELECT (SELECT count(*) FROM (TABLE $_->[2] EXCEPT ALL SELECT w, i FROM $_->[0]) x) || '/' ||
			(SELECT count(*) FROM (SELECT w, i FROM $_->[0] EXCEPT ALL TABLE $_->[2]) x)}) } each_table();
}

my $all = join '; ', ('0/0') x @tables;
my $servers = qq{
	CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw;
	CREATE SERVER apart FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '$dir/wh', live_dir '$dir/live');
};
sql(q{SELECT bifang.drop_table('lake', 'public', 'p', true), bifang.drop_table('lake', 'public', 't', true)});
sql('SELECT bifang.remove_garbage()');
my (undef, undef, $nothing) = outcome($node, 'DROP EXTENSION bifang_fdw CASCADE; CREATE EXTENSION bifang_fdw');
unlike($nothing, qr/lake tables stay/, 'nothing stays where nothing is');
sql($servers);
sql(q{CREATE FOREIGN TABLE t (w int, i int) SERVER lake OPTIONS ("table" 't2');
	CREATE FOREIGN TABLE x (w int, i int) SERVER apart OPTIONS (partition_by 'bucket(3, i)');
	CREATE FOREIGN TABLE "Odd % name" (w int, i int) SERVER apart; CREATE FOREIGN TABLE z (w int, i int) SERVER lake});
for (each_table())
{
	my ($table, $server, $twin) = @$_;

	sql("CREATE TABLE $twin (w int, i int)");
	next if $table eq '"z"';
	for my $part (1 .. 4)
	{
		sql("INSERT INTO $table SELECT $part, g FROM generate_series(1, 200) g; INSERT INTO $twin SELECT $part, g FROM generate_series(1, 200) g");
		sql("SELECT bifang.commit('$table'::text::regclass), bifang.roll('$table'::text::regclass)") if $part < 4;
		sql("SELECT bifang.offload('$table'::text::regclass)") if $part == 1;
		sql('SELECT bifang.remove_garbage()') if $part == 2 && $table eq '"x"';
	}
}
is(wrong($node), $all, 'before');

# What is said, and what is true when it was not done.
my (undef, undef, $err) = outcome($node, 'BEGIN; DROP EXTENSION bifang_fdw CASCADE; ROLLBACK');
like($err, qr/NOTICE: +4 lake tables stay.*DETAIL:.*HINT:.*bifang\.recover/s, 'DROP EXTENSION says what stays');
sql(q{INSERT INTO t SELECT 5, g FROM generate_series(1, 10) g; INSERT INTO t_was SELECT 5, g FROM generate_series(1, 10) g});
is(wrong($node), $all, 'rolled back, and going on');
ok(!grep({ slurp_file($_) =~ /^end /m } map { glob $node->data_dir . "/bifang/live/*/$_/table" }
		sql(q{SELECT ledger_id FROM bifang.ledger WHERE state = 'o' AND table_name = 't2' ORDER BY 1 DESC LIMIT 1})), 'which takes back what was said');
(undef, undef, $err) = outcome($node, 'DROP EXTENSION plpgsql; CREATE EXTENSION plpgsql');
unlike($err, qr/lake tables/, 'other extensions are not meant');

# A crash while rows are written leaves them behind the end.
my $open = start_script($node, q{BEGIN; INSERT INTO t SELECT 9, g FROM generate_series(1, 5000) g; SELECT count(*) FROM t; SELECT pg_sleep(600)});
$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_stat_activity WHERE wait_event = 'PgSleep'}) or die;
crash($node);
finish_script($open);


sql('DROP EXTENSION bifang_fdw CASCADE');
my @files = sort split /\n/, `find @{[ $node->data_dir ]}/bifang $dir -type f`;
sql('CREATE EXTENSION bifang_fdw');
sql($servers);
is(sql('SELECT bifang.remove_garbage()'), '0', 'nobody takes it for left-overs');
is_deeply([ sort split /\n/, `find @{[ $node->data_dir ]}/bifang $dir -type f` ], \@files, 'all files are there');

# Others may be at work before.
sql('CREATE FOREIGN TABLE early (i int) SERVER lake; INSERT INTO early SELECT generate_series(1, 10)');
cmp_ok(sql('SELECT max(ledger_id) FROM bifang.ledger'), '>', 12, 'numbers of ledgers that are there are left alone');
(undef, undef, $err) = outcome($node, q{CREATE ROLE somebody; GRANT USAGE ON FOREIGN SERVER lake TO somebody; SET ROLE somebody; SELECT * FROM bifang.recover('lake')});
like($err, qr/permission denied/, 'not for everybody');
sql(q{BEGIN; SELECT * FROM bifang.recover('lake'); ROLLBACK});
is(sql('SELECT count(*) FROM bifang.tables'), '1', 'rolled back');
is(sql('SELECT bifang.adopt()'), '0', 'what no row names is not taken over');
is(sql(q{SELECT namespace, table_name, ledgers, entries, problem FROM bifang.recover('lake') ORDER BY 2}),
	"public|t2|4|810|\npublic|z|0|0|", 'recovered');
is(sql(q{SELECT namespace, table_name, ledgers, entries, problem FROM bifang.recover('apart') ORDER BY 2}),
	"public|Odd % name|4|800|\npublic|x|4|800|", 'in another warehouse');
is(sql(q{SELECT * FROM bifang.recover('lake')}), '', 'once');
sql(q{CREATE FOREIGN TABLE t (w int, i int) SERVER lake OPTIONS ("table" 't2'); CREATE FOREIGN TABLE z (w int, i int) SERVER lake;
	IMPORT FOREIGN SCHEMA public FROM SERVER apart INTO public});
is(wrong($node), $all, 'all rows, and no others');
is(sql('SELECT bifang.remove_garbage()'), '0', 'nothing of it is garbage');
cmp_ok(sql('SELECT bifang.adopt()'), '>', 5, 'taken over');
is(sql(q{SELECT count(*) FROM unnest('{t,z,x}'::regclass[]) r, bifang.check(r) c}), '0', 'check');
for (each_table())
{
	my ($table, $server, $twin) = @$_;

	sql("INSERT INTO $table SELECT 7, g FROM generate_series(1, 10) g; INSERT INTO $twin SELECT 7, g FROM generate_series(1, 10) g");
	sql("SELECT bifang.commit('$table'::text::regclass), bifang.roll('$table'::text::regclass), bifang.offload('$table'::text::regclass)");
}
cmp_ok(sql('SELECT bifang.remove_garbage()'), '>=', 9, 'live files go');
is(wrong($node), $all, 'it goes on');
is(sql(q{SELECT count(*) FROM bifang.garbage}), '0', 'nothing waits');

# A database that takes over from one that is no more, without its farewell.
$node->safe_psql('postgres', 'CREATE DATABASE heir');
$node->safe_psql('heir', "CREATE EXTENSION bifang_fdw; $servers");
is($node->safe_psql('heir', q{SELECT * FROM bifang.recover('lake')}), '', 'not from a database that lives');
sql("INSERT INTO x SELECT 8, g FROM generate_series(1, 10) g; INSERT INTO x_was SELECT 8, g FROM generate_series(1, 10) g");
system("pg_dump -h @{[ $node->host ]} -p @{[ $node->port ]} -d postgres -t '*_was' | psql -qX -h @{[ $node->host ]} -p @{[ $node->port ]} -d heir >/dev/null") == 0 or die;
$node->safe_psql('template1', 'DROP DATABASE postgres');
(undef, my $out, $err) = outcome_in('heir', q{SELECT table_name, ledgers, entries, problem FROM bifang.recover('apart') ORDER BY 1});
is($out, "Odd % name|5|810|\nx|6|820|", 'from a database that was dropped');
like($err, qr/NOTICE: +the end of ledger \d+ is not known/, 'which could not say where ledgers end');
is($node->safe_psql('heir', q{SELECT string_agg(table_name, ' ' ORDER BY table_name) FROM bifang.recover('lake') WHERE problem IS NULL}), 'early t2 z', 'embedded tables too');
$node->safe_psql('heir', q{CREATE FOREIGN TABLE t (w int, i int) SERVER lake OPTIONS ("table" 't2'); CREATE FOREIGN TABLE z (w int, i int) SERVER lake;
	IMPORT FOREIGN SCHEMA public FROM SERVER apart INTO public});
is(wrong($node, 'heir'), $all, 'all rows');
$node->safe_psql('heir', 'SELECT bifang.adopt()');
$node->safe_psql('heir', q{SELECT bifang.commit('x'), bifang.roll('x'), bifang.offload('x')});
$node->safe_psql('heir', 'SELECT bifang.remove_garbage()');
is(wrong($node, 'heir'), $all, 'all rows after that');
is($node->safe_psql('heir', q{SELECT count(*) FROM unnest('{t,z,x}'::regclass[]) r, bifang.check(r) c}), '0', 'check');

# What can't be whole is told and left alone.
$node->safe_psql('heir', 'DROP EXTENSION bifang_fdw CASCADE');
$node->safe_psql('heir', "CREATE EXTENSION bifang_fdw; $servers");
my ($gone) = glob "$dir/wh/*/x/offload/*.bfo";
unlink $gone or die $!;
is($node->safe_psql('heir', q{SELECT count(*) FROM bifang.recover('apart') WHERE table_name = 'x' AND problem ~ 'which the lake names, is not there'}),
	'1', 'a table that lacks a ledger');
is($node->safe_psql('heir', q{SELECT count(*) FROM bifang.tables}), '1', 'is not made a table');

# A copy of the database has ledgers of its own, with the same numbers, and puts its offload files beside those of the first.
my $made = 'CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw';
sub first { return $node->safe_psql('first', $_[0]); }
$node->safe_psql('template1', 'CREATE DATABASE first');
first("$made; CREATE FOREIGN TABLE c (w text, i int) SERVER lake; INSERT INTO c SELECT 'both', g FROM generate_series(1, 10) g");
first(q{SELECT bifang.roll('c')});
$node->safe_psql('template1', 'CREATE DATABASE second TEMPLATE first');
$node->safe_psql('second', q{INSERT INTO c SELECT 'second', g FROM generate_series(1, 5) g; SELECT bifang.roll('c'), bifang.offload('c')});
$node->safe_psql('second', 'SELECT bifang.remove_garbage()');
first(q{INSERT INTO c SELECT 'first', g FROM generate_series(1, 3) g});
is(first('SELECT count(DISTINCT ledger_id) FROM bifang.ledger'), '2', 'two ledgers here');
is($node->safe_psql('second', 'SELECT count(DISTINCT ledger_id) FROM bifang.ledger'), '2', 'and two there');
for my $second ('which lives', 'which is gone')
{
	first("DROP EXTENSION bifang_fdw CASCADE; $made");
	(undef, undef, $err) = outcome_in('first', q{SELECT * FROM bifang.recover('lake')});
	first('CREATE FOREIGN TABLE IF NOT EXISTS c (w text, i int) SERVER lake');
	is(first(q{SELECT string_agg(w || n, ' ' ORDER BY w) FROM (SELECT w, count(*) AS n FROM c GROUP BY w) x}), 'both10 first3',
		"recovered beside a copy $second: its own rows and no others");
	$second =~ /lives/ ? unlike($err, qr/is not taken/, 'nothing to say of it') : like($err, qr/NOTICE: .*2\.bfo" is not taken/, 'what is not taken is told');
	first('SELECT bifang.adopt()');
	next if $second =~ /gone/;
	is($node->safe_psql('second', 'SELECT count(*) FROM c'), '15', 'the copy has its own');
	$node->safe_psql('template1', 'DROP DATABASE second');
}
$node->stop;
done_testing();

sub outcome_in
{
	my ($database, $sql) = @_;
	my ($o, $e) = ('', '');
	my $rc = $node->psql($database, $sql, stdout => \$o, stderr => \$e);

	return ($rc, $o, $e);
}
