/* A checkpoint over REST: its POST, its result, and where it is; and what counts as Flink's word. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "flink/checkpoints.h"
#include "flink/operation.h"
#include "rest_stub.h"
#include "tap.h"

#define JOB             "00000000000000000000000000000a01"
#define TRIGGER         "01010101010101010101010101010101"
#define NOBODY          "ffffffffffffffffffffffffffffffff"
#define UNKNOWN_TRIGGER "99999999999999999999999999999999"
#define WAIT_MS         20000

#define CHECKPOINT(id, status)                                                                     \
	"{\"id\":" id ",\"status\":\"" status "\",\"is_savepoint\":false,"                         \
	"\"trigger_timestamp\":5,\"external_path\":\"file:/cp/chk-" id "\"}"

static struct stub stub;
static struct flink_rest rest;
static const char *const versions[] = {"1.20", "2.3"};

static void say(int status, const char *body)
{
	stub_set(&stub, STUB_NORMAL, status, "application/json", body, strlen(body));
}

/* ---- the settings that run ---- */

TEST(what_the_code_of_a_job_sets_is_in_the_settings_that_run)
{
	static const struct {
		const char *body;
		enum flink_answer answer;
		bool known, externalized, deletes;
	} rows[] = {
		{"{\"interval\":1,\"externalization\":{\"enabled\":true,\"delete_on_cancellation\":true}}",
		 FLINK_OK, true, true, true},
		{"{\"interval\":1,\"externalization\":{\"enabled\":false,\"delete_on_cancellation\":true}}",
		 FLINK_OK, true, false, true},
		{"{\"interval\":1}", FLINK_OK, false, false, false},
		{"{\"interval\":1,\"externalization\":{\"enabled\":true}}", FLINK_ERROR, false,
		 false, false},
		{"{\"interval\":1,\"externalization\":true}", FLINK_ERROR, false, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct flink_checkpoint_config config = {0};

		say(200, rows[i].body);
		CHECK_INT(flink_rest_checkpoint_config(&rest, JOB, WAIT_MS, &config, NULL), ==,
			  rows[i].answer);
		CHECK(config.externalization_known == rows[i].known);
		CHECK(config.externalized == rows[i].externalized);
		CHECK(config.delete_on_cancellation == rows[i].deletes);
	}
}

TEST(the_restart_strategy_is_what_flink_calls_it)
{
	static const struct {
		const char *body;
		enum flink_answer answer;
		const char *strategy;
	} rows[] = {
		{"{\"execution-config\":{\"restart-strategy\":\"Restart deactivated.\"}}", FLINK_OK,
		 "Restart deactivated."},
		{"{\"execution-config\":{\"restart-strategy\":null}}", FLINK_OK, ""},
		{"{\"execution-config\":{}}", FLINK_OK, ""},
		{"{\"execution-config\":{\"restart-strategy\":7}}", FLINK_ERROR, "-"},
		{"{\"jid\":\"a\"}", FLINK_ERROR, "-"},
		{"[]", FLINK_ERROR, "-"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char strategy[FLINK_STRATEGY_BYTES] = "-";

		say(200, rows[i].body);
		CHECK_INT(flink_rest_restart_strategy(&rest, JOB, WAIT_MS, strategy, NULL), ==,
			  rows[i].answer);
		CHECK_STR(strategy, rows[i].strategy);
	}
	CHECK_STR(stub.path, "/jobs/" JOB "/config");
}

TEST(a_restart_strategy_that_is_too_long_is_not_said)
{
	char strategy[FLINK_STRATEGY_BYTES];
	cleanup_free char *body = xasprintf(
		"{\"execution-config\":{\"restart-strategy\":\"%0*d\"}}", FLINK_STRATEGY_BYTES, 7);

	say(200, body);
	CHECK_INT(flink_rest_restart_strategy(&rest, JOB, WAIT_MS, strategy, NULL), ==, FLINK_OK);
	CHECK_STR(strategy, "");
}

/* Real answers, of a job whose code sets CLAIM: it is in nothing but what was restored. */
TEST(a_job_that_claims_its_savepoint_shows_it_as_a_checkpoint_of_its_own)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_checkpoints checkpoints;

		stub_replay(&stub, versions[i], "checkpoints-claimed");
		CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &checkpoints, NULL, NULL), ==,
			  FLINK_OK);
		CHECK(checkpoints.restored.present && !checkpoints.restored.is_savepoint);
		CHECK_HAS(checkpoints.restored.path, "/savepoint-");
		flink_checkpoints_release(&checkpoints);
		stub_replay(&stub, versions[i], "checkpoints-restored");
		CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &checkpoints, NULL, NULL), ==,
			  FLINK_OK);
		CHECK(checkpoints.restored.present && checkpoints.restored.is_savepoint);
		flink_checkpoints_release(&checkpoints);
		stub_replay(&stub, versions[i], "jobmanager-config-claimed");
		CHECK_HAS(
			buf_str(&stub.body),
			"{\"key\":\"execution.state-recovery.claim-mode\",\"value\":\"NO_CLAIM\"}");
	}
}

/* Both have the same code and configuration, first without a strategy of its own and then with none. */
TEST(what_flink_does_when_a_task_fails_is_told_by_2_0_only)
{
	static const char *const said[][2] = {
		{"Cluster level default restart strategy",
		 "Cluster level default restart strategy"},
		{"Restart with fixed delay (PT0.5S). #2147483647 restart attempts.",
		 "Restart deactivated."}};
	char strategy[FLINK_STRATEGY_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		stub_replay(&stub, versions[i], "job-config");
		CHECK_INT(flink_rest_restart_strategy(&rest, JOB, WAIT_MS, strategy, NULL), ==,
			  FLINK_OK);
		CHECK_STR(strategy, said[i][0]);
		stub_replay(&stub, versions[i], "job-config-no-restarts");
		CHECK_INT(flink_rest_restart_strategy(&rest, JOB, WAIT_MS, strategy, NULL), ==,
			  FLINK_OK);
		CHECK_STR(strategy, said[i][1]);
	}
}

/* ---- a requested one ---- */

TEST(a_checkpoint_is_posted_with_its_own_trigger_id)
{
	say(202, "{\"request-id\":\"" TRIGGER "\"}");
	CHECK_INT(flink_rest_checkpoint(&rest, JOB, TRIGGER, false, WAIT_MS, NULL), ==, FLINK_OK);
	CHECK_STR(stub.method, "POST");
	CHECK_STR(stub.path, "/jobs/" JOB "/checkpoints");
	CHECK_STR(buf_str(&stub.request_body),
		  "{\"checkpointType\":\"CONFIGURED\",\"triggerId\":\"" TRIGGER "\"}");
	CHECK_INT(flink_rest_checkpoint(&rest, JOB, TRIGGER, true, WAIT_MS, NULL), ==, FLINK_OK);
	CHECK_STR(buf_str(&stub.request_body),
		  "{\"checkpointType\":\"FULL\",\"triggerId\":\"" TRIGGER "\"}");
}

/* Recorded from 1.20.0 and 2.3.0, which spell the cause of a failure differently than for a savepoint. */
TEST(the_result_of_a_checkpoint_is_its_id)
{
	struct flink_operation got = {0};
	struct err err = {0};

	say(200, "{\"status\":{\"id\":\"IN_PROGRESS\"},\"operation\":null}");
	CHECK_INT(flink_rest_checkpoint_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==,
		  FLINK_OK);
	CHECK_INT(got.state, ==, FLINK_OPERATION_IN_PROGRESS);
	CHECK_STR(stub.path, "/jobs/" JOB "/checkpoints/" TRIGGER);
	say(200, "{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{\"checkpointId\":9}}");
	CHECK_INT(flink_rest_checkpoint_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==,
		  FLINK_OK);
	CHECK_INT(got.state, ==, FLINK_OPERATION_COMPLETED);
	CHECK_INT(got.checkpoint_id, ==, 9);
	CHECK_STR(got.location, NULL);
	say(200, "{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{\"failureCause\":{\"class\":"
		 "\"java.util.concurrent.CompletionException\",\"stack-trace\":"
		 "\"java.util.concurrent.CompletionException: org.apache.flink.runtime.messages."
		 "FlinkJobNotFoundException: Could not find Flink job (" JOB ")\"}}}");
	CHECK_INT(flink_rest_checkpoint_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==,
		  FLINK_OK);
	CHECK_INT(got.state, ==, FLINK_OPERATION_FAILED);
	CHECK_HAS(got.failure, "Could not find Flink job");
	flink_operation_release(&got);
	say(200, "{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{}}");
	CHECK_INT(flink_rest_checkpoint_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, &err), ==,
		  FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
}

TEST(a_checkpoint_is_found_by_its_id)
{
	struct flink_checkpoints got = {0};
	const struct flink_checkpoint *newest;

	say(200,
	    "{\"counts\":{\"restored\":0,\"total\":3,\"in_progress\":0,\"completed\":2,"
	    "\"failed\":1},\"latest\":{\"completed\":" CHECKPOINT("3", "COMPLETED") "},\"history\":[" CHECKPOINT(
		    "3", "COMPLETED") "," CHECKPOINT("2",
						     "FAILED") "," CHECKPOINT("1",
									      "COMPLETED") "]}");
	CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &got, NULL, NULL), ==, FLINK_OK);
	newest = got.latest_completed;
	CHECK(newest && flink_checkpoints_find(&got, 3));
	CHECK_STR(flink_checkpoints_find(&got, 3)->path, "file:/cp/chk-3");
	CHECK_STR(flink_checkpoints_find(&got, 1)->path, "file:/cp/chk-1");
	CHECK(!flink_checkpoints_find(&got, 2)); /* it has failed */
	CHECK(!flink_checkpoints_find(&got, 4));
	for (size_t i = 0; i < got.history_count; i++)
		got.history[i].id = 99; /* web.checkpoints.history is short */
	CHECK(flink_checkpoints_find(&got, 3) == newest);
	flink_checkpoints_release(&got);
}

/* ---- what is Flink's word ---- */

/* What has Flink's format is not yet Flink's word. */
TEST(a_404_in_other_words_is_not_absence)
{
	static const struct {
		int status;
		const char *text;
		enum flink_answer answer;
		enum err_kind kind;
	} rows[] = {
		{404, "\"org.apache.flink.runtime.rest.NotFoundException: Job " JOB " not found\"",
		 FLINK_ABSENT, ERR_ABSENT},
		{404,
		 "\"org.apache.flink.runtime.rest.NotFoundException: Job " NOBODY " not found\"",
		 FLINK_ERROR, ERR_FORMAT},
		{500,
		 "\"Internal server error.\",\"<Exception on server side:\\n"
		 "org.apache.flink.runtime.messages.FlinkJobNotFoundException: "
		 "Could not find Flink job (" JOB ")\"",
		 FLINK_ABSENT, ERR_ABSENT},
		{500,
		 "\"org.apache.flink.runtime.messages.FlinkJobNotFoundException: "
		 "Could not find Flink job (" NOBODY ")\"",
		 FLINK_ERROR, ERR_RETRY},
		{404,
		 "\"x.RestHandlerException: There is no savepoint operation with triggerId=" TRIGGER
		 " for job " JOB ".\"",
		 FLINK_ABSENT, ERR_ABSENT},
		{404,
		 "\"x.RestHandlerException: There is no checkpoint operation with triggerId=" TRIGGER
		 " for job " JOB ".\"",
		 FLINK_ABSENT, ERR_ABSENT},
		{404,
		 "\"x.RestHandlerException: There is no savepoint operation with triggerId=" UNKNOWN_TRIGGER
		 " for job " JOB ".\"",
		 FLINK_ERROR, ERR_FORMAT},
		{503,
		 "\"x.RestHandlerException: There is no savepoint operation with triggerId=" TRIGGER
		 " for job " JOB ".\"",
		 FLINK_ERROR, ERR_RETRY},
		{404, "\"x.NotFoundException: Operation not found under key: x@1\"", FLINK_ABSENT,
		 ERR_ABSENT},
		{404, "\"Not found: /jobs/" JOB "/checkpoints\"", FLINK_ERROR, ERR_CONFIG},
		{404, "\"Unable to load requested file /jobs/" JOB ".\"", FLINK_ERROR, ERR_FORMAT},
		{404, "\"Not found.\"", FLINK_ERROR, ERR_FORMAT},
		{404, "\"\"", FLINK_ERROR, ERR_FORMAT},
		{404, "", FLINK_ERROR, ERR_FORMAT},
		{404, "7", FLINK_ERROR, ERR_FORMAT},
		{404, "{\"code\":5}", FLINK_ERROR, ERR_FORMAT},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *body = xasprintf("{\"errors\":[%s]}", rows[i].text);
		struct flink_operation got = {0};
		struct err err = {0};

		say(rows[i].status, body);
		CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, &err), ==,
			  rows[i].answer);
		CHECK_INT(err.kind, ==, rows[i].kind);
	}
}

int main(int argc, char **argv)
{
	return rest_stub_main(&stub, &rest, argc, argv);
}
