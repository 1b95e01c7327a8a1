#include "kube/kube_watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/percent.h"
#include "kube/kube.h"
#include "kube/watch_object.h"
#include "kube/watch_stream.h"

/* How long the server is asked to keep a watch open: a random time between these, so that they do
 * not all end together. */
enum { LEAST_S = 300, MOST_S = 600 };
#define AFTER_S    30      /* after this time drey ends it */
#define CALM_MS    10000   /* a watch that lasted this long has not failed */
#define NOTHING_MS 3600000 /* while there is nothing to begin */

/* What a request needs until it has ended. */
struct asking {
	bool list; /* else: watch */
	char *url, *path, *token;
	struct kube_headers headers;
	int64_t begin_ms;
	struct watch_stream stream;
	struct err bad; /* why the stream is not followed; .kind ERR_NONE: it is */
};

struct kube_watch {
	struct kube_watches *watches;
	int64_t stall_ms;

	/* the thread's */
	struct watch_object object;
	struct asking asking;
	bool busy;
	bool renewed;   /* the token, since the last answer that was not 401 */
	int64_t due_ms; /* the next request, unless `busy` */
	int failures;   /* in a row */

	/* the loop's thread */
	struct loop_fd *ready;
	void (*changed)(void *ctx);
	void *ctx;
	int ready_fd; /* eventfd */

	atomic_bool removed; /* the thread frees it */
	/* of watches->lock */
	struct kube_watch_counts counts;
	struct json *news; /* not taken yet */
	struct kube_watch *next;
};

struct kube_watches {
	struct kube_client *client;
	struct loop *loop;
	struct http *http; /* NULL: there is no thread yet */
	pthread_t thread;
	pthread_mutex_t lock; /* the rest */
	struct kube_watch *first;
};

static void release(struct kube_watch *watch)
{
	close(watch->ready_fd);
	watch_object_release(&watch->object);
	json_free(watch->news);
	free(watch);
}

/* ---- telling ---- */

static void wake(struct kube_watch *watch)
{
	uint64_t one = 1;

	pthread_mutex_lock(&watch->watches->lock);
	json_free(watch->news);
	watch->news = watch->object.kept;
	watch->object.kept = NULL;
	pthread_mutex_unlock(&watch->watches->lock);
	(void)!write(watch->ready_fd, &one, sizeof(one));
}

static void on_ready(void *arg, int fd, unsigned events)
{
	struct kube_watch *watch = arg;
	uint64_t count;

	(void)events;
	if (read(fd, &count, sizeof(count)) == sizeof(count))
		watch->changed(watch->ctx);
}

struct kube_watch_counts kube_watch_counts(struct kube_watch *watch)
{
	struct kube_watch_counts counts;

	pthread_mutex_lock(&watch->watches->lock);
	counts = watch->counts;
	pthread_mutex_unlock(&watch->watches->lock);
	return counts;
}

struct json *kube_watch_take(struct kube_watch *watch)
{
	struct json *news;

	pthread_mutex_lock(&watch->watches->lock);
	news = watch->news;
	watch->news = NULL;
	pthread_mutex_unlock(&watch->watches->lock);
	return news;
}

bool kube_watch_holds(struct kube_watch *watch)
{
	struct kube_watch_counts counts = kube_watch_counts(watch);

	return counts.watches && !counts.failures &&
	       clock_mono_ms() - counts.heard_ms < KUBE_WATCH_HEARD_MS;
}

static void count(struct kube_watch *watch, int lists, int watches, int events)
{
	pthread_mutex_lock(&watch->watches->lock);
	watch->counts.lists += lists;
	watch->counts.watches += watches;
	watch->counts.events += events;
	watch->counts.heard_ms = clock_mono_ms();
	pthread_mutex_unlock(&watch->watches->lock);
}

static void note(struct kube_watch *watch, const struct err *why)
{
	pthread_mutex_lock(&watch->watches->lock);
	watch->counts.failures = watch->failures;
	snprintf(watch->counts.why, sizeof(watch->counts.why), "%s", why ? why->msg : "");
	pthread_mutex_unlock(&watch->watches->lock);
}

static void succeeded(struct kube_watch *watch)
{
	if (!watch->failures)
		return;
	watch->failures = 0;
	note(watch, NULL);
}

/* ---- a request ---- */

static void asking_release(struct asking *asking)
{
	free(asking->url);
	free(asking->path);
	free(asking->token);
	kube_headers_release(&asking->headers);
	watch_stream_release(&asking->stream);
	*asking = (struct asking){0};
}

static int on_event(void *ctx, const struct json *event, struct err *err)
{
	struct kube_watch *watch = ctx;
	bool changed = false;

	if (watch_object_event(&watch->object, event, &changed, err))
		return -1;
	count(watch, 0, 0, 1);
	succeeded(watch);
	if (changed)
		wake(watch);
	return 0;
}

static int on_data(void *ctx, const char *bytes, size_t len_bytes)
{
	struct kube_watch *watch = ctx;
	struct asking *asking = &watch->asking;

	return watch_stream_add(&asking->stream, bytes, len_bytes, on_event, watch, &asking->bad);
}

static void begin_list(struct kube_watch *watch, struct http_request *request)
{
	watch->asking.path = xstrdup(watch->object.path);
	request->timeout_ms = KUBE_ATTEMPT_TIMEOUT_MS;
	request->max_bytes = KUBE_MAX_BYTES;
	count(watch, 1, 0, 0);
}

static void begin_watch(struct kube_watch *watch, struct http_request *request)
{
	int64_t timeout_s = backoff_spread_ms(MOST_S, MOST_S, 1);
	struct buf path = BUF_INIT;

	if (timeout_s < LEAST_S)
		timeout_s = LEAST_S;
	buf_addf(&path, "%s&watch=1&allowWatchBookmarks=true&timeoutSeconds=%lld&resourceVersion=",
		 watch->object.path, (long long)timeout_s);
	percent_encode(&path, watch->object.version, false);
	watch->asking.path = buf_steal(&path);
	watch->asking.stream.max_bytes = KUBE_WATCH_MAX_BYTES;
	request->timeout_ms = (timeout_s + AFTER_S) * 1000;
	request->stall_ms = watch->stall_ms;
	request->on_data = on_data;
	request->on_data_ctx = watch;
	count(watch, 0, 1, 0);
}

static int begin(struct kube_watch *watch, struct http_request *ret_request, struct err *err)
{
	struct kube_client *client = watch->watches->client;
	struct asking *asking = &watch->asking;

	asking->list = !watch->object.version;
	asking->begin_ms = clock_mono_ms();
	if (kube_client_token(client, &asking->token, err))
		return -1;
	kube_client_rate(client, true);
	*ret_request = (struct http_request){.cancelled = &watch->removed};
	if (asking->list)
		begin_list(watch, ret_request);
	else
		begin_watch(watch, ret_request);
	asking->url = xasprintf("%s%s", kube_client_server(client), asking->path);
	kube_client_headers(client, asking->token, &asking->headers);
	ret_request->url = asking->url;
	ret_request->headers = kube_headers_lines(&asking->headers);
	ret_request->header_count = asking->headers.count;
	watch->busy = true;
	return 0;
}

/* ---- its end ---- */

/* How long to wait after a failure. */
static int64_t pause_after(struct kube_watch *watch, const struct kube_answer *answer,
			   const struct err *why)
{
	int64_t pause_ms =
		backoff_spread_ms(KUBE_WATCH_PAUSE_MS, KUBE_WATCH_PAUSE_MAX_MS, watch->failures);
	int64_t asked_ms = watch->object.pause_ms;

	if (answer->retry_after_ms > asked_ms)
		asked_ms = answer->retry_after_ms;
	if (why->kind == ERR_DENIED || why->kind == ERR_CONFIG)
		pause_ms = backoff_spread_ms(KUBE_WATCH_DENIED_MS, KUBE_WATCH_DENIED_MAX_MS,
					     watch->failures);
	return asked_ms > pause_ms ? asked_ms : pause_ms;
}

/*
 * How long to wait until the next request. A version is kept over whatever may be the connection's
 * fault, and given up when the server or what it sent is.
 */
static int64_t kube_watch_judge(struct kube_watch *watch, int rc, const struct kube_answer *answer,
				const struct err *why)
{
	int64_t took_ms = clock_mono_ms() - watch->asking.begin_ms;

	if (watch->object.taken_back || (rc && (why->kind != ERR_RETRY || answer->status)))
		xstrset(&watch->object.version, NULL);
	else if (took_ms >= CALM_MS && !watch->asking.list)
		rc = 0;
	if (rc) {
		watch->failures++;
		note(watch, why);
		return pause_after(watch, answer, why);
	}
	if (watch->asking.list) /* what failed before may be the watch */
		return 0;
	succeeded(watch);
	return took_ms < KUBE_WATCH_LEAST_MS ? KUBE_WATCH_LEAST_MS - took_ms : 0;
}

static int read_answer(struct kube_watch *watch, const struct http_response *response,
		       struct kube_answer *answer, struct err *err)
{
	const struct kube_asked asked = {
		.method = "GET", .path = watch->asking.path, .max_bytes = KUBE_MAX_BYTES};
	bool changed = false;

	if (!watch->asking.list && response->status >= 200 && response->status < 300)
		return 0;
	if (kube_status_read(&asked, response, answer, err))
		return -1;
	if (watch_object_list(&watch->object, answer->object, &changed, err))
		return -1;
	if (changed)
		wake(watch);
	return 0;
}

/* ---- the thread ---- */

static int kube_watch_done(void *ctx, void *tag, const struct http_response *response,
			   const struct err *why, struct err *err)
{
	struct kube_watches *watches = ctx;
	struct kube_watch *watch = tag;
	struct asking *asking = &watch->asking;
	cleanup_kube_answer struct kube_answer answer = {.retry_after_ms = -1};
	struct err wrong = why ? *why : (struct err){0};
	int64_t wait_ms = 0;
	int rc = why ? -1 : 0;

	(void)err;
	if (asking->bad.kind)
		wrong = asking->bad;
	if (!why && response->status == 401 && !watch->renewed &&
	    kube_client_renew(watches->client, asking->token)) {
		watch->renewed = true;
	} else {
		watch->renewed = false;
		if (!why)
			rc = read_answer(watch, response, &answer, &wrong);
		wait_ms = kube_watch_judge(watch, rc, &answer, &wrong);
	}
	asking_release(asking);
	watch->object.taken_back = false;
	watch->object.pause_ms = -1;
	watch->busy = false;
	watch->due_ms = clock_mono_ms() + wait_ms;
	return 0;
}

/* What was removed and has ended. */
static void sweep(struct kube_watches *watches)
{
	struct kube_watch **at = &watches->first;

	while (*at) {
		struct kube_watch *watch = *at;

		if (!atomic_load(&watch->removed) || watch->busy) {
			at = &watch->next;
			continue;
		}
		*at = watch->next;
		release(watch);
	}
}

/* The one that is due first; NULL: none waits. */
static struct kube_watch *choose(struct kube_watches *watches)
{
	struct kube_watch *first = NULL;

	pthread_mutex_lock(&watches->lock);
	sweep(watches);
	for (struct kube_watch *watch = watches->first; watch; watch = watch->next)
		if (!watch->busy && (!first || watch->due_ms < first->due_ms))
			first = watch;
	pthread_mutex_unlock(&watches->lock);
	return first;
}

static int next(void *ctx, struct http_request *ret_request, void **ret_tag, int64_t *ret_wait_ms,
		struct err *err)
{
	struct kube_watches *watches = ctx;
	struct kube_watch *watch = choose(watches);
	struct kube_answer answer = {.retry_after_ms = -1};
	struct err why = {0};

	(void)err;
	*ret_wait_ms = NOTHING_MS;
	if (!watch)
		return 0;
	*ret_wait_ms = watch->due_ms - clock_mono_ms();
	if (*ret_wait_ms <= 0)
		*ret_wait_ms = kube_client_rate(watches->client, false);
	if (*ret_wait_ms > 0)
		return 0;
	*ret_tag = watch;
	if (begin(watch, ret_request, &why) == 0)
		return 1;
	watch->due_ms = clock_mono_ms() + kube_watch_judge(watch, -1, &answer, &why);
	return 0; /* *ret_wait_ms is 0: the next one, now */
}

static void *kube_watch_run(void *arg)
{
	struct kube_watches *watches = arg;
	const struct http_many many = {.in_flight = HTTP_MAX_IN_FLIGHT,
				       .next = next,
				       .done = kube_watch_done,
				       .ctx = watches};

	while (!http_stopped(watches->http))
		http_many(watches->http, &many, NULL);
	return NULL;
}

/* ---- life ---- */

struct kube_watches *kube_watches_new(struct kube_client *client, struct loop *loop)
{
	struct kube_watches *watches = xcalloc(1, sizeof(*watches));

	watches->client = kube_client_share(client);
	watches->loop = loop;
	pthread_mutex_init(&watches->lock, NULL);
	return watches;
}

void kube_watches_free(struct kube_watches *watches)
{
	if (!watches)
		return;
	if (watches->http) {
		http_stop(watches->http);
		pthread_join(watches->thread, NULL);
		http_free(watches->http);
	}
	for (struct kube_watch *watch = watches->first, *following; watch; watch = following) {
		following = watch->next;
		asking_release(&watch->asking);
		release(watch);
	}
	kube_client_free(watches->client);
	pthread_mutex_destroy(&watches->lock);
	free(watches);
}

static int start_thread(struct kube_watches *watches, struct err *err)
{
	sigset_t all, before;
	int rc;

	watches->http = kube_client_take(watches->client, err);
	if (!watches->http)
		return -1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&watches->thread, NULL, kube_watch_run, watches);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc) {
		http_free(watches->http);
		watches->http = NULL;
		return err_set(err, ERR_SYS, rc, "start a thread");
	}
	pthread_setname_np(watches->thread, "kube-watch");
	return 0;
}

struct kube_watch *kube_watch_new(struct kube_watches *watches,
				  const struct kube_watch_target *target,
				  void (*changed)(void *ctx), void *ctx, struct err *err)
{
	struct kube_watch *watch;

	if (kube_check_name(target->name, err) || (!watches->http && start_thread(watches, err)))
		return NULL;
	watch = xcalloc(1, sizeof(*watch));
	watch->watches = watches;
	watch->changed = changed;
	watch->ctx = ctx;
	watch->stall_ms = target->stall_ms ? target->stall_ms : KUBE_WATCH_STALL_MS;
	watch->object.pause_ms = -1;
	watch->object.keeps = target->keeps;
	watch->object.name = xstrdup(target->name);
	watch->object.path =
		xasprintf("%s?fieldSelector=metadata.name%%3D%s", target->collection, target->name);
	watch->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->ready_fd < 0)
		err_set(err, ERR_SYS, errno, "eventfd");
	else
		watch->ready = loop_fd_new(watches->loop, watch->ready_fd, LOOP_READ, on_ready,
					   watch, err);
	if (!watch->ready) {
		release(watch);
		return NULL;
	}
	pthread_mutex_lock(&watches->lock);
	watch->next = watches->first;
	watches->first = watch;
	pthread_mutex_unlock(&watches->lock);
	http_wake(watches->http);
	return watch;
}

void kube_watch_free(struct kube_watch *watch)
{
	struct http *http;

	if (!watch)
		return;
	loop_fd_free(watch->ready);
	http = watch->watches->http;
	/* from here on it may be gone at any time */
	atomic_store(&watch->removed, true);
	http_wake(http);
}
