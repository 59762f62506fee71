#!/usr/bin/perl
# Who may include whom.
#
# - Between layers an arrow goes down, and neighbours don't see each other: Layers.pm. Only pg/
#   includes the server's headers, only some folders those of a library: the table %library.
# - In src/pg an arrow goes down the list there; a kind of tables (a folder in pg/scan/) is named by
#   nobody but the one table of kinds, and names no other kind.
# - Elsewhere folders next to each other don't need each other in a circle.
# - A header called internal.h or *_internal.h is its folder's own (tests may look into it).
# - Modules (x.h with x.c) don't need each other in a circle, nor do headers alone.
# - One spelling: `#include "layer/header.h"` for ours, `#include <header.h>` for what is not. What
#   is spelled otherwise would escape these rules.
# - What is included is a header. Sources are in a layer's folder, called .c or .h, and no links.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Source;
use Layers;
chdir "$FindBin::Bin/../.." or die;

# What the core takes from outside, and which layers do. The rest of C's library is not for it.
my %library = (
	(map { $_ => qr/./ } qw(errno.h float.h limits.h math.h stdarg.h stdbool.h stddef.h stdint.h
		stdio.h stdlib.h string.h)),
	'assert.h' => qr/^base$/,
	'jansson.h' => qr/^(avro|iceberg)$/,
	'stdatomic.h' => qr/^scan$/,
	'xxhash.h' => qr/^(base|exec|parquet)$/,
	(map { $_ => qr/^codec$/ } qw(zlib.h zstd.h zstd_errors.h lz4.h lz4frame.h snappy-c.h brotli/decode.h)),
	(map { $_ => qr/^codec$/ } qw(nmmintrin.h)));

my %other_file = ('src/pg/exports.map' => 1);

my %edge; # {from}{to} = [file, line]: between modules, and between folders next to each other

sub remember
{
	my ($from, $to, $file, $line) = @_;
	$edge{$from}{$to} //= [$file, $line] if $from ne $to;
}

sub check_target
{
	my ($file, $line, $target) = @_;
	my $why = why_not($file, $target);
	complain($file, $line, sprintf('"%s" must not be included, %s', $target =~ s{^src/}{}r, $why)) if defined $why;
	complain($file, $line, "\"$target\" is another folder's own")
		if $target =~ m{[/_]internal\.h$} && folder_of($file) ne folder_of($target);

	remember("header $file", "header $target", $file, $line) if $file =~ /\.h$/;
	my ($a, $b) = map { s/\.[ch]$//r } $file, $target;
	remember("module $a", "module $b", $file, $line) if -e "$b.c" && -e "$a.c";
	# Where the paths part, below one layer.
	my @a = split m{/}, folder_of($file);
	my @b = split m{/}, folder_of($target);
	my @same;
	push @same, shift @a and shift @b while @a && @b && $a[0] eq $b[0];
	remember('folder ' . join('/', @same, $a[0]), 'folder ' . join('/', @same, $b[0]), $file, $line)
		if @same > 1 && @a && @b;
}

sub check_line
{
	my ($file, $line, $text) = @_;
	my $layer = layer_of($file);
	if ($text !~ m{^\#include (?:"([\w/.-]+)"|<([\w/.+-]+)>)\s*$})
	{
		complain($file, $line, "an include is spelled `#include \"layer/header.h\"` or `#include <header.h>`");
		return;
	}
	my ($ours, $other) = ($1, $2);
	my $name = $ours // $other;
	if ($name !~ /\.h$/)
	{
		complain($file, $line, "\"$name\" is no header");
	}
	elsif ($name =~ m{(^|/)\.\.?/} || (defined $other && (-e "src/$name" || -e "test/$name")))
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

# What the lints would not look at.
sub check_kind_of_file
{
	my ($file) = @_;
	complain($file, 0, 'is a link') if -l $file;
	complain($file, 0, 'is no source: a .c, a .h, a README.md') if $file !~ m{(\.[ch]|/README\.md)$} && !$other_file{$file};
	complain($file, 0, 'is in no layer, but in src itself') if $file =~ m{^src/[^/]+\.[ch]$};
}

check_kind_of_file($_) for split /\n/, `find src ! -type d ! -name '*.[od]' ! -name '*.bc'`;
for my $file (files(qr/\.[ch]$/, qw(src test)))
{
	my $layer = layer_of($file);
	complain($file, 0, "src/$layer is not in the table of layers") if defined $layer && !is_layer($layer);
	complain($file, 0, 'not in the order of the folders of src/pg') if ($layer // '') eq 'pg' && !is_placed($file);
	my @lines = split /\n/, without_comments($file);
	for (0 .. $#lines)
	{
		check_line($file, $_ + 1, $lines[$_])
			if $lines[$_] =~ /^\s*(?:#|%:|\?\?=)\s*(?:include\w*|import|embed)\b|^\s*(?:#|%:|\?\?=)[ \ta-z]*\\$/;
	}
}
for my $circle (circles(\%edge))
{
	my ($kind) = $circle->[0] =~ /^(\w+)/;
	complain('src', 0, "these ${kind}s need each other in a circle: " . join(' ', map { s/^\w+ //r } @$circle));
}
finish();
