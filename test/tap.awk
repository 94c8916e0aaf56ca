# Counts the tests in the verbose output of prove, and in that of pg_regress and
# pg_isolation_regress in both of their formats (their own to 15, TAP from 16).
#
# Writes "passed failed skipped" to the file named by the variable "tally", and
# the lines about failures to standard output.

# prove's summary comes last and only when something failed.  A program in it
# without a failed test has crashed, or has run fewer tests than it planned:
# that counts as one failure.
# There may be several proves, one after the other.
/^Test Summary Report/ { in_summary = 1 }
/^Result: / { in_summary = 0; next }
in_summary && /\(Wstat: .*Tests: / {
	unexplained = /Failed: 0\)/
	if (unexplained && !/\(Wstat: 0 /)
	{
		failed++
		unexplained = 0
	}
}
in_summary && /^ *Parse errors:/ && unexplained {
	failed++
	unexplained = 0
}
in_summary { print; next }

# pg_regress to 15: "test box3d_io        ... ok          12 ms", or an indented
# line of the same kind in a parallel group
/^(test |     )[^ ]+ +\.\.\. ok/ { passed++; next }
/^(test |     )[^ ]+ +\.\.\. FAILED/ { failed++; print; next }

# TAP; subtests are indented and belong to their parent
/^ok [0-9]+/ {
	if ($0 ~ /# *[Ss][Kk][Ii][Pp]/)
		skipped++
	else
		passed++
	telling = 0
	next
}
/^not ok [0-9]+/ {
	telling = 0
	if ($0 ~ /# *TODO/)
		passed++
	else
	{
		failed++
		print
		telling = 1
	}
	next
}

# the diagnosis that follows a failure, and what stops a program
/^ *#/ { if (telling) print; next }
/^Bail out!|^TRAP:|ERROR: (Address|Leak|Undefined)|runtime error:|^==[0-9]+==ERROR|[Aa]ssertion.*failed|^psql:.*(ERROR|FATAL)|Can't locate/ { print }
{ telling = 0 }

END { print passed + 0, failed + 0, skipped + 0 > tally }
