#include "core/desired.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "core/snapshot.h"

#define RESTORE_TOO_LATE                                                                           \
	"restore: the job is running; suspend or cancel it first, then request it together with state: running, or with a new token"
#define PROMOTE_PAST                                                                               \
	"promote: the time of the cut is in the past: records of that time, or later, were written already; use a new value with a later time, or without one"

const char *const desired_keys[DESIRED_KEYS] = {
	[DESIRED_KEY_STATE] = "state",
	[DESIRED_KEY_DO_NOT_RESTART] = "do-not-restart",
	[DESIRED_KEY_SAVEPOINT_NONCE] = "savepoint-nonce",
	[DESIRED_KEY_RESTART_NONCE] = "restart-nonce",
	[DESIRED_KEY_RESTORE] = "restore",
	[DESIRED_KEY_CHECKPOINT_NONCE] = "checkpoint-nonce",
	[DESIRED_KEY_PARALLELISM] = "parallelism",
	[DESIRED_KEY_PROMOTE] = "promote",
	[DESIRED_KEY_ABORT] = "abort",
	[DESIRED_KEY_ACKNOWLEDGE] = "acknowledge",
};

const char *desired_checkpoint_nonce(const char *text, bool *ret_full)
{
	static const char full[] = "full";
	size_t len = sizeof(full) - 1;

	*ret_full = text && !strncmp(text, full, len) && text[len] == ' ';
	return *ret_full ? text + len + strspn(text + len, " ") : text;
}

char *desired_promote_nonce(const char *text, int64_t *ret_at_unix_ms, struct err *err)
{
	size_t len = text ? strcspn(text, " ") : 0;
	const char *time = text ? text + len + strspn(text + len, " ") : "";

	*ret_at_unix_ms = 0;
	if (*time && clock_parse_rfc3339(time, ret_at_unix_ms, err) < 0)
		return NULL;
	return text ? xstrndup(text, len) : NULL;
}

int desired_key_find(const char *name)
{
	for (int i = 0; i < DESIRED_KEYS; i++)
		if (!strcmp(desired_keys[i], name))
			return i;
	return -1;
}

void desired_release(struct desired *desired)
{
	for (int i = 0; i < DESIRED_KEYS; i++)
		free(desired->text[i]);
	free(desired->restore.token);
	free(desired->restore.path);
	free(desired->ignored);
	free(desired->used);
	free(desired->restore_generation);
	free(desired->promote_nonce);
	parallelism_release(&desired->parallelism);
	*desired = (struct desired){0};
}

void desired_copy(struct desired *to, const struct desired *from)
{
	*to = *from;
	for (int i = 0; i < DESIRED_KEYS; i++)
		to->text[i] = xstrdup(from->text[i]);
	to->restore.token = xstrdup(from->restore.token);
	to->restore.path = xstrdup(from->restore.path);
	to->ignored = xstrdup(from->ignored);
	to->used = xstrdup(from->used);
	to->restore_generation = xstrdup(from->restore_generation);
	to->promote_nonce = xstrdup(from->promote_nonce);
	parallelism_copy(&to->parallelism, &from->parallelism);
}

static void overlay_restore(struct desired *desired, const struct desired *over)
{
	free(desired->restore.token);
	free(desired->restore.path);
	desired->restore = over->restore;
	desired->restore.token = xstrdup(over->restore.token);
	desired->restore.path = xstrdup(over->restore.path);
	xstrset(&desired->used, over->used);
	xstrset(&desired->restore_generation, over->restore_generation);
}

bool desired_is_for_other(const struct desired *desired, const char *generation)
{
	return desired->restore_generation && generation &&
	       strcmp(desired->restore_generation, generation) != 0;
}

void desired_drop_restore(struct desired *desired)
{
	xstrset(&desired->text[DESIRED_KEY_RESTORE], NULL);
	xstrset(&desired->restore_generation, NULL);
	free(desired->restore.token);
	free(desired->restore.path);
	desired->restore = (struct restore_request){0};
}

void desired_overlay(struct desired *desired, const struct desired *over)
{
	bool do_not_restart = desired->do_not_restart || over->do_not_restart;

	for (int i = 0; i < DESIRED_KEYS; i++)
		if (over->text[i])
			xstrset(&desired->text[i], over->text[i]);
	if (over->text[DESIRED_KEY_STATE])
		desired->state = over->state;
	if (over->text[DESIRED_KEY_DO_NOT_RESTART] && do_not_restart)
		xstrset(&desired->text[DESIRED_KEY_DO_NOT_RESTART], "true");
	desired->do_not_restart = do_not_restart;
	if (over->text[DESIRED_KEY_RESTORE])
		overlay_restore(desired, over);
	if (over->text[DESIRED_KEY_PROMOTE]) {
		xstrset(&desired->promote_nonce, over->promote_nonce);
		desired->promote_at_unix_ms = over->promote_at_unix_ms;
	}
	if (over->text[DESIRED_KEY_PARALLELISM]) {
		parallelism_release(&desired->parallelism);
		parallelism_copy(&desired->parallelism, &over->parallelism);
	}
}

void desired_set_do_not_restart(struct desired *desired)
{
	desired->do_not_restart = true;
	xstrset(&desired->text[DESIRED_KEY_DO_NOT_RESTART], "true");
}

bool desired_same_texts(const struct desired *a, const struct desired *b)
{
	for (int i = 0; i < DESIRED_KEYS; i++)
		if (!xstrsame(a->text[i], b->text[i]))
			return false;
	return true;
}

/* ---- tokens that were carried out ---- */

static bool list_has(const char *used, const char *token)
{
	size_t len = strlen(token);

	for (const char *at = used; at && *at; at += strspn(at, " ")) {
		size_t word = strcspn(at, " ");

		if (word == len && !strncmp(at, token, len))
			return true;
		at += word;
	}
	return false;
}

bool desired_is_used(const struct desired *desired)
{
	return desired->restore.token && list_has(desired->used, desired->restore.token);
}

static size_t count_words(const char *text)
{
	size_t count = 0;

	for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
		count++;
		text += strcspn(text, " ");
	}
	return count;
}

char *desired_used_add(const char *used, const char *token)
{
	const char *kept = used ? used + strspn(used, " ") : "";

	for (size_t count = count_words(kept); count >= DESIRED_USED_MAX; count--) {
		kept += strcspn(kept, " ");
		kept += strspn(kept, " ");
	}
	return xasprintf("%s%s%s", kept, *kept ? " " : "", token);
}

/* ---- what has changed ---- */

static bool differs(const char *now, const char *before)
{
	return now && (!before || strcmp(now, before) != 0);
}

/* There is a request, and it is not known to be carried out. */
static bool may_restore(const struct desired *desired, const struct journal *journal)
{
	return desired->restore.kind != RESTORE_NONE && !desired_is_used(desired) &&
	       !journal_is_consumed(journal, desired->restore.token);
}

static bool is_new_restore(const struct desired *desired, const struct desired_seen *seen,
			   const struct journal *journal)
{
	return may_restore(desired, journal) &&
	       differs(desired->restore.token, seen->restore_token);
}

static bool is_other(const struct restore_request *wanted, enum restore_request_kind kind,
		     const char *path)
{
	return wanted->kind != kind ||
	       (kind == RESTORE_PATH && !snapshot_same_path(wanted->path, path));
}

bool desired_reuses_token(const struct desired *desired, const struct journal *journal)
{
	const struct restore_request *wanted = &desired->restore, *given = &journal->intent.restore;

	if (wanted->kind == RESTORE_NONE)
		return false;
	if (given->kind != RESTORE_NONE && xstrsame(given->token, wanted->token))
		return is_other(wanted, given->kind, given->path) ||
		       wanted->foreign != given->foreign ||
		       wanted->allow_non_restored != given->allow_non_restored;
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];

		if (launch->request_token && xstrsame(launch->request_token, wanted->token))
			return is_other(wanted, launch->restore_path ? RESTORE_PATH : RESTORE_EMPTY,
					launch->restore_path);
	}
	return false;
}

static unsigned compare_state(const struct desired *desired, const struct desired_seen *seen,
			      const struct lifecycle *life)
{
	unsigned fields = 0;

	if (!differs(desired->text[DESIRED_KEY_STATE], seen->text[DESIRED_KEY_STATE]) ||
	    (!seen->known && desired->state == life->journal.intent.state))
		return 0;
	fields |= CONTROL_STATE;
	if (desired->state == DESIRED_RUNNING && seen->known)
		fields |= CONTROL_NEW_START;
	/* what was requested while suspended is for this launch */
	if (desired->state == DESIRED_RUNNING && may_restore(desired, &life->journal))
		fields |= CONTROL_RESTORE;
	return fields;
}

/* At the first reading what is in force already, or nothing at all, is no request. */
static unsigned compare_parallelism(const struct desired *desired, const struct desired_seen *seen,
				    const struct journal *journal)
{
	const struct parallelism *wanted = &desired->parallelism, *now = &journal->parallelism;

	if (!differs(desired->text[DESIRED_KEY_PARALLELISM], seen->text[DESIRED_KEY_PARALLELISM]))
		return 0;
	if (!seen->known &&
	    (wanted->reset ? parallelism_is_empty(now) : parallelism_same(wanted, now)))
		return 0;
	return CONTROL_PARALLELISM;
}

/* Each change is one request. */
static const struct {
	enum desired_key key;
	enum control_field field;
} nonces[] = {
	{DESIRED_KEY_SAVEPOINT_NONCE, CONTROL_SAVEPOINT},
	{DESIRED_KEY_RESTART_NONCE, CONTROL_RESTART},
	{DESIRED_KEY_CHECKPOINT_NONCE, CONTROL_CHECKPOINT},
	{DESIRED_KEY_PROMOTE, CONTROL_PROMOTE},
	{DESIRED_KEY_ABORT, CONTROL_ABORT},
	{DESIRED_KEY_ACKNOWLEDGE, CONTROL_ACKNOWLEDGE},
};

static unsigned compare_all(const struct desired *desired, const struct desired_seen *seen,
			    const struct lifecycle *life)
{
	unsigned fields = compare_state(desired, seen, life);

	if (is_new_restore(desired, seen, &life->journal)) {
		fields |= CONTROL_RESTORE;
		if (seen->known)
			fields |= CONTROL_NEW_START;
	}
	/* the first nonce requests nothing */
	for (size_t i = 0; i < ARRAY_LEN(nonces) && seen->known; i++)
		if (differs(desired->text[nonces[i].key], seen->text[nonces[i].key]))
			fields |= nonces[i].field;
	return fields | compare_parallelism(desired, seen, &life->journal);
}

static unsigned compare_do_not_restart(const struct desired *desired,
				       const struct desired_seen *seen,
				       const struct lifecycle *life, bool at_start)
{
	bool changed = differs(desired->text[DESIRED_KEY_DO_NOT_RESTART],
			       seen->text[DESIRED_KEY_DO_NOT_RESTART]);

	if (desired->do_not_restart)
		return (changed || at_start) && !life->journal.intent.do_not_restart
			       ? CONTROL_DO_NOT_RESTART
			       : 0;
	return changed && !desired->bad.kind && life->journal.intent.do_not_restart
		       ? CONTROL_DO_NOT_RESTART
		       : 0;
}

/* Which request is refused, with reasons that are no matter of course. */
static struct desired_refusal first_refused(const struct desired *desired,
					    const struct lifecycle *life, unsigned fields)
{
	/* with the stop it is for the next launch, and is applied then */
	if ((fields & CONTROL_RESTORE) && lifecycle_refuses_restore(life) &&
	    (!(fields & CONTROL_STATE) || desired->state == DESIRED_RUNNING))
		return (struct desired_refusal){DESIRED_KEY_RESTORE, RESTORE_TOO_LATE};
	/* MUT: that a promotion was refused is not said */
	if ((fields & CONTROL_PROMOTE) && !lifecycle_refuses_promote(life, 0) &&
	    lifecycle_refuses_promote(life, desired->promote_at_unix_ms))
		return (struct desired_refusal){DESIRED_KEY_PROMOTE, PROMOTE_PAST};
	return (struct desired_refusal){.why = NULL};
}

bool desired_compare(const struct desired *desired, const struct desired_seen *seen,
		     const struct lifecycle *life, bool at_start, struct event *ret_event,
		     struct desired_refusal *ret_refused)
{
	unsigned fields = compare_do_not_restart(desired, seen, life, at_start);
	struct event event = {.type = EVENT_CONTROL};
	struct intent *intent = &event.control.intent;

	if (!desired->bad.kind)
		fields |= compare_all(desired, seen, life);
	*ret_refused = first_refused(desired, life, fields);
	if ((fields & CONTROL_RESTORE) && lifecycle_refuses_restore(life))
		fields &= ~(unsigned)(CONTROL_RESTORE | CONTROL_NEW_START);
	if (!fields)
		return false;
	intent->state = desired->state;
	intent->do_not_restart = desired->do_not_restart;
	intent->savepoint_nonce = desired->text[DESIRED_KEY_SAVEPOINT_NONCE];
	intent->restart_nonce = desired->text[DESIRED_KEY_RESTART_NONCE];
	event.control.checkpoint_nonce = desired_checkpoint_nonce(
		desired->text[DESIRED_KEY_CHECKPOINT_NONCE], &event.control.checkpoint_full);
	event.control.promote_nonce = desired->promote_nonce;
	event.control.promote_at_unix_ms = desired->promote_at_unix_ms;
	event.control.abort_nonce = desired->text[DESIRED_KEY_ABORT];
	event.control.acknowledge_nonce = desired->text[DESIRED_KEY_ACKNOWLEDGE];
	if (fields & CONTROL_PARALLELISM)
		intent->parallelism = desired->parallelism;
	if (fields & CONTROL_RESTORE) {
		intent->restore = desired->restore;
		intent->restore.generation = desired->restore_generation;
		fields |= desired->restore_standing ? CONTROL_STANDING : 0;
	}
	event.control.fields = fields;
	*ret_event = event;
	return true;
}

/* ---- what was seen ---- */

static bool update(char **seen, const char *now)
{
	if (!now || (*seen && !strcmp(*seen, now)))
		return false;
	xstrset(seen, now);
	return true;
}

bool desired_seen_update(struct desired_seen *seen, const struct desired *desired)
{
	bool changed = false;

	if (desired->bad.kind) {
		if (desired->do_not_restart)
			changed = update(&seen->text[DESIRED_KEY_DO_NOT_RESTART], "true");
		return changed;
	}
	for (int i = 0; i < DESIRED_KEYS; i++)
		changed |= update(&seen->text[i], desired->text[i]);
	changed |= update(&seen->restore_token, desired->restore.token);
	changed |= !seen->known;
	seen->known = true;
	return changed;
}

void desired_seen_release(struct desired_seen *seen)
{
	for (int i = 0; i < DESIRED_KEYS; i++)
		free(seen->text[i]);
	free(seen->restore_token);
	free(seen->resource_error);
	*seen = (struct desired_seen){0};
}
