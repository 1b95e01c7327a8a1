/*
 * Any bytes as candidate.json: refused, or read - and what was read can be written and read again,
 * and says the same.
 */
#include <string.h>

#include "core/handover/candidate.h"
#include "must.h"

static void round_trip(const struct candidate_record *record)
{
	cleanup_buf struct buf first = BUF_INIT;
	cleanup_buf struct buf second = BUF_INIT;
	struct candidate_record again;

	/* longer than it was read: a character that is written as an escape */
	if (candidate_encode(record, &first, NULL) < 0)
		return;
	must(candidate_decode(first.data, first.len_bytes, record->application, &again, NULL) == 0);
	must(candidate_encode(&again, &second, NULL) == 0);
	must(first.len_bytes == second.len_bytes &&
	     !memcmp(first.data, second.data, first.len_bytes));
	candidate_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct candidate_record record;

	if (candidate_decode((const char *)data, size_bytes, "orders", &record, NULL) == 0) {
		must(record.application && record.uid && record.pod && record.template);
		must(record.beat >= 0 && record.ask >= 0 && record.answer >= 0);
		must(record.side < SIDES && record.state < CANDIDATE_STATES);
		round_trip(&record);
		candidate_release(&record);
	}
	return 0;
}
