/*
 * What the agent of a pod that does not own the application does with what its machine says: each effect is carried
 * out once, what drey-init says becomes an event, and the journal is handed to the life cycle with the right
 * claim. The machine (core/handover/standby.c) and the rest of the driver are played by this file.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/handover/transition.h"
#include "core/journal/journal_adopt.h"
#include "flink/held.h"
#include "kube/configmap_watch.h"
#include "run/handover/standing_internal.h"
#include "tap.h"

#define ID   "h2-3f2ac1d0"
#define JOB  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define MAIN "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb01"

struct rig {
	struct driver driver; /* first: what is played gets this one */
	struct setup setup;
	char calls[1024];
	/* the machine: what it says to the next event, and what it has heard */
	struct standby_effect says[4];
	size_t says_count;
	int heard;
	struct standby_event last;
	char last_id[JOB_ID_BYTES], last_why[256];
	int64_t deadline_ms;
	/* how the life cycle was begun */
	int owned;
	struct link_msg hello;
	struct journal journal;
	struct driver_claim claim;
	bool was_in_shadow; /* by then no other part reads that journal */
	/* what people see */
	enum phase phase;
	enum cause cause;
	char reason[256], event[256];
};

static struct rig *the_rig; /* for what is played without a driver */

__attribute__((format(printf, 1, 2))) static void call(const char *fmt, ...)
{
	size_t used = strlen(the_rig->calls);
	va_list ap;

	va_start(ap, fmt);
	used += (size_t)snprintf(the_rig->calls + used, sizeof(the_rig->calls) - used, "%s",
				 used ? " " : "");
	vsnprintf(the_rig->calls + used, sizeof(the_rig->calls) - used, fmt, ap);
	va_end(ap);
}

/* ---- the machine ---- */

void standby_init(struct standby *standby, const struct standby_config *config)
{
	memset(standby, 0, sizeof(*standby));
	standby->config = config;
	snprintf(standby->reason, sizeof(standby->reason), "it waits");
}

void standby_release(struct standby *standby)
{
	(void)standby;
}

int64_t standby_deadline_ms(const struct standby *standby)
{
	(void)standby;
	return the_rig->deadline_ms;
}

void standby_step(struct standby *standby, const struct standby_event *event, int64_t now_ms,
		  int64_t now_unix_ms, struct standby_effects *ret_effects)
{
	struct rig *rig = the_rig;
	bool process = event->type == STANDBY_STARTED || event->type == STANDBY_FAILED ||
		       event->type == STANDBY_EXITED;

	(void)standby;
	CHECK_INT(llabs(now_ms - clock_mono_ms()), <, 5000);
	CHECK_INT(llabs(now_unix_ms - clock_unix_ms()), <, 5000);
	rig->heard++;
	rig->last = *event;
	rig->last_id[0] = rig->last_why[0] = '\0';
	if (process) {
		snprintf(rig->last_id, sizeof(rig->last_id), "%s", event->process.launch_id);
		snprintf(rig->last_why, sizeof(rig->last_why), "%s",
			 event->process.why ? event->process.why : "");
	}
	for (size_t i = 0; i < rig->says_count; i++)
		ret_effects->list[i] = rig->says[i];
	ret_effects->count = rig->says_count;
	rig->says_count = 0;
}

/* ---- the other files of the part ---- */

void standing_read(struct standing *standing)
{
	(void)standing;
	call("read");
}

void standing_take_news(struct standing *standing)
{
	(void)standing;
	call("news");
}

void standing_lock(struct standing *standing, enum side side)
{
	(void)standing;
	call("lock %s", side_name(side));
}

void standing_wanted(struct standing *standing)
{
	(void)standing;
	call("wanted");
}

void standing_record(struct standing *standing)
{
	(void)standing;
	call("record");
}

void standing_check(struct standing *standing)
{
	(void)standing;
	call("check");
}

void standing_launch(struct standing *standing)
{
	(void)standing;
	call("launch");
}

void standing_warm(struct standing *standing)
{
	(void)standing;
	call("warm");
}

void standing_adopt(struct standing *standing)
{
	(void)standing;
	call("adopt");
}

void standing_tell_gates(struct standing *standing)
{
	(void)standing;
	call("gates");
}

/* ---- the driver, drey-init and Kubernetes ---- */

int init_link_signal(struct init_link *link, const char *launch_id, int signo, bool group,
		     struct err *err)
{
	(void)link, (void)err;
	call("signal %s %d%s", launch_id, signo, group ? " group" : "");
	return 0;
}

int init_link_exit(struct init_link *link, int status, struct err *err)
{
	(void)link, (void)err;
	call("exit %d", status);
	return 0;
}

int init_link_stop_ack(struct init_link *link, struct err *err)
{
	(void)link, (void)err;
	call("ack");
	return 0;
}

void driver_stop(struct driver *driver, int status)
{
	driver->closing = true;
	call("stop %d", status);
}

void driver_ha_held(struct driver *driver, const char *launch_id, bool started)
{
	(void)driver;
	call("held %s %s", launch_id, started ? "started" : "ended");
}

void driver_event(struct driver *driver, bool warning, const char *reason, const char *action,
		  const char *note)
{
	(void)driver, (void)action;
	CHECK(warning);
	snprintf(the_rig->event, sizeof(the_rig->event), "%s: %s", reason, note);
	call("event");
}

void driver_start_show(struct driver *driver, enum phase phase, enum cause cause,
		       const char *reason)
{
	(void)driver;
	the_rig->phase = phase;
	the_rig->cause = cause;
	snprintf(the_rig->reason, sizeof(the_rig->reason), "%s", reason);
}

void driver_start_own(struct driver *driver, const struct link_msg *hello, struct journal *journal,
		      const struct driver_claim *claim)
{
	struct rig *rig = (struct rig *)driver;

	rig->owned++;
	rig->hello = *hello;
	rig->claim = *claim;
	journal_release(&rig->journal);
	rig->journal = *journal;
	rig->was_in_shadow = atomic_load(&driver->standing->in_shadow);
}

struct kube_lane kube_lane_open(struct workers *workers, struct kube_client *client,
				const char *name)
{
	(void)workers, (void)client, (void)name;
	return (struct kube_lane){0};
}

bool kube_lane_close(struct kube_lane *lane, int64_t wait_ms)
{
	(void)lane, (void)wait_ms;
	return true;
}

struct kube_watch *configmap_watch_keep(struct kube_watches *watches, const char *namespace,
					const char *name, void (*changed)(void *ctx), void *ctx,
					struct err *err)
{
	(void)watches, (void)namespace, (void)name, (void)changed, (void)ctx;
	err_set(err, ERR_DENIED, 0, "no watch");
	return NULL;
}

void kube_watch_free(struct kube_watch *watch)
{
	CHECK(!watch);
}

bool held_is_possible(const struct flink_launch *launch, bool is_root, char **ret_why)
{
	(void)launch, (void)is_root, (void)ret_why;
	return true;
}

void setup_launch(const struct setup *setup, struct flink_launch *ret_launch)
{
	(void)setup;
	memset(ret_launch, 0, sizeof(*ret_launch));
}

/* ---- the world ---- */

static void is_party(struct party *to, const char *pod, enum side side)
{
	cleanup_free char *uid = xasprintf("u-%s", pod);
	struct party party = {(char *)(uintptr_t)pod, uid, (char *)(uintptr_t) "g2/c1/h2", side};

	party_set(to, &party);
}

static struct standing *standing_of(struct rig *rig)
{
	return rig->driver.standing;
}

static void rig_begin_with(struct rig *rig, const struct link_msg *hello)
{
	memset(rig, 0, sizeof(*rig));
	the_rig = rig;
	rig->deadline_ms = -1;
	rig->driver.setup = &rig->setup;
	rig->driver.loop = loop_new(NULL);
	is_party(&rig->setup.life.handover.me, "new", SIDE_GREEN);
	standing_begin(&rig->driver, hello);
}

static void rig_begin(struct rig *rig)
{
	rig_begin_with(rig, &(struct link_msg){.type = LINK_HELLO, .flags = LINK_TAKES_LEASE});
	CHECK_INT(rig->last.type, ==, STANDBY_HELLO);
	CHECK(!rig->last.hello.running && !rig->last.hello.stopping);
}

static void rig_end(struct rig *rig)
{
	struct standing *standing = standing_of(rig);

	if (standing) {
		handover_release(&standing->standby.handover);
		party_release(&standing->standby.owner);
	}
	standing_close(&rig->driver);
	standing_free(&rig->driver);
	CHECK(!rig->driver.standing && !rig->driver.standing_closed);
	loop_free(rig->driver.loop);
	party_release(&rig->setup.life.handover.me);
	journal_release(&rig->journal);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

/* The machine says this to the next event, which comes. */
static void says(struct rig *rig, const struct standby_effect *effect)
{
	rig->says[0] = *effect;
	rig->says_count = 1;
	rig->calls[0] = '\0';
	standing_of(rig)->step(standing_of(rig), &(struct standby_event){.type = STANDBY_TICK});
}

static bool link_says(struct rig *rig, enum link_type type, const char *id)
{
	struct link_msg msg = {.type = type};

	rig->calls[0] = '\0';
	rig->heard = 0;
	snprintf(msg.launch_id, sizeof(msg.launch_id), "%s", id);
	msg.wait_status = SIGKILL; /* of a process that a signal has ended */
	msg.grace_left_ms = 7000;
	return standing_link(&rig->driver, &msg);
}

/* ---- effects ---- */

RIG_TEST(each_effect_is_carried_out_once)
{
	static const struct {
		struct standby_effect effect;
		const char *calls;
	} cases[] = {
		{{.type = STANDBY_DO_READ}, "read"},
		{{.type = STANDBY_DO_LOCK, .side = SIDE_GREEN}, "lock green"},
		{{.type = STANDBY_DO_WANTED}, "wanted"},
		{{.type = STANDBY_DO_CHECK}, "check"},
		{{.type = STANDBY_DO_RECORD}, "record"},
		{{.type = STANDBY_DO_LAUNCH}, "launch"},
		{{.type = STANDBY_DO_WARM}, "warm"},
		{{.type = STANDBY_DO_KILL, .id = JOB}, "signal " JOB " 9 group"},
		{{.type = STANDBY_DO_ADOPT}, "adopt"},
		{{.type = STANDBY_DO_STOP_ACK}, "ack"},
		{{.type = STANDBY_DO_NOTE, .text = "a line"}, ""},
		{{.type = STANDBY_DO_EXIT}, "exit 0 stop 0"},
		{{.type = STANDBY_DO_AGAIN}, "stop 75"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->driver.closing = false;
		says(rig, &cases[i].effect);
		CHECK_STR(rig->calls, cases[i].calls);
	}
	CHECK_INT(rig->owned, ==, 0);
}

RIG_TEST(an_agent_that_ends_does_nothing_more)
{
	rig->says[0].type = STANDBY_DO_AGAIN;
	rig->says[1].type = STANDBY_DO_LAUNCH;
	rig->says_count = 2;
	standing_of(rig)->step(standing_of(rig), &(struct standby_event){.type = STANDBY_TICK});
	CHECK_STR(rig->calls, "stop 75");
	rig->heard = 0;
	standing_of(rig)->step(standing_of(rig), &(struct standby_event){.type = STANDBY_TICK});
	CHECK_INT(rig->heard, ==, 0);
}

RIG_TEST(a_deadline_of_the_machine_is_a_tick)
{
	int64_t end_ms = clock_mono_ms() + 20000;

	rig->heard = 0;
	rig->deadline_ms = clock_mono_ms() + 20;
	standing_of(rig)->step(standing_of(rig), &(struct standby_event){.type = STANDBY_JOURNAL});
	rig->deadline_ms = -1;
	while (rig->heard < 2 && clock_mono_ms() < end_ms)
		loop_step(rig->driver.loop, 20, NULL);
	CHECK_INT(rig->heard, ==, 2);
	CHECK_INT(rig->last.type, ==, STANDBY_TICK);
}

/* ---- drey-init ---- */

TEST(what_runs_and_that_the_pod_ends_is_said_at_the_start)
{
	struct link_msg hello = {.type = LINK_HELLO, .flags = LINK_RUNNING | LINK_IS_STOPPING};
	struct rig rig;

	memcpy(hello.launch_id, JOB, sizeof(JOB));
	rig_begin_with(&rig, &hello);
	CHECK_INT(rig.last.type, ==, STANDBY_HELLO);
	CHECK(rig.last.hello.running != NULL && rig.last.hello.stopping);
	rig_end(&rig);
}

RIG_TEST(what_happens_to_flink_is_an_event)
{
	static const struct {
		enum link_type type;
		enum standby_event_type event;
		const char *calls, *why;
		bool running; /* as drey-init would say it to the next agent */
	} cases[] = {
		{LINK_STARTED, STANDBY_STARTED, "held " JOB " started", "", true},
		{LINK_EXITED, STANDBY_EXITED, "held " JOB " ended", "SIGKILL", false},
		{LINK_LAUNCH_FAILED, STANDBY_FAILED, "", "could not be started", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CHECK(link_says(rig, cases[i].type, JOB));
		CHECK_INT(rig->heard, ==, 1);
		CHECK_INT(rig->last.type, ==, cases[i].event);
		CHECK_STR(rig->last_id, JOB);
		CHECK_HAS(rig->last_why, cases[i].why);
		CHECK_STR(rig->calls, cases[i].calls);
		CHECK_INT((standing_of(rig)->hello.flags & LINK_RUNNING) != 0, ==,
			  cases[i].running);
	}
	CHECK_STR(standing_of(rig)->hello.last_launch_id, JOB);
	CHECK_INT(standing_of(rig)->hello.last_wait_status, ==, SIGKILL);
	CHECK(standing_of(rig)->hello.flags & LINK_LAST_EXIT);
}

RIG_TEST(the_end_of_the_pod_is_an_event_and_is_kept_for_the_life_cycle)
{
	CHECK(link_says(rig, LINK_STOPPING, ""));
	CHECK_INT(rig->last.type, ==, STANDBY_STOPPING);
	CHECK(standing_of(rig)->hello.flags & LINK_IS_STOPPING);
	CHECK_INT(standing_of(rig)->hello.grace_left_ms, ==, 7000);
}

/* Its Flink is the life cycle's, the end of the pod is not. */
RIG_TEST(in_the_shadow_both_hear_of_flink_and_one_of_the_end)
{
	standing_of(rig)->standby.in_shadow = true;
	CHECK(!link_says(rig, LINK_STARTED, JOB));
	CHECK_INT(rig->heard, ==, 1);
	CHECK_STR(rig->calls, "gates"); /* and it is none that is held */
	CHECK(!link_says(rig, LINK_EXITED, JOB));
	CHECK_INT(rig->heard, ==, 1);
	CHECK(link_says(rig, LINK_STOPPING, ""));
	CHECK_INT(rig->heard, ==, 1);
	CHECK(!link_says(rig, LINK_HELLO, ""));
	CHECK_INT(rig->heard, ==, 0);
	standing_of(rig)->standby.in_shadow = false;
	CHECK(link_says(rig, LINK_HELLO, ""));
}

/* ---- what people see ---- */

RIG_TEST(what_people_see_names_the_owner)
{
	static const struct {
		enum role role;
		enum candidate_state state;
		enum phase phase;
	} cases[] = {
		{ROLE_STANDBY, CANDIDATE_STANDBY, PHASE_STANDBY},
		{ROLE_CANDIDATE, CANDIDATE_PREPARING, PHASE_STANDBY},
		{ROLE_CANDIDATE, CANDIDATE_PREPARED, PHASE_PREPARED},
		{ROLE_STANDBY, CANDIDATE_PREPARED, PHASE_STANDBY},
		{ROLE_RESERVE, CANDIDATE_HANDED_OVER, PHASE_HANDED_OVER},
	};
	struct standby *standby = &standing_of(rig)->standby;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		standby->verdict.role = cases[i].role;
		standby->record.state = cases[i].state;
		says(rig, &(struct standby_effect){.type = STANDBY_DO_READ});
		CHECK_INT(rig->phase, ==, cases[i].phase);
		CHECK_INT(rig->cause, ==, CAUSE_STANDING_BY);
		CHECK_STR(rig->reason, "it waits");
	}
	is_party(&standby->owner, "old", SIDE_BLUE);
	says(rig, &(struct standby_effect){.type = STANDBY_DO_READ});
	CHECK_STR(rig->reason, "it waits; the owner is old");
	is_party(&standby->owner, "new", SIDE_BLUE); /* itself */
	says(rig, &(struct standby_effect){.type = STANDBY_DO_READ});
	CHECK_STR(rig->reason, "it waits");
}

RIG_TEST(an_event_is_posted_once_for_what_only_this_pod_knows)
{
	struct standby *standby = &standing_of(rig)->standby;

	standby->cause = CAUSE_PREPARE_FAILED;
	says(rig, &(struct standby_effect){.type = STANDBY_DO_NOTE});
	CHECK_STR(rig->calls, "event");
	CHECK_STR(rig->event, "PrepareFailed: it waits");
	says(rig, &(struct standby_effect){.type = STANDBY_DO_NOTE});
	CHECK_STR(rig->calls, "");
	standby->cause = CAUSE_PREPARING;
	says(rig, &(struct standby_effect){.type = STANDBY_DO_NOTE});
	CHECK_STR(rig->calls, "");
	standby->cause = CAUSE_OWNER_SILENT;
	says(rig, &(struct standby_effect){.type = STANDBY_DO_NOTE});
	CHECK_STR(rig->calls, "event");
}

/* ---- the journal is ours ---- */

static void flink_runs(struct rig *rig, const char *id)
{
	struct link_msg *hello = &standing_of(rig)->hello;

	hello->flags |= LINK_RUNNING;
	memcpy(hello->launch_id, id, JOB_ID_BYTES);
}

/* The owner's, which has offered this job id. */
static void journal_was_read(struct rig *rig)
{
	struct journal *journal = &standing_of(rig)->journal;

	journal_init(journal, "orders");
	journal->sequence = 40;
	strcpy(journal_add_launch(journal)->job_id, MAIN);
	strcpy(journal->handover.job_id, JOB);
}

RIG_TEST(a_journal_that_is_ours_is_handed_over_with_the_claim)
{
	static const struct {
		enum claim claim;
		enum standby_flink flink;
		bool held;
	} cases[] = {
		{CLAIM_TAKE, STANDBY_FLINK_HELD, true},
		{CLAIM_TAKE, STANDBY_FLINK_STARTED, true},
		{CLAIM_OWN, STANDBY_FLINK_HELD, true},
		{CLAIM_TAKE, STANDBY_FLINK_NONE, false},
		{CLAIM_TAKE, STANDBY_FLINK_ENDING, false},
		{CLAIM_FORCE, STANDBY_FLINK_HELD, false},
		{CLAIM_BACK, STANDBY_FLINK_HELD, false},
		{CLAIM_SUCCEED, STANDBY_FLINK_HELD, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct rig one;
		struct standby *standby;

		rig_begin(&one);
		standby = &standing_of(&one)->standby;
		journal_was_read(&one);
		flink_runs(&one, JOB);
		standby->flink = cases[i].flink;
		memcpy(standby->job_id, JOB, sizeof(JOB));
		standby->verdict.claim = cases[i].claim;
		standby->verdict.side = SIDE_GREEN;
		says(&one, &(struct standby_effect){.type = STANDBY_DO_OWN});
		CHECK_INT(one.owned, ==, 1);
		CHECK_INT(one.journal.sequence, ==, 40);
		CHECK_INT(one.claim.claim, ==, cases[i].claim);
		CHECK_INT(one.claim.side, ==, SIDE_GREEN);
		CHECK(!one.claim.shadow);
		CHECK_STR(one.claim.held, cases[i].held ? JOB : "");
		/* of a Flink that is held the life cycle hears by the claim */
		CHECK_INT((one.hello.flags & LINK_RUNNING) != 0, ==, !cases[i].held);
		/* it stands no more */
		CHECK(!standing_standby(&one.driver));
		CHECK(!link_says(&one, LINK_STOPPING, ""));
		CHECK_INT(one.heard, ==, 0);
		rig_end(&one);
	}
	CHECK_INT(rig->owned, ==, 0);
	the_rig = rig;
}

/* ---- the job in the shadow ---- */

static void transition_was_read(struct rig *rig)
{
	struct standing *standing = standing_of(rig);
	struct handover *handover = &standing->journal.handover;

	journal_was_read(rig);
	xstrset(&handover->id, ID);
	xstrset(&handover->transition.id, ID);
	xstrset(&handover->transition.seed.path, "file:/sp/seed");
	handover->transition.seed.checkpoint_id = 9;
	is_party(&handover->from, "old", SIDE_BLUE);
	is_party(&handover->to, "new", SIDE_GREEN);
	handover->transition.state = TRANSITION_SEEDED;
	handover->state = transition_outside(TRANSITION_SEEDED);
	record_copy(&handover_table, handover, &standing->standby.handover);
}

RIG_TEST(a_job_in_the_shadow_begins_from_the_seed)
{
	struct standing *standing = standing_of(rig);
	struct standby_effect begin = {.type = STANDBY_DO_SHADOW, .seed = true};

	transition_was_read(rig);
	/* of the hand-over before: its number is continued, so that no later write of it counts */
	journal_init(&standing->own, "orders");
	standing->own.sequence = 17;
	strcpy(journal_add_launch(&standing->own)->job_id, JOB);
	flink_runs(rig, JOB);
	says(rig, &begin);
	CHECK_INT(rig->owned, ==, 1);
	CHECK(rig->claim.shadow);
	CHECK_INT(rig->claim.claim, ==, CLAIM_TAKE);
	CHECK_INT(rig->claim.side, ==, SIDE_GREEN);
	CHECK(rig->was_in_shadow);
	CHECK_INT(rig->journal.sequence, ==, 17);
	CHECK_INT(rig->journal.intent.restore.kind, ==, RESTORE_PATH);
	CHECK_STR(rig->journal.intent.restore.path, "file:/sp/seed");
	CHECK(journal_is_seeded(&rig->journal, &standing->standby.handover));
	CHECK_STR(rig->journal.owner.uid, "u-new");
	CHECK(journal_launch(&rig->journal)->ended_unix_ms != 0); /* the owner's job is not its */
	/* what waits in main() is its Flink */
	CHECK_STR(rig->claim.held, JOB);
	CHECK(!(rig->hello.flags & LINK_RUNNING));
	CHECK(standing_standby(&rig->driver) != NULL);
}

/* Its Flink is none that waits in main(), although the offer has its id: that would be ended, and started anew. */
RIG_TEST(a_job_that_runs_in_the_shadow_is_continued_by_its_own_journal)
{
	struct standing *standing = standing_of(rig);
	struct standby_effect again = {.type = STANDBY_DO_SHADOW};

	transition_was_read(rig);
	journal_seed(&standing->journal, false, clock_unix_ms(), &standing->own);
	standing->own.sequence = 23;
	strcpy(journal_add_launch(&standing->own)->job_id, JOB);
	journal_launch(&standing->own)->held = true;
	journal_launch(&standing->own)->started_unix_ms = clock_unix_ms();
	flink_runs(rig, JOB);
	says(rig, &again);
	CHECK_INT(rig->owned, ==, 1);
	CHECK(rig->claim.shadow);
	CHECK_INT(rig->claim.claim, ==, CLAIM_OWN);
	CHECK_INT(rig->journal.sequence, ==, 23);
	CHECK_STR(journal_launch(&rig->journal)->job_id, JOB);
	CHECK_STR(rig->claim.held, "");
	CHECK(rig->hello.flags & LINK_RUNNING);
	CHECK_STR(rig->hello.launch_id, JOB);
}

RIG_TEST(a_flink_that_still_waits_is_held_when_the_job_is_continued)
{
	struct standing *standing = standing_of(rig);

	transition_was_read(rig);
	journal_seed(&standing->journal, false, clock_unix_ms(), &standing->own);
	flink_runs(rig, JOB);
	says(rig, &(struct standby_effect){.type = STANDBY_DO_SHADOW});
	CHECK_STR(rig->claim.held, JOB);
	CHECK(!(rig->hello.flags & LINK_RUNNING));
}

RIG_TEST(in_the_shadow_the_gates_are_told_with_every_step)
{
	standing_of(rig)->standby.in_shadow = true;
	rig->reason[0] = '\0';
	says(rig, &(struct standby_effect){.type = STANDBY_DO_READ});
	CHECK_STR(rig->calls, "read gates");
	CHECK_STR(rig->reason, ""); /* the life cycle shows itself */
}
