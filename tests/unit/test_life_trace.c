/*
 * The trace: what it keeps, and that a life cycle that begins like it and takes its events does the
 * same.
 */
#include <stdlib.h>

#include "core/trace/life_trace.h"
#include "life.h"
#include "tests/trace/replay.h"

/* A step like step() of life.h, with its trace. */
static void traced(struct life *l, struct life_trace *trace, const struct event *event)
{
	struct json *seen = life_trace_event(event);
	enum phase before = l->life.phase;
	struct effects out = {0};
	cleanup_json struct json *step = NULL;
	int64_t sequence = 0;

	l->now_ms += 10;
	lifecycle_step(&l->life, event, l->now_ms, UNIX_START + l->now_ms, &out);
	step = life_trace_step(seen, before, &l->life, &out);
	life_trace_add(trace, step);
	for (size_t i = 0; i < out.count; i++)
		if (out.list[i].type == EFFECT_WRITE_JOURNAL)
			sequence = out.list[i].sequence;
	effects_clear(&out);
	if (sequence) {
		struct event ack = {.type = EVENT_JOURNAL_WRITTEN, .journal.sequence = sequence};

		traced(l, trace, &ack);
	}
}

static void start_from(struct life *l, struct life_trace *trace)
{
	struct snapshot snapshot = {
		.path = (char *)SAVEPOINT_1, .kind = SNAPSHOT_SAVEPOINT, .checkpoint_id = 50};
	struct decision decision = {.kind = DECISION_START_FROM,
				    .rule = RULE_NEWEST,
				    .settled = NO_CANDIDATE,
				    .reason = "because"};
	struct facts facts = {0};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};

	facts_add_job(&facts, "0123456789abcdef0123456789abcdef");
	facts_add(&facts, SOURCE_SAVEPOINTS, &snapshot);
	traced(l, trace, &e);
	facts_release(&facts);
}

/* Hello, a start, a view, a savepoint by a person, the end. */
static void live(struct life *l, struct life_trace *trace)
{
	struct seen_savepoint seen = {.id = 51, .path = "file:/elsewhere/savepoint-2"};
	struct view view = job_restored(JOB_RUNNING, 50, SAVEPOINT_1);
	struct event hello = {.type = EVENT_HELLO}, started = {.type = EVENT_STARTED};
	struct event ask = {.type = EVENT_CONTROL, .control.fields = CONTROL_SAVEPOINT};
	struct event exited = {.type = EVENT_EXITED};
	struct event viewed = {.type = EVENT_VIEW};

	life_begin(l);
	life_trace_begin(trace, &l->life);
	traced(l, trace, &hello);
	start_from(l, trace);
	started.process.launch_id = job_of(l);
	traced(l, trace, &started);
	view.savepoints = &seen;
	view.savepoint_count = 1;
	viewed.view = view;
	traced(l, trace, &viewed);
	ask.control.intent.savepoint_nonce = (char *)"n1";
	traced(l, trace, &ask);
	exited.process.launch_id = job_of(l);
	exited.process.wait_status = KILLED(9);
	exited.process.meaning = "it was killed";
	traced(l, trace, &exited);
}

static struct json *document(const struct life_trace *trace)
{
	struct json *doc = json_object();

	life_trace_write(trace, doc);
	return doc;
}

TEST(a_trace_is_repeated_step_by_step)
{
	struct life_trace trace = {.count = 0};
	cleanup_json struct json *doc = NULL;
	struct err err = {0};
	struct life l;
	size_t count = 0;

	live(&l, &trace);
	CHECK_INT(l.life.phase, ==, PHASE_RESOLVING);
	doc = document(&trace);
	CHECK_INT(replay(doc, &count, &err), ==, 0);
	CHECK_STR(err.msg, "");
	CHECK_INT(count, ==, trace.count);
	life_trace_release(&trace);
	life_release(&l);
}

/* Handover world, 70045440: where savepoints cannot be listed, no job id is certain to be unused. */
TEST(how_the_sources_were_read_is_repeated)
{
	struct decision decision = {
		.kind = DECISION_START_EMPTY, .rule = 4, .settled = NO_CANDIDATE};
	struct life_trace trace = {.count = 0};
	cleanup_json struct json *doc = NULL;
	struct event hello = {.type = EVENT_HELLO};
	struct facts facts = {0};
	struct event e = {.type = EVENT_OBSERVED, .observed = {&facts, &decision}};
	struct err err = {0};
	struct life l;
	size_t count = 0;

	life_begin(&l);
	l.config.id_space = "ns/orders/";
	l.config.id_count = 10;
	life_trace_begin(&trace, &l.life);
	traced(&l, &trace, &hello);
	facts_set_source(&facts, SOURCE_SAVEPOINTS, SOURCE_UNREADABLE, "the listing broke off");
	traced(&l, &trace, &e);
	CHECK_INT(l.life.phase, ==, PHASE_HOLDING);
	CHECK_HAS(l.life.reason, "savepoints cannot be read (the listing broke off)");
	doc = document(&trace);
	CHECK_INT(replay(doc, &count, &err), ==, 0);
	CHECK_STR(err.msg, "");
	facts_release(&facts);
	life_trace_release(&trace);
	life_release(&l);
}

TEST(the_first_step_that_differs_is_named)
{
	struct life_trace trace = {.count = 0};
	cleanup_json struct json *doc = NULL;
	struct err err = {0};
	struct life l;
	size_t count = 0;
	char *at;

	live(&l, &trace);
	/* as if another code had answered the last event: the exit was no failed attempt */
	at = strstr(trace.steps[trace.count - 2], "\"to\":\"Resolving\"");
	if (CHECK(at != NULL))
		memcpy(at + strlen("\"to\":\""), "Suspended", strlen("Resolving"));
	doc = document(&trace);
	CHECK_INT(replay(doc, &count, &err), ==, -1);
	CHECK_INT(count, ==, trace.count - 2);
	CHECK_HAS(err.msg, "exited: the trace has Suspended and");
	CHECK_HAS(err.msg, "this code does Resolving and");
	life_trace_release(&trace);
	life_release(&l);
}

TEST(facts_of_many_snapshots_are_left_out)
{
	struct candidate candidates[TRACE_CANDIDATES + 1] = {{.source = 0}};
	struct facts facts = {.candidates = candidates, .candidate_count = TRACE_CANDIDATES};
	struct event event = {.type = EVENT_OBSERVED, .observed.facts = &facts};
	cleanup_json struct json *all = life_trace_event(&event);
	cleanup_json struct json *none = NULL;

	CHECK_INT(json_len(json_get(json_get(all, "facts"), "candidates")), ==, TRACE_CANDIDATES);
	facts.candidate_count++;
	none = life_trace_event(&event);
	CHECK(!json_get(none, "facts"));
	CHECK(json_bool_or(none, "omitted", false));
}

TEST(a_trace_that_has_lost_its_beginning_is_not_repeated)
{
	struct life_trace trace = {.count = 0};
	struct event tick = {.type = EVENT_TICK};
	cleanup_json struct json *doc = NULL;
	struct err err = {0};
	struct life l;
	size_t count = 0;

	life_begin(&l);
	life_trace_begin(&trace, &l.life);
	for (int i = 0; i < TRACE_STEPS + 7; i++)
		traced(&l, &trace, &tick);
	CHECK_INT(trace.count, ==, TRACE_STEPS);
	CHECK_INT(trace.dropped, ==, 7);
	CHECK(trace.begin == NULL);
	doc = document(&trace);
	CHECK_INT(replay(doc, &count, &err), ==, -1);
	CHECK_HAS(err.msg, "7 steps");
	life_trace_release(&trace);
	life_release(&l);
}

TEST(a_trace_stays_small)
{
	struct life_trace trace = {.count = 0};
	char *text = xcalloc(1, 2 * TRACE_STEP_BYTES);
	struct event event = {.type = EVENT_DISPOSED, .disposed.path = text};
	cleanup_json struct json *doc = NULL;
	struct err err = {0};
	struct life l;
	size_t count = 0;

	memset(text, 'a', 2 * TRACE_STEP_BYTES - 1);
	life_begin(&l);
	life_trace_begin(&trace, &l.life);
	traced(&l, &trace, &event);
	CHECK(trace.bytes < 300);
	doc = document(&trace);
	CHECK_INT(replay(doc, &count, &err), ==, -1);
	CHECK_HAS(err.msg, "too large");
	text[TRACE_STEP_BYTES - 300] = 0;
	for (int i = 0; i < 50; i++)
		traced(&l, &trace, &event);
	CHECK(trace.bytes <= TRACE_BYTES);
	CHECK_INT(trace.count + (size_t)trace.dropped, ==, 51);
	free(text);
	life_trace_release(&trace);
	life_release(&l);
}

TEST(an_event_is_a_line_for_people)
{
	struct view view = job_in(JOB_RUNNING);
	struct event event = {.type = EVENT_VIEW, .view = view};
	cleanup_json struct json *doc = life_trace_event(&event);
	struct buf text = BUF_INIT;

	life_trace_event_text(doc, &text);
	CHECK_STR(buf_str(&text), "view reachable jobPresent state=RUNNING statisticsKnown");
	buf_release(&text);
}
