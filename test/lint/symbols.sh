#!/bin/bash
# The library shows the server its entry points and nothing else, and all those that the SQL script
# names. And what it takes from a library must not be a name that the server has too: the server's
# would be found first.
#   test/lint/symbols.sh path/to/bifang_fdw.so
cd "$(dirname "$0")/../.." || exit 2
so=${1:-build/pg/bifang_fdw.so}
[ -f "$so" ] || {
	echo "$so: not built"
	exit 2
}
fail=0
shown=$(nm -D --defined-only "$so" | awk '{print $3}' | sed 's/@.*//')
if echo "$shown" | grep -vxE 'Pg_magic_func|_PG_init|pg_finfo_bifang_[a-z0-9_]+|bifang_[a-z0-9_]+'; then
	echo "these symbols must not be exported"
	fail=1
fi
for must in Pg_magic_func _PG_init \
	$(cat sql/bifang_fdw--*.sql | tr '\n' ' ' | grep -oE "'MODULE_PATHNAME' *, *'[a-z0-9_]+'" | cut -d"'" -f4 | sort -u); do
	echo "$shown" | grep -qx "$must" || {
		echo "$must is needed and not there"
		fail=1
	}
done

server=$(${PG_CONFIG:-pg_config} --bindir)/postgres
nm -D --defined-only "$server" | awk '{print $3}' | sed 's/@.*//' | sort -u >"$so.server"
for lib in $(ldd "$so" | awk '/=>/ {print $3}' | grep -vE '/lib(c|m|pthread|dl|pq|gcc_s|stdc\+\+)\.so'); do
	nm -D --defined-only "$lib" | awk '{print $3}' | sed 's/@.*//' | sort -u |
		comm -12 - "$so.server" | comm -12 - <(nm -D -u "$so" | awk '{print $2}' | sed 's/@.*//' | sort -u) |
		sed "s#\$# is meant to come from $(basename "$lib"), but the server has that name too#" | grep . && fail=1
done
rm -f "$so.server"
exit $fail
