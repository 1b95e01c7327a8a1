#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/sha256.h"
#include "format/s3_xml.h"
#include "store/s3/s3_store.h"
#include "store/s3/sigv4.h"

#define SKEW_MS        INT64_C(240000) /* S3 allows 15 min; less does not explain a 403 */
#define NEW_KEYS_MS    INT64_C(30000)  /* requests that were in flight with the old ones */
#define MAX_DIGITS     18
#define REGION_BYTES   64
#define SECRET_BYTES   12
#define LOCATION_BYTES 128

/* ---- requests ---- */

static void add_header(struct store_call *call, struct sigv4_header *to_sign, const char *name,
		       const char *value)
{
	if (!value)
		return;
	to_sign[call->header_count] = (struct sigv4_header){name, value};
	call->headers[call->header_count++] = xasprintf("%s: %s", name, value);
}

/* The SHA-256 of the body once more, in base64. `hex`: in the other form. */
static void encode_checksum(const char *hex, struct buf *text)
{
	unsigned char bytes[(SHA256_HEX_BYTES - 1) / 2];

	for (size_t i = 0; i < sizeof(bytes); i++)
		sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
	base64_encode(bytes, sizeof(bytes), text);
}

int s3_prepare(struct s3_store *s3, const struct s3_ask *ask, struct store_call *ret_call,
	       struct err *err)
{
	int64_t unix_s = (clock_unix_ms() + s3->clock_offset_ms) / 1000;
	/* what is signed borrows the texts of the headers */
	cleanup_buf struct buf path = BUF_INIT, authorization = BUF_INIT, checksum = BUF_INIT;
	struct store_call call = {.method = ask->method,
				  .max_bytes = ask->max_bytes,
				  .body = ask->body,
				  .body_len_bytes = ask->body_len_bytes};
	char payload[SHA256_HEX_BYTES] = SIGV4_EMPTY_SHA256;
	struct sigv4_header to_sign[ARRAY_LEN(call.headers)];
	char date[SIGV4_DATE_BYTES];
	struct sigv4_request request;

	if (s3_credentials_get(s3->credentials, &s3->keys, err))
		return -1;
	buf_addstr(&path, s3->endpoint.root);
	if (ask->key[0] || !path.len_bytes)
		buf_addch(&path, '/');
	percent_encode(&path, ask->key, true);
	sigv4_date(unix_s, date);
	if (ask->body)
		sha256_hex(ask->body, ask->body_len_bytes, payload);
	add_header(&call, to_sign, "Host", s3->endpoint.host);
	add_header(&call, to_sign, "x-amz-content-sha256", payload);
	add_header(&call, to_sign, "x-amz-date", date);
	add_header(&call, to_sign, "x-amz-security-token", s3->keys->session_token);
	add_header(&call, to_sign, "Range", ask->range);
	if (ask->checksum)
		encode_checksum(payload, &checksum);
	add_header(&call, to_sign, "x-amz-checksum-sha256",
		   ask->checksum ? buf_str(&checksum) : NULL);
	add_header(&call, to_sign, "If-Match", ask->if_match);
	add_header(&call, to_sign, "If-None-Match", ask->if_absent ? "*" : NULL);
	request = (struct sigv4_request){
		.method = ask->method,
		.path = buf_str(&path),
		.query = ask->query,
		.headers = to_sign,
		.header_count = call.header_count,
		.payload_sha256 = payload,
		.access_key = s3->keys->access_key,
		.secret_key = s3->keys->secret_key,
		.region = s3->endpoint.region,
		.service = "s3",
		.unix_s = unix_s,
	};
	sigv4_authorization(&request, &authorization);
	call.headers[call.header_count++] = xasprintf("Authorization: %s", buf_str(&authorization));
	call.url = xasprintf("%s%s%s%s", s3->endpoint.origin, buf_str(&path), ask->query ? "?" : "",
			     ask->query ? ask->query : "");
	call.server = xstrdup(s3->endpoint.shown);
	*ret_call = call;
	return 0;
}

/* ---- answers ---- */

static bool read_number(const char **text, int64_t *ret)
{
	size_t digits = strspn(*text, "0123456789");

	if (!digits || digits > MAX_DIGITS)
		return false;
	*ret = strtoll(*text, NULL, 10);
	*text += digits;
	return true;
}

bool s3_content_range(const struct http_response *response, struct s3_content_range *ret)
{
	struct s3_content_range range = {-1, -1, -1};
	char text[80];
	const char *p = text;

	if (!http_header(response, "Content-Range", text, sizeof(text)) ||
	    strncasecmp(p, "bytes ", 6) != 0)
		return false;
	p += 6;
	if (*p == '*') {
		p++;
	} else if (!read_number(&p, &range.first) || *p++ != '-' || !read_number(&p, &range.last) ||
		   range.last < range.first) {
		return false;
	}
	if (*p++ != '/' || !read_number(&p, &range.total) || *p || range.last >= range.total)
		return false;
	*ret = range;
	return true;
}

int64_t s3_last_modified(const struct http_response *response)
{
	char text[80];
	int64_t unix_ms;

	if (!http_header(response, "Last-Modified", text, sizeof(text)))
		return 0;
	unix_ms = http_date_unix_ms(text);
	return unix_ms < 0 ? 0 : unix_ms;
}

bool s3_is_archived(const struct http_response *response)
{
	char class[32] = "", status[32] = "", restore[128] = "";

	http_header(response, "x-amz-storage-class", class, sizeof(class));
	http_header(response, "x-amz-archive-status", status, sizeof(status));
	/* MUT: an archived object counts as readable */
	if (strcmp(class, "GLACIER") != 0 && strcmp(class, "DEEP_ARCHIVE") != 0 && !status[0])
		return false;
	return !http_header(response, "x-amz-restore", restore, sizeof(restore)) ||
	       !strstr(restore, "ongoing-request=\"false\"");
}

/* ---- failures ---- */

/* All that is known about an error. */
struct failure {
	struct s3_store *s3;
	const struct s3_ask *ask;
	const struct http_response *response;
	struct s3_xml_error said;
	bool told;                 /* the text is set */
	char region[REGION_BYTES]; /* of the bucket; "" not given */
};

static bool says(const struct failure *failure, const char *const *codes)
{
	for (; *codes; codes++)
		if (!strcmp(failure->said.code, *codes))
			return true;
	return false;
}

/* The beginning is enough: messages may be cut. */
static bool holds(const char *text, const char *secret)
{
	size_t len = secret ? strnlen(secret, SECRET_BYTES) : 0;

	return len && memmem(text, strlen(text), secret, len);
}

/* A server may repeat what it received. */
static bool tells_secrets(const struct s3_store *s3, const char *text)
{
	return strcasestr(text, "Signature=") || strcasestr(text, "Credential=") ||
	       (s3->keys &&
		(holds(text, s3->keys->access_key) || holds(text, s3->keys->secret_key) ||
		 holds(text, s3->keys->session_token)));
}

/* "https://host (KEY in config.yaml): s3://bucket/key: HTTP 403 AccessDenied: Access Denied". When a file is
 * absent, or S3 is busy, the endpoint is right. */
static void describe_error(const struct failure *failure, enum err_kind kind, struct err *err)
{
	const struct s3_xml_error *said = &failure->said;
	const struct store *base = &failure->s3->base;
	bool secret =
		tells_secrets(failure->s3, said->message) || tells_secrets(failure->s3, said->code);

	err_set(err, kind, 0, "%s://%s/%s: HTTP %d%s%s%s%s", base->scheme, base->authority,
		failure->ask->key, failure->response->status, secret || !failure->told ? "" : " ",
		secret ? "" : said->code, secret || !said->message[0] ? "" : ": ",
		secret ? "" : said->message);
	if (kind != ERR_ABSENT && (kind != ERR_RETRY || !failure->told))
		err_wrap(err, "%s", failure->s3->endpoint.shown);
}

static enum store_verdict s3_request_fail(const struct failure *failure, enum err_kind kind,
					  struct err *err)
{
	describe_error(failure, kind, err);
	return STORE_FAILED;
}

static bool is_busy(const struct failure *failure)
{
	static const char *const codes[] = {"SlowDown",
					    "RequestTimeout",
					    "InternalError",
					    "ServiceUnavailable",
					    "Throttling",
					    "ThrottlingException",
					    "RequestLimitExceeded",
					    "RequestThrottled",
					    "OperationAborted",
					    "TooManyRequests",
					    "BandwidthLimitExceeded",
					    NULL};
	int status = failure->response->status;

	return status == 408 || status == 425 || status == 429 ||
	       (status >= 500 && status != 501 && status != 505) || says(failure, codes);
}

/* The bucket is elsewhere: report it, never follow. */
static bool is_elsewhere(const struct failure *failure)
{
	static const char *const codes[] = {"PermanentRedirect",
					    "TemporaryRedirect",
					    "Redirect",
					    "AuthorizationHeaderMalformed",
					    "IllegalLocationConstraintException",
					    NULL};
	int status = failure->response->status;
	bool other =
		failure->region[0] && strcmp(failure->region, failure->s3->endpoint.region) != 0;

	return (status >= 300 && status < 400 && status != 304) ||
	       (status == 400 && other && (!failure->told || says(failure, codes)));
}

/* In place: without user, query and fragment, which may contain a password or a signature. */
static const char *without_secrets(char *url)
{
	char *mark = strstr(url, "://"), *host, *user;

	url[strcspn(url, "?#")] = '\0';
	if (!mark)
		return url;
	host = mark + strlen("://");
	user = memrchr(host, '@', strcspn(host, "/"));
	if (user)
		memmove(host, user + 1, strlen(user + 1) + 1);
	return url;
}

static enum store_verdict fail_elsewhere(const struct failure *failure, struct err *err)
{
	const struct s3_store *s3 = failure->s3;
	char location[LOCATION_BYTES];
	const char *shown;

	describe_error(failure, ERR_CONFIG, err);
	if (failure->region[0] && strcmp(failure->region, s3->endpoint.region) != 0)
		return err_wrap(err, "the bucket is in the region '%s', but '%s' is configured",
				failure->region, s3->endpoint.region),
		       STORE_FAILED;
	if (failure->said.endpoint[0])
		return err_wrap(err, "use the endpoint '%s' for this bucket",
				failure->said.endpoint),
		       STORE_FAILED;
	shown = http_header(failure->response, "Location", location, sizeof(location))
			? without_secrets(location)
			: "";
	if (tells_secrets(s3, shown))
		shown = "";
	err_wrap(err, "the endpoint redirects%s%s, which drey does not follow",
		 *shown ? " to " : "", shown);
	return STORE_FAILED;
}

/* Adopt the server's clock when the local clock is too wrong for it. */
static bool corrected_clock(const struct failure *failure)
{
	static const char *const codes[] = {"RequestTimeTooSkewed", "RequestExpired",
					    "RequestInTheFuture", NULL};
	/* where a wrong date is only a possible cause */
	static const char *const maybe[] = {"SignatureDoesNotMatch", "AccessDenied",
					    "InvalidSignatureException", "AuthFailure", NULL};
	int64_t server_ms = failure->response->date_unix_ms, skew_ms;
	bool sure = says(failure, codes);

	if (server_ms < 0 || (!sure && !says(failure, maybe)))
		return false;
	skew_ms = server_ms - (clock_unix_ms() + failure->s3->clock_offset_ms);
	if (skew_ms > -SKEW_MS && skew_ms < SKEW_MS)
		return sure; /* another request corrected it while this one was in flight */
	failure->s3->clock_offset_ms += skew_ms;
	return true;
}

/* Drop keys that expired or were replaced; true when there are, or may be, others. */
static bool renewed_keys(const struct failure *failure)
{
	static const char *const codes[] = {"ExpiredToken",       "ExpiredTokenException",
					    "InvalidToken",       "TokenRefreshRequired",
					    "InvalidAccessKeyId", NULL};
	struct s3_store *s3 = failure->s3;
	int64_t now_ms = clock_mono_ms();

	if (!says(failure, codes))
		return false;
	if (s3->refused_ms && now_ms - s3->refused_ms < NEW_KEYS_MS)
		return true;
	if (!s3_credentials_refused(s3->credentials))
		return false;
	s3->refused_ms = now_ms;
	return true;
}

/* Some servers repeat the key: then it is the one that was asked for. */
static bool is_of_other_key(const struct failure *failure)
{
	const char *key = failure->said.key;

	return key[0] && strcmp(key, failure->ask->key) != 0 &&
	       strlen(key) + 1 < sizeof(failure->said.key);
}

/* A 404 that is not S3's: a proxy has no route at the moment, or there is no S3 server at all. */
static enum store_verdict fail_unmarked(const struct failure *failure, struct err *err)
{
	bool known = failure->s3->bucket_seen;

	s3_request_fail(failure, known ? ERR_RETRY : ERR_CONFIG, err);
	if (!known) {
		err_wrap(err, "is the endpoint an S3 server?");
		return STORE_FAILED;
	}
	err_wrap(err, "the answer is not one of S3: is there a proxy in between?");
	return STORE_BUSY;
}

static enum store_verdict fail_absent(const struct failure *failure, struct err *err)
{
	static const char *const key[] = {"NoSuchKey", "NotFound", NULL};
	static const char *const bucket[] = {"NoSuchBucket", NULL};
	struct s3_store *s3 = failure->s3;

	/* MUT: a 404 of S3 about another key is an absence */
	if (says(failure, key) && is_of_other_key(failure)) {
		s3_request_fail(failure, ERR_RETRY, err);
		err_wrap(err, "the answer is about another key");
		return STORE_BUSY;
	}
	if (says(failure, key)) {
		s3->bucket_seen = true;
		s3->ask_by_get = false;
		return s3_request_fail(failure, ERR_ABSENT, err);
	}
	if (says(failure, bucket)) {
		s3_request_fail(failure, ERR_CONFIG, err);
		err_wrap(err, "there is no bucket '%s'", s3->base.authority);
		return STORE_FAILED;
	}
	/* MUT: the 404 of a proxy is an absence */
	if (!failure->told)
		return fail_unmarked(failure, err);
	return s3_request_fail(failure, ERR_CONFIG, err);
}

/* Source: "GetObject" of Amazon S3: an archived object answers HEAD and is listed. */
static enum store_verdict fail_archived(const struct failure *failure, struct err *err)
{
	s3_request_fail(failure, ERR_CONFIG, err);
	err_wrap(err, "it is archived; " STORE_ARCHIVED_REMEDY);
	return STORE_FAILED;
}

static enum store_verdict s3_request_judge(const struct failure *failure, struct err *err)
{
	int status = failure->response->status;

	if (is_busy(failure)) {
		describe_error(failure, ERR_RETRY, err);
		return STORE_BUSY;
	}
	if (is_elsewhere(failure))
		return fail_elsewhere(failure, err);
	if (!strcmp(failure->ask->method, "HEAD") &&
	    (status == 400 || status == 401 || status == 403)) {
		failure->s3->ask_by_get = true;
		describe_error(failure, http_status_kind(status), err);
		return STORE_REPAIRED;
	}
	if (corrected_clock(failure) || renewed_keys(failure)) {
		describe_error(failure, ERR_DENIED, err);
		return STORE_REPAIRED;
	}
	if (status == 404)
		return fail_absent(failure, err);
	if (says(failure, (const char *const[]){"InvalidObjectState", NULL}))
		return fail_archived(failure, err);
	if (status == 401 || status == 403)
		return s3_request_fail(failure, ERR_DENIED, err);
	if (status >= 200 && status < 300) {
		s3_request_fail(failure, ERR_FORMAT, err);
		err_wrap(err, "an answer that does not fit the request");
		return STORE_FAILED;
	}
	if (says(failure, (const char *const[]){"InvalidBucketName", NULL}))
		return s3_request_fail(failure, ERR_CONFIG, err);
	if (says(failure, (const char *const[]){"ExpiredToken", "InvalidToken",
						"AuthorizationHeaderMalformed", NULL}))
		return s3_request_fail(failure, ERR_DENIED, err);
	return s3_request_fail(failure, ERR_FORMAT, err);
}

enum store_verdict s3_judge_failure(struct s3_store *s3, const struct s3_ask *ask,
				    const struct http_response *response, struct err *err)
{
	struct failure failure = {.s3 = s3, .ask = ask, .response = response};

	failure.told =
		response->body.len_bytes &&
		!s3_xml_error(response->body.data, response->body.len_bytes, &failure.said, NULL);
	if (!http_header(response, "x-amz-bucket-region", failure.region, sizeof(failure.region)))
		snprintf(failure.region, sizeof(failure.region), "%s", failure.said.region);
	if (tells_secrets(s3, failure.region))
		failure.region[0] = '\0';
	if (tells_secrets(s3, failure.said.endpoint))
		failure.said.endpoint[0] = '\0';
	return s3_request_judge(&failure, err);
}
