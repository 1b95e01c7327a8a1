#include "base/http.h"

#include <pthread.h>
#include <string.h>
#include <strings.h>

#include "base/ca_bundle.h"
#include "base/clock.h"
#include "base/http_call.h"
#include "base/mem.h"
#include "base/secret.h"

/*
 * Debian's libcurl brings GnuTLS along, for protocols that are never used here, and GnuTLS sets itself up
 * before main(): 0.8 MB. An executable that exports this function (gnutls.h, GNUTLS_SKIP_GLOBAL_INIT) is
 * spared that; code that uses GnuTLS anyway must set it up itself.
 */
__attribute__((visibility("default"))) int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void)
{
	return 1;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void global_init(void)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		abort();
}

/* NULL: libcurl was built with the places of this distribution. */
static char *find_system_ca(void)
{
	const curl_version_info_data *built = curl_version_info(CURLVERSION_NOW);

	return built->cainfo || built->capath ? NULL : ca_bundle_find("");
}

static int check_config(const struct http_config *config, struct err *err)
{
	if (!config->cert_file != !config->key_file || !config->cert_pem != !config->key_pem)
		return err_set(err, ERR_CONFIG, 0, "a client certificate and its key go together");
	if ((config->ca_file && config->ca_pem) || (config->cert_file && config->cert_pem))
		return err_set(err, ERR_CONFIG, 0, "a certificate is given as a file and as text");
	if (config->any_name && !config->ca_file && !config->ca_pem)
		return err_set(err, ERR_CONFIG, 0, "no CA is given for a server of any name");
	if (config->no_verify && (config->ca_file || config->ca_pem))
		return err_set(err, ERR_CONFIG, 0,
			       "a CA is given, and the certificate is not to be checked");
	return 0;
}

struct http *http_new(const struct http_config *config, struct err *err)
{
	/* libcurl before 7.84 wants this before there are two users */
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct http *http;

	if (config && check_config(config, err))
		return NULL;
	pthread_once(&once, global_init);
	http = xcalloc(1, sizeof(*http));
	http->multi = curl_multi_init();
	if (!http->multi)
		abort();
	/* kept when idle; libcurl's own limit follows the number of calls under way */
	curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)HTTP_MAX_IN_FLIGHT);
#if LIBCURL_VERSION_NUM >= 0x081400
	/* name lookups belong to the multi handle: as CURLOPT_QUICK_EXIT before (http_call.c) */
	curl_multi_setopt(http->multi, CURLMOPT_QUICK_EXIT, 1L);
#endif
	http->system_ca = find_system_ca();
	if (config) {
		http->ca_file = xstrdup(config->ca_file);
		http->cert_file = xstrdup(config->cert_file);
		http->key_file = xstrdup(config->key_file);
		http->ca_pem = xstrdup(config->ca_pem);
		http->cert_pem = xstrdup(config->cert_pem);
		http->key_pem = xstrdup(config->key_pem);
		http->tls_name = xstrdup(config->tls_name);
		http->ca_setting = xstrdup(config->ca_setting);
		http->proxy = xstrdup(config->proxy);
		http->user_agent = xstrdup(config->user_agent);
		http->direct = config->direct;
		http->any_name = config->any_name;
		http->no_verify = config->no_verify;
	}
	return http;
}

void http_free(struct http *http)
{
	if (!http)
		return;
	for (size_t i = 0; i < http->idle_count; i++)
		curl_easy_cleanup(http->idle[i]);
	curl_multi_cleanup(http->multi);
	free(http->system_ca);
	free(http->ca_file);
	free(http->cert_file);
	free(http->key_file);
	free(http->ca_pem);
	free(http->cert_pem);
	secret_free(http->key_pem);
	free(http->tls_name);
	free(http->ca_setting);
	free(http->proxy);
	free(http->user_agent);
	free(http);
}

static bool renew(char **pem, const char *text)
{
	if (xstrsame(*pem, text))
		return false;
	xstrset(pem, text);
	return true;
}

bool http_renew(struct http *http, const char *ca_pem, const char *cert_pem, const char *key_pem)
{
	bool other = renew(&http->ca_pem, ca_pem);

	other |= renew(&http->cert_pem, cert_pem);
	return renew(&http->key_pem, key_pem) || other;
}

void http_stop(struct http *http)
{
	atomic_store(&http->stopped, true);
	curl_multi_wakeup(http->multi);
}

void http_wake(struct http *http)
{
	atomic_store(&http->woken, true);
	curl_multi_wakeup(http->multi);
}

bool http_stopped(const struct http *http)
{
	return atomic_load(&http->stopped);
}

int http_pause(struct http *http, int64_t pause_ms, struct err *err)
{
	int64_t until_ms = clock_mono_ms() + pause_ms, now_ms;

	while (!http_stopped(http) && (now_ms = clock_mono_ms()) < until_ms)
		curl_multi_poll(http->multi, NULL, 0, (int)least(until_ms - now_ms, 60000), NULL);
	return http_stopped(http) ? err_set(err, ERR_RETRY, 0, "stopped") : 0;
}

void http_response_release(struct http_response *response)
{
	buf_release(&response->body);
	buf_release(&response->headers);
	*response = (struct http_response){0};
}

int http_do(struct http *http, const struct http_request *request, struct http_response *response,
	    struct err *err)
{
	struct http_call call;

	if (http_call_begin(http, &call, request, response, err))
		return -1;
	while (!call.ended) {
		const char *why = http_call_hopeless(http, &call);

		if (why)
			return http_call_give_up(http, &call, why, err);
		http_calls_wait(http, least(http_call_left_ms(&call), HTTP_WAIT_MAX_MS));
	}
	return http_call_end(http, &call, err);
}

enum err_kind http_status_kind(int status)
{
	switch (status) {
	case 404:
		return ERR_ABSENT;
	case 401:
	case 403:
		return ERR_DENIED;
	case 409:
		return ERR_BUSY;
	case 408:
	case 425:
	case 429:
		return ERR_RETRY;
	default:
		if (status >= 200 && status < 300)
			return ERR_NONE;
		return status >= 500 ? ERR_RETRY : ERR_FORMAT;
	}
}

int http_status_err(const struct http_request *request, const struct http_response *response,
		    struct err *err)
{
	cleanup_free char *what = http_call_describe(request);
	char text[160];
	size_t len = 0;

	/* a page of HTML says nothing that fits a line */
	if (strcmp(response->content_type, "text/html") != 0)
		for (const char *p = buf_str(&response->body); *p && len < sizeof(text) - 1; p++)
			text[len++] = (unsigned char)*p < ' ' || *p == 0x7F ? ' ' : *p;
	text[len] = '\0';
	return err_set(err, http_status_kind(response->status), 0, "%s: HTTP %d%s%s", what,
		       response->status, len ? ": " : "", text);
}
