#!/usr/bin/perl
# The core reaches the outside world through base/host.h only: nothing of its own takes memory from
# the system, opens files, waits, prints, tells the time, or depends on the locale. So what it may
# call is listed, not what it may not: its own functions, what C's library does with nothing but its
# arguments, and the libraries of a layer.
# Letters and their case are ASCII's (base/ascii.h): <ctype.h> and strcasecmp ask LC_CTYPE, which is
# the database's, and strtol takes what that calls a space, and signs, for part of a number. LC_NUMERIC
# is C in the server, whose own numbers rely on it, so strtod may be used.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Source;
chdir "$FindBin::Bin/../.." or die;

my %words = map { $_ => 1 } qw(if for while switch return sizeof defined offsetof
	va_start va_end va_copy va_arg _Static_assert _Alignof _Generic void int bool char
	int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t size_t double float);
my %pure = map { $_ => 1 } qw(memcpy memmove memset memcmp memchr strlen strcmp strncmp strchr strrchr strstr
	strspn strcspn strnlen snprintf vsnprintf bsearch
	strtod strtof
	isnan isinf isfinite signbit fabs floor ceil trunc round rint nearbyint ldexp frexp fmod pow exp log log2 log10 sqrt);
my @library = (
	[qr/^codec$/, qr/^(ZSTD_|LZ4F?_|snappy_|BrotliDecoder|(inflate|deflate)[A-Z0-9]|(inflate|deflate)$|crc32_z$)/],
	[qr/^(avro|iceberg)$/, qr/^json_/],
	[qr/^base$/, qr/^XXH3_64bits/],
	[qr/^codec$/, qr/^_mm/],
	[qr/^base$/, qr/^(assert|strerror)$/],
	[qr/^scan$/, qr/^atomic_/],
	[qr/./, qr/^__has_/],
	[qr/./, qr/^__builtin_(clz|ctz|clrsb|popcount)l*$/],
	[qr/./, qr/^__builtin_(bswap\d+|(add|sub|mul)_overflow|expect|prefetch|memset|shufflevector|types_compatible_p)$/],
	[qr/^codec$/, qr/^__builtin_cpu_supports$/]);

my %defined; # anywhere in the core: functions and macros that look like them
my @files = grep { !m{^src/pg/} } files(qr/\.[ch]$/, 'src');
my %code = map { $_ => code($_) } @files;
for (values %code)
{
	$defined{$1} = 1 while /^(?:[A-Za-z_][\w \t*]*[ \t*])?(\w+)\(/gm;
	$defined{$1} = 1 while /^[ \t]*#[ \t]*define[ \t]+(\w+)\(/gm;
}
delete @defined{ keys %pure };

for my $file (@files)
{
	my $code = $code{$file};
	my ($layer) = $file =~ m{^src/([^/]+)/};
	$code =~ s/__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)/ /g;
	# Parameters and members that are functions; functions whose names a macro puts together.
	my %local = map { $_ => 1 } $code =~ /\(\*(\w+)\)\s*\(/g, $code =~ /\b[A-Za-z_]\w*[ \t]+\**(\w+)[ \t]*[,)]/g;
	my @pasted = $code =~ /\b(\w+)##/g;
	my $at = 0;
	for my $line (split /\n/, $code)
	{
		$at++;
		next if $line =~ /^\s*#\s*include/;
		while ($line =~ /(?<![\w.])(?<!->)([A-Za-z_]\w*)\s*\(/g)
		{
			my $name = $1;
			next if $words{$name} || $pure{$name} || $defined{$name} || $local{$name} || $name =~ /^[A-Z][A-Z0-9_]*$/;
			next if grep { index($name, $_) == 0 } @pasted;
			next if grep { $layer =~ $_->[0] && $name =~ $_->[1] } @library;
			complain($file, $at, "$name() is not for the core");
		}
		# Functions that are handed over rather than called.
		while ($line =~ /(?<![\w.])(?<!->)(malloc|calloc|realloc|free|qsort|fopen|printf|getenv)\s*[,;)]/g)
		{
			complain($file, $at, "$1() is not for the core") unless $local{$1};
		}
	}
}
finish();
