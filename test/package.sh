#!/bin/bash
# What packagers get.
#   test/package.sh check    do META.json, the control file, the changelogs and the files agree?
#   test/package.sh dist     build/bifang_fdw-VERSION.zip, as PGXN takes it: what is committed
#   test/package.sh deb      Debian packages in build/deb, one for each PostgreSQL that is there with headers
# check ends with `N passed, N failed, N skipped`.
cd "$(dirname "$0")/.." || exit 2
root=$PWD

die() {
	echo "package: $*" >&2
	exit 1
}
version=$(sed -n 's/^   "version": "\(.*\)",$/\1/p' META.json)
extension=$(sed -n "s/^default_version = '\(.*\)'$/\1/p" bifang_fdw.control)

check() {
	local passed=0 failed=0 ref script
	script=$(ls sql/bifang_fdw--*"-$extension.sql")
	agree() {
		if [ "$2" = "$3" ]; then
			passed=$((passed + 1))
		else
			failed=$((failed + 1))
			echo "FAIL $1: \"$2\", expected \"$3\""
		fi
	}
	agree "META.json is JSON with all that PGXN asks for" "$(perl -MJSON::PP -0777 -e '
		my $m = decode_json(<>);
		my $p = $m->{provides}{$m->{name}};
		print join " ", grep { !defined } @$m{qw(name abstract version maintainer license provides)}, $p->{file};
		print "$m->{name} $p->{version} $p->{file} $p->{docfile}";' META.json 2>&1)" \
		"bifang_fdw $version $script README.md"
	agree "a version of three numbers" "$(echo "$version" | grep -cE '^[0-9]+\.[0-9]+\.[0-9]+$')" 1
	agree "the extension's version within it" "${version%.*}" "$extension"
	agree "one script leads to the control file's version" "$(echo "$script" | grep -c '^sql/bifang_fdw--')" 1
	agree "the newest entry of CHANGELOG.md" "$(sed -n 's/^## \([^,]*\).*/\1/p' CHANGELOG.md | head -1)" "$version ($extension)"
	agree "the newest entry of debian/changelog" "$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)" "$version"
	# Who has a released version goes on from what it left.
	for ref in $(ls sql/bifang_fdw--*.sql | grep -v -- "-$extension.sql$"); do
		agree "$ref is as it was released" "$(sha256sum "$ref")" "$(grep "  $ref$" test/released.sha256)"
	done
	# Libraries that are linked stand in both lists of packages.
	for ref in $(sed -n '/^Build-Depends/,/^Standards/p' debian/control.in | grep -oE 'lib[a-z0-9]+-dev|zlib1g-dev' | sort -u); do
		agree "deps.sh knows $ref" "$(grep -ow "$ref" test/deps.sh | head -1)" "$ref"
	done
	echo "$passed passed, $failed failed, 0 skipped"
	[ $failed = 0 ]
}

dist() {
	local out=build/bifang_fdw-$version.zip
	git rev-parse --verify -q HEAD >/dev/null || die "dist: not a git checkout"
	[ -z "$(git status --porcelain)" ] || echo "package: what is not committed is not in it" >&2
	mkdir -p build
	git archive --format=zip --prefix="bifang_fdw-$version/" -o "$out" HEAD || exit 1
	echo "$out"
}

deb() {
	local tree=$root/build/deb/bifang-fdw-$version
	rm -rf build/deb
	mkdir -p "$tree"
	# Without git all files are packed that git would see, as in what dist makes.
	{ git ls-files -z -co --exclude-standard 2>/dev/null || find . -path ./build -prune -o -type f -print0; } |
		tar --null -T - -cf - | tar -xf - -C "$tree"
	(cd "$tree" && pg_buildext updatecontrol && dpkg-buildpackage -b -us -uc -tc) >build/deb/log 2>&1 || {
		tail -30 build/deb/log
		die "deb: see build/deb/log"
	}
	for package in build/deb/*.deb; do
		case $package in *dbgsym*) continue ;; esac
		files=$(dpkg-deb -c "$package")
		for file in bifang_fdw.so bifang_fdw.control "bifang_fdw--$extension.sql"; do
			grep -q "/$file$" <<<"$files" || die "deb: $package lacks $file"
		done
		echo "$package"
	done
}

case $1 in
	check | dist | deb) "$1" ;;
	*) die "one of check, dist, deb" ;;
esac
