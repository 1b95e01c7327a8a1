# What runs inside Flink's JVM: java/NAME becomes build/drey-NAME.jar; part of the Makefile. Needs a JDK and the jars of a
# Flink (java/build.sh); drey itself is built, and works, without them.

JAVA_PARTS := $(notdir $(patsubst %/,%,$(wildcard java/*/)))
JARS       := $(JAVA_PARTS:%=$(TOP)/drey-%.jar)

jars: $(JARS)
.PHONY: jars

define JAR_RULE
$$(TOP)/drey-$(1).jar: java/build.sh $$(shell find java/$(1) -type f)
	$$(Q)java/build.sh $(1) $$@
	@echo "  JAR   $$@"
endef
$(foreach part,$(JAVA_PARTS),$(eval $(call JAR_RULE,$(part))))
