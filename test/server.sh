#!/bin/bash
# Private servers for tests and for trying things out.
#
#   test/server.sh start NAME [fresh] [setting=value ...]   make it if needed (fresh: anew), start it;
#                                        settings are kept
#   test/server.sh stop NAME [fast|immediate]
#   test/server.sh restart NAME
#   test/server.sh crash NAME            kill -9 of the whole server
#   test/server.sh drop NAME             stop it and remove all that it has
#   test/server.sh psql NAME [args ...]  psql as the superuser
#   test/server.sh env NAME              shell lines that point PGHOST, PGPORT, PGUSER, PATH to it
#   test/server.sh path NAME             its directory: the server can read what is put there
#   test/server.sh data NAME             its data directory
#   test/server.sh log NAME              its log file
#   test/server.sh status NAME
#   test/server.sh drop-all              all that there are; comes before make clean
#
# An instance lives in build/servers/NAME, listens on a Unix socket only and runs with fsync on, from
# the binaries that `make stage` made.
. "$(dirname "$0")/lib.sh"

usage() {
	sed -n '2,19s/^# \{0,1\}//p' "$0"
	exit 2
}

if [ "${1:-}" = drop-all ]; then
	for instance in "$RUN"/servers/*/data; do
		[ -d "$instance" ] || continue
		instance=$(basename "$(dirname "$instance")")
		[ "$("$0" status "$instance")" = stopped ] || echo "stopping the server $instance"
		"$0" drop "$instance"
	done
	if [ "$RUN" != "$ROOT/build" ]; then rm -rf "$RUN"; fi
	exit 0
fi
[ $# -ge 2 ] || usage
command=$1
name=$2
shift 2
case $name in
	*[!a-z0-9_]* | "") die "a server's name has lower-case letters, digits and _" ;;
esac

dir=$RUN/servers/$name
data=$dir/data
log=$dir/log
# Below 32768, so that no outgoing connection of the machine has it; it only names the socket.
port=$((20000 + $(echo "$ROOT/$name" | cksum | cut -d' ' -f1) % 10000))
# A socket's path has at most 107 bytes.
socket=$dir
if [ ${#socket} -gt 80 ]; then
	socket=${TMPDIR:-$(dirname "$(mktemp -u)")}/bifang-$(echo "$dir" | cksum | cut -d' ' -f1)
fi

running() {
	as_server "$PGBIN/pg_ctl" -D "$data" status >/dev/null 2>&1
}

create() {
	install -d -m 700 -o "$SERVER_USER" "$dir" "$socket" || exit 1
	as_server "$PGBIN/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 \
		--no-sync >"$dir.initdb.log" 2>&1 || {
		cat "$dir.initdb.log" >&2
		die "initdb failed"
	}
	rm -f "$dir.initdb.log"
	as_server tee -a "$data/postgresql.conf" >/dev/null <<-CONF
		port = $port
		listen_addresses = ''
		unix_socket_directories = '$socket'
		fsync = on
		shared_buffers = 64MB
		jit = off
		max_prepared_transactions = 16
		log_line_prefix = '%m [%p] %q%a '
		log_statement = 'none'
		include_if_exists = 'extra.conf'
	CONF
}

start() {
	[ -x "$PGBIN/postgres" ] || die "no server to run; make stage first"
	exec 8>"$dir.lock"
	flock 8
	if [ "$1" = fresh ]; then
		shift
		stop immediate
		rm -rf "$dir"
	fi
	[ -s "$data/PG_VERSION" ] || create
	for setting in "$@"; do
		echo "${setting%%=*} = '${setting#*=}'" | as_server tee -a "$data/extra.conf" >/dev/null
	done
	if ! running; then
		as_server "$PGBIN/pg_ctl" -D "$data" -w -t 60 -s -l "$log" start 8>&- || {
			tail -20 "$log" >&2
			die "the server did not start"
		}
	fi
}

stop() {
	if running; then
		as_server "$PGBIN/pg_ctl" -D "$data" -w -s -m "${1:-fast}" stop
	fi
}

crash() {
	local pid
	pid=$(head -1 "$data/postmaster.pid") || die "not running"
	# The postmaster first, stopped so that it restarts nothing; its children are found by parent.
	kill -STOP "$pid" && kill -9 $(ps -o pid= --ppid "$pid") "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}

case $command in
	start) start "$@" ;;
	stop) stop "$@" ;;
	restart)
		stop
		start "$@"
		;;
	crash) crash ;;
	drop)
		stop immediate
		rm -rf "$dir" "$dir.lock"
		if [ "$socket" != "$dir" ]; then rm -rf "$socket"; fi
		;;
	psql) exec env PGHOST="$socket" PGPORT="$port" PGUSER=postgres \
		BIFANG_TEST_DATA="$RUN/data" "$PGBIN/psql" -X "$@" ;;
	env)
		echo "export PGHOST='$socket' PGPORT=$port PGUSER=postgres PGDATABASE=postgres"
		echo "export BIFANG_TEST_DATA='$RUN/data' PATH='$PGBIN':\"\$PATH\""
		;;
	path) echo "$dir" ;;
	data) echo "$data" ;;
	log) echo "$log" ;;
	status) if running; then echo running; else
		echo stopped
		exit 3
	fi ;;
	*) usage ;;
esac
