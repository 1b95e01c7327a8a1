#include "core/lifecycle/lifecycle_waits.h"

#include "base/mem.h"
#include "core/lifecycle/lifecycle_blockers.h"
#include "core/lifecycle/lifecycle_facts.h"

/* What waits while it is requested or due, and not in flight. Where no Flink runs, no stop waits. */
static const struct {
	enum fact wanted;
	enum activity activity;
	enum fact unless[3]; /* FACT_NONE: no more */
} rows[] = {
	{FACT_SAVEPOINT_WANTED, BEGIN_SAVEPOINT, {FACT_SAVES}},
	{FACT_SAVEPOINT_DUE, BEGIN_PERIODIC, {FACT_SAVES, FACT_SAVEPOINT_WANTED}},
	{FACT_PARKS, BEGIN_STOP, {FACT_ENDS, FACT_NOT_LIVE}},
	{FACT_RESTART_WANTED, BEGIN_STOP, {FACT_PARKS, FACT_ENDS, FACT_NOT_LIVE}},
	{FACT_PARALLELISM_OWED, BEGIN_RESCALE, {FACT_RESCALES, FACT_NOT_LIVE}},
};

_Static_assert(ARRAY_LEN(rows) <= LIFE_WAITS_MAX, "all rows have room");

size_t lifecycle_waits(const struct lifecycle *life, struct life_wait ret_waits[LIFE_WAITS_MAX])
{
	uint64_t facts = facts_of(life);
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t against = facts & activity_waits_for(rows[i].activity), unless = 0;

		for (size_t n = 0; n < ARRAY_LEN(rows[i].unless); n++)
			unless |= facts & fact_bit(rows[i].unless[n]);
		/* MUT: what is in flight waits, too */
		if (unless || (rows[i].activity == BEGIN_STOP && job_is_being_ended(life)))
			continue;
		if ((facts & fact_bit(rows[i].wanted)) && against)
			ret_waits[count++] =
				(struct life_wait){activity_name(rows[i].activity), against};
	}
	return count;
}

const char *life_wait_clause(const struct life_wait *wait, size_t index)
{
	for (int fact = FACT_NONE + 1; fact < FACT_COUNT; fact++)
		if ((wait->for_facts & fact_bit((enum fact)fact)) && !index--)
			return fact_says((enum fact)fact);
	return NULL;
}
