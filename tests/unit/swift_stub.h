/*
 * swift_stub - a small Swift in this process, with faults: tempauth, Keystone, one container "c" of
 * the account AUTH_test. Its behaviour was copied from a real server (2.30); tests/servers/ tests with
 * real ones.
 */
#ifndef DREY_TESTS_SWIFT_STUB_H
#define DREY_TESTS_SWIFT_STUB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "http_stub.h"
#include "tap.h"

#define STUB_FN       static inline __attribute__((unused))
#define STUB_USER     "test:tester"
#define STUB_PASSWORD "Sesam-\"oeffne\"-dich"
#define STUB_OBJECTS  16000
#define STUB_TIME_MS  1795274016355

struct swift_object {
	char *name;
	int64_t size_bytes;   /* each byte is the low byte of its offset */
	int64_t listed_bytes; /* as the listing shows it */
	const char *etag;     /* NULL: none */
	const char *type;     /* NULL: text/plain */
	bool unlisted;        /* the container server is late */
};

struct swift_stub {
	struct http_stub *http;
	char url[64]; /* "http://127.0.0.1:PORT" */
	pthread_mutex_t lock;
	/* guarded: */
	struct swift_object objects[STUB_OBJECTS]; /* in the order of their names */
	size_t object_count;
	size_t page;       /* most names per page; 0: as requested */
	int gap;           /* names that are left out after a marker */
	int sign_ins;      /* so far; the n-th gives the token "tk-n-hush" */
	int valid_from;    /* older tokens are rejected */
	int expires_s;     /* returned by a sign-in */
	bool sign_in_busy; /* 503 */
	int lists, heads, gets;
	struct buf seen; /* every request line */
	struct buf body; /* of the last sign-in */
	/* Answers instead of the stub; true if it did. */
	bool (*fault)(struct swift_stub *stub, const struct http_stub_request *request,
		      struct http_stub_answer *answer);
	bool unmarked; /* without X-Trans-Id, as a proxy answers */
	int faults;    /* for the fault's own use */
};

STUB_FN int stub_by_name(const void *a, const void *b)
{
	return strcmp(((const struct swift_object *)a)->name,
		      ((const struct swift_object *)b)->name);
}

STUB_FN struct swift_object *stub_find(struct swift_stub *stub, const char *name)
{
	const struct swift_object key = {.name = (char *)(uintptr_t)name};

	return bsearch(&key, stub->objects, stub->object_count, sizeof(key), stub_by_name);
}

/* Before the first request, or with the lock. Call stub_sort() after the last one. */
STUB_FN struct swift_object *stub_put(struct swift_stub *stub, const char *name, int64_t size_bytes)
{
	struct swift_object *object = &stub->objects[stub->object_count++];

	if (stub->object_count > STUB_OBJECTS)
		abort();
	*object = (struct swift_object){.name = xstrdup(name),
					.size_bytes = size_bytes,
					.listed_bytes = size_bytes,
					.etag = "\"e1\""};
	return object;
}

STUB_FN void stub_sort(struct swift_stub *stub)
{
	qsort(stub->objects, stub->object_count, sizeof(stub->objects[0]), stub_by_name);
}

/* The value of a header, "" if absent; borrowed until the next call. */
STUB_FN const char *stub_header(const struct http_stub_request *request, const char *name)
{
	static char value[4096];
	const char *line = strcasestr(request->head, name);

	value[0] = '\0';
	if (line)
		sscanf(line + strlen(name), ": %4095[^\r\n]", value);
	return value;
}

STUB_FN void stub_decode(char *text)
{
	char *to = text;
	unsigned byte;

	for (const char *p = text; *p; p++)
		if (*p == '%' && sscanf(p + 1, "%2x", &byte) == 1) {
			*to++ = (char)byte;
			p += 2;
		} else {
			*to++ = *p;
		}
	*to = '\0';
}

/* A parameter of the query, decoded; "" if absent. Caller frees. */
STUB_FN char *stub_parameter(const char *query, const char *name)
{
	size_t len = strlen(name);
	char *value;

	for (const char *p = query; p && *p; p = strchr(p, '&'), p = p ? p + 1 : p)
		if (!strncmp(p, name, len) && p[len] == '=') {
			value = xstrndup(p + len + 1, strcspn(p + len + 1, "&"));
			stub_decode(value);
			return value;
		}
	return xstrdup("");
}

STUB_FN void stub_list(struct swift_stub *stub, const char *query, struct http_stub_answer *answer)
{
	cleanup_free char *prefix = stub_parameter(query, "prefix");
	cleanup_free char *marker = stub_parameter(query, "marker");
	cleanup_free char *delimiter = stub_parameter(query, "delimiter");
	cleanup_free char *limit = stub_parameter(query, "limit");
	cleanup_free char *last = xstrdup("");
	size_t most = strtoul(limit, NULL, 10), count = 0, len = strlen(prefix);
	int gap = *marker ? stub->gap : 0;

	if (stub->page && stub->page < most)
		most = stub->page;
	buf_addch(&answer->body, '[');
	for (size_t i = 0; i < stub->object_count && count < most; i++) {
		const struct swift_object *object = &stub->objects[i];
		const char *slash;

		if (object->unlisted || strncmp(object->name, prefix, len) != 0)
			continue;
		slash = delimiter[0] ? strchr(object->name + len, '/') : NULL;
		if (slash) {
			cleanup_free char *dir =
				xstrndup(object->name, (size_t)(slash - object->name) + 1);

			if (strcmp(dir, marker) <= 0 || !strcmp(dir, last))
				continue;
			xstrset(&last, dir);
			if (gap-- > 0)
				continue;
			buf_addf(&answer->body, "%s{\"subdir\":\"%s\"}", count++ ? "," : "", dir);
			continue;
		}
		if (strcmp(object->name, marker) <= 0 || gap-- > 0)
			continue;
		buf_addf(&answer->body,
			 "%s{\"name\":\"%s\",\"bytes\":%lld,\"hash\":\"x\",\"content_type\":\"%s\","
			 "\"last_modified\":\"2026-11-21T15:13:36.355440\"}",
			 count++ ? "," : "", object->name, (long long)object->listed_bytes,
			 object->type ? object->type : "text/plain");
	}
	buf_addch(&answer->body, ']');
	buf_addstr(&answer->headers, "Content-Type: application/json; charset=utf-8\r\n");
}

STUB_FN void stub_object(const struct swift_object *object, const struct http_stub_request *request,
			 struct http_stub_answer *answer)
{
	long long first = 0, last = object->size_bytes - 1;
	const char *wanted = stub_header(request, "If-Match");

	if (wanted[0] && (!object->etag || strcmp(wanted, object->etag) != 0)) {
		answer->status = 412;
		return;
	}
	buf_addf(&answer->headers, "X-Timestamp: %lld.35544\r\nContent-Type: %s\r\n",
		 (long long)STUB_TIME_MS / 1000, object->type ? object->type : "text/plain");
	if (object->etag)
		buf_addf(&answer->headers, "ETag: %s\r\n", object->etag);
	if (sscanf(stub_header(request, "Range"), "bytes=%lld-%lld", &first, &last) == 2) {
		if (last >= object->size_bytes)
			last = object->size_bytes - 1;
		answer->status = first > last ? 416 : 206;
		if (first <= last)
			buf_addf(&answer->headers, "Content-Range: bytes %lld-%lld/%lld\r\n", first,
				 last, (long long)object->size_bytes);
		else
			buf_addf(&answer->headers, "Content-Range: bytes */%lld\r\n",
				 (long long)object->size_bytes);
		if (first > last)
			buf_addstr(&answer->body, "<html>Requested Range Not Satisfiable");
	}
	if (!strcmp(request->method, "HEAD")) {
		answer->length_bytes = object->size_bytes;
		return;
	}
	for (; first <= last; first++)
		buf_addch(&answer->body, (char)first);
}

STUB_FN void stub_sign_in(struct swift_stub *stub, const struct http_stub_request *request,
			  struct http_stub_answer *answer)
{
	bool keystone = strstr(request->target, "/v3/");

	stub->sign_ins++;
	buf_clear(&stub->body);
	buf_add(&stub->body, request->body, request->body_len_bytes);
	if (stub->sign_in_busy) {
		answer->status = 503;
		return;
	}
	if (keystone) {
		answer->status = strstr(buf_str(&stub->body), "wrong") ? 401 : 201;
	} else if (strcmp(stub_header(request, "X-Auth-User"), STUB_USER) != 0 ||
		   strcmp(stub_header(request, "X-Auth-Key"), STUB_PASSWORD) != 0) {
		answer->status = 401;
	}
	buf_addf(&answer->headers, "%s: tk-%d-hush\r\nDate: Sat, 21 Nov 2026 15:00:00 GMT\r\n",
		 keystone ? "X-Subject-Token" : "X-Auth-Token", stub->sign_ins);
	if (keystone)
		buf_addf(&answer->body,
			 "{\"token\":{\"expires_at\":\"2026-11-21T15:%02d:%02d.000000Z\","
			 "\"catalog\":[{\"type\":\"object-store\",\"endpoints\":[{\"interface\":"
			 "\"public\",\"region\":\"One\",\"url\":\"%s/v1/AUTH_test\"}]}]}}",
			 stub->expires_s / 60, stub->expires_s % 60, stub->url);
	else
		buf_addf(&answer->headers,
			 "X-Storage-Url: %s/v1/AUTH_test\r\nX-Auth-Token-Expires: %d\r\n",
			 stub->url, stub->expires_s);
}

STUB_FN void stub_store(struct swift_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	cleanup_free char *path = xstrdup(request->target + strlen("/v1/AUTH_test/"));
	char *query = strchr(path, '?'), *object;
	int token = 0;

	sscanf(stub_header(request, "X-Auth-Token"), "tk-%d-hush", &token);
	if (token <= 0 || token < stub->valid_from) {
		answer->status = 401;
		return;
	}
	if (query)
		*query++ = '\0';
	object = strchr(path, '/');
	if (object)
		*object++ = '\0';
	if (strcmp(path, "c") != 0) {
		answer->status = 404;
	} else if (!object) {
		stub->lists += !strcmp(request->method, "GET");
		answer->status = strcmp(request->method, "GET") ? 204 : 200;
		if (answer->status == 200)
			stub_list(stub, query, answer);
	} else {
		stub_decode(object);
		stub->heads += !strcmp(request->method, "HEAD");
		stub->gets += !strcmp(request->method, "GET");
		if (stub_find(stub, object))
			stub_object(stub_find(stub, object), request, answer);
		else
			answer->status = 404;
	}
}

STUB_FN void stub_answer(void *ctx, const struct http_stub_request *request,
			 struct http_stub_answer *answer)
{
	struct swift_stub *stub = ctx;

	pthread_mutex_lock(&stub->lock);
	buf_addf(&stub->seen, "%s %s\n", request->method, request->target);
	if (!stub->fault || !stub->fault(stub, request, answer)) {
		if (!strncmp(request->target, "/v1/AUTH_test/", 14))
			stub_store(stub, request, answer);
		else if (!strcmp(request->target, "/auth/v1.0") ||
			 !strcmp(request->target, "/v3/auth/tokens"))
			stub_sign_in(stub, request, answer);
		else
			answer->status = 404;
	}
	if (!stub->unmarked)
		buf_addstr(&answer->headers, "X-Trans-Id: tx2f1b0a\r\n");
	pthread_mutex_unlock(&stub->lock);
}

/* Caller frees with stub_free(). */
STUB_FN struct swift_stub *stub_new(void)
{
	struct swift_stub *stub = xcalloc(1, sizeof(*stub));

	pthread_mutex_init(&stub->lock, NULL);
	stub->expires_s = 600;
	stub->http = http_stub_new(stub_answer, stub);
	snprintf(stub->url, sizeof(stub->url), "http://127.0.0.1:%d", http_stub_port(stub->http));
	return stub;
}

STUB_FN void stub_free(struct swift_stub *stub)
{
	http_stub_free(stub->http);
	for (size_t i = 0; i < stub->object_count; i++)
		free(stub->objects[i].name);
	buf_release(&stub->seen);
	buf_release(&stub->body);
	pthread_mutex_destroy(&stub->lock);
	free(stub);
}

/* No message may contain a secret. */
STUB_FN void stub_check_message(const char *message)
{
	CHECK(!strstr(message, "Sesam"));
	CHECK(!strstr(message, "hush"));
}

#endif
