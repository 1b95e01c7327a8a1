#include "run/outputs/http_page.h"

#include "base/clock.h"
#include "base/json.h"
#include "core/report/runbook.h"
#include "core/web/web.h"
#include "run/driver_internal.h"

void http_page_answer(const struct driver *driver, const char *query, struct http_reply *reply)
{
	cleanup_json struct json *status =
		driver->alive || driver->held ? driver_status_full(driver) : NULL;
	const struct web_facts facts = {
		.now_unix_ms = clock_unix_ms(),
		.version = DREY_VERSION,
		.application = driver->setup->config.application,
		.pod = driver->setup->kube.pod_name,
	};

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
