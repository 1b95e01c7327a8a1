#include "kube/kube_client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kube/kube.h"
#include "kube/kube_token.h"

#if defined(__x86_64__)
#define ARCH "amd64"
#elif defined(__aarch64__)
#define ARCH "arm64"
#else
#define ARCH "other"
#endif
#define USER_AGENT "drey/" DREY_VERSION " (linux/" ARCH ")"

#define REQUEST_MILLI 1000 /* one request in the bucket */

struct idle {
	struct http *http;
	int64_t since_ms;
};

struct kube_client {
	struct kube_target config;
	pthread_mutex_t lock; /* all below */
	int users;
	struct kube_token token;
	int64_t bucket_milli, bucket_ms;        /* thousandths of a request in it; as of when */
	struct idle idle[KUBE_CLIENT_IDLE_MAX]; /* the most recently used one comes last */
	size_t idle_count;
};

struct kube_client *kube_client_new(const struct kube_target *config, struct err *err)
{
	struct kube_client *client;
	struct http *http;

	if (kube_target_check(config, err) || kube_headers_check(config, err)) {
		err_wrap(err, "Kubernetes");
		return NULL;
	}
	client = xcalloc(1, sizeof(*client));
	pthread_mutex_init(&client->lock, NULL);
	client->users = 1;
	kube_target_copy(&client->config, config);
	kube_token_init(&client->token, config->token, config->token_file);
	client->bucket_milli = (int64_t)KUBE_BURST * REQUEST_MILLI;
	client->bucket_ms = clock_mono_ms();
	http = kube_client_take(client, err);
	if (!http) {
		err_wrap(err, "Kubernetes");
		kube_client_free(client);
		return NULL;
	}
	kube_client_give(client, http);
	return client;
}

struct kube_client *kube_client_share(struct kube_client *client)
{
	pthread_mutex_lock(&client->lock);
	client->users++;
	pthread_mutex_unlock(&client->lock);
	return client;
}

void kube_client_free(struct kube_client *client)
{
	int users;

	if (!client)
		return;
	pthread_mutex_lock(&client->lock);
	users = --client->users;
	pthread_mutex_unlock(&client->lock);
	if (users)
		return;
	for (size_t i = 0; i < client->idle_count; i++)
		http_free(client->idle[i].http);
	kube_token_release(&client->token);
	kube_target_release(&client->config);
	pthread_mutex_destroy(&client->lock);
	free(client);
}

const char *kube_client_namespace(const struct kube_client *client)
{
	return client->config.namespace;
}

const char *kube_client_server(const struct kube_client *client)
{
	return client->config.server;
}

/* ---- connections ---- */

static struct http *connection_new(const struct kube_target *config, struct err *err)
{
	const struct http_config http = {
		.ca_file = config->ca_file,
		.ca_pem = config->ca_pem,
		.cert_file = config->cert_file,
		.key_file = config->key_file,
		.cert_pem = config->cert_pem,
		.key_pem = config->key_pem,
		.tls_name = config->tls_server_name,
		.no_verify = config->insecure,
		.proxy = config->proxy_url,
		.direct = true,
		.user_agent = USER_AGENT,
	};

	return http_new(&http, err);
}

struct http *kube_client_take(struct kube_client *client, struct err *err)
{
	struct http *http = NULL;

	pthread_mutex_lock(&client->lock);
	if (client->idle_count)
		http = client->idle[--client->idle_count].http;
	pthread_mutex_unlock(&client->lock);
	return http ? http : connection_new(&client->config, err);
}

void kube_client_give(struct kube_client *client, struct http *http)
{
	int64_t now_ms = clock_mono_ms();
	struct http *old = NULL;

	pthread_mutex_lock(&client->lock);
	/* the first one has waited longest */
	if (client->idle_count == KUBE_CLIENT_IDLE_MAX ||
	    (client->idle_count && now_ms - client->idle[0].since_ms >= KUBE_CLIENT_IDLE_MS)) {
		old = client->idle[0].http;
		memmove(client->idle, client->idle + 1,
			--client->idle_count * sizeof(*client->idle));
	}
	client->idle[client->idle_count++] = (struct idle){http, now_ms};
	pthread_mutex_unlock(&client->lock);
	http_free(old);
}

/* ---- identity ---- */

int kube_client_token(struct kube_client *client, char **ret_text, struct err *err)
{
	const char *text;
	int rc;

	pthread_mutex_lock(&client->lock);
	rc = kube_token_get(&client->token, clock_mono_ms(), &text, err);
	if (!rc)
		*ret_text = xstrdup(text);
	pthread_mutex_unlock(&client->lock);
	return rc;
}

bool kube_client_renew(struct kube_client *client, const char *used)
{
	bool another;

	pthread_mutex_lock(&client->lock);
	kube_token_refresh(&client->token, clock_mono_ms());
	another = !xstrsame(client->token.text, used);
	pthread_mutex_unlock(&client->lock);
	return another;
}

void kube_client_headers(const struct kube_client *client, const char *token,
			 struct kube_headers *ret_headers)
{
	kube_headers_begin(ret_headers, &client->config, token);
}

/* ---- rate ---- */

int64_t kube_client_rate(struct kube_client *client, bool take)
{
	const int64_t full = (int64_t)KUBE_BURST * REQUEST_MILLI;
	int64_t now_ms = clock_mono_ms(), wait_ms;

	pthread_mutex_lock(&client->lock);
	/* KUBE_PER_SECOND requests a second are as many thousandths a millisecond */
	client->bucket_milli += (now_ms - client->bucket_ms) * KUBE_PER_SECOND;
	client->bucket_ms = now_ms;
	if (client->bucket_milli > full)
		client->bucket_milli = full;
	wait_ms = (REQUEST_MILLI - client->bucket_milli + KUBE_PER_SECOND - 1) / KUBE_PER_SECOND;
	if (take)
		client->bucket_milli -= REQUEST_MILLI;
	pthread_mutex_unlock(&client->lock);
	return wait_ms > 0 ? wait_ms : 0;
}
