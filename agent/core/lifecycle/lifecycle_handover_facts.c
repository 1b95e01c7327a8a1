/*
 * What is known of a hand-over: who this pod is, who else is there, and what may be done. Nothing here changes
 * anything.
 */
#include "core/lifecycle/lifecycle_handover_facts.h"

#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_facts.h"
#include "core/resolve/flink_choice.h"

/* A candidate or reserve beats every 5 s. */
#define SILENT_MS 30000
#define FOUND_MS  12000

/* ---- this pod ---- */

bool handover_is_on(const struct lifecycle *life)
{
	return life->config->handover.mode != HANDOVER_OFF && !life->config->handover.shadow;
}

const struct party *handover_me(const struct lifecycle *life)
{
	return &life->config->handover.me;
}

char *handover_says(const struct lifecycle *life, const char *what)
{
	const struct handover *handover = &life->journal.handover;

	return xasprintf("hand-over %s to %s: %s", handover->id,
			 handover->to.pod ? handover->to.pod : "?", what);
}

enum role lifecycle_role(const struct lifecycle *life)
{
	if (life->config->handover.shadow)
		return ROLE_CANDIDATE;
	if (!life->handover.given)
		return ROLE_OWNER;
	return life->journal.handover.state == HANDOVER_GRANTED ? ROLE_RESERVE : ROLE_CANDIDATE;
}

bool lifecycle_keeps_ready(const struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;

	if (!handover_is_on(life) || life->fenced || life->terminating)
		return false;
	switch (handover->state) {
	case HANDOVER_OFFERED:
	case HANDOVER_STOPPING:
	case HANDOVER_GRANTED:
		return party_is(&handover->from, handover_me(life)->uid);
	case HANDOVER_RETURNED: /* until it runs again */
		return !life->handover.ran && party_is(&handover->from, handover_me(life)->uid);
	default:
		return false;
	}
}

bool lifecycle_is_unready(const struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;

	if (life->config->handover.shadow)
		return true;
	return handover_is_on(life) &&
	       (handover->state == HANDOVER_TAKEN || life->handover.giving) &&
	       party_is(&handover->to, handover_me(life)->uid);
}

enum phase lifecycle_phase(const struct lifecycle *life)
{
	return life->config->handover.shadow && life->phase == PHASE_RUNNING ? PHASE_SHADOW
									     : life->phase;
}

bool handover_must_check(const struct lifecycle *life)
{
	return handover_is_on(life) && life->launch_step == LAUNCH_NONE && !life->fenced &&
	       !life->handover.giving && !life->terminating && !life->foreign;
}

static bool is_held_for_this(const struct lifecycle *life)
{
	return *life->handover.held_id &&
	       !strcmp(life->handover.held_id, life->journal.handover.job_id);
}

bool handover_held_id(const struct lifecycle *life, const struct decision *decision,
		      const struct facts *facts, char job_id[JOB_ID_BYTES])
{
	if (!is_held_for_this(life) || decision->kind == DECISION_CONTINUE ||
	    life->handover.held_ends ||
	    flink_id_is_used(&life->journal, facts, life->handover.held_id))
		return false;
	memcpy(job_id, life->handover.held_id, JOB_ID_BYTES);
	return true;
}

/* ---- who else is there ---- */

bool handover_is_candidate(const struct candidate_seen *seen)
{
	return seen->present &&
	       (seen->state == CANDIDATE_PREPARING || seen->state == CANDIDATE_PREPARED);
}

/* A record that was only found may be of a pod that is gone: it has to beat. */
bool handover_is_fresh(const struct lifecycle *life, const struct candidate_seen *seen)
{
	return seen->present &&
	       life->now_ms - seen->seen_ms <= (seen->beats ? SILENT_MS : FOUND_MS);
}

/* This agent has just begun, and has not heard of it yet. */
bool handover_is_unheard(const struct lifecycle *life, const struct candidate_seen *seen)
{
	return !seen->known && life->now_ms - life->handover.begun_ms <= SILENT_MS;
}

/* The one that the job is on its way to. */
bool handover_candidate_lives(const struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];

	if (handover_is_unheard(life, seen))
		return true;
	return handover_is_fresh(life, seen) && handover_is_candidate(seen) &&
	       party_is(&life->journal.handover.to, seen->party.uid);
}

bool handover_is_unwanted(const struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	const struct party *to = &life->journal.handover.to;

	if (!seen->present)
		return false;
	/* the place may be another one's by now: the Deployment wants one template */
	return template_same_content(to->template, seen->party.template)
		       ? seen->wanted == WANTED_NO
		       : seen->wanted == WANTED_YES;
}

const char *handover_candidate_says(const struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];

	if (!seen->present || seen->state == CANDIDATE_PREPARED ||
	    !party_is(&life->journal.handover.to, seen->party.uid))
		return NULL;
	return seen->why;
}

bool lifecycle_is_prepared(const struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];
	const struct handover *handover = &life->journal.handover;

	return handover_is_on(life) && handover->state == HANDOVER_OFFERED && seen->present &&
	       seen->state == CANDIDATE_PREPARED && party_is(&handover->to, seen->party.uid);
}

/* The one that can take it back. */
static bool reserve_lives(const struct lifecycle *life)
{
	const struct candidate_seen *seen = &life->handover.seen[PLACE_RESERVE];
	bool given = life->handover.claim == CLAIM_TAKE || life->handover.claim == CLAIM_OWN;

	/* it has just given the job to this pod, and says so in a moment */
	if (given && life->now_ms - life->handover.begun_ms <= SILENT_MS)
		return true;
	return handover_is_fresh(life, seen) && seen->state == CANDIDATE_HANDED_OVER &&
	       party_is(&life->journal.handover.from, seen->party.uid);
}

bool handover_may_give_back(const struct lifecycle *life)
{
	const struct handover *handover = &life->journal.handover;
	bool probation =
		handover->state == HANDOVER_DONE && life->now_ms < life->handover.probation_end_ms;

	/* MUT: a job is returned after a transition, and repeats what both have written */
	if (transition_of(handover) != TRANSITION_NONE) /* only forward */
		return false;
	return handover_is_on(life) && life->config->handover.return_on_failure &&
	       !life->handover.giving && !life->fenced && !handover->forced &&
	       party_is(&handover->to, handover_me(life)->uid) &&
	       (handover->state == HANDOVER_TAKEN || probation) && reserve_lives(life);
}

/* ---- the job here ---- */

/* Nothing of the job runs here, and nothing is about to. */
bool handover_is_idle(const struct lifecycle *life)
{
	return life->launch_step == LAUNCH_NONE && !life->foreign && takeover_is_over(life) &&
	       !*life->handover.held_id && !life->journal_broken;
}

/* Without a request nothing starts here, or it cannot. */
bool handover_stands_still(const struct lifecycle *life)
{
	return life->phase == PHASE_SUSPENDED || life->phase == PHASE_HOLDING ||
	       phase_is_end(life->phase);
}

/* ---- how long it waits for a Flink elsewhere ---- */

/* The last launch is that of the pod that has granted the job, which it did when that had ended. An
 * agent that comes back knows it by this; a launch of another one, that has taken the job, may live. */
static bool was_granted(const struct lifecycle *life, const struct launch *launch)
{
	const struct handover *handover = &life->journal.handover;

	return handover->state == HANDOVER_TAKEN && !handover->forced && launch &&
	       party_is(&handover->to, handover_me(life)->uid) &&
	       party_wrote(&handover->from, launch->writer);
}

int64_t handover_takeover_ms(const struct lifecycle *life)
{
	const struct lifecycle_config *config = life->config;
	const struct launch *launch = journal_launch_const(&life->journal);

	/* its job has ended, and that is what was granted */
	if (handover_is_on(life) &&
	    (life->handover.claim == CLAIM_TAKE || was_granted(life, launch)))
		return 0;
	/* Flink's election keeps only a Flink of the same cluster id out */
	if (handover_is_on(life) && launch &&
	    !xstrsame(launch->ha_cluster_id, config->ha_cluster_id) &&
	    config->handover.takeover_ms > config->takeover_ms)
		return config->handover.takeover_ms;
	return config->takeover_ms;
}
