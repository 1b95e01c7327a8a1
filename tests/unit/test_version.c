#include "flink/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "tap.h"

static struct flink_version version(const char *text)
{
	struct flink_version parsed = {0};
	struct err err = {0};

	if (flink_version_parse(text, &parsed, &err) < 0)
		tap_note("%s", err.msg);
	return parsed;
}

TEST(reads_releases_and_snapshots)
{
	char text[FLINK_VERSION_TEXT_BYTES];

	CHECK_STR(flink_version_print(version("2.3.0"), text), "2.3.0");
	CHECK_STR(flink_version_print(version("1.20"), text), "1.20.0");
	CHECK_STR(flink_version_print(version("2.4-SNAPSHOT"), text), "2.4.0");
	CHECK_STR(flink_version_print(version("2.0.0-preview1"), text), "2.0.0");
	CHECK_STR(flink_version_print((struct flink_version){0}, text), "unknown");
}

TEST(refuses_what_is_no_version)
{
	static const char *const bad[] = {"",       "2",     "2.",      "x.y",  "2.3.", "2.3.0x",
					  "2.3.0-", "0.1.2", "12345.1", "-1.2", " 2.3", "2.3.0.1"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct flink_version parsed = {7, 7, 7};
		struct err err = {0};

		CHECK_INT(flink_version_parse(bad[i], &parsed, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_INT(parsed.major, ==, 7);
	}
}

TEST(compares_numbers_not_text)
{
	CHECK_INT(flink_version_compare(version("1.9.0"), version("1.20.0")), <, 0);
	CHECK_INT(flink_version_compare(version("2.0.0"), version("1.20.5")), >, 0);
	CHECK_INT(flink_version_compare(version("2.3.1"), version("2.3.0")), >, 0);
	CHECK_INT(flink_version_compare(version("2.3"), version("2.3.0")), ==, 0);
	CHECK(flink_version_at_least(version("2.3.0"), 2, 3));
	CHECK(!flink_version_at_least(version("2.2.9"), 2, 3));
	CHECK(!flink_version_at_least((struct flink_version){0}, 1, 0));
}

TEST(knows_which_metadata_each_version_can_read)
{
	CHECK_INT(flink_version_metadata_max(version("1.15.4")), ==, 3);
	CHECK_INT(flink_version_metadata_max(version("1.16.0")), ==, 4);
	CHECK_INT(flink_version_metadata_max(version("1.20.5")), ==, 4);
	CHECK_INT(flink_version_metadata_max(version("2.0.2")), ==, 5);
	CHECK_INT(flink_version_metadata_max(version("2.1.3")), ==, 6);
	CHECK_INT(flink_version_metadata_max(version("2.3.0")), ==, 6);
	CHECK_INT(flink_version_metadata_max((struct flink_version){0}), ==, 0);
}

TEST(knows_the_lines_it_was_written_for)
{
	static const char *const known[] = {"1.19.3", "1.20.0", "1.20.5",       "2.0.2",
					    "2.1.3",  "2.3.0",  "2.4-SNAPSHOT", "2.4.1"};
	static const char *const others[] = {"1.2.0",  "1.18.1", "1.21.0", "2.5.0",
					     "2.20.0", "3.0.0",  "3.19.0"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		CHECK(flink_version_is_of_known_line(version(known[i])));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		CHECK(!flink_version_is_of_known_line(version(others[i])));
	CHECK(flink_version_is_of_known_line((struct flink_version){0}));
}

TEST(knows_what_each_version_can_do)
{
	struct flink_version unknown = {0};

	CHECK(!flink_version_has_jars_option(version("1.18.1")));
	CHECK(flink_version_has_jars_option(version("1.19.0")));
	CHECK(flink_version_has_jars_option(unknown));
	CHECK(!flink_version_has_applications(version("2.2.1")));
	CHECK(flink_version_has_applications(version("2.3.0")));
	CHECK(flink_version_has_applications(unknown));
	CHECK(flink_version_native_loses_claimed(version("2.3.0")));
	CHECK(!flink_version_native_loses_claimed(version("2.4-SNAPSHOT")));
	CHECK(flink_version_native_loses_claimed(unknown));
	CHECK(flink_version_has_legacy_claim(version("1.20.1")));
	CHECK(!flink_version_has_legacy_claim(version("2.0.0")));
	CHECK(flink_version_has_legacy_claim(unknown));
	CHECK(flink_version_old_dir_keys(version("1.19.3")));
	CHECK(!flink_version_new_dir_keys(version("1.19.3")));
	CHECK(!flink_version_old_dir_keys(version("1.20.0")));
	CHECK(flink_version_new_dir_keys(version("1.20.0")));
	CHECK(flink_version_old_dir_keys(unknown));
	CHECK(flink_version_new_dir_keys(unknown));
	CHECK(flink_version_has_host_option(version("1.20.5")));
	CHECK(!flink_version_has_host_option(version("2.0.0")));
	CHECK(!flink_version_has_host_option(unknown));
}

/* ---- detection, in a directory of its own ---- */

static char root[64];

static char *in_root(const char *path)
{
	return xasprintf("%s/%s", root, path);
}

static void touch(const char *path)
{
	cleanup_free char *full = in_root(path);
	FILE *file;

	for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	CHECK(file != NULL);
	if (file)
		fclose(file);
}

/* Detect with a command and an environment of at most three words. */
static int detect(const char *const *command, const char *const *env, char text[64],
		  struct err *err)
{
	struct flink_version found = {0};
	cleanup_free char *jar = NULL;
	int result = flink_version_detect(command, env, &found, &jar, err);

	flink_version_print(found, text);
	return result;
}

TEST(the_class_path_of_the_command_comes_first)
{
	cleanup_free char *path = in_root("a/lib/*");
	cleanup_free char *env = xasprintf("FLINK_HOME=%s/b", root);
	const char *const command[] = {"java", "-cp", path, "Main", NULL};
	const char *const environment[] = {env, NULL};
	char text[64];

	CHECK_INT(detect(command, environment, text, NULL), ==, 0);
	CHECK_STR(text, "2.3.0");
}

TEST(a_single_jar_in_the_class_path_is_enough)
{
	cleanup_free char *path =
		xasprintf("/x/usr.jar:%s/nowhere/flink-runtime-1.19.2.jar:/y", root);
	cleanup_free char *arg = xasprintf("--class-path=%s", path);
	const char *const command[] = {"java", arg, "Main", NULL};
	char text[64];

	CHECK_INT(detect(command, NULL, text, NULL), ==, 0);
	CHECK_STR(text, "1.19.2");
}

TEST(flink_dist_beats_other_jars)
{
	cleanup_free char *env = xasprintf("FLINK_HOME=%s/b", root);
	const char *const command[] = {"run-my-flink", NULL};
	const char *const environment[] = {"PATH=/bin", env, NULL};
	char text[64];

	CHECK_INT(detect(command, environment, text, NULL), ==, 0);
	CHECK_STR(text, "1.20.5"); /* flink-dist-1.20.5 beside flink-runtime-1.20.4 */
}

TEST(the_home_of_a_script_is_searched_too)
{
	cleanup_free char *script = in_root("b/bin/standalone-job.sh");
	const char *const command[] = {script, "start-foreground", NULL};
	char text[64];

	CHECK_INT(detect(command, NULL, text, NULL), ==, 0);
	CHECK_STR(text, "1.20.5");
}

TEST(two_versions_in_one_place_are_refused_by_name)
{
	cleanup_free char *env = xasprintf("FLINK_LIB_DIR=%s/two/lib", root);
	const char *const command[] = {"x", NULL};
	const char *const environment[] = {env, NULL};
	struct err err = {0};
	char text[64];

	CHECK_INT(detect(command, environment, text, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "flink-dist-1.20.5.jar");
	CHECK_HAS(err.msg, "flink-dist-2.3.0.jar");
}

TEST(no_jar_anywhere_is_absence_and_says_where_it_looked)
{
	cleanup_free char *env = xasprintf("FLINK_HOME=%s/empty", root);
	const char *const command[] = {"java", "-cp", "/nowhere/*:x.jar", "Main", NULL};
	const char *const environment[] = {env, NULL};
	struct err err = {0};
	char text[64];

	CHECK_INT(detect(command, environment, text, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_HAS(err.msg, "flink-dist");
}

TEST(an_unreadable_directory_is_not_absence)
{
	cleanup_free char *loop = in_root("loop");
	cleanup_free char *loop_env = xasprintf("FLINK_LIB_DIR=%s", loop);
	const char *const command[] = {"x", NULL};
	const char *const environment[] = {loop_env, NULL};
	struct err err = {0};
	char text[64];

	CHECK_INT(symlink("loop", loop), ==, 0); /* ELOOP for everybody, root too */
	CHECK_INT(detect(command, environment, text, &err), ==, -1);
	CHECK_INT(err.kind, !=, ERR_ABSENT);
	CHECK_HAS(err.msg, loop);
	unlink(loop);
}

int main(int argc, char **argv)
{
	int status;

	snprintf(root, sizeof(root), "/tmp/drey-version.XXXXXX");
	if (!mkdtemp(root))
		return 1;
	touch("a/lib/flink-runtime-2.3.0.jar");
	touch("a/lib/flink-core-2.3.0.jar");
	touch("b/lib/flink-runtime-1.20.4.jar");
	touch("b/lib/flink-dist-1.20.5.jar");
	touch("b/bin/standalone-job.sh");
	touch("two/lib/flink-dist-1.20.5.jar");
	touch("two/lib/flink-dist-2.3.0.jar");
	touch("empty/lib/other.jar");
	status = tap_main(argc, argv);
	cleanup_free char *remove = xasprintf("rm -rf '%s'", root);
	if (system(remove) != 0)
		tap_note("left behind: %s", root);
	return status;
}
