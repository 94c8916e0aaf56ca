# Many sessions insert, move, delete and vacuum, while others compare: in one
# snapshot, a bvh index answers as the table does.  BVH_MIX_SECONDS says for how
# long; the default is 60.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BvhTest;

my $seconds = $ENV{BVH_MIX_SECONDS} // 60;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
fsync = off
jit = off
max_wal_size = 4GB
autovacuum_naptime = 1
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bvhindex');
$node->safe_psql('postgres', q{
	CREATE TABLE t (id serial, b box3d, s text);
	CREATE INDEX t_b ON t USING bvh (b) INCLUDE (s);
	CREATE INDEX t_i ON t USING bvh (box3d_expand(b, 1)) WHERE id % 2 = 0;
	-- crowded, so that writers meet on the same pages
	CREATE FUNCTION any_box() RETURNS box3d LANGUAGE sql AS
		$$ SELECT box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5) FROM (SELECT random() * 100 x, random() * 100 y, random() * 20 z) v $$;
	INSERT INTO t (b, s) SELECT any_box(), md5(i::text) FROM generate_series(1, 5000) i;

	-- one that only grows, while it is looked at
	CREATE TABLE growing (b box3d, pad text);
	CREATE INDEX growing_b ON growing USING bvh (b) INCLUDE (pad);
	ALTER TABLE growing ALTER pad SET STORAGE PLAIN;

	-- wide items, so that every few inserts make a page, and many inner pages
	INSERT INTO growing SELECT any_box(), repeat('x', 1900) FROM generate_series(1, 16000);

	-- and one that begins anew all the time, so that its root is split often
	CREATE TABLE young (b box3d, pad text);
	CREATE INDEX young_b ON young USING bvh (b) INCLUDE (pad);
	ALTER TABLE young ALTER pad SET STORAGE PLAIN;

	-- an error if any way through the index differs from the sequential scan
	CREATE FUNCTION compare() RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		q box3d := box3d_expand(any_box(), random() * 15);
		queries text[] := ARRAY[
			format('SELECT count(*)::text || sum(box3d_hash_extended(b, 7)) || coalesce(sum(hashtextextended(s, 0)), 0) FROM (SELECT b, s FROM t WHERE b && %L) r', q),
			format('SELECT count(*)::text || sum(hashint4extended(id, 3)) FROM t WHERE b <@ %L AND b IS NOT NULL', q),
			format('SELECT count(*)::text || sum(hashint4extended(id, 3)) FROM t WHERE box3d_expand(b, 1) && %L AND id %% 2 = 0', q),
			format('SELECT array_agg(float8send(d))::text FROM (SELECT b <-> %1$L AS d FROM t ORDER BY b <-> %1$L LIMIT 100) r', q),
			'SELECT count(*)::text FROM (SELECT s FROM t WHERE b IS NULL) r'];
		query text;
		path text;
		want text;
		got text;
	BEGIN
		FOREACH query IN ARRAY queries LOOP
			FOREACH path IN ARRAY ARRAY['seq', 'index', 'only', 'bitmap'] LOOP
				PERFORM set_config('enable_' || n, CASE WHEN path = ANY (p) THEN 'on' ELSE 'off' END, true)
				FROM (VALUES ('seqscan', ARRAY['seq']), ('indexscan', ARRAY['index', 'only']), ('indexonlyscan', ARRAY['only']), ('bitmapscan', ARRAY['bitmap'])) v(n, p);
				EXECUTE query INTO got;
				IF path = 'seq' THEN
					want := got;
				ELSIF got IS DISTINCT FROM want THEN
					RAISE EXCEPTION 'difference: %, %: %, want %', path, query, got, want;
				END IF;
			END LOOP;
		END LOOP;
	END $$;
});

my %script = (
	insert => [ 6, q{INSERT INTO t (b, s) SELECT CASE WHEN random() > 0.05 THEN any_box() END, md5(random()::text) FROM generate_series(1, 20);} ],
	# rows that others are at are left to them, so nobody waits in a circle
	move => [ 3, q{UPDATE t SET b = any_box() WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE b && any_box() LIMIT 10 FOR UPDATE SKIP LOCKED));} ],
	touch => [ 2, q{UPDATE t SET s = s || '.' WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE b && any_box() AND length(s) < 50 LIMIT 10 FOR UPDATE SKIP LOCKED));} ],
	delete => [ 6, q{DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t ORDER BY b <-> any_box() LIMIT 19 FOR UPDATE SKIP LOCKED));} ],
	undo => [ 1, q{BEGIN; INSERT INTO t (b) SELECT any_box() FROM generate_series(1, 50); ROLLBACK;} ],
	region => [ 1, q{DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE b <@ box3d_expand(any_box(), 8) FOR UPDATE SKIP LOCKED));} ]);
my @writers = ('pgbench', '-n', '-c', '3', '-T', $seconds);
foreach my $name (sort keys %script)
{
	my $file = $node->basedir . "/$name.sql";
	append_to_file($file, "$script{$name}->[1]\n");
	push @writers, '-f', "$file\@$script{$name}->[0]";
}
append_to_file($node->basedir . '/compare.sql', "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT compare();\nCOMMIT;\n");
append_to_file($node->basedir . '/serializable.sql', "BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY;\nSELECT compare();\nCOMMIT;\n");
append_to_file($node->basedir . '/vacuum.sql', "VACUUM t;\n\\sleep 150 ms\n");
append_to_file($node->basedir . '/look.sql', "SELECT count(*) FROM bvh_nodes('t_b');\nSELECT bvh_stats('t_b');\n\\sleep 100 ms\n");
append_to_file($node->basedir . '/grow.sql', "INSERT INTO growing SELECT any_box(), repeat('x', 1900) FROM generate_series(1, 20);\n");
append_to_file($node->basedir . '/grow_young.sql', "TRUNCATE young;\n" . "INSERT INTO young SELECT any_box(), repeat('x', 1900) FROM generate_series(1, 60);\n" x 12);
# division by zero if a row is missed that was there before, whatever was split since
append_to_file($node->basedir . '/look_growing.sql', q{SELECT 1 / (s.tuples >= (SELECT count(*) FROM growing))::int FROM bvh_stats('growing_b') s;
SELECT 1 / (sum(tuples) >= (SELECT count(*) FROM growing) AND min(level) = 0)::int FROM bvh_nodes('growing_b') WHERE level <= 0;
});
# and if a page is not one level below its parent
append_to_file($node->basedir . '/look_young.sql', q{WITH n AS MATERIALIZED (SELECT level, block, parent FROM bvh_nodes('young_b'))
SELECT 1 / (count(*) = (SELECT count(*) FROM n) - 1)::int FROM n c JOIN n p ON p.block = c.parent AND p.level = c.level + 1;
});
append_to_file($node->basedir . '/rebuild.sql', "\\sleep 2 s\nREINDEX INDEX CONCURRENTLY t_i;\n");

my %run = (
	writers => \@writers,
	checkers => [ 'pgbench', '-n', '-c', '2', '-T', $seconds, '-f', $node->basedir . '/compare.sql@3', '-f', $node->basedir . '/serializable.sql@1' ],
	vacuum => [ 'pgbench', '-n', '-c', '1', '-T', $seconds, '-f', $node->basedir . '/vacuum.sql' ],
	inspectors => [ 'pgbench', '-n', '-c', '1', '-T', $seconds, '-f', $node->basedir . '/look.sql' ],
	rebuilders => [ 'pgbench', '-n', '-c', '1', '-T', $seconds, '-f', $node->basedir . '/rebuild.sql' ]);
# first what looks at pages that came after it began
run_benches($node,
	growers => [ 'pgbench', '-n', '-c', '2', '-T', 4, '-f', $node->basedir . '/grow.sql' ],
	onlookers => [ 'pgbench', '-n', '-c', '1', '-T', 4, '-f', $node->basedir . '/look_growing.sql' ]);
run_benches($node,
	growers => [ 'pgbench', '-n', '-c', '1', '-T', 4, '-f', $node->basedir . '/grow_young.sql' ],
	onlookers => [ 'pgbench', '-n', '-c', '1', '-T', 4, '-f', $node->basedir . '/look_young.sql' ]);
run_benches($node, %run);

is($node->safe_psql('postgres', "SELECT * FROM bvh_check('$_', true)"), '', "$_: sound") foreach 't_b', 't_i';
$node->safe_psql('postgres', 'VACUUM t');
is($node->safe_psql('postgres', "SELECT * FROM bvh_check('$_', true)"), '', "$_: sound after VACUUM") foreach 't_b', 't_i';
is($node->safe_psql('postgres', q{SELECT s.tuples = (SELECT count(*) FROM t) FROM bvh_stats('t_b') s}), 't', 'as many items as rows');
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', "SELECT * FROM bvh_check('$_', true)"), '', "$_: sound after a crash") foreach 't_b', 't_i', 'growing_b';
$node->stop;

done_testing();
