/*
 * The journal store: one document, compare-and-swap as in run/journal/journal_file. A write may fail,
 * be slow, or succeed while its response is lost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/journal/journal_fields.h"
#include "tests/sim/sim.h"

enum fate { FATE_WRITTEN, FATE_NOT_WRITTEN, FATE_ANSWER_LOST, FATE_LANDED, FATE_CONFLICT };

static char *dup_or_null(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static void copy_launch(struct launch *to, const struct launch *from)
{
	*to = *from;
	to->job_result_path = dup_or_null(from->job_result_path);
	to->application_result_path = dup_or_null(from->application_result_path);
	to->generation = dup_or_null(from->generation);
	to->flink_version = dup_or_null(from->flink_version);
	to->checkpoint_dir = dup_or_null(from->checkpoint_dir);
	to->savepoint_dir = dup_or_null(from->savepoint_dir);
	to->ha_cluster_id = dup_or_null(from->ha_cluster_id);
	to->request_token = dup_or_null(from->request_token);
	to->writer = dup_or_null(from->writer);
	to->restore_path = dup_or_null(from->restore_path);
	to->last_checkpoint_path = dup_or_null(from->last_checkpoint_path);
}

static char **copy_strings(char *const *from, size_t count)
{
	char **to = xcalloc(count, sizeof(*to));

	for (size_t i = 0; i < count; i++)
		to[i] = xstrdup(from[i]);
	return to;
}

static void copy_lists(struct journal *to, const struct journal *from)
{
	to->launches = xcalloc(from->launch_count, sizeof(*to->launches));
	for (size_t i = 0; i < from->launch_count; i++)
		copy_launch(&to->launches[i], &from->launches[i]);
	to->snapshots = xcalloc(from->snapshot_count, sizeof(*to->snapshots));
	for (size_t i = 0; i < from->snapshot_count; i++)
		snapshot_copy(&to->snapshots[i], &from->snapshots[i]);
	to->former_jobs = copy_strings(from->former_jobs, from->former_job_count);
	to->unknown_jobs = copy_strings(from->unknown_jobs, from->unknown_job_count);
	to->consumed = copy_strings(from->consumed, from->consumed_count);
	to->writers = copy_strings(from->writers, from->writer_count);
	to->failed_generations =
		copy_strings(from->failed_generations, from->failed_generation_count);
	to->savepoint_requests =
		xcalloc(from->savepoint_request_count, sizeof(*to->savepoint_requests));
	for (size_t i = 0; i < from->savepoint_request_count; i++) {
		to->savepoint_requests[i] = from->savepoint_requests[i];
		to->savepoint_requests[i].nonce = xstrdup(from->savepoint_requests[i].nonce);
		to->savepoint_requests[i].location =
			dup_or_null(from->savepoint_requests[i].location);
		to->savepoint_requests[i].error = dup_or_null(from->savepoint_requests[i].error);
	}
	to->checkpoint_requests =
		xcalloc(from->checkpoint_request_count, sizeof(*to->checkpoint_requests));
	for (size_t i = 0; i < from->checkpoint_request_count; i++) {
		const struct checkpoint_request *request = &from->checkpoint_requests[i];

		to->checkpoint_requests[i] = *request;
		to->checkpoint_requests[i].nonce = xstrdup(request->nonce);
		to->checkpoint_requests[i].location = dup_or_null(request->location);
		to->checkpoint_requests[i].error = dup_or_null(request->error);
	}
	to->log = xcalloc(from->log_count, sizeof(*to->log));
	for (size_t i = 0; i < from->log_count; i++)
		to->log[i] = (struct log_entry){from->log[i].unix_ms, xstrdup(from->log[i].text)};
}

void journal_copy(struct journal *to, const struct journal *from)
{
	*to = *from;
	to->application = dup_or_null(from->application);
	to->writer = dup_or_null(from->writer);
	to->disposing = dup_or_null(from->disposing);
	to->id_space = dup_or_null(from->id_space);
	to->lease_id = dup_or_null(from->lease_id);
	to->phase = dup_or_null(from->phase);
	to->intent.savepoint_nonce = dup_or_null(from->intent.savepoint_nonce);
	to->intent.restart_nonce = dup_or_null(from->intent.restart_nonce);
	to->intent.restore.token = dup_or_null(from->intent.restore.token);
	to->intent.restore.path = dup_or_null(from->intent.restore.path);
	to->savepoint_nonce_done = dup_or_null(from->savepoint_nonce_done);
	to->restart_nonce_done = dup_or_null(from->restart_nonce_done);
	to->operation.nonce = dup_or_null(from->operation.nonce);
	to->operation.path = dup_or_null(from->operation.path);
	to->operation.directory = dup_or_null(from->operation.directory);
	to->last_operation.nonce = dup_or_null(from->last_operation.nonce);
	to->last_operation.location = dup_or_null(from->last_operation.location);
	to->last_operation.error = dup_or_null(from->last_operation.error);
	to->outcome.reason = dup_or_null(from->outcome.reason);
	to->outcome.savepoint = dup_or_null(from->outcome.savepoint);
	to->last_error = dup_or_null(from->last_error);
	record_copy(&party_table, &from->owner, &to->owner);
	record_copy(&handover_table, &from->handover, &to->handover);
	parallelism_copy(&to->intent.parallelism, &from->intent.parallelism);
	parallelism_copy(&to->parallelism, &from->parallelism);
	record_copy(&rescaled_table, &from->rescaled, &to->rescaled);
	record_copy(&state_loss_table, &from->loss, &to->loss);
	to->origin = NULL;
	copy_lists(to, from);
}

/* ---- images ----
 *
 * Nearly every step writes a document. A stored document is never changed, so it is kept in one block,
 * filled from the front, which the next document reuses. */

static void *take(struct image *image, size_t size_bytes)
{
	void *at = image->block + image->used_bytes;

	image->used_bytes += (size_bytes + 7) & ~(size_t)7;
	if (image->used_bytes > IMAGE_BYTES)
		abort(); /* four times what a journal may have */
	return at;
}

static void *put(struct image *image, const void *from, size_t size_bytes)
{
	return size_bytes ? memcpy(take(image, size_bytes), from, size_bytes) : NULL;
}

static void put_text(struct image *image, char **text)
{
	if (*text)
		*text = put(image, *text, strlen(*text) + 1);
}

static void put_strings(struct image *image, char ***strings, size_t count)
{
	*strings = put(image, *strings, count * sizeof(**strings));
	for (size_t i = 0; i < count; i++)
		put_text(image, &(*strings)[i]);
}

static void put_lists(struct image *image, struct journal *to)
{
	to->launches = put(image, to->launches, to->launch_count * sizeof(*to->launches));
	for (size_t i = 0; i < to->launch_count; i++) {
		put_text(image, &to->launches[i].job_result_path);
		put_text(image, &to->launches[i].application_result_path);
		put_text(image, &to->launches[i].generation);
		put_text(image, &to->launches[i].flink_version);
		put_text(image, &to->launches[i].checkpoint_dir);
		put_text(image, &to->launches[i].savepoint_dir);
		put_text(image, &to->launches[i].ha_cluster_id);
		put_text(image, &to->launches[i].request_token);
		put_text(image, &to->launches[i].writer);
		put_text(image, &to->launches[i].restore_path);
		put_text(image, &to->launches[i].last_checkpoint_path);
	}
	to->snapshots = put(image, to->snapshots, to->snapshot_count * sizeof(*to->snapshots));
	for (size_t i = 0; i < to->snapshot_count; i++)
		put_text(image, &to->snapshots[i].path);
	put_strings(image, &to->former_jobs, to->former_job_count);
	put_strings(image, &to->unknown_jobs, to->unknown_job_count);
	put_strings(image, &to->consumed, to->consumed_count);
	put_strings(image, &to->writers, to->writer_count);
	put_strings(image, &to->failed_generations, to->failed_generation_count);
	to->savepoint_requests = put(image, to->savepoint_requests,
				     to->savepoint_request_count * sizeof(*to->savepoint_requests));
	for (size_t i = 0; i < to->savepoint_request_count; i++) {
		put_text(image, &to->savepoint_requests[i].nonce);
		put_text(image, &to->savepoint_requests[i].location);
		put_text(image, &to->savepoint_requests[i].error);
	}
	to->checkpoint_requests =
		put(image, to->checkpoint_requests,
		    to->checkpoint_request_count * sizeof(*to->checkpoint_requests));
	for (size_t i = 0; i < to->checkpoint_request_count; i++) {
		put_text(image, &to->checkpoint_requests[i].nonce);
		put_text(image, &to->checkpoint_requests[i].location);
		put_text(image, &to->checkpoint_requests[i].error);
	}
	to->log = put(image, to->log, to->log_count * sizeof(*to->log));
	for (size_t i = 0; i < to->log_count; i++)
		put_text(image, &to->log[i].text);
}

static void put_parallelism(struct image *image, struct parallelism *to)
{
	put_text(image, &to->nonce);
	to->vertices = put(image, to->vertices, to->vertex_count * sizeof(*to->vertices));
	for (size_t i = 0; i < to->vertex_count; i++)
		put_text(image, &to->vertices[i].vertex);
}

void image_put(struct image *image, const struct journal *from)
{
	struct journal *to = &image->journal;
	char **const texts[] = {&to->application,
				&to->writer,
				&to->disposing,
				&to->id_space,
				&to->lease_id,
				&to->phase,
				&to->intent.savepoint_nonce,
				&to->intent.restart_nonce,
				&to->intent.restore.token,
				&to->intent.restore.path,
				&to->savepoint_nonce_done,
				&to->restart_nonce_done,
				&to->operation.nonce,
				&to->operation.path,
				&to->operation.directory,
				&to->last_operation.nonce,
				&to->last_operation.location,
				&to->last_operation.error,
				&to->outcome.reason,
				&to->outcome.savepoint,
				&to->last_error,
				&to->owner.pod,
				&to->owner.uid,
				&to->owner.template,
				&to->handover.id,
				&to->handover.savepoint,
				&to->handover.why,
				&to->handover.returned,
				&to->handover.from.pod,
				&to->handover.from.uid,
				&to->handover.from.template,
				&to->handover.to.pod,
				&to->handover.to.uid,
				&to->handover.to.template,
				&to->rescaled.nonce,
				&to->rescaled.error,
				&to->rescaled.left_out,
				&to->loss.lost_path,
				&to->loss.path,
				&to->loss.reason};

	image->used_bytes = 0;
	*to = *from;
	to->origin = NULL;
	to->intent.restore.read_back =
		to->intent.restore.kind != RESTORE_NONE; /* for whoever reads it */
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		put_text(image, texts[i]);
	put_lists(image, to);
	put_parallelism(image, &to->intent.parallelism);
	put_parallelism(image, &to->parallelism);
}

/* ---- writing ---- */

static void land(struct world *w)
{
	struct agent *agent = w->agent;
	struct jstore *store = &w->store;
	const char *writer = store->image->journal.writer;
	int64_t now = store->exists ? store->image->journal.sequence : 0;
	struct image *written = store->written[w->pod];

	if (store->exists && now != agent->file_sequence &&
	    !(writer && !strcmp(writer, agent->writer) && now > agent->file_sequence &&
	      now <= agent->written_sequence) &&
	    !journal_is_backup(&store->image->journal, &written->journal, agent->file_sequence)) {
		agent->write_fate = FATE_CONFLICT;
		return;
	}
	if (has(w, FEATURE_HANDOVER))
		handover_store(w, &written->journal);
	store->written[w->pod] = store->image;
	store->image = written;
	store->exists = true;
	oracle_recorded(w);
	if (has(w, FEATURE_HANDOVER))
		handover_news(w);
	if (has(w, FEATURE_LIES))
		lie_journal_landed(w);
	if (agent->write_fate == FATE_WRITTEN) {
		agent->write_fate = FATE_LANDED;
		agent->file_sequence = agent->written_sequence;
	}
}

/* The log lines are a third of the document, and no decision depends on them. */
#define LOG_KEPT 4

static void copy_without_log(struct journal *to, const struct journal *from)
{
	struct journal shortened = *from;

	if (shortened.log_count > LOG_KEPT)
		shortened.log_count = LOG_KEPT;
	journal_copy(to, &shortened);
}

/* Encode and decode a document: if true, *ret_journal has the result; the caller releases it. */
static bool through_text(struct world *w, const struct journal *journal,
			 struct journal *ret_journal)
{
	struct buf text = BUF_INIT;
	struct journal copy;
	struct err err = {0};
	bool kept;

	if (w->store.text == TEXT_ALL)
		journal_copy(&copy, journal);
	else
		copy_without_log(&copy, journal);
	kept = !journal_encode(&copy, &text, &err) &&
	       !journal_decode(text.data, text.len_bytes, ret_journal, &err);
	if (!kept)
		fail(w, "the journal cannot be kept: %s", err.msg);
	else if (text.len_bytes > JOURNAL_MAX_BYTES)
		fail(w, "the journal has %zu bytes", text.len_bytes);
	journal_release(&copy);
	buf_release(&text);
	return kept;
}

/* This is 50 times slower than a copy. */
static void put_through_text(struct world *w, const struct journal *journal)
{
	struct journal back;

	if (!through_text(w, journal, &back))
		return;
	image_put(w->store.written[w->pod], &back);
	journal_release(&back);
}

void store_begin_write(struct world *w, int64_t sequence)
{
	struct agent *agent = w->agent;
	int64_t takes_ms = chance(w, w->chaos.journal_slow) ? between(w, 100, 40 * SECOND_MS)
							    : between(w, 1, 20);

	if (agent->writing)
		fail(w, "a second journal write while one is under way");
	agent->writing = true;
	journal_trim(&agent->life.journal);
	ids_shorten(w, &agent->life.journal);
	if (w->store.text == TEXT_ALL)
		put_through_text(w, &agent->life.journal);
	else
		image_put(w->store.written[w->pod], &agent->life.journal);
	oracle_journal(w, &w->store.written[w->pod]->journal);
	oracle_carried(w);
	agent->written_sequence = sequence;
	agent->write_fate = chance(w, w->chaos.journal_fails)  ? FATE_NOT_WRITTEN
			    : chance(w, w->chaos.journal_lost) ? FATE_ANSWER_LOST
							       : FATE_WRITTEN;
	if (is_cut_off(w))
		agent->write_fate = FATE_NOT_WRITTEN;
	plan(w, takes_ms, ITEM_JOURNAL, SCOPE_AGENT)->a = sequence;
}

void store_check(struct world *w)
{
	struct agent *agent = w->agent;
	const struct journal *stored = &w->store.image->journal;
	struct event event = {.type = EVENT_JOURNAL_FAILED,
			      .journal = {.sequence = agent->life.requested,
					  .conflict = true,
					  .error = "written by another"}};

	bool ours = w->store.exists && (stored->sequence == agent->file_sequence ||
					(stored->writer && !strcmp(stored->writer, agent->writer)));
	struct event seen = {.type = EVENT_JOURNAL_SEEN,
			     .journal.lost =
				     !w->store.exists || stored->sequence < agent->file_sequence};

	if (is_cut_off(w)) {
		seen.journal.unknown = true;
		seen.journal.lost = false;
		agent_step(w, &seen);
		return;
	}
	if (!w->store.exists || ours ||
	    journal_is_backup(stored, &agent->life.journal, agent->file_sequence)) {
		agent_step(w, &seen);
		return;
	}
	say(w, "store: another drey has written %" PRId64 ", seen by a look", stored->sequence);
	agent_step(w, &event);
}

/* The agent has died: its last write may have happened. */
void store_land(struct world *w)
{
	struct agent *agent = w->agent;

	if (agent->writing && agent->write_fate != FATE_NOT_WRITTEN && odds(w, 500)) {
		land(w);
		say(w, "store: the last write of the dead agent has happened");
	}
	agent->writing = false;
}

void store_finish(struct world *w)
{
	struct agent *agent = w->agent;
	struct event event = {.journal = {.sequence = agent->written_sequence}};
	enum fate fate;

	if (agent->write_fate != FATE_NOT_WRITTEN)
		land(w);
	fate = (enum fate)agent->write_fate;
	agent->writing = false;
	event.type = fate == FATE_LANDED ? EVENT_JOURNAL_WRITTEN : EVENT_JOURNAL_FAILED;
	event.journal.conflict = fate == FATE_CONFLICT;
	event.journal.error = fate == FATE_CONFLICT ? "written by another" : "disk full";
	say(w, "store: write %" PRId64 " %s", agent->written_sequence,
	    fate == FATE_LANDED        ? "done"
	    : fate == FATE_CONFLICT    ? "CONFLICT"
	    : fate == FATE_ANSWER_LOST ? "done, answer lost"
				       : "FAILED");
	if (fate == FATE_CONFLICT && lifecycle_is_newcomer(&agent->life)) {
		agent_crash(w, "it reads the journal anew");
		return;
	}
	agent_step(w, &event);
	if (w->agent->alive)
		directory_acknowledge(w);
}

bool store_read(struct world *w, struct journal *ret_journal)
{
	const struct journal *stored = &w->store.image->journal;

	if (chance(w, w->chaos.journal_fails) || is_cut_off(w))
		return false;
	if (w->store.exists && w->store.text != TEXT_NONE)
		return through_text(w, stored, ret_journal);
	if (w->store.exists)
		copy_without_log(ret_journal, stored);
	else
		journal_init(ret_journal, "sim");
	return true;
}

/* For one that reads it again and again: the stored document itself. */
const struct journal *store_glance(struct world *w)
{
	static const struct journal none = {.application = (char *)(uintptr_t) "sim"};

	if (chance(w, w->chaos.journal_fails) || is_cut_off(w))
		return NULL;
	return w->store.exists ? &w->store.image->journal : &none;
}

void store_back_up(struct world *w)
{
	if (!w->store.exists)
		return;
	image_put(w->store.backup, &w->store.image->journal);
	w->store.has_backup = true;
	directory_back_up(w);
}

/* S17: a person restores the volume from an old backup. */
void store_put_back(struct world *w)
{
	const struct journal *old = &w->store.backup->journal;

	if (!w->store.exists || !w->store.has_backup)
		return;
	say(w, "store: journal %" PRId64 " is replaced by a backup, %" PRId64,
	    w->store.image->journal.sequence, w->store.backup->journal.sequence);
	image_put(w->store.image, old);
	directory_put_back(w);
	w->truth.journal_changed = true;
	oracle_forgotten(w);
	w->figures->journals_changed++;
}

void store_lose(struct world *w)
{
	if (!w->store.exists)
		return;
	say(w, "store: the journal is lost");
	w->store.exists = false;
	directory_lose(w);
	w->truth.journal_changed = true;
	oracle_forgotten(w);
	w->figures->journals_changed++;
}

/* A drey that should not exist writes the journal. */
void store_other_writer(struct world *w)
{
	if (!w->store.exists)
		return;
	w->truth.rival = true;
	w->store.image->journal.sequence++;
	w->store.image->journal.writer = put(w->store.image, "another", sizeof("another"));
	say(w, "store: another drey has written %" PRId64, w->store.image->journal.sequence);
}
