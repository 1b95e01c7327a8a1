#include "flink/launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flink/command.h"
#include "flink/reserved.h"
#include "tap.h"

#define JOB   "0123456789abcdef0123456789abcdef"
#define APP   "fedcba9876543210fedcba9876543210"
#define CLASS "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *const image[] = {"/docker-entrypoint.sh", "standalone-job", NULL};
static const char *const laptop[] = {"java", "-cp", "lib/*", CLASS, "--configDir", "conf", NULL};

static const struct flink_version v115 = {1, 15, 4}, v118 = {1, 18, 1}, v120 = {1, 20, 5},
				  v23 = {2, 3, 0}, unknown = {0};

static struct flink_launch launch_of(const char *const *command, struct flink_version version)
{
	return (struct flink_launch){
		.command = command,
		.version = version,
		.job_id = JOB,
		.job_result_store = "file:/s/jrs/" JOB,
		.application_id = APP,
		.application_result_store = "file:/s/ars/" JOB,
	};
}

/* The command line as one text, words separated by '|'; caller frees. NULL: it failed. */
static char *built(const struct flink_launch *launch)
{
	struct flink_exec exec = {0};
	struct buf text = BUF_INIT;
	struct err err = {0};
	size_t packed = 0;

	if (flink_launch_build(launch, &exec, &err) < 0) {
		tap_note("%s", err.msg);
		return NULL;
	}
	for (size_t i = 0; i < exec.argc; i++) {
		buf_addstr(&text, exec.argv[i]);
		buf_addch(&text, '|');
		packed += strlen(exec.argv[i]) + 1;
	}
	for (size_t i = 0; i < exec.envc; i++)
		packed += strlen(exec.env[i]) + 1;
	CHECK(exec.argv[exec.argc] == NULL);
	CHECK(exec.env[exec.envc] == NULL);
	CHECK_INT(packed, ==, exec.packed_bytes);
	flink_exec_release(&exec);
	return buf_steal(&text);
}

TEST(the_whole_line_of_the_image_on_2_3)
{
	struct flink_launch launch = launch_of(image, v23);
	const struct flink_property mine[] = {{"parallelism.default", "2"}, {"x", "a b=c"}};
	cleanup_free char *text = NULL;

	launch.properties = mine;
	launch.property_count = 2;
	launch.restore_path = "s3://b/sp/savepoint-012345-1";
	launch.allow_non_restored_state = true;
	launch.job_class = "com.example.Job";
	launch.jars = LIST("local:///a.jar", "https://h/b.jar");
	launch.program_args = LIST("--input", "x y");
	launch.checkpoint_dir = "s3://b/ck";
	launch.savepoint_dir = "s3://b/sp";
	launch.rest_address = "10.0.0.7";
	launch.rest_port = 8081;
	launch.rpc_address = "10.0.0.7";
	launch.tmp_dirs = "/tmp/drey-1";
	launch.env = LIST("PATH=/bin");
	launch.heartbeat_interval_ms = 1000;
	text = built(&launch);
	CHECK_STR(text, "/docker-entrypoint.sh|standalone-job|"
			"-D|parallelism.default=2|-D|x=a b=c|"
			"-D|execution.checkpointing.externalized-checkpoint-retention=RETAIN_ON_"
			"CANCELLATION|"
			"-D|rest.cache.checkpoint-statistics.timeout=0 ms|"
			"-D|heartbeat.interval=1000|"
			"-D|execution.checkpointing.dir=s3://b/ck|"
			"-D|execution.checkpointing.savepoint-dir=s3://b/sp|"
			"-D|rest.address=10.0.0.7|-D|rest.port=8081|-D|rest.bind-port=8081|"
			"-D|jobmanager.rpc.address=10.0.0.7|-D|io.tmp.dirs=/tmp/drey-1|"
			"-D|job-result-store.storage-path=file:/s/jrs/" JOB "|"
			"-D|job-result-store.delete-on-commit=false|"
			"-D|jobmanager.archive.fs.dir=file:/s/jrs/" JOB "|"
			"-D|$internal.application.id=" APP "|"
			"-D|application-result-store.storage-path=file:/s/ars/" JOB "|"
			"-D|execution.shutdown-on-application-finish=false|"
			"-D|execution.submit-failed-job-on-application-error=true|"
			"--job-id|" JOB
			"|--fromSavepoint|s3://b/sp/savepoint-012345-1|--allowNonRestoredState|"
			"--job-classname|com.example.Job|--jars|local:///a.jar,https://h/b.jar|"
			"--|--input|x y|");
}

TEST(the_options_of_drey_are_the_first_ones_of_java)
{
	struct flink_launch launch = launch_of(laptop, v23);
	const char *const wrapped[] = {"tini", "--", "/jdk/bin/java", "-Xmx1g", CLASS, NULL};
	cleanup_free char *text = NULL, *behind = NULL;

	launch.jvm_options = LIST("-XX:A=1", "-XX:B=2");
	text = built(&launch);
	CHECK_HAS(text, "java|-XX:A=1|-XX:B=2|-cp|lib/*|");
	launch.command = wrapped;
	behind = built(&launch);
	CHECK_HAS(behind, "tini|--|/jdk/bin/java|-XX:A=1|-XX:B=2|-Xmx1g|");
}

TEST(a_script_gets_the_options_of_drey_before_those_of_the_user)
{
	struct flink_launch launch = launch_of(image, v23);
	struct flink_exec exec = {0};
	cleanup_free char *text = NULL;

	launch.jvm_options = LIST("-XX:A=1", "-XX:B=2");
	text = built(&launch);
	CHECK(strstr(text, "-XX:A") == NULL);
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_INT(exec.envc, ==, 1);
	CHECK_STR(exec.env[0], "JVM_ARGS=-XX:A=1 -XX:B=2");
	flink_exec_release(&exec);

	launch.env = LIST("A=1", "JVM_ARGS=-Dx=y -ea", "JVM_ARGS_2=z");
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_INT(exec.envc, ==, 3);
	CHECK_STR(exec.env[1], "JVM_ARGS_2=z");
	CHECK_STR(exec.env[2], "JVM_ARGS=-XX:A=1 -XX:B=2 -Dx=y -ea");
	CHECK(exec.env[3] == NULL);
	flink_exec_release(&exec);

	launch.jvm_options = NULL;
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_STR(exec.env[1], "JVM_ARGS=-Dx=y -ea");
	flink_exec_release(&exec);
}

TEST(state_may_be_left_behind_only_where_that_was_allowed)
{
	struct flink_launch launch = launch_of(laptop, v120);
	cleanup_free char *text = NULL;

	launch.restore_path = "file:/sp/savepoint-1";
	text = built(&launch);
	CHECK_HAS(text, "--fromSavepoint|file:/sp/savepoint-1|");
	CHECK(strstr(text, "allowNonRestoredState") == NULL);
}

TEST(an_empty_start_names_no_restore_path)
{
	struct flink_launch launch = launch_of(laptop, v120);
	cleanup_free char *text = NULL;

	launch.allow_non_restored_state = true; /* means nothing without a path */
	text = built(&launch);
	CHECK_HAS(text, "java|-cp|lib/*|" CLASS "|--configDir|conf|-D|");
	CHECK_HAS(text, "--job-id|" JOB "|");
	CHECK(strstr(text, "fromSavepoint") == NULL);
	CHECK(strstr(text, "allowNonRestoredState") == NULL);
	CHECK(strstr(text, "|--|") == NULL);
}

/* ---- held ---- */

static struct flink_launch held_launch(void)
{
	struct flink_launch launch = launch_of(laptop, v120);

	launch.held_file = "/state/held/" JOB ".json";
	launch.job_class = "com.example.Job";
	return launch;
}

TEST(a_held_launch_starts_the_class_of_drey_without_a_restore_path)
{
	struct flink_launch launch = held_launch();
	cleanup_free char *text = NULL;

	launch.restore_path = "file:/sp/savepoint-1";
	launch.allow_non_restored_state = true;
	launch.program_args = LIST("--input", "x");
	text = built(&launch);
	CHECK_HAS(text, "|--job-id|" JOB "|--job-classname|dev.drey.Held|--|--input|x|");
	CHECK(strstr(text, "fromSavepoint") == NULL);
	CHECK(strstr(text, "allowNonRestoredState") == NULL);
	CHECK(strstr(text, "com.example.Job") == NULL);
}

TEST(a_held_launch_has_its_class_and_go_file_in_the_environment)
{
	struct flink_launch launch = held_launch();
	struct flink_exec exec = {0};

	launch.env = LIST("PATH=/bin", "DREY_HELD_CLASS=other", "DREY_HELD_FILE=/other",
			  "DREY_REHEARSE=other");
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_INT(exec.envc, ==, 3);
	CHECK_STR(exec.env[1], "DREY_HELD_CLASS=com.example.Job");
	CHECK_STR(exec.env[2], "DREY_HELD_FILE=/state/held/" JOB ".json");
	flink_exec_release(&exec);

	launch.rehearse = true;
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_INT(exec.envc, ==, 4);
	CHECK_STR(exec.env[3], "DREY_REHEARSE=1");
	flink_exec_release(&exec);

	launch.job_class = NULL; /* that of the manifest */
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_STR(exec.env[1], "DREY_HELD_CLASS=");
	flink_exec_release(&exec);

	launch.held_file = NULL;
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_INT(exec.envc, ==, 1);
	flink_exec_release(&exec);
}

TEST(a_launch_that_flink_would_not_hold_is_refused)
{
	const char *const named[] = {"java", CLASS, "-j", "com.example.Job", NULL};
	static const char *const python[] = {"-py", "--python", "-pym", "--pyModule"};
	struct flink_launch launch = held_launch();
	struct flink_exec exec = {0};
	struct err err = {0};

	CHECK(flink_launch_cannot_hold(&launch) == NULL);
	for (size_t i = 0; i < ARRAY_LEN(python); i++) {
		launch.program_args = LIST("a", python[i], "job.py");
		CHECK_HAS(flink_launch_cannot_hold(&launch), "Python");
	}
	launch.program_args = LIST("--python", "job.py"); /* the lists of the loop are gone */
	CHECK_INT(flink_launch_build(&launch, &exec, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "cannot be held: the program is in Python");
	launch = held_launch();
	launch.job_class = "org.apache.flink.client.python.PythonDriver";
	CHECK_HAS(flink_launch_cannot_hold(&launch), "Python");
	launch = held_launch();
	launch.command = named;
	CHECK_HAS(flink_launch_cannot_hold(&launch), "--job-classname");
	launch = held_launch();
	launch.version = v118;
	CHECK_HAS(flink_launch_cannot_hold(&launch), "older than 1.20");
	launch.version = unknown;
	CHECK_HAS(flink_launch_cannot_hold(&launch), "unknown");
	launch = held_launch();
	launch.held_file = "held/x.json";
	CHECK_INT(flink_launch_build(&launch, &exec, &err), ==, -1);
	CHECK_HAS(err.msg, "absolute");
	CHECK(exec.argv == NULL);
}

TEST(application_ids_are_for_2_3_and_for_the_unknown)
{
	struct flink_launch old = launch_of(laptop, v120), new = launch_of(laptop, v23),
			    other = launch_of(laptop, unknown);
	cleanup_free char *old_text = built(&old);
	cleanup_free char *new_text = built(&new);
	cleanup_free char *other_text = built(&other);

	CHECK(strstr(old_text, "application-result-store") == NULL);
	CHECK(strstr(old_text, "$internal.application.id") == NULL);
	CHECK_HAS(new_text, "|$internal.application.id=" APP "|");
	CHECK_HAS(other_text, "|application-result-store.storage-path=file:/s/ars/");
}

TEST(directory_keys_fit_the_version)
{
	static const struct {
		struct flink_version version;
		bool old_keys, new_keys;
	} rows[] = {{{1, 15, 4}, true, false},
		    {{1, 19, 1}, true, false},
		    {{1, 20, 0}, false, true},
		    {{2, 3, 0}, false, true},
		    {{0, 0, 0}, true, true}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct flink_launch launch = launch_of(laptop, rows[i].version);
		cleanup_free char *text = NULL;

		launch.checkpoint_dir = "file:/ck";
		launch.savepoint_dir = "file:/sp";
		text = built(&launch);
		CHECK_INT(strstr(text, "|state.checkpoints.dir=file:/ck|") != NULL, ==,
			  rows[i].old_keys);
		CHECK_INT(strstr(text, "|state.savepoints.dir=file:/sp|") != NULL, ==,
			  rows[i].old_keys);
		CHECK_INT(strstr(text, "|execution.checkpointing.dir=file:/ck|") != NULL, ==,
			  rows[i].new_keys);
		CHECK_INT(strstr(text, "|execution.checkpointing.savepoint-dir=file:/sp|") != NULL,
			  ==, rows[i].new_keys);
	}
}

TEST(the_user_may_overrule_what_is_no_decision)
{
	struct flink_launch launch =
		launch_of(LIST("java", CLASS, "-Dheartbeat.timeout=9000", "-D", "a=b"), v120);
	const struct flink_property mine[] = {
		{"execution.checkpointing.externalized-checkpoint-retention",
		 "NO_EXTERNALIZED_CHECKPOINTS"},
		{"rest.cache.checkpoint-statistics.timeout", "1 s"}};
	cleanup_free char *text = NULL;

	launch.properties = mine;
	launch.property_count = 2;
	launch.heartbeat_interval_ms = 1000;
	launch.heartbeat_timeout_ms = 5000;
	text = built(&launch);
	CHECK(strstr(text, "RETAIN_ON_CANCELLATION") == NULL);
	CHECK(strstr(text, "statistics.timeout=0") == NULL);
	CHECK_HAS(text, "|heartbeat.interval=1000|");
	CHECK(strstr(text, "heartbeat.timeout=5000") == NULL);
}

TEST(with_flink_ha_the_heartbeat_is_left_alone)
{
	struct flink_launch launch = launch_of(image, v23);
	cleanup_free char *text = NULL;

	launch.ha = true;
	launch.heartbeat_interval_ms = 1000;
	launch.heartbeat_timeout_ms = 5000;
	text = built(&launch);
	CHECK(strstr(text, "heartbeat") == NULL);
}

TEST(with_flink_ha_the_rpc_port_is_a_fixed_one_unless_the_user_has_another)
{
	static const struct flink_property own = {"high-availability.jobmanager.port", "7000"};
	struct flink_launch launch = launch_of(image, v23);
	cleanup_free char *without = NULL, *with = NULL, *users = NULL;

	launch.ha_rpc_port = 6123;
	without = built(&launch);
	CHECK(strstr(without, "high-availability.jobmanager.port") == NULL);
	launch.ha = true;
	with = built(&launch);
	CHECK_HAS(with, "high-availability.jobmanager.port=6123");
	launch.properties = &own;
	launch.property_count = 1;
	users = built(&launch);
	CHECK_HAS(users, "high-availability.jobmanager.port=7000");
	CHECK(strstr(users, "jobmanager.port=6123") == NULL);
}

TEST(every_property_of_drey_is_refused_by_name)
{
	static const char *const keys[] = {
		"job-result-store.storage-path",
		"job-result-store.delete-on-commit",
		"$internal.application.id",
		"$internal.pipeline.job-id",
		"application-result-store.storage-path",
		"application-result-store.delete-on-commit",
		"execution.shutdown-on-application-finish",
		"execution.submit-failed-job-on-application-error",
		"execution.state-recovery.path",
		"execution.state-recovery.ignore-unclaimed-state",
		"execution.savepoint.path",
		"execution.savepoint.ignore-unclaimed-state",
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct flink_launch launch = launch_of(image, v23);
		struct flink_property property = {keys[i], "x"};
		cleanup_free char *word = xasprintf("%s=x", keys[i]);
		struct err err = {0};

		launch.properties = &property;
		launch.property_count = 1;
		CHECK_INT(flink_launch_check(&launch, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, keys[i]);
		/* in the command too */
		launch =
			launch_of(LIST("/docker-entrypoint.sh", "standalone-job", "-D", word), v23);
		err = (struct err){0};
		CHECK_INT(flink_launch_check(&launch, &err), ==, -1);
		CHECK_HAS(err.msg, keys[i]);
	}
	CHECK(flink_reserved("execution.checkpointing.interval") == NULL);
}

TEST(flink_gets_the_cluster_id_of_its_side)
{
	struct flink_launch launch = launch_of(image, v23);
	cleanup_free char *without = built(&launch), *with = NULL;

	CHECK(!strstr(without, "cluster-id"));
	launch.cluster_id = "orders-green";
	with = built(&launch);
	CHECK_HAS(with, "|-D|kubernetes.cluster-id=orders-green|");
	CHECK_HAS(with, "|-D|high-availability.cluster-id=orders-green|");
	CHECK(strstr(with, "cluster-id=") < strstr(with, "|--job-id|"));
}

TEST(a_job_of_blue_green_is_told_its_side_and_where_its_orders_are)
{
	struct flink_launch launch = launch_of(image, v23);
	cleanup_free char *without = built(&launch), *with = NULL;

	CHECK(!strstr(without, "drey."));
	launch.side = "green";
	launch.gate_directory = "/state/gate";
	with = built(&launch);
	CHECK_HAS(with, "|-D|drey.side=green|");
	CHECK_HAS(with, "|-D|drey.gate.directory=/state/gate|");
}

/* The properties are in the graph of the job, which Flink recovers in a pod that may have another directory. */
TEST(the_gates_of_a_recovered_job_are_told_where_their_orders_are)
{
	struct flink_launch launch = launch_of(image, v23);
	struct flink_exec exec = {0};

	launch.env = LIST("PATH=/bin", "DREY_GATE_DIRECTORY=/other");
	launch.gate_directory = "/state/gate";
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_INT(exec.envc, ==, 2);
	CHECK_STR(exec.env[1], "DREY_GATE_DIRECTORY=/state/gate");
	flink_exec_release(&exec);
}

static const struct flink_property flip_properties[] = {
	{"bluegreen.configmap.name", "orders-bluegreen"},
	{"bluegreen.active-deployment-type", "GREEN"}};

TEST(gates_of_flip_504_are_told_their_side_and_their_map)
{
	struct flink_launch launch = launch_of(image, v23);
	struct flink_property often = {"metrics.fetcher.update-interval", "500"};
	cleanup_free char *without = built(&launch), *with = NULL, *own = NULL;

	CHECK(!strstr(without, "bluegreen.") && !strstr(without, "metrics.fetcher"));
	launch.gate_properties = flip_properties;
	launch.gate_property_count = 2;
	with = built(&launch);
	CHECK_HAS(with, "|-D|bluegreen.configmap.name=orders-bluegreen|");
	CHECK_HAS(with, "|-D|bluegreen.active-deployment-type=GREEN|");
	CHECK_HAS(with, "|-D|metrics.fetcher.update-interval=1000|");
	launch.properties = &often;
	launch.property_count = 1;
	own = built(&launch);
	CHECK(!strstr(own, "metrics.fetcher.update-interval=1000"));
}

TEST(the_side_of_a_job_is_dreys_with_blue_green)
{
	static const char *const keys[] = {"drey.side", "drey.gate.directory",
					   "bluegreen.configmap.name",
					   "bluegreen.active-deployment-type"};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct flink_property property = {keys[i], "blue"};
		struct flink_launch launch = launch_of(image, v23);
		struct err err = {0};

		launch.properties = &property;
		launch.property_count = 1;
		CHECK_INT(flink_launch_check(&launch, &err), ==, 0);
		launch.side = "blue";
		launch.gate_properties = flip_properties;
		launch.gate_property_count = 2;
		CHECK_INT(flink_launch_check(&launch, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, keys[i]);
		CHECK_HAS(err.msg, "remove it from flink.properties");
	}
}

TEST(the_cluster_id_is_dreys_where_there_are_sides)
{
	static const char *const keys[] = {"kubernetes.cluster-id", "high-availability.cluster-id"};

	for (size_t i = 0; i < ARRAY_LEN(keys) * 2; i++) {
		struct flink_property property = {keys[i / 2], "x"};
		cleanup_free char *word = xasprintf("%s=x", keys[i / 2]);
		const char *const command[] = {"/docker-entrypoint.sh", "standalone-job", "-D",
					       word, NULL};
		struct flink_launch launch = launch_of(i % 2 ? command : image, v23);
		struct err err = {0};

		launch.properties = &property;
		launch.property_count = i % 2 ? 0 : 1;
		CHECK_INT(flink_launch_check(&launch, &err), ==, 0);
		launch.cluster_id = "orders";
		CHECK_INT(flink_launch_check(&launch, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, keys[i / 2]);
		CHECK_HAS(err.msg, "handover.clusterIds");
	}
}

TEST(secrets_are_refused_on_the_command_line)
{
	static const char *const secret[] = {"s3.secret-key",
					     "security.ssl.rest.keystore-password",
					     "fs.azure.account.key.x.blob.core.windows.net",
					     "my.api-key",
					     "security.delegation.token.provider.s3.secret-key",
					     "X.Token"};
	static const char *const harmless[] = {"s3.access-key", "s3.endpoint",
					       "security.delegation.tokens.enabled",
					       "state.backend.type"};

	for (size_t i = 0; i < ARRAY_LEN(secret); i++) {
		struct flink_launch launch = launch_of(image, v23);
		struct flink_property property = {secret[i], "hunter2"};
		struct err err = {0};

		launch.properties = &property;
		launch.property_count = 1;
		CHECK_INT(flink_launch_check(&launch, &err), ==, -1);
		CHECK_HAS(err.msg, secret[i]);
		CHECK(strstr(err.msg, "hunter2") == NULL);
	}
	for (size_t i = 0; i < ARRAY_LEN(harmless); i++)
		CHECK(!flink_key_is_secret(harmless[i]));
}

/* Check one command; the message of the refusal, or "" when it is accepted. */
static const char *refusal(const char *const *command, struct flink_version version)
{
	static struct err err;
	struct flink_launch launch = launch_of(command, version);

	err = (struct err){0};
	return flink_launch_check(&launch, &err) < 0 ? err.msg : "";
}

TEST(ids_and_restore_points_in_the_command_are_refused)
{
	static const char *const words[] = {
		"--job-id", "-jid",      "--fromSavepoint", "-s", "--allowNonRestoredState",
		"-n",       "--job-id=x"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		CHECK_HAS(refusal(LIST("java", CLASS, "-c", "conf", words[i], "x"), v120),
			  words[i]);
}

TEST(a_word_that_would_end_flinks_option_parsing_is_refused)
{
	CHECK_HAS(refusal(LIST("java", CLASS, "-c", "conf", "--input", "x"), v23), "'--input'");
	CHECK_HAS(refusal(LIST("/docker-entrypoint.sh", "standalone-job", "args"), v23), "'args'");
	CHECK_HAS(refusal(LIST("x", "start-foreground", "--"), v23), "'--'");
	CHECK_HAS(refusal(LIST("java", CLASS, "-D"), v23), "not key=value");
	CHECK_HAS(refusal(LIST("java", CLASS, "-c"), v23), "needs a value");
	CHECK_HAS(refusal(NULL, v23), "empty");
	CHECK_HAS(refusal(LIST(""), v23), "empty");
}

TEST(host_is_an_option_only_before_2_0)
{
	CHECK_STR(refusal(LIST("java", CLASS, "--host", "h", "-r", "8081"), v120), "");
	CHECK_HAS(refusal(LIST("java", CLASS, "--host", "h"), v23), "--host");
	CHECK_HAS(refusal(LIST("java", CLASS, "--host", "h"), unknown), "--host");
}

TEST(known_options_and_foreign_scripts_are_accepted)
{
	CHECK_STR(refusal(image, v115), "");
	CHECK_STR(refusal(laptop, v23), "");
	CHECK_STR(refusal(LIST("nice", "-n", "5", "java", "-Dlog.file=x", CLASS, "--configDir=conf",
			       "-Dx.y=z", "-D", "a=", "-j", "J", "-jars", "a,b"),
			  v23),
		  "");
	CHECK_STR(refusal(LIST("/opt/run-my-flink", "-s", "anything"), v23), "");
	CHECK_STR(refusal(LIST("bin/standalone-job.sh", "start-foreground", "-c", "x"), v23), "");
}

TEST(jars_need_1_19)
{
	struct flink_launch launch = launch_of(image, v118);
	struct err err = {0};

	launch.jars = LIST("a.jar");
	CHECK_INT(flink_launch_check(&launch, &err), ==, -1);
	CHECK_HAS(err.msg, "usrlib");
	launch.version = v120;
	CHECK_INT(flink_launch_check(&launch, &err), ==, 0);
	launch.jars = LIST("a.jar,b.jar");
	CHECK_INT(flink_launch_check(&launch, &err), ==, -1);
	CHECK_HAS(refusal(LIST("java", CLASS, "--jars", "x"), v118), "1.18.1");
}

TEST(bad_ids_and_paths_never_reach_a_command_line)
{
	struct flink_exec exec = {0};
	struct err err = {0};
	struct flink_launch launch = launch_of(image, v23);

	launch.job_id = "0123";
	CHECK_INT(flink_launch_build(&launch, &exec, &err), ==, -1);
	CHECK_HAS(err.msg, "0123");
	launch = launch_of(image, v23);
	launch.job_id = "0123456789ABCDEF0123456789ABCDEF";
	CHECK_INT(flink_launch_build(&launch, &exec, &err), ==, -1);
	launch = launch_of(image, v23);
	launch.application_id = "x";
	CHECK_INT(flink_launch_build(&launch, &exec, &err), ==, -1);
	launch = launch_of(image, v23);
	launch.restore_path = "";
	CHECK_INT(flink_launch_build(&launch, &exec, &err), ==, -1);
	launch = launch_of(image, v23);
	launch.ha = true;
	launch.application_id = NULL;
	CHECK_INT(flink_launch_build(&launch, &exec, &err), ==, -1);
	CHECK(exec.argv == NULL);
}

TEST(the_environment_passes_but_for_what_is_dreys)
{
	struct flink_launch launch = launch_of(image, v23);
	struct flink_exec exec = {0};

	launch.env = LIST("PATH=/bin", "DREY_INIT_FD=5", "DREY_TOKEN=s", "NOTIFY_SOCKET=/x",
			  "WATCHDOG_USEC=1", "LISTEN_FDS=2", "AWS_REGION=eu", "EMPTY=", "DREYX=1",
			  "broken");
	CHECK_INT(flink_launch_build(&launch, &exec, NULL), ==, 0);
	CHECK_INT(exec.envc, ==, 4);
	CHECK_STR(exec.env[0], "PATH=/bin");
	CHECK_STR(exec.env[1], "AWS_REGION=eu");
	CHECK_STR(exec.env[2], "EMPTY=");
	CHECK_STR(exec.env[3], "DREYX=1");
	flink_exec_release(&exec);
}

TEST(without_a_result_store_flinks_own_is_used)
{
	struct flink_launch launch = launch_of(laptop, v23);
	cleanup_free char *text = NULL;

	launch.job_result_store = launch.application_result_store = NULL;
	text = built(&launch);
	CHECK(strstr(text, "result-store") == NULL);
}

TEST(finds_its_way_in_any_command)
{
	cleanup_free char *home = command_script_home(LIST("/x/bin/standalone-job.sh", "start"));
	cleanup_free char *here = command_script_home(LIST("bin/standalone-job.sh"));
	cleanup_free char *docker = command_script_home(LIST("tini", "/docker-entrypoint.sh"));
	cleanup_free char *none = command_script_home(LIST("/x/standalone-job.sh"));

	CHECK_INT(command_options_begin(image), ==, 2);
	CHECK_INT(command_options_begin(laptop), ==, 4);
	CHECK_INT(command_options_begin(LIST("standalone-job", "start-foreground", "-c")), ==, 2);
	CHECK_INT(command_options_begin(LIST("sh", "-c", "exec java " CLASS " \"$@\"")), ==, 0);
	CHECK_STR(home, "/x");
	CHECK_STR(here, ".");
	CHECK_STR(docker, "/opt/flink");
	CHECK(none == NULL);
	CHECK_STR(command_class_path(laptop), "lib/*");
	CHECK_STR(command_class_path(LIST("java", "--class-path=a:b")), "a:b");
	CHECK(command_class_path(LIST("java", "-cp")) == NULL);
	CHECK_STR(command_env(LIST("A=1", "AB=2"), "AB"), "2");
	CHECK(command_env(LIST("A="), "A") == NULL);
}
