/* Directories of launches: what is removed, and above all what is not. */
#include "flink/launch_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "store_dir.h"
#include "tap.h"

#define NAME "drey-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01-7"
#define MARK "flink.lock:1:2"

struct rig {
	char *top;
	struct err err;
};

static void rig_begin(struct rig *rig)
{
	*rig = (struct rig){.top = dir_new()};
}

static void rig_end(struct rig *rig)
{
	dir_removep(&rig->top);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static bool exists(const struct rig *rig, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", rig->top, name);
	struct stat info;

	return lstat(path, &info) == 0;
}

static void make_file(const struct rig *rig, const char *name)
{
	cleanup_free char *path = dir_path(rig->top, name);

	CHECK(!fs_write_atomic(path, "x", 1, 0600, NULL));
}

static void make_link(const struct rig *rig, const char *target, const char *name)
{
	cleanup_free char *path = dir_path(rig->top, name);

	CHECK(!symlink(target, path));
}

static int make(struct rig *rig)
{
	return launch_dir_make(rig->top, NAME, MARK, &rig->err);
}

static int remove_it(struct rig *rig)
{
	return launch_dir_remove(rig->top, NAME, MARK, &rig->err);
}

RIG_TEST(a_directory_is_made_for_us_alone_and_removed_with_all_that_is_in_it)
{
	cleanup_free char *path = xasprintf("%s/" NAME, rig->top);
	struct stat info;

	CHECK(!launch_dir_is_ours(rig->top, NAME, MARK));
	CHECK(!make(rig));
	CHECK(launch_dir_is_ours(rig->top, NAME, MARK));
	CHECK(!stat(path, &info) && (info.st_mode & 0777) == 0700);
	CHECK(!make(rig)); /* again, for the same launch */
	make_file(rig, NAME "/flink-rpc-akka.jar");
	make_file(rig, NAME "/jm_1/blobStorage/a/b");
	make_file(rig, NAME "/jm_1/.drey");
	CHECK(!remove_it(rig));
	CHECK(!exists(rig, NAME));
	CHECK(!remove_it(rig)); /* nothing there */
}

RIG_TEST(links_are_removed_and_never_followed)
{
	make_file(rig, "other/file");
	CHECK(!make(rig));
	make_link(rig, "../other", NAME "/link");
	make_link(rig, "../../other/file", NAME "/d/link");
	CHECK(!remove_it(rig));
	CHECK(!exists(rig, NAME));
	CHECK(exists(rig, "other/file"));
}

RIG_TEST(a_link_in_place_of_the_directory_is_not_ours)
{
	make_file(rig, "other/file");
	make_link(rig, MARK, "other/" LAUNCH_DIR_MARK);
	make_link(rig, "other", NAME);
	CHECK(!launch_dir_is_ours(rig->top, NAME, MARK));
	CHECK(!remove_it(rig));
	CHECK(exists(rig, "other/file"));
	CHECK(make(rig) < 0);
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
}

RIG_TEST(a_directory_without_our_mark_is_not_ours)
{
	static const char *const marks[] = {NULL, "flink.lock:1:3", "flink.lock:1:23",
					    "flink.lock:1:"};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		cleanup_free char *mark = xasprintf("%s/" NAME "/" LAUNCH_DIR_MARK, rig->top);

		make_file(rig, NAME "/file");
		unlink(mark);
		if (marks[i])
			CHECK(!symlink(marks[i], mark));
		else
			make_file(rig, NAME "/" LAUNCH_DIR_MARK);
		CHECK(!launch_dir_is_ours(rig->top, NAME, MARK));
		CHECK(!remove_it(rig));
		CHECK(exists(rig, NAME "/file"));
		CHECK(make(rig) < 0);
	}
}

RIG_TEST(others_beside_it_stay)
{
	static const char *const names[] = {"flink-rpc-akka_1.jar", "jm_1/file", NAME "0/file",
					    "drey-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01-6/file"};

	CHECK(!make(rig));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		make_file(rig, names[i]);
	CHECK(!remove_it(rig));
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		CHECK(exists(rig, names[i]));
}

RIG_TEST(what_belongs_to_another_user_stays_and_the_mark_with_it)
{
	cleanup_free char *path = xasprintf("%s/" NAME "/theirs", rig->top);

	if (geteuid() != 0)
		return; /* only root can make one */
	CHECK(!make(rig));
	make_file(rig, NAME "/theirs");
	make_file(rig, NAME "/ours");
	CHECK(!lchown(path, 12345, 12345));
	CHECK(remove_it(rig) < 0);
	CHECK_HAS(rig->err.msg, "theirs");
	CHECK(exists(rig, NAME "/theirs"));
	CHECK(!exists(rig, NAME "/ours"));
	CHECK(!lchown(path, geteuid(), getegid()));
	CHECK(!remove_it(rig)); /* found again */
	CHECK(!exists(rig, NAME));
}

RIG_TEST(a_directory_of_another_user_is_not_ours)
{
	cleanup_free char *path = xasprintf("%s/" NAME, rig->top);

	if (geteuid() != 0)
		return;
	CHECK(!make(rig));
	CHECK(!lchown(path, 12345, 12345));
	CHECK(!launch_dir_is_ours(rig->top, NAME, MARK));
	CHECK(!remove_it(rig));
	CHECK(exists(rig, NAME));
}

RIG_TEST(without_the_directory_above_it_is_an_error)
{
	cleanup_free char *none = xasprintf("%s/none", rig->top);

	CHECK(launch_dir_make(none, NAME, MARK, &rig->err) < 0);
	CHECK_INT(rig->err.kind, ==, ERR_ABSENT);
	CHECK(!launch_dir_is_ours(none, NAME, MARK));
}

TEST(the_mark_is_another_for_another_file)
{
	char first[LAUNCH_DIR_MARK_BYTES], other[LAUNCH_DIR_MARK_BYTES];
	struct stat info = {.st_dev = 1, .st_ino = 2};

	launch_dir_mark(&info, first);
	CHECK_STR(first, MARK);
	info.st_ino = ~(ino_t)0;
	info.st_dev = ~(dev_t)0;
	launch_dir_mark(&info, other);
	CHECK(strlen(other) < LAUNCH_DIR_MARK_BYTES - 1);
	CHECK(strcmp(first, other) != 0);
}
