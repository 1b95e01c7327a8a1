#include "kube/kube_status.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void kube_answer_release(struct kube_answer *answer)
{
	json_free(answer->object);
	*answer = (struct kube_answer){.retry_after_ms = -1, .date_unix_ms = -1};
}

/* One line, without control characters. */
static void copy_line(char *to, size_t size, const char *from)
{
	size_t len = utf8_cut(from, size - 1);

	for (size_t i = 0; i < len; i++)
		to[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7F ? ' ' : from[i];
	while (len && to[len - 1] == ' ')
		len--;
	to[len] = '\0';
}

static bool is_status(const struct json *object)
{
	const char *kind = json_str(object, "kind"), *version = json_str(object, "apiVersion");

	return kind && version && !strcmp(kind, "Status") && !strcmp(version, "v1");
}

static bool is_failure(const struct json *object)
{
	const char *status = json_str(object, "status");

	return is_status(object) && status && !strcmp(status, "Failure");
}

static void bound_retry_after(struct kube_answer *answer)
{
	int64_t s = json_i64_or(json_get(answer->object, "details"), "retryAfterSeconds", -1);

	if (answer->retry_after_ms < 0 && s >= 0)
		answer->retry_after_ms =
			s > KUBE_RETRY_AFTER_MAX_MS / 1000 ? KUBE_RETRY_AFTER_MAX_MS : s * 1000;
	if (answer->retry_after_ms > KUBE_RETRY_AFTER_MAX_MS)
		answer->retry_after_ms = KUBE_RETRY_AFTER_MAX_MS;
}

/* The next segment of *path; its length, 0 at the end. */
static size_t next_segment(const char **path)
{
	*path += **path == '/';
	return strcspn(*path, "/?");
}

/* Does the path have the segments KIND/NAME? `kind` may have a subresource behind it ("deployments/scale"). */
static bool names_object(const char *path, const char *kind, const char *name)
{
	size_t kind_len = strcspn(kind, "/"), name_len = strlen(name), len;

	for (; (len = next_segment(&path)); path += len) {
		const char *next = path + len;

		if (len == kind_len && !strncmp(path, kind, len) &&
		    next_segment(&next) == name_len && !strncmp(next, name, name_len))
			return name_len > 0;
	}
	return false;
}

/* A 404 about the object, or its namespace, and not about the path, nor about another object. */
static bool is_absence(const struct kube_asked *asked, const struct kube_answer *answer)
{
	const struct json *details = json_get(answer->object, "details");
	const char *name = json_str(details, "name"), *kind = json_str(details, "kind");

	return is_failure(answer->object) && !strcmp(answer->reason, "NotFound") && name && kind &&
	       names_object(asked->path, kind, name);
}

/* The API server's own words for a path that it does not have: its text, or a Status that names nothing. */
static bool is_path_unknown(const struct kube_answer *answer)
{
	if (!answer->object)
		return !strcmp(answer->message, "404 page not found");
	return is_failure(answer->object) && !strcmp(answer->reason, "NotFound") &&
	       !json_get(json_get(answer->object, "details"), "name");
}

/*
 * Server-side apply of what the schema does not have is 500 with a Status without a
 * reason, and will be every time.
 */
static bool is_refused_apply(const struct kube_asked *asked, const struct kube_answer *answer)
{
	return answer->status == 500 && !answer->reason[0] && is_failure(answer->object) &&
	       asked->content_type && !strcmp(asked->content_type, "application/apply-patch+yaml");
}

static enum err_kind kind_of(const struct kube_asked *asked, struct kube_answer *answer)
{
	switch (answer->status) {
	case 400:
	case 405:
	case 406:
	case 413:
	case 415:
	case 422:
		return is_failure(answer->object) || answer->status == 413 ? ERR_CONFIG
									   : ERR_FORMAT;
	case 401:
	case 403:
		return ERR_DENIED;
	case 404:
		if (is_absence(asked, answer))
			return ERR_ABSENT;
		answer->path_unknown = is_path_unknown(answer);
		/* a page of something in between, or a word about another object: not known */
		return answer->path_unknown ? ERR_CONFIG : ERR_FORMAT;
	case 409:
		return ERR_BUSY;
	case 408:
	case 410:
	case 429:
		return ERR_RETRY;
	default:
		if (is_refused_apply(asked, answer))
			return ERR_CONFIG;
		answer->maybe_done = answer->status >= 500 && strcmp(asked->method, "GET") != 0;
		return answer->status >= 500 ? ERR_RETRY : ERR_FORMAT;
	}
}

int kube_status_err(const struct kube_asked *asked, struct kube_answer *answer, struct err *err)
{
	enum err_kind kind;

	if (is_status(answer->object)) {
		const char *reason = json_str(answer->object, "reason");
		const char *message = json_str(answer->object, "message");

		copy_line(answer->reason, sizeof(answer->reason), reason ? reason : "");
		copy_line(answer->message, sizeof(answer->message), message ? message : "");
	}
	bound_retry_after(answer);
	kind = kind_of(asked, answer);
	return err_set(
		err, kind, 0, "%s %.*s: HTTP %d%s%s%s%s%s", asked->method,
		(int)strcspn(asked->path, "?"), asked->path, answer->status,
		answer->reason[0] ? " " : "", answer->reason, answer->message[0] ? ": " : "",
		answer->message,
		answer->path_unknown
			? " (the API server does not have this path: is the resource's definition installed?)"
			: "");
}

static int nonsense(const struct kube_asked *asked, struct kube_answer *answer, const char *why,
		    struct err *err)
{
	answer->maybe_done = strcmp(asked->method, "GET") != 0;
	return err_set(err, ERR_FORMAT, 0,
		       "%s %.*s: HTTP %d, but not an answer from an API server: %s", asked->method,
		       (int)strcspn(asked->path, "?"), asked->path, answer->status, why);
}

int kube_status_read(const struct kube_asked *asked, const struct http_response *response,
		     struct kube_answer *ret, struct err *err)
{
	bool success = response->status >= 200 && response->status < 300;
	struct err why = {0};

	*ret = (struct kube_answer){.status = response->status,
				    .retry_after_ms = response->retry_after_ms,
				    .date_unix_ms = response->date_unix_ms};
	ret->object = json_parse(buf_str(&response->body), response->body.len_bytes,
				 asked->max_bytes, &why);
	if (!success) {
		/* a page of HTML says nothing that fits a line */
		if (!ret->object && strcmp(response->content_type, "text/html") != 0)
			copy_line(ret->message, sizeof(ret->message), buf_str(&response->body));
		return kube_status_err(asked, ret, err);
	}
	if (!ret->object)
		return nonsense(asked, ret, why.msg, err);
	if (json_kind(ret->object) != JSON_OBJECT || !json_str(ret->object, "kind"))
		return nonsense(asked, ret, "not a Kubernetes object", err);
	if (is_failure(ret->object))
		return nonsense(asked, ret, "it reports success, but contains a failure", err);
	return 0;
}
