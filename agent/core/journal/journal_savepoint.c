/*
 * What is requested and not done yet, and who waits for a savepoint. One is taken at a time, and
 * later requests share the next one: what they wait for may have happened after the current one
 * began.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/journal/journal.h"
#include "core/journal/journal_fields.h"

static bool is_new(const char *nonce, const char *done)
{
	return nonce && *nonce && (!done || strcmp(nonce, done) != 0);
}

bool journal_restart_wanted(const struct journal *journal)
{
	return is_new(journal->intent.restart_nonce, journal->restart_nonce_done) &&
	       !journal->intent.do_not_restart;
}

bool journal_savepoint_nonce_is_new(const struct journal *journal)
{
	return is_new(journal->intent.savepoint_nonce, journal->savepoint_nonce_done);
}

bool journal_savepoint_wanted(const struct journal *journal)
{
	return journal_savepoint_waits(journal) || journal_savepoint_nonce_is_new(journal);
}

static struct savepoint_request *find_request(const struct journal *journal, const char *nonce)
{
	for (size_t i = 0; i < journal->savepoint_request_count; i++)
		if (!strcmp(journal->savepoint_requests[i].nonce, nonce))
			return &journal->savepoint_requests[i];
	return NULL;
}

static void drop(struct journal *journal, size_t index)
{
	record_list_remove(&savepoint_request_table, journal->savepoint_requests,
			   &journal->savepoint_request_count, index, 1);
}

void journal_drop_savepoint_request(struct journal *journal)
{
	size_t index = 0;

	while (index < journal->savepoint_request_count &&
	       !journal->savepoint_requests[index].answered)
		index++;
	drop(journal, index < journal->savepoint_request_count ? index : 0);
}

struct savepoint_request *journal_add_savepoint_request(struct journal *journal, const char *nonce)
{
	struct savepoint_request *added;

	if (journal->savepoint_request_count >= JOURNAL_MAX_REQUESTS)
		journal_drop_savepoint_request(journal);
	journal->savepoint_requests =
		xreallocarray(journal->savepoint_requests, journal->savepoint_request_count + 1,
			      sizeof(*journal->savepoint_requests));
	added = &journal->savepoint_requests[journal->savepoint_request_count++];
	*added = (struct savepoint_request){.nonce = xstrdup(nonce)};
	return added;
}

void journal_ask_savepoint(struct journal *journal, const char *nonce)
{
	const struct savepoint_request *asked = find_request(journal, nonce);

	xstrset(&journal->intent.savepoint_nonce, nonce);
	if (asked && !asked->answered)
		return;
	if (!journal_savepoint_nonce_is_new(journal))
		return; /* it repeats the last answered request */
	if (asked)
		drop(journal, (size_t)(asked - journal->savepoint_requests));
	journal_add_savepoint_request(journal, nonce);
}

bool journal_savepoint_waits(const struct journal *journal)
{
	for (size_t i = 0; i < journal->savepoint_request_count; i++)
		if (!journal->savepoint_requests[i].answered &&
		    !*journal->savepoint_requests[i].trigger_id)
			return true;
	return false;
}

void journal_join_savepoint(struct journal *journal, const char *trigger_id)
{
	for (size_t i = 0; i < journal->savepoint_request_count; i++) {
		struct savepoint_request *request = &journal->savepoint_requests[i];

		if (!request->answered && !*request->trigger_id)
			snprintf(request->trigger_id, JOB_ID_BYTES, "%s", trigger_id);
	}
}

bool journal_retry_savepoint(struct journal *journal, const char *trigger_id, int64_t retries,
			     bool *ret_given_up)
{
	bool retried = false, given_up = false;

	for (size_t i = 0; i < journal->savepoint_request_count; i++) {
		struct savepoint_request *request = &journal->savepoint_requests[i];

		if (request->answered || strcmp(request->trigger_id, trigger_id) != 0)
			continue;
		if (++request->failures > retries) {
			given_up = true;
		} else {
			retried = true;
			request->trigger_id[0] = 0;
		}
	}
	*ret_given_up = given_up || !retried;
	return retried;
}

void journal_answer_savepoint(struct journal *journal, const struct operation_result *result)
{
	for (size_t i = 0; i < journal->savepoint_request_count; i++) {
		struct savepoint_request *request = &journal->savepoint_requests[i];

		if (request->answered || strcmp(request->trigger_id, result->trigger_id) != 0)
			continue;
		request->answered = true;
		request->ok = result->ok;
		xstrset(&request->location, result->location);
		xstrset(&request->error, result->error);
	}
}

const struct savepoint_request *journal_savepoint_request(const struct journal *journal,
							  const char *nonce)
{
	return nonce ? find_request(journal, nonce) : NULL;
}
