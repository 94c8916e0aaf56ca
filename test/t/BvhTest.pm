# Shared by the TAP tests: does an index answer as the sequential scan does?

package BvhTest;

use strict;
use warnings;

use Exporter 'import';
use Test::More;

our @EXPORT = qw(answers is_agreed random_boxes);

# SQL for n boxes of side 0 to 5 in a cube of side 1000, ids from $first
sub random_boxes
{
	my ($first, $n) = @_;
	return qq{SELECT i AS id, box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5) AS b
		FROM (SELECT i, random() * 1000 x, random() * 1000 y, random() * 1000 z
			  FROM generate_series($first, $first + $n - 1) i) s};
}

my %enabled = (
	seq => ['seqscan'],
	index => ['indexscan'],
	only => [ 'indexscan', 'indexonlyscan' ],
	bitmap => ['bitmapscan']);

# script(table, path): psql's input that prints what 27 boxes, operators of a few
# kinds and nearest-neighbour queries find in table(id, b)
sub script
{
	my ($table, $path) = @_;
	my $boxes = q{(SELECT box3d(x, y, z, x + 60, y + 60, z + 60) AS q
		FROM generate_series(0, 900, 450) x, generate_series(0, 900, 450) y, generate_series(0, 900, 450) z) q};
	# a forced plan has a huge cost, for which everything would be compiled
	my $script = "SET jit = off;\n";

	foreach my $setting (qw(seqscan indexscan indexonlyscan bitmapscan))
	{
		my $value = (grep { $_ eq $setting } @{ $enabled{$path} }) ? 'on' : 'off';
		$script .= "SET enable_$setting = $value;\n";
	}
	foreach my $operator ('&&', '&&+', '<@', '<<', '/>>')
	{
		$script .= qq{SELECT '$operator', q, count(*), coalesce(sum(box3d_hash_extended(b, 0)), 0)
			FROM $boxes, LATERAL (SELECT b FROM $table WHERE b $operator q OFFSET 0) t GROUP BY q ORDER BY q;\n};
	}
	$script .= "SELECT 'null', count(*) FROM $table WHERE b IS NULL;\n";
	# a bitmap has no order
	$script .= qq{SELECT 'nearest', q, ARRAY(SELECT float8send(b <-> q) FROM $table ORDER BY b <-> q LIMIT 20) FROM $boxes ORDER BY q;\n}
	  if $path ne 'bitmap';
	return $script;
}

# answers(node, db, table, path): that output
sub answers
{
	my ($node, $db, $table, $path) = @_;

	return $node->safe_psql($db, script($table, $path));
}

# is_agreed(node, db, table, index, name): all paths give the sequential answer,
# and do use the index; one test
sub is_agreed
{
	my ($node, $db, $table, $index, $name) = @_;
	my @paths = ('seq', 'index', 'bitmap', 'only');
	my $mark = '---';
	my $input = '';
	my @wrong;

	foreach my $path (@paths)
	{
		$input .= script($table, $path);
		$input .= "\\echo $mark\n";
		$input .= "EXPLAIN (COSTS OFF) SELECT b FROM $table WHERE b && box3d(0, 0, 0, 60, 60, 60);\n";
		$input .= "\\echo $mark\n";
	}
	my @output = split /^$mark\n?/m, $node->safe_psql($db, $input);
	my ($want) = @output;

	foreach my $path (@paths)
	{
		my ($got, $plan) = splice(@output, 0, 2);
		my $expected = $want;

		next if $path eq 'seq';
		$expected =~ s/^nearest.*\n//mg if $path eq 'bitmap';
		push @wrong, "$path: other rows than the table" if $got ne $expected;
		push @wrong, "$path: $index is not used: $plan" if $plan !~ /\b$index\b/;
	}
	is(join("\n", @wrong), '', $name);
	return;
}

1;
