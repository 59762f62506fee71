# Whose rows are they? What stands in files that others can write, and names that others can take, lead
# to nobody else's tables.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('walls');

sub in { return $node->safe_psql('postgres', $_[0]); }

# What a statement complains of; fails when it doesn't.
sub failure
{
	my ($rc, $out, $err) = outcome($node, $_[0]);

	isnt($rc, 0, "refused: $_[0]");
	return $err;
}

# A metadata file with another's uuid ---------------------------------------------------------------
in("CREATE FOREIGN TABLE mine (i int) SERVER lake; CREATE FOREIGN TABLE theirs (i int) SERVER lake; CREATE FOREIGN TABLE fresh (i int) SERVER lake");
in("INSERT INTO mine VALUES (1); INSERT INTO theirs SELECT generate_series(1, 100); SELECT bifang.commit('theirs'); INSERT INTO theirs SELECT generate_series(101, 200)");
my %uuid = map { $_ => in("SELECT table_uuid FROM bifang.iceberg_tables WHERE table_name = '$_'") } qw(mine theirs fresh);
my %file = map { $_ => in("SELECT substr(metadata_location, 8) FROM bifang.iceberg_tables WHERE table_name = '$_'") } qw(mine theirs fresh);

sub rewrite
{
	my ($name, $from, $to) = @_;
	my $text = slurp_file($file{$name});

	is($text =~ s/\Q$from\E/$to/g, 1, "$name: the uuid stands in its metadata once");
	open my $f, '>', $file{$name} or die;
	print $f $text;
	close $f;
	return;
}

for my $name (qw(mine fresh))
{
	rewrite($name, $uuid{$name}, $uuid{theirs});
	for my $sql ("SELECT * FROM $name", "INSERT INTO $name VALUES (2)", "SELECT bifang.commit('$name')", "SELECT bifang.roll('$name')",
		"SELECT bifang.offload('$name')", "SELECT bifang.check('$name')", "SELECT bifang.manifest('$name')", "SELECT bifang.drop_table('lake', 'public', '$name', true)")
	{
		like(failure($sql), qr/ERROR:  metadata of lake table public\.$name is that of another table\nDETAIL:  It has uuid $uuid{theirs}; the table has been $uuid{$name} here\.\nHINT:  Put/,
			'with the reason');
	}
}
is(in('SELECT count(*), sum(i) FROM theirs'), '200|20100', 'the other table has its rows');
is(in("SELECT count(*) FROM bifang.check('theirs')"), '0', 'and nothing to complain of');
rewrite('mine', $uuid{theirs}, $uuid{mine});
is(in('SELECT * FROM mine'), '1', 'mended: all rows again');

# A copy of the directory elsewhere has the right uuid, and names rows of a log that is not its own.
my $dir = PostgreSQL::Test::Utils::tempdir() . '/copy';
my $theirs = in("SELECT regexp_replace(substr(metadata_location, 8), '/metadata/.*', '') FROM bifang.iceberg_tables WHERE table_name = 'theirs'");
system('cp', '-a', $theirs, $dir);
in("CREATE FOREIGN TABLE copy (i int) SERVER lake OPTIONS (location '$dir'); CREATE FOREIGN TABLE original (i int) SERVER lake OPTIONS (location '$theirs')");
like(failure('SELECT count(*) FROM copy'), qr/names rows of ledger \d+, which this database does not have/, 'a copy of a directory');
is(in('SELECT count(*), sum(i) FROM original'), '200|20100', 'the directory itself');

# Dropped and registered again, the table is the same one.
my $before = in("SELECT table_id FROM bifang.iceberg_tables WHERE table_name = 'theirs'");
my $location = in("SELECT regexp_replace(metadata_location, '/metadata/.*', '') FROM bifang.iceberg_tables WHERE table_name = 'theirs'");
in("SELECT bifang.drop_table('lake', 'public', 'theirs')");
in("SELECT bifang.register_table('lake', 'public', 'again', '$location')");
in("CREATE FOREIGN TABLE again (i int) SERVER lake");
is(in('SELECT count(*), sum(i) FROM again'), '200|20100', 'registered again: all rows, those of the log too');
is(in("SELECT table_id FROM bifang.iceberg_tables WHERE table_name = 'again'"), $before, 'by its old number');
in('DROP FOREIGN TABLE theirs');

# Another engine makes a table, renames it and makes another one of that name.
in("INSERT INTO bifang.iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) SELECT catalog_name, table_namespace, 'engine', metadata_location FROM bifang.iceberg_tables WHERE table_name = 'again'");
isnt(in("SELECT table_id FROM bifang.iceberg_tables WHERE table_name = 'engine'"), $before, "another engine's row has a number of its own");
in("DELETE FROM bifang.iceberg_tables WHERE table_name = 'engine'; UPDATE bifang.iceberg_tables SET table_name = 'renamed' WHERE table_name = 'again'; ALTER FOREIGN TABLE again OPTIONS (SET \"table\" 'renamed')");
is(in('SELECT count(*), sum(i) FROM again'), '200|20100', 'renamed by another engine: all rows');

# Another server that says the same name of a catalog ----------------------------------------------
sub as { return "SET ROLE $_[0]; $_[1]"; }
sub tables { return in("SELECT count(*) FROM bifang.tables WHERE foreign_table::text = '$_[0]'"); }

in(q{
	CREATE ROLE mallory; CREATE ROLE owner; GRANT ALL ON SCHEMA public TO mallory, owner;
	GRANT USAGE ON FOREIGN DATA WRAPPER bifang_fdw TO mallory, owner;
	SET ROLE owner;
	CREATE SERVER own FOREIGN DATA WRAPPER bifang_fdw;
	CREATE FOREIGN TABLE secret (i int) SERVER own;
	INSERT INTO secret SELECT generate_series(1, 10); SELECT bifang.commit('secret');
	SET ROLE mallory;
	CREATE SERVER same FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name 'own');
	SET bifang.create_on_ddl = off;
	CREATE FOREIGN TABLE stolen (i int) SERVER same OPTIONS (namespace 'public', "table" 'secret');
});
for my $sql ('SELECT * FROM stolen', 'INSERT INTO stolen VALUES (1)', "SELECT bifang.commit('stolen')", "SELECT bifang.roll('stolen')", "SELECT bifang.offload('stolen')",
	"SELECT bifang.check('stolen')", "SELECT bifang.manifest('stolen')", "SELECT bifang.files('stolen')", "SELECT bifang.snapshots('stolen')", 'ANALYZE stolen', 'EXPLAIN SELECT * FROM stolen',
	"SELECT bifang.drop_table('same', 'public', 'secret')", "SELECT bifang.drop_table('same', 'public', 'secret', true)",
	"SELECT bifang.create_table('same', 'public', 'mine', 'i int')", 'CREATE FOREIGN TABLE stolen2 (i int) SERVER same OPTIONS ("table" \'secret\')',
	'CREATE FOREIGN TABLE new (i int) SERVER same', 'IMPORT FOREIGN SCHEMA public FROM SERVER same INTO public')
{
	like(failure(as('mallory', $sql)), qr/ERROR:  catalog "own" belongs to server "own"\nHINT:  Option "catalog_name" gives server "same" a catalog of its own/, 'another server says the name');
}
like(failure(as('mallory', "SELECT bifang.share_catalog('own', 'same')")), qr/permission denied for foreign server own/, "sharing is the owner's word");
like(failure(as('mallory', "SELECT bifang.adopt_catalog('own', 'same')")), qr/must be owner of foreign server own/, 'so is giving');
is(in(as('owner', 'SELECT count(*), sum(i) FROM secret')), '10|55', 'the owner has all rows');

# Shared, it reads and writes, and takes nothing away.
in('GRANT USAGE ON FOREIGN SERVER own TO mallory');
like(failure(as('mallory', "SELECT bifang.share_catalog('own', 'same')")), qr/must be owner of foreign server own/, 'not that of whoever uses it');
in('REVOKE USAGE ON FOREIGN SERVER own FROM mallory');
in(as('owner', "SELECT bifang.share_catalog('own', 'same')"));
in(as('mallory', 'INSERT INTO stolen VALUES (100)'));
is(in(as('mallory', 'SELECT count(*), sum(i) FROM stolen')), '11|155', 'shared: read and written');
like(failure(as('mallory', "SELECT bifang.drop_table('same', 'public', 'secret')")), qr/must be owner of foreign server own/, 'not dropped');
in(as('owner', "SELECT bifang.unshare_catalog('own', 'same')"));
like(failure(as('mallory', 'SELECT * FROM stolen')), qr/catalog "own" belongs to server "own"/, 'taken back');

# A server gets another name; somebody takes the old one.
in(as('owner', 'ALTER SERVER own RENAME TO renamed'));
is(in(as('owner', 'SELECT count(*), sum(i) FROM secret')), '11|155', 'renamed: all rows');
in(as('mallory', 'DROP SERVER same CASCADE; CREATE SERVER own FOREIGN DATA WRAPPER bifang_fdw'));
like(failure(as('mallory', 'CREATE FOREIGN TABLE secret2 (i int) SERVER own OPTIONS ("table" \'secret\')')), qr/catalog "own" belongs to server "renamed"/, 'who takes the name gets nothing');
in(as('owner', 'CREATE FOREIGN TABLE another (i int) SERVER renamed; INSERT INTO another VALUES (1)'));
is(in("SELECT string_agg(DISTINCT catalog_name, ',') FROM bifang.tables WHERE table_name IN ('secret', 'another')"), 'own', 'new tables go where the others are');

# Dumped and restored: oids change, the server of that name and owner has the tables.
my $dump = PostgreSQL::Test::Utils::tempdir() . '/walls.sql';
sub restore
{
	my ($db) = @_;

	in("CREATE DATABASE $db");
	$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ], "dump for $db");
	$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr($db) ], 'restore');
	return;
}
in('DROP FOREIGN TABLE mine, fresh, copy, original, again');
restore('restored');
is($node->safe_psql('restored', 'SET ROLE owner; SELECT count(*), sum(i) FROM secret'), '11|155', 'restored: all rows');
my ($rc, $out, $err) = $node->psql('restored', as('mallory', 'CREATE FOREIGN TABLE secret2 (i int) SERVER own OPTIONS ("table" \'secret\')'));
like($err, qr/catalog "own" belongs to server "renamed"/, 'and the wall stands');
$node->safe_psql('restored', 'SET ROLE owner; ALTER SERVER renamed RENAME TO again; SET ROLE mallory; CREATE SERVER renamed FOREIGN DATA WRAPPER bifang_fdw');
is($node->safe_psql('restored', 'SET ROLE owner; SELECT count(*), sum(i) FROM secret'), '11|155', 'renamed then: all rows');
($rc, $out, $err) = $node->psql('restored', as('mallory', 'CREATE FOREIGN TABLE secret2 (i int) SERVER renamed OPTIONS ("table" \'secret\')'));
is($node->safe_psql('restored', as('mallory', 'SELECT count(*) FROM secret2')), '0', 'who takes that name has a catalog of its own');
restore('dropped');
$node->safe_psql('dropped', 'SET ROLE owner; DROP SERVER renamed CASCADE; RESET ROLE; CREATE SERVER renamed FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name \'own\')');
($rc, $out, $err) = $node->psql('dropped', 'CREATE FOREIGN TABLE secret (i int) SERVER renamed');
like($err, qr/tables of catalog "own" belong to no server.*bifang\.adopt_catalog\('own', 'renamed'\)/s, 'restored and dropped: nobody has them');

# Restored where the server is not: whoever makes one of that name is not its owner.
restore('bare');
$node->safe_psql('bare', q{ALTER EVENT TRIGGER bifang_on_drop_server DISABLE; DROP SERVER renamed CASCADE; ALTER EVENT TRIGGER bifang_on_drop_server ENABLE;
	GRANT USAGE ON FOREIGN DATA WRAPPER bifang_fdw TO mallory; SET ROLE mallory; CREATE SERVER renamed FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name 'own')});
($rc, $out, $err) = $node->psql('bare', as('mallory', 'CREATE FOREIGN TABLE secret (i int) SERVER renamed'));
like($err, qr/tables of catalog "own" belong to no server/, 'a server of the name, of another owner');
$node->safe_psql('bare', 'SET ROLE mallory; ALTER SERVER renamed RENAME TO x; ALTER SERVER x RENAME TO renamed');
($rc, $out, $err) = $node->psql('bare', as('mallory', 'CREATE FOREIGN TABLE secret (i int) SERVER renamed'));
like($err, qr/tables of catalog "own" belong to no server/, 'whatever it is called in between');

# Owners change, and are called otherwise, without any trigger.
in('CREATE ROLE heir; GRANT CREATE ON SCHEMA public TO heir; REASSIGN OWNED BY owner TO heir; ALTER ROLE heir RENAME TO child');
in('SELECT bifang.remove_garbage()');
restore('inherited');
is($node->safe_psql('inherited', 'SET ROLE child; SELECT count(*), sum(i) FROM secret'), '11|155', 'reassigned, renamed, restored: all rows');
$node->safe_psql('inherited', 'SET ROLE child; ALTER SERVER renamed RENAME TO again; RESET ROLE; GRANT USAGE ON FOREIGN DATA WRAPPER bifang_fdw TO owner;
	SET ROLE owner; CREATE SERVER renamed FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name \'own\')');
($rc, $out, $err) = $node->psql('inherited', as('owner', 'CREATE FOREIGN TABLE mine (i int) SERVER renamed OPTIONS ("table" \'secret\')'));
like($err, qr/catalog "own" belongs to server "again"/, 'the former owner has none, not by the former name either');
in('REASSIGN OWNED BY child TO owner; SELECT bifang.remove_garbage()');

# A database that was copied.
$node->restart; # nobody is in it
$node->safe_psql('template1', 'CREATE DATABASE twin TEMPLATE postgres');
is($node->safe_psql('twin', 'SET ROLE owner; SELECT count(*), sum(i) FROM secret'), '11|155', 'a copied database: all rows');

# Views show a role what it may read: tables that it may SELECT from, and what it could bind.
in('CREATE ROLE analyst; GRANT SELECT ON secret TO analyst; CREATE FOREIGN TABLE postgres_s (i int) SERVER lake; INSERT INTO postgres_s VALUES (1); SELECT bifang.commit(\'postgres_s\'); CREATE ROLE nobody');
in(as('owner', "SELECT bifang.commit('secret'), bifang.commit('another')"));
for my $view (qw(tables ledgers jobs))
{
	my $names = "SELECT string_agg(DISTINCT table_name, ',' ORDER BY table_name) FROM bifang.$view";

	is(in(as('nobody', $names)), '', "$view: nobody's");
	is(in(as('mallory', $names)), '', "$view: whose server has the old name");
	is(in(as('analyst', $names)), 'secret', "$view: who may read one table");
	is(in(as('owner', $names)), 'another,secret', "$view: who owns the server");
	like(in($names), qr/another,.*postgres_s,.*secret/, "$view: a superuser");
	is(in(as('analyst', "CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS \$\$BEGIN IF \$1 <> 'secret' THEN RAISE EXCEPTION '%', \$1; END IF; RETURN true; END\$\$;
		SELECT count(*) > 0 FROM bifang.$view WHERE pg_temp.leak(table_name)")), 't', "$view: a function sees no other rows");
}
in('GRANT USAGE ON FOREIGN SERVER renamed TO analyst');
is(in(as('analyst', 'SELECT string_agg(DISTINCT table_name, \',\' ORDER BY table_name) FROM bifang.ledgers')), 'another,secret', 'USAGE on the server shows all of it');

# Dropped and made again: nobody's tables, until a superuser says whose they are.
my ($code, $said, $notice) = outcome($node, 'DROP SERVER renamed CASCADE');
like($notice, qr/NOTICE:  tables of catalog "own" stay, without server "renamed"\nHINT:  bifang\.adopt_catalog\(\)/, 'what stays is said');
in(as('mallory', 'DROP SERVER own'));
in('GRANT USAGE ON FOREIGN DATA WRAPPER bifang_fdw TO owner; SET ROLE owner; CREATE SERVER own FOREIGN DATA WRAPPER bifang_fdw');
for my $role (qw(owner postgres))
{
	like(failure(as($role, 'CREATE FOREIGN TABLE secret (i int) SERVER own')), qr/ERROR:  tables of catalog "own" belong to no server\nDETAIL:  .*\nHINT:  A superuser gives them to this one: SELECT bifang\.adopt_catalog\('own', 'own'\)/, "made again, for $role");
}
like(failure(as('owner', "SELECT bifang.adopt_catalog('own', 'own')")), qr/permission denied for a catalog that belongs to no server/, "a superuser's word");
in("SELECT bifang.adopt_catalog('own', 'own')");
in(as('owner', 'CREATE FOREIGN TABLE secret (i int) SERVER own'));
is(in(as('owner', 'SELECT count(*), sum(i) FROM secret')), '11|155', 'adopted: all rows');
in(as('owner', 'CREATE SERVER next FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name \'own\')'));
in(as('owner', "SELECT bifang.adopt_catalog('own', 'next')"));
like(failure(as('owner', 'SELECT * FROM secret')), qr/catalog "own" belongs to server "next"/, 'given on by who owns both servers');

# A catalog without tables leaves nothing behind; one with ledgers of a dropped table does.
($code, $said, $notice) = outcome($node, q{CREATE SERVER empty FOREIGN DATA WRAPPER bifang_fdw; CREATE FOREIGN TABLE e (i int) SERVER empty; DROP FOREIGN TABLE e; SELECT bifang.drop_table('empty', 'public', 'e', true); DROP SERVER empty});
unlike($notice, qr/stay, without/, 'nothing stays of an empty one');
is(in("SELECT count(*) FROM bifang.catalog WHERE catalog_name = 'empty'"), '0', 'no row either');
my $gone = in("SELECT regexp_replace(metadata_location, '/metadata/.*', '') FROM bifang.iceberg_tables WHERE table_name = 'secret'");
in("SELECT bifang.drop_table('next', 'public', 'secret'), bifang.drop_table('next', 'public', 'another', true); DROP SERVER next");
in(as('mallory', 'CREATE SERVER next FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name \'own\')'));
in('GRANT pg_read_server_files TO mallory');
like(failure(as('mallory', "SELECT bifang.register_table('next', 'x', 'x', '$gone')")), qr/tables of catalog "own" belong to no server/, 'ledgers that a table left are no free catalog');
in(as('mallory', 'ALTER SERVER next OPTIONS (SET catalog_name \'mallorys\')'));
like(failure(as('mallory', "SELECT bifang.register_table('next', 'x', 'x', '$gone')")), qr/rows of table x\.x are in ledgers of another catalog/, 'nor do they follow a uuid into another');
is(in("SELECT bifang.register_table('next', 'x', 'x', '$gone') IS NOT NULL; CREATE FOREIGN TABLE x (i int) SERVER next OPTIONS (namespace 'x'); SELECT count(*), sum(i) FROM x"), "t\n11|155", 'a superuser brings them back');

# Tables of another engine, in a catalog that no server ever had.
in("INSERT INTO bifang.iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) SELECT 'pyiceberg', 'x', 'x', metadata_location FROM bifang.iceberg_tables WHERE table_name = 'p'");
in(as('mallory', 'CREATE SERVER pyiceberg FOREIGN DATA WRAPPER bifang_fdw'));
like(failure(as('mallory', 'IMPORT FOREIGN SCHEMA x FROM SERVER pyiceberg INTO public')), qr/tables of catalog "pyiceberg" belong to no server/, "another engine's tables are not for the first who says the name");
in('CREATE SERVER super FOREIGN DATA WRAPPER bifang_fdw OPTIONS (catalog_name \'pyiceberg\'); CREATE SCHEMA super; IMPORT FOREIGN SCHEMA x FROM SERVER super INTO super');
is(in('SELECT count(*) FROM super.x'), '0', "but for a superuser's server");

$node->stop;
done_testing();
