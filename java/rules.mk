# What runs inside Flink's JVM: java/NAME becomes build/drey-NAME.jar; part of the Makefile. Needs a JDK and the jars of a
# Flink (java/build.sh); drey itself is built, and works, without them.

# java/shared is what several of them use: each jar has the classes that it needs of it.
JAVA_PARTS := $(filter-out shared,$(notdir $(patsubst %/,%,$(wildcard java/*/))))
JARS       := $(JAVA_PARTS:%=$(TOP)/drey-%.jar)

jars: $(JARS)
.PHONY: jars

define JAR_RULE
$$(TOP)/drey-$(1).jar: java/build.sh $$(shell find java/$(1) java/shared -type f)
	$$(Q)java/build.sh $(1) $$@
	@echo "  JAR   $$@"
endef
$(foreach part,$(JAVA_PARTS),$(eval $(call JAR_RULE,$(part))))
