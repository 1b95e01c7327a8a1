#include "core/spare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/backoff.h"
#include "base/mem.h"
#include "base/words.h"

/* ---- when to start one, and when to end it ---- */

static bool may_run_again(const struct lifecycle *life)
{
	const struct intent *intent = &life->journal.intent;

	return !life->terminating && !life->left && !lifecycle_is_inert(life) &&
	       !intent->do_not_restart && intent->state != DESIRED_CANCELLED &&
	       !phase_is_end(life->phase);
}

bool spare_is_wanted(const struct spare *spare, const struct lifecycle *life, int64_t now_ms)
{
	const struct launch *launch = journal_launch_const(&life->journal);

	if (spare->state != SPARE_NONE || now_ms < spare->not_before_ms)
		return false;
	/* MUT: a spare is started while the job is parked */
	if (life->phase != PHASE_RUNNING || life->launch_step != LAUNCH_LIVE)
		return false;
	if (life->journal.intent.state != DESIRED_RUNNING || !may_run_again(life))
		return false;
	/* what has not yet worked once gets all of the processor, and is not worth a second one */
	/* MUT: a spare is started before the launch is proven */
	if (!launch || !launch->proven_unix_ms)
		return false;
	return life->seen.job_present && life->seen.state == JOB_RUNNING;
}

enum spare_why spare_start_why(const struct spare_outside *outside)
{
	if (!outside->configured)
		return SPARE_OFF;
	/* MUT: a drey-init that knows no spare is asked for one */
	if (!outside->init_takes_it)
		return SPARE_INIT_TOO_OLD;
	if (!outside->has_program)
		return SPARE_NO_PROGRAM;
	if (!outside->made_of || !*outside->made_of)
		return SPARE_COMMAND_UNKNOWN;
	/* MUT: a spare is started with the options of an agent */
	if (outside->exclusive)
		return SPARE_NOT_SHAREABLE;
	/* MUT: a spare is started without headroom */
	if (outside->headroom_bytes < SPARE_NEEDS_BYTES)
		return SPARE_NO_HEADROOM;
	return SPARE_WELL;
}

void spare_is_refused(struct spare *spare, enum spare_why why, int64_t now_ms)
{
	spare->why = why;
	spare->not_before_ms = now_ms + SPARE_LOOK_AGAIN_MS;
}

enum spare_why spare_end_why(const struct spare *spare, const struct lifecycle *life,
			     int64_t headroom_bytes)
{
	if (spare->state != SPARE_WARMING && spare->state != SPARE_READY)
		return SPARE_WELL;
	/* suspended it stays: a resume is faster with it, and the memory of the JobManager is free */
	if (!may_run_again(life))
		return SPARE_NOT_WANTED;
	/* MUT: a spare is kept until the kernel kills something */
	if (headroom_bytes < SPARE_LEAST_BYTES)
		return SPARE_NO_HEADROOM;
	return SPARE_WELL;
}

/* ---- may a launch run in it ---- */

enum spare_why spare_use_why(const struct spare *spare, const struct spare_launch *launch)
{
	if (!launch->configured)
		return SPARE_OFF;
	if (spare->state == SPARE_NONE || spare->state == SPARE_ENDING)
		return spare->why == SPARE_WELL ? SPARE_NOT_PROVEN : spare->why;
	/* MUT: a launch is sent into a spare that is not ready */
	if (spare->state != SPARE_READY)
		return SPARE_NOT_READY;
	/* MUT: a launch of something else is sent into the spare */
	if (!launch->made_of || strcmp(launch->made_of, spare->made_of) != 0)
		return SPARE_CHANGED;
	/* MUT: a launch with another command is sent into the spare */
	if (!launch->same_command)
		return SPARE_COMMAND_CHANGED;
	return SPARE_WELL;
}

/* ---- what happens to it ---- */

static void count_failure(struct spare *spare, enum spare_why why, int64_t now_ms)
{
	spare->why = why;
	spare->failures++;
	/* MUT: one spare after the other is started */
	spare->not_before_ms =
		now_ms + backoff_ms(SPARE_PAUSE_FIRST_MS, SPARE_PAUSE_MAX_MS, spare->failures);
}

static bool is_this(const struct spare *spare, const char *id)
{
	return spare->state != SPARE_NONE && id && !strcmp(spare->id, id);
}

void spare_starts(struct spare *spare, const char *made_of)
{
	spare->number++;
	snprintf(spare->id, sizeof(spare->id), "spare%" PRId64, spare->number);
	snprintf(spare->made_of, sizeof(spare->made_of), "%s", made_of);
	spare->state = SPARE_WARMING;
	spare->why = SPARE_WELL;
}

void spare_ends(struct spare *spare, enum spare_why why)
{
	spare->state = SPARE_ENDING;
	spare->why = why;
}

bool spare_is_ready(struct spare *spare, const char *id, int64_t now_ms)
{
	if (!is_this(spare, id) || spare->state != SPARE_WARMING)
		return false;
	spare->state = SPARE_READY;
	spare->ready_ms = now_ms;
	return true;
}

bool spare_is_gone(struct spare *spare, const char *id, int64_t now_ms)
{
	bool expected = spare->state == SPARE_ENDING;

	/* MUT: the end of an earlier spare counts as that of this one */
	if (!is_this(spare, id))
		return false;
	if (spare->state == SPARE_READY && now_ms - spare->ready_ms >= SPARE_WELL_MS)
		spare->failures = 0;
	spare->state = SPARE_NONE;
	if (!expected)
		count_failure(spare, SPARE_GONE, now_ms);
	else if (spare->why == SPARE_NO_HEADROOM)
		count_failure(spare, SPARE_NO_HEADROOM, now_ms);
	return true;
}

void spare_enters(struct spare *spare)
{
	spare->state = SPARE_ENTERING;
}

void spare_is_passed_by(struct spare *spare, enum spare_why why)
{
	/* MUT: a spare that drey-init ends counts as one that waits */
	if (spare->state != SPARE_NONE)
		spare->state = SPARE_ENDING;
	spare->why = why;
}

bool spare_entered(struct spare *spare, bool in_spare, int64_t now_ms)
{
	if (spare->state != SPARE_ENTERING)
		return false;
	spare->state = SPARE_NONE;
	if (in_spare) {
		spare->why = SPARE_WELL;
		spare->failures = 0;
		spare->not_before_ms = 0;
	} else {
		count_failure(spare, SPARE_NOT_ENTERED, now_ms);
	}
	return true;
}

/* ---- words ---- */

WORDS(spare_state_name, enum spare_state, "unknown", "none", "warming", "ready", "entering",
      "ending");

static const struct {
	const char *name, *sentence;
} whys[SPARE_WHYS] = {
	[SPARE_WELL] = {"", ""},
	[SPARE_OFF] = {"Off", "flink.spare is off"},
	[SPARE_INIT_TOO_OLD] = {"InitTooOld", "this drey-init is too old for it: use the drey-init "
					      "of the same version as drey"},
	[SPARE_NO_PROGRAM] = {"NoProgram", "its jar does not exist or cannot be read"},
	[SPARE_COMMAND_UNKNOWN] = {"CommandUnknown",
				   "the command line of the running JVM is not known"},
	[SPARE_NOT_SHAREABLE] = {"NotShareable",
				 "the options of the JVM name an agent, a port or a "
				 "log file, which two JVMs cannot share"},
	[SPARE_NO_HEADROOM] = {"NoHeadroom",
			       "the memory limit of the container leaves no room for it: raise it"},
	[SPARE_NOT_PROVEN] = {"NotProven",
			      "no launch has completed a checkpoint since the last one"},
	[SPARE_NOT_WANTED] = {"NotWanted", "the job is not to be launched again now"},
	[SPARE_NOT_READY] = {"NotReady", "it is still being prepared"},
	[SPARE_CHANGED] = {"Changed", "the configuration, the environment, or a jar of Flink has "
				      "changed since it was started"},
	[SPARE_COMMAND_CHANGED] = {"CommandChanged",
				   "the command line has changed since it was started"},
	[SPARE_NOT_ENTERED] = {"NotEntered", "it did not take over within the time limit"},
	[SPARE_GONE] = {"Gone", "it has ended"},
};

const char *spare_why_name(enum spare_why why)
{
	return (size_t)why < SPARE_WHYS ? whys[why].name : "";
}

const char *spare_why_sentence(enum spare_why why)
{
	return (size_t)why < SPARE_WHYS ? whys[why].sentence : "";
}
