#include "flink/conf.h"
#include "flink/reserved.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static char dir[64];
static const struct flink_version v118 = {1, 18, 1}, v119 = {1, 19, 0}, v120 = {1, 20, 5},
				  v20 = {2, 0, 0}, v23 = {2, 3, 0}, unknown = {0};

static void put(const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	cleanup_fclose FILE *file = NULL;

	unlink(path);
	if (!text)
		return;
	file = fopen(path, "w");
	CHECK(file && fputs(text, file) >= 0);
}

static struct flink_conf yaml(const char *text)
{
	struct flink_conf conf = {0};
	struct err err = {0};

	if (flink_conf_add_yaml(&conf, text, strlen(text), &err) < 0)
		tap_note("%s", err.msg);
	return conf;
}

static struct flink_conf lines(const char *text)
{
	struct flink_conf conf = {0};

	flink_conf_add_lines(&conf, text, strlen(text));
	return conf;
}

TEST(nested_and_dotted_keys_are_the_same)
{
	struct flink_conf conf = yaml("execution:\n"
				      "  checkpointing:\n"
				      "    dir: file:///ck   # a comment\n"
				      "    interval: 10 s\n"
				      "execution.checkpointing.savepoint-dir: \"file:///sp#1\"\n"
				      "io.tmp.dirs: [/a, /b]\n"
				      "rest: {port: 8081}\n"
				      "nothing:\n");

	CHECK_STR(flink_conf_get(&conf, "execution.checkpointing.dir"), "file:///ck");
	CHECK_STR(flink_conf_get(&conf, "execution.checkpointing.interval"), "10 s");
	CHECK_STR(flink_conf_get(&conf, "execution.checkpointing.savepoint-dir"), "file:///sp#1");
	CHECK_STR(flink_conf_get(&conf, "io.tmp.dirs"), "[/a, /b]");
	CHECK_STR(flink_conf_get(&conf, "rest.port"), "8081");
	CHECK(flink_conf_get(&conf, "nothing") == NULL);
	CHECK(flink_conf_get(&conf, "rest") == NULL);
	flink_conf_release(&conf);
}

TEST(the_legacy_reader_is_as_simple_as_flinks)
{
	struct flink_conf conf = lines("# comment\n"
				       "state.checkpoints.dir: s3://b/ck # where\n"
				       "  rest.port:   8082  \n"
				       "a.b: c: d\n"
				       "no-space:xyz\n"
				       "empty: \n"
				       "cut: here # and no further\n"
				       "quoted: \"x\"\n"
				       "state.checkpoints.dir: s3://b/later\r\n"
				       "last: line");

	CHECK_STR(flink_conf_get(&conf, "state.checkpoints.dir"), "s3://b/later");
	CHECK_STR(flink_conf_get(&conf, "rest.port"), "8082");
	CHECK_STR(flink_conf_get(&conf, "a.b"), "c: d");
	CHECK(flink_conf_get(&conf, "no-space") == NULL);
	CHECK(flink_conf_get(&conf, "empty") == NULL);
	CHECK_STR(flink_conf_get(&conf, "quoted"), "\"x\"");
	CHECK_STR(flink_conf_get(&conf, "last"), "line");
	CHECK_STR(flink_conf_get(&conf, "cut"), "here");
	CHECK_INT(conf.count, ==, 6);
	flink_conf_release(&conf);
}

/* Which file is read: the value of "who", or "" when it failed with the kind. */
static void reads(struct flink_version version, const char *want, enum err_kind kind)
{
	struct flink_conf conf = {0};
	struct err err = {0};
	int result = flink_conf_load(dir, version, &conf, &err);

	if (result < 0) {
		CHECK_STR("", want);
		CHECK_INT(err.kind, ==, kind);
		return;
	}
	CHECK_STR(flink_conf_get(&conf, "who"), want);
	CHECK_HAS(conf.file, dir);
	flink_conf_release(&conf);
}

TEST(the_version_decides_which_file_is_read)
{
	put("flink-conf.yaml", "who: legacy\n");
	put("config.yaml", "who: standard\n");
	reads(v118, "legacy", ERR_NONE);
	reads(v119, "legacy", ERR_NONE);
	reads(v120, "legacy", ERR_NONE);
	reads(v20, "standard", ERR_NONE);
	reads(v23, "standard", ERR_NONE);
	reads(unknown, "", ERR_CONFIG);
	put("flink-conf.yaml", NULL);
	reads(v118, "", ERR_ABSENT);
	reads(v119, "standard", ERR_NONE);
	reads(v23, "standard", ERR_NONE);
	reads(unknown, "standard", ERR_NONE);
	put("flink-conf.yaml", "who: legacy\n");
	put("config.yaml", NULL);
	reads(v118, "legacy", ERR_NONE);
	reads(v120, "legacy", ERR_NONE);
	reads(v23, "", ERR_ABSENT);
	reads(unknown, "legacy", ERR_NONE);
	put("flink-conf.yaml", NULL);
	reads(v23, "", ERR_ABSENT);
	reads(unknown, "", ERR_ABSENT);
}

TEST(damaged_yaml_is_refused_with_file_and_line)
{
	struct flink_conf conf = {0};
	struct err err = {0};

	put("config.yaml", "a: 1\nb: [1\nc: 2\n");
	CHECK_INT(flink_conf_load(dir, v23, &conf, &err), ==, -1);
	CHECK_HAS(err.msg, "config.yaml: line ");
	put("config.yaml", "a: 1\na: 2\n");
	CHECK_INT(flink_conf_load(dir, v23, &conf, &err), ==, -1);
	CHECK_HAS(err.msg, "config.yaml: line 2");
	put("config.yaml", "- a\n");
	CHECK_INT(flink_conf_load(dir, v23, &conf, &err), ==, -1);
	CHECK(conf.entries == NULL);
	put("config.yaml", "");
	CHECK_INT(flink_conf_load(dir, v23, &conf, &err), ==, 0);
	CHECK_INT(conf.count, ==, 0);
	flink_conf_release(&conf);
	put("config.yaml", NULL);
}

TEST(an_unreadable_file_is_not_absence)
{
	cleanup_free char *path = xasprintf("%s/config.yaml", dir);
	struct flink_conf conf = {0};
	struct err err = {0};

	CHECK_INT(mkdir(path, 0755), ==, 0); /* a directory where a file should be */
	CHECK_INT(flink_conf_load(dir, v23, &conf, &err), ==, -1);
	CHECK_INT(err.kind, !=, ERR_ABSENT);
	CHECK_HAS(err.msg, path);
	rmdir(path);
}

TEST(old_and_new_names_are_understood)
{
	struct flink_conf conf = lines("state.checkpoints.dir: file:/old\n"
				       "state.savepoints.dir: file:/oldsp\n"
				       "execution.checkpointing.savepoint-dir: file:/newsp\n"
				       "high-availability: kubernetes\n"
				       "state.checkpoints.create-subdir: false\n"
				       "jobmanager.rpc.address: 10.0.0.1\n");
	struct flink_settings got;

	CHECK_INT(flink_conf_settings(&conf, &got, NULL), ==, 0);
	CHECK_STR(got.checkpoint_dir, "file:/old");
	CHECK_STR(got.savepoint_dir, "file:/newsp");
	CHECK(got.ha);
	CHECK_STR(got.ha_type, "kubernetes");
	CHECK(!got.checkpoint_subdir);
	CHECK_STR(got.rest_address, "10.0.0.1");
	CHECK_INT(got.rest_port, ==, 0);
	CHECK_INT(got.heartbeat_timeout_ms, ==, 0);
	flink_conf_release(&conf);
}

TEST(everything_drey_asks_for_is_found)
{
	struct flink_conf conf = yaml(
		"high-availability: {type: NONE, storageDir: 's3://b/ha', cluster-id: app}\n"
		"kubernetes.cluster-id: app\n"
		"rest: {address: 0.0.0.0, port: 8081, bind-port: '8090'}\n"
		"heartbeat: {interval: 1 s, timeout: PT5S}\n"
		"execution.checkpointing: {interval: 3min, externalized-checkpoint-retention: RETAIN_ON_CANCELLATION}\n");
	struct flink_settings got;

	CHECK_INT(flink_conf_settings(&conf, &got, NULL), ==, 0);
	CHECK(!got.ha);
	CHECK_STR(got.ha_storage_dir, "s3://b/ha");
	CHECK_STR(got.ha_cluster_id, "app");
	CHECK_STR(got.kubernetes_cluster_id, "app");
	CHECK_STR(got.rest_address, "0.0.0.0");
	CHECK_INT(got.rest_port, ==, 8090);
	CHECK_INT(got.heartbeat_interval_ms, ==, 1000);
	CHECK_INT(got.heartbeat_timeout_ms, ==, 5000);
	CHECK_INT(got.checkpoint_interval_ms, ==, 180000);
	CHECK_STR(got.retention, "RETAIN_ON_CANCELLATION");
	CHECK(got.checkpoint_dir == NULL);
	CHECK(got.checkpoint_subdir);
	flink_conf_release(&conf);
}

/* Flink's command line overwrites the claim mode of files, so it helps nothing. */
TEST(a_claim_mode_in_a_file_does_not_help_the_changelog)
{
	static const struct {
		const char *text;
		bool breaks;
	} cases[] = {
		{"state.changelog.enabled: true\n", true},
		{"state.backend.changelog.enabled: 'TRUE'\n", true},
		{"state.changelog.enabled: true\nexecution.state-recovery.claim-mode: no_claim\n",
		 true},
		{"state.changelog.enabled: true\nexecution.state-recovery.claim-mode: CLAIM\n",
		 true},
		{"state.changelog.enabled: true\nexecution.savepoint-restore-mode: LEGACY\n", true},
		{"state.changelog.enabled: false\n", false},
		{"state.backend.type: rocksdb\n", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct flink_conf conf = yaml(cases[i].text);
		struct flink_settings got;

		CHECK_INT(flink_conf_settings(&conf, &got, NULL), ==, 0);
		if (got.changelog != cases[i].breaks)
			CHECK_STR(cases[i].text, "judged the other way");
		flink_conf_release(&conf);
	}
}

/* Flink refuses canonical savepoints of it. */
TEST(forst_and_asynchronous_state_are_known)
{
	static const struct {
		const char *text;
		bool forst, async_state;
	} cases[] = {
		{"state.backend.type: ForSt\n", true, false},
		{"state.backend: forst\n", true, false},
		{"state.backend.type: rocksdb\nstate.backend: forst\n", false, false},
		{"table.exec.async-state.enabled: TRUE\n", false, true},
		{"table.exec.async-state.enabled: false\n", false, false},
		{"rest.port: 8081\n", false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct flink_conf conf = yaml(cases[i].text);
		struct flink_settings got;

		CHECK_INT(flink_conf_settings(&conf, &got, NULL), ==, 0);
		if (got.forst != cases[i].forst || got.async_state != cases[i].async_state)
			CHECK_STR(cases[i].text, "judged the other way");
		flink_conf_release(&conf);
	}
}

TEST(what_flinks_command_line_overwrites_is_reserved_too)
{
	size_t count = 0;

	for (const char *const *key = flink_overwritten_keys(); *key; key++, count++)
		CHECK(flink_reserved(*key) != NULL);
	CHECK_INT(count, ==, 4);
}

TEST(a_port_that_is_no_single_port_is_refused)
{
	static const char *const bad[] = {"rest.port: 0\n", "rest.port: 65536\n",
					  "rest.bind-port: 8081-8090\n", "rest.port: http\n"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct flink_conf conf = yaml(bad[i]);
		struct flink_settings got;
		struct err err = {0};

		CHECK_INT(flink_conf_settings(&conf, &got, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, "rest.");
		flink_conf_release(&conf);
	}
}

TEST(a_restore_path_in_flinks_file_is_refused)
{
	struct flink_conf conf = yaml("execution.state-recovery.path: s3://b/old\n");
	struct flink_conf fine = yaml("execution.state-recovery.claim-mode: CLAIM\n");
	struct err err = {0};

	CHECK_INT(flink_conf_check(&conf, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "execution.state-recovery.path");
	CHECK_INT(flink_conf_check(&fine, &err), ==, 0);
	flink_conf_release(&conf);
	flink_conf_release(&fine);
}

TEST(the_command_line_overlays_the_file)
{
	struct flink_conf conf = yaml("rest.port: 8081\na: 1\n");

	flink_conf_add_command(&conf, LIST("java", "-Drest.port=7",
					   "x.StandaloneApplicationClusterEntryPoint", "-c", "conf",
					   "-D", "rest.port=9000", "-Dnew=x=y", "-D", "broken"));
	CHECK_STR(flink_conf_get(&conf, "rest.port"), "9000");
	CHECK_STR(flink_conf_get(&conf, "new"), "x=y");
	CHECK_STR(flink_conf_get(&conf, "a"), "1");
	CHECK_INT(conf.count, ==, 3);
	flink_conf_add_command(&conf, NULL);
	flink_conf_release(&conf);
}

TEST(flink_properties_of_the_image_overlay_the_file)
{
	struct flink_conf conf = yaml("rest.port: 8081\n");

	flink_conf_add_properties(
		&conf,
		"rest.port:8082\n\n  state.checkpoints.dir: s3://${BUCKET}/$DIR/x\n"
		"a: $UNSET-$\nno sense\nb: 1 0 s\r\n:c\nends: x:\nends2: x::\nwords: $WORDS-\n",
		LIST("BUCKET=b", "DIR=ck", "WORDS=two words"));
	CHECK_STR(flink_conf_get(&conf, "rest.port"), "8082");
	CHECK_STR(flink_conf_get(&conf, "state.checkpoints.dir"), "s3://b/ck/x");
	CHECK_STR(flink_conf_get(&conf, "a"), "-$");
	CHECK_STR(flink_conf_get(&conf, "b"), "10s");
	CHECK_STR(flink_conf_get(&conf, "nosense"), "");
	CHECK_STR(flink_conf_get(&conf, "ends"), "x");
	CHECK_STR(flink_conf_get(&conf, "ends2"), "x::");
	CHECK_STR(flink_conf_get(&conf, "words"), "two");
	CHECK_INT(conf.count, ==, 8);
	flink_conf_release(&conf);
}

/* What Flink 1.20 and 2.3 report of such a file (tests/e2e/test_flink_conf.sh). */
TEST(reads_scalars_as_flink_prints_them)
{
	static const char *const scalars[][2] = {
		{"007", "7"},
		{"-010", "-10"},
		{"+5", "5"},
		{"00", "0"},
		{"-0", "0"},
		{"18446744073709551616", "18446744073709551616"},
		{"0o17", "15"},
		{"0x1F", "31"},
		{"0xg", "0xg"},
		{"1.10", "1.1"},
		{"1.", "1.0"},
		{".5", "0.5"},
		{"0.0", "0.0"},
		{"100.0", "100.0"},
		{"1e3", "1000.0"},
		{"1e7", "1.0E7"},
		{"123456789.5", "1.234567895E8"},
		{"0.001", "0.001"},
		{"0.00012", "1.2E-4"},
		{"1e999", "1e999"},
		{"1.2.3", "1.2.3"},
		{"1e", "1e"},
		{".", "."},
		{"10s", "10s"},
		{"True", "true"},
		{"FALSE", "false"},
		{"yes", "yes"},
		{"'007'", "007"},
		{"\"True\"", "True"},
		{"[01, a b, 'x']", "[1, a b, x]"},
		{"[]", "[]"},
	};

	for (size_t i = 0; i < ARRAY_LEN(scalars); i++) {
		cleanup_free char *text = xasprintf("kubernetes.cluster-id: %s\n", scalars[i][0]);
		struct flink_conf conf = yaml(text);

		CHECK_STR(flink_conf_get(&conf, "kubernetes.cluster-id"), scalars[i][1]);
		flink_conf_release(&conf);
	}
}

static void found(const char *const *command, const char *const *env, const char *want)
{
	cleanup_free char *got = flink_conf_find_dir(command, env);

	CHECK_STR(got ? got : "none", want);
}

TEST(finds_the_configuration_directory)
{
	static const char *const entry = "x.StandaloneApplicationClusterEntryPoint";

	found(LIST("java", entry, "--configDir", "c"), LIST("FLINK_CONF_DIR=/e"), "c");
	found(LIST("java", entry, "-D", "x=y", "--configDir=c"), NULL, "c");
	found(LIST("java", entry, "-c", "c"), NULL, "c");
	found(LIST("run"), LIST("FLINK_CONF_DIR=/e", "FLINK_HOME=/h"), "/e");
	found(LIST("run"), LIST("FLINK_HOME=/h"), "/h/conf");
	found(LIST("/x/bin/standalone-job.sh", "start-foreground"), NULL, "/x/conf");
	found(LIST("/docker-entrypoint.sh", "standalone-job"), NULL, "/opt/flink/conf");
	found(LIST("/docker-entrypoint.sh", "standalone-job"), LIST("FLINK_HOME=/h"), "/h/conf");
	/* the script sets FLINK_HOME anew, and puts its own --configDir in front */
	found(LIST("/x/bin/standalone-job.sh", "start-foreground"), LIST("FLINK_HOME=/h"),
	      "/x/conf");
	found(LIST("/x/bin/standalone-job.sh", "start-foreground", "--configDir", "c"),
	      LIST("FLINK_CONF_DIR=/e"), "/e");
	found(LIST("/docker-entrypoint.sh", "java", entry, "--configDir", "c"),
	      LIST("FLINK_CONF_DIR=/e"), "c");
	found(LIST("run"), NULL, "none");
}

TEST(reads_durations_as_flink_does)
{
	static const struct {
		const char *text;
		int64_t ms;
	} good[] = {{"10 s", 10000},    {"10s", 10000},        {"500 ms", 500},
		    {"5000", 5000},     {"1 min", 60000},      {"2 h", 7200000},
		    {"1 d", 86400000},  {"3 Minutes", 180000}, {"PT10S", 10000},
		    {"PT1M30S", 90000}, {"P1DT2H", 93600000},  {"PT0.5S", 500}};
	static const char *const bad[] = {"",
					  "s",
					  "-1 s",
					  "1 fortnight",
					  "1 s 2",
					  "P",
					  "PT",
					  "PTS",
					  "P1H",
					  "PT1D",
					  "PT99999999999999999H",
					  "99999999999999999999",
					  "9223372036854775807 d"};

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		int64_t ms = -1;

		CHECK_INT(flink_duration_parse(good[i].text, &ms, NULL), ==, 0);
		CHECK_INT(ms, ==, good[i].ms);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = {0};
		int64_t ms = -7;

		CHECK_INT(flink_duration_parse(bad[i], &ms, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_INT(ms, ==, -7);
	}
}

int main(int argc, char **argv)
{
	int status;

	snprintf(dir, sizeof(dir), "/tmp/drey-conf.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	status = tap_main(argc, argv);
	rmdir(dir);
	return status;
}
