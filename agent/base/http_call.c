#include "base/http_call.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/http_headers.h"
#include "base/http_secrets.h"
#include "base/http_url.h"
#include "base/mem.h"

/* X509_V_ERR_... of OpenSSL, the TLS of libcurl; the two between mean an unknown issuer, too */
#define OPENSSL_SELF_SIGNED      18
#define OPENSSL_FIRST_UNVERIFIED 21

static void response_clear(struct http_response *response)
{
	buf_clear(&response->body);
	buf_clear(&response->headers);
	response->status = 0;
	response->content_type[0] = '\0';
	response->retry_after_ms = response->date_unix_ms = -1;
	response->took_ms = 0;
}

/* ---- the request ---- */

static const char *method_of(const struct http_request *request)
{
	return request->method ? request->method : "GET";
}

char *http_call_describe(const struct http_request *request)
{
	struct buf text = BUF_INIT;

	buf_addf(&text, "%.16s ", method_of(request));
	if (request->secret_url)
		http_url_tell_server(request->url, &text);
	else
		http_url_tell(request->url, &text);
	return buf_steal(&text);
}

/* ---- the answer ---- */

static bool is_success(const struct http_call *call)
{
	long status = 0;

	curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
	return status >= 200 && status < 300;
}

static size_t on_body(char *data, size_t size, size_t count, void *arg)
{
	struct http_call *call = arg;
	size_t len = size * count;

	call->heard_ms = clock_mono_ms();
	if (call->request.on_data && is_success(call)) {
		call->refused = call->request.on_data(call->request.on_data_ctx, data, len) < 0;
		return call->refused ? 0 : len;
	}
	if (len > call->max_bytes - call->response->body.len_bytes) {
		call->body_too_large = true;
		return 0;
	}
	buf_add(&call->response->body, data, len);
	return len;
}

static size_t on_header(char *data, size_t size, size_t count, void *arg)
{
	struct http_call *call = arg;
	struct buf *headers = &call->response->headers;
	size_t len = size * count;

	call->heard_ms = clock_mono_ms();
	/* "100 Continue" comes before the answer */
	if (len > 5 && !memcmp(data, "HTTP/", 5))
		buf_clear(headers);
	if (len > HTTP_MAX_HEADER_BYTES - headers->len_bytes) {
		call->headers_too_large = true;
		return 0;
	}
	buf_add(headers, data, len);
	return len;
}

/* ---- the call ---- */

static bool names_header(const struct http_request *request, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < request->header_count; i++)
		if (!strncasecmp(request->headers[i], name, len) && request->headers[i][len] == ':')
			return true;
	return false;
}

static struct curl_slist *add_line(struct curl_slist *list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(list, line);

	if (!longer)
		abort();
	return longer;
}

/* The caller frees with curl_slist_free_all(). */
static struct curl_slist *header_list(const struct http_request *request)
{
	struct curl_slist *list = NULL;

	for (size_t i = 0; i < request->header_count; i++)
		list = add_line(list, request->headers[i]);
	/* a name without a value takes out what libcurl would add */
	list = add_line(list, "Expect:");
	if (!names_header(request, "Content-Type"))
		list = add_line(list, "Content-Type:");
	return list;
}

static void set_method(CURL *curl, const struct http_request *request)
{
	const char *method = method_of(request);
	bool post = !strcmp(method, "POST");
	bool empty_body = post || !strcmp(method, "PUT") || !strcmp(method, "PATCH");

	if (!strcmp(method, "HEAD"))
		curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
	else if (strcmp(method, "GET") != 0 || request->body)
		curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
	if (request->body || empty_body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body ? request->body : "");
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
				 (curl_off_t)(request->body ? request->body_len_bytes : 0));
	}
	/* libcurl sends a request again when a reused connection turns out to be dead, and cannot
	 * know whether the first one was acted upon: what is not idempotent gets its own */
	if (request->once || (!request->repeatable && (post || !strcmp(method, "PATCH"))))
		curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, 1L);
	if (request->once)
		curl_easy_setopt(curl, CURLOPT_FORBID_REUSE, 1L);
}

/* libcurl copies it. */
static void set_blob(CURL *curl, CURLoption option, const char *pem)
{
	struct curl_blob blob = {.data = (void *)pem, .len = strlen(pem), .flags = CURL_BLOB_COPY};

	curl_easy_setopt(curl, option, &blob);
}

static void set_tls(CURL *curl, const struct http *http)
{
	if (http->system_ca) {
		curl_easy_setopt(curl, CURLOPT_CAINFO, http->system_ca);
		curl_easy_setopt(curl, CURLOPT_PROXY_CAINFO, http->system_ca);
	}
	if (http->ca_file || http->ca_pem) {
		/* with CAINFO alone Debian's default CAPATH keeps every public CA trusted */
		curl_easy_setopt(curl, CURLOPT_CAPATH, (char *)NULL);
		if (http->ca_file)
			curl_easy_setopt(curl, CURLOPT_CAINFO, http->ca_file);
		else
			set_blob(curl, CURLOPT_CAINFO_BLOB, http->ca_pem);
#if LIBCURL_VERSION_NUM >= 0x075700
		/* and without a CAPATH libcurl would not notice a rotated file for a day */
		curl_easy_setopt(curl, CURLOPT_CA_CACHE_TIMEOUT, 0L);
#endif
		if (http->any_name)
			curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
		/* a resumed session is not verified again */
		curl_easy_setopt(curl, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	}
	if (http->no_verify) {
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (http->cert_file) {
		curl_easy_setopt(curl, CURLOPT_SSLCERT, http->cert_file);
		curl_easy_setopt(curl, CURLOPT_SSLKEY, http->key_file);
	}
	if (http->cert_pem) {
		set_blob(curl, CURLOPT_SSLCERT_BLOB, http->cert_pem);
		set_blob(curl, CURLOPT_SSLKEY_BLOB, http->key_pem);
	}
}

/*
 * The certificate's name stands where the host would, and the connection goes to the host. The
 * server is still told the host by which it was called.
 */
static int set_tls_name(struct http_call *call, const char *tls_name)
{
	CURLU *parts = curl_url();
	char *host = NULL, *port = NULL, *url = NULL;
	int rc = -1;

	if (parts && !curl_url_set(parts, CURLUPART_URL, call->request.url, CURLU_PATH_AS_IS) &&
	    !curl_url_get(parts, CURLUPART_HOST, &host, 0) &&
	    !curl_url_get(parts, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) &&
	    !curl_url_set(parts, CURLUPART_HOST, tls_name, 0) &&
	    !curl_url_get(parts, CURLUPART_URL, &url, 0)) {
		cleanup_free char *to = xasprintf("::%s:%s", host, port);
		cleanup_free char *named = xasprintf("Host: %s:%s", host, port);

		call->connect_to = add_line(NULL, to);
		call->headers = add_line(call->headers, named);
		curl_easy_setopt(call->curl, CURLOPT_CONNECT_TO, call->connect_to);
		curl_easy_setopt(call->curl, CURLOPT_URL, url);
		rc = 0;
	}
	curl_free(host);
	curl_free(port);
	curl_free(url);
	curl_url_cleanup(parts);
	return rc;
}

static void set_options(CURL *curl, const struct http *http, const struct http_request *request)
{
	int64_t timeout_ms = request->timeout_ms ? request->timeout_ms : HTTP_TIMEOUT_MS;
	int64_t connect_ms =
		request->connect_timeout_ms ? request->connect_timeout_ms : HTTP_CONNECT_TIMEOUT_MS;

	curl_easy_setopt(curl, CURLOPT_URL, request->url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)connect_ms);
	curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* object names may contain ".." */
	curl_easy_setopt(curl, CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
	curl_easy_setopt(curl, CURLOPT_USERAGENT,
			 http->user_agent ? http->user_agent : "drey/" DREY_VERSION);
	/* a peer that is silently gone is noticed, and a long silence keeps its place in a NAT */
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPIDLE, 30L);
	curl_easy_setopt(curl, CURLOPT_TCP_KEEPINTVL, 15L);
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
#if LIBCURL_VERSION_NUM >= 0x075700
	/* do not wait for the thread of a slow name lookup */
	curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
#endif
	if (http->proxy)
		curl_easy_setopt(curl, CURLOPT_PROXY, http->proxy);
	else if (http->direct || http_url_is_loopback(request->url))
		curl_easy_setopt(curl, CURLOPT_PROXY, "");
	set_method(curl, request);
	set_tls(curl, http);
}

static enum err_kind kind_of_code(CURLcode code)
{
	switch (code) {
	case CURLE_URL_MALFORMAT:
	case CURLE_LOGIN_DENIED:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_ENGINE_NOTFOUND:
	case CURLE_BAD_FUNCTION_ARGUMENT: /* a key that does not fit, from libcurl 8.20 on */
		return ERR_CONFIG;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
#if LIBCURL_VERSION_NUM >= 0x074D00
	case CURLE_SSL_CLIENTCERT:
#endif
		return ERR_DENIED;
	case CURLE_WRITE_ERROR: /* our callbacks: a cap */
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9; a URL's scheme was checked before */
	case CURLE_BAD_CONTENT_ENCODING:
	case CURLE_FILESIZE_EXCEEDED:
	case CURLE_TOO_MANY_REDIRECTS:
		return ERR_FORMAT;
	default:
		return ERR_RETRY;
	}
}

static int check_request(const struct http_request *request, struct err *err)
{
	const char *method = method_of(request);
	struct buf told = BUF_INIT;
	bool url_ok = http_url_tell(request->url, &told);

	url_ok = url_ok && (!strncmp(buf_str(&told), "http://", 7) ||
			    !strncmp(buf_str(&told), "https://", 8));
	buf_release(&told);
	if (!url_ok)
		return err_set(err, ERR_CONFIG, 0, "not an http or https URL");
	if (!*method || method[strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")])
		return err_set(err, ERR_CONFIG, 0, "not an HTTP method");
	for (size_t i = 0; i < request->header_count; i++)
		if (strpbrk(request->headers[i], "\r\n"))
			return err_set(err, ERR_CONFIG, 0, "a line break in a header");
	return 0;
}

/*
 * libcurl writes down the first thing that goes wrong. When that was the loss of a kept connection,
 * and the next one is not trusted, the more telling half would be missing.
 */
static const char *detail_of(const struct http_call *call)
{
	bool stale = kind_of_code(call->code) == ERR_DENIED && !strstr(call->detail, "certificate");

	return *call->detail && !stale ? call->detail : curl_easy_strerror(call->code);
}

/* Nobody who is trusted has signed the certificate; not: it has expired, or is that of another host. */
static bool is_unknown_ca(const struct http_call *call)
{
	long result = 0;

	if (call->code != CURLE_PEER_FAILED_VERIFICATION)
		return false;
	curl_easy_getinfo(call->curl, CURLINFO_SSL_VERIFYRESULT, &result);
	return result >= OPENSSL_SELF_SIGNED && result <= OPENSSL_FIRST_UNVERIFIED;
}

static void say_why(const struct http *http, const struct http_call *call, struct err *err)
{
	bool hint = http->ca_setting && is_unknown_ca(call);
	cleanup_free char *detail = NULL;
	long sys = 0;

	if (call->body_too_large) {
		err_set(err, ERR_FORMAT, 0, "the answer is larger than %zu bytes", call->max_bytes);
		if (err)
			err->sys = EFBIG;
	} else if (call->refused) {
		err_set(err, ERR_FORMAT, 0, "the answer is not what was asked for");
	} else if (call->headers_too_large) {
		err_set(err, ERR_FORMAT, 0, "the answer's header is larger than %d bytes",
			HTTP_MAX_HEADER_BYTES);
	} else {
		if (call->code == CURLE_COULDNT_CONNECT)
			curl_easy_getinfo(call->curl, CURLINFO_OS_ERRNO, &sys);
		/* of a proxy with a scheme that libcurl does not know, it tells the whole URL */
		detail = xstrdup(detail_of(call));
		http_url_hide_users(detail);
		err_set(err, kind_of_code(call->code), (int)sys, "%s%s%s", detail,
			hint ? "; give the CA of this server in " : "",
			hint ? http->ca_setting : "");
	}
}

/* ---- begin, wait, end ---- */

static int wrap(struct err *err, const struct http_request *request)
{
	cleanup_free char *what = http_call_describe(request);

	return err_wrap(err, "%s", what);
}

int http_call_begin(struct http *http, struct http_call *call, const struct http_request *request,
		    struct http_response *response, struct err *err)
{
	CURL *curl;

	*call = (struct http_call){.request = *request, .response = response};
	response_clear(response);
	if (check_request(request, err))
		return wrap(err, request);
	call->max_bytes = request->max_bytes ? request->max_bytes : HTTP_MAX_BYTES;
	call->start_ms = call->heard_ms = clock_mono_ms();
	call->headers = header_list(request);
	curl = call->curl = http->idle_count ? http->idle[--http->idle_count] : curl_easy_init();
	if (!curl)
		abort();
	set_options(curl, http, request);
	if (http->tls_name && set_tls_name(call, http->tls_name)) {
		http_call_abort(http, call);
		err_set(err, ERR_CONFIG, 0, "'%.100s' is not a name of a server", http->tls_name);
		return wrap(err, request);
	}
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, call->headers);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, call->detail);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(curl, CURLOPT_PRIVATE, call);
	if (curl_multi_add_handle(http->multi, curl))
		abort();
	return 0;
}

int64_t http_call_left_ms(const struct http_call *call)
{
	int64_t stall_ms = call->request.stall_ms;

	return stall_ms ? call->heard_ms + stall_ms - clock_mono_ms() : INT64_MAX;
}

const char *http_call_hopeless(const struct http *http, const struct http_call *call)
{
	const atomic_bool *cancelled = call->request.cancelled;

	if (http_stopped(http) || (cancelled && atomic_load(cancelled)))
		return "stopped";
	return http_call_left_ms(call) <= 0 ? "the server fell silent" : NULL;
}

void http_calls_wait(struct http *http, int64_t timeout_ms)
{
	CURLMsg *message;
	bool ended = false;
	int count;

	if (curl_multi_perform(http->multi, &count))
		abort();
	while ((message = curl_multi_info_read(http->multi, &count))) {
		struct http_call *call = NULL;

		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
		call->code = message->data.result;
		call->ended = ended = true;
	}
	/* wakes for libcurl's own timeouts too */
	if (!ended && curl_multi_poll(http->multi, NULL, 0, (int)timeout_ms, NULL))
		abort();
}

void http_call_abort(struct http *http, struct http_call *call)
{
	if (!call->curl)
		return;
	curl_multi_remove_handle(http->multi, call->curl);
	/* nothing of the caller's may stay in the handle */
	curl_easy_reset(call->curl);
	if (http->idle_count < ARRAY_LEN(http->idle))
		http->idle[http->idle_count++] = call->curl;
	else
		curl_easy_cleanup(call->curl);
	curl_slist_free_all(call->headers);
	curl_slist_free_all(call->connect_to);
	call->headers = call->connect_to = NULL;
	call->curl = NULL;
}

int http_call_give_up(struct http *http, struct http_call *call, const char *why, struct err *err)
{
	http_call_abort(http, call);
	response_clear(call->response);
	err_set(err, ERR_RETRY, 0, "%s", why);
	return wrap(err, &call->request);
}

int http_call_end(struct http *http, struct http_call *call, struct err *err)
{
	struct http_response *response = call->response;
	long status = 0;

	curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
	if (call->code)
		say_why(http, call, err);
	http_call_abort(http, call);
	if (call->code) {
		response_clear(response);
		return wrap(err, &call->request);
	}
	response->status = (int)status;
	response->took_ms = clock_mono_ms() - call->start_ms;
	http_headers_read(response);
	if (status / 100 != 2) {
		http_secrets_remove(&call->request, &response->body);
		http_secrets_remove(&call->request, &response->headers);
	}
	return 0;
}
