# The programs of the tests, and how they are run; part of the Makefile.

# The library stands last: what a target of its own asks for comes behind the prerequisites of the pattern in $^, and an object behind
# the library finds only the members that were taken before it.
$(B)/tests/unit/%: $(B)/obj/tests/unit/%.o $(UNIT_HELP) $(B)/libdrey.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_) -o $@ $(filter %.o,$^) $(B)/libdrey.a $(LIBS)

$(B)/tests/unit/test_migrate $(B)/tests/unit/test_migrate_size $(B)/tests/fuzz/fuzz_migrate: $(MIGRATE_OBJ)

$(B)/tests/store/%: $(B)/obj/tests/store/%.o $(B)/obj/tests/unit/tap.o $(B)/libdrey.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)

# clients of Flink and of the API server, for the tests against real ones
DRIVERS := $(B)/tests/e2e/flink_driver $(B)/tests/api/kube_driver
$(DRIVERS): $(B)/tests/%: $(B)/obj/tests/%.o $(B)/libdrey.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)

$(B)/tests/unit/test_http_tls $(B)/tests/unit/test_rest_tls: LIBS += -lssl
$(B)/tests/unit/test_secret: LDFLAGS_ += -Wl$(comma)--wrap=free
$(B)/tests/unit/test_http_dns: LDFLAGS_ += $(if $(STATIC),-Wl$(comma)--wrap=getaddrinfo)

$(B)/tests/sim/replay: $(B)/obj/tests/trace/replay.o $(B)/libdrey.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)

build-tests: all $(UNIT_BIN) $(REPLAY_BIN) $(B)/tests/sim/sim $(B)/tests/sim/replay $(B)/tests/store/check_store $(B)/tests/store/check_object $(B)/tests/page/page_render $(DRIVERS)

# for a quick edit-test loop: builds only the parts that this test needs
ifneq ($(filter t,$(MAKECMDGOALS)),)
$(if $(T),,$(error say which test: "make t T=resolve" runs tests/unit/test_resolve.c))
endif
t: $(B)/tests/unit/test_$(T)
	$(Q)$<

unit: build-tests
	$(Q)tests/run.sh --build $(B) unit

contract: build-tests
	$(Q)tests/run.sh --build $(B) contract

# the sanitizers that cannot be in one program. Nothing but make in this line: make -n runs it
sanitizers:
	$(Q)status=0; for san in thread 1; do $(MAKE) --no-print-directory SAN=$$san unit || status=1; done; exit $$status

check: build-tests $(B)/tests/sim/sim
	$(Q)tools/lint.sh quick
	$(Q)tests/run.sh --build $(B) unit
	$(Q)$(B)/tests/sim/sim --seeds 5000
	$(Q)tests/sim/mutations.sh --applies | { ! grep '^not ok'; }

# every key, cause, metric, command, option, exit status, phase, picture and link that is documented is there, and no other is; the
# blocks of sh and drey.yaml are taken by those who read them, and what needs no cluster is run: drey, make --dry-run, helm template.
.PHONY: docs-check
docs-check: build-tests
	$(Q)tests/run.sh --build $(B) unit cause config metrics lifecycle_doc lifecycle_rows resolve_doc handover_doc standby_rows transition_table
	$(Q)tests/run.sh --build $(B) contract docs docs_examples docs_run cli helps

docs-lifecycle: $(addprefix $(B)/tests/unit/test_,lifecycle_rows standby_rows transition_table)
	$(Q)for table in $^; do DREY_RENEW_DOCS=1 $$table || exit 1; done

# a fresh machine has no libraries when make reads this file, so make is started again after deps.sh
test: LEVEL ?= test
test-all test-api test-cluster: LEVEL ?= all
# no test of the level test needs a node, which needs root
NODE_DEPS = $(if $(filter test-api,$@),,$(if $(filter test,$(LEVEL)),,$(if $(filter 0,$(shell id -u)),cluster)))
test test-all test-api test-cluster:
	$(Q)tools/deps.sh build test $(NODE_DEPS)
	$(Q)$(MAKE) --no-print-directory build-tests
	$(Q)tests/run.sh --build $(B) --level $(LEVEL) $(if $(filter test test-all,$@),all,$(@:test-%=%))
	$(if $(filter test-all,$@),$(Q)$(MAKE) --no-print-directory sanitizers)

SEEDS ?= 20000
SIM_OBJ := $(patsubst %.c,$(B)/obj/%.o,$(wildcard tests/sim/*.c))
# no product: large locals are not cleared at each step
$(SIM_OBJ): CFLAGS_ := $(filter-out $(ZERO) -fstack-%,$(CFLAGS_))
$(B)/tests/sim/sim: $(SIM_OBJ) $(B)/libdrey.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)

sim: $(B)/tests/sim/sim
	$(Q)$< --seeds $(SEEDS)

# options: SEED (1), STEPS (60) and FLINK_VERSION (2.3.0); WHERE=cluster runs Pods on their own node: STEPS (100); LIES=300: instead of
# signals, so many lies of a store; STORES ("s3 swift"); WORLD=lease: two clusters with one bucket, FAULTS (200)
chaos: all
	$(Q)tools/deps.sh build test $(if $(filter cluster,$(WHERE)),cluster)
	$(Q)BUILD=$(B) $(if $(filter lease,$(WORLD)),FAULTS=$(or $(FAULTS),200) tests/api/test_lease_chaos.sh,$(if $(LIES),tests/e2e/test_chaos_lies.sh,$(if $(filter cluster,$(WHERE)),tests/chaos/on-node.sh,tests/e2e/test_chaos.sh)))

valgrind: build-tests
	$(Q)tests/run.sh --build $(B) valgrind

# the page without drey, for the tests with a browser
$(B)/tests/page/page_render: $(B)/obj/tests/page/page_render.o $(B)/libdrey.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS_) -o $@ $^ $(LIBS)
