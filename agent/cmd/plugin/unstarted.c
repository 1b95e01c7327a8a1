#include "cmd/plugin/unstarted.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

static void set(struct unstarted *to, const char *word, char *text)
{
	*to = (struct unstarted){.word = xstrdup(word), .text = text};
}

void unstarted_release(struct unstarted *unstarted)
{
	free(unstarted->word);
	free(unstarted->text);
	*unstarted = (struct unstarted){0};
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* The condition of this type, if its status is this one. */
static const struct json *condition_of(const struct json *object, const char *type,
				       const char *status)
{
	const struct json *each;

	json_each (each, json_get(json_get(object, "status"), "conditions"))
		if (xstris(json_str(each, "type"), type) &&
		    xstris(json_str(each, "status"), status))
			return each;
	return NULL;
}

/* ---- a container ---- */

/* What ended, "exit status 1", "OOMKilled (exit status 137)", and its last words. */
static void add_end(struct buf *to, const struct json *end)
{
	const char *reason = json_str(end, "reason"), *message = json_str(end, "message");
	int64_t code = json_i64_or(end, "exitCode", -1);

	if (reason && strcmp(reason, "Error") != 0)
		buf_addf(to, "%s (exit status %" PRId64 ")", reason, code);
	else
		buf_addf(to, "exit status %" PRId64, code);
	if (message && *message)
		buf_addf(to, ": %s", message);
}

/* It waits, and Kubernetes says for what. */
static bool read_waiting(const struct json *container, const char *pod, struct unstarted *ret)
{
	const struct json *waiting = json_get(json_get(container, "state"), "waiting");
	const struct json *end = json_get(json_get(container, "lastState"), "terminated");
	const char *reason = json_str(waiting, "reason"), *message = json_str(waiting, "message");
	cleanup_buf struct buf text = BUF_INIT;

	if (!reason || !strcmp(reason, "PodInitializing") || !strcmp(reason, "ContainerCreating"))
		return false;
	buf_addf(&text, "Pod %s: container %s: %s", pod, or_empty(json_str(container, "name")),
		 reason);
	if (message && *message)
		buf_addf(&text, ": %s", message);
	if (json_kind(end) == JSON_OBJECT) {
		buf_addstr(&text, "; it ended with ");
		add_end(&text, end);
	}
	set(ret, reason, buf_steal(&text));
	return true;
}

static bool read_ended(const struct json *container, const char *pod, struct unstarted *ret)
{
	const struct json *end = json_get(json_get(container, "state"), "terminated");
	const char *reason = json_str(end, "reason");
	cleanup_buf struct buf text = BUF_INIT;

	if (json_kind(end) != JSON_OBJECT || json_i64_or(end, "exitCode", 0) == 0)
		return false;
	buf_addf(&text, "Pod %s: container %s ended with ", pod,
		 or_empty(json_str(container, "name")));
	add_end(&text, end);
	set(ret, reason ? reason : "Error", buf_steal(&text));
	return true;
}

/* Of the first container, in their order of start, that says something. */
static bool read_containers(const struct json *pod, const char *name, struct unstarted *ret)
{
	static const char *const lists[] = {"initContainerStatuses", "containerStatuses"};
	const struct json *each;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		json_each (each, json_get(json_get(pod, "status"), lists[i]))
			if (read_waiting(each, name, ret) || read_ended(each, name, ret))
				return true;
	return false;
}

/* ---- a Pod ---- */

static void read_pod(const struct json *pod, struct unstarted *ret)
{
	const struct json *status = json_get(pod, "status");
	const struct json *unscheduled = condition_of(pod, "PodScheduled", "False");
	const char *name = or_empty(json_str(json_get(pod, "metadata"), "name"));
	const char *phase = or_empty(json_str(status, "phase")),
		   *reason = json_str(status, "reason");

	if (reason)
		set(ret, reason,
		    xasprintf("Pod %s: %s: %s", name, reason,
			      or_empty(json_str(status, "message"))));
	else if (unscheduled)
		set(ret, or_empty(json_str(unscheduled, "reason")),
		    xasprintf("Pod %s is not scheduled: %s", name,
			      or_empty(json_str(unscheduled, "message"))));
	else if (read_containers(pod, name, ret))
		return;
	else if (!strcmp(phase, "Running"))
		set(ret, phase,
		    xasprintf("Pod %s runs, and drey has written nothing yet; its log says more",
			      name));
	else
		set(ret, phase,
		    xasprintf("Pod %s is %s; `kubectl describe pod %s` has its Events", name,
			      *phase ? phase : "new", name));
}

/* ---- the workload ---- */

static const struct json *newest(const struct json *pods)
{
	const struct json *each, *found = NULL;
	const char *then = "";

	json_each (each, pods) {
		/* RFC 3339 in UTC: as texts they are in their order */
		const char *made =
			or_empty(json_str(json_get(each, "metadata"), "creationTimestamp"));

		if (found && strcmp(made, then) <= 0)
			continue;
		found = each;
		then = made;
	}
	return found;
}

/* It has no Pod: what it says itself. */
static void read_workload(const struct json *workload, struct unstarted *ret)
{
	const struct json *spec = json_get(workload, "spec");
	const struct json *failure = condition_of(workload, "ReplicaFailure", "True");
	const char *kind = or_empty(json_str(workload, "kind"));
	const char *name = or_empty(json_str(json_get(workload, "metadata"), "name"));

	if (json_bool_or(spec, "suspend", false) || json_i64_or(spec, "replicas", 1) == 0)
		set(ret, "ScaledToZero",
		    xasprintf("%s %s is scaled to 0, or suspended", kind, name));
	else if (failure || (failure = condition_of(workload, "Failed", "True")))
		set(ret, or_empty(json_str(failure, "reason")),
		    xasprintf("%s %s has no Pod: %s: %s", kind, name,
			      or_empty(json_str(failure, "reason")),
			      or_empty(json_str(failure, "message"))));
	else
		set(ret, "NoPod", xasprintf("%s %s has no Pod yet", kind, name));
}

void unstarted_read(const struct json *workload, const struct json *pods, struct unstarted *ret)
{
	const struct json *pod = newest(pods);

	if (!workload)
		set(ret, "NoWorkload", xstrdup("its Deployment or Job does not exist"));
	else if (pod)
		read_pod(pod, ret);
	else
		read_workload(workload, ret);
}
