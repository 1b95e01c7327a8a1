/*
 * The lease object (lease.uri): who may run the application, of several installations that share nothing
 * but a bucket. core/lease decides; this executes one request after another, on a lane of its own, and says
 * what came of it: EVENT_LEASE. Nothing is read to be started from, and nothing is launched, without it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/lease/lease.h"
#include "run/driver_internal.h"
#include "run/lease/lease_place.h"
#include "run/lease/lease_uri.h"
#include "run/part.h"
#include "store/store_object.h"
#include "store/stores.h"

#define REQUESTS    6    /* that fit into a duration, if none is answered */
#define PATIENCE_MS 1000 /* when drey exits: for the write that gives the lease back */

struct lease_part {
	struct driver *driver;
	struct lane *lane;
	struct loop_timer *timer;
	struct lease lease;
	struct stores stores; /* of the worker's thread */
	bool ready;           /* the journal is read, and has an id */
	bool checked;         /* the server refuses what is not as required: tried */
	bool was_held;
	char place[LEASE_PLACE_BYTES];
	char uri[LEASE_URI_BYTES]; /* of the object, as it is in claims; "" = not known */
	struct lease_mark written; /* the mark in the state directory */
	bool told_unmarked;
	int64_t leave_end_ms; /* when drey exits: its patience */
};

/* Works on a copy: the lease itself belongs to the loop's thread. */
struct lease_job {
	struct lease_part *part;
	enum lease_act act;
	bool check;
	struct lease_claim claim; /* READ: that was read; else what is written */
	char etag[LEASE_ETAG_BYTES];
	enum lease_answer answer;
	struct err err;
	bool marks; /* the mark comes first */
	struct lease_mark mark;
	struct err mark_err;
};

static const struct config *config_of(const struct lease_part *part)
{
	return &part->driver->setup->config;
}

/* ---- requests, on the worker's thread ---- */

static int64_t timeout_of(const struct lease_part *part)
{
	return config_of(part)->lease.duration_ms / REQUESTS;
}

static void take_error(struct lease_job *job)
{
	job->answer = job->err.kind == ERR_ABSENT ? LEASE_ANSWER_ABSENT
		      : job->err.kind == ERR_BUSY ? LEASE_ANSWER_CONFLICT
						  : LEASE_ANSWER_ERROR;
}

/* One that another version has spelled is compared in our spelling; what is not such a URI is another object. */
static void spell_uri(struct lease_claim *claim)
{
	char uri[LEASE_URI_BYTES];

	/* MUT: another spelling of the lease object is another one */
	if (claim->uri[0] && lease_uri(claim->uri, uri, NULL) == 0)
		memcpy(claim->uri, uri, sizeof(uri));
}

static void read_object(struct lease_job *job, struct store *store)
{
	const struct config *config = config_of(job->part);
	struct store_object object = {.body = BUF_INIT};

	if (store_object_read(store, config->lease.uri, timeout_of(job->part), &object, &job->err) <
	    0) {
		take_error(job);
		return;
	}
	memcpy(job->etag, object.etag, sizeof(job->etag));
	job->answer = LEASE_ANSWER_OK;
	if (lease_claim_parse(buf_str(&object.body), object.body.len_bytes, config->application,
			      &job->claim, &job->err) < 0) {
		job->answer = LEASE_ANSWER_DAMAGED;
		err_wrap(&job->err, "%s", config->lease.uri);
	}
	spell_uri(&job->claim);
	buf_release(&object.body);
}

static void write_object(struct lease_job *job, struct store *store)
{
	const struct config *config = config_of(job->part);
	struct store_object object = {.body = BUF_INIT};
	int rc;

	if (job->act == LEASE_REPLACE)
		memcpy(object.etag, job->etag, sizeof(object.etag));
	lease_claim_print(&job->claim, config->application, &object.body);
	rc = store_object_write(store, config->lease.uri, &object, timeout_of(job->part), job->etag,
				&job->err);
	buf_release(&object.body);
	if (rc < 0)
		take_error(job);
	else
		job->answer = LEASE_ANSWER_OK;
}

/* Before the first write: a server that ignores conditions is found out with another object. */
static int check_server(const struct lease_job *job, struct store *store, struct err *err)
{
	cleanup_free char *probe = xasprintf("%s.probe", config_of(job->part)->lease.uri);

	return store_object_check(store, probe, timeout_of(job->part), err);
}

/* Before the write is sent: an agent that begins after it must find it. A directory that cannot be written costs
 * the next agent its proof, and this one nothing. */
static void write_mark(struct lease_job *job)
{
	if (job->marks)
		lease_mark_store(config_of(job->part)->state_directory, job->part->place,
				 &job->mark, &job->mark_err);
}

static void lease_work(void *arg)
{
	struct lease_job *job = arg;
	struct store *store =
		stores_get(&job->part->stores, config_of(job->part)->lease.uri, &job->err);

	write_mark(job);
	if (!store || (job->check && check_server(job, store, &job->err) < 0))
		job->answer = LEASE_ANSWER_ERROR;
	else if (job->act == LEASE_READ)
		read_object(job, store);
	else
		write_object(job, store);
}

/* ---- what came of it ---- */

static void lease_next_request(struct lease_part *part);

static void tell_held(struct lease_part *part)
{
	struct event event = {.type = EVENT_LEASE, .lease = {.sent_ms = part->lease.held_ms}};

	if (!part->was_held)
		log_info(part->driver->log, "this installation holds the lease",
			 LOG_STR("lease", config_of(part)->lease.uri));
	part->was_held = true;
	driver_step(part->driver, &event);
}

static void tell_lost(struct lease_part *part)
{
	cleanup_buf struct buf why = BUF_INIT;
	struct event event = {.type = EVENT_LEASE};

	lease_print(&part->lease, clock_mono_ms(), &why);
	event.lease.why = buf_str(&why);
	log_warn(part->driver->log, "this installation has lost the lease",
		 LOG_STR("lease", config_of(part)->lease.uri), LOG_STR("why", buf_str(&why)));
	part->was_held = false;
	driver_step(part->driver, &event);
}

/* The journal remembers how long a claim may last that this installation has seen, if it is longer than its own. */
static void tell_longest(struct lease_part *part)
{
	int64_t longest_ms = part->lease.longest_ms;
	struct event event = {.type = EVENT_LEASE, .lease = {.longest_ms = longest_ms}};

	if (longest_ms == part->lease.duration_ms)
		longest_ms = 0;
	if (longest_ms != part->driver->life.journal.lease_longest_ms)
		driver_step(part->driver, &event);
}

static void mark_took(struct lease_part *part, const struct lease_job *job)
{
	if (job->marks && job->mark_err.kind == ERR_NONE)
		part->written = job->mark;
	if (job->mark_err.kind != ERR_NONE && !part->told_unmarked)
		log_warn(
			part->driver->log,
			"cannot mark the lease in the state directory; an agent that is restarted will wait for its own lease",
			LOG_ERR(&job->mark_err));
	if (job->marks)
		part->told_unmarked = job->mark_err.kind != ERR_NONE;
}

static void lease_took(struct lease_part *part, const struct lease_job *job)
{
	struct lease *lease = &part->lease;
	int64_t before_ms = lease->held_ms, now_ms = clock_mono_ms();

	mark_took(part, job);
	if (job->act == LEASE_READ)
		lease_was_read(lease, job->answer, job->etag, &job->claim, job->err.msg, now_ms);
	else
		lease_was_written(lease, job->answer, job->etag, job->err.msg, now_ms);
	if (job->check && job->err.kind == ERR_NONE)
		part->checked = true;
	if (lease->leaving)
		return;
	tell_longest(part);
	/* one that ran out ends Flink by itself: the object is still ours */
	if (part->was_held && !lease->held_ms)
		tell_lost(part);
	else if (lease->held_ms && lease->held_ms != before_ms)
		tell_held(part);
}

static void lease_done(void *arg, bool ran)
{
	struct lease_job *job = arg;
	struct lease_part *part = job->part;

	if (ran && !part->driver->closing) {
		lease_took(part, job);
		lease_next_request(part);
		if (part->lease.leaving)
			driver_again(part->driver);
	}
	free(job);
}

/* ---- what to do next ---- */

/* From the kernel, which no copy of this machine shares; not from a generator that was seeded once. */
static bool draw_id(char ret_id[LEASE_ID_BYTES])
{
	unsigned char bytes[(LEASE_ID_BYTES - 1) / 2];

	if (fs_random(bytes, sizeof(bytes), NULL) < 0)
		return false;
	fs_hex(bytes, sizeof(bytes), ret_id);
	return true;
}

static void lease_submit(struct lease_part *part, enum lease_act act)
{
	const struct config *config = config_of(part);
	struct lease_job *job = xcalloc(1, sizeof(*job));

	job->part = part;
	job->act = act;
	job->check = act != LEASE_READ && !part->checked;
	job->mark = part->lease.mark;
	job->marks = part->place[0] && memcmp(&job->mark, &part->written, sizeof(job->mark)) != 0;
	memcpy(job->etag, part->lease.etag, sizeof(job->etag));
	if (act != LEASE_READ) {
		job->claim = part->lease.sent;
		job->claim.written_unix_ms = clock_unix_ms();
		snprintf(job->claim.name, sizeof(job->claim.name), "%s",
			 config->lease.name ? config->lease.name : part->driver->setup->place);
	}
	loop_timer_stop(part->timer);
	lane_submit(part->lane, lease_work, lease_done, job);
}

static void lease_next_request(struct lease_part *part)
{
	int64_t now_ms = clock_mono_ms(), wait_ms;
	char write[LEASE_ID_BYTES];
	enum lease_act act;

	if (!part->ready || part->lease.busy || part->driver->closing ||
	    (part->driver->life.fenced && !part->lease.leaving) || !draw_id(write))
		return;
	act = lease_next(&part->lease, write, now_ms);
	if (act != LEASE_REST) {
		lease_submit(part, act);
		return;
	}
	if (part->lease.leaving)
		return;
	wait_ms = lease_wake_ms(&part->lease) - now_ms;
	loop_timer_set(part->timer, wait_ms > 0 ? wait_ms : 0);
}

static void lease_on_timer(void *arg)
{
	struct lease_part *part = arg;

	if (part->lease.leaving)
		driver_again(part->driver);
	else
		lease_next_request(part);
}

/* ---- the part ---- */

static int lease_open(struct driver *driver, struct err *err)
{
	struct lease_part *part;

	(void)err;
	if (!driver->setup->config.lease.uri)
		return 0;
	driver->lease = part = xcalloc(1, sizeof(*part));
	part->driver = driver;
	part->stores.config = &driver->setup->storage;
	part->lane = lane_new(driver->workers, "drey-lease");
	part->timer = loop_timer_new(driver->loop, lease_on_timer, part);
	return 0;
}

static void lease_alive(struct driver *driver, const struct part_start *start)
{
	struct lease_part *part = driver->lease;
	const struct config *config = &driver->setup->config;
	char session[LEASE_ID_BYTES];
	bool marked;

	(void)start;
	if (!part || part->ready)
		return;
	rng_hex_id(&driver->life.rng, session);
	lease_place(config->state_directory, driver->setup->kube.pod_uid, part->place);
	if (lease_uri(config->lease.uri, part->uri, NULL) < 0)
		part->uri[0] = '\0';
	marked = lease_mark_load(config->state_directory, part->place, &part->written);
	lease_init(&part->lease,
		   &(struct lease_self){.holder = driver->life.journal.lease_id,
					.session = session,
					.name = config->lease.name,
					.uri = part->uri,
					.duration_ms = config->lease.duration_ms,
					.longest_ms = driver->life.journal.lease_longest_ms,
					.mark = marked ? &part->written : NULL});
	part->ready = true;
	lease_next_request(part);
}

/* Who holds the lease for an application that is not meant to run says so in it. */
static void lease_stepped(struct driver *driver)
{
	struct lease_part *part = driver->lease;
	struct decision decision;

	if (!part || !part->ready || !driver->alive)
		return;
	lease_set_parked(&part->lease, resolve_parked(&driver->life.journal,
						      &driver->setup->life.policy, &decision));
	lease_next_request(part);
}

/* The next Pod of this installation need not wait for a Flink that has certainly ended. */
static enum gate_verdict lease_may_exit(struct lease_part *part, struct gate *gate)
{
	if (!part->ready)
		return GATE_PASSES;
	if (!part->lease.leaving) {
		/* MUT: the lease is given back while a Flink lives */
		if (driver_take_flink_lock(part->driver, NULL) < 0)
			return GATE_PASSES;
		part->leave_end_ms = clock_mono_ms() + PATIENCE_MS;
		lease_leave(&part->lease);
		lease_next_request(part);
		loop_timer_set(part->timer, PATIENCE_MS);
	}
	return lease_has_left(&part->lease) || clock_mono_ms() >= part->leave_end_ms
		       ? GATE_PASSES
		       : gate_waits(gate, "the lease to be given back", part->leave_end_ms);
}

static enum cause cause_of(const struct lease *lease, int64_t now_ms)
{
	bool known = lease->seen == LEASE_ANSWER_OK || lease->seen == LEASE_ANSWER_ABSENT;

	if (lease_is_held(lease, now_ms) || !known || lease->why[0])
		return CAUSE_LEASE_UNREADABLE;
	return lease_is_copied(lease) ? CAUSE_LEASE_COPIED : CAUSE_LEASE_ELSEWHERE;
}

static enum gate_verdict lease_may(struct driver *driver, enum gate_type type, struct gate *gate)
{
	struct lease_part *part = driver->lease;
	cleanup_buf struct buf why = BUF_INIT;
	int64_t now_ms = clock_mono_ms();

	if (part && type == GATE_EXIT)
		return lease_may_exit(part, gate);
	if (!part || (type != GATE_OBSERVE && type != GATE_LAUNCH))
		return GATE_PASSES;
	/* MUT: a job is started without the lease */
	if (lease_lets_launch(&part->lease, now_ms))
		return GATE_PASSES;
	lease_print(&part->lease, now_ms, &why);
	return gate_refuses(gate, cause_of(&part->lease, now_ms), "%s", buf_str(&why));
}

static void lease_status(const struct driver *driver, struct json *document)
{
	const struct lease_part *part = driver->lease;
	const struct lease *lease;
	int64_t now_ms = clock_mono_ms();
	struct json *to;
	bool known;

	if (!part) {
		json_add_null(document, "lease");
		return;
	}
	lease = &part->lease;
	known = lease->seen == LEASE_ANSWER_OK;
	to = json_add_object(document, "lease");
	json_add_str(to, "uri", config_of(part)->lease.uri);
	json_add_bool(to, "held", lease_is_held(lease, now_ms));
	json_add_str(to, "holder", known && *lease->claim.name ? lease->claim.name : NULL);
	json_add_known(to, "writtenUnixMs", known ? lease->claim.written_unix_ms : 0, 1);
	json_add_bool(to, "parked", known && lease->claim.parked);
	json_add_str(to, "error", *lease->why ? lease->why : NULL);
}

static void lease_close(struct driver *driver)
{
	struct lease_part *part = driver->lease;

	if (!part)
		return;
	/* a worker that hangs still uses the stores, and the part */
	if (part->lane && !lane_free(part->lane, LANE_PATIENCE_MS))
		return;
	loop_timer_free(part->timer);
	stores_release(&part->stores);
	free(part);
	driver->lease = NULL;
}

const struct part part_lease = {
	.name = "lease",
	.open = lease_open,
	.alive = lease_alive,
	.may = lease_may,
	.stepped = lease_stepped,
	.status = lease_status,
	.close = lease_close,
};
