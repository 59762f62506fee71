# A catalog in another cluster than the one that it was made in: after pg_upgrade, which leaves embedded tables behind, in a
# data directory that was copied elsewhere, after a reset of the control file. Nothing is written until bifang.adopt() was
# called, and then all is there.
use strict;
use warnings;
use File::Basename;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $dir = PostgreSQL::Test::Utils::tempdir();
my ($bin) = grep { -x "$_/pg_upgrade" } split /:/, $ENV{PATH};
my $tables = 't, p, o, a';

sub complaint
{
	my ($where, $sql) = @_;
	my (undef, undef, $err) = outcome($where, $sql);

	return $err;
}

# Of each table: what it has too much and too little against what was acknowledged.
sub wrong
{
	my ($where) = @_;

	return join '; ', map {
		$where->safe_psql('postgres', qq{
			SELECT (SELECT count(*) FROM (TABLE ${_}_was EXCEPT ALL SELECT w, i FROM $_) x) || '/' ||
				(SELECT count(*) FROM (SELECT w, i FROM $_ EXCEPT ALL TABLE ${_}_was) x)}) } split /, /, $tables;
}

# Every table has rows in all tiers, and something waits to be removed.
sub fill
{
	my ($name) = @_;
	my $node = new_lake($name);
	my $out = "$dir/$name";

	mkdir $out or die $!;
	mkdir "$out/$_" or die $! for qw(live wh);
	$node->safe_psql('postgres', qq{
		CREATE SERVER outside FOREIGN DATA WRAPPER bifang_fdw OPTIONS (live_dir '$out/live');
		CREATE SERVER apart FOREIGN DATA WRAPPER bifang_fdw OPTIONS (live_dir '$out/live', warehouse '$out/wh');
		CREATE FOREIGN TABLE o (w int, i int) SERVER outside;
		CREATE FOREIGN TABLE a (w int, i int) SERVER apart;
		CREATE FOREIGN TABLE g (w int, i int) SERVER apart;
		INSERT INTO g SELECT 1, g FROM generate_series(1, 100) g;
		SELECT bifang.drop_table('apart', 'public', 'g', true)});
	for my $table (split /, /, $tables)
	{
		$node->safe_psql('postgres', "CREATE TABLE ${table}_was (w int, i int)");
		for my $part (1 .. 3)
		{
			$node->safe_psql('postgres', "INSERT INTO $table (w, i) SELECT $part, g FROM generate_series(1, 100) g");
			$node->safe_psql('postgres', "INSERT INTO ${table}_was SELECT $part, g FROM generate_series(1, 100) g");
			$node->safe_psql('postgres', "SELECT bifang.commit('$table'), bifang.roll('$table')") if $part < 3;
			$node->safe_psql('postgres', "SELECT bifang.offload('$table')") if $part < 2;
		}
	}
	return $node;
}

sub upgrade
{
	my ($old, $name, @mode) = @_;
	my $new = PostgreSQL::Test::Cluster->new($name);

	$new->init;
	$new->append_conf('postgresql.conf', "max_prepared_transactions = 10\n");
	$old->stop;
	mkdir "$dir/run_$name" or die $!;
	chdir "$dir/run_$name" or die $!;
	command_ok([ "$bin/pg_upgrade", '-U', 'postgres', '-d', $old->data_dir, '-D', $new->data_dir, '-b', $bin, '-B', $bin,
		'-s', $new->host, '-p', $old->port, '-P', $new->port, @mode ], "pg_upgrade @mode");
	ok(!-e $new->data_dir . '/bifang', 'which leaves embedded tables behind');
	$new->start;
	return $new;
}

# Nothing may happen before the adoption; `there` tells whether the embedded lake is.
sub refuses
{
	my ($node, $there) = @_;
	my $hint = qr/HINT:.*bifang\.adopt\(\)/s;

	for my $sql ('INSERT INTO o VALUES (0, 0)', 'INSERT INTO t VALUES (0, 0)', q{SELECT bifang.commit('a')}, q{SELECT bifang.roll('a')},
		q{SELECT bifang.offload('o')}, q{SELECT bifang.remove_garbage()}, q{CREATE FOREIGN TABLE n (i int) SERVER lake},
		q{SELECT bifang.drop_table('apart', 'public', 'a', true)}, q{SELECT bifang.repair('a')})
	{
		like(complaint($node, $sql), $hint, "refused, with a hint: $sql");
	}
	if ($there)
	{
		is(wrong($node), '0/0; 0/0; 0/0; 0/0', 'all can be read');
		like($node->safe_psql('postgres', q{SELECT severity || what FROM bifang.check('t')}), qr/^error.*not adopted.*bifang\.adopt/,
			'check says what to do');
		return;
	}
	like(complaint($node, 'SELECT count(*) FROM t'), qr/"bifang" of the data directory.*pg_upgrade.*bifang\.adopt/s, 'reading says what is missing');
	my ($rc, $out, $err) = outcome($node, q{SELECT * FROM bifang.check('t')});
	like("$out$err", qr/copy, link or move.*bifang\.adopt/s, 'so does check');
	isnt("$rc $out", '0 ', 'which is not content');
	like(complaint($node, 'SELECT bifang.adopt()'), qr/ERROR: .*missing.*DETAIL:.*bifang.*HINT:.*copy, link or move/s, 'and adoption');
	ok(!-e $node->data_dir . '/bifang', 'nothing is in the way of the directory');
	return;
}

# All there, and everything goes on.
sub goes_on
{
	my ($node) = @_;

	cmp_ok($node->safe_psql('postgres', 'SELECT bifang.adopt()'), '>', 8, 'adoption');
	is($node->safe_psql('postgres', 'SELECT bifang.adopt()'), '0', 'once');
	is(wrong($node), '0/0; 0/0; 0/0; 0/0', 'all is there');
	for my $table (split /, /, $tables)
	{
		is($node->safe_psql('postgres', "SELECT * FROM bifang.check('$table')"), '', "check of $table");
		$node->safe_psql('postgres', "INSERT INTO $table (w, i) SELECT 4, g FROM generate_series(1, 100) g");
		$node->safe_psql('postgres', "INSERT INTO ${table}_was SELECT 4, g FROM generate_series(1, 100) g");
		$node->safe_psql('postgres', "SELECT bifang.commit('$table'), bifang.roll('$table'), bifang.offload('$table')");
	}
	my (undef, $removed, $err) = outcome($node, 'SELECT bifang.remove_garbage()');
	is($err, '', 'nothing is left for being of somebody else');
	cmp_ok($removed, '>=', 12, 'live files go');
	is(wrong($node), '0/0; 0/0; 0/0; 0/0', 'and all is there');
	is($node->safe_psql('postgres', q{SELECT count(*) FROM bifang.garbage}), '0', 'nothing waits');
	is($node->safe_psql('postgres', q{
			SELECT count(*) FROM unnest('{t,p,o,a}'::regclass[]) r, bifang.check(r) c}), '0', 'check of all');
	my $table = dirname(dirname($node->safe_psql('postgres', q{SELECT metadata_location FROM bifang.tables WHERE foreign_table = 'a'::regclass})
		=~ s{^file://}{}r));
	ok(-d "$table/offload" && !glob("$table/offload/*-*"), 'offload files are where they were');
	$node->safe_psql('postgres', q{SELECT bifang.drop_table('apart', 'public', 'a', true)});
	$node->safe_psql('postgres', 'SELECT bifang.remove_garbage()');
	ok(!-e $table, 'a purge takes all');
	return;
}

# ---- pg_upgrade ----

my $old = fill('old');
$old->safe_psql('postgres', 'CREATE DATABASE second');
$old->safe_psql('second', q{CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw; CREATE FOREIGN TABLE n (i int) SERVER lake;
	INSERT INTO n VALUES (1)});
my $new = upgrade($old, 'new');
refuses($new, 0);
system('cp', '-a', $old->data_dir . '/bifang', $new->data_dir) == 0 or die 'cp';
refuses($new, 1);

# Rolled back it was not, whatever the marks say by then.
$new->safe_psql('postgres', 'BEGIN; SELECT bifang.adopt(); ROLLBACK');
like(complaint($new, 'INSERT INTO o VALUES (0, 0)'), qr/bifang\.adopt/, 'an adoption that was rolled back');
like(complaint($new, 'BEGIN; CREATE TABLE x (); SELECT bifang.adopt()'), qr/has changed something/, 'what changed something does not adopt');
like(complaint($new, 'CREATE ROLE r; SET ROLE r; SELECT bifang.adopt()'), qr/permission denied/, 'not for everybody');
is($new->safe_psql('postgres', 'SELECT bifang.adopt() >= 0'), 't', 'marks are there already, rows are not');

# Another database whose turn it is later has left nothing.
my $others = q{SELECT string_agg(what, '; ') FROM bifang.leftovers() WHERE what ~ '^of database'};
like($new->safe_psql('postgres', $others), qr/^of database \S+ .* of another cluster; if that is database "second" .* adopt\(\) there takes it over[^;]*$/,
	'left-overs tell of a database that did not adopt yet');
is($new->safe_psql('second', 'SELECT bifang.adopt() > 0'), 't', 'which does');
is($new->safe_psql('postgres', $others), '', 'then nothing is told');

# What the old cluster had for itself is whole; what both reach is the new one's.
$old->start;
is($old->safe_psql('postgres', 'SELECT count(*) FROM t'), '300', 'the old one has its rows');
$old->safe_psql('postgres', 'INSERT INTO t VALUES (1, 1)');
like(complaint($old, 'INSERT INTO o VALUES (1, 1)'), qr/belongs to another database.*HINT/s, 'and does not write where the new one does');
$old->stop;
$new->safe_psql('postgres', q{UPDATE bifang.identity SET system_identifier = '1'});
$new->safe_psql('postgres', q{UPDATE bifang.ledger SET origin = '1' || substr(origin, strpos(origin, '/'))});
system('sh', '-c', "sed -i 's,^[0-9]*/,1/,' " . $new->data_dir . "/bifang/live/*/*/table " . $new->data_dir . "/bifang/*/table $dir/old/*/*/table $dir/old/wh/*/*/table 2>/dev/null; true");
goes_on($new);
$new->stop;

my $linked = fill('linked');
my $after = upgrade($linked, 'after', '--link');
system('cp', '-al', $linked->data_dir . '/bifang', $after->data_dir) == 0 or die 'cp';
refuses($after, 1);
my $open = $after->safe_psql('postgres', q{SELECT count(*) FROM bifang.ledger WHERE state = 'o'});
cmp_ok($open, '>', 0, 'there are open ledgers');
my @shared = map { "$_ " . (-s $_) . ' ' . (stat $_)[9] } glob $linked->data_dir . '/bifang/live/*/*/*.log';
goes_on($after);
is_deeply([ map { "$_ " . (-s $_) . ' ' . (stat $_)[9] } glob $linked->data_dir . '/bifang/live/*/*/*.log' ], \@shared,
	'what the old one has by the same inodes was not written');
system('sh', "$dir/run_after/delete_old_cluster.sh") == 0 or die 'delete_old_cluster.sh';
ok(!-e $linked->data_dir, 'the old cluster is deleted');
$tables = 't, p, o';
is(wrong($after), '0/0; 0/0; 0/0', 'and the new one has all');

# ---- a data directory in another place ----

$after->stop;
my $moved = PostgreSQL::Test::Cluster->new('moved');
system('cp', '-a', $after->data_dir, $moved->data_dir) == 0 or die 'cp';
system('rm', '-rf', $after->data_dir) == 0 or die 'rm';
$moved->append_conf('postgresql.conf', 'port = ' . $moved->port);
$moved->start;
$moved->safe_psql('postgres', 'INSERT INTO t VALUES (5, 5); INSERT INTO t_was VALUES (5, 5)');
is(wrong($moved), '0/0; 0/0; 0/0', 'what is in the data directory goes on at once');
$moved->safe_psql('postgres', 'INSERT INTO o VALUES (5, 5); INSERT INTO o_was VALUES (5, 5)');
$moved->safe_psql('postgres', q{SELECT bifang.adopt()});
is($moved->safe_psql('postgres', q{SELECT bifang.adopt()}), '0', 'what is outside is taken over');
$moved->safe_psql('postgres', q{INSERT INTO o VALUES (6, 6); INSERT INTO o_was VALUES (6, 6); SELECT bifang.commit('o'), bifang.roll('o'), bifang.offload('o')});
my (undef, undef, $err) = outcome($moved, 'SELECT bifang.remove_garbage()');
is($err, '', 'and its left-overs are removed');
is(wrong($moved), '0/0; 0/0; 0/0', 'all is there');

# ---- a control file that was lost ----

$moved->stop;
append_to_file($moved->data_dir . '/global/pg_control.lost', '');
open my $control, '+<', $moved->data_dir . '/global/pg_control' or die $!;
print $control "\0" x 8192;
close $control;
command_ok([ "$bin/pg_resetwal", '-f', '-x', '30000', '-o', '50000', '-l', '000000010000000000000042', $moved->data_dir ], 'pg_resetwal');
$moved->start;
like(complaint($moved, 'INSERT INTO t VALUES (7, 7)'), qr/belong to another cluster.*bifang\.adopt/s, 'another system identifier');
$moved->safe_psql('postgres', 'SELECT bifang.adopt()');
$moved->safe_psql('postgres', 'INSERT INTO t VALUES (7, 7); INSERT INTO t_was VALUES (7, 7)');
is(wrong($moved), '0/0; 0/0; 0/0', 'adopted');
is($moved->safe_psql('postgres', q{SELECT count(*) FROM unnest('{t,p,o}'::regclass[]) r, bifang.check(r) c}), '0', 'check of all');
$moved->stop;
chdir '/';
done_testing();
