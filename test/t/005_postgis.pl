# Beside PostGIS, which has a type box3d too: either may come first, with this
# extension in a schema of its own; whichever schema comes first in search_path,
# boxes apart in z never overlap, and our operators use our index.
#
# README: "In one schema, the second of the two extensions fails."  "Operators are
# found by the types of their operands in either order of the search_path."

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BvhTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
fsync = off
client_min_messages = warning
});
$node->start;

if ($node->safe_psql('postgres', q{SELECT count(*) FROM pg_available_extensions WHERE name = 'postgis'}) eq '0')
{
	$node->stop;
	plan skip_all => 'PostGIS is not installed';
}

sub new_database
{
	my ($db, @commands) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, "$_;") foreach @commands;
	return;
}

# one schema for both: whoever comes second is refused, and the first still works
new_database('postgis_first', 'CREATE EXTENSION postgis');
my ($status, $out, $err) = $node->psql('postgis_first', 'CREATE EXTENSION bvhindex');
isnt($status, 0, 'PostGIS in public, then bvhindex in public: refused');
like($err, qr/ERROR:  type "box3d" already exists/, 'because of the name of the type');
is($node->safe_psql('postgis_first', q{SELECT ST_ZMax('BOX3D(0 0 0,1 1 1)'::box3d)}), '1', 'PostGIS still works');

new_database('bvhindex_first', 'CREATE EXTENSION bvhindex');
($status) = $node->psql('bvhindex_first', 'CREATE EXTENSION postgis');
isnt($status, 0, 'bvhindex in public, then PostGIS in public: refused');
is($node->safe_psql('bvhindex_first', q{SELECT box3d(0, 0, 0, 1, 1, 1) && box3d(0, 0, 5, 1, 1, 6)}), 'f', 'bvhindex still works');
$node->safe_psql('bvhindex_first', 'CREATE SCHEMA bvh; ALTER EXTENSION bvhindex SET SCHEMA bvh; CREATE EXTENSION postgis');
pass('moving it to another schema makes room for PostGIS');

$node->safe_psql('postgis_first', 'CREATE SCHEMA bvh; CREATE EXTENSION bvhindex SCHEMA bvh');
pass('PostGIS in public, then bvhindex in a schema of its own');
new_database('alone', 'CREATE SCHEMA bvh', 'CREATE EXTENSION bvhindex SCHEMA bvh');

# expressions that must mean the same as without PostGIS
my @expressions = (
	'box3d(0, 0, 0, 1, 1, 1) @> box3d(0, 0, 5, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) && box3d(0, 0, 5, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) <@ box3d(0, 0, 5, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) ~= box3d(0, 0, 5, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) = box3d(0, 0, 5, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) &&+ box3d(0, 0, 1, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) && box3d(0, 0, 1, 1, 1, 6)',
	q{box3d(0, 0, 0, 1, 1, 1) && '(0,0,1),(1,1,6)'},
	q{'(0,0,1),(1,1,6)' @> box3d(0, 0, 0, 1, 1, 1)},
	'box3d(0, 0, 0, 1, 1, 1) <</ box3d(0, 0, 5, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) << box3d(2, 0, 5, 3, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) &< box3d(2, 0, 5, 3, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) |&> box3d(2, 0, 5, 3, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) <-> box3d(0, 0, 5, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) + box3d(0, 0, 5, 1, 1, 6)',
	'box3d(0, 0, 0, 1, 1, 1) * box3d(0, 0, 5, 1, 1, 6)',
	'box3d(1, 2, 3)',
	q{box3d('{1,2,3}'::float8[], '{4,5,6}'::float8[])},
	q{'(1,2,3),(4,5,6)'::bvh.box3d},
	q{'{1,2,3,4,5,6}'::float8[]::bvh.box3d},
	'box3d_volume(box3d(0, 0, 0, 1, 2, 3))',
	'box3d_dwithin(box3d(0, 0, 0), box3d(0, 0, 5), 4)',
	'box3d_expand(box3d(0, 0, 0), 1)',
	'(SELECT box3d_extent(b) FROM (VALUES (box3d(0, 0, 0)), (box3d(1, 1, 1))) v(b))',
	'(SELECT count(DISTINCT b) FROM (VALUES (box3d(0, 0, 0)), (box3d(-0.0, 0, 0))) v(b))',
	'(SELECT array_agg(b ORDER BY b) FROM (VALUES (box3d(1, 0, 0)), (box3d(0, 0, 0))) v(b))');

# values_of(db, search_path): each on a line; an error is a value
sub values_of
{
	my ($db, $search_path) = @_;
	my $script = "SET search_path = $search_path;\n" . join('', map { "SELECT $_;\n" } @expressions);
	my ($ignored, $stdout, $stderr) = ('', '', '');

	IPC::Run::run([ 'psql', '-XAtq', '-d', $node->connstr($db) ], '<', \$script, '>', \$stdout, '2>', \$stderr);
	return "$stdout$stderr";
}

my $want = values_of('alone', 'bvh');
unlike($want, qr/ERROR/, 'the expressions have values');
like($want, qr/^f\nf\nf\nf\nf\nf\nt\nt\nf\nt\n/, 'boxes apart in z do not overlap, contain or equal each other');
foreach my $db ('postgis_first', 'bvhindex_first')
{
	foreach my $search_path ('bvh, public', 'public, bvh')
	{
		is(values_of($db, $search_path), $want, "$db, search_path $search_path: as without PostGIS");

		$node->safe_psql('postgres', "ALTER DATABASE $db SET search_path = $search_path");
		$node->safe_psql($db, 'DROP TABLE IF EXISTS public.t; CREATE TABLE public.t (id int, b bvh.box3d);
			CREATE INDEX t_b ON public.t USING gist (b); INSERT INTO public.t ' . random_boxes(1, 2000) . '; ANALYZE public.t');
		is_agreed($node, $db, 't', 't_b', "$db, search_path $search_path: the index answers as the table");
		like($node->safe_psql($db, 'SET enable_seqscan = off; EXPLAIN (COSTS OFF) SELECT id FROM t WHERE box3d_dwithin(b, box3d(1, 2, 3), 5)'),
			qr/Index Cond: \(b && /, "$db, search_path $search_path: box3d_dwithin uses the index");
	}

	# its bare type name is that of the schema that comes first
	is($node->safe_psql($db, q{SET search_path = public, bvh; SELECT 'BOX3D(0 0 0,1 1 1)'::box3d}), 'BOX3D(0 0 0,1 1 1)', "$db: public first, PostGIS's type");
	is($node->safe_psql($db, q{SET search_path = bvh, public; SELECT 'BOX3D(0 0 0,1 1 1)'::box3d}), '(0,0,0),(1,1,1)', "$db: bvh first, ours");
	is($node->safe_psql($db, q{SET search_path = public, bvh; SELECT box3d('LINESTRING Z (0 0 0,1 2 3)'::geometry), geometry 'POINT(1 1)' && geometry 'POINT(1 1)'}),
		'BOX3D(0 0 0,1 2 3)|t', "$db: PostGIS works");
}

$node->stop;
done_testing();
