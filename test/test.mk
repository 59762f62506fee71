# Targets beyond the build itself. The core is compiled here a second time, without the server's
# headers, and tested under sanitizers; scripts in this directory run the rest.

BUILD ?= build
CORE_CC ?= gcc
CORE_CFLAGS = -std=c11 -D_GNU_SOURCE -Isrc -Itest -Wall -Wextra -Wconversion -Wshadow -Werror
CORE_DEBUG = -g -O1 -DBF_DEBUG -DBF_ARENA_MALLOC -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer

.DEFAULT_GOAL := all
.PHONY: help
help: ## This list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'
	@echo "  make, make install   Build; install into the server that pg_config tells of"

.PHONY: deps
deps: ## Install the packages that building and testing need (apt)
	@test/deps.sh

# --- Unit tests ---------------------------------------------------------------------------------
# Restrict with e.g. `make unit LAYERS="base vec"`, `TESTS=vec`, `FILTER=name`.
LAYERS ?= $(CORE_LAYERS)
TESTS ?= $(LAYERS)
UNIT_SRC = $(sort $(wildcard test/unit/lib/*.c) $(foreach l,$(LAYERS),$(wildcard src/$(l)/*.c)) \
	$(foreach t,$(TESTS),$(wildcard test/unit/test_$(t)*.c)))
UNIT_OBJ = $(UNIT_SRC:%.c=$(BUILD)/unit/%.o)

$(BUILD)/unit/%.o: %.c
	@mkdir -p $(@D)
	$(CORE_CC) $(CORE_CFLAGS) $(CORE_DEBUG) -MMD -MP -c $< -o $@

$(BUILD)/unit/run: $(UNIT_OBJ)
	$(CORE_CC) $(CORE_DEBUG) $^ $(CORE_LIBS) -o $@

.PHONY: unit
unit: $(BUILD)/unit/run ## Unit tests of the core, under AddressSanitizer and UBSan
	$(BUILD)/unit/run $(FILTER)

-include $(UNIT_OBJ:.o=.d)

# --- With a server ------------------------------------------------------------------------------
.PHONY: stage
stage: ## Build, and install into a private copy of the server under build/stage
	@test/stage.sh
