#include "store/swift/swift_login.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "format/swift_json.h"

#define URL_MAX_BYTES   2048
#define TOKEN_MAX_BYTES 16384
/* large enough for a whole body: a buffer that grows leaves copies behind */
#define BODY_BYTES 16384

void swift_login_wipe(char *secret)
{
	if (secret)
		explicit_bzero(secret, strlen(secret));
	free(secret);
}

/* ---- which kind ---- */

/* An address that may be printed: http or https, without anything that may contain a password. */
static bool is_plain_url(const char *url)
{
	size_t scheme = !strncmp(url, "http://", 7) ? 7 : !strncmp(url, "https://", 8) ? 8 : 0;

	if (!scheme || !url[scheme] || url[scheme] == '/' || strlen(url) >= URL_MAX_BYTES)
		return false;
	for (const char *p = url; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f || strchr("@?#\"\\", *p))
			return false;
	return true;
}

/* Without trailing slashes. The caller frees it. */
static char *trimmed(const char *url)
{
	size_t len = strlen(url);

	while (len && url[len - 1] == '/')
		len--;
	return xstrndup(url, len);
}

static int check_url(const char *url, const char *what, struct err *err)
{
	if (is_plain_url(url))
		return 0;
	return err_set(
		err, ERR_CONFIG, 0,
		"Swift: the %s is not like https://host:5000/v3: http or https, without user, query and fragment",
		what);
}

static bool ends_in(const char *url, const char *end)
{
	size_t url_len = strlen(url), end_len = strlen(end);

	return url_len >= end_len && !strcmp(url + url_len - end_len, end);
}

/* 0 and login->url set. */
static int choose_kind(struct swift_login *login, const struct swift_config *config,
		       struct err *err)
{
	cleanup_free char *url = trimmed(config->auth_url);
	bool v3 = ends_in(url, "/v3"),
	     v1 = ends_in(url, "/v1") || ends_in(url, "/v1.0") || ends_in(url, "/1.0"); /* Ceph */
	bool account = config->user && strchr(config->user, ':') && !config->project;

	if (ends_in(url, "/v2.0"))
		return err_set(err, ERR_CONFIG, 0,
			       "Swift: %s is Keystone v2, which is not supported; use its v3", url);
	if (config->application_credential_id && !v1) {
		login->kind = SWIFT_LOGIN_APPLICATION;
		if (!config->application_credential_secret)
			return err_set(err, ERR_CONFIG, 0,
				       "Swift: the application credential has no secret");
	} else {
		login->kind = v1 || (account && !v3) ? SWIFT_LOGIN_V1 : SWIFT_LOGIN_PASSWORD;
		if (!config->user || !config->password)
			return err_set(err, ERR_CONFIG, 0, "Swift: no %s for the sign-in at %s",
				       config->user ? "password" : "user", url);
	}
	if (login->kind == SWIFT_LOGIN_PASSWORD && !config->project)
		return err_set(err, ERR_CONFIG, 0, "Swift: no project for the sign-in at %s", url);
	if (login->kind == SWIFT_LOGIN_V1)
		login->url = xstrdup(url);
	else
		login->url = xasprintf("%s%s/auth/tokens", url, v3 ? "" : "/v3");
	login->shown = store_config_shown(login->url, config->auth_url_from);
	return 0;
}

static bool is_header_text(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	return true;
}

int swift_login_init(struct swift_login *login, const struct swift_config *config, struct err *err)
{
	*login = (struct swift_login){.config = config};
	if (config->storage_url && check_url(config->storage_url, "storage URL", err))
		return -1;
	if (config->storage_url && config->token) {
		login->kind = SWIFT_LOGIN_NONE;
		if (!is_header_text(config->token))
			return err_set(err, ERR_CONFIG, 0, "Swift: the token is invalid");
		return 0;
	}
	if (!config->auth_url)
		return err_set(
			err, ERR_CONFIG, 0,
			"Swift: no address for the sign-in (set storage.swift.authUrl, OS_AUTH_URL or ST_AUTH), and no storage URL with a token");
	if (check_url(config->auth_url, "address for the sign-in", err) ||
	    choose_kind(login, config, err))
		return -1;
	if (login->kind == SWIFT_LOGIN_V1 &&
	    (!is_header_text(config->user) || !is_header_text(config->password))) {
		swift_login_release(login);
		return err_set(err, ERR_CONFIG, 0,
			       "Swift: the user or the key contains a line break");
	}
	return 0;
}

void swift_login_sent(struct swift_login *login)
{
	if (login->body.data)
		explicit_bzero(login->body.data, login->body.cap_bytes);
	buf_release(&login->body);
}

void swift_login_release(struct swift_login *login)
{
	swift_login_sent(login);
	free(login->url);
	free(login->shown);
	login->url = login->shown = NULL;
}

void swift_login_given(const struct swift_login *login, struct swift_grant *ret)
{
	ret->storage_url = trimmed(login->config->storage_url);
	ret->token = xstrdup(login->config->token);
	ret->life_ms = -1;
}

/* ---- the request ---- */

static void add_quoted(struct buf *body, const char *before, const char *text, const char *behind)
{
	buf_addstr(body, before);
	json_quote(body, text, strlen(text));
	buf_addstr(body, behind);
}

/* Written by hand: a JSON document would leave copies of the password in freed memory. */
static void make_body(struct swift_login *login)
{
	static const char room[BODY_BYTES];
	const struct swift_config *config = login->config;
	struct buf *body = &login->body;

	buf_add(body, room, sizeof(room));
	buf_clear(body);
	buf_addstr(body, "{\"auth\":{\"identity\":{\"methods\":");
	if (login->kind == SWIFT_LOGIN_APPLICATION) {
		buf_addstr(body, "[\"application_credential\"],\"application_credential\":{");
		add_quoted(body, "\"id\":", config->application_credential_id, ",");
		add_quoted(body, "\"secret\":", config->application_credential_secret, "}}}}");
		return;
	}
	buf_addstr(body, "[\"password\"],\"password\":{\"user\":{");
	add_quoted(body, "\"name\":", config->user, ",\"domain\":{");
	add_quoted(body, "\"name\":", config->user_domain ? config->user_domain : "Default", "},");
	add_quoted(body, "\"password\":", config->password, "}}},\"scope\":{\"project\":{");
	add_quoted(body, "\"name\":", config->project, ",\"domain\":{");
	add_quoted(body, "\"name\":", config->project_domain ? config->project_domain : "Default",
		   "}}}}}");
}

void swift_login_call(struct swift_login *login, struct store_call *ret_call)
{
	const struct swift_config *config = login->config;
	char **headers = ret_call->headers;

	ret_call->url = xstrdup(login->url);
	ret_call->server = xstrdup(login->shown);
	ret_call->max_bytes = SWIFT_JSON_AUTH_MAX_BYTES;
	if (login->kind == SWIFT_LOGIN_V1) {
		ret_call->method = "GET";
		headers[ret_call->header_count++] = xasprintf("X-Auth-User: %s", config->user);
		headers[ret_call->header_count++] = xasprintf("X-Auth-Key: %s", config->password);
		return;
	}
	swift_login_sent(login);
	make_body(login);
	ret_call->method = "POST";
	ret_call->body = login->body.data;
	ret_call->body_len_bytes = login->body.len_bytes;
	headers[ret_call->header_count++] = xstrdup("Content-Type: application/json");
	headers[ret_call->header_count++] = xstrdup("Accept: application/json");
}

/* ---- the answer ---- */

/* Address and user, for messages. */
static int wrap(const struct swift_login *login, struct err *err)
{
	if (login->kind == SWIFT_LOGIN_APPLICATION)
		return err_wrap(err, "%s with the application credential %.64s", login->shown,
				login->config->application_credential_id);
	return err_wrap(err, "%s as '%.64s'", login->shown, login->config->user);
}

static enum store_verdict refuse_login(const struct swift_login *login, enum err_kind kind,
				       int status, const char *why, struct err *err)
{
	err_set(err, kind, 0, "HTTP %d: %s", status, why);
	wrap(login, err);
	return kind == ERR_RETRY ? STORE_BUSY : STORE_FAILED;
}

static enum store_verdict judge_status(const struct swift_login *login, int status, struct err *err)
{
	if (status >= 200 && status < 300)
		return STORE_DONE;
	if (status == 401)
		return refuse_login(login, ERR_DENIED, status, "wrong user or password", err);
	if (status == 403)
		return refuse_login(login, ERR_DENIED, status, "access denied", err);
	if (status == 400)
		return refuse_login(login, ERR_CONFIG, status,
				    "the server did not understand the sign-in", err);
	if (status == 404)
		return refuse_login(login, ERR_CONFIG, status,
				    "there is no sign-in service at this address", err);
	if (status >= 300 && status < 400)
		return refuse_login(login, ERR_CONFIG, status,
				    "a redirect, which drey does not follow", err);
	if (status == 498 || http_status_kind(status) == ERR_RETRY)
		return refuse_login(login, ERR_RETRY, status, "busy", err);
	return refuse_login(login, ERR_FORMAT, status, "not a valid answer to a sign-in", err);
}

/* A required header, whole, in printable ASCII. The caller frees it. */
static char *take_header(const struct http_response *response, const char *name, size_t max_bytes,
			 struct err *err)
{
	char *value = xcalloc(max_bytes, 1);
	size_t len;

	if (!http_header(response, name, value, max_bytes) || !value[0]) {
		err_set(err, ERR_FORMAT, 0, "the answer has no %s", name);
		free(value);
		return NULL;
	}
	len = strlen(value);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)value[i] <= ' ' || (unsigned char)value[i] >= 0x7f)
			len = max_bytes;
	if (len + 1 >= max_bytes) {
		err_set(err, ERR_FORMAT, 0, "%s in the answer is too long or not plain text", name);
		swift_login_wipe(value);
		return NULL;
	}
	return value;
}

static int read_v1(const struct http_response *response, struct swift_grant *ret, struct err *err)
{
	cleanup_free char *url = take_header(response, "X-Storage-Url", URL_MAX_BYTES, err);
	char seconds[24] = "";

	if (!url)
		return -1;
	ret->token = take_header(response, "X-Auth-Token", TOKEN_MAX_BYTES, err);
	if (!ret->token)
		return -1;
	ret->storage_url = trimmed(url);
	ret->life_ms = -1;
	http_header(response, "X-Auth-Token-Expires", seconds, sizeof(seconds));
	if (seconds[0] && strlen(seconds) < 12 && !seconds[strspn(seconds, "0123456789")])
		ret->life_ms = strtoll(seconds, NULL, 10) * 1000;
	return 0;
}

static int read_v3(const struct swift_login *login, const struct http_response *response,
		   struct swift_grant *ret, struct err *err)
{
	struct swift_json_token token;
	/* both times are the server's, whatever the local clock says */
	int64_t now_unix_ms =
		response->date_unix_ms >= 0 ? response->date_unix_ms : clock_unix_ms();

	ret->token = take_header(response, "X-Subject-Token", TOKEN_MAX_BYTES, err);
	if (!ret->token)
		return -1;
	if (swift_json_token(buf_str(&response->body), response->body.len_bytes,
			     login->config->region, &token, err)) {
		swift_login_wipe(ret->token);
		return -1;
	}
	ret->storage_url = token.storage_url;
	ret->life_ms = -1;
	if (token.expires_unix_ms >= 0)
		ret->life_ms = token.expires_unix_ms > now_unix_ms
				       ? token.expires_unix_ms - now_unix_ms
				       : 0;
	return 0;
}

/* The configured address takes precedence over the one in the answer; a token received over TLS is
 * not sent without TLS. */
static int settle_url(const struct swift_login *login, struct swift_grant *grant, struct err *err)
{
	if (login->config->storage_url) {
		free(grant->storage_url);
		grant->storage_url = trimmed(login->config->storage_url);
		return 0;
	}
	if (!is_plain_url(grant->storage_url))
		return err_set(err, ERR_FORMAT, 0, "the storage URL in the answer is unusable");
	if (!strncmp(login->url, "https:", 6) && strncmp(grant->storage_url, "https:", 6) != 0)
		return err_set(
			err, ERR_CONFIG, 0,
			"the storage is at %s, without TLS, so the token would be sent in clear text; set the storage URL if this is intended",
			grant->storage_url);
	return 0;
}

enum store_verdict swift_login_judge(const struct swift_login *login,
				     const struct http_response *response, struct swift_grant *ret,
				     struct err *err)
{
	enum store_verdict verdict = judge_status(login, response->status, err);
	struct swift_grant grant = {0};
	int rc;

	if (verdict != STORE_DONE)
		return verdict;
	rc = login->kind == SWIFT_LOGIN_V1 ? read_v1(response, &grant, err)
					   : read_v3(login, response, &grant, err);
	if (rc) {
		wrap(login, err);
		return STORE_FAILED;
	}
	if (settle_url(login, &grant, err)) {
		free(grant.storage_url);
		swift_login_wipe(grant.token);
		wrap(login, err);
		return STORE_FAILED;
	}
	*ret = grant;
	return STORE_DONE;
}
