# Databases that are not in UTF-8: values, names of columns, members, partitions, tables, files and
# options, from the lake and into it. What was written there is read in a database in UTF-8.
use strict;
use warnings;
use utf8;
use File::Copy;
use PostgreSQL::Test::Utils;
use Test::More;
use Lake;

$ENV{PGCLIENTENCODING} = 'UTF8';

# A locale in which I and i are not one letter, made here, since few machines have it; before a server
# starts that shall find it.
my $turkish = 'tr_TR.iso88599';
my $locales = PostgreSQL::Test::Utils::tempdir();
if (-e '/usr/share/i18n/locales/tr_TR' && system("localedef -i tr_TR -f ISO-8859-9 $locales/$turkish >$locales/said 2>&1") == 0)
{
	$ENV{LOCPATH} = $locales;
}
else
{
	$turkish = undef;
}

my $node = new_lake('encodings');
my $data = $ENV{BIFANG_TEST_DATA};
my $dir = $node->basedir . '/files';

# Encoding, a name, a word, a character that it has, two that it lacks, a file.
my @cases = (
	[ 'LATIN1', 'größe', 'länge', 'é', '€ and 表', 'latin' ],
	[ 'EUC_JP', '表', '長さ', '日本', '한국', 'kanji' ]);

# A test's name, in letters that every handle takes.
sub plain
{
	my ($text) = @_;
	return $text =~ s/[^\x20-\x7e]/?/gr;
}

sub bytes
{
	my ($text) = @_;
	utf8::encode($text);
	return $text;
}

# Rows as text, and what went wrong.
sub run_sql
{
	my ($db, $sql) = @_;
	my ($rc, $out, $err) = $node->psql($db, bytes($sql));

	utf8::decode($_) for $out, $err;
	return ($out, $err);
}

sub rows
{
	my ($db, $sql) = @_;
	my ($out, $err) = run_sql($db, $sql);

	$err = join "\n", grep { /ERROR|FATAL/ } split /\n/, $err;
	return $err ne '' ? $err : $out;
}

mkdir $dir;
for my $case (@cases)
{
	my ($encoding, $name, $word, $good, $bad, $file) = @$case;
	my $db = lc $encoding;
	my $lacks = $bad =~ s/[^ -~]/?/gr;
	my $path = "$dir/$word.parquet";

	copy("$data/encoding/$file.parquet", bytes($path)) or die;
	$node->safe_psql('postgres', "CREATE DATABASE $db ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
	is(rows($db, "CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw"), '', "$encoding: server");

	# Files of others.
	is(rows($db, "IMPORT FOREIGN SCHEMA x FROM SERVER lake INTO public OPTIONS (format 'parquet', location '$dir/*.parquet')"), '', "$encoding: import");
	is(rows($db, "SELECT string_agg(attname, ',' ORDER BY attnum) FROM pg_attribute WHERE attrelid = '\"$word\"'::regclass AND attnum > 0"), "id,$name,s,m,j", "$encoding: names");
	my $table = "\"$word\"";
	my ($out, $err) = run_sql($db, "SELECT $name FROM $table");
	like($err, qr/text of column "$name" in "\Q$path\E" has a character that encoding "$encoding" lacks/, "$encoding: an error");
	like($err, qr/U\+[0-9A-F]{4}/, "$encoding: which character");
	is(rows($db, "SELECT $name FROM $table WHERE id <> 2 ORDER BY id"), "$good\nplain", "$encoding: other rows");
	rows($db, "ALTER FOREIGN TABLE $table OPTIONS (ADD invalid_text 'null')");
	is(rows($db, "SELECT id, $name IS NULL FROM $table ORDER BY id"), "1|f\n2|t\n3|f", "$encoding: NULL");
	is(rows($db, "SELECT id FROM $table WHERE $name = '$good'"), '1', "$encoding: a filter");
	is(rows($db, "SELECT id FROM $table WHERE $name IS NULL"), '2', "$encoding: a filter for NULL");
	is(rows($db, "SELECT s->>'$word', s->>'x' FROM $table WHERE s->>'x' IS NULL"), "2|", "$encoding: members");
	rows($db, "ALTER FOREIGN TABLE $table OPTIONS (SET invalid_text 'replace')");
	is(rows($db, "SELECT $name FROM $table ORDER BY id"), "$good\n$lacks\nplain", "$encoding: replaced");
	is(rows($db, "SELECT m FROM $table WHERE id = 2"), "{\"$lacks\": \"$lacks\"}", "$encoding: keys");
	rows($db, "ALTER FOREIGN TABLE $table ALTER j TYPE jsonb");
	is(rows($db, "SELECT count(*), count(j->>'a') FROM $table"), '3|3', "$encoding: escapes in JSON");
	rows($db, "CREATE TYPE member AS ($word int, x text); CREATE FOREIGN TABLE composite (s member) SERVER lake OPTIONS (format 'parquet', location '$path', invalid_text 'null')");
	is(rows($db, "SELECT sum((s).$word) FROM composite"), '6', "$encoding: attributes");
	is(rows($db, "SELECT count(*) FROM bifang.parquet_metadata('$path') WHERE file ~ '$word' AND column_path = '$name'"), '1', "$encoding: metadata");
	rows($db, "CREATE FOREIGN TABLE paths (id int, f text OPTIONS (meta 'file')) SERVER lake OPTIONS (format 'parquet', location '$path')");
	is(rows($db, "SELECT DISTINCT f FROM paths"), $path, "$encoding: the file's name");
	unlink bytes($path);

	# Tables of ours.
	is(rows($db, "CREATE FOREIGN TABLE $name ($word text, n int) SERVER lake OPTIONS (partition_by '$word')"), '', "$encoding: create");
	is(rows($db, "INSERT INTO $name VALUES ('$good', 1), ('plain', 2), (NULL, 3)"), '', "$encoding: insert");
	for my $step ('live', "bifang.commit('$name')", "bifang.roll('$name')", "bifang.offload('$name')")
	{
		rows($db, "SELECT $step") if $step ne 'live';
		is(rows($db, "SELECT * FROM $name ORDER BY n"), "$good|1\nplain|2\n|3", "$encoding: " . plain($step));
		is(rows($db, "SELECT n FROM $name WHERE $word = '$good'"), '1', "$encoding: " . plain($step) . ", a filter");
	}
	is(rows($db, "SELECT count(*) FROM bifang.check('$name')"), '0', "$encoding: check");
	like(rows($db, "SELECT count(*) FROM bifang.partitions('$name')"), qr/^\d+$/, "$encoding: partitions");
	like(rows($db, "SELECT string_agg(file, ' ') FROM bifang.manifest('$name')"), qr/bifang:/, "$encoding: manifest");
	my $location = rows($db, "SELECT metadata_location FROM bifang.iceberg_tables WHERE table_name = '$name'");
	my $text = slurp_file(bytes($location =~ s{^file://}{}r));
	utf8::decode($text);
	like($text, qr/"name"\s*:\s*"$word"/, "$encoding: the name in metadata");

	is(rows($db, "CREATE FOREIGN TABLE by_path ($word text) SERVER lake OPTIONS (location '" . ($location =~ s{^file://}{}r) . "'); SELECT count(*) FROM by_path WHERE $word = '$good'"), '1', "$encoding: a column found by its name");

	# Read where everything is UTF-8, a table in a directory with such a name too.
	is(rows('postgres', "CREATE FOREIGN TABLE ${db}_t ($word text, n int) SERVER lake OPTIONS (location '" . ($location =~ s{^file://}{}r) . "')"), '', "$encoding: as others see it");
	is(rows($db, "CREATE SERVER other FOREIGN DATA WRAPPER bifang_fdw OPTIONS (warehouse '$dir/$name'); CREATE FOREIGN TABLE o ($word text) SERVER other; INSERT INTO o VALUES ('$good'); SELECT * FROM o"), $good, "$encoding: a warehouse");
	ok(-d bytes("$dir/$name"), "$encoding: its directory");
	my $said = $text =~ s/("name"\s*:\s*"$word")/$1, "doc": "$good"/r =~ s/("name"\s*:\s*"n")/$1, "doc": "$bad"/r =~ s/("properties"\s*:\s*\{)/$1 "comment": "$word",/r;
	my $place = "$dir/said/$db/t/metadata";
	system('mkdir', '-p', $place) == 0 or die;
	append_to_file("$place/v1.metadata.json", bytes($said));
	is(rows($db, "CREATE SCHEMA said; IMPORT FOREIGN SCHEMA x FROM SERVER lake INTO said OPTIONS (location '$dir/said/$db/t'); SELECT obj_description('said.t'::regclass, 'pg_class'), col_description('said.t'::regclass, 1), col_description('said.t'::regclass, 2) IS NULL"), "$word|$good|t", "$encoding: comments");
	is(rows($db, "SELECT * FROM bifang.commit('o') \\g /dev/null\nSELECT * FROM o"), $good, "$encoding: its commit");
}

# SQL_ASCII takes any bytes for text, the lake only UTF-8: one file whose name is not leaves the others
# alone.
{
	my $place = "$dir/ascii";

	mkdir $place or die;
	copy("$data/encoding/latin.parquet", "$place/a.parquet") or die;
	copy("$data/encoding/latin.parquet", "$place/b\xff.parquet") or die;
	copy("$data/encoding/latin.parquet", bytes("$place/ü.parquet")) or die;
	$node->safe_psql('postgres', "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0");
	rows('ascii', 'CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw');
	my (undef, $said) = run_sql('ascii', "IMPORT FOREIGN SCHEMA x FROM SERVER lake INTO public OPTIONS (format 'parquet', location '$place/*.parquet')");
	like($said, qr/^\S*\s*WARNING:  table "b\?" is left out: its path cannot be text of this database$/, 'SQL_ASCII: a name that is not UTF-8');
	is(rows('ascii', 'SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM "ü")'), '3|3', 'SQL_ASCII: the other files');
}

# The case of names and keywords is ASCII's, whatever the locale.
SKIP:
{
	my $path = "$dir/case.parquet";

	skip 'no Turkish locale can be made here', 5 unless defined $turkish;
	copy("$data/encoding/latin.parquet", $path) or die;
	$node->safe_psql('postgres', "CREATE DATABASE turkish ENCODING 'LATIN5' LOCALE '$turkish' TEMPLATE template0");
	is(rows('turkish', "CREATE EXTENSION bifang_fdw; CREATE SERVER lake FOREIGN DATA WRAPPER bifang_fdw"), '', 'turkish: server');
	is(rows('turkish', 'SELECT datctype FROM pg_database WHERE datname = current_database()'), $turkish, 'turkish: its locale');
	is(rows('turkish', qq{CREATE FOREIGN TABLE f ("ID" int) SERVER lake OPTIONS (format 'parquet', location '$path'); SELECT sum("ID") FROM f}), '6', 'turkish: a column of a file');
	is(rows('turkish', qq{CREATE FOREIGN TABLE t ("I" int) SERVER lake OPTIONS (partition_by 'IDENTITY("I")'); INSERT INTO t VALUES (7); SELECT "I" FROM t}), '7', 'turkish: a transform');
	rows('turkish', "SELECT bifang.commit('t')");
	my $location = rows('turkish', "SELECT metadata_location FROM bifang.iceberg_tables WHERE table_name = 't'") =~ s{^file://}{}r;
	is(rows('turkish', "CREATE FOREIGN TABLE u (i int) SERVER lake OPTIONS (location '$location'); SELECT i FROM u"), '7', 'turkish: a column of a table');
}
done_testing();
