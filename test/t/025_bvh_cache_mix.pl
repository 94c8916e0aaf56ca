# Many sessions write and VACUUM, indexes come and go, while others compare: in one
# snapshot, a cached tree, the pages and the table give the same rows.
# BVH_CACHE_SECONDS says for how long; the default is 60.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BvhTest;

my $seconds = $ENV{BVH_CACHE_SECONDS} // 60;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
shared_preload_libraries = 'bvhindex'
bvhindex.cache_min_pages = 0
bvhindex.cache_size = 64MB
max_worker_processes = 4
fsync = off
jit = off
max_wal_size = 4GB
autovacuum_naptime = 1
});
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bvhindex');
$node->safe_psql('postgres', q{
	CREATE TABLE t (id serial, b box3d, s text);
	CREATE INDEX t_b ON t USING bvh (b);
	CREATE INDEX t_s ON t USING bvh (b) INCLUDE (s);
	CREATE TABLE u (id serial, b box3d) WITH (autovacuum_enabled = off);
	CREATE INDEX u_b ON u USING bvh (b);
	CREATE UNLOGGED TABLE v (id serial, b box3d);
	CREATE INDEX v_b ON v USING bvh (b);

	-- crowded, so that writers meet on the same pages
	CREATE FUNCTION any_box() RETURNS box3d LANGUAGE sql AS
		$$ SELECT box3d(x, y, z, x + random() * 5, y + random() * 5, z + random() * 5) FROM (SELECT random() * 100 x, random() * 100 y, random() * 20 z) v $$;
	INSERT INTO t (b, s) SELECT any_box(), md5(i::text) FROM generate_series(1, 5000) i;
	INSERT INTO u (b) SELECT any_box() FROM generate_series(1, 3000) i;
	INSERT INTO v (b) SELECT any_box() FROM generate_series(1, 3000) i;

	-- an error if any way to the rows differs from the sequential scan
	CREATE FUNCTION compare(tbl text, use_cache text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		q box3d := box3d_expand(any_box(), random() * 15);
		r ray3d := ray3d_sweep(any_box(), random() * 80 - 40, random() * 80 - 40, random() * 20 - 10);
		queries text[] := ARRAY[
			format('SELECT count(*)::text || sum(hashint4extended(id, 3)) FROM %I WHERE b && %L', tbl, q),
			format('SELECT count(*)::text || sum(box3d_hash_extended(b, 7)) FROM (SELECT b FROM %I WHERE b && %L) r', tbl, q),
			format('SELECT count(*)::text || sum(hashint4extended(id, 3)) FROM %I WHERE b <@ %L AND b &< %2$L', tbl, q),
			format('SELECT array_agg(float8send(d))::text FROM (SELECT b <-> %2$L AS d FROM %1$I ORDER BY b <-> %2$L LIMIT 100) r', tbl, q),
			format('SELECT count(*)::text || sum(id) FROM (SELECT id FROM %I ORDER BY b <-> %L OFFSET 0) r', tbl, q),
			format('SELECT count(*)::text || sum(hashint4extended(id, 3)) FROM %I WHERE b && %L::ray3d', tbl, r),
			format('SELECT array_agg(float8send(d))::text FROM (SELECT b <-> %2$L::ray3d AS d FROM %1$I WHERE b && %2$L::ray3d AND b <@ %3$L::sphere3d ORDER BY 1) s', tbl, r, sphere3d(50, 50, 10, 40)),
			format('SELECT array_agg(float8send(d))::text FROM (SELECT b <#> %2$L AS d FROM %1$I ORDER BY 1 LIMIT 100) s', tbl, q)];
		query text;
		path text;
		want text;
		got text;
	BEGIN
		FOREACH query IN ARRAY queries LOOP
			FOREACH path IN ARRAY ARRAY['seq', 'index', 'only', 'bitmap', 'pages'] LOOP
				PERFORM set_config('enable_' || n, CASE WHEN path = ANY (p) THEN 'on' ELSE 'off' END, true)
				FROM (VALUES ('seqscan', ARRAY['seq']), ('indexscan', ARRAY['index', 'only', 'pages']), ('indexonlyscan', ARRAY['only']), ('bitmapscan', ARRAY['bitmap'])) v(n, p);
				PERFORM set_config('bvhindex.use_cache', CASE WHEN path = 'pages' THEN 'off' ELSE use_cache END, true);
				EXECUTE query INTO got;
				IF path = 'seq' THEN
					want := got;
				ELSIF got IS DISTINCT FROM want THEN
					RAISE EXCEPTION 'difference in %, %, %: %, want %', tbl, path, query, got, want;
				END IF;
			END LOOP;
		END LOOP;
	END $$;
	-- what the cache did, for indexes that are gone, too
	CREATE TABLE seen (index oid, hits bigint, builds bigint, delta bigint, PRIMARY KEY (index));
});

my $copy = $node->basedir . '/copy.csv';
$node->safe_psql('postgres', "COPY (SELECT any_box() FROM generate_series(1, 200)) TO '$copy'");
my %script = (
	insert => [ 6, q{INSERT INTO t (b, s) SELECT CASE WHEN random() > 0.02 THEN any_box() END, md5(random()::text) FROM generate_series(1, 20);} ],
	# rows that others are at are left to them, so nobody waits in a circle
	move => [ 3, q{UPDATE t SET b = any_box() WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE b && any_box() LIMIT 10 FOR UPDATE SKIP LOCKED));} ],
	touch => [ 2, q{UPDATE t SET s = left(s, 32) || '.' WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE b && any_box() LIMIT 10 FOR UPDATE SKIP LOCKED));} ],
	delete => [ 6, q{DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t ORDER BY b <-> any_box() LIMIT 25 FOR UPDATE SKIP LOCKED));} ],
	undo => [ 1, q{BEGIN; INSERT INTO t (b) SELECT any_box() FROM generate_series(1, 50); ROLLBACK;} ],
	savepoint => [ 2, q{BEGIN; INSERT INTO t (b) SELECT any_box() FROM generate_series(1, 9); SAVEPOINT s; INSERT INTO t (b) SELECT any_box() FROM generate_series(1, 9); ROLLBACK TO s; INSERT INTO t (b) SELECT any_box() FROM generate_series(1, 9); COMMIT;} ],
	# nothing but its own rows, through an index that may be cached
	own => [ 1, q{BEGIN; INSERT INTO u (id, b) VALUES (-pg_backend_pid(), box3d(7777, 0, 0)); SET LOCAL enable_seqscan = off; SELECT 1 / (count(*) = 1)::int FROM u WHERE b && box3d(7777, 0, 0) AND id = -pg_backend_pid(); ROLLBACK;} ],
	copy => [ 1, qq{COPY t (b) FROM '$copy';} ],
	region => [ 1, q{DELETE FROM t WHERE ctid = ANY (ARRAY(SELECT ctid FROM t WHERE b <@ box3d_expand(any_box(), 8) FOR UPDATE SKIP LOCKED));} ],
	insert_u => [ 2, q{INSERT INTO u (b) SELECT any_box() FROM generate_series(1, 30);} ],
	delete_u => [ 2, q{DELETE FROM u WHERE ctid = ANY (ARRAY(SELECT ctid FROM u WHERE id % 7 = 3 LIMIT 40 FOR UPDATE SKIP LOCKED));} ],
	insert_v => [ 2, q{INSERT INTO v (b) SELECT any_box() FROM generate_series(1, 30);} ],
	delete_v => [ 1, q{DELETE FROM v WHERE ctid = ANY (ARRAY(SELECT ctid FROM v ORDER BY b <-> any_box() LIMIT 60 FOR UPDATE SKIP LOCKED));} ]);
my @writers = ('pgbench', '-n', '-c', '3', '-T', $seconds);
foreach my $name (sort keys %script)
{
	my $file = $node->basedir . "/$name.sql";
	append_to_file($file, "$script{$name}->[1]\n");
	push @writers, '-f', "$file\@$script{$name}->[0]";
}
my $look = q{INSERT INTO seen SELECT c.index, c.hits, c.builds, c.delta FROM bvh_cache c ON CONFLICT (index)
	DO UPDATE SET hits = greatest(seen.hits, excluded.hits), builds = greatest(seen.builds, excluded.builds), delta = greatest(seen.delta, excluded.delta);};
my %file = (
	compare_t => "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT compare('t', 'on');\nCOMMIT;\n",
	compare_u => "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT compare('u', 'always');\nCOMMIT;\n",
	compare_v => "BEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT compare('v', 'always');\nCOMMIT;\n",
	vacuum => "VACUUM t;\nVACUUM u;\nVACUUM (PARALLEL 0) v;\n\\sleep 20 ms\n",
	drop => "SELECT bvh_cache_drop('t_b');\n$look\n\\sleep 500 ms\n",
	define => "REINDEX INDEX u_b;\n\\sleep 200 ms\nTRUNCATE u;\nINSERT INTO u (b) SELECT any_box() FROM generate_series(1, 3000) i;\n\\sleep 200 ms\n"
	  . "CREATE INDEX CONCURRENTLY t_x ON t USING bvh (b);\nDROP INDEX CONCURRENTLY t_x;\n"
	  . "BEGIN;\nTRUNCATE v;\nINSERT INTO v (b) SELECT any_box() FROM generate_series(1, 300) i;\nSAVEPOINT s;\nTRUNCATE v;\nROLLBACK TO s;\nSELECT compare('v', 'always');\nROLLBACK;\n");
append_to_file($node->basedir . "/$_.sql", $file{$_}) foreach keys %file;
my $time = $seconds;
sub bench
{
	my ($clients, @names) = @_;
	return [ 'pgbench', '-n', '-c', $clients, '-T', $time, map { ('-f', $node->basedir . "/$_.sql") } @names ];
}

run_benches($node,
	writers => \@writers,
	checkers => bench(3, 'compare_t', 'compare_u', 'compare_v'),
	vacuum => bench(1, 'vacuum'),
	dropper => bench(1, 'drop'),
	definer => bench(1, 'define'));

$node->safe_psql('postgres', $look);
my ($hits, $builds, $delta) = split /\|/, $node->safe_psql('postgres', 'SELECT sum(hits), sum(builds), max(delta) FROM seen');
cmp_ok($hits, '>', 1000, 'the cache was at work');
cmp_ok($builds, '>', 10, 'and was built often');
cmp_ok($delta, '>', 100, 'beside inserts');
note("$hits hits, $builds builds, at most $delta rows in a delta");
# a tree is published, thousands of times, while others are in the middle of an insert
$node->safe_psql('postgres', q{
	CREATE TABLE w (id serial, b box3d) WITH (autovacuum_enabled = off);
	CREATE INDEX w_b ON w USING bvh (b);
});
my $count = q{SELECT %s FROM w WHERE b && box3d(-1000, -1000, -1000, 1000, 1000, 1000)};
append_to_file($node->basedir . '/insert_w.sql', "INSERT INTO w (b) VALUES (any_box());\n");
append_to_file($node->basedir . '/truncate_w.sql', "TRUNCATE w;\n");
append_to_file($node->basedir . '/publish_w.sql',
	"SELECT bvh_cache_drop('w_b');\nSET enable_seqscan = off;\nSET bvhindex.use_cache = always;\n"
	  . sprintf($count, 'count(*)') . ";\nBEGIN ISOLATION LEVEL REPEATABLE READ;\n"
	  . sprintf($count, 'count(*) AS cached') . " \\gset\nSET LOCAL bvhindex.use_cache = off;\n"
	  . sprintf($count, '1 / (count(*) = :cached)::int AS as_pages_do') . ";\nCOMMIT;\n");
$time = int($seconds / 6);
run_benches($node, inserters => bench(2, 'insert_w'), publisher => bench(1, ('publish_w') x 8, 'truncate_w'));

foreach my $table ('t', 'u', 'v')
{
	is($node->psql('postgres', "SELECT compare('$table', 'always')"), 0, "$table: the same rows in the end");
	is($node->safe_psql('postgres', "SELECT * FROM bvh_check('${table}_b', true)"), '', "$table: sound");
}
unlike(slurp_file($node->logfile), qr/TRAP|PANIC|terminated by signal|could not cache/, 'no complaints in the log');
$node->stop;

done_testing();
