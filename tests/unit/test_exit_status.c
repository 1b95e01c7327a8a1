#include "flink/exit_status.h"

#include <signal.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define EXITED(status) ((status) << 8)

/* One row for every status that Flink 1.20 and 2.3 were seen to end with. */
TEST(every_documented_status_has_its_meaning)
{
	static const struct {
		int status;
		enum flink_exit_kind kind;
		const char *says;
	} rows[] = {
		{0, FLINK_EXIT_ENDED, "finished, was stopped or was cancelled"},
		{163, FLINK_EXIT_FAILED, "the application failed"},
		{165, FLINK_EXIT_UNKNOWN, "without knowing"},
		{1, FLINK_EXIT_STARTUP, "did not start"},
		{2, FLINK_EXIT_FATAL, "fatal error"},
		{239, FLINK_EXIT_SAFEGUARD, "halted itself"},
		{143, FLINK_EXIT_TERMINATED, "SIGTERM"},
		{130, FLINK_EXIT_TERMINATED, "SIGINT"},
		{129, FLINK_EXIT_TERMINATED, "SIGHUP"},
		{137, FLINK_EXIT_KILLED, "SIGKILL"},
		{3, FLINK_EXIT_OOM, "out of memory"},
		{134, FLINK_EXIT_CRASHED, "aborted"},
		{126, FLINK_EXIT_NOT_RUN, "cannot be executed"},
		{127, FLINK_EXIT_NOT_RUN, "not found"},
		{42, FLINK_EXIT_OTHER, "42"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct flink_exit exit = flink_exit_explain(EXITED(rows[i].status), false);

		CHECK_INT(exit.kind, ==, rows[i].kind);
		CHECK_INT(exit.status, ==, rows[i].status);
		CHECK_INT(exit.signo, ==, 0);
		CHECK_HAS(exit.sentence, rows[i].says);
	}
}

TEST(no_sentence_is_cut)
{
	for (int status = 0; status < 256; status++) {
		struct flink_exit exit = flink_exit_explain(EXITED(status), true);

		CHECK_INT(strlen(exit.sentence), <, sizeof(exit.sentence) - 1);
		CHECK_INT(strlen(exit.sentence), >, 15);
	}
}

TEST(signals_are_told_from_statuses)
{
	struct flink_exit exit = flink_exit_explain(SIGSEGV, false);

	CHECK_INT(exit.kind, ==, FLINK_EXIT_CRASHED);
	CHECK_INT(exit.signo, ==, SIGSEGV);
	CHECK_INT(exit.status, ==, 139);
	CHECK_HAS(exit.sentence, "SIGSEGV");
	exit = flink_exit_explain(SIGTERM, false);
	CHECK_INT(exit.kind, ==, FLINK_EXIT_TERMINATED);
	CHECK_INT(exit.status, ==, 143);
	exit = flink_exit_explain(SIGRTMIN + 1, false);
	CHECK_INT(exit.kind, ==, FLINK_EXIT_CRASHED);
	CHECK_HAS(exit.sentence, "signal");
}

TEST(a_kill_for_memory_is_told_from_a_kill)
{
	CHECK_INT(flink_exit_explain(SIGKILL, false).kind, ==, FLINK_EXIT_KILLED);
	CHECK_INT(flink_exit_explain(SIGKILL, true).kind, ==, FLINK_EXIT_OOM);
	CHECK_INT(flink_exit_explain(EXITED(137), true).kind, ==, FLINK_EXIT_OOM);
	CHECK_HAS(flink_exit_explain(SIGKILL, true).sentence, "memory limit");
	/* something else in the container was killed: it says nothing about this status */
	CHECK_INT(flink_exit_explain(EXITED(0), true).kind, ==, FLINK_EXIT_ENDED);
	CHECK_INT(flink_exit_explain(EXITED(163), true).kind, ==, FLINK_EXIT_FAILED);
}

TEST(every_kind_has_a_name)
{
	for (int kind = FLINK_EXIT_ENDED; kind <= FLINK_EXIT_OTHER; kind++)
		CHECK(flink_exit_kind_name((enum flink_exit_kind)kind)[0] != '\0');
	CHECK_STR(flink_exit_kind_name(FLINK_EXIT_OOM), "oom");
	CHECK_STR(flink_exit_kind_name((enum flink_exit_kind)99), "other");
}
