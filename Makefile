# bifang_fdw: build, install, test. `make help` lists the targets.

MODULE_big = bifang_fdw
EXTENSION = bifang_fdw
DATA = $(wildcard sql/bifang_fdw--*.sql)
PGFILEDESC = "bifang_fdw - lake-stream tables as foreign tables"

BUILD ?= build
CORE_LAYERS = base vec kernels io codec parquet avro log iceberg exec
CORE_SRC = $(sort $(foreach l,$(CORE_LAYERS),$(wildcard src/$(l)/*.c)))
PG_SRC = $(sort $(wildcard src/pg/*.c))
OBJS = $(CORE_SRC:.c=.o) $(PG_SRC:.c=.o)

CORE_LIBS = -lzstd -llz4 -lsnappy -lz -lbrotlidec -ljansson -lxxhash -lm
PG_CPPFLAGS = -Isrc -D_GNU_SOURCE
PG_CFLAGS = -std=gnu11 -O2
SHLIB_LINK = $(CORE_LIBS) -lpq

EXTRA_CLEAN = $(BUILD)

PG_CONFIG ?= pg_config
ifneq ($(shell command -v $(PG_CONFIG) 2>/dev/null),)
PGXS := $(shell $(PG_CONFIG) --pgxs)
endif
ifneq ($(wildcard $(PGXS)),)
include $(PGXS)
endif

include test/test.mk
