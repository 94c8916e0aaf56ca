# pg_dump and pg_restore of bvh indexes, their options and exclusion constraints, by
# sessions that have not used the extension before, with it in another schema.

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

$node->safe_psql('postgres', 'CREATE DATABASE from_bvh');
$node->safe_psql('postgres', 'ALTER DATABASE from_bvh SET search_path = public, bvh');
$node->safe_psql('from_bvh', 'CREATE SCHEMA bvh; CREATE EXTENSION bvhindex SCHEMA bvh');
$node->safe_psql('from_bvh', q{
	CREATE TABLE t AS } . random_boxes(1, 3000) . q{;
	INSERT INTO t VALUES (-1, '(-Infinity,0,0),(Infinity,1e-320,1.7976931348623157e308)'), (-2, NULL);
	CREATE INDEX t_b ON t USING bvh (b) WITH (fillfactor = 70);
	CREATE INDEX t_include ON t USING bvh (b) INCLUDE (id) WHERE id % 2 = 0;
	CREATE INDEX t_expression ON t USING bvh (box3d_translate(b, 1, 2, 3));
	CREATE TABLE rooms (b box3d, EXCLUDE USING bvh (b WITH &&+) WITH (fillfactor = 50));
	INSERT INTO rooms SELECT box3d(i, 0, 0, i + 1, 1, 1) FROM generate_series(1, 500) i;
	CREATE TABLE parts (b box3d) PARTITION BY HASH (b);
	CREATE TABLE parts0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
	CREATE TABLE parts1 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 1);
	CREATE INDEX parts_b ON parts USING bvh (b);
	INSERT INTO parts SELECT b FROM t;
	CREATE MATERIALIZED VIEW near AS SELECT id, b FROM t ORDER BY b <-> box3d(0, 0, 0) LIMIT 200;
	CREATE INDEX near_b ON near USING bvh (b);
	ALTER TABLE t CLUSTER ON t_b;
});
my $facts = q{
	SELECT md5(string_agg(id::text || box3d_send(b)::text, ',' ORDER BY id)) FROM t;
	SELECT c.relname, indisvalid, indisclustered, indisexclusion, reloptions, pg_get_indexdef(c.oid) FROM pg_index JOIN pg_class c ON c.oid = indexrelid
		JOIN pg_am a ON a.oid = relam AND amname = 'bvh' ORDER BY 1;
	SELECT amname, opcname, amvalidate(c.oid) FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod WHERE opcname ~ '^box3d' ORDER BY 1, 2;
	SELECT c.relname, k.* FROM pg_class c JOIN pg_am a ON a.oid = relam AND amname = 'bvh', LATERAL bvh_check(c.oid, true) k WHERE relkind = 'i';
};
my $want = $node->safe_psql('from_bvh', $facts);
like($want, qr/t_b\|t\|t\|f\|\{fillfactor=70\}/, 'the indexes to be dumped');
my $file = $node->basedir . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', "$file.dump", $node->connstr('from_bvh') ], 'pg_dump');
$node->command_ok([ 'pg_dump', '--inserts', '-f', "$file.sql", $node->connstr('from_bvh') ], 'pg_dump as SQL');
$node->safe_psql('postgres', "CREATE DATABASE $_ TEMPLATE template0") foreach 'to_custom', 'to_sql';
$node->command_ok([ 'pg_restore', '-j', '2', '--exit-on-error', '-d', $node->connstr('to_custom'), "$file.dump" ], 'pg_restore');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('to_sql'), '-f', "$file.sql" ], 'restore from SQL');
foreach my $to ('to_custom', 'to_sql')
{
	$node->safe_psql('postgres', "ALTER DATABASE $to SET search_path = public, bvh");
	is($node->safe_psql($to, $facts), $want, "$to: the same indexes, sound");
	$node->safe_psql($to, 'DROP INDEX t_include');
	is_agreed($node, $to, 't', 't_b', "$to: the index answers as the table");
	my ($status) = $node->psql($to, "INSERT INTO rooms VALUES ('(5.5,0,0),(6,1,1)')");
	isnt($status, 0, "$to: the exclusion constraint is in force");
	$node->safe_psql($to, 'CLUSTER t');
	is_agreed($node, $to, 't', 't_b', "$to: CLUSTER");
}
# an option, set by a session that has not loaded the library
$node->safe_psql('to_sql', 'ALTER INDEX t_b SET (fillfactor = 80)');
is($node->safe_psql('to_sql', q{SELECT reloptions FROM pg_class WHERE relname = 't_b'}), '{fillfactor=80}', 'ALTER INDEX in a new session');
# a copy of a table's definition
$node->safe_psql('to_sql', 'CREATE TABLE again (LIKE t INCLUDING ALL)');
like($node->safe_psql('to_sql', q{SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'again'::regclass}), qr/USING bvh \(b\) WITH \(fillfactor='?80'?\)/, 'LIKE INCLUDING ALL');
# the operator class goes with the extension, and takes the indexes along
my ($status, $out, $err) = $node->psql('to_sql', 'DROP EXTENSION bvhindex');
like($err, qr/depend/, 'an index keeps the extension');
$node->stop;

done_testing();
