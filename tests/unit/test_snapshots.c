#include "store/snapshots.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "metadata_writer.h"
#include "store/uri.h"
#include "store_dir.h"

#define JOB_A "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define JOB_B "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb02"

struct seen {
	struct buf text;
	size_t count;
	const char *top;
	bool stop;
};

/* "chk-3:job:id:state:size " */
static int see(void *ctx, const struct snapshots_item *item, struct err *err)
{
	struct seen *seen = ctx;

	(void)err;
	CHECK(!strncmp(item->path, "file:/", 6));
	CHECK_INT(item->mtime_unix_ms >= 0, ==, item->state == SNAPSHOTS_COMPLETE);
	CHECK_INT(item->why != NULL, ==, item->state == SNAPSHOTS_UNREADABLE);
	buf_addf(&seen->text, "%s:%.6s:%jd:%d:%jd ", uri_name(item->path), item->job_id,
		 (intmax_t)item->checkpoint_id, item->state, (intmax_t)item->size_bytes);
	seen->count++;
	return seen->stop;
}

static void put_metadata(const char *top, const char *dir, int version, int id)
{
	cleanup_free char *name = xasprintf("%s/_metadata", dir);
	cleanup_buf struct buf bytes = BUF_INIT;

	wr_head(&bytes, version, id);
	dir_put(top, name, bytes.data, bytes.len_bytes);
}

static bool is_job_b(void *ctx, const char *job_id)
{
	(void)ctx;
	return !strcmp(job_id, JOB_B);
}

TEST(finds_the_checkpoints_of_every_job)
{
	cleanup_dir char *top = dir_new();
	struct seen seen = {0};
	struct store *store;
	struct err err = {0};

	put_metadata(top, JOB_A "/chk-3", 6, 3);
	put_metadata(top, JOB_A "/chk-12", 6, 12);
	dir_mkdir(top, JOB_A "/chk-13");
	dir_mkdir(top, JOB_A "/shared");
	dir_mkdir(top, JOB_A "/chk-");
	dir_mkdir(top, JOB_A "/chk-1x");
	dir_mkdir(top, JOB_A "/chk-9999999999999999999");
	put_metadata(top, JOB_B "/chk-1", 6, 1);
	put_metadata(top, "not-a-job/chk-1", 6, 1);
	dir_loop(top, JOB_B "/chk-2/_metadata");
	CHECK_INT(store_open(NULL, top, &store, &err), ==, 0);
	CHECK_INT(snapshots_list_jobs(store, top, NULL, see, &seen, &err), ==, 0);
	CHECK_INT(seen.count, ==, 5);
	CHECK_HAS(buf_str(&seen.text), "chk-3:aaaaaa:3:0:16 ");
	CHECK_HAS(buf_str(&seen.text), "chk-12:aaaaaa:12:0:16 ");
	CHECK_HAS(buf_str(&seen.text), "chk-13:aaaaaa:13:1:-1 ");
	CHECK_HAS(buf_str(&seen.text), "chk-1:bbbbbb:1:0:16 ");
	CHECK_HAS(buf_str(&seen.text), "chk-2:bbbbbb:2:2:-1 ");
	seen.count = 0;
	CHECK_INT(snapshots_list_jobs(store, top, is_job_b, see, &seen, &err), ==, 0);
	CHECK_INT(seen.count, ==, 2);
	seen.count = 0;
	seen.stop = true;
	CHECK_INT(snapshots_list_jobs(store, top, NULL, see, &seen, &err), ==, 0);
	CHECK_INT(seen.count, ==, 1);
	buf_release(&seen.text);
	store_close(store);
}

static int fail_as_absent(void *ctx, const struct snapshots_item *item, struct err *err)
{
	(void)ctx;
	return err_set(err, ERR_ABSENT, 0, "%s is of no use", item->path);
}

TEST(an_error_of_the_callback_is_passed_on_whatever_its_kind)
{
	cleanup_dir char *top = dir_new();
	struct store *store;
	struct err err = {0};

	put_metadata(top, JOB_A "/chk-3", 6, 3);
	CHECK_INT(store_open(NULL, top, &store, &err), ==, 0);
	CHECK_INT(snapshots_list_jobs(store, top, NULL, fail_as_absent, NULL, &err), ==, -1);
	CHECK_HAS(err.msg, "chk-3 is of no use");
	store_close(store);
}

TEST(finds_checkpoints_without_a_job_directory)
{
	cleanup_dir char *top = dir_new();
	struct seen seen = {0};
	struct store *store;
	struct err err = {0};

	put_metadata(top, "chk-7", 6, 7);
	CHECK_INT(store_open(NULL, top, &store, &err), ==, 0);
	CHECK_INT(snapshots_list_jobs(store, top, NULL, see, &seen, &err), ==, 0);
	CHECK_STR(buf_str(&seen.text), "chk-7::7:0:16 ");
	buf_release(&seen.text);
	store_close(store);
}

/* One with another name than Flink gives is of an unknown job. */
TEST(finds_savepoints_under_every_name)
{
	cleanup_dir char *top = dir_new();
	struct seen seen = {0};
	struct store *store;
	struct err err = {0};

	put_metadata(top, "savepoint-1a2b3c-0123456789ab", 4, 5);
	dir_mkdir(top, "savepoint-ffffff-0123456789ab");
	put_metadata(top, "savepoint-1a2b3c-0123456789abc", 4, 5);
	put_metadata(top, "savepoint-1A2B3C-0123456789ab", 4, 5);
	put_metadata(top, "savepoint-1a2b3c", 4, 5);
	put_metadata(top, "savepoint-", 4, 5);
	put_metadata(top, "other", 4, 5);
	put_metadata(top, "chk-9", 4,
		     5); /* no savepoint: the directory is that of checkpoints, too */
	dir_mkdir(top, "empty");
	CHECK_INT(store_open(NULL, top, &store, &err), ==, 0);
	CHECK_INT(snapshots_list_savepoints(store, top, see, &seen, &err), ==, 0);
	CHECK_INT(seen.count, ==, 7);
	CHECK_HAS(buf_str(&seen.text), "other::-1:0:16 ");
	CHECK_HAS(buf_str(&seen.text), "savepoint-1a2b3c-0123456789abc::-1:0:16 ");
	CHECK_HAS(buf_str(&seen.text), "savepoint-1a2b3c-0123456789ab:1a2b3c:-1:0:16 ");
	CHECK_HAS(buf_str(&seen.text), "savepoint-ffffff-0123456789ab:ffffff:-1:1:-1 ");
	buf_release(&seen.text);
	store_close(store);
}

/* What a file system keeps there, and a link to what was deleted, are no savepoints. */
TEST(a_directory_under_another_name_that_cannot_be_read_may_be_a_savepoint)
{
	static const char *const names[] = {"boot", "lost+found", ".snapshot"};
	cleanup_dir char *top = dir_new();
	cleanup_free char *link = xasprintf("%s/latest", top);
	struct seen seen = {0};
	struct store *store;
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_free char *metadata = xasprintf("%s/_metadata", names[i]);

		dir_mkdir(top, names[i]);
		dir_loop(top, metadata);
	}
	CHECK(!symlink("savepoint-1a2b3c-0123456789ab", link));
	CHECK_INT(store_open(NULL, top, &store, &err), ==, 0);
	CHECK_INT(snapshots_list_savepoints(store, top, see, &seen, &err), ==, 0);
	CHECK_STR(buf_str(&seen.text), "boot::-1:2:-1 ");
	buf_release(&seen.text);
	store_close(store);
}

TEST(a_directory_that_is_not_there_is_absent_and_an_error_is_not)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *none = uri_join(top, "none"), *loop = uri_join(top, "loop");
	struct seen seen = {0};
	struct store *store;
	struct err err = {0};

	dir_loop(top, "loop");
	CHECK_INT(store_open(NULL, top, &store, &err), ==, 0);
	CHECK_INT(snapshots_list_savepoints(store, none, see, &seen, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(snapshots_list_jobs(store, none, NULL, see, &seen, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(snapshots_list_savepoints(store, loop, see, &seen, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_SYS);
	CHECK_INT(snapshots_list_jobs(store, "nonsense", NULL, see, &seen, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(seen.count, ==, 0);
	store_close(store);
}

static int count(void *ctx, const struct snapshots_item *item, struct err *err)
{
	(void)item;
	(void)err;
	(*(size_t *)ctx)++;
	return 0;
}

TEST(lists_ten_thousand_savepoints_quickly)
{
	cleanup_dir char *top = dir_new();
	struct timespec start, end;
	struct store *store;
	struct err err = {0};
	size_t seen = 0;

	for (int i = 0; i < 10000; i++) {
		cleanup_free char *name = xasprintf("savepoint-1a2b3c-%012x/_metadata", i);

		dir_hole(top, name, 100);
	}
	CHECK_INT(store_open(NULL, top, &store, &err), ==, 0);
	clock_gettime(CLOCK_MONOTONIC, &start);
	CHECK_INT(snapshots_list_savepoints(store, top, count, &seen, &err), ==, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	CHECK_INT(seen, ==, 10000);
	tap_note("10000 savepoints in %.1f ms",
		 (double)(end.tv_sec - start.tv_sec) * 1e3 +
			 (double)(end.tv_nsec - start.tv_nsec) / 1e6);
	store_close(store);
}

int main(int argc, char **argv)
{
	/* thousands of little files: a disk takes its time for them */
	if (!getenv("TMPDIR") && !access("/dev/shm", W_OK))
		setenv("TMPDIR", "/dev/shm", 1);
	return tap_main(argc, argv);
}
