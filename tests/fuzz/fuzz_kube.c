/* What an API server answers: verdicts, ConfigMaps, the events of a watch. The first two bytes choose status and method;
 * what is not success has a reason, absence is only what a Status of the server's says, and what was read can be
 * written. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/configmap.h"
#include "kube/watch_stream.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static void check_text(const char *text, size_t size)
{
	if (strlen(text) >= size)
		abort();
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7F)
			abort();
}

static void check_map(const struct json *object)
{
	struct configmap map = {0};
	struct err err = {0};

	if (configmap_decode(object, NULL, &map, &err)) {
		if (err.kind != ERR_FORMAT || !err.msg[0])
			abort();
		return;
	}
	if (!map.name || !map.uid || !map.resource_version || !map.data)
		abort();
	configmap_release(&map);
}

static void verdict(int status, const char *method, const char *text, size_t len_bytes)
{
	const struct kube_asked asked = {method, "/api/v1/namespaces/n/configmaps/m?a=m2",
					 "application/apply-patch+yaml", 1u << 20};
	struct http_response response = {.status = status, .retry_after_ms = -1};
	struct kube_answer answer = {0};
	struct err err = {0};
	int rc;

	buf_add(&response.body, text, len_bytes);
	rc = kube_status_read(&asked, &response, &answer, &err);
	if ((rc < 0) != (err.kind != ERR_NONE) || (!rc && (status / 100 != 2 || !answer.object)))
		abort();
	if (err.kind == ERR_ABSENT && (status != 404 || strcmp(answer.reason, "NotFound") != 0))
		abort();
	if (answer.retry_after_ms > KUBE_RETRY_AFTER_MAX_MS)
		abort();
	check_text(answer.reason, sizeof(answer.reason));
	check_text(answer.message, sizeof(answer.message));
	if (answer.object)
		check_map(answer.object);
	kube_answer_release(&answer);
	buf_release(&response.body);
}

static int count_event(void *ctx, const struct json *event, struct err *err)
{
	struct buf *all = ctx;

	if (json_kind(event) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "not an object");
	json_print(event, all);
	return 0;
}

/* In pieces of that size; the events must not depend on it. */
static int stream(const char *text, size_t len_bytes, size_t piece, struct buf *all)
{
	struct watch_stream one = {.max_bytes = 4096};
	int rc = 0;

	for (size_t at = 0; at < len_bytes && !rc; at += piece)
		rc = watch_stream_add(&one, text + at,
				      len_bytes - at < piece ? len_bytes - at : piece, count_event,
				      all, NULL);
	watch_stream_release(&one);
	return rc;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	static const int statuses[] = {200, 201, 400, 401, 403, 404, 409, 410,
				       415, 422, 429, 500, 503, 504, 302, 204};
	static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
	const char *text = (const char *)data + 2;
	struct buf whole = BUF_INIT, pieces = BUF_INIT;

	if (len_bytes < 2)
		return 0;
	len_bytes -= 2;
	verdict(statuses[data[0] % ARRAY_LEN(statuses)], methods[data[1] % ARRAY_LEN(methods)],
		text, len_bytes);
	if (stream(text, len_bytes, len_bytes + 1, &whole) !=
		    stream(text, len_bytes, 1 + data[1] % 7u, &pieces) ||
	    strcmp(buf_str(&whole), buf_str(&pieces)) != 0)
		abort();
	buf_release(&whole);
	buf_release(&pieces);
	return 0;
}
