#include "core/report/readiness.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool readiness_tasks_run(const struct lifecycle *life)
{
	const struct cluster *cluster = &life->seen.cluster;

	if (!life->seen.tasks_missing)
		return true;
	if (cluster->slots_known && !cluster->task_managers)
		return false;
	return life->seen.all_ran_ms && life->now_ms - life->seen.all_ran_ms < READINESS_GRACE_MS;
}

bool readiness_waits(const struct lifecycle *life)
{
	const struct cluster *cluster = &life->seen.cluster;

	if (!life->seen.tasks_missing || !life->seen.job_present)
		return false;
	return life->seen.state != JOB_RUNNING ||
	       (cluster->tasks_known && (cluster->tasks_waiting || !cluster->tasks_total));
}

bool readiness_waits_for_slots(const struct lifecycle *life)
{
	const struct cluster *cluster = &life->seen.cluster;
	bool too_few = !cluster->task_managers || !cluster->slots_free;

	/* with the adaptive scheduler the job is CREATED until it has slots */
	if (life->seen.state != JOB_RUNNING && life->seen.state != JOB_CREATED &&
	    life->seen.state != JOB_RESTARTING)
		return false;
	return readiness_waits(life) && cluster->slots_known && too_few;
}

/* ---- the sentence ---- */

struct text {
	char *at;
	size_t left_bytes;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text->at, text->left_bytes, fmt, ap);
	va_end(ap);
	if (len < 0)
		return;
	if ((size_t)len >= text->left_bytes)
		len = (int)text->left_bytes - 1;
	text->at += len;
	text->left_bytes -= (size_t)len;
}

static void add_tasks(struct text *text, const struct lifecycle *life)
{
	const struct cluster *cluster = &life->seen.cluster;

	if (!life->seen.job_present)
		add(text, "Flink does not know the job");
	else if (cluster->tasks_known && cluster->tasks_total)
		add(text, "%d of %d tasks run", cluster->tasks_running, cluster->tasks_total);
	else
		add(text, "no task is running");
}

static void add_slots(struct text *text, const struct lifecycle *life)
{
	const struct cluster *cluster = &life->seen.cluster;
	bool none = !cluster->task_managers;

	if (!cluster->slots_known)
		return;
	if (none)
		add(text, ": no TaskManager is registered (");
	else
		add(text, ": %d TaskManager%s, ", cluster->task_managers,
		    cluster->task_managers == 1 ? "" : "s");
	if (life->seen.slots_used)
		add(text, "%d of %d slots", cluster->slots_total, life->seen.slots_used);
	else
		add(text, "%d slot%s", cluster->slots_total, cluster->slots_total == 1 ? "" : "s");
	add(text, "%s", none ? ")" : "");
}

void readiness_sentence(const struct lifecycle *life, char *text, size_t size_bytes)
{
	struct text to = {text, size_bytes};

	*text = '\0';
	add_tasks(&to, life);
	add_slots(&to, life);
	if (life->seen.job_present && life->seen.state != JOB_RUNNING)
		add(&to, "; the job is %s", job_state_name(life->seen.state));
	if (life->config->task_managers)
		add(&to, "; kubectl get pods -l %s", life->config->task_managers);
	else
		add(&to, "; check the TaskManagers and their logs");
}
