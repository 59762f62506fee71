#!/bin/bash
# pg_isolation_regress: test/isolation/specs/*.spec, on a private server of its own.
#   test/isolation.sh [name ...]
. "$(dirname "$0")/lib.sh"

tests=$*
[ -n "$tests" ] || tests=$(cd "$ROOT/test/isolation/specs" 2>/dev/null && ls *.spec 2>/dev/null | sed 's/\.spec$//')
[ -n "$tests" ] || {
	echo "no isolation tests"
	exit 1
}
"$ROOT/test/server.sh" start isolation fresh || exit 1
eval "$("$ROOT/test/server.sh" env isolation)"
out=$ROOT/build/isolation
mkdir -p "$out"
"$("$PG_CONFIG" --pkglibdir)/pgxs/src/test/isolation/pg_isolation_regress" \
	--inputdir="$ROOT/test/isolation" --outputdir="$out" --bindir="$PGBIN" --host="$PGHOST" \
	--port="$PGPORT" --user=postgres --dbname=isolation --load-extension=bifang_fdw $tests
rc=$?
[ $rc = 0 ] || cat "$out/regression.diffs" 2>/dev/null | head -"${DIFF_LINES:-200}"
"$ROOT/test/server.sh" stop isolation
exit $rc
