# Part of the Makefile: each fuzz target twice, with libFuzzer (build/fuzz/), and as a program that goes over the kept
# inputs once, with the compiler of the build (build/tests/fuzz/, in build-tests).

REPLAY_BIN := $(patsubst tests/fuzz/%.c,$(B)/tests/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN   := $(patsubst tests/fuzz/%.c,$(TOP)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_FLAGS := -std=gnu11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -pthread
$(TOP)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(Q)clang $(CPPFLAGS_) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(TOP)/fuzz/libdrey.a: $(AGENT_SRC:%.c=$(TOP)/fuzz/obj/%.o)
	$(Q)rm -f $@ && ar rcs $@ $^

$(TOP)/fuzz/%: tests/fuzz/%.c $(TOP)/fuzz/libdrey.a
	$(Q)clang $(CPPFLAGS_) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< $(filter %.o,$^) $(TOP)/fuzz/libdrey.a $(LIBS)
	@echo "  LINK  $@"

$(B)/tests/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/obj/tests/fuzz/replay.o $(B)/libdrey.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_) -o $@ $(filter %.o,$^) $(B)/libdrey.a $(LIBS)

# it answers drey's questions itself
$(TOP)/fuzz/fuzz_rest $(B)/tests/fuzz/fuzz_rest: LIBS += -Wl,--wrap=http_do

$(TOP)/fuzz/fuzz_migrate: $(MIGRATE_OBJ:$(B)/obj/%=$(TOP)/fuzz/obj/%)

FUZZ_SECONDS ?= 60
fuzz: $(FUZZ_BIN)
	$(Q)for t in $(FUZZ_BIN); do tests/fuzz/run.sh $$t $(FUZZ_SECONDS) || exit 1; done

# how much of each parser the kept inputs reach
.PHONY: fuzz-coverage
fuzz-coverage: $(B)/libdrey.a $(MIGRATE_OBJ)
	$(Q)CPPFLAGS='$(CPPFLAGS_)' LIBS='$(LIBS)' LIBRARY=$(B)/libdrey.a MIGRATE='$(MIGRATE_OBJ)' tests/fuzz/coverage.sh $(T)
