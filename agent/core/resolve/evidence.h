/*
 * evidence - what all that was read for one decision says about one snapshot. Pure.
 *
 * Each reading is a witness: a listing, an answer about the _metadata itself, Flink's HA data, the
 * journal, Flink's record of the end. None of them decides alone that something does not exist: "not
 * found" counts only if no other witness says the contrary. What would be permitted by absence or
 * damage (an older start, an empty start) goes by the verdict here, never by one reading.
 *
 *   found       it exists, as far as it was read
 *   absent      a witness that can know says that it does not exist, and none says that it does
 *   missing     the storage says that it does not exist, but it is known to have been completed
 *   unreadable  nothing can be said: it was not read, or two readings of the storage contradict
 *               each other
 *   damaged     it was read, and cannot be used
 *
 * Life cycle: none; evidence_of() fills a struct that owns nothing but its text.
 */
#ifndef DREY_CORE_EVIDENCE_H
#define DREY_CORE_EVIDENCE_H

#include <stdbool.h>

#include "core/journal/journal.h"
#include "core/resolve/facts.h"

/* What the storage showed before it was read: a listing, or the first bytes of its _metadata. */
enum sighting {
	SIGHTING_NONE,  /* nothing names it */
	SIGHTING_BARE,  /* a listing names its directory, without a _metadata */
	SIGHTING_WHOLE, /* its _metadata was seen, with a date or a size */
	SIGHTING_COUNT,
};

/* What came of reading it. */
enum reading {
	READING_NONE, /* it was not read */
	READING_GOOD,
	READING_DAMAGED,
	READING_GONE, /* its _metadata: "not found" */
	READING_FAILED,
	READING_COUNT,
};

/* Who knows that it was completed. */
enum record_of {
	RECORD_OF_NONE,
	RECORD_OF_JOURNAL,
	RECORD_OF_HA,
	RECORD_OF_END, /* Flink's record of the end of the job: its last savepoint */
	RECORD_OF_COUNT,
};

enum evidence_verdict {
	EVIDENCE_FOUND,
	EVIDENCE_ABSENT,
	EVIDENCE_MISSING,
	EVIDENCE_UNREADABLE,
	EVIDENCE_DAMAGED,
};

#define EVIDENCE_TEXT_BYTES 256

struct evidence {
	enum sighting sighting;
	enum reading reading;
	enum record_of record;
	enum evidence_verdict verdict;
	bool contradicted; /* two witnesses do not agree */
	char text
		[EVIDENCE_TEXT_BYTES]; /* what they say: "listed at 12:31:02 with 5312 bytes, ..." */
};

/* The table alone; *ret_contradicted may be NULL. */
enum evidence_verdict evidence_judge(enum sighting sighting, enum reading reading,
				     enum record_of record, bool *ret_contradicted);

void evidence_of(const struct journal *journal, const struct facts *facts,
		 const struct candidate *candidate, struct evidence *ret);

/* Where the storage contradicts itself about a candidate, it becomes INTEGRITY_UNREADABLE, with the
 * contradiction as its detail: so no rule takes it for incomplete. */
void evidence_apply(const struct journal *journal, struct facts *facts);

/* "found", "absent", "missing", "unreadable", "damaged"; "none", "bare", "whole"; "none", "good",
 * "damaged", "gone", "failed"; "none", "journal", "ha", "results". */
const char *evidence_verdict_name(enum evidence_verdict verdict);
const char *sighting_name(enum sighting sighting);
const char *reading_name(enum reading reading);
const char *record_of_name(enum record_of record);

#endif
