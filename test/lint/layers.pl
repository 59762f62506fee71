#!/usr/bin/perl
# Who may include whom.
#
# - Between layers an arrow goes down, and neighbours don't see each other: the table %may. Only pg/
#   includes the server's headers, only some folders those of a library: the table %library.
# - In src/pg an arrow goes down the list @pg; a kind of tables (a folder in pg/scan/) is named by
#   nobody but the one table of kinds, and names no other kind.
# - Elsewhere folders next to each other don't need each other in a circle.
# - A header called internal.h or *_internal.h is its folder's own (tests may look into it).
# - Modules (x.h with x.c) don't need each other in a circle.
# - One spelling: `#include "layer/header.h"` for ours, `#include <header.h>` for what is not. What
#   is spelled otherwise would escape these rules.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Source;
chdir "$FindBin::Bin/../.." or die;

my @ground = qw(base);
my @second = (@ground, qw(vec kernels codec io));
my @third = (@second, qw(parquet avro log store));
my @fourth = (@third, qw(iceberg exec policy));
my %may = (
	base => [@ground],
	(map { $_ => [@ground, $_] } qw(vec kernels codec io)),
	(map { $_ => [@second, $_] } qw(parquet avro log store)),
	(map { $_ => [@third, $_] } qw(iceberg exec policy)),
	scan => [@fourth, 'scan'],
	pg => [@fourth, qw(scan pg)]);

# From below to above; behind them what stands in src/pg itself.
my @pg = qw(server convert catalog push write scan lake);
my @pg_top = qw(src/pg/fdw.c src/pg/module.c);
my $kinds = 'src/pg/scan/kinds.c';

# What the core takes from outside, and which layers do. The rest of C's library is not for it.
my %library = (
	(map { $_ => qr/./ } qw(ctype.h errno.h float.h limits.h math.h stdarg.h stdbool.h stddef.h stdint.h
		stdio.h stdlib.h string.h strings.h)),
	'assert.h' => qr/^base$/,
	'jansson.h' => qr/^(avro|iceberg)$/,
	'stdatomic.h' => qr/^scan$/,
	'xxhash.h' => qr/^(base|exec|parquet)$/,
	(map { $_ => qr/^codec$/ } qw(zlib.h zstd.h zstd_errors.h lz4.h lz4frame.h snappy-c.h brotli/decode.h)),
	'curl/curl.h' => qr/^store$/,
	'librdkafka/rdkafka.h' => qr/^store$/,
	(map { $_ => qr/^(codec|kernels)$/ } qw(nmmintrin.h immintrin.h arm_neon.h arm_acle.h)));

my %rank;
@rank{@pg} = 0 .. $#pg;

sub folder
{
	return $_[0] =~ s{/[^/]*$}{}r;
}

# The folder of src/pg that a path is in, undef for what stands in src/pg itself.
sub pg_folder
{
	return $_[0] =~ m{^src/pg/([^/]+)/} ? $1 : undef;
}

sub check_pg
{
	my ($file, $line, $target) = @_;
	my ($from, $to) = (pg_folder($file), pg_folder($target));
	return unless defined $from && $target =~ m{^src/pg/};
	my $text = sprintf '"%s" is included, %s', $target =~ s{^src/}{}r,
		defined $to ? "an arrow from pg/$from up to pg/$to" : 'which stands above it';
	complain($file, $line, $text) if !defined $to || ($rank{$to} // 0) > ($rank{$from} // 0);
	if ($target =~ m{^src/pg/scan/([^/]+)/})
	{
		complain($file, $line, "the kind of tables pg/scan/$1 is included by more than the table of kinds")
			unless $file =~ m{^src/pg/scan/\Q$1\E/} || $file eq $kinds;
	}
}

my %edge; # {from}{to} = [file, line]: between modules, and between folders next to each other

sub remember
{
	my ($from, $to, $file, $line) = @_;
	$edge{$from}{$to} //= [$file, $line] if $from ne $to;
}

sub check_target
{
	my ($file, $line, $target) = @_;
	my ($layer) = $file =~ m{^src/([^/]+)/};
	my ($to) = $target =~ m{^src/([^/]+)/};

	complain($file, $line, "$layer must not include \"" . ($target =~ s{^src/}{}r) . '"')
		unless grep { $_ eq ($to // '') } @{ $may{$layer} // [] };
	complain($file, $line, "\"$target\" is another folder's own")
		if $target =~ m{[/_]internal\.h$} && folder($file) ne folder($target);
	check_pg($file, $line, $target) if $layer eq 'pg';

	my ($a, $b) = map { s/\.[ch]$//r } $file, $target;
	remember("module $a", "module $b", $file, $line) if -e "$b.c" && -e "$a.c";
	# Where the paths part, below one layer.
	my @a = split m{/}, folder($file);
	my @b = split m{/}, folder($target);
	my @same;
	push @same, shift @a and shift @b while @a && @b && $a[0] eq $b[0];
	remember('folder ' . join('/', @same, $a[0]), 'folder ' . join('/', @same, $b[0]), $file, $line)
		if @same > 1 && @a && @b;
}

sub check_line
{
	my ($file, $line, $text) = @_;
	my ($layer) = $file =~ m{^src/([^/]+)/};
	if ($text !~ m{^\#include (?:"([\w/.-]+)"|<([\w/.+-]+)>)\s*$})
	{
		complain($file, $line, "an include is spelled `#include \"layer/header.h\"` or `#include <header.h>`");
		return;
	}
	my ($ours, $other) = ($1, $2);
	my $name = $ours // $other;
	if ($name =~ m{(^|/)\.\.?/} || (defined $other && (-e "src/$name" || -e "test/$name")))
	{
		complain($file, $line, "\"$name\" is spelled as a path below src, in quotes");
	}
	elsif (!$layer)
	{
		complain($file, $line, "there is no src/$name or test/$name")
			if defined $ours && !-e "src/$name" && !-e "test/$name";
	}
	elsif (defined $ours && -e "src/$name")
	{
		check_target($file, $line, "src/$name");
	}
	elsif ($layer ne 'pg')
	{
		my $who = $library{$name};
		complain($file, $line, defined $ours ? "there is no src/$name, and only src/pg may include the server's headers" :
			"$layer must not include <$name>") unless defined $other && $who && $layer =~ $who;
	}
	elsif (defined $ours && $name =~ m{^([^/]+)/} && -d "src/$1")
	{
		complain($file, $line, "there is no src/$name");
	}
}

# Strongly connected parts of %edge with more than one member.
my (%number, %low, %open, @stack);

sub visit
{
	my ($v) = @_;
	$number{$v} = $low{$v} = keys %number;
	push @stack, $v;
	$open{$v} = 1;
	for my $w (sort keys %{ $edge{$v} // {} })
	{
		visit($w) unless defined $number{$w};
		my $reach = $open{$w} ? $low{$w} : $low{$v};
		$low{$v} = $reach if $reach < $low{$v};
	}
	return if $low{$v} != $number{$v};
	my @part;
	do
	{
		push @part, pop @stack;
		$open{ $part[-1] } = 0;
	} while $part[-1] ne $v;
	return if @part < 2;
	my ($kind) = $v =~ /^(\w+)/;
	complain('src', 0, "these ${kind}s need each other in a circle: " . join(' ', sort map { s/^\w+ //r } @part));
}


for my $file (files(qr/\.[ch]$/, qw(src test)))
{
	my ($layer) = $file =~ m{^src/([^/]+)/};
	complain($file, 0, "src/$layer is not in the table of layers") if $layer && !$may{$layer};
	if ($layer && $layer eq 'pg')
	{
		my $in = pg_folder($file);
		complain($file, 0, "not in the order of the folders of src/pg")
			unless defined $in ? defined $rank{$in} : grep { $_ eq $file } @pg_top;
	}
	my @lines = split /\n/, without_comments($file);
	for (0 .. $#lines)
	{
		check_line($file, $_ + 1, $lines[$_])
			if $lines[$_] =~ /^\s*(?:#|%:|\?\?=)\s*(?:include\w*|import|embed)\b|^\s*(?:#|%:|\?\?=)[ \ta-z]*\\$/;
	}
}
visit($_) for grep { !defined $number{$_} } sort keys %edge;
finish();
