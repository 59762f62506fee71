#!/bin/bash
# Installs the Debian packages that building and testing need, or says which command would.
#   test/deps.sh build|test|deb [check]
# `build` is what building and the demo need, `test` (the default) the tests' own on top, `deb` what
# makes Debian packages. With `check` it only tells whether something is missing.
for=test
case ${1:-} in build | test | deb) for=$1 && shift ;; esac

if ! command -v apt-get >/dev/null; then
	echo "deps: no apt here. Needed: PostgreSQL 15 or later with server headers and pg_regress, and the" \
		"development files of zstd, lz4, snappy, zlib, brotli, jansson, xxhash, roaring, libpq;" \
		"for tests IPC::Run (Perl) and util-linux"
	exit 0
fi

# Who may install, in a word that goes before the command; "no" = nobody here.
if [ "$(id -u)" = 0 ]; then
	sudo=
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
	sudo=sudo
else
	sudo=no
fi

# A new machine or image has no list of packages yet.
if [ "$sudo" != no ] && ! apt-cache show zlib1g-dev >/dev/null 2>&1; then
	echo "deps: ${sudo:+$sudo }apt-get update"
	$sudo apt-get update -qq || exit 1
fi

# The server that is there, else the distribution's.
if command -v "${PG_CONFIG:-pg_config}" >/dev/null; then
	major=$("${PG_CONFIG:-pg_config}" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
else
	major=$(apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -1)
fi
major=${PG_MAJOR:-${major:-15}}
if [ "$major" -lt 15 ]; then
	echo "deps: PostgreSQL 15 or later is needed, and here is $major. The PostgreSQL project's own packages" \
		"(PGDG) have it; then: make deps PG_MAJOR=17"
	exit 1
fi

packages="gcc make libc6-dev util-linux procps
	postgresql-$major postgresql-client-$major postgresql-server-dev-$major
	libzstd-dev liblz4-dev libsnappy-dev zlib1g-dev libbrotli-dev libjansson-dev libxxhash-dev
	libpq-dev libicu-dev"
if [ "$for" = deb ]; then packages="$packages build-essential debhelper postgresql-server-dev-all"; fi
if [ "$for" = test ]; then
	packages="$packages git bsdextrautils libipc-run-perl libroaring-dev"
	# The layout is checked with the release that Debian 12 has, where there is one.
	if apt-cache show clang-format-14 >/dev/null 2>&1; then packages="$packages clang-format-14"; fi
fi

missing=
for p in $packages; do
	dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
[ "$1" = check ] && {
	echo "deps: missing:$missing"
	exit 1
}

install="apt-get install -y --no-install-recommends$missing"
if [ "$sudo" = no ]; then
	echo "deps: not root, and no sudo without a password. Please run:"
	echo "  sudo $install"
	exit 1
fi
echo "deps: ${sudo:+$sudo }$install"
# Debian's package would start a server of its own; these tests bring theirs.
if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
	$sudo mkdir -p /etc/postgresql-common
	echo "create_main_cluster = false" | $sudo tee /etc/postgresql-common/createcluster.conf >/dev/null
fi
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get update -qq && $sudo env DEBIAN_FRONTEND=noninteractive $install >/dev/null
