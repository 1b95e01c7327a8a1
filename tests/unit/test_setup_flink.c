/* What drey reads of Flink's configuration is what Flink's JVM will get: one environment, every
 * overlay. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "run/config/setup.h"
#include "run/effects/launch_build.h"
#include "tap.h"

static char dir[64];
static struct setup setup;
static struct err err;

static void put(const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name), *parent = xstrdup(path);

	*strrchr(parent, '/') = '\0';
	if (fs_mkdirs(parent, 0755, NULL) < 0 ||
	    fs_write_atomic(path, text, strlen(text), 0644, NULL) < 0)
		abort();
}

/* A distribution in $dir/home and drey.yaml with `flink` (lines) below flink:. */
static int load(const char *command, const char *flink)
{
	cleanup_free char *path = xasprintf("%s/drey.yaml", dir);
	cleanup_free char *text = xasprintf(
		"application: a\nstateDirectory: %s/state\nkubernetes: {enabled: false}\nflink:\n"
		"  version: 2.3.0\n  command: [%s]\n%s",
		dir, command, flink);

	err = (struct err){0};
	put("drey.yaml", text);
	return setup_load(path, &setup, &err);
}

static const char *get(const char *key)
{
	const char *value = flink_conf_get(&setup.flink_conf, key);

	return value ? value : "none";
}

static void begin(void)
{
	cleanup_free char *home = NULL;

	strcpy(dir, "/tmp/drey-setup-XXXXXX");
	if (!mkdtemp(dir))
		abort();
	home = xasprintf("%s/home", dir);
	put("home/conf/config.yaml",
	    "execution.checkpointing.dir: file:///ck\n"
	    "execution.checkpointing.savepoint-dir: file:///sp\nwho: home\n");
	put("other/config.yaml", "execution.checkpointing.dir: file:///other-ck\n"
				 "execution.checkpointing.savepoint-dir: file:///other-sp\n"
				 "who: other\n");
	setenv("FLINK_HOME", home, 1);
	unsetenv("FLINK_CONF_DIR");
	unsetenv("FLINK_PROPERTIES");
}

static void end(void)
{
	cleanup_free char *rm = xasprintf("rm -rf '%s'", dir);

	setup_release(&setup);
	if (system(rm) != 0)
		abort();
	unsetenv("FLINK_HOME");
	unsetenv("FLINK_PROPERTIES");
	unsetenv("JOB_MANAGER_RPC_ADDRESS");
}

#define IMAGE "/docker-entrypoint.sh, standalone-job"

/* The first start would be accepted, and the first failover would not. */
TEST(a_line_of_flink_that_drey_does_not_know_is_refused)
{
	cleanup_free char *path = NULL, *text = NULL, *allowed = NULL;

	begin();
	path = xasprintf("%s/drey.yaml", dir);
	text = xasprintf(
		"application: a\nstateDirectory: %s/state\nkubernetes: {enabled: false}\nflink:\n"
		"  version: 2.5.0\n  command: [" IMAGE "]\n",
		dir);
	put("drey.yaml", text);
	err = (struct err){0};
	CHECK_INT(setup_load(path, &setup, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg,
		  "drey does not know the line of Flink 2.5.0, but 1.19, 1.20 and 2.0 to 2.4");
	CHECK_HAS(err.msg, "or set flink.unknownVersion: allow");
	/* a command that starts none reads it */
	CHECK_INT(setup_load_without_flink(path, &setup, &err), ==, 0);
	setup_release(&setup);
	allowed = xasprintf("%s  unknownVersion: allow\n", text);
	put("drey.yaml", allowed);
	CHECK_INT(setup_load(path, &setup, &err), ==, 0);
	end();
}

TEST(ha_in_flink_properties_of_flink_environment_is_noticed)
{
	begin();
	CHECK_INT(load(IMAGE, "  environment:\n    FLINK_PROPERTIES: 'high-availability.type: "
			      "zookeeper'\n"),
		  ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "high-availability.type is zookeeper");
	end();
}

TEST(a_restore_path_is_refused_in_every_overlay)
{
	static const struct {
		const char *command, *flink, *says;
	} cases[] = {
		{IMAGE,
		 "  environment: {FLINK_PROPERTIES: 'execution.state-recovery.path: s3://b/old'}\n",
		 "FLINK_PROPERTIES: execution.state-recovery.path: drey decides"},
		{IMAGE, "  properties: {execution.savepoint.path: s3://b/old}\n",
		 "flink.properties: execution.savepoint.path: drey decides"},
		{IMAGE ", -D, execution.state-recovery.path=s3://b/old", "",
		 "-D of flink.command: execution.state-recovery.path: drey decides"},
	};

	begin();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK_INT(load(cases[i].command, cases[i].flink), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, cases[i].says);
		CHECK_HAS(err.msg, "restore.initialSavepoint");
	}
	put("home/conf/config.yaml", "execution.state-recovery.path: s3://b/old\n");
	CHECK_INT(load(IMAGE, ""), ==, -1);
	CHECK_HAS(err.msg, "home/conf/config.yaml: execution.state-recovery.path: drey decides");
	end();
}

TEST(another_directory_in_flink_environment_is_the_one_that_is_read)
{
	cleanup_free char *flink = NULL;

	begin();
	flink = xasprintf("  environment:\n    FLINK_CONF_DIR: %s/other\n"
			  "    FLINK_PROPERTIES: 'who: nobody'\n",
			  dir);
	CHECK_INT(load(IMAGE, flink), ==, 0);
	CHECK_STR(err.msg, "");
	CHECK_STR(get("who"),
		  "other"); /* the image writes into $FLINK_HOME/conf, nobody reads it */
	CHECK_STR(setup.settings.checkpoint_dir, "file:///other-ck");
	end();
}

TEST(the_image_overlays_its_own_file_only_where_it_can_write_it)
{
	cleanup_free char *file = NULL;

	begin();
	setenv("FLINK_PROPERTIES", "who: variable\n a.b : 1 0 s\nempty:\n", 1);
	setenv("JOB_MANAGER_RPC_ADDRESS", "jm", 1);
	CHECK_INT(load(IMAGE, ""), ==, 0);
	CHECK_STR(get("who"), "variable");
	CHECK_STR(get("a.b"), "10s");
	CHECK_STR(get("empty"), "");
	CHECK_STR(get("jobmanager.rpc.address"), "jm");
	CHECK_STR(get("blob.server.port"), "6124");
	file = xasprintf("%s/home/conf/config.yaml", dir);
	if (geteuid() == 0) {
		tap_note("root may write everything: the read-only file is not tried");
	} else {
		CHECK_INT(chmod(file, 0444), ==, 0);
		CHECK_INT(load(IMAGE, ""), ==, 0);
		CHECK_STR(get("who"), "home");
	}
	end();
}

TEST(flink_properties_count_for_the_image_only)
{
	begin();
	setenv("FLINK_PROPERTIES", "who: variable", 1);
	CHECK_INT(load("java, x.StandaloneApplicationClusterEntryPoint", ""), ==, 0);
	CHECK_STR(get("who"), "home");
	end();
}

/* The value of a variable in the environment of the launch; "none". */
static const char *launched(const struct flink_exec *exec, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < exec->envc; i++)
		if (!strncmp(exec->env[i], name, len) && exec->env[i][len] == '=')
			return exec->env[i] + len + 1;
	return "none";
}

TEST(flink_gets_the_environment_that_was_read)
{
	cleanup_free char *flink = NULL, *other = NULL;
	struct launch launch = {.number = 1};
	struct flink_exec exec = {0};

	begin();
	other = xasprintf("%s/other", dir);
	setenv("DREY_TEST", "private", 1);
	setenv("FLINK_CONF_DIR", "/nowhere", 1);
	setenv("TZ", "Asia/Tokyo", 1);
	flink = xasprintf("  configDirectory: %s\n  environment: {A: b}\n"
			  "savepoints: {interval: 1h, timeZone: UTC}\n",
			  other);
	CHECK_INT(load("run", flink), ==, 0);
	CHECK_STR(err.msg, "");
	CHECK_STR(get("who"), "other");
	memset(launch.job_id, 'a', JOB_ID_BYTES - 1);
	memset(launch.application_id, 'a', JOB_ID_BYTES - 1);
	CHECK_INT(launch_build(&setup, &launch, &exec, NULL, &err), ==, 0);
	CHECK_STR(launched(&exec, "FLINK_CONF_DIR"), other);
	CHECK_STR(launched(&exec, "A"), "b");
	CHECK_STR(launched(&exec, "TZ"), "Asia/Tokyo");
	CHECK_STR(launched(&exec, "DREY_TEST"), "none");
	flink_exec_release(&exec);
	unsetenv("DREY_TEST");
	unsetenv("FLINK_CONF_DIR");
	unsetenv("TZ");
	end();
}

TEST(a_directory_that_flink_will_not_read_is_refused)
{
	cleanup_free char *flink = NULL, *command = NULL;

	begin();
	flink = xasprintf("  configDirectory: %s/other\n", dir);
	command =
		xasprintf("java, x.StandaloneApplicationClusterEntryPoint, -c, %s/home/conf", dir);
	CHECK_INT(load(command, flink), ==, -1);
	CHECK_HAS(err.msg, "flink.configDirectory is ");
	CHECK_HAS(err.msg, "--configDir of flink.command");
	free(command);
	command = xasprintf(IMAGE ", --configDir, %s/other", dir);
	CHECK_INT(load(command, ""), ==, -1);
	CHECK_HAS(err.msg, "has no effect, because Flink's script passes");
	free(flink);
	flink = xasprintf("  configDirectory: %s/other\n  environment: {FLINK_CONF_DIR: /x}\n",
			  dir);
	CHECK_INT(load(IMAGE, flink), ==, -1);
	CHECK_HAS(err.msg, "FLINK_CONF_DIR of flink.environment");
	end();
}
