#!/bin/bash
# pg_regress: sql/*.sql against expected/*.out, on a private server of its own.
#   test/regress.sh [--installed] [name ...]
# With --installed on the server that PGHOST and PGPORT lead to, on this machine, into which the
# extension was installed; PGUSER is a superuser of it.
# The database has the extension; `\getenv data BIFANG_TEST_DATA` leads to the test data.
. "$(dirname "$0")/lib.sh"

installed=no
if [ "${1:-}" = --installed ]; then
	installed=yes
	shift
fi
tests=$*
if [ -z "$tests" ]; then
	for f in "$ROOT"/sql/*.sql; do
		case $f in */bifang_fdw--*) ;; *) tests="$tests $(basename "$f" .sql)" ;; esac
	done
fi
[ -n "$tests" ] || {
	echo "no regression tests"
	exit 1
}
# Pg_regress gives up at a missing file; here that is one failed test.
missing=0
for t in $tests; do
	if [ -f "$ROOT/expected/$t.out" ]; then
		have="$have $t"
	else
		echo "test $t ... FAILED (no expected/$t.out)"
		missing=1
	fi
done
tests=$have
[ -n "$tests" ] || exit $missing

if [ "$installed" = yes ]; then
	# Named as in the checkout, since messages name it.
	copy=$(mktemp -d -t bifang-data.XXXXXXXX)
	trap 'rm -rf "$copy"' EXIT
	BIFANG_TEST_DATA=$copy/data
	cp -r "$ROOT/test/data" "$BIFANG_TEST_DATA"
	chmod -R a+rX "$copy"
	# Files that have just changed are not kept in caches.
	find "$copy" -type f -exec touch -d 2020-01-01 {} +
	export BIFANG_TEST_DATA
	PGBIN=$("$PG_CONFIG" --bindir)
	PGHOST=${PGHOST:-$("$PGBIN/psql" -X -A -t -d postgres -c 'SHOW unix_socket_directories' | cut -d, -f1)}
	PGPORT=${PGPORT:-5432}
else
	"$ROOT/test/server.sh" start regress fresh || exit 1
	eval "$("$ROOT/test/server.sh" env regress)"
fi
out=$ROOT/build/regress
mkdir -p "$out"
# Pg_regress runs as whoever calls; only the server needs another user.
"$("$PG_CONFIG" --pkglibdir)/pgxs/src/test/regress/pg_regress" --inputdir="$ROOT" --outputdir="$out" \
	--bindir="$PGBIN" --host="$PGHOST" --port="$PGPORT" --user="${PGUSER:-postgres}" --dbname=regression \
	--encoding=UTF8 --load-extension=bifang_fdw $tests
rc=$?
[ $rc = 0 ] || cat "$out/regression.diffs" 2>/dev/null | head -"${DIFF_LINES:-200}"
[ "$installed" = yes ] || "$ROOT/test/server.sh" stop regress
[ $rc = 0 ] && exit $missing
exit $rc
