#include "format/job_result.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/words.h"

#define ID_DIGITS 32

static int take_id(const char *text, char *ret_id, struct err *err)
{
	if (strlen(text) != ID_DIGITS || strspn(text, "0123456789abcdef") != ID_DIGITS)
		return err_set(err, ERR_FORMAT, 0, "not a job id: %.60s", text);
	memcpy(ret_id, text, ID_DIGITS + 1);
	return 0;
}

/* ---- the job result store ---- */

static int check_version(const struct json *doc, struct err *err)
{
	int64_t version;

	if (json_need_i64(doc, "version", &version, err) < 0)
		return -1;
	if (version > JOB_RESULT_VERSION)
		return err_set(err, ERR_CONFIG, 0, "version %" PRId64 " is newer than %d", version,
			       JOB_RESULT_VERSION);
	if (version < 1)
		return err_set(err, ERR_FORMAT, 0, "'version' is %" PRId64, version);
	return 0;
}

static int take_status(const char *word, enum job_result_status *ret_status, struct err *err)
{
	for (int i = JOB_RESULT_UNKNOWN; i <= JOB_RESULT_CANCELED; i++)
		if (!strcmp(job_result_status_name((enum job_result_status)i), word)) {
			*ret_status = (enum job_result_status)i;
			return 0;
		}
	return err_set(err, ERR_FORMAT, 0, "'application-status' is %.60s", word);
}

int job_result_parse(const char *text, size_t len_bytes, struct job_result *ret_result,
		     struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, JOB_RESULT_MAX_BYTES, err);
	const struct json *result;
	struct job_result found = {.status = JOB_RESULT_UNKNOWN};
	const char *id, *status;

	if (!doc || check_version(doc, err) < 0 ||
	    json_need_object(doc, "result", &result, err) < 0 ||
	    json_need_str(result, "id", &id, err) < 0 || take_id(id, found.job_id, err) < 0 ||
	    json_need_str(result, "application-status", &status, err) < 0 ||
	    take_status(status, &found.status, err) < 0)
		return -1;
	*ret_result = found;
	return 0;
}

/* ---- the archive ---- */

struct scan {
	const char *at, *end;
};

static bool skip(struct scan *scan, const char *word)
{
	size_t len = strlen(word);

	if ((size_t)(scan->end - scan->at) < len || memcmp(scan->at, word, len) != 0)
		return false;
	scan->at += len;
	return true;
}

/* A JSON string with its quotes; false: it does not end. */
static bool skip_string(struct scan *scan, struct scan *ret_text)
{
	const char *at = scan->at;

	if (at == scan->end || *at != '"')
		return false;
	for (at++; at < scan->end && *at != '"'; at++)
		if (*at == '\\' && ++at == scan->end)
			return false;
	if (at == scan->end)
		return false;
	*ret_text = (struct scan){scan->at, at + 1};
	scan->at = at + 1;
	return true;
}

static struct json *parse_text(const struct scan *text, struct err *err)
{
	return json_parse(text->at, (size_t)(text->end - text->at), JOB_ARCHIVE_HEAD_BYTES, err);
}

/* The document inside the string. NULL: there is none. */
static struct json *parse_inner(const struct scan *text, struct err *err)
{
	cleanup_json struct json *string = parse_text(text, err);
	const char *inner = json_text(string);

	return inner ? json_parse(inner, strlen(inner), JOB_ARCHIVE_HEAD_BYTES, err) : NULL;
}

static int take_overview(const struct json *doc, struct job_result *result, struct err *err)
{
	static const struct {
		const char *state;
		enum job_result_status status;
	} states[] = {{"FINISHED", JOB_RESULT_SUCCEEDED},
		      {"FAILED", JOB_RESULT_FAILED},
		      {"CANCELED", JOB_RESULT_CANCELED}};
	const struct json *jobs = json_get(doc, "jobs"), *job = json_at(jobs, 0);
	const char *id, *state;

	if (json_len(jobs) != 1)
		return err_set(err, ERR_FORMAT, 0, "'jobs' has %zu jobs, expected one",
			       json_len(jobs));
	if (json_need_str(job, "jid", &id, err) < 0 || take_id(id, result->job_id, err) < 0 ||
	    json_need_str(job, "state", &state, err) < 0)
		return -1;
	result->status = JOB_RESULT_UNKNOWN;
	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (!strcmp(states[i].state, state))
			result->status = states[i].status;
	return 0;
}

/* The last savepoint is a stop's, and no checkpoint followed. */
static char *take_stop(const struct json *doc)
{
	const struct json *savepoint = json_get(json_get(doc, "latest"), "savepoint");
	const struct json *completed = json_get(json_get(doc, "latest"), "completed");
	const char *type = json_str(savepoint, "checkpoint_type");

	if (!type || strcmp(type, "SYNC_SAVEPOINT") != 0 ||
	    json_i64_or(savepoint, "id", 0) <= json_i64_or(completed, "id", -1))
		return NULL;
	return xstrdup(json_str(savepoint, "external_path"));
}

/* One answer of the REST API, of the path `name`. */
typedef int (*answer_fn)(void *ctx, const char *name, const struct scan *answer, struct err *err);

/* Until the end of the head, or of an incomplete file. */
static int each_answer(const char *text, size_t len_bytes, answer_fn fn, void *ctx, struct err *err)
{
	struct scan scan = {text, text + len_bytes}, path, answer;

	if (len_bytes > JOB_ARCHIVE_HEAD_BYTES)
		return err_set(err, ERR_FORMAT, 0, "%zu bytes are too many", len_bytes);
	if (!skip(&scan, "{\"archive\":["))
		return err_set(err, ERR_FORMAT, 0, "not an archive of Flink");
	do {
		cleanup_json struct json *name = NULL;

		if (!skip(&scan, "{\"path\":") || !skip_string(&scan, &path) ||
		    !skip(&scan, ",\"json\":") || !skip_string(&scan, &answer) || !skip(&scan, "}"))
			break;
		name = parse_text(&path, err);
		if (!json_text(name))
			return -1;
		if (fn(ctx, json_text(name), &answer, err) < 0)
			return err_wrap(err, "%s", json_text(name));
	} while (skip(&scan, ","));
	return 0;
}

/* Unreadable parts that do not matter are skipped. */
static int take_answer(void *ctx, const char *name, const struct scan *answer, struct err *err)
{
	struct job_result *result = ctx;
	cleanup_json struct json *doc = NULL;
	cleanup_free char *checkpoints = NULL;

	if (!strcmp(name, "/jobs/overview")) {
		doc = parse_inner(answer, err);
		return doc ? take_overview(doc, result, err) : -1;
	}
	if (!*result->job_id || result->stop)
		return 0;
	checkpoints = xasprintf("/jobs/%s/checkpoints", result->job_id);
	if (strcmp(name, checkpoints) != 0)
		return 0;
	doc = parse_inner(answer, NULL);
	result->stop = take_stop(doc);
	return 0;
}

int job_archive_parse(const char *text, size_t len_bytes, struct job_result *ret_result,
		      struct err *err)
{
	struct job_result found = {.status = JOB_RESULT_UNKNOWN};

	if (each_answer(text, len_bytes, take_answer, &found, err) < 0) {
		job_result_release(&found);
		return -1;
	}
	if (!*found.job_id) {
		job_result_release(&found);
		return err_set(err, ERR_FORMAT, 0, "it has no state of the job");
	}
	if (found.status != JOB_RESULT_SUCCEEDED) {
		free(found.stop);
		found.stop = NULL;
	}
	*ret_result = found;
	return 0;
}

struct application {
	char *path; /* of the answer about it */
	bool found, failed;
};

static int take_application(void *ctx, const char *name, const struct scan *answer, struct err *err)
{
	struct application *application = ctx;
	cleanup_json struct json *doc = NULL;
	const char *status;

	if (strcmp(name, application->path) != 0)
		return 0;
	doc = parse_inner(answer, err);
	if (!doc || json_need_str(doc, "status", &status, err) < 0)
		return -1;
	application->found = true;
	application->failed = !strcmp(status, "FAILED");
	return 0;
}

int application_archive_parse(const char *text, size_t len_bytes, const char *application_id,
			      bool *ret_failed, struct err *err)
{
	struct application application = {.path = xasprintf("/applications/%s", application_id)};
	int rc = each_answer(text, len_bytes, take_application, &application, err);

	free(application.path);
	if (rc < 0)
		return -1;
	if (!application.found)
		return err_set(err, ERR_FORMAT, 0, "it has no state of application %s",
			       application_id);
	*ret_failed = application.failed;
	return 0;
}

void job_result_release(struct job_result *result)
{
	free(result->stop);
	*result = (struct job_result){0};
}

WORDS(job_result_status_name, enum job_result_status, "UNKNOWN", "UNKNOWN", "SUCCEEDED", "FAILED",
      "CANCELED");
