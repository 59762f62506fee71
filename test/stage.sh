#!/bin/bash
# Builds the extension out of the source tree and installs it into a private copy of the server, so
# that nothing of the system changes. The copy works because PostgreSQL finds its files relative to
# its own programs. Safe to call from several shells at once.
set -e
. "$(dirname "$0")/lib.sh"

exec 9>"$RUN/stage.lock"
flock 9

# With CHECKED the assertions of both worlds are compiled in; the server has what they call. A warning
# is a failure then.
objects=$ROOT/build/pg flags=
if [ -n "$CHECKED" ]; then
	objects=$ROOT/build/pg-checked flags="-DUSE_ASSERT_CHECKING -DBF_DEBUG -Werror"
fi
# A Makefile of its own there: PGXS takes the directory of the first one for VPATH, and through that
# would find what `make` has left beside the sources.
mkdir -p "$objects"
echo "include $ROOT/Makefile" >"$objects/Makefile"
make --no-print-directory -s -j"${JOBS:-2}" -C "$objects" SRC="$ROOT/" \
	PG_CONFIG="$PG_CONFIG" with_llvm=no COPT="$flags" all-lib 9>&- ||
	die "the extension does not build"

if [ ! -x "$PGBIN/postgres" ]; then
	echo "copying the server to $STAGE"
	for dir in --bindir --pkglibdir --sharedir; do
		from=$("$PG_CONFIG" $dir)
		mkdir -p "$STAGE$from"
		cp -a --reflink=auto "$from/." "$STAGE$from/"
	done
	chmod -R a+rX "$STAGE"
fi

# By rename, so that a running server keeps the library that it has mapped.
put() {
	install -m "$1" "$2" "$3.new.$$"
	mv -f "$3.new.$$" "$3"
}
put 755 "$objects/bifang_fdw.so" "$PGLIB/bifang_fdw.so"
put 644 "$ROOT/bifang_fdw.control" "$PGSHARE/extension/bifang_fdw.control"
for sql in "$ROOT"/sql/bifang_fdw--*.sql; do
	put 644 "$sql" "$PGSHARE/extension/$(basename "$sql")"
done

# What the server itself reads in tests has to be where its user can go.
if [ -d "$ROOT/test/data" ]; then
	mkdir -p "$RUN/data"
	cp -a "$ROOT/test/data/." "$RUN/data/"
	# Files that the sources don't have any more would turn up in globs.
	(cd "$RUN/data" && find . -type f -print0) | while IFS= read -r -d '' file; do
		[ -e "$ROOT/test/data/$file" ] || rm -f "$RUN/data/$file"
	done
	chmod -R a+rX "$RUN/data"
fi
