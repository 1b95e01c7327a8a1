#include "core/handover/gate.h"

const char *const gate_words[] = {"open", "closed", "armBlue", "armGreen", "finish", NULL};
_Static_assert(sizeof(gate_words) / sizeof(gate_words[0]) == GATE_WORDS + 1, "a word for each");

bool gate_needs_cut(enum gate_word word)
{
	return word == GATE_ARM_BLUE || word == GATE_ARM_GREEN || word == GATE_FINISH;
}

bool gate_passes(const struct gate_order *order, int64_t time_unix_ms, int64_t watermark_unix_ms)
{
	bool above = time_unix_ms >= order->toggle_unix_ms &&
		     time_unix_ms - order->toggle_unix_ms < GATE_CEILING_MS;

	switch (order->word) {
	case GATE_OPEN:
		return true;
	case GATE_ARM_BLUE:
		return time_unix_ms == GATE_NO_TIME || !above;
	case GATE_ARM_GREEN:
		return time_unix_ms != GATE_NO_TIME && above;
	case GATE_FINISH:
		/* MUT: what the other side has written passes after a restart */
		if (time_unix_ms != GATE_NO_TIME && !above)
			return watermark_unix_ms >= order->toggle_unix_ms;
		return true;
	default:
		return false;
	}
}

const struct gate_report gate_report_none = {.min_watermark_unix_ms = GATE_NO_TIME,
					     .max_seen_unix_ms = GATE_NO_TIME};

bool gate_same_order(const struct gate_order *a, const struct gate_order *b)
{
	return a->number == b->number && a->word == b->word &&
	       a->toggle_unix_ms == b->toggle_unix_ms;
}

static bool is_about(const struct gate_report *report, const struct gate_order *order)
{
	/* MUT: the acknowledgement of an earlier order counts */
	if (report->order.number != order->number)
		return false;
	return report->known && report->order.word == order->word &&
	       report->order.toggle_unix_ms == order->toggle_unix_ms;
}

static bool all_run(const struct gate_report *report)
{
	return report->known && report->subtasks > 0 && report->running == report->subtasks;
}

bool gate_has_taken(const struct gate_report *report, const struct gate_order *order)
{
	if (!is_about(report, order))
		return false;
	return all_run(report) && report->acked == report->subtasks;
}

bool gate_has_refused(const struct gate_report *report, const struct gate_order *order)
{
	return is_about(report, order) && report->refused > 0;
}

bool gate_is_behind(const struct gate_report *report, int64_t toggle_unix_ms, bool idle_passes)
{
	/* MUT: a subtask without records counts as behind the cut */
	if (report->idle && !idle_passes)
		return false;
	return all_run(report) && report->min_watermark_unix_ms >= toggle_unix_ms;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

bool gate_is_ahead(const struct gate_report *here, const struct gate_report *there, int64_t most_ms)
{
	int64_t ours = later(here->min_watermark_unix_ms, here->max_seen_unix_ms);
	int64_t theirs = there->min_watermark_unix_ms;

	if (!here->known || !there->known || theirs == GATE_NO_TIME)
		return false;
	/* MUT: a job whose records have later times than any here has caught up */
	return ours != GATE_NO_TIME && theirs - ours > most_ms;
}

bool gate_is_near(const struct gate_report *here, const struct gate_report *there, int64_t most_ms)
{
	int64_t ours = here->min_watermark_unix_ms, theirs = there->min_watermark_unix_ms;

	if (!here->known || !there->known || theirs == GATE_NO_TIME)
		return false;
	if (ours == GATE_NO_TIME)
		ours = here->max_seen_unix_ms;
	return ours != GATE_NO_TIME && ours - theirs <= most_ms &&
	       !gate_is_ahead(here, there, most_ms);
}

bool gate_has_committed(const struct gate_report *report, int64_t below_unix_ms)
{
	for (size_t i = 0; i < report->snapshot_count; i++)
		if (report->snapshots[i].confirmed &&
		    report->snapshots[i].min_watermark_unix_ms >= below_unix_ms)
			return true;
	return false;
}

const struct gate_snapshot *gate_snapshot_of(const struct gate_report *report,
					     int64_t checkpoint_id)
{
	for (size_t i = 0; i < report->snapshot_count; i++)
		if (report->snapshots[i].checkpoint_id == checkpoint_id)
			return &report->snapshots[i];
	return NULL;
}

const struct gate_snapshot *gate_clean(const struct gate_report *report)
{
	for (size_t i = 0; i < report->snapshot_count; i++)
		if (!report->snapshots[i].withheld_above)
			return &report->snapshots[i];
	return NULL;
}

int64_t gate_cut(const struct gate_report *owner, const struct gate_report *candidate,
		 int64_t lead_ms, int64_t align_ms, int64_t before_unix_ms)
{
	int64_t seen = later(owner->max_seen_unix_ms, candidate->max_seen_unix_ms);
	/* what no gate can have seen: the order is refused then, and nothing crosses */
	int64_t from = seen < GATE_MAX_TIME_MS ? seen : GATE_MAX_TIME_MS;
	int64_t cut = later(from + lead_ms, before_unix_ms + 1);
	int64_t over = align_ms > 0 ? cut % align_ms : 0;

	return over ? cut + align_ms - over : cut;
}
