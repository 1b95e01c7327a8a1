/* What an answer of Flink says about an operation: only a refusal is a failure. */
#include "run/effects/operation_status.h"

#include "base/mem.h"
#include "tap.h"

TEST(what_is_not_known_is_not_a_failure)
{
	static const struct {
		enum flink_answer answer;
		enum err_kind kind;
		enum operation_status status;
	} cases[] = {
		{FLINK_OK, ERR_NONE, STATUS_ACCEPTED},
		{FLINK_NOT_YET, ERR_RETRY, STATUS_UNREACHABLE},
		{FLINK_ABSENT, ERR_ABSENT, STATUS_UNKNOWN_ID},
		{FLINK_ERROR, ERR_CONFIG, STATUS_FAILED},
		{FLINK_ERROR, ERR_DENIED, STATUS_FAILED},
		{FLINK_ERROR, ERR_BUSY, STATUS_FAILED},
		{FLINK_ERROR, ERR_RETRY, STATUS_UNREACHABLE},
		{FLINK_ERROR, ERR_FORMAT, STATUS_UNREACHABLE},
		{FLINK_ERROR, ERR_SYS, STATUS_UNREACHABLE},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct err err = {.kind = cases[i].kind};

		if (!CHECK_INT(operation_status_of(cases[i].answer, &err), ==, cases[i].status))
			tap_note("case %zu", i);
	}
}
