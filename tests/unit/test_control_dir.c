#include "run/control/control_dir.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "control_swap.h"

struct rig {
	struct swap swap;
	struct lifecycle_config config;
	struct lifecycle life;
	struct control_wish wish;
	struct control_seen seen;
	struct event event;
	bool refused;
};

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng = {0};

	memset(rig, 0, sizeof(*rig));
	swap_begin(&rig->swap);
	journal_init(&journal, "orders");
	lifecycle_init(&rig->life, &rig->config, &journal, &rng);
}

static void rig_end(struct rig *rig)
{
	control_wish_release(&rig->wish);
	control_seen_release(&rig->seen);
	lifecycle_release(&rig->life);
	swap_end(&rig->swap);
}

static void job_runs(struct rig *rig, bool runs)
{
	rig->life.launch_step = runs ? LAUNCH_LIVE : LAUNCH_NONE;
	rig->life.phase = runs ? PHASE_RUNNING : PHASE_FAILED;
}

/* Read and compare; the fields of the event, 0 for none. What was seen is remembered. */
static unsigned look(struct rig *rig)
{
	struct err err = {0};
	bool at_start = !rig->seen.known;
	bool changed;

	control_wish_release(&rig->wish);
	if (!CHECK(control_dir_read(rig->swap.dir, &rig->wish, &err) == 0)) {
		tap_note("%s", err.msg);
		return 0;
	}
	memset(&rig->event, 0, sizeof(rig->event));
	changed = control_dir_compare(&rig->wish, &rig->seen, &rig->life, at_start, &rig->event,
				      &rig->refused);
	CHECK(changed == (rig->event.control.fields != 0));
	control_seen_update(&rig->seen, &rig->wish);
	return rig->event.control.fields;
}

/* As `look`, when a first look has been before. */
static unsigned change(struct rig *rig)
{
	if (!rig->seen.known) {
		rig->seen.known = true;
		xstrset(&rig->seen.text[CONTROL_KEY_STATE], "running");
	}
	return look(rig);
}

TEST(an_empty_directory_asks_for_nothing)
{
	struct rig rig;

	rig_begin(&rig);
	CHECK_INT(look(&rig), ==, 0);
	CHECK(!rig.wish.ignored && !rig.wish.bad.kind);
	CHECK_INT(look(&rig), ==, 0);
	rig_end(&rig);
}

TEST(a_swapped_directory_is_read)
{
	struct rig rig;

	rig_begin(&rig);
	SWAP(&rig.swap, "state=suspended\n", "do-not-restart= true ");
	CHECK_INT(look(&rig), ==, CONTROL_STATE | CONTROL_DO_NOT_RESTART);
	CHECK_INT(rig.event.control.intent.state, ==, DESIRED_SUSPENDED);
	CHECK(rig.event.control.intent.do_not_restart);
	rig.life.journal.intent.state = DESIRED_SUSPENDED;
	rig.life.journal.intent.do_not_restart = true;
	CHECK_INT(look(&rig), ==, 0);
	SWAP(&rig.swap, "state=running", "do-not-restart=false");
	CHECK_INT(look(&rig), ==, CONTROL_STATE | CONTROL_NEW_START | CONTROL_DO_NOT_RESTART);
	CHECK_INT(rig.event.control.intent.state, ==, DESIRED_RUNNING);
	CHECK(!rig.event.control.intent.do_not_restart);
	rig_end(&rig);
}

TEST(plain_files_are_read_too)
{
	struct rig rig;

	rig_begin(&rig);
	swap_write(&rig.swap, "state", "cancelled");
	CHECK_INT(look(&rig), ==, CONTROL_STATE);
	CHECK_INT(rig.event.control.intent.state, ==, DESIRED_CANCELLED);
	rig_end(&rig);
}

TEST(what_stays_as_it_is_does_not_undo_a_command)
{
	struct rig rig;

	rig_begin(&rig);
	SWAP(&rig.swap, "state=running", "do-not-restart=false");
	look(&rig);
	rig.life.journal.intent.state = DESIRED_SUSPENDED; /* drey suspend */
	rig.life.journal.intent.do_not_restart = true;     /* drey do-not-restart on */
	SWAP(&rig.swap, "state=running", "do-not-restart=false", "savepoint-nonce=1");
	CHECK_INT(look(&rig), ==, CONTROL_SAVEPOINT);
	CHECK_STR(rig.event.control.intent.savepoint_nonce, "1");
	rig_end(&rig);
}

TEST(a_file_that_vanishes_is_no_change)
{
	struct rig rig;

	rig_begin(&rig);
	SWAP(&rig.swap, "state=suspended", "do-not-restart=true");
	look(&rig);
	rig.life.journal.intent.do_not_restart = true;
	rig.life.journal.intent.state = DESIRED_SUSPENDED;
	SWAP(&rig.swap, "savepoint-nonce=1");
	CHECK_INT(look(&rig), ==, CONTROL_SAVEPOINT);
	SWAP(&rig.swap, "state=suspended", "do-not-restart=true");
	CHECK_INT(look(&rig), ==, 0);
	rig_end(&rig);
}

TEST(the_first_nonce_asks_for_nothing)
{
	struct rig rig;

	rig_begin(&rig);
	SWAP(&rig.swap, "savepoint-nonce=1", "restart-nonce=1");
	CHECK_INT(look(&rig), ==, 0);
	SWAP(&rig.swap, "savepoint-nonce=2", "restart-nonce=b");
	CHECK_INT(look(&rig), ==, CONTROL_SAVEPOINT | CONTROL_RESTART);
	CHECK_STR(rig.event.control.intent.restart_nonce, "b");
	rig_end(&rig);
}

TEST(a_finished_job_is_not_started_by_the_first_look)
{
	struct rig rig;

	rig_begin(&rig);
	SWAP(&rig.swap, "state=running");
	CHECK_INT(look(&rig), ==, 0);
	rig.seen.known = false;
	xstrset(&rig.seen.text[CONTROL_KEY_STATE], NULL);
	rig.life.journal.intent.state = DESIRED_CANCELLED;
	CHECK_INT(look(&rig), ==, CONTROL_STATE); /* without CONTROL_NEW_START */
	rig_end(&rig);
}

TEST(the_brake_counts_at_every_start)
{
	struct rig rig;
	bool refused;

	rig_begin(&rig);
	SWAP(&rig.swap, "do-not-restart=true");
	CHECK_INT(look(&rig), ==, CONTROL_DO_NOT_RESTART);
	/* lifted by a command since; the next process sees it in the directory */
	CHECK(!control_dir_compare(&rig.wish, &rig.seen, &rig.life, false, &rig.event, &refused));
	CHECK(control_dir_compare(&rig.wish, &rig.seen, &rig.life, true, &rig.event, &refused));
	CHECK_INT(rig.event.control.fields, ==, CONTROL_DO_NOT_RESTART);
	CHECK(rig.event.control.intent.do_not_restart);
	/* but one that is off lifts nothing by being there */
	SWAP(&rig.swap, "do-not-restart=false");
	rig.life.journal.intent.do_not_restart = true;
	CHECK_INT(look(&rig), ==, CONTROL_DO_NOT_RESTART);
	CHECK(!control_dir_compare(&rig.wish, &rig.seen, &rig.life, true, &rig.event, &refused));
	rig_end(&rig);
}

TEST(nonsense_is_refused_as_a_whole_and_named)
{
	static const struct {
		const char *file, *says;
	} cases[] = {
		{"state=stopped", "state: must be running, suspended or cancelled, not 'stopped'"},
		{"state=", "state: the file is empty"},
		{"state=Running", "state: must be"},
		{"do-not-restart=yes", "do-not-restart: must be true or false, not 'yes'"},
		{"savepoint-nonce=a b", "savepoint-nonce: "},
		{"restart-nonce=\x01", "restart-nonce: "},
		{"restore=no map", "restore: "},
		{"restore={kind: path, token: t}", "restore: "},
		{"restore={kind: empty}", "restore: "},
		{"restore={kind: empty, token: t, pth: x}", "'pth'"},
		{"restore={kind: empty, token: t, token: u}", "restore: "},
		{"restore={kind: newest, token: t}", "'allowNonRestoredState: true'"},
		{"restore={kind: newest, token: t, path: 's3://b/sp/1', allowNonRestoredState: "
		 "true}",
		 "has no 'path'"},
		{"restore={kind: newest, token: t, foreign: true, allowNonRestoredState: true}",
		 "never foreign"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig rig;

		rig_begin(&rig);
		SWAP(&rig.swap, "state=running");
		look(&rig);
		SWAP(&rig.swap, "state=suspended", "savepoint-nonce=7", cases[i].file);
		CHECK_INT(look(&rig), ==, 0);
		CHECK_INT(rig.wish.bad.kind, !=, ERR_NONE);
		CHECK_HAS(rig.wish.bad.msg, cases[i].says);
		SWAP(&rig.swap, "state=suspended", "savepoint-nonce=7");
		CHECK_INT(look(&rig), ==, CONTROL_STATE | CONTROL_SAVEPOINT);
		rig_end(&rig);
	}
}

TEST(a_brake_is_honoured_beside_nonsense)
{
	struct rig rig;

	rig_begin(&rig);
	SWAP(&rig.swap, "state=stopped", "do-not-restart=true", "savepoint-nonce=1");
	CHECK_INT(look(&rig), ==, CONTROL_DO_NOT_RESTART);
	CHECK(rig.event.control.intent.do_not_restart && !rig.seen.known);
	rig.life.journal.intent.do_not_restart = true;
	SWAP(&rig.swap, "state=stopped", "do-not-restart=false");
	CHECK_INT(look(&rig), ==, 0); /* it is not lifted beside nonsense */
	rig_end(&rig);
}

TEST(large_and_odd_files_are_refused)
{
	struct rig rig;
	cleanup_free char *large = xcalloc(1, CONTROL_VALUE_MAX + 2);
	cleanup_free char *path = NULL;

	rig_begin(&rig);
	memset(large, 'a', CONTROL_VALUE_MAX + 1);
	swap_write(&rig.swap, "state", large);
	CHECK_INT(look(&rig), ==, 0);
	CHECK_HAS(rig.wish.bad.msg, "state");
	path = xasprintf("%s/restore", rig.swap.dir);
	CHECK_INT(mkdir(path, 0755), ==, 0);
	swap_write(&rig.swap, "state", "running");
	CHECK_INT(look(&rig), ==, 0);
	CHECK_HAS(rig.wish.bad.msg, "restore: not a file");
	rig_end(&rig);
}

TEST(a_zero_byte_is_refused)
{
	struct rig rig;
	cleanup_free char *path = NULL;
	FILE *file;

	rig_begin(&rig);
	path = xasprintf("%s/state", rig.swap.dir);
	file = fopen(path, "w");
	fwrite("running\0x", 1, 9, file);
	fclose(file);
	CHECK_INT(look(&rig), ==, 0);
	CHECK_HAS(rig.wish.bad.msg, "zero byte");
	rig_end(&rig);
}

TEST(unknown_files_are_named_and_ignored)
{
	struct rig rig;
	char name[80];

	rig_begin(&rig);
	SWAP(&rig.swap, "do-not-restrat=true");
	CHECK_INT(look(&rig), ==, 0);
	CHECK_STR(rig.wish.ignored, "do-not-restrat");
	for (int i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "..v1/%060d", i);
		swap_write(&rig.swap, name, "x");
	}
	look(&rig);
	CHECK_INT(strlen(rig.wish.ignored), <, 300);
	CHECK_HAS(rig.wish.ignored, "...");
	rig_end(&rig);
}

#define RESTORE_7 "restore={kind: path, path: 's3://b/sp/savepoint-1', token: 7}"

TEST(a_restore_request_is_one_shot)
{
	struct rig rig;

	rig_begin(&rig);
	job_runs(&rig, false);
	SWAP(&rig.swap, "state=running", RESTORE_7);
	CHECK_INT(change(&rig), ==, CONTROL_RESTORE | CONTROL_NEW_START);
	CHECK_INT(rig.event.control.intent.restore.kind, ==, RESTORE_PATH);
	CHECK_STR(rig.event.control.intent.restore.path, "s3://b/sp/savepoint-1");
	CHECK_STR(rig.event.control.intent.restore.token, "7");
	CHECK_INT(look(&rig), ==, 0);
	SWAP(&rig.swap, "state=running", "restore={\"kind\": \"empty\", \"token\": \"8\"}");
	CHECK_INT(look(&rig), ==, CONTROL_RESTORE | CONTROL_NEW_START);
	CHECK_INT(rig.event.control.intent.restore.kind, ==, RESTORE_EMPTY);
	journal_consume(&rig.life.journal, "9");
	SWAP(&rig.swap, "state=running", "restore={kind: empty, token: '9'}");
	CHECK_INT(look(&rig), ==, 0);
	rig_end(&rig);
}

/* The journal is lost, and what was seen with it: the order may be one of long ago. */
TEST(an_order_says_how_much_is_known_of_its_age)
{
	struct rig rig;
	bool refused;

	rig_begin(&rig);
	SWAP(&rig.swap, RESTORE_7);
	CHECK_INT(look(&rig), ==, CONTROL_RESTORE);
	rig.seen.restore_token[0] = '6';
	rig.wish.restore_standing = true;
	CHECK(control_dir_compare(&rig.wish, &rig.seen, &rig.life, true, &rig.event, &refused));
	CHECK_INT(rig.event.control.fields, ==,
		  CONTROL_RESTORE | CONTROL_NEW_START | CONTROL_STANDING);
	/* its object says that it was carried out */
	rig.wish.used = xstrdup("6 7");
	CHECK(!control_dir_compare(&rig.wish, &rig.seen, &rig.life, true, &rig.event, &refused));
	rig_end(&rig);
}

TEST(a_restore_request_for_a_running_job_is_refused_and_does_not_lie_in_wait)
{
	struct rig rig;

	rig_begin(&rig);
	job_runs(&rig, true);
	SWAP(&rig.swap, "state=running", RESTORE_7, "savepoint-nonce=1");
	CHECK_INT(change(&rig), ==, CONTROL_SAVEPOINT);
	CHECK(rig.refused);
	job_runs(&rig, false); /* it dies */
	CHECK_INT(look(&rig), ==, 0);
	CHECK(!rig.refused);
	rig_end(&rig);
}

TEST(a_restore_request_made_while_suspended_is_for_the_next_start)
{
	struct rig rig;

	rig_begin(&rig);
	job_runs(&rig, true);
	SWAP(&rig.swap, "state=suspended");
	CHECK_INT(change(&rig), ==, CONTROL_STATE);
	job_runs(&rig, false);
	rig.life.journal.intent.state = DESIRED_SUSPENDED;
	SWAP(&rig.swap, "state=suspended", RESTORE_7);
	CHECK_INT(look(&rig), ==, CONTROL_RESTORE | CONTROL_NEW_START);
	SWAP(&rig.swap, "state=running", RESTORE_7);
	CHECK_INT(look(&rig), ==, CONTROL_STATE | CONTROL_RESTORE | CONTROL_NEW_START);
	CHECK_STR(rig.event.control.intent.restore.token, "7");
	rig_end(&rig);
}

static bool reuses(struct rig *rig)
{
	return control_dir_reuses_token(&rig->wish, &rig->life.journal);
}

/* The generation stays with the order: it may wait for its start in the journal. */
TEST(an_order_for_the_newest_state_keeps_its_generation)
{
	const struct restore_request *wanted;
	struct rig rig;

	rig_begin(&rig);
	SWAP(&rig.swap, "restore={kind: newest, token: t1, allowNonRestoredState: true, "
			"generation: g2}");
	CHECK_INT(look(&rig), ==, CONTROL_RESTORE);
	wanted = &rig.event.control.intent.restore;
	CHECK_INT(wanted->kind, ==, RESTORE_NEWEST);
	CHECK(wanted->allow_non_restored && !wanted->path);
	CHECK_STR(wanted->generation, "g2");
	rig_end(&rig);
}

TEST(a_token_is_one_orders_alone)
{
	struct launch launch = {.number = 1, .request_token = (char *)"t1"};
	struct restore_request *given;
	struct rig rig;

	rig_begin(&rig);
	SWAP(&rig.swap, "restore={kind: path, token: t1, path: 's3://b/sp/1'}");
	look(&rig);
	CHECK(!reuses(&rig)); /* nobody has had it */
	given = &rig.life.journal.intent.restore;
	*given = (struct restore_request){.kind = RESTORE_PATH};
	given->token = xstrdup("t1");
	given->path = xstrdup("s3://b/sp/1/");
	CHECK(!reuses(&rig)); /* that is this order */
	given->foreign = true;
	CHECK(reuses(&rig));
	given->foreign = false;
	xstrset(&given->path, "s3://b/sp/2");
	CHECK(reuses(&rig));
	xstrset(&given->token, "t0");
	CHECK(!reuses(&rig)); /* a new one */

	launch.restore_path = (char *)"s3://b/sp/1";
	rig.life.journal.launches = &launch;
	rig.life.journal.launch_count = 1;
	CHECK(!reuses(&rig)); /* carried out, and still there */
	launch.restore_path = (char *)"s3://b/sp/2";
	CHECK(reuses(&rig));
	launch.restore_path = NULL;
	CHECK(reuses(&rig)); /* it was an empty start */
	SWAP(&rig.swap, "restore={kind: empty, token: t1}");
	look(&rig);
	CHECK(!reuses(&rig));
	SWAP(&rig.swap, "state=running");
	look(&rig);
	CHECK(!reuses(&rig)); /* nothing is to be restored */
	rig.life.journal.launches = NULL;
	rig.life.journal.launch_count = 0;
	rig_end(&rig);
}

TEST(a_restore_request_in_one_change_with_the_stop_is_for_the_next_start)
{
	struct rig rig;

	rig_begin(&rig);
	job_runs(&rig, true);
	SWAP(&rig.swap, "state=suspended", "restore={kind: path, token: t1, path: 's3://b/sp/1'}");
	CHECK_INT(change(&rig), ==, CONTROL_STATE);
	CHECK(!rig.refused);
	rig.life.journal.intent.state = DESIRED_SUSPENDED;
	job_runs(&rig, false);
	SWAP(&rig.swap, "state=running", "restore={kind: path, token: t1, path: 's3://b/sp/1'}");
	CHECK_INT(change(&rig), ==, CONTROL_STATE | CONTROL_NEW_START | CONTROL_RESTORE);
	CHECK_STR(rig.event.control.intent.restore.token, "t1");
	rig_end(&rig);
}

TEST(what_was_seen_survives_a_restart)
{
	struct rig rig;
	struct control_seen loaded;
	struct buf text = BUF_INIT;
	struct err err = {0};

	rig_begin(&rig);
	CHECK_INT(control_seen_read(rig.swap.dir, &text, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	job_runs(&rig, false);
	SWAP(&rig.swap, "state=running", RESTORE_7, "restart-nonce=x\"y");
	look(&rig);
	control_seen_encode(&rig.seen, &text);
	CHECK_INT(control_seen_save(rig.swap.dir, &text, &err), ==, 0);
	buf_release(&text);
	CHECK_INT(control_seen_read(rig.swap.dir, &text, &err), ==, 0);
	CHECK_INT(control_seen_decode(buf_str(&text), text.len_bytes, &loaded, &err), ==, 0);
	CHECK(loaded.known);
	CHECK_STR(loaded.text[CONTROL_KEY_RESTART_NONCE], "x\"y");
	CHECK_STR(loaded.restore_token, "7");
	CHECK(!loaded.text[CONTROL_KEY_SAVEPOINT_NONCE]);
	CHECK(!control_seen_update(&loaded, &rig.wish));
	control_seen_release(&loaded);
	memset(&loaded, 0, sizeof(loaded));
	loaded.resource = true;
	xstrset(&loaded.resource_error, "no right");
	buf_release(&text);
	control_seen_encode(&loaded, &text);
	control_seen_release(&loaded);
	CHECK_INT(control_seen_decode(buf_str(&text), text.len_bytes, &loaded, &err), ==, 0);
	CHECK(loaded.resource);
	CHECK_STR(loaded.resource_error, "no right");
	control_seen_release(&loaded);
	CHECK_INT(control_seen_decode("{\"version\": 2, \"known\": true}", 29, &loaded, &err), ==,
		  -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "version 2 is not known");
	CHECK_INT(control_seen_decode("{\"version\"", 10, &loaded, &err), ==, -1);
	buf_release(&text);
	rig_end(&rig);
}

TEST(a_directory_that_is_not_there_is_an_error)
{
	struct control_wish wish;
	struct err err = {0};

	CHECK_INT(control_dir_read("/tmp/drey-no-such-directory", &wish, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_ABSENT);
	CHECK_HAS(err.msg, "/tmp/drey-no-such-directory");
	CHECK_INT(control_dir_read("/etc/passwd", &wish, &err), ==, -1);
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
		struct control_wish wish;
		struct err err = {0};

		if (control_dir_read(rig.swap.dir, &wish, &err) < 0) {
			CHECK_INT(err.kind, ==, ERR_RETRY);
			continue;
		}
		read++;
		torn += !wish.text[CONTROL_KEY_SAVEPOINT_NONCE] ||
			!wish.text[CONTROL_KEY_RESTART_NONCE] ||
			strcmp(wish.text[CONTROL_KEY_SAVEPOINT_NONCE],
			       wish.text[CONTROL_KEY_RESTART_NONCE]) != 0;
		control_wish_release(&wish);
	}
	swapper.stop = 1;
	pthread_join(thread, NULL);
	CHECK_INT(torn, ==, 0);
	CHECK_INT(read, >, 100);
	tap_note("%d versions seen, %d read", rig.swap.version, read);
	rig_end(&rig);
}
