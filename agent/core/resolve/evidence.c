#include "core/resolve/evidence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/words.h"

/* ---- the table ---- */

#define ANY_SIGHTING SIGHTING_COUNT
#define ANY_READING  READING_COUNT

enum known {
	KNOWN_NO,
	KNOWN_YES,
	KNOWN_ANY,
};

struct row {
	enum sighting sighting;
	enum reading reading;
	enum known known;
	enum evidence_verdict verdict;
	bool contradicted;
};

/* The first that fits. A body that was read is the best witness, whatever a listing left out. */
static const struct row rows[] = {
	{SIGHTING_BARE, READING_GOOD, KNOWN_ANY, EVIDENCE_FOUND, true},
	{ANY_SIGHTING, READING_GOOD, KNOWN_ANY, EVIDENCE_FOUND, false},
	{ANY_SIGHTING, READING_FAILED, KNOWN_ANY, EVIDENCE_UNREADABLE, false},
	{ANY_SIGHTING, READING_DAMAGED, KNOWN_ANY, EVIDENCE_DAMAGED, false},
	{SIGHTING_WHOLE, READING_GONE, KNOWN_ANY, EVIDENCE_UNREADABLE, true},
	{SIGHTING_WHOLE, READING_NONE, KNOWN_ANY, EVIDENCE_FOUND, false},
	{ANY_SIGHTING, READING_GONE, KNOWN_YES, EVIDENCE_MISSING, true},
	{SIGHTING_BARE, READING_NONE, KNOWN_YES, EVIDENCE_MISSING, true},
	{ANY_SIGHTING, READING_GONE, KNOWN_NO, EVIDENCE_ABSENT, false},
	{SIGHTING_BARE, READING_NONE, KNOWN_NO, EVIDENCE_ABSENT, false},
	{SIGHTING_NONE, READING_NONE, KNOWN_ANY, EVIDENCE_UNREADABLE, false},
};

static bool fits(const struct row *row, enum sighting sighting, enum reading reading, bool known)
{
	return (row->sighting == ANY_SIGHTING || row->sighting == sighting) &&
	       (row->reading == ANY_READING || row->reading == reading) &&
	       (row->known == KNOWN_ANY || (row->known == KNOWN_YES) == known);
}

enum evidence_verdict evidence_judge(enum sighting sighting, enum reading reading,
				     enum record_of record, bool *ret_contradicted)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!fits(&rows[i], sighting, reading, record != RECORD_OF_NONE))
			continue;
		if (ret_contradicted)
			*ret_contradicted = rows[i].contradicted;
		return rows[i].verdict;
	}
	if (ret_contradicted)
		*ret_contradicted = false;
	return EVIDENCE_UNREADABLE; /* no row: nothing is permitted */
}

/* ---- the witnesses ---- */

static enum sighting sighting_of(const struct candidate *c)
{
	if (facts_was_seen(c))
		return SIGHTING_WHOLE;
	return facts_is_listed(c->source) && c->integrity == INTEGRITY_INCOMPLETE ? SIGHTING_BARE
										  : SIGHTING_NONE;
}

static enum reading reading_of(const struct candidate *c, enum sighting sighting)
{
	switch (c->integrity) {
	case INTEGRITY_UNCHECKED:
		return READING_NONE;
	case INTEGRITY_COMPLETE:
		return READING_GOOD;
	case INTEGRITY_DAMAGED:
		return READING_DAMAGED;
	case INTEGRITY_UNREADABLE:
		if (!c->contradicted)
			return READING_FAILED;
		break;
	case INTEGRITY_INCOMPLETE:
		break;
	}
	return sighting == SIGHTING_BARE ? READING_NONE : READING_GONE;
}

static bool journal_has(const struct journal *journal, const char *path)
{
	const struct snapshot *known = journal_snapshot(journal, path);

	/* what is being deleted may be gone */
	if (snapshot_same_path(journal->disposing, path))
		return false;
	if (known && (known->completed_unix_ms || known->verified))
		return true;
	for (size_t i = 0; i < journal->launch_count; i++)
		if (snapshot_same_path(journal->launches[i].last_checkpoint_path, path))
			return true;
	return false;
}

static enum record_of record_of(const struct journal *journal, const struct facts *facts,
				const struct candidate *c)
{
	if (c->in_ha)
		return RECORD_OF_HA;
	if (journal_has(journal, c->snapshot.path))
		return RECORD_OF_JOURNAL;
	if (facts->ended == JOB_END_STOPPED &&
	    snapshot_same_path(facts->ended_detail, c->snapshot.path))
		return RECORD_OF_END;
	return RECORD_OF_NONE;
}

/* ---- what they say ---- */

static void evidence_add(struct evidence *to, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void evidence_add(struct evidence *to, const char *fmt, ...)
{
	size_t len = strlen(to->text);
	va_list ap;

	if (len && len + 2 < sizeof(to->text)) {
		memcpy(to->text + len, ", ", 3);
		len += 2;
	}
	va_start(ap, fmt);
	vsnprintf(to->text + len, sizeof(to->text) - len, fmt, ap);
	va_end(ap);
}

static void evidence_time(struct evidence *to, int64_t unix_ms)
{
	size_t len = strlen(to->text);
	char time[CLOCK_TEXT_BYTES];

	if (unix_ms > 0)
		snprintf(to->text + len, sizeof(to->text) - len, " at %s",
			 clock_time_of_day(unix_ms, time));
}

static void say_sighting(const struct candidate *c, struct evidence *to)
{
	int64_t bytes = c->snapshot.metadata_bytes;
	size_t len;

	if (to->sighting == SIGHTING_NONE) {
		if (to->record)
			evidence_add(to, "not listed");
		return;
	}
	evidence_add(to, facts_is_listed(c->source) ? "listed" : "seen");
	evidence_time(to, c->listed_unix_ms);
	len = strlen(to->text);
	if (to->sighting == SIGHTING_BARE)
		snprintf(to->text + len, sizeof(to->text) - len, " without a _metadata");
	else if (bytes > 0)
		snprintf(to->text + len, sizeof(to->text) - len, " with %" PRId64 " bytes", bytes);
}

static void say_reading(const struct candidate *c, struct evidence *to)
{
	static const char *const words[READING_COUNT] = {
		[READING_NONE] = "not read",
		[READING_GOOD] = "read completely",
		[READING_DAMAGED] = "read as damaged",
		[READING_GONE] = "answered \"not found\"",
		[READING_FAILED] = "could not be read",
	};

	evidence_add(to, "%s", words[to->reading]);
	if (to->reading != READING_NONE)
		evidence_time(to, c->read_unix_ms);
}

static void say_record(struct evidence *to)
{
	static const char *const words[RECORD_OF_COUNT] = {
		[RECORD_OF_JOURNAL] = "completed according to the journal",
		[RECORD_OF_HA] = "completed according to Flink's HA data",
		[RECORD_OF_END] = "completed according to Flink's record of the end",
	};

	if (to->record)
		evidence_add(to, "%s", words[to->record]);
}

void evidence_of(const struct journal *journal, const struct facts *facts,
		 const struct candidate *candidate, struct evidence *ret)
{
	*ret = (struct evidence){.sighting = sighting_of(candidate)};
	ret->reading = reading_of(candidate, ret->sighting);
	ret->record = record_of(journal, facts, candidate);
	ret->verdict = evidence_judge(ret->sighting, ret->reading, ret->record, &ret->contradicted);
	say_record(ret);
	say_sighting(candidate, ret);
	say_reading(candidate, ret);
}

void evidence_apply(const struct journal *journal, struct facts *facts)
{
	for (size_t i = 0; i < facts->candidate_count; i++) {
		struct candidate *c = &facts->candidates[i];
		struct evidence evidence;

		if (c->integrity != INTEGRITY_INCOMPLETE)
			continue;
		evidence_of(journal, facts, c, &evidence);
		if (evidence.verdict != EVIDENCE_UNREADABLE)
			continue;
		c->integrity = INTEGRITY_UNREADABLE;
		c->contradicted = true;
		xstrset(&c->detail, evidence.text);
	}
}

/* ---- names ---- */

WORDS(evidence_verdict_name, enum evidence_verdict, "unknown", "found", "absent", "missing",
      "unreadable", "damaged");

WORDS(sighting_name, enum sighting, "unknown", "none", "bare", "whole");
WORDS(reading_name, enum reading, "unknown", "none", "good", "damaged", "gone", "failed");
WORDS(record_of_name, enum record_of, "unknown", "none", "journal", "ha", "results");
