/* What a killed JobManager leaves: only what this process had open, and only while it is the same file. */
#include "flink/jvm_leavings.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "store_dir.h"
#include "tap.h"

struct world {
	char *dir, *ours, *theirs, *other;
	int fd, other_fd;
};

static int make_file(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static void world_begin(struct world *w)
{
	w->dir = dir_new();
	w->ours = xasprintf("%s/flink-rpc-akka1234.jar", w->dir);
	w->theirs = xasprintf("%s/flink-rpc-akka5678.jar", w->dir);
	w->other = xasprintf("%s/job.jar", w->dir);
	w->fd = make_file(w->ours);
	w->other_fd = make_file(w->other);
	close(make_file(w->theirs));
}

static void world_end(struct world *w)
{
	close(w->fd);
	close(w->other_fd);
	free(w->ours);
	free(w->theirs);
	free(w->other);
	dir_removep(&w->dir);
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, w, world_begin, world_end)

WORLD_TEST(what_the_process_had_open_is_removed_and_nothing_else)
{
	struct jvm_leavings leavings = {0};

	CHECK_INT(jvm_leavings_find(getpid(), &leavings, NULL), ==, 0);
	CHECK_INT(jvm_leavings_find(getpid(), &leavings, NULL), ==, 0);
	CHECK_INT(leavings.count, ==, 1);
	CHECK_INT(jvm_leavings_remove(&leavings, NULL), ==, 0);
	CHECK_INT(leavings.count, ==, 0);
	CHECK(access(w->ours, F_OK) < 0);
	CHECK(access(w->theirs, F_OK) == 0);
	CHECK(access(w->other, F_OK) == 0);
}

WORLD_TEST(another_file_of_the_same_name_stays)
{
	struct jvm_leavings leavings = {0};

	CHECK_INT(jvm_leavings_find(getpid(), &leavings, NULL), ==, 0);
	CHECK_INT(unlink(w->ours), ==, 0);
	CHECK_INT(symlink(w->other, w->ours), ==, 0);
	CHECK_INT(jvm_leavings_remove(&leavings, NULL), ==, 0);
	CHECK(access(w->ours, F_OK) == 0);
	CHECK(access(w->other, F_OK) == 0);
}

WORLD_TEST(what_is_gone_already_is_no_error)
{
	struct jvm_leavings leavings = {0};

	CHECK_INT(jvm_leavings_find(getpid(), &leavings, NULL), ==, 0);
	CHECK_INT(unlink(w->ours), ==, 0);
	CHECK_INT(jvm_leavings_remove(&leavings, NULL), ==, 0);
	CHECK(access(w->theirs, F_OK) == 0);
}
