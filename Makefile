# bvhindex: PGXS for building and installing; everything else is a script in
# tools/ or test/.  "make help" lists the targets.

# These goals must work where PostgreSQL is not installed yet, so they do not
# load PGXS (which also owns a "check" rule of its own).
OWN_GOALS = help demo test check lint format asan fuzz coverage bench bench-core \
            pgtap test-majors dist

ifneq ($(filter $(OWN_GOALS),$(MAKECMDGOALS)),)

T ?= box3_text
SECS ?= 60

.PHONY: $(OWN_GOALS)

help: ; @cat tools/help.txt

# needs only a Debian machine with make: what is missing gets installed
demo:
	@tools/setup.sh demo
	@tools/server.sh -k "$${BVH_BUILD:-build}/demo" -- demo/demo.sh
test:
	@tools/setup.sh test
	@test/run
test-majors:
	@tools/setup.sh majors
	@tools/majors.sh
bench:
	@tools/setup.sh bench
	@bench/run.sh
bench-core:
	@tools/setup.sh bench-core
	@bench/core/run.sh

# without a server
check: ; @test/run unit kernels corpus
asan: ; @test/run -s unit kernels corpus
fuzz:
	@tools/setup.sh fuzz
	@tools/fuzz.sh '$(T)' '$(SECS)'
coverage:
	@tools/setup.sh fuzz
	@tools/coverage.sh
lint:
	@tools/setup.sh lint
	@tools/lint.sh
format: ; @tools/lint.sh --format

# with a throw-away server
pgtap: ; @test/run pgtap

dist: ; @tools/dist.sh

else

MODULE_big = bvhindex
EXTENSION  = bvhindex

# The Makefile's own folder, so that a build outside of the tree (make -f) works.
here := $(dir $(abspath $(firstword $(MAKEFILE_LIST))))
below = $(patsubst $(here)%,%,$(wildcard $(addprefix $(here),$(1))))

OBJS = $(patsubst %.c,%.o,$(call below,src/*.c src/*/*.c src/core/simd/*.c))

# sql/ holds the install scripts (double dash) and the regression tests (none)
DATA    = $(call below,sql/*--*.sql)
REGRESS = $(patsubst sql/%.sql,%,$(filter-out $(DATA),$(call below,sql/*.sql)))
REGRESS_OPTS = --inputdir=$(here). --load-extension=bvhindex

ISOLATION = $(patsubst test/isolation/specs/%.spec,%,$(call below,test/isolation/specs/*.spec))
ISOLATION_OPTS = --inputdir=$(here)test/isolation --load-extension=bvhindex

ifneq ($(call below,test/t/*.pl),)
TAP_TESTS   = 1
PROVE_TESTS = $(here)test/t/*.pl
endif

PG_CONFIG ?= pg_config
pg_major  := $(shell $(PG_CONFIG) --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')

# No contraction to fused multiply-add: all instruction sets, and compiled and
# JIT-compiled code, must give the same bits.
fp_flags = -ffp-contract=off

override PG_CPPFLAGS := -I$(here)src $(PG_CPPFLAGS)
override PG_CFLAGS   := -fvisibility=hidden $(fp_flags) -MMD -MP $(PG_CFLAGS)

# Empty there on Linux, which would hide even the magic block.
ifeq ($(pg_major),15)
override PG_CPPFLAGS += -DPGDLLEXPORT='__attribute__((visibility("default")))'
endif

EXTRA_CLEAN = build $(OBJS:.o=.d)

PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

BITCODE_CFLAGS += $(fp_flags)

# only does something when the objects are built outside of the tree
$(shell mkdir -p $(sort $(dir $(OBJS))))
-include $(OBJS:.o=.d)

endif
