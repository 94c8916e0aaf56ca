# pg_dump and pg_restore: data bit for bit, and indexes, constraints, generated
# columns and views that use the extension.  Restores run with an empty
# search_path, and the extension is not in public.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BvhTest;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', 'fsync = off');
$node->start;

foreach my $schema ('public', 'bvh')
{
	my $db = "from_$schema";

	$node->safe_psql('postgres', "CREATE DATABASE $db");
	$node->safe_psql($db, 'CREATE SCHEMA bvh') if $schema eq 'bvh';
	$node->safe_psql('postgres', "ALTER DATABASE $db SET search_path = public, bvh");
	$node->safe_psql($db, "CREATE EXTENSION bvhindex SCHEMA $schema");
	$node->safe_psql($db, q{
		CREATE TABLE t (id int, b box3d DEFAULT '(0,0,0),(1,1,1)', bs box3d[],
			grown box3d GENERATED ALWAYS AS (box3d_expand(b, 1)) STORED,
			CHECK (b && '(-Infinity,-Infinity,-Infinity),(Infinity,Infinity,Infinity)'),
			CHECK (box3d_dwithin(b, box3d(0, 0, 0), 'Infinity')));
		INSERT INTO t (id, b, bs) SELECT id, b, ARRAY[b, NULL, b + box3d(0, 0, 0)] FROM (} . random_boxes(1, 3000) . q{) r;
		INSERT INTO t (id, b) VALUES (-1, '(-Infinity,0,0),(Infinity,1e-320,1.7976931348623157e308)'), (-2, NULL), (-3, DEFAULT),
			(-4, '(0.1,0.30000000000000004,1e-7),(5e-324,123456789.12345679,1e22)');
		CREATE INDEX t_b ON t USING gist (b);
		CREATE INDEX t_include ON t USING gist (b) INCLUDE (id) WHERE id % 2 = 0;
		CREATE INDEX t_expression ON t USING gist (box3d_translate(b, 1, 2, 3));
		CREATE INDEX t_btree ON t (b);
		CREATE INDEX t_hash ON t USING hash (b);
		CREATE TABLE rooms (b box3d, EXCLUDE USING gist (b WITH &&+));
		INSERT INTO rooms SELECT box3d(i, 0, 0, i + 1, 1, 1) FROM generate_series(1, 500) i;
		CREATE TABLE parts (b box3d) PARTITION BY HASH (b);
		CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
		CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
		INSERT INTO parts SELECT b FROM t;
		CREATE DOMAIN unit AS box3d CHECK (VALUE <@ '(0,0,0),(1,1,1)');
		CREATE TABLE units (u unit);
		INSERT INTO units VALUES ('(0,0,0),(0.5,0.5,0.5)');
		CREATE VIEW near AS SELECT id, b <-> box3d(0, 0, 0) AS d FROM t WHERE b &< box3d(500, 500, 500) AND NOT b />> box3d(1, 1, 1)
			ORDER BY b <-> box3d(0, 0, 0) LIMIT 10;
		CREATE TABLE shapes (r ray3d, s sphere3d, p planes3d);
		INSERT INTO shapes VALUES ('((0.1,2,3),(4,5,6)),(5e-324,0.30000000000000004,-1),Infinity', '<(1e22,0.1,3),1e-7>', '{(0.1,2,3,4),(-1,0,0,1e-320)}'), (NULL, NULL, NULL);
		CREATE VIEW hits AS SELECT r, id FROM shapes, LATERAL (SELECT id FROM t WHERE b && r AND NOT s @> b AND (b <@ s OR p && b) ORDER BY b <-> r, b <#> '(1,2,3)', b <=> '(1,2,3)' LIMIT 3) l;
		CREATE INDEX t_seen ON t USING gist (b) WHERE b && '(0,0,0),(1,1,1)'::ray3d;
		CREATE MATERIALIZED VIEW sizes AS SELECT id % 10 AS tenth, box3d_extent(b) AS extent FROM t GROUP BY 1;
		CREATE FUNCTION volume_of(box3d) RETURNS float8 LANGUAGE sql IMMUTABLE RETURN box3d_volume($1);
	});

	my $facts = q{
		SELECT md5(string_agg(id::text || box3d_send(b)::text || coalesce(bs::text, '') || box3d_send(grown)::text, ',' ORDER BY id)) FROM t;
		SELECT count(*) FROM t;
		SELECT count(*), box3d_extent(b) FROM rooms;
		SELECT tableoid::regclass, count(*) FROM parts GROUP BY 1 ORDER BY 1;
		SELECT * FROM units;
		SELECT * FROM near;
		SELECT r::text || ray3d_send(r)::text, s::text || sphere3d_send(s)::text, p::text || planes3d_send(p)::text FROM shapes ORDER BY 1;
		SELECT r, id FROM hits ORDER BY id;
		SELECT * FROM sizes ORDER BY 1;
		SELECT volume_of('(0,0,0),(1,2,3)');
		SELECT c.relname, indisvalid, pg_get_indexdef(c.oid) FROM pg_index JOIN pg_class c ON c.oid = indexrelid
			WHERE relname ~ '^(t|rooms)_' ORDER BY 1;
		SELECT opcname, amvalidate(c.oid) FROM pg_opclass c WHERE opcname ~ '^(box|ray|sphere|planes)3d' ORDER BY 1, 2;
		SELECT nspname FROM pg_extension e JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'bvhindex';
	};
	my $want = $node->safe_psql($db, $facts);
	my $file = $node->basedir . "/$db";

	$node->command_ok([ 'pg_dump', '-Fc', '-f', "$file.dump", $node->connstr($db) ], "$schema: pg_dump");
	$node->command_ok([ 'pg_dump', '--inserts', '-f', "$file.sql", $node->connstr($db) ], "$schema: pg_dump as SQL");

	foreach my $to ("custom_$schema", "sql_$schema")
	{
		$node->safe_psql('postgres', "CREATE DATABASE $to TEMPLATE template0");
	}
	# jobs: indexes are built by sessions that have not used the extension yet
	$node->command_ok([ 'pg_restore', '-j', '2', '--exit-on-error', '-d', $node->connstr("custom_$schema"), "$file.dump" ],
		"$schema: pg_restore");
	$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr("sql_$schema"), '-f', "$file.sql" ],
		"$schema: restore from SQL");

	foreach my $to ("custom_$schema", "sql_$schema")
	{
		$node->safe_psql('postgres', "ALTER DATABASE $to SET search_path = public, bvh");
		is($node->safe_psql($to, $facts), $want, "$to: the same data, indexes and views");
		$node->safe_psql($to, 'DROP INDEX t_include');
		is_agreed($node, $to, 't', 't_b', "$to: the index answers as the table");
		my ($status) = $node->psql($to, "INSERT INTO rooms VALUES ('(5.5,0,0),(6,1,1)')");
		isnt($status, 0, "$to: the exclusion constraint is in force");
		$node->safe_psql($to, "INSERT INTO t (id, b) VALUES (9999, '(1,1,1)')");
	}
}

# the extension's own objects are not dumped, only that it is there
my $dump = slurp_file($node->basedir . '/from_bvh.sql');
like($dump, qr/CREATE EXTENSION IF NOT EXISTS bvhindex WITH SCHEMA bvh;/, 'the dump creates the extension in its schema');
unlike($dump, qr/CREATE (FUNCTION|OPERATOR|TYPE) bvh\./, 'and none of its members');

$node->stop;
done_testing();
