# Targets beyond the build itself. The core is compiled here a second time, without the server's
# headers, and tested under sanitizers; scripts in this directory run the rest.

BUILD ?= build
CORE_CC ?= gcc
# Tests let libroaring judge our reader of its format; the product doesn't need it.
TEST_LIBS = $(CORE_LIBS) -lroaring
CORE_CFLAGS = -std=c11 -D_GNU_SOURCE -Isrc -Itest -Wall -Wextra -Wconversion -Wshadow -Wvla \
	-Wstrict-prototypes -Wold-style-definition -Wmissing-prototypes -Wnested-externs -Werror
CORE_DEBUG = -g -O1 -DBF_DEBUG -DBF_ARENA_MALLOC -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer

.DEFAULT_GOAL := all
.PHONY: help
help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'
	@echo "  make, make install   Build; install into the server that pg_config tells of"

.PHONY: deps
DEPS = PG_CONFIG="$(PG_CONFIG)" PG_MAJOR="$(PG_MAJOR)" test/deps.sh
deps: ## Install the packages that building and testing need (apt)
	@$(DEPS)

# --- Unit tests ---------------------------------------------------------------------------------
# Restrict with e.g. `make unit LAYERS="base vec"`, `TESTS=vec`, `FILTER=name`.
LAYERS ?= $(CORE_LAYERS)
TESTS ?= $(LAYERS)
LAYERS_SRC := $(call c_files,$(LAYERS))
UNIT_SRC = $(sort $(wildcard test/unit/lib/*.c) $(LAYERS_SRC) \
	$(foreach t,$(TESTS),$(wildcard test/unit/test_$(t)*.c)))
UNIT_OBJ = $(UNIT_SRC:%.c=$(BUILD)/unit/%.o)

$(BUILD)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CORE_CC) $(CORE_CFLAGS) $(CORE_DEBUG) -MMD -MP -c $< -o $@

# What is linked depends on the command line: another list is a change, though no file is newer.
.PHONY: always
$(BUILD)/unit/sources $(BUILD)/core/sources: always
	@mkdir -p $(@D)
	@echo '$(UNIT_SRC)' | cmp -s - $@ || echo '$(UNIT_SRC)' >$@

$(BUILD)/unit/run: $(UNIT_OBJ) $(BUILD)/unit/sources
	$(CORE_CC) $(CORE_DEBUG) $(UNIT_OBJ) $(TEST_LIBS) -o $@

.PHONY: unit
unit: $(BUILD)/unit/run ## Unit tests of the core, under AddressSanitizer and UBSan
	$(BUILD)/unit/run $(FILTER)

-include $(UNIT_OBJ:.o=.d)

# --- With a server ------------------------------------------------------------------------------
.PHONY: stage
stage: ## Build, and install into a private copy of the server under build/stage
	@test/stage.sh

# --- Fuzzing ------------------------------------------------------------------------------------
# Each target is linked with a seeded driver (every test run) and with libFuzzer (make fuzz).
FUZZ_CORE = $(LAYERS_SRC) test/unit/lib/host_posix.c test/unit/test_parquet_rows.c
FUZZ_TARGET_SRC = $(if $(TARGET),$(TARGET:%=test/fuzz/fuzz_%.c),$(wildcard test/fuzz/fuzz_*.c))
FUZZ_OBJ = $(patsubst %.c,$(BUILD)/unit/%.o,$(sort $(FUZZ_CORE) test/fuzz/support.c \
	test/fuzz/driver.c $(FUZZ_TARGET_SRC)))
# How many times what fuzz.h says.
FUZZ_TIMES ?= 1

FUZZ_REPLAY = $(BUILD)/fuzz/replay$(if $(TARGET),-$(firstword $(TARGET)))

$(FUZZ_REPLAY): $(FUZZ_OBJ)
	@mkdir -p $(@D)
	$(CORE_CC) $(CORE_DEBUG) $^ $(TEST_LIBS) -o $@

.PHONY: fuzz-replay
fuzz-replay: $(FUZZ_REPLAY) ## Every fuzz target over its seeds and over mutations of them
	$(FUZZ_REPLAY) -x $(FUZZ_TIMES) $(TARGET)

-include $(FUZZ_OBJ:.o=.d)

# libFuzzer wants clang, and objects that it has instrumented.
SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ_FLAGS = -g -O1 -DBF_DEBUG -DBF_ARENA_MALLOC -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=undefined
LIBFUZZER_OBJ = $(patsubst %.c,$(BUILD)/libfuzzer/%.o,$(sort $(FUZZ_CORE) test/fuzz/support.c \
	$(FUZZ_TARGET_SRC)))

$(BUILD)/libfuzzer/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(CORE_CFLAGS) -Wno-error $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@

.PHONY: fuzz
fuzz: $(LIBFUZZER_OBJ) ## libFuzzer on TARGET=<name> for SECONDS=60
	@test -n "$(TARGET)" || { echo "make fuzz TARGET=<name>, one of:"; \
		sed -n 's/^\tX(\([a-z_]*\)).*/  \1/p' test/fuzz/fuzz.h; exit 2; }
	@mkdir -p $(BUILD)/libfuzzer/$(TARGET) test/fuzz/seeds/$(TARGET)
	$(FUZZ_CC) $(CORE_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer -DFUZZ_TARGET=$(TARGET) \
		test/fuzz/libfuzzer.c $^ $(TEST_LIBS) -o $(BUILD)/libfuzzer/run-$(TARGET)
	$(BUILD)/libfuzzer/run-$(TARGET) -max_total_time=$(SECONDS) -rss_limit_mb=2048 -timeout=10 \
		-artifact_prefix=$(BUILD)/libfuzzer/failed-$(TARGET)- \
		$(BUILD)/libfuzzer/$(TARGET) test/fuzz/seeds/$(TARGET)

-include $(LIBFUZZER_OBJ:.o=.d)

# --- The core alone -----------------------------------------------------------------------------
# Optimised, strict, and linked with nothing of the server: what is missing then does not exist.
CORE_OBJ = $(CORE_SRC:%.c=$(BUILD)/core/%.o)

$(BUILD)/core/%.o: %.c
	@mkdir -p $(@D)
	$(CORE_CC) $(CORE_CFLAGS) -Wno-maybe-uninitialized -O2 -fPIC -MMD -MP -c $< -o $@

$(BUILD)/core/core.so: $(CORE_OBJ)
	$(CORE_CC) -shared -Wl,-z,defs $^ $(CORE_LIBS) -o $@

.PHONY: core lint check-core
core: $(BUILD)/core/core.so

lint: core ## What the sources must keep to: layers, names, outside calls, style, asserts, layout
	@test/lint/run.sh

.PHONY: lint-selftest
lint-selftest: ## Violations planted in a copy: each lint must see them
	@test/lint/selftest.sh

check-core: core lint ## The core compiled strictly without server headers, and the lints
	@test/lint/needs.sh $(BUILD)/core/core.so

-include $(CORE_OBJ:.o=.d)

# The same tests over the objects as they are delivered: no sanitizer, no debug checks, arenas that
# hand out pieces of blocks.
RELEASE_OBJ = $(UNIT_SRC:%.c=$(BUILD)/core/%.o)

$(BUILD)/core/unit: $(RELEASE_OBJ) $(BUILD)/core/sources
	$(CORE_CC) $(RELEASE_OBJ) $(TEST_LIBS) -o $@

.PHONY: unit-release
unit-release: $(BUILD)/core/unit ## Unit tests over optimised objects
	$(BUILD)/core/unit $(FILTER)

-include $(RELEASE_OBJ:.o=.d)

# A tool that makes Iceberg tables with very many files.
LARGE_OBJ = $(patsubst %.c,$(BUILD)/core/%.o,test/bench/large_table.c test/unit/lib/parquet_make.c \
	test/unit/test_iceberg_make.c test/unit/lib/host_posix.c) $(CORE_OBJ)

$(BUILD)/core/large_table: $(LARGE_OBJ)
	$(CORE_CC) $^ $(CORE_LIBS) -o $@

.PHONY: large-table
large-table: $(BUILD)/core/large_table

-include $(LARGE_OBJ:.o=.d)

# A tool that rewrites a Parquet file.
WRITE_OBJ = $(patsubst %.c,$(BUILD)/core/%.o,test/bench/parquet_write.c test/unit/lib/host_posix.c) \
	$(CORE_OBJ)

$(BUILD)/core/parquet_write: $(WRITE_OBJ)
	$(CORE_CC) $^ $(CORE_LIBS) -o $@

.PHONY: parquet-write
parquet-write: $(BUILD)/core/parquet_write

-include $(WRITE_OBJ:.o=.d)

# --- Everything ---------------------------------------------------------------------------------
.PHONY: test regress isolation tap
test: deps ## Everything: core, lints, unit, fuzz replay, SQL, isolation, TAP
	@test/all.sh

regress: stage ## SQL tests (TESTS="name ..." for some)
	@test/regress.sh $(if $(filter command,$(origin TESTS)),$(TESTS))

.PHONY: fresh installcheck drop-servers
fresh: ## The two commands of README.md in bare trees of Debian 12, 13 and sid (WHAT=demo, WHO=root)
	@test/fresh.sh $(SUITES)

installcheck: ## SQL tests against the server that PGHOST, PGPORT and PGUSER name, after make install
	@test/regress.sh --installed $(if $(filter command,$(origin TESTS)),$(TESTS))

# What is about to be removed may be running, a demo that was kept for one.
clean: drop-servers
drop-servers:
	@[ ! -d build/servers ] || test/server.sh drop-all

isolation: stage ## Isolation tests
	@test/isolation.sh

tap: stage ## TAP tests: restarts, crashes, two servers
	@test/tap.sh

.PHONY: diff
diff: stage ## Predicates on foreign tables and heap twins (DIFF_SEED=n DIFF_N=n DIFF_MODES=all)
	@test/diff/run.sh

# --- Coverage -----------------------------------------------------------------------------------
# Lines of the core that the unit tests and the fuzz replay reach. Needs gcovr.
COVER_FLAGS = -g -O0 -DBF_DEBUG -DBF_ARENA_MALLOC --coverage
COVER_OBJ = $(patsubst %.c,$(BUILD)/coverage/%.o,$(UNIT_SRC))
COVER_FUZZ_OBJ = $(patsubst %.c,$(BUILD)/coverage/%.o,$(sort $(FUZZ_CORE) test/fuzz/support.c \
	test/fuzz/driver.c $(FUZZ_TARGET_SRC)))

$(BUILD)/coverage/%.o: %.c
	@mkdir -p $(@D)
	$(CORE_CC) $(CORE_CFLAGS) $(COVER_FLAGS) -MMD -MP -c $< -o $@

$(BUILD)/coverage/unit: $(COVER_OBJ)
	$(CORE_CC) $(COVER_FLAGS) $^ $(TEST_LIBS) -o $@

$(BUILD)/coverage/fuzz: $(COVER_FUZZ_OBJ)
	$(CORE_CC) $(COVER_FLAGS) $^ $(TEST_LIBS) -o $@

.PHONY: coverage
coverage: $(BUILD)/coverage/unit $(BUILD)/coverage/fuzz ## Line coverage of the core (gcovr)
	@command -v gcovr >/dev/null || { echo "make coverage needs gcovr (apt-get install gcovr)"; exit 1; }
	find $(BUILD)/coverage -name '*.gcda' -delete
	$(BUILD)/coverage/unit $(FILTER)
	$(BUILD)/coverage/fuzz -x $(FUZZ_TIMES)
	gcovr --root . --object-directory $(BUILD)/coverage --filter 'src/' --exclude-throw-branches \
		--txt $(BUILD)/coverage/report.txt --html-details $(BUILD)/coverage/report.html
	@cat $(BUILD)/coverage/report.txt

-include $(COVER_OBJ:.o=.d) $(COVER_FUZZ_OBJ:.o=.d)

.PHONY: mutants mutants-check
mutants: ## Each promise broken once, in a copy: a test must see it (ONLY="durability/*")
	@JOBS=$(or $(JOBS),2) test/mutants/run.pl $(foreach g,$(ONLY),'$(g)')

mutants-check: ## Do all mutants fit the sources?
	@test/mutants/run.pl --check

.PHONY: corpus test-interop demo
corpus: stage ## The files that BIFANG_CORPUS names, read through SQL
	@test/corpus/run.sh

test-interop: $(BUILD)/unit/run stage ## Other programs against ours, in both directions
	@test/interop.sh

.PHONY: bench
bench: stage parquet-write ## Scans of 6 million rows in Parquet, TPC-H and TPC-DS, against heap tables; writing
	@test/bench/scan_vs_heap.sh; rc=$$?; test/bench/parquet_write.sh || rc=1; test/bench/tpc.sh && exit $$rc

.PHONY: bench-commits
bench-commits: stage ## Cost of the 20,000th commit to the lake against the 100th, and the table's size
	@test/bench/commit_cost.sh

.PHONY: bench-plan
bench-plan: stage large-table ## Plans over Iceberg tables of 100,000 data files
	@test/bench/plan_large.sh

.PHONY: docs docs-tables
docs: stage ## README.md says what the extension says
	@test/docs.sh check

docs-tables: stage ## Write options, settings, functions and views into README.md
	@test/docs.sh write

# --- Packages -----------------------------------------------------------------------------------
.PHONY: dist deb package-check
dist: ## A release as PGXN takes it, of what is committed, in build/
	@test/package.sh dist

deb: ## Debian packages in build/deb
	@$(DEPS) deb
	@test/package.sh deb

package-check: ## Do META.json, changelogs and files agree?
	@test/package.sh check

demo: ## A table that Spark wrote, and its three tiers in one query
	@$(DEPS) build
	@$(MAKE) --no-print-directory stage
	@test/demo.sh
