# What the build makes for the command line and for the page at /; part of the Makefile.

# Files in the binary, as a table in C of that name: $(call EMBED,TABLE,FILES)
define EMBED
$(B)/obj/$(1).c: $(2) tools/embed.sh
	@mkdir -p $$(@D)
	$$(Q)tools/embed.sh $(1) $$(filter-out %.sh,$$^) >$$@.new && mv $$@.new $$@

$(B)/obj/$(1).o: $(B)/obj/$(1).c
	$$(Q)$$(CC) $$(CPPFLAGS_) $$(CFLAGS_) -c -o $$@ $$<
	@echo "  CC    $$<"

$(TOP)/fuzz/obj/$(1).o: $(B)/obj/$(1).c
	@mkdir -p $$(@D)
	$$(Q)clang $$(CPPFLAGS_) $$(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -c -o $$@ $$<

$(B)/libdrey.a: $(B)/obj/$(1).o
$(TOP)/fuzz/libdrey.a: $(TOP)/fuzz/obj/$(1).o
endef

# `drey explain`, and the page with its style and scripts
$(eval $(call EMBED,runbook_pages,$(filter-out %/README.md,$(wildcard docs/runbook/*.md))))
$(eval $(call EMBED,embedded_web,$(wildcard agent/core/web/page*.*)))

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
