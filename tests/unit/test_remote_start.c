#include "cmd/remote_start.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

static struct journal journal;
static struct start_request request;
static const char *text;

static void begin(const char *phase, const char *nonce)
{
	journal_init(&journal, "orders");
	xstrset(&journal.phase, phase);
	journal_add_log(&journal, 1, "PHASE: the reason");
	request = (struct start_request){.nonce = nonce};
}

static enum start_step judge_in(const char *phase)
{
	xstrset(&journal.phase, phase);
	text = NULL;
	return remote_start_judge(&journal, &request, &text);
}

static void taken(void)
{
	request.asked = request.taken = true;
}

static void launch(void)
{
	journal_add_launch(&journal)->started_unix_ms = 5;
}

TEST(a_resume_is_asked_for_unless_the_job_runs)
{
	begin("Suspended", NULL);
	journal.intent.state = DESIRED_SUSPENDED;
	CHECK_INT(judge_in("Suspended"), ==, START_ASK);
	CHECK_INT(judge_in("Stopping"), ==, START_ASK);
	CHECK_INT(judge_in("Running"), ==, START_ASK); /* the stop is to be withdrawn */
	journal.intent.state = DESIRED_RUNNING;
	CHECK_INT(judge_in("Holding"), ==, START_ASK);
	CHECK_INT(judge_in("Failed"), ==, START_ASK);
	CHECK_INT(judge_in("Running"), ==, START_DONE);
	journal_release(&journal);
}

TEST(what_is_starting_is_left_alone)
{
	begin("Launching", NULL);
	CHECK_INT(judge_in("Launching"), ==, START_WAIT);
	CHECK_INT(judge_in("Resolving"), ==, START_WAIT);
	CHECK_INT(judge_in("Stopping"), ==, START_WAIT); /* a restart */
	request.restore = true;
	CHECK_INT(judge_in("Launching"), ==, START_FAILED);
	CHECK_INT(judge_in("Running"), ==, START_FAILED);
	CHECK_INT(judge_in("Holding"), ==, START_ASK);
	CHECK_INT(judge_in("Finished"), ==, START_ASK);
	journal_release(&journal);
}

TEST(a_restart_needs_a_job_that_runs)
{
	begin("Running", "n1");
	CHECK_INT(judge_in("Running"), ==, START_ASK);
	CHECK_INT(judge_in("Holding"), ==, START_PARKED);
	CHECK_STR(text, "PHASE: the reason");
	CHECK_INT(judge_in("Suspended"), ==, START_PARKED);
	journal.intent.do_not_restart = true;
	CHECK_INT(judge_in("Running"), ==, START_PARKED);
	CHECK_HAS(text, "do-not-restart");
	journal_release(&journal);
}

TEST(it_waits_until_drey_has_taken_the_request)
{
	begin("Suspended", NULL);
	journal.intent.state = DESIRED_SUSPENDED;
	request.asked = true;
	CHECK_INT(judge_in("Suspended"), ==, START_WAIT);
	CHECK_STR(text, "drey to take the request");
	CHECK_INT(judge_in("Failed"), ==, START_WAIT);
	journal_release(&journal);
}

TEST(a_resume_is_done_when_a_launch_of_its_own_runs)
{
	begin("Suspended", NULL);
	launch();
	request.launch_before = 1;
	taken();
	CHECK_INT(judge_in("Resolving"), ==, START_WAIT);
	CHECK_INT(judge_in("Running"), ==, START_WAIT);
	launch();
	CHECK_INT(judge_in("Launching"), ==, START_WAIT);
	CHECK_INT(judge_in("Running"), ==, START_DONE);
	journal_release(&journal);
}

/* What a phase means after the request was taken */
TEST(a_phase_that_leads_nowhere_ends_the_wait)
{
	static const struct {
		const char *phase;
		bool do_not_restart;
		enum start_step want;
	} cases[] = {
		{"Holding", false, START_HELD},    {"Holding", true, START_PARKED},
		{"Suspended", true, START_PARKED}, {"Suspended", false, START_WAIT},
		{"Failed", false, START_FAILED},   {"Finished", false, START_FAILED},
		{"Stopping", false, START_WAIT},   {"Launching", true, START_WAIT},
	};

	begin("Holding", NULL);
	taken();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		journal.intent.do_not_restart = cases[i].do_not_restart;
		CHECK_INT(judge_in(cases[i].phase), ==, cases[i].want);
	}
	journal_release(&journal);
}

TEST(another_request_in_the_meantime_is_told)
{
	begin("Running", NULL);
	taken();
	journal.intent.state = DESIRED_SUSPENDED;
	CHECK_INT(judge_in("Stopping"), ==, START_FAILED);
	CHECK_STR(text, "superseded by another request");
	journal_release(&journal);
}

TEST(a_restart_fails_with_its_stop)
{
	struct operation_result *last = &journal.last_operation;

	begin("Running", "n1");
	launch();
	request.launch_before = 1;
	taken();
	CHECK_INT(judge_in("Stopping"), ==, START_WAIT);
	last->kind = OPERATION_STOP;
	last->nonce = xstrdup("other");
	last->error = xstrdup("no space");
	CHECK_INT(judge_in("Running"), ==, START_WAIT);
	xstrset(&last->nonce, "n1");
	CHECK_INT(judge_in("Running"), ==, START_FAILED);
	CHECK_STR(text, "no space");
	last->ok = true;
	launch();
	CHECK_INT(judge_in("Running"), ==, START_DONE);
	journal_release(&journal);
}

TEST(the_restore_request_is_the_document_of_the_control_inputs)
{
	struct restore_request restore = {.kind = RESTORE_PATH, .token = "t", .path = "s3://b/1"};
	cleanup_free char *path = remote_start_restore(&restore), *empty = NULL, *newest = NULL;

	CHECK_STR(path, "{\"kind\":\"path\",\"token\":\"t\",\"path\":\"s3://b/1\"}");
	restore = (struct restore_request){.kind = RESTORE_EMPTY, .token = "t"};
	empty = remote_start_restore(&restore);
	CHECK_STR(empty, "{\"kind\":\"empty\",\"token\":\"t\"}");
	restore = (struct restore_request){
		.kind = RESTORE_NEWEST, .token = "t", .allow_non_restored = true};
	newest = remote_start_restore(&restore);
	CHECK_STR(newest, "{\"kind\":\"newest\",\"token\":\"t\",\"allowNonRestoredState\":true}");
}
