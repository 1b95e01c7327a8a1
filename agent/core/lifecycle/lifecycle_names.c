#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle.h"

static const char *pick(const char *const *names, size_t count, int index)
{
	return index >= 0 && (size_t)index < count ? names[index] : "unknown";
}

static const char *const job_states[] = {"UNKNOWN",  "INITIALIZING", "CREATED",    "RUNNING",
					 "FAILING",  "FAILED",       "CANCELLING", "CANCELED",
					 "FINISHED", "RESTARTING",   "SUSPENDED",  "RECONCILING"};

const char *job_state_name(enum job_state state)
{
	return pick(job_states, ARRAY_LEN(job_states), (int)state);
}

enum job_state job_state_parse(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_LEN(job_states); i++)
		if (!strcmp(job_states[i], name))
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
		"hello",          "tick",         "observed", "journal-written",
		"journal-failed", "journal-seen", "started",  "launch-failed",
		"refused",        "exited",       "view",     "operation",
		"disposed",       "inspected",    "control",  "stopping"};

	return pick(names, ARRAY_LEN(names), (int)type);
}

const char *effect_type_name(enum effect_type type)
{
	static const char *const names[] = {"observe",       "write-journal",  "launch",  "poll",
					    "trigger",       "poll-operation", "inspect", "dispose",
					    "signal",        "stop-ack",       "exit",    "note",
					    "check-journal", "lease",          "tell"};

	return pick(names, ARRAY_LEN(names), (int)type);
}
