# Prepared transactions hold their ledgers across a restart and across a crash.
use strict;
use warnings;
use Test::More;
use Lake;

my $node = new_lake('prepared');

# Nothing here waits for a prepared transaction; who does so all the same fails rather than hangs.
$node->safe_psql('postgres', "ALTER SYSTEM SET lock_timeout = '30s'");
$node->reload;

sub both
{
	my ($w) = @_;

	return "INSERT INTO t SELECT $w, g FROM generate_series(1, 5000) g; INSERT INTO twin SELECT $w, g FROM generate_series(1, 5000) g;";
}

sub ledgers
{
	return $node->safe_psql('postgres', "SELECT count(*) || ' with ' || sum(entries) FROM bifang.ledgers WHERE table_name = 't'");
}

$node->safe_psql('postgres', both(0));
$node->safe_psql('postgres', 'BEGIN; ' . both(1) . " PREPARE TRANSACTION 'one'");
$node->safe_psql('postgres', 'BEGIN; ' . both(2) . " PREPARE TRANSACTION 'two'");
is(ledgers(), '1 with 5000', 'prepared rows are not seen');
$node->restart;
$node->safe_psql('postgres', both(3));
is(ledgers(), '2 with 10000', 'after a restart a writer leaves both ledgers alone');
$node->safe_psql('postgres', "SELECT bifang.roll('t'); SELECT bifang.offload('t'); SELECT bifang.commit('t'); SELECT bifang.remove_garbage()");
crash($node);
$node->safe_psql('postgres', both(4));
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'after a crash as well');
$node->safe_psql('postgres', "COMMIT PREPARED 'one'");
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE w = 1'), '5000', 'committed rows are there');
$node->safe_psql('postgres', "ROLLBACK PREPARED 'two'");
is($node->safe_psql('postgres', 'SELECT count(*) FROM t WHERE w = 2'), '0', 'rolled back ones are not');
$node->safe_psql('postgres', both(5)) for 1 .. 3;
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'writers go on in the ledgers that were held');
is(troubles($node), '', 'check finds nothing');

# What a transaction that was rolled back leaves is in nobody's way, and goes.
my $check = q{SELECT count(*) FROM bifang.check('f')};
$node->safe_psql('postgres', q{
	CREATE FOREIGN TABLE f (i int) SERVER lake;
	BEGIN; INSERT INTO f SELECT generate_series(1, 10); PREPARE TRANSACTION 'left'});
is($node->safe_psql('postgres', "SET bifang.garbage_grace = 0; $check"), '0', 'a ledger of a prepared transaction is not left over');
$node->safe_psql('postgres', "ROLLBACK PREPARED 'left'");
is($node->safe_psql('postgres', $check), '0', 'one of a transaction that was rolled back is no finding');
is($node->safe_psql('postgres', "SET bifang.garbage_grace = 0; $check"), '1', 'before it gets old');
is($node->safe_psql('postgres', 'SELECT bifang.remove_garbage() > 0'), 't', 'and it is removed');
is($node->safe_psql('postgres', "SET bifang.garbage_grace = 0; $check"), '0', 'altogether');

# A table made, filled, committed to the lake and offloaded in a transaction that is prepared.
$node->safe_psql('postgres', q{
	BEGIN;
	CREATE TABLE x_done (i int);
	INSERT INTO t SELECT 6, g FROM generate_series(1, 5000) g;
	INSERT INTO twin SELECT 6, g FROM generate_series(1, 5000) g;
	SELECT bifang.roll('t'); SELECT bifang.offload('t'); SELECT bifang.commit('t');
	PREPARE TRANSACTION 'three'});
$node->safe_psql('postgres', both(7));
$node->safe_psql('postgres', 'SELECT bifang.remove_garbage()');
crash($node);
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'the old state is complete while it is prepared');
$node->safe_psql('postgres', "COMMIT PREPARED 'three'");
is(differences($node), '0 lost, 0 invented; 0 lost, 0 invented', 'and the new one after COMMIT PREPARED');
is(troubles($node), '', 'check finds nothing');
$node->stop;
done_testing();
