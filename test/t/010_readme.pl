# Runs every SQL command of README.md in order, in a fresh database, and compares
# the output with the "text" block that follows, where there is one; likewise those
# of the recipes.  Then looks whether the shell commands exist.
use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $readme = slurp_file('README.md');
my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init;
# the section about the cache says so
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'bvhindex'\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION bvhindex');

# The first block shows what is possible before the table is there.
my $session = run_document('README.md', 1);
run_document('docs/moving-objects.md', 0);

# the opening commands, on the table of the others
my ($opening) = $readme =~ /^```sql\n(.*?)^```$/ms;
my ($ret, undef, $err) = run_psql($session . $opening);
is($ret, 0, 'runs: the opening commands') or diag($err);

# every make target that README.md and CONTRIBUTING.md name
my $text = $readme . slurp_file('CONTRIBUTING.md');
my %targets = map { $_ => 1 } $text =~ /`make ([a-z-]+)`/g;
for my $target (sort keys %targets)
{
	my $status = system("make -n $target >/dev/null 2>&1");
	is($status, 0, "make $target exists");
}

$node->stop;
done_testing();

# run_document(file, first): the blocks of a document, from the first-th SQL one on; all
# that they say, as one script
sub run_document
{
	my ($file, $first) = @_;
	my @blocks = slurp_file($file) =~ /^```(\w+)\n(.*?)^```$/msg;
	my $session = '';
	my $nsql = 0;
	while (my ($kind, $text) = splice(@blocks, 0, 2))
	{
		if ($kind eq 'sql')
		{
			next if $nsql++ < $first;
			# each block sees what the ones before it did
			my ($ret, $out, $err) = run_psql($session . "\\o\n" . $text);
			is($ret, 0, "$file runs: " . (split /\n/, $text)[0]) or diag($err);
			$session .= "\\o /dev/null\n" . $text;
			if (@blocks && $blocks[0] eq 'text')
			{
				$out =~ s/[ \t]+$//mg;
				(my $wanted = $blocks[1]) =~ s/[ \t]+$//mg;
				is(tail_of($out, $wanted), $wanted, "and prints what $file says");
			}
		}
		elsif ($kind eq 'sh')
		{
			# make itself is what builds the library that this test uses
			like($text, qr/^make$/m, 'is built by make');
			ok(-e 'Makefile', 'and there is a Makefile');
		}
	}
	cmp_ok($nsql, '>', 5, "$file has commands");
	return $session;
}

# a fresh database for each run, or the blocks would meet their own leftovers
sub run_psql
{
	my ($sql) = @_;
	my ($stdout, $stderr);

	$node->safe_psql('postgres', 'DROP DATABASE IF EXISTS readme');
	$node->safe_psql('postgres', 'CREATE DATABASE readme');
	$node->safe_psql('readme', 'CREATE EXTENSION bvhindex');
	my $ret = $node->psql(
		'readme', $sql,
		stdout => \$stdout,
		stderr => \$stderr,
		on_error_stop => 1,
		extra_params => [ '-P', 'tuples_only=off', '-P', 'format=aligned' ]);
	return ($ret, $stdout, $stderr);
}

# the last lines of the output, as many as are wanted
sub tail_of
{
	my ($out, $wanted) = @_;
	my @out = split /\n/, $out;
	my $n = () = $wanted =~ /\n/g;

	@out = @out[ -$n .. -1 ] if @out > $n;
	return join("\n", @out) . "\n";
}
