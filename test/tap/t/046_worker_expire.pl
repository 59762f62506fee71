# The background worker ends snapshots that a table does not keep, and their files go; what it may not expire stays.
use strict;
use warnings;
use File::Basename;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('expire', 'bifang.worker_naptime' => '1s', 'bifang.worker_launch_interval' => '1s', 'bifang.worker_commit_age' => '1h',
	'bifang.worker_roll_age' => '1h', 'bifang.worker_expire_age' => '1s', 'bifang.worker_garbage_interval' => '1s', 'bifang.garbage_grace' => 0);
my $same = '0 lost, 0 invented; 0 lost, 0 invented';

sub sql { return $node->safe_psql('postgres', $_[0]); }

sub commits
{
	for (1 .. $_[0])
	{
		sql("INSERT INTO t SELECT 1, g FROM generate_series(1, 5) g; INSERT INTO twin SELECT 1, g FROM generate_series(1, 5) g; SELECT bifang.commit('t')");
	}
	return;
}

commits(6);
my $dir = dirname(sql(q{SELECT metadata_location FROM bifang.tables WHERE foreign_table = 't'::regclass}) =~ s{^file://}{}r);
sub lists { return scalar(() = glob "$dir/snap-*.avro"); }

sql('SELECT bifang.start_worker()');
$node->poll_query_until('postgres', q{SELECT count(*) = 1 FROM bifang.work WHERE kind = 'garbage' AND failures = 0}) or die 'the worker does nothing';
is(sql(q{SELECT count(*) FROM bifang.snapshots('t')}), '7', 'what is younger than five days stays');
is(sql(q{SELECT count(*) FROM bifang.work WHERE kind = 'expire'}), '0', 'nothing is tried');

sql(q{SELECT bifang.set_property('t', 'history.expire.min-snapshots-to-keep', '3'), bifang.set_property('t', 'history.expire.max-snapshot-age-ms', '10')});
# Rows whose commit has expired count as old, so they become Parquet: another snapshot of main, of which three may be there.
ok($node->poll_query_until('postgres', q{SELECT count(*) = 5 AND (SELECT count(*) = 1 FROM bifang.jobs WHERE kind = 'optimize') FROM bifang.snapshots('t')}),
	'what the table does not keep goes');
is(sql(q{SELECT string_agg(DISTINCT kind || coalesce(error, ''), ' ') FROM bifang.jobs WHERE kind = 'expire'}), 'expire', 'which is told');
for (1 .. 2 * $PostgreSQL::Test::Utils::timeout_default)
{
	last if lists() == 5;
	select undef, undef, undef, 0.1;
}
is(lists(), 5, 'so do its files');
is(differences($node), $same, 'all rows');
is(sql(q{SELECT * FROM bifang.check('t')}), '', 'check');
commits(3);
is(sql(q{SELECT count(*) FROM bifang.snapshots('t')}), '5', 'commits look after it then');
is(differences($node), $same, 'all rows');

# History that another engine made long ago stays where its table does not say how long.
my $orders = PostgreSQL::Test::Utils::tempdir() . '/orders';
system('cp', '-r', "$ENV{BIFANG_TEST_DATA}/shop/orders", $orders) == 0 or die 'cp';
for my $file (glob "$orders/metadata/*.metadata.json")
{
	my $text = slurp_file($file) =~ s/("(?:timestamp-ms|last-updated-ms)"\s*:\s*)(\d+)/$1 . ($2 - 100 * 86400000)/ger;

	unlink $file;
	append_to_file($file, $text);
}
sql("SELECT bifang.register_table('lake', 'shop', 'orders', '$orders')");
sql('CREATE SCHEMA shop; IMPORT FOREIGN SCHEMA shop FROM SERVER lake INTO shop');
my $snapshots = sql(q{SELECT count(*) FROM bifang.snapshots('shop.orders')});
cmp_ok($snapshots, '>', 1, 'a table of another engine');
sql(q{INSERT INTO shop.orders (order_id) VALUES (-1); SELECT bifang.commit('shop.orders')});
my $seen = sql(q{SELECT started_at FROM bifang.work WHERE kind = 'garbage'});
ok($node->poll_query_until('postgres', "SELECT started_at > '$seen'::timestamptz + interval '5 s' FROM bifang.work WHERE kind = 'garbage'"), 'time passes');
cmp_ok(sql(q{SELECT count(*) FROM bifang.snapshots('shop.orders')}), '>', $snapshots, 'its history stays');
sql(q{SELECT bifang.set_property('shop.orders', 'history.expire.max-snapshot-age-ms', '86400000')});
ok($node->poll_query_until('postgres', "SELECT count(*) < $snapshots FROM bifang.snapshots('shop.orders')"), 'until it says so');
is(sql('SELECT count(*) FROM shop.orders'), '120001', 'all of its rows');
$node->stop;
done_testing();
