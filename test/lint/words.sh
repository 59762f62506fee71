#!/bin/bash
# What must not stand in the repository: paths of one machine, hosts of package registries, notes to
# oneself. Inputs written by other programs (test/data, seeds) may say what they like.
cd "$(dirname "$0")/../.." || exit 2
words='(^|[^A-Za-z0-9_.$}/-])/(wor[k]|tm[p]|roo[t]|hom[e])/'
words="$words|\\b(TO[D]O|FIX[M]E|XX[X]|HAC[K])\\b"
words="$words|py[p]i\\.org|pythonh[o]sted|npm[j]s|crates\\.[i]o|mav[e]n\\.org|rubyg[e]ms|proxy\\.gol[a]ng"
found=$({ git ls-files -co --exclude-standard 2>/dev/null || find . -path ./build -prune -o -type f -printf '%P\n'; } | grep -vE '^test/(data|fuzz/seeds)/' | tr '\n' '\0' |
	xargs -0 grep -nIE "$words" /dev/null)
[ -z "$found" ] || {
	echo "$found"
	exit 1
}
