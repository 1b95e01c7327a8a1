/*
 * check_store - the contract of store/store.h, checked against a real store.
 *
 *   check_store make DIR     write the files of the check into a directory, to be uploaded as they are
 *   check_store URI          check the store that has them below URI; prints TAP
 *
 * CHECK_DIRS=N: with N directories instead of more than fit in a page, for a store that is slow to
 * fill; the same for both.
 *
 * CHECK_WITHOUT=CHARACTERS: without names that contain one of them, for a store that cannot have such
 * names; the same for both.
 *
 * Where the store is and how to sign in comes from the environment, as for drey itself.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "run/config/setup_flinkfs.h"
#include "store/store.h"
#include "store/uri.h"
#include "tests/unit/tap.h"

/* More directories than a page has names, and more names than are looked at before choosing how. */
enum { SPARSE = 1003, DENSE = 11, DENSE_FILES = 99, BIG_BYTES = 2 * 1024 * 1024 + 4711 };

#define NO_LEAF(i) ((i) % 100 == 7)

static const char *odd_names[] = {
	"a b",   "a+b",      "a%20b", "a%2Fb",    "a~b",
	"a=b&c", "a'b\"c",   "(x)!*", "a:b@c",    "a#b?c=d",
	"a,b;c", "$x",       "[1]",   "\xC3\xA9", "\xE6\x97\xA5\xE6\x9C\xAC",
	"-_.",   "<a>&amp;",
};
static size_t odd_count;

static int dense_files = DENSE_FILES;
static size_t sparse_dirs = SPARSE;
static const char *top; /* the URI of the files */
static struct store_config config;
static struct store *store;

/* ---- the files ---- */

static char pattern(int64_t at)
{
	return (char)('a' + (at * 7 + at / 26 + at / 4096) % 26);
}

static void put(const char *dir, const char *name, const char *bytes, size_t len)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, name);
	int fd;

	for (char *p = path + strlen(dir) + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0755);
			*p = '/';
		}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, bytes, len) != (ssize_t)len) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static int make(const char *dir)
{
	char *big = xcalloc(BIG_BYTES, 1);

	mkdir(dir, 0755);
	put(dir, "one/digits", "0123456789", 10);
	put(dir, "one/empty", "", 0);
	put(dir, "one/inner/x", "x", 1);
	put(dir, "one-more/x", "x", 1); /* sorts before "one/" */
	for (size_t i = 0; i < odd_count; i++) {
		cleanup_free char *name = xasprintf("odd/%s", odd_names[i]);

		put(dir, name, "0123456789012345678901", i + 1);
	}
	for (int i = 0; i < (int)sparse_dirs; i++) {
		cleanup_free char *leaf =
			xasprintf("sparse/s%04d/%s", i, NO_LEAF(i) ? "other" : "leaf");

		put(dir, leaf, "12345678", (size_t)i % 8);
	}
	for (int i = 0; i < DENSE; i++) {
		cleanup_free char *leaf = xasprintf("dense/d%04d/leaf", i);

		put(dir, leaf, "12345678", (size_t)i % 8);
		for (int j = 0; j < dense_files; j++) {
			cleanup_free char *name = xasprintf("dense/d%04d/file-%d", i, j);

			put(dir, name, "x", 1);
		}
	}
	put(dir, "dense/file", "x", 1);
	for (int64_t i = 0; i < BIG_BYTES; i++)
		big[i] = pattern(i);
	put(dir, "big", big, BIG_BYTES);
	free(big);
	return 0;
}

/* ---- the checks ---- */

/* Caller frees. */
static char *at(const char *name)
{
	return xasprintf("%s/%s", top, name);
}

TEST(tells_size_and_date_of_a_file)
{
	cleanup_free char *digits = at("one/digits"), *empty = at("one/empty");
	int64_t now = clock_unix_ms(), day = INT64_C(86400000);
	struct store_stat stat = {.size_bytes = -1, .mtime_unix_ms = -1};
	struct err err = {0};

	if (!CHECK_INT(store_stat(store, digits, &stat, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_INT(stat.size_bytes, ==, 10);
	CHECK_INT(stat.mtime_unix_ms, >, now - day);
	CHECK_INT(stat.mtime_unix_ms, <, now + day);
	CHECK_INT(store_stat(store, empty, &stat, &err), ==, 0);
	CHECK_INT(stat.size_bytes, ==, 0);
	CHECK_INT(stat.mtime_unix_ms, >, now - day);
}

TEST(proves_that_a_file_is_not_there)
{
	cleanup_free char *none = at("one/digit"), *below = at("nowhere/at/all");
	struct store_stream *stream;
	struct store_stat stat;
	struct err err = {0};

	CHECK_INT(store_exists(store, none, &err), ==, 0);
	CHECK_INT(store_exists(store, below, &err), ==, 0);
	CHECK_INT(store_stat(store, none, &stat, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_INT(store_read_open(store, none, 0, &stream, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
}

TEST(finds_files_with_odd_names)
{
	for (size_t i = 0; i < odd_count; i++) {
		cleanup_free char *name = xasprintf("%s/odd/%s", top, odd_names[i]);
		struct store_stat stat = {.size_bytes = -1, .mtime_unix_ms = -1};
		struct err err = {0};

		if (!CHECK_INT(store_stat(store, name, &stat, &err), ==, 0) ||
		    !CHECK_INT(stat.size_bytes, ==, i + 1))
			tap_note("%s: %s", name, err.msg);
	}
}

static int add_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	struct buf *text = ctx;

	(void)err;
	buf_addf(text, "|%s%s", entry->name, entry->is_prefix ? "/" : "");
	if (!entry->is_prefix)
		buf_addf(text, "=%jd", (intmax_t)entry->stat.size_bytes);
	buf_addch(text, '|');
	return 0;
}

TEST(lists_one_level)
{
	cleanup_free char *one = at("one"), *odd = at("odd"), *none = at("on");
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};

	if (!CHECK_INT(store_list(store, one, add_entry, &text, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_HAS(buf_str(&text), "|digits=10|");
	CHECK_HAS(buf_str(&text), "|empty=0|");
	CHECK_HAS(buf_str(&text), "|inner/|");
	CHECK_INT(text.len_bytes, ==, strlen("|digits=10||empty=0||inner/|"));
	buf_clear(&text);
	CHECK_INT(store_list(store, odd, add_entry, &text, &err), ==, 0);
	for (size_t i = 0; i < odd_count; i++) {
		cleanup_free char *want = xasprintf("|%s=%zu|", odd_names[i], i + 1);

		CHECK_HAS(buf_str(&text), want);
	}
	CHECK_INT(store_list(store, none, add_entry, &text, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
}

static int count_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	int *left = ctx;

	(void)err;
	CHECK(entry->is_prefix);
	return !--*left;
}

TEST(lists_over_many_pages_and_ends_when_told)
{
	cleanup_free char *sparse = at("sparse");
	int left = -1;
	struct err err = {0};

	CHECK_INT(store_list(store, sparse, count_entry, &left, &err), ==, 0);
	CHECK_INT(-1 - left, ==, sparse_dirs);
	left = (int)sparse_dirs - 1;
	CHECK_INT(store_list(store, sparse, count_entry, &left, &err), ==, 0);
	CHECK_INT(left, ==, 0);
}

struct dirs {
	char letter;
	int count, absent, wrong;
	bool seen[SPARSE];
};

static int on_dir(void *ctx, const struct store_dir *dir, struct err *err)
{
	struct dirs *dirs = ctx;
	char letter = 0, more;
	int i = -1;

	(void)err;
	if (sscanf(dir->name, "%c%4d%c", &letter, &i, &more) != 2 || letter != dirs->letter ||
	    i < 0 || i >= SPARSE || dirs->seen[i]) {
		dirs->wrong++;
		return 0;
	}
	dirs->seen[i] = true;
	dirs->count++;
	dirs->absent += dir->leaf == STORE_LEAF_ABSENT;
	if (dir->leaf == STORE_LEAF_UNREADABLE) {
		dirs->wrong++;
		tap_note("%s: %s", dir->name, dir->why->msg);
	}
	if (dir->leaf == STORE_LEAF_PRESENT &&
	    (dir->stat.size_bytes != i % 8 || dir->stat.mtime_unix_ms <= 0))
		dirs->wrong++;
	return 0;
}

TEST(sees_each_directory_once_with_its_leaf)
{
	cleanup_free char *sparse = at("sparse"), *dense = at("dense"), *none = at("spars");
	struct dirs found = {.letter = 's'};
	int without = 0;
	struct err err = {0};

	for (int i = 0; i < (int)sparse_dirs; i++)
		without += NO_LEAF(i);
	if (!CHECK_INT(store_list_dirs(store, sparse, "leaf", on_dir, &found, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_INT(found.count, ==, sparse_dirs);
	CHECK_INT(found.absent, ==, without);
	CHECK_INT(found.wrong, ==, 0);
	found = (struct dirs){.letter = 'd'};
	if (!CHECK_INT(store_list_dirs(store, dense, "leaf", on_dir, &found, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_INT(found.count, ==, DENSE);
	CHECK_INT(found.absent, ==, 0);
	CHECK_INT(found.wrong, ==, 0);
	CHECK_INT(store_list_dirs(store, none, "leaf", on_dir, &found, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
}

struct tree {
	struct buf text;
	int count, wrong;
};

static int on_leaf(void *ctx, const struct store_leaf *leaf, struct err *err)
{
	struct tree *tree = ctx;

	(void)err;
	tree->count++;
	tree->wrong += leaf->odd || leaf->stat.mtime_unix_ms <= 0;
	buf_addf(&tree->text, "|%s=%jd|", leaf->name, (intmax_t)leaf->stat.size_bytes);
	return 0;
}

/* How many files there are at all levels below `name`. */
static int count_tree(const char *name, struct tree *tree)
{
	cleanup_free char *uri = at(name);
	struct err err = {0};

	if (!CHECK_INT(store_list_tree(store, uri, on_leaf, tree, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_INT(tree->wrong, ==, 0);
	return tree->count;
}

TEST(lists_all_levels)
{
	cleanup_free char *none = at("on");
	struct tree one = {0}, odd = {0}, dense = {0};
	struct err err = {0};

	CHECK_INT(count_tree("one", &one), ==, 3);
	CHECK_HAS(buf_str(&one.text), "|digits=10|");
	CHECK_HAS(buf_str(&one.text), "|empty=0|");
	CHECK_HAS(buf_str(&one.text), "|inner/x=1|");
	CHECK_INT(count_tree("odd", &odd), ==, odd_count);
	for (size_t i = 0; i < odd_count; i++)
		CHECK_HAS(buf_str(&odd.text), odd_names[i]);
	CHECK_INT(count_tree("dense", &dense), ==, DENSE * (dense_files + 1) + 1);
	CHECK_INT(store_list_tree(store, none, on_leaf, &one, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	buf_release(&one.text);
	buf_release(&odd.text);
	buf_release(&dense.text);
}

struct looks {
	char *uri;
	bool seen[SPARSE + 3];
	int present, absent, wrong;
	size_t head_bytes;
};

/* The leaves of the sparse directories, then an empty file, a large one and one of odd name. */
static const char *look_uri(void *ctx, size_t index)
{
	static const char *const others[] = {"one/empty", "big", "odd/a%20b"};
	struct looks *looks = ctx;

	free(looks->uri);
	if (index >= sparse_dirs)
		looks->uri = at(others[index - sparse_dirs]);
	else
		looks->uri = xasprintf("%s/sparse/s%04zu/leaf", top, index);
	return looks->uri;
}

static int on_look(void *ctx, const struct store_look *look, struct err *err)
{
	static const int64_t sizes[] = {0, BIG_BYTES, 3};
	struct looks *looks = ctx;
	int64_t want = look->index < sparse_dirs ? (int64_t)look->index % 8
						 : sizes[look->index - sparse_dirs];
	bool absent = look->index < sparse_dirs && NO_LEAF(look->index);
	size_t head = looks->head_bytes < (size_t)want ? looks->head_bytes : (size_t)want;

	(void)err;
	if (looks->seen[look->index])
		looks->wrong++;
	looks->seen[look->index] = true;
	if (look->state == STORE_LOOK_ABSENT) {
		looks->absent++;
		looks->wrong += !absent;
	} else if (look->state == STORE_LOOK_UNREADABLE) {
		looks->wrong++;
		tap_note("%s", look->why->msg);
	} else {
		looks->present++;
		looks->wrong += absent || look->stat.size_bytes != want ||
				look->stat.mtime_unix_ms <= 0 || look->head_len_bytes != head;
		if (look->index < sparse_dirs &&
		    memcmp(look->head ? look->head : "", "12345678", head))
			looks->wrong++;
	}
	return 0;
}

TEST(looks_at_many_files_at_once)
{
	for (int round = 0; round < 2; round++) {
		struct looks looks = {.head_bytes = round ? 5 : 0};
		struct err err = {0};

		CHECK_INT(store_look_many(store, look_uri, sparse_dirs + 3, looks.head_bytes,
					  on_look, &looks, &err),
			  ==, 0);
		CHECK_INT(looks.present + looks.absent, ==, sparse_dirs + 3);
		CHECK_INT(looks.wrong, ==, 0);
		free(looks.uri);
	}
}

static void read_from(const char *uri, int64_t offset)
{
	int64_t want = offset < BIG_BYTES ? BIG_BYTES - offset : 0, got = 0, wrong = 0;
	struct store_stream *stream;
	struct err err = {0};
	char part[30000];
	size_t len = 1;

	if (!CHECK_INT(store_read_open(store, uri, offset, &stream, &err), ==, 0)) {
		tap_note("%s", err.msg);
		return;
	}
	CHECK_INT(store_read_size(stream), ==, want);
	while (len) {
		if (!CHECK_INT(store_read(stream, part, sizeof(part), &len, &err), ==, 0)) {
			tap_note("%s", err.msg);
			break;
		}
		for (size_t i = 0; i < len; i++, got++)
			wrong += part[i] != pattern(offset + got);
	}
	CHECK_INT(got, ==, want);
	CHECK_INT(wrong, ==, 0);
	store_read_close(stream);
}

TEST(reads_a_file_from_any_offset)
{
	cleanup_free char *big = at("big"), *empty = at("one/empty");
	struct store_stream *stream;
	struct err err = {0};
	size_t len = 1;
	char ch;

	read_from(big, 0);
	read_from(big, 1234567);
	read_from(big, BIG_BYTES - 1);
	read_from(big, BIG_BYTES);
	read_from(big, BIG_BYTES + 99);
	if (CHECK_INT(store_read_open(store, empty, 0, &stream, &err), ==, 0)) {
		CHECK_INT(store_read_size(stream), ==, 0);
		CHECK_INT(store_read(stream, &ch, 1, &len, &err), ==, 0);
		CHECK_INT(len, ==, 0);
		store_read_close(stream);
	} else {
		tap_note("%s", err.msg);
	}
}

/* Two streams and other questions go side by side. */
TEST(reads_two_files_at_a_time)
{
	cleanup_free char *big = at("big"), *digits = at("one/digits");
	struct store_stream *first, *second;
	struct store_stat stat;
	size_t len = 0;
	char ch = 0;

	if (!CHECK_INT(store_read_open(store, big, 7, &first, NULL), ==, 0))
		return;
	if (CHECK_INT(store_read_open(store, digits, 7, &second, NULL), ==, 0)) {
		CHECK_INT(store_stat(store, digits, &stat, NULL), ==, 0);
		CHECK_INT(store_read(second, &ch, 1, &len, NULL), ==, 0);
		CHECK_INT(ch, ==, '7');
		CHECK_INT(store_read(first, &ch, 1, &len, NULL), ==, 0);
		CHECK_INT(ch, ==, pattern(7));
		store_read_close(second);
	}
	store_read_close(first);
}

/* ---- the last ones: they delete ---- */

struct deletions {
	char *uri;
	int count, failed;
};

/* All leaves of the sparse directories, some of which are absent, and the files with odd names. */
static const char *deletion_uri(void *ctx, size_t index)
{
	struct deletions *deletions = ctx;

	free(deletions->uri);
	if (index < sparse_dirs)
		deletions->uri = xasprintf("%s/sparse/s%04zu/leaf", top, index);
	else
		deletions->uri = xasprintf("%s/odd/%s", top, odd_names[index - sparse_dirs]);
	return deletions->uri;
}

static int on_deleted(void *ctx, size_t index, const struct err *why, struct err *err)
{
	struct deletions *deletions = ctx;

	(void)err;
	deletions->count++;
	deletions->failed += why != NULL;
	if (why)
		tap_note("%zu: %s", index, why->msg);
	return 0;
}

TEST(deletes_files_and_nothing_else)
{
	cleanup_free char *odd = at("odd"), *one = at("one");
	struct deletions deletions = {0};
	size_t count = sparse_dirs + odd_count, without = 0;
	struct tree before = {0}, after = {0};
	struct err err = {0};

	for (size_t i = 0; i < sparse_dirs; i++)
		without += NO_LEAF(i);
	CHECK_INT(count_tree("sparse", &before), ==, sparse_dirs);
	CHECK_INT(store_delete_many(store, deletion_uri, count, on_deleted, &deletions, &err), ==,
		  0);
	CHECK_INT(deletions.count, ==, count);
	CHECK_INT(deletions.failed, ==, 0);
	for (size_t i = 0; i < sparse_dirs; i++)
		CHECK_INT(store_exists(store, deletion_uri(&deletions, i), &err), ==, 0);
	CHECK_INT(count_tree("one", &after), ==, 3);
	if (without) {
		after.count = 0;
		CHECK_INT(count_tree("sparse", &after), ==, without);
	}
	CHECK_INT(store_remove_empty(store, one, &err), ==, 0);
	after.count = 0;
	CHECK_INT(count_tree("one", &after), ==, 3);
	if (store_remove_empty(store, odd, &err) == 0 && store_list_page(store) == 1)
		CHECK_INT(store_list(store, odd, count_entry, &after.count, &err), ==, -1);
	CHECK_INT(store_delete_many(store, deletion_uri, count, on_deleted, &deletions, &err), ==,
		  0);
	CHECK_INT(deletions.failed, ==, 0);
	free(deletions.uri);
	buf_release(&before.text);
	buf_release(&after.text);
}

static void leave_out(const char *characters)
{
	for (size_t i = 0; i < ARRAY_LEN(odd_names); i++)
		if (!characters || !strpbrk(odd_names[i], characters))
			odd_names[odd_count++] = odd_names[i];
}

int main(int argc, char **argv)
{
	int status;
	const char *dirs = getenv("CHECK_DIRS");
	struct err err = {0};

	if (dirs && atoi(dirs) > 0 && atoi(dirs) < SPARSE) {
		sparse_dirs = (size_t)atoi(dirs);
		dense_files = sparse_dirs < DENSE_FILES ? atoi(dirs) : DENSE_FILES;
	}
	leave_out(getenv("CHECK_WITHOUT"));
	if (argc == 3 && !strcmp(argv[1], "make"))
		return make(argv[2]);
	if (argc != 2) {
		fprintf(stderr, "usage: check_store make DIR | check_store URI\n");
		return 2;
	}
	top = argv[1];
	signal(SIGPIPE, SIG_IGN); /* a JVM may end */
	store_config_environment(&config, getenv);
	config.flinkfs = setup_flinkfs_environment();
	if (store_open(&config, top, &store, &err)) {
		printf("Bail out! %s\n", err.msg);
		return 1;
	}
	status = tap_main(0, NULL);
	store_close(store);
	store_config_release(&config);
	return status;
}
