/*
 * kube_stub - an API server that returns prepared responses in order, and records the requests.
 * Header-only, over http_stub.
 */
#ifndef DREY_TESTS_KUBE_STUB_H
#define DREY_TESTS_KUBE_STUB_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "http_stub.h"
#include "kube/kube.h"

#define KUBE_STUB_FN static inline __attribute__((unused))

enum { KUBE_STUB_MAX = 64 };

struct kube_stub_says {
	int status;           /* 0: 200 */
	const char *of;       /* returned whenever the target ends with this; NULL: in its turn */
	const char *body;     /* NULL: empty */
	const char *header;   /* "Retry-After: 1\r\n"; NULL: none */
	bool hang, reset;     /* never answer; close the connection */
	int64_t cut_at_bytes; /* of the body */
	int64_t length_bytes; /* to tell */
	int64_t after_ms;
};

struct kube_stub {
	struct http_stub *http;
	struct kube_target config; /* that leads here; the strings are the stub's */
	struct kube *kube;
	pthread_mutex_t lock; /* all below */
	struct kube_stub_says says[KUBE_STUB_MAX];
	int says_count, asked_count;
	int turn;                   /* the last of those in turn is repeated */
	char *asked[KUBE_STUB_MAX]; /* "METHOD target" */
	char *heads[KUBE_STUB_MAX], *bodies[KUBE_STUB_MAX];
};

KUBE_STUB_FN bool kube_stub_is_of(const char *target, const char *of)
{
	size_t target_len = strlen(target), of_len = strlen(of);

	return of_len <= target_len && !strcmp(target + target_len - of_len, of);
}

/* With the lock. */
KUBE_STUB_FN struct kube_stub_says kube_stub_choose(struct kube_stub *stub, const char *target)
{
	struct kube_stub_says says = {0};
	int turn = 0;

	for (int i = 0; i < stub->says_count; i++)
		if (stub->says[i].of && kube_stub_is_of(target, stub->says[i].of))
			return stub->says[i];
	for (int i = 0; i < stub->says_count && turn <= stub->turn; i++)
		if (!stub->says[i].of) {
			says = stub->says[i];
			turn++;
		}
	stub->turn++;
	return says;
}

KUBE_STUB_FN void kube_stub_answer(void *ctx, const struct http_stub_request *request,
				   struct http_stub_answer *answer)
{
	struct kube_stub *stub = ctx;
	struct kube_stub_says says = {0};
	int i;

	pthread_mutex_lock(&stub->lock);
	i = stub->asked_count++;
	if (i < KUBE_STUB_MAX) {
		stub->asked[i] = xasprintf("%s %s", request->method, request->target);
		stub->heads[i] = xstrdup(request->head);
		stub->bodies[i] = xstrdup(request->body);
	}
	says = kube_stub_choose(stub, request->target);
	pthread_mutex_unlock(&stub->lock);
	answer->status = says.status;
	answer->hang = says.hang;
	answer->reset = says.reset;
	answer->cut_at_bytes = says.cut_at_bytes;
	answer->length_bytes = says.length_bytes;
	answer->after_ms = says.after_ms;
	buf_addstr(&answer->headers, says.header ? says.header : "");
	buf_addstr(&answer->body, says.body ? says.body : "");
}

KUBE_STUB_FN void kube_stub_start(struct kube_stub *stub)
{
	memset(stub, 0, sizeof(*stub));
	pthread_mutex_init(&stub->lock, NULL);
	stub->http = http_stub_new(kube_stub_answer, stub);
	stub->config.server = xasprintf("http://127.0.0.1:%d", http_stub_port(stub->http));
	stub->config.namespace = xstrdup("team-a");
	stub->config.token = xstrdup("first-token");
	stub->kube = kube_new(&stub->config, NULL);
}

KUBE_STUB_FN void kube_stub_stop(struct kube_stub *stub)
{
	kube_free(stub->kube);
	http_stub_free(stub->http);
	kube_target_release(&stub->config);
	for (int i = 0; i < KUBE_STUB_MAX; i++) {
		free(stub->asked[i]);
		free(stub->heads[i]);
		free(stub->bodies[i]);
	}
	pthread_mutex_destroy(&stub->lock);
}

/* Another handle for the changed stub->config. */
KUBE_STUB_FN void kube_stub_renew(struct kube_stub *stub)
{
	kube_free(stub->kube);
	stub->kube = kube_new(&stub->config, NULL);
}

KUBE_STUB_FN void kube_stub_say(struct kube_stub *stub, const struct kube_stub_says *says,
				size_t count)
{
	pthread_mutex_lock(&stub->lock);
	memcpy(stub->says, says, count * sizeof(*says));
	stub->says_count = (int)count;
	pthread_mutex_unlock(&stub->lock);
}

KUBE_STUB_FN int kube_stub_asked(struct kube_stub *stub)
{
	int count;

	pthread_mutex_lock(&stub->lock);
	count = stub->asked_count;
	pthread_mutex_unlock(&stub->lock);
	return count;
}

#define KUBE_SAY(stub, ...)                                                                        \
	kube_stub_say((stub), (const struct kube_stub_says[]){__VA_ARGS__},                        \
		      sizeof((const struct kube_stub_says[]){__VA_ARGS__}) /                       \
			      sizeof(struct kube_stub_says))

/* A Status as the API server writes it. */
#define KUBE_NOT_FOUND(kind, name)                                                                 \
	KUBE_STATUS(404, "NotFound", "no", "\"name\":\"" name "\",\"kind\":\"" kind "\"")
#define KUBE_STATUS(code, reason, message, details)                                                \
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","       \
	"\"message\":\"" message "\",\"reason\":\"" reason "\",\"details\":{" details              \
	"},\"code\":" #code "}"

#define KUBE_MAP(name, version, data)                                                              \
	"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name             \
	"\",\"namespace\":\"team-a\",\"uid\":\"u-1\",\"resourceVersion\":\"" version               \
	"\",\"creationTimestamp\":\"2026-03-01T12:00:00Z\",\"labels\":{\"app\":\"x\"},"            \
	"\"finalizers\":[\"keep.me/here\"]},\"data\":{" data "},\"binaryData\":{\"b\":\"AA==\"}}"

#endif
