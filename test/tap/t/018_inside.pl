# Metadata comes from outside and may name any file of the machine: of a table whose owner may not read the server's
# files only what lies in the table's own directory is opened, whoever asks. Data files and delete files alike.
use strict;
use warnings;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

my $node = new_lake('inside');
my $dir = PostgreSQL::Test::Utils::tempdir();

sub shell { system(@_) == 0 or die "@_ failed"; return; }

# Table `files`: the metadata lies in the warehouse, the data files elsewhere. Table `deletes`: data files where they
# should be, delete files elsewhere. Table `good`: all of it inside.
mkdir "$dir/lake";
my @size = qw(files=20 manifests=1 real=1 rows=10 columns=4 version=2);
shell($ENV{BIFANG_LARGE_TABLE}, "$dir/elsewhere", @size);
push @size, 'deletes=position';
mkdir "$dir/lake/files";
shell('cp', '-r', "$dir/elsewhere/metadata", "$dir/lake/files/");
shell($ENV{BIFANG_LARGE_TABLE}, "$dir/lake/deletes", @size, "outside=$dir/elsewhere2");
shell($ENV{BIFANG_LARGE_TABLE}, "$dir/lake/good", @size);
for my $table (qw(files deletes good))
{
	my $path = "$dir/lake/$table/metadata/v1.metadata.json";
	my $json = slurp_file($path);

	$json =~ s{"table-uuid":"[^"]*","location":"[^"]*"}{"table-uuid":"$table","location":"file://$dir/lake/$table"} or die $path;
	unlink $path;
	append_to_file($path, $json);
}
$node->safe_psql('postgres', qq{
	CREATE ROLE plain LOGIN; CREATE ROLE reader LOGIN;
	CREATE SERVER s FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '$dir/lake');
	GRANT USAGE ON FOREIGN SERVER s TO plain;
	GRANT CREATE ON SCHEMA public TO plain;
} . join '', map { "SELECT bifang.register_table('s', 'public', '$_', '$dir/lake/$_');" } qw(files deletes good));
for my $table (qw(files deletes good))
{
	$node->safe_psql('postgres', qq{
		SET bifang.create_on_ddl = off;
		CREATE FOREIGN TABLE ${table}_super (id bigint) SERVER s OPTIONS (namespace 'public', "table" '$table');
		GRANT SELECT ON ${table}_super TO plain, reader;
		SET ROLE plain;
		CREATE FOREIGN TABLE ${table}_plain (id bigint) SERVER s OPTIONS (namespace 'public', "table" '$table');
		GRANT SELECT ON ${table}_plain TO reader;
	});
}

sub as
{
	my ($role, $sql) = @_;
	my ($out, $err);

	return $out if $node->psql('postgres', $sql, stdout => \$out, stderr => \$err, extra_params => [ '-U', $role ]) == 0;
	return $err =~ s/.*?ERROR:\s+//sr =~ s/\n.*//sr;
}

# 200 rows, of which 2 are deleted.
my $sum = '198|19888';
my $whole = '200|19900';
is(as('postgres', 'SELECT count(*), sum(id) FROM good_super'), $sum, 'a table that has all its files');
is(as('plain', 'SELECT count(*), sum(id) FROM good_plain'), $sum, 'also of a role without rights');
for my $table (qw(files deletes))
{
	my $rows = $table eq 'files' ? $whole : $sum;
	my $outside = qr/is outside of the table's directory "$dir\/lake\/$table"/;

	like(as('plain', "SELECT sum(id) FROM ${table}_plain"), $outside, "$table: not for its owner");
	like(as('reader', "SELECT sum(id) FROM ${table}_plain"), $outside, "$table: not for one with SELECT");
	like(as('postgres', "SELECT sum(id) FROM ${table}_plain"), $outside, "$table: not for a superuser: the owner counts");
	like(as('postgres', "ANALYZE ${table}_plain"), $outside, "$table: not for ANALYZE");
	is(as('postgres', "SELECT count(*), sum(id) FROM ${table}_super"), $rows, "$table: for a superuser's table");
	is(as('reader', "SELECT count(*), sum(id) FROM ${table}_super"), $rows, "$table: whoever reads that: the owner counts");
}
$node->safe_psql('postgres', 'GRANT pg_read_server_files TO plain');
is(as('reader', 'SELECT count(*), sum(id) FROM files_plain'), $whole, 'data: with the right, for the owner\'s table');
is(as('reader', 'SELECT count(*), sum(id) FROM deletes_plain'), $sum, 'deletes: likewise');
is(as('plain', q{PREPARE q AS SELECT count(*) FROM files_plain; EXECUTE q}), '200', 'a plan of that time');
$node->safe_psql('postgres', 'REVOKE pg_read_server_files FROM plain');
like(as('reader', "SELECT sum(id) FROM ${_}_plain"), qr/is outside of/, "$_: which can be taken away") for qw(files deletes);
$node->stop;
done_testing();
