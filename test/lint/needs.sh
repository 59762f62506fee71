#!/bin/bash
# What the linked core needs from elsewhere: names of C's library that do nothing but with their
# arguments, and the libraries of its layers. outside.pl reads calls and says where they are; macros,
# function pointers and builtins get by it, but not by the linker.
#   test/lint/needs.sh path/to/core.so
cd "$(dirname "$0")/../.." || exit 2
so=${1:-build/core/core.so}
[ -f "$so" ] || {
	echo "$so: not built"
	exit 2
}
memory='mem(cpy|move|set|cmp|chr)|str(len|nlen|cmp|ncmp|chr|rchr|str|spn|cspn|error)|bsearch'
numbers='v?snprintf|strto(d|f)|fmod|pow|exp|log|log2|log10|sqrt|floor|ceil|trunc|round|ldexp|frexp'
runtime='__(errno_location|tls_get_addr|stack_chk_fail|cxa_finalize|gmon_start__|[a-z]+_chk)|_ITM_.*'
libraries='(ZSTD|LZ4F?|snappy|json)_.*|BrotliDecoder.*|(inflate|deflate)([A-Z].*)?|crc32_z|XXH.*'
found=$(nm -D --undefined-only "$so" | awk '{print $2}' | sed 's/@.*//' | sort -u |
	grep -vxE "$memory|$numbers|$runtime|$libraries")
[ -z "$found" ] || {
	echo "$found" | sed "s#^#$so needs #"
	echo "the core must go through base/host.h"
	exit 1
}
