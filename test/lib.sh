# Sourced by the test scripts: where things are, and who runs the server.
#
#   ROOT     the checkout
#   RUN      where servers and their binaries live: $ROOT/build, or a directory elsewhere when the
#            server's user can't enter the checkout; build/stage and build/servers lead there
#   STAGE    a copy of the server's tree with the extension installed
#   PGBIN    its programs
#
# PostgreSQL refuses to run as root, so root hands the server to an unprivileged user
# ($BIFANG_TEST_USER, default postgres). Anyone else runs it as themselves.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
PG_CONFIG=${PG_CONFIG:-pg_config}

if [ "$(id -u)" = 0 ]; then
	SERVER_USER=${BIFANG_TEST_USER:-postgres}
else
	SERVER_USER=$(id -un)
fi

die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

# Runs a command as the user who owns the servers.
as_server() {
	if [ "$(id -u)" = 0 ]; then
		(cd / && exec setpriv --reuid="$SERVER_USER" --regid="$(id -gn "$SERVER_USER")" --init-groups \
			env HOME="$RUN" "$@")
	else
		"$@"
	fi
}

# The server's user needs to enter RUN, and nobody else needs to read it.
find_run_dir() {
	mkdir -p "$ROOT/build"
	RUN=$ROOT/build
	if [ "$(id -u)" = 0 ]; then
		id "$SERVER_USER" >/dev/null 2>&1 || die "no user $SERVER_USER to run the server as"
		if ! as_server test -x "$ROOT/build" -a -r "$ROOT/build"; then
			RUN=$(cat "$ROOT/build/run.path" 2>/dev/null)
			if [ -z "$RUN" ] || [ ! -d "$RUN" ]; then
				RUN=$(mktemp -d -t bifang.XXXXXXXX)
				chmod 711 "$RUN"
				echo "$RUN" >"$ROOT/build/run.path"
			fi
		fi
	fi
	if [ "$RUN" != "$ROOT/build" ]; then
		mkdir -p "$RUN/stage" "$RUN/servers"
		ln -sfn "$RUN/stage" "$ROOT/build/stage"
		ln -sfn "$RUN/servers" "$ROOT/build/servers"
	fi
	mkdir -p "$RUN/servers"
	chmod 755 "$RUN/servers"
}

# The pg_config that is asked is Debian's wrapper or the real one; both know these.
find_stage() {
	local bindir
	bindir=$("$PG_CONFIG" --bindir) || die "no pg_config; run make deps"
	STAGE=$RUN/stage
	PGBIN=$STAGE$bindir
	PGLIB=$STAGE$("$PG_CONFIG" --pkglibdir)
	PGSHARE=$STAGE$("$PG_CONFIG" --sharedir)
}

find_run_dir
find_stage
