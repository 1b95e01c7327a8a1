#include "flink/rest_call.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "flink/trace.h"

#define PATH_MAX_BYTES 512

/* The text in {"errors": [...]}: the first line of the first element with text. NULL: not Flink's
 * error format. Borrowed. */
static const char *error_text(const struct json *doc)
{
	static const char begin[] = "<Exception on server side:";
	const struct json *errors = json_get(doc, "errors");
	const char *text;

	if (json_kind(errors) != JSON_ARRAY)
		return NULL;
	text = json_text(json_at(errors, 0));
	if (text && strcmp(text, "Internal server error.") == 0 && json_text(json_at(errors, 1)))
		text = json_text(json_at(errors, 1));
	if (text && strncmp(text, begin, sizeof(begin) - 1) == 0) {
		text += sizeof(begin) - 1;
		while (*text == '\n' || *text == ' ')
			text++;
	}
	return text ? text : "";
}

static enum err_kind kind_of_status(int status)
{
	if (status == 400)
		return ERR_CONFIG;
	return status == 404 ? ERR_FORMAT : http_status_kind(status);
}

/* An id of 32 hex digits that is part of the path. */
static bool is_of_path(const char *id, const char *path)
{
	char copy[FLINK_ID_CHARS + 1] = "";

	strncat(copy, id, FLINK_ID_CHARS);
	return flink_is_id(copy) && strstr(path, copy);
}

/* Does Flink itself say that there is no such job or no such operation? Only its own sentences count (1.20 to 2.4):
 * a proxy knows the format, too. A sentence that names an id must be about what was asked. */
static bool says_absent(int status, const char *text, const char *path)
{
	static const struct {
		const char *words;
		bool has_id;
	} sentences[] = {
		{": Could not find Flink job (", true},
		{"NotFoundException: Job ", true},
		{": There is no savepoint operation with triggerId=", true},
		{": There is no checkpoint operation with triggerId=", true},
		{": Operation not found under key: ", false},
		{": Checkpointing has not been enabled.", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(sentences); i++) {
		const char *found = strstr(text, sentences[i].words);

		/* the first is a cause; it comes with 500, too */
		if (found && (status == 404 || i == 0) &&
		    (!sentences[i].has_id || is_of_path(found + strlen(sentences[i].words), path)))
			return true;
	}
	return false;
}

/* Flink has no handler for this request; a GET is taken for a file, and its answer says so. */
static bool says_no_handler(int status, const char *text)
{
	return status == 404 && !strncmp(text, "Not found: ", strlen("Not found: "));
}

/* Classify an answer in Flink's error format. */
static enum flink_answer class_error(const char *path, int status, const char *text,
				     struct err *err)
{
	enum flink_answer answer = FLINK_ERROR;
	enum err_kind kind = kind_of_status(status);
	cleanup_free char *sentence = NULL;
	cleanup_trace struct trace trace = {0};

	trace_parse(text, &trace);
	sentence = trace_sentence(&trace);
	if (status == 503 && strstr(text, "leader election")) {
		answer = FLINK_NOT_YET;
	} else if (trace_mentions(text, "UnavailableDispatcherOperationException")) {
		answer = FLINK_NOT_YET;
		kind = ERR_RETRY;
	} else if (says_absent(status, text, path)) {
		answer = FLINK_ABSENT;
		kind = ERR_ABSENT;
	} else if (says_no_handler(status, text)) {
		kind = ERR_CONFIG;
	}
	err_set(err, kind, 0, "HTTP %d: %s", status, sentence[0] ? sentence : "no reason given");
	return answer;
}

/* Something in front of Flink, or a handler that was plugged into it: Flink itself has no logins. The name of the scheme is a word
 * (RFC 9110, 11.1); what is none is left out. */
static enum flink_answer class_login(const struct http_response *response, struct err *err)
{
	char value[64] = "";
	size_t len;

	http_header(response, "WWW-Authenticate", value, sizeof(value));
	len = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-");
	value[len] = '\0';
	err_set(err, ERR_DENIED, 0,
		"HTTP 401: the REST API asks for a login (%s), and drey has none for Flink; let this Pod pass without one, or set flink.restAddress and flink.restPort to where Flink itself listens",
		len ? value : "of no known kind");
	return FLINK_ERROR;
}

/* Classify an answer that is not 2xx, or not JSON. */
static enum flink_answer class_other(const char *path, const struct http_response *response,
				     const struct json *doc, const struct err *parse_err,
				     struct err *err)
{
	const char *text = error_text(doc);
	int status = response->status;

	/* MUT: a login is an answer like any other */
	if (status == 401)
		return class_login(response, err);
	if (text && status >= 300)
		return class_error(path, status, text, err);
	if (status >= 300)
		err_set(err, kind_of_status(status), 0, "HTTP %d: not an answer from Flink (%s)",
			status, response->content_type[0] ? response->content_type : "no type");
	else
		err_set(err, ERR_FORMAT, 0, "not an answer from Flink (%s): %s",
			response->content_type[0] ? response->content_type : "no type",
			parse_err->msg);
	return FLINK_ERROR;
}

static enum flink_answer transfer(const struct flink_rest *rest, const struct rest_request *request,
				  struct http_response *response, struct err *err)
{
	static const char *const json_header[] = {"Content-Type: application/json"};
	cleanup_free char *url = xasprintf("%s%s", rest->base_url, request->path);
	cleanup_buf struct buf body = BUF_INIT;
	struct http_request call = {
		.method = request->method,
		.url = url,
		.timeout_ms = request->timeout_ms,
		.max_bytes = FLINK_REST_MAX_BYTES,
	};

	if (request->body) {
		json_print(request->body, &body);
		call.headers = json_header;
		call.header_count = 1;
		call.body = buf_str(&body);
		call.body_len_bytes = body.len_bytes;
	}
	if (http_do(rest->http, &call, response, err) == 0)
		return FLINK_OK;
	/* not trusted: nothing was sent. A server that does not trust drey just ends the connection. */
	if (err->sys != ECONNREFUSED && rest_tls_renew(rest->tls, rest->http) &&
	    err->kind == ERR_DENIED && http_do(rest->http, &call, response, err) == 0)
		return FLINK_OK;
	return err->sys == ECONNREFUSED ? FLINK_NOT_YET : FLINK_ERROR;
}

enum flink_answer rest_call(const struct flink_rest *rest, const struct rest_request *request,
			    struct json **ret_doc, struct err *err)
{
	cleanup_http_response struct http_response response = {0};
	const char *method = request->method ? request->method : "GET";
	struct err parse_err = {0}, local = {0};
	enum flink_answer answer;
	struct json *doc;

	err = err ? err : &local;
	answer = transfer(rest, request, &response, err);
	if (answer != FLINK_OK) /* the message already has method and URL */
		return answer;
	doc = json_parse(buf_str(&response.body), response.body.len_bytes, FLINK_REST_MAX_BYTES,
			 &parse_err);
	if (doc && response.status >= 200 && response.status < 300) {
		*ret_doc = doc;
		return FLINK_OK;
	}
	answer = class_other(request->path, &response, doc, &parse_err, err);
	json_free(doc);
	err_wrap(err, "%s %s", method, request->path);
	return answer;
}

enum flink_answer rest_get(const struct flink_rest *rest, int64_t timeout_ms, struct json **ret_doc,
			   struct err *err, const char *fmt, ...)
{
	char path[PATH_MAX_BYTES];
	struct rest_request request = {.path = path, .timeout_ms = timeout_ms};
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	return rest_call(rest, &request, ret_doc, err);
}

enum flink_answer rest_get_job(const struct flink_rest *rest, const char *job_id,
			       int64_t timeout_ms, struct json **ret_doc, struct err *err,
			       const char *below)
{
	if (rest_check_id("job", job_id, err) != FLINK_OK)
		return FLINK_ERROR;
	return rest_get(rest, timeout_ms, ret_doc, err, "/jobs/%s%s", job_id, below);
}

enum flink_answer rest_check_id(const char *what, const char *id, struct err *err)
{
	if (id && flink_is_id(id))
		return FLINK_OK;
	err_set(err, ERR_CONFIG, 0, "%s id '%.40s' is not 32 hex digits", what, id ? id : "");
	return FLINK_ERROR;
}

int rest_need_id(const char *id, struct err *err)
{
	return flink_is_id(id) ? 0 : err_set(err, ERR_FORMAT, 0, "'%.40s' is not an id", id);
}

enum flink_answer rest_unexpected(const char *what, struct err *err)
{
	err_wrap(err, "%s: not the documented answer", what);
	return FLINK_ERROR;
}
