/*
 * gc_run - one collection: reads the journal and what core/gc judges, and deletes what it has judged,
 * as long as the journal says the same. Blocks: for lanes and commands.
 *
 * Life cycle: gc_run_open() -> gc_run_collect() -> perhaps gc_run_delete() -> gc_run_close().
 */
#ifndef DREY_RUN_GC_RUN_H
#define DREY_RUN_GC_RUN_H

#include "run/config/setup.h"
#include "run/gc/gc_delete.h"
#include "run/gc/gc_facts.h"
#include "run/journal/journal_store.h"

/* All of it is called on the thread that collects; each may be NULL. */
struct gc_run_watch {
	void (*reading)(void *ctx, const char *what, size_t done);
	void (*deleting)(void *ctx, int64_t done, int64_t of);
	bool (*ends)(void *ctx); /* true: no more */
	void *ctx;
};

struct gc_run {
	const struct setup *setup;
	struct gc_run_watch watch;
	struct journal_store *store;
	struct journal journal;
	struct gc gc; /* gc_run_collect() */
	struct gc_deleted deleted;
	struct err ended; /* why the deletion did not go on; kind ERR_NONE: it did */
};

/* What the configuration says. */
struct gc_policy gc_run_policy(const struct setup *setup);

/* Read the journal; none is an empty one. `setup` is borrowed until gc_run_close(). */
int gc_run_open(struct gc_run *run, const struct setup *setup, struct err *err);
void gc_run_collect(struct gc_run *run, const struct gc_policy *policy);
/* Does nothing if nothing may be deleted. */
void gc_run_delete(struct gc_run *run);
void gc_run_close(struct gc_run *run);

/* Why nothing may be deleted, whatever is in the directories: two of them are one, or it cannot be told. NULL: they
 * are apart. The caller frees it. */
char *gc_run_overlap(const struct gc_run *run);

/* What gc_facts() is to read: the configured directories, and, read now, what Flink's HA data name. If these
 * cannot be read, gc->unreadable says so. *ret must be released; it borrows from run and its setup. */
void gc_run_ask(const struct gc_run *run, struct gc *gc, struct gc_facts_ask *ret);
void gc_run_ask_release(struct gc_facts_ask *ask);

#endif
