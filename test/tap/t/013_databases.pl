# Several homes for one extension: made anew, in two databases, in a copy of a database, in a base
# backup. None touches what belongs to another, and what is not theirs is an error, never other rows.
use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('first', wal_level => 'replica', max_wal_senders => 4);
my $setup = q{CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw; CREATE FOREIGN TABLE t (w int, i int) SERVER lake};

sub in { return $node->safe_psql($_[0], $_[1]); }

sub fails
{
	my ($where, $db, $statement) = @_;
	my ($rc, $out, $err) = $where->psql($db, $statement);

	return $rc == 0 ? "no error: $out" : $err =~ s/\n.*//sr;
}

sub files { return join(' ', sort map { s{.*/}{}r } glob($node->data_dir . "/bifang/live/$_[0]/*")); }

# Two databases with tables of the same names.
in('postgres', 'CREATE DATABASE other');
in('other', $setup);
in('postgres', "INSERT INTO t SELECT 1, g FROM generate_series(1, 1000) g; SELECT bifang.commit('t')");
in('other', "INSERT INTO t SELECT 2, g FROM generate_series(1, 10) g; SELECT bifang.commit('t'), bifang.roll('t'), bifang.offload('t')");
is(in('postgres', 'SELECT count(*), min(w), max(w) FROM t'), '1000|1|1', 'one database');
is(in('other', 'SELECT count(*), min(w), max(w) FROM t'), '10|2|2', 'the other');
my $oid = in('other', 'SELECT oid FROM pg_database WHERE datname = current_database()');
in('postgres', 'SELECT bifang.remove_garbage()');
isnt(files($oid), '', 'garbage of one is not collected by the other');
in('other', 'SELECT bifang.remove_garbage()');
is(in('postgres', 'SELECT count(*) FROM t'), '1000', 'nor the other way round');
is(in($_, "SELECT count(*) FROM bifang.check('t')"), '0', "check in $_") for 'postgres', 'other';

# A copy by CREATE DATABASE: it reads what was there and writes its own; when the first moves its rows on,
# the copy says what it misses.
in('other', "INSERT INTO t SELECT 3, g FROM generate_series(1, 20) g");
in('postgres', 'CREATE DATABASE copy TEMPLATE other');
is(in('copy', 'SELECT count(*) FROM t'), '30', 'a copied database has the rows');
in('copy', 'INSERT INTO t VALUES (4, 1)');
in('other', 'INSERT INTO t VALUES (5, 1), (5, 2)');
is(in('copy', 'SELECT count(*), max(w) FROM t'), '31|4', 'and its own');
is(in('other', 'SELECT count(*), max(w) FROM t'), '32|5', 'the first its own');
in('copy', "SELECT bifang.commit('t')");
in('other', "SELECT bifang.commit('t')");
is(in('copy', 'SELECT count(*), max(w) FROM t'), '31|4', 'after commits: the copy');
is(in('other', 'SELECT count(*), max(w) FROM t'), '32|5', 'and the first');
in('postgres', 'DROP DATABASE copy');
is(in('other', 'SELECT count(*), max(w) FROM t'), '32|5', 'the copy is gone');
in('other', "SELECT bifang.roll('t'), bifang.offload('t'); SELECT bifang.remove_garbage()");
is(in('other', "SELECT count(*) FROM t"), '32', 'and the first goes on');

# Dropped and made again: nothing of before is bound by itself, and adopting a table whose log is not in
# this catalog any more does not show other rows.
my $old = in('other', q{SELECT replace(metadata_location, 'file://', '') FROM bifang.tables});
in('other', 'DROP EXTENSION bifang_fdw CASCADE');
is(in('other', "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'bifang'"), '0', 'all objects go');
is(in('other', 'SELECT count(*) FROM pg_event_trigger'), '0', 'the event trigger, too');
in('other', 'CREATE TABLE unharmed (i int)');
in('other', $setup);
is(in('other', 'SELECT count(*) FROM t'), '0', 'a new table of that name is empty');
in('other', 'INSERT INTO t SELECT 6, g FROM generate_series(1, 100) g');
is(in('other', 'SELECT count(*), min(w), max(w) FROM t'), '100|6|6', 'and has its rows only');
like(fails($node, 'other', "SELECT bifang.register_table('lake', 'public', 'old', '$old')"), qr/rows in ledger \d+, which this database does not have/, 'a table whose log is lost is not adopted');
in('other', "CREATE FOREIGN TABLE old (w int, i int) SERVER lake OPTIONS (location '$old')");
like(fails($node, 'other', 'SELECT * FROM old'), qr/ERROR/, 'and reading it is an error');
in('other', "INSERT INTO t SELECT 7, g FROM generate_series(1, 100) g; SELECT bifang.commit('t'), bifang.roll('t'), bifang.offload('t'); SELECT bifang.remove_garbage()");
is(in('other', 'SELECT count(*) FROM t'), '200', 'the new table goes its way');
is(in('other', "SELECT count(*) FROM bifang.check('t')"), '0', 'check of the new one');
in('postgres', 'DROP DATABASE other');
is(in('postgres', 'SELECT count(*) FROM t'), '1000', 'the database beside it has not noticed');

# A base backup has the files of the embedded lake; the copy of the cluster neither reads nor writes those
# of the first.
in('postgres', "SELECT bifang.roll('t'), bifang.offload('t'); INSERT INTO t SELECT 8, g FROM generate_series(1, 50) g");
my $home = $node->data_dir;
is(`cd $home && find bifang | awk 'length(\$0) > 99'`, '', 'no path is too long for pg_basebackup');
$node->backup('base');
my $second = PostgreSQL::Test::Cluster->new('second');
$second->init_from_backup($node, 'base');
$second->start;
is($second->safe_psql('postgres', 'SELECT count(*), sum(i) FROM t'), in('postgres', 'SELECT count(*), sum(i) FROM t'), 'the rows of a base backup');
$second->safe_psql('postgres', 'INSERT INTO t SELECT 9, g FROM generate_series(1, 7) g');
in('postgres', 'INSERT INTO t SELECT 10, g FROM generate_series(1, 5) g');
is($second->safe_psql('postgres', 'SELECT count(*), max(w) FROM t'), '1057|9', 'the copy goes on by itself');
is(in('postgres', 'SELECT count(*), max(w) FROM t'), '1055|10', 'and so does the first');
$_->safe_psql('postgres', "SELECT bifang.roll('t'), bifang.offload('t'), bifang.commit('t'); SELECT bifang.remove_garbage()") for $node, $second;
is($second->safe_psql('postgres', 'SELECT count(*), max(w) FROM t'), '1057|9', 'through the lake: the copy');
is(in('postgres', 'SELECT count(*), max(w) FROM t'), '1055|10', 'and the first');
is($_->safe_psql('postgres', "SELECT count(*) FROM bifang.check('t')"), '0', 'check') for $node, $second;
$second->stop;
$node->stop;
done_testing();
