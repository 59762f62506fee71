# Background workers and a standby: there are none until it is promoted, and then they do nothing to what is the
# primary's.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $primary = PostgreSQL::Test::Cluster->new('primary');
my $dir = PostgreSQL::Test::Utils::tempdir();
my $n_workers = "SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'";

chmod 0777, $dir;
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', "$_\n")
	for q{shared_preload_libraries = 'bifang_fdw'}, 'bifang.worker_naptime = 1s', 'bifang.worker_launch_interval = 1s', 'bifang.worker_commit_age = 1s',
	'bifang.worker_roll_age = 2s', 'bifang.worker_garbage_interval = 2s', 'bifang.worker = off';
$primary->start;
$primary->safe_psql('postgres', qq{
	CREATE EXTENSION bifang_fdw;
	CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '$dir/lake', live_dir '$dir/live');
	CREATE SERVER inside FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE t (i int) SERVER lake;
	CREATE FOREIGN TABLE u (i int) SERVER inside});
$primary->safe_psql('postgres', 'INSERT INTO t VALUES (1), (2); INSERT INTO u VALUES (1), (2)');
$primary->backup('b');

my $standby = PostgreSQL::Test::Cluster->new('standby');

$standby->init_from_backup($primary, 'b', has_streaming => 1);
$standby->append_conf('postgresql.conf', 'bifang.worker = on');
$standby->start;
$primary->safe_psql('postgres', 'INSERT INTO t VALUES (3)');
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', $n_workers), '0', 'no workers on a standby');
like((outcome($standby, 'SELECT bifang.start_worker()'))[2], qr/cannot execute bifang\.start_worker\(\) during recovery/, 'nor by hand');
$standby->promote;
$standby->poll_query_until('postgres', "SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type LIKE 'bifang%'") or die;
pass('it has some once it is promoted');
$standby->poll_query_until('postgres', "SELECT count(*) >= 1 FROM bifang.jobs WHERE table_name = 'u' AND kind = 'offload' AND error IS NULL") or die;
pass('what was copied with it is looked after');
$standby->poll_query_until('postgres', "SELECT count(*) >= 2 FROM bifang.jobs WHERE table_name = 't' AND error ~ 'belongs to another copy of this cluster'") or die;
pass('what is the primary\'s is not');
is($primary->safe_psql('postgres', "SELECT i FROM t ORDER BY i; SELECT count(*) FROM u; SELECT rows FROM bifang.commit('t'); SELECT count(*) FROM bifang.check()"),
	"1\n2\n3\n2\n3\n0", 'which has lost nothing');
is($standby->safe_psql('postgres', 'SELECT i FROM u ORDER BY i'), "1\n2", 'nor has the copy');
$_->stop('fast') for $standby, $primary;
unlike(slurp_file($_->logfile), qr/TRAP|PANIC/, 'nothing broke') for $standby, $primary;
done_testing();
