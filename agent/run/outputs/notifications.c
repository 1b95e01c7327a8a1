/*
 * Notifications: what has happened is posted to a webhook, one after another, so that they arrive in
 * order. One that cannot be delivered now is tried again, less and less often, for EXPIRES_MS; then it
 * is dropped, and counted. Nothing waits for one, except, for a moment, the end of drey.
 *
 * The URL and the token are secrets: they are read from their files for each request, and neither they
 * nor the path of the URL get into a message, not even when the webhook's answer repeats them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/http.h"
#include "base/mem.h"
#include "base/secret.h"
#include "core/report/notification.h"
#include "run/driver_internal.h"
#include "run/part.h"

#define QUEUE_MAX        64 /* the oldest are dropped for newer ones */
#define EXPIRES_MS       (60 * 60 * 1000)
#define RETRY_FIRST_MS   1000
#define RETRY_MOST_MS    (5 * 60 * 1000)
#define REQUEST_MS       10000
#define EXIT_MS          5000 /* how long an end that drey decides on waits */
#define TERMINATE_MS     1000 /* how long the end of the container waits */
#define CLOSE_MS         500
#define SECRET_MAX_BYTES 8192
#define ANSWER_MAX_BYTES 4096

struct message {
	struct message *next;
	struct buf body;
	int64_t since_ms;
};

struct notifications {
	struct driver *driver;
	const struct config *config;
	struct notification_filter filter;
	struct lane *lane;
	struct loop_timer *timer; /* the next try, or the end of the patience */
	struct message *first, **last;
	size_t count;
	bool sending; /* the first one */
	int failures; /* in a row */
	unsigned serial;
	int64_t exit_end_ms; /* 0 = drey does not exit */
};

struct delivery {
	struct notifications *notifications;
	const struct buf *body; /* of the first message, which stays until this has come back */
	int result;
	bool refused; /* that is the webhook's last word; else it or a file may be there later */
	int64_t retry_after_ms;
	struct err err;
};

/* ---- one request, on the lane's thread ---- */

/* One line, without the white space around it. */
static int read_secret(const char *key, const char *path, struct buf *secret, struct err *err)
{
	size_t len;

	if (fs_read(path, SECRET_MAX_BYTES, secret, err) < 0)
		return err_wrap(err, "notifications.%s", key);
	len = strlen(buf_str(secret));
	while (len && strchr(" \t\r\n", secret->data[len - 1]))
		secret->data[--len] = '\0';
	secret->len_bytes = len;
	if (!len)
		return err_set(err, ERR_CONFIG, 0, "notifications.%s: %s is empty", key, path);
	return 0;
}

static int post(const struct config *config, const char *url, const char *token,
		struct delivery *delivery, struct err *err)
{
	enum notification_format format = (enum notification_format)config->notifications.format;
	const struct http_config http_config = {.ca_file = config->notifications.ca_file};
	cleanup_free char *type = xasprintf("Content-Type: %s", notification_content_type(format));
	cleanup_secret char *authorization =
		token ? xasprintf("Authorization: Bearer %s", token) : NULL;
	const char *headers[] = {type, authorization};
	const struct http_request request = {.method = "POST",
					     .url = url,
					     .secret_url = true,
					     .headers = headers,
					     .header_count = token ? 2 : 1,
					     .body = delivery->body->data,
					     .body_len_bytes = delivery->body->len_bytes,
					     .timeout_ms = REQUEST_MS,
					     .max_bytes = ANSWER_MAX_BYTES};
	cleanup_http_response struct http_response response = {0};
	struct http *http = http_new(&http_config, err);
	int result;

	if (!http)
		return -1;
	result = http_do(http, &request, &response, err);
	http_free(http);
	if (result == 0 && response.status / 100 != 2)
		result = http_status_err(&request, &response, err);
	delivery->retry_after_ms = response.retry_after_ms;
	if (result < 0)
		delivery->refused = err->kind != ERR_RETRY;
	return result;
}

static int deliver(const struct config *config, struct delivery *delivery, struct err *err)
{
	cleanup_secret_buf struct buf url = {0}, token = {0};
	const char *refused;

	if (read_secret("urlFile", config->notifications.url_file, &url, err) < 0)
		return -1;
	refused = notification_url_refused((enum notification_format)config->notifications.format,
					   buf_str(&url));
	if (refused)
		return err_set(err, ERR_CONFIG, 0, "notifications.urlFile: %s: %s",
			       config->notifications.url_file, refused);
	if (config->notifications.token_file &&
	    read_secret("tokenFile", config->notifications.token_file, &token, err) < 0)
		return -1;
	return post(config, url.data, token.len_bytes ? token.data : NULL, delivery, err);
}

static void deliver_work(void *arg)
{
	struct delivery *delivery = arg;

	delivery->result = deliver(delivery->notifications->config, delivery, &delivery->err);
}

/* ---- the queue ---- */

static void message_free(struct message *message)
{
	buf_release(&message->body);
	free(message);
}

static void drop_first(struct notifications *n)
{
	struct message *message = n->first;

	n->first = message->next;
	if (!n->first)
		n->last = &n->first;
	n->count--;
	message_free(message);
}

static void delivered(void *arg, bool ran);

static void send_first(struct notifications *n)
{
	struct delivery *delivery;

	if (n->sending || !n->first || n->driver->closing)
		return;
	delivery = xcalloc(1, sizeof(*delivery));
	delivery->notifications = n;
	delivery->body = &n->first->body;
	delivery->retry_after_ms = -1;
	n->sending = true;
	lane_submit(n->lane, deliver_work, delivered, delivery);
}

static void wake_after(struct notifications *n, int64_t wait_ms)
{
	int64_t left_ms = n->exit_end_ms - clock_mono_ms();

	if (n->exit_end_ms && left_ms < wait_ms)
		wait_ms = left_ms > 0 ? left_ms : 0;
	loop_timer_set(n->timer, wait_ms);
}

static void not_delivered(struct notifications *n, const struct delivery *delivery)
{
	int64_t age_ms = clock_mono_ms() - n->first->since_ms;
	int64_t wait_ms = backoff_spread_ms(RETRY_FIRST_MS, RETRY_MOST_MS, ++n->failures);

	if (delivery->refused || age_ms >= EXPIRES_MS) {
		log_warn(n->driver->log, "notification dropped", LOG_ERR(&delivery->err));
		n->driver->metrics.notifications_dropped++;
		drop_first(n);
		n->failures = 0;
		send_first(n);
		return;
	}
	if (n->failures == 1)
		log_warn(n->driver->log, "cannot send a notification, trying again",
			 LOG_ERR(&delivery->err));
	if (delivery->retry_after_ms > wait_ms)
		wait_ms = delivery->retry_after_ms < RETRY_MOST_MS ? delivery->retry_after_ms
								   : RETRY_MOST_MS;
	wake_after(n, wait_ms);
}

static void delivered(void *arg, bool ran)
{
	struct delivery *delivery = arg;
	struct notifications *n = delivery->notifications;

	n->sending = false;
	if (ran && delivery->result == 0) {
		if (n->failures)
			log_info(n->driver->log, "notifications are delivered again");
		n->failures = 0;
		n->driver->metrics.notifications_sent++;
		drop_first(n);
		send_first(n);
	} else if (ran) {
		not_delivered(n, delivery);
	}
	free(delivery);
	if (ran && n->exit_end_ms && !n->driver->closing)
		driver_again(n->driver);
}

/* The first one is on its way and must stay: the one after it is the oldest that can go. */
static void make_room(struct notifications *n)
{
	struct message *oldest;

	if (n->count < QUEUE_MAX)
		return;
	n->driver->metrics.notifications_dropped++;
	if (!n->sending) {
		drop_first(n);
		return;
	}
	oldest = n->first->next;
	n->first->next = oldest->next;
	n->count--;
	message_free(oldest);
}

static void notifications_notice(struct driver *driver, const struct notice *notice)
{
	struct notifications *n = driver->notifications;
	struct event_text text;
	struct message *message;
	char *id;

	if (!n || driver->closing)
		return;
	if (event_text(notice, &text) &&
	    notification_wanted(&n->filter,
				(enum notification_events)n->config->notifications.events, notice,
				&text)) {
		make_room(n);
		message = xcalloc(1, sizeof(*message));
		message->since_ms = clock_mono_ms();
		id = xasprintf("%s-%u", driver->writer, ++n->serial);
		notification_body((enum notification_format)n->config->notifications.format,
				  &(struct notification){
					  .id = id,
					  .name_space = driver->setup->kube.config.namespace,
					  .application = n->config->application,
					  .notice = notice,
					  .text = &text,
					  .unix_ms = clock_unix_ms(),
				  },
				  &message->body);
		free(id);
		*n->last = message;
		n->last = &message->next;
		n->count++;
		if (!n->failures)
			send_first(n);
	}
	event_text_release(&text);
}

/* ---- begin and end ---- */

static enum gate_verdict notifications_may(struct driver *driver, enum gate_type type,
					   struct gate *gate)
{
	struct notifications *n = driver->notifications;
	int64_t now_ms = clock_mono_ms(), wait_ms;

	if (!n || type != GATE_EXIT || !n->first)
		return GATE_PASSES;
	if (!n->exit_end_ms) {
		wait_ms = driver->life.terminating ? TERMINATE_MS : EXIT_MS;
		n->exit_end_ms = now_ms + wait_ms;
		loop_timer_set(n->timer, wait_ms);
		send_first(n);
	}
	if (now_ms >= n->exit_end_ms)
		return GATE_PASSES;
	return gate_waits(gate, "the last notifications", n->exit_end_ms);
}

static void notifications_due(void *arg)
{
	struct notifications *n = arg;

	if (n->exit_end_ms && clock_mono_ms() >= n->exit_end_ms) {
		driver_again(n->driver);
		return;
	}
	send_first(n);
}

static int notifications_open(struct driver *driver, struct err *err)
{
	struct notifications *n;

	(void)err;
	if (!driver->setup->config.notifications.url_file)
		return 0;
	driver->notifications = n = xcalloc(1, sizeof(*n));
	n->driver = driver;
	n->config = &driver->setup->config;
	n->last = &n->first;
	n->lane = lane_new(driver->workers, "drey-notify");
	n->timer = loop_timer_new(driver->loop, notifications_due, n);
	return 0;
}

static void notifications_close(struct driver *driver)
{
	struct notifications *n = driver->notifications;
	bool ended;

	if (!n)
		return;
	driver->notifications = NULL;
	ended = lane_free(n->lane, CLOSE_MS);
	loop_timer_free(n->timer);
	if (!ended) /* what hangs still uses the first message */
		return;
	while (n->first)
		drop_first(n);
	free(n);
}

const struct part part_notifications = {
	.name = "notifications",
	.open = notifications_open,
	.notice = notifications_notice,
	.may = notifications_may,
	.close = notifications_close,
};
