/*
 * What a standby reads from the API server and writes there. Each answer becomes an event.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "core/handover/transition.h"
#include "core/journal/journal_adopt.h"
#include "kube/configmap_watch.h"
#include "kube/map_mark.h"
#include "kube/workload.h"
#include "run/handover/standing_internal.h"
#include "run/journal/journal_map.h"

#define WANTED_TIMEOUT_MS 5000
#define PLACE_SILENT_MS   30000 /* a record that does not beat for so long leaves its place */

/* ---- the journal ---- */

struct read_job {
	struct standing *standing;
	struct configmap news; /* what the watch has seen; zeroed: read it */
	struct journal journal;
	bool by_watch; /* `journal` is the news */
	int result;
	struct err err;
	int64_t number; /* of the last gate that has asked */
	/* the journal of the job in the shadow */
	struct journal own;
	bool seeded, own_elsewhere;
	struct err own_err; /* it could not be read */
};

/* What is no journal of this application must be read to know what it is. */
static bool is_news(struct read_job *job)
{
	const struct setup *setup = job->standing->driver->setup;
	const char *text = job->news.data ? configmap_value(&job->news, JOURNAL_MAP_KEY) : NULL;

	/* what has not the mark of its object is read, and judged there */
	if (text && !setup->kube.create_maps && map_mark_of(&job->news) != MAP_MARK_OWN)
		return false;
	if (!text || journal_decode(text, strlen(text), &job->journal, NULL) < 0)
		return false;
	if (xstris(job->journal.application, setup->config.application))
		return true;
	journal_release(&job->journal);
	return false;
}

static void read_application(struct read_job *job)
{
	const struct setup *setup = job->standing->driver->setup;

	job->by_watch = is_news(job);
	if (job->by_watch)
		return;
	job->result = journal_store_read(job->standing->driver->store, &job->journal, &job->err);
	if (job->result < 0 && job->err.kind == ERR_ABSENT)
		journal_init(&job->journal, setup->config.application);
}

static bool has_own(const struct journal *journal)
{
	enum transition_state state = transition_of(&journal->handover);

	return transition_permits_two(&journal->handover) || state == TRANSITION_GRANTED;
}

/* Is there one of its hand-over for the job in the shadow? Without one a seed continues with its number. */
static void read_own(struct read_job *job)
{
	struct driver *driver = job->standing->driver;
	struct err err = {0};

	if (!driver->shadow_store || !has_own(&job->journal))
		return;
	if (journal_store_read(driver->shadow_store, &job->own, &err) == 0) {
		job->seeded = journal_is_seeded(&job->own, &job->journal.handover);
		return;
	}
	memset(&job->own, 0, sizeof(job->own));
	if (err.kind != ERR_ABSENT)
		job->own_err = err;
}

/* What runs here is none of its launches then. */
static bool is_elsewhere(const struct read_job *job)
{
	const struct launch *launch = journal_launch_const(&job->own);

	return launch && !party_wrote(&job->standing->config.me, launch->writer);
}

static void standing_read_work(void *arg)
{
	struct read_job *job = arg;

	read_application(job);
	if (job->result == 0 && !atomic_load(&job->standing->in_shadow))
		read_own(job);
	if (job->seeded)
		job->own_elsewhere = is_elsewhere(job);
}

/* It is read every second until it can be. */
static void complain_of_own(struct standing *standing, const struct read_job *job)
{
	if (log_seldom_due(&standing->own_trouble, job->own_err.kind ? job->own_err.msg : NULL,
			   clock_mono_ms()))
		log_warn(standing->driver->log, "cannot read the journal of the job in the shadow",
			 LOG_ERR(&job->own_err));
}

/* An earlier state of what this pod has seen has the sequence number that is returned; 0: it is none. */
static int64_t put_back(const struct read_job *job)
{
	const struct standing *standing = job->standing;

	/* MUT: a pod that stands by goes by a journal that was put back */
	if (journal_is_backup(&job->journal, &standing->journal, standing->standby.sequence))
		return job->journal.sequence;
	return 0;
}

/* A journal that is gone does not replace the one that was seen, nor does an older one. */
static bool is_newer(const struct read_job *job, const struct standby_event *event)
{
	return !event->read.put_back && !(event->read.absent && job->standing->journal.sequence);
}

static void standing_read_done(void *arg, bool ran)
{
	struct read_job *job = arg;
	struct standing *standing = job->standing;
	bool absent = job->result < 0 && job->err.kind == ERR_ABSENT;
	bool known = job->result == 0 || absent;
	/* the watch may be behind what was read */
	bool old = job->by_watch && job->journal.sequence <= standing->standby.sequence;
	struct standby_event event = {.type = STANDBY_JOURNAL,
				      .read = {.put_back = known && !absent ? put_back(job) : 0,
					       .absent = absent,
					       .by_watch = job->by_watch,
					       .seeded = job->seeded,
					       .own_elsewhere = job->own_elsewhere,
					       .own_unread = job->own_err.kind != ERR_NONE}};

	if (ran && job->result == 0)
		complain_of_own(standing, job);
	/* what is no newer one is kept: an older one is told by it */
	if (ran && known && !is_newer(job, &event)) {
		journal_release(&job->journal);
		journal_release(&job->own);
		known = false;
	}
	if (ran && !old && !standing->driver->closing && !standing->over) {
		if (known) {
			journal_release(&standing->journal);
			standing->journal = job->journal;
			journal_release(&standing->own);
			standing->own = job->own;
			event.read.journal = &standing->journal;
			if (!job->by_watch)
				standing->confirmed = job->number;
		}
		standing->step(standing, &event);
		if (standing->asked == standing->confirmed)
			driver_again(standing->driver);
	} else if (ran && known) {
		journal_release(&job->journal);
		journal_release(&job->own);
	}
	configmap_release(&job->news);
	free(job);
}

void standing_take_news(struct standing *standing)
{
	struct read_job *job = xcalloc(1, sizeof(*job));

	job->standing = standing;
	configmap_watch_take(standing->watch, standing->driver->setup->kube.journal, &job->news);
	lane_submit(standing->driver->journal_lane, standing_read_work, standing_read_done, job);
}

void standing_read(struct standing *standing)
{
	struct read_job *job = xcalloc(1, sizeof(*job));

	job->standing = standing;
	job->number = standing->asked;
	lane_submit(standing->driver->journal_lane, standing_read_work, standing_read_done, job);
}

/* ---- the leader lock of a side ---- */

struct lock_job {
	struct standing *standing;
	enum side side;
	enum side_lock lock;
	char *why;
};

static void lock_work(void *arg)
{
	struct lock_job *job = arg;
	struct standing *standing = job->standing;

	job->lock =
		lock_read(standing->kube.kube, setup_cluster_id(standing->driver->setup, job->side),
			  &standing->locks[job->side], &job->why);
}

static void lock_done(void *arg, bool ran)
{
	struct lock_job *job = arg;

	if (ran)
		job->standing->step(job->standing,
				    &(struct standby_event){.type = STANDBY_LOCK,
							    .lock = {job->side, job->lock}});
	free(job->why);
	free(job);
}

void standing_lock(struct standing *standing, enum side side)
{
	struct lock_job *job = xcalloc(1, sizeof(*job));

	job->standing = standing;
	job->side = side;
	lane_submit(standing->kube.lane, lock_work, lock_done, job);
}

/* ---- what the Deployment wants ---- */

struct wanted_job {
	struct standing *standing;
	enum wanted wanted;
};

static void wanted_work(void *arg)
{
	struct wanted_job *job = arg;

	job->wanted = handover_wanted(job->standing->kube.kube, job->standing->driver->setup,
				      job->standing->config.me.template, WANTED_TIMEOUT_MS);
}

static void wanted_done(void *arg, bool ran)
{
	struct wanted_job *job = arg;

	if (ran)
		job->standing->step(job->standing, &(struct standby_event){.type = STANDBY_WANTED,
									   .wanted = job->wanted});
	free(job);
}

void standing_wanted(struct standing *standing)
{
	struct wanted_job *job = xcalloc(1, sizeof(*job));

	job->standing = standing;
	lane_submit(standing->kube.lane, wanted_work, wanted_done, job);
}

/* ---- the record ---- */

struct record_job {
	struct standing *standing;
	struct buf text;
	enum candidate_place place;
	char *id;          /* of the hand-over whose job may have begun here; NULL = of none */
	bool begun, taken; /* begun: the record that is there says so, and this one does not */
	int result;
	struct err err;
};

/* Another pod's, and it beats: its place is not taken from it. */
static bool is_taken(struct standing *standing, const char *text)
{
	const struct setup *setup = standing->driver->setup;
	struct candidate_record other;
	struct err err = {0};
	bool same;

	if (!text ||
	    candidate_decode(text, strlen(text), setup->config.application, &other, &err) < 0)
		return false; /* nothing, or nothing that a drey would read */
	if (xstris(other.uid, standing->config.me.uid) || other.state == CANDIDATE_WITHDRAWN) {
		candidate_release(&other);
		return false;
	}
	same = xstris(other.uid, standing->beat_uid) && other.beat == standing->beat;
	if (!same) {
		snprintf(standing->beat_uid, sizeof(standing->beat_uid), "%s", other.uid);
		standing->beat = other.beat;
		standing->beat_ms = clock_mono_ms();
	}
	candidate_release(&other);
	return clock_mono_ms() - standing->beat_ms < PLACE_SILENT_MS;
}

/* Ours, by an earlier agent: what it says is not to be lost before the machine has heard it. */
static bool says_begun(const struct record_job *job, const char *text)
{
	const struct standing *standing = job->standing;
	struct candidate_record old;
	bool begun;

	if (!job->id || !text)
		return false;
	if (candidate_decode(text, strlen(text), standing->driver->setup->config.application, &old,
			     NULL) < 0)
		return true; /* it may say anything */
	begun = xstris(old.uid, standing->config.me.uid) &&
		candidate_shadow_begun(&old.shadow, job->id);
	candidate_release(&old);
	return begun;
}

static void record_work(void *arg)
{
	struct record_job *job = arg;
	struct standing *standing = job->standing;
	struct candidate_reading *reading = &standing->reading;
	const struct candidate_writer writer = {
		.kube = standing->kube.kube,
		.name = standing->driver->setup->handover.candidate,
		.application = standing->driver->setup->config.application,
		.uid = standing->config.me.uid,
		.made = !standing->driver->setup->kube.create_maps,
		.place = job->place,
	};

	/* our own last write is known; whether another one beats is not */
	if (!reading->version || is_taken(standing, reading->texts[job->place]))
		job->result = candidate_map_read(writer.kube, writer.name, reading, &job->err);
	if (job->result < 0)
		return;
	job->taken = is_taken(standing, reading->texts[job->place]);
	/* MUT: an agent overwrites what the one before it has said of the job */
	job->begun = says_begun(job, reading->texts[PLACE_CANDIDATE]);
	if (job->taken || job->begun)
		return;
	job->result = candidate_map_write(&writer, buf_str(&job->text), reading, &job->err);
	job->taken = job->result < 0 && job->err.kind == ERR_BUSY;
}

static void record_done(void *arg, bool ran)
{
	struct record_job *job = arg;
	struct standing *standing = job->standing;
	struct standby_event event = {
		.type = STANDBY_RECORD,
		.record = {.ok = job->result == 0 && !job->taken && !job->begun,
			   .taken = job->taken,
			   .begun = job->begun}};

	if (ran) {
		if (job->result < 0 && job->err.kind != ERR_BUSY)
			log_warn(standing->driver->log, "cannot write the record of this pod",
				 LOG_ERR(&job->err));
		standing->step(standing, &event);
		if (event.record.ok && standing->standby.in_shadow)
			driver_again(standing->driver); /* a launch may wait for it */
	}
	buf_release(&job->text);
	free(job->id);
	free(job);
}

void standing_record(struct standing *standing)
{
	const struct standby *standby = &standing->standby;
	struct record_job *job = xcalloc(1, sizeof(*job));

	job->standing = standing;
	if (transition_of(&standby->handover) == TRANSITION_SEEDED &&
	    !candidate_shadow_begun(&standby->record.shadow, standby->handover.id))
		job->id = xstrdup(standby->handover.id);
	job->place = candidate_place_of(standing->standby.record.state);
	job->result = candidate_encode(&standing->standby.record, &job->text, &job->err);
	lane_submit(standing->kube.lane, record_work, record_done, job);
}
