#!/bin/bash
# Each header compiles alone and twice; those of the core without the server's.
#   test/lint/headers.sh [FILE ...]
cd "$(dirname "$0")/../.." || exit 2
cc=${CORE_CC:-gcc}
strict="-std=c11 -D_GNU_SOURCE -Isrc -Itest -Wall -Wextra -Wconversion -Wshadow -Werror -fsyntax-only"

one() {
	local header=$1
	case $header in
		src/pg/*)
			[ -n "$SERVER_INCLUDE" ] || return 0
			printf '#include "postgres.h"\n#include "%s"\n#include "%s"\n' "${header#src/}" "${header#src/}" |
				$cc -std=gnu11 -D_GNU_SOURCE -Isrc -I"$SERVER_INCLUDE" -Wall -Werror -fsyntax-only -x c -
			;;
		*)
			header=${header#src/}
			header=${header#test/}
			printf '#include "%s"\n#include "%s"\n' "$header" "$header" | $cc $strict -x c -
			;;
	esac || {
		echo "$1: does not compile alone"
		return 1
	}
}
export -f one
export cc strict
SERVER_INCLUDE=$(${PG_CONFIG:-pg_config} --includedir-server 2>/dev/null)
export SERVER_INCLUDE
{ [ $# = 0 ] && find src test/unit/lib test/fuzz -name '*.h' | sort || printf '%s\n' "$@"; } | xargs -P 2 -I{} bash -c 'one {}'
