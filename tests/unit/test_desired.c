#include "core/desired.h"

#include "desired_texts.h"

#define RESTORE_7 "restore={kind: path, path: 's3://b/sp/savepoint-1', token: '7'}"
#define START     (CONTROL_STATE | CONTROL_NEW_START)
#define NEW_ORDER (CONTROL_RESTORE | CONTROL_NEW_START)
#define FIRST_LOOK                                                                                 \
	{                                                                                          \
		NULL                                                                               \
	}

struct row {
	const char *what;
	const char *seen[TEXTS]; /* FIRST_LOOK: nothing was seen yet */
	struct {
		enum desired_state state;
		bool do_not_restart;
	} journal;
	bool runs;     /* a job does */
	bool at_start; /* of this process */
	const char *now[TEXTS];
	unsigned fields; /* of the event; 0 = there is none */
	bool refused;
};

static const struct row rows[] = {
	{"no keys ask for nothing", .seen = FIRST_LOOK, .fields = 0},
	{"a state is asked for", .seen = {"state=running"}, .now = {"state=cancelled"},
	 .fields = CONTROL_STATE},
	{"running is a new start", .seen = {"state=suspended"}, .now = {"state=running"},
	 .fields = START},
	{"all at once", .seen = {"state=running", "savepoint-nonce=1", "restart-nonce=1"},
	 .now = {"state=suspended", "do-not-restart=true", "savepoint-nonce=2", "restart-nonce=b"},
	 .fields = CONTROL_STATE | CONTROL_DO_NOT_RESTART | CONTROL_SAVEPOINT | CONTROL_RESTART},

	{"what stays as it is does not undo a command",
	 .seen = {"state=running", "do-not-restart=false"}, .journal = {DESIRED_SUSPENDED, true},
	 .now = {"state=running", "do-not-restart=false", "savepoint-nonce=1"},
	 .fields = CONTROL_SAVEPOINT},
	{"a checkpoint is asked for", .seen = {"checkpoint-nonce=1"},
	 .now = {"checkpoint-nonce=full 1"}, .fields = CONTROL_CHECKPOINT},
	{"the first nonce of a checkpoint asks for nothing", .seen = FIRST_LOOK,
	 .now = {"checkpoint-nonce=full 1"}, .fields = 0},
	{"the cut is wanted", .seen = {"promote=1"}, .now = {"promote=2 2026-11-26T12:00:00Z"},
	 .fields = CONTROL_PROMOTE},
	{"a transition is to be given up", .seen = {"state=running"}, .now = {"abort=1"},
	 .fields = CONTROL_ABORT},
	{"lost state is acknowledged", .seen = {"acknowledge=1"}, .now = {"acknowledge=2"},
	 .fields = CONTROL_ACKNOWLEDGE},
	{"the first acknowledgement is for nothing", .seen = FIRST_LOOK, .now = {"acknowledge=2"},
	 .fields = 0},
	{"the first wish asks for nothing", .seen = FIRST_LOOK, .now = {"promote=1", "abort=1"},
	 .fields = 0},
	{"a key that vanishes is no change", .seen = {"state=suspended", "do-not-restart=true"},
	 .journal = {DESIRED_SUSPENDED, true}, .fields = 0},
	{"the first nonce asks for nothing", .seen = FIRST_LOOK,
	 .now = {"savepoint-nonce=1", "restart-nonce=1"}, .fields = 0},
	{"a first look does not start a finished job", .seen = FIRST_LOOK, .now = {"state=running"},
	 .fields = 0},
	{"a first look forgives nothing", .seen = FIRST_LOOK, .journal = {DESIRED_CANCELLED, false},
	 .now = {"state=running"}, .fields = CONTROL_STATE},

	{"another parallelism is asked for", .seen = {"parallelism=4"}, .now = {"parallelism=5"},
	 .fields = CONTROL_PARALLELISM},
	{"... of one vertex", .seen = {"state=running"},
	 .now = {"parallelism={vertices: {count: 2}}"}, .fields = CONTROL_PARALLELISM},
	{"... or none any more", .seen = {"parallelism=4"}, .now = {"parallelism=reset"},
	 .fields = CONTROL_PARALLELISM},
	{"... and not by being there", .seen = {"parallelism=4"}, .now = {"parallelism=4"},
	 .fields = 0},
	{"a first look takes it, too", .seen = FIRST_LOOK, .now = {"parallelism=4"},
	 .fields = CONTROL_PARALLELISM},
	{"... but not one that is as it is", .seen = FIRST_LOOK, .now = {"parallelism=reset"},
	 .fields = 0},

	{"do-not-restart is taken at every start", .seen = {"do-not-restart=true"},
	 .at_start = true, .now = {"do-not-restart=true"}, .fields = CONTROL_DO_NOT_RESTART},
	{"... and else only when it changes", .seen = {"do-not-restart=true"},
	 .now = {"do-not-restart=true"}, .fields = 0},
	{"... not when the journal has it", .seen = {"do-not-restart=false"},
	 .journal = {DESIRED_RUNNING, true}, .at_start = true, .now = {"do-not-restart=true"},
	 .fields = 0},
	{"one that is off lifts it by its change", .seen = {"do-not-restart=true"},
	 .journal = {DESIRED_RUNNING, true}, .now = {"do-not-restart=false"},
	 .fields = CONTROL_DO_NOT_RESTART},
	{"... and not by being there", .seen = {"do-not-restart=false"},
	 .journal = {DESIRED_RUNNING, true}, .at_start = true, .now = {"do-not-restart=false"},
	 .fields = 0},

	{"nonsense is refused as a whole", .seen = {"state=running"},
	 .now = {"state=suspended", "savepoint-nonce=7", "restore=no map"}, .fields = 0},
	{"do-not-restart is taken beside nonsense", .seen = {"state=running"},
	 .now = {"state=stopped", "do-not-restart=true", "savepoint-nonce=1"},
	 .fields = CONTROL_DO_NOT_RESTART},
	{"... and not lifted beside it", .seen = {"do-not-restart=true"},
	 .journal = {DESIRED_RUNNING, true}, .now = {"state=stopped", "do-not-restart=false"},
	 .fields = 0},

	{"a restore order is a new start", .seen = {"state=running"}, .now = {RESTORE_7},
	 .fields = NEW_ORDER},
	{"... at a first look it forgives nothing", .seen = FIRST_LOOK, .now = {RESTORE_7},
	 .fields = CONTROL_RESTORE},
	{"... and counts once", .seen = {RESTORE_7}, .now = {RESTORE_7}, .fields = 0},
	{"... not when it was carried out", .seen = {"state=running"},
	 .now = {"restore={kind: empty, token: consumed}"}, .fields = 0},
	{"... nor while the job runs", .seen = {"state=running"}, .runs = true,
	 .now = {"state=running", RESTORE_7, "savepoint-nonce=1"}, .fields = CONTROL_SAVEPOINT,
	 .refused = true},
	{"... which does not apply to the next failure", .seen = {RESTORE_7}, .now = {RESTORE_7},
	 .fields = 0},
	{"an order for a suspended job is taken", .seen = {"state=suspended"},
	 .journal = {DESIRED_SUSPENDED, false}, .now = {"state=suspended", RESTORE_7},
	 .fields = NEW_ORDER},
	{"... and is for the next start", .seen = {"state=suspended", RESTORE_7},
	 .journal = {DESIRED_SUSPENDED, false}, .now = {"state=running", RESTORE_7},
	 .fields = START | CONTROL_RESTORE},
	{"an order in one change with the stop is not refused", .seen = {"state=running"},
	 .runs = true, .now = {"state=suspended", RESTORE_7}, .fields = CONTROL_STATE},
};

struct rig {
	struct lifecycle_config config;
	struct lifecycle life;
	struct desired desired;
	struct desired_seen seen;
	struct event event;
	struct desired_refusal refused;
};

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng = {0};

	memset(rig, 0, sizeof(*rig));
	journal_init(&journal, "orders");
	lifecycle_init(&rig->life, &rig->config, &journal, &rng);
	journal_consume(&rig->life.journal, "consumed");
}

static void rig_end(struct rig *rig)
{
	desired_release(&rig->desired);
	desired_seen_release(&rig->seen);
	lifecycle_release(&rig->life);
}

/* The fields of the event, 0 for none. */
static unsigned compare(struct rig *rig, bool at_start)
{
	memset(&rig->event, 0, sizeof(rig->event));
	desired_compare(&rig->desired, &rig->seen, &rig->life, at_start, &rig->event,
			&rig->refused);
	return rig->event.control.fields;
}

static unsigned compare_row(struct rig *rig, const struct row *row)
{
	rig_begin(rig);
	if (row->seen[0]) {
		struct desired before;

		desired_of(&before, row->seen);
		desired_seen_update(&rig->seen, &before);
		desired_release(&before);
	}
	rig->life.journal.intent.state = row->journal.state;
	rig->life.journal.intent.do_not_restart = row->journal.do_not_restart;
	rig->life.launch_step = row->runs ? LAUNCH_LIVE : LAUNCH_NONE;
	rig->life.phase = row->runs ? PHASE_RUNNING : PHASE_FAILED;
	desired_of(&rig->desired, row->now);
	return compare(rig, row->at_start);
}

TEST(only_a_change_counts)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rig rig;
		bool well = CHECK_INT(compare_row(&rig, &rows[i]), ==, rows[i].fields);

		if (!CHECK((rig.refused.why != NULL) == rows[i].refused) || !well)
			tap_note("%s", rows[i].what);
		rig_end(&rig);
	}
}

TEST(what_was_compared_is_no_change_any_more)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct rig rig;

		compare_row(&rig, &rows[i]);
		if (rig.event.control.fields & CONTROL_DO_NOT_RESTART)
			rig.life.journal.intent.do_not_restart = rig.desired.do_not_restart;
		desired_seen_update(&rig.seen, &rig.desired);
		if (!CHECK_INT(compare(&rig, false), ==, 0) ||
		    !CHECK(!desired_seen_update(&rig.seen, &rig.desired)))
			tap_note("%s", rows[i].what);
		rig_end(&rig);
	}
}

TEST(the_event_has_what_was_asked_for)
{
	static const struct row row = {
		.seen = {"state=suspended"},
		.journal = {DESIRED_SUSPENDED, false},
		.now = {"state=running", "do-not-restart=true", "savepoint-nonce=2",
			"restart-nonce=b", RESTORE_7, "checkpoint-nonce=full  c",
			"promote=p  2026-11-26T12:00:00Z", "abort=a"},
	};
	const struct intent *intent;
	struct rig rig;

	compare_row(&rig, &row);
	intent = &rig.event.control.intent;
	CHECK_INT(rig.event.type, ==, EVENT_CONTROL);
	CHECK_INT(intent->state, ==, DESIRED_RUNNING);
	CHECK(intent->do_not_restart);
	CHECK_STR(intent->savepoint_nonce, "2");
	CHECK_STR(intent->restart_nonce, "b");
	CHECK_STR(rig.event.control.checkpoint_nonce, "c");
	CHECK(rig.event.control.checkpoint_full);
	CHECK_STR(rig.event.control.promote_nonce, "p");
	CHECK_INT(rig.event.control.promote_at_unix_ms, ==, 1795694400000);
	CHECK_STR(rig.event.control.abort_nonce, "a");
	CHECK_INT(intent->restore.kind, ==, RESTORE_PATH);
	CHECK_STR(intent->restore.path, "s3://b/sp/savepoint-1");
	CHECK_STR(intent->restore.token, "7");
	rig_end(&rig);
}

/* The generation stays with the order: it may wait for its start in the journal. */
TEST(an_order_for_the_newest_state_keeps_its_generation)
{
	static const struct row row = {.now = {"restore={kind: newest, token: t1, "
					       "allowNonRestoredState: true, generation: g2}"}};
	const struct restore_request *restore;
	struct rig rig;

	CHECK_INT(compare_row(&rig, &row), ==, CONTROL_RESTORE);
	restore = &rig.event.control.intent.restore;
	CHECK_INT(restore->kind, ==, RESTORE_NEWEST);
	CHECK(restore->allow_non_restored && !restore->path);
	CHECK_STR(restore->generation, "g2");
	rig_end(&rig);
}

/* The journal is lost, and what was seen with it: the order may be one of long ago. */
TEST(an_order_says_how_much_is_known_of_its_age)
{
	static const struct row row = {.seen = {"state=running"}, .now = {RESTORE_7}};
	struct rig rig;

	compare_row(&rig, &row);
	rig.desired.restore_standing = true;
	CHECK_INT(compare(&rig, false), ==, NEW_ORDER | CONTROL_STANDING);
	/* its object says that it was carried out */
	rig.desired.used = xstrdup("6 7");
	CHECK_INT(compare(&rig, false), ==, 0);
	rig_end(&rig);
}

static bool reuses(struct rig *rig, const char *restore)
{
	desired_release(&rig->desired);
	desired_of(&rig->desired, (const char *const[TEXTS]){restore});
	return desired_reuses_token(&rig->desired, &rig->life.journal);
}

TEST(a_token_is_one_orders_alone)
{
	static const char order[] = "restore={kind: path, token: t1, path: 's3://b/sp/1'}";
	struct launch launch = {.number = 1, .request_token = (char *)"t1"};
	struct restore_request *given;
	struct rig rig;

	rig_begin(&rig);
	CHECK(!reuses(&rig, order)); /* no other order has it */
	given = &rig.life.journal.intent.restore;
	*given = (struct restore_request){.kind = RESTORE_PATH};
	given->token = xstrdup("t1");
	given->path = xstrdup("s3://b/sp/1/");
	CHECK(!reuses(&rig, order)); /* that is this order */
	given->foreign = true;
	CHECK(reuses(&rig, order));
	given->foreign = false;
	xstrset(&given->path, "s3://b/sp/2");
	CHECK(reuses(&rig, order));
	xstrset(&given->token, "t0");
	CHECK(!reuses(&rig, order)); /* a new one */

	launch.restore_path = (char *)"s3://b/sp/1";
	rig.life.journal.launches = &launch;
	rig.life.journal.launch_count = 1;
	CHECK(!reuses(&rig, order)); /* carried out, and still there */
	launch.restore_path = (char *)"s3://b/sp/2";
	CHECK(reuses(&rig, order));
	launch.restore_path = NULL;
	CHECK(reuses(&rig, order)); /* it was an empty start */
	CHECK(!reuses(&rig, "restore={kind: empty, token: t1}"));
	CHECK(!reuses(&rig, "state=running")); /* there is no order */
	rig.life.journal.launches = NULL;
	rig.life.journal.launch_count = 0;
	rig_end(&rig);
}

/* ---- tokens that were carried out ---- */

static bool is_used(const char *used, const char *token)
{
	const struct desired desired = {.used = (char *)used, .restore.token = (char *)token};

	return desired_is_used(&desired);
}

TEST(an_object_says_which_orders_were_carried_out)
{
	CHECK(!is_used(NULL, "a"));
	CHECK(!is_used("", "a"));
	CHECK(is_used("a", "a"));
	CHECK(is_used(" ab  a ", "a"));
	CHECK(!is_used("ab", "a"));
	CHECK(!is_used("a", "ab"));
	CHECK(!is_used("a", NULL));
}

TEST(the_list_of_used_tokens_keeps_the_newest)
{
	char *used = desired_used_add(NULL, "t0");

	CHECK_STR(used, "t0");
	for (int i = 1; i <= DESIRED_USED_MAX; i++) {
		cleanup_free char *token = xasprintf("t%d", i);
		char *longer = desired_used_add(used, token);

		free(used);
		used = longer;
	}
	CHECK(!is_used(used, "t0"));
	CHECK(is_used(used, "t1") && is_used(used, "t16"));
	free(used);
}

/* ---- one over the other ---- */

TEST(the_list_of_used_tokens_goes_with_the_order)
{
	struct desired desired, over;

	desired_of(&desired, (const char *const[TEXTS]){"restore={kind: empty, token: old}"});
	CHECK(!desired_is_used(&desired));
	desired.used = xstrdup("older old");
	CHECK(desired_is_used(&desired));
	desired_of(&over, (const char *const[TEXTS]){"restore={kind: empty, token: new}"});
	over.used = xstrdup("new");
	desired_overlay(&desired, &over);
	CHECK_STR(desired.restore.token, "new");
	CHECK_STR(desired.used, "new");
	desired_release(&over);
	desired_of(&over, (const char *const[TEXTS]){NULL});
	desired_overlay(&desired, &over);
	CHECK(desired_is_used(&desired));
	desired_release(&over);
	desired_release(&desired);
}

/* It comes with another version, in the same step: the drey of the version before leaves it alone. */
TEST(an_order_may_be_for_one_generation_alone)
{
	static const char *const order[TEXTS] = {
		"restore={kind: empty, token: t1, generation: g2}"};
	struct desired desired, copy;

	desired_of(&desired, order);
	CHECK_INT(desired.bad.kind, ==, ERR_NONE);
	CHECK(desired_is_for_other(&desired, "g1"));
	CHECK(!desired_is_for_other(&desired, "g2"));
	CHECK(!desired_is_for_other(&desired, NULL)); /* what runs is not known */
	desired_copy(&copy, &desired);
	desired_drop_restore(&desired);
	CHECK_INT(desired.restore.kind, ==, RESTORE_NONE);
	CHECK(!desired.text[DESIRED_KEY_RESTORE] && !desired_is_for_other(&desired, "g1"));
	desired_overlay(&desired, &copy);
	CHECK(desired_is_for_other(&desired, "g1"));
	desired_release(&desired);
	desired_release(&copy);

	desired_of(&desired, (const char *const[TEXTS]){"restore={kind: empty, token: new}"});
	CHECK(!desired_is_for_other(&desired, "g1"));
	desired_release(&desired);
	desired_of(&desired,
		   (const char *const[TEXTS]){"restore={kind: empty, token: t1, generation: {}}"});
	CHECK_INT(desired.bad.kind, !=, ERR_NONE);
	desired_release(&desired);
}
