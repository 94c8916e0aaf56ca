# A BVH join stops within a second, whatever it is at, by a timeout and by the user;
# it leaves no temporary files; it stays within its memory.

use strict;
use warnings;

use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time sleep);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', qq{
fsync = off
shared_buffers = 256MB
jit = off
max_parallel_workers_per_gather = 0
autovacuum = off
});
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION bvhindex;
	SELECT setseed(0.5);
	-- many rows with few matches, and few with many
	CREATE TABLE many AS SELECT i AS id, box3d(x, y, z, x + random() * 4, y + random() * 4, z + random() * 4) AS b
		FROM (SELECT i, random() * 800 x, random() * 800 y, random() * 800 z FROM generate_series(1, 600000) i) s;
	CREATE TABLE equal AS SELECT i AS id, box3d(0, 0, 0, 1, 1, 1) AS b FROM generate_series(1, 30000) i;
	VACUUM ANALYZE;
});

# files that stay in the folder of temporary files: an error is reported before they go
sub temporary_files
{
	my $folder = $node->data_dir . '/base/pgsql_tmp';
	my @files;
	return () if !-d $folder;
	for (1 .. 50)
	{
		@files = grep { !/^\.\.?$/ } slurp_dir($folder);
		last if !@files;
		sleep(0.1);
	}
	return @files;
}

my %queries = (
	'reading and building' => 'SELECT count(*) FROM many a JOIN many c ON a.b && c.b AND a.id < c.id',
	'reading two inputs' => 'SELECT count(*) FROM many a JOIN many c ON a.b && c.b AND a.id < c.id AND c.id > 0',
	'dividing' => q{SET work_mem = '1MB'; SELECT count(*) FROM many a LEFT JOIN many c ON a.b && c.b AND a.id < c.id},
	# where all rows match, a nested loop is faster
	'finding' => 'SET enable_nestloop = off; SELECT count(*) FROM equal a JOIN equal c ON a.b && c.b',
	'finding in two inputs' => 'SET enable_nestloop = off; SELECT count(*) FROM equal a JOIN equal c ON a.b && c.b AND c.id > 0',
	'filtering' => 'SELECT count(*) FROM equal a JOIN equal c ON a.b && c.b AND a.id + c.id < 0',
	'filtering for one match' => 'SELECT count(*) FROM equal a WHERE NOT EXISTS (SELECT FROM equal c WHERE a.b && c.b AND a.id + c.id < 0)',
	'searching for each row' => q{SELECT count(*) FROM many a JOIN many c ON a.b << c.b AND a.id + c.id < 0},
	'searching in vain' => q{SELECT count(*) FROM equal a JOIN equal c ON a.b @> c.b AND a.b &&+ c.b AND a.b << c.b});

foreach my $what (sort keys %queries)
{
	my $plan = $node->safe_psql('postgres', $queries{$what} =~ s/SELECT count/EXPLAIN SELECT count/r);
	like($plan, qr/BVH Join/, "$what: plan");

	# at moments that are spread over what the query does
	my $slowest = 0;
	foreach my $timeout (50, 130, 300, 700, 1300)
	{
		my $start = time;
		my ($ret, undef, $err) = $node->psql('postgres', "SET statement_timeout = '${timeout}ms'; $queries{$what}");
		my $late = time - $start - $timeout / 1000;

		# fast machines may be done before
		next if $ret == 0;
		like($err, qr/canceling statement due to statement timeout/, "$what: stopped after $timeout ms");
		$slowest = $late if $late > $slowest;
	}
	cmp_ok($slowest, '<', 1, sprintf('%s: stops in %.3f s', $what, $slowest));
	is(join(' ', temporary_files()), '', "$what: no temporary files are left");
}

# the user stops it, and goes on in the same session
my ($in, $out, $err) = ('', '', '');
my $timer = IPC::Run::timer(60);
my $session = IPC::Run::start(
	[ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$err, $timer);
$in .= "SELECT 'pid', pg_backend_pid();\n";
$session->pump until $out =~ /pid\|(\d+)\n/;
my ($pid) = $out =~ /pid\|(\d+)\n/;
foreach my $what ('dividing', 'filtering')
{
	$err = '';
	$out = '';
	$in .= "$queries{$what};\n";
	$session->pump_nb;
	$node->poll_query_until('postgres', "SELECT state = 'active' FROM pg_stat_activity WHERE pid = $pid");
	sleep(0.4);
	my $start = time;
	$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
	$session->pump until $err =~ /ERROR/;
	like($err, qr/canceling statement due to user request/, "$what: cancelled");
	cmp_ok(time - $start, '<', 1, "$what: within a second");
	is(join(' ', temporary_files()), '', "$what: no temporary files are left");
	$in .= "SELECT 'answer', count(*) FROM equal a JOIN equal c ON a.b && c.b AND a.id < 3 AND c.id < 5;\n";
	$session->pump until $out =~ /answer\|(\d+)\n/;
	is($1, 8, "$what: the next query answers");
}
$in .= "\\q\n";
$session->finish;

# an error of an expression, in each part
foreach my $query (
	'SELECT count(*) FROM many a JOIN many c ON a.b && box3d_translate(c.b, 1 / (c.id - 500000), 0, 0)',
	'SELECT count(*) FROM many a JOIN many c ON box3d_translate(a.b, 1 / (a.id - 500000), 0, 0) && c.b',
	'SELECT count(*) FROM many a JOIN many c ON a.b && c.b AND 1 / (a.id + c.id - 1000000) = 1')
{
	my ($ret, undef, $stderr) = $node->psql('postgres', "SET work_mem = '1MB'; $query");
	like($stderr, qr/division by zero/, 'an error is one: ' . ($query =~ s/.* ON //r));
	is(join(' ', temporary_files()), '', 'and leaves no temporary files');
}

# A cursor that is left open halfway, and then closed or forgotten
foreach my $end ('CLOSE c; COMMIT', 'ROLLBACK', 'COMMIT')
{
	is($node->safe_psql('postgres', qq{
		BEGIN;
		SET LOCAL work_mem = '1MB';
		DECLARE c CURSOR FOR SELECT a.id FROM many a JOIN many c ON a.b && c.b;
		MOVE 1000 IN c;
		$end;
		SELECT count(*) FROM pg_ls_tmpdir();}), '0', "no temporary files after: $end");
}

# memory, as the kernel counts it: a session that joins the rows in several passes
# beside one that joins hardly any
SKIP:
{
	my $resident = q{SELECT 'kB', substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)'),
		substring(pg_read_file('/proc/self/status') FROM 'RssShmem:\s+(\d+)')};
	skip('no /proc', 4) if !-e '/proc/self/status';
	foreach my $memory (4, 16)
	{
		my @private;
		foreach my $join ('a.id < 0', 'a.id < c.id')
		{
			my $out = $node->safe_psql('postgres', qq{
				SET work_mem = '${memory}MB';
				SET hash_mem_multiplier = 2;
				SELECT count(*), sum(box3d_volume(b)) FROM many;
				EXPLAIN (ANALYZE, TIMING OFF) SELECT count(*) FROM many a JOIN many c ON a.b && c.b AND $join;
				$resident});
			my ($most, $shared) = $out =~ /kB\|(\d+)\|(\d+)/;
			push @private, $most - $shared;
			next if $join !~ /</ || $join =~ /0/;
			my ($passes, $peak) = $out =~ /Passes: (\d+)  Memory Usage: (\d+)kB/;
			cmp_ok($passes, '>', 1, "work_mem ${memory} MB: $passes passes");
			cmp_ok($peak, '<=', $memory * 2 * 1024 * 1.1, "work_mem ${memory} MB: $peak kB by our own count");
		}
		my $used = $private[1] - $private[0];
		# 2 MB for the rest of a session that does more
		cmp_ok($used, '<=', $memory * 2 * 1024 * 1.1 + 2048, "work_mem ${memory} MB: $used kB by the kernel's count");
	}
}

$node->stop;
done_testing();
