#include "cmd/inspect_copy.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/json.h"
#include "cmd/text.h"

struct json *inspect_copy_document(const struct journal_copy *copy)
{
	const struct journal_copy_head *head = &copy->head;
	struct json *doc = json_object();

	json_add_str(doc, "kind", "journal-copy");
	json_add_str(doc, "application", head->application);
	json_add_str(doc, "namespace", head->name_space);
	json_add_str(doc, "place", head->place);
	json_add_str(doc, "dreyVersion", head->drey_version);
	json_add_i64(doc, "writtenUnixMs", head->written_unix_ms);
	json_add_i64(doc, "sequence", copy->journal.sequence);
	json_add(doc, "journal", json_copy(copy->journal.origin));
	return doc;
}

static void print_row(struct out out, const char *name, const char *value)
{
	if (!value)
		return;
	out_put(out, "%-15s%s\n", name, value);
}

void inspect_copy_print(const struct journal_copy *copy, struct out out)
{
	const struct journal_copy_head *head = &copy->head;
	const struct journal *journal = &copy->journal;
	const struct launch *launch = journal_launch_const(journal);
	char time[CLOCK_TEXT_BYTES];

	out_put(out, "copy of a journal\n");
	print_row(out, "application", head->application);
	print_row(out, "namespace", head->name_space);
	print_row(out, "journal", head->place);
	print_row(out, "written", clock_rfc3339(head->written_unix_ms, time));
	print_row(out, "by drey", head->drey_version);
	out_put(out, "%-15s%" PRId64 "\n", "sequence", journal->sequence);
	print_row(out, "desired state", desired_state_name(journal->intent.state));
	print_row(out, "do-not-restart", journal->intent.do_not_restart ? "on" : NULL);
	if (journal->outcome.kind != OUTCOME_NONE)
		print_row(out, "outcome", outcome_kind_name(journal->outcome.kind));
	if (launch)
		out_put(out, "%-15s%" PRId64 ", job id %s\n", "last launch", launch->number,
			launch->job_id);
	print_row(out, "newest state", journal_copy_newest(copy));
}
