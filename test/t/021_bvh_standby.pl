# A streaming standby answers from a bvh index as its primary: replay needs no code
# of this extension, and the library is loaded nowhere in advance.

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use BvhTest;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
# a standby on a busy machine may fall behind by more than two checkpoints
$primary->append_conf('postgresql.conf', "wal_keep_size = 4GB\nmax_wal_size = 4GB\n");
# every replayed page is compared with what the primary made of it
$primary->append_conf('postgresql.conf', qq{
fsync = off
wal_consistency_checking = 'all'
autovacuum = off
});
$primary->start;
$primary->safe_psql('postgres', 'CREATE EXTENSION bvhindex');
$primary->safe_psql('postgres', q{
	CREATE TABLE t (id int, b box3d);
	CREATE INDEX t_b ON t USING bvh (b);
	CREATE UNLOGGED TABLE u (id int, b box3d);
	CREATE INDEX u_b ON u USING bvh (b);
	INSERT INTO t } . random_boxes(1, 3000));

$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
is($standby->safe_psql('postgres', 'SHOW shared_preload_libraries'), '', 'the library is not preloaded');

# same(name): the index is sound, the same on both nodes, and right
sub same
{
	my ($name) = @_;

	$primary->wait_for_catchup($standby);
	is($primary->safe_psql('postgres', q{SELECT * FROM bvh_check('t_b', true)}), '', "$name: the index is sound");
	is($standby->safe_psql('postgres', q{SELECT bvh_stats('t_b')}), $primary->safe_psql('postgres', q{SELECT bvh_stats('t_b')}),
		"$name: and the same on both");
	is(answers($standby, 'postgres', 't', 'only'), answers($standby, 'postgres', 't', 'seq'), "$name: it answers as the table on the standby");
	return;
}

like(($standby->psql('postgres', q{SELECT * FROM bvh_stats('u_b')}))[2], qr/cannot access unlogged indexes during recovery/, 'an unlogged index has no pages on a standby');
same('start');
$primary->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(10001, 5000));
same('inserts, with page splits');
$primary->safe_psql('postgres', q{UPDATE t SET b = box3d_translate(b, 7, 7, 7) WHERE id % 5 = 0; DELETE FROM t WHERE id % 3 = 0});
same('updates and deletes');
$primary->safe_psql('postgres', 'VACUUM t');
$primary->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(20001, 2000));
same('vacuum and inserts');
$primary->safe_psql('postgres', q{DELETE FROM t WHERE b << box3d(800, 0, 0)});
$primary->safe_psql('postgres', 'VACUUM t');
$primary->safe_psql('postgres', 'SELECT txid_current()');
$primary->safe_psql('postgres', 'VACUUM t');
$primary->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(30001, 3000));
same('pages deleted and used again');
$primary->safe_psql('postgres', 'REINDEX INDEX t_b');
same('bulk build');
$primary->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY t_b');
$primary->safe_psql('postgres', q{INSERT INTO t VALUES (-1, box3d('-Infinity', 0, 0, 'Infinity', 1, 1)), (-2, NULL)});
same('concurrent build');

# the planner's sample of the boxes is replicated too
$primary->safe_psql('postgres', 'ANALYZE t');
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', 'EXPLAIN SELECT FROM t WHERE b && box3d(0, 0, 0, 500, 1000, 1000)'),
	$primary->safe_psql('postgres', 'EXPLAIN SELECT FROM t WHERE b && box3d(0, 0, 0, 500, 1000, 1000)'),
	'the same estimate on both');

# one session on the standby, before and after replay
my ($stdin, $stdout, $stderr) = ('', '', '');
my $timer = IPC::Run::timer($PostgreSQL::Test::Utils::timeout_default);
my $session = IPC::Run::start(
	[ 'psql', '-XAtq', '-d', $standby->connstr('postgres') ],
	'<', \$stdin, '>', \$stdout, '2>', \$stderr, $timer);
$stdin .= "SET enable_seqscan = off; SELECT 'before', count(*) FROM t WHERE b && box3d(5000, 5000, 5000);\n";
pump_until($session, $timer, \$stdout, qr/before\|\d+\n/) or die "no answer: $stderr";
$primary->safe_psql('postgres', 'INSERT INTO t SELECT i, box3d(5000, 5000, 5000) FROM generate_series(1, 700) i');
$primary->wait_for_catchup($standby);
$stdin .= "SELECT 'after', count(*) FROM t WHERE b && box3d(5000, 5000, 5000);\n\\q\n";
$session->finish;
is($stdout, "before|0\nafter|700\n", 'one session sees what was replayed between its queries');
is($stderr, '', 'without complaint');

# queries while changes are replayed: in one snapshot, the index agrees with the table
$standby->safe_psql('postgres', 'SELECT 1');
$primary->safe_psql('postgres', q{
	CREATE PROCEDURE work(until timestamptz) LANGUAGE plpgsql AS $$
	DECLARE
		n int := 100000;
	BEGIN
		WHILE clock_timestamp() < until LOOP
			n := n + 200;
			INSERT INTO t SELECT n + id, b FROM (} . random_boxes(1, 200) . q{) r;
			DELETE FROM t WHERE id BETWEEN n - 1000 AND n - 900;
			UPDATE t SET b = box3d_translate(b, 3, 3, 3) WHERE id BETWEEN n - 600 AND n - 500;
			COMMIT;
		END LOOP;
	END $$;
	CREATE FUNCTION difference() RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		q box3d := box3d_expand(box3d(random() * 1000, random() * 1000, random() * 1000), 150);
		query text := format('SELECT count(*), sum(box3d_hash_extended(b, 0)) FROM t WHERE b && %L', q);
		path text;
		want record;
		got record;
	BEGIN
		SET LOCAL jit = off;
		PERFORM set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true), set_config('enable_bitmapscan', 'off', true);
		EXECUTE query INTO want;
		PERFORM set_config('enable_seqscan', 'off', true);
		FOREACH path IN ARRAY ARRAY['bitmap', 'index', 'indexonly'] LOOP
			PERFORM set_config('enable_bitmapscan', CASE path WHEN 'bitmap' THEN 'on' ELSE 'off' END, true),
				set_config('enable_indexscan', CASE path WHEN 'bitmap' THEN 'off' ELSE 'on' END, true),
				set_config('enable_indexonlyscan', CASE path WHEN 'indexonly' THEN 'on' ELSE 'off' END, true);
			EXECUTE query INTO got;
			IF got IS DISTINCT FROM want THEN
				RETURN format('%s, %s: %s, want %s', q, path, got, want);
			END IF;
		END LOOP;
		RETURN NULL;
	END $$;
});
$primary->wait_for_catchup($standby);
my $writer = IPC::Run::start(
	[ 'psql', '-X', '-q', '-d', $primary->connstr('postgres'), '-c', q{CALL work(clock_timestamp() + '3 s')} ],
	'<', \undef, '>', '/dev/null', '2>', '/dev/null');
my $nchecks = 0;
my @differences;
my $end = time() + 3;
while (time() < $end)
{
	$primary->safe_psql('postgres', 'VACUUM t') if $nchecks % 4 == 2;
	# a query that is in the way of replay may be cancelled, which is no difference
	my ($status, $out, $err) = $standby->psql('postgres',
		"BEGIN ISOLATION LEVEL REPEATABLE READ; " . join(' ', ('SELECT difference();') x 5) . ' COMMIT;');
	push @differences, $out if $out =~ /\S/;
	push @differences, $err if $err =~ /ERROR/ && $err !~ /conflict with recovery/;
	$nchecks++;
}
$writer->finish;
is(join("\n", @differences), '', "queries during replay ($nchecks times)");
$primary->safe_psql('postgres', 'DELETE FROM t WHERE id >= 100000');
same('after that');

$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(40001, 2000));
is_agreed($standby, 'postgres', 't', 't_b', 'promoted: inserts');
$standby->safe_psql('postgres', 'VACUUM t');
is_agreed($standby, 'postgres', 't', 't_b', 'promoted: vacuum');
$standby->safe_psql('postgres', 'INSERT INTO u ' . random_boxes(1, 2000));
is_agreed($standby, 'postgres', 'u', 'u_b', 'promoted: unlogged table');
is($standby->safe_psql('postgres', q{SELECT * FROM bvh_check('t_b', true); SELECT * FROM bvh_check('u_b', true)}), '', 'promoted: sound');
$standby->stop;

done_testing();
