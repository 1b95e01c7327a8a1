/* The JVM of store/flinkfs/, played by shell scripts that answer before they are asked. */
#include "store/flinkfs/flinkfs.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "store/store.h"
#include "tests/unit/store_dir.h"
#include "tests/unit/tap.h"

#define HELLO     "printf '\\0\\0\\0\\7hDRFS\\0\\1'\n"
#define NUMBER(n) "\\0\\0\\0\\00" #n
#define ZERO_8    "\\0\\0\\0\\0\\0\\0\\0\\0"
/* done, so many items, size 5, mtime 6 */
#define DONE(n, items)                                                                             \
	"printf '\\0\\0\\0\\35d" NUMBER(n) "\\0\\0\\0\\0\\0\\0\\0\\00" #items                      \
					   "\\0\\0\\0\\0\\0\\0\\0\\5\\0\\0\\0\\0\\0\\0\\0\\6'\n"
/* one item without a name: state, kind, index 0 */
#define ITEM(n, state, kind)                                                                       \
	"printf '\\0\\0\\0\\47i" NUMBER(n) "\\0\\0\\0\\1" state kind "\\0\\0\\0\\0" ZERO_8 ZERO_8  \
					   "\\0\\0\\0\\0\\0\\0\\0\\0'\n"
/* one item: state, name of one letter */
#define NAMED(n, state, name)                                                                      \
	"printf '\\0\\0\\0\\50i" NUMBER(n) "\\0\\0\\0\\1" state "\\0\\0\\0\\0\\0" ZERO_8 ZERO_8    \
					   "\\0\\0\\0\\1" name "\\0\\0\\0\\0'\n"
#define ERROR(n, kind) "printf '\\0\\0\\0\\15e" NUMBER(n) kind "\\0\\0\\0\\3why'\n"
#define STAY           "cat >/dev/null\n"

struct play {
	char *top;
	struct flinkfs *flinkfs;
	struct store_config config;
	struct store *store;
};

static void play_begin(struct play *play, const char *script, int64_t silence_ms, int64_t idle_ms)
{
	struct flinkfs_config config = {
		.idle_ms = idle_ms, .start_ms = silence_ms, .silence_ms = silence_ms};

	signal(SIGPIPE, SIG_IGN);
	*play = (struct play){.top = dir_new()};
	flinkfs_list_add(&config.argv, xstrdup("/bin/sh"));
	flinkfs_list_add(&config.argv, xstrdup("-c"));
	flinkfs_list_add(&config.argv, xasprintf("cd %s\necho $$ >>pids\n%s", play->top, script));
	flinkfs_list_add(&config.env, xstrdup("PATH=/usr/bin:/bin"));
	flinkfs_list_add(&config.properties, xstrdup("fs.secret"));
	flinkfs_list_add(&config.properties, xstrdup("hidden"));
	play->config.flinkfs = play->flinkfs = flinkfs_new(&config);
	CHECK_INT(store_open(&play->config, "hdfs://nn/", &play->store, NULL), ==, 0);
}

static void play_end(struct play *play)
{
	store_close(play->store);
	store_config_release(&play->config);
	dir_removep(&play->top);
}

static int ask_size(struct play *play, int64_t *ret_size, struct err *err)
{
	struct store_stat stat = {0};

	*err = (struct err){0};
	if (store_stat(play->store, "hdfs://nn/ck/f", &stat, err) < 0)
		return -1;
	*ret_size = stat.size_bytes;
	return 0;
}

/* What a request gets from this script. */
static struct err says_within(const char *script, int64_t silence_ms)
{
	struct play play;
	int64_t size = 0;
	struct err err;

	play_begin(&play, script, silence_ms, 0);
	CHECK_INT(ask_size(&play, &size, &err), ==, -1);
	play_end(&play);
	return err;
}

static struct err says(const char *script)
{
	return says_within(script, 60000);
}

/* How many were started, and the last one. */
static pid_t started(const struct play *play, int *ret_count)
{
	cleanup_free char *path = xasprintf("%s/pids", play->top);
	cleanup_buf struct buf text = BUF_INIT;
	pid_t last = 0;
	char *save = NULL;

	*ret_count = 0;
	if (fs_read(path, 10000, &text, NULL) < 0)
		return 0;
	for (char *line = strtok_r(text.data, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		last = atoi(line);
		++*ret_count;
	}
	return last;
}

static bool gone_within(pid_t pid, int64_t ms)
{
	int64_t end_ms = clock_mono_ms() + ms;

	while (kill(pid, 0) == 0 && clock_mono_ms() < end_ms)
		poll(NULL, 0, 10);
	return kill(pid, 0) < 0 && errno == ESRCH;
}

TEST(one_process_answers_all_requests_and_goes_when_it_is_idle)
{
	struct play play;
	int64_t size = 0;
	struct err err;
	int count;
	pid_t pid;

	play_begin(&play, HELLO DONE(1, 0) DONE(2, 0) STAY, 20000, 300);
	CHECK_INT(ask_size(&play, &size, &err), ==, 0);
	CHECK_INT(size, ==, 5);
	CHECK_INT(ask_size(&play, &size, &err), ==, 0);
	pid = started(&play, &count);
	CHECK_INT(count, ==, 1);
	CHECK(gone_within(pid, 10000));
	play_end(&play);
}

TEST(the_next_request_starts_another_one)
{
	struct play play;
	int64_t size = 0;
	struct err err;
	int count;

	play_begin(&play, HELLO DONE(1, 0) DONE(2, 0) STAY, 20000, 50);
	CHECK_INT(ask_size(&play, &size, &err), ==, 0);
	CHECK(gone_within(started(&play, &count), 10000));
	/* the new one answers request 1 first: that is none to request 2 */
	CHECK_INT(ask_size(&play, &size, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	started(&play, &count);
	CHECK_INT(count, ==, 2);
	play_end(&play);
}

/* Not even one whose start took longer than that. */
TEST(a_process_with_a_request_is_not_idle)
{
	for (int i = 0; i < 20; i++) {
		struct play play;
		int64_t size = 0;
		struct err err;

		play_begin(&play, HELLO DONE(1, 0) STAY, 20000, 1);
		CHECK_INT(ask_size(&play, &size, &err), ==, 0);
		play_end(&play);
	}
}

TEST(its_errors_are_of_the_kind_that_it_says)
{
	CHECK_INT(says(HELLO ERROR(1, "\\2") STAY).kind, ==, ERR_DENIED);
	CHECK_INT(says(HELLO ERROR(1, "\\3") STAY).kind, ==, ERR_RETRY);
	CHECK_INT(says(HELLO ERROR(1, "\\5") STAY).kind, ==, ERR_CONFIG);
	CHECK_INT(says(HELLO ERROR(1, "\\6") STAY).kind, ==, ERR_SYS);
	CHECK_HAS(says(HELLO ERROR(1, "\\2") STAY).msg, "hdfs://nn/ck/f: why");
}

TEST(an_absence_needs_a_listing_that_was_answered_and_lacks_the_name)
{
	static const struct {
		const char *script;
		enum err_kind kind;
	} rows[] = {
		/* hdfs://nn/ck/f is absent, and hdfs://nn/ck is empty, or has another file */
		{HELLO ERROR(1, "\\1") DONE(2, 0), ERR_ABSENT},
		{HELLO ERROR(1, "\\1") NAMED(2, "f", "g") DONE(2, 1), ERR_ABSENT},
		{HELLO ERROR(1, "\\1") NAMED(2, "f", "f") DONE(2, 1), ERR_CONTRADICTED},
		{HELLO ERROR(1, "\\1") NAMED(2, "d", "f") DONE(2, 1), ERR_CONTRADICTED},
		{HELLO ERROR(1, "\\1") ERROR(2, "\\2"), ERR_DENIED},
		{HELLO ERROR(1, "\\1") ERROR(2, "\\3"), ERR_RETRY},
		/* nor is hdfs://nn/ck there: hdfs://nn/ must not list "ck" */
		{HELLO ERROR(1, "\\1") ERROR(2, "\\1") NAMED(3, "d", "f") DONE(3, 1), ERR_ABSENT},
		{HELLO ERROR(1, "\\1") ERROR(2, "\\1") DONE(3, 0), ERR_ABSENT},
		/* that must not be listed: then hdfs://nn/ck itself is, once more */
		{HELLO ERROR(1, "\\1") ERROR(2, "\\1") ERROR(3, "\\2") DONE(4, 0), ERR_DENIED},
		{HELLO ERROR(1, "\\1") ERROR(2, "\\1") ERROR(3, "\\2") ERROR(4, "\\1"), ERR_ABSENT},
		/* there is nothing above it to ask */
		{HELLO ERROR(1, "\\1") ERROR(2, "\\1") ERROR(3, "\\1") DONE(4, 0), ERR_RETRY},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *script = xasprintf("%s" STAY, rows[i].script);
		struct err err = says_within(script, 10000);

		CHECK_INT(err.kind, ==, rows[i].kind);
		CHECK_HAS(err.msg, "hdfs://nn/ck/f");
	}
}

static int note_no_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)ctx;
	(void)entry;
	(void)err;
	return 0;
}

/* hdfs://nn/ck lists the directory d. That d, and the file in it, are then not found. */
TEST(a_directory_that_is_listed_is_not_left_out)
{
	struct err err = {0};
	struct store_stat stat;
	struct play play;

	play_begin(&play,
		   HELLO NAMED(1, "d", "d") DONE(1, 1) ERROR(2, "\\1") ERROR(3, "\\1")
			   NAMED(4, "d", "d") DONE(4, 1) STAY,
		   10000, 0);
	CHECK_INT(store_list(play.store, "hdfs://nn/ck", note_no_entry, NULL, NULL), ==, 0);
	CHECK_INT(store_stat(play.store, "hdfs://nn/ck/d/f", &stat, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONTRADICTED);
	play_end(&play);
}

static int note_leaf(void *ctx, const struct store_dir *dir, struct err *err)
{
	int *leaf = ctx;

	(void)err;
	*leaf = dir->leaf;
	return 0;
}

/* Of many files, and of the leaf of each directory: the same. */
TEST(many_absences_need_it_as_well)
{
	static const struct {
		const char *script;
		int leaf;
	} rows[] = {
		{HELLO NAMED(1, "a", "c") DONE(1, 1) DONE(2, 0), STORE_LEAF_ABSENT},
		{HELLO NAMED(1, "a", "c") DONE(1, 1) NAMED(2, "f", "m") DONE(2, 1),
		 STORE_LEAF_UNREADABLE},
		{HELLO NAMED(1, "a", "c") DONE(1, 1) ERROR(2, "\\3"), STORE_LEAF_UNREADABLE},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *script = xasprintf("%s" STAY, rows[i].script);
		int leaf = STORE_LEAF_PRESENT;
		struct play play;

		play_begin(&play, script, 10000, 0);
		CHECK_INT(store_list_dirs(play.store, "hdfs://nn/ck", "m", note_leaf, &leaf, NULL),
			  ==, 0);
		CHECK_INT(leaf, ==, rows[i].leaf);
		play_end(&play);
	}
}

static const char *the_file(void *ctx, size_t index)
{
	(void)ctx;
	(void)index;
	return "hdfs://nn/ck/f";
}

static int note_look(void *ctx, const struct store_look *look, struct err *err)
{
	int *state = ctx;

	(void)err;
	*state = look->state;
	return 0;
}

TEST(so_do_looks_at_many_files)
{
	static const struct {
		const char *script;
		int state;
	} rows[] = {
		{HELLO ITEM(1, "a", "\\0") DONE(1, 1) DONE(2, 0), STORE_LOOK_ABSENT},
		{HELLO ITEM(1, "a", "\\0") DONE(1, 1) NAMED(2, "f", "f") DONE(2, 1),
		 STORE_LOOK_UNREADABLE},
		{HELLO ITEM(1, "a", "\\0") DONE(1, 1) ERROR(2, "\\2"), STORE_LOOK_UNREADABLE},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *script = xasprintf("%s" STAY, rows[i].script);
		int state = STORE_LOOK_PRESENT;
		struct play play;

		play_begin(&play, script, 10000, 0);
		CHECK_INT(store_look_many(play.store, the_file, 1, 0, note_look, &state, NULL), ==,
			  0);
		CHECK_INT(state, ==, rows[i].state);
		play_end(&play);
	}
}

TEST(so_does_the_question_whether_something_is_gone)
{
	static const struct {
		const char *script;
		int result;
	} rows[] = {
		{HELLO ERROR(1, "\\1") DONE(2, 0), 0},
		{HELLO ERROR(1, "\\1") NAMED(2, "d", "k") DONE(2, 1), -1},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *script = xasprintf("%s" STAY, rows[i].script);
		struct play play;

		play_begin(&play, script, 10000, 0);
		CHECK_INT(store_look_again(play.store, "hdfs://nn/ck/k", NULL), ==, rows[i].result);
		play_end(&play);
	}
}

/* Not one of these is absence. */
TEST(one_that_hangs_dies_or_lies_proves_nothing)
{
	static const struct {
		const char *script, *word;
	} faults[] = {
		{"sleep 1000", "does not answer"},
		{HELLO STAY, "does not answer"},
		{HELLO "printf '\\0\\0'\n" STAY, "does not answer"},
		{HELLO "printf '\\0\\0\\0\\35d'\n" STAY, "does not answer"},
		{"echo 'no such class' >&2; exit 1", "it has ended; it has printed: no such class"},
		{HELLO "exit 0", "it has ended"},
		{HELLO "kill -9 $$", "it has ended"},
		{HELLO "printf '\\0\\0\\0\\35d'; exit 0", "it has ended"},
		{"echo INFO: starting; " STAY, "something else"},
		{HELLO "exec yes", "something else"},
		{HELLO "exec cat /dev/zero", "something else"},
		{HELLO ERROR(2, "\\1") STAY, "another request"},
		{HELLO ERROR(1, "\\0") STAY, "damaged frame"},
		{HELLO ERROR(1, "\\7") STAY, "damaged frame"},
		{HELLO DONE(2, 0) STAY, "another request"},
		{HELLO DONE(1, 1) STAY, "entries are missing"},
		{HELLO ITEM(1, "f", "\\0") DONE(1, 0) STAY, "entries are missing"},
		{HELLO ITEM(1, "u", "\\1") DONE(1, 1) STAY, "damaged item"},
		{HELLO HELLO STAY, "another request"},
		{DONE(1, 0) STAY, "greeting"},
		{"printf '\\0\\0\\0\\7hDRFS\\0\\2'\n" STAY, "damaged frame"},
		{ERROR(0, "\\1") STAY, "why"},
	};

	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		bool hangs = !strcmp(faults[i].word, "does not answer");
		struct err err = says_within(faults[i].script, hangs ? 400 : 60000);

		CHECK_INT(err.kind, ==, ERR_RETRY);
		CHECK_HAS(err.msg, faults[i].word);
	}
}

TEST(an_endless_answer_is_given_up)
{
	struct err err =
		says(HELLO "printf '\\0\\20\\0\\0b" NUMBER(1) "' >page\n"
							      "head -c 1048571 /dev/zero >>page\n"
							      "while cat page; do :; done\n");

	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_HAS(err.msg, "more than 128 MiB");
}

TEST(what_it_prints_on_standard_error_does_not_block_it)
{
	struct play play;
	int64_t size = 0;
	struct err err;

	play_begin(&play, HELLO "head -c 3000000 /dev/zero >&2\n" DONE(1, 0) STAY, 20000, 0);
	CHECK_INT(ask_size(&play, &size, &err), ==, 0);
	play_end(&play);
}

TEST(a_start_that_fails_is_not_repeated_for_each_file)
{
	struct play play;
	int64_t size = 0;
	struct err err;
	int count;

	play_begin(&play, "exit 1", 20000, 0);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(ask_size(&play, &size, &err), ==, -1);
		CHECK_HAS(err.msg, "it has ended");
	}
	started(&play, &count);
	CHECK_INT(count, ==, 1);
	play_end(&play);
}

TEST(one_that_does_not_answer_is_not_waited_for_with_each_file)
{
	struct play play;
	int64_t size = 0;
	struct err err;
	int count;

	play_begin(&play, HELLO STAY, 600, 0);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(ask_size(&play, &size, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_RETRY);
		CHECK_HAS(err.msg, "it does not answer");
	}
	started(&play, &count);
	CHECK_INT(count, ==, 1);
	play_end(&play);
}

TEST(it_does_not_outlive_the_process_that_has_started_it)
{
	struct play play;
	int64_t size = 0;
	struct err err;
	int count, status;
	pid_t pid;

	play_begin(&play, HELLO DONE(1, 0) "while :; do sleep 1000; done\n", 20000, 100000);
	pid = fork();
	if (pid == 0) {
		ask_size(&play, &size, &err);
		_exit(0);
	}
	CHECK_INT(waitpid(pid, &status, 0), ==, pid);
	pid = started(&play, &count);
	CHECK_INT(count, ==, 1);
	CHECK(gone_within(pid, 10000));
	play_end(&play);
}

static void *ask_and_fail(void *arg)
{
	struct play *play = arg;
	int64_t size = 0;
	struct err err;

	CHECK_INT(ask_size(play, &size, &err), ==, -1);
	CHECK_HAS(err.msg, "drey ends");
	return NULL;
}

TEST(the_end_of_drey_does_not_wait_for_one_that_hangs)
{
	int64_t begin_ms = clock_mono_ms();
	struct play play;
	pthread_t thread;
	int count = 0;
	pid_t pid;

	play_begin(&play, HELLO STAY, 60000, 0);
	pthread_create(&thread, NULL, ask_and_fail, &play);
	while (!started(&play, &count))
		poll(NULL, 0, 10);
	pid = started(&play, &count);
	store_config_release(&play.config);
	pthread_join(thread, NULL);
	CHECK(gone_within(pid, 1000));
	CHECK(clock_mono_ms() - begin_ms < 20000);
	play_end(&play);
}

TEST(one_that_is_missing_is_a_matter_of_the_configuration)
{
	struct flinkfs_config config = {.missing = xstrdup("no jar; make it")};
	struct store_config stores = {.flinkfs = flinkfs_new(&config)};
	struct store *store;
	struct err err = {0};

	CHECK_INT(store_open(&stores, "gs://b/ck", &store, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "gs:// is read with Flink's own file system: no jar; make it");
	store_config_release(&stores);
}
