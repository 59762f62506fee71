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

$node->stop;
done_testing();
