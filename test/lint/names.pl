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
	core => { function => qr/^bfi?_[a-z]/, type => qr/^(Bfi?[A-Z]|bf_[iu]128$)/, macro => qr/^(BFI?_|bf_[a-z])/ },
	pg => { function => qr/^(bifang(_[a-z]|[A-Z])|_PG_init$)/, type => qr/^Bifang[A-Z]/,
		macro => qr/^(BIFANG_|bifang_[a-z])/ });

except('src/parquet/encoding/encoding.h: a macro that declares what is elsewhere');

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
		next if $f->{name} eq ''; # style.pl says so
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

my %function_type; # names that `typedef int Name(int)` makes

sub learn_function_types
{
	for my $file (@_)
	{
		for (grep { !defined $_->{body} } statements(code($file)))
		{
			$function_type{ (name_of($_->{text}))[0] } = 1
				if $_->{text} =~ /^typedef\b/ && $_->{text} =~ /^[^(]*\w\s*\(/;
		}
	}
}

# What a .c declares for others to define.
sub check_prototypes
{
	my ($file, $code) = @_;
	my $mine = $elsewhere{$file};
	while ($code =~ /\bextern\b([^;{]*)/g)
	{
		complain($file, lines_before($code, $-[0]), "declared in a .c, not in a header")
			unless $mine && $1 =~ /\b\Q$mine\E\b/;
	}
	for my $s (statements($code))
	{
		if (defined $s->{body})
		{
			my $body = ";$s->{body}";
			complain($file, $s->{line}, "$1 is declared in a function, not in a header")
				while $body =~ /[;{}]\s*(?!(?:return|else|do|goto|case)\b)(?:\w+[\s*]+)+(\w+)\s*\([^;()]*\)\s*(?=;)/g;
			next;
		}
		# A macro that makes something, a type alone, what has a value.
		my $text = $s->{text} =~ s/^(?:\w+\s*(\((?:[^()]++|(?1))*+\))\s*(?=[A-Za-z_]|$))+//r;
		next if $text eq '' || $text =~ /\b(?:static|typedef|_Static_assert)\b|\bextern\b|=/;
		next if $text =~ /^(?:struct|union|enum)\s*(?:\w+\s*)?\x01?\s*$/;
		# What is named without parameters is a variable, unless its type is that of a function.
		next if $text !~ /\(/ && !grep { $function_type{$_} } $text =~ /\w+/g;
		my ($name) = $text =~ /\(/ ? name_of($text) : $text =~ /(\w+)\W*$/;
		complain($file, $s->{line}, "$name is declared in a .c, not in a header");
	}
}

# Names of the enumerators, typedefs and variables of a header.
sub check_header
{
	my ($file, $code, $good) = @_;
	my $plain = without_directives($code);
	while ($plain =~ /\benum\b\s*\w*\s*\{([^{}]*)\}/g)
	{
		my ($body, $line) = ($1, lines_before($plain, $-[0]));
		for (split /,/, $body)
		{
			next unless /^\s*(\w+)\s*(?:=|$)/;
			complain($file, $line, "$1 lacks the prefix of its layer") if $1 !~ $good->{macro};
		}
	}
	for my $s (grep { !defined $_->{body} } statements($code))
	{
		my $text = $s->{text};
		my $is_type = $text =~ s/^\s*typedef\b//;
		my $wanted = $is_type ? $good->{type} : $good->{function};
		next if $text =~ /^[A-Z0-9_]+\s*\(/ || $text =~ /\b_Static_assert\b/;
		for my $declarator (declarators($text))
		{
			complain($file, $s->{line}, "$declarator lacks the prefix of its layer") if $declarator !~ $wanted;
		}
	}
}

# The names that a declaration declares.
sub declarators
{
	my ($text) = @_;
	$text =~ s/=.*?(?=,|$)//gs if $text !~ /\(/;
	$text =~ s/=.*//s;
	$text =~ s/\[[^][]*\]//g;
	return if $text =~ /^\s*(?:struct|union|enum)\s*\w*\s*\x01?\s*$/;
	return $1 if $text =~ /^[^()]*\(\s*\*\s*(?:const\s+)?(\w+)\s*\)\s*\(/;
	return (name_of($text))[0] if $text =~ /\(/;
	return map { /(\w+)\s*$/ } split /,/, $text;
}

for my $file (files(qr/\.[ch]$/, 'src'))
{
	my $good = $prefix{ $file =~ m{^src/pg/} ? 'pg' : 'core' };
	my $code = code($file);
	check_functions($file, $code, $good->{function});
	next unless $file =~ /\.h$/;
	$code = without_attributes($code);
	check_names($file, $code, qr/\b(?:struct|enum|union)\s+(\w+)\s*\{/, $good->{type});
	check_names($file, $code, qr/^[ \t]*#(?:[ \t]|\\\n)*define(?:[ \t]|\\\n)+(?!\w+_H\n)(\w+)/m, $good->{macro});
	complain($file, lines_before($code, $-[0]), 'a macro that declares what is elsewhere')
		while $code =~ /^[ \t]*#(?:[ \t]|\\\n)*define\b(?=(?:[^\n\\]|\\.)*\bextern\b)/gms;
	check_header($file, $code, $good);
}
learn_function_types(files(qr/\.[ch]$/, qw(src test)));
check_prototypes($_, code($_)) for files(qr/\.c$/, qw(src test));
finish();
