#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle.h"

static const char *pick(const char *const *names, size_t count, int index)
{
	return index >= 0 && (size_t)index < count ? names[index] : "unknown";
}

const char *const sigterm_words[] = {"keep", "savepoint", "upgrade", NULL};
_Static_assert(SIGTERM_KEEP == 0 && SIGTERM_UPGRADE == 2, "order of sigterm_words");

const char *const attempts_words[] = {"forever", "limited", NULL};
_Static_assert(ATTEMPTS_FOR_EVER == 0 && ATTEMPTS_LIMITED == 1, "order of attempts_words");

const char *const upgrade_words[] = {"savepoint", "last-state", "stateless", NULL};
_Static_assert(UPGRADE_BY_SAVEPOINT == 0 && UPGRADE_STATELESS == 2, "order of upgrade_words");

const char *const stop_failure_words[] = {"retry", "keep-running", "last-state", NULL};
_Static_assert(STOP_FAILURE_RETRY == 0 && STOP_FAILURE_LAST_STATE == 2,
	       "order of stop_failure_words");

const char *const job_state_words[] = {"UNKNOWN",  "INITIALIZING", "CREATED",    "RUNNING",
				       "FAILING",  "FAILED",       "CANCELLING", "CANCELED",
				       "FINISHED", "RESTARTING",   "SUSPENDED",  "RECONCILING",
				       NULL};

const char *job_state_name(enum job_state state)
{
	return pick(job_state_words, ARRAY_LEN(job_state_words) - 1, (int)state);
}

enum job_state job_state_parse(const char *name)
{
	for (size_t i = 0; name && job_state_words[i]; i++)
		if (!strcmp(job_state_words[i], name))
			return (enum job_state)i;
	return JOB_UNKNOWN;
}

bool job_state_is_final(enum job_state state)
{
	return state == JOB_FINISHED || state == JOB_CANCELED || state == JOB_FAILED;
}

const char *event_type_name(enum event_type type)
{
	static const char *const names[] = {
		"hello",        "tick",      "observed",      "journal-written", "journal-failed",
		"journal-seen", "started",   "launch-failed", "refused",         "exited",
		"view",         "operation", "disposed",      "inspected",       "control",
		"stopping",     "candidate", "checkpoint",    "rescaled",        "lease",
		"gate",         "gate-keys", "signs"};

	return pick(names, ARRAY_LEN(names), (int)type);
}

const char *effect_type_name(enum effect_type type)
{
	static const char *const names[] = {"observe",
					    "write-journal",
					    "launch",
					    "poll",
					    "trigger",
					    "poll-operation",
					    "inspect",
					    "dispose",
					    "signal",
					    "stop-ack",
					    "exit",
					    "note",
					    "check-journal",
					    "lease",
					    "stand-down",
					    "tell",
					    "trigger-checkpoint",
					    "poll-checkpoint",
					    "rescale",
					    "gate",
					    "signs"};

	return pick(names, ARRAY_LEN(names), (int)type);
}
