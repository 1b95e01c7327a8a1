/*
 * Any bytes as a journal: refused, or read - and what was read can be written and read again, and
 * says the same.
 */
#include <stdlib.h>
#include <string.h>

#include "core/journal/journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void round_trip(struct journal *journal)
{
	cleanup_buf struct buf first = BUF_INIT;
	cleanup_buf struct buf second = BUF_INIT;
	struct journal again;

	/* larger than the limit although shortened: a single huge member, refused on writing */
	if (journal_encode(journal, &first, NULL))
		return;
	if (journal_decode(first.data, first.len_bytes, &again, NULL))
		abort();
	if (journal_encode(&again, &second, NULL))
		abort();
	if (first.len_bytes != second.len_bytes || memcmp(first.data, second.data, first.len_bytes))
		abort();
	journal_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct journal journal;

	if (!journal_decode((const char *)data, size_bytes, &journal, NULL)) {
		round_trip(&journal);
		journal_release(&journal);
	}
	return 0;
}
