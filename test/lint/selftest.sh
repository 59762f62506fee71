#!/bin/bash
# The lints see what they are for: violations are planted in a copy of the sources, and a lint that
# says nothing about one fails. Ends with `N passed, N failed, N skipped`, a violation being one test.
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0 skipped=0
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

mkdir -p "$copy/test" "$copy/sql"
cp -r .clang-format src "$copy/"
cp -r test/lint test/unit "$copy/test/"
mkdir "$copy/test/fuzz"
cp test/fuzz/*.[ch] "$copy/test/fuzz/"
cp sql/bifang_fdw--*.sql "$copy/sql/"
cd "$copy" || exit 2
find . -name '*.[od]' -delete
git init -q . && git add -A &&
	git -c user.name=selftest -c user.email=selftest@localhost commit -qm clean || exit 2

result() {
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
	else
		echo "FAIL $2"
		failed=$((failed + 1))
	fi
}

# plant FILE COMPLAINT: standard input is put at the end of FILE, which then earns a complaint that
# contains COMPLAINT, in a line that begins with FILE; "file: text" as COMPLAINT asks for that line.
planted=()
plant() {
	mkdir -p "$(dirname "$1")"
	[ -e "$1" ] || echo "/* Planted. */" >"$1"
	cat >>"$1"
	case $2 in
		src:*) planted+=("$2") ;;
		*) planted+=("$1:|$2") ;;
	esac
}

# judge LINT [FILE ...]: without the plants it is content; with them it complains of each.
judge() {
	local lint=$1 complaint file text
	shift
	git stash -qu >/dev/null
	"$lint" $(ls "$@" 2>/dev/null </dev/null | grep /) >"$copy.out" 2>&1
	result $? "$lint complains of the sources as they are: $(head -3 "$copy.out")"
	git stash pop -q >/dev/null
	if "$lint" "$@" >"$copy.out" 2>&1; then
		result 1 "$lint is content with all that was planted"
	fi
	for complaint in "${planted[@]}"; do
		file=${complaint%%|*} text=${complaint#*|}
		[ "$file" != "$complaint" ] || file=
		grep -F -- "$text" "$copy.out" | grep -qF -- "$file"
		result $? "$(basename "$lint") is silent about ${complaint//|/ }"
	done
	rm -f "$copy.out"
	planted=()
	git reset -q --hard
	git clean -fdq
}

# --- layers.pl ----------------------------------------------------------------------------------
plant src/vec/plant_server.c "only src/pg may include the server's headers" <<<'#include "postgres.h"'
plant src/vec/plant_server2.c 'vec must not include <postgres.h>' <<<'#include <postgres.h>'
plant src/vec/plant_utils.c "only src/pg may include the server's headers" <<<'#include "utils/rel.h"'
plant src/vec/plant_up.c 'vec must not include "exec/reader.h"' <<<'#include "exec/reader.h"'
plant src/vec/plant_blank.c 'an include is spelled' <<<'# include "exec/reader.h"'
plant src/vec/plant_indent.c 'an include is spelled' <<<$'\t#include "exec/reader.h"'
plant src/vec/plant_blanks.c 'an include is spelled' <<<'#include  "exec/reader.h"'
plant src/vec/plant_split.c 'an include is spelled' <<<$'#include \\\n"exec/reader.h"'
plant src/vec/plant_comment.c 'vec must not include "exec/reader.h"' <<<'#include/**/"exec/reader.h"'
plant src/vec/plant_digraph.c 'an include is spelled' <<<'%:include "exec/reader.h"'
plant src/vec/plant_macro.c 'an include is spelled' <<<$'#define READER "exec/reader.h"\n#include READER'
plant src/vec/plant_next.c 'an include is spelled' <<<'#include_next "exec/reader.h"'
plant src/vec/plant_angle.c 'is spelled as a path below src, in quotes' <<<'#include <exec/reader.h>'
plant src/vec/plant_dots.c 'is spelled as a path below src, in quotes' <<<'#include "../exec/reader.h"'
plant src/vec/plant_near.c 'there is no src/batch.h' <<<'#include "batch.h"'
plant src/vec/plant_after.c 'an include is spelled' <<<'/* here */ #include "exec/reader.h"'
plant src/iceberg/plant_neighbour.c 'iceberg must not include "exec/reader.h"' <<<'#include "exec/reader.h"'
plant src/exec/plant_neighbour.h 'exec must not include "iceberg/table.h"' <<<'#include "iceberg/table.h"'
plant src/exec/plant_pg.c 'exec must not include "pg/server/error.h"' <<<'#include "pg/server/error.h"'
plant src/scan/plant_pg.c 'scan must not include "pg/server/error.h"' <<<'#include "pg/server/error.h"'
plant src/exec/plant_scan.c 'exec must not include "scan/plant.h"' <<<'#include "scan/plant.h"'
plant src/scan/plant.h 'scan must not include <fcntl.h>' <<<'#include <fcntl.h>'
plant src/exec/plant_thread.c 'exec must not include <pthread.h>' <<<'#include <pthread.h>'
plant src/parquet/plant_zstd.c 'parquet must not include <zstd.h>' <<<'#include <zstd.h>'
plant src/iceberg/plant_internal.c "is another folder's own" <<<'#include "parquet/internal.h"'
plant src/exec/plant_internal.c "is another folder's own" <<<'#include "vec/pred_internal.h"'
plant src/exec/read/plant_internal.c "is another folder's own" <<<'#include "exec/delete/internal.h"'
plant src/plant/plant.c 'src/plant is not in the table of layers' <<<''
plant src/pg/plant.c 'not in the order of the folders of src/pg' <<<''
plant src/pg/plant/plant.c 'not in the order of the folders of src/pg' <<<''
plant src/pg/catalog/plant_up.c 'an arrow from pg/catalog up to pg/scan' <<<'#include "pg/scan/plant.h"'
plant src/pg/server/plant_up.h 'an arrow from pg/server up to pg/convert' <<<'#include "pg/convert/plant.h"'
plant src/pg/scan/plant_up.c 'an arrow from pg/scan up to pg/lake' <<<'#include "pg/lake/plant.h"'
plant src/pg/lake/plant_top.c 'which stands above it' <<<'#include "pg/plant.h"'
plant src/pg/lake/plant_gone.c 'there is no src/pg/gone.h' <<<'#include "pg/gone.h"'
for header in scan convert lake; do echo "/* Planted. */" >src/pg/$header/plant.h; done
echo "/* Planted. */" >src/pg/plant.h
mkdir -p src/pg/scan/one src/pg/scan/two
echo "/* Planted. */" >src/pg/scan/one/one.h
plant src/pg/scan/two/two.c 'the kind of tables pg/scan/one is included by more than the table of kinds' \
	<<<'#include "pg/scan/one/one.h"'
plant src/pg/lake/plant_kind.c 'the kind of tables pg/scan/one is included by more than the table of kinds' \
	<<<'#include "pg/scan/one/one.h"'
circle() {
	local last=${!#} name
	for name in "$@"; do
		mkdir -p "src/$(dirname "$name")"
		echo "/* Planted. */" >"src/$name.h"
		printf '/* Planted. */\n#include "%s.h"\n#include "%s.h"\n' "$name" "$last" >"src/$name.c"
		last=$name
	done
}
circle io/circle_a io/circle_b
planted+=('src: these modules need each other in a circle: src/io/circle_a src/io/circle_b')
circle io/circle_x io/circle_y io/circle_z
planted+=('src: these modules need each other in a circle: src/io/circle_x src/io/circle_y src/io/circle_z')
for pair in "one two" "two one"; do
	read -r from to <<<"$pair"
	mkdir -p src/log/$from
	printf '/* Planted. */\n#include "log/%s/a.h"\n' $to >src/log/$from/b.c
	echo "/* Planted. */" >src/log/$from/a.h
done
planted+=('src: these folders need each other in a circle: src/log/one src/log/two')
plant test/unit/plant.c 'there is no src/test_near.h or test/test_near.h' <<<'#include "test_near.h"'
plant test/unit/plant2.c 'an include is spelled' <<<'# include "exec/reader.h"'
judge test/lint/layers.pl

# --- outside.pl ---------------------------------------------------------------------------------
for call in malloc calloc realloc reallocarray aligned_alloc posix_memalign free strdup strndup asprintf getline \
	qsort qsort_r fopen fread fflush open openat read pread write pwrite close fsync fdatasync sync_file_range mmap \
	rename unlink stat opendir flock fcntl time clock_gettime gettimeofday localtime strftime sleep nanosleep poll \
	select accept pthread_create pthread_mutex_lock sem_wait kill getenv setlocale exit abort fork system signal \
	longjmp printf fputs perror syslog rand random getrandom strtok strcpy strcat sprintf sscanf json_dumps curl_easy_init ZSTD_compress; do
	plant "src/vec/plant_$call.c" "$call() is not for the core" <<<"int bf_plant_$call(int x)
{
	return (int) $call(x);
}"
done
plant src/vec/plant_handed.c 'free() is not for the core' <<<'static const Functions f = {.free = free, 1};'
plant src/vec/plant_handed2.c 'qsort() is not for the core' <<<'static void *f = (void *) (qsort);'
judge test/lint/outside.pl

# --- names.pl -----------------------------------------------------------------------------------
plant src/vec/plant.c 'plant_it lacks the prefix of its layer' <<<$'int\nplant_it(void)\n{\n}'
plant src/vec/plant2.c 'bifang_plant lacks the prefix of its layer' <<<$'int\nbifang_plant(void)\n{\n}'
plant src/vec/plant3.c 'bf_plant is static' <<<$'static int\nbf_plant(void)\n{\n}'
plant src/vec/plant4.c 'bf_plant is declared in a .c' <<<$'int bf_plant(int a, int b);'
plant src/vec/plant5.c 'bf_plant is declared in a .c' <<<$'BfStatus\nbf_plant(int a,\n\t\tint b) BF_MUST_CHECK;'
plant src/vec/plant6.c 'declared in a .c, not in a header' <<<$'extern int bf_plant;'
plant src/vec/plant7.c 'declared in a .c, not in a header' \
	<<<$'static int\nplant(void)\n{\n\textern int bf_x(void);\n\treturn bf_x();\n}'
plant src/vec/plant.h 'plant_it lacks the prefix of its layer' <<<$'static inline int\nplant_it(void)\n{\n}'
plant src/vec/plant2.h 'Plant lacks the prefix of its layer' <<<$'struct Plant\n{\n\tint a;\n};'
plant src/vec/plant3.h 'Plant lacks the prefix of its layer' <<<$'typedef struct\n{\n\tint a;\n} Plant;'
plant src/vec/plant4.h 'PlantFn lacks the prefix of its layer' <<<$'typedef int (*PlantFn)(int a);'
plant src/vec/plant5.h 'PLANTS_MAX lacks the prefix of its layer' <<<$'#define PLANTS_MAX 3'
plant src/vec/plant6.h 'PLANT_A lacks the prefix of its layer' <<<$'typedef enum BfPlant\n{\n\tPLANT_A,\n\tBF_PLANT_B\n} BfPlant;'
plant src/vec/plant7.h 'Plant lacks the prefix of its layer' <<<$'typedef struct Plant Plant;'
plant src/pg/scan/plant.c 'bf_plant lacks the prefix of its layer' <<<$'int\nbf_plant(void)\n{\n}'
plant src/pg/scan/plant2.c 'plant lacks the prefix of its layer' <<<$'Datum\nplant(PG_FUNCTION_ARGS)\n{\n}'
plant src/pg/scan/plant.h 'BfPlant lacks the prefix of its layer' <<<$'typedef struct BfPlant\n{\n\tint a;\n} BfPlant;'
plant src/pg/scan/plant2.h 'PLANTS_MAX lacks the prefix of its layer' <<<$'#define PLANTS_MAX 3'
plant test/unit/plant.c 'bf_plant is declared in a .c' <<<$'int bf_plant(int a, int b);'
plant test/fuzz/plant.c 'declared in a .c, not in a header' <<<$'extern int bf_plant(int a, int b);'
judge test/lint/names.pl

# --- style.pl -----------------------------------------------------------------------------------
repeat() {
	local i
	for ((i = 0; i < $1; i++)); do echo "$2"; done
}
plant src/vec/plant.c '101 columns, more than 100' <<<$'\t'"/* $(printf '%091d' 0) */"
plant src/vec/plant2.c 'space at the end' <<<'int a; '
plant src/vec/plant3.c 'plant has 71 lines, more than 70' <<<"static int
plant(int a)
{
$(repeat 68 $'\ta++;')
}"
plant src/pg/scan/plant3.c 'plant has 71 lines, more than 70' <<<"static int
plant(int a)
{
$(repeat 68 $'\ta++;')
}"
plant src/vec/plant4.c '901 lines, more than 900' < <(repeat 900 '')
plant src/pg/scan/plant4.c '1201 lines, more than 1200' < <(repeat 1200 '')
echo 'int a;' >src/vec/plant5.c
planted+=('src/vec/plant5.c:|no head comment')
echo '#define A' >src/vec/plant5.h
planted+=('src/vec/plant5.h:|no head comment')
plant src/vec/README.md 'lines, more than 150' < <(repeat 150 '')
git rm -q src/io/README.md
planted+=('src/io:|no README.md')
plant test/unit/plant.c '101 columns, more than 100' <<<$'\t'"/* $(printf '%091d' 0) */"
judge test/lint/style.pl

# --- headers.sh, words.sh, format.sh, symbols.sh ------------------------------------------------
plant src/vec/plant.h 'does not compile alone' <<<'extern BfPlant bf_plant(void);'
plant src/vec/plant2.h 'does not compile alone' <<<'int bf_plant = 1;'
plant test/unit/lib/plant.h 'does not compile alone' <<<'extern BfPlant bf_plant(void);'
judge test/lint/headers.sh src/vec/type.h $(ls src/vec/plant*.h test/unit/lib/plant.h)

plant src/vec/plant.c '/h''ome/' <<<'/* see /h''ome/someone/notes */'
plant src/vec/plant2.c 'FIX''ME' <<<'/* FIX''ME */'
plant src/vec/plant3.c 'TO''DO' <<<'/* TO''DO: later */'
plant test/plant.sh 'py''pi' <<<'curl https://py''pi.org/simple'
judge test/lint/words.sh

test/lint/format.sh src/vec/type.h >/dev/null
if [ $? = 77 ]; then
	skipped=$((skipped + 3))
else
	plant src/vec/plant.c 'clang-format' <<<$'int a;\n\n\n\nint b;'
	plant src/vec/plant2.c 'clang-format' <<<$'static void\nf(void) {\n}'
	judge test/lint/format.sh src/vec/type.h $(ls src/vec/plant*.c)
fi

# --- needs.sh -----------------------------------------------------------------------------------
while read -r name code; do
	echo "$code" >plant.c
	${CORE_CC:-gcc} -w -O1 -shared -fPIC plant.c -o plant.so
	test/lint/needs.sh plant.so >out 2>&1
	grep -q "needs $name\$" out
	result $? "needs.sh is silent about $code"
done <<'CODE'
malloc void *malloc(unsigned long); void *f(void) { void *(*p)(unsigned long) = malloc; return p(1); }
malloc void *f(unsigned long n) { return __builtin_malloc(n); }
strdup char *strdup(const char *); struct { char *(*a)(const char *); } s = {strdup};
usleep int f(void) { return usleep (5); }
getenv char *getenv(const char *); char *(*f(void))(const char *) { return getenv; }
pthread_create int pthread_create(void); int f(void) { return pthread_create(); }
fsync int fsync(int); int f(void) { return fsync(1); }
CODE
echo '#include <string.h>
int f(const char *s) { return strcmp(s, "x"); }' >plant.c
${CORE_CC:-gcc} -shared -fPIC plant.c -o plant.so && test/lint/needs.sh plant.so >/dev/null
result $? "needs.sh refuses what is allowed"

if command -v "${PG_CONFIG:-pg_config}" >/dev/null; then
	echo 'int stray(void) { return 1; }' >plant.c
	${CORE_CC:-gcc} -shared -fPIC plant.c -o plant.so
	test/lint/symbols.sh plant.so >out 2>&1
	grep -q 'must not be exported' out
	result $? "symbols.sh is silent about a stray symbol"
	grep -q 'Pg_magic_func is needed and not there' out
	result $? "symbols.sh is silent about a missing entry point"
else
	skipped=$((skipped + 2))
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ] && [ $passed -gt 0 ]
