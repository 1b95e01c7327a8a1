#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/handover/standby.h"
#include "run/driver_internal.h"
#include "run/handover/standing.h"
#include "run/outputs/http_host.h"
#include "run/outputs/http_join.h"
#include "run/outputs/http_page.h"
#include "run/part.h"

/* Everything is answered from memory: none of this waits for a lane. */

static void answer_live(const struct driver *driver, const char *query, struct http_reply *reply)
{
	(void)driver; /* that this runs is the answer */
	(void)query;
	reply->status = 200;
	buf_addstr(&reply->body, "ok\n");
}

/* Is there a status, and not only a process that starts? */
static bool has_status(const struct driver *driver)
{
	return driver->alive || driver->held;
}

/* Before the first step: what is really done, because each of it may hang. */
static void add_starting(const struct driver *driver, struct buf *to)
{
	const char *doing = driver->starting;

	buf_addf(to, "Starting: %s\n", doing ? doing : "waiting for drey-init");
}

static void answer_started(const struct driver *driver, const char *query, struct http_reply *reply)
{
	(void)query;
	reply->status = has_status(driver) ? 200 : 503;
	if (reply->status == 200)
		buf_addstr(&reply->body, "ok\n");
	else
		add_starting(driver, &reply->body);
}

/* While the job passes from one pod to another, Kubernetes must keep the right one. */
static bool is_ready(const struct driver *driver)
{
	const struct lifecycle *life = &driver->life;
	const struct standby *standby = standing_standby(driver);

	if (standby)
		return standby_is_ready(standby);
	if (driver->alive && lifecycle_keeps_ready(life))
		return true;
	return conditions_ready(&driver->conditions, life) && !lifecycle_is_unready(life);
}

static void answer_ready(const struct driver *driver, const char *query, struct http_reply *reply)
{
	const struct lifecycle *life = &driver->life;

	if (http_join_ready(driver, query, reply))
		return;
	reply->status = 503;
	if (!has_status(driver)) {
		add_starting(driver, &reply->body);
		return;
	}
	if (is_ready(driver))
		reply->status = 200;
	buf_addf(&reply->body, "%s: %s\n", phase_name(lifecycle_phase(life)),
		 conditions_reason(&driver->conditions, life));
}

static void answer_status(const struct driver *driver, const char *query, struct http_reply *reply)
{
	struct json *document;

	(void)query;
	reply->type = "application/json";
	reply->status = 503;
	if (!has_status(driver)) {
		buf_addstr(&reply->body, "{\"error\": \"drey is still starting\"}\n");
		return;
	}
	document = driver_status_full(driver);
	reply->status = 200;
	json_print_pretty(document, &reply->body);
	json_free(document);
}

static void answer_metrics(const struct driver *driver, const char *query, struct http_reply *reply)
{
	const struct standby *standby = driver->stands ? standing_standby(driver) : NULL;
	bool known = driver->alive || standby;

	(void)query;
	reply->status = 200;
	reply->type = METRICS_CONTENT_TYPE;
	metrics_text(&driver->metrics, known ? &driver->life : NULL, standby, &driver->conditions,
		     clock_unix_ms(), &reply->body);
}

static const struct {
	const char *path;
	void (*answer)(const struct driver *driver, const char *query, struct http_reply *reply);
	bool by_name; /* only for those who know the name; probes and scrapers have names of their own */
} routes[] = {
	{"/", http_page_answer, true},    {"/livez", answer_live, false},
	{"/healthz", answer_live, false}, {"/startupz", answer_started, false},
	{"/readyz", answer_ready, false}, {"/join", http_join_answer, false},
	{"/status", answer_status, true}, {"/metrics", answer_metrics, false},
};

static bool is_known_host(const struct driver *driver, const char *host, struct http_reply *reply)
{
	const struct setup *setup = driver->setup;
	const struct http_hosts hosts = {.name_space = setup->kube.config.namespace,
					 .more = setup->config.http.hosts};

	if (http_host_known(host, &hosts))
		return true;
	reply->status = 421;
	buf_addstr(&reply->body,
		   "drey is not known by the name in the header Host; add it to http.hosts\n");
	return false;
}

static void handle(void *arg, const struct http_asked *asked, struct http_reply *reply)
{
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		if (!strcmp(routes[i].path, asked->path) &&
		    (!routes[i].by_name || is_known_host(arg, asked->host, reply)))
			routes[i].answer(arg, asked->query, reply);
	if (!strncmp(asked->path, HTTP_RUNBOOK, strlen(HTTP_RUNBOOK)) &&
	    is_known_host(arg, asked->host, reply))
		http_page_runbook(asked->path + strlen(HTTP_RUNBOOK), reply);
}

/* A port that is taken is no reason not to supervise. */
static int listen_now(struct driver *driver, struct err *err)
{
	const struct config *config = &driver->setup->config;
	struct err why = {0};

	driver->http = http_server_new(driver->loop, config->http.address, (int)config->http.port,
				       handle, driver, &why);
	if (driver->http) {
		log_info(driver->log, "HTTP", LOG_STR("address", config->http.address),
			 LOG_I64("port", config->http.port));
		return 0;
	}
	if (why.kind == ERR_CONFIG) {
		err_pass(err, &why);
		return err_wrap(err, "http.address");
	}
	if (err)
		log_error(driver->log, "no HTTP: probes, /status and /metrics are unavailable",
			  LOG_ERR(&why));
	loop_timer_set(driver->http_retry, HTTP_SERVER_RETRY_MS);
	return 0;
}

static void listen_again(void *arg)
{
	(void)listen_now(arg, NULL); /* said once */
}

/* What /metrics counts. */
static void http_event(struct driver *driver, const struct event *event)
{
	metrics_event(&driver->metrics, event);
}

static void http_notice(struct driver *driver, const struct notice *notice)
{
	metrics_notice(&driver->metrics, notice);
}

static int http_open(struct driver *driver, struct err *err)
{
	driver->http_retry = loop_timer_new(driver->loop, listen_again, driver);
	return driver->setup->config.http.port ? listen_now(driver, err) : 0;
}

static void http_close(struct driver *driver)
{
	loop_timer_free(driver->http_retry);
	http_server_free(driver->http);
}

const struct part part_http = {
	.name = "http",
	.open = http_open,
	.event = http_event,
	.notice = http_notice,
	.close = http_close,
};
