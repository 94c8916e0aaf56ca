# The core and its test programs, without PostgreSQL.
#
#   make -f test/check.mk B=build/check/gcc CC=gcc core programs
#
# B       where everything goes
# XFLAGS  more flags, for sanitizers, coverage or a cross compiler
#
# test/run builds with it; run that instead.

B  ?= build/check/cc
CC := $(CC)
AR := $(or $(XAR),ar)
XFLAGS ?=

CFLAGS  = -std=c17 -O2 -g -Wall -Wextra -Werror -Wmissing-declarations -ffp-contract=off
CPPFLAGS = -Isrc -Itest/unit -DUSE_ASSERT_CHECKING -MMD -MP
# tests may use what POSIX adds; the core may not
TEST_CFLAGS = $(patsubst -std=c17,-std=gnu17,$(CFLAGS))
# the server's own flags ask for it, so hear of it here already
CORE_CFLAGS = $(CFLAGS) -Wdeclaration-after-statement

core_src = $(wildcard src/core/*.c src/core/simd/*.c)
core_obj = $(core_src:%.c=$(B)/%.o)

unit    = $(patsubst test/%.c,$(B)/%,$(wildcard test/unit/test_*.c))
kernels = $(patsubst test/%.c,$(B)/%,$(wildcard test/kernels/*.c))
corpus  = $(patsubst test/%.c,$(B)/%,$(filter-out test/fuzz/replay.c,$(wildcard test/fuzz/*.c)))

.PHONY: core programs unit kernels corpus
.SECONDARY:
core: $(B)/core.a
programs: unit kernels corpus
unit: $(unit)
kernels: $(kernels)
corpus: $(corpus)

# a change of the flags or of the set of files means a fresh start
stamp := $(CC) $(XFLAGS) $(core_src)
ifneq ($(file <$(B)/.stamp),$(stamp))
$(shell rm -rf $(B); mkdir -p $(B))
$(file >$(B)/.stamp,$(stamp))
endif

$(B)/core.a: $(core_obj)
	@rm -f $@
	@$(AR) rcs $@ $^

$(B)/src/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(CORE_CFLAGS) $(CPPFLAGS) $(XFLAGS) -c -o $@ $<

$(B)/test/%.o: test/%.c
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(CPPFLAGS) $(XFLAGS) -c -o $@ $<

$(unit) $(kernels): $(B)/%: $(B)/test/%.o $(B)/core.a
	@mkdir -p $(@D)
	$(CC) $(XFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(corpus): $(B)/%: $(B)/test/%.o $(B)/test/fuzz/replay.o $(B)/core.a
	@mkdir -p $(@D)
	$(CC) $(XFLAGS) $(LDFLAGS) -o $@ $^ -lm

-include $(shell find $(B) -name '*.d' 2>/dev/null)
