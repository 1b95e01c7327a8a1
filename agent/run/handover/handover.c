/*
 * The owner's part of a hand-over: it hears of the other pods by their ConfigMap, and lets the next
 * agent stand by when the journal is another pod's.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/report/status_handover.h"
#include "kube/configmap_watch.h"
#include "kube/kube_lane.h"
#include "run/config/setup_side.h"
#include "run/driver_internal.h"
#include "run/handover/candidate_map.h"
#include "run/handover/lock_read.h"
#include "run/handover/standing.h"
#include "run/handover/wanted.h"
#include "run/part.h"

#define LOOK_MS 10000 /* for what the watch has missed */
/* A pod that stands by beats every 5 s, so a watch that is silent for this long is not to be trusted. */
#define LOOK_SILENT_MS    8000
#define LOOK_OFTEN_MS     2000  /* and then, as long as looks show beats that it has not */
#define LOOK_BEATS_MS     30000 /* what has not beaten for this long is of a pod that is gone */
#define WANTED_AGAIN_MS   20000 /* while the candidate prepares */
#define WANTED_FRESH_MS   500   /* for one that is prepared: it tells that twice in a moment */
#define WANTED_TIMEOUT_MS 3000
#define PATIENCE_MS       500

/* What the Deployment said last about one template. */
struct wanted_known {
	char *template;
	enum wanted wanted;
	int64_t read_ms;
};

struct handover_part {
	struct driver *driver;
	struct kube_lane kube;
	struct kube_watch *watch;
	struct loop_timer *timer;
	struct candidate_reading reading; /* the lane's */
	struct wanted_known wanted;       /* the lane's */
	struct ha_unchanged lock;         /* of the other side; the lane's */
	char seen_uid[128];               /* the candidate of the last look, the lane's */
	int64_t seen_beat;
	bool looking, again;
	bool watched;                      /* the watch has caused the last look */
	int64_t beats[PLACES];             /* of the records, 0 = none */
	int64_t beat_ms;                   /* when one of them was seen to change */
	struct candidate_record candidate; /* as it was read last, for the status */
	bool has_candidate;
};

struct look_job {
	struct handover_part *part;
	struct candidate_record records[PLACES];
	bool present[PLACES], unreadable[PLACES];
	enum wanted wanted; /* the template of the candidate */
	bool stopping;      /* the job is being stopped for it */
	const char *other;  /* cluster id of the other side, if its lock is to be read; borrowed */
	bool lock_is_free;
	struct configmap news; /* what the watch has seen */
	bool has_news;
	int result;
	struct err err, damage;
};

/* ---- a look ---- */

static void decode_place(struct look_job *job, enum candidate_place place)
{
	const char *application = job->part->driver->setup->config.application;
	const char *text = job->part->reading.texts[place];

	if (!text)
		return;
	job->present[place] = candidate_decode(text, strlen(text), application,
					       &job->records[place], &job->damage) == 0;
	job->unreadable[place] = !job->present[place];
}

static void decode_places(struct look_job *job)
{
	for (int place = 0; place < PLACES; place++)
		decode_place(job, (enum candidate_place)place);
}

/* The watch may be behind a look that has read the map: a beat never goes back. */
static bool is_old(const struct look_job *job)
{
	const struct candidate_record *candidate = &job->records[PLACE_CANDIDATE];

	return job->present[PLACE_CANDIDATE] && xstris(candidate->uid, job->part->seen_uid) &&
	       candidate->beat < job->part->seen_beat;
}

static void forget_places(struct look_job *job)
{
	for (int place = 0; place < PLACES; place++) {
		candidate_release(&job->records[place]);
		job->present[place] = job->unreadable[place] = false;
	}
}

/* What the watch has seen saves a request. */
static int read_places(struct look_job *job)
{
	struct handover_part *part = job->part;
	const struct candidate_record *candidate = &job->records[PLACE_CANDIDATE];

	if (job->has_news) {
		candidate_map_take(&job->news, &part->reading);
		decode_places(job);
	}
	if (!job->has_news || is_old(job)) {
		forget_places(job);
		if (candidate_map_read(part->kube.kube, part->driver->setup->handover.candidate,
				       &part->reading, &job->err) < 0)
			return -1;
		decode_places(job);
	}
	if (job->unreadable[PLACE_CANDIDATE])
		return 0;
	snprintf(part->seen_uid, sizeof(part->seen_uid), "%s",
		 candidate->uid ? candidate->uid : "");
	part->seen_beat = candidate->beat;
	return 0;
}

/* A job is stopped for a candidate that is prepared, so of that one it is read when that is seen; and of one that ends, because it may
 * end for that. */
static enum wanted wanted_now(struct handover_part *part, const struct candidate_record *candidate)
{
	struct wanted_known *known = &part->wanted;
	bool matters =
		candidate->state == CANDIDATE_PREPARED || candidate->state == CANDIDATE_WITHDRAWN;
	bool fresh =
		xstris(candidate->template, known->template) &&
		clock_mono_ms() - known->read_ms < (matters ? WANTED_FRESH_MS : WANTED_AGAIN_MS);

	if (fresh && known->wanted == WANTED_YES)
		return known->wanted;
	xstrset(&known->template, candidate->template);
	known->wanted = handover_wanted(part->kube.kube, part->driver->setup, candidate->template,
					WANTED_TIMEOUT_MS);
	known->read_ms = clock_mono_ms();
	return known->wanted;
}

/* May a job of a candidate that says nothing still run? In every doubt it may. */
static void read_lock(struct look_job *job)
{
	struct handover_part *part = job->part;
	cleanup_free char *why = NULL;

	job->lock_is_free = lock_read(part->kube.kube, job->other, &part->lock, &why) == LOCK_FREE;
}

static void look_work(void *arg)
{
	struct look_job *job = arg;
	struct handover_part *part = job->part;
	const struct setup *setup = part->driver->setup;
	const struct candidate_record *candidate = &job->records[PLACE_CANDIDATE];

	job->result = read_places(job);
	/* one that ends while the job is stopped for it is wanted still, or was rolled back */
	if (job->result == 0 && job->present[PLACE_CANDIDATE] &&
	    (candidate->state != CANDIDATE_WITHDRAWN || job->stopping) &&
	    !xstris(candidate->uid, setup->life.handover.me.uid))
		job->wanted = wanted_now(part, candidate);
	if (job->other)
		read_lock(job);
}

static void tell_seen(struct handover_part *part, const struct look_job *job,
		      enum candidate_place place)
{
	const struct candidate_record *record = &job->records[place];
	struct event event = {.type = EVENT_CANDIDATE,
			      .candidate = {.place = place,
					    .unreadable = job->unreadable[place],
					    .present = job->present[place],
					    .lock_is_free = job->lock_is_free}};

	if (job->present[place]) {
		event.candidate.party = (struct party){.pod = record->pod,
						       .uid = record->uid,
						       .template = record->template,
						       .side = record->side};
		event.candidate.state = record->state;
		event.candidate.beat = record->beat;
		event.candidate.ask = record->ask;
		event.candidate.answer = record->answer;
		event.candidate.why = record->why;
		event.candidate.shadow = record->shadow;
		event.candidate.wanted = place == PLACE_CANDIDATE ? job->wanted : WANTED_UNKNOWN;
	}
	driver_step(part->driver, &event);
}

/* Before the step that it causes, whose status shows it: the record is the part's from now on. */
static void keep_candidate(struct handover_part *part, const struct look_job *job)
{
	const struct candidate_record *record = &job->records[PLACE_CANDIDATE];

	candidate_release(&part->candidate);
	part->candidate = *record;
	part->has_candidate = job->present[PLACE_CANDIDATE] && record->state != CANDIDATE_WITHDRAWN;
}

/* The record of a pod that is gone may be there for ever. */
static bool is_beating(struct handover_part *part, const struct look_job *job)
{
	bool others = false;

	for (int place = 0; place < PLACES; place++) {
		const struct candidate_record *record = &job->records[place];
		int64_t beat = job->present[place] ? record->beat : 0;

		others |= beat && record->state != CANDIDATE_WITHDRAWN;
		if (beat != part->beats[place])
			part->beat_ms = clock_mono_ms();
		part->beats[place] = beat;
	}
	return others && clock_mono_ms() - part->beat_ms < LOOK_BEATS_MS;
}

static void look(struct handover_part *part);

static int64_t next_look_ms(const struct handover_part *part, bool beating)
{
	if (part->again)
		return 0;
	if (!beating)
		return LOOK_MS;
	return part->watched ? LOOK_SILENT_MS : LOOK_OFTEN_MS;
}

static void looked(void *arg, bool ran)
{
	struct look_job *job = arg;
	struct handover_part *part = job->part;
	bool beating = ran && is_beating(part, job);

	part->looking = false;
	if (ran && job->damage.kind)
		log_warn(part->driver->log,
			 "the record of another pod cannot be read, and is ignored",
			 LOG_ERR(&job->damage));
	if (ran && job->result == 0 && !job->unreadable[PLACE_CANDIDATE])
		keep_candidate(part, job);
	for (int place = 0; ran && job->result == 0 && place < PLACES; place++)
		tell_seen(part, job, (enum candidate_place)place);
	for (int place = 0; place < PLACES; place++)
		if (!(ran && job->result == 0 && place == PLACE_CANDIDATE))
			candidate_release(&job->records[place]);
	if (ran && !part->driver->closing)
		loop_timer_set(part->timer, next_look_ms(part, beating));
	configmap_release(&job->news);
	free(job);
}

static void look(struct handover_part *part)
{
	struct look_job *job;

	part->again = part->looking;
	if (part->looking || !part->driver->alive)
		return;
	job = xcalloc(1, sizeof(*job));
	job->part = part;
	job->has_news = part->watched &&
			configmap_watch_take(part->watch, part->driver->setup->handover.candidate,
					     &job->news);
	if (lifecycle_asks_for_lock(&part->driver->life))
		job->other = setup_cluster_id(part->driver->setup, side_other(part->driver->side));
	job->stopping = part->driver->life.journal.handover.state == HANDOVER_STOPPING;
	part->looking = true;
	lane_submit(part->kube.lane, look_work, looked, job);
}

static void look_by_watch(void *arg)
{
	struct handover_part *part = arg;

	part->watched = true;
	look(part);
}

static void look_by_clock(void *arg)
{
	struct handover_part *part = arg;

	part->watched = part->again; /* the watch came while the last look was under way */
	look(part);
}

/* ---- the part ---- */

static int handover_open(struct driver *driver, struct err *err)
{
	struct handover_part *part;

	(void)err;
	if (!driver->setup->handover.on)
		return 0;
	driver->handover = part = xcalloc(1, sizeof(*part));
	part->driver = driver;
	part->kube = kube_lane_open(driver->workers, driver->setup->kube.client, "drey-candidate");
	part->timer = loop_timer_new(driver->loop, look_by_clock, part);
	return 0;
}

static void handover_alive(struct driver *driver, const struct part_start *start)
{
	const struct setup *setup = driver->setup;
	struct handover_part *part = driver->handover;
	struct err err = {0};

	(void)start;
	if (!part || driver_in_shadow(driver))
		return;
	part->watch = configmap_watch_keep(driver->watches, setup->kube.config.namespace,
					   setup->handover.candidate, look_by_watch, part, &err);
	if (!part->watch)
		log_warn(driver->log, "the ConfigMap of the candidate cannot be watched",
			 LOG_ERR(&err));
	look(part);
}

/* drey-init starts the next agent: it stands by, and has nothing of this one's to forget. Not with 0: without
 * a Flink that ends the container, and the one that Kubernetes starts again comes later and later. */
static void handover_execute(struct driver *driver, const struct effect *effect)
{
	if (effect->type != EFFECT_STAND_DOWN)
		return;
	log_info(driver->log, "another pod owns the application: this one stands by",
		 LOG_STR("reason", driver->life.reason));
	driver_stop(driver, DRIVER_AGAIN);
}

static void handover_status(const struct driver *driver, struct json *document)
{
	const struct standby *standby = standing_standby(driver);

	if (!driver->setup->handover.on)
		return;
	status_add_handover(
		document, driver->alive && !driver_in_shadow(driver) ? &driver->life : NULL,
		driver->handover->has_candidate ? &driver->handover->candidate : NULL, standby);
}

static void handover_close(struct driver *driver)
{
	struct handover_part *part = driver->handover;

	standing_close(driver);
	if (!part)
		return;
	kube_watch_free(part->watch);
	loop_timer_free(part->timer);
	driver->handover = NULL;
	if (!kube_lane_close(&part->kube, PATIENCE_MS))
		return;
	ha_unchanged_release(&part->lock);
	candidate_reading_release(&part->reading);
	candidate_release(&part->candidate);
	free(part->wanted.template);
	free(part);
}

const struct part part_handover = {
	.name = "handover",
	.open = handover_open,
	.alive = handover_alive,
	.execute = handover_execute,
	.status = handover_status,
	.close = handover_close,
};
