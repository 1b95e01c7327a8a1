/* An application over REST (Flink 2.3): has main() failed, and with what? */
#include <string.h>

#include "flink/rest.h"
#include "flink/trace.h"
#include "rest_stub.h"
#include "tap.h"

#define WAIT_MS     20000
#define APPLICATION "0123456789abcdef0123456789abcdef"
#define THREW                                                                                      \
	"{\"exceptionHistory\":{\"entries\":[{\"exceptionName\":\"org.apache.flink.client.deployment.application.ApplicationExecutionException\",\"stacktrace\":\"org.apache.flink.client.deployment.application.ApplicationExecutionException: Could not execute application.\\n\\tat x\\nCaused by: java.lang.IllegalStateException: main() has failed behind its job\\n\\tat y\\n\",\"timestamp\":1795996195923}]}}"

static struct stub stub;
static struct flink_rest rest;

static void say(int status, const char *body)
{
	stub_set(&stub, STUB_NORMAL, status, "application/json", body, strlen(body));
}

/* As Flink 2.3.0 answers, without what is not read. */
TEST(an_application_says_whether_it_has_failed)
{
	static const struct {
		int status;
		const char *body;
		enum flink_answer answer;
		enum flink_application application;
	} rows[] = {
		{200, "{\"status\":\"FAILING\",\"jobs\":[]}", FLINK_OK, FLINK_APPLICATION_FAILING},
		{200, "{\"status\":\"FAILED\"}", FLINK_OK, FLINK_APPLICATION_FAILED},
		{200, "{\"status\":\"CANCELED\"}", FLINK_OK, FLINK_APPLICATION_OTHER},
		{200, "{\"status\":\"A_NEW_WORD\"}", FLINK_OK, FLINK_APPLICATION_OTHER},
		{200, "{\"status\":5}", FLINK_ERROR, FLINK_APPLICATION_OTHER},
		{200, "{}", FLINK_ERROR, FLINK_APPLICATION_OTHER},
		{200, "[]", FLINK_ERROR, FLINK_APPLICATION_OTHER},
		{200, "\xff\xfe{\0", FLINK_ERROR, FLINK_APPLICATION_OTHER},
		{404, "{\"errors\":[\"Not found: /applications/x\"]}", FLINK_ERROR,
		 FLINK_APPLICATION_OTHER},
		{500,
		 "{\"errors\":[\"Internal server error.\",\"<Exception on server side:\\norg.apache.flink.runtime.messages.FlinkApplicationNotFoundException: Could not find Flink application (x)\\n\\tat z\\n\"]}",
		 FLINK_ERROR, FLINK_APPLICATION_OTHER},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		enum flink_application application = FLINK_APPLICATION_OTHER;

		say(rows[i].status, rows[i].body);
		if (!CHECK_INT(
			    flink_rest_application(&rest, APPLICATION, WAIT_MS, &application, NULL),
			    ==, rows[i].answer) ||
		    !CHECK_INT(application, ==, rows[i].application))
			tap_note("%s", rows[i].body);
	}
	CHECK_HAS(stub.path, "/applications/" APPLICATION);
}

TEST(the_exception_of_an_application_is_that_of_main)
{
	struct flink_exception exception = {0};

	say(200, THREW);
	CHECK_INT(flink_rest_application_exception(&rest, APPLICATION, WAIT_MS, &exception, NULL),
		  ==, FLINK_OK);
	CHECK(exception.present);
	CHECK_HAS(exception.sentence, "IllegalStateException: main() has failed behind its job");
	CHECK_HAS(stub.path, "/applications/" APPLICATION "/exceptions");
	flink_exception_release(&exception);
	/* while it is FAILING there is none */
	say(200, "{\"exceptionHistory\":{\"entries\":[]}}");
	CHECK_INT(flink_rest_application_exception(&rest, APPLICATION, WAIT_MS, &exception, NULL),
		  ==, FLINK_OK);
	CHECK(!exception.present);
	say(200, "<html>");
	CHECK_INT(flink_rest_application_exception(&rest, APPLICATION, WAIT_MS, &exception, NULL),
		  ==, FLINK_ERROR);
}

TEST(an_exception_of_an_application_may_be_of_any_size_and_kind)
{
	cleanup_buf struct buf body = BUF_INIT;
	struct flink_exception exception = {0};

	buf_addstr(&body, "{\"exceptionHistory\":{\"entries\":[{\"stacktrace\":\"a.B: no ");
	for (int i = 0; i < 100000; i++)
		buf_addstr(&body, "0123456789");
	buf_addstr(&body, "\",\"timestamp\":1}]}}");
	say(200, buf_str(&body));
	CHECK_INT(flink_rest_application_exception(&rest, APPLICATION, WAIT_MS, &exception, NULL),
		  ==, FLINK_OK);
	CHECK_HAS(exception.sentence, "B: no 0123");
	CHECK_INT(strlen(exception.sentence), <, 2048);
	CHECK_INT(strlen(exception.trace), <=, TRACE_TEXT_MAX_BYTES);
	flink_exception_release(&exception);
	/* half of a character of UTF-16 */
	say(200, "{\"exceptionHistory\":{\"entries\":[{\"stacktrace\":\"a.B: \\ud83d\"}]}}");
	CHECK_INT(flink_rest_application_exception(&rest, APPLICATION, WAIT_MS, &exception, NULL),
		  !=, FLINK_ABSENT);
	flink_exception_release(&exception);
}

int main(int argc, char **argv)
{
	return rest_stub_main(&stub, &rest, argc, argv);
}
