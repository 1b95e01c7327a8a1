#include "core/report/condition_loss.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "core/report/cause.h"

/* "of 2026-03-01T12:00:00.000Z", or "of an unknown date". */
static const char *date_of(int64_t unix_ms, char text[CLOCK_TEXT_BYTES])
{
	if (!unix_ms)
		snprintf(text, CLOCK_TEXT_BYTES, "an unknown date");
	else
		clock_rfc3339(unix_ms, text);
	return text;
}

void loss_sentence(const struct state_loss *loss, char *ret_text, size_t size)
{
	char began[CLOCK_TEXT_BYTES], ended[CLOCK_TEXT_BYTES], time[CLOCK_TEXT_BYTES];
	int len = snprintf(ret_text, size,
			   "launch %" PRId64
			   " lost %s of state: it began from %s of %s, because %s of %s is damaged",
			   loss->launch, clock_human(loss->ms, time), loss->path ? loss->path : "?",
			   date_of(loss->completed_unix_ms, began),
			   loss->lost_path ? loss->lost_path : "?",
			   date_of(loss->lost_unix_ms, ended));

	if (len > 0 && (size_t)len < size && loss->count > 1)
		len += snprintf(ret_text + len, size - (size_t)len,
				"; with %" PRId64 " earlier: %s", loss->count - 1,
				clock_human(loss->total_ms, time));
	if (len > 0 && (size_t)len < size && loss->reason)
		snprintf(ret_text + len, size - (size_t)len, " (%s)", loss->reason);
}

void condition_loss(const struct journal *journal, struct condition *ret_condition)
{
	char text[sizeof(ret_condition->message)];

	if (!journal->loss.unix_ms) {
		condition_say(ret_condition, TRUTH_FALSE, "NothingLost",
			      "no launch has given up state that is not acknowledged");
		return;
	}
	loss_sentence(&journal->loss, text, sizeof(text));
	/* MUT: a loss of state is not in the conditions */
	condition_say(ret_condition, TRUTH_TRUE, cause_name(CAUSE_STATE_LOST), "%s", text);
}
