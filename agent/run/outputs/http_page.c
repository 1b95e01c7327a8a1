#include "run/outputs/http_page.h"

#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "core/report/runbook.h"
#include "core/web/web.h"
#include "run/driver_internal.h"

static struct web_facts facts_of(const struct driver *driver)
{
	const struct setup *setup = driver->setup;
	const struct setup_kube *kube = &setup->kube;
	const char *file = setup->config_file;

	return (struct web_facts){
		.now_unix_ms = clock_unix_ms(),
		.version = DREY_VERSION,
		.application = setup->config.application,
		.pod = kube->pod_name,
		.namespace = kube->pod_name ? kube->config.namespace : NULL,
		.deployment = kube->owner_kind == WORKLOAD_JOB ? NULL : kube->owner,
		.config_file = file && strcmp(file, CONFIG_DEFAULT_FILE) != 0 ? file : NULL,
	};
}

void http_page_answer(const struct driver *driver, const char *query, struct http_reply *reply)
{
	cleanup_json struct json *status =
		driver->alive || driver->held ? driver_status_full(driver) : NULL;
	struct web_facts facts = facts_of(driver);

	(void)query;
	reply->status = 200;
	reply->type = "text/html; charset=utf-8";
	buf_addstr(&reply->headers, "Content-Security-Policy: ");
	web_policy(&reply->headers);
	buf_addstr(&reply->headers, "\r\nReferrer-Policy: no-referrer\r\n"
				    "Cross-Origin-Opener-Policy: same-origin\r\n"
				    "Cross-Origin-Resource-Policy: same-origin\r\n");
	web_render(status, &facts, &reply->body);
}

void http_page_runbook(const char *word, struct http_reply *reply)
{
	const struct embedded *page = runbook_find(word);

	if (!page)
		return;
	reply->status = 200;
	buf_addstr(&reply->body, page->text);
}
