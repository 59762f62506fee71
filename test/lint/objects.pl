#!/usr/bin/perl
# What the linker sees of the objects in a build directory, whatever their sources look like:
#
# - What is not static has the prefix of its layer, variables too; what is static has none.
# - What is called bfi_ is needed in its own folder alone, or by the folder above or below it.
# - The arrows between layers and folders (Layers.pm), where the need was not declared in a header.
# - Files don't need each other in a circle, but for tables whose rows use what stands beside the
#   table: @circles.
#
#   test/lint/objects.pl [DIR ...]    build/core and build/pg, as far as these are built
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Source;
use Layers;
chdir "$FindBin::Bin/../.." or die;

# Circles that are meant, as the set of the files that need each other.
my @circles = (
	'codec/brotli codec/codec codec/lz4 codec/snappy codec/zlib codec/zstd',
	'log/cut log/writer',
	'parquet/encoding/alp parquet/encoding/byte_stream_split parquet/encoding/delta_byte_array parquet/encoding/table',
	'pg/convert/fixed pg/convert/json pg/convert/nested pg/convert/out pg/convert/views',
	'pg/scan/kafka_dir/import pg/scan/kafka_dir/kafka_dir pg/scan/kafka_dir/unit');

my %global = (core => qr/^bfi?_[a-z]/, pg => qr/^(bifang(_[a-z]|[A-Z])|_PG_init$|Pg_magic_func$|pg_finfo_bifang_)/);

# The objects of a directory by their sources; none when one is not built, or older than its source.
sub objects
{
	my ($dir) = @_;
	my @layers = grep { -d "$dir/$_" } map { s{/$}{}r } glob 'src/*/';
	my @sources = files(qr/\.c$/, @layers);
	my @stale = grep { my $o = "$dir/" . s/c$/o/r; !-e $o || -M $o > -M $_ } @sources;
	return @stale ? () : map { s/c$/o/r } @sources;
}

# What headers define for each file that includes them.
my %inlined;
for my $header (files(qr/\.h$/, 'src'))
{
	for (grep { $_->{text} =~ /^[^(=]*\bstatic\b/ } statements(code($header)))
	{
		$inlined{ (name_of($_->{text}))[0] } = 1 if defined $_->{body};
		$inlined{$1} = 1 if $_->{text} =~ /^[^=]*?(\w+)\s*(?:\[[^=]*)?=/;
	}
}

my (%defined, %needs); # {name}{file}, {file}{name}; files without their ending

sub check_name
{
	my ($file, $name, $static) = @_;
	my $of = layer_of($file) eq 'pg' ? 'pg' : 'core';
	if (!$static)
	{
		complain("$file.c", 0, "$name lacks the prefix of its layer") unless $name =~ $global{$of};
	}
	elsif ($name =~ /^(?:bfi?|bifang)_\w+$/ && !$inlined{$name})
	{
		# With a dot and a word behind it: a piece that the compiler cut out of a function.
		complain("$file.c", 0, "$name is static and has the prefix of what is not");
	}
}

sub read_objects
{
	my ($dir, @objects) = @_;
	open my $nm, '-|', 'nm', '-A', map { "$dir/$_" } @objects or die "nm: $!";
	while (<$nm>)
	{
		my ($file, $kind, $name) = m{^\Q$dir\E/(\S+)\.o:\s*[0-9a-f]*\s+(\w)\s+(\S+)$} or next;
		$needs{$file}{$name} = 1 if $kind eq 'U';
		next if $kind =~ /[Uaw]/ || $name =~ /^\.L|^__(?:func__|PRETTY)/;
		check_name($file, $name, $kind =~ /[a-z]/ && $kind ne 'i');
		$defined{$name}{$file} = 1 if $kind =~ /[A-Zvi]/;
	}
	close $nm or die 'nm failed';
}

my %edge;

sub check_need
{
	my ($file, $name, $target) = @_;
	$edge{$file}{$target} = 1;
	my $why = why_not("$file.c", "$target.c");
	complain("$file.c", 0, "$name of $target.c is needed, $why") if defined $why;
	my ($a, $b) = map { folder_of($_) . '/' } $file, $target;
	complain("$file.c", 0, "$name of $target.c is needed, another folder's own")
		if $name =~ /^bfi_/ && index($a, $b) != 0 && index($b, $a) != 0;
}

my $seen = 0;
for my $dir (@ARGV ? @ARGV : qw(build/core build/pg))
{
	my @objects = objects($dir) or next;
	$seen = 1;
	(%defined, %needs) = ();
	read_objects($dir, @objects);
	for my $file (sort keys %needs)
	{
		for my $name (sort keys %{ $needs{$file} })
		{
			check_need($file, $name, $_) for grep { $_ ne $file } sort keys %{ $defined{$name} // {} };
		}
	}
	for my $name (sort keys %defined)
	{
		my @twice = sort keys %{ $defined{$name} };
		complain("$twice[1].c", 0, "$name is defined in $twice[0].c, too") if @twice > 1;
	}
}
if (!$seen)
{
	print "SKIPPED: no objects newer than the sources; make core builds them\n";
	exit 77;
}
my %meant = map { $_ => 1 } @circles;
for my $circle (map { join ' ', map { s{^src/}{}r } @$_ } circles(\%edge))
{
	complain('src', 0, "these files need each other in a circle: $circle") unless delete $meant{$circle};
}
complain('src', 0, "no circle any more: $_") for grep { $edge{'src/pg/fdw'} || !/^pg/ } sort keys %meant;
finish();
