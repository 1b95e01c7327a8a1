#include "cmd/status_offline.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/saved_journal.h"
#include "core/report/status.h"

static enum phase phase_of(const char *name)
{
	for (int i = 0; i < PHASE_COUNT; i++)
		if (name && !strcmp(name, phase_name((enum phase)i)))
			return (enum phase)i;
	return PHASE_RESOLVING;
}

/* "PHASE: REASON" of its last transition, without the phase. */
static const char *recorded_reason(const struct journal *journal)
{
	size_t len = journal->phase ? strlen(journal->phase) : 0;
	const char *text = NULL;

	for (size_t i = journal->log_count; len && !text && i-- > 0;)
		if (!strncmp(journal->log[i].text, journal->phase, len) &&
		    !strncmp(journal->log[i].text + len, ": ", 2))
			text = journal->log[i].text + len + 2;
	return text ? text : "";
}

struct json *status_of_journal(struct journal *journal, const char *reason)
{
	struct lifecycle_config config = {0};
	struct rng rng = {0};
	struct lifecycle life;
	struct json *document;

	lifecycle_init(&life, &config, journal, &rng);
	life.phase = phase_of(life.journal.phase);
	snprintf(life.reason, sizeof(life.reason), "%s",
		 reason ? reason : recorded_reason(&life.journal));
	document = status_document(&life, NULL, clock_unix_ms());
	json_add_null(document, "control");
	json_add_bool(document, "offline", true);
	lifecycle_release(&life);
	return document;
}

int status_offline(const struct config *config, struct json **ret_document, struct err *err)
{
	cleanup_free char *place = NULL, *reason = NULL;
	struct journal journal;

	if (saved_journal_read(config, &journal, &place, err) < 0)
		return -1;
	reason = xasprintf("no drey responds here; this is the content of %s, written by %s", place,
			   journal.writer ? journal.writer : "an unknown drey");
	*ret_document = status_of_journal(&journal, reason);
	return 0;
}
