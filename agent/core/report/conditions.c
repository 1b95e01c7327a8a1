#include "core/report/conditions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/words.h"
#include "core/report/condition_checkpoints.h"
#include "core/report/condition_handover.h"
#include "core/report/condition_loss.h"
#include "core/report/condition_rescale.h"
#include "core/report/condition_review.h"
#include "core/report/condition_settings.h"
#include "core/report/condition_upgrade.h"
#include "core/report/readiness.h"
#include "core/resolve/lineage_dirs.h"

static const char *const condition_type_words[] = {
	[CONDITION_READY] = "Ready",
	[CONDITION_RECONCILING] = "Reconciling",
	[CONDITION_STALLED] = "Stalled",
	[CONDITION_RESTORE_VERIFIED] = "RestoreVerified",
	[CONDITION_CLUSTER_UNREACHABLE] = "ClusterUnreachable",
	[CONDITION_JOB_FAILING] = "JobFailing",
	[CONDITION_JOB_UNSTABLE] = "JobUnstable",
	[CONDITION_CHECKPOINTS_FAILING] = "CheckpointsFailing",
	[CONDITION_CHECKPOINTS_ELSEWHERE] = "CheckpointsElsewhere",
	[CONDITION_SETTINGS_OVERRIDDEN] = "SettingsOverridden",
	[CONDITION_JOURNAL_COPY_FAILING] = "JournalCopyFailing",
	[CONDITION_STATE_LOST] = "StateLost",
	[CONDITION_CHECKPOINTS_UNUSABLE] = "CheckpointsUnusable",
	[CONDITION_HANDING_OVER] = "HandingOver",
	[CONDITION_UPGRADED] = "Upgraded",
	[CONDITION_PARALLELISM] = "ParallelismAsRequested",
};
static WORDS_OF(condition_type_words, condition_type_name, enum condition_type, "unknown");

/* ---- what is counted ---- */

/* Since when it is so, without a break: 0 = it is not. A clock that was set back restarts this. */
static void watch_for(int64_t *since_unix_ms, bool is_so, int64_t now_unix_ms)
{
	if (!is_so)
		*since_unix_ms = 0;
	else if (!*since_unix_ms || *since_unix_ms > now_unix_ms)
		*since_unix_ms = now_unix_ms;
}

static bool is_silent(const struct lifecycle *life)
{
	return life->launch_step == LAUNCH_LIVE && !life->seen.reachable;
}

/* Nothing runs because that is the desired state, and not because of a problem. */
static bool is_wanted(const struct lifecycle *life)
{
	const struct intent *intent = &life->journal.intent;

	return intent->do_not_restart || intent->state != DESIRED_RUNNING;
}

/* Between two holds drey decides again, in the phase Resolving. */
static bool is_holding(const struct conditions *conditions, const struct lifecycle *life)
{
	bool looks = life->phase == PHASE_RESOLVING && life->holds && conditions->holding_unix_ms;

	return looks || (life->phase == PHASE_HOLDING && !is_wanted(life));
}

static void watch_all(struct conditions *conditions, const struct lifecycle *life,
		      int64_t now_unix_ms)
{
	watch_for(&conditions->silent_unix_ms, is_silent(life), now_unix_ms);
	watch_for(&conditions->holding_unix_ms, is_holding(conditions, life), now_unix_ms);
	watch_for(&conditions->broken_unix_ms, life->journal_broken, now_unix_ms);
}

static bool lasts(int64_t since_unix_ms, int64_t for_ms, int64_t now_unix_ms)
{
	return since_unix_ms && now_unix_ms - since_unix_ms >= for_ms;
}

/* ---- one verdict ---- */

static enum truth truth(bool value)
{
	return value ? TRUTH_TRUE : TRUTH_FALSE;
}

/* What is desired but not done yet: in one word, or NULL. */
static const char *pending(const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;
	bool live = life->phase == PHASE_RUNNING || life->phase == PHASE_LAUNCHING ||
		    life->phase == PHASE_RESOLVING;

	if (!live)
		return NULL;
	if (journal->intent.state == DESIRED_SUSPENDED)
		return "Suspending";
	if (journal->intent.state == DESIRED_CANCELLED)
		return "Cancelling";
	return journal_restart_wanted(journal) ? "Restarting" : NULL;
}

/* Why the job does not run, in one word. */
static const char *standstill(const struct lifecycle *life)
{
	const char *cause = cause_name(life->cause);

	return cause ? cause : phase_name(life->phase);
}

/* Nothing changes: this is the desired state, or all that drey can do. */
static bool rests(const struct lifecycle *life)
{
	enum desired_state wanted = life->journal.intent.state;

	return (life->phase == PHASE_SUSPENDED && wanted == DESIRED_SUSPENDED) ||
	       (life->phase == PHASE_CANCELLED && wanted == DESIRED_CANCELLED) ||
	       life->phase == PHASE_FINISHED;
}

static void judge_job(struct conditions *now, int64_t now_unix_ms)
{
	int64_t soon = restart_history_since(&now->restarts, now_unix_ms - CONDITIONS_FAILING_MS);
	int64_t late = restart_history_since(&now->restarts, now_unix_ms - CONDITIONS_UNSTABLE_MS);

	condition_say(&now->list[CONDITION_JOB_FAILING], truth(soon >= CONDITIONS_RESTARTS),
		      soon >= CONDITIONS_RESTARTS ? "ManyRestarts" : "FewRestarts",
		      "%" PRId64 " restarts in the last 10 minutes", soon);
	condition_say(&now->list[CONDITION_JOB_UNSTABLE], truth(late >= CONDITIONS_RESTARTS),
		      late >= CONDITIONS_RESTARTS ? "ManyRestarts" : "FewRestarts",
		      "%" PRId64 " restarts in the last 60 minutes", late);
}

static void judge_cluster(struct conditions *now, const struct lifecycle *life, int64_t now_unix_ms)
{
	struct condition *to = &now->list[CONDITION_CLUSTER_UNREACHABLE];

	if (life->launch_step != LAUNCH_LIVE)
		condition_say(to, TRUTH_FALSE, "NoFlink", "no Flink is running here");
	else if (life->cause == CAUSE_CLUSTER_UNREACHABLE)
		condition_say(to, TRUTH_TRUE, life->seen.reachable ? "JobUnknown" : "NoAnswer",
			      "%s", life->reason);
	else if (life->seen.reachable)
		condition_say(to, TRUTH_FALSE, "Reachable", "Flink's REST API answers");
	else if (now_unix_ms - now->silent_unix_ms < CONDITIONS_UNREACHABLE_MS)
		condition_say(to, TRUTH_FALSE, "NotYet", "Flink's REST API does not answer yet");
	else
		condition_say(to, TRUTH_TRUE, "NoAnswer",
			      "Flink is running, but its REST API has not answered for a minute");
}

static void judge_restore(struct condition *to, const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal);

	if (journal->outcome.kind == OUTCOME_RESTORE_MISMATCH)
		condition_say(to, TRUTH_FALSE, cause_name(CAUSE_RESTORE_MISMATCH), "%s",
			      journal->outcome.reason ? journal->outcome.reason : "");
	else if (!launch)
		condition_say(to, TRUTH_UNKNOWN, "NeverLaunched", "there has been no launch yet");
	else if (launch->verified_unix_ms)
		condition_say(to, TRUTH_TRUE, launch->restore_path ? "Restored" : "StartedEmpty",
			      "%s",
			      launch->restore_path ? launch->restore_path
						   : "started without state, as decided");
	else
		condition_say(to, TRUTH_UNKNOWN, "Pending",
			      "Flink has not reported yet what it restored");
}

/* The directory of its checkpoints, according to the newest one. */
static void judge_directory(struct condition *to, const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	const char *told = life->config->listed_checkpoint_dir;
	char *dir = NULL;

	if (launch && launch->checkpoint_dir)
		told = launch->checkpoint_dir;
	if (!launch || !launch->last_checkpoint_path || !told)
		condition_say(to, TRUTH_UNKNOWN, "NoCheckpoint",
			      "this launch has no checkpoint yet");
	else if (!lineage_dir_is_another(launch, told, &dir))
		condition_say(to, TRUTH_FALSE, "AsConfigured", "checkpoints go to %s", told);
	else if (dir)
		condition_say(
			to, TRUTH_TRUE, "AnotherDirectory",
			"checkpoints go to %s, not to %s: the job's code or its own configuration sets "
			"another checkpoint storage; remove that, or set flink.checkpointDirectory",
			dir, told);
	else
		condition_say(
			to, TRUTH_TRUE, "NoDirectory",
			"the newest checkpoint (%s) is in no directory of the job below %s: after a crash the next launch holds (CheckpointsOutOfSight), because drey cannot tell which checkpoint is the newest; let the code of the job set no checkpoint storage and no execution.checkpointing.create-subdir, and stop it with a savepoint until then",
			launch->last_checkpoint_path, told);
	free(dir);
}

static void judge_copy(struct condition *to, const struct conditions_outside *outside)
{
	if (outside->copy.off)
		condition_say(to, TRUTH_UNKNOWN, "NoCopy", "no copy of the journal is kept: %s",
			      outside->copy.off);
	else if (outside->copy.error)
		condition_say(to, TRUTH_TRUE,
			      outside->copy.newer ? "WrittenElsewhere" : "NotWritten",
			      "the copy of the journal is not up to date: %s", outside->copy.error);
	else
		condition_say(to, TRUTH_FALSE,
			      outside->copy.written_unix_ms ? "UpToDate" : "NotYet",
			      outside->copy.written_unix_ms
				      ? "the copy of the journal has its last change"
				      : "there is nothing to copy yet");
}

/* What is wrong with a job in the phase Running. */
static enum cause trouble(const struct conditions *now, const struct lifecycle *life)
{
	if (now->list[CONDITION_CLUSTER_UNREACHABLE].status == TRUTH_TRUE)
		return CAUSE_CLUSTER_UNREACHABLE;
	/* first the one that a person can do something about */
	if (!readiness_tasks_run(life) && readiness_waits_for_slots(life))
		return CAUSE_JOB_NOT_RUNNING;
	if (now->list[CONDITION_JOB_FAILING].status == TRUTH_TRUE)
		return CAUSE_JOB_FAILING;
	return readiness_tasks_run(life) ? CAUSE_NONE : CAUSE_JOB_NOT_RUNNING;
}

/* What a person has to know of a job that runs: the first that is true. */
static const struct concern {
	enum cause cause;
	enum condition_type condition;
} concerns[] = {
	{CAUSE_CHECKPOINTS_UNUSABLE, CONDITION_CHECKPOINTS_UNUSABLE},
	{CAUSE_CHECKPOINTS_FAILING, CONDITION_CHECKPOINTS_FAILING},
	{CAUSE_SETTINGS_OVERRIDDEN, CONDITION_SETTINGS_OVERRIDDEN},
	{CAUSE_STATE_LOST, CONDITION_STATE_LOST},
};

static enum cause concern(const struct conditions *now)
{
	for (size_t i = 0; i < ARRAY_LEN(concerns); i++)
		if (now->list[concerns[i].condition].status == TRUTH_TRUE)
			return concerns[i].cause;
	return CAUSE_NONE;
}

static void judge_running(struct conditions *now, const struct lifecycle *life)
{
	struct condition *to = &now->list[CONDITION_READY];
	const char *message = life->reason;
	char text[sizeof(to->message)];

	now->cause = trouble(now, life);
	/* MUT: a job in the shadow is ready */
	if (now->cause == CAUSE_NONE && life->config->handover.shadow) {
		now->cause = CAUSE_SHADOW;
		condition_say(to, TRUTH_FALSE, cause_name(CAUSE_SHADOW),
			      "the job runs, with its output shut until it takes over");
		return;
	}
	if (now->cause == CAUSE_NONE) {
		condition_say(to, TRUTH_TRUE, phase_name(life->phase), "%s", life->reason);
		/* a job that runs is ready, but a person has to know */
		now->cause = concern(now);
		return;
	}
	if (now->cause == CAUSE_CLUSTER_UNREACHABLE) {
		message = now->list[CONDITION_CLUSTER_UNREACHABLE].message;
	} else if (now->cause == CAUSE_JOB_FAILING) {
		message = now->list[CONDITION_JOB_FAILING].message;
	} else {
		readiness_sentence(life, text, sizeof(text));
		message = text;
	}
	condition_say(to, TRUTH_FALSE, cause_name(now->cause), "%s", message);
}

/* On the way to Running: with numbers, if Flink has reported any. */
static void judge_launch(struct condition *to, const struct lifecycle *life)
{
	char text[400];

	readiness_sentence(life, text, sizeof(text));
	if (life->launch_step == LAUNCH_LIVE && life->seen.tasks_missing && life->seen.job_present)
		condition_say(to, TRUTH_FALSE, standstill(life), "%s: %s", life->reason, text);
	else
		condition_say(to, TRUTH_FALSE, standstill(life), "%s", life->reason);
}

static void judge_ready(struct conditions *now, const struct lifecycle *life)
{
	struct condition *to = &now->list[CONDITION_READY];
	const char *todo = pending(life);

	now->cause = CAUSE_NONE;
	if (life->phase == PHASE_HOLDING && life->journal.intent.do_not_restart &&
	    !lifecycle_is_inert(life))
		condition_say(to, TRUTH_FALSE, cause_name(CAUSE_DO_NOT_RESTART), "%s",
			      life->reason);
	else if (life->phase == PHASE_LAUNCHING && !life->fenced)
		judge_launch(to, life);
	else if (life->fenced || (life->phase != PHASE_RUNNING && !rests(life)))
		condition_say(to, TRUTH_FALSE, standstill(life), "%s", life->reason);
	else if (todo && life->phase == PHASE_RUNNING)
		condition_say(to, TRUTH_FALSE, todo, "%s", life->reason);
	else if (life->phase == PHASE_RUNNING)
		judge_running(now, life);
	else
		condition_say(to, TRUTH_TRUE, phase_name(life->phase), "%s", life->reason);
}

static void judge_progress(struct conditions *now, const struct lifecycle *life,
			   const char *refused, int64_t now_unix_ms)
{
	const char *phase = phase_name(life->phase), *todo = pending(life);
	bool waits = life->cause == CAUSE_JOB_NOT_RUNNING ||
		     life->cause == CAUSE_CLUSTER_UNREACHABLE ||
		     life->cause == CAUSE_ATTEMPTS_REPEATED;
	bool held = lasts(now->holding_unix_ms, CONDITIONS_PATIENCE_MS, now_unix_ms);
	bool broken = lasts(now->broken_unix_ms, CONDITIONS_PATIENCE_MS, now_unix_ms) && !held;
	bool stalled = held || broken || waits || life->phase == PHASE_FAILED || life->fenced;
	bool recovers = now->cause == CAUSE_JOB_NOT_RUNNING;
	bool moving = life->phase == PHASE_RESOLVING || life->phase == PHASE_LAUNCHING ||
		      life->phase == PHASE_STOPPING || life->phase == PHASE_TERMINATING ||
		      now->holding_unix_ms;

	if (!moving && !todo && recovers)
		todo = cause_name(now->cause);
	condition_say(&now->list[CONDITION_RECONCILING], truth((moving || todo) && !stalled),
		      !moving && todo ? todo : phase, "%s", conditions_reason(now, life));
	if (held && life->phase == PHASE_RESOLVING)
		return; /* drey decides again, and nothing newer is known about the problem */
	if (broken && !life->fenced)
		condition_say(&now->list[CONDITION_STALLED], TRUTH_TRUE,
			      cause_name(CAUSE_JOURNAL_BROKEN),
			      "the journal cannot be written; no new launch until it can: %s",
			      life->journal_error ? life->journal_error : "no detail");
	else if (refused && !stalled)
		condition_say(
			&now->list[CONDITION_STALLED], TRUTH_TRUE, cause_name(CAUSE_SPEC_REFUSED),
			"the spec is rejected, the previous desired state remains in force: %s",
			refused);
	else
		condition_say(&now->list[CONDITION_STALLED], truth(stalled),
			      stalled ? standstill(life) : phase, "%s",
			      conditions_reason(now, life));
}

enum cause conditions_cause(const struct conditions *conditions, const struct lifecycle *life)
{
	return life->cause ? life->cause : conditions->cause;
}

const char *conditions_reason(const struct conditions *conditions, const struct lifecycle *life)
{
	const struct condition *ready = &conditions->list[CONDITION_READY];

	for (size_t i = 0; i < ARRAY_LEN(concerns) && !life->cause; i++)
		if (conditions->cause == concerns[i].cause)
			return conditions->list[concerns[i].condition].message;
	return conditions->cause || life->phase == PHASE_LAUNCHING ? ready->message : life->reason;
}

bool conditions_ready(const struct conditions *conditions, const struct lifecycle *life)
{
	return life->phase == PHASE_RUNNING &&
	       conditions->list[CONDITION_READY].status == TRUTH_TRUE;
}

/* ---- all of them ---- */

static void date(struct conditions *now, const struct conditions *before, int64_t now_unix_ms)
{
	for (int i = 0; i < CONDITION_COUNT; i++) {
		const struct condition *old = &before->list[i];
		struct condition *fresh = &now->list[i];

		if (old->since_unix_ms)
			fresh->since_unix_ms =
				fresh->status == old->status ? old->since_unix_ms : now_unix_ms;
		else if (now->seed[i].since_unix_ms && now->seed[i].status == fresh->status)
			fresh->since_unix_ms = now->seed[i].since_unix_ms;
		else
			fresh->since_unix_ms = now_unix_ms;
	}
}

void conditions_update(struct conditions *conditions, const struct lifecycle *life,
		       const struct conditions_outside *outside, int64_t now_unix_ms)
{
	struct conditions before = *conditions;

	conditions->generation = outside->generation;
	restart_history_update(&conditions->restarts, life, now_unix_ms);
	watch_all(conditions, life, now_unix_ms);
	judge_job(conditions, now_unix_ms);
	judge_cluster(conditions, life, now_unix_ms);
	judge_restore(&conditions->list[CONDITION_RESTORE_VERIFIED], &life->journal);
	judge_directory(&conditions->list[CONDITION_CHECKPOINTS_ELSEWHERE], life);
	condition_review(life, &conditions->list[CONDITION_CHECKPOINTS_UNUSABLE]);
	condition_settings(life, &conditions->list[CONDITION_SETTINGS_OVERRIDDEN]);
	judge_copy(&conditions->list[CONDITION_JOURNAL_COPY_FAILING], outside);
	condition_checkpoints(life, &conditions->list[CONDITION_CHECKPOINTS_FAILING]);
	condition_loss(&life->journal, &conditions->list[CONDITION_STATE_LOST]);
	condition_handover(life, &conditions->list[CONDITION_HANDING_OVER]);
	condition_upgrade(life, now_unix_ms, &conditions->list[CONDITION_UPGRADED],
			  &conditions->upgraded_unix_ms);
	condition_rescale(life, &conditions->list[CONDITION_PARALLELISM]);
	judge_ready(conditions, life);
	judge_progress(conditions, life, outside->refused, now_unix_ms);
	date(conditions, &before, now_unix_ms);
}

int64_t conditions_due_unix_ms(const struct conditions *conditions)
{
	bool stalled = conditions->list[CONDITION_STALLED].status == TRUTH_TRUE;
	int64_t since_unix_ms = conditions->holding_unix_ms ? conditions->holding_unix_ms
							    : conditions->broken_unix_ms;
	int64_t stalls_unix_ms =
		since_unix_ms && !stalled ? since_unix_ms + CONDITIONS_PATIENCE_MS : 0;
	int64_t upgraded_unix_ms = conditions->upgraded_unix_ms;

	if (!stalls_unix_ms || (upgraded_unix_ms && upgraded_unix_ms < stalls_unix_ms))
		return upgraded_unix_ms;
	return stalls_unix_ms;
}

void conditions_seed(struct conditions *conditions, const struct json *array)
{
	const struct json *each;

	json_each (each, array) {
		const char *type = json_str(each, "type"), *status = json_str(each, "status");
		const char *time = json_str(each, "lastTransitionTime");
		int64_t unix_ms;

		if (!type || !status || !time || clock_parse_rfc3339(time, &unix_ms, NULL) < 0)
			continue;
		for (int i = 0; i < CONDITION_COUNT; i++) {
			if (strcmp(type, condition_type_name((enum condition_type)i)) != 0)
				continue;
			for (int t = 0; t <= TRUTH_TRUE; t++)
				if (!strcmp(status, truth_name((enum truth)t))) {
					conditions->seed[i].status = (enum truth)t;
					conditions->seed[i].since_unix_ms = unix_ms;
					/* already judged, and it has been so for longer */
					if (conditions->list[i].since_unix_ms > unix_ms &&
					    conditions->list[i].status == (enum truth)t)
						conditions->list[i].since_unix_ms = unix_ms;
				}
		}
	}
}

/* Whole seconds, as Kubernetes writes them. */
static void add_time(struct json *to, const char *key, int64_t unix_ms)
{
	char text[CLOCK_TEXT_BYTES];

	clock_rfc3339(unix_ms, text);
	memcpy(text + strlen("2026-03-01T12:00:00"), "Z", 2);
	json_add_str(to, key, text);
}

void conditions_add(const struct conditions *conditions, struct json *to, const char *key)
{
	struct json *array = json_add_array(to, key);

	for (int i = 0; i < CONDITION_COUNT; i++) {
		const struct condition *from = &conditions->list[i];
		struct json *each = json_add_object(array, NULL);

		json_add_str(each, "type", condition_type_name((enum condition_type)i));
		json_add_str(each, "status", truth_name(from->status));
		if (conditions->generation)
			json_add_i64(each, "observedGeneration", conditions->generation);
		add_time(each, "lastTransitionTime", from->since_unix_ms);
		json_add_str(each, "reason", from->reason);
		json_add_str(each, "message", from->message);
	}
}
