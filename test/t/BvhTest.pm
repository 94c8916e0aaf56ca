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

my %settings = (
	seq => 'SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;',
	index => 'SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;',
	bitmap => 'SET enable_seqscan = off; SET enable_indexscan = off;',
	only => 'SET enable_seqscan = off; SET enable_bitmapscan = off;');

# answers(node, db, table, path): what 27 boxes, all operators of a few kinds, and
# nearest-neighbour queries find in table(id, b), as text
sub answers
{
	my ($node, $db, $table, $path) = @_;
	my $boxes = q{(SELECT box3d(x, y, z, x + 60, y + 60, z + 60) AS q
		FROM generate_series(0, 900, 450) x, generate_series(0, 900, 450) y, generate_series(0, 900, 450) z) q};
	my @queries = map {
		qq{SELECT '$_', q, count(*), coalesce(sum(box3d_hash_extended(b, 0)), 0)
		   FROM $boxes, LATERAL (SELECT b FROM $table WHERE b $_ q OFFSET 0) t GROUP BY q ORDER BY q;}
	} ('&&', '&&+', '<@', '<<', '/>>');
	push @queries,
	  qq{SELECT q, ARRAY(SELECT float8send(b <-> q) FROM $table ORDER BY b <-> q LIMIT 20) FROM $boxes ORDER BY q;}
	  unless $path eq 'bitmap';
	push @queries, "SELECT count(*) FROM $table WHERE b IS NULL;";

	# a forced plan has a huge cost, for which everything would be compiled
	return $node->safe_psql($db, "SET jit = off; $settings{$path} @queries");
}

# is_agreed(node, db, table, index, name): all paths give the sequential answer;
# one test
sub is_agreed
{
	my ($node, $db, $table, $index, $name) = @_;
	my $want = answers($node, $db, $table, 'seq');
	my @wrong;

	foreach my $path ('index', 'bitmap', 'only')
	{
		my $plan = $node->safe_psql($db,
			"$settings{$path} EXPLAIN (COSTS OFF) SELECT b FROM $table WHERE b && box3d(0, 0, 0, 60, 60, 60)");
		push @wrong, "$path does not use $index: $plan" if $plan !~ /\b$index\b/;

		my $got = answers($node, $db, $table, $path);
		# the order by distance is not asked of a bitmap
		my $expected = $want;
		$expected =~ s/^\(.*\n//mg if $path eq 'bitmap';
		push @wrong, "$path differs" if $got ne $expected;
	}
	is(join("\n", @wrong), '', $name);
	return;
}

1;
