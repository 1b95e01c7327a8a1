/*
 * What a pod that stands by reads from the API server and writes there. The journals, the lock and the machine are
 * played by this file; the record is written to an API server that is.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/handover/transition.h"
#include "core/journal/journal_adopt.h"
#include "core/journal/journal_fields.h"
#include "kube/configmap_watch.h"
#include "kube_stub.h"
#include "run/handover/standing_internal.h"
#include "run/journal/journal_map.h"
#include "tap.h"

#define ID       "h2-3f2ac1d0"
#define OWN_JOB  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define LIMIT_MS 20000
#define NAME     "orders-candidate"
#define PATH     "/api/v1/namespaces/team-a/configmaps"
/* The record of a pod, inside of JSON. */
#define RECORD_OF(uid, state, beat)                                                                \
	"\"candidate.json\":\"{\\\"schema\\\":1,\\\"application\\\":\\\"orders\\\","               \
	"\\\"uid\\\":\\\"" uid "\\\",\\\"pod\\\":\\\"p\\\",\\\"template\\\":\\\"//\\\","           \
	"\\\"side\\\":\\\"blue\\\",\\\"state\\\":\\\"" state "\\\",\\\"beat\\\":" beat "}\""
#define HOLDS(version, data)                                                                       \
	{                                                                                          \
		.body = KUBE_MAP(NAME, version, data)                                              \
	}

struct stored {
	struct journal journal;
	enum err_kind fails; /* ERR_NONE: it does not */
	atomic_int reads;
};

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	struct standing standing;
	struct kube_stub stub;
	struct stored application, own;
	enum side_lock lock;
	const char *cluster; /* whose lock was read */
	char *news;          /* what the watch has seen; NULL: nothing */
	int events, agains;
	struct standby_event last;
	struct journal decided; /* of the last event; borrowed */
};

/* ---- what is played ---- */

int journal_store_read(struct journal_store *store, struct journal *ret_journal, struct err *err)
{
	struct stored *stored = (struct stored *)store;

	stored->reads++;
	if (stored->fails)
		return err_set(err, stored->fails, 0, "it cannot be read");
	record_copy(&journal_table, &stored->journal, ret_journal);
	return 0;
}

int configmap_watch_take(struct kube_watch *watch, const char *name, struct configmap *ret)
{
	struct rig *rig = (struct rig *)watch;

	CHECK_STR(name, "orders-journal");
	if (!rig->news)
		return 0;
	ret->name = xstrdup(name);
	ret->data = json_object();
	json_add_str(ret->data, JOURNAL_MAP_KEY, rig->news);
	return 1;
}

enum side_lock lock_read(struct kube *kube, const char *cluster_id, struct ha_unchanged *unchanged,
			 char **ret_why)
{
	struct rig *rig = (struct rig *)((char *)unchanged - offsetof(struct rig, standing.locks) -
					 sizeof(*unchanged));

	(void)kube;
	rig->cluster = cluster_id;
	*ret_why = rig->lock == LOCK_FREE ? NULL : xstrdup("it is owned");
	return rig->lock;
}

const char *setup_cluster_id(const struct setup *setup, enum side side)
{
	(void)setup;
	return side == SIDE_GREEN ? "green-id" : "blue-id";
}

void driver_again(struct driver *driver)
{
	((struct rig *)driver)->agains++;
}

static void heard(struct standing *standing, const struct standby_event *event)
{
	struct rig *rig = (struct rig *)standing->driver;

	rig->events++;
	rig->last = *event;
	if (event->type == STANDBY_JOURNAL && event->read.journal)
		standing->standby.sequence = event->read.journal->sequence;
}

/* ---- the world ---- */

static void is_party(struct party *to, const char *pod, enum side side)
{
	cleanup_free char *uid = xasprintf("u-%s", pod);
	struct party party = {(char *)(uintptr_t)pod, uid, (char *)(uintptr_t) "g2/c1/h2", side};

	party_set(to, &party);
}

static void in_state(struct rig *rig, enum transition_state state)
{
	struct handover *handover = &rig->application.journal.handover;

	handover->transition.state = state;
	handover->state = transition_outside(state);
}

static void rig_begin(struct rig *rig)
{
	struct journal *main = &rig->application.journal;

	memset(rig, 0, sizeof(*rig));
	kube_stub_start(&rig->stub);
	rig->setup.config.application = (char *)"orders";
	rig->setup.kube.journal = (char *)"orders-journal";
	rig->setup.kube.create_maps = true;
	rig->setup.handover.candidate = (char *)NAME;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	rig->driver.workers = workers_new(rig->driver.loop, NULL);
	rig->driver.journal_lane = lane_new(rig->driver.workers, "journal");
	rig->driver.store = (struct journal_store *)&rig->application;
	rig->driver.shadow_store = (struct journal_store *)&rig->own;
	rig->driver.standing = &rig->standing;
	rig->standing.driver = &rig->driver;
	rig->standing.step = heard;
	rig->standing.watch = (struct kube_watch *)rig;
	rig->standing.kube.kube = rig->stub.kube;
	rig->standing.kube.lane = lane_new(rig->driver.workers, "kube");
	is_party(&rig->standing.config.me, "new", SIDE_GREEN);
	journal_init(main, "orders");
	main->sequence = 40;
	xstrset(&main->handover.id, ID);
	xstrset(&main->handover.transition.id, ID);
	xstrset(&main->handover.transition.seed.path, "file:/sp/seed");
	is_party(&main->handover.to, "new", SIDE_GREEN);
	in_state(rig, TRANSITION_SHADOW);
	journal_seed(main, false, clock_unix_ms(), &rig->own.journal);
	strcpy(journal_add_launch(&rig->own.journal)->job_id, OWN_JOB);
	xstrset(&journal_launch(&rig->own.journal)->writer, "new/u-new/7");
}

static void rig_end(struct rig *rig)
{
	lane_free(rig->driver.journal_lane, 1000);
	lane_free(rig->standing.kube.lane, 1000);
	workers_free(rig->driver.workers);
	loop_free(rig->driver.loop);
	kube_stub_stop(&rig->stub);
	journal_release(&rig->application.journal);
	journal_release(&rig->own.journal);
	journal_release(&rig->standing.journal);
	journal_release(&rig->standing.own);
	candidate_reading_release(&rig->standing.reading);
	candidate_release(&rig->standing.standby.record);
	party_release(&rig->standing.config.me);
	log_seldom_release(&rig->standing.own_trouble);
	free(rig->news);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

static void run_until_heard(struct rig *rig)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (!rig->events && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 50, NULL);
	CHECK_INT(rig->events, ==, 1);
	rig->events = 0;
}

/* ---- the journal ---- */

static void reads(struct rig *rig)
{
	rig->application.reads = rig->own.reads = 0;
	standing_read(&rig->standing);
	run_until_heard(rig);
	CHECK_INT(rig->last.type, ==, STANDBY_JOURNAL);
	CHECK(!rig->last.read.by_watch);
}

RIG_TEST(a_journal_is_read_absent_or_not_known)
{
	static const struct {
		enum err_kind fails;
		bool known, absent;
	} cases[] = {
		{ERR_NONE, true, false},    {ERR_ABSENT, true, true},   {ERR_RETRY, false, false},
		{ERR_DENIED, false, false}, {ERR_FORMAT, false, false}, {ERR_CONFIG, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->application.fails = cases[i].fails;
		reads(rig);
		/* one that is gone does not replace the one that was seen */
		CHECK_INT(rig->last.read.journal != NULL, ==, cases[i].known && !cases[i].absent);
		CHECK_INT(rig->standing.journal.sequence, ==, 40);
		CHECK_INT(rig->last.read.absent, ==, cases[i].absent);
		CHECK_INT(rig->own.reads, ==, cases[i].fails ? 0 : 1);
		CHECK(!rig->last.read.own_unread);
	}
}

RIG_TEST(a_pod_that_has_never_seen_a_journal_is_told_of_an_empty_one)
{
	rig->application.fails = ERR_ABSENT;
	reads(rig);
	CHECK(rig->last.read.absent && rig->last.read.journal);
	CHECK_INT(rig->standing.journal.sequence, ==, 0);
}

/* A backup of what this pod has seen, also after it could not be read or was gone; not what another drey has begun. */
RIG_TEST(a_journal_that_was_put_back_is_told_apart)
{
	static const struct {
		enum err_kind between;
		const char *writer;
		int64_t sequence, put_back;
	} cases[] = {
		{ERR_NONE, "old/u-old/1", 39, 39},   {ERR_RETRY, "old/u-old/1", 39, 39},
		{ERR_ABSENT, "old/u-old/1", 12, 12}, {ERR_NONE, "old/u-old/1", 41, 0},
		{ERR_NONE, "third/u-third/1", 3, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct journal *journal = &rig->application.journal;

		journal->sequence = 40;
		xstrset(&journal->writer, "old/u-old/1");
		rig->standing.standby.sequence = 0;
		journal_release(&rig->standing.journal);
		memset(&rig->standing.journal, 0, sizeof(rig->standing.journal));
		reads(rig);
		rig->application.fails = cases[i].between;
		if (cases[i].between)
			reads(rig);
		rig->application.fails = ERR_NONE;
		journal->sequence = cases[i].sequence;
		xstrset(&journal->writer, cases[i].writer);
		reads(rig);
		CHECK_INT(rig->last.read.put_back, ==, cases[i].put_back);
		CHECK_INT(rig->last.read.journal == NULL, ==, cases[i].put_back != 0);
		CHECK_INT(rig->standing.journal.sequence, ==,
			  cases[i].put_back ? 40 : cases[i].sequence);
	}
}

RIG_TEST(the_journal_of_the_job_in_the_shadow_is_read_with_it)
{
	static const struct {
		enum transition_state state;
		bool read; /* there may be one */
	} cases[] = {
		{TRANSITION_OFFERED, false}, {TRANSITION_SEEDING, false},
		{TRANSITION_SEEDED, true},   {TRANSITION_CROSSING, true},
		{TRANSITION_ENDING, true},   {TRANSITION_GRANTED, true},
		{TRANSITION_ABORTING, true}, {TRANSITION_TAKEN, false},
		{TRANSITION_DONE, false},    {TRANSITION_REFUSED, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		in_state(rig, cases[i].state);
		reads(rig);
		CHECK_INT(rig->own.reads, ==, cases[i].read);
		CHECK_INT(rig->last.read.seeded, ==, cases[i].read);
		CHECK(!rig->last.read.own_elsewhere && !rig->last.read.own_unread);
	}
	/* it is the life cycle's by now */
	in_state(rig, TRANSITION_SHADOW);
	atomic_store(&rig->standing.in_shadow, true);
	reads(rig);
	CHECK_INT(rig->own.reads, ==, 0);
	CHECK(!rig->last.read.seeded);
}

RIG_TEST(what_the_journal_of_the_job_in_the_shadow_proves)
{
	static const struct {
		const char *id, *writer; /* of its seed, and of its last launch */
		enum err_kind fails;
		bool seeded, elsewhere, unread;
	} cases[] = {
		{ID, "new/u-new/7", ERR_NONE, true, false, false},
		{ID, "gone/u-gone/1", ERR_NONE, true, true, false},
		{"h9-00000001", "new/u-new/7", ERR_NONE, false, false, false},
		{"h9-00000001", "gone/u-gone/1", ERR_NONE, false, false, false},
		/* an error is never absence */
		{ID, "new/u-new/7", ERR_RETRY, false, false, true},
		{ID, "new/u-new/7", ERR_DENIED, false, false, true},
		{ID, "new/u-new/7", ERR_FORMAT, false, false, true},
		{ID, "new/u-new/7", ERR_ABSENT, false, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct journal *own = &rig->own.journal;

		xstrset(&own->intent.restore.token, cases[i].id);
		xstrset(&journal_launch(own)->writer, cases[i].writer);
		rig->own.fails = cases[i].fails;
		reads(rig);
		CHECK(rig->last.read.journal != NULL);
		CHECK_INT(rig->last.read.seeded, ==, cases[i].seeded);
		CHECK_INT(rig->last.read.own_elsewhere, ==, cases[i].elsewhere);
		CHECK_INT(rig->last.read.own_unread, ==, cases[i].unread);
		/* the machine decides on exactly this one */
		CHECK_INT(rig->standing.own.launch_count, ==, cases[i].fails ? 0 : 1);
	}
}

RIG_TEST(only_a_journal_that_was_read_for_a_launch_confirms_it)
{
	rig->standing.asked = 5;
	rig->application.fails = ERR_RETRY;
	reads(rig);
	CHECK_INT(rig->standing.confirmed, ==, 0);
	CHECK_INT(rig->agains, ==, 0);
	rig->application.fails = ERR_NONE;
	reads(rig);
	CHECK_INT(rig->standing.confirmed, ==, 5);
	CHECK_INT(rig->agains, ==, 1);
	/* one that was under way when another launch asked */
	standing_read(&rig->standing);
	rig->standing.asked = 6;
	run_until_heard(rig);
	CHECK_INT(rig->standing.confirmed, ==, 5);
	CHECK_INT(rig->agains, ==, 1);
}

RIG_TEST(an_answer_that_comes_when_it_stands_no_more_is_dropped)
{
	rig->standing.over = true;
	standing_read(&rig->standing);
	for (int i = 0; i < 2000 && !rig->application.reads; i++)
		usleep(10000);
	CHECK(lane_free(rig->driver.journal_lane, 5000));
	rig->driver.journal_lane = NULL;
	CHECK_INT(rig->events, ==, 0);
	CHECK(!rig->standing.journal.application);
}

/* ---- what a watch has seen ---- */

static void is_news(struct rig *rig, const char *application, int64_t sequence)
{
	struct journal journal;
	struct buf text = BUF_INIT;

	journal_init(&journal, application);
	journal.sequence = sequence;
	CHECK_INT(journal_encode(&journal, &text, NULL), ==, 0);
	journal_release(&journal);
	free(rig->news);
	rig->news = buf_steal(&text);
}

static void news_come(struct rig *rig)
{
	rig->application.reads = 0;
	standing_take_news(&rig->standing);
	run_until_heard(rig);
	CHECK_INT(rig->last.type, ==, STANDBY_JOURNAL);
}

RIG_TEST(what_a_watch_shows_without_the_mark_of_the_map_is_read)
{
	rig->setup.kube.create_maps = false;
	rig->standing.asked = 5;
	is_news(rig, "orders", 41);
	news_come(rig);
	CHECK(!rig->last.read.by_watch);
	CHECK_INT(rig->application.reads, ==, 1);
}

RIG_TEST(what_a_watch_has_seen_is_told_as_that_and_confirms_no_launch)
{
	rig->standing.asked = 5;
	is_news(rig, "orders", 41);
	news_come(rig);
	CHECK(rig->last.read.by_watch);
	CHECK_INT(rig->application.reads, ==, 0);
	CHECK_INT(rig->standing.journal.sequence, ==, 41);
	CHECK_INT(rig->standing.confirmed, ==, 0);
	CHECK_INT(rig->agains, ==, 0);
}

RIG_TEST(what_a_watch_shows_late_is_not_told)
{
	rig->standing.standby.sequence = 41;
	is_news(rig, "orders", 41);
	standing_take_news(&rig->standing);
	is_news(rig, "orders", 40);
	standing_take_news(&rig->standing);
	/* the next answer is the first one that is told */
	standing_read(&rig->standing);
	run_until_heard(rig);
	CHECK(!rig->last.read.by_watch);
	CHECK_INT(rig->application.reads, ==, 1);
}

RIG_TEST(what_is_no_journal_of_this_application_is_read)
{
	static const char *const texts[] = {NULL, "", "{", "{\"schema\":99}"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		free(rig->news);
		rig->news = xstrdup(texts[i]);
		news_come(rig);
		CHECK(!rig->last.read.by_watch);
		CHECK_INT(rig->application.reads, ==, 1);
		CHECK_INT(rig->standing.journal.sequence, ==, 40);
	}
	is_news(rig, "payments", 90);
	news_come(rig);
	CHECK(!rig->last.read.by_watch);
	CHECK_INT(rig->standing.journal.sequence, ==, 40);
}

/* ---- locks ---- */

RIG_TEST(the_lock_of_a_side_is_read_by_its_cluster_id)
{
	static const enum side_lock locks[] = {LOCK_FREE, LOCK_HELD, LOCK_UNKNOWN};

	for (size_t i = 0; i < ARRAY_LEN(locks); i++) {
		rig->lock = locks[i];
		standing_lock(&rig->standing, SIDE_GREEN);
		run_until_heard(rig);
		CHECK_INT(rig->last.type, ==, STANDBY_LOCK);
		CHECK_INT(rig->last.lock.side, ==, SIDE_GREEN);
		CHECK_INT(rig->last.lock.lock, ==, locks[i]);
		CHECK_STR(rig->cluster, "green-id");
	}
}

/* ---- the record ---- */

static void record_is(struct rig *rig, int64_t beat)
{
	struct candidate_record *record = &rig->standing.standby.record;

	xstrset(&record->application, "orders");
	xstrset(&record->uid, "u-new");
	xstrset(&record->pod, "new");
	xstrset(&record->template, "g2/c1/h2");
	record->state = CANDIDATE_PREPARING;
	record->beat = beat;
}

static void records(struct rig *rig)
{
	standing_record(&rig->standing);
	run_until_heard(rig);
	CHECK_INT(rig->last.type, ==, STANDBY_RECORD);
}

RIG_TEST(the_record_is_written_and_the_next_write_needs_no_read)
{
	KUBE_SAY(&rig->stub, {.status = 404, .body = KUBE_NOT_FOUND("configmaps", NAME)},
		 HOLDS("8", RECORD_OF("u-new", "Preparing", "1")),
		 HOLDS("9", RECORD_OF("u-new", "Preparing", "2")));
	record_is(rig, 1);
	records(rig);
	CHECK(rig->last.record.ok && !rig->last.record.taken);
	CHECK_STR(rig->stub.asked[1], "POST " PATH);
	record_is(rig, 2);
	records(rig);
	CHECK(rig->last.record.ok);
	CHECK_INT(rig->stub.asked_count, ==, 3);
	CHECK_STR(rig->stub.asked[2], "PATCH " PATH "/" NAME);
}

/* Its place is free when it has not changed for half a minute, or says that it leaves. */
RIG_TEST(the_place_of_a_pod_that_beats_is_not_taken)
{
	KUBE_SAY(&rig->stub, HOLDS("7", RECORD_OF("u-other", "Preparing", "5")));
	record_is(rig, 1);
	records(rig);
	CHECK(!rig->last.record.ok && rig->last.record.taken);
	records(rig);
	CHECK(rig->last.record.taken);
	/* each time it is read anew: whether it beats is not known otherwise */
	CHECK_INT(rig->stub.asked_count, ==, 2);
	/* silent for long enough, but it lives: the write is compared */
	rig->standing.beat_ms -= 31000;
	rig->stub.turn = 0;
	KUBE_SAY(&rig->stub,
		 {.status = 409,
		  .body = KUBE_STATUS(409, "Conflict", "no", "\"name\":\"" NAME "\"")},
		 HOLDS("8", RECORD_OF("u-other", "Preparing", "6")));
	records(rig);
	CHECK(!rig->last.record.ok && rig->last.record.taken);
	CHECK_HAS(rig->stub.bodies[2], "\"resourceVersion\":\"7\"");
	records(rig);
	CHECK(rig->last.record.taken);
	CHECK_INT(rig->stub.asked_count, ==, 5);
	CHECK_HAS(rig->stub.asked[4], "GET ");
	rig->standing.beat_ms -= 31000;
	rig->stub.turn = 0;
	KUBE_SAY(&rig->stub, HOLDS("9", RECORD_OF("u-new", "Preparing", "1")));
	records(rig);
	CHECK(rig->last.record.ok && !rig->last.record.taken);
	CHECK_HAS(rig->stub.bodies[5], "\"resourceVersion\":\"8\"");
}

RIG_TEST(whose_place_it_may_have)
{
	static const struct {
		const char *data;
		bool taken;
	} cases[] = {
		{"", false},
		{RECORD_OF("u-new", "Standby", "5"), false}, /* its own */
		{RECORD_OF("u-other", "Withdrawn", "5"), false},
		{RECORD_OF("u-other", "Prepared", "5"), true},
		{RECORD_OF("u-other", "Failed", "5"), true},
		{"\"candidate.json\":\"{\"", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *before =
			xasprintf("{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" NAME
				  "\",\"uid\":\"u-1\",\"resourceVersion\":\"7\"},\"data\":{%s}}",
				  cases[i].data);

		candidate_reading_release(&rig->standing.reading);
		rig->stub.turn = 0;
		KUBE_SAY(&rig->stub, {.body = before},
			 HOLDS("8", RECORD_OF("u-new", "Preparing", "1")));
		record_is(rig, 1);
		records(rig);
		CHECK_INT(rig->last.record.taken, ==, cases[i].taken);
		CHECK_INT(rig->last.record.ok, ==, !cases[i].taken);
	}
}

/* The ConfigMap with this record; the caller frees it. */
static char *map_of(const char *record)
{
	cleanup_json struct json *map = json_object();
	cleanup_buf struct buf body = BUF_INIT;
	struct json *metadata;

	json_add_str(map, "kind", "ConfigMap");
	metadata = json_add_object(map, "metadata");
	json_add_str(metadata, "name", NAME);
	json_add_str(metadata, "uid", "u-1");
	json_add_str(metadata, "resourceVersion", "7");
	json_add_str(json_add_object(map, "data"), candidate_keys[PLACE_CANDIDATE], record);
	json_print(map, &body);
	return xstrdup(buf_str(&body));
}

/* Of a pod whose job is in this state, in the hand-over with this id. */
static char *map_with(const char *uid, const char *id, enum shadow_state state)
{
	struct candidate_record record = {.application = (char *)"orders",
					  .uid = (char *)(uintptr_t)uid,
					  .pod = (char *)"p",
					  .template = (char *)"//",
					  .shadow = {.transition = (char *)(uintptr_t)id,
						     .state = state,
						     .gate = gate_report_none}};
	cleanup_buf struct buf text = BUF_INIT;

	CHECK_INT(candidate_encode(&record, &text, NULL), ==, 0);
	return map_of(buf_str(&text));
}

/* It is the trace of a job whose journal may be lost. */
RIG_TEST(what_an_earlier_agent_has_said_of_the_job_is_heard_before_it_is_overwritten)
{
	static const struct {
		enum transition_state state;
		enum shadow_state says; /* this agent */
		const char *uid;        /* of what is there; NULL: it cannot be read */
		const char *id;
		enum shadow_state said;
		bool begun;
	} cases[] = {
		{TRANSITION_SEEDED, SHADOW_PREPARED, "u-new", ID, SHADOW_STARTING, true},
		{TRANSITION_SEEDED, SHADOW_PREPARED, "u-new", ID, SHADOW_RUNNING, true},
		{TRANSITION_SEEDED, SHADOW_PREPARED, "u-new", ID, SHADOW_FAILED, true},
		{TRANSITION_SEEDED, SHADOW_PREPARED, "u-new", ID, SHADOW_WITHDRAWN, true},
		{TRANSITION_SEEDED, SHADOW_PREPARED, NULL, NULL, SHADOW_PREPARED, true},
		{TRANSITION_SEEDED, SHADOW_PREPARED, "u-new", ID, SHADOW_PREPARED, false},
		{TRANSITION_SEEDED, SHADOW_PREPARED, "u-new", "h1-0", SHADOW_STARTING, false},
		{TRANSITION_SEEDED, SHADOW_FAILED, "u-new", ID, SHADOW_STARTING, false},
		{TRANSITION_SEEDED, SHADOW_STARTING, "u-new", ID, SHADOW_FAILED, false},
		{TRANSITION_SEEDED, SHADOW_FAILED, NULL, NULL, SHADOW_PREPARED, false},
		{TRANSITION_SEEDING, SHADOW_PREPARED, "u-new", ID, SHADOW_WITHDRAWN, false},
	};
	struct standby *standby = &rig->standing.standby;

	xstrset(&standby->handover.id, ID);
	xstrset(&standby->handover.transition.id, ID);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *before =
			cases[i].uid ? map_with(cases[i].uid, cases[i].id, cases[i].said)
				     : map_of("{");
		int asked = rig->stub.asked_count;

		candidate_reading_release(&rig->standing.reading);
		standby->handover.transition.state = cases[i].state;
		standby->handover.state = transition_outside(cases[i].state);
		xstrset(&standby->record.shadow.transition, ID);
		standby->record.shadow.state = cases[i].says;
		rig->stub.turn = 0;
		KUBE_SAY(&rig->stub, {.body = before},
			 HOLDS("8", RECORD_OF("u-new", "Preparing", "1")));
		record_is(rig, 1);
		records(rig);
		CHECK_INT(rig->last.record.begun, ==, cases[i].begun);
		CHECK_INT(rig->last.record.ok, ==, !cases[i].begun);
		CHECK_INT(rig->stub.asked_count - asked, ==, cases[i].begun ? 1 : 2);
	}
	handover_release(&standby->handover);
}

RIG_TEST(a_record_that_cannot_be_written_is_not_taken_and_not_ok)
{
	KUBE_SAY(&rig->stub,
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "you may not", "")});
	record_is(rig, 1);
	records(rig);
	CHECK(!rig->last.record.ok && !rig->last.record.taken);
}

/* Of two that claim it at the same time one wins. */
RIG_TEST(a_pod_that_was_faster_has_the_place)
{
	KUBE_SAY(&rig->stub, HOLDS("7", ""),
		 {.status = 409,
		  .body = KUBE_STATUS(409, "Conflict", "no", "\"name\":\"" NAME "\"")},
		 HOLDS("8", RECORD_OF("u-other", "Preparing", "1")));
	record_is(rig, 1);
	records(rig);
	CHECK(!rig->last.record.ok && rig->last.record.taken);
}
