#!/usr/bin/perl
# Writes the SQL that compares counters with what must be left out; see counters.sql.
#   counters.pl SEED PREDICATES_PER_TABLE DIRECTORY [ledgers]
# The directory has ../data/transforms.tar.gz unpacked; `ledgers`: generate.pl's tables are there.
use strict;
use warnings;
no warnings 'utf8';

my ($seed, $per_table, $dir, $with_ledgers) = @ARGV;
srand($seed);

sub pick { return $_[ int(rand(@_)) ]; }
sub chance { return rand() < $_[0]; }
sub quoted { my ($s) = @_; $s =~ s/'/''/g; return "'$s'"; }

# Constants of other types whose comparison with the column is one of values, not of something rounded.
my %cross = (
	int => [ '2147483648::bigint', '-2147483649::bigint', '1.5', '-0.5', '10.0', '1e30::numeric', "'NaN'::float8", "'-Infinity'::float8", '7::smallint', '0.5::float8', "'Infinity'::numeric" ],
	long => [ '1::smallint', '10::integer', '1.5', '9223372036854775807.5', '1e19::numeric', '-1e19::numeric', "'NaN'::numeric" ],
	float => [ '0.5::float8', '0.1::float8', "'NaN'::float8", '1e300::float8', "'-Infinity'::float8" ],
	double => [ '0.5::real', "'NaN'::real" ],
	decimal9 => [ '1', '10::bigint', "'NaN'::numeric", '1e20::numeric', '0.015', '10.00000', '-9999999.995' ],
	decimal18 => [ '1', '10::bigint', '1e30::numeric', '1.50001', '1.5' ],
	decimal38 => [ '2', '2::bigint', '9223372036854775808' ],
	date => [ "'1970-01-01 00:00:00'::timestamp", "'1970-01-01 00:00:00.000001'::timestamp", "'2024-03-01 12:00:00'::timestamp", "'infinity'::date", "'-infinity'::timestamp", "'0044-03-15 BC'::date" ],
	timestamp => [ "'1970-01-01'::date", "'2024-03-01'::date", "'infinity'::date", "'-infinity'::timestamp", "'0044-03-15 12:00:00 BC'::timestamp" ],
	timestamptz => [ "'1970-01-01'::date", "'2024-03-01'::date", "'1969-12-31 19:00:00'::timestamp", "'infinity'::timestamptz", "'-infinity'::date" ],
	string => [ "'abc'::varchar" ],
);

my (%types, @tables, %specs);
open(my $f, '<:utf8', "$dir/constants.tsv") or die "constants.tsv: $!";
while (<$f>)
{
	chomp;
	my ($kind, $sql, $what, $literal) = split /\t/, $_, -1;
	$types{$kind}{sql} = $sql;
	push @{ $types{$kind}{constants} }, quoted($literal) . "::$sql";
}
close $f;
open($f, '<', "$dir/specs.tsv") or die "specs.tsv: $!";
while (<$f>)
{
	chomp;
	my ($table, $number, $transform) = split /\t/;
	push @tables, $table if !@tables || $tables[-1] ne $table;
	$specs{$table}{$number} = $transform;
}
close $f;

# Predicates -------------------------------------------------------------------------------------------------------
# A node: sql; generic, with the constants as parameters; conditions that hold for units that it has to read: bounds,
# part, both, contain (it asks only whether values are there) and dict (whether there is any value that matches).

my @parameters;

sub column_range
{
	my ($op, $c, $lo, $hi) = @_;

	return "($lo <= $c AND $hi >= $c)" if $op eq '=';
	return "NOT ($lo = $c AND $hi = $c)" if $op eq '<>';
	return $op =~ /</ ? "$lo $op $c" : "$hi $op $c";
}

# The partition, for one comparison.
sub part_of
{
	my ($kind, $op, $c) = @_;
	my $range = column_range($op, $c, 'plo', 'phi');
	my $bucket = $op eq '=' ? "coalesce(b = (SELECT k.b FROM cnt.constants_$kind k WHERE k.v = $c LIMIT 1), false)" : 'true';

	return "CASE pkind WHEN 'null' THEN false WHEN 'range' THEN coalesce($range, false) WHEN 'bucket' THEN $bucket ELSE true END";
}

sub node
{
	my ($sql, $generic, $bounds, $part) = @_;
	my $there = "EXISTS (SELECT FROM %H WHERE pos / 160 = unit AND $sql)";

	return { sql => $sql, generic => $generic, bounds => $bounds, part => $part, both => "($bounds AND $part)",
		contain => $sql =~ /^(v|id) = / ? $there : 'true', dict => $sql =~ /IS NULL/ ? 'true' : $there };
}

sub parameter
{
	my ($type, $c) = @_;
	push @parameters, [ $type, $c ];
	return '$' . scalar(@parameters);
}

sub compare
{
	my ($kind, $op, $c) = @_;
	my $type = $c =~ /::([a-z0-9(), ]+)$/ ? $1 : $c =~ /\./ ? 'numeric' : abs($c) > 2**31 ? 'numeric' : 'integer';
	# Order on text is known only in this collation.
	my $v = $kind eq 'string' && $op !~ /^(=|<>)$/ ? 'v COLLATE "C"' : 'v';

	return node("$v $op $c", "$v $op " . parameter($type, $c), 'coalesce(' . column_range($op, $c, 'blo', 'bhi') . ', false)', part_of($kind, $op, $c));
}

sub on_id
{
	my ($op, $n) = @_;
	return node("id $op $n", "id $op " . parameter('integer', $n), '(' . column_range($op, $n, 'ilo', 'ihi') . ')', 'true');
}

sub null_test
{
	my ($is) = @_;
	my $bounds = $is ? 'nulls > 0' : 'nulls < n';
	my $part = $is ? "pkind IN ('none', 'null')" : "pkind <> 'null'";
	return node('v IS ' . ($is ? '' : 'NOT ') . 'NULL', 'v IS ' . ($is ? '' : 'NOT ') . 'NULL', $bounds, $part);
}

sub join_nodes
{
	my ($word, @nodes) = @_;
	my %n;
	for my $k (qw(sql generic bounds part both contain dict)) { $n{$k} = '(' . join(" $word ", map { $_->{$k} } @nodes) . ')'; }
	return \%n;
}

# Another way to write the same.
sub said
{
	my ($n, $sql, $generic) = @_;
	return { %$n, sql => $sql, generic => $generic };
}

my %not = ('=' => '<>', '<>' => '=', '<' => '>=', '>=' => '<', '>' => '<=', '<=' => '>');
my %swap = ('=' => '=', '<>' => '<>', '<' => '>', '>' => '<', '<=' => '>=', '>=' => '<=');

sub constant
{
	my ($kind) = @_;
	return pick(@{ $cross{$kind} }) if $cross{$kind} && chance(0.2);
	return pick(@{ $types{$kind}{constants} });
}

sub last_parameters { my ($n) = @_; return map { '$' . $_ } @parameters + 1 - $n .. @parameters; }

sub atom
{
	my ($kind) = @_;
	my $op = pick('=', '=', '=', '<>', '<', '<=', '>', '>=');
	my $own = sub { return pick(@{ $types{$kind}{constants} }); };
	my @kinds = (
		(sub { return compare($kind, $op, constant($kind)); }) x 6,
		sub { my $c = constant($kind); my $n = compare($kind, $op, $c); my $p = (last_parameters(1))[0]; my ($v) = $n->{sql} =~ /^(.*?) \Q$op\E /; return said($n, "$c $swap{$op} $v", "$p $swap{$op} $v"); },
		sub { my $c = constant($kind); my $n = compare($kind, $not{$op}, $c); my $p = (last_parameters(1))[0]; my ($v) = $n->{sql} =~ /^(.*?) \Q$not{$op}\E /; return said($n, "NOT ($v $op $c)", "NOT ($v $op $p)"); },
		sub {
			my @c = map { $own->() } 1 .. 1 + int(rand(4));
			my $n = join_nodes('OR', map { compare($kind, '=', $_) } @c);
			return said($n, 'v IN (' . join(', ', @c) . ')', 'v IN (' . join(', ', last_parameters(scalar @c)) . ')');
		},
		sub {
			my @c = map { $own->() } 1 .. 1 + int(rand(3));
			my $n = join_nodes('AND', map { compare($kind, '<>', $_) } @c);
			return said($n, 'v NOT IN (' . join(', ', @c) . ')', 'v <> ALL (ARRAY[' . join(', ', last_parameters(scalar @c)) . '])');
		},
		sub {
			my ($x, $y) = (constant($kind), constant($kind));
			my $n = join_nodes('AND', compare($kind, '>=', $x), compare($kind, '<=', $y));
			my ($p, $q) = last_parameters(2);
			my ($v) = $n->{sql} =~ /^\((.*?) >= /;
			return said($n, "$v BETWEEN $x AND $y", "$v BETWEEN $p AND $q");
		},
		sub { return null_test(chance(0.5)); },
		sub {
			my $c = $own->();
			my $n = join_nodes('OR', compare($kind, '<>', $c), null_test(1));
			return said($n, "v IS DISTINCT FROM $c", 'v IS DISTINCT FROM ' . (last_parameters(1))[0]);
		},
		sub { my $c = $own->(); my $n = compare($kind, '=', $c); return said($n, "v IS NOT DISTINCT FROM $c", 'v IS NOT DISTINCT FROM ' . (last_parameters(1))[0]); },
		sub { return on_id(pick('=', '<', '>='), int(rand(40))); });

	push @kinds, (sub { my $v = chance(0.5) ? 'true' : 'false'; my $n = compare($kind, '=', "'$v'::boolean"); pop @parameters; my $s = $v eq 'true' ? pick('v', 'v IS TRUE') : pick('NOT v', 'v IS FALSE'); return said($n, $s, $s); }) x 5
		if $kind eq 'boolean';
	push @kinds, (sub {
		my $p = pick('a', 'abc', 'é', 'zz', 'abcdefghijklmnopqrst');
		my ($x, $y) = ('repeat(chr(1114111), 40)', quoted($p));
		my $n = node('v LIKE ' . quoted("$p%"), 'v LIKE ' . parameter('text', quoted("$p%")), "coalesce(blo <= $y || $x AND bhi >= $y, false)",
			"CASE pkind WHEN 'null' THEN false WHEN 'range' THEN plo <= $y || $x AND phi >= $y ELSE true END");
		return chance(0.7) ? $n : said($n, "v ^@ $y", "starts_with(v, rtrim(" . (last_parameters(1))[0] . ", '%'))");
	}) x 5 if $kind eq 'string';
	push @kinds, (sub {
		my $d = pick("'1969-12-31'::date", "'1970-01-01'::date", "'2024-03-01'::date", "'2023-01-01'::date");
		my $n = join_nodes('AND', compare($kind, '>=', "$d"), compare($kind, '<', "($d + 1)::date"));
		splice @parameters, -2;
		return said($n, "v::date = $d", 'v::date = ' . parameter('date', $d));
	}) x 3 if $kind eq 'timestamp';
	return pick(@kinds)->();
}

sub tree
{
	my ($kind, $depth) = @_;
	return atom($kind) if $depth == 0 || chance(0.5);
	return join_nodes(pick('AND', 'OR', 'OR'), map { tree($kind, $depth - 1) } 1 .. 2 + int(rand(2)));
}

# Tables -----------------------------------------------------------------------------------------------------------

# SQL over lo, the smallest value of the unit, for the two ends of its partition; and a condition for not knowing.
sub partition_range
{
	my ($kind, $transform) = @_;
	my $sql = $types{$kind}{sql};
	my ($w) = $transform =~ /\[(\d+)\]/;

	return ('lo', 'lo', 'false') if $transform eq 'identity';
	if ($transform =~ /truncate/)
	{
		return ("left(lo, $w)", "left(lo, $w) || CASE WHEN length(lo) < $w THEN '' ELSE repeat(chr(1114111), 40) END", 'false') if $kind eq 'string';
		my ($scale) = $sql =~ /,(\d+)\)/;
		my $unit = $scale ? '1e-' . $scale : '1';
		my $from = "floor(lo::numeric / $unit / $w) * $w * $unit";
		# At the smallest integer it may wrap around, and give one near the largest.
		my $limit = $sql eq 'integer' ? 2147483647 : '9223372036854775807';
		return ("($from)::numeric", "(($from) + ($w - 1) * $unit)::numeric", 'false') if $scale;
		my $known = "($from) BETWEEN -($limit) AND $limit - $w";
		$known .= " AND NOT ($from) BETWEEN 2147483647 - $w AND 2147483647" if $sql eq 'bigint';
		return ("CASE WHEN $known THEN ($from)::$sql END", "CASE WHEN $known THEN (($from) + $w - 1)::$sql END", "NOT ($known)");
	}
	return ('lo', 'lo', 'false') if $transform eq 'day' && $kind eq 'date';
	# Old writers rounded towards 1970, so that a period before it may be called by the number of the next one.
	my $step = "interval '1 $transform'";
	my $local = $kind eq 'timestamptz' ? "(lo AT TIME ZONE 'UTC')" : 'lo::timestamp';
	my $start = "date_trunc('$transform', $local)";
	my $smallest = $kind eq 'date' ? "interval '1 day'" : "interval '1 us'";
	my $zone = $kind eq 'timestamptz' ? " AT TIME ZONE 'UTC'" : $kind eq 'date' ? '::date' : '';
	return ("(CASE WHEN $start <= '1970-01-01' THEN $start - $step ELSE $start END)$zone", "($start + $step - $smallest)$zone", 'false');
}

# No bound says that there is no NaN.
sub floats { my ($kind) = @_; my $sql = $types{$kind}{sql}; return ("CASE WHEN lo = 'NaN' THEN '-Infinity'::$sql ELSE lo END", "'NaN'::$sql"); }

# What bounds tell of the smallest and largest value.
sub bounds_range
{
	my ($kind) = @_;

	return ('left(lo, 16)', "CASE WHEN hi = '' THEN repeat(chr(1114111), 40) WHEN length(hi) < 16 THEN hi ELSE left(hi, 16) || repeat(chr(1114111), 40) END") if $kind eq 'string';
	return ('substr(lo, 1, 16)', "CASE WHEN hi = '' THEN decode(repeat('ff', 40), 'hex') WHEN length(hi) < 16 THEN hi ELSE substr(hi, 1, 16) || decode(repeat('ff', 40), 'hex') END") if $kind eq 'binary';
	return ("(left(lo::text, 18) || '-0000-000000000000')::uuid", "(left(hi::text, 18) || '-ffff-ffffffffffff')::uuid") if $kind eq 'uuid';
	return ('lo - (lo = trunc(lo))::int', 'hi + (hi = trunc(hi))::int') if $kind =~ /decimal/;
	return floats($kind) if $kind =~ /float|double/;
	return ('lo', 'hi');
}

sub units
{
	my ($table, $kind) = @_;
	my ($blo, $bhi) = bounds_range($kind);
	my (@pkind, @plo, @phi);

	for my $s (sort keys %{ $specs{$table} })
	{
		my $t = $specs{$table}{$s};
		next if $t eq 'None' || $t eq 'void';
		if ($t =~ /bucket/) { push @pkind, "WHEN s = $s AND lo IS NOT NULL THEN 'bucket'"; }
		else
		{
			my ($lo, $hi, $unknown) = partition_range($kind, $t);
			push @pkind, "WHEN s = $s AND $unknown THEN 'unknown' WHEN s = $s AND lo IS NOT NULL THEN 'range'";
			push @plo, "WHEN s = $s THEN $lo";
			push @phi, "WHEN s = $s THEN $hi";
		}
		push @pkind, "WHEN s = $s THEN 'null'";
	}
	my $pkind = @pkind ? "CASE @pkind ELSE 'none' END" : "'none'";
	my ($plo, $phi) = @plo ? ("CASE @plo END", "CASE @phi END") : ("NULL::$types{$kind}{sql}", "NULL::$types{$kind}{sql}");

	print "CREATE TABLE cnt.${table}_units AS SELECT file, n, nulls, ilo, ihi, $blo AS blo, $bhi AS bhi, $pkind AS pkind, $plo AS plo, $phi AS phi, "
		. "(SELECT k.b FROM cnt.constants_$kind k WHERE k.v = lo LIMIT 1) AS b FROM (SELECT file, min(s) AS s, count(*) AS n, count(*) - count(v) AS nulls, min(id) AS ilo, max(id) AS ihi, "
		. "(array_agg(v ORDER BY v) FILTER (WHERE v IS NOT NULL))[1] AS lo, (array_agg(v ORDER BY v DESC) FILTER (WHERE v IS NOT NULL))[1] AS hi FROM cnt.${table}_heap GROUP BY file) x;\n";
}

sub check
{
	my ($table, $kind, $node) = @_;
	my $types = join(', ', map { $_->[0] } @parameters);
	my $arguments = join(', ', map { $_->[1] } @parameters);

	print "SELECT cnt.files('cnt.$table', ", join(', ', map { quoted($_) } @$node{qw(sql bounds part both)});
	print ', ', join(', ', map { quoted($_) } $node->{generic}, $types, $arguments), ', ', chance(0.1) ? 'true' : 'false' if @parameters;
	print ");\n";
}

# Values that are known only while the query runs, and others at each rescan: files that are opened in all.
sub at_run_time
{
	my ($table, $kind) = @_;
	my $sql = $types{$kind}{sql};
	my $op = $kind eq 'string' || chance(0.6) ? '=' : pick('<', '>=');
	my @c = map { pick(@{ $types{$kind}{constants} }) } 1 .. 3;
	my $read = sub { return join(' + ', map { "(SELECT count(*) FROM cnt.${table}_units WHERE " . compare($kind, $op, $_)->{both} . ')' } @_); };
	my $k = "unnest(ARRAY[" . join(', ', @c) . "]::${sql}[]) k(c)";

	print "SELECT cnt.opens('cnt.$table', ", quoted($_->[0]), ", ", $_->[1], ");\n" for (
		[ "SELECT id FROM cnt.$table WHERE v $op (SELECT $c[0])", $read->($c[0]) ],
		[ "SELECT id FROM cnt.$table WHERE v $op (SELECT (array_agg(c))[1] FROM (VALUES ($c[0])) x(c) WHERE c IS NOT NULL)", $read->($c[0]) ],
		[ "SELECT k.c, x.n FROM $k, LATERAL (SELECT count(*) AS n FROM cnt.$table t WHERE t.v $op k.c) x", $read->(@c) ],
		[ "SELECT k.c, (SELECT max(t.id) FROM cnt.$table t WHERE t.v $op k.c AND t.id >= 0) FROM $k", $read->(@c) ],
		[ "SELECT k.c, t.id FROM $k LEFT JOIN cnt.$table t ON t.v $op k.c", $read->(@c) ],
		[ "SELECT k.c FROM $k WHERE EXISTS (SELECT FROM cnt.$table t WHERE t.v $op k.c OFFSET 0)", $read->(@c) ]);
	return if $kind !~ /date|timestamp/;
	for my $moment ('now()', "now() - interval '20 years'", "current_date - 20000", 'localtimestamp', "date_trunc('year', now()) - interval '2 years'")
	{
		print "SELECT cnt.opens('cnt.$table', ", quoted("SELECT id FROM cnt.$table WHERE v >= $moment"), ", (SELECT count(*) FROM cnt.${table}_units WHERE bhi >= $moment - interval '3 days'));\n";
	}
}

# Row groups and pages ---------------------------------------------------------------------------------------------
# ../data/boundaries: row groups of 160 rows, pages of 16, one column per type.

sub list { my ($sql, @literals) = @_; return { sql => $sql, constants => [ map { quoted($_) . "::$sql" } @literals ] }; }

my %columns = (
	b => 'boolean', i8 => list('smallint', qw(0 1 -1 127 -128 5)), u8 => list('smallint', qw(0 1 127 255 3 -1)), i16 => list('smallint', qw(0 1 -1 32767 -32768 9)),
	u32 => list('bigint', qw(0 1 2147483648 4294967295 7 -1)), u64 => list('numeric', qw(0 1 9223372036854775808 18446744073709551615 7 -1)),
	i32 => 'int', i64 => 'long', f32 => 'float', f64 => 'double', n9_2 => 'decimal9', n18_4 => 'decimal18', n38_10 => 'decimal38', d => 'date', t => 'time', ts => 'timestamp', ts_ms => 'timestamp',
	tz => 'timestamptz', s => 'string', y => 'binary', u => list('bytea', '\\x' . '00' x 16, '\\x' . 'ff' x 16, '\\x7f' . 'ff' x 15, '\\x80' . '00' x 15, '\\x01'));

sub levels
{
	my ($table, $column) = @_;
	my $kind = ref $columns{$column} ? "own_$column" : $columns{$column};
	my ($blo, $bhi) = $kind =~ /float|double/ ? floats($kind) : ('lo', 'hi');

	$types{$kind} = $columns{$column} if ref $columns{$column};
	# PyArrow writes no column index where a page has nothing but NaN.
	my $blind = $kind =~ /float|double/ ? "bool_or(lo = 'NaN') OVER (PARTITION BY ilo / 160)" : 'false';
	for my $unit (160, 16)
	{
		print "CREATE TABLE cnt.${table}_${column}_$unit AS SELECT unit, n, nulls, ilo, ihi, $blo AS blo, $bhi AS bhi, ${blind} AS blind FROM (SELECT pos / $unit AS unit, count(*) AS n, count(*) - count($column) AS nulls, min(id) AS ilo, max(id) AS ihi, "
			. "(array_agg($column ORDER BY $column) FILTER (WHERE $column IS NOT NULL))[1] AS lo, (array_agg($column ORDER BY $column DESC) FILTER (WHERE $column IS NOT NULL))[1] AS hi FROM cnt.${table}_heap GROUP BY 1) x;\n";
	}
	for (1 .. $per_table)
	{
		@parameters = ();
		my $node = tree($kind, 2);
		my $types = join(', ', map { $_->[0] } @parameters);
		my $arguments = join(', ', map { $_->[1] } @parameters);

		@$node{qw(contain dict)} = ('true', 'true') if $column eq 'b';    # has no filter and no dictionary
		s/\bv\b/$column/g, s/%H/cnt.${table}_heap/g for @$node{qw(sql generic contain dict)};
		print "SELECT cnt.levels('cnt.$table', '$column', ", join(', ', map { quoted($_) } @$node{qw(sql bounds contain dict)});
		print ', ', join(', ', map { quoted($_) } $node->{generic}, $types, $arguments), ', ', chance(0.1) ? 'true' : 'false' if @parameters;
		print ");\n";
	}
}

binmode(STDOUT, ':utf8');
print "\\copy cnt.constants FROM '$dir/constants.tsv' (NULL '', FORMAT csv, DELIMITER E'\\t', QUOTE E'\\b', FORCE_NOT_NULL (literal))\n";
for my $kind (sort keys %types)
{
	print "CREATE TABLE cnt.constants_$kind AS SELECT literal::$types{$kind}{sql} AS v, b FROM cnt.constants WHERE kind = '$kind';\n";
}
for my $table (@tables)
{
	my ($kind) = $table =~ /^([a-z0-9]+?)_/;

	print "IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO cnt OPTIONS (location ", quoted("$dir/$table"), ");\n";
	print "ALTER FOREIGN TABLE cnt.$table ADD COLUMN file text OPTIONS (meta 'file');\n";
	print "SELECT cnt.twin('$table', ", quoted($dir), ");\n";
	units($table, $kind);
	for (1 .. $per_table)
	{
		@parameters = ();
		check($table, $kind, tree($kind, 2));
	}
	at_run_time($table, $kind);
}
# Tables that generate.pl has made: every transform over what ledgers hold.
sub ledgers
{
	my ($kind, $name, $transform) = @_;
	my $table = lc("${name}_$transform");
	my ($word, $w) = $transform =~ /^(\w+)(?:\((\d+))?/;

	$table =~ s/\W+/_/g;
	$table =~ s/_+$//;
	$specs{"${table}_ledgers"} = { 0 => $transform eq 'v' ? 'identity' : defined $w ? "$word\[$w]" : $word };
	print "CREATE TABLE cnt.${table}_ledgers_heap AS SELECT id, v, 0 AS s, id::text AS file FROM diff.${table}_heap;\n";
	units("${table}_ledgers", $kind);
	print "CREATE TABLE diff.${table}_units AS TABLE cnt.${table}_ledgers_units;\n";
	for (1 .. $per_table)
	{
		@parameters = ();
		my $node = tree($kind, 2);
		print "SELECT cnt.ledgers('diff.$table', 'diff.${table}_heap', ", quoted($node->{sql}), ', ', quoted($node->{part}), ");\n";
	}
}

if ($with_ledgers)
{
	my %names = (int => 'integer', long => 'bigint', decimal9 => 'numeric(9,2)', date => 'date', time => 'time', timestamp => 'timestamp', timestamptz => 'timestamptz', string => 'text', binary => 'bytea', uuid => 'uuid', boolean => 'boolean');
	my %others = (int => ['truncate(10, v)'], long => ['truncate(10, v)'], decimal9 => ['truncate(50, v)'], date => [ 'year(v)', 'month(v)', 'day(v)' ], string => [ 'truncate(3, v)', 'truncate(1, v)' ], uuid => ['bucket(4, v)'],
		timestamp => [ 'year(v)', 'month(v)', 'day(v)', 'hour(v)' ], timestamptz => [ 'year(v)', 'month(v)', 'day(v)', 'hour(v)' ]);
	for my $kind (sort keys %names)
	{
		ledgers($kind, $names{$kind}, $_) for 'v', @{ $others{$kind} || [] };
	}
}
print "\\getenv data BIFANG_TEST_DATA\n";
for my $table (qw(sorted random))
{
	print "\\set where :data '/boundaries/$table.parquet'\n";
	print "IMPORT FOREIGN SCHEMA x FROM SERVER diff INTO cnt OPTIONS (format 'parquet', location :'where');\n";
	print "ALTER FOREIGN TABLE cnt.$table ADD COLUMN pos bigint OPTIONS (meta 'pos');\n";
	print "CREATE TABLE cnt.${table}_heap AS SELECT f.*, id::bigint AS pos FROM files.${table}_heap f;\n";
	print "SELECT diff.twin('cnt.$table');\n";
	levels($table, $_) for sort keys %columns;
}
print "SELECT cnt.close();\n";
