#include "run/inputs/control_dir.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "control_swap.h"
#include "run/inputs/control_seen.h"
#include "run/inputs/control_value.h"

struct rig {
	struct swap swap;
	struct desired desired;
};

static void rig_begin(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	swap_begin(&rig->swap);
}

static void rig_end(struct rig *rig)
{
	desired_release(&rig->desired);
	swap_end(&rig->swap);
}

static const struct desired *look(struct rig *rig)
{
	struct err err = {0};

	desired_release(&rig->desired);
	if (!CHECK(control_dir_read(rig->swap.dir, &rig->desired, &err) == 0))
		tap_note("%s", err.msg);
	return &rig->desired;
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

RIG_TEST(an_empty_directory_asks_for_nothing)
{
	CHECK(!look(rig)->ignored && !rig->desired.bad.kind);
	for (int i = 0; i < DESIRED_KEYS; i++)
		CHECK(!rig->desired.text[i]);
}

RIG_TEST(a_swapped_directory_is_read)
{
	SWAP(&rig->swap, "state=suspended\n", "do-not-restart= true ");
	CHECK_INT(look(rig)->state, ==, DESIRED_SUSPENDED);
	CHECK(rig->desired.do_not_restart);
	CHECK_STR(rig->desired.text[DESIRED_KEY_STATE], "suspended");
	SWAP(&rig->swap, "state=running", "do-not-restart=false");
	CHECK_INT(look(rig)->state, ==, DESIRED_RUNNING);
	CHECK(!rig->desired.do_not_restart);
	CHECK_STR(rig->desired.text[DESIRED_KEY_DO_NOT_RESTART], "false");
}

RIG_TEST(plain_files_are_read_too)
{
	swap_write(&rig->swap, "state", "cancelled");
	CHECK_STR(look(rig)->text[DESIRED_KEY_STATE], "cancelled");
	CHECK_INT(rig->desired.state, ==, DESIRED_CANCELLED);
}

TEST(nonsense_is_named)
{
	static const struct {
		const char *file, *says;
	} cases[] = {
		{"state=stopped", "state: must be running, suspended or cancelled, not 'stopped'"},
		{"state=", "state: the file is empty"},
		{"state=Running", "state: must be"},
		{"do-not-restart=yes", "do-not-restart: must be true or false, not 'yes'"},
		{"savepoint-nonce=a b", "savepoint-nonce: "},
		{"checkpoint-nonce=incremental b", "checkpoint-nonce: "},
		{"restart-nonce=\x01", "restart-nonce: "},
		{"promote=a soon", "promote: "},
		{"promote=a 2026-11-26T12:00:00Z b", "promote: "},
		{"promote=\x01", "promote: "},
		{"abort=a b", "abort: "},
		{"restore=no map", "restore: "},
		{"restore={kind: path, token: t}", "restore: "},
		{"restore={kind: empty}", "restore: "},
		{"restore={kind: empty, token: t, pth: x}", "'pth'"},
		{"restore={kind: empty, token: t, token: u}", "restore: "},
		{"restore={kind: newest, token: t}", "'allowNonRestoredState: true'"},
		{"restore={kind: newest, token: t, path: 's3://b/sp/1', allowNonRestoredState: true}",
		 "'kind: newest' takes no 'path'"},
		{"restore={kind: newest, token: t, foreign: true, allowNonRestoredState: true}",
		 "never foreign"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig rig;

		rig_begin(&rig);
		SWAP(&rig.swap, "state=suspended", "savepoint-nonce=7", cases[i].file);
		CHECK_INT(look(&rig)->bad.kind, !=, ERR_NONE);
		CHECK_HAS(rig.desired.bad.msg, cases[i].says);
		SWAP(&rig.swap, "state=suspended", "savepoint-nonce=7");
		CHECK_INT(look(&rig)->bad.kind, ==, ERR_NONE);
		rig_end(&rig);
	}
}

RIG_TEST(large_and_odd_files_are_refused)
{
	cleanup_free char *large = xcalloc(1, CONTROL_VALUE_MAX + 2);
	cleanup_free char *path = NULL;

	memset(large, 'a', CONTROL_VALUE_MAX + 1);
	swap_write(&rig->swap, "state", large);
	CHECK_HAS(look(rig)->bad.msg, "state");
	path = xasprintf("%s/restore", rig->swap.dir);
	CHECK_INT(mkdir(path, 0755), ==, 0);
	swap_write(&rig->swap, "state", "running");
	CHECK_HAS(look(rig)->bad.msg, "restore: not a file");
}

RIG_TEST(a_zero_byte_is_refused)
{
	cleanup_free char *path = NULL;
	FILE *file;

	path = xasprintf("%s/state", rig->swap.dir);
	file = fopen(path, "w");
	fwrite("running\0x", 1, 9, file);
	fclose(file);
	CHECK_HAS(look(rig)->bad.msg, "zero byte");
}

RIG_TEST(unknown_files_are_named_and_ignored)
{
	char name[80];

	SWAP(&rig->swap, "do-not-restrat=true");
	CHECK_STR(look(rig)->ignored, "do-not-restrat");
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "..v1/%060d", i);
		swap_write(&rig->swap, name, "x");
	}
	look(rig);
	CHECK_INT(strlen(rig->desired.ignored), <, 300);
	CHECK_HAS(rig->desired.ignored, "...");
}

RIG_TEST(what_was_seen_survives_a_restart)
{
	struct desired_seen seen = {0}, loaded;
	struct buf text = BUF_INIT;
	struct err err = {0};

	CHECK_INT(control_seen_read(rig->swap.dir, &text, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	SWAP(&rig->swap, "state=running", "restore={kind: empty, token: '7'}",
	     "restart-nonce=x\"y");
	CHECK(desired_seen_update(&seen, look(rig)));
	control_seen_encode(&seen, &text);
	desired_seen_release(&seen);
	CHECK_INT(control_seen_save(rig->swap.dir, &text, &err), ==, 0);
	buf_release(&text);
	CHECK_INT(control_seen_read(rig->swap.dir, &text, &err), ==, 0);
	CHECK_INT(control_seen_decode(buf_str(&text), text.len_bytes, &loaded, &err), ==, 0);
	CHECK(loaded.known);
	CHECK_STR(loaded.text[DESIRED_KEY_RESTART_NONCE], "x\"y");
	CHECK_STR(loaded.restore_token, "7");
	CHECK(!loaded.text[DESIRED_KEY_SAVEPOINT_NONCE]);
	CHECK(!desired_seen_update(&loaded, &rig->desired));
	desired_seen_release(&loaded);
	memset(&loaded, 0, sizeof(loaded));
	loaded.resource = true;
	xstrset(&loaded.resource_error, "no right");
	buf_release(&text);
	control_seen_encode(&loaded, &text);
	desired_seen_release(&loaded);
	CHECK_INT(control_seen_decode(buf_str(&text), text.len_bytes, &loaded, &err), ==, 0);
	CHECK(loaded.resource);
	CHECK_STR(loaded.resource_error, "no right");
	desired_seen_release(&loaded);
	CHECK_INT(control_seen_decode("{\"version\": 2, \"known\": true}", 29, &loaded, &err), ==,
		  -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "unknown version 2");
	CHECK_INT(control_seen_decode("{\"version\"", 10, &loaded, &err), ==, -1);
	buf_release(&text);
}

TEST(a_directory_that_is_not_there_is_an_error)
{
	struct desired desired;
	struct err err = {0};

	CHECK_INT(control_dir_read("/tmp/drey-no-such-directory", &desired, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_HAS(err.msg, "/tmp/drey-no-such-directory");
	CHECK_INT(control_dir_read("/etc/passwd", &desired, &err), ==, -1);
}

/* ---- never half of one version and half of another ---- */

struct swapper {
	struct swap *swap;
	atomic_int stop;
};

static void *swap_all_the_time(void *arg)
{
	struct swapper *swapper = arg;

	while (!swapper->stop) {
		SWAP(swapper->swap, "savepoint-nonce=one", "restart-nonce=one");
		SWAP(swapper->swap, "savepoint-nonce=two", "restart-nonce=two");
	}
	return NULL;
}

TEST(all_keys_come_from_one_version)
{
	struct rig rig;
	struct swapper swapper = {.swap = &rig.swap};
	pthread_t thread;
	int read = 0, torn = 0;

	rig_begin(&rig);
	SWAP(&rig.swap, "savepoint-nonce=one", "restart-nonce=one");
	CHECK_INT(pthread_create(&thread, NULL, swap_all_the_time, &swapper), ==, 0);
	for (int i = 0; i < 3000; i++) {
		struct desired desired;
		struct err err = {0};

		if (control_dir_read(rig.swap.dir, &desired, &err) < 0) {
			CHECK_INT(err.kind, ==, ERR_RETRY);
			continue;
		}
		read++;
		torn += !desired.text[DESIRED_KEY_SAVEPOINT_NONCE] ||
			!desired.text[DESIRED_KEY_RESTART_NONCE] ||
			strcmp(desired.text[DESIRED_KEY_SAVEPOINT_NONCE],
			       desired.text[DESIRED_KEY_RESTART_NONCE]) != 0;
		desired_release(&desired);
	}
	swapper.stop = 1;
	pthread_join(thread, NULL);
	CHECK_INT(torn, ==, 0);
	CHECK_INT(read, >, 100);
	tap_note("%d versions seen, %d read", rig.swap.version, read);
	rig_end(&rig);
}
