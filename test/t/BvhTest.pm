# Shared by the TAP tests: does an index answer as the sequential scan does?

package BvhTest;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(answers is_agreed random_boxes replay_changes run_benches streaming_pair);

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

# script(table, path): psql's input that prints what 14 boxes, operators of a few
# kinds and nearest-neighbour queries find in table(id, b)
sub script
{
	my ($table, $path) = @_;
	my $boxes = q{(SELECT box3d(x, y, z, x + 60, y + 60, z + 60) AS q
		FROM generate_series(0, 900, 450) x, generate_series(0, 900, 450) y, generate_series(0, 900, 450) z
		WHERE (x + y + z) % 900 = 0) q};
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

# streaming_pair(method): a primary with tables t and u, which is unlogged, and
# indexes t_b and u_b of the access method; and its standby
sub streaming_pair
{
	my ($method) = @_;
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
		CREATE INDEX t_b ON t USING } . $method . q{ (b);
		CREATE UNLOGGED TABLE u (id int, b box3d);
		CREATE INDEX u_b ON u USING } . $method . q{ (b);
		INSERT INTO t } . random_boxes(1, 3000));

	$primary->backup('backup');
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	$standby->init_from_backup($primary, 'backup', has_streaming => 1);
	$standby->start;
	return ($primary, $standby);
}

# replay_changes(primary, standby, same): change t in every way that writes its
# index, and call same(name) after each; then queries while it changes
sub replay_changes
{
	my ($primary, $standby, $same) = @_;

	$same->('start');
	$primary->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(10001, 5000));
	$same->('inserts, with page splits');
	$primary->safe_psql('postgres', q{UPDATE t SET b = box3d_translate(b, 7, 7, 7) WHERE id % 5 = 0; DELETE FROM t WHERE id % 3 = 0});
	$same->('updates and deletes');
	$primary->safe_psql('postgres', 'VACUUM t');
	$primary->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(20001, 2000));
	$same->('vacuum and inserts');
	$primary->safe_psql('postgres', q{DELETE FROM t WHERE b << box3d(800, 0, 0)});
	$primary->safe_psql('postgres', 'VACUUM t');
	$primary->safe_psql('postgres', 'SELECT txid_current()');
	$primary->safe_psql('postgres', 'VACUUM t');
	$primary->safe_psql('postgres', 'INSERT INTO t ' . random_boxes(30001, 3000));
	$same->('pages deleted and used again');
	$primary->safe_psql('postgres', 'REINDEX INDEX t_b');
	$same->('bulk build');
	$primary->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY t_b');
	$primary->safe_psql('postgres', q{INSERT INTO t VALUES (-1, box3d('-Infinity', 0, 0, 'Infinity', 1, 1)), (-2, NULL)});
	$same->('concurrent build');

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
	return;
}

# run_benches(node, commands): pgbench with each of these arguments, at the same
# time; two tests each
sub run_benches
{
	my ($node, %commands) = @_;
	my %running;
	my %output;

	foreach my $name (sort keys %commands)
	{
		$output{$name} = '';
		$running{$name} = IPC::Run::start([ @{ $commands{$name} }, $node->connstr('postgres') ], '<', \undef, '>', \$output{$name}, '2>&1');
	}
	foreach my $name (sort keys %commands)
	{
		$running{$name}->finish;
		my ($done) = $output{$name} =~ /number of transactions actually processed: (\d+)/;
		ok($running{$name}->result(0) == 0 && $output{$name} !~ /ERROR|aborted/, "$name: no complaints (" . ($done // 0) . ' transactions)')
		  or diag($output{$name});
		cmp_ok($done // 0, '>', 0, "$name: at work");
	}
	return;
}

1;
