/* Any bytes as the answer of a server to GET /join: first the HTTP, then the body. */
#include <string.h>

#include "base/http_get.h"
#include "base/mem.h"
#include "core/handover/join.h"
#include "must.h"

#define ASKED "G"

static void read_body(int status, const char *body, size_t len_bytes)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
	struct join_reply reply = {0};
	struct err err = {0};

	if (join_read(status, body, len_bytes, ASKED, &reply, &err) < 0) {
		must(err.kind == ERR_FORMAT && *err.msg);
		return;
	}
	must(reply.kind == (status == 200 ? JOIN_GO : status == 503 ? JOIN_WAIT : JOIN_OTHER));
	must(strlen(reply.generation) < JOIN_TEXT_BYTES && strlen(reply.why) < JOIN_TEXT_BYTES);
	must((status == 404) == (strcmp(reply.generation, ASKED) != 0));
	if (reply.kind != JOIN_GO)
		return;
	must(*reply.cluster_id && *reply.cluster_id != '-' && *reply.side);
	must(strspn(reply.cluster_id, plain) == strlen(reply.cluster_id));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_free char *bytes = xcalloc(size_bytes + 1, 1);
	struct http_get_answer answer = {0};
	struct err err = {0};
	int parsed;

	if (size_bytes)
		memcpy(bytes, data, size_bytes);
	parsed = http_get_parse(bytes, size_bytes, JOIN_ANSWER_BYTES, true, &answer, &err);
	must(parsed != 0); /* nothing more comes */
	if (parsed < 0) {
		must(err.kind == ERR_FORMAT && !answer.body);
	} else {
		must(answer.status >= 200 && answer.status <= 999);
		must(answer.body >= bytes && answer.body_len_bytes <= JOIN_ANSWER_BYTES);
		must(answer.body + answer.body_len_bytes <= bytes + size_bytes);
		read_body(answer.status, answer.body, answer.body_len_bytes);
	}
	/* the same bytes as a body */
	read_body(200, bytes, size_bytes);
	read_body(404, bytes, size_bytes);
	read_body(503, bytes, size_bytes);
	return 0;
}
