# What others get; part of the Makefile.

install: all $(if $(HELPS),install-helps)
	install -D -m 755 $(B)/drey-init $(DESTDIR)$(PREFIX)/bin/drey-init
	install -D -m 755 $(B)/drey $(DESTDIR)$(PREFIX)/bin/drey
	install -D -m 755 $(B)/drey-migrate $(DESTDIR)$(PREFIX)/bin/drey-migrate
	ln -sf drey $(DESTDIR)$(PREFIX)/bin/kubectl-drey
	install -D -m 755 -t $(DESTDIR)$(PREFIX)/share/drey/hooks hooks/newest-savepoint
	$(Q)$(foreach jar,$(wildcard $(JARS)),install -D -m 644 $(jar) $(DESTDIR)$(PREFIX)/lib/drey/$(jar:$(TOP)/drey-%=%);)

release:
	$(Q)tools/deps.sh build jars release
	$(Q)env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS ARCHS="$(ARCHS)" ROOTFS="$(ROOTFS)" KEY="$(KEY)" URL="$(URL)" SOURCE="$(SOURCE)" BUILDER="$(BUILDER)" tools/release/release.sh $(TOP)/release/$(VERSION)
