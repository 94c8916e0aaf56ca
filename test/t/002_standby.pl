# A streaming standby answers as its primary: replay needs no code of this
# extension, and the library is loaded nowhere in advance.
#
# README: "No library has to be preloaded."

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
	CREATE INDEX t_b ON t USING gist (b);
	CREATE UNLOGGED TABLE u (id int, b box3d);
	CREATE INDEX u_b ON u USING gist (b);
	INSERT INTO t } . random_boxes(1, 3000));

$primary->backup('backup');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'backup', has_streaming => 1);
$standby->start;
is($standby->safe_psql('postgres', 'SHOW shared_preload_libraries'), '', 'the library is not preloaded');

# same(name): both nodes, by index and sequentially
sub same
{
	my ($name) = @_;

	$primary->wait_for_catchup($standby);
	is_agreed($standby, 'postgres', 't', 't_b', "$name: index and sequential scan agree on the standby");
	is(answers($standby, 'postgres', 't', 'index'), answers($primary, 'postgres', 't', 'index'),
		"$name: and with the primary");
	return;
}

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

$primary->stop;
$standby->promote;
$standby->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(40001, 2000));
is_agreed($standby, 'postgres', 't', 't_b', 'promoted: inserts');
$standby->safe_psql('postgres', 'VACUUM t');
is_agreed($standby, 'postgres', 't', 't_b', 'promoted: vacuum');
$standby->safe_psql('postgres', 'INSERT INTO u ' . random_boxes(1, 2000));
is_agreed($standby, 'postgres', 'u', 'u_b', 'promoted: unlogged table');
$standby->stop;

done_testing();
