#!/bin/bash
# The two commands of README.md on machines that have nothing: in new trees of Debian 12 (PostgreSQL
# 15), 13 (17) and sid (18), as root and as a user with sudo. Needs root and debootstrap; where there
# is none of them, everything counts as skipped.
#   test/fresh.sh [SUITE ...]      default: bookworm trixie sid
#   WHAT="demo test"               which of the two commands; deb makes packages
#   WHO="root sudo"                as whom
#   FRESH=DIR                      where trees are kept, default build/fresh; a tree that is there is
#                                  copied, not made anew
cd "$(dirname "$0")/.." || exit 2
suites=${*:-bookworm trixie sid}
trees=${FRESH:-$PWD/build/fresh}
what=${WHAT:-demo test}
who=${WHO:-root sudo}
passed=0 failed=0 skipped=0

result() {
	echo "$2 $1"
	case $2 in
		ok) passed=$((passed + 1)) ;;
		FAILED) failed=$((failed + 1)) ;;
		skipped) skipped=$((skipped + 1)) ;;
	esac
}

# Commands inside of a tree; its mounts go with them.
inside() {
	local tree=$1
	shift
	unshare --mount --fork sh -c 'mount -t proc proc "$1/proc" && mount --bind /dev "$1/dev" &&
		mount -t devpts devpts "$1/dev/pts" && shift && exec chroot "$@"' sh "$tree" "$tree" \
		env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv LANG=C.UTF-8 "$@"
}

bare_tree() {
	local suite=$1 base=$trees/$1
	[ ! -x "$base/bin/sh" ] || return 0
	debootstrap --variant=minbase "$suite" "$base.new" >"$base.log" 2>&1 || return 1
	# A mirror may lag behind the date of a suite that changes daily.
	echo 'Acquire::Check-Valid-Until "false";' >"$base.new/etc/apt/apt.conf.d/90valid"
	mv "$base.new" "$base"
}

# A copy without any package list, as images are; make alone is there.
new_tree() {
	local suite=$1 tree=$2
	rm -rf "$tree"
	cp -a "$trees/$suite" "$tree" && mkdir -p "$tree/srv/bifang" || return 1
	git ls-files -co --exclude-standard -z | tar --null -T - -cf - | tar -xf - -C "$tree/srv/bifang"
	inside "$tree" sh -c 'apt-get update -qq && apt-get install -y -qq make sudo &&
		useradd -m dev && echo "dev ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/dev &&
		chown -R dev: /srv/bifang && rm -rf /var/lib/apt/lists/*' >"$tree.log" 2>&1
}

one() {
	local suite=$1 user=$2 command=$3 tree=$trees/$1-$2-$3
	local as=()
	[ "$user" = root ] || as=(setpriv --reuid=dev --regid=dev --init-groups env HOME=/srv)
	new_tree "$suite" "$tree" || {
		result "$suite, $user: a bare tree ($tree.log)" FAILED
		return
	}
	if inside "$tree" "${as[@]}" make -C /srv/bifang "$command" >>"$tree.log" 2>&1; then
		result "$suite, $user: make $command$(grep -E '^[0-9]+ passed, ' "$tree.log" | tail -1 | sed 's/^/: /')" ok
		rm -rf "$tree"
	else
		tail -30 "$tree.log"
		result "$suite, $user: make $command ($tree.log)" FAILED
	fi
}

mkdir -p "$trees"
for suite in $suites; do
	for user in $who; do
		for command in $what; do
			if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
				result "$suite, $user: make $command (needs root and debootstrap)" skipped
			elif ! bare_tree "$suite"; then
				result "$suite, $user: make $command (no tree to be had, $trees/$suite.log)" skipped
			else
				one "$suite" "$user" "$command"
			fi
		done
	done
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
