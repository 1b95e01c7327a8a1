#include "core/desired_inputs.h"

#include "desired_texts.h"

enum source_answer {
	NOT_CONFIGURED,
	NOT_ASKED,
	READ,
	ABSENT,
	FAILED,       /* was never read */
	FAILED_SINCE, /* the texts are of the reading before */
	DENIED,       /* 403, and it lasts */
};

struct reading {
	enum source_answer answer;
	const char *texts[TEXTS];
};

struct row {
	const char *what;
	struct reading directory, map, resource;
	bool there_before; /* the process before could read the resource */
	/* EVENT_CONTROL: 0 = there is none, likewise below */
	unsigned fields;
	enum desired_state state;
	bool do_not_restart;
	const char *nonce;
	const char *error;   /* begins so; NULL = there is none, likewise below */
	const char *unknown; /* has this */
	bool waits;          /* for the first reading: nothing is judged */
};

#define HELD   CONTROL_DO_NOT_RESTART
#define HOLD   "do-not-restart=true"
#define FREE   "do-not-restart=false"
#define NOT_IT "state=stopped"
#define BAD    "state: must be"

static const struct row rows[] = {
	{"the directory alone is followed as a whole",
	 .directory = {READ, {"state=suspended", "savepoint-nonce=2"}},
	 .fields = CONTROL_STATE | CONTROL_SAVEPOINT, .state = DESIRED_SUSPENDED, .nonce = "2"},
	{"the ConfigMap goes before the directory",
	 .directory = {READ, {"state=suspended", "savepoint-nonce=2"}},
	 .map = {READ, {"state=cancelled"}}, .fields = CONTROL_STATE, .state = DESIRED_CANCELLED},
	{"... except for a do-not-restart in the directory", .directory = {READ, {HOLD}},
	 .map = {READ, {FREE}}, .fields = HELD, .do_not_restart = true},
	{"without that ConfigMap the directory is followed",
	 .directory = {READ, {"state=suspended"}}, .map = {ABSENT}, .fields = CONTROL_STATE,
	 .state = DESIRED_SUSPENDED},
	{"the resource goes before the ConfigMap, key by key",
	 .map = {READ, {"state=suspended", "savepoint-nonce=2"}},
	 .resource = {READ, {"state=cancelled"}}, .fields = CONTROL_STATE | CONTROL_SAVEPOINT,
	 .state = DESIRED_CANCELLED, .nonce = "2"},
	{"... but lifts no do-not-restart of it", .map = {READ, {HOLD}}, .resource = {READ, {FREE}},
	 .fields = HELD, .do_not_restart = true},
	{"a resource that is not there asks for nothing", .map = {READ, {"state=suspended"}},
	 .resource = {ABSENT}, .fields = CONTROL_STATE, .state = DESIRED_SUSPENDED},

	{"a directory that cannot be read says so", .directory = {FAILED},
	 .error = "directory: no answer"},
	{"... but the ConfigMap goes before, here too", .directory = {FAILED},
	 .map = {FAILED_SINCE, {"state=suspended"}}, .fields = CONTROL_STATE,
	 .state = DESIRED_SUSPENDED, .error = "map: no answer"},
	{"a ConfigMap that was never read keeps the directory from being followed",
	 .directory = {READ, {"state=suspended"}}, .map = {FAILED}, .error = "map: no answer",
	 .unknown = "kubernetes.control: none"},
	{"... and the resource", .map = {FAILED}, .resource = {READ, {"state=suspended"}},
	 .error = "map: no answer", .unknown = "kubernetes.control: none"},
	{"... except for a do-not-restart", .directory = {READ, {HOLD, "state=suspended"}},
	 .map = {FAILED}, .fields = HELD, .do_not_restart = true, .error = "map: no answer",
	 .unknown = "kubernetes.control: none"},
	{"what the ConfigMap said last counts when it cannot be read any more",
	 .map = {FAILED_SINCE, {"state=suspended"}}, .fields = CONTROL_STATE,
	 .state = DESIRED_SUSPENDED, .error = "map: no answer"},
	{"a resource that is being read is waited for", .map = {READ, {"state=suspended"}},
	 .resource = {NOT_ASKED}, .unknown = "drey is exiting", .waits = true},
	{"one that was never read keeps the ConfigMap from being followed",
	 .map = {READ, {"state=suspended"}}, .resource = {FAILED}, .error = "resource: no answer",
	 .unknown = "kubernetes.resource: none"},
	{"... except for a do-not-restart", .map = {READ, {HOLD}}, .resource = {FAILED},
	 .fields = HELD, .do_not_restart = true, .error = "resource: no answer",
	 .unknown = "kubernetes.resource: none"},
	{"what the resource said last counts when it cannot be read any more",
	 .map = {READ, {"state=cancelled"}}, .resource = {FAILED_SINCE, {"state=suspended"}},
	 .fields = CONTROL_STATE, .state = DESIRED_SUSPENDED, .error = "resource: no answer"},
	{"drey continues without a resource to which access is denied",
	 .map = {READ, {"state=suspended"}}, .resource = {DENIED}, .fields = CONTROL_STATE,
	 .state = DESIRED_SUSPENDED},
	{"... unless there was one before", .map = {READ, {"state=suspended"}},
	 .resource = {DENIED}, .there_before = true, .error = "resource: no answer",
	 .unknown = "kubernetes.resource: none"},

	{"nonsense in the ConfigMap is refused, with what the resource says",
	 .map = {READ, {NOT_IT, "savepoint-nonce=2"}}, .resource = {READ, {"state=suspended"}},
	 .error = BAD},
	{"nonsense in the resource is refused, and the ConfigMap followed",
	 .map = {READ, {"savepoint-nonce=2"}}, .resource = {READ, {NOT_IT}},
	 .fields = CONTROL_SAVEPOINT, .nonce = "2", .error = BAD},
	{"... except for a do-not-restart", .resource = {READ, {NOT_IT, HOLD}}, .fields = HELD,
	 .do_not_restart = true, .error = BAD},
	{"the annotation says that an order was carried out, and the journal does not know it",
	 .map = {READ, {"restore={kind: empty, token: used}"}}, .error = "restore: the annotation"},
	{"... which is as it should be when the journal knows it",
	 .map = {READ, {"restore={kind: empty, token: done}"}}},
	{"another order under the token of one in the journal is refused with all the rest",
	 .map = {READ, {"restore={kind: empty, token: given}", "state=suspended"}},
	 .error = "restore: its token belongs to another request"},
	{"an order for another generation is left to it, and the rest followed",
	 .map = {READ, {"restore={kind: empty, token: t1, generation: g2}", "state=suspended"}},
	 .fields = CONTROL_STATE, .state = DESIRED_SUSPENDED},
};

struct rig {
	struct lifecycle_config config;
	struct lifecycle life;
	struct desired_inputs inputs;
	struct desired_news news;
};

static void rig_begin(struct rig *rig)
{
	struct restore_request *given;
	struct journal journal;
	struct rng rng = {0};

	memset(rig, 0, sizeof(*rig));
	rig->config.generation = "g1";
	journal_init(&journal, "orders");
	lifecycle_init(&rig->life, &rig->config, &journal, &rng);
	journal_consume(&rig->life.journal, "done");
	given = &rig->life.journal.intent.restore;
	*given = (struct restore_request){.kind = RESTORE_PATH};
	given->token = xstrdup("given");
	given->path = xstrdup("s3://b/sp/1");
}

static void rig_end(struct rig *rig)
{
	desired_news_release(&rig->news);
	desired_inputs_release(&rig->inputs);
	lifecycle_release(&rig->life);
}

/* A first reading has been before. */
static void load(struct rig *rig, bool there_before)
{
	struct desired_seen seen = {.known = true, .resource = there_before};

	xstrset(&seen.text[DESIRED_KEY_STATE], "running");
	xstrset(&seen.text[DESIRED_KEY_SAVEPOINT_NONCE], "1");
	desired_inputs_load(&rig->inputs, &seen);
	CHECK(!seen.text[DESIRED_KEY_STATE]);
}

static bool take_texts(struct rig *rig, enum desired_from from, bool absent,
		       const char *const texts[TEXTS])
{
	struct desired desired;
	bool changed;

	rig->inputs.from[from].configured = true;
	desired_of(&desired, texts);
	desired.used = xstrdup("used done");
	changed = desired_inputs_read(&rig->inputs, from, &desired, absent, NULL);
	desired_release(&desired);
	return changed;
}

static void fail(struct rig *rig, enum desired_from from)
{
	static const char *const names[] = {"directory", "map", "resource"};
	struct err why = {0};

	err_set(&why, ERR_RETRY, 0, "%s: no answer", names[from]);
	rig->inputs.from[from].configured = true;
	CHECK(!desired_inputs_read(&rig->inputs, from, NULL, false, &why));
}

static void take_reading(struct rig *rig, enum desired_from from, const struct reading *reading)
{
	rig->inputs.from[from].configured = reading->answer != NOT_CONFIGURED;
	if (reading->answer == READ || reading->answer == FAILED_SINCE || reading->answer == ABSENT)
		take_texts(rig, from, reading->answer == ABSENT, reading->texts);
	if (reading->answer == FAILED || reading->answer == FAILED_SINCE ||
	    reading->answer == DENIED)
		fail(rig, from);
	if (reading->answer == DENIED)
		desired_inputs_deny(&rig->inputs);
}

static const struct desired_news *judge(struct rig *rig)
{
	desired_news_release(&rig->news);
	desired_inputs_judge(&rig->inputs, &rig->life, &rig->news);
	return &rig->news;
}

static bool begins(const char *text, const char *with)
{
	return text && with ? !strncmp(text, with, strlen(with)) : text == with;
}

static bool judges(struct rig *rig, const struct row *row)
{
	const struct desired_news *news = judge(rig);
	const struct intent *intent = &news->event.control.intent;
	unsigned fields = news->event.control.fields;

	return CHECK_INT(fields, ==, row->fields) && CHECK(news->changed == (row->fields != 0)) &&
	       CHECK(intent->state == row->state) &&
	       CHECK(intent->do_not_restart == row->do_not_restart) &&
	       CHECK(!row->nonce || xstrsame(intent->savepoint_nonce, row->nonce)) &&
	       CHECK(begins(news->error, row->error));
}

TEST(the_inputs_count_in_their_order_of_precedence)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct row *row = &rows[i];
		cleanup_free char *unknown = NULL;
		struct rig rig;
		bool well;

		rig_begin(&rig);
		load(&rig, row->there_before);
		take_reading(&rig, DESIRED_FROM_DIRECTORY, &row->directory);
		take_reading(&rig, DESIRED_FROM_MAP, &row->map);
		take_reading(&rig, DESIRED_FROM_RESOURCE, &row->resource);
		well = CHECK(desired_inputs_are_ready(&rig.inputs) == !row->waits);
		unknown = desired_inputs_unknown(&rig.inputs);
		well &= row->unknown ? CHECK_HAS(unknown, row->unknown) : CHECK(!unknown);
		if (!row->waits)
			well &= judges(&rig, row);
		if (!well)
			tap_note("%s", row->what);
		rig_end(&rig);
	}
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

RIG_TEST(nothing_is_judged_before_it_is_known_what_was_seen)
{
	CHECK(desired_inputs_may_decide(&rig->inputs)); /* there is no directory */
	take_texts(rig, DESIRED_FROM_DIRECTORY, false, (const char *const[TEXTS]){"state=running"});
	CHECK(!desired_inputs_are_ready(&rig->inputs) && !desired_inputs_may_decide(&rig->inputs));
	load(rig, false);
	CHECK(desired_inputs_are_ready(&rig->inputs) && desired_inputs_may_decide(&rig->inputs));
}

/* A do-not-restart could be in there. */
RIG_TEST(nothing_is_decided_before_the_directory_was_read)
{
	load(rig, false);
	fail(rig, DESIRED_FROM_DIRECTORY);
	CHECK(desired_inputs_are_ready(&rig->inputs) && !desired_inputs_may_decide(&rig->inputs));
}

/* A lifted do-not-restart is set again by the next process that finds it in an input, and by that alone. */
RIG_TEST(do_not_restart_is_taken_once_a_process)
{
	static const char *const hold[TEXTS] = {HOLD};

	load(rig, false);
	take_texts(rig, DESIRED_FROM_MAP, false, hold);
	CHECK_INT(judge(rig)->event.control.fields, ==, HELD);
	CHECK(rig->news.save);
	take_texts(rig, DESIRED_FROM_MAP, false, hold);
	CHECK(!judge(rig)->changed && !rig->news.save);
	rig->inputs.taken = false;
	CHECK_INT(judge(rig)->event.control.fields, ==, HELD);
}

/* A reading that could not be followed was no first look at it. */
RIG_TEST(do_not_restart_is_taken_when_the_inputs_are_known_at_last)
{
	static const char *const hold[TEXTS] = {HOLD};
	struct desired_seen seen = {.known = true};

	xstrset(&seen.text[DESIRED_KEY_DO_NOT_RESTART], "true");
	desired_inputs_load(&rig->inputs, &seen);
	fail(rig, DESIRED_FROM_DIRECTORY);
	CHECK(!judge(rig)->changed);
	take_texts(rig, DESIRED_FROM_DIRECTORY, false, hold);
	CHECK_INT(judge(rig)->event.control.fields, ==, HELD);
	CHECK(!judge(rig)->changed);
}

RIG_TEST(a_reading_with_the_same_texts_is_no_change)
{
	static const char *const running[TEXTS] = {"state=running"};

	CHECK(take_texts(rig, DESIRED_FROM_DIRECTORY, false, (const char *const[TEXTS]){NULL}));
	CHECK(take_texts(rig, DESIRED_FROM_DIRECTORY, false, running));
	CHECK(!take_texts(rig, DESIRED_FROM_DIRECTORY, false, running));
	fail(rig, DESIRED_FROM_DIRECTORY);
	CHECK(!take_texts(rig, DESIRED_FROM_DIRECTORY, false, running));
	CHECK(take_texts(rig, DESIRED_FROM_DIRECTORY, false, (const char *const[TEXTS]){NULL}));
}

RIG_TEST(that_there_is_a_resource_is_remembered)
{
	static const char *const nothing[TEXTS] = {NULL};

	load(rig, false);
	fail(rig, DESIRED_FROM_RESOURCE);
	desired_inputs_deny(&rig->inputs);
	CHECK_STR(judge(rig)->denied, "resource: no answer");
	CHECK(rig->news.save && !rig->inputs.seen.resource);
	CHECK_STR(rig->inputs.seen.resource_error, "resource: no answer");
	CHECK(!judge(rig)->denied && !rig->news.save); /* said once */

	take_texts(rig, DESIRED_FROM_RESOURCE, false, nothing);
	CHECK(judge(rig)->save);
	CHECK(rig->inputs.seen.resource && !rig->inputs.seen.resource_error);
	fail(rig, DESIRED_FROM_RESOURCE);
	desired_inputs_deny(&rig->inputs); /* too late: it was read */
	CHECK(!judge(rig)->denied && !rig->news.save && rig->inputs.seen.resource);
	CHECK_STR(rig->news.error, "resource: no answer");

	take_texts(rig, DESIRED_FROM_RESOURCE, true, nothing);
	CHECK(judge(rig)->save && !rig->inputs.seen.resource);
}

RIG_TEST(another_error_than_a_denied_access_is_an_obstacle)
{
	cleanup_free char *unknown = NULL;

	load(rig, false);
	fail(rig, DESIRED_FROM_RESOURCE);
	desired_inputs_deny(&rig->inputs);
	CHECK(!desired_inputs_unknown(&rig->inputs));
	fail(rig, DESIRED_FROM_RESOURCE);
	unknown = desired_inputs_unknown(&rig->inputs);
	CHECK_HAS(unknown, "resource: no answer");
}

RIG_TEST(nonsense_in_the_resource_leaves_its_last_spec_in_force)
{
	const struct desired *given;

	load(rig, false);
	take_texts(rig, DESIRED_FROM_RESOURCE, false,
		   (const char *const[TEXTS]){"state=suspended", "restart-nonce=1"});
	judge(rig);
	take_texts(rig, DESIRED_FROM_RESOURCE, false,
		   (const char *const[TEXTS]){NOT_IT, "restart-nonce=2"});
	CHECK(!judge(rig)->changed);
	given = desired_inputs_given(&rig->inputs, DESIRED_FROM_RESOURCE);
	CHECK(given && given->state == DESIRED_SUSPENDED);
	CHECK_STR(given->text[DESIRED_KEY_RESTART_NONCE], "1");
	take_texts(rig, DESIRED_FROM_RESOURCE, true, (const char *const[TEXTS]){NULL});
	CHECK(!desired_inputs_given(&rig->inputs, DESIRED_FROM_RESOURCE));
}

RIG_TEST(an_order_that_came_too_late_is_reported_until_something_changes)
{
	static const char *const order[TEXTS] = {"restore={kind: empty, token: t1}"};

	load(rig, false);
	rig->life.launch_step = LAUNCH_LIVE;
	rig->life.phase = PHASE_RUNNING;
	take_texts(rig, DESIRED_FROM_RESOURCE, false, order);
	CHECK(!judge(rig)->changed);
	CHECK_HAS(rig->news.error, "the job is running");
	CHECK_HAS(desired_inputs_refused(&rig->inputs), "the job is running");
	CHECK_HAS(judge(rig)->error, "the job is running");
	take_texts(rig, DESIRED_FROM_RESOURCE, false,
		   (const char *const[TEXTS]){order[0], "savepoint-nonce=2"});
	CHECK(judge(rig)->changed && !rig->news.error && !desired_inputs_refused(&rig->inputs));
}

/* A transition is in the shadow, and records of up to 12:00 were written. */
static void in_the_shadow(struct rig *rig)
{
	struct handover *handover = &rig->life.journal.handover;

	rig->config.handover.mode = HANDOVER_BLUE_GREEN;
	xstrset(&handover->id, "h1");
	xstrset(&handover->transition.id, "h1");
	handover->state = HANDOVER_OFFERED;
	handover->transition.state = TRANSITION_SHADOW;
	xstrset(&rig->life.gate.transition, "h1");
	rig->life.gate.report.known = true;
	rig->life.gate.report.max_seen_unix_ms = INT64_C(1795694400000);
}

RIG_TEST(a_promotion_to_a_cut_in_the_past_is_reported_until_something_changes)
{
	load(rig, false);
	in_the_shadow(rig);
	take_texts(rig, DESIRED_FROM_MAP, false, (const char *const[TEXTS]){"promote=a"});
	judge(rig);
	take_texts(rig, DESIRED_FROM_MAP, false,
		   (const char *const[TEXTS]){"promote=b 2026-11-26T12:00:00Z"});
	CHECK(judge(rig)->changed); /* it is consumed */
	CHECK_INT(rig->news.event.control.fields, ==, CONTROL_PROMOTE);
	CHECK_HAS(rig->news.error, "promote: the time of the cut is in the past");
	CHECK_STR(desired_inputs_refused(&rig->inputs), NULL); /* it is not of the resource */
	CHECK_HAS(judge(rig)->error, "in the past");
	take_texts(rig, DESIRED_FROM_MAP, false,
		   (const char *const[TEXTS]){"promote=c 2026-11-26T12:00:01Z"});
	CHECK(judge(rig)->changed && !rig->news.error);
}

RIG_TEST(so_is_one_of_the_resource)
{
	load(rig, false);
	in_the_shadow(rig);
	take_texts(rig, DESIRED_FROM_RESOURCE, false, (const char *const[TEXTS]){"promote=a"});
	judge(rig);
	take_texts(rig, DESIRED_FROM_RESOURCE, false,
		   (const char *const[TEXTS]){"promote=b 2026-11-26T11:59:59Z"});
	judge(rig);
	CHECK_HAS(desired_inputs_refused(&rig->inputs),
		  "promote: the time of the cut is in the past");
	/* what nothing waits for does nothing, without a word */
	rig->life.journal.handover.transition.state = TRANSITION_DONE;
	take_texts(rig, DESIRED_FROM_RESOURCE, false,
		   (const char *const[TEXTS]){"promote=c 2026-11-26T11:59:59Z"});
	CHECK_STR(judge(rig)->error, NULL);
	CHECK_STR(desired_inputs_refused(&rig->inputs), NULL);
}

RIG_TEST(an_order_that_is_left_to_another_generation_is_mentioned_once)
{
	load(rig, false);
	take_texts(rig, DESIRED_FROM_MAP, false,
		   (const char *const[TEXTS]){"restore={kind: empty, token: t1, generation: g2}"});
	CHECK_STR(judge(rig)->left_to, "g2");
	CHECK_STR(rig->inputs.for_other, "t1");
	CHECK(!judge(rig)->left_to && !rig->inputs.seen.restore_token);
}

/* ---- how old an order is ---- */

#define OLD "restore={kind: empty, token: old}"
#define NEW "restore={kind: empty, token: new}"

/* One reading; true when the order in it stood there at the first look. */
static bool stands(struct rig *rig, const char *restore, bool absent)
{
	if (!rig->inputs.loaded)
		load(rig, false);
	take_texts(rig, DESIRED_FROM_MAP, absent, (const char *const[TEXTS]){restore});
	return judge(rig)->desired.restore_standing;
}

RIG_TEST(an_order_that_stood_there_at_the_first_look_is_of_unknown_age)
{
	CHECK(stands(rig, OLD, false));
	CHECK(stands(rig, OLD, false));
	CHECK(!stands(rig, NEW, false));
	CHECK(stands(rig, OLD, false)); /* put back: it is no younger for that */
	desired_inputs_release(&rig->inputs);
	CHECK(!stands(rig, NULL, false));
	CHECK(!stands(rig, NEW, false));
}

/* A cluster is rebuilt: drey is there before the ConfigMap, and that comes from a backup. */
RIG_TEST(an_object_that_comes_later_is_looked_at_for_the_first_time)
{
	CHECK(!stands(rig, NULL, true));
	CHECK(stands(rig, OLD, false));
	CHECK(!stands(rig, NEW, false));
	CHECK(!stands(rig, NULL, true));
	CHECK(stands(rig, NEW, false));
}

RIG_TEST(nonsense_is_no_first_look)
{
	CHECK(!stands(rig, "restore={kind: empty}", false));
	CHECK(stands(rig, OLD, false));
}
