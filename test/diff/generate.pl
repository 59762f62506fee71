#!/usr/bin/perl
# Writes the SQL of the differential test: tables of every type x partition transform with boundary values, each with
# a heap twin, and predicates over them. See run.sh.
#   generate.pl SEED PREDICATES_PER_TABLE [file of extra tables: name, one a line]
use strict;
use warnings;
no warnings 'utf8';    # the largest code point is no character, and a boundary

my ($seed, $per_table) = @ARGV;
srand($seed);

sub pick { return $_[ int(rand(@_)) ]; }
sub chance { return rand() < $_[0]; }
sub shuffled { my @l = @_; for my $i (reverse 1 .. $#l) { my $j = int(rand($i + 1)); @l[ $i, $j ] = @l[ $j, $i ]; } return @l; }
sub quoted { my ($s) = @_; $s =~ s/'/''/g; return "'$s'"; }

# Types -----------------------------------------------------------------------------------------------------------
# values: rows that the table gets, as the type's text. others: constants of predicates that are in no row. cross:
# constants of other types that the operators take. transforms: beside identity and none.
my $long = 'abcdefghijklmnopqrstuvwxyz' x 2;
my @instants = ('1970-01-01 00:00:00', '1969-12-31 23:59:59.999999', '1970-01-01 00:00:00.000001', '1969-12-31 00:00:00', '1969-01-01 00:00:00',
	'1968-12-31 23:59:59.999999', '2000-02-29 12:00:00', '2024-02-29 23:59:59.999999', '2024-03-01 00:00:00', '2024-12-31 23:59:59.999999', '2025-01-01 00:00:00',
	'2024-03-10 02:30:00', '2024-03-10 07:00:00', '0001-01-01 00:00:00', '9999-12-31 23:59:59.999999', '1900-01-01 01:00:00');
my @instant_others = ('1970-01-01 00:00:00.000002', '1969-12-31 22:59:59', '2024-02-29 23:00:00', '2024-03-10 03:00:00', '2023-12-31 00:00:00', 'infinity', '-infinity', '4000-01-01 00:00:00', '0044-03-15 12:00:00 BC', '294276-12-31 23:59:59.999999');
my %types = (
	boolean => { values => [qw(true false)], others => [], transforms => [], boolean => 1 },
	smallint => { values => [qw(0 1 -1 32767 -32768 7 10 -10 99)], others => [qw(2 -2 11 1000)], cross => [ '2147483647', '-2147483649::bigint', '1.5', "'NaN'::float8", "'-Infinity'::float8", '7::real', '6.999::numeric', '32768' ], transforms => [ 'bucket(4, v)', 'truncate(10, v)' ] },
	integer => { values => [qw(0 1 -1 2147483647 -2147483648 7 10 -10 9 -9 11 99 100 1000 -1000 34)], others => [qw(2 -2 2147483646 -2147483647 101 12345)],
		cross => [ '2147483648::bigint', '-2147483649::bigint', '1.5', '-0.5', '10.0', '1e30::numeric', "'NaN'::numeric", "'NaN'::float8", "'Infinity'::float8", '-1e300::float8', '0.1::real', '1::smallint', '2147483647.5', "'-Infinity'::numeric" ],
		transforms => [ 'bucket(4, v)', 'truncate(10, v)' ] },
	bigint => { values => [qw(0 1 -1 9223372036854775807 -9223372036854775808 9007199254740993 -9007199254740993 7 10 -10 99 100 4294967296 34)], others => [qw(2 -2 9007199254740992 9223372036854775806)],
		cross => [ '1::smallint', '2147483647::integer', '1.5', '9223372036854775807.5', '1e19::numeric', '-1e19::numeric', '9007199254740992::float8', '9.3e18::float8', "'NaN'::float8", '9223372036854775807::numeric' ],
		transforms => [ 'bucket(4, v)', 'truncate(10, v)', 'bucket(1, v)' ] },
	real => { values => [qw(0 -0 1 -1 NaN Infinity -Infinity 0.1 1.5 3.4028235e38 -3.4028235e38 1e-45 16777216 0.333333343)], others => [qw(2 0.2 16777217)],
		cross => [ '0.1::float8', '0.1::numeric', '1', '16777217::bigint', "'NaN'::float8", '1e300::float8', '-1e300::float8', "'Infinity'::float8", '0.1::real::float8' ], transforms => [] },
	'double precision' => { values => [qw(0 -0 1 -1 NaN Infinity -Infinity 0.1 1.5 1.7976931348623157e308 5e-324 9007199254740992 -0.1)], others => [qw(2 0.2 1e10)],
		cross => [ '0.1::real', '0.1::numeric', '1', '9007199254740993::bigint', "'NaN'::real", "'NaN'::numeric" ], transforms => [] },
	'numeric(9,2)' => { values => [qw(0 0.01 -0.01 9999999.99 -9999999.99 1.5 10 -10 100.10 0.99 1 50.00)], others => [qw(1.005 -0.005 0.005 10000000 99.999)],
		cross => [ '1', '10::bigint', '0.01::float8', '1.5::real', "'NaN'::numeric", "'Infinity'::numeric", "'-Infinity'::numeric", '1e20::numeric', '0.0150', '10.00000' ], transforms => [ 'bucket(4, v)', 'truncate(50, v)' ] },
	'numeric(18,4)' => { values => [qw(0 0.0001 -0.0001 99999999999999.9999 -99999999999999.9999 1.5 10 -10 123456.7890)], others => [qw(1.00005 -0.00005 100000000000000)],
		cross => [ '1', '10::bigint', '0.0001::float8', "'NaN'::float8", '1e30::numeric' ], transforms => [ 'bucket(4, v)', 'truncate(10, v)' ] },
	'numeric(38,10)' => { values => [qw(0 0.0000000001 -0.0000000001 9999999999999999999999999999.9999999999 -9999999999999999999999999999.9999999999 1.5 10 -10)], others => [qw(0.00000000005 1e28 18446744073709551616)],
		cross => [ '1', '10::bigint', '1.5::float8', "'NaN'::numeric", '9223372036854775808' ], transforms => [ 'bucket(4, v)', 'truncate(10, v)' ] },
	date => { values => [ '1970-01-01', '1969-12-31', '1970-01-02', '1969-01-01', '1968-12-31', '2000-02-29', '2024-02-29', '2024-03-01', '2024-12-31', '2025-01-01', '0001-01-01', '9999-12-31', '1900-01-01' ],
		others => [ '1970-01-03', '2024-02-28', '2023-12-31', 'infinity', '-infinity', '0044-03-15 BC', '5874897-12-31' ],
		cross => [ "'1970-01-01 00:00:00'::timestamp", "'1970-01-01 00:00:00.000001'::timestamp", "'1969-12-31 23:59:59.999999'::timestamp", "'2024-02-29 00:00:00+00'::timestamptz", "'2024-02-29 05:00:00+00'::timestamptz", "'2024-03-01 04:59:59+00'::timestamptz", "'infinity'::timestamp", "'-infinity'::timestamptz" ],
		transforms => [ 'bucket(4, v)', 'year(v)', 'month(v)', 'day(v)' ], time => 1 },
	time => { values => [ '00:00:00', '00:00:00.000001', '12:00:00', '23:59:59.999999', '12:34:56.789' ], others => [ '24:00:00', '11:59:59', '23:59:59' ], cross => [ "interval '12 hours'", "'12:00:00'::time(0)" ], transforms => [ 'bucket(4, v)' ] },
	timestamp => { values => [@instants], others => [@instant_others], cross => [ "'1970-01-01'::date", "'2024-03-01'::date", "'1969-12-31'::date", "'1970-01-01 00:00:00+00'::timestamptz", "'2024-03-10 07:00:00+00'::timestamptz", "'infinity'::date", "'2024-03-10 07:30:00+00'::timestamptz" ],
		transforms => [ 'bucket(4, v)', 'year(v)', 'month(v)', 'day(v)', 'hour(v)' ], time => 1 },
	timestamptz => { values => [ map { "$_+00" } @instants ], others => [ map { /infinity|BC/ ? $_ : "$_+00" } @instant_others ], cross => [ "'1970-01-01'::date", "'2024-03-01'::date", "'1969-12-31 19:00:00'::timestamp", "'2024-03-10 02:30:00'::timestamp", "'-infinity'::date" ],
		transforms => [ 'bucket(4, v)', 'year(v)', 'month(v)', 'day(v)', 'hour(v)' ], time => 1 },
	text => { values => [ '', 'a', 'aa', 'ab', 'abc', 'abd', 'b', 'B', 'A', 'ABC', ' ', 'a ', 'a%', 'a_b', 'a\\b', '%', '_', 'é', "e\x{301}", "\x{ff}", "\x{10ffff}", "abc\x{10ffff}", $long, "${long}1", "${long}2", "\x{20ac}uro", "z" x 70, '1', 'null', "a\tb" ],
		others => [ 'ac', 'abcdefghijklmnop', 'abcdefghijklmnopq', 'zz', "\x{10fffe}", 'abcd', 'c' ],
		cross => [ "'abc'::name", "'abc'::varchar", "'a  '::char(3)", "'abc'::char(10)", "'b'::\"char\"" ], transforms => [ 'bucket(4, v)', 'truncate(3, v)', 'truncate(1, v)' ], text => 1 },
	'varchar(80)' => { values => [ '', 'a', 'ab', 'abc', 'B', 'é', 'a ', $long, "${long}1" ], others => [ 'zz', 'abcd' ], cross => [ "'abc'::name", "'a  '::char(3)" ], transforms => ['truncate(3, v)'], text => 1 },
	'char(5)' => { values => [ '', 'a', 'ab', 'abc  ', 'abcde', 'B', 'é' ], others => [ 'zz', 'abcd' ], cross => [ "'ab'::char(2)", "'ab'::char(8)", "'ab'::text", "'ab   '::text", "'abc'::varchar" ], transforms => [ 'truncate(3, v)', 'bucket(4, v)' ], text => 1 },
	bytea => { values => [ '\\x', '\\x00', '\\x0000', '\\xff', '\\xffff', '\\x61', '\\x6162', '\\x616263', '\\xffffffffffffffffffffffffffffffffffff', '\\x7f', '\\x80' ], others => [ '\\x01', '\\xfe', '\\xfffe' ], cross => [], transforms => [ 'bucket(4, v)', 'truncate(1, v)' ] },
	uuid => { values => [ '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '7fffffff-ffff-ffff-ffff-ffffffffffff', '80000000-0000-0000-0000-000000000000', 'f79c3e09-677c-4bbd-a479-3f349cb785e7' ], others => ['01000000-0000-0000-0000-000000000000'], cross => [], transforms => ['bucket(4, v)'] },
	mood => { values => [qw(sad ok happy)], others => ['furious'], cross => [], transforms => ['bucket(4, v)'] },
	positive => { values => [qw(1 2 3 2147483647)], others => [qw(4 5)], cross => [ '3::bigint', '2.5' ], transforms => [ 'bucket(4, v)', 'truncate(2, v)' ] },
);

# Constants -------------------------------------------------------------------------------------------------------

sub constant
{
	my ($name) = @_;
	my $t = $types{$name};
	my $dice = rand();

	return "NULL::$name" if $dice < 0.02;
	return pick(@{ $t->{cross} }) if $dice < 0.25 && @{ $t->{cross} || [] };
	return quoted(pick(@{ $t->{others} })) . "::$name" if $dice < 0.45 && @{ $t->{others} };
	return quoted(pick(@{ $t->{values} })) . "::$name";
}

# Of the type itself, as it stands in a list.
sub plain { my ($name) = @_; my $t = $types{$name}; return quoted(pick(@{ $t->{values} }, @{ $t->{values} }, @{ $t->{others} })) . "::$name"; }
sub list { my ($name, $null) = @_; return join(', ', (map { plain($name) } 1 .. 1 + int(rand(5))), $null && chance(0.15) ? ("NULL::$name") : ()); }
sub operator { return pick('=', '=', '<>', '<', '<=', '>', '>='); }

# Predicates ------------------------------------------------------------------------------------------------------

my @moments = ('now()', "now() - interval '56 years'", 'current_date', "current_date - 20000", 'localtimestamp', "statement_timestamp() - interval '2 years'", "date_trunc('year', now()) - interval '1 year'", 'clock_timestamp()', "make_date(1970, 1, 1)", "to_timestamp(0)", "date_trunc('day', now())");

sub text_predicate
{
	my ($name) = @_;
	my $prefix = pick('', 'a', 'ab', 'abc', 'A', 'é', 'abcdefghijklmnopq', 'a\\_', 'a\\%', 'a\\\\', '\\%', "\x{10ffff}", 'zz');
	my $collation = pick('"C"', '"POSIX"', '"en-x-icu"', 'diff.nocase', '"default"');

	return pick(
		sub { return "v LIKE " . quoted("$prefix%"); },
		sub { return "v LIKE " . quoted("$prefix%b%"); },
		sub { return "v LIKE " . quoted(pick('a_', '_', '%', '', 'a', 'abc', '%c', '__%', 'a_b')); },
		sub { return "v NOT LIKE " . quoted("$prefix%"); },
		sub { return "v LIKE " . quoted('a!_%') . " ESCAPE '!'"; },
		sub { return "v LIKE " . quoted("$prefix%") . ' COLLATE "C"'; },
		sub { return "v ILIKE " . quoted("$prefix%"); },
		sub { return "v ~ " . quoted('^' . pick('a', 'ab', '(a|b)', 'abc')); },
		sub { return "v ^@ " . quoted(pick('a', 'ab', '', 'é')); },
		sub { return "starts_with(v, 'a')"; },
		sub { return "v " . operator() . ' ' . plain($name) . " COLLATE $collation"; },
		sub { return "v COLLATE $collation " . operator() . ' ' . plain($name); },
		sub { return "v COLLATE $collation IN (" . list($name, 1) . ")"; },
		sub { return "v COLLATE $collation BETWEEN " . plain($name) . ' AND ' . plain($name); },
		sub { return "v ~>=~ " . plain($name) . " AND v ~<~ " . plain($name); },
		sub { return "lower(v) = 'abc'"; },
		sub { return "length(v) > 3"; },
		sub { return "v || 'x' = 'abcx'"; },
		sub { return "v SIMILAR TO 'a%'"; })->();
}

sub atom
{
	my ($name) = @_;
	my $t = $types{$name};
	my @kinds = (
		(sub { return 'v ' . operator() . ' ' . constant($name); }) x 6,
		(sub { return constant($name) . ' ' . operator() . ' v'; }) x 2,
		(sub { return 'v IN (' . list($name, 1) . ')'; }) x 2,
		sub { return 'v NOT IN (' . list($name, 1) . ')'; },
		(sub { return 'v BETWEEN ' . constant($name) . ' AND ' . constant($name); }) x 2,
		sub { return 'v NOT BETWEEN ' . plain($name) . ' AND ' . plain($name); },
		sub { return 'v BETWEEN SYMMETRIC ' . plain($name) . ' AND ' . plain($name); },
		sub { return pick('v IS NULL', 'v IS NOT NULL', 't.* IS NOT NULL', 't IS NULL'); },
		sub { return 'v IS DISTINCT FROM ' . constant($name); },
		sub { return 'v IS NOT DISTINCT FROM ' . constant($name); },
		sub { return 'v ' . operator() . ' ' . pick('ANY', 'ALL') . ' (ARRAY[' . list($name, 1) . "]::${name}[])"; },
		sub { return "v = ANY ('{}'::${name}[])" },
		sub { return 'NOT (v ' . operator() . ' ' . constant($name) . ')'; },
		sub { return '(v ' . operator() . ' ' . constant($name) . ') IS ' . pick('TRUE', 'NOT TRUE', 'FALSE', 'NOT FALSE', 'UNKNOWN', 'NOT UNKNOWN'); },
		sub { return "coalesce(v, " . plain($name) . ") = " . plain($name); },
		sub { return "CASE WHEN v " . operator() . ' ' . plain($name) . " THEN id > 5 ELSE v IS NULL END"; },
		sub { return "(v, id) " . pick('<', '>', '>=', '=') . " (" . plain($name) . ", 20)"; },
		sub { return 'id ' . operator() . ' ' . int(rand(120)); },
		sub { return 'id % 3 = ' . int(rand(3)) . ' AND v ' . operator() . ' ' . plain($name); },
		sub { return "w " . operator() . ' ' . plain($name); },
		sub { return "w " . operator() . ' v'; },
		sub { return pick('true', 'false', 'NULL::boolean', '1 <> 1'); },
		# Not known before the query runs.
		(sub { return 'v ' . operator() . " (SELECT " . plain($name) . ")"; }) x 2,
		sub { return 'v ' . operator() . " (SELECT h.v FROM %T_h h WHERE h.id = " . int(rand(60)) . ")"; },
		sub { return 'v IN (SELECT h.v FROM %T_h h WHERE h.id BETWEEN ' . int(rand(60)) . ' AND ' . int(rand(60)) . ')'; },
		sub { return 'v NOT IN (SELECT h.v FROM %T_h h WHERE h.v IS NOT NULL AND h.id < ' . int(rand(20)) . ')'; },
		sub { return 'EXISTS (SELECT FROM %T_h h WHERE h.v = t.v AND h.id < ' . int(rand(60)) . ')'; },
		sub { return "v = current_setting('diff.constant')::$name"; },
		sub { return 'v = ANY (ARRAY(SELECT h.v FROM %T_h h WHERE h.id % 7 = 1))'; });

	push @kinds, (sub { return text_predicate($name); }) x 14 if $t->{text};
	push @kinds, (sub { return 'v ' . operator() . ' ' . pick(@moments); }) x 4 if $t->{time};
	push @kinds, (sub { return pick('v', 'NOT v', 'v IS TRUE', 'v IS NOT TRUE', 'v IS FALSE', 'v IS NOT FALSE', 'v IS UNKNOWN', 'v IS NOT UNKNOWN', 'v = w', 'v AND w', 'v OR w', 'NOT (v AND w)'); }) x 14 if $t->{boolean};
	push @kinds, sub { return 'extract(year FROM v) = ' . pick(1969, 1970, 2024); }, sub { return "date_trunc('month', v) = '2024-02-01'"; }, sub { return "v::date = '1969-12-31'"; } if $t->{time};
	push @kinds, sub { return 'v + 0 ' . operator() . ' ' . constant($name); }, sub { return '-v < 0'; }, sub { return 'abs(v) = 1'; } if $name =~ /int|numeric|real|double/;
	return pick(@kinds)->();
}

sub tree
{
	my ($name, $depth) = @_;

	return atom($name) if $depth == 0 || chance(0.3);
	return 'NOT (' . tree($name, $depth - 1) . ')' if chance(0.2);
	return '(' . join(pick(' AND ', ' OR ', ' OR '), map { tree($name, $depth - 1) } 1 .. 2 + int(rand(2))) . ')';
}

my %projections = (
	ids => q{SELECT count(*) || ' ' || coalesce(md5(string_agg(id::text, ',' ORDER BY id)), '') FROM %T t WHERE },
	rows => q{SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\n' ORDER BY id)), '') FROM %T t WHERE },
	count => q{SELECT count(*) FROM %T t WHERE },
	values => q{SELECT count(v) || ' ' || coalesce(md5(string_agg(v::text, E'\n' ORDER BY v::text COLLATE "C")), '') FROM %T t WHERE },
	nothing => q{SELECT count(*) FROM (SELECT FROM %T t WHERE },
);

sub query
{
	my ($predicate) = @_;
	my $p = pick(qw(ids ids ids rows rows count values nothing));

	return $projections{$p} . $predicate . ($p eq 'nothing' ? ') x' : '');
}

sub array { return 'ARRAY[' . join(', ', map { quoted($_) } @_) . ']'; }

sub check
{
	my ($table, $sql, @rest) = @_;

	$sql =~ s/%T_h\b/diff.${table}_heap/g;
	print "SELECT diff.check('diff.$table', ", quoted($sql), join('', map { ", $_" } @rest), ");\n";
}

# A prepared statement in its generic plan, for several constants.
sub prepared
{
	my ($table, $name) = @_;
	my $t = $types{$name};
	my @parameters = ($name, $name);
	my $p = pick('v = $1', 'v < $1', 'v >= $1 AND v <= $2', 'v IN ($1, $2)', 'v <> $1', 'v = ANY (ARRAY[$1, $2])', 'v IS NOT DISTINCT FROM $1', '$1 > v OR v IS NULL', 'NOT (v > $1)', 'v BETWEEN $1 AND $2', 'coalesce(v = $1, id > 3)', 'w = $1 AND v <> $2');

	# A parameter of another type, where the operator has one.
	@parameters = ('bigint', 'bigint') if $name =~ /^(integer|smallint|positive)$/ && chance(0.4);
	@parameters = ('numeric', 'numeric') if $name =~ /int|numeric/ && chance(0.3);
	@parameters = ('double precision', 'double precision') if $name =~ /real|int|numeric/ && chance(0.2);
	@parameters = ('timestamptz', 'timestamptz') if $name =~ /date|timestamp/ && chance(0.3);
	@parameters = ('timestamp', 'timestamp') if $name =~ /date|timestamptz/ && chance(0.2);
	@parameters = ('text', 'text') if $t->{text} && chance(0.3);
	my @arguments = map { join(', ', map { chance(0.08) ? 'NULL' : quoted($_) } pick(@{ $t->{values} }), pick(@{ $t->{values} }, @{ $t->{others} })) } 1 .. 7;
	$p .= ' AND $2 IS NOT DISTINCT FROM $2' if $p !~ /\$2/;
	check($table, $projections{ids} . $p, quoted(join(', ', @parameters)), array(@arguments));
}

# Parameters of a join: the scan is done again for each row of the other side.
sub rescans
{
	my ($table, $name) = @_;
	my $p = pick('t.v = c.v', 't.v < c.v', 't.v >= c.v', 't.v IS NOT DISTINCT FROM c.v', 't.v IN (c.v, ' . plain($name) . ')', 't.v = c.v AND t.id > c.id', 't.v BETWEEN c.v AND ' . plain($name), 't.v = c.v OR t.v IS NULL');
	my $limit = chance(0.3) ? ' LIMIT 2' : '';
	my $sql = "SELECT md5(string_agg(x, '|' ORDER BY k)) FROM (SELECT c.id AS k, c.id || ':' || coalesce(string_agg(y.id::text, ',' ORDER BY y.id), '-') AS x FROM %T_h c LEFT JOIN LATERAL "
		. "(SELECT t.id FROM %T t WHERE $p ORDER BY t.id$limit) y ON true WHERE c.id % 4 = 1 GROUP BY c.id) z";

	check($table, $sql, 'NULL', 'NULL', array(shuffled('enable_hashjoin=off', 'enable_mergejoin=off', 'enable_memoize=' . pick('on', 'off'), 'enable_material=' . pick('on', 'off'))));
	$sql = "SELECT md5(string_agg(c.id || ':' || n, ',' ORDER BY c.id)) FROM (SELECT c.id, (SELECT count(*) FROM %T t WHERE $p) AS n FROM %T_h c WHERE c.id % 5 = 2) c";
	check($table, $sql);
}

sub predicates
{
	my ($table, $name) = @_;

	print "SET diff.constant = ", quoted(pick(@{ $types{$name}{values} })), ";\n";
	check($table, query(atom($name))) for 1 .. int($per_table * 0.6 + 0.5);
	check($table, query(tree($name, 2))) for 1 .. int($per_table * 0.3 + 0.5);
	prepared($table, $name) for 1 .. int($per_table / 8 + 1);
	rescans($table, $name);
}

# Tables ----------------------------------------------------------------------------------------------------------

# Rows come in four steps, so that they end in an offload file, a closed and an open ledger that the lake names, and a
# live range that it does not. id is unique.
my $rows = 0;

sub fill
{
	my ($table, $name, $step) = @_;
	my @values = shuffled(@{ $types{$name}{values} });
	my @some = $step == 1 ? @values : @values[ 0 .. int($#values * (0.3 + rand(0.7))) ];
	my @lines;

	for my $v (@some, undef, $step == 2 ? () : (undef))
	{
		my $w = chance(0.2) ? 'NULL' : quoted(pick(@values));
		push @lines, '(' . join(', ', $rows++, defined $v ? quoted($v) : 'NULL', $w) . ')';
	}
	# A file of NULLs only, and one of a single value.
	@lines = map { '(' . $rows++ . ", NULL, NULL)" } 1 .. 3 if $step == 3 && chance(0.3);
	print "INSERT INTO diff.${table}_heap VALUES ", join(', ', @lines), ";\n";
	print "INSERT INTO diff.$table SELECT * FROM diff.${table}_heap WHERE id >= ", $rows - @lines, ";\n";
}

sub table
{
	my ($table, $name, $transform) = @_;

	$rows = 0;
	print "\\echo $table: $name, ", $transform || 'not partitioned', "\n";
	print "CREATE TABLE diff.${table}_heap (id int, v $name, w $name);\n";
	print "CREATE FOREIGN TABLE diff.$table (id int, v $name, w $name) SERVER diff", $transform ? " OPTIONS (partition_by '$transform')" : '', ";\n";
	for my $step (1 .. 4)
	{
		fill($table, $name, $step);
		print "DO \$\$BEGIN PERFORM bifang.commit('diff.$table'); END\$\$;\n" if $step < 4;
		print "DO \$\$BEGIN PERFORM bifang.roll('diff.$table'); END\$\$;\n" if $step < 3;
		print "DO \$\$BEGIN PERFORM bifang.offload('diff.$table'); END\$\$;\n" if $step == 1;
	}
	predicates($table, $name);
}

binmode(STDOUT, ':utf8');
print "CREATE SERVER diff FOREIGN DATA WRAPPER bifang_fdw;\n";
print "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'furious');\n";
print "CREATE DOMAIN positive AS integer CHECK (value > 0);\n";
print "CREATE COLLATION diff.nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);\n";
my $n = 0;
for my $name (sort keys %types)
{
	for my $transform ('', 'v', @{ $types{$name}{transforms} })
	{
		my $table = lc("${name}_" . ($transform || 'none'));

		$table =~ s/\W+/_/g;
		$table =~ s/_+$//;
		table($table, $name, $transform);
	}
}
