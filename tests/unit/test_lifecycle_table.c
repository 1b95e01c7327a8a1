/*
 * Tries every phase with every event. The results are the table between the two marks in
 * docs/reference/lifecycle.md, which must match what the code does:
 *
 *   make docs-lifecycle        rewrites the table (DREY_RENEW_DOCS=1 does the same here)
 */
#include <stdlib.h>

#include "base/buf.h"
#include "doc_file.h"
#define LIFE_ONCE
#include "life.h"

#define DOC   "docs/reference/lifecycle.md"
#define BEGIN "<!-- table: begin (make docs-lifecycle) -->\n"
#define END   "<!-- table: end -->\n"

#define STRANGE_JOB "ffffffffffffffffffffffffffffffff"

/* ---- situations: a point in the life of an application */

static void resolving(struct life *l)
{
	hello(l, NULL);
}

static void holding(struct life *l)
{
	hello(l, NULL);
	observed(l, DECISION_HOLD, NULL, 0, NULL);
}

static void writing(struct life *l)
{
	hello(l, NULL);
	l->hold_writes = true;
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
}

static void starting(struct life *l)
{
	hello(l, NULL);
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
}

static void live(struct life *l)
{
	starting(l);
	started(l);
}

static void running(struct life *l)
{
	l->config.on_sigterm = SIGTERM_SAVEPOINT;
	live(l);
	viewed(l, job_restored(JOB_RUNNING, 50, SAVEPOINT_1));
}

static void in_savepoint(struct life *l)
{
	running(l);
	ask_savepoint(l, "n1");
	operation(l, STATUS_ACCEPTED, NULL, NULL);
}

static void want_checkpoint(struct life *l)
{
	struct event e = {.type = EVENT_CONTROL, .control.fields = CONTROL_CHECKPOINT};

	e.control.checkpoint_nonce = "c1";
	step(l, &e);
}

static void checkpoint_says(struct life *l, enum operation_status status, const char *location)
{
	char id[JOB_ID_BYTES];
	struct event e = {.type = EVENT_CHECKPOINT,
			  .checkpoint = {.trigger_id = id, .status = status}};

	memcpy(id, l->life.checkpoint.id, JOB_ID_BYTES);
	e.checkpoint.checkpoint_id = location ? 52 : 0;
	e.checkpoint.location = location;
	step(l, &e);
}

static void in_checkpoint(struct life *l)
{
	running(l);
	want_checkpoint(l);
	checkpoint_says(l, STATUS_ACCEPTED, NULL);
}

static void in_stop(struct life *l)
{
	running(l);
	desire(l, DESIRED_SUSPENDED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
}

static void in_cancel(struct life *l)
{
	running(l);
	desire(l, DESIRED_CANCELLED);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
}

static void ending(struct life *l)
{
	running(l);
	viewed(l, job_in(JOB_FAILED));
}

static void suspended(struct life *l)
{
	in_stop(l);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	inspected(l, true, true);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(0));
}

static void cancelled(struct life *l)
{
	in_cancel(l);
	viewed(l, job_in(JOB_CANCELED));
	exited(l, EXITED(0));
}

static void finished(struct life *l)
{
	running(l);
	viewed(l, job_in(JOB_FINISHED));
	exited(l, EXITED(0));
}

static void failed(struct life *l)
{
	l->config.max_attempts = 1;
	ending(l);
	exited(l, EXITED(143));
}

static void terminating(struct life *l)
{
	running(l);
	l->config.on_sigterm = SIGTERM_KEEP;
	stopping(l, 60000);
}

static const struct situation {
	enum phase phase;
	const char *what;
	void (*reach)(struct life *l);
} situations[] = {
	{PHASE_RESOLVING, "drey reads the sources", resolving},
	{PHASE_HOLDING, "a launch is not possible", holding},
	{PHASE_LAUNCHING, "drey records the launch", writing},
	{PHASE_LAUNCHING, "drey-init was asked to launch", starting},
	{PHASE_LAUNCHING, "Flink is alive", live},
	{PHASE_RUNNING, "no operation is in flight (`onSigterm: savepoint`)", running},
	{PHASE_RUNNING, "a savepoint is in flight", in_savepoint},
	{PHASE_RUNNING, "a requested checkpoint is in flight", in_checkpoint},
	{PHASE_STOPPING, "a stop with savepoint is in flight", in_stop},
	{PHASE_STOPPING, "a cancel is in flight", in_cancel},
	{PHASE_STOPPING, "Flink was told to end", ending},
	{PHASE_SUSPENDED, "parked", suspended},
	{PHASE_CANCELLED, "parked", cancelled},
	{PHASE_FINISHED, "parked", finished},
	{PHASE_FAILED, "parked (one attempt was allowed)", failed},
	{PHASE_TERMINATING, "Flink was told to end", terminating},
};

/* ---- events */

static void hello_none(struct life *l)
{
	write_lands(l);
	restart_agent(l);
	hello(l, NULL);
}

static void hello_ours(struct life *l)
{
	char job_id[JOB_ID_BYTES];

	if (!*job_of(l))
		return;
	snprintf(job_id, sizeof(job_id), "%s", job_of(l));
	write_lands(l);
	restart_agent(l);
	hello(l, job_id);
}

static void hello_strange(struct life *l)
{
	write_lands(l);
	restart_agent(l);
	hello(l, STRANGE_JOB);
}

static void tick(struct life *l)
{
	struct event e = {.type = EVENT_TICK};
	int64_t next = lifecycle_deadline_ms(&l->life);

	if (next < 0)
		return;
	l->now_ms = next > l->now_ms ? next : l->now_ms;
	step(l, &e);
}

static void observed_start(struct life *l)
{
	observed(l, DECISION_START_FROM, SAVEPOINT_1, 50, NULL);
}

static void observed_hold(struct life *l)
{
	observed(l, DECISION_HOLD, NULL, 0, NULL);
}

/* Have a write in flight in any situation. */
static void write_something(struct life *l)
{
	struct event e = {.type = EVENT_INSPECTED}; /* not requested */

	if (l->life.requested != l->life.acknowledged)
		return;
	l->hold_writes = true;
	l->life.want_write = true;
	step(l, &e);
	forget(l);
}

static void write_succeeds(struct life *l)
{
	write_something(l);
	l->hold_writes = false;
	written(l);
}

static void write_fails(struct life *l)
{
	write_something(l);
	write_failed(l, false);
}

static void journal_seen(struct life *l)
{
	journal_checked(l, false);
}

static void journal_lost(struct life *l)
{
	journal_checked(l, true);
}

static void write_conflicts(struct life *l)
{
	write_something(l);
	write_failed(l, true);
}

static void exits_0(struct life *l)
{
	exited(l, EXITED(0));
}

static void is_killed(struct life *l)
{
	exited(l, KILLED(9));
}

static void view_nothing(struct life *l)
{
	viewed(l, (struct view){.reachable = false});
}

static void view_running(struct life *l)
{
	viewed(l, job_restored(JOB_RUNNING, 50, SAVEPOINT_1));
}

static void view_proven(struct life *l)
{
	struct view view = job_restored(JOB_RUNNING, 50, SAVEPOINT_1);

	view.completed_id = 51;
	view.completed_path = CHK(51);
	viewed(l, view);
}

static void view_savepoint(struct life *l)
{
	struct seen_savepoint savepoint = {.id = 60, .path = "file:/elsewhere/savepoint-2"};
	struct view view = job_restored(JOB_RUNNING, 50, SAVEPOINT_1);

	view.savepoints = &savepoint;
	view.savepoint_count = 1;
	viewed(l, view);
}

static void view_wrong(struct life *l)
{
	viewed(l, job_restored(JOB_RUNNING, 7, CHK(7)));
}

static void view_restarting(struct life *l)
{
	viewed(l, job_in(JOB_RESTARTING));
}

static void view_failed(struct life *l)
{
	viewed(l, job_in(JOB_FAILED));
}

static void view_cancelled(struct life *l)
{
	viewed(l, job_in(JOB_CANCELED));
}

static void view_finished(struct life *l)
{
	viewed(l, job_in(JOB_FINISHED));
}

static void op_completed(struct life *l)
{
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
}

static void op_failed(struct life *l)
{
	operation(l, STATUS_FAILED, NULL, "no");
}

static void op_unknown(struct life *l)
{
	operation(l, STATUS_UNKNOWN_ID, NULL, NULL);
}

static void op_unreachable(struct life *l)
{
	operation(l, STATUS_UNREACHABLE, NULL, NULL);
}

static void disposed(struct life *l)
{
	struct event e = {.type = EVENT_DISPOSED, .disposed.path = SAVEPOINT_1};

	step(l, &e);
}

/* Where it is requested, it follows the response immediately. */
static void inspected_good(struct life *l)
{
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	forget(l);
	inspected(l, true, true);
}

static void inspected_bad(struct life *l)
{
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	forget(l);
	inspected(l, true, false);
}

static void want_running(struct life *l)
{
	control(l, CONTROL_STATE | CONTROL_NEW_START, (struct intent){.state = DESIRED_RUNNING});
}

static void want_suspended(struct life *l)
{
	desire(l, DESIRED_SUSPENDED);
}

static void want_cancelled(struct life *l)
{
	desire(l, DESIRED_CANCELLED);
}

static void want_savepoint(struct life *l)
{
	ask_savepoint(l, "n2");
}

static void want_restart(struct life *l)
{
	ask_restart(l, "r2");
}

static void want_do_not_restart(struct life *l)
{
	do_not_restart(l, true);
}

static void want_empty(struct life *l)
{
	struct intent intent = {.restore = {.kind = RESTORE_EMPTY, .token = (char *)"t2"}};

	control(l, CONTROL_RESTORE, intent);
}

static void another_pod(struct life *l)
{
	struct event e = {.type = EVENT_CANDIDATE};

	e.candidate.present = true;
	e.candidate.party =
		(struct party){(char[]){"new"}, (char[]){"unew"}, (char[]){"g2/c1/h2"}, 0};
	e.candidate.state = CANDIDATE_PREPARED;
	e.candidate.wanted = WANTED_YES;
	e.candidate.beat = 1;
	step(l, &e);
}

static void checkpoint_completed(struct life *l)
{
	checkpoint_says(l, STATUS_COMPLETED, CHK(52));
}

static void checkpoint_fails(struct life *l)
{
	checkpoint_says(l, STATUS_FAILED, NULL);
}

static void want_parallelism(struct life *l)
{
	struct intent intent = {.parallelism = {.nonce = (char *)"p1", .all = 4}};

	control(l, CONTROL_PARALLELISM, intent);
}

static void rescaled(struct life *l)
{
	struct event e = {.type = EVENT_RESCALED,
			  .rescaled = {.launch = 1, .status = STATUS_COMPLETED}};

	step(l, &e);
}

static void lease(struct life *l)
{
	struct event e = {.type = EVENT_LEASE, .lease = {.sent_ms = l->now_ms}};

	step(l, &e);
}

static void signs_are_seen(struct life *l)
{
	signs_show(l, SIGNS_ALIVE, "checkpoint 3 was completed");
}

static void flip_is_read(struct life *l)
{
	struct event e = {.type = EVENT_FLIP, .flip = {.toggle_unix_ms = 5}};

	step(l, &e);
}

static void gates_report(struct life *l)
{
	struct event e = {.type = EVENT_GATE, .gate = {.launch_id = job_of(l)}};

	step(l, &e);
}

static void container_ends(struct life *l)
{
	stopping(l, 60000);
}

static const struct trial {
	enum event_type type;
	const char *what; /* NULL = only one kind */
	void (*send)(struct life *l);
} trials[] = {
	{EVENT_HELLO, "(new agent) no Flink runs", hello_none},
	{EVENT_HELLO, "(new agent) the last launch runs", hello_ours},
	{EVENT_HELLO, "(new agent) an unknown Flink runs", hello_strange},
	{EVENT_TICK, "the next deadline", tick},
	{EVENT_OBSERVED, "start", observed_start},
	{EVENT_OBSERVED, "hold", observed_hold},
	{EVENT_JOURNAL_WRITTEN, NULL, write_succeeds},
	{EVENT_JOURNAL_FAILED, "disk full", write_fails},
	{EVENT_JOURNAL_FAILED, "conflict", write_conflicts},
	{EVENT_JOURNAL_SEEN, "unchanged", journal_seen},
	{EVENT_JOURNAL_SEEN, "lost", journal_lost},
	{EVENT_STARTED, NULL, started},
	{EVENT_LAUNCH_FAILED, NULL, launch_failed},
	{EVENT_REFUSED, "the observation", start_refused},
	{EVENT_REFUSED, "the launch", launch_refused},
	{EVENT_EXITED, "killed", is_killed},
	{EVENT_EXITED, "status 0", exits_0},
	{EVENT_VIEW, "unreachable", view_nothing},
	{EVENT_VIEW, "running, restored as decided", view_running},
	{EVENT_VIEW, "running, first checkpoint", view_proven},
	{EVENT_VIEW, "running, savepoint from outside drey", view_savepoint},
	{EVENT_VIEW, "running, restored something else", view_wrong},
	{EVENT_VIEW, "restarting", view_restarting},
	{EVENT_VIEW, "failed", view_failed},
	{EVENT_VIEW, "cancelled", view_cancelled},
	{EVENT_VIEW, "finished", view_finished},
	{EVENT_OPERATION, "completed", op_completed},
	{EVENT_OPERATION, "failed", op_failed},
	{EVENT_OPERATION, "unknown id", op_unknown},
	{EVENT_OPERATION, "no response", op_unreachable},
	{EVENT_DISPOSED, NULL, disposed},
	{EVENT_INSPECTED, "complete", inspected_good},
	{EVENT_INSPECTED, "damaged", inspected_bad},
	{EVENT_CONTROL, "resume", want_running},
	{EVENT_CONTROL, "suspend", want_suspended},
	{EVENT_CONTROL, "cancel", want_cancelled},
	{EVENT_CONTROL, "savepoint", want_savepoint},
	{EVENT_CONTROL, "checkpoint", want_checkpoint},
	{EVENT_CONTROL, "restart", want_restart},
	{EVENT_CONTROL, "do-not-restart on", want_do_not_restart},
	{EVENT_CONTROL, "restore request", want_empty},
	{EVENT_CHECKPOINT, "completed", checkpoint_completed},
	{EVENT_CHECKPOINT, "failed", checkpoint_fails},
	{EVENT_CONTROL, "parallelism", want_parallelism},
	{EVENT_STOPPING, NULL, container_ends},
	{EVENT_CANDIDATE, "without hand-overs", another_pod},
	{EVENT_RESCALED, "without a request", rescaled},
	{EVENT_LEASE, "without a lease object", lease},
	{EVENT_GATE, "without hand-overs", gates_report},
	{EVENT_FLIP, "without hand-overs", flip_is_read},
	{EVENT_SIGNS, "not asked for", signs_are_seen},
};

/* ---- the table */

static void add_effects(struct buf *out, const char *order)
{
	static const char letters[] = "OWLPTQIDSAXn....CR.GF"; /* as in life.h */

	for (const char *c = order; *c; c++)
		buf_addf(out, "%s%s", c > order ? ", " : "",
			 effect_type_name((enum effect_type)(strchr(letters, *c) - letters)));
}

static void add_name(struct buf *out, const struct trial *trial)
{
	buf_addf(out, "`%s`%s%s", event_type_name(trial->type), trial->what ? " " : "",
		 trial->what ? trial->what : "");
}

/* One pair, on an application of its own. */
static void try_pair(const struct situation *situation, const struct trial *trial, struct buf *out,
		     struct buf *idle)
{
	enum phase before;
	struct life l;

	life_begin(&l);
	situation->reach(&l);
	before = l.life.phase;
	l.any_event = true;
	CHECK_STR(phase_name(before), phase_name(situation->phase));
	forget(&l);
	trial->send(&l);
	if (l.life.phase == before && !*l.order) {
		buf_addstr(idle, idle->len_bytes ? "; " : "");
		add_name(idle, trial);
	} else {
		buf_addstr(out, "| ");
		add_name(out, trial);
		buf_addf(out, " | %s%s%s | ", l.life.phase == before ? "" : "`",
			 l.life.phase == before ? "" : phase_name(l.life.phase),
			 l.life.phase == before ? "" : "`");
		add_effects(out, l.order);
		buf_addstr(out, " |\n");
	}
	life_release(&l);
}

static void print_table(struct buf *out)
{
	for (size_t i = 0; i < ARRAY_LEN(situations); i++) {
		cleanup_buf struct buf idle = BUF_INIT;

		buf_addf(out,
			 "\n### `%s`: %s\n\n| Event | Then | Effects, in this order "
			 "|\n|---|---|---|\n",
			 phase_name(situations[i].phase), situations[i].what);
		for (size_t k = 0; k < ARRAY_LEN(trials); k++)
			try_pair(&situations[i], &trials[k], out, &idle);
		buf_addf(out, "\nNo visible effect: %s.\n", buf_str(&idle));
	}
	buf_addstr(out, "\n");
}

/* ---- the document */

TEST(the_table_in_the_document_is_what_the_code_does)
{
	cleanup_buf struct buf table = BUF_INIT;

	print_table(&table);
	doc_check_tables(DOC, BEGIN, END, &table);
}

TEST(every_phase_and_every_event_is_in_the_table)
{
	for (int i = 0; i < PHASE_COUNT; i++) {
		bool found = false;

		/* of a pod that is not the owner: core/handover/standby.h has its machine */
		if (i == PHASE_STANDBY || i == PHASE_PREPARED || i == PHASE_HANDED_OVER ||
		    i == PHASE_SHADOW)
			continue;
		for (size_t k = 0; k < ARRAY_LEN(situations); k++)
			found = found || situations[k].phase == (enum phase)i;
		CHECK(found);
	}
	for (int i = 0; i < EVENT_COUNT; i++) {
		bool found = false;

		for (size_t k = 0; k < ARRAY_LEN(trials); k++)
			found = found || trials[k].type == (enum event_type)i;
		CHECK(found);
	}
}
