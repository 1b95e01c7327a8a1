/* observe_copy: the journal's copy in storage, read only when the journal knows less than it must. */
#include <stdlib.h>

#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "run/observe/observe_internal.h"
#include "store/store_object.h"

#define TIMEOUT_MS 10000

static int read_copy_object(struct look *look, struct buf *body, struct err *err)
{
	const char *uri = look->plan->copy_uri;
	struct store *store = stores_get(&look->stores, uri, err);
	struct store_object object = {.body = BUF_INIT};
	struct err why = {0};

	if (!store)
		return -1;
	if (store_object_read(store, uri, TIMEOUT_MS, &object, err) < 0) {
		/* MUT: there is no copy on the word of one answer */
		if (err->kind == ERR_ABSENT && observe_confirm_absent(store, uri, &why) < 0)
			*err = why;
		return -1;
	}
	*body = object.body;
	return 0;
}

/* There is a copy, but it must not be used. */
static void refuse_copy(struct look *look, const char *why)
{
	cleanup_free char *detail = xasprintf("%s: %s", look->plan->copy_uri, why);

	facts_set_source(look->facts, SOURCE_COPY, SOURCE_PRESENT, detail);
}

/* A stop with savepoint may look like an end to Flink. */
static bool is_needed(const struct look *look)
{
	enum job_end ended = look->facts->ended;

	return !look->plan->copy_later || ended == JOB_END_FINISHED || ended == JOB_END_STOPPED ||
	       ended == JOB_END_CANCELED;
}

static void take_copy(struct look *look, const struct buf *body)
{
	const struct observe_plan *plan = look->plan;
	cleanup_buf struct buf text = BUF_INIT;
	struct journal_copy *copy = NULL;
	struct err err = {0};

	if (journal_copy_decode(buf_str(body), body->len_bytes, &copy, &err) < 0) {
		refuse_copy(look, err.msg);
		return;
	}
	/* MUT: the copy of another application is followed */
	if (journal_copy_is_foreign(copy, plan->application, plan->name_space, &text)) {
		refuse_copy(look, buf_str(&text));
		journal_copy_free(copy);
		return;
	}
	copy->uri = xstrdup(plan->copy_uri);
	journal_copy_describe(copy, &text);
	facts_set_source(look->facts, SOURCE_COPY, SOURCE_PRESENT, buf_str(&text));
	facts_take_copy(look->facts, copy, plan->last_launch_id);
}

void observe_copy(struct look *look)
{
	const struct observe_plan *plan = look->plan;
	cleanup_buf struct buf body = BUF_INIT;
	struct err err = {0};

	if (!plan->copy_uri || plan->journal_state == SOURCE_UNREADABLE || !is_needed(look)) {
		facts_set_source(look->facts, SOURCE_COPY, SOURCE_NOT_CONFIGURED, NULL);
		return;
	}
	if (read_copy_object(look, &body, &err) == 0)
		take_copy(look, &body);
	else if (err.kind == ERR_ABSENT)
		facts_set_source(look->facts, SOURCE_COPY, SOURCE_ABSENT, "there is none");
	else
		facts_set_source(look->facts, SOURCE_COPY, SOURCE_UNREADABLE, err.msg);
}
