# The order of the folders of src: who may need whom. layers.pl looks at what is included, objects.pl
# at what is linked.
package Layers;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT = qw(layer_of folder_of is_layer is_placed why_not);

my @ground = qw(base);
my @second = (@ground, qw(vec codec io));
my @third = (@second, qw(parquet avro log));
my @fourth = (@third, qw(iceberg exec));
my %may = (
	base => [@ground],
	(map { $_ => [@ground, $_] } qw(vec codec io)),
	(map { $_ => [@second, $_] } qw(parquet avro log)),
	(map { $_ => [@third, $_] } qw(iceberg exec)),
	policy => [@ground, 'policy'],
	scan => [@fourth, 'scan'],
	pg => [@fourth, qw(policy scan pg)]);

# From below to above; behind them what stands in src/pg itself.
my @pg = qw(server convert catalog push write scan lake worker);
my @pg_top = qw(src/pg/fdw src/pg/module);
my $kinds = 'src/pg/scan/kinds';

my %rank;
@rank{@pg} = 0 .. $#pg;

sub layer_of
{
	return $_[0] =~ m{^src/([^/]+)/} ? $1 : undef;
}

sub folder_of
{
	return $_[0] =~ s{/[^/]*$}{}r;
}

# The folder of src/pg that a path is in, undef for what stands in src/pg itself.
sub pg_folder
{
	return $_[0] =~ m{^src/pg/([^/]+)/} ? $1 : undef;
}

sub is_layer
{
	return exists $may{ $_[0] };
}

# Is a file of src/pg in a folder that has its place, or one of the few above them?
sub is_placed
{
	my ($file) = @_;
	my $in = pg_folder($file);
	return defined $in ? defined $rank{$in} : scalar grep { $_ eq $file =~ s/\.[cho]$//r } @pg_top;
}

sub why_not_in_pg
{
	my ($from, $to) = @_;
	my ($a, $b) = (pg_folder($from), pg_folder($to));
	return undef unless defined $a && $to =~ m{^src/pg/};
	return 'which stands above it' if !defined $b;
	return "an arrow from pg/$a up to pg/$b" if ($rank{$b} // 0) > ($rank{$a} // 0);
	return "the kind of tables pg/scan/$1 is known by more than the table of kinds"
		if $to =~ m{^src/pg/scan/([^/]+)/} && $from !~ m{^src/pg/scan/\Q$1\E/} && $from !~ /^\Q$kinds\E\.\w$/;
	return undef;
}

# Why one file of src must not need another one; undef where it may.
sub why_not
{
	my ($from, $to) = @_;
	my ($a, $b) = (layer_of($from), layer_of($to));
	return "$a is not above " . ($b // 'it') unless grep { $_ eq ($b // '') } @{ $may{$a} // [] };
	return why_not_in_pg($from, $to);
}

1;
