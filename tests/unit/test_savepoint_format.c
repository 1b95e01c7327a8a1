#include "core/lifecycle/savepoint_format.h"
#include "life.h"

TEST(the_format_of_each_operation)
{
	static const struct {
		enum operation_kind kind;
		enum operation_reason reason;
		enum snapshot_format by_itself; /* auto */
	} rows[] = {
		{OPERATION_STOP, REASON_RESTART, FORMAT_NATIVE},
		{OPERATION_STOP, REASON_SUSPEND, FORMAT_CANONICAL},
		{OPERATION_STOP, REASON_TERMINATE, FORMAT_CANONICAL},
		{OPERATION_STOP, REASON_UPGRADE, FORMAT_CANONICAL},
		{OPERATION_SAVEPOINT, REASON_PERIODIC, FORMAT_CANONICAL},
		{OPERATION_SAVEPOINT, REASON_MANUAL, FORMAT_CANONICAL},
		{OPERATION_CANCEL, REASON_CANCEL, FORMAT_UNKNOWN},
		{OPERATION_CANCEL, REASON_UPGRADE, FORMAT_UNKNOWN},
		{OPERATION_DISPOSE, REASON_RETENTION, FORMAT_UNKNOWN},
		{OPERATION_NONE, REASON_RESTART, FORMAT_UNKNOWN},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool saves = rows[i].by_itself != FORMAT_UNKNOWN;

		CHECK_INT(savepoint_format(FORMAT_POLICY_AUTO, rows[i].kind, rows[i].reason), ==,
			  rows[i].by_itself);
		CHECK_INT(savepoint_format(FORMAT_POLICY_CANONICAL, rows[i].kind, rows[i].reason),
			  ==, saves ? FORMAT_CANONICAL : FORMAT_UNKNOWN);
		CHECK_INT(savepoint_format(FORMAT_POLICY_NATIVE, rows[i].kind, rows[i].reason), ==,
			  saves ? FORMAT_NATIVE : FORMAT_UNKNOWN);
	}
}

/* An agent that finds the operation of another one repeats it as it was begun. */
LIFE_TEST(the_format_is_on_record_with_the_operation)
{
	struct journal read;
	struct err err = {0};

	run_proven(l);
	ask_restart(l, "r1");
	CHECK_INT(took(l, EFFECT_TRIGGER), ==, 1);
	CHECK_INT(l->life.journal.operation.format, ==, FORMAT_NATIVE);
	CHECK_INT(journal_decode(buf_str(&l->durable_text), l->durable_text.len_bytes, &read, &err),
		  ==, 0);
	CHECK_INT(read.operation.format, ==, FORMAT_NATIVE);
	journal_release(&read);
	operation(l, STATUS_ACCEPTED, NULL, NULL);
	pass(l, 500);
	operation(l, STATUS_COMPLETED, SAVEPOINT_1, NULL);
	/* by Flink's word alone */
	CHECK_INT(journal_snapshot(&l->life.journal, SAVEPOINT_1)->format, ==, FORMAT_NATIVE);
	inspected(l, true, true);
	CHECK_INT(journal_snapshot(&l->life.journal, SAVEPOINT_1)->format, ==, FORMAT_NATIVE);
	viewed(l, job_in(JOB_FINISHED));
	CHECK_INT(l->life.journal.last_operation.format, ==, FORMAT_NATIVE);
}

LIFE_TEST(a_configured_format_holds_for_all)
{
	l->config.format = FORMAT_POLICY_CANONICAL;
	run_proven(l);
	ask_restart(l, "r1");
	CHECK_INT(l->life.journal.operation.format, ==, FORMAT_CANONICAL);
}

/* An operation that drey 0.1.0 has begun has no format. */
TEST(a_journal_without_formats_is_read)
{
	static const char text[] =
		"{\"schema\":1,\"application\":\"a\",\"sequence\":1,\"everProven\":false,"
		"\"intent\":{\"state\":\"running\",\"doNotRestart\":false},\"launches\":[],"
		"\"snapshots\":[{\"path\":\"file:/a\",\"kind\":\"savepoint\",\"origin\":\"stop\"}],"
		"\"operation\":{\"kind\":\"stop\",\"reason\":\"restart\"}}";
	struct journal journal;
	struct err err = {0};

	if (!CHECK(journal_decode(text, strlen(text), &journal, &err) == 0))
		return;
	CHECK_INT(journal.operation.format, ==, FORMAT_UNKNOWN);
	CHECK_INT(journal.snapshots[0].format, ==, FORMAT_UNKNOWN);
	journal_release(&journal);
}
