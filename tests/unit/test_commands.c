/*
 * The commands against a drey that only pretends: a server on the real control socket that plays a
 * list of status documents, one for each time that it is asked after the request has come.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/consent.h"
#include "control/control_request.h"
#include "control/control_socket.h"
#include "tests/unit/tap.h"

#define DOC(phase, desired, more)                                                                  \
	"{\"application\":\"orders\",\"phase\":\"" phase "\",\"reason\":\"because\","              \
	"\"desired\":{\"state\":\"" desired "\",\"doNotRestart\":false}" more "}"
#define LAUNCH(number)                                                                             \
	",\"launch\":{\"number\":" #number ",\"jobId\":\"abc\",\"restorePoint\":{\"path\":"        \
	"\"file:/sp/1\",\"kind\":\"savepoint\",\"checkpointId\":12,\"completedUnixMs\":1},\"restoreVerified\":true}"
/* NONCE is replaced by that of the request. */
#define LAST(kind, reason, ok, more)                                                               \
	",\"lastOperation\":{\"kind\":\"" kind "\",\"reason\":\"" reason                           \
	"\",\"nonce\":\"NONCE\",\"ok\":" ok ",\"endedUnixMs\":5" more "}"
#define RUNNING DOC("Running", "running", LAUNCH(3))

struct pretender {
	char directory[64], config[96];
	pthread_t thread;
	struct loop *loop;
	struct control_server *server;
	const char *const *documents; /* NULL-terminated; the last one stays */
	const char *refusal;
	size_t asked;  /* status requests since the request */
	char *request; /* the request as it came */
	char *nonce;
};

static struct json *play(struct pretender *drey)
{
	cleanup_buf struct buf text = BUF_INIT;
	const char *at, *document;

	if (drey->request && drey->documents[drey->asked + 1])
		drey->asked++;
	document = drey->documents[drey->asked];
	while ((at = strstr(document, "NONCE"))) {
		buf_add(&text, document, (size_t)(at - document));
		buf_addstr(&text, drey->nonce ? drey->nonce : "none");
		document = at + strlen("NONCE");
	}
	buf_addstr(&text, document);
	return json_parse(buf_str(&text), text.len_bytes, 65536, NULL);
}

static void handle(void *arg, struct control_call *call, const struct json *request)
{
	struct pretender *drey = arg;
	const char *command = json_str(request, "command");
	cleanup_buf struct buf text = BUF_INIT;
	struct json *answer;

	if (command && strcmp(command, "status") == 0) {
		answer = play(drey);
	} else {
		json_print(request, &text);
		xstrset(&drey->request, buf_str(&text));
		xstrset(&drey->nonce, json_str(request, "nonce"));
		answer = drey->refusal ? control_answer_error(drey->refusal) : control_answer_ok(7);
	}
	control_reply(call, answer);
	json_free(answer);
}

static void *serve(void *arg)
{
	struct pretender *drey = arg;

	loop_run(drey->loop, NULL);
	return NULL;
}

static void stop(void *arg)
{
	loop_stop(arg);
}

static void begin(struct pretender *drey, const char *const *documents)
{
	FILE *file;

	*drey = (struct pretender){.directory = "/tmp/drey-test-commands-XXXXXX",
				   .documents = documents};
	CHECK(mkdtemp(drey->directory) != NULL);
	snprintf(drey->config, sizeof(drey->config), "%s/drey.yaml", drey->directory);
	file = fopen(drey->config, "w");
	fprintf(file, "application: orders\nstateDirectory: %s\nflink: {command: [java]}\n",
		drey->directory);
	fclose(file);
	drey->loop = loop_new(NULL);
	drey->server = control_server_new(drey->loop, drey->directory, handle, drey, NULL);
	CHECK(drey->server != NULL);
	pthread_create(&drey->thread, NULL, serve, drey);
}

static void end(struct pretender *drey)
{
	loop_post(drey->loop, stop, drey->loop);
	pthread_join(drey->thread, NULL);
	control_server_free(drey->server);
	loop_free(drey->loop);
	unlink(drey->config);
	CHECK(rmdir(drey->directory) == 0);
	free(drey->request);
	free(drey->nonce);
}

static const struct cli_command *const commands[] = {
	&cmd_status, &cmd_savepoint,      &cmd_suspend,  &cmd_resume,  &cmd_restart,
	&cmd_cancel, &cmd_do_not_restart, &cmd_handover, &cmd_rescale, NULL,
};
static char *out_text, *err_text;

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Run a command (the first word) with --config. */
static int run(struct pretender *drey, const char *const *words)
{
	char *argv[16] = {(char *)"drey", (char *)words[0], (char *)"--config", drey->config};
	size_t out_len, err_len;
	int argc = 4, status;
	FILE *out, *err;

	while (*++words)
		argv[argc++] = (char *)*words;
	free(out_text);
	free(err_text);
	out_text = err_text = NULL;
	out = open_memstream(&out_text, &out_len);
	err = open_memstream(&err_text, &err_len);
	status = cli_main(commands, argc, argv, out, err);
	fclose(out);
	fclose(err);
	return status;
}

/* ---- status ---- */

TEST(the_status_of_status_follows_the_phase)
{
	static const struct {
		const char *document;
		int status;
	} cases[] = {
		{DOC("Running", "running",
		     ",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]"),
		 CLI_OK},
		{DOC("Running", "running",
		     ",\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]"),
		 CLI_FAILED},
		{DOC("Running", "running", ""), CLI_OK},
		{DOC("Suspended", "suspended", ""), CLI_PARKED},
		{DOC("Cancelled", "cancelled", ""), CLI_PARKED},
		{DOC("Finished", "running", ""), CLI_PARKED},
		{DOC("Failed", "running", ""), CLI_PARKED},
		{DOC("Holding", "running", ""), CLI_HELD},
		{DOC("Resolving", "running", ""), CLI_FAILED},
		{DOC("Launching", "running", ""), CLI_FAILED},
		{DOC("Stopping", "running", ""), CLI_FAILED},
		{DOC("Terminating", "running", ""), CLI_FAILED},
		{DOC("Standby", "running", ""), CLI_FAILED},
		{DOC("Prepared", "running", ""), CLI_FAILED},
		{DOC("HandedOver", "running", ""), CLI_FAILED},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *const documents[] = {cases[i].document, NULL};
		struct pretender drey;

		begin(&drey, documents);
		CHECK_INT(run(&drey, WORDS("status")), ==, cases[i].status);
		end(&drey);
	}
}

TEST(status_shows_what_matters)
{
	static const char *const documents[] = {
		DOC("Running", "running",
		    LAUNCH(3) ",\"job\":{\"state\":\"RESTARTING\"},\"lastCheckpoint\":{\"id\":27,"
			      "\"path\":\"file:/chk\\u001b[2J\",\"completedUnixMs\":1}"
			      ",\"lastSavepoint\":{\"path\":\"file:/sp/2\",\"origin\":\"periodic\",\"format\":\"canonical\","
			      "\"completedUnixMs\":1},\"attempts\":{\"failed\":2,\"max\":5},"
			      "\"lastError\":\"it broke\"" LAST("stop", "suspend", "false",
								",\"error\":\"no slot\"")),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("status")), ==, CLI_OK);
	CHECK_HAS(out_text, "orders: Running: because\n");
	CHECK_HAS(out_text, "desired        running\n");
	CHECK_HAS(out_text, "3, job id abc, Flink reports RESTARTING\n");
	CHECK_HAS(out_text, "savepoint file:/sp/1 (checkpoint id 12), complete ");
	CHECK_HAS(out_text, "file:/chk\\x1b[2J\n");
	CHECK_HAS(out_text, "file:/sp/2 (periodic, canonical), ");
	CHECK_HAS(out_text, "stop (suspend) failed ");
	CHECK_HAS(out_text, ": no slot\n");
	CHECK_HAS(out_text, "2 of 5 failed\n");
	CHECK_HAS(out_text, "it broke\n");
	CHECK_STR(err_text, "");
	CHECK_INT(run(&drey, WORDS("status", "--json")), ==, CLI_OK);
	CHECK(out_text[0] == '{');
	CHECK_HAS(out_text, "\"RESTARTING\"");
	end(&drey);
}

#define HANDOVER(role, state, more)                                                                \
	",\"role\":\"" role "\",\"owner\":{\"pod\":\"old\",\"side\":\"blue\"},"                    \
	"\"handover\":{\"state\":\"" state "\",\"to\":{\"pod\":\"new\"},\"why\":\"so it is\","     \
	"\"stateUnixMs\":5" more "}"

TEST(status_of_a_pod_that_is_not_the_owner_says_who_is)
{
	static const char *const documents[] = {
		DOC("Prepared", "running", HANDOVER("candidate", "offered", "")), NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("status")), ==, CLI_FAILED);
	CHECK_HAS(out_text, "orders: Prepared: because\n");
	CHECK_HAS(out_text, "role           candidate, the owner is old\n");
	CHECK_HAS(out_text, "hand-over      offered ");
	CHECK_HAS(out_text, ", to new: so it is\n");
	CHECK(!strstr(out_text, "desired")); /* it does not know it */
	end(&drey);
}

TEST(status_of_the_owner_says_that_the_job_was_returned)
{
	static const char *const documents[] = {
		DOC("Running", "running",
		    HANDOVER("owner", "none",
			     ",\"returned\":\"main() threw\",\"returnedUnixMs\":5")),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("status")), ==, CLI_OK);
	CHECK_HAS(out_text, "desired        running\n");
	CHECK_HAS(out_text, ": main() threw; see `drey explain HandoverReturned`\n");
	CHECK(!strstr(out_text, "  hand-over"));
	CHECK(!strstr(out_text, "  role"));
	CHECK_INT(run(&drey, WORDS("handover")), ==, CLI_HELD);
	CHECK_HAS(out_text, "orders: hand-over ");
	CHECK_HAS(out_text, "returned       ");
	CHECK_HAS(out_text, ": main() threw\n");
	end(&drey);
}

TEST(a_transition_is_shown_with_what_it_waits_for)
{
	static const char *const documents[] = {
		DOC("Running", "running",
		    HANDOVER(
			    "owner", "offered",
			    ",\"transition\":{\"state\":\"crossing\",\"waitsFor\":\"the gates\","
			    "\"cutUnixMs\":1700000000000,\"candidateState\":\"shadowing\","
			    "\"watermarkUnixMs\":1699999990000,\"behindMs\":1500,\"idle\":1,\"above\":2,"
			    "\"below\":1,\"inexact\":true,\"replay\":null}")),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("handover")), ==, CLI_FAILED);
	CHECK_HAS(out_text, "transition     crossing, waits for: the gates\n");
	CHECK_HAS(out_text, "cut            2023-11-14T22:13:20");
	CHECK_HAS(out_text, "next version   shadowing, 1500 ms of event time behind\n");
	CHECK_HAS(out_text, "idle           1 subtask of the gates here has no records: ");
	CHECK_HAS(out_text, "written twice  at least 3 records\n");
	CHECK(!strstr(out_text, "starts again"));
	end(&drey);
}

#define SCALE(members)        ",\"scale\":[{\"kind\":\"Deployment\",\"name\":\"tm\"," members "}]"
#define SCALED(name, members) "{\"kind\":\"StatefulSet\",\"name\":\"" name "\"," members "}"

TEST(status_says_what_has_become_of_the_task_managers)
{
	static const struct {
		const char *document, *says;
	} rows[] = {
		{DOC("Suspended", "suspended", SCALE("\"replicas\":0,\"recorded\":3")),
		 "scale          Deployment tm is at 0; 3 will be back before the next launch\n"},
		{DOC("Suspended", "suspended", SCALE("\"replicas\":3,\"contested\":true")),
		 "scale          Deployment tm is left to others"},
		{DOC("Running", "running", SCALE("\"replicas\":null,\"error\":\"HTTP 403\"")),
		 "scale          cannot scale Deployment tm: HTTP 403\n"},
		/* the worst of several, and how many such there are */
		{DOC("Suspended", "suspended",
		     ",\"scale\":[" SCALED("a", "\"replicas\":0,\"recorded\":3") "," SCALED(
			     "b", "\"replicas\":0,\"recorded\":2") "]"),
		 "scale          StatefulSet a and 1 more are at 0; 5 will be back before the next launch\n"},
		{DOC("Suspended", "suspended",
		     ",\"scale\":[" SCALED("a", "\"replicas\":0,\"recorded\":3") "," SCALED(
			     "b", "\"replicas\":0,\"recorded\":2,\"error\":\"HTTP 403\"") "]"),
		 "scale          cannot scale StatefulSet b: HTTP 403\n"},
		{DOC("Running", "running", SCALE("\"replicas\":3,\"recorded\":null")), NULL},
		{DOC("Suspended", "suspended", SCALE("\"replicas\":0,\"recorded\":null")), NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *const documents[] = {rows[i].document, NULL};
		struct pretender drey;

		begin(&drey, documents);
		run(&drey, WORDS("status"));
		if (rows[i].says)
			CHECK_HAS(out_text, rows[i].says);
		else
			CHECK(!strstr(out_text, "scale"));
		end(&drey);
	}
}

/* ---- savepoint ---- */

TEST(savepoint_prints_the_location_alone)
{
	static const char *const documents[] = {
		RUNNING, RUNNING,
		DOC("Running", "running",
		    LAST("savepoint", "manual", "true", ",\"location\":\"file:/sp/9\"")),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("savepoint")), ==, CLI_OK);
	CHECK_STR(out_text, "file:/sp/9\n");
	CHECK_STR(err_text, "");
	CHECK_HAS(drey.request, "{\"command\":\"savepoint\",\"nonce\":\"");
	end(&drey);
}

TEST(savepoint_looks_for_its_own_answer_among_all)
{
	static const char *const documents[] = {
		DOC("Running", "running", ""),
		DOC("Running", "running",
		    ",\"savepointRequests\":[{\"nonce\":\"NONCE\",\"state\":\"waiting\"}]"),
		DOC("Running", "running",
		    LAST("savepoint", "manual", "false",
			 ",\"error\":\"of another\"") ",\"savepointRequests\":[{\"nonce\":"
						      "\"another\",\"state\":\"failed\"},"
						      "{\"nonce\":\"NONCE\",\"state\":\"done\","
						      "\"location\":\"file:/sp/ours\"}]"),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("savepoint")), ==, CLI_OK);
	CHECK_STR(out_text, "file:/sp/ours\n");
	end(&drey);
}

TEST(savepoint_waits_for_its_own_result)
{
	static const char *const documents[] = {
		DOC("Running", "running",
		    ",\"lastOperation\":{\"kind\":\"savepoint\",\"reason\":\"manual\",\"nonce\":"
		    "\"another\",\"ok\":true,\"location\":\"file:/sp/old\"}"),
		DOC("Running", "running",
		    ",\"lastOperation\":{\"kind\":\"savepoint\",\"reason\":\"manual\",\"nonce\":"
		    "\"another\",\"ok\":true,\"location\":\"file:/sp/old\"}"),
		DOC("Running", "running",
		    LAST("savepoint", "manual", "false", ",\"error\":\"disk full\"")),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("savepoint")), ==, CLI_FAILED);
	CHECK_STR(out_text, "");
	CHECK_HAS(err_text, "drey savepoint: the savepoint failed: disk full; drey does not");
	end(&drey);
}

TEST(savepoint_needs_a_job)
{
	static const char *const documents[] = {DOC("Suspended", "suspended", ""), NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("savepoint")), ==, CLI_PARKED);
	CHECK_HAS(err_text, "no job is running (Suspended: because)");
	CHECK(!drey.request);
	end(&drey);
}

TEST(a_wait_that_is_too_long_says_that_the_request_stays)
{
	static const char *const documents[] = {RUNNING, NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("savepoint", "--timeout", "2500ms")), ==, CLI_TIMEOUT);
	CHECK_HAS(err_text, "drey savepoint: waiting for the savepoint: Running: because\n");
	CHECK_HAS(err_text, "the request remains in force");
	CHECK_STR(out_text, "");
	end(&drey);
}

TEST(no_wait_returns_when_the_request_is_durable)
{
	static const char *const documents[] = {RUNNING, NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("savepoint", "--no-wait")), ==, CLI_OK);
	CHECK_STR(out_text, "");
	CHECK_HAS(drey.request, "savepoint");
	CHECK_INT(run(&drey, WORDS("savepoint", "--no-wait", "--json")), ==, CLI_OK);
	CHECK_HAS(out_text, "\"phase\":");
	end(&drey);
}

TEST(a_refusal_is_told)
{
	static const char *const documents[] = {RUNNING, NULL};
	struct pretender drey;

	begin(&drey, documents);
	drey.refusal = "another drey has taken over";
	CHECK_INT(run(&drey, WORDS("suspend")), ==, CLI_FAILED);
	CHECK_STR(err_text, "drey suspend: refused: another drey has taken over\n");
	end(&drey);
}

/* ---- suspend, cancel ---- */

#define HANDED_OVER                                                                                \
	DOC("HandedOver", "running",                                                               \
	    ",\"role\":\"reserve\",\"owner\":{\"pod\":\"orders-2\",\"side\":\"green\"}")
#define JUST_BEGUN                                                                                 \
	DOC("Standby", "running",                                                                  \
	    ",\"role\":\"unknown\",\"owner\":{\"pod\":\"orders-2\",\"side\":\"green\"}")

TEST(what_is_stopped_and_handed_over_meanwhile_has_been_carried_out)
{
	static const char *const suspended[] = {RUNNING, DOC("Stopping", "suspended", ""),
						JUST_BEGUN, HANDED_OVER, NULL};
	static const char *const cancelled[] = {RUNNING, DOC("Stopping", "cancelled", ""),
						JUST_BEGUN, HANDED_OVER, NULL};
	struct pretender drey;

	begin(&drey, suspended);
	CHECK_INT(run(&drey, WORDS("suspend")), ==, CLI_OK);
	CHECK_STR(out_text, "");
	CHECK_HAS(err_text, "handed over to orders-2, and is suspended there");
	end(&drey);
	begin(&drey, cancelled);
	CHECK_INT(run(&drey, WORDS("cancel")), ==, CLI_OK);
	CHECK_STR(out_text, "");
	CHECK_HAS(err_text, "handed over to orders-2, and is cancelled there");
	end(&drey);
}

TEST(other_requests_do_not_wait_for_a_job_that_was_handed_over)
{
	static const char *const documents[] = {RUNNING, HANDED_OVER, NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("savepoint")), ==, CLI_FAILED);
	CHECK_HAS(err_text, "the job was handed over to orders-2 meanwhile");
	end(&drey);
}

TEST(options_for_another_pod_go_together)
{
	static const char *const documents[] = {RUNNING, NULL};
	static const struct {
		const char *words[5], *says;
	} rows[] = {
		{{"suspend", "--withdraw"}, "--withdraw needs --remote"},
		{{"cancel", "--skip-parked"}, "--skip-parked needs --remote"},
		{{"suspend", "--remote", "--json"}, "--json cannot be combined with --remote"},
		{{"suspend", "--remote", "--withdraw", "--no-wait"},
		 "--withdraw cannot be combined with --no-wait"},
	};
	struct pretender drey;

	begin(&drey, documents);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CHECK_INT(run(&drey, rows[i].words), ==, CLI_USAGE);
		CHECK_HAS(err_text, rows[i].says);
	}
	end(&drey);
}

TEST(suspend_prints_the_savepoint)
{
	static const char *const documents[] = {
		RUNNING, DOC("Stopping", "suspended", ""),
		DOC("Suspended", "suspended",
		    LAST("stop", "suspend", "true", ",\"location\":\"file:/sp/9\"")),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("suspend")), ==, CLI_OK);
	CHECK_STR(out_text, "file:/sp/9\n");
	CHECK_STR(drey.request, "{\"command\":\"suspend\"}");
	end(&drey);
}

TEST(a_failed_suspend_says_what_comes_next)
{
	static const char *const documents[] = {
		RUNNING, DOC("Stopping", "suspended", ""),
		DOC("Running", "suspended",
		    LAST("stop", "suspend", "false", ",\"error\":\"task failed\"")),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("suspend")), ==, CLI_FAILED);
	CHECK_HAS(
		err_text,
		"the stop failed: task failed; drey retries every 30 s; withdraw the request with `drey resume`");
	end(&drey);
}

TEST(suspend_is_done_under_do_not_restart_too)
{
	static const char *const documents[] = {
		RUNNING,
		"{\"application\":\"orders\",\"phase\":\"Holding\",\"reason\":\"do-not-restart is on\","
		"\"desired\":{\"state\":\"suspended\",\"doNotRestart\":true}}",
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("suspend")), ==, CLI_OK);
	CHECK_HAS(err_text, "no savepoint was taken");
	end(&drey);
}

TEST(cancel_waits_for_cancelled_or_is_overtaken)
{
	static const char *const done[] = {RUNNING, DOC("Cancelled", "cancelled", ""), NULL};
	static const char *const overtaken[] = {RUNNING, DOC("Running", "running", ""), NULL};
	struct pretender drey;

	begin(&drey, done);
	CHECK_INT(run(&drey, WORDS("cancel")), ==, CLI_OK);
	CHECK_STR(out_text, "Cancelled\n");
	end(&drey);
	begin(&drey, overtaken);
	CHECK_INT(run(&drey, WORDS("cancel")), ==, CLI_FAILED);
	CHECK_HAS(err_text, "superseded: the desired state is now running");
	end(&drey);
}

/* ---- resume, restart ---- */

TEST(resume_says_what_was_restored)
{
	static const char *const documents[] = {
		DOC("Suspended", "suspended", ""), DOC("Resolving", "running", ""),
		DOC("Launching", "running", LAUNCH(4)), DOC("Running", "running", LAUNCH(4)), NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("resume")), ==, CLI_OK);
	CHECK_STR(out_text, "launch 4 restored savepoint file:/sp/1 (checkpoint id 12)\n");
	CHECK_STR(drey.request, "{\"command\":\"resume\"}");
	end(&drey);
}

TEST(resume_sends_the_restore_request)
{
	static const char *const documents[] = {DOC("Holding", "running", ""),
						DOC("Running", "running", LAUNCH(4)), NULL};
	cleanup_free char *directory = getcwd(NULL, 0);
	cleanup_free char *absolute = xasprintf("\"path\":\"%s/sp/1\"", directory);
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("resume", "--from", "sp/1", "--allow-non-restored-state")), ==,
		  CLI_OK);
	CHECK_HAS(drey.request, "{\"kind\":\"path\",\"token\":\"");
	CHECK_HAS(drey.request, absolute);
	CHECK_HAS(drey.request, "\"allowNonRestoredState\":true}");
	end(&drey);
	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("resume", "--from", "sp/1", "--foreign")), ==, CLI_OK);
	CHECK_HAS(drey.request, "\"foreign\":true");
	end(&drey);
	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("resume", "--allow-non-restored-state")), ==, CLI_OK);
	CHECK_HAS(drey.request, "{\"kind\":\"newest\",\"token\":\"");
	CHECK_HAS(drey.request, "\"allowNonRestoredState\":true}");
	end(&drey);
	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("resume", "--empty")), ==, CLI_OK);
	CHECK_HAS(drey.request, "{\"kind\":\"empty\",\"token\":\"");
	end(&drey);
}

TEST(a_restore_request_is_refused_while_the_job_runs)
{
	static const char *const documents[] = {RUNNING, NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("resume", "--empty")), ==, CLI_FAILED);
	CHECK_HAS(err_text, "the application is Running");
	CHECK_HAS(err_text, "nothing was changed");
	CHECK(!drey.request);
	end(&drey);
}

TEST(resume_under_do_not_restart_says_so)
{
	static const char *const documents[] = {
		"{\"application\":\"orders\",\"phase\":\"Holding\",\"reason\":\"do-not-restart is on\","
		"\"desired\":{\"state\":\"suspended\",\"doNotRestart\":true}}",
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("resume")), ==, CLI_PARKED);
	CHECK_HAS(err_text, "do-not-restart is on");
	end(&drey);
}

TEST(resume_that_ends_in_holding_says_why)
{
	static const char *const documents[] = {DOC("Suspended", "suspended", ""),
						DOC("Holding", "running", ""), NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("resume")), ==, CLI_HELD);
	CHECK_HAS(err_text, "drey resume: drey holds: because\n");
	end(&drey);
}

TEST(restart_waits_for_the_next_launch)
{
	static const char *const documents[] = {
		RUNNING,
		RUNNING,
		DOC("Stopping", "running", LAUNCH(3)),
		DOC("Launching", "running", LAUNCH(4) LAST("stop", "restart", "true", "")),
		DOC("Running", "running", LAUNCH(4) LAST("stop", "restart", "true", "")),
		NULL};
	static const char *const failed[] = {
		RUNNING,
		DOC("Running", "running",
		    LAUNCH(3) LAST("stop", "restart", "false", ",\"error\":\"no\"")),
		NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("restart")), ==, CLI_OK);
	CHECK_HAS(out_text, "launch 4 restored savepoint file:/sp/1");
	end(&drey);
	begin(&drey, failed);
	CHECK_INT(run(&drey, WORDS("restart")), ==, CLI_FAILED);
	CHECK_HAS(err_text, "the stop failed: no; the job keeps running");
	end(&drey);
}

TEST(do_not_restart_is_turned_on_and_off)
{
	static const char *const documents[] = {RUNNING, NULL};
	struct pretender drey;

	begin(&drey, documents);
	CHECK_INT(run(&drey, WORDS("do-not-restart", "on")), ==, CLI_OK);
	CHECK_STR(drey.request, "{\"command\":\"do-not-restart\",\"on\":true}");
	CHECK_INT(run(&drey, WORDS("do-not-restart", "off")), ==, CLI_OK);
	CHECK_STR(drey.request, "{\"command\":\"do-not-restart\",\"on\":false}");
	end(&drey);
}

TEST(a_dry_run_requests_nothing)
{
	static const char *const running[] = {RUNNING, NULL};
	static const char *const suspended[] = {DOC("Suspended", "suspended", ""), NULL};
	const struct {
		const char *const *documents, *const *words, *says;
	} rows[] = {
		{running, WORDS("suspend", "--dry-run"),
		 "dry run: would stop the job with a savepoint and keep it stopped (orders is Running); nothing was changed\n"},
		{running, WORDS("cancel", "--dry-run"), "would stop the job without a savepoint"},
		{running, WORDS("savepoint", "--dry-run"), "would take a savepoint now"},
		{running, WORDS("restart", "--dry-run"),
		 "would stop the job with a savepoint and start it from there"},
		{running, WORDS("rescale", "--dry-run", "--reset"), "would "},
		{running, WORDS("do-not-restart", "--dry-run", "on"),
		 "would turn do-not-restart on (it is off)"},
		{suspended, WORDS("resume", "--dry-run", "--empty"),
		 "would start the job without any state (orders is Suspended)"},
		{suspended, WORDS("resume", "--dry-run", "--from", "s3://b/\x1b[2J"),
		 "would start the job from s3://b/\\x1b[2J (orders is Suspended)"},
		{suspended, WORDS("resume", "--dry-run"), "from its newest state"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pretender drey;

		begin(&drey, rows[i].documents);
		CHECK_INT(run(&drey, rows[i].words), ==, CLI_OK);
		CHECK_HAS(out_text, rows[i].says);
		CHECK(!drey.request);
		end(&drey);
	}
}

TEST(only_yes_means_yes)
{
	CHECK(consent_is_yes("y\n") && consent_is_yes("Y") && consent_is_yes("yes\r\n"));
	CHECK(!consent_is_yes("") && !consent_is_yes("\n") && !consent_is_yes("n\n"));
	CHECK(!consent_is_yes("yesterday\n") && !consent_is_yes(" y\n") && !consent_is_yes("ye\n"));
}

int main(int argc, char **argv)
{
	int status;

	status = tap_main(argc, argv);
	free(out_text);
	free(err_text);
	return status;
}
