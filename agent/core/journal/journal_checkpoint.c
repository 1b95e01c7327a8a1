/*
 * Who waits for a checkpoint. One is taken at a time; later requests share the next one, because
 * what they wait for may have happened after the current one began. One for a full checkpoint is not
 * answered by one that may be incremental, and the other way round it would cost what nobody wants.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "core/journal/journal.h"
#include "core/journal/journal_fields.h"

static bool checkpoint_waits(const struct checkpoint_request *request)
{
	return !request->answered && !*request->trigger_id;
}

void journal_drop_checkpoint_request(struct journal *journal)
{
	size_t index = 0;

	while (index < journal->checkpoint_request_count &&
	       !journal->checkpoint_requests[index].answered)
		index++;
	record_list_remove(&checkpoint_request_table, journal->checkpoint_requests,
			   &journal->checkpoint_request_count,
			   index < journal->checkpoint_request_count ? index : 0, 1);
}

const struct checkpoint_request *journal_checkpoint_request(const struct journal *journal,
							    const char *nonce)
{
	for (size_t i = 0; i < journal->checkpoint_request_count; i++)
		if (xstris(journal->checkpoint_requests[i].nonce, nonce))
			return &journal->checkpoint_requests[i];
	return NULL;
}

void journal_ask_checkpoint(struct journal *journal, const char *nonce, bool full)
{
	if (journal_checkpoint_request(journal, nonce))
		return;
	if (journal->checkpoint_request_count >= JOURNAL_MAX_REQUESTS)
		journal_drop_checkpoint_request(journal);
	journal->checkpoint_requests =
		xreallocarray(journal->checkpoint_requests, journal->checkpoint_request_count + 1,
			      sizeof(*journal->checkpoint_requests));
	journal->checkpoint_requests[journal->checkpoint_request_count++] =
		(struct checkpoint_request){.nonce = xstrdup(nonce), .full = full};
}

const struct checkpoint_request *journal_checkpoint_wanted(const struct journal *journal)
{
	for (size_t i = 0; i < journal->checkpoint_request_count; i++)
		if (checkpoint_waits(&journal->checkpoint_requests[i]))
			return &journal->checkpoint_requests[i];
	return NULL;
}

void journal_join_checkpoint(struct journal *journal, const struct checkpoint_operation *checkpoint)
{
	for (size_t i = 0; i < journal->checkpoint_request_count; i++) {
		struct checkpoint_request *request = &journal->checkpoint_requests[i];

		if (checkpoint_waits(request) && request->full == checkpoint->full)
			snprintf(request->trigger_id, JOB_ID_BYTES, "%s", checkpoint->trigger_id);
	}
}

void journal_answer_checkpoint(struct journal *journal, const char *trigger_id,
			       const struct checkpoint_result *result)
{
	for (size_t i = 0; i < journal->checkpoint_request_count; i++) {
		struct checkpoint_request *request = &journal->checkpoint_requests[i];

		if (request->answered || strcmp(request->trigger_id, trigger_id) != 0)
			continue;
		request->answered = true;
		request->ok = result->ok;
		request->checkpoint_id = result->checkpoint_id;
		xstrset(&request->location, result->location);
		xstrset(&request->error, result->error);
	}
}
