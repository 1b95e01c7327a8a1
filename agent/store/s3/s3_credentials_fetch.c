/* Shared by the sources: wiping secrets; and by those that use HTTP: retries, reading keys from JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/s3/s3_credentials_internal.h"
#include "store/store_http.h"

#define KEYS_MAX_BYTES ((size_t)64 * 1024)
#define SECRET_PART    8 /* characters that occur in nothing else by chance */

void s3_wipe(char **slot)
{
	if (*slot)
		explicit_bzero(*slot, strlen(*slot));
	free(*slot);
	*slot = NULL;
}

void s3_wipe_buf(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->cap_bytes);
	buf_release(buf);
}

void s3_response_wipe(struct http_response *response)
{
	s3_wipe_buf(&response->body);
	http_response_release(response);
}

static void pause_ms(int64_t ms)
{
	struct timespec left = {ms / 1000, ms % 1000 * 1000000};

	while (nanosleep(&left, &left) < 0)
		;
}

int s3_fetch(struct http *http, const struct http_request *request, int attempts,
	     struct http_response *response, struct err *err)
{
	struct http_request capped = *request;

	capped.max_bytes = KEYS_MAX_BYTES;
	for (int attempt = 1;; attempt++) {
		struct err why = {0};
		int result = http_do(http, &capped, response, &why);
		bool busy = result < 0 ? why.kind == ERR_RETRY
				       : http_status_kind(response->status) == ERR_RETRY;

		if (!busy || attempt >= attempts) {
			if (result < 0 && err)
				*err = why;
			return result;
		}
		pause_ms(store_http_pause_ms(attempt + 1, UINT32_MAX));
	}
}

int s3_hide(struct err *err, const char *secret)
{
	char part[SECRET_PART + 1]; /* its end may have been cut off */
	char *at;

	if (!err || !secret || !*secret)
		return -1;
	snprintf(part, sizeof(part), "%s", secret);
	at = strstr(err->msg, part);
	if (at)
		snprintf(at, sizeof(err->msg) - (size_t)(at - err->msg), "...");
	return -1;
}

int s3_status_err(const struct http_request *request, const struct http_response *response,
		  struct err *err)
{
	struct err why = {0};

	http_status_err(request, response, &why);
	if (why.kind == ERR_ABSENT)
		why.kind = ERR_CONFIG;
	return err_pass(err, &why);
}

void s3_printable(char *text)
{
	for (unsigned char *p = (unsigned char *)text; p && *p; p++)
		if (*p < ' ' || *p == 0x7F)
			*p = ' ';
}

/* A header may contain only visible ASCII. */
static bool is_visible(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if (*p <= ' ' || *p >= 0x7F)
			return false;
	return *text;
}

int s3_keys_take(const char *access_key, const char *secret_key, const char *session_token,
		 const char *expiration, struct s3_keys *ret_keys, struct err *err)
{
	int64_t expires_unix_ms = 0;

	if (!is_visible(access_key) || !is_visible(secret_key) ||
	    (session_token && !is_visible(session_token)))
		return err_set(err, ERR_FORMAT, 0, "the keys contain invalid characters");
	if (expiration && clock_parse_rfc3339(expiration, &expires_unix_ms, NULL) < 0)
		return err_set(err, ERR_FORMAT, 0, "the expiry of the keys is not a time");
	*ret_keys = (struct s3_keys){xstrdup(access_key), xstrdup(secret_key),
				     xstrdup(session_token), expires_unix_ms};
	return 0;
}

int s3_keys_from_json(const char *text, size_t len_bytes, struct s3_keys *ret_keys, struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, KEYS_MAX_BYTES, err);
	const char *access, *secret, *token, *expiration, *code = NULL;

	if (!doc)
		return -1;
	code = json_str(doc, "Code");
	if (code && strcmp(code, "Success") != 0)
		return err_set(err, ERR_DENIED, 0, "the answer is %.60s", code);
	token = expiration = NULL;
	if (json_need_str(doc, "AccessKeyId", &access, err) < 0 ||
	    json_need_str(doc, "SecretAccessKey", &secret, err) < 0 ||
	    json_opt_str(doc, "Token", &token, err) < 0 ||
	    json_opt_str(doc, "Expiration", &expiration, err) < 0)
		return -1;
	return s3_keys_take(access, secret, token, expiration, ret_keys, err);
}
