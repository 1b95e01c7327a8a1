# drey - `make help` lists the targets. Everything that is built goes to build/ (SAN=1: build/san/).
#
#   make [all]      build/drey-init, build/drey and build/drey-migrate
#   make demo       a real Flink job, started, killed and resumed by drey (KEEP=1 leaves it running)
#   make docs-check the documentation says what the programs do: keys, causes, metrics, commands, options, links, examples
#   make demo-kube  the same with the chart, on a Kubernetes of its own (root): install, kill, surge upgrade, suspend, uninstall
#   make t T=resolve     one unit test, built and run; seconds after a change
#   make unit       all unit tests
#   make check      before a commit, within a minute: format, layout, unit tests, 5,000 simulated histories
#   make test       the tests for every change, with a real Flink; ten minutes
#   make test-all   all tests, including the next two and `make sanitizers` (the unit tests under TSan, ASan, UBSan); two hours
#   make test-api   tests with a real Kubernetes API server; without root
#   make test-cluster    tests with real Pods on their own node; skipped unless root
#   make chaos      SEED=1 STEPS=60 FLINK_VERSION=2.3.0: a real Flink and drey under random signals; WHERE=cluster: in Pods
#   make lint       format, static analysis, include direction
#   make jars       build/drey-*.jar, what runs inside Flink's JVM (java/); needs a JDK, and fetches Flink or uses FLINK_HOME
#   make install    PREFIX=/usr/local DESTDIR=
#   make release    build/release/VERSION: everything that is published (docs/development/release.md)
#   make static     ARCH=amd64|arm64: build/static/ARCH/drey-init and drey, static, for any Linux (docs/tasks/static.md)
#   make bench      measures drey and the alternatives
#   make sim        SEEDS=20000 histories of the life cycle against models, with faults
#   make docs-lifecycle  rewrites the tables in docs/reference/lifecycle.md, handover.md and docs/development/transition.md
#   make fuzz       FUZZ_SECONDS=60 of each target (clang)
#   make fuzz-coverage   how much of each parser the kept inputs reach (clang, llvm)
#
# Knobs: CC=clang  SAN=1 (ASan+UBSan) or SAN=thread  COV=1 (gcov)  WERROR=1 (CI)  V=1 (show commands)
#        STATIC=amd64|arm64 (any target, with static programs in build/static/...)
#        LEVEL=test|ci|all (of make test*: how many of the tests, see tests/run.sh)

VERSION := $(shell cat VERSION)
PREFIX  ?= /usr/local
CC      ?= cc
MUSL_CC ?= $(shell command -v musl-gcc)
TOP     := build
B       := $(TOP)$(if $(STATIC),/static/$(STATIC))$(if $(SAN),/$(if $(SAN:thread=),san,tsan))$(if $(COV),/cov)
Q       := $(if $(V),,@)

# ---- static: another compiler, and libraries of its own (tools/get-static.sh) --------------------------
ARCH ?= $(patsubst aarch64,arm64,$(patsubst x86_64,amd64,$(shell uname -m)))
ifneq ($(STATIC),)
STATIC_DIR := $(shell tools/get-static.sh $(STATIC))
$(if $(STATIC_DIR),,$(error there is nothing to link a static drey for $(STATIC) with, see above))
override CC := $(if $(filter ccache,$(CC)),ccache )$(STATIC_DIR)/bin/cc
override AR := $(STATIC_DIR)/bin/ar
endif

# ---- flags --------------------------------------------------------------------------------------
WARN := -Wall -Wextra -Wformat=2 -Wconversion -Wno-sign-conversion -Wimplicit-fallthrough -Wshadow \
	-Wstrict-prototypes -Wmissing-prototypes -Werror=format-security -Werror=implicit \
	-Werror=incompatible-pointer-types -Werror=int-conversion $(if $(WERROR),-Werror)
ZERO := -ftrivial-auto-var-init=zero # unknown to gcc 11, the compiler of Flink's images
HARD := -fstack-protector-strong -fstack-clash-protection $(shell $(CC) $(ZERO) -E -x c /dev/null >/dev/null 2>&1 && echo $(ZERO)) \
	-fno-delete-null-pointer-checks -fno-strict-overflow -fno-strict-aliasing -fvisibility=hidden
CPU  := $(or $(STATIC),$(ARCH))
CPUF := $(if $(filter amd64,$(CPU)),-fcf-protection=full)$(if $(STATIC:amd64=), -mno-outline-atomics)
FORT := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(if $(SAN),0,2)
SANF := $(if $(SAN),$(if $(filter thread,$(SAN)),-fsanitize=thread,-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=all) -fno-omit-frame-pointer)
COVF := $(if $(COV),--coverage)
OPT  := $(if $(SAN)$(COV),-O1,-O2) -g -ffile-prefix-map=$(CURDIR)=. -fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections
PKGS := libcurl yaml-0.1 libevent_core libcrypto expat
CPPFLAGS_ := -D_GNU_SOURCE -DDREY_VERSION='"$(VERSION)"' -Iagent -I. $(if $(STATIC),-DDREY_STATIC,$(shell pkg-config --cflags $(PKGS) 2>/dev/null))
CFLAGS_   := -std=gnu11 $(OPT) $(WARN) $(HARD) $(CPUF) $(FORT) $(SANF) $(COVF) -fPIE -pthread $(CFLAGS)
comma     := ,
LDFLAGS_  := -pie -pthread -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--as-needed,--gc-sections $(SANF) $(COVF) $(LDFLAGS)
LIBS      := $(if $(STATIC),-lcurl -lyaml -levent_core -lssl -lcrypto -lexpat,$(shell pkg-config --libs $(PKGS) 2>/dev/null))
# musl's threads have 128 kB unless the program says more, which is only used when it is needed
LDFLAGS_  += $(if $(STATIC),-Wl$(comma)-z$(comma)stack-size=1048576)
# 0.4 MB of memory; the linkers for arm64 do not know it yet
LDFLAGS_  += $(if $(filter amd64,$(STATIC)),-Wl$(comma)-z$(comma)pack-relative-relocs)

# ---- programs -----------------------------------------------------------------------------------
ROOMS      := base core control format store kube flink run cmd
AGENT_SRC  := $(foreach room,$(ROOMS),$(wildcard agent/$(room)/*.c agent/$(room)/*/*.c))
AGENT_OBJ  := $(AGENT_SRC:%.c=$(B)/obj/%.o)
INIT_SRC   := $(wildcard entrypoint/*.c)
MIGRATE_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(filter-out %/main.c,$(wildcard migrate/*.c)))
UNIT_SRC   := $(wildcard tests/unit/test_*.c)
UNIT_HELP  := $(patsubst %.c,$(B)/obj/%.o,$(filter-out $(UNIT_SRC),$(wildcard tests/unit/*.c)))
UNIT_BIN   := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/unit/%)
SCRIPTS    := $(shell git ls-files -co --exclude-standard '*.sh' .ci/run 2>/dev/null)

.PHONY: all static release help demo demo-kube test test-all test-api test-cluster build-tests chaos t unit contract sanitizers check lint format install clean bench bench-quick fuzz sim valgrind docs-lifecycle
all: $(B)/drey-init $(B)/drey $(B)/drey-migrate $(if $(STATIC),$(B)/licenses.txt)
include agent/rules.mk tests/fuzz/rules.mk tests/rules.mk java/rules.mk tools/release/rules.mk

help:
	@sed -n 's/^#   //p' Makefile

$(B)/drey: $(B)/obj/agent/main.o $(B)/libdrey.a
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)
	@echo "  LINK  $@"

# a program of its own, which no image has: it is needed once in the life of an application
$(B)/drey-migrate: $(B)/obj/migrate/main.o $(MIGRATE_OBJ) $(B)/libdrey.a
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)
	@echo "  LINK  $@"

$(B)/libdrey.a: $(AGENT_OBJ)
	$(Q)rm -f $@ && $(AR) qcsT $@ $^

# the version is compiled in
$(B)/obj/%.o: %.c VERSION
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_) $(CFLAGS_) -MMD -MP -c -o $@ $<
	@echo "  CC    $<"

# drey-init: static, with musl if it is installed, else with the system's libc. Sanitizers need glibc.
INIT_CC := $(if $(STATIC)$(SAN)$(COV),$(CC),$(or $(MUSL_CC),$(CC)))
INIT_CFLAGS := -std=gnu11 -Os -g -ffile-prefix-map=$(CURDIR)=. $(WARN) $(HARD) $(SANF) $(COVF) -fno-pie \
	-ffunction-sections -fdata-sections -D_GNU_SOURCE -DDREY_VERSION='"$(VERSION)"' -I.
INIT_LDFLAGS := $(if $(SAN)$(COV),$(SANF) $(COVF),-static -s) -no-pie -Wl,--gc-sections -Wl,-z,noexecstack
$(B)/drey-init: $(INIT_SRC) $(wildcard entrypoint/*.h) Makefile VERSION
	@mkdir -p $(@D)
	$(Q)$(INIT_CC) $(INIT_CFLAGS) $(INIT_LDFLAGS) -o $@ $(INIT_SRC)
	@echo "  LINK  $@"

$(B)/licenses.txt: $(STATIC_DIR)/licenses.txt
	@mkdir -p $(@D)
	$(Q)cp $< $@

# A make of its own: here the libraries may still be missing.
static:
	$(Q)tools/deps.sh static $(if $(filter arm64,$(ARCH)),static-arm64)
	$(Q)$(MAKE) --no-print-directory STATIC=$(ARCH) all

# keep the object files of test programs
.SECONDARY:

# programs of the benchmarks
$(B)/bench/%: $(B)/obj/bench/%.o $(B)/libdrey.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)

# ---- the rest -----------------------------------------------------------------------------------
demo demo-kube:
	$(Q)tools/$@.sh

lint:
	$(Q)tools/lint.sh

format:
	$(Q)$$(command -v clang-format-14 || echo clang-format) -i $$(git ls-files -co --exclude-standard '*.c' '*.h')

bench bench-quick: all
	$(Q)bench/run.sh $@

clean:
	rm -rf $(TOP)/obj $(TOP)/man $(TOP)/manual $(TOP)/completions $(TOP)/static $(TOP)/san $(TOP)/tsan $(TOP)/cov $(TOP)/bench $(TOP)/tests $(TOP)/fuzz $(TOP)/drey $(TOP)/drey-init $(TOP)/drey-migrate $(TOP)/libdrey.a $(JARS)

-include $(shell find $(B)/obj $(TOP)/fuzz/obj -name '*.d' 2>/dev/null)
