# A streaming standby answers as its primary: replay needs no code of this
# extension, and the library is loaded nowhere in advance.
#
# README: "No library has to be preloaded."

use strict;
use warnings;

use FindBin;
use lib $FindBin::RealBin;
use Test::More;

use BvhTest;

my ($primary, $standby) = streaming_pair('gist');
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

replay_changes($primary, $standby, \&same);

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
