#include "core/report/status_lineage.h"

#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "core/report/transitions.h"

struct line {
	const struct json *launch;
	int64_t number, from, start_ms, end_ms;
	int64_t restore_ms; /* completion of what it was started from; 0 = empty, or not known */
	int64_t newest_ms;  /* of its own snapshots */
	int64_t restore_id, newest_id; /* their checkpoint ids; 0 = not known */
	bool empty, alive, stopped;
};

struct lines {
	struct line list[LINEAGE_LAUNCHES]; /* newest first */
	size_t count;
};

/* ---- the launches ---- */

static int64_t completed_ms(const struct json *snapshot)
{
	const char *text = json_str(snapshot, "completedAt");
	int64_t unix_ms = 0;

	return text && clock_parse_rfc3339(text, &unix_ms, NULL) == 0 ? unix_ms : 0;
}

static void see_snapshots(const struct json *doc, struct line *line)
{
	const struct json *each;

	json_each (each, json_get(doc, "snapshots")) {
		const char *origin = json_str(each, "origin");
		int64_t unix_ms = completed_ms(each), id = json_i64_or(each, "checkpointId", 0);

		if (json_i64_or(each, "launch", 0) != line->number)
			continue;
		line->newest_ms = unix_ms > line->newest_ms ? unix_ms : line->newest_ms;
		line->newest_id = id > line->newest_id ? id : line->newest_id;
		line->stopped = line->stopped || (origin && !strcmp(origin, "stop"));
	}
}

/* next: the launch after it; NULL: it is the last one. */
static struct line line_of(const struct json *doc, const struct json *launch,
			   const struct line *next, int64_t now_ms)
{
	const struct json *restore = json_get(launch, "restorePoint");
	const struct json *last = json_get(launch, "lastCheckpoint");
	struct line line = {
		.launch = launch,
		.number = json_i64_or(launch, "number", 0),
		.from = json_i64_or(launch, "restoredFromLaunch", 0),
		.start_ms = json_i64_or(launch, "startedUnixMs", 0),
		.end_ms = json_i64_or(launch, "endedUnixMs", 0),
		.restore_ms = json_i64_or(restore, "completedUnixMs", 0),
		.restore_id = json_i64_or(restore, "checkpointId", 0),
		.newest_ms = json_i64_or(last, "completedUnixMs", 0),
		.newest_id = json_i64_or(last, "id", 0),
		.empty = json_kind(restore) != JSON_OBJECT,
	};

	if (!line.start_ms)
		line.start_ms = json_i64_or(launch, "intendedUnixMs", 0);
	line.alive = !line.end_ms && !next;
	if (!line.end_ms) /* an end that nobody has seen was before the next launch */
		line.end_ms = next ? next->start_ms : now_ms;
	if (line.end_ms < line.start_ms)
		line.end_ms = line.start_ms;
	see_snapshots(doc, &line);
	return line;
}

/* Was there newer state than what this one was started from? By the ids, which both have from one job: one savepoint has several
 * dates, such as that of its file and that of drey's record. */
static bool went_back(const struct line *line, const struct line *later)
{
	if (later->restore_id > 0 && line->newest_id > 0)
		return later->restore_id < line->newest_id;
	return later->restore_ms < line->newest_ms;
}

/* When what it did became worth nothing: a later launch went back behind its newest state, or it had restored something else itself.
 * 0: it did not. */
static int64_t abandoned_ms(const struct lines *lines, const struct line *line)
{
	int64_t cut_ms = 0;

	for (size_t i = 0; i < lines->count && !cut_ms; i++) {
		const struct line *later = &lines->list[i];

		if (later->from == line->number && later->number > line->number &&
		    later->restore_ms && went_back(line, later))
			cut_ms = later->restore_ms;
	}
	if (json_bool_or(line->launch, "mismatched", false))
		cut_ms = line->start_ms;
	return cut_ms >= line->start_ms && cut_ms < line->end_ms ? cut_ms : 0;
}

/* NULL: it has not. */
static const char *ended_how(const struct line *line)
{
	const char *end = json_str(line->launch, "end");

	if (line->alive)
		return NULL;
	if (line->stopped)
		return "stopped";
	return end && !strcmp(end, "exited with 0") ? "exited" : "failed";
}

/* before: the launch before it; NULL: none that is drawn. */
static bool in_another_pod(const struct line *line, const struct line *before)
{
	const char *pod = json_str(line->launch, "pod");
	const char *other = before ? json_str(before->launch, "pod") : NULL;

	return pod && other && strcmp(pod, other) != 0;
}

static void show_launch(struct json *list, const struct lines *lines, size_t i)
{
	const struct line *line = &lines->list[i];
	struct json *to = json_add_object(list, NULL);

	json_add_i64(to, "launch", line->number);
	json_add_i64(to, "fromUnixMs", line->start_ms);
	json_add_i64(to, "untilUnixMs", line->end_ms);
	json_add_bool(to, "empty", line->empty);
	json_add_known(to, "restoredFromLaunch", line->from, 1);
	json_add_known(to, "restoredUnixMs", line->restore_ms, 1);
	json_add_known(to, "abandonedUnixMs", abandoned_ms(lines, line), 1);
	json_add_bool(to, "otherPod", in_another_pod(line, i + 1 < lines->count ? line + 1 : NULL));
	json_add_str(to, "ended", ended_how(line));
}

/* ---- the pauses ---- */

enum pause {
	PAUSE_NONE,
	PAUSE_HELD,
	PAUSE_PARKED,
};

static enum pause pause_of(enum phase phase)
{
	if (phase == PHASE_HOLDING || phase == PHASE_FAILED)
		return PAUSE_HELD;
	return phase == PHASE_SUSPENDED || phase == PHASE_CANCELLED || phase == PHASE_FINISHED
		       ? PAUSE_PARKED
		       : PAUSE_NONE;
}

static void add_pause(struct json *list, enum pause pause, int64_t from_ms, int64_t until_ms)
{
	struct json *to;

	if (pause == PAUSE_NONE || from_ms <= 0 || until_ms <= from_ms ||
	    json_len(list) >= LINEAGE_PAUSES)
		return;
	to = json_add_object(list, NULL);
	json_add_bool(to, "parked", pause == PAUSE_PARKED);
	json_add_i64(to, "fromUnixMs", from_ms);
	json_add_i64(to, "untilUnixMs", until_ms);
}

static void add_pauses(struct json *list, const struct json *transitions, int64_t now_ms)
{
	enum pause now = PAUSE_NONE;
	const struct json *each;
	int64_t since_ms = 0;

	json_each (each, transitions) {
		int64_t unix_ms = json_i64_or(each, "unixMs", 0);
		enum phase phase;

		if (!transition_phase(each, &phase) || pause_of(phase) == now)
			continue;
		add_pause(list, now, since_ms, unix_ms);
		now = pause_of(phase);
		since_ms = unix_ms;
	}
	add_pause(list, now, since_ms, now_ms);
}

void status_add_lineage(struct json *doc, int64_t now_unix_ms)
{
	const struct json *launches = json_get(doc, "launches");
	struct json *to = json_add_object(doc, "lineage");
	struct json *list = json_add_array(to, "launches");
	struct lines lines = {.count = 0};

	for (size_t i = json_len(launches); i-- > 0 && lines.count < LINEAGE_LAUNCHES;) {
		const struct line *next = lines.count ? &lines.list[lines.count - 1] : NULL;

		lines.list[lines.count] = line_of(doc, json_at(launches, i), next, now_unix_ms);
		lines.count++;
	}
	for (size_t i = 0; i < lines.count; i++)
		show_launch(list, &lines, i);
	add_pauses(json_add_array(to, "pauses"), json_get(doc, "transitions"), now_unix_ms);
}
