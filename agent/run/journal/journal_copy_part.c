/*
 * The copy of the journal in storage (core/journal/journal_copy.h). What has been acknowledged by the journal's
 * own store is written there after launches, ends, savepoints and changes of the desired state, at most once
 * a minute, of a new launch and of an end within five seconds; and once more when drey ends, which waits for that no longer than a second.
 *
 * One writer: the drey that owns the journal. What another one has left there is replaced only when a launch of
 * this journal runs; and each write has the condition that nothing else was written since, where the store
 * knows that. Nothing waits for it, and what fails is only said.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "run/driver_internal.h"
#include "run/part.h"
#include "store/store_object.h"
#include "store/stores.h"

#define TIMEOUT_MS 10000
#define LEAVE_MS   1000

struct copy_part {
	struct driver *driver;
	struct lane *lane;
	struct loop_timer *timer;
	struct stores stores; /* of the worker's thread */
	struct copy_pace pace;
	bool busy, leaving, left;
	bool read;                  /* what is there is known */
	bool contested;             /* another drey has written since this one did */
	bool shadow;                /* what is known is about the copy of a candidate's journal */
	struct journal_copy *there; /* not to be replaced yet; NULL = nothing is */
	char etag[STORE_ETAG_BYTES];
	int64_t written_unix_ms, sequence; /* of what is there; 0 = nothing, or not known */
	int64_t leave_end_ms;
	char error[ERR_MSG_BYTES];
	char newer[ERR_MSG_BYTES]; /* why what is there is not replaced */
};

struct copy_job {
	struct copy_part *part;
	char *uri;
	size_t kept; /* of it: this directory must be there */
	bool write;
	int64_t timeout_ms;
	struct copy_mark mark;
	int64_t sequence, unix_ms;
	struct store_object object;
	struct journal_copy *found; /* NULL: there is none, or it cannot be used */
	struct err err;
};

static const char *uri_of(const struct copy_part *part)
{
	const struct setup *setup = part->driver->setup;

	return driver_in_shadow(part->driver) ? setup->candidate_copy_uri : setup->copy_uri;
}

static const char *name_space_of(const struct driver *driver)
{
	return driver->setup->kube.on ? driver->setup->kube.config.namespace : NULL;
}

/* ---- requests, on the worker's thread ---- */

static void copy_read_work(struct copy_job *job, struct store *store)
{
	struct store_object object = {.body = BUF_INIT};

	if (store_object_read(store, job->uri, job->timeout_ms, &object, &job->err) < 0)
		return;
	memcpy(job->object.etag, object.etag, sizeof(object.etag));
	/* a damaged one is replaced */
	(void)journal_copy_decode(buf_str(&object.body), object.body.len_bytes, &job->found,
				  &job->err);
	buf_release(&object.body);
}

static void copy_work(void *arg)
{
	struct copy_job *job = arg;
	struct store *store = stores_get(&job->part->stores, job->uri, &job->err);
	char etag[STORE_ETAG_BYTES] = "";

	if (!store)
		return;
	if (!job->write) {
		copy_read_work(job, store);
		return;
	}
	if (store_object_put(store, job->uri, job->kept, &job->object, job->timeout_ms, etag,
			     &job->err) == 0)
		memcpy(job->object.etag, etag, sizeof(etag));
}

/* ---- what came of it ---- */

static void copy_next_request(struct copy_part *part);

static void copy_complain(struct copy_part *part, char *where, const char *what)
{
	if (strcmp(where, what) != 0)
		log_warn(part->driver->log, "the copy of the journal is not up to date",
			 LOG_STR("copy", uri_of(part)), LOG_STR("why", what));
	snprintf(where, ERR_MSG_BYTES, "%s", what);
}

static void copy_date(struct copy_part *part, int64_t unix_ms, int64_t sequence)
{
	part->written_unix_ms = part->driver->metrics.copy_unix_ms = unix_ms;
	part->sequence = sequence;
}

static void copy_failed(struct copy_part *part, const struct copy_job *job)
{
	copy_pace_failed(&part->pace, clock_mono_ms());
	part->read = false;
	copy_complain(part, part->error, job->err.msg);
}

/* A launch of this journal that runs shows that this is the one that lives. */
static void copy_judge(struct copy_part *part)
{
	const struct journal *journal = &part->driver->life.journal;
	enum copy_verdict verdict;
	char what[ERR_MSG_BYTES];

	if (!part->there)
		return;
	verdict = journal_copy_judge(journal, part->there, name_space_of(part->driver));
	if (verdict == COPY_REPLACE ||
	    (!part->contested && journal_copy_is_overtaken(journal, part->there))) {
		journal_copy_free(part->there);
		part->there = NULL;
		part->newer[0] = '\0';
		return;
	}
	snprintf(what, sizeof(what), "it was written by %.200s (%.100s), %s: not replaced",
		 part->there->journal.writer ? part->there->journal.writer : "another drey",
		 part->there->head.place ? part->there->head.place : "another journal",
		 verdict == COPY_IS_FOREIGN ? "of another namespace or application"
					    : "and knows more than this journal");
	copy_complain(part, part->newer, what);
}

static void copy_was_read(struct copy_part *part, struct copy_job *job)
{
	bool damaged = job->err.kind == ERR_FORMAT && *job->object.etag;
	struct copy_mark mark;

	if (job->err.kind && job->err.kind != ERR_ABSENT && !damaged) {
		copy_failed(part, job);
		return;
	}
	if (damaged)
		log_warn(part->driver->log, "the copy of the journal is damaged: it is replaced",
			 LOG_STR("copy", job->uri), LOG_ERR(&job->err));
	part->read = true;
	part->error[0] = '\0';
	memcpy(part->etag, job->object.etag, sizeof(part->etag));
	journal_copy_free(part->there);
	part->there = job->found;
	job->found = NULL;
	if (!part->there)
		return;
	copy_date(part, part->there->head.written_unix_ms, part->there->journal.sequence);
	mark = journal_copy_mark(&part->there->journal);
	copy_pace_wrote(&part->pace, &mark);
}

static void copy_was_written(struct copy_part *part, const struct copy_job *job)
{
	if (job->err.kind == ERR_BUSY) { /* another drey writes it: what does it say? */
		part->contested = part->contested || part->written_unix_ms;
		part->read = false;
		return;
	}
	if (job->err.kind) {
		copy_failed(part, job);
		return;
	}
	if (part->error[0])
		log_info(part->driver->log, "the copy of the journal is up to date again",
			 LOG_STR("copy", job->uri));
	part->error[0] = '\0';
	copy_pace_wrote(&part->pace, &job->mark);
	memcpy(part->etag, job->object.etag, sizeof(part->etag));
	copy_date(part, job->unix_ms, job->sequence);
}

static void copy_done(void *arg, bool ran)
{
	struct copy_job *job = arg;
	struct copy_part *part = job->part;

	part->busy = false;
	if (ran && !part->driver->closing) {
		if (job->write)
			copy_was_written(part, job);
		else
			copy_was_read(part, job);
		copy_next_request(part);
		if (part->leaving)
			driver_again(part->driver);
	}
	journal_copy_free(job->found);
	buf_release(&job->object.body);
	free(job->uri);
	free(job);
}

/* ---- what to do next ---- */

static void copy_submit(struct copy_part *part, struct copy_job *job)
{
	part->busy = true;
	job->part = part;
	job->uri = xstrdup(uri_of(part));
	job->kept = strlen(part->driver->setup->copy_dir);
	job->timeout_ms = part->leaving ? LEAVE_MS : TIMEOUT_MS;
	lane_submit(part->lane, copy_work, copy_done, job);
}

static void copy_submit_write(struct copy_part *part, const struct copy_mark *mark)
{
	struct driver *driver = part->driver;
	struct journal *journal = &driver->life.journal;
	struct copy_job *job = xcalloc(1, sizeof(*job));
	const struct journal_copy_head head = {
		.application = journal->application,
		.name_space = (char *)(uintptr_t)name_space_of(driver),
		.place = (char *)(uintptr_t)journal_store_place(driver_store(driver)),
		.drey_version = (char *)(uintptr_t)DREY_VERSION,
		.written_unix_ms = clock_unix_ms(),
	};

	copy_pace_begin(&part->pace, clock_mono_ms());
	if (journal_copy_encode(journal, &head, &job->object.body, &job->err) < 0) {
		copy_failed(part, job);
		free(job);
		return;
	}
	job->write = true;
	job->mark = *mark;
	job->sequence = journal->sequence;
	job->unix_ms = head.written_unix_ms;
	memcpy(job->object.etag, part->etag, sizeof(part->etag));
	copy_submit(part, job);
}

/* Only what the journal itself has, of an application that has a launch, and only by its owner. */
static bool copy_may_ask(const struct copy_part *part)
{
	const struct driver *driver = part->driver;
	const struct lifecycle *life = &driver->life;
	bool leased = !driver->setup->config.lease.uri || (life->leased_ms && !life->lease_assumed);

	return driver->alive && !driver->closing && !part->busy && !part->left && leased &&
	       !life->fenced && !life->foreign && life->requested == life->acknowledged &&
	       !life->journal_broken && life->journal.launch_count &&
	       (driver_in_shadow(driver) || lifecycle_role(life) == ROLE_OWNER);
}

static void copy_next_request(struct copy_part *part)
{
	int64_t now_ms = clock_mono_ms(), wait_ms = 0;
	enum copy_next next;
	struct copy_mark mark;

	if (!copy_may_ask(part))
		return;
	if (part->shadow != driver_in_shadow(part->driver)) {
		part->shadow = !part->shadow;
		part->read = part->pace.known = false;
	}
	mark = journal_copy_mark(&part->driver->life.journal);
	copy_judge(part);
	if (part->there && part->read)
		return;
	next = copy_pace_next(&part->pace, &mark, part->leaving, now_ms, &wait_ms);
	if (next == COPY_LATER)
		loop_timer_set(part->timer, wait_ms);
	else if (next == COPY_NOW && !part->read)
		copy_submit(part, xcalloc(1, sizeof(struct copy_job)));
	else if (next == COPY_NOW)
		copy_submit_write(part, &mark);
}

static void copy_on_timer(void *arg)
{
	struct copy_part *part = arg;

	if (part->leaving && clock_mono_ms() >= part->leave_end_ms) {
		/* MUT: drey waits for the copy for ever when it ends */
		part->left = true;
		driver_again(part->driver);
		return;
	}
	copy_next_request(part);
}

/* ---- the part ---- */

static int copy_open(struct driver *driver, struct err *err)
{
	struct copy_part *part;

	(void)err;
	if (!driver->setup->copy_uri)
		return 0;
	driver->copy = part = xcalloc(1, sizeof(*part));
	part->driver = driver;
	part->stores.config = &driver->setup->storage;
	part->lane = lane_new(driver->workers, "drey-copy");
	part->timer = loop_timer_new(driver->loop, copy_on_timer, part);
	return 0;
}

static void copy_stepped(struct driver *driver)
{
	if (driver->copy)
		copy_next_request(driver->copy);
}

static enum gate_verdict copy_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct copy_part *part = driver->copy;

	if (!part || type != GATE_EXIT)
		return GATE_PASSES;
	if (!part->leaving) {
		part->leaving = true;
		part->leave_end_ms = clock_mono_ms() + LEAVE_MS;
		loop_timer_set(part->timer, LEAVE_MS);
		copy_next_request(part);
	}
	return part->left || !part->busy
		       ? GATE_PASSES
		       : gate_waits(gate, "the copy of the journal", part->leave_end_ms);
}

static void copy_outside(const struct driver *driver, struct conditions_outside *outside)
{
	const struct copy_part *part = driver->copy;

	outside->copy.off = driver->setup->copy_off;
	if (part) {
		outside->copy.error = *part->newer   ? part->newer
				      : *part->error ? part->error
						     : NULL;
		outside->copy.newer = *part->newer;
		outside->copy.written_unix_ms = part->written_unix_ms;
	}
}

static void copy_status(const struct driver *driver, struct json *document)
{
	const struct copy_part *part = driver->copy;
	struct json *to = json_add_object(document, "journalCopy");

	json_add_str(to, "uri", part ? uri_of(part) : NULL);
	json_add_known(to, "writtenUnixMs", part ? part->written_unix_ms : 0, 1);
	json_add_known(to, "sequence", part ? part->sequence : 0, 1);
	json_add_str(to, "error",
		     !part          ? driver->setup->copy_off
		     : *part->newer ? part->newer
		     : *part->error ? part->error
				    : NULL);
}

static void copy_close(struct driver *driver)
{
	struct copy_part *part = driver->copy;

	if (!part)
		return;
	driver->copy = NULL;
	loop_timer_free(part->timer);
	/* a worker that hangs still uses the stores, and the part */
	if (!lane_free(part->lane, LANE_PATIENCE_MS))
		return;
	stores_release(&part->stores);
	journal_copy_free(part->there);
	free(part);
}

const struct part part_copy = {
	.name = "copy",
	.open = copy_open,
	.may = copy_may,
	.stepped = copy_stepped,
	.outside = copy_outside,
	.status = copy_status,
	.close = copy_close,
};
