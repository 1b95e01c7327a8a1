/*
 * The life cycle sends each notice once: when an agent has seen a launch verified or proven, it has sent the
 * notice, unless the journal already had it on record when that agent started.
 */
#include <inttypes.h>

#include "tests/sim/sim.h"

static void notice_on_record(struct agent *agent, const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal);

	agent->verified_told = launch && launch->verified_unix_ms ? launch->number : 0;
	agent->proven_told = launch && launch->proven_unix_ms ? launch->number : 0;
}

void notice_begin(struct agent *agent)
{
	notice_on_record(agent, &agent->life.journal);
}

void notice_adopt(struct agent *agent, const struct journal *copy)
{
	notice_on_record(agent, copy);
}

static void told_once(struct world *w, const struct notice *notice, int64_t *last)
{
	if (*last == notice->launch)
		fail(w, "launch %" PRId64 ": %s is told twice", notice->launch,
		     notice_type_name(notice->type));
	*last = notice->launch;
}

void notice_check(struct world *w, const struct effects *effects)
{
	struct agent *agent = w->agent;
	const struct launch *launch = journal_launch_const(&agent->life.journal);

	for (size_t i = 0; i < effects->count; i++) {
		const struct notice *notice = &effects->list[i].notice;

		if (effects->list[i].type != EFFECT_TELL)
			continue;
		if (notice->type == NOTICE_RESTORE_VERIFIED)
			told_once(w, notice, &agent->verified_told);
		else if (notice->type == NOTICE_PROVEN)
			told_once(w, notice, &agent->proven_told);
	}
	if (!launch)
		return;
	if (launch->verified_unix_ms && agent->verified_told != launch->number)
		fail(w, "launch %" PRId64 " is verified, and that is not told", launch->number);
	if (launch->proven_unix_ms && agent->proven_told != launch->number)
		fail(w, "launch %" PRId64 " is proven, and that is not told", launch->number);
}
