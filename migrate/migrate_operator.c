/*
 * The operator's own settings, kubernetes.operator.*: those that a FlinkDeployment may have. The
 * list is that of the operator's documentation ("Dynamic configuration" and the rest).
 */
#include <string.h>

#include "migrate/migrate_internal.h"
#include "migrate/migrate_size.h"

/* A duration, or a schedule of Quartz, which begins with seconds. */
static int map_schedule(struct migrator *m, const struct json *value,
			const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (strchr(text, '*') || strchr(text, '?')) {
		migrate_note(
			m, MIGRATE_DECIDE, path, "drey.savepoints.cron",
			"a schedule of Quartz; write it with five fields, without seconds and '?'");
		return 0;
	}
	return migrate_copy_duration(m, value, field, path);
}

static int map_format(struct migrator *m, const struct json *value,
		      const struct migrate_field *field, const char *path)
{
	const char *text, *format;

	if (migrate_text(m, value, path, &text))
		return -1;
	format = !strcmp(text, "NATIVE") || !strcmp(text, "native")         ? "native"
		 : !strcmp(text, "CANONICAL") || !strcmp(text, "canonical") ? "canonical"
									    : NULL;
	if (!format)
		return err_set(m->err, ERR_CONFIG, 0,
			       "%s: must be CANONICAL or NATIVE, got '%.40s'", path, text);
	migrate_put_str(m, field->to, format);
	return migrate_note_field(m, field, path);
}

/* The time for a new version has to fit into that of the Deployment. */
static int map_ready(struct migrator *m, const struct json *value,
		     const struct migrate_field *field, const char *path)
{
	char duration[MIGRATE_TEXT_BYTES];
	const char *text;
	int64_t ms;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (migrate_duration(text, duration, &ms) && ms >= 1000 && ms < 900000) {
		migrate_put_str(m, field->to, duration);
		return migrate_note_field(m, field, path);
	}
	migrate_note(
		m, MIGRATE_DECIDE, path, field->to,
		"must be at least 1s and shorter than jobManager.progressDeadlineSeconds, which is "
		"900; set both");
	return 0;
}

static int map_on_deletion(struct migrator *m, const struct json *value,
			   const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!strcmp(text, "true")) {
		migrate_note(m, MIGRATE_MAPPED, path, field->to, "savepoint is the default");
		return 0;
	}
	return migrate_note_field(m, field, path);
}

/* Nothing to do where the value is the one that drey cannot differ from. */
static int map_unless_false(struct migrator *m, const struct json *value,
			    const struct migrate_field *field, const char *path)
{
	const char *text;

	if (migrate_text(m, value, path, &text))
		return -1;
	if (!strcmp(text, "false"))
		migrate_note(m, MIGRATE_NOT_NEEDED, path, NULL, "false asks for nothing");
	else
		migrate_note_field(m, field, path);
	return 0;
}

#define KEY(name) "kubernetes.operator." name

#define NONE  MIGRATE_NO_COUNTERPART
#define OK    MIGRATE_MAPPED
#define LESS  MIGRATE_NOT_NEEDED
#define CHECK MIGRATE_DECIDE

#define OF_THE_OPERATOR "a setting of the operator itself"

const struct migrate_field migrate_operator_fields[] = {
	{KEY("checkpoint.trigger.grace-period"), LESS, NULL,
	 "drey waits for a checkpoint that it took", NULL},
	{KEY("checkpoint.type"), CHECK, "drey.checkpoints.fullInterval",
	 "the type of periodic checkpoints that the operator triggers; for full ones set the interval",
	 NULL},
	{KEY("periodic.checkpoint.interval"), CHECK, "drey.checkpoints.fullInterval",
	 "Flink takes checkpoints by execution.checkpointing.interval; for full ones set the interval",
	 NULL},
	{KEY("periodic.savepoint.interval"), OK, "drey.savepoints.interval", NULL, map_schedule},
	{KEY("savepoint.format.type"), OK, "drey.savepoints.format", NULL, map_format},
	{KEY("savepoint.history.max.count"), OK, "drey.savepoints.retention.count", NULL,
	 migrate_copy_count},
	{KEY("savepoint.history.max.age"), OK, "drey.savepoints.retention.maxAge", NULL,
	 migrate_copy_duration},
	{KEY("savepoint.history.max.count.threshold"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("savepoint.history.max.age.threshold"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("savepoint.cleanup.enabled"), CHECK, "drey.savepoints.retention",
	 "drey deletes no savepoint unless count or maxAge is set", NULL},
	{KEY("savepoint.dispose-on-delete"), NONE, NULL,
	 "drey deletes no savepoint at an uninstall; it would be lost when the FlinkDeployment is deleted",
	 map_unless_false},
	{KEY("savepoint.trigger.grace-period"), LESS, NULL,
	 "drey waits for a savepoint that it took", NULL},
	{KEY("snapshot.resource.enabled"), LESS, NULL,
	 "drey records savepoints in its journal and its status, not in objects of their own",
	 NULL},
	{KEY("job.savepoint-on-deletion"), CHECK, "onDelete",
	 "the chart takes a savepoint at an uninstall; to have none, set cancel or nothing",
	 map_on_deletion},
	{KEY("job.drain-on-savepoint-deletion"), NONE, "drey.savepoints.drain",
	 "drey drains at every stop with savepoint or at none", map_unless_false},
	{KEY("job.upgrade.ignore-pending-savepoint"), LESS, NULL,
	 "drey finishes or repeats a savepoint that is in progress", NULL},
	{KEY("job.upgrade.inplace-scaling.enabled"), LESS, NULL,
	 "`drey rescale` and control.parallelism do so: docs/tasks/elasticity.md", NULL},
	{KEY("job.upgrade.last-state-fallback.enabled"), LESS, "drey.savepoints.onStopFailure",
	 "an upgrade whose savepoint fails continues from the newest checkpoint anyway", NULL},
	{KEY("job.upgrade.last-state.job-cancel.enabled"), LESS, NULL,
	 "drey never cancels a job for it", NULL},
	{KEY("job.upgrade.last-state.max.allowed.checkpoint.age"), OK, "drey.restore.maxAge", NULL,
	 migrate_copy_duration},
	{KEY("job.restart.failed"), LESS, "drey.attempts", "drey starts a failed job again", NULL},
	{KEY("cluster.health-check.checkpoint-progress.window"), CHECK, "drey.health",
	 "drey has conditions for it, and health.restartAfter: docs/reference/configuration.md",
	 NULL},
	{KEY("cluster.health-check.*"), CHECK, "drey.health",
	 "drey has conditions for it, and health.restartAfter: docs/reference/configuration.md",
	 map_unless_false},
	{KEY("deployment.readiness.timeout"), OK, "drey.attempts.readyDeadline", NULL, map_ready},
	{KEY("deployment.rollback.enabled"), CHECK, "upgrade.strategy",
	 "surge returns the job to the old version if the new one fails", map_unless_false},
	{KEY("jm-deployment-recovery.enabled"), LESS, NULL, "Kubernetes and drey do so", NULL},
	{KEY("jm-deployment.shutdown-ttl"), LESS, "ttlAfterFinished",
	 "of a JobManager of a stopped job, which drey ends at once", NULL},
	{KEY("jm-deployment.startup.probe.enabled"), LESS, NULL, "the chart has its own probes",
	 NULL},
	{KEY("pod-template.merge-arrays-by-name"), LESS, NULL,
	 "the Pod templates are merged by name", NULL},
	{KEY("resource.deletion.propagation"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("session.deletion.*"), LESS, NULL, "of session clusters", NULL},
	{KEY("user.artifacts.http.header"), CHECK, NULL,
	 "of a jar that is fetched: let an init container fetch it, as in the chart's examples/fetched.yaml",
	 NULL},
	{KEY("user.artifacts.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("plugins.listeners.*"), NONE, NULL,
	 "for events of the job use drey's hooks: docs/reference/configuration.md", NULL},
	{KEY("ingress.manage"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("bluegreen.*"), LESS, "upgrade.strategy",
	 "of a blue/green deployment; surge has settings of its own", NULL},
	{KEY("exception.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("events.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("flink.client.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("config.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("dynamic.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("health.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("cluster.resource-view.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("job.submission.timeout"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("label.selector"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("leader-election.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("observer.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("rate-limiter.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("reconcile.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("resource.cleanup.timeout"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("retry.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("startup.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("termination.timeout"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("watched.namespaces"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("josdk.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("jvm.metrics.enabled"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("kubernetes.client.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("metrics.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("resource.lifecycle.*"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("resource.metrics.enabled"), LESS, NULL, OF_THE_OPERATOR, NULL},
	{KEY("*"), NONE, NULL, "a setting of the operator that drey migrate does not know", NULL},
	{NULL, OK, NULL, NULL, NULL},
};
