/* Which launches get directories of their own below io.tmp.dirs, and what these are called. */
#include "flink/tmp_dirs.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define ENTRY     "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"
#define NAME      "drey-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01-7"
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *const java[] = {"/usr/bin/java", "-cp", "lib/*", ENTRY, NULL};
static const char *const image[] = {"/docker-entrypoint.sh", "standalone-job", NULL};

static struct flink_conf conf_of(const char *key, const char *value)
{
	struct flink_conf conf = {.file = xstrdup("/conf/config.yaml")};

	if (key)
		flink_conf_set(&conf, key, value);
	return conf;
}

/* The value of io.tmp.dirs, or why there is none. */
static char *chosen(const struct flink_launch *launch, const struct flink_conf *conf, bool root)
{
	struct tmp_dirs dirs;
	const char *why = tmp_dirs_choose(launch, conf, root, &dirs);
	char *text = why ? xasprintf("no: %s", why) : tmp_dirs_join(&dirs, NAME);

	CHECK(!why == (dirs.count > 0));
	tmp_dirs_release(&dirs);
	return text;
}

static void expect(const char *const *command, const char *key, const char *value,
		   const char *expected)
{
	const struct flink_launch launch = {.command = command};
	struct flink_conf conf = conf_of(key, value);
	cleanup_free char *text = chosen(&launch, &conf, false);

	tap_note("%s: %s", key ? key : "nothing", value ? value : "");
	CHECK_HAS(text, expected);
	flink_conf_release(&conf);
}

TEST(the_name_has_the_job_and_the_number_of_the_launch)
{
	cleanup_free char *name = tmp_dirs_name("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01", 7);

	CHECK_STR(name, NAME);
}

TEST(each_directory_gets_one_below_it)
{
	static const struct {
		const char *key, *value, *expected;
	} rows[] = {
		{NULL, NULL, "/tmp/" NAME},
		{"io.tmp.dirs", "/data", "/data/" NAME},
		{"taskmanager.tmp.dirs", "/data", "/data/" NAME},
		{"io.tmp.dirs", "/a,/b", "/a/" NAME ",/b/" NAME},
		{"io.tmp.dirs", "/a:/b,/c/d", "/a/" NAME ",/b/" NAME ",/c/d/" NAME},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		expect(java, rows[i].key, rows[i].value, rows[i].expected);
		expect(image, rows[i].key, rows[i].value, rows[i].expected);
	}
}

TEST(what_cannot_be_read_as_flink_reads_it_is_left_alone)
{
	static const char *const values[] = {"",       "tmp",   "/a,tmp", "/a,",       ",/a",
					     "/a,,/b", "/a|/b", "/a, /b", "[/a, /b]",  "/a b",
					     "/a;b",   "/$A",   "/a\n",   "file:///a", "/a:b"};
	char text[TMP_DIRS_MAX_BYTES + 2];

	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		expect(java, "io.tmp.dirs", values[i], "no: a directory in io.tmp.dirs");
	expect(java, "io.tmp.dirs", "/1,/2,/3,/4,/5,/6,/7,/8", "/8/" NAME);
	expect(java, "io.tmp.dirs", "/1,/2,/3,/4,/5,/6,/7,/8,/9", "no: ");
	memset(text, 'a', sizeof(text));
	text[0] = '/';
	text[TMP_DIRS_MAX_BYTES + 1] = '\0';
	expect(java, "io.tmp.dirs", text, "no: ");
	text[TMP_DIRS_MAX_BYTES] = '\0';
	expect(java, "io.tmp.dirs", text, NAME);
}

TEST(what_the_user_has_set_on_the_command_line_stays)
{
	const struct flink_property property = {"io.tmp.dirs", "/mine"},
				    before = {"taskmanager.tmp.dirs", "/mine"};
	struct flink_launch launch = {
		.command = java, .properties = &property, .property_count = 1};
	struct flink_conf conf = conf_of("io.tmp.dirs", "/mine");
	cleanup_free char *mine = chosen(&launch, &conf, false), *old = NULL, *option = NULL;

	CHECK_HAS(mine, "no: io.tmp.dirs is set on the command line");
	launch.properties = &before;
	old = chosen(&launch, &conf, false);
	CHECK_HAS(old, "no: io.tmp.dirs is set on the command line");
	launch.property_count = 0;
	launch.command = LIST("java", ENTRY, "-D", "io.tmp.dirs=/mine");
	option = chosen(&launch, &conf, false);
	CHECK_HAS(option, "no: io.tmp.dirs is set on the command line");
	flink_conf_release(&conf);
}

TEST(a_flink_that_may_have_another_user_is_left_alone)
{
	static const char why[] = "no: flink.command may run Flink as another user";
	struct flink_launch launch = {.command = image};
	struct flink_conf conf = conf_of("io.tmp.dirs", "/data");
	cleanup_free char *script = chosen(&launch, &conf, true), *direct = NULL, *other = NULL;

	/* the script of the image changes the user if it is root */
	CHECK_STR(script, why);
	launch.command = java;
	direct = chosen(&launch, &conf, true);
	CHECK_STR(direct, "/data/" NAME);
	launch.command = LIST("gosu", "flink", "java", ENTRY);
	other = chosen(&launch, &conf, false);
	CHECK_STR(other, why);
	flink_conf_release(&conf);
	expect(LIST("/opt/mine.sh"), "io.tmp.dirs", "/data", why);
}

TEST(without_a_setting_the_directory_of_java_must_be_known)
{
	struct flink_launch launch = {.command = java, .env = LIST("JVM_ARGS=-Djava.io.tmpdir=/x")};
	struct flink_conf conf = conf_of(NULL, NULL), none = {0};
	cleanup_free char *by_env = chosen(&launch, &conf, false), *unread = NULL;

	CHECK_STR(by_env, "no: java.io.tmpdir is changed");
	launch.env = NULL;
	unread = chosen(&launch, &none, false);
	CHECK_STR(unread, "no: Flink's configuration was not found");
	flink_conf_release(&conf);
	expect(LIST("java", "-Djava.io.tmpdir=/x", ENTRY), NULL, NULL, "no: java.io.tmpdir");
	expect(java, "env.java.opts.all", "-Djava.io.tmpdir=/x", "no: java.io.tmpdir");
	expect(LIST("java", "@options", ENTRY), NULL, NULL, "no: java.io.tmpdir");
	expect(LIST("java", "-Djava.io.tmpdir=/x", ENTRY), "io.tmp.dirs", "/d", "/d/" NAME);
}

TEST(a_working_directory_that_flink_finds_again_is_left_alone)
{
	expect(java, "jobmanager.resource-id", "jm-0", "no: jobmanager.resource-id is set");
}
