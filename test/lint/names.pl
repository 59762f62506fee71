#!/usr/bin/perl
# A name says how far it is seen: bf_ in the core, bfi_ in one folder of it, bifang_ in src/pg
# (bifangXxx for the callback that the server calls Xxx); what is static in a .c has no prefix.
# Types are Bf..., Bifang..., macros and constants in headers BF_..., BFI_..., BIFANG_....
# What is declared is declared once, in a header: nothing that other files see is declared in a .c.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Source;
chdir "$FindBin::Bin/../.." or die;

my %prefix = (
	core => { function => qr/^bfi?_[a-z]/, type => qr/^Bfi?[A-Z]/, macro => qr/^(BFI?_|bf_[a-z])/ },
	pg => { function => qr/^(bifang(_[a-z]|[A-Z])|_PG_init$)/, type => qr/^Bifang[A-Z]/,
		macro => qr/^(BIFANG_|bifang_[a-z])/ });

# Declared where they are defined, since the server or libFuzzer looks for them by name.
my %elsewhere = ('src/pg/module.c' => '_PG_init', 'test/fuzz/libfuzzer.c' => 'LLVMFuzzerTestOneInput');

sub lines_before
{
	return 1 + (substr($_[0], 0, $_[1]) =~ tr/\n//);
}

# Every match of a pattern whose name (the first group that matched) is not of the layer.
sub check_names
{
	my ($file, $code, $pattern, $good) = @_;
	while ($code =~ /$pattern/g)
	{
		my $name = $1 // $2;
		complain($file, lines_before($code, $-[0]), "$name lacks the prefix of its layer") if $name !~ $good;
	}
}

sub check_functions
{
	my ($file, $code, $good) = @_;
	for my $f (functions(without_directives($code)))
	{
		# A macro that makes a function, PG_FUNCTION_INFO_V1 in front of one.
		next if $f->{name} =~ /^[A-Z][A-Z0-9_]*$/;
		if ($f->{static} && $file =~ /\.c$/)
		{
			complain($file, $f->{line}, "$f->{name} is static and has the prefix of what is not")
				if $f->{name} =~ /^(bfi?|bifang)_/;
		}
		elsif ($f->{name} !~ $good)
		{
			complain($file, $f->{line}, "$f->{name} lacks the prefix of its layer");
		}
	}
}

# Statements outside of all braces: what is inside of them becomes one sign.
sub outermost
{
	my ($code) = @_;
	1 while $code =~ s{\{([^{}]*)\}}{ "\x01" . "\n" x ($1 =~ tr/\n//) }e;
	return $code;
}

sub check_prototypes
{
	my ($file, $code) = @_;
	my $mine = $elsewhere{$file};
	while ($code =~ /\bextern\b([^;{]*)/g)
	{
		complain($file, lines_before($code, $-[0]), "declared in a .c, not in a header")
			unless $mine && $1 =~ /\b\Q$mine\E\b/;
	}
	my $top = outermost(without_directives($code));
	while ($top =~ /^(?!static\b|typedef\b|extern\b|return\b|_Static_assert\b)((?:[A-Za-z_]\w*[ \t\n*]+)+)(\w+)\s*\([^;=\x01]*\)\s*(?:[A-Z_]+(?:\([^;]*\))?\s*|__attribute__[^;]*)*;/gm)
	{
		complain($file, lines_before($top, $-[0]), "$2 is declared in a .c, not in a header")
			unless $1 =~ /\bstatic\b/;
	}
}

for my $file (files(qr/\.[ch]$/, 'src'))
{
	my $good = $prefix{ $file =~ m{^src/pg/} ? 'pg' : 'core' };
	my $code = code($file);
	check_functions($file, $code, $good->{function});
	next unless $file =~ /\.h$/;
	check_names($file, $code, qr/\b(?:struct|enum|union)\s+(\w+)\s*\{/, $good->{type});
	check_names($file, $code, qr/^\}\s*(\w+)\s*;/m, $good->{type});
	check_names($file, $code, qr/^typedef[^{};]*?(?:\(\*(\w+)\)\([^;]*|\b(\w+));/m, $good->{type});
	check_names($file, $code, qr/^[ \t]*#[ \t]*define[ \t]+(?!\w+_H\n)(\w+)/m, $good->{macro});
	check_names($file, $code, qr/^\t([A-Z][A-Z0-9_]+)(?: =[^,\n]*)?,?[ \t]*$/m, $good->{macro});
}
check_prototypes($_, code($_)) for files(qr/\.c$/, qw(src test));
finish();
