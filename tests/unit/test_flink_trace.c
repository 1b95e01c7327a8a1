#include "flink/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tap.h"

static const char unwritable[] =
	"java.util.concurrent.CompletionException: "
	"org.apache.flink.runtime.checkpoint.CheckpointException: IO-problem detected.\n"
	"\tat java.base/java.util.concurrent.CompletableFuture.encodeRelay(CompletableFuture.java:368)\n"
	"\tat a.b.C.one(C.java:1)\n"
	"\tat a.b.C.two(C.java:2)\n"
	"\tat a.b.C.three(C.java:3)\n"
	"Caused by: org.apache.flink.runtime.checkpoint.CheckpointException: IO-problem detected.\n"
	"\tat a.b.C.four(C.java:4)\n"
	"Caused by: java.io.IOException: Failed to create savepoint directory at file:/proc/nope\n"
	"\t... 3 more\n";

/* What a stop says that took its savepoint and then failed; the shape of Flink's
 * StopWithSavepointStoppingException. */
static const char saved[] =
	"java.util.concurrent.CompletionException: "
	"org.apache.flink.runtime.scheduler.stopwithsavepoint.StopWithSavepointStoppingException: "
	"A savepoint has been created at: file:/data/sp/savepoint-000000-5a, b c, but the "
	"corresponding job 00000000000000000000000000000a01 failed during stopping. The savepoint "
	"is "
	"consistent, but might have uncommitted transactions. If you want to commit the "
	"transaction "
	"please restart a job from this savepoint.\n\tat x.y.Z(Z.java:1)\n";

TEST(takes_wrappers_off_and_finds_the_deepest_cause)
{
	struct trace trace;
	cleanup_free char *sentence = NULL;

	trace_parse(unwritable, &trace);
	CHECK_STR(trace.class_name, "org.apache.flink.runtime.checkpoint.CheckpointException");
	CHECK_STR(trace.message, "IO-problem detected.");
	CHECK_STR(trace.cause_class, "java.io.IOException");
	CHECK_STR(trace.cause_message, "Failed to create savepoint directory at file:/proc/nope");
	sentence = trace_sentence(&trace);
	CHECK_STR(sentence,
		  "CheckpointException: IO-problem detected. (IOException: Failed to create "
		  "savepoint directory at file:/proc/nope)");
	trace_release(&trace);
}

TEST(a_cause_that_repeats_the_first_is_left_out)
{
	struct trace trace;

	trace_parse("java.util.concurrent.ExecutionException: a.b.X: no\n\tat q\nCaused by: a.b.X: "
		    "no\n",
		    &trace);
	CHECK_STR(trace.class_name, "a.b.X");
	CHECK(trace.cause_class == NULL);
	CHECK(trace.cause_message == NULL);
	trace_release(&trace);
}

TEST(plain_text_is_a_message)
{
	static const char *const texts[] = {"Unable to load requested file /x.",
					    "http://a.b: not a class", "a.b", "", ".a.b: c"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct trace trace;
		cleanup_free char *sentence = NULL;

		trace_parse(texts[i], &trace);
		sentence = trace_sentence(&trace);
		CHECK_STR(sentence, strcmp(texts[i], "a.b") == 0 ? "b" : texts[i]);
		trace_release(&trace);
	}
}

TEST(an_exception_without_a_message_is_its_class)
{
	struct trace trace;
	cleanup_free char *sentence = NULL;

	trace_parse("java.lang.NullPointerException\n\tat a.b.C.d(C.java:1)\n", &trace);
	CHECK_STR(trace.class_name, "java.lang.NullPointerException");
	CHECK(trace.message == NULL);
	sentence = trace_sentence(&trace);
	CHECK_STR(sentence, "NullPointerException");
	trace_release(&trace);
}

TEST(a_wrapper_alone_keeps_its_message)
{
	struct trace trace;
	cleanup_free char *sentence = NULL;

	trace_parse(
		"org.apache.flink.runtime.rest.handler.RestHandlerException: Bad request, no.\n",
		&trace);
	sentence = trace_sentence(&trace);
	CHECK_STR(sentence, "Bad request, no.");
	trace_release(&trace);
}

TEST(long_messages_are_cut_between_characters)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct trace trace;

	buf_addstr(&text, "a.b.C: x");
	for (int i = 0; i < 1000; i++)
		buf_addstr(&text, "\xc3\xa9");
	trace_parse(buf_str(&text), &trace);
	CHECK_INT(strlen(trace.message), <=, TRACE_LINE_MAX_BYTES + 3);
	CHECK_HAS(trace.message, "\xc3\xa9...");
	trace_release(&trace);
}

TEST(shortens_to_the_first_frames_of_each_exception)
{
	cleanup_free char *text = trace_shorten(unwritable);

	CHECK_HAS(text, "encodeRelay");
	CHECK_HAS(text, "C.two");
	CHECK(strstr(text, "C.three") == NULL);
	CHECK_HAS(text, "C.four");
	CHECK_HAS(text, "Caused by: java.io.IOException");
}

TEST(a_huge_trace_stays_small)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_free char *small = NULL;

	for (int i = 0; i < 5000; i++)
		buf_addf(&text, "Caused by: a.b.C%d: %0600d\n\tat x\n", i, i);
	small = trace_shorten(buf_str(&text));
	CHECK_INT(strlen(small), <=, TRACE_TEXT_MAX_BYTES);
	CHECK_INT(strlen(small), >, 1000);
}

TEST(finds_a_class_anywhere_but_in_frames)
{
	CHECK(trace_mentions(unwritable, "CheckpointException"));
	CHECK(trace_mentions(unwritable, "java.io.IOException"));
	CHECK(trace_mentions(unwritable, "CompletionException"));
	CHECK(!trace_mentions(unwritable, "Exception"));
	CHECK(!trace_mentions(unwritable, "CompletableFuture"));
	CHECK(!trace_mentions("a.b.X: no\n\ta.b.Framed: y\n", "Framed"));
	CHECK(!trace_mentions("", "X"));
}

TEST(a_failed_stop_gives_up_the_path_of_its_savepoint)
{
	cleanup_free char *path = trace_saved_path(saved);

	CHECK_STR(path, "file:/data/sp/savepoint-000000-5a, b c");
	CHECK(trace_saved_path(unwritable) == NULL);
	CHECK(trace_saved_path("A savepoint has been created at: , but the corresponding job") ==
	      NULL);
	CHECK(trace_saved_path(
		      "A savepoint has been created at: x\ny, but the corresponding job") == NULL);
	CHECK(trace_saved_path("A savepoint has been created at: x") == NULL);
}

/* The cause of a suppressed exception stands further to the right. */
TEST(a_cause_that_is_shown_is_mentioned)
{
	static const char text[] =
		"a.First: x\n\tSuppressed: a.Second: y\n\tCaused by: a.Third: z\n";
	struct trace trace;

	trace_parse(text, &trace);
	CHECK_STR(trace.cause_class, "a.Third");
	CHECK(trace_mentions(text, "Third") && trace_mentions(text, "a.Third"));
	CHECK(!trace_mentions(text, "Fourth"));
	trace_release(&trace);
}
