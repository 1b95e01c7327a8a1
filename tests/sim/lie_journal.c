/*
 * A journal that is lost, its copy beside the checkpoints, and the traces of launches: the copy goes through its own
 * codec and is written at its own pace, as in run/journal/journal_copy_part.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tests/sim/sim.h"

#define COPY_URI "file:/cp/.drey/sim/journal.json"

static const struct lie *bad_copy(const struct world *w)
{
	for (int i = 0; i < LIES_AT_ONCE; i++)
		if (w->lies.now[i].told && w->lies.now[i].kind == LIE_BAD_COPY)
			return &w->lies.now[i];
	return NULL;
}

/* ---- writing ---- */

/* May the journal as it is stored replace what is there? */
static bool may_replace(const struct world *w)
{
	const struct journal *stored = &w->store.image->journal;
	struct journal_copy there = {.head = {.application = stored->application},
				     .journal = w->lies.copy->journal};

	return !w->lies.copied || journal_copy_judge(stored, &there, NULL) == COPY_REPLACE ||
	       journal_copy_is_overtaken(stored, &there);
}

static void write_copy(struct world *w)
{
	const struct journal *stored = &w->store.image->journal;
	struct lies *lies = &w->lies;
	struct copy_mark mark;
	int64_t wait_ms = 0;

	if (!w->store.exists || !stored->launch_count || !may_replace(w))
		return;
	mark = journal_copy_mark(stored);
	switch (copy_pace_next(&lies->pace, &mark, false, w->now_ms + MONOTONIC_BASE_MS,
			       &wait_ms)) {
	case COPY_REST:
		break;
	case COPY_LATER:
		if (!lies->copy_due)
			plan(w, wait_ms, ITEM_COPY, SCOPE_WORLD);
		lies->copy_due = true;
		break;
	case COPY_NOW:
		copy_pace_begin(&lies->pace, w->now_ms + MONOTONIC_BASE_MS);
		image_put(lies->copy, stored);
		lies->copied = true;
		copy_pace_wrote(&lies->pace, &mark);
		break;
	}
}

void lie_journal_landed(struct world *w)
{
	write_copy(w);
}

void lie_journal_item(struct world *w, const struct item *item)
{
	(void)item;
	w->lies.copy_due = false;
	write_copy(w);
}

void lie_lose_journal(struct world *w, bool copy)
{
	store_lose(w);
	if (!copy)
		return;
	w->lies.copied = false;
	w->lies.pace = (struct copy_pace){0};
}

/* ---- reading ---- */

/* As in run/observe/observe_copy.c. */
static bool copy_is_needed(const struct journal *journal, const struct facts *facts)
{
	bool later = journal->ever_proven || journal->snapshot_count;

	for (size_t i = 0; i < journal->launch_count; i++)
		later = later || journal->launches[i].started_unix_ms;
	return !later || facts->ended == JOB_END_FINISHED || facts->ended == JOB_END_STOPPED ||
	       facts->ended == JOB_END_CANCELED;
}

static void encode_copy(const struct world *w, struct buf *text)
{
	const struct lie *bad = bad_copy(w);
	struct journal_copy_head head = {.application = w->lies.copy->journal.application,
					 .place = "a file",
					 .drey_version = "1",
					 .written_unix_ms = unix_now(w)};
	struct journal journal;
	struct err err = {0};

	journal_copy(&journal, &w->lies.copy->journal);
	journal_copy_encode(&journal, &head, text, &err);
	journal_release(&journal);
	if (bad && text->len_bytes)
		text->data[bad->salt % text->len_bytes] ^= 1;
}

static void observe_copy(struct world *w, struct facts *facts)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct journal_copy *copy = NULL;
	struct err err = {0};
	const struct launch *last = journal_launch_const(&w->agent->life.journal);

	if (!copy_is_needed(&w->agent->life.journal, facts)) {
		facts_set_source(facts, SOURCE_COPY, SOURCE_NOT_CONFIGURED, NULL);
		return;
	}
	if (!w->lies.copied) {
		facts_set_source(facts, SOURCE_COPY, SOURCE_ABSENT, "there is none");
		return;
	}
	encode_copy(w, &text);
	if (journal_copy_decode(buf_str(&text), text.len_bytes, &copy, &err) < 0) {
		facts_set_source(facts, SOURCE_COPY, SOURCE_PRESENT, err.msg);
		return;
	}
	copy->uri = xstrdup(COPY_URI);
	facts_set_source(facts, SOURCE_COPY, SOURCE_PRESENT, "read");
	facts_take_copy(facts, copy, last ? last->launch_id : "");
}

/* As in run/observe/observe_traces.c. */
static void observe_traces(struct world *w, struct facts *facts)
{
	facts->results_listed.state = SOURCE_ABSENT;
	for (int i = 0; i < w->truth.count; i++) {
		struct truth_launch *truth = &w->truth.launches[i];
		struct trace trace = {.name = truth->job_id, .path = "file:/results"};

		if (lie_ha(w, i)->exists) {
			trace.kind = TRACE_HA;
			trace.surely_ours = true;
			facts_add_trace(facts, &trace);
		}
		if (truth->end == JOB_END_NONE)
			continue;
		facts->results_listed.state = SOURCE_PRESENT;
		trace = (struct trace){.kind = TRACE_RESULT,
				       .name = truth->job_id,
				       .path = "file:/results",
				       .unix_ms = truth->end_unix_ms,
				       /* listed, but not found */
				       .end = lie_hides_end_of(w, i) ? JOB_END_NONE : truth->end};
		facts_add_trace(facts, &trace);
	}
}

void lie_observe_journal(struct world *w, struct facts *facts)
{
	if (!w->agent->life.journal.launch_count && !w->agent->life.journal.former_job_count)
		observe_traces(w, facts);
	observe_copy(w, facts);
}

/* ---- the oracle ---- */

bool lie_leaves_end(const struct world *w)
{
	return !w->truth.journal_changed ||
	       (!w->chaos.journal_back_ms && w->config->policy.foreign == FOREIGN_HOLD);
}

bool lie_is_unverified(const struct world *w, int index)
{
	const struct journal *journal = &w->store.image->journal;

	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];

		if (!strcmp(launch->job_id, w->truth.launches[index].job_id))
			return launch->restore_path && !launch->request_token &&
			       !launch->verified_unix_ms;
	}
	return false;
}

bool lie_adopts_savepoint(const struct world *w, int base)
{
	return has(w, FEATURE_LIES) && w->config->policy.restore == POLICY_SAVEPOINT && base >= 0 &&
	       snap_usable(&w->storage.snaps[base]) &&
	       journal_launch_const(&w->agent->life.journal)->adopted;
}

bool lie_leaves_whole(const struct snap *snap)
{
	return !snap->slandered && snap_usable(snap);
}

bool lie_spares_newest(const struct world *w, int base, int newest)
{
	const struct snap *snap = base >= 0 ? &w->storage.snaps[base] : NULL;

	if (!snap || snap->misread)
		return snap;
	return snap->slandered && snap_usable(snap) &&
	       (newest < 0 || snap->id > w->storage.snaps[newest].id);
}
