#include "core/report/transitions.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"

bool transition_phase(const struct json *transition, enum phase *ret)
{
	const char *text = json_str(transition, "text");
	size_t length = text ? strcspn(text, ":") : 0;

	for (int i = 0; length && text[length] && i < PHASE_COUNT; i++) {
		const char *name = phase_name((enum phase)i);

		if (strlen(name) == length && !strncmp(name, text, length)) {
			*ret = (enum phase)i;
			return true;
		}
	}
	return false;
}

int64_t transitions_since(const struct json *transitions, const char *phase)
{
	int64_t since_unix_ms = 0;

	for (size_t i = json_len(transitions); i-- > 0;) {
		const struct json *each = json_at(transitions, i);
		enum phase then;

		if (!transition_phase(each, &then))
			continue;
		if (strcmp(phase_name(then), phase) != 0)
			break;
		since_unix_ms = json_i64_or(each, "unixMs", 0);
	}
	return since_unix_ms;
}

const struct json *transitions_unready(const struct json *doc)
{
	const char *phase = json_str(doc, "phase");
	const struct json *each;

	if (!phase || strcmp(phase, phase_name(PHASE_RUNNING)) != 0)
		return NULL;
	json_each (each, json_get(doc, "conditions")) {
		const char *type = json_str(each, "type"), *status = json_str(each, "status");

		if (type && status && !strcmp(type, "Ready"))
			return strcmp(status, "True") != 0 ? each : NULL;
	}
	return NULL;
}

void status_add_since(struct json *doc, int64_t now_unix_ms)
{
	const char *phase = json_str(doc, "phase");
	const char *unready = json_str(transitions_unready(doc), "lastTransitionTime");
	int64_t since = transitions_since(json_get(doc, "transitions"), phase ? phase : "");
	int64_t unready_since = 0;

	/* what the cause names is often much younger than the phase */
	if (unready && clock_parse_rfc3339(unready, &unready_since, NULL) == 0 &&
	    unready_since > since)
		since = unready_since;
	json_add_i64(doc, "nowUnixMs", now_unix_ms);
	json_add_known(doc, "sinceUnixMs", since, 1);
}
