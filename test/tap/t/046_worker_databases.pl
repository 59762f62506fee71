# Background workers in databases that take no sessions but superusers', of another encoding, for owners who can't log in;
# what such an owner has put on a table is not called.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = PostgreSQL::Test::Cluster->new('worker_databases');

$node->init;
$node->append_conf('postgresql.conf', "$_\n")
	for q{shared_preload_libraries = 'bifang_fdw'}, 'bifang.worker_naptime = 1s', 'bifang.worker_launch_interval = 1s', 'bifang.worker_commit_age = 1s', 'bifang.worker_roll_age = 2s';
$node->start;
$node->safe_psql('postgres', 'CREATE ROLE nolog; CREATE ROLE nobody LOGIN CONNECTION LIMIT 0');
$node->safe_psql('postgres', 'CREATE DATABASE closed CONNECTION LIMIT 0');
$node->safe_psql('postgres', q{CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0});
for my $db ('closed', 'latin')
{
	$node->safe_psql($db, qq{
		SET client_encoding = utf8; SET client_min_messages = error;
		CREATE EXTENSION bifang_fdw;
		CREATE SERVER "l\xc3\xa4ke" FOREIGN DATA WRAPPER bifang_fdw;
		CREATE SEQUENCE called;
		GRANT ALL ON SEQUENCE called TO PUBLIC;
		CREATE SCHEMA theirs;
		GRANT ALL ON SCHEMA theirs TO PUBLIC;
		GRANT USAGE ON FOREIGN SERVER "l\xc3\xa4ke" TO nolog, nobody});
	for my $owner ('nolog', 'nobody')
	{
		$node->safe_psql($db, qq{
			SET client_encoding = utf8; SET client_min_messages = error;
			SET ROLE $owner;
			CREATE FUNCTION theirs.good_$owner(int) RETURNS bool LANGUAGE sql AS 'SELECT nextval(''public.called'') > 0';
			CREATE DOMAIN theirs.int_$owner AS int CHECK (theirs.good_$owner(VALUE));
			CREATE FUNCTION theirs.trigger_$owner() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''public.called''); RETURN NEW; END';
			CREATE FOREIGN TABLE theirs."t\xc3\xa4_$owner" ("\xc3\xb6" theirs.int_$owner, d int DEFAULT nextval('public.called') CHECK (theirs.good_$owner(d))) SERVER "l\xc3\xa4ke";
			CREATE TRIGGER tr BEFORE INSERT ON theirs."t\xc3\xa4_$owner" FOR EACH ROW EXECUTE FUNCTION theirs.trigger_$owner();
			INSERT INTO theirs."t\xc3\xa4_$owner" VALUES (1), (2)});
	}
	my $calls = $node->safe_psql($db, 'SELECT last_value FROM called');

	ok($node->poll_query_until($db, q{SELECT count(*) = 2 AND bool_and(state = 'offloaded') FROM bifang.ledgers}), "$db: all goes into the lake") or die;
	is($node->safe_psql($db, 'SELECT count(*) FROM bifang.work WHERE failures > 0 AND ended_at IS NOT NULL'), '0', 'nothing fails');
	is($node->safe_psql($db, 'SELECT last_value FROM called'), $calls, 'nothing of the owners is called');
	is($node->safe_psql($db, qq{SET client_encoding = utf8; SELECT sum("\xc3\xb6"::int) FROM theirs."t\xc3\xa4_nolog"}), '3', 'all rows');
}
$node->stop('fast');
unlike(slurp_file($node->logfile), qr/TRAP|PANIC/, 'nothing broke');
done_testing();
