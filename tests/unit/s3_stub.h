/*
 * s3_stub - a small S3 in this process, with faults: one bucket "b" with path-style addressing, the key
 * "AKTEST" with the secret "hush-hush". It checks each signature against the request. Its behaviour was
 * copied from a real server; tests/servers/ tests with real ones.
 */
#ifndef DREY_TESTS_S3_STUB_H
#define DREY_TESTS_S3_STUB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/sha256.h"
#include "http_stub.h"
#include "store/s3/sigv4.h"
#include "tap.h"

#define S3_FN           static inline __attribute__((unused))
#define S3_STUB_KEY     "AKTEST"
#define S3_STUB_SECRET  "hush-hush"
#define S3_STUB_OBJECTS 13000
#define S3_STUB_TIME_MS INT64_C(1772366400000) /* of every object: 2026-03-01T12:00:00Z */

struct s3_object {
	char *key;
	int64_t size_bytes; /* each byte is the low byte of its offset; -1: only a deleted version is left */
	const char *etag;
};

struct s3_stub {
	struct http_stub *http;
	char url[64];
	pthread_mutex_t lock;
	/* guarded: */
	struct s3_object objects[S3_STUB_OBJECTS]; /* in the order of their keys */
	size_t object_count;
	int page;           /* names per page; 0: 1000 */
	int gap;            /* names that are left out after a start-after */
	bool gap_nowhere;   /* only after one that does not exist */
	int gap_token;      /* names that are left out after a token */
	bool any_start;     /* start-after is ignored */
	bool any_length;    /* max-keys is ignored */
	bool aligned;       /* pages end at the same names, wherever they begin */
	const char *hides;  /* listings of this prefix have no names, and none has this name */
	const char *secret; /* of the current key */
	const char *token;  /* NULL: none required */
	bool unsigned_ok;   /* a fault changes requests: their signatures are not checked */
	int64_t ahead_ms;   /* the server's clock */
	int lists, heads, gets;
	struct buf seen;      /* every request line */
	struct buf last_head; /* the header of the last request */
	/* Answers instead of the stub; true if it did. */
	bool (*fault)(struct s3_stub *stub, const struct http_stub_request *request,
		      struct http_stub_answer *answer);
	const void *fault_arg; /* for the fault's own use; so is, also without the lock: */
	_Atomic int faults;
};

/* ---- objects ---- */

S3_FN int s3_stub_by_key(const void *a, const void *b)
{
	return strcmp(((const struct s3_object *)a)->key, ((const struct s3_object *)b)->key);
}

S3_FN struct s3_object *s3_stub_find(struct s3_stub *stub, const char *key)
{
	const struct s3_object wanted = {.key = (char *)(uintptr_t)key};

	return bsearch(&wanted, stub->objects, stub->object_count, sizeof(wanted), s3_stub_by_key);
}

S3_FN void s3_stub_put(struct s3_stub *stub, const char *key, int64_t size_bytes)
{
	pthread_mutex_lock(&stub->lock);
	if (stub->object_count == S3_STUB_OBJECTS)
		abort();
	stub->objects[stub->object_count++] =
		(struct s3_object){xstrdup(key), size_bytes, "\"e1\""};
	qsort(stub->objects, stub->object_count, sizeof(*stub->objects), s3_stub_by_key);
	pthread_mutex_unlock(&stub->lock);
}

/* ---- requests ---- */

/* The value of a header; NULL when it was not sent. Caller frees. */
S3_FN char *s3_stub_header(const char *head, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = strstr(head, "\r\n"); p && p[2]; p = strstr(p + 2, "\r\n"))
		if (!strncasecmp(p + 2, name, len) && p[2 + len] == ':') {
			p += 3 + len;
			p += strspn(p, " ");
			return xstrndup(p, strcspn(p, "\r"));
		}
	return NULL;
}

/* Decoded, only if it is there; caller frees. */
S3_FN char *s3_stub_parameter(const char *target, const char *name)
{
	const char *p = strchr(target, '?');
	size_t len = strlen(name);
	char *value, *to;

	while (p && (strncmp(p + 1, name, len) != 0 || p[1 + len] != '='))
		p = strchr(p + 1, '&');
	if (!p)
		return NULL;
	p += 2 + len;
	value = to = xstrndup(p, strcspn(p, "&"));
	for (const char *from = value; *from; from++)
		if (*from == '%') {
			const char digits[3] = {from[1], from[2], '\0'};

			*to++ = (char)strtol(digits, NULL, 16);
			from += 2;
		} else {
			*to++ = *from;
		}
	*to = '\0';
	return value;
}

/* The authorization that this request must have; caller frees. */
S3_FN char *s3_stub_authorization(struct s3_stub *stub, const struct http_stub_request *request,
				  const char *sent)
{
	struct sigv4_header headers[16];
	size_t count = 0, path = strcspn(request->target, "?");
	cleanup_free char *target = xstrdup(request->target);
	cleanup_free char *date = s3_stub_header(request->head, "x-amz-date"), *names = NULL;
	cleanup_buf struct buf text = BUF_INIT;
	char payload[SHA256_HEX_BYTES] = SIGV4_EMPTY_SHA256;
	struct sigv4_request signed_one;
	struct tm tm = {0};
	char *rest;

	names = xstrndup(strstr(sent, "SignedHeaders=") + 14,
			 strcspn(strstr(sent, "SignedHeaders=") + 14, ","));
	rest = names;
	while (rest && count < ARRAY_LEN(headers)) {
		char *name = strsep(&rest, ";");

		headers[count++] = (struct sigv4_header){name, s3_stub_header(request->head, name)};
	}
	if (request->body_len_bytes)
		sha256_hex(request->body, request->body_len_bytes, payload);
	strptime(date, "%Y%m%dT%H%M%SZ", &tm);
	target[path] = '\0';
	signed_one = (struct sigv4_request){
		.method = request->method,
		.path = target,
		.query = request->target[path] ? target + path + 1 : NULL,
		.headers = headers,
		.header_count = count,
		.payload_sha256 = payload,
		.access_key = S3_STUB_KEY,
		.secret_key = stub->secret,
		.region = "us-east-1",
		.service = "s3",
		.unix_s = timegm(&tm),
	};
	sigv4_authorization(&signed_one, &text);
	for (size_t i = 0; i < count; i++)
		free((char *)(uintptr_t)headers[i].value);
	return buf_steal(&text);
}

/* ---- answers ---- */

S3_FN void s3_stub_error(struct http_stub_answer *answer, int status, const char *code,
			 const char *more)
{
	answer->status = status;
	buf_addstr(&answer->headers, "Content-Type: application/xml\r\n");
	buf_clear(&answer->body);
	buf_addf(&answer->body,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code>%s"
		 "<RequestId>4442587FB7D0A2F9</RequestId></Error>",
		 code, more);
}

S3_FN void s3_stub_date(struct http_stub_answer *answer, const char *name, int64_t unix_ms)
{
	time_t at = (time_t)(unix_ms / 1000);
	char text[64];
	struct tm tm;

	strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&at, &tm));
	buf_addf(&answer->headers, "%s: %s\r\n", name, text);
}

/* False: answered with the reason. */
S3_FN bool s3_stub_may(struct s3_stub *stub, const struct http_stub_request *request,
		       struct http_stub_answer *answer)
{
	cleanup_free char *sent = s3_stub_header(request->head, "Authorization"), *want = NULL,
			  *token = s3_stub_header(request->head, "x-amz-security-token"),
			  *date = s3_stub_header(request->head, "x-amz-date");
	int64_t now = time(NULL) + stub->ahead_ms / 1000;
	struct tm tm = {0};

	s3_stub_date(answer, "Date", now * 1000);
	if (stub->unsigned_ok)
		return true;
	if (!sent || !date || !strptime(date, "%Y%m%dT%H%M%SZ", &tm)) {
		s3_stub_error(answer, 403, "AccessDenied", "");
		return false;
	}
	if (llabs(timegm(&tm) - now) > 900) {
		s3_stub_error(answer, 403, "RequestTimeTooSkewed", "<Message>Too large</Message>");
		return false;
	}
	if (stub->token && (!token || strcmp(token, stub->token) != 0)) {
		s3_stub_error(answer, 400, "ExpiredToken",
			      "<Message>The provided token has expired.</Message>");
		return false;
	}
	want = s3_stub_authorization(stub, request, sent);
	if (strcmp(sent, want) != 0) {
		s3_stub_error(answer, 403, "SignatureDoesNotMatch", "");
		return false;
	}
	return true;
}

/* ---- listing ---- */

S3_FN void s3_stub_list(struct s3_stub *stub, const struct http_stub_request *request,
			struct http_stub_answer *answer)
{
	cleanup_free char *prefix = s3_stub_parameter(request->target, "prefix"),
			  *delimiter = s3_stub_parameter(request->target, "delimiter"),
			  *start = s3_stub_parameter(request->target, "start-after"),
			  *token = s3_stub_parameter(request->target, "continuation-token"),
			  *most = s3_stub_parameter(request->target, "max-keys"),
			  *inner = xasprintf("?k=%s", token ? token : ""),
			  *next = s3_stub_parameter(inner, "k");
	cleanup_buf struct buf folded = BUF_INIT, keys = BUF_INIT, prefixes = BUF_INIT;
	const char *behind = token ? next : start && !stub->any_start ? start : "", *last = "";
	int left = stub->page ? stub->page : 1000;
	int gap = token                                                        ? stub->gap_token
		  : start && !(stub->gap_nowhere && s3_stub_find(stub, start)) ? stub->gap
									       : 0;
	bool truncated = false;

	if (most && atoi(most) < left && !stub->any_length)
		left = atoi(most);
	for (size_t i = 0; i < stub->object_count && !truncated; i++) {
		const struct s3_object *object = &stub->objects[i];
		const char *slash = NULL;

		if (strncmp(object->key, prefix, strlen(prefix)) != 0 ||
		    strcmp(object->key, behind) <= 0 ||
		    (stub->hides &&
		     (!strcmp(prefix, stub->hides) || !strcmp(object->key, stub->hides))))
			continue;
		if (delimiter)
			slash = strchr(object->key + strlen(prefix), '/');
		if (object->size_bytes < 0 && !slash)
			continue; /* as MinIO: its directory is listed */
		if (slash && folded.len_bytes &&
		    !strncmp(object->key, folded.data, folded.len_bytes)) {
			last = object->key;
			continue;
		}
		buf_clear(&folded);
		if (slash)
			buf_add(&folded, object->key, (size_t)(slash - object->key) + 1);
		if (gap > 0) {
			gap--;
			continue;
		}
		truncated = !left-- || (stub->aligned && *last && i % (size_t)stub->page == 0);
		if (truncated)
			break;
		last = object->key;
		if (slash) {
			buf_addstr(&prefixes, "<CommonPrefixes><Prefix>");
			percent_encode(&prefixes, folded.data, true);
			buf_addstr(&prefixes, "</Prefix></CommonPrefixes>");
			continue;
		}
		buf_addstr(&keys, "<Contents><Key>");
		percent_encode(&keys, object->key, true);
		buf_addf(&keys,
			 "</Key><LastModified>2026-03-01T12:00:00.000Z</LastModified>"
			 "<ETag>x</ETag><Size>%jd</Size></Contents>",
			 (intmax_t)object->size_bytes);
	}
	buf_addf(&answer->body, "<ListBucketResult><IsTruncated>%s</IsTruncated><Prefix>",
		 truncated ? "true" : "false");
	percent_encode(&answer->body, prefix, true);
	buf_addstr(&answer->body, "</Prefix>");
	if (truncated) {
		buf_addstr(&answer->body, "<NextContinuationToken>");
		percent_encode(&answer->body, last, false);
		buf_addstr(&answer->body, "</NextContinuationToken>");
	}
	buf_addf(&answer->body, "<EncodingType>url</EncodingType>%s%s</ListBucketResult>",
		 buf_str(&keys), buf_str(&prefixes));
}

/* ---- objects ---- */

S3_FN void s3_stub_bytes(const struct s3_object *object, const char *range,
			 struct http_stub_answer *answer)
{
	int64_t first = 0, last = object->size_bytes - 1;

	if (range) {
		sscanf(range, "bytes=%jd-%jd", &first, &last);
		if (first >= object->size_bytes) {
			s3_stub_error(answer, 416, "InvalidRange", "");
			return;
		}
		if (last >= object->size_bytes)
			last = object->size_bytes - 1;
		answer->status = 206;
		buf_addf(&answer->headers, "Content-Range: bytes %jd-%jd/%jd\r\n", (intmax_t)first,
			 (intmax_t)last, (intmax_t)object->size_bytes);
	}
	for (int64_t at = first; at <= last; at++)
		buf_addch(&answer->body, (char)at);
}

S3_FN void s3_stub_object(struct s3_stub *stub, const struct http_stub_request *request,
			  struct http_stub_answer *answer)
{
	cleanup_free char *range = s3_stub_header(request->head, "Range"),
			  *match = s3_stub_header(request->head, "If-Match"),
			  *target = xasprintf("?k=%s", request->target + strlen("/b/")),
			  *key = s3_stub_parameter(target, "k");
	const struct s3_object *object = s3_stub_find(stub, key);
	bool head = !strcmp(request->method, "HEAD");

	if (!object || object->size_bytes < 0) {
		s3_stub_error(answer, 404, "NoSuchKey",
			      "<Message>The specified key does not exist.</Message>");
		return;
	}
	if (match && strcmp(match, object->etag) != 0) {
		s3_stub_error(answer, 412, "PreconditionFailed", "");
		return;
	}
	buf_addf(&answer->headers, "ETag: %s\r\n", object->etag);
	s3_stub_date(answer, "Last-Modified", S3_STUB_TIME_MS);
	s3_stub_bytes(object, head ? NULL : range, answer);
}

/* On the stub's thread. */
S3_FN void s3_stub_on_request(void *ctx, const struct http_stub_request *request,
			      struct http_stub_answer *answer)
{
	struct s3_stub *stub = ctx;
	bool head = !strcmp(request->method, "HEAD");

	pthread_mutex_lock(&stub->lock);
	buf_addf(&stub->seen, "%s %s\n", request->method, request->target);
	buf_clear(&stub->last_head);
	buf_addstr(&stub->last_head, request->head);
	if (!strncmp(request->target, "/b?", 3))
		stub->lists++;
	else if (head)
		stub->heads++;
	else
		stub->gets++;
	if ((!stub->fault || !stub->fault(stub, request, answer)) &&
	    s3_stub_may(stub, request, answer)) {
		if (!strncmp(request->target, "/b?", 3))
			s3_stub_list(stub, request, answer);
		else if (!strncmp(request->target, "/b/", 3))
			s3_stub_object(stub, request, answer);
		else
			s3_stub_error(answer, 404, "NoSuchBucket",
				      "<Message>The specified bucket does not exist</Message>");
	}
	if (head && answer->status >= 400)
		buf_clear(&answer->body); /* no body, no type of it, no length */
	pthread_mutex_unlock(&stub->lock);
}

/* ---- life ---- */

S3_FN struct s3_stub *s3_stub_new(void)
{
	struct s3_stub *stub = xcalloc(1, sizeof(*stub));

	pthread_mutex_init(&stub->lock, NULL);
	stub->secret = S3_STUB_SECRET;
	stub->http = http_stub_new(s3_stub_on_request, stub);
	snprintf(stub->url, sizeof(stub->url), "http://127.0.0.1:%d", http_stub_port(stub->http));
	return stub;
}

S3_FN void s3_stub_free(struct s3_stub *stub)
{
	http_stub_free(stub->http);
	for (size_t i = 0; i < stub->object_count; i++)
		free(stub->objects[i].key);
	buf_release(&stub->seen);
	buf_release(&stub->last_head);
	pthread_mutex_destroy(&stub->lock);
	free(stub);
}

/* Number of requests since the last call. */
S3_FN int s3_stub_requests(struct s3_stub *stub)
{
	int count;

	pthread_mutex_lock(&stub->lock);
	count = stub->lists + stub->heads + stub->gets;
	stub->lists = stub->heads = stub->gets = 0;
	pthread_mutex_unlock(&stub->lock);
	return count;
}

#endif
