#!/bin/bash
# The core reaches the outside world through base/host.h only: no function of its own that takes
# memory from the system, opens files, waits, prints, or tells the time.
cd "$(dirname "$0")/../.." || exit 2

calls='malloc|calloc|realloc|strdup|fopen|fclose|open|openat|close|read|pread|write|pwrite|mmap'
calls="$calls|stat|fstat|rename|unlink|mkdir|opendir|time|gettimeofday|clock_gettime|localtime|gmtime"
calls="$calls|sleep|usleep|nanosleep|poll|select|getenv|setenv|exit|abort|fork|system|signal|longjmp"
calls="$calls|setjmp|printf|fprintf|puts|perror|rand|random|srand|strtok|setlocale"
fail=0
for f in $(find src -name '*.[ch]' -not -path 'src/pg/*' | sort); do
	# Comments and text are taken out, line numbers stay.
	found=$(perl -0pe 's{/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"}{($a = $&) =~ tr/\n//cd; $a}gse' "$f" |
		grep -nE "(^|[^A-Za-z0-9_>.*])($calls)[[:space:]]*\(")
	[ -z "$found" ] || {
		echo "$found" | sed "s#^#$f:#"
		fail=1
	}
done
[ $fail = 0 ] || echo "the core must go through base/host.h"
exit $fail
