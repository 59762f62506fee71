#!/bin/bash
# TAP tests with PostgreSQL::Test: test/tap/t/*.pl, each with servers of its own.
#   test/tap.sh [file ...]
# They start servers, so they run as the server's user, from copies where that user can go.
. "$(dirname "$0")/lib.sh"

files=$*
[ -n "$files" ] || files=$(ls "$ROOT"/test/tap/t/*.pl 2>/dev/null)
[ -n "$files" ] || {
	echo "no TAP tests"
	exit 1
}
pgxs=$("$PG_CONFIG" --pkglibdir)/pgxs
dir=$RUN/tap
rm -rf "$dir"
mkdir -p "$dir/tmp"
cp -r "$ROOT/test/tap/." "$dir/"
make --no-print-directory -s -C "$ROOT" large-table >/dev/null || die "the tool for large tables cannot be built"
cp "$ROOT/build/core/large_table" "$dir/tmp/"
chmod -R a+rX "$dir"
if [ "$(id -u)" = 0 ]; then chown -R "$SERVER_USER" "$dir"; fi

# The path of a socket is short; PostgreSQL::Test puts it into TMPDIR.
export TMPDIR=${TMPDIR:-$(dirname "$(mktemp -u)")}
export PATH="$PGBIN:$PATH" PG_REGRESS="$pgxs/src/test/regress/pg_regress"
export TESTDATADIR="$dir/tmp" TESTLOGDIR="$dir/tmp/log" TESTDIR="$dir" PGPORT=26543
export BIFANG_LARGE_TABLE="$dir/tmp/large_table"
export BIFANG_TEST_DATA="$RUN/data" BIFANG_CORPUS LANG=C.UTF-8
fail=0
for f in $files; do
	name=$(basename "$f")
	echo "# $name"
	as_server perl -I "$pgxs/src/test/perl" -I "$dir" "$dir/t/$name" 2>&1
	rc=$?
	[ $rc = 0 ] || {
		echo "not ok - $name ended with $rc"
		# What it died of, and what its servers said.
		tail -"${TAIL:-20}" "$dir/tmp_check/log/regress_log_${name%.pl}" 2>/dev/null | sed 's/^/# /'
		fail=1
	}
done
exit $fail
