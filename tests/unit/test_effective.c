/* What follows from what the running job says of its settings. */
#include "core/effective.h"

#include <stddef.h>

#include "tap.h"

TEST(what_flink_deletes_depends_on_retention_and_high_availability)
{
	static const struct {
		bool known;
		enum externalized externalized;
		bool ha, by_signal, by_cancel;
	} rows[] = {
		{true, EXTERNALIZED_RETAIN, false, false, false},
		{true, EXTERNALIZED_DELETE, false, true, true},
		{true, EXTERNALIZED_NONE, false, true, true},
		{true, EXTERNALIZED_RETAIN, true, false, false},
		{true, EXTERNALIZED_DELETE, true, false, true},
		{true, EXTERNALIZED_NONE, true, false, true},
		{true, EXTERNALIZED_UNKNOWN, false, false, false},
		{false, EXTERNALIZED_DELETE, false, false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct effective effective = {.known = rows[i].known,
					      .externalized = rows[i].externalized};

		if (!CHECK(effective_signal_deletes(&effective, rows[i].ha) == rows[i].by_signal) ||
		    !CHECK(effective_cancel_deletes(&effective) == rows[i].by_cancel))
			tap_note("row %zu", i);
	}
}

TEST(each_word_has_its_value)
{
	CHECK_INT(externalized_of("DELETE_ON_CANCELLATION"), ==, EXTERNALIZED_DELETE);
	CHECK_INT(externalized_of("DELETE_SOMETIMES"), ==, EXTERNALIZED_UNKNOWN);
	CHECK_STR(externalized_words[EXTERNALIZED_RETAIN], "RETAIN_ON_CANCELLATION");
	CHECK_STR(externalized_words[EXTERNALIZED_DELETE], "DELETE_ON_CANCELLATION");
	CHECK_STR(externalized_words[EXTERNALIZED_NONE], "NO_EXTERNALIZED_CHECKPOINTS");
	CHECK(!externalized_words[EXTERNALIZED_NONE + 1]);
	CHECK_STR(checkpoint_storage_words[CHECKPOINT_STORAGE_MEMORY], "jobmanager");
	CHECK(!checkpoint_storage_words[CHECKPOINT_STORAGE_OTHER + 1]);
	CHECK_STR(state_backend_words[STATE_BACKEND_FORST], "forst");
	CHECK(!state_backend_words[STATE_BACKEND_OTHER + 1]);
	CHECK_STR(claim_mode_words[CLAIM_MODE_CLAIM], "CLAIM");
	CHECK(!claim_mode_words[CLAIM_MODE_CLAIM + 1]);
	CHECK_STR(task_restarts_words[TASK_RESTARTS_OFF], "off");
	CHECK(!task_restarts_words[TASK_RESTARTS_ON + 1]);
}

TEST(two_are_the_same_if_all_of_them_is)
{
	struct effective a = {.known = true, .interval_ms = 5}, b = a;

	CHECK(effective_same(&a, &b));
	b.externalized = EXTERNALIZED_DELETE;
	CHECK(!effective_same(&a, &b));
	b = a;
	b.interval_ms = 6;
	CHECK(!effective_same(&a, &b));
	b = a;
	b.storage = CHECKPOINT_STORAGE_MEMORY;
	CHECK(!effective_same(&a, &b));
	b = a;
	b.changelog = true;
	CHECK(!effective_same(&a, &b));
	b = a;
	b.restarts = TASK_RESTARTS_OFF;
	CHECK(!effective_same(&a, &b));
	b = a;
	b.claim = CLAIM_MODE_CLAIM;
	CHECK(!effective_same(&a, &b));
}
