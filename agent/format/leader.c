#include "format/leader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"

#define DURATION_MAX_S 1e9

/* ---- durations ---- */

static int no_duration(const char *text, struct err *err)
{
	return err_set(err, ERR_FORMAT, 0, "leaseDuration '%.40s' is not a duration", text);
}

/* "15.000000000", in seconds. */
static int parse_seconds(const char *text, int64_t *ret_ms, struct err *err)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0) || seconds > DURATION_MAX_S)
		return no_duration(text, err);
	*ret_ms = (int64_t)(seconds * 1000 + 0.5);
	return 0;
}

static double unit_s(char unit, bool time)
{
	switch (unit) {
	case 'D':
		return time ? -1 : 86400;
	case 'H':
		return time ? 3600 : -1;
	case 'M':
		return time ? 60 : -1;
	case 'S':
		return time ? 1 : -1;
	default:
		return -1;
	}
}

/* As java.time.Duration writes it: "PT15S", "PT1M0.5S". */
static int parse_iso(const char *text, int64_t *ret_ms, struct err *err)
{
	const char *at = text + 1;
	bool time = false, any = false;
	double total = 0;

	if (*text != 'P')
		return no_duration(text, err);
	while (*at) {
		double number, unit;
		char *end;

		if (*at == 'T' && !time) {
			time = true;
			at++;
			continue;
		}
		if (!isdigit((unsigned char)*at))
			return no_duration(text, err);
		number = strtod(at, &end);
		unit = unit_s(*end, time);
		total += number * unit;
		if (unit < 0 || total > DURATION_MAX_S)
			return no_duration(text, err);
		at = end + 1;
		any = true;
	}
	if (!any)
		return no_duration(text, err);
	*ret_ms = (int64_t)(total * 1000 + 0.5);
	return 0;
}

static int read_duration(const struct json *doc, struct leader *leader, struct err *err)
{
	const struct json *node = json_get(doc, "leaseDuration");

	leader->duration_ms = -1;
	switch (json_kind(node)) {
	case JSON_NULL:
		return 0;
	case JSON_NUMBER:
		return parse_seconds(json_number(node), &leader->duration_ms, err);
	case JSON_STRING:
		leader->iso = true;
		return parse_iso(json_text(node), &leader->duration_ms, err);
	default:
		return err_set(err, ERR_FORMAT, 0, "leaseDuration is neither number nor text");
	}
}

/* ---- the record ---- */

static int read_time(const struct json *doc, const char *key, int64_t *ret_unix_ms,
		     const char **ret_text, struct err *err)
{
	const char *text = NULL;

	*ret_unix_ms = -1;
	if (json_opt_str(doc, key, &text, err) < 0)
		return -1;
	if (text && clock_parse_rfc3339(text, ret_unix_ms, err) < 0)
		return err_wrap(err, "%s", key);
	*ret_text = text;
	return 0;
}

static int read_record(const struct json *doc, struct leader *leader, struct err *err)
{
	const char *holder = NULL, *acquired = NULL, *renewed = NULL;

	if (json_kind(doc) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "it is not an object");
	if (json_opt_str(doc, "holderIdentity", &holder, err) < 0 ||
	    json_opt_i64(doc, "leaderTransitions", &leader->transitions, err) < 0 ||
	    read_duration(doc, leader, err) < 0 ||
	    read_time(doc, "acquireTime", &leader->acquire_unix_ms, &acquired, err) < 0 ||
	    read_time(doc, "renewTime", &leader->renew_unix_ms, &renewed, err) < 0)
		return -1;
	leader->holder = xstrdup(holder ? holder : "");
	leader->renew_time = xstrdup(renewed ? renewed : "");
	return 0;
}

int leader_parse(const char *text, size_t len_bytes, struct leader *ret, struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, LEADER_MAX_BYTES, err);
	struct leader leader = {0};

	if (!doc || read_record(doc, &leader, err) < 0)
		return err_wrap(err, "the leader record");
	*ret = leader;
	return 0;
}

void leader_release(struct leader *leader)
{
	if (!leader)
		return;
	free(leader->holder);
	free(leader->renew_time);
	*leader = (struct leader){0};
}

/* ---- sessions ---- */

static int no_session(const char *value, struct err *err)
{
	return err_set(err, ERR_FORMAT, 0, "'%.120s' is not a leader session", value);
}

int leader_session_parse(const char *value, char ret_host[LEADER_HOST_BYTES], int *ret_port,
			 struct err *err)
{
	const char *comma = strchr(value, ','), *host, *user;
	size_t authority, len;
	char *end;
	long port;

	host = comma ? strstr(comma, "://") : NULL;
	if (!host || comma == value)
		return no_session(value, err);
	host += 3;
	authority = strcspn(host, "/?#");
	user = memchr(host, '@', authority);
	if (user) {
		authority -= (size_t)(user + 1 - host);
		host = user + 1;
	}
	len = *host == '[' ? strcspn(++host, "]") : strcspn(host, ":/?#");
	if (!len || len >= LEADER_HOST_BYTES || len >= authority)
		return no_session(value, err);
	end = (char *)(uintptr_t)host + len;
	if (*end == ']')
		end++;
	if (*end != ':' || !isdigit((unsigned char)end[1]))
		return no_session(value, err);
	port = strtol(end + 1, &end, 10);
	if (port < 1 || port > 65535 || (*end && !strchr("/?#", *end)))
		return no_session(value, err);
	memcpy(ret_host, host, len);
	ret_host[len] = '\0';
	*ret_port = (int)port;
	return 0;
}
