# What the build makes for the command line and for the page at /; part of the Makefile.

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

# the manual pages and the completions, from the tables of the commands; not where the program does not run here
HELPS := $(if $(STATIC)$(SAN)$(COV),,$(B)/man/drey.1)
all: $(HELPS)
$(B)/manual: $(B)/obj/tools/manual.o $(B)/libdrey.a
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)

$(B)/man/drey.1: $(B)/manual $(B)/drey
	$(Q)rm -rf $(B)/man $(B)/completions && mkdir -p $(B)/man $(B)/completions
	$(Q)for shell in bash zsh fish; do $(B)/drey completion $$shell >$(B)/completions/$$shell || exit 1; done
	$(Q)$(B)/manual $(B)/man

.PHONY: install-helps
install-helps: $(HELPS)
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(B)/man/*.1
	install -D -m 644 $(B)/completions/bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/drey
	install -D -m 644 $(B)/completions/zsh $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_drey
	install -D -m 644 $(B)/completions/fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/drey.fish

# the page: its style and its script
WEB_C := $(B)/obj/embedded_web.c
$(WEB_C): agent/core/web/page.css agent/core/web/page.js tools/embed.sh
	@mkdir -p $(@D)
	$(Q)tools/embed.sh embedded_web $(filter-out %.sh,$^) >$@.new && mv $@.new $@

$(B)/obj/embedded_web.o: $(WEB_C)
	$(Q)$(CC) $(CPPFLAGS_) $(CFLAGS_) -c -o $@ $<
	@echo "  CC    $<"

$(TOP)/fuzz/obj/embedded_web.o: $(WEB_C)
	@mkdir -p $(@D)
	$(Q)clang $(CPPFLAGS_) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $@ $<

$(B)/libdrey.a: $(B)/obj/embedded_web.o
$(TOP)/fuzz/libdrey.a: $(TOP)/fuzz/obj/embedded_web.o
