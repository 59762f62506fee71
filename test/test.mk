# Tests that need no server: the core compiled a second time, without server headers.

CORE_CC ?= gcc
CORE_CFLAGS = -std=c11 -D_GNU_SOURCE -Isrc -Itest -Wall -Wextra -Wconversion -Wshadow -Werror
CORE_DEBUG = -g -O1 -DBF_DEBUG -DBF_ARENA_MALLOC -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer

# Restrict with e.g. `make unit LAYERS="base vec"` and `TESTS="vec"`.
LAYERS ?= $(CORE_LAYERS)
TESTS ?= $(LAYERS)
UNIT_SRC = $(sort $(wildcard test/unit/lib/*.c) $(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c)) $(foreach t,$(TESTS),$(wildcard test/unit/test_$(t)*.c)))
UNIT_OBJ = $(UNIT_SRC:%.c=$(BUILD)/unit/%.o)

$(BUILD)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CORE_CC) $(CORE_CFLAGS) $(CORE_DEBUG) -MMD -MP -c $< -o $@

$(BUILD)/unit/run: $(UNIT_OBJ)
	$(CORE_CC) $(CORE_DEBUG) $^ $(CORE_LIBS) -o $@

.PHONY: unit
# FILTER=name runs the tests whose name contains it.
unit: $(BUILD)/unit/run
	$(BUILD)/unit/run $(FILTER)

-include $(UNIT_OBJ:.o=.d)
