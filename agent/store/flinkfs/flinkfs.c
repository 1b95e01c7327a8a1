#include "store/flinkfs/flinkfs.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/flinkfs/flinkfs_process.h"

enum flinkfs_state {
	FLINKFS_NONE,     /* no JVM, no keeper, or one that has nothing left to do */
	FLINKFS_STARTING, /* the keeper starts it */
	FLINKFS_UP,       /* it serves */
	FLINKFS_DOUBT,    /* the keeper must end it */
};

struct flinkfs {
	struct flinkfs_config config;
	pthread_mutex_t lock; /* of all below; a request has it until its answer is complete */
	pthread_cond_t changed;
	pthread_t keeper; /* starts the JVM, waits until it is idle, ends it */
	bool has_keeper;  /* to be joined */
	enum flinkfs_state state;
	uint32_t jvm; /* its number; 1 is the first */
	struct flinkfs_process process;
	struct err failed; /* the last start, or the last request without an answer in time */
	int64_t used_ms, failed_ms;
	atomic_uint number;
	atomic_uint askers; /* threads with a request; they end before it is freed */
	atomic_bool closing;
};

/* ---- configuration ---- */

void flinkfs_list_add(struct flinkfs_list *list, char *owned)
{
	list->at = xreallocarray(list->at, list->count + 2, sizeof(*list->at));
	list->at[list->count++] = owned;
	list->at[list->count] = NULL;
}

static void list_release(struct flinkfs_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->at[i]);
	free(list->at);
}

void flinkfs_config_release(struct flinkfs_config *config)
{
	free(config->missing);
	free(config->conf_dir);
	list_release(&config->argv);
	list_release(&config->env);
	list_release(&config->properties);
	list_release(&config->plugins);
	*config = (struct flinkfs_config){0};
}

struct flinkfs *flinkfs_new(struct flinkfs_config *config)
{
	struct flinkfs *flinkfs = xcalloc(1, sizeof(*flinkfs));
	pthread_condattr_t monotonic;

	flinkfs->config = *config;
	*config = (struct flinkfs_config){0};
	config = &flinkfs->config;
	config->idle_ms = config->idle_ms ? config->idle_ms : FLINKFS_IDLE_MS;
	config->start_ms = config->start_ms ? config->start_ms : FLINKFS_START_MS;
	config->silence_ms = config->silence_ms ? config->silence_ms : FLINKFS_SILENCE_MS;
	flinkfs->process = (struct flinkfs_process){
		.in_fd = -1, .out_fd = -1, .err_fd = -1, .stop = &flinkfs->closing};
	pthread_mutex_init(&flinkfs->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&flinkfs->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	return flinkfs;
}

int flinkfs_check(const struct flinkfs *flinkfs, struct err *err)
{
	return flinkfs->config.missing ? err_set(err, ERR_CONFIG, 0, "%s", flinkfs->config.missing)
				       : 0;
}

/* ---- the keeper ---- */

static void wait_idle(struct flinkfs *flinkfs)
{
	int64_t end_ms = flinkfs->used_ms + flinkfs->config.idle_ms;
	struct timespec end = {.tv_sec = end_ms / 1000, .tv_nsec = (end_ms % 1000) * 1000000};

	pthread_cond_timedwait(&flinkfs->changed, &flinkfs->lock, &end);
	/* a request that waits for the start, or for its turn, uses it */
	if (flinkfs->askers)
		flinkfs->used_ms = clock_mono_ms();
	if (flinkfs->state == FLINKFS_UP &&
	    clock_mono_ms() >= flinkfs->used_ms + flinkfs->config.idle_ms)
		flinkfs->state = FLINKFS_DOUBT;
}

static void *keep_process(void *arg)
{
	struct flinkfs *flinkfs = arg;

	pthread_mutex_lock(&flinkfs->lock);
	flinkfs->state = flinkfs_process_start(&flinkfs->process, flinkfs->config.argv.at,
					       flinkfs->config.env.at, &flinkfs->failed) < 0
				 ? FLINKFS_NONE
				 : FLINKFS_UP;
	pthread_cond_broadcast(&flinkfs->changed);
	while (flinkfs->state == FLINKFS_UP && !flinkfs->closing)
		wait_idle(flinkfs);
	flinkfs_process_end(&flinkfs->process);
	flinkfs->state = FLINKFS_NONE;
	pthread_cond_broadcast(&flinkfs->changed);
	pthread_mutex_unlock(&flinkfs->lock);
	return NULL;
}

/* Its signals are for other threads. */
static int start_keeper(struct flinkfs *flinkfs, struct err *err)
{
	sigset_t all, before;
	int sys;

	if (flinkfs->has_keeper)
		pthread_join(flinkfs->keeper, NULL); /* it has nothing left to do */
	flinkfs->state = FLINKFS_STARTING;
	flinkfs->jvm++;
	flinkfs->used_ms = clock_mono_ms();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	sys = pthread_create(&flinkfs->keeper, NULL, keep_process, flinkfs);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	flinkfs->has_keeper = sys == 0;
	if (!sys)
		return 0;
	flinkfs->state = FLINKFS_NONE;
	return err_set(err, ERR_SYS, sys, "start a thread");
}

static void let_end(struct flinkfs *flinkfs)
{
	if (flinkfs->state == FLINKFS_UP)
		flinkfs->state = FLINKFS_DOUBT;
	pthread_cond_broadcast(&flinkfs->changed);
	while (flinkfs->state != FLINKFS_NONE)
		pthread_cond_wait(&flinkfs->changed, &flinkfs->lock);
}

void flinkfs_free(struct flinkfs *flinkfs)
{
	if (!flinkfs)
		return;
	flinkfs->closing = true;
	pthread_mutex_lock(&flinkfs->lock);
	let_end(flinkfs);
	while (flinkfs->askers)
		pthread_cond_wait(&flinkfs->changed, &flinkfs->lock);
	pthread_mutex_unlock(&flinkfs->lock);
	if (flinkfs->has_keeper)
		pthread_join(flinkfs->keeper, NULL);
	pthread_cond_destroy(&flinkfs->changed);
	pthread_mutex_destroy(&flinkfs->lock);
	flinkfs_config_release(&flinkfs->config);
	free(flinkfs);
}

/* ---- the conversation ---- */

static void put_list(struct buf *frame, const struct flinkfs_list *list)
{
	flinkfs_put_u32(frame, (uint32_t)(list->count / 2));
	for (size_t i = 0; i < list->count / 2 * 2; i++)
		flinkfs_put_text(frame, list->at[i]);
}

/* Secrets may be among the properties: they go through the pipe only. */
static int greet(struct flinkfs *flinkfs, struct err *err)
{
	int64_t end_ms = clock_mono_ms() + flinkfs->config.start_ms;
	cleanup_buf struct buf hello = BUF_INIT;
	struct flinkfs_frame frame;

	flinkfs_put_begin(&hello, 'H', 0);
	flinkfs_put_text(&hello, flinkfs->config.conf_dir);
	put_list(&hello, &flinkfs->config.properties);
	put_list(&hello, &flinkfs->config.plugins);
	flinkfs_put_end(&hello);
	if (flinkfs_process_send(&flinkfs->process, &hello, end_ms, err) < 0 ||
	    flinkfs_process_receive(&flinkfs->process, end_ms, &frame, err) < 0)
		return -1;
	if (frame.type == 'e')
		return err_set(err, ERR_RETRY, 0, "%.*s", (int)frame.len_bytes, frame.bytes);
	if (frame.type != 'h')
		return err_set(err, ERR_FORMAT, 0, "it does not begin with a greeting");
	return 0;
}

static int bring_up(struct flinkfs *flinkfs, struct err *err)
{
	while (flinkfs->state == FLINKFS_STARTING || flinkfs->state == FLINKFS_DOUBT)
		pthread_cond_wait(&flinkfs->changed, &flinkfs->lock);
	if (flinkfs->closing)
		return err_set(err, ERR_RETRY, 0, "drey ends");
	if (flinkfs->state == FLINKFS_UP)
		return 0;
	if (flinkfs->failed.kind && clock_mono_ms() < flinkfs->failed_ms + FLINKFS_REFUSAL_MS) {
		*err = flinkfs->failed;
		return -1;
	}
	flinkfs->failed = (struct err){0};
	if (start_keeper(flinkfs, err) < 0)
		return -1;
	while (flinkfs->state == FLINKFS_STARTING)
		pthread_cond_wait(&flinkfs->changed, &flinkfs->lock);
	if (flinkfs->closing)
		err_set(&flinkfs->failed, ERR_RETRY, 0, "drey ends");
	else if (flinkfs->state == FLINKFS_UP && greet(flinkfs, &flinkfs->failed) == 0)
		return 0;
	flinkfs->failed_ms = clock_mono_ms();
	*err = flinkfs->failed;
	let_end(flinkfs);
	return -1;
}

/* All items must be good before one of them is used. */
static int take_items(const struct flinkfs_frame *frame, enum flinkfs_names names,
		      struct flinkfs_answer *answer, struct err *err)
{
	const char *bytes = frame->bytes;
	size_t left = frame->len_bytes;
	struct flinkfs_item item;
	uint32_t count = 0;
	int more;

	while ((more = flinkfs_item_next(&bytes, &left, names, &item, err)) > 0)
		count++;
	if (more < 0)
		return -1;
	if (count != frame->item_count)
		return err_set(err, ERR_FORMAT, 0, "a page with another number of items");
	answer->item_count += count;
	buf_add(&answer->items, frame->bytes, frame->len_bytes);
	return 0;
}

/* 1: the answer is complete, 0: it goes on. */
static int take_frame(const struct flinkfs_frame *frame, const struct flinkfs_request *request,
		      struct flinkfs_answer *answer, struct err *err)
{
	if (frame->type == 'h' || frame->number != request->number)
		return err_set(err, ERR_FORMAT, 0, "the answer to another request");
	if (answer->items.len_bytes + answer->content.len_bytes > FLINKFS_ANSWER_MAX)
		return err_set(err, ERR_FORMAT, 0, "more than %zu MiB", FLINKFS_ANSWER_MAX >> 20);
	if (frame->type == 'i')
		return take_items(frame, request->names, answer, err);
	if (frame->type == 'b') {
		buf_add(&answer->content, frame->bytes, frame->len_bytes);
		return 0;
	}
	if (frame->items != answer->item_count)
		return err_set(err, ERR_FORMAT, 0, "a list in which entries are missing");
	answer->first = frame->first;
	answer->second = frame->second;
	return 1;
}

/* What was too late for one file is not waited for again with each of the others of a decision. */
static int lost(struct flinkfs *flinkfs, int64_t end_ms, const struct err *why)
{
	int64_t now_ms = clock_mono_ms();

	if (now_ms >= end_ms) {
		flinkfs->failed = *why;
		flinkfs->failed_ms = now_ms;
	}
	return -1;
}

/* 1: the file system has failed, with *err; -1: so has the conversation. */
static int talk(struct flinkfs *flinkfs, const struct flinkfs_request *request,
		struct flinkfs_answer *answer, struct err *err)
{
	int64_t silence_ms = flinkfs->config.silence_ms, end_ms = clock_mono_ms() + silence_ms;
	int done = 0;

	if (flinkfs_process_send(&flinkfs->process, &request->bytes, end_ms, err) < 0)
		return lost(flinkfs, end_ms, err);
	while (!done) {
		struct flinkfs_frame frame;

		end_ms = clock_mono_ms() + silence_ms;
		if (flinkfs_process_receive(&flinkfs->process, end_ms, &frame, err) < 0)
			return lost(flinkfs, end_ms, err);
		if (frame.type == 'e' && frame.number == request->number) {
			err_set(err, frame.kind, 0, "%.*s", (int)frame.len_bytes, frame.bytes);
			return 1;
		}
		done = take_frame(&frame, request, answer, err);
		if (done < 0)
			return -1;
	}
	answer->jvm = flinkfs->jvm;
	return 0;
}

void flinkfs_begin(struct flinkfs *flinkfs, char type, enum flinkfs_names names,
		   struct flinkfs_request *ret_request)
{
	*ret_request = (struct flinkfs_request){.number = ++flinkfs->number, .names = names};
	flinkfs_put_begin(&ret_request->bytes, type, ret_request->number);
}

/* With the lock. As talk(). */
static int ask_locked(struct flinkfs *flinkfs, const struct flinkfs_request *request,
		      struct flinkfs_answer *answer, struct err *err)
{
	int result;

	if (request->jvm && (flinkfs->state != FLINKFS_UP || request->jvm != flinkfs->jvm)) {
		err_set(err, ERR_RETRY, 0, "the JVM that reads Flink's file systems has ended");
		return 1;
	}
	result = bring_up(flinkfs, err);
	if (result == 0)
		result = talk(flinkfs, request, answer, err);
	flinkfs->used_ms = clock_mono_ms();
	if (result < 0) {
		/* whatever it is that it has sent: it is no answer, and proves nothing */
		err->kind = ERR_RETRY;
		err_wrap(err, "the JVM that reads Flink's file systems");
		let_end(flinkfs);
	}
	return result;
}

int flinkfs_ask(struct flinkfs *flinkfs, struct flinkfs_request *request,
		struct flinkfs_answer *ret_answer, struct err *err)
{
	struct flinkfs_answer answer = {0};
	struct err why = {0};
	int result;

	if (flinkfs_check(flinkfs, err) < 0)
		return -1;
	flinkfs_put_end(&request->bytes);
	flinkfs->askers++;
	pthread_mutex_lock(&flinkfs->lock);
	result = ask_locked(flinkfs, request, &answer, &why);
	flinkfs->askers--;
	pthread_cond_broadcast(&flinkfs->changed);
	pthread_mutex_unlock(&flinkfs->lock);
	if (result == 0) {
		*ret_answer = answer;
		return 0;
	}
	flinkfs_answer_release(&answer);
	return err_pass(err, &why);
}

void flinkfs_answer_release(struct flinkfs_answer *answer)
{
	buf_release(&answer->items);
	buf_release(&answer->content);
	*answer = (struct flinkfs_answer){0};
}
