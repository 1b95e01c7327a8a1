#include "flink/rest.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "flink/checkpoints.h"
#include "flink/operation.h"
#include "rest_stub.h"
#include "tap.h"

#define JOB             "00000000000000000000000000000a01"
#define JOB_B1          "00000000000000000000000000000b01"
#define JOB_B2          "00000000000000000000000000000b02"
#define NOBODY          "ffffffffffffffffffffffffffffffff"
#define TRIGGER         "01010101010101010101010101010101"
#define UNKNOWN_TRIGGER "99999999999999999999999999999999"
#define WAIT_MS         20000

static struct stub stub;
static struct flink_rest rest;
static const char *const versions[] = {"1.20", "2.3"};

static void replay(const char *version, const char *name)
{
	stub_replay(&stub, version, name);
}

static void say(int status, const char *body)
{
	stub_set(&stub, STUB_NORMAL, status, "application/json", body, strlen(body));
}

static void say_html(int status)
{
	static const char page[] = "<html><body><h1>Service Unavailable</h1></body></html>";

	stub_set(&stub, STUB_NORMAL, status, "text/html; charset=utf-8", page, sizeof(page) - 1);
}

static const struct flink_savepoint_request savepoint = {
	.job_id = JOB, .trigger_id = TRIGGER, .target_directory = "file:///data/sp"};

static enum flink_answer ask_slots(const struct flink_rest *flink, int64_t timeout_ms,
				   struct err *err)
{
	struct flink_slots slots;

	return flink_rest_slots(flink, timeout_ms, &slots, err);
}

/* ---- the cluster ---- */

TEST(an_address_of_ipv6_has_brackets_in_a_url)
{
	char url[FLINK_REST_URL_BYTES];

	flink_rest_url("127.0.0.1", 8081, false, url);
	CHECK_STR(url, "http://127.0.0.1:8081");
	flink_rest_url("::1", 80, true, url);
	CHECK_STR(url, "https://[::1]:80");
}

TEST(slots_are_read_from_the_overview)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_slots slots = {0};

		replay(versions[i], "overview");
		CHECK_INT(flink_rest_slots(&rest, WAIT_MS, &slots, NULL), ==, FLINK_OK);
		CHECK_INT(slots.task_managers, ==, 1);
		CHECK_INT(slots.total, ==, 1);
		CHECK_INT(slots.available, ==, 0);
	}
}

/* ---- what is not an answer ---- */

TEST(a_refused_connection_is_not_yet)
{
	struct flink_rest nobody = {.base_url = "http://127.0.0.1:1", .http = rest.http};
	struct err err = {0};

	CHECK_INT(ask_slots(&nobody, WAIT_MS, &err), ==, FLINK_NOT_YET);
	CHECK_INT(err.kind, ==, ERR_RETRY);
}

TEST(a_leader_election_is_not_yet_on_every_path)
{
	struct err err = {0};
	enum flink_job_state state;
	struct flink_operation operation = {0};

	say(503,
	    "{\"errors\":[\"Service temporarily unavailable due to an ongoing leader election. Please refresh.\"]}");
	CHECK_INT(ask_slots(&rest, WAIT_MS, &err), ==, FLINK_NOT_YET);
	CHECK_HAS(err.msg, "leader election");
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_INT(flink_rest_job_state(&rest, JOB, WAIT_MS, &state, NULL), ==, FLINK_NOT_YET);
	CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &operation, NULL), ==,
		  FLINK_NOT_YET);
	CHECK_INT(flink_rest_savepoint(&rest, &savepoint, WAIT_MS, NULL), ==, FLINK_NOT_YET);
}

TEST(an_initializing_job_is_not_yet)
{
	struct err err = {0};
	struct flink_checkpoints checkpoints;

	say(500,
	    "{\"errors\":[\"Internal server error.\",\"<Exception on server side:\\n"
	    "org.apache.flink.runtime.dispatcher.UnavailableDispatcherOperationException: Unable "
	    "to get JobMasterGateway for initializing job. The requested operation is not "
	    "available while the JobManager is initializing.\\n\\tat x.y\\n"
	    "End of exception on server side>\"]}");
	CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &checkpoints, NULL, &err), ==,
		  FLINK_NOT_YET);
	CHECK_HAS(err.msg, "UnavailableDispatcherOperationException");
}

TEST(an_html_page_is_never_absence)
{
	static const int statuses[] = {200, 404, 502, 503};

	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		struct err err = {0};
		struct flink_operation operation = {0};
		bool ended;

		say_html(statuses[i]);
		CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &operation, &err), ==,
			  FLINK_ERROR);
		CHECK_INT(err.kind, ==, statuses[i] >= 500 ? ERR_RETRY : ERR_FORMAT);
		CHECK_HAS(err.msg, "text/html");
		CHECK_INT(flink_rest_cancel(&rest, JOB, WAIT_MS, &ended, NULL), ==, FLINK_ERROR);
	}
}

TEST(a_server_error_is_an_error_with_flinks_first_line)
{
	struct err err = {0};

	say(500, "{\"errors\":[\"Internal server error.\",\"<Exception on server side:\\n"
		 "org.apache.flink.runtime.rpc.RpcTimeout: Call took too long\\n\\tat x.y\\n"
		 "End of exception on server side>\"]}");
	CHECK_INT(ask_slots(&rest, WAIT_MS, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_HAS(err.msg, "/overview: HTTP 500: RpcTimeout: Call took too long");
	CHECK(strstr(err.msg, "\n") == NULL);
}

TEST(statuses_have_their_kinds)
{
	static const struct {
		int status;
		enum err_kind kind;
	} rows[] = {{400, ERR_CONFIG}, {401, ERR_DENIED}, {403, ERR_DENIED}, {408, ERR_RETRY},
		    {409, ERR_BUSY},   {429, ERR_RETRY},  {503, ERR_RETRY}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = {0};

		say(rows[i].status, "{\"errors\":[\"x\"]}");
		CHECK_INT(ask_slots(&rest, WAIT_MS, &err), ==, FLINK_ERROR);
		CHECK_INT(err.kind, ==, rows[i].kind);
	}
}

TEST(a_redirect_is_an_error)
{
	struct err err = {0};

	replay("2.3", "patch-mode-stop"); /* 308 */
	CHECK_INT(ask_slots(&rest, WAIT_MS, &err), ==, FLINK_ERROR);
	CHECK_HAS(err.msg, "308");
	CHECK_HAS(err.msg, "has been removed");
}

TEST(a_bad_id_is_refused_before_it_is_sent)
{
	struct err err = {0};
	struct flink_operation operation = {0};
	struct flink_savepoint_request bad = savepoint;

	stub.path[0] = '\0';
	bad.trigger_id = "../../x";
	CHECK_INT(flink_rest_savepoint(&rest, &bad, WAIT_MS, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_INT(flink_rest_operation(&rest, "x", TRIGGER, WAIT_MS, &operation, NULL), ==,
		  FLINK_ERROR);
	CHECK_STR(stub.path, "");
}

TEST(damaged_answers_are_format_errors)
{
	static const char *const bodies[] = {
		"",
		"{",
		"[]",
		"null",
		"{\"jobs\":null}",
		"{\"jobs\":{}}",
		"{\"jobs\":[1]}",
		"{\"jobs\":[{\"id\":\"00000000000000000000000000000a01\"}]}",
		"{\"jobs\":[{\"id\":7,\"status\":\"RUNNING\"}]}",
		"{\"jobs\":[{\"id\":\"../etc\",\"status\":\"RUNNING\"}]}",
		"{\"jobs\":[]} trailing",
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		enum flink_job_state state = FLINK_JOB_SUSPENDED;
		struct err err = {0};

		say(200, bodies[i]);
		CHECK_INT(flink_rest_job_state(&rest, JOB, WAIT_MS, &state, &err), ==, FLINK_ERROR);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_INT(state, ==, FLINK_JOB_SUSPENDED);
	}
}

TEST(a_login_in_front_of_flink_is_named)
{
	static const struct {
		const char *header, *name;
	} logins[] = {
		{"\r\nWWW-Authenticate: Basic realm=\"flink\"", "a login (Basic)"},
		{"\r\nwww-authenticate: Negotiate", "a login (Negotiate)"},
		{"\r\nWWW-Authenticate: \x1b[2J", "a login (of no known kind)"},
		{"", "a login (of no known kind)"},
	};

	for (size_t i = 0; i < ARRAY_LEN(logins); i++) {
		cleanup_free char *type = xasprintf("application/json%s", logins[i].header);
		struct flink_jobs jobs = {0};
		struct err err = {0};

		stub_set(&stub, STUB_NORMAL, 401, type, "{\"errors\":[\"no\"]}", 17);
		CHECK_INT(flink_rest_jobs(&rest, WAIT_MS, &jobs, &err), ==, FLINK_ERROR);
		CHECK_INT(err.kind, ==, ERR_DENIED);
		CHECK_HAS(err.msg, logins[i].name);
		CHECK_HAS(err.msg, "flink.restAddress");
	}
}

TEST(a_truncated_answer_is_retried_not_believed)
{
	struct flink_jobs jobs = {0};
	struct err err = {0};

	stub_set(&stub, STUB_TRUNCATED, 200, "application/json", "{\"jobs\":[]}", 11);
	CHECK_INT(flink_rest_jobs(&rest, WAIT_MS, &jobs, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	stub_set(&stub, STUB_CLOSED, 200, "application/json", "", 0);
	CHECK_INT(flink_rest_jobs(&rest, WAIT_MS, &jobs, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_RETRY);
}

TEST(a_huge_answer_is_refused)
{
	cleanup_buf struct buf body = BUF_INIT;
	struct flink_jobs jobs = {0};
	struct err err = {0};

	buf_addstr(&body, "{\"jobs\":[],\"x\":\"");
	while (body.len_bytes <= FLINK_REST_MAX_BYTES)
		buf_addstr(&body,
			   "0123456789012345678901234567890123456789012345678901234567890123");
	buf_addstr(&body, "\"}");
	stub_set(&stub, STUB_NORMAL, 200, "application/json", body.data, body.len_bytes);
	CHECK_INT(flink_rest_jobs(&rest, WAIT_MS, &jobs, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
}

TEST(a_silent_server_costs_no_more_than_the_time_limit)
{
	int64_t begin = clock_mono_ms();
	struct err err = {0};

	stub_set(&stub, STUB_SILENT, 200, "application/json", "", 0);
	CHECK_INT(ask_slots(&rest, 150, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_INT(clock_mono_ms() - begin, >=, 140);
	CHECK_INT(clock_mono_ms() - begin, <, WAIT_MS);
}

/* ---- jobs ---- */

TEST(an_early_job_is_not_yet_and_a_missing_one_is_absent)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		enum flink_job_state state = FLINK_JOB_OTHER;
		struct flink_job_overview overview = {0};
		struct err err = {0};

		replay(versions[i], "jobs-early");
		CHECK_INT(flink_rest_job_state(&rest, JOB, WAIT_MS, &state, &err), ==,
			  FLINK_NOT_YET);
		CHECK_INT(flink_rest_job_overview(&rest, JOB, WAIT_MS, &overview, NULL, NULL), ==,
			  FLINK_NOT_YET);
		replay(versions[i], "jobs");
		CHECK_INT(flink_rest_job_state(&rest, JOB, WAIT_MS, &state, NULL), ==, FLINK_OK);
		CHECK_INT(state, ==, FLINK_JOB_RUNNING);
		CHECK_INT(flink_rest_job_state(&rest, NOBODY, WAIT_MS, &state, &err), ==,
			  FLINK_ABSENT);
		CHECK_INT(err.kind, ==, ERR_ABSENT);
		CHECK_HAS(err.msg, NOBODY);
	}
}

TEST(a_job_beside_ours_is_told_unless_it_has_ended)
{
	static const struct {
		enum flink_job_state state;
		bool told;
	} cases[] = {
		{FLINK_JOB_OTHER, true},      {FLINK_JOB_INITIALIZING, true},
		{FLINK_JOB_CREATED, true},    {FLINK_JOB_RUNNING, true},
		{FLINK_JOB_FAILING, true},    {FLINK_JOB_CANCELLING, true},
		{FLINK_JOB_RESTARTING, true}, {FLINK_JOB_RECONCILING, true},
		{FLINK_JOB_FAILED, false},    {FLINK_JOB_CANCELED, false},
		{FLINK_JOB_FINISHED, false},  {FLINK_JOB_SUSPENDED, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct flink_job list[] = {{JOB, FLINK_JOB_RUNNING}, {NOBODY, cases[i].state}};
		struct flink_jobs jobs = {list, 2};
		const struct flink_job *other = flink_jobs_other(&jobs, JOB);

		CHECK_STR(other ? other->id : "none", cases[i].told ? NOBODY : "none");
		CHECK(flink_jobs_other(&jobs, NOBODY) == &list[0]);
		jobs.count = 1;
		CHECK(flink_jobs_other(&jobs, JOB) == NULL);
	}
}

TEST(a_404_of_flinks_own_is_absence)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_checkpoints checkpoints;
		struct err err = {0};
		bool disabled = true;

		replay(versions[i], "checkpoints-unknown-job");
		CHECK_INT(flink_rest_checkpoints(&rest, NOBODY, WAIT_MS, &checkpoints, &disabled,
						 &err),
			  ==, FLINK_ABSENT);
		CHECK(!disabled);
		CHECK_HAS(err.msg, "not found");
		replay(versions[i], "job-early-no-tm");
		CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &checkpoints, NULL, NULL), ==,
			  FLINK_ABSENT);
		replay(versions[i], "nonexistent"); /* a path that this Flink does not know */
		CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &checkpoints, NULL, &err), ==,
			  FLINK_ERROR);
	}
}

TEST(the_overview_counts_the_tasks)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_job_overview overview = {0};

		replay(versions[i], "jobs-overview");
		CHECK_INT(flink_rest_job_overview(&rest, JOB, WAIT_MS, &overview, NULL, NULL), ==,
			  FLINK_OK);
		CHECK_STR(overview.name, "drey-demo");
		CHECK_INT(overview.state, ==, FLINK_JOB_RUNNING);
		CHECK_INT(overview.tasks_total, ==, 2);
		CHECK_INT(overview.tasks_running, ==, 2);
		CHECK_INT(overview.end_unix_ms, ==, -1);
		CHECK_INT(overview.start_unix_ms, >, 1700000000000);
		flink_job_overview_release(&overview);
	}
}

TEST(every_state_has_its_name)
{
	for (int i = FLINK_JOB_INITIALIZING; i <= FLINK_JOB_RECONCILING; i++) {
		enum flink_job_state state = (enum flink_job_state)i;

		CHECK_INT(flink_job_state_parse(flink_job_state_name(state)), ==, state);
	}
	CHECK_INT(flink_job_state_parse("SOMETHING_NEW"), ==, FLINK_JOB_OTHER);
	CHECK_INT(flink_job_state_parse("OTHER"), ==, FLINK_JOB_OTHER);
}

TEST(a_main_that_threw_is_a_failed_job_with_its_reason)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_job_overview overview = {0};
		struct flink_exception exception = {0};

		replay(versions[i], "jobs-overview-main-threw");
		CHECK_INT(flink_rest_job_overview(&rest, JOB_B1, WAIT_MS, &overview, NULL, NULL),
			  ==, FLINK_OK);
		CHECK_INT(overview.state, ==, FLINK_JOB_FAILED);
		CHECK_STR(overview.name, "(application driver)");
		CHECK_INT(overview.tasks_total, ==, 0);
		flink_job_overview_release(&overview);
		replay(versions[i], "exceptions-main-threw");
		CHECK_INT(flink_rest_exception(&rest, JOB_B1, WAIT_MS, &exception, NULL), ==,
			  FLINK_OK);
		CHECK(exception.present);
		CHECK_STR(exception.class_name,
			  "org.apache.flink.client.program.ProgramInvocationException");
		CHECK_HAS(exception.message, "main() threw on purpose");
		CHECK_HAS(exception.sentence, "IllegalStateException: main() threw on purpose");
		CHECK_HAS(exception.trace, "Caused by: java.lang.IllegalStateException");
		CHECK_INT(exception.unix_ms, >, 1700000000000);
		flink_exception_release(&exception);
	}
}

TEST(a_bad_restore_path_is_named_in_the_reason)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_exception exception = {0};

		replay(versions[i], "exceptions-bad-restore");
		CHECK_INT(flink_rest_exception(&rest, JOB_B1, WAIT_MS, &exception, NULL), ==,
			  FLINK_OK);
		CHECK_HAS(
			exception.sentence,
			"FileNotFoundException: Cannot find checkpoint or savepoint file/directory 'file:///data/nothing'");
		flink_exception_release(&exception);
	}
}

TEST(a_running_job_may_have_no_exception_or_an_old_one)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_exception exception = {.present = true};

		replay(versions[i], "exceptions");
		CHECK_INT(flink_rest_exception(&rest, JOB, WAIT_MS, &exception, NULL), ==,
			  FLINK_OK);
		CHECK(!exception.present);
		CHECK(exception.sentence == NULL);
		replay(versions[i], "exceptions-restarting");
		CHECK_INT(flink_rest_exception(&rest, JOB_B2, WAIT_MS, &exception, NULL), ==,
			  FLINK_OK);
		CHECK(exception.present);
		CHECK_HAS(exception.sentence, "no longer reachable");
		flink_exception_release(&exception);
	}
	CHECK_HAS(stub.path, "maxExceptions=1");
}

TEST(before_2_0_the_root_exception_may_stand_alone)
{
	struct flink_exception exception = {0};

	say(200,
	    "{\"root-exception\":\"a.b.C: no\\n\\tat x\\n\",\"timestamp\":5,\"all-exceptions\":[],"
	    "\"truncated\":false,\"exceptionHistory\":{\"entries\":[],\"truncated\":false}}");
	CHECK_INT(flink_rest_exception(&rest, JOB, WAIT_MS, &exception, NULL), ==, FLINK_OK);
	CHECK(exception.present);
	CHECK_STR(exception.sentence, "C: no");
	CHECK_INT(exception.unix_ms, ==, 5);
	flink_exception_release(&exception);
}

TEST(restarts_are_a_metric_that_may_come_late)
{
	static const char *const bad[] = {"", "many", "3x", "-1"};
	int64_t restarts = -1, rescales = 7;

	replay("2.3", "job-metrics");
	CHECK_INT(flink_rest_restarts(&rest, JOB, WAIT_MS, &restarts, &rescales, NULL), ==,
		  FLINK_OK);
	CHECK_INT(restarts, ==, 0);
	replay("2.3", "metrics-restarting"); /* [] */
	CHECK_INT(flink_rest_restarts(&rest, JOB_B2, WAIT_MS, &restarts, &rescales, NULL), ==,
		  FLINK_NOT_YET);
	say(200, "[{\"id\":\"numRestarts\",\"value\":\"12\"}]");
	CHECK_INT(flink_rest_restarts(&rest, JOB, WAIT_MS, &restarts, &rescales, NULL), ==,
		  FLINK_OK);
	CHECK_INT(restarts, ==, 12);
	CHECK_INT(rescales, ==, -1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		cleanup_free char *body =
			xasprintf("[{\"id\":\"numRestarts\",\"value\":\"%s\"}]", bad[i]);

		say(200, body);
		CHECK_INT(flink_rest_restarts(&rest, JOB, WAIT_MS, &restarts, &rescales, NULL), ==,
			  FLINK_ERROR);
		CHECK_INT(restarts, ==, 12);
	}
	say(200, "{}");
	CHECK_INT(flink_rest_restarts(&rest, JOB, WAIT_MS, &restarts, &rescales, NULL), ==,
		  FLINK_ERROR);
}

/* As Flink 2.3.0 with the adaptive scheduler answers; Flink 1.20 has no numRescales. */
TEST(a_restart_for_another_parallelism_is_none)
{
	int64_t restarts = -1, rescales = -1;

	say(200,
	    "[{\"id\":\"numRestarts\",\"value\":\"5\"},{\"id\":\"numRescales\",\"value\":\"3\"}]");
	CHECK_INT(flink_rest_restarts(&rest, JOB, WAIT_MS, &restarts, &rescales, NULL), ==,
		  FLINK_OK);
	CHECK_INT(restarts, ==, 2);
	CHECK_INT(rescales, ==, 3);
	say(200,
	    "[{\"id\":\"numRestarts\",\"value\":\"1\"},{\"id\":\"numRescales\",\"value\":\"2\"}]");
	CHECK_INT(flink_rest_restarts(&rest, JOB, WAIT_MS, &restarts, &rescales, NULL), ==,
		  FLINK_OK);
	CHECK_INT(restarts, ==, 0);
	say(200,
	    "[{\"id\":\"numRestarts\",\"value\":\"1\"},{\"id\":\"numRescales\",\"value\":\"x\"}]");
	CHECK_INT(flink_rest_restarts(&rest, JOB, WAIT_MS, &restarts, &rescales, NULL), ==,
		  FLINK_ERROR);
}

TEST(cancel_tells_accepted_from_ended_and_unknown)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		bool ended = true;
		struct err err = {0};

		replay(versions[i], "cancel");
		CHECK_INT(flink_rest_cancel(&rest, JOB_B2, WAIT_MS, &ended, NULL), ==, FLINK_OK);
		CHECK(!ended);
		CHECK_STR(stub.method, "PATCH");
		CHECK_STR(stub.path, "/jobs/" JOB_B2 "?mode=cancel");
		replay(versions[i], "cancel-canceled"); /* 202 again */
		CHECK_INT(flink_rest_cancel(&rest, JOB_B2, WAIT_MS, &ended, NULL), ==, FLINK_OK);
		CHECK(!ended);
		replay(versions[i], "cancel-finished"); /* 409 */
		CHECK_INT(flink_rest_cancel(&rest, JOB_B1, WAIT_MS, &ended, NULL), ==, FLINK_OK);
		CHECK(ended);
		replay(versions[i], "cancel-unknown");
		CHECK_INT(flink_rest_cancel(&rest, NOBODY, WAIT_MS, &ended, &err), ==,
			  FLINK_ABSENT);
		CHECK_INT(err.kind, ==, ERR_ABSENT);
	}
}

/* ---- checkpoints ---- */

TEST(checkpoints_tell_kinds_apart)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_checkpoints got = {0};
		size_t savepoints = 0, failed = 0;

		replay(versions[i], "checkpoints-after-savepoints");
		CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &got, NULL, NULL), ==,
			  FLINK_OK);
		CHECK_INT(got.completed, >, 10);
		CHECK_INT(got.total, ==, got.completed + got.failed + got.in_progress);
		CHECK(got.latest_completed && got.latest_savepoint && got.latest_failed);
		if (!got.latest_completed || !got.latest_savepoint || !got.latest_failed) {
			flink_checkpoints_release(&got);
			continue;
		}
		CHECK(!got.latest_completed->is_savepoint);
		CHECK_HAS(got.latest_completed->path, "file:/data/ck/" JOB "/chk-");
		CHECK(got.latest_savepoint->is_savepoint);
		CHECK(!got.latest_savepoint->is_stop);
		CHECK_HAS(got.latest_savepoint->path, "file:/data/sp/savepoint-000000-");
		CHECK_INT(got.latest_savepoint->state_size_bytes, >, 0);
		CHECK_INT(got.latest_savepoint->ack_unix_ms, >, 1700000000000);
		CHECK(got.latest_failed->status == FLINK_CHECKPOINT_FAILED);
		CHECK_HAS(got.latest_failed->failure, "IO-problem detected");
		CHECK(got.latest_failed->path == NULL);
		CHECK_INT(got.latest_failed->ack_unix_ms, ==, -1);
		CHECK(!got.restored.present);
		CHECK_INT(got.history_count, ==, 10);
		for (size_t k = 0; k < got.history_count; k++) {
			savepoints += got.history[k].is_savepoint;
			failed += got.history[k].status == FLINK_CHECKPOINT_FAILED;
			if (k)
				CHECK_INT(got.history[k].id, <, got.history[k - 1].id);
		}
		CHECK_INT(savepoints, >, 0);
		CHECK_INT(failed, >, 0);
		flink_checkpoints_release(&got);
	}
}

TEST(restored_names_what_the_job_started_from)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_checkpoints got = {0};

		replay(versions[i], "checkpoints-restored");
		CHECK_INT(flink_rest_checkpoints(&rest, JOB_B2, WAIT_MS, &got, NULL, NULL), ==,
			  FLINK_OK);
		CHECK(got.restored.present);
		CHECK(got.restored.is_savepoint);
		CHECK_INT(got.restored.id, ==, i == 0 ? 8 : 5);
		CHECK_INT(got.restored.unix_ms, >, 1700000000000);
		CHECK_HAS(got.restored.path, "file:/data/sp/savepoint-000000-");
		CHECK_INT(got.restored_count, ==, 1);
		flink_checkpoints_release(&got);
	}
}

TEST(disabled_checkpointing_is_told_from_an_unknown_job)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_checkpoints got = {0};
		bool disabled = false;

		replay(versions[i], "checkpoints-main-threw");
		CHECK_INT(flink_rest_checkpoints(&rest, JOB_B1, WAIT_MS, &got, &disabled, NULL), ==,
			  FLINK_ABSENT);
		CHECK(disabled);
	}
}

TEST(a_checkpoint_kept_in_the_jobmanager_has_no_path)
{
	static const char body[] =
		"{\"counts\":{\"restored\":0,\"total\":1,\"in_progress\":0,\"completed\":1,"
		"\"failed\":0},"
		"\"latest\":{\"completed\":{\"className\":\"completed\",\"id\":1,\"status\":"
		"\"COMPLETED\",\"is_savepoint\":false,\"trigger_timestamp\":5,\"external_path\":"
		"\"<checkpoint-not-externally-addressable>\"},\"savepoint\":null},\"history\":[]}";
	struct flink_checkpoints got = {0};

	say(200, body);
	CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &got, NULL, NULL), ==, FLINK_OK);
	CHECK(got.latest_completed && got.latest_completed->path == NULL);
	CHECK(got.latest_failed == NULL);
	flink_checkpoints_release(&got);
}

TEST(checkpoint_statistics_of_wrong_types_are_refused_whole)
{
	static const char *const bodies[] = {
		"{}",
		"{\"counts\":{},\"latest\":{},\"history\":[]}",
		"{\"counts\":{\"restored\":0,\"total\":1,\"in_progress\":0,\"completed\":1,"
		"\"failed\":0},"
		"\"latest\":{\"completed\":{\"id\":\"1\"}},\"history\":[]}",
		"{\"counts\":{\"restored\":0,\"total\":1,\"in_progress\":0,\"completed\":1,"
		"\"failed\":0},"
		"\"latest\":{\"completed\":{\"status\":\"COMPLETED\",\"id\":1,\"is_savepoint\":"
		"false,"
		"\"trigger_timestamp\":1,\"external_path\":\"x\"},\"restored\":{\"id\":1}},"
		"\"history\":[]}",
		"{\"counts\":{\"restored\":0,\"total\":1,\"in_progress\":0,\"completed\":1,"
		"\"failed\":0},"
		"\"latest\":{},\"history\":[{\"id\":1,\"status\":\"NEW\"}]}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct flink_checkpoints got = {0};
		struct err err = {0};

		say(200, bodies[i]);
		CHECK_INT(flink_rest_checkpoints(&rest, JOB, WAIT_MS, &got, NULL, &err), ==,
			  FLINK_ERROR);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK(got.latest_completed == NULL);
	}
}

TEST(failures_count_from_the_newest_completed_checkpoint_on_without_savepoints)
{
	static const struct {
		int64_t completed; /* 0 = none */
		const char *history;
		int64_t failures, newest;
	} rows[] = {
		{0, "", 0, 0},
		{5, "c5", 0, 0},
		{5, "f7 f6 c5", 2, 7},
		{5, "f6 c5 f4 f3", 1, 6},
		{5, "p8 f7 p6 c5", 1, 7}, /* p: a savepoint that failed */
		{5, "s6 f4 c5", 0, 0},    /* s: one that is complete */
		{0, "f3 f2 f1", 3, 3},
		{5, "i8 f7 c5", 1, 7},     /* i: one in progress */
		{5, "f16 f15 f14", 3, 16}, /* the completed one is not in the history any more */
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct flink_checkpoint latest = {.id = rows[i].completed}, history[16] = {0};
		struct flink_checkpoints all = {.history = history};
		const struct flink_checkpoint *newest;
		const char *at = rows[i].history;
		int used;
		char kind;
		int id;

		all.latest_completed = rows[i].completed ? &latest : NULL;
		for (; sscanf(at, " %c%d%n", &kind, &id, &used) == 2; at += used)
			history[all.history_count++] = (struct flink_checkpoint){
				.id = id,
				.is_savepoint = kind == 'p' || kind == 's',
				.status = kind == 'f' || kind == 'p' ? FLINK_CHECKPOINT_FAILED
					  : kind == 'i'              ? FLINK_CHECKPOINT_IN_PROGRESS
								     : FLINK_CHECKPOINT_COMPLETED};
		CHECK_INT(flink_checkpoints_failures(&all, &newest), ==, rows[i].failures);
		CHECK_INT(newest ? newest->id : 0, ==, rows[i].newest);
	}
}

TEST(the_interval_is_read_and_that_of_a_job_without_one_is_none)
{
	static const struct {
		const char *body;
		enum flink_answer answer;
		int64_t interval_ms, pause_ms;
	} rows[] = {
		{"{\"interval\":10000,\"min_pause\":500,\"mode\":\"exactly_once\"}", FLINK_OK,
		 10000, 500},
		{"{\"interval\":9223372036854775807,\"min_pause\":0}", FLINK_OK, 0, 0},
		{"{\"interval\":-1}", FLINK_OK, 0, 0},
		{"{\"min_pause\":0}", FLINK_ERROR, -7, -7},
		{"{\"interval\":\"10 s\"}", FLINK_ERROR, -7, -7},
		{"[]", FLINK_ERROR, -7, -7},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct flink_checkpoint_config config = {.interval_ms = -7, .min_pause_ms = -7};

		say(200, rows[i].body);
		CHECK_INT(flink_rest_checkpoint_config(&rest, JOB, WAIT_MS, &config, NULL), ==,
			  rows[i].answer);
		CHECK_INT(config.interval_ms, ==, rows[i].interval_ms);
		CHECK_INT(config.min_pause_ms, ==, rows[i].pause_ms);
	}
	CHECK_STR(stub.path, "/jobs/" JOB "/checkpoints/config");
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_checkpoint_config config = {0};

		replay(versions[i], "checkpoints-config");
		CHECK_INT(flink_rest_checkpoint_config(&rest, JOB, WAIT_MS, &config, NULL), ==,
			  FLINK_OK);
		CHECK_INT(config.interval_ms, ==, 1000);
		CHECK(config.externalization_known && config.externalized);
		CHECK(!config.delete_on_cancellation && !config.changelog);
		CHECK_STR(config.state_backend, "HashMapStateBackend");
		CHECK_STR(config.checkpoint_storage, "FileSystemCheckpointStorage");
	}
}

/* ---- operations ---- */

TEST(a_savepoint_is_posted_with_its_own_trigger_id)
{
	struct flink_savepoint_request native = savepoint;

	replay("1.20", "savepoint-post");
	CHECK_INT(flink_rest_savepoint(&rest, &savepoint, WAIT_MS, NULL), ==, FLINK_OK);
	CHECK_STR(stub.method, "POST");
	CHECK_STR(stub.path, "/jobs/" JOB "/savepoints");
	CHECK_STR(buf_str(&stub.request_body),
		  "{\"target-directory\":\"file:///data/sp\",\"cancel-job\":false,"
		  "\"formatType\":\"CANONICAL\",\"triggerId\":\"" TRIGGER "\"}");
	native.format = FLINK_SAVEPOINT_NATIVE;
	native.target_directory = NULL;
	CHECK_INT(flink_rest_savepoint(&rest, &native, WAIT_MS, NULL), ==, FLINK_OK);
	CHECK_STR(buf_str(&stub.request_body), "{\"cancel-job\":false,\"formatType\":\"NATIVE\","
					       "\"triggerId\":\"" TRIGGER "\"}");
}

TEST(a_stop_spells_its_directory_differently)
{
	struct flink_savepoint_request stop = savepoint;

	stop.trigger_id = "08080808080808080808080808080808";
	stop.drain = true;
	replay("2.3", "stop-post");
	CHECK_INT(flink_rest_stop(&rest, &stop, WAIT_MS, NULL), ==, FLINK_OK);
	CHECK_STR(stub.path, "/jobs/" JOB "/stop");
	CHECK_STR(
		buf_str(&stub.request_body),
		"{\"targetDirectory\":\"file:///data/sp\",\"drain\":true,"
		"\"formatType\":\"CANONICAL\",\"triggerId\":\"08080808080808080808080808080808\"}");
}

TEST(another_trigger_id_than_ours_is_an_error)
{
	struct err err = {0};

	say(202, "{\"request-id\":\"" NOBODY "\"}");
	CHECK_INT(flink_rest_savepoint(&rest, &savepoint, WAIT_MS, &err), ==, FLINK_ERROR);
	CHECK_HAS(err.msg, NOBODY);
	say(202, "{}");
	CHECK_INT(flink_rest_savepoint(&rest, &savepoint, WAIT_MS, &err), ==, FLINK_ERROR);
}

TEST(a_bad_request_is_a_configuration_error)
{
	struct err err = {0};

	replay("2.3", "savepoint-post-bad-format");
	CHECK_INT(flink_rest_savepoint(&rest, &savepoint, WAIT_MS, &err), ==, FLINK_ERROR);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "did not match expected format");
}

TEST(an_operation_in_progress_has_a_null_result)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_operation got = {0};

		replay(versions[i], "savepoint-status-immediately");
		CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==,
			  FLINK_OK);
		CHECK_INT(got.state, ==, FLINK_OPERATION_IN_PROGRESS);
		CHECK(got.location == NULL);
		flink_operation_release(&got);
	}
	CHECK_STR(stub.path, "/jobs/" JOB "/savepoints/" TRIGGER);
}

TEST(a_completed_operation_has_its_location)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_operation got = {0};

		replay(versions[i], "savepoint-status");
		CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==,
			  FLINK_OK);
		CHECK_INT(got.state, ==, FLINK_OPERATION_COMPLETED);
		CHECK_HAS(got.location, "file:/data/sp/savepoint-000000-");
		flink_operation_release(&got);
		replay(versions[i], "stop-status");
		CHECK_INT(flink_rest_operation(&rest, JOB_B1, TRIGGER, WAIT_MS, &got, NULL), ==,
			  FLINK_OK);
		CHECK_INT(got.state, ==, FLINK_OPERATION_COMPLETED);
		flink_operation_release(&got);
	}
}

TEST(completed_with_a_failure_cause_is_a_failure)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_operation got = {0};

		replay(versions[i], "savepoint-unwritable-status");
		CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==,
			  FLINK_OK);
		CHECK_INT(got.state, ==, FLINK_OPERATION_FAILED);
		CHECK_STR(got.failure_class,
			  "org.apache.flink.runtime.checkpoint.CheckpointException");
		CHECK_STR(got.failure,
			  "CheckpointException: An Exception occurred while triggering "
			  "the checkpoint. IO-problem detected. (IOException: Failed to "
			  "create savepoint directory at file:/proc/nope)");
		CHECK(got.location == NULL);
		CHECK(got.saved_location == NULL);
		CHECK(!got.job_unknown);
		flink_operation_release(&got);
	}
}

TEST(an_unknown_job_shows_only_in_the_status)
{
	static const char *const names[] = {"savepoint-status-unknown-job",
					    "savepoint-while-no-tm-status", "stop-finished-status"};

	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		for (size_t k = 0; k < ARRAY_LEN(names); k++) {
			struct flink_operation got = {0};

			replay(versions[i], names[k]);
			CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL),
				  ==, FLINK_OK);
			CHECK_INT(got.state, ==, FLINK_OPERATION_FAILED);
			CHECK(got.job_unknown);
			CHECK_HAS(got.failure,
				  "FlinkJobNotFoundException: Could not find Flink job");
			flink_operation_release(&got);
		}
	}
}

TEST(a_second_stop_fails_both)
{
	struct flink_operation got = {0};

	replay("1.20", "stop-second-status");
	CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==, FLINK_OK);
	CHECK_INT(got.state, ==, FLINK_OPERATION_FAILED);
	CHECK_STR(got.failure, "CheckpointException: Checkpoint Coordinator is suspending.");
	flink_operation_release(&got);
}

TEST(an_unknown_trigger_is_absent)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_operation got = {0};
		struct err err = {0};

		replay(versions[i], "savepoint-status-unknown-trigger");
		CHECK_INT(flink_rest_operation(&rest, JOB, UNKNOWN_TRIGGER, WAIT_MS, &got, &err),
			  ==, FLINK_ABSENT);
		CHECK_HAS(err.msg, "There is no savepoint operation with triggerId=");
	}
}

TEST(a_stop_that_failed_after_its_savepoint_hands_over_the_path)
{
	struct flink_operation got = {0};

	say(200, "{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{\"failure-cause\":{\"class\":"
		 "\"java.util.concurrent.CompletionException\",\"stack-trace\":"
		 "\"java.util.concurrent.CompletionException: org.apache.flink.runtime.scheduler."
		 "stopwithsavepoint.StopWithSavepointStoppingException: A savepoint has been "
		 "created at: "
		 "file:/data/sp/savepoint-000000-5a, but the corresponding job " JOB
		 " failed during stopping. The savepoint is consistent, but might have uncommitted "
		 "transactions.\\n\\tat x\\n\"}}}");
	CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==, FLINK_OK);
	CHECK_INT(got.state, ==, FLINK_OPERATION_FAILED);
	CHECK_STR(got.saved_location, "file:/data/sp/savepoint-000000-5a");
	CHECK(got.location == NULL);
	flink_operation_release(&got);
}

TEST(damaged_operation_answers_are_never_success)
{
	static const char *const bodies[] = {
		"{}",
		"{\"status\":{}}",
		"{\"status\":{\"id\":\"DONE\"}}",
		"{\"status\":{\"id\":\"COMPLETED\"}}",
		"{\"status\":{\"id\":\"COMPLETED\"},\"operation\":null}",
		"{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{}}",
		"{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{\"location\":null}}",
		"{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{\"location\":5}}",
		"{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{\"failure-cause\":\"x\"}}",
		"{\"status\":{\"id\":\"COMPLETED\"},\"operation\":\"x\"}",
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct flink_operation got = {0};
		struct err err = {0};

		say(200, bodies[i]);
		CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, &err), ==,
			  FLINK_ERROR);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
	}
}

TEST(a_failure_without_a_trace_is_still_a_failure)
{
	struct flink_operation got = {0};

	say(200, "{\"status\":{\"id\":\"COMPLETED\"},\"operation\":{\"failure-cause\":{}}}");
	CHECK_INT(flink_rest_operation(&rest, JOB, TRIGGER, WAIT_MS, &got, NULL), ==, FLINK_OK);
	CHECK_INT(got.state, ==, FLINK_OPERATION_FAILED);
	CHECK_STR(got.failure, "Flink reports no reason");
	flink_operation_release(&got);
}

TEST(a_disposal_answers_200_and_ends_without_a_location)
{
	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		struct flink_operation got = {0};
		char trigger[FLINK_ID_CHARS + 1] = "";

		replay(versions[i], "disposal-post");
		CHECK_INT(flink_rest_dispose(&rest, "file:/data/sp/savepoint-000000-1", WAIT_MS,
					     trigger, NULL),
			  ==, FLINK_OK);
		CHECK_INT(strlen(trigger), ==, FLINK_ID_CHARS);
		CHECK_STR(buf_str(&stub.request_body),
			  "{\"savepoint-path\":\"file:/data/sp/savepoint-000000-1\"}");
		replay(versions[i], "disposal-status");
		CHECK_INT(flink_rest_disposal(&rest, trigger, WAIT_MS, &got, NULL), ==, FLINK_OK);
		CHECK_INT(got.state, ==, FLINK_OPERATION_COMPLETED);
		CHECK(got.location == NULL);
		flink_operation_release(&got);
		replay(versions[i], "disposal-missing-status");
		CHECK_INT(flink_rest_disposal(&rest, trigger, WAIT_MS, &got, NULL), ==, FLINK_OK);
		CHECK_INT(got.state, ==, FLINK_OPERATION_FAILED);
		CHECK_HAS(got.failure, "FileNotFoundException");
		flink_operation_release(&got);
		replay(versions[i], "disposal-empty");
		CHECK_INT(flink_rest_dispose(&rest, "", WAIT_MS, trigger, NULL), ==, FLINK_ERROR);
	}
}

int main(int argc, char **argv)
{
	return rest_stub_main(&stub, &rest, argc, argv);
}
