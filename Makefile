# bifang_fdw: build, install, test. `make help` lists the targets.

MODULE_big = bifang_fdw
EXTENSION = bifang_fdw
PGFILEDESC = "bifang_fdw - lake-stream tables as foreign tables"

# Where the sources are: here, or VPATH when make runs in a build directory of its own, as packagers
# do. Tests name SRC instead: with VPATH, make would take objects that lie beside the sources for its
# own and build nothing.
SRC := $(if $(VPATH),$(VPATH)/)
sources = $(sort $(patsubst $(SRC)%,%,$(wildcard $(addprefix $(SRC),$(1)))))
# The C files of layers, and of the folders in them.
c_files = $(sort $(patsubst $(SRC)%,%,$(shell find $(wildcard $(1:%=$(SRC)src/%)) /dev/null -name '*.c')))

DATA = $(call sources,sql/bifang_fdw--*.sql)
CORE_LAYERS = base vec io codec parquet avro log iceberg exec policy scan
CORE_SRC := $(call c_files,$(CORE_LAYERS))
PG_SRC := $(call c_files,pg)
OBJS = $(CORE_SRC:.c=.o) $(PG_SRC:.c=.o)
ifneq ($(SRC),)
$(shell mkdir -p $(sort $(dir $(OBJS))))
src/%.o: $(SRC)src/%.c
	$(COMPILE.c) -o $@ $<
endif

CORE_LIBS = -lzstd -llz4 -lsnappy -lz -lbrotlidec -ljansson -lxxhash -lm
# -MMD: headers are dependencies, which PGXS leaves to us.
PG_CPPFLAGS = -I$(SRC)src -I$(libpq_srcdir) -D_GNU_SOURCE -MMD -MP
# Whether a result is set depends on a status that gcc cannot follow; the sanitized build looks after it.
PG_CFLAGS = -std=gnu11 -O2 -Wno-declaration-after-statement -Wno-maybe-uninitialized $(SHADOW)
# What servers from 16 on ask for, so that all tell the same; clang does not know it.
SHADOW = $(shell $(CC) -Werror -Wshadow=compatible-local -E -x c /dev/null >/dev/null 2>&1 && echo -Wshadow=compatible-local)
EXPORTS = $(SRC)src/pg/exports.map
SHLIB_LINK = $(CORE_LIBS) -lpq -Wl,--version-script=$(EXPORTS)

EXTRA_CLEAN = $(BUILD) $(OBJS:.o=.d)

PG_CONFIG ?= pg_config
ifneq ($(shell command -v $(PG_CONFIG) 2>/dev/null),)
PGXS := $(shell $(PG_CONFIG) --pgxs)
endif
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
$(MODULE_big)$(DLSUFFIX): $(EXPORTS)
else
.PHONY: all install
all install:
	@echo "$(PG_CONFIG) does not tell where PostgreSQL's server headers are; as root, or with sudo: make deps" >&2
	@exit 1
endif

-include $(OBJS:.o=.d)
ifeq ($(SRC),)
include test/test.mk
endif
