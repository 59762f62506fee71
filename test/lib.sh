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
		id "$SERVER_USER" >/dev/null 2>&1 ||
			die "PostgreSQL does not run as root, and there is no user $SERVER_USER: make deps, or useradd --system $SERVER_USER"
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

# The pg_config that is asked is Debian's wrapper, the real one, or the one of the copy itself (whoever
# evaluates `server.sh env` has that first in the path); all know these.
server_path() {
	local path
	path=$("$PG_CONFIG" "$1") || die "$PG_CONFIG does not tell where PostgreSQL is; as root, or with sudo: make deps"
	echo "$STAGE${path#"$STAGE"}"
}

find_stage() {
	STAGE=$RUN/stage
	PGBIN=$(server_path --bindir) || exit 1
	PGLIB=$(server_path --pkglibdir)
	PGSHARE=$(server_path --sharedir)
}

# What failed is told again at the end, where it is seen even when only the end is kept: of each
# step the first failures, with where they were, what came and what should have.
failures=()
note_failed() {
	local what line
	what=$(grep -E -A8 '^(test .*\.\.\. FAILED|not ok|FAIL)' "$2" | grep -v '^ok ' | head -40)
	[ -n "$what" ] || what=$(tail -15 "$2")
	while read -r line; do failures+=("$1: $line"); done < <(cut -c1-220 <<<"$what")
}
tell_failed() {
	local line
	for line in "${failures[@]}"; do
		echo "FAILED $line"
	done
}

find_run_dir
find_stage
