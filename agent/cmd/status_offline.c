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

/* Takes over what the journal owns. */
static struct json *describe_journal(struct journal *journal, const char *place)
{
	struct lifecycle_config config = {0};
	struct rng rng = {0};
	struct lifecycle life;
	struct json *document;

	lifecycle_init(&life, &config, journal, &rng);
	life.phase = phase_of(life.journal.phase);
	snprintf(life.reason, sizeof(life.reason),
		 "no drey responds here; this is the content of %s, written by %s", place,
		 life.journal.writer ? life.journal.writer : "an unknown drey");
	document = status_document(&life, NULL, clock_unix_ms());
	json_add_null(document, "control");
	json_add_bool(document, "offline", true);
	lifecycle_release(&life);
	return document;
}

int status_offline(const struct config *config, struct json **ret_document, struct err *err)
{
	cleanup_free char *place = NULL;
	struct journal journal;

	if (saved_journal_read(config, &journal, &place, err) < 0)
		return -1;
	*ret_document = describe_journal(&journal, place);
	return 0;
}
