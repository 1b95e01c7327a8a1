/* How many slots a job needs. */
#include "core/slots.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"

TEST(a_group_needs_the_largest_parallelism_in_it_and_the_job_the_sum)
{
	static const struct {
		struct slot_user users[4];
		size_t count;
		int64_t needed;
	} cases[] = {
		{{{NULL, 0}}, 0, 0},
		{{{NULL, 3}}, 1, 3},
		{{{NULL, 3}, {NULL, 8}, {NULL, 1}}, 3, 8},
		{{{"a", 3}, {"b", 8}, {"a", 5}}, 3, 13},
		{{{"a", 3}, {NULL, 8}, {"a", 5}, {NULL, 2}}, 4, 13},
		{{{"a", -1}, {"b", 2}}, 2, 2},
		{{{"a", -1}, {"a", 0}}, 2, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_INT(slots_needed(cases[i].users, cases[i].count), ==, cases[i].needed);
}

static void check_short(int64_t needed, int64_t total, int64_t managers, const char *want)
{
	cleanup_free char *got = slots_short(needed, total, managers);

	CHECK_STR(got, want);
}

TEST(too_few_slots_are_a_sentence_with_numbers)
{
	check_short(4, 4, 1, NULL);
	check_short(0, 0, 0, NULL);
	check_short(8, 4, 2, "it needs 8 slots, and there are 4 (2 TaskManagers)");
	check_short(2, 1, 1, "it needs 2 slots, and there is 1 (1 TaskManager)");
	check_short(1, 0, -1, "it needs 1 slot, and there are 0");
}
