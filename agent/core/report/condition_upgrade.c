#include "core/report/condition_upgrade.h"

#include <inttypes.h>

#include "base/mem.h"

/* How long a launch has run since its first checkpoint; -1 = it has completed none. */
static int64_t proven_for_ms(const struct launch *launch, int64_t now_unix_ms)
{
	int64_t until_unix_ms = launch->ended_unix_ms ? launch->ended_unix_ms : now_unix_ms;

	if (!launch->proven_unix_ms)
		return -1;
	/* the wall clock may have been set back */
	return until_unix_ms > launch->proven_unix_ms ? until_unix_ms - launch->proven_unix_ms : 0;
}

/* The best of its launches, and whether that one still runs. */
static int64_t best_ms(const struct lifecycle *life, int64_t now_unix_ms, bool *ret_runs)
{
	const struct journal *journal = &life->journal;
	int64_t best = -1;

	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];
		int64_t ran_ms = proven_for_ms(launch, now_unix_ms);

		if (!xstris(life->config->generation, launch->generation) || ran_ms < best)
			continue;
		best = ran_ms;
		*ret_runs = i + 1 == journal->launch_count && life->launch_step == LAUNCH_LIVE &&
			    !launch->ended_unix_ms;
	}
	return best;
}

void condition_upgrade(const struct lifecycle *life, int64_t now_unix_ms,
		       struct condition *ret_condition, int64_t *ret_due_unix_ms)
{
	const char *generation = life->config->generation;
	int64_t probation_ms = life->config->health.probation_ms, ran_ms;
	bool runs = false;

	*ret_due_unix_ms = 0;
	if (!generation) {
		condition_say(ret_condition, TRUTH_UNKNOWN, "NoGeneration",
			      "the configuration names no generation");
		return;
	}
	ran_ms = best_ms(life, now_unix_ms, &runs);
	/* MUT: a version is upgraded to before its probation is over */
	if (ran_ms >= 0 && ran_ms >= probation_ms)
		condition_say(ret_condition, TRUTH_TRUE, "Proven",
			      "generation %s has completed a checkpoint, and has run on",
			      generation);
	else if (journal_is_failed_generation(&life->journal, generation))
		condition_say(ret_condition, TRUTH_FALSE, "Failed",
			      "generation %s has used up its attempts", generation);
	else if (ran_ms < 0)
		condition_say(ret_condition, TRUTH_FALSE, "NoCheckpoint",
			      "generation %s has completed no checkpoint yet", generation);
	else
		condition_say(
			ret_condition, TRUTH_FALSE, "Probation",
			"generation %s has completed a checkpoint, and is on probation for %" PRId64
			" s after that",
			generation, probation_ms / 1000);
	if (runs && ran_ms >= 0 && ran_ms < probation_ms)
		*ret_due_unix_ms = now_unix_ms + probation_ms - ran_ms;
}
