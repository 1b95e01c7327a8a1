/*
 * A launch: its intent is written to the journal, and only then Flink is started (lifecycle_started.c).
 */
#include "core/lifecycle/lifecycle_launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_effects.h"
#include "core/lifecycle/lifecycle_fence.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_handover_state.h"
#include "core/lifecycle/lifecycle_ids.h"
#include "core/lifecycle/lifecycle_lease.h"
#include "core/lifecycle/lifecycle_look.h"
#include "core/lifecycle/lifecycle_loss.h"
#include "core/lifecycle/lifecycle_pace.h"
#include "core/lifecycle/lifecycle_transition_wishes.h"
#include "core/resolve/flink_choice.h"

/* The last launch never left drey, and this is the same start again. It replaces that launch and
 * takes its id: otherwise many tries of a held start would use up the numbered ids and push
 * launches that ran out of the journal. A start from another snapshot does not replace it: with a
 * journal from a backup the two would be confused. */
static bool is_repetition(const struct lifecycle *life, const struct decision *decision,
			  const struct candidate *from)
{
	const struct launch *last = journal_launch_const(&life->journal);

	return life->launch_void && xstrsame(last->request_token, decision->token) &&
	       xstrsame(last->restore_path, from ? from->snapshot.path : NULL);
}

/* The id was not drawn: a launch that continues has the id of another one. */
static bool take_void_id(struct lifecycle *life, const struct facts *facts,
			 char job_id[JOB_ID_BYTES])
{
	const struct launch *last = journal_launch(&life->journal);
	struct journal before = life->journal;

	before.launch_count--;
	memcpy(job_id, last->job_id, JOB_ID_BYTES);
	return !flink_id_is_used(&before, facts, job_id);
}

/* The launch that it replaces never left drey. With its launch id, what the copy of the journal says of that one
 * is about this one, and does not use up the job id. */
static void keep_launch_id(const struct lifecycle *life, const char *job_id,
			   char ret_launch_id[JOB_ID_BYTES])
{
	const struct launch *last = journal_launch_const(&life->journal);

	if (!strcmp(last->job_id, job_id))
		memcpy(ret_launch_id, last->launch_id, JOB_ID_BYTES);
}

/* launch_id: of the launch that this one replaces; "" = none. */
static void fill_new_ids(struct lifecycle *life, struct launch *launch, const char *job_id,
			 const char *launch_id, bool held)
{
	const struct lifecycle_config *config = life->config;

	memcpy(launch->job_id, job_id, JOB_ID_BYTES);
	if (held) { /* Flink was started with them */
		const struct handover *handover = &life->journal.handover;

		memcpy(launch->launch_id, handover->launch_id, JOB_ID_BYTES);
		if (config->application_ids)
			memcpy(launch->application_id, handover->application_id, JOB_ID_BYTES);
	} else {
		if (*launch_id)
			memcpy(launch->launch_id, launch_id, JOB_ID_BYTES);
		else
			rng_hex_id(&life->rng, launch->launch_id);
		if (config->application_ids)
			rng_hex_id(&life->rng, launch->application_id);
	}
	launch_name_results(launch, config->result_store_dir);
}

/* The previous launch continues: to Flink it is the same one. */
static void fill_same_ids(struct launch *launch, const struct launch *before)
{
	memcpy(launch->job_id, before->job_id, JOB_ID_BYTES);
	memcpy(launch->launch_id, before->launch_id, JOB_ID_BYTES);
	memcpy(launch->application_id, before->application_id, JOB_ID_BYTES);
	launch->job_result_path = xstrdup(before->job_result_path);
	launch->application_result_path = xstrdup(before->application_result_path);
}

/* A launch that continues needs its predecessor in the list. */
static bool is_renewal(const struct lifecycle *life, const struct decision *decision,
		       const struct candidate *from)
{
	const struct journal *journal = &life->journal;
	size_t count = journal->launch_count;

	return is_repetition(life, decision, from) &&
	       (decision->kind != DECISION_CONTINUE ||
		(count > 1 && !strcmp(journal->launches[count - 1].job_id,
				      journal->launches[count - 2].job_id)));
}

static const struct candidate *start_of(const struct decision *decision, const struct facts *facts)
{
	return decision->kind == DECISION_START_EMPTY ? NULL
						      : &facts->candidates[decision->candidate];
}

static struct launch *add_launch(struct lifecycle *life, const struct decision *decision,
				 const struct facts *facts, const char *job_id, bool held)
{
	const struct candidate *from = start_of(decision, facts);
	enum side output_side = transition_output_side(life, from ? &from->snapshot : NULL);
	bool renews = !held && is_renewal(life, decision, from);
	char launch_id[JOB_ID_BYTES] = "";
	struct launch *launch;

	if (renews)
		keep_launch_id(life, job_id, launch_id);
	launch = renews ? journal_renew_launch(&life->journal) : journal_add_launch(&life->journal);

	life->launch_void = false;
	if (decision->kind == DECISION_CONTINUE)
		fill_same_ids(launch, launch - 1);
	else
		fill_new_ids(life, launch, job_id, launch_id, held);
	launch->held = held;
	launch->output_side = output_side;
	launch->generation = xstrdup(life->config->generation);
	launch->flink_version = xstrdup(life->config->flink_version);
	launch->checkpoint_dir = xstrdup(life->config->listed_checkpoint_dir);
	launch->savepoint_dir = xstrdup(life->config->listed_savepoint_dir);
	launch->ha_cluster_id = xstrdup(life->config->ha_cluster_id);
	launch->intended_unix_ms = life->now_unix_ms;
	launch->allow_non_restored = decision->allow_non_restored;
	launch->request_token = xstrdup(decision->token);
	launch->writer = xstrdup(life->journal.writer);
	if (decision->kind == DECISION_CONTINUE)
		launch->checkpoints_before = signs_before(facts, launch->job_id);
	if (!from)
		return launch;
	launch->restore_path = xstrdup(from->snapshot.path);
	launch->restore_kind = from->snapshot.kind;
	launch->restore_checkpoint_id = from->snapshot.checkpoint_id;
	launch->restore_completed_unix_ms =
		journal_completed_unix_ms(&life->journal, &from->snapshot);
	return launch;
}

/* Move the last one to its place: the list is oldest first. */
static void sort_last(struct journal *journal)
{
	for (size_t i = journal->snapshot_count; i-- > 1;) {
		struct snapshot *earlier = &journal->snapshots[i - 1];
		struct snapshot last = journal->snapshots[i];

		if (earlier->completed_unix_ms <= last.completed_unix_ms)
			return;
		journal->snapshots[i] = *earlier;
		*earlier = last;
	}
}

/* Remember the verification, so that it is not repeated if this start fails. Only a _metadata that
 * the storage gives a version can be recognised as unchanged. */
static void remember_verified(struct lifecycle *life, const struct candidate *from)
{
	const struct snapshot *seen = &from->snapshot;
	struct snapshot *known = NULL;

	if (!seen->verified || !seen->metadata_unix_ms || !seen->metadata_bytes)
		return;
	for (size_t i = 0; i < life->journal.snapshot_count; i++)
		if (snapshot_same_path(life->journal.snapshots[i].path, seen->path))
			known = &life->journal.snapshots[i];
	if (!known) {
		journal_add_snapshot(&life->journal, seen);
		known = &life->journal.snapshots[life->journal.snapshot_count - 1];
	}
	known->checkpoint_id = seen->checkpoint_id;
	known->size_bytes = seen->size_bytes;
	known->file_count = seen->file_count;
	known->verified = true;
	known->verified_unix_ms =
		seen->verified_unix_ms ? seen->verified_unix_ms : life->now_unix_ms;
	known->metadata_unix_ms = seen->metadata_unix_ms;
	known->metadata_bytes = seen->metadata_bytes;
	known->metadata_version = from->metadata_version;
	sort_last(&life->journal);
}

/* A generation other than the last one has its own attempts, and the outcome of the previous one
 * does not bind it. An upgrade without a savepoint is logged. */
static void greet_generation(struct lifecycle *life, const struct candidate *from)
{
	const struct launch *last = journal_launch(&life->journal);
	const char *generation = life->config->generation;
	bool checkpoint = from && from->snapshot.kind == SNAPSHOT_CHECKPOINT;

	if (!last || !last->generation || !generation || !strcmp(last->generation, generation))
		return;
	life->journal.failure_count = 0;
	note(life,
	     checkpoint && life->config->upgrade == UPGRADE_BY_SAVEPOINT ? NOTE_WARNING : NOTE_INFO,
	     "generation %s follows %s, %s%s%s", generation, last->generation,
	     from ? "from " : "without state",
	     checkpoint ? "the newest checkpoint, since there is no newer savepoint: " : "",
	     from ? from->snapshot.path : "");
}

/* This decision has considered all jobs in Flink's HA: they are known at the next one. */
static void remember_ha_jobs(struct journal *journal, const struct facts *facts)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		const char *job;

		for (size_t k = 0; (job = facts_ha_job(&facts->candidates[i], k)); k++)
			if (*job && !journal_knows_job(journal, job))
				journal_add_unknown_job(journal, job);
	}
}

static void hold_launch(struct lifecycle *life, enum cause cause, int rule, const char *why)
{
	struct decision held = {.kind = DECISION_HOLD, .cause = cause, .rule = rule};

	snprintf(held.reason, sizeof(held.reason), "%s", why);
	hold(life, &held);
}

/* It would be killed at once, or comes too soon after the others. What is decided then may be another start. */
bool launch_must_wait(struct lifecycle *life)
{
	bool late = !lease_leaves_time(life);
	int64_t due_ms = pace_launch_ms(life);
	const char *why;
	enum cause cause;

	life->late_again = late && life->hurried;
	life->hurried = false;
	if (late) {
		cause = lease_that_ends(life, &why);
		hold_launch(life, cause, 0, why);
		/* while it holds, nothing else reads the journal: by the next retry it would be too long ago again */
		/* MUT: who holds because the journal was not read does not read it */
		if (cause == CAUSE_JOURNAL_UNREADABLE)
			check_journal(life);
		return true;
	}
	if (!due_ms)
		return false;
	enter(life, PHASE_RESOLVING,
	      "Flink was started %d times in a minute; the next time in %lld s", pace_count(life),
	      (long long)((due_ms - life->now_ms + 999) / 1000));
	life->retry_ms = due_ms;
	return true;
}

/* NULL, or why there is none; the caller frees. */
static char *choose_job_id(struct lifecycle *life, const struct decision *decision,
			   const struct facts *facts, const bool *names,
			   char ret_job_id[JOB_ID_BYTES], enum cause *ret_cause)
{
	const struct launch *last = journal_launch(&life->journal);
	char *why;

	if (decision->kind == DECISION_CONTINUE && last) {
		memcpy(ret_job_id, last->job_id, JOB_ID_BYTES);
		return NULL;
	}
	if (is_repetition(life, decision, start_of(decision, facts)) &&
	    take_void_id(life, facts, ret_job_id))
		return NULL;
	why = job_ids_unread(life, facts, ret_cause);
	return why ? why : draw_job_id(life, facts, names, ret_job_id);
}

void begin_launch(struct lifecycle *life, const struct decision *decision,
		  const struct facts *facts)
{
	const struct candidate *from = start_of(decision, facts);
	char job_id[JOB_ID_BYTES] = "";
	enum cause cause = CAUSE_JOB_IDS_USED_UP;
	cleanup_free bool *names = NULL;
	char *why = NULL;
	struct launch *launch;
	bool held;

	if (launch_must_wait(life))
		return;
	names = job_ids_decided(life, facts);
	if (job_ids_look_first(life, facts, names))
		return;
	held = handover_held_id(life, decision, facts, job_id);
	if (!held && !handover_frees_flink(life)) {
		hold_launch(
			life, CAUSE_FLINK_STILL_RUNS, 0,
			"the Flink that waits in main() is not to be used, and is being killed");
		return;
	}
	if (!held)
		why = choose_job_id(life, decision, facts, names, job_id, &cause);
	if (why && cause == CAUSE_JOB_IDS_USED_UP && job_ids_look_on(life, facts, names)) {
		free(why);
		return;
	}
	if (!why && !flink_obeys(facts, decision, job_id, from ? from->snapshot.path : NULL, &why))
		cause = CAUSE_FLINK_WOULD_DISOBEY;
	if (why) {
		hold_launch(life, cause, decision->rule, why);
		free(why);
		return;
	}
	job_ids_chosen(life);
	/* this decision has considered all earlier launches */
	for (size_t i = 0; i < life->journal.launch_count; i++)
		life->journal.launches[i].end_known = true;
	greet_generation(life, from);
	/* any outcome had expired, or there would be no start */
	outcome_release(&life->journal.outcome);
	remember_ha_jobs(&life->journal, facts);
	copy_remember_jobs(&life->journal, facts);
	launch = add_launch(life, decision, facts, job_id, held);
	loss_begin(life, decision, facts, launch);
	launch->adopted = decision->adopted;
	/* what was adopted is the application's as soon as Flink has restored it */
	if (from && !decision->adopted)
		remember_verified(life, from);
	if (decision->token)
		/* MUT: a request is not remembered as carried out */
		journal_consume(&life->journal, decision->token);
	if (decision->permit)
		journal_consume(&life->journal, decision->permit);
	journal_withdraw_restore_of_others(&life->journal, life->config->generation);
	xstrset(&life->journal.restart_nonce_done, life->journal.intent.restart_nonce);
	life->launch_step = LAUNCH_WRITING;
	enter(life, PHASE_LAUNCHING, "launch %" PRId64 ", job id %s, rule %d: %s", launch->number,
	      launch->job_id, decision->rule, decision->reason);
	emit_after_write(life, EFFECT_LAUNCH);
}

void launch_never_started(struct lifecycle *life, struct launch *launch)
{
	launch->ended_unix_ms = life->now_unix_ms;
	launch->wait_status = -1;
	launch->never_started = true;
	life->want_write = true;
}

void launch_withdraw(struct lifecycle *life)
{
	struct launch *launch = journal_launch(&life->journal);

	if (life->launch_step != LAUNCH_WRITING)
		return;
	withdraw(life, EFFECT_LAUNCH);
	life->launch_step = LAUNCH_NONE;
	life->launch_void = true;
	launch_never_started(life, launch);
}

bool is_current_launch(struct lifecycle *life, const char *launch_id, int64_t number)
{
	const struct launch *launch = journal_launch(&life->journal);

	return launch && launch_id && !strcmp(launch->job_id, launch_id) &&
	       (!number || number == launch->number);
}
