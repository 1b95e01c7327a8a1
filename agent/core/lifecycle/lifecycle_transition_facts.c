/* The owner in a transition: what is known of both jobs, of the candidate, and of what people want. */
#include "core/lifecycle/lifecycle_transition_facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_handover_facts.h"
#include "core/lifecycle/lifecycle_transition_now.h"

/* The last report of a job that was stopped may come a moment after its end. */
#define REPORT_MS 3000
#define LOOKS     3 /* in a row: then it has caught up */

/* The candidate's gates acknowledge a cut within this time, or the next one is tried. */
#define ARMING_MS 60000

static const struct handover *handover_of(const struct lifecycle *life)
{
	return &life->journal.handover;
}

static const struct transition *record_of(const struct lifecycle *life)
{
	return &life->journal.handover.transition;
}

struct transition_policy transition_policy_of(const struct lifecycle *life)
{
	struct transition_policy policy = life->config->handover.blue_green.policy;

	policy.at_unix_ms = record_of(life)->at_unix_ms;
	return policy;
}

int64_t transition_limit_ms(const struct lifecycle *life)
{
	const struct handover_config *config = &life->config->handover;

	switch (transition_state_of(life)) {
	case TRANSITION_OFFERED:
		return config->prepare_ms;
	case TRANSITION_ARMING:
		return ARMING_MS;
	case TRANSITION_SEEDING:
	case TRANSITION_SEEDED:
	case TRANSITION_SHADOW:
	case TRANSITION_ARMED:
	case TRANSITION_CROSSING:
	case TRANSITION_CROSSED:
	case TRANSITION_ENDING:
		return config->blue_green.deadline_ms;
	default: /* granted and taken: only forward; aborting: until it is over */
		return 0;
	}
}

/* Look at it again then, if nothing else comes before. */
static void again_at(struct lifecycle *life, int64_t at_ms)
{
	if (!life->transition.again_ms || at_ms < life->transition.again_ms)
		life->transition.again_ms = at_ms;
}

/* All its tasks do, and no operation of anybody is in flight: it could be saved or stopped now. */
static bool runs(const struct lifecycle *life)
{
	return !blockers(life, BEGIN_TRANSITION);
}

/* ---- the candidate ---- */

static const struct candidate_seen *seen_of(const struct lifecycle *life)
{
	return &life->handover.seen[PLACE_CANDIDATE];
}

static bool names_candidate(const struct lifecycle *life)
{
	return party_is(&handover_of(life)->to, seen_of(life)->party.uid);
}

/* What it says is about this very transition. */
static bool is_mine(const struct lifecycle *life)
{
	const struct candidate_seen *seen = seen_of(life);

	/* MUT: what a candidate says of another transition counts */
	if (!xstris(seen->shadow.transition, handover_of(life)->id))
		return false;
	return seen->present && names_candidate(life);
}

/* Each beat is one look. */
static bool has_caught_up(struct lifecycle *life, const struct transition_here *here)
{
	const struct candidate_seen *seen = seen_of(life);
	bool near = gate_is_near(&here->gate, &here->candidate_gate,
				 life->config->handover.blue_green.caught_up_ms);

	if (seen->shadow.state == SHADOW_CAUGHT_UP)
		return true;
	/* MUT: a candidate that was near once has caught up */
	if (!near)
		life->transition.near = 0;
	else if (seen->beat != life->transition.near_beat)
		life->transition.near++;
	life->transition.near_beat = seen->beat;
	return life->transition.near >= LOOKS;
}

static void know_candidate(struct lifecycle *life, struct transition_here *here,
			   struct transition_facts *facts)
{
	const struct candidate_seen *seen = seen_of(life);
	const struct candidate_shadow *shadow = &seen->shadow;
	bool fresh = handover_is_fresh(life, seen), named = names_candidate(life),
	     mine = is_mine(life);

	facts->candidate_gate = &here->candidate_gate;
	here->candidate_gate = gate_report_none;
	facts->ended = transition_candidate_has_ended(life);
	if (handover_is_unheard(life, seen))
		return;
	/* MUT: a candidate that is silent is still there */
	if (!fresh) {
		facts->gone = true;
		return;
	}
	facts->gone = !named || seen->state == CANDIDATE_WITHDRAWN ||
		      (mine && shadow->state == SHADOW_WITHDRAWN);
	facts->failed = (mine && shadow->state == SHADOW_FAILED) ||
			(named && seen->state == CANDIDATE_FAILED);
	if (facts->failed || transition_state_of(life) == TRANSITION_OFFERED)
		facts->says = handover_candidate_says(life);
	facts->prepared = mine && shadow->state == SHADOW_PREPARED &&
			  seen->state == CANDIDATE_PREPARED && seen->beats && runs(life);
	facts->follows = !named && seen->beats && seen->state != CANDIDATE_WITHDRAWN &&
			 xstris(seen->party.template, handover_of(life)->to.template);
	facts->replaced = seen->wanted == WANTED_NO;
	if (!mine)
		return;
	here->candidate_gate = shadow->gate;
	facts->shadowing = candidate_shadow_runs(shadow);
	facts->caught_up = facts->shadowing && has_caught_up(life, here);
	facts->ahead = gate_is_ahead(&here->gate, &here->candidate_gate,
				     life->config->handover.blue_green.caught_up_ms);
}

/* ---- the savepoint or stop of the state ---- */

enum transition_work transition_work_of(const struct lifecycle *life)
{
	const struct journal *journal = &life->journal;
	const char *id = record_of(life)->work_id;

	if (!*id)
		return WORK_NONE;
	if (journal->operation.kind != OPERATION_NONE && !strcmp(journal->operation.trigger_id, id))
		/* its result may be on record while Flink still ends */
		return journal->last_operation.ok && !strcmp(journal->last_operation.trigger_id, id)
			       ? WORK_DONE
			       : WORK_RUNNING;
	if (!strcmp(journal->last_operation.trigger_id, id) && journal->last_operation.ok)
		return WORK_DONE;
	return WORK_FAILED;
}

/* The counts of the gates at that savepoint, by the last report of the job. */
static bool stopped_behind(const struct lifecycle *life, const struct transition_facts *facts)
{
	const struct gate_snapshot *made = gate_snapshot_of(facts->gate, facts->made.checkpoint_id);
	/* as the state that has led to the stop */
	bool idle_passes = life->config->handover.blue_green.policy.idle_passes;

	if (!made)
		return false;
	return (idle_passes ? made->active_watermark_unix_ms : made->min_watermark_unix_ms) >=
	       record_of(life)->toggle_unix_ms;
}

static void know_work(struct lifecycle *life, struct transition_facts *facts)
{
	const struct snapshot *made;

	facts->work = transition_work_of(life);
	facts->stop_failures = life->transition.failures;
	/* it is tried again after a pause, unless its Flink has ended */
	if (facts->work == WORK_FAILED && transition_state_of(life) == TRANSITION_ENDING &&
	    life->stop_retry_ms && life->launch_step != LAUNCH_NONE)
		facts->work = WORK_RUNNING;
	if (facts->work != WORK_DONE)
		return;
	facts->made.path = life->journal.last_operation.location;
	made = journal_snapshot(&life->journal, facts->made.path);
	facts->made.checkpoint_id = made ? made->checkpoint_id : 0;
	if (transition_state_of(life) != TRANSITION_ENDING)
		return;
	facts->made_behind = facts->made.checkpoint_id && stopped_behind(life, facts);
	if (!life->transition.made_ms)
		life->transition.made_ms = life->now_ms;
	if (facts->made_behind || life->now_ms >= life->transition.made_ms + REPORT_MS ||
	    !gate_kind_of(life->config->handover.blue_green.policy.gate)->ordered)
		return;
	facts->work = WORK_RUNNING;
	again_at(life, life->transition.made_ms + REPORT_MS);
}

/* ---- where the job could start again ---- */

char *transition_replay_token(const struct transition *transition)
{
	return xasprintf("replay-%s-%" PRId64, transition->id, transition->replay.checkpoint_id);
}

/* That it starts from the same snapshot does not show it. */
static bool is_replaying(const struct lifecycle *life)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	cleanup_free char *token = NULL;

	if (!record_of(life)->replay.path || life->launch_step == LAUNCH_NONE || !launch)
		return false;
	token = transition_replay_token(record_of(life));
	return xstris(launch->request_token, token);
}

/* Retained checkpoints of a job differ in their numbers: .../JOB/chk-N. The caller frees. */
static char *checkpoint_path(const struct launch *launch, int64_t id)
{
	const char *newest = launch->last_checkpoint_path;
	const char *name = newest ? strstr(newest, "/chk-") : NULL;

	if (!name)
		return NULL;
	return xasprintf("%.*s/chk-%" PRId64, (int)(name - newest), newest, id);
}

static char *clean_path(const struct lifecycle *life, int64_t id)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	for (size_t i = life->journal.snapshot_count; launch && i-- > 0;) {
		const struct snapshot *snapshot = &life->journal.snapshots[i];

		if (snapshot->checkpoint_id == id && !strcmp(snapshot->job_id, launch->job_id))
			return xstrdup(snapshot->path);
	}
	return launch ? checkpoint_path(launch, id) : NULL;
}

static void know_clean(const struct lifecycle *life, struct transition_here *here,
		       struct transition_facts *facts)
{
	const struct gate_snapshot *clean = gate_clean(facts->gate);

	here->clean = clean ? clean_path(life, clean->checkpoint_id) : NULL;
	if (!here->clean || xstrsame(here->clean, life->transition.missing))
		return;
	facts->clean = (struct transition_point){here->clean, clean->checkpoint_id};
}

/* ---- the job here ---- */

/* Of this transition; what it has counted stays when the job has ended, but nothing of it runs then. */
static void know_gate(const struct lifecycle *life, struct transition_here *here)
{
	const struct launch *launch = journal_launch_const(&life->journal);
	bool of_launch = launch && !strcmp(life->gate.launch_id, launch->job_id);

	here->gate = gate_report_none;
	/* MUT: what the gates report of another transition counts */
	if (!xstris(life->gate.transition, handover_of(life)->id))
		return;
	here->gate = life->gate.report;
	/* MUT: gates of a job that has ended are still behind the cut */
	if (!of_launch || life->gate.ended || life->launch_step != LAUNCH_LIVE)
		here->gate.running = 0;
}

static bool is_settled(struct lifecycle *life, const struct gate_report *gate)
{
	int64_t settle_ms = life->config->handover.blue_green.settle_ms;
	struct transition_policy policy = transition_policy_of(life);

	if (!gate_is_behind(gate, record_of(life)->toggle_unix_ms, policy.idle_passes)) {
		life->transition.behind_ms = 0;
		return false;
	}
	if (!life->transition.behind_ms)
		life->transition.behind_ms = life->now_ms;
	if (life->now_ms - life->transition.behind_ms >= settle_ms)
		return true;
	again_at(life, life->transition.behind_ms + settle_ms);
	return false;
}

static void know_job(struct lifecycle *life, const struct transition_here *here,
		     struct transition_facts *facts)
{
	const struct transition *transition = record_of(life);
	bool gone = life->launch_step == LAUNCH_NONE && !life->foreign;

	facts->gate = &here->gate;
	facts->runs = runs(life);
	facts->lives = life->launch_step != LAUNCH_NONE;
	facts->ended_badly = gone && transition_work_of(life) != WORK_DONE &&
			     (phase_is_end(life->phase) || life->phase == PHASE_SUSPENDED ||
			      life->transition.gives_up);
	facts->settled = is_settled(life, &here->gate);
	facts->replaying = is_replaying(life);
	/* the seed is the last resort: without it a person decides */
	facts->replay_missing = transition->replay.path &&
				xstrsame(transition->replay.path, life->transition.missing) &&
				!xstrsame(transition->replay.path, transition->seed.path);
}

bool transition_candidate_has_ended(const struct lifecycle *life)
{
	return seen_of(life)->lock_is_free || (is_mine(life) && seen_of(life)->shadow.ended);
}

void transition_know(struct lifecycle *life, struct transition_here *ret_here,
		     struct transition_facts *ret_facts)
{
	const struct intent *intent = &life->journal.intent;
	const struct gate_keys_kind *keys =
		gate_kind_of(life->config->handover.blue_green.policy.gate)->keys;
	struct transition_facts *facts = ret_facts;

	*ret_here = (struct transition_here){.clean = NULL};
	*facts = (struct transition_facts){.late = life->transition.late};
	life->transition.again_ms = 0;
	know_gate(life, ret_here);
	know_job(life, ret_here, facts);
	know_candidate(life, ret_here, facts);
	know_work(life, facts);
	know_clean(life, ret_here, facts);
	if (keys)
		keys->know(&life->gate.keys, handover_of(life), facts);
	facts->parks = intent->state != DESIRED_RUNNING;
	facts->brake = intent->do_not_restart;
	facts->promoted = record_of(life)->promoted;
	facts->abort = record_of(life)->aborted;
}
