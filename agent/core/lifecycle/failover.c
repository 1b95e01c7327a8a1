#include "core/lifecycle/failover.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"

#define HOME_KEY   "org.apache.flink.k8s.leader.dispatcher"
#define ANNOTATION "control-plane.alpha.kubernetes.io/leader"
#define MARGIN_MS  2000 /* after the end of a lease; the server's time has whole seconds only */
#define AHEAD_MS   5000 /* later renewals mean that the clocks disagree */

/* ---- the map ---- */

void failover_lock_release(struct failover_lock *lock)
{
	if (!lock)
		return;
	for (size_t i = 0; i < lock->session_count; i++) {
		free(lock->sessions[i].key);
		free(lock->sessions[i].value);
		free(lock->sessions[i].host);
	}
	free(lock->sessions);
	free(lock->resource_version);
	free(lock->holder);
	free(lock->renew_time);
	*lock = (struct failover_lock){0};
}

void failover_lock_add_session(struct failover_lock *lock, const char *key, const char *value,
			       const char *host, int port)
{
	struct failover_session *session;

	lock->sessions =
		xreallocarray(lock->sessions, lock->session_count + 1, sizeof(*lock->sessions));
	session = &lock->sessions[lock->session_count++];
	*session = (struct failover_session){
		.key = xstrdup(key), .value = xstrdup(value), .host = xstrdup(host), .port = port};
}

static const struct failover_session *session_of(const struct failover_lock *lock, const char *key)
{
	for (size_t i = 0; i < lock->session_count; i++)
		if (!strcmp(lock->sessions[i].key, key))
			return &lock->sessions[i];
	return NULL;
}

static bool is_held(const struct failover_lock *lock)
{
	return lock->holder && *lock->holder;
}

/* ---- while the process is alive ---- */

void failover_watch_begin(struct failover_watch *watch, const char *launch_id, const char *host,
			  int rpc_port, const struct failover_lock *before, int64_t now_unix_ms)
{
	const struct failover_session *home = before ? session_of(before, HOME_KEY) : NULL;

	failover_watch_release(watch);
	snprintf(watch->launch_id, sizeof(watch->launch_id), "%s", launch_id);
	watch->host = xstrdup(host);
	watch->rpc_port = rpc_port;
	watch->started_unix_ms = now_unix_ms;
	watch->before_known = before != NULL;
	watch->before = home ? xstrdup(home->value) : NULL;
	snprintf(watch->why, sizeof(watch->why), "its lock was not seen while it was alive");
}

__attribute__((format(printf, 2, 3))) static void unknown(struct failover_watch *watch,
							  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(watch->why, sizeof(watch->why), fmt, ap);
	va_end(ap);
	watch->proven = false;
	xstrset(&watch->first_holder, NULL);
	xstrset(&watch->first_renew, NULL);
	failover_lock_release(&watch->seen);
}

/* Is the leader the watched process, according to its sessions? */
static bool is_at_home(struct failover_watch *watch, const struct failover_lock *lock)
{
	const struct failover_session *home = session_of(lock, HOME_KEY);

	if (!watch->host)
		unknown(watch, "it has no address of its own");
	else if (!home)
		unknown(watch, "the leader has not published its address");
	else if (!xstris(home->host, watch->host) || home->port != watch->rpc_port)
		unknown(watch, "the leader is at %.60s:%d, not at %.60s:%d",
			home->host ? home->host : "?", home->port, watch->host, watch->rpc_port);
	else if (xstris(home->value, watch->before))
		unknown(watch, "the sessions are from before its start");
	else if (!watch->before_known && lock->acquire_unix_ms < watch->started_unix_ms)
		unknown(watch, "the lock may have been acquired before its start");
	else
		return true;
	return false;
}

static void look(struct failover_watch *watch, struct failover_lock *lock)
{
	if (!lock->present || lock->deleting || !lock->recorded || !lock->understood ||
	    !is_held(lock) || !lock->renew_time) {
		unknown(watch, "the lock had no owner when last seen");
		return;
	}
	if (!is_at_home(watch, lock))
		return;
	if (watch->proven && xstris(watch->seen.holder, lock->holder)) {
		failover_lock_release(&watch->seen);
	} else if (xstris(watch->first_holder, lock->holder)) {
		if (xstris(watch->first_renew, lock->renew_time))
			return;
	} else {
		unknown(watch, "the leader was seen only once and may have been another process");
		watch->first_holder = xstrdup(lock->holder);
		watch->first_renew = xstrdup(lock->renew_time);
		return;
	}
	watch->proven = true;
	watch->seen = *lock;
	*lock = (struct failover_lock){0};
}

void failover_watch_see(struct failover_watch *watch, struct failover_lock *lock)
{
	if (*watch->launch_id)
		look(watch, lock);
	failover_lock_release(lock);
}

void failover_watch_release(struct failover_watch *watch)
{
	free(watch->host);
	free(watch->before);
	free(watch->first_holder);
	free(watch->first_renew);
	failover_lock_release(&watch->seen);
	*watch = (struct failover_watch){0};
}

/* ---- after its death ---- */

__attribute__((format(printf, 2, 3))) static void do_not(struct failover_verdict *verdict,
							 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(verdict->reason, sizeof(verdict->reason), fmt, ap);
	va_end(ap);
	verdict->kind = FAILOVER_DO_NOT;
}

/* A key appeared after the last reading, for example the leader of a job. It belongs to the dead
 * process if it names an address of one of its sessions. */
static bool is_where_it_was(const struct failover_lock *seen, const struct failover_session *key)
{
	for (size_t i = 0; key->host && i < seen->session_count; i++)
		if (xstris(seen->sessions[i].host, key->host) &&
		    seen->sessions[i].port == key->port)
			return true;
	return false;
}

/* The first session that the dead process did not leave; NULL = all are its own. */
static const struct failover_session *stranger(const struct failover_lock *seen,
					       const struct failover_lock *lock)
{
	for (size_t i = 0; i < lock->session_count; i++) {
		const struct failover_session *now = &lock->sessions[i];
		const struct failover_session *then = session_of(seen, now->key);

		if (then ? !xstris(then->value, now->value) : !is_where_it_was(seen, now))
			return now;
	}
	return NULL;
}

/* The record that Flink's client writes when it releases the lock. */
static char *released_record(const struct failover_lock *lock, int64_t now_unix_ms)
{
	char now[CLOCK_TEXT_BYTES];
	size_t len;

	clock_rfc3339(now_unix_ms, now);
	len = strlen(now) - 1; /* three more digits in front of the 'Z' */
	return xasprintf(
		"{\"holderIdentity\":\"\",\"leaseDuration\":%s,\"acquireTime\":\"%.*s000Z\","
		"\"renewTime\":\"%.*s000Z\",\"leaderTransitions\":%" PRId64 "}",
		lock->iso ? "\"PT1S\"" : "1.000000000", (int)len, now, (int)len, now,
		lock->transitions);
}

char *failover_lock_patch(const struct failover_lock *lock, int64_t now_unix_ms)
{
	cleanup_json struct json *patch = json_object();
	cleanup_free char *record = released_record(lock, now_unix_ms);
	struct json *meta = json_add_object(patch, "metadata"), *data;
	cleanup_buf struct buf text = BUF_INIT;

	json_add_str(meta, "resourceVersion", lock->resource_version);
	json_add_str(json_add_object(meta, "annotations"), ANNOTATION, record);
	data = lock->session_count ? json_add_object(patch, "data") : NULL;
	for (size_t i = 0; i < lock->session_count; i++)
		json_add_null(data, lock->sessions[i].key);
	json_print(patch, &text);
	return buf_steal(&text);
}

static void judge_lock(const struct failover_watch *watch, const struct failover_lock *lock,
		       int64_t now_unix_ms, struct failover_verdict *verdict)
{
	const struct failover_session *other;

	if (!lock->resource_version)
		do_not(verdict, "the map has no resource version");
	else if (lock->deleting)
		do_not(verdict, "the map is being deleted");
	else if (!lock->recorded)
		do_not(verdict, "the map has no leader record");
	else if (!lock->understood)
		do_not(verdict, "the leader record is invalid");
	else if (is_held(lock) && !xstris(lock->holder, watch->seen.holder))
		do_not(verdict, "the lock is owned by %.60s, not by the dead %.60s", lock->holder,
		       watch->seen.holder);
	else if ((other = stranger(&watch->seen, lock)))
		do_not(verdict, "%.100s belongs to another session than the dead process's",
		       other->key);
	else if (!is_held(lock) && !lock->session_count) {
		verdict->kind = FAILOVER_NOTHING;
		snprintf(verdict->reason, sizeof(verdict->reason), "it is already released");
	} else {
		verdict->kind = FAILOVER_RELEASE;
		verdict->patch = failover_lock_patch(lock, now_unix_ms);
		snprintf(verdict->reason, sizeof(verdict->reason), "%s has died",
			 watch->seen.holder);
	}
}

void failover_decide(const struct failover_watch *watch, const char *launch_id, bool reaped,
		     const struct failover_lock *lock, int64_t now_unix_ms,
		     struct failover_verdict *ret_verdict)
{
	*ret_verdict = (struct failover_verdict){0};
	if (!reaped)
		do_not(ret_verdict, "its death was not observed");
	else if (!*watch->launch_id || !xstris(watch->launch_id, launch_id))
		do_not(ret_verdict, "it is not the watched process");
	else if (!watch->proven)
		do_not(ret_verdict, "%s", watch->why);
	else if (!lock->present) {
		ret_verdict->kind = FAILOVER_NOTHING;
		snprintf(ret_verdict->reason, sizeof(ret_verdict->reason), "there is no lock");
	} else {
		judge_lock(watch, lock, now_unix_ms, ret_verdict);
	}
}

/* ---- free? ---- */

/* A holder whose clock is behind renews with dates that have passed: what the API server has seen counts as well. */
static int64_t renewed_unix_ms(const struct failover_lock *lock)
{
	/* MUT: a lock is free although its holder renews it by a clock that is behind */
	if (lock->changed_unix_ms > lock->renew_unix_ms)
		return lock->changed_unix_ms;
	return lock->renew_unix_ms;
}

bool failover_lock_is_free(const struct failover_lock *lock, int64_t server_unix_ms,
			   int64_t unchanged_ms, char **ret_why)
{
	int64_t left_ms;

	if (!lock->present || !lock->recorded)
		return true;
	if (!lock->understood) {
		*ret_why = xstrdup("the leader record is invalid");
		return false;
	}
	if (!is_held(lock))
		return true;
	if (lock->duration_ms < 0 || lock->renew_unix_ms < 0) {
		*ret_why = xasprintf("%.60s owns it, without an end time", lock->holder);
		return false;
	}
	if (unchanged_ms > lock->duration_ms + MARGIN_MS)
		return true;
	if (!server_unix_ms || lock->renew_unix_ms > server_unix_ms + AHEAD_MS) {
		*ret_why = xasprintf("%.60s owns it, and %s", lock->holder,
				     server_unix_ms ? "its renewal is in the API server's future"
						    : "the API server sends no time");
		return false;
	}
	left_ms = renewed_unix_ms(lock) + lock->duration_ms + MARGIN_MS - server_unix_ms;
	if (left_ms < 0)
		return true;
	*ret_why = xasprintf("%.60s owns it for %" PRId64 " ms more", lock->holder, left_ms);
	return false;
}

bool failover_lock_is_ahead(const struct failover_lock *lock, int64_t now_unix_ms)
{
	return lock->present && lock->recorded && lock->understood && !lock->deleting &&
	       lock->resource_version && is_held(lock) &&
	       lock->renew_unix_ms > now_unix_ms + AHEAD_MS;
}
