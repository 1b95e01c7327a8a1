#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "store/store.h"
#include "store/uri.h"
#include "store_dir.h"

static struct store *opened(const char *uri)
{
	struct store *store = NULL;
	struct err err = {0};

	if (!CHECK_INT(store_open(NULL, uri, &store, &err), ==, 0))
		tap_note("%s", err.msg);
	return store;
}

TEST(a_scheme_that_nothing_here_reads_is_named)
{
	struct store *store;
	struct err err = {0};

	CHECK_INT(store_open(NULL, "hdfs://nn/ck", &store, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "scheme 'hdfs' is not supported without Flink");
	CHECK_HAS(err.msg, "set FLINK_HOME");
	CHECK_INT(store_check("hdfs://nn/ck", NULL), ==, 0);
	CHECK_INT(store_check("https://nn/ck", &err), ==, -1);
	CHECK_HAS(err.msg, "scheme 'https' is not supported: Flink keeps no state there");
	CHECK_INT(store_open(NULL, "ck", &store, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(store_open(NULL, "file://ck/job", &store, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "file:///ck/job");
}

TEST(a_store_refuses_names_of_another)
{
	struct store *store = opened("file:///");
	struct store_stat stat;
	struct err err = {0};

	CHECK(store_serves(store, "/x"));
	CHECK(!store_serves(store, "s3://b/x"));
	CHECK_INT(store_stat(store, "s3://b/x", &stat, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	store_close(store);
}

TEST(tells_size_and_time_and_what_is_not_there)
{
	cleanup_dir char *top = dir_new();
	struct store *store = opened(top);
	cleanup_free char *file = uri_join(top, "a b%20c"), *none = uri_join(top, "none"),
			  *inside = uri_join(file, "x"), *loop = uri_join(top, "loop");
	struct store_stat stat = {0};
	struct stat want;
	struct err err = {0};

	dir_put(top, "a b%20c", "12345", 5);
	dir_loop(top, "loop");
	CHECK_INT(store_stat(store, file, &stat, &err), ==, 0);
	CHECK_INT(stat.size_bytes, ==, 5);
	CHECK(!lstat(file, &want));
	CHECK_INT(stat.mtime_unix_ms / 1000, ==, want.st_mtim.tv_sec);
	CHECK_INT(store_exists(store, file, &err), ==, 1);
	CHECK_INT(store_exists(store, none, &err), ==, 0);
	CHECK_INT(err.kind, ==, ERR_NONE);
	CHECK_INT(store_exists(store, inside, &err), ==, -1); /* below a file */
	CHECK_INT(err.kind, ==, ERR_SYS);
	CHECK_INT(err.sys, ==, ENOTDIR);
	CHECK_INT(store_exists(store, loop, &err), ==, -1);
	CHECK_INT(err.kind, !=, ERR_ABSENT);
	err = (struct err){0};
	CHECK_INT(store_stat(store, top, &stat, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "is a directory, not a file");
	store_close(store);
}

struct names {
	struct buf text;
	int stop_after;
	int fail;
};

static int add_name(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct names *names = ctx;

	if (names->fail)
		return err_set(err, ERR_BUSY, 0, "enough");
	buf_addf(&names->text, "%s%s ", entry->name, entry->is_prefix ? "/" : "");
	if (!entry->is_prefix)
		buf_addf(&names->text, "%jd ", (intmax_t)entry->stat.size_bytes);
	return names->stop_after && !--names->stop_after;
}

TEST(lists_one_level)
{
	cleanup_dir char *top = dir_new();
	struct store *store = opened(top);
	struct names names = {0};
	struct err err = {0};

	CHECK_INT(store_list(store, top, add_name, &names, &err), ==, 0);
	CHECK_INT(names.text.len_bytes, ==, 0);
	dir_hole(top, "dir/inner", 7);
	dir_hole(top, "file", 8);
	CHECK_INT(store_list(store, top, add_name, &names, &err), ==, 0);
	CHECK_HAS(buf_str(&names.text), "dir/ ");
	CHECK_HAS(buf_str(&names.text), "file 8 ");
	CHECK(!strstr(buf_str(&names.text), "inner"));
	buf_clear(&names.text);
	names.stop_after = 1;
	CHECK_INT(store_list(store, top, add_name, &names, &err), ==, 0);
	CHECK(!strstr(buf_str(&names.text), "file") || !strstr(buf_str(&names.text), "dir"));
	names.fail = 1;
	CHECK_INT(store_list(store, top, add_name, &names, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	buf_release(&names.text);
	store_close(store);
}

TEST(a_listing_with_an_error_in_it_is_void)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *none = uri_join(top, "none"), *gone = uri_join(top, "gone"),
			  *loop = uri_join(top, "loop");
	struct store *store = opened(top);
	struct names names = {0};
	struct err err = {0};

	CHECK_INT(store_list(store, none, add_name, &names, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(symlink(none, gone), ==,
		  0); /* a link to nothing is there, whatever is behind it */
	CHECK_INT(store_list(store, top, add_name, &names, &err), ==, 0);
	CHECK_STR(buf_str(&names.text), "gone/ ");
	CHECK_INT(store_list(store, gone, add_name, &names, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONTRADICTED);
	dir_loop(top, "loop");
	CHECK_INT(store_list(store, top, add_name, &names, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_SYS);
	CHECK_HAS(err.msg, top);
	err = (struct err){0};
	CHECK_INT(store_list(store, loop, add_name, &names, &err), ==, -1);
	CHECK_INT(err.kind, !=, ERR_ABSENT);
	buf_release(&names.text);
	store_close(store);
}

static int add_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	struct buf *text = ctx;

	(void)err;
	buf_addf(text, "%s:%d ", dir->name, dir->leaf);
	if (dir->leaf == STORE_LEAF_PRESENT)
		CHECK_INT(dir->stat.size_bytes, ==, 3);
	if (dir->leaf == STORE_LEAF_UNREADABLE)
		CHECK_HAS(dir->why->msg, "loop/leaf");
	return 0;
}

TEST(looks_at_directories_through_one_file)
{
	cleanup_dir char *top = dir_new();
	cleanup_buf struct buf text = BUF_INIT;
	struct store *store = opened(top);
	struct err err = {0};

	dir_put(top, "with/leaf", "abc", 3);
	dir_mkdir(top, "without");
	dir_mkdir(top, "dir-as-leaf");
	dir_mkdir(top, "dir-as-leaf/leaf");
	dir_put(top, "file", "", 0);
	dir_loop(top, "loop/leaf");
	CHECK_INT(store_list_dirs(store, top, "leaf", add_dir, &text, &err), ==, 0);
	CHECK_HAS(buf_str(&text), "with:0 ");
	CHECK_HAS(buf_str(&text), "without:1 ");
	CHECK_HAS(buf_str(&text), "dir-as-leaf:1 ");
	CHECK_HAS(buf_str(&text), "loop:2 ");
	CHECK(!strstr(buf_str(&text), "file"));
	store_close(store);
}

static void read_all(struct store *store, const char *uri, int64_t offset, const char *want)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct store_stream *stream;
	size_t got = 1;
	char part[3];

	if (!CHECK_INT(store_read_open(store, uri, offset, &stream, NULL), ==, 0))
		return;
	CHECK_INT(store_read_size(stream), ==, strlen(want));
	while (got) {
		CHECK_INT(store_read(stream, part, sizeof(part), &got, NULL), ==, 0);
		buf_add(&text, part, got);
	}
	CHECK_STR(buf_str(&text), want);
	store_read_close(stream);
}

TEST(reads_a_file_from_any_offset)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *file = uri_join(top, "f"), *fifo = uri_join(top, "fifo");
	struct store *store = opened(top);
	struct store_stream *stream;
	struct err err = {0};

	dir_put(top, "f", "0123456789", 10);
	read_all(store, file, 0, "0123456789");
	read_all(store, file, 7, "789");
	read_all(store, file, 10, "");
	read_all(store, file, 99, "");
	CHECK_INT(store_read_open(store, top, 0, &stream, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_INT(mkfifo(fifo, 0600), ==, 0);
	CHECK_INT(store_read_open(store, fifo, 0, &stream, &err), ==, -1); /* and does not hang */
	store_close(store);
}

static int add_leaf(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	(void)err;
	buf_addf(ctx, "%s%s ", leaf->name, leaf->odd ? "?" : "");
	return 0;
}

TEST(lists_all_levels_and_follows_no_link)
{
	cleanup_dir char *top = dir_new(), *other = dir_new();
	cleanup_free char *link = uri_join(top, "a/link"), *deep = uri_join(top, "a");
	cleanup_buf struct buf text = BUF_INIT;
	struct store *store = opened(top);
	struct err err = {0};

	dir_put(other, "foreign", "x", 1);
	dir_put(top, "a/b/file", "abc", 3);
	dir_mkdir(top, "empty");
	CHECK(!symlink(other, link));
	CHECK_INT(store_list_tree(store, top, add_leaf, &text, &err), ==, 0);
	CHECK_HAS(buf_str(&text), "a/b/file ");
	CHECK_HAS(buf_str(&text), "a/link? ");
	CHECK(!strstr(buf_str(&text), "foreign"));
	CHECK_INT(store_list_tree(store, link, add_leaf, &text, &err), ==, -1);
	for (int i = 0; i < 20; i++) {
		char *next = uri_join(deep, "d");

		free(deep);
		deep = next;
		CHECK(!mkdir(deep, 0755));
	}
	CHECK_INT(store_list_tree(store, top, add_leaf, &text, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "too many directories");
	store_close(store);
}

static const char *nth_uri(void *ctx, size_t index)
{
	return ((const char *const *)ctx)[index];
}

static int keep_why(void *ctx, size_t index, const struct err *why, struct err *err)
{
	(void)ctx;
	if (index < 2)
		CHECK(!why);
	else
		CHECK(why && why->kind != ERR_ABSENT);
	return index == 3 ? err_set(err, ERR_BUSY, 0, "enough") : 0;
}

TEST(deletes_files_and_says_which_it_cannot)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *file = uri_join(top, "f"), *none = uri_join(top, "none"),
			  *dir = uri_join(top, "dir");
	const char *uris[] = {file, none, dir, "s3://b/x", file};
	struct store *store = opened(top);
	struct err err = {0};

	dir_put(top, "f", "abc", 3);
	dir_mkdir(top, "dir");
	CHECK_INT(store_delete_many(store, nth_uri, 5, keep_why, uris, &err), ==, -1);
	CHECK_STR(err.msg, "enough");
	CHECK_INT(store_exists(store, file, NULL), ==, 0);
	store_close(store);
}

static int keep_nothing(void *ctx, size_t index, const struct err *why, struct err *err)
{
	(void)ctx;
	(void)index;
	(void)err;
	CHECK(!why);
	return 0;
}

TEST(deletes_in_each_directory_what_was_named_there)
{
	cleanup_dir char *top = dir_new();
	cleanup_free char *a = uri_join(top, "a/f"), *b = uri_join(top, "ab/g"),
			  *deep = uri_join(top, "a/a/h"), *gone = uri_join(top, "gone/f"),
			  *other = uri_join(top, "ab/f"), *under = uri_join(top, "a/h");
	const char *uris[] = {a, gone, b, deep};
	struct store *store = opened(top);
	struct err err = {0};

	dir_put(top, "a/f", "abc", 3);
	dir_put(top, "a/g", "abc", 3);
	dir_put(top, "a/h", "abc", 3);
	dir_put(top, "ab/f", "abc", 3);
	dir_put(top, "ab/g", "abc", 3);
	dir_put(top, "a/a/h", "abc", 3);
	CHECK_INT(store_delete_many(store, nth_uri, 4, keep_nothing, uris, &err), ==, 0);
	CHECK_INT(store_exists(store, a, NULL), ==, 0);
	CHECK_INT(store_exists(store, b, NULL), ==, 0);
	CHECK_INT(store_exists(store, deep, NULL), ==, 0);
	CHECK_INT(store_exists(store, other, NULL), ==, 1);
	CHECK_INT(store_exists(store, under, NULL), ==, 1);
	store_close(store);
}

TEST(removes_only_directories_that_are_empty)
{
	cleanup_dir char *top = dir_new(), *other = dir_new();
	cleanup_free char *link = uri_join(top, "gone/link"), *gone = uri_join(top, "gone"),
			  *stays = uri_join(top, "stays"), *inner = uri_join(top, "stays/inner"),
			  *empty = uri_join(other, "empty");
	struct store *store = opened(top);
	struct err err = {0};

	dir_mkdir(top, "gone");
	dir_mkdir(top, "gone/a");
	dir_mkdir(top, "gone/a/b");
	dir_put(top, "stays/file", "x", 1);
	dir_mkdir(top, "stays/inner");
	CHECK_INT(store_remove_empty(store, gone, &err), ==, 0);
	CHECK(access(gone, F_OK) != 0);
	CHECK_INT(store_remove_empty(store, stays, &err), ==, 0);
	CHECK(access(stays, F_OK) == 0);
	CHECK(access(inner, F_OK) != 0);
	CHECK_INT(store_remove_empty(store, gone, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	/* what is behind a link stays */
	dir_mkdir(other, "empty");
	dir_mkdir(top, "gone");
	CHECK(!symlink(other, link));
	CHECK_INT(store_remove_empty(store, gone, &err), ==, 0);
	CHECK(access(empty, F_OK) == 0);
	CHECK(access(gone, F_OK) == 0);
	store_close(store);
}
