/* What several readings of one snapshot say together: the whole table, and the sentence. */
#include "core/resolve/evidence.h"
#include "resolve_world.h"

#define CHK_A(n) "file:/cp/" JOB_A "/chk-" #n
#define NOON_MS  INT64_C(1772366400000) /* 2026-03-01T12:00:00Z */

/* By sighting, then reading, then whether it is known to be complete; `!` = the witnesses do not agree. */
struct expected {
	enum sighting sighting;
	enum reading reading;
	const char *unknown, *known;
};

static const struct expected table[] = {
	{SIGHTING_NONE, READING_NONE, "unreadable", "unreadable"},
	{SIGHTING_NONE, READING_GOOD, "found", "found"},
	{SIGHTING_NONE, READING_DAMAGED, "damaged", "damaged"},
	{SIGHTING_NONE, READING_GONE, "absent", "missing!"},
	{SIGHTING_NONE, READING_FAILED, "unreadable", "unreadable"},
	{SIGHTING_BARE, READING_NONE, "absent", "missing!"},
	{SIGHTING_BARE, READING_GOOD, "found!", "found!"},
	{SIGHTING_BARE, READING_DAMAGED, "damaged", "damaged"},
	{SIGHTING_BARE, READING_GONE, "absent", "missing!"},
	{SIGHTING_BARE, READING_FAILED, "unreadable", "unreadable"},
	{SIGHTING_WHOLE, READING_NONE, "found", "found"},
	{SIGHTING_WHOLE, READING_GOOD, "found", "found"},
	{SIGHTING_WHOLE, READING_DAMAGED, "damaged", "damaged"},
	{SIGHTING_WHOLE, READING_GONE, "unreadable!", "unreadable!"},
	{SIGHTING_WHOLE, READING_FAILED, "unreadable", "unreadable"},
};

static void check_row(const struct expected *row, enum record_of record, const char *want)
{
	bool contradicted = false;
	enum evidence_verdict verdict =
		evidence_judge(row->sighting, row->reading, record, &contradicted);
	cleanup_free char *got =
		xasprintf("%s%s", evidence_verdict_name(verdict), contradicted ? "!" : "");

	CHECK_STR(got, want);
	if (strcmp(got, want) != 0)
		tap_note("sighting %s, reading %s, record %s", sighting_name(row->sighting),
			 reading_name(row->reading), record_of_name(record));
}

TEST(every_combination_of_witnesses_has_its_verdict)
{
	CHECK_INT(ARRAY_LEN(table), ==, SIGHTING_COUNT * READING_COUNT);
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		check_row(&table[i], RECORD_OF_NONE, table[i].unknown);
		for (int record = RECORD_OF_JOURNAL; record < RECORD_OF_COUNT; record++)
			check_row(&table[i], (enum record_of)record, table[i].known);
	}
}

TEST(only_an_answer_or_a_listing_that_nobody_contradicts_is_absence)
{
	for (int s = 0; s < SIGHTING_COUNT; s++)
		for (int r = 0; r < READING_COUNT; r++)
			for (int k = 0; k < RECORD_OF_COUNT; k++)
				if (evidence_judge(s, r, k, NULL) == EVIDENCE_ABSENT)
					CHECK(k == RECORD_OF_NONE && s != SIGHTING_WHOLE &&
					      (r == READING_GONE || s == SIGHTING_BARE));
}

static void seen_with(struct candidate *c, int64_t bytes)
{
	c->snapshot.metadata_bytes = bytes;
	c->listed_unix_ms = NOON_MS;
	c->read_unix_ms = NOON_MS + 2000;
}

WORLD_TEST(the_sentence_has_both_sightings)
{
	struct candidate *c = found_checkpoint(w, JOB_A, 8);
	struct evidence evidence;

	seen_with(c, 5312);
	broken(c, INTEGRITY_INCOMPLETE, "is missing");
	evidence_of(&w->journal, &w->facts, c, &evidence);
	CHECK_STR(evidence.text,
		  "listed at 12:00:00 with 5312 bytes, answered \"not found\" at 12:00:02");
	CHECK(evidence.contradicted);
	CHECK_INT(evidence.verdict, ==, EVIDENCE_UNREADABLE);
}

WORLD_TEST(who_knows_that_it_was_completed_is_named)
{
	struct candidate *c = found(w, SOURCE_JOURNAL, CHK_A(8), SNAPSHOT_CHECKPOINT, JOB_A, 8);
	struct evidence evidence;

	broken(c, INTEGRITY_INCOMPLETE, "no _metadata");
	evidence_of(&w->journal, &w->facts, c, &evidence);
	CHECK_STR(evidence.text, "answered \"not found\"");
	CHECK_INT(evidence.verdict, ==, EVIDENCE_ABSENT);
	facts_set_end(&w->facts, JOB_A, JOB_END_STOPPED, CHK_A(8));
	evidence_of(&w->journal, &w->facts, c, &evidence);
	CHECK_INT(evidence.record, ==, RECORD_OF_END);
	CHECK_INT(evidence.verdict, ==, EVIDENCE_MISSING);
	proved(w, JOB_A, NULL, 0, 8);
	evidence_of(&w->journal, &w->facts, c, &evidence);
	CHECK_STR(evidence.text,
		  "completed according to the journal, not listed, answered \"not found\"");
	CHECK_INT(evidence.verdict, ==, EVIDENCE_MISSING);
	in_ha(w, c, JOB_A);
	evidence_of(&w->journal, &w->facts, c, &evidence);
	CHECK_HAS(evidence.text, "completed according to Flink's HA data");
}

WORLD_TEST(what_drey_has_had_deleted_is_not_missing)
{
	struct snapshot savepoint = {.path = (char *)"file:/sp/savepoint-aaaaaa-1",
				     .kind = SNAPSHOT_SAVEPOINT,
				     .completed_unix_ms = 8,
				     .verified = true};
	struct evidence evidence;
	struct candidate *c;

	journal_add_snapshot(&w->journal, &savepoint);
	c = found(w, SOURCE_JOURNAL, savepoint.path, SNAPSHOT_SAVEPOINT, "aaaaaa", 8);
	broken(c, INTEGRITY_INCOMPLETE, "no _metadata");
	evidence_of(&w->journal, &w->facts, c, &evidence);
	CHECK_INT(evidence.verdict, ==, EVIDENCE_MISSING);
	xstrset(&w->journal.disposing, savepoint.path);
	evidence_of(&w->journal, &w->facts, c, &evidence);
	CHECK_INT(evidence.verdict, ==, EVIDENCE_ABSENT);
}

/* ---- what the rules make of it ---- */

/* The one that is listed, and then answers "not found", whatever else there is. */
static struct candidate *contradicted(struct world *w, const char *job, int64_t id)
{
	struct candidate *c = found_checkpoint(w, job, id);

	seen_with(c, 5312);
	c->integrity = INTEGRITY_UNCHECKED;
	w->truth = INTEGRITY_INCOMPLETE;
	return c;
}

WORLD_TEST(no_older_start_because_a_listed_checkpoint_is_not_found)
{
	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 7);
	contradicted(w, JOB_A, 8);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_SNAPSHOT_UNREADABLE);
	CHECK_HAS(w->decision.reason, "listed at 12:00:00 with 5312 bytes, answered \"not found\"");
	/* also when the journal knows nothing of it */
	w->journal.launches[0].last_checkpoint_id = 7;
	xstrset(&w->journal.launches[0].last_checkpoint_path, CHK_A(7));
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_SNAPSHOT_UNREADABLE);
}

WORLD_TEST(no_empty_start_because_the_only_checkpoint_is_not_found)
{
	ran(w, JOB_A, NULL, 0);
	contradicted(w, JOB_A, 1);
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_SNAPSHOT_UNREADABLE);
}

WORLD_TEST(no_stop_has_failed_because_its_listed_savepoint_is_not_found)
{
	struct operation *operation = &w->journal.operation;
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	operation->kind = OPERATION_STOP;
	operation->reason = REASON_RESTART;
	snprintf(operation->job_id, sizeof(operation->job_id), "%s", JOB_A);
	operation->path = xstrdup("file:/sp");
	operation->started_unix_ms = 7500;
	c = found_savepoint(w, JOB_A, 8);
	seen_with(c, 5312);
	c->integrity = INTEGRITY_UNCHECKED;
	w->truth = INTEGRITY_INCOMPLETE;
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_OPERATION_UNSETTLED);
	CHECK_INT(w->decision.settlement, ==, SETTLEMENT_OPEN);
}

WORLD_TEST(flink_itself_may_go_on_from_a_checkpoint_whose_metadata_is_not_found)
{
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 8);
	found_checkpoint(w, JOB_A, 7);
	c = in_ha(w, contradicted(w, JOB_A, 8), JOB_A);
	same_as_ever(w);
	CHECK_CONTINUES(w, CHK_A(8)); /* it reads its own files, not _metadata */
	c->integrity = INTEGRITY_UNCHECKED;
	w->policy.generation = "g2";
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_SNAPSHOT_UNREADABLE);
}

WORLD_TEST(what_flinks_ha_data_name_and_no_listing_has_is_missing)
{
	struct candidate *c;

	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	c = in_ha(w, found(w, SOURCE_HA, CHK_A(8), SNAPSHOT_CHECKPOINT, JOB_A, 8), JOB_A);
	broken(c, INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_DECIDES(w, HOLD);
	CHECK_INT(w->decision.cause, ==, CAUSE_NEWEST_STATE_MISSING);
	CHECK_HAS(w->decision.reason, CHK_A(8));
	CHECK_HAS(w->decision.reason, "according to Flink's HA data, not listed");
	/* what is older than what is started does not matter */
	c->snapshot.checkpoint_id = 6;
	CHECK_STARTS_FROM(w, CHK_A(7));
}

WORLD_TEST(a_checkpoint_that_was_never_completed_is_no_contradiction)
{
	proved(w, JOB_A, NULL, 0, 7);
	found_checkpoint(w, JOB_A, 7);
	broken(found_checkpoint(w, JOB_A, 8), INTEGRITY_INCOMPLETE, "no _metadata");
	CHECK_STARTS_FROM(w, CHK_A(7));
	CHECK(!w->decision.loss.is_one);
}
