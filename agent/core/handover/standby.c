#include "core/handover/standby.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/handover/standby_internal.h"
#include "core/handover/standby_rows.h"
#include "core/journal/journal.h"

#define READ_AGAIN_MS 10000 /* news come by a watch; this is for what it has missed */
#define READ_RETRY_MS 1000
/* An owner that has ended in order looks like a drey that knows no hand-over, until its lock is free or has
 * run out (15 s). To be ready then would end the other pods, one of the version that ran included. */
#define HEIR_READY_MS    30000
#define LOCK_AGAIN_MS    10000
#define LOCK_SOON_MS     2000 /* while the owner is asked whether it lives, or none is known */
#define WANTED_AGAIN_MS  10000
#define RECORD_RETRY_MS  1000
#define EXIT_PATIENCE_MS 2000 /* for the last record */

static const char *const event_names[] = {"hello",   "tick",     "journal", "lock",   "wanted",
					  "checked", "record",   "started", "failed", "warm",
					  "exited",  "stopping", "job",     "adopted"};
static const char *const effect_names[] = {"read",    "lock", "wanted", "check", "record",
					   "launch",  "warm", "kill",   "own",   "exit",
					   "stopAck", "note", "shadow", "adopt", "again"};

const char *standby_event_name(enum standby_event_type type)
{
	return event_names[type];
}

const char *standby_effect_name(enum standby_effect_type type)
{
	return effect_names[type];
}

/* ---- is the owner alive? ---- */

/* The time counts from the moment at which the question is on record. */
static void ask_owner(struct standby *standby)
{
	/* its silence has made this pod the owner: the read that confirms it comes */
	if (standby->verdict.role == ROLE_OWNER) {
		if (standby->now_ms >= standby->ask_ms)
			standby->ask_ms = 0;
		return;
	}
	if (!standby->verdict.asks) {
		standby->asks = false;
		standby->silent_since_ms = standby->ask_ms = 0;
		return;
	}
	if (standby->asks || standby->now_ms < standby->ask_ms)
		return;
	/* not one that an earlier agent of this pod has had an answer to */
	standby->record.ask = standby->now_unix_ms > standby->record.ask ? standby->now_unix_ms
									 : standby->record.ask + 1;
	standby->asks = true;
	standby->ask_ms = standby->silent_since_ms = 0;
	standby->record_dirty = true;
}

/* A pod that has written the journal lives, or has just lived. */
static void hear_owner(struct standby *standby)
{
	if (!standby->asks)
		return;
	standby->asks = false;
	standby->silent_since_ms = 0;
	standby->ask_ms = standby->now_ms + standby->config->limits.silent_ms;
}

/* ---- what is known ---- */

static void see_journal(struct standby *standby, const struct journal *journal)
{
	bool moved =
		!standby->read_once || !standby->readable || standby->sequence != journal->sequence;
	const struct launch *launch = journal_launch_const(journal);
	bool other_state = !standby->read_once ||
			   standby->handover.state != journal->handover.state ||
			   !xstrsame(standby->handover.id, journal->handover.id);

	if (other_state)
		standby->state_ms = standby->now_ms;
	if (moved) {
		standby->changed_ms = standby->now_ms;
		hear_owner(standby);
	}
	if (!xstrsame(standby->handover.id, journal->handover.id))
		standby_begin_anew(standby);
	standby->sequence = journal->sequence;
	handover_release(&standby->handover);
	record_copy(&handover_table, &journal->handover, &standby->handover);
	party_set(&standby->owner, &journal->owner);
	standby->ever_launched = journal->launch_count > 0;
	xstrset(&standby->last_generation, launch ? launch->generation : NULL);
	standby->read_once = true;
}

static void on_journal(struct standby *standby, const struct standby_event *event)
{
	static const struct journal none = {0};
	/* one that is gone is no reason to begin anew: its owner writes it again */
	bool first = event->read.absent && !standby->writer;
	const struct journal *journal = first ? &none : event->read.journal;

	/* MUT: a pod that stands by forgets a journal that was deleted */
	if (event->read.absent && !first)
		journal = NULL;

	standby->reading = false;
	standby->read_ms = standby->now_ms +
			   (journal && !event->read.own_unread ? READ_AGAIN_MS : READ_RETRY_MS);
	if (journal)
		see_journal(standby, journal);
	standby->readable = journal != NULL;
	standby->absent = event->read.absent;
	standby->put_back = event->read.put_back;
	standby->seeded = event->read.seeded;
	standby->own_unread = event->read.own_unread;
	standby->own_elsewhere = event->read.own_elsewhere;
}

static enum side_lock lock_in_question(const struct standby *standby)
{
	const enum side_lock *locks = standby->locks;

	if (standby->owner.uid || standby->owner.template)
		return locks[standby->owner.side];
	if (locks[SIDE_BLUE] == LOCK_HELD || locks[SIDE_GREEN] == LOCK_HELD)
		return LOCK_HELD;
	return locks[SIDE_BLUE] == LOCK_FREE && locks[SIDE_GREEN] == LOCK_FREE ? LOCK_FREE
									       : LOCK_UNKNOWN;
}

/* ---- who is it? ---- */

static int64_t since(const struct standby *standby, int64_t then_ms)
{
	return standby->now_ms - then_ms;
}

static void judge_role(struct standby *standby, const struct journal *journal)
{
	bool silent = standby->asks && standby->silent_since_ms;
	const struct role_facts facts = {
		.journal = journal,
		.absent = standby->absent,
		.me = &standby->config->me,
		.wanted = standby->wanted,
		.lock = lock_in_question(standby),
		.silent_ms = silent ? since(standby, standby->silent_since_ms) : -1,
		.granted_ms = since(standby, standby->state_ms),
		.quiet_ms = since(standby, standby->changed_ms),
	};

	handover_role(&facts, &standby->config->limits, &standby->verdict);
}

/* For the rules that need more than its number: a copy with what they compare. */
static void judge_again(struct standby *standby)
{
	struct launch last = {.generation = standby->last_generation};
	struct journal known = {.sequence = standby->sequence,
				.writer = standby->writer,
				.owner = standby->owner,
				.handover = standby->handover,
				.launches = &last,
				.launch_count = standby->ever_launched};

	judge_role(standby, standby->readable ? &known : NULL);
}

/* ---- what it does ---- */

enum what { REST, KILL, READ, OWN, PREPARE, HAND_OVER, WAIT, WHATS };

static const char *const whats[WHATS] = {
	[REST] = "nothing; what it holds, it keeps",
	[KILL] = "ends that Flink",
	[READ] = "reads the journal",
	[OWN] = "is the owner, with the journal as it was read",
	[PREPARE] = "prepares, see below",
	[HAND_OVER] = "ends its Flink; its record says `HandedOver`",
	[WAIT] = "ends its Flink; its record says `Standby`",
};

/* Its owner, if that lives, writes it again; a pod that went by it would be one that it was before. */
static void say_put_back(const struct standby *standby, char *text, size_t size)
{
	snprintf(
		text, size,
		"the journal was put back to an older version (%" PRId64 " after %" PRId64
		"); its owner writes it again within a minute; if none does, restore the newer version, or delete this Pod to go on from the older one",
		standby->put_back, standby->sequence);
}

static const struct stand_row rows[] = {
	/* nothing of ours may run, except for what is held for this, and for the job of an owner whose agent has restarted */
	{ALL(STAND_OWNER, STAND_OTHER_FLINK), KILL},
	{ALL(STAND_OWNER, STAND_FLINK_ASKED), REST}, /* its answer comes first */
	{ALL(STAND_OWNER, STAND_NOT_READ), READ},
	{ALL(STAND_OWNER), OWN},
	{ALL(STAND_CANDIDATE), PREPARE},
	{ALL(STAND_RESERVE), HAND_OVER, CAUSE_STANDING_BY},
	/* it may be an offer that is prepared: nothing ends because of that */
	{ALL(STAND_UNREADABLE, STAND_PUT_BACK), REST, CAUSE_JOURNAL_UNREADABLE,
	 "the journal was put back to an older version", say_put_back},
	{ALL(STAND_UNREADABLE), REST, CAUSE_JOURNAL_UNREADABLE},
	{ALL(STAND_MAY_BE_WANTED), REST, CAUSE_STANDING_BY},
	{ALL(STAND_ALWAYS), WAIT, CAUSE_STANDING_BY},
};

const struct stand_table standby_table = {"A Pod that stands by", rows, ARRAY_LEN(rows), whats,
					  WHATS};

static unsigned know(const struct standby *standby, bool just_read)
{
	enum role role = standby->verdict.role;
	bool for_offer = standby_is_for_offer(standby);
	/* an agent that comes back finds the Flink of its own launch */
	bool ours = standby->verdict.claim == CLAIM_OWN ||
		    (standby->verdict.claim == CLAIM_TAKE && for_offer);
	const struct stand_known facts[] = {
		{STAND_OWNER, role == ROLE_OWNER},
		{STAND_CANDIDATE, role == ROLE_CANDIDATE},
		{STAND_RESERVE, role == ROLE_RESERVE},
		{STAND_UNREADABLE, role == ROLE_UNREADABLE},
		{STAND_OTHER_FLINK, !ours && standby->flink != STANDBY_FLINK_NONE},
		{STAND_FLINK_ASKED, standby->flink == STANDBY_FLINK_ASKED},
		{STAND_NOT_READ, !just_read},
		{STAND_PUT_BACK, standby->put_back},
		{STAND_MAY_BE_WANTED, for_offer && standby->wanted == WANTED_UNKNOWN},
	};

	return stand_bits(facts, ARRAY_LEN(facts));
}

/* Its own Flink has no part in it: of the job that it had, or of a hand-over that is over. */
static void wait(struct standby *standby, enum candidate_state state)
{
	standby_kill(standby);
	standby->checked = false;
	standby_state(standby, state, NULL);
}

static void carry_out(struct standby *standby, enum what what)
{
	switch (what) {
	case WHATS:
	case REST:
		break;
	case KILL:
		standby_kill(standby);
		break;
	case READ:
		standby_reads(standby);
		break;
	case OWN:
		standby->owned = true;
		standby_emit(standby, STANDBY_DO_OWN);
		break;
	case PREPARE:
		standby_prepare(standby);
		break;
	case HAND_OVER:
		wait(standby, CANDIDATE_HANDED_OVER);
		break;
	case WAIT:
		wait(standby, CANDIDATE_STANDBY);
		break;
	}
}

static void act(struct standby *standby, bool just_read)
{
	const struct stand_row *row;

	if (standby_shadow(standby, just_read))
		return;
	row = stand_row(&standby_table, know(standby, just_read));
	carry_out(standby, (enum what)row->what);
	stand_say(standby, row);
}

/* Who only waits says nothing, unless it has a question; what it has said stays true while the journal
 * cannot be read. */
static bool has_record(const struct standby *standby)
{
	const struct role_verdict *verdict = &standby->verdict;
	bool goes_on = standby->terminating || verdict->role == ROLE_UNREADABLE;

	return standby->in_shadow || verdict->role == ROLE_CANDIDATE ||
	       verdict->role == ROLE_RESERVE || verdict->asks || (goes_on && standby->record.beat);
}

/* ---- the end of the container ---- */

/* The agent of the owner has died, and comes back while the container ends: its Flink is to be stopped
 * as an owner does it. */
static bool owns_flink(const struct standby *standby)
{
	return standby->verdict.role == ROLE_OWNER && standby->verdict.claim == CLAIM_OWN &&
	       standby->flink != STANDBY_FLINK_NONE;
}

static void leave_pod(struct standby *standby)
{
	/* until it is known whose Flink that is, drey-init ends it as if there were no agent */
	if (standby->flink != STANDBY_FLINK_NONE && (!standby->read_once || owns_flink(standby))) {
		standby->exit_ms = 0;
		return;
	}
	if (!standby->acked)
		standby_emit(standby, STANDBY_DO_STOP_ACK);
	standby->acked = true;
	if (standby->now_ms >= standby->exit_ms)
		standby->exit_ms = 0;
	standby_kill(standby);
	standby_state(standby, CANDIDATE_WITHDRAWN, "the pod ends");
	standby_shadow_leaves(standby);
	if (standby->flink != STANDBY_FLINK_NONE || standby->left)
		return;
	if (((standby->record_dirty && has_record(standby)) || standby->recording) &&
	    standby->exit_ms)
		return;
	standby->left = true;
	standby_emit(standby, STANDBY_DO_EXIT);
}

static void on_stopping(struct standby *standby)
{
	if (standby->terminating)
		return;
	standby->terminating = true;
	standby->exit_ms = standby->now_ms + EXIT_PATIENCE_MS;
}

/* ---- the record ---- */

static void on_record(struct standby *standby, const struct standby_event *event)
{
	standby->recording = false;
	standby->place_taken = event->record.taken;
	if (event->record.begun)
		standby_shadow_found(standby);
	if (!event->record.ok) {
		standby->record_dirty = true;
		standby->record_retry_ms =
			standby->now_ms + (event->record.taken ? STANDBY_BEAT_MS : RECORD_RETRY_MS);
		return;
	}
	standby->record_known = true;
	standby->told_job = standby->tells_job;
	standby->beat_ms =
		standby->now_ms + (standby->in_shadow && standby->record.shadow.gate.known
					   ? STANDBY_SHADOW_BEAT_MS
					   : STANDBY_BEAT_MS);
	if (standby->asks && !standby->silent_since_ms && !standby->record_dirty)
		standby->silent_since_ms = standby->now_ms;
}

static void publish(struct standby *standby)
{
	if (standby->beat_ms && standby->now_ms >= standby->beat_ms)
		standby->record_dirty = true;
	if (!has_record(standby))
		standby->beat_ms = standby->record_retry_ms = 0;
	else if (!standby->has_record)
		standby->record_dirty = true;
	standby->has_record = has_record(standby);
	if (standby->recording || !standby->record_dirty || !has_record(standby) ||
	    standby->owned || standby->left || standby->now_ms < standby->record_retry_ms)
		return;
	standby->record_dirty = false;
	standby->recording = true;
	standby->tells_job = candidate_shadow_begun(&standby->record.shadow, standby->handover.id);
	standby->beat_ms = standby->record_retry_ms = 0;
	standby->record.beat++;
	standby_emit(standby, STANDBY_DO_RECORD);
}

/* ---- events ---- */

static void on_tick(struct standby *standby)
{
	if (standby->now_ms >= standby->adopt_ms)
		standby->adopt_ms = 0;
	if (standby->read_ms && standby->now_ms >= standby->read_ms) {
		standby->read_ms = 0;
		standby_reads(standby);
	}
	if (standby->lock_ms && standby->now_ms >= standby->lock_ms) {
		bool known = standby->owner.uid || standby->owner.template;

		standby->lock_ms =
			standby->now_ms + (known && !standby->asks ? LOCK_AGAIN_MS : LOCK_SOON_MS);
		if (known) {
			standby_emit(standby, STANDBY_DO_LOCK)->side = standby->owner.side;
		} else {
			standby_emit(standby, STANDBY_DO_LOCK)->side = SIDE_BLUE;
			standby_emit(standby, STANDBY_DO_LOCK)->side = SIDE_GREEN;
		}
	}
	if (standby->wanted_ms && standby->now_ms >= standby->wanted_ms) {
		standby->wanted_ms = standby->now_ms + WANTED_AGAIN_MS;
		standby_emit(standby, STANDBY_DO_WANTED);
	}
}

static void on_hello(struct standby *standby, const struct standby_event *event)
{
	if (event->hello.running) {
		standby->flink = STANDBY_FLINK_STARTED;
		snprintf(standby->job_id, sizeof(standby->job_id), "%s", event->hello.running);
		standby->start_end_ms = standby->now_ms + standby->config->ready_deadline_ms;
		standby->warm_ms = standby->now_ms;
	}
	standby->lock_ms = standby->wanted_ms = standby->now_ms;
	standby_reads(standby);
	on_tick(standby);
	if (event->hello.stopping)
		on_stopping(standby);
}

static void take_event(struct standby *standby, const struct standby_event *event)
{
	switch (event->type) {
	case STANDBY_HELLO:
		on_hello(standby, event);
		break;
	case STANDBY_TICK:
		on_tick(standby);
		break;
	case STANDBY_JOURNAL:
		on_journal(standby, event);
		break;
	case STANDBY_LOCK:
		standby->locks[event->lock.side] = event->lock.lock;
		break;
	case STANDBY_WANTED:
		/* a Deployment that cannot be read now wants what it wanted before */
		if (event->wanted != WANTED_UNKNOWN)
			standby->wanted = event->wanted;
		break;
	case STANDBY_RECORD:
		on_record(standby, event);
		break;
	case STANDBY_STOPPING:
		on_stopping(standby);
		break;
	default:
		if (!standby_shadow_event(standby, event))
			standby_prepare_event(standby, event);
		break;
	}
}

static void note_heir(struct standby *standby)
{
	if (standby->verdict.role != ROLE_HEIR)
		standby->heir_since_ms = 0;
	else if (!standby->heir_since_ms)
		standby->heir_since_ms = standby->now_ms;
}

void standby_step(struct standby *standby, const struct standby_event *event, int64_t now_ms,
		  int64_t now_unix_ms, struct standby_effects *ret_effects)
{
	bool just_read = event->type == STANDBY_JOURNAL && !event->read.by_watch;

	if (standby->owned || standby->left)
		return;
	standby->now_ms = now_ms;
	standby->now_unix_ms = now_unix_ms;
	standby->out = ret_effects;
	take_event(standby, event);
	if (just_read && standby->readable && event->read.journal)
		xstrset(&standby->writer, event->read.journal->writer);
	if (standby->read_once || !standby->reading)
		judge_again(standby);
	note_heir(standby);
	if (standby->terminating)
		leave_pod(standby);
	if ((standby->read_once || standby->absent) &&
	    (!standby->terminating || owns_flink(standby)))
		act(standby, just_read);
	ask_owner(standby);
	publish(standby);
	standby->look_ms = standby->verdict.look_ms ? now_ms + standby->verdict.look_ms : 0;
	standby->out = NULL;
}

static int64_t sooner(int64_t next, int64_t deadline_ms)
{
	return deadline_ms && (next < 0 || deadline_ms < next) ? deadline_ms : next;
}

int64_t standby_deadline_ms(const struct standby *standby)
{
	const int64_t all[] = {standby->look_ms,
			       standby->reading ? 0 : standby->read_ms,
			       standby->lock_ms,
			       standby->wanted_ms,
			       standby->recording ? 0 : standby->beat_ms,
			       standby->recording ? 0 : standby->record_retry_ms,
			       standby->exit_ms,
			       standby->kill_again_ms,
			       standby->adopting ? 0 : standby->adopt_ms,
			       standby->ask_ms};
	/* nothing is prepared, or looked at, by others */
	const int64_t preparing[] = {standby->warm_ms, standby->launch_ms, standby->check_ms,
				     standby->start_end_ms, standby->ripe_ms};
	int64_t next = -1;

	if (standby->owned || standby->left)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		next = sooner(next, all[i]);
	for (size_t i = 0; i < ARRAY_LEN(preparing); i++)
		if (standby->verdict.role == ROLE_CANDIDATE && !standby->terminating)
			next = sooner(next, preparing[i]);
	return next;
}

/* ---- what others ask ---- */

bool standby_is_ready(const struct standby *standby)
{
	const struct role_verdict *verdict = &standby->verdict;
	bool going_on = standby->handover.state == HANDOVER_GRANTED ||
			standby->handover.state == HANDOVER_TAKEN;

	if (standby->terminating || !standby->read_once)
		return false;
	/* until the job runs at the other one, this pod must be kept; after that the other one */
	if (verdict->role == ROLE_RESERVE)
		return going_on || verdict->kind == HANDOVER_SAME;
	return standby->heir_since_ms && standby->now_ms - standby->heir_since_ms >= HEIR_READY_MS;
}

bool standby_side(const struct standby *standby, enum side *ret_side)
{
	const struct role_verdict *verdict = &standby->verdict;

	if (!standby->read_once ||
	    (verdict->role != ROLE_CANDIDATE && verdict->role != ROLE_RESERVE))
		return false;
	*ret_side = verdict->role == ROLE_RESERVE ? standby->handover.from.side : verdict->side;
	return true;
}

/* ---- begin and end ---- */

void standby_init(struct standby *standby, const struct standby_config *config)
{
	*standby = (struct standby){.config = config};
	standby_shadow_init(standby);
	standby->record.application = xstrdup(config->application);
	standby->record.uid = xstrdup(config->me.uid);
	standby->record.pod = xstrdup(config->me.pod);
	standby->record.template = xstrdup(config->me.template);
	standby->record.generation = xstrdup(config->generation);
	standby->record.flink_version = xstrdup(config->flink_version);
	snprintf(standby->reason, sizeof(standby->reason), "the journal is being read");
}

void standby_release(struct standby *standby)
{
	handover_release(&standby->handover);
	party_release(&standby->owner);
	free(standby->writer);
	free(standby->last_generation);
	candidate_release(&standby->record);
	*standby = (struct standby){0};
}
