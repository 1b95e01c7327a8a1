#include "kube/kube_watch.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kube/kube.h"
#include "kube/watch_stream.h"

/* How long the server is asked to keep a watch open: between these, so that not all end at once. */
enum { LEAST_S = 300, MOST_S = 600 };
#define AFTER_S 30    /* so much later we end it ourselves */
#define CALM_MS 10000 /* a watch that lasted so long was none that failed */

struct kube_watch {
	struct kube *kube; /* the thread's, but for kube_stop() */
	char *selector;    /* "COLLECTION?fieldSelector=metadata.name%3DNAME" */
	char *name;
	int64_t stall_ms;
	pthread_t thread;

	/* the thread's */
	char *version;    /* to watch from; NULL: list first */
	char *seen;       /* the mark of the object, "" none; NULL: never seen */
	bool taken_back;  /* the server ended the watch with an error, in an event: list first */
	int64_t pause_ms; /* what it said in an event; -1 */
	int failures;     /* in a row */

	/* the loop's thread */
	struct loop_fd *ready;
	void (*changed)(void *ctx);
	void *ctx;
	int ready_fd; /* eventfd */

	pthread_mutex_t lock;
	struct kube_watch_counts counts;
};

/* ---- telling ---- */

static void wake(struct kube_watch *watch)
{
	uint64_t one = 1;

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

	pthread_mutex_lock(&watch->lock);
	counts = watch->counts;
	pthread_mutex_unlock(&watch->lock);
	return counts;
}

static void count(struct kube_watch *watch, int lists, int watches, int events)
{
	pthread_mutex_lock(&watch->lock);
	watch->counts.lists += lists;
	watch->counts.watches += watches;
	watch->counts.events += events;
	pthread_mutex_unlock(&watch->lock);
}

static void note(struct kube_watch *watch, const struct err *why)
{
	pthread_mutex_lock(&watch->lock);
	watch->counts.failures = watch->failures;
	snprintf(watch->counts.why, sizeof(watch->counts.why), "%s", why ? why->msg : "");
	pthread_mutex_unlock(&watch->lock);
}

static void succeeded(struct kube_watch *watch)
{
	if (!watch->failures)
		return;
	watch->failures = 0;
	note(watch, NULL);
}

/* ---- the object ---- */

/* What changes with it: of an object with a generation only what that counts, and that it is being
 * deleted; its status is not in it. */
static int mark_of(const struct json *object, char **ret_mark, struct err *err)
{
	const struct json *metadata = json_get(object, "metadata");
	int64_t generation = json_i64_or(metadata, "generation", 0);
	const char *uid = json_str(metadata, "uid"), *version;

	if (json_need_str(metadata, "resourceVersion", &version, err))
		return -1;
	*ret_mark = generation > 0 && uid
			    ? xasprintf("%s/%lld%s", uid, (long long)generation,
					json_get(metadata, "deletionTimestamp") ? "/deleted" : "")
			    : xstrdup(version);
	return 0;
}

/* Takes the mark over. */
static void see(struct kube_watch *watch, char *mark)
{
	if (!watch->seen || strcmp(watch->seen, mark) != 0)
		wake(watch);
	free(watch->seen);
	watch->seen = mark;
}

/* ---- list ---- */

/* The object's mark in the list, "" if it is not there; the caller frees. */
static int read_list(const struct kube_watch *watch, const struct json *list,
		     const char **ret_version, char **ret_mark, struct err *err)
{
	const struct json *items = NULL, *metadata = NULL, *item;
	char *mark = NULL;

	if (json_need_object(list, "metadata", &metadata, err) ||
	    json_need_str(metadata, "resourceVersion", ret_version, err))
		return -1;
	if (!**ret_version)
		return err_set(err, ERR_FORMAT, 0, "a list without a version");
	/* an empty list may be written as null */
	if (json_opt_array(list, "items", &items, err) < 0)
		return -1;
	json_each (item, items) {
		const char *name = json_str(json_get(item, "metadata"), "name");

		if (mark || !name || strcmp(name, watch->name) != 0)
			continue;
		if (mark_of(item, &mark, err))
			return -1;
	}
	*ret_mark = mark ? mark : xstrdup("");
	return 0;
}

static int list(struct kube_watch *watch, struct kube_answer *answer, struct err *err)
{
	struct kube_request request = {.path = watch->selector};
	const char *version;
	char *mark = NULL;

	count(watch, 1, 0, 0);
	if (kube_do(watch->kube, &request, answer, err))
		return -1;
	if (read_list(watch, answer->object, &version, &mark, err))
		return err_wrap(err, "GET %s", watch->selector);
	xstrset(&watch->version, version);
	see(watch, mark);
	return 0;
}

/* ---- watch ---- */

/* The server takes the watch back: a Status. */
static int on_error_event(struct kube_watch *watch, const struct json *status, struct err *err)
{
	const struct kube_asked asked = {.method = "GET", .path = watch->selector};
	struct kube_answer answer = {
		.status = (int)json_i64_or(status, "code", 500),
		.retry_after_ms = -1,
		.object = json_copy(status),
	};

	kube_status_err(&asked, &answer, err);
	watch->taken_back = true;
	watch->pause_ms = answer.retry_after_ms;
	kube_answer_release(&answer);
	return -1;
}

static int on_event(void *ctx, const struct json *event, struct err *err)
{
	struct kube_watch *watch = ctx;
	const struct json *object = json_get(event, "object");
	const char *type = json_str(event, "type"), *version;
	const struct json *metadata;
	char *mark = NULL;

	if (!type || json_kind(object) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "an event of a watch without type or object");
	if (!strcmp(type, "ERROR"))
		return on_error_event(watch, object, err);
	if (json_need_object(object, "metadata", &metadata, err) ||
	    json_need_str(metadata, "resourceVersion", &version, err))
		return err_wrap(err, "an event of a watch");
	xstrset(&watch->version, version);
	count(watch, 0, 0, 1);
	succeeded(watch);
	if (!strcmp(type, "BOOKMARK"))
		return 0;
	if (!strcmp(type, "DELETED"))
		mark = xstrdup("");
	else if (mark_of(object, &mark, err))
		return -1;
	see(watch, mark);
	return 0;
}

struct reading {
	struct kube_watch *watch;
	struct watch_stream stream;
	struct err err; /* .kind ERR_NONE: none */
};

static int on_data(void *ctx, const char *bytes, size_t len_bytes)
{
	struct reading *reading = ctx;

	return watch_stream_add(&reading->stream, bytes, len_bytes, on_event, reading->watch,
				&reading->err);
}

static int follow(struct kube_watch *watch, struct kube_answer *answer, struct err *err)
{
	struct reading reading = {.watch = watch, .stream.max_bytes = KUBE_WATCH_MAX_BYTES};
	struct kube_stream stream = {
		.stall_ms = watch->stall_ms, .on_data = on_data, .ctx = &reading};
	int64_t timeout_s = backoff_spread_ms(MOST_S, MOST_S, 1);
	cleanup_buf struct buf path = BUF_INIT;
	struct kube_request request = {0};
	int rc;

	if (timeout_s < LEAST_S)
		timeout_s = LEAST_S;
	buf_addf(&path, "%s&watch=1&allowWatchBookmarks=true&timeoutSeconds=%lld&resourceVersion=",
		 watch->selector, (long long)timeout_s);
	kube_add_encoded(&path, watch->version);
	request.path = buf_str(&path);
	request.timeout_ms = (timeout_s + AFTER_S) * 1000;
	count(watch, 0, 1, 0);
	rc = kube_stream(watch->kube, &request, &stream, answer, err);
	if (rc && reading.err.kind && err)
		*err = reading.err;
	watch_stream_release(&reading.stream);
	return rc;
}

/* ---- the thread ---- */

/* How long to wait after a failure. */
static int64_t pause_after(struct kube_watch *watch, const struct kube_answer *answer,
			   const struct err *why)
{
	int64_t pause_ms =
		backoff_spread_ms(KUBE_WATCH_PAUSE_MS, KUBE_WATCH_PAUSE_MAX_MS, watch->failures);
	int64_t asked_ms =
		answer->retry_after_ms > watch->pause_ms ? answer->retry_after_ms : watch->pause_ms;

	if (why->kind == ERR_DENIED || why->kind == ERR_CONFIG)
		pause_ms = backoff_spread_ms(KUBE_WATCH_DENIED_MS, KUBE_WATCH_DENIED_MS, 1);
	return asked_ms > pause_ms ? asked_ms : pause_ms;
}

/*
 * List when that is needed, and watch until it ends. How long to wait until the next time.
 *
 * A version is kept over whatever may be the connection's fault, and given up when the server or
 * what it sent is.
 */
static int64_t go_round(struct kube_watch *watch)
{
	cleanup_kube_answer struct kube_answer answer = {0};
	int64_t begin_ms = clock_mono_ms(), took_ms;
	struct err why = {0};
	int rc = 0;

	watch->taken_back = false;
	watch->pause_ms = -1;
	if (!watch->version) {
		rc = list(watch, &answer, &why);
		begin_ms = clock_mono_ms();
	}
	if (!rc)
		rc = follow(watch, &answer, &why);
	took_ms = clock_mono_ms() - begin_ms;
	if (watch->taken_back || (rc && (why.kind != ERR_RETRY || answer.status)))
		xstrset(&watch->version, NULL);
	else if (took_ms >= CALM_MS)
		rc = 0;
	if (!rc) {
		succeeded(watch);
		return took_ms < KUBE_WATCH_LEAST_MS ? KUBE_WATCH_LEAST_MS - took_ms : 0;
	}
	watch->failures++;
	note(watch, &why);
	return pause_after(watch, &answer, &why);
}

static void *run(void *arg)
{
	struct kube_watch *watch = arg;

	while (kube_pause(watch->kube, go_round(watch), NULL) == 0)
		;
	return NULL;
}

/* ---- life ---- */

static void release(struct kube_watch *watch)
{
	loop_fd_free(watch->ready);
	if (watch->ready_fd >= 0)
		close(watch->ready_fd);
	pthread_mutex_destroy(&watch->lock);
	kube_free(watch->kube);
	free(watch->selector);
	free(watch->name);
	free(watch->version);
	free(watch->seen);
	free(watch);
}

static int start_thread(struct kube_watch *watch, struct err *err)
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&watch->thread, NULL, run, watch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc)
		return err_set(err, ERR_SYS, rc, "start a thread");
	pthread_setname_np(watch->thread, "kube-watch");
	return 0;
}

struct kube_watch *kube_watch_new(const struct kube_config *config,
				  const struct kube_watch_target *target, struct loop *loop,
				  void (*changed)(void *ctx), void *ctx, struct err *err)
{
	struct kube_watch *watch;

	if (kube_check_name(target->name, err))
		return NULL;
	watch = xcalloc(1, sizeof(*watch));
	watch->changed = changed;
	watch->ctx = ctx;
	watch->stall_ms = target->stall_ms ? target->stall_ms : KUBE_WATCH_STALL_MS;
	watch->name = xstrdup(target->name);
	watch->selector =
		xasprintf("%s?fieldSelector=metadata.name%%3D%s", target->collection, target->name);
	pthread_mutex_init(&watch->lock, NULL);
	watch->kube = kube_new(config, err);
	watch->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (watch->kube && watch->ready_fd < 0)
		err_set(err, ERR_SYS, errno, "eventfd");
	if (watch->kube && watch->ready_fd >= 0)
		watch->ready = loop_fd_new(loop, watch->ready_fd, LOOP_READ, on_ready, watch, err);
	if (!watch->ready || start_thread(watch, err)) {
		release(watch);
		return NULL;
	}
	return watch;
}

void kube_watch_free(struct kube_watch *watch)
{
	if (!watch)
		return;
	kube_stop(watch->kube);
	pthread_join(watch->thread, NULL);
	release(watch);
}
