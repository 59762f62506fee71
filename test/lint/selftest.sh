#!/bin/bash
# The lints see what they are for: violations are planted in a copy of the sources, and a lint that
# says nothing about one fails. Ends with `N passed, N failed, N skipped`, a violation being one test.
cd "$(dirname "$0")/../.." || exit 2
passed=0 failed=0 skipped=0
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

mkdir -p "$copy/test" "$copy/sql"
cp -r .clang-format Makefile src "$copy/"
cp -r test/lint test/unit test/test.mk "$copy/test/"
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
plant src/vec/plant_up.c '"exec/reader.h" must not be included, vec is not above' <<<'#include "exec/reader.h"'
plant src/vec/plant_blank.c 'an include is spelled' <<<'# include "exec/reader.h"'
plant src/vec/plant_indent.c 'an include is spelled' <<<$'\t#include "exec/reader.h"'
plant src/vec/plant_blanks.c 'an include is spelled' <<<'#include  "exec/reader.h"'
plant src/vec/plant_split.c 'an include is spelled' <<<$'#include \\\n"exec/reader.h"'
plant src/vec/plant_comment.c '"exec/reader.h" must not be included, vec is not above' <<<'#include/**/"exec/reader.h"'
plant src/vec/plant_digraph.c 'an include is spelled' <<<'%:include "exec/reader.h"'
plant src/vec/plant_macro.c 'an include is spelled' <<<$'#define READER "exec/reader.h"\n#include READER'
plant src/vec/plant_next.c 'an include is spelled' <<<'#include_next "exec/reader.h"'
plant src/vec/plant_angle.c 'is spelled as a path below src, in quotes' <<<'#include <exec/reader.h>'
plant src/vec/plant_dots.c 'is spelled as a path below src, in quotes' <<<'#include "../exec/reader.h"'
plant src/vec/plant_near.c 'there is no src/batch.h' <<<'#include "batch.h"'
plant src/vec/plant_after.c 'an include is spelled' <<<'/* here */ #include "exec/reader.h"'
plant src/iceberg/plant_neighbour.c '"exec/reader.h" must not be included, iceberg is not above' <<<'#include "exec/reader.h"'
plant src/exec/plant_neighbour.h '"iceberg/table.h" must not be included, exec is not above' <<<'#include "iceberg/table.h"'
plant src/exec/plant_pg.c '"pg/server/error.h" must not be included, exec is not above' <<<'#include "pg/server/error.h"'
plant src/scan/plant_pg.c '"pg/server/error.h" must not be included, scan is not above' <<<'#include "pg/server/error.h"'
plant src/exec/plant_scan.c '"scan/plant.h" must not be included, exec is not above' <<<'#include "scan/plant.h"'
plant src/scan/plant.h 'scan must not include <fcntl.h>' <<<'#include <fcntl.h>'
plant src/exec/plant_thread.c 'exec must not include <pthread.h>' <<<'#include <pthread.h>'
plant src/vec/plant_ctype.c 'vec must not include <ctype.h>' <<<'#include <ctype.h>'
plant src/vec/plant_strings.c 'vec must not include <strings.h>' <<<'#include <strings.h>'
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
plant src/pg/scan/two/two.c 'the kind of tables pg/scan/one is known by more than the table of kinds' \
	<<<'#include "pg/scan/one/one.h"'
plant src/pg/lake/plant_kind.c 'the kind of tables pg/scan/one is known by more than the table of kinds' \
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
plant src/vec/plant_source.c '"vec/batch.c" is no header' <<<'#include "vec/batch.c"'
plant src/vec/plant_source2.c '"batch.c" is no header' <<<'#include <batch.c>'
plant src/vec/plant_source3.c '"vec/plant.inc" is no header' <<<'#include "vec/plant.inc"'
plant test/unit/plant_source.c '"vec/batch.c" is no header' <<<'#include "vec/batch.c"'
plant src/vec/plant.inc 'is no source' <<<'int a;'
plant src/vec/plant.cc 'is no source' <<<'int a;'
plant src/plant_top.c 'is in no layer' <<<'int a;'
plant src/plant_top.h 'is in no layer' <<<'int a;'
ln -s batch.c src/vec/plant_link.c
planted+=('src/vec/plant_link.c:|is a link')
plant src/vec/plant_digraph2.c 'an include is spelled' <<<$'%: include "exec/reader.h"'
plant src/vec/plant_trigraph.c 'an include is spelled' <<<$'?\?=include "exec/reader.h"'
plant src/vec/plant_cut.c 'an include is spelled' <<<$'#inc\\\nlude "exec/reader.h"'
plant src/vec/plant_cut2.c 'an include is spelled' <<<$'#\\\ninclude "exec/reader.h"'
plant src/vec/plant_import.c 'an include is spelled' <<<'#import "exec/reader.h"'
plant src/vec/plant_feed.c 'an include is spelled' <<<$'#include\v"exec/reader.h"'
for pair in "a b" "b c" "c a"; do
	read -r from to <<<"$pair"
	printf '/* Planted. */\n#include "io/round_%s.h"\n' $to >src/io/round_$from.h
done
planted+=('src: these headers need each other in a circle: src/io/round_a.h src/io/round_b.h src/io/round_c.h')
for pair in "push/wheel write/wheel" "write/wheel push/wheel"; do
	read -r from to <<<"$pair"
	printf '/* Planted. */\n#include "pg/%s.h"\n' $to >src/pg/$from.h
done
planted+=('src: these headers need each other in a circle: src/pg/push/wheel.h src/pg/write/wheel.h')
plant test/unit/plant.c 'there is no src/test_near.h or test/test_near.h' <<<'#include "test_near.h"'
plant test/unit/plant2.c 'an include is spelled' <<<'# include "exec/reader.h"'
judge test/lint/layers.pl

# --- outside.pl ---------------------------------------------------------------------------------
for call in malloc calloc realloc reallocarray aligned_alloc posix_memalign free strdup strndup asprintf getline \
	qsort qsort_r fopen fread fflush open openat read pread write pwrite close fsync fdatasync sync_file_range mmap \
	rename unlink stat opendir flock fcntl time clock_gettime gettimeofday localtime strftime sleep nanosleep poll \
	select accept pthread_create pthread_mutex_lock sem_wait kill getenv setlocale exit abort fork system signal \
	longjmp printf fputs perror syslog rand random getrandom strtok strcpy strcat sprintf sscanf json_dumps curl_easy_init ZSTD_compress \
	isalpha isalnum isdigit isspace isxdigit isupper islower isprint ispunct iscntrl tolower toupper strcasecmp strncasecmp \
	strcoll strxfrm strtold atof strtol strtoull atoi localeconv uselocale newlocale mbstowcs wctomb iswalpha towlower strcasestr strerror_l; do
	plant "src/vec/plant_$call.c" "$call() is not for the core" <<<"int bf_plant_$call(int x)
{
	return (int) $call(x);
}"
done
plant src/vec/plant_paren.c 'free() is not for the core' <<<$'static void\nf(void)\n{\n\t(free)(0);\n}'
plant src/vec/plant_blank.c 'usleep() is not for the core' <<<$'static void\nf(void)\n{\n\tusleep\t (5);\n}'
plant src/vec/plant_builtin.c '__builtin_alloca() is not for the core' <<<'static char *p = __builtin_alloca(3);'
plant src/vec/plant_builtin2.c '__builtin_printf() is not for the core' <<<'static int i = __builtin_printf("a");'
plant src/vec/plant_in_macro.c 'usleep() is not for the core' <<<'#define REST() usleep(5)'
plant src/vec/plant_inline.h 'getenv() is not for the core' <<<$'static inline char *\nbf_f(void)\n{\n\treturn getenv("A");\n}'
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
plant src/vec/plant_brace.c 'plant_it lacks the prefix of its layer' <<<'int plant_it(void) {
	return 1;
}'
plant src/vec/plant_one.c 'plant_it lacks the prefix of its layer' <<<'int plant_it(void) { return 1; }'
plant src/vec/plant_attr.c 'plant_it lacks the prefix of its layer' \
	<<<$'int __attribute__((noinline, aligned(16))) plant_it(void)\n{\n\treturn 1;\n}'
plant src/vec/plant_attr2.c 'plant_it lacks the prefix of its layer' \
	<<<$'__attribute__((noinline))\nint\nplant_it(void)\n{\n\treturn 1;\n}'
plant src/vec/plant_behind.c 'plant_it lacks the prefix of its layer' \
	<<<$'int\nplant_it(const char *a, ...)\nBF_PRINTF(1, 2)\n{\n\treturn 1;\n}'
plant src/vec/plant_paren.c 'plant_it lacks the prefix of its layer' <<<$'int\n(plant_it)(void)\n{\n\treturn 1;\n}'
plant src/vec/plant_gives.c 'plant_it lacks the prefix of its layer' \
	<<<$'int (*plant_it(int a))(int)\n{\n\treturn 0;\n}'
plant src/vec/plant_tab.c 'plant_it lacks the prefix of its layer' <<<$'\tint\n\tplant_it(void)\n\t{\n\t\treturn 1;\n\t}'
plant src/vec/plant_struct.c 'plant_it lacks the prefix of its layer' \
	<<<$'struct S\n{\n\tint a;\n}\nplant_it(void)\n{\n}'
plant src/vec/plant_static.c 'bf_plant is static' <<<'static int bf_plant(void) {
}'
plant src/vec/plant_near.c 'bf_plant is declared in a .c' <<<'int bf_plant (int a);'
plant src/vec/plant_ptr.c 'bf_plant is declared in a .c' <<<'const struct S *bf_plant(void (*f)(int), int b);'
plant src/vec/plant_wrapped.c 'bf_plant is declared in a .c' <<<'int (bf_plant)(int a);'
plant src/vec/plant_typed.c 'bf_plant is declared in a .c' <<<$'typedef int Fn(int);\nFn bf_plant;'
plant src/vec/plant_typed3.c 'bf_plant is declared in a .c' <<<$'typedef int FN(int);\nFN bf_plant;'
plant src/vec/plant_typed2.c 'bf_plant is declared in a .c' <<<$'__attribute__((cold)) const BfPlantFn bf_plant;'
plant src/vec/plant_typed.h 'PlantFn lacks the prefix of its layer' <<<$'typedef int PlantFn(int);\ntypedef int BfPlantFn(int);'
plant src/vec/plant_block.c 'bf_plant is declared in a function' \
	<<<$'static int\nf(void)\n{\n\tif (1)\n\t{\n\t\tint bf_plant(int a);\n\t}\n\treturn 1;\n}'
plant src/vec/plant_cut.c 'declared in a .c, not in a header' <<<$'extern\tint\n*bf_plant;'
plant src/vec/plant_macro.c 'declared in a .c, not in a header' <<<$'#define FROM_AFAR extern\nFROM_AFAR int bf_plant;'
plant src/vec/plant_macro.h 'a macro that declares what is elsewhere' <<<$'#define BF_AFAR \\\n\textern'
plant src/vec/plant_line.h 'PLANT lacks the prefix of its layer' <<<$'#define \\\n\tPLANT 2'
plant src/vec/plant_enum.h 'PLANT_B lacks the prefix of its layer' <<<'typedef enum BfPlant { BF_PLANT_A, PLANT_B = 3 } BfPlant;'
plant src/vec/plant_enum2.h 'plant_b lacks the prefix of its layer' <<<'enum { BF_PLANT_A, plant_b };'
plant src/vec/plant_two.h 'Plants lacks the prefix of its layer' <<<'typedef struct BfPlant { int a; } BfPlant, *Plants;'
plant src/vec/plant_array.h 'Plant lacks the prefix of its layer' <<<'typedef int Plant[4];'
plant src/vec/plant_packed.h 'Plant lacks the prefix of its layer' <<<$'struct __attribute__((packed)) Plant\n{\n\tint a;\n};'
plant src/vec/plant_var.h 'plants_max lacks the prefix of its layer' <<<'static const int plants_max = 3;'
plant src/vec/plant_var2.h 'plants lacks the prefix of its layer' <<<'extern const char *const plants[4];'
plant src/pg/scan/plant_var.h 'bf_plants lacks the prefix of its layer' <<<'extern int bf_plants;'
plant src/vec/plant_proto.h 'plant_it lacks the prefix of its layer' <<<'extern int plant_it(int a);'
judge test/lint/names.pl

# --- objects.pl ---------------------------------------------------------------------------------
# Objects of a few sources; that the known circles are none there is no matter.
compile() {
	local object=built/${1%.c}.o
	mkdir -p "$(dirname "$object")"
	${CORE_CC:-gcc} -w -O1 -c "$1" -o "$object" || echo "FAIL cannot compile $1"
}
# link FILE COMPLAINT: like plant, and compiled.
link() {
	plant "$1" "$2"
	compile "$1"
}
mv src src.whole
mkdir -p src/vec && echo '/* */ int bf_ground = 1; static int sum(int a) { return a; } int (*bf_sum)(int) = sum;' >src/vec/ground.c
compile src/vec/ground.c
test/lint/objects.pl built | grep -v 'no circle any more' >out
[ ! -s out ]
result $? "objects.pl complains of what is right: $(head -3 out)"
link src/vec/global.c 'plants lacks the prefix of its layer' <<<'int plants;'
link src/vec/global2.c 'plants lacks the prefix of its layer' <<<'const char *const plants[] = {"a"};'
link src/vec/global3.c 'plants lacks the prefix of its layer' <<<'_Thread_local int plants = 3;'
link src/vec/global4.c 'plant_made lacks the prefix of its layer' \
	<<<$'#define MAKE(name) int name##_made(void) { return 1; }\nMAKE(plant)'
link src/vec/global5.c 'plant_alias lacks the prefix of its layer' \
	<<<'int bf_plant5(void) { return 1; } int plant_alias(void) __attribute__((alias("bf_plant5")));'
link src/vec/global6.c 'plant_label lacks the prefix of its layer' <<<'int bf_plant6 __asm__("plant_label") = 1;'
link src/vec/global7.c 'plant_weak lacks the prefix of its layer' <<<'__attribute__((weak)) int plant_weak(void) { return 1; }'
link src/vec/static.c 'bf_plants is static' <<<'static int bf_plants; int *bf_plants_at(void) { return &bf_plants; }'
link src/pg/scan/global.c 'bf_plants lacks the prefix of its layer' <<<'int bf_plants = 1;'
link src/pg/scan/global2.c 'plants lacks the prefix of its layer' <<<'int plants;'
link src/exec/afar.c 'plant' <<<'int bf_afar = 1; int bfi_afar(void) { return 1; }'
unset 'planted[-1]'
link src/vec/up.c 'bf_afar of src/exec/afar.c is needed, vec is not above exec' <<<'extern int bf_afar; int bf_up(void) { return bf_afar; }'
link src/scan/own.c "bfi_afar of src/exec/afar.c is needed, another folder's own" <<<'int bfi_afar(void); int bf_own(void) { return bfi_afar(); }'
link src/exec/twice.c 'bf_afar is defined in src/exec/afar.c, too' <<<'__attribute__((weak)) int bf_afar = 1;'
link src/pg/server/up.c 'an arrow from pg/server up to pg/scan' <<<'extern int bf_plants; int bifang_up(void) { return bf_plants; }'
link src/io/round.c 'src: these files need each other in a circle: io/round io/wheel' <<<'int bf_wheel(void); int bf_round(void) { return bf_wheel(); }'
link src/io/wheel.c 'src: these files need each other in a circle: io/round io/wheel' <<<'int bf_round(void); int bf_wheel(void) { return bf_round(); }'
test/lint/objects.pl built >out 2>&1
for complaint in "${planted[@]}"; do
	file=${complaint%%|*} text=${complaint#*|}
	[ "$file" != "$complaint" ] || file=
	grep -F -- "$text" out | grep -qF -- "$file"
	result $? "objects.pl is silent about ${complaint//|/ }"
done
touch -d tomorrow src/vec/ground.c
test/lint/objects.pl built >out 2>&1
[ $? = 77 ]
result $? "objects.pl looks at objects that are older than their source"
planted=()
git reset -q --hard
git clean -fdq

# --- The compiler: what is not text ---------------------------------------------------------------
# refused NAME: standard input doesn't compile, with a complaint that says -WNAME.
refused() {
	{ echo "/* Planted. */" && cat; } >src/vec/plant.c
	make -s build/core/src/vec/plant.o >out 2>&1 && result 1 "the compiler is content with $(cat src/vec/plant.c)"
	grep -q -- "-Werror=$1\b" out
	result $? "the compiler does not say $1 of $(cat src/vec/plant.c)"
	rm -f src/vec/plant.c
}
refused old-style-definition <<<'static int plant(a) int a; { return a; } int (*bf_plant)(int) = plant;'
refused strict-prototypes <<<'int (*bf_plant)();'
refused missing-prototypes <<<'int bf_plant(void) { return 1; }'
refused nested-externs <<<'typedef int Fn(int); static int f(void) { Fn bf_plant; return bf_plant(1); } int (*bf_f)(void) = f;'
refused nested-externs <<<'#define CALLS(type, name) type name(int)
static int f(void) { CALLS(int, bf_plant); return bf_plant(1); } int (*bf_f)(void) = f;'
refused vla <<<'static int f(int n) { char a[n]; a[0] = 1; return a[0]; } int (*bf_f)(int) = f;'

# So it is with the server's headers, and a name in a block is no other's, whatever version asks for that.
if "${PG_CONFIG:-pg_config}" --pgxs >/dev/null 2>&1; then
	plant_pg() {
		{ echo '#include "postgres.h"' && echo "$2"; } >src/pg/plant.c
		make -s src/pg/plant.o COPT=-Werror >out 2>&1 && result 1 "the compiler is content with $2"
		grep -q -- "-Werror=$1" out
		result $? "the compiler does not say $1 of $2"
		rm -f src/pg/plant.c src/pg/plant.[do]
	}
	plant_pg shadow=compatible-local 'static int f(int n) { for (int i = 0; i < n; i++) { int n = i; if (n > 3) return n; } return 0; } extern int (*bifang_f)(int); int (*bifang_f)(int) = f;'
	plant_pg missing-prototypes 'int bifang_plant(void) { return 1; }'
else
	skipped=$((skipped + 2))
fi

# --- kinds.pl -----------------------------------------------------------------------------------
plant src/pg/lake/plant.c 'a kind of tables is told by comparing "lake"' <<<'static int a = strcmp(kind, "lake") == 0;'
plant src/pg/lake/plant2.c 'a kind of tables is told by comparing "kafka_dir"' <<<$'static int a = !pg_strcasecmp("kafka_dir",\n\tkind);'
plant src/pg/lake/plant3.c 'a kind of tables is told by comparing "ice"' <<<'static int a = strncmp(f(kind, 3), "ice", 3);'
plant src/pg/write/plant4.c '"iceberg" is the word of a format' <<<'#define LAKE "iceberg"'
plant src/pg/write/plant5.c '"kafka_log" is the word of a format' <<<$'static const char *const k = "kafka"\n\t"_log";'
plant src/scan/plant6.c 'a kind of tables is told by comparing "kafka_log"' <<<'static int a = memcmp(kind, "kafka_log", 9);'
plant src/pg/write/plant7.c 'the word of a format is compared' <<<'static int a = strcmp(a, o->format->name);'
plant src/pg/write/plant8.c 'the word of a format is compared' <<<"static int a = o->format->name[0] == 'i';"
plant src/pg/write/plant9.c 'the word of a format is compared' <<<"static int a = *o->format->name == 'i';"
plant src/pg/write/plant10.c 'formats or kinds are compared' <<<'static int a = o->format == bifang_formats()[0];'
plant src/pg/scan/plant11.c 'formats or kinds are compared' <<<'static int a = bifang_kind_of(&w->options) != k;'
plant src/pg/scan/plant12.c 'a function of a kind is compared' <<<'static int a = w->kind->open == f;'
plant src/pg/scan/plant13.c 'bifang_kind_lake is the row of a kind' <<<'static const void *k = &bifang_kind_lake;'
plant src/pg/scan/files/plant14.c 'plant' <<<'static int a = strcmp(kind, "parquet");'
unset 'planted[-1]' # its own
judge test/lint/kinds.pl

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
for file in test/unit/plant5.c test/unit/lib/plant5.h test/fuzz/plant5.c test/bench/plant5.c; do
	mkdir -p "${file%/*}"
	echo 'int a;' >$file
	planted+=("$file:|no head comment")
done
plant src/vec/README.md 'lines, more than 150' < <(repeat 150 '')
git rm -q src/io/README.md
planted+=('src/io:|no README.md')
plant test/unit/plant.c '101 columns, more than 100' <<<$'\t'"/* $(printf '%091d' 0) */"
plant src/vec/plant_brace.c 'plant has 71 lines, more than 70' <<<"static int plant(int a) {
$(repeat 69 $'\ta++;')
}"
plant src/vec/plant_head.c 'plant has 72 lines, more than 70' <<<"static int
plant(int a,
	int b)
{
$(repeat 68 $'\ta++;')
}"
plant src/vec/plant_attr.c 'plant has 72 lines, more than 70' <<<"int __attribute__((cold)) plant(int a)
__attribute__((hot))
{
$(repeat 68 $'\ta++;')
}"
plant src/vec/plant_old.c 'braces without a head' <<<'int
plant(a)
	int a;
{
}'
plant src/vec/plant_macro.c 'macro PLANT has 71 lines, more than 70' <<<"#define PLANT(a) \\
$(repeat 69 $'\ta++; \\')
	a++"
plant src/pg/scan/plant_macro.h 'macro BIFANG_PLANT has 71 lines, more than 70' <<<"# define \\
	BIFANG_PLANT \\
$(repeat 68 $'\t/* */ "text" \\')
	a++"
plant src/vec/plant_long.h 'struct BfPlant has 25 members, more than 24' <<<"typedef struct BfPlant
{
$(repeat 12 $'\tint a, b;')
	int (*f)(int a, int b, int c);
} BfPlant;"
plant src/vec/plant_long.c 'struct  has 25 members, more than 24' <<<"static struct {
$(repeat 24 $'\tint a;')
	struct { int b, c, d; } e;
} plant;"
plant src/vec/plant_di.c 'a digraph, <%' <<<'int f(void) <% return 1; %>'
plant src/vec/plant_di2.c 'a digraph, %:' <<<'%:define A 1'
plant src/vec/plant_di3.c 'a digraph, <:' <<<'int a<:3:>;'
plant src/vec/plant_tri.c 'a trigraph' <<<$'?\?=define A 1'
plant src/vec/plant_cut.c 'in the middle of a word' <<<$'int bf_pl\\\nant(void);'
plant src/vec/plant_cut2.c 'in the middle of a word' <<<$'#def\\\nine PLANT 1'
plant src/vec/plant_on.c 'a line goes on, and is no macro' <<<$'int \\\nbf_plant;'
plant src/vec/plant_asm.c 'assembler' <<<'static int a = 1; void f(void) { __asm__ volatile("syscall"); }'
plant src/vec/plant_asm2.c 'assembler' <<<'extern int bf_plant(void) asm("malloc");'
plant src/vec/plant_pragma.c 'a pragma, _Pragma' <<<'_Pragma("GCC diagnostic ignored \"-Wmissing-prototypes\"")'
plant src/vec/plant_pragma2.c 'a pragma, #pragma redefine_extname' <<<'#pragma redefine_extname bf_plant malloc'
plant src/vec/plant_pragma3.c 'a pragma, # pragma GCC diagnostic ignored "-Wnested-externs"' \
	<<<'# pragma GCC diagnostic ignored "-Wnested-externs"'
plant src/vec/plant_pragma4.c 'a pragma, #pragma weak' <<<'#pragma weak bf_plant = malloc'
judge test/lint/style.pl

# --- asserts.pl ---------------------------------------------------------------------------------
# What is only spoken of is no assert, nor is what defines one.
for file in src/io/plant.c src/pg/push/plant.h src/pg/scan/files/plant.c; do
	repeat 3000 '#define PLANT Assert(a) /* BF_ASSERT(a); Assert(a); */' >$file
done
planted+=('src/io:|less than 20 of a thousand')
planted+=('src/pg/push:|less than 8 of a thousand')
planted+=('src/pg/scan:|less than 8 of a thousand')
judge test/lint/asserts.pl

# --- headers.sh, words.sh, format.sh, symbols.sh ------------------------------------------------
plant src/vec/plant.h 'does not compile alone' <<<'extern BfPlant bf_plant(void);'
plant src/vec/plant2.h 'does not compile alone' <<<'int bf_plant = 1;'
plant test/unit/lib/plant.h 'does not compile alone' <<<'extern BfPlant bf_plant(void);'
judge test/lint/headers.sh src/vec/type.h $(ls src/vec/plant*.h test/unit/lib/plant.h)

if server=$("${PG_CONFIG:-pg_config}" --includedir-server 2>/dev/null); then
	for change in 's/ANYONE, LAKES,/ANYONE, LAKSE,/' 's/ANYONE, LOGS,/ANYONE, "kafka_log",/'; do
		sed -i "$change" src/pg/catalog/option_list.h
		${CORE_CC:-gcc} -std=gnu11 -Isrc -I"$server" -Werror -fsyntax-only src/pg/catalog/option_table.c >out 2>&1 &&
			result 1 "an option for tables that there are none of compiles: $change"
		grep -qE 'LAKSE|incompatible' out
		result $? "options compile badly for another reason than $change: $(head -3 out)"
		git checkout -q src
	done
else
	skipped=$((skipped + 2))
fi

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
usleep int usleep(unsigned); int f(void) { return usleep (5); }
strcasecmp int strcasecmp(const char *, const char *); int (*f(void))(const char *, const char *) { return strcasecmp; }
__ctype_b_loc const unsigned short **__ctype_b_loc(void); int f(int c) { return (*__ctype_b_loc())[c]; }
toupper int toupper(int); int (*f(void))(int) { return toupper; }
getenv char *getenv(const char *); char *(*f(void))(const char *) { return getenv; }
pthread_create int pthread_create(void); int f(void) { return pthread_create(); }
fsync int fsync(int); int f(void) { return fsync(1); }
CODE
echo '#include <string.h>
static _Thread_local int n;
int f(const char *s) { return strcmp(s, "x") + n++; }' >plant.c
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
