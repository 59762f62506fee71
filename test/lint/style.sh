#!/bin/bash
# Lines of at most 100 columns (tabs of 4), files that one can read in one sitting, a README in every
# folder of the sources.
cd "$(dirname "$0")/../.." || exit 2
fail=0
for f in $(find src test/unit test/fuzz -name '*.[ch]' | sort); do
	perl -CSD -ne '1 while s/^([^\t]*)\t/$1 . " " x (4 - length($1) % 4)/e; chomp;
		if (length > 100) { print "$ARGV:$.: " . length($_) . " columns\n"; $bad = 1 }
		if (/ $/) { print "$ARGV:$.: space at the end\n"; $bad = 1 } END { exit($bad // 0) }' "$f" || fail=1
done
for f in $(find src -name '*.c' | sort); do
	most=900
	case $f in src/pg/*) most=1200 ;; esac
	lines=$(wc -l <"$f")
	[ "$lines" -le $most ] || {
		echo "$f: $lines lines, more than $most"
		fail=1
	}
done
for dir in src/*/; do
	ls "$dir"*.c >/dev/null 2>&1 || continue
	if [ ! -f "${dir}README.md" ]; then
		echo "$dir: no README.md"
		fail=1
	elif [ "$(wc -l <"${dir}README.md")" -gt 150 ]; then
		echo "${dir}README.md: more than 150 lines"
		fail=1
	fi
done
exit $fail
