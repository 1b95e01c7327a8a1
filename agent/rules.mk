# What the build makes for the command line; part of the Makefile.

# `drey explain`: the pages of docs/runbook, in the binary
RUNBOOK_C := $(B)/obj/runbook_pages.c
$(RUNBOOK_C): $(wildcard docs/runbook/*.md) tools/embed-runbook.sh
	@mkdir -p $(@D)
	$(Q)tools/embed-runbook.sh $(filter %.md,$^) >$@.new && mv $@.new $@

$(B)/obj/runbook_pages.o: $(RUNBOOK_C)
	$(Q)$(CC) $(CPPFLAGS_) $(CFLAGS_) -c -o $@ $<
	@echo "  CC    $<"

$(TOP)/fuzz/obj/runbook_pages.o: $(RUNBOOK_C)
	@mkdir -p $(@D)
	$(Q)clang $(CPPFLAGS_) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

$(B)/libdrey.a: $(B)/obj/runbook_pages.o
$(TOP)/fuzz/libdrey.a: $(TOP)/fuzz/obj/runbook_pages.o

# what the commands print is kept in tests/golden; this accepts what they print now
.PHONY: golden
GOLDEN := status_text history_text
golden: $(GOLDEN:%=$(B)/tests/unit/test_%)
	$(Q)for test in $^; do DREY_RENEW_GOLDEN=1 $$test || exit 1; done
