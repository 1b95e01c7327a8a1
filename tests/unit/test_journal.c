#include "core/journal/journal.h"

#include <dirent.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

#define ID_A "0123456789abcdef0123456789abcdef"
#define ID_B "fedcba9876543210fedcba9876543210"
#define OLD  "tests/fixtures/journal/"
#define BIG  9007199254740993LL /* 2^53 + 1: not exact as a double */

static void id_set(char slot[JOB_ID_BYTES], const char *id)
{
	snprintf(slot, JOB_ID_BYTES, "%s", id);
}

static void fill_intent(struct intent *intent)
{
	intent->state = DESIRED_SUSPENDED;
	intent->do_not_restart = true;
	xstrset(&intent->savepoint_nonce, "sp-7");
	xstrset(&intent->restart_nonce, "rs-1");
	intent->restore.kind = RESTORE_PATH;
	xstrset(&intent->restore.token, "token-1");
	xstrset(&intent->restore.path, "s3://bucket/sp \"quoted\" \xc3\xa9");
	intent->restore.allow_non_restored = true;
	intent->restore.foreign = true;
	intent->restore.asked_unix_ms = 6;
	xstrset(&intent->restore.generation, "g1");
	xstrset(&intent->parallelism.nonce, "p2");
	intent->parallelism.reset = intent->parallelism.merge = true;
	intent->parallelism.all = 4;
	parallelism_set(&intent->parallelism, "count", 2);
}

static void fill_launch(struct launch *launch)
{
	id_set(launch->job_id, ID_A);
	id_set(launch->application_id, ID_B);
	memcpy(launch->launch_id, ID_B, sizeof(launch->launch_id));
	xstrset(&launch->job_result_path, "file:/r/" ID_A);
	xstrset(&launch->application_result_path, "file:/r/app");
	xstrset(&launch->generation, "g1");
	xstrset(&launch->flink_version, "2.3.0");
	xstrset(&launch->checkpoint_dir, "file:/cp");
	xstrset(&launch->savepoint_dir, "file:/sp");
	xstrset(&launch->ha_cluster_id, "orders");
	launch->held = true;
	launch->allow_non_restored = true;
	xstrset(&launch->request_token, "token-1");
	xstrset(&launch->writer, "orders-0/uid-1/a");
	xstrset(&launch->restore_path, "file:/sp/savepoint-012345-000000000001");
	launch->restore_kind = SNAPSHOT_SAVEPOINT;
	launch->restore_checkpoint_id = BIG;
	launch->restore_completed_unix_ms = BIG + 1;
	launch->intended_unix_ms = 1;
	launch->started_unix_ms = 2;
	launch->verified_unix_ms = 3;
	launch->proven_unix_ms = 4;
	launch->ended_unix_ms = BIG + 2;
	launch->wait_status = 137;
	launch->job_ended = true;
	launch->mismatched = true;
	launch->left_state = true;
	launch->never_started = true;
	launch->do_not_restart = true;
	launch->last_checkpoint_id = BIG + 4;
	xstrset(&launch->last_checkpoint_path, "file:/cp/chk-9");
	launch->last_checkpoint_unix_ms = 5;
	launch->slots = 8;
	launch->task_managers = 4;
}

/* Every member has a value that is not its default. */
static void fill(struct journal *journal)
{
	struct snapshot snapshot = {.path = (char *)"file:/sp/one",
				    .kind = SNAPSHOT_SAVEPOINT,
				    .origin = ORIGIN_MANUAL,
				    .format = FORMAT_NATIVE,
				    .checkpoint_id = BIG,
				    .job_id = ID_A,
				    .completed_unix_ms = 1700000000000,
				    .size_bytes = BIG + 6,
				    .file_count = 12,
				    .verified = true,
				    .verified_unix_ms = 1700000000001,
				    .metadata_unix_ms = 1699999999999,
				    .metadata_bytes = BIG + 8,
				    .metadata_version = 4};

	journal_init(journal, "orders");
	journal->sequence = BIG;
	xstrset(&journal->writer, "boot-1");
	xstrset(&journal->phase, "Running");
	journal->ever_proven = true;
	fill_intent(&journal->intent);
	xstrset(&journal->savepoint_nonce_done, "sp-6");
	xstrset(&journal->restart_nonce_done, "rs-0");
	fill_launch(journal_add_launch(journal));
	id_set(journal_add_launch(journal)->job_id, ID_B);
	journal_add_snapshot(journal, &snapshot);
	journal->operation = (struct operation){.kind = OPERATION_STOP,
						.reason = REASON_SUSPEND,
						.trigger_id = ID_A,
						.job_id = ID_B,
						.drain = true,
						.format = FORMAT_NATIVE,
						.started_unix_ms = BIG,
						.job_unix_ms = BIG - 1};
	xstrset(&journal->operation.nonce, "n");
	xstrset(&journal->operation.path, "file:/sp");
	xstrset(&journal->operation.directory, "file:/listed");
	journal->last_operation.kind = OPERATION_DISPOSE;
	journal->last_operation.reason = REASON_RETENTION;
	id_set(journal->last_operation.trigger_id, ID_B);
	xstrset(&journal->last_operation.nonce, "m");
	journal->last_operation.ok = true;
	journal->last_operation.format = FORMAT_CANONICAL;
	xstrset(&journal->last_operation.location, "file:/sp/two");
	xstrset(&journal->last_operation.error, "none really");
	journal->last_operation.ended_unix_ms = 8;
	journal_add_savepoint_request(journal, "w1");
	*journal->savepoint_requests = (struct savepoint_request){
		.nonce = journal->savepoint_requests[0].nonce,
		.trigger_id = ID_A,
		.answered = true,
		.ok = true,
		.failures = BIG,
		.location = xstrdup("file:/sp/two"),
		.error = xstrdup("none"),
	};
	journal->outcome.kind = OUTCOME_RESTORE_MISMATCH;
	id_set(journal->outcome.job_id, ID_B);
	xstrset(&journal->outcome.reason, "why");
	journal->outcome.unix_ms = 9;
	xstrset(&journal->outcome.savepoint, "file:/sp/three");
	journal->outcome.suspended = true;
	journal_add_failure(journal, BIG);
	journal_set_error(journal, "bad\tthing", 7777);
	journal->failures_alike = BIG;
	xstrset(&journal->disposing, "file:///sp/old");
	journal_consume(journal, "token-0");
	journal_add_failed_generation(journal, "g0");
	journal_add_writer(journal, "orders-0/uid-1/a");
	journal_add_former_job(journal, "0000000000000000000000000000000f");
	journal_add_unknown_job(journal, "00000000000000000000000000000e0e");
	journal_add_log(journal, BIG, "it began");
	xstrset(&journal->id_space, "shop/orders/salt");
	journal->id_next = BIG;
	xstrset(&journal->parallelism.nonce, "p1");
	journal->parallelism.all = 3;
	parallelism_set(&journal->parallelism, "sink", BIG);
	journal->parallelism_launch = BIG;
	journal->rescaled = (struct rescaled){.nonce = xstrdup("p1"),
					      .ok = true,
					      .error = xstrdup("none"),
					      .left_out = xstrdup("nobody"),
					      .launch = BIG,
					      .unix_ms = BIG + 1};
}

static struct buf encoded(struct journal *journal)
{
	struct buf text = BUF_INIT;
	struct err err = {0};

	CHECK_INT(journal_encode(journal, &text, &err), ==, 0);
	CHECK_STR(err.msg, "");
	return text;
}

static bool decoded(const struct buf *text, struct journal *ret_journal)
{
	struct err err = {0};
	int result = journal_decode(text->data, text->len_bytes, ret_journal, &err);

	CHECK_INT(result, ==, 0);
	CHECK_STR(err.msg, "");
	return result == 0;
}

TEST(a_full_journal_comes_back_as_it_was)
{
	struct journal journal, back;
	struct buf text, again;

	fill(&journal);
	text = encoded(&journal);
	if (decoded(&text, &back)) {
		/* byte-equal text proves every member at once ... */
		again = encoded(&back);
		CHECK_STR(buf_str(&again), buf_str(&text));
		/* ... provided that each is in the text */
		CHECK_INT(back.launches[0].restore_checkpoint_id, ==, BIG);
		CHECK_INT(back.launches[0].wait_status, ==, 137);
		CHECK_INT(back.launches[1].wait_status, ==, -1);
		CHECK(back.launches[0].mismatched && !back.launches[1].mismatched);
		CHECK(back.launches[0].never_started && !back.launches[1].never_started);
		CHECK_STR(back.intent.restore.path, journal.intent.restore.path);
		CHECK_INT(back.operation.started_unix_ms, ==, BIG);
		CHECK_INT(back.operation.job_unix_ms, ==, BIG - 1);
		CHECK_INT(back.outcome.kind, ==, OUTCOME_RESTORE_MISMATCH);
		CHECK_STR(back.outcome.savepoint, "file:/sp/three");
		CHECK(back.outcome.suspended && back.launches[0].do_not_restart &&
		      !back.launches[1].do_not_restart);
		CHECK(journal_is_consumed(&back, "token-0"));
		CHECK_INT(back.writer_count, ==, 1);
		CHECK_STR(back.launches[0].writer, "orders-0/uid-1/a");
		CHECK_STR(back.id_space, "shop/orders/salt");
		CHECK_INT(back.id_next, ==, BIG);
		CHECK(journal_is_former_job(&back, "000000")); /* as a savepoint's name has it */
		CHECK(!journal_is_former_job(&back, "00000f"));
		CHECK(journal_is_unknown_job(&back, "00000000000000000000000000000e0e"));
		CHECK(!journal_is_unknown_job(&back, "0000000000000000000000000000000f"));
		CHECK(!journal_is_former_job(&back, ""));
		buf_release(&again);
		journal_release(&back);
	}
	/* no member of a full journal is null except those of the second, fresh launch */
	CHECK(strstr(buf_str(&text), "\"snapshots\"") != NULL);
	CHECK(!strstr(strstr(buf_str(&text), "\"snapshots\""), "null"));
	*strstr(text.data, "\"number\": 2") = '\0';
	CHECK(!strstr(text.data, "null"));
	buf_release(&text);
	journal_release(&journal);
}

TEST(an_empty_journal_comes_back_empty)
{
	struct journal journal, back;
	struct buf text;

	journal_init(&journal, "orders");
	text = encoded(&journal);
	if (decoded(&text, &back)) {
		CHECK_STR(back.application, "orders");
		CHECK_INT(back.sequence, ==, 0);
		CHECK(!back.writer && !back.launch_count && !back.snapshot_count);
		CHECK_INT(back.operation.kind, ==, OPERATION_NONE);
		CHECK_INT(back.outcome.kind, ==, OUTCOME_NONE);
		CHECK_INT(back.intent.restore.kind, ==, RESTORE_NONE);
		CHECK(journal_launch(&back) == NULL);
		journal_release(&back);
	}
	buf_release(&text);
	journal_release(&journal);
}

TEST(sixty_four_bit_numbers_are_exact)
{
	struct journal journal, back;
	struct snapshot snapshot = {.path = (char *)"p", .size_bytes = INT64_MAX, .file_count = -1};
	struct buf text;

	journal_init(&journal, "a");
	journal_add_snapshot(&journal, &snapshot);
	journal_add_failure(&journal, INT64_MIN);
	text = encoded(&journal);
	CHECK_HAS(buf_str(&text), "9223372036854775807");
	if (decoded(&text, &back)) {
		CHECK_INT(back.snapshots[0].size_bytes, ==, INT64_MAX);
		CHECK_INT(back.snapshots[0].file_count, ==, -1);
		CHECK_INT(back.failures_unix_ms[0], ==, INT64_MIN);
		journal_release(&back);
	}
	buf_release(&text);
	journal_release(&journal);
}

TEST(lists_are_cut_at_their_old_end)
{
	struct journal journal, back;
	struct buf text;
	char name[32];

	journal_init(&journal, "a");
	for (int i = 1; i <= 300; i++) {
		struct snapshot snapshot = {.path = name};

		snprintf(name, sizeof(name), "item-%d", i);
		id_set(journal_add_launch(&journal)->job_id, ID_A);
		journal_add_snapshot(&journal, &snapshot);
		journal_consume(&journal, name);
		journal_add_failed_generation(&journal, name);
		journal_add_failure(&journal, i);
		journal_add_log(&journal, i, name);
	}
	text = encoded(&journal);
	if (decoded(&text, &back)) {
		CHECK_INT(back.launch_count, ==, JOURNAL_MAX_LAUNCHES);
		CHECK_INT(back.launches[0].number, ==, 301 - JOURNAL_MAX_LAUNCHES);
		CHECK(journal_is_former_job(&back, ID_A));
		CHECK_INT(journal_launch(&back)->number, ==, 300);
		CHECK_INT(journal_add_launch(&back)->number, ==, 301);
		CHECK_INT(back.snapshot_count, ==, JOURNAL_MAX_SNAPSHOTS);
		CHECK_STR(back.snapshots[JOURNAL_MAX_SNAPSHOTS - 1].path, "item-300");
		CHECK_INT(back.consumed_count, ==, JOURNAL_MAX_TOKENS);
		CHECK(journal_is_consumed(&back, "item-300"));
		CHECK(!journal_is_consumed(&back, "item-1"));
		CHECK_INT(back.failed_generation_count, ==, JOURNAL_MAX_TOKENS);
		CHECK_INT(back.failure_count, ==, JOURNAL_MAX_FAILURES);
		CHECK_INT(back.failures_unix_ms[JOURNAL_MAX_FAILURES - 1], ==, 300);
		CHECK_INT(back.log_count, ==, JOURNAL_MAX_LOG);
		CHECK_STR(back.log[JOURNAL_MAX_LOG - 1].text, "item-300");
		journal_release(&back);
	}
	buf_release(&text);
	journal_release(&journal);
}

TEST(long_entries_cost_history_but_never_the_limit)
{
	struct journal journal, back;
	struct buf text;
	char path[3000];

	journal_init(&journal, "a");
	for (int i = 1; i <= 100; i++) {
		struct snapshot snapshot = {.path = path};

		memset(path, 'x', sizeof(path));
		snprintf(path + sizeof(path) - 8, 8, "%d", i);
		id_set(journal_add_launch(&journal)->job_id, ID_A);
		xstrset(&journal_launch(&journal)->restore_path, path);
		journal_add_snapshot(&journal, &snapshot);
		journal_add_log(&journal, i, path);
	}
	text = encoded(&journal);
	CHECK_INT(text.len_bytes, <=, JOURNAL_MAX_BYTES);
	CHECK_INT(text.len_bytes, >, JOURNAL_MAX_BYTES / 4);
	if (decoded(&text, &back)) {
		CHECK_INT(journal_launch(&back)->number, ==, 100);
		CHECK_STR(back.snapshots[back.snapshot_count - 1].path, path);
		CHECK_INT(back.snapshot_count, >=, JOURNAL_MIN_KEPT / 2);
		CHECK_INT(back.log_count, >=, JOURNAL_MIN_KEPT / 2);
		CHECK_INT(strlen(back.log[0].text), ==, JOURNAL_MAX_TEXT_BYTES + 3);
		journal_release(&back);
	}
	buf_release(&text);
	journal_release(&journal);
}

TEST(what_cannot_be_shortened_is_an_error)
{
	struct journal journal;
	struct buf text = BUF_INIT;
	struct err err = {0};
	char *big = xcalloc(JOURNAL_MAX_BYTES + 1, 1);

	memset(big, 'x', JOURNAL_MAX_BYTES);
	journal_init(&journal, big);
	buf_addstr(&text, "kept");
	CHECK_INT(journal_encode(&journal, &text, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, "262144 bytes");
	CHECK_STR(buf_str(&text), "kept");
	buf_release(&text);
	journal_release(&journal);
	free(big);
}

TEST(a_long_error_is_cut_between_characters)
{
	struct journal journal, back;
	struct buf text;
	char *error = xcalloc(JOURNAL_MAX_TEXT_BYTES + 100, 1);

	error[0] = 'x';
	for (int i = 1; i < JOURNAL_MAX_TEXT_BYTES + 90; i += 2)
		memcpy(error + i, "\xc3\xa9", 2);
	journal_init(&journal, "a");
	xstrset(&journal.last_error, error);
	text = encoded(&journal);
	if (decoded(&text, &back)) {
		CHECK_INT(strlen(back.last_error), ==, JOURNAL_MAX_TEXT_BYTES - 1 + 3);
		CHECK_HAS(back.last_error, "\xc3\xa9...");
		journal_release(&back);
	}
	buf_release(&text);
	journal_release(&journal);
	free(error);
}

/* The text of a full journal with one change. */
static struct buf changed(const char *from, const char *to)
{
	struct journal journal;
	struct buf text, result = BUF_INIT;
	const char *at;

	fill(&journal);
	text = encoded(&journal);
	at = strstr(buf_str(&text), from);
	CHECK(at != NULL);
	if (at) {
		buf_add(&result, text.data, (size_t)(at - text.data));
		buf_addstr(&result, to);
		buf_addstr(&result, at + strlen(from));
	}
	buf_release(&text);
	journal_release(&journal);
	return result;
}

static void refused(const char *from, const char *to, enum err_kind kind, const char *message)
{
	struct buf text = changed(from, to);
	struct journal journal;
	struct err err = {0};

	memset(&journal, 0x5a, sizeof(journal));
	CHECK_INT(journal_decode(buf_str(&text), text.len_bytes, &journal, &err), ==, -1);
	CHECK_INT(err.kind, ==, kind);
	CHECK_HAS(err.msg, message);
	for (size_t i = 0; i < sizeof(journal); i++)
		if (((unsigned char *)&journal)[i] != 0x5a) {
			CHECK(!"touched on failure");
			break;
		}
	buf_release(&text);
}

TEST(a_wrong_type_is_refused_with_its_place)
{
	refused("\"everProven\": true", "\"everProven\": 1", ERR_FORMAT, "everProven");
	refused("\"sequence\": 9007199254740993", "\"sequence\": \"1\"", ERR_FORMAT, "sequence");
	refused("\"sequence\": 9007199254740993", "\"sequence\": 1.5", ERR_FORMAT, "sequence");
	refused("\"sequence\": 9007199254740993", "\"sequence\": 99999999999999999999", ERR_FORMAT,
		"sequence");
	refused("\"sequence\": 9007199254740993", "\"sequence\": -1", ERR_FORMAT, "sequence");
	refused("\"state\": \"suspended\"", "\"state\": \"paused\"", ERR_FORMAT,
		"journal: intent: 'state': unknown word \"paused\"");
	refused("\"token\": \"token-1\"", "\"token\": []", ERR_FORMAT, "intent: restore: 'token'");
	refused("\"number\": 2", "\"number\": 1", ERR_FORMAT, "launches[1]: 'number'");
	refused("\"jobId\": \"" ID_B "\",\n      \"jobResultPath\"",
		"\"jobId\": null,\n      \"jobResultPath\"", ERR_FORMAT, "launches[1]: 'jobId'");
	refused("\"jobId\": \"" ID_A, "\"jobId\": \"../../etc", ERR_FORMAT, "launches[0]: 'jobId'");
	refused("\"waitStatus\": 137", "\"waitStatus\": 99999999999", ERR_FORMAT, "waitStatus");
	refused("\"checkpointId\": 9007199254740993", "\"checkpointId\": -4", ERR_FORMAT,
		"launches[0]: restorePoint: 'checkpointId'");
	refused("\"path\": \"file:/sp/one\"", "\"path\": null", ERR_FORMAT,
		"snapshots[0]: 'path': expected a string, got null");
	refused("\"origin\": \"manual\"", "\"origin\": \"nobody\"", ERR_FORMAT,
		"snapshots[0]: 'origin'");
	refused("\"drain\": true", "\"drain\": \"yes\"", ERR_FORMAT, "operation: 'drain'");
	refused("\"kind\": \"restoreMismatch\"", "\"kind\": 3", ERR_FORMAT, "outcome: 'kind'");
	refused("\"token-0\"", "0", ERR_FORMAT, "consumedTokens");
	refused("\"text\": \"it began\"", "\"text\": false", ERR_FORMAT, "log[0]: 'text'");
	refused("\"log\": [", "\"log\": 1, \"newer\": [", ERR_FORMAT, "log");
}

TEST(damage_is_refused)
{
	static const char *const texts[] = {
		"", " ", "null", "[]", "{}", "{\"schema\": 1}", "{\"schema\": 0}", "\x00\x01"};
	struct journal journal;
	struct buf text;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = {0};

		CHECK_INT(journal_decode(texts[i], strlen(texts[i]), &journal, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_HAS(err.msg, "journal: ");
	}
	fill(&journal);
	text = encoded(&journal);
	journal_release(&journal);
	/* every truncation (the last byte is the newline behind the document) */
	for (size_t len = 0; len + 1 < text.len_bytes; len++)
		if (journal_decode(text.data, len, &journal, NULL) != -1) {
			CHECK_INT(len, ==, -1);
			journal_release(&journal);
		}
	/* a block of zeros, as a lost write leaves it */
	memset(text.data + 512, 0, 512);
	CHECK_INT(journal_decode(text.data, text.len_bytes, &journal, NULL), ==, -1);
	buf_release(&text);
}

TEST(a_newer_schema_is_refused_by_name)
{
	refused("\"schema\": 1", "\"schema\": 2", ERR_CONFIG, "newer drey (schema 2");
	/* also when nothing else in it makes sense to us */
	struct err err = {0};
	struct journal journal;

	CHECK_INT(journal_decode("{\"schema\": 7}", 13, &journal, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
}

TEST(unknown_members_survive_a_rewrite)
{
	struct buf text = changed("\"schema\": 1", "\"schema\": 1, \"topNew\": {\"a\": [1, 1.50]}");
	struct buf more = BUF_INIT, after;
	struct journal journal;
	static const char *const places[] = {
		"\"state\": ",     "\"number\": 1", "\"kind\": \"path\"", "\"origin\": ",
		"\"triggerId\": ", "\"ok\": ",      "\"reason\": \"why\""};
	const char *rest = buf_str(&text);

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const char *at = NULL;

		for (size_t k = 0; k < ARRAY_LEN(places); k++) {
			const char *hit = strstr(rest, places[k]);

			if (hit && (!at || hit < at))
				at = hit;
		}
		if (!at)
			break;
		buf_add(&more, rest, (size_t)(at - rest));
		buf_addf(&more, "\"new%zu\": %zu, \"", i, 9007199254740993u + i);
		rest = at + 1;
	}
	buf_addstr(&more, rest);
	if (decoded(&more, &journal)) {
		journal.sequence++;
		journal_add_launch(&journal);
		id_set(journal_launch(&journal)->job_id, ID_A);
		after = encoded(&journal);
		CHECK_HAS(buf_str(&after), "\"topNew\": {");
		CHECK_HAS(buf_str(&after), "1.50");
		for (size_t i = 0; i < ARRAY_LEN(places); i++) {
			char member[64];

			snprintf(member, sizeof(member), "\"new%zu\": %zu", i,
				 9007199254740993u + i);
			CHECK_HAS(buf_str(&after), member);
		}
		CHECK_HAS(buf_str(&after), "\"number\": 3");
		buf_release(&after);
		journal_release(&journal);
	}
	buf_release(&more);
	buf_release(&text);
}

TEST(another_operation_inherits_nothing)
{
	struct buf text = changed("\"drain\": true", "\"drain\": true, \"newer\": 1");
	struct journal journal;
	struct buf after;

	if (decoded(&text, &journal)) {
		after = encoded(&journal);
		CHECK_HAS(buf_str(&after), "\"newer\"");
		buf_release(&after);
		id_set(journal.operation.trigger_id, ID_B);
		after = encoded(&journal);
		CHECK(!strstr(buf_str(&after), "\"newer\""));
		buf_release(&after);
		operation_release(&journal.operation);
		after = encoded(&journal);
		CHECK_HAS(buf_str(&after), "\"operation\": null");
		buf_release(&after);
		journal_release(&journal);
	}
	buf_release(&text);
}

TEST(a_cleared_member_stays_cleared)
{
	struct journal journal, back;
	struct buf text, after;

	fill(&journal);
	text = encoded(&journal);
	journal_release(&journal);
	if (decoded(&text, &journal)) {
		xstrset(&journal.last_error, NULL);
		outcome_release(&journal.outcome);
		journal.launches[0].ended_unix_ms = 0;
		xstrset(&journal.launches[0].restore_path, NULL);
		journal.intent.restore.kind = RESTORE_NONE;
		journal.failures_alike = 0;
		journal.launches[0].held = false;
		journal.snapshots[0].format = FORMAT_UNKNOWN;
		after = encoded(&journal);
		if (decoded(&after, &back)) {
			CHECK(!back.last_error);
			CHECK_INT(back.failures_alike, ==, 0);
			CHECK(!back.launches[0].held);
			CHECK_INT(back.snapshots[0].format, ==, FORMAT_UNKNOWN);
			CHECK_INT(back.outcome.kind, ==, OUTCOME_NONE);
			CHECK_INT(back.launches[0].ended_unix_ms, ==, 0);
			CHECK(!back.launches[0].restore_path);
			CHECK_INT(back.intent.restore.kind, ==, RESTORE_NONE);
			journal_release(&back);
		}
		buf_release(&after);
		journal_release(&journal);
	}
	buf_release(&text);
}

/* Of one for the newest state, and of this generation only, nothing is left in the next one. */
TEST(another_restore_request_inherits_nothing)
{
	struct restore_request *restore;
	struct journal journal, back;
	struct buf text, after;

	fill(&journal);
	restore = &journal.intent.restore;
	restore->kind = RESTORE_NEWEST;
	xstrset(&restore->generation, "g1");
	text = encoded(&journal);
	journal_release(&journal);
	if (decoded(&text, &journal)) {
		restore = &journal.intent.restore;
		CHECK_STR(restore->generation, "g1");
		restore->kind = RESTORE_EMPTY;
		xstrset(&restore->token, "another");
		xstrset(&restore->generation, NULL);
		after = encoded(&journal);
		CHECK(!strstr(buf_str(&after), "\"newest\""));
		if (decoded(&after, &back)) {
			CHECK_INT(back.intent.restore.kind, ==, RESTORE_EMPTY);
			CHECK(!back.intent.restore.generation);
			journal_release(&back);
		}
		buf_release(&after);
		journal_release(&journal);
	}
	buf_release(&text);
}

/* An earlier program knows none of these members, and the operation, which it does know, has none of their words. */
TEST(a_requested_checkpoint_is_no_operation_to_an_earlier_program)
{
	const struct checkpoint_result result = {
		.ok = true, .checkpoint_id = 7, .location = "file:/cp/chk-7"};
	struct journal journal, back;
	struct buf text;

	journal_init(&journal, "orders");
	text = encoded(&journal);
	CHECK(!strstr(buf_str(&text), "heckpoint"));
	buf_release(&text);
	journal_ask_checkpoint(&journal, "n1", true);
	journal_ask_checkpoint(&journal, "n2", false);
	journal.checkpoint = (struct checkpoint_operation){
		.reason = REASON_MANUAL, .trigger_id = ID_A, .job_id = ID_B, .full = true};
	journal_join_checkpoint(&journal, &journal.checkpoint);
	text = encoded(&journal);
	CHECK_HAS(buf_str(&text), "\"operation\": null");
	if (decoded(&text, &back)) {
		CHECK_STR(back.checkpoint.trigger_id, ID_A);
		CHECK_STR(back.checkpoint.job_id, ID_B);
		CHECK(back.checkpoint.full);
		CHECK_INT(back.checkpoint_request_count, ==, 2);
		CHECK_STR(back.checkpoint_requests[0].trigger_id, ID_A);
		CHECK_STR(journal_checkpoint_wanted(&back)->nonce, "n2");
		buf_release(&text);
		/* it has ended: nothing of it comes back from the document as it was read */
		journal_answer_checkpoint(&back, ID_A, &result);
		back.checkpoint = (struct checkpoint_operation){0};
		text = encoded(&back);
		CHECK(!strstr(buf_str(&text), "\"checkpoint\":"));
		CHECK_HAS(buf_str(&text), "\"checkpointId\": 7");
		journal_release(&back);
	}
	buf_release(&text);
	for (int i = 0; i < 40; i++) {
		char nonce[16];

		snprintf(nonce, sizeof(nonce), "m%d", i);
		journal_ask_checkpoint(&journal, nonce, false);
	}
	CHECK_INT(journal.checkpoint_request_count, ==, JOURNAL_MAX_REQUESTS);
	journal_release(&journal);
}

/* drey 0.1.0 refuses a journal with a kind of request that it does not know, and a rollback to it may meet
 * this one. It takes the request for none then, and Flink refuses what does not fit. */
TEST(a_request_for_the_newest_state_is_none_to_an_earlier_program)
{
	struct journal journal, back;
	struct buf text;

	journal_init(&journal, "app");
	journal.intent.restore.kind = RESTORE_NEWEST;
	journal.intent.restore.allow_non_restored = true;
	xstrset(&journal.intent.restore.token, "t1");
	text = encoded(&journal);
	CHECK(strstr(buf_str(&text), "\"kind\": \"none\"") != NULL);
	if (decoded(&text, &back)) {
		CHECK_INT(back.intent.restore.kind, ==, RESTORE_NEWEST);
		CHECK_STR(back.intent.restore.token, "t1");
		CHECK(back.intent.restore.read_back);
		CHECK(back.intent.restore.allow_non_restored);
		journal_release(&back);
	}
	buf_release(&text);
	journal_release(&journal);
}

TEST(whatever_is_encoded_can_be_decoded)
{
	struct journal journal, back;
	struct snapshot snapshot = {.path = (char *)"p", .checkpoint_id = -5, .size_bytes = -7};
	struct buf text;

	/* values that make no sense must not lock us out of our own journal */
	journal_init(&journal, "");
	journal_add_snapshot(&journal, &snapshot);
	id_set(journal_add_launch(&journal)->job_id, ID_A);
	journal.launches[0].intended_unix_ms = -1;
	journal.intent.restore.kind = RESTORE_PATH;
	xstrset(&journal.last_error, "\xff\xfe broken \x01");
	text = encoded(&journal);
	if (decoded(&text, &back))
		journal_release(&back);
	buf_release(&text);
	journal_release(&journal);
}

TEST(a_snapshot_with_the_same_path_is_replaced)
{
	struct journal journal;
	struct snapshot snapshot = {.path = (char *)"a", .size_bytes = 1};

	journal_init(&journal, "x");
	journal_add_snapshot(&journal, &snapshot);
	snapshot.path = (char *)"b";
	journal_add_snapshot(&journal, &snapshot);
	snapshot.path = (char *)"a";
	snapshot.size_bytes = 2;
	journal_add_snapshot(&journal, &snapshot);
	CHECK_INT(journal.snapshot_count, ==, 2);
	CHECK_STR(journal.snapshots[1].path, "a");
	CHECK_INT(journal.snapshots[1].size_bytes, ==, 2);
	journal_add_snapshot(&journal, &journal.snapshots[0]); /* itself */
	CHECK_STR(journal.snapshots[1].path, "b");
	journal_remove_snapshot(&journal, "a");
	journal_remove_snapshot(&journal, "a");
	CHECK_INT(journal.snapshot_count, ==, 1);
	journal_release(&journal);
}

/* ---- journals of earlier programs ---- */

/* Every member of `old`, however deep, is in `now` with the same value; `now` may have more, and need not have what was
 * null. Says where not. */
static bool is_within(const struct json *old, const struct json *now, const char *name)
{
	cleanup_buf struct buf left = BUF_INIT, right = BUF_INIT;
	const struct json *item, *at = NULL;

	if (json_kind(old) == JSON_NULL && !now)
		return true;
	if (!CHECK(now != NULL)) {
		tap_note("%s is lost", name);
		return false;
	}
	if (json_kind(old) == JSON_OBJECT) {
		json_each (item, old)
			if (!is_within(item, json_get(now, json_name(item)), json_name(item)))
				return false;
		return true;
	}
	if (json_kind(old) == JSON_ARRAY) {
		at = json_first(now);
		json_each (item, old) {
			if (!is_within(item, at, name))
				return false;
			at = json_next(at);
		}
		return CHECK(!at);
	}
	json_print(old, &left);
	json_print(now, &right);
	return CHECK_STR(buf_str(&right), buf_str(&left));
}

/* What a drey of then has written is read, and nothing of it is lost when it is written again. */
static void check_old(const char *name)
{
	cleanup_free char *path = xasprintf(OLD "%s", name);
	cleanup_buf struct buf text = BUF_INIT, again = BUF_INIT;
	cleanup_json struct json *old = NULL, *now = NULL;
	struct journal journal;
	struct err err = {0};

	tap_note("%s", name);
	if (!CHECK_INT(fs_read(path, JOURNAL_MAX_BYTES, &text, &err), ==, 0) ||
	    !decoded(&text, &journal))
		return;
	/* what it was made from would fill in what was not understood */
	json_free(journal.origin);
	journal.origin = NULL;
	again = encoded(&journal);
	old = json_parse(buf_str(&text), text.len_bytes, JOURNAL_MAX_BYTES, &err);
	now = json_parse(buf_str(&again), again.len_bytes, JOURNAL_MAX_BYTES, &err);
	is_within(old, now, name);
	journal_release(&journal);
}

/* Attempts without an end. */
TEST(what_came_to_nothing_is_forgotten_first)
{
	struct journal journal;

	journal_init(&journal, "a");
	id_set(journal_add_launch(&journal)->job_id, ID_A);
	journal_launch(&journal)->verified_unix_ms = 1;
	journal_launch(&journal)->ended_unix_ms = 2;
	for (int i = 2; i <= 200; i++) {
		id_set(journal_add_launch(&journal)->job_id, ID_B);
		journal_launch(&journal)->ended_unix_ms = i;
		journal_trim(&journal);
	}
	CHECK_INT(journal.launch_count, ==, JOURNAL_MAX_LAUNCHES);
	CHECK_INT(journal.launches[0].number, ==, 1);
	CHECK_INT(journal_launch(&journal)->number, ==, 200);
	CHECK_INT(journal.launches[journal.launch_count - 16].number, ==, 185);
	CHECK(journal_is_former_job(&journal, ID_B));
	/* what a person has asked for, or has left something, or whose end nobody saw */
	for (size_t i = 0; i < journal.launch_count; i++)
		journal.launches[i].left_state = true;
	journal_add_launch(&journal);
	journal_trim(&journal);
	CHECK_INT(journal.launches[0].number, >, 1);
	journal_release(&journal);
}

/* The dates of some stores have whole seconds. */
TEST(a_loss_of_no_time_is_not_one_of_unknown_time)
{
	struct buf text = BUF_INIT;
	struct journal journal;

	journal_init(&journal, "app");
	journal.loss.unix_ms = 1;
	journal_encode(&journal, &text, NULL);
	CHECK_HAS(buf_str(&text), "\"ms\": 0,");
	CHECK_HAS(buf_str(&text), "\"totalMs\": 0,");
	buf_release(&text);
	journal_release(&journal);
}

TEST(the_journals_of_earlier_programs_come_back_without_loss)
{
	DIR *dir = opendir(OLD);
	const struct dirent *item;
	int count = 0;

	if (!CHECK(dir != NULL))
		return;
	while ((item = readdir(dir))) {
		if (!strstr(item->d_name, ".json"))
			continue;
		check_old(item->d_name);
		count++;
	}
	closedir(dir);
	CHECK_INT(count, >=, 15);
}

static void one_launch(struct journal *journal, int64_t sequence, const char *writer)
{
	struct launch *launch;

	journal_init(journal, "app");
	journal->sequence = sequence;
	xstrset(&journal->writer, writer);
	launch = journal_add_launch(journal);
	snprintf(launch->job_id, JOB_ID_BYTES, "%s", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
	launch->intended_unix_ms = 1000;
}

static bool is_backup(int64_t sequence, const char *writer, int launches, const char *job_id)
{
	struct journal ours, found;
	bool result;

	one_launch(&ours, 50, "pod-0/uid-1/a");
	journal_take_over(&ours, "pod-0/uid-1/b");
	journal_take_over(&ours, "pod-0/uid-1/b"); /* once is enough */
	CHECK_INT(ours.writer_count, ==, 1);
	one_launch(&found, sequence, writer);
	for (int i = 1; i < launches; i++)
		journal_add_launch(&found);
	snprintf(found.launches[0].job_id, JOB_ID_BYTES, "%s", job_id);
	/* two writes of ours have not arrived yet */
	ours.sequence = 52;
	result = journal_is_backup(&found, &ours, 50);
	journal_release(&ours);
	journal_release(&found);
	return result;
}

TEST(a_backup_is_told_from_the_work_of_another_drey)
{
	const char *ours = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

	CHECK(is_backup(49, "pod-0/uid-1/a", 1, ours));
	CHECK(is_backup(7, "pod-0/uid-1/b", 1, ours));
	/* as high as what we have read, or higher: an earlier writer is still alive */
	CHECK(!is_backup(50, "pod-0/uid-1/a", 1, ours));
	CHECK(!is_backup(51, "pod-0/uid-1/a", 1, ours));
	CHECK(!is_backup(51, "pod-0/uid-1/b", 1, ours));
	/* whoever that is, it may have taken over from a backup */
	CHECK(!is_backup(49, "pod-0/uid-2/c", 1, ours));
	CHECK(!is_backup(49, NULL, 1, ours));
	/* a launch that we do not know */
	CHECK(!is_backup(49, "pod-0/uid-1/a", 2, ours));
	CHECK(!is_backup(49, "pod-0/uid-1/a", 1, "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"));
}
