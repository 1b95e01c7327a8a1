#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/cli.h"
#include "cmd/reasons.h"
#include "tests/unit/tap.h"

#define NOW 1800000000000LL

static struct snapshot snapshot_of(const char *path, enum snapshot_kind kind, int64_t id)
{
	return (struct snapshot){
		.path = (char *)path,
		.kind = kind,
		.checkpoint_id = id,
		.job_id = "3f9a1000000000000000000000000001",
		.completed_unix_ms = NOW - 120000,
		.size_bytes = 1536000,
		.file_count = 5,
	};
}

static void build(struct facts *facts)
{
	struct snapshot unknown = {
		.path = (char *)"file:/chk/x", .size_bytes = -1, .file_count = -1};
	struct snapshot snapshot;
	struct candidate *candidate;

	*facts = (struct facts){.now_unix_ms = NOW};
	facts_set_source(facts, SOURCE_JOURNAL, SOURCE_PRESENT, "sequence 12");
	facts_set_source(facts, SOURCE_CHECKPOINTS, SOURCE_UNREADABLE, "timed out");
	facts_set_source(facts, SOURCE_SAVEPOINTS, SOURCE_ABSENT, "empty");
	snapshot = snapshot_of("file:/chk/27", SNAPSHOT_CHECKPOINT, 27);
	candidate = facts_add(facts, SOURCE_CHECKPOINTS, &snapshot);
	candidate->verdict = VERDICT_CHOSEN;
	candidate->reason = xstrdup("newest usable snapshot");
	snapshot = snapshot_of("file:/sp/savepoint-3f9a10-1", SNAPSHOT_SAVEPOINT, 12);
	candidate = facts_add(facts, SOURCE_SAVEPOINTS, &snapshot);
	candidate->verdict = VERDICT_OLDER;
	candidate->reason = xstrdup("older than\nthe chosen one");
	facts_add(facts, SOURCE_CHECKPOINTS, &unknown);
}

static void start_from(struct decision *decision)
{
	*decision = (struct decision){.kind = DECISION_START_FROM, .rule = 6, .candidate = 0};
	snprintf(decision->reason, sizeof(decision->reason), "newest usable snapshot: chk 27");
}

static char *print(const struct reasons *ex)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	reasons_print(ex, out_of(out));
	fclose(out);
	return text;
}

/* What a terminal of so many columns gets. */
static void print_on_terminal(const struct reasons *ex, unsigned short columns, struct buf *text)
{
	const struct winsize size = {.ws_row = 40, .ws_col = columns};
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	char read_in[1024];
	ssize_t len;
	FILE *out;

	if (!CHECK(terminal >= 0 && !grantpt(terminal) && !unlockpt(terminal)))
		return;
	out = fopen(ptsname(terminal), "w");
	if (CHECK(out && !ioctl(terminal, TIOCSWINSZ, &size))) {
		reasons_print(ex, out_of(out));
		fflush(out);
		while ((len = read(terminal, read_in, sizeof(read_in))) > 0)
			buf_add(text, read_in, (size_t)len);
		fclose(out);
	}
	close(terminal);
}

TEST(on_a_terminal_nothing_but_a_path_is_longer_than_a_line)
{
	struct facts facts;
	struct decision decision;
	struct reasons ex = {.facts = &facts, .decision = &decision};
	cleanup_buf struct buf text = BUF_INIT;
	size_t lines = 0;

	build(&facts);
	start_from(&decision);
	snprintf(
		decision.reason, sizeof(decision.reason),
		"newest usable snapshot: a sentence that takes more than the sixty columns of this terminal, and is broken");
	print_on_terminal(&ex, 60, &text);
	for (char *at = text.data; at && *at; lines++) {
		size_t len = strcspn(at, "\r\n");

		if (!CHECK(len <= 60 || memchr(at, '/', len)))
			tap_note("%.*s", (int)len, at);
		at += len;
		at += strspn(at, "\r\n");
	}
	CHECK_INT(lines, >, 12);
	CHECK_HAS(buf_str(&text), "file:/chk/27\r\n    chosen: checkpoint from checkpoints, id 27");
	/* where it fits, and where there is no terminal, it is a table */
	buf_clear(&text);
	print_on_terminal(&ex, 200, &text);
	CHECK_HAS(buf_str(&text), "VERDICT     SOURCE");
	facts_release(&facts);
}

TEST(the_document_has_the_chosen_snapshot_and_the_launch)
{
	const char *const args[] = {"java", "-D", "a=b c", NULL};
	struct facts facts;
	struct decision decision;
	struct reasons ex = {.facts = &facts, .decision = &decision, .args = args};
	cleanup_json struct json *doc = NULL;
	const struct json *list;

	build(&facts);
	start_from(&decision);
	doc = reasons_document(&ex);
	CHECK_STR(json_str(doc, "decision"), "START_FROM");
	CHECK_INT(json_i64_or(doc, "rule", 0), ==, 6);
	CHECK_STR(json_str(json_get(doc, "snapshot"), "path"), "file:/chk/27");
	CHECK_STR(json_str(json_get(doc, "snapshot"), "kind"), "checkpoint");
	CHECK_INT(json_i64_or(json_get(doc, "snapshot"), "checkpointId", 0), ==, 27);
	CHECK_INT(json_i64_or(json_get(doc, "snapshot"), "fileCount", 0), ==, 5);
	CHECK_STR(json_str(json_get(doc, "launch"), "jobId"), "<new>");
	list = json_get(json_get(doc, "launch"), "args");
	CHECK_INT(json_len(list), ==, 3);
	CHECK_STR(json_text(json_at(list, 2)), "a=b c");
	facts_release(&facts);
}

/* Nothing would start, and in the same step do-not-restart may be lifted. */
TEST(what_do_not_restart_holds_back_is_told)
{
	struct facts facts;
	struct decision parked = {
		.kind = DECISION_PARK, .rule = 1, .cause = CAUSE_DO_NOT_RESTART, .reason = "set"};
	struct decision lifted;
	struct reasons ex = {.facts = &facts, .decision = &parked, .lifted = &lifted};
	cleanup_json struct json *doc = NULL;
	char *text;

	build(&facts);
	start_from(&lifted);
	doc = reasons_document(&ex);
	CHECK_STR(json_str(doc, "decision"), "PARK");
	CHECK_STR(json_str(json_get(doc, "whenLifted"), "decision"), "START_FROM");
	CHECK_INT(json_i64_or(json_get(doc, "whenLifted"), "rule", 0), ==, 6);
	text = print(&ex);
	CHECK_HAS(text, "without do-not-restart: START_FROM (rule 6): newest usable snapshot");
	free(text);
	ex.lifted = NULL;
	json_free(doc);
	doc = reasons_document(&ex);
	CHECK(!json_get(doc, "whenLifted"));
	facts_release(&facts);
}

TEST(the_last_line_says_what_a_resume_would_do)
{
	struct decision held = {.kind = DECISION_HOLD, .rule = 5, .reason = "no"};
	struct decision parked = {
		.kind = DECISION_PARK, .rule = 1, .cause = CAUSE_SUSPENDED, .reason = "suspended"};
	struct decision empty = {.kind = DECISION_START_EMPTY, .rule = 8, .reason = "first"};
	struct decision from;
	struct facts facts;

	start_from(&from);
	const struct {
		struct reasons ex;
		const char *last;
	} rows[] = {
		{{&facts, &parked, NULL, NULL, NULL, &from, NULL, NULL},
		 "\na resume would start from checkpoint file:/chk/27 (checkpoint id 27)\n"},
		{{&facts, &parked, NULL, NULL, &from, &from, NULL, NULL},
		 "\nwith do-not-restart off, a resume would start from checkpoint file:/chk/27"},
		{{&facts, &parked, NULL, NULL, NULL, &held, NULL, NULL},
		 "\na resume would not start the job: HOLD (rule 5): no\n"},
		{{&facts, &held, NULL, NULL, NULL, NULL, NULL, NULL},
		 "\na resume would not start the job either, for the same reason"},
		{{&facts, &from, NULL, NULL, NULL, NULL, NULL, NULL},
		 "\na resume would start from checkpoint file:/chk/27"},
		{{&facts, &empty, NULL, NULL, NULL, NULL, NULL, NULL},
		 "\na resume would start without any state\n"},
	};

	build(&facts);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_json struct json *doc = reasons_document(&rows[i].ex);
		char *text = print(&rows[i].ex);
		const char *last = strrchr(text, '\n') ? text + strlen(text) - 1 : text;

		while (last > text && last[-1] != '\n')
			last--;
		CHECK_HAS(last - 1, rows[i].last);
		CHECK_HAS(text, "not checked");
		CHECK((json_get(doc, "whenResumed") != NULL) == (rows[i].ex.resumed != NULL));
		free(text);
	}
	facts_release(&facts);
}

TEST(the_document_lists_every_source_and_candidate)
{
	struct facts facts;
	struct decision decision;
	struct reasons ex = {.facts = &facts, .decision = &decision};
	cleanup_json struct json *doc = NULL;
	const struct json *sources, *candidates, *last;

	build(&facts);
	start_from(&decision);
	doc = reasons_document(&ex);
	sources = json_get(doc, "sources");
	candidates = json_get(doc, "candidates");
	CHECK_INT(json_len(sources), ==, SOURCE_COUNT);
	CHECK_STR(json_str(json_at(sources, SOURCE_CHECKPOINTS), "state"), "unreadable");
	CHECK_STR(json_str(json_at(sources, SOURCE_CHECKPOINTS), "detail"), "timed out");
	CHECK_STR(json_str(json_at(sources, SOURCE_INITIAL), "state"), "absent");
	CHECK_STR(json_str(json_at(sources, SOURCE_INITIAL), "detail"), "not configured");
	CHECK_INT(json_len(candidates), ==, 3);
	CHECK_STR(json_str(json_at(candidates, 1), "verdict"), "older");
	last = json_at(candidates, 2);
	CHECK_STR(json_str(last, "verdict"), "notJudged");
	CHECK_STR(json_str(last, "reason"), "rule 6 decided first");
	CHECK(json_get(last, "checkpointId") &&
	      json_kind(json_get(last, "checkpointId")) == JSON_NULL);
	CHECK(json_get(last, "jobId") && json_kind(json_get(last, "jobId")) == JSON_NULL);
	facts_release(&facts);
}

TEST(each_directory_of_the_lineage_is_shown)
{
	struct facts facts;
	struct decision decision;
	struct reasons ex = {.facts = &facts, .decision = &decision};
	cleanup_json struct json *doc = NULL;
	cleanup_free char *text = NULL, *before = NULL;
	const struct json *source, *place;

	build(&facts);
	start_from(&decision);
	before = print(&ex);
	CHECK_HAS(before, "lineage      absent      no other directories");
	facts_add_place(&facts, SOURCE_LINEAGE, SNAPSHOT_CHECKPOINT, "s3://old/ck", SOURCE_PRESENT,
			"3 found");
	facts_add_place(&facts, SOURCE_LINEAGE, SNAPSHOT_SAVEPOINT, "s3://old/sp",
			SOURCE_UNREADABLE, "HTTP 403");
	text = print(&ex);
	CHECK_HAS(text, "lineage      present     checkpoints in s3://old/ck: 3 found\n");
	CHECK_HAS(text, "lineage      unreadable  savepoints in s3://old/sp: HTTP 403\n");
	doc = reasons_document(&ex);
	source = json_at(json_get(doc, "sources"), SOURCE_LINEAGE);
	CHECK_STR(json_str(source, "name"), "lineage");
	CHECK_STR(json_str(source, "state"), "unreadable");
	CHECK_STR(json_str(source, "detail"),
		  "checkpoints in s3://old/ck: 3 found; savepoints in s3://old/sp: HTTP 403");
	place = json_at(json_get(source, "directories"), 1);
	CHECK_STR(json_str(place, "path"), "s3://old/sp");
	CHECK_STR(json_str(place, "kind"), "savepoint");
	CHECK_STR(json_str(place, "state"), "unreadable");
	facts_release(&facts);
}

TEST(nothing_starts_when_it_holds_or_parks)
{
	struct facts facts;
	struct decision decision = {.kind = DECISION_HOLD, .rule = 5, .reason = "cannot be read"};
	struct reasons ex = {.facts = &facts, .decision = &decision};
	cleanup_json struct json *doc = NULL;
	cleanup_free char *text = NULL;

	build(&facts);
	doc = reasons_document(&ex);
	CHECK(json_kind(json_get(doc, "snapshot")) == JSON_NULL);
	CHECK(json_kind(json_get(doc, "launch")) == JSON_NULL);
	CHECK_INT(reasons_status(&decision), ==, CLI_HELD);
	text = print(&ex);
	CHECK_HAS(text, "decision   HOLD (rule 5)");
	CHECK(!strstr(text, "launch  "));
	decision.kind = DECISION_PARK;
	CHECK_INT(reasons_status(&decision), ==, CLI_PARKED);
	decision.kind = DECISION_CONTINUE;
	CHECK_INT(reasons_status(&decision), ==, CLI_OK);
	decision.kind = DECISION_START_EMPTY;
	CHECK_INT(reasons_status(&decision), ==, CLI_OK);
	facts_release(&facts);
}

TEST(the_table_says_it_all_on_plain_lines)
{
	const char *const args[] = {"java", "a=b c", "", "it's", NULL};
	struct facts facts;
	struct decision decision;
	struct reasons ex = {.facts = &facts,
			     .decision = &decision,
			     .job_id = "00000000000000000000000000000abc",
			     .args = args};
	cleanup_free char *text = NULL;

	build(&facts);
	start_from(&decision);
	decision.allow_non_restored = true;
	text = print(&ex);
	CHECK_HAS(text, "decision   START_FROM (rule 6)\n");
	CHECK_HAS(text, "snapshot   file:/chk/27\n");
	CHECK_HAS(text, "checkpoint, checkpoint id 27, completed 2 min ago, 1.5 MB in 5 files\n");
	CHECK_HAS(text, "may be left out");
	CHECK_HAS(text, "launch     job id 00000000000000000000000000000abc\n"
			"           java 'a=b c' '' 'it'\\''s'\n");
	CHECK_HAS(text, "checkpoints  unreadable  timed out\n");
	CHECK_HAS(text, "older       savepoints   savepoint       12  3f9a1000");
	CHECK_HAS(text, "older than\\x0athe chosen one\n");
	facts_release(&facts);
}

TEST(the_chosen_one_comes_first_and_then_the_newest)
{
	struct snapshot snapshot = snapshot_of("file:/chk/30", SNAPSHOT_CHECKPOINT, 30);
	struct facts facts;
	struct decision decision;
	struct reasons ex = {.facts = &facts, .decision = &decision};
	cleanup_json struct json *doc = NULL;
	const struct json *list;

	build(&facts);
	start_from(&decision);
	facts_add(&facts, SOURCE_CHECKPOINTS, &snapshot)->verdict = VERDICT_REJECTED;
	doc = reasons_document(&ex);
	list = json_get(doc, "candidates");
	CHECK_STR(json_str(json_at(list, 0), "path"), "file:/chk/27");
	CHECK_STR(json_str(json_at(list, 1), "verdict"), "older");
	CHECK_STR(json_str(json_at(list, 2), "path"), "file:/chk/30");
	CHECK_STR(json_str(json_at(list, 3), "path"), "file:/chk/x");
	facts_release(&facts);
}

TEST(no_candidates_are_said_so)
{
	struct facts facts = {0};
	struct decision decision = {.kind = DECISION_START_EMPTY, .rule = 8, .reason = "never ran"};
	struct reasons ex = {.facts = &facts, .decision = &decision};
	cleanup_free char *text = print(&ex);
	cleanup_json struct json *doc = reasons_document(&ex);

	CHECK_HAS(text, "\nno candidates\n");
	CHECK_INT(json_len(json_get(doc, "candidates")), ==, 0);
	CHECK_INT(json_len(json_get(json_get(doc, "launch"), "args")), ==, 0);
}

TEST(what_is_lost_and_what_the_witnesses_say_is_shown)
{
	struct snapshot snapshot = snapshot_of("file:/chk/28", SNAPSHOT_CHECKPOINT, 28);
	struct journal journal;
	struct facts facts;
	struct decision decision;
	struct reasons ex = {.facts = &facts, .decision = &decision, .journal = &journal};
	cleanup_json struct json *doc = NULL;
	cleanup_free char *text = NULL;
	const struct json *evidence;
	struct candidate *c;

	journal_init(&journal, "app");
	build(&facts);
	start_from(&decision);
	c = facts_add(&facts, SOURCE_HA, &snapshot);
	facts_mark_ha(c, "3f9a1000000000000000000000000001", NULL);
	c->integrity = INTEGRITY_INCOMPLETE;
	c->verdict = VERDICT_REJECTED;
	c->read_unix_ms = NOW;
	decision.loss = (struct decision_loss){.is_one = true, .candidate = 3, .ms = 60000};
	doc = reasons_document(&ex);
	CHECK_STR(json_str(json_get(doc, "loss"), "path"), "file:/chk/28");
	CHECK_INT(json_i64_or(json_get(doc, "loss"), "ms", 0), ==, 60000);
	evidence = json_get(json_at(json_get(doc, "candidates"), 2), "evidence");
	CHECK_STR(json_str(evidence, "verdict"), "missing");
	CHECK_STR(json_str(evidence, "reading"), "gone");
	CHECK_STR(json_str(evidence, "record"), "ha");
	text = print(&ex);
	CHECK_HAS(text, "; missing: completed according to Flink's HA data, not listed, answered");
	decision.loss.is_one = false;
	json_free(doc);
	doc = reasons_document(&ex);
	CHECK(!json_str(json_get(doc, "loss"), "path"));
	facts_release(&facts);
	journal_release(&journal);
}

TEST(traces_of_own_launches_say_what_they_forbid)
{
	struct journal journal;
	struct policy policy = {.foreign = FOREIGN_IGNORE};
	struct decision decision = {.kind = DECISION_HOLD, .rule = 8, .cause = CAUSE_JOURNAL_LOST};
	struct facts facts = {.now_unix_ms = NOW};
	struct reasons ex = {
		.facts = &facts, .decision = &decision, .journal = &journal, .policy = &policy};
	cleanup_json struct json *none = NULL, *doc = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *table = NULL;

	journal_init(&journal, "orders");
	none = reasons_document(&ex);
	CHECK(!json_get(none, "traces"));
	facts.results_listed.state = SOURCE_PRESENT;
	facts_add_job(&facts, "3f9a1000000000000000000000000001");
	facts_add_trace(&facts, &(struct trace){.kind = TRACE_RESULT,
						.name = "3f9a1000000000000000000000000001",
						.path = "file:/results/x.json",
						.unix_ms = NOW - 120000,
						.says = "it has FINISHED",
						.surely_ours = true});
	facts_add_trace(&facts, &(struct trace){.kind = TRACE_ID,
						.name = "3f9a1000000000000000000000000002",
						.path = "file:/chk/y"});
	doc = reasons_document(&ex);
	json_print(json_get(doc, "traces"), &text);
	CHECK_STR(buf_str(&text),
		  "{\"results\":\"present\",\"detail\":null,\"usedIds\":1,\"list\":["
		  "{\"kind\":\"result\",\"jobId\":\"3f9a1000000000000000000000000001\","
		  "\"path\":\"file:/results/x.json\",\"unixMs\":1799999880000,"
		  "\"says\":\"it has FINISHED\",\"forbids\":true,"
		  "\"why\":\"of a launch that the journal does not know\"},"
		  "{\"kind\":\"id\",\"jobId\":\"3f9a1000000000000000000000000002\","
		  "\"path\":\"file:/chk/y\",\"unixMs\":null,\"says\":null,\"forbids\":false,"
		  "\"why\":\"restore.foreign is ignore: another application may have left it\"}]}");
	table = print(&ex);
	CHECK_HAS(table, "traces of own launches: records of ends present, copy of the journal ");
	CHECK_HAS(table, "1 job ids in use");
	CHECK_HAS(table,
		  "forbids     result  3f9a1000  2 min ago         file:/results/x.json\n"
		  "            of a launch that the journal does not know; it has FINISHED\n");
	CHECK_HAS(table, "permits     id ");
	facts_release(&facts);
	journal_release(&journal);
}
