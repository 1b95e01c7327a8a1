/*
 * gate - the valve before a sink of a job that runs on both sides (transition.h): what drey tells it,
 * what it does with a record, what it reports. Pure.
 *
 * A gate has one subtask for each one of the sink. It is told a word with the cut, by a file beside the
 * JobManager; a coordinator there hands it on, to each attempt of a subtask before its first record. So
 * an order is a state and no message: it may be given again at any time, and a subtask that has
 * acknowledged it does so again after a restart.
 */
#ifndef DREY_CORE_GATE_H
#define DREY_CORE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gate_word {
	GATE_OPEN,      /* everything passes: no transition is under way */
	GATE_CLOSED,    /* nothing does: the candidate's job in the shadow */
	GATE_ARM_BLUE,  /* what is below the cut: the owner's job */
	GATE_ARM_GREEN, /* what is at or above it: the candidate's */
	/* the candidate's, when it is the owner: also what comes late from below the cut, because the other
	 * side has ended. Not what is on time: after a restart from an older checkpoint that side has
	 * written it */
	GATE_FINISH,
	GATE_WORDS,
};
extern const char *const gate_words[]; /* as in the file; NULL at the end */

/* It divides the records at the cut. */
bool gate_needs_cut(enum gate_word word);

/* Records this far above the cut, or more, are not part of the new side: a wrong time in the far future must
 * not be held back by both. */
#define GATE_CEILING_MS INT64_C(3600000)

/* The latest time that an order can have: a JSON number is exact up to there. */
#define GATE_MAX_TIME_MS ((INT64_C(1) << 53) - 1 - GATE_CEILING_MS)

struct gate_order {
	/* Raised with each other content: that a gate was open before it was told a cut is no answer to the
	 * order to open again */
	int64_t number;
	enum gate_word word;
	int64_t toggle_unix_ms; /* 0 = no cut */
};

/* The same content under the same number. */
bool gate_same_order(const struct gate_order *a, const struct gate_order *b);

#define GATE_NO_TIME                                                                               \
	INT64_MIN /* of a record without a time, and of a watermark that did not come yet */

/* Does a subtask with this watermark let a record of this time pass? Otherwise it holds it back, for
 * ever: the other side writes it. */
bool gate_passes(const struct gate_order *order, int64_t time_unix_ms, int64_t watermark_unix_ms);

/* What a checkpoint has of the counts below. */
struct gate_snapshot {
	int64_t checkpoint_id;
	/* all its subtasks were told that it is complete, as the sinks behind them were: what they had
	 * written until then is committed */
	bool confirmed;
	int64_t withheld_above, min_watermark_unix_ms;
	/* of the subtasks that had records then; not in the record of a candidate */
	int64_t active_watermark_unix_ms;
	/* Only of gates that go by keys (gate_kind.h), and not in the record of a candidate, either. When all below this event time is
	 * committed, all that is in this snapshot is; 0 = not known (yet). `restarted`: the job has started again
	 * before it was known */
	int64_t seen_unix_ms;
	bool restarted;
};

#define GATE_SNAPSHOTS 8

struct gate_report {
	bool known;              /* the job runs, and its gates have reported for this launch */
	struct gate_order order; /* that the next two are about */
	int subtasks, running;
	int acked, refused; /* refused: it has held back a record at or above that cut */
	int idle;           /* have no records, and so no watermark */
	int64_t min_watermark_unix_ms, max_seen_unix_ms;
	/* Since the job began, and over restarts, at or above the cut; and how many below it have passed that
	 * were on time. What both sides pass is written twice */
	int64_t passed_above, withheld_above, passed_below;
	/* a subtask was told the cut when its watermark had come to it, so passed_above is the least it can be */
	bool inexact;
	/* newest first: those that can be restored */
	struct gate_snapshot snapshots[GATE_SNAPSHOTS];
	size_t snapshot_count;
};

/* Nothing is known of the gates, and so no record was seen, not even one of 1970. */
extern const struct gate_report gate_report_none;

/* Every subtask runs, and has taken this order. */
bool gate_has_taken(const struct gate_report *report, const struct gate_order *order);
/* One has refused exactly this order. */
bool gate_has_refused(const struct gate_report *report, const struct gate_order *order);
/* Every subtask runs, and its watermark is at or above the cut; `idle_passes`: one without records counts
 * as if it were. */
bool gate_is_behind(const struct gate_report *report, int64_t toggle_unix_ms, bool idle_passes);
/* The watermark of the other side is later than all that was seen here, by more than this: the job here is slow, or
 * what the records have as their time is not the same on both sides. */
bool gate_is_ahead(const struct gate_report *here, const struct gate_report *there,
		   int64_t most_ms);
/* It is not, and not further behind the one here, either. Without a watermark the newest records tell. */
bool gate_is_near(const struct gate_report *here, const struct gate_report *there, int64_t most_ms);
/* All that has a time below this is committed. */
bool gate_has_committed(const struct gate_report *report, int64_t below_unix_ms);
/* NULL = it is not among them. Borrowed. */
const struct gate_snapshot *gate_snapshot_of(const struct gate_report *report,
					     int64_t checkpoint_id);
/* The newest checkpoint before anything was held back; NULL = none that can be restored. Borrowed. */
const struct gate_snapshot *gate_clean(const struct gate_report *report);

/* A cut that neither side has come to: this far after all that was seen, rounded up to a multiple of
 * `align_ms` (0: as it is), and later than the one before. */
int64_t gate_cut(const struct gate_report *owner, const struct gate_report *candidate,
		 int64_t lead_ms, int64_t align_ms, int64_t before_unix_ms);

#endif
