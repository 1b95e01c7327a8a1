/*
 * A pod that stands by in a transition (transition.h): its job runs in the shadow of the owner's, by a
 * journal of its own and in a life cycle of its own. This machine says when that begins and when it is
 * over; transition_candidate() decides.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/standby_internal.h"
#include "core/handover/standby_rows.h"
#include "core/handover/transition.h"

#define RETRY_MS 1000

static bool is_transition(const struct standby *standby)
{
	return standby->config->blue_green && transition_of(&standby->handover) != TRANSITION_NONE;
}

static bool is_granted(const struct standby *standby)
{
	return standby->verdict.role == ROLE_OWNER &&
	       transition_of(&standby->handover) == TRANSITION_GRANTED;
}

/* Named, or the one that follows a pod that was granted the job and is gone. */
static bool names_me(const struct standby *standby)
{
	return party_is(&standby->handover.to, standby->config->me.uid) || is_granted(standby);
}

static bool lives(const struct standby *standby)
{
	return standby->flink == STANDBY_FLINK_STARTED || standby->flink == STANDBY_FLINK_HELD;
}

/* ---- the facts ---- */

/* Without gates nothing shows how far it is, except for the time that it has run. */
static bool is_near(const struct standby *standby)
{
	const struct blue_green *policy = standby->config->blue_green;

	return !gate_kind_of(policy->policy.gate)->gated && standby->runs_since_ms &&
	       standby->now_ms - standby->runs_since_ms >= policy->caught_up_ms;
}

/* What runs here is not what was held for this hand-over, or is not held any more: only the job in the shadow is started
 * otherwise. */
static bool runs_job(const struct standby *standby)
{
	if (standby->flink == STANDBY_FLINK_NONE || standby->flink == STANDBY_FLINK_ENDING)
		return false;
	return standby->went || !standby->config->hold_main ||
	       strcmp(standby->job_id, standby->handover.job_id) != 0;
}

/* Here, in this hand-over: an agent of this pod has said so, or it is seen. */
static bool has_begun(const struct standby *standby)
{
	return standby->begun || standby->shadow_state == SHADOW_FAILED || runs_job(standby);
}

static struct shadow_facts facts_of(const struct standby *standby)
{
	bool waits = !standby->config->hold_main || standby->flink == STANDBY_FLINK_HELD;

	return (struct shadow_facts){
		.named = names_me(standby),
		.stopping = standby->terminating,
		.prepared = standby->record.state == CANDIDATE_PREPARED && waits &&
			    xstrsame(standby->record.handover, standby->handover.id),
		.seeded = standby->in_shadow || standby->seeded,
		.begun = has_begun(standby),
		.runs = standby->job_runs,
		.failed = standby->job_failed,
		.near = is_near(standby),
	};
}

/* ---- what its record says ---- */

static void say_state(struct standby *standby, const struct stand_row *row)
{
	bool failed = standby->shadow_state == SHADOW_FAILED;
	const char *why = row->recorded ? row->why : standby->record.why;

	standby->verdict.side = standby->handover.to.side;
	standby_state(standby, failed ? CANDIDATE_FAILED : CANDIDATE_PREPARED, failed ? why : NULL);
}

/* Nothing of its job runs, and nothing starts it for this hand-over. */
static bool job_has_ended(const struct standby *standby)
{
	return standby->shadow_state == SHADOW_WITHDRAWN && standby->flink == STANDBY_FLINK_NONE;
}

static void publish(struct standby *standby, const struct stand_row *row)
{
	struct candidate_shadow *shadow = &standby->record.shadow;
	const char *id = standby->handover.id;
	bool ended = job_has_ended(standby);

	standby->record_dirty |= shadow->state != standby->shadow_state || shadow->ended != ended ||
				 !xstrsame(shadow->transition, id);
	xstrset(&shadow->transition, id);
	shadow->state = standby->shadow_state;
	shadow->ended = ended;
	if (standby->in_shadow || standby->shadow_state == SHADOW_FAILED)
		say_state(standby, row);
}

void standby_shadow_init(struct standby *standby)
{
	standby->shadow_state = SHADOW_PREPARED;
	standby->begun = false;
	/* MUT: a job that has seen no record has seen one of 1970 */
	standby->record.shadow.gate = gate_report_none;
}

/* It is of another hand-over, or of none. */
static void forget_other(struct standby *standby)
{
	struct candidate_shadow *shadow = &standby->record.shadow;

	if (!shadow->transition ||
	    (is_transition(standby) && xstrsame(shadow->transition, standby->handover.id)))
		return;
	candidate_shadow_release(shadow);
	/* MUT: that a job has ended is said for the next hand-over, too */
	standby_shadow_init(standby);
	standby->record_dirty = true;
}

void standby_shadow_found(struct standby *standby)
{
	if (standby->in_shadow)
		return;
	standby->begun = true;
	standby->shadow_state = SHADOW_STARTING;
	xstrset(&standby->record.shadow.transition, standby->handover.id);
	standby->record.shadow.state = SHADOW_STARTING;
}

void standby_shadow_leaves(struct standby *standby)
{
	if (!standby->record.shadow.transition)
		return;
	standby->shadow_state = SHADOW_WITHDRAWN;
	standby->record_dirty |= standby->record.shadow.ended != job_has_ended(standby);
	standby->record.shadow.state = SHADOW_WITHDRAWN;
	standby->record.shadow.ended = job_has_ended(standby);
}

/* ---- what is done ---- */

enum what { KEEP, REST, READ, KILL, SEED, GO_ON, ADOPT, AGAIN, STAND_BY, WHATS };

static const char *const whats[WHATS] = {
	[KEEP] = "nothing; its record stays as it is",
	[REST] = "nothing more, and prepares nothing",
	[READ] = "reads the journal",
	[KILL] = "ends its Flink",
	[SEED] = "begins its job, from the seed",
	[GO_ON] = "continues its job",
	[ADOPT] = "takes the journal, with what its own one has more",
	[AGAIN] = "ends the agent: the next one begins by the journal",
	[STAND_BY] = "what a Pod does that stands by",
};

#define LOST                                                                                       \
	"the journal of the job in the shadow is lost, so that job is ended; the owner gives the transition up and keeps the job"

static const struct stand_row rows[] = {
	/* nothing ends because of that, and nothing begins */
	{ALL(STAND_IN_SHADOW, STAND_UNREADABLE), KEEP},
	{ALL(STAND_OUTSIDE, STAND_OWN_UNREAD), KEEP, CAUSE_JOURNAL_UNREADABLE,
	 "the journal of the job in the shadow cannot be read"},
	{ALL(STAND_BEGINS, STAND_IN_SHADOW), REST},
	/* what waits here under the same id is not the job that has run elsewhere */
	{ALL(STAND_GOES_ON, STAND_ELSEWHERE), KILL},
	/* the owner goes by that this pod starts nothing later */
	{ALL(STAND_BEGINS, STAND_NOT_READ), READ},
	{ALL(STAND_GOES_ON), GO_ON, CAUSE_SHADOW,
	 "the job in the shadow continues by its own journal"},
	{ALL(STAND_BEGINS), SEED, CAUSE_SHADOW, "the job starts in the shadow, from the seed"},
	/* what it holds for another hand-over, or was left, is none of the job's */
	{ALL(STAND_ADOPTS, STAND_OUTSIDE, STAND_OTHER_FLINK), KILL},
	{ALL(STAND_ADOPTS, STAND_ADOPTING), REST},
	{ALL(STAND_ADOPTS), ADOPT},
	/* the owner hears it, and gives the transition up; it has the state, and nothing is for a person to do */
	{ALL(STAND_ENDS_JOB, STAND_OUTSIDE, STAND_FAILED), KILL, CAUSE_JOURNAL_LOST, LOST,
	 .recorded = true},
	{ALL(STAND_ENDS_JOB, STAND_OUTSIDE), KILL, CAUSE_PREPARING, "the hand-over is given up"},
	{ALL(STAND_ENDS_JOB, STAND_FLINK), KILL},
	/* the owner hears of it from this agent: the next one would fail by the same journal, and end as well */
	{ALL(STAND_ENDS_JOB, STAND_FAILED), REST},
	{ALL(STAND_ENDS_JOB), AGAIN, 0,
	 "the hand-over has ended: the job in the shadow has ended, too"},
	{ALL(STAND_WAS_TAKEN), AGAIN, 0, "this pod is the owner"},
	{ALL(STAND_OUTSIDE, STAND_GRANTED), REST, CAUSE_JOURNAL_LOST,
	 "the job was granted to this pod, but the journal of its job in the shadow is lost; restore that ConfigMap from a copy"},
	{ALL(STAND_OUTSIDE, STAND_FAILED), REST, CAUSE_JOURNAL_LOST, LOST, .recorded = true},
	{ALL(STAND_IN_SHADOW), REST},
	/* until the seed is there, what waits in main() is kept warm, or made so */
	{ALL(STAND_MAY_HAVE_RUN), REST},
	{ALL(STAND_ALWAYS), STAND_BY},
};

const struct stand_table standby_shadow_table = {"The Pod of the candidate", rows, ARRAY_LEN(rows),
						 whats, WHATS};

/* The life cycle begins with what was just read. */
static void begin_job(struct standby *standby, bool seed)
{
	standby->in_shadow = true;
	standby->job_runs = standby->job_failed = false;
	standby->runs_since_ms = 0;
	standby->start_end_ms = standby->warm_ms = standby->launch_ms = 0;
	standby->check_ms = standby->ripe_ms = 0;
	standby_emit(standby, STANDBY_DO_SHADOW)->seed = seed;
}

static void follow(struct standby *standby, const struct stand_row *row)
{
	switch ((enum what)row->what) {
	case KEEP:
	case REST:
	case STAND_BY:
	case WHATS:
		break;
	case READ:
		standby_reads(standby);
		break;
	case KILL:
		standby_kill(standby);
		break;
	case SEED:
	case GO_ON:
		begin_job(standby, row->what == SEED);
		break;
	case ADOPT:
		standby->adopting = true;
		standby->adopt_ms = 0;
		standby_emit(standby, STANDBY_DO_ADOPT);
		break;
	case AGAIN:
		standby->owned = true;
		standby_emit(standby, STANDBY_DO_AGAIN);
		break;
	}
}

/* ---- what it goes by ---- */

/* Is there something for it to do, or to wait for, that a pod which stands by does not? */
static bool concerns(const struct standby *standby)
{
	enum role role = standby->verdict.role;

	if (standby->in_shadow || role == ROLE_UNREADABLE)
		return standby->in_shadow;
	/* MUT: a version that was refused does not say so */
	if (standby->flink == STANDBY_FLINK_NONE &&
	    transition_of(&standby->handover) == TRANSITION_REFUSED)
		return false;
	return is_transition(standby) && names_me(standby) &&
	       (role != ROLE_OWNER || is_granted(standby));
}

/* Nothing is prepared meanwhile; what was due for that is looked at later. */
static void rest(struct standby *standby)
{
	int64_t *const preparing[] = {&standby->warm_ms, &standby->launch_ms, &standby->check_ms,
				      &standby->start_end_ms, &standby->ripe_ms};

	for (size_t i = 0; i < ARRAY_LEN(preparing); i++)
		if (*preparing[i] && standby->now_ms >= *preparing[i])
			*preparing[i] = standby->now_ms + RETRY_MS;
}

/* What waits in main() would be the job that has run, recovered by Flink's HA. */
static bool may_have_run(const struct standby *standby)
{
	enum transition_state state = transition_of(&standby->handover);

	/* MUT: a candidate prepares another Flink before it knows that its job has begun */
	if (state == TRANSITION_SEEDED && !standby->record_known)
		return true;
	return state >= TRANSITION_SHADOW;
}

/* Taken, by a write whose answer was lost. */
static bool was_taken(const struct standby *standby, enum shadow_state state)
{
	return standby->in_shadow && state == SHADOW_TAKEN && standby->verdict.role == ROLE_OWNER &&
	       !is_granted(standby);
}

static unsigned shadow_bits(const struct standby *standby, const struct shadow_move *move,
			    bool just_read)
{
	bool flink = standby->flink != STANDBY_FLINK_NONE;
	bool tries = standby->adopting || standby->now_ms < standby->adopt_ms;
	const struct stand_known facts[] = {
		{STAND_UNREADABLE, standby->verdict.role == ROLE_UNREADABLE},
		{STAND_OTHER_FLINK, flink && standby->verdict.claim != CLAIM_TAKE},
		{STAND_NOT_READ, !just_read},
		{STAND_BEGINS, move->act == SHADOW_DO_SEED || move->act == SHADOW_DO_GO_ON},
		{STAND_GOES_ON, move->act == SHADOW_DO_GO_ON},
		{STAND_ENDS_JOB, move->act == SHADOW_DO_KILL},
		{STAND_ADOPTS, move->act == SHADOW_DO_ADOPT},
		{STAND_ADOPTING, tries},
		{STAND_IN_SHADOW, standby->in_shadow},
		{STAND_OUTSIDE, !standby->in_shadow},
		{STAND_OWN_UNREAD, standby->own_unread},
		{STAND_ELSEWHERE, standby->own_elsewhere && flink},
		{STAND_FLINK, flink},
		{STAND_FAILED, move->state == SHADOW_FAILED},
		{STAND_WAS_TAKEN, was_taken(standby, move->state)},
		{STAND_GRANTED, is_granted(standby)},
		{STAND_MAY_HAVE_RUN, may_have_run(standby)},
	};

	return stand_bits(facts, ARRAY_LEN(facts));
}

/* That its owner is silent is said, and that it is heard again. */
static void say(struct standby *standby, const struct stand_row *row)
{
	stand_say(standby, row);
	if (standby->in_shadow && !row->why && row->what != KEEP &&
	    (standby_owner_is_silent(standby) || standby->cause == CAUSE_OWNER_SILENT))
		standby_say(standby, CAUSE_SHADOW, "the job runs in the shadow");
}

bool standby_shadow(struct standby *standby, bool just_read)
{
	const struct stand_row *row;
	struct shadow_facts facts;
	struct shadow_move move;

	forget_other(standby);
	if (!concerns(standby))
		return false;
	facts = facts_of(standby);
	transition_candidate(&standby->handover, &facts, standby->shadow_state, &move);
	row = stand_row(&standby_shadow_table, shadow_bits(standby, &move, just_read));
	say(standby, row);
	if (row->what != KEEP) {
		standby->shadow_state = move.state;
		follow(standby, row);
		publish(standby, row);
	}
	if (row->what == STAND_BY)
		return false;
	rest(standby);
	return true;
}

bool standby_may_start(const struct standby *standby)
{
	const struct handover *handover = &standby->handover;

	/* the owner is open sooner than it would run, and the keys of gates change when it has ended */
	/* MUT: a candidate starts its job again after the owner has given the hand-over up */
	if (transition_of(handover) == TRANSITION_ABORTING)
		return false;
	return standby->in_shadow && !standby->terminating && !standby->adopting &&
	       standby->readable && names_me(standby) && transition_permits_two(handover);
}

bool standby_has_told(const struct standby *standby)
{
	/* MUT: a job begins in the shadow before that is on record */
	if (transition_of(&standby->handover) == TRANSITION_SEEDED)
		return standby->told_job;
	return true;
}

/* ---- what the life cycle in the shadow says ---- */

/* Watermarks and counts wait for the next beat. */
static bool says_another(const struct gate_report *a, const struct gate_report *b)
{
	return a->known != b->known || !gate_same_order(&a->order, &b->order) ||
	       a->acked != b->acked || a->refused != b->refused || a->running != b->running ||
	       a->subtasks != b->subtasks;
}

/* A main() whose job runs, or whose JVM has ended, is held no longer. */
static void let_go(struct standby *standby)
{
	standby->record_dirty |= standby->record.warm.main_held;
	standby->record.warm.main_held = false;
}

static void on_job(struct standby *standby, const struct standby_event *event)
{
	struct candidate_record *record = &standby->record;
	bool runs = event->job.runs;

	if (!runs)
		standby->runs_since_ms = 0;
	else if (!standby->job_runs)
		standby->runs_since_ms = standby->now_ms;
	if (runs)
		let_go(standby);
	standby->job_runs = runs;
	standby->job_failed = event->job.failed;
	if (event->job.failed && !xstrsame(record->why, event->job.why)) {
		xstrset(&record->why, event->job.why);
		standby->record_dirty = true;
	}
	if (!event->job.gate)
		return;
	standby->record_dirty |= says_another(&record->shadow.gate, event->job.gate);
	/* MUT: what the gates of a candidate say is not handed on */
	record->shadow.gate = *event->job.gate;
}

/* Only whether it lives: what that means the life cycle decides. */
static void on_process(struct standby *standby, const struct standby_event *event)
{
	bool same = !strcmp(standby->job_id, event->process.launch_id);

	if (event->type == STANDBY_STARTED && !lives(standby)) {
		standby->flink = STANDBY_FLINK_STARTED;
		snprintf(standby->job_id, sizeof(standby->job_id), "%s", event->process.launch_id);
	} else if (event->type != STANDBY_STARTED && same) {
		standby->flink = STANDBY_FLINK_NONE;
		standby->kill_again_ms = 0;
		let_go(standby);
	}
}

bool standby_shadow_event(struct standby *standby, const struct standby_event *event)
{
	switch (event->type) {
	case STANDBY_STARTED:
	case STANDBY_FAILED:
	case STANDBY_EXITED:
		if (standby->in_shadow)
			on_process(standby, event);
		return standby->in_shadow;
	case STANDBY_JOB:
		on_job(standby, event);
		return true;
	case STANDBY_ADOPTED:
		standby->adopting = false;
		standby->adopt_ms = standby->now_ms + RETRY_MS;
		standby_reads(standby);
		return true;
	default:
		return standby->in_shadow;
	}
}
