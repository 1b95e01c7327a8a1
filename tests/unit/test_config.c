#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/config/config.h"
#include "run/config/config_check.h"
#include "tests/unit/tap.h"

#define SMALLEST                                                                                   \
	"application: orders\n"                                                                    \
	"stateDirectory: /var/lib/drey/\n"                                                         \
	"flink:\n"                                                                                 \
	"  command: [/docker-entrypoint.sh, standalone-job]\n"

static int parse(const char *text, struct config *config, struct err *err)
{
	return config_parse(text, strlen(text), config, err);
}

/* The message with which SMALLEST + text (or text alone when it begins with '!') is refused. */
static const char *refusal(const char *text)
{
	static struct err err;
	struct config config = {0};
	cleanup_free char *whole = xasprintf("%s%s", *text == '!' ? "" : SMALLEST, text);

	err = (struct err){0};
	if (parse(*text == '!' ? text + 1 : whole, &config, &err) == 0) {
		config_release(&config);
		return "(accepted)";
	}
	CHECK(err.kind == ERR_CONFIG);
	CHECK(!config.application && !config.flink.command);
	return err.msg;
}

TEST(fills_in_defaults)
{
	struct config config;
	struct err err = {0};

	if (!CHECK(parse(SMALLEST, &config, &err) == 0)) {
		tap_note("%s", err.msg);
		return;
	}
	CHECK_STR(config.application, "orders");
	CHECK_STR(config.state_directory, "/var/lib/drey");
	CHECK_STR(config.flink.command[1], "standalone-job");
	CHECK(!config.flink.command[2]);
	CHECK(!config.flink.version && !config.flink.jars && !config.generation);
	CHECK_STR(config.flink.rest_address, "127.0.0.1");
	CHECK_INT(config.flink.rest_port, ==, 8081);
	CHECK(!config.flink.result_store_directory); /* beside the checkpoints: setup */
	CHECK_INT(config.savepoints.interval_ms, ==, 0);
	CHECK_INT(config.attempts.window_ms, ==, 600000);
	CHECK_INT(config.poll.fast_ms, ==, 250);
	CHECK_INT(config.log.format, ==, LOG_AUTO);
	CHECK_INT(config.log.level, ==, LOG_INFO);
	config_release(&config);
	CHECK(!config.application);
}

TEST(reads_every_kind_of_value)
{
	struct config config;
	struct err err = {0};
	const char *text =
		"application: orders\n"
		"stateDirectory: /var/lib/drey\n"
		"generation: '17'\n"
		"onSigterm: savepoint\n"
		"upgrade: last-state\n"
		"whenFinished: exit\n"
		"flink:\n"
		"  command:\n"
		"  - java\n"
		"  - ''\n"
		"  version: 2.3.0\n"
		"  properties:\n"
		"    state.backend.type: rocksdb\n"
		"    execution:\n"
		"      checkpointing:\n"
		"        interval: 10s\n"
		"  environment: {TZ: UTC, EMPTY: ''}\n"
		"  arguments: [--topic, orders]\n"
		"  savepointDirectory: /flink/savepoints/\n"
		"  checkpointDirectory: s3://bucket/checkpoints\n"
		"savepoints: {interval: 6h, jitter: 5 min, drain: true}\n"
		"restore: {policy: savepoint, maxAge: 7d, foreign: ignore, adopt: newest}\n"
		"log: {level: debug}\n";

	if (!CHECK(parse(text, &config, &err) == 0)) {
		tap_note("%s", err.msg);
		return;
	}
	CHECK_STR(config.generation, "17");
	CHECK_INT(config.on_sigterm, ==, SIGTERM_SAVEPOINT);
	CHECK_INT(config.upgrade, ==, UPGRADE_BY_LAST_STATE);
	CHECK_INT(config.when_finished, ==, WHEN_FINISHED_EXIT);
	CHECK_STR(config.flink.command[1], "");
	CHECK_STR(config.flink.version, "2.3.0");
	CHECK_INT(config.flink.property_count, ==, 2);
	CHECK_STR(config.flink.properties[0].key, "state.backend.type");
	CHECK_STR(config.flink.properties[1].key, "execution.checkpointing.interval");
	CHECK_STR(config.flink.properties[1].value, "10s");
	CHECK_STR(config.flink.environment[0], "TZ=UTC");
	CHECK_STR(config.flink.environment[1], "EMPTY=");
	CHECK_STR(config.flink.arguments[1], "orders");
	CHECK_STR(config.flink.savepoint_directory, "file:///flink/savepoints");
	CHECK_STR(config.flink.checkpoint_directory, "s3://bucket/checkpoints");
	CHECK_INT(config.savepoints.interval_ms, ==, 6 * 3600000);
	CHECK_INT(config.savepoints.jitter_ms, ==, 300000);
	CHECK(config.savepoints.drain);
	CHECK_INT(config.restore.policy, ==, POLICY_SAVEPOINT);
	CHECK_INT(config.restore.max_age_ms, ==, 7 * 86400000LL);
	CHECK_INT(config.restore.foreign, ==, FOREIGN_IGNORE);
	CHECK_INT(config.restore.adopt, ==, ADOPT_NEWEST);
	CHECK_INT(config.log.level, ==, LOG_DEBUG);
	config_release(&config);
}

TEST(names_the_nearest_known_key)
{
	CHECK_HAS(refusal("savepoints:\n  intervall: 5min\n"),
		  "line 6, column 3: unknown key 'savepoints.intervall'; did you mean 'interval'?");
	CHECK_HAS(refusal("Generation: x\n"), "did you mean 'generation'?");
	CHECK_HAS(refusal("flnk: {}\n"), "did you mean 'flink'?");
}

TEST(names_the_section_that_a_key_belongs_into)
{
	CHECK_HAS(refusal("restPort: 8081\n"),
		  "unknown key 'restPort'; did you mean 'flink.restPort'?");
	CHECK_HAS(refusal("flink.restPort: 8081\n"), "did you mean 'flink.restPort'?");
}

TEST(lists_the_keys_where_none_is_near)
{
	CHECK_HAS(refusal("poll:\n  zzzzzzzz: 1\n"),
		  "unknown key 'poll.zzzzzzzz'; known keys: fast, tasks, slow");
}

TEST(says_what_is_missing)
{
	CHECK_HAS(refusal("!stateDirectory: /x\nflink: {command: [java]}\n"),
		  "key 'application' (name) is missing");
	CHECK_HAS(refusal("!application: a\nstateDirectory: /x\nflink:\n"),
		  "key 'flink.command' (list of strings) is missing");
	CHECK_HAS(refusal("!"), "key 'application' (name) is missing");
}

TEST(refuses_wrong_types_with_their_place)
{
	CHECK_HAS(refusal("log: text\n"), "line 5, column 6: 'log' must be a map of keys");
	CHECK_HAS(refusal("generation: [a]\n"), "'generation' must be a string, not a list");
	CHECK_HAS(refusal("generation:\n"), "'generation' has no value");
	CHECK_HAS(refusal("generation: ''\n"), "'generation' is empty");
	CHECK_HAS(refusal("poll: {fast: 250}\n"),
		  "line 5, column 14: 'poll.fast' must be a whole number with a unit");
	CHECK_HAS(refusal("attempts: {max: many}\n"),
		  "'attempts.max' must be a whole number, not 'many'");
	CHECK_HAS(refusal("savepoints: {drain: maybe}\n"),
		  "'savepoints.drain' must be true or false, not 'maybe'");
	CHECK_HAS(refusal("onSigterm: kill\n"),
		  "'onSigterm' must be one of keep, savepoint, upgrade, not 'kill'");
	CHECK_HAS(refusal("!application: a\nstateDirectory: /x\nflink: {command: java}\n"),
		  "line 3, column 18: 'flink.command' must be a list");
	CHECK_HAS(refusal("!application: a\nstateDirectory: /x\nflink: {command: []}\n"),
		  "'flink.command' must not be empty");
	CHECK_HAS(refusal("!application: a\nstateDirectory: /x\nflink: {command: [[a]]}\n"),
		  "each value in 'flink.command' must be a string");
}

TEST(refuses_an_ipv6_address_in_the_brackets_of_a_url)
{
	struct config config;

	CHECK_HAS(
		refusal("  restAddress: '[::1]'\n"),
		"line 5, column 16: flink.restAddress: '[::1]' has brackets; write an IPv6 address without");
	CHECK_HAS(refusal("  rpcAddress: '[fd00::7]'\n"),
		  "flink.rpcAddress: '[fd00::7]' has brackets");
	if (CHECK_INT(parse(SMALLEST "  restAddress: '::1'\n", &config, NULL), ==, 0))
		config_release(&config);
}

TEST(refuses_what_no_schedule_and_no_store_can_use_with_its_place)
{
	CHECK_HAS(refusal("savepoints: {cron: '61 * * * *'}\n"),
		  "line 5, column 20: savepoints.cron: '61 * * * *': minute: '61'");
	CHECK_HAS(refusal("savepoints:\n  blackouts: ['22:00-23:00', late]\n"),
		  "line 6, column 30: savepoints.blackouts: 'late' is not a time");
	CHECK_HAS(refusal("savepoints: {timeZone: Mars/Base}\n"),
		  "line 5, column 24: savepoints.timeZone: time zone 'Mars/Base' not found");
	CHECK_HAS(refusal("savepoints: {onStopFailure: cancel}\n"), "retry, keep-running");
	CHECK_HAS(refusal("savepoints: {stopRetries: 101}\n"), "savepoints.stopRetries");
	CHECK_HAS(refusal("checkpoints: {fullInterval: often}\n"), "checkpoints.fullInterval");
	CHECK_HAS(
		refusal("restore: {policy: savepoint}\nsavepoints: {onStopFailure: last-state}\n"),
		"'restore.policy' excludes checkpoints");
	CHECK_HAS(refusal("restore: {policy: none, initialSavepoint: 's3://b/sp'}\n"),
		  "'restore.policy' is none, so no launch would use it");
	CHECK_HAS(refusal("savepoints: {interval: 1h, cron: '@daily'}\n"),
		  "line 5, column 34: 'savepoints.interval' and 'savepoints.cron' exclude");
	CHECK_HAS(
		refusal("restore: {initialSavepoint: 'http://nn/sp'}\n"),
		"line 5, column 29: restore.initialSavepoint: 'http://nn/sp': scheme 'http' is not supported");
	CHECK_HAS(refusal("restore: {initialSavepoint: 'swift://a.b.c/sp'}\n"),
		  "line 5, column 29: restore.initialSavepoint: swift://a.b.c is neither");
}

TEST(warns_of_savepoints_that_no_launch_will_use)
{
	static const struct {
		const char *lines, *warning;
	} rows[] = {
		{"", NULL},
		{"upgrade: savepoint\n", NULL},
		{"restore: {policy: none}\n", "the savepoints of upgrade: savepoint; set"},
		{"restore: {policy: none}\nupgrade: last-state\nonSigterm: savepoint\n",
		 "the savepoints of onSigterm: savepoint; set"},
		{"restore: {policy: none}\nupgrade: stateless\nsavepoints: {interval: 1h}\n",
		 "the savepoints of savepoints.interval; set"},
		{"restore: {policy: none}\nsavepoints: {cron: '@daily'}\n",
		 "the savepoints of upgrade: savepoint, savepoints.cron; set"},
		{"restore: {policy: none}\nupgrade: stateless\n", NULL},
		{"restore: {policy: savepoint}\n", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *text = xasprintf("%s%s", SMALLEST, rows[i].lines);
		cleanup_free char *warning = NULL;
		struct config config;

		if (!CHECK_INT(parse(text, &config, NULL), ==, 0))
			continue;
		warning = config_unused_savepoints(&config);
		if (rows[i].warning)
			CHECK_HAS(warning, rows[i].warning);
		else
			CHECK_STR(warning, NULL);
		config_release(&config);
	}
}

TEST(refuses_values_out_of_range)
{
	CHECK_HAS(refusal("attempts: {max: 0}\n"),
		  "'attempts.max' must be between 1 and 32, not 0");
	CHECK_HAS(refusal("poll: {fast: 1ms}\n"),
		  "'poll.fast' must be between 50 ms and 1 min, not 1ms");
	CHECK_HAS(refusal("!application: Orders\nstateDirectory: /x\nflink: {command: [a]}\n"),
		  "line 1, column 14: 'application' must be 1 to 63 characters a-z");
	CHECK_HAS(refusal("!application: a\nstateDirectory: x\nflink: {command: [a]}\n"),
		  "'stateDirectory' must be an absolute path, not 'x'");
	CHECK_HAS(refusal("!application: a\nstateDirectory: /x\n"
			  "flink: {command: [a], classArchive: always}\n"),
		  "'flink.classArchive' must be auto or none or an absolute path, not 'always'");
	CHECK_HAS(refusal("restore: {initialSavepoint: savepoint-1}\n"),
		  "'restore.initialSavepoint' must be a URI");
	CHECK_HAS(refusal("restore: {initialSavepoint: 'a:b'}\n"), "must be a URI");
	CHECK_HAS(refusal("poll: {fast: 40s}\n"),
		  "line 5, column 14: 'poll.fast' must not be longer than 'poll.slow'");
	CHECK_HAS(refusal("savepoints: {interval: 1min, jitter: 2min}\n"),
		  "'savepoints.jitter' must not be longer than 'savepoints.interval'");
}

#define LONG_NAME                                                                                  \
	"0123456789012345678901234567890123456789012345678901234567890123"                         \
	"0123456789012345678901234567890123456789012345678901234567890123"

TEST(a_lease_is_in_s3_and_has_a_name_that_fits)
{
	CHECK_HAS(refusal("lease: {name: " LONG_NAME "}\n"),
		  "'lease.name' is longer than 127 bytes");
	CHECK_HAS(refusal("lease: {uri: 'file:/tmp/lease.json'}\n"), "must be an object in S3");
	CHECK_HAS(refusal("lease: {uri: \"s3://b/a\\nb\"}\n"),
		  "'lease.uri': it has a control character");
	CHECK_HAS(refusal("lease: {uri: 's3://b/l', name: east}\nrestore: {foreign: ignore}\n"),
		  "exclude each other");
	CHECK_HAS(refusal("lease: {uri: 's3://b/l', duration: 9s}\n"), "lease.duration");
}

TEST(hand_overs_are_off_unless_asked_for)
{
	struct config config;

	CHECK_INT(parse(SMALLEST, &config, NULL), ==, 0);
	CHECK_INT(config.handover.mode, ==, HANDOVER_OFF);
	CHECK(!config.handover.cluster_ids && !config.handover.candidate);
	CHECK_INT(config.handover.hold, ==, HANDOVER_HOLD_MAIN);
	CHECK(config.handover.rehearse);
	CHECK_INT(config.handover.probation_ms, ==, 0);
	CHECK_INT(config.handover.prepare_deadline_ms, ==, 300000);
	CHECK_INT(config.handover.stop_deadline_ms, ==, 300000);
	CHECK_INT(config.handover.take_deadline_ms, ==, 15000);
	CHECK_INT(config.handover.run_deadline_ms, ==, 180000);
	CHECK_INT(config.handover.tries, ==, 2);
	CHECK_INT(config.handover.on_failure, ==, HANDOVER_FAILURE_RETURN);
	config_release(&config);
}

TEST(reads_every_key_of_hand_overs)
{
	struct config config;
	const char *text = SMALLEST "handover:\n"
				    "  mode: surge\n"
				    "  clusterIds: [orders, orders-green]\n"
				    "  candidate: next\n"
				    "  hold: none\n"
				    "  rehearse: false\n"
				    "  probation: 1min\n"
				    "  prepareDeadline: 10s\n"
				    "  stopDeadline: 20s\n"
				    "  takeDeadline: 30s\n"
				    "  runDeadline: 40s\n"
				    "  tries: 5\n"
				    "  onFailure: hold\n";

	CHECK_INT(parse(text, &config, NULL), ==, 0);
	CHECK_INT(config.handover.mode, ==, HANDOVER_SURGE);
	CHECK_STR(config.handover.cluster_ids[0], "orders");
	CHECK_STR(config.handover.cluster_ids[1], "orders-green");
	CHECK(!config.handover.cluster_ids[2]);
	CHECK_STR(config.handover.candidate, "next");
	CHECK_INT(config.handover.hold, ==, HANDOVER_HOLD_NONE);
	CHECK(!config.handover.rehearse);
	CHECK_INT(config.handover.probation_ms, ==, 60000);
	CHECK_INT(config.handover.prepare_deadline_ms, ==, 10000);
	CHECK_INT(config.handover.stop_deadline_ms, ==, 20000);
	CHECK_INT(config.handover.take_deadline_ms, ==, 30000);
	CHECK_INT(config.handover.run_deadline_ms, ==, 40000);
	CHECK_INT(config.handover.tries, ==, 5);
	CHECK_INT(config.handover.on_failure, ==, HANDOVER_FAILURE_HOLD);
	config_release(&config);
}

#define BLUE_GREEN "handover: {mode: blueGreen, clusterIds: [orders, orders-green]}\n"

TEST(the_keys_of_blue_green_have_defaults)
{
	struct config config;

	CHECK_INT(parse(SMALLEST BLUE_GREEN "blueGreen: {sourcesCanBeReadTwice: true}\n", &config,
			NULL),
		  ==, 0);
	CHECK_INT(config.handover.mode, ==, HANDOVER_BLUE_GREEN);
	CHECK_INT(config.blue_green.gate, ==, TRANSITION_GATE_DREY);
	CHECK(!config.blue_green.sink_uids);
	CHECK_INT(config.blue_green.lead_ms, ==, 30000);
	CHECK_INT(config.blue_green.align_ms, ==, 0);
	CHECK_INT(config.blue_green.caught_up_ms, ==, 10000);
	CHECK_INT(config.blue_green.settle_ms, ==, 10000);
	CHECK_INT(config.blue_green.deadline_ms, ==, 1800000);
	CHECK_INT(config.blue_green.idle, ==, BLUE_GREEN_IDLE_WAIT);
	CHECK_INT(config.blue_green.promote, ==, BLUE_GREEN_PROMOTE_AUTOMATIC);
	CHECK_INT(config.blue_green.after_cut, ==, AFTER_CUT_REPLAY);
	config_release(&config);
}

TEST(reads_every_key_of_blue_green)
{
	struct config config;
	const char *text = SMALLEST BLUE_GREEN "blueGreen:\n"
					       "  gate: none\n"
					       "  sourcesCanBeReadTwice: true\n"
					       "  sinkUids: [orders-sink-blue, orders-sink-green]\n"
					       "  lead: 5s\n"
					       "  align: 1min\n"
					       "  caughtUp: 2s\n"
					       "  settle: 3s\n"
					       "  idle: pass\n"
					       "  deadline: 1h\n"
					       "  promote: manual\n"
					       "  afterCut: forward\n";

	CHECK_INT(parse(text, &config, NULL), ==, 0);
	CHECK_INT(config.blue_green.gate, ==, TRANSITION_GATE_NONE);
	CHECK_STR(config.blue_green.sink_uids[1], "orders-sink-green");
	CHECK_INT(config.blue_green.lead_ms, ==, 5000);
	CHECK_INT(config.blue_green.align_ms, ==, 60000);
	CHECK_INT(config.blue_green.caught_up_ms, ==, 2000);
	CHECK_INT(config.blue_green.settle_ms, ==, 3000);
	CHECK_INT(config.blue_green.deadline_ms, ==, 3600000);
	CHECK_INT(config.blue_green.idle, ==, BLUE_GREEN_IDLE_PASS);
	CHECK_INT(config.blue_green.promote, ==, BLUE_GREEN_PROMOTE_MANUAL);
	CHECK_INT(config.blue_green.after_cut, ==, AFTER_CUT_FORWARD);
	config_release(&config);
}

TEST(blue_green_is_refused_where_it_cannot_be_exact)
{
	CHECK_HAS(refusal(BLUE_GREEN), "'blueGreen.sourcesCanBeReadTwice' is not true");
	CHECK_HAS(refusal("blueGreen: {gate: fence}\n"), "'blueGreen.gate' must be one of drey");
	CHECK_HAS(refusal("blueGreen: {lead: 0}\n"),
		  "'blueGreen.lead' must be between 1 s and 30 min");
	/* the keys alone change nothing: the next mode may need them */
	CHECK_STR(refusal("blueGreen: {gate: flip}\n"), "(accepted)");
}

#define FLIP(keys) BLUE_GREEN "blueGreen: {gate: flip, sourcesCanBeReadTwice: true, " keys "}\n"

TEST(gates_of_flip_504_are_refused_what_makes_them_lose_records)
{
	struct config config;

	CHECK_HAS(refusal(FLIP("lead: 1min")), "'blueGreen.gateName' is not set");
	CHECK_HAS(refusal(FLIP("gateName: g, lead: 29s")), "'blueGreen.lead' is shorter than 30 s");
	CHECK_HAS(refusal(FLIP("gateName: g, caughtUp: 11s")),
		  "'blueGreen.caughtUp' is more than a third of 'blueGreen.lead'");
	CHECK_HAS(refusal(FLIP("gateName: g, align: 1min")), "'blueGreen.align' cannot be used");
	CHECK_INT(parse(SMALLEST FLIP("gateName: the gate, configMap: my.gates"), &config, NULL),
		  ==, 0);
	CHECK_STR(config.blue_green.gate_name, "the gate");
	CHECK_STR(config.blue_green.config_map, "my.gates");
	config_release(&config);
}

/* The job may stay on its side after hand-overs were turned off. */
TEST(cluster_ids_may_be_given_without_hand_overs)
{
	struct config config;

	CHECK_INT(parse(SMALLEST "handover: {clusterIds: [a, b]}\n", &config, NULL), ==, 0);
	CHECK_STR(config.handover.cluster_ids[1], "b");
	config_release(&config);
}

TEST(refuses_a_restart_that_would_be_the_last_attempt)
{
	CHECK_HAS(refusal("attempts: {max: 1}\nhealth: {restartAfter: 1h}\n"),
		  "line 6, column 24: 'health.restartAfter' needs 'attempts.max' of at least 2");
}

#define IDS(ids) "handover: {mode: surge, clusterIds: " ids "}\n"
#define TEN      "abcdefghij"

TEST(refuses_hand_overs_without_two_cluster_ids)
{
	static const char *const no_ids[] = {
		"''", "Orders", "a_b", "-a", "a-", "a.b", "'a b'", TEN TEN TEN TEN TEN TEN "abcd"};

	CHECK_HAS(
		refusal("handover: {mode: surge}\n"),
		"line 5, column 18: 'handover.mode' is surge, but 'handover.clusterIds' is not set; set it");
	CHECK_HAS(refusal(IDS("[]")), "line 5, column 37: 'handover.mode' is surge, but");
	CHECK_HAS(
		refusal(IDS("[a]")),
		"line 5, column 37: 'handover.clusterIds' must be exactly two cluster ids, such as [orders, orders-green]");
	CHECK_HAS(refusal(IDS("[a, b, c]")), "must be exactly two cluster ids");
	CHECK_HAS(refusal("handover: {clusterIds: [a]}\n"), "must be exactly two cluster ids");
	CHECK_HAS(refusal(IDS("[a, a]")), "'handover.clusterIds' is 'a' twice");
	CHECK_HAS(refusal(IDS("a")), "'handover.clusterIds' must be a list");
	for (size_t i = 0; i < ARRAY_LEN(no_ids); i++) {
		cleanup_free char *text = xasprintf("handover: {clusterIds: [a, %s]}\n", no_ids[i]);

		CHECK_HAS(refusal(text), "line 5, column 28: handover.clusterIds: '");
		CHECK_HAS(refusal(text), "is not a cluster id: 1 to 63 characters a-z");
	}
	CHECK_STR(refusal(IDS("[a, " TEN TEN TEN TEN TEN TEN "abc]")), "(accepted)");
	CHECK_HAS(refusal("handover: {mode: blueGreen}\n"),
		  "'handover.mode' is blueGreen, but 'handover.clusterIds' is not set");
	CHECK_HAS(refusal("handover: {tries: 0}\n"), "'handover.tries' must be between 1 and 100");
	CHECK_HAS(refusal("handover: {candidate: A}\n"),
		  "'handover.candidate' must be the name of a Kubernetes object");
}

TEST(refuses_a_state_directory_too_long_for_a_socket)
{
	cleanup_free char *text =
		xasprintf("!application: a\nstateDirectory: /%0*d\nflink: {command: [a]}\n",
			  CONFIG_STATE_DIR_MAX, 0);

	CHECK_HAS(refusal(text), "'stateDirectory' is longer than 96 bytes");
}

TEST(refuses_a_key_that_is_given_twice)
{
	CHECK_HAS(refusal("application: again\n"), "line 5, column 1");
	CHECK_HAS(refusal("savepoints: {}\nsavepoints: {}\n"), "line 6, column 1");
}

TEST(refuses_bad_properties_and_variables)
{
	const char *base = "!application: a\nstateDirectory: /x\nflink:\n  command: [java]\n";
	cleanup_free char *twice = xasprintf("%s  properties: {a.b: 1, a: {b: 2}}\n", base);
	cleanup_free char *list = xasprintf("%s  properties: {a: [1]}\n", base);
	cleanup_free char *name = xasprintf("%s  environment: {9A: x}\n", base);
	cleanup_free char *own = xasprintf("%s  environment: {DREY_INIT_FD: '3'}\n", base);

	CHECK_HAS(refusal(twice), "line 5, column 28: 'a.b' is given twice");
	CHECK_HAS(refusal(list), "'a' of 'flink.properties' is a list");
	CHECK_HAS(refusal(name), "'9A' is not a valid variable name");
	CHECK_HAS(refusal(own), "'DREY_INIT_FD' is reserved for drey");
}

TEST(fills_the_configuration_of_the_core)
{
	struct lifecycle_config life;
	struct flink_launch launch;
	struct config config;
	const char *text = SMALLEST "  version: 1.20.5\n"
				    "  restPort: 8181\n"
				    "  savepointDirectory: /sp\n"
				    "savepoints: {interval: 1h, format: native}\n"
				    "whenFinished: exit\n";

	if (!CHECK(parse(text, &config, NULL) == 0))
		return;
	config_lifecycle(&config, &life);
	CHECK_STR(life.savepoint_dir, "file:///sp");
	CHECK_STR(life.flink_version, "1.20.5");
	CHECK(!life.application_ids);
	CHECK(life.exit_when_finished);
	CHECK_INT(life.upgrade, ==, UPGRADE_BY_SAVEPOINT);
	CHECK(!life.policy.stateless_upgrade);
	CHECK_INT(life.max_attempts, ==, 5);
	CHECK_INT(life.backoff_max_ms, ==, 60000);
	CHECK_INT(life.hold_retry_max_ms, ==, 30000);
	CHECK_INT(life.format, ==, FORMAT_POLICY_NATIVE);
	CHECK_INT(life.savepoint_retries, ==, 2);
	CHECK_INT(life.savepoint_retry_ms, ==, 10000);
	CHECK_INT(life.stop_retry_ms, ==, 30000);
	CHECK_INT(life.on_stop_failure, ==, STOP_FAILURE_RETRY);
	CHECK_INT(life.stop_retries, ==, 3);
	CHECK_INT(life.full_checkpoint_ms, ==, 0);
	CHECK_INT(life.kill_after_ms, ==, 20000);
	config_launch(&config, &launch);
	CHECK_STR(launch.command[0], "/docker-entrypoint.sh");
	CHECK_INT(launch.rest_port, ==, 8181);
	CHECK_INT(launch.version.minor, ==, 20);
	CHECK_INT(launch.heartbeat_timeout_ms, ==, 5000);
	config_release(&config);
}

TEST(an_unknown_version_gets_application_ids)
{
	struct lifecycle_config life;
	struct config config;

	if (!CHECK(parse(SMALLEST, &config, NULL) == 0))
		return;
	config_lifecycle(&config, &life);
	CHECK(life.application_ids);
	CHECK(life.native_loses_claimed);
	CHECK(!life.flink_version);
	config_release(&config);
}

TEST(a_file_is_named_in_the_message)
{
	char path[] = "/tmp/drey-test-config-XXXXXX";
	int fd = mkstemp(path);
	struct config config;
	struct err err = {0};

	if (!CHECK(fd >= 0))
		return;
	CHECK(write(fd, "aplication: x\n", 14) == 14);
	close(fd);
	CHECK(config_load(path, &config, &err) < 0);
	CHECK_HAS(err.msg, path);
	CHECK_HAS(err.msg,
		  ": line 1, column 1: unknown key 'aplication'; did you mean 'application'?");
	unlink(path);
	err = (struct err){0};
	CHECK(config_load(path, &config, &err) < 0);
	CHECK(err.kind == ERR_ABSENT);
	CHECK_HAS(err.msg, path);
}

/* ---- docs/reference/configuration.md ---- */

/* The beginning of the row that describes the key: "| `name` | type | default | ". */
static void expected_row(const struct config_key *key, struct buf *row)
{
	char low[CLOCK_TEXT_BYTES], high[CLOCK_TEXT_BYTES];

	buf_addf(row, "| `%s` | ", key->name);
	switch (key->type) {
	case CONFIG_WORD:
		for (int i = 0; key->words[i]; i++)
			buf_addf(row, "%s`%s`", i ? ", " : "", key->words[i]);
		break;
	case CONFIG_INTEGER:
		buf_addf(row, "integer, %lld to %lld", (long long)key->min, (long long)key->max);
		break;
	case CONFIG_DURATION:
		buf_addf(row, "duration, %s to %s", clock_human(key->min, low),
			 clock_human(key->max, high));
		break;
	default:
		buf_addstr(row, config_type_name(key->type));
	}
	if (key->required)
		buf_addstr(row, " | required | ");
	else
		buf_addf(row, " | %s%s%s | ", key->fallback ? "`" : "",
			 key->fallback ? key->fallback : "none", key->fallback ? "`" : "");
}

static const char *docs_path(char *path)
{
	/* the program is build[/san]/tests/unit/test_config */
	ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 64);
	char *cut;

	if (len < 0)
		return NULL;
	path[len] = '\0';
	cut = strstr(path, "/build/");
	if (!cut)
		return NULL;
	strcpy(cut, "/docs/reference/configuration.md");
	return path;
}

TEST(the_documentation_has_every_key_and_no_other)
{
	cleanup_buf struct buf docs = BUF_INIT;
	char path[PATH_MAX];
	size_t count, rows = 0;
	const struct config_key *keys = config_keys(&count);

	if (!docs_path(path) || fs_read(path, 1024 * 1024, &docs, NULL) < 0) {
		tap_skip("docs/reference/configuration.md is not there");
		return;
	}
	for (size_t i = 0; i < count; i++) {
		cleanup_buf struct buf row = BUF_INIT;

		expected_row(&keys[i], &row);
		CHECK_HAS(buf_str(&docs), buf_str(&row));
	}
	for (const char *at = buf_str(&docs); (at = strstr(at, "\n| `")); at++)
		rows++;
	CHECK_INT(rows, ==, count);
}
